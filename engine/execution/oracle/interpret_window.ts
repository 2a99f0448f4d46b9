/**
 * Window functions, interpreted: each result from the definition of its frame.
 */
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { FrameBound, Plan, WindowCall } from "../../sql/plan/plan.ts";
import type { SqlValue } from "../../types/value.ts";
import { evaluate, inside, isTrue, type Row, type Scope } from "./interpret_expression.ts";
import { compareKeys, fold, keyOf, sortRows } from "./interpret_plan.ts";

type Window = Extract<Plan, { kind: "window" }>;

/** The rows with the results of the window's calls, by partition and order. */
export function interpretWindow(plan: Window, rows: readonly Row[], scope: Scope): Row[] {
  const partitionKeys = plan.partition.map((expression) => ({
    expression,
    descending: false,
    nullsFirst: false,
  }));
  const sorted = sortRows(rows, [...partitionKeys, ...plan.order], scope);
  const partitions = new Map<string, Row[]>();
  for (const row of sorted) {
    const values = plan.partition.map((part) => evaluate(inside(scope, row), part));
    const key = keyOf(plan.partition.map(({ type }) => type), values);
    const partition = partitions.get(key) ?? [];
    partitions.set(key, partition);
    partition.push(row);
  }
  return [...partitions.values()].flatMap((partition) =>
    partition.map((row, index) => {
      const result = new Map<ColumnRef, SqlValue>(row);
      for (const call of plan.calls) result.set(call.output, resultOf(plan, call, partition, index, scope));
      return result;
    })
  );
}

function resultOf(
  plan: Window,
  call: WindowCall,
  rows: readonly Row[],
  index: number,
  scope: Scope,
): SqlValue {
  const current = rows[index] as Row;
  const argument = (position: number, row: Row): SqlValue => {
    const expression = call.args[position];
    return expression === undefined ? null : evaluate(inside(scope, row), expression);
  };
  const keys = (row: Row) => plan.order.map((key) => evaluate(inside(scope, row), key.expression));
  const isPeer = (row: Row) => compareKeys(plan.order, keys(row), keys(current)) === 0;
  const before = rows.filter((row) => compareKeys(plan.order, keys(row), keys(current)) < 0);
  const frame = frameOf(plan, call, rows, index, scope).map((position) => rows[position] as Row);
  if ("aggregate" in call.function) {
    const { aggregate } = call.function;
    const values = frame.filter((row) => isTrue(inside(scope, row), call.filter))
      .map((row) => call.args.map((_, position) => argument(position, row)))
      .filter((given) => !aggregate.skipsNulls || !given.includes(null));
    return fold(aggregate, values, scope.context.evaluation);
  }
  switch (call.function.name) {
    case "row_number":
      return index + 1;
    case "rank":
      return before.length + 1;
    case "dense_rank":
      return new Set(
        before.map((row) => keyOf(plan.order.map(({ expression }) => expression.type), keys(row))),
      ).size + 1;
    case "percent_rank":
      return rows.length === 1 ? 0 : before.length / (rows.length - 1);
    case "cume_dist":
      return (before.length + rows.filter(isPeer).length) / rows.length;
    case "ntile": {
      const first = rows.findIndex((row) => argument(0, row) !== null);
      if (first < 0 || index < first) return null;
      const buckets = Number(argument(0, rows[first] as Row));
      const sizes = Array.from(
        { length: buckets },
        (_, bucket) => Math.floor(rows.length / buckets) + (bucket < rows.length % buckets ? 1 : 0),
      );
      let bucket = 0;
      for (let left = index - first; left >= (sizes[bucket] ?? 0); bucket++) left -= sizes[bucket] ?? 0;
      return bucket + 1;
    }
    case "lag":
    case "lead": {
      const offset = call.args.length > 1 ? argument(1, current) : 1;
      if (offset === null) return null;
      const target = rows[call.function.name === "lag" ? index - Number(offset) : index + Number(offset)];
      return target === undefined ? argument(2, current) : argument(0, target);
    }
    case "first_value":
      return frame[0] === undefined ? null : argument(0, frame[0]);
    case "last_value": {
      const last = frame[frame.length - 1];
      return last === undefined ? null : argument(0, last);
    }
    default: {
      const nth = frame[Number(argument(1, current)) - 1];
      return nth === undefined ? null : argument(0, nth);
    }
  }
}

/** Positions in the frame of a row. RANGE offsets are interpreted for plain numbers. */
function frameOf(
  plan: Window,
  call: WindowCall,
  rows: readonly Row[],
  index: number,
  scope: Scope,
): number[] {
  const { mode, start, end, exclude } = call.frame;
  const keys = rows.map((row) => plan.order.map((key) => evaluate(inside(scope, row), key.expression)));
  const peers = (left: number, right: number) =>
    compareKeys(plan.order, keys[left] ?? [], keys[right] ?? []) === 0;
  const groups: number[] = [];
  rows.forEach((_, position) => {
    const previous = groups[position - 1] ?? 0;
    groups.push(position === 0 ? 0 : peers(position - 1, position) ? previous : previous + 1);
  });
  const group = groups[index] ?? 0;
  const withinStart = (position: number) => within(start, position, 1);
  const withinEnd = (position: number) => within(end, position, -1);
  function within(bound: FrameBound, position: number, side: 1 | -1): boolean {
    if (!("offset" in bound)) {
      if (bound.kind === "current_row") {
        return (mode === "rows" ? position - index : (groups[position] ?? 0) - group) * side >= 0;
      }
      return bound.kind === "unbounded_preceding" ? side === 1 : side === -1;
    }
    const offset = Number(evaluate(scope, bound.offset)) * (bound.kind === "preceding" ? -1 : 1);
    if (mode === "rows") return (position - (index + offset)) * side >= 0;
    if (mode === "groups") return ((groups[position] ?? 0) - (group + offset)) * side >= 0;
    const own = keys[index]?.[0] ?? null;
    const other = keys[position]?.[0] ?? null;
    if (own === null) return ((groups[position] ?? 0) - group) * side >= 0;
    if (other === null) return (position - index) * side > 0 ? false : false;
    const distance = (Number(other) - Number(own)) * (plan.order[0]?.descending === true ? -1 : 1);
    return (distance - offset) * side >= 0;
  }
  return rows.map((_, position) => position)
    .filter((position) => withinStart(position) && withinEnd(position))
    .filter((position) => {
      if (exclude === "current row") return position !== index;
      if (exclude === "group") return !peers(position, index);
      return exclude !== "ties" || position === index || !peers(position, index);
    });
}
