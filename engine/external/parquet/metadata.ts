/**
 * The footer of a Parquet file and the headers of its pages, as the format's `parquet.thrift` defines them: the fields
 * that reading needs.
 *
 * Everything here is as the file says it. `schema.ts` and `column_chunk.ts` hold it to what it must be.
 */
import { PARQUET_LIMITS } from "./limits.ts";
import type { FilePosition } from "./parquet_error.ts";
import { THRIFT, ThriftError, ThriftReader } from "./thrift.ts";

/** Physical types, by their numbers. */
export const PHYSICAL_TYPES = [
  "BOOLEAN",
  "INT32",
  "INT64",
  "INT96",
  "FLOAT",
  "DOUBLE",
  "BYTE_ARRAY",
  "FIXED_LEN_BYTE_ARRAY",
] as const;

/** See {@link PHYSICAL_TYPES}. */
export type PhysicalName = typeof PHYSICAL_TYPES[number];

/** Compression codecs, by their numbers. */
export const CODECS = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"] as const;

/** See {@link CODECS}. */
export type CodecName = typeof CODECS[number];

/** Encodings, by their numbers. */
export const ENCODINGS = [
  "PLAIN",
  "GROUP_VAR_INT",
  "PLAIN_DICTIONARY",
  "RLE",
  "BIT_PACKED",
  "DELTA_BINARY_PACKED",
  "DELTA_LENGTH_BYTE_ARRAY",
  "DELTA_BYTE_ARRAY",
  "RLE_DICTIONARY",
  "BYTE_STREAM_SPLIT",
] as const;

/** See {@link ENCODINGS}. */
export type EncodingName = typeof ENCODINGS[number];

/** What values mean, in the terms of logical types; older files say it with converted types, which are translated. */
export type Annotation =
  | {
    readonly kind:
      | "string"
      | "map"
      | "map_key_value"
      | "list"
      | "enum"
      | "date"
      | "json"
      | "bson"
      | "uuid"
      | "float16"
      | "interval"
      | "null"
      | "variant"
      | "geometry"
      | "geography";
  }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly kind: "time" | "timestamp"; readonly unit: TimeUnit; readonly isUtc: boolean }
  | { readonly kind: "integer"; readonly bits: number; readonly isSigned: boolean }
  /** One that a later version of the format has. */
  | { readonly kind: "unknown"; readonly number: number };

/** Units of times. */
export type TimeUnit = "milliseconds" | "microseconds" | "nanoseconds";

/** An element of the schema, which is the tree in the order of its nodes, parents first. */
export interface SchemaElement {
  readonly name: string;
  readonly type: number | null;
  readonly typeLength: number;
  /** 0 required, 1 optional, 2 repeated; null for the root. */
  readonly repetition: number | null;
  readonly children: number;
  readonly annotation: Annotation | null;
}

/** A column in a row group. */
export interface ColumnChunk {
  readonly isElsewhere: boolean;
  readonly isEncrypted: boolean;
  readonly type: number;
  readonly codec: number;
  readonly path: readonly string[];
  readonly valueCount: number;
  readonly compressedBytes: number;
  readonly dataPageOffset: number;
  readonly dictionaryPageOffset: number;
}

/** A row group. */
export interface RowGroup {
  readonly rowCount: number;
  readonly columns: readonly ColumnChunk[];
}

/** The footer. */
export interface FileMetadata {
  readonly rowCount: number;
  readonly schema: readonly SchemaElement[];
  readonly rowGroups: readonly RowGroup[];
  readonly isEncrypted: boolean;
}

