/** Shards that do not answer, for tests. */
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { openShardedEngine } from "./sharded_database.ts";

/** Shards of which some do not hear: what is sent to them waits until they do. */
export class DeafShards {
  readonly deaf = new Set<number>();
  readonly #kept: (() => void)[] = [];
  readonly stops: number[] = [];

  /** Opens an engine of four such shards. */
  async open(): Promise<Engine> {
    return await openShardedEngine(4, async (options, index) => {
      const shard = await Shard.open({
        ...options,
        host: memoryHost(),
        send: (replies) => port.receive(structuredClone(replies)),
      });
      const port = new ShardPort((requests) => {
        for (const { kind } of requests) if (kind === "stop") this.stops.push(index);
        const hear = (): void => shard.receive(structuredClone(requests));
        if (this.deaf.has(index)) this.#kept.push(hear);
        else hear();
      });
      return port;
    });
  }

  /** All hear again, and what they have missed. */
  wake(): void {
    this.deaf.clear();
    for (const hear of this.#kept.splice(0)) hear();
  }
}
