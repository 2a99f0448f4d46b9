/**
 * The logic tests that have changed since PostgreSQL was asked, asked of it: their expected answers are its answers.
 * `deno run -A tests/slt/compare_postgresql.ts` asks about all, and keeps that it has.
 */
import assert from "node:assert/strict";
import { reportNotRun } from "../../tools/not_run.ts";
import { changedFiles, compareWithPostgresql } from "../slt/compare_postgresql.ts";
import { PostgresqlMissing } from "../slt/private_postgresql.ts";

Deno.test("PostgreSQL answers the logic tests as they expect", async () => {
  const files = await changedFiles();
  if (files.length === 0) return;
  try {
    for (const { file, differences } of await compareWithPostgresql(files)) {
      assert.equal(differences.length, 0, `${file}\n${differences.join("\n\n")}`);
    }
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    reportNotRun("the logic tests against PostgreSQL", error.message);
  }
});
