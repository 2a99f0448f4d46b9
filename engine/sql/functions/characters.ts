/**
 * Text operations that count in characters (code points). Texts without characters beyond the Basic Multilingual Plane,
 * nearly all, are worked on as JavaScript strings directly.
 */
import { assert } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { characterLength, hasSurrogates } from "../../types/text.ts";

/** No text function makes a text longer than this; it is below the limit of JavaScript strings. */
export const maximumTextLength = 0x0fff_ffff;

/** The error for a result that would be too long. */
export function textTooLong(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "requested length too large");
}

/** The part from index `start` (0-based, in characters) to before `end`; both within or beyond the text. */
export function sliceCharacters(text: string, start: number, end: number): string {
  const from = Math.max(0, start);
  if (end <= from) return "";
  // Characters are units as far as no surrogates are before the end.
  if (!hasSurrogates(text, end)) return text.slice(from, end);
  return [...text].slice(from, end).join("");
}

/** `substring(text from start)`, counted from 1; starts before the text take it whole. */
export function substringFrom(text: string, start: number): string {
  return sliceCharacters(text, start - 1, Infinity);
}

/** `substring(text from start for count)`; 22011 when the count is negative. */
export function substringFor(text: string, start: number, count: number): string {
  if (count < 0) throw negativeSubstringLength();
  return sliceCharacters(text, start - 1, start - 1 + count);
}

/** The error of a negative length. */
export function negativeSubstringLength(): DatabaseError {
  return new DatabaseError(SQLSTATE.substringError, "negative substring length not allowed");
}

/** The first `count` characters, or all but the last `-count`. */
export function leftCharacters(text: string, count: number): string {
  return sliceCharacters(text, 0, count < 0 ? characterLength(text) + count : count);
}

/** The last `count` characters, or all but the first `-count`. */
export function rightCharacters(text: string, count: number): string {
  if (count < 0) return sliceCharacters(text, -count, Infinity);
  return count === 0 ? "" : sliceCharacters(text, characterLength(text) - count, Infinity);
}

/** Where `part` begins in `text`, counted from 1; 0 when it does not occur. */
export function positionOf(text: string, part: string): number {
  const index = text.indexOf(part);
  if (index <= 0) return index + 1;
  return characterLength(text.slice(0, index)) + 1;
}

function padding(fill: string, length: number): string {
  if (fill === "" || length <= 0) return "";
  const width = characterLength(fill);
  return sliceCharacters(fill.repeat(Math.ceil(length / width)), 0, length);
}

/** Fills up on the left to a length, or cuts on the right to it. */
export function padLeft(text: string, length: number, fill: string): string {
  if (length > maximumTextLength && fill !== "") throw textTooLong();
  const missing = length - characterLength(text);
  return missing < 0 ? sliceCharacters(text, 0, length) : padding(fill, missing) + text;
}

/** Fills up on the right to a length, or cuts to it. */
export function padRight(text: string, length: number, fill: string): string {
  if (length > maximumTextLength && fill !== "") throw textTooLong();
  const missing = length - characterLength(text);
  return missing < 0 ? sliceCharacters(text, 0, length) : text + padding(fill, missing);
}

/** The text `count` times; nothing when that is not positive. */
export function repeatText(text: string, count: number): string {
  if (count <= 0 || text === "") return "";
  if (text.length * count > maximumTextLength) throw textTooLong();
  return text.repeat(count);
}

/** Without leading characters that occur in `set`. */
export function trimLeft(text: string, set: string): string {
  const members = new Set(set);
  let index = 0;
  for (const character of text) {
    if (!members.has(character)) break;
    index += character.length;
  }
  return text.slice(index);
}

/** Without trailing characters that occur in `set`. */
export function trimRight(text: string, set: string): string {
  const members = new Set(set);
  if (!hasSurrogates(text)) {
    let end = text.length;
    while (end > 0 && members.has(text[end - 1] ?? "")) end--;
    return text.slice(0, end);
  }
  const characters = [...text];
  let end = characters.length;
  while (end > 0 && members.has(characters[end - 1] ?? "")) end--;
  return characters.slice(0, end).join("");
}

/** Upper case, character by character: one whose upper case is longer (ß) stays. */
export function upperCase(text: string): string {
  const upper = text.toUpperCase();
  if (upper.length === text.length) return upper;
  return [...text].map((character) => {
    const changed = character.toUpperCase();
    return [...changed].length === 1 ? changed : character;
  }).join("");
}

/** Lower case, character by character. */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length && !text.includes("Σ")) return lower;
  return [...text].map((character) => {
    const changed = character.toLowerCase();
    return [...changed].length === 1 ? changed : [...changed][0] ?? character;
  }).join("");
}

