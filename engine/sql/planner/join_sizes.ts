/**
 * How many rows joins of several relations have. It does not depend on the order in which they are joined: it is the
 * product of their sizes, of the shares in which classes of equal columns agree, and of the selectivities of all other
 * conditions inside of the set.
 *
 * A class is looked at as a whole, value by value for the values that are common in any of its columns: rows of several
 * relations that pile up at the same few values multiply.
 */
import type { CountedValue } from "../../storage/access/column_distribution.ts";
import { conjunction, conjuncts } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { LiteralReader } from "../plan/peeked_literals.ts";
import { allDefinedColumns } from "../plan/traverse.ts";
import { conditionalValues } from "./column_groups.ts";
import { valueTest } from "./column_values.ts";
import type { Estimator } from "./estimate.ts";
import type { EqualityClass, JoinGraph, Relation } from "./join_graph.ts";
import {
  countedValues,
  EqualColumns,
  equalJoinShare,
  evenValues,
  type JoinedValues,
  keptValues,
} from "./value_shares.ts";

/** Of more common values the ones that weigh least are taken as if they were others. */
const MAX_VALUES = 256;

/** A class of equal columns as sizes need it. */
interface SizedClass {
  /** The relations of its members. */
  readonly masks: readonly number[];
  readonly columns: EqualColumns;
  readonly all: number;
  readonly known: Map<number, number>;
}

/** Columns of a table that go together, and that several relations can be equal to. */
interface SizedKey {
  readonly index: number;
  /** Combinations of their values in the table. */
  readonly distinct: number;
  readonly columns: readonly { readonly others: readonly number[]; readonly distinct: number }[];
}

/** See the file's head. */
export class JoinSizes {
  readonly #graph: JoinGraph;
  readonly #relations: readonly Relation[];
  readonly #estimator: Estimator;
  readonly #sizes = new Map<number, number>();
  readonly #classes: readonly SizedClass[];
  readonly #keys: readonly SizedKey[];
  /** By condition over several relations. */
  readonly #selectivities: readonly number[];

  constructor(graph: JoinGraph, relations: readonly Relation[], estimator: Estimator) {
    this.#graph = graph;
    this.#relations = relations;
    this.#estimator = estimator;
    const defined = relations.map(({ plan }) => allDefinedColumns(plan));
    const indexOf = (member: EqualityClass["members"][number]) =>
      defined.findIndex((columns) => columns.has(member.column));
    this.#classes = graph.classes.filter(({ pinned }) => !pinned).map((each) => {
      const indexes = each.members.map(indexOf);
      const values = each.members.map((member, at): JoinedValues => {
        const index = indexes[at] as number;
        return { ...this.#valuesOf(member, index), rows: Math.max(relations[index]?.rows ?? 1, 0.01) };
      });
      this.#peek(each, indexes, values);
      const masks = indexes.map((index) => index < 0 ? 0 : 1 << index);
      return {
        masks,
        columns: new EqualColumns(withFewValues(values)),
        all: masks.reduce((all, mask) => all | mask, 0),
        known: new Map(),
      };
    });
    this.#keys = relations.flatMap((relation, index) => this.#keysOf(relation, index, indexOf));
    this.#selectivities = graph.conditions.map(({ condition, derived }) => {
      // What the derived conditions remove is missing from the relations already.
      const before = derived.reduce((share, each) => share * estimator.selectivity(each), 1);
      return Math.min(1, estimator.selectivity(condition) / Math.max(before, 1e-9));
    });
  }

  /** Rows of a set of relations. */
  size(mask: number): number {
    const known = this.#sizes.get(mask);
    if (known !== undefined) return known;
    let rows = 1;
    for (let at = 0; at < this.#relations.length; at++) {
      if ((mask >> at) & 1) rows *= Math.max((this.#relations[at] as Relation).rows, 0.01);
    }
    for (const each of this.#classes) rows *= shareOf(each, mask & each.all);
    for (const key of this.#keys) if ((mask >> key.index) & 1) rows *= correction(key, mask);
    this.#graph.conditions.forEach(({ mask: needed }, at) => {
      if ((needed & mask) === needed) rows *= this.#selectivities[at] as number;
    });
    this.#sizes.set(mask, rows);
    return rows;
  }

  /** What a column has in its relation. */
  #valuesOf({ column, type, nullable }: EqualityClass["members"][number], index: number): JoinedValues {
    const relation = this.#relations[index];
    const rows = Math.max(relation?.rows ?? 1, 1);
    const known = this.#knownValues(index, column)?.(this.#estimator.literal) ?? [];
    if (known.length > 0) return countedValues(known, known.length);
    const reference = { kind: "column", column, type, nullable } as const;
    const values = this.#estimator.joinedValues(reference) ?? evenValues(rows, 0);
    if (relation?.base === null || relation === undefined) return values;
    const conditional = this.#conditionalValues(relation.base, column, values);
    if (conditional !== null) return conditional;
    const kept = valueTest(relation.base.conditions, column, this.#estimator.literal);
    if (kept === null) return values;
    return keptValues(values, kept.test, this.#estimator.selectivity(conjunction(kept.conditions)));
  }

  /** The values of a column where conditions on others say something of it; null: none does. */
  #conditionalValues(
    { conditions }: { readonly conditions: readonly Expression[] },
    column: number,
    values: JoinedValues,
  ): JoinedValues | null {
    const facts = this.#estimator.factsOf(column);
    if (facts === undefined || facts.scan === null || facts.column === null) return null;
    const groups = this.#estimator.columnGroups(facts.scan);
    if (groups.length === 0) return null;
    const own =
      this.#estimator.groupConditions(conditions.flatMap((each) => conjuncts(each))).get(facts.scan) ?? [];
    for (const group of groups) {
      const found = conditionalValues(group, facts.column.id, own, values, this.#estimator.literal);
      if (found !== null) return found;
    }
    return null;
  }

  /** The values of a column in the rows that are left of a small table; null: they are not known. */
  #knownValues(index: number, column: number): ((read: LiteralReader) => readonly CountedValue[]) | null {
    const base = this.#relations[index]?.base;
    return base === undefined || base === null
      ? null
      : this.#estimator.knownValues(base.scan, base.conditions, column);
  }

  /**
   * Which rows of a small table literals choose decides how many of a large one are joined to them: the plan is for
   * literals that choose as many.
   */
  #peek(each: EqualityClass, indexes: readonly number[], values: readonly JoinedValues[]): void {
    each.members.forEach((member, at) => {
      const index = indexes[at] as number;
      if (!this.#estimator.readsLiterals(this.#relations[index]?.base?.conditions ?? [])) return;
      const known = this.#knownValues(index, member.column);
      if (known === null) return;
      const others = values.filter((_, other) => other !== at).sort((a, b) => b.common.size - a.common.size);
      const [largest] = others;
      if (largest === undefined || largest.common.size === 0) return;
      this.#estimator.peek(`join ${member.column}`, chosenShare(known, largest));
    });
  }

  /**
   * Equalities with all columns of a unique key have one partner among the table's rows, not one among all combinations
   * of the columns' values. So it is with columns of which not all combinations are there.
   */
  #keysOf(
    relation: Relation,
    index: number,
    indexOf: (member: EqualityClass["members"][number]) => number,
  ): SizedKey[] {
    const scan = relation.base?.scan;
    if (scan === undefined) return [];
    const sets = scan.table.indexes.flatMap((key) =>
      !key.unique || key.columns.length < 2 || key.predicateText !== null ? [] : [{
        ids: key.columns.map(({ columnId }) => columnId),
        distinct: this.#estimator.tableRows(scan.table),
      }]
    );
    for (const { definition, found } of this.#estimator.columnGroups(scan)) {
      const distinct = found.distinct.get(definition.columns.map((_, place) => place).join());
      if (distinct !== undefined && definition.kinds.includes("ndistinct")) {
        sets.push({ ids: [...definition.columns], distinct });
      }
    }
    return sets.flatMap(({ ids, distinct }): SizedKey[] => {
      const columns = ids.flatMap((columnId) => {
        const output = scan.columns.find((column) => column.columnId === columnId)?.output;
        const joined = this.#graph.classes.find((each) =>
          !each.pinned && each.members.some((member) => member.column === output)
        );
        const own = joined?.members.find((member) => member.column === output);
        if (joined === undefined || own === undefined) return [];
        const facts = this.#estimator.factsOf(own.column);
        const rows = Math.max(1, relation.rows);
        return [{
          others: joined.members.map(indexOf).filter((other) => other !== index && other >= 0),
          distinct: Math.max(1, Math.min(facts?.distinct ?? rows, rows)),
        }];
      });
      return columns.length < ids.length ? [] : [{ index, distinct, columns }];
    });
  }
}

