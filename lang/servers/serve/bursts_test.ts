/** Tests of gathering changes, on a clock of their own. */
import { deepStrictEqual } from "node:assert/strict";
import { Bursts, type Timer } from "./bursts.ts";

/** A clock that stands still until it is moved. */
class Clock implements Timer {
  #now = 0;
  #waiting: { readonly at: number; readonly work: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, work: () => void): () => void {
    const entry = { at: this.#now + milliseconds, work };
    this.#waiting.push(entry);
    return () => this.#waiting = this.#waiting.filter((each) => each !== entry);
  }

  async move(milliseconds: number): Promise<void> {
    for (const end = this.#now + milliseconds; this.#now < end;) {
      this.#now++;
      const due = this.#waiting.filter(({ at }) => at <= this.#now);
      this.#waiting = this.#waiting.filter(({ at }) => at > this.#now);
      for (const { work } of due) work();
      // What was begun goes on.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  }
}

Deno.test("Bursts answers changes that come close together once", async () => {
  const clock = new Clock();
  const answered: number[] = [];
  const bursts = new Bursts(clock, () => Promise.resolve(void answered.push(clock.now())));
  for (let change = 0; change < 10; change++) {
    bursts.change();
    await clock.move(5);
  }
  await clock.move(100);
  deepStrictEqual(answered, [60]);
  bursts.change();
  await clock.move(100);
  deepStrictEqual(answered, [60, 165]);
});

Deno.test("Bursts answers what never ends in between", async () => {
  const clock = new Clock();
  const answered: number[] = [];
  const bursts = new Bursts(clock, () => Promise.resolve(void answered.push(clock.now())));
  for (let change = 0; change < 40; change++) {
    bursts.change();
    await clock.move(10);
  }
  deepStrictEqual(answered.map((at) => Math.floor(at / 50)), [3, 6]);
});

Deno.test("Bursts answers what comes while it answers once more afterwards, and never two at a time", async () => {
  const clock = new Clock();
  const events: string[] = [];
  let finish = (): void => {};
  const bursts = new Bursts(clock, () => {
    events.push("begin");
    return new Promise((resolve) =>
      finish = () => {
        events.push("end");
        resolve();
      }
    );
  });
  bursts.change();
  await clock.move(20);
  bursts.change();
  bursts.change();
  await clock.move(500);
  deepStrictEqual(events, ["begin"]);
  finish();
  await clock.move(20);
  deepStrictEqual(events, ["begin", "end", "begin"]);
  finish();
  await clock.move(500);
  deepStrictEqual(events, ["begin", "end", "begin", "end"]);
});

Deno.test("Bursts forgets what waits when it is stopped", async () => {
  const clock = new Clock();
  let count = 0;
  const bursts = new Bursts(clock, () => Promise.resolve(void count++));
  bursts.change();
  bursts.stop();
  await clock.move(500);
  deepStrictEqual(count, 0);
});
