/**
 * Columns and constraints of tables: what CREATE TABLE, ALTER TABLE and CREATE DOMAIN share, and sequence options.
 *
 * Invariant: expressions that the catalog stores are kept with their text, cut from the statement.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  CheckConstraint,
  ColumnDefinition,
  Deferral,
  Expression,
  ForeignKeyConstraint,
  NamedOption,
  ReferentialAction,
  SequenceOptions,
  TableConstraint,
  TypeName,
} from "./ast.ts";
import { parseExpression, parseRestrictedExpression } from "./expressions.ts";
import {
  objectName,
  parseDottedName,
  parseList,
  parseNameList,
  parseObjectName,
  parseOptionalNameList,
  parseParenthesizedList,
} from "./names.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";

/** An expression and its text. */
export interface StoredExpression {
  readonly expression: Expression;
  readonly text: string;
}

/** Reads `( expression )`, keeping the text between the parentheses. */
export function parseStoredParentheses(stream: TokenStream): StoredExpression {
  stream.expectSymbol("(");
  const stored = parseStored(stream, parseExpression);
  stream.expectSymbol(")");
  return stored;
}

/** Reads an expression with the given reader, keeping its text. */
export function parseStored(
  stream: TokenStream,
  parse: (stream: TokenStream) => Expression,
): StoredExpression {
  const start = stream.position;
  const expression = parse(stream);
  return { expression, text: stream.textFrom(start) };
}

/** What the constraints of a column add up to, while they are read. */
interface ColumnParts {
  collation: string[];
  notNull: boolean | null;
  default: StoredExpression | null;
  identity: ColumnDefinition["identity"];
  generated: ColumnDefinition["generated"];
  constraints: TableConstraint[];
}

/** Reads `name type constraints`; the table's name is for messages. */
export function parseColumnDefinition(stream: TokenStream, table: string): ColumnDefinition {
  const position = stream.position;
  const name = stream.expectName();
  const serialPosition = stream.position;
  const type: TypeName = parseTypeName(stream);
  if (type.setOf) {
    throw stream.error(SQLSTATE.invalidTableDefinition, `column "${name}" cannot be a set`, serialPosition);
  }
  const parts: ColumnParts = {
    collation: [],
    notNull: null,
    default: null,
    identity: null,
    generated: null,
    constraints: [],
  };
  while (parseColumnConstraint(stream, name, table, parts));
  return {
    name,
    type,
    collation: parts.collation,
    notNull: parts.notNull,
    default: parts.default?.expression ?? null,
    defaultText: parts.default?.text ?? null,
    identity: parts.identity,
    generated: parts.generated,
    constraints: parts.constraints,
    position,
  };
}

/** Reads one constraint or attribute of a column; false when there is none. */
function parseColumnConstraint(
  stream: TokenStream,
  column: string,
  table: string,
  parts: ColumnParts,
): boolean {
  const position = stream.position;
  const name = stream.acceptWord("constraint") ? stream.expectName() : null;
  if (stream.acceptWords("not", "null")) {
    setNullability(stream, parts, true, column, table, position);
  } else if (stream.acceptWord("null")) {
    setNullability(stream, parts, false, column, table, position);
  } else if (stream.acceptWord("default")) {
    if (parts.default !== null) {
      const message = `multiple default values specified for column "${column}" of table "${table}"`;
      throw stream.error(SQLSTATE.syntaxError, message, position);
    }
    parts.default = parseStored(stream, parseRestrictedExpression);
  } else if (stream.acceptWord("generated")) {
    parseGenerated(stream, parts, column, table, position);
  } else if (stream.acceptWord("collate")) {
    parts.collation = parseDottedName(stream);
  } else if (stream.isAnyWord(["storage", "compression"]) && name === null) {
    throw stream.unsupported(`column option ${stream.value().toUpperCase()}`);
  } else {
    const constraint = parseColumnKey(stream, name, column, position);
    if (constraint !== null) parts.constraints.push(constraint);
    else if (name === null) return false;
    else throw stream.syntaxError();
  }
  return true;
}

function setNullability(
  stream: TokenStream,
  parts: ColumnParts,
  notNull: boolean,
  column: string,
  table: string,
  position: number,
): void {
  if (parts.notNull !== null && parts.notNull !== notNull) {
    const message = `conflicting NULL/NOT NULL declarations for column "${column}" of table "${table}"`;
    throw stream.error(SQLSTATE.syntaxError, message, position);
  }
  parts.notNull = notNull;
}

