/**
 * Hash operators over more rows than fit into a statement's memory: the rows of their inputs are divided by the hash of
 * their keys, so that rows with equal keys are in one part, and the operator runs for one part after the other
 * (DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984).
 *
 * A statement is compiled so when it has failed for want of memory otherwise; see `spills` of `ExecutionContext`.
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { inputs } from "../../sql/plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { keyKindOf } from "../codegen/key_code.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import type { Program, Region, Sink } from "../codegen/region.ts";
import { Batches } from "./batches.ts";
import { DividedCode, type DividedInput, type KeptSize } from "./divided_code.ts";
import { DividedFilters } from "./divided_filters.ts";
import { producePasses } from "./passes.ts";
import { produceRounds } from "./rounds.ts";

/** The inputs of an operator that runs part by part; null: it must have all rows at once, or puts some aside. */
export function dividedInputs(plan: Plan): readonly DividedInput[] | null {
  const all = groupsStay(plan) ? null : inputsOf(plan);
  return all?.every(({ keys }) => areSteady(keys)) === true ? all : null;
}

/**
 * Whether groups take no more memory with each row: those that there are go on, and only rows of others are put aside.
 */
export function groupsStay(plan: Plan): boolean {
  return plan.kind === "aggregate" && plan.groupingSets === null &&
    plan.aggregates.every(({ aggregate, distinct, orderBy }) =>
      !aggregate.orderSensitive && !distinct && orderBy.length === 0
    ) &&
    inputsOf(plan)?.every(({ keys }) => areSteady(keys)) === true;
}

function inputsOf(plan: Plan): readonly DividedInput[] | null {
  switch (plan.kind) {
    case "aggregate": {
      // Each of several sets is divided otherwise: see `produceDividedSets`.
      if (plan.groupingSets !== null) return null;
      const keys = plan.groups.filter(({ isDependent }) => isDependent !== true);
      return [{ plan: plan.input, keys: keys.map(({ expression }) => expression), isKept: true }];
    }
    case "hash_join": {
      const { left, right, leftKeys, rightKeys, keepsLeft = false } = plan;
      const types = (keys: readonly Expression[]) => keys.map(({ type }) => type);
      const keptSize = joinedSize(types(leftKeys), types(rightKeys));
      const sides = [
        { plan: left, keys: leftKeys, others: types(rightKeys), isKept: keepsLeft, keptSize },
        { plan: right, keys: rightKeys, others: types(leftKeys), isKept: !keepsLeft, keptSize },
      ];
      // What is kept runs first, as ever.
      return keepsLeft ? sides : sides.toReversed();
    }
    case "set_operation":
      if (plan.operation === "union") return null;
      return plan.inputs.map((input, index) => ({
        plan: input.plan,
        keys: columnExpressions(input.columns, plan.types),
        isKept: index === 0,
      }));
    default:
      return null;
  }
}

/** What kept rows of a join take: chains, buckets and keys, which have codes. */
function joinedSize(left: readonly SqlType[], right: readonly SqlType[]): KeptSize {
  const isCoded = left.map((type, index) => {
    const kind = keyKindOf(type, right[index] ?? type);
    return kind !== "number" && kind !== "number_or_bigint" && kind !== "boolean";
  });
  const codes = isCoded.reduce((sum, isCoded) => sum + (isCoded ? CODED_KEY_BYTES : KEY_BYTES), 0);
  return { rowBytes: TABLE_ROW_BYTES + codes, copies: isCoded.includes(true) ? 2 : 1 };
}

/** Chains and buckets, less the hash in the file. */
const TABLE_ROW_BYTES = 13;
/** A key's code, and its bits in a filter. */
const KEY_BYTES = 10;
/** The same, and the key in a table of codes. */
const CODED_KEY_BYTES = 160;

/** What a row that an operator keeps takes, by and large. */
const KEPT_ROW_BYTES = 200;

/**
 * The bytes that an operator is likely to keep when rows have been given out already, behind which nothing begins anew:
 * one in a branch of UNION ALL behind the first.
 */
export function keptBehindRows(plan: Plan): number {
  const kept = (part: Plan): number => {
    const own = inputsOf(part)?.map((input) => input.isKept ? keptRowsOf(part, input) : 0) ?? [];
    return Math.max(0, ...own, ...inputs(part).map(kept));
  };
  const isUnion = plan.kind === "set_operation" && plan.operation === "union" && plan.all;
  const branches = isUnion ? inputs(plan).slice(1).map(kept) : [];
  return Math.max(0, ...branches.map((rows) => rows * KEPT_ROW_BYTES), ...inputs(plan).map(keptBehindRows));
}

/** Of an aggregation the groups. */
function keptRowsOf(plan: Plan, input: DividedInput): number {
  return plan.kind === "aggregate" ? rowsOf(plan) : rowsOf(input.plan);
}

function rowsOf(plan: Plan): number {
  return "rows" in plan ? plan.rows : 0;
}

/** Columns as expressions. */
export function columnExpressions(
  columns: readonly ColumnRef[],
  types: readonly SqlType[],
): readonly Expression[] {
  return columns.map((column, index) => ({
    kind: "column",
    type: types[index] ?? { kind: "unknown" },
    column,
    nullable: true,
  }));
}

/** Whether keys are the same whenever they are computed from a row. */
export function areSteady(keys: readonly Expression[]): boolean {
  return keys.length > 0 &&
    keys.every((key) => !expressionFacts(key).volatile && !expressionFacts(key).hasSubquery);
}

