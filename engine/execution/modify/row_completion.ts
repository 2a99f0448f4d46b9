/**
 * Completes and checks rows outside of a planned statement: those that referential actions change and those that COPY
 * or DDL make. Generated columns are computed, NOT NULL and CHECK are verified, defaults evaluated; the expressions
 * come from the catalog's texts and are compiled on first use.
 */
import type { Catalog } from "../../catalog/catalog.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ExecutionContext } from "../runtime/execution.ts";
import { Compilation } from "../codegen/compilation.ts";
import { Emitter, type Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { storedCode } from "../codegen/value_form.ts";
import { ExecutionState } from "../runtime/execution_state.ts";
import { emitNewRow, toStoredCode } from "./row_code.ts";
import { bindTableExpressions, TableExpressionBinder } from "./table_expressions.ts";
import { produce } from "../operators/produce.ts";

/** A compiled expression over a stored row; its value is in stored form. */
export type RowFunction = (row: readonly StoredValue[]) => StoredValue;

type CompleteFunction = (state: ExecutionState, row: StoredValue[]) => void;
type ValueFunction = (state: ExecutionState, row: readonly StoredValue[]) => StoredValue;

const NO_PLAN: Plan = { kind: "values", outputs: [], types: [], list: [], rows: 0 };

/** The state that expressions outside of a statement run in. */
export function detachedState(context: ExecutionContext): ExecutionState {
  return new ExecutionState(context, [], 0, null);
}

function newEmitter(): Emitter {
  return new Emitter(new Compilation(NO_PLAN, [], { analyze: false, produce }));
}

/** How generated code reads a column from the stored row `row`. */
export function storedColumn(code: Emitter, column: ColumnDefinition, position: number): Value {
  const stored = code.define("s", `row[${position}]`);
  if (column.type.kind !== "bool" && storedCode(code, column.type, stored) === stored) {
    return { code: stored, isNull: `${stored} === null` };
  }
  const value = code.define("v", `${stored} === null ? null : ${storedCode(code, column.type, stored)}`);
  return { code: value, isNull: `${value} === null` };
}

/**
 * Completes and checks rows outside of a planned statement: those that referential actions change and those that COPY
 * or DDL make.
 */
export class RowCompletion {
  readonly table: TableDefinition;
  readonly #catalog: Catalog;
  #complete: CompleteFunction | null = null;
  readonly #defaults: (ValueFunction | undefined)[] = [];

  constructor(catalog: Catalog, table: TableDefinition) {
    this.#catalog = catalog;
    this.table = table;
  }

  /** Computes generated columns in place and raises 23502 and 23514. */
  complete(context: ExecutionContext, row: StoredValue[], state = detachedState(context)): void {
    this.#complete ??= this.#compileComplete();
    this.#complete(state, row);
  }

  /** The default of a column, or NULL. */
  defaultValue(context: ExecutionContext, position: number, state = detachedState(context)): StoredValue {
    const column = this.table.columns[position];
    if (column === undefined || column.defaultText === null) return null;
    let evaluate = this.#defaults[position];
    if (evaluate === undefined) {
      const binder = new TableExpressionBinder(this.#catalog, this.table);
      evaluate = compileOverRow(
        this.table,
        binder.columns,
        binder.value(column, column.defaultText, "DEFAULT expressions"),
        column.type,
      );
      this.#defaults[position] = evaluate;
    }
    return evaluate(state, []);
  }

  #compileComplete(): CompleteFunction {
    const { table } = this;
    const rules = bindTableExpressions(this.#catalog, table);
    const code = newEmitter();
    const values = table.columns.map((column, position) => storedColumn(code, column, position));
    code.block("", "conditional", () => {
      const made = emitNewRow(code, { table, ...rules }, values);
      for (const { position } of rules.generated) code.emit(`row[${position}] = ${made.row}[${position}];`);
    });
    return code.compile<CompleteFunction>(code.source("complete", "S, row"));
  }
}

/** Compiles an expression over a table's columns to a function of the stored row; its value is in stored form. */
function compileOverRow(
  table: TableDefinition,
  columns: readonly ColumnRef[],
  expression: Expression,
  type: SqlType,
): ValueFunction {
  const code = newEmitter();
  table.columns.forEach((column, position) => {
    const reference = columns[position];
    if (reference === undefined || reference === 0) return;
    code.bind(reference, {
      type: column.type,
      cheap: true,
      load: (inner) => storedColumn(inner, column, position),
    });
  });
  const value = emitValue(code, expression);
  code.emit(`return ${toStoredCode(code, type, value)};`);
  return code.compile<ValueFunction>(code.source("evaluate", "S, row"));
}

/** Compiles an expression over the columns of a table, for one statement. */
export function compileTableExpression(
  context: ExecutionContext,
  table: TableDefinition,
  bound: { readonly expression: Expression; readonly columns: readonly ColumnRef[] },
  type: SqlType,
): RowFunction {
  const state = detachedState(context);
  const evaluate = compileOverRow(table, bound.columns, bound.expression, type);
  return (row) => evaluate(state, row);
}
