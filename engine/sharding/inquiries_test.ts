// Questions to one shard: how they end, and that one timer looks after all of them.
import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Inquiries, Inquiry } from "./inquiries.ts";
import type { ShardReply, ShardRequest } from "./shard_messages.ts";
import { ShardPort } from "./shard_port.ts";
import { StopFlags } from "./stop_flags.ts";

/** Counts what comes, up to `enough`; `true` is too much of it. */
class Counted extends Inquiry<number> {
  readonly #enough: number;
  #count = 0;

  constructor(abort: AbortSignal, { milliseconds = 0, enough = Infinity } = {}) {
    super({ abort, milliseconds });
    this.#enough = enough;
  }

  request(): Extract<ShardRequest, { readonly kind: "fetch" }> {
    const { call, stop } = this;
    return { kind: "fetch", call, stop, branch: null, tableId: 1, wanted: { kind: "count" } };
  }

  protected take(value: ShardReply["value"]): boolean {
    if (value === true) throw new RangeError("too many");
    this.#count++;
    return this.#count >= this.#enough;
  }

  protected answer(): number {
    return this.#count;
  }
}

/** Two shards whose answers and time are the test's. */
function inquiriesOfTest() {
  const sent: string[] = [];
  const timers: (() => void)[] = [];
  let time = 0;
  const ports = [0, 1].map((shard) =>
    new ShardPort((requests) => sent.push(...requests.map(({ kind }) => `${kind} ${shard}`)))
  );
  const stops = new StopFlags();
  const host = {
    clock: { now: () => 0, wall: () => 0, monotonic: () => time },
    timers: { setTimer: (_: number, run: () => void) => timers.push(run) },
  };
  const inquiries = new Inquiries(ports, stops, host as never);
  /** So much time goes by, in which timers go off once. */
  const pass = async (milliseconds: number): Promise<void> => {
    time += milliseconds * 1000;
    for (const run of timers.splice(0)) run();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  const say = ({ shard, call }: Counted, value: ShardReply["value"], isLast: boolean): void =>
    ports[shard]?.receive([{ call, isLast, value, error: null }]);
  return { inquiries, ports, stops, sent, timers, pass, say };
}

const nobody = new AbortController().signal;

Deno.test("Inquiries.ask() answers what came in parts and at the end, and stops what is enough", async () => {
  const { inquiries, stops, sent, pass, say } = inquiriesOfTest();
  const [all, some] = [new Counted(nobody), new Counted(nobody, { enough: 2 })];
  const answers = [inquiries.ask(all, 0), inquiries.ask(some, 1)];
  for (const each of [all, some]) {
    say(each, null, false);
    say(each, null, false);
    say(each, null, true);
  }
  deepStrictEqual(await Promise.all(answers), [3, 2]);
  await pass(0);
  deepStrictEqual(sent, ["fetch 0", "fetch 1", "stop 1"]);
  deepStrictEqual([stops.isStopped(all.stop), stops.isStopped(some.stop)], [false, true]);
});

Deno.test("an inquiry that throws at what has come fails, and its shard is stopped", async () => {
  const { inquiries, stops, sent, pass, say } = inquiriesOfTest();
  const [early, late] = [new Counted(nobody), new Counted(nobody)];
  const failing = [early, late].map((each) => rejects(inquiries.ask(each, 0), /too many/));
  say(early, true, false);
  say(early, null, true);
  say(late, true, true);
  await Promise.all(failing);
  await pass(0);
  deepStrictEqual(sent, ["fetch 0", "fetch 0", "stop 0"]);
  deepStrictEqual([stops.isStopped(early.stop), stops.isStopped(late.stop)], [true, false]);
});

Deno.test("one timer looks after all inquiries, ends what was canceled, and is not set when none waits", async () => {
  const { inquiries, stops, sent, timers, pass, say } = inquiriesOfTest();
  const cancel = new AbortController();
  const all = [nobody, cancel.signal, nobody, cancel.signal].map((abort) => new Counted(abort));
  const answers = all.map((each) => inquiries.ask(each, 1));
  strictEqual(timers.length, 1);
  await pass(10);
  cancel.abort(new DatabaseError(SQLSTATE.queryCanceled, "no more"));
  const canceled = [1, 3].map((index) => rejects(answers[index] ?? Promise.resolve(), /no more/));
  await pass(10);
  await Promise.all(canceled);
  deepStrictEqual(all.map(({ stop }) => stops.isStopped(stop)), [false, true, false, true]);
  deepStrictEqual(sent.filter((each) => each === "stop 1").length, 2);
  strictEqual(timers.length, 1);
  for (const each of all) say(each, null, true);
  deepStrictEqual([await answers[0], await answers[2]], [1, 1]);
  await pass(10);
  strictEqual(timers.length, 0);
  const again = new Counted(nobody);
  const answer = inquiries.ask(again, 0);
  strictEqual(timers.length, 1);
  say(again, null, true);
  strictEqual(await answer, 1);
});

Deno.test("an inquiry is late when its shard has said nothing for so long; 0 is for ever", async () => {
  const { inquiries, pass, say } = inquiriesOfTest();
  const [late, heard, patient] = [
    new Counted(nobody, { milliseconds: 100 }),
    new Counted(nobody, { milliseconds: 100 }),
    new Counted(nobody),
  ];
  const failing = rejects(inquiries.ask(late, 1), (error) => {
    strictEqual((error as DatabaseError).code, "57014");
    match((error as DatabaseError).message, /shard 1 did not answer within 100 ms/);
    return true;
  });
  const others = [inquiries.ask(heard, 0), inquiries.ask(patient, 0)];
  await pass(10);
  await pass(60);
  say(heard, null, false);
  await pass(60);
  await failing;
  await pass(60);
  for (const each of [heard, patient]) say(each, null, true);
  deepStrictEqual(await Promise.all(others), [2, 1]);
});

Deno.test("a shard that is gone fails all inquiries", async () => {
  const { inquiries, ports } = inquiriesOfTest();
  const first = rejects(inquiries.ask(new Counted(nobody), 0), /gone/);
  ports[0]?.fail(new DatabaseError(SQLSTATE.internalError, "gone"));
  await first;
  await rejects(inquiries.ask(new Counted(nobody), 0), /gone/);
});
