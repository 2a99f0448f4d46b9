/**
 * Array values: a flat list of elements in row-major order with dimensions and lower bounds, as in PostgreSQL.
 *
 * The empty array has no dimensions. All elements have the array type's element type or are null. Limits: 6
 * dimensions. Parsing and printing of elements is the caller's, so that this file knows no types.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { SqlValue } from "./value.ts";

/** Indexes are integers of 32 bits, and so is the one after the last. */
const MAX_INDEX = 2_147_483_647;
const MINIMUM_INDEX = -2_147_483_648;

function outOfBounds(lower: number): DatabaseError {
  return lower < MINIMUM_INDEX
    ? new DatabaseError(SQLSTATE.numericValueOutOfRange, "integer out of range")
    : new DatabaseError(SQLSTATE.programLimitExceeded, `array lower bound is too large: ${lower}`);
}

/** An array value. */
export class SqlArray {
  /** The array without elements and dimensions. */
  static readonly EMPTY: SqlArray = new SqlArray([], [], []);

  /** All elements in row-major order. */
  readonly elements: readonly SqlValue[];
  /** The length of each dimension; empty for the empty array. */
  readonly dimensions: readonly number[];
  /** The index of the first element of each dimension, 1 unless given otherwise. */
  readonly lowerBounds: readonly number[];

  /** An array of parts that fit each other; the lists are not copied. */
  constructor(elements: readonly SqlValue[], dimensions: readonly number[], lowerBounds: readonly number[]) {
    this.elements = elements;
    this.dimensions = dimensions;
    this.lowerBounds = lowerBounds;
    for (let index = 0; index < dimensions.length; index++) {
      const lower = lowerBounds[index] ?? 1;
      if (lower + (dimensions[index] ?? 0) > MAX_INDEX || lower < MINIMUM_INDEX) throw outOfBounds(lower);
    }
  }

  /** A one-dimensional array that starts at 1. */
  static of(elements: readonly SqlValue[]): SqlArray {
    return elements.length === 0 ? SqlArray.EMPTY : new SqlArray(elements, [elements.length], [1]);
  }

  /** The array of arrays (`ARRAY[ARRAY[1,2],ARRAY[3,4]]`); 2202E unless all parts have the same dimensions. */
  static ofArrays(parts: readonly SqlArray[]): SqlArray {
    const first = parts[0];
    if (first === undefined || parts.every((part) => part.elements.length === 0)) return SqlArray.EMPTY;
    for (const part of parts) {
      if (
        !sameNumbers(part.dimensions, first.dimensions) || !sameNumbers(part.lowerBounds, first.lowerBounds)
      ) {
        throw new DatabaseError(
          SQLSTATE.arraySubscriptError,
          "multidimensional arrays must have array expressions with matching dimensions",
        );
      }
    }
    if (first.dimensions.length >= LIMITS.maximumArrayDimensions) {
      throw tooManyDimensions(first.dimensions.length + 1);
    }
    return new SqlArray(
      parts.flatMap((part) => [...part.elements]),
      [parts.length, ...first.dimensions],
      [1, ...first.lowerBounds],
    );
  }

  /** The number of elements in all dimensions. */
  get length(): number {
    return this.elements.length;
  }

  /** The index of the last element of a dimension counted from 1, or undefined when there is no such dimension. */
  upperBound(dimension: number): number | undefined {
    const length = this.dimensions[dimension - 1];
    const lower = this.lowerBounds[dimension - 1];
    return length === undefined || lower === undefined ? undefined : lower + length - 1;
  }

  /** The element at the indexes, one a dimension; null outside the bounds or with a wrong number of indexes. */
  element(indexes: readonly number[]): SqlValue {
    if (indexes.length !== this.dimensions.length || indexes.length === 0) return null;
    let position = 0;
    for (let dimension = 0; dimension < indexes.length; dimension++) {
      const length = this.dimensions[dimension] ?? 0;
      const offset = (indexes[dimension] ?? 0) - (this.lowerBounds[dimension] ?? 1);
      if (!(offset >= 0 && offset < length)) return null;
      position = position * length + offset;
    }
    return this.elements[position] ?? null;
  }

