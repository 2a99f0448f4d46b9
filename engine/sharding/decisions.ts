/**
 * Transactions over several shards: prepared at each of them, decided by an entry of the engine's log, told to the
 * shards, and told again after a crash until they have it on disk.
 */
import { assertDefined } from "../base/assert.ts";
import type { Effect, OpNumber } from "../operations/effect.ts";
import type { Engine } from "../session/engine.ts";
import type { BranchCommit } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";

/** One shard's part. */
export interface Part {
  readonly shard: number;
  readonly part: BranchCommit;
}

/** See the file's head. */
export class Decisions {
  readonly #engine: Engine;
  readonly #ports: readonly ShardPort[];
  /** By op of the entry: how many shards have not made it durable. */
  readonly #open = new Map<number, number>();
  /** Everything up to this op is durable at the shards; the log says so with a later entry. */
  #done = 0;
  #logged = 0;
  readonly #settling = new Set<Promise<unknown>>();

  constructor(engine: Engine, ports: readonly ShardPort[]) {
    this.#engine = engine;
    this.#ports = ports;
  }

  /** Has the shards do what was decided before the start. */
  async redo(): Promise<void> {
    const calls: Promise<unknown>[] = [];
    for (const { op, timestamp, slices } of this.#engine.machine.pendingSlices) {
      for (const { shard, effects } of slices) {
        const request = { kind: "redo", epoch: op, timestamp, effects } as const;
        calls.push(this.#port(shard).call(request).done);
      }
      this.#done = op;
    }
    await Promise.all(calls);
  }

  /**
   * Commits at all shards concerned, or at none. `decide` appends the entry that decides, with the effects that it is
   * given; `told` is called when all shards know.
   */
  async commit(
    parts: readonly Part[],
    steps: {
      requireOpen(): void;
      decide(done: readonly Effect[]): Promise<OpNumber>;
      told(): void;
    },
  ): Promise<OpNumber> {
    const asked = parts.map(({ shard, part }) => ({
      shard,
      writes: part.effects !== null,
      ...this.#port(shard).call({ kind: "prepare", commit: part }),
    }));
    const votes = await Promise.allSettled(asked.map(({ done }) => done));
    const willing = asked.filter((_, index) => votes[index]?.status === "fulfilled");
    let op: OpNumber;
    try {
      for (const vote of votes) if (vote.status === "rejected") throw vote.reason;
      steps.requireOpen();
      op = await steps.decide(this.#takeDone());
    } catch (error) {
      for (const { shard, call } of willing) void this.#decide(shard, call, 0);
      steps.told();
      throw error;
    }
    this.#open.set(op, asked.filter(({ writes }) => writes).length);
    // When this fails nobody knows what the log holds: the shards wait for the next start.
    await this.#engine.whenDurable(op);
    for (const { shard, call, writes } of asked) {
      const done = this.#decide(shard, call, op);
      if (writes) void done.then((isDone) => isDone && this.#isDurable(op));
    }
    steps.told();
    return op;
  }

  #decide(shard: number, prepared: number, epoch: number): Promise<boolean> {
    const { done } = this.#port(shard).call({ kind: "decide", prepared, epoch });
    // A shard that fails ends the engine by itself.
    const settled = done.then(() => true, () => false);
    this.#settling.add(settled);
    return settled.finally(() => this.#settling.delete(settled));
  }

  #isDurable(op: number): void {
    const left = assertDefined(this.#open.get(op), `op ${op}`) - 1;
    this.#open.set(op, left);
    if (left > 0) return;
    // In the order of their ops: a Map keeps that of insertion, which is the same.
    for (const [each, missing] of this.#open) {
      if (missing > 0) return;
      this.#open.delete(each);
      this.#done = Math.max(this.#done, each);
    }
  }

  /** What the next entry says of entries before it. */
  #takeDone(): Effect[] {
    if (this.#done <= this.#logged || this.#engine.machine.pendingSlices.length === 0) return [];
    this.#logged = this.#done;
    return [{ kind: "slices_done", op: this.#done as OpNumber }];
  }

  /** Waits until the shards have done all that was decided, and notes it. */
  async settle(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling);
    const effects = this.#takeDone();
    if (effects.length === 0) return;
    const { machine } = this.#engine;
    machine.commit({ timestamp: this.#engine.now(), client: null, effects });
  }

  #port(shard: number): ShardPort {
    return assertDefined(this.#ports[shard], `shard ${shard}`);
  }
}
