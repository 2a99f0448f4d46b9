/**
 * Functions on byte strings, and hashes. Hashes come from a pure JavaScript library, because the engine's core asks no
 * platform service and must be synchronous.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { md5 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { encodeUtf8 } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { escapeBytes } from "../../types/scalar_text.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import { negativeSubstringLength, overlayEnd } from "./characters.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

function fromHexadecimal(text: string): Uint8Array {
  const digits = text.replaceAll(/[ \n\t\r]/g, "");
  const bad = /[^0-9a-fA-F]/u.exec(digits);
  if (bad !== null) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid hexadecimal digit: "${bad[0]}"`);
  }
  if (digits.length % 2 !== 0) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, "invalid hexadecimal data: odd number of digits");
  }
  return Uint8Array.fromHex(digits);
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base 64 (RFC 2045): a newline after every 76 characters. */
function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64().replace(/.{76}/g, "$&\n");
}

function fromBase64(text: string): Uint8Array {
  // The quick way skips form feeds, which PostgreSQL does not take.
  if (text.includes("\f")) return fromLooseBase64(text);
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    // PostgreSQL takes more than that, and says what is wrong.
    return fromLooseBase64(text);
  }
}

function fromLooseBase64(text: string): Uint8Array {
  const bytes: number[] = [];
  let group = 0;
  let digits = 0;
  let padding = 0;
  for (const character of text) {
    if (/[ \t\n\r]/.test(character)) continue;
    if (character === "=") {
      padding++;
      if (digits + padding > 4 || digits < 2) {
        throw base64Error(`unexpected "=" while decoding base64 sequence`);
      }
      if (digits + padding === 4) {
        bytes.push((group >> (digits === 2 ? 4 : 10)) & 255);
        if (digits === 3) bytes.push((group >> 2) & 255);
        digits = 0;
        group = 0;
      }
      continue;
    }
    const value = base64Digits.indexOf(character);
    if (value < 0) throw base64Error(`invalid symbol "${character}" found while decoding base64 sequence`);
    if (padding > 0) throw base64Error("invalid base64 end sequence");
    group = (group << 6) | value;
    digits++;
    if (digits === 4) {
      bytes.push((group >> 16) & 255, (group >> 8) & 255, group & 255);
      digits = 0;
      group = 0;
    }
  }
  if (digits !== 0) throw base64Error("invalid base64 end sequence");
  return Uint8Array.from(bytes);
}

function base64Error(message: string): DatabaseError {
  const ends = message === "invalid base64 end sequence";
  return new DatabaseError(
    SQLSTATE.invalidParameterValue,
    message,
    ends ? { hint: "Input data is missing padding, is truncated, or is otherwise corrupted." } : {},
  );
}

/** The `escape` format: zero and bytes above 127 as octal, backslashes doubled. */
function toEscape(bytes: Uint8Array): string {
  return escapeBytes(bytes, 1, 127);
}

function fromEscape(text: string): Uint8Array {
  const bytes: number[] = [];
  const source = encodeUtf8(text);
  for (let index = 0; index < source.length; index++) {
    const byte = source[index] ?? 0;
    if (byte !== 92) {
      bytes.push(byte);
      continue;
    }
    if (source[index + 1] === 92) {
      bytes.push(92);
      index++;
      continue;
    }
    const octal = String.fromCharCode(...source.subarray(index + 1, index + 4));
    if (!/^[0-3][0-7]{2}$/.test(octal)) {
      throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "invalid input syntax for type bytea");
    }
    bytes.push(parseInt(octal, 8));
    index += 3;
  }
  return Uint8Array.from(bytes);
}

function unknownEncoding(name: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, `unrecognized encoding: "${name}"`);
}

function encodeBytes(bytes: Uint8Array, format: string): string {
  switch (format.toLowerCase()) {
    case "hex":
      return bytes.toHex();
    case "base64":
      return toBase64(bytes);
    case "escape":
      return toEscape(bytes);
    default:
      throw unknownEncoding(format);
  }
}

