/**
 * The file in which a checkpoint keeps the deletion vectors of a table's segments: which rows had ended at its op
 * number.
 *
 *     magic "DBDEL\0\0\1", varint segment count; per segment varint op, varint object, varint count, then the rows
 *     ascending as varint differences; u32 CRC-32C over all before it, seeded with the table id
 */
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { checksumSeed, crc32c } from "../../base/checksum.ts";
import { DamagedFileError } from "./damaged_file.ts";

const MAGIC = Uint8Array.of(0x44, 0x42, 0x44, 0x45, 0x4c, 0, 0, 1);

/** The ended rows of one segment. */
export interface SegmentDeletions {
  readonly op: number;
  readonly object: number;
  readonly rows: Uint32Array;
}

/** Rows encoded between two yields. */
const STEP_ROWS = 16384;

/** Encodes the file, in steps. */
export function* encodeDeletions(
  tableId: number,
  segments: readonly SegmentDeletions[],
): Generator<void, Uint8Array> {
  const writer = new ByteWriter(1024);
  writer.writeBytes(MAGIC);
  writer.writeVarint(segments.length);
  for (const segment of segments) {
    writer.writeVarint(segment.op);
    writer.writeVarint(segment.object);
    writer.writeVarint(segment.rows.length);
    let previous = 0;
    for (const [index, row] of segment.rows.entries()) {
      writer.writeVarint(row - previous);
      previous = row;
      if (index % STEP_ROWS === STEP_ROWS - 1) yield;
    }
  }
  const body = writer.view();
  const checksum = crc32c(body, 0, body.length, checksumSeed(tableId, body.length));
  writer.writeU32(checksum);
  return writer.finish();
}

/** Decodes the file; damage raises XX001. */
export function decodeDeletions(tableId: number, path: string, bytes: Uint8Array): SegmentDeletions[] {
  const bodyLength = bytes.length - 4;
  if (bodyLength < MAGIC.length + 1) throw new DamagedFileError(path, bytes.length, "the file is too short");
  const expected = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bodyLength, true);
  if (crc32c(bytes, 0, bodyLength, checksumSeed(tableId, bodyLength)) !== expected) {
    throw new DamagedFileError(path, 0, "the checksum of the deletion vectors does not match");
  }
  const reader = new ByteReader(bytes, 0, bodyLength);
  reader.skip(MAGIC.length);
  const segments: SegmentDeletions[] = [];
  for (let left = reader.readVarint(); left > 0; left--) {
    const op = reader.readVarint();
    const object = reader.readVarint();
    const count = reader.readVarint();
    const rows = new Uint32Array(count);
    let row = 0;
    for (let index = 0; index < count; index++) rows[index] = row += reader.readVarint();
    segments.push({ op, object, rows });
  }
  reader.expectEnd();
  return segments;
}
