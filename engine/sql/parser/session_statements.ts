/**
 * Statements of the session: transactions, settings, prepared statements, cursors, maintenance and notifications.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  CommonTable,
  Explain,
  FetchDirection,
  Merge,
  NamedOption,
  SettingValue,
  Statement,
  TransactionModes,
} from "./ast.ts";
import { parseExpression } from "./expressions.ts";
import { parseList, parseObjectName, parseOptionalNameList, parseParenthesizedList } from "./names.ts";
import { parseTableWithOnly } from "./object_statements.ts";
import { isQueryStart, parseQuery } from "./queries.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { acceptIntervalFields, parseModifiers, parseTypeName } from "./type_names.ts";

/** Reads BEGIN or START TRANSACTION. */
export function parseBegin(stream: TokenStream): Statement {
  const position = stream.position;
  const startTransaction = stream.take() === "start";
  if (startTransaction) stream.expectWords("transaction");
  else acceptWork(stream);
  return { kind: "begin", startTransaction, modes: parseModes(stream), position };
}

function acceptWork(stream: TokenStream): void {
  if (!stream.acceptWord("work")) stream.acceptWord("transaction");
}

function parseModes(stream: TokenStream): TransactionModes {
  let isolation: TransactionModes["isolation"] = null;
  let readOnly: boolean | null = null;
  let deferrable: boolean | null = null;
  let needsMode = false;
  while (true) {
    if (stream.acceptWords("isolation", "level")) isolation = parseIsolation(stream);
    else if (stream.acceptWords("read", "only")) readOnly = true;
    else if (stream.acceptWords("read", "write")) readOnly = false;
    else if (stream.acceptWord("deferrable")) deferrable = true;
    else if (stream.acceptWords("not", "deferrable")) deferrable = false;
    else if (needsMode) throw stream.syntaxError();
    else return { isolation, readOnly, deferrable };
    needsMode = stream.acceptSymbol(",");
  }
}

function parseIsolation(stream: TokenStream): NonNullable<TransactionModes["isolation"]> {
  if (stream.acceptWord("serializable")) return "serializable";
  if (stream.acceptWords("repeatable", "read")) return "repeatable_read";
  if (stream.acceptWords("read", "committed")) return "read_committed";
  stream.expectWords("read", "uncommitted");
  return "read_uncommitted";
}

/** Reads COMMIT, END, ROLLBACK or ABORT. */
export function parseTransactionEnd(stream: TokenStream): Statement {
  const position = stream.position;
  const word = stream.take();
  const isCommit = word === "commit" || word === "end";
  if (stream.isWord("prepared")) {
    while (!stream.isAtEnd) stream.advance();
    return { kind: "unsupported", feature: `${word.toUpperCase()} PREPARED`, position };
  }
  acceptWork(stream);
  if (word === "rollback" && stream.acceptWord("to")) {
    stream.acceptWord("savepoint");
    return { kind: "rollback_to", name: stream.expectName(), position };
  }
  const chain = stream.acceptWords("and", "chain");
  if (!chain) stream.acceptWords("and", "no", "chain");
  return { kind: isCommit ? "commit" : "rollback", chain, position };
}

/** Reads SAVEPOINT or RELEASE. */
export function parseSavepoint(stream: TokenStream): Statement {
  const position = stream.position;
  if (stream.take() === "savepoint") return { kind: "savepoint", name: stream.expectName(), position };
  stream.acceptWord("savepoint");
  return { kind: "release", name: stream.expectName(), position };
}

/** Reads SET. */
export function parseSet(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  if (stream.acceptWord("transaction")) {
    if (stream.isWord("snapshot")) throw stream.unsupported("SET TRANSACTION SNAPSHOT");
    return { kind: "set_transaction", session: false, modes: parseSomeModes(stream), position };
  }
  if (stream.acceptWords("session", "characteristics", "as", "transaction")) {
    return { kind: "set_transaction", session: true, modes: parseSomeModes(stream), position };
  }
  if (stream.acceptWord("constraints")) return parseSetConstraints(stream, position);
  const local = stream.acceptWord("local");
  if (!local && stream.isWord("session") && !stream.isWord("authorization", 1)) stream.advance();
  const { name, values } = parseSetting(stream);
  return { kind: "set", local, name, values, position };
}

function parseSomeModes(stream: TokenStream): TransactionModes {
  if (stream.isAtEnd) throw stream.syntaxError();
  return parseModes(stream);
}

