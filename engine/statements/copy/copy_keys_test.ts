/**
 * COPY into tables with unique indexes and foreign keys: what is refused and what is found, as with INSERT row by
 * row.
 */
import assert from "node:assert/strict";
import { LIMITS } from "../../base/limits.ts";
import { SeededRandom } from "../../base/random.ts";
import { memoryHost } from "../../host/memory_host.ts";
import { Engine } from "../../session/engine.ts";
import { RowBuffer } from "../row_buffer.ts";
import { TestClient } from "./client_for_test.ts";
import { CopiedText } from "../../../tests/support/copied_text.ts";

/** `stores`: what is loaded is kept in temporary files, of which none may be left. */
async function withClient(action: (client: TestClient) => Promise<void>, stores = false): Promise<void> {
  const host = memoryHost();
  const client = TestClient.over(await Engine.open({ host, directory: stores ? "db" : ":memory:" }));
  const limits = LIMITS as { transactionKeptBatchBytes: number };
  const kept = limits.transactionKeptBatchBytes;
  if (stores) limits.transactionKeptBatchBytes = -1;
  try {
    await action(client);
    const left = stores ? host.disk.list("db").filter((name) => name.endsWith(".tmp")) : [];
    assert.deepEqual(left, []);
  } finally {
    limits.transactionKeptBatchBytes = kept;
    await client.close();
  }
}

/** Tables with unique indexes of every kind; their columns are `a`, `b` and what else the index speaks of. */
const TABLES = [
  "CREATE TABLE u (a int, b int, PRIMARY KEY (a, b))",
  "CREATE TABLE u (a text PRIMARY KEY, b int UNIQUE)",
  "CREATE TABLE u (a int, b numeric UNIQUE NULLS NOT DISTINCT)",
  "CREATE TABLE u (a float8, b bytea, UNIQUE (b, a))",
  "CREATE TABLE u (a text, b int NOT NULL CHECK (b <> 7)); CREATE UNIQUE INDEX ON u (lower(a))",
  "CREATE TABLE u (a int, b int, g int GENERATED ALWAYS AS (a % 50) STORED UNIQUE); CREATE UNIQUE INDEX ON u (a) WHERE b > 15",
  "CREATE TABLE u (a int PRIMARY KEY, b int); CREATE UNIQUE INDEX ON u (b DESC)",
];

function quoted(value: string | null): string {
  return value === null ? "NULL" : `'${value}'`;
}

