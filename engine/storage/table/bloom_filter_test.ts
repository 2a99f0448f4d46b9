/** What Bloom filters promise: never "no" for a key that was added. */
import assert from "node:assert/strict";
import { BloomFilter, hashNumber, hashText } from "./bloom_filter.ts";

Deno.test("BloomFilter never denies a key that was added, and denies most others", () => {
  const filter = BloomFilter.forKeys(1000);
  for (let key = 0; key < 1000; key++) filter.add(hashNumber(key * 1.5));
  for (let key = 0; key < 1000; key++) assert.ok(filter.mayContain(hashNumber(key * 1.5)), `${key * 1.5}`);
  let falsePositives = 0;
  for (let key = 0; key < 10_000; key++) if (filter.mayContain(hashText(`absent ${key}`))) falsePositives++;
  assert.ok(falsePositives < 500, `${falsePositives} false positives`);
});

Deno.test("hashNumber() is the same for 0 and -0", () => {
  assert.equal(hashNumber(-0), hashNumber(0));
  assert.notEqual(hashNumber(1), hashNumber(-1));
});
