/** What an operator sees of shards: db_shards, metrics, EXPLAIN. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { metricsText, RequestCounters } from "../../gateways/http/metrics.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DeafShards } from "./deaf_shards.ts";
import { openShards } from "./sharded_database.ts";

/** The JSON of a gather beneath an aggregate. */
interface Explained {
  readonly Route: string;
  readonly Plan: {
    readonly "Node Type": string;
    readonly "Partial Mode": string;
    readonly Plans: [{ readonly "Node Type": string; readonly Shards: readonly Record<string, number>[] }];
  };
}

const SETUP = [
  "CREATE TABLE t (id INT PRIMARY KEY, a INT, b NUMERIC)",
  "INSERT INTO t SELECT n, n % 10, n FROM generate_series(1, 400) n",
];

Deno.test("db_shards shows how far a shard that does not answer is behind, and does not wait for it", async () => {
  const shards = new DeafShards();
  const engine = await shards.open();
  const client = TestClient.over(engine);
  await client.run(...SETUP);
  const lags = () => client.rows("SELECT shard, lag_operations, rows > 0 FROM db_shards ORDER BY shard");
  deepStrictEqual(await lags(), ["0|0|t", "1|0|t", "2|0|t", "3|0|t"]);
  shards.deaf.add(2);
  // New rows need nobody's vote: the deaf one has been told, and has not heard.
  for (let id = 1001; id <= 1020; id++) await client.run(`INSERT INTO t VALUES (${id}, 1, 1)`);
  const behind = await client.rows("SELECT shard, lag_operations > 1 FROM db_shards ORDER BY shard");
  deepStrictEqual(behind, ["0|f", "1|f", "2|t", "3|f"]);
  shards.wake();
  deepStrictEqual(await lags(), ["0|0|t", "1|0|t", "2|0|t", "3|0|t"]);
  // A cursor may not stop in the middle: it looks first.
  await client.run("BEGIN", "DECLARE c CURSOR FOR SELECT 5 AS n UNION ALL SELECT shard FROM db_shards");
  deepStrictEqual(await client.rows("FETCH 1 FROM c"), ["5"]);
  deepStrictEqual((await client.rows("FETCH ALL FROM c")).sort(), ["0", "1", "2", "3"]);
  await client.run("COMMIT");
  const numbers = {
    version: "1",
    connections: 0,
    webSockets: 0,
    requestsInFlight: 0,
    uptimeSeconds: 1,
    residentBytes: 1,
    heapBytes: 1,
    turns: null,
    others: {},
  };
  const text = metricsText(engine, new RequestCounters(), numbers);
  const rows = [...text.matchAll(/^db_shard_rows\{shard="(\d)"\} (\d+)$/gm)];
  deepStrictEqual(rows.map(([, shard]) => shard), ["0", "1", "2", "3"]);
  strictEqual(rows.reduce((sum, [, , count]) => sum + Number(count), 0), 420);
  match(text, /# TYPE db_shard_requests_total counter\ndb_shard_requests_total\{shard="0"\} [1-9]/);
  match(text, /db_shard_lag_operations\{shard="3"\} 0\n/);
  await client.close();
});

Deno.test("EXPLAIN names an aggregate once, and says what is partial and what is final", async () => {
  await using database = await openShards(4);
  for (const sql of SETUP) await database.execute(sql);
  const plan = async (sql: string): Promise<string> =>
    (await database.query(`EXPLAIN (COSTS OFF) ${sql}`)).map((row) => row["QUERY PLAN"]).join("\n");
  strictEqual(
    await plan(
      "SELECT a, sum(b) FROM t GROUP BY a HAVING count(*) FILTER (WHERE b > 3) > 1 ORDER BY avg(b), sum(b) LIMIT 3",
    ),
    `Limit
  Count: 3
  ->  Top-N Sort
      Sort Key: avg(b), sum(b)
      Limit: 3
        ->  Filter
            Filter: (count(*) FILTER (WHERE (b > 3)) > 1)
              ->  Finalize HashAggregate
                  Group Key: a
                    ->  Gather (shards 0-3)
                          Fragment 1
                          ->  Partial HashAggregate
                              Group Key: a
                                ->  Seq Scan on t
Route: gather (shards 0-3)`,
  );
  // Functions that ask the session for no more than travels along run at the shards.
  for (
    const condition of ["to_jsonb(now()) IS NOT NULL", "format('%s', a) = '3'", "(ARRAY[now()])::text <> ''"]
  ) {
    match(
      await plan(`SELECT id FROM t WHERE ${condition}`),
      /Fragment 1\n.*Seq Scan on t\n.*Filter: /,
      condition,
    );
  }
  match(await plan("SELECT id FROM t WHERE concat(a::oid::regclass) <> ''"), /^Filter\n(.*\n)*.*Fragment 1/);
  match(await plan("UPDATE t SET a = 1 WHERE a = 2"), /Route: fetch \(shards 0-3\)$/);
  match(await plan("INSERT INTO t VALUES (7, 7, 7)"), /Route: one shard of 4 \(new row\)$/);
  match(await plan("INSERT INTO t VALUES (7, 7, 7), (8, 8, 8)"), /Route: new rows \(shards 0-3\)$/);
  match(
    await plan("INSERT INTO t SELECT id + 1000, a, b FROM t"),
    /Route: gather \(shards 0-3\)$|Route: fetch/,
  );
  const [row] = await database.query("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT sum(b) FROM t");
  const shown = row?.["QUERY PLAN"];
  const [whole] = (typeof shown === "string" ? JSON.parse(shown) : shown) as Explained[];
  strictEqual(whole?.Route, "gather (shards 0-3)");
  const { Plan: final } = whole;
  deepStrictEqual([final["Node Type"], final["Partial Mode"]], ["Aggregate", "Finalize"]);
  const [gather] = final.Plans;
  strictEqual(gather["Node Type"], "Gather");
  const places = gather.Shards;
  deepStrictEqual(
    places.map(({ Shard, Rows, Batches }) => [Shard, Rows, Batches]),
    [0, 1, 2, 3].map((n) => [n, 1, 1]),
  );
  ok(places.every(({ Bytes = 0, Time }) => Bytes > 0 && Time === undefined));
});
