/**
 * Completes and checks rows outside of a planned statement: those that referential actions change and those that COPY
 * or DDL make. Generated columns are computed, NOT NULL and CHECK are verified, defaults evaluated; the expressions
 * come from the catalog's texts and are compiled on first use.
 */
import { assertDefined } from "../../base/assert.ts";
import type { GasPlace } from "../../base/gas.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { columnsOf } from "../../sql/plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ExecutionContext } from "../runtime/execution.ts";
import { emitValue } from "../codegen/expression.ts";
import { emitMeteredValue } from "../codegen/gas_code.ts";
import { ExecutionState } from "../runtime/execution_state.ts";
import { defaultPlace, generatedPlace } from "../../catalog/gas_places.ts";
import { emitCheckedRow, newEmitter, storedColumn, toStoredCode } from "./row_code.ts";
import { bindTableExpressions, TableExpressionBinder } from "./table_expressions.ts";

/** A compiled expression over a stored row; its value is in stored form. */
export type RowFunction = (row: readonly StoredValue[]) => StoredValue;

type CompleteFunction = (state: ExecutionState, row: StoredValue[]) => void;
type ValueFunction = (state: ExecutionState, row: readonly StoredValue[]) => StoredValue;

/** The state that expressions outside of a statement run in. */
export function detachedState(context: ExecutionContext): ExecutionState {
  return new ExecutionState(context, [], 0, null);
}

/**
 * Completes and checks rows outside of a planned statement: those that referential actions change and those that COPY
 * or DDL make.
 */
export class RowCompletion {
  readonly table: TableDefinition;
  readonly #catalog: Catalog;
  #complete: CompleteFunction | null = null;
  #uses: ReadonlySet<number> | null = null;
  readonly #values: (ValueFunction | undefined)[] = [];

  constructor(catalog: Catalog, table: TableDefinition) {
    this.#catalog = catalog;
    this.table = table;
  }

  /** Computes generated columns in place and raises 23502 and 23514. */
  complete(context: ExecutionContext, row: StoredValue[], state = detachedState(context)): void {
    this.#complete ??= this.#compileComplete();
    this.#complete(state, row);
  }

  /** Positions of what {@link complete} reads of a row, except to show it in an error, or computes. */
  get uses(): ReadonlySet<number> {
    return this.#uses ??= this.#usedPositions();
  }

  #usedPositions(): ReadonlySet<number> {
    const { table } = this;
    const { newRow, generated, checks } = bindTableExpressions(this.#catalog, table);
    const expressions = [
      ...generated.map((each) => each.expression),
      ...checks.map((each) => each.condition),
    ];
    const columns = new Set(expressions.flatMap((each) => [...columnsOf(each)]));
    return new Set(
      table.columns.flatMap((column, position) =>
        columns.has(newRow[position] ?? 0) || column.notNull || column.id === table.rowIdColumn ||
          column.generatedText !== null
          ? [position]
          : []
      ),
    );
  }

  /** What a new row has in a column: its default, what is generated from the rest of the row, or NULL. */
  newValue(
    context: ExecutionContext,
    position: number,
    row: readonly StoredValue[] = [],
    state = detachedState(context),
  ): StoredValue {
    let evaluate = this.#values[position];
    if (evaluate === undefined) this.#values[position] = evaluate = this.#compileValue(position);
    return evaluate(state, row);
  }

  #compileValue(position: number): ValueFunction {
    const { table } = this;
    const column = assertDefined(table.columns[position], "column of a table");
    const text = column.generatedText ?? column.defaultText ??
      (column.identity === null ? null : `nextval(${column.sequenceId}::regclass)`);
    if (text === null) return () => null;
    const binder = new TableExpressionBinder(this.#catalog, table);
    const isGenerated = column.generatedText !== null;
    const expression = binder.value(
      column,
      text,
      isGenerated ? "column generation expressions" : "DEFAULT expressions",
    );
    const place = isGenerated ? generatedPlace(table, position) : defaultPlace(table, column.name);
    return compileOverRow(table, { expression, columns: binder.columns }, column.type, place);
  }

  #compileComplete(): CompleteFunction {
    const { table } = this;
    const rules = bindTableExpressions(this.#catalog, table);
    const code = newEmitter();
    code.block("", "conditional", () => void emitCheckedRow(code, { table, ...rules, before: null }, "row"));
    return code.compile<CompleteFunction>(code.source("complete", "S, row"));
  }
}

/** An expression over the columns of a table. */
interface BoundOverTable {
  readonly expression: Expression;
  readonly columns: readonly ColumnRef[];
}

/**
 * Compiles an expression over a table's columns to a function of the stored row; its value is in stored form. Its steps
 * are counted unless `place` is null.
 */
function compileOverRow(
  table: TableDefinition,
  { expression, columns }: BoundOverTable,
  type: SqlType,
  place: GasPlace | null,
): ValueFunction {
  const code = newEmitter();
  table.columns.forEach((column, position) => {
    const reference = columns[position];
    if (reference === undefined || reference === 0) return;
    code.bind(reference, {
      type: column.type,
      cheap: true,
      load: (inner) => storedColumn(inner, column, position, "row"),
    });
  });
  const value = place === null ? emitValue(code, expression) : emitMeteredValue(code, expression, place);
  code.emit(`return ${toStoredCode(code, type, value)};`);
  return code.compile<ValueFunction>(code.source("evaluate", "S, row"));
}

/**
 * Compiles an expression over the columns of a table, for one statement. `place`: how errors name it when it belongs to
 * the table, so that its steps are counted; null: it is the statement's own.
 */
export function compileTableExpression(
  context: ExecutionContext,
  table: TableDefinition,
  bound: BoundOverTable,
  type: SqlType,
  place: GasPlace | null = null,
): RowFunction {
  const state = detachedState(context);
  const evaluate = compileOverRow(table, bound, type, place);
  return (row) => evaluate(state, row);
}
