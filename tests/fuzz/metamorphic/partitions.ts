/**
 * Ternary logic partitioning, the non-optimizing reference, and pivoted queries.
 *
 * After M. Rigger and Z. Su: "Finding Bugs in Database Systems via Query Partitioning" (OOPSLA 2020), "Detecting
 * Optimization Bugs in Database Engines via Non-Optimizing Reference Engine Construction" (ESEC/FSE 2020), "Testing
 * Database Engines via Pivoted Query Synthesis" (OSDI 2020).
 */
import type { Check, CheckMaker, Relation, Source } from "./check.ts";
import { nameOf, type ScopeColumn } from "./expressions.ts";
import { combined } from "./aggregates.ts";
import { type Kind, literal } from "./values.ts";

const partitionsOf = (condition: string) => [condition, `NOT ${condition}`, `(${condition}) IS NULL`];

/**
 * A FROM clause with a condition over it; only one table's conditions may raise, since joins look at some rows alone.
 */
function conditionOver(maker: CheckMaker): { source: Source; condition: string; raises: boolean } {
  if (maker.choices.chance(40)) {
    const table = maker.table();
    const source = {
      sql: `${table.name} a`,
      columns: table.columns.map(({ name, kind }) => ({ sql: `a.${name}`, kind })),
    };
    const { sql, raises } = maker.predicateOrRaising(source.columns);
    return { source, condition: sql, raises };
  }
  const source = maker.source();
  return { source, condition: maker.predicate(source.columns), raises: false };
}

function where(maker: CheckMaker): Check {
  const { source, condition, raises } = conditionOver(maker);
  const list = maker.list(source.columns).join(", ");
  // What raises in a condition must raise where it is computed for its value.
  const whole = raises
    ? `SELECT ${list} FROM ${source.sql} WHERE (${condition}) IS NOT DISTINCT FROM NULL OR (${condition}) IS NOT NULL`
    : `SELECT ${list} FROM ${source.sql}`;
  return {
    left: [whole],
    right: partitionsOf(condition).map((part) => `SELECT ${list} FROM ${source.sql} WHERE ${part}`),
    raises,
  };
}

function whereWithMore(maker: CheckMaker): Check {
  const source = maker.source();
  const condition = maker.predicate(source.columns);
  const more = maker.predicate(source.columns, 1);
  const list = maker.list(source.columns).join(", ");
  return {
    left: [`SELECT ${list} FROM ${source.sql} WHERE ${more}`],
    right: partitionsOf(condition).map((part) =>
      `SELECT ${list} FROM ${source.sql} WHERE ${
        maker.choices.pick([`${more} AND ${part}`, `${part} AND ${more}`])
      }`
    ),
  };
}

function unionAll(maker: CheckMaker): Check {
  const { left, right, raises = false } = where(maker);
  return { left, right: [right.join(" UNION ALL ")], raises };
}

function distinct(maker: CheckMaker): Check {
  const source = maker.source();
  const list = maker.list(source.columns).join(", ");
  const word = maker.choices.pick(["DISTINCT ", ""]);
  const parts = partitionsOf(maker.predicate(source.columns));
  return {
    left: [`SELECT DISTINCT ${list} FROM ${source.sql}`],
    right: [parts.map((part) => `SELECT ${word}${list} FROM ${source.sql} WHERE ${part}`).join(" UNION ")],
    loose: true,
  };
}

function groupBy(maker: CheckMaker): Check {
  const source = maker.source();
  const columns = Array.from(
    { length: 1 + maker.choices.below(2) },
    () => maker.choices.pick(source.columns).sql,
  );
  const list = columns.join(", ");
  const parts = partitionsOf(maker.predicate(source.columns));
  return {
    left: [`SELECT ${list} FROM ${source.sql} GROUP BY ${list}`],
    right: [
      parts.map((part) => `SELECT ${list} FROM ${source.sql} WHERE ${part} GROUP BY ${list}`).join(" UNION "),
    ],
    loose: true,
  };
}

function having(maker: CheckMaker): Check {
  const source = maker.source();
  const key = maker.choices.pick(source.columns);
  const measured = maker.choices.pick(source.columns.filter(({ kind }) => !unordered.has(kind)));
  const scope: ScopeColumn[] = [
    key,
    { sql: "count(*)", kind: "bigint" },
    { sql: `count(${measured.sql})`, kind: "bigint" },
    { sql: `max(${measured.sql})`, kind: measured.kind },
    { sql: `count(DISTINCT ${measured.sql})`, kind: "bigint" },
  ];
  const query = `SELECT ${scope.map(({ sql }) => sql).join(", ")} FROM ${source.sql} GROUP BY ${key.sql}`;
  const condition = maker.predicate(scope);
  return {
    left: [query],
    right: partitionsOf(condition).map((part) => `${query} HAVING ${part}`),
    // Which of several equal values is the greatest or stands for the group depends on the plan.
    loose: true,
  };
}

/** Kinds without min and max. */
const unordered: ReadonlySet<Kind> = new Set(["boolean", "bytea", "uuid", "jsonb"]);

function aggregate(maker: CheckMaker): Check {
  const source = maker.source();
  const parts = partitionsOf(maker.predicate(source.columns));
  const { whole, part, combine } = combined(maker, source.columns);
  const inner = parts.map((each) => `SELECT ${part} FROM ${source.sql} WHERE ${each}`).join(" UNION ALL ");
  return {
    left: [`SELECT ${whole} FROM ${source.sql}`],
    right: [`SELECT ${combine} FROM (${inner}) AS s`],
    loose: true,
  };
}

