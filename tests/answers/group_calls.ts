/**
 * The calls of aggregates and window functions, over groups of rows: none, each edge value alone, neighbors,
 * mixtures, and all.
 *
 * A group's rows are the rows `(k, c0, c1 …)` of a source named `v`, in the order of k.
 */
import type { AggregateDefinition } from "../../engine/sql/functions/definition.ts";
import { allDefinitions } from "../../engine/sql/functions/registry.ts";
import { type Pool, poolOf } from "./edge_values.ts";
import { isExcluded } from "./excluded.ts";
import { aggregatePools } from "./roles.ts";

/** Something that is computed over groups of rows. */
export interface GroupSignature {
  readonly label: string;
  readonly pools: readonly Pool[];
  /** An aggregate as it is in a select list; undefined for windows. */
  readonly aggregate?: string;
  /** A query of one value over a source and its condition, e.g. `(values …) v(k, c0)` and nothing. */
  readonly query: (source: string, condition: string) => string;
}

/** The tables of answers over groups. */
export const GROUP_TABLES = ["aggregates", "windows"] as const;

/** One of the tables. */
export type GroupTable = typeof GROUP_TABLES[number];

/** The signatures of a table, in order. */
export function groupSignaturesOf(table: GroupTable): GroupSignature[] {
  const signatures = table === "aggregates"
    ? [...allDefinitions().aggregates.flatMap(aggregateSignatures), ...variants()]
    : windowSignatures();
  return [...new Map(signatures.map((signature) => [signature.label, signature])).values()];
}

const WITHIN_GROUP: ReadonlySet<string> = new Set(["percentile_cont", "percentile_disc", "mode"]);
/** Aggregates whose answers depend on the order of the rows. */
const ORDERED = /^(array_agg|string_agg|jsonb?_(object_)?agg)$/;

function aggregateSignatures(definition: AggregateDefinition): GroupSignature[] {
  const { name, signature } = definition;
  if (signature.some((key) => /^[iu]8$|^u(16|32|64)$/.test(key)) || isExcluded(name, signature)) return [];
  if (signature.length === 0) return [aggregateOf(`${name}(*)`, ["i32"], `${name}(*)`)];
  return aggregatePools(definition).map((names) => {
    const columns = names.map((_, index) => `c${index}`);
    const label = `${name}(${names.join(", ")})`;
    if (!WITHIN_GROUP.has(name)) {
      return aggregateOf(
        label,
        names,
        `${name}(${columns.join(", ")}${ORDERED.test(name) ? " order by k" : ""})`,
      );
    }
    return columns.length === 1
      ? aggregateOf(label, names, `${name}() within group (order by ${columns[0]})`)
      : aggregateOf(
        label,
        names.slice(1),
        `${name}(${fractionOf(names[0])}) within group (order by c0 desc)`,
      );
  });
}

function fractionOf(pool: string | undefined): string {
  return pool?.endsWith("[]") === true ? "'{0,0.25,NULL,1}'::float8[]" : "0.3::float8";
}

function aggregateOf(label: string, names: readonly string[], aggregate: string): GroupSignature {
  return {
    label,
    pools: names.map(poolOf),
    aggregate,
    query: (source, condition) => `select ${aggregate} from ${source}${condition}`,
  };
}

const NUMBERS = ["i16", "i32", "i64", "numeric", "numeric(10,2)", "numeric(36,6)", "f32", "f64"];
const ORDERED_TYPES = [
  ...NUMBERS,
  "text",
  "char(5)",
  "bytea",
  "date",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "jsonb",
  "enum",
  "i32[]",
  "bool",
];

/** DISTINCT, FILTER and arithmetic within aggregates. */
function variants(): GroupSignature[] {
  return [
    ...NUMBERS.flatMap((type) =>
      [
        ...[
          "sum(distinct c0)",
          "avg(distinct c0)",
          "sum(c0) filter (where c0 > 0)",
          "sum(c0 + c0)",
          "sum(c0 * c0)",
          "sum(- c0)",
          "max(c0 - c0)",
        ],
        ...["avg(c0 * 2)", "sum(abs(c0))", "count(c0 / 2)", "sum(c0) + count(*)"],
      ].filter((aggregate) => !/^f/.test(type) || !aggregate.includes("distinct"))
        .map((aggregate) => aggregateOf(`${aggregate}: ${type}`, [type], aggregate))
    ),
    ...ORDERED_TYPES.flatMap((type) =>
      [
        "count(distinct c0)",
        "array_agg(distinct c0)",
        "array_agg(c0 order by c0 desc nulls last, k)",
        "count(c0)",
      ]
        .filter((aggregate) => !type.endsWith("[]") || !aggregate.startsWith("array_agg"))
        .filter((aggregate) => !AMBIGUOUS_TYPES.has(type) || !aggregate.startsWith("array_agg(distinct"))
        .map((aggregate) => aggregateOf(`${aggregate}: ${type}`, [type], aggregate))
    ),
  ];
}

