/**
 * Requests as bytes; `docs/protocols.md` has the tables and worked examples.
 *
 *     u8 code | u64 number | u8 flags | [16 bytes client id | u64 sequence] | [u64 op to see] | body
 *
 * Integers are little-endian, counts and lengths LEB128, texts UTF-8 with their byte length in front, values as in
 * `engine/operations/value_codec.ts`. Invariants: one request has one encoding; a damaged one raises 08P01 and
 * nothing else; every byte of a message is used.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import { ByteReader, ByteWriter } from "../../../engine/base/bytes.ts";
import { requireWellFormed } from "../../../engine/types/text.ts";
import { LIMITS } from "../../../engine/base/limits.ts";
import { readRowId, readValue, writeRowId, writeValue } from "../../../engine/operations/value_codec.ts";
import type { RowId } from "../../../engine/operations/effect.ts";
import { GATEWAY_LIMITS } from "../limits.ts";
import {
  type Aggregate,
  AGGREGATE_FUNCTIONS,
  type Condition,
  CONDITION_OPERATORS,
  type Continuation,
  type Operation,
  type Parameter,
  type RangeBound,
  type Request,
  type RowOperation,
  type TableName,
} from "./operation.ts";
import { readType, writeType } from "./type_codec.ts";
import { decoding, OperationReader, undecodable } from "./undecodable.ts";

/** First byte of a request, by kind. */
export const OPERATION_CODES: Readonly<Record<(Operation | Continuation)["kind"], number>> = {
  sql: 0x10,
  create: 0x11,
  update: 0x12,
  delete: 0x13,
  txn: 0x14,
  get: 0x15,
  find: 0x16,
  find_range: 0x17,
  scan: 0x18,
  select: 0x19,
  aggregate: 0x1a,
  describe: 0x1b,
  list_tables: 0x1c,
  ddl: 0x1d,
  stats: 0x1e,
  snapshot: 0x1f,
  copy_data: 0x20,
  copy_done: 0x21,
  copy_fail: 0x22,
  cancel: 0x23,
  ping: 0x24,
};

type Kind = keyof typeof OPERATION_CODES;

const KIND_OF_CODE: ReadonlyMap<number, Kind> = new Map(
  Object.entries(OPERATION_CODES).map(([kind, code]) => [code, kind as Kind]),
);

const FLAG_CLIENT = 1;
const FLAG_MIN_OP = 2;
const MAX_U64 = (1n << 64n) - 1n;

/** The bytes of a request. */
export function encodeRequest(request: Request, writer: ByteWriter = new ByteWriter()): Uint8Array {
  writeRequest(writer, request);
  return writer.finish();
}

/** Appends a request. */
export function writeRequest(writer: ByteWriter, request: Request): void {
  const { operation, client, minOp = 0 } = request;
  writer.writeU8(OPERATION_CODES[operation.kind]);
  writer.writeU64(request.number);
  writer.writeU8((client === null ? 0 : FLAG_CLIENT) | (minOp === 0 ? 0 : FLAG_MIN_OP));
  if (client !== null) {
    writer.writeBytes(Uint8Array.fromHex(client.clientId));
    writer.writeU64(client.sequence);
  }
  if (minOp !== 0) writer.writeU64(BigInt(minOp));
  writeBody(writer, operation);
}

/** The bytes of an operation alone, which an exactly-once request is recognized by. */
export function encodeOperation(operation: Operation): Uint8Array {
  const writer = new ByteWriter();
  writer.writeU8(OPERATION_CODES[operation.kind]);
  writeBody(writer, operation);
  return writer.finish();
}

