/**
 * CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4): the checksum of everything the database keeps or sends.
 *
 * Sixteen tables let one step take sixteen bytes (M. Kounavis, F. Berry, "A systematic approach to building high
 * performance software-based CRC generators", ISCC 2005), which are read as words of a little-endian machine, as all
 * are that run JavaScript; what precedes the first word and follows the last step goes byte by byte. A checksum
 * can start from the checksum of what came before, or from a seed that stands for the position, so that bytes at the
 * wrong place never verify: for equal bytes, unequal seeds give unequal checksums.
 */

const POLYNOMIAL = 0x82f63b78;
const TABLES = 16;
/** Fewer bytes are not worth a view of words. */
const SHORT_BYTES = 64;

/** `tables[k * 256 + b]`: the remainder of byte b followed by k zero bytes. */
const tables = makeTables();

function makeTables(): Int32Array {
  const result = new Int32Array(TABLES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) {
      remainder = remainder & 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1;
    }
    result[byte] = remainder;
  }
  for (let index = 256; index < TABLES * 256; index++) {
    const before = result[index - 256] as number;
    result[index] = (before >>> 8) ^ (result[before & 0xff] as number);
  }
  return result;
}

/** The register after words, a multiple of four. */
function addWords(register: number, words: Int32Array): number {
  const t = tables;
  let crc = register;
  for (let at = 0; at < words.length; at += 4) {
    const a = crc ^ (words[at] as number);
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    crc = (t[3840 + (a & 0xff)] as number) ^ (t[3584 + ((a >>> 8) & 0xff)] as number) ^
      (t[3328 + ((a >>> 16) & 0xff)] as number) ^ (t[3072 + (a >>> 24)] as number) ^
      (t[2816 + (b & 0xff)] as number) ^ (t[2560 + ((b >>> 8) & 0xff)] as number) ^
      (t[2304 + ((b >>> 16) & 0xff)] as number) ^ (t[2048 + (b >>> 24)] as number) ^
      (t[1792 + (c & 0xff)] as number) ^ (t[1536 + ((c >>> 8) & 0xff)] as number) ^
      (t[1280 + ((c >>> 16) & 0xff)] as number) ^ (t[1024 + (c >>> 24)] as number) ^
      (t[768 + (d & 0xff)] as number) ^ (t[512 + ((d >>> 8) & 0xff)] as number) ^
      (t[256 + ((d >>> 16) & 0xff)] as number) ^ (t[d >>> 24] as number);
  }
  return crc;
}

/** The checksum of `bytes[start … end)`, an unsigned 32-bit integer, continuing from `previous`. */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length, previous = 0): number {
  const t = tables;
  let crc = ~previous;
  let at = start;
  if (end - start >= SHORT_BYTES) {
    while (((bytes.byteOffset + at) & 3) !== 0) {
      crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at++] as number)) & 0xff] as number);
    }
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, ((end - at) >>> 4) * 4);
    crc = addWords(crc, words);
    at += words.length * 4;
  }
  while (at < end) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at++] as number)) & 0xff] as number);
  return ~crc >>> 0;
}

/**
 * What a checksum that starts from `previous` differs by from one that starts from 0, after `length` bytes: the
 * checksum of bytes that were summed from 0 turns into that of the same bytes behind others by XOR with this (the
 * register is linear; M. Adler, zlib's `crc32_combine`). Takes a microsecond or two, whatever the length.
 */
export function shiftChecksum(previous: number, length: number): number {
  // The remainder of x^(8 · length), by squaring.
  let power = 0x00800000;
  let result = 0x80000000 | 0;
  for (let left = length; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, power);
    power = multiply(power, power);
  }
  return multiply(result, previous | 0) >>> 0;
}

/** The product of two polynomials over GF(2) modulo the generator; bit 31 is the coefficient of x^0. */
function multiply(left: number, right: number): number {
  let product = 0;
  let factor = right;
  for (let bit = 31; bit >= 0; bit--) {
    if (((left >>> bit) & 1) === 1) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}

/** A seed from two non-negative safe integers, such as a file's identity and a position in it. */
export function checksumSeed(identity: number, position: number): number {
  let x = Math.imul(
    (identity >>> 0) ^ Math.imul(Math.floor(identity / 0x1_0000_0000) | 0, 0x27d4eb2f),
    0x9e3779b1,
  );
  x ^= x >>> 15;
  x = (x ^ (position | 0) ^ Math.imul(Math.floor(position / 0x1_0000_0000) | 0, 0x85ebca6b)) | 0;
  // A bijection of the 32 bits: different positions of one file never share a seed.
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  return (x ^ (x >>> 15)) >>> 0;
}
