/** Sessions that end from outside, over real sockets; and where in its data a COPY failed. */
import { deepStrictEqual as same, ok, strictEqual as equal } from "node:assert/strict";
import { connect } from "../../gateways/binary/client.ts";
import { startBinaryServer } from "../../gateways/binary/server.ts";
import {
  errorFields,
  message,
  messagesOf,
  rowOf,
  type ServerMessage,
} from "../../gateways/pg/testing/wire.ts";
import { openPgDatabase } from "./support/pg_database.ts";
import { RawClient } from "./support/raw_client.ts";

const query = (text: string): Uint8Array => message("Q", text);

function errorOf(messages: readonly ServerMessage[]): Record<string, string> {
  const found = messages.find(({ type }) => type === "E");
  ok(found !== undefined, messages.map(({ type }) => type).join(""));
  return errorFields(found);
}

async function ask(client: RawClient, text: string): Promise<ServerMessage[]> {
  await client.send(query(text));
  return await client.until("Z");
}

async function processOf(client: RawClient): Promise<string> {
  const row = (await ask(client, "SELECT pg_backend_pid()")).find(({ type }) => type === "D");
  ok(row !== undefined);
  return rowOf(row)[0] ?? "";
}

Deno.test("pg_terminate_backend closes the socket of an idle, a transacting and a running session", async () => {
  await using database = await openPgDatabase();
  using killer = await RawClient.start(database.port);
  for (const state of ["SELECT 1", "BEGIN", "SELECT pg_sleep(60)"]) {
    using victim = await RawClient.start(database.port);
    const process = await processOf(victim);
    await victim.send(query(state));
    if (!state.includes("sleep")) await victim.until("Z");
    else {while (!(database.engine.sessionById(Number(process))?.isRunning ?? false)) {
        await ask(killer, "SELECT 1");
      }}
    await ask(killer, `SELECT pg_terminate_backend(${process})`);
    const error = errorOf(messagesOf(await victim.rest()));
    same([error["S"], error["C"], error["M"]], [
      "FATAL",
      "57P01",
      "terminating connection due to administrator command",
    ]);
  }
  using suicidal = await RawClient.start(database.port);
  await suicidal.send(query("SELECT pg_terminate_backend(pg_backend_pid())"));
  equal(errorOf(messagesOf(await suicidal.rest()))["C"], "57P01");
  same(database.internalErrors, []);
});

Deno.test("pg_terminate_backend ends a session of the binary protocol", async () => {
  await using database = await openPgDatabase();
  const server = await startBinaryServer({
    engine: database.engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
  });
  using killer = await RawClient.start(database.port);
  const client = await connect({ address: `127.0.0.1:${server.address.port}` });
  const [row] = await client.query("SELECT pg_backend_pid() AS process");
  equal(server.connections, 1);
  await ask(killer, `SELECT pg_terminate_backend(${row?.process})`);
  while (server.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  equal(database.engine.sessionById(Number(row?.process)), undefined);
  await client.close();
  await server.close(0);
});

Deno.test("Idle timeouts close the socket and release the locks of the transaction", async () => {
  await using database = await openPgDatabase();
  using other = await RawClient.start(database.port);
  await ask(other, "CREATE TABLE t (id int PRIMARY KEY)");
  using holder = await RawClient.start(database.port);
  await ask(holder, "SET idle_in_transaction_session_timeout = 50");
  await ask(holder, "BEGIN; INSERT INTO t VALUES (1)");
  // Waits for the holder's row, which only its timeout gives free.
  same((await ask(other, "INSERT INTO t VALUES (1)")).map(({ type }) => type), ["C", "Z"]);
  equal(errorOf(messagesOf(await holder.rest()))["C"], "25P03");
  using idle = await RawClient.start(database.port);
  await ask(idle, "SET idle_session_timeout = 50");
  const error = errorOf(messagesOf(await idle.rest()));
  same([error["S"], error["C"]], ["FATAL", "57P05"]);
});

Deno.test("An error of COPY says in the field W where in the data it happened", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await ask(client, "CREATE TABLE t (id int PRIMARY KEY, a smallint)");
  const fail = async (data: string): Promise<Record<string, string>> => {
    await client.send(query("COPY t FROM STDIN"));
    await client.until("G");
    await client.send(message("d", new TextEncoder().encode(data)), message("c"));
    return errorOf(await client.until("Z"));
  };
  const bad = await fail("1\t1\n2\t2\n3\tx\n");
  same([bad["C"], bad["W"], bad["D"]], ["22P02", 'COPY t, line 3, column a: "x"', undefined]);
  const missing = await fail("1\n");
  same([missing["C"], missing["W"]], ["22P04", 'COPY t, line 1: "1"']);
  const twice = await fail("1\t1\n1\t1\n");
  same([twice["C"], twice["D"], twice["W"]], ["23505", "Key (id)=(1) already exists.", "COPY t, line 2"]);
});
