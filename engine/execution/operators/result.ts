/**
 * The end of a query's code: rows go to the result writer, or to a callback as arrays of values.
 */
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { BytesSink } from "../../storage/access/readable_table.ts";
import type { Emitter, StoredLocation } from "../codegen/emitter.ts";
import type { Sink } from "../codegen/region.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { takesUtf8, writeCode } from "../runtime/result_writer.ts";

/** A column of the result. */
export interface OutputColumn {
  readonly column: ColumnRef;
  readonly type: SqlType;
}

/** Writes each row to the result writer. */
export function resultSink(columns: readonly OutputColumn[]): Sink {
  const key = {};
  return {
    open: (code) => {
      code.writesResult = true;
      const rows = code.name("rows");
      code.emit(`const writer = S.writer;`);
      code.emit(`let ${rows} = 0;`);
      code.noteNumber(rows);
      code.note(key, rows);
    },
    row: (code) => {
      code.writesResult = true;
      // All values are there before the row begins, so that an error does not leave half a row.
      const writes = columns.map(({ column, type }, index) => columnCode(code, column, type, index));
      code.emit("writer.beginRow();");
      code.emitLines(writes);
      code.emit("writer.endRow();");
      code.emit(`${code.recall<string>(key)}++;`);
    },
    close: (code) => code.emit(`S.rowCount += ${code.recall<string>(key)};`),
  };
}

function columnCode(code: Emitter, column: ColumnRef, type: SqlType, index: number): string {
  if (takesUtf8(type.kind) && !code.isLoaded(column)) {
    const { utf8, stored } = code.binding(column);
    if (utf8 !== undefined) {
      const place = utf8(code);
      const write = `writer.writeUtf8(${place.bytes}, ${place.start}, ${place.end});`;
      return place.isNull === null ? write : `if (${place.isNull}) writer.writeNull(); else ${write}`;
    }
    if (stored !== undefined) {
      return storedTextCode(code, stored, writeCode("writer", type.kind, index, "$"));
    }
  }
  const value = code.column(column);
  if (value.isNull === "true") return "writer.writeNull();";
  const write = writeCode("writer", type.kind, index, value.code);
  return value.isNull === null ? write : `if (${value.isNull}) writer.writeNull(); else ${write}`;
}

/** Writes a text of a stored row, in UTF-8 if it is there so; `write` does it otherwise, with `$` for the text. */
function storedTextCode(code: Emitter, stored: StoredLocation, write: string): string {
  const { table, location, columnId } = stored;
  const place = code.hoisted(stored, () => ({
    code: code.define("place", `${code.use("noPlace", noPlace)}()`),
    isNull: null,
  })).code;
  const found = code.define("found", `${table}.textBytesAt(${location}, ${columnId}, ${place})`);
  const value = code.define("c", `${found} ? null : ${table}.valueAt(${location}, ${columnId})`);
  return `if (${found}) writer.writeUtf8(${place}.bytes, ${place}.start, ${place}.end); ` +
    `else if (${value} === null) writer.writeNull(); else ${write.replace("$", value)}`;
}

const NO_BYTES = new Uint8Array(0);

/** The place of bytes that have not been looked for. */
function noPlace(): BytesSink {
  return { bytes: NO_BYTES, start: 0, end: 0 };
}

/** Gives each row to the state's callback. */
export function callbackSink(columns: readonly OutputColumn[]): Sink {
  return {
    open: (code) => {
      code.emit("const callback = S.callback;");
    },
    row: (code) => {
      code.writesResult = true;
      const values = columns.map(({ column }) => nullableCode(code.column(column)));
      code.emit("S.rowCount++;");
      code.emit(`callback([${values.join(", ")}]);`);
    },
    close: () => {},
  };
}
