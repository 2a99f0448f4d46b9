/**
 * Which pools the arguments of a definition take: those of its types, or those of what the arguments mean.
 */
import type { AggregateDefinition, FunctionDefinition } from "../../engine/sql/functions/definition.ts";
import { CAST_TYPES } from "./edge_values.ts";

/**
 * Pools of arguments that mean something, by the function's name: every line whose types fit; `*` keeps the type's
 * own pool.
 */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "~": ["* text/pattern"],
  "!~": ["* text/pattern"],
  "~*": ["* text/pattern"],
  "!~*": ["* text/pattern"],
  "~~": ["* text/like"],
  "!~~": ["* text/like"],
  "~~*": ["* text/like"],
  "!~~*": ["* text/like"],
  "<<": ["* i32/shift"],
  ">>": ["* i32/shift"],
  "||": ["* text[]/path", "text/short *", "* text/short"],
  "->": ["* text/key", "* i32/position"],
  "->>": ["* text/key", "* i32/position"],
  "#>": ["* text[]/path"],
  "#>>": ["* text[]/path"],
  "#-": ["* text[]/path"],
  "?": ["* text/key"],
  "?|": ["* text[]/path"],
  "?&": ["* text[]/path"],
  "-": ["jsonb text/key", "jsonb text[]/path", "jsonb i32/position"],
  like: ["* text/like"],
  notlike: ["* text/like"],
  like_escape: ["text/like text/escape"],
  similar_to_escape: ["text/similar", "text/similar text/escape"],
  substring: ["text/subject text/pattern", "text/subject text/similar text/escape"],
  regexp_match: ["text/subject text/pattern text/flags"],
  regexp_matches: ["text/subject text/pattern text/flags"],
  regexp_split_to_array: ["text/subject text/pattern text/flags_once"],
  regexp_split_to_table: ["text/subject text/pattern text/flags_once"],
  regexp_replace: [
    "text/subject text/pattern text/replacement text/flags",
    "text/subject text/pattern text/replacement i32/count i32/count text/flags_once",
  ],
  regexp_count: ["text/subject text/pattern i32/count text/flags_once"],
  regexp_instr: ["text/subject text/pattern i32/count i32/count i32/count text/flags_once i32/count"],
  regexp_like: ["text/subject text/pattern text/flags_once"],
  regexp_substr: ["text/subject text/pattern i32/count i32/count text/flags_once i32/count"],
  repeat: ["text/short i32/count"],
  lpad: ["text i32/count text/short"],
  rpad: ["text i32/count text/short"],
  split_part: ["text/list text/delimiter i32/position"],
  string_to_array: ["text/list text/delimiter text/delimiter"],
  string_to_table: ["text/list text/delimiter text/delimiter"],
  replace: ["text/subject text/short text/replacement"],
  translate: ["text/subject text/short text/characters"],
  starts_with: ["text text/short"],
  strpos: ["text text/short"],
  position: ["text text/short"],
  chr: ["i32/code"],
  parse_ident: ["text/identifier"],
  quote_ident: ["text/identifier"],
  format: ["text/format"],
  normalize: ["text text/form"],
  is_normalized: ["text text/form"],
  unistr: ["text/unicode"],
  convert_from: ["bytea name/encoding"],
  convert_to: ["text name/encoding"],
  encode: ["bytea text/encoding"],
  decode: ["text/encoded text/encoding"],
  get_bit: ["bytea i64/position"],
  set_bit: ["bytea i64/position i32/count"],
  set_byte: ["bytea i32/position i32/code"],
  date_part: ["text/unit", "text/unit_odd"],
  extract: ["text/unit", "text/unit_odd"],
  date_trunc: ["text/unit", "text/unit timestamptz text/zone", "text/unit_odd"],
  timezone: ["text/zone", "interval/zone"],
  make_date: ["i32/year i32/month i32/day"],
  make_time: ["i32/hour i32/minute f64/second"],
  make_timestamp: ["i32/year i32/month i32/day i32/hour i32/minute f64/second"],
  make_timestamptz: ["i32/year i32/month i32/day i32/hour i32/minute f64/second text/zone"],
  make_interval: ["i32/count i32/count i32/count i32/count i32/count i32/count f64/second"],
  to_date: ["text/date text/date_format"],
  to_timestamp: ["text/date text/date_format", "f64"],
  to_number: ["text/number text/number_format"],
  array_fill: ["* i32[]/bounds i32[]/bounds"],
  array_to_string: ["* text/delimiter text/delimiter"],
  json_extract_path: ["json text/key", "json text[]/path"],
  json_extract_path_text: ["json text/key", "json text[]/path"],
  jsonb_extract_path: ["jsonb text/key", "jsonb text[]/path"],
  jsonb_extract_path_text: ["jsonb text/key", "jsonb text[]/path"],
  jsonb_set: ["jsonb text[]/path jsonb"],
  jsonb_insert: ["jsonb text[]/path jsonb"],
  width_bucket: ["* * * i32/digits"],
  round: ["numeric i32/digits"],
  trunc: ["numeric i32/digits"],
  format_type: ["oid/type i32/modifier"],
  pg_size_bytes: ["text/size"],
};