for (const [number, table] of TABLES.entries()) {
  Deno.test(`COPY names the row that INSERT would stop at: ${table}`, () =>
    withClient(async (client) => {
      const random = new SeededRandom(number + 1);
      let refused = 0;
      for (let round = 0; round < 30; round++) {
        await client.run("DROP TABLE IF EXISTS u", table);
        const range = 10 + random.below(60);
        const isText = table.includes("a text");
        const row = (): (string | null)[] => {
          const a = random.below(range);
          return [
            random.below(30) === 0 ? null : isText ? (a % 2 === 0 ? `K${a}` : `k${a}`) : `${a}`,
            random.below(30) === 0
              ? null
              : table.includes("bytea")
              ? `\\x0${a % 10}`
              : `${random.below(range)}`,
          ];
        };
        const insert = (values: readonly (string | null)[]): Promise<string> =>
          client.failure(`INSERT INTO u (a, b) VALUES (${values.map(quoted).join(", ")})`);
        const before = Array.from({ length: random.below(8) }, row);
        for (const values of before) await insert(values);
        // A part of the rows in a segment or the delta, a part of them in the transaction itself.
        await client.run("BEGIN");
        if (round % 3 === 1) {
          await client.failure(
            `SAVEPOINT s; INSERT INTO u (a, b) VALUES ('1', '${table.includes("bytea") ? "\\x01" : "1"}')`,
          );
          if (client.session.block?.failed === true) await client.run("ROLLBACK TO s");
        }
        await client.run("SAVEPOINT loaded");
        const rows = Array.from({ length: 3 + random.below(14) }, row);
        let expected = "no error";
        for (const [line, values] of rows.entries()) {
          const failure = await insert(values);
          if (failure === "no error") continue;
          expected = `${failure} / COPY u, line ${line + 1}`;
          break;
        }
        const inserted = expected === "no error" ? await client.rows("SELECT a, b FROM u ORDER BY a, b") : [];
        await client.run("ROLLBACK TO loaded");
        const data = rows.map((values) =>
          values.map((value) => value === null ? "\\N" : value.replace("\\", "\\\\")).join("\t") + "\n"
        );
        const half = round % 2 === 0 ? rows.length : rows.length >> 1;
        let actual = await client.failure(
          client.copyIn("COPY u (a, b) FROM STDIN", data.slice(0, half).join("")),
        );
        if (actual === "no error" && half < rows.length) {
          actual = await client.failure(client.copyIn("COPY u (a, b) FROM STDIN", data.slice(half).join("")));
          actual = actual.replace(/(?<=line )\d+$/, (line) => `${Number(line) + half}`);
        }
        assert.equal(actual, expected, data.join(""));
        if (expected === "no error") {
          assert.deepEqual(await client.rows("SELECT a, b FROM u ORDER BY a, b"), inserted);
          await client.run("COMMIT");
          assert.deepEqual(await client.rows("SELECT a, b FROM u ORDER BY a, b"), inserted);
        } else {
          refused++;
          await client.run("ROLLBACK");
        }
      }
      assert.ok(refused > 3 && refused < 30, `${refused} of 30 loads refused`);
    }, number % 2 === 1));
}

Deno.test("COPY keeps rows in a file, which later statements and savepoints see, until its transaction ends", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE p (id int PRIMARY KEY, b text); CREATE TABLE q (a int, b text UNIQUE)");
    const data = (from: number, count: number): string =>
      Array.from({ length: count }, (_, row) => `${from + row}\tb${from + row}\n`).join("");
    const sums = (): Promise<readonly string[]> =>
      client.rows("SELECT count(*), sum(id), min(b) FROM p UNION ALL SELECT count(*), sum(a), min(b) FROM q");
    await client.run("BEGIN");
    for (const table of ["p", "q"]) await client.copyIn(`COPY ${table} FROM STDIN`, data(1, 17_000));
    const loaded = ["17000|144508500|b1", "17000|144508500|b1"];
    assert.deepEqual(await sums(), loaded);
    assert.deepEqual(
      await client.rows("SELECT p.b, q.a FROM p, q WHERE p.id = 16500 AND q.b = 'b16999'"),
      ["b16500|16999"],
    );
    await client.run("SAVEPOINT s");
    assert.match(
      await client.failure(client.copyIn("COPY q FROM STDIN", data(16_999, 2))),
      /^23505 .*\(b\)=\(b16999\)/s,
    );
    await client.run("ROLLBACK TO s");
    await client.copyIn("COPY p FROM STDIN", data(50_000, 100));
    await client.run("UPDATE q SET a = 0 WHERE a > 10000; ROLLBACK TO s");
    assert.deepEqual(await sums(), loaded);
    await client.run("DELETE FROM p WHERE id > 10; UPDATE q SET b = 'x' || b WHERE a = 2; COMMIT");
    assert.deepEqual(await sums(), ["10|55|b1", "17000|144508500|b1"]);
    const swapped = data(100_001, 17_000).replaceAll("100001\t", "120001\t");
    await client.run("CREATE TABLE w (a int)");
    const others = [60_050, 60_500].map((id) => ({ id, session: client.engine.openSession() }));
    for (const { id, session } of others) {
      await session.simple(`BEGIN; SELECT b FROM p WHERE id = ${id}`, new RowBuffer(), () => {});
    }
    assert.equal(await client.copyIn("COPY p FROM STDIN", data(60_000, 100) + swapped), "COPY 17100");
    const late = others.map(({ session }) => inSession(client, session, "INSERT INTO w VALUES (1); COMMIT"));
    assert.deepEqual((await Promise.all(late)).map((failure) => failure.slice(0, 5)), ["40001", "no er"]);
    const twice = await client.failure(
      client.copyIn("COPY p FROM STDIN", data(5_000, 17_000) + data(7_000, 1)),
    );
    assert.match(twice, /^23505 .*\(id\)=\(7000\).*line 17001$/s);
    await client.run("ALTER TABLE q ADD COLUMN c int GENERATED ALWAYS AS (a + 1) STORED");
    await client.copyIn("COPY q (a, b) FROM STDIN", data(80_000, 100));
    assert.deepEqual(await client.rows("SELECT count(*), sum(c - a) FROM q"), ["17100|17100"]);
    await client.run("BEGIN");
    await client.copyIn("COPY q (a, b) FROM STDIN", data(200_000, 100));
    await client.run("ROLLBACK; CREATE TABLE r AS SELECT * FROM q");
    assert.deepEqual(await client.rows("SELECT count(*), max(b) FROM r"), ["17100|xb2"]);
  }, true));

