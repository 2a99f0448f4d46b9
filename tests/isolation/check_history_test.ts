/** Hand-made histories: each anomaly is found and named with its transactions, and what is none is left alone. */
import { deepStrictEqual, ok, throws } from "node:assert/strict";
import { type AnomalyName, checkHistory } from "./check_history.ts";
import type { Operation, Outcome, RecordedTransaction } from "./history.ts";

/**
 * Steps in short: `a1:10` appends 10 to key 1, `r1=10,11` reads key 1, `p1=` reads it by condition, `u0` takes back
 * the appends since step 0. Unless moments are given, all transactions are concurrent.
 */
function transaction(
  id: number,
  steps: string,
  { outcome = "committed", start = 0, end = outcome === "unknown" ? Infinity : 1000 }: {
    readonly outcome?: Outcome;
    readonly start?: number;
    readonly end?: number;
  } = {},
): RecordedTransaction {
  return { id, operations: steps.split(" ").map(operation), outcome, start, end };
}

function operation(step: string): Operation {
  const [, kind, first, rest] = /^([arpu])(\d+)[:=]?(.*)$/.exec(step) ?? [];
  const key = Number(first);
  if (kind === "a") return { kind: "append", key, value: Number(rest) };
  if (kind === "u") return { kind: "undo", since: key };
  const list = rest === undefined || rest === "" ? [] : rest.split(",").map(Number);
  return { kind: "read", key, list, predicate: kind === "p" };
}

/** The names that are found, with the transactions. */
function found(...transactions: readonly RecordedTransaction[]): string[] {
  return checkHistory(transactions).anomalies.map(({ name, transactions: ids }) => `${name}: ${ids.join()}`);
}

function check(
  what: string,
  transactions: readonly RecordedTransaction[],
  expected: readonly `${AnomalyName}: ${string}`[],
): void {
  Deno.test(`checkHistory() ${expected.length === 0 ? "leaves alone" : "finds"} ${what}`, () => {
    deepStrictEqual(found(...transactions), expected);
  });
}

check("one transaction after the other", [
  transaction(1, "a1:10 r1=10", { start: 0, end: 1 }),
  transaction(2, "r1=10 a1:11 r1=10,11 a2:5", { start: 2, end: 3 }),
  transaction(3, "r2=5 r1=10,11 p3=", { start: 4, end: 5 }),
], []);

check("concurrent transactions that can be put in order", [
  transaction(1, "r1= a2:20"),
  transaction(2, "a1:10 r3="),
  transaction(3, "r1=10 r2=20"),
], []);

check("G0: writes in two orders", [
  transaction(1, "a1:10 a2:20"),
  transaction(2, "a1:11 a2:21"),
  transaction(3, "r1=10,11"),
  transaction(4, "r2=21,20"),
], ["G0: 1,2"]);

check("G1a: a read of what was rolled back", [
  transaction(1, "a1:10", { outcome: "aborted" }),
  transaction(2, "r1=10"),
], ["aborted read (G1a): 2,1"]);

check("G1a: a read of what was taken back to a savepoint", [
  transaction(1, "a1:10 a2:20 u1"),
  transaction(2, "r2=20"),
  transaction(3, "r1=10"),
], ["aborted read (G1a): 2,1"]);

check("G1b: a read of a state in between", [
  transaction(1, "a1:10 a1:11"),
  transaction(2, "r1=10"),
  transaction(3, "r1=10,11"),
], ["intermediate read (G1b): 2,1", "G-single: 2,1"]);

check("G1c: two transactions that see each other's writes", [
  transaction(1, "a1:10 r2=20"),
  transaction(2, "a2:20 r1=10"),
], ["G1c: 1,2"]);

check("G-single: a read of half of a transaction", [
  transaction(1, "a1:10 a2:20"),
  transaction(2, "r1= r2=20"),
  transaction(3, "r1=10"),
], ["G-single: 2,1"]);

check("lost update: two that build on the same state", [
  transaction(1, "r1=9 a1:10"),
  transaction(2, "r1=9 a1:11"),
  transaction(0, "a1:9"),
  transaction(3, "r1=9,10,11"),
], ["lost update: 1,2", "G-single: 2,1"]);

check("G2-item: write skew", [
  transaction(1, "r1= a2:20"),
  transaction(2, "r2= a1:10"),
  transaction(3, "r1=10 r2=20"),
], ["G2-item: 1,2"]);

check("G2: write skew by condition", [
  transaction(1, "p1= a2:20"),
  transaction(2, "p2= a1:10"),
  transaction(3, "r1=10 r2=20"),
], ["G2: 1,2"]);

check("G2-item over three transactions, with appends that nobody has read", [
  transaction(1, "r1= a2:20"),
  transaction(2, "r2= a3:30"),
  transaction(3, "r3= a1:10"),
], ["G2-item: 1,3,2"]);

check("a stale read, by real time", [
  transaction(1, "a1:10", { start: 0, end: 1 }),
  transaction(2, "r1=", { start: 2, end: 3 }),
  transaction(3, "r1=10", { start: 4, end: 5 }),
], ["G-single-realtime: 2,1"]);