function parseSetConstraints(stream: TokenStream, position: number): Statement {
  const names = stream.acceptWord("all") ? [] : parseList(stream, parseObjectName);
  const deferred = stream.expectAnyWord(["deferred", "immediate"]) === "deferred";
  return { kind: "set_constraints", names, deferred, position };
}

/** A setting's name, and its values; none: the default. */
export interface Setting {
  readonly name: string;
  readonly values: readonly SettingValue[];
}

/** Reads `name = values` and the settings with a syntax of their own. */
export function parseSetting(stream: TokenStream): Setting {
  if (stream.acceptWords("time", "zone")) return { name: "timezone", values: parseTimeZone(stream) };
  if (stream.isWord("names") && !stream.isWord("to", 1) && !stream.isSymbol("=", 1)) {
    stream.advance();
    if (stream.isAtEnd || stream.acceptWord("default")) return { name: "client_encoding", values: [] };
    return { name: "client_encoding", values: [parseSettingValue(stream)] };
  }
  if (stream.isWord("schema") && stream.isString(1)) {
    stream.advance();
    return { name: "search_path", values: [parseSettingValue(stream)] };
  }
  if (stream.isWord("role") && !stream.isWord("to", 1) && !stream.isSymbol("=", 1)) {
    stream.advance();
    return { name: "role", values: [parseSettingValue(stream)] };
  }
  if (stream.acceptWords("session", "authorization")) {
    const isDefault = stream.acceptWord("default");
    return { name: "session_authorization", values: isDefault ? [] : [parseSettingValue(stream)] };
  }
  if (stream.acceptWords("xml", "option")) return { name: "xmloption", values: [parseSettingValue(stream)] };
  const name = parseSettingName(stream);
  if (stream.isWords("from", "current")) throw stream.unsupported("SET … FROM CURRENT");
  if (!stream.acceptSymbol("=")) stream.expectWords("to");
  if (stream.acceptWord("default")) return { name, values: [] };
  return { name, values: parseList(stream, parseSettingValue) };
}

function parseSettingName(stream: TokenStream): string {
  let name = stream.expectName();
  while (stream.acceptSymbol(".")) name += `.${stream.expectLabel()}`;
  return name.toLowerCase();
}

function parseSettingValue(stream: TokenStream): SettingValue {
  const kind = stream.kind();
  if (kind === TOKEN.string) return { text: stream.take(), type: "string" };
  const isNegative = stream.acceptSymbol("-");
  const isSigned = isNegative || stream.acceptSymbol("+");
  if (stream.kind() === TOKEN.integer || stream.kind() === TOKEN.decimal) {
    return { text: (isNegative ? "-" : "") + stream.take(), type: "number" };
  }
  if (isSigned || !stream.isLabel()) throw stream.syntaxError();
  return { text: stream.take(), type: "identifier" };
}

function parseTimeZone(stream: TokenStream): SettingValue[] {
  if (stream.acceptWord("local") || stream.acceptWord("default")) return [];
  if (!stream.isWord("interval")) return [parseSettingValue(stream)];
  stream.advance();
  parseModifiers(stream);
  const text = stream.expectString();
  acceptIntervalFields(stream);
  return [{ text, type: "interval" }];
}

/** Reads RESET. */
export function parseReset(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  return { kind: "reset", name: parseShownName(stream), position };
}

/** Reads SHOW. */
export function parseShow(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  return { kind: "show", name: parseShownName(stream), position };
}

/** Reads the name of a setting in SHOW and RESET; null: ALL. */
export function parseShownName(stream: TokenStream): string | null {
  if (stream.acceptWord("all")) return null;
  if (stream.acceptWords("time", "zone")) return "timezone";
  if (stream.acceptWords("transaction", "isolation", "level")) return "transaction_isolation";
  if (stream.acceptWords("session", "authorization")) return "session_authorization";
  return parseSettingName(stream);
}

/** Reads DISCARD. */
export function parseDiscard(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  switch (stream.expectAnyWord(["all", "plans", "sequences", "temp", "temporary"])) {
    case "all":
      return { kind: "discard", target: "all", position };
    case "plans":
      return { kind: "discard", target: "plans", position };
    case "sequences":
      return { kind: "discard", target: "sequences", position };
    default:
      return { kind: "discard", target: "temporary", position };
  }
}

