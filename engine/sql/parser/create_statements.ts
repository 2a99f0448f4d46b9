/**
 * CREATE: dispatch, and the statements that define tables, indexes, views, sequences, schemas, types, domains,
 * extensions, roles and databases. Triggers, functions and external sources are in routine_statements.ts and
 * external_sources.ts.
 *
 * Invariant: a kind of object that PostgreSQL has and the product lacks is an `unsupported` node; an unknown word is a
 * syntax error.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  CheckConstraint,
  ColumnDefinition,
  CreateDomain,
  CreateEnum,
  CreateIndex,
  CreateSchema,
  CreateTable,
  CreateView,
  Expression,
  LikeClause,
  NamedOption,
  Persistence,
  SchemaElement,
  Statement,
  TableConstraint,
} from "./ast.ts";
import {
  isTableConstraintStart,
  parseColumnDefinition,
  parseOptionList,
  parseOptionValue,
  parseSequenceOptions,
  parseStored,
  parseTableConstraint,
} from "./column_definitions.ts";
import { parseIndexKey } from "./data_changes.ts";
import { parseExpression, parseRestrictedExpression } from "./expressions.ts";
import { acceptExternalSource, parseExternalSource } from "./external_sources.ts";
import {
  acceptIfNotExists,
  parseDottedName,
  parseList,
  parseNameList,
  parseObjectName,
  parseOptionalNameList,
  parseParenthesizedList,
  parseRoleName,
} from "./names.ts";
import { parseQuery } from "./queries.ts";
import { parseCreateFunction, parseCreateTrigger } from "./routine_statements.ts";
import { TOKEN } from "./token.ts";
import { acceptShardBy } from "./shard_by.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";
import { parseUnsupported, UNSUPPORTED_OBJECTS } from "./unsupported_statements.ts";

/** Reads CREATE … */
export function parseCreate(stream: TokenStream): Statement {
  const position = stream.position;
  const mark = stream.mark;
  stream.advance();
  const orReplace = stream.acceptWords("or", "replace");
  stream.acceptWord("local") || stream.acceptWord("global");
  let persistence: Persistence = "permanent";
  if (stream.acceptWord("temp") || stream.acceptWord("temporary")) persistence = "temporary";
  else if (stream.acceptWord("unlogged")) persistence = "unlogged";
  if (stream.isWord("view") || stream.isWords("recursive", "view")) {
    return parseCreateView(stream, { orReplace, persistence, position });
  }
  if (stream.isWord("trigger")) return parseCreateTrigger(stream, orReplace, position);
  if (stream.isWord("function") || stream.isWord("procedure")) {
    return parseCreateFunction(stream, orReplace, position);
  }
  if (orReplace && stream.isWord("external")) {
    throw stream.error(
      SQLSTATE.featureNotSupported,
      "CREATE OR REPLACE EXTERNAL SOURCE is not supported",
      position,
      "Drop the source and create it anew.",
    );
  }
  if (!orReplace) {
    if (stream.acceptWord("table")) return parseCreateTable(stream, persistence, position);
    if (stream.acceptWord("sequence")) return parseCreateSequence(stream, persistence, position);
    const statement = persistence === "permanent" ? parseCreateOther(stream, position) : null;
    if (statement !== null) return statement;
  }
  if (!stream.isAnyWord(UNSUPPORTED_OBJECTS)) throw stream.syntaxError();
  stream.rewind(mark);
  return parseUnsupported(stream);
}

function parseCreateOther(stream: TokenStream, position: number): Statement | null {
  if (stream.isWord("index") || stream.isWords("unique", "index") || stream.isWords("range", "index")) {
    return parseCreateIndex(stream, position);
  }
  if (stream.isWords("unique", "range", "index")) return parseCreateIndex(stream, position);
  if (stream.acceptWord("statistics")) return parseCreateStatistics(stream, position);
  if (stream.acceptWord("schema")) return parseCreateSchema(stream, position);
  if (stream.acceptWord("type")) return parseCreateType(stream, position);
  if (stream.acceptWord("domain")) return parseCreateDomain(stream, position);
  if (stream.acceptWord("extension")) return parseCreateExtension(stream, position);
  if (acceptExternalSource(stream)) return parseExternalSource(stream, position);
  if (
    stream.isWord("role") || stream.isWord("group") || (stream.isWord("user") && !stream.isWord("mapping", 1))
  ) {
    const rolePosition = stream.position;
    const login = stream.take() === "user";
    const name = stream.expectName();
    return { kind: "create_role", name, login, options: parseRoleOptions(stream), position: rolePosition };
  }
  const databasePosition = stream.position;
  if (stream.acceptWord("database")) {
    const name = stream.expectName();
    return {
      kind: "create_database",
      name,
      options: parseDatabaseOptions(stream),
      position: databasePosition,
    };
  }
  return null;
}

