/**
 * Divides a plan between where rows are and where the statement runs. The largest parts whose rows come of each place's
 * rows alone become fragments: scans and look-ups with their conditions, projections, aggregates over parts of the
 * rows, the first rows of an order. A `gather` stands in the plan for the rows of all places.
 *
 * What a fragment holds answers the same everywhere: no subqueries, nothing volatile, nothing that asks the session.
 */
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { assertDefined } from "../../base/assert.ts";
import { columnReference, conjunction, conjuncts, hasSubquery } from "../plan/build.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Fragment, Plan, PlannedStatement, SortKey } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import {
  allDefinedColumns,
  columnsOf,
  columnTypes,
  outputColumns,
  ownExpressions,
  readsTables,
  visitPlan,
} from "../plan/traverse.ts";
import { topNCount } from "../planner/top_n.ts";
import { fragmentText, NoText } from "./fragment_text.ts";
import { isSteady, isSteadyAggregate } from "./steady_expression.ts";
import {
  areColocated,
  bytesOf,
  columnOfKey,
  exchangedBytes,
  hashGroup,
  isCopied,
  type Placement,
  placementsAfter,
  placementsOf,
  type Spread,
  wayOf,
  withoutPasses,
} from "./join_places.ts";
import {
  asHashJoin,
  givesFew,
  isEverywhere,
  type LookupJoin,
  lookupJoin,
  placementsOfLookup,
} from "./lookup_join.ts";
import { accessInOrder } from "./access_order.ts";
import { groupsApart } from "./groups_apart.ts";
import { ColumnMentions } from "./column_mentions.ts";
import { isSlowToSort, orderOfWindow } from "./shared_sort.ts";
import { LiftedValues } from "./lifted_values.ts";
import { partialAggregate } from "./partial_aggregate.ts";
import {
  type Access,
  accesses,
  hasExchanges,
  isAccess,
  isClosed,
  isCount,
  isExact,
  isOrderSensitive,
  keptSides,
  mayAskSession,
  parametersOf,
  visibleTypes,
  withoutInputs,
} from "./plan_facts.ts";
import { pointsOf } from "./points.ts";

/** A plan that gives at all places together the rows that it gives over all rows, and the order that it keeps. */
interface Divisible {
  readonly plan: Plan;
  readonly order: readonly SortKey[];
  readonly placements: readonly Placement[];
  /** Roughly the bytes that travel between places, and those that would travel to one place instead. */
  readonly bytes: { readonly exchanged: number; readonly read: number };
}

type Aggregate = Plan & { readonly kind: "aggregate" };
type Distinct = Plan & { readonly kind: "distinct" };
type HashJoin = Plan & { readonly kind: "hash_join" };
type NestedLoop = Plan & { readonly kind: "nested_loop_join" };

/** Less than this is gathered rather than exchanged: each exchange costs messages between all places. */
const SMALL_BYTES = 4096;

/**
 * How many rows of a table that threads share out are read for each row that travels, at the least: what it costs to
 * travel is some times what it costs to scan or to probe, and a group is merged besides (with a 40th of the rows, as in
 * Q3 of TPC-H, two workers were slower than none). Groups apart are fewer than they are taken for. A row of a side that
 * is kept does not travel, but is copied to where all threads see it, for what reading two of the other side costs.
 */
const READ_FOR = { row: 32, group: 64, groupApart: 8, kept: 4 } as const;

/** Rows of groups that take no more are sent to one place each, so that a join above runs where other rows are. */
const FEW_BYTES = 1 << 18;

/** The statement's plan with gathers in it; null: nothing of it runs elsewhere. */
export function splitPlan({ plan, columns, parts }: PlannedStatement, spread: Spread): Plan | null {
  if (parts !== undefined || plan.kind === "update" || plan.kind === "delete") return null;
  const splitter = new Splitter(plan, columns.map(({ column }) => column), spread);
  // Subqueries are computed where their rows are asked for, which may be for none.
  const split = spread.shared !== undefined
    ? splitter.split(plan, true)
    : splitter.values.restore(splitter.split(splitter.values.lift(plan), true));
  const [first, ...more] = splitter.made;
  if (first === undefined) return null;
  first.isAlone = more.length === 0 && !readsTables(split);
  return split;
}

/** A fragment before it is known what else the plan reads. */
type MadeFragment = Fragment & { isAlone: boolean };

