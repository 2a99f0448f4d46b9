/**
 * Statements about objects that exist: DROP, TRUNCATE, COMMENT ON, GRANT, REVOKE, REINDEX and REFRESH.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type { DropObject, ObjectName, ObjectType, Statement, TypeName } from "./ast.ts";
import { acceptExternalSource } from "./external_sources.ts";
import {
  acceptCascade,
  acceptIfExists,
  objectName,
  parseDottedName,
  parseList,
  parseObjectName,
  parseOptionalNameList,
  parseRoleName,
} from "./names.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";
import { parseUnsupported, UNSUPPORTED_OBJECTS } from "./unsupported_statements.ts";

/** Words that name one kind of object. */
const OBJECT_WORDS: ReadonlyMap<string, ObjectType> = new Map([
  ["table", "table"],
  ["index", "index"],
  ["view", "view"],
  ["sequence", "sequence"],
  ["schema", "schema"],
  ["type", "type"],
  ["domain", "domain"],
  ["function", "function"],
  ["procedure", "function"],
  ["trigger", "trigger"],
  ["extension", "extension"],
  ["statistics", "statistics"],
  ["role", "role"],
  ["user", "role"],
  ["group", "role"],
  ["database", "database"],
]);

function acceptObjectType(stream: TokenStream): ObjectType | null {
  if (acceptExternalSource(stream)) return "external_source";
  if (stream.isWords("user", "mapping")) return null;
  const type = stream.isLabel() ? OBJECT_WORDS.get(stream.value()) : undefined;
  if (type === undefined) return null;
  stream.advance();
  return type;
}

/** Reads DROP … */
export function parseDrop(stream: TokenStream): Statement {
  const mark = stream.mark;
  stream.advance();
  const { position } = stream;
  const objectType = acceptObjectType(stream);
  if (objectType === null) {
    if (!stream.isAnyWord(UNSUPPORTED_OBJECTS)) throw stream.syntaxError();
    stream.rewind(mark);
    return parseUnsupported(stream);
  }
  const concurrently = objectType === "index" && stream.acceptWord("concurrently");
  const ifExists = acceptIfExists(stream);
  const argumentTypes: (readonly TypeName[] | null)[] = [];
  const names = parseList(stream, (inner) => {
    const name = parseObjectName(inner);
    if (objectType === "function") argumentTypes.push(acceptArgumentTypes(inner));
    return name;
  });
  const table = objectType === "trigger" ? (stream.expectWords("on"), parseObjectName(stream)) : null;
  const drop: DropObject = {
    kind: "drop",
    objectType,
    ifExists,
    concurrently,
    names,
    table,
    argumentTypes,
    cascade: acceptCascade(stream),
    position,
  };
  if (objectType === "database") {
    stream.acceptWord("with");
    if (stream.acceptSymbol("(")) {
      stream.expectWords("force");
      stream.expectSymbol(")");
    }
  }
  return drop;
}

/** Reads `(types)` behind a function's name when it is there. */
export function acceptArgumentTypes(stream: TokenStream): TypeName[] | null {
  if (!stream.acceptSymbol("(")) return null;
  if (stream.acceptSymbol(")")) return [];
  const types = parseList(stream, (inner) => {
    if (inner.isAnyWord(["in", "out", "inout", "variadic"])) inner.advance();
    const hasName = inner.isName() && inner.isLabel(1) &&
      !inner.isAnyWord(["precision", "varying", "with", "without", "array"], 1);
    if (hasName) inner.advance();
    return parseTypeName(inner);
  });
  stream.expectSymbol(")");
  return types;
}

/** Reads TRUNCATE. */
export function parseTruncate(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  stream.acceptWord("table");
  const tables = parseList(stream, parseTableWithOnly);
  const restartIdentity = stream.acceptWords("restart", "identity");
  if (!restartIdentity) stream.acceptWords("continue", "identity");
  return { kind: "truncate", tables, restartIdentity, cascade: acceptCascade(stream), position };
}

/** Reads a table's name with an optional ONLY or `*`, which mean nothing without inheritance. */
export function parseTableWithOnly(stream: TokenStream): ObjectName {
  stream.acceptWord("only");
  const name = parseObjectName(stream);
  stream.acceptSymbol("*");
  return name;
}

/** Reads COMMENT ON. */
export function parseComment(stream: TokenStream): Statement {
  const position = stream.position;
  const mark = stream.mark;
  stream.advance();
  stream.expectWords("on");
  if (stream.acceptWord("column")) {
    const namePosition = stream.position;
    const parts = parseDottedName(stream);
    const column = parts.at(-1);
    if (column === undefined || parts.length < 2) {
      throw stream.error(SQLSTATE.syntaxError, "column name must be qualified", namePosition);
    }
    const name = objectName(stream, parts.slice(0, -1), namePosition);
    return {
      kind: "comment",
      objectType: "column",
      name,
      column,
      table: null,
      argumentTypes: null,
      comment: parseText(stream),
      position,
    };
  }
  if (stream.isWord("constraint") || stream.isWord("trigger")) {
    const objectType: ObjectType = stream.take() === "trigger" ? "trigger" : "constraint";
    const name = parseObjectName(stream);
    stream.expectWords("on");
    if (stream.isWord("domain")) throw stream.unsupported("COMMENT ON CONSTRAINT … ON DOMAIN");
    const table = parseObjectName(stream);
    return {
      kind: "comment",
      objectType,
      name,
      column: null,
      table,
      argumentTypes: null,
      comment: parseText(stream),
      position,
    };
  }
  const objectType = acceptObjectType(stream);
  if (objectType === null) {
    if (!stream.isAnyWord(UNSUPPORTED_OBJECTS)) throw stream.syntaxError();
    stream.rewind(mark);
    return parseUnsupported(stream);
  }
  const name = parseObjectName(stream);
  const argumentTypes = objectType === "function" ? acceptArgumentTypes(stream) : null;
  return {
    kind: "comment",
    objectType,
    name,
    column: null,
    table: null,
    argumentTypes,
    comment: parseText(stream),
    position,
  };
}

