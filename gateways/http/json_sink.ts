/**
 * A statement's rows as JSON objects, encoded straight into a byte buffer; the shape around them is decided when the
 * statement has ended, because only then it is known what kind of answer it is.
 *
 * `object`: everything is kept until the end; of several statements the last one counts. `lines` (NDJSON): rows leave
 * while the statement runs, behind a first line with the columns, as fast as the client takes them.
 */
import { assertDefined } from "../../engine/base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type {
  CopyFormat,
  CopyTarget,
  ResultSink,
  StatementOutcome,
} from "../../engine/statements/outcome.ts";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import { formatType } from "../../engine/types/type_names.ts";
import type { TextOptions } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import { JsonBuffer } from "../shared/json/json_buffer.ts";
import { memberNames } from "../shared/json/member_names.ts";
import { writeJsonInteger, writeJsonValue } from "../shared/json/json_value.ts";
import { rowsSent } from "../shared/rows_sent.ts";

/** Receives the lines of an NDJSON answer while it is made. */
export interface LineTarget {
  /** Takes whole lines; they may leave once everything that the statement can have read is durable. */
  sendLines(bytes: Uint8Array<ArrayBuffer>): void;
  readonly isFull: boolean;
  drained(): Promise<void>;
}

const PIECE_BYTES = 64 * 1024;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NULL = new TextEncoder().encode("null");
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A statement's rows as JSON objects, encoded straight into a byte buffer; the shape around them is decided when the
 * statement has ended, because only then it is known what kind of answer it is.
 */
export class JsonSink implements ResultSink {
  readonly #buffer = new JsonBuffer();
  readonly #lines: boolean;
  readonly #target: LineTarget | null;
  readonly #textOptions: () => TextOptions;
  #options: TextOptions | null = null;
  #columns: readonly ResultColumn[] = [];
  /** `"name":` of each column, the comma in front included. */
  #keys: readonly Uint8Array[] = [];
  #isJson: readonly boolean[] = [];
  #next = 0;
  #rowCount = 0;
  #rowsStart = 0;
  #hasRows = false;
  #hasBegun = false;
  #retractable = false;
  /** Lines of the running result have been sent. */
  #hasSent = false;
  /** Where the first row's first value is, for an aggregate alone. */
  #valueStart = 0;
  #valueEnd = 0;

  constructor(options: {
    readonly textOptions: () => TextOptions;
    readonly form: "object" | "lines";
    /** Where lines go while the statement runs; null: everything is kept until {@link finish}. */
    readonly target: LineTarget | null;
  }) {
    this.#textOptions = options.textOptions;
    this.#lines = options.form === "lines";
    this.#target = options.target;
  }

  /** Whether the statement that ended last has returned rows. */
  get hasRows(): boolean {
    return this.#hasRows;
  }

  get full(): boolean {
    return this.#target !== null && !this.#retractable && this.#target.isFull;
  }

  drained(): Promise<void> {
    return this.#target?.drained() ?? Promise.resolve();
  }