class Splitter {
  readonly made: MadeFragment[] = [];
  readonly values: LiftedValues;
  readonly #mentions = new ColumnMentions();
  readonly #spread: Spread;
  #nextColumn = 0;
  #nextExchange = 1;
  /** Joins around what is divided. */
  #joins = 0;

  constructor(root: Plan, results: readonly ColumnRef[], spread: Spread) {
    this.#spread = spread;
    this.values = new LiftedValues(root, (subquery) => this.#subqueries(subquery));
    for (const column of results) this.#mentions.add(column);
    this.#mentions.addPlan(root);
    visitPlan(root, {
      plan: (each) => {
        for (const column of outputColumns(each)) this.#nextColumn = Math.max(this.#nextColumn, column);
      },
    });
    for (const column of this.#mentions.columns) this.#nextColumn = Math.max(this.#nextColumn, column);
  }

  /** Whether so many rows may travel for a fragment over a plan, where that matters. */
  #isFew(what: keyof typeof READ_FOR, rows: number, over: Plan): boolean {
    const { shared } = this.#spread;
    // The table that is shared out comes first.
    const [access] = accesses(over);
    return shared === undefined || rows * READ_FOR[what] <= shared.rows(access?.table.id ?? 0);
  }

  /** Places keep parts of rows at the most. */
  get #isTight(): boolean {
    return this.#spread.room !== "all";
  }

