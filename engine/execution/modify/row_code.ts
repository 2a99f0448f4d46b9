/**
 * Generated code for one new row: from values to the stored row, with everything that a row must pass on its way.
 *
 * The order is PostgreSQL's: BEFORE triggers in name order, generated columns, NOT NULL, CHECK in name order; UNIQUE
 * and foreign keys come when the row is written.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { StoredRow } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { BoundCheck, ResultColumn } from "../../sql/plan/plan.ts";
import { isEncoded } from "../../types/stored_value.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { encodeValueBytes } from "../../types/value_codec.ts";
import { emitFalsity } from "../codegen/condition.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { writeCode } from "../runtime/result_writer.ts";
import { checkViolation, notNullViolation } from "./violations.ts";

/** What the rows of a table must pass; `newRow` names the columns that the expressions refer to. */
export interface RowShape {
  readonly table: TableDefinition;
  readonly newRow: readonly ColumnRef[];
  readonly generated: readonly { readonly position: number; readonly expression: Expression }[];
  readonly checks: readonly BoundCheck[];
}

const encoders = new WeakMap<SqlType, (value: SqlValue) => Uint8Array>();

/** The expression of a value's stored form. */
export function toStoredCode(code: Emitter, type: SqlType, value: Value): string {
  if (value.isNull === "true") return "null";
  let stored = value.code;
  if (type.kind === "bool") stored = `(${value.code} ? 1 : 0)`;
  else if (isEncoded(type)) {
    let encoder = encoders.get(type);
    if (encoder === undefined) {
      encoder = (each) => encodeValueBytes(type, each);
      encoders.set(type, encoder);
    }
    stored = `${code.use("encodeValue", encoder)}(${value.code})`;
  }
  if (value.isNull === null) return stored;
  if (stored === value.code && value.isNull === `${stored} === null`) return stored;
  return `(${value.isNull} ? null : ${stored})`;
}

/** Binds a column to a value that has been computed. */
export function bindValue(code: Emitter, column: ColumnRef, type: SqlType, value: Value): void {
  code.bind(column, { type, cheap: true, load: () => value });
}

/**
 * Emits the row's way as far as the writing; `values` are by column position. Binds `newRow` in the current frame and
 * answers the name of the stored row, with the values that it holds.
 */
export function emitNewRow(
  code: Emitter,
  shape: RowShape,
  values: readonly Value[],
): { readonly row: string; readonly values: readonly Value[] } {
  const { table } = shape;
  const computed = values.slice();
  const bind = (position: number): void => {
    const column = shape.newRow[position], definition = table.columns[position], value = computed[position];
    if (column !== undefined && definition !== undefined && value !== undefined) {
      bindValue(code, column, definition.type, value);
    }
  };
  const generated = new Set(shape.generated.map((each) => each.position));
  table.columns.forEach((_, position) => {
    if (!generated.has(position)) bind(position);
  });
  // BEFORE ROW triggers belong here: they see and change `computed` before anything is derived from it.
  // In the order of columns: the hidden ones of indexes come last and may be over other generated columns.
  for (const { position, expression } of shape.generated) {
    computed[position] = emitValue(code, expression);
    bind(position);
  }
  const stored = table.columns.map((column, position) => {
    const value = computed[position];
    return value === undefined ? "null" : toStoredCode(code, column.type, value);
  });
  const row = code.define("row", `[${stored.join(", ")}]`);
  const definition = code.constant("table", table);
  for (const [position, column] of table.columns.entries()) {
    const isNull = computed[position]?.isNull ?? null;
    if (isNull === null || !column.notNull && column.id !== table.rowIdColumn) continue;
    const fail = code.use("failNotNull", failNotNull);
    code.emit(`if (${isNull}) ${fail}(${definition}, ${position}, ${row});`);
  }
  for (const { name, condition } of inNameOrder(shape.checks)) {
    const fail = code.use("failCheck", failCheck);
    code.emit(
      `if (${emitFalsity(code, condition)}) ${fail}(${definition}, ${JSON.stringify(name)}, ${row});`,
    );
  }
  return { row, values: computed };
}

function inNameOrder(checks: readonly BoundCheck[]): readonly BoundCheck[] {
  return [...checks].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function failNotNull(table: TableDefinition, position: number, row: StoredRow): never {
  throw notNullViolation(table, position, row);
}

function failCheck(table: TableDefinition, constraint: string, row: StoredRow): never {
  throw checkViolation(table, constraint, row);
}

/** Emits the writing of one result row of RETURNING. */
export function emitResultRow(
  code: Emitter,
  returning: readonly { readonly output: ColumnRef; readonly expression: Expression }[],
  columns: readonly ResultColumn[],
): void {
  code.writesResult = true;
  const values = columns.map(({ column }) => {
    const found = returning.find((each) => each.output === column);
    return found === undefined ? code.column(column) : emitValue(code, found.expression);
  });
  code.emit("S.writer.beginRow();");
  columns.forEach(({ type }, index) => {
    const value = values[index] as Value;
    const write = writeCode("S.writer", type.kind, index, value.code);
    if (value.isNull === "true") code.emit("S.writer.writeNull();");
    else if (value.isNull === null) code.emit(write);
    else code.emit(`if (${value.isNull}) S.writer.writeNull(); else ${write}`);
  });
  code.emit("S.writer.endRow();");
}
