/**
 * The deterministic state machine: the only thing that changes committed state, by applying log entries in order.
 *
 * Invariants: `apply` is total and reads nothing but the entry and the state. Everything a replica needs to go on from a
 * checkpoint is either in table storage or in {@link StateMachine.encodeState}. The digest at an op number depends on
 * the entries up to it and on nothing else.
 */
import { assert, unreachable } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import { Catalog, type CatalogContents } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { ClientRequest, Effect, Entry, OpNumber, RowId } from "../operations/effect.ts";
import { encodeEntry } from "../operations/entry_codec.ts";
import type { StorageEngine } from "../storage/storage_engine.ts";
import type { TableStore } from "../storage/table/table_store.ts";
import type { CommitSink } from "../transactions/transaction_manager.ts";
import { ClientTable } from "./client_table.ts";
import { SequenceTable, type SequenceValue } from "./sequence_table.ts";

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

/** See the file's head. */
export class StateMachine implements CommitSink {
  readonly clients = new ClientTable();
  readonly sequences = new SequenceTable();
  readonly #storage: StorageEngine;
  /** Highest row id in the log, per table. */
  readonly #rowCounters = new Map<number, RowId>();
  /** Highest row id that this node has handed out; a transaction that rolled back leaves a gap. */
  readonly #rowIdsHandedOut = new Map<number, RowId>();
  #catalog = Catalog.initial();
  #lastOp = 0 as OpNumber;
  #lastTimestamp = 0;
  #digestLow = 0x811c9dc5;
  #digestHigh = 0x01000193;

  private constructor(storage: StorageEngine) {
    this.#storage = storage;
  }

