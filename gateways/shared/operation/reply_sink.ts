/**
 * Encodes results straight into reply messages, each with its four-byte length in front, and hands them on in pieces of
 * about 64 KiB while the statement runs.
 *
 * Invariants: rows that may be taken back stay here until the statement has ended; no message is larger than
 * `LIMITS.maximumFrameBytes`. Types that only the server can print (`regclass` …) and anonymous records are sent as
 * text.
 */
import { assertDefined } from "../../../engine/base/assert.ts";
import { ByteWriter } from "../../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import { LIMITS } from "../../../engine/base/limits.ts";
import { writeValue } from "../../../engine/operations/value_codec.ts";
import type { CopyFormat, CopyTarget, ResultSink } from "../../../engine/statements/outcome.ts";
import type { ResultColumn } from "../../../engine/sql/plan/plan.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import { toStored } from "../../../engine/types/stored_value.ts";
import { formatText, type TextOptions } from "../../../engine/types/text_io.ts";
import type { SqlValue } from "../../../engine/types/value.ts";
import type { Reply } from "./operation.ts";
import { REPLY_CODES, writeReply } from "./reply_codec.ts";
import { rowsSent } from "../rows_sent.ts";

/** A message of rows is handed on when it has grown to this. */
const PIECE_BYTES = 64 * 1024;
const TAG_TEXT = 0x04;
const TAG_SHORT_TEXT = 0x80;
const SHORT_TEXT_BYTES = 0x80;

/** Where finished messages go, and who knows whether the receiver keeps up. */
export interface ReplyTarget {
  /** Takes messages, each with its length in front; the bytes are given away. */
  sendPart(messages: Uint8Array): void;
  readonly isFull: boolean;
  drained(): Promise<void>;
  copyIn(format: CopyFormat, target: CopyTarget): Promise<void>;
}

/**
 * Encodes results straight into reply messages, each with its four-byte length in front, and hands them on in pieces
 * of about 64 KiB while the statement runs. One sink serves one request.
 */
export class ReplySink implements ResultSink {
  readonly #number: bigint;
  readonly #target: ReplyTarget;
  readonly #textOptions: () => TextOptions;
  readonly #writer = new ByteWriter(1024);
  #types: readonly SqlType[] = [];
  /** Which columns are sent as text in spite of their type. */
  #printed: readonly boolean[] = [];
  #retractable = false;
  /** Something of the running result has been handed on. */
  #hasSent = false;
  /** Where the rows since `begin` start, and where the message of rows under construction does; -1: none. */
  #resultStart = 0;
  #messageStart = -1;
  #messageRows = 0;
  #rowStart = 0;

  constructor(options: {
    readonly number: bigint;
    readonly target: ReplyTarget;
    readonly textOptions: () => TextOptions;
  }) {
    this.#number = options.number;
    this.#target = options.target;
    this.#textOptions = options.textOptions;
  }

  get full(): boolean {
    return !this.#retractable && this.#target.isFull;
  }

  drained(): Promise<void> {
    return this.#target.drained();
  }

  begin(columns: readonly ResultColumn[], retractable: boolean): void {
    this.#endMessage();
    this.#types = columns.map((column) => column.type);
    this.#printed = columns.map((column) => isPrintedByServer(column.type));
    this.#retractable = retractable;
    this.#hasSent = false;
    this.write({
      kind: "columns",
      number: this.#number,
      columns: columns.map((column, index) => ({
        name: column.name,
        type: this.#printed[index] === true ? { kind: "text" } : column.type,
      })),
    });
    this.#resultStart = this.#writer.length;
  }

  get hasSent(): boolean {
    return this.#hasSent;
  }

