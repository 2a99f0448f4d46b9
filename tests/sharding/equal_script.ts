/** One script of statements of all kinds, whose answers have to be the same with any number of shards. */
import { SeededRandom } from "../../engine/base/random.ts";
import {
  catalogSteps,
  constraintSteps,
  copySteps,
  definitionSteps,
  joinSteps,
  sessionSteps,
  settingSteps,
  tpcbSteps,
  twoSessionSteps,
  typeSteps,
} from "./script_sections.ts";
import { uniqueSteps } from "./unique_steps.ts";

/** A statement. */
export interface Step {
  readonly sql: string;
  /** What COPY reads. */
  readonly data?: string;
  /** COPY writes. */
  readonly out?: true;
  /** Which of two sessions; without: the first. */
  readonly by?: "other";
  /** It is a request of this number that is exactly once. */
  readonly once?: number;
  /** false: its rows have no order. */
  readonly ordered?: false;
}

const FIXED: readonly Step[] = [
  { sql: "CREATE TABLE city (id INT PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INT CHECK (size >= 0))" },
  {
    sql: "CREATE TABLE person (id SERIAL PRIMARY KEY, name TEXT NOT NULL, age INT, " +
      "city INT REFERENCES city ON DELETE CASCADE ON UPDATE CASCADE, UNIQUE (name, age))",
  },
  { sql: "CREATE TABLE visit (person INT REFERENCES person ON DELETE SET NULL, day DATE, note VARCHAR(9))" },
  { sql: "CREATE INDEX visit_day ON visit (day)" },
  { sql: "CREATE TABLE word (text TEXT PRIMARY KEY, count BIGINT NOT NULL DEFAULT 1)" },
  { sql: "CREATE SEQUENCE number START 5 INCREMENT 3" },
  { sql: "INSERT INTO city SELECT n, 'city ' || n, n * 10 FROM generate_series(1, 20) AS n" },
  { sql: "COPY city FROM STDIN", data: "30\tthirty\t3\n31\tcity 4\t3\n" },
  { sql: "COPY city FROM STDIN", data: "30\tthirty\t3\n4\tfour\t3\n" },
  { sql: "COPY city FROM STDIN", data: "30\tthirty\t3\n31\tthirty-one\t\\N\n" },
  { sql: "COPY person (name, age, city) FROM STDIN", data: "a\t1\t30\nb\t2\t99\n" },
  { sql: "COPY person (name, age, city) FROM STDIN", data: "a\t1\t30\nb\t2\t31\nc\t\\N\t\\N\n" },
  { sql: "CREATE VIEW big AS SELECT * FROM city WHERE size > 100" },
  { sql: "BEGIN; INSERT INTO city VALUES (40, 'forty', 1); SAVEPOINT s; DELETE FROM city WHERE id = 1" },
  { sql: "SELECT count(*), sum(size) FROM city" },
  { sql: "ROLLBACK TO s; UPDATE city SET size = 2 WHERE id = 40; COMMIT" },
  { sql: "SELECT * FROM city WHERE id IN (1, 40) ORDER BY id" },
  { sql: "CREATE TEMPORARY TABLE own AS SELECT id, name FROM city WHERE id < 5" },
  { sql: "INSERT INTO own SELECT id, name FROM person" },
  { sql: "SELECT own.id, city.size FROM own JOIN city USING (name) ORDER BY own.id" },
  { sql: "ALTER TABLE city ADD COLUMN half INT GENERATED ALWAYS AS (size / 2) STORED" },
  { sql: "ALTER TABLE visit ADD COLUMN at TIMESTAMP, ALTER COLUMN note TYPE TEXT" },
  { sql: "ALTER TABLE person ADD CHECK (age < 150)" },
  { sql: "CREATE UNIQUE INDEX ON city ((size % 7))" },
  { sql: "CREATE TRIGGER t BEFORE UPDATE ON word FOR EACH ROW SET count = NEW.count + 1" },
];

