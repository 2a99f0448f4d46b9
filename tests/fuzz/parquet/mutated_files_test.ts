/** A smoke of the damaged Parquet files; `deno task soak:parquet` reads 100 000. */
import { strict as assert } from "node:assert";
import { readMutatedFiles } from "./mutated_files.ts";

Deno.test("ParquetFile.read() answers damaged files with rows or typed errors", async () => {
  const tally = await readMutatedFiles({ seed: 7, files: 250 });
  assert.equal(tally.files, 250);
  assert.ok((tally.errors.get("22P04") ?? 0) > 20, "many are refused as damaged");
  assert.ok(tally.read > 20, "some can still be read");
});
