/**
 * Walks over the rows of a table as a transaction sees it, a piece at a time. What the walk's owner writes meanwhile does
 * not come up: the walk goes over the state at its beginning, except for rows that the transaction had written before,
 * which stand in memory; owners that write collect the ids first.
 */
import type { ExecutionContext } from "../../execution/execution.ts";
import type { Block, BlockCursor, ReadableTable, RowLocation, ZonePredicate } from "../../storage/vector.ts";

/** Blocks walked over in one piece. */
const BLOCKS_IN_PIECE = 2;

/** See the file's head. */
export class RowWalk {
  readonly reader: ReadableTable;
  readonly #context: ExecutionContext;
  readonly #cursor: BlockCursor;

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

  /** Visits the rows of one piece. true: there are no more. */
  advance(visit: (location: RowLocation, block: Block, row: number) => void): boolean {
    for (let blocks = 0; blocks < BLOCKS_IN_PIECE; blocks++) {
      const block = this.#cursor.next();
      if (block === null) return true;
      const { hidden, firstLocation, rowCount } = block;
      for (let row = 0; row < rowCount; row++) {
        if (hidden === null || hidden[row] === 0) visit(firstLocation + row, block, row);
      }
    }
    this.#context.checkCancelled();
    return false;
  }
}
