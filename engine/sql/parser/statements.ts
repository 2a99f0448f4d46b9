/**
 * The parser's entrance: statement text to syntax trees.
 *
 * Invariants: a text is parsed as a whole before anything of it runs, as PostgreSQL does; every failure is a {@link
 * DatabaseError} (42601 with a position for what is not SQL, 0A000 for clauses that are not served, 54001 for nesting
 * without end), never anything else, whatever the text.
 */

import type { Expression, ParsedStatement, Statement } from "./ast.ts";
import { parseAlter } from "./alter_statements.ts";
import { parseCopy } from "./copy_statement.ts";
import { parseCreate } from "./create_statements.ts";
import { parseExpression as readExpression } from "./expressions.ts";
import {
  parseComment,
  parseDrop,
  parseGrant,
  parseRefresh,
  parseReindex,
  parseTruncate,
} from "./object_statements.ts";
import { parseDataStatement } from "./queries.ts";
import { parseProcedureCall } from "./routine_statements.ts";
import {
  parseAnalyze,
  parseBegin,
  parseClose,
  parseDeallocate,
  parseDeclare,
  parseDescribe,
  parseDiscard,
  parseDo,
  parseExecute,
  parseExplain,
  parseFetch,
  parseLock,
  parseNotification,
  parsePrepare,
  parseReset,
  parseSavepoint,
  parseSet,
  parseShow,
  parseTransactionEnd,
  parseVacuum,
} from "./session_statements.ts";
import { TOKEN } from "./token.ts";
import { type ParseOptions, TokenStream } from "./token_stream.ts";
import { parseUnsupported, UNSUPPORTED_STATEMENTS } from "./unsupported_statements.ts";
import { parseTypeName as readTypeName } from "./type_names.ts";
import type { TypeName } from "./ast.ts";

export type { ParseOptions };

/** Parses all statements of a text; empty statements between semicolons are left out. */
export function parseStatements(text: string, options: ParseOptions = {}): ParsedStatement[] {
  const stream = new TokenStream(text, options);
  const statements = stream.collect((): ParsedStatement | undefined => {
    while (stream.acceptSymbol(";"));
    if (stream.kind() === TOKEN.end) return undefined;
    stream.resetParameters();
    const start = stream.position;
    const statement = parseOne(stream);
    if (!stream.isAtEnd) throw stream.syntaxError();
    return {
      statement,
      start,
      end: stream.previousEnd,
      parameterCount: stream.parameterCount,
      pinnedLiterals: [],
    };
  });
  const pinnedLiterals = stream.pinnedLiterals();
  if (pinnedLiterals.length === 0) return [...statements];
  return statements.map((statement) => ({ ...statement, pinnedLiterals }));
}

/** Parses a text that holds exactly one statement; 42601 when it holds none or several. */
export function parseStatement(text: string, options: ParseOptions = {}): ParsedStatement {
  const [statement, second] = parseStatements(text, options);
  if (statement === undefined || second !== undefined) {
    const stream = new TokenStream(text, options);
    if (statement === undefined) {
      while (stream.acceptSymbol(";"));
      throw stream.syntaxError();
    }
    throw stream.error(
      "42601",
      "cannot insert multiple commands into a prepared statement",
      second?.start ?? 0,
    );
  }
  return statement;
}

/** Parses one expression and nothing else: a stored default, check or index expression. */
export function parseExpression(text: string, options: ParseOptions = {}): Expression {
  return parseWhole(text, options, readExpression);
}

/** Parses one type name and nothing else: the text of a `regtype` or of a stored type. */
export function parseTypeName(text: string, options: ParseOptions = {}): TypeName {
  return parseWhole(text, options, readTypeName);
}

function parseWhole<T>(text: string, options: ParseOptions, read: (stream: TokenStream) => T): T {
  const stream = new TokenStream(text, options);
  const result = read(stream);
  if (stream.kind() !== TOKEN.end) throw stream.syntaxError();
  return result;
}

function parseOne(stream: TokenStream): Statement {
  if (stream.isSymbol("(")) return parseDataStatement(stream);
  if (stream.kind() !== TOKEN.word) throw stream.syntaxError();
  const position = stream.position;
  const word = stream.value();
  switch (word) {
    case "select":
    case "values":
    case "table":
    case "with":
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return parseDataStatement(stream);
    case "create":
      return parseCreate(stream);
    case "alter":
      return parseAlter(stream);
    case "drop":
      return parseDrop(stream);
    case "truncate":
      return parseTruncate(stream);
    case "comment":
      return parseComment(stream);
    case "grant":
    case "revoke":
      return parseGrant(stream);
    case "reindex":
      return parseReindex(stream);
    case "refresh":
      return parseRefresh(stream);
    case "begin":
    case "start":
      return parseBegin(stream);
    case "commit":
    case "end":
    case "rollback":
    case "abort":
      return parseTransactionEnd(stream);
    case "savepoint":
    case "release":
      return parseSavepoint(stream);
    case "set":
      return parseSet(stream);
    case "reset":
      return parseReset(stream);
    case "show":
      return parseShow(stream);
    case "discard":
      return parseDiscard(stream);
    case "prepare":
      return parsePrepare(stream, parseDataStatement);
    case "execute":
      return parseExecute(stream);
    case "deallocate":
      return parseDeallocate(stream);
    case "declare":
      return parseDeclare(stream);
    case "fetch":
    case "move":
      return parseFetch(stream);
    case "close":
      return parseClose(stream);
    case "explain":
      return parseExplain(stream, parseExplained);
    case "describe":
      return parseDescribe(stream);
    case "copy":
      return parseCopy(stream);
    case "lock":
      return parseLock(stream);
    case "vacuum":
      return parseVacuum(stream);
    case "analyze":
    case "analyse":
      return parseAnalyze(stream);
    case "checkpoint":
      stream.advance();
      return { kind: "checkpoint", position };
    case "listen":
    case "notify":
    case "unlisten":
      return parseNotification(stream);
    case "do":
      return parseDo(stream);
    case "call":
      stream.advance();
      return { kind: "call_procedure", call: parseProcedureCall(stream), position };
  }
  if (UNSUPPORTED_STATEMENTS.includes(word)) return parseUnsupported(stream);
  throw stream.syntaxError();
}

/** What EXPLAIN may explain. */
function parseExplained(stream: TokenStream): Statement {
  const words = ["create", "declare", "execute"];
  return stream.isAnyWord(words) ? parseOne(stream) : parseDataStatement(stream);
}
