/**
 * The logic tests once more, with the rows kept and asked for in other ways: see `tests/support/storage_states.ts`.
 * In a test run every other file meets one, which changes from file to file; `deno task soak:states` runs every file
 * in each.
 */
import assert from "node:assert/strict";
import { STORAGE_STATES } from "../support/storage_states.ts";
import { logicFilesIn } from "./logic_states.ts";

const FILES = [...logicFilesIn(1)].filter((_, index) =>
  // Others of the next round of the states, which are an even number.
  index % 2 === Math.floor(index / (STORAGE_STATES.length - 1)) % 2
);
/** Of expressions without tables every so many; the logic tests have asked for all. */
const EVERY = 12;

Deno.test("the logic tests have the same answers in every storage state", async () => {
  const failures: string[] = [];
  let records = 0;
  for (const { file, state } of FILES) {
    const outcome = await file.runIn(state, EVERY);
    records += outcome.records;
    failures.push(...outcome.failures);
  }
  assert.deepEqual(failures, []);
  assert.ok(records > 2000, `${records} records`);
});

Deno.test("every storage state is met by a file in a test run", () => {
  const met = new Set(FILES.map(({ state }) => state.name));
  assert.deepEqual(STORAGE_STATES.slice(1).filter(({ name }) => !met.has(name)), []);
});
