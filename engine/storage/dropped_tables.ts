/**
 * Tables that were dropped, as long as what they hold is needed: by statements with older snapshots, and by a
 * checkpoint that began before. Their files go with the manifests that name them.
 */
import type { OpNumber } from "../operations/effect.ts";
import type { TableStore } from "./table/table_store.ts";

interface DroppedTable {
  readonly op: OpNumber;
  readonly store: TableStore;
}

/** See the head of the file. */
export class DroppedTables {
  #tables: DroppedTable[] = [];

  /** How many there are. */
  get count(): number {
    return this.#tables.length;
  }

  /** Takes a table over that an op dropped. */
  add(store: TableStore, op: OpNumber): void {
    this.#tables.push({ op, store });
  }

  /** Closes those that were dropped up to an op. */
  closeUntil(op: number): void {
    if (this.#tables.length === 0) return;
    for (const table of this.#tables) if (table.op <= op) table.store.close();
    this.#tables = this.#tables.filter((table) => table.op > op);
  }
}