function parseText(stream: TokenStream): string | null {
  stream.expectWords("is");
  return stream.acceptWord("null") ? null : stream.expectString();
}

/** Reads REINDEX. */
export function parseReindex(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  if (stream.acceptSymbol("(")) {
    do {
      stream.expectLabel();
      if (stream.isLabel()) stream.advance();
    } while (stream.acceptSymbol(","));
    stream.expectSymbol(")");
  }
  const word = stream.expectAnyWord(["index", "table", "schema", "database", "system"]);
  stream.acceptWord("concurrently");
  const name = stream.isAtEnd && (word === "database" || word === "system") ? null : parseObjectName(stream);
  const target = word === "index" || word === "table" || word === "schema" || word === "database"
    ? word
    : "system";
  return { kind: "reindex", target, name, position };
}

/** Reads REFRESH name; REFRESH MATERIALIZED VIEW is refused. */
export function parseRefresh(stream: TokenStream): Statement {
  if (stream.isWord("materialized", 1) && stream.isWord("view", 2)) return parseUnsupported(stream);
  const position = stream.position;
  stream.advance();
  if (stream.isWord("external") && stream.isLabel(1)) acceptExternalSource(stream);
  return { kind: "refresh", name: parseObjectName(stream), position };
}

interface Privilege {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Reads GRANT or REVOKE. */
export function parseGrant(stream: TokenStream): Statement {
  const position = stream.position;
  const revoke = stream.take() === "revoke";
  let grantOption = false;
  let adminOption = false;
  if (revoke) {
    grantOption = stream.acceptWords("grant", "option", "for");
    adminOption = stream.acceptWords("admin", "option", "for");
  }
  const privileges = parseList(stream, parsePrivilege);
  const isRoleGrant = !stream.isWord("on");
  let objectType = "table";
  let objects: ObjectName[] = [];
  if (!isRoleGrant) {
    stream.advance();
    ({ objectType, objects } = parseGrantObjects(stream));
  }
  stream.expectWords(revoke ? "from" : "to");
  const grantees = parseList(stream, (inner) => {
    inner.acceptWord("group");
    return parseRoleName(inner);
  });
  if (!revoke && stream.acceptWord("with")) {
    const word = stream.expectAnyWord(["grant", "admin", "inherit", "set"]);
    if (!stream.acceptWord("option") && !stream.acceptWord("true")) stream.expectWords("false");
    if (word === "grant") grantOption = true;
    else adminOption = true;
  }
  if (stream.acceptWords("granted", "by")) parseRoleName(stream);
  const cascade = acceptCascade(stream);
  if (isRoleGrant) {
    const roles = privileges.map((privilege) => privilege.name);
    return { kind: "grant_role", revoke, roles, grantees, adminOption, position };
  }
  return {
    kind: "grant_privileges",
    revoke,
    privileges,
    objectType,
    objects,
    grantees,
    grantOption,
    cascade,
    position,
  };
}

function parsePrivilege(stream: TokenStream): Privilege {
  let name = stream.expectLabel();
  if (name === "all") stream.acceptWord("privileges");
  else if (name === "alter" && stream.acceptWord("system")) name = "alter system";
  return { name, columns: parseOptionalNameList(stream) };
}

function parseGrantObjects(stream: TokenStream): { objectType: string; objects: ObjectName[] } {
  if (stream.acceptWord("all")) {
    const kind = stream.expectAnyWord(["tables", "sequences", "functions", "procedures", "routines"]);
    stream.expectWords("in", "schema");
    return { objectType: `all_${kind}_in_schema`, objects: parseList(stream, parseObjectName) };
  }
  let objectType = "table";
  const words = [
    "table",
    "sequence",
    "schema",
    "database",
    "domain",
    "function",
    "procedure",
    "routine",
    "language",
    "tablespace",
    "type",
  ];
  if (stream.isAnyWord(words) && stream.isLabel(1)) objectType = stream.take();
  else if (stream.acceptWords("large", "object")) throw stream.unsupported("GRANT ON LARGE OBJECT");
  else if (stream.acceptWords("foreign", "data", "wrapper") || stream.acceptWords("foreign", "server")) {
    throw stream.unsupported("GRANT ON FOREIGN …");
  }
  const objects = parseList(stream, (inner) => {
    const name = parseObjectName(inner);
    acceptArgumentTypes(inner);
    return name;
  });
  return { objectType, objects };
}
