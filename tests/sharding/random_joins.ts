/**
 * Random joins over tables of edges: values of every type that can be a key, NULL and duplicates among them, tables
 * without rows, with one, and with all rows at few shards.
 */
import { SeededRandom } from "../../engine/base/random.ts";
import type { Step } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";

/** Columns that are compared with each other, with expressions for edges. */
const COLUMNS: readonly (readonly [name: string, type: string, edges: readonly string[]])[] = [
  ["i", "INT", ["0", "-1", "2147483647", "-2147483648", "7"]],
  ["b", "BIGINT", [
    "0",
    "7",
    "2147483648",
    "9007199254740993",
    "-9223372036854775808",
    "9223372036854775807",
  ]],
  ["s", "SMALLINT", ["0", "7", "-32768", "32767"]],
  ["n", "NUMERIC", ["0", "7.0", "7.00", "'NaN'", "1e30", "-0.1", "'Infinity'", "12345678901234567890"]],
  ["m", "NUMERIC(10,2)", ["0", "7", "-0.1", "99999999.99"]],
  ["d", "DOUBLE PRECISION", ["0", "'-0'", "7", "'NaN'", "'Infinity'", "'-Infinity'", "5e-324", "0.1"]],
  ["r", "REAL", ["0", "'-0'", "7", "'NaN'", "'Infinity'", "0.1"]],
  ["t", "TEXT", ["''", "'a'", "'A'", "'a '", "'é'", "'e' || chr(769)", "repeat('long ', 40)", "'7'"]],
  ["c", "CHAR(5)", ["''", "'a'", "'a '", "'A'", "'é'", "'7'"]],
  ["w", "CHAR(9)", ["''", "'a'", "'a '", "'A'", "'é'", "'7'"]],
  ["v", "VARCHAR(9)", ["''", "'a'", "'a '", "'7'"]],
  ["g", "BOOL", ["true", "false"]],
  ["h", "DATE", ["'2024-01-01'", "'infinity'", "'-infinity'", "'0001-01-01'"]],
  ["k", "TIMESTAMPTZ", ["'2024-01-01 00:00Z'", "'2024-01-01 01:00+01'", "'infinity'"]],
  ["p", "INTERVAL", ["'1 day'", "'24 hours'", "'0'", "'30 days'", "'1 month'", "'-1 s'"]],
  ["y", "BYTEA", ["''", "'\\x00'", "'\\xff00'", "'a'"]],
  ["u", "UUID", ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]],
  ["j", "JSONB", ["'{}'", `'{"a": 1, "b": 2}'`, `'{"b": 2, "a": 1.0}'`, "'1'", "'1.0'", "'null'", "'[1]'"]],
  ["a", "INT[]", ["'{}'", "'{1,2}'", "'{NULL}'", "'{{1},{2}}'", "'[0:1]={1,2}'"]],
];

/** Pairs of columns of different types that may be compared. */
const MIXED: readonly (readonly [string, string])[] = [
  ["i", "b"],
  ["i", "s"],
  ["b", "n"],
  ["n", "m"],
  ["m", "i"],
  ["d", "r"],
  ["d", "i"],
  ["t", "v"],
  ["t", "c"],
  ["c", "w"],
  ["h", "k"],
];

