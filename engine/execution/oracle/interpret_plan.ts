/**
 * Plans interpreted row by row: the plain counterpart of the code generator, used as its oracle in tests.
 *
 * Every operator computes its whole input before it goes on, except LIMIT's, which may be endless. Modifications are
 * not interpreted.
 */
import { unreachable } from "../../base/assert.ts";
import type { BoundAggregate, EvaluationContext } from "../../sql/functions/definition.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { AggregateCall, Plan, RangeBounds, SortKey } from "../../sql/plan/plan.ts";
import { compareValues, hashKey } from "../../types/compare.ts";
import { Decimal } from "../../types/decimal.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { fromStored, toStored } from "../../types/stored_value.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { NO_ROW, type RowLocation } from "../../storage/access/block.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import type { Vector } from "../../storage/access/vector.ts";
import { evaluate, inside, isTrue, type Row, type Scope } from "./interpret_expression.ts";
import { interpretWindow } from "./interpret_window.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

type Of<K extends Plan["kind"]> = Extract<Plan, { kind: K }>;

/** The rows of a plan. */
export function interpretPlan(plan: Plan, scope: Scope): Iterable<Row> {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return [...access(plan, scope)].filter((row) => isTrue(inside(scope, row), plan.filter));
    case "virtual_scan": {
      const { evaluation, materialized } = scope.context;
      const values = materialized?.get(plan.relation) ?? plan.relation.rows(evaluation);
      const rows = [...values].map((values) =>
        new Map(plan.columns.map(({ output, position }) => [output, values[position] ?? null] as const))
      );
      return rows.filter((row) => isTrue(inside(scope, row), plan.filter));
    }
    case "values":
      return plan.list.map((cells) => named(plan.outputs, cells.map((cell) => evaluate(scope, cell))));
    case "function_scan":
      return functionScan(plan, scope);
    case "filter":
      return filter(interpretPlan(plan.input, scope), (row) => isTrue(inside(scope, row), plan.condition));
    case "project":
      return map(interpretPlan(plan.input, scope), (row) => {
        const own = inside(scope, row);
        return new Map([
          ...row,
          ...plan.outputs.map(({ output, expression }) => [output, evaluate(own, expression)] as const),
        ]);
      });
    case "hash_join":
      return hashJoin(plan, scope);
    case "nested_loop_join":
      return nestedLoopJoin(plan, scope);
    case "aggregate":
      return aggregate(plan, scope);
    case "window":
      return interpretWindow(plan, [...interpretPlan(plan.input, scope)], scope);
    case "sort": {
      const rows = sortRows([...interpretPlan(plan.input, scope)], plan.keys, scope);
      const limit = plan.limit === null ? null : evaluate(scope, plan.limit);
      return limit === null ? rows : rows.slice(0, Number(limit));
    }
    case "limit":
      return limited(plan, scope);
    case "distinct": {
      const seen = new Set<string>();
      return filter(interpretPlan(plan.input, scope), (row) => {
        const own = inside(scope, row);
        const key = keyOf(plan.keys.map(({ type }) => type), plan.keys.map((part) => evaluate(own, part)));
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
    }
    case "set_operation":
      return setOperation(plan, scope);
    case "with":
      return withDefinitions(plan, scope);
    case "with_scan": {
      const rows = (plan.working ? scope.working : scope.definitions).get(plan.id) ?? [];
      return rows.map((row) => named(plan.outputs, plan.columns.map((column) => row.get(column) ?? null)));
    }
    case "lock_rows":
    case "exchange":
      return interpretPlan(plan.input, scope);
    // All rows are one part of them.
    case "gather":
      return interpretPlan(plan.fragment.plan, scope);
    case "insert":
    case "update":
    case "delete":
      throw new Error("modifications are not interpreted");
    default:
      return unreachable(plan);
  }
}

function* filter(rows: Iterable<Row>, keep: (row: Row) => boolean): Iterable<Row> {
  for (const row of rows) if (keep(row)) yield row;
}

function* map(rows: Iterable<Row>, change: (row: Row) => Row): Iterable<Row> {
  for (const row of rows) yield change(row);
}

function named(columns: readonly ColumnRef[], values: readonly SqlValue[]): Row {
  return new Map(columns.map((column, index) => [column, values[index] ?? null]));
}

/** A text that is equal exactly when the values are, column by column; NULLs are equal. */
export function keyOf(types: readonly SqlType[], values: readonly SqlValue[]): string {
  return JSON.stringify(values.map((value, index) => {
    const type = types[index];
    if (value === null || type === undefined) return null;
    const key = hashKey(type, value);
    return [typeof key, String(key)];
  }));
}

/** Rows in the order of the keys; equal rows keep their order. */
export function sortRows(rows: readonly Row[], keys: readonly SortKey[], scope: Scope): Row[] {
  const keyed = rows.map((row) => ({
    row,
    values: keys.map((key) => evaluate(inside(scope, row), key.expression)),
  }));
  keyed.sort((left, right) => compareKeys(keys, left.values, right.values));
  return keyed.map(({ row }) => row);
}

/** Order of two rows of key values. */
export function compareKeys(
  keys: readonly SortKey[],
  left: readonly SqlValue[],
  right: readonly SqlValue[],
): number {
  for (const [index, key] of keys.entries()) {
    const a = left[index] ?? null;
    const b = right[index] ?? null;
    if (a === null && b === null) continue;
    if (a === null || b === null) return (a === null) === key.nullsFirst ? -1 : 1;
    const order = compareValues(key.expression.type, a, b);
    if (order !== 0) return key.descending ? -order : order;
  }
  return 0;
}

type Access = Of<"table_scan" | "row_lookup" | "row_range" | "index_scan">;

function* access(plan: Access, scope: Scope): Iterable<Row> {
  const table = scope.context.table(plan.table.id);
  if (plan.kind === "table_scan") {
    yield* scan(plan, table);
    return;
  }
  for (const location of locations(plan, table, scope)) yield rowAt(plan, table, location);
}

function* locations(
  plan: Exclude<Access, Of<"table_scan">>,
  table: ReadableTable,
  scope: Scope,
): Iterable<RowLocation> {
  if (plan.kind === "row_lookup") {
    for (const id of new Set(plan.ids.map((id) => evaluate(scope, id)))) {
      const location = id === null ? NO_ROW : table.find(id as NumberOrBigint);
      if (location !== NO_ROW) yield location;
    }
    return;
  }
  const prefix = plan.kind === "index_scan" ? plan.prefix : [];
  const values = prefix.map((part) => toStored(part.type, evaluate(scope, part)));
  const bound = (side: RangeBounds["low"]) =>
    side === null
      ? null
      : { value: toStored(side.value.type, evaluate(scope, side.value)), inclusive: side.inclusive };
  const low = bound(plan.bounds.low);
  const high = bound(plan.bounds.high);
  if (values.includes(null) || low?.value === null || high?.value === null) return;
  const bounds = { prefix: values, low, high, backward: plan.backward };
  const cursor = plan.kind === "index_scan" ? table.range(plan.index.id, bounds) : table.findRange(bounds);
  for (let location = cursor.next(); location !== NO_ROW; location = cursor.next()) yield location;
}

function rowAt(plan: Access, table: ReadableTable, location: RowLocation): Row {
  const row = new Map<ColumnRef, SqlValue>();
  for (const { output, columnId, type } of plan.columns) {
    row.set(output, fromStored(type, table.valueAt(location, columnId)));
  }
  if (plan.rowId !== null) row.set(plan.rowId, table.idAt(location));
  return row;
}

function* scan(plan: Of<"table_scan">, table: ReadableTable): Iterable<Row> {
  const cursor = table.scan(plan.columns.map(({ columnId }) => columnId), {
    ids: plan.rowId !== null,
    prune: [],
  });
  for (let block = cursor.next(); block !== null; block = cursor.next()) {
    for (let index = 0; index < block.rowCount; index++) {
      if (block.hidden !== null && block.hidden[index] !== 0) continue;
      const row = new Map<ColumnRef, SqlValue>();
      plan.columns.forEach(({ output, type }, position) => {
        const vector = block.columns[position];
        if (vector !== undefined) row.set(output, vectorValue(vector, index, type));
      });
      if (plan.rowId !== null && block.ids !== null) {
        row.set(plan.rowId, vectorValue(block.ids, index, { kind: "i64" }));
      }
      yield row;
    }
  }
}

function vectorValue(vector: Vector, row: number, type: SqlType): SqlValue {
  if (vector.kind === "constant") return fromStored(type, vector.value);
  if (vector.nulls !== null && vector.nulls[row] !== 0) return null;
  switch (vector.kind) {
    case "number": {
      const value = vector.data[row] ?? 0;
      return fromStored(type, vector.big?.get(row) ?? value);
    }
    case "bytes": {
      const bytes = vector.bytes.slice(vector.starts[row], vector.ends[row]);
      return fromStored(type, storageClassOf(type) === "text" ? utf8.decode(bytes) : bytes);
    }
    case "dictionary":
      return vector.dictionary[vector.codes[row] ?? 0] ?? null;
  }
}

function* functionScan(plan: Of<"function_scan">, scope: Scope): Iterable<Row> {
  const inputs: Iterable<Row> = plan.input === null ? [new Map()] : interpretPlan(plan.input, scope);
  for (const input of inputs) {
    const own = inside(scope, input);
    const results = plan.functions.map(({ function: called, args }) => {
      const values = args.map((arg) => evaluate(own, arg));
      if (called.rows === undefined || called.strict && values.includes(null)) return [];
      return [...called.rows(scope.context.evaluation, ...values)];
    });
    const count = Math.max(0, ...results.map((rows) => rows.length));
    for (let index = 0; index < count; index++) {
      const row = new Map(input);
      plan.functions.forEach(({ outputs }, position) => {
        outputs.forEach((output, column) => row.set(output, results[position]?.[index]?.[column] ?? null));
      });
      if (plan.ordinality !== null) row.set(plan.ordinality, index + 1);
      yield row;
    }
  }
}

/** NULL for each column of a plan: what an outer join extends a row with. */
function nullsFor(plan: Plan): Row {
  return new Map(outputColumns(plan).map((column) => [column, null]));
}

function outputColumns(plan: Plan): ColumnRef[] {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return [...plan.columns.map(({ output }) => output), ...(plan.rowId === null ? [] : [plan.rowId])];
    case "virtual_scan":
      return plan.columns.map(({ output }) => output);
    case "values":
    case "set_operation":
    case "with_scan":
      return [...plan.outputs];
    case "project":
      return [...outputColumns(plan.input), ...plan.outputs.map(({ output }) => output)];
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows":
      return outputColumns(plan.input);
    case "window":
      return [...outputColumns(plan.input), ...plan.calls.map(({ output }) => output)];
    case "aggregate":
      return [
        ...plan.groups.map(({ output }) => output),
        ...plan.aggregates.map(({ output }) => output),
        ...plan.groupings.map(({ output }) => output),
      ];
    case "function_scan": {
      const own = plan.functions.flatMap(({ outputs }) => outputs);
      const ordinality = plan.ordinality === null ? [] : [plan.ordinality];
      return [...(plan.input === null ? [] : outputColumns(plan.input)), ...own, ...ordinality];
    }
    case "hash_join":
    case "nested_loop_join":
      return [...outputColumns(plan.left), ...outputColumns(plan.right)];
    case "with":
      return outputColumns(plan.body);
    default:
      return [];
  }
}

