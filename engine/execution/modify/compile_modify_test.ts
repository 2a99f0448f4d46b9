/** INSERT, UPDATE and DELETE end to end: real planner, executor, transactions and table stores; SQL in, rows out. */
import assert from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { DatabaseError } from "../../base/errors.ts";
import { TestDatabase } from "./database_for_test.ts";

function open(schema: string): TestDatabase {
  const database = new TestDatabase();
  for (const statement of schema.split(";")) if (statement.trim() !== "") database.run(statement);
  return database;
}

/** `code message / detail` of what a statement raises. */
function failure(database: TestDatabase, text: string): string {
  try {
    database.run(text);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    return `${thrown.code} ${thrown.message}${thrown.detail === undefined ? "" : ` / ${thrown.detail}`}`;
  }
  return "no error";
}

Deno.test("INSERT gives ids from the primary key, from ID n and from the counter", () => {
  const db = open("CREATE TABLE k (id int PRIMARY KEY, a text); CREATE TABLE c (a text)");
  assert.equal(db.run("INSERT INTO k VALUES (7, 'x')").insertedId, 7);
  assert.equal(db.run("INSERT INTO c VALUES ('x')").insertedId, 1);
  assert.equal(db.run("INSERT INTO c VALUES ('y'), ('z')").insertedId, null);
  assert.deepEqual(db.run("INSERT INTO c ID 40 (a) VALUES ('w') RETURNING rowid, a").rows, ["40|w"]);
  assert.deepEqual(db.rows("SELECT rowid, a FROM c ORDER BY rowid"), ["1|x", "2|y", "3|z", "40|w"]);
  assert.equal(
    failure(db, "INSERT INTO k VALUES (7, 'y')"),
    '23505 duplicate key value violates unique constraint "k_pkey" / Key (id)=(7) already exists.',
  );
  assert.equal(db.run("INSERT INTO k VALUES (-1, 'y')").insertedId, -1);
  for (const table of ["k", "c"]) {
    assert.equal(
      failure(db, `INSERT INTO ${table} ID -1 (a) VALUES ('y')`),
      `22003 row id -1 of relation "${table}" is out of range`,
    );
  }
});

Deno.test("INSERT checks NOT NULL before CHECK, with PostgreSQL's detail", () => {
  const db = open("CREATE TABLE t (a int NOT NULL, b text, CONSTRAINT pos CHECK (a > 0), CHECK (b <> 'no'))");
  assert.equal(
    failure(db, "INSERT INTO t VALUES (null, 'no')"),
    '23502 null value in column "a" of relation "t" violates not-null constraint / Failing row contains (null, no).',
  );
  assert.equal(
    failure(db, "INSERT INTO t VALUES (0, null)"),
    '23514 new row for relation "t" violates check constraint "pos" / Failing row contains (0, null).',
  );
  assert.equal(
    failure(db, "INSERT INTO t VALUES (1, 'no')"),
    '23514 new row for relation "t" violates check constraint "t_b_check" / Failing row contains (1, no).',
  );
  assert.equal(db.run("INSERT INTO t VALUES (1, null)").count, 1);
  assert.equal(
    failure(db, "UPDATE t SET a = a - 1"),
    '23514 new row for relation "t" violates check constraint "pos" / Failing row contains (0, null).',
  );
});

Deno.test("INSERT computes defaults and generated columns of every storage form", () => {
  const db = open(
    "CREATE TABLE t (id int PRIMARY KEY, n numeric DEFAULT 1.50, m numeric(10,2) DEFAULT 2.5, b bool DEFAULT true, " +
      "s text DEFAULT 'd', l int[] DEFAULT ARRAY[1,2], twice int GENERATED ALWAYS AS (id * 2) STORED)",
  );
  assert.deepEqual(db.run("INSERT INTO t (id) VALUES (4) RETURNING *").rows, ["4|1.50|2.50|t|d|{1,2}|8"]);
  db.run("UPDATE t SET id = 5");
  assert.deepEqual(db.rows("SELECT * FROM t"), ["5|1.50|2.50|t|d|{1,2}|10"]);
});

Deno.test("INSERT … SELECT from its own table reads the state before", () => {
  const db = open("CREATE TABLE t (a int)");
  const transaction = db.begin();
  db.runIn(transaction, "INSERT INTO t VALUES (1), (2)");
  assert.equal(db.runIn(transaction, "INSERT INTO t SELECT a + 2 FROM t").count, 2);
  assert.equal(db.runIn(transaction, "INSERT INTO t SELECT a + 4 FROM t").count, 4);
  assert.deepEqual(db.runIn(transaction, "SELECT a FROM t ORDER BY a").rows, "12345678".split(""));
  db.manager.commit(transaction);
});

