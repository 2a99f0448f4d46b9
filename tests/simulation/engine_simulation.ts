/**
 * A whole engine on a simulated machine over several lives: clients of all kinds work, something goes wrong with the
 * disk or the power, the engine recovers, and what it holds is compared with what was promised.
 *
 * The fault model of the disk is at the head of `engine/host/simulated_disk.ts`. Each life draws one of {@link
 * FAULTS}; log files, checkpoints and pieces are small, so that rotation, flush and compaction happen all the time.
 * Checked after each recovery: the log holds what anybody was told of, and the state is the one that its entries make
 * (`log_model.ts`); what clients know of their own work holds (`workload.ts`); finished snapshots hold exactly the
 * state of their op; a bit flipped at rest is named or does not matter. A seed determines everything: two runs of it
 * give the same trace.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { type DiskFaults, NO_FAULTS, SimulatedCrash } from "../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { LogModel } from "./log_model.ts";
import { NodeStopped, SimulatedClient } from "./simulated_client.ts";
import { withRejections } from "./unhandled_rejections.ts";
import {
  Account,
  burst,
  checkAccount,
  checkOnce,
  isDiskError,
  schemaSql,
  type Work,
  WORKS,
} from "./workload.ts";

const DIRECTORY = "db";

/** What a run showed, equal for equal seeds. */
export interface SimulationResult {
  readonly trace: string;
  /** Ops in the log at the end. */
  readonly ops: number;
  /** The newest op that a client was told of. */
  readonly told: number;
  /** Lives by what was to go wrong in them. */
  readonly faults: Readonly<Record<string, number>>;
  /** Lives that ended before their work was done. */
  readonly cut: number;
  readonly checkpoints: number;
  readonly snapshots: number;
  /** Bits flipped at rest. */
  readonly flips: number;
  /** Changing operations of the disk. */
  readonly diskOperations: number;
}

/** What may go wrong in a life. */
const FAULTS = [
  { kind: "power", weight: 8 },
  { kind: "pause", weight: 3 },
  { kind: "kill", weight: 3 },
  { kind: "failed operation", weight: 3 },
  { kind: "failed syncs", weight: 2 },
  { kind: "no space once", weight: 1 },
  { kind: "full disk", weight: 2 },
  { kind: "failed reads", weight: 2 },
  { kind: "clean close", weight: 2 },
  // Many commits of one size at once and a power failure soon after: torn tails, and records that fit where others
  // stood.
  { kind: "storm", weight: 2 },
  // Somebody only looks at what was recovered before the power fails: what was read must be there for good.
  { kind: "look", weight: 1 },
] as const;

type FaultKind = (typeof FAULTS)[number]["kind"];