function decodeBytes(text: string, format: string): Uint8Array {
  switch (format.toLowerCase()) {
    case "hex":
      return fromHexadecimal(text);
    case "base64":
      return fromBase64(text);
    case "escape":
      return fromEscape(text);
    default:
      throw unknownEncoding(format);
  }
}

function indexError(index: NumberOrBigint, length: number): DatabaseError {
  return new DatabaseError(
    SQLSTATE.arraySubscriptError,
    `index ${index} out of valid range, 0..${length - 1}`,
  );
}

function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index];
  if (byte === undefined) throw indexError(index, bytes.length);
  return byte;
}

function withByte(bytes: Uint8Array, index: number, value: number): Uint8Array {
  byteAt(bytes, index);
  const copy = bytes.slice();
  copy[index] = value & 255;
  return copy;
}

function bitAt(bytes: Uint8Array, index: NumberOrBigint): number {
  const at = Number(index);
  const byte = at < 0 ? undefined : bytes[Math.floor(at / 8)];
  if (byte === undefined) throw indexError(index, bytes.length * 8);
  return (byte >> (at % 8)) & 1;
}

function withBit(bytes: Uint8Array, index: NumberOrBigint, value: number): Uint8Array {
  bitAt(bytes, index);
  if (value !== 0 && value !== 1) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, "new bit must be 0 or 1");
  }
  const at = Number(index);
  const copy = bytes.slice();
  const mask = 1 << (at % 8);
  const position = Math.floor(at / 8);
  copy[position] = value === 1 ? (copy[position] ?? 0) | mask : (copy[position] ?? 0) & ~mask;
  return copy;
}

function countBits(bytes: Uint8Array): number {
  let count = 0;
  for (let byte of bytes) for (; byte !== 0; byte &= byte - 1) count++;
  return count;
}

/** `substring` of bytes, counted from 1. */
function substringBytes(bytes: Uint8Array, start: number, count: number): Uint8Array {
  if (count < 0) throw negativeSubstringLength();
  const from = Math.max(0, start - 1);
  return bytes.slice(from, Math.max(from, start - 1 + count));
}

/** Both byte strings one after the other. */
export function concatBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const result = new Uint8Array(left.length + right.length);
  result.set(left);
  result.set(right, left.length);
  return result;
}

function overlayBytes(bytes: Uint8Array, replacement: Uint8Array, start: number, count: number): Uint8Array {
  const end = overlayEnd(start, count);
  const head = bytes.subarray(0, start - 1);
  return concatBytes(concatBytes(head, replacement), bytes.subarray(Math.max(0, end - 1)));
}

function positionOfBytes(bytes: Uint8Array, part: Uint8Array): number {
  for (let start = 0; start + part.length <= bytes.length; start++) {
    if (part.every((byte, index) => bytes[start + index] === byte)) return start + 1;
  }
  return 0;
}

function trimBytes(bytes: Uint8Array, set: Uint8Array, left: boolean, right: boolean): Uint8Array {
  let start = 0;
  let end = bytes.length;
  while (left && start < end && set.includes(bytes[start] ?? -1)) start++;
  while (right && end > start && set.includes(bytes[end - 1] ?? -1)) end--;
  return bytes.slice(start, end);
}

const binary = { category: "binary", returns: "bytea" } as const;
const number = { category: "binary", returns: "i32" } as const;
const hash = { category: "cryptographic", returns: "bytea" } as const;

