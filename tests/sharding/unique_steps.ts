/** Statements about unique keys of every kind, whose answers have to be the same with any number of shards. */
import type { SeededRandom } from "../../engine/base/random.ts";
import type { Step } from "./equal_script.ts";

const TABLES: readonly string[] = [
  `CREATE TABLE member (id INT PRIMARY KEY, email TEXT UNIQUE, a INT, b NUMERIC, nick CHAR(6) UNIQUE, v INT,
     CONSTRAINT pair UNIQUE NULLS NOT DISTINCT (a, b))`,
  "CREATE UNIQUE INDEX member_lower ON member (lower(email)) WHERE v > 0",
  "CREATE TABLE post (id INT PRIMARY KEY, author TEXT REFERENCES member (email) ON UPDATE CASCADE ON DELETE SET NULL)",
  "INSERT INTO member SELECT n, 'e' || n, n, n / 2.0, 'n' || n, n % 3 FROM generate_series(1, 30) n",
  "INSERT INTO post SELECT n, 'e' || n FROM generate_series(1, 10) n",
];

/** Each is by itself: what fails changes nothing. */
const FIXED: readonly string[] = [
  "INSERT INTO member VALUES (40, 'e3', 40, 1, 'x', 0)",
  "INSERT INTO member VALUES (40, 'E4', 40, 1, 'x', 1)",
  "INSERT INTO member VALUES (40, 'E4', 40, 1, 'x', 0)",
  "UPDATE member SET v = 1 WHERE id = 40",
  "INSERT INTO member VALUES (41, NULL, NULL, 1, 'y', 0), (42, NULL, NULL, 1.00, 'z', 0)",
  "INSERT INTO member VALUES (41, NULL, NULL, NULL, NULL, 0)",
  "INSERT INTO member VALUES (42, NULL, NULL, NULL, NULL, 0)",
  "INSERT INTO member VALUES (42, 'e42', 42, 5.0, 'n5 ', 0)",
  "INSERT INTO member VALUES (42, 'e42', 10, 5.000, 'n42', 0)",
  // Keys that stay, in the same form and in another one, and keys that move.
  "UPDATE member SET v = v + 1 WHERE id = 7",
  "UPDATE member SET b = 3.50, nick = 'n7    ', email = 'e7' WHERE id = 7",
  "UPDATE member SET email = 'e8' WHERE id = 7",
  "UPDATE member SET email = email || 'x' WHERE id BETWEEN 5 AND 12",
  "UPDATE member SET a = a + 1",
  "UPDATE member SET a = a + 1000",
  "UPDATE member SET v = v + 1",
  // Swaps within a statement, and in one transaction.
  "UPDATE member SET email = CASE id WHEN 1 THEN 'e2' ELSE 'e1' END WHERE id IN (1, 2)",
  `BEGIN; UPDATE member SET email = 'free' WHERE id = 1; UPDATE member SET email = 'e1' WHERE id = 2;
     UPDATE member SET email = 'e2' WHERE id = 1; COMMIT`,
  "BEGIN; DELETE FROM member WHERE id = 3; INSERT INTO member VALUES (43, 'e3', 43, 43, 'n3', 1); COMMIT",
  "BEGIN; INSERT INTO member VALUES (44, 'e44', 44, 44, 'n44', 1); DELETE FROM member WHERE id = 44; " +
  "INSERT INTO member VALUES (45, 'e44', 44, 44, 'n44', 1); COMMIT",
  // Savepoints.
  `BEGIN; INSERT INTO member VALUES (50, 'e50', 50, 50, 'n50', 1); SAVEPOINT s;
     UPDATE member SET email = 'e51' WHERE id = 50; ROLLBACK TO s; INSERT INTO member VALUES (51, 'e51', 51, 51, 'n51', 1); COMMIT`,
  `BEGIN; SAVEPOINT s; INSERT INTO member VALUES (52, 'e51', 52, 52, 'n52', 1)`,
  `ROLLBACK TO s; INSERT INTO member VALUES (52, 'e52', 52, 52, 'n52', 1); COMMIT`,
  // ON CONFLICT, with each index and none.
  "INSERT INTO member VALUES (60, 'e52', 60, 60, 'n60', 1) ON CONFLICT (email) DO UPDATE SET v = member.v + 10 RETURNING id, v",
  "INSERT INTO member VALUES (60, 'E52', 60, 60, 'n60', 1) ON CONFLICT (lower(email)) WHERE v > 0 DO UPDATE SET v = 7 RETURNING id",
  "INSERT INTO member VALUES (60, 'e60', 50, 50, 'n60', 1) ON CONFLICT ON CONSTRAINT pair DO UPDATE SET nick = 'new' RETURNING id",
  "INSERT INTO member VALUES (60, 'e60', NULL, NULL, 'n60', 1) ON CONFLICT (a, b) DO NOTHING",
  "INSERT INTO member VALUES (60, 'e52', 60, 60, 'n60', 1), (61, 'e61', 61, 61, 'n61', 1) ON CONFLICT DO NOTHING RETURNING id",
  "INSERT INTO member VALUES (62, 'twice', 62, 62, 'a', 1), (63, 'twice', 63, 63, 'b', 1) ON CONFLICT (email) DO UPDATE SET v = 0",
  "INSERT INTO member VALUES (62, 'e52', 62, 62, 'n62', 1) ON CONFLICT (nick) DO NOTHING",
  // Foreign keys that refer to one.
  "UPDATE member SET email = 'moved' WHERE id = 2",
  "INSERT INTO post VALUES (20, 'nobody')",
  "INSERT INTO post VALUES (20, 'moved')",
  "DELETE FROM member WHERE email = 'e4'",
  "SELECT * FROM post ORDER BY id",
  // Look-ups.
  "SELECT id FROM member WHERE email = 'moved'",
  "SELECT id FROM member WHERE email = 'nobody'",
  "SELECT count(*), max(v) FROM member WHERE email = 'e52'",
  "SELECT id FROM member WHERE lower(email) = 'e52' AND v > 0",
  "SELECT id FROM member WHERE a = 1020 AND b = 10",
  "SELECT id FROM member WHERE a IS NULL AND b IS NULL",
  "SELECT p.id, m.id FROM post p JOIN member m ON m.email = p.author ORDER BY p.id",
  "SELECT id FROM member WHERE email IN ('moved', 'e52', 'none') ORDER BY id",
  "UPDATE member SET v = 99 WHERE email = 'moved' RETURNING id, v",
  "DELETE FROM member WHERE nick = 'n51' RETURNING id",
  // Indexes that come and go over rows.
  "CREATE UNIQUE INDEX member_v ON member (v)",
  "CREATE UNIQUE INDEX member_vid ON member (v, id)",
  "INSERT INTO member VALUES (70, 'e70', 70, 70, 'n70', 1)",
  "ALTER TABLE member ADD UNIQUE (v, email)",
  "DROP INDEX member_lower",
  "INSERT INTO member VALUES (71, 'E70', 71, 71, 'n71', 1)",
  "CREATE UNIQUE INDEX member_lower ON member (lower(email)) WHERE v > 0",
  "UPDATE member SET v = 0 WHERE id = 71",
  "CREATE UNIQUE INDEX member_lower ON member (lower(email)) WHERE v > 0",
  "ALTER TABLE member SHARD BY (a)",
  "INSERT INTO member VALUES (72, 'moved', 72, 72, 'n72', 1)",
  "INSERT INTO member VALUES (72, 'e72', 72, 72, 'n72', 1)",
  "UPDATE member SET a = 73 WHERE email = 'e72'",
  "ALTER TABLE member SHARD BY (email)",
  "UPDATE member SET email = 'E70' WHERE id = 72",
  "UPDATE member SET email = 'e73' WHERE id = 72",
  "ALTER TABLE member SHARD BY ALL",
  "INSERT INTO member VALUES (74, 'e73', 74, 74, 'n74', 1)",
  "ALTER TABLE member RESET (shard_by)",
  "ALTER TABLE member ALTER COLUMN a TYPE BIGINT, ALTER COLUMN nick TYPE TEXT",
  "INSERT INTO member VALUES (74, 'e74', 74, 74, 'n70', 1)",
  "SELECT * FROM member ORDER BY id",
  "TRUNCATE member CASCADE",
  "INSERT INTO member VALUES (1, 'e1', 1, 1, 'n1', 1), (2, 'e1', 2, 2, 'n2', 1)",
];

