/**
 * A metamorphic check: two lists of queries over one database that must give the same rows.
 *
 * The rows of a side are those of its queries, one after the other. {@link CheckMaker} chooses tables, FROM clauses
 * and expressions.
 */
import type { Choices } from "../choices.ts";
import { ExpressionGenerator, type ScopeColumn } from "./expressions.ts";
import { scopeOf, type World, type WorldTable } from "./world.ts";

/** One check. */
export interface Check {
  readonly left: readonly string[];
  readonly right: readonly string[];
  /** Whether the order of the rows counts. */
  readonly ordered?: boolean;
  /** Whether values are compared that are equal but may print differently. */
  readonly loose?: boolean;
  /** Whether the queries may raise; then all of them must, or none. */
  readonly raises?: boolean;
  /** Whether the queries change something, which is rolled back after each side. */
  readonly modifies?: boolean;
}

/** A rule by which checks are made; null where the database at hand allows none. */
export interface Relation {
  readonly name: string;
  readonly make: (maker: CheckMaker) => Check | null;
}

/** What is after FROM, and the columns that it offers. */
export interface Source {
  readonly sql: string;
  readonly columns: readonly ScopeColumn[];
}

/** Rows of a table as texts, in the order of its columns. */
export type TableRows = ReadonlyMap<string, readonly (readonly (string | null)[])[]>;

const MAX_CROSS_ROWS = 2000;

/** Chooses the parts of checks. */
export class CheckMaker {
  readonly choices: Choices;
  readonly world: World;
  readonly rows: TableRows;

  constructor(options: { readonly choices: Choices; readonly world: World; readonly rows: TableRows }) {
    this.choices = options.choices;
    this.world = options.world;
    this.rows = options.rows;
  }

  table(): WorldTable {
    return this.choices.pick(this.world.tables);
  }

  /** Two tables whose product is small. */
  smallPair(): readonly [WorldTable, WorldTable] | null {
    const first = this.table();
    const second = this.table();
    return first.rows * second.rows <= MAX_CROSS_ROWS ? [first, second] : null;
  }

  expressions(columns: readonly ScopeColumn[]): ExpressionGenerator {
    return new ExpressionGenerator(this.choices, columns);
  }

  /** A condition that cannot raise. */
  predicate(columns: readonly ScopeColumn[], depth = 2): string {
    return this.expressions(columns).predicate(depth);
  }

  /** A condition over one table that may raise as a whole, or one that cannot. */
  predicateOrRaising(columns: readonly ScopeColumn[]): { readonly sql: string; readonly raises: boolean } {
    const raising = this.choices.chance(35) ? this.expressions(columns).raising() : null;
    return raising === null
      ? { sql: this.predicate(columns), raises: false }
      : { sql: raising, raises: true };
  }

  /** Columns and expressions of a select list, `id` columns among them. */
  list(columns: readonly ScopeColumn[], count = 1 + this.choices.below(3)): string[] {
    const generator = this.expressions(columns);
    return Array.from(
      { length: count },
      () => this.choices.chance(30) ? generator.safe(generator.kind(), 2) : this.choices.pick(columns).sql,
    );
  }

  /** A condition of a join: an equality of columns of one kind, more often than not of the row numbers. */
  equality(left: readonly ScopeColumn[], right: readonly ScopeColumn[]): string {
    const pairs = left.flatMap((first) =>
      right.filter(({ kind }) => kind === first.kind && kind !== "jsonb").map(({ sql }) =>
        `${first.sql} = ${sql}`
      )
    );
    return this.choices.chance(40) ? pairs[0] ?? "true" : this.choices.pick(pairs);
  }

  /** A condition of a join of two small tables: an equality with or without more, or anything. */
  joinCondition(left: readonly ScopeColumn[], right: readonly ScopeColumn[]): string {
    switch (this.choices.below(4)) {
      case 0:
        return this.equality(left, right);
      case 1:
        return `${this.equality(left, right)} AND ${this.predicate([...left, ...right], 1)}`;
      case 2:
        return `${this.equality(left, right)} AND ${this.equality(left, right)}`;
      default:
        return this.predicate([...left, ...right], 2);
    }
  }

  /** A table under an alias, in one of the ways to name its rows. */
  single(alias: string, table = this.table()): Source {
    const columns = scopeOf(table, alias);
    const { name, view } = table;
    switch (this.choices.below(10)) {
      case 0:
        return { sql: `${view} ${alias}`, columns };
      case 1:
        return { sql: `(SELECT * FROM ${name} OFFSET 0) ${alias}`, columns };
      case 2:
        return {
          sql: `(SELECT * FROM ${name} x WHERE ${this.predicate(scopeOf(table, "x"), 1)}) ${alias}`,
          columns,
        };
      case 3: {
        const hint = this.choices.pick(["MATERIALIZED", "NOT MATERIALIZED"]);
        return { sql: `(WITH w AS ${hint} (SELECT * FROM ${name}) SELECT * FROM w) ${alias}`, columns };
      }
      default:
        return { sql: `${name} ${alias}`, columns };
    }
  }

  /** A FROM clause: one table, or a join of two or three. */
  source(): Source {
    if (this.choices.chance(55)) return this.single("a");
    const pair = this.smallPair();
    const tables = pair ?? [this.table(), this.table()];
    let { sql, columns } = this.single("a", tables[0]);
    const others = this.choices.chance(25) ? [tables[1], this.table()] : [tables[1]];
    others.forEach((table, index) => {
      const other = this.single(index === 0 ? "b" : "c", table);
      const small = pair !== null && index === 0;
      const kind = this.choices.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
      const on = !small
        ? `${columns[0]?.sql} = ${other.columns[0]?.sql}`
        : kind === "FULL JOIN"
        ? this.equality(columns, other.columns)
        : this.joinCondition(columns, other.columns);
      sql = `${sql} ${kind} ${other.sql} ON ${on}`;
      columns = [...columns, ...other.columns];
    });
    return { sql, columns };
  }
}
