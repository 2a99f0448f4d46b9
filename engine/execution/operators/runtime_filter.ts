/**
 * What a hash join knows of its kept keys is asked of the rows of the other side where they are scanned: blocks whose
 * keys all lie beyond the least and the greatest kept one are not read, nothing is when no row is kept, and rows that
 * other joins come to first are asked for their bit of the filter (see `runtime/key_filter.ts`) before these do.
 *
 * The kept side is complete by then: of several joins the outermost one keeps its rows first.
 */
import { assert } from "../../base/assert.ts";
import type { BoundAggregate } from "../../sql/functions/definition.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { isHarmless } from "../../sql/plan/harmless.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { withoutIdentityCasts } from "../../sql/plan/build.ts";
import { allDefinedColumns } from "../../sql/plan/traverse.ts";
import type { ZonePredicate } from "../../storage/access/readable_table.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Compilation, RuntimeFilter, ScanRange } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { HashIndex } from "../runtime/hash_index.ts";
import { type FilterParts, KeyFilter } from "../runtime/key_filter.ts";
import { KeptFilters } from "../runtime/kept_filters.ts";
import { KeyRange } from "../runtime/key_ranges.ts";

type TableScan = Extract<Plan, { kind: "table_scan" }>;

/** Types whose values are their key codes, or integers that are not safe. */
export const INTEGERS: ReadonlySet<SqlType["kind"]> = new Set([
  "i8",
  "i16",
  "i32",
  "i64",
  "u8",
  "u16",
  "u32",
  "date",
]);

/** For measurements: joins below a filter have fewer rows than their conditions alone would leave. */
export const RUNTIME_FILTERS = { areOffered: true };

/**
 * Offers what is going to be known of the kept keys to the scans below the other side of a join, whose rows end without
 * a partner. `slot` holds a {@link HashIndex} or {@link KeptFilters} by then. Answers which keys are asked for.
 */
export function offerFilters(
  compilation: Compilation,
  side: Plan,
  { keys, others, slot, isDivided = false }: {
    readonly keys: readonly Expression[];
    readonly others: readonly Expression[];
    readonly slot: number;
    /** The rows of the other side are put aside, and come to the join's own test only then. */
    readonly isDivided?: boolean;
  },
): readonly boolean[] {
  // Over parts there is an index for each of them.
  if (compilation.spills && !isDivided || !RUNTIME_FILTERS.areOffered) return keys.map(() => false);
  return keys.map((expression, position) => {
    const key = withoutIdentityCasts(expression);
    if (key.kind !== "column" || !INTEGERS.has(key.type.kind)) return false;
    if (!INTEGERS.has(others[position]?.type.kind ?? "unknown")) return false;
    const found = scanOf(side, key.column);
    const column = found?.scan.columns.find(({ output }) => output === found.column);
    if (found === null || column === undefined) return false;
    const { scan, isDirect } = found;
    const filter: RuntimeFilter = {
      key: { ...key, column: column.output },
      columnId: column.columnId,
      slot,
      position,
      isDirect: isDirect && !isDivided,
    };
    compilation.runtimeFilters.set(scan, [...compilation.runtimeFilters.get(scan) ?? [], filter]);
    return true;
  });
}

/** A table's scan, or rows of it that are chosen and projected, of which ranges of a key can be read. */
export interface RangedScan extends Omit<ScanRange, "slot"> {
  readonly scan: TableScan;
}

/**
 * How a plan can be read by ranges of a key; null: it cannot. Conditions may fail: each row is in one of the ranges.
 */
export function rangedScan(plan: Plan, expression: Expression | undefined): RangedScan | null {
  const key = expression === undefined ? undefined : withoutIdentityCasts(expression);
  if (key?.kind !== "column") return null;
  switch (plan.kind) {
    case "table_scan": {
      const column = plan.columns.find(({ output }) => output === key.column);
      if (column === undefined) return null;
      return { scan: plan, key, columnId: column.columnId, isNullable: column.nullable };
    }
    case "filter":
      return rangedScan(plan.input, key);
    case "project": {
      const made = plan.outputs.find(({ output }) => output === key.column)?.expression;
      return rangedScan(plan.input, made ?? key);
    }
    default:
      return null;
  }
}

/** While the action puts scans into a region they give rows of the range alone that the slot holds. */
export function readRange(
  { scanRanges }: Compilation,
  scans: readonly RangedScan[],
  slot: number,
  action: () => void,
): void {
  for (const { scan, ...range } of scans) scanRanges.set(scan, { ...range, slot });
  action();
  for (const { scan } of scans) scanRanges.delete(scan);
}

/** What a scan of a range need not read. */
export function prunedByRange(state: ExecutionState, range: ScanRange | null): readonly ZonePredicate[] {
  return range === null ? [] : rangeOf(state, range.slot).predicates(range.columnId, range.isNullable);
}

function rangeOf(state: ExecutionState, slot: number): KeyRange {
  const range = state.x[slot];
  assert(range instanceof KeyRange, "a range is at hand");
  return range;
}

/** Declares the range of a scan; the answer emits the test of a row. */
export function openRange(code: Emitter, wanted: ScanRange | null): (code: Emitter) => void {
  if (wanted === null) return () => {};
  const range = code.define("range", `${code.use("rangeOf", rangeOf)}(S, ${wanted.slot})`);
  const [low, end] = [code.define("low", `${range}.low`), code.define("end", `${range}.end`)];
  const hasNulls = code.define("hasNulls", `${range}.hasNulls`);
  return (code) => {
    const { code: value, isNull } = emitValue(code, wanted.key);
    const isOut = `${value} < ${low} || ${value} >= ${end}`;
    code.emit(`if (${isNull === null ? isOut : `${isNull} ? !${hasNulls} : ${isOut}`}) ${code.skip}`);
  };
}

