/** One address for other members and for clients: who is who, and what early clients hear. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { open } from "../../mod.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { NetworkConnection } from "../../engine/host/network.ts";
import { engineOf } from "../../engine/session/database.ts";
import { connect } from "./client.ts";
import { MemberDoor } from "./member_door.ts";
import { refuseClient, startBinaryServer } from "./server.ts";

Deno.test("a member's address takes other members, and clients as soon as there is an engine", async () => {
  const peers = Promise.withResolvers<{ connection: NetworkConnection; received: Uint8Array }>();
  const door = await MemberDoor.open(
    { hostname: "127.0.0.1", port: 0 },
    {
      security: null,
      offersTls: false,
      onPeer: (connection, received) => peers.resolve({ connection, received }),
      onEarlyClient: (socket) =>
        refuseClient(socket, new DatabaseError(SQLSTATE.cannotConnectNow, "the cluster is starting")),
      log: () => {},
    },
  );
  const { port } = door.address;
  await rejects(connect({ addresses: [`127.0.0.1:${port}`] }), { code: "57P03" });

  const database = await open(":memory:");
  const server = await startBinaryServer({
    engine: engineOf(database),
    address: door,
    token: null,
    version: "0.0.0",
  });
  strictEqual(server.address.port, port);
  const client = await connect({ addresses: [`127.0.0.1:${port}`] });
  deepStrictEqual(await client.query("SELECT 6 * 7 AS n"), [{ n: 42 }]);

  const member = await Deno.connect({ hostname: "127.0.0.1", port });
  const hello = new TextEncoder().encode("....\x01DBVR and more");
  await member.write(hello.subarray(0, 6));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await member.write(hello.subarray(6));
  const { connection, received } = await peers.promise;
  const rest = new Uint8Array(64);
  let text = new TextDecoder().decode(received);
  while (text.length < hello.length) {
    const count = await connection.read(rest);
    text += new TextDecoder().decode(rest.subarray(0, count ?? 0));
  }
  strictEqual(text, new TextDecoder().decode(hello));
  await connection.write(new Uint8Array([7]));
  strictEqual(await member.read(rest), 1);
  member.close();
  strictEqual(await connection.read(rest), null);

  await client.close();
  await server.close(0);
  await database.close();
  await door.close();
});