check("the same read when the two were concurrent", [
  transaction(1, "a1:10", { start: 0, end: 2 }),
  transaction(2, "r1=", { start: 1, end: 3 }),
  transaction(3, "r1=10", { start: 4, end: 5 }),
], []);

check("an order of writes against real time", [
  transaction(1, "a1:10", { start: 0, end: 1 }),
  transaction(2, "a1:11", { start: 2, end: 3 }),
  transaction(3, "r1=11,10", { start: 0, end: 10 }),
], ["G0-realtime: 2,1"]);

check("a read of a transaction that began later", [
  transaction(1, "r1=10", { start: 0, end: 1 }),
  transaction(2, "a1:10", { start: 2, end: 3 }),
], ["G1c-realtime: 2,1"]);

check("real time through others", [
  transaction(1, "a1:10", { start: 0, end: 1 }),
  transaction(2, "r2=", { start: 2, end: 3 }),
  transaction(3, "r3=", { start: 4, end: 5 }),
  transaction(4, "r1=", { start: 6, end: 7 }),
], ["lost append: 1", "G-single-realtime: 4,1,2,3"]);

check("a committed append that is gone", [
  transaction(1, "a1:10", { start: 0, end: 1 }),
  transaction(2, "r1= a1:11", { start: 2, end: 3 }),
  transaction(3, "r1=11", { start: 4, end: 5 }),
], ["lost append: 1", "G-single-realtime: 3,1,2"]);

check("an append of unknown outcome that is gone", [
  transaction(1, "a1:10", { outcome: "unknown" }),
  transaction(2, "r1=", { start: 2, end: 3 }),
], []);

check("an append of unknown outcome that is there", [
  transaction(1, "a1:10 a2:20", { outcome: "unknown" }),
  transaction(2, "r1=10 r2=20", { start: 2, end: 3 }),
], []);

check("half of an unknown outcome", [
  transaction(1, "a1:10 a2:20", { outcome: "unknown" }),
  transaction(2, "r1=10 r2=", { start: 2, end: 3 }),
], ["G-single: 2,1"]);

check("lists that are no prefixes of each other", [
  transaction(1, "a1:10"),
  transaction(2, "a1:11"),
  transaction(3, "r1=10"),
  transaction(4, "r1=11,10"),
], ["incompatible order: 3,4", "G-single: 3,1"]);

check("an append that was applied twice", [transaction(1, "a1:10"), transaction(2, "r1=10,10")], [
  "duplicate append: 2",
]);

check("a value that nobody has appended", [transaction(1, "r1=7")], ["garbage read: 1"]);

check("an own append that is not read", [transaction(1, "a1:10 r1="), transaction(2, "r1=10")], [
  "internal: 1",
]);

check("an own append that is read after it was taken back", [transaction(1, "r1= a1:10 u1 r1=10")], [
  "internal: 1",
]);

check("a read that is not repeatable", [
  transaction(1, "a1:10"),
  transaction(2, "r1= r1=10"),
], ["internal: 2"]);

check("a phantom: a condition that finds more the second time", [
  transaction(1, "a1:10"),
  transaction(2, "p1= p1=10"),
], ["internal: 2", "G-single: 2,1"]);

check("own appends and savepoints, read as they should be", [
  transaction(1, "a1:10"),
  transaction(2, "r1=10 a1:11 r1=10,11 a1:12 p1=10,11,12 u3 r1=10,11 a1:13"),
  transaction(3, "r1=10,11,13"),
], []);

Deno.test("checkHistory() names the cycle with its reasons", () => {
  const report = checkHistory([
    transaction(1, "r1= a2:20"),
    transaction(2, "p2= a1:10"),
    transaction(3, "r1=10 r2=20"),
  ]);
  deepStrictEqual(report.anomalies.map(({ text }) => text), [
    "G2: T1 -rw (key 1: read [], without 10)-> T2; T2 -rw by condition (key 2: read [], without 20)-> T1",
  ]);
  deepStrictEqual([report.committed, report.reads, report.appends], [3, 4, 2]);
});

Deno.test("checkHistory() is quick about ten thousand transactions, with a cycle over all of them or none", () => {
  const count = 10_000;
  // Each before the one with the next lower number, and overlapping with its neighbors in time.
  const chain = Array.from({ length: count }, (_, id) => {
    const start = 2 * (count - id);
    return transaction(id, `r${id}= a${id + 1}:1`, { start, end: start + 3 });
  });
  deepStrictEqual(found(...chain), []);
  const closing = transaction(count, `r${count}= a0:1`, { start: 0, end: 3 * count });
  const report = checkHistory([...chain, closing]);
  deepStrictEqual(report.anomalies.map(({ name, transactions }) => [name, transactions.length]), [
    ["G2-item", count + 1],
  ]);
});

Deno.test("checkHistory() refuses a history that appends a value twice", () => {
  throws(() => checkHistory([transaction(1, "a1:10"), transaction(2, "a1:10")]), /not a history/);
  ok(checkHistory([]).anomalies.length === 0);
});