Deno.test("COPY finds a repeated key many batches later, and committed keys among many", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE k (a int, b text, PRIMARY KEY (b, a))");
    const line = (row: number): string => `${row % 7}\tkey ${(row * 7919) % 50_021}\n`;
    const lines = Array.from({ length: 50_000 }, (_, row) => line(row));
    const failed = await client.failure(client.copyIn("COPY k FROM STDIN", [...lines, line(3)].join("")));
    assert.match(failed, /^23505 .*Key \(b, a\)=\(key 23757, 3\) already exists.*COPY k, line 50001$/s);
    assert.equal(await client.copyIn("COPY k FROM STDIN", lines.slice(0, 49_999).join("")), "COPY 49999");
    const again = await client.failure(client.copyIn("COPY k FROM STDIN", lines[49_999] + line(41_000)));
    assert.match(again, /^23505 .*Key \(b, a\)=\(key 42710, 1\) already exists.*COPY k, line 2$/s);
    assert.deepEqual(await client.rows("SELECT a FROM k WHERE b = 'key 23757'"), ["3"]);
    assert.deepEqual(await client.rows("SELECT count(*) FROM k"), ["49999"]);
  }, true));

for (const end of ["COMMIT", "ROLLBACK"]) {
  Deno.test(`COPY waits for an open transaction that has written one of its keys: ${end}`, () =>
    withClient(async (client) => {
      await client.run("CREATE TABLE k (a text PRIMARY KEY, b int)");
      const other = client.engine.openSession();
      await other.simple("BEGIN; INSERT INTO k VALUES ('x', 1)", new RowBuffer(), () => {});
      let ended = false;
      const copy = client.failure(client.copyIn("COPY k FROM STDIN", "w\t2\nx\t2\n")).finally(() =>
        ended = true
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(ended, false);
      await other.simple(end, new RowBuffer(), () => {});
      assert.match(await copy, end === "COMMIT" ? /^23505 .*Key \(a\)=\(x\) already exists/s : /^no error/);
      assert.deepEqual(
        await client.rows("SELECT * FROM k ORDER BY a"),
        end === "COMMIT" ? ["x|1"] : ["w|2", "x|2"],
      );
    }));
}

/** Runs a statement in another session; answers its failure. */
function inSession(client: TestClient, session: TestClient["session"], text: string): Promise<string> {
  const run = async (): Promise<void> => {
    await session.simple(text, new RowBuffer(), () => {});
  };
  return client.failure(run());
}

/** Runs COPY in another session; answers its failure. */
function copyInSession(client: TestClient, session: TestClient["session"], data: string): Promise<string> {
  const run = async (): Promise<void> => {
    await session.simple("COPY k FROM STDIN", new CopiedText(data), () => {});
  };
  return client.failure(run());
}

for (const [type, key] of [["int PRIMARY KEY", 5], ["text PRIMARY KEY", "'5'"], ["int UNIQUE", 5]] as const) {
  for (const stores of [false, true]) {
    Deno.test(`Who writes a key that a load has brought waits for its end: ${type}, ${stores}`, () =>
      withClient(async (client) => {
        await client.run(`CREATE TABLE k (a ${type}, b int)`, "CREATE TABLE other (a int)");
        for (const end of ["COMMIT", "ROLLBACK", "ROLLBACK TO s"]) {
          const [row, load, free] = Array.from({ length: 3 }, () => client.engine.openSession());
          if (row === undefined || load === undefined || free === undefined) return;
          await client.run("TRUNCATE k", "BEGIN; SAVEPOINT s");
          await client.copyIn("COPY k FROM STDIN", "7\t1\n3\t1\n5\t1\n");
          await client.copyIn("COPY k FROM STDIN", "8\t1\n9\t1\n");
          const level = "BEGIN ISOLATION LEVEL READ COMMITTED";
          const waiting = [
            inSession(client, row, `${level}; SELECT * FROM other; INSERT INTO k VALUES (${key}, 2)`),
            copyInSession(client, load, "1\t2\n8\t2\n"),
          ];
          assert.equal(
            await inSession(client, free, "INSERT INTO k VALUES ('4', 1), ('6', 2), (NULL, 2)")
              .then((failure) => failure.slice(0, 5)),
            type.includes("UNIQUE") ? "no er" : "23502",
          );
          const settled = Promise.race(waiting).then(() => true);
          const later = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 5));
          assert.equal(await Promise.race([settled, later]), false);
          await client.run(end);
          const failures = (await Promise.all(waiting)).map((failure) => failure.slice(0, 5));
          assert.deepEqual(failures, end === "COMMIT" ? ["23505", "23505"] : ["no er", "no er"]);
          assert.equal(await inSession(client, row, "COMMIT"), "no error");
          await client.run("COMMIT");
          await client.engine.whenDurable(client.engine.lastOp);
          const left = end === "COMMIT" ? "3,5,7,8,9" : "1,5,8";
          assert.deepEqual(
            await client.rows(
              "SELECT string_agg(a::text, ',' ORDER BY a::text) FROM k WHERE a::text NOT IN ('4', '6')",
            ),
            [left],
          );
          for (const session of [row, load, free]) session.close();
        }
      }, stores));
  }
}

