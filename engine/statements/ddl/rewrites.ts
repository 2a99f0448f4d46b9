/**
 * Rewrites a table's rows with computed values of a column. All new values are computed before the first row is
 * written.
 */
import { assert } from "../../base/assert.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import { defaultPlace, generatedPlace } from "../../catalog/gas_places.ts";
import { compileTableExpression, type RowFunction } from "../../execution/modify/row_completion.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { TableExpression } from "../../sql/definition/definition_plan.ts";
import { RowWalk } from "./row_walk.ts";
import type { Work } from "../../execution/runtime/work.ts";

/** Rows written in one piece. */
const PIECE = 128;

/** Rows with the id that they get. */
interface NewRow {
  readonly id: RowId;
  readonly row: StoredRow;
}

/** Sets one column of every row. */
export class FillColumn implements Work {
  readonly #context: ExecutionContext;
  readonly #table: TableDefinition;
  readonly #walk: RowWalk;
  readonly #position: number;
  readonly #evaluate: RowFunction;
  readonly #write: (tableId: number, id: RowId, row: StoredRow) => void;
  #rows: NewRow[] = [];
  #isRead = false;
  #next = 0;

  /**
   * `isConversion`: the value is the statement's own, not one that the column always gets. `write`: the default is to
   * lock and change rows.
   */
  constructor(
    context: ExecutionContext,
    { table, columnId, value, isConversion }: {
      readonly table: TableDefinition;
      readonly columnId: number;
      readonly value: TableExpression;
      readonly isConversion?: boolean;
    },
    write: (tableId: number, id: RowId, row: StoredRow) => void = context.writer.update.bind(context.writer),
  ) {
    this.#context = context;
    this.#write = write;
    this.#table = table;
    this.#walk = new RowWalk(context, table.id);
    this.#position = columnPosition(table, columnId);
    const column = table.columns[this.#position];
    assert(column !== undefined, "the column to fill");
    const place = isConversion === true
      ? null
      : column.generatedText === null
      ? defaultPlace(table, column.name)
      : generatedPlace(table, this.#position);
    this.#evaluate = compileTableExpression(context, table, value, column.type, place);
  }

  advance(): boolean {
    if (!this.#isRead) {
      const { reader } = this.#walk;
      this.#isRead = this.#walk.advance((location) => {
        const row: StoredValue[] = this.#table.columns.map((column) => reader.valueAt(location, column.id));
        row[this.#position] = this.#evaluate(row);
        this.#rows.push({ id: reader.idAt(location), row });
      });
      return false;
    }
    const end = Math.min(this.#rows.length, this.#next + PIECE);
    for (; this.#next < end; this.#next++) {
      const { id, row } = this.#rows[this.#next] as NewRow;
      this.#write(this.#table.id, id, row);
    }
    this.#context.checkCanceled();
    if (this.#next < this.#rows.length) return false;
    this.#rows = [];
    return true;
  }
}
