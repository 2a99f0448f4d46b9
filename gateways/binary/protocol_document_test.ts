/** The worked examples of docs/protocols.md are what the code writes and reads. */
import { deepStrictEqual as equal, ok, strictEqual, throws } from "node:assert/strict";
import { ByteWriter } from "../../engine/base/bytes.ts";
import type { Reply, Request } from "../shared/operation/operation.ts";
import { decodeRequest, encodeRequest } from "../shared/operation/operation_codec.ts";
import { decodeReply, writeReply } from "../shared/operation/reply_codec.ts";
import { decodeRelayHello, encodeRelayHello } from "../shared/relay_hello.ts";
import { FrameReader } from "./frame_reader.ts";
import * as handshake from "./handshake.ts";

/** The one message in a fenced block: the pairs of hexadecimal digits at the start of each line, up to two spaces. */
async function example(name: string): Promise<Uint8Array> {
  const text = await Deno.readTextFile(new URL("../../docs/protocols.md", import.meta.url));
  const block = text.split("```hex " + name + "\n")[1]?.split("```")[0];
  ok(block !== undefined, `example ${name}`);
  const digits = block.split("\n").map((line) => (line.split("  ")[0] ?? "").replaceAll(" ", "")).join("");
  const messages: Uint8Array[] = [];
  new FrameReader(1000).feed(Uint8Array.fromHex(digits), (frame) => {
    messages.push(frame);
    return true;
  });
  strictEqual(messages.length, 1);
  return messages[0] ?? new Uint8Array(0);
}

const NONCES = {
  client: Uint8Array.from({ length: 32 }, (_, index) => index),
  server: Uint8Array.from({ length: 32 }, (_, index) => 0xe0 + index),
};

Deno.test("docs/protocols.md shows the first frame of a relay", async () => {
  const process = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index);
  const ends = { from: 2, to: 0, process, token: "secret" };
  const frame = encodeRelayHello(ends, 2);
  equal(frame.subarray(4), await example("relay-hello"));
  equal(decodeRelayHello(frame, ends, { oldest: 1, newest: 2 }), { from: 2, rest: new Uint8Array(0) });
  throws(() => decodeRelayHello(frame, ends, { oldest: 1, newest: 1 }), /version 2/);
});

Deno.test("docs/protocols.md shows a handshake", async () => {
  const clientHello = { version: 1, nonce: NONCES.client, name: "dbcli", readFrom: "primary" } as const;
  equal(handshake.decodeClientHello(await example("client-hello")), clientHello);
  equal(handshake.encodeClientHello(clientHello), await example("client-hello"));
  const serverHello = {
    version: 1,
    authentication: "hmac-sha-256",
    nonce: NONCES.server,
    serverVersion: "0.1.0",
  } as const;
  equal(handshake.decodeServerHello(await example("server-hello")), serverHello);
  equal(handshake.encodeServerHello(serverHello), await example("server-hello"));
  equal(
    handshake.decodeClientProof(await example("client-proof")),
    handshake.clientProof("secret", NONCES),
  );
  equal(handshake.decodeWelcome(await example("welcome")), {
    session: 7,
    proof: handshake.serverProof("secret", NONCES),
    cluster: null,
  });
  const relayed = { session: 7, proof: null, cluster: { member: 1, primary: 0, address: "a:7878" } };
  equal(handshake.decodeWelcome(await example("cluster-welcome")), relayed);
  equal(handshake.encodeWelcome(relayed), await example("cluster-welcome"));
});

Deno.test("docs/protocols.md shows requests", async () => {
  const requests: Readonly<Record<string, Request>> = {
    sql: {
      number: 1n,
      client: null,
      operation: {
        kind: "sql",
        text: "SELECT $1::int4 AS n",
        parameters: [{ form: "typed", type: { kind: "i32" }, value: 42 }],
      },
    },
    create: {
      number: 2n,
      client: { clientId: "00112233445566778899aabbccddeeff", sequence: 9n },
      operation: {
        kind: "create",
        table: { schema: null, name: "ball" },
        id: 7,
        columns: ["color"],
        values: [{ form: "untyped", value: "red" }],
      },
    },
    "min-op": {
      number: 3n,
      client: null,
      minOp: 300,
      operation: { kind: "get", table: { schema: null, name: "ball" }, id: 7, columns: ["color"] },
    },
  };
  for (const [name, request] of Object.entries(requests)) {
    equal(decodeRequest(await example(name)), request);
    equal(encodeRequest(request), await example(name));
  }
});

Deno.test("docs/protocols.md shows replies", async () => {
  const replies: Readonly<Record<string, Reply>> = {
    columns: { kind: "columns", number: 1n, columns: [{ name: "n", type: { kind: "i32" } }] },
    rows: { kind: "rows", number: 1n, rows: [[42]] },
    outcome: {
      kind: "outcome",
      number: 1n,
      outcome: { kind: "rows", tag: "SELECT 1", rowCount: 1, insertedId: null, notices: [] },
    },
    end: { kind: "end", number: 1n, status: "idle", op: 0 },
    "seen-op": { kind: "end", number: 3n, status: "idle", op: 301 },
    error: {
      kind: "error",
      number: 2n,
      status: "idle",
      failure: { code: "23505", message: "duplicate" },
    },
  };
  for (const [name, reply] of Object.entries(replies)) {
    equal(decodeReply(await example(name), () => 1), reply);
    const writer = new ByteWriter();
    writeReply(writer, reply);
    equal(writer.finish(), await example(name));
  }
});
