/**
 * The deterministic state machine: the only thing that changes committed state, by applying log entries in order.
 *
 * Invariants: `apply` is total and reads nothing but the entry and the state. Everything a replica needs to go on
 * from a checkpoint is either in table storage or in {@link StateMachine.encodeState}. The digest at an op number
 * depends on the entries up to it and on nothing else.
 *
 * A large entry is committed in steps between which others read: it is encoded, appended and applied piece by piece,
 * and becomes visible when its op becomes {@link StateMachine.lastOp}, at the end. Until then what it has done is
 * under an op that no snapshot reaches. Only one entry is on its way at a time. What is too large for one entry comes
 * in several, which fill the stage (`stage.ts`), and is applied in the same way, with the last of them.
 *
 * A member of a replication group that orders entries commits them; the others {@link StateMachine.apply} what is in
 * their log already, with the same effect.
 */
import { batchWeight } from "../operations/batch_codec.ts";
import type { ColumnStatistics } from "../storage/access/readable_table.ts";
import { assert, unreachable } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Catalog, type CatalogContents } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import { requireSpoken, SPOKEN_VERSIONS, type VersionRange } from "../catalog/cluster_version.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type {
  ClientRequest,
  Effect,
  EffectSource,
  Entry,
  OpNumber,
  RowBatch,
  RowId,
} from "../operations/effect.ts";
import { decodeEntry, decodeInSteps, encodeEntry, encodeInSteps } from "../operations/entry_codec.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import { digestOfHex, HistoryDigest } from "../operations/history_digest.ts";
import { MAX_ROW_ID } from "../operations/value_codec.ts";
import { ReadCounts } from "../storage/access/read_counts.ts";
import type { PayloadFacts, RecoveredEntry } from "../storage/recovered_entry.ts";
import type { StorageEngine } from "../storage/storage_engine.ts";
import type { StorageLog } from "../storage/storage_parts.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import type { TableStore } from "../storage/table/table_store.ts";
import { ClientTable } from "./client_table.ts";
import { SequenceTable, type SequenceValue } from "./sequence_table.ts";
import { Stage } from "./stage.ts";

/** Effects of single rows between two yields. */
const STEP_EFFECTS = 32;
/** The same, of a list of rows. */
const DELETED_AT_ONCE = 256;

/** What {@link StateMachine.encodeState} holds. */
interface MachineState {
  readonly op: number;
  readonly digest: string;
  readonly lastTimestamp: number;
  readonly catalog: CatalogContents;
  readonly clients: readonly ClientRequest[];
  readonly sequences: readonly SequenceValue[];
  readonly rowCounters: readonly (readonly [number, RowId])[];
}

/** What an entry has for a part of the state. */
export interface EntryPart {
  readonly effects: readonly Effect[];
  /** CRC-32C of their bytes. */
  readonly checksum: number;
}

type NumberEffect = Extract<Effect, { kind: "sequence" }>;

const NO_CHANGES = { inserted: 0, updated: 0, deleted: 0 };

/** The deterministic state machine: the only thing that changes committed state, by applying log entries in order. */
export class StateMachine {
  readonly clients = new ClientTable();
  readonly sequences = new SequenceTable();
  readonly stage: Stage;
  readonly #storage: StorageEngine<StorageLog>;
  /** How many rows a table has that are elsewhere; undefined: they are here. */
  remoteRowCount: (tableId: number) => number | undefined = () => undefined;
  /** What is known of a column of such a table. */
  remoteStatistics: (tableId: number, columnId: number) => ColumnStatistics | undefined = () => undefined;
  /** Tells apart what plans over such tables were made with. */
  remoteVersion: ((tableId: number) => number) | null = null;
  /** What such rows take; undefined: they are here. */
  remoteBytes: (tableId: number) => number | undefined = () => undefined;
  /** Highest row id in the log, per table. */
  readonly #rowCounters = new Map<number, RowId>();
  /** Highest row id that this node has handed out; a transaction that rolled back leaves a gap. */
  readonly #rowIdsHandedOut = new Map<number, RowId>();
  /** Reads since the start; counted by whoever reads. */
  readonly reads = new ReadCounts();
  /** What was written to each table since the start, for statistics; the replayed log does not count. */
  #changes = new Map<number, { inserted: number; updated: number; deleted: number }>();
  /** The entry that is being applied asks for a checkpoint. */
  #wantsCheckpoint = false;
  /** What its rows in bulk take in memory. */
  #heldBytes = 0;
  #catalog = Catalog.initial();
  #lastOp = 0 as OpNumber;
  #lastTimestamp = 0;
  readonly #digest = new HistoryDigest();
  #isTorn = false;

