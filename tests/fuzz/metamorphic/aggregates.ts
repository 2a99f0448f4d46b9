/** Aggregates: over partitions combined, over groups, as subqueries, as windows. */
import type { Check, CheckMaker, Relation } from "./check.ts";
import type { ScopeColumn } from "./expressions.ts";
import type { Kind } from "./values.ts";

interface Combination {
  /** The aggregates as a select list, over all rows. */
  readonly whole: string;
  /** The aggregates over a part, with names. */
  readonly part: string;
  /** What makes those of the whole from those of the parts. */
  readonly combine: string;
}

const summed: ReadonlySet<Kind> = new Set(["smallint", "integer", "bigint", "numeric", "u8", "u32", "u64"]);
const extreme: ReadonlySet<Kind> = new Set([
  ...summed,
  "real",
  "double",
  "text",
  "char",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "integers",
  "texts",
  "numerics",
  "mood",
]);
const bits: ReadonlySet<Kind> = new Set(["smallint", "integer", "bigint"]);

/** Aggregates that can be computed from those of parts. */
export function combined(maker: CheckMaker, columns: readonly ScopeColumn[]): Combination {
  const aggregates: { whole: string; combine: (name: string) => string }[] = [
    { whole: "count(*)", combine: (name) => `COALESCE(sum(${name}), 0)` },
  ];
  for (let count = 1 + maker.choices.below(3); count > 0; count--) {
    const { sql, kind } = maker.choices.pick(columns);
    const possible = [{ whole: `count(${sql})`, combine: (name: string) => `COALESCE(sum(${name}), 0)` }];
    for (const each of extreme.has(kind) ? ["min", "max"] : []) {
      possible.push({ whole: `${each}(${sql})`, combine: (name) => `${each}(${name})` });
    }
    if (summed.has(kind)) possible.push({ whole: `sum(${sql}::numeric)`, combine: (name) => `sum(${name})` });
    if (summed.has(kind)) possible.push({ whole: `sum(${sql})::numeric`, combine: (name) => `sum(${name})` });
    for (const each of bits.has(kind) ? ["bit_and", "bit_or"] : []) {
      possible.push({ whole: `${each}(${sql})`, combine: (name) => `${each}(${name})` });
    }
    for (const each of kind === "boolean" ? ["bool_and", "bool_or"] : []) {
      possible.push({ whole: `${each}(${sql})`, combine: (name) => `${each}(${name})` });
    }
    aggregates.push(maker.choices.pick(possible));
  }
  // The sum of bigint columns is NUMERIC, that of smaller ones bigint, and cannot overflow with so few rows.
  return {
    whole: aggregates.map(({ whole }) => whole).join(", "),
    part: aggregates.map(({ whole }, index) => `${whole} AS g${index}`).join(", "),
    combine: aggregates.map(({ combine }, index) => combine(`g${index}`)).join(", "),
  };
}

function groupsCombined(maker: CheckMaker): Check {
  const source = maker.source();
  const keys = Array.from(
    { length: 1 + maker.choices.below(2) },
    () => maker.choices.pick(source.columns).sql,
  );
  const { whole, part, combine } = combined(maker, source.columns);
  const inner = `SELECT ${part} FROM ${source.sql} GROUP BY ${keys.join(", ")}`;
  return {
    left: [`SELECT ${whole} FROM ${source.sql}`],
    right: [`SELECT ${combine} FROM (${inner}) AS s`],
    loose: true,
  };
}

function groupingSets(maker: CheckMaker): Check {
  const source = maker.source();
  const [first, second] = [maker.choices.pick(source.columns).sql, maker.choices.pick(source.columns).sql];
  if (first === second) return groupsCombined(maker);
  const { whole } = combined(maker, source.columns);
  const sets = maker.choices.pick([
    { sql: `ROLLUP (${first}, ${second})`, sets: [[first, second], [first], []] },
    { sql: `CUBE (${first}, ${second})`, sets: [[first, second], [first], [second], []] },
    { sql: `GROUPING SETS ((${first}), (${second}))`, sets: [[first], [second]] },
    { sql: `${first}, ROLLUP (${second})`, sets: [[first, second], [first]] },
  ]);
  const parts = sets.sets.map((keys) => {
    const named = [first, second].map((key) => keys.includes(key) ? key : "NULL").join(", ");
    return `SELECT ${named}, ${whole} FROM ${source.sql}${
      keys.length > 0 ? ` GROUP BY ${keys.join(", ")}` : " GROUP BY ()"
    }`;
  });
  return {
    left: [`SELECT ${first}, ${second}, ${whole} FROM ${source.sql} GROUP BY ${sets.sql}`],
    right: parts,
    loose: true,
  };
}