/** Reads PREPARE; the reader of the inner statement is the caller's. */
export function parsePrepare(
  stream: TokenStream,
  parseInner: (stream: TokenStream) => CommonTable["statement"] | Merge,
): Statement {
  const position = stream.position;
  stream.advance();
  if (stream.isWord("transaction")) {
    while (!stream.isAtEnd) stream.advance();
    return { kind: "unsupported", feature: "PREPARE TRANSACTION", position };
  }
  const name = stream.expectName();
  const types = stream.isSymbol("(") ? parseParenthesizedList(stream, parseTypeName) : [];
  stream.expectWords("as");
  const start = stream.position;
  const statement = parseInner(stream);
  const text = stream.textFrom(start);
  // The parameters belong to the inner statement: the whole takes none.
  const parameterCount = stream.parameterCount;
  stream.resetParameters();
  return { kind: "prepare", name, types, statement, text, parameterCount, position };
}

/** Reads EXECUTE. */
export function parseExecute(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  const name = stream.expectName();
  const args = stream.isSymbol("(") ? parseParenthesizedList(stream, parseExpression) : [];
  return { kind: "execute", name, arguments: args, position };
}

/** Reads DEALLOCATE. */
export function parseDeallocate(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  if (stream.isWord("prepare") && stream.isLabel(1)) stream.advance();
  return { kind: "deallocate", name: stream.acceptWord("all") ? null : stream.expectName(), position };
}

/** Reads DECLARE … CURSOR. */
export function parseDeclare(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  const name = stream.expectName();
  let binary = false;
  let scroll: boolean | null = null;
  while (!stream.acceptWord("cursor")) {
    if (stream.acceptWord("binary")) binary = true;
    else if (stream.acceptWord("scroll")) scroll = true;
    else if (stream.acceptWords("no", "scroll")) scroll = false;
    else if (!stream.acceptWord("insensitive") && !stream.acceptWord("asensitive")) {
      throw stream.syntaxError();
    }
  }
  const hold = stream.acceptWords("with", "hold");
  if (!hold) stream.acceptWords("without", "hold");
  stream.expectWords("for");
  const start = stream.position;
  const query = parseQuery(stream);
  return {
    kind: "declare_cursor",
    name,
    binary,
    scroll,
    hold,
    query,
    text: stream.textFrom(start),
    position,
  };
}

/** Reads FETCH or MOVE. */
export function parseFetch(stream: TokenStream): Statement {
  const position = stream.position;
  const move = stream.take() === "move";
  const { direction, count } = parseDirection(stream);
  if (!stream.acceptWord("from")) stream.acceptWord("in");
  return { kind: "fetch", move, direction, count, name: stream.expectName(), position };
}

function parseDirection(stream: TokenStream): { direction: FetchDirection; count: number } {
  // A cursor may have a name that is also a direction: `FETCH first` fetches from a cursor of that name.
  const isDirection = !(stream.isName() && (stream.kind(1) === TOKEN.end || stream.isSymbol(";", 1)));
  if (stream.kind() === TOKEN.integer || stream.isSymbol("-") || stream.isSymbol("+")) {
    return { direction: "forward", count: parseCount(stream) };
  }
  if (!isDirection) return { direction: "forward", count: 1 };
  if (stream.acceptWord("next")) return { direction: "forward", count: 1 };
  if (stream.acceptWord("prior")) return { direction: "backward", count: 1 };
  if (stream.acceptWord("first")) return { direction: "first", count: 1 };
  if (stream.acceptWord("last")) return { direction: "last", count: 1 };
  if (stream.acceptWord("absolute")) return { direction: "absolute", count: parseCount(stream) };
  if (stream.acceptWord("relative")) return { direction: "relative", count: parseCount(stream) };
  if (stream.acceptWord("all")) return { direction: "all", count: 0 };
  if (stream.isWord("forward") || stream.isWord("backward")) {
    const isForward = stream.take() === "forward";
    if (stream.acceptWord("all")) return { direction: isForward ? "all" : "backward_all", count: 0 };
    const hasCount = stream.kind() === TOKEN.integer || stream.isSymbol("-") || stream.isSymbol("+");
    return { direction: isForward ? "forward" : "backward", count: hasCount ? parseCount(stream) : 1 };
  }
  return { direction: "forward", count: 1 };
}

function parseCount(stream: TokenStream): number {
  const position = stream.position;
  const text = stream.expectInteger();
  const count = Number(text);
  if (!Number.isSafeInteger(count)) {
    throw stream.error(
      SQLSTATE.numericValueOutOfRange,
      `value "${text}" is out of range for type bigint`,
      position,
    );
  }
  return count;
}

/** Reads CLOSE. */
export function parseClose(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  return { kind: "close", name: stream.acceptWord("all") ? null : stream.expectName(), position };
}

