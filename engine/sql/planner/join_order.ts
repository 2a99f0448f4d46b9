/**
 * The order of inner joins: dynamic programming over connected subgraphs and their complements, bushy trees included
 * (G. Moerkotte, T. Neumann, "Analysis of Two Existing and One New Dynamic Programming Algorithm for the Generation of
 * Optimal Bushy Join Trees without Cross Products", VLDB 2006), greedy beyond {@link MAX_EXACT} relations.
 *
 * Cross products are made of parts that nothing connects, and of nothing else.
 */
import { conjunction, conjuncts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns } from "../plan/traverse.ts";
import type { AccessPaths } from "./access_path.ts";
import { COST, type CostModel, nestedCost, sortCost } from "./cost.ts";
import type { Estimator } from "./estimate.ts";
import type { JoinGraph, Relation } from "./join_graph.ts";
import { joinKeys } from "./join_keys.ts";
import { inRangeOrder, keyRange } from "./key_range.ts";
import { JoinSizes } from "./join_sizes.ts";

/** Up to so many relations all orders are compared. */
const MAX_EXACT = 12;

/**
 * A search ends when it has seen so many pairs of sets, all of ten relations that are each connected to each: what each
 * takes is about a microsecond.
 */
const MAX_PAIRS = 30_000;

interface Step {
  readonly cost: number;
  readonly rows: number;
  readonly left: number;
  readonly right: number;
  readonly method: "leaf" | "hash" | "lookup" | "nested";
}

/** Finds a good order for the relations of a graph and builds the joins. */
export class JoinOrder {
  readonly #graph: JoinGraph;
  readonly #relations: readonly Relation[];
  readonly #costs: CostModel;
  readonly #access: AccessPaths;
  readonly #sizes: JoinSizes;
  /** By set of relations. */
  readonly #steps = new Map<number, Step>();
  /** By relation: those that a condition connects it to. */
  readonly #adjacent: readonly number[];
  /** Sets that equal columns connect when one member is on each side. */
  readonly #classes: readonly number[];
  readonly #lookupCosts = new Map<string, number>();
  readonly #plans = new Map<number, Plan>();
  #pairs = 0;