const overloads: readonly Overload[] = [
  {
    ...hash,
    name: "sha224",
    takes: "bytea",
    summary: "SHA-224 hash (FIPS 180-4).",
    run: (bytes: Uint8Array) => sha224(bytes),
  },
  {
    ...hash,
    name: "sha256",
    takes: "bytea",
    summary: "SHA-256 hash (FIPS 180-4).",
    run: (bytes: Uint8Array) => sha256(bytes),
  },
  {
    ...hash,
    name: "sha384",
    takes: "bytea",
    summary: "SHA-384 hash (FIPS 180-4).",
    run: (bytes: Uint8Array) => sha384(bytes),
  },
  {
    ...hash,
    name: "sha512",
    takes: "bytea",
    summary: "SHA-512 hash (FIPS 180-4).",
    run: (bytes: Uint8Array) => sha512(bytes),
  },
  {
    ...hash,
    name: "hmac_sha256",
    takes: "bytea, bytea",
    summary: "HMAC-SHA-256 (RFC 2104) of the second argument under the key given first.",
    run: (key: Uint8Array, bytes: Uint8Array) => hmac(sha256, key, bytes),
  },
  {
    ...hash,
    name: "md5",
    takes: "text",
    returns: "text",
    summary: "MD5 hash (RFC 1321) in hexadecimal digits.",
    run: (value: string) => md5(encodeUtf8(value)).toHex(),
  },
  {
    ...hash,
    name: "md5",
    takes: "bytea",
    returns: "text",
    summary: "MD5 hash (RFC 1321) in hexadecimal digits.",
    run: (bytes: Uint8Array) => md5(bytes).toHex(),
  },
  {
    name: "encode",
    takes: "bytea, text",
    returns: "text",
    category: "binary",
    summary: "Bytes as text in the format hex, base64 or escape.",
    run: encodeBytes,
  },
  {
    ...binary,
    name: "decode",
    takes: "text, text",
    summary: "Bytes from text in the format hex, base64 or escape.",
    run: decodeBytes,
  },
  ...["length", "octet_length"].map((name): Overload => ({
    ...number,
    name,
    takes: "bytea",
    summary: "Number of bytes.",
    run: (bytes: Uint8Array) => bytes.length,
    inline: ([bytes]) => `${bytes}.length`,
  })),
  {
    ...number,
    name: "bit_length",
    takes: "bytea",
    summary: "Number of bits.",
    run: (bytes: Uint8Array) => bytes.length * 8,
  },
  {
    ...number,
    name: "bit_count",
    takes: "bytea",
    returns: "i64",
    summary: "Number of bits set.",
    run: countBits,
  },
  { ...number, name: "get_byte", takes: "bytea, i32", summary: "The n-th byte, from 0.", run: byteAt },
  {
    ...binary,
    name: "set_byte",
    takes: "bytea, i32, i32",
    summary: "With the n-th byte set.",
    run: withByte,
  },
  { ...number, name: "get_bit", takes: "bytea, i64", summary: "The n-th bit, from 0.", run: bitAt },
  { ...binary, name: "set_bit", takes: "bytea, i64, i32", summary: "With the n-th bit set.", run: withBit },
  ...["substr", "substring"].flatMap((name): Overload[] => [
    {
      ...binary,
      name,
      takes: "bytea, i32",
      summary: "The bytes from a position.",
      run: (bytes: Uint8Array, start: number) => bytes.slice(Math.max(0, start - 1)),
    },
    {
      ...binary,
      name,
      takes: "bytea, i32, i32",
      summary: "The bytes from a position, at most so many.",
      run: substringBytes,
    },
  ]),
  {
    ...binary,
    name: "overlay",
    takes: "bytea, bytea, i32, i32",
    summary: "The first bytes with so many from a position replaced by the second.",
    run: overlayBytes,
  },
  {
    ...binary,
    name: "overlay",
    takes: "bytea, bytea, i32",
    summary: "The first bytes with those from a position replaced by the second.",
    run: (bytes: Uint8Array, replacement: Uint8Array, start: number) =>
      overlayBytes(bytes, replacement, start, replacement.length),
  },
  {
    ...number,
    name: "position",
    takes: "bytea, bytea",
    summary: "Where the second bytes begin in the first, from 1; 0 when they do not occur.",
    run: positionOfBytes,
  },
  ...([["btrim", true, true], ["trim", true, true], ["ltrim", true, false], ["rtrim", false, true]] as const)
    .map(([name, left, right]): Overload => ({
      ...binary,
      name,
      takes: "bytea, bytea",
      summary: "Without bytes of the second argument at the ends.",
      run: (bytes: Uint8Array, set: Uint8Array) => trimBytes(bytes, set, left, right),
    })),
];

/** Functions on bytes, and hashes. */
export const binaryFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
