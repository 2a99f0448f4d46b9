/**
 * The log of a member of a replication group: names of entries, single entries, its end cut off, damage and its
 * repair, against a model, over a simulated disk that crashes and rots.
 */
import { deepStrictEqual as equal, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import { memoryHost } from "../host/memory_host.ts";
import { SimulatedCrash } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { EMPTY_HISTORY } from "../operations/history_digest.ts";
import { Log } from "./log.ts";
import { type LogFormat, MEMBER_FORMAT, readLogHeader, UNMARKED_FORMAT } from "./log_file.ts";
import type { StoredEntry } from "./log_history.ts";
import type { LogOptions } from "./log_options.ts";
import {
  compare,
  filled,
  HEAD_BYTES,
  MEMBER,
  Model,
  payloadOf,
  repairAll,
  SIZES,
} from "./member_log_model_for_test.ts";

const withFormat = (format: LogFormat): LogOptions => ({ ...SIZES, member: { keepBytes: 20_000, format } });
const HEADER_BYTES = 40;
const RECORDS_START = 4096;
const SEEDS = 18;

function code(expected: string, pattern?: RegExp) {
  return (error: unknown) =>
    error instanceof DatabaseError && error.code === expected && (pattern?.test(error.message) ?? true);
}

Deno.test("Log of a member gives each entry back with its names, durable or not", async () => {
  const { host, log, model } = await filled(60);
  equal(compare(log, model), []);
  log.append(61, model.add(7, payloadOf(61, 50)).payload);
  log.appendAs(62, model.add(3, payloadOf(62, 900)).payload, 3);
  const pieces = log.appendInPieces(63, 1500);
  const { payload } = model.add(7, payloadOf(63, 1500));
  for (let from = 0; from < payload.length; from += 400) pieces.write(payload.subarray(from, from + 400));
  pieces.finish();
  equal(compare(log, model), []);
  strictEqual(log.digest, model.digestAt(63));
  strictEqual(log.appendedBytes, model.bytesAfter(0));
  // In any order, from memory and from files.
  const random = new SeededRandom(4);
  for (let round = 0; round < 100; round++) {
    const op = random.between(1, 63);
    equal(log.readEntry(op), model.entries[op - 1]);
  }
  await host.settle(log.close());
  const again = Log.open(host, "log", { op: 0 }, MEMBER);
  equal(compare(again, model), []);
  strictEqual(again.digest, model.digestAt(63));
  again.verify();
});

Deno.test("Log takes nothing for whole that a failed sync has written again in a damaged range", async () => {
  const random = new SeededRandom(21);
  for (let round = 0; round < 24; round++) {
    const { host, log, model } = await filled(40);
    await host.settle(log.close());
    // Of the newest file and of older ones, a record alone or some that follow each other.
    const from = random.between(2, 36);
    const damaged = Array.from({ length: random.between(1, 4) }, (_, index) => from + index);
    for (const name of host.disk.list("log")) {
      const path = `log/${name}`;
      const text = host.disk.contentOf(path).toHex();
      for (const op of damaged) {
        const at = text.indexOf(model.entries[op - 1]?.payload.subarray(0, 16).toHex() ?? "") / 2;
        if (at >= 0) host.disk.flipBit(path, at, 0);
      }
    }
    const open = () => Log.open(host, "log", { op: 0 }, MEMBER);
    const first = open();
    equal(compare(first, model), damaged);
    host.disk.failNext("sync", "log");
    throws(() => repairAll(first, model, random), code("58030"));
    host.kill();
    const known = compare(open(), model);
    host.crash();
    const again = open();
    equal(compare(again, model), known, "what could be read was on the disk");
    repairAll(again, model, random);
    host.crash();
    equal(compare(open(), model), []);
  }
});

Deno.test("Log reads names of entries older than those it keeps in memory", async () => {
  const host = memoryHost();
  const log = Log.open(host, "log", { op: 0 }, { ...MEMBER, fileBytes: 1 << 20, bufferBytes: 1 << 16 });
  const model = new Model();
  for (let op = 1; op <= 9000; op++) log.append(op, model.add(0, payloadOf(op, 1 + op % 90)).payload);
  await log.whenDurable(9000);
  for (let op = 1; op <= 9000; op++) {
    strictEqual(log.nameOf(op)?.previousDigest, model.digestAt(op - 1), `op ${op}`);
  }
  for (let op = 9000; op > 0; op -= 97) equal(log.readEntry(op), model.entries[op - 1]);
  // Other records in the places of those that go.
  log.truncateAfter(400);
  model.entries.length = 400;
  for (let op = 401; op <= 13_000; op++) log.append(op, model.add(0, payloadOf(op, 1 + op % 70)).payload);
  log.append(13_001, model.add(0, payloadOf(1, 3_000_000)).payload);
  for (let op = 13_001; op > 0; op -= 41) equal(log.readEntry(op), model.entries[op - 1]);
  equal(log.readEntry(13_001), model.entries[13_000]);
  await log.close();
});

Deno.test("Log.truncateAfter() removes entries for good, and whoever waits for them hears of it", async () => {
  for (const left of [0, 5, 17, 59]) {
    const { host, log, model } = await filled(60);
    const acknowledged: number[] = [];
    log.onDurable((op) => acknowledged.push(op));
    log.append(61, model.add(7, payloadOf(61, 100)).payload);
    const waiting = rejects(log.whenDurable(61), code("40003", /op 61/));
    log.truncateAfter(left);
    await waiting;
    model.entries.length = left;
    equal(compare(log, model), []);
    strictEqual(log.durableOp, left);
    strictEqual(log.appendedBytes, model.bytesAfter(0));
    // A sync that had begun says nothing of what is in its place now.
    log.view = 9;
    log.append(left + 1, model.add(9, payloadOf(1000 + left, 100)).payload);
    await host.settle(log.whenDurable(left + 1));
    ok(acknowledged.every((op) => op <= left + 1), `${acknowledged}`);
    host.crash();
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), []);
    strictEqual(again.appendedBytes, model.bytesAfter(0));
  }
});

