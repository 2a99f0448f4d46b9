/**
 * A random database: tables of edge values in a random storage state, with random indexes, copies without any, and
 * views.
 *
 * Table `t0` has a copy `c0` that holds the same rows in another state and without indexes, and a view `v0`. A world
 * is a list of statements and of checkpoints and restarts between them, so that it can be printed and run again.
 */
import type { Choices } from "../choices.ts";
import { type ScopeColumn } from "./expressions.ts";
import { allKinds, type ColumnType, type Kind, literal, pickColumnType, typeDefinitions } from "./values.ts";

/** A column of a table of the world. */
export interface WorldColumn extends ColumnType {
  readonly name: string;
}

/** A table of the world; every one has a column `id` of distinct integers, which comes first. */
export interface WorldTable {
  readonly name: string;
  readonly copy: string;
  readonly view: string;
  readonly columns: readonly WorldColumn[];
  readonly rows: number;
}

/** What makes a world. */
export type WorldStep =
  | { readonly kind: "sql"; readonly sql: string }
  | { readonly kind: "reopen" };

/** A world, not yet made. */
export interface World {
  readonly tables: readonly WorldTable[];
  readonly steps: readonly WorldStep[];
  /** Statements that open the transaction in which all checks run; null when every check has its own. */
  readonly writing: readonly string[] | null;
}

const sql = (text: string): WorldStep => ({ kind: "sql", sql: text });

/** The columns of a table as an expression sees them, under an alias. */
export function scopeOf(table: WorldTable, alias: string): ScopeColumn[] {
  return table.columns.map(({ name, kind }) => ({ sql: `${alias}.${name}`, kind }));
}

function pickColumns(choices: Choices): WorldColumn[] {
  const columns: WorldColumn[] = [{ name: "id", kind: "integer", declared: "integer", values: [] }];
  const count = 2 + choices.below(5);
  // Two columns of one kind can be compared with each other; the common kinds are also those with code of their own.
  const common: readonly Kind[] = [
    "integer",
    "bigint",
    "numeric",
    "text",
    "double",
    "boolean",
    "date",
    "timestamp",
  ];
  for (let index = 0; index < count; index++) {
    const earlier = columns.slice(1);
    const kind = earlier.length > 0 && choices.chance(30)
      ? choices.pick(earlier).kind
      : choices.pick(choices.chance(50) ? allKinds : common);
    columns.push({ name: `k${index}`, ...pickColumnType(choices, kind) });
  }
  return columns;
}

/** Values that a column of this world takes: few, so that they repeat, or one, or all of them. */
function pickPalette(choices: Choices, column: WorldColumn): (string | null)[] {
  const size = choices.pick([4, 1, 2, 8, 30]);
  const palette: (string | null)[] = Array.from({ length: size }, () => choices.pick(column.values));
  const nulls = choices.pick([15, 0, 60, 95]);
  return Array.from(
    { length: Math.max(size * 2, 12) },
    () => choices.chance(nulls) ? null : choices.pick(palette),
  );
}

const isOrdered = (kind: Kind) => kind !== "jsonb";

