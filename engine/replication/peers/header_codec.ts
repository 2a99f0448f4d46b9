/** The bytes of entry headers, as the superblock and the messages have them. */
import type { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { EntryHeader } from "../protocol/entry_header.ts";

const HAS_VIEW = 1;
const HAS_PREVIOUS_DIGEST = 2;

/** The error for bytes that are no message or superblock of this version. */
export function corruptedReplication(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `Cannot decode replication data: ${what}`);
}

/** Writes a header: op, flags, digest, and what is known besides. */
export function writeHeader(writer: ByteWriter, { op, view, digest, previousDigest }: EntryHeader): void {
  writer.writeVarint(op);
  writer.writeU8((view === null ? 0 : HAS_VIEW) | (previousDigest === null ? 0 : HAS_PREVIOUS_DIGEST));
  writer.writeU64(digest);
  if (view !== null) writer.writeVarint(view);
  if (previousDigest !== null) writer.writeU64(previousDigest);
}

/** Reads what `writeHeader` wrote; raises XX001. */
export function readHeader(reader: ByteReader): EntryHeader {
  const op = reader.readVarint();
  const flags = reader.readU8();
  if (flags > (HAS_VIEW | HAS_PREVIOUS_DIGEST)) throw corruptedReplication(`flags ${flags} of a header`);
  const digest = reader.readU64();
  const view = (flags & HAS_VIEW) === 0 ? null : reader.readVarint();
  const previousDigest = (flags & HAS_PREVIOUS_DIGEST) === 0 ? null : reader.readU64();
  return { op, view, digest, previousDigest };
}

/** Writes the number of headers and each of them. */
export function writeHeaders(writer: ByteWriter, headers: readonly EntryHeader[]): void {
  writer.writeVarint(headers.length);
  for (const header of headers) writeHeader(writer, header);
}

/** Reads what `writeHeaders` wrote; raises XX001. */
export function readHeaders(reader: ByteReader): EntryHeader[] {
  return readList(reader, () => readHeader(reader));
}

/** Reads a number of items and the items; a number that the rest cannot hold is damage. */
export function readList<T>(reader: ByteReader, readItem: () => T): T[] {
  const count = reader.readVarint();
  if (count > reader.remaining) throw corruptedReplication(`${count} items in ${reader.remaining} bytes`);
  return Array.from({ length: count }, readItem);
}
