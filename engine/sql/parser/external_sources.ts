/**
 * CREATE EXTERNAL SOURCE: a table that is filled from a JSON, NDJSON, CSV or Parquet address by REFRESH.
 *
 * Invariant: the clauses behind KEY may come in any order, each once. Secrets are names of environment variables only.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type { CreateExternalSource, ExternalAuthentication, ExternalColumn, ExternalPaging } from "./ast.ts";
import { acceptIfNotExists, parseObjectName, parseParenthesizedList } from "./names.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";

/** Reads CREATE EXTERNAL SOURCE behind these words. */
export function parseExternalSource(stream: TokenStream, position: number): CreateExternalSource {
  const ifNotExists = acceptIfNotExists(stream);
  const name = parseObjectName(stream);
  const columns = parseParenthesizedList(stream, parseColumn);
  stream.expectWords("from");
  const urlPosition = stream.position;
  const url = stream.expectString();
  stream.expectWords("format");
  const format = parseFormat(stream);
  stream.expectWords("key");
  const keyPosition = stream.position;
  const key = stream.expectName();
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

function parseColumn(stream: TokenStream): ExternalColumn {
  const position = stream.position;
  const name = stream.expectName();
  const type = parseTypeName(stream);
  let notNull = stream.acceptWords("not", "null");
  const from = stream.acceptWord("from") ? stream.expectString() : null;
  if (!notNull) notNull = stream.acceptWords("not", "null");
  return { name, type, notNull, from, position };
}

function parseFormat(stream: TokenStream): CreateExternalSource["format"] {
  switch (stream.expectAnyWord(["json", "ndjson", "csv", "parquet"])) {
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

interface Clauses {
  rows: string | null;
  page: ExternalPaging | null;
  auth: ExternalAuthentication | null;
  region: string | null;
  endpoint: string | null;
}

function parseClauses(stream: TokenStream): Clauses {
  const clauses: Clauses = { rows: null, page: null, auth: null, region: null, endpoint: null };
  const once = (value: unknown) => {
    if (value !== null) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", stream.position);
    }
    stream.advance();
  };
  while (true) {
    if (stream.isWord("rows")) {
      once(clauses.rows);
      clauses.rows = stream.expectString();
    } else if (stream.isWord("page")) {
      once(clauses.page);
      clauses.page = parsePaging(stream);
    } else if (stream.isWord("auth")) {
      once(clauses.auth);
      clauses.auth = parseAuthentication(stream);
    } else if (stream.isWord("region")) {
      once(clauses.region);
      clauses.region = stream.expectString();
    } else if (stream.isWord("endpoint")) {
      once(clauses.endpoint);
      clauses.endpoint = stream.expectString();
    } else {
      return clauses;
    }
  }
}

function parsePaging(stream: TokenStream): ExternalPaging {
  if (stream.acceptWord("next")) {
    if (stream.acceptWord("link")) return { kind: "next_link" };
    stream.expectWords("json");
    return { kind: "next_json", path: stream.expectString() };
  }
  stream.expectWords("cursor", "json");
  const path = stream.expectString();
  stream.expectWords("param");
  return { kind: "cursor_json", path, parameter: stream.expectString() };
}

function parseAuthentication(stream: TokenStream): ExternalAuthentication {
  if (stream.acceptWord("bearer")) return { kind: "bearer", variable: parseVariable(stream) };
  if (stream.acceptWord("header")) {
    const header = stream.expectString();
    return { kind: "header", header, variable: parseVariable(stream) };
  }
  if (stream.acceptWord("s3")) {
    stream.expectWords("keyid");
    const keyIdVariable = parseVariable(stream);
    stream.expectWords("secret");
    return { kind: "s3", keyIdVariable, secretVariable: parseVariable(stream) };
  }
  stream.expectWords("azure", "account");
  const account = stream.expectString();
  stream.expectWords("key");
  return { kind: "azure", account, keyVariable: parseVariable(stream) };
}

function parseVariable(stream: TokenStream): string {
  stream.expectWords("env");
  return stream.expectString();
}
