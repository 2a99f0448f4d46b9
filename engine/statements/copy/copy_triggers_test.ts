/** COPY into tables with triggers does what INSERT does, batch by batch or row by row. */
import assert from "node:assert/strict";
import { TestClient } from "./client_for_test.ts";

const TABLE =
  "(id bigint PRIMARY KEY, n bigint, f float8, s text, v varchar(70), m numeric(30,2), b bool, y bytea, a int[], " +
  "g bigint GENERATED ALWAYS AS (n + 1) STORED, k int NOT NULL, u text UNIQUE, CHECK (n < 9000000000000000000))";
const TRIGGERS = [
  "CREATE TRIGGER a BEFORE INSERT ON @ FOR EACH ROW SET n = NEW.n * 3, s = upper(NEW.s) || NEW.id, b = NOT NEW.b",
  "CREATE TRIGGER b BEFORE INSERT ON @ FOR EACH ROW WHEN (NEW.id % 3 = 0) " +
  "SET n = NULL, s = NULL, v = left(repeat(coalesce(NEW.s, 'ä€😀'), 4), 70), m = NEW.n / 7.0, y = NULL, a = ARRAY[NEW.k, 1], f = NEW.n",
  "CREATE TRIGGER c BEFORE INSERT ON @ FOR EACH ROW WHEN (NEW.k IS NULL) SET k = 7",
  "CREATE TRIGGER d BEFORE INSERT ON @ FOR EACH ROW WHEN (NEW.s = 'BAD13') REJECT 'a bad row'",
];
const COLUMNS = "id, n, f, s, v, m, b, y, a, k, u";

function rowsOfData(count: number): string[][] {
  return Array.from({ length: count }, (_, index) => [
    `${index + 1}`,
    index % 5 === 0 ? "\\N" : `${index % 7 === 0 ? 2_500_000_000_000_000_000n : index}`,
    `${index / 4}`,
    index % 4 === 0 ? "\\N" : `täxt ${"long ".repeat(index % 30)}`,
    "v",
    "1.25",
    index % 2 === 0 ? "t" : "f",
    "\\\\xff00",
    "{1,2}",
    index % 6 === 0 ? "\\N" : `${index}`,
    `u${index}`,
  ]);
}

Deno.test("COPY runs BEFORE INSERT triggers as INSERT does, in batches, row by row and in a transaction", async () => {
  const client = await TestClient.open();
  const data = rowsOfData(200);
  const texts = data.map((row) => row.join("\t") + "\n");
  const values = data.map((row) =>
    `(${row.map((field) => field === "\\N" ? "NULL" : `'${field.replace("\\\\", "\\")}'`).join(", ")})`
  );
  const load = async (table: string, prepare: readonly string[], where = ""): Promise<string[]> => {
    await client.run(
      `CREATE TABLE ${table} ${TABLE}`,
      ...TRIGGERS.map((each) => each.replaceAll("@", table)),
    );
    await client.run(...prepare);
    await client.copyIn(`COPY ${table} (${COLUMNS}) FROM STDIN ${where}`, texts.join(""), 4096);
    await client.run("COMMIT");
    return await client.rows(`SELECT * FROM ${table} ORDER BY u`);
  };
  await client.run(`CREATE TABLE inserted ${TABLE}`);
  await client.run(...TRIGGERS.map((each) => each.replaceAll("@", "inserted")));
  await client.run(`INSERT INTO inserted (${COLUMNS}) VALUES ${values.join(", ")}`);
  const expected = await client.rows("SELECT * FROM inserted ORDER BY u");
  assert.equal(new Set(expected.map((row) => row.split("|")[3])).size > 50, true);
  assert.deepEqual(await load("batched", []), expected);
  assert.deepEqual(await load("in_block", ["BEGIN", "SELECT 1"]), expected);
  assert.deepEqual(await load("by_row", [], "WHERE id > 0"), expected);
  // A trigger that sets the id of the row.
  const moved = "CREATE TRIGGER z BEFORE INSERT ON moved FOR EACH ROW SET id = NEW.id + 1000";
  assert.deepEqual(
    (await load("moved", [moved])).map((row) => Number(row.split("|")[0]) - 1000),
    expected.map((row) => Number(row.split("|")[0])),
  );
  assert.deepEqual(await client.rows("SELECT count(*) FROM moved WHERE id = 1001"), ["1"]);
  await client.close();
});

Deno.test("COPY names the first line that a trigger, a check or a key refuses after the triggers", async () => {
  const client = await TestClient.open();
  await client.run(`CREATE TABLE t ${TABLE}`, ...TRIGGERS.map((each) => each.replaceAll("@", "t")));
  await client.run("CREATE TRIGGER e BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.id = 14) SET k = NULL, f = 1");
  await client.run("CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.id = 15) SET u = 'u1'");
  const line = (id: number, s: string): string => `${id}\t1\t1\t${s}\tv\t1\tt\t\\\\x00\t{}\t1\tu${id}\n`;
  const failure = (...lines: string[]): Promise<string> =>
    client.failure(client.copyIn(`COPY t (${COLUMNS}) FROM STDIN`, lines.join("")));
  const good = Array.from({ length: 12 }, (_, index) => line(index + 1, "s"));
  assert.match(await failure(...good, line(13, "bad"), line(1, "s")), /^P0001 a bad row.*COPY t, line 13/);
  assert.match(
    await failure(...good, line(14, "x"), line(13, "bad")),
    /^23502 null value in column "k".*Failing row contains \(14, 3, 1, X14, v, 1.00, f, \\x00, \{\}, 4, null, u14\).*COPY t, line 13/,
  );
  assert.match(await failure(...good, line(15, "x")), /^23505 .*"t_u_key".*COPY t, line 13/);
  await client.run("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.id = 16) SET id = 1");
  assert.match(await failure(...good, line(16, "x")), /^23505 .*"t_pkey".*COPY t, line 13/);
  assert.deepEqual(await client.rows("SELECT count(*) FROM t"), ["0"]);
  await client.close();
});
