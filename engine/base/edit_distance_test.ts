/** Distances between names, and the names that are near. */
import assert from "node:assert/strict";
import { editDistance, nearest } from "./edit_distance.ts";

Deno.test("editDistance() counts letters that are added, taken, changed and swapped", () => {
  const check = (left: string, right: string, distance: number) => {
    assert.equal(editDistance(left, right, 5), distance);
    assert.equal(editDistance(right, left, 5), distance);
  };
  check("", "", 0);
  check("", "ab", 2);
  check("count", "count", 0);
  check("count", "cuont", 1);
  check("count", "coun", 1);
  check("count", "counts", 1);
  check("count", "caunt", 1);
  check("kitten", "sitting", 3);
});

Deno.test("editDistance() stops beyond its limit", () => {
  assert.equal(editDistance("abcdef", "uvwxyz", 2), 3);
  assert.equal(editDistance("a", "abcdef", 2), 3);
});

Deno.test("nearest() gives the nearest names, other spellings first, and none that is far", () => {
  assert.deepEqual(nearest("cuont", ["count", "amount", "total"]), ["count"]);
  assert.deepEqual(nearest("toString", ["to_string", "to_strings"]), ["to_string"]);
  assert.deepEqual(nearest("x", ["y", "z"]), []);
  assert.deepEqual(nearest("ball", ["wall", "hall", "bell", "fall"]), ["bell", "fall", "hall"]);
  assert.deepEqual(nearest("count", ["count"]), []);
});
