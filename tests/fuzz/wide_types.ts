/**
 * Types, values and expressions for random statements that only PostgreSQL understands the same way.
 *
 * Literals name their type. The first value and the first expression of a type are the simplest.
 */
import { edgesOf } from "./edges.ts";

/** Types of columns and expressions beyond those that every peer has. */
export type WideType =
  | "float"
  | "date"
  | "timestamp"
  | "interval"
  | "bytea"
  | "uuid"
  | "jsonb"
  | "array";

/** All of them. */
export const wideTypes: readonly WideType[] = [
  "float",
  "date",
  "timestamp",
  "interval",
  "bytea",
  "uuid",
  "jsonb",
  "array",
];

/** What a column of the type is declared as, and a cast names. */
export const wideNames: Readonly<Record<WideType, string>> = {
  float: "double precision",
  date: "date",
  timestamp: "timestamp",
  interval: "interval",
  bytea: "bytea",
  uuid: "uuid",
  jsonb: "jsonb",
  array: "integer[]",
};

/** Pools of edges. */
const pools: Readonly<Record<AnyType, string>> = {
  int: "i64",
  text: "text",
  bool: "bool",
  numeric: "numeric",
  float: "f64",
  date: "date",
  timestamp: "timestamp",
  interval: "interval",
  bytea: "bytea",
  uuid: "uuid",
  jsonb: "jsonb",
  array: "i32[]",
};