Deno.test("INSERT ON CONFLICT does nothing or updates, each row once", () => {
  const db = open("CREATE TABLE t (id int PRIMARY KEY, u text UNIQUE, n int)");
  db.run("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)");
  assert.equal(
    db.run("INSERT INTO t VALUES (1, 'z', 0), (3, 'b', 0), (4, 'd', 4) ON CONFLICT DO NOTHING").count,
    1,
  );
  assert.equal(db.run("INSERT INTO t VALUES (9, 'a', 0) ON CONFLICT (u) DO NOTHING").count, 0);
  assert.equal(
    failure(db, "INSERT INTO t VALUES (1, 'q', 0) ON CONFLICT (u) DO NOTHING").slice(0, 5),
    "23505",
  );
  const upsert =
    "INSERT INTO t AS old VALUES (1, 'x', 10), (5, 'e', 5) ON CONFLICT (id) DO UPDATE SET n = old.n + excluded.n, u = excluded.u WHERE old.n < 100 RETURNING id, u, n";
  assert.deepEqual(db.run(upsert).rows, ["1|x|11", "5|e|5"]);
  assert.deepEqual(db.run(upsert).rows, ["1|x|21", "5|e|10"]);
  db.run("UPDATE t SET n = 100 WHERE id = 1");
  assert.deepEqual(db.run(upsert).rows, ["5|e|15"]);
  assert.equal(
    failure(db, "INSERT INTO t VALUES (8, 'h', 1), (8, 'i', 1) ON CONFLICT (id) DO UPDATE SET n = 0"),
    "21000 ON CONFLICT DO UPDATE command cannot affect row a second time",
  );
  assert.deepEqual(db.rows("SELECT id FROM t WHERE id = 8"), []);
});

Deno.test("UPDATE reads all rows first, changes each once, and moves ids at its end", () => {
  const db = open("CREATE TABLE t (id int PRIMARY KEY, a int); CREATE TABLE s (t int, v int)");
  db.run("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)");
  db.run("INSERT INTO s VALUES (1, 5), (1, 6), (3, 7)");
  db.run("UPDATE t SET a = (SELECT sum(a) FROM t)");
  assert.deepEqual(db.rows("SELECT * FROM t ORDER BY id"), ["1|60", "2|60", "3|60"]);
  assert.equal(db.run("UPDATE t SET a = v FROM s WHERE s.t = t.id").count, 2);
  assert.deepEqual(db.rows("SELECT id FROM t WHERE a IN (5, 6)"), ["1"]);
  assert.deepEqual(db.run("UPDATE t SET id = id + 1 RETURNING rowid").rows.toSorted(), ["2", "3", "4"]);
  assert.equal(failure(db, "UPDATE t SET id = 4 WHERE id = 2").slice(0, 5), "23505");
  db.run("UPDATE t SET id = 9 WHERE id = 2");
  assert.deepEqual(db.rows("SELECT id FROM t ORDER BY id"), ["3", "4", "9"]);
  assert.equal(db.run("DELETE FROM t USING s WHERE s.t = t.id RETURNING t.id, v").rows.length, 1);
});

const FAMILY = "CREATE TABLE p (id int PRIMARY KEY, code text UNIQUE); " +
  "CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p ON DELETE @ ON UPDATE @)";

function family(action: string, extra = ""): TestDatabase {
  const db = open(FAMILY.replaceAll("@", action).replace("p int REF", `p int ${extra} REF`));
  db.run("INSERT INTO p VALUES (0, 'zero'), (1, 'one'), (2, 'two')");
  db.run("INSERT INTO c VALUES (10, 1), (11, 1), (12, 2), (13, NULL)");
  return db;
}

Deno.test("FOREIGN KEY: a child needs its parent", () => {
  const db = family("NO ACTION");
  assert.equal(
    failure(db, "INSERT INTO c VALUES (20, 9)"),
    '23503 insert or update on table "c" violates foreign key constraint "c_p_fkey" / Key (p)=(9) is not present in table "p".',
  );
  assert.equal(failure(db, "UPDATE c SET p = 8 WHERE id = 13").slice(0, 5), "23503");
  assert.equal(db.run("INSERT INTO c VALUES (20, NULL)").count, 1);
});

Deno.test("FOREIGN KEY: NO ACTION and RESTRICT keep the parent", () => {
  for (const action of ["NO ACTION", "RESTRICT"]) {
    const db = family(action);
    assert.equal(
      failure(db, "DELETE FROM p WHERE id = 1"),
      '23503 update or delete on table "p" violates foreign key constraint "c_p_fkey" on table "c" / Key (id)=(1) is still referenced from table "c".',
    );
    assert.equal(failure(db, "UPDATE p SET id = id + 10").slice(0, 5), "23503");
    assert.equal(db.run("DELETE FROM p WHERE id = 0").count, 1);
    assert.equal(db.run("UPDATE p SET code = 'x' WHERE id = 1").count, 1);
  }
  // The key 1 exists again when NO ACTION is checked.
  const db = family("NO ACTION");
  db.run("DELETE FROM c WHERE p = 2");
  db.run("DELETE FROM p WHERE id = 0");
  assert.equal(db.run("UPDATE p SET id = id - 1").count, 2);
});