function distinctAsGroups(maker: CheckMaker): Check {
  const source = maker.source();
  const list = maker.list(source.columns);
  const positions = list.map((_, index) => index + 1).join(", ");
  const text = list.join(", ");
  return {
    left: [`SELECT DISTINCT ${text} FROM ${source.sql}`],
    right: [
      maker.choices.pick([
        `SELECT ${text} FROM ${source.sql} GROUP BY ${positions}`,
        `SELECT ${text} FROM ${source.sql} UNION SELECT ${text} FROM ${source.sql}`,
        `SELECT ${text} FROM ${source.sql} INTERSECT SELECT ${text} FROM ${source.sql}`,
        `SELECT DISTINCT ON (${positions}) ${text} FROM ${source.sql}`,
      ]),
    ],
    loose: true,
  };
}

function countDistinct(maker: CheckMaker): Check {
  const source = maker.source();
  const { sql } = maker.choices.pick(source.columns);
  const key = maker.choices.pick(source.columns).sql;
  return maker.choices.chance(50)
    ? {
      left: [`SELECT count(DISTINCT ${sql}) FROM ${source.sql}`],
      right: [`SELECT count(v) FROM (SELECT DISTINCT ${sql} AS v FROM ${source.sql}) AS s`],
    }
    : {
      left: [`SELECT ${key}, count(DISTINCT ${sql}) FROM ${source.sql} GROUP BY ${key}`],
      right: [
        `SELECT k, count(v) FROM (SELECT ${key} AS k, ${sql} AS v FROM ${source.sql} GROUP BY 1, 2) AS s GROUP BY k`,
      ],
      loose: true,
    };
}

function filtered(maker: CheckMaker): Check {
  const source = maker.source();
  const condition = maker.predicate(source.columns);
  const { whole } = combined(maker, source.columns);
  const withFilter = whole.split(", ").map((each) => {
    const [call = "", cast = ""] = each.split(/(?<=\))(?=::numeric$)/);
    return `(${call} FILTER (WHERE ${condition}))${cast}`;
  }).join(", ");
  return {
    left: [`SELECT ${whole} FROM ${source.sql} WHERE ${condition}`],
    right: [`SELECT ${withFilter} FROM ${source.sql}`],
    loose: true,
  };
}

function windowOverPartition(maker: CheckMaker): Check {
  const table = maker.table();
  if (table.rows > 100) return distinctAsGroups(maker);
  const columns = table.columns.map(({ name, kind }) => ({ sql: `a.${name}`, kind }));
  const key = maker.choices.pick(table.columns).name;
  const { name } = table;
  const { whole } = combined(maker, columns);
  const windows = whole.split(", ").map((each) => {
    const [call = "", cast = ""] = each.split(/(?<=\))(?=::numeric$)/);
    return `(${call} OVER (PARTITION BY a.${key}))${cast}`;
  }).join(", ");
  const inner = whole.split(", ").map((each) =>
    `(SELECT ${each.replaceAll("a.", "b.")} FROM ${name} b WHERE b.${key} IS NOT DISTINCT FROM a.${key})`
  ).join(", ");
  return {
    left: [`SELECT a.id, ${windows} FROM ${name} a`],
    right: [`SELECT a.id, ${inner} FROM ${name} a`],
    loose: true,
  };
}

