/**
 * Writes result rows in COPY's formats. It is the writer of a query, so that rows go from generated code into the bytes
 * that are sent, with no row objects in between.
 */
import { countCharacters, decodeUtf8, encodeUtf8 } from "../../base/bytes.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { ResultWriter } from "../../execution/runtime/result_writer.ts";
import { encodeBinary } from "../../types/binary_io.ts";
import { characterLength } from "../../types/text.ts";
import { formatText, type TextOptions } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import { BINARY_SIGNATURE } from "./binary_reader.ts";
import type { CopySettings } from "../parsed_copy.ts";
import { forcedColumns } from "./copy_options.ts";

/** Bytes that are sent in one piece. */
const PIECE_BYTES = 1 << 16;

const NEWLINE = 10, RETURN = 13, SPACE = 32, MINUS = 45, ZERO = 48, BACKSLASH = 92, DOT = 46;
/** Integers up to this are written digit by digit. */
const MAX_DIRECT = 999_999_999_999_999;
/** Texts up to this are encoded without a call of the encoder, which costs more than they do. */
const SHORT_TEXT = 128;

const encoder = new TextEncoder();

/** See the file's head. */
export class CopyEncoder implements ResultWriter {
  rowCount = 0;
  readonly #settings: CopySettings;
  readonly #columns: readonly ResultColumn[];
  readonly #options: TextOptions;
  readonly #send: (bytes: Uint8Array, ends: readonly number[]) => void;
  readonly #isCsv: boolean;
  readonly #isBinary: boolean;
  readonly #null: Uint8Array;
  readonly #forceQuote: readonly boolean[];
  /** 0: the byte stands for itself; 1: it is escaped (text) or makes the field quoted (CSV). */
  readonly #special = new Uint8Array(256);
  #bytes = new Uint8Array(PIECE_BYTES + 1024);
  #length = 0;
  /** One value. */
  #scratch = new Uint8Array(256);
  /** Where rows end in the bytes. */
  #ends: number[] = [];
  #column = 0;

