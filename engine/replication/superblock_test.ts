/** The superblock under crashes and damage. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { MemoryDisk } from "../host/memory_host.ts";
import { NO_FAULTS } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import type { SuperblockState } from "./protocol/ports.ts";
import { type MemberIdentity, Superblock, type SuperblockListener } from "./superblock.ts";

const identity: MemberIdentity = {
  clusterId: Uint8Array.from({ length: 16 }, (_, index) => index),
  index: 1,
  memberCount: 3,
  configurationHash: 0xabcdn,
};

const ignored: SuperblockListener = {
  onSuperblockDurable: () => {},
  onSuperblockFailed: () => {},
  onSuperblockFull: () => {},
};

function stateOf(view: number): SuperblockState {
  const suffix = Array.from({ length: view % 40 }, (_, index) => ({
    op: view + index + 1,
    view,
    digest: BigInt(index),
    previousDigest: null,
  }));
  const voteBan = view % 3 === 0 ? null : { view, op: 2 ** 40 + view };
  return { view, logView: view - (view % 2), commit: view, suffix, voteBan };
}

Deno.test("Superblock is read as it was written, and tells of the newest write only", async () => {
  const disk = new MemoryDisk();
  disk.createDirectory("data");
  strictEqual(Superblock.open(disk, "data", ignored), null);
  const durable: number[] = [];
  const superblock: Superblock = Superblock.create(disk, "data", identity, {
    ...ignored,
    onSuperblockDurable: () => durable.push(superblock.read().view),
  });
  for (const view of [1, 2, 3]) superblock.write(stateOf(view));
  await superblock.close();
  deepStrictEqual(durable, [3]);
  const again = Superblock.open(disk, "data", ignored);
  deepStrictEqual(again?.read(), stateOf(3));
  deepStrictEqual(again.identity, identity);
});

Deno.test("Superblock makes a state durable whenever it comes, also just when the one before is", async () => {
  for (let ticks = 0; ticks < 24; ticks++) {
    const disk = new MemoryDisk();
    disk.createDirectory("data");
    const superblock = Superblock.create(disk, "data", identity, ignored);
    superblock.write(stateOf(1));
    for (let tick = 0; tick < ticks; tick++) await null;
    superblock.write(stateOf(2));
    await new Promise((resolve) => setTimeout(resolve));
    strictEqual(superblock.read().view, 2, `after ${ticks} ticks`);
    await superblock.close();
  }
});

Deno.test("Superblock writes again what a failed sync may have lost, before the next process goes by it", async () => {
  for (let successes = 0; successes < 4; successes++) {
    const host = new SimulatedHost(7);
    const { disk } = host;
    disk.createDirectory("data");
    disk.syncDirectory(".");
    const failed = Promise.withResolvers<unknown>();
    const superblock = Superblock.create(disk, "data", identity, {
      ...ignored,
      onSuperblockFailed: failed.resolve,
    });
    for (let view = 1; view <= successes; view++) {
      superblock.write(stateOf(view));
      await host.rest();
    }
    disk.failNext("sync", "SUPERBLOCK");
    superblock.write(stateOf(9));
    await host.settle(failed.promise);
    host.kill();
    strictEqual(Superblock.open(disk, "data", ignored)?.read().view, 9);
    host.crash();
    strictEqual(Superblock.open(disk, "data", ignored)?.read().view, 9, `after ${successes} views`);
  }
});

Deno.test("Superblock survives damage of one copy, and is lost with both", async () => {
  for (const names of [["SUPERBLOCK-A"], ["SUPERBLOCK-B"], ["SUPERBLOCK-A", "SUPERBLOCK-B"]]) {
    const disk = new MemoryDisk();
    disk.createDirectory("data");
    await Superblock.create(disk, "data", identity, ignored).close();
    for (const view of [5, 6]) {
      const superblock = Superblock.open(disk, "data", ignored);
      superblock?.write(stateOf(view));
      await superblock?.close();
    }
    for (const name of names) flip(disk, name, () => 50);
    const damaged: string[] = [];
    const superblock = Superblock.open(disk, "data", ignored, (path) => damaged.push(path));
    // The newest state, for both copies have it.
    strictEqual(superblock?.read().view, names.length === 2 ? undefined : 6);
    deepStrictEqual(damaged, names.length === 2 ? [] : [`data/${names[0]}`]);
    await superblock?.close();
    if (superblock !== null) Superblock.open(disk, "data", ignored, () => ok(false, "both copies are whole"));
    ok(Superblock.exists(disk, "data"));
  }
});

/** Flips a bit of a copy. */
function flip(disk: MemoryDisk, name: string, at: (size: number) => number, bit = 0): void {
  const file = disk.openFile(`data/${name}`, { create: false, write: true });
  const byte = new Uint8Array(1);
  file.readAt(at(file.size), byte);
  file.writeAt(at(file.size), Uint8Array.of((byte[0] ?? 0) ^ (1 << bit)));
  file.close();
}

