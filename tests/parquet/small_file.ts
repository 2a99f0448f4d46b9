/**
 * Parquet files of one column, made by hand for what no writer writes: wrong levels, wrong indices, wrong checksums.
 * Thrift's compact protocol is written as far as that needs it.
 */
import { crc32 } from "node:zlib";

/** A field: its id and value. Numbers are i32, bigints i64, texts binary; lists are of structures, texts or numbers. */
export type ThriftValue = number | bigint | string | boolean | ThriftStruct | readonly ThriftValue[];
/** Fields by id, in order. */
export type ThriftStruct = { readonly [id: number]: ThriftValue };

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return [...bytes, Number(value)];
}

function typeOf(value: ThriftValue): number {
  if (typeof value === "boolean") return value ? 1 : 2;
  if (typeof value === "number") return 5;
  if (typeof value === "bigint") return 6;
  if (typeof value === "string") return 8;
  return Array.isArray(value) ? 9 : 12;
}

function encodeValue(value: ThriftValue): number[] {
  if (typeof value === "boolean") return [];
  if (typeof value === "number" || typeof value === "bigint") {
    const big = BigInt(value);
    return varint(big < 0n ? -2n * big - 1n : 2n * big);
  }
  if (typeof value === "string") {
    const bytes = [...new TextEncoder().encode(value)];
    return [...varint(BigInt(bytes.length)), ...bytes];
  }
  if (Array.isArray(value)) {
    const list = value as readonly ThriftValue[];
    return [list.length << 4 | typeOf(list[0] ?? 0), ...list.flatMap(encodeValue)];
  }
  return encodeStruct(value as ThriftStruct);
}

/** The bytes of a structure; lists have fewer than 15 elements. */
export function encodeStruct(struct: ThriftStruct): number[] {
  const bytes: number[] = [];
  let last = 0;
  for (const [name, value] of Object.entries(struct)) {
    const id = Number(name);
    bytes.push(id - last << 4 | typeOf(value), ...encodeValue(value));
    last = id;
  }
  return [...bytes, 0];
}

/** A page: the fields of its header that are not computed, and its bytes. */
export interface SmallPage {
  readonly header: ThriftStruct;
  readonly body: readonly number[];
  /** Added to the checksum; absent: there is none. */
  readonly crcError?: number;
}

/** A file with one column, which is not compressed. */
export function smallFile(options: {
  /** The schema's element; `name` is "c". */
  readonly element: ThriftStruct;
  readonly pages: readonly SmallPage[];
  readonly rows: number;
  readonly values?: number;
  readonly physical: number;
  readonly codec?: number;
  readonly chunk?: ThriftStruct;
}): Uint8Array {
  const { element, pages, rows, physical, codec = 0 } = options;
  const bytes = [...new TextEncoder().encode("PAR1")];
  for (const { header, body, crcError } of pages) {
    const crc = crcError === undefined ? {} : { 4: crc32(Uint8Array.from(body)) + crcError | 0 };
    const whole = { 2: body.length, 3: body.length, ...crc, ...header };
    bytes.push(...encodeStruct(whole), ...body);
  }
  const chunkBytes = BigInt(bytes.length - 4);
  const footer = encodeStruct({
    1: 1,
    2: [{ 4: "root", 5: 1 }, element],
    3: BigInt(rows),
    4: [{
      1: [{
        2: 4n,
        3: {
          1: physical,
          2: [0],
          3: ["c"],
          4: codec,
          5: BigInt(options.values ?? rows),
          6: chunkBytes,
          7: chunkBytes,
          9: 4n,
        },
        ...options.chunk,
      }],
      2: chunkBytes,
      3: BigInt(rows),
    }],
  });
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, footer.length, true);
  return Uint8Array.from([...bytes, ...footer, ...length, ...new TextEncoder().encode("PAR1")]);
}
