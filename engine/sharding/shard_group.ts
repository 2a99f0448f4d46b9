/**
 * The shards of an engine as the parts of its storage: each gets what the entries of the engine's log have for it, and
 * its files are named by the engine's manifests.
 *
 * What an entry has for shards goes out when the entry is appended, and where it may go away again, when it is
 * committed; in the log's order, to all of them in one turn: so what is begun at several shards in one turn sees an
 * entry at all of them or at none. A checkpoint exists when the router's manifest does, which waits for the log.
 */
import { assert, assertDefined } from "../base/assert.ts";
import type { DatabaseError } from "../base/errors.ts";
import type { Slice } from "../operations/effect.ts";
import type { Shards } from "../session/commit_turns.ts";
import type { EngineParts, RoutedEngine } from "../session/engine_parts.ts";
import type { CommitHorizon } from "../storage/commit_horizon.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import { joinPath } from "../host/disk.ts";
import type { Manifest } from "../storage/manifest.ts";
import { partFolder, partOfManifest } from "../storage/storage_parts.ts";
import type { ShardPort } from "./shard_port.ts";

/** The file of a directory that says how many shards it has. */
export const COUNT_FILE = "SHARDS";

/** What the router knows of slices that it has appended. */
export interface AppendedSlices {
  /** By shard: the call by which it has agreed to its part. */
  readonly calls: ReadonlyMap<number, number>;
  /** The entry of this op is on its way to the shards. */
  onSent(op: number): void;
}

/** How to open them. */
export interface ShardGroupOptions {
  readonly count: number;
  /** Whether an entry that was appended may go away again: another member of a group may have become the primary. */
  readonly mayLoseEntries: boolean;
  open(index: number, manifest: Manifest | null): Promise<ShardPort>;
  /** Raises when the checkpoint is not one of so many shards. */
  fits(manifest: Manifest | null): void;
  /** The way of an engine's sessions to the group. */
  route(engine: RoutedEngine, group: ShardGroup): Shards;
  /** A file of the checkpoint is damaged, as a shard has found. */
  onDamage(file: HashedFile): void;
}

interface Queued {
  readonly op: number;
  readonly timestamp: number;
  /** null: a checkpoint. */
  readonly slices: readonly Slice[] | null;
}

/** See the file's head. */
export class ShardGroup implements EngineParts {
  readonly ports: ShardPort[] = [];
  readonly otherFiles = [COUNT_FILE];
  readonly #options: ShardGroupOptions;
  readonly #appended = new WeakMap<readonly Slice[], AppendedSlices>();
  #queue: Queued[] = [];
  #horizon: CommitHorizon | null = null;
  #unsubscribe: () => void = () => {};

  constructor(options: ShardGroupOptions) {
    this.#options = options;
  }

  /** Whether shards are sent what is committed only. */
  get waitsForCommits(): boolean {
    return this.#options.mayLoseEntries;
  }

  async open(manifest: Manifest | null, horizon: CommitHorizon): Promise<void> {
    const { count, open, fits, onDamage } = this.#options;
    fits(manifest);
    const opening = Array.from({ length: count }, (_, index) => open(index, partOfManifest(manifest, index)));
    const failures: unknown[] = [];
    for (const [index, each] of (await Promise.allSettled(opening)).entries()) {
      if (each.status === "rejected") {
        failures.push(each.reason);
        continue;
      }
      this.ports.push(each.value);
      each.value.onPeer = (to, message) => this.port(to).tell({ kind: "peer", message });
      each.value.onDamage = (file) => onDamage({ ...file, name: joinPath(partFolder(index), file.name) });
    }
    // Whoever opens it closes what is open.
    if (failures.length > 0) throw failures[0];
    this.#horizon = horizon;
    this.#unsubscribe = horizon.onDurable(() => this.#send());
  }

  get count(): number {
    return this.#options.count;
  }

  route(engine: RoutedEngine): Shards {
    for (const port of this.ports) void port.failed.then((error: DatabaseError) => engine.fail(error));
    return this.#options.route(engine, this);
  }

  /** What is going to be appended; `onSent` follows if it is, and is committed. */
  expect(slices: readonly Slice[], appended: AppendedSlices): void {
    this.#appended.set(slices, appended);
  }

  apply(op: number, timestamp: number, slices: readonly Slice[]): void {
    // The bytes may be those of a buffer that is used again.
    const own = this.#appended.has(slices)
      ? slices
      : slices.map(({ shard, effects }) => ({ shard, effects: effects.slice() }));
    this.#queue.push({ op, timestamp, slices: own });
    this.#send();
  }

  beginCheckpoint(op: number): void {
    this.#queue.push({ op, timestamp: 0, slices: null });
    this.#send();
  }

  #send(): void {
    const durableOp = this.#horizon?.durableOp ?? -1;
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined) return;
      if (this.waitsForCommits && next.op > durableOp) return;
      const { op, timestamp, slices } = assertDefined(this.#queue.shift(), "what is first");
      if (slices === null) {
        for (const port of this.ports) port.tell({ kind: "checkpoint", op });
        continue;
      }
      const appended = this.#appended.get(slices);
      // What is in it would live until all of the memory is looked through.
      this.#appended.delete(slices);
      for (const { shard, effects } of slices) {
        const agreed = appended?.calls.get(shard) ?? null;
        const port = this.port(shard);
        port.sentEntries++;
        port.tellLater({ kind: "apply", op, timestamp, agreed, effects: agreed === null ? effects : null });
      }
      appended?.onSent(op);
    }
  }

  /** The way to a shard. */
  port(shard: number): ShardPort {
    return assertDefined(this.ports[shard], `shard ${shard}`);
  }

  async builtCheckpoint(op: number): Promise<readonly Manifest[]> {
    const built = await Promise.all(this.ports.map((port) => port.call({ kind: "built", op }).done));
    return built.map((manifest) => {
      assert(typeof manifest === "object" && manifest !== null && "state" in manifest, "a manifest");
      return manifest;
    });
  }

  installed(op: number): void {
    for (const port of this.ports) port.tell({ kind: "installed", op });
  }

  repaired(): void {
    for (const port of this.ports) port.tell({ kind: "repaired" });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#horizon = null;
    this.#queue = [];
    const closing = this.ports.map((port) => port.close());
    for (const end of await Promise.allSettled(closing)) if (end.status === "rejected") throw end.reason;
  }
}
