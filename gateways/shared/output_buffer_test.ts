/** Tests of {@link OutputBuffer}: encodings, release and durability gates. */
import { deepStrictEqual as same, strictEqual as equal, throws } from "node:assert/strict";
import { OutputBuffer } from "./output_buffer.ts";

const decoder = new TextDecoder();

function written(write: (buffer: OutputBuffer) => void): Uint8Array {
  const buffer = new OutputBuffer();
  write(buffer);
  buffer.release(0, 0);
  return buffer.take(0) ?? new Uint8Array(0);
}

Deno.test("OutputBuffer.writeIntegerText() writes every length of number as String() does", () => {
  const values: (number | bigint)[] = [
    0,
    7,
    -1,
    2 ** 31,
    -(2 ** 31),
    2 ** 53 - 1,
    -(2 ** 53 - 1),
    2n ** 63n - 1n,
    -(2n ** 63n),
  ];
  for (let digits = 1; digits <= 15; digits++) {
    values.push(10 ** digits, 10 ** digits - 1, -(10 ** digits), 10 ** digits + 5);
  }
  for (const value of values) {
    equal(decoder.decode(written((buffer) => buffer.writeIntegerText(value))), String(value));
  }
});

Deno.test("OutputBuffer.writeText() writes UTF-8 of short and long texts", () => {
  for (const text of ["", "abc", "é", "日本語", "a".repeat(47) + "😀", "x".repeat(30_000) + "ß", "\ud800"]) {
    same(written((buffer) => buffer.writeText(text)), new TextEncoder().encode(text));
  }
});

Deno.test("OutputBuffer writes big-endian integers and floats", () => {
  const bytes = written((buffer) => {
    buffer.writeI16(-2);
    buffer.writeI32(0x01020304);
    buffer.writeI32(0xfffffffe);
    buffer.writeI64(-5);
    buffer.writeI64(2 ** 40 + 3);
    buffer.writeI64(-(2n ** 63n));
    buffer.writeF32(1.5);
    buffer.writeF64(-2.25);
  });
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  equal(view.getInt16(0), -2);
  equal(view.getInt32(2), 0x01020304);
  equal(view.getUint32(6), 0xfffffffe);
  equal(view.getBigInt64(10), -5n);
  equal(view.getBigInt64(18), 2n ** 40n + 3n);
  equal(view.getBigInt64(26), -(2n ** 63n));
  equal(view.getFloat32(34), 1.5);
  equal(view.getFloat64(38), -2.25);
});

Deno.test("OutputBuffer.take() sends what is released, up to the first op that is not durable", () => {
  const buffer = new OutputBuffer();
  buffer.writeText("a");
  equal(buffer.take(0), null);
  buffer.release(0, 0);
  buffer.writeText("b");
  buffer.release(5, 0);
  buffer.writeText("c");
  buffer.release(3, 0);
  buffer.writeText("d");
  buffer.release(7, 0);
  buffer.writeText("e");
  const taken = (durable: number): string => {
    const bytes = buffer.take(durable);
    if (bytes === null) return "";
    const text = decoder.decode(bytes);
    buffer.recycle(bytes);
    return text;
  };
  equal(taken(0), "a");
  equal(taken(4), "");
  equal(buffer.isGated(4), true);
  equal(taken(5), "bc");
  equal(taken(7), "d");
  equal(buffer.isGated(7), false);
  equal(taken(9), "");
  equal(buffer.position, 5);
  buffer.release(0, 9);
  equal(taken(9), "e");
});

Deno.test("OutputBuffer.truncate() takes back what is not released, at absolute positions", () => {
  const buffer = new OutputBuffer();
  buffer.writeText("sent");
  buffer.release(0, 0);
  const at = buffer.position;
  buffer.writeText("rows");
  equal(decoder.decode(buffer.take(0) ?? new Uint8Array(0)), "sent");
  buffer.truncate(at);
  buffer.writeText("other");
  buffer.release(0, 0);
  throws(() => buffer.truncate(at), /released/);
  equal(decoder.decode(buffer.take(0) ?? new Uint8Array(0)), "other");
});
