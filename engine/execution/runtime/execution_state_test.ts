/** The batch size of rows follows the time that morsels take. */
import { ok } from "node:assert/strict";
import { corpusDatabase } from "../testing/corpus.ts";
import { ExecutionState, type Pipeline } from "./execution_state.ts";

/**
 * Runs a pipeline of so many rows whose morsels take as long as `cost` says; answers the largest batch size of the
 * later half.
 */
function maxBatchRows(rows: number, cost: (rows: number, begun: number) => number): number {
  let clock = 0;
  let left = rows;
  let largest = 0;
  const pipeline: Pipeline = {
    run: (state) => {
      const morsel = Math.min(left, state.batchRows);
      clock += cost(morsel, rows - left);
      left -= morsel;
      if (left < rows / 2) largest = Math.max(largest, state.batchRows);
      return left === 0;
    },
    writesResult: false,
    operators: [],
    source: () => "",
  };
  const context = { ...corpusDatabase(1, 1).context(), monotonic: () => clock };
  const state = new ExecutionState(context, [pipeline], 0, null);
  while (!state.step(state.writer));
  return largest;
}

Deno.test("ExecutionState grows the batchRows again after a pause that was not the rows' fault", () => {
  // Calling a morsel costs 6 µs, a row 20 ns; once the process stands still for 50 ms.
  let paused = false;
  const batchRows = maxBatchRows(1_000_000, (rows, begun) => {
    const pause = !paused && begun > 1000;
    paused ||= pause;
    return 6 + rows * 0.02 + (pause ? 50_000 : 0);
  });
  ok(batchRows >= 2048, `${batchRows} rows a morsel`);
});

Deno.test("ExecutionState keeps morsels of dear rows small", () => {
  const batchRows = maxBatchRows(5_000, (rows) => 6 + rows * 100);
  ok(batchRows <= 2, `${batchRows} rows a morsel`);
});
