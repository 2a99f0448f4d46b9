/** What a router and its shards say to each other. Several messages of one turn travel together, and stay in order. */
import { DatabaseError, type ErrorFields, type SqlState } from "../base/errors.ts";
import type { GatheredBatch } from "../execution/runtime/execution.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { PeerMessage } from "./exchange_ends.ts";
import type { Points } from "./points.ts";
import type { Manifest } from "../storage/manifest.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import type { IndexBounds, ZonePredicate } from "../storage/access/readable_table.ts";
import type { IsolationLevel } from "../transactions/isolation_level.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";

/** Which rows of a table are wanted. */
export type Wanted = Points | BulkWanted;

/** The same of many rows. */
export type BulkWanted =
  | { readonly kind: "id_range"; readonly bounds: IndexBounds }
  | { readonly kind: "range"; readonly indexId: number; readonly bounds: IndexBounds }
  | { readonly kind: "scan"; readonly prune: readonly ZonePredicate[] }
  /** How many there are. */
  | { readonly kind: "count" };

/** Rows on their way to the router. */
export type FetchedRows =
  | { readonly kind: "rows"; readonly ids: readonly RowId[]; readonly rows: readonly StoredRow[] }
  | { readonly kind: "batch"; readonly batch: RowBatch }
  | { readonly kind: "count"; readonly count: number };

/** What a fragment may know of the session. */
export type SessionFacts = Omit<EvaluationContext, "random" | "randomBytes" | "clockTimestamp" | "services">;

/** Rows of a fragment, and what it has read for them since those before, if that is wanted. */
export interface FragmentRows extends GatheredBatch {
  readonly reads: readonly ReadPredicate[];
}

/** What a transaction wants to commit at a shard. */
export interface BranchCommit {
  /** null: the transaction has read nothing there. */
  readonly branch: number | null;
  readonly timestamp: number;
  readonly level: IsolationLevel;
  readonly reads: readonly ReadPredicate[];
  /** See `encodeEffects`; null: nothing is written there. */
  readonly effects: Uint8Array | null;
}

/** Of a fragment with exchanges: which run it is, and how. */
export interface ExchangeRun {
  /** Higher than all before. */
  readonly run: number;
  /** How many shards there are, and which one this is. */
  readonly count: number;
  readonly place: number;
  /** Rows come in so many passes. */
  readonly passes: number;
}

/** A message to a shard. Those with a `call` are answered. */
export type ShardRequest =
  /** From now on the branch reads at the newest state. */
  | { readonly kind: "begin"; readonly branch: number; readonly timestamp: number }
  | { readonly kind: "end"; readonly branch: number }
  /** Answered by `FetchedRows`, in parts; a single row by its id comes with the end. */
  | {
    readonly kind: "fetch";
    readonly call: number;
    /** See `StopFlags`. */
    readonly stop: number;
    /** null: at the newest state, of which a single row is wanted. */
    readonly branch: number | null;
    readonly tableId: number;
    readonly wanted: Wanted;
  }
  /**
   * Runs a fragment; `text` is there when the shard has not got it yet. Answered by {@link FragmentRows}.
   */
  | {
    readonly kind: "run";
    readonly call: number;
    /** See `StopFlags`. */
    readonly stop: number;
    /** null: at the newest state. */
    readonly branch: number | null;
    readonly fragment: number;
    readonly text: string | null;
    readonly parameters: readonly StoredValue[];
    /** null: the fragment does not ask. */
    readonly session: SessionFacts | null;
    readonly notesReads: boolean;
    readonly memoryLimitBytes: number;
    /** How many batches may be sent before the first of them is read; null: all. */
    readonly credits: number | null;
    /** null: the fragment has no exchanges. */
    readonly exchange: ExchangeRun | null;
  }
  /** A batch of the fragment's rows has been read. */
  | { readonly kind: "credit"; readonly call: number }
  /** What another shard says. */
  | { readonly kind: "peer"; readonly message: PeerMessage }
  /** Nobody waits for it any more: for what sleeps, and does not look at its flag. */
  | { readonly kind: "stop"; readonly call: number }
  /** Moves a branch to the newest state; answered by whether what it has read has stayed as it was. */
  | {
    readonly kind: "advance";
    readonly call: number;
    readonly branch: number;
    readonly reads: readonly ReadPredicate[];
  }
  /** Answered when nothing can come in the way of the commit any more; `apply` or `give_up` names the call. */
  | { readonly kind: "agree"; readonly call: number; readonly commit: BranchCommit }
  /** The same where the router knows that nothing can: it is not answered. `apply` or `give_up` names the number. */
  | { readonly kind: "keep"; readonly number: number; readonly commit: BranchCommit }
  | { readonly kind: "give_up"; readonly agreed: number }
  /** What an entry of the log has for the shard; `effects` null: what it has agreed to. */
  | {
    readonly kind: "apply";
    readonly op: number;
    readonly timestamp: number;
    readonly agreed: number | null;
    readonly effects: Uint8Array | null;
  }
  /** A checkpoint begins behind the op. */
  | { readonly kind: "checkpoint"; readonly op: number }
  /** Answered by its manifest when all its files are durable. */
  | { readonly kind: "built"; readonly call: number; readonly op: number }
  /** The checkpoint exists. */
  | { readonly kind: "installed"; readonly op: number }
  /** Damaged files are whole again. */
  | { readonly kind: "repaired" }
  /** Answered by a {@link ColumnReport} for each column of which something is known. */
  | { readonly kind: "columns"; readonly call: number; readonly tableId: number }
  /** Answered by a {@link ShardReport}. */
  | { readonly kind: "report"; readonly call: number }
  | { readonly kind: "close"; readonly call: number };

