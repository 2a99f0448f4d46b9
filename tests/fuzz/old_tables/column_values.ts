/**
 * Types of columns of the tables that live long, with their literals: few values, so that they meet again, and the
 * types' edges. The older a table, the larger its numbers and the more different its texts, so that columns outgrow
 * the form of their first segments.
 */
import type { Choices } from "../choices.ts";

/** A type of columns. */
export interface ColumnType {
  readonly sql: string;
  /** A literal, never NULL. */
  literal(choices: Choices, age: number): string;
  /** An expression over the integer `i`, for many rows at once. */
  series(choices: Choices): string;
  /** Whether `+ 1` is defined. */
  readonly isNumber: boolean;
  /** Whether sums do not depend on the order of rows. */
  readonly isExact: boolean;
  /** Whether there are `min` and `max`. */
  readonly hasBounds: boolean;
  /** Types that all values can be turned into. */
  readonly becomes: readonly string[];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function integers(sql: string, edges: readonly string[], becomes: readonly string[]): ColumnType {
  const most = BigInt(edges.at(-1) ?? "0");
  return {
    sql,
    literal: (choices, age) => {
      if (choices.chance(6)) return `(${choices.pick(edges)})::${sql}`;
      const span = [6, 40, 300, 70_000, 5_000_000_000][Math.min(4, age >> 6)] ?? 6;
      const value = BigInt(choices.below(span)) - BigInt(choices.chance(20) ? span >> 1 : 0);
      return `(${value > most ? most : value < -most ? -most : value})::${sql}`;
    },
    series: (choices) => `(${choices.pick(["i", "i % 7", "i * 37 % 1000", "nullif(i % 3, 0)"])})::${sql}`,
    isNumber: true,
    isExact: true,
    hasBounds: true,
    becomes,
  };
}

function drawn(
  sql: string,
  values: readonly string[],
  series: readonly string[],
  rest: Partial<ColumnType> = {},
): ColumnType {
  return {
    sql,
    literal: (choices) => `${quoted(choices.pick(values))}::${sql}`,
    series: (choices) => `(${choices.pick(series)})::${sql}`,
    isNumber: false,
    isExact: false,
    hasBounds: true,
    becomes: ["text"],
    ...rest,
  };
}

const texts: ColumnType = {
  sql: "text",
  literal: (choices, age) =>
    choices.chance(25)
      ? quoted(choices.pick(["", "k1", "K1", "k1 ", "é", "\u{1F600}", "zz", "a'b", "\\", "%"]))
      : choices.chance(4)
      ? `repeat('${choices.pick(["x", "é"])}', ${choices.pick([255, 256, 5000])})`
      : quoted(`k${choices.below(8 << Math.min(10, age >> 5))}`),
  series: (choices) =>
    choices.pick(["'k' || i", "'k' || i % 50", "repeat('ab', i % 40)", "nullif('k' || i % 5, 'k1')", "''"]),
  isNumber: false,
  isExact: false,
  hasBounds: true,
  becomes: ["varchar(6000)"],
};

/** Every type; the first is the simplest. */
export const COLUMN_TYPES: readonly ColumnType[] = [
  integers("int", ["0", "-1", "127", "128", "32768", "-2147483648", "2147483647"], ["bigint", "numeric"]),
  texts,
  integers("bigint", [
    "0",
    "9007199254740992",
    "-9007199254740993",
    "-9223372036854775808",
    "9223372036854775807",
  ], ["numeric"]),
  integers("smallint", ["0", "255", "256", "-32768", "32767"], ["int", "bigint"]),
  drawn(
    "numeric(12,3)",
    ["0", "1.5", "1.500", "-1.5", "2", "3.125", "999999999.999", "-999999999.999", "0.001"],
    ["i * 0.25", "i % 9", "nullif(i % 4, 1) * 1.005"],
    { isNumber: true, isExact: true, becomes: ["numeric", "numeric(20,6)"] },
  ),
  drawn(
    "numeric",
    ["0", "1.5", "1.50", "NaN", "Infinity", "-Infinity", "1e30", "-1e-20", "9007199254740993", "2"],
    ["i", "i * 0.10", "i % 6 / 3.0"],
    { isNumber: true, isExact: true },
  ),
  drawn(
    "date",
    ["2020-01-01", "2020-02-29", "1999-12-31", "0001-01-01", "9999-12-31", "infinity", "-infinity"],
    ["date '2020-01-01' + i", "date '2020-01-01' + i % 11"],
    { becomes: ["timestamp", "text"] },
  ),
  drawn(
    "timestamp",
    ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001", "1969-12-31 23:59:59.5", "infinity", "-infinity"],
    ["timestamp '2020-01-01' + i * interval '1 hour'"],
    { becomes: ["timestamp(0)", "text"] },
  ),
  drawn("boolean", ["false", "true"], ["i % 2 = 0", "nullif(i % 3 = 0, i % 2 = 0)"], { hasBounds: false }),
  drawn(
    "double precision",
    ["0", "-0", "1.5", "NaN", "Infinity", "-Infinity", "1e-300", "9007199254740993", "0.1"],
    ["i", "i / 8.0", "i % 5"],
    { isNumber: true },
  ),
  drawn("int[]", ["{}", "{1}", "{1,NULL}", "{2,1}", "{{1,2},{3,4}}"], ["array[i % 4, i % 3]"], {
    hasBounds: false,
  }),
  drawn("bytea", ["\\x", "\\x00", "\\xff", "\\x0001"], ["decode(md5((i % 20)::text), 'hex')"], {
    hasBounds: false,
  }),
  drawn("varchar(8)", ["", "a", "a ", "k1", "k2", "k10"], ["'k' || i % 300"]),
];

/** The type of a name that a column may be given later. */
export function typeNamed(sql: string): ColumnType | null {
  return COLUMN_TYPES.find((each) => each.sql === sql) ?? null;
}