/** Reads the options of CREATE or ALTER ROLE. */
export function parseRoleOptions(stream: TokenStream): NamedOption[] {
  stream.acceptWord("with");
  const options: NamedOption[] = [];
  while (!stream.isAtEnd) {
    const position = stream.position;
    let name = stream.expectLabel();
    if (name === "connection" || name === "valid") name += ` ${stream.expectAnyWord(["limit", "until"])}`;
    if ((name === "in" && stream.isAnyWord(["role", "group"])) || name === "encrypted") {
      name += ` ${stream.expectLabel()}`;
    }
    const takesValue = /^(connection limit|valid until|(encrypted )?password|sysid)$/.test(name);
    if (takesValue) {
      options.push({ name, value: parseOptionValue(stream), position });
    } else if (/^(in role|in group|role|admin|user)$/.test(name)) {
      const names = [stream.expectName()];
      while (stream.acceptSymbol(",")) names.push(stream.expectName());
      options.push({ name, value: names.join(","), position });
    } else {
      options.push({ name, value: null, position });
    }
  }
  return options;
}

/** Reads the options of CREATE or ALTER DATABASE. */
export function parseDatabaseOptions(stream: TokenStream): NamedOption[] {
  stream.acceptWord("with");
  const options: NamedOption[] = [];
  while (!stream.isAtEnd) {
    const position = stream.position;
    let name = stream.expectLabel();
    if (name === "connection") name += ` ${stream.expectAnyWord(["limit"])}`;
    stream.acceptSymbol("=");
    options.push({ name, value: parseOptionValue(stream), position });
  }
  return options;
}

function parseCreateTable(stream: TokenStream, persistence: Persistence, position: number): Statement {
  const ifNotExists = acceptIfNotExists(stream);
  const name = parseObjectName(stream);
  if (stream.isWord("of")) throw stream.unsupported("CREATE TABLE … OF type");
  if (stream.isWords("partition", "of")) throw stream.unsupported("CREATE TABLE … PARTITION OF");
  const isQuery = !stream.isSymbol("(") || isColumnNameList(stream);
  if (isQuery) {
    const columns = parseOptionalNameList(stream);
    const options = parseTableOptions(stream);
    stream.expectWords("as");
    if (stream.isWord("execute")) throw stream.unsupported("CREATE TABLE AS EXECUTE");
    const query = parseQuery(stream);
    const withoutData = stream.acceptWords("with", "no", "data");
    if (!withoutData) stream.acceptWords("with", "data");
    const withData = !withoutData;
    return {
      kind: "create_table_as",
      name,
      persistence,
      ifNotExists,
      columns,
      options: options.options,
      onCommit: options.onCommit,
      query,
      withData,
      position,
    };
  }
  const elements = parseTableElements(stream, name.name);
  if (stream.isWord("inherits")) throw stream.unsupported("INHERITS");
  if (stream.isWords("partition", "by")) throw stream.unsupported("PARTITION BY");
  return {
    kind: "create_table",
    name,
    persistence,
    ifNotExists,
    ...elements,
    ...parseTableOptions(stream),
    position,
  };
}

/** Whether `(name, …)` without types is here: the column names of CREATE TABLE AS. */
function isColumnNameList(stream: TokenStream): boolean {
  return stream.isName(1) &&
    (stream.isSymbol(",", 2) || (stream.isSymbol(")", 2) && !stream.isSymbol("(", 1)));
}

interface TableElements {
  readonly columns: readonly ColumnDefinition[];
  readonly constraints: readonly TableConstraint[];
  readonly likes: readonly LikeClause[];
}

function parseTableElements(stream: TokenStream, table: string): TableElements {
  const columns: ColumnDefinition[] = [];
  const constraints: TableConstraint[] = [];
  const likes: LikeClause[] = [];
  stream.expectSymbol("(");
  if (stream.acceptSymbol(")")) return { columns, constraints, likes };
  do {
    if (stream.isWord("like")) likes.push(parseLike(stream, columns.length));
    else if (isTableConstraintStart(stream)) constraints.push(parseTableConstraint(stream));
    else columns.push(parseColumnDefinition(stream, table));
  } while (stream.acceptSymbol(","));
  stream.expectSymbol(")");
  return { columns, constraints, likes };
}

const LIKE_WORDS = [
  "comments",
  "compression",
  "constraints",
  "defaults",
  "generated",
  "identity",
  "indexes",
  "statistics",
  "storage",
];