const LAST: readonly Step[] = [
  { sql: "SELECT * FROM city ORDER BY id" },
  { sql: "SELECT * FROM person ORDER BY id" },
  { sql: "SELECT person, day, note FROM visit ORDER BY day, note, person" },
  { sql: "SELECT * FROM word ORDER BY text" },
  { sql: "SELECT nextval('number'), last_value FROM number" },
  {
    sql:
      "SELECT c.name, count(p.id), min(p.age), max(p.name), sum(c.size) FROM city c LEFT JOIN person p ON p.city = c.id " +
      "GROUP BY c.name ORDER BY c.name",
  },
  { sql: "SELECT name, rank() OVER (ORDER BY size DESC, id) FROM city ORDER BY id" },
  {
    sql: "WITH RECURSIVE r AS (SELECT id, 1 AS depth FROM city WHERE id = 2 UNION ALL " +
      "SELECT c.id, depth + 1 FROM r JOIN city c ON c.id = r.id * 2) SELECT * FROM r ORDER BY depth",
  },
  { sql: "SELECT relname, reltuples FROM pg_class WHERE relname IN ('city', 'person', 'word') ORDER BY 1" },
  {
    sql: "SELECT relname, n_live_tup, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables " +
      "WHERE relname IN ('city', 'person', 'visit', 'word') ORDER BY 1",
  },
  { sql: "DROP TABLE city CASCADE" },
  { sql: "SELECT count(*) FROM person" },
  { sql: "TRUNCATE person RESTART IDENTITY CASCADE" },
  { sql: "INSERT INTO person (name) VALUES ('new') RETURNING id" },
];

/** The ways in which each table may be sharded. */
const SHARD_BY: readonly (readonly [string, readonly string[]])[] = [
  ["city", ["(id)", "(name)", "(size)", "(half)", "ALL"]],
  ["person", ["(id)", "(city)", "(age)", "(name)", "ALL"]],
  ["visit", ["(person)", "(day)", "(note)", "ALL"]],
  ["word", ["(text)", "(count)", "ALL"]],
];

/**
 * Statements of each kind, and a script with so many statements of chance in its middle; `moves`: only the script,
 * whose tables are sharded in one way and another.
 */
export function equalScript(seed: number, count: number, { moves } = { moves: false }): Step[] {
  const random = new SeededRandom(seed);
  const kinds = (): Step[] => [
    ...constraintSteps(),
    ...definitionSteps(),
    ...copySteps(),
    ...sessionSteps(),
    ...twoSessionSteps(),
    ...typeSteps(),
    ...settingSteps(),
    ...tpcbSteps(random, Math.ceil(count / 30)),
    ...joinSteps(random, Math.ceil(count / 10)),
    ...uniqueSteps(random, Math.ceil(count / 5)),
  ];
  const steps = [...moves ? [] : kinds(), ...FIXED];
  for (let index = 0; index < count; index++) {
    if (moves && index % 8 === 0) {
      const [table, ways] = SHARD_BY[random.below(SHARD_BY.length)] ?? ["word", []];
      const way = ways[random.below(ways.length + 1)];
      steps.push({
        sql: `ALTER TABLE ${table} ${way === undefined ? "RESET (shard_by)" : `SHARD BY ${way}`}`,
      });
    }
    const sql = anyStatement(random, index);
    steps.push({ sql });
    // What has failed in a block.
    if (sql.startsWith("BEGIN")) steps.push({ sql: "ROLLBACK" });
  }
  return [...steps, ...LAST, ...catalogSteps()];
}