Deno.test("A load brings an id again that its transaction has deleted, whatever others write to the table", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE k (a int PRIMARY KEY, b int); INSERT INTO k VALUES (1, 1), (2, 1)");
    const other = client.engine.openSession();
    await client.run("BEGIN ISOLATION LEVEL READ COMMITTED; DELETE FROM k WHERE a = 1");
    await client.copyIn("COPY k FROM STDIN", "1\t2\n");
    assert.equal(await inSession(client, other, "UPDATE k SET b = 3 WHERE a = 2"), "no error");
    assert.equal(await client.run("COMMIT"), "COMMIT");
    assert.deepEqual(await client.rows("SELECT * FROM k ORDER BY a"), ["1|2", "2|3"]);
  }));

Deno.test("A load matters to who has read where it puts rows, and to nobody else", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE k (a int PRIMARY KEY, b int); CREATE INDEX ON k (b); CREATE TABLE other (a int)",
    );
    await client.run("INSERT INTO k SELECT i, i FROM generate_series(1, 50) i");
    const reader = client.engine.openSession();
    const reads = [["b = 7", "no er"], ["b = 8", "40001"], ["a < 60", "no er"], ["b > 99", "no er"]] as const;
    for (const [read, outcome] of reads) {
      await client.run("DELETE FROM k WHERE a > 50");
      assert.equal(await inSession(client, reader, `BEGIN; SELECT sum(b) FROM k WHERE ${read}`), "no error");
      await client.copyIn("COPY k FROM STDIN", "61\t8\n62\t9\n");
      const failure = await inSession(client, reader, "INSERT INTO other VALUES (1); COMMIT");
      assert.equal(failure.slice(0, 5), outcome, read);
      await inSession(client, reader, "ROLLBACK");
      // What it has lost by is forgotten.
      await inSession(client, reader, "BEGIN; SELECT 1; COMMIT");
    }
  }));