function noRecCount(maker: CheckMaker): Check {
  const { source, condition, raises } = conditionOver(maker);
  const reference = maker.choices.pick([
    `COALESCE(sum((${condition})::integer), 0)`,
    `count(*) FILTER (WHERE ${condition})`,
    `count(CASE WHEN ${condition} THEN 1 END)`,
    `count(NULLIF(${condition}, false))`,
  ]);
  return {
    left: [`SELECT count(*) FROM ${source.sql} WHERE ${condition}`],
    right: [`SELECT ${reference} FROM ${source.sql}`],
    raises,
  };
}

function noRecRows(maker: CheckMaker): Check {
  const { source, condition, raises } = conditionOver(maker);
  const list = maker.list(source.columns);
  const named = list.map((sql, index) => `${sql} AS e${index}`).join(", ");
  const names = list.map((_, index) => `e${index}`).join(", ");
  return {
    left: [`SELECT ${list.join(", ")} FROM ${source.sql} WHERE ${condition}`],
    right: [
      `SELECT ${names} FROM (SELECT ${named}, ${condition} AS kept FROM ${source.sql} OFFSET 0) AS s WHERE kept`,
    ],
    raises,
  };
}

/** The columns of a row, as names to be replaced: by columns, or by the row's values. */
function pivotOf(maker: CheckMaker) {
  const table = maker.table();
  const rows = maker.rows.get(table.name) ?? [];
  if (rows.length === 0) return null;
  const row = maker.choices.pick(rows);
  const columns = table.columns.map(({ name, kind }) => ({ sql: `<<${name}>>`, kind }));
  const asColumns = (sql: string) => sql.replaceAll(/<<(\w+)>>/g, "a.$1");
  const asValues = (sql: string) =>
    table.columns.reduce(
      (text, { name, kind }, index) =>
        text.replaceAll(`<<${name}>>`, () => literal(kind, row[index] ?? null)),
      sql,
    );
  return { table, id: row[0], columns, asColumns, asValues };
}

function pivotedRow(maker: CheckMaker): Check | null {
  const pivot = pivotOf(maker);
  if (pivot === null) return null;
  const { table, id, columns, asColumns, asValues } = pivot;
  const condition = maker.predicate(columns, 3);
  const parts = partitionsOf(condition);
  return {
    left: parts.map((part, index) => `SELECT ${index}, ${id} WHERE ${asValues(part)}`),
    right: parts.map((part, index) =>
      `SELECT ${index}, s.id FROM (SELECT a.id FROM ${table.name} a WHERE ${
        asColumns(part)
      } OFFSET 0) AS s WHERE s.id = ${id}`
    ),
  };
}

function pivotedValue(maker: CheckMaker): Check | null {
  const pivot = pivotOf(maker);
  if (pivot === null) return null;
  const { table, id, columns, asColumns, asValues } = pivot;
  const generator = maker.expressions(columns);
  const raising = maker.choices.chance(60) ? generator.raisingValue() : null;
  const value = raising ?? generator.safe(generator.kind(), 3);
  const copy = maker.choices.pick([table.name, table.copy]);
  return {
    left: [`SELECT ${asValues(value)}`],
    right: [`SELECT ${asColumns(value)} FROM ${copy} a WHERE a.id = ${id}`],
    raises: raising !== null,
  };
}

/**
 * What a value is must not depend on the rows around it: each row's value, against the value of the row as literals.
 */
function everyValue(maker: CheckMaker): Check | null {
  const table = maker.table();
  const rows = maker.rows.get(table.name);
  if (rows === undefined || rows.length > 30) return null;
  const scope = table.columns.map(({ name, kind }) => ({ sql: `a.${name}`, kind }));
  const generator = maker.expressions(scope);
  const raising = maker.choices.chance(50) ? generator.raisingValue() : null;
  const value = raising ?? generator.safe(generator.kind(), 3);
  const names = table.columns.map(({ name }) => name).join(", ");
  const values = rows.map((row) =>
    `(${table.columns.map(({ kind }, index) => literal(kind, row[index] ?? null)).join(", ")})`
  );
  const none = table.columns.map(({ kind }) => `NULL::${nameOf(kind)}`).join(", ");
  const all = values.length > 0 ? `VALUES ${values.join(", ")}` : `SELECT ${none} WHERE false`;
  return {
    left: [`SELECT a.id, ${value} FROM (${all}) AS a(${names})`],
    right: [`SELECT a.id, ${value} FROM ${table.name} a`],
    raises: raising !== null,
  };
}

/** The relations of this file. */
export const partitionRelations: readonly Relation[] = [
  { name: "partitions of WHERE", make: where },
  { name: "partitions of WHERE with another condition", make: whereWithMore },
  { name: "partitions by UNION ALL", make: unionAll },
  { name: "partitions of DISTINCT", make: distinct },
  { name: "partitions of GROUP BY", make: groupBy },
  { name: "partitions of HAVING", make: having },
  { name: "partitions of an aggregate", make: aggregate },
  { name: "reference count", make: noRecCount },
  { name: "reference rows", make: noRecRows },
  { name: "pivoted row", make: pivotedRow },
  { name: "pivoted value", make: pivotedValue },
  { name: "values of all rows", make: everyValue },
];
