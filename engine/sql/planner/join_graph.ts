/**
 * What joins several relations: their equalities as classes of columns that are all equal, conditions over several of
 * them, and what follows from these for single ones.
 */
import type { BoundFunction } from "../functions/definition.ts";
import {
  columnReference,
  conjunction,
  conjuncts,
  expressionKey,
  hasSubquery,
  volatilityOf,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Scan } from "./access_path.ts";

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
export interface EqualityClass {
  readonly equals: BoundFunction;
  readonly members: { readonly column: ColumnRef; readonly type: SqlType; readonly nullable: boolean }[];
  /** The members are equal to a constant each, so that joining on them filters nothing. */
  pinned: boolean;
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

  /** The relations that have a member of a class. */
  maskOfClass(each: EqualityClass): number {
    return each.members.reduce((mask, member) => mask | this.#maskOfColumn(member.column), 0);
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
