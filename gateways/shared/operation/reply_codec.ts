/**
 * Replies as bytes; `docs/protocols.md` has the tables and worked examples.
 *
 *     u8 code | u64 number | body
 *
 * The number is at a fixed place, so that a stored reply can be sent again under another one. Rows are written by
 * `reply_sink.ts` while the statement runs; this file has everything else, and the reader for clients.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import { ByteReader, type ByteWriter } from "../../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE, type SqlState } from "../../../engine/base/errors.ts";
import { readRowId, readValue, writeRowId, writeValue } from "../../../engine/operations/value_codec.ts";
import type { Notice, StatementOutcome, TransactionStatus } from "../../../engine/statements/outcome.ts";
import type { StoredValue } from "../../../engine/types/stored_value.ts";
import type { Failure, Reply, WireColumn, WireOutcome } from "./operation.ts";
import { readType, writeType } from "./type_codec.ts";
import { decoding, undecodable } from "./undecodable.ts";

/** First byte of a reply, by kind. */
export const REPLY_CODES: Readonly<Record<Reply["kind"], number>> = {
  columns: 0x40,
  rows: 0x41,
  outcome: 0x42,
  end: 0x43,
  error: 0x44,
  copy_in: 0x45,
  copy_out: 0x46,
  copy_data: 0x47,
  setting: 0x48,
};

const KIND_OF_CODE: ReadonlyMap<number, Reply["kind"]> = new Map(
  Object.entries(REPLY_CODES).map(([kind, code]) => [code, kind as Reply["kind"]]),
);

/** Where the request's number is in a reply, in bytes. */
export const REPLY_NUMBER_OFFSET = 1;

const STATUSES: readonly TransactionStatus[] = ["idle", "block", "failed"];
const OUTCOME_KINDS: readonly StatementOutcome["kind"][] = [
  "rows",
  "affected",
  "value",
  "describe",
  "explain",
  "done",
  "empty",
];
const SEVERITIES: readonly Notice["severity"][] = ["NOTICE", "WARNING", "INFO"];

/** The text fields of an error, each with its tag; 0 ends the list. The position has tag 5 and is a number. */
const FAILURE_TEXTS = [
  ["code", 1],
  ["message", 2],
  ["detail", 3],
  ["hint", 4],
  ["schema", 6],
  ["table", 7],
  ["column", 8],
  ["dataType", 9],
  ["constraint", 10],
  ["where", 11],
] as const;
const FAILURE_POSITION = 5;

/** Appends a reply. */
export function writeReply(writer: ByteWriter, reply: Reply): void {
  writer.writeU8(REPLY_CODES[reply.kind]);
  writer.writeU64(reply.number);
  switch (reply.kind) {
    case "columns":
      writeColumns(writer, reply.columns);
      return;
    case "rows":
      writer.writeU32(reply.rows.length);
      for (const row of reply.rows) for (const value of row) writeValue(writer, value);
      return;
    case "outcome":
      writeOutcome(writer, reply.outcome);
      return;
    case "end":
      writer.writeU8(STATUSES.indexOf(reply.status));
      writer.writeVarint(reply.op);
      return;
    case "error":
      writer.writeU8(STATUSES.indexOf(reply.status));
      writeFailure(writer, reply.failure);
      return;
    case "copy_in":
    case "copy_out":
      writer.writeU8(reply.binary ? 1 : 0);
      writer.writeVarint(reply.columnCount);
      return;
    case "copy_data":
      writer.writeBytes(reply.bytes);
      return;
    case "setting":
      writer.writeText(reply.name);
      writer.writeText(reply.value);
      return;
    default:
      unreachable(reply);
  }
}

/** Reads a reply; `columnCount` is that of the columns announced last under the same number. Raises 08P01. */
export function decodeReply(bytes: Uint8Array, columnCount: (number: bigint) => number): Reply {
  return decoding(() => {
    const reader = new ByteReader(bytes);
    const code = reader.readU8();
    const kind = KIND_OF_CODE.get(code);
    if (kind === undefined) throw undecodable(`unknown reply ${code}`);
    const number = reader.readU64();
    const reply = readBody(reader, kind, number, columnCount);
    reader.expectEnd();
    return reply;
  });
}

function readBody(
  reader: ByteReader,
  kind: Reply["kind"],
  number: bigint,
  columnCount: (number: bigint) => number,
): Reply {
  switch (kind) {
    case "columns":
      return { kind, number, columns: readColumns(reader) };
    case "rows":
      return { kind, number, rows: readRows(reader, columnCount(number)) };
    case "outcome":
      return { kind, number, outcome: readOutcome(reader) };
    case "end":
      return { kind, number, status: readStatus(reader), op: reader.readVarint() };
    case "error":
      return { kind, number, status: readStatus(reader), failure: readFailure(reader) };
    case "copy_in":
    case "copy_out":
      return { kind, number, binary: reader.readU8() === 1, columnCount: reader.readVarint() };
    case "copy_data":
      return { kind, number, bytes: reader.readBytes(reader.remaining) };
    case "setting":
      return { kind, number, name: reader.readText(), value: reader.readText() };
    default:
      return unreachable(kind);
  }
}

