/**
 * A large load by COPY, as one entry or staged: how long it takes in a cluster against a server alone, and what is
 * there when a backup, or the primary, is killed in the middle of one.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { connect } from "../../mod.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { codeOf } from "../e2e/kill_workload.ts";
import { ClusterProcesses } from "./cluster_processes.ts";

/** What it came to. */
export interface CopyFigures {
  readonly aloneMilliseconds: number;
  readonly clusterMilliseconds: number;
  /** While a backup was killed and came back; null: nothing was killed. */
  readonly withKillMilliseconds: number | null;
  /** The largest resident memory of the server alone, in MiB. */
  readonly aloneMebibytes: number;
  /** That of each member, before anything was killed and after all had applied the load. */
  readonly mebibytes: readonly number[];
}

/**
 * No member needs more memory for a load than a server alone does, but for a share that collections leave, and what is
 * on its way to the others and from them: messages, pieces of entries, and what they are made of.
 */
const MEMORY_SHARE = 1.2;
const MESSAGES_MEBIBYTES = 128;

const ROWS_A_CHUNK = 2000;

/** What a client may be told whose primary is one no longer. */
const LOST: ReadonlySet<string> = new Set(["40003", "40001", "57P01", "08000", "08006"]);

/** Rows of 1 KiB each, of digits that do not repeat. */
function* chunks(mebibytes: number): Generator<string> {
  for (let id = 0; id < mebibytes * 1024;) {
    let text = "";
    for (const end = Math.min(id + ROWS_A_CHUNK, mebibytes * 1024); id < end; id++) {
      text += `${id}\t${String(id * 7919 + 1e9).padStart(16, "0").repeat(63)}\n`;
    }
    yield text;
  }
}

const TABLE = "CREATE TABLE big (id int PRIMARY KEY, body text NOT NULL)";
const CONTENT =
  "SELECT count(*)::int AS n, coalesce(sum(id), 0)::float AS s, coalesce(sum(length(body)), 0)::float AS l FROM big";

/**
 * Loads so many MiB, several times; more than four times `checkpointLog` are staged. Rejects when a load is there in
 * part.
 */
export async function copyUnderKills(
  dbd: string,
  mebibytes: number,
  { checkpointLog = "64MiB", kills = true } = {},
): Promise<CopyFigures> {
  const whole = {
    n: mebibytes * 1024,
    s: mebibytes * 1024 * (mebibytes * 1024 - 1) / 2,
    l: mebibytes * 1024 * 16 * 63,
  };
  const flags = ["--checkpoint-log", checkpointLog];
  const single = await startDbd({ binary: dbd, flags });
  let aloneMilliseconds: number, aloneMebibytes: number;
  try {
    await using client = await connect({ address: `127.0.0.1:${single.binaryPort}` });
    await client.execute(TABLE);
    aloneMilliseconds = await timed(() => client.copyIn("big", chunks(mebibytes)));
    deepStrictEqual(await client.query(CONTENT), [whole]);
    aloneMebibytes = peakMebibytesOf(single.processId);
  } finally {
    await single.stop();
  }

  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags });
  const { members } = cluster;
  await using client = await connect({
    addresses: members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`),
  });
  const empty = async () => {
    await client.execute("DROP TABLE IF EXISTS big");
    await client.execute(TABLE);
  };
  // On a starved machine a primary may lose its view without being killed.
  const load = async (beside: () => Promise<void> = () => Promise.resolve()) => {
    for (let attempt = 1;; attempt++) {
      await empty();
      const start = performance.now();
      const [code] = await Promise.all([
        client.copyIn("big", chunks(mebibytes)).then(() => "", codeOf),
        attempt === 1 ? beside() : null,
      ]);
      if (code === "") return Math.round(performance.now() - start);
      ok(LOST.has(code) && attempt < 4, code);
      const [left] = await client.query(CONTENT);
      ok([0, whole.n].includes(Number(left?.n)), `${left?.n} rows of ${whole.n} after ${code}`);
    }
  };
  const clusterMilliseconds = await load();
  deepStrictEqual(await client.query(CONTENT), [whole]);
  const expectEverywhere = async () => {
    await cluster.level(300_000);
    for (const member of members) {
      const follower = await member.follower();
      deepStrictEqual((await follower.query(CONTENT)).rows, [whole]);
      await follower.end();
    }
  };
  await expectEverywhere();
  const peaks = members.map((member) => member.peakMebibytes());
  const most = aloneMebibytes * MEMORY_SHARE + MESSAGES_MEBIBYTES;
  ok(peaks.every((peak) => peak <= most), `${peaks} MiB, and ${aloneMebibytes} alone`);
  const figures = { aloneMilliseconds, clusterMilliseconds, aloneMebibytes, mebibytes: peaks };
  if (!kills) return { ...figures, withKillMilliseconds: null };

  const primary = await cluster.primary();
  const victim = members.find((member) => member !== primary);
  const withKillMilliseconds = await load(async () => {
    await pause(clusterMilliseconds / 2);
    await victim?.stop("SIGKILL");
    victim?.start();
  });
  deepStrictEqual(await client.query(CONTENT), [whole]);

  await empty();
  const copied = client.copyIn("big", chunks(mebibytes)).then(() => "", codeOf);
  await pause(clusterMilliseconds / 2);
  await primary.stop("SIGKILL");
  const code = await copied;
  primary.start();
  const [left] = await client.query(CONTENT);
  if (code === "") deepStrictEqual(left, whole);
  else {
    ok(LOST.has(code), code);
    ok([0, whole.n].includes(Number(left?.n)), `${left?.n} rows of ${whole.n} after ${code}`);
    await load();
    deepStrictEqual(await client.query(CONTENT), [whole]);
  }

  for (const member of members) await cluster.caughtUp(member, 300_000);
  await expectEverywhere();
  deepStrictEqual(cluster.bugs(), []);
  return { ...figures, withKillMilliseconds };
}

/** The largest resident memory that a process has had, in MiB; Infinity where the system does not say. */
function peakMebibytesOf(processId: number): number {
  if (Deno.build.os !== "linux") return Infinity;
  const status = Deno.readTextFileSync(`/proc/${processId}/status`);
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round(performance.now() - start);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
