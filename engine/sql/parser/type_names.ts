/**
 * Type names: the SQL standard's multi-word spellings, PostgreSQL's and the native ones, with modifiers and array
 * bounds.
 *
 * Invariant: a spelling of the standard gets PostgreSQL's internal name (see {@link TypeName}); every other name is
 * passed on for the binder to look up.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type { TypeName } from "./ast.ts";
import { parseList } from "./names.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";

interface BaseType {
  readonly name: readonly string[];
  readonly modifiers: readonly number[];
  readonly intervalFields: string | null;
}

/** Keywords that begin a type of the SQL standard and are not function names. */
const STANDARD_TYPE_WORDS: ReadonlySet<string> = new Set([
  "bigint",
  "bit",
  "boolean",
  "char",
  "character",
  "dec",
  "decimal",
  "float",
  "int",
  "integer",
  "interval",
  "national",
  "nchar",
  "numeric",
  "real",
  "smallint",
  "time",
  "timestamp",
  "varchar",
]);

/** Whether a type of the standard's grammar begins here, so that a string behind it is a typed literal. */
export function isStandardTypeStart(stream: TokenStream): boolean {
  if (stream.kind() !== TOKEN.word) return false;
  return STANDARD_TYPE_WORDS.has(stream.value()) || stream.isWords("double", "precision");
}

/** Reads a type. */
export function parseTypeName(stream: TokenStream): TypeName {
  const position = stream.position;
  const setOf = stream.acceptWord("setof");
  const base = parseBaseType(stream);
  return { ...base, arrayDimensions: parseArrayBounds(stream), setOf, position };
}

/** Reads a type without SETOF and array bounds: what may be before the string of a typed literal. */
export function parseLiteralType(stream: TokenStream): TypeName {
  const position = stream.position;
  return { ...parseBaseType(stream), arrayDimensions: 0, setOf: false, position };
}

function parseArrayBounds(stream: TokenStream): number {
  if (stream.acceptWord("array")) {
    if (stream.acceptSymbol("[")) {
      stream.expectInteger();
      stream.expectSymbol("]");
    }
    return 1;
  }
  let dimensions = 0;
  while (stream.acceptSymbol("[")) {
    if (!stream.isSymbol("]")) stream.expectInteger();
    stream.expectSymbol("]");
    dimensions++;
  }
  return dimensions;
}

function base(
  name: string,
  modifiers: readonly number[] = [],
  intervalFields: string | null = null,
): BaseType {
  return { name: [name], modifiers, intervalFields };
}

function parseBaseType(stream: TokenStream): BaseType {
  return isStandardTypeStart(stream) ? parseStandardType(stream) : parseGenericType(stream);
}

function parseStandardType(stream: TokenStream): BaseType {
  const position = stream.position;
  const word = stream.take();
  switch (word) {
    case "int":
    case "integer":
      return base("int4");
    case "smallint":
      return base("int2");
    case "bigint":
      return base("int8");
    case "real":
      return base("float4");
    case "double":
      stream.expectWords("precision");
      return base("float8");
    case "float":
      return parseFloat(stream, position);
    case "dec":
    case "decimal":
    case "numeric":
      return base("numeric", parseModifiers(stream));
    case "boolean":
      return base("bool");
    case "bit": {
      const varying = stream.acceptWord("varying");
      const modifiers = parseModifiers(stream);
      return varying ? base("varbit", modifiers) : base("bit", modifiers.length === 0 ? [1] : modifiers);
    }
    case "varchar":
      return base("varchar", parseModifiers(stream));
    case "national":
      stream.expectAnyWord(["char", "character"]);
      return parseCharacter(stream);
    case "char":
    case "character":
    case "nchar":
      return parseCharacter(stream);
    case "time":
    case "timestamp": {
      const modifiers = parseModifiers(stream);
      const withZone = stream.acceptWords("with", "time", "zone");
      if (!withZone) stream.acceptWords("without", "time", "zone");
      return base(withZone ? `${word}tz` : word, modifiers);
    }
    default:
      return parseInterval(stream);
  }
}

function parseCharacter(stream: TokenStream): BaseType {
  const varying = stream.acceptWord("varying");
  const modifiers = parseModifiers(stream);
  return varying ? base("varchar", modifiers) : base("bpchar", modifiers.length === 0 ? [1] : modifiers);
}

function parseFloat(stream: TokenStream, position: number): BaseType {
  const [precision] = parseModifiers(stream);
  if (precision === undefined) return base("float8");
  if (precision < 1) {
    throw stream.error(
      SQLSTATE.invalidParameterValue,
      "precision for type float must be at least 1 bit",
      position,
    );
  }
  if (precision > 53) {
    throw stream.error(
      SQLSTATE.invalidParameterValue,
      "precision for type float must be less than 54 bits",
      position,
    );
  }
  return base(precision <= 24 ? "float4" : "float8");
}

const INTERVAL_FIELDS = ["year", "month", "day", "hour", "minute", "second"];

function parseInterval(stream: TokenStream): BaseType {
  if (stream.isSymbol("(")) return base("interval", parseModifiers(stream));
  const fields = acceptIntervalFields(stream);
  const modifiers = fields?.endsWith("second") === true ? parseModifiers(stream) : [];
  return base("interval", modifiers, fields);
}

/** Reads the fields of an interval type (`DAY TO SECOND`) when there are any. */
export function acceptIntervalFields(stream: TokenStream): string | null {
  if (!stream.isAnyWord(INTERVAL_FIELDS)) return null;
  const first = stream.take();
  const allowed = first === "year"
    ? ["month"]
    : first === "month" || first === "second"
    ? []
    : INTERVAL_FIELDS.slice(INTERVAL_FIELDS.indexOf(first) + 1);
  if (!stream.isWord("to") || !stream.isAnyWord(allowed, 1)) return first;
  stream.advance();
  return `${first} to ${stream.take()}`;
}

/** Reads `(n, …)` when it is there. */
export function parseModifiers(stream: TokenStream): number[] {
  if (!stream.acceptSymbol("(")) return [];
  const modifiers = parseList(stream, () => {
    const isNegative = stream.acceptSymbol("-");
    const magnitude = Number(stream.expectInteger());
    return isNegative ? 0 - magnitude : magnitude;
  });
  stream.expectSymbol(")");
  return modifiers;
}

function parseGenericType(stream: TokenStream): BaseType {
  if (!stream.isFunctionName()) throw stream.syntaxError();
  const name = [stream.take()];
  while (stream.acceptSymbol(".")) name.push(stream.expectLabel());
  if (stream.isSymbol("%") && stream.isWord("type", 1)) throw stream.unsupported("%TYPE");
  return { name, modifiers: parseModifiers(stream), intervalFields: null };
}
