/**
 * Encodes results as DataRow messages straight into the connection's output. How each column is written (text, or which
 * binary form) is chosen once, when the result begins.
 *
 * In a simple query the sink announces each result with a RowDescription; in the extended protocol the client has
 * asked for that itself.
 */
import { ByteWriter } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { CopyFormat, CopyTarget, ResultSink } from "../../engine/statements/outcome.ts";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import { writeBinary } from "../../engine/types/binary_io.ts";
import { formatScaled } from "../../engine/types/number_or_bigint.ts";
import { uuidToBytes } from "../../engine/types/scalar_text.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { formatText, type TextOptions } from "../../engine/types/text_io.ts";
import { typeOid } from "../../engine/types/type_names.ts";
import type { NumberOrBigint, SqlValue } from "../../engine/types/value.ts";
import type { MessageWriter } from "./message_writer.ts";
import { formatCode, type ResultFormats } from "./parameters.ts";
import { BACKEND } from "./protocol.ts";
import { rowsSent } from "../shared/rows_sent.ts";

/** How a column is written. */
const TEXT = 0,
  I16 = 1,
  I32 = 2,
  I64 = 3,
  BYTES = 4,
  UUID = 5,
  JSONB = 6,
  BOOL = 7,
  F32 = 8,
  F64 = 9,
  OTHER = 10,
  CHARACTERS = 11;

/** Type and length of a CopyData message. */
const COPY_DATA_HEAD_BYTES = 5;

const scratch = new ByteWriter(1024);
const asciiDecoder = new TextDecoder();

/** What the sink needs of its connection. */
export interface SinkOwner {
  readonly textOptions: TextOptions;
  /** true: too much output is waiting to be sent. */
  readonly isBacklogged: boolean;
  drained(): Promise<void>;
  copyIn(format: CopyFormat, target: CopyTarget): Promise<void>;
}

/** Encodes results as DataRow messages straight into the connection's output. */
export class PgResultSink implements ResultSink {
  readonly #output: MessageWriter;
  readonly #owner: SinkOwner;
  #announces = true;
  #formats: ResultFormats = "text";
  /** Columns that were announced to the client; null: none to compare with. */
  #promised: readonly ResultColumn[] | null = null;
  #columns: readonly ResultColumn[] = [];
  #codes: Uint8Array = new Uint8Array(0);
  #codesFormats: ResultFormats = "text";
  #isAllText = true;
  #column = 0;
  #textOptions: TextOptions | null = null;
  /** Absolute positions: of the statement's output, and of its rows while they may be taken back. */
  #resultAt = -1;
  #rowsAt = -1;
  #isRetractable = false;
  #copiesOut = false;

  constructor(output: MessageWriter, owner: SinkOwner) {
    this.#output = output;
    this.#owner = owner;
  }

  /** Results of a simple query follow. */
  expectSimple(): void {
    this.#announces = true;
    this.#formats = "text";
    this.#promised = null;
    this.#reset();
  }

  /** A result of the extended protocol follows. */
  expectExtended(formats: ResultFormats, promised: readonly ResultColumn[] | null): void {
    this.#announces = false;
    this.#formats = formats;
    this.#promised = promised;
    this.#reset();
  }

