/**
 * The operations that clients ask for, and the parts of an answer: what the binary protocol, the WebSocket and `/v1/op`
 * have in common. How they look as bytes is `operation_codec.ts` and `reply_codec.ts`; how they are carried out is
 * `operation_runner.ts`.
 */
import type { StoredValue } from "../../../engine/types/stored_value.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import type { RowId } from "../../../engine/operations/effect.ts";
import type { Notice, StatementOutcome, TransactionStatus } from "../../../engine/statements/outcome.ts";

/** The version of the protocol that this program speaks. */
export const PROTOCOL_VERSION = 1;

/** A value on its way in. */
export type Parameter =
  /** Read as an input of whatever type its place has, as a quoted literal would be. */
  | { readonly form: "untyped"; readonly value: StoredValue }
  /** JSON text: a json or jsonb value, or an array. */
  | { readonly form: "structured"; readonly json: string }
  /** In the stored form of its type. */
  | { readonly form: "typed"; readonly type: SqlType; readonly value: StoredValue };

/** A table; without a schema it is looked for along the search path. */
export interface TableName {
  readonly schema: string | null;
  readonly name: string;
}

/** The comparisons of a {@link Condition}, in the order of their codes. */
export const CONDITION_OPERATORS = [
  "=",
  "<>",
  "<",
  "<=",
  ">",
  ">=",
  "like",
  "in",
  "between",
  "is null",
  "is not null",
] as const;

/** One of {@link CONDITION_OPERATORS}. */
export type ConditionOperator = typeof CONDITION_OPERATORS[number];

/** One comparison of a column; several are joined with AND. */
export interface Condition {
  readonly column: string;
  readonly operator: ConditionOperator;
  /** One value; two for `between`, any number for `in`, none for `is [not] null`. */
  readonly values: readonly Parameter[];
}

/** The aggregate functions of the operation `aggregate`, in the order of their codes. */
export const AGGREGATE_FUNCTIONS = ["count", "sum", "min", "max", "avg"] as const;

/** One aggregate; without a column it is `count(*)`. */
export interface Aggregate {
  readonly function: typeof AGGREGATE_FUNCTIONS[number];
  readonly column: string | null;
}

/** An end of a range. */
export interface RangeBound {
  readonly value: Parameter;
  readonly inclusive: boolean;
}

/** A change of one row. */
export type RowOperation =
  | {
    readonly kind: "create";
    readonly table: TableName;
    /** null: the table's own counter, or the key column among the values, gives the id. */
    readonly id: RowId | null;
    readonly columns: readonly string[];
    readonly values: readonly Parameter[];
  }
  | {
    readonly kind: "update";
    readonly table: TableName;
    readonly id: RowId;
    readonly columns: readonly string[];
    readonly values: readonly Parameter[];
  }
  | { readonly kind: "delete"; readonly table: TableName; readonly id: RowId };

/** A read; empty `columns` are all columns, a `limit` of 0 is none. */
export type ReadOperation =
  | {
    readonly kind: "get";
    readonly table: TableName;
    readonly id: RowId;
    readonly columns: readonly string[];
  }
  | {
    readonly kind: "find";
    readonly table: TableName;
    readonly columns: readonly string[];
    readonly keys: readonly string[];
    readonly values: readonly Parameter[];
  }
  | {
    readonly kind: "find_range";
    readonly table: TableName;
    readonly columns: readonly string[];
    readonly key: string;
    readonly low: RangeBound | null;
    readonly high: RangeBound | null;
    readonly limit: number;
  }
  | {
    readonly kind: "scan";
    readonly table: TableName;
    readonly columns: readonly string[];
    /** Begins behind this id. */
    readonly after: RowId | null;
    readonly limit: number;
  }
  | {
    readonly kind: "select";
    readonly table: TableName;
    readonly columns: readonly string[];
    readonly conditions: readonly Condition[];
    readonly order: readonly { readonly column: string; readonly descending: boolean }[];
    readonly limit: number;
    readonly offset: number;
  }
  | {
    readonly kind: "aggregate";
    readonly table: TableName;
    readonly aggregates: readonly Aggregate[];
    readonly groupBy: readonly string[];
    readonly conditions: readonly Condition[];
  };

/** What stands on its own: everything that has one reply. */
export type Operation =
  /** `parameters` null: the text may hold several statements, which are one transaction. */
  | { readonly kind: "sql"; readonly text: string; readonly parameters: readonly Parameter[] | null }
  | { readonly kind: "txn"; readonly operations: readonly RowOperation[] }
  | RowOperation
  | ReadOperation
  | { readonly kind: "describe"; readonly table: TableName }
  | { readonly kind: "list_tables" }
  | { readonly kind: "ddl"; readonly text: string }
  | { readonly kind: "stats" }
  /** Copies a consistent state to an empty directory of the server. */
  | { readonly kind: "snapshot"; readonly directory: string }
  | { readonly kind: "ping" };

/** What goes with a request that is running; none of these has a reply of its own. */
export type Continuation =
  | { readonly kind: "copy_data"; readonly bytes: Uint8Array }
  | { readonly kind: "copy_done" }
  | { readonly kind: "copy_fail"; readonly message: string }
  | { readonly kind: "cancel" };

/** Who asks, for exactly-once. */
export interface ClientSequence {
  /** 128 bits as 32 lower-case hexadecimal digits. */
  readonly clientId: string;
  /** An unsigned 64-bit number. */
  readonly sequence: bigint;
}

/** A message from a client. */
export interface Request {
  /** Chosen by the client; an unsigned 64-bit number that the parts of the answer carry. */
  readonly number: bigint;
  readonly client: ClientSequence | null;
  /** The op that the request is to see; absent: any. */
  readonly minOp?: number;
  readonly operation: Operation | Continuation;
}

/** A column of a result on the wire. */
export interface WireColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** What failed, with all that is known about it. */
export interface Failure {
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  /** Counted from 1 in code points. */
  readonly position?: number;
  /** Where in the data it happened. */
  readonly where?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly dataType?: string;
  readonly constraint?: string;
}

/** How one statement of a request ended. */
export interface WireOutcome {
  readonly tag: string;
  readonly kind: StatementOutcome["kind"];
  readonly rowCount: number | null;
  readonly insertedId: RowId | null;
  readonly notices: readonly Notice[];
}

/** A message from the server: part of the answer to the request of that number. */
export type Reply =
  & { readonly number: bigint }
  & (
    | { readonly kind: "columns"; readonly columns: readonly WireColumn[] }
    /** Rows of the columns announced last. */
    | { readonly kind: "rows"; readonly rows: readonly (readonly StoredValue[])[] }
    | { readonly kind: "outcome"; readonly outcome: WireOutcome }
    /** The request is answered; a state that has applied `op` has what it made and what it has seen. */
    | { readonly kind: "end"; readonly status: TransactionStatus; readonly op: number }
    /** The request failed; nothing of it has happened unless the code is 40003. */
    | { readonly kind: "error"; readonly status: TransactionStatus; readonly failure: Failure }
    | { readonly kind: "copy_in"; readonly binary: boolean; readonly columnCount: number }
    | { readonly kind: "copy_out"; readonly binary: boolean; readonly columnCount: number }
    | { readonly kind: "copy_data"; readonly bytes: Uint8Array }
    /** A setting that decides how values look as text has changed; number 0. */
    | { readonly kind: "setting"; readonly name: string; readonly value: string }
  );
