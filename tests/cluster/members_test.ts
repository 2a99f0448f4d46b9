/** Three members as processes: clients of all protocols at each of them. */
import { deepStrictEqual, match } from "node:assert/strict";
import pg from "pg";
import { OperationClient } from "../../gateways/binary/client.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

const TOKEN = "secret";
const COUNT = "SELECT count(*)::int AS n FROM t";

/** A connection of node-postgres to a member. */
async function connectTo(member: MemberProcess, options?: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: member.host,
    port: member.port,
    user: "test",
    password: TOKEN,
    database: "test",
    ...(options === undefined ? {} : { options }),
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** What `/v1/sql` of a member answers. */
async function overHttp(
  member: MemberProcess,
  text: string,
  headers: Record<string, string> = {},
): Promise<string> {
  return await (await member.sql(text, { Authorization: `Bearer ${TOKEN}`, ...headers })).text();
}

Deno.test("members serve all protocols", async () => {
  const { dbd } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: ["--token", TOKEN] });
  const primary = await cluster.primary();
  const backups = cluster.members.filter((member) => member !== primary);
  const [first, second] = backups as [MemberProcess, MemberProcess];

  // Each protocol at each member, in one history.
  const clients = await Promise.all(cluster.members.map((member) => connectTo(member)));
  await clients[first.index]?.query("CREATE TABLE t (id int PRIMARY KEY, place text)");
  let rows = 0;
  for (const [index, member] of cluster.members.entries()) {
    await clients[index]?.query("INSERT INTO t VALUES ($1, 'pg')", [++rows]);
    const binary = await OperationClient.connect({ address: `127.0.0.1:${member.binaryPort}`, token: TOKEN });
    await binary.query(`INSERT INTO t VALUES (${++rows}, 'binary')`);
    await binary.close();
    match(await overHttp(member, `INSERT INTO t VALUES (${++rows}, 'http')`), /"affected":1/);
    deepStrictEqual((await clients[(index + 1) % 3]?.query(COUNT))?.rows, [{ n: rows }]);
  }
  // A follower reads where it is, and changes nothing.
  await cluster.level();
  const follower = await connectTo(first, "-c read_from=follower");
  deepStrictEqual((await follower.query(COUNT)).rows, [{ n: rows }]);
  match(
    String(await follower.query("DELETE FROM t").catch((error: unknown) => error)),
    /read-only transaction/,
  );
  match(await overHttp(second, COUNT, { "X-Db-Read-From": "follower" }), new RegExp(`"n":${rows}}`));

  for (const client of [...clients, follower]) await client.end().catch(() => {});
});
