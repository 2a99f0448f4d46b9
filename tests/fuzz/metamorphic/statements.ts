/** The same statement over other tables and in other forms: views, CTEs, indexes, LIMIT, parameters, modifications. */
import type { Check, CheckMaker, Relation } from "./check.ts";
import { combined } from "./aggregates.ts";
import { nameOf } from "./expressions.ts";
import type { Kind } from "./values.ts";
import { scopeOf, type WorldTable } from "./world.ts";

/** Some query over the world's tables; `ordered` when its rows come in one order only. */
function anyQuery(maker: CheckMaker): { sql: string; ordered: boolean; loose: boolean; raises: boolean } {
  const { choices } = maker;
  if (choices.chance(20)) {
    const table = maker.table();
    const scope = scopeOf(table, "a");
    const { sql, raises } = maker.predicateOrRaising(scope);
    const value = raises ? null : maker.expressions(scope).raisingValue();
    return value !== null && choices.chance(60)
      ? { sql: `SELECT a.id, ${value} FROM ${table.name} a`, ordered: false, loose: false, raises: true }
      : { sql: `SELECT a.* FROM ${table.name} a WHERE ${sql}`, ordered: false, loose: false, raises };
  }
  const source = maker.source();
  const where = choices.chance(70) ? ` WHERE ${maker.predicate(source.columns, 2)}` : "";
  switch (choices.below(4)) {
    case 0: {
      const key = choices.pick(source.columns).sql;
      const { whole } = combined(maker, source.columns);
      return {
        sql: `SELECT ${key}, ${whole} FROM ${source.sql}${where} GROUP BY ${key}`,
        ordered: false,
        loose: true,
        raises: false,
      };
    }
    case 1: {
      const { whole } = combined(maker, source.columns);
      return {
        sql: `SELECT ${whole} FROM ${source.sql}${where}`,
        ordered: false,
        loose: true,
        raises: false,
      };
    }
    default:
      return {
        sql: `SELECT ${maker.list(source.columns).join(", ")} FROM ${source.sql}${where}`,
        ordered: false,
        loose: false,
        raises: false,
      };
  }
}