/** Values that no operator minds. */
const usual: Readonly<Record<AnyType, readonly string[]>> = {
  int: ["0", "1", "2", "-1", "3", "5", "10", "100", "-7"],
  text: ["", "a", "b", "ab", "A", "B ", "zz", "abcabc", "longer than the others by far"],
  bool: ["true", "false"],
  numeric: ["0.0", "1.5", "-2.25", "100.00", "0.001", "7.07"],
  float: ["0", "1.5", "-2.25", "100", "0.1", "3", "1e10"],
  date: ["2000-01-01", "2024-02-29", "1999-12-31", "2024-03-01"],
  timestamp: [
    "2000-01-01 00:00:00",
    "2024-02-29 23:59:59.999999",
    "1999-12-31 12:30:00",
    "2024-03-31 02:30:00",
  ],
  interval: ["0", "1 day", "-1 day", "1 mon", "1 year 2 mons -3 days 04:05:06.789"],
  bytea: ["\\x", "\\x00ff", "\\x616263", "\\x6162"],
  uuid: ["00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  jsonb: ["null", "1", '"a"', '{"a": 1}', '{"a": [1, 2, {"b": null}]}', "[1, 2.50, true]"],
  array: ["{}", "{1}", "{1,2}", "{1,NULL,3}", "{2,1}"],
};

/** The text of a value: of the type's edges, or of a pool of edges that is given, more often than not. */
export function anyValue(
  type: AnyType,
  pick: <T>(items: readonly T[]) => T,
  pool: string = pools[type],
): string {
  // The simplest value comes first.
  return pick([() => pick(usual[type]), () => pick(edgesOf(pool)), () => pick(edgesOf(pool))])();
}

/** A literal that names its type. */
export function wideLiteral(type: WideType, text: string): string {
  return `'${text.replaceAll("'", "''")}'::${wideNames[type]}`;
}

/** Whether the type has min() and max(). */
export function hasExtremes(type: WideType): boolean {
  return type !== "bytea" && type !== "uuid" && type !== "jsonb";
}

/** Any type of generated expressions. */
export type AnyType = "int" | "text" | "bool" | "numeric" | WideType;

/** Makes an operand, and decides. */
export interface OperandMaker {
  value(type: AnyType): string;
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Expressions of a type beyond those that every peer has. */
export function wideExpressions(type: AnyType, make: OperandMaker): readonly (() => string)[] {
  const value = (of: AnyType) => make.value(of);
  const below = (limit: number) => make.below(limit);
  const pick = <T>(items: readonly T[]) => make.pick(items);
  const days = () => `(${value("int")} % 1000)::integer`;
  const near = () => `least(${value("timestamp")}, timestamp '9999-12-31')`;
  const ascii = () => `encode(convert_to(${value("text")}, 'UTF8'), 'escape')`;
  switch (type) {
    case "float":
      return [
        () => `(${value("float")} + ${value("float")})`,
        () => `(${value("float")} * ${pick(["2", "-0.5", "1e10"])})`,
        () => `(- ${value("float")})`,
        () => `CAST(${value("int")} % 100000 AS double precision)`,
        () => `${pick(["abs", "floor", "ceil", "round", "trunc", "sign"])}(${value("float")})`,
        () => `CAST(${value("numeric")} AS double precision)`,
        () => `date_part('${pick(["day", "month", "hour", "dow"])}', ${value("timestamp")})`,
      ];
    case "date":
      return [
        () => `(${value("date")} + ${days()})`,
        () => `CAST(${value("timestamp")} AS date)`,
        () => `CAST(CAST(${value("date")} AS text) AS date)`,
      ];
    case "timestamp":
      return [
        () => `CAST(${value("date")} AS timestamp)`,
        () => `(${value("timestamp")} + interval '${pick(["1 day", "1 mon", "-1 year", "90 minutes"])}')`,
        () =>
          `date_trunc('${pick(["day", "month", "year", "hour", "week", "quarter"])}', ${value("timestamp")})`,
        () => `(${value("date")} + interval '${pick(["1 hour", "1 mon -1 day"])}')`,
      ];
    case "interval":
      return [
        () => `(${value("interval")} + ${value("interval")})`,
        () => `(${value("interval")} * ${below(5)})`,
        () => `(- ${value("interval")})`,
        // Not between the ends, where the microseconds wrap in PostgreSQL 15.
        () => `(${near()} - ${near()})`,
        () => `${pick(["justify_days", "justify_hours", "justify_interval"])}(${value("interval")})`,
        () => `make_interval(days => ${days()})`,
        () => `age(${value("timestamp")}, ${value("timestamp")})`,
      ];
    case "bytea":
      return [
        () => `(${value("bytea")} || ${value("bytea")})`,
        () => `substr(${value("bytea")}, ${1 + below(3)}, ${below(4)})`,
        () => `convert_to(${value("text")}, 'UTF8')`,
        () => `decode(encode(${value("bytea")}, 'hex'), 'hex')`,
      ];
    case "uuid":
      return [
        () => `CAST(CAST(${value("uuid")} AS text) AS uuid)`,
        () => `CAST(md5(${value("text")}) AS uuid)`,
      ];
    case "jsonb":
      return [
        () => `to_jsonb(${value(pick(["int", "bool", "numeric", "array"] as const))})`,
        () => `to_jsonb(CAST(${value("text")} AS text))`,
        () => `jsonb_build_array(${value("int")}, ${value("text")})`,
        () => `jsonb_build_object('a', ${value("int")}, 'b', ${value("jsonb")})`,
        () => `(${value("jsonb")} -> '${pick(["a", "b"])}')`,
        () => `(${value("jsonb")} -> ${below(3)})`,
        () => `(${value("jsonb")} #> '{a,2}')`,
      ];
    case "array":
      return [
        () => `ARRAY[(${value("int")} % 1000)::integer, ${below(4)}]`,
        () => `array_remove(${wideLiteral("array", "{1,2,NULL,1}")}, (${value("int")} % 3)::integer)`,
        () => `(${wideLiteral("array", "{5,6}")} || (${value("int")} % 3)::integer)`,
        () => `string_to_array('${pick(["1,2", "", "3"])}', ',')::integer[]`,
        () => `(${value("array")})[1:2]`,
      ];
    case "int":
      return [
        () => `length(${value("bytea")})`,
        () => `cardinality(${value("array")})`,
        () => `array_length(${value("array")}, 1)`,
        () => `(${value("array")})[${below(3)}]`,
        () => `(date '2024-02-29' - CAST('${pick(["2024-01-01", "2025-01-01"])}' AS date))`,
        () => `position(${value("text")} IN ${value("text")})`,
        () => `ascii(${value("text")})`,
        () => `sign(${value("int")})::integer`,
        () => `mod(${value("int")}, 7)`,
        () => `octet_length(${value("text")})`,
      ];
    case "text":
      return [
        // Letters beyond ASCII depend on the locale.
        () => `upper(${ascii()})`,
        () => `left(${value("text")}, ${below(4) - 1})`,
        () => `right(${value("text")}, ${below(4) - 1})`,
        () => `lpad(${value("text")}, ${below(6)}, 'xy')`,
        () => `reverse(${value("text")})`,
        () => `concat(${value("text")}, ${value("int")})`,
        () => `split_part(${value("text")}, 'b', ${1 + below(2)})`,
        () => `(${value("jsonb")} ->> 'a')`,
        () => `encode(${value("bytea")}, 'hex')`,
        () => `jsonb_typeof(${value("jsonb")})`,
        () =>
          `CAST(${
            value(pick(["date", "timestamp", "interval", "uuid", "jsonb", "array", "bool"] as const))
          } AS text)`,
        () => `array_to_string(${value("array")}, ',', '*')`,
        () => `to_char(${value("timestamp")}, 'YYYY-MM-DD HH24:MI:SS')`,
        () => `initcap(${ascii()})`,
      ];
    case "numeric":
      return [
        () => `extract(${pick(["year", "month", "day"])} FROM ${value("timestamp")})`,
        // PostgreSQL rounds that of the last years.
        () => `extract(epoch FROM ${near()})`,
        () => `extract(${pick(["hour", "day", "epoch"])} FROM ${value("interval")})`,
        () => `trunc(${value("numeric")}, 1)`,
        () => `(${value("numeric")} % 7)`,
        () => `sign(${value("numeric")})`,
      ];
    case "bool":
      return [
        () => `(${value("array")} @> ${wideLiteral("array", pick(["{}", "{1}", "{1,2}"]))})`,
        () => `(${value("array")} && ${wideLiteral("array", pick(["{1}", "{2,3}"]))})`,
        () => `((${value("int")} % 10) = ANY (CAST(${value("array")} AS integer[])))`,
        () => `((${value("int")} % 10) > ALL (CAST(${value("array")} AS integer[])))`,
        () => `(${value("jsonb")} @> '${pick(["{}", '{"a": 1}', "[]", "1"])}'::jsonb)`,
        () => `(${value("jsonb")} ? 'a')`,
        () => `starts_with(${value("text")}, 'a')`,
        () => `((${value("int")}, ${value("text")}) < (${value("int")}, ${value("text")}))`,
        () => `(${value("text")} SIMILAR TO '%(a|b)')`,
        () => `(${value("text")} ~ '^[a-z]+$')`,
        () => `(${value("text")} ILIKE 'A%')`,
        () => `isfinite(${value("date")})`,
        () => `((${value("date")}, ${value("date")}) OVERLAPS (date '2000-01-01', date '2024-02-29'))`,
      ];
  }
}