function parseLike(stream: TokenStream, columnIndex: number): LikeClause {
  const position = stream.position;
  stream.advance();
  const table = parseObjectName(stream);
  const including = new Set<string>();
  while (stream.isWord("including") || stream.isWord("excluding")) {
    const adds = stream.take() === "including";
    const word = stream.expectAnyWord([...LIKE_WORDS, "all"]);
    for (const item of word === "all" ? LIKE_WORDS : [word]) {
      if (adds) including.add(item);
      else including.delete(item);
    }
  }
  return { table, including: [...including], columnIndex, position };
}

interface TableOptions {
  readonly options: readonly NamedOption[];
  readonly onCommit: CreateTable["onCommit"];
  readonly tablespace: string | null;
}

/** Reads SHARD BY, USING, WITH, ON COMMIT and TABLESPACE behind a table's columns. */
function parseTableOptions(stream: TokenStream): TableOptions {
  const options: NamedOption[] = acceptShardBy(stream);
  let onCommit: CreateTable["onCommit"] = null;
  if (stream.acceptWord("using")) stream.expectName();
  if (stream.isWord("with") && stream.isSymbol("(", 1)) {
    stream.advance();
    options.push(...parseOptionList(stream));
  } else {
    stream.acceptWords("without", "oids");
  }
  options.push(...acceptShardBy(stream));
  if (stream.acceptWords("on", "commit")) {
    if (stream.acceptWord("drop")) onCommit = "drop";
    else {
      onCommit = stream.expectAnyWord(["preserve", "delete"]) === "delete" ? "delete_rows" : "preserve_rows";
      stream.expectWords("rows");
    }
  }
  return { options, onCommit, tablespace: stream.acceptWord("tablespace") ? stream.expectName() : null };
}

function parseCreateStatistics(stream: TokenStream, position: number): Statement {
  const ifNotExists = acceptIfNotExists(stream);
  const isNamed = !stream.isWord("on") && !stream.isSymbol("(");
  const name = isNamed ? parseObjectName(stream) : null;
  if (ifNotExists && name === null) throw stream.syntaxError();
  const kinds = stream.isSymbol("(") ? parseParenthesizedList(stream, (inner) => inner.expectName()) : [];
  stream.expectWords("on");
  const columns = parseList(stream, (inner) => {
    if (inner.isSymbol("(")) throw inner.unsupported("CREATE STATISTICS on an expression");
    const columnPosition = inner.position;
    return { name: inner.expectName(), position: columnPosition };
  });
  stream.expectWords("from");
  const table = parseObjectName(stream);
  return { kind: "create_statistics", ifNotExists, name, kinds, columns, table, position };
}

function parseCreateIndex(stream: TokenStream, position: number): CreateIndex {
  const unique = stream.acceptWord("unique");
  const range = stream.acceptWord("range");
  stream.expectWords("index");
  const concurrently = stream.acceptWord("concurrently");
  const ifNotExists = acceptIfNotExists(stream);
  const name = stream.isWord("on") ? null : stream.expectName();
  if (ifNotExists && name === null) throw stream.syntaxError();
  stream.expectWords("on");
  stream.acceptWord("only");
  const table = parseObjectName(stream);
  const method = stream.acceptWord("using") ? stream.expectName() : null;
  const keys = parseParenthesizedList(stream, parseIndexKey);
  const include = stream.acceptWord("include") ? parseNameList(stream) : [];
  const nullsNotDistinct = stream.acceptWords("nulls", "not", "distinct");
  if (!nullsNotDistinct) stream.acceptWords("nulls", "distinct");
  const options = stream.acceptWord("with") ? parseOptionList(stream) : [];
  if (stream.acceptWord("tablespace")) stream.expectName();
  const where = stream.acceptWord("where") ? parseStored(stream, parseExpression) : null;
  return {
    kind: "create_index",
    unique,
    range,
    concurrently,
    ifNotExists,
    name,
    table,
    method,
    keys,
    include,
    nullsNotDistinct,
    options,
    where: where?.expression ?? null,
    whereText: where?.text ?? null,
    position,
  };
}

interface ViewStart {
  readonly orReplace: boolean;
  readonly persistence: Persistence;
  readonly position: number;
}

function parseCreateView(stream: TokenStream, start: ViewStart): CreateView {
  if (stream.isWord("recursive")) throw stream.unsupported("CREATE RECURSIVE VIEW");
  stream.advance();
  const name = parseObjectName(stream);
  const columns = parseOptionalNameList(stream);
  const options = stream.acceptWord("with") ? parseOptionList(stream) : [];
  stream.expectWords("as");
  const queryStart = stream.position;
  const query = parseQuery(stream);
  const queryText = stream.textFrom(queryStart);
  let checkOption: CreateView["checkOption"] = null;
  if (stream.acceptWord("with")) {
    checkOption = stream.acceptWord("local") ? "local" : (stream.acceptWord("cascaded"), "cascaded");
    stream.expectWords("check", "option");
  }
  return { kind: "create_view", ...start, name, columns, options, query, queryText, checkOption };
}

