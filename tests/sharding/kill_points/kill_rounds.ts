/**
 * Kills a server of shards, or the primary of a cluster of such servers, at one step of a commit after the other
 * (`kill_point.ts`), while clients that ask again work (`once_load.ts`), and checks all that they were told.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { freePort } from "../../bench/peers/process.ts";
import { ClusterProcesses, type MemberProcess, type ServerProgram } from "../../cluster/cluster_processes.ts";
import { runProgram } from "../../support/programs.ts";
import { seededRandom } from "../../support/random.ts";
import { ServerProcess } from "../../support/server_process.ts";
import { killableServer } from "./build.ts";
import { type KillOrder, orderFile } from "./kill_point.ts";
import { type Addresses, makeTables, OnceLoad, type Query } from "./once_load.ts";

/** How often, and where. */
export interface KillRounds {
  readonly shards: number;
  /** Members of a cluster; 1: a server alone. */
  readonly members: number;
  readonly clients: number;
  readonly seed: number;
  /** The steps, in this order. */
  readonly points: readonly string[];
  /** Told after each kill. */
  readonly onKill?: (point: string) => void;
}

/** What has come of it. */
export interface KillReport {
  readonly kills: number;
  /** Steps that nobody came to within the time, so that the server was killed anywhere. */
  readonly missed: readonly string[];
  readonly done: number;
  readonly lost: number;
  readonly repeated: number;
}

/** A step that is not come to within this time is given up; while it starts it comes there soon or not at all. */
const PATIENCE_MILLISECONDS = 60_000;
const START_PATIENCE_MILLISECONDS = 3_000;
const MAX_PASSES = 6;
/** Every so often the server is killed while it starts, too. */
const STARTS = 6;
/** Small, so that checkpoints come in between. */
const FLAGS = ["--checkpoint-log", "64KiB"];

/** What is killed. */
interface Killed extends AsyncDisposable {
  readonly addresses: Addresses;
  query: Query;
  /** Where the process keeps its data that is going to be killed next. */
  victim(): Promise<string>;
  /** Resolves when it has ended, or false after the time. */
  ended(milliseconds: number): Promise<boolean>;
  kill(): Promise<void>;
  /** Starts it again; without `waits` it may end before it is ready. */
  restart(waits: boolean): Promise<void>;
  /** Stops it, and checks all that is on disk. */
  finish(): Promise<void>;
}

async function queryAt(port: number, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "test", database: "test" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const answer = await client.query(sql) as unknown as pg.QueryResult | pg.QueryResult[];
    return (Array.isArray(answer) ? answer.at(-1)?.rows : answer.rows) ?? [];
  } finally {
    await client.end();
  }
}

async function verify(directory: string): Promise<void> {
  const program = new URL("../../../cli/dbd.ts", import.meta.url).pathname;
  const { code, stderr } = await runProgram(Deno.execPath(), ["run", "-A", program, "verify", directory]);
  strictEqual(code, 0, stderr);
}

