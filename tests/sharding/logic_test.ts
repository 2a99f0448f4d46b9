/** The logic tests in databases of shards: a part of them in each, all of them in `deno task soak:shards`. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { logicFileNames, runLogicFile } from "./logic_files.ts";

/** Files about what shards do otherwise inside: rows, keys, transactions, definitions. */
const FILES: Readonly<Record<number, readonly string[]>> = {
  2: ["constraints", "transactions", "identity", "cursors", "limit_zero", "native"],
  4: ["merge", "deferred_constraints", "definitions", "triggers", "volatile_functions"],
  8: ["modifications", "returning_subqueries", "conflict_targets", "modifying_with", "temporary_tables"],
  16: ["deferred_moves", "conflict_repeats", "renames", "subqueries", "schemas"],
};

for (const [count, names] of Object.entries(FILES)) {
  Deno.test(`logic tests have the same answers with ${count} shards`, async () => {
    let records = 0;
    const failures: string[] = [];
    for (const name of names) {
      const outcome = await runLogicFile(name, Number(count));
      records += outcome.records;
      failures.push(...outcome.failures);
    }
    deepStrictEqual(failures, []);
    ok(records > 150, `${records} records`);
  });
}

Deno.test("the files of the logic tests that shards are tested with are there", () => {
  const names = logicFileNames();
  deepStrictEqual(Object.values(FILES).flat().filter((name) => !names.includes(name)), []);
});
