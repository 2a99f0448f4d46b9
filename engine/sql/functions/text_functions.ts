/**
 * Functions on text, except those with patterns (see `pattern_functions.ts`). Lengths and positions count characters.
 */
import { utf8ByteLength } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { characterLength } from "../../types/text.ts";
import { formatText, parseText } from "../../types/text_io.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { quoteIdentifier } from "../parser/keywords.ts";
import { textOptions } from "./casts.ts";
import {
  initialCapitals,
  leftCharacters,
  lowerCase,
  maximumTextLength,
  overlayText,
  padLeft,
  padRight,
  positionOf,
  repeatText,
  reverseText,
  rightCharacters,
  splitPart,
  substringFor,
  substringFrom,
  textTooLong,
  translateCharacters,
  trimLeft,
  trimRight,
  upperCase,
} from "./characters.ts";
import { bytesOfText, textOfBytes } from "./encodings.ts";
import { parseIdentifier } from "./parse_identifier.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload, type Specialization } from "./overload.ts";

const text = { category: "text", returns: "text" } as const;
const count = { category: "text", returns: "i32" } as const;

/** Turns the values of arguments into text as they are printed, each of its own type or all of one; NULL stays. */
function formatters(
  types: readonly SqlType[] | SqlType | undefined,
): (context: EvaluationContext, values: readonly SqlValue[]) => (string | null)[] {
  return (context, values) =>
    values.map((value, index) => {
      const type = Array.isArray(types) ? types[index] : types;
      if (value === null || type === undefined) return null;
      return typeof value === "string" && type.kind !== "char"
        ? value
        : formatText(type, value, textOptions(context));
    });
}

function concatenation(types: readonly SqlType[]): Specialization {
  const format = formatters(types);
  return {
    argumentTypes: types,
    runIn: (context, ...values: SqlValue[]) => joined(format(context, values), ""),
    mayReturnNull: false,
    volatility: "stable",
  };
}

function joined(parts: readonly (string | null)[], separator: string): string {
  return parts.filter((part) => part !== null).join(separator);
}

function concatenationWithSeparator(types: readonly SqlType[]): Specialization {
  const format = formatters(types.slice(1));
  return {
    argumentTypes: types,
    runIn: (context, separator: string | null, ...values: SqlValue[]) =>
      separator === null ? null : joined(format(context, values), separator),
    volatility: "stable",
  };
}

const specifierPattern = /^(?:(\d+)\$)?(-*)(?:(\d+)|\*(?:(\d+)\$)?)?([\s\S])/;

/** Steps of one specifier of `format`, and characters that a step writes. */
const SPECIFIER_STEPS = 4;
const WRITTEN_PER_STEP = 16;

/** `format`: %s, %I, %L and %% with positions, `-` and widths, as PostgreSQL's `text_format`. */
function formatString(template: string, texts: readonly (string | null)[]): string {
  let result = "";
  let next = 0;
  let position = 0;
  const take = (written: string | undefined): string | null => {
    if (written !== undefined) next = Number(written) - 1;
    if (written !== undefined && next < 0) {
      throw formatError("format specifies argument 0, but arguments are numbered from 1");
    }
    const value = texts[next];
    if (value === undefined) throw formatError("too few arguments for format()");
    next++;
    return value;
  };
  for (;;) {
    const percent = template.indexOf("%", position);
    if (percent < 0) return result + template.slice(position);
    result += template.slice(position, percent);
    const rest = template.slice(percent + 1);
    if (rest.startsWith("%")) {
      result += "%";
      position = percent + 2;
      continue;
    }
    const match = specifierPattern.exec(rest);
    if (match === null) {
      throw formatError("unterminated format() type specifier", 'For a single "%" use "%%".');
    }
    const [whole, argument, minus = "", width, starArgument, kind = ""] = match;
    let wide = width === undefined ? 0 : Number(width);
    if ([argument, width, starArgument].some((number) => Number(number ?? 0) > 2_147_483_647)) {
      throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "number is out of range");
    }
    let left = minus.includes("-");
    if (kind !== "s" && kind !== "I" && kind !== "L") {
      throw formatError(`unrecognized format() type specifier "${kind}"`, 'For a single "%" use "%%".');
    }
    if (whole.includes("*")) {
      wide = Number(parseText({ kind: "i32" }, take(starArgument) ?? "0"));
      if (wide === -2147483648) {
        throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "number is out of range");
      }
      if (wide < 0) {
        left = true;
        wide = -wide;
      }
    }
    const shown = formatArgument(kind, take(argument));
    const missing = wide - characterLength(shown);
    gas.charge(SPECIFIER_STEPS + (shown.length + Math.max(0, missing)) / WRITTEN_PER_STEP);
    const padding = missing <= 0 ? "" : left ? padRight("", missing, " ") : padLeft("", missing, " ");
    result += left ? shown + padding : padding + shown;
    position = percent + 1 + whole.length;
  }
}

