/**
 * Rewrites of a table's rows: a column gets computed values, or rows get new ids.
 *
 * All new values are computed before the first row is written.
 */
import { assert } from "../../base/assert.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { ExecutionContext } from "../../execution/execution.ts";
import { columnsById } from "../../execution/modify/key_route.ts";
import { checkRowId } from "../../execution/modify/row_changes.ts";
import { compileTableExpression, type RowFunction } from "../../execution/modify/row_completion.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { TableExpression } from "../../sql/definition/definition_plan.ts";
import { containsNulls, duplicatedKey } from "./validations.ts";
import { RowWalk } from "./row_walk.ts";
import type { Work } from "./run_ddl.ts";

/** Rows written in one piece. */
const PIECE = 128;

/** Rows with the id that they get. */
interface NewRow {
  readonly id: RowId;
  readonly row: StoredRow;
}

/** Reads all rows, then writes them again. */
abstract class Rewrite implements Work {
  protected readonly context: ExecutionContext;
  protected readonly table: TableDefinition;
  readonly #walk: RowWalk;
  #rows: NewRow[] = [];
  #isRead = false;
  #next = 0;

  constructor(context: ExecutionContext, table: TableDefinition) {
    this.context = context;
    this.table = table;
    this.#walk = new RowWalk(context, table.id);
  }

  /** The row that a row becomes. */
  protected abstract convert(id: RowId, row: StoredValue[]): NewRow;

  /** All rows are known; nothing has been written. */
  protected abstract prepare(rows: NewRow[]): void;

  protected abstract write(row: NewRow): void;

  advance(): boolean {
    if (!this.#isRead) {
      const { reader } = this.#walk;
      this.#isRead = this.#walk.advance((location) => {
        const row = this.table.columns.map((column) => reader.valueAt(location, column.id));
        this.#rows.push(this.convert(reader.idAt(location), row));
      });
      if (this.#isRead) this.prepare(this.#rows);
      return false;
    }
    const end = Math.min(this.#rows.length, this.#next + PIECE);
    for (; this.#next < end; this.#next++) this.write(this.#rows[this.#next] as NewRow);
    this.context.checkCancelled();
    if (this.#next < this.#rows.length) return false;
    this.#rows = [];
    return true;
  }
}

/** Sets one column of every row. */
export class FillColumn extends Rewrite {
  readonly #position: number;
  readonly #evaluate: RowFunction;

  constructor(context: ExecutionContext, table: TableDefinition, columnId: number, value: TableExpression) {
    super(context, table);
    this.#position = columnPosition(table, columnId);
    const column = table.columns[this.#position];
    assert(column !== undefined, "the column to fill");
    this.#evaluate = compileTableExpression(context, table, value, column.type);
  }

  protected override convert(id: RowId, row: StoredValue[]): NewRow {
    const value = this.#evaluate(row);
    row[this.#position] = value;
    return { id, row };
  }

  protected override prepare(): void {}

  protected override write({ id, row }: NewRow): void {
    this.context.writer.update(this.table.id, id, row);
  }
}

/** Gives every row the value of the row-id column as its id. */
export class Rekey extends Rewrite {
  readonly #position: number;

  constructor(context: ExecutionContext, table: TableDefinition) {
    super(context, table);
    assert(table.rowIdColumn !== null, "a table to rekey has a row-id column");
    this.#position = columnPosition(table, table.rowIdColumn);
  }

  protected override convert(_id: RowId, row: StoredValue[]): NewRow {
    const value = row[this.#position] ?? null;
    const column = this.table.columns[this.#position];
    if (value === null && column !== undefined) throw containsNulls(this.table, column);
    return { id: checkRowId(this.table, value), row };
  }

  protected override prepare(rows: NewRow[]): void {
    rows.sort((a, b) => a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
    for (let index = 1; index < rows.length; index++) {
      const id = (rows[index] as NewRow).id;
      if (id !== (rows[index - 1] as NewRow).id) continue;
      const key = this.table.constraints.find((constraint) => constraint.kind === "primary_key");
      const columns = columnsById(this.table, [this.table.rowIdColumn ?? 0]);
      throw duplicatedKey(this.table, key?.name ?? `${this.table.name}_pkey`, columns, [id]);
    }
    this.context.writer.truncate(this.table.id);
  }

  protected override write({ id, row }: NewRow): void {
    this.context.writer.create(this.table.id, id, row);
  }
}
