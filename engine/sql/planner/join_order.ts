/**
 * The order of inner joins: dynamic programming over sets of relations, bushy trees included (G. Moerkotte, T. Neumann,
 * "Dynamic Programming Strikes Back", SIGMOD 2008, without hyperedges), greedy beyond {@link MAX_EXACT} relations.
 *
 * The size of a set of relations does not depend on the order in which they are joined: it is the product of their
 * sizes and of the selectivities of all conditions inside of the set.
 */
import type { ColumnRef, Expression } from "../plan/expression.ts";
import {
  columnReference,
  conjunction,
  conjuncts,
  expressionKey,
  hasSubquery,
  volatilityOf,
} from "../plan/build.ts";
import type { BoundFunction } from "../functions/definition.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";
import { type AccessPaths, type Scan } from "./access_path.ts";
import { COST, type CostModel } from "./cost.ts";
import type { Estimator } from "./estimate.ts";
import { joinKeys } from "./join_keys.ts";

/** Up to so many relations all orders are compared. */
const MAX_EXACT = 10;

/** Sets of relations are bit masks: no graph has more relations than this. */
export const MAX_RELATIONS = 24;

/** A relation of a join: its own plan, and what it is made of when it is a stored table. */
export interface Relation {
  readonly plan: Plan;
  readonly rows: number;
  /** Set when the relation is a table with conditions, so that an index can be asked from another relation. */
  readonly base: { readonly scan: Scan; readonly conditions: readonly Expression[] } | null;
}

/** Columns that are equal in every row of the join. */
interface EqualityClass {
  readonly equals: BoundFunction;
  readonly members: { readonly column: ColumnRef; readonly type: SqlType; readonly nullable: boolean }[];
  /** The members are equal to a constant each, so that joining on them filters nothing. */
  pinned: boolean;
}

interface Step {
  readonly cost: number;
  readonly rows: number;
  readonly left: number;
  readonly right: number;
  readonly method: "leaf" | "hash" | "lookup" | "nested";
}

/** A condition over several relations. */
interface CrossCondition {
  readonly condition: Expression;
  readonly mask: number;
  /** Weaker conditions of single relations that follow from it. */
  readonly derived: readonly Expression[];
}

/** The conditions of a join of several relations, by the relations they refer to. */
export class JoinGraph {
  readonly #defined: readonly ReadonlySet<ColumnRef>[];
  readonly local: Expression[][];
  readonly constants: Expression[] = [];
  readonly conditions: CrossCondition[] = [];
  readonly classes: EqualityClass[] = [];

  constructor(relations: readonly Plan[], conditions: readonly Expression[]) {
    this.#defined = relations.map((relation) => allDefinedColumns(relation));
    this.local = relations.map(() => []);
    for (const condition of conditions) this.#add(condition);
    this.#close();
  }

  /** The relations that an expression refers to. */
  maskOf(expression: Expression): number {
    let mask = 0;
    for (const column of columnsOf(expression)) mask |= this.#maskOfColumn(column);
    return mask;
  }