  /** The machine at the end of the recovered log. */
  static recover(storage: StorageEngine): StateMachine {
    const machine = new StateMachine(storage);
    const { machineState } = storage.recovered;
    if (machineState !== null) machine.#restore(decodeState(machineState));
    for (const entry of storage.recovered.entries()) {
      assert(entry.op === machine.#lastOp + 1, `entry ${entry.op} follows ${machine.#lastOp}`);
      machine.#apply(entry, encodeEntry(entry));
      storage.entryReplayed(entry.op, () => machine.encodeState());
    }
    return machine;
  }

  get lastOp(): OpNumber {
    return this.#lastOp;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Microseconds since 2000-01-01 UTC; the newest timestamp in the log. */
  get lastTimestamp(): number {
    return this.#lastTimestamp;
  }

  /** Digest of the history up to {@link lastOp}: 16 hexadecimal digits. */
  digest(): string {
    return hex(this.#digestHigh) + hex(this.#digestLow);
  }

  store(tableId: number): TableStore {
    return this.#storage.table(tableId);
  }

  nextRowId(tableId: number): RowId {
    const logged = this.#rowCounters.get(tableId) ?? 0;
    const handedOut = this.#rowIdsHandedOut.get(tableId) ?? 0;
    const next = increment(handedOut > logged ? handedOut : logged);
    this.#rowIdsHandedOut.set(tableId, next);
    return next;
  }

  reserveRowIds(tableId: number, count: number): RowId {
    const first = this.nextRowId(tableId);
    const last = BigInt(first) + BigInt(count - 1);
    this.#rowIdsHandedOut.set(tableId, last <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(last) : last);
    return first;
  }

  commit(entry: {
    readonly timestamp: number;
    readonly client: ClientRequest | null;
    readonly effects: readonly Effect[];
  }): OpNumber {
    const op = (this.#lastOp + 1) as OpNumber;
    const complete: Entry = { op, ...entry };
    const payload = encodeEntry(complete);
    this.#storage.log.append(op, payload);
    try {
      this.#apply(complete, payload);
    } catch (error) {
      // A bug: the entry is in the log, but the state is between two ops and must serve nobody any more.
      this.#storage.log.stop(error);
      throw error;
    }
    if (this.#storage.checkpointDue) this.#storage.beginCheckpoint(op, () => this.encodeState());
    return op;
  }

  /** Everything beside the tables' rows, for a checkpoint. */
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
    this.#digestHigh = parseInt(state.digest.slice(0, 8), 16) | 0;
    this.#digestLow = parseInt(state.digest.slice(8), 16) | 0;
    this.#lastTimestamp = state.lastTimestamp;
    this.#catalog = Catalog.from(state.catalog);
    this.clients.restore(state.clients);
    this.sequences.restore(state.sequences);
    for (const [tableId, id] of state.rowCounters) this.#rowCounters.set(tableId, id);
  }

  #apply(entry: Entry, payload: Uint8Array): void {
    const { op } = entry;
    if (entry.effects.length > 1) this.#expectBatches(entry.effects);
    for (const effect of entry.effects) this.#applyEffect(effect, op);
    if (entry.client !== null) this.clients.apply(entry.client);
    this.#lastOp = op;
    this.#lastTimestamp = Math.max(this.#lastTimestamp, entry.timestamp);
    this.#mixDigest(crc32c(payload, 0, payload.length), op);
  }

  /** Tables make room for all batches of an entry at once. A table that the entry itself creates does without. */
  #expectBatches(effects: readonly Effect[]): void {
    let rows = 0;
    for (let index = 0; index < effects.length; index++) {
      const effect = effects[index] as Effect;
      if (effect.kind !== "create_batch" || this.#catalog.table(effect.tableId) === undefined) continue;
      rows += effect.batch.rowCount;
      const next = effects[index + 1];
      if (next?.kind === "create_batch" && next.tableId === effect.tableId) continue;
      this.#storage.table(effect.tableId).expectRows(rows);
      rows = 0;
    }
  }

  #applyEffect(effect: Effect, op: OpNumber): void {
    switch (effect.kind) {
      case "create":
        this.#storage.table(effect.tableId).create(op, effect.id, effect.values);
        this.#countRow(effect.tableId, effect.id);
        break;
      case "update":
        this.#storage.table(effect.tableId).update(op, effect.id, effect.values);
        break;
      case "delete":
        this.#storage.table(effect.tableId).delete(op, effect.id);
        break;
      case "create_batch": {
        this.#storage.table(effect.tableId).createBatch(op, effect.batch);
        let highest = 0;
        const { ids, rowCount } = effect.batch;
        for (let row = 0; row < rowCount; row++) {
          if ((ids[row] as number) > highest) highest = ids[row] as number;
        }
        this.#countRow(effect.tableId, highest);
        break;
      }
      case "truncate":
        this.#storage.table(effect.tableId).truncate(op);
        break;
      case "ddl":
        this.#applyChange(effect.change, op);
        break;
      case "sequence":
        this.sequences.apply(effect.sequenceId, effect.value, effect.called);
        break;
      default:
        unreachable(effect);
    }
  }

  #applyChange(change: CatalogChange, op: OpNumber): void {
    const before = this.#catalog;
    this.#catalog = before.apply(change);
    switch (change.kind) {
      case "put_table":
        if (before.table(change.table.id) === undefined) this.#storage.createTable(change.table, op);
        else this.#storage.alterTable(change.table, op);
        break;
      case "drop_table":
        this.#storage.dropTable(change.tableId, op);
        this.#rowCounters.delete(change.tableId);
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

  #countRow(tableId: number, id: RowId): void {
    if (id > (this.#rowCounters.get(tableId) ?? 0)) this.#rowCounters.set(tableId, id);
  }

  /** Two multiplicative lanes over (checksum, op): cheap, and different histories differ with probability 1 - 2^-64. */
  #mixDigest(checksum: number, op: number): void {
    this.#digestLow = Math.imul(this.#digestLow ^ checksum, 0x85ebca6b) ^ (op | 0);
    this.#digestLow = Math.imul(this.#digestLow ^ (this.#digestLow >>> 15), 0xc2b2ae35);
    this.#digestHigh = Math.imul(this.#digestHigh ^ this.#digestLow ^ (checksum >>> 7), 0x27d4eb2f);
    this.#digestHigh ^= this.#digestHigh >>> 13;
  }
}

function decodeState(bytes: Uint8Array): MachineState {
  return decodeCanonicalJson(new TextDecoder().decode(bytes)) as unknown as MachineState;
}

function increment(id: RowId): RowId {
  const next = BigInt(id) + 1n;
  return typeof id === "number" && id < Number.MAX_SAFE_INTEGER ? id + 1 : next;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
