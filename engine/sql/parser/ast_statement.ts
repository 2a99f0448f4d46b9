/**
 * Statements of the session (transactions, settings, prepared statements, cursors, COPY, EXPLAIN …) and the union of
 * all statements.
 *
 * Invariants: see ast.ts. A statement of PostgreSQL's that the product does not serve parses into {@link Unsupported},
 * so that the session can refuse it by name instead of reporting a syntax error.
 */

import type { Expression, FunctionCall, TypeName } from "./ast_expression.ts";
import type { DefinitionStatement, NamedOption } from "./ast_definition.ts";
import type { Delete, Insert, Merge, ObjectName, Query, Update } from "./ast_query.ts";

/** Any statement. */
export type Statement =
  | Query
  | Insert
  | Update
  | Delete
  | Merge
  | DefinitionStatement
  | BeginTransaction
  | CommitTransaction
  | RollbackTransaction
  | RollbackToSavepoint
  | Savepoint
  | ReleaseSavepoint
  | SetTransaction
  | SetConstraints
  | SetVariable
  | ResetVariable
  | ShowVariable
  | Discard
  | Prepare
  | Execute
  | Deallocate
  | DeclareCursor
  | FetchCursor
  | CloseCursor
  | Explain
  | Describe
  | Copy
  | LockTable
  | Vacuum
  | Analyze
  | Checkpoint
  | Listen
  | Notify
  | Unlisten
  | DoBlock
  | Call
  | Unsupported;

/** A statement with its place in the text. */
export interface ParsedStatement {
  readonly statement: Statement;
  /** UTF-16 offset of the first token. */
  readonly start: number;
  /** UTF-16 offset behind the last token, before the semicolon. */
  readonly end: number;
  /** The highest `$n` in the statement, 0 without parameters. */
  readonly parameterCount: number;
  /**
   * Indices of literals given to the parser that did not become {@link Literal} nodes (a type's modifier, a cursor's
   * count): a plan made from this tree holds only for texts with the same literals there.
   */
  readonly pinnedLiterals: readonly number[];
}

/** Modes of BEGIN and SET TRANSACTION; `null` is "not said". */
export interface TransactionModes {
  readonly isolation: "serializable" | "repeatable_read" | "read_committed" | "read_uncommitted" | null;
  readonly readOnly: boolean | null;
  readonly deferrable: boolean | null;
}

/** BEGIN, START TRANSACTION. */
export interface BeginTransaction {
  readonly kind: "begin";
  /** START TRANSACTION, which answers with another command tag. */
  readonly startTransaction: boolean;
  readonly modes: TransactionModes;
  readonly position: number;
}

/** COMMIT, END; `chain` is AND CHAIN. */
export interface CommitTransaction {
  readonly kind: "commit";
  readonly chain: boolean;
  readonly position: number;
}

/** ROLLBACK, ABORT. */
export interface RollbackTransaction {
  readonly kind: "rollback";
  readonly chain: boolean;
  readonly position: number;
}

/** ROLLBACK TO SAVEPOINT name. */
export interface RollbackToSavepoint {
  readonly kind: "rollback_to";
  readonly name: string;
  readonly position: number;
}

/** SAVEPOINT name. */
export interface Savepoint {
  readonly kind: "savepoint";
  readonly name: string;
  readonly position: number;
}

/** RELEASE SAVEPOINT name. */
export interface ReleaseSavepoint {
  readonly kind: "release";
  readonly name: string;
  readonly position: number;
}

/** SET TRANSACTION …, SET SESSION CHARACTERISTICS AS TRANSACTION … (`session`). */
export interface SetTransaction {
  readonly kind: "set_transaction";
  readonly session: boolean;
  readonly modes: TransactionModes;
  readonly position: number;
}

/** SET CONSTRAINTS; an empty list is ALL. */
export interface SetConstraints {
  readonly kind: "set_constraints";
  readonly names: readonly ObjectName[];
  readonly deferred: boolean;
  readonly position: number;
}

/** One value of SET; `type` tells `'on'` from `on`, and `INTERVAL '-08:00' HOUR TO MINUTE` from `'-08:00'`. */
export interface SettingValue {
  readonly text: string;
  readonly type: "identifier" | "string" | "number" | "interval";
}

/**
 * SET [SESSION | LOCAL] name = values. SET TIME ZONE is `timezone`, SET NAMES `client_encoding`, SET SCHEMA
 * `search_path`, SET ROLE `role`, SET SESSION AUTHORIZATION `session_authorization`, SET XML OPTION `xmloption`.
 */
export interface SetVariable {
  readonly kind: "set";
  readonly local: boolean;
  /** In lower case, with dots: `search_path`, `my.setting`. */
  readonly name: string;
  /** Empty: SET name TO DEFAULT. */
  readonly values: readonly SettingValue[];
  readonly position: number;
}

/** RESET name; `null` is ALL. */
export interface ResetVariable {
  readonly kind: "reset";
  readonly name: string | null;
  readonly position: number;
}

/** SHOW name; `null` is ALL. SHOW TIME ZONE and SHOW TRANSACTION ISOLATION LEVEL have the settings' names. */
export interface ShowVariable {
  readonly kind: "show";
  readonly name: string | null;
  readonly position: number;
}

/** DISCARD. */
export interface Discard {
  readonly kind: "discard";
  readonly target: "all" | "plans" | "sequences" | "temporary";
  readonly position: number;
}

