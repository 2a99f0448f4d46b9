/** Published vectors of CRC-32C, continuation, and seeds. */
import { notStrictEqual, strictEqual } from "node:assert/strict";
import { checksumSeed, crc32c, shiftChecksum } from "./checksum.ts";
import { SeededRandom } from "./random.ts";

function check(bytes: Uint8Array, expected: number): void {
  strictEqual(crc32c(bytes), expected);
}

Deno.test("crc32c() gives the values of RFC 3720 appendix B.4", () => {
  check(new Uint8Array(0), 0);
  check(new TextEncoder().encode("123456789"), 0xe3069283);
  check(new Uint8Array(32), 0x8a9136aa);
  check(new Uint8Array(32).fill(0xff), 0x62a8ab43);
  check(Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e);
  check(Uint8Array.from({ length: 32 }, (_, index) => 31 - index), 0x113fdb5c);
});

/** The division, bit by bit. */
function divided(bytes: Uint8Array, previous: number): number {
  let remainder = ~previous;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      remainder = remainder & 1 ? (remainder >>> 1) ^ 0x82f63b78 : remainder >>> 1;
    }
  }
  return ~remainder >>> 0;
}

Deno.test("crc32c() divides bytes of any length from any place on", () => {
  const bytes = new Uint8Array(400);
  new SeededRandom(2).fill(bytes);
  for (let from = 0; from < 9; from++) {
    for (let length = 0; length <= 200; length++) {
      const part = bytes.subarray(from, from + length);
      const expected = divided(part, 12345);
      strictEqual(crc32c(part, 0, length, 12345), expected);
      strictEqual(
        crc32c(bytes.subarray(3), from, from + length, 12345),
        divided(bytes.subarray(from + 3, from + 3 + length), 12345),
      );
    }
  }
});

Deno.test("crc32c() continues where it stopped, at any cut", () => {
  const bytes = new Uint8Array(100);
  new SeededRandom(1).fill(bytes);
  const whole = crc32c(bytes);
  for (let cut = 0; cut <= bytes.length; cut++) {
    strictEqual(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut)), whole);
  }
});

Deno.test("checksumSeed() differs for each position of a file", () => {
  const seen = new Set<number>();
  for (let position = 0; position < 50_000; position++) seen.add(checksumSeed(7, position));
  strictEqual(seen.size, 50_000);
  notStrictEqual(checksumSeed(1, 40), checksumSeed(2, 40));
  notStrictEqual(checksumSeed(1, 40), checksumSeed(1 + 2 ** 32, 40));
});

Deno.test("shiftChecksum() joins checksums of pieces", () => {
  for (const length of [0, 1, 2, 7, 100, 4096, 65_537]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 7919) >> 3);
    for (const previous of [0, 1, 0xdeadbeef]) {
      strictEqual(
        (crc32c(bytes) ^ shiftChecksum(previous, length)) >>> 0,
        crc32c(bytes, 0, length, previous),
      );
    }
  }
});
