/** Decoding of short ASCII texts. */
import assert from "node:assert/strict";
import { decodeAscii, MAX_ASCII_TEXT_LENGTH } from "./ascii_text.ts";

Deno.test("decodeAscii() decodes every length, from any place", () => {
  const bytes = Uint8Array.from({ length: MAX_ASCII_TEXT_LENGTH + 10 }, (_, index) => (index * 37) % 128);
  for (let length = 0; length <= MAX_ASCII_TEXT_LENGTH; length++) {
    for (const start of [0, 1, 10]) {
      const expected = [...bytes.subarray(start, start + length)].map((byte) => String.fromCharCode(byte))
        .join("");
      assert.equal(decodeAscii(bytes, start, start + length), expected);
    }
  }
});

Deno.test("decodeAscii() leaves longer texts and other bytes to others", () => {
  const bytes = new Uint8Array(MAX_ASCII_TEXT_LENGTH + 1).fill(65);
  assert.equal(decodeAscii(bytes, 0, bytes.length), null);
  for (const at of [0, 7, 30]) {
    const other = bytes.slice(0, 31);
    other[at] = 0x80;
    assert.equal(decodeAscii(other, 0, other.length), null);
    assert.equal(decodeAscii(other, at + 1, other.length), "A".repeat(30 - at));
  }
});
