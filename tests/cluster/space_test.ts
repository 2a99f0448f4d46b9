/**
 * Disks that fill up, and a member that was away for long: the others go on, and it catches up without anything lost.
 *
 * `AWAY_MIB` is how much is written while the member is away; the soak writes 10 GiB.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { reportNotRun } from "../../tools/not_run.ts";
import { run as runProgram } from "../../tools/project.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, eventually, type MemberProcess } from "./cluster_processes.ts";
import { loadOnce, untilDone } from "./until_done.ts";
import { expectEqual, expectEqualCheckpoints, expectEqualDirectories } from "./equal_members.ts";

const { dbd } = await compiledPrograms();
const AWAY_MIB = Number(Deno.env.get("AWAY_MIB") ?? 6);
const MIB = 1 << 20;
const FLAGS = ["--checkpoint-log", "256KiB"];

/** How long anything may take; more when more is written. */
const PATIENCE_MILLISECONDS = 120_000 + AWAY_MIB * 500;
/** What is loaded as one entry: few of them, so that few segments are merged later on. */
const LOAD_BYTES = Math.min(256, AWAY_MIB / 3) * MIB;
const ROW_BYTES = 1000;
/** What a backup may take, whatever it catches up with: the same as beside any other fault. */
const BACKUP_MEBIBYTES = 512;
/** A primary has what it loads in memory, rows and entry, until the entry is made, and garbage of it for a while. */
const PRIMARY_MEBIBYTES = BACKUP_MEBIBYTES + 5 * LOAD_BYTES / MIB;

/** Runs it at whoever is the primary. */
function run(cluster: ClusterProcesses, sql: string): Promise<readonly Record<string, unknown>[]> {
  return untilDone(async () => {
    const client = await connectPg(await cluster.primary());
    try {
      return await client.query(sql);
    } finally {
      await client.close();
    }
  });
}

/** Inserts about so many bytes, by so many rows at a time; a statement that was repeated does nothing. */
async function insert(cluster: ClusterProcesses, from: number, bytes: number, at = 100): Promise<number> {
  const rows = Math.ceil(bytes / ROW_BYTES);
  for (let first = from; first < from + rows; first += at) {
    await run(
      cluster,
      `INSERT INTO t SELECT n, repeat(md5(n::text), 30) FROM generate_series(${first}, ${
        first + at - 1
      }) n ON CONFLICT DO NOTHING`,
    );
  }
  return from + Math.ceil(rows / at) * at;
}

/** The rows from one number up to another, as COPY has them. */
function* lines(from: number, to: number): Generator<string> {
  for (let first = from; first < to; first += 1000) {
    let text = "";
    for (let n = first; n < Math.min(first + 1000, to); n++) {
      text += `${n}\t${createHash("md5").update(String(n)).digest("hex").repeat(30)}\n`;
    }
    yield text;
  }
}