function pickIndexes(choices: Choices, table: string, columns: readonly WorldColumn[]): string[] {
  const ordered = columns.filter(({ kind }) => isOrdered(kind));
  const key = () => {
    const column = choices.pick(ordered);
    const expressions: Partial<Record<Kind, readonly string[]>> = {
      text: ["(lower($))", "(length($))"],
      integer: ["(($ % 10))", "(($::bigint + 1))"],
      boolean: ["((NOT $))"],
      double: ["((- $))"],
      numeric: ["((- $))", "(abs($))"],
    };
    const own = expressions[column.kind];
    const text = own !== undefined && choices.chance(20)
      ? choices.pick(own).replace("$", column.name).replace(/^\((\w+\(.*\))\)$/, "($1)")
      : column.name;
    return text + choices.pick(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
  };
  return Array.from({ length: choices.below(4) }, () => {
    const keys = Array.from({ length: 1 + choices.below(3) }, key);
    const unique = choices.chance(15);
    if (unique) keys.push("id");
    const column = choices.pick(columns);
    const value = column.values.length > 0 ? choices.pick(column.values) : "";
    // PostgreSQL takes every literal there; here the text of one must mean the same under every setting.
    const settled = !["date", "timestamp", "timestamptz", "interval", "jsonb"].includes(column.kind);
    const partial = choices.chance(25)
      ? ` WHERE ${column.name} IS NOT NULL`
      : choices.chance(15) && column.values.length > 0 && settled
      ? ` WHERE ${column.name} > ${literal(column.kind, value)}`
      : "";
    return `CREATE ${unique ? "UNIQUE " : choices.pick(["", "", "RANGE "])}INDEX ON ${table} (${
      keys.join(", ")
    })${partial}`;
  });
}

/** Rows by VALUES: of few rows; or by a query over series: of many. */
class Filler {
  readonly #choices: Choices;
  readonly #columns: readonly WorldColumn[];
  readonly #palettes: readonly (readonly (string | null)[])[];
  /** For many rows: which columns follow the row's number, so that blocks have narrow ranges. */
  readonly #follows: readonly boolean[];

  constructor(choices: Choices, columns: readonly WorldColumn[]) {
    this.#choices = choices;
    this.#columns = columns;
    this.#palettes = columns.map((column) => column.name === "id" ? [] : pickPalette(choices, column));
    this.#follows = columns.map(() => choices.chance(30));
  }

  row(id: number): string {
    const values = this.#columns.map(({ name, kind }, index) =>
      name === "id" ? `${id}` : literal(kind, this.#choices.pick(this.#palettes[index] ?? []))
    );
    return `(${values.join(", ")})`;
  }

  insert(table: string, first: number, count: number, columns = this.#columns): string {
    const names = columns.map(({ name }) => name).join(", ");
    if (count <= 40) {
      const rows = Array.from({ length: count }, (_, at) => this.row(first + at));
      // Columns that are added later have their default in these rows.
      const all = this.#columns.map(({ name }) => name).join(", ");
      return columns.length === this.#columns.length
        ? `INSERT INTO ${table} (${names}) VALUES ${rows.join(", ")}`
        : `INSERT INTO ${table} (${names}) SELECT ${names} FROM (VALUES ${rows.join(", ")}) AS s(${all})`;
    }
    const items = columns.map(({ name, kind }) => {
      if (name === "id") return "g";
      const at = this.#columns.findIndex((column) => column.name === name);
      const palette = this.#palettes[at] ?? [];
      const which = this.#follows[at] ?? false
        ? `g * ${palette.length} / ${first + count}`
        : `g * ${[7, 31, 101, 13, 3, 17, 29][at % 7]} % ${palette.length}`;
      const whens = palette.map((value, index) => `WHEN ${index} THEN ${literal(kind, value)}`);
      return `CASE ${which} ${whens.join(" ")} END`;
    });
    return `INSERT INTO ${table} (${names}) SELECT ${items.join(", ")} FROM generate_series(${first}, ${
      first + count - 1
    }) AS g`;
  }

  /** An UPDATE that gives some rows other values. */
  update(table: string, condition: string): string {
    const sets = this.#columns.flatMap(({ name, kind }, index) =>
      name === "id" || this.#choices.chance(40)
        ? []
        : [`${name} = ${literal(kind, this.#choices.pick(this.#palettes[index] ?? []))}`]
    );
    return sets.length === 0 ? "SELECT 1" : `UPDATE ${table} SET ${sets.join(", ")} WHERE ${condition}`;
  }
}

function declare(columns: readonly WorldColumn[], primaryKey: boolean): string {
  return columns.map(({ name, declared }) =>
    name === "id" && primaryKey ? `${name} ${declared} PRIMARY KEY` : `${name} ${declared}`
  ).join(", ");
}

