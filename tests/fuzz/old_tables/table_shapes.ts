/** What is known of the tables that live long: columns, keys and indexes, as generated statements have left them. */
import type { Choices } from "../choices.ts";
import { COLUMN_TYPES, type ColumnType } from "./column_values.ts";

/** A column that statements may write. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A table; its key is the column `k`. */
export interface Table {
  readonly name: string;
  readonly key: Column;
  /** What statements read and write, without the key. */
  readonly columns: readonly Column[];
  /** Columns that are computed, which are read only. */
  readonly computed: readonly string[];
  /** Columns that others are computed of; PostgreSQL does not change their types. */
  readonly sources: readonly string[];
  /** The table that `r` refers to. */
  readonly parent: string | null;
}

const KEY_TYPES = ["int", "text", "bigint", "numeric(12,3)", "date"];

/** Names that are never given twice. */
export class Names {
  #next = 0;
  column(): string {
    return `c${this.#next++}`;
  }
  index(): string {
    return `i${this.#next++}`;
  }
  prepared(): string {
    return `p${this.#next++}`;
  }
}

/** Some tables and the statements that make them. */
export function makeTables(choices: Choices, names: Names): { tables: Table[]; statements: string[] } {
  const tables: Table[] = [];
  const statements: string[] = [];
  const count = 3 + choices.below(3);
  for (let number = 0; number < count; number++) {
    const { table, sql } = makeTable(choices, names, `t${number}`, tables);
    tables.push(table);
    statements.push(sql);
  }
  for (const table of tables) {
    for (let index = choices.below(4); index > 0; index--) {
      statements.push(createIndex(choices, names, table));
    }
  }
  return { tables, statements };
}

function makeTable(
  choices: Choices,
  names: Names,
  name: string,
  others: readonly Table[],
): { table: Table; sql: string } {
  const keyType = typeOf(choices.pick(KEY_TYPES));
  const key = { name: "k", type: keyType };
  const columns = Array.from({ length: 2 + choices.below(5) }, () => ({
    name: names.column(),
    type: choices.pick(COLUMN_TYPES),
  }));
  const parts = [`k ${keyType.sql} PRIMARY KEY`];
  for (const column of columns) {
    const unique = choices.chance(10) ? " UNIQUE" : "";
    const fallback = choices.chance(25) ? ` DEFAULT ${column.type.literal(choices, 0)}` : "";
    parts.push(`${column.name} ${column.type.sql}${unique}${fallback}`);
  }
  const computed: string[] = [];
  const sources: string[] = [];
  const number = columns.find(({ type }) => type.sql === "int" || type.sql === "bigint");
  if (number !== undefined && choices.chance(50)) {
    parts.push(`g ${number.type.sql} GENERATED ALWAYS AS (coalesce(${number.name}, -7) % 13) STORED`);
    computed.push("g");
    sources.push(number.name);
  }
  if (number !== undefined && choices.chance(30)) parts.push(`CHECK (${number.name} <> 5)`);
  let parent: string | null = null;
  if (others.length > 0 && choices.chance(50)) {
    const other = choices.pick(others);
    parent = other.name;
    columns.push({ name: "r", type: other.key.type });
    const act = () => choices.pick(["NO ACTION", "CASCADE", "SET NULL", "CASCADE"]);
    const wait = choices.chance(20) ? " DEFERRABLE INITIALLY DEFERRED" : "";
    parts.push(
      `r ${other.key.type.sql} REFERENCES ${parent} (k) ON DELETE ${act()} ON UPDATE ${act()}${wait}`,
    );
  }
  return {
    table: { name, key, columns, computed, sources, parent },
    sql: `CREATE TABLE ${name} (${parts.join(", ")})`,
  };
}

function typeOf(sql: string): ColumnType {
  const type = COLUMN_TYPES.find((each) => each.sql === sql);
  if (type === undefined) throw new Error(`no type ${sql}`);
  return type;
}

/** An index of one or more columns, some of them unique, partial, descending or over an expression. */
export function createIndex(choices: Choices, names: Names, table: Table): string {
  const columns = [table.key, ...table.columns];
  const one = choices.pick(columns), other = choices.pick(columns);
  const term = (column: Column) =>
    column.name + choices.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
  const terms = choices.chance(50)
    ? [term(one)]
    : one === other || choices.chance(30)
    ? [expressionOf(one)]
    : [term(one), term(other)];
  const unique = choices.chance(15) ? "UNIQUE " : "";
  const partial = choices.chance(20) ? ` WHERE ${other.name} IS NOT NULL` : "";
  return `CREATE ${unique}INDEX ${names.index()} ON ${table.name} (${terms.join(", ")})${partial}`;
}

function expressionOf({ name, type }: Column): string {
  if (type.sql === "text" || type.sql === "varchar(8)") return `lower(${name})`;
  if (type.isNumber) return `(-${name})`;
  return `(${name} IS NULL)`;
}