function formatArgument(kind: "s" | "I" | "L", value: string | null): string {
  switch (kind) {
    case "s":
      return value ?? "";
    case "L":
      return value === null ? "NULL" : quoteLiteral(value);
    case "I":
      if (value === null) {
        throw new DatabaseError(
          SQLSTATE.nullValueNotAllowed,
          "null values cannot be formatted as an SQL identifier",
        );
      }
      return quoteIdentifier(value);
  }
}

function formatError(message: string, hint?: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, message, hint === undefined ? {} : { hint });
}

/** The text as an SQL string literal. */
export function quoteLiteral(value: string): string {
  const quoted = value.replaceAll("'", "''");
  return value.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

function characterOf(code: number): string {
  if (code === 0) throw new DatabaseError(SQLSTATE.programLimitExceeded, "null character not permitted");
  if (code < 0) throw new DatabaseError(SQLSTATE.invalidParameterValue, "character number must be positive");
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `requested character ${code > 0x10ffff ? "too large" : "not valid"} for encoding: ${code}`,
    );
  }
  return String.fromCodePoint(code);
}

function replaceAll(value: string, from: string, to: string): string {
  if (from === "") return value;
  const parts = value.split(from);
  if (parts.length * to.length + value.length > maximumTextLength) throw textTooLong();
  return parts.join(to);
}

/** `string_to_array`: a NULL delimiter splits into characters, an empty one not at all. */
function splitText(value: string, delimiter: string | null, nullText: string | null): (string | null)[] {
  if (value === "") return [];
  const parts = delimiter === null ? [...value] : delimiter === "" ? [value] : value.split(delimiter);
  return nullText === null ? parts : parts.map((part) => part === nullText ? null : part);
}

/** `string_to_table`: the same, part by part, which takes twice as long together. */
function* splitRows(
  value: string | null,
  delimiter: string | null,
  nullText: string | null,
): Iterable<readonly SqlValue[]> {
  if (value === null || value === "") return;
  const parts = delimiter === null ? value : delimiter === "" ? [value] : partsOf(value, delimiter);
  for (const part of parts) yield [part === nullText ? null : part];
}

function* partsOf(value: string, delimiter: string): Iterable<string> {
  let start = 0;
  for (let end = value.indexOf(delimiter); end >= 0; end = value.indexOf(delimiter, start)) {
    yield value.slice(start, end);
    start = end + delimiter.length;
  }
  yield value.slice(start);
}

function unescapeUnicode(value: string): string {
  const text = value.replaceAll(
    /\\(?:\\|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4})|)/g,
    (whole, u?: string, wide?: string, plus?: string, short?: string) => {
      if (whole === "\\\\") return "\\";
      const digits = u ?? wide ?? plus ?? short;
      const code = digits === undefined ? NaN : parseInt(digits, 16);
      if (code === 0 || code > 0x10ffff) {
        throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid Unicode code point: ${digits}`);
      }
      if (Number.isNaN(code)) {
        throw new DatabaseError(SQLSTATE.syntaxError, "invalid Unicode escape", {
          hint: "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.",
        });
      }
      return code >= 0xd800 && code <= 0xdfff ? String.fromCharCode(code) : String.fromCodePoint(code);
    },
  );
  if (text.isWellFormed()) return text;
  throw new DatabaseError(SQLSTATE.syntaxError, "invalid Unicode surrogate pair");
}

function normalForm(value: string, form: string): string {
  switch (form.toUpperCase()) {
    case "NFC":
    case "NFD":
    case "NFKC":
    case "NFKD":
      return value.normalize(form.toUpperCase());
    default:
      throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid normalization form: ${form}`);
  }
}

