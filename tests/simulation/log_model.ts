/**
 * What the log of a simulated engine holds, kept beside it, and the state that follows from it.
 *
 * Every entry is noted as the engine appends it. After a recovery, the engine must hold every op that anybody was
 * told of, and be in exactly the state that its log's entries make of an empty state machine in memory, which never
 * makes a checkpoint: equal digests, equal state beside the tables, equal rows under equal ids, and indexes that name
 * them in order.
 */
import { ok, strictEqual } from "node:assert/strict";
import type { TableDefinition } from "../../engine/catalog/definitions.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { StateMachine } from "../../engine/state_machine/state_machine.ts";
import type { StoredValue } from "../../engine/operations/effect.ts";
import { decodeEntry } from "../../engine/operations/entry_codec.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { Log } from "../../engine/storage/log.ts";
import { StorageEngine } from "../../engine/storage/storage_engine.ts";
import { NO_ROW } from "../../engine/storage/access/block.ts";

const EVERYTHING = { prefix: [], low: null, high: null, backward: false } as const;

/** The log as it should be. */
export class LogModel {
  /** The entry of op n is at n - 1. */
  readonly #payloads: Uint8Array[] = [];
  #toldOp = 0;
  #replica: StateMachine | null = null;

  /** The newest op that a client was told of, by an acknowledgement or by rows that it has read. */
  get toldOp(): number {
    return this.#toldOp;
  }

  /** Entries that were appended and not taken back by a crash. */
  get lastOp(): number {
    return this.#payloads.length;
  }

