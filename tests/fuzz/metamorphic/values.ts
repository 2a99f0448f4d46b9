/**
 * Types for random tables and expressions, with the values at their edges.
 *
 * A kind is a type as expressions know it; several declared types may share a kind. The first value of a kind is the
 * simplest one. Values are texts that a cast to the kind's type reads.
 */
import type { Choices } from "../choices.ts";

/** What operators and functions ask of a type. */
export type Kind =
  | "boolean"
  | "smallint"
  | "integer"
  | "bigint"
  | "u8"
  | "u32"
  | "u64"
  | "numeric"
  | "real"
  | "double"
  | "text"
  | "char"
  | "bytea"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "uuid"
  | "jsonb"
  | "integers"
  | "texts"
  | "numerics"
  | "mood";

interface KindDescription {
  /** What a cast names. */
  readonly name: string;
  readonly edges: readonly string[];
  readonly ordinary: readonly string[];
  /** Not least of what a column may be declared as: narrower declarations with the values they hold. */
  readonly declarations?: readonly { readonly name: string; readonly fits: (value: string) => boolean }[];
}

const integerEdges = (bits: readonly number[], least: bigint, greatest: bigint): string[] => {
  const values = new Set<bigint>([least, least + 1n, greatest, greatest - 1n, 0n, 1n, -1n]);
  for (const bit of bits) {
    const power = 1n << BigInt(bit);
    for (const near of [power - 1n, power, power + 1n]) values.add(near).add(-near);
  }
  return [...values].filter((value) => value >= least && value <= greatest).map(String);
};

