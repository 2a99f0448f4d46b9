/**
 * Statements of a long life of some tables: rows come, change and go, tables are altered and moved, in and out of
 * transactions with savepoints, cursors and prepared statements. The next statement depends on what became of the
 * ones before.
 */
import type { Choices } from "../choices.ts";
import { COLUMN_TYPES, typeNamed } from "./column_values.ts";
import { LifeQueries } from "./life_queries.ts";
import { type Column, createIndex, makeTables, Names, type Table } from "./table_shapes.ts";

/** What is to be done with the database alone; its answer is compared with nothing. */
export type Move = "checkpoint" | "reopen";

/** One step of a life. */
export interface Step {
  readonly sql: string;
  /** What the database under test does instead; others do nothing. */
  readonly move: Move | null;
  /** The order of rows is told. */
  readonly isOrdered: boolean;
  /** What holds afterwards, if it succeeds. */
  readonly then: (() => void) | null;
}

/**
 * Statements of a long life of some tables: rows come, change and go, tables are altered and moved, in and out of
 * transactions with savepoints, cursors and prepared statements.
 */
export class LifeStatements {
  readonly schema: readonly string[];
  readonly #choices: Choices;
  readonly #names = new Names();
  readonly #queries: LifeQueries;
  #tables: readonly Table[];
  #prepared: readonly { readonly name: string; readonly columns: readonly Column[] }[] = [];
  #indexes: readonly string[] = [];
  /** Savepoints of the open block; null: none is open. */
  #block: { readonly savepoints: readonly Saved[]; readonly before: Saved; readonly failed: boolean } | null =
    null;
  #cursors: readonly string[] = [];
  #age = 0;
  readonly #isDeferred: boolean;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#queries = new LifeQueries(choices);
    const { tables, statements } = makeTables(choices, this.#names);
    this.#tables = tables;
    this.schema = statements;
    this.#isDeferred = statements.some((sql) => sql.includes("DEFERRED"));
  }

  /** Whether a transaction block has failed. */
  get isFailed(): boolean {
    return this.#block?.failed === true;
  }

  /** What ends everything that is open. */
  get isOpen(): boolean {
    return this.#block !== null;
  }

