/** The listener on real sockets: caps, timeouts, cancellation, shutdown, half-closed and broken clients. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from "node:assert/strict";
import {
  bind,
  concat,
  errorFields,
  extended,
  fields,
  message,
  messagesOf,
  rowOf,
  type ServerMessage,
  startup,
  textOf,
  typesOf,
} from "../../gateways/pg/testing/wire.ts";
import { untilRunning } from "../support/until.ts";
import { openPgDatabase } from "./support/pg_database.ts";
import { RawClient } from "./support/raw_client.ts";

function errorOf(messages: readonly ServerMessage[]): Record<string, string> {
  const found = messages.find(({ type }) => type === "E");
  ok(found !== undefined, `an error in ${typesOf(messages)}`);
  return errorFields(found);
}

const query = (text: string): Uint8Array => message("Q", text);

Deno.test("The listener answers connection 257 with 53300 and closes it, and admits one when another leaves", async () => {
  await using database = await openPgDatabase();
  const clients: RawClient[] = [];
  try {
    for (let i = 0; i < 256; i++) clients.push(await RawClient.start(database.port));
    equal(database.server.sessionCount, 256);
    using refused = await RawClient.connect(database.port);
    await refused.send(startup({ user: "test" }));
    const messages = messagesOf(await refused.rest());
    equal(typesOf(messages), "E");
    const error = errorOf(messages);
    same([error["S"], error["C"], error["M"]], ["FATAL", "53300", "sorry, too many clients already"]);
    const leaving = clients.pop();
    await leaving?.send(message("X"));
    await leaving?.rest();
    leaving?.[Symbol.dispose]();
    clients.push(await RawClient.start(database.port));
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
});

Deno.test("The listener ends idle sessions with 57014", async () => {
  await using database = await openPgDatabase({ idleTimeoutMilliseconds: 100 });
  using client = await RawClient.start(database.port);
  const error = errorOf(messagesOf(await client.rest()));
  same([error["S"], error["C"]], ["FATAL", "57014"]);
});

Deno.test("The listener tells its sessions when it closes, after what they are doing", async () => {
  await using database = await openPgDatabase();
  using idle = await RawClient.start(database.port);
  using busy = await RawClient.start(database.port);
  await busy.send(query("BEGIN"));
  await busy.until("Z");
  const closing = database.server.close(2000);
  const error = errorOf(messagesOf(await idle.rest()));
  same([error["S"], error["C"], error["M"]], [
    "FATAL",
    "57P01",
    "terminating connection due to administrator command",
  ]);
  await busy.send(query("COMMIT"));
  match(typesOf(messagesOf(await busy.rest())), /^CZE$/);
  await closing;
});

Deno.test("The listener answers a client that has already closed its side", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.connect(database.port);
  await client.send(
    startup({ user: "test" }),
    query("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); SELECT * FROM t"),
  );
  await client.finish();
  match(typesOf(messagesOf(await client.rest())), /CCTDCZ$/);
});

Deno.test("The listener rolls back what a client leaves open", async () => {
  await using database = await openPgDatabase();
  using first = await RawClient.start(database.port);
  await first.send(query("CREATE TABLE t (a INT PRIMARY KEY)"));
  await first.until("Z");
  await first.send(query("BEGIN; INSERT INTO t VALUES (1)"));
  await first.until("Z");
  using second = await RawClient.start(database.port);
  // Waits for the first one's row, which goes away with its connection.
  await second.send(query("INSERT INTO t VALUES (1)"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  first[Symbol.dispose]();
  equal(typesOf(await second.until("Z")), "CZ");
});

Deno.test("The listener cancels the statement of another connection", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.connect(database.port);
  await client.send(startup({ user: "test" }));
  const key = (await client.until("Z")).find(({ type }) => type === "K");
  ok(key !== undefined, "a cancel key");
  await client.send(query("SELECT count(*) FROM generate_series(1, 300000000)"));
  await untilRunning(database.engine);
  using other = await RawClient.connect(database.port);
  await other.send(fields([4, 16], [4, 80877102]), key.body);
  equal((await other.rest()).length, 0);
  equal(errorOf(await client.until("Z"))["C"], "57014");
  await client.send(query("SELECT 1"));
  equal(typesOf(await client.until("Z")), "TDCZ");
});

Deno.test("A pipeline up to Sync is one transaction", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(query("CREATE TABLE t (a INT PRIMARY KEY)"));
  await client.until("Z");
  const insert = (value: string): Uint8Array =>
    concat(
      message("P", "", "INSERT INTO t VALUES ($1)", [2, 0]),
      bind("", "", [value]),
      message("E", "", [4, 0]),
    );
  await client.send(insert("1"), insert("2"), insert("1"), insert("3"), message("S"));
  equal(typesOf(await client.until("Z")), "12C12C12EZ");
  await client.send(insert("4"), insert("5"), message("S"), extended("SELECT a FROM t ORDER BY a"));
  await client.until("Z");
  const rows = (await client.until("Z")).filter(({ type }) => type === "D").map(rowOf);
  same(rows, [["4"], ["5"]]);
});

Deno.test("A statement that was described is refused when its columns have changed", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(
    query("CREATE TABLE t (a INT)"),
    message("P", "s", "SELECT * FROM t", [2, 0]),
    message("S"),
  );
  await client.until("Z");
  await client.until("Z");
  await client.send(query("ALTER TABLE t ADD COLUMN b TEXT"));
  await client.until("Z");
  await client.send(bind("", "s", []), message("E", "", [4, 0]), message("S"));
  const error = errorOf(await client.until("Z"));
  same([error["C"], error["M"]], ["0A000", "cached plan must not change result type"]);
});

Deno.test("Prepared statements of the protocol and of SQL are the same", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(message("P", "shared", "SELECT $1::int + 1", [2, 0]), message("S"));
  await client.until("Z");
  await client.send(query("EXECUTE shared(41)"));
  const row = (await client.until("Z")).find(({ type }) => type === "D");
  same(row === undefined ? null : rowOf(row), ["42"]);
  await client.send(query("PREPARE other AS SELECT 7"));
  await client.until("Z");
  await client.send(bind("", "other", []), message("E", "", [4, 0]), message("S"));
  equal(typesOf(await client.until("Z")), "2DCZ");
  await client.send(query("DEALLOCATE shared"));
  await client.until("Z");
  await client.send(bind("", "shared", ["1"]), message("S"));
  equal(errorOf(await client.until("Z"))["C"], "26000");
});

Deno.test("A modification with RETURNING and a row limit runs once and hands out its rows piece by piece", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(query("CREATE TABLE t (a INT)"), query("BEGIN"));
  await client.until("Z");
  await client.until("Z");
  await client.send(
    message("P", "", "INSERT INTO t SELECT g FROM generate_series(1, 5) g RETURNING a", [2, 0]),
    bind("p", "", []),
    message("E", "p", [4, 2]),
    message("H"),
  );
  equal(typesOf(await client.until("s")), "12DDs");
  await client.send(
    message("E", "p", [4, 0]),
    message("S"),
    query("SELECT count(*) FROM t"),
    query("COMMIT"),
  );
  equal(typesOf(await client.until("Z")), "DDDCZ");
  const counted = (await client.until("Z")).find(({ type }) => type === "D");
  same(counted === undefined ? null : rowOf(counted), ["5"]);
  equal(textOf((await client.until("Z"))[0] ?? { type: "", body: new Uint8Array() }), "COMMIT");
});

Deno.test("Results larger than the backlog reach a slow client whole", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(query("SELECT g, repeat('x', 100) FROM generate_series(1, 100000) g"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const messages = await client.until("Z");
  equal(messages.filter(({ type }) => type === "D").length, 100_000);
  equal(typesOf(messages.slice(-2)), "CZ");
});

Deno.test("A client that only knocks does no harm", async () => {
  await using database = await openPgDatabase({ token: "secret" });
  for (
    const bytes of [new Uint8Array(0), Uint8Array.of(0), new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n")]
  ) {
    using client = await RawClient.connect(database.port);
    if (bytes.length > 0) await client.send(bytes);
    await client.finish();
    const rest = await client.rest();
    if (rest.length > 0) equal(errorOf(messagesOf(rest))["C"], "08P01");
  }
  equal(database.server.sessionCount, 0);
});

Deno.test("The listener ends row-limited fetches by time limit", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(query("SET statement_timeout = 100; BEGIN"));
  await client.until("Z");
  await client.send(
    message("P", fields("", "SELECT g FROM generate_series(1, 100000000000) g WHERE g < 0", [2, 0])),
    message("B", fields("", "", [2, 0], [2, 0], [2, 0])),
    message("E", fields("", [4, 5])),
    message("S"),
  );
  const error = errorOf(await client.until("Z"));
  same([error["C"], error["M"]], ["57014", "canceling statement due to statement timeout"]);
});

Deno.test("The listener answers for DECLAREd cursors as portals of their names", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(query("BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 3) g"));
  await client.until("Z");
  const execute = (rows: number): Uint8Array => message("E", fields("c", [4, rows]));
  await client.send(message("D", fields("Pc")), execute(2), execute(2), message("S"));
  equal(typesOf(await client.until("Z")), "TDDsDCZ");
  await client.send(message("C", fields("Pc")), message("D", fields("Pc")), message("S"));
  const messages = await client.until("Z");
  equal(typesOf(messages), "3EZ");
  equal(errorOf(messages)["C"], "34000");
});

Deno.test("The listener sends one message for each row of COPY TO STDOUT", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await client.send(
    query("COPY (SELECT g FROM generate_series(1, 3) g) TO STDOUT WITH (FORMAT csv, HEADER)"),
  );
  const messages = await client.until("Z");
  equal(typesOf(messages), "HddddcCZ");
  same(messages.filter(({ type }) => type === "d").map(textOf), ["g\n", "1\n", "2\n", "3\n"]);
});