  constructor(options: {
    readonly settings: CopySettings;
    readonly columns: readonly ResultColumn[];
    readonly textOptions: TextOptions;
    readonly send: (bytes: Uint8Array, ends: readonly number[]) => void;
  }) {
    const { settings } = options;
    this.#settings = settings;
    this.#columns = options.columns;
    this.#options = options.textOptions;
    this.#send = options.send;
    this.#isCsv = settings.format === "csv";
    this.#isBinary = settings.format === "binary";
    this.#null = encodeUtf8(settings.nullText);
    this.#forceQuote = forcedColumns(
      options.columns.map((column) => column.name),
      settings.forceQuote,
      "FORCE_QUOTE",
    );
    const special = this.#isCsv
      ? [settings.delimiter, settings.quote, NEWLINE, RETURN]
      : [settings.delimiter, BACKSLASH, 8, 9, 10, 11, 12, 13];
    for (const code of special) this.#special[code] = 1;
  }

  /** What is in front of the rows. */
  begin(): void {
    if (this.#isBinary) {
      this.#put(BINARY_SIGNATURE, 0, BINARY_SIGNATURE.length);
      this.#put(new Uint8Array(8), 0, 8);
      return;
    }
    if (this.#settings.header === false) return;
    this.#column = 0;
    for (const column of this.#columns) {
      const name = encodeUtf8(column.name);
      this.#field(name, 0, name.length, false);
    }
    this.#byte(NEWLINE);
    this.#ends.push(this.#length);
  }

  /** What follows the rows; everything has been sent then. Answers the number of rows. */
  finish(): number {
    if (this.#isBinary) {
      this.#int16(-1);
      this.#ends.push(this.#length);
    }
    this.#flush();
    return this.rowCount;
  }

  /** Forgets everything and begins anew. */
  restart(): void {
    this.#length = 0;
    this.#ends = [];
    this.rowCount = 0;
    this.begin();
  }

  beginRow(): void {
    this.#column = 0;
    if (this.#isBinary) this.#int16(this.#columns.length);
  }

  writeNull(): void {
    if (this.#isBinary) {
      this.#column++;
      this.#int32(-1);
      return;
    }
    this.#separate();
    this.#put(this.#null, 0, this.#null.length);
  }

  writeInteger(value: number | bigint): void {
    if (this.#isBinary) this.#binary(value);
    else this.#field(this.#scratch, 0, this.#encodeInteger(value), true);
  }

  writeText(value: string): void {
    if (this.#isBinary) this.#binary(value);
    else this.#text(value);
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    const { type } = this.#columns[this.#column] as ResultColumn;
    if (this.#isBinary) this.#binary(decodeUtf8(bytes.subarray(start, end)));
    else if (type.kind === "char") {
      this.#growScratch(end - start);
      this.#scratch.set(bytes.subarray(start, end));
      this.#characters(end - start, type.length - countCharacters(bytes, start, end));
    } else this.#field(bytes, start, end, true);
  }

  writeValue(column: number, value: SqlValue): void {
    if (this.#isBinary) this.#binary(value);
    else {
      const type = (this.#columns[column] as ResultColumn).type;
      if (type.kind === "char" && typeof value === "string") {
        this.#characters(this.#encode(value), type.length - characterLength(value));
      } else this.#text(formatText(type, value, this.#options));
    }
  }

  #text(value: string): void {
    const length = this.#encode(value);
    this.#field(this.#scratch, 0, length, true);
  }

  /** A CHAR(n) value, of which so many bytes are in the scratch, with the spaces that are missing behind them. */
  #characters(length: number, spaces: number): void {
    if (spaces > 0 && (this.#isCsv || this.#special[SPACE] !== 0)) {
      this.#growScratch(length + spaces);
      this.#scratch.fill(SPACE, length, length += spaces);
      spaces = 0;
    }
    this.#field(this.#scratch, 0, length, true);
    // Most of it may be padding, which needs no look at each byte.
    if (spaces <= 0) return;
    this.#reserve(spaces);
    this.#bytes.fill(SPACE, this.#length, this.#length += spaces);
  }

  #growScratch(length: number): void {
    if (length <= this.#scratch.length) return;
    const larger = new Uint8Array(Math.max(length, this.#scratch.length * 2));
    larger.set(this.#scratch);
    this.#scratch = larger;
  }

  /** Puts the UTF-8 of a text into the scratch; answers its length. */
  #encode(text: string): number {
    const { length } = text;
    this.#growScratch(length * 3);
    const scratch = this.#scratch;
    if (length <= SHORT_TEXT) {
      let at = 0;
      for (; at < length; at++) {
        const code = text.charCodeAt(at);
        if (code >= 0x80) break;
        scratch[at] = code;
      }
      if (at === length) return length;
    }
    return encoder.encodeInto(text, scratch).written;
  }

  /** Puts the digits of an integer into the scratch; answers how many bytes they are. */
  #encodeInteger(value: number | bigint): number {
    if (typeof value !== "number" || value > MAX_DIRECT || value < -MAX_DIRECT) {
      return this.#encode(String(value));
    }
    const scratch = this.#scratch;
    const isNegative = value < 0;
    let rest = isNegative ? -value : value;
    let length = isNegative ? 2 : 1;
    for (let limit = 10; rest >= limit; limit *= 10) length++;
    for (let at = length - 1; at >= (isNegative ? 1 : 0); at--) {
      const next = Math.trunc(rest / 10);
      scratch[at] = ZERO + rest - next * 10;
      rest = next;
    }
    if (isNegative) scratch[0] = MINUS;
    return length;
  }

  endRow(): void {
    if (!this.#isBinary) this.#byte(NEWLINE);
    this.rowCount++;
    this.#ends.push(this.#length);
    if (this.#length >= PIECE_BYTES) this.#flush();
  }

  #flush(): void {
    if (this.#length > 0) this.#send(this.#bytes.slice(0, this.#length), this.#ends);
    this.#length = 0;
    this.#ends = [];
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  #byte(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = code;
  }

  #put(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  #int16(value: number): void {
    this.#byte(value >> 8 & 0xff);
    this.#byte(value & 0xff);
  }

  #int32(value: number): void {
    this.#int16(value >> 16);
    this.#int16(value);
  }

  #binary(value: SqlValue): void {
    const bytes = encodeBinary((this.#columns[this.#column++] as ResultColumn).type, value);
    this.#int32(bytes.length);
    this.#put(bytes, 0, bytes.length);
  }

  #separate(): void {
    if (this.#column++ > 0) this.#byte(this.#settings.delimiter);
  }

  /** A field that is not NULL. `mayForce`: FORCE_QUOTE applies. */
  #field(bytes: Uint8Array, start: number, end: number, mayForce: boolean): void {
    const column = this.#column;
    this.#separate();
    if (this.#isCsv) {
      this.#csvField(bytes.subarray(start, end), mayForce && this.#forceQuote[column] === true);
      return;
    }
    const special = this.#special;
    this.#reserve((end - start) * 2);
    const target = this.#bytes;
    let to = this.#length;
    for (let at = start; at < end; at++) {
      const code = bytes[at] as number;
      if (special[code] !== 0) {
        this.#length = to;
        for (; at < end; at++) this.#escaped(bytes[at] as number);
        return;
      }
      target[to++] = code;
    }
    this.#length = to;
  }

  /** A byte of the text format. */
  #escaped(code: number): void {
    if (this.#special[code] === 0) {
      this.#byte(code);
      return;
    }
    this.#byte(BACKSLASH);
    const letter = code >= 8 && code <= 13 ? "btnvfr".charCodeAt(code - 8) : code;
    this.#byte(letter);
  }

  #csvField(bytes: Uint8Array, force: boolean): void {
    const { quote, escape } = this.#settings;
    let quoted = force || this.#isNullText(bytes) ||
      this.#columns.length === 1 && bytes.length === 2 && bytes[0] === BACKSLASH && bytes[1] === DOT;
    for (let at = 0; at < bytes.length && !quoted; at++) quoted = this.#special[bytes[at] as number] !== 0;
    if (!quoted) {
      this.#put(bytes, 0, bytes.length);
      return;
    }
    this.#reserve(bytes.length * 2 + 2);
    this.#byte(quote);
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at] as number;
      if (code === quote || code === escape) this.#byte(escape);
      this.#byte(code);
    }
    this.#byte(quote);
  }

  #isNullText(bytes: Uint8Array): boolean {
    if (bytes.length !== this.#null.length) return false;
    for (let at = 0; at < bytes.length; at++) if (bytes[at] !== this.#null[at]) return false;
    return true;
  }
}