/** What one argument's pattern stands for. */
const ELEMENTS = [
  "i32",
  "numeric",
  "f64",
  "text",
  "char(5)",
  "date",
  "timestamptz",
  "interval",
  "jsonb",
  "bool",
  "enum",
  "bytea",
];
const ARRAYS = ["i32[]", "text[]", "numeric[]", "f64[]", "enum[]"];
const SCALES = ["numeric", "numeric(10,2)", "numeric(36,6)"];

function elementOf(array: string): string {
  const element = array.slice(0, array.indexOf("["));
  return element === "i32" ? "i32/position" : element === "text" ? "text/short" : element;
}

/** For every instance of a definition the pools of its arguments. */
export function argumentPools(definition: FunctionDefinition): string[][] {
  const { signature, variadic } = definition;
  const last = signature.at(-1);
  let repeated = variadic === true && last !== undefined ? [signature, [...signature, last]] : [signature];
  if (definition.name.endsWith("_build_object")) repeated = repeated.slice(-1);
  return repeated.flatMap(instancesOf).flatMap((keys) => inRoles(definition, keys));
}

/** The same of an aggregate. */
export function aggregatePools({ name, signature }: AggregateDefinition): string[][] {
  const instances = instancesOf(signature).map((keys) =>
    keys.map((key) => name === "string_agg" && key === "bytea" ? "bytea/short" : key)
  );
  return name === "string_agg"
    ? instances.map((
      [value = "", delimiter = ""],
    ) => [value, delimiter === "text" ? "text/delimiter" : delimiter])
    : instances;
}

function instancesOf(signature: readonly string[]): string[][] {
  const keys = [...signature];
  if (keys.some((key) => /^any(compatible)?array$/.test(key))) {
    return ARRAYS.map((array) =>
      keys.map((key) =>
        /array$/.test(key) && key !== "anynonarray" ? array : /^any/.test(key) ? elementOf(array) : key
      )
    ).flatMap(scaled);
  }
  const pattern = keys.findLastIndex((key) => key.startsWith("any"));
  if (pattern < 0) return scaled(keys);
  const types = keys[pattern] === "any"
    ? (keys.length === 1 ? CAST_TYPES : ELEMENTS)
    : keys[pattern] === "anyenum"
    ? ["enum"]
    : keys[pattern] === "anynonarray"
    ? CAST_TYPES.filter((type) => !type.endsWith("[]"))
    : ELEMENTS;
  return types.map((type) =>
    keys.map((key, index) =>
      index === pattern ? type : !key.startsWith("any") ? key : key === "any" ? "text/short" : type
    )
  );
}

/** The same with numbers of declared scales, and with padded texts. */
function scaled(keys: readonly string[]): string[][] {
  const instances = [[...keys]];
  if (keys.includes("numeric")) {
    for (const scale of SCALES.slice(1)) instances.push(keys.map((key) => key === "numeric" ? scale : key));
    if (keys.length === 2 && keys.every((key) => key === "numeric")) {
      instances.push(["numeric(10,2)", "numeric(36,6)"], ["numeric", "numeric(10,2)"], [
        "numeric(4,0)",
        "numeric(4,0)",
      ]);
    }
  }
  if (keys.length <= 2 && keys.length > 0 && keys.every((key) => key === "text")) {
    instances.push(keys.map(() => "char(5)"), keys.map(() => "varchar(10)"));
  }
  return instances.map((instance) => instance.map((key) => key === "char" ? "char(5)" : key));
}

const POSITIONAL = new Set<FunctionDefinition["category"]>(["text", "binary", "array", "json"]);

function inRoles(definition: FunctionDefinition, keys: readonly string[]): string[][] {
  const fitting = (ROLES[definition.name] ?? []).map((role) => role.split(" ")).filter((role) =>
    keys.every((key, index) => {
      const pool = role[index];
      return pool === undefined || pool === "*" || pool === key || pool.slice(0, pool.indexOf("/")) === key;
    })
  );
  const { name, category } = definition;
  if (name === "to_char") {
    return [[keys[0] ?? "", category === "conversion" ? "text/number_format" : "text/time_format"]];
  }
  const typical = keys.map((key) =>
    POSITIONAL.has(category) && key === "i32" && definition.signature.length > 1 ? "i32/position" : key
  );
  if (fitting.length === 0) return [typical];
  return fitting.map((role) =>
    typical.map((key, index) => role[index] === undefined || role[index] === "*" ? key : role[index])
  );
}