  begin(columns: readonly ResultColumn[], retractable: boolean): void {
    const buffer = this.#buffer;
    buffer.truncate(0);
    this.#options = null;
    this.#columns = columns;
    const names = memberNames(columns);
    this.#keys = names.map((name, index) =>
      encoder.encode(`${index === 0 ? "" : ","}${JSON.stringify(name)}:`)
    );
    this.#isJson = columns.map(({ type }) => type.kind === "json" || type.kind === "jsonb");
    this.#retractable = retractable;
    this.#hasSent = false;
    this.#hasBegun = true;
    this.#rowCount = 0;
    if (this.#lines) {
      const list = columns.map(({ type }, index) => ({ name: names[index], type: formatType(type) }));
      buffer.text(JSON.stringify({ status: "ok", columns: list }));
      buffer.byte(NEWLINE);
    }
    this.#rowsStart = buffer.length;
  }

  get hasSent(): boolean {
    return this.#hasSent;
  }

  retract(): void {
    if (this.#hasSent) throw rowsSent();
    this.#buffer.truncate(this.#rowsStart);
    this.#rowCount = 0;
  }

  /** A statement has ended: one without rows takes the place of those before it, too. */
  endStatement(): void {
    this.#hasRows = this.#hasBegun;
    this.#hasBegun = false;
    if (!this.#hasRows) this.#buffer.truncate(0);
  }

  beginRow(): void {
    if (!this.#lines && this.#rowCount > 0) this.#buffer.byte(COMMA);
    this.#buffer.byte(OPEN_BRACE);
    this.#next = 0;
  }

  writeNull(): void {
    this.#key();
    this.#buffer.raw(NULL);
    this.#value();
  }

  writeInteger(value: number | bigint): void {
    this.#key();
    writeJsonInteger(this.#buffer, value);
    this.#value();
  }

  writeText(value: string): void {
    this.#key();
    if (this.#isJson[this.#next] === true) this.#buffer.json(value);
    else this.#buffer.string(value);
    this.#value();
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    const isJson = this.#isJson[this.#next] === true;
    if (isJson || this.#columns[this.#next]?.type.kind === "char") {
      const text = decoder.decode(bytes.subarray(start, end));
      if (isJson) this.writeText(text);
      else this.writeValue(this.#next, text);
      return;
    }
    this.#key();
    this.#buffer.utf8String(bytes, start, end);
    this.#value();
  }

  writeValue(column: number, value: SqlValue): void {
    this.#key();
    this.#options ??= this.#textOptions();
    const { type } = assertDefined(this.#columns[column], "result column");
    writeJsonValue(this.#buffer, type, value, this.#options);
    this.#value();
  }

  endRow(): void {
    const buffer = this.#buffer;
    buffer.byte(CLOSE_BRACE);
    this.#rowCount++;
    if (!this.#lines) return;
    buffer.byte(NEWLINE);
    if (this.#target === null || this.#retractable || buffer.length < PIECE_BYTES) return;
    this.#target.sendLines(buffer.take());
    this.#hasSent = true;
    this.#rowsStart = 0;
  }

  copyOutBegin(_format: CopyFormat): void {
    throw new DatabaseError(SQLSTATE.featureNotSupported, "COPY TO STDOUT is not available over HTTP", {
      hint: "Use SELECT, or COPY through dbcli or a PostgreSQL client.",
    });
  }

  copyOutData(_bytes: Uint8Array): void {}

  copyIn(_format: CopyFormat, _target: CopyTarget): Promise<void> {
    return Promise.reject(
      new DatabaseError(SQLSTATE.featureNotSupported, "COPY FROM STDIN is not available over HTTP", {
        hint: "Use INSERT, or COPY through dbcli or a PostgreSQL client.",
      }),
    );
  }

  /** The rest of the answer: in NDJSON what was not sent yet, else the whole object. Ends with a line break. */
  finish(outcome: StatementOutcome): Uint8Array<ArrayBuffer> {
    const buffer = this.#buffer;
    if (this.#lines && this.#hasRows) {
      buffer.text(`{"status":"ok","count":${this.#rowCount}${partialMembers(outcome)}}\n`);
      return buffer.take();
    }
    const rows = this.#hasRows ? buffer.slice() : new Uint8Array(0);
    const value = this.#rowCount > 0 ? buffer.slice(this.#valueStart, this.#valueEnd) : NULL;
    buffer.truncate(0);
    switch (outcome.kind) {
      case "value":
        buffer.text('{"status":"ok","value":');
        buffer.raw(value);
        break;
      case "describe":
        buffer.text(
          `{"status":"ok","table":${JSON.stringify(outcome.tag.replace(/^DESCRIBE /, ""))},"columns":`,
        );
        buffer.text(JSON.stringify(parseRows(rows).map(describedColumn)));
        break;
      case "explain":
        buffer.text('{"status":"ok","plan":');
        buffer.text(JSON.stringify(parseRows(rows).map((row) => Object.values(row)[0])));
        break;
      case "affected":
        buffer.text(`{"status":"ok","affected":${outcome.rowCount ?? 0}`);
        if (outcome.insertedId !== null) {
          buffer.text(',"id":');
          writeJsonInteger(buffer, outcome.insertedId);
        }
        break;
      default:
        if (this.#hasRows) {
          buffer.text('{"status":"ok","rows":[');
          buffer.raw(rows);
          buffer.text("]");
        } else buffer.text('{"status":"ok"');
    }
    buffer.text(`${partialMembers(outcome)}}\n`);
    return buffer.take();
  }

  #key(): void {
    this.#buffer.raw(assertDefined(this.#keys[this.#next], "key"));
    if (this.#rowCount === 0 && this.#next === 0) this.#valueStart = this.#buffer.length;
  }

  #value(): void {
    if (this.#rowCount === 0 && this.#next === 0) this.#valueEnd = this.#buffer.length;
    this.#next++;
  }
}

function parseRows(rows: Uint8Array): Record<string, unknown>[] {
  return JSON.parse(`[${new TextDecoder().decode(rows)}]`) as Record<string, unknown>[];
}

/** A column of DESCRIBE: what is not there is left out. */
function describedColumn(row: Record<string, unknown>): Record<string, unknown> {
  const { name, type, nullable } = row;
  return {
    name,
    type,
    nullable,
    ...(row.default === null ? {} : { default: row.default }),
    ...(row.primary_key === true ? { primary_key: true } : {}),
  };
}

/** What says that the rows of some shards are not there. */
function partialMembers({ notices }: StatementOutcome): string {
  const failed = [...new Set(notices.flatMap(({ failedShards }) => failedShards ?? []))];
  return failed.length === 0 ? "" : `,"partial":true,"failed_shards":${JSON.stringify(failed)}`;
}
