/** Shards that do not answer, for tests. */
import type { Engine } from "../../engine/session/engine.ts";
import { openShardedEngine, patientHost, watchedShards } from "./sharded_database.ts";

/** Shards of which some do not hear: what is sent to them waits until they do. */
export class DeafShards {
  readonly deaf = new Set<number>();
  readonly #kept: (() => void)[] = [];
  readonly stops: number[] = [];

  /** Opens an engine of four such shards. */
  async open(): Promise<Engine> {
    const start = watchedShards((index) => ({
      answered: (replies, pass) => pass(structuredClone(replies)),
      asked: (requests, pass) => {
        for (const { kind } of requests) if (kind === "stop") this.stops.push(index);
        const hear = (): void => pass(structuredClone(requests));
        if (this.deaf.has(index)) this.#kept.push(hear);
        else hear();
      },
    }));
    return await openShardedEngine(4, start, patientHost());
  }

  /** All hear again, and what they have missed. */
  wake(): void {
    this.deaf.clear();
    for (const hear of this.#kept.splice(0)) hear();
  }
}
