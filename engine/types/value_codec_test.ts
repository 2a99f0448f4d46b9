/** The storage encoding of values. */
import assert from "node:assert/strict";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { compareValues } from "./compare.ts";
import type { SqlType } from "./sql_type.ts";
import { formatText, parseText } from "./text_io.ts";
import { parseTypeText } from "./type_names.ts";
import { decodeNullable, decodeValueBytes, encodeNullable, encodeValueBytes } from "./value_codec.ts";

const VALUES: readonly (readonly [string, readonly string[]])[] = [
  ["boolean", ["t", "f"]],
  ["i8", ["-128", "127"]],
  ["integer", ["0", "-1", "2147483647"]],
  ["bigint", ["9223372036854775807", "-9223372036854775808", "9007199254740992", "5"]],
  ["u64", ["18446744073709551615"]],
  ["real", ["1.5", "NaN"]],
  ["double precision", ["0.1", "-Infinity", "NaN", "-0"]],
  ["numeric", ["1.50", "-0.001", "NaN", "Infinity", "-Infinity", "123456789012345678901234567890.5"]],
  ["numeric(20,4)", ["1.5", "-1234567890123456.7891"]],
  ["text", ["", "é漢😀", "a".repeat(300)]],
  ["char(5)", ["ab"]],
  ["uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]],
  ["bytea", ["\\x00ff"]],
  ["date", ["2001-02-03", "infinity", "-infinity", "4713-11-24 BC"]],
  ["time", ["24:00:00"]],
  ["timestamp", ["2001-02-03 04:05:06.789", "infinity", "294276-12-31 23:59:59.999999"]],
  ["timestamptz", ["-infinity", "1850-01-01 00:00:00+00"]],
  ["interval", ["1 year -2 days 03:04:05.6"]],
  ["json", ['{"b": 1,"a":2}']],
  ["jsonb", ['{"b": 1,"a":2}']],
  ["integer[]", ["{}", "{1,NULL,3}", "[0:1][2:3]={{1,2},{3,4}}"]],
  ["text[]", ['{"a,b",NULL,""}']],
];

function typeOf(name: string): SqlType {
  const type = parseTypeText(name);
  assert.ok(type !== undefined, name);
  return type;
}

Deno.test("decodeValue() reads what encodeValue() wrote", () => {
  for (const [name, texts] of VALUES) {
    const type = typeOf(name);
    for (const text of texts) {
      const value = parseText(type, text);
      const bytes = encodeValueBytes(type, value);
      const back = decodeValueBytes(type, bytes);
      assert.ok(back !== null);
      assert.equal(compareValues(type, value, back), 0, `${name} ${text}`);
      assert.equal(formatText(type, back), formatText(type, value), `${name} ${text}`);
      assert.deepEqual(encodeValueBytes(type, back), bytes, "the same bytes again");
    }
  }
});

Deno.test("encodeNullable() keeps nulls apart from values", () => {
  const writer = new ByteWriter();
  const type = typeOf("text");
  for (const value of [null, "", "x", null]) encodeNullable(type, value, writer);
  const reader = new ByteReader(writer.finish());
  assert.deepEqual([0, 1, 2, 3].map(() => decodeNullable(type, reader)), [null, "", "x", null]);
  reader.expectEnd();
});

Deno.test("decodeValue() refuses damaged bytes", () => {
  for (const [name, texts] of VALUES) {
    const type = typeOf(name);
    if (type.kind === "bytea") continue;
    for (const text of texts) {
      const bytes = encodeValueBytes(type, parseText(type, text));
      const damaged = (input: Uint8Array): void =>
        assert.throws(
          () => decodeValueBytes(type, input),
          (error) => error instanceof DatabaseError && error.code === "XX001",
          `${name} ${text}`,
        );
      for (let end = 0; end < bytes.length; end++) damaged(bytes.slice(0, end));
      damaged(new Uint8Array([...bytes, 0]));
    }
  }
});

Deno.test("records encode their fields in order", () => {
  const type: SqlType = {
    kind: "record",
    fields: [{ name: "a", type: { kind: "i32" } }, { name: "b", type: { kind: "text" } }],
  };
  const record = { recordValues: [7, null] };
  assert.deepEqual(decodeValueBytes(type, encodeValueBytes(type, record)), record);
});