type Test = (left: Row, right: Row) => boolean;

function* joinRows(
  plan: Of<"hash_join" | "nested_loop_join">,
  lefts: readonly Row[],
  rightsOf: (left: Row) => readonly Row[],
  matches: Test,
): Iterable<Row> {
  const matched = new Set<Row>();
  const extendsLeft = plan.join === "left" || plan.join === "full";
  for (const left of lefts) {
    const rights = rightsOf(left);
    const partners = rights.filter((right) => matches(left, right));
    if (plan.join === "semi" || plan.join === "anti") {
      if ((partners.length > 0) === (plan.join === "semi")) yield left;
      continue;
    }
    for (const right of partners) {
      matched.add(right);
      yield new Map([...left, ...right]);
    }
    if (partners.length === 0 && extendsLeft) yield new Map([...left, ...nullsFor(plan.right)]);
  }
  if (plan.join !== "right" && plan.join !== "full") return;
  for (const right of rightsOf(new Map())) {
    if (!matched.has(right)) yield new Map([...nullsFor(plan.left), ...right]);
  }
}

function numericValue(type: SqlType, value: SqlValue): Decimal | null {
  if (value instanceof Decimal) return value;
  if (type.kind === "f32" || type.kind === "f64") return Decimal.fromNumber(value as number, 17);
  if (typeof value === "number" || typeof value === "bigint") {
    return Decimal.of(value, type.kind === "numeric" ? type.scale ?? 0 : 0);
  }
  return null;
}

