// Requests to a shard: which of them travel together, and when.
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { ShardRequest } from "./shard_messages.ts";
import { ShardPort } from "./shard_port.ts";

/** A port whose messages and time are the test's. */
function portOfTest() {
  const sent: string[][] = [];
  const later: (() => void)[] = [];
  const name = (request: ShardRequest): string =>
    "branch" in request ? `${request.kind} ${request.branch}` : request.kind;
  const port = new ShardPort((requests) => sent.push(requests.map(name)));
  port.later = (run) => later.push(run);
  return { port, sent, later };
}

/** All that promises do by themselves is done. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("ShardPort.tell() sends what one turn has as one message", async () => {
  const { port, sent } = portOfTest();
  port.tell({ kind: "begin", branch: 1, timestamp: 0 });
  await Promise.resolve();
  port.tell({ kind: "end", branch: 1 });
  await turn();
  port.tell({ kind: "repaired" });
  await turn();
  deepStrictEqual(sent, [["begin 1", "end 1"], ["repaired"]]);
});

Deno.test("ShardPort.tellLater() keeps the order, and sends with the next request or after a while", async () => {
  const { port, sent, later } = portOfTest();
  port.tellLater({ kind: "end", branch: 1 });
  port.tellLater({ kind: "end", branch: 2 });
  await turn();
  deepStrictEqual(sent, []);
  port.tell({ kind: "begin", branch: 3, timestamp: 0 });
  port.tellLater({ kind: "end", branch: 3 });
  await turn();
  deepStrictEqual(sent, [["end 1", "end 2", "begin 3", "end 3"]]);
  port.tellLater({ kind: "end", branch: 4 });
  await turn();
  strictEqual(sent.length, 1);
  // One timer serves all, and it was set before the last message: what came since has not waited for long.
  strictEqual(later.length, 1);
  for (const run of later.splice(0)) run();
  strictEqual(sent.length, 1);
  for (const run of later.splice(0)) run();
  deepStrictEqual(sent.slice(1), [["end 4"]]);
  // Nothing is left, and nobody looks any more.
  strictEqual(later.length, 0);
});

Deno.test("ShardPort.tellLater() sends at once what has become much", async () => {
  const { port, sent } = portOfTest();
  for (let branch = 0; branch < 130; branch++) port.tellLater({ kind: "end", branch });
  await turn();
  deepStrictEqual(sent.map(({ length }) => length), [130]);
});

Deno.test("ShardPort.receive() gives each call its answers, and fail() ends those that wait", async () => {
  const { port } = portOfTest();
  const parts: unknown[] = [];
  const first = port.call({ kind: "report" }, (part) => parts.push(part));
  const second = port.call({ kind: "built", op: 1 });
  const third = port.call({ kind: "report" });
  port.receive([
    { call: second.call, isLast: true, value: true, error: null },
    { call: first.call, isLast: false, value: null, error: null },
    { call: first.call, isLast: true, value: false, error: null },
  ]);
  deepStrictEqual([await first.done, await second.done, parts], [false, true, [null]]);
  port.fail(new DatabaseError(SQLSTATE.internalError, "gone"));
  await rejects(third.done, /gone/);
  await rejects(port.report(), /gone/);
});
