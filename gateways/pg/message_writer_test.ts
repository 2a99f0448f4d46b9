/** Tests of {@link MessageWriter}: what is kept of a message is the message. */
import { deepStrictEqual as same } from "node:assert/strict";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import { MessageWriter } from "./message_writer.ts";
import type { ResultFormats } from "./parameters.ts";
import { fields, message } from "./testing/wire.ts";

const COLUMNS: readonly ResultColumn[] = [
  { name: "id", column: 0, type: { kind: "i32" }, tableId: 70_000, columnId: 1 },
  {
    name: "größe",
    column: 0,
    type: { kind: "numeric", precision: 10, scale: 2 },
    tableId: 70_000,
    columnId: 2,
  },
  {
    name: "?column?",
    column: 0,
    type: { kind: "numeric", precision: 10, scale: 2 },
    tableId: 0,
    columnId: 0,
  },
];

function expected(codes: readonly number[]): Uint8Array {
  const [first = 0, second = 0, third = 0] = codes;
  const typmod = (10 << 16 | 2) + 4;
  return message(
    "T",
    fields([2, 3]),
    fields("id", [4, 70_000], [2, 1], [4, 23], [2, 4], [4, -1], [2, first]),
    fields("größe", [4, 70_000], [2, 2], [4, 1700], [2, -1], [4, typmod], [2, second]),
    fields("?column?", [4, 0], [2, 0], [4, 1700], [2, -1], [4, -1], [2, third]),
  );
}

Deno.test("MessageWriter describes columns in the formats that are asked for, first and later, anywhere in its bytes", () => {
  const asked: readonly (readonly [ResultFormats, readonly number[]])[] = [
    [Uint8Array.of(0, 1, 0), [0, 1, 0]],
    ["text", [0, 0, 0]],
    ["binary", [1, 1, 1]],
    [Uint8Array.of(1, 0, 1), [1, 0, 1]],
    ["text", [0, 0, 0]],
  ];
  const writer = new MessageWriter();
  for (const [formats, codes] of asked) {
    // What is sent between two descriptions moves the second one within the buffer.
    writer.writeReadyForQuery("idle");
    const at = writer.position;
    writer.writeRowDescription(COLUMNS, formats);
    same(writer.copyFrom(at), expected(codes));
    writer.release(0, 0);
    if (formats === "text") writer.take(0);
  }
});