Deno.test("Superblock survives any flipped bit of a copy: its version is none of a later release then", async () => {
  const disk = new MemoryDisk();
  disk.createDirectory("data");
  await Superblock.create(disk, "data", identity, ignored).close();
  for (let at = 0; at < 40; at++) {
    for (let bit = 0; bit < 8; bit++) {
      flip(disk, "SUPERBLOCK-A", () => at, bit);
      const superblock = Superblock.open(disk, "data", ignored);
      deepStrictEqual(superblock?.identity, identity, `byte ${at}, bit ${bit}`);
      await superblock.close();
    }
  }
});

Deno.test("Superblock never forgets what it has reported durable, whatever write the power fails in", async () => {
  let crashes = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = new SeededRandom(seed);
    const host = new SimulatedHost(seed);
    const { disk } = host;
    disk.createDirectory("data");
    disk.syncDirectory(".");
    Superblock.create(disk, "data", identity, ignored);
    let reported = 0;
    let written = 0;
    for (let life = 0; life < 4; life++) {
      const superblock: Superblock | null = Superblock.open(disk, "data", {
        ...ignored,
        onSuperblockDurable: () => reported = superblock?.read().view ?? 0,
      });
      ok(superblock !== null, `seed ${seed}: the superblock is lost`);
      const { view } = superblock.read();
      ok(
        view >= reported && view <= written,
        `seed ${seed}: view ${view}, reported ${reported}, written ${written}`,
      );
      deepStrictEqual(superblock.read(), stateOf(view));
      reported = view;
      disk.faults = { ...NO_FAULTS, crashAtOperation: disk.operations + random.between(1, 12) };
      for (let count = random.between(1, 6); count > 0; count--) {
        superblock.write(stateOf(++written));
        for (let wait = random.below(4); wait > 0; wait--) await host.step();
      }
      await host.rest();
      if (disk.isCrashed) crashes++;
      host.crash();
      disk.faults = NO_FAULTS;
    }
  }
  ok(crashes > 60, `only ${crashes} crashes`);
});

/** A state with so many headers. */
function longState(view: number, headers: number): SuperblockState {
  const suffix = Array.from({ length: headers }, (_, index) => ({
    op: view + index + 1,
    view,
    digest: BigInt(index) << 40n,
    previousDigest: null,
  }));
  return { view, logView: view, commit: view, suffix, voteBan: null };
}

Deno.test("Superblock has its space beforehand, and waits for more without touching the copy that is whole", async () => {
  const host = new SimulatedHost(5);
  const { disk } = host;
  disk.createDirectory("data");
  const failures: unknown[] = [];
  let durable = 0, full = 0;
  const superblock: Superblock = Superblock.create(disk, "data", identity, {
    onSuperblockDurable: () => durable = superblock.read().view,
    onSuperblockFailed: (error) => failures.push(error),
    onSuperblockFull: () => full++,
  });
  disk.faults = { ...NO_FAULTS, capacityBytes: disk.usedBytes };
  superblock.write(longState(1, 8192));
  await host.rest();
  deepStrictEqual([durable, full, failures], [1, 0, []]);

  for (let attempt = 1; attempt <= 3; attempt++) {
    if (attempt === 1) superblock.write(longState(2, 60_000));
    else superblock.retry();
    await host.rest();
    deepStrictEqual([durable, full, failures], [1, attempt, []]);
    strictEqual(superblock.pendingWrite, null);
    deepStrictEqual(Superblock.open(disk, "data", ignored)?.read().view, 1);
  }
  disk.faults = NO_FAULTS;
  superblock.retry();
  await host.rest();
  deepStrictEqual([durable, full, failures], [2, 3, []]);
  await superblock.close();
  deepStrictEqual(Superblock.open(disk, "data", ignored)?.read(), longState(2, 60_000));
});

Deno.test("Superblock of an earlier release gets its space when it is opened", async () => {
  const host = new SimulatedHost(6);
  const { disk } = host;
  disk.createDirectory("data");
  await Superblock.create(disk, "data", identity, ignored).close();
  for (const name of ["SUPERBLOCK-A", "SUPERBLOCK-B"]) {
    const file = disk.openFile(`data/${name}`, { create: false, write: true });
    file.truncate(80);
    file.close();
  }
  const superblock = Superblock.open(disk, "data", ignored);
  disk.faults = { ...NO_FAULTS, capacityBytes: disk.usedBytes };
  superblock?.write(longState(3, 8192));
  await host.rest();
  deepStrictEqual(superblock?.read(), longState(3, 8192));
  await superblock.close();
});
