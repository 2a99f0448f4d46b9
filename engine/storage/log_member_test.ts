/**
 * The log of a member of a replication group: names of entries, single entries, its end cut off, damage and its
 * repair, against a model, over a simulated disk that crashes and rots.
 */
import { deepStrictEqual as equal, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import { memoryHost } from "../host/memory_host.ts";
import { SimulatedCrash } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { digestAfter, EMPTY_HISTORY } from "../operations/history_digest.ts";
import { Log } from "./log.ts";
import type { StoredEntry } from "./log_history.ts";
import type { LogOptions } from "./log_options.ts";

const SIZES = { fileBytes: 4096, reserveBytes: 1024, bufferBytes: 2048, directWriteBytes: 600 };
const MEMBER: LogOptions = { ...SIZES, member: { keepBytes: 10_000 } };
const HEAD_BYTES = 36;

function code(expected: string, pattern?: RegExp) {
  return (error: unknown) =>
    error instanceof DatabaseError && error.code === expected && (pattern?.test(error.message) ?? true);
}

function payloadOf(seed: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  new SeededRandom(seed).fill(bytes);
  return bytes;
}

/** The entries that a log should have. */
class Model {
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
async function filled(count: number, options = MEMBER) {
  const host = new SimulatedHost(5);
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
function compare(log: Log, model: Model): number[] {
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
    const { view, previousDigest, digest } = entry;
    equal(log.nameOf(op), { view, previousDigest, digest });
  }
  strictEqual(log.readEntry(log.lastOp + 1), null);
  strictEqual(log.readEntry(log.oldestOp - 1), null);
  return unreadable;
}

function repairAll(log: Log, model: Model, random: SeededRandom): void {
  const ops = log.damaged.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
  );
  const order = random.below(3);
  if (order === 0) ops.reverse();
  if (order === 1) ops.sort(() => random.below(2) - 0.5);
  for (const op of ops) {
    const { payload, view, previousDigest, digest } = model.entries[op - 1] as StoredEntry;
    log.repair(op, payload, view, previousDigest);
    strictEqual(log.nameOf(op)?.digest, digest);
  }
  equal(log.damaged, []);
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
    const { view, previousDigest } = model.entries[op - 1] as StoredEntry;
    throws(() => log.repair(op, payloadOf(0, 10), view, previousDigest), code("XX001", /does not fit/));
    throws(() => log.repair(op, payload, view, 5n), code("XX001", /does not fit/));
    log.repair(op, payload, view, previousDigest);
    equal(compare(log, model), []);
    await host.settle(log.close());
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), []);
  }
});

Deno.test("Log.truncateAfter() into damage leaves it known as damage, also after a crash", async () => {
  const random = new SeededRandom(8);
  let cut = 0;
  for (let round = 0; round < 25; round++) {
    const { host, log, model } = await filled(40);
    await host.settle(log.close());
    const from = random.between(5, 30);
    for (const name of host.disk.list("log")) {
      const path = `log/${name}`;
      const text = host.disk.contentOf(path).toHex();
      for (let op = from; op < from + 4; op++) {
        const at = text.indexOf(model.entries[op - 1]?.payload.subarray(0, 16).toHex() ?? "") / 2;
        if (at >= 0) host.disk.flipBit(path, at, 0);
      }
    }
    const damaged = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(damaged, model), [from, from + 1, from + 2, from + 3]);
    const left = from + random.between(-1, 4);
    damaged.truncateAfter(left);
    model.entries.length = left;
    const expected = [from, from + 1, from + 2, from + 3].filter((op) => op <= left);
    equal(compare(damaged, model), expected);
    host.crash();
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), expected, `cut after ${left} of damage from ${from}`);
    if (again.digest === null) throws(() => again.append(left + 1, payloadOf(1, 9)), /cannot be read/);
    cut += expected.length;
    repairAll(again, model, random);
    again.appendAs(left + 1, model.add(11, payloadOf(left, 90)).payload, 11);
    equal(compare(again, model), []);
    strictEqual(again.appendedBytes, model.bytesAfter(0));
    again.verify();
    await host.settle(again.close());
    equal(compare(Log.open(host, "log", { op: 0 }, MEMBER), model), []);
  }
  ok(cut > 15, `${cut}`);
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
  host.disk.flipBit(path, 60, 1);
  const rotten = Log.open(host, "log", base, MEMBER);
  equal(rotten.damaged, []);
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
    strictEqual(Log.open(host, "log", { op: 0 }, first).lastOp, 1);
  }
});

