/**
 * Statements of any size whose answers are known: each shape makes the statement of so many terms and says what it
 * answers over the table `number`, which holds a = 0 … 999 with b = a and the text 'n' || a.
 */

/** Rows of the table that the statements ask. */
export const TABLE_ROWS = 1000;

/** What makes the table. */
export const SETUP = [
  "CREATE TABLE number (a INT PRIMARY KEY, b INT, name TEXT)",
  `INSERT INTO number SELECT a, a, 'n' || a FROM generate_series(0, ${TABLE_ROWS - 1}) AS a`,
  "CREATE TABLE filled (a INT, b TEXT, c NUMERIC(10, 1), d BOOL, e DATE)",
];

/** A statement with its answer: the first column of its last row, or the number of rows that it changed. */
export interface LargeStatement {
  readonly sql: string;
  readonly parameters?: readonly number[];
  readonly expected: number;
}

/** Makes the statement of so many terms. */
export type StatementShape = (terms: number) => LargeStatement;

function list<T>(terms: number, make: (term: number) => T): T[] {
  return Array.from({ length: terms }, (_, term) => make(term));
}

function counted(condition: string, expected: number): LargeStatement {
  return { sql: `SELECT count(*) FROM number WHERE ${condition}`, expected };
}

/** Numbers 0, 2, 4, … below the double of the terms that the table holds. */
function evenRows(terms: number): number {
  return Math.min(terms, TABLE_ROWS / 2);
}

/** Ranges `width` wide, one every ten numbers, of which the table holds this many rows. */
function rangeRows(terms: number, width: number): number {
  return Math.min(terms, TABLE_ROWS / 10) * width;
}

/** Shapes that grow in width: any number of terms up to the limit on a statement's tokens must be answered. */
export const WIDE_SHAPES: Readonly<Record<string, StatementShape>> = {
  "IN of numbers": (terms) => counted(`a IN (${list(terms, (term) => term * 2)})`, evenRows(terms)),
  "NOT IN of numbers": (terms) =>
    counted(`b NOT IN (${list(terms, (term) => term * 2)})`, TABLE_ROWS - evenRows(terms)),
  "IN of texts": (terms) => counted(`name IN (${list(terms, (term) => `'n${term * 2}'`)})`, evenRows(terms)),
  "IN of parameters": (terms) => {
    const count = Math.min(terms, 65_000);
    return {
      ...counted(`b IN (${list(count, (term) => `$${term + 1}`)})`, evenRows(count)),
      parameters: list(count, (term) => term * 2),
    };
  },
  "IN of rows": (terms) =>
    counted(`(a, b) IN (${list(terms, (term) => `(${term}, ${term})`)})`, Math.min(terms, TABLE_ROWS)),
  "OR of equalities": (terms) =>
    counted(list(terms, (term) => `b = ${term * 2}`).join(" OR "), evenRows(terms)),
  "OR of equalities of the key": (terms) =>
    counted(list(terms, (term) => `a = ${term * 2}`).join(" OR "), evenRows(terms)),
  "OR of ranges": (terms) =>
    counted(
      list(terms, (term) => `(b > ${term * 10} AND b < ${term * 10 + 4})`).join(" OR "),
      rangeRows(terms, 3),
    ),
  "OR of BETWEEN": (terms) =>
    counted(
      list(terms, (term) => `b BETWEEN ${term * 10} AND ${term * 10 + 1}`).join(" OR "),
      rangeRows(terms, 2),
    ),
  "OR of pairs": (terms) =>
    counted(list(terms, (term) => `(a = ${term} AND b = ${term})`).join(" OR "), Math.min(terms, TABLE_ROWS)),
  "AND of inequalities": (terms) =>
    counted(list(terms, (term) => `b <> ${term * 2}`).join(" AND "), TABLE_ROWS - evenRows(terms)),
  "AND of ORs": (terms) =>
    counted(
      list(terms, (term) => `(b <> ${term} OR a < 10)`).join(" AND "),
      TABLE_ROWS - Math.max(0, Math.min(terms, TABLE_ROWS) - 10),
    ),
  "CASE of constants": (terms) => ({
    sql: `SELECT sum(CASE b ${
      list(terms, (term) => `WHEN ${term} THEN 1`).join(" ")
    } ELSE 0 END) FROM number`,
    expected: Math.min(terms, TABLE_ROWS),
  }),
  "CASE of conditions": (terms) => ({
    sql: `SELECT sum(CASE ${
      list(terms, (term) => `WHEN b = ${term} AND a = ${term} THEN 1`).join(" ")
    } ELSE 0 END) FROM number`,
    expected: Math.min(terms, TABLE_ROWS),
  }),
  "COALESCE of nulls": (terms) => ({
    sql: `SELECT count(coalesce(${list(terms, () => "nullif(b, b)")}, b)) FROM number`,
    expected: TABLE_ROWS,
  }),
  "VALUES in FROM": (terms) => ({
    sql: `SELECT count(*) + sum(a) FROM (VALUES ${
      list(terms, (term) => `(${term}, 'x${term}', ${term}.5, true, NULL)`)
    }) AS v (a, b, c, d, e)`,
    expected: terms + terms * (terms - 1) / 2,
  }),
  "INSERT of rows": (terms) => ({
    sql: `INSERT INTO filled VALUES ${
      list(terms, (term) => `(${term}, 'x${term}', ${term}.5, true, '2024-01-01')`)
    }`,
    expected: terms,
  }),
  "array": (terms) => ({ sql: `SELECT array_length(ARRAY[${list(terms, String)}], 1)`, expected: terms }),
  "ANY of an array": (terms) =>
    counted(`a = ANY (ARRAY[${list(terms, (term) => term * 2)}])`, evenRows(terms)),
};