/** A page's header; `bytes` is its own length. */
export interface PageHeader {
  readonly bytes: number;
  readonly kind: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  readonly crc: number | null;
  readonly valueCount: number;
  readonly encoding: number;
  readonly definitionEncoding: number;
  readonly repetitionEncoding: number;
  /** Only of version 2: the levels' bytes, which are not compressed. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

/** Kinds of pages. */
export const PAGE = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;

/** Reads the footer. Raises 22P04. */
export function readFileMetadata(bytes: Uint8Array, position: FilePosition): FileMetadata {
  try {
    return fileMetadata(new ThriftReader(bytes, 0, bytes.length));
  } catch (error) {
    if (error instanceof ThriftError) throw position.damaged(`its footer is damaged: ${error.message}`);
    throw error;
  }
}

function fileMetadata(reader: ThriftReader): FileMetadata {
  const schema: SchemaElement[] = [];
  const rowGroups: RowGroup[] = [];
  let rowCount = 0, chunks = 0, isEncrypted = false;
  reader.struct((id, type) => {
    if (id === 2) {
      reader.expect(type, THRIFT.list);
      reader.list(() => {
        if (schema.length === PARQUET_LIMITS.maximumSchemaElements) {
          throw new ThriftError("its schema is too large");
        }
        schema.push(schemaElement(reader));
      });
    } else if (id === 3) rowCount = reader.number(type);
    else if (id === 4) {
      reader.expect(type, THRIFT.list);
      reader.list(() => {
        const group = rowGroup(reader);
        chunks += group.columns.length;
        rowGroups.push(group);
        if (
          chunks > PARQUET_LIMITS.maximumColumnChunks || rowGroups.length > PARQUET_LIMITS.maximumColumnChunks
        ) {
          throw new ThriftError("it has too many column chunks");
        }
      });
    } else {
      if (id === 8) isEncrypted = true;
      return false;
    }
    return true;
  });
  return { rowCount, schema, rowGroups, isEncrypted };
}

function schemaElement(reader: ThriftReader): SchemaElement {
  let type: number | null = null, repetition: number | null = null, converted: number | null = null;
  let typeLength = 0, children = 0, scale = 0, precision = 0, name = "";
  let logical: Annotation | null = null;
  reader.struct((id, kind) => {
    if (id === 1) type = reader.number(kind);
    else if (id === 2) typeLength = reader.number(kind);
    else if (id === 3) repetition = reader.number(kind);
    else if (id === 4) name = reader.text(kind);
    else if (id === 5) children = reader.number(kind);
    else if (id === 6) converted = reader.number(kind);
    else if (id === 7) scale = reader.number(kind);
    else if (id === 8) precision = reader.number(kind);
    else if (id === 10) {
      reader.expect(kind, THRIFT.struct);
      logical = logicalType(reader);
    } else return false;
    return true;
  });
  const annotation = logical ?? (converted === null ? null : convertedType(converted, precision, scale));
  return { name, type, typeLength, repetition, children, annotation };
}

/** Kinds without parameters. */
type SimpleKind = Exclude<Annotation["kind"], "decimal" | "time" | "timestamp" | "integer" | "unknown">;

const LOGICAL_KINDS: ReadonlyMap<number, SimpleKind> = new Map<number, SimpleKind>([
  [1, "string"],
  [2, "map"],
  [3, "list"],
  [4, "enum"],
  [6, "date"],
  [11, "null"],
  [12, "json"],
  [13, "bson"],
  [14, "uuid"],
  [15, "float16"],
  [16, "variant"],
  [17, "geometry"],
  [18, "geography"],
]);

function logicalType(reader: ThriftReader): Annotation | null {
  let result: Annotation | null = null;
  reader.struct((id, type) => {
    reader.expect(type, THRIFT.struct);
    if (id === 5) result = decimalType(reader);
    else if (id === 7) result = timeType(reader, "time");
    else if (id === 8) result = timeType(reader, "timestamp");
    else if (id === 10) result = integerType(reader);
    else {
      const kind = LOGICAL_KINDS.get(id);
      result = kind === undefined ? { kind: "unknown", number: id } : { kind };
      return false;
    }
    return true;
  });
  return result;
}

function decimalType(reader: ThriftReader): Annotation {
  let scale = 0, precision = 0;
  reader.struct((id, type) => {
    if (id === 1) scale = reader.number(type);
    else if (id === 2) precision = reader.number(type);
    else return false;
    return true;
  });
  return { kind: "decimal", precision, scale };
}

function timeType(reader: ThriftReader, kind: "time" | "timestamp"): Annotation {
  let isUtc = false;
  let unit: TimeUnit = "milliseconds";
  reader.struct((id, type) => {
    if (id === 1) isUtc = reader.boolean(type);
    else if (id === 2) {
      reader.expect(type, THRIFT.struct);
      reader.struct((which) => {
        unit = which === 3 ? "nanoseconds" : which === 2 ? "microseconds" : "milliseconds";
        return false;
      });
    } else return false;
    return true;
  });
  return { kind, unit, isUtc };
}

function integerType(reader: ThriftReader): Annotation {
  let bits = 32, isSigned = true;
  reader.struct((id, type) => {
    if (id === 1) bits = reader.number(type);
    else if (id === 2) isSigned = reader.boolean(type);
    else return false;
    return true;
  });
  return { kind: "integer", bits, isSigned };
}

function convertedType(converted: number, precision: number, scale: number): Annotation {
  switch (converted) {
    case 0:
      return { kind: "string" };
    case 1:
      return { kind: "map" };
    case 2:
      return { kind: "map_key_value" };
    case 3:
      return { kind: "list" };
    case 4:
      return { kind: "enum" };
    case 5:
      return { kind: "decimal", precision, scale };
    case 6:
      return { kind: "date" };
    case 7:
    case 8:
      return { kind: "time", unit: converted === 7 ? "milliseconds" : "microseconds", isUtc: true };
    case 9:
    case 10:
      return { kind: "timestamp", unit: converted === 9 ? "milliseconds" : "microseconds", isUtc: true };
    case 19:
      return { kind: "json" };
    case 20:
      return { kind: "bson" };
    case 21:
      return { kind: "interval" };
    default:
      if (converted >= 11 && converted <= 18) {
        return { kind: "integer", bits: 8 << (converted - 11) % 4, isSigned: converted >= 15 };
      }
      return { kind: "unknown", number: converted };
  }
}

function rowGroup(reader: ThriftReader): RowGroup {
  const columns: ColumnChunk[] = [];
  let rowCount = 0;
  reader.struct((id, type) => {
    if (id === 1) {
      reader.expect(type, THRIFT.list);
      reader.list(() => {
        if (columns.length === PARQUET_LIMITS.maximumColumnChunks) {
          throw new ThriftError("it has too many column chunks");
        }
        columns.push(columnChunk(reader));
      });
    } else if (id === 3) rowCount = reader.number(type);
    else return false;
    return true;
  });
  return { rowCount, columns };
}

function columnChunk(reader: ThriftReader): ColumnChunk {
  let isElsewhere = false, isEncrypted = false, hasMetadata = false;
  let type = -1,
    codec = -1,
    valueCount = 0,
    compressedBytes = 0,
    dataPageOffset = 0,
    dictionaryPageOffset = 0;
  const path: string[] = [];
  const metadata = (id: number, kind: number): boolean => {
    if (id === 1) type = reader.number(kind);
    else if (id === 3) {
      reader.expect(kind, THRIFT.list);
      reader.list((element) => path.push(reader.text(element)));
    } else if (id === 4) codec = reader.number(kind);
    else if (id === 5) valueCount = reader.number(kind);
    else if (id === 7) compressedBytes = reader.number(kind);
    else if (id === 9) dataPageOffset = reader.number(kind);
    else if (id === 11) dictionaryPageOffset = reader.number(kind);
    else return false;
    return true;
  };
  reader.struct((id, kind) => {
    if (id === 1) isElsewhere = true;
    else if (id === 8 || id === 9) isEncrypted = true;
    else if (id === 3) {
      reader.expect(kind, THRIFT.struct);
      reader.struct(metadata);
      hasMetadata = true;
      return true;
    }
    return false;
  });
  if (!hasMetadata && !isEncrypted) throw new ThriftError("a column chunk has no metadata");
  return {
    isElsewhere,
    isEncrypted,
    type,
    codec,
    path,
    valueCount,
    compressedBytes,
    dataPageOffset,
    dictionaryPageOffset,
  };
}

/** Reads a page's header from `start`. Raises {@link ThriftError}. */
export function readPageHeader(bytes: Uint8Array, start: number, end: number): PageHeader {
  const reader = new ThriftReader(bytes, start, end);
  let kind = -1, uncompressedBytes = -1, compressedBytes = -1, valueCount = -1, encoding = -1;
  let definitionEncoding = 3, repetitionEncoding = 3, definitionBytes = 0, repetitionBytes = 0;
  let crc: number | null = null, isCompressed = true;
  const data = (id: number, type: number): boolean => {
    if (id === 1) valueCount = reader.number(type);
    else if (id === 2) encoding = reader.number(type);
    else if (id === 3) definitionEncoding = reader.number(type);
    else if (id === 4) repetitionEncoding = reader.number(type);
    else return false;
    return true;
  };
  const dictionary = (id: number, type: number): boolean => {
    if (id === 1) valueCount = reader.number(type);
    else if (id === 2) encoding = reader.number(type);
    else return false;
    return true;
  };
  const dataV2 = (id: number, type: number): boolean => {
    if (id === 1) valueCount = reader.number(type);
    else if (id === 4) encoding = reader.number(type);
    else if (id === 5) definitionBytes = reader.number(type);
    else if (id === 6) repetitionBytes = reader.number(type);
    else if (id === 7) isCompressed = reader.boolean(type);
    else return false;
    return true;
  };
  reader.struct((id, type) => {
    if (id === 1) kind = reader.number(type);
    else if (id === 2) uncompressedBytes = reader.number(type);
    else if (id === 3) compressedBytes = reader.number(type);
    else if (id === 4) crc = reader.number(type);
    else if (id === 5 || id === 7 || id === 8) {
      reader.expect(type, THRIFT.struct);
      reader.struct(id === 5 ? data : id === 7 ? dictionary : dataV2);
    } else return false;
    return true;
  });
  return {
    bytes: reader.position - start,
    kind,
    uncompressedBytes,
    compressedBytes,
    crc,
    valueCount,
    encoding,
    definitionEncoding,
    repetitionEncoding,
    definitionBytes,
    repetitionBytes,
    isCompressed,
  };
}
