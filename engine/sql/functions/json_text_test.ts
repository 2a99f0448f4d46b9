/** Reading and changing documents as texts. */
import assert from "node:assert/strict";
import { SeededRandom } from "../../execution/testing/seeded_random.ts";
import { parseJson } from "../../types/json.ts";
import { stripJsonNulls } from "./json_text.ts";

/** A document, and the same without members that are null. */
function documentOf(random: SeededRandom, depth: number): readonly [string, string] {
  const space = (): string => " \n\t".slice(0, random.below(4));
  const scalars = ["null", "true", "-1.50e+3", '"null"', '"a\\\\"', '"{\\":null}"', '"é\\n,:["', '""', "0"];
  const kind = depth === 0 ? 0 : random.below(3);
  if (kind === 0) {
    const scalar = scalars[random.below(scalars.length)] ?? "null";
    return [`${space()}${scalar}${space()}`, scalar];
  }
  const items = Array.from({ length: random.below(4) }, () => documentOf(random, depth - 1));
  const [open, close] = kind === 1 ? "[]" : "{}";
  const key = (index: number): string => kind === 1 ? "" : `${['"a"', '"null"', '"\\":"', '""'][index % 4]}`;
  const whole = items.map(([item], index) => kind === 1 ? item : `${space()}${key(index)}${space()}:${item}`);
  const kept = items.flatMap(([, item], index) =>
    kind === 1 ? [item] : item === "null" ? [] : [`${key(index)}:${item}`]
  );
  return [
    `${space()}${open}${whole}${items.length === 0 ? space() : ""}${close}${space()}`,
    `${open}${kept}${close}`,
  ];
}

Deno.test("stripJsonNulls() leaves out members that are null, and nothing else", () => {
  const random = new SeededRandom(14);
  let changed = 0;
  for (let round = 0; round < 3000; round++) {
    const [whole, kept] = documentOf(random, 4);
    parseJson(whole);
    assert.equal(stripJsonNulls(whole), kept, whole);
    if (whole.replaceAll(/\s/g, "") !== kept) changed++;
  }
  assert.ok(changed > 200, `${changed} documents had such members`);
  const deep = 2000;
  const nested = `${'{"n":null,"a":'.repeat(deep)}1${"}".repeat(deep)}`;
  assert.equal(stripJsonNulls(nested), `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`);
});
