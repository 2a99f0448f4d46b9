/** What statements get of the memory of all of them, step by step. */
import { ok, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import { SpillNeed } from "../../transactions/signals.ts";
import type { ExecutionContext } from "./execution.ts";
import { MemoryLoan, QueryMemory } from "./query_memory.ts";
import { StatementMemory } from "./statement_memory.ts";

const MEBIBYTE = 2 ** 20;
const TIMERS = { setTimer: () => 1, clearTimer: () => {} };

/** A statement that may hold 16 MiB. */
class Statement {
  spills = false;
  readonly owner = { memoryLimitBytes: 16 * MEBIBYTE, settings: { milliseconds: () => 0 } };
  readonly share;
  readonly spillFile: ExecutionContext["spillFile"];

  constructor(all: QueryMemory, { canSpill }: { readonly canSpill: boolean }) {
    this.share = all.share(this.owner);
    if (canSpill) this.spillFile = () => ok(false, "nothing is written") as never;
  }

  get memoryLimitBytes(): number {
    return this.share.limitBytes;
  }

  memoryShare() {
    return this.share;
  }

  /** Holds so much in a new run; answers what stops it. */
  run(bytes: number): unknown {
    this.share.release();
    return this.goOn(bytes);
  }

  /** The same when it has waited. */
  goOn(bytes: number): unknown {
    const memory = new StatementMemory(this as unknown as ExecutionContext);
    try {
      for (let charged = 0; charged < bytes; charged += 1024) memory.charge(1024);
      return null;
    } catch (thrown) {
      if (thrown instanceof SpillNeed) this.spills = thrown.spills;
      return thrown;
    }
  }

  /** Waits as the signal says. */
  wait(signal: unknown): { readonly abort: AbortController; granted: boolean; failed: boolean } {
    ok(signal instanceof SpillNeed);
    const state = { abort: new AbortController(), granted: false, failed: false };
    signal.begin(state.abort.signal, () => void (state.granted = true), () => void (state.failed = true));
    return state;
  }
}

Deno.test("MemoryShare takes in steps, and gives all back", () => {
  const all = new QueryMemory(64 * MEBIBYTE, TIMERS);
  const statement = new Statement(all, { canSpill: true });
  strictEqual(statement.run(500_000), null);
  strictEqual(all.statistics().reservedBytes, 0, "a little is free");
  strictEqual(statement.run(3_500_000), null);
  strictEqual(all.statistics().reservedBytes, 4 * MEBIBYTE);
  statement.share.release();
  statement.share.release();
  strictEqual(all.statistics().reservedBytes, 0);
  const stopped = statement.run(17 * MEBIBYTE);
  ok(stopped instanceof SpillNeed && stopped.spills);
  ok(stopped.otherwise instanceof DatabaseError && /limit of 16 MB/.test(stopped.otherwise.detail ?? ""));
  strictEqual(all.statistics().reservedBytes, 16 * MEBIBYTE);
  statement.share.release();
});

Deno.test("a statement that can write files gets a part first, then all that it may have", () => {
  const all = new QueryMemory(64 * MEBIBYTE, TIMERS);
  ok(all.take(61 * MEBIBYTE));
  const statement = new Statement(all, { canSpill: true });
  const first = statement.wait(statement.run(4 * MEBIBYTE));
  strictEqual(statement.spills, true);
  strictEqual(all.statistics().reservedBytes, 61 * MEBIBYTE, "it holds nothing while it waits");
  all.give(MEBIBYTE);
  ok(first.granted);
  strictEqual(statement.memoryLimitBytes, 4 * MEBIBYTE);
  strictEqual(statement.goOn(4 * MEBIBYTE), null);
  const second = statement.wait(statement.goOn(5 * MEBIBYTE));
  all.give(11 * MEBIBYTE);
  ok(!second.granted);
  all.give(MEBIBYTE);
  ok(second.granted);
  strictEqual(statement.memoryLimitBytes, 16 * MEBIBYTE);
  strictEqual(statement.goOn(16 * MEBIBYTE), null);
  const last = statement.goOn(17 * MEBIBYTE);
  ok(last instanceof DatabaseError && last.code === "53200" && last.message === "out of memory");
  statement.share.release();
  all.give(48 * MEBIBYTE);
  strictEqual(all.statistics().reservedBytes, 0);
});

Deno.test("a statement without files waits for all that it may have at once", () => {
  const all = new QueryMemory(20 * MEBIBYTE, TIMERS);
  ok(all.take(18 * MEBIBYTE));
  const statement = new Statement(all, { canSpill: false });
  const waiting = statement.wait(statement.run(3 * MEBIBYTE));
  strictEqual(statement.spills, false);
  all.give(13 * MEBIBYTE);
  ok(!waiting.granted);
  all.give(MEBIBYTE);
  ok(waiting.granted);
  strictEqual(all.statistics().reservedBytes, 20 * MEBIBYTE);
});

Deno.test("QueryMemory gives nothing to who comes later than others that wait", () => {
  const all = new QueryMemory(20 * MEBIBYTE, TIMERS);
  ok(all.take(10 * MEBIBYTE));
  const first = new Statement(all, { canSpill: false });
  const waiting = first.wait(first.run(11 * MEBIBYTE));
  const second = new Statement(all, { canSpill: true });
  // Ten MiB are there, but the first one needs sixteen.
  const behind = second.wait(second.run(2 * MEBIBYTE));
  strictEqual(all.statistics().waiting, 2);
  waiting.abort.abort();
  ok(waiting.failed && behind.granted, "it goes on when the first one has left");
  strictEqual(second.memoryLimitBytes, 10 * MEBIBYTE);
  strictEqual(all.statistics().reservedBytes, 20 * MEBIBYTE);
  const aborted = new AbortController();
  aborted.abort();
  all.wait({ owner: first.owner, least: 1, most: 1 }, aborted.signal, () => ok(false), () => {});
  strictEqual(all.statistics().waiting, 0);
});

Deno.test("QueryMemory divides what there is among those that wait", () => {
  const all = new QueryMemory(40 * MEBIBYTE, TIMERS);
  ok(all.take(40 * MEBIBYTE));
  const statements = [1, 2, 3].map(() => new Statement(all, { canSpill: true }));
  const waits = statements.map((statement) => statement.wait(statement.run(2 * MEBIBYTE)));
  all.give(26 * MEBIBYTE);
  ok(waits.every(({ granted }) => granted));
  const sizes = statements.map(({ memoryLimitBytes }) => Math.round(memoryLimitBytes / MEBIBYTE));
  strictEqual(sizes.join(), "9,9,9");
  throws(() => all.give(41 * MEBIBYTE), /no more memory is given back than was taken/);
});

Deno.test("QueryMemory refuses after the time-out, whose timer runs only while something waits", () => {
  const timers = new Map<number, () => void>();
  let next = 1;
  const all = new QueryMemory(20 * MEBIBYTE, {
    setTimer: (microseconds, callback) => {
      strictEqual(microseconds, 70_000);
      timers.set(next, callback);
      return next++;
    },
    clearTimer: (timer) => void timers.delete(timer),
  });
  const owner = { memoryLimitBytes: MEBIBYTE, settings: { milliseconds: () => 70 } };
  const request = { owner, least: MEBIBYTE, most: MEBIBYTE };
  const abort = new AbortController();
  ok(all.take(20 * MEBIBYTE));
  const said: unknown[] = [];
  for (let count = 0; count < 3; count++) {
    all.wait(request, abort.signal, (bytes) => said.push(bytes), (reason) => said.push(reason));
  }
  strictEqual(timers.size, 3);
  all.give(MEBIBYTE);
  strictEqual(timers.size, 2);
  timers.get(2)?.();
  abort.abort("aborted");
  strictEqual(timers.size, 0);
  const [given, refused, aborted] = said;
  ok(refused instanceof DatabaseError && refused.code === "53200");
  ok(/It has waited for 0.07 s/.test(refused.detail ?? ""));
  strictEqual(given, MEBIBYTE);
  strictEqual(aborted, "aborted");
  strictEqual(all.statistics().timeouts, 1);
});

Deno.test("MemoryLoan takes all where there is plenty, and what estimates say or less where there is not", () => {
  const memory = new QueryMemory(100 * MEBIBYTE, TIMERS);
  const loan = new MemoryLoan(memory);
  strictEqual(loan.take(MEBIBYTE, 20 * MEBIBYTE), 20 * MEBIBYTE);
  ok(memory.take(10 * MEBIBYTE));
  strictEqual(loan.take(6 * MEBIBYTE, 20 * MEBIBYTE), 6 * MEBIBYTE);
  strictEqual(loan.take(MEBIBYTE, 20 * MEBIBYTE), 4 * MEBIBYTE);
  strictEqual(loan.take(90 * MEBIBYTE, 80 * MEBIBYTE), 40 * MEBIBYTE);
  ok(memory.take(17 * MEBIBYTE));
  strictEqual(loan.take(MEBIBYTE, 20 * MEBIBYTE), 0);
  strictEqual(memory.statistics().reservedBytes, 97 * MEBIBYTE);
  for (let time = 0; time < 2; time++) loan.release();
  strictEqual(memory.statistics().reservedBytes, 27 * MEBIBYTE);
});
