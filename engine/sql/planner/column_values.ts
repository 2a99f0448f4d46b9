/** Values that conditions compare columns with, in the form in which statistics have the columns' values. */
import type { CountedValue } from "../../storage/access/column_distribution.ts";
import type { StoredValue } from "../../operations/effect.ts";
import { Decimal } from "../../types/decimal.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { conjuncts, withoutIdentityCasts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { LiteralReader } from "../plan/peeked_literals.ts";
import { isWithin } from "./value_shares.ts";

/** A stored value as a number to compare positions with. */
export function storedNumber(type: SqlType, value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "bigint") return null;
  return scaled(type, Number(value));
}

function scaled(type: SqlType, value: number): number {
  return type.kind === "numeric" && type.scale !== undefined ? value / 10 ** type.scale : value;
}

/** A value as a number to compare positions with. */
export function valueNumber(type: SqlType, value: SqlValue): number | null {
  if (typeof value === "number" || typeof value === "bigint") return scaled(type, Number(value));
  if (value instanceof Decimal) return value.toNumber();
  return null;
}

/** A value as statistics of a column have it; null: they have no such values. */
export function countedAs(column: SqlType, type: SqlType, value: SqlValue): CountedValue | null {
  switch (storageClassOf(column)) {
    case "text":
      return typeof value === "string" ? value : null;
    case "bytes":
      return null;
    default: {
      if (typeof value === "boolean") return value ? 1 : 0;
      if (typeof value === "bigint" && column.kind !== "numeric") return value;
      const number = valueNumber(type, value);
      if (number === null) return null;
      return column.kind === "numeric" && column.scale !== undefined
        ? Math.round(number * 10 ** column.scale)
        : number;
    }
  }
}

/** The value of a constant, or of a literal that stood in the text; undefined: it is not known when plans are made. */
export function knownValue(expression: Expression, read: LiteralReader): SqlValue | undefined {
  const plain = withoutIdentityCasts(expression);
  if (plain.kind === "constant") return plain.value;
  return plain.kind === "parameter" ? read(plain.index, plain.type) : undefined;
}

/** A comparison of a column with a value. */
export interface ColumnComparison {
  readonly column: ColumnRef;
  readonly type: SqlType;
  readonly operator: "=" | "<>" | "<" | "<=" | ">" | ">=";
  readonly value: Expression;
}

/** What comparisons are when their sides change places. */
export const SWAPPED: Readonly<Record<ColumnComparison["operator"], ColumnComparison["operator"]>> = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/** A condition as a comparison of a column with what is no column itself; null: it is something else. */
export function columnComparison(condition: Expression): ColumnComparison | null {
  if (condition.kind !== "call" || !Object.hasOwn(SWAPPED, condition.function.name)) return null;
  const operator = condition.function.name as ColumnComparison["operator"];
  const [left, right] = condition.args.map(withoutIdentityCasts);
  if (left === undefined || right === undefined) return null;
  if (left.kind === "column" && right.kind !== "column") {
    return { column: left.column, type: left.type, operator, value: right };
  }
  if (right.kind === "column" && left.kind !== "column") {
    return { column: right.column, type: right.type, operator: SWAPPED[operator], value: left };
  }
  return null;
}

/** Whether a row meets a condition, by the values of its columns; null: that cannot be said here. */
export type RowTest = (valueOf: (column: ColumnRef) => StoredValue | undefined) => boolean | null;

/** A condition as a test of rows that are known; null: it is none that can be asked of them. */
export function rowTest(condition: Expression, read: LiteralReader): RowTest | null {
  switch (condition.kind) {
    case "and":
    case "or": {
      const tests = condition.args.map((each) => rowTest(each, read));
      if (tests.includes(null)) return null;
      const isAnd = condition.kind === "and";
      return (valueOf) => {
        const answers = tests.map((test) => test?.(valueOf) ?? null);
        if (answers.includes(!isAnd)) return !isAnd;
        return answers.includes(null) ? null : isAnd;
      };
    }
    case "is_null": {
      const plain = withoutIdentityCasts(condition.argument);
      if (plain.kind !== "column") return null;
      return (valueOf) => (valueOf(plain.column) === null) !== condition.negated;
    }
    case "in_list": {
      const plain = withoutIdentityCasts(condition.argument);
      if (plain.kind !== "column") return null;
      const values = condition.list.map((each) => counted(plain.type, each, read));
      if (values.includes(undefined)) return null;
      const list = new Set(values);
      return (valueOf) => {
        const value = valueOf(plain.column);
        if (value === undefined || value === null || value instanceof Uint8Array) return null;
        return list.has(value) !== condition.negated;
      };
    }
    case "column":
      return (valueOf) => valueOf(condition.column) === 1;
    case "call":
      return comparisonTest(condition, read);
    default:
      return null;
  }
}

function comparisonTest(condition: Expression, read: LiteralReader): RowTest | null {
  const comparison = columnComparison(condition);
  if (comparison === null) return null;
  const { column, type, operator } = comparison;
  const value = counted(type, comparison.value, read);
  if (value === undefined) return null;
  const test = comparedWith(operator, value);
  return (valueOf) => {
    const own = valueOf(column);
    if (own === undefined || own === null || own instanceof Uint8Array) return null;
    return test(own);
  };
}

function comparedWith(
  operator: ColumnComparison["operator"],
  value: CountedValue,
): (own: CountedValue) => boolean {
  const end = { value, inclusive: operator.endsWith("=") };
  switch (operator) {
    case "=":
      return (own) => own === value;
    case "<>":
      return (own) => own !== value;
    case "<":
    case "<=":
      return (own) => isWithin(own, null, end);
    case ">":
    case ">=":
      return (own) => isWithin(own, end, null);
  }
}

/** The value that a column of a type is compared with; undefined: it is not known. */
export function counted(
  column: SqlType,
  expression: Expression,
  read: LiteralReader,
): CountedValue | undefined {
  const value = knownValue(expression, read);
  if (value === undefined || value === null) return undefined;
  return countedAs(column, withoutIdentityCasts(expression).type, value) ?? undefined;
}

/** The conditions of a list that are about one column alone and whose values are known, as one test of its values. */
export function valueTest(
  conditions: readonly Expression[],
  column: ColumnRef,
  read: LiteralReader,
): { readonly test: (value: CountedValue) => boolean; readonly conditions: readonly Expression[] } | null {
  const used: Expression[] = [];
  const tests: RowTest[] = [];
  for (const condition of conditions.flatMap((each) => conjuncts(each))) {
    const comparison = columnComparison(condition);
    const isIn = condition.kind === "in_list" && withoutIdentityCasts(condition.argument).kind === "column" &&
      (withoutIdentityCasts(condition.argument) as { readonly column: ColumnRef }).column === column;
    if (comparison?.column !== column && !isIn) continue;
    const test = rowTest(condition, read);
    if (test === null) continue;
    used.push(condition);
    tests.push(test);
  }
  if (used.length === 0) return null;
  return { test: (value) => tests.every((each) => each(() => value) === true), conditions: used };
}