  #maskOfColumn(column: ColumnRef): number {
    const index = this.#defined.findIndex((defined) => defined.has(column));
    return index < 0 ? 0 : 1 << index;
  }

  /** Members of a class within a set of relations. */
  members(each: EqualityClass, mask: number): EqualityClass["members"] {
    return each.members.filter((member) => (this.#maskOfColumn(member.column) & mask) !== 0);
  }

  #add(condition: Expression): void {
    const mask = this.maskOf(condition);
    if (mask === 0) {
      this.constants.push(condition);
      return;
    }
    if ((mask & (mask - 1)) === 0) {
      this.local[31 - Math.clz32(mask)]?.push(condition);
      return;
    }
    if (!this.#addToClass(condition)) {
      this.conditions.push({ condition, mask, derived: this.#deriveLocal(condition, mask) });
    }
  }

  /**
   * From (a1 AND b1) OR (a2 AND b2) follows a1 OR a2 for the one relation and b1 OR b2 for the other: both thin out
   * their relation before the join.
   */
  #deriveLocal(condition: Expression, mask: number): Expression[] {
    if (condition.kind !== "or") return [];
    const branches = condition.args.map((arg) => conjuncts(arg));
    const derived: Expression[] = [];
    for (const [index, local] of this.local.entries()) {
      if (((mask >> index) & 1) === 0) continue;
      const parts = branches.map((branch) =>
        conjunction(branch.filter((each) => this.maskOf(each) === 1 << index && isRepeatable(each)))
      );
      const args = parts.filter((part) => part !== null);
      if (args.length < parts.length) continue;
      const either: Expression = { kind: "or", type: condition.type, args };
      derived.push(either);
      local.push(either);
    }
    return derived;
  }

  #addToClass(condition: Expression): boolean {
    if (condition.kind !== "call" || condition.function.name !== "=") return false;
    const [left, right] = condition.args;
    if (left?.kind !== "column" || right?.kind !== "column") return false;
    if (JSON.stringify(left.type) !== JSON.stringify(right.type)) return false;
    const member = (column: typeof left) => ({
      column: column.column,
      type: column.type,
      nullable: column.nullable,
    });
    const find = (column: ColumnRef) =>
      this.classes.find((each) => each.members.some((other) => other.column === column));
    const [a, b] = [find(left.column), find(right.column)];
    if (a !== undefined && b !== undefined) {
      if (a === b) return true;
      a.members.push(...b.members);
      this.classes.splice(this.classes.indexOf(b), 1);
    } else if (a !== undefined) a.members.push(member(right));
    else if (b !== undefined) b.members.push(member(left));
    else {this.classes.push({
        equals: condition.function,
        members: [member(left), member(right)],
        pinned: false,
      });}
    return true;
  }

  /** What follows from the equalities: constants for all members, equalities inside of one relation. */
  #close(): void {
    for (const each of this.classes) {
      const columns = new Map(each.members.map((member) => [member.column, member]));
      const constants = new Map<
        string,
        { readonly call: Expression & { readonly kind: "call" }; readonly value: Expression }
      >();
      for (const list of this.local) {
        for (const condition of list) {
          if (condition.kind !== "call" || condition.function.name !== "=") continue;
          const [left, right] = condition.args;
          if (left?.kind !== "column" || right === undefined || !columns.has(left.column)) continue;
          if (this.maskOf(right) !== 0 || volatilityOf(right) === "volatile") continue;
          constants.set(expressionKey(right), { call: condition, value: right });
        }
      }
      for (const { call, value } of constants.values()) {
        each.pinned = true;
        for (const member of each.members) {
          const derived: Expression = {
            ...call,
            args: [columnReference(member.column, member.type, member.nullable), value],
          };
          this.#addLocal(this.#maskOfColumn(member.column), derived);
        }
      }
      for (const [index] of this.#defined.entries()) {
        const own = this.members(each, 1 << index);
        const [first, ...others] = own;
        if (first === undefined) continue;
        for (const other of others) this.#addLocal(1 << index, equality(each.equals, first, other));
      }
    }
  }

  #addLocal(mask: number, condition: Expression): void {
    const list = this.local[31 - Math.clz32(mask)];
    if (list === undefined) return;
    const key = expressionKey(condition);
    if (!list.some((each) => expressionKey(each) === key)) list.push(condition);
  }

  /** The conditions that a join of two sets applies: one per class that both have, and what becomes complete. */
  between(left: number, right: number): Expression[] {
    const result: Expression[] = [];
    for (const each of this.classes) {
      // Members that are equal to one constant each are equal to one another.
      if (each.pinned) continue;
      const [a] = this.members(each, left);
      const [b] = this.members(each, right);
      if (a !== undefined && b !== undefined) result.push(equality(each.equals, a, b));
    }
    const both = left | right;
    for (const { condition, mask } of this.conditions) {
      const isNew = (mask & both) === mask && (mask & left) !== mask && (mask & right) !== mask;
      if (isNew) result.push(condition);
    }
    return result;
  }

  /** Whether any condition connects two sets. */
  connects(left: number, right: number): boolean {
    return this.classes.some((each) =>
      this.members(each, left).length > 0 && this.members(each, right).length > 0
    ) ||
      this.conditions.some(({ mask }) => (mask & left) !== 0 && (mask & right) !== 0);
  }
}

