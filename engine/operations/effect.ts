/**
 * What the log records: entries made of row-level effects.
 *
 * Effects carry the outcome of a statement, never its text: constraints, defaults, cascades and triggers have run
 * before an effect exists, so applying one is total and the same on every replica. Values are in their stored form
 * (see {@link StoredValue}), which knows storage classes but not SQL types.
 */
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { StoredValue } from "../types/stored_value.ts";

declare const opNumberBrand: unique symbol;
/** Position of an entry in the log, counted from 1; also the version number of everything the entry wrote. */
export type OpNumber = number & { readonly [opNumberBrand]: true };

/** Brands a non-negative safe integer as an op number; 0 is "before the first entry". */
export function opNumber(value: number): OpNumber {
  return value as OpNumber;
}

/** Identifies a row within its table: -2^63 to 2^63-1, a number when it is a safe integer, else a bigint. */
export type RowId = number | bigint;

export type { StoredValue };

/** A row in stored form, in the order of the table's columns at the time of the entry. */
export type StoredRow = readonly StoredValue[];

/** A column of a bulk load. Rows are numbered 0 … rowCount-1; `nulls[row] = 1` means NULL; null: there are none. */
export type BatchColumn =
  | {
    readonly storageClass: "int";
    readonly data: Float64Array;
    readonly nulls: Uint8Array | null;
    readonly big: ReadonlyMap<number, bigint> | null;
  }
  | { readonly storageClass: "float"; readonly data: Float64Array; readonly nulls: Uint8Array | null }
  /** `text` as UTF-8. Row r is `bytes[offsets[r] … offsets[r + 1])`. */
  | {
    readonly storageClass: "text" | "bytes";
    readonly offsets: Uint32Array;
    readonly bytes: Uint8Array;
    readonly nulls: Uint8Array | null;
  };

/**
 * Many new rows of one table, by column. For `int`, a value outside the safe integers is NaN in `data` and in `big`.
 */
export interface RowBatch {
  readonly rowCount: number;
  /** Row ids, safe integers only. */
  readonly ids: Float64Array;
  /** In the order of the table's columns. */
  readonly columns: readonly BatchColumn[];
}

/** One change of state; `columns` positions are those of the table's live columns when the entry was formed. */
export type Effect =
  | { readonly kind: "create"; readonly tableId: number; readonly id: RowId; readonly values: StoredRow }
  | { readonly kind: "update"; readonly tableId: number; readonly id: RowId; readonly values: StoredRow }
  | { readonly kind: "delete"; readonly tableId: number; readonly id: RowId }
  | { readonly kind: "create_batch"; readonly tableId: number; readonly batch: RowBatch }
  /** Gives the rows of the batch's ids, which there are, new values; as the next one of version 3 of the cluster on. */
  | { readonly kind: "update_batch"; readonly tableId: number; readonly batch: RowBatch }
  /** Deletes rows whose ids are safe integers. */
  | { readonly kind: "delete_batch"; readonly tableId: number; readonly ids: Float64Array }
  | { readonly kind: "truncate"; readonly tableId: number }
  | { readonly kind: "ddl"; readonly change: CatalogChange }
  | {
    readonly kind: "sequence";
    /** A table's id: the counter of its row ids. */
    readonly sequenceId: number;
    readonly value: number | bigint;
    readonly called: boolean;
  }
  /** A checkpoint begins when the entry has been applied; only the log of a replication group has it. */
  | { readonly kind: "checkpoint" }
  /** What shards are to apply of the transaction; only the log of a router has it. */
  | { readonly kind: "slices"; readonly slices: readonly Slice[] }
  /**
   * Effects of a transaction whose entry is still to come, encoded, behind so many rows of the stage; at 0 a new stage
   * begins. From version 4 of the cluster on, as the next two.
   */
  | { readonly kind: "stage"; readonly at: number; readonly bytes: Uint8Array }
  /** The effects that the stage has, in so many bytes, are those of this entry, in this place; the stage is gone. */
  | { readonly kind: "staged"; readonly byteCount: number }
  /** The stage, if there is one, is gone: the entry of its transaction will not come. */
  | { readonly kind: "unstage" };

/** One shard's part of a transaction. */
export interface Slice {
  readonly shard: number;
  /** The effects: see `encodeEffects`. */
  readonly effects: Uint8Array;
}

/**
 * The effects of an entry that are too many to be in memory at once: the same ones, in the same order, each time.
 */
export interface EffectSource {
  readonly count: number;
  /** Roughly the bytes of their encoding. */
  readonly estimatedBytes: number;
  /** An effect is good until the next one is asked for. */
  each(): Iterable<Effect>;
}

/** Who asked, for exactly-once: a repeated (client, sequence) is answered with the stored reply. */
export interface ClientRequest {
  /** 128 bits as 32 lower-case hexadecimal digits. */
  readonly clientId: string;
  /** An unsigned 64-bit number. */
  readonly sequence: bigint;
  /** Digest of the request's text, to refuse another request under the same number. */
  readonly requestDigest: Uint8Array;
  /** The reply as it was sent (a failure's too), opaque to the engine. */
  readonly reply: Uint8Array;
}

/** One entry of the log: a committed transaction, or a client's failed request that must not run twice. */
export interface Entry {
  readonly op: OpNumber;
  /** Microseconds since 2000-01-01 UTC, the transaction's timestamp, chosen once by the node that orders the log. */
  readonly timestamp: number;
  readonly client: ClientRequest | null;
  readonly effects: readonly Effect[];
}