  /**
   * The part between bounds (`a[2:3][1:1]`); an undefined bound is the array's own, dimensions without bounds are
   * whole. The result starts at 1; it is empty when nothing is left.
   */
  slice(bounds: readonly (readonly [number | undefined, number | undefined])[]): SqlArray {
    if (this.dimensions.length === 0 || bounds.length > this.dimensions.length) return SqlArray.EMPTY;
    const starts: number[] = [];
    const lengths: number[] = [];
    for (let dimension = 0; dimension < this.dimensions.length; dimension++) {
      const lower = this.lowerBounds[dimension] ?? 1;
      const upper = lower + (this.dimensions[dimension] ?? 0) - 1;
      const [from, to] = bounds[dimension] ?? [undefined, undefined];
      const first = Math.max(from ?? lower, lower);
      const last = Math.min(to ?? upper, upper);
      if (last < first) return SqlArray.EMPTY;
      starts.push(first - lower);
      lengths.push(last - first + 1);
    }
    const elements: SqlValue[] = [];
    const collect = (dimension: number, base: number): void => {
      const start = starts[dimension] ?? 0;
      for (let index = 0; index < (lengths[dimension] ?? 0); index++) {
        const position = base * (this.dimensions[dimension] ?? 1) + start + index;
        if (dimension === this.dimensions.length - 1) elements.push(this.elements[position] ?? null);
        else collect(dimension + 1, position);
      }
    };
    collect(0, 0);
    return new SqlArray(elements, lengths, lengths.map(() => 1));
  }

  /** The array with one element set; a one-dimensional array grows as needed, nulls filling the gap. */
  withElement(indexes: readonly number[], value: SqlValue): SqlArray {
    if (this.dimensions.length === 0) {
      return new SqlArray([value], indexes.map(() => 1), [...indexes]);
    }
    if (indexes.length !== this.dimensions.length) throw wrongSubscripts();
    const elements = [...this.elements];
    if (indexes.length === 1) return this.#withOne(indexes[0] ?? 1, value, elements);
    let position = 0;
    for (let dimension = 0; dimension < indexes.length; dimension++) {
      const length = this.dimensions[dimension] ?? 0;
      const offset = (indexes[dimension] ?? 0) - (this.lowerBounds[dimension] ?? 1);
      if (offset < 0 || offset >= length) {
        throw new DatabaseError(SQLSTATE.arraySubscriptError, "array subscript out of range");
      }
      position = position * length + offset;
    }
    elements[position] = value;
    return new SqlArray(elements, this.dimensions, this.lowerBounds);
  }

