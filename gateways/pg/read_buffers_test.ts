/** Which buffers reads get, and which are kept. */
import { notStrictEqual, strictEqual as equal, throws } from "node:assert/strict";
import { PG_LIMITS } from "./limits.ts";
import { ReadBuffers } from "./read_buffers.ts";

Deno.test("ReadBuffers.next() gives a large buffer only to who fills a small one", () => {
  const buffers = new ReadBuffers();
  const first = buffers.first();
  equal(first.length, PG_LIMITS.firstReadBytes);
  equal(buffers.next(first, first.length - 1), first);
  const large = buffers.next(first, first.length);
  equal(large.length, PG_LIMITS.readBytes);
  equal(buffers.next(large, large.length), large);
});

Deno.test("ReadBuffers.giveBack() keeps large buffers, so many", () => {
  const buffers = new ReadBuffers();
  const full = (): Uint8Array => buffers.next(buffers.first(), PG_LIMITS.firstReadBytes);
  const [one, two] = [full(), full()];
  notStrictEqual(one, two);
  buffers.giveBack(one);
  throws(() => buffers.giveBack(one), /given back once/);
  buffers.giveBack(buffers.first());
  equal(full(), one);
  const many = Array.from({ length: PG_LIMITS.keptReadBuffers + 1 }, full);
  for (const each of many) buffers.giveBack(each);
  const again = new Set(many.map(full));
  equal(many.filter((each) => again.has(each)).length, PG_LIMITS.keptReadBuffers);
});