function anyStatement(random: SeededRandom, index: number): string {
  const city = 1 + random.below(45), person = 1 + random.below(60), size = random.below(300);
  const word = `w${random.below(12)}`, day = `2024-01-${10 + random.below(20)}`;
  const statements: readonly (() => string)[] = [
    () =>
      `INSERT INTO person (name, age, city) VALUES ('p${random.below(80)}', ${
        random.below(160)
      }, ${city}) RETURNING id`,
    () => `INSERT INTO city VALUES (${city}, 'city ${random.below(60)}', ${size}) ON CONFLICT DO NOTHING`,
    () => `UPDATE city SET size = size + ${random.below(9)} - 4 WHERE id = ${city}`,
    () => `UPDATE city SET id = ${100 + index} WHERE id = ${city}`,
    () => `DELETE FROM city WHERE id = ${city} AND size < 50`,
    () => `DELETE FROM person WHERE id = ${person}`,
    () =>
      `INSERT INTO visit (person, day, note) VALUES (${person}, '${day}', 'n${index}'), (NULL, '${day}', 'm${index}')`,
    () => `SELECT count(*), min(note), max(day) FROM visit WHERE day BETWEEN '${day}' AND '2024-01-25'`,
    () =>
      `INSERT INTO word VALUES ('${word}') ON CONFLICT (text) DO UPDATE SET count = word.count + 1 RETURNING *`,
    () =>
      `SELECT p.id, c.name FROM person p JOIN city c ON c.id = p.city WHERE c.size > ${size} ORDER BY p.id LIMIT 5`,
    () => `SELECT name FROM city WHERE id = ${city}`,
    () => `UPDATE person SET age = coalesce(age, 0) + 1 WHERE city = ${city}`,
    () =>
      `BEGIN; UPDATE city SET size = size + 1 WHERE id = ${city}; INSERT INTO word VALUES ('x${index}'); COMMIT`,
    () => `BEGIN; DELETE FROM word; INSERT INTO city VALUES (${city}, 'again', 0); COMMIT`,
    () =>
      `MERGE INTO word USING (VALUES ('${word}'), ('w99')) v (t) ON word.text = v.t ` +
      "WHEN MATCHED THEN UPDATE SET count = 0 WHEN NOT MATCHED THEN INSERT VALUES (v.t, 7)",
    () => `SELECT nextval('number'), EXISTS (SELECT FROM person WHERE age = ${random.below(90)})`,
    () =>
      `SELECT id, (SELECT count(*) FROM person p WHERE p.city = c.id) FROM city c WHERE id < ${city} ORDER BY id`,
    () => `SELECT DISTINCT age FROM person WHERE age > ${random.below(100)} ORDER BY age DESC`,
    () => `WITH gone AS (DELETE FROM visit WHERE day = '${day}' RETURNING *) SELECT count(*) FROM gone`,
    () => `ALTER TABLE word ADD COLUMN c${index} INT DEFAULT ${index}`,
    () => `SELECT count(*) FROM big`,
    () =>
      `SELECT city, count(*), sum(age), avg(age), min(name), stddev(age) FROM person WHERE id > ${person} ` +
      "GROUP BY city HAVING count(*) > 1 ORDER BY city",
    () =>
      `SELECT id, name FROM person WHERE age % 7 = ${
        index % 7
      } ORDER BY age DESC NULLS LAST, id LIMIT 4 OFFSET 2`,
    () => `SELECT sum(size)::numeric / ${index % 3}, count(DISTINCT size) FROM city WHERE size < ${size}`,
    () => `SELECT DISTINCT day, note IS NULL FROM visit WHERE day >= '${day}' ORDER BY 1, 2`,
    () =>
      `BEGIN; INSERT INTO word VALUES ('y${index}'); SELECT count(*), max(text), sum(count) FROM word; COMMIT`,
    () => `INSERT INTO visit SELECT id, '${day}', left(name, 9) FROM person WHERE age = ${random.below(160)}`,
    () => `SELECT max(id), min(size), bool_or(size > 5) FROM city WHERE name LIKE '%${index % 10}%'`,
    () => `SELECT count(*) FROM person WHERE name > (SELECT max(name) FROM city WHERE id < ${city})`,
    () => `SELECT age, grouping(age), count(*) FROM person GROUP BY ROLLUP (age) ORDER BY 1, 2 LIMIT 9`,
    () => `SELECT name, size * ${size} FROM city WHERE size + size > ${size} ORDER BY name LIMIT 6`,
  ];
  return (statements[random.below(statements.length)] as () => string)();
}
