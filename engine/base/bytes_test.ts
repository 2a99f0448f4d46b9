/** The byte writer and reader. */
import assert from "node:assert/strict";
import { ByteReader, ByteWriter, compareBytes, decodeUtf8Strict, utf8ByteLength } from "./bytes.ts";
import { DatabaseError } from "./errors.ts";

Deno.test("ByteReader reads what ByteWriter wrote", () => {
  const writer = new ByteWriter(1);
  writer.writeU8(255);
  writer.writeU16(65535);
  writer.writeU32(4294967295);
  writer.writeI32(-2);
  writer.writeU64(2n ** 64n - 1n);
  writer.writeI64(-(2n ** 63n));
  writer.writeF32(1.5);
  writer.writeF64(Math.PI);
  writer.writeI16BigEndian(-2);
  writer.writeI32BigEndian(-3);
  writer.writeU32BigEndian(0xfffffffe);
  writer.writeI64BigEndian(-4);
  writer.writeI64BigEndian(2n ** 62n);
  writer.writeF64BigEndian(-0);
  writer.writeText("häß");
  writer.writeText("x".repeat(1000));
  writer.writeText("é".repeat(48));
  writer.writeSizedBytes(new Uint8Array([1, 2]));
  const reader = new ByteReader(writer.finish());
  assert.equal(reader.readU8(), 255);
  assert.equal(reader.readU16(), 65535);
  assert.equal(reader.readU32(), 4294967295);
  assert.equal(reader.readI32(), -2);
  assert.equal(reader.readU64(), 2n ** 64n - 1n);
  assert.equal(reader.readI64(), -(2n ** 63n));
  assert.equal(reader.readF32(), 1.5);
  assert.equal(reader.readF64(), Math.PI);
  assert.equal(reader.readI16BigEndian(), -2);
  assert.equal(reader.readI32BigEndian(), -3);
  assert.equal(reader.readU32BigEndian(), 0xfffffffe);
  assert.equal(reader.readI64BigEndian(), -4n);
  assert.equal(reader.readI64BigEndian(), 2n ** 62n);
  assert.ok(Object.is(reader.readF64BigEndian(), -0));
  assert.equal(reader.readText(), "häß");
  assert.equal(reader.readText(), "x".repeat(1000));
  assert.equal(reader.readText(), "é".repeat(48));
  assert.deepEqual(reader.readSizedBytes(), new Uint8Array([1, 2]));
  reader.expectEnd();
});

Deno.test("ByteWriter.writeVarint() and writeSignedVarint() keep every integer", () => {
  const limits = [0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 45, Number.MAX_SAFE_INTEGER];
  const writer = new ByteWriter();
  for (const value of limits) writer.writeVarint(value);
  const signed = [
    ...limits,
    ...limits.map((value) => 0 - value),
    2n ** 63n - 1n,
    -(2n ** 63n),
    10n ** 40n,
    -(2n ** 53n),
  ];
  for (const value of signed) writer.writeSignedVarint(value);
  const reader = new ByteReader(writer.view());
  for (const value of limits) assert.equal(reader.readVarint(), value);
  for (const value of signed) assert.equal(reader.readSignedVarint(), value);
  assert.ok(reader.atEnd);
});

Deno.test("ByteWriter.writeBigVarint() writes seven bits a byte, of any length, and readBigVarint() reads them", () => {
  for (let bits = 0n; bits < 500n; bits++) {
    for (const value of [(1n << bits) - 1n, 1n << bits, (1n << bits) + 12_345n]) {
      const expected = [];
      for (let rest = value; expected.length === 0 || rest > 0n; rest >>= 7n) {
        expected.push(Number(rest & 0x7fn) + 0x80);
      }
      expected.push((expected.pop() ?? 0) - 0x80);
      const writer = new ByteWriter();
      writer.writeBigVarint(value);
      const bytes = writer.finish();
      assert.deepEqual([...bytes], expected);
      assert.equal(new ByteReader(bytes).readBigVarint(), value);
      assert.equal(new ByteReader(bytes).readBigVarint(bytes.length), value);
      if (bytes.length > 1) {
        assert.throws(() => new ByteReader(bytes).readBigVarint(bytes.length - 1), DatabaseError);
      }
    }
  }
  // Groups of zeros at the end are no error.
  assert.equal(
    new ByteReader(new Uint8Array([...Array<number>(21).fill(0x80), 0x81, 0])).readBigVarint(),
    1n << 147n,
  );
});

Deno.test("ByteWriter.writeSignedVarint() writes a bigint and its number alike", () => {
  for (const value of [0, -1, 2 ** 51, 2 ** 52, -(2 ** 52) - 1, Number.MAX_SAFE_INTEGER]) {
    const [left, right] = [new ByteWriter(), new ByteWriter()];
    left.writeSignedVarint(value);
    right.writeSignedVarint(BigInt(value));
    assert.deepEqual(left.finish(), right.finish());
  }
});

Deno.test("ByteReader refuses to read beyond its end", () => {
  const damaged = (bytes: number[], read: (reader: ByteReader) => unknown): void => {
    assert.throws(
      () => read(new ByteReader(new Uint8Array(bytes))),
      (error) => error instanceof DatabaseError && error.code === "XX001",
    );
  };
  damaged([], (reader) => reader.readU8());
  damaged([1, 2, 3], (reader) => reader.readU32());
  damaged([5, 65], (reader) => reader.readText());
  damaged([0x80], (reader) => reader.readVarint());
  damaged(Array<number>(12).fill(0xff), (reader) => reader.readVarint());
  damaged([1, 2], (reader) => reader.readBytes(-1));
  damaged([1], (reader) => reader.expectEnd());
});

Deno.test("utf8ByteLength() and decodeUtf8Strict() know UTF-8", () => {
  for (const text of ["", "abc", "é", "漢字", "a😀b", "\ud800"]) {
    assert.equal(utf8ByteLength(text), new TextEncoder().encode(text).length);
  }
  assert.equal(decodeUtf8Strict(new Uint8Array([0xff])), undefined);
  assert.equal(decodeUtf8Strict(new Uint8Array([0xc3, 0xa9])), "é");
});

Deno.test("compareBytes() orders unsigned bytes, prefixes first", () => {
  const bytes = (...values: number[]) => new Uint8Array(values);
  assert.equal(compareBytes(bytes(1), bytes(255)), -1);
  assert.equal(compareBytes(bytes(1, 0), bytes(1)), 1);
  assert.equal(compareBytes(bytes(1, 2), bytes(1, 2)), 0);
});
