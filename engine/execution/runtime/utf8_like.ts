/**
 * LIKE on UTF-8 that is not decoded: the stretches of a pattern between its `%` are looked for as bytes, which finds
 * the same places as a search for characters, since no character's encoding is within another's.
 *
 * Search: R. N. Horspool, "Practical fast searching in strings", Software: Practice and Experience 10(6), 1980. A
 * pattern with `_`, which stands for a character of unknown length, is left to the function on texts.
 */
import { encodeUtf8 } from "../../base/bytes.ts";
import { decodeText } from "./interner.ts";

interface Stretch {
  readonly bytes: Uint8Array;
  /** How far the stretch may move on when this byte is at its end. */
  readonly shifts: Uint16Array;
}

/** A pattern made ready. */
export interface Utf8Pattern {
  /** Without `%` at the beginning, the first stretch begins the text; without one at the end, the last ends it. */
  readonly stretches: readonly Stretch[];
  readonly isAnchoredAtStart: boolean;
  readonly isAnchoredAtEnd: boolean;
  /** The function on texts, for a pattern that needs it. */
  readonly onText: ((text: string) => boolean) | null;
}

/** Longer stretches would not fit their shifts. */
const MAX_STRETCH = 60_000;

/** Makes a pattern ready; `onText` decides where bytes cannot. */
export function utf8Pattern(pattern: string, onText: (text: string) => boolean): Utf8Pattern {
  const parts = splitPattern(pattern);
  const encoded = (parts ?? []).map((part) => encodeUtf8(part));
  const isPlain = parts !== null && pattern.isWellFormed() &&
    encoded.every(({ length }) => length <= MAX_STRETCH);
  const filled = encoded.filter(({ length }) => length > 0);
  return {
    stretches: filled.map((bytes) => ({ bytes, shifts: shiftsOf(bytes) })),
    isAnchoredAtStart: (encoded[0]?.length ?? 0) > 0 || encoded.length === 1,
    isAnchoredAtEnd: (encoded.at(-1)?.length ?? 0) > 0 || encoded.length === 1,
    onText: isPlain ? null : onText,
  };
}

/** What is between the `%`; null for a pattern with `_` or with an escape that escapes nothing. */
function splitPattern(pattern: string): string[] | null {
  const parts = [""];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] ?? "";
    if (character === "_") return null;
    if (character === "%") {
      parts.push("");
      continue;
    }
    if (character === "\\" && ++index >= pattern.length) return null;
    parts[parts.length - 1] += pattern[index] ?? "";
  }
  return parts;
}

function shiftsOf(bytes: Uint8Array): Uint16Array {
  const shifts = new Uint16Array(256).fill(bytes.length);
  for (let index = 0; index + 1 < bytes.length; index++) {
    shifts[bytes[index] as number] = bytes.length - 1 - index;
  }
  return shifts;
}

/** Whether the text between start and end matches. */
export function likeUtf8(pattern: Utf8Pattern, bytes: Uint8Array, start: number, end: number): boolean {
  if (pattern.onText !== null) return pattern.onText(decodeText(bytes, start, end));
  const { stretches } = pattern;
  let from = start;
  let to = end;
  let first = 0;
  let last = stretches.length;
  if (pattern.isAnchoredAtStart) {
    const stretch = stretches[0];
    if (stretch === undefined) return start === end;
    if (!standsAt(bytes, from, to, stretch.bytes)) return false;
    from += stretch.bytes.length;
    first = 1;
  }
  if (pattern.isAnchoredAtEnd) {
    // Without any % the one stretch is the whole text.
    if (last === 1 && first === 1) return from === end;
    const stretch = stretches[last - 1] as Stretch;
    to -= stretch.bytes.length;
    if (to < from || !standsAt(bytes, to, end, stretch.bytes)) return false;
    last--;
  }
  for (let index = first; index < last; index++) {
    from = find(bytes, from, to, stretches[index] as Stretch);
    if (from < 0) return false;
  }
  return true;
}

function standsAt(bytes: Uint8Array, at: number, end: number, wanted: Uint8Array): boolean {
  if (end - at < wanted.length) return false;
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** The place behind the first occurrence, or -1. */
function find(bytes: Uint8Array, from: number, to: number, { bytes: wanted, shifts }: Stretch): number {
  const length = wanted.length;
  const last = wanted[length - 1] as number;
  for (let end = from + length - 1; end < to;) {
    const byte = bytes[end] as number;
    if (byte === last && standsAt(bytes, end - length + 1, to, wanted)) return end + 1;
    end += shifts[byte] as number;
  }
  return -1;
}