const wordCharacter = /[\p{L}\p{N}]/u;
/** Whether characters are of words, by code point: 0 when that is not known yet, 1 for others, 2. */
let wordKinds = new Uint8Array(0);

function isOfWord(code: number): boolean {
  if (wordKinds.length === 0) wordKinds = new Uint8Array(0x110000);
  if (wordKinds[code] === 0) wordKinds[code] = wordCharacter.test(String.fromCodePoint(code)) ? 2 : 1;
  return wordKinds[code] === 2;
}

/** The first letter of each word in upper case, the rest in lower case; words are runs of letters and digits. */
export function initialCapitals(text: string): string {
  // Neither changes the number of characters, and no character has another number of units than its other case.
  const upper = upperCase(text), lower = lowerCase(text);
  assert(upper.length === text.length && lower.length === text.length, "cases are as long as each other");
  const writer = new UnitWriter();
  let isInWord = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index), cased = isInWord ? lower : upper;
    const isPair = unit >= 0xd800 && unit < 0xdc00;
    isInWord = isOfWord(isPair ? text.codePointAt(index) as number : unit);
    writer.add(cased.charCodeAt(index));
    if (isPair) writer.add(cased.charCodeAt(++index));
  }
  return writer.finish();
}

/** Each character of `from` becomes the one at the same place in `to`, or nothing when `to` is shorter. */
export function translateCharacters(text: string, from: string, to: string): string {
  const targets = [...to];
  const map = new Map<number, string>();
  for (const [index, character] of [...from].entries()) {
    const code = character.codePointAt(0) as number;
    if (!map.has(code)) map.set(code, targets[index] ?? "");
  }
  // What one unit becomes, where it becomes one.
  const direct = Int32Array.from({ length: 256 }, (_, code) => {
    const target = map.get(code);
    return target === undefined ? code : target.length === 1 ? target.charCodeAt(0) : -1;
  });
  const writer = new UnitWriter();
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const simple = unit < 256 ? direct[unit] as number : -1;
    if (simple >= 0) {
      writer.add(simple);
      continue;
    }
    const isPair = unit >= 0xd800 && unit < 0xdc00;
    const target = map.get(isPair ? text.codePointAt(index) as number : unit);
    if (target === undefined) {
      writer.add(unit);
      if (isPair) writer.add(text.charCodeAt(++index));
    } else {
      for (let at = 0; at < target.length; at++) writer.add(target.charCodeAt(at));
      if (isPair) index++;
    }
  }
  return writer.finish();
}

/** The characters in the opposite order. */
export function reverseText(text: string): string {
  const writer = new UnitWriter();
  for (let index = text.length - 1; index >= 0; index--) {
    const unit = text.charCodeAt(index);
    const isPair = unit >= 0xdc00 && unit < 0xe000 && index > 0;
    if (isPair) writer.add(text.charCodeAt(--index));
    writer.add(unit);
  }
  return writer.finish();
}

/** Makes a text of UTF-16 units, many at a time: pieces of one character each would take ten times as long. */
class UnitWriter {
  readonly #units = new Uint16Array(4096);
  #count = 0;
  #text = "";

  add(unit: number): void {
    if (this.#count === this.#units.length) this.#flush();
    this.#units[this.#count++] = unit;
  }

  finish(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    this.#text += String.fromCharCode.apply(
      null,
      this.#units.subarray(0, this.#count) as unknown as number[],
    );
    this.#count = 0;
  }
}

/** The n-th part between delimiters, from the end when negative; the empty text when there is none. */
export function splitPart(text: string, delimiter: string, n: number): string {
  if (n === 0) throw new DatabaseError(SQLSTATE.invalidParameterValue, "field position must not be zero");
  if (text === "") return "";
  if (delimiter === "") return n === 1 || n === -1 ? text : "";
  const parts = text.split(delimiter);
  return parts[n > 0 ? n - 1 : parts.length + n] ?? "";
}

/**
 * Where the rest begins behind `count` units from `start`, counted from 1; 22011 and 22003 as PostgreSQL raises them.
 */
export function overlayEnd(start: number, count: number): number {
  if (start <= 0) throw negativeSubstringLength();
  const end = start + count;
  if (end !== (end | 0)) throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "integer out of range");
  return end;
}

/** Replaces `count` characters from `start` (counted from 1) by another text. */
export function overlayText(text: string, replacement: string, start: number, count: number): string {
  const end = overlayEnd(start, count);
  return substringFor(text, 1, start - 1) + replacement + substringFrom(text, end);
}
