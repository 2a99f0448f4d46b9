/** Calls that workers compute: equal answers and errors, in all kinds of statements, and with large values. */
import { match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { largeValues } from "../execution/codegen/large_calls.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import type { Session } from "../session/session.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { formatText } from "../types/text_io.ts";
import { Workers } from "./workers.ts";
import { WorkersForTest, workersInThisThread } from "./workers_for_test.ts";

/** Takes the data of COPY as rows. */
class CopiedRows extends RowBuffer {
  override copyOutBegin(): void {}

  override copyOutData(bytes: Uint8Array): void {
    this.rows.push([new TextDecoder().decode(bytes)]);
  }
}

async function answer(session: Session, sql: string): Promise<string> {
  const sink = new CopiedRows();
  try {
    await session.simple(sql, sink, () => {});
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `${error.code} ${error.message} ${error.hint ?? ""} ${error.detail ?? ""}`;
  }
  const types = sink.columns.map(({ type }) => type);
  return sink.rows.map((row) =>
    row.map((value, index) => value === null ? "NULL" : formatText(types[index] ?? { kind: "text" }, value))
      .join("|")
  ).join("\n");
}

const SETUP = [
  "CREATE TABLE d (id INT PRIMARY KEY, t TEXT, b BYTEA, j JSONB, a TEXT[], n INT[], m NUMERIC[])",
  `INSERT INTO d SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'Text ' || i || ' — 😀 ' || i * i END, decode('00ff' || lpad(i::text, 4, '0'), 'hex'),
     jsonb_build_object('a', i, 'b', ARRAY[i, NULL, 2.50]), ARRAY['x', NULL, 'y' || i, ''], ARRAY[[i, 2], [3, 4]], ARRAY[1.0, 1.00, i]
   FROM generate_series(1, 12) AS i`,
  "CREATE TABLE w (id INT PRIMARY KEY, x TEXT, j JSONB CHECK (length(j::text) < 60), g TEXT GENERATED ALWAYS AS (upper(x)) STORED)",
];

/** Each runs in both engines, one after the other. */
const STATEMENTS = [
  "SELECT id, md5(t), upper(t), length(t), t LIKE '%1%', initcap(t), reverse(t) FROM d ORDER BY id",
  "SELECT id, regexp_replace(t, '(\\d)(\\d)', '<\\2\\1>', 'g') FROM d WHERE t ~ '(1|2).*😀' ORDER BY md5(t)",
  "SELECT encode(b, 'hex'), sha256(b), b || b, substring(b FROM 2), b::text FROM d ORDER BY b",
  "SELECT j || '{\"c\": [1]}', j -> 'b', j #>> '{b,2}', jsonb_pretty(j), j @> '{\"a\": 3}', j = '{\"a\": 3}' FROM d ORDER BY id",
  "SELECT array_to_string(a, ',', '*'), a || a, array_append(a, t), a::text, n::text, n || ARRAY[9, 9], m, m || 1.000, cardinality(n) FROM d ORDER BY id",
  "SELECT string_to_array(t, ' '), regexp_split_to_array(t, '\\s'), string_to_array('', ','), ''::bytea || ''::bytea, repeat('', 3) FROM d ORDER BY id",
  "SELECT t::jsonb FROM d WHERE id = 3",
  "SELECT CASE WHEN id = 7 THEN length(coalesce(t, 'none')) ELSE length(t) END FROM d",
  "SELECT id, coalesce(upper(t), '-'), nullif(lower(t), 'text 3') FROM d WHERE length(t) > 9 AND NOT upper(t) LIKE '%4%'",
  "SELECT length(t), count(*), string_agg(md5(t), ',' ORDER BY id) FROM d GROUP BY length(t) HAVING max(length(t)) > 2 ORDER BY 1",
  "SELECT a.id, b.id FROM d AS a JOIN d AS b ON md5(a.t) = md5(b.t) ORDER BY 1",
  "SELECT id, (SELECT max(upper(e.t)) FROM d AS e WHERE e.id <= d.id) FROM d WHERE EXISTS (SELECT 1 FROM d AS f WHERE reverse(f.t) = reverse(d.t))",
  "SELECT t, lag(upper(t)) OVER (ORDER BY md5(t)) FROM d",
  "SELECT to_char(now(), 'YYYY') = to_char(transaction_timestamp(), 'YYYY'), format('%s %L', t, a), concat(t, a) FROM d",
  "INSERT INTO w (id, x, j) SELECT id, upper(t), jsonb_set(j, '{a}', to_jsonb(length(t))) FROM d WHERE t IS NOT NULL RETURNING id, md5(x), g",
  "INSERT INTO w (id, x) VALUES (100, upper('a' || md5('b'))), (101, repeat('ab', 3))",
  "UPDATE w SET x = reverse(x), j = NULL WHERE md5(x) > '8' RETURNING id, x, g",
  "UPDATE w SET j = ('{\"long\": \"' || repeat('x', 100) || '\"}')::jsonb WHERE id = 2",
  "DELETE FROM w WHERE upper(x) LIKE '%1' RETURNING id",
  "INSERT INTO w (id, x) VALUES (2, md5('c')) ON CONFLICT (id) DO UPDATE SET x = upper(excluded.x || w.x) RETURNING *",
  "INSERT INTO w (id, x) SELECT id, upper(t) FROM d WHERE id = 2",
  "CREATE TABLE made AS SELECT id, upper(t) AS u, j - 'a' AS k FROM d",
  "SELECT * FROM made ORDER BY id",
  "SELECT * FROM w ORDER BY id",
  "BEGIN; UPDATE w SET x = upper(x); SELECT md5(x) FROM w; SELECT decode(x, 'hex') FROM w; SELECT 1",
  "ROLLBACK",
  "BEGIN",
  "DECLARE c CURSOR FOR SELECT upper(t), length(t) FROM d ORDER BY id",
  "FETCH 3 FROM c",
  "FETCH ALL FROM c",
  "COMMIT",
  "PREPARE p (text) AS SELECT upper($1), t FROM d WHERE lower(t) > lower($1)",
  "EXECUTE p('text 5')",
  "EXPLAIN (COSTS off) SELECT upper(t) FROM d",
  "DO $$ BEGIN UPDATE w SET x = md5(x) WHERE length(x) > 1; END $$",
  "SELECT md5(string_agg(x, '' ORDER BY id)) FROM w",
  "COPY (SELECT i, upper(repeat('x', 2000) || i) FROM generate_series(1, 100) AS i) TO STDOUT",
  "SELECT i, upper('x' || i) FROM generate_series(1, 100) AS i",
];

Deno.test("calls that workers compute answer as others do, whatever the statement", async () => {
  const { leastLength } = largeValues;
  largeValues.leastLength = -1;
  try {
    const workers = new WorkersForTest(memoryHost().disk, 2, { leastCallSteps: 0 });
    const [plain, spread] = [
      await Engine.open({ host: memoryHost(), directory: "data" }),
      await Engine.open({ host: memoryHost(), directory: "data", workers }),
    ];
    const here = plain.openSession(), there = spread.openSession();
    for (const sql of [...SETUP, ...STATEMENTS]) {
      const before = workers.calls;
      strictEqual(await answer(there, sql), await answer(here, sql), sql);
      if (/^(SELECT id|INSERT INTO w .* SELECT|UPDATE)/.test(sql)) {
        ok(workers.calls > before, `workers compute: ${sql}`);
      }
    }
    await plain.close();
    await spread.close();
  } finally {
    largeValues.leastLength = leastLength;
  }
});

Deno.test("values of megabytes travel in parts, and a call can be canceled or lose its worker", async () => {
  const { disk } = memoryHost();
  const start = workersInThisThread(disk);
  let lose = (): void => {};
  const workers = new Workers({
    count: 1,
    start: async (given) => {
      const port = await start(given);
      lose = () => given.failed(port, new DatabaseError("XX000", "it is gone"));
      return port;
    },
  });
  const engine = await Engine.open({ host: memoryHost(), directory: "data", workers });
  const session = engine.openSession();
  const large = "repeat('aß😀', 400000)";
  const turned = `SELECT length(reverse(${large})), reverse(${large}) = repeat('😀ßa', 400000)`;
  strictEqual(await answer(session, turned), "1200000|t");
  // Literals are read when the statement runs.
  const literal = `'[${"1, ".repeat(150_000)}2]'`;
  await answer(session, `CREATE TABLE t (id INT, j JSONB)`);
  const insert = (rows: string) => answer(session, `INSERT INTO t VALUES ${rows} RETURNING length(j::text)`);
  strictEqual(await insert(`(1, ${literal})`), "450003");
  strictEqual(await insert(`(2, ${literal}::jsonb - 1), (3, NULL)`), "450000\nNULL");
  strictEqual(await answer(session, `SELECT jsonb_array_length(${literal})`), "150001");
  match(
    await answer(session, `SELECT ${literal.replace("2]", "2")}::jsonb`),
    /^22P02 invalid input syntax for type json/,
  );
  const canceled = answer(session, turned);
  session.cancel();
  match(await canceled, /^57014 /);
  for (let rounds = 0; rounds < 3; rounds++) {
    const lost = answer(session, turned);
    for (let turns = 0; turns < rounds; turns++) await engine.yieldToLoop();
    lose();
    strictEqual(await lost, "1200000|t");
  }
  await engine.close();
});
