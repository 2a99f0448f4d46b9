/** Frames come out whole and in order, however the stream is cut. */
import { deepStrictEqual as equal, ok, strictEqual, throws } from "node:assert/strict";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { FrameReader } from "./frame_reader.ts";

Deno.test("FrameReader.feed() puts frames together from pieces of any size", () => {
  const random = new SeededRandom(3);
  for (let round = 0; round < 200; round++) {
    const frames = Array.from({ length: random.below(8) }, () => {
      const frame = new Uint8Array(random.chance(0.2) ? random.below(3000) : random.below(20));
      random.fill(frame);
      return frame;
    });
    const writer = new ByteWriter();
    for (const frame of frames) {
      writer.writeU32(frame.length);
      writer.writeBytes(frame);
    }
    const stream = writer.finish();
    const reader = new FrameReader(5000);
    const found: Uint8Array[] = [];
    for (let at = 0; at < stream.length;) {
      const size = random.between(1, random.chance(0.5) ? 5 : 2000);
      reader.feed(stream.subarray(at, at + size), (frame) => found.push(frame.slice()) > 0);
      at += size;
    }
    equal(found, frames);
    strictEqual(reader.pendingBytes, 0);
  }
});

Deno.test("FrameReader.feed() refuses a frame that is too long at once, without waiting for it", () => {
  const reader = new FrameReader(10);
  throws(() => reader.feed(new Uint8Array([11, 0, 0, 0]), () => true), (error) => {
    ok(error instanceof DatabaseError);
    return error.code === "54000";
  });
});