  private constructor(storage: StorageEngine<StorageLog>) {
    this.#storage = storage;
    this.stage = new Stage(storage);
  }

  /** The machine at the end of the recovered log. Raises 0A000 for the state of a later release. */
  static recover(storage: StorageEngine<StorageLog>, versions: VersionRange = SPOKEN_VERSIONS): StateMachine {
    const steps = StateMachine.recoverInSteps(storage, versions);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same in steps; before each, `StorageEngine.stepWait` is to be waited for. */
  static *recoverInSteps(
    storage: StorageEngine<StorageLog>,
    versions: VersionRange,
  ): Generator<void, StateMachine> {
    const machine = new StateMachine(storage);
    const { machineState } = storage.recovered;
    if (machineState !== null) machine.#restore(decodeState(machineState));
    let checked: Catalog | null = null;
    for (const { entry, payload } of storage.recovered.entries()) {
      assert(entry.op === machine.#lastOp + 1, `entry ${entry.op} follows ${machine.#lastOp}`);
      if (storage.cutBytesOf(payload.bytes) === Infinity && !machine.stage.exists) {
        machine.#apply(entry, payload);
      } else yield* machine.#applyCut(entry, payload);
      if (checked !== machine.#catalog) requireSpoken(versions, (checked = machine.#catalog).clusterVersion);
      if (storage.isCheckpointing) yield* storage.finishReplayed();
      if ((entry.op & (STEP_EFFECTS - 1)) === 0) yield;
    }
    requireSpoken(versions, machine.#catalog.clusterVersion);
    storage.endReplay();
    machine.#changes = new Map();
    return machine;
  }

  get lastOp(): OpNumber {
    return this.#lastOp;
  }

  /**
   * Whether an entry is applied in part, and nobody goes on with it: what it has done is behind every snapshot, and
   * nothing else may be applied. The state is to be built again.
   */
  get isTorn(): boolean {
    return this.#isTorn;
  }

  /** Rows written to a table since the start. */
  changesOf(
    tableId: number,
  ): { readonly inserted: number; readonly updated: number; readonly deleted: number } {
    return this.#changes.get(tableId) ?? NO_CHANGES;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Microseconds since 2000-01-01 UTC; the newest timestamp in the log. */
  get lastTimestamp(): number {
    return this.#lastTimestamp;
  }

  /** Digest of the history up to {@link lastOp}. */
  get digestValue(): bigint {
    return this.#digest.value;
  }

  /** The same as 16 hexadecimal digits. */
  digest(): string {
    return this.#digest.hex;
  }

  /** The highest row id of each table that any entry has created. */
  get rowCounters(): ReadonlyMap<number, RowId> {
    return this.#rowCounters;
  }

  /** Bytes that a table's rows take, in files and in memory. */
  storedBytes(tableId: number): number {
    const remote = this.remoteBytes(tableId);
    if (remote !== undefined) return remote;
    const store = this.store(tableId);
    return store.layout().fileBytes + store.memoryBytes;
  }

  /** What is known of the values of a column. */
  columnStatistics(tableId: number, columnId: number): ColumnStatistics | undefined {
    if (this.remoteRowCount(tableId) !== undefined) return this.remoteStatistics(tableId, columnId);
    return this.store(tableId).at(this.lastOp).statistics(columnId);
  }

  /** How often tables were analyzed: while it stays the same, plans need not ask about each of theirs. */
  analyses = 0;

  /** Tells apart what plans over the table were made with. */
  statisticsVersion(tableId: number): number {
    if (this.#catalog.table(tableId) === undefined) return 0;
    return this.store(tableId).analysisVersion + (this.remoteVersion?.(tableId) ?? 0);
  }

  /** Live rows of a table; 0 for one that is not there. */
  rowCount(tableId: number): number {
    if (this.#catalog.table(tableId) === undefined) return 0;
    return this.remoteRowCount(tableId) ?? this.store(tableId).rowCount;
  }

  store(tableId: number): TableStore {
    return this.#storage.table(tableId);
  }

  newestSequenceValue(sequenceId: number): SequenceValue | undefined {
    return this.sequences.newest(sequenceId);
  }

  nextRowId(tableId: number): RowId {
    const logged = this.#rowCounters.get(tableId) ?? 0;
    const handedOut = this.#rowIdsHandedOut.get(tableId) ?? 0;
    const next = increment(handedOut > logged ? handedOut : logged);
    this.#handOut(tableId, next);
    return next;
  }

  /** Raises 2200H beyond the largest id, which a statement may have given to a row by itself. */
  #handOut(tableId: number, last: RowId): void {
    if (last > MAX_ROW_ID) {
      const name = this.catalog.table(tableId)?.name ?? tableId;
      throw new DatabaseError(
        SQLSTATE.sequenceGeneratorLimitExceeded,
        `Cannot give a row of table "${name}" an id: the largest, ${MAX_ROW_ID}, is taken`,
        { hint: "Say which id a row is to have: INSERT INTO … ID n." },
      );
    }
    this.#rowIdsHandedOut.set(tableId, last);
  }

  reserveRowIds(tableId: number, count: number): RowId {
    const first = this.nextRowId(tableId);
    if (count === 1) return first;
    const last = BigInt(first) + BigInt(count - 1);
    this.#handOut(tableId, last <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(last) : last);
    return first;
  }

  /** Numbers of sequences and tables that were handed out and that no entry says yet. */
  unloggedNumbers(): NumberEffect[] {
    const effects: NumberEffect[] = this.sequences.unlogged.map((each) => ({ kind: "sequence", ...each }));
    for (const [tableId, id] of this.#rowIdsHandedOut) {
      if (id <= (this.#rowCounters.get(tableId) ?? 0)) continue;
      effects.push({ kind: "sequence", sequenceId: tableId, value: id, called: true });
    }
    return effects;
  }

  commit(entry: {
    readonly timestamp: number;
    readonly client: ClientRequest | null;
    readonly effects: readonly Effect[];
  }): OpNumber {
    const op = (this.#lastOp + 1) as OpNumber;
    const complete: Entry = { op, ...entry };
    const payload = encodeEntry(complete);
    const checksum = this.#storage.log.append(op, payload);
    const facts = { checksum, bytes: payload.length };
    if (this.#storage.cutBytesOf(facts.bytes) === Infinity && !this.stage.exists) {
      this.#apply(complete, facts);
    } else for (const _ of this.#applyCut(complete, facts));
    return op;
  }

  /** Applies the entry after the last one; its bytes are in the log. Raises XX001 when they are no entry. */
  apply(payload: Uint8Array): void {
    const entry = decodeEntry(payload);
    assert(entry.op === this.#lastOp + 1, `entry ${entry.op} follows ${this.#lastOp}`);
    try {
      this.#perform(entry, { checksum: crc32c(payload), bytes: payload.length });
    } catch (error) {
      this.#stopUnlessDamaged(error);
      throw error;
    }
  }

  /**
   * As a part of a state whose log is elsewhere: applies what an entry has for this part, if it is not in the state.
   * The state is that of the op afterwards, whether the entry has anything or not.
   */
  applyPart(op: OpNumber, timestamp: number, part: EntryPart | null): void {
    if (op <= this.#lastOp) return;
    try {
      for (const effect of part?.effects ?? []) this.#applyEffect(effect, op, timestamp);
      if (part !== null) this.#digest.mix(part.checksum, op);
      this.#lastOp = op;
      this.#lastTimestamp = Math.max(this.#lastTimestamp, timestamp);
    } catch (error) {
      this.#storage.log.stop(error);
      throw error;
    }
  }

  /** What a member cannot read it fetches from others, and then builds this state again. */
  #stopUnlessDamaged(error: unknown): void {
    if (!(error instanceof DamagedFileError && this.#storage.isMember)) this.#storage.log.stop(error);
  }

  /** The same for a large entry, in steps between which others read. To be driven to its end, or given up with all. */
  *applyInSteps(payload: Uint8Array | StoredPayload): Generator<void, void> {
    try {
      if (!(payload instanceof Uint8Array)) yield* payload.prove();
      const entry = decodeInSteps(payload);
      assert(entry.op === this.#lastOp + 1, `entry ${entry.op} follows ${this.#lastOp}`);
      const finish = yield* this.#applyInSteps(entry.op, entry.effects.each(), entry.timestamp);
      const checksum = payload instanceof Uint8Array ? crc32c(payload) : payload.checksum;
      finish();
      this.#finishEntry(entry.op, entry, { checksum, bytes: payload.length });
    } catch (error) {
      this.#stopUnlessDamaged(error);
      throw error;
    }
  }

  /** Forgets what this node has handed out beyond the log: from now on another one hands out. */
  followLog(): void {
    this.sequences.followLog();
    this.#rowIdsHandedOut.clear();
  }

  /**
   * Commits a large entry, in steps. Nobody else may commit, and no checkpoint may begin, before the last of
   * them. An error before the entry is in the log (a full disk, an entry beyond the limit) leaves everything as it
   * was.
   */
  *commitInSteps(entry: {
    readonly timestamp: number;
    readonly client: ClientRequest | null;
    readonly effects: EffectSource;
  }): Generator<void, OpNumber> {
    const op = (this.#lastOp + 1) as OpNumber;
    const pieces = this.#storage.log.appendInPieces(op, entry.effects.estimatedBytes);
    try {
      yield* encodeInSteps({ op, ...entry }, (piece) => pieces.write(piece));
      pieces.finish();
    } finally {
      pieces.abandon();
    }
    let isDone = false;
    try {
      const cutBytes = this.#storage.cutBytesOf(pieces.bytes);
      const finish = yield* this.#applyInSteps(op, entry.effects.each(), entry.timestamp, cutBytes);
      finish();
      this.#finishEntry(op, entry, pieces);
      isDone = true;
    } catch (error) {
      this.#storage.log.stop(error);
      throw error;
    } finally {
      // Whoever drives the steps has given up between two of them: as above, but that a member goes on with its log.
      if (!isDone && this.#storage.isMember) this.#isTorn = true;
      else if (!isDone) this.#storage.log.stop(new Error(`the entry of op ${op} was applied in part`));
    }
    return op;
  }

  readonly #encodeState = (): Uint8Array => this.encodeState();

  /** Everything but the tables' rows, for a checkpoint. */
  encodeState(): Uint8Array {
    const state: MachineState = {
      op: this.#lastOp,
      digest: this.digest(),
      lastTimestamp: this.#lastTimestamp,
      catalog: this.#catalog.contents,
      clients: this.clients.contents,
      sequences: this.sequences.contents,
      rowCounters: [...this.#rowCounters],
    };
    return new TextEncoder().encode(encodeCanonicalJson(state));
  }

  #restore(state: MachineState): void {
    this.#lastOp = state.op as OpNumber;
    this.#digest.value = digestOfHex(state.digest);
    this.#lastTimestamp = state.lastTimestamp;
    this.#catalog = Catalog.from(state.catalog);
    this.clients.restore(state.clients);
    this.sequences.restore(state.sequences);
    for (const [tableId, id] of state.rowCounters) this.#rowCounters.set(tableId, id);
  }

  #perform(entry: RecoveredEntry["entry"], payload: PayloadFacts): void {
    for (const effect of entry.effects) {
      assert(effect.kind !== "staged", "what is in the stage is applied in steps");
      this.#applyEffect(effect, entry.op, entry.timestamp);
    }
    this.#finishEntry(entry.op, entry, payload);
  }

  #apply(entry: RecoveredEntry["entry"], payload: PayloadFacts): void {
    try {
      this.#perform(entry, payload);
    } catch (error) {
      // A bug: the entry is in the log, but the state is between two ops and must not be read any more.
      this.#storage.log.stop(error);
      throw error;
    }
  }

  /** The same for one that is too large for memory, at a start or where it came at once. */
  *#applyCut({ effects, ...entry }: RecoveredEntry["entry"], payload: PayloadFacts): Generator<void, void> {
    const { op, timestamp } = entry;
    const cutBytes = this.#storage.cutBytesOf(payload.bytes);
    try {
      for (const { effect, isStaged } of this.#withStaged(effects)) {
        this.#applyEffect(effect, op, timestamp);
        if (effect.kind !== "create_batch" && effect.kind !== "update_batch") continue;
        yield* this.#cut(op, effect, isStaged ? this.#storage.stagedCutBytes : cutBytes);
      }
      this.#finishEntry(op, entry, payload);
    } catch (error) {
      this.#storage.log.stop(error);
      throw error;
    }
  }

  /** Each of the effects; for what is in the stage, that, and then the one that stands for it. */
  *#withStaged(
    effects: Iterable<Effect>,
  ): Generator<{ readonly effect: Effect; readonly isStaged: boolean }> {
    for (const effect of effects) {
      if (effect.kind === "staged") {
        for (const each of this.stage.effects(effect.byteCount, this.#lastOp)) {
          yield { effect: each, isStaged: true };
        }
      }
      yield { effect, isStaged: false };
    }
  }

  *#cut(
    op: OpNumber,
    { tableId, batch }: { readonly tableId: number; readonly batch: RowBatch },
    cutBytes: number,
  ): Generator<void, void> {
    if (cutBytes < Infinity) {
      yield* this.store(tableId).cutInSteps(op, batch, cutBytes, this.#storage.waitForSpace);
    }
  }

  #finishEntry(
    op: OpNumber,
    entry: { readonly timestamp: number; readonly client: ClientRequest | null },
    payload: PayloadFacts,
  ): void {
    if (entry.client !== null) this.clients.apply(entry.client);
    this.#lastOp = op;
    this.#lastTimestamp = Math.max(this.#lastTimestamp, entry.timestamp);
    this.#digest.mix(payload.checksum, op);
    const wantsCheckpoint = this.#wantsCheckpoint;
    this.#wantsCheckpoint = false;
    const heldBytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#storage.entryApplied(
      { op, payloadBytes: payload.bytes, heldBytes, wantsCheckpoint },
      this.#encodeState,
    );
  }

  /**
   * Applies effects to the tables, invisibly to snapshots before the op. What is not kept by version (catalog,
   * sequences, counts of rows) is left to the answered function, which makes the entry visible at once. `cutBytes`:
   * what makes a segment of an entry that is too large for memory, but for what is in the stage.
   */
  *#applyInSteps(
    op: OpNumber,
    effects: Iterable<Effect>,
    timestamp: number,
    cutBytes = Infinity,
  ): Generator<void, () => void> {
    const touched = new Map<number, TableStore>();
    const touch = (tableId: number): TableStore => {
      const known = touched.get(tableId);
      if (known !== undefined) return known;
      const store = this.#storage.table(tableId);
      store.beginEntry();
      touched.set(tableId, store);
      return store;
    };
    const atTheEnd: (() => void)[] = [];
    let catalog = this.#catalog;
    let count = 0;
    for (const { effect, isStaged } of this.#withStaged(effects)) {
      const effectCutBytes = isStaged ? this.#storage.stagedCutBytes : cutBytes;
      switch (effect.kind) {
        case "ddl": {
          const { change } = effect;
          const before = catalog;
          catalog = catalog.apply(change);
          if (change.kind === "put_table" && before.table(change.table.id) === undefined) {
            this.#storage.createTable(change.table, op);
          } else if (change.kind === "put_table") {
            // Readers before the op still use the indexes that go.
            const old = before.table(change.table.id);
            touch(change.table.id);
            this.#storage.alterTable(withIndexesOf(change.table, old?.indexes ?? []), op);
            atTheEnd.push(() => this.#storage.alterTable(change.table, op));
          } else atTheEnd.push(() => this.#applyToOthers(change, before, op));
          break;
        }
        case "sequence":
          atTheEnd.push(() => this.#applyNumber(effect));
          break;
        case "create_batch": {
          touch(effect.tableId);
          this.#applyEffect(effect, op, timestamp);
          yield;
          yield* this.#cut(op, effect, effectCutBytes);
          break;
        }
        case "update_batch": {
          const { tableId, batch } = effect;
          for (let at = 0; at < batch.rowCount; at += DELETED_AT_ONCE, yield) {
            touch(tableId).endRows(op, batch.ids.subarray(at, at + DELETED_AT_ONCE));
          }
          touch(tableId).createBatch(op, batch);
          this.#heldBytes += batchWeight(batch);
          this.#changed(tableId).updated += batch.rowCount;
          yield;
          yield* this.#cut(op, effect, effectCutBytes);
          break;
        }
        case "delete_batch": {
          const { tableId, ids } = effect;
          touch(tableId);
          for (let at = 0; at < ids.length; at += DELETED_AT_ONCE, yield) {
            const some = ids.subarray(at, at + DELETED_AT_ONCE);
            this.#applyEffect({ kind: "delete_batch", tableId, ids: some }, op, timestamp);
          }
          break;
        }
        case "staged":
        case "unstage":
          atTheEnd.push(() => this.#applyEffect(effect, op, timestamp));
          break;
        case "checkpoint":
        case "slices":
        case "stage":
          this.#applyEffect(effect, op, timestamp);
          break;
        default:
          touch(effect.tableId);
          this.#applyEffect(effect, op, timestamp);
          if ((++count & (STEP_EFFECTS - 1)) === 0) yield;
      }
    }
    for (const store of touched.values()) yield* store.settleInSteps();
    return () => {
      for (const store of touched.values()) store.endEntry();
      this.#catalog = catalog;
      for (const act of atTheEnd) act();
    };
  }

  #applyEffect(effect: Effect, op: OpNumber, timestamp: number): void {
    switch (effect.kind) {
      case "create":
        this.#storage.table(effect.tableId).create(op, effect.id, effect.values);
        this.#changed(effect.tableId).inserted++;
        this.#countRow(effect.tableId, effect.id);
        break;
      case "update":
        this.#storage.table(effect.tableId).update(op, effect.id, effect.values);
        this.#changed(effect.tableId).updated++;
        break;
      case "delete":
        this.#storage.table(effect.tableId).delete(op, effect.id);
        this.#changed(effect.tableId).deleted++;
        break;
      case "create_batch":
        this.#storage.table(effect.tableId).createBatch(op, effect.batch);
        this.#heldBytes += batchWeight(effect.batch);
        this.#changed(effect.tableId).inserted += effect.batch.rowCount;
        this.#countRow(effect.tableId, highestId(effect.batch));
        break;
      case "update_batch": {
        const { batch, tableId } = effect;
        this.#storage.table(tableId).endRows(op, batch.ids.subarray(0, batch.rowCount));
        this.#storage.table(tableId).createBatch(op, batch);
        this.#heldBytes += batchWeight(batch);
        this.#changed(tableId).updated += batch.rowCount;
        break;
      }
      case "delete_batch": {
        this.#storage.table(effect.tableId).endRows(op, effect.ids);
        this.#changed(effect.tableId).deleted += effect.ids.length;
        break;
      }
      case "truncate":
        this.#storage.table(effect.tableId).truncate(op);
        break;
      case "ddl":
        this.#applyChange(effect.change, op);
        break;
      case "sequence":
        this.#applyNumber(effect);
        break;
      case "checkpoint":
        this.#wantsCheckpoint = true;
        break;
      case "slices":
        this.#storage.applySlices(op, timestamp, effect.slices);
        break;
      case "stage":
        this.stage.add(effect, op);
        break;
      case "staged":
        // No manifest names the segments that were cut, and the stage takes as much space.
        this.#wantsCheckpoint = true;
        this.stage.drop(op);
        break;
      case "unstage":
        this.stage.drop(op);
        break;
      default:
        unreachable(effect);
    }
  }

  /** Counts what was written to tables whose rows are elsewhere. */
  countElsewhere(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (!("tableId" in effect) || this.remoteRowCount(effect.tableId) === undefined) continue;
      if (effect.kind === "create") this.#changed(effect.tableId).inserted++;
      else if (effect.kind === "create_batch") {
        this.#changed(effect.tableId).inserted += effect.batch.rowCount;
      } else if (effect.kind === "update") this.#changed(effect.tableId).updated++;
      else if (effect.kind === "delete") this.#changed(effect.tableId).deleted++;
      else if (effect.kind === "update_batch") this.#changed(effect.tableId).updated += effect.batch.rowCount;
      else if (effect.kind === "delete_batch") this.#changed(effect.tableId).deleted += effect.ids.length;
    }
  }

  #changed(tableId: number): { inserted: number; updated: number; deleted: number } {
    let counts = this.#changes.get(tableId);
    if (counts === undefined) this.#changes.set(tableId, counts = { ...NO_CHANGES });
    return counts;
  }

  #applyChange(change: CatalogChange, op: OpNumber): void {
    const before = this.#catalog;
    this.#catalog = before.apply(change);
    if (change.kind !== "put_table") this.#applyToOthers(change, before, op);
    else if (before.table(change.table.id) === undefined) this.#storage.createTable(change.table, op);
    else this.#storage.alterTable(change.table, op);
  }

  /** What a change of the catalog does to the rest of the state, tables that are made or altered apart. */
  #applyToOthers(change: CatalogChange, before: Catalog, op: OpNumber): void {
    switch (change.kind) {
      case "drop_table":
        this.#storage.dropTable(change.tableId, op);
        this.#rowCounters.delete(change.tableId);
        this.#changes.delete(change.tableId);
        this.reads.forget(objectsOf(before.table(change.tableId)));
        this.#rowIdsHandedOut.delete(change.tableId);
        break;
      case "put_sequence":
        if (before.sequence(change.sequence.id) === undefined) this.sequences.create(change.sequence);
        break;
      case "drop_sequence":
        this.sequences.drop(change.sequenceId);
        break;
      default:
        break;
    }
  }

  /** A sequence's value, or that of a table's counter, which goes by the table's id. */
  #applyNumber({ sequenceId, value, called }: NumberEffect): void {
    if (this.#catalog.table(sequenceId) !== undefined) this.#countRow(sequenceId, value);
    else this.sequences.apply(sequenceId, value, called);
  }

  #countRow(tableId: number, id: RowId): void {
    if (id > (this.#rowCounters.get(tableId) ?? 0)) this.#rowCounters.set(tableId, id);
  }
}

/** The object identifiers of a table, its indexes and constraints. */
function objectsOf(table: TableDefinition | undefined): readonly number[] {
  return table === undefined ? [] : [table, ...table.indexes, ...table.constraints].map(({ id }) => id);
}

/** The definition with those of the indexes that it does not have. */
function withIndexesOf(table: TableDefinition, indexes: TableDefinition["indexes"]): TableDefinition {
  const gone = indexes.filter((index) => !table.indexes.some((each) => each.id === index.id));
  return gone.length === 0 ? table : { ...table, indexes: [...table.indexes, ...gone] };
}

function highestId({ ids, rowCount }: RowBatch): number {
  let highest = 0;
  for (let row = 0; row < rowCount; row++) {
    if ((ids[row] as number) > highest) highest = ids[row] as number;
  }
  return highest;
}

function decodeState(bytes: Uint8Array): MachineState {
  return decodeCanonicalJson(new TextDecoder().decode(bytes)) as unknown as MachineState;
}

function increment(id: RowId): RowId {
  const next = BigInt(id) + 1n;
  return typeof id === "number" && id < Number.MAX_SAFE_INTEGER ? id + 1 : next;
}
