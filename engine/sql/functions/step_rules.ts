/**
 * Functions and operators whose steps do not follow from the sizes of arguments and result at the usual rate. See
 * `call_steps.ts`.
 */
import { gas } from "../../base/gas.ts";
import { Decimal } from "../../types/decimal.ts";
import { decimalSize, DIGIT_SIZE, divisionSteps, numberTextSteps } from "../../types/decimal_size.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";

/** How the steps of a function are counted. */
export interface StepRule {
  /** Its steps, whatever the arguments are. */
  readonly fixed?: number;
  /** Steps of each call. */
  readonly base?: number;
  /** Units of the arguments' size that a step handles. */
  readonly rate?: number;
  /** The same for the result. */
  readonly resultRate?: number;
  /** Further steps that the arguments ask for. */
  readonly before?: (...args: SqlValue[]) => number;
  /** The same when the second argument alone asks for them. */
  readonly beforePattern?: (pattern: SqlValue | undefined) => number;
}

/** Characters that a step writes, and those beyond Latin whose case it finds. */
const WRITTEN_PER_STEP = 16;
const CASED_PER_STEP = 1.5;
/** Pairs of characters that a search compares in one step at worst. */
const COMPARED_PER_STEP = 512;
/** Characters of a document that one step of a path passes in a step. */
const PATH_CHARACTERS_PER_STEP = 64;
const MAX_ELEMENTS = 2 ** 31;
const MAX_SCALE = 20_000;

function lengthOf(value: SqlValue | undefined): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}

function isWide(value: SqlValue | undefined): boolean {
  return typeof value === "string" && /[^\0-\xff]/.test(value);
}

/** What characters beyond Latin take more. */
function wideSteps(text: SqlValue | undefined, perStep: number): number {
  return isWide(text) ? lengthOf(text) / perStep : 0;
}

/** A search of one text in another: at worst it compares most of the part at most places. */
function searchSteps(text: SqlValue | undefined, part: SqlValue | undefined): number {
  const places = lengthOf(text), length = Math.min(lengthOf(part), places);
  return length * (places - length) / COMPARED_PER_STEP;
}

/** What a text becomes when every occurrence of a part is replaced. */
function replacedSteps(text?: SqlValue, from?: SqlValue, to?: SqlValue): number {
  const search = searchSteps(text, from);
  if (lengthOf(to) === 0 || lengthOf(from) === 0) return search;
  gas.charge(search);
  const whole = String(text), part = String(from);
  let found = 0;
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) found++;
  return found + found * lengthOf(to) / WRITTEN_PER_STEP;
}

/** Each part between two `%` may be tried at each place. */
function likeSteps(text?: SqlValue, pattern?: SqlValue): number {
  return wideSteps(text, 8) + lengthOf(pattern) / 2 + searchSteps(text, pattern);
}

function sizeOfNumber(value: SqlValue | undefined): number {
  return value instanceof Decimal ? decimalSize(value) : 0;
}

/** Digits that rounding to a scale may add. */
function roundedSteps(value?: SqlValue, scale?: SqlValue): number {
  const added = Math.min(MAX_SCALE, Math.max(0, Number(scale ?? 0)));
  return (sizeOfNumber(value) + added * DIGIT_SIZE) / WRITTEN_PER_STEP;
}

/** The elements that an array is filled with. */
function filledSteps(_value?: SqlValue, lengths?: SqlValue): number {
  if (!(lengths instanceof SqlArray)) return 0;
  let total = 1;
  for (const length of lengths.elements) total *= Math.max(0, Number(length));
  return Math.min(MAX_ELEMENTS, total) / 4;
}

/** Keys that are each looked for in the elements of a document. */
function keysSteps(document?: SqlValue, keys?: SqlValue): number {
  return keys instanceof SqlArray ? keys.length * lengthOf(document) / COMPARED_PER_STEP : 0;
}

/** Steps of a path, each of which reads what is left of a document. */
function pathSteps(document?: SqlValue, ...path: SqlValue[]): number {
  const [first] = path;
  const steps = first instanceof SqlArray ? first.length : path.length;
  return steps * lengthOf(document) / PATH_CHARACTERS_PER_STEP;
}

function paddedSteps(text?: SqlValue, length?: SqlValue, fill?: SqlValue): number {
  const padded = Math.max(0, Number(length));
  return padded / (isWide(fill) ? 2 : WRITTEN_PER_STEP) + wideSteps(text, 4) + wideSteps(fill, 4);
}

