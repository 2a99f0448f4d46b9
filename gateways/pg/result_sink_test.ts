/**
 * Tests of {@link PgResultSink}: bytes of rows in text and binary format, for every way in which a column is written.
 */
import { deepStrictEqual as same, strictEqual as equal, throws } from "node:assert/strict";
import { writeRow } from "../../engine/statements/row_buffer.ts";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import { Decimal } from "../../engine/types/decimal.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import { MessageWriter } from "./message_writer.ts";
import type { ResultFormats } from "./parameters.ts";
import { PgResultSink } from "./result_sink.ts";
import { messagesOf, rowOf, typesOf } from "./testing/wire.ts";

function columnsOf(types: readonly SqlType[]): ResultColumn[] {
  return types.map((type, column) => ({ name: `c${column}`, column, type, tableId: 0, columnId: 0 }));
}

function sink(): { readonly output: MessageWriter; readonly sink: PgResultSink } {
  const output = new MessageWriter();
  return {
    output,
    sink: new PgResultSink(output, {
      textOptions: DEFAULT_TEXT_OPTIONS,
      isBacklogged: false,
      drained: () => Promise.resolve(),
      copyIn: () => Promise.resolve(),
    }),
  };
}

const VALUES: readonly (readonly [SqlType, SqlValue, string, readonly number[]])[] = [
  [{ kind: "bool" }, true, "t", [1]],
  [{ kind: "i16" }, -2, "-2", [255, 254]],
  [{ kind: "u8" }, 200, "200", [0, 200]],
  [{ kind: "i32" }, 65_536, "65536", [0, 1, 0, 0]],
  [{ kind: "u16" }, 65_535, "65535", [0, 0, 255, 255]],
  [{ kind: "i64" }, -1, "-1", [255, 255, 255, 255, 255, 255, 255, 255]],
  [{ kind: "i64" }, 2n ** 62n, "4611686018427387904", [64, 0, 0, 0, 0, 0, 0, 0]],
  [{ kind: "u32" }, 4_294_967_295, "4294967295", [0, 0, 0, 0, 255, 255, 255, 255]],
  [{ kind: "u64" }, 2n ** 64n - 1n, "18446744073709551615", [
    ...[0, 5, 0, 4, 0, 0, 0, 0],
    ...[0, 1844, 6744, 737, 955, 1615].slice(1).flatMap((digit) => [digit >> 8, digit & 255]),
  ]],
  [{ kind: "f32" }, 1.5, "1.5", [63, 192, 0, 0]],
  [{ kind: "f64" }, -0.5, "-0.5", [191, 224, 0, 0, 0, 0, 0, 0]],
  [{ kind: "text" }, "né", "né", [110, 195, 169]],
  [{ kind: "varchar", length: 5 }, "a", "a", [97]],
  [{ kind: "char", length: 3 }, "a", "a  ", [97, 32, 32]],
  [{ kind: "bytea" }, Uint8Array.of(0, 255), "\\x00ff", [0, 255]],
  [{ kind: "timestamptz" }, 1_000_000, "2000-01-01 00:00:01+00", [0, 0, 0, 0, 0, 15, 66, 64]],
  [{ kind: "date" }, 1, "2000-01-02", [0, 0, 0, 1]],
  [{ kind: "uuid" }, "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff", [
    ...[0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
  ]],
  [{ kind: "jsonb" }, "[1]", "[1]", [1, 91, 49, 93]],
  [{ kind: "json" }, "[1]", "[1]", [91, 49, 93]],
  [{ kind: "numeric", precision: 10, scale: 2 }, 1250, "12.50", [
    ...[0, 2, 0, 0, 0, 0, 0, 2, 0, 12, 19, 136],
  ]],
  [{ kind: "numeric" }, Decimal.fromString("0.1"), "0.1", [0, 1, 255, 255, 0, 0, 0, 1, 3, 232]],
  [{ kind: "oid" }, 4_294_967_295, "4294967295", [255, 255, 255, 255]],
];

function row(
  formats: ResultFormats,
): { readonly cells: (readonly number[])[]; readonly text: (string | null)[] } {
  const { output, sink: results } = sink();
  const columns = columnsOf([...VALUES.map(([type]) => type), { kind: "text" }]);
  results.expectExtended(formats, columns);
  results.begin(columns, false);
  writeRow(results, columns, [...VALUES.map(([, value]) => value), null]);
  results.finish();
  output.release(0, 0);
  const messages = messagesOf(output.take(0) ?? new Uint8Array(0));
  equal(typesOf(messages), "D");
  const [message] = messages;
  if (message === undefined) throw new Error("no row");
  const view = new DataView(message.body.buffer, message.body.byteOffset);
  const cells: number[][] = [];
  for (let at = 2; at < message.body.length;) {
    const length = Math.max(0, view.getInt32(at));
    cells.push([...message.body.subarray(at + 4, at + 4 + length)]);
    at += 4 + length;
  }
  return { cells, text: rowOf(message) };
}

Deno.test("PgResultSink writes every type as text", () => {
  same(row("text").text, [...VALUES.map(([, , text]) => text), null]);
});

Deno.test("PgResultSink writes every type in binary", () => {
  const { cells } = row("binary");
  for (const [index, [type, , , bytes]] of VALUES.entries()) same(cells[index], bytes, type.kind);
});

Deno.test("PgResultSink mixes formats by column", () => {
  const formats = Uint8Array.from([...VALUES, null], (_, index) => index % 2);
  const { cells } = row(formats);
  for (const [index, [type, , text, bytes]] of VALUES.entries()) {
    same(cells[index], index % 2 === 1 ? bytes : [...new TextEncoder().encode(text)], type.kind);
  }
});

Deno.test("PgResultSink writes UTF-8 bytes as they are", () => {
  const { output, sink: results } = sink();
  const columns = columnsOf([{ kind: "text" }, { kind: "jsonb" }]);
  results.expectExtended("binary", null);
  results.begin(columns, false);
  const bytes = new TextEncoder().encode("xxné[2]");
  results.beginRow();
  results.writeUtf8(bytes, 2, 5);
  results.writeUtf8(bytes, 5, 8);
  results.endRow();
  output.release(0, 0);
  const [message] = messagesOf(output.take(0) ?? new Uint8Array(0));
  same(message === undefined ? [] : rowOf(message), ["né", "\x01[2]"]);
});

Deno.test("PgResultSink pads CHAR(n) by characters, as a text and as UTF-8, in both formats", () => {
  for (const formats of ["text", "binary"] as const) {
    for (const text of ["", "a", "né", "😀", "abcdef", "x".repeat(60)]) {
      const { output, sink: results } = sink();
      const columns = columnsOf([{ kind: "char", length: 4 }, { kind: "char", length: 70 }, {
        kind: "text",
      }]);
      results.expectExtended(formats, columns);
      results.begin(columns, false);
      const bytes = new TextEncoder().encode(`-${text}-`);
      for (const isUtf8 of [false, true]) {
        results.beginRow();
        for (const column of [0, 1]) {
          if (isUtf8) results.writeUtf8(bytes, 1, bytes.length - 1);
          else results.writeValue(column, text);
        }
        results.writeText(text);
        results.endRow();
      }
      output.release(0, 0);
      const messages = messagesOf(output.take(0) ?? new Uint8Array(0));
      const missing = (length: number) => " ".repeat(Math.max(0, length - [...text].length));
      const expected = [text + missing(4), text + missing(70), text];
      same(messages.map(rowOf), [expected, expected]);
    }
  }
});

Deno.test("PgResultSink.begin() refuses columns that were not announced", () => {
  const { sink: results } = sink();
  results.expectExtended("text", columnsOf([{ kind: "i32" }]));
  throws(
    () => results.begin(columnsOf([{ kind: "text" }]), false),
    /cached plan must not change result type/,
  );
  results.begin(columnsOf([{ kind: "i32" }]), false);
});

Deno.test("PgResultSink.abandon() takes back half a row, and all rows that were not final", () => {
  const check = (retractable: boolean, expected: string): void => {
    const { output, sink: results } = sink();
    results.expectSimple();
    const columns = columnsOf([{ kind: "i32" }]);
    results.begin(columns, retractable);
    writeRow(results, columns, [1]);
    results.beginRow();
    results.writeInteger(2);
    results.abandon();
    output.release(0, 0);
    equal(typesOf(messagesOf(output.take(0) ?? new Uint8Array(0))), expected);
  };
  check(false, "TD");
  check(true, "");
});

Deno.test("PgResultSink.retract() takes back rows that nobody has, and raises 40001 for others", () => {
  for (const isReleased of [false, true]) {
    const { output, sink: results } = sink();
    results.expectSimple();
    const columns = columnsOf([{ kind: "i32" }]);
    results.begin(columns, false);
    writeRow(results, columns, [1]);
    if (isReleased) output.release(0, 0);
    if (isReleased) throws(() => results.retract(), { code: "40001" });
    else results.retract();
    output.release(0, 0);
    equal(typesOf(messagesOf(output.take(0) ?? new Uint8Array(0))), isReleased ? "TD" : "T");
  }
});