async function serverAlone(program: Required<ServerProgram>, flags: readonly string[]): Promise<Killed> {
  const folder = await Deno.makeTempDir({ prefix: "kill-points-" });
  const directory = `${folder}/data`;
  const [binary, http, port] = [freePort(), freePort(), freePort()];
  const address = (each: number): string => `127.0.0.1:${each}`;
  const parameters = [
    ...program.programArguments,
    ...["--pg-addr", address(port), "--http-addr", address(http), ...flags, address(binary), directory],
  ];
  let server: ServerProcess | null = await ServerProcess.start(program.dbd, parameters);
  const said: string[] = [];
  const note = (): void => {
    said.push(...(server?.log.match(/internal error.*|stopped by an error.*|.*panicked.*/g) ?? []));
  };
  return {
    addresses: { binary: [address(binary)], http: [address(http)] },
    query: (sql) => queryAt(port, sql),
    victim: () => Promise.resolve(directory),
    ended: async (milliseconds) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), milliseconds));
      const has = await Promise.race([server?.child.status.then(() => true) ?? true, late]);
      clearTimeout(timer);
      return has;
    },
    kill: async () => await server?.end("SIGKILL"),
    restart: async (waits) => {
      await server?.end("SIGKILL");
      note();
      server = null;
      const starting = ServerProcess.start(program.dbd, parameters);
      if (waits) server = await starting;
      else server = await starting.catch(() => null);
    },
    finish: async () => {
      await server?.end("SIGTERM");
      note();
      deepStrictEqual(said, []);
      await verify(directory);
    },
    [Symbol.asyncDispose]: async () => {
      await server?.end("SIGKILL");
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function clusterOf(
  program: Required<ServerProgram>,
  memberCount: number,
  flags: readonly string[],
): Promise<Killed> {
  const cluster = await ClusterProcesses.start({ ...program, memberCount, flags });
  let victim: MemberProcess = await cluster.primary();
  return {
    addresses: {
      binary: cluster.members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`),
      http: cluster.members.map(({ httpPort }) => `127.0.0.1:${httpPort}`),
    },
    query: async (sql) => queryAt((await cluster.primary()).port, sql),
    victim: async () => {
      victim = await cluster.primary();
      return victim.directory;
    },
    ended: async (milliseconds) => {
      for (const end = performance.now() + milliseconds; performance.now() < end;) {
        if (!victim.isRunning) return true;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return false;
    },
    kill: async () => void await victim.stop("SIGKILL"),
    restart: async (waits) => {
      if (!victim.isRunning) victim.start();
      if (waits) await cluster.caughtUp(victim);
    },
    finish: async () => {
      await cluster.level();
      for (const member of cluster.members) strictEqual(await member.stop("SIGTERM"), 0);
      // What was killed at a step has not ended for a reason of its own.
      deepStrictEqual(cluster.bugs().filter((line) => !line.includes("has ended by itself (SIGKILL)")), []);
      for (const { directory } of cluster.members) await verify(directory);
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Writes the order, or takes it back; answers what the server has said before it died. */
async function order(directory: string, wanted: KillOrder | null): Promise<string | null> {
  const files = orderFile(directory);
  const said = await Deno.readTextFile(files.said).catch(() => null);
  for (const file of [files.order, files.said]) await Deno.remove(file).catch(() => {});
  if (wanted !== null) {
    // It is there whole or not at all.
    await Deno.writeTextFile(`${files.order}.tmp`, JSON.stringify(wanted));
    await Deno.rename(`${files.order}.tmp`, files.order);
  }
  return said;
}

/** See the file's head. */
export async function killAtPoints(rounds: KillRounds): Promise<KillReport> {
  const { shards, members, clients, seed, points, onKill } = rounds;
  const random = seededRandom(seed);
  const flags = ["--shards", String(shards), ...FLAGS];
  const missed: string[] = [];
  let kills = 0;
  const program = await killableServer();
  await using killed =
    await (members === 1 ? serverAlone(program, flags) : clusterOf(program, members, flags));
  await makeTables(killed.query);
  const load = new OnceLoad(killed.addresses, { clients, seed });
  await load.progress(2);
  for (const [round, point] of points.entries()) {
    const directory = await killed.victim();
    await order(directory, { point, count: 1 + random.below(MAX_PASSES) });
    if (!await killed.ended(PATIENCE_MILLISECONDS)) await killed.kill();
    const said = await order(directory, null);
    if (said === null) missed.push(point);
    else strictEqual(said, point);
    kills++;
    if (round % STARTS === STARTS - 1) {
      // What the log has is told to the shards again then.
      await order(directory, { point: `shard ${random.below(shards)}: apply`, count: 1 + random.below(9) });
      await killed.restart(false);
      if (await killed.ended(START_PATIENCE_MILLISECONDS)) kills++;
      await order(directory, null);
    }
    await killed.restart(true);
    await load.progress(1);
    await load.checkWhole(killed.query);
    onKill?.(point);
  }
  await load.stop();
  await load.checkAll(killed.query);
  await killed.finish();
  const figures = load.figures();
  ok(figures.done >= points.length, `only ${figures.done} transfers were done`);
  return { kills, missed, ...figures };
}
