/** The measurement of stalls runs on a small table, so that it does not rot; its numbers are not looked at. */
import { match, strictEqual } from "node:assert/strict";
import { run } from "../../tools/project.ts";

Deno.test("tests/bench/stalls.ts --smoke runs every phase", async () => {
  const { code, stdout, stderr } = await run(Deno.execPath(), [
    "run",
    "-A",
    "tests/bench/stalls.ts",
    "--smoke",
  ]);
  strictEqual(code, 0, stderr);
  for (const phase of ["COPY", "checkpoint", "UPDATE", "compaction", "CREATE INDEX", "DELETE", "idle"]) {
    match(stdout, new RegExp(`^${phase} .* resident \\d+ MB$`, "m"));
  }
});
