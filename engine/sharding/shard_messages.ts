/** What a router and its shards say to each other. Several messages of one turn travel together, and stay in order. */
import { DatabaseError, type ErrorFields, type SqlState } from "../base/errors.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { IndexBounds, ZonePredicate } from "../storage/access/readable_table.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";

/** Which rows of a table are wanted. */
export type Wanted =
  | { readonly kind: "id"; readonly id: RowId }
  | { readonly kind: "id_range"; readonly bounds: IndexBounds }
  | { readonly kind: "lookup"; readonly indexId: number; readonly key: readonly StoredValue[] }
  | { readonly kind: "range"; readonly indexId: number; readonly bounds: IndexBounds }
  | { readonly kind: "scan"; readonly prune: readonly ZonePredicate[] }
  /** How many there are. */
  | { readonly kind: "count" };

/** Rows on their way to the router. */
export type FetchedRows =
  | { readonly kind: "rows"; readonly ids: readonly RowId[]; readonly rows: readonly StoredRow[] }
  | { readonly kind: "batch"; readonly batch: RowBatch }
  | { readonly kind: "count"; readonly count: number };

/** What a transaction wants to commit at a shard. */
export interface BranchCommit {
  /** null: the transaction has read nothing there. */
  readonly branch: number | null;
  readonly timestamp: number;
  readonly reads: readonly ReadPredicate[];
  /** See `encodeEffects`; null: nothing is written there. */
  readonly effects: Uint8Array | null;
}

/**
 * A message to a shard. Those with a `call` are answered. Requests that commit are worked through one after the other;
 * while one of them is prepared and not decided, the others wait.
 */
export type ShardRequest =
  /** From now on the branch reads at the newest state. */
  | { readonly kind: "begin"; readonly branch: number; readonly timestamp: number }
  | { readonly kind: "end"; readonly branch: number }
  /** Answered by `FetchedRows`, in parts. */
  | {
    readonly kind: "fetch";
    readonly call: number;
    readonly branch: number;
    readonly tableId: number;
    readonly wanted: Wanted;
  }
  /** Nobody waits for the fetch any more. */
  | { readonly kind: "stop"; readonly call: number }
  /** Moves a branch to the newest state; answered by whether what it has read has stayed as it was. */
  | {
    readonly kind: "advance";
    readonly call: number;
    readonly branch: number;
    readonly reads: readonly ReadPredicate[];
  }
  | { readonly kind: "commit"; readonly call: number; readonly commit: BranchCommit }
  /** Answered when it is certain that the commit can be carried out; then waits for `decide`, which names the call. */
  | { readonly kind: "prepare"; readonly call: number; readonly commit: BranchCommit }
  /** `epoch` 0: what was prepared is given up. Answered when it is durable. */
  | { readonly kind: "decide"; readonly call: number; readonly prepared: number; readonly epoch: number }
  /** What was decided before a crash; a shard that has done it does nothing. */
  | {
    readonly kind: "redo";
    readonly call: number;
    readonly epoch: number;
    readonly timestamp: number;
    readonly effects: Uint8Array;
  }
  /** Answered by a {@link ShardReport}. */
  | { readonly kind: "report"; readonly call: number }
  | { readonly kind: "checkpoint"; readonly call: number }
  | { readonly kind: "close"; readonly call: number };

/** What a shard says of itself. */
export interface ShardReport {
  /** The newest transaction over several shards that it has applied, by its op in the router's log. */
  readonly epoch: number;
  readonly op: number;
  readonly bytes: number;
  readonly rows: readonly (readonly [tableId: number, count: number])[];
  /** The highest row id of each table. */
  readonly rowIds: readonly (readonly [tableId: number, id: RowId])[];
}

/** An answer to a call; `isLast` false: further ones come. */
export interface ShardReply {
  readonly call: number;
  readonly isLast: boolean;
  /** Of a commit: the op of its entry. */
  readonly value: FetchedRows | ShardReport | boolean | number | null;
  readonly error: RemoteError | null;
}

/** A shard cannot go on. */
export interface ShardFailure {
  readonly failure: RemoteError;
}

/** An error on its way. */
export interface RemoteError {
  readonly code: SqlState;
  readonly message: string;
  readonly fields: ErrorFields;
}

/** The error as what can travel. */
export function toRemote(error: unknown): RemoteError {
  if (error instanceof DatabaseError) {
    const { code, message, detail, hint } = error;
    return {
      code,
      message,
      fields: { ...(detail === undefined ? {} : { detail }), ...(hint === undefined ? {} : { hint }) },
    };
  }
  const text = error instanceof Error ? error.stack ?? error.message : String(error);
  return { code: "XX000", message: `a shard failed: ${text}`, fields: {} };
}

/** The error that travelled. */
export function fromRemote({ code, message, fields }: RemoteError): DatabaseError {
  return new DatabaseError(code, message, fields);
}