/** One seeded life of a member's log: everything above, with crashes at any operation of the disk. */
async function life(seed: number): Promise<string> {
  const random = new SeededRandom(seed);
  const host = new SimulatedHost(seed);
  const model = new Model();
  let base = { op: 0, digest: EMPTY_HISTORY };
  let acknowledged = 0;
  let cutAfter = Infinity;
  const open = (): Log => {
    const log = Log.open(host, "log", base, MEMBER);
    ok(
      log.lastOp >= Math.min(acknowledged, cutAfter),
      `op ${acknowledged} was durable, ${log.lastOp} recovered`,
    );
    ok(log.lastOp <= model.lastOp, `more recovered than written`);
    model.entries.length = log.lastOp;
    for (const { from } of log.damaged) ok(from > cutAfter, `op ${from} is damaged`);
    for (const { from } of log.damaged.slice(0, 1)) {
      log.truncateAfter(from - 1);
      model.entries.length = from - 1;
    }
    equal(compare(log, model), []);
    strictEqual(log.appendedBytes, model.bytesAfter(base.op));
    acknowledged = log.lastOp;
    cutAfter = Infinity;
    log.onDurable((op) => acknowledged = op);
    return log;
  };
  for (let turn = 0; turn < 8; turn++) {
    host.disk.faults = {
      ...host.disk.faults,
      crashAtOperation: host.disk.operations + random.between(5, 160),
    };
    try {
      let log = open();
      for (let action = 0; action < 40; action++) {
        if (log.error !== null) throw log.error;
        const kind = random.below(12);
        if (kind < 6) {
          const entry = model.add(
            random.between(0, 9),
            payloadOf(random.between(0, 1e6), random.between(1, 900)),
          );
          log.appendAs(entry.op, entry.payload, entry.view);
        } else if (kind < 9) await host.step();
        else if (kind === 9 && log.lastOp > base.op) {
          const left = random.between(Math.max(base.op, log.lastOp - 12), log.lastOp);
          if (left === log.lastOp) continue;
          cutAfter = left;
          log.truncateAfter(left);
          cutAfter = Infinity;
          model.entries.length = left;
          acknowledged = left;
        } else if (kind === 10) {
          const op = random.between(log.oldestOp, log.lastOp + 1);
          equal(log.readEntry(op), model.entries[op - 1] ?? null);
        } else if (random.below(3) === 0) {
          await host.settle(log.close());
          log = open();
        } else if (log.durableOp > base.op) {
          base = { op: log.durableOp, digest: model.digestAt(log.durableOp) };
          log.truncateBefore(base.op + 1);
          await host.settle(log.close());
          log = open();
        }
      }
    } catch (error) {
      const isExpected = error instanceof SimulatedCrash ||
        error instanceof DatabaseError && error.code === "58030";
      if (!isExpected) throw new Error(`seed ${seed}`, { cause: error });
    }
    await host.rest();
    host.crash();
  }
  host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
  open();
  return host.traceDigest;
}

Deno.test("Log of a member is its model's in crashes at any point, the same way each time", async () => {
  for (let seed = 1; seed <= 24; seed++) {
    const trace = await life(seed);
    if (seed % 6 === 0) strictEqual(await life(seed), trace, `seed ${seed} twice`);
  }
});