  /** The statement has ended well. */
  finish(): void {
    if (this.#copiesOut) this.#output.writeEmptyMessage(BACKEND.copyDone);
    this.#reset();
  }

  /** The statement has failed: half a row, and rows that were not final, are taken back. */
  abandon(): void {
    this.#output.abandonMessage();
    if (this.#isRetractable && this.#resultAt >= 0) this.#output.truncate(this.#resultAt);
    this.#reset();
  }

  begin(columns: readonly ResultColumn[], retractable: boolean): void {
    const promised = this.#promised;
    if (promised !== null && columns !== promised) requireSameColumns(columns, promised);
    this.#isRetractable = retractable;
    this.#resultAt = this.#output.position;
    if (this.#announces) this.#output.writeRowDescription(columns, "text");
    this.#rowsAt = this.#output.position;
    this.#textOptions = null;
    if (columns !== this.#columns || this.#formats !== this.#codesFormats) {
      this.#columns = columns;
      this.#codesFormats = this.#formats;
      this.#isAllText = this.#formats === "text";
      this.#codes = codesOf(columns, this.#formats);
    }
  }

  retract(): void {
    if (this.#rowsAt < 0) return;
    this.#output.abandonMessage();
    if (this.#output.isReleased(this.#rowsAt)) throw rowsSent();
    this.#output.truncate(this.#rowsAt);
  }

  get hasSent(): boolean {
    return this.#rowsAt >= 0 && this.#output.isReleased(this.#rowsAt);
  }

  get full(): boolean {
    return this.#owner.isBacklogged && !this.#isRetractable;
  }

  drained(): Promise<void> {
    return this.#owner.drained();
  }

  beginRow(): void {
    this.#output.beginMessage(BACKEND.dataRow);
    this.#output.writeI16(this.#columns.length);
    this.#column = 0;
  }

  writeNull(): void {
    this.#column++;
    this.#output.writeI32(-1);
  }

  writeInteger(value: number | bigint): void {
    const output = this.#output;
    const column = this.#column++;
    if (this.#isAllText) {
      output.writeSizedIntegerText(value);
      return;
    }
    switch (this.#codes[column]) {
      case TEXT:
        output.writeSizedIntegerText(value);
        return;
      case I16:
        output.writeI32(2);
        output.writeI16(Number(value));
        return;
      case I32:
        output.writeI32(4);
        output.writeI32(Number(value));
        return;
      case I64:
        output.writeI32(8);
        output.writeI64(value);
        return;
      default:
        this.#writeOther(column, value);
    }
  }

  writeText(value: string): void {
    const column = this.#column++;
    if (this.#isAllText) {
      this.#output.writeSizedText(value);
      return;
    }
    switch (this.#codes[column]) {
      case UUID:
        this.#output.writeI32(16);
        this.#output.writeBytes(uuidToBytes(value));
        return;
      case JSONB:
        this.#writeJsonb(() => this.#output.writeText(value));
        return;
      default:
        this.#output.writeSizedText(value);
    }
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    const column = this.#column++;
    const code = this.#codes[column];
    if (code === CHARACTERS) {
      this.#output.writeSizedCharactersUtf8(bytes, start, end, this.#charactersOf(column));
      return;
    }
    if (!this.#isAllText) {
      if (code === UUID) {
        this.#output.writeI32(16);
        this.#output.writeBytes(uuidToBytes(asciiDecoder.decode(bytes.subarray(start, end))));
        return;
      }
      if (code === JSONB) {
        this.#writeJsonb(() => this.#output.writeBytes(bytes, start, end));
        return;
      }
    }
    this.#output.writeI32(end - start);
    this.#output.writeBytes(bytes, start, end);
  }

  writeValue(column: number, value: SqlValue): void {
    this.#column++;
    const output = this.#output;
    switch (this.#codes[column]) {
      case TEXT:
        this.#writeValueText(column, value);
        return;
      case CHARACTERS:
        output.writeSizedCharacters(value as string, this.#charactersOf(column));
        return;
      case BOOL:
        output.writeI32(1);
        output.writeU8(value === true ? 1 : 0);
        return;
      case F32:
        output.writeI32(4);
        output.writeF32(value as number);
        return;
      case F64:
        output.writeI32(8);
        output.writeF64(value as number);
        return;
      case BYTES:
        output.writeI32((value as Uint8Array).length);
        output.writeBytes(value as Uint8Array);
        return;
      default:
        this.#writeOther(column, value);
    }
  }

  endRow(): void {
    this.#output.endMessage();
  }

  copyOutBegin(format: CopyFormat): void {
    this.#copiesOut = true;
    this.#output.writeCopyResponse(BACKEND.copyOutResponse, format.binary, format.columnCount);
  }

  /** One message for each row: there are clients that take a message for a row. */
  copyOutData(bytes: Uint8Array, ends: readonly number[]): void {
    const output = this.#output;
    // All of it at once: a buffer that grows row by row is copied again and again.
    output.reserve(bytes.length + ends.length * COPY_DATA_HEAD_BYTES);
    let start = 0;
    for (const end of ends) {
      output.writeU8(BACKEND.copyData);
      output.writeI32(end - start + 4);
      output.writeBytes(bytes, start, end);
      start = end;
    }
  }

  copyIn(format: CopyFormat, target: CopyTarget): Promise<void> {
    return this.#owner.copyIn(format, target);
  }

  #reset(): void {
    this.#resultAt = -1;
    this.#rowsAt = -1;
    this.#isRetractable = false;
    this.#copiesOut = false;
  }

  #writeValueText(column: number, value: SqlValue): void {
    const { type } = this.#columns[column] as ResultColumn;
    const output = this.#output;
    if (type.kind === "bool") {
      output.writeI32(1);
      output.writeU8(value === true ? 0x74 : 0x66);
    } else if (type.kind === "numeric" && type.scale !== undefined) {
      output.writeSizedText(formatScaled(value as NumberOrBigint, type.scale));
    } else {
      output.writeSizedText(formatText(type, value, this.#textOptions ??= this.#owner.textOptions));
    }
  }

  /** The length of CHAR(n). */
  #charactersOf(column: number): number {
    const { type } = this.#columns[column] as ResultColumn;
    return type.kind === "char" ? type.length : 0;
  }

  #writeOther(column: number, value: SqlValue): void {
    scratch.reset();
    writeBinary((this.#columns[column] as ResultColumn).type, value, scratch);
    const bytes = scratch.view();
    this.#output.writeI32(bytes.length);
    this.#output.writeBytes(bytes);
  }

  /** The version byte is before the text. */
  #writeJsonb(write: () => void): void {
    const output = this.#output;
    const at = output.position;
    output.writeI32(0);
    output.writeU8(1);
    write();
    output.patchI32(at, output.position - at - 4);
  }
}

function codesOf(columns: readonly ResultColumn[], formats: ResultFormats): Uint8Array {
  return Uint8Array.from(
    columns,
    // Texts of CHAR(n) are the same in both formats.
    ({ type }, index) =>
      type.kind === "char" ? CHARACTERS : formatCode(formats, index) === 0 ? TEXT : binaryCode(type),
  );
}

function binaryCode(type: SqlType): number {
  switch (type.kind) {
    case "i8":
    case "u8":
    case "i16":
      return I16;
    case "u16":
    case "i32":
    case "oid":
      return I32;
    case "u32":
    case "i64":
      return I64;
    case "text":
    case "varchar":
    case "name":
    case "json":
      return TEXT;
    case "uuid":
      return UUID;
    case "jsonb":
      return JSONB;
    case "bool":
      return BOOL;
    case "f32":
      return F32;
    case "f64":
      return F64;
    case "bytea":
    case "bytes":
      return BYTES;
    default:
      return OTHER;
  }
}

/** The client decodes rows by what was announced; a plan that was made anew must fit that. */
function requireSameColumns(columns: readonly ResultColumn[], promised: readonly ResultColumn[]): void {
  const same = columns.length === promised.length &&
    columns.every((column, index) =>
      typeOid(column.type) === typeOid((promised[index] as ResultColumn).type)
    );
  if (!same) {
    throw new DatabaseError(SQLSTATE.featureNotSupported, "cached plan must not change result type");
  }
}
