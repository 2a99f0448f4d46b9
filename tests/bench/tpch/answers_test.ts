/** The answers to TPC-H's queries at scale 0.01 are those of SQLite, and of PostgreSQL where it is installed. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type postgres from "postgres";
import { reportNotRun } from "../../../tools/not_run.ts";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import type { Peer } from "../benchmark.ts";
import { connect } from "../cases/client.ts";
import { ask, loadTables, SMOKE_SCALE, tpch } from "../cases/tpch.ts";
import { startDbd } from "../peers/dbd.ts";
import { startEmbedded } from "../peers/embedded.ts";
import { startPostgresql } from "../peers/postgresql.ts";
import { difference, type Rows } from "./answers.ts";
import { inSqlite } from "./sqlite_dialect.ts";
import { differencesInStates } from "./storage_states.ts";

/** `also` is done before the peer is stopped. */
async function answersOf(
  peer: Peer,
  also?: (client: postgres.Sql, answers: ReadonlyMap<string, Rows>) => Promise<void>,
): Promise<Map<string, Rows>> {
  const client = connect(peer);
  const answers = new Map<string, Rows>();
  try {
    await loadTables(client, SMOKE_SCALE);
    for (const [name, text] of Object.entries(TPCH_QUERIES)) answers.set(name, await ask(client, text));
    await also?.(client, answers);
  } finally {
    await client.end();
    await peer.stop();
  }
  return answers;
}

/** `deno task soak:tpch` asks for all. */
let inStates: string[] = [];
const ours = answersOf(await startDbd(), async (client, answers) => {
  inStates = await differencesInStates(client, answers, Deno.env.has("EVERY_STATE"));
});

Deno.test("TPC-H's answers at scale 0.01 are SQLite's", async () => {
  const peer = await startEmbedded("SQLite");
  if ("missing" in peer) throw new Error(peer.missing);
  try {
    // The benchmark's own way: it fills the peer and compares with the answers that it knows.
    for (const benchmark of tpch) await benchmark.embedded?.prepare(peer, "smoke");
    for (const [name, rows] of await ours) {
      const theirs = await peer.query(inSqlite(TPCH_QUERIES[name] ?? ""));
      strictEqual(difference(name, rows, theirs.rows), null, name);
    }
  } finally {
    await peer.stop();
  }
});

Deno.test("TPC-H's answers at scale 0.01 are PostgreSQL's", async () => {
  const postgresql = await startPostgresql();
  if (postgresql === null) {
    reportNotRun("TPC-H's answers against PostgreSQL", "its server is not installed");
    return;
  }
  const theirs = await answersOf(postgresql);
  for (const [name, rows] of await ours) {
    strictEqual(JSON.stringify(difference(name, rows, theirs.get(name) ?? [])), "null", name);
  }
});

Deno.test("TPC-H's answers at scale 0.01 are the same in every storage state", async () => {
  await ours;
  deepStrictEqual(inStates, []);
});

Deno.test("difference() finds other values, missing rows and another order", () => {
  strictEqual(difference("q1", [["a ", 1.5]], [["a", "1.500000000000"]]), null);
  strictEqual(difference("q1", [["1995-02-21"]], [["1995-02-21T00:00:00.000Z"]]), null);
  strictEqual(difference("q3", [["a"], ["b"]], [["b"], ["a"]]), null);
  match(difference("q1", [["a"], ["b"]], [["b"], ["a"]]) ?? "", /row 1 has a/);
  match(difference("q1", [["1.5"]], [["1.6"]]) ?? "", /row 1 has 1\.5 where 1\.6/);
  match(difference("q1", [], [["1.6"]]) ?? "", /0 rows instead of 1/);
});