function parseGenerated(
  stream: TokenStream,
  parts: ColumnParts,
  column: string,
  table: string,
  position: number,
): void {
  const always = stream.acceptWord("always");
  if (!always) stream.expectWords("by", "default");
  stream.expectWords("as");
  if (stream.acceptWord("identity")) {
    if (parts.identity !== null) {
      const message = `multiple identity specifications for column "${column}" of table "${table}"`;
      throw stream.error(SQLSTATE.syntaxError, message, position);
    }
    const options = stream.isSymbol("(") ? parseParenthesizedSequenceOptions(stream) : NO_SEQUENCE_OPTIONS;
    parts.identity = { always, options };
    return;
  }
  if (!always) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "for a generated column, GENERATED ALWAYS must be specified",
      position,
    );
  }
  if (parts.generated !== null) {
    const message = `multiple generation clauses specified for column "${column}" of table "${table}"`;
    throw stream.error(SQLSTATE.syntaxError, message, position);
  }
  const stored = parseStoredParentheses(stream);
  const isStored = stream.acceptWord("stored");
  if (!isStored && stream.isWord("virtual")) throw stream.unsupported("GENERATED … VIRTUAL");
  if (!isStored) throw stream.syntaxError();
  parts.generated = { ...stored, stored: true };
}

function parseColumnKey(
  stream: TokenStream,
  name: string | null,
  column: string,
  position: number,
): TableConstraint | null {
  if (stream.acceptWords("primary", "key")) {
    skipIndexOptions(stream);
    return keyConstraint("primary_key", { name, columns: [column], position }, parseDeferral(stream));
  }
  if (stream.acceptWord("unique")) {
    const nullsNotDistinct = parseNullsDistinct(stream);
    skipIndexOptions(stream);
    const key = keyConstraint("unique", { name, columns: [column], position }, parseDeferral(stream));
    return { ...key, nullsNotDistinct };
  }
  if (stream.acceptWord("check")) return parseCheck(stream, name, position);
  if (stream.isWord("references")) return parseReferences(stream, name, [column], position);
  return null;
}

function keyConstraint(
  kind: "primary_key" | "unique",
  place: { readonly name: string | null; readonly columns: readonly string[]; readonly position: number },
  deferral: Deferral,
) {
  return { kind, ...place, include: [], nullsNotDistinct: false, usingIndex: null, deferral } as const;
}

function parseNullsDistinct(stream: TokenStream): boolean {
  if (stream.acceptWords("nulls", "not", "distinct")) return true;
  stream.acceptWords("nulls", "distinct");
  return false;
}

/** Reads `WITH (…)` and `USING INDEX TABLESPACE x` of a key, which choose nothing that exists here. */
function skipIndexOptions(stream: TokenStream): void {
  if (stream.isWord("with") && stream.isSymbol("(", 1)) {
    stream.advance();
    parseOptionList(stream);
  }
  if (stream.isWords("using", "index", "tablespace")) throw stream.unsupported("USING INDEX TABLESPACE");
}

function parseCheck(stream: TokenStream, name: string | null, position: number): CheckConstraint {
  const { expression, text } = parseStoredParentheses(stream);
  let noInherit = false;
  let notValid = false;
  while (true) {
    if (stream.acceptWords("no", "inherit")) noInherit = true;
    else if (stream.acceptWords("not", "valid")) notValid = true;
    else break;
  }
  return { kind: "check", name, expression, text, noInherit, notValid, position };
}

function parseReferences(
  stream: TokenStream,
  name: string | null,
  columns: readonly string[],
  position: number,
): ForeignKeyConstraint {
  stream.expectWords("references");
  const table = parseObjectName(stream);
  const parentColumns = parseOptionalNameList(stream);
  let match: ForeignKeyConstraint["match"] = "simple";
  if (stream.acceptWord("match")) {
    const word = stream.expectAnyWord(["full", "partial", "simple"]);
    match = word === "full" ? "full" : word === "partial" ? "partial" : "simple";
  }
  let onDelete: ReferentialAction = "no_action";
  let onUpdate: ReferentialAction = "no_action";
  let onDeleteColumns: string[] = [];
  while (stream.acceptWord("on")) {
    if (stream.acceptWord("delete")) {
      onDelete = parseReferentialAction(stream);
      if (onDelete.startsWith("set_")) onDeleteColumns = parseOptionalNameList(stream);
    } else {
      stream.expectWords("update");
      onUpdate = parseReferentialAction(stream);
      if (stream.isSymbol("(")) {
        throw stream.unsupported("a column list with ON UPDATE SET");
      }
    }
  }
  let deferral = parseDeferral(stream);
  const notValid = stream.acceptWords("not", "valid");
  if (notValid) deferral = mergeDeferral(deferral, parseDeferral(stream));
  return {
    kind: "foreign_key",
    name,
    columns,
    table,
    parentColumns,
    match,
    onDelete,
    onDeleteColumns,
    onUpdate,
    deferral,
    notValid,
    position,
  };
}