const onCopies = (query: string) => query.replaceAll(/\b[tv]([0-9])\b(?! *\()/g, "c$1");
const onViews = (query: string) => query.replaceAll(/\bt([0-9])\b/g, "v$1");
const inlined = (query: string) => query.replaceAll(/\bv([0-9])\b/g, "(SELECT * FROM t$1)");

function otherDesign(maker: CheckMaker): Check {
  const { sql, ...rest } = anyQuery(maker);
  return { left: [sql], right: [onCopies(sql)], ...rest };
}

function viewInlined(maker: CheckMaker): Check {
  const { sql, ...rest } = anyQuery(maker);
  const viewed = onViews(sql);
  return { left: [viewed], right: [maker.choices.chance(50) ? inlined(viewed) : sql], ...rest };
}

function commonTable(maker: CheckMaker): Check {
  const source = maker.source();
  const list = maker.list(source.columns);
  const named = list.map((item, index) => `${item} AS e${index}`).join(", ");
  const inner = `SELECT ${named} FROM ${source.sql} WHERE ${maker.predicate(source.columns, 1)}`;
  const names = list.map((_, index) => `e${index}`).join(", ");
  const outer = maker.choices.pick([
    (from: string) => `SELECT ${names} FROM ${from}`,
    (from: string) => `SELECT e0 FROM ${from} WHERE e0 IS NOT NULL`,
    (from: string) => `SELECT count(*), count(e0) FROM ${from}`,
  ]);
  const twice = maker.choices.chance(30);
  const forms = [
    `WITH w AS MATERIALIZED (${inner}) ${outer("w")}${twice ? ` UNION ALL ${outer("w")}` : ""}`,
    `WITH w AS NOT MATERIALIZED (${inner}) ${outer("w")}${twice ? ` UNION ALL ${outer("w")}` : ""}`,
    `${outer(`(${inner}) AS w`)}${twice ? ` UNION ALL ${outer(`(${inner}) AS w`)}` : ""}`,
  ];
  const omitted = maker.choices.below(3);
  const [left = "", right = ""] = forms.filter((_, index) => index !== omitted);
  return { left: [left], right: [right] };
}

/**
 * The same predicate on the bare column, which an index or a block's statistics may serve, and on a form that hides
 * it.
 */
function hiddenColumns(maker: CheckMaker): Check {
  const table = maker.table();
  const { choices } = maker;
  const condition = maker.predicate(scopeOf(table, "a"), 2);
  const hide: Partial<Record<Kind, (sql: string) => string>> = {
    text: (sql) => `(${sql} || '')`,
    integer: (sql) => `(${sql} + 0)`,
    smallint: (sql) => `(${sql} | 0::smallint)`,
    bigint: (sql) => `(${sql} - 0)`,
    numeric: (sql) => `(${sql} * 1)`,
    boolean: (sql) => `(${sql} AND ${sql})`,
    double: (sql) => `(- (- ${sql}))`,
    real: (sql) => `(- (- ${sql}))`,
    bytea: (sql) => `(${sql} || '\\x'::bytea)`,
  };
  let hidden = condition;
  for (const { name, kind } of table.columns) {
    const form = hide[kind] ?? ((sql: string) => `(CASE WHEN a.id > 0 THEN ${sql} END)`);
    hidden = hidden.replaceAll(new RegExp(`\\ba\\.${name}\\b`, "g"), form(`a.${name}`));
  }
  const list = maker.list(scopeOf(table, "a")).join(", ");
  const tail = choices.chance(20) ? " ORDER BY a.id" : "";
  return {
    left: [`SELECT ${list} FROM ${table.name} a WHERE ${condition}${tail}`],
    right: [`SELECT ${list} FROM ${table.name} a WHERE ${hidden}${tail}`],
    ordered: tail !== "",
  };
}

const directions = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"] as const;

function limited(maker: CheckMaker): Check {
  const table = maker.table();
  const { choices } = maker;
  const scope = scopeOf(table, "a");
  const where = choices.chance(50) ? ` WHERE ${maker.predicate(scope, 1)}` : "";
  const keys = Array.from(
    { length: 1 + choices.below(2) },
    () =>
      `${choices.chance(80) ? choices.pick(scope).sql : maker.list(scope, 1)[0]}${choices.pick(directions)}`,
  ).filter((key) => !key.includes("::") || key.includes("a."));
  const order = [...keys, `a.id${choices.pick(["", " DESC"])}`].join(", ");
  const limit = choices.pick([1, 3, 0, 10, 1000, 4097]);
  const offset = choices.pick([0, 1, 5, 100, 4096]);
  const clause = choices.pick([
    `LIMIT ${limit} OFFSET ${offset}`,
    `OFFSET ${offset} ROWS FETCH NEXT ${limit} ROWS ONLY`,
  ]);
  const from = `${table.name} a${where}`;
  return {
    left: [`SELECT a.id FROM ${from} ORDER BY ${order} ${clause}`],
    right: [
      `SELECT s.id FROM (SELECT a.id, row_number() OVER (ORDER BY ${order}) AS n FROM ${from}) AS s WHERE s.n > ${offset} AND s.n <= ${
        offset + limit
      } ORDER BY s.n`,
    ],
    ordered: true,
  };
}

/** An order is total, agrees with the comparison operators, and reversed gives the reverse. */
function orderReversed(maker: CheckMaker): Check {
  const table = maker.table();
  const key = maker.choices.pick(scopeOf(table, "a")).sql;
  const nulls = maker.choices.pick([["NULLS FIRST", "NULLS LAST"], ["NULLS LAST", "NULLS FIRST"]]);
  const total = `(SELECT count(*) FROM ${table.name})`;
  return {
    left: [
      `SELECT a.id, row_number() OVER (ORDER BY ${key} ${nulls[0]}, a.id) FROM ${table.name} a`,
    ],
    right: [
      `SELECT a.id, ${total} + 1 - row_number() OVER (ORDER BY ${key} DESC ${
        nulls[1]
      }, a.id DESC) FROM ${table.name} a`,
    ],
  };
}

function limitCounted(maker: CheckMaker): Check {
  const source = maker.source();
  const where = maker.predicate(source.columns, 2);
  const limit = maker.choices.pick([1, 3, 0, 10, 5000]);
  return {
    left: [`SELECT count(*) FROM (SELECT 1 FROM ${source.sql} WHERE ${where} LIMIT ${limit}) AS s`],
    right: [`SELECT least(count(*), ${limit}) FROM ${source.sql} WHERE ${where}`],
  };
}

function parameters(maker: CheckMaker): Check {
  const { sql, ...rest } = anyQuery(maker);
  const types: string[] = [];
  const given: string[] = [];
  // Chosen so that some literals stay in the text.
  const text = sql.replaceAll(
    /(?:'((?:[^']|'')*)'|NULL)::([a-z]\w*(?: precision)?(?:\(\d+\))?(?:\[\])?)/g,
    (all, _, type) => {
      if (types.length >= 6 || maker.choices.chance(25)) return all;
      types.push(type);
      given.push(all);
      return `$${types.length}`;
    },
  );
  if (types.length === 0) return { left: [sql], right: [sql], ...rest };
  const runs = 1 + 5 * maker.choices.below(2);
  return {
    left: [
      `PREPARE p(${types.join(", ")}) AS ${text}`,
      ...Array.from({ length: runs }, () => `EXECUTE p(${given.join(", ")})`),
      "DEALLOCATE p",
    ],
    right: Array.from({ length: runs }, () => sql),
    ...rest,
  };
}

function starOf(table: WorldTable, alias: string): string {
  return table.columns.map(({ name }) => `${alias}.${name}`).join(", ");
}

