/** Three members as processes: clients of all protocols at each of them, and members that do not fit. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import pg from "pg";
import { OperationClient } from "../../gateways/binary/client.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";
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
  const response = await fetch(`http://${member.host}:${member.httpPort}/v1/sql`, {
    method: "POST",
    headers: { "Content-Type": "text/plain", Authorization: `Bearer ${TOKEN}`, ...headers },
    body: text,
  });
  return await response.text();
}

/** Runs a server that is to end by itself; answers its exit code and its last line. */
async function misfit(dbd: string, args: readonly string[]): Promise<[number, string]> {
  const { code, stderr } = await runProgram(dbd, args);
  return [code, stderr.trim().split("\n").at(-1) ?? ""];
}

Deno.test("members serve all protocols, and those that do not fit end with one line", async () => {
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

  // Members that do not fit, beside those that run.
  const peers = cluster.members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`);
  const folder = await Deno.makeTempDir({ prefix: "misfit-" });
  const start = (options: {
    replica: number;
    peers?: readonly string[];
    token?: string;
    flags?: readonly string[];
    directory?: string;
  }) =>
    misfit(dbd, [
      ...["--replica", String(options.replica), "--peers", (options.peers ?? peers).join(",")],
      ...["--token", options.token ?? TOKEN, ...(options.flags ?? []), "127.0.0.1:0"],
      options.directory ?? `${folder}/${options.replica}`,
    ]);
  const last = cluster.members[2] as MemberProcess;
  const code = await last.stop("SIGTERM");
  strictEqual(code, 0);
  await using others = await ClusterProcesses.start({ dbd, memberCount: 3, flags: ["--token", TOKEN] });
  // The lower index dials.
  const stranger = others.members[0] as MemberProcess;
  await Promise.all(others.members.map((member) => member.stop("SIGTERM")));
  const superblock = await Deno.readFile(`${stranger.directory}/SUPERBLOCK-A`);
  const foreign = await start({ replica: 0, directory: stranger.directory });
  match(foreign[1], /^dbd: member \d at \S+ belongs to cluster [0-9a-f]{32}, this one to [0-9a-f]{32}/);
  strictEqual(foreign[0], 1);
  deepStrictEqual(await Deno.readFile(`${stranger.directory}/SUPERBLOCK-A`), superblock);
  const [same, more, token, index, settings] = await Promise.all([
    start({ replica: 0 }),
    start({ replica: 0, peers: [...peers, "127.0.0.1:1", "127.0.0.1:2"] }),
    start({ replica: 0, token: "wrong" }),
    start({ replica: 1, directory: last.directory }),
    start({ replica: 2, directory: last.directory, flags: ["--checkpoint-log", "1MiB"] }),
  ]);
  match(same[1], /^dbd: the member at \S+ is connected to another process that says that it is member 0/);
  match(more[1], /^dbd: member 1 at \S+ counts 3 members, this one 5/);
  match(token[1], /^dbd: member 1 at \S+ has another token/);
  match(index[1], /is of member 2, and --replica is 1$/);
  match(settings[1], /was made with another --checkpoint-log/);
  deepStrictEqual([same, more, token, index, settings].map(([exit]) => exit), [1, 1, 1, 1, 1]);
  // Nothing was written.
  deepStrictEqual([...Deno.readDirSync(folder)], []);
  await Deno.remove(folder, { recursive: true });
  const { log } = cluster.members[1] as MemberProcess;
  for (
    const line of [
      /another process, at \S+, says that it is member 0/,
      /counts 5 members, this one 3/,
      /has another token/,
      /member 0 at \S+ belongs to cluster/,
    ]
  ) {
    match(log, line);
  }
  // Those that run go on, and the one that was away comes back.
  last.start();
  await cluster.level();
  const back = await connectTo(last);
  deepStrictEqual((await back.query(COUNT)).rows, [{ n: rows }]);
  for (const client of [...clients, follower, back]) await client.end().catch(() => {});
});