/** Loads about so many bytes. */
async function load(cluster: ClusterProcesses, from: number, bytes: number): Promise<number> {
  const end = from + Math.ceil(bytes / ROW_BYTES);
  const rows = Math.ceil(LOAD_BYTES / ROW_BYTES);
  await using client = await connect({
    addresses: cluster.members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`),
  });
  for (let first = from; first < end; first += rows) {
    const next = Math.min(first + rows, end);
    await loadOnce(client, { table: "t", column: "a", first }, () => lines(first, next));
  }
  return end;
}

/** Waits until all are level, and counts the rows at each of them. */
async function expectRows(cluster: ClusterProcesses, rows: number): Promise<void> {
  await cluster.level(PATIENCE_MILLISECONDS);
  const count =
    "SELECT count(*)::int AS n, (count(*) FILTER (WHERE b = repeat(md5(a::text), 30)))::int AS same FROM t";
  for (const member of cluster.members) {
    let text = "";
    // What is committed is applied a little later.
    await eventually(async () => {
      text = await (await member.sql(count, { "X-Db-Read-From": "follower" })).text();
      return text.includes(`"n":${rows},"same":${rows}`);
    }, () => text);
  }
}

/** Each member has kept to its bounds, in all of its lives. */
function expectMemory({ members }: ClusterProcesses, victim: MemberProcess): void {
  for (const member of members) {
    const most = member === victim ? BACKUP_MEBIBYTES : PRIMARY_MEBIBYTES;
    const peak = member.peakMebibytes();
    ok(peak < most, `resident memory of member ${member.index}: ${peak} MiB, and ${most} are allowed`);
  }
}

async function mount(directory: string, options: string): Promise<boolean> {
  const { code } = await runProgram("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory])
    .catch(() => ({ code: 1 }));
  return code === 0;
}

Deno.test("a member whose disk is full waits, the others go on, and it catches up when there is space", async () => {
  let isPermitted = true;
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: FLAGS,
    prepare: async (directory) => {
      isPermitted = await mount(directory, `size=${256 * MIB}`) && isPermitted;
    },
  });
  try {
    if (!isPermitted) {
      reportNotRun("a member whose file system fills up", "mounting is not permitted");
      return;
    }
    await run(cluster, "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b text)");
    let next = await insert(cluster, 0, MIB);
    for (const who of ["backup", "primary", "both"] as const) {
      await cluster.level();
      const primary = await cluster.primary();
      const victims = cluster.members.filter((member) =>
        who === "both" || (member === primary) === (who === "primary")
      )
        .slice(0, who === "both" ? 2 : 1);
      if (who === "both") await expectViewWithoutSpace(cluster, victims);
      const processes = victims.map(({ processId }) => processId);
      for (const { directory } of victims) {
        const used = await usedBytes(directory);
        ok(await mount(directory, `remount,size=${used + MIB}`), "the file system shrinks");
      }
      const logged = victims.map(({ log }) => log.length);
      const inserting = insert(cluster, next, 2 * MIB);
      await eventually(
        () => victims.every(({ log }, index) => /no space/i.test(log.slice(logged[index]))),
        () => cluster.logs(),
      );
      // With two of three without space nothing can be acknowledged, but for what is there already.
      if (who === "both") await expectReads(victims);
      else next = await inserting;
      deepStrictEqual(victims.map(({ processId }) => processId), processes, "they go on");
      for (const { directory } of victims) {
        ok(await mount(directory, `remount,size=${256 * MIB}`), "the file system grows");
      }
      if (who === "both") next = await inserting;
      next = await insert(cluster, next, MIB / 4);
      await expectRows(cluster, next);
    }
    // Who has left checkpoints out has taken the primary's.
    await expectEqual(cluster);
    deepStrictEqual(cluster.bugs(), []);
  } finally {
    for (const member of cluster.members) {
      await member.stop("SIGKILL");
      await runProgram("umount", [member.directory]).catch(() => undefined);
    }
  }
});

/**
 * Two members enter a view together though neither has a byte to spare, when the third is lost. Their logs are equal:
 * an entry that one of them alone had space for may be committed, and then nobody can serve until the other has it.
 */
async function expectViewWithoutSpace(
  cluster: ClusterProcesses,
  full: readonly MemberProcess[],
): Promise<void> {
  for (const { directory } of full) {
    ok(await mount(directory, `remount,size=${await usedBytes(directory)}`), "the file system shrinks");
  }
  const other = cluster.members.find((member) => !full.includes(member));
  await other?.stop("SIGKILL");
  // A primary that was started again leaves its view, whatever else happens.
  const primary = await cluster.primary();
  const before = (await primary.health())?.view ?? 0;
  await primary.stop("SIGKILL");
  primary.start();
  await eventually(
    async () => ((await (await cluster.primary()).health())?.view ?? 0) > before,
    () => `no view has begun after ${before}:\n${cluster.logs()}`,
    60_000,
  );
  other?.start();
}

/** Members without space still say what they have. */
async function expectReads(members: readonly MemberProcess[]): Promise<void> {
  for (const member of members) {
    const client = await member.follower();
    await client.query("SET follower_max_staleness = -1");
    const { rows } = await client.query("SELECT count(*)::int AS n FROM t");
    ok(rows[0]?.n > 0);
    await client.end();
  }
}

async function usedBytes(directory: string): Promise<number> {
  const { code, stdout } = await new Deno.Command("df", { args: ["--output=used", "-B1", directory] })
    .output();
  strictEqual(code, 0);
  return Number(new TextDecoder().decode(stdout).trim().split("\n").at(-1));
}

/** What the newest transfer has brought: bytes that were sent, of all bytes of the checkpoint. */
function lastTransfer(member: MemberProcess): readonly [number, number] | null {
  const found = [...member.log.matchAll(/was fetched from member \d: (\d+) of (\d+) bytes/g)].at(-1);
  return found === undefined ? null : [Number(found[1]), Number(found[2])];
}

Deno.test("a member that was away for many changes gets a checkpoint, and the next time what has changed", async () => {
  const start = performance.now();
  const seconds: string[] = [];
  const passed = (what: string) =>
    void seconds.push(`${what} ${Math.round((performance.now() - start) / 1000)} s`);
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: FLAGS });
  const victim = cluster.members[2] as MemberProcess;
  await run(cluster, "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b text)");
  await run(cluster, "CREATE TABLE IF NOT EXISTS churn (a int PRIMARY KEY, b text)");
  // One entry that travels in pieces.
  await run(
    cluster,
    "INSERT INTO t SELECT n, repeat(md5(n::text), 30) FROM generate_series(0, 3999) n ON CONFLICT DO NOTHING",
  );
  await expectRows(cluster, 4000);
  await victim.stop("SIGKILL");
  let rows = await load(cluster, 4000, AWAY_MIB * MIB);
  await run(cluster, "CHECKPOINT");
  passed("loaded after");
  victim.start();
  await cluster.caughtUp(victim, PATIENCE_MILLISECONDS);
  passed("caught up after");
  await expectRows(cluster, rows);
  const first = lastTransfer(victim);
  ok(first !== null && first[0] > AWAY_MIB * MIB / 40, victim.log);

  // One row in a hundred, and much log that leaves little behind.
  await victim.stop("SIGKILL");
  rows = await insert(cluster, rows, AWAY_MIB * MIB / 100, Math.max(100, Math.ceil(AWAY_MIB / 10)));
  for (let round = 0; round < 40; round++) {
    await run(
      cluster,
      `INSERT INTO churn VALUES (1, repeat(md5('${round}'), 1000)) ON CONFLICT (a) DO UPDATE SET b = excluded.b`,
    );
  }
  await run(cluster, "TRUNCATE churn");
  await run(cluster, "CHECKPOINT");
  passed("one percent changed after");
  victim.start();
  await expectRows(cluster, rows);
  const second = lastTransfer(victim);
  ok(second !== null && second[1] > first[1], victim.log);
  ok(second[0] <= 0.05 * second[1], `${second[0]} of ${second[1]} bytes were sent`);

  await expectEqualCheckpoints(cluster, PATIENCE_MILLISECONDS);
  passed("equal checkpoints after");
  deepStrictEqual(cluster.bugs(), []);
  await Promise.all(cluster.members.map((member) => member.stop("SIGKILL")));
  await expectEqualDirectories(dbd, cluster.members.map(({ directory }) => directory));
  passed("equal files after");
  const peaks = cluster.members.map((member) => member.peakMebibytes()).join(", ");
  console.log(
    `${AWAY_MIB} MiB: ${first[0]} of ${first[1]} bytes were sent, then ${second[0]} of ${second[1]};`,
    `${seconds.join(", ")}; resident memory at most ${peaks} MiB`,
  );
  expectMemory(cluster, victim);
});
