/** What reads ask of the state: an op that their client has seen, and a bound of its age at a follower. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../host/memory_host.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { Horizon } from "../storage/commit_horizon.ts";
import { type TestSeat, testSeat } from "../../tests/support/lone_member.ts";
import { Engine } from "./engine.ts";
import type { Session } from "./session.ts";
import { failure } from "../../tests/support/failure.ts";

async function member(): Promise<{ readonly engine: Engine; readonly seat: TestSeat }> {
  const seat = testSeat(new Horizon(0));
  return { seat, engine: await Engine.open({ host: memoryHost(), directory: "data", member: seat }) };
}

/** A primary with some rows, and a follower of it that has its first op alone. */
async function pair() {
  const primary = await member();
  primary.engine.startServing();
  const session = primary.engine.openSession();
  await run(session, "CREATE TABLE t (id int PRIMARY KEY)");
  await run(session, "INSERT INTO t VALUES (1), (2)");
  const entries = [...primary.engine.storage.log.entries(0)].map(({ payload }) => payload.slice());
  const follower = await member();
  const apply = async (): Promise<void> => {
    const op = follower.engine.lastOp + 1;
    const payload = entries[op - 1] as Uint8Array;
    follower.engine.storage.log.append(op, payload);
    follower.seat.horizon.advance(op);
    await follower.engine.applyEntry(op, payload);
  };
  await apply();
  const reader = follower.engine.openSession({ readFrom: "follower" });
  const close = () => Promise.all([primary.engine.close(), follower.engine.close()]);
  return { primary, session, follower, apply, reader, close };
}

async function run(session: Session, sql: string): Promise<unknown> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows.at(-1)?.[0];
}

const COUNT = "SELECT count(*)::int FROM t";

Deno.test("A read waits for the op that its client has seen, and only until a timeout", async () => {
  const { primary, session, follower, apply, reader, close } = await pair();
  primary.seat.horizon.advance(primary.engine.lastOp);
  // What the primary's session has written is what it has seen.
  strictEqual(await run(session, "SHOW seen_op"), "2");
  strictEqual(await run(reader, "SHOW seen_op"), "1");
  strictEqual(await run(reader, COUNT), 0);
  await run(reader, "SET min_op = 2");
  // Nothing that looks at no rows waits.
  strictEqual(await run(reader, "SHOW min_op"), "2");
  const waiting = run(reader, COUNT);
  await follower.engine.yieldToLoop();
  strictEqual(follower.engine.lastOp, 1);
  await apply();
  strictEqual(await waiting, 2);
  strictEqual(await run(reader, "SELECT current_setting('seen_op')"), "2");

  await run(reader, "SET min_op = 3");
  for (const [timeout, code] of [["lock_timeout", "57P03"], ["statement_timeout", "57P03"]] as const) {
    await run(reader, `SET ${timeout} = 20`);
    for (
      const sql of [COUNT, "SELECT * FROM t WHERE id = 1", "BEGIN", "COPY t TO STDOUT", "SELECT 1; SELECT 2"]
    ) {
      const error = await failure(run(reader, sql));
      strictEqual(error.code, code, sql);
      match(error.message, /^op 3 is not applied here yet; the state is at op 2$/);
    }
    strictEqual((await failure(Promise.resolve(reader.whenStateIsHere()))).code, code);
    await run(reader, `RESET ${timeout}`);
  }
  // A request's own op, and a client that breaks it off.
  await run(reader, "RESET min_op");
  reader.need.requestOp = 3;
  const canceled = run(reader, COUNT);
  await follower.engine.yieldToLoop();
  reader.cancel();
  strictEqual((await failure(canceled)).code, "57014");
  const closed = run(reader, COUNT);
  await follower.engine.yieldToLoop();
  reader.close();
  strictEqual((await failure(closed)).code, "57P01");
  await close();
});

Deno.test("A transaction whose snapshot is older than the op is refused, and can be ended", async () => {
  const { apply, reader, close } = await pair();
  await run(reader, "BEGIN");
  strictEqual(await run(reader, COUNT), 0);
  await apply();
  await run(reader, "SET min_op = 2");
  const error = await failure(run(reader, COUNT));
  strictEqual(error.code, "25001");
  match(error.message, /reads at op 1, before op 2/);
  await run(reader, "ROLLBACK");
  // The setting went with the block.
  strictEqual(await run(reader, "SHOW min_op"), "0");
  await run(reader, "SET min_op = 2");
  await run(reader, "BEGIN");
  strictEqual(await run(reader, COUNT), 2);
  await run(reader, "COMMIT");
  await close();
});

Deno.test("A follower that is too old waits until it is not, and then refuses", async () => {
  const { primary, session, follower, reader, close } = await pair();
  primary.seat.staleness = follower.seat.staleness = 1001;
  // The bound is for followers.
  strictEqual(await run(session, COUNT), 2);
  const waiting = run(reader, COUNT);
  let isAnswered = false;
  void waiting.then(() => isAnswered = true);
  for (let turn = 0; turn < 5; turn++) await follower.engine.yieldToLoop();
  ok(!isAnswered);
  follower.seat.staleness = 1000;
  strictEqual(await waiting, 0);
  await run(reader, "SET lock_timeout = 20; SET follower_max_staleness = '100ms'");
  const error = await failure(run(reader, COUNT));
  deepStrictEqual([error.code, error.message], [
    "57P03",
    "the state here may be 1000 ms old, more than follower_max_staleness",
  ]);
  follower.seat.staleness = Infinity;
  match(
    (await failure(run(reader, COUNT))).message,
    /^the state here may be of any age: this member is connected to no/,
  );
  await run(reader, "SET follower_max_staleness = -1");
  strictEqual(await run(reader, COUNT), 0);
  strictEqual((await failure(run(reader, "SET follower_max_staleness = -2"))).code, "22023");
  for (const op of ["-1", "1.5", "x", "1234567890123456"]) {
    strictEqual((await failure(run(reader, `SET min_op = '${op}'`))).code, "22023");
  }
  strictEqual((await failure(run(reader, "SET seen_op = 1"))).code, "55P02");
  strictEqual(await run(reader, "SHOW read_from"), "follower");
  const { code, message } = await failure(run(reader, "SET read_from = primary"));
  strictEqual(`${code} ${message}`, '55P02 parameter "read_from" cannot be set after connection start');
  await close();
});

Deno.test("Alone every op that was seen is there, and one that is not is waited for", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: "data" });
  const session = engine.openSession(), other = engine.openSession();
  await run(session, "CREATE TABLE t (id int PRIMARY KEY)");
  const op = Number(await run(session, "SHOW seen_op"));
  ok(op > 0);
  await run(session, `SET min_op = ${op}`);
  strictEqual(await run(session, COUNT), 0);
  await run(session, `SET min_op = ${op + 1}`);
  const waiting = run(session, COUNT);
  await run(other, "INSERT INTO t VALUES (1)");
  strictEqual(await waiting, 1);
  await engine.close();
});
