/**
 * What is on its way to clients when a member of a replication group stops being the primary: answers that wait for the
 * commit number are never sent, for the number may be another entry's in a later view; the error is, at once.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { Horizon } from "../../engine/storage/commit_horizon.ts";
import { Connection } from "../pg/connection.ts";
import { errorFields, message, messagesOf, startup } from "../pg/testing/wire.ts";
import { encodeRequest } from "./operation/operation_codec.ts";
import { framedMessages, OperationConnection } from "./operation/operation_connection.ts";
import { testSeat } from "../../tests/support/lone_member.ts";
import { DurabilityWatch } from "./operation/outbox.ts";
import { decodeReply } from "./operation/reply_codec.ts";

interface Primary {
  readonly engine: Engine;
  readonly horizon: Horizon;
}

async function openPrimary(): Promise<Primary> {
  const horizon = new Horizon(0);
  const engine = await Engine.open({ host: memoryHost(), directory: "data", member: testSeat(horizon) });
  engine.startServing();
  await engine.openSession().simple("CREATE TABLE t (a int)", {} as never, () => {});
  horizon.advance(engine.lastOp);
  return { engine, horizon };
}

/** Another view's entries reach the ops that answers waited for. */
function commitOthers({ engine, horizon }: Primary): void {
  horizon.advance(engine.lastOp + 10);
}

function pgClient({ engine }: Primary): (sql: string | null) => string[] {
  const connection = new Connection({
    engine,
    verifier: null,
    offersTls: false,
    requiresTls: false,
    version: null,
    isDraining: false,
    relay: null,
    admit: () => true,
    leave: () => {},
    onInternalError: (error) => {
      throw error;
    },
  }, { wake: () => {} });
  const output = (): string[] => {
    const types: string[] = [];
    for (let taken = connection.takeOutput(); taken !== null; taken = connection.takeOutput()) {
      for (const each of messagesOf(taken.slice())) {
        const fields = each.type === "E" ? errorFields(each) : null;
        types.push(fields === null ? each.type : `${fields.S} ${fields.C}`);
      }
      connection.sent(taken);
    }
    return types;
  };
  connection.receive(startup({ user: "ann" }));
  output();
  return (sql) => {
    if (sql !== null) connection.receive(message("Q", new TextEncoder().encode(`${sql}\0`)));
    return output();
  };
}

Deno.test("PostgreSQL clients get no answer of a lost entry, but what is known of it", async () => {
  const primary = await openPrimary();
  const idle = pgClient(primary),
    writer = pgClient(primary),
    reader = pgClient(primary),
    block = pgClient(primary);
  deepStrictEqual(idle("SELECT 1"), ["T", "D", "C", "Z"]);
  deepStrictEqual(block("BEGIN"), ["C", "Z"]);
  deepStrictEqual(writer("INSERT INTO t VALUES (1)"), []);
  // An error may depend on anything: it waits, and the newest state is read behind it.
  deepStrictEqual(reader("SELECT 1 / 0"), []);
  deepStrictEqual(reader("SELECT a FROM t"), []);
  primary.engine.stopServing();
  deepStrictEqual(writer(null), ["FATAL 40003"]);
  deepStrictEqual(reader(null), ["FATAL 57P01"]);
  deepStrictEqual(block(null), ["FATAL 40001"]);
  deepStrictEqual(idle(null), ["FATAL 57P01"]);
  commitOthers(primary);
  for (const client of [idle, writer, reader, block]) deepStrictEqual(client(null), []);
  await primary.engine.close();
});

Deno.test("Clients of the operation protocol get an error of no request, and no answer of a lost entry", async () => {
  const primary = await openPrimary();
  const { engine } = primary;
  const watch = new DurabilityWatch(engine);
  const replies: string[] = [];
  let ended = "";
  const connection = new OperationConnection({
    engine,
    watch,
    onInternalError: (error) => {
      throw error;
    },
    transport: {
      send: (messages) => {
        for (const each of framedMessages(messages)) {
          const reply = decodeReply(each, () => 0);
          replies.push(reply.kind === "error" ? `${reply.number} ${reply.failure.code}` : reply.kind);
        }
      },
      backlogBytes: 0,
      setPaused: () => {},
      end: (reason) => ended = reason,
    },
  });
  const texts = ["INSERT INTO t VALUES (1)", "INSERT INTO t SELECT g FROM generate_series(1, 100000) AS g"];
  for (const [index, text] of texts.entries()) {
    const operation = { kind: "sql", text, parameters: null } as const;
    connection.receive(encodeRequest({ number: BigInt(index + 1), client: null, operation }));
  }
  connection.flush();
  strictEqual(replies.length, 0);
  engine.stopServing();
  await engine.yieldToLoop();
  commitOthers(primary);
  for (let turn = 0; turn < 5; turn++) await engine.yieldToLoop();
  deepStrictEqual(replies, ["0 40003"]);
  strictEqual(ended, "shutdown");
  connection.closed();
  watch.close();
  await engine.close();
});