const RANKINGS = ["rank()", "dense_rank()", "percent_rank()", "cume_dist()"];
/** Those that tell rows apart that the order does not. */
const NUMBERINGS = ["row_number()", "ntile(3)"];
/** Types with values that are equal and look different: it is not specified which of them DISTINCT keeps. */
const AMBIGUOUS_TYPES: ReadonlySet<string> = new Set([
  "numeric",
  "f32",
  "f64",
  "interval",
  "char(5)",
  "jsonb",
]);
const POSITIONS = [
  "lag(c0)",
  "lag(c0, 2)",
  "lead(c0)",
  "lead(c0, -1)",
  "lag(c0, 0, c0)",
  "first_value(c0)",
  "last_value(c0)",
  "nth_value(c0, 2)",
];
const FRAMES = [
  ...["", "rows between 1 preceding and 1 following", "rows between unbounded preceding and 1 preceding"],
  ...[
    "rows between 1 following and unbounded following",
    "rows between current row and 2147483647 following",
  ],
  ...["rows between unbounded preceding and unbounded following exclude current row"],
];
const VALUE_FRAMES = [
  ...[
    "groups between 1 preceding and 1 following",
    "range between current row and unbounded following exclude ties",
  ],
  ...["groups between current row and unbounded following exclude group"],
];
/** Distances of RANGE frames by type. */
const DISTANCES: Readonly<Record<string, readonly string[]>> = {
  i16: ["0::smallint", "1::smallint", "32767::smallint", "9223372036854775807::bigint"],
  i32: ["0", "1", "2147483647", "9223372036854775807::bigint"],
  i64: ["0::bigint", "1::bigint", "9223372036854775807::bigint"],
  f32: ["0::float8", "0.5::float8", "1e300::float8", "'Infinity'::float8"],
  f64: ["0::float8", "0.5::float8", "1e308::float8", "'Infinity'::float8"],
  numeric: ["0::numeric", "0.5::numeric", "1e30::numeric", "'Infinity'::numeric"],
  "numeric(10,2)": ["0::numeric", "0.01::numeric", "99999999.99::numeric"],
  date: ["interval '0'", "interval '1 day'", "interval '1 mon'", "interval '100000 years'"],
  timestamp: ["interval '0'", "interval '1 day'", "interval '1 mon'", "interval '100000 years'"],
  timestamptz: ["interval '0'", "interval '1 day'", "interval '1 mon'", "interval '100000 years'"],
  time: ["interval '0'", "interval '1 hour'", "interval '30 hours'"],
  interval: ["interval '0'", "interval '1 day'", "interval '100 years'"],
};

function windowSignatures(): GroupSignature[] {
  return [
    ...ORDERED_TYPES.flatMap((type) => [
      ...RANKINGS.flatMap((
        call,
      ) => [
        windowOf(type, call, "order by c0", ""),
        windowOf(type, call, "order by c0 desc nulls last", ""),
      ]),
      ...NUMBERINGS.map((call) => windowOf(type, call, "order by c0, k", "")),
      ...POSITIONS.flatMap((
        call,
      ) => [windowOf(type, call, "order by k", ""), windowOf(type, call, "order by c0, k", FRAMES[1] ?? "")]),
      ...["count(c0)", "sum(k)"].flatMap((call) =>
        VALUE_FRAMES.map((frame) => windowOf(type, call, "order by c0", frame))
      ),
    ]),
    ...NUMBERS.flatMap((type) =>
      ["sum(c0)", "avg(c0)", "min(c0)", "max(c0)", "count(c0)", "stddev(c0)"].flatMap((call) =>
        FRAMES.map((frame) => windowOf(type, call, "order by k", frame))
      )
    ),
    ...Object.entries(DISTANCES).flatMap(([type, distances]) =>
      distances.flatMap((distance) =>
        ["order by c0", "order by c0 desc"].flatMap((order) =>
          [
            `range between ${distance} preceding and ${distance} following`,
            `range between ${distance} following and unbounded following`,
          ]
            .map((frame) => windowOf(type, "count(*)", order, frame))
        )
      )
    ),
  ];
}

function windowOf(type: string, call: string, order: string, frame: string): GroupSignature {
  const over = `${order} ${frame}`.trim();
  return {
    label: `${call} over (${over}): ${type}`,
    pools: [poolOf(type)],
    query: (source, condition) =>
      `select array_agg(x order by k) from (select k, (${call} over (${over}))::text as x from ${source}${condition}) q`,
  };
}

/** The groups of pools: for each its rows, as the positions of the values. */
export function groupsOf(
  pools: readonly Pool[],
  windows: boolean,
): readonly (readonly (readonly number[])[])[] {
  const size = Math.max(...pools.map(({ values }) => values.length));
  // With several columns every row is another mixture.
  const row = (position: number) =>
    pools.map(({ values }, index) => (position * (index + 1) + 2 * index) % values.length);
  const rows = Array.from({ length: size * pools.length }, (_, position) => row(position));
  const pick = (...positions: readonly number[]) =>
    positions.map((position) => rows[position % rows.length] ?? []);
  const isFinite = (values: readonly number[]) =>
    values.every((value, index) => !/^(NaN|-?[Ii]nfinity)$/.test(pools[index]?.values[value] ?? ""));
  const wide = [rows, rows.filter(isFinite), [...rows, ...rows.toReversed()]];
  if (windows) {
    const chunks = rows.flatMap((_, position) =>
      position % 4 === 0 ? [pick(position, position + 1, position + 7, position, position + 3)] : []
    );
    return [[], ...chunks, ...wide];
  }
  return [
    [],
    ...rows.map((_, position) => pick(position)),
    ...rows.map((_, position) => pick(position, position + 1)),
    ...rows.filter((_, position) => position % 2 === 0).map((_, position) =>
      pick(position, position + 5, position, position + 2, position + 9)
    ),
    ...wide,
  ];
}