Deno.test("Log.truncateAfter() leaves nothing that is taken for damage when the power fails before all was durable", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { host, log, model } = await filled(20, MEMBER, seed);
    for (let op = 21; op <= 26; op++) log.append(op, model.add(7, payloadOf(op, 60)).payload);
    host.disk.faults = { ...host.disk.faults, crashAtOperation: host.disk.operations + 2 + seed % 12 };
    try {
      log.truncateAfter(24);
    } catch (error) {
      ok(error instanceof SimulatedCrash || code("58030")(error), String(error));
    }
    host.crash();
    host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    ok(again.lastOp >= 20, `${again.lastOp}`);
    model.entries.length = again.lastOp;
    equal(compare(again, model), [], `seed ${seed}`);
  }
});

Deno.test("Log.truncateAfter() leaves what vouches for the entries that stay", async () => {
  const { host, log, model } = await filled(40);
  log.truncateAfter(8);
  model.entries.length = 8;
  host.crash();
  const path = "log/0000000000000001.log";
  const { payload } = model.entries[4] as StoredEntry;
  const at = host.disk.contentOf(path).toHex().indexOf(payload.subarray(0, 16).toHex()) / 2;
  host.disk.flipBit(path, at, 0);
  equal(compare(Log.open(host, "log", { op: 0 }, MEMBER), model), [5]);
});

Deno.test("Log.truncateAfter() keeps a sync under way from vouching for what is in its place now", async () => {
  for (let steps = 0; steps < 12; steps++) {
    const host = new SimulatedHost(11);
    const log = Log.open(host, "log", { op: 0 }, MEMBER);
    const model = new Model();
    log.view = 1;
    for (let op = 1; op <= 4; op++) log.append(op, model.add(1, payloadOf(op, 40)).payload);
    for (let step = 0; step < steps; step++) await host.step();
    log.truncateAfter(2);
    model.entries.length = 2;
    log.view = 2;
    for (let op = 3; op <= 4; op++) log.append(op, model.add(2, payloadOf(op + 50, 40)).payload);
    let durableOp = 2;
    log.onDurable((op) => durableOp = op);
    while (durableOp < 4) await host.step();
    host.crash();
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), [], `after ${steps} steps`);
  }
});

