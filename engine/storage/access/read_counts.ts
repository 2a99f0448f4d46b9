/**
 * How often tables and indexes were read since the start, for the statistics views. In memory only: no answer, no
 * entry and no digest depends on them.
 */

/** What was read of one table without an index, or by one index. */
export interface ReadCount {
  /** Scans begun: one for each key that is looked up. */
  scans: number;
  /** Rows that they met: of whole blocks, or those that an index led to. */
  rows: number;
}

/** The counts of an engine. */
export class ReadCounts {
  readonly #counts = new Map<number, ReadCount>();
  /** Rows that were read of what was dropped. */
  #forgottenRows = 0;

  /** The count of a table (scans of all rows) or of an index, by its object identifier; to be counted in. */
  of(id: number): ReadCount {
    let count = this.#counts.get(id);
    if (count === undefined) this.#counts.set(id, count = { scans: 0, rows: 0 });
    return count;
  }

  /** Rows that all scans have met, those of what was dropped too. */
  get allRows(): number {
    let total = this.#forgottenRows;
    for (const { rows } of this.#counts.values()) total += rows;
    return total;
  }

  /** Forgets what was dropped. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) {
      this.#forgottenRows += this.#counts.get(id)?.rows ?? 0;
      this.#counts.delete(id);
    }
  }
}
