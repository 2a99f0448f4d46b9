/** Values into variables: what type a target wants, and putting the value there. */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Target } from "../../sql/procedural/block.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { fieldIndex, type RecordVariable, type Scope, type Variable } from "./variables.ts";

/** The variable of a target. Raises 42601 for an unknown one, 22005 for a constant. */
export function targetVariable(target: Target, scope: Scope): {
  readonly variable: Variable;
  readonly field: string | undefined;
} {
  const name = target.parts.join(".");
  const found = scope.find(target.parts);
  if (found === undefined || found.rest.length > 1) {
    throw new DatabaseError(SQLSTATE.syntaxError, `"${name}" is not a known variable`);
  }
  const { variable, rest: [field] } = found;
  if (variable.kind === "scalar") {
    if (field !== undefined) {
      throw new DatabaseError(SQLSTATE.syntaxError, `"${name}" is not a known variable`);
    }
    if (variable.constant) {
      throw new DatabaseError(SQLSTATE.errorInAssignment, `variable "${variable.name}" is declared CONSTANT`);
    }
  }
  return { variable, field };
}

/** The record that a target is as a whole, if it is one. */
export function targetRecord(target: Target, scope: Scope): RecordVariable | null {
  if (target.subscripts.length > 0) return null;
  const { variable, field } = targetVariable(target, scope);
  return variable.kind === "record" && field === undefined ? variable : null;
}

/** The type that a value must have to be assigned; undefined for a whole record. */
export function targetType(target: Target, scope: Scope): SqlType | undefined {
  const { variable, field } = targetVariable(target, scope);
  let type: SqlType;
  if (variable.kind === "scalar") type = variable.type;
  else if (field === undefined) return undefined;
  else type = assertDefined(variable.fields[fieldIndex(variable, field)], "field").type;
  if (target.subscripts.length === 0) return type;
  if (type.kind === "array") return type.element;
  throw new DatabaseError(
    SQLSTATE.datatypeMismatch,
    `cannot subscript "${target.parts.join(".")}": it is not an array`,
  );
}

/** Puts a value of the target's type into it. Raises 22004 for NULL where that is forbidden. */
export function assign(target: Target, scope: Scope, value: SqlValue, indexes: readonly number[]): void {
  const { variable, field } = targetVariable(target, scope);
  if (variable.kind === "record") {
    const index = fieldIndex(variable, field ?? "");
    variable.values[index] = indexes.length === 0
      ? value
      : withElement(variable.values[index], indexes, value);
    return;
  }
  const next = indexes.length === 0 ? value : withElement(variable.value, indexes, value);
  if (next === null && variable.notNull) throw nullInVariable(variable.name);
  variable.value = next;
}

/** Makes a row the value of a record: with the row's columns, or by place into columns that stay. */
export function assignRecord(
  record: RecordVariable,
  columns: readonly { readonly name: string; readonly type: SqlType }[],
  row: readonly SqlValue[] | null,
): void {
  if (!record.fixed) record.fields = columns.map(({ name, type }) => ({ name, type }));
  record.isAssigned = true;
  record.values = record.fields.map((_, index) => row?.[index] ?? null);
}

/** The 22004 of a NOT NULL variable. */
export function nullInVariable(name: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.nullValueNotAllowed,
    `null value cannot be assigned to variable "${name}" declared NOT NULL`,
  );
}

function withElement(array: SqlValue | undefined, indexes: readonly number[], value: SqlValue): SqlArray {
  return (array instanceof SqlArray ? array : SqlArray.EMPTY).withElement(indexes, value);
}
