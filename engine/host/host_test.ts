/** The same contract for the disks of all hosts, the lock, and the fault model of the simulated one. */
import { deepStrictEqual as equal, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { denoClockRandomTimers, denoHost } from "./deno_host.ts";
import { type Disk, type DiskFile, joinPath, readWholeFile, writeWholeFile } from "./disk.ts";
import { memoryHost } from "./memory_host.ts";
import { SimulatedHost } from "./simulated_host.ts";

function code(expected: string) {
  return (error: unknown) => error instanceof DatabaseError && error.code === expected;
}

async function checkDisk(
  disk: Disk,
  root: string,
  settle: (done: Promise<void>) => Promise<void>,
): Promise<void> {
  const directory = joinPath(root, "data");
  disk.createDirectory(directory);
  equal(disk.list(joinPath(root, "none")), []);
  const path = joinPath(directory, "a");
  throws(() => disk.openFile(path, { create: false, write: false }), code("58030"));
  const file = disk.openFile(path, { create: true, write: true });
  strictEqual(file.size, 0);
  file.writeAt(3, new Uint8Array([1, 2, 3]));
  strictEqual(file.size, 6);
  await settle(file.syncData());
  file.syncDataNow();
  const target = new Uint8Array(10);
  strictEqual(file.readAt(0, target), 6);
  equal([...target.subarray(0, 6)], [0, 0, 0, 1, 2, 3]);
  strictEqual(file.readAt(5, target), 1);
  strictEqual(file.readAt(6, target), 0);
  strictEqual(file.readAt(100, target), 0);
  file.truncate(4);
  file.truncate(8);
  equal([...readWholeFile(disk, path)], [0, 0, 0, 1, 0, 0, 0, 0]);
  file.close();
  file.close();
  writeWholeFile(disk, joinPath(directory, "b"), new Uint8Array([7]));
  writeWholeFile(disk, joinPath(directory, "b"), new Uint8Array([8, 9]));
  disk.link(joinPath(directory, "b"), joinPath(directory, "c"));
  throws(() => disk.link(joinPath(directory, "b"), joinPath(directory, "c")), code("58030"));
  equal(disk.list(directory), ["a", "b", "c"]);
  disk.rename(joinPath(directory, "a"), joinPath(directory, "b"));
  equal([...readWholeFile(disk, joinPath(directory, "c"))], [8, 9]);
  strictEqual(readWholeFile(disk, joinPath(directory, "b")).length, 8);
  disk.remove(joinPath(directory, "b"));
  disk.remove(joinPath(directory, "b"));
  disk.syncDirectory(directory);
  ok(!disk.exists(joinPath(directory, "b")) && disk.exists(joinPath(directory, "c")));
  // One of two names of a file takes the place of the other.
  disk.link(joinPath(directory, "c"), joinPath(directory, "d"));
  disk.rename(joinPath(directory, "d"), joinPath(directory, "c"));
  equal(disk.list(directory), ["c"]);
  equal([...readWholeFile(disk, joinPath(directory, "c"))], [8, 9]);
  const lock = disk.lock(directory);
  throws(() => disk.lock(directory), (error) => code("55006")(error) && String(error).includes(directory));
  lock.release();
  lock.release();
  disk.lock(directory).release();
}

Deno.test("Disk of memoryHost() keeps the contract", async () => {
  await checkDisk(memoryHost().disk, "root", (done) => done);
});

Deno.test("Disk of SimulatedHost keeps the contract", async () => {
  const host = new SimulatedHost(1);
  await checkDisk(host.disk, "root", (done) => host.settle(done));
});

Deno.test("Disk of denoHost() keeps the contract", async () => {
  const root = await Deno.makeTempDir();
  try {
    const { disk } = denoHost();
    await checkDisk(disk, root, (done) => done);
    ok((disk.freeBytes?.(root) ?? 0) > 0);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("Disk.remove() of denoHost() leaves a large file to another thread, once it is closed", async () => {
  const root = await Deno.makeTempDir();
  const named = () => [...Deno.readDirSync(root)].map(({ name }) => name).sort();
  const until = async (names: string[]) => {
    while (named().join() !== names.join()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  try {
    const { disk } = denoHost();
    const path = joinPath(root, "large");
    const make = (at: string): DiskFile => {
      const file = disk.openFile(at, { create: true, write: true });
      file.truncate(5 << 20);
      return file;
    };
    make(joinPath(root, "first")).close();
    const file = make(joinPath(root, "early"));
    const reader = disk.openFile(joinPath(root, "early"), { create: false, write: false });
    disk.rename(joinPath(root, "early"), path);
    disk.remove(path);
    // The next one is of the same name, and has gone before the first.
    make(path).close();
    disk.remove(path);
    ok(!disk.exists(path));
    equal(disk.list(root), ["first"]);
    strictEqual(named().length, 3, "nothing has been removed in this turn");
    await until(["first", "large.1.removed"]);
    file.writeAt(0, new Uint8Array([7]));
    file.close();
    disk.remove(joinPath(root, "first"));
    await until(["large.1.removed"]);
    strictEqual(reader.readAt(0, new Uint8Array(1)), 1);
    reader.close();
    await until([]);
    // What a crash has left.
    Deno.writeTextFileSync(joinPath(root, "spill.3.removed"), "");
    equal(denoHost().disk.list(root), []);
    await until([]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("Disk.lock() of denoHost() ends with its process", async () => {
  const root = await Deno.makeTempDir();
  try {
    const script = `import { denoClockRandomTimers, denoHost } from ${
      JSON.stringify(new URL("./deno_host.ts", import.meta.url).href)
    };
      denoHost().disk.lock(${JSON.stringify(root)}); console.log("locked"); setInterval(() => {}, 1000);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", script],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = child.stdout.getReader();
    strictEqual(new TextDecoder().decode((await reader.read()).value).trim(), "locked");
    throws(() => denoHost().disk.lock(root), code("55006"));
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    denoHost().disk.lock(root).release();
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("Clock.now() of denoHost() counts microseconds since 2000", () => {
  const { clock, random } = denoHost();
  const expected = (Date.now() - Date.UTC(2000, 0, 1)) * 1000;
  ok(Math.abs(clock.now() - expected) < 1_000_000);
  ok(clock.monotonic() <= clock.monotonic());
  const bytes = new Uint8Array(100_000);
  random.fill(bytes);
  ok(bytes.subarray(70_000).some((byte) => byte !== 0));
});

Deno.test("SimulatedDisk loses, tears and reorders unsynced writes by sector, and nothing that was synced", () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const host = new SimulatedHost(seed);
    const file = host.disk.openFile("d/f", { create: true, write: true });
    host.disk.syncDirectory("d");
    file.writeAt(0, new Uint8Array(2048).fill(1));
    file.syncDataNow();
    file.writeAt(0, new Uint8Array(1024).fill(2));
    file.writeAt(512, new Uint8Array(512).fill(3));
    host.crash();
    const bytes = readWholeFile(host.disk, "d/f");
    strictEqual(bytes.length, 2048);
    for (let sector = 0; sector < 4; sector++) {
      const content = bytes.subarray(sector * 512, sector * 512 + 512);
      ok(content.every((byte) => byte === content[0]), "sectors are atomic");
    }
    outcomes.add([0, 512, 1024, 1536].map((at) => bytes[at]).join(""));
  }
  equal([...outcomes].sort(), ["1111", "1211", "1311", "2111", "2211", "2311"]);
});

Deno.test("SimulatedDisk forgets names until their directory is synced", () => {
  let survived = 0;
  for (let seed = 0; seed < 50; seed++) {
    const host = new SimulatedHost(seed);
    writeWholeFile(host.disk, "d/whole", new Uint8Array([1]));
    const file = host.disk.openFile("d/new", { create: true, write: true });
    file.writeAt(0, new Uint8Array([2]));
    file.syncDataNow();
    host.crash();
    throws(() => file.readAt(0, new Uint8Array(1)), /power failed/);
    equal([...readWholeFile(host.disk, "d/whole")], [1]);
    if (host.disk.exists("d/new")) {
      survived++;
      equal([...readWholeFile(host.disk, "d/new")], [2]);
    }
  }
  ok(survived > 5 && survived < 45);
});

Deno.test("SimulatedDisk loses what a failed sync covered, even if a later sync succeeds", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const host = new SimulatedHost(seed);
    const file = host.disk.openFile("d/f", { create: true, write: true });
    host.disk.syncDirectory("d");
    file.writeAt(0, new Uint8Array(512).fill(1));
    file.syncDataNow();
    host.disk.failNext("sync", "d/f");
    file.writeAt(0, new Uint8Array(512).fill(2));
    await rejects(host.settle(file.syncData()), code("58030"));
    file.syncDataNow();
    strictEqual(host.disk.contentOf("d/f")[0], 2);
    host.crash();
    strictEqual(readWholeFile(host.disk, "d/f")[0], 1);
  }
});

Deno.test("SimulatedDisk refuses writes beyond its capacity and reads on demand", () => {
  const host = new SimulatedHost(1, { capacityBytes: 1000 });
  const file = host.disk.openFile("f", { create: true, write: true });
  file.writeAt(0, new Uint8Array(900));
  throws(() => file.writeAt(900, new Uint8Array(200)), code("53100"));
  host.disk.failNext("read", "f");
  throws(() => file.readAt(0, new Uint8Array(1)), code("58030"));
  strictEqual(file.readAt(0, new Uint8Array(1)), 1);
});

Deno.test("Disk reports a sync that fails for lack of space as a failed sync, not as a full disk", async () => {
  const host = new SimulatedHost(1);
  const file = host.disk.openFile("d/f", { create: true, write: true });
  file.writeAt(0, Uint8Array.of(1));
  host.disk.failNext("sync", "d/f", "ENOSPC");
  throws(() => file.syncDataNow(), code("58030"));
  host.disk.failNext("sync", "d/f", "ENOSPC");
  await rejects(host.settle(file.syncData()), code("58030"));
  host.disk.failNext("sync", "d", "ENOSPC");
  throws(() => host.disk.syncDirectory("d"), code("58030"));
});

Deno.test("SimulatedDisk fails the operation it is told to, and a failed write is done in part", () => {
  const written = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    const host = new SimulatedHost(seed, { failAtOperation: 2, failureCode: "ENOSPC", failAtRead: 2 });
    const file = host.disk.openFile("f", { create: true, write: true });
    throws(() => file.writeAt(0, Uint8Array.of(1, 1, 1, 1)), code("53100"));
    written.add(file.size);
    file.writeAt(0, Uint8Array.of(2, 2, 2, 2));
    const target = new Uint8Array(4);
    strictEqual(file.readAt(0, target), 4);
    throws(() => file.readAt(0, target), code("58030"));
    strictEqual(file.readAt(0, target), 4);
    host.disk.faults = { ...host.disk.faults, failAtOperation: host.disk.operations + 1, failureCode: "EIO" };
    throws(() => host.disk.rename("f", "g"), code("58030"));
    ok(host.disk.exists("f") && !host.disk.exists("g"));
  }
  equal([...written].sort(), [0, 1, 2, 3, 4]);
});

Deno.test("SimulatedDisk.restore() holds the files of an image and forgets the others", () => {
  const host = new SimulatedHost(1);
  const file = host.disk.openFile("d/f", { create: true, write: true });
  file.writeAt(0, Uint8Array.of(1, 2, 3));
  const image = host.disk.image();
  file.writeAt(0, Uint8Array.of(9, 9, 9, 9));
  host.disk.openFile("d/g", { create: true, write: true });
  host.disk.restore(image);
  throws(() => file.readAt(0, new Uint8Array(1)), { name: "SimulatedCrash" });
  equal(host.disk.list("d"), ["f"]);
  host.crash();
  equal([...readWholeFile(host.disk, "d/f")], [1, 2, 3]);
});

Deno.test("SimulatedHost runs timers in order of their time and gives equal traces for equal runs", async () => {
  const run = async () => {
    const host = new SimulatedHost(5);
    const seen: string[] = [];
    host.timers.setTimer(300, () => seen.push("late"));
    const dropped = host.timers.setTimer(200, () => seen.push("never"));
    host.timers.setTimer(100, () => seen.push("early"));
    host.timers.clearTimer(dropped);
    writeWholeFile(host.disk, "d/f", new Uint8Array([1]));
    await host.rest();
    return { seen, trace: host.traceDigest, now: host.clock.monotonic() };
  };
  const first = await run();
  equal(first.seen, ["early", "late"]);
  equal(await run(), first);
});

Deno.test("SimulatedHost.run() fails when its time does not go on", async () => {
  const host = new SimulatedHost(1);
  const again = () => void host.timers.setTimer(0, again);
  again();
  await rejects(host.run(1, () => {}), /^Error: the simulation does not end$/);
});

Deno.test("Timers.repeat() calls back again and again, and not after it was told to stop", async () => {
  const simulated = new SimulatedHost(5);
  const seen: number[] = [];
  const stopOwn = simulated.timers.repeat(300, () => {
    seen.push(simulated.clock.monotonic());
    if (seen.length === 3) stopOwn();
  });
  const stop = simulated.timers.repeat(200, () => seen.push(-1));
  stop();
  await simulated.rest();
  equal(seen, [300, 600, 900]);

  const { timers } = denoClockRandomTimers();
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopReal = timers.repeat(1000, () => {
    if (++calls < 3) return;
    stopReal();
    // Behind where the next one would have been.
    timers.setTimer(5000, resolve);
  });
  await promise;
  equal(calls, 3);
});

Deno.test("SimulatedHost.kill() leaves what was written until the power fails", () => {
  for (let seed = 0; seed < 30; seed++) {
    const host = new SimulatedHost(seed);
    const file = host.disk.openFile("d/f", { create: true, write: true });
    host.disk.syncDirectory("d");
    file.writeAt(0, Uint8Array.of(1));
    host.kill();
    throws(() => file.writeAt(0, Uint8Array.of(2)), { name: "SimulatedCrash" });
    equal([...readWholeFile(host.disk, "d/f")], [1]);
    const again = host.disk.openFile("d/f", { create: false, write: true });
    if (seed % 2 === 0) again.syncDataNow();
    host.crash();
    const kept = readWholeFile(host.disk, "d/f").length;
    ok(kept === 1 || seed % 2 === 1, `seed ${seed}`);
  }
});

Deno.test("Timers.yieldToLoop() lets sockets be read between the slices of work that never ends", async () => {
  const { timers } = denoClockRandomTimers();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  const server = await listener.accept();
  let slices = 0, isOver = false;
  const work = async (): Promise<void> => {
    for (; !isOver; slices++) await timers.yieldToLoop();
  };
  const working = work();
  const byte = new Uint8Array(1);
  const messages = 20;
  for (let message = 0; message < messages; message++) {
    const arrival = server.read(byte);
    await client.write(byte);
    await arrival;
  }
  isOver = true;
  await working;
  await timers.close();
  client.close();
  server.close();
  // A scheduler that looks at sockets at every 61st turn only would have let ten times as many pass.
  ok(slices < messages * 20, `${slices} slices for ${messages} messages`);
});

Deno.test("Timers.yieldToLoop() serves many at a time, and again after close()", async () => {
  const { timers } = denoClockRandomTimers();
  const order: number[] = [];
  const each = async (name: number): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) {
      await timers.yieldToLoop();
      order.push(name);
    }
  };
  await Promise.all([each(1), each(2), each(3)]);
  equal(order.join(""), "123123123");
  await timers.close();
  await timers.yieldToLoop();
});

Deno.test("SimulatedDisk: a sync that ends after a later one takes nothing for its own that came later", async () => {
  const host = new SimulatedHost(3);
  const { disk } = host;
  const file = disk.openFile("file", { create: true, write: true });
  disk.syncDirectory("");
  for (let written = 0; written < 700; written += 100) file.writeAt(written, new Uint8Array(100).fill(1));
  const early = file.syncData();
  file.syncDataNow();
  file.writeAt(700, new Uint8Array(700).fill(2));
  await host.settle(early);
  // What the early sync did not cover is still pending, and this one makes it durable, its size too.
  file.syncDataNow();
  disk.crash();
  strictEqual(disk.contentOf("file").length, 1400);
});