/** Reads a request. Raises 08P01, and 22021 for a text that is not UTF-8. */
export function decodeRequest(bytes: Uint8Array): Request {
  return decoding(() => {
    const reader = new OperationReader(bytes);
    const code = reader.readU8();
    const kind = KIND_OF_CODE.get(code);
    if (kind === undefined) throw undecodable(`unknown operation ${code}`);
    const number = reader.readU64();
    const flags = reader.readU8();
    if (flags > (FLAG_CLIENT | FLAG_MIN_OP)) throw undecodable(`unknown flags ${flags}`);
    const client = (flags & FLAG_CLIENT) === 0
      ? null
      : { clientId: reader.readBytes(16).toHex(), sequence: reader.readU64() };
    const minOp = (flags & FLAG_MIN_OP) === 0 ? 0 : readMinOp(reader);
    const operation = readBody(reader, kind);
    reader.expectEnd();
    return { number, client, operation, ...(minOp === 0 ? {} : { minOp }) };
  });
}

function readMinOp(reader: ByteReader): number {
  const op = Number(reader.readU64());
  if (op === 0 || !Number.isSafeInteger(op)) throw undecodable(`op ${op} to see`);
  return op;
}

/** The number in a message that could not be decoded, so that the error can name the request; 0 when it has none. */
export function requestNumberOf(bytes: Uint8Array): bigint {
  return bytes.length < 9 ? 0n : new ByteReader(bytes, 1).readU64() & MAX_U64;
}

function writeBody(writer: ByteWriter, operation: Operation | Continuation): void {
  switch (operation.kind) {
    case "sql":
      writer.writeText(requireWellFormed(operation.text));
      writer.writeU8(operation.parameters === null ? 0 : 1);
      if (operation.parameters !== null) writeList(writer, operation.parameters, writeParameter);
      return;
    case "txn":
      writeList(writer, operation.operations, (_writer, inner) => {
        writer.writeU8(OPERATION_CODES[inner.kind]);
        writeBody(writer, inner);
      });
      return;
    case "create":
      writeTable(writer, operation.table);
      writeOptionalRowId(writer, operation.id);
      writeAssignments(writer, operation.columns, operation.values);
      return;
    case "update":
      writeTable(writer, operation.table);
      writeRowId(writer, operation.id);
      writeAssignments(writer, operation.columns, operation.values);
      return;
    case "delete":
      writeTable(writer, operation.table);
      writeRowId(writer, operation.id);
      return;
    case "get":
      writeTable(writer, operation.table);
      writeNames(writer, operation.columns);
      writeRowId(writer, operation.id);
      return;
    case "find":
      writeTable(writer, operation.table);
      writeNames(writer, operation.columns);
      writeAssignments(writer, operation.keys, operation.values);
      return;
    case "find_range":
      writeTable(writer, operation.table);
      writeNames(writer, operation.columns);
      writer.writeText(operation.key);
      writeBound(writer, operation.low);
      writeBound(writer, operation.high);
      writer.writeVarint(operation.limit);
      return;
    case "scan":
      writeTable(writer, operation.table);
      writeNames(writer, operation.columns);
      writeOptionalRowId(writer, operation.after);
      writer.writeVarint(operation.limit);
      return;
    case "select":
      writeTable(writer, operation.table);
      writeNames(writer, operation.columns);
      writeList(writer, operation.conditions, writeCondition);
      writeList(writer, operation.order, (_writer, item) => {
        writer.writeText(item.column);
        writer.writeU8(item.descending ? 1 : 0);
      });
      writer.writeVarint(operation.limit);
      writer.writeVarint(operation.offset);
      return;
    case "aggregate":
      writeTable(writer, operation.table);
      writeList(writer, operation.aggregates, (_writer, aggregate) => {
        writer.writeU8(AGGREGATE_FUNCTIONS.indexOf(aggregate.function));
        writeOptionalText(writer, aggregate.column);
      });
      writeNames(writer, operation.groupBy);
      writeList(writer, operation.conditions, writeCondition);
      return;
    case "describe":
      writeTable(writer, operation.table);
      return;
    case "ddl":
      writer.writeText(operation.text);
      return;
    case "snapshot":
      writer.writeText(operation.directory);
      return;
    case "copy_data":
      writer.writeBytes(operation.bytes);
      return;
    case "copy_fail":
      writer.writeText(operation.message);
      return;
    case "list_tables":
    case "stats":
    case "ping":
    case "copy_done":
    case "cancel":
      return;
    default:
      unreachable(operation);
  }
}