function mergeDeferral(left: Deferral, right: Deferral): Deferral {
  return {
    deferrable: left.deferrable || right.deferrable,
    initiallyDeferred: left.initiallyDeferred || right.initiallyDeferred,
  };
}

function parseReferentialAction(stream: TokenStream): ReferentialAction {
  if (stream.acceptWords("no", "action")) return "no_action";
  if (stream.acceptWord("restrict")) return "restrict";
  if (stream.acceptWord("cascade")) return "cascade";
  if (stream.acceptWords("set", "null")) return "set_null";
  stream.expectWords("set", "default");
  return "set_default";
}

/** Reads [NOT] DEFERRABLE and INITIALLY DEFERRED | IMMEDIATE, in any order. */
function parseDeferral(stream: TokenStream): Deferral {
  let deferrable: boolean | null = null;
  let initiallyDeferred = false;
  const position = stream.position;
  while (true) {
    if (stream.acceptWord("deferrable")) deferrable = true;
    else if (stream.acceptWords("not", "deferrable")) deferrable = false;
    else if (stream.acceptWords("initially", "deferred")) initiallyDeferred = true;
    else if (stream.acceptWords("initially", "immediate")) initiallyDeferred = false;
    else break;
  }
  if (initiallyDeferred && deferrable === false) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "constraint declared INITIALLY DEFERRED must be DEFERRABLE",
      position,
    );
  }
  return { deferrable: deferrable ?? initiallyDeferred, initiallyDeferred };
}

/** Whether a table constraint begins here, and not a column. */
export function isTableConstraintStart(stream: TokenStream): boolean {
  if (stream.isAnyWord(["constraint", "check", "unique", "primary", "foreign"])) return true;
  return stream.isWord("exclude") && (stream.isWord("using", 1) || stream.isSymbol("(", 1));
}

/** Reads a constraint of a table. */
export function parseTableConstraint(stream: TokenStream): TableConstraint {
  const position = stream.position;
  const name = stream.acceptWord("constraint") ? stream.expectName() : null;
  if (stream.acceptWord("check")) return parseCheck(stream, name, position);
  if (stream.acceptWords("foreign", "key")) {
    const columns = parseNameList(stream);
    return parseReferences(stream, name, columns, position);
  }
  if (stream.isWord("exclude")) {
    skipBalanced(stream);
    return { kind: "unsupported_constraint", feature: "EXCLUDE constraint", position };
  }
  const isPrimary = stream.acceptWords("primary", "key");
  if (!isPrimary) stream.expectWords("unique");
  const kind = isPrimary ? "primary_key" : "unique";
  if (stream.acceptWords("using", "index")) {
    const usingIndex = stream.expectName();
    const key = keyConstraint(kind, { name, columns: [], position }, parseDeferral(stream));
    return { ...key, usingIndex };
  }
  const nullsNotDistinct = !isPrimary && parseNullsDistinct(stream);
  const columns = parseNameList(stream);
  const include = stream.acceptWord("include") ? parseNameList(stream) : [];
  skipIndexOptions(stream);
  const key = keyConstraint(kind, { name, columns, position }, parseDeferral(stream));
  return { ...key, include, nullsNotDistinct };
}

/** Skips to the comma, closing parenthesis or end that ends the current element. */
export function skipBalanced(stream: TokenStream): void {
  let depth = 0;
  while (!stream.isAtEnd) {
    if (stream.isSymbol("(")) depth++;
    else if (stream.isSymbol(")")) {
      if (depth === 0) return;
      depth--;
    } else if (depth === 0 && stream.isSymbol(",")) return;
    stream.advance();
  }
}