/** Puts an operator, which `produce` puts into a region, there part by part, or a join in passes. */
export function produceDivided(
  plan: Plan,
  divided: readonly DividedInput[],
  region: Program,
  sink: Sink,
  produce: (region: Region, sink: Sink) => void,
): void {
  const divide = (region: Program) => produceParts(plan, divided, region, (rounds) => produce(rounds, sink));
  if (plan.kind !== "hash_join") return divide(region);
  producePasses(plan, region, { divide, produce: (joined) => produce(joined, sink) });
}

function produceParts(
  plan: Plan,
  divided: readonly DividedInput[],
  region: Program,
  produce: (region: Program) => void,
): void {
  const { compilation } = region;
  const isJoin = plan.kind === "hash_join";
  const sides = divided.map((input) => ({
    input,
    code: new DividedCode(compilation, input, { apart: isJoin && !input.isKept }),
  }));
  for (const { code } of sides) region.reset(...code.slots);
  const [kept, other] = sides;
  const batches = isJoin && kept !== undefined && other !== undefined
    ? produceSides(plan, { kept, other }, region)
    : null;
  if (batches === null) {
    for (const { input, code } of sides) {
      region.produce(input.plan, code.sink({}));
      code.finish(plan, region);
    }
  }
  const sources = sides.map(({ input, code }) => [input.plan, code.source] as const);
  const produceHere = (rounds: Program) => compilation.readDivided(new Map(sources), () => produce(rounds));
  const pieces = isJoin ? piecesSlot(plan, compilation) : null;
  produceRounds(plan, sides.map(({ code }) => code), region, produceHere, { pieces, batches });
}

/** An input with its code. */
interface Side {
  readonly input: DividedInput;
  readonly code: DividedCode;
}

/** Puts the sides of a join into a region; what rows of the other side do that are not written is the answer. */
function produceSides(
  plan: Plan & { readonly kind: "hash_join" },
  { kept, other }: { readonly kept: Side; readonly other: Side },
  region: Program,
): Batches {
  const { compilation } = region;
  const nulls = plan.nullAware ? nullsSlot(plan, compilation) : null;
  const filters = new DividedFilters(compilation, plan);
  const batches = new Batches(compilation, {
    kept: kept.code,
    other: other.code,
    plan: other.input.plan,
    filters,
  });
  region.reset(batches.slot, filters.slot, ...nulls === null ? [] : [nulls]);
  region.produce(
    kept.input.plan,
    kept.code.sink({
      key: (code, value, position) => {
        if (nulls !== null) noteNull(code, value, nulls);
        filters.note(code, value, position);
      },
      hash: (code, hash) => filters.noteHash(code, hash),
    }),
  );
  kept.code.finish(plan, region);
  region.add(batches.decision);
  region.produce(
    other.input.plan,
    other.code.sink({
      key: (code, value) => filters.test(code, value),
      hash: (code, hash) => filters.testHash(code, hash),
      batches,
    }),
  );
  return batches;
}

/** See {@link nullsSlot}. */
function noteNull(code: Emitter, { isNull }: Value, slot: number): void {
  if (isNull === null) code.emit(`S.x[${slot}] ??= 1;`);
  else code.emit(`if (${isNull}) S.x[${slot}] = 2; else S.x[${slot}] ??= 1;`);
}

/** Holds what {@link JoinPieces} a join runs over; undefined: it has all rows of a part at once. */
export function piecesSlot(plan: Plan, compilation: Compilation): number {
  return compilation.slotFor(compilation.derivedKey(plan, "pieces"));
}

/** Holds of a divided NOT IN whether there are values that are excluded (1), and a NULL among them (2). */
export function nullsSlot(plan: Plan, compilation: Compilation): number {
  return compilation.slotFor(compilation.derivedKey(plan, "nulls"));
}

/**
 * Puts an aggregation for several grouping sets into a region, each part by part; false: that cannot be. `produce`
 * puts one for some of the sets there.
 */
export function produceDividedSets(
  plan: Extract<Plan, { kind: "aggregate" }>,
  region: Program,
  { direct, produce }: {
    /** Takes the rows itself. */
    readonly direct: (plan: Extract<Plan, { kind: "aggregate" }>) => { rows: Sink; finish: () => void };
    readonly produce: (plan: Extract<Plan, { kind: "aggregate" }>, region: Program) => void;
  },
): boolean {
  const { compilation } = region;
  const { groups, groupingSets, input } = plan;
  if (groupingSets === null || !areSteady(groups.map(({ expression }) => expression))) return false;
  const sides = groupingSets.filter((set) => set.length > 0).map((set) => ({
    plan: { ...plan, groupingSets: [set] },
    code: new DividedCode(compilation, {
      plan: input,
      keys: groups.flatMap(({ expression }, index) => set.includes(index) ? [expression] : []),
      isKept: true,
    }),
  }));
  const whole = direct({ ...plan, groupingSets: groupingSets.filter((set) => set.length === 0) });
  for (const { code } of sides) region.reset(...code.slots);
  const sinks = [whole.rows, ...sides.map(({ code }) => code.sink({}))];
  region.produce(input, {
    open: (code) => sinks.forEach((sink) => sink.open(code)),
    row: (code) => sinks.forEach((sink) => sink.row(code)),
    close: (code) => sinks.forEach((sink) => sink.close(code)),
  });
  for (const { code } of sides) code.finish(plan, region);
  whole.finish();
  for (const side of sides) {
    produceRounds(plan, [side.code], region, (rounds) => {
      compilation.readDivided(new Map([[input, side.code.source]]), () => produce(side.plan, rounds));
    });
  }
  return true;
}
