/**
 * COPY in its present syntax (options in parentheses) and the two older ones that clients still send.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type { Copy, CopyOptions, NamedOption } from "./ast.ts";
import { parseOptionValue } from "./column_definitions.ts";
import { parseList, parseName, parseNameList, parseObjectName, parseOptionalNameList } from "./names.ts";
import { acceptWhere, parsePreparableStatement } from "./queries.ts";
import type { TokenStream } from "./token_stream.ts";

type MutableOptions = { -readonly [Key in keyof CopyOptions]: CopyOptions[Key] };

/** Reads COPY. */
export function parseCopy(stream: TokenStream): Copy {
  const position = stream.position;
  stream.advance();
  const options: MutableOptions = {
    format: stream.acceptWord("binary") ? "binary" : null,
    freeze: null,
    delimiter: null,
    null: null,
    default: null,
    header: null,
    quote: null,
    escape: null,
    forceQuote: null,
    forceNotNull: null,
    forceNull: null,
    encoding: null,
    onError: null,
    unknown: [],
  };
  let table: Copy["table"] = null;
  let query: Copy["query"] = null;
  let columns: string[] = [];
  if (stream.acceptSymbol("(")) {
    query = parsePreparableStatement(stream);
    stream.expectSymbol(")");
  } else {
    table = parseObjectName(stream);
    columns = parseOptionalNameList(stream);
  }
  const direction = stream.expectAnyWord(query === null ? ["from", "to"] : ["to"]) === "from" ? "from" : "to";
  const endpoint = parseEndpoint(stream);
  if (stream.isWord("delimiters") || stream.isWords("using", "delimiters")) {
    stream.acceptWord("using");
    stream.advance();
    options.delimiter = stream.expectString();
  }
  const hasWith = stream.acceptWord("with");
  if (stream.isSymbol("(")) parseNewOptions(stream, options);
  else while (parseOldOption(stream, options));
  if (hasWith && stream.isWord("with")) throw stream.syntaxError();
  const where = acceptWhere(stream);
  if (where !== null && direction === "to") {
    throw stream.error(SQLSTATE.syntaxError, "WHERE clause not allowed with COPY TO", where.position);
  }
  return { kind: "copy", table, columns, query, direction, endpoint, options, where, position };
}

function parseEndpoint(stream: TokenStream): Copy["endpoint"] {
  if (stream.acceptWord("stdin") || stream.acceptWord("stdout")) return { kind: "client" };
  if (stream.acceptWord("program")) return { kind: "program", command: stream.expectString() };
  return { kind: "file", path: stream.expectString() };
}

/** Reads one option of the older syntax; false when there is none. */
function parseOldOption(stream: TokenStream, options: MutableOptions): boolean {
  if (stream.acceptWord("binary")) options.format = "binary";
  else if (stream.acceptWord("csv")) options.format = "csv";
  else if (stream.acceptWord("freeze")) options.freeze = true;
  else if (stream.acceptWord("header")) options.header = true;
  else if (stream.acceptWord("delimiter")) options.delimiter = oldText(stream);
  else if (stream.acceptWord("null")) options.null = oldText(stream);
  else if (stream.acceptWord("quote")) options.quote = oldText(stream);
  else if (stream.acceptWord("escape")) options.escape = oldText(stream);
  else if (stream.acceptWord("encoding")) options.encoding = stream.expectString();
  else if (stream.acceptWords("force", "quote")) {
    options.forceQuote = stream.acceptSymbol("*") ? "all" : parseList(stream, parseName);
  } else if (stream.acceptWords("force", "not", "null")) {
    options.forceNotNull = stream.acceptSymbol("*") ? "all" : parseList(stream, parseName);
  } else if (stream.acceptWords("force", "null")) {
    options.forceNull = stream.acceptSymbol("*") ? "all" : parseList(stream, parseName);
  } else return false;
  return true;
}

function oldText(stream: TokenStream): string {
  stream.acceptWord("as");
  return stream.expectString();
}

function parseNewOptions(stream: TokenStream, options: MutableOptions): void {
  const seen = new Set<string>();
  const unknown: NamedOption[] = [];
  stream.expectSymbol("(");
  do {
    const position = stream.position;
    const name = stream.expectLabel();
    if (seen.has(name)) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
    }
    seen.add(name);
    if (!parseNewOption(stream, options, name)) {
      unknown.push({ name, value: optionalValue(stream), position });
    }
  } while (stream.acceptSymbol(","));
  stream.expectSymbol(")");
  options.unknown = unknown;
}

function optionalValue(stream: TokenStream): string | null {
  if (stream.isSymbol(",") || stream.isSymbol(")")) return null;
  return parseOptionValue(stream);
}

function parseNewOption(stream: TokenStream, options: MutableOptions, name: string): boolean {
  switch (name) {
    case "format":
      options.format = parseOptionValue(stream).toLowerCase();
      return true;
    case "freeze":
      options.freeze = parseBoolean(stream, name);
      return true;
    case "header":
      options.header = stream.acceptWord("match") ? "match" : parseBoolean(stream, name);
      return true;
    case "delimiter":
      options.delimiter = parseOptionValue(stream);
      return true;
    case "null":
      options.null = parseOptionValue(stream);
      return true;
    case "default":
      options.default = parseOptionValue(stream);
      return true;
    case "quote":
      options.quote = parseOptionValue(stream);
      return true;
    case "escape":
      options.escape = parseOptionValue(stream);
      return true;
    case "encoding":
      options.encoding = parseOptionValue(stream);
      return true;
    case "on_error":
      options.onError = parseOptionValue(stream).toLowerCase();
      return true;
    case "force_quote":
      options.forceQuote = parseColumns(stream);
      return true;
    case "force_not_null":
      options.forceNotNull = parseColumns(stream);
      return true;
    case "force_null":
      options.forceNull = parseColumns(stream);
      return true;
    default:
      return false;
  }
}

function parseColumns(stream: TokenStream): readonly string[] | "all" {
  return stream.acceptSymbol("*") ? "all" : parseNameList(stream);
}

function parseBoolean(stream: TokenStream, name: string): boolean {
  const position = stream.position;
  const value = optionalValue(stream);
  switch (value?.toLowerCase()) {
    case undefined:
    case "true":
    case "on":
    case "1":
      return true;
    case "false":
    case "off":
    case "0":
      return false;
    default:
      throw stream.error(
        SQLSTATE.syntaxError,
        `${name} requires a Boolean value${name === "header" ? ' or "match"' : ""}`,
        position,
      );
  }
}