const TABLES = ["x", "y", "z"] as const;
const KINDS = ["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] as const;

/** The statements of a seed. The last ones are the queries. */
export function randomJoins(seed: number, queries: number): Step[] {
  const random = new SeededRandom(seed);
  const steps: Step[] = [{ sql: "SET timezone = 'UTC'" }];
  for (const table of TABLES) steps.push(...tableSteps(random, table));
  for (let index = 0; index < queries; index++) {
    if (random.below(3) === 0) {
      steps.push({ sql: `SET broadcast_limit = ${random.pick(["0", "'1kB'", "'32MB'"])}` });
    }
    steps.push({ sql: query(random) });
  }
  return steps;
}

function tableSteps(random: SeededRandom, table: string): Step[] {
  const columns = COLUMNS.map(([name, type]) => `${name} ${type}`).join(", ");
  const rows = random.pick([0, 1, 5, 120, 300, 300]);
  const place = random.pick(["", "", "", " SHARD BY ALL", ` SHARD BY (${random.pick(COLUMNS)[0]})`]);
  const steps: Step[] = [{ sql: `CREATE TABLE ${table} (id BIGINT PRIMARY KEY, o INT, ${columns})${place}` }];
  if (random.below(4) === 0) steps.push({ sql: `CREATE INDEX ${table}_i ON ${table} (i, t)` });
  // Few values, or many.
  const variety = random.pick([3, 20, 200]);
  for (let first = 0; first < rows; first += 100) {
    const list = Array.from({ length: Math.min(100, rows - first) }, (_, index) => {
      const id = first + index;
      const values = COLUMNS.map(([, type, edges]) => value(random, { type, edges, variety }));
      return `(${id}, ${random.below(8)}, ${values.join(", ")})`;
    });
    steps.push({ sql: `INSERT INTO ${table} VALUES ${list.join(", ")}` });
  }
  if (random.below(4) === 0) steps.push({ sql: `DELETE FROM ${table} WHERE id % 3 = ${random.below(3)}` });
  return steps;
}

function value(
  random: SeededRandom,
  { type, edges, variety }: {
    readonly type: string;
    readonly edges: readonly string[];
    readonly variety: number;
  },
): string {
  if (random.below(8) === 0) return "NULL";
  if (random.below(3) === 0) return random.pick(edges);
  const number = random.below(variety);
  switch (type) {
    case "BOOL":
      return number % 2 === 0 ? "true" : "false";
    case "DATE":
      return `date '2024-01-01' + ${number}`;
    case "TIMESTAMPTZ":
      return `timestamptz '2024-01-01 00:00Z' + ${number} * interval '1 day'`;
    case "INTERVAL":
      return `${number} * interval '12 hours'`;
    case "BYTEA":
      return `'\\x${(number % 256).toString(16).padStart(2, "0")}'`;
    case "UUID":
      return `'00000000-0000-0000-0000-${String(number).padStart(12, "0")}'`;
    case "JSONB":
      return `'{"n": ${number}}'`;
    case "INT[]":
      return `'{${number},${number % 3}}'`;
    case "TEXT":
    case "CHAR(5)":
    case "CHAR(9)":
    case "VARCHAR(9)":
      return `'k${number}'`;
    case "DOUBLE PRECISION":
    case "REAL":
    case "NUMERIC":
    case "NUMERIC(10,2)":
      return String(number / 2);
    default:
      return String(number);
  }
}

function condition(random: SeededRandom, left: string, right: string): string {
  const one = (): string => {
    if (random.below(4) > 0) {
      const [name] = random.pick(COLUMNS);
      return `${left}.${name} = ${right}.${name}`;
    }
    switch (random.below(4)) {
      case 0:
        return `${left}.id = ${right}.id`;
      case 1:
        return `${left}.i + 1.5 = ${right}.m`;
      default: {
        const [first, second] = random.pick(MIXED);
        return `${left}.${first} = ${right}.${second}`;
      }
    }
  };
  const parts = [one()];
  if (random.below(3) === 0) parts.push(one());
  if (random.below(4) === 0) parts.push(random.pick([`${left}.o < ${right}.o`, `${left}.t <> ${right}.t`]));
  return parts.join(" AND ");
}

/** Joins with groups and distinct rows, some of which are at one place already. */
function queryOfGroups(random: SeededRandom): string {
  const [table, other, last] = [random.pick(TABLES), random.pick(TABLES), random.pick(TABLES)];
  const [name] = random.pick(COLUMNS);
  const where = random.pick(["", ` WHERE g.o < ${random.between(1, 8)}`, " WHERE g.i = 7 OR g.o > 2"]);
  const having = random.pick(["", " HAVING count(*) > 1", " HAVING sum(g.o) < 9"]);
  const groups = random.pick([
    `SELECT g.${name} AS v, count(*) AS n, min(g.id) AS m FROM ${other} g${where} GROUP BY 1${having}`,
    `SELECT g.${name} AS v, g.o AS n, max(g.id) AS m FROM ${other} g${where} GROUP BY g.${name}, g.o${having}`,
    `SELECT g.${name} AS v, count(*) AS n, g.id AS m FROM ${other} g${where} GROUP BY g.id, g.${name}${having}`,
    `SELECT DISTINCT g.${name} AS v, 0 AS n, g.id AS m FROM ${other} g${where}`,
    `SELECT DISTINCT g.o AS n, g.id AS m, w.${name} AS v FROM ${other} g JOIN ${last} w ON w.id = g.id${where}`,
    `SELECT min(g.${name}::text) AS t, w.${name} AS v, count(g.b) AS n, count(*) AS m ` +
    `FROM ${other} g RIGHT JOIN ${last} w ON w.o = g.id${where} GROUP BY w.${name}${having}`,
  ]);
  const kind = random.pick(KINDS);
  const on = random.pick([`p.${name} = x.v`, "p.id = x.m", `p.${name} = x.v AND p.o = x.n`]);
  const ids = "p.id, x.m, x.n, x.v::text IS NULL";
  if (random.below(3) === 0) {
    return `SELECT ${ids}, q.id FROM (${groups}) x ${kind} ${table} p ON ${on} JOIN ${last} q ON q.id = x.m ORDER BY ${ids}, q.id`;
  }
  if (random.below(3) === 0) {
    return `SELECT count(*), sum(x.n), sum(p.id) FROM (${groups}) x ${kind} ${table} p ON ${on}`;
  }
  const limit = random.pick(["", " LIMIT 5"]);
  return `SELECT ${ids} FROM ${table} p ${kind} (${groups}) x ON ${on} ORDER BY ${ids}${limit}`;
}

/** A condition on rows of `p` by rows of another table. */
function subquery(random: SeededRandom): string {
  const table = random.pick(TABLES);
  const [[name], [other]] = [random.pick(COLUMNS), random.pick(COLUMNS)];
  const not = random.pick(["", "NOT "]);
  const where = condition(random, "p", "w");
  const exists = `${not}EXISTS (SELECT FROM ${table} w WHERE ${where})`;
  const few = `FROM ${table} w WHERE w.o < ${random.between(1, 8)}`;
  return random.pick([
    exists,
    `(${exists} OR p.o > ${random.between(1, 7)})`,
    `CASE WHEN ${exists} THEN p.o > 3 ELSE p.${name} IS NULL END`,
    `${not}EXISTS (SELECT FROM ${table} w WHERE ${where} OR ${condition(random, "p", "w")})`,
    `p.${name} ${not}IN (SELECT w.${name} ${few})`,
    `(p.${name}, p.${other}) ${not}IN (SELECT w.${name}, w.${other} ${few})`,
    `p.${name} ${not}IN (SELECT w.${name} FROM ${table} w WHERE w.o < p.o)`,
  ]);
}

function query(random: SeededRandom): string {
  if (random.below(4) === 0) return queryOfGroups(random);
  const first = random.pick(TABLES);
  let from = `${first} p`;
  const names = ["p"];
  if (random.below(5) > 0) {
    from += ` ${random.pick(KINDS)} ${random.pick(TABLES)} q ON ${condition(random, "p", "q")}`;
    names.push("q");
    if (random.below(4) === 0) {
      from += ` ${random.pick(KINDS)} ${random.pick(TABLES)} r ON ${
        condition(random, random.pick(names), "r")
      }`;
      names.push("r");
    }
  }
  const conditions: string[] = [];
  if (names.length === 1 || random.below(4) === 0) conditions.push(subquery(random));
  if (random.below(4) === 0) conditions.push(`${random.pick(names)}.o < ${random.between(1, 7)}`);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const ids = names.map((name) => `${name}.id`).join(", ");
  const [column] = random.pick(COLUMNS);
  const any = random.pick(names);
  switch (random.below(8)) {
    case 0:
      return `SELECT count(*), sum(p.id), count(${any}.${column}), sum(${any}.b) FROM ${from}${where}`;
    case 1:
      return `SELECT ${any}.o, count(*), sum(p.id), avg(${any}.i), min(${any}.t) FROM ${from}${where} GROUP BY 1 ORDER BY 1`;
    case 2:
      return random.below(2) === 0
        ? `SELECT count(DISTINCT ${any}.${column}), count(*), sum(p.id) FROM ${from}${where}`
        : `SELECT p.g, ${any}.o, count(DISTINCT ${any}.${column}), count(DISTINCT p.i), min(${any}.t) FROM ${from}${where} GROUP BY 1, 2 ORDER BY 1, 2`;
    case 3:
      return `SELECT p.o, string_agg(${any}.id::text, ',' ORDER BY ${ids}) FROM ${from}${where} GROUP BY p.o ORDER BY 1`;
    case 4:
      return `SELECT ${ids}, ${any}.${column} FROM ${from}${where} ORDER BY ${ids} LIMIT ${
        random.between(0, 20)
      }`;
    case 5:
      return `SELECT ${ids}, ${any}.${column} FROM ${from}${where} ORDER BY ${any}.${column}${
        random.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST", " DESC, p.o + 1 NULLS FIRST"])
      }, ${ids}`;
    case 6:
      return `SELECT DISTINCT ${any}.o, p.g FROM ${from}${where} ORDER BY 1, 2`;
    default:
      return `SELECT ${ids}, ${any}.${column} FROM ${from}${where}`;
  }
}

/** What the random joins of a seed answer with shards and without. */
export async function joinAnswers(
  shardCount: number,
  seed: number,
  queries: number,
): Promise<{ readonly different: string[]; readonly failed: string[]; readonly filled: number }> {
  const steps = randomJoins(seed, queries);
  const alone = (await scriptAnswers(1, steps)).map(comparable);
  const answers = (await scriptAnswers(shardCount, steps)).map(comparable);
  const shown = (answer: string | undefined): string => (answer ?? "").slice(0, 1000);
  return {
    different: answers.flatMap((answer, index) =>
      answer === alone[index] ? [] : [`${shown(answer)}\n--- alone:\n${shown(alone[index])}`]
    ),
    failed: alone.filter((answer) => answer.includes('\n["')).map(shown),
    filled: alone.filter((answer) => answer.startsWith("SELECT") && answer.split("\n").length > 1).length,
  };
}

/** An answer whose rows may come in any order, unless its statement says which. */
function comparable(answer: string): string {
  const [sql = "", ...rows] = answer.split("\n");
  return [sql, ...(sql.includes(" ORDER BY ") ? rows : rows.sort())].join("\n");
}