  constructor(
    graph: JoinGraph,
    relations: readonly Relation[],
    services: { readonly estimator: Estimator; readonly costs: CostModel; readonly access: AccessPaths },
  ) {
    this.#graph = graph;
    this.#relations = relations;
    this.#costs = services.costs;
    this.#access = services.access;
    this.#sizes = new JoinSizes(graph, relations, services.estimator);
    const classes = graph.classes.map((each) => graph.maskOfClass(each));
    this.#classes = classes.filter((_, at) => graph.classes[at]?.pinned === false);
    this.#adjacent = relations.map((_, index) => {
      let adjacent = 0;
      for (const mask of [...classes, ...graph.conditions.map(({ mask }) => mask)]) {
        if ((mask >> index) & 1) adjacent |= mask;
      }
      return adjacent & ~(1 << index);
    });
  }

  /** The joined plan. */
  plan(): Plan {
    const count = this.#relations.length;
    this.#relations.forEach((relation, index) =>
      this.#steps.set(1 << index, {
        cost: this.#costs.cost(relation.plan),
        rows: relation.rows,
        left: 0,
        right: 0,
        method: "leaf",
      })
    );
    if (count <= MAX_EXACT) this.#exact(count);
    if (count > MAX_EXACT || this.#pairs > MAX_PAIRS) this.#greedy(count);
    return this.#build((1 << count) - 1);
  }

  /** The relations beside a set that a condition connects to it. */
  #neighbors(mask: number): number {
    let result = 0;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      result |= this.#adjacent[31 - Math.clz32(rest & -rest)] as number;
    }
    return result & ~mask;
  }

  /** Each connected set, with each connected set beside it, after all that either consists of. */
  #exact(count: number): void {
    for (let index = count - 1; index >= 0 && this.#pairs <= MAX_PAIRS; index--) {
      const own = 1 << index;
      this.#complements(own);
      this.#growConnected(own, own | (own - 1));
    }
    this.#crossProducts(count);
  }

  #growConnected(mask: number, excluded: number): void {
    const neighbors = this.#neighbors(mask) & ~excluded;
    if (neighbors === 0 || this.#pairs > MAX_PAIRS) return;
    for (let added = neighbors & -neighbors;; added = (added - neighbors) & neighbors) {
      this.#complements(mask | added);
      if (added === neighbors) break;
    }
    for (let added = neighbors & -neighbors;; added = (added - neighbors) & neighbors) {
      this.#growConnected(mask | added, excluded | neighbors);
      if (added === neighbors) break;
    }
  }

  #complements(mask: number): void {
    const least = mask & -mask;
    const excluded = mask | (least - 1);
    const neighbors = this.#neighbors(mask) & ~excluded;
    for (let rest = neighbors; rest !== 0;) {
      const own = 1 << (31 - Math.clz32(rest));
      rest &= ~own;
      this.#pair(mask, own);
      this.#growComplement(mask, own, excluded | (neighbors & (own | (own - 1))));
    }
  }

  #growComplement(mask: number, other: number, excluded: number): void {
    const neighbors = this.#neighbors(other) & ~excluded;
    if (neighbors === 0 || this.#pairs > MAX_PAIRS) return;
    for (let added = neighbors & -neighbors;; added = (added - neighbors) & neighbors) {
      this.#pair(mask, other | added);
      if (added === neighbors) break;
    }
    for (let added = neighbors & -neighbors;; added = (added - neighbors) & neighbors) {
      this.#growComplement(mask, other | added, excluded | neighbors);
      if (added === neighbors) break;
    }
  }

  #pair(left: number, right: number): void {
    const [a, b] = [this.#steps.get(left), this.#steps.get(right)];
    if (a === undefined || b === undefined) return;
    this.#pairs++;
    this.#consider(left, right, a, b);
    this.#consider(right, left, b, a);
  }

  /** Joins the parts that nothing connects. */
  #crossProducts(count: number): void {
    const parts: number[] = [];
    for (let rest = (1 << count) - 1; rest !== 0;) {
      let part = rest & -rest;
      for (let more = this.#neighbors(part); more !== 0; more = this.#neighbors(part)) part |= more;
      parts.push(part);
      rest &= ~part;
    }
    for (let chosen = 1; chosen < 1 << parts.length; chosen++) {
      const union = (set: number) =>
        parts.reduce((mask, part, at) => (set >> at) & 1 ? mask | part : mask, 0);
      for (let left = (chosen - 1) & chosen; left > 0; left = (left - 1) & chosen) {
        if (left > (chosen & ~left)) this.#pair(union(left), union(chosen & ~left));
      }
    }
  }

  #greedy(count: number): void {
    let parts = Array.from({ length: count }, (_, index) => 1 << index);
    while (parts.length > 1) {
      let best: {
        readonly left: number;
        readonly right: number;
        readonly rows: number;
        readonly linked: boolean;
      } | null = null;
      for (const [index, left] of parts.entries()) {
        const neighbors = this.#neighbors(left);
        for (const right of parts.slice(index + 1)) {
          const linked = (neighbors & right) !== 0;
          if (!linked && best?.linked === true) continue;
          const rows = this.#sizes.size(left | right);
          const isBetter = best === null || (linked && !best.linked) ||
            (linked === best.linked && rows < best.rows);
          if (isBetter) best = { left, right, rows, linked };
        }
      }
      if (best === null) return;
      const { left, right } = best;
      this.#pair(left, right);
      parts = [...parts.filter((each) => each !== left && each !== right), left | right];
    }
  }

  #columnsOf(mask: number): ReadonlySet<ColumnRef> {
    const columns = new Set<ColumnRef>();
    this.#relations.forEach(({ plan }, at) => {
      if ((mask >> at) & 1) { for (const column of allDefinedColumns(plan)) columns.add(column); }
    });
    return columns;
  }

  /** Whether a hash join of two sets has a key. */
  #hasKey(left: number, right: number): boolean {
    for (const mask of this.#classes) if ((mask & left) !== 0 && (mask & right) !== 0) return true;
    return this.#graph.conditions.some(({ condition, mask }) =>
      isNewIn(mask, left, right) && condition.kind === "call" && condition.function.name === "="
    );
  }

  #consider(left: number, right: number, a: Step, b: Step): void {
    const mask = left | right;
    const rows = this.#sizes.size(mask);
    const output = rows * COST.joinOutputRow;
    const known = this.#steps.get(mask);
    if (known !== undefined && known.cost <= a.cost + output) return;
    let cost: number;
    let method: Step["method"];
    if (this.#hasKey(left, right)) {
      cost = a.cost + b.cost + COST.hashStart + b.rows * COST.hashBuildRow + a.rows * COST.hashProbeRow +
        output;
      method = "hash";
    } else {
      const range = keyRange(this.#graph.between(left, right), this.#columnsOf(right));
      const nested = Math.min(
        nestedCost(a.rows, b.rows, null),
        range === null ? Infinity : sortCost(b.rows) + nestedCost(a.rows, b.rows, range),
      );
      cost = a.cost + b.cost + nested + a.rows * COST.hashProbeRow + output;
      method = "nested";
    }
    const isSingle = (right & (right - 1)) === 0;
    // A look-up takes no time of its own for the right side, and its output as long.
    if (isSingle && a.cost + output < cost) {
      const total = a.cost + a.rows * this.#lookupCost(left, right) + output;
      if (total < cost) {
        cost = total;
        method = "lookup";
      }
    }
    if (known === undefined || cost < known.cost) this.#steps.set(mask, { cost, rows, left, right, method });
  }

  /**
   * What it costs to look rows of a single relation up through an index, once; Infinity where there is none. Which
   * column of the left side gives the value makes no difference.
   */
  #lookupCost(left: number, right: number): number {
    if ((this.#relations[31 - Math.clz32(right)]?.base ?? null) === null) return Infinity;
    let key = `${right}`;
    for (let at = 0; at < this.#classes.length; at++) {
      const mask = this.#classes[at] as number;
      if ((mask & left) !== 0 && (mask & right) !== 0) key += ` ${at}`;
    }
    this.#graph.conditions.forEach(({ mask }, at) => {
      if (isNewIn(mask, left, right)) key += ` c${at}`;
    });
    let cost = this.#lookupCosts.get(key);
    if (cost === undefined) {
      const lookup = this.#lookup(right, this.#graph.between(left, right));
      cost = lookup === null ? Infinity : this.#costs.lookups(lookup, 1);
      this.#lookupCosts.set(key, cost);
    }
    return cost;
  }

  /** The single relation of a set reached through an index by join conditions, or null. */
  #lookup(right: number, conditions: readonly Expression[]): Plan | null {
    const { base } = this.#relations[31 - Math.clz32(right)] ?? { base: null };
    if (base === null || conditions.length === 0) return null;
    return this.#access.chooseForJoin(base.scan, base.conditions, conditions);
  }

  #build(mask: number): Plan {
    const known = this.#plans.get(mask);
    if (known !== undefined) return known;
    const plan = this.#buildNew(mask);
    this.#plans.set(mask, plan);
    return plan;
  }

  #buildNew(mask: number): Plan {
    const step = this.#steps.get(mask);
    if (step === undefined) throw new RangeError(`join order misses the set ${mask}`);
    if (step.method === "leaf") {
      const relation = this.#relations[31 - Math.clz32(mask)];
      if (relation === undefined) throw new RangeError(`join order misses the relation of ${mask}`);
      return relation.plan;
    }
    const conditions = this.#graph.between(step.left, step.right);
    const left = this.#build(step.left);
    if (step.method === "lookup") {
      const right = this.#lookup(step.right, conditions);
      if (right !== null) {
        return {
          kind: "nested_loop_join",
          join: "inner",
          left,
          right,
          condition: null,
          correlated: true,
          rows: step.rows,
        };
      }
    }
    return this.#innerJoin(left, this.#build(step.right), conditions, step.rows);
  }

  /** An inner join of two plans that do not depend on each other, by hashing when there is an equality. */
  #innerJoin(left: Plan, right: Plan, conditions: readonly Expression[], rows: number): Plan {
    const condition = conjunction(conditions.flatMap((each) => conjuncts(each)));
    const keys = joinKeys(condition, allDefinedColumns(left), allDefinedColumns(right));
    if (keys.leftKeys.length > 0) {
      return { kind: "hash_join", join: "inner", left, right, ...keys, nullAware: false, rows };
    }
    const pairs = {
      kind: "nested_loop_join",
      join: "inner",
      left,
      right,
      condition,
      correlated: false,
      rows,
    } as const;
    const ordered = inRangeOrder(pairs);
    return ordered !== null && this.#costs.cost(ordered) < this.#costs.cost(pairs) ? ordered : pairs;
  }
}

/** Whether a condition over a set of relations can be asked when two sets are joined, and not before. */
function isNewIn(mask: number, left: number, right: number): boolean {
  return (mask & (left | right)) === mask && (mask & left) !== mask && (mask & right) !== mask;
}
