/**
 * Order of texts: by code point, which is the order of their UTF-8 bytes (the "C" collation).
 *
 * UTF-16 units compare alike except that surrogates (code points above U+FFFF) sort before U+E000 to U+FFFF; so the
 * JavaScript operators are right for all texts without surrogates, and {@link compareText} is right for all.
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** Compares texts by code point. */
export function compareText(left: string, right: string): -1 | 0 | 1 {
  if (left === right) return 0;
  const shared = Math.min(left.length, right.length);
  // Most texts differ within the first few characters, before a native comparison would have started.
  for (let index = 0; index < shared; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) {
      if (a >= 0xd800 && b >= 0xd800) return byCodePoint(a, b);
      return a < b ? -1 : 1;
    }
  }
  return left.length < right.length ? -1 : 1;
}

/** Compares CHAR(n) values, of which spaces at the end are no part. */
export function compareCharacters(left: string, right: string): -1 | 0 | 1 {
  return left === right ? 0 : compareText(trimTrailingSpaces(left), trimTrailingSpaces(right));
}

function byCodePoint(a: number, b: number): -1 | 1 {
  const aSurrogate = a < 0xe000;
  const bSurrogate = b < 0xe000;
  if (aSurrogate !== bSurrogate) return aSurrogate ? 1 : -1;
  return a < b ? -1 : 1;
}

/** The text without the spaces at its end, as CHAR(n) values are compared and stored. */
export function trimTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 32) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** A name cut to `LIMITS.maximumIdentifierBytes` bytes of UTF-8, never within a character, as PostgreSQL does. */
export function truncateName(text: string): string {
  if (text.length * 3 <= LIMITS.maximumIdentifierBytes) return text;
  const bytes = encodeUtf8(text);
  if (bytes.length <= LIMITS.maximumIdentifierBytes) return text;
  let end = LIMITS.maximumIdentifierBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decodeUtf8(bytes.subarray(0, end));
}

/** The number of characters (code points). */
export function characterLength(text: string): number {
  const units = text.length;
  let length = units;
  for (let index = 0; index < units; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xdc00 && index + 1 < units) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        length--;
        index++;
      }
    }
  }
  return length;
}

/** The first characters of a text, never half of one. */
export function takeCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  let index = 0;
  for (let taken = 0; taken < count && index < text.length; taken++) {
    const code = text.charCodeAt(index);
    index += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
  }
  return text.slice(0, index);
}

/**
 * Whether the first units of the text, or all, have characters beyond the Basic Multilingual Plane, which are two
 * units each.
 */
export function hasSurrogates(text: string, units = Infinity): boolean {
  const end = Math.min(text.length, units);
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xe000) return true;
  }
  return false;
}

/** The text, which 22021 refuses when a surrogate stands alone in it: UTF-8 has no bytes for that. */
export function requireWellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  const alone = /[\ud800-\udfff]/u.exec(text)?.[0].charCodeAt(0) ?? 0xd800;
  const bytes = [0xe0 | alone >> 12, 0x80 | alone >> 6 & 0x3f, 0x80 | alone & 0x3f];
  throw new DatabaseError(
    SQLSTATE.characterNotInRepertoire,
    `invalid byte sequence for encoding "UTF8": ${bytes.map((byte) => `0x${byte.toString(16)}`).join(" ")}`,
  );
}
