/**
 * CREATE EXTERNAL SOURCE: a table that is filled from a JSON, NDJSON, CSV or Parquet address by REFRESH.
 *
 * Invariant: the clauses behind KEY may come in any order, each once. Secrets are names of environment variables only.
 */

import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import type { CreateExternalSource, ExternalAuthentication, ExternalColumn, ExternalPaging } from "./ast.ts";
import { acceptIfNotExists, parseObjectName, parseParenthesizedList } from "./names.ts";
import type { TokenStream } from "./token_stream.ts";
import { KEYWORD_CATEGORY } from "./keywords.ts";
import { parseTypeName } from "./type_names.ts";

const CLAUSES = ["rows", "page", "auth", "region", "endpoint"];

const COLUMN = "A column is: name TYPE [NOT NULL] [FROM 'path or header'].";

const ORDER = "The order is: name (columns) FROM 'url' FORMAT format KEY column, " +
  "then ROWS, PAGE, AUTH, REGION and ENDPOINT as needed.";

/** Takes EXTERNAL SOURCE when the first of these words is there. */
export function acceptExternalSource(stream: TokenStream): boolean {
  if (!stream.acceptWord("external")) return false;
  if (!stream.acceptWord("source")) {
    throw unexpected(stream, ["source"], "SOURCE is expected here: external data are in external sources.");
  }
  return true;
}

/** Reads CREATE EXTERNAL SOURCE behind these words. */
export function parseExternalSource(stream: TokenStream, position: number): CreateExternalSource {
  const ifNotExists = acceptIfNotExists(stream);
  if (!stream.isName()) throw unexpected(stream, []);
  const name = parseObjectName(stream);
  if (!stream.isSymbol("(")) throw unexpected(stream, []);
  const columns = parseParenthesizedList(stream, parseColumn);
  expectWord(stream, "from");
  const urlPosition = stream.position;
  const url = expectText(stream);
  expectWord(stream, "format");
  const format = parseFormat(stream);
  expectWord(stream, "key");
  const keyPosition = stream.position;
  if (!stream.isName()) throw unexpected(stream, [], "The name of one column is expected here.");
  const key = stream.take();
  const clauses = parseClauses(stream);
  return {
    kind: "create_external_source",
    name,
    ifNotExists,
    columns,
    url,
    urlPosition,
    format,
    key,
    keyPosition,
    ...clauses,
    position,
  };
}

/** The error at the current token, with what it was probably meant to be. */
function unexpected(stream: TokenStream, words: readonly string[], hint = ORDER): DatabaseError {
  const error = stream.syntaxError();
  const mayBeMisspelt = stream.isLabel() && stream.category !== KEYWORD_CATEGORY.reserved;
  const near = mayBeMisspelt ? closest(stream.value(), words) : undefined;
  const shown = near === undefined || stream.isWord(near) ? hint : `Did you mean "${near.toUpperCase()}"?`;
  return new DatabaseError(error.code, error.message, { ...error.fields(), hint: shown });
}

function expectWord(stream: TokenStream, word: string): void {
  if (!stream.acceptWord(word)) throw unexpected(stream, [word]);
}

function expectOneOf(stream: TokenStream, words: readonly string[]): string {
  const list = words.map((word) => word.toUpperCase()).join(", ");
  const hint = `${words.length === 1 ? list : `One of ${list}`} is expected here.`;
  if (!stream.isAnyWord(words)) throw unexpected(stream, words, hint);
  return stream.take();
}

function expectText(stream: TokenStream): string {
  if (!stream.isString()) throw unexpected(stream, [], "A text in single quotes is expected here.");
  return stream.take();
}

function acceptNotNull(stream: TokenStream): boolean {
  if (!stream.acceptWord("not")) return false;
  expectOneOf(stream, ["null"]);
  return true;
}

