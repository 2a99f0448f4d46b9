/**
 * Storage as a whole: the log, the tables with their files, checkpoints, and opening what a directory holds.
 *
 * Opening takes the directory's lock, restores the tables of the last checkpoint, removes what unfinished work has
 * left, and recovers the log; the state machine then replays the entries of {@link StorageEngine.recovered}. While it
 * runs, every change comes from the state machine, in order; checkpoints begin at ops that follow from the log's
 * content alone and are written in slices ({@link StorageEngine.work}) or, when the next one is due already, in one
 * go.
 *
 * In a replication group the log may go on beyond what is committed. A checkpoint begins when its entry is applied, at
 * the same ops on every member, and comes to exist when that entry is committed.
 *
 * Invariants: one process per directory; a file that the installed manifest names is never changed. A checkpoint that
 * finds the disk full waits until the log has grown a little more and goes on then; one that fails otherwise stops
 * the log, so that the node stops as after a failed sync. Limits: see `limits.ts`.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { STAGE_ROW_BYTES } from "../catalog/stage_table.ts";
import { type DirectoryLock, type Disk, isDiskFull, joinPath } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { MemoryDisk } from "../host/memory_host.ts";
import { turnWork } from "../host/turn_work.ts";
import { factsOfState } from "../operations/history_digest.ts";
import { type OpNumber, opNumber, type Slice } from "../operations/effect.ts";
import { Checkpoint, removeUnnamedFiles } from "./checkpoint.ts";
import { CheckpointPace, type EntryWeight } from "./checkpoint_pace.ts";
import type { CommitHorizon } from "./commit_horizon.ts";
import { DroppedTables } from "./dropped_tables.ts";
import { DamagedFileError } from "./table/damaged_file.ts";
import { FileHashes } from "./file_hashes.ts";
import { IndexBuilds } from "./index_builds.ts";
import { Log } from "./log.ts";
import { aloneLogOptions, DEFAULT_LOG_OPTIONS, memberLogOptions } from "./log_options.ts";
import { type Manifest, readManifest, readProven } from "./manifest.ts";
import { type RecoveredEntry, recoveredEntry } from "./recovered_entry.ts";
import { copySnapshot, prepareSnapshotDirectory } from "./snapshot_copy.ts";
import type { MemberStorage, StorageOptions } from "./storage_options.ts";
import type { StorageStatistics } from "./storage_statistics.ts";
import {
  PartLog,
  type PartStorage,
  requireSlices,
  type StorageLog,
  type StorageParts,
} from "./storage_parts.ts";
import { BlockCache } from "./table/block_cache.ts";
import type { TablePiece } from "./table/table_piece.ts";
import { type SegmentFiles, segmentFilesIn } from "./table/segment_files.ts";
import { type SnapshotHorizon, TableStore } from "./table/table_store.ts";
import { UncommittedLog } from "./uncommitted_log.ts";

/** What was found at opening. */
export interface Recovered {
  /** The state machine's state at the checkpoint; null in a new database. */
  readonly machineState: Uint8Array | null;
  /** The checkpoint's op; 0 in a new database. */
  readonly checkpointOp: OpNumber;
  /** The entries after it, in order; to be taken once, before anything else is done. */
  entries(): Iterable<RecoveredEntry>;
}

/** Where the log is, in the data directory. */
export const LOG_DIRECTORY = "log";
/** Where the files of tables are, in the data directory. */
export const TABLES_DIRECTORY = "tables";
const IN_TABLES = `${TABLES_DIRECTORY}/`;
export const MEMORY = ":memory:";
const CHECKPOINT_SLICE_MICROSECONDS = 2000;

/** Of an entry that is worth one, and stays among the recent ones, for which the log is not read. */
const MIN_STAGE_PART_ROWS = 4, MAX_STAGE_PART_ROWS = 240;
/** How soon what has found the disk full is tried again, where everything else waits for it. */
const SPACE_RETRY_MICROSECONDS = 300_000;

/** Readers of parts that a checkpoint or a truncation has replaced are mostly gone after so many group commits. */
const RELEASES = 16;

