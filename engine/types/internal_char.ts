/**
 * Values of `"char"`, one byte: a text of one character up to U+00FF, or the empty text for the byte 0.
 *
 * Bytes beyond ASCII are written as `\ooo` in octal, which is read too, as PostgreSQL does.
 */
import { encodeUtf8 } from "../base/bytes.ts";

/** Reads a value: an octal escape, or the first byte of a text. */
export function parseInternalChar(text: string): string {
  const escape = /^\\([0-3][0-7]{2})$/.exec(text);
  return internalCharOf(escape === null ? encodeUtf8(text)[0] ?? 0 : parseInt(escape[1] ?? "", 8));
}

/** The value of a byte. */
export function internalCharOf(byte: number): string {
  return byte === 0 ? "" : String.fromCharCode(byte);
}

/** The byte of a value. */
export function internalCharByte(value: string): number {
  return value === "" ? 0 : value.charCodeAt(0);
}

/** A value as text. */
export function formatInternalChar(value: string): string {
  const byte = internalCharByte(value);
  return byte < 128 ? value : `\\${byte.toString(8)}`;
}
