/** Did-you-mean suggestions. */
import assert from "node:assert/strict";
import { closest, didYouMean, editDistance } from "./suggest.ts";

Deno.test("editDistance() counts insertions, deletions, substitutions and swaps", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("pirce", "price"), 1);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("abcdef", "uvwxyz", 2), 3);
});

Deno.test("closest() finds near names only", () => {
  assert.equal(closest("pirce", ["id", "price", "prices"]), "price");
  assert.equal(closest("Customer", ["customers", "orders"]), "customers");
  assert.equal(closest("ab", ["xy", "cd"]), undefined);
  assert.equal(closest("total", ["name"]), undefined);
  assert.equal(closest("customer_adress_line", ["customer_address_line"]), "customer_address_line");
});

Deno.test("didYouMean() words the hint", () => {
  assert.equal(didYouMean("slect", ["select"]), 'Did you mean "select"?');
  assert.equal(didYouMean("zzz", ["select"]), undefined);
});