/** Storage as a whole: the log, the tables with their files, checkpoints, and opening what a directory holds. */
export class StorageEngine<L extends StorageLog = Log> {
  readonly log: L;
  readonly recovered: Recovered;
  readonly #host: Host;
  /** Where snapshots go: the host's disk also when the database itself is in memory. */
  readonly #snapshotDisk: Disk;
  readonly #directory: string;
  /** The database ends with its process. */
  readonly #isMemory: boolean;
  readonly #tablesDirectory: string;
  readonly #lock: DirectoryLock;
  readonly #horizon: Required<SnapshotHorizon>;
  readonly #files: SegmentFiles;
  /** What the files of a member of a replication group are known by. */
  readonly #hashes: FileHashes | null;
  readonly #cache: BlockCache;
  readonly #pace: CheckpointPace;
  readonly #replayTo: number;
  readonly #committed: CommitHorizon;
  /** This is a part of another storage, which says when checkpoints begin and when they exist. */
  readonly #part: PartStorage | null;
  readonly #parts: StorageParts | null;
  /** Set at a member of a replication group. */
  readonly #uncommitted: UncommittedLog | null;
  readonly #tables = new Map<number, TableStore>();
  readonly #indexBuilds = new IndexBuilds();
  /** Gone from the catalog, but the installed manifest may still name their files. */
  readonly #dropped = new DroppedTables();
  #manifest: Manifest | null;
  #checkpoint: Checkpoint | null = null;
  /** Checkpoints that were installed since the start. */
  #checkpoints = 0;
  #isReplaying = true;
  /** What whoever applies an entry in steps, or replays the log, waits for before the next step. */
  stepWait: Promise<void> | null = null;
  #working: Promise<void> | null = null;
  /** Why the checkpoint under way does not go on, and the bytes of log at which it tries again. */
  #diskFull: { readonly error: DatabaseError; readonly untilBytes: number } | null = null;
  /** What a member's checkpoint under way, or the building of an index, needs and cannot read. */
  #damage: DamagedFileError | null = null;
  /** How often to look again for parts that were replaced. */
  #releases = 0;
  /** A table was emptied, and what it held may have no readers now. */
  #isTruncated = false;