/** Reads `(name [= value], …)`. */
export function parseOptionList(stream: TokenStream): NamedOption[] {
  return parseParenthesizedList(stream, (inner) => {
    const position = inner.position;
    let name = inner.expectLabel();
    while (inner.acceptSymbol(".")) name += `.${inner.expectLabel()}`;
    if (!inner.acceptSymbol("=")) return { name, value: null, position };
    return { name, value: parseOptionValue(inner), position };
  });
}

/** Reads the value of an option: a word, a string, or a signed number, as text. */
export function parseOptionValue(stream: TokenStream): string {
  const sign = stream.acceptSymbol("-") ? "-" : (stream.acceptSymbol("+"), "");
  const kind = stream.kind();
  if (kind === TOKEN.integer || kind === TOKEN.decimal) return sign + stream.take();
  if (sign !== "") throw stream.syntaxError();
  if (kind === TOKEN.string || stream.isLabel()) return stream.take();
  throw stream.syntaxError();
}

/** Options of a sequence about which nothing is said. */
export const NO_SEQUENCE_OPTIONS: SequenceOptions = {
  type: null,
  increment: null,
  minimum: null,
  maximum: null,
  start: null,
  cache: null,
  cycle: null,
  ownedBy: null,
  restart: null,
  name: null,
};

function parseParenthesizedSequenceOptions(stream: TokenStream): SequenceOptions {
  stream.expectSymbol("(");
  const options = parseSequenceOptions(stream);
  stream.expectSymbol(")");
  return options;
}

/** Reads the options of a sequence, in any order, as many as there are. */
export function parseSequenceOptions(stream: TokenStream): SequenceOptions {
  let options = NO_SEQUENCE_OPTIONS;
  while (true) {
    const position = stream.position;
    const change = parseSequenceOption(stream);
    if (change === null) return options;
    options = joinSequenceOptions(stream, options, change, position);
  }
}

/** Options with one more; 42601 when it was said before. */
export function joinSequenceOptions(
  stream: TokenStream,
  options: SequenceOptions,
  change: Partial<SequenceOptions>,
  position: number,
): SequenceOptions {
  for (const key of Object.keys(change) as (keyof SequenceOptions)[]) {
    if (options[key] !== null) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
    }
  }
  return { ...options, ...change };
}

/** Reads one option of a sequence; null when there is none. */
export function parseSequenceOption(stream: TokenStream): Partial<SequenceOptions> | null {
  if (stream.acceptWord("as")) return { type: parseTypeName(stream) };
  if (stream.acceptWord("increment")) {
    stream.acceptWord("by");
    return { increment: stream.expectInteger() };
  }
  if (stream.acceptWord("minvalue")) return { minimum: stream.expectInteger() };
  if (stream.acceptWord("maxvalue")) return { maximum: stream.expectInteger() };
  if (stream.acceptWords("no", "minvalue")) return { minimum: "none" };
  if (stream.acceptWords("no", "maxvalue")) return { maximum: "none" };
  if (stream.acceptWords("no", "cycle")) return { cycle: false };
  if (stream.acceptWord("cycle")) return { cycle: true };
  if (stream.acceptWord("cache")) return { cache: stream.expectInteger() };
  if (stream.acceptWord("start")) {
    stream.acceptWord("with");
    return { start: stream.expectInteger() };
  }
  if (stream.acceptWord("restart")) {
    const hasValue = stream.acceptWord("with") || stream.kind() === TOKEN.integer || stream.isSymbol("-");
    return { restart: hasValue ? stream.expectInteger() : "start" };
  }
  if (stream.acceptWords("sequence", "name")) return { name: parseObjectName(stream) };
  if (stream.acceptWords("owned", "by")) return { ownedBy: parseSequenceOwner(stream) };
  return null;
}

function parseSequenceOwner(stream: TokenStream): SequenceOptions["ownedBy"] {
  if (stream.acceptWord("none")) return "none";
  const position = stream.position;
  const parts = parseDottedName(stream);
  const column = parts.at(-1);
  if (parts.length < 2 || column === undefined) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "invalid OWNED BY option",
      position,
      "Specify OWNED BY table.column or OWNED BY NONE.",
    );
  }
  return { table: objectName(stream, parts.slice(0, -1), position), column };
}

/** Reads a list of columns with types for a name: `name type, …`. */
export function parseTypeList(stream: TokenStream): TypeName[] {
  return parseList(stream, parseTypeName);
}