/** The share of a relation's rows that rows chosen by literals join. */
function chosenShare(
  known: (read: LiteralReader) => readonly CountedValue[],
  joined: JoinedValues,
): (read: LiteralReader) => number {
  return (read) => {
    const chosen = known(read);
    return chosen.length === 0
      ? 0
      : chosen.length * equalJoinShare([countedValues(chosen, chosen.length), joined]);
  };
}

function correction({ columns, distinct }: SizedKey, mask: number): number {
  let combinations = 1;
  for (const column of columns) {
    if (!column.others.some((other) => (mask >> other) & 1)) return 1;
    combinations *= column.distinct;
  }
  return Math.max(1, combinations / Math.max(1, distinct));
}

function shareOf({ masks, columns, known }: SizedClass, mask: number): number {
  let share = known.get(mask);
  if (share !== undefined) return share;
  const chosen: number[] = [];
  for (let at = 0; at < masks.length; at++) if (((masks[at] as number) & mask) !== 0) chosen.push(at);
  share = chosen.length < 2 ? 1 : columns.share(chosen);
  known.set(mask, share);
  return share;
}

/** The values that weigh most, in each member. */
function withFewValues(members: readonly JoinedValues[]): readonly JoinedValues[] {
  const weights = new Map<CountedValue, number>();
  for (const { common } of members) {
    for (const [value, share] of common) weights.set(value, Math.max(weights.get(value) ?? 0, share));
  }
  if (weights.size <= MAX_VALUES) return members;
  const kept = new Set(
    [...weights].sort((a, b) => b[1] - a[1]).slice(0, MAX_VALUES).map(([value]) => value),
  );
  return members.map((each) => {
    const common = new Map([...each.common].filter(([value]) => kept.has(value)));
    if (common.size === each.common.size) return each;
    let moved = 0;
    for (const [value, share] of each.common) if (!common.has(value)) moved += share;
    const count = each.common.size - common.size;
    const isComplete = each.restShare <= 0;
    const restDistinct = isComplete ? count : each.restDistinct + count;
    const restShare = Math.max(0, each.restShare) + moved;
    return {
      ...each,
      common,
      restShare,
      restDistinct,
      otherShare: Math.max(each.otherShare, restShare / restDistinct),
    };
  });
}