function writeColumns(writer: ByteWriter, columns: readonly WireColumn[]): void {
  writer.writeVarint(columns.length);
  for (const column of columns) {
    writer.writeText(column.name);
    writeType(writer, column.type);
  }
}

function readColumns(reader: ByteReader): WireColumn[] {
  const count = reader.readVarint();
  if (count > reader.remaining) throw undecodable(`${count} columns`);
  const columns: WireColumn[] = [];
  for (let i = 0; i < count; i++) columns.push({ name: reader.readText(), type: readType(reader) });
  return columns;
}

function readRows(reader: ByteReader, columnCount: number): StoredValue[][] {
  const count = reader.readU32();
  if (columnCount > 0 && count > reader.remaining) throw undecodable(`${count} rows`);
  const rows: StoredValue[][] = [];
  for (let i = 0; i < count; i++) {
    const row: StoredValue[] = [];
    for (let column = 0; column < columnCount; column++) row.push(readValue(reader));
    rows.push(row);
  }
  return rows;
}

function writeOutcome(writer: ByteWriter, outcome: WireOutcome): void {
  writer.writeU8(OUTCOME_KINDS.indexOf(outcome.kind));
  writer.writeText(outcome.tag);
  writer.writeVarint(outcome.rowCount === null ? 0 : outcome.rowCount + 1);
  writer.writeU8(outcome.insertedId === null ? 0 : 1);
  if (outcome.insertedId !== null) writeRowId(writer, outcome.insertedId);
  writer.writeVarint(outcome.notices.length);
  for (const notice of outcome.notices) {
    writer.writeU8(SEVERITIES.indexOf(notice.severity));
    writer.writeText(notice.code);
    writer.writeText(notice.message);
    writer.writeText(notice.detail ?? "");
    writer.writeText(notice.hint ?? "");
  }
}

function readOutcome(reader: ByteReader): WireOutcome {
  const kind = OUTCOME_KINDS[reader.readU8()];
  if (kind === undefined) throw undecodable("unknown kind of outcome");
  const tag = reader.readText();
  const rowCount = reader.readVarint();
  const insertedId = reader.readU8() === 1 ? readRowId(reader) : null;
  const count = reader.readVarint();
  if (count > reader.remaining) throw undecodable(`${count} notices`);
  const notices: Notice[] = [];
  for (let i = 0; i < count; i++) {
    const severity = SEVERITIES[reader.readU8()];
    if (severity === undefined) throw undecodable("unknown severity");
    const code = reader.readText(), message = reader.readText();
    const detail = reader.readText(), hint = reader.readText();
    notices.push({
      severity,
      code,
      message,
      ...(detail === "" ? {} : { detail }),
      ...(hint === "" ? {} : { hint }),
    });
  }
  return { kind, tag, rowCount: rowCount === 0 ? null : rowCount - 1, insertedId, notices };
}

function readStatus(reader: ByteReader): TransactionStatus {
  const status = STATUSES[reader.readU8()];
  if (status === undefined) throw undecodable("unknown transaction status");
  return status;
}

function writeFailure(writer: ByteWriter, failure: Failure): void {
  for (const [field, tag] of FAILURE_TEXTS) {
    const text = failure[field];
    if (text === undefined) continue;
    writer.writeU8(tag);
    writer.writeText(text);
  }
  if (failure.position !== undefined) {
    writer.writeU8(FAILURE_POSITION);
    writer.writeVarint(failure.position);
  }
  writer.writeU8(0);
}

function readFailure(reader: ByteReader): Failure {
  const fields: Record<string, string | number> = {};
  for (let tag = reader.readU8(); tag !== 0; tag = reader.readU8()) {
    if (tag === FAILURE_POSITION) {
      fields.position = reader.readVarint();
      continue;
    }
    const text = reader.readText();
    // A field that this version does not know is a text, and left out.
    const known = FAILURE_TEXTS.find(([, each]) => each === tag);
    if (known !== undefined) fields[known[0]] = text;
  }
  const { code, message, ...rest } = fields;
  return { code: String(code ?? SQLSTATE.internalError), message: String(message ?? ""), ...rest };
}

/** What a client is sent about an error. Bugs are sent as XX000. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof DatabaseError)) {
    return { code: SQLSTATE.internalError, message: error instanceof Error ? error.message : String(error) };
  }
  const { cause: _cause, ...fields } = error.fields();
  return { code: error.code, message: error.message, ...fields };
}

/** The error that a failure tells of. */
export function errorOf(failure: Failure): DatabaseError {
  const { code, message, ...fields } = failure;
  return new DatabaseError(code as SqlState, message, fields);
}
