/** What is linearizable, case by case. */
import { strictEqual } from "node:assert/strict";
import { isLinearizable, type RegisterOperation } from "./register_history.ts";

/** `w1 0-5` writes 1 between the times, `r1 2-9` reads it; `-` without a second time is a write without an answer. */
function history(text: string): RegisterOperation[] {
  return text.split(", ").map((part) => {
    const [what = "", times = ""] = part.split(" ");
    const [start = "", end = ""] = times.split("-");
    return {
      kind: what.startsWith("w") ? "write" : "read",
      value: Number(what.slice(1)),
      start: Number(start),
      end: end === "" ? Infinity : Number(end),
    };
  });
}

const CASES: readonly (readonly [what: string, history: string, isLinearizable: boolean])[] = [
  ["reads what was written", "w1 0-1, r1 2-3", true],
  ["reads what was there before", "w1 0-1, r0 2-3", false],
  ["a read beside a write sees either", "w1 0-9, r0 1-2, r1 3-4", true],
  ["a value does not come and go", "w1 0-9, r1 1-2, r0 3-4", false],
  ["a write without an answer may come late", "w1 0-, r0 1-2, r0 5-6, r1 7-8", true],
  ["a write without an answer may never come", "w1 0-, r0 1-2, w2 3-4, r2 5-6", true],
  ["it comes once", "w1 0-, w2 1-2, r1 3-4, r2 5-6", false],
  ["two writes at once, one order for all", "w1 0-9, w2 0-9, r1 10-11, r2 12-13", false],
  ["a stale read at another member", "w1 0-1, w2 2-3, r2 4-5, r1 6-7", false],
];

for (const [what, text, expected] of CASES) {
  Deno.test(`isLinearizable(): ${what}`, () => strictEqual(isLinearizable(history(text)), expected));
}
