/** Tables that got indexes which their segments do not have yet, and building these in slices. */
import { LIMITS } from "../base/limits.ts";
import type { TableStore } from "./table/table_store.ts";

/** See the head of the file. */
export class IndexBuilds {
  readonly #tables = new Set<TableStore>();

  get hasWork(): boolean {
    return this.#tables.size > 0;
  }

  /** Takes the table up if its segments lack an index. */
  note(store: TableStore): void {
    if (store.hasIndexWork) this.#tables.add(store);
  }

  /** The table is gone. */
  forget(store: TableStore): void {
    this.#tables.delete(store);
  }

  /**
   * Builds until it `isOver`, a bounded step at a time. `failed` hears of an error, and answers whether the table is to
   * be tried again, later; otherwise its indexes are left to the next checkpoint, or their first use.
   */
  work(isOver: () => boolean, failed: (error: unknown) => boolean): void {
    for (const store of this.#tables) {
      try {
        while (!store.indexStep(LIMITS.checkpointStepValues)) if (isOver()) return;
      } catch (error) {
        if (failed(error)) return;
      }
      this.#tables.delete(store);
    }
  }
}
