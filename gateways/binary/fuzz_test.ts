/**
 * A running server meets damaged frames and handshakes: a clear error each, no crash, no hang, and others are served
 * on.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect as connectSocket } from "node:net";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { Operation } from "../shared/operation/operation.ts";
import { encodeRequest } from "../shared/operation/operation_codec.ts";
import { DurabilityWatch } from "../shared/operation/outbox.ts";
import { framedMessages, OperationConnection } from "../shared/operation/operation_connection.ts";
import { decodeReply } from "../shared/operation/reply_codec.ts";
import { connect } from "./client.ts";
import { encodeClientHello } from "./handshake.ts";
import { startBinaryServer } from "./server.ts";

const table = { schema: null, name: "t" };
const OPERATIONS: Operation[] = [
  { kind: "sql", text: "SELECT id, name FROM t WHERE id = $1", parameters: [{ form: "untyped", value: 1 }] },
  { kind: "sql", text: "INSERT INTO t VALUES (99, 'x'); DELETE FROM t WHERE id = 99", parameters: null },
  { kind: "get", table, columns: [], id: 1 },
  { kind: "create", table, id: 50, columns: ["name"], values: [{ form: "untyped", value: "x" }] },
  { kind: "delete", table, id: 50 },
  {
    kind: "update",
    table,
    id: 1,
    columns: ["name"],
    values: [{ form: "typed", type: { kind: "text" }, value: "y" }],
  },
  {
    kind: "select",
    table,
    columns: ["id"],
    conditions: [{ column: "name", operator: "like", values: [{ form: "untyped", value: "%" }] }],
    order: [],
    limit: 1,
    offset: 0,
  },
  { kind: "describe", table },
  { kind: "stats" },
];

Deno.test("OperationConnection answers 10 000 damaged requests with one end or error each", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const setup = engine.openSession();
  await setup.simple("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)", NO_SINK, () => {});
  setup.close();
  const watch = new DurabilityWatch(engine);
  const random = new SeededRandom(7);
  const bugs: unknown[] = [];
  const originals = OPERATIONS.map((operation) => encodeRequest({ number: 1n, client: null, operation }));
  for (let round = 0; round < 10_000; round++) {
    let finals = 0;
    let wake = (): void => {};
    const connection = new OperationConnection({
      engine,
      watch,
      onInternalError: (error) => bugs.push(error),
      transport: {
        send: (messages) => {
          for (const message of framedMessages(messages)) {
            const { kind } = decodeReply(message, () => columns);
            if (kind === "columns") columns = readColumnCount(message);
            if (kind === "end" || kind === "error") finals++;
          }
          if (finals > 0) wake();
        },
        backlogBytes: 0,
        setPaused: () => {},
        end: () => {},
      },
    });
    let columns = 0;
    const bytes = random.pick(originals).slice();
    for (let flips = random.between(1, 3); flips > 0; flips--) {
      // The number stays, so that the answer can be distinguished from those of the connection.
      const at = random.chance(0.1) ? 0 : random.between(9, bytes.length - 1);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    connection.receive(random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length)) : bytes);
    connection.flush();
    if (finals === 0 && connection.isBusy) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 2000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // Continuations (copy data, cancel) have no answer of their own.
    const code = bytes[0] ?? 0;
    if (code < 0x20 || code > 0x23) strictEqual(finals, 1, `round ${round}: ${bytes.toHex()}`);
    connection.closed();
  }
  watch.close();
  await engine.close();
  deepStrictEqual(bugs, []);
});

function readColumnCount(message: Uint8Array): number {
  return message[9] ?? 0;
}

const NO_SINK = {
  full: false,
  begin() {},
  retract() {},
  drained: () => Promise.resolve(),
  beginRow() {},
  writeNull() {},
  writeInteger() {},
  writeText() {},
  writeUtf8() {},
  writeValue() {},
  endRow() {},
  copyOutBegin() {},
  copyOutData() {},
  copyIn: () => Promise.resolve(),
};

Deno.test("the binary server meets noise on its sockets with an error and goes on serving others", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
  });
  const random = new SeededRandom(11);
  const hello = encodeClientHello({
    version: 1,
    nonce: new Uint8Array(32),
    name: "fuzz",
    readFrom: "primary",
  });
  const client = await connect({ address: `127.0.0.1:${server.address.port}` });
  for (let round = 0; round < 200; round++) {
    const writer = new ByteWriter();
    const first = hello.slice();
    const isGreeted = random.chance(0.5);
    if (!isGreeted) first[random.below(first.length)] = random.below(256);
    writer.writeU32(first.length);
    writer.writeBytes(first);
    const noise = new Uint8Array(random.between(4, 200));
    random.fill(noise);
    writer.writeBytes(noise);
    const received = await new Promise<number>((resolve) => {
      let bytes = 0;
      const socket = connectSocket(
        { host: "127.0.0.1", port: server.address.port },
        () => socket.end(writer.finish()),
      );
      socket.on("data", (data: Uint8Array) => bytes += data.length);
      socket.on("error", () => {});
      socket.on("close", () => resolve(bytes));
    });
    ok(received > 4, `round ${round}`);
  }
  deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
  await client.close();
  await server.close(0);
  await engine.close();
});
