/**
 * The stage of a state: effects of a transaction that is too large for one entry, as the entries before its own have
 * brought them. `catalog/stage_table.ts` says where they are.
 *
 * Nothing of it is read but by {@link Stage.effects}, so what is in it changes no answer. There is one at most; a new
 * one takes the place of another whose entry did not come.
 */
import { assert } from "../base/assert.ts";
import { STAGE_COLUMN_ID, STAGE_ROW_BYTES, STAGE_TABLE } from "../catalog/stage_table.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { Effect, OpNumber, RowBatch } from "../operations/effect.ts";
import { decodeEach } from "../operations/entry_codec.ts";
import type { StorageEngine } from "../storage/storage_engine.ts";
import type { StorageLog } from "../storage/storage_parts.ts";

const { id: TABLE_ID } = STAGE_TABLE;

/** See the head of the file. */
export class Stage {
  readonly #storage: StorageEngine<StorageLog>;

  constructor(storage: StorageEngine<StorageLog>) {
    this.#storage = storage;
  }

  /** Whether there is one. */
  get exists(): boolean {
    return this.#storage.hasTable(TABLE_ID);
  }

  /** Adds bytes behind so many rows. */
  add({ at, bytes }: Extract<Effect, { kind: "stage" }>, op: OpNumber): void {
    if (at === 0) {
      this.drop(op);
      this.#storage.createTable(STAGE_TABLE, op);
    }
    const store = this.#storage.table(TABLE_ID);
    assert(store.rowCount === at, `the stage has ${store.rowCount} rows, and ${at} were counted`);
    store.createBatch(op, rowsOf(bytes, at));
  }

  /** The effects in it, read from it as they are asked for. Raises XX001 when they are none. */
  effects(byteCount: number, lastOp: OpNumber): Iterable<Effect> {
    const store = this.#storage.table(TABLE_ID);
    const rows = Math.ceil(byteCount / STAGE_ROW_BYTES);
    assert(store.rowCount === rows, `the stage has ${store.rowCount} rows, and ${rows} are wanted`);
    const readInto = (offset: number, target: Uint8Array): void => {
      for (let at = 0; at < target.length;) {
        const id = (offset + at) / STAGE_ROW_BYTES + 1;
        // Each anew: a checkpoint may put a segment in the place of another between two steps.
        const location = store.find(id, lastOp);
        const bytes = location === NO_ROW ? null : store.valueAt(location, STAGE_COLUMN_ID);
        const length = Math.min(STAGE_ROW_BYTES, byteCount - offset - at);
        const isWhole = bytes instanceof Uint8Array && bytes.length === length;
        assert(isWhole, `row ${id} of the stage does not have ${length} bytes`);
        target.set(bytes, at);
        at += length;
      }
    };
    return decodeEach({ length: byteCount, readInto });
  }

  /** It is gone, if there is one. */
  drop(op: OpNumber): void {
    if (this.exists) this.#storage.dropTable(TABLE_ID, op);
  }
}

function rowsOf(bytes: Uint8Array, at: number): RowBatch {
  const rowCount = Math.ceil(bytes.length / STAGE_ROW_BYTES);
  const offsets = Uint32Array.from(
    { length: rowCount + 1 },
    (_, row) => Math.min(row * STAGE_ROW_BYTES, bytes.length),
  );
  return {
    rowCount,
    ids: Float64Array.from({ length: rowCount }, (_, row) => at + row + 1),
    columns: [{ storageClass: "bytes", offsets, bytes, nulls: null }],
  };
}