function readBody(reader: ByteReader, kind: Kind): Operation | Continuation {
  switch (kind) {
    case "sql": {
      const text = reader.readText();
      const mode = reader.readU8();
      if (mode > 1) throw undecodable(`unknown parameter mode ${mode}`);
      return {
        kind,
        text,
        parameters: mode === 0 ? null : readList(reader, readParameter, LIMITS.maximumParameters),
      };
    }
    case "txn":
      return {
        kind,
        operations: readList(reader, readRowOperation, GATEWAY_LIMITS.maximumTransactionOperations),
      };
    case "create":
    case "update":
    case "delete":
      return readRowBody(reader, kind);
    case "get":
      return { kind, table: readTable(reader), columns: readNames(reader), id: readRowId(reader) };
    case "find": {
      const table = readTable(reader), columns = readNames(reader);
      const { columns: keys, values } = readAssignments(reader);
      return { kind, table, columns, keys, values };
    }
    case "find_range":
      return {
        kind,
        table: readTable(reader),
        columns: readNames(reader),
        key: reader.readText(),
        low: readBound(reader),
        high: readBound(reader),
        limit: reader.readVarint(),
      };
    case "scan":
      return {
        kind,
        table: readTable(reader),
        columns: readNames(reader),
        after: readOptionalRowId(reader),
        limit: reader.readVarint(),
      };
    case "select":
      return {
        kind,
        table: readTable(reader),
        columns: readNames(reader),
        conditions: readList(reader, readCondition, LIMITS.maximumTableColumns),
        order: readList(
          reader,
          () => ({ column: reader.readText(), descending: readFlag(reader) }),
          LIMITS.maximumTableColumns,
        ),
        limit: reader.readVarint(),
        offset: reader.readVarint(),
      };
    case "aggregate":
      return {
        kind,
        table: readTable(reader),
        aggregates: readList(reader, readAggregate, LIMITS.maximumTableColumns),
        groupBy: readNames(reader),
        conditions: readList(reader, readCondition, LIMITS.maximumTableColumns),
      };
    case "describe":
      return { kind, table: readTable(reader) };
    case "ddl":
      return { kind, text: reader.readText() };
    case "snapshot":
      return { kind, directory: reader.readText() };
    case "copy_data":
      return { kind, bytes: reader.readBytes(reader.remaining) };
    case "copy_fail":
      return { kind, message: reader.readText() };
    case "list_tables":
    case "stats":
    case "ping":
    case "copy_done":
    case "cancel":
      return { kind };
    default:
      return unreachable(kind);
  }
}

function readRowOperation(reader: ByteReader): RowOperation {
  const code = reader.readU8();
  const kind = KIND_OF_CODE.get(code);
  if (kind !== "create" && kind !== "update" && kind !== "delete") {
    throw undecodable(`operation ${code} inside a transaction`);
  }
  return readRowBody(reader, kind);
}

function readRowBody(reader: ByteReader, kind: RowOperation["kind"]): RowOperation {
  const table = readTable(reader);
  switch (kind) {
    case "create": {
      const id = readOptionalRowId(reader);
      return { kind, table, id, ...readAssignments(reader) };
    }
    case "update": {
      const id = readRowId(reader);
      return { kind, table, id, ...readAssignments(reader) };
    }
    case "delete":
      return { kind, table, id: readRowId(reader) };
    default:
      return unreachable(kind);
  }
}

function writeList<T>(
  writer: ByteWriter,
  items: readonly T[],
  write: (writer: ByteWriter, item: T) => void,
): void {
  writer.writeVarint(items.length);
  for (const item of items) write(writer, item);
}

function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T, maximum: number): T[] {
  const count = reader.readVarint();
  // Every item takes at least a byte, so that a wrong count fails before memory is taken for it.
  if (count > maximum || count > reader.remaining) throw undecodable(`a list of ${count} items`);
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(read(reader));
  return items;
}

function writeTable(writer: ByteWriter, table: TableName): void {
  writer.writeText(table.schema ?? "");
  writer.writeText(table.name);
}