function deleted(maker: CheckMaker): Check {
  const table = maker.table();
  const { sql, raises } = maker.predicateOrRaising(scopeOf(table, "a"));
  const all = starOf(table, "a");
  const { name } = table;
  return maker.choices.pick<() => Check>([
    () => ({
      left: [`DELETE FROM ${name} a WHERE ${sql} RETURNING ${all}`],
      right: [`SELECT ${all} FROM ${name} a WHERE ${sql}`],
      modifies: true,
      raises,
    }),
    () => ({
      left: [`DELETE FROM ${name} a WHERE ${sql}`, `SELECT ${all} FROM ${name} a`],
      right: [`SELECT ${all} FROM ${name} a WHERE (${sql}) IS NOT TRUE`],
      modifies: true,
      raises,
    }),
    () => ({
      left: [`DELETE FROM ${name} a WHERE ${sql}`, `SELECT count(*), sum(a.id) FROM ${name} a`],
      right: [`SELECT count(*), sum(a.id) FROM ${name} a WHERE (${sql}) IS NOT TRUE`],
      modifies: true,
      raises,
    }),
  ])();
}

function updated(maker: CheckMaker): Check {
  const table = maker.table();
  const scope = scopeOf(table, "a");
  const { sql, raises } = maker.predicateOrRaising(scope);
  const { name } = table;
  const column = maker.choices.pick(table.columns.slice(1));
  const exact = column.declared === nameOf(column.kind);
  const generator = maker.expressions(scope);
  const value = exact ? generator.safe(column.kind, 2) : `a.${column.name}`;
  const others = table.columns.map((each) => each.name === column.name ? value : `a.${each.name}`).join(", ");
  const kept = table.columns.map((each) =>
    each.name === column.name ? `CASE WHEN ${sql} THEN ${value} ELSE a.${each.name} END` : `a.${each.name}`
  ).join(", ");
  return maker.choices.chance(50)
    ? {
      left: [`UPDATE ${name} a SET ${column.name} = ${value} WHERE ${sql} RETURNING ${starOf(table, "a")}`],
      right: [`SELECT ${others} FROM ${name} a WHERE ${sql}`],
      modifies: true,
      raises,
    }
    : {
      left: [`UPDATE ${name} a SET ${column.name} = ${value} WHERE ${sql}`, `SELECT * FROM ${name}`],
      right: [`SELECT ${kept} FROM ${name} a`],
      modifies: true,
      raises,
    };
}

/** Queries after a modification, through indexes, against the same over the copy, modified alike. */
function queriedAfterChange(maker: CheckMaker): Check {
  const table = maker.table();
  const scope = scopeOf(table, "a");
  const column = maker.choices.pick(table.columns.slice(1));
  const generator = maker.expressions(scope);
  const value = column.declared === nameOf(column.kind) ? generator.literal(column.kind) : "NULL";
  const change = maker.choices.pick([
    `UPDATE ${table.name} a SET ${column.name} = ${value} WHERE ${maker.predicate(scope, 1)}`,
    `DELETE FROM ${table.name} a WHERE ${maker.predicate(scope, 1)}`,
    `INSERT INTO ${table.name} SELECT ${
      table.columns.map(({ name }) => name === "id" ? "a.id + 100000" : `a.${name}`).join(", ")
    } FROM ${table.name} a WHERE ${maker.predicate(scope, 1)}`,
  ]);
  const query = `SELECT ${starOf(table, "a")} FROM ${table.name} a WHERE ${maker.predicate(scope, 2)}`;
  return {
    left: [change, query],
    right: [onCopies(change), onCopies(query)],
    modifies: true,
  };
}

function insertedAndRead(maker: CheckMaker): Check {
  const table = maker.table();
  const scope = scopeOf(table, "a");
  const query = `SELECT ${starOf(table, "a")} FROM ${table.name} a WHERE ${maker.predicate(scope, 2)}`;
  const definition = table.columns.map(({ name, declared }) => `${name} ${declared}`).join(", ");
  return {
    left: maker.choices.pick([
      [`CREATE TABLE w (${definition})`, `INSERT INTO w ${query}`, "SELECT * FROM w"],
      [`CREATE TABLE w AS ${query}`, "SELECT * FROM w"],
      [`CREATE TABLE w (${definition})`, `INSERT INTO w ${query} RETURNING *`],
    ]),
    right: [query],
    modifies: true,
  };
}

/** The relations of this file. */
export const statementRelations: readonly Relation[] = [
  { name: "tables in another storage state", make: otherDesign },
  { name: "views as subqueries", make: viewInlined },
  { name: "common tables as subqueries", make: commonTable },
  { name: "conditions that hide a column", make: hiddenColumns },
  { name: "LIMIT as row numbers", make: limited },
  { name: "LIMIT as a count", make: limitCounted },
  { name: "an order reversed", make: orderReversed },
  { name: "parameters as literals", make: parameters },
  { name: "DELETE as SELECT", make: deleted },
  { name: "UPDATE as SELECT", make: updated },
  { name: "queries after a change", make: queriedAfterChange },
  { name: "rows inserted and read", make: insertedAndRead },
];