function sameKey(leftType: SqlType, left: SqlValue, rightType: SqlType, right: SqlValue): boolean {
  if (left === null || right === null) return false;
  if (JSON.stringify(leftType) === JSON.stringify(rightType)) {
    return compareValues(leftType, left, right) === 0;
  }
  const a = numericValue(leftType, left);
  const b = numericValue(rightType, right);
  return a !== null && b !== null ? a.compare(b) === 0 : left === right;
}

function hashJoin(plan: Of<"hash_join">, scope: Scope): Iterable<Row> {
  const rights = [...interpretPlan(plan.right, scope)];
  const rightKeys = new Map(
    rights.map((row) => [row, plan.rightKeys.map((key) => evaluate(inside(scope, row), key))]),
  );
  const matches: Test = (left, right) => {
    const keys = plan.leftKeys.map((key) => evaluate(inside(scope, left), key));
    const others = rightKeys.get(right) ?? [];
    if (plan.nullAware && (keys.includes(null) || others.includes(null))) return true;
    const same = plan.leftKeys.every((key, index) => {
      const other = plan.rightKeys[index];
      return other !== undefined && sameKey(key.type, keys[index] ?? null, other.type, others[index] ?? null);
    });
    return same && isTrue(inside(inside(scope, left), right), plan.residual);
  };
  return joinRows(plan, [...interpretPlan(plan.left, scope)], () => rights, matches);
}