function readTable(reader: ByteReader): TableName {
  const schema = reader.readText();
  return { schema: schema === "" ? null : schema, name: reader.readText() };
}

function writeNames(writer: ByteWriter, names: readonly string[]): void {
  writeList(writer, names, (_writer, name) => writer.writeText(name));
}

function readNames(reader: ByteReader): string[] {
  return readList(reader, () => reader.readText(), LIMITS.maximumTableColumns);
}

function writeAssignments(
  writer: ByteWriter,
  columns: readonly string[],
  values: readonly Parameter[],
): void {
  writer.writeVarint(columns.length);
  for (const [index, column] of columns.entries()) {
    writer.writeText(column);
    writeParameter(writer, values[index] ?? { form: "untyped", value: null });
  }
}

function readAssignments(reader: ByteReader): { columns: string[]; values: Parameter[] } {
  const columns: string[] = [];
  const values = readList(reader, () => {
    columns.push(reader.readText());
    return readParameter(reader);
  }, LIMITS.maximumTableColumns);
  return { columns, values };
}

function writeParameter(writer: ByteWriter, parameter: Parameter): void {
  switch (parameter.form) {
    case "untyped":
      writer.writeU8(0);
      writeValue(writer, parameter.value);
      return;
    case "structured":
      writer.writeU8(1);
      writer.writeText(parameter.json);
      return;
    case "typed":
      writer.writeU8(2);
      writeType(writer, parameter.type);
      writeValue(writer, parameter.value);
      return;
    default:
      unreachable(parameter);
  }
}

function readParameter(reader: ByteReader): Parameter {
  const form = reader.readU8();
  switch (form) {
    case 0:
      return { form: "untyped", value: readValue(reader) };
    case 1:
      return { form: "structured", json: reader.readText() };
    case 2:
      return { form: "typed", type: readType(reader), value: readValue(reader) };
    default:
      throw undecodable(`unknown form ${form} of a parameter`);
  }
}

function writeCondition(writer: ByteWriter, condition: Condition): void {
  writer.writeText(condition.column);
  writer.writeU8(CONDITION_OPERATORS.indexOf(condition.operator));
  writeList(writer, condition.values, writeParameter);
}

function readCondition(reader: ByteReader): Condition {
  const column = reader.readText();
  const operator = CONDITION_OPERATORS[reader.readU8()];
  if (operator === undefined) throw undecodable("unknown comparison");
  return { column, operator, values: readList(reader, readParameter, LIMITS.maximumParameters) };
}

function readAggregate(reader: ByteReader): Aggregate {
  const name = AGGREGATE_FUNCTIONS[reader.readU8()];
  if (name === undefined) throw undecodable("unknown aggregate");
  return { function: name, column: readFlag(reader) ? reader.readText() : null };
}

function writeOptionalText(writer: ByteWriter, text: string | null): void {
  writer.writeU8(text === null ? 0 : 1);
  if (text !== null) writer.writeText(text);
}

function writeOptionalRowId(writer: ByteWriter, id: RowId | null): void {
  writer.writeU8(id === null ? 0 : 1);
  if (id !== null) writeRowId(writer, id);
}

function readOptionalRowId(reader: ByteReader): RowId | null {
  return readFlag(reader) ? readRowId(reader) : null;
}

/** 0: no bound; 1: exclusive; 2: inclusive. */
function writeBound(writer: ByteWriter, bound: RangeBound | null): void {
  writer.writeU8(bound === null ? 0 : bound.inclusive ? 2 : 1);
  if (bound !== null) writeParameter(writer, bound.value);
}

function readBound(reader: ByteReader): RangeBound | null {
  const form = reader.readU8();
  if (form > 2) throw undecodable(`unknown form ${form} of a bound`);
  return form === 0 ? null : { inclusive: form === 2, value: readParameter(reader) };
}

function readFlag(reader: ByteReader): boolean {
  const flag = reader.readU8();
  if (flag > 1) throw undecodable(`a flag of ${flag}`);
  return flag === 1;
}
