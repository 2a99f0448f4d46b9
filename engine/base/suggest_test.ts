/** Did-you-mean suggestions. */
import assert from "node:assert/strict";
import { closest, closestOption, didYouMean, nearest } from "./suggest.ts";

Deno.test("closest() finds near names only", () => {
  assert.equal(closest("pirce", ["id", "price", "prices"]), "price");
  assert.equal(closest("Customer", ["customers", "orders"]), "customers");
  assert.equal(closest("ab", ["xy", "cd"]), undefined);
  assert.equal(closest("total", ["name"]), undefined);
  assert.equal(closest("customer_adress_line", ["customer_address_line"]), "customer_address_line");
});

Deno.test("closestOption() knows an option by its first words, and prefers a whole one", () => {
  const options = ["--http-addr", "--http-tls-addr", "--tls-ca", "--tls", "--help"];
  const cases = [["--htp", "--http-addr"], ["--http-adr", "--http-addr"], ["--tsl", "--tls"], [
    "--helf",
    "--help",
  ]];
  for (const [given = "", expected] of cases) assert.equal(closestOption(given, options), expected);
  assert.equal(closestOption("--nonsense", options), undefined);
});

Deno.test("didYouMean() words the hint", () => {
  assert.equal(didYouMean("slect", ["select"]), 'Did you mean "select"?');
  assert.equal(didYouMean("zzz", ["select"]), undefined);
});

Deno.test("nearest() gives the nearest names, other spellings first, and none that is far", () => {
  assert.deepEqual(nearest("cuont", ["count", "amount", "total"]), ["count"]);
  assert.deepEqual(nearest("toString", ["to_string", "to_strings"]), ["to_string"]);
  assert.deepEqual(nearest("x", ["y", "z"]), []);
  assert.deepEqual(nearest("ball", ["wall", "hall", "bell", "fall"]), ["bell", "fall", "hall"]);
  assert.deepEqual(nearest("count", ["count"]), []);
});