Deno.test("FOREIGN KEY: CASCADE, SET NULL and SET DEFAULT follow the parent", () => {
  const cascade = family("CASCADE");
  cascade.run("UPDATE p SET id = id + 5 WHERE id = 1");
  assert.deepEqual(cascade.rows("SELECT * FROM c ORDER BY id"), ["10|6", "11|6", "12|2", "13|"]);
  cascade.run("DELETE FROM p WHERE id = 6");
  assert.deepEqual(cascade.rows("SELECT * FROM c ORDER BY id"), ["12|2", "13|"]);
  const setNull = family("SET NULL");
  setNull.run("DELETE FROM p WHERE id = 1");
  assert.deepEqual(setNull.rows("SELECT * FROM c ORDER BY id"), ["10|", "11|", "12|2", "13|"]);
  const setDefault = family("SET DEFAULT", "DEFAULT 0");
  setDefault.run("DELETE FROM p WHERE id = 1");
  assert.deepEqual(setDefault.rows("SELECT * FROM c ORDER BY id"), ["10|0", "11|0", "12|2", "13|"]);
  assert.equal(failure(setDefault, "DELETE FROM p WHERE id = 0").slice(0, 5), "23503");
  const notNull = family("SET NULL");
  notNull.run("DELETE FROM c WHERE p IS NULL");
  notNull.run("ALTER TABLE c ALTER COLUMN p SET NOT NULL");
  assert.equal(failure(notNull, "DELETE FROM p WHERE id = 2").slice(0, 5), "23502");
});

Deno.test("FOREIGN KEY: chains, cycles and self references need no recursion", () => {
  const db = open("CREATE TABLE n (id int PRIMARY KEY, next int REFERENCES n ON DELETE CASCADE)");
  assert.equal(db.run("INSERT INTO n VALUES (1, 2), (2, 3), (3, 1)").count, 3);
  assert.equal(failure(db, "INSERT INTO n VALUES (4, 5), (5, 6)").slice(0, 5), "23503");
  assert.equal(db.run("DELETE FROM n WHERE id = 2").count, 1);
  assert.deepEqual(db.rows("SELECT * FROM n"), []);
  db.run("INSERT INTO n SELECT i, CASE WHEN i > 1 THEN i - 1 END FROM generate_series(1, 3000) AS g(i)");
  db.run("CREATE INDEX ON n (next)");
  db.run("DELETE FROM n WHERE id = 1");
  assert.deepEqual(db.rows("SELECT count(*) FROM n"), ["0"]);
});

Deno.test("FOREIGN KEY: composite keys, MATCH FULL and column lists", () => {
  const db = open(
    "CREATE TABLE p (a int, b text, PRIMARY KEY (a, b)); " +
      "CREATE TABLE c (x text, y int, z int DEFAULT 7, FOREIGN KEY (y, x) REFERENCES p (a, b) ON DELETE SET NULL (x)); " +
      "CREATE TABLE f (y int, x text, FOREIGN KEY (y, x) REFERENCES p MATCH FULL)",
  );
  db.run("INSERT INTO p VALUES (1, 'a'), (2, 'b')");
  db.run("INSERT INTO c VALUES ('a', 1), ('nope', NULL), (NULL, 5)");
  assert.match(failure(db, "INSERT INTO c VALUES ('b', 1)"), /Key \(y, x\)=\(1, b\) is not present/);
  assert.match(failure(db, "INSERT INTO f VALUES (1, NULL)"), /MATCH FULL does not allow mixing/);
  db.run("INSERT INTO f VALUES (NULL, NULL), (2, 'b')");
  db.run("DELETE FROM p WHERE a = 1");
  assert.deepEqual(db.rows("SELECT * FROM c ORDER BY y"), ["|1|7", "|5|7", "nope||7"]);
  assert.equal(failure(db, "DELETE FROM p WHERE a = 2").slice(0, 5), "23503");
});