function equality(
  equals: BoundFunction,
  left: EqualityClass["members"][number],
  right: EqualityClass["members"][number],
): Expression {
  const reference = (each: typeof left) => columnReference(each.column, each.type, each.nullable);
  return {
    kind: "call",
    type: { kind: "bool" },
    function: equals,
    args: [reference(left), reference(right)],
  };
}

/** Whether a condition may be asked once more elsewhere. */
function isRepeatable(condition: Expression): boolean {
  return volatilityOf(condition) !== "volatile" && !hasSubquery(condition);
}

/** Finds a good order for the relations of a graph and builds the joins. */
export class JoinOrder {
  readonly #graph: JoinGraph;
  readonly #relations: readonly Relation[];
  readonly #estimator: Estimator;
  readonly #costs: CostModel;
  readonly #access: AccessPaths;
  readonly #steps = new Map<number, Step>();
  readonly #sizes = new Map<number, number>();
  readonly #lookups = new Map<string, Plan | null>();
  readonly #plans = new Map<number, Plan>();

  constructor(
    graph: JoinGraph,
    relations: readonly Relation[],
    services: { readonly estimator: Estimator; readonly costs: CostModel; readonly access: AccessPaths },
  ) {
    this.#graph = graph;
    this.#relations = relations;
    this.#estimator = services.estimator;
    this.#costs = services.costs;
    this.#access = services.access;
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
    else this.#greedy(count);
    return this.#build((1 << count) - 1);
  }

  #exact(count: number): void {
    const all = (1 << count) - 1;
    for (let mask = 1; mask <= all; mask++) {
      if ((mask & (mask - 1)) === 0) continue;
      for (const isCross of [false, true]) {
        for (let left = (mask - 1) & mask; left > 0; left = (left - 1) & mask) {
          const right = mask & ~left;
          if (left < right) continue;
          const [a, b] = [this.#steps.get(left), this.#steps.get(right)];
          if (a === undefined || b === undefined) continue;
          // Cross products only where nothing else connects the set, and of the whole or of parts that must wait.
          if (!isCross && !this.#graph.connects(left, right)) continue;
          this.#consider(mask, left, right, a, b);
          this.#consider(mask, right, left, b, a);
        }
        if (this.#steps.has(mask) || (mask !== all && !this.#mustCross(mask, all))) break;
      }
    }
  }

  /** Whether a set has no connection to the rest either, so that a cross product cannot be avoided. */
  #mustCross(mask: number, all: number): boolean {
    return !this.#graph.connects(mask, all & ~mask) ||
      this.#graph.conditions.some((each) => (each.mask & mask) === mask);
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
        for (const right of parts.slice(index + 1)) {
          const linked = this.#graph.connects(left, right);
          const rows = this.#size(left | right);
          const isBetter = best === null || (linked && !best.linked) ||
            (linked === best.linked && rows < best.rows);
          if (isBetter) best = { left, right, rows, linked };
        }
      }
      if (best === null) return;
      const { left, right } = best;
      const [a, b] = [this.#steps.get(left), this.#steps.get(right)];
      if (a === undefined || b === undefined) return;
      this.#consider(left | right, left, right, a, b);
      this.#consider(left | right, right, left, b, a);
      parts = [...parts.filter((each) => each !== left && each !== right), left | right];
    }
  }

