/**
 * Tables for the edge oracle: one column for each type, filled from the type's edges in different mixtures, so that
 * every form in which a column is stored (plain, dictionary, span, constant) meets them.
 */
import type { SeededRandom } from "../support/random.ts";
import { poolOf } from "../answers/edge_values.ts";
import { edgesOf } from "./edges.ts";

/** The types of columns, by their pools. */
export const EDGE_TYPES = [
  "i16",
  "i32",
  "i64",
  "numeric(10,2)",
  "numeric(36,6)",
  "numeric",
  "f32",
  "f64",
  "bool",
  "text",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "jsonb",
  "i32[]",
] as const;

/** A type of edge columns and expressions. */
export type EdgeType = typeof EDGE_TYPES[number];

/** The type as SQL writes it. */
export function sqlName(type: EdgeType): string {
  return poolOf(type).type;
}

/** A column of the edge table. */
export interface EdgeColumn {
  readonly name: string;
  readonly type: EdgeType;
}

/** A table's contents: texts of values, null for NULL. The first column is the key `id`, 1 and up. */
export interface EdgeTable {
  readonly columns: readonly EdgeColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A value at an edge of the type. */
export function edgeOf(type: EdgeType, pick: <T>(items: readonly T[]) => T): string {
  return pick(edgesOf(type));
}

/** An unremarkable value of the type, by a small number. */
export function usualOf(type: EdgeType, number: number): string {
  switch (type) {
    case "numeric(10,2)":
    case "numeric(36,6)":
    case "numeric":
      return `${number}.${number % 4 * 25}`;
    case "f32":
    case "f64":
      return `${number / 4}`;
    case "bool":
      return number % 2 === 0 ? "true" : "false";
    case "text":
      return `t${number % 7}`;
    case "bytea":
      return `\\x0${number % 10}`;
    case "date":
      return `2024-02-${String(1 + number % 29).padStart(2, "0")}`;
    case "time":
      return `0${number % 10}:30:00`;
    case "timestamp":
    case "timestamptz":
      return `2024-02-${String(1 + number % 29).padStart(2, "0")} 0${number % 10}:00:00`;
    case "interval":
      return `${number} hours`;
    case "uuid":
      return `00000000-0000-0000-0000-${String(number).padStart(12, "0")}`;
    case "jsonb":
      return `{"a": ${number}}`;
    case "i32[]":
      return `{${number},1}`;
    default:
      return `${number}`;
  }
}

/** How a column's rows are mixed: most columns meet their edges. */
function columnMaker(random: SeededRandom, type: EdgeType): (id: number) => string | null {
  const edge = () => edgeOf(type, random.pick);
  const few = [edge(), edge(), usualOf(type, 3), null];
  const first = random.below(100);
  switch (random.below(7)) {
    case 0:
      return () => few[0] ?? null;
    case 1:
      return () => random.pick(few);
    case 2:
      // Ascending, with an edge now and then.
      return (id) => random.below(16) === 0 ? edge() : usualOf(type, first + id);
    case 3:
      return () => usualOf(type, random.below(10));
    default:
      return () =>
        random.below(8) === 0 ? null : random.below(10) < 7 ? edge() : usualOf(type, random.below(10));
  }
}

/** Columns and rows of a seed. */
export function makeEdgeTable(random: SeededRandom, size: number): EdgeTable {
  const columns = EDGE_TYPES.map((type, index): EdgeColumn => ({ name: `c${index}`, type }));
  // A second integer and decimal column of the same type, in another mixture.
  const twice = [
    ...columns,
    ...(["i32", "i64", "numeric(10,2)", "date", "f64"] as const).map((type, index) => ({
      name: `d${index}`,
      type,
    })),
  ];
  const makers = twice.map(({ type }) => columnMaker(random, type));
  const rows = Array.from({ length: size }, (_, index) => makers.map((make) => make(index + 1)));
  return { columns: twice, rows };
}

/** A text as a typed literal. */
export function typed(text: string | null, type: EdgeType): string {
  return `${text === null ? "NULL" : `'${text.replaceAll("'", "''")}'`}::${sqlName(type)}`;
}

/** Statements that create the table as `e` and fill it with the rows from one position to another. */
export function createEdgeTable({ columns }: EdgeTable): string {
  return `CREATE TABLE e (id int PRIMARY KEY, ${
    columns.map(({ name, type }) => `${name} ${sqlName(type)}`).join(", ")
  })`;
}

/** The rows `from` to before `to`, a thousand a statement. */
export function insertEdgeRows({ columns, rows }: EdgeTable, from: number, to: number): string[] {
  const statements: string[] = [];
  for (let at = from; at < to; at += 1000) {
    const list = rows.slice(at, Math.min(to, at + 1000)).map((row, index) => {
      const values = row.map((value) => value === null ? "NULL" : `'${value.replaceAll("'", "''")}'`);
      return `(${at + index + 1}, ${values.join(", ")})`;
    });
    statements.push(
      `INSERT INTO e (id, ${columns.map(({ name }) => name).join(", ")}) VALUES ${list.join(", ")}`,
    );
  }
  return statements;
}
