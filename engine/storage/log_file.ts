/**
 * The format of one file of the log. `docs/storage.md` shows the bytes.
 *
 * A file `<first op, 16 hexadecimal digits>.log` is a header and records, then zeros written ahead. A record is a
 * head and the payload. The head of 20 bytes is u32 payload length, u32 checksum, u64 op, u32 distance, all
 * little-endian; that of a member of a replication group goes on with u64 view and u64 digest of the log before the
 * record. The checksum is CRC-32C over all that follows it, seeded with the file's first op and the record's
 * offset, so a record at a wrong place is no record; a member's is over the payload first, so that it gives the
 * payload's own. `distance` is the record's op minus the last op that was durable when the record was written: a
 * whole record vouches that everything up to `op - distance` once was whole on the disk. A record without payload
 * is a seal: it repeats the last op at a clean close and vouches for all before it.
 *
 * Invariants: ops in a file are consecutive from the first; a file that has a successor is complete and durable.
 */
import { assert } from "../base/assert.ts";
import { checksumSeed, crc32c, shiftChecksum } from "../base/checksum.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { DiskFile } from "../host/disk.ts";
import type { HistoryDigest } from "../operations/history_digest.ts";

const HEADER_BYTES = 40;

/** What the version in a file's header decides. */
export interface LogFormat {
  readonly version: number;
  /** Bytes of a record besides its payload. */
  readonly headBytes: number;
  /** Offset of the first record. */
  readonly recordsStart: number;
  /** Whether it is that of a member of a replication group. */
  readonly isMember: boolean;
}

/** The files of a server that is alone. */
export const SINGLE_FORMAT: LogFormat = { version: 1, headBytes: 20, recordsStart: 40, isMember: false };
/** Those that begin with an entry in parts; see `log_part.ts`. All else of them is as in the others. */
export const PARTED_FORMAT: LogFormat = { ...SINGLE_FORMAT, version: 4 };
/** The files of a member of a replication group. */
export const MEMBER_FORMAT: LogFormat = { version: 3, headBytes: 36, recordsStart: 4096, isMember: true };
/** Those of before there were marks. */
export const UNMARKED_FORMAT: LogFormat = { version: 2, headBytes: 36, recordsStart: 40, isMember: true };

/** The format that members begin new files in while a version of the cluster is active. */
export function memberFormatOf(clusterVersion: number): LogFormat {
  return clusterVersion < 2 ? UNMARKED_FORMAT : MEMBER_FORMAT;
}

const FORMATS = [SINGLE_FORMAT, UNMARKED_FORMAT, MEMBER_FORMAT, PARTED_FORMAT];

const MAGIC = "dbd log\0";
const NAME_PATTERN = /^([0-9a-f]{16})\.log$/;
/** Summing so many bytes takes longer than deriving their checksum. */
const SHORT_PAYLOAD_BYTES = 1024;

/** Name of the file whose first record is this op. */
export function logFileName(firstOp: number): string {
  return `${firstOp.toString(16).padStart(16, "0")}.log`;
}

/** First op of a file by its name; undefined for other files. */
export function firstOpOfName(name: string): number | undefined {
  const digits = NAME_PATTERN.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const op = Number.parseInt(digits, 16);
  return Number.isSafeInteger(op) && op > 0 ? op : undefined;
}

/** What the header of a file says. */
export interface LogHeader {
  readonly format: LogFormat;
  /** The digest of the log before the file; {@link UNKNOWN_DIGEST} where the format has none. */
  readonly digest: bigint;
}

/** Stands in a header for a digest that is not known. */
export const UNKNOWN_DIGEST = 0n;

/** The header of a file. */
export function encodeLogHeader(firstOp: number, { format, digest }: LogHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < 8; index++) bytes[index] = MAGIC.charCodeAt(index);
  view.setUint32(8, format.version, true);
  view.setUint32(12, format.recordsStart, true);
  view.setBigUint64(16, BigInt(firstOp), true);
  view.setBigUint64(24, digest, true);
  view.setUint32(36, crc32c(bytes, 0, 36), true);
  return bytes;
}

/**
 * The header that a file begins with; null if it is not whole, or not that of its name. Raises 0A000 for other
 * formats.
 */