/** Runs one seed. */
export async function simulate(seed: number, options: { readonly lives: number }): Promise<SimulationResult> {
  const simulation = new Simulation(seed);
  let [during, lost]: [string, unknown] = ["", null];
  try {
    // Whoever works by itself meets the end of its machine, too.
    const noteLost = (reason: unknown): void => {
      if (!(reason instanceof SimulatedCrash)) lost ??= reason;
    };
    const result = await withRejections(noteLost, async () => {
      for (let life = 0; life < options.lives; life++) {
        during = `life ${life}`;
        await simulation.live();
      }
      during = "at the end";
      return await simulation.end();
    });
    if (lost !== null) throw lost;
    return result;
  } catch (error) {
    throw new Error(`seed ${seed}, ${during}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

class Simulation {
  readonly #host: SimulatedHost;
  readonly #random: SeededRandom;
  readonly #model = new LogModel();
  readonly #account = new Account();
  readonly #faults: Record<string, number> = {};
  #cut = 0;
  /** When the first engine began to open that may have appended without being noted; one may have been cut off. */
  #openedAt: number | null = null;
  #isReady = false;
  #last: FaultKind | null = null;
  #checkpoints = 0;
  #snapshots = 0;
  #flips = 0;

  constructor(seed: number) {
    this.#host = new SimulatedHost(seed);
    this.#random = new SeededRandom(seed * 7919 + 1);
  }

  /** One life, from recovery to what ends it. */
  async live(): Promise<void> {
    const kind = this.#last = this.#drawFault();
    const host = this.#host, random = this.#random;
    host.pace = random.pick([0, 50, 400, 1500]);
    host.disk.faults = this.#faultsOf(kind);
    try {
      const steps = kind === "pause" || kind === "kill" ? random.between(1, 250) : Infinity;
      if (await this.#drive(this.#work(kind), steps) === "cut") this.#cut++;
    } catch (error) {
      if (!this.#isExpected(error, kind)) throw error;
      this.#cut++;
    }
    this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    host.disk.faults = { ...NO_FAULTS };
    if (kind === "kill") host.kill();
    else host.crash();
  }

  #drawFault(): FaultKind {
    if (this.#last === "kill" && this.#random.chance(0.4)) return "look";
    if (this.#last === "storm" && this.#random.chance(0.7)) return "storm";
    const sum = FAULTS.reduce((total, { weight }) => total + weight, 0);
    let at = this.#random.below(sum);
    for (const { kind, weight } of FAULTS) {
      if (at < weight) return kind;
      at -= weight;
    }
    throw new Error("weights are summed wrongly");
  }

  #faultsOf(kind: FaultKind): DiskFaults {
    const random = this.#random;
    const { operations, usedBytes, reads } = this.#host.disk;
    const soon = operations + random.between(this.#isReady ? 1 : 60, this.#isReady ? 220 : 300);
    switch (kind) {
      case "storm":
        return this.#isReady
          ? { ...NO_FAULTS, crashAtOperation: operations + random.between(4, 30) }
          : NO_FAULTS;
      case "power":
        return { ...NO_FAULTS, crashAtOperation: soon };
      case "failed operation":
        return { ...NO_FAULTS, failAtOperation: soon };
      case "failed syncs":
        return { ...NO_FAULTS, syncError: 0.05 };
      case "no space once":
        return { ...NO_FAULTS, failAtOperation: soon, failureCode: "ENOSPC" };
      case "full disk":
        return {
          ...NO_FAULTS,
          capacityBytes: usedBytes + random.between(this.#isReady ? 0 : 30_000, 60_000),
        };
      case "failed reads":
        return { ...NO_FAULTS, readError: 0.004, failAtRead: reads + random.between(1, 40) };
      default:
        return NO_FAULTS;
    }
  }

  /** Which errors a life may end with. */
  #isExpected(error: unknown, kind: FaultKind): boolean {
    if (this.#host.disk.isCrashed) return kind === "power" || kind === "storm";
    if (error instanceof NodeStopped) {
      // A read that fails while a checkpoint is built or an entry applied stops the node as well.
      return ["failed operation", "failed syncs", "no space once", "failed reads"].includes(kind);
    }
    // The database could not be opened, or not be given its tables.
    return isDiskError(error) &&
      ["failed operation", "failed syncs", "no space once", "full disk", "failed reads"].includes(kind);
  }

  /**
   * Lets the machine run until the work is done, the machine stands still because its node has stopped, or steps are
   * used up.
   */
  async #drive(work: Promise<void>, steps: number): Promise<"done" | "cut"> {
    let isSettled = false;
    const watched = work.finally(() => isSettled = true);
    watched.catch(() => undefined);
    for (let step = 0; step < steps; step++) {
      if (!(await this.#host.step()) && !isSettled) {
        if (this.#host.disk.isCrashed) throw new SimulatedCrash("the power failed");
        throw new Error("everybody waits for somebody else");
      }
      if (isSettled) {
        await watched;
        return "done";
      }
    }
    return "cut";
  }

  #open(directory = DIRECTORY): Promise<Engine> {
    return Engine.open({
      host: this.#host,
      directory,
      checkpointLogBytes: 6000,
      blockCacheBytes: 1 << 20,
      log: {
        fileBytes: 8192,
        reserveBytes: 2048,
        bufferBytes: 4096,
        directWriteBytes: 2000,
        parts: { leastBytes: 600, partBytes: 250 },
      },
    });
  }

  async #work(kind: FaultKind): Promise<void> {
    const host = this.#host, random = this.#random;
    this.#openedAt ??= host.clock.now();
    const engine = await this.#open();
    await this.#check(engine, kind !== "look" && kind !== "storm");
    if (!this.#isReady) await this.#makeSchema(engine);
    if (kind === "look") return;
    const expected = ["40001", "40P01"];
    if (kind === "full disk" || kind === "no space once") expected.push("53100");
    if (["failed reads", "failed operation", "failed syncs"].includes(kind)) expected.push("58030");
    const count = kind === "storm" ? random.pick([1, 1, 5, 6]) : random.between(2, 6);
    const clients = Array.from({ length: count }, () => {
      const own = new SeededRandom(random.u32());
      return new SimulatedClient({ host, engine, model: this.#model, random: own });
    });
    const rounds = random.between(3, 14);
    let error: unknown = null;
    await Promise.all(clients.map(async (client) => {
      try {
        for (let round = 0; round < rounds && error === null; round++) {
          const work = kind === "storm" ? burst : pickWork(client.random);
          await work.round(client, this.#account, expected);
          if (kind !== "storm") await client.pause();
        }
      } catch (thrown) {
        // Others may wait for locks of a client that cannot go on.
        error ??= thrown;
        client.session.close();
      }
    }));
    this.#checkpoints += engine.storage.checkpointOp > 0 ? 1 : 0;
    if (error !== null) throw error;
    if (kind === "full disk") await this.#makeRoom(engine);
    if (kind !== "clean close" && random.chance(0.7)) return;
    await engine.close();
    strictEqual(
      engine.digest(),
      (await this.#model.replicaAt(engine.lastOp)).digest(),
      "digest at the close",
    );
    if (kind === "clean close") await this.#flipBits(engine.lastOp);
  }

  async #makeSchema(engine: Engine): Promise<void> {
    const client = this.#clientOf(engine);
    await client.run(schemaSql());
    client.session.close();
    this.#isReady = true;
  }

  #clientOf(engine: Engine): SimulatedClient {
    return new SimulatedClient({ host: this.#host, engine, model: this.#model, random: this.#random });
  }

  /** A node that met a full disk goes on as soon as there is space. */
  async #makeRoom(engine: Engine): Promise<void> {
    if (engine.isFailed) throw new NodeStopped("the node has stopped");
    this.#host.disk.faults = NO_FAULTS;
    const client = this.#clientOf(engine);
    const id = this.#account.nextId++;
    await client.run(`INSERT INTO ledger VALUES (${id}, 1, 0, 'there is space again')`);
    this.#account.ledger.add(id);
    await client.run("CHECKPOINT");
    strictEqual(engine.storage.checkpointOp, engine.lastOp, "the checkpoint is made when there is space");
    client.session.close();
  }

  /** Compares a recovered engine with all that was promised. */
  async #check(engine: Engine, writes: boolean): Promise<void> {
    this.#model.attach(engine, this.#openedAt ?? 0);
    this.#openedAt = null;
    await this.#model.check(engine);
    if (engine.machine.catalog.tables.length === 0) {
      strictEqual(this.#isReady, false, "the schema was acknowledged and is gone");
      return;
    }
    // The schema is one transaction, which nobody may have been told of.
    this.#isReady = true;
    const client = this.#clientOf(engine);
    await checkAccount(client, this.#account);
    if (writes) await checkOnce(client, this.#account);
    client.session.close();
    await this.#checkSnapshots();
  }

  /** Opens what snapshots have left, finished or not. */
  async #checkSnapshots(): Promise<void> {
    const disk = this.#host.disk;
    for (const { directory, op } of this.#account.snapshots.splice(0)) {
      const copy = await this.#open(directory);
      strictEqual(copy.storage.checkpointOp, op, `op of the snapshot ${directory}`);
      await this.#model.checkCopy(copy, op);
      copy.storage.verify();
      await copy.close();
      for (const path of [...disk.image().keys()]) if (path.startsWith(`${directory}/`)) disk.remove(path);
      this.#snapshots++;
    }
  }

  /**
   * After a clean close, a flipped bit of any file is either named as damage of that file, at opening or by the read
   * that meets it, or lies where nothing is kept.
   */
  async #flipBits(lastOp: number): Promise<void> {
    const { disk } = this.#host;
    const image = disk.image();
    const paths = [...image.keys()].filter((path) =>
      path.startsWith(`${DIRECTORY}/`) && !path.endsWith(".tmp")
    );
    for (let count = 0; count < 3; count++) {
      const path = this.#random.pick(paths);
      const size = image.get(path)?.length ?? 0;
      if (size === 0) continue;
      this.#flips++;
      disk.flipBit(path, this.#random.below(size), this.#random.below(8));
      await this.#openDamaged(path, lastOp);
      disk.restore(image);
    }
  }

  async #openDamaged(path: string, lastOp: number): Promise<void> {
    let engine: Engine | null = null;
    try {
      engine = await this.#open();
      await this.#model.checkCopy(engine, lastOp);
      engine.storage.verify();
      await engine.close();
    } catch (error) {
      ok(error instanceof DatabaseError, `damage of ${path} led to ${error}`);
      ok(["XX001", "0A000"].includes(error.code), `damage of ${path} led to ${error.code} ${error.message}`);
      ok(error.message.includes(path), `damage of ${path} was reported as ${error.message}`);
      if (error.code === "XX001") ok(/offset \d+/.test(error.message), error.message);
    }
  }

  /** The last recovery, without faults, twice; every file is read. */
  async end(): Promise<SimulationResult> {
    const host = this.#host;
    host.pace = 0;
    this.#openedAt ??= host.clock.now();
    const engine = await host.settle(this.#open());
    await host.settle(this.#check(engine, true));
    engine.storage.verify();
    const digest = engine.digest();
    await host.settle(engine.close());
    const again = await host.settle(this.#open());
    strictEqual(again.digest(), digest, "another recovery gives another digest");
    await host.settle(this.#model.check(again));
    const { lastOp } = again;
    await host.settle(again.close());
    const { operations } = host.disk;
    return {
      trace: host.traceDigest,
      ops: lastOp,
      told: this.#model.toldOp,
      faults: this.#faults,
      cut: this.#cut,
      checkpoints: this.#checkpoints,
      snapshots: this.#snapshots,
      flips: this.#flips,
      diskOperations: operations,
    };
  }
}

const WEIGHTS = WORKS.reduce((sum, { weight }) => sum + weight, 0);

function pickWork(random: SeededRandom): Work {
  let at = random.below(WEIGHTS);
  for (const work of WORKS) {
    if (at < work.weight) return work;
    at -= work.weight;
  }
  throw new Error("weights are summed wrongly");
}

/** Runs a seed twice and compares the traces. */
export async function simulateTwice(
  seed: number,
  options: { readonly lives: number },
): Promise<SimulationResult> {
  const result = await simulate(seed, options);
  deepStrictEqual(await simulate(seed, options), result, `seed ${seed} gives another trace the second time`);
  return result;
}

/** What several seeds showed together. */
export class SimulationTotals {
  readonly sums = { ops: 0, checkpoints: 0, snapshots: 0, flips: 0, diskOperations: 0, lives: 0, cut: 0 };
  readonly faults: Record<string, number> = {};

  add(result: SimulationResult): void {
    for (const key of ["ops", "checkpoints", "snapshots", "flips", "diskOperations", "cut"] as const) {
      this.sums[key] += result[key];
    }
    for (const [kind, lives] of Object.entries(result.faults)) {
      this.sums.lives += lives;
      this.faults[kind] = (this.faults[kind] ?? 0) + lives;
    }
  }
}
