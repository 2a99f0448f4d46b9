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
  const cases = [
    "COPY",
    "checkpoint",
    "UPDATE",
    "compaction",
    "CREATE INDEX",
    "snapshot",
    "DELETE",
    "DROP TABLE",
    "idle",
  ];
  for (const name of cases) match(stdout, new RegExp(`^${name} +[0-9. ]+ \\d+$`, "m"));
});