export function readLogHeader(file: DiskFile, firstOp: number): LogHeader | null {
  const found = new Uint8Array(HEADER_BYTES);
  if (file.readAt(0, found) < HEADER_BYTES) return null;
  const view = new DataView(found.buffer);
  if (view.getUint32(36, true) !== crc32c(found, 0, 36)) return null;
  for (let index = 0; index < 8; index++) if (found[index] !== MAGIC.charCodeAt(index)) return null;
  const version = view.getUint32(8, true);
  const format = FORMATS.find((each) => each.version === version);
  if (format === undefined) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `log file "${file.path}" has format version ${version}, this server reads 1 to 4`,
    );
  }
  if (view.getBigUint64(16, true) !== BigInt(firstOp)) return null;
  return { format, digest: view.getBigUint64(24, true) };
}

/** What a head says. */
export interface RecordHead {
  readonly op: number;
  readonly durableOp: number;
  readonly payloadBytes: number;
  /** The payload's own checksum. */
  readonly checksum: number;
  readonly firstOp: number;
  readonly position: number;
  /** Of a member's record only. */
  readonly view: number;
  /** The digest before the record; of a member's only. */
  readonly digest: HistoryDigest | null;
}

/** Writes a record's head in front of its payload, which is in the same array. */
export function sealRecord(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  format: LogFormat,
  record: RecordHead,
): void {
  const { payloadBytes } = record;
  if (format.isMember || payloadBytes >= SHORT_PAYLOAD_BYTES) {
    writeSummedHead(bytes, view, at, format, record);
    return;
  }
  writeHead(view, at, record);
  const seed = checksumSeed(record.firstOp, record.position);
  view.setUint32(at + 4, crc32c(bytes, at + 8, at + format.headBytes + payloadBytes, seed), true);
}

/** The head of a record whose payload is elsewhere. */
export function detachedHead(format: LogFormat, record: RecordHead): Uint8Array {
  const head = new Uint8Array(format.headBytes);
  writeSummedHead(head, new DataView(head.buffer), 0, format, record);
  return head;
}

/** A head whose checksum follows from that of the payload. */
function writeSummedHead(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  format: LogFormat,
  record: RecordHead,
): void {
  writeHead(view, at, record);
  const { checksum, payloadBytes, digest } = record;
  const seed = checksumSeed(record.firstOp, record.position);
  if (format.isMember) {
    assert(digest !== null, "a member's record has a digest");
    setUint53(view, at + 20, record.view);
    view.setUint32(at + 28, digest.low, true);
    view.setUint32(at + 32, digest.high, true);
    view.setUint32(at + 4, memberChecksum(bytes, at, checksum, seed), true);
    return;
  }
  const before = crc32c(bytes, at + 8, at + format.headBytes, seed);
  view.setUint32(at + 4, (checksum ^ shiftChecksum(before, payloadBytes)) >>> 0, true);
}

/** The checksum in a member's head, from its payload's. */
export function memberChecksum(bytes: Uint8Array, at: number, payload: number, seed: number): number {
  return crc32c(bytes, at + 8, at + MEMBER_FORMAT.headBytes, (payload ^ seed) >>> 0);
}

/** Writes what comes before the rest of a head, but for the checksum. */
export function writeHead(view: DataView, at: number, { op, durableOp, payloadBytes }: RecordHead): void {
  view.setUint32(at, payloadBytes, true);
  setUint53(view, at + 8, op);
  view.setUint32(at + 16, Math.min(op - durableOp, 0xffff_ffff), true);
}

function setUint53(view: DataView, at: number, value: number): void {
  const high = Math.floor(value / 0x1_0000_0000);
  view.setUint32(at, value - high * 0x1_0000_0000, true);
  view.setUint32(at + 4, high, true);
}

/** The error for a log file that does not hold what it once held. */
export function logDamage(path: string, position: number, what: string): DatabaseError {
  assert(position >= 0, `offset ${position}`);
  return new DatabaseError(
    SQLSTATE.dataCorrupted,
    `log file "${path}" is damaged at byte offset ${position}: ${what}`,
    { hint: "Restore the data directory from a snapshot, or from another member of the cluster." },
  );
}
