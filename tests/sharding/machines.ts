/** A database of two shards on simulated machines, for tests of crashes. */
import { SimulatedCrash } from "../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";
// Loaded ahead: shards load it with their first fragment, for which virtual time does not wait.
import "../../engine/sharding/fragment_runs.ts";
import { openSharded, shardInThisThread } from "../../engine/sharding/open_sharded.ts";

/** The router's machine and one for each shard: their disks fail apart. */
export class Machines {
  readonly hosts: readonly SimulatedHost[];

  readonly #checkpointLogBytes: number;

  /** Checkpoints come each time that the log has grown so much. */
  constructor(seed: number, checkpointLogBytes = 700) {
    this.#checkpointLogBytes = checkpointLogBytes;
    this.hosts = [0, 1, 2].map((index) => new SimulatedHost(seed * 3 + index));
  }

  get router(): SimulatedHost {
    return this.hosts[0] as SimulatedHost;
  }

  async open(): Promise<{ readonly engine: Engine; readonly session: Session }> {
    const engine = await this.settle(openSharded({
      host: this.router,
      directory: "data",
      shardCount: 2,
      checkpointLogBytes: this.#checkpointLogBytes,
      startShard: (options, index) =>
        shardInThisThread(this.hosts[index + 1] as SimulatedHost)(options, index),
    }));
    return { engine, session: engine.openSession() };
  }

  /** Drives all machines until the promise is settled, or all have come to rest. */
  async settle<T>(promise: Promise<T>, killAfter = Infinity): Promise<T> {
    let isSettled = false;
    const watched = promise.finally(() => isSettled = true);
    watched.catch(() => {});
    for (let steps = 0; !isSettled; steps++) {
      if (steps === killAfter) throw new SimulatedCrash();
      let hasMoved = false;
      for (const host of this.hosts) hasMoved = await host.step() || hasMoved;
      if (!hasMoved && !isSettled) throw new Error("the machines came to rest");
    }
    return await watched;
  }

  async rest(): Promise<void> {
    for (let hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (const host of this.hosts) hasMoved = await host.step() || hasMoved;
    }
  }

  kill(): void {
    for (const host of this.hosts) host.kill();
  }

  crash(): void {
    for (const host of this.hosts) {
      host.crash();
      host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
    }
  }
}