Deno.test("RETURNING of DELETE and UPDATE sees rows of the own transaction", () => {
  const db = open("CREATE TABLE t (id int PRIMARY KEY, a text)");
  const transaction = db.begin();
  db.runIn(transaction, "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
  assert.deepEqual(db.runIn(transaction, "UPDATE t SET a = a || a WHERE id = 1 RETURNING *").rows, ["1|xx"]);
  assert.deepEqual(db.runIn(transaction, "DELETE FROM t WHERE id = 1 RETURNING *, rowid").rows, ["1|xx|1"]);
  assert.deepEqual(db.runIn(transaction, "DELETE FROM t RETURNING a").rows, ["y"]);
  db.manager.commit(transaction);
});

Deno.test("FOREIGN KEY: random statements leave no orphan, and indexes change nothing", () => {
  const schema =
    "CREATE TABLE a (id int PRIMARY KEY, up int REFERENCES a ON DELETE CASCADE ON UPDATE CASCADE); " +
    "CREATE TABLE b (id int PRIMARY KEY, a int DEFAULT 1 REFERENCES a ON DELETE SET NULL ON UPDATE CASCADE, u int UNIQUE); " +
    "CREATE TABLE c (b int REFERENCES b (u) ON DELETE SET DEFAULT ON UPDATE SET NULL, a int REFERENCES a)";
  const plain = open(schema);
  const indexed = open(
    `${schema}; CREATE INDEX ON a (up); CREATE INDEX ON b (a); CREATE INDEX ON c (b, a); CREATE INDEX ON c (a)`,
  );
  const random = new SeededRandom(20_261_120);
  const value = (): string => random.below(8) === 0 ? "NULL" : String(random.below(9));
  const statements: readonly (() => string)[] = [
    () => `INSERT INTO a VALUES (${random.below(9)}, ${value()}), (${random.below(9)}, ${value()})`,
    () => `INSERT INTO b VALUES (${random.below(9)}, ${value()}, ${value()})`,
    () => `INSERT INTO c VALUES (${value()}, ${value()})`,
    () => `DELETE FROM a WHERE id = ${random.below(9)}`,
    () => `DELETE FROM a WHERE id > ${random.below(9)}`,
    () => `DELETE FROM b WHERE u < ${random.below(9)}`,
    () => `UPDATE a SET id = id + ${random.below(3)} WHERE id > ${random.below(9)}`,
    () => `UPDATE b SET u = ${value()}, a = ${value()} WHERE id = ${random.below(9)}`,
    () => `UPDATE c SET a = ${value()} WHERE b = ${random.below(9)}`,
    () => "DELETE FROM c WHERE a > 5",
    () => `INSERT INTO a VALUES (${random.below(9)}) ON CONFLICT (id) DO UPDATE SET up = excluded.id`,
  ];
  let failed = 0;
  for (let round = 0; round < 250; round++) {
    const text = (statements[random.below(statements.length)] as () => string)();
    const before = contents(plain);
    const outcome = failure(plain, text);
    assert.equal(failure(indexed, text).slice(0, 5), outcome.slice(0, 5), text);
    if (outcome !== "no error") {
      failed++;
      assert.match(outcome, /^23(503|505)/, text);
      assert.deepEqual(contents(plain), before);
    }
    assert.deepEqual(contents(indexed), contents(plain), text);
    assert.deepEqual(
      plain.rows(
        "SELECT 'a' FROM a WHERE up IS NOT NULL AND up NOT IN (SELECT id FROM a) UNION ALL " +
          "SELECT 'b' FROM b WHERE a IS NOT NULL AND a NOT IN (SELECT id FROM a) UNION ALL " +
          "SELECT 'c' FROM c WHERE b IS NOT NULL AND b NOT IN (SELECT u FROM b WHERE u IS NOT NULL) UNION ALL " +
          "SELECT 'ca' FROM c WHERE a IS NOT NULL AND a NOT IN (SELECT id FROM a)",
      ),
      [],
      text,
    );
  }
  assert.ok(failed > 20 && failed < 230, `${failed} statements failed`);
});

Deno.test("FOREIGN KEY: a parent and a child that two transactions touch do not both get through", () => {
  const steps: readonly (readonly [string, string])[] = [
    ["DELETE FROM p WHERE id = 0", "INSERT INTO c VALUES (20, 0)"],
    ["INSERT INTO c VALUES (20, 0)", "DELETE FROM p WHERE id = 0"],
    ["UPDATE p SET id = 5 WHERE id = 0", "UPDATE c SET p = 0 WHERE id = 13"],
  ];
  for (const [first, second] of steps) {
    const db = family("NO ACTION");
    const transaction = db.begin();
    db.runIn(transaction, first);
    assert.throws(() => failure(db, second), { kind: "lock_wait" }, second);
    db.manager.commit(transaction);
    assert.match(failure(db, second), /^23503 /, second);
    assert.deepEqual(db.rows("SELECT p FROM c WHERE p IS NOT NULL AND p NOT IN (SELECT id FROM p)"), []);
  }
});

function contents(db: TestDatabase): readonly (readonly string[])[] {
  return ["SELECT * FROM a", "SELECT * FROM b", "SELECT * FROM c"].map((text) => db.rows(text).toSorted());
}