  private constructor(
    options: StorageOptions,
    place: { readonly host: Host; readonly directory: string; readonly lock: DirectoryLock },
    part: PartStorage | null,
    openLog: (checkpointOp: OpNumber, machineState: Uint8Array | null) => L,
  ) {
    const { host, directory, lock } = place;
    const { disk } = host;
    this.#host = host;
    this.#snapshotDisk = options.host.disk;
    this.#directory = directory;
    this.#isMemory = options.directory === MEMORY;
    this.#lock = lock;
    this.#tablesDirectory = joinPath(directory, TABLES_DIRECTORY);
    disk.createDirectory(this.#tablesDirectory);
    this.#hashes = options.member === undefined ? null : new FileHashes(disk, this.#tablesDirectory);
    this.#files = segmentFilesIn(disk, this.#tablesDirectory, {
      hashes: this.#hashes,
      onDamage: (path) => this.#noticeDamage(path, options.member),
    });
    this.#cache = new BlockCache(options.blockCacheBytes ?? LIMITS.blockCacheBytes);
    const { checkpointLogBytes = LIMITS.checkpointLogBytes } = options;
    this.#pace = new CheckpointPace(checkpointLogBytes, part === null && options.member === undefined);
    this.#horizon = {
      // Nobody reads old versions before the log is replayed.
      oldestSnapshot: () => this.#isReplaying ? Infinity : options.horizon.oldestSnapshot(),
      hasReaders: () => options.horizon.hasReaders?.() ?? true,
      isReplaying: () => this.#isReplaying,
    };
    this.#part = part;
    this.#parts = options.parts ?? null;
    const { manifest, leftOver } = part === null
      ? readManifest(disk, directory)
      : { manifest: part.manifest, leftOver: [] };
    this.#manifest = manifest;
    for (const { name, ...file } of manifest?.group?.files ?? []) {
      if (name.startsWith(IN_TABLES)) this.#hashes?.add({ name: name.slice(IN_TABLES.length), ...file });
    }
    const machineState = manifest === null ? null : this.#readState(manifest);
    try {
      this.#restoreTables(manifest);
    } catch (error) {
      for (const store of this.#tables.values()) store.close();
      throw error;
    }
    const checkpointOp = manifest?.op ?? opNumber(0);
    const { member } = options;
    this.log = openLog(checkpointOp, machineState);
    const damage = this.log.damaged.find(({ to }) => to > checkpointOp);
    this.#replayTo = Math.min(
      member?.replayTo ?? Infinity,
      this.log.lastOp,
      Math.max((damage?.from ?? Infinity) - 1, checkpointOp),
    );
    this.#committed = part?.installed ?? member?.horizon ?? this.log;
    assert(part !== null || this.#committed.durableOp >= this.#replayTo, "what is replayed is committed");
    this.#uncommitted = member === undefined ? null : new UncommittedLog(
      member.horizon,
      Math.min(LIMITS.uncommittedLogBytes, checkpointLogBytes / 2),
    );
    this.log.onDurable(() => this.#release());
    for (const name of leftOver) disk.remove(joinPath(directory, name));
    removeUnnamedFiles(disk, manifest, { directory, tablesDirectory: this.#tablesDirectory });
    this.recovered = { machineState, checkpointOp, entries: () => this.#replay(checkpointOp) };
  }

  /**
   * Opens or creates a database. Raises 55006 when another process has it open, XX001 when it is damaged (with
   * file and offset), 58030 or 53100 when the disk refuses.
   */
  static open(options: StorageOptions): Promise<StorageEngine> {
    const { log = DEFAULT_LOG_OPTIONS, member, checkpointLogBytes = LIMITS.checkpointLogBytes } = options;
    return StorageEngine.#open(options, null, (place) => (op, machineState) => {
      const directory = joinPath(place.directory, LOG_DIRECTORY);
      if (member === undefined) {
        return Log.open(place.host, directory, { op }, aloneLogOptions(log, checkpointLogBytes));
      }
      const known = machineState === null ? null : factsOfState(machineState);
      return Log.open(
        place.host,
        directory,
        { op, ...(known === null ? {} : { digest: known.digest }) },
        memberLogOptions(log, checkpointLogBytes, known?.clusterVersion ?? 1),
      );
    });
  }

  /** The same for a part of another storage, of which it has tables, and no log. */
  static openPart(options: StorageOptions, part: PartStorage): Promise<StorageEngine<PartLog>> {
    return StorageEngine.#open(options, part, () => (op) => new PartLog(op));
  }

  static #open<L extends StorageLog>(
    options: StorageOptions,
    part: PartStorage | null,
    openLog: (
      place: { readonly host: Host; readonly directory: string },
    ) => (checkpointOp: OpNumber, machineState: Uint8Array | null) => L,
  ): Promise<StorageEngine<L>> {
    const isMemory = options.directory === MEMORY;
    const host = isMemory ? { ...options.host, disk: new MemoryDisk() } : options.host;
    const directory = isMemory ? "memory" : options.directory;
    return Promise.resolve().then(() => {
      host.disk.createDirectory(directory);
      const lock = host.disk.lock(directory);
      try {
        return new StorageEngine(options, { host, directory, lock }, part, openLog({ host, directory }));
      } catch (error) {
        lock.release();
        throw error;
      }
    });
  }

  #readState({ state }: Manifest): Uint8Array {
    const path = joinPath(this.#directory, state.name);
    if (this.#hashes !== null && !this.#disk.exists(path)) {
      throw new DamagedFileError(path, 0, "the file is missing");
    }
    return readProven(this.#disk, this.#directory, state);
  }

  #restoreTables(manifest: Manifest | null): void {
    for (const table of manifest?.tables ?? []) {
      // The manifest's checksum stands for the shape: TableStore.describe() made it.
      const store = TableStore.restore(
        table.storage as unknown as TablePiece,
        this.#tableOptions(table.definition),
      );
      this.#tables.set(table.id, store);
      this.#indexBuilds.note(store);
    }
  }

  #tableOptions(definition: TableDefinition) {
    return {
      definition,
      horizon: this.#horizon,
      files: this.#files,
      cache: this.#cache,
      onTruncated: () => {
        this.#releases = RELEASES;
        this.#isTruncated = true;
      },
    };
  }

  /** Members fetch it from others. One that no manifest names yet is not known to be damaged: it was just written. */
  #noticeDamage(path: string, member: MemberStorage | undefined): void {
    const file = this.#manifest?.group?.files.find(({ name }) => joinPath(this.#directory, name) === path);
    if (file !== undefined) member?.onDamage?.(file);
  }

  /** A file that was damaged is whole again: what waited for it goes on. */
  repaired(): void {
    this.#damage = null;
    this.#parts?.repaired();
  }

  /** Each part of the state is to apply what the entry has for it. */
  applySlices(op: OpNumber, timestamp: number, slices: readonly Slice[]): void {
    requireSlices(slices, this.#directory, this.#parts?.count ?? 1);
    this.#parts?.apply(op, timestamp, slices);
  }

  /** A checkpoint of a part that found the disk full goes on. */
  retryCheckpoint(): void {
    this.#diskFull = null;
  }

  get #disk(): Disk {
    return this.#host.disk;
  }

  *#replay(after: OpNumber): Generator<RecoveredEntry> {
    if (after < this.#replayTo) {
      for (const logged of this.log.entries(after)) {
        yield recoveredEntry(logged);
        if (logged.op === this.#replayTo) break;
      }
    }
    this.#isReplaying = false;
  }

  /**
   * Called by the state machine after each entry. Whether a checkpoint begins after it is a function of the log's
   * content alone, as long as the disk has space: the log has grown enough, or the entry asks for it.
   */
  entryApplied(
    entry: {
      readonly op: OpNumber;
      readonly payloadBytes: number;
      readonly heldBytes: number;
      readonly wantsCheckpoint: boolean;
    },
    encodeState: () => Uint8Array,
  ): void {
    this.#pace.applied({ bytes: this.log.headBytes + entry.payloadBytes, held: entry.heldBytes });
    this.#uncommitted?.add(entry.op, this.#pace.appliedBytes);
    if (this.#part !== null || !entry.wantsCheckpoint && !this.#isCheckpointDue) return;
    this.beginCheckpoint(entry.op, encodeState);
  }

  /** Finishes a checkpoint that began while the log was replayed, before the next entry. */
  *finishReplayed(): Generator<void, void> {
    assert(this.#isReplaying, "replay is over");
    try {
      const checkpoint = this.#checkpoint;
      while (checkpoint?.buildStep() === false) yield;
      if (checkpoint !== null && this.#lacksParts(checkpoint)) {
        this.stepWait = this.#gatherParts(checkpoint).catch((error) => this.#checkpointFailed(error));
        yield;
        this.stepWait = null;
      }
      this.#finishCheckpointNow();
    } catch (error) {
      this.#checkpointFailed(error);
    }
    if (this.log.error !== null) throw this.log.error;
  }

  /** Called by the state machine after the last of them: indexes are made from now on, between other work. */
  endReplay(): void {
    assert(!this.#isReplaying, "replay is over");
    for (const store of this.#tables.values()) {
      store.endReplay();
      this.#indexBuilds.note(store);
    }
  }

  /** The table with this id, which must exist. */
  table(id: number): TableStore {
    const store = this.#tables.get(id);
    // Checked by hand: this runs for each point query, and must not build a message each time.
    if (store === undefined) assert(false, `table ${id} is missing`);
    return store;
  }

  hasTable(id: number): boolean {
    return this.#tables.has(id);
  }

  /** Adds a table; called while its entry is applied. */
  createTable(definition: TableDefinition, _op: OpNumber): void {
    assert(!this.#tables.has(definition.id), `table ${definition.id} exists`);
    this.#tables.set(definition.id, new TableStore(this.#tableOptions(definition)));
  }

  /** Gives a table its new definition. */
  alterTable(definition: TableDefinition, op: OpNumber): void {
    const store = this.table(definition.id);
    store.alter(definition, op);
    this.#indexBuilds.note(store);
  }

  /** Drops a table: its rows go after their last readers, its files when no manifest needs them any more. */
  dropTable(id: number, op: OpNumber): void {
    const store = this.table(id);
    this.#cache.forgetCounts([id, ...store.definition.indexes.map((index) => index.id)]);
    this.#indexBuilds.forget(store);
    this.#dropped.add(store, op);
    this.#tables.delete(id);
  }

  /** Rows in bulk of an entry of so many bytes become segments while it is applied, whenever they take so much. */
  cutBytesOf(entryBytes: number): number {
    return this.#pace.cutBytesOf(entryBytes);
  }

  /** The same for rows in bulk that are in the stage. */
  get stagedCutBytes(): number {
    return this.#pace.limitBytes;
  }

  /** A transaction that brings more had better come in several entries, of {@link stagePartBytes} each. */
  get leastStagedBytes(): number {
    return Math.min(4 * this.#pace.limitBytes, LIMITS.partedEntryBytes);
  }

  get stagePartBytes(): number {
    const rows = Math.floor(this.#pace.limitBytes / 64 / STAGE_ROW_BYTES);
    return Math.min(Math.max(rows, MIN_STAGE_PART_ROWS), MAX_STAGE_PART_ROWS) * STAGE_ROW_BYTES;
  }

  /** Called where a cut finds the disk full: the next step waits. Null: the next checkpoint makes the segment. */
  get waitForSpace(): (() => void) | null {
    return this.isMember ? () => this.stepWait = this.#pause() : null;
  }

  /** Resolves when it may be worth trying again what has found the disk full. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => this.#host.timers.setTimer(SPACE_RETRY_MICROSECONDS, resolve));
    this.stepWait = null;
  }

  get #isCheckpointDue(): boolean {
    return this.#pace.isDue && !this.#isPaused;
  }

  /** Whether this is the state of a member of a replication group. */
  get isMember(): boolean {
    return this.#uncommitted !== null;
  }

  /** The manifest of the last finished checkpoint. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  /** Op of the last finished checkpoint; 0 when there is none. */
  get checkpointOp(): OpNumber {
    return this.#manifest?.op ?? opNumber(0);
  }

  /**
   * Begins a checkpoint at `op`, the last one applied: freezes the tables and takes the state. A checkpoint that is
   * still under way is finished first, blocking. Does nothing when the last checkpoint is at this op already, or when
   * the one under way cannot be finished: the disk is too full, or its entry is not committed, against which
   * {@link mustFinishFirst} guards. Never raises: a failure stops the log.
   */
  beginCheckpoint(op: OpNumber, encodeState: () => Uint8Array): void {
    if (this.log.error !== null || !this.#finishCheckpointNow()) return;
    this.#pace.begin();
    for (const store of this.#tables.values()) store.releaseOldVersions();
    if (op === this.checkpointOp && this.#manifest !== null) return;
    this.#checkpoint = new Checkpoint(op, encodeState(), this.#tables, {
      disk: this.#disk,
      directory: this.#directory,
      tablesDirectory: this.#tablesDirectory,
      log: this.log,
      committed: this.#committed,
      previous: this.#manifest,
      isPart: this.#part !== null,
      hashes: this.#hashes === null ? null : { files: this.#hashes, tablesName: TABLES_DIRECTORY },
    });
    this.#parts?.beginCheckpoint(op);
  }

  #lacksParts(checkpoint: Checkpoint): boolean {
    return this.#parts !== null && checkpoint.parts === null;
  }

  async #gatherParts(checkpoint: Checkpoint): Promise<void> {
    if (this.#parts !== null) checkpoint.parts ??= await this.#parts.builtCheckpoint(checkpoint.op);
  }

  /** Whether a checkpoint is under way, however long it will take. */
  get isCheckpointing(): boolean {
    return this.#checkpoint !== null && !this.#isPaused && this.log.error === null;
  }

  /**
   * Whether an entry would have to wait until the checkpoint under way is finished, blocking: the
   * next one would be due. In a replication group also whether the log would be too far ahead of the commit number.
   * Whoever can wait does so by {@link finishFirst} until it is done.
   */
  mustFinishFirst(entry: EntryWeight): boolean {
    if (this.#uncommitted?.isFull(entry.bytes) === true && this.log.error === null) return true;
    return this.isCheckpointing && this.#pace.isNearlyDueAfter(entry);
  }

  /**
   * Goes on for about that long with what {@link mustFinishFirst} waits for. Rejects when this member of a replication
   * group stops ordering entries meanwhile.
   */
  async finishFirst(budgetMicroseconds: number): Promise<void> {
    const checkpoint = this.#checkpoint;
    if (this.hasWork) await this.work(budgetMicroseconds);
    else if (this.isCheckpointing && checkpoint?.isBuilt === true && checkpoint.isCommitted) {
      await this.log.whenDurable(checkpoint.op);
    } else if (this.#uncommitted !== null) await this.#committed.whenDurable(this.#committed.durableOp + 1);
    await this.#host.timers.yieldToLoop();
  }

  /**
   * The same, also where the checkpoint has found the disk full; false: there is none, and what is applied now finds
   * the same files at each member.
   */
  async finishAny(budgetMicroseconds: number): Promise<boolean> {
    if (this.#checkpoint === null || this.log.error !== null) return false;
    if (this.#isPaused) {
      await this.#pause();
      this.#diskFull = null;
    } else await this.finishFirst(budgetMicroseconds);
    return true;
  }

  /** Raises 53100 where a checkpoint waits for space. */
  requireNoCheckpoint(): void {
    const reason = this.#diskFullError() ?? this.#damage;
    if (this.#checkpoint !== null && reason !== null) throw reason;
  }

  /** Whether no checkpoint is under way any more. */
  #finishCheckpointNow(): boolean {
    const checkpoint = this.#checkpoint;
    if (checkpoint === null) return true;
    if (this.#waitsForOthers && !checkpoint.isCommitted || this.#lacksParts(checkpoint)) return false;
    const before = turnWork.began("checkpoint finished at once");
    try {
      this.#installed(checkpoint, checkpoint.finishNow());
      turnWork.began(before);
      return true;
    } catch (error) {
      this.#checkpointFailed(error);
      return false;
    }
  }

  #installed(checkpoint: Checkpoint, manifest: Manifest): void {
    assert(this.#checkpoint === checkpoint, "the checkpoint under way is the one installed");
    this.#checkpoint = null;
    this.#pace.installed();
    this.#diskFull = null;
    this.#manifest = manifest;
    this.#releases = RELEASES;
    this.#dropped.closeUntil(manifest.op);
    this.#parts?.installed(manifest.op);
  }

  /** Whether others say when a checkpoint may come to exist. */
  get #waitsForOthers(): boolean {
    return this.#uncommitted !== null || this.#part !== null;
  }

  /** Lets tables go of parts that no reader can see any more. */
  #release(): void {
    if (this.#dropped.count > 0 && this.#checkpoint === null) {
      this.#dropped.closeUntil(this.#horizon.oldestSnapshot());
    }
    if (this.#releases === 0) return;
    this.#releases--;
    for (const store of this.#tables.values()) store.releaseOldVersions();
  }

  #checkpointFailed(error: unknown): void {
    if (error instanceof DamagedFileError && this.#uncommitted !== null) {
      this.#damage = error;
      return;
    }
    if (isDiskFull(error)) {
      this.#diskFull = {
        error,
        untilBytes: this.#part === null ? this.#pace.appliedBytes + LIMITS.checkpointRetryLogBytes : Infinity,
      };
      this.#part?.onUnbuilt(error);
      return;
    }
    this.#checkpoint?.abandon();
    this.#checkpoint = null;
    this.log.stop(error);
  }

  #diskFullError(): DatabaseError | null {
    return this.#diskFull?.error ?? null;
  }

  get #isPaused(): boolean {
    if (this.#damage !== null) return true;
    return this.#diskFull !== null && this.#pace.appliedBytes < this.#diskFull.untilBytes;
  }

  /** Whether {@link work} has anything to do. */
  get hasWork(): boolean {
    if (this.log.error !== null || this.#isPaused) return false;
    return this.#isCheckpointAtWork || this.#indexBuilds.hasWork || this.#isTruncated;
  }

  /**
   * Whether {@link work} can go on with the checkpoint under way. That of a member waits for its commit: until then the
   * others have a large entry to fetch, for which this one has better things to do.
   */
  get #isCheckpointAtWork(): boolean {
    const checkpoint = this.#checkpoint;
    if (checkpoint === null) return false;
    if (this.#part === null && this.#uncommitted !== null && !checkpoint.isCommitted) return false;
    return !this.#waitsForOthers || !checkpoint.isBuilt || checkpoint.isInstallable;
  }

  /**
   * Goes on with the checkpoint under way for about that long; the promise also covers waiting for the disk. A failure
   * stops the log (see `Log.failed`) and is not raised here.
   */
  work(budgetMicroseconds: number): Promise<void> {
    return this.#working ??= this.#work(budgetMicroseconds).finally(() => {
      this.#working = null;
    });
  }

  async #work(budgetMicroseconds: number): Promise<void> {
    const checkpoint = this.#checkpoint;
    if (this.#isTruncated) {
      this.#isTruncated = false;
      try {
        // The transaction that did it has ended by then.
        await this.#host.timers.yieldToLoop();
        this.#release();
      } catch (error) {
        this.log.stop(error);
      }
      return;
    }
    if (checkpoint === null || !this.#isCheckpointAtWork) {
      this.#buildIndexes(budgetMicroseconds);
      return;
    }
    const isCurrent = () => this.#checkpoint === checkpoint;
    turnWork.began("checkpoint");
    try {
      const deadline = this.#host.clock.monotonic() + budgetMicroseconds;
      while (!checkpoint.buildStep()) if (this.#host.clock.monotonic() >= deadline) return;
      await checkpoint.sync(isCurrent);
      // The entry of a member's checkpoint may never become durable.
      if (!this.#waitsForOthers && isCurrent()) await this.log.whenDurable(checkpoint.op);
      if (this.#part !== null && isCurrent() && !checkpoint.isCommitted) {
        this.#part.onBuilt(checkpoint.complete());
      }
      if (isCurrent() && checkpoint.isInstallable) await this.#gatherParts(checkpoint);
      // A commit may have needed the next checkpoint meanwhile and finished this one.
      if (!isCurrent() || !checkpoint.isInstallable) return;
      this.#installed(checkpoint, checkpoint.install());
      this.#checkpoints++;
      // No statement is under way here: without readers what was replaced can go now, not after the next commits.
      if (!this.#horizon.hasReaders()) {
        for (const store of this.#tables.values()) store.releaseOldVersions(true);
      }
    } catch (error) {
      if (isCurrent()) this.#checkpointFailed(error);
      // A sync failed behind the back of the commit that finished this checkpoint.
      else this.log.stop(error);
    }
  }

  #buildIndexes(budgetMicroseconds: number): void {
    const { clock } = this.#host;
    const deadline = clock.monotonic() + budgetMicroseconds;
    this.#indexBuilds.work(() => clock.monotonic() >= deadline, (error) => {
      const isDamage = error instanceof DamagedFileError && this.#uncommitted !== null;
      if (isDamage) this.#damage = error;
      else if (!isDiskFull(error)) this.log.stop(error);
      return isDamage;
    });
  }

  /** Drives the checkpoint under way to its end, in slices. */
  async #finishCheckpoint(): Promise<void> {
    this.#diskFull = null;
    while (this.#checkpoint !== null && this.log.error === null) {
      await this.finishFirst(CHECKPOINT_SLICE_MICROSECONDS);
      const pause = this.#damage ?? this.#diskFullError();
      if (pause !== null) throw pause;
    }
    if (this.log.error !== null) throw this.log.error;
  }

  /**
   * Makes a checkpoint of the newest state: `begin` begins it, in the turn in which nothing is under way any more.
   * `whenIdle` answers what to wait for while an entry is applied in steps.
   */
  async makeCheckpoint(begin: () => void, whenIdle: () => Promise<void> | null = () => null): Promise<void> {
    for (;;) {
      await this.#finishCheckpoint();
      const busy = whenIdle();
      if (busy !== null) await busy;
      else if (this.#checkpoint === null) break;
    }
    // From here to the freeze nothing else runs, so the state is that of the newest op.
    begin();
    await this.#finishCheckpoint();
  }

  /**
   * Copies the database to a directory, which must be empty or missing, while writes go on; `makeCheckpoint` makes
   * the one that is copied. Answers the op of which the copy has exactly the state. Raises 55000 when the directory
   * holds something.
   */
  async snapshotTo(directory: string, makeCheckpoint: () => Promise<void>): Promise<OpNumber> {
    if (this.#parts !== null && this.#isMemory) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "snapshots of a database of several shards in memory are not supported",
      );
    }
    prepareSnapshotDirectory(this.#snapshotDisk, directory);
    await makeCheckpoint();
    const manifest = assertDefined(this.#manifest, "manifest");
    await copySnapshot({
      disk: this.#disk,
      targetDisk: this.#snapshotDisk,
      timers: this.#host.timers,
      manifest,
      source: this.#directory,
      target: directory,
      tablesName: TABLES_DIRECTORY,
      others: this.#parts?.otherFiles ?? [],
    });
    return manifest.op;
  }

  /** The tables that there are. */
  get tables(): Iterable<TableStore> {
    return this.#tables.values();
  }

  /** Reads all files and raises XX001 naming file and offset of the first damage. */
  verify(): void {
    this.log.verify();
    const manifest = this.#part === null
      ? readManifest(this.#disk, this.#directory).manifest
      : this.#manifest;
    if (manifest !== null) readProven(this.#disk, this.#directory, manifest.state);
    for (const store of this.#tables.values()) store.verify();
  }

  /**
   * Before {@link close}, by an owner that has time: a checkpoint, when reading the log again or building indexes again
   * would keep the next start waiting. Where the disk has no room for it the next start does that.
   */
  async settle(encodeState: () => Uint8Array): Promise<void> {
    await this.#working;
    if (this.log.error !== null || !this.#isWorthCheckpoint()) return;
    try {
      await this.#finishCheckpoint();
      if (!this.#isWorthCheckpoint()) return;
      this.beginCheckpoint(this.log.lastOp, encodeState);
      await this.#finishCheckpoint();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  #isWorthCheckpoint(): boolean {
    // A member makes no checkpoint that the others do not make.
    if (this.#isMemory || this.#waitsForOthers || this.log.lastOp === this.checkpointOp) return false;
    if (this.#pace.behindBytes >= LIMITS.settledLogBytes) return true;
    for (const store of this.#tables.values()) if (store.hasUnnamedIndexes) return true;
    return false;
  }

  /** What was done since the start, and what is held now. */
  statistics(): StorageStatistics {
    let tableBytes = 0, memoryBytes = 0;
    for (const store of this.#tables.values()) {
      tableBytes += store.layout().fileBytes;
      memoryBytes += store.memoryBytes;
    }
    return {
      syncs: this.log.syncs,
      checkpoints: this.#checkpoints,
      logBytes: this.#pace.behindBytes,
      tableBytes,
      memoryBytes,
      cacheBytes: this.#cache.bytes,
      cacheLimitBytes: this.#cache.limitBytes,
      cacheLoads: this.#cache.loads,
      cacheHits: this.#cache.hits,
    };
  }

  /** Makes the log durable and gives everything up. Raises the error of a failed log. */
  async close(): Promise<void> {
    try {
      await this.#working;
      this.#checkpoint?.abandon();
      this.#checkpoint = null;
      await this.log.close();
    } finally {
      for (const store of this.#tables.values()) store.close();
      this.#dropped.closeUntil(Infinity);
      this.#lock.release();
    }
  }
}
