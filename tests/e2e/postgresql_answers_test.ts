/** The logic tests, asked of PostgreSQL: their expected answers are its answers. */
import assert from "node:assert/strict";
import { reportNotRun } from "../../tools/not_run.ts";
import { caseFiles, compareWithPostgresql } from "../slt/compare_postgresql.ts";
import { PostgresqlMissing } from "../slt/private_postgresql.ts";

Deno.test("PostgreSQL answers the logic tests as they expect", async () => {
  try {
    for (const { file, differences } of await compareWithPostgresql(caseFiles())) {
      assert.equal(differences.length, 0, `${file}\n${differences.join("\n\n")}`);
    }
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    reportNotRun("the logic tests against PostgreSQL", error.message);
  }
});