function nestedLoopJoin(plan: Of<"nested_loop_join">, scope: Scope): Iterable<Row> {
  const fixed = plan.correlated ? null : [...interpretPlan(plan.right, scope)];
  const rightsOf = (left: Row) => fixed ?? [...interpretPlan(plan.right, inside(scope, left))];
  const matches: Test = (left, right) => isTrue(inside(inside(scope, left), right), plan.condition);
  return joinRows(plan, [...interpretPlan(plan.left, scope)], rightsOf, matches);
}

/** Folds values with an aggregate; its steps only exist as code. */
export function fold(
  aggregate: BoundAggregate,
  rows: readonly (readonly SqlValue[])[],
  context: EvaluationContext,
): SqlValue {
  const helpers: unknown[] = [];
  // deno-lint-ignore no-explicit-any -- run-time functions of every signature pass through here, untyped by nature
  const use = (_name: string, implementation: (...args: any[]) => unknown): string => {
    helpers.push(implementation);
    return `helpers[${helpers.length - 1}]`;
  };
  const slots = aggregate.slots.map((_, index) => `slot${index}`);
  const args = aggregate.argumentTypes.map((_, index) => `arg${index}`);
  const declare = aggregate.slots.map((slot, index) => `let ${slots[index]} = ${slot.initial};`).join(" ");
  const body = `${declare} for (const [${args.join(", ")}] of rows) { ${
    aggregate.step(slots, args, use, { ranges: [], hasValue: false, count: "rows.length" })
  } } return ${aggregate.finish(slots, use)};`;
  return new Function("rows", "helpers", "context", body)(rows, helpers, context) as SqlValue;
}

/** The value of an aggregate call over rows. */
export function aggregateValue(call: AggregateCall, rows: readonly Row[], scope: Scope): SqlValue {
  const { aggregate, args, filter, orderBy, distinct } = call;
  let chosen = rows.filter((row) => isTrue(inside(scope, row), filter));
  if (orderBy.length > 0) chosen = sortRows(chosen, orderBy, scope);
  let values = chosen.map((row) => args.map((arg) => evaluate(inside(scope, row), arg)));
  if (aggregate.skipsNulls) values = values.filter((given) => !given.includes(null));
  if (distinct) {
    const seen = new Set<string>();
    const types = args.map(({ type }) => type);
    values = values.filter((given) => {
      const key = keyOf(types, given);
      return !seen.has(key) && seen.add(key);
    });
    if (orderBy.length === 0) {
      const keys = args.map((expression) => ({ expression, descending: false, nullsFirst: false }));
      values.sort((left, right) => compareKeys(keys, left, right));
    }
  }
  return fold(aggregate, values, scope.context.evaluation);
}