function toBase(value: NumberOrBigint, bits: number, base: number): string {
  return (value < 0 ? BigInt.asUintN(bits, BigInt(value)) : value).toString(base);
}

const overloads: readonly Overload[] = [
  ...["length", "char_length", "character_length"].map((name): Overload => ({
    ...count,
    name,
    takes: "text",
    summary: "Number of characters.",
    run: characterLength,
  })),
  { ...count, name: "octet_length", takes: "text", summary: "Number of bytes.", run: utf8ByteLength },
  {
    ...count,
    name: "octet_length",
    takes: "char",
    summary: "Number of bytes.",
    specialize: ([type]) => ({
      run: (value: string) =>
        utf8ByteLength(value) + (type?.kind === "char" ? padCount(type.length, value) : 0),
    }),
  },
  {
    ...count,
    name: "bit_length",
    takes: "text",
    summary: "Number of bits.",
    run: (value: string) => 8 * utf8ByteLength(value),
  },
  { ...text, name: "lower", takes: "text", summary: "In lower case.", run: lowerCase },
  { ...text, name: "upper", takes: "text", summary: "In upper case.", run: upperCase },
  {
    ...text,
    name: "initcap",
    takes: "text",
    summary: "The first letter of each word in upper case, the rest in lower case.",
    run: initialCapitals,
  },
  ...["btrim", "trim"].flatMap((name): Overload[] => [
    {
      ...text,
      name,
      takes: "text",
      summary: "Without spaces at both ends.",
      run: (value: string) => trimRight(trimLeft(value, " "), " "),
    },
    {
      ...text,
      name,
      takes: "text, text",
      summary: "Without characters of the second text at both ends.",
      run: (value: string, set: string) => trimRight(trimLeft(value, set), set),
    },
  ]),
  {
    ...text,
    name: "ltrim",
    takes: "text",
    summary: "Without leading spaces.",
    run: (value: string) => trimLeft(value, " "),
  },
  {
    ...text,
    name: "ltrim",
    takes: "text, text",
    summary: "Without leading characters of the second text.",
    run: trimLeft,
  },
  {
    ...text,
    name: "rtrim",
    takes: "text",
    summary: "Without trailing spaces.",
    run: (value: string) => trimRight(value, " "),
  },
  {
    ...text,
    name: "rtrim",
    takes: "text, text",
    summary: "Without trailing characters of the second text.",
    run: trimRight,
  },
  ...["substr", "substring"].flatMap((name): Overload[] => [
    { ...text, name, takes: "text, i32", summary: "The part from a position.", run: substringFrom },
    {
      ...text,
      name,
      takes: "text, i32, i32",
      summary: "The part from a position, at most so many characters.",
      run: substringFor,
    },
  ]),
  ...["strpos", "position"].map((name): Overload => ({
    ...count,
    name,
    takes: "text, text",
    summary: "Where the second text begins in the first, from 1; 0 when it does not occur.",
    run: positionOf,
  })),
  {
    ...text,
    name: "left",
    takes: "text, i32",
    summary: "The first n characters; negative: all but the last n.",
    run: leftCharacters,
  },
  {
    ...text,
    name: "right",
    takes: "text, i32",
    summary: "The last n characters; negative: all but the first n.",
    run: rightCharacters,
  },
  {
    ...text,
    name: "lpad",
    takes: "text, i32",
    summary: "Filled on the left with spaces, or cut, to a length.",
    run: (value: string, length: number) => padLeft(value, length, " "),
  },
  {
    ...text,
    name: "lpad",
    takes: "text, i32, text",
    summary: "Filled on the left, or cut, to a length.",
    run: padLeft,
  },
  {
    ...text,
    name: "rpad",
    takes: "text, i32",
    summary: "Filled on the right with spaces, or cut, to a length.",
    run: (value: string, length: number) => padRight(value, length, " "),
  },
  {
    ...text,
    name: "rpad",
    takes: "text, i32, text",
    summary: "Filled on the right, or cut, to a length.",
    run: padRight,
  },
  { ...text, name: "repeat", takes: "text, i32", summary: "The text n times.", run: repeatText },
  {
    ...text,
    name: "replace",
    takes: "text, text, text",
    summary: "Every occurrence of the second text replaced by the third.",
    run: replaceAll,
  },
  { ...text, name: "reverse", takes: "text", summary: "In the opposite order.", run: reverseText },
  {
    ...text,
    name: "translate",
    takes: "text, text, text",
    summary: "Each character of the second text replaced by the one at the same place in the third.",
    run: translateCharacters,
  },
  {
    ...text,
    name: "concat",
    takes: "any",
    variadic: true,
    spread: {
      specialize: ([element]) => {
        const format = formatters(element);
        return (context, array: SqlArray) => joined(format(context, array.elements), "");
      },
    },
    strict: false,
    summary: "All arguments as text, one after the other; NULLs are left out.",
    specialize: concatenation,
  },
  {
    ...text,
    name: "concat_ws",
    takes: "text, any",
    variadic: true,
    spread: {
      specialize: ([, element]) => {
        const format = formatters(element);
        return (context, separator: string, array: SqlArray) =>
          joined(format(context, array.elements), separator);
      },
    },
    strict: false,
    summary: "All arguments but the first, separated by the first; NULLs are left out.",
    specialize: concatenationWithSeparator,
  },
  {
    ...text,
    name: "format",
    takes: "text",
    strict: false,
    summary: "A text with %s, %I, %L and %% replaced by the arguments.",
    run: (template: string | null) => template === null ? null : formatString(template, []),
  },
  {
    ...text,
    name: "format",
    takes: "text, any",
    variadic: true,
    spread: {
      strict: false,
      specialize: ([, element]) => {
        const format = formatters(element);
        return (context, template: string | null, array: SqlArray | null) =>
          template === null ? null : formatString(template, format(context, array?.elements ?? []));
      },
    },
    strict: false,
    summary: "A text with %s, %I, %L and %% replaced by the arguments.",
    specialize: (types) => {
      const format = formatters(types.slice(1));
      return {
        argumentTypes: types,
        runIn: (context, template: string | null, ...values: SqlValue[]) =>
          template === null ? null : formatString(template, format(context, values)),
        volatility: "stable",
      };
    },
  },
  {
    ...text,
    name: "split_part",
    takes: "text, text, i32",
    summary: "The n-th part between delimiters; negative: counted from the end.",
    run: splitPart,
  },
  {
    name: "string_to_array",
    takes: "text, text",
    returns: "text[]",
    category: "array",
    strict: false,
    summary: "The parts between delimiters; a NULL delimiter splits into characters.",
    run: (value: string | null, delimiter: string | null) =>
      value === null ? null : SqlArray.of(splitText(value, delimiter, null)),
  },
  {
    name: "string_to_array",
    takes: "text, text, text",
    returns: "text[]",
    category: "array",
    strict: false,
    summary: "The parts between delimiters; those equal to the third text are NULL.",
    run: (value: string | null, delimiter: string | null, nullText: string | null) =>
      value === null ? null : SqlArray.of(splitText(value, delimiter, nullText)),
  },
  {
    name: "starts_with",
    takes: "text, text",
    returns: "bool",
    category: "text",
    summary: "Whether the first text begins with the second.",
    run: (value: string, prefix: string) => value.startsWith(prefix),
    inline: ([value, prefix]) => `${value}.startsWith(${prefix})`,
  },
  {
    ...count,
    name: "ascii",
    takes: "text",
    summary: "Code point of the first character; 0 for the empty text.",
    run: (value: string) => value.codePointAt(0) ?? 0,
  },
  { ...text, name: "chr", takes: "i32", summary: "The character of a code point.", run: characterOf },
  {
    ...text,
    name: "to_hex",
    takes: "i32",
    summary: "Hexadecimal digits.",
    run: (value: number) => toBase(value, 32, 16),
  },
  {
    ...text,
    name: "to_hex",
    takes: "i64",
    summary: "Hexadecimal digits.",
    run: (value: NumberOrBigint) => toBase(value, 64, 16),
  },
  ...["text", "text, bool"].map((takes): Overload => ({
    name: "parse_ident",
    takes,
    returns: "text[]",
    category: "text",
    summary: "The parts of a qualified name; the second argument false allows text behind it.",
    run: (value: string, strict?: boolean) => SqlArray.of(parseIdentifier(value, strict ?? true)),
  })),
  { ...text, name: "quote_ident", takes: "text", summary: "As an SQL identifier.", run: quoteIdentifier },
  { ...text, name: "quote_literal", takes: "text", summary: "As an SQL literal.", run: quoteLiteral },
  {
    ...text,
    name: "quote_literal",
    takes: "anyelement",
    summary: "As an SQL literal.",
    specialize: () => ({ argumentTypes: [{ kind: "text" }], run: quoteLiteral }),
  },
  {
    ...text,
    name: "quote_nullable",
    takes: "text",
    strict: false,
    mayReturnNull: false,
    summary: "As an SQL literal; NULL gives the text NULL.",
    run: (value: string | null) => value === null ? "NULL" : quoteLiteral(value),
  },
  {
    ...text,
    name: "quote_nullable",
    takes: "anyelement",
    strict: false,
    mayReturnNull: false,
    summary: "As an SQL literal; NULL gives the text NULL.",
    specialize: () => ({
      argumentTypes: [{ kind: "text" }],
      run: (value: string | null) => value === null ? "NULL" : quoteLiteral(value),
      mayReturnNull: false,
    }),
  },
  {
    ...text,
    name: "overlay",
    takes: "text, text, i32, i32",
    summary: "The first text with so many characters from a position replaced by the second.",
    run: overlayText,
  },
  {
    ...text,
    name: "overlay",
    takes: "text, text, i32",
    summary: "The first text with the characters from a position replaced by the second.",
    run: (value: string, replacement: string, start: number) =>
      overlayText(value, replacement, start, characterLength(replacement)),
  },
  {
    ...text,
    name: "normalize",
    takes: "text",
    summary: "In Unicode normalization form C.",
    run: (value: string) => value.normalize("NFC"),
  },
  {
    ...text,
    name: "normalize",
    takes: "text, text",
    summary: "In the Unicode normalization form named: NFC, NFD, NFKC, NFKD.",
    run: normalForm,
  },
  {
    name: "is_normalized",
    takes: "text, text",
    returns: "bool",
    category: "text",
    summary: "Whether a text is in the Unicode normalization form named.",
    run: (value: string, form: string) => normalForm(value, form) === value,
  },
  { ...text, name: "unistr", takes: "text", summary: "Unicode escapes replaced.", run: unescapeUnicode },
  {
    ...text,
    name: "convert_from",
    takes: "bytea, name",
    summary: "Bytes in an encoding (UTF8, or one with a byte a character) as text.",
    run: textOfBytes,
  },
  {
    name: "convert_to",
    takes: "text, name",
    returns: "bytea",
    category: "text",
    summary: "Text as bytes in an encoding (UTF8, or one with a byte a character).",
    run: bytesOfText,
  },
  {
    name: "string_to_table",
    takes: "text, text",
    returns: "text",
    category: "set-returning",
    strict: false,
    summary: "The parts between delimiters as rows.",
    rows: (_context, value: string | null, delimiter: string | null) => splitRows(value, delimiter, null),
  },
  {
    name: "string_to_table",
    takes: "text, text, text",
    returns: "text",
    category: "set-returning",
    strict: false,
    summary: "The parts between delimiters as rows; those equal to the third text are NULL.",
    rows: (_context, value: string | null, delimiter: string | null, nullText: string | null) =>
      splitRows(value, delimiter, nullText),
  },
];

function padCount(length: number, value: string): number {
  return Math.max(0, length - characterLength(value));
}

/** Functions on text without patterns. */
export const textFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