Deno.test("COPY waits for who deletes the row that has its id", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE k (a int PRIMARY KEY, b text UNIQUE); INSERT INTO k VALUES (1, 'x'), (2, 'y')",
    );
    const [id, key] = [client.engine.openSession(), client.engine.openSession()];
    await client.run("BEGIN; DELETE FROM k");
    const loads = [copyInSession(client, id, "1\tz\n"), copyInSession(client, key, "3\ty\n")];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await client.run("COMMIT");
    assert.deepEqual(await Promise.all(loads), ["no error", "no error"]);
    assert.deepEqual(await client.rows("SELECT * FROM k ORDER BY a"), ["1|z", "3|y"]);
  }));

Deno.test("A row written while a load commits in steps does not repeat its key", () =>
  withClient(async (client) => {
    const count = 60_000;
    const lines = Array.from({ length: count }, (_, row) => `key ${row}\t${row}\n`).join("");
    const seen = new Set<string>();
    for (const turns of [1, 6, 12, 18, 24, 30]) {
      await client.run("DROP TABLE IF EXISTS k", "CREATE TABLE k (a text PRIMARY KEY, b int)");
      const other = client.engine.openSession();
      await client.run("BEGIN");
      await client.copyIn("COPY k FROM STDIN", lines);
      const committed = client.failure("COMMIT");
      for (let turn = 0; turn < turns; turn++) await client.engine.yieldToLoop();
      const row = await inSession(client, other, "BEGIN; INSERT INTO k VALUES ('key 5', -1); COMMIT");
      const loaded = await committed === "no error";
      assert.equal(row === "no error", !loaded, `${turns} turns: ${row}`);
      const rows = loaded ? count : 1;
      assert.deepEqual(await client.rows("SELECT count(*), count(DISTINCT a) FROM k"), [`${rows}|${rows}`]);
      seen.add(loaded ? "load" : "row");
      other.close();
    }
    assert.ok(seen.has("load"));
  }));

Deno.test("COPY looks for parents in the table, in its own transaction and among its own rows", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE p (a int, b text, PRIMARY KEY (a, b))",
      "CREATE TABLE c (id int PRIMARY KEY, a int, b text, up int REFERENCES c, FOREIGN KEY (a, b) REFERENCES p)",
      "INSERT INTO p VALUES (-1, 'old')",
    );
    const count = 20_000;
    const parents = Array.from({ length: count }, (_, row) => `${row}\tp${row}\n`).join("");
    const child = (row: number): string =>
      `${row}\t${row % count}\tp${row % count}\t${(row * 17) % (2 * count)}\n`;
    const children = Array.from({ length: 2 * count }, (_, row) => child(row)).join("");
    const failed = await client.failure(client.copyIn("COPY c FROM STDIN", "1\t-1\told\t1\n2\t0\tp0\t\\N\n"));
    assert.match(failed, /^23503 .*Key \(a, b\)=\(0, p0\) is not present in table "p"/s);
    await client.run("BEGIN");
    assert.equal(await client.copyIn("COPY p FROM STDIN", parents), `COPY ${count}`);
    assert.equal(await client.copyIn("COPY c FROM STDIN", children), `COPY ${2 * count}`);
    await client.run("SAVEPOINT s");
    const missing = await client.failure(client.copyIn("COPY c FROM STDIN", "-1\t1\tp1\t-2\n"));
    assert.match(missing, /^23503 .*Key \(up\)=\(-2\) is not present in table "c"/s);
    await client.run("ROLLBACK TO s", "COMMIT");
    assert.deepEqual(await client.rows("SELECT count(*) FROM c JOIN p USING (a, b)"), [`${2 * count}`]);
  }));
