/**
 * Storage as a whole: the log, the tables, and opening what a directory holds.
 *
 * Opening takes the directory's lock and recovers the log; the state machine then replays the entries of
 * {@link StorageEngine.recovered}.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { type DirectoryLock, joinPath } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { MemoryDisk } from "../host/memory_host.ts";
import { decodeEntry } from "../operations/entry_codec.ts";
import { type Entry, type OpNumber, opNumber } from "../operations/effect.ts";
import { DEFAULT_LOG_OPTIONS, Log, type LogOptions } from "./log.ts";
import { type SnapshotHorizon, TableStore } from "./table/table_store.ts";

/** How to open storage. */
export interface StorageOptions {
  readonly host: Host;
  /** Data directory, or `:memory:`. */
  readonly directory: string;
  readonly horizon: SnapshotHorizon;
  readonly blockCacheBytes?: number;
  readonly checkpointLogBytes?: number;
  readonly log?: LogOptions;
}

/** What was found at opening. */
export interface Recovered {
  readonly machineState: Uint8Array | null;
  readonly checkpointOp: OpNumber;
  entries(): Iterable<Entry>;
}

/** See the file's head. */
export class StorageEngine {
  readonly log: Log;
  readonly recovered: Recovered;
  readonly #lock: DirectoryLock;
  readonly #horizon: SnapshotHorizon;
  readonly #tables = new Map<number, TableStore>();
  #replaying = true;

  private constructor(options: StorageOptions, lock: DirectoryLock, log: Log) {
    this.log = log;
    this.#lock = lock;
    this.#horizon = {
      oldestSnapshot: () => this.#replaying ? Infinity : options.horizon.oldestSnapshot(),
    };
    this.recovered = {
      machineState: null,
      checkpointOp: opNumber(0),
      entries: () => this.#replay(),
    };
  }

  static open(options: StorageOptions): Promise<StorageEngine> {
    const inMemory = options.directory === ":memory:";
    const host = inMemory ? { ...options.host, disk: new MemoryDisk() } : options.host;
    const directory = inMemory ? "memory" : options.directory;
    host.disk.createDirectory(directory);
    const lock = host.disk.lock(directory);
    try {
      const log = Log.open(host, joinPath(directory, "log"), 0, options.log ?? DEFAULT_LOG_OPTIONS);
      return Promise.resolve(new StorageEngine(options, lock, log));
    } catch (error) {
      lock.release();
      return Promise.reject(error);
    }
  }

  *#replay(): Generator<Entry> {
    for (const { payload } of this.log.entries(0)) yield decodeEntry(payload);
    this.#replaying = false;
  }

  /** Called by the state machine after each replayed entry. */
  entryReplayed(_op: OpNumber, _encodeState: () => Uint8Array): void {
    assert(this.#replaying, "replay is over");
  }

  table(id: number): TableStore {
    return assertDefined(this.#tables.get(id), `table ${id}`);
  }

  createTable(definition: TableDefinition, _op: OpNumber): void {
    this.#tables.set(definition.id, new TableStore({ definition, horizon: this.#horizon }));
  }

  alterTable(definition: TableDefinition, op: OpNumber): void {
    this.table(definition.id).alter(definition, op);
  }

  dropTable(id: number, _op: OpNumber): void {
    assert(this.#tables.delete(id), `table ${id} to drop is missing`);
  }

  get checkpointDue(): boolean {
    return this.log.appendedBytes > LIMITS.maximumEntryBytes * 1024;
  }

  beginCheckpoint(_op: OpNumber, _encodeState: () => Uint8Array): void {
    // Everything is in the log.
  }

  get hasWork(): boolean {
    return false;
  }

  work(_budgetMicroseconds: number): Promise<void> {
    return Promise.resolve();
  }

  snapshotTo(_directory: string, _encodeState: () => Uint8Array, op: OpNumber): Promise<OpNumber> {
    return Promise.resolve(op);
  }

  async close(): Promise<void> {
    try {
      await this.log.close();
    } finally {
      this.#lock.release();
    }
  }
}
