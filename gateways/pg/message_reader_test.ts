/** Tests of {@link MessageReader}: framing in any pieces, limits, fields. */
import { deepStrictEqual as same, strictEqual as equal, throws } from "node:assert/strict";
import { MAX_ASCII_TEXT_LENGTH } from "../../engine/base/ascii_text.ts";
import type { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { decodeText, MessageReader } from "./message_reader.ts";

const encoder = new TextEncoder();

function message(type: string, body: string): Uint8Array {
  const text = encoder.encode(body);
  const bytes = new Uint8Array(5 + text.length);
  bytes[0] = type.charCodeAt(0);
  new DataView(bytes.buffer).setInt32(1, 4 + text.length);
  bytes.set(text, 5);
  return bytes;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function typed(): MessageReader {
  const reader = new MessageReader();
  reader.hasTypes = true;
  reader.maximumBytes = 100_000;
  return reader;
}

Deno.test("MessageReader.next() finds the same messages however the stream is cut", () => {
  const bodies = ["", "a", "hello", "x".repeat(500), "y".repeat(3000), "", "z".repeat(20_000)];
  const stream = concat(bodies.map((body, index) => message("QSPBE"[index % 5] as string, body)));
  const random = new SeededRandom(11);
  for (let round = 0; round < 200; round++) {
    const reader = typed();
    const found: string[] = [];
    const size = round === 0 ? 1 : random.between(1, 4000);
    const shared = new Uint8Array(size);
    for (let at = 0; at < stream.length; at += size) {
      const piece = stream.subarray(at, at + size);
      shared.fill(0xff);
      shared.set(piece);
      reader.feed(shared.subarray(0, piece.length));
      // Now and then nothing is processed, as while a statement runs.
      if (at + size >= stream.length || random.between(0, 3) > 0) {
        while (reader.next()) {
          found.push(new TextDecoder().decode(reader.bytes.subarray(reader.start, reader.end)));
        }
      }
      reader.retain();
    }
    same(found, bodies);
    equal(reader.bufferedBytes, 0);
  }
});

Deno.test("MessageReader.next() refuses unknown types and impossible lengths at once", () => {
  const unknown = typed();
  unknown.feed(encoder.encode("~"));
  throws(() => unknown.next(), /invalid frontend message type 126/);
  for (const length of [3, -1, 100_001]) {
    const reader = typed();
    const header = message("Q", "");
    new DataView(header.buffer).setInt32(1, length);
    reader.feed(header);
    throws(() => reader.next(), /invalid message length/);
  }
  const startup = new MessageReader();
  startup.feed(Uint8Array.of(0, 0, 0x27, 0x11));
  throws(() => startup.next(), /invalid length of startup packet/);
});

Deno.test("MessageReader fields end with the message", () => {
  const reader = typed();
  reader.feed(concat([message("Q", "ab\0"), message("Q", "no end"), message("Q", "x")]));
  equal(reader.next(), true);
  equal(reader.readText(), "ab");
  reader.expectEnd();
  equal(reader.next(), true);
  throws(() => reader.readText(), /invalid string in message/);
  equal(reader.next(), true);
  throws(() => reader.readI32(), /insufficient data left in message/);
  throws(() => reader.readI16(), /insufficient data left in message/);
  throws(() => reader.readBytes(2), /insufficient data left in message/);
  throws(() => reader.expectEnd(), /invalid message format/);
});

Deno.test("MessageReader.readText() refuses ill-formed UTF-8", () => {
  const reader = typed();
  const bytes = message("Q", "abc\0");
  bytes[6] = 0xff;
  reader.feed(bytes);
  reader.next();
  throws(() => reader.readText(), /invalid byte sequence for encoding "UTF8"/);
});

Deno.test("MessageReader.isSyncNext() looks behind Close and Flush only", () => {
  const check = (following: readonly Uint8Array[], expected: boolean): void => {
    const reader = typed();
    reader.feed(concat([message("E", "\0\0\0\0\0"), ...following]));
    reader.next();
    equal(reader.isSyncNext(), expected);
  };
  check([message("S", "")], true);
  check([message("C", "P\0"), message("H", ""), message("S", "")], true);
  check([message("B", ""), message("S", "")], false);
  check([], false);
  check([message("H", "")], false);
});

Deno.test("MessageReader.next() refuses a startup packet that is too short for its code", () => {
  const reader = new MessageReader();
  reader.feed(Uint8Array.of(0, 0, 0, 7));
  throws(() => reader.next(), /invalid length of startup packet/);
});

Deno.test("decodeText() reads what is UTF-8 as it is, and raises 22021 for the rest", () => {
  const long = "x".repeat(MAX_ASCII_TEXT_LENGTH);
  for (
    const text of ["", "a", long, `${long}y`, "é", "\ufeffa", `${long}\ufeff`, "\ufffd", `${long}\ufffd`, "𝄞"]
  ) {
    const bytes = encoder.encode(`<${text}>`);
    equal(decodeText(bytes, 1, bytes.length - 1), text);
  }
  const wrong = [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xef], [0xef, 0xbb], [
    0xef,
    0xbf,
    0xbd,
    0x80,
  ], [0]];
  for (const bytes of wrong) {
    for (const before of ["", "a", long]) {
      const all = new Uint8Array([...encoder.encode(before), ...bytes]);
      throws(
        () => decodeText(all, 0, all.length),
        (error: DatabaseError) => error.code === "22021",
        `${bytes}`,
      );
    }
  }
});