  retract(): void {
    if (this.#hasSent) throw rowsSent();
    this.#messageStart = -1;
    this.#messageRows = 0;
    this.#writer.truncate(this.#resultStart);
  }

  /** Appends a message that is not rows. */
  write(reply: Reply): void {
    this.#endMessage();
    const start = this.#writer.length;
    this.#writer.writeU32(0);
    writeReply(this.#writer, reply);
    this.#writer.patchU32(start, this.#writer.length - start - 4);
  }

  /** Everything that was not handed on yet. The sink can go on afterwards. */
  take(): Uint8Array {
    this.#endMessage();
    const bytes = this.#writer.finish();
    this.#writer.reset();
    this.#resultStart = 0;
    this.#retractable = false;
    this.#hasSent = true;
    return bytes;
  }

  beginRow(): void {
    const writer = this.#writer;
    if (this.#messageStart < 0) {
      this.#messageStart = writer.length;
      writer.writeU32(0);
      writer.writeU8(REPLY_CODES.rows);
      writer.writeU64(this.#number);
      writer.writeU32(0);
      this.#messageRows = 0;
    }
    this.#rowStart = writer.length;
  }

  writeNull(): void {
    this.#writer.writeU8(0);
  }

  writeInteger(value: number | bigint): void {
    writeValue(this.#writer, value);
  }

  writeText(value: string): void {
    writeValue(this.#writer, value);
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    const writer = this.#writer, size = end - start;
    if (size < SHORT_TEXT_BYTES) writer.writeU8(TAG_SHORT_TEXT + size);
    else {
      writer.writeU8(TAG_TEXT);
      writer.writeVarint(size);
    }
    writer.writeBytes(bytes.subarray(start, end));
  }

  writeValue(column: number, value: SqlValue): void {
    const type = assertDefined(this.#types[column], "type of a result column");
    if (this.#printed[column] === true) {
      writeValue(this.#writer, formatText(type, value, this.#textOptions()));
    } else writeValue(this.#writer, toStored(type, value));
  }

  endRow(): void {
    const size = this.#writer.length - this.#messageStart;
    if (size - 4 > LIMITS.maximumFrameBytes) this.#splitMessage();
    this.#messageRows++;
    if (size < PIECE_BYTES) return;
    this.#endMessage();
    if (!this.#retractable) {
      this.#target.sendPart(this.take());
    }
  }

  copyOutBegin(format: CopyFormat): void {
    this.#retractable = false;
    this.write({
      kind: "copy_out",
      number: this.#number,
      binary: format.binary,
      columnCount: format.columnCount,
    });
  }

  copyOutData(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length || start === 0; start += PIECE_BYTES * 16) {
      const piece = bytes.subarray(start, start + PIECE_BYTES * 16);
      this.write({ kind: "copy_data", number: this.#number, bytes: piece });
    }
    if (this.#writer.length >= PIECE_BYTES) this.#target.sendPart(this.take());
  }

  copyIn(format: CopyFormat, target: CopyTarget): Promise<void> {
    this.write({
      kind: "copy_in",
      number: this.#number,
      binary: format.binary,
      columnCount: format.columnCount,
    });
    this.#target.sendPart(this.take());
    return this.#target.copyIn(format, target);
  }

  /** The row that made the message too large gets a message of its own. */
  #splitMessage(): void {
    const row = this.#writer.view().slice(this.#rowStart);
    if (row.length + 64 > LIMITS.maximumFrameBytes) {
      throw new DatabaseError(
        SQLSTATE.programLimitExceeded,
        `a row of ${row.length} bytes does not fit into a message of ${LIMITS.maximumFrameBytes} bytes`,
        { hint: "Select fewer columns, or read the value in pieces with substring()." },
      );
    }
    this.#writer.truncate(this.#rowStart);
    this.#endMessage();
    this.beginRow();
    this.#writer.writeBytes(row);
  }

  #endMessage(): void {
    if (this.#messageStart < 0) return;
    const writer = this.#writer, start = this.#messageStart;
    this.#messageStart = -1;
    writer.patchU32(start, writer.length - start - 4);
    writer.patchU32(start + 13, this.#messageRows);
    this.#messageRows = 0;
  }
}

function isPrintedByServer(type: SqlType): boolean {
  switch (type.kind) {
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
    case "enum":
    case "record":
    case "void":
    case "unknown":
    case "internal_char":
      return true;
    case "array":
      return isPrintedByServer(type.element);
    default:
      return false;
  }
}
