// Bytes from one thread to another, and the bell that wakes it.
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { ByteRing } from "./byte_ring.ts";
import { Doorbell } from "./doorbell.ts";

Deno.test("ByteRing carries bytes in order, whatever the sizes of writes and reads are", () => {
  const memory = ByteRing.memory(64);
  const writer = new ByteRing(memory), reader = new ByteRing(memory);
  const random = new SeededRandom(3);
  let written = 0, read = 0;
  for (let round = 0; round < 5_000; round++) {
    const bytes = Uint8Array.from({ length: random.below(100) }, (_, index) => written + index);
    written += writer.write(bytes);
    const target = new Uint8Array(random.below(100));
    const count = reader.read(target);
    for (let index = 0; index < count; index++) strictEqual(target[index], (read + index) & 0xff);
    read += count;
    strictEqual(reader.available, written - read);
    strictEqual(writer.room, 64 - (written - read));
  }
});

Deno.test("ByteRing counts on beyond 2 to the 32", () => {
  const memory = ByteRing.memory(64);
  new Int32Array(memory, 0, 2).fill(-8);
  const ring = new ByteRing(memory);
  strictEqual(ring.write(new Uint8Array(70).fill(5)), 64);
  strictEqual(ring.room, 0);
  const target = new Uint8Array(70);
  strictEqual(ring.read(target), 64);
  deepStrictEqual([ring.available, ring.room], [0, 64]);
});

Deno.test("ByteRing.takeWish() tells once that the writer waits for room", () => {
  const ring = new ByteRing(ByteRing.memory(64));
  strictEqual(ring.takeWish(), false);
  ring.wantRoom();
  deepStrictEqual([ring.takeWish(), ring.takeWish()], [true, false]);
});

Deno.test("ByteRing.memory() refuses a size that is no power of two", () => {
  throws(() => ByteRing.memory(100), RangeError);
});

Deno.test("Doorbell calls whom it attends for each ring, and for work that was there before", async () => {
  const bell = new Doorbell(), other = new Doorbell(bell.memory);
  let left = 3, calls = 0;
  let called = Promise.withResolvers<void>();
  const attended = {
    work: () => {
      calls++;
      left = Math.max(0, left - 1);
      called.resolve();
    },
    hasWork: () => left > 0,
  };
  // What keeps the event loop alive is not the bell.
  const alive = setInterval(() => {}, 1_000);
  bell.attend(attended);
  while (left > 0) {
    called = Promise.withResolvers();
    await called.promise;
  }
  strictEqual(calls, 3);
  called = Promise.withResolvers();
  other.ring();
  other.ring();
  await called.promise;
  strictEqual(calls, 4);
  bell.leave(attended);
  clearInterval(alive);
});