Deno.test("Log of a member goes on with what rot leaves, and is whole after its repair", async () => {
  const random = new SeededRandom(21);
  let damagedOps = 0;
  for (let round = 0; round < 40; round++) {
    const { host, log, model } = await filled(40);
    await host.settle(log.close());
    const names = host.disk.list("log").map((name) => `log/${name}`);
    for (let flips = random.between(1, 3); flips > 0; flips--) {
      const path = random.pick(names);
      const bytes = host.disk.contentOf(path);
      let end = bytes.length;
      while (bytes[end - 1] === 0) end--;
      // The seal at the end vouches for all before it.
      host.disk.flipBit(path, random.below(path === names.at(-1) ? end - HEAD_BYTES : end), random.below(8));
    }
    if (random.below(8) === 0) {
      // Not only bits: the rest of a file, or all of it.
      const path = names[random.below(names.length - 1)] ?? "";
      const file = host.disk.openFile(path, { create: false, write: true });
      file.truncate(random.below(file.size));
      file.syncDataNow();
    }
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    damagedOps += compare(again, model).length;
    repairAll(again, model, random);
    equal(compare(again, model), []);
    strictEqual(again.appendedBytes, model.bytesAfter(0), `round ${round}`);
    again.verify();
    again.append(41, model.add(8, payloadOf(41, 30)).payload);
    host.crash();
    const last = Log.open(host, "log", { op: 0 }, MEMBER);
    model.entries.length = last.lastOp;
    ok(last.lastOp >= 40);
    equal(last.damaged, []);
    equal(compare(last, model), []);
    last.verify();
  }
  ok(damagedOps > 60, `${damagedOps} ops were damaged`);
});

Deno.test("Log.readEntry() finds damage while the log is open; other entries and appends go on", async () => {
  for (const op of [3, 20, 39, 40]) {
    const { host, log, model } = await filled(40, { ...MEMBER, bufferBytes: 700 });
    const path = host.disk.list("log").map((name) => `log/${name}`)
      .findLast((name) => parseInt(name.slice(4, 20), 16) <= op) ?? "";
    // Every byte of the entry's first half, wherever it is.
    const { payload } = model.entries[op - 1] as StoredEntry;
    const hexadecimal = host.disk.contentOf(path).toHex();
    const at = hexadecimal.indexOf(payload.subarray(0, 16).toHex()) / 2;
    host.disk.flipBit(path, at, 3);
    const damaged = compare(log, model);
    if (damaged.length === 0) continue; // Still in memory.
    equal(damaged, [op]);
    log.appendAs(41, model.add(9, payloadOf(41, 300)).payload, 9);
    await host.settle(log.whenDurable(41));
    const { view, previousDigest } = model.entries[op - 1] as StoredEntry;
    throws(() => log.repair(op, payloadOf(0, 10), view, previousDigest), code("XX001", /does not fit/));
    throws(() => log.repair(op, payload, view, 5n), code("XX001", /does not fit/));
    let announced = 0;
    log.onDurable(() => announced++);
    log.repair(op, payload, view, previousDigest);
    strictEqual(announced, 0);
    await Promise.resolve();
    strictEqual(announced, 1, "what waits for it looks again");
    equal(compare(log, model), []);
    await host.settle(log.close());
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), []);
  }
});

