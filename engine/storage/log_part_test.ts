/** Entries in parts: what is whole, what is torn, and what was given up. */
import { deepStrictEqual as equal, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import { memoryHost } from "../host/memory_host.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { Log } from "./log.ts";
import { logFileName, SINGLE_FORMAT } from "./log_file.ts";
import { LogFileReader } from "./log_file_reader.ts";
import type { LogOptions } from "./log_options.ts";

const OPTIONS: LogOptions = {
  fileBytes: 4096,
  reserveBytes: 1024,
  bufferBytes: 2048,
  directWriteBytes: 600,
  parts: { leastBytes: 1500, partBytes: 400 },
};

function payloadOf(op: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  new SeededRandom(op * 10_000 + size).fill(bytes);
  return bytes;
}

function write(log: Log, op: number, size: number, estimated = size) {
  const entry = log.appendInPieces(op, estimated), payload = payloadOf(op, size);
  for (let from = 0; from < size; from += 250) entry.write(payload.subarray(from, from + 250));
  return entry;
}

function sizes(log: Log): number[] {
  const found: number[] = [];
  for (const { op, payload, stored } of log.entries(0)) {
    strictEqual(crc32c(payload), crc32c(payloadOf(op, payload.length)), `payload of op ${op}`);
    if (stored !== null) {
      // From places that are in the middle of a part, beyond its end, and behind the last.
      for (const at of [0, 399, 400, 401, 790]) equal(stored.read(at, 900), payload.slice(at, at + 900));
      strictEqual(stored.checksum, crc32c(payload));
    }
    found.push(payload.length);
  }
  return found;
}

function opened(host: SimulatedHost): Log {
  return Log.open(host, "log", { op: 0 }, OPTIONS);
}

Deno.test("an entry in parts is read as it was written, and is counted as any other", async () => {
  const host = memoryHost(), log = Log.open(host, "log", { op: 0 }, OPTIONS);
  const given = [1600, 100, 2000, 1499, 2001, 6000, 50, 1500];
  for (const [index, size] of given.entries()) {
    const op = index + 1;
    if (size < 1000) log.append(op, payloadOf(op, size));
    else {
      const gone = write(log, op, 1700);
      gone.abandon();
      const entry = write(log, op, size);
      strictEqual(entry.checksum, crc32c(payloadOf(op, size)));
      strictEqual(entry.bytes, size);
      strictEqual(log.lastOp, op - 1);
      entry.finish();
    }
    await log.whenDurable(op);
  }
  equal(sizes(log), given);
  log.verify();
  await log.close();
  const again = Log.open(host, "log", { op: 0 }, OPTIONS);
  equal(sizes(again), given);
  strictEqual(again.appendedBytes, log.appendedBytes);
  equal([...again.entries(4)].map(({ op }) => op), [5, 6, 7, 8]);
  await again.close();
  // The records before the checkpoint are skipped by their heads.
  for (let op = 1; op <= 8; op++) {
    const rest = Log.open(host, "log", { op }, OPTIONS);
    equal([...rest.entries(op)].map((each) => each.op), [2, 3, 4, 5, 6, 7, 8].filter((each) => each > op));
    await rest.close();
  }
});

Deno.test("only files with parts are of the version that older programs refuse, and no member takes them", async () => {
  const host = new SimulatedHost(1), log = opened(host);
  write(log, 1, 1000).finish();
  write(log, 2, 1600).finish();
  await host.settle(log.close());
  const versions = [1, 2].map((op) => host.disk.contentOf(`log/${logFileName(op)}`)[8]);
  equal(versions, [1, 4]);
  throws(
    () => Log.open(host, "log", { op: 0, digest: 0n }, { ...OPTIONS, member: { keepBytes: 0 } }),
    (error) =>
      error instanceof DatabaseError && error.code === "55000" &&
      /a server that is alone/.test(error.message),
  );
});

Deno.test("an entry whose last part is missing is torn, at whatever byte it ends", async () => {
  const host = new SimulatedHost(2), log = opened(host);
  log.append(1, payloadOf(1, 20));
  await host.settle(log.whenDurable(1));
  write(log, 2, 2100).finish();
  await host.settle(log.whenDurable(2));
  const path = `log/${logFileName(2)}`, whole = host.disk.contentOf(path);
  const end = 40 + 2100 + 6 * 36;
  for (let cut = 40; cut <= end; cut += cut % 436 < 80 ? 13 : 97) {
    const other = new SimulatedHost(3);
    other.disk.createDirectory("log");
    for (const name of host.disk.list("log")) {
      const file = other.disk.openFile(`log/${name}`, { create: true, write: true });
      const bytes = host.disk.contentOf(`log/${name}`);
      file.writeAt(0, `log/${name}` === path ? bytes.subarray(0, Math.min(cut, end)) : bytes);
      file.close();
    }
    const again = opened(other);
    equal(sizes(again), cut < end ? [20] : [20, 2100], `cut at ${cut} of ${whole.length}`);
    write(again, again.lastOp + 1, 1700).finish();
    await other.settle(again.close());
    equal(sizes(opened(other)).slice(0, 2), cut < end ? [20, 1700] : [20, 2100]);
  }
});

Deno.test("every flipped bit of an entry in parts is found once something vouches for it", async () => {
  const host = new SimulatedHost(4), log = opened(host);
  write(log, 1, 1700).finish();
  await host.settle(log.close());
  const path = `log/${logFileName(1)}`, end = 40 + 1700 + 5 * 36;
  for (let position = 0; position < end; position += position % 436 < 90 ? 3 : 67) {
    // That of byte 43 says whether the first record is a part.
    const bit = position % 436 === 42 ? 7 : position % 8, at = bit === 7 ? position + 1 : position;
    host.disk.flipBit(path, at, bit);
    throws(
      () => opened(host).verify(),
      (error) => error instanceof DatabaseError && /^(XX001|0A000)$/.test(error.code),
      `bit at ${at}`,
    );
    host.disk.flipBit(path, at, bit);
  }
  equal(sizes(opened(host)), [1700]);
});

Deno.test("parts of an entry that was given up do not stand in for others", () => {
  const host = memoryHost(), path = `log/${logFileName(1)}`;
  const log = Log.open(host, "log", { op: 0 }, OPTIONS);
  const file = host.disk.openFile(path, { create: false, write: true });
  const given = log.appendInPieces(1, 2000);
  given.write(payloadOf(7, 1100));
  const first = new Uint8Array(436);
  file.readAt(40, first);
  given.abandon();
  write(log, 1, 1700).finish();
  const found = () => new LogFileReader(file, 1, SINGLE_FORMAT).recordAt(40)?.payloadBytes;
  strictEqual(found(), 1700);
  const own = new Uint8Array(436);
  file.readAt(40, own);
  file.writeAt(40, first);
  strictEqual(found(), undefined);
  file.writeAt(40, own);
  strictEqual(found(), 1700);
  const reader = new LogFileReader(file, 1, SINGLE_FORMAT);
  strictEqual(reader.recordAt(476), undefined, "a part is no entry");
  // The search for what vouches looks at each part once, whether the others are there or not.
  equal([...reader.recordsBehind(40, 1)].map((found) => found?.position), [40, 476, 912, 1348, 1784]);
});

Deno.test("the file of a long entry goes with the checkpoint of that entry, unless another one is on its way", async () => {
  const host = new SimulatedHost(5), log = opened(host);
  write(log, 1, 5000).finish();
  await host.settle(log.whenDurable(1));
  const coming = write(log, 2, 5000);
  log.truncateBefore(2);
  equal(host.disk.list("log"), [logFileName(2)]);
  coming.finish();
  await host.settle(log.whenDurable(2));
  log.truncateBefore(3);
  equal(host.disk.list("log"), [logFileName(3)]);
  await host.settle(log.close());
  const again = Log.open(host, "log", { op: 2 }, OPTIONS);
  strictEqual(again.lastOp, 2);
  // The empty file takes the next one, under a header of the version with parts.
  write(again, 3, 1600).finish();
  const last = write(again, 4, 5000);
  again.truncateBefore(4);
  last.finish();
  await host.settle(again.close());
  equal([...Log.open(host, "log", { op: 3 }, OPTIONS).entries(3)].map(({ op }) => op), [4]);
  equal(host.disk.contentOf(`log/${logFileName(4)}`)[8], 4);
});