  #withOne(index: number, value: SqlValue, elements: SqlValue[]): SqlArray {
    let lower = this.lowerBounds[0] ?? 1;
    let offset = index - lower;
    if (Math.abs(offset) > 134217727) {
      throw new DatabaseError(
        SQLSTATE.programLimitExceeded,
        "array size exceeds the maximum allowed (134217727)",
      );
    }
    if (offset < 0) {
      elements = [...Array<SqlValue>(-offset).fill(null), ...elements];
      lower = index;
      offset = 0;
    }
    while (elements.length < offset) elements.push(null);
    elements[offset] = value;
    return new SqlArray(elements, [elements.length], [lower]);
  }

  /** The array with an element at its end (`array_append`). */
  append(value: SqlValue): SqlArray {
    if (this.dimensions.length > 1) throw notOneDimensional();
    const elements = [...this.elements, value];
    return new SqlArray(elements, [elements.length], [this.lowerBounds[0] ?? 1]);
  }

  /** The array with an element before its first (`array_prepend`); the lower bound stays. */
  prepend(value: SqlValue): SqlArray {
    if (this.dimensions.length > 1) throw notOneDimensional();
    const elements = [value, ...this.elements];
    return new SqlArray(elements, [elements.length], [this.lowerBounds[0] ?? 1]);
  }

  /** Both arrays one after the other (`array_cat`), also an array and an array of one dimension more. */
  concat(other: SqlArray): SqlArray {
    if (this.dimensions.length === 0) return other;
    if (other.dimensions.length === 0) return this;
    const elements = [...this.elements, ...other.elements];
    const left = this.dimensions;
    const right = other.dimensions;
    // What is put together must have the same bounds as well.
    const fits = (leftSkip: number, rightSkip: number) =>
      sameNumbers(left.slice(leftSkip), right.slice(rightSkip)) &&
      sameNumbers(this.lowerBounds.slice(leftSkip), other.lowerBounds.slice(rightSkip));
    if (left.length === right.length && fits(1, 1)) {
      return new SqlArray(elements, [(left[0] ?? 0) + (right[0] ?? 0), ...left.slice(1)], this.lowerBounds);
    }
    if (left.length === right.length + 1 && fits(1, 0)) {
      return new SqlArray(elements, [(left[0] ?? 0) + 1, ...left.slice(1)], this.lowerBounds);
    }
    if (left.length + 1 === right.length && fits(0, 1)) {
      return new SqlArray(elements, [(right[0] ?? 0) + 1, ...right.slice(1)], other.lowerBounds);
    }
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "cannot concatenate incompatible arrays", {
      detail: left.length === right.length
        ? "Arrays with differing element dimensions are not compatible for concatenation."
        : Math.abs(left.length - right.length) > 1
        ? `Arrays of ${left.length} and ${right.length} dimensions are not compatible for concatenation.`
        : "Arrays with differing dimensions are not compatible for concatenation.",
    });
  }

  /** The same shape with each element replaced. */
  map(change: (element: SqlValue) => SqlValue): SqlArray {
    return new SqlArray(this.elements.map(change), this.dimensions, this.lowerBounds);
  }
}

