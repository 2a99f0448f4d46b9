/** A model of a member's log for tests: the entries that it should have, and how they are compared. */
import { deepStrictEqual as equal, ok, strictEqual } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { SeededRandom } from "../base/random.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { digestAfter, EMPTY_HISTORY } from "../operations/history_digest.ts";
import { Log } from "./log.ts";
import type { StoredEntry } from "./log_history.ts";
import type { LogOptions } from "./log_options.ts";

/** Small sizes, so that few entries make several files. */
export const SIZES = { fileBytes: 8192, reserveBytes: 1024, bufferBytes: 2048, directWriteBytes: 600 };
/** A member's log of small files. */
export const MEMBER: LogOptions = { ...SIZES, member: { keepBytes: 20_000 } };
/** Bytes of a record before its payload. */
export const HEAD_BYTES = 36;

/** Bytes that a seed gives. */
export function payloadOf(seed: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  new SeededRandom(seed).fill(bytes);
  return bytes;
}

/** The entries that a log should have. */
export class Model {
  entries: StoredEntry[] = [];

  get lastOp(): number {
    return this.entries.length;
  }

  digestAt(op: number): bigint {
    return op === 0 ? EMPTY_HISTORY : (this.entries[op - 1] as StoredEntry).digest;
  }

  add(view: number, payload: Uint8Array): StoredEntry {
    const op = this.lastOp + 1;
    const previousDigest = this.digestAt(op - 1);
    const digest = digestAfter(previousDigest, crc32c(payload), op);
    const entry = { op, view, payload, previousDigest, digest };
    this.entries.push(entry);
    return entry;
  }

  bytesAfter(op: number): number {
    return this.entries.slice(op).reduce((sum, { payload }) => sum + HEAD_BYTES + payload.length, 0);
  }
}

/** A log and its model, filled with entries of two views. */
export async function filled(count: number, options = MEMBER, seed = 5) {
  const host = new SimulatedHost(seed);
  const log = Log.open(host, "log", { op: 0 }, options);
  const model = new Model();
  for (let op = 1; op <= count; op++) {
    log.view = op > count / 2 ? 7 : 2;
    log.append(op, model.add(log.view, payloadOf(op, 20 + (op * 37) % 700)).payload);
  }
  await host.settle(log.whenDurable(count));
  return { host, log, model };
}

/** Compares all that can be read; answers the ops that cannot. */
export function compare(log: Log, model: Model): number[] {
  strictEqual(log.lastOp, model.lastOp);
  const unreadable: number[] = [];
  for (let op = log.oldestOp; op <= log.lastOp; op++) {
    const entry = log.readEntry(op);
    if (entry === null) {
      unreadable.push(op);
      strictEqual(log.nameOf(op), null);
      ok(log.damaged.some(({ from, to }) => from <= op && op <= to), `op ${op} is not known to be damaged`);
      strictEqual(log.isDurable(op), false);
      continue;
    }
    equal(entry, model.entries[op - 1]);
    const name = log.nameOf(op);
    for (const key of ["view", "previousDigest", "digest"] as const) strictEqual(name?.[key], entry[key]);
  }
  strictEqual(log.readEntry(log.lastOp + 1), null);
  strictEqual(log.readEntry(log.oldestOp - 1), null);
  return unreadable;
}

/** Repairs all that is damaged, in one of several orders. */
export function repairAll(log: Log, model: Model, random: SeededRandom): void {
  const ops = log.damaged.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
  );
  const order = random.below(3);
  if (order === 0) ops.reverse();
  if (order === 1) ops.sort(() => random.below(2) - 0.5);
  for (const op of ops) {
    // Others of its range may have been given before.
    if (!log.damaged.some(({ from, to }) => from <= op && op <= to)) continue;
    const { payload, view, previousDigest, digest } = model.entries[op - 1] as StoredEntry;
    log.repair(op, payload, view, previousDigest);
    strictEqual(log.nameOf(op)?.digest, digest);
  }
  equal(log.damaged, []);
}
