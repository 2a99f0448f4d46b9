/**
 * SQL types as bytes: one byte for the kind, then what the kind takes.
 *
 * | kinds | then |
 * |---|---|
 * | `time timestamp timestamptz interval` | one byte: 0, or the digits of the seconds + 1 |
 * | `numeric` | one byte: bit 0 precision, bit 1 scale, bit 2 wide scale; as LEB128 |
 * | `varchar` | LEB128: 0, or the length + 1 |
 * | `char bytes` | LEB128 length |
 * | `array` | the element's type |
 * | `record` | LEB128 count; per field name and type |
 *
 * Invariant: the numbers of kinds never change; new kinds are added at the end.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import type { ByteReader, ByteWriter } from "../../../engine/base/bytes.ts";
import { LIMITS } from "../../../engine/base/limits.ts";
import { temporalPrecision } from "../../../engine/types/sql_type.ts";
import type { RecordField, SqlType, SqlTypeKind } from "../../../engine/types/sql_type.ts";
import { GATEWAY_LIMITS } from "../limits.ts";
import { undecodable } from "./undecodable.ts";

const KINDS: readonly SqlTypeKind[] = [
  "unknown",
  "bool",
  "i8",
  "i16",
  "i32",
  "i64",
  "u8",
  "u16",
  "u32",
  "u64",
  "f32",
  "f64",
  "numeric",
  "text",
  "varchar",
  "char",
  "name",
  "bytea",
  "bytes",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "json",
  "jsonb",
  "oid",
  "regclass",
  "regtype",
  "regproc",
  "regnamespace",
  "internal_char",
  "void",
  "array",
  "record",
  "jsonpath",
];

const KIND_NUMBERS: ReadonlyMap<SqlTypeKind, number> = new Map(KINDS.map((kind, index) => [kind, index]));

/** Appends a type. */
export function writeType(writer: ByteWriter, type: SqlType): void {
  // A client knows no enumerated types: it sees the labels.
  writer.writeU8(KIND_NUMBERS.get(type.kind === "enum" ? "text" : type.kind) ?? 0);
  switch (type.kind) {
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      // A client has no use for the fields of an interval's type.
      writer.writeU8((temporalPrecision(type) ?? -1) + 1);
      return;
    case "numeric": {
      const { precision, scale } = type;
      const isWide = "declaredScale" in type;
      writer.writeU8((precision === undefined ? 0 : 1) | (scale === undefined ? 0 : 2) | (isWide ? 4 : 0));
      if (precision !== undefined) writer.writeVarint(precision);
      if (scale !== undefined) writer.writeVarint(scale);
      if (isWide) writer.writeSignedVarint(type.declaredScale);
      return;
    }
    case "varchar":
      writer.writeVarint(type.length === undefined ? 0 : type.length + 1);
      return;
    case "char":
    case "bytes":
      writer.writeVarint(type.length);
      return;
    case "array":
      writeType(writer, type.element);
      return;
    case "record":
      writer.writeVarint(type.fields.length);
      for (const field of type.fields) {
        writer.writeText(field.name);
        writeType(writer, field.type);
      }
      return;
    default:
      return;
  }
}

/** Reads what {@link writeType} wrote. */
export function readType(reader: ByteReader, depth = 0): SqlType {
  if (depth > GATEWAY_LIMITS.maximumTypeDepth) throw undecodable("a type that is nested too deeply");
  const kind = KINDS[reader.readU8()];
  switch (kind) {
    case undefined:
    case "enum":
      throw undecodable("an unknown type");
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval": {
      const digits = reader.readU8();
      if (digits > 7) throw undecodable(`a ${kind} of ${digits - 1} digits`);
      return digits === 0 ? { kind } : { kind, precision: digits - 1 };
    }
    case "numeric": {
      const flags = reader.readU8();
      const precision = (flags & 1) === 0 ? undefined : bounded(reader.readVarint(), 100_000);
      const scale = (flags & 2) === 0 ? undefined : bounded(reader.readVarint(), 16_383);
      if ((flags & 4) !== 0) {
        const declaredScale = Number(reader.readSignedVarint());
        if (precision === undefined || scale !== undefined || Math.abs(declaredScale) > 1000) {
          throw undecodable("a numeric type that there is not");
        }
        return { kind, precision, declaredScale };
      }
      return {
        kind,
        ...(precision === undefined ? {} : { precision }),
        ...(scale === undefined ? {} : { scale }),
      };
    }
    case "varchar": {
      const length = bounded(reader.readVarint(), LIMITS.maximumCharacterLength + 1);
      return length === 0 ? { kind } : { kind, length: length - 1 };
    }
    case "char":
    case "bytes":
      return { kind, length: bounded(reader.readVarint(), LIMITS.maximumCharacterLength) };
    case "array":
      return { kind, element: readType(reader, depth + 1) };
    case "record": {
      const count = bounded(reader.readVarint(), LIMITS.maximumTableColumns);
      const fields: RecordField[] = [];
      for (let i = 0; i < count; i++) {
        fields.push({ name: reader.readText(), type: readType(reader, depth + 1) });
      }
      return { kind, fields };
    }
    case "unknown":
    case "bool":
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "f32":
    case "f64":
    case "text":
    case "name":
    case "bytea":
    case "date":
    case "uuid":
    case "json":
    case "jsonb":
    case "jsonpath":
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
    case "internal_char":
    case "void":
      return { kind };
    default:
      return unreachable(kind);
  }
}

function bounded(value: number, maximum: number): number {
  if (value > maximum) throw undecodable(`a length of ${value} in a type`);
  return value;
}
