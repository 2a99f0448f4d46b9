/** The order of bytes and ends in a queue, and the read that waits. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { ByteQueue } from "./byte_queue.ts";

function queue() {
  const counts: number[] = [];
  return { counts, bytes: new ByteQueue((count) => counts.push(count)) };
}

async function read(bytes: ByteQueue, length: number): Promise<number[] | null> {
  const target = new Uint8Array(length);
  const count = await bytes.read(target);
  return count === null ? null : [...target.subarray(0, count)];
}

Deno.test("ByteQueue.read() takes what has come, a chunk or a part of one at a time", async () => {
  const { bytes, counts } = queue();
  bytes.push(new Uint8Array([1, 2, 3]));
  bytes.push(new Uint8Array(0));
  bytes.push(new Uint8Array([4]));
  strictEqual(bytes.byteCount, 4);
  deepStrictEqual(await read(bytes, 2), [1, 2]);
  deepStrictEqual(await read(bytes, 9), [3]);
  deepStrictEqual(await read(bytes, 9), [4]);
  deepStrictEqual(counts, [2, 1, 1]);
  strictEqual(bytes.byteCount, 0);
});

Deno.test("ByteQueue.push() serves the read that waits, and keeps what it does not take", async () => {
  const { bytes, counts } = queue();
  const waiting = read(bytes, 2);
  await rejects(async () => await bytes.read(new Uint8Array(1)), /one read at a time/);
  bytes.push(new Uint8Array([1, 2, 3]));
  strictEqual(bytes.byteCount, 1);
  deepStrictEqual(await waiting, [1, 2]);
  deepStrictEqual(counts, [2]);
  deepStrictEqual(bytes.takeAll(), [new Uint8Array([3])]);
  strictEqual(bytes.byteCount, 0);
});

Deno.test("ByteQueue.push() copies what is not its own, and was not read at once", async () => {
  const { bytes } = queue();
  const waiting = read(bytes, 2);
  const lent = new Uint8Array([1, 2, 3]);
  for (let time = 0; time < 2; time++) {
    bytes.push(lent, false);
    lent.fill(9);
    lent.set([4, 5], 1);
  }
  deepStrictEqual(await waiting, [1, 2]);
  deepStrictEqual(bytes.takeAll(), [new Uint8Array([3]), new Uint8Array([9, 4, 5])]);
});

Deno.test("ByteQueue.end() comes after what came before it, and the first of two ends counts", async () => {
  const error = new Error("gone");
  for (const [ends, isError] of [[[null, error], false], [[error, null], true]] as const) {
    const { bytes } = queue();
    bytes.push(new Uint8Array([1]));
    for (const end of ends) bytes.end(end);
    strictEqual(bytes.hasEnded, true);
    bytes.push(new Uint8Array([2]));
    deepStrictEqual(await read(bytes, 2), [1]);
    for (let again = 0; again < 2; again++) {
      if (isError) await rejects(read(bytes, 2), error);
      else strictEqual(await read(bytes, 2), null);
    }
  }
});

Deno.test("ByteQueue.end() ends the read that waits", async () => {
  const error = new Error("gone");
  const [whole, broken] = [queue().bytes, queue().bytes];
  const [first, second] = [read(whole, 1), read(broken, 1)];
  whole.end();
  broken.end(error);
  strictEqual(await first, null);
  await rejects(second, error);
});
