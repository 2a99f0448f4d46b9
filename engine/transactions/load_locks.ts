/**
 * Locks on the ids and unique keys of rows that are loaded in batches: one for all ids that a statement brings to a
 * table, and one for all keys that its transaction brings to an index. Who wants to write one of them waits until the
 * loading transaction has ended.
 */
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { RowBatch, StoredValue } from "../operations/effect.ts";
import type { BatchKeys } from "./batch_keys.ts";
import type { LockedSet, LockOwner, LockTable } from "./lock_table.ts";
import type { TableWriteSet } from "./write_set.ts";

/** Ascending ids; `ids` null: all from the first to the last one. */
interface Stretch {
  readonly first: number;
  last: number;
  readonly ids: Float64Array | null;
}

/** The ids of batches: consecutive ones take no memory. */
export class LoadedIds implements LockedSet {
  readonly #stretches: Stretch[] = [];

  has(id: number | readonly StoredValue[]): boolean {
    return typeof id === "number" &&
      this.#stretches.some(({ first, last, ids }) =>
        id >= first && id <= last && (ids === null ? Number.isInteger(id) : includes(ids, id))
      );
  }

  /** Adds the ids of a batch, which stay as they are. */
  add(ids: Float64Array): void {
    if (ids.length === 0) return;
    let isAscending = true, isConsecutive = true;
    for (let at = 1; at < ids.length; at++) {
      const id = ids[at] as number, before = ids[at - 1] as number;
      if (id !== before + 1) isConsecutive = false;
      if (id <= before) isAscending = false;
    }
    const sorted = isAscending ? ids : ids.slice().sort();
    const first = sorted[0] as number, last = sorted[sorted.length - 1] as number;
    const newest = this.#stretches.at(-1);
    if (isConsecutive && newest?.ids === null && newest.last + 1 === first) newest.last = last;
    else this.#stretches.push({ first, last, ids: isConsecutive ? null : sorted });
  }
}

function includes(sorted: Float64Array, id: number): boolean {
  let low = 0, high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < id) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === id;
}

/** See the head of the file. */
export class LoadLocks {
  readonly #locks: LockTable;
  readonly #owner: LockOwner & { readonly interruptible: boolean };
  /** By table, and what the keys of an index are in. */
  readonly #ids = new Map<number, LoadedIds>();
  readonly #keys = new Set<BatchKeys>();
  readonly #taken: { readonly space: number; readonly key: string }[] = [];

  constructor(locks: LockTable, owner: LockOwner & { readonly interruptible: boolean }) {
    this.#locks = locks;
    this.#owner = owner;
  }

  /** Locks that come may be given up apart from those that were taken so far. */
  end(): void {
    this.#ids.clear();
    this.#keys.clear();
    this.#taken.length = 0;
  }

  /** What was loaded since is taken back: who has a part of it locked may want another part. */
  giveUp(): void {
    for (const { space, key } of this.#taken) this.#locks.giveUp(space, key, this.#owner);
    this.end();
  }

  #lock(space: number, set: LockedSet): void {
    this.#taken.push({ space, key: this.#locks.lockSet(space, set, this.#owner) });
  }

  /** Locks the ids of a batch, which nobody else has locked. */
  lockIds({ id: tableId, rowIdColumn }: TableDefinition, { ids }: RowBatch): void {
    if (rowIdColumn === null || !this.#owner.interruptible) return;
    let known = this.#ids.get(tableId);
    if (known === undefined) {
      this.#ids.set(tableId, known = new LoadedIds());
      this.#lock(tableId, known);
    }
    known.add(ids);
  }

  /** Locks keys of batches, those included that are added later. Nobody else has locked one of them. */
  lockKeys(index: IndexDefinition, keys: BatchKeys): void {
    if (!this.#owner.interruptible || this.#keys.has(keys)) return;
    this.#keys.add(keys);
    this.#lock(index.id, keys);
  }

  /** Locks everything that was loaded while nobody else could run. */
  lockLoaded(writeSet: TableWriteSet): void {
    const { batches, replacing, definition } = writeSet;
    const loaded = batches.filter((batch) => !replacing.has(batch));
    if (loaded.length === 0) return;
    for (const batch of loaded) this.lockIds(definition, batch);
    for (const index of definition.indexes) {
      if (index.unique) this.lockKeys(index, writeSet.batchKeys(index));
    }
  }
}