  get #isByMorsels(): boolean {
    return this.#spread.shared !== undefined;
  }

  readonly newColumn = (): ColumnRef => ++this.#nextColumn;

  /** `ordered`: what is above may depend on the order of the rows. */
  split(plan: Plan, ordered: boolean): Plan {
    switch (plan.kind) {
      case "lock_rows":
      case "update":
      case "delete":
        return plan;
      case "aggregate":
        return this.#aggregate(plan) ?? this.#inside(plan, plan.aggregates.some(isOrderSensitive));
      case "filter":
        return this.#having(plan) ?? this.#whole(plan, ordered) ?? this.#inside(plan, ordered);
      case "sort":
        return this.#sort(plan) ?? this.#inside(plan, false);
      case "window":
        return this.#window(plan) ?? this.#inside(plan, ordered);
      case "limit":
        return this.#limit(plan) ?? this.#inside(plan, true);
      case "distinct":
        return this.#distinct(plan, ordered) ?? this.#inside(plan, true);
      case "nested_loop_join":
        if (this.#isByMorsels) return { ...plan, left: this.split(plan.left, ordered) };
        return this.#whole(plan, ordered) ?? this.#lookUpHere(plan, ordered) ?? this.#inside(plan, ordered);
      case "with":
        // The terms of a recursion run again and again.
        if (this.#isByMorsels && plan.definitions.some(({ recursive }) => recursive !== null)) return plan;
        return this.#inside(plan, ordered);
      default:
        return this.#whole(plan, ordered) ?? this.#scanInPart(plan, ordered) ?? this.#inside(plan, ordered);
    }
  }

  #inside(plan: Plan, ordered: boolean): Plan {
    const mapped = mapInputs(plan, (input) => this.split(input, ordered));
    if (this.#isByMorsels) return mapped;
    return mapOwnExpressions(mapped, (expression) => this.#subqueries(expression));
  }

  #subqueries(expression: Expression): Expression {
    if (!hasSubquery(expression)) return expression;
    return mapOperands(expression, (each) => this.#subqueries(each), (plan) => this.split(plan, true));
  }

  #whole(plan: Plan, ordered: boolean): Plan | null {
    const divisible = this.#divide(plan, ordered);
    if (divisible === null) return null;
    if (isTooMuch(divisible, this.#outputs(plan)) || !this.#isFew("row", plan.rows, plan)) return null;
    return this.#gathered(divisible, ordered);
  }

  #gathered({ plan, order }: Pick<Divisible, "plan" | "order">, ordered: boolean): Plan | null {
    return this.#gather(plan, { order: ordered ? order : [] });
  }

  /** Conditions that need more than the table's rows stay behind. */
  #scanInPart(plan: Plan, ordered: boolean): Plan | null {
    if (!isAccess(plan) || plan.filter === null) return null;
    const own = allDefinedColumns(plan);
    const isOwn = (each: Expression) => isSteady(each, own);
    const all = conjuncts(plan.filter);
    const here = conjunction(all.filter((each) => !isOwn(each)));
    // What stands before a condition in the order of evaluation may keep an error from being raised.
    if (
      this.#isByMorsels && !all.slice(all.findIndex((each) => !isOwn(each))).every((each) => !isOwn(each))
    ) {
      return null;
    }
    if (here === null) return null;
    const scan: Access = { ...plan, filter: conjunction(all.filter(isOwn)) };
    const pruned = scan.kind === "table_scan"
      ? { ...scan, prune: scan.prune.filter(({ value }) => isSteady(value, NO_COLUMNS)) }
      : scan;
    const gathered = this.#whole(pruned, ordered);
    if (gathered === null) return null;
    return { kind: "filter", input: gathered, condition: this.#subqueries(here), rows: plan.rows };
  }

  #aggregate(plan: Plan & { readonly kind: "aggregate" }): Plan | null {
    const input = this.#divide(plan.input, false);
    if (input === null) return null;
    const own = allDefinedColumns(plan.input);
    if (!ownExpressions(plan).every((each) => isSteady(each, own))) return null;
    if (!plan.aggregates.every(isSteadyAggregate)) return null;
    if (this.#isByMorsels) {
      if (plan.groupingSets !== null || !plan.aggregates.every(isExact) || isCount(plan)) return null;
      if (!this.#isFew("group", plan.rows, plan.input)) return null;
    }
    if (this.#spread.room === "none" && plan.groups.length > 0) return null;
    const split = partialAggregate({ ...plan, input: input.plan }, this.newColumn);
    // What keeps all rows of a group has more room here.
    if (split === null && (this.#isTight || this.#isByMorsels)) return null;
    if (split === null || this.#isTight && plan.groups.length > 0) {
      return this.#aggregateByKey(plan, input);
    }
    const gather = this.#gather(split.part, { given: split.columns });
    return gather === null ? null : { ...split.whole, input: gather };
  }

  /** A condition on groups, which many of them need not travel for. */
  #having({ input: plan, condition, rows }: Plan & { readonly kind: "filter" }): Plan | null {
    if (!this.#isByMorsels || plan.kind !== "aggregate" || plan.groupingSets !== null) return null;
    if (!plan.aggregates.every(isSteadyAggregate) || !plan.aggregates.every(isExact)) return null;
    const own = allDefinedColumns(plan);
    if (![condition, ...ownExpressions(plan)].every((each) => isSteady(each, own))) return null;
    const input = this.#divide(plan.input, false);
    if (input === null) return null;
    const split = groupsApart({ ...plan, input: input.plan }, condition, {
      column: this.newColumn,
      parameter: () => this.values.newParameter(),
    });
    if (split === null || !this.#isFew("groupApart", rows, plan.input)) return null;
    const [table] = accesses(plan.input);
    if (this.#spread.shared?.isInOrderOf(table?.table.id ?? 0, split.apart.columnId) !== true) return null;
    const gather = this.#gather({ ...split.part, rows } as Plan, {
      given: split.columns,
      apart: split.apart,
    });
    return gather === null
      ? null
      : { kind: "filter", input: { ...split.whole, input: gather }, condition, rows };
  }

  /** Aggregates that need all rows of a group, or all equal values, in one place: these are sent there. */
  #aggregateByKey(plan: Aggregate, input: Divisible): Plan | null {
    const columns = this.#outputs(plan.input);
    const isCopy = isCopied(input.placements);
    if (plan.groupingSets !== null || columns === null || isCopy || plan.aggregates.some(isOrderSensitive)) {
      return null;
    }
    if (!this.#isTight && bytesOf(plan.input.rows, columns) < SMALL_BYTES) return null;
    const exchange = (keys: readonly Expression[]) =>
      this.#exchangeByKeys(input.plan, columns, keys, keys.map(({ type }) => type));
    if (plan.groups.length > 0) {
      const own = plan.groups.filter(({ isDependent }) => isDependent !== true);
      const { plan: sent, keys } = exchange(own.map(({ expression }) => expression));
      const groups = plan.groups.map((group) => {
        const expression = keys[own.indexOf(group)];
        return expression === undefined ? group : { ...group, expression };
      });
      return this.#gather({ ...plan, input: sent, groups });
    }
    const values = plan.aggregates.flatMap(({ distinct, args }) => distinct ? [args] : []);
    const [value, ...more] = values[0] ?? [];
    const isSame = ([one, ...others]: readonly Expression[]): boolean =>
      one?.kind === "column" && value?.kind === "column" && one.column === value.column &&
      others.length === 0;
    if (value === undefined || more.length > 0 || values.length > 1 && !values.every(isSame)) return null;
    const { plan: sent, keys } = exchange([value]);
    const aggregates = plan.aggregates.map((call) => call.distinct ? { ...call, args: keys } : call);
    const split = partialAggregate({ ...plan, input: sent, aggregates }, this.newColumn, true);
    if (split === null) return null;
    const gather = this.#gather(split.part, { given: split.columns });
    return gather === null ? null : { ...split.whole, input: gather };
  }

  #sort(plan: Plan & { readonly kind: "sort" }): Plan | null {
    const input = this.#divide(plan.input, false);
    if (input === null || plan.limit !== null && !isSteady(plan.limit, NO_COLUMNS)) return null;
    const own = allDefinedColumns(plan.input);
    if (!plan.keys.every(({ expression }) => isSteady(expression, own))) return null;
    if (this.#isTight) return null;
    const part = { ...plan, input: input.plan };
    // Each pass has an order of its own.
    const merges = exchangedBytes(input.plan) === null && !this.#isByMorsels;
    if (plan.limit === null) {
      const isWorth = this.#isByMorsels
        ? isSlowToSort(plan.keys)
        : merges && !isTooMuch(input, this.#outputs(plan));
      if (!isWorth) return null;
    }
    const gather = this.#gather(part, { order: plan.keys, merges });
    // Merged, they are in order; LIMIT above takes the first.
    return gather === null || merges ? gather : { ...plan, input: gather };
  }

  /** Its rows come in order by stretches, each from a thread that has sorted it. */
  #window(plan: Plan & { readonly kind: "window" }): Plan | null {
    const keys = orderOfWindow(plan);
    if (!this.#isByMorsels || !isSlowToSort(keys)) return null;
    const sort = this.#sort({ kind: "sort", input: plan.input, keys, limit: null, rows: plan.rows });
    return sort?.kind === "sort" ? { ...plan, input: sort.input } : null;
  }

  #limit(plan: Plan & { readonly kind: "limit" }): Plan | null {
    const { limit, offset, withTies } = plan;
    if (limit === null || withTies !== null) return null;
    const input = this.#divide(plan.input, true);
    if (input === null) return null;
    const count = topNCount(limit, offset);
    if (!isSteady(count, NO_COLUMNS)) return null;
    const first: Plan = { ...plan, input: input.plan, limit: count, offset: null };
    const gathered = this.#gathered({ plan: first, order: input.order }, true);
    return gathered === null ? null : { ...plan, input: gathered };
  }

  /** The keys; null: not all of the columns are keys, so that it matters which row is the first. */
  #keysOf(plan: Distinct): ReadonlySet<ColumnRef> | null {
    const keys = new Set(plan.keys.flatMap((key) => key.kind === "column" ? [key.column] : []));
    if (keys.size !== plan.keys.length) return null;
    // Its own keys are named by what remains here.
    return this.#mentions.neededAbove(plan).every((column) => keys.has(column)) ? keys : null;
  }

  #distinct(plan: Distinct, ordered: boolean): Plan | null {
    const input = this.#divide(plan.input, ordered);
    if (input === null || ordered && input.order.length > 0) return null;
    const keys = this.#keysOf(plan);
    if (keys === null) return null;
    if (!this.#isFew("group", plan.rows, plan.input)) return null;
    const part: Plan = { ...plan, input: input.plan, isPartial: true };
    const gather = this.#gather(part, { given: [...keys] });
    return gather === null ? null : { ...plan, input: gather };
  }

  /** `order`: the one that the rows have; `merges`: it is that of the rows of all places, too. */
  #gather(
    plan: Plan,
    { order = [], merges = true, given, apart }: {
      readonly order?: readonly SortKey[];
      readonly merges?: boolean;
      readonly given?: readonly ColumnRef[];
      readonly apart?: Fragment["apart"];
    } = {},
  ): Plan | null {
    const tables = accesses(plan).map(({ table }) => table);
    if (tables.some(({ schema }) => isTemporarySchema(schema))) return null;
    const keys = order.flatMap(({ expression }) => [...columnsOf(expression)]);
    const computed: { readonly output: ColumnRef; readonly expression: Expression }[] = [];
    const places = order.map(({ expression }) => {
      const known = columnOfKey(expression);
      if (known !== null || !merges) return known ?? 0;
      const output = this.newColumn();
      computed.push({ output, expression });
      return output;
    });
    const named = given ?? [...new Set([...this.#mentions.neededAbove(plan), ...keys])];
    const rows = "rows" in plan ? plan.rows : 0;
    const whole: Plan = computed.length === 0
      ? plan
      : { kind: "project", input: plan, outputs: computed, rows };
    const outputs = this.#outputs(whole, [...named, ...computed.map(({ output }) => output)]);
    if (outputs === null) return null;
    const positions = places.map((place) => outputs.findIndex(({ column }) => column === place));
    const merge = order.length === 0 || !merges ? null : order.map(({ descending, nullsFirst }, index) => ({
      position: assertDefined(positions[index], "a position for each key"),
      descending,
      nullsFirst,
    }));
    const fragment = {
      plan: whole,
      merge,
      columns: outputs,
      hasExchanges: hasExchanges(plan),
      exchangedBytes: exchangedBytes(plan),
      parameters: parametersOf(plan),
      asksSession: mayAskSession(plan),
      tableIds: tables.map(({ id }) => id),
      tables,
      points: hasExchanges(plan) ? [] : pointsOf(plan),
      ...(apart === undefined ? {} : { apart }),
      ...(this.#isByMorsels ? { isShared: true as const } : {}),
    };
    try {
      const text = fragmentText({ ...fragment, plan: this.#isByMorsels ? withoutInputs(whole) : whole });
      const made: MadeFragment = { ...fragment, plan: this.#fed(whole), text, isAlone: false };
      this.made.push(made);
      return {
        kind: "gather",
        fragment: made,
        values: this.values.valuesOf(made.parameters),
        kept: keptSides(made.plan),
        rows: plan.rows,
      };
    } catch (error) {
      if (error instanceof NoText) return null;
      throw error;
    }
  }

  /** What is kept for threads that share a table out may be divided itself. */
  #fed(plan: Plan): Plan {
    if (!this.#isByMorsels) return plan;
    if (plan.kind !== "exchange") return mapInputs(plan, (input) => this.#fed(input));
    return { ...plan, input: this.split(plan.input, true) };
  }

  /** Columns of a plan with their types; null: there is one that it does not give. */
  #outputs(
    plan: Plan,
    columns: readonly ColumnRef[] = this.#mentions.neededAbove(plan),
  ): Fragment["columns"] | null {
    const types = columnTypes(plan);
    const seen = visibleTypes(plan);
    const outputs = columns.map((column) => ({ column, type: types.get(column) ?? seen.get(column) }));
    return outputs.some(({ type }) => type === undefined) ? null : outputs as Fragment["columns"];
  }

  #side(plan: Plan, ordered: boolean): Divisible | null {
    this.#joins++;
    try {
      return this.#divide(plan, ordered);
    } finally {
      this.#joins--;
    }
  }

  /** A join whose sides are brought together. */
  #join(plan: HashJoin, ordered: boolean): Divisible | null {
    if (this.#spread.room === "none") return null;
    const own = allDefinedColumns(plan);
    if (!ownExpressions(plan).every((each) => isSteady(each, own))) return null;
    const left = this.#side(plan.left, ordered);
    const right = this.#side(plan.right, false);
    if (left === null || right === null) return null;
    const { order } = left;
    const bytes = {
      exchanged: left.bytes.exchanged + right.bytes.exchanged,
      read: left.bytes.read + right.bytes.read,
    };
    if (!this.#isTight && areColocated(plan, left.placements, right.placements)) {
      return {
        plan: { ...plan, left: left.plan, right: right.plan },
        order,
        placements: placementsAfter(plan.join, left.placements, right.placements),
        bytes,
      };
    }
    // Each place would send all rows of a copy.
    if (isCopied(left.placements) || isCopied(right.placements)) return null;
    const [leftColumns, rightColumns] = [this.#outputs(plan.left), this.#outputs(plan.right)];
    if (leftColumns === null || rightColumns === null) return null;
    if (!this.#isTight && bytes.read < SMALL_BYTES) return null;
    const found = wayOf(
      plan,
      { left: bytesOf(plan.left.rows, leftColumns), right: bytesOf(plan.right.rows, rightColumns) },
      this.#spread,
    );
    if (found === null || found.way !== "broadcast_right" && ordered && order.length > 0) return null;
    const sum = { ...bytes, exchanged: bytes.exchanged + found.bytes };
    switch (found.way) {
      case "broadcast_right":
        return {
          plan: { ...plan, left: left.plan, right: this.#exchange(right.plan, rightColumns) },
          order,
          placements: left.placements,
          bytes: sum,
        };
      case "broadcast_left":
        return {
          plan: { ...plan, left: this.#exchange(left.plan, leftColumns), right: right.plan },
          order: [],
          placements: right.placements,
          bytes: sum,
        };
      case "repartition":
        return { ...this.#repartition(plan, left.plan, right.plan, [leftColumns, rightColumns]), bytes: sum };
    }
  }

  /** A join whose left side is shared out, while threads share the hash table of the right one, made before. */
  #sharedJoin(plan: HashJoin): Divisible | null {
    const { join, nullAware, keepsLeft, right, rightKeys } = plan;
    if (join === "right" || join === "full" || nullAware || keepsLeft === true || !isClosed(right)) {
      return null;
    }
    const own = allDefinedColumns(plan);
    if (!ownExpressions(plan).every((each) => isSteady(each, own))) return null;
    const left = this.#divide(plan.left, false);
    if (!this.#isFew("kept", right.rows, plan.left)) return null;
    const isTest = join === "semi" || join === "anti";
    const kept = isTest && plan.residual === null ? [] : this.#mentions.neededAbove(right, rightKeys);
    const columns = this.#outputs(right, kept);
    if (left === null || columns === null) return null;
    const exchange: Plan = { ...this.#exchange(right, columns), isKept: true };
    return { ...left, plan: { ...plan, left: left.plan, right: exchange } };
  }

  #repartition(
    plan: HashJoin,
    left: Plan,
    right: Plan,
    [leftColumns, rightColumns]: readonly [Fragment["columns"], Fragment["columns"]],
  ): Omit<Divisible, "bytes"> {
    const types = (keys: readonly Expression[]) => keys.map(({ type }) => type);
    const first = this.#exchangeByKeys(left, leftColumns, plan.leftKeys, types(plan.rightKeys));
    const second = this.#exchangeByKeys(right, rightColumns, plan.rightKeys, types(plan.leftKeys));
    const joined: HashJoin = {
      ...plan,
      left: first.plan,
      leftKeys: first.keys,
      right: second.plan,
      rightKeys: second.keys,
    };
    return {
      plan: joined,
      order: [],
      placements: placementsAfter(plan.join, first.placements, second.placements),
    };
  }

  /** Sends each row to all places. */
  #exchange(input: Plan, columns: Fragment["columns"]): Plan & { readonly kind: "exchange" } {
    const number = this.#nextExchange++;
    return {
      kind: "exchange",
      number,
      input: withoutPasses(input),
      columns,
      keys: null,
      inPasses: false,
      rows: input.rows,
    };
  }

  /** Sends each row to the place that its keys say; `others`: the types that they are compared with. */
  #exchangeByKeys(
    input: Plan,
    given: Fragment["columns"],
    expressions: readonly Expression[],
    others: readonly SqlType[],
  ): {
    readonly plan: Plan;
    readonly keys: readonly Expression[];
    readonly placements: readonly Placement[];
  } {
    const columns = [...given];
    const computed: { readonly output: ColumnRef; readonly expression: Expression }[] = [];
    const keys: Expression[] = [];
    const positions = expressions.map((expression) => {
      const known = columnOfKey(expression);
      const position = columns.findIndex(({ column }) => column === known);
      if (position >= 0) {
        keys.push(expression);
        return position;
      }
      const output = this.newColumn();
      computed.push({ output, expression });
      keys.push(columnReference(output, expression.type, true));
      return columns.push({ column: output, type: expression.type }) - 1;
    });
    const { rows } = input;
    const beneath: Plan = computed.length === 0 ? input : { kind: "project", input, outputs: computed, rows };
    const group = hashGroup(keys.map(({ type }, index) => ({ type, other: others[index] ?? type })));
    return {
      plan: {
        kind: "exchange",
        number: this.#nextExchange++,
        input: withoutPasses(beneath),
        columns,
        keys: positions.map((position, index) => ({
          position,
          other: assertDefined(others[index], "a type for each key"),
        })),
        inPasses: true,
        rows,
      },
      keys,
      placements: [{ group, columns: keys.map((key) => columnOfKey(key) ?? 0) }],
    };
  }

  /** The plan, if its rows are those that it gives at each place; `ordered`: with the order that it keeps. */
  #divide(plan: Plan, ordered: boolean): Divisible | null {
    switch (plan.kind) {
      case "table_scan":
      case "row_lookup":
      case "row_range":
      case "index_scan": {
        if (this.#isByMorsels && plan.kind !== "table_scan") return null;
        const own = allDefinedColumns(plan);
        const { filter } = plan;
        const others = ownExpressions(plan).filter((each) => each !== filter);
        if (!others.every((each) => isSteady(each, NO_COLUMNS))) return null;
        if (filter !== null && !conjuncts(filter).every((each) => isSteady(each, own))) return null;
        return {
          ...(ordered ? accessInOrder(plan, this.newColumn) : { plan, order: [] }),
          placements: placementsOf(plan),
          bytes: { exchanged: 0, read: bytesOf(plan.rows, plan.columns) },
        };
      }
      case "filter": {
        const input = this.#divide(plan.input, ordered);
        if (input === null || !isSteady(plan.condition, allDefinedColumns(plan.input))) return null;
        return { ...input, plan: { ...plan, input: input.plan } };
      }
      case "project": {
        const input = this.#divide(plan.input, ordered);
        const own = allDefinedColumns(plan.input);
        if (input === null || !plan.outputs.every(({ expression }) => isSteady(expression, own))) return null;
        return { ...input, plan: { ...plan, input: input.plan } };
      }
      case "distinct":
        return this.#divideDistinct(plan, ordered);
      case "aggregate":
        return this.#isByMorsels ? null : this.#divideGroups(plan);
      case "hash_join":
        return this.#isByMorsels ? this.#sharedJoin(plan) : this.#join(plan, ordered);
      case "nested_loop_join":
        return this.#isByMorsels || this.#spread.room === "none" ? null : this.#lookUp(plan, ordered);
      default:
        return null;
    }
  }

  /** What is distinct at each place is so over all places where equal rows are at one. */
  #divideDistinct(plan: Distinct, ordered: boolean): Divisible | null {
    const input = this.#divide(plan.input, ordered);
    const keys = this.#keysOf(plan);
    if (input === null || keys === null || ordered && input.order.length > 0) return null;
    if (this.#isByMorsels || this.#isTight || exchangedBytes(input.plan) !== null) return null;
    const placements = input.placements.filter((each) => isWithin(each, keys));
    return placements.length === 0 ? null : { ...input, plan: { ...plan, input: input.plan }, placements };
  }

  /** Groups whose rows are at one place each; beneath a join few rows are sent there, so that it may run there, too. */
  #divideGroups(plan: Aggregate): Divisible | null {
    if (plan.groups.length === 0 || plan.groupingSets !== null || this.#isTight) return null;
    const input = this.#divide(plan.input, false);
    const own = allDefinedColumns(plan.input);
    if (input === null || !ownExpressions(plan).every((each) => isSteady(each, own))) return null;
    if (!plan.aggregates.every(isSteadyAggregate) || plan.aggregates.some(isOrderSensitive)) return null;
    const outputs = new Map(
      plan.groups.flatMap(({ expression, output }) =>
        expression.kind === "column" ? [[expression.column, output]] : []
      ),
    );
    const named = (placements: readonly Placement[]): Placement[] =>
      placements.filter((each) => isWithin(each, outputs)).map(({ group, columns }) => ({
        group,
        columns: columns.map((column) => assertDefined(outputs.get(column), "a group's output")),
      }));
    const placements = exchangedBytes(input.plan) === null ? named(input.placements) : [];
    const { bytes } = input;
    if (placements.length > 0) return { plan: { ...plan, input: input.plan }, order: [], placements, bytes };
    const columns = this.#outputs(plan.input);
    if (columns === null || isCopied(input.placements) || plan.groups.length !== outputs.size) return null;
    const travelling = bytesOf(plan.input.rows, columns);
    if (this.#joins === 0 || travelling > FEW_BYTES) return null;
    const keys = plan.groups.map(({ expression }) => expression);
    const sent = this.#exchangeByKeys(input.plan, columns, keys, keys.map(({ type }) => type));
    return {
      plan: { ...plan, input: sent.plan },
      order: [],
      placements: named(sent.placements),
      bytes: { ...bytes, exchanged: bytes.exchanged + travelling },
    };
  }

  /** A join that looks for the rows of a table: where they are, or by hashing. */
  #lookUp(plan: NestedLoop, ordered: boolean): Divisible | null {
    const lookup = this.#lookupOf(plan);
    if (lookup === null) return null;
    const own = allDefinedColumns(plan);
    const { right } = lookup;
    const expressions = [...ownExpressions(plan), ...ownExpressions(right)].flatMap(conjuncts);
    if (!expressions.every((each) => isSteady(each, own))) return null;
    const rightPlaces = placementsOfLookup(lookup);
    const read = bytesOf(plan.rows, right.columns);
    if (isEverywhere(plan.left)) {
      if (!isCopied(rightPlaces) && plan.join !== "inner") return null;
      return { plan, order: [], placements: rightPlaces, bytes: { exchanged: 0, read } };
    }
    const left = this.#side(plan.left, ordered);
    if (left === null) return null;
    const bytes = { exchanged: left.bytes.exchanged, read: left.bytes.read + read };
    const { order } = left;
    const keys = {
      join: plan.join,
      nullAware: false,
      leftKeys: lookup.keys.map(({ value }) => value),
      rightKeys: lookup.keys.map(({ column, value }) => columnReference(column, value.type, true)),
    };
    if (areColocated(keys, left.placements, rightPlaces)) {
      const placements = placementsAfter(plan.join, left.placements, rightPlaces);
      return { plan: { ...plan, left: left.plan }, order, placements, bytes };
    }
    const columns = this.#outputs(plan.left);
    const isInOrder = ordered && order.length > 0;
    if (plan.join === "inner" && !isInOrder && columns !== null && !givesFew(plan.left)) {
      const travelling = bytesOf(plan.left.rows, columns);
      if (travelling <= this.#spread.broadcastBytes) {
        const exchanged = bytes.exchanged + travelling * (this.#spread.count - 1);
        return {
          plan: { ...plan, left: this.#exchange(left.plan, columns) },
          order: [],
          placements: rightPlaces,
          bytes: { ...bytes, exchanged },
        };
      }
    }
    const hashed = givesFew(plan.left) ? null : this.#asHashJoin(lookup);
    return hashed === null ? null : this.#join(hashed, ordered);
  }

  readonly #lookups = new Map<Plan, LookupJoin | null>();

  #lookupOf(plan: NestedLoop): LookupJoin | null {
    let known = this.#lookups.get(plan);
    if (known === undefined) this.#lookups.set(plan, known = lookupJoin(plan, this.newColumn));
    return known;
  }

  readonly #hashed = new Map<LookupJoin, HashJoin | null>();

  /** The join by hashing, whose keys are named once more than in the statement's plan. */
  #asHashJoin(lookup: LookupJoin): HashJoin | null {
    const known = this.#hashed.get(lookup);
    if (known !== undefined) return known;
    const made = asHashJoin(lookup);
    for (const key of made?.rightKeys ?? []) {
      for (const column of columnsOf(key)) this.#mentions.add(column);
    }
    this.#hashed.set(lookup, made);
    return made;
  }

  /** What would look for more rows than are fetched one by one, where the left side is here. */
  #lookUpHere(plan: NestedLoop, ordered: boolean): Plan | null {
    const lookup = this.#lookupOf(plan);
    if (lookup === null || givesFew(plan.left) || isEverywhere(plan.left)) return null;
    const hashed = this.#asHashJoin(lookup);
    return hashed === null ? null : this.#inside(hashed, ordered);
  }
}

/** What a join multiplies had better travel before it. */
function isTooMuch(
  { plan, bytes: { exchanged, read } }: Divisible,
  columns: Fragment["columns"] | null,
): boolean {
  return exchanged > 0 && exchanged + bytesOf("rows" in plan ? plan.rows : 0, columns ?? []) > read * 2;
}

/** Whether rows that are equal in these columns are at one place. */
function isWithin({ columns }: Placement, keys: { has(column: ColumnRef): boolean }): boolean {
  return columns.length > 0 && columns.every((column) => keys.has(column));
}

const NO_COLUMNS: ReadonlySet<ColumnRef> = new Set();
