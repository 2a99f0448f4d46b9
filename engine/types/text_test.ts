/** Order and lengths of texts by code point. */
import assert from "node:assert/strict";
import { compareBytes, encodeUtf8 } from "../base/bytes.ts";
import { characterLength, compareText, hasSurrogates, takeCharacters, trimTrailingSpaces } from "./text.ts";

Deno.test("compareText() orders as the UTF-8 bytes do", () => {
  const texts = [
    "",
    "a",
    "ab",
    "b",
    "\x7f",
    "é",
    "漢",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "😀",
    "😁",
    "a😀",
    "a\uffff",
    "a\ue000z",
  ];
  for (const left of texts) {
    for (const right of texts) {
      const expected = compareBytes(encodeUtf8(left), encodeUtf8(right));
      assert.equal(compareText(left, right), expected, JSON.stringify([left, right]));
    }
  }
});

Deno.test("characterLength() and takeCharacters() count code points", () => {
  assert.equal(characterLength("a😀b"), 3);
  assert.equal(takeCharacters("a😀b", 2), "a😀");
  assert.equal(takeCharacters("abc", 5), "abc");
  assert.equal(hasSurrogates("a😀"), true);
  assert.equal(hasSurrogates("漢"), false);
  assert.equal(hasSurrogates("ab😀", 2), false);
  assert.equal(hasSurrogates("ab😀", 3), true);
});

Deno.test("trimTrailingSpaces() drops spaces only", () => {
  assert.equal(trimTrailingSpaces("a b  "), "a b");
  assert.equal(trimTrailingSpaces("a\t "), "a\t");
  assert.equal(trimTrailingSpaces("   "), "");
});