  /** A client was told of this op. */
  tell(op: number): void {
    if (op > this.#toldOp) this.#toldOp = op;
  }

  /**
   * Takes note of what a recovered engine has: ops that nobody was told of may have gone, and the engine may have
   * appended since it began to open, after `openedAt` on its clock. From now on its entries are noted.
   */
  attach(engine: Engine, openedAt: number): void {
    const { log } = engine.storage;
    let recoveredOp: number = log.lastOp;
    for (const { op, payload } of log.entries(log.oldestOp - 1)) {
      if (decodeEntry(payload).timestamp > openedAt) {
        // Appended by the engine itself: what it does not know any more is gone.
        recoveredOp = Math.min(recoveredOp, op - 1);
        this.#payloads.length = Math.min(this.#payloads.length, op - 1);
        this.note(op, payload.slice());
      } else sameText(payload.toHex(), this.#payloads[op - 1]?.toHex() ?? "none", `entry of op ${op}`);
    }
    ok(recoveredOp >= this.#toldOp, `op ${this.#toldOp} was told of, but the log ends at op ${recoveredOp}`);
    ok(log.lastOp <= this.#payloads.length, `op ${log.lastOp} was never appended`);
    this.#payloads.length = log.lastOp;
    // What the engine had appended when it opened may be gone, and another entry may be in its place.
    if (this.#replica !== null && this.#replica.lastOp > recoveredOp) this.#replica = null;
    const append = log.append.bind(log);
    log.append = (...parameters: Parameters<Log["append"]>) => {
      const checksum = append(...parameters);
      const [op, payload] = parameters;
      this.note(op, payload.slice());
      return checksum;
    };
    const appendInPieces = log.appendInPieces.bind(log);
    log.appendInPieces = (...parameters: Parameters<Log["appendInPieces"]>) => {
      const entry = appendInPieces(...parameters);
      const pieces: Uint8Array[] = [];
      return {
        get bytes() {
          return entry.bytes;
        },
        get checksum() {
          return entry.checksum;
        },
        write: (piece) => {
          entry.write(piece);
          pieces.push(piece.slice());
        },
        finish: () => {
          entry.finish();
          this.note(parameters[0], concatenate(pieces));
        },
        abandon: () => entry.abandon(),
      };
    };
  }

  /** Takes the next entry. */
  note(op: number, payload: Uint8Array): void {
    strictEqual(op, this.#payloads.length + 1, "entries are noted in order");
    this.#payloads.push(payload);
  }

  /** The state machine after an op, in memory. Cheap for ops that only grow. */
  async replicaAt(op: number): Promise<StateMachine> {
    let replica = this.#replica;
    if (replica === null || replica.lastOp > op) {
      const storage = await StorageEngine.open({
        host: memoryHost(),
        directory: ":memory:",
        horizon: { oldestSnapshot: () => Infinity, hasReaders: () => false },
        checkpointLogBytes: Infinity,
        log: { fileBytes: 1 << 20, reserveBytes: 4096, bufferBytes: 65_536, directWriteBytes: 65_536 },
      });
      replica = this.#replica = StateMachine.recover(storage);
    }
    while (replica.lastOp < op) {
      const payload: Uint8Array | undefined = this.#payloads[replica.lastOp];
      ok(payload !== undefined, `op ${op} is not in the log`);
      replica.commit(decodeEntry(payload));
    }
    return replica;
  }

  /** Compares everything that the engine holds with what its log makes of an empty state. */
  async check(engine: Engine): Promise<void> {
    compareMachines(engine.machine, await this.replicaAt(engine.lastOp));
  }

  /**
   * The same for an engine on a copy of the state at `op`, which may have appended something of its own when it
   * opened.
   */
  async checkCopy(copy: Engine, op: number): Promise<void> {
    const replica = await this.replicaAt(op);
    for (const { payload } of copy.storage.log.entries(op)) {
      this.#replica = null;
      replica.commit(decodeEntry(payload));
    }
    compareMachines(copy.machine, replica);
  }
}

function compareMachines(machine: StateMachine, replica: StateMachine): void {
  const op = machine.lastOp;
  strictEqual(machine.digest(), replica.digest(), `digest at op ${op}`);
  sameText(text(machine.encodeState()), text(replica.encodeState()), `state at op ${op}`);
  for (const table of machine.catalog.tables) compareTables(table, machine, replica);
}

/** Reads the engine's table before that of the replica: it is the one that may say that it is damaged. */
function compareTables(table: TableDefinition, machine: StateMachine, replica: StateMachine): void {
  const label = `table ${table.name} at op ${machine.lastOp}`;
  const rows = rowsOf(machine, table);
  sameText(rows.join("\n"), rowsOf(replica, table).join("\n"), label);
  strictEqual(machine.store(table.id).rowCount, rows.length, `row count of ${label}`);
  for (const { id, name } of table.indexes) {
    const found = idsOf(machine, table, id).join(), expected = idsOf(replica, table, id).join();
    sameText(found, expected, `index ${name} of ${label}`);
  }
}

/** The rows in the order of their ids, as text. */
function rowsOf(machine: StateMachine, { id, columns }: TableDefinition): string[] {
  const store = machine.store(id);
  const rows: string[] = [];
  const cursor = store.at(machine.lastOp).findRange(EVERYTHING);
  for (let location = cursor.next(); location !== NO_ROW; location = cursor.next()) {
    const values = columns.map((column) => valueText(store.valueAt(location, column.id)));
    rows.push(`${store.idAt(location)}: ${values.join("|")}`);
  }
  return rows;
}

function valueText(value: StoredValue): string {
  if (value === null) return "NULL";
  return value instanceof Uint8Array
    ? value.toHex()
    : typeof value === "string"
    ? `'${value}'`
    : String(value);
}

/** The ids of the rows in the order of an index. */
function idsOf(machine: StateMachine, { id }: TableDefinition, indexId: number): string[] {
  const store = machine.store(id);
  const cursor = store.at(machine.lastOp).range(indexId, EVERYTHING);
  const ids: string[] = [];
  for (let location = cursor.next(); location !== NO_ROW; location = cursor.next()) {
    ids.push(String(store.idAt(location)));
  }
  return ids;
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Compares long texts and shows the place where they part. */
function sameText(found: string, expected: string, label: string): void {
  if (found === expected) return;
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at++;
  const near = (whole: string) => JSON.stringify(whole.slice(Math.max(0, at - 60), at + 100));
  throw new Error(`${label} differs from what the log says: ${near(found)} instead of ${near(expected)}`);
}