Deno.test("Log of a member keeps files before the checkpoint for others, and knows what is damaged in them", async () => {
  const { host, log, model } = await filled(80);
  await host.settle(log.close());
  const base = { op: 70, digest: model.digestAt(70) };
  const again = Log.open(host, "log", base, MEMBER);
  ok(again.oldestOp > 1 && again.oldestOp < 60, `oldest op ${again.oldestOp}`);
  equal(compare(again, model), []);
  strictEqual(again.appendedBytes, model.bytesAfter(70));
  equal([...again.entries(70)].map(({ op }) => Number(op)), [71, 72, 73, 74, 75, 76, 77, 78, 79, 80]);
  await host.settle(again.close());
  const path = `log/${host.disk.list("log")[0]}`;
  host.disk.flipBit(path, RECORDS_START + 20, 1);
  const rotten = Log.open(host, "log", base, MEMBER);
  equal(rotten.damaged, []);
  // Nobody here needs it.
  rotten.verify();
  const oldest = rotten.oldestOp;
  equal(compare(rotten, model), [oldest]);
  repairAll(rotten, model, new SeededRandom(1));
  equal(compare(rotten, model), []);
  await host.settle(rotten.close());
  throws(() => Log.open(host, "log", { ...base, digest: 77n }, MEMBER), code("XX001", /does not continue/));
  // Without its files a log goes on behind the checkpoint.
  for (const name of host.disk.list("log")) host.disk.remove(`log/${name}`);
  const fresh = Log.open(host, "log", base, MEMBER);
  strictEqual(fresh.lastOp, 70);
  strictEqual(fresh.digest, base.digest);
});

Deno.test("Log.open() refuses the log of the other kind once it has entries", async () => {
  const single: LogOptions = SIZES;
  for (
    const [first, second, pattern] of [[MEMBER, single, /a member of/], [
      single,
      MEMBER,
      /that is alone/,
    ]] as const
  ) {
    const host = memoryHost();
    await Log.open(host, "log", { op: 0 }, first).close();
    const log = Log.open(host, "log", { op: 0 }, second);
    await log.close();
    const other = Log.open(host, "log", { op: 0 }, first);
    other.append(1, payloadOf(1, 10));
    await other.close();
    throws(() => Log.open(host, "log", { op: 0 }, second), code("55000", pattern));
    // Nor does a damaged header make it one's own.
    const file = host.disk.openFile("log/0000000000000001.log", { create: false, write: true });
    const header = new Uint8Array(HEADER_BYTES);
    file.readAt(0, header);
    file.writeAt(0, new Uint8Array(HEADER_BYTES));
    throws(() => Log.open(host, "log", { op: 0 }, second), code("55000", pattern));
    file.writeAt(0, header);
    file.close();
    strictEqual(Log.open(host, "log", { op: 0 }, first).lastOp, 1);
  }
});

Deno.test("Log of a member takes a stale record for damage when its successor is vouched for, else for the end", async () => {
  // Two logs that differ from op 18 on, in entries of the same sizes: their records have the same places.
  const logs = [];
  for (const seed of [0, 100]) {
    const host = new SimulatedHost(5);
    const log = Log.open(host, "log", { op: 0 }, MEMBER);
    const model = new Model();
    for (let op = 1; op <= 25; op++) {
      log.append(op, model.add(0, payloadOf(op < 18 ? op : op + seed, 50)).payload);
    }
    await host.settle(log.whenDurable(25));
    const place = (at: number) => {
      const { payload } = model.entries[at - 1] as StoredEntry;
      const hexadecimal = payload.toHex();
      return host.disk.contentOf("log/0000000000000001.log").toHex().indexOf(hexadecimal) / 2 - HEAD_BYTES;
    };
    logs.push({ host, log, model, place });
  }
  const [one, other] = logs;
  ok(one !== undefined && other !== undefined && one.place(22) === other.place(22));
  await one.host.settle(one.log.close());
  const path = "log/0000000000000001.log";
  const recordBytes = HEAD_BYTES + 50;
  const copyRecord = (op: number) => {
    const at = other.place(op);
    const file = one.host.disk.openFile(path, { create: false, write: true });
    file.writeAt(at, other.host.disk.contentOf(path).slice(at, at + recordBytes));
    file.syncDataNow();
  };
  copyRecord(20);
  const log = Log.open(one.host, "log", { op: 0 }, MEMBER);
  // Which of the two before op 21 is the wrong one is not known here.
  equal(compare(log, one.model), [19, 20]);
  repairAll(log, one.model, new SeededRandom(1));
  await one.host.settle(log.close());
  // Behind the end, and nothing vouches for it.
  const cut = Log.open(one.host, "log", { op: 0 }, MEMBER);
  cut.truncateAfter(21);
  one.model.entries.length = 21;
  await one.host.settle(cut.close());
  const file = one.host.disk.openFile(path, { create: false, write: true });
  // In the place of the seal.
  file.writeAt(one.place(21) + recordBytes, new Uint8Array(HEAD_BYTES));
  file.syncDataNow();
  copyRecord(22);
  const again = Log.open(one.host, "log", { op: 0 }, MEMBER);
  equal(compare(again, one.model), []);
  ok(again.cutBytes > 0);
});

