/**
 * Conditions go down to where they can first be asked, and every operator gets its method: access paths of tables, join
 * order and methods, orders that come for free.
 *
 * The planner walks the plan once from the top with the conditions that are still to be placed; what an operator cannot
 * let through is right above it.
 */
import {
  columnReference,
  conjunction,
  conjuncts,
  constant,
  expressionKey,
  hasSubquery,
  volatilityOf,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import type { PeekedLiterals } from "../plan/peeked_literals.ts";
import { mapInputs, rewriteExpression, substitute } from "../plan/rewrite.ts";
import { allDefinedColumns, columnsOf, freeColumns } from "../plan/traverse.ts";
import { AccessPaths, isOrdered, type Scan } from "./access_path.ts";
import { copiedScan } from "./copied_scan.ts";
import { COST, CostModel } from "./cost.ts";
import { eagerAggregations, hasJoin, readsRemote } from "./eager_aggregation.ts";
import type { Estimator } from "./estimate.ts";
import { planExtremes } from "./extremes.ts";
import { joinKeys } from "./join_keys.ts";
import { inRangeOrder } from "./key_range.ts";
import { JoinGraph, MAX_RELATIONS, type Relation } from "./join_graph.ts";
import { JoinOrder } from "./join_order.ts";
import { groupRelations } from "./large_joins.ts";
import { refersTo } from "./outer_joins.ts";
import { rowCount, topNCount } from "./top_n.ts";
import { inSet, keysOf, UNKNOWN_LIMIT } from "./unnest.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";

/** A semi join restricts its relation before the other joins when it keeps at most this share of the rows. */
const EARLY_SEMI_SELECTIVITY = 0.5;

/** The least share of rows that a semi or anti join is taken to keep. */
const MIN_KEPT = 0.001;

/** What the operator above would like of a plan. */
interface Wish {
  readonly order?: readonly SortKey[];
  readonly limit?: number;
}

type Join = Plan & { readonly kind: "nested_loop_join" | "hash_join" };
type HashJoin = Plan & { readonly kind: "hash_join" };
type Aggregate = Plan & { readonly kind: "aggregate" };

/**
 * Conditions go down to where they can first be asked, and every operator gets its method: access paths of tables,
 * join order and methods, orders that come for free.
 */
export class PhysicalPlanner {
  readonly #estimator: Estimator;
  readonly #costs: CostModel;
  readonly #access: AccessPaths;
  readonly #environment: PlanningEnvironment;
  readonly #newColumn: () => ColumnRef;
  /** Right sides that were planned by themselves: several ways to join them are compared, at each level of nesting. */
  readonly #planned = new WeakMap<Plan, Plan>();

  constructor(estimator: Estimator, environment: PlanningEnvironment, newColumn: () => ColumnRef) {
    this.#estimator = estimator;
    this.#costs = new CostModel(estimator);
    this.#access = new AccessPaths(estimator, environment, newColumn);
    this.#environment = environment;
    this.#newColumn = newColumn;
  }

  /** Plans an operator and its inputs. */
  plan(plan: Plan): Plan {
    return this.#push(plan, [], {});
  }

  /** Plans the right side of a join under conditions of its own. */
  #planRight(plan: Plan, conditions: readonly Expression[]): Plan {
    if (conditions.length > 0) return this.#push(plan, conditions, {});
    const known = this.#planned.get(plan);
    if (known !== undefined) return known;
    const planned = this.#push(plan, [], {});
    this.#planned.set(plan, planned);
    return planned;
  }

  #above(plan: Plan, conditions: readonly Expression[]): Plan {
    const condition = conjunction(conditions);
    return condition === null ? plan : { kind: "filter", input: plan, condition, rows: 0 };
  }

  #push(plan: Plan, conditions: readonly Expression[], wish: Wish): Plan {
    switch (plan.kind) {
      case "table_scan":
        return this.#access.choose(plan, conditions, wish);
      case "virtual_scan":
        return { ...plan, filter: conjunction([...conjuncts(plan.filter), ...conditions]) };
      case "filter":
        return this.#pushFilter(plan, conditions, wish);
      case "project":
        return this.#pushProject(plan, conditions, wish);
      case "nested_loop_join":
      case "hash_join":
        return this.#pushJoin(plan, conditions, wish);
      case "aggregate":
        return this.#pushAggregate(plan, conditions);
      case "window": {
        const partition = new Set(plan.partition.map(expressionKey));
        const [below, above] = split(
          conditions,
          (each) =>
            isMovable(each) &&
            isMadeOf(each, partition, new Set(plan.calls.map((call) => call.output)), plan.input),
        );
        const input = this.#push(plan.input, below, {});
        return this.#above({ ...plan, input }, above);
      }
      case "distinct": {
        const keys = new Set(plan.keys.flatMap((key) => key.kind === "column" ? [key.column] : []));
        const [below, above] = split(
          conditions,
          (each) => isMovable(each) && isWithin(each, keys, plan.input),
        );
        return this.#above({ ...plan, input: this.#push(plan.input, below, {}) }, above);
      }
      case "sort":
        return this.#pushSort(plan, conditions, wish);
      case "limit":
        return this.#above(this.#planLimit(plan), conditions);
      case "lock_rows":
        return this.#above({ ...plan, input: this.#push(plan.input, [], wish) }, conditions);
      case "set_operation":
        return this.#pushSetOperation(plan, conditions);
      case "function_scan": {
        if (plan.input === null) return this.#above(plan, conditions);
        const own = new Set(plan.functions.flatMap((each) => each.outputs));
        if (plan.ordinality !== null) own.add(plan.ordinality);
        const [above, below] = split(conditions, (each) => refersTo(each, own) || !isMovable(each));
        return this.#above({ ...plan, input: this.#push(plan.input, below, {}) }, above);
      }
      case "with": {
        const planned = mapInputs(plan, (input) => input === plan.body ? input : this.#push(input, [], {}));
        return planned.kind === "with"
          ? { ...planned, body: this.#push(plan.body, conditions, wish) }
          : planned;
      }
      default:
        return this.#above(mapInputs(plan, (input) => this.#push(input, [], {})), conditions);
    }
  }

  #pushFilter(plan: Plan & { readonly kind: "filter" }, conditions: readonly Expression[], wish: Wish): Plan {
    const own = conjuncts(plan.condition);
    // What is asked below is asked first: it may protect the conditions above from errors.
    const [movable, fixed] = split(own, isMovable);
    if (fixed.length > 0) {
      return this.#above(this.#above(this.#push(plan.input, movable, wish), fixed), conditions);
    }
    return this.#push(plan.input, [...own, ...conditions], wish);
  }

  #pushProject(
    plan: Plan & { readonly kind: "project" },
    conditions: readonly Expression[],
    wish: Wish,
  ): Plan {
    const outputs = new Map<ColumnRef, Expression>(
      plan.outputs.map((each) => [each.output, each.expression]),
    );
    const isFree = (condition: Expression) =>
      isMovable(condition) && [...columnsOf(condition)].every((column) => {
        const expression = outputs.get(column);
        return expression === undefined ||
          (volatilityOf(expression) !== "volatile" && !hasSubquery(expression));
      });
    const [below, above] = split(conditions, isFree);
    const order = wish.order?.map((key) => ({ ...key, expression: substitute(key.expression, outputs) }));
    const input = this.#push(
      plan.input,
      below.map((each) => substitute(each, outputs)),
      { ...wish, ...(order === undefined ? {} : { order }) },
    );
    return this.#above({ ...plan, input }, above);
  }

  #pushAggregate(plan: Aggregate, conditions: readonly Expression[]): Plan {
    const extreme = conditions.length === 0 ? planExtremes(plan, this.#access, this.#newColumn) : null;
    if (extreme !== null) return extreme;
    if (plan.groupingSets !== null || plan.groups.length === 0) {
      return this.#above(this.#planAggregate(plan, []), conditions);
    }
    const groups = new Map<ColumnRef, Expression>(plan.groups.map((each) => [each.output, each.expression]));
    const results = new Set(
      [...plan.aggregates, ...plan.groupings].map((each) => each.output),
    );
    const [below, above] = split(
      conditions,
      (each) =>
        isMovable(each) && !refersTo(each, results) && refersTo(each, new Set(groups.keys())) &&
        plan.groups.every((group) => volatilityOf(group.expression) !== "volatile"),
    );
    return this.#above(this.#planAggregate(plan, below.map((each) => substitute(each, groups))), above);
  }

  /** An aggregation behind the joins of its input, or with a part of it below them. */
  #planAggregate(plan: Aggregate, conditions: readonly Expression[]): Plan {
    const whole: Plan = { ...plan, input: this.#push(plan.input, conditions, {}) };
    if (!hasJoin(plan.input) || readsRemote(plan.input, this.#environment)) return whole;
    const input = this.#above(plan.input, conditions);
    const eager = eagerAggregations({ ...plan, input }, this.#estimator, this.#newColumn).map((
      each,
    ): Plan => ({
      ...each,
      input: this.#push(each.input, [], {}),
    }));
    return eager.reduce((best, each) => this.#costs.cost(each) < this.#costs.cost(best) ? each : best, whole);
  }

  #pushSort(plan: Plan & { readonly kind: "sort" }, conditions: readonly Expression[], wish: Wish): Plan {
    const [below, above] = split(conditions, isMovable);
    const limit = wish.limit;
    const input = this.#push(plan.input, below, {
      order: plan.keys,
      ...(limit === undefined ? {} : { limit }),
    });
    return this.#above(isOrdered(input, plan.keys) ? input : { ...plan, input }, above);
  }

  #planLimit(plan: Plan & { readonly kind: "limit" }): Plan {
    const count = rowCount(plan.limit);
    const skipped = rowCount(plan.offset);
    const limit = plan.limit === null ? undefined : (count ?? UNKNOWN_LIMIT) + (skipped ?? 0);
    const input = this.#push(plan.input, [], limit === undefined ? {} : { limit });
    if (plan.limit === null || plan.withTies !== null) return { ...plan, input };
    return { ...plan, input: withTopN(input, topNCount(plan.limit, plan.offset)) };
  }

  #pushSetOperation(
    plan: Plan & { readonly kind: "set_operation" },
    conditions: readonly Expression[],
  ): Plan {
    const own = new Set(plan.outputs);
    const [below, above] = split(
      conditions,
      (each) =>
        isMovable(each) && !hasSubquery(each) && [...columnsOf(each)].some((column) => own.has(column)),
    );
    const inputs = plan.inputs.map((input) => {
      const replacement = new Map<ColumnRef, Expression>();
      plan.outputs.forEach((output, index) => {
        const column = input.columns[index];
        const type = plan.types[index];
        if (column !== undefined && type !== undefined) {
          replacement.set(output, columnReference(column, type, true));
        }
      });
      return {
        ...input,
        plan: this.#push(input.plan, below.map((each) => substitute(each, replacement)), {}),
      };
    });
    return this.#above({ ...plan, inputs }, above);
  }

  #pushJoin(plan: Join, conditions: readonly Expression[], wish: Wish): Plan {
    if (isInner(plan) || asReducing(plan) !== null) return this.#planRegion(plan, conditions, wish);
    const left = allDefinedColumns(plan.left);
    const right = allDefinedColumns(plan.right);
    if (plan.kind === "nested_loop_join" && plan.correlated) {
      const [below, above] = split(
        conditions,
        (each) => isMovable(each) && refersTo(each, left) && !refersTo(each, right),
      );
      const leftPlan = this.#push(plan.left, below, wish);
      const [inside, outside] = plan.join === "inner"
        ? split([...above, ...conjuncts(plan.condition)], (each) => isMovable(each) && refersTo(each, right))
        : [[], above];
      const rightPlan = this.#push(plan.right, inside, {});
      const condition = plan.join === "inner" ? null : plan.condition;
      return this.#above({ ...plan, left: leftPlan, right: rightPlan, condition }, outside);
    }
    if (plan.join === "full" || plan.join === "right" || plan.kind === "hash_join") {
      const [below, above] = plan.kind === "hash_join" && plan.join === "anti"
        ? split(conditions, (each) => isMovable(each) && !refersTo(each, right))
        : [[], conditions];
      const planned = {
        ...plan,
        left: this.#push(plan.left, below, {}),
        right: this.#push(plan.right, [], {}),
      };
      return this.#above(this.#joinMethod(planned, null), above);
    }
    const [below, above] = split(
      conditions,
      (each) => isMovable(each) && !refersTo(each, right) && refersTo(each, left),
    );
    const leftPlan = this.#push(plan.left, below, wish);
    return this.#above(this.#joinTo(leftPlan, plan), above);
  }

  /**
   * A semi or anti join of which so few rows are wanted that looking for partners through an index costs less than
   * hashing all of the right side; null: it does not. If more rows have to be asked, the right side becomes a set after
   * all, so that it costs twice as much at the most.
   */
  #lookUpFirst(left: Plan, plan: Join, wish: Wish): Plan | null {
    const { limit, order } = wish;
    const base = baseOf(plan.right);
    if (plan.kind !== "nested_loop_join" || base === null || limit === undefined) return null;
    if (order !== undefined && !isOrdered(left, order)) return null;
    const [condition, ...others] = conjuncts(plan.condition);
    if (condition === undefined || others.length > 0 || !isMovable(condition)) return null;
    if (readsRemote(plan, this.#environment) || freeColumns(plan.right).size > 0) return null;
    const lookup = this.#access.chooseForJoin(base.scan, base.conditions, [condition]);
    const copy = copiedScan(base.scan, this.#newColumn);
    const right = this.#above(copy.scan, base.conditions.map((each) => substitute(each, copy.columns)));
    const [key, ...more] = keysOf(substitute(condition, copy.columns), right);
    if (lookup === null || key === undefined || more.length > 0) return null;
    this.#estimator.register(right);
    const asked = Math.min(limit, this.#estimator.rows(left));
    const hashed = this.#costs.cost(this.#planRight(plan.right, [])) + COST.hashStart +
      this.#estimator.rows(plan.right) * COST.hashBuildRow;
    if (this.#costs.lookups(lookup, asked) > hashed) return null;
    const after = Math.ceil(hashed / this.#costs.cost(lookup));
    const test = inSet(key, right, this.#newColumn());
    return { ...plan, left, right: lookup, condition: null, correlated: true, otherwise: { after, test } };
  }

  /** Joins a planned left side with the right side of a LEFT, semi or anti join. */
  #joinTo(left: Plan, plan: Join): Plan {
    if (plan.kind === "hash_join") {
      return { ...plan, left, right: this.#planRight(plan.right, []) };
    }
    const leftColumns = allDefinedColumns(left);
    const [inside, across] = split(
      conjuncts(plan.condition),
      (each) =>
        isMovable(each) && !refersTo(each, leftColumns) && refersTo(each, allDefinedColumns(plan.right)),
    );
    const right = this.#planRight(plan.right, inside);
    const base = baseOf(plan.right);
    const planned = { ...plan, left, right, condition: conjunction(across) };
    return this.#joinMethod(
      planned,
      base === null ? null : { ...base, conditions: [...base.conditions, ...inside] },
    );
  }

  /** Hashing, look-ups through an index of the right side, or nested loops. */
  #joinMethod(
    plan: Join,
    base: { readonly scan: Scan; readonly conditions: readonly Expression[] } | null,
  ): Plan {
    if (plan.kind === "hash_join") return plan;
    const keys = joinKeys(plan.condition, allDefinedColumns(plan.left), allDefinedColumns(plan.right));
    const candidates: Plan[] = [];
    if (keys.leftKeys.length > 0) {
      const hash: HashJoin = {
        kind: "hash_join",
        join: plan.join,
        left: plan.left,
        right: plan.right,
        ...keys,
        nullAware: false,
        rows: 0,
      };
      candidates.push(hash);
      if (plan.join === "semi" || plan.join === "anti") candidates.push({ ...hash, keepsLeft: true });
      // The smaller side is the one to keep, whichever one is extended with NULLs.
      if (plan.join === "left") candidates.push(mirrored(hash));
    } else candidates.push(plan, inRangeOrder(plan) ?? plan);
    if (base !== null && plan.join !== "right" && plan.join !== "full") {
      const right = this.#access.chooseForJoin(base.scan, base.conditions, conjuncts(plan.condition));
      if (right !== null) candidates.push({ ...plan, right, condition: null, correlated: true });
    }
    return candidates.reduce((best, each) => this.#costs.cost(each) < this.#costs.cost(best) ? each : best);
  }

  /** Inner joins in any order, with the semi and anti joins around them. */
  #planRegion(plan: Plan, conditions: readonly Expression[], wish: Wish): Plan {
    const region = new Region();
    region.collect(plan);
    const all = [...region.conditions, ...conditions];
    const [free, fixed] = split(all, isMovable);
    // A subquery runs for each row that is left: semi and anti joins go first.
    const [expensive, movable] = region.reducing.length === 0 ? [[], free] : split(free, hasSubquery);
    const { peeked } = this.#environment;
    if (
      peeked !== undefined && region.relations.length > 1 && movable.some((each) => repeats(each, peeked))
    ) {
      peeked.pin();
    }
    const grouped = groupRelations(region.relations, movable, MAX_RELATIONS);
    const graph = new JoinGraph(grouped, movable);
    const early = new Map<number, Join[]>();
    const late: Join[] = [];
    for (const reducing of region.reducing.toReversed()) {
      const index = this.#earlyRelation(graph, region, reducing);
      if (index === null) late.push(reducing);
      else early.set(index, [...(early.get(index) ?? []), reducing]);
    }
    const isSingle = grouped.length === 1;
    const kept = region.reducing.reduce((share, each) => share * this.#keptShare(each), 1);
    // So many rows are asked until enough of them have a partner, or none.
    const own = wish.limit === undefined ? wish : { ...wish, limit: wish.limit / Math.max(kept, MIN_KEPT) };
    const relations = grouped.map((relation, index): Relation => {
      const local = graph.local[index] ?? [];
      const planned = this.#push(relation, local, isSingle ? own : {});
      const base = baseOf(relation);
      const scanned = base === null ? null : { ...base, conditions: [...base.conditions, ...local] };
      return this.#reduce(
        { plan: planned, rows: this.#estimator.rows(planned), base: scanned },
        early.get(index) ?? [],
        isSingle ? own : {},
      );
    });
    const [only] = relations;
    let result = only !== undefined && isSingle ? only.plan : new JoinOrder(graph, relations, {
      estimator: this.#estimator,
      costs: this.#costs,
      access: this.#access,
    }).plan();
    for (const reducing of late) {
      result = (isSingle ? this.#lookUpFirst(result, reducing, own) : null) ?? this.#joinTo(result, reducing);
    }
    return this.#above(result, [...graph.constants, ...expensive, ...fixed]);
  }

  /** The share of rows that a semi or anti join keeps. */
  #keptShare(plan: Join): number {
    if (plan.kind === "hash_join") return 0.5;
    const share = this.#estimator.semiSelectivity(plan.condition, plan.right);
    return plan.join === "semi" ? share : 1 - share;
  }

  #reduce(relation: Relation, joins: readonly Join[], wish: Wish): Relation {
    let result = relation;
    for (const join of joins) {
      const plan = this.#lookUpFirst(result.plan, join, wish) ?? this.#reverseSemi(result, join) ??
        this.#joinTo(result.plan, join);
      result = { plan, rows: this.#estimator.rows(plan), base: null };
    }
    return result;
  }

  /** A few distinct values look up their rows in a large table, instead of the table asking for each of its rows. */
  #reverseSemi(relation: Relation, join: Join): Plan | null {
    if (join.kind !== "nested_loop_join" || join.join !== "semi" || relation.base === null) return null;
    const leftColumns = allDefinedColumns(relation.plan);
    const rightColumns = allDefinedColumns(join.right);
    const keys = joinKeys(join.condition, leftColumns, rightColumns);
    if (keys.residual !== null || keys.rightKeys.length === 0) return null;
    if (!keys.rightKeys.every((each) => each.kind === "column")) return null;
    const right = this.#planRight(join.right, []);
    const distinct: Plan = { kind: "distinct", input: right, keys: keys.rightKeys, rows: 0 };
    const lookup = this.#access.chooseForJoin(
      relation.base.scan,
      relation.base.conditions,
      conjuncts(join.condition),
    );
    if (lookup === null) return null;
    const reversed: Plan = {
      kind: "nested_loop_join",
      join: "inner",
      left: distinct,
      right: lookup,
      condition: null,
      correlated: true,
      rows: 0,
    };
    const straight = this.#joinTo(relation.plan, join);
    return this.#costs.cost(reversed) < this.#costs.cost(straight) ? reversed : null;
  }

  /** The one relation that a semi join restricts, when restricting it early pays. */
  #earlyRelation(graph: JoinGraph, region: Region, join: Join): number | null {
    if (join.join !== "semi" || join.kind !== "nested_loop_join") {
      return region.relations.length === 1 ? 0 : null;
    }
    const mask = conjuncts(join.condition).reduce((sum, each) => sum | graph.maskOf(each), 0);
    if (mask === 0 || (mask & (mask - 1)) !== 0) return null;
    if (region.relations.length === 1) return 0;
    const share = this.#estimator.semiSelectivity(join.condition, join.right);
    return share <= EARLY_SEMI_SELECTIVITY ? 31 - Math.clz32(mask) : null;
  }
}

/**
 * A maximal set of inner joins with the conditions between, and the semi and anti joins that only remove rows of it.
 */
class Region {
  readonly relations: Plan[] = [];
  readonly conditions: Expression[] = [];
  /** From the outermost to the innermost. */
  readonly reducing: Join[] = [];

  collect(plan: Plan): void {
    if (plan.kind === "filter" && conjuncts(plan.condition).every(isMovable)) {
      this.conditions.unshift(...conjuncts(plan.condition));
      this.collect(plan.input);
      return;
    }
    const reducing = this.relations.length === 0 ? asReducing(plan) : null;
    if (reducing !== null) {
      this.reducing.push(reducing);
      this.collect(reducing.left);
      return;
    }
    if (isInner(plan) && plan.kind === "nested_loop_join") {
      this.conditions.push(...conjuncts(plan.condition));
      this.collect(plan.left);
      this.collect(plan.right);
      return;
    }
    this.relations.push(plan);
  }
}

function isInner(plan: Plan): boolean {
  return plan.kind === "nested_loop_join" && plan.join === "inner" && !plan.correlated;
}

/** The plan as a semi or anti join that does not depend on its left side otherwise; null when it is none. */
function asReducing(plan: Plan): Join | null {
  switch (plan.kind) {
    case "nested_loop_join":
      return (plan.join === "semi" || plan.join === "anti") && !plan.correlated ? plan : null;
    case "hash_join":
      return plan.join === "anti" ? plan : null;
    default:
      return null;
  }
}

/**
 * Whether all branches of a disjunction ask one thing, as their literals show and the parameters that these have become
 * do not: `(a = 1 AND b) OR (a = 1 AND c)`.
 */
function repeats(condition: Expression, peeked: PeekedLiterals): boolean {
  if (condition.kind !== "or") return false;
  const valued = (part: Expression): Expression =>
    rewriteExpression(part, (each) => {
      const value = each.kind === "parameter" ? peeked.valueOf(each.index, each.type) : undefined;
      return value === undefined ? each : constant(each.type, value);
    });
  let common: Set<string> | null = null;
  for (const branch of condition.args) {
    const keys = new Set(conjuncts(branch).map((each) => expressionKey(valued(each))));
    common = common === null ? keys : common.intersection(keys);
    if (common.size === 0) return false;
  }
  return true;
}

/** A left join as a right join of its sides. */
function mirrored(plan: HashJoin): Plan {
  const { left, right, leftKeys, rightKeys } = plan;
  return { ...plan, join: "right", left: right, right: left, leftKeys: rightKeys, rightKeys: leftKeys };
}

/** A relation that is a table with conditions on it. */
function baseOf(plan: Plan): { readonly scan: Scan; readonly conditions: readonly Expression[] } | null {
  const conditions: Expression[] = [];
  let source = plan;
  while (source.kind === "filter") {
    conditions.push(...conjuncts(source.condition));
    source = source.input;
  }
  if (source.kind !== "table_scan" || !conditions.every(isMovable)) return null;
  return { scan: source, conditions };
}

/** Whether a condition may be asked at another place, more or less often. */
function isMovable(condition: Expression): boolean {
  return volatilityOf(condition) !== "volatile";
}

function split<T>(list: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of list) (test(item) ? yes : no).push(item);
  return [yes, no];
}

/** Whether all columns of an input that a condition refers to are among the given ones. */
function isWithin(condition: Expression, columns: ReadonlySet<ColumnRef>, input: Plan): boolean {
  const defined = allDefinedColumns(input);
  return [...columnsOf(condition)].every((column) => columns.has(column) || !defined.has(column));
}

/** Whether a condition is about the partition of a window alone. */
function isMadeOf(
  condition: Expression,
  partition: ReadonlySet<string>,
  calls: ReadonlySet<ColumnRef>,
  input: Plan,
): boolean {
  if (refersTo(condition, calls)) return false;
  const defined = allDefinedColumns(input);
  return [...columnsOf(condition)].every((column) => !defined.has(column) || partition.has(`c${column}`));
}

/** Hands the count to the sort below, through operators that keep rows one to one. */
function withTopN(plan: Plan, count: Expression): Plan {
  switch (plan.kind) {
    case "sort":
      return { ...plan, limit: count };
    case "project": {
      const input = withTopN(plan.input, count);
      return input === plan.input ? plan : { ...plan, input };
    }
    default:
      return plan;
  }
}