/** Reads EXPLAIN; the reader of the inner statement is the caller's. */
export function parseExplain(stream: TokenStream, parseInner: (stream: TokenStream) => Statement): Explain {
  const position = stream.position;
  stream.advance();
  const options: NamedOption[] = [];
  if (stream.isSymbol("(") && !isQueryStart(stream, 1) && !stream.isSymbol("(", 1)) {
    options.push(...parseLooseOptions(stream));
  } else {
    const analyzePosition = stream.position;
    if (stream.acceptWord("analyze") || stream.acceptWord("analyse")) {
      options.push({ name: "analyze", value: null, position: analyzePosition });
    }
    const verbosePosition = stream.position;
    if (stream.acceptWord("verbose")) {
      options.push({ name: "verbose", value: null, position: verbosePosition });
    }
  }
  return { kind: "explain", options, statement: parseInner(stream), position };
}

/** Reads `(name [value], …)` without equals signs. */
function parseLooseOptions(stream: TokenStream): NamedOption[] {
  return parseParenthesizedList(stream, (inner) => {
    const position = inner.position;
    const word = inner.expectLabel();
    const name = word === "analyse" ? "analyze" : word;
    if (inner.isSymbol(",") || inner.isSymbol(")")) return { name, value: null, position };
    return { name, value: parseSettingValue(inner).text, position };
  });
}

/** Reads DESCRIBE. */
export function parseDescribe(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  stream.acceptWord("table");
  return { kind: "describe", table: parseObjectName(stream), position };
}

/** Reads LOCK TABLE. */
export function parseLock(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  stream.acceptWord("table");
  const tables = parseList(stream, parseTableWithOnly);
  let mode = "access_exclusive";
  if (stream.acceptWord("in")) {
    mode = parseLockMode(stream);
    stream.expectWords("mode");
  }
  return { kind: "lock", tables, mode, nowait: stream.acceptWord("nowait"), position };
}

const LOCK_MODES = [
  ["access", "share"],
  ["row", "share"],
  ["row", "exclusive"],
  ["share", "update", "exclusive"],
  ["share", "row", "exclusive"],
  ["share"],
  ["exclusive"],
  ["access", "exclusive"],
];

function parseLockMode(stream: TokenStream): string {
  for (const words of LOCK_MODES) {
    if (stream.acceptWords(...words)) return words.join("_");
  }
  throw stream.syntaxError();
}

/** Reads VACUUM. */
export function parseVacuum(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  const options: NamedOption[] = [];
  if (stream.isSymbol("(")) options.push(...parseLooseOptions(stream));
  else {
    while (stream.isAnyWord(["full", "freeze", "verbose", "analyze", "analyse"])) {
      const optionPosition = stream.position;
      const word = stream.take();
      options.push({ name: word === "analyse" ? "analyze" : word, value: null, position: optionPosition });
    }
  }
  return { kind: "vacuum", options, tables: parseMaintainedTables(stream), position };
}

/** Reads ANALYZE. */
export function parseAnalyze(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  const options: NamedOption[] = [];
  if (stream.isSymbol("(")) options.push(...parseLooseOptions(stream));
  else if (stream.isWord("verbose")) {
    options.push({ name: "verbose", value: null, position: stream.position });
    stream.advance();
  }
  return { kind: "analyze", options, tables: parseMaintainedTables(stream), position };
}

function parseMaintainedTables(stream: TokenStream) {
  if (stream.isAtEnd) return [];
  return parseList(stream, (inner) => ({
    table: parseTableWithOnly(inner),
    columns: parseOptionalNameList(inner),
  }));
}

/** Reads LISTEN, NOTIFY or UNLISTEN. */
export function parseNotification(stream: TokenStream): Statement {
  const position = stream.position;
  switch (stream.take()) {
    case "listen":
      return { kind: "listen", channel: stream.expectName(), position };
    case "notify": {
      const channel = stream.expectName();
      const payload = stream.acceptSymbol(",") ? stream.expectString() : null;
      return { kind: "notify", channel, payload, position };
    }
    default:
      return { kind: "unlisten", channel: stream.acceptSymbol("*") ? null : stream.expectName(), position };
  }
}

/** Reads DO. */
export function parseDo(stream: TokenStream): Statement {
  const position = stream.position;
  stream.advance();
  let language: string | null = null;
  let code: string | null = null;
  while (!stream.isAtEnd) {
    if (stream.acceptWord("language")) {
      language = (stream.isString() ? stream.take() : stream.expectLabel()).toLowerCase();
    } else code = stream.expectString();
  }
  if (code === null) throw stream.syntaxError();
  return { kind: "do", language: language ?? "plpgsql", code, position };
}
