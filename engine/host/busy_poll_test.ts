/** When the next request is waited for awake. */
import { deepStrictEqual as equal } from "node:assert/strict";
import { BusyPoll } from "./busy_poll.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** How often each request, by its connection's number, was followed by a look; `answers`: what looks say. */
async function looksAfter(
  requests: readonly number[],
  processors: number,
  answers = true,
): Promise<number[]> {
  const poll = new BusyPoll();
  let looks = 0;
  poll.start(() => {
    looks++;
    return answers;
  }, processors);
  const connections = Array.from({ length: 1 + Math.max(...requests) }, () => ({}));
  const after: number[] = [];
  for (const request of requests) {
    looks = 0;
    poll.answered(connections[request] ?? poll);
    await turn();
    after.push(looks);
  }
  return after;
}

Deno.test("a server polls behind a streak of requests of one connection", async () => {
  const looks = await looksAfter([...Array(11).fill(0), 1, 0, 0], 2);
  equal(looks, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0]);
});

Deno.test("as many connections may take turns as processors are left for them", async () => {
  const alternating = Array.from({ length: 20 }, (_, index) => index % 2);
  equal((await looksAfter(alternating, 2)).some((looks) => looks > 0), false);
  equal((await looksAfter(alternating, 3)).slice(10), Array(10).fill(1));
});

Deno.test("polls in vain end by themselves, and come ever more rarely", async () => {
  const looks = await looksAfter(Array(400).fill(0), 2, false);
  const polled = looks.flatMap((count, index) => count > 0 ? [index] : []);
  const gaps = polled.slice(1).map((at, index) => at - (polled[index] ?? 0) - 1);
  equal(gaps.slice(0, 9), [0, 1, 3, 7, 15, 31, 63, 63, 63]);
});

Deno.test("a poll that is stopped asks nobody", async () => {
  const poll = new BusyPoll();
  poll.start(() => {
    throw new Error("asked");
  }, 2);
  for (let request = 0; request < 20; request++) poll.answered(poll);
  poll.stop();
  await turn();
  poll.answered(poll);
  await turn();
});