function fillTable(choices: Choices, table: WorldTable): WorldStep[] {
  const { name, columns, rows } = table;
  const added = columns.length > 3 && choices.chance(25) ? columns.slice(-1) : [];
  const early = added.length > 0 ? columns.slice(0, -1) : columns;
  const filler = new Filler(choices, columns);
  const indexes = pickIndexes(choices, name, columns);
  const indexFirst = choices.chance(40);
  const steps: WorldStep[] = [sql(`CREATE TABLE ${name} (${declare(early, choices.chance(60))})`)];
  const addColumn = added.map(({ name: column, kind, declared, values }) =>
    sql(
      `ALTER TABLE ${name} ADD COLUMN ${column} ${declared}${
        choices.chance(75) ? ` DEFAULT ${literal(kind, choices.pick(values))}` : ""
      }`,
    )
  );
  const parts = rows > 1 ? choices.pick([[1], [0.5, 0.5], [0.7, 0.2, 0.1]]) : [1];
  const spare = rows > 2 && choices.chance(60) ? Math.min(rows, 20) : 0;
  if (indexFirst && added.length === 0) steps.push(...indexes.map(sql));
  let first = 1;
  parts.forEach((share, index) => {
    const isLast = index === parts.length - 1;
    const count = isLast ? rows - first + 1 + spare : Math.floor(rows * share);
    if (count > 0) steps.push(sql(filler.insert(name, first, count, index === 0 ? early : columns)));
    if (index === 0) steps.push(...addColumn);
    first += Math.max(count, 0);
    if (!isLast && choices.chance(70)) steps.push(sql("CHECKPOINT"));
    if (choices.chance(40)) {
      steps.push(sql(filler.update(name, choices.pick(["id % 3 = 0", "id % 7 = 1", `id > ${rows - 2}`]))));
    }
  });
  if (spare > 0) steps.push(sql(`DELETE FROM ${name} WHERE id > ${rows}`));
  if (!(indexFirst && added.length === 0)) steps.push(...indexes.map(sql));
  switch (choices.below(4)) {
    case 1:
      steps.push(sql("CHECKPOINT"));
      break;
    case 2:
      steps.push({ kind: "reopen" });
      break;
    case 3:
      steps.push(sql("CHECKPOINT"), sql(filler.update(name, "id % 5 = 2")));
  }
  return steps;
}

/** Chooses a world. */
export function chooseWorld(choices: Choices): World {
  const large = choices.chance(8);
  const steps: WorldStep[] = typeDefinitions.map(sql);
  const tables = [0, 1, 2].map((index): WorldTable => ({
    name: `t${index}`,
    copy: `c${index}`,
    view: `v${index}`,
    columns: pickColumns(choices),
    rows: large && index === 0 ? 4000 + choices.below(6000) : choices.pick([7, 12, 25, 1, 0, 2, 60]),
  }));
  const inTransaction = !large && choices.chance(15);
  const writing: string[] = [];
  for (const table of tables) {
    const made = fillTable(choices, table);
    if (inTransaction && choices.chance(60)) {
      writing.push(
        ...made.flatMap((step) => step.kind === "sql" && step.sql !== "CHECKPOINT" ? [step.sql] : []),
      );
    } else steps.push(...made);
  }
  const copies = tables.flatMap(({ name, copy, view, columns }) => [
    `CREATE TABLE ${copy} (${declare(columns, false)})`,
    `INSERT INTO ${copy} SELECT * FROM ${name} ORDER BY id DESC`,
    `CREATE VIEW ${view} AS SELECT * FROM ${name}`,
  ]);
  if (inTransaction) writing.push(...copies);
  else {
    steps.push(...copies.map(sql));
    if (choices.chance(30)) steps.push(sql("CHECKPOINT"));
  }
  return { tables, steps, writing: inTransaction ? writing : null };
}