const nines = (count: number) => "9".repeat(count);
const fitsNumeric = (precision: number, scale: number) => (value: string): boolean => {
  const [, whole = "", fraction = ""] = /^-?(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  return whole !== "" && whole.length <= precision - scale && fraction.length <= scale;
};

/** Every kind. */
export const kinds: Readonly<Record<Kind, KindDescription>> = {
  boolean: { name: "boolean", edges: ["false", "true"], ordinary: ["true", "false"] },
  integer: {
    name: "integer",
    edges: integerEdges([7, 8, 15, 16, 24, 30, 31], -(1n << 31n), (1n << 31n) - 1n),
    ordinary: ["1", "2", "3", "5", "7", "-2", "10", "42", "100"],
  },
  smallint: {
    name: "smallint",
    edges: integerEdges([7, 8, 14, 15], -(1n << 15n), (1n << 15n) - 1n),
    ordinary: ["1", "2", "3", "-4", "100"],
  },
  bigint: {
    name: "bigint",
    edges: integerEdges([8, 16, 31, 32, 52, 53, 54, 62, 63], -(1n << 63n), (1n << 63n) - 1n),
    ordinary: ["1", "2", "3", "-5", "1000", "123456789012"],
  },
  u8: { name: "u8", edges: integerEdges([7, 8], 0n, 255n), ordinary: ["1", "2", "100"] },
  u32: {
    name: "u32",
    edges: integerEdges([8, 16, 31, 32], 0n, (1n << 32n) - 1n),
    ordinary: ["1", "3", "70000"],
  },
  u64: {
    name: "u64",
    edges: integerEdges([32, 53, 63, 64], 0n, (1n << 64n) - 1n),
    ordinary: ["1", "4", "1000"],
  },
  numeric: {
    name: "numeric",
    edges: [
      "0",
      "-0.00",
      "1.50",
      "1.5",
      "-1.5",
      "0.01",
      "-0.01",
      "99999999.99",
      "-99999999.99",
      "9007199254740993.01",
      "90071992547409.93",
      "2147483648",
      "9223372036854775808",
      `${nines(36)}.99`,
      `-${nines(36)}.99`,
      `${nines(38)}`,
      `1e-30`,
      `0.${"0".repeat(19)}1`,
      `${nines(20)}.${nines(20)}`,
      "NaN",
      "Infinity",
      "-Infinity",
    ],
    ordinary: ["1", "2.25", "-3.10", "100", "12.34", "0.5"],
    declarations: [
      { name: "numeric", fits: () => true },
      { name: "numeric(10,2)", fits: fitsNumeric(10, 2) },
      { name: "numeric(18,0)", fits: fitsNumeric(18, 0) },
      { name: "numeric(38,2)", fits: fitsNumeric(38, 2) },
      { name: "numeric(16,4)", fits: fitsNumeric(16, 4) },
    ],
  },
  double: {
    name: "double precision",
    edges: [
      "0",
      "-0",
      "NaN",
      "Infinity",
      "-Infinity",
      "1.7976931348623157e308",
      "-1.7976931348623157e308",
      "5e-324",
      "-5e-324",
      "2.2250738585072014e-308",
      "9007199254740991",
      "9007199254740993",
      "-9007199254740993",
      "2147483648",
      "4294967296",
      "9223372036854775807",
      "0.1",
      "0.30000000000000004",
    ],
    ordinary: ["1", "1.5", "-2.25", "100", "3"],
  },
  real: {
    name: "real",
    edges: [
      "0",
      "-0",
      "NaN",
      "Infinity",
      "-Infinity",
      "3.4028235e38",
      "-3.4028235e38",
      "1e-45",
      "16777217",
      "0.1",
    ],
    ordinary: ["1", "1.5", "-2.25", "100"],
  },
  text: {
    name: "text",
    edges: [
      "",
      " ",
      "a ",
      "\u{1d11e}",
      "\uffff",
      "\ue000",
      "\u{10ffff}",
      "é",
      "e\u0301",
      "%",
      "_",
      "\\",
      "ab%",
      "\x01",
      "a\tb",
    ],
    ordinary: ["a", "b", "ab", "abc", "B", "zz", "a%b", "abcabc", "x".repeat(40), "12", "-7"],
    declarations: [
      { name: "text", fits: () => true },
      { name: "varchar(40)", fits: () => true },
      { name: "varchar(3)", fits: (value) => [...value].length <= 3 },
    ],
  },
  char: {
    name: "char(4)",
    edges: ["", "a", "\u{1d11e}", "\uffff", "ab%", "é"],
    ordinary: ["a", "ab", "abcd", "B"],
  },
  bytea: {
    name: "bytea",
    edges: ["\\x", "\\x00", "\\x00ff", "\\xff", "\\xff00", "\\x80", "\\x7f", `\\x${"ab".repeat(40)}`],
    ordinary: ["\\x61", "\\x6162", "\\x616263", "\\x0001020304"],
  },
  date: {
    name: "date",
    edges: [
      "0001-01-01",
      "9999-12-31",
      "infinity",
      "-infinity",
      "4713-01-01 BC",
      "5874897-12-31",
      "1970-01-01",
      "1969-12-31",
      "2000-02-29",
      "1900-02-28",
      "0001-12-31 BC",
    ],
    ordinary: ["2024-02-29", "2024-01-31", "1999-12-31", "2024-03-01"],
  },
  time: {
    name: "time",
    edges: ["00:00:00", "24:00:00", "23:59:59.999999", "00:00:00.000001"],
    ordinary: ["12:30:00", "01:02:03", "23:00:00"],
  },
  timestamp: {
    name: "timestamp",
    edges: [
      "infinity",
      "-infinity",
      "0001-01-01 00:00:00",
      "9999-12-31 23:59:59.999999",
      "4713-01-01 00:00:00 BC",
      "294276-12-31 23:59:59.999999",
      "1970-01-01 00:00:00",
      "1969-12-31 23:59:59.999999",
      "1970-01-01 00:00:00.000001",
      "2255-06-05 23:47:34.740993",
    ],
    ordinary: ["2024-02-29 12:00:00", "2000-01-01 00:00:00", "2024-03-31 02:30:00"],
  },
  timestamptz: {
    name: "timestamptz",
    edges: [
      "infinity",
      "-infinity",
      "0001-01-01 00:00:00+00",
      "9999-12-31 23:59:59.999999+00",
      "4713-01-01 00:00:00+00 BC",
      "294276-12-31 23:59:59.999999+00",
      "1970-01-01 00:00:00+00",
      "1969-12-31 23:59:59.999999+00",
    ],
    ordinary: ["2024-02-29 12:00:00+00", "2000-01-01 00:00:00+02", "2024-03-31 02:30:00-05"],
  },
  interval: {
    name: "interval",
    edges: [
      "0",
      "1 mon",
      "30 days",
      "720:00:00",
      "-1 mon",
      "1 mon -30 days",
      "-00:00:00.000001",
      "1 year 2 mons -3 days 04:05:06.789",
      "178000000 years",
      "-178000000 years",
      "2147483647 days",
      "24:00:00",
    ],
    ordinary: ["1 day", "02:00:00", "-1 day", "1 year"],
  },
  uuid: {
    name: "uuid",
    edges: [
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "7fffffff-ffff-ffff-ffff-ffffffffffff",
      "80000000-0000-0000-0000-000000000000",
    ],
    ordinary: ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"],
  },
  jsonb: {
    name: "jsonb",
    edges: [
      "null",
      "[]",
      "{}",
      '""',
      "1.0",
      "1",
      "-0",
      "12345678901234567890",
      '"\u{1d11e}"',
      "[null]",
      '{"a": null}',
    ],
    ordinary: ['"a"', "true", '{"a": 1}', "[1, 2.50, true]", '{"b": "é", "a": 1.0}', '{"a": [1, {"b": 2}]}'],
  },
  integers: {
    name: "integer[]",
    edges: [
      "{}",
      "{NULL}",
      "{2147483647,-2147483648}",
      "{{1,2},{3,4}}",
      "[0:1]={1,2}",
      "{1,NULL,3}",
      "{NULL,1}",
    ],
    ordinary: ["{1}", "{1,2}", "{2,1}", "{1,2,3}"],
  },
  texts: {
    name: "text[]",
    edges: ["{}", "{NULL}", '{""}', '{"NULL"}', '{"\u{1d11e}","\uffff"}', '{"a,b"}', "{a,NULL}"],
    ordinary: ["{a}", "{a,b}", "{b,a}", "{ab}"],
  },
  numerics: {
    name: "numeric[]",
    edges: ["{}", "{NULL}", "{NaN}", "{1.50}", "{1.5}", "{-0.0}", "{0}", `{${nines(38)}}`],
    ordinary: ["{1}", "{1,2.5}", "{2.50,1}"],
  },
  mood: { name: "mood", edges: ["zebra", "ape"], ordinary: ["zebra", "middle", "ape"] },
};

/** The names of all kinds. */
export const allKinds = Object.keys(kinds) as readonly Kind[];

/** Statements that must run before the kinds' names can be used. */
export const typeDefinitions = ["CREATE TYPE mood AS ENUM ('zebra', 'middle', 'ape')"];

/** A literal of the kind; `null` is NULL of that type. */
export function literal(kind: Kind, value: string | null): string {
  const { name } = kinds[kind];
  return value === null ? `NULL::${name}` : `'${value.replaceAll("'", "''")}'::${name}`;
}

/** A value's text: an edge more often than not. */
export function pickValue(choices: Choices, kind: Kind): string {
  const { edges, ordinary } = kinds[kind];
  return choices.pick(choices.chance(60) ? edges : ordinary);
}

/** A column's kind, and what it is declared as. */
export interface ColumnType {
  readonly kind: Kind;
  readonly declared: string;
  /** Values of the kind that the column may hold. */
  readonly values: readonly string[];
}

/** Chooses how a column of the kind is declared. */
export function pickColumnType(choices: Choices, kind: Kind): ColumnType {
  const { name, edges, ordinary, declarations } = kinds[kind];
  const all = [...ordinary, ...edges];
  if (declarations === undefined) return { kind, declared: name, values: all };
  const declaration = choices.pick(declarations);
  return { kind, declared: declaration.name, values: all.filter(declaration.fits) };
}
