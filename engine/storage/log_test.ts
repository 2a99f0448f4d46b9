/**
 * The log on memory, real and simulated disks: group commit, rotation, recovery, damage, failures, full disks,
 * crashes.
 */
import { deepStrictEqual as equal, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import { denoHost } from "../host/deno_host.ts";
import type { Host } from "../host/host.ts";
import { memoryHost } from "../host/memory_host.ts";
import { SimulatedCrash } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { Log } from "./log.ts";
import type { LogOptions } from "./log_options.ts";

const SMALL: LogOptions = { fileBytes: 4096, reserveBytes: 1024, bufferBytes: 2048, directWriteBytes: 600 };
const PARTED: LogOptions = { ...SMALL, parts: { leastBytes: 1500, partBytes: 400 } };

function payloadOf(op: number, size = 20 + (op * 37) % 700): Uint8Array {
  const random = new SeededRandom(op);
  const bytes = new Uint8Array(size);
  random.fill(bytes);
  return bytes;
}

function read(log: Log, after = 0): number[] {
  const ops: number[] = [];
  for (const { op, payload } of log.entries(after)) {
    strictEqual(crc32c(payload), crc32c(payloadOf(op, payload.length)), `payload of op ${op}`);
    ops.push(op);
  }
  return ops;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function appendThrough(log: Log, last: number): void {
  for (let op = log.lastOp + 1; op <= last; op++) log.append(op, payloadOf(op));
}

function code(expected: string, pattern?: RegExp) {
  return (error: unknown) =>
    error instanceof DatabaseError && error.code === expected && (pattern?.test(error.message) ?? true);
}

async function roundTrip(host: Host, directory: string): Promise<void> {
  const log = Log.open(host, directory, { op: 0 }, SMALL);
  appendThrough(log, 50);
  equal(read(log), range(1, 50));
  await log.whenDurable(50);
  strictEqual(log.durableOp, 50);
  appendThrough(log, 60);
  await log.close();
  const again = Log.open(host, directory, { op: 0 }, SMALL);
  strictEqual(again.lastOp, 60);
  strictEqual(again.appendedBytes, log.appendedBytes);
  equal(read(again, 42), range(43, 60));
  appendThrough(again, 61);
  again.truncateBefore(40);
  ok(again.oldestOp > 1 && again.oldestOp <= 40);
  again.verify();
  await again.close();
  const last = Log.open(host, directory, { op: 40 }, SMALL);
  equal(read(last, 40), range(41, 61));
  await last.close();
}

Deno.test("Log keeps entries on a memory disk", async () => {
  await roundTrip(memoryHost(), "log");
});

Deno.test("Log keeps entries on a real disk", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await roundTrip(denoHost(), `${directory}/log`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("Log.append() shares one sync among the entries of a turn", async () => {
  const host = new SimulatedHost(1);
  const log = Log.open(host, "log", { op: 0 });
  const before = host.disk.operations;
  for (let op = 1; op <= 10; op++) log.append(op, payloadOf(op));
  await host.settle(Promise.all(range(1, 10).map((op) => log.whenDurable(op))));
  strictEqual(host.disk.operations - before, 2, "one write and one sync");
});

Deno.test("Log.append() right after the last entry became durable is flushed too", async () => {
  const host = memoryHost();
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  for (let round = 0; round < 200; round++) {
    for (let count = 1 + round % 3; count > 0; count--) log.append(log.lastOp + 1, payloadOf(log.lastOp + 1));
    await log.whenDurable(log.lastOp);
  }
  await log.close();
});

Deno.test("Log.append() refuses a gap", () => {
  const log = Log.open(memoryHost(), "log", { op: 0 });
  throws(() => log.append(2, payloadOf(2)), /op 2 appended after 0/);
});

Deno.test("Log.onDurable() reports each advance until it is called off", async () => {
  const host = new SimulatedHost(1);
  const log = Log.open(host, "log", { op: 0 });
  const seen: number[] = [];
  const stop = log.onDurable((op) => seen.push(op));
  log.append(1, payloadOf(1));
  await host.settle(log.whenDurable(1));
  stop();
  log.append(2, payloadOf(2));
  await host.settle(log.whenDurable(2));
  equal(seen, [1]);
});

/** A simulated disk with a log of 30 entries, cleanly closed or not. */
async function filled(clean: boolean): Promise<SimulatedHost> {
  const host = new SimulatedHost(3);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  appendThrough(log, 29);
  await host.settle(log.whenDurable(29));
  appendThrough(log, 30);
  if (clean) await host.settle(log.close());
  else await host.settle(log.whenDurable(30));
  return host;
}

Deno.test("Log.open() finds and names every flipped bit of a closed log", async () => {
  const clean = await filled(true);
  const names = clean.disk.list("log");
  const used = names.map((name) => {
    const bytes = clean.disk.contentOf(`log/${name}`);
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    return { path: `log/${name}`, end };
  });
  const random = new SeededRandom(9);
  for (let round = 0; round < 150; round++) {
    const { path, end } = random.pick(used);
    const isLast = path === used.at(-1)?.path;
    // The seal vouches for all before it; for itself nobody vouches, and nothing is lost with it.
    const position = random.below(isLast ? end - 20 : end);
    const bit = random.below(8);
    clean.disk.flipBit(path, position, bit);
    throws(() => {
      const log = Log.open(clean, "log", { op: 0 }, SMALL);
      log.verify();
    }, (error) => {
      ok(error instanceof DatabaseError, String(error));
      ok(error.code === "XX001" || error.code === "0A000", error.message);
      return error.message.includes(path) &&
        (error.code === "0A000" || /byte offset \d+/.test(error.message));
    }, `${path} ${position}`);
    clean.disk.flipBit(path, position, bit);
  }
  strictEqual(Log.open(clean, "log", { op: 0 }, SMALL).lastOp, 30);
});

Deno.test("Log.open() reads no payload before the checkpoint, and trusts no head that leads past it", async () => {
  const clean = await filled(true);
  // The first file holds several ops; the checkpoint is in the middle of it.
  const [first = "", second = ""] = clean.disk.list("log").map((name) => `log/${name}`);
  const base = parseInt(second.slice(4, 20), 16) - 2;
  ok(base > 3, `a checkpoint at op ${base}`);
  const bytes = clean.disk.contentOf(first);
  const heads: number[] = [];
  for (
    let at = 40;
    heads.length < base;
    at += 20 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)
  ) {
    heads.push(at);
  }
  const flipped = (position: number, use: () => void): void => {
    clean.disk.flipBit(first, position, 0);
    use();
    clean.disk.flipBit(first, position, 0);
  };
  for (const head of heads.slice(0, -1)) {
    flipped(head + 24, () => {
      const log = Log.open(clean, "log", { op: base }, SMALL);
      equal(read(log, base), range(base + 1, 30));
      throws(() => log.verify(), code("XX001", /byte offset/));
    });
  }
  // A length or an op that is not right: the walk by heads ends elsewhere, and everything is read.
  for (const head of heads) {
    for (const field of [0, 8]) {
      flipped(
        head + field,
        () => throws(() => Log.open(clean, "log", { op: base }, SMALL), code("XX001", /byte offset/)),
      );
    }
  }
  // The last record before the checkpoint vouches for the place where the log goes on.
  flipped(
    (heads.at(-1) ?? 0) + 24,
    () => throws(() => Log.open(clean, "log", { op: base }, SMALL), code("XX001")),
  );
  equal(read(Log.open(clean, "log", { op: base }, SMALL), base), range(base + 1, 30));
});

Deno.test("Log.open() cuts a torn tail and forgets it for good", async () => {
  for (const cut of [1, 5, 19, 20, 21, 100]) {
    const host = await filled(false);
    const path = `log/${host.disk.list("log").at(-1)}`;
    const bytes = host.disk.contentOf(path);
    let end = bytes.length;
    while (bytes[end - 1] === 0) end--;
    const file = host.disk.openFile(path, { create: false, write: true });
    file.writeAt(end - cut, new Uint8Array(cut));
    file.syncDataNow();
    const log = Log.open(host, "log", { op: 0 }, SMALL);
    strictEqual(log.lastOp, 29, `cut ${cut}`);
    appendThrough(log, 35);
    await host.settle(log.close());
    equal(read(Log.open(host, "log", { op: 0 }, SMALL)), range(1, 35));
  }
});

Deno.test("Log.open() refuses a log whose files are missing", async () => {
  const host = await filled(true);
  const names = host.disk.list("log");
  ok(names.length >= 3);
  host.disk.remove(`log/${names[1]}`);
  throws(() => Log.open(host, "log", { op: 0 }, SMALL), code("XX001", /byte offset/));
  host.disk.remove(`log/${names[0]}`);
  throws(() => Log.open(host, "log", { op: 0 }, SMALL), code("XX001", /missing/));
  throws(() => Log.open(host, "log", { op: 99 }, SMALL), code("XX001", /before the checkpoint/));
});

/** Runs everything that waits for promises already settled; no timer fires. */
async function withinTurn(): Promise<void> {
  for (let hop = 0; hop < 20; hop++) await null;
}

Deno.test("Log syncs an entry that comes alone before the turn ends, and looks for others now and then", async () => {
  const host = new SimulatedHost(8);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  const waited: number[] = [];
  for (let op = 1; op <= 32; op++) {
    log.append(op, payloadOf(op, 30));
    strictEqual(log.durableOp, op - 1);
    await withinTurn();
    if (log.durableOp < op) waited.push(op);
    await host.settle(log.whenDurable(op));
  }
  equal(waited, [7, 14, 21, 28]);
  await log.close();
});

Deno.test("Log keeps entries for the end of the turn once several have come in one", async () => {
  const host = new SimulatedHost(8);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  const groups: number[] = [];
  log.onDurable((op) => groups.push(op));
  for (let turn = 0; turn < 20; turn++) {
    log.append(log.lastOp + 1, payloadOf(1, 20));
    await withinTurn();
    log.append(log.lastOp + 1, payloadOf(1, 20));
    await host.settle(log.whenDurable(log.lastOp));
  }
  // Alone at first, in pairs from the turn on in which the first two were found.
  equal(groups.slice(0, 4), [1, 2, 3, 4]);
  ok(
    groups.slice(-12).every((op, index, ops) => index === 0 || op === (ops[index - 1] ?? 0) + 2),
    `${groups}`,
  );
  await log.close();
});

Deno.test("Log syncs in the background while syncs are slow, and tries a blocking one in the end", async () => {
  const host = new SimulatedHost(8);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  const isBlocking = async (): Promise<boolean> => {
    const before = host.disk.operations;
    log.append(log.lastOp + 1, payloadOf(1, 20));
    await withinTurn();
    while (host.disk.operations < before + 2) await host.step();
    const isDurable = log.durableOp === log.lastOp;
    await host.settle(log.whenDurable(log.lastOp));
    return isDurable;
  };
  ok(await isBlocking());
  // Looks at the clock take long now, and so a sync seems to.
  host.pace = 50_000;
  const slow: boolean[] = [];
  for (let sync = 0; sync < 12; sync++) slow.push(await isBlocking());
  ok(slow.includes(true) && !slow.slice(-8).includes(true), `${slow}`);
  host.pace = 0;
  let background = 0;
  while (background < 1000 && !await isBlocking()) background++;
  ok(background > 10 && background < 400, `${background} in the background`);
  for (let sync = 0; sync < 20; sync++) await isBlocking();
  const quick: boolean[] = [];
  for (let sync = 0; sync < 20; sync++) quick.push(await isBlocking());
  ok(quick.filter((each) => each).length > 15, `${quick}`);
  await log.close();
});

Deno.test("Log is poisoned by a failed sync and never tries again", async () => {
  for (const entries of [1, 3]) {
    const host = new SimulatedHost(4);
    const log = Log.open(host, "log", { op: 0 }, SMALL);
    host.disk.failNext("sync", "log");
    for (let op = 1; op <= entries; op++) log.append(op, payloadOf(op));
    await rejects(host.settle(log.whenDurable(1)), code("58030"));
    strictEqual((await host.settle(log.failed)).code, "58030");
    throws(() => log.append(entries + 1, payloadOf(1)), code("58030"));
    await rejects(log.whenDurable(entries), code("58030"));
    strictEqual(log.durableOp, 0);
    await rejects(log.close(), code("58030"));
  }
});

Deno.test("Log acknowledges nothing on the word of a sync that came behind the back of a failing one", async () => {
  const host = new SimulatedHost(4);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  log.append(1, payloadOf(1));
  log.append(2, payloadOf(2));
  host.disk.failNext("sync", "log");
  while (!host.disk.hasFailedSyncs("log")) await host.step();
  // The sync under way has lost both entries. A sync by the same handle would end well now, and so would a new file's.
  throws(() => log.append(3, payloadOf(3, SMALL.fileBytes)), code("58030"));
  strictEqual(log.durableOp, 0);
  await rejects(log.whenDurable(2), code("58030"));
  await host.rest();
  await rejects(log.close(), code("58030"));
  host.crash();
  strictEqual(Log.open(host, "log", { op: 0 }, SMALL).lastOp, 0);
});

Deno.test("Log writes again what a failed sync may have lost, before it is called durable by the next process", async () => {
  for (const [index, member] of [undefined, { keepBytes: 0 }].entries()) {
    for (const durable of [0, 1, 7, 20]) {
      const host = new SimulatedHost(4 + index);
      const options = { ...SMALL, fileBytes: 1 << 16, ...member === undefined ? {} : { member } };
      const open = () => Log.open(host, "log", { op: 0 }, options);
      const log = open();
      appendThrough(log, durable);
      await host.settle(log.whenDurable(durable));
      host.disk.failNext("sync", "log");
      appendThrough(log, durable + 6);
      await rejects(host.settle(log.whenDurable(durable + 6)), code("58030"));
      host.kill();
      const again = open();
      strictEqual(again.lastOp, durable + 6);
      appendThrough(again, durable + 9);
      await host.settle(again.whenDurable(durable + 9));
      host.crash();
      equal(read(open()), range(1, durable + 9));
    }
  }
});

Deno.test("Log is poisoned by a failed write", async () => {
  const host = new SimulatedHost(4);
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  host.disk.failNext("write", "log");
  log.append(1, payloadOf(1));
  await rejects(host.settle(log.whenDurable(1)), code("58030"));
  // Not the error of a damaged file: what is missing in it was never there.
  throws(() => [...log.entries(0)], code("58030"));
});

Deno.test("Log.append() refuses an entry on a full disk and goes on when there is space again", async () => {
  const host = new SimulatedHost(5, { capacityBytes: 10_000 });
  const log = Log.open(host, "log", { op: 0 }, SMALL);
  let refused = 0;
  for (let attempt = 0; attempt < 60; attempt++) {
    try {
      log.append(log.lastOp + 1, payloadOf(log.lastOp + 1));
    } catch (error) {
      ok(code("53100")(error), String(error));
      refused++;
    }
    await host.step();
  }
  ok(refused > 10 && log.lastOp > 10);
  const full = log.lastOp;
  await host.settle(log.whenDurable(full));
  host.disk.faults = { ...host.disk.faults, capacityBytes: 1_000_000 };
  appendThrough(log, full + 20);
  await host.settle(log.close());
  equal(read(Log.open(host, "log", { op: 0 }, SMALL)), range(1, full + 20));
});

/** Appends an entry in pieces, which may be parts, or gives it up. */
async function appendSlowly(
  log: Log,
  payload: Uint8Array,
  random: SeededRandom,
  host: SimulatedHost,
): Promise<void> {
  const entry = log.appendInPieces(log.lastOp + 1, payload.length);
  for (let from = 0; from < payload.length; from += 333) {
    entry.write(payload.subarray(from, from + 333));
    if (random.chance(0.2)) await host.step();
  }
  if (random.chance(0.8)) entry.finish();
  else entry.abandon();
}

/** One seeded life of a log with a crash somewhere; gives the trace and what was promised. */
async function crashRun(seed: number): Promise<{ trace: string; acknowledged: number; recovered: number }> {
  const random = new SeededRandom(seed);
  const host = new SimulatedHost(seed);
  let acknowledged = 0;
  let lastAppended = 0;
  let recovered = 0;
  for (let life = 0; life < 3; life++) {
    host.disk.faults = {
      ...host.disk.faults,
      crashAtOperation: host.disk.operations + random.between(1, 40),
    };
    try {
      const log = Log.open(host, "log", { op: 0 }, PARTED);
      recovered = log.lastOp;
      ok(
        recovered >= acknowledged,
        `seed ${seed}: op ${acknowledged} was acknowledged, ${recovered} recovered`,
      );
      ok(recovered <= lastAppended, `seed ${seed}: more recovered than written`);
      equal(read(log), range(1, recovered), `seed ${seed}`);
      lastAppended = recovered;
      log.onDurable((op) => {
        acknowledged = op;
      });
      for (let turn = 0; turn < 30; turn++) {
        for (let count = random.between(0, 5); count > 0; count--) {
          const op = log.lastOp + 1;
          // Set first: a crash inside append may leave the entry on the disk all the same.
          lastAppended = op;
          if (random.chance(0.9)) log.append(op, payloadOf(op, random.between(1, 900)));
          else await appendSlowly(log, payloadOf(op, random.between(1000, 4000)), random, host);
        }
        for (let steps = random.between(0, 3); steps > 0; steps--) await host.step();
        if (log.error !== null) throw log.error;
      }
    } catch (error) {
      ok(
        error instanceof SimulatedCrash || (error instanceof DatabaseError && error.code === "58030"),
        `seed ${seed}: ${error}`,
      );
    }
    await host.rest();
    host.crash();
  }
  host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
  const log = Log.open(host, "log", { op: 0 }, PARTED);
  ok(log.lastOp >= acknowledged, `seed ${seed}: lost op ${acknowledged}`);
  equal(read(log), range(1, log.lastOp), `seed ${seed}`);
  return { trace: host.traceDigest, acknowledged, recovered: log.lastOp };
}

Deno.test("Log loses nothing acknowledged in crashes at any point, the same way each time", async () => {
  let lives = 0;
  for (let seed = 1; seed <= 120; seed++) {
    const first = await crashRun(seed);
    equal(await crashRun(seed), first, `seed ${seed} twice`);
    if (first.acknowledged > 0) lives++;
  }
  ok(lives > 60);
});

Deno.test("Log.appendInPieces() logs the same bytes as append(), or nothing", async () => {
  const host = memoryHost();
  const whole = Log.open(host, "whole", { op: 0 }, SMALL),
    pieces = Log.open(host, "pieces", { op: 0 }, SMALL);
  for (let op = 1; op <= 6; op++) {
    const payload = payloadOf(op, 900 + op * 500);
    whole.append(op, payload);
    const given = pieces.appendInPieces(op, payload.length);
    given.write(payload.subarray(0, 300));
    given.abandon();
    strictEqual(pieces.lastOp, op - 1);
    const entry = pieces.appendInPieces(op, payload.length);
    for (let from = 0; from < payload.length; from += 250) entry.write(payload.subarray(from, from + 250));
    strictEqual(entry.checksum, crc32c(payload));
    strictEqual(pieces.lastOp, op - 1);
    entry.finish();
    strictEqual(pieces.lastOp, op);
    await Promise.all([whole.whenDurable(op), pieces.whenDurable(op)]);
  }
  strictEqual(pieces.appendedBytes, whole.appendedBytes);
  const unfinished = pieces.appendInPieces(7, 5000);
  unfinished.write(payloadOf(7, 5000));
  await Promise.all([whole.close(), pieces.close()]);
  // The one that was not finished had begun a file of its own.
  equal(host.disk.list("pieces").slice(0, -1), host.disk.list("whole"));
  const again = Log.open(host, "pieces", { op: 0 }, SMALL);
  strictEqual(again.lastOp, 6);
  equal(read(again), range(1, 6));
  await again.close();
});

Deno.test("Log.append() answers the payload's checksum, and the record verifies, whatever its size", async () => {
  const host = memoryHost();
  const log = Log.open(host, "log", { op: 0 });
  const sizes = [1, 63, 64, 1023, 1024, 5000, 70_000, 1_500_000, 1];
  for (const [index, size] of sizes.entries()) {
    const payload = payloadOf(index + 1, size);
    strictEqual(log.append(index + 1, payload), crc32c(payload));
  }
  await log.close();
  equal(read(Log.open(host, "log", { op: 0 })), range(1, sizes.length));
});