Deno.test("Log of a member writes a damaged header again, from what follows it", async () => {
  const { host, log, model } = await filled(40);
  await host.settle(log.close());
  const paths = host.disk.list("log").map((name) => `log/${name}`);
  const headers = paths.map((path) => host.disk.contentOf(path).slice(0, HEADER_BYTES).toHex());
  for (const path of paths) host.disk.flipBit(path, 26, 1);
  const again = Log.open(host, "log", { op: 0 }, MEMBER);
  equal(compare(again, model), []);
  host.crash();
  equal(paths.map((path) => host.disk.contentOf(path).slice(0, HEADER_BYTES).toHex()), headers);
});

/** Where the records of a file end, seals and all: what follows is zeros. */
function usedBytes(host: SimulatedHost, path: string): number {
  const bytes = host.disk.contentOf(path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

/** Damages a log that was closed: some bits, a stretch, the rest of a file, or all of one. Its last seal stays. */
function rot(host: SimulatedHost, random: SeededRandom): void {
  const paths = host.disk.list("log").map((name) => `log/${name}`);
  const path = random.pick(paths);
  const isLast = path === paths.at(-1);
  const end = usedBytes(host, path) - (isLast ? HEAD_BYTES : 0);
  // A file without records may be all that is left to vouch for those before it.
  if (end < (isLast ? HEADER_BYTES : 1)) return;
  const kind = random.below(5);
  if (kind < 2) {
    for (let flips = random.between(1, 3); flips > 0; flips--) {
      host.disk.flipBit(path, random.below(end), random.below(8));
    }
    return;
  }
  const file = host.disk.openFile(path, { create: false, write: true });
  const from = random.below(end);
  const bytes = new Uint8Array(
    kind === 2 ? random.between(1, end - from) : (isLast ? end : file.size) - from,
  );
  if (kind !== 3) random.fill(bytes);
  file.writeAt(from, bytes);
  if (kind === 4 && !isLast) file.truncate(random.below(end));
  file.syncDataNow();
  if (random.below(10) === 0 && paths.length > 1 && !isLast) host.disk.remove(path);
  host.disk.syncDirectory("log");
}

/** One seeded life of a member's log: everything above, with rot, and crashes at any operation of the disk. */
class Life {
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #host: SimulatedHost;
  readonly #model = new Model();
  /** Of new files. */
  #format: LogFormat;
  #base = { op: 0, digest: EMPTY_HISTORY };
  #acknowledged = 0;
  /** The op after which the log was to be cut when it crashed. */
  #cutAfter = Infinity;
  /** The log has rotted since it was whole. */
  #isRotten = false;
  damagedOps = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#format = seed % 3 === 0 ? UNMARKED_FORMAT : MEMBER_FORMAT;
    this.#random = new SeededRandom(seed);
    this.#host = new SimulatedHost(seed);
  }

  async run(): Promise<string> {
    const host = this.#host;
    try {
      for (let turn = 0; turn < 8; turn++) {
        const crashAtOperation = host.disk.operations + this.#random.between(5, 160);
        host.disk.faults = { ...host.disk.faults, crashAtOperation };
        try {
          await this.#turn(turn);
        } catch (error) {
          if (
            !(error instanceof SimulatedCrash || error instanceof DatabaseError && error.code === "58030")
          ) throw error;
        }
        await host.rest();
        host.crash();
      }
      host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
      const log = this.#open();
      this.#repairAll(log);
      return host.traceDigest;
    } catch (error) {
      throw new Error(`seed ${this.#seed}`, { cause: error });
    }
  }

  #open(): Log {
    const model = this.#model;
    const log = Log.open(this.#host, "log", this.#base, withFormat(this.#format));
    const least = Math.min(this.#acknowledged, this.#cutAfter);
    ok(log.lastOp >= least, `op ${least} was durable, ${log.lastOp} recovered`);
    ok(log.lastOp <= model.lastOp, "more recovered than written");
    model.entries.length = log.lastOp;
    const damaged = compare(log, model);
    this.damagedOps += damaged.length;
    for (const op of damaged) ok(this.#isRotten || op > this.#cutAfter, `op ${op} is damaged`);
    if (damaged.length === 0) strictEqual(log.appendedBytes, model.bytesAfter(this.#base.op));
    if (this.#cutAfter < log.lastOp) {
      // As a replica does when it starts again.
      const left = this.#cutAfter;
      log.truncateAfter(left);
      model.entries.length = left;
    }
    this.#acknowledged = log.lastOp;
    this.#cutAfter = Infinity;
    log.onDurable((op) => this.#acknowledged = op);
    return log;
  }

  #repairAll(log: Log): void {
    repairAll(log, this.#model, this.#random);
    const { op: base } = this.#base;
    strictEqual(log.appendedBytes, this.#model.bytesAfter(base));
    let op = base;
    for (const entry of log.entries(base)) {
      strictEqual(Number(entry.op), ++op);
      equal(entry.payload, this.#model.entries[op - 1]?.payload);
    }
    strictEqual(op, log.lastOp);
    equal(compare(log, this.#model), []);
    this.#isRotten = false;
  }

  async #turn(turn: number): Promise<void> {
    const random = this.#random, host = this.#host, model = this.#model;
    let log = this.#open();
    for (let action = 0; action < 50; action++) {
      if (log.error !== null) throw log.error;
      if (turn === 3 && action === 8) log.memberFormat = this.#format = MEMBER_FORMAT;
      const kind = random.below(14);
      if (kind < 6) {
        if (log.digest === null) continue;
        const payload = payloadOf(random.between(0, 1e6), random.between(1, 900));
        const entry = model.add(random.between(0, 9), payload);
        log.appendAs(entry.op, payload, entry.view);
      } else if (kind < 9) await host.step();
      else if (kind === 9 && log.lastOp > this.#base.op) {
        const left = random.between(Math.max(this.#base.op, log.lastOp - 12), log.lastOp);
        if (left === log.lastOp) continue;
        this.#cutAfter = left;
        log.truncateAfter(left);
        this.#cutAfter = Infinity;
        model.entries.length = left;
        this.#acknowledged = left;
        if (log.damaged.length === 0) strictEqual(log.appendedBytes, model.bytesAfter(this.#base.op));
      } else if (kind === 10) {
        const op = random.between(log.oldestOp, log.lastOp + 1);
        const entry = log.readEntry(op);
        if (entry !== null || !this.#isRotten) equal(entry, model.entries[op - 1] ?? null);
      } else if (kind === 11 && log.damaged.length > 0) {
        if (random.below(2) === 0) this.#repairAll(log);
        else {
          const { from, to } = random.pick(log.damaged);
          const { op, payload, view, previousDigest } = model
            .entries[random.between(from, to) - 1] as StoredEntry;
          log.repair(op, payload, view, previousDigest);
        }
      } else if (kind === 12 && log.durableOp > this.#base.op && log.damaged.length === 0) {
        this.#base = { op: log.durableOp, digest: model.digestAt(log.durableOp) };
        log.truncateBefore(this.#base.op + 1);
        await host.settle(log.close());
        log = this.#open();
      } else if (kind === 13 && log.digest !== null && log.lastOp > 0) {
        await host.settle(log.close());
        if (random.below(2) === 0) {
          this.#isRotten = true;
          rot(host, random);
        }
        log = this.#open();
      }
    }
  }
}

Deno.test("Log of a member is its model's through rot and crashes at any point, the same way each time", async () => {
  let damagedOps = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const life = new Life(seed);
    const trace = await life.run();
    damagedOps += life.damagedOps;
    if (seed % 6 === 0) strictEqual(await new Life(seed).run(), trace, `seed ${seed} twice`);
  }
  ok(damagedOps > 20, `${damagedOps} ops were damaged`);
});

Deno.test("Log of a member begins a file of a later format with the next entry, and goes on with both", async () => {
  const host = new SimulatedHost(5), model = new Model();
  const log = Log.open(host, "log", { op: 0 }, withFormat(UNMARKED_FORMAT));
  const add = async (size: number): Promise<void> => {
    const { op, payload } = model.add(0, payloadOf(model.lastOp, size));
    log.append(op, payload);
    await host.settle(log.whenDurable(op));
  };
  const formats = () =>
    host.disk.list("log").map((name) => {
      const file = host.disk.openFile(`log/${name}`, { create: false, write: false });
      const found = readLogHeader(file, Number.parseInt(name, 16))?.format.version;
      file.close();
      return found;
    });
  await add(50);
  await add(60);
  equal(formats(), [2]);
  log.memberFormat = MEMBER_FORMAT;
  equal(formats(), [2]);
  await add(70);
  await add(80);
  equal(formats(), [2, 3]);
  // Nothing that is written needs an older one.
  log.memberFormat = UNMARKED_FORMAT;
  await add(90);
  equal(formats(), [2, 3]);
  log.truncateAfter(1);
  model.entries.length = 1;
  equal(formats(), [2]);
  await add(100);
  equal(formats(), [2]);
  equal(compare(log, model), []);
  await host.settle(log.close());
  const again = Log.open(host, "log", { op: 0 }, MEMBER);
  equal(compare(again, model), []);
});

Deno.test("Log of a member syncs a group while the thread waits: a backup's, and a primary's where that is quick", async () => {
  for (const isPrimary of [false, true]) {
    for (const pace of [0, 400, 50_000]) {
      const host = new SimulatedHost(6);
      const log = Log.open(host, "log", { op: 0 }, MEMBER);
      let sent = 0;
      if (isPrimary) log.sendAppended = () => sent++;
      // Looks at the clock take so long, and so a sync seems to.
      host.pace = pace;
      let blocking = 0;
      for (let round = 0; round < 40; round++) {
        for (let entry = 0; entry < 3; entry++) log.append(log.lastOp + 1, payloadOf(1, 20));
        // The end of the turn, which a primary waits for; nothing of the disk.
        if (isPrimary) await host.step();
        for (let task = 0; task < 5; task++) await Promise.resolve();
        if (log.durableOp === log.lastOp) blocking++;
        await host.settle(log.whenDurable(log.lastOp));
      }
      const isQuick = pace === 0 || pace === 400 && !isPrimary;
      ok(isQuick ? blocking > 30 : blocking < 30, `${isPrimary}, ${pace}: ${blocking} of 40`);
      if (isPrimary) ok(sent >= 40, "entries are sent before they are synced");
      log.sendAppended = null;
      await host.settle(log.close());
    }
  }
});

/** The log of a process that was killed after its last sync, with the last record damaged. */
async function killedAndRotten(seed: number): Promise<{ host: SimulatedHost; model: Model }> {
  const random = new SeededRandom(seed);
  const host = new SimulatedHost(seed);
  const log = Log.open(host, "log", { op: 0 }, MEMBER);
  const model = new Model();
  for (let group = random.between(1, 12); group > 0; group--) {
    for (let count = random.between(1, 3); count > 0; count--) {
      const entry = model.add(group, payloadOf(random.below(1e6), random.between(1, 900)));
      log.appendAs(entry.op, entry.payload, group);
    }
    await host.settle(log.whenDurable(model.lastOp));
  }
  host.disk.kill();
  const path = `log/${host.disk.list("log").at(-1)}`;
  const { payload } = model.entries.at(-1) as StoredEntry;
  const at = host.disk.contentOf(path).toHex().lastIndexOf(payload.toHex()) / 2;
  host.disk.flipBit(path, at, random.below(8));
  return { host, model };
}

Deno.test("Log of a member that was killed knows by its mark that the last entry was lost, not torn", async () => {
  for (let seed = 1; seed <= 25; seed++) {
    const { host, model } = await killedAndRotten(seed);
    const log = Log.open(host, "log", { op: 0 }, MEMBER);
    strictEqual(log.lastOp, model.lastOp, `seed ${seed}`);
    equal(compare(log, model), [model.lastOp], `seed ${seed}`);
    repairAll(log, model, new SeededRandom(seed));
    equal(compare(log, model), []);
    const entry = model.add(99, payloadOf(seed, 40));
    log.appendAs(entry.op, entry.payload, 99);
    await host.settle(log.close());
    equal(compare(Log.open(host, "log", { op: 0 }, MEMBER), model), [], `seed ${seed}`);
  }
});

Deno.test("Log of a member takes for torn what its last sync did not cover, and what no mark is left of", async () => {
  const { host, model } = await killedAndRotten(3);
  const path = `log/${host.disk.list("log").at(-1)}`;
  const file = host.disk.openFile(path, { create: false, write: true });
  // Without marks, as after a power failure that took the newest.
  file.writeAt(512, new Uint8Array(RECORDS_START - 512));
  file.syncDataNow();
  strictEqual(Log.open(host, "log", { op: 0 }, MEMBER).lastOp, model.lastOp - 1);

  const other = new SimulatedHost(4);
  const log = Log.open(other, "log", { op: 0 }, MEMBER);
  log.append(1, payloadOf(1, 50));
  await other.settle(log.whenDurable(1));
  log.append(2, payloadOf(2, 700));
  other.disk.kill();
  const name = "log/0000000000000001.log";
  other.disk.flipBit(name, RECORDS_START + HEAD_BYTES + 50 + HEAD_BYTES + 10, 1);
  const again = Log.open(other, "log", { op: 0 }, MEMBER);
  strictEqual(again.lastOp, 1);
  equal(again.damaged, []);
});

Deno.test("Log of a member removes what older marks vouch for, and none of them comes back", async () => {
  const host = new SimulatedHost(8);
  const log = Log.open(host, "log", { op: 0 }, MEMBER);
  const model = new Model();
  for (let op = 1; op <= 10; op++) {
    log.append(op, model.add(0, payloadOf(op, 60)).payload);
    await host.settle(log.whenDurable(op));
  }
  log.truncateAfter(4);
  model.entries.length = 4;
  host.disk.kill();
  // The seal that vouches for what stays, and the newest mark.
  host.disk.flipBit("log/0000000000000001.log", RECORDS_START + 4 * (HEAD_BYTES + 60) + 10, 1);
  for (let sector = 512; sector < RECORDS_START; sector += 512) {
    const disk = new SimulatedHost(8).disk;
    disk.createDirectory("log");
    const copy = disk.openFile("log/0000000000000001.log", { create: true, write: true });
    copy.writeAt(0, host.disk.contentOf("log/0000000000000001.log"));
    copy.syncDataNow();
    disk.flipBit("log/0000000000000001.log", sector + 3, 1);
    const again = Log.open({ ...host, disk }, "log", { op: 0 }, MEMBER);
    strictEqual(again.lastOp, 4);
    equal(compare(again, model), []);
  }
});
