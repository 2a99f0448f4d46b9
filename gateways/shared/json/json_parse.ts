/**
 * JSON as values of JavaScript, except that a number which a double cannot carry keeps its own digits
 * (`JSON.rawJSON`), so that it can be written again as it was read.
 */

/** A number with the digits it was written with. */
export interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithRaw {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

/** The part of `JSON` that the compiler's library does not know yet (ECMA-262, source text access). */
const json = JSON as unknown as JsonWithRaw;

/** Parses a text. Raises SyntaxError, and RangeError when it is nested too deeply. */
export function parseExactJson(text: string): unknown {
  return json.parse(text, (_key, item, { source }) => {
    if (typeof item !== "number" || source === undefined || isExact(item, source)) return item;
    return json.rawJSON(source);
  });
}

/** Whether a value is a number that kept its digits. */
export function isRawJson(value: unknown): value is RawJson {
  return json.isRawJSON(value);
}

/** Whether writing the double again gives the same number. */
function isExact(value: number, source: string): boolean {
  if (Number.isInteger(value) && /^-?\d+$/.test(source)) {
    return Number.isSafeInteger(value) && !Object.is(value, -0);
  }
  const digits = source.replace(/[eE].*$/, "").replace(/^-?0*\.?0*/, "").replace(".", "");
  return Number.isFinite(value) && digits.length <= 15 && !source.startsWith("-0") && !/0$/.test(digits);
}