  get #mayDefine(): boolean {
    return !this.#isDeferred && this.#cursors.length === 0;
  }

  /** Questions about everything. */
  review(queries: number): Step[] {
    return [
      ...this.#tables.map((table) => this.#queries.whole(table)),
      ...Array.from({ length: queries }, () => this.#queries.next(this.#tables)),
    ].map(({ sql, isOrdered }) => ({ sql, isOrdered, move: null, then: null }));
  }

  /** Says what became of a step. */
  answered(step: Step, succeeded: boolean): void {
    if (succeeded) step.then?.();
    else if (this.#block !== null) this.#block = { ...this.#block, failed: true };
  }

  next(): Step {
    this.#age++;
    this.#queries.age = this.#age;
    const choices = this.#choices;
    if (this.#block?.failed === true) return this.#leave(choices.chance(60));
    if (choices.chance(5) && this.#block === null) {
      return this.#move(choices.chance(25) ? "reopen" : "checkpoint");
    }
    if (this.#block === null ? choices.chance(8) : choices.chance(20)) return this.#control();
    const kind = choices.below(100);
    if (kind < 30) return this.#insert();
    if (kind < 52) return this.#update();
    if (kind < 62) return this.#delete();
    if (kind < 67) return this.#merge();
    if (kind < 71) return this.#modifyingWith();
    // PostgreSQL alters no table that a cursor reads or a deferred check waits for (55006).
    if (kind < 77 && this.#block === null || kind < 73 && this.#mayDefine) return this.#definition();
    if (kind < 78 && this.#cursors.length === 0) return this.#step(`TRUNCATE ${this.#table().name} CASCADE`);
    if (kind < 84) return this.#prepare();
    const { sql, isOrdered } = this.#queries.next(this.#tables);
    return { ...this.#step(sql), isOrdered };
  }

  #step(sql: string, then: (() => void) | null = null): Step {
    return { sql, move: null, isOrdered: false, then };
  }

  #move(move: Move): Step {
    // A new connection has no prepared statements.
    const then = move === "reopen" ? () => this.#prepared = [] : null;
    return { sql: move === "reopen" ? "DEALLOCATE ALL" : "SELECT", move, isOrdered: false, then };
  }

  #table(): Table {
    return this.#choices.pick(this.#tables);
  }

  #saved(name: string): Saved {
    return { name, tables: this.#tables, indexes: this.#indexes };
  }

  #restore(saved: Saved): void {
    this.#tables = saved.tables;
    this.#indexes = saved.indexes;
  }

  /** Ends a failed block, or goes back to a savepoint. */
  #leave(wantsSavepoint: boolean): Step {
    const block = this.#block;
    if (block === null) throw new Error("no block");
    const saved = wantsSavepoint ? block.savepoints.at(-1) : undefined;
    if (saved === undefined) {
      return this.#step("ROLLBACK", () => {
        this.#restore(block.before);
        this.#block = null;
        this.#cursors = [];
      });
    }
    return this.#step(`ROLLBACK TO ${saved.name}`, () => {
      this.#restore(saved);
      this.#block = { ...block, failed: false };
    });
  }

  #control(): Step {
    const choices = this.#choices;
    const block = this.#block;
    if (block === null) {
      return this.#step("BEGIN", () => {
        this.#block = { savepoints: [], before: this.#saved("begin"), failed: false };
      });
    }
    switch (choices.below(8)) {
      case 0:
        return {
          ...this.#step("COMMIT"),
          then: () => {
            this.#block = null;
            this.#cursors = [];
          },
        };
      case 1:
      case 2: {
        const name = choices.pick(["s1", "s2", "s3"]);
        return this.#step(`SAVEPOINT ${name}`, () => {
          this.#block = { ...block, savepoints: [...block.savepoints, this.#saved(name)] };
        });
      }
      case 3:
        return this.#leave(true);
      case 4: {
        const saved = block.savepoints.at(-1);
        if (saved === undefined) return this.#leave(false);
        return this.#step(`RELEASE ${saved.name}`, () => {
          this.#block = { ...block, savepoints: block.savepoints.slice(0, -1) };
        });
      }
      case 5: {
        const name = this.#names.prepared();
        const table = this.#table();
        const condition = this.#queries.condition(table);
        const sql = `DECLARE ${name} CURSOR FOR SELECT * FROM ${table.name} WHERE ${condition} ORDER BY k`;
        return this.#step(sql, () => this.#cursors = [...this.#cursors, name]);
      }
      default: {
        if (this.#cursors.length === 0) {
          return this.#step("SAVEPOINT s4", () => {
            this.#block = { ...block, savepoints: [...block.savepoints, this.#saved("s4")] };
          });
        }
        const sql = `FETCH ${choices.pick(["1", "3", "ALL"])} FROM ${choices.pick(this.#cursors)}`;
        return { ...this.#step(sql), isOrdered: true };
      }
    }
  }

  #columnsToWrite(table: Table): Column[] {
    return table.columns.filter(() => this.#choices.chance(75));
  }

  /** A value for a column that refers to others is often one of theirs. */
  #value(column: Column): string {
    return this.#queries.value(column);
  }

  /** What subqueries there see is as it was before the statement. */
  #returning({ name }: Table): string {
    const choices = this.#choices;
    if (!choices.chance(20)) return "";
    const other = choices.chance(60) ? name : this.#table().name;
    return choices.pick([
      " RETURNING *",
      ` RETURNING k, (SELECT count(*) FROM ${other}), (SELECT max(k) FROM ${other})`,
      ` RETURNING k, (SELECT count(*) FROM ${other} AS o WHERE o.k::text >= ${name}.k::text)`,
      ` RETURNING k, EXISTS (SELECT FROM ${other} AS o WHERE o.k::text = ${name}.k::text)`,
    ]);
  }

  #insert(): Step {
    const choices = this.#choices;
    const table = this.#table();
    const columns = this.#columnsToWrite(table);
    const names = [table.key, ...columns].map(({ name }) => name).join(", ");
    const conflict = this.#conflict(table, columns);
    if (choices.chance(15)) {
      const from = choices.below(400), rows = choices.pick([3, 30, 300]);
      const key = KEY_SERIES[table.key.type.sql] ?? "i";
      const series = [key, ...columns.map(({ name, type }) => name === "r" ? "NULL" : type.series(choices))];
      return this.#step(
        `INSERT INTO ${table.name} (${names}) SELECT ${series.join(", ")} ` +
          `FROM generate_series(${from}, ${from + rows}) AS g(i)${conflict || " ON CONFLICT DO NOTHING"}`,
      );
    }
    const rows = Array.from(
      { length: choices.pick([1, 1, 2, 5]) },
      () =>
        `(${[this.#queries.value(table.key, 0), ...columns.map((each) => this.#value(each))].join(", ")})`,
    );
    const sql = `INSERT INTO ${table.name} (${names}) VALUES ${rows.join(", ")}${conflict}`;
    return this.#step(sql + this.#returning(table));
  }

  #conflict(table: Table, columns: readonly Column[]): string {
    const choices = this.#choices;
    if (choices.chance(40)) return " ON CONFLICT DO NOTHING";
    const column = columns[0];
    if (column === undefined || choices.chance(40)) return "";
    const { name } = column;
    const where = choices.chance(30) ? ` WHERE ${this.#queries.condition(table, `${table.name}.`)}` : "";
    return ` ON CONFLICT (k) DO UPDATE SET ${name} = ${
      choices.pick([`excluded.${name}`, this.#value(column)])
    }${where}`;
  }

  #assignments(table: Table, prefix = ""): string {
    const choices = this.#choices;
    const terms = table.columns.filter(() => choices.chance(40)).map((column) => {
      const same = table.columns.find(({ name, type }) => name !== column.name && type === column.type);
      if (same !== undefined && choices.chance(30)) return `${column.name} = ${prefix}${same.name}`;
      if (column.type.isNumber && column.name !== "r" && choices.chance(30)) {
        return `${column.name} = ${prefix}${column.name} + 1`;
      }
      return `${column.name} = ${this.#value(column)}`;
    });
    if (terms.length === 0) terms.push(`k = ${prefix}k`);
    return terms.join(", ");
  }

  #update(): Step {
    const choices = this.#choices;
    const table = this.#table();
    if (choices.chance(15)) {
      // One row moves to another key.
      const [from, to] = [this.#queries.value(table.key, 0), this.#queries.value(table.key, 0)];
      return this.#step(`UPDATE ${table.name} SET k = ${to} WHERE k = ${from}${this.#returning(table)}`);
    }
    if (choices.chance(15)) {
      const other = this.#table();
      return this.#step(
        `UPDATE ${table.name} AS t SET ${
          this.#assignments(table, "t.")
        } FROM (SELECT DISTINCT k::text AS x ` +
          `FROM ${other.name} WHERE ${this.#queries.condition(other)}) AS s WHERE s.x = t.k::text`,
      );
    }
    const where = choices.chance(85) ? ` WHERE ${this.#queries.condition(table)}` : "";
    return this.#step(
      `UPDATE ${table.name} SET ${this.#assignments(table)}${where}${this.#returning(table)}`,
    );
  }

  #delete(): Step {
    const table = this.#table();
    return this.#step(
      `DELETE FROM ${table.name} WHERE ${this.#queries.condition(table)}${this.#returning(table)}`,
    );
  }

  #merge(): Step {
    const table = this.#table();
    const columns = this.#columnsToWrite(table);
    const all = [table.key, ...columns];
    const rows = Array.from(
      { length: 4 },
      () => `(${all.map((each) => this.#queries.value(each, each === table.key ? 0 : 15)).join(", ")})`,
    );
    const names = all.map(({ name }) => name);
    const matched = this.#choices.pick([
      `UPDATE SET ${this.#assignments(table, "t.")}`,
      "DELETE",
      "DO NOTHING",
    ]);
    const also = this.#choices.chance(40) ? ` AND ${this.#queries.condition(table, "t.")}` : "";
    const types = all.map(({ name, type }) => `${name}::${type.sql} AS ${name}`).join(", ");
    return this.#step(
      `MERGE INTO ${table.name} AS t USING (SELECT DISTINCT ON (k) ${types} FROM (VALUES ${
        rows.join(", ")
      }) ` +
        `AS v(${names.join(", ")}) ORDER BY k${
          columns.map(({ name }) => `, ${name}`).join("")
        }) AS s ON t.k = s.k ` +
        `WHEN MATCHED${also} THEN ${matched} WHEN NOT MATCHED THEN INSERT (${names.join(", ")}) ` +
        `VALUES (${names.map((name) => `s.${name}`).join(", ")})`,
    );
  }

  #modifyingWith(): Step {
    const table = this.#table(), other = this.#table();
    const condition = this.#queries.condition(table);
    const change = this.#choices.pick([
      `DELETE FROM ${table.name} WHERE ${condition} RETURNING *`,
      `UPDATE ${table.name} SET ${this.#assignments(table)} WHERE ${condition} RETURNING *`,
    ]);
    return this.#step(
      `WITH d AS (${change}) SELECT (SELECT count(*) FROM ${other.name}), count(*), min(k), max(k) FROM d`,
    );
  }

  #definition(): Step {
    const choices = this.#choices;
    const table = this.#table();
    const replace = (change: Partial<Table>) => () => {
      this.#tables = this.#tables.map((each) => each.name === table.name ? { ...each, ...change } : each);
    };
    const columns = table.columns.filter(({ name }) => name !== "r" && !table.sources.includes(name));
    const column = columns.length === 0 ? null : choices.pick(columns);
    const without = (name: string) => table.columns.filter((each) => each.name !== name);
    switch (column === null ? choices.below(3) : choices.below(9)) {
      case 0: {
        const sql = createIndex(choices, this.#names, table);
        const name = sql.replace(/^.* INDEX (\S+) ON.*$/s, "$1");
        return this.#step(sql, () => this.#indexes = [...this.#indexes, name]);
      }
      case 1: {
        if (this.#indexes.length === 0) return this.#step(createIndex(choices, this.#names, table));
        const name = choices.pick(this.#indexes);
        return this.#step(`DROP INDEX IF EXISTS ${name}`, () => {
          this.#indexes = this.#indexes.filter((each) => each !== name);
        });
      }
      case 2:
      case 3: {
        const added = { name: this.#names.column(), type: choices.pick(COLUMN_TYPES) };
        const fallback = choices.chance(60) ? ` DEFAULT ${added.type.literal(choices, this.#age)}` : "";
        const never = fallback !== "" && choices.chance(20) ? " NOT NULL" : "";
        return this.#step(
          `ALTER TABLE ${table.name} ADD COLUMN ${added.name} ${added.type.sql}${fallback}${never}`,
          replace({ columns: [...table.columns, added] }),
        );
      }
      case 4:
        if (column === null || table.columns.length < 3) return this.#step("SELECT 1");
        return this.#step(
          `ALTER TABLE ${table.name} DROP COLUMN ${column.name}`,
          replace({
            columns: without(column.name),
          }),
        );
      case 5: {
        const to = column === null ? null : choices.pick(column.type.becomes);
        const type = to === null ? null : typeNamed(to);
        if (column === null || to === null) return this.#step("SELECT 1");
        return this.#step(
          `ALTER TABLE ${table.name} ALTER COLUMN ${column.name} TYPE ${to}`,
          replace({
            columns: type === null
              ? without(column.name)
              : [...without(column.name), { name: column.name, type }],
          }),
        );
      }
      case 6:
        return this.#step(
          `ALTER TABLE ${table.name} ALTER COLUMN ${column?.name} ${choices.pick(["SET", "DROP"])} NOT NULL`,
        );
      case 7: {
        if (column === null) return this.#step("SELECT 1");
        const name = this.#names.column();
        return this.#step(
          `ALTER TABLE ${table.name} RENAME COLUMN ${column.name} TO ${name}`,
          replace({ columns: [...without(column.name), { name, type: column.type }] }),
        );
      }
      default:
        return this.#step(
          `ALTER TABLE ${table.name} ALTER COLUMN ${column?.name} ` +
            (column === null || choices.chance(30) ? "DROP DEFAULT" : `SET DEFAULT ${this.#value(column)}`),
        );
    }
  }

  /** Prepares a statement, or executes one that may be old. */
  #prepare(): Step {
    const choices = this.#choices;
    if (this.#prepared.length > 0 && choices.chance(75)) {
      const { name, columns } = choices.pick(this.#prepared);
      return this.#step(`EXECUTE ${name}(${columns.map((each) => this.#queries.value(each)).join(", ")})`);
    }
    const name = this.#names.prepared();
    const table = this.#table();
    const [one, other] = [this.#queries.column(table), this.#queries.column(table)];
    const types = [one, other].map(({ type }) => type.sql);
    const set = choices.pick(table.columns);
    const operator = choices.pick(["=", "<", ">=", "<>", "IS NOT DISTINCT FROM"]);
    const where = `${one.name} = $1 OR ${other.name} ${operator} $2`;
    const body = choices.pick([
      `SELECT k, ${one.name} FROM ${table.name} WHERE ${where}`,
      `SELECT count(*), min(k), max(k) FROM ${table.name} WHERE ${one.name} >= $1 AND ${other.name} ${operator} $2`,
      `SELECT ${one.name}, count(*) FROM ${table.name} WHERE ${other.name} ${operator} $2 OR $1 IS NULL GROUP BY 1`,
      `DELETE FROM ${table.name} WHERE ${one.name} = $1 AND ${other.name} ${operator} $2 RETURNING k`,
      ...(set === undefined || one.name === "k" ? [] : [
        `UPDATE ${table.name} SET ${one.name} = $1 WHERE ${other.name} ${operator} $2 RETURNING k`,
      ]),
    ]);
    const keep = () => this.#prepared = [...this.#prepared, { name, columns: [one, other] }];
    return this.#step(`PREPARE ${name}(${types.join(", ")}) AS ${body}`, keep);
  }
}

/** What a roll-back brings back. */
interface Saved {
  readonly name: string;
  readonly tables: readonly Table[];
  readonly indexes: readonly string[];
}

const KEY_SERIES: Readonly<Record<string, string>> = {
  int: "i",
  bigint: "i",
  text: "'k' || i",
  "numeric(12,3)": "i * 0.25",
  date: "date '2020-01-01' + i",
};