function parseColumn(stream: TokenStream): ExternalColumn {
  const position = stream.position;
  if (!stream.isName()) throw unexpected(stream, [], COLUMN);
  const name = stream.take();
  if (!stream.isLabel()) throw unexpected(stream, [], COLUMN);
  const type = parseTypeName(stream);
  let notNull = acceptNotNull(stream);
  let from: string | null = null, fromPosition = position;
  if (stream.acceptWord("from")) {
    fromPosition = stream.position;
    from = expectText(stream);
  }
  if (!notNull) notNull = acceptNotNull(stream);
  if (!stream.isSymbol(",") && !stream.isSymbol(")")) throw unexpected(stream, ["from", "not"], COLUMN);
  return { name, type, notNull, from, fromPosition, position };
}

function parseFormat(stream: TokenStream): CreateExternalSource["format"] {
  switch (expectOneOf(stream, ["json", "ndjson", "csv", "parquet"])) {
    case "json":
      return "json";
    case "ndjson":
      return "ndjson";
    case "csv":
      return "csv";
    default:
      return "parquet";
  }
}

/** Clauses, and where each of them begins. */
interface Clauses {
  rows: string | null;
  /** Where its path is. */
  rowsPosition: number;
  page: ExternalPaging | null;
  pagePosition: number;
  auth: ExternalAuthentication | null;
  region: string | null;
  regionPosition: number;
  endpoint: string | null;
  endpointPosition: number;
}

function parseClauses(stream: TokenStream): Clauses {
  const clauses: Clauses = {
    rows: null,
    rowsPosition: 0,
    page: null,
    pagePosition: 0,
    auth: null,
    region: null,
    regionPosition: 0,
    endpoint: null,
    endpointPosition: 0,
  };
  const begin = (value: unknown): number => {
    const { position } = stream;
    if (value !== null) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
    }
    stream.advance();
    return position;
  };
  while (true) {
    if (stream.isWord("rows")) {
      begin(clauses.rows);
      clauses.rowsPosition = stream.position;
      clauses.rows = expectText(stream);
    } else if (stream.isWord("page")) {
      clauses.pagePosition = begin(clauses.page);
      clauses.page = parsePaging(stream);
    } else if (stream.isWord("auth")) {
      begin(clauses.auth);
      clauses.auth = parseAuthentication(stream);
    } else if (stream.isWord("region")) {
      clauses.regionPosition = begin(clauses.region);
      clauses.region = expectText(stream);
    } else if (stream.isWord("endpoint")) {
      clauses.endpointPosition = begin(clauses.endpoint);
      clauses.endpoint = expectText(stream);
    } else if (stream.isAtEnd) {
      return clauses;
    } else {
      throw unexpected(stream, CLAUSES);
    }
  }
}

function parsePaging(stream: TokenStream): ExternalPaging {
  if (expectOneOf(stream, ["next", "cursor"]) === "next") {
    if (expectOneOf(stream, ["json", "link"]) === "link") return { kind: "next_link" };
    const pathPosition = stream.position;
    return { kind: "next_json", path: expectText(stream), pathPosition };
  }
  expectOneOf(stream, ["json"]);
  const pathPosition = stream.position;
  const path = expectText(stream);
  expectOneOf(stream, ["param"]);
  return { kind: "cursor_json", path, pathPosition, parameter: expectText(stream) };
}

function parseAuthentication(stream: TokenStream): ExternalAuthentication {
  const position = stream.position;
  switch (expectOneOf(stream, ["bearer", "header", "s3", "azure"])) {
    case "bearer":
      return { kind: "bearer", variable: parseVariable(stream), position };
    case "header": {
      const header = expectText(stream);
      return { kind: "header", header, variable: parseVariable(stream), position };
    }
    case "s3": {
      expectOneOf(stream, ["keyid"]);
      const keyIdVariable = parseVariable(stream);
      expectOneOf(stream, ["secret"]);
      return { kind: "s3", keyIdVariable, secretVariable: parseVariable(stream), position };
    }
    default: {
      expectOneOf(stream, ["account"]);
      const account = expectText(stream);
      expectOneOf(stream, ["key"]);
      return { kind: "azure", account, keyVariable: parseVariable(stream), position };
    }
  }
}

function parseVariable(stream: TokenStream): string {
  if (!stream.acceptWord("env")) {
    throw unexpected(stream, ["env"], "ENV 'NAME' is expected here: the name of an environment variable.");
  }
  return expectText(stream);
}