/**
 * Shapes that PostgreSQL bounds, or whose size is their depth: refused with 54001 beyond some number of terms, never
 * otherwise.
 */
export const DEEP_SHAPES: Readonly<Record<string, StatementShape>> = {
  "||": (terms) => ({ sql: `SELECT length(${list(terms, () => "'a'").join(" || ")})`, expected: terms }),
  "+": (terms) => ({ sql: `SELECT ${list(terms, () => "1").join(" + ")}`, expected: terms }),
  "|| of columns": (terms) => counted(`length(${list(terms, () => "name").join(" || ")}) > 0`, TABLE_ROWS),
  "casts": (terms) => ({ sql: `SELECT 1${"::int".repeat(terms)}`, expected: 1 }),
  "parentheses": (terms) => ({ sql: `SELECT ${"(".repeat(terms)}1${")".repeat(terms)}`, expected: 1 }),
  "signs": (terms) => ({ sql: `SELECT ${"- ".repeat(2 * terms)}1`, expected: 1 }),
  "calls": (terms) => ({ sql: `SELECT ${"abs(".repeat(terms)}1${")".repeat(terms)}`, expected: 1 }),
  "NOT": (terms) => counted(`${"NOT ".repeat(2 * terms)}(a < 7)`, 7),
  "scalar subqueries": (terms) => ({
    sql: `SELECT ${"(SELECT ".repeat(terms)}1${")".repeat(terms)}`,
    expected: 1,
  }),
  "subqueries in FROM": (terms) => ({
    sql: `SELECT count(*) FROM ${"(SELECT * FROM ".repeat(terms)}number${
      list(terms, (term) => `) s${term}`).join("")
    }`,
    expected: TABLE_ROWS,
  }),
  "subqueries in IN": (terms) =>
    counted(`${"a IN (SELECT a FROM number WHERE ".repeat(terms)}a < 7${")".repeat(terms)}`, 7),
  "UNION ALL": (terms) => ({
    sql: `SELECT count(*) FROM (${list(terms, (term) => `SELECT ${term}`).join(" UNION ALL ")}) u`,
    expected: terms,
  }),
  "UNION": (terms) => ({
    sql: `SELECT count(*) FROM (${list(terms, (term) => `SELECT ${term % 7}`).join(" UNION ")}) u`,
    expected: Math.min(terms, 7),
  }),
  "WITH": (terms) => ({
    sql: `WITH ${list(terms, (term) => `w${term} AS (SELECT ${term} AS a)`)} SELECT a FROM w${terms - 1}`,
    expected: terms - 1,
  }),
  "WITH upon WITH": (terms) => ({
    sql: `WITH w0 AS (SELECT 1 AS a)${
      list(terms - 1, (term) => `, w${term + 1} AS (SELECT a + 1 AS a FROM w${term})`).join("")
    } SELECT a FROM w${terms - 1}`,
    expected: terms,
  }),
  "WITH below an operator": (terms) => ({
    sql: `WITH w0 AS (SELECT 1 AS a)${
      list(terms - 1, (term) => `, w${term + 1} AS (SELECT 1 + (SELECT a FROM w${term}) AS a)`).join("")
    } SELECT a FROM w${terms - 1}`,
    expected: terms,
  }),
  "subqueries in EXISTS": (terms) =>
    counted(
      `${
        list(terms, (term) => `EXISTS (SELECT FROM number n${term} WHERE n${term}.a = number.a AND `).join("")
      }number.a < 7${")".repeat(terms)}`,
      7,
    ),
  "subqueries in NOT IN": (terms) =>
    counted(`${"a NOT IN (SELECT a FROM number WHERE ".repeat(2 * terms)}a < 7${")".repeat(2 * terms)}`, 7),
  "LEFT JOIN in parentheses": (terms) => ({
    sql: `SELECT count(*) FROM ${
      list(terms, (term) => `number l${term} LEFT JOIN (`).join("")
    }number x JOIN number y ON x.a = y.a${
      list(terms, (term) => `) ON l${terms - 1 - term}.a = x.b`).join("")
    }`,
    expected: TABLE_ROWS,
  }),
  "JSON": (terms) => ({
    sql: `SELECT length('${"[".repeat(terms)}1${"]".repeat(terms)}'::jsonb::text)`,
    expected: 2 * terms + 1,
  }),
};

/** Joins of so many tables, whose order must be found among few. */
export const JOIN_SHAPES: Readonly<Record<string, StatementShape>> = {
  "FROM with conditions": (terms) => ({
    sql: `SELECT count(*) FROM ${list(terms, (term) => `number t${term}`)} WHERE ${
      list(terms - 1, (term) => `t${term}.a = t${term + 1}.a`).join(" AND ")
    } AND t${terms - 1}.b < 7`,
    expected: 7,
  }),
  "FROM of a star": (terms) => ({
    sql: `SELECT count(*) FROM ${list(terms - 1, (term) => `number d${term}`)}, number f WHERE ${
      list(terms - 1, (term) => `f.a = d${term}.a AND d${term}.b < ${7 + term}`).join(" AND ")
    }`,
    expected: 7,
  }),
  "JOIN": (terms) => ({
    sql: `SELECT count(*) FROM number t0 ${
      list(terms - 1, (term) => `JOIN number t${term + 1} ON t${term}.a = t${term + 1}.b`).join(" ")
    } WHERE t0.a < 7`,
    expected: 7,
  }),
  "LEFT JOIN": (terms) => ({
    sql: `SELECT count(t${terms - 1}.a) FROM number t0 ${
      list(terms - 1, (term) =>
        `LEFT JOIN number t${term + 1} ON t${term}.a = t${term + 1}.a AND t${term}.b < 7`)
        .join(" ")
    }`,
    expected: 7,
  }),
};
