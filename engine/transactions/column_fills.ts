/**
 * Which tables got columns and, in the same entry, values in them, or a key by which older rows are not found: what
 * reads an older state does not know these.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { OpNumber } from "../operations/effect.ts";

/** A catalog, as of an entry. */
export interface FilledState {
  readonly catalog: Catalog;
  readonly lastOp: OpNumber;
  store(tableId: number): { readonly lastModifiedOp: number };
}

/** See the head of the file. */
export class ColumnFills {
  /** By table: columns that got values, or null: one became the row id; as long as there are older snapshots. */
  readonly #fills = new Map<number, { readonly op: OpNumber; readonly columnId: number | null }[]>();
  /** The newest entry that has filled a column. */
  lastOp = 0;

  /** Notes what the newest entry has done to the catalog from before it. */
  note(state: FilledState, before: Catalog, oldestSnapshot: () => number): void {
    const { catalog, lastOp } = state;
    for (const { id, columns, rowIdColumn } of catalog.tables) {
      const known = before.table(id);
      if (known !== undefined && rowIdColumn !== null && known.rowIdColumn !== rowIdColumn) {
        this.#add(id, null, lastOp, oldestSnapshot());
      }
      const isEmpty = columns.some((each) =>
        each.id >= (known?.nextColumnId ?? Infinity) && each.missingValue === null
      );
      if (known === undefined || !isEmpty) continue;
      if (state.store(id).lastModifiedOp !== lastOp) continue;
      this.#add(id, known.nextColumnId, lastOp, oldestSnapshot());
    }
  }

  #add(tableId: number, columnId: number | null, op: OpNumber, oldest: number): void {
    this.lastOp = op;
    const fills = (this.#fills.get(tableId) ?? []).filter((each) => each.op > oldest);
    this.#fills.set(tableId, [...fills, { op, columnId }]);
  }

  /** Whether a column, or key, that a statement of this catalog knows was filled after the snapshot. */
  isFilledSince(tableId: number, snapshot: OpNumber, compiled: Catalog | null): boolean {
    const known = compiled?.table(tableId);
    return this.#fills.get(tableId)?.some(({ op, columnId }) =>
      op > snapshot &&
      (columnId === null ? known?.rowIdColumn !== null : columnId < (known?.nextColumnId ?? Infinity))
    ) === true;
  }
}
