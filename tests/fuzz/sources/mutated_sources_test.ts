/** A smoke test of mutated sources; `deno task soak:sources` runs many more. */
import assert from "node:assert/strict";
import { checkSource, essence, mutatedSources, sourceCounts } from "./mutated_sources.ts";

Deno.test("parse() and format() answer whatever 2 000 mutated sources hold", () => {
  const counts = sourceCounts();
  for (const text of mutatedSources(1)) {
    checkSource(text, counts);
    if (counts.sources === 2_000) break;
  }
  assert.ok(counts.withErrors > 500 && counts.codes.size > 25, JSON.stringify([...counts.codes]));
  assert.ok(counts.clearing > counts.fixes * 0.9, `${counts.clearing} of ${counts.fixes} fixes clear`);
});

Deno.test("essence() sees a token or comment that is lost", () => {
  assert.notEqual(essence("fn f() { a }"), essence("fn f() {}"));
  assert.notEqual(essence("fn f() {} // x"), essence("fn f() {}"));
  assert.equal(essence("const a = [1, 2,]"), essence("const a = [1, 2]"));
});