/** What a shard says of itself. */
export interface ShardReport {
  /** The newest entry of the log that it has applied, and how many of them since it was opened. */
  readonly op: number;
  readonly entries: number;
  /** Chains all that it has applied. */
  readonly digest: string;
  readonly tables: readonly { readonly id: number; readonly rows: number; readonly bytes: number }[];
}

/** What a shard knows of one column. */
export interface ColumnReport {
  readonly columnId: number;
  readonly rows: number;
  readonly distinct: number;
  readonly nullFraction: number;
  readonly minimum: StoredValue;
  readonly maximum: StoredValue;
  readonly averageBytes: number;
  /** Of the distinct values that are in files. */
  readonly registers: Uint8Array | null;
}

/** An answer to a call; `isLast` false: further ones come. */
export interface ShardReply {
  readonly call: number;
  readonly isLast: boolean;
  readonly value:
    | FetchedRows
    | FragmentRows
    | ShardReport
    | readonly ColumnReport[]
    | Manifest
    | boolean
    | null;
  readonly error: RemoteError | null;
}

/** A shard cannot go on. */
export interface ShardFailure {
  readonly failure: RemoteError;
}

/** A shard has something to say to another, for which there is no shorter way. */
export interface ToPeer {
  readonly to: number;
  readonly message: PeerMessage;
}

/** A shard has found damage in a file of its checkpoint. */
export interface ShardDamage {
  readonly damage: HashedFile;
}

/** What a shard says. */
export type FromShard = ShardReply | ShardFailure | ShardDamage | ToPeer;

/** An error on its way. */
export interface RemoteError {
  /** It is a damaged file: this one. */
  readonly path?: string;
  readonly code: SqlState;
  readonly message: string;
  readonly fields: ErrorFields;
}

/** The error as what can travel. */
export function toRemote(error: unknown): RemoteError {
  if (error instanceof DatabaseError) {
    const { code, message } = error;
    // What the text was that it is a position in, the other end cannot know.
    const { cause: _, position: __, ...fields } = error.fields();
    return { ...(error instanceof DamagedFileError ? { path: error.path } : {}), code, message, fields };
  }
  const text = error instanceof Error ? error.stack ?? error.message : String(error);
  return { code: "XX000", message: `a shard failed: ${text}`, fields: {} };
}

/** The error that travelled. */
export function fromRemote({ path, code, message, fields }: RemoteError): DatabaseError {
  if (path !== undefined) return new DamagedFileError(path, message);
  return new DatabaseError(code, message, fields);
}
