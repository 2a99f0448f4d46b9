/**
 * Generated code for one new row: from values to the stored row, with everything that a row must pass on its way.
 *
 * The order is PostgreSQL's: BEFORE triggers in name order, generated columns, NOT NULL, CHECK in name order; UNIQUE
 * and foreign keys come when the row is written.
 */
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { StoredRow } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { BoundCheck, Plan, ResultColumn } from "../../sql/plan/plan.ts";
import { isEncoded } from "../../types/stored_value.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { encodeValueBytes } from "../../types/value_codec.ts";
import { Compilation } from "../codegen/compilation.ts";
import { Emitter, type Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { emitMeteredFalsity, emitMeteredValue } from "../codegen/gas_code.ts";
import { storedCode } from "../codegen/value_form.ts";
import { produce } from "../operators/produce.ts";
import { writeCode } from "../runtime/result_writer.ts";
import { checkPlace, generatedPlace } from "../../catalog/gas_places.ts";
import { checkViolation, notNullViolation } from "./violations.ts";

/** What the rows of a table must pass; `newRow` names the columns that the expressions refer to. */
export interface RowShape {
  readonly table: TableDefinition;
  readonly newRow: readonly ColumnRef[];
  readonly generated: readonly { readonly position: number; readonly expression: Expression }[];
  readonly checks: readonly BoundCheck[];
  /** The code that runs the BEFORE triggers over a stored row, which they change in place; null: there are none. */
  readonly before: ((row: string) => string) | null;
}

/** A new row on its way to the table. */
export interface NewRow {
  /** The name of the stored row. */
  readonly row: string;
  /** Binds columns, by position, to the row's values in the current frame. */
  readonly bind: (columns: readonly ColumnRef[]) => void;
}

const NO_PLAN: Plan = { kind: "values", outputs: [], types: [], list: [], rows: 0 };

/** An emitter for a function that belongs to no statement. */
export function newEmitter(): Emitter {
  return new Emitter(new Compilation(NO_PLAN, [], { analyze: false, spills: false, produce }));
}

/** How generated code reads a column from a stored row. */
export function storedColumn(code: Emitter, column: ColumnDefinition, position: number, row: string): Value {
  const stored = code.define("s", `${row}[${position}]`);
  if (column.type.kind !== "bool" && storedCode(code, column.type, stored) === stored) {
    return { code: stored, isNull: `${stored} === null` };
  }
  const value = code.define("v", `${stored} === null ? null : ${storedCode(code, column.type, stored)}`);
  return { code: value, isNull: `${value} === null` };
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
 * answers the stored row.
 */
export function emitNewRow(code: Emitter, shape: RowShape, values: readonly Value[]): NewRow {
  const { table } = shape;
  if (shape.before !== null) return emitCheckedRow(code, shape, emitStored(code, table, values));
  const computed = values.slice();
  const bind = (position: number, column = shape.newRow[position]): void => {
    const definition = table.columns[position], value = computed[position];
    if (column !== undefined && definition !== undefined && value !== undefined) {
      bindValue(code, column, definition.type, value);
    }
  };
  const generated = new Set(shape.generated.map((each) => each.position));
  table.columns.forEach((_, position) => {
    if (!generated.has(position)) bind(position);
  });
  // In the order of columns: the hidden ones of indexes come last and may be over other generated columns.
  for (const { position, expression } of shape.generated) {
    computed[position] = emitMeteredValue(code, expression, generatedPlace(table, position));
    bind(position);
  }
  const row = emitStored(code, table, computed);
  emitNotNull(code, table, row, (position) => computed[position]?.isNull ?? null);
  emitChecks(code, shape, row);
  return { row, bind: (columns) => columns.forEach((column, position) => bind(position, column)) };
}

/**
 * The same way for a row that is in its stored form already: triggers and generated columns change it in place. `row`
 * is its name.
 */
export function emitCheckedRow(code: Emitter, shape: RowShape, row: string): NewRow {
  const { table } = shape;
  if (shape.before !== null) {
    code.emit(shape.before(row));
    code.hasTurns = true;
  }
  const bind = (position: number, column = shape.newRow[position]): void => {
    const definition = table.columns[position];
    if (column === undefined || definition === undefined) return;
    const load = (inner: Emitter): Value => storedColumn(inner, definition, position, row);
    code.bind(column, { type: definition.type, cheap: true, load });
  };
  const generated = new Set(shape.generated.map((each) => each.position));
  table.columns.forEach((_, position) => {
    if (!generated.has(position)) bind(position);
  });
  for (const { position, expression } of shape.generated) {
    const type = table.columns[position]?.type ?? expression.type;
    const value = emitMeteredValue(code, expression, generatedPlace(table, position));
    code.emit(`${row}[${position}] = ${toStoredCode(code, type, value)};`);
    bind(position);
  }
  emitNotNull(code, table, row, (position) => `${row}[${position}] === null`);
  emitChecks(code, shape, row);
  return { row, bind: (columns) => columns.forEach((column, position) => bind(position, column)) };
}

function emitStored(code: Emitter, table: TableDefinition, values: readonly Value[]): string {
  const stored = table.columns.map((column, position) => {
    const value = values[position];
    return value === undefined ? "null" : toStoredCode(code, column.type, value);
  });
  return code.define("row", `[${stored.join(", ")}]`);
}

function emitNotNull(
  code: Emitter,
  table: TableDefinition,
  row: string,
  isNullAt: (position: number) => string | null,
): void {
  const fail = code.use("failNotNull", failNotNull);
  for (const [position, column] of table.columns.entries()) {
    const isNull = isNullAt(position);
    if (isNull === null || !column.notNull && column.id !== table.rowIdColumn) continue;
    code.emit(`if (${isNull}) ${fail}(${code.constant("table", table)}, ${position}, ${row});`);
  }
}

function emitChecks(code: Emitter, shape: RowShape, row: string): void {
  const fail = code.use("failCheck", failCheck), table = code.constant("table", shape.table);
  for (const { name, condition } of inNameOrder(shape.checks)) {
    const test = emitMeteredFalsity(code, condition, checkPlace(shape.table, name));
    code.emit(`if (${test}) ${fail}(${table}, ${JSON.stringify(name)}, ${row});`);
  }
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
