/**
 * Typed random expressions: a table of productions, each with what it needs and whether it can raise an error.
 *
 * An expression that cannot raise must not raise in any plan. One that can is made of operators alone that compute
 * all of their operands, and has a column in it, so that every plan that computes it for a row raises or none does;
 * see {@link ExpressionGenerator.raising}.
 */
import type { Choices } from "../choices.ts";
import { allKinds, type Kind, kinds, literal, pickValue } from "./values.ts";
import { productions, raisingProductions } from "./productions.ts";

/** A column in scope. */
export interface ScopeColumn {
  readonly sql: string;
  readonly kind: Kind;
}

/** Comparison operators. */
export const comparisons = ["=", "<", ">", "<=", ">=", "<>"] as const;

/** Kinds whose equal values may print differently. */
export const looselyPrinted: ReadonlySet<Kind> = new Set([
  "numeric",
  "double",
  "real",
  "interval",
  "jsonb",
  "numerics",
]);

/** Makes expressions over columns. */
export class ExpressionGenerator {
  readonly #choices: Choices;
  readonly #columns: readonly ScopeColumn[];

  constructor(choices: Choices, columns: readonly ScopeColumn[]) {
    this.#choices = choices;
    this.#columns = columns;
  }

  /** A kind: mostly one that a column has. */
  kind(): Kind {
    return this.#columns.length > 0 && this.#choices.chance(85)
      ? this.#choices.pick(this.#columns).kind
      : this.#choices.pick(allKinds);
  }

  /** A literal of the kind, NULL now and then. */
  literal(kind: Kind): string {
    return literal(kind, this.#choices.chance(6) ? null : pickValue(this.#choices, kind));
  }

  /** A column of the kind, or a literal when there is none. */
  leaf(kind: Kind): string {
    const columns = this.#columns.filter((column) => column.kind === kind);
    return columns.length > 0 && !this.#choices.chance(25)
      ? this.#choices.pick(columns).sql
      : this.literal(kind);
  }

  /** An expression that cannot raise. */
  safe(kind: Kind, depth: number): string {
    const choices = this.#choices;
    if (depth <= 0 || choices.chance(30)) return this.leaf(kind);
    const own = productions[kind] ?? [];
    const which = choices.below(own.length + 5);
    if (which < own.length) return this.#fill(own[which] ?? "", (of) => this.safe(of, depth - 1));
    const value = () => this.safe(kind, depth - 1);
    switch (which - own.length) {
      case 0:
        return `CASE WHEN ${this.predicate(depth - 1)} THEN ${value()} ELSE ${value()} END`;
      case 1:
        return `COALESCE(${value()}, ${value()})`;
      case 2:
        return `NULLIF(${value()}, ${value()})`;
      case 3:
        return `${choices.pick(["GREATEST", "LEAST"])}(${value()}, ${value()})`;
      default: {
        const of = this.kind();
        const subject = this.safe(of, depth - 1);
        return `CASE ${subject} WHEN ${this.safe(of, depth - 1)} THEN ${value()} WHEN ${
          this.literal(of)
        } THEN ${value()} END`;
      }
    }
  }

  /** A condition that cannot raise. */
  predicate(depth: number): string {
    const choices = this.#choices;
    if (depth > 1 && choices.chance(45)) {
      const next = () => this.predicate(depth - 1);
      switch (choices.below(5)) {
        case 0:
          return `(${next()} AND ${next()})`;
        case 1:
          return `(${next()} OR ${next()})`;
        case 2:
          return `(NOT ${next()})`;
        case 3:
          return `((${next()}) IS ${
            choices.pick(["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"])
          })`;
        default:
          return `(${next()} AND ${next()} OR ${next()})`;
      }
    }
    return this.simplePredicate(depth);
  }

  /** A condition without AND, OR and NOT at its top. */
  simplePredicate(depth: number): string {
    const choices = this.#choices;
    const kind = this.kind();
    // A bare column more often than not: indexes and statistics of blocks serve these alone.
    const subject = choices.chance(65) ? this.leaf(kind) : this.safe(kind, depth - 1);
    const other = () => choices.chance(60) ? this.literal(kind) : this.safe(kind, depth - 1);
    switch (choices.below(11)) {
      case 0:
      case 1:
      case 2:
        return `(${subject} ${choices.pick(comparisons)} ${other()})`;
      case 3:
        return `(${subject} IS ${choices.pick(["NULL", "NOT NULL"])})`;
      case 4:
        return `(${subject} ${
          choices.pick(["BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"])
        } ${other()} AND ${other()})`;
      case 5: {
        const list = Array.from({ length: 1 + choices.below(4) }, other);
        return `(${subject} ${choices.pick(["IN", "NOT IN"])} (${list.join(", ")}))`;
      }
      case 6:
        return `(${subject} IS ${choices.pick(["DISTINCT FROM", "NOT DISTINCT FROM"])} ${other()})`;
      case 7: {
        const second = this.kind();
        const row = `(${this.leaf(second)}, ${subject})`;
        return `(${row} ${choices.pick(comparisons)} (${this.safe(second, depth - 1)}, ${other()}))`;
      }
      case 8: {
        const list = Array.from({ length: 1 + choices.below(3) }, () => this.literal(kind));
        if (kind === "integers" || kind === "texts" || kind === "numerics") {
          return `(${subject} = ${other()})`;
        }
        return `(${subject} ${choices.pick(comparisons)} ${choices.pick(["ANY", "ALL"])} (ARRAY[${
          list.join(", ")
        }]))`;
      }
      default: {
        const made = productions.boolean ?? [];
        return this.#fill(choices.pick(made), (of) => this.safe(of, depth - 1));
      }
    }
  }

  /** A comparison whose operands are always computed and may raise; null where no column allows one. */
  raising(): string | null {
    const value = this.#raisingOf();
    if (value === null) return null;
    const { kind, sql } = value;
    return `(${sql} ${this.#choices.pick(comparisons)} ${literal(kind, pickValue(this.#choices, kind))})`;
  }

  /** A value that may raise, computed from a column; null where no column allows one. */
  raisingValue(): string | null {
    return this.#raisingOf()?.sql ?? null;
  }

  #raisingOf(): ScopeColumn | null {
    const possible = this.#columns.filter(({ kind }) => (raisingProductions[kind] ?? []).length > 0);
    if (possible.length === 0) return null;
    const { kind, sql } = this.#choices.pick(possible);
    let first = true;
    const computed = this.#fill(this.#choices.pick(raisingProductions[kind] ?? []), (of) => {
      if (!first) return this.leaf(of);
      first = false;
      return sql;
    });
    return { kind, sql: computed };
  }

  #fill(production: string, operand: (kind: Kind) => string): string {
    const chosen = production.replaceAll(
      /«([^»]*)»/g,
      (_, list: string) => this.#choices.pick(list.split("~")),
    );
    return chosen.replaceAll(
      /\$(\w+)/g,
      (_, kind: Kind | "any") => operand(kind === "any" ? this.kind() : kind),
    );
  }
}

/** The type's name, for casts. */
export function nameOf(kind: Kind): string {
  return kinds[kind].name;
}