/** Of all kinds, and so many of chance over few keys. */
export function uniqueSteps(random: SeededRandom, count: number): Step[] {
  const steps = [...TABLES, ...FIXED].flatMap((sql) => ended(sql));
  steps.push(
    ...ended("INSERT INTO member SELECT n, 'k' || n, n, n, 'n' || n, n % 2 FROM generate_series(1, 12) n"),
  );
  for (let index = 0; index < count; index++) steps.push(...ended(anyChange(random)));
  return [...steps, { sql: "SELECT * FROM member ORDER BY id" }, { sql: "DROP TABLE member CASCADE" }];
}

/** What has failed in a block ends it, but where a savepoint is gone back to. */
function ended(sql: string): Step[] {
  const isOpen = sql.startsWith("BEGIN") && !/SAVEPOINT s; INSERT INTO member VALUES \(52/.test(sql);
  return isOpen ? [{ sql }, { sql: "ROLLBACK" }] : [{ sql }];
}

function anyChange(random: SeededRandom): string {
  const id = 1 + random.below(24);
  const key = random.below(5) === 0 ? "NULL" : `'${"kK"[random.below(2)]}${random.below(16)}'`;
  const a = random.below(6) === 0 ? "NULL" : random.below(8);
  const b = ["NULL", "1", "1.0", "2.00", "NULL", "3"][random.below(6)];
  const v = random.below(2);
  const changes = [
    `INSERT INTO member VALUES (${id}, ${key}, ${a}, ${b}, 'n${id}', ${v})`,
    `INSERT INTO member VALUES (${id}, ${key}, ${a}, ${b}, 'n${id}', ${v}) ON CONFLICT DO NOTHING`,
    `INSERT INTO member VALUES (${id}, ${key}, ${a}, ${b}, NULL, ${v}) ON CONFLICT (email) DO UPDATE SET v = 1 - member.v RETURNING *`,
    `UPDATE member SET email = ${key} WHERE id = ${id}`,
    `UPDATE member SET v = 1 - v, b = ${b} WHERE email = ${key}`,
    `UPDATE member SET a = ${a} WHERE id = ${id} RETURNING id`,
    `DELETE FROM member WHERE email = ${key} RETURNING id`,
    `SELECT id, v FROM member WHERE email = ${key}`,
    `SELECT count(*), min(id) FROM member WHERE a = ${random.below(8)} AND b = ${random.below(3)}`,
    `BEGIN; DELETE FROM member WHERE id = ${id}; INSERT INTO member VALUES (${id}, ${key}, ${a}, ${b}, 'n${id}', ${v}); ` +
    `SAVEPOINT s; UPDATE member SET email = 'tmp' WHERE id = ${id}; ROLLBACK TO s; COMMIT`,
  ];
  return changes[random.below(changes.length)] ?? "";
}
