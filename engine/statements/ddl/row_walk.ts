/**
 * Walks over the rows of a table as a transaction sees it, a piece at a time. What the walk's owner writes meanwhile
 * does not come up: the walk goes over the state at its beginning, except for rows that the transaction had written
 * before, which are in memory; owners that write collect the ids first.
 */
import { gas } from "../../base/gas.ts";
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import type { Block, BlockCursor, RowLocation } from "../../storage/access/block.ts";
import type { ReadableTable, ZonePredicate } from "../../storage/access/readable_table.ts";

/** Rows walked over in one piece. */
const PIECE = 256;
/** Time after which a piece ends early: an expression of the statement's own may take long for a few rows. */
const PIECE_MICROSECONDS = 1_000;

/** See the file's head. */
export class RowWalk {
  readonly reader: ReadableTable;
  readonly #context: ExecutionContext;
  readonly #cursor: BlockCursor;
  #block: Block | null = null;
  #next = 0;

  constructor(
    context: ExecutionContext,
    tableId: number,
    columnIds: readonly number[] = [],
    prune: readonly ZonePredicate[] = [],
  ) {
    this.#context = context;
    this.reader = context.table(tableId);
    this.#cursor = this.reader.scan(columnIds, { ids: false, prune });
  }

  /**
   * Visits the rows of one piece, which ends early where expressions over them have taken many steps or long. true:
   * there are no more.
   */
  advance(visit: (location: RowLocation, block: Block, row: number) => void): boolean {
    if (this.#block === null) {
      this.#block = this.#cursor.next();
      this.#next = 0;
      if (this.#block === null) return true;
    }
    const block = this.#block;
    const { hidden, firstLocation, rowCount } = block;
    const due = this.#context.monotonic() + PIECE_MICROSECONDS;
    let end = Math.min(rowCount, this.#next + PIECE);
    for (let row = this.#next; row < end; row++) {
      if (hidden !== null && hidden[row] !== 0) continue;
      visit(firstLocation + row, block, row);
      if (gas.isTurnDue || this.#context.monotonic() >= due) end = row + 1;
    }
    this.#next = end;
    if (end === rowCount) this.#block = null;
    return false;
  }
}
