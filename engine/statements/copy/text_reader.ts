/**
 * Parses COPY's text and CSV formats from chunks that may be split anywhere.
 *
 * A row is parsed straight into the batch under construction. When the chunk ends within a row, nothing of the row is
 * kept but its bytes: they go in front of the next chunk and are parsed again. A row has at most
 * `LIMITS.maximumCopyRowBytes` bytes.
 */
import { encodeUtf8 } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { BatchBuilder, ColumnBuilder } from "../../transactions/batch_builder.ts";
import type { CopySettings, LineEnd, ReaderPlace } from "../parsed_copy.ts";
import { withContext } from "./copy_options.ts";
import { type FieldReader, fieldText, shownField } from "./field_readers.ts";
import { PartialRow } from "./partial_row.ts";

/** A column that the data has. */
export interface CopyColumn {
  readonly name: string;
  readonly builder: ColumnBuilder;
  readonly reader: FieldReader;
  /** FORCE_NOT_NULL: the NULL text is an empty value. */
  readonly forceNotNull: boolean;
  /** FORCE_NULL: the NULL text is NULL in quotes too. */
  readonly forceNull: boolean;
}

/** CSV that is no data of COPY, but a file as RFC 4180 has them. */
export interface PlainCsv {
  /** What errors name in front of the line, in the place of `COPY table`. */
  readonly place: string;
  /** The columns of the file, by its header; those that are not wanted take their values and drop them. */
  columnsOf(header: readonly string[]): readonly CopyColumn[];
  /** A row is whole. */
  endRow(): void;
}

const NEWLINE = 10, RETURN = 13, BACKSLASH = 92, DOT = 46;
/** From here on a row that is not whole is not parsed again with every chunk. */
const LONG_ROW = 65_536;

const EMPTY = new Uint8Array(0);

function hasLineEnd(bytes: Uint8Array): boolean {
  return bytes.includes(NEWLINE) || bytes.includes(RETURN);
}

/** See the file's head. */
export class TextFormatReader {
  readonly #place: string;
  readonly #plain: PlainCsv | null;
  readonly #settings: CopySettings;
  #columns: readonly CopyColumn[];
  readonly #batch: Pick<BatchBuilder, "isFull"> & { rowCount: number };
  readonly #flush: () => void;
  readonly #null: Uint8Array;
  readonly #isCsv: boolean;
  readonly #carry = new PartialRow(() => `${this.#place}, line ${this.#line}`);
  /** The carried bytes hold what may be the end of a line: without it there is nothing to parse. */
  #carriesLineEnd = false;
  #lineEnd: LineEnd = "unknown";
  #line = 1;
  #headerPending: boolean;
  #ended = false;
  #isPaused = false;
  /** Newlines within fields of the row. */
  #linesInRow = 0;
  /** The bytes that are being parsed. */
  #bytes: Uint8Array = EMPTY;
  #end = 0;
  #atEnd = false;
  /** The field that was parsed last. */
  #fieldBytes: Uint8Array = EMPTY;
  #fieldStart = 0;
  #fieldEnd = 0;
  #isNull = false;
  /** Where parsing goes on. */
  #next = 0;
  #rowEnded = false;
  /** Length of the carried bytes from which it is worth looking again for the end of a long row. */
  #nextTry = 0;
  #scratch = new Uint8Array(256);

  /** `flush` is called when the batch is full. */
  constructor(options: {
    readonly tableName: string;
    readonly settings: CopySettings;
    readonly columns: readonly CopyColumn[];
    readonly batch: Pick<BatchBuilder, "isFull"> & { rowCount: number };
    readonly flush: () => void;
    readonly plain?: PlainCsv;
    /** What comes first is its rest. */
    readonly from?: ReaderPlace | null;
  }) {
    this.#place = options.plain?.place ?? `COPY ${options.tableName}`;
    this.#plain = options.plain ?? null;
    this.#settings = options.settings;
    this.#columns = options.columns;
    this.#batch = options.batch;
    this.#flush = options.flush;
    this.#null = encodeUtf8(options.settings.nullText);
    this.#isCsv = options.settings.format === "csv";
    this.#headerPending = options.settings.header !== false;
    const from = options.from ?? null;
    if (from === null) return;
    this.#headerPending = false;
    this.#line = from.line;
    this.#lineEnd = from.lineEnd;
  }

