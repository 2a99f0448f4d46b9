/**
 * Walks over the rows of a table as a transaction sees it, a piece at a time. What the walk's owner writes meanwhile
 * does not come up: the walk goes over the state at its beginning, except for rows that the transaction had written
 * before, which are in memory; owners that write collect the ids first.
 */
import { gas } from "../../base/gas.ts";
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import type { Block, BlockCursor, RowLocation } from "../../storage/access/block.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";

/** Rows walked over in one piece. */
const PIECE = 256;
/** Time after which a piece ends early: an expression of the statement's own may take long for a few rows. */
const PIECE_MICROSECONDS = 1_000;
/** The clock is asked after so many rows at the most, for it takes as long as a quick row does. */
const UNTIMED_ROWS = 64;
/** Rows that took less are quick: the clock is asked after twice as many. */
const QUICK_MICROSECONDS = 50;

/** See the file's head. */
export class RowWalk {
  readonly reader: ReadableTable;
  readonly #context: ExecutionContext;
  readonly #cursor: BlockCursor;
  #block: Block | null = null;
  #next = 0;
  /** Rows after which the clock is asked. */
  #untimed = 1;

  constructor(context: ExecutionContext, tableId: number, columnIds: readonly number[] = [], ids = false) {
    this.#context = context;
    this.reader = context.table(tableId);
    this.#cursor = this.reader.scan(columnIds, { ids, prune: [] });
  }

  /** Visits the rows of a whole block, for what takes a few nanoseconds a row. true: there are no more. */
  advanceBlock(visit: (block: Block) => void): boolean {
    const block = this.#cursor.next();
    if (block !== null) visit(block);
    return block === null;
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
    let asked = this.#context.monotonic();
    const due = asked + PIECE_MICROSECONDS;
    let end = Math.min(rowCount, this.#next + PIECE);
    let untimed = this.#untimed;
    for (let row = this.#next; row < end; row++) {
      if (hidden !== null && hidden[row] !== 0) continue;
      visit(firstLocation + row, block, row);
      if (gas.isTurnDue) end = row + 1;
      if (--untimed > 0) continue;
      const now = this.#context.monotonic();
      const isQuick = now - asked < QUICK_MICROSECONDS;
      this.#untimed = isQuick ? Math.min(UNTIMED_ROWS, this.#untimed * 2) : 1;
      untimed = this.#untimed;
      asked = now;
      if (now >= due) end = row + 1;
    }
    this.#next = end;
    if (end === rowCount) this.#block = null;
    return false;
  }
}