  #consider(mask: number, left: number, right: number, a: Step, b: Step): void {
    const rows = this.#size(mask);
    const conditions = this.#graph.between(left, right);
    const output = rows * COST.joinOutputRow;
    const hasKey = conditions.some((each) => each.kind === "call" && each.function.name === "=");
    let cost: number;
    let method: Step["method"];
    if (hasKey) {
      cost = a.cost + b.cost + COST.hashStart + b.rows * COST.hashBuildRow + a.rows * COST.hashProbeRow +
        output;
      method = "hash";
    } else {
      cost = a.cost + b.cost + a.rows * b.rows * COST.nestedRow + a.rows * COST.hashProbeRow + output;
      method = "nested";
    }
    const isSingle = (right & (right - 1)) === 0;
    if (isSingle && conditions.length > 0) {
      const lookup = this.#lookup(right, conditions);
      if (lookup !== null) {
        const total = a.cost + this.#costs.lookups(lookup, a.rows) + output;
        if (total < cost) {
          cost = total;
          method = "lookup";
        }
      }
    }
    const known = this.#steps.get(mask);
    if (known === undefined || cost < known.cost) this.#steps.set(mask, { cost, rows, left, right, method });
  }

  /** The single relation of a set reached through an index by join conditions, or null. */
  #lookup(right: number, conditions: readonly Expression[]): Plan | null {
    const { base } = this.#relations[31 - Math.clz32(right)] ?? { base: null };
    if (base === null) return null;
    const key = `${right}|${conditions.map(expressionKey).join()}`;
    const known = this.#lookups.get(key);
    if (known !== undefined) return known;
    const plan = this.#access.chooseForJoin(base.scan, base.conditions, conditions);
    this.#lookups.set(key, plan);
    return plan;
  }

  #size(mask: number): number {
    const known = this.#sizes.get(mask);
    if (known !== undefined) return known;
    let rows = 1;
    this.#relations.forEach((relation, index) => {
      if ((mask >> index) & 1) rows *= Math.max(relation.rows, 0.01);
    });
    for (const each of this.#graph.classes) {
      if (each.pinned) continue;
      const distinct = this.#graph.members(each, mask).map((member) => this.#distinctOf(member)).sort((
        a,
        b,
      ) => a - b);
      for (const count of distinct.slice(1)) rows /= Math.max(1, count);
    }
    this.#relations.forEach((_, index) => {
      if ((mask >> index) & 1) rows *= this.#keyCorrection(mask, index);
    });
    for (const { condition, mask: needed, derived } of this.#graph.conditions) {
      if ((needed & mask) !== needed) continue;
      // What the derived conditions remove is missing from the relations already.
      const before = derived.reduce((share, each) => share * this.#estimator.selectivity(each), 1);
      rows *= Math.min(1, this.#estimator.selectivity(condition) / Math.max(before, 1e-9));
    }
    this.#sizes.set(mask, rows);
    return rows;
  }

  /**
   * Equalities with all columns of a unique key have one partner among the table's rows, not one among all combinations
   * of the columns' values.
   */
  #keyCorrection(mask: number, index: number): number {
    const scan = this.#relations[index]?.base?.scan;
    if (scan === undefined) return 1;
    let correction = 1;
    for (const key of scan.table.indexes) {
      if (!key.unique || key.columns.length < 2 || key.predicateText !== null) continue;
      const distinct = key.columns.map(({ columnId }) => {
        const output = scan.columns.find((column) => column.columnId === columnId)?.output;
        const joined = this.#graph.classes.find((each) =>
          !each.pinned && each.members.some((member) => member.column === output)
        );
        if (joined === undefined || this.#graph.members(joined, mask & ~(1 << index)).length === 0) {
          return null;
        }
        const own = joined.members.find((member) => member.column === output);
        return own === undefined ? null : this.#distinctOf(own);
      });
      const counts = distinct.filter((count) => count !== null);
      if (counts.length < distinct.length) continue;
      const combinations = counts.reduce((product, count) => product * count, 1);
      correction = Math.max(correction, combinations / this.#estimator.tableRows(scan.table));
    }
    return correction;
  }

  #distinctOf(member: EqualityClass["members"][number]): number {
    const facts = this.#estimator.factsOf(member.column);
    const index = this.#relations.findIndex((relation) =>
      allDefinedColumns(relation.plan).has(member.column)
    );
    const rows = this.#relations[index]?.rows ?? 1;
    // Conditions of the relation thin out the values too, but not below the rows that are left.
    return Math.max(1, Math.min(facts?.distinct ?? rows, Math.max(rows, 1)));
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
    return innerJoin(left, this.#build(step.right), conditions, step.rows);
  }
}

/** An inner join of two plans that do not depend on each other, by hashing when there is an equality. */
export function innerJoin(left: Plan, right: Plan, conditions: readonly Expression[], rows: number): Plan {
  const condition = conjunction(conditions.flatMap((each) => conjuncts(each)));
  const keys = joinKeys(condition, allDefinedColumns(left), allDefinedColumns(right));
  if (keys.leftKeys.length === 0) {
    return { kind: "nested_loop_join", join: "inner", left, right, condition, correlated: false, rows };
  }
  return { kind: "hash_join", join: "inner", left, right, ...keys, nullAware: false, rows };
}
