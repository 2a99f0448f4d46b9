/** Some interleavings of sessions beside PostgreSQL; `soak:interleavings` runs thousands. */
import { deepStrictEqual } from "node:assert/strict";
import { reportNotRun } from "../../tools/not_run.ts";
import { PostgresqlMissing } from "../slt/private_postgresql.ts";
import { compareInterleavings } from "./interleavings_main.ts";

Deno.test("sessions that interleave are answered as by PostgreSQL", async () => {
  try {
    deepStrictEqual(await compareInterleavings(1, 12), []);
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    reportNotRun("interleavings beside PostgreSQL", error.message);
  }
});