  /** Parses nothing behind the row at hand. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Where another reader goes on; null: this one has not paused. */
  takePlace(): ReaderPlace | null {
    if (!this.#isPaused) return null;
    const rest = this.#carry.length === 0 ? EMPTY : this.#carry.joined().slice(0, this.#carry.length);
    return { line: this.#line, lineEnd: this.#lineEnd, rest };
  }

  /** Number of the line that comes next, from 1. */
  get line(): number {
    return this.#line;
  }

  /** Parses a chunk, which is a piece of these bytes. */
  write(bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (this.#ended || start === end) return;
    const carry = this.#carry;
    if (carry.length === 0) {
      const rest = this.#parse(bytes, start, end, false);
      if (rest === end) return;
      carry.append(bytes.subarray(rest, end));
    } else {
      const chunk = bytes.subarray(start, end);
      carry.append(chunk);
      this.#carriesLineEnd ||= hasLineEnd(chunk);
      if (!this.#carriesLineEnd || carry.length < this.#nextTry) return;
      carry.drop(this.#parse(carry.joined(), 0, carry.length, false));
    }
    this.#carriesLineEnd = carry.length > 0 && hasLineEnd(carry.joined());
    // A long row is looked at again when it has grown by half: its bytes are read a constant number of times.
    this.#nextTry = carry.length < LONG_ROW ? 0 : carry.length + (carry.length >> 1);
  }

  /** The data has ended. */
  finish(): void {
    if (this.#ended || this.#carry.length === 0) return;
    const rest = this.#carry.joined();
    this.#carry.drop(this.#parse(rest, 0, rest.length, true));
  }

  /** Parses whole rows. Answers where the first incomplete one begins. */
  #parse(bytes: Uint8Array, start: number, end: number, atEnd: boolean): number {
    this.#bytes = bytes;
    this.#end = end;
    this.#atEnd = atEnd;
    let at = start;
    while (at < end && !this.#ended && !this.#isPaused) {
      if (bytes[at] === BACKSLASH && this.#plain === null && this.#isEndMarker(at)) {
        this.#ended = true;
        return end;
      }
      this.#next = at;
      this.#linesInRow = 0;
      const isBlank = this.#plain !== null && (bytes[at] === NEWLINE || bytes[at] === RETURN);
      const isWhole = isBlank
        ? this.#endLine(at)
        : this.#headerPending
        ? this.#parseHeader()
        : this.#parseRow();
      if (!isWhole) return at;
      this.#line += 1 + this.#linesInRow;
      at = this.#next;
    }
    return at;
  }

  /** `\.` alone on a line ends the data. */
  #isEndMarker(at: number): boolean {
    if (this.#bytes[at + 1] !== DOT || at + 1 >= this.#end) return false;
    const after = at + 2 < this.#end ? this.#bytes[at + 2] : -1;
    return after === NEWLINE || after === RETURN || after === -1 && this.#atEnd;
  }

  #parseRow(): boolean {
    const columns = this.#columns;
    const rowStart = this.#next;
    const row = this.#batch.rowCount;
    this.#rowEnded = false;
    for (let index = 0; index < columns.length; index++) {
      if (index > 0 && this.#rowEnded) {
        throw this.#rowError(`missing data for column "${columns[index]?.name}"`, rowStart);
      }
      const column = columns[index] as CopyColumn;
      const isWhole = this.#isCsv ? this.#parseCsvField(column, rowStart) : this.#parseTextField();
      if (!isWhole) return false;
      if (this.#isNull) column.builder.setNull(row);
      else {
        try {
          column.reader.read(this.#fieldBytes, this.#fieldStart, this.#fieldEnd, row);
        } catch (thrown) {
          const shown = shownField(this.#fieldBytes, this.#fieldStart, this.#fieldEnd);
          throw withContext(
            thrown,
            `${this.#place}, line ${this.#line}, column ${column.name}: "${shown}"`,
          );
        }
      }
    }
    if (columns.length === 0 && !this.#skipLine()) return false;
    if (!this.#rowEnded) {
      // The whole line belongs to the message, so it must be there.
      throw this.#rowError("extra data after last expected column", rowStart);
    }
    if (this.#plain !== null) {
      try {
        this.#plain.endRow();
      } catch (thrown) {
        throw withContext(thrown, `${this.#place}, line ${this.#line}`);
      }
      return true;
    }
    this.#batch.rowCount++;
    if (this.#batch.isFull) this.#flush();
    return true;
  }

  #skipLine(): boolean {
    let at = this.#next;
    while (at < this.#end && this.#bytes[at] !== NEWLINE && this.#bytes[at] !== RETURN) at++;
    return this.#endLine(at);
  }

  #rowError(message: string, rowStart: number): unknown {
    let end = rowStart;
    while (end < this.#end && this.#bytes[end] !== NEWLINE && this.#bytes[end] !== RETURN) end++;
    return withContext(
      new DatabaseError(SQLSTATE.badCopyFileFormat, message),
      `${this.#place}, line ${this.#line}: "${shownField(this.#bytes, rowStart, end)}"`,
    );
  }

  #lineError(message: string, hint?: string): unknown {
    return withContext(
      new DatabaseError(SQLSTATE.badCopyFileFormat, message, hint === undefined ? {} : { hint }),
      `${this.#place}, line ${this.#line}`,
    );
  }

  /**
   * The line ends at `at` (a newline, a carriage return or the end of the data). false: more data is needed to know.
   */
  #endLine(at: number): boolean {
    if (at >= this.#end) {
      if (!this.#atEnd) return false;
      this.#next = at;
      this.#rowEnded = true;
      return true;
    }
    const isReturn = this.#bytes[at] === RETURN;
    let size = 1;
    if (isReturn) {
      if (at + 1 >= this.#end && !this.#atEnd) return false;
      if (at + 1 < this.#end && this.#bytes[at + 1] === NEWLINE) size = 2;
    }
    const found: LineEnd = !isReturn ? "newline" : size === 2 ? "return newline" : "return";
    if (this.#lineEnd === "unknown") this.#lineEnd = found;
    else if (this.#lineEnd !== found && this.#plain === null) {
      throw this.#lineError(
        isReturn
          ? `${this.#isCsv ? "unquoted" : "literal"} carriage return found in data`
          : `${this.#isCsv ? "unquoted" : "literal"} newline found in data`,
        this.#isCsv
          ? `Use quoted CSV field to represent ${isReturn ? "carriage return" : "newline"}.`
          : `Use "${isReturn ? "\\r" : "\\n"}" to represent ${isReturn ? "carriage return" : "newline"}.`,
      );
    }
    this.#next = at + size;
    this.#rowEnded = true;
    return true;
  }

  /** A field of the text format. false: it is not whole. */
  #parseTextField(): boolean {
    const bytes = this.#bytes, end = this.#end, delimiter = this.#settings.delimiter;
    const start = this.#next;
    let at = start;
    let escaped = false;
    for (; at < end; at++) {
      const code = bytes[at] as number;
      if (code === delimiter || code === NEWLINE || code === RETURN) break;
      if (code === BACKSLASH) {
        escaped = true;
        if (at + 1 >= end && !this.#atEnd) return false;
        at++;
      }
    }
    if (at > end) at = end;
    if (at < end && bytes[at] === delimiter) this.#next = at + 1;
    else if (!this.#endLine(at)) return false;
    this.#isNull = this.#isNullText(start, at);
    if (this.#isNull || !escaped) {
      this.#fieldBytes = bytes;
      this.#fieldStart = start;
      this.#fieldEnd = at;
    } else this.#unescape(start, at);
    return true;
  }

  #isNullText(start: number, end: number): boolean {
    const text = this.#null;
    if (end - start !== text.length) return false;
    for (let index = 0; index < text.length; index++) {
      if (this.#bytes[start + index] !== text[index]) return false;
    }
    return true;
  }

  #unescape(start: number, end: number): void {
    const bytes = this.#bytes;
    const target = this.#scratchOf(end - start);
    let length = 0;
    for (let at = start; at < end; at++) {
      let code = bytes[at] as number;
      if (code === BACKSLASH && at + 1 < end) {
        code = bytes[++at] as number;
        switch (code) {
          case 98:
            code = 8;
            break;
          case 102:
            code = 12;
            break;
          case 110:
            code = 10;
            break;
          case 114:
            code = 13;
            break;
          case 116:
            code = 9;
            break;
          case 118:
            code = 11;
            break;
          case 120: {
            let value = 0, digits = 0;
            while (digits < 2 && at + 1 < end) {
              const digit = hexDigit(bytes[at + 1] as number);
              if (digit < 0) break;
              value = value * 16 + digit;
              digits++;
              at++;
            }
            if (digits > 0) code = value;
            break;
          }
          default:
            if (code >= 48 && code <= 55) {
              let value = code - 48;
              for (let digits = 1; digits < 3 && at + 1 < end; digits++) {
                const digit = (bytes[at + 1] as number) - 48;
                if (digit < 0 || digit > 7) break;
                value = value * 8 + digit;
                at++;
              }
              code = value & 0xff;
            } else if (code === NEWLINE) this.#linesInRow++;
        }
      }
      target[length++] = code;
    }
    this.#fieldBytes = target;
    this.#fieldStart = 0;
    this.#fieldEnd = length;
  }

  #scratchOf(size: number): Uint8Array {
    if (this.#scratch.length < size) this.#scratch = new Uint8Array(size * 2);
    return this.#scratch;
  }

  /** A field of CSV. false: it is not whole. */
  #parseCsvField(column: Pick<CopyColumn, "forceNull" | "forceNotNull">, rowStart: number): boolean {
    const bytes = this.#bytes, end = this.#end;
    const { delimiter, quote } = this.#settings;
    const start = this.#next;
    let at = start;
    for (; at < end; at++) {
      const code = bytes[at] as number;
      if (code === quote) return this.#parseQuotedField(column, start, rowStart);
      if (code === delimiter || code === NEWLINE || code === RETURN) break;
    }
    if (at < end && bytes[at] === delimiter) this.#next = at + 1;
    else if (!this.#endLine(at)) return false;
    this.#isNull = !column.forceNotNull && this.#isNullText(start, at);
    this.#fieldBytes = bytes;
    this.#fieldStart = start;
    this.#fieldEnd = at;
    return true;
  }

  /** A field with quotes somewhere; they may begin and end within it. */
  #parseQuotedField(column: Pick<CopyColumn, "forceNull">, start: number, rowStart: number): boolean {
    const bytes = this.#bytes, end = this.#end;
    const { delimiter, quote, escape } = this.#settings;
    let target = this.#scratchOf(1024);
    let length = 0, isQuoted = false, at = start, newlines = 0;
    for (;; at++) {
      if (at >= end) {
        if (!this.#atEnd) return false;
        if (isQuoted) throw this.#rowError("unterminated CSV quoted field", rowStart);
        break;
      }
      let code = bytes[at] as number;
      if (isQuoted) {
        if (code === escape) {
          const after = at + 1 < end ? bytes[at + 1] as number : -1;
          if (after === -1 && !this.#atEnd) return false;
          if (after === quote || after === escape) {
            code = after;
            at++;
          } else if (code === quote) {
            isQuoted = false;
            continue;
          }
        } else if (code === quote) {
          isQuoted = false;
          continue;
        } else if (code === NEWLINE) newlines++;
      } else if (code === quote) {
        isQuoted = true;
        continue;
      } else if (code === delimiter || code === NEWLINE || code === RETURN) break;
      if (length === target.length) {
        const larger = new Uint8Array(length * 2);
        larger.set(target);
        this.#scratch = target = larger;
      }
      target[length++] = code;
    }
    if (at < end && bytes[at] === delimiter) this.#next = at + 1;
    else if (!this.#endLine(at)) return false;
    this.#linesInRow += newlines;
    this.#fieldBytes = target;
    this.#fieldStart = 0;
    this.#fieldEnd = length;
    this.#isNull = column.forceNull && length === this.#null.length &&
      this.#null.every((byte, index) => target[index] === byte);
    return true;
  }

  /** The first line holds the column names; MATCH compares them. */
  #parseHeader(): boolean {
    const names: (string | null)[] = [];
    const rowStart = this.#next;
    this.#rowEnded = false;
    while (!this.#rowEnded) {
      const isWhole = this.#isCsv
        ? this.#parseCsvField({ forceNull: false, forceNotNull: false }, rowStart)
        : this.#parseTextField();
      if (!isWhole) return false;
      names.push(this.#isNull ? null : fieldText(this.#fieldBytes, this.#fieldStart, this.#fieldEnd));
    }
    this.#headerPending = false;
    if (this.#plain !== null) {
      this.#columns = this.#plain.columnsOf(names.map((name) => name ?? ""));
      return true;
    }
    if (this.#settings.header !== "match") return true;
    if (names.length !== this.#columns.length) {
      throw this.#lineError(
        `wrong number of fields in header line: got ${names.length}, expected ${this.#columns.length}`,
      );
    }
    for (const [index, column] of this.#columns.entries()) {
      const name = names[index] ?? null;
      if (name === column.name) continue;
      throw this.#lineError(
        name === null
          ? `column name mismatch in header line field ${
            index + 1
          }: got null value ("${this.#settings.nullText}"), expected "${column.name}"`
          : `column name mismatch in header line field ${
            index + 1
          }: got "${name}", expected "${column.name}"`,
      );
    }
    return true;
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
