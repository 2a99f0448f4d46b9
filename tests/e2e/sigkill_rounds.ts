/**
 * The server is killed with SIGKILL at random moments under load, many times, and started again on the same directory.
 *
 * The load is that of `kill_workload.ts`, by two drivers. Checkpoints are made often, so that some of the kills hit
 * one; now and then the server is killed while it recovers. SIGKILL leaves what the operating system holds: what a
 * power cut does is for the simulated disk.
 */
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg, connectPostgres, type ServerAddress } from "../support/clients.ts";
import { seededRandom } from "../support/random.ts";
import { createTables, figuresOf, type KillFigures, newAccount, verify, work } from "./kill_workload.ts";

/** How often and under which load to kill. */
export interface KillOptions {
  /** The compiled server. */
  readonly dbd: string;
  readonly rounds: number;
  readonly workers: number;
  readonly seed: number;
  /** More parameters of the server. */
  readonly flags?: readonly string[];
  /** Told after each round. */
  readonly onRound?: (round: number) => void;
}

const checkpointFlags = ["--checkpoint-log", "1MiB"];

/** Kills the server so many times; rejects when anything is not as it was promised. */
export async function killRepeatedly(
  { dbd, rounds, workers, seed, flags: more = [], onRound }: KillOptions,
): Promise<KillFigures> {
  const directory = await Deno.makeTempDir({ prefix: "sigkill-" });
  const random = seededRandom(seed);
  const flags = [...checkpointFlags, ...more];
  const all = Array.from({ length: workers }, (_, worker) => newAccount(worker));
  const connect = (worker: number, address: ServerAddress) =>
    worker % 2 === 0 ? connectPg(address) : connectPostgres(address);
  try {
    for (let round = 0; round <= rounds; round++) {
      if (round > 0 && random.below(5) === 0) {
        await killWhileStarting(dbd, directory, flags, random.below(250));
      }
      const server = await startDbd({ binary: dbd, directory, flags });
      try {
        const first = await connect(round, server);
        if (round === 0) await createTables(first, workers);
        else await verify(first, all, round);
        await first.close();
        onRound?.(round);
        if (round === rounds) continue;
        const clients = await Promise.all(all.map(({ worker }) => connect(worker + round, server)));
        const workload = clients.map((client, index) => {
          const account = all[index];
          if (account === undefined) throw new Error("one account per worker");
          return work(client, account, seededRandom(seed + round * 100 + index));
        });
        const done = Promise.all(workload);
        await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 150 + random.below(700)))]);
        await server.kill();
        await done;
      } finally {
        // Harmless when it is dead already.
        await server.kill().catch(() => undefined);
      }
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
  return figuresOf(all);
}

/** Starts the server and kills it before it can have done much: recovery itself is cut off. */
async function killWhileStarting(
  dbd: string,
  directory: string,
  flags: readonly string[],
  milliseconds: number,
): Promise<void> {
  const any = "127.0.0.1:0";
  const child = new Deno.Command(dbd, {
    args: ["--pg-addr", any, "--http-addr", any, ...flags, any, `${directory}/data`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  child.kill("SIGKILL");
  await child.status;
}
