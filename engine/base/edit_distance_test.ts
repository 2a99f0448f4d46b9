/** Distances between names. */
import assert from "node:assert/strict";
import { editDistance } from "./edit_distance.ts";

Deno.test("editDistance() counts insertions, deletions, substitutions and swaps", () => {
  const check = (left: string, right: string, distance: number) => {
    assert.equal(editDistance(left, right), distance);
    assert.equal(editDistance(right, left, 5), distance);
  };
  check("", "", 0);
  check("", "ab", 2);
  check("", "abc", 3);
  check("count", "count", 0);
  check("count", "cuont", 1);
  check("pirce", "price", 1);
  check("count", "coun", 1);
  check("count", "counts", 1);
  check("count", "caunt", 1);
  check("kitten", "sitting", 3);
});

Deno.test("editDistance() stops beyond its limit", () => {
  assert.equal(editDistance("abcdef", "uvwxyz", 2), 3);
  assert.equal(editDistance("a", "abcdef", 2), 3);
});
