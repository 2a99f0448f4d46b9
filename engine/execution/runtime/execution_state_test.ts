/** The quota of rows follows the time that pieces take. */
import { ok } from "node:assert/strict";
import { corpusDatabase } from "../testing/corpus.ts";
import { ExecutionState, type Stage } from "./execution_state.ts";

/** Runs a stage of so many rows whose pieces take as long as `cost` says; answers the largest quota of the later half. */
function largestQuota(rows: number, cost: (rows: number, begun: number) => number): number {
  let clock = 0;
  let left = rows;
  let largest = 0;
  const stage: Stage = {
    run: (state) => {
      const piece = Math.min(left, state.quota);
      clock += cost(piece, rows - left);
      left -= piece;
      if (left < rows / 2) largest = Math.max(largest, state.quota);
      return left === 0;
    },
    writesResult: false,
    operators: [],
    source: () => "",
  };
  const context = { ...corpusDatabase(1, 1).context(), monotonic: () => clock };
  const state = new ExecutionState(context, [stage], 0, null);
  while (!state.step(state.writer));
  return largest;
}

Deno.test("ExecutionState grows the quota again after a pause that was not the rows' fault", () => {
  // Calling a piece costs 6 µs, a row 20 ns; once the process stands still for 50 ms.
  let paused = false;
  const quota = largestQuota(1_000_000, (rows, begun) => {
    const pause = !paused && begun > 1000;
    paused ||= pause;
    return 6 + rows * 0.02 + (pause ? 50_000 : 0);
  });
  ok(quota >= 2048, `${quota} rows a piece`);
});

Deno.test("ExecutionState keeps pieces of dear rows small", () => {
  const quota = largestQuota(5_000, (rows) => 6 + rows * 100);
  ok(quota <= 2, `${quota} rows a piece`);
});