function parseCreateSequence(stream: TokenStream, persistence: Persistence, position: number): Statement {
  const ifNotExists = acceptIfNotExists(stream);
  const name = parseObjectName(stream);
  return {
    kind: "create_sequence",
    name,
    persistence,
    ifNotExists,
    options: parseSequenceOptions(stream),
    position,
  };
}

function parseCreateSchema(stream: TokenStream, position: number): CreateSchema {
  const ifNotExists = acceptIfNotExists(stream);
  const given = stream.isWord("authorization") ? null : stream.expectName();
  const owner = stream.acceptWord("authorization") ? parseRoleName(stream) : null;
  const elements: SchemaElement[] = [];
  const elementsPosition = stream.position;
  while (stream.isAnyWord(["create", "grant"])) {
    if (stream.isWord("grant")) throw stream.unsupported("CREATE SCHEMA with GRANT");
    elements.push(parseSchemaElement(stream));
  }
  if (given === null && owner === null) throw stream.syntaxError();
  if (ifNotExists && elements.length > 0) {
    throw stream.error(
      SQLSTATE.featureNotSupported,
      "CREATE SCHEMA IF NOT EXISTS cannot include schema elements",
      elementsPosition,
    );
  }
  return { kind: "create_schema", name: given, ifNotExists, owner, elements, position };
}

function parseSchemaElement(stream: TokenStream): SchemaElement {
  const mark = stream.mark;
  const statement = parseCreate(stream);
  switch (statement.kind) {
    case "create_table":
    case "create_view":
    case "create_index":
    case "create_sequence":
      return statement;
    case "create_trigger":
      stream.rewind(mark);
      throw stream.unsupported("CREATE SCHEMA with CREATE TRIGGER");
    default:
      stream.rewind(mark);
      stream.advance();
      throw stream.syntaxError();
  }
}

function parseCreateType(stream: TokenStream, position: number): CreateEnum | Statement {
  const name = parseObjectName(stream);
  if (!stream.isWords("as", "enum")) {
    const isOther = stream.isAtEnd || stream.isSymbol("(") || stream.isWords("as", "range") ||
      (stream.isWord("as") && stream.isSymbol("(", 1));
    if (!isOther) throw stream.syntaxError();
    while (!stream.isAtEnd) stream.advance();
    return { kind: "unsupported", feature: "CREATE TYPE other than AS ENUM", position };
  }
  stream.advance();
  stream.advance();
  stream.expectSymbol("(");
  const labels: string[] = [];
  if (!stream.isSymbol(")")) {
    do labels.push(stream.expectString()); while (stream.acceptSymbol(","));
  }
  stream.expectSymbol(")");
  return { kind: "create_enum", name, labels, position };
}

function parseCreateDomain(stream: TokenStream, position: number): CreateDomain {
  const name = parseObjectName(stream);
  stream.acceptWord("as");
  const type = parseTypeName(stream);
  let collation: string[] = [];
  let defaultValue: Expression | null = null;
  let notNull = false;
  const checks: CheckConstraint[] = [];
  while (!stream.isAtEnd) {
    if (stream.acceptWord("collate")) collation = parseDottedName(stream);
    else if (stream.acceptWord("default")) defaultValue = parseRestrictedExpression(stream);
    else if (stream.acceptWords("not", "null")) notNull = true;
    else if (!stream.acceptWord("null")) {
      const isCheck = stream.isWord("check") || (stream.isWord("constraint") && stream.isWord("check", 2));
      const constraint = isCheck ? parseTableConstraint(stream) : null;
      if (constraint?.kind === "check") checks.push(constraint);
      else if (stream.isWord("constraint") && stream.isName(1)) {
        stream.advance();
        stream.advance();
      } else throw stream.syntaxError();
    }
  }
  return { kind: "create_domain", name, type, collation, default: defaultValue, notNull, checks, position };
}

function parseCreateExtension(stream: TokenStream, position: number): Statement {
  const ifNotExists = acceptIfNotExists(stream);
  const name = stream.expectName();
  let schema: string | null = null;
  let cascade = false;
  stream.acceptWord("with");
  while (!stream.isAtEnd) {
    if (stream.acceptWord("schema")) schema = stream.expectName();
    else if (stream.acceptWord("cascade")) cascade = true;
    else if (stream.acceptWord("version")) {
      if (stream.kind() !== TOKEN.string && !stream.isLabel()) throw stream.syntaxError();
      stream.advance();
    } else throw stream.syntaxError();
  }
  return { kind: "create_extension", name, ifNotExists, schema, cascade, position };
}