function ranks(maker: CheckMaker): Check {
  const table = maker.table();
  if (table.rows > 100) return distinctAsGroups(maker);
  const { name } = table;
  const key = maker.choices.pick(table.columns.filter(({ kind }) => kind !== "jsonb")).name;
  const descending = maker.choices.chance(40);
  // NULL is greater than every value, unless told otherwise.
  const smaller = descending
    ? `(b.${key} > a.${key} OR b.${key} IS NULL AND a.${key} IS NOT NULL)`
    : `(b.${key} < a.${key} OR a.${key} IS NULL AND b.${key} IS NOT NULL)`;
  const same = `b.${key} IS NOT DISTINCT FROM a.${key}`;
  const window = `ORDER BY a.${key}${descending ? " DESC" : ""}`;
  const [left, right] = maker.choices.pick([
    [`rank() OVER (${window})`, `(SELECT count(*) + 1 FROM ${name} b WHERE ${smaller})`],
    [`count(*) OVER (${window})`, `(SELECT count(*) FROM ${name} b WHERE ${smaller} OR ${same})`],
    [
      `row_number() OVER (${window}, a.id)`,
      `(SELECT count(*) FROM ${name} b WHERE ${smaller} OR ${same} AND b.id <= a.id)`,
    ],
    [
      `dense_rank() OVER (${window})`,
      `(SELECT count(DISTINCT b.${key}) + count(DISTINCT b.${key} IS NULL) FILTER (WHERE b.${key} IS NULL) + 1 FROM ${name} b WHERE ${smaller})`,
    ],
    [
      `lag(a.id) OVER (ORDER BY a.id)`,
      `(SELECT b.id FROM ${name} b WHERE b.id < a.id ORDER BY b.id DESC LIMIT 1)`,
    ],
    [
      `lead(a.${key}, 2) OVER (ORDER BY a.id)`,
      `(SELECT b.${key} FROM ${name} b WHERE b.id > a.id ORDER BY b.id OFFSET 1 LIMIT 1)`,
    ],
    [
      `sum(a.id) OVER (ORDER BY a.id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)`,
      `(SELECT sum(b.id) FROM ${name} b WHERE b.id IN (SELECT x.id FROM ${name} x WHERE x.id >= a.id ORDER BY x.id LIMIT 2)
        OR b.id IN (SELECT x.id FROM ${name} x WHERE x.id < a.id ORDER BY x.id DESC LIMIT 2))`,
    ],
    [
      `sum(a.id) OVER (ORDER BY a.id RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)`,
      `(SELECT sum(b.id) FROM ${name} b WHERE b.id BETWEEN a.id - 3 AND a.id + 2 AND b.id <> a.id)`,
    ],
    [
      `first_value(a.id) OVER (PARTITION BY a.${key} ORDER BY a.id DESC)`,
      `(SELECT max(b.id) FROM ${name} b WHERE ${same})`,
    ],
  ]);
  return { left: [`SELECT a.id, ${left} FROM ${name} a`], right: [`SELECT a.id, ${right} FROM ${name} a`] };
}

function extremesByOrder(maker: CheckMaker): Check | null {
  const table = maker.table();
  const possible = table.columns.filter(({ kind }) => extreme.has(kind));
  const column = maker.choices.pick(possible);
  const scope = table.columns.map(({ name, kind }) => ({ sql: name, kind }));
  const condition = maker.predicate(scope, 1);
  const greatest = maker.choices.chance(50);
  return {
    left: [`SELECT ${greatest ? "max" : "min"}(${column.name}) FROM ${table.name} WHERE ${condition}`],
    right: [
      `SELECT (SELECT ${column.name} FROM ${table.name} WHERE ${condition} AND ${column.name} IS NOT NULL ORDER BY ${column.name}${
        greatest ? " DESC" : ""
      } LIMIT 1)`,
    ],
    loose: true,
  };
}

/** The relations of this file. */
export const aggregateRelations: readonly Relation[] = [
  { name: "aggregates of groups combined", make: groupsCombined },
  { name: "grouping sets as groups", make: groupingSets },
  { name: "DISTINCT as groups", make: distinctAsGroups },
  { name: "count(DISTINCT) as a count of groups", make: countDistinct },
  { name: "FILTER as WHERE", make: filtered },
  { name: "windows of partitions as subqueries", make: windowOverPartition },
  { name: "windows as subqueries", make: ranks },
  { name: "extremes as the ends of an order", make: extremesByOrder },
];
