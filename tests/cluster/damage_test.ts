/**
 * Damage in the files of tables: members fetch from others what they cannot read, whether a reader, the scrubber or a
 * start finds it, and the newest checkpoint where nobody has that very file.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type pg from "pg";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, eventually, type MemberProcess } from "./cluster_processes.ts";
import { expectEqualDirectories } from "./equal_members.ts";

const { dbd } = await compiledPrograms();
const SUMS = "SELECT count(*)::int AS n, sum(a)::int AS a, sum(length(b))::int AS b, max(b) AS m FROM t";
/** Blocks are read again by each query. */
const FLAGS = ["--checkpoint-log", "256KiB", "--block-cache", "1KiB"];

/** What a member's own state answers; the SQLSTATE of an error. */
async function ownAnswer(member: MemberProcess, sql: string): Promise<unknown> {
  let client: pg.Client | null = null;
  try {
    client = await member.follower();
    return (await client.query(sql)).rows;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** Runs it at whoever is the primary; a view may end at any time, and none of these statements minds being repeated. */
async function run(cluster: ClusterProcesses, sql: string): Promise<void> {
  for (;;) {
    const client = await connectPg(await cluster.primary());
    try {
      await client.query(sql);
      return;
    } catch (error) {
      if (!/^(57P0[13]|4000[13])$/.test((error as { code?: string }).code ?? "")) throw error;
    } finally {
      await client.close().catch(() => undefined);
    }
  }
}

/** Rows with an index, ended ones, and several segments. */
async function fill(cluster: ClusterProcesses, from: number, rounds: number): Promise<void> {
  if (from === 0) {
    await run(cluster, "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b text)");
    await run(cluster, "CREATE INDEX IF NOT EXISTS t_b ON t (b)");
  }
  for (let round = from; round < from + rounds; round++) {
    await run(
      cluster,
      `INSERT INTO t SELECT n, md5(n::text) || repeat('x', 100) FROM generate_series(${round * 1000}, ${
        round * 1000 + 999
      }) n ON CONFLICT DO NOTHING`,
    );
    await run(cluster, `DELETE FROM t WHERE a % 50 = ${round % 50}`);
    await run(cluster, "CHECKPOINT");
  }
}

/** Waits until all members have the newest checkpoint of the primary. */
async function settle(cluster: ClusterProcesses): Promise<void> {
  await cluster.level();
  const idOf = async (member: MemberProcess) =>
    JSON.stringify(await ownAnswer(member, "SELECT checkpoint_id FROM db_cluster WHERE is_self"));
  const expected = await idOf(await cluster.primary());
  match(expected, /[0-9a-f]{64}/);
  await eventually(async () => {
    const ids = await Promise.all(cluster.members.map(idOf));
    return ids.every((id) => id === expected);
  }, () => cluster.logs());
}

function filesOf({ directory }: MemberProcess, pattern: RegExp): string[] {
  return ["", "tables/"].flatMap((folder) =>
    [...Deno.readDirSync(`${directory}/${folder}`)].map(({ name }) => `${directory}/${folder}${name}`)
  ).filter((path) => pattern.test(path)).sort();
}

/** Flips a bit in the middle of a file. */
function rot(path: string): void {
  const bytes = Deno.readFileSync(path);
  const at = Math.floor(bytes.length * 0.4);
  bytes[at] = (bytes[at] ?? 0) ^ 16;
  // In place: the server has the file open.
  const file = Deno.openSync(path, { write: true });
  file.writeSync(bytes);
  file.close();
}

/** Stops all members, and compares their directories with the first one's. */
async function expectEqualWhenStopped(cluster: ClusterProcesses): Promise<void> {
  await settle(cluster);
  for (const member of cluster.members) strictEqual(await member.stop("SIGTERM"), 0, member.log);
  await expectEqualDirectories(dbd, cluster.members.map(({ directory }) => directory));
}

Deno.test("a flipped bit in a file of a table is repaired from the others, without a restart", async () => {
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: [...FLAGS, "--scrub-rate", "off"],
  });
  await fill(cluster, 0, 3);
  await settle(cluster);
  const primary = await cluster.primary();
  const expected = await ownAnswer(primary, SUMS);
  ok(Array.isArray(expected), String(expected));
  const backup = cluster.members.find((member) => member !== primary) as MemberProcess;
  for (const member of [backup, primary]) {
    const { processId } = member;
    for (const path of filesOf(member, /\.segment$/)) rot(path);
    const first = await ownAnswer(member, SUMS);
    ok(first === "XX001" || Array.isArray(first), String(first));
    await eventually(async () => Array.isArray(await ownAnswer(member, SUMS)), () => member.log);
    deepStrictEqual(await ownAnswer(member, SUMS), expected);
    strictEqual(member.processId, processId);
    match(member.log, /file "[^"]*tables\/[^"]*\.segment" is damaged: it will be fetched from others/);
    match(member.log, /file "[^"]*\.segment" was fetched from member \d and is whole again/);
  }
  await fill(cluster, 3, 1);
  await expectEqualWhenStopped(cluster);
});