function sameNumbers(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

function notOneDimensional(): DatabaseError {
  return new DatabaseError(SQLSTATE.dataException, "argument must be empty or one-dimensional array");
}

function wrongSubscripts(): DatabaseError {
  return new DatabaseError(SQLSTATE.arraySubscriptError, "wrong number of array subscripts");
}

function tooManyDimensions(count: number): DatabaseError {
  return new DatabaseError(
    SQLSTATE.programLimitExceeded,
    `number of array dimensions (${count}) exceeds the maximum allowed (${LIMITS.maximumArrayDimensions})`,
  );
}

/** Compares arrays by elements (nulls last), then by length, dimensions and lower bounds, as PostgreSQL does. */
export function compareArrays(
  left: SqlArray,
  right: SqlArray,
  compareElements: (left: SqlValue, right: SqlValue) => -1 | 0 | 1,
): -1 | 0 | 1 {
  const shared = Math.min(left.elements.length, right.elements.length);
  for (let index = 0; index < shared; index++) {
    const a = left.elements[index] ?? null;
    const b = right.elements[index] ?? null;
    if (a === null || b === null) {
      if (a === b) continue;
      return a === null ? 1 : -1;
    }
    const order = compareElements(a, b);
    if (order !== 0) return order;
  }
  return compareNumbers([left.elements.length], [right.elements.length]) ||
    compareNumbers([left.dimensions.length], [right.dimensions.length]) ||
    compareNumbers(left.dimensions, right.dimensions) || compareNumbers(left.lowerBounds, right.lowerBounds);
}

function compareNumbers(left: readonly number[], right: readonly number[]): -1 | 0 | 1 {
  for (let index = 0; index < left.length; index++) {
    const a = left[index] ?? 0;
    const b = right[index] ?? 0;
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

/** The array literal of a value: `{1,NULL,"a b"}`, with `[2:3]=` in front when a lower bound is not 1. */
export function formatArray(array: SqlArray, formatElement: (element: SqlValue) => string): string {
  if (array.dimensions.length === 0) return "{}";
  let prefix = "";
  if (array.lowerBounds.some((bound) => bound !== 1)) {
    prefix = array.lowerBounds.map((lower, index) =>
      `[${lower}:${lower + (array.dimensions[index] ?? 0) - 1}]`
    )
      .join("") + "=";
  }
  let position = 0;
  const write = (dimension: number): string => {
    const parts: string[] = [];
    const last = dimension === array.dimensions.length - 1;
    for (let index = 0; index < (array.dimensions[dimension] ?? 0); index++) {
      if (!last) parts.push(write(dimension + 1));
      else {
        const element = array.elements[position++] ?? null;
        parts.push(element === null ? "NULL" : quoteElement(formatElement(element)));
      }
    }
    return `{${parts.join(",")}}`;
  };
  return prefix + write(0);
}

function quoteElement(text: string): string {
  if (text !== "" && !/["\\{},\s]/.test(text) && !(text.length === 4 && text.toUpperCase() === "NULL")) {
    return text;
  }
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** Parses an array literal; 22P02 `malformed array literal: "…"`. */
export function parseArray(text: string, parseElement: (text: string) => SqlValue): SqlArray {
  return new ArrayParser(text, parseElement).parse();
}

class ArrayParser {
  readonly #text: string;
  readonly #parseElement: (text: string) => SqlValue;
  #position = 0;
  readonly #elements: SqlValue[] = [];
  readonly #dimensions: number[] = [];
  /** The depth of the elements, known from the first one. */
  #elementDepth = 0;

  constructor(text: string, parseElement: (text: string) => SqlValue) {
    this.#text = text;
    this.#parseElement = parseElement;
  }

  #malformed(detail: string): DatabaseError {
    return new DatabaseError(SQLSTATE.invalidTextRepresentation, `malformed array literal: "${this.#text}"`, {
      detail,
    });
  }

  #skipSpaces(): void {
    while (isSpace(this.#text.charCodeAt(this.#position))) this.#position++;
  }

  parse(): SqlArray {
    this.#skipSpaces();
    const bounds = this.#parseBounds();
    if (this.#text[this.#position] !== "{") {
      throw this.#malformed(
        bounds === undefined
          ? 'Array value must start with "{" or dimension information.'
          : 'Array contents must start with "{".',
      );
    }
    this.#parseLevel(0);
    this.#skipSpaces();
    if (this.#position < this.#text.length) throw this.#malformed("Junk after closing right brace.");
    if (this.#elements.length === 0) {
      if (bounds !== undefined) {
        throw this.#malformed("Specified array dimensions do not match array contents.");
      }
      return SqlArray.EMPTY;
    }
    const dimensions = this.#dimensions.slice(0, this.#elementDepth);
    if (bounds === undefined) return new SqlArray(this.#elements, dimensions, dimensions.map(() => 1));
    if (!sameNumbers(bounds.map(([lower, upper]) => upper - lower + 1), dimensions)) {
      throw this.#malformed("Specified array dimensions do not match array contents.");
    }
    return new SqlArray(this.#elements, dimensions, bounds.map(([lower]) => lower));
  }

  #parseBounds(): [number, number][] | undefined {
    if (this.#text[this.#position] !== "[") return undefined;
    const bounds: [number, number][] = [];
    const pattern = /\[\s*([+-]?\d+)\s*(?::\s*([+-]?\d+)\s*)?\]\s*/y;
    while (this.#text[this.#position] === "[") {
      pattern.lastIndex = this.#position;
      const match = pattern.exec(this.#text);
      if (match === null) throw this.#malformed('"[" must introduce explicitly-specified array dimensions.');
      const first = Number(match[1]);
      const [lower, upper] = match[2] === undefined ? [1, first] : [first, Number(match[2])];
      if (upper < lower) {
        throw new DatabaseError(
          SQLSTATE.arraySubscriptError,
          "upper bound cannot be less than lower bound",
        );
      }
      bounds.push([lower, upper]);
      if (bounds.length > LIMITS.maximumArrayDimensions) throw tooManyDimensions(bounds.length);
      this.#position = pattern.lastIndex;
    }
    if (this.#text[this.#position] !== "=") throw this.#malformed('Missing "=" after array dimensions.');
    this.#position++;
    this.#skipSpaces();
    return bounds;
  }

  /** Parses from `{` to its `}`; the lengths of all lists of one depth must agree. */
  #parseLevel(depth: number): void {
    if (depth >= LIMITS.maximumArrayDimensions) throw tooManyDimensions(depth + 1);
    this.#position++;
    let count = 0;
    let wantsItem = false;
    while (true) {
      this.#skipSpaces();
      const character = this.#text[this.#position];
      if (character === undefined) throw this.#malformed("Unexpected end of input.");
      if (character === "}" && !wantsItem) {
        if (depth > 0) throw this.#malformed('Unexpected "}" character.');
        break;
      }
      if (character === "{") {
        if (this.#elementDepth === depth + 1) throw this.#malformed('Unexpected "{" character.');
        this.#parseLevel(depth + 1);
      } else if (character === "}" || character === ",") {
        throw this.#malformed(`Unexpected "${character}" character.`);
      } else this.#parseItem(depth);
      count++;
      this.#skipSpaces();
      const next = this.#text[this.#position];
      if (next === ",") {
        this.#position++;
        wantsItem = true;
      } else if (next === "}") break;
      else if (next === undefined) throw this.#malformed("Unexpected end of input.");
      else if (next === "{" || next === "\\") throw this.#malformed(`Unexpected "${next}" character.`);
      else throw this.#malformed("Unexpected array element.");
    }
    this.#position++;
    const expected = this.#dimensions[depth];
    if (expected === undefined) {
      while (this.#dimensions.length < depth) this.#dimensions.push(-1);
      this.#dimensions[depth] = count;
    } else if (expected === -1) this.#dimensions[depth] = count;
    else if (expected !== count) {
      throw this.#malformed("Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
  }

  #parseItem(depth: number): void {
    if (this.#elementDepth === 0) this.#elementDepth = depth + 1;
    else if (this.#elementDepth !== depth + 1) throw this.#malformed("Unexpected array element.");
    if (this.#text[this.#position] === '"') {
      this.#elements.push(this.#parseElement(this.#quoted()));
      return;
    }
    const [text, escaped] = this.#unquoted();
    this.#elements.push(!escaped && text.toUpperCase() === "NULL" ? null : this.#parseElement(text));
  }

  #quoted(): string {
    let text = "";
    for (let index = this.#position + 1; index < this.#text.length; index++) {
      const character = this.#text[index];
      if (character === '"') {
        this.#position = index + 1;
        return text;
      }
      if (character === "\\") index++;
      text += this.#text[index] ?? "";
    }
    throw this.#malformed("Unexpected end of input.");
  }

  #unquoted(): [text: string, escaped: boolean] {
    let text = "";
    let kept = 0;
    let escaped = false;
    let index = this.#position;
    for (; index < this.#text.length; index++) {
      const character = this.#text[index] ?? "";
      if (character === "," || character === "}") break;
      if (character === "{" || character === '"') {
        throw this.#malformed(
          character === '"' ? "Unexpected array element." : 'Unexpected "{" character.',
        );
      }
      if (character === "\\") {
        escaped = true;
        index++;
        text += this.#text[index] ?? "";
        kept = text.length;
      } else {
        text += character;
        if (!isSpace(character.charCodeAt(0))) kept = text.length;
      }
    }
    this.#position = index;
    return [text.slice(0, kept), escaped];
  }
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