/** A separator between elements. */
function joinedSteps(array?: SqlValue, separator?: SqlValue): number {
  return array instanceof SqlArray ? array.length * (1 + lengthOf(separator) / WRITTEN_PER_STEP) : 0;
}

const PADDED: StepRule = { before: paddedSteps };
const CASED: StepRule = { before: (text) => wideSteps(text, CASED_PER_STEP) };
const TRIMMED: StepRule = { before: (text, set) => wideSteps(text, 2) + lengthOf(set) / 2 };
/** Texts that are taken apart into characters. */
const BY_CHARACTER: StepRule = { before: (text) => wideSteps(text, 4) };
const SEARCHED: StepRule = { before: searchSteps };
/** Who matches charges for it. */
const PATTERN: StepRule = { rate: 32, beforePattern: (pattern) => lengthOf(pattern) / 2 };
const HASHED: StepRule = { base: 20, rate: 8 };
const DIVIDED: StepRule = {
  before: (left, right) => divisionSteps(sizeOfNumber(left) + sizeOfNumber(right)),
};
const SCANNED: StepRule = { rate: 256 };
const ENCODED: StepRule = { rate: 64 };
/** Templates and texts that are read part by part. */
const TEMPLATE: StepRule = { base: 8, rate: 2, resultRate: WRITTEN_PER_STEP };
const KEYS: StepRule = { before: keysSteps };
const PATH: StepRule = { before: pathSteps };
const LIKE: StepRule = { rate: 32, before: likeSteps };

function ruled(names: readonly string[], rule: StepRule): [string, StepRule][] {
  return names.map((name) => [name, rule]);
}

function extractPathNames(type: string): string[] {
  return [`${type}_extract_path`, `${type}_extract_path_text`];
}

/** By name; casts of numerics are `numeric::`. */
export const STEP_RULES: ReadonlyMap<string, StepRule> = new Map<string, StepRule>([
  ["repeat", {
    resultRate: 256,
    before: (text, count) => lengthOf(text) * Math.max(0, Number(count)) / (2 * WRITTEN_PER_STEP),
  }],
  ...ruled(["lpad", "rpad"], PADDED),
  ...ruled(["upper", "lower", "casefold"], CASED),
  ["initcap", { rate: 1, resultRate: WRITTEN_PER_STEP }],
  ...ruled(["btrim", "ltrim", "rtrim"], TRIMMED),
  ["translate", { rate: 4, resultRate: WRITTEN_PER_STEP }],
  ["reverse", { rate: 8 }],
  ...ruled(["substring", "substr", "left", "right", "overlay"], BY_CHARACTER),
  ["like_escape", { rate: 2, resultRate: WRITTEN_PER_STEP }],
  ["normalize", { rate: 2, resultRate: WRITTEN_PER_STEP }],
  ["is_normalized", { rate: 2 }],
  ...ruled(["position", "strpos"], SEARCHED),
  ["split_part", { before: searchSteps }],
  ["string_to_array", { rate: 4, before: searchSteps }],
  ["replace", { before: replacedSteps }],
  ...ruled(["length", "char_length", "character_length"], SCANNED),
  ...ruled(["octet_length", "bit_length"], ENCODED),
  ...ruled(["to_char", "to_number", "to_date", "to_timestamp", "pg_size_bytes"], TEMPLATE),
  ...ruled(["extract", "date_part", "date_trunc", "timezone"], { base: 8, rate: 8 }),
  ...ruled(["?|", "?&", "-"], KEYS),
  ...ruled(["#>", "#>>", ...["json", "jsonb"].flatMap(extractPathNames)], PATH),
  ...ruled(["starts_with", "^@"], SCANNED),
  ...ruled(["~~", "!~~", "~~*", "!~~*"], LIKE),
  ...ruled(["~", "!~", "~*", "!~*", "regexp_like", "regexp_count", "regexp_instr", "regexp_match"], PATTERN),
  ...ruled(["regexp_substr", "regexp_replace", "regexp_split_to_array", "similar_to_escape"], PATTERN),
  ...ruled(["md5", "sha224", "sha256", "sha384", "sha512", "hmac_sha256", "crc32", "crc32c"], HASHED),
  ["numeric::", { before: (value) => numberTextSteps(sizeOfNumber(value)) }],
  ...ruled(["/", "div", "sqrt", "log", "ln", "exp", "pow", "power", "^", "width_bucket"], DIVIDED),
  ...ruled(["round", "trunc"], { before: roundedSteps }),
  ["array_to_string", { before: joinedSteps }],
  ["array_fill", { before: filledSteps }],
]);