function* aggregate(plan: Of<"aggregate">, scope: Scope): Iterable<Row> {
  const rows = [...interpretPlan(plan.input, scope)];
  const sets = plan.groupingSets ?? [plan.groups.map((_, index) => index)];
  for (const set of sets) {
    const groups = new Map<string, { values: readonly SqlValue[]; rows: Row[] }>();
    if (set.length === 0) groups.set("", { values: plan.groups.map(() => null), rows: [] });
    for (const row of rows) {
      const values = plan.groups.map(({ expression }, index) =>
        set.includes(index) ? evaluate(inside(scope, row), expression) : null
      );
      const key = set.length === 0 ? "" : keyOf(plan.groups.map(({ expression }) => expression.type), values);
      const group = groups.get(key) ?? { values, rows: [] };
      groups.set(key, group);
      group.rows.push(row);
    }
    for (const group of groups.values()) {
      const result = new Map<ColumnRef, SqlValue>();
      plan.groups.forEach(({ output }, index) => result.set(output, group.values[index] ?? null));
      for (const call of plan.aggregates) result.set(call.output, aggregateValue(call, group.rows, scope));
      for (const { output, groups: of } of plan.groupings) {
        result.set(output, of.reduce((bits, index) => bits * 2 + (set.includes(index) ? 0 : 1), 0));
      }
      yield result;
    }
  }
}

function* limited(plan: Of<"limit">, scope: Scope): Iterable<Row> {
  const bound = (expression: Expression | null, otherwise: number) => {
    const value = expression === null ? null : evaluate(scope, expression);
    return value === null ? otherwise : Number(value);
  };
  const offset = bound(plan.offset, 0);
  const end = offset + bound(plan.limit, Infinity);
  const ties = plan.withTies;
  let count = 0;
  let last: readonly SqlValue[] | null = null;
  if (end === offset) return;
  for (const row of interpretPlan(plan.input, scope)) {
    if (count >= end && ties === null) return;
    const keys = (ties ?? []).map((key) => evaluate(inside(scope, row), key.expression));
    if (count >= end && (ties === null || last === null || compareKeys(ties, last, keys) !== 0)) return;
    count++;
    if (count === end) last = keys;
    if (count > offset) yield row;
    if (count >= end && ties === null) return;
  }
}

function* setOperation(plan: Of<"set_operation">, scope: Scope): Iterable<Row> {
  const inputs = plan.inputs.map(({ plan: input, columns }) =>
    [...interpretPlan(input, scope)].map((row) => {
      const own = inside(scope, row).row;
      return columns.map((column) => own.get(column) ?? null);
    })
  );
  const counts = new Map<string, { readonly values: readonly SqlValue[]; readonly counts: number[] }>();
  inputs.forEach((rows, position) => {
    for (const values of rows) {
      const key = keyOf(plan.types, values);
      const entry = counts.get(key) ?? { values, counts: inputs.map(() => 0) };
      counts.set(key, entry);
      entry.counts[position] = (entry.counts[position] ?? 0) + 1;
    }
  });
  if (plan.operation === "union" && plan.all) {
    for (const values of inputs.flat()) yield named(plan.outputs, values);
    return;
  }
  for (const { values, counts: times } of counts.values()) {
    const [first = 0, ...rest] = times;
    let copies = 1;
    if (plan.operation === "intersect") copies = plan.all ? Math.min(...times) : Math.min(1, ...times);
    else if (plan.operation === "except") {
      copies = plan.all
        ? rest.reduce((left, other) => Math.max(0, left - other), first)
        : Number(first > 0 && rest.every((other) => other === 0));
    }
    for (let copy = 0; copy < copies; copy++) yield named(plan.outputs, values);
  }
}

function* withDefinitions(plan: Of<"with">, scope: Scope): Iterable<Row> {
  const own: Scope = { ...scope, definitions: new Map(scope.definitions), working: new Map(scope.working) };
  for (const { id, columns, types, plan: definition, recursive } of plan.definitions) {
    const pick = (rows: Iterable<Row>, from: readonly ColumnRef[]) =>
      [...rows].map((row) => named(columns, from.map((column) => row.get(column) ?? null)));
    const seen = new Set<string>();
    const fresh = (rows: Row[]) =>
      recursive === null || recursive.all ? rows : rows.filter((row) => {
        const key = keyOf(types, columns.map((column) => row.get(column) ?? null));
        return !seen.has(key) && seen.add(key);
      });
    let working = fresh(pick(interpretPlan(definition, own), columns));
    const result = [...working];
    while (recursive !== null && working.length > 0) {
      own.working.set(id, working);
      working = fresh(pick(interpretPlan(recursive.plan, own), recursive.columns));
      result.push(...working);
    }
    own.definitions.set(id, result);
  }
  yield* interpretPlan(plan.body, own);
}
