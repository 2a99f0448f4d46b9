/** The PostgreSQL protocol under damaged frames. */
import { startPgServer } from "../../../gateways/pg/server.ts";
import {
  bind,
  errorFields,
  message,
  messagesOf,
  type ServerMessage,
  startup,
  typesOf,
} from "../../../gateways/pg/testing/wire.ts";
import { RawClient } from "../../pg/support/raw_client.ts";
import { type FuzzedServer, openFuzzedEngine, type Verdict, verdictOn } from "./fuzzed_server.ts";
import { type Frame } from "./mutation.ts";

const encoder = new TextEncoder();
const STATEMENT = Uint8Array.of(0x53);
const PORTAL = Uint8Array.of(0x50);
const SECONDS_10 = "-c statement_timeout=5s";

/** A message whose length follows its body. */
function typed(whole: Uint8Array): Frame {
  return {
    body: whole.subarray(5),
    wrap: (body) => withLength(Uint8Array.of(whole[0] ?? 0), body),
  };
}

/** A packet without a type. */
function untyped(whole: Uint8Array): Frame {
  return { body: whole.subarray(4), wrap: (body) => withLength(new Uint8Array(0), body) };
}

function withLength(type: Uint8Array, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(type.length + 4 + body.length);
  bytes.set(type);
  new DataView(bytes.buffer).setInt32(type.length, body.length + 4);
  bytes.set(body, type.length + 4);
  return bytes;
}

const query = (text: string): Frame => typed(message("Q", text));
const data = (text: string): Frame => typed(message("d", encoder.encode(text)));
const open = untyped(startup({ user: "fuzz", application_name: "fuzz", options: SECONDS_10 }));
const sync = typed(message("S"));
const execute = (limit: number): Frame => typed(message("E", "", [4, limit]));
const int8 = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1);

const CONVERSATIONS: readonly (readonly Frame[])[] = [
  [
    open,
    query("SELECT id, name, amount, made, data, list FROM t ORDER BY id"),
    query("BEGIN; UPDATE t SET name = 'two' WHERE id = 1; SELECT count(*) FROM t; ROLLBACK"),
    query("INSERT INTO t (id, name) VALUES (50, 'x') ON CONFLICT DO NOTHING; DELETE FROM t WHERE id = 50"),
    query("SELECT amount * 2 AS n, upper(name), made + interval '1 day' FROM t WHERE name LIKE 'o%'"),
    typed(message("X")),
  ],
  [
    open,
    typed(
      message("P", "s", "SELECT id, name, data FROM t WHERE id = $1 AND name <> $2", [2, 2], [4, 20], [
        4,
        25,
      ]),
    ),
    typed(message("D", STATEMENT, "s")),
    typed(
      message(
        "B",
        "",
        "s",
        [2, 2],
        [2, 1],
        [2, 0],
        [2, 2],
        [4, 8],
        int8,
        [4, 1],
        Uint8Array.of(0x78),
        [2, 1],
        [2, 1],
      ),
    ),
    typed(message("D", PORTAL, "")),
    execute(1),
    sync,
    typed(bind("p", "s", ["2", "y"], [0, 1, 0])),
    typed(message("E", "p", [4, 0])),
    typed(message("C", PORTAL, "p")),
    typed(message("C", STATEMENT, "s")),
    typed(message("H")),
    sync,
  ],
  [
    open,
    query("BEGIN"),
    typed(message("P", "", "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6) RETURNING *", [2, 0])),
    typed(bind("", "", ["60", "sixty", "6.50", "2024-06-06 06:06:06", '{"six": 6}', "{6,NULL}"])),
    execute(0),
    sync,
    query("SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c"),
    typed(message("E", "c", [4, 2])),
    sync,
    query("ROLLBACK"),
  ],
  [
    open,
    query("COPY t (id, name, list) FROM STDIN"),
    data("70\tseventy\t{1,2}\n71\t\\N\t\\N\n"),
    data("72\ta\\tb\t{}\n\\.\n"),
    typed(message("c")),
    query("COPY t (id, name) FROM STDIN (FORMAT csv, HEADER)"),
    data('id,name\n73,"a ""b"""\n'),
    typed(message("f", "no more")),
    query("COPY t TO STDOUT (FORMAT binary)"),
    query("DELETE FROM t WHERE id > 2"),
  ],
  [
    untyped(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)),
    untyped(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 48)),
    untyped(startup({ user: "fuzz", database: "db", DateStyle: "ISO, DMY", options: SECONDS_10 })),
    query("SHOW datestyle"),
    typed(message("F", [4, 1], [2, 0], [2, 0], [2, 0])),
    sync,
  ],
  [untyped(Uint8Array.of(0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 9))],
];

/** Starts one. */
export async function openFuzzedPg(): Promise<FuzzedServer> {
  const engine = await openFuzzedEngine();
  const internalErrors: unknown[] = [];
  const server = await startPgServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    onInternalError: (error) => internalErrors.push(error),
  });
  const { port } = server.address;
  const steady = await RawClient.start(port);
  const runner = await RawClient.start(port);
  let runs = 0;
  return {
    port,
    engine,
    internalErrors,
    conversations: CONVERSATIONS,
    goodbye: null,
    judge,
    ping: async () => {
      await steady.send(message("Q", "SELECT 6 * 7"));
      const types = typesOf(await steady.until("Z"));
      if (types !== "TDCZ") throw new Error(`SELECT 6 * 7 was answered with ${types}`);
    },
    run: async (sql) => {
      const bytes = encoder.encode(sql.replaceAll("\0", ""));
      // Both ways that a statement can come, in turn.
      if (runs++ % 2 === 0) await runner.send(message("Q", bytes, Uint8Array.of(0)));
      else {
        await runner.send(
          message("P", "", bytes, Uint8Array.of(0), [2, 0]),
          bind("", "", []),
          message("D", PORTAL, ""),
          message("E", "", [4, 0]),
          message("S"),
        );
      }
      return await answerTo(runner);
    },
    [Symbol.asyncDispose]: async () => {
      steady[Symbol.dispose]();
      runner[Symbol.dispose]();
      await server.close(0);
      await engine.close();
    },
  };
}

/** Reads to the end of the answer; a COPY that was asked for is broken off, and a block that failed is rolled back. */
async function answerTo(client: RawClient): Promise<string | null> {
  let code: string | null = null;
  for (;;) {
    const messages = await client.until("Z", "G");
    code = firstCode(messages) ?? code;
    const last = messages.at(-1);
    if (last?.type === "G") {
      await client.send(message("f", "no data"));
      continue;
    }
    if (last?.type !== "Z") throw new Error(`the server closed the connection after ${code}`);
    if (last.body[0] === 0x49) return code;
    await client.send(message("Q", "ROLLBACK"));
  }
}

function firstCode(messages: readonly ServerMessage[]): string | null {
  const error = messages.find(({ type }) => type === "E");
  return error === undefined ? null : errorFields(error)["C"] ?? null;
}

function judge(received: Uint8Array): Verdict {
  let start = 0;
  // What encryption requests are answered with.
  while (received[start] === 0x4e) start++;
  let messages: ServerMessage[];
  try {
    messages = messagesOf(received.subarray(start));
  } catch (error) {
    return { problem: `the answer is not well-formed: ${error}`, outcomes: [] };
  }
  const outcomes = messages.filter(({ type }) => type === "E").map((each) =>
    errorFields(each)["C"] ?? "no code"
  );
  return verdictOn(outcomes.length === 0 ? ["answered"] : outcomes);
}