/** PREPARE name (types) AS statement. */
export interface Prepare {
  readonly kind: "prepare";
  readonly name: string;
  readonly types: readonly TypeName[];
  readonly statement: Statement;
  /** The text of the inner statement. */
  readonly text: string;
  /** The highest `$n` of the inner statement. */
  readonly parameterCount: number;
  readonly position: number;
}

/** EXECUTE name (values). */
export interface Execute {
  readonly kind: "execute";
  readonly name: string;
  readonly arguments: readonly Expression[];
  readonly position: number;
}

/** DEALLOCATE name; `null` is ALL. */
export interface Deallocate {
  readonly kind: "deallocate";
  readonly name: string | null;
  readonly position: number;
}

/** DECLARE name CURSOR FOR query. */
export interface DeclareCursor {
  readonly kind: "declare_cursor";
  readonly name: string;
  readonly binary: boolean;
  /** SCROLL (true), NO SCROLL (false), or neither. */
  readonly scroll: boolean | null;
  readonly hold: boolean;
  readonly query: Query;
  /** The text of the query. */
  readonly text: string;
  readonly position: number;
}

/** Where FETCH and MOVE go. `all` and `backward_all` have count 0. */
export type FetchDirection =
  | "forward"
  | "backward"
  | "absolute"
  | "relative"
  | "first"
  | "last"
  | "all"
  | "backward_all";

/** FETCH or MOVE. NEXT is forward 1, PRIOR is backward 1. */
export interface FetchCursor {
  readonly kind: "fetch";
  readonly move: boolean;
  readonly direction: FetchDirection;
  readonly count: number;
  readonly name: string;
  readonly position: number;
}

/** CLOSE name; `null` is ALL. */
export interface CloseCursor {
  readonly kind: "close";
  readonly name: string | null;
  readonly position: number;
}

/** EXPLAIN; option names are lower case (`analyze`, `verbose`, `code`, `costs`, `format` …). */
export interface Explain {
  readonly kind: "explain";
  readonly options: readonly NamedOption[];
  readonly statement: Statement;
  readonly position: number;
}

/** DESCRIBE t. */
export interface Describe {
  readonly kind: "describe";
  readonly table: ObjectName;
  readonly position: number;
}

/** COPY; exactly one of `table` and `query` is set. */
export interface Copy {
  readonly kind: "copy";
  readonly table: ObjectName | null;
  readonly columns: readonly string[];
  readonly query: Query | Insert | Update | Delete | null;
  readonly direction: "from" | "to";
  /** The client's stream (STDIN, STDOUT), a server file, or a program. */
  readonly endpoint:
    | { readonly kind: "client" }
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "program"; readonly command: string };
  readonly options: CopyOptions;
  readonly where: Expression | null;
  readonly position: number;
}

/** Options of COPY, of both syntaxes; `null` is "not said". */
export interface CopyOptions {
  readonly format: string | null;
  readonly freeze: boolean | null;
  readonly delimiter: string | null;
  readonly null: string | null;
  readonly default: string | null;
  /** `match` is HEADER MATCH. */
  readonly header: boolean | "match" | null;
  readonly quote: string | null;
  readonly escape: string | null;
  /** `all` is `*`. */
  readonly forceQuote: readonly string[] | "all" | null;
  readonly forceNotNull: readonly string[] | "all" | null;
  readonly forceNull: readonly string[] | "all" | null;
  readonly encoding: string | null;
  /** `stop` or `ignore`. */
  readonly onError: string | null;
  /** Options with names that are not known here, to be refused by name. */
  readonly unknown: readonly NamedOption[];
}

/** LOCK TABLE. */
export interface LockTable {
  readonly kind: "lock";
  readonly tables: readonly ObjectName[];
  /** `access_share` … `access_exclusive` (the default). */
  readonly mode: string;
  readonly nowait: boolean;
  readonly position: number;
}

/** A table that VACUUM or ANALYZE names. */
export interface MaintainedTable {
  readonly table: ObjectName;
  /** Empty: all columns. */
  readonly columns: readonly string[];
}

/** VACUUM. */
export interface Vacuum {
  readonly kind: "vacuum";
  readonly options: readonly NamedOption[];
  /** Empty: all tables. */
  readonly tables: readonly MaintainedTable[];
  readonly position: number;
}

/** ANALYZE. */
export interface Analyze {
  readonly kind: "analyze";
  readonly options: readonly NamedOption[];
  /** Empty: all tables. */
  readonly tables: readonly MaintainedTable[];
  readonly position: number;
}

/** CHECKPOINT. */
export interface Checkpoint {
  readonly kind: "checkpoint";
  readonly position: number;
}

/** LISTEN. */
export interface Listen {
  readonly kind: "listen";
  readonly channel: string;
  readonly position: number;
}

/** NOTIFY. */
export interface Notify {
  readonly kind: "notify";
  readonly channel: string;
  readonly payload: string | null;
  readonly position: number;
}

/** UNLISTEN; `null` is `*`. */
export interface Unlisten {
  readonly kind: "unlisten";
  readonly channel: string | null;
  readonly position: number;
}

/** DO [LANGUAGE l] 'code'. */
export interface DoBlock {
  readonly kind: "do";
  readonly language: string;
  readonly code: string;
  readonly position: number;
}

/** CALL procedure(arguments). */
export interface Call {
  readonly kind: "call_procedure";
  readonly call: FunctionCall;
  readonly position: number;
}

/** A statement that PostgreSQL has and this product refuses with 0A000. */
export interface Unsupported {
  readonly kind: "unsupported";
  /** What is refused, in capitals: `CREATE POLICY`. */
  readonly feature: string;
  readonly position: number;
}