/** Where a column comes from, if the rows of the scan may end there. */
interface Origin {
  readonly scan: TableScan;
  readonly column: ColumnRef;
  /** No other join is in between. */
  readonly isDirect: boolean;
}

function scanOf(plan: Plan, column: ColumnRef): Origin | null {
  switch (plan.kind) {
    case "table_scan":
      return plan.filter === null || isHarmless(plan.filter) ? { scan: plan, column, isDirect: true } : null;
    case "filter":
      return isHarmless(plan.condition) ? scanOf(plan.input, column) : null;
    case "project": {
      const made = plan.outputs.find(({ output }) => output === column)?.expression;
      if (made !== undefined && made.kind !== "column") return null;
      return scanOf(plan.input, made?.column ?? column);
    }
    case "aggregate": {
      const group = plan.groups.find(({ output }) => output === column)?.expression;
      const parts = plan.aggregates.flatMap((
        { args, filter },
      ) => [...args, ...filter === null ? [] : [filter]]);
      if (plan.groupingSets !== null || group?.kind !== "column" || !parts.every(isHarmless)) return null;
      if (!plan.aggregates.every(({ aggregate }) => FOLDS.has(aggregate.name) && !isOfFloats(aggregate))) {
        return null;
      }
      const found = scanOf(plan.input, group.column);
      return found === null ? null : { ...found, isDirect: false };
    }
    case "hash_join": {
      const parts = [...plan.leftKeys, ...plan.rightKeys, ...(plan.residual === null ? [] : [plan.residual])];
      if (plan.join === "right" || plan.join === "full" || !parts.every(isHarmless)) return null;
      const isOfLeft = allDefinedColumns(plan.left).has(column);
      if (!isOfLeft && plan.join !== "inner") return null;
      const found = scanOf(isOfLeft ? plan.left : plan.right, column);
      return found === null ? null : { ...found, isDirect: false };
    }
    case "exchange":
      return plan.isKept === true ? scanOf(plan.input, column) : null;
    default:
      return null;
  }
}

/** Aggregates that raise nothing, but for sums of floating point. */
const FOLDS: ReadonlySet<string> = new Set(["count", "sum", "avg", "min", "max"]);

function isOfFloats({ argumentTypes }: BoundAggregate): boolean {
  return argumentTypes.some(({ kind }) => kind === "f32" || kind === "f64" || kind === "interval");
}

/** What a scan need not read; null: nothing. */
export function prunedByFilters(
  state: ExecutionState,
  filters: readonly RuntimeFilter[],
): readonly ZonePredicate[] | null {
  const result: ZonePredicate[] = [];
  for (const { columnId, slot, position } of filters) {
    const filter = filterOf(state, slot, position);
    if (filter === null) continue;
    const { low, high } = filter;
    if (low > high) return null;
    // Codes beyond these are of integers that are not safe, in no order.
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) continue;
    const few = keptKeysOf(state, slot)?.fewKeys(position) ?? null;
    const between = few === null ? {} : { between: (from: number, to: number) => hasBetween(few, from, to) };
    result.push(
      { columnId, operator: ">=", value: low, ...between },
      { columnId, operator: "<=", value: high },
    );
  }
  return result;
}

/** Whether one of the keys, in ascending order, lies from one to the other. */
function hasBetween(keys: Float64Array, from: number, to: number): boolean {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low < keys.length && (keys[low] as number) <= to;
}

function keptKeysOf(state: ExecutionState, slot: number): HashIndex | KeptFilters | null {
  const kept = state.x[slot];
  return kept instanceof HashIndex || kept instanceof KeptFilters ? kept : null;
}

function filterOf(state: ExecutionState, slot: number, position: number): FilterParts | null {
  return keptKeysOf(state, slot)?.filters[position] ?? null;
}

/** The filter, or one that lets all pass. */
export function rowFilterOf(state: ExecutionState, slot: number, position: number): FilterParts {
  return filterOf(state, slot, position) ??
    new KeyFilter(state, Infinity, { low: -Infinity, high: Infinity });
}

/** What code knows of a filter: see {@link FilterParts}. */
export type FilterNames = Readonly<Record<keyof FilterParts, string>>;

/** Declares the parts of a filter. */
export function nameFilter(code: Emitter, filter: string): FilterNames {
  return {
    words: code.define("words", `${filter}.words`),
    mask: code.define("mask", `${filter}.mask`),
    low: code.define("low", `${filter}.low`),
    high: code.define("high", `${filter}.high`),
  };
}

/** A test that a filter does not have a key, which is a number. */
export function missesFilter(key: string, { words, mask, low, high }: FilterNames): string {
  return `${key} < ${low} || ${key} > ${high} || (${words}[(${key} & ${mask}) >>> 5] & (1 << ${key})) === 0`;
}

/** Declares the filters of joins that a scan's rows do not come to first; the answer emits the tests of a row. */
export function openRowFilters(code: Emitter, filters: readonly RuntimeFilter[]): (code: Emitter) => void {
  const named = filters.filter(({ isDirect }) => !isDirect).map(({ key, slot, position }) => {
    const filter = code.define("filter", `${code.use("rowFilterOf", rowFilterOf)}(S, ${slot}, ${position})`);
    return { key, names: nameFilter(code, filter) };
  });
  return (code) => {
    for (const { key, names } of named) {
      const { code: value, isNull, plain } = emitValue(code, key);
      const known = plain === true ? "" : `typeof ${value} === "number" && `;
      const present = isNull === null ? "" : `!(${isNull}) && `;
      code.emit(`if (${present}${known}(${missesFilter(value, names)})) ${code.skip}`);
    }
  };
}
