// A stream of bytes between two ends of shared memory, as a connection.
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { ByteRing } from "./byte_ring.ts";
import { Doorbell } from "./doorbell.ts";
import { RingConnection } from "./ring_connection.ts";

function pair(capacity: number): [RingConnection, RingConnection] {
  const [there, back] = [ByteRing.memory(capacity), ByteRing.memory(capacity)];
  const near = new Doorbell(), far = new Doorbell();
  return [
    new RingConnection({ writes: there, reads: back, bell: near, otherBell: new Doorbell(far.memory) }),
    new RingConnection({ writes: back, reads: there, bell: far, otherBell: new Doorbell(near.memory) }),
  ];
}

/** What keeps the event loop alive is not the bell. */
async function alive(work: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 1_000);
  await work().finally(() => clearInterval(timer));
}

async function readAll(connection: RingConnection, bytes: number, maximum: number): Promise<Uint8Array> {
  const whole = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) {
    const count = await connection.read(whole.subarray(at, Math.min(bytes, at + maximum)));
    if (count === null) throw new Error(`the stream ends at ${at}`);
    at += count;
  }
  return whole;
}

Deno.test("RingConnection carries both directions at once, whatever is larger than what", () =>
  alive(async () => {
    const random = new SeededRandom(7);
    for (const [capacity, maximum] of [[64, 1000], [64, 7], [1024, 64], [1 << 16, 5000]] as const) {
      const [near, far] = pair(capacity);
      const texts = [0, 1].map(() => Uint8Array.from({ length: 20_000 }, () => random.below(256)));
      const write = async (connection: RingConnection, bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length;) {
          const end = Math.min(bytes.length, at + 1 + random.below(3 * capacity));
          await connection.write(bytes.subarray(at, end));
          at = end;
        }
      };
      const [there, back] = texts as [Uint8Array, Uint8Array];
      const [, , came, answered] = await Promise.all([
        write(near, there),
        write(far, back),
        readAll(far, there.length, maximum),
        readAll(near, back.length, maximum),
      ]);
      deepStrictEqual([came, answered], [there, back]);
      near.close();
      far.close();
    }
  }));

Deno.test("a write waits while the other end does not read, and its bytes may change afterwards", () =>
  alive(async () => {
    const [near, far] = pair(64);
    const bytes = new Uint8Array(100).fill(1);
    let isWritten = false;
    const written = near.write(bytes).then(() => isWritten = true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    strictEqual(isWritten, false);
    strictEqual((await readAll(far, 50, 50)).every((byte) => byte === 1), true);
    await written;
    bytes.fill(2);
    strictEqual((await readAll(far, 50, 50)).every((byte) => byte === 1), true);
    near.close();
    far.close();
  }));

Deno.test("who sends without pause leaves turns to others", () =>
  alive(async () => {
    const [near, far] = pair(1024);
    let isOver = false, turns = 0;
    const sending = (async () => {
      while (!isOver) await near.write(new Uint8Array(500));
    })();
    const reading = (async () => {
      const target = new Uint8Array(600);
      for (let read = 0; read < 400_000;) read += await far.read(target) ?? 0;
      isOver = true;
    })();
    const others = (async () => {
      for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
    })();
    await Promise.all([reading, others]);
    strictEqual(turns > 5, true);
    near.close();
    far.close();
    await sending;
  }));

Deno.test("close() ends a read that waits, and a write", () =>
  alive(async () => {
    const [near, far] = pair(64);
    const read = near.read(new Uint8Array(10)), written = near.write(new Uint8Array(1000));
    near.close();
    strictEqual(await read, null);
    await written;
    strictEqual(await near.read(new Uint8Array(10)), null);
    far.close();
  }));