Deno.test("a scrubber finds damage that nobody has read, in files of all kinds", async () => {
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: [...FLAGS, "--scrub-rate", "16MiB"],
  });
  await fill(cluster, 0, 3);
  await settle(cluster);
  const primary = await cluster.primary();
  const victim = cluster.members.find((member) => member !== primary) as MemberProcess;
  const paths = filesOf(victim, /(\.segment|\.index|\.deletions|\/state-[0-9a-f]+|\/MANIFEST-[0-9a-f]+)$/);
  ok(paths.length >= 6, paths.join());
  const before = paths.map((path) => Deno.readFileSync(path));
  for (const path of paths) rot(path);
  const isRepaired = () =>
    paths.every((path, index) => Deno.readFileSync(path).every((byte, at) => byte === before[index]?.[at]));
  await eventually(isRepaired, () => victim.log);
  await eventually(() => /manifest/.test(victim.log), () => victim.log);
  match(victim.log, /manifest \d+ in "[^"]*" is damaged; it is written anew/);
  await expectEqualWhenStopped(cluster);
});

Deno.test("a member whose files and manifest were damaged while it was away starts all the same", async () => {
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: FLAGS });
  await fill(cluster, 0, 2);
  const victim = cluster.members[1] as MemberProcess;
  for (const pattern of [/\/MANIFEST-[0-9a-f]+$/, /(\.deletions|\/state-[0-9a-f]+)$/]) {
    await cluster.level();
    await victim.stop("SIGTERM");
    for (const path of filesOf(victim, pattern)) rot(path);
    victim.start();
    await cluster.level();
    match(victim.log, /is damaged at byte offset \d+: [^\n]*; it will be fetched from others/);
  }
  // Files that no member has any more, because they were merged meanwhile, and that its own log asks for.
  await cluster.level();
  await victim.stop("SIGTERM");
  for (const path of filesOf(victim, /\.(segment|index)$/)) rot(path);
  await fill(cluster, 2, 6);
  victim.start();
  await cluster.level();
  await eventually(async () => Array.isArray(await ownAnswer(victim, SUMS)), () => victim.log);
  deepStrictEqual(await ownAnswer(victim, SUMS), await ownAnswer(await cluster.primary(), SUMS));
  match(victim.log, /no other member has the file|the checkpoint of op \d+ was fetched from member/);
  await expectEqualWhenStopped(cluster);
});

Deno.test("a killed member knows that the last entry of its log was lost, and fetches it", async () => {
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: FLAGS });
  await run(cluster, "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b text)");
  for (const victim of cluster.members) {
    await run(cluster, "CHECKPOINT");
    await run(cluster, `INSERT INTO t VALUES (${victim.index}, repeat('x', 300)) ON CONFLICT DO NOTHING`);
    await cluster.level();
    await victim.stop("SIGKILL");
    const logs = [...Deno.readDirSync(`${victim.directory}/log`)].map(({ name }) => name).sort();
    const path = `${victim.directory}/log/${logs.at(-1)}`;
    const bytes = Deno.readFileSync(path);
    const at = bytes.findLastIndex((byte) => byte !== 0) - 20;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    Deno.writeFileSync(path, bytes);
    victim.start();
    await cluster.level();
    match(victim.log, /log file "[^"]*" is damaged at byte offset \d+: op \d+ will be fetched from others/);
  }
  await expectEqualWhenStopped(cluster);
});
