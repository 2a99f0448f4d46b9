/**
 * The format of one file of the log, and reading it. `docs/storage.md` shows the bytes.
 *
 * A file `<first op, 16 hexadecimal digits>.log` is a header and records, then zeros written ahead. A record is a head
 * of 20 bytes (u32 payload length, u32 checksum, u64 op, u32 distance, all little-endian) and the payload. The checksum
 * is CRC-32C over op, distance and payload, seeded with the file's first op and the record's offset, so a record at a
 * wrong place is no record. `distance` is the record's op minus the last op that was durable when the record was
 * written: a whole record vouches that everything up to `op - distance` once was whole on the disk. A record without
 * payload is a seal: it repeats the last op at a clean close and vouches for all before it.
 *
 * Invariants: ops in a file are consecutive from the first; a file that has a successor is complete and durable.
 */
import { assert } from "../base/assert.ts";
import { checksumSeed, crc32c, shiftChecksum } from "../base/checksum.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { DiskFile } from "../host/disk.ts";

/** Bytes before the first record. */
export const LOG_HEADER_BYTES = 40;
/** Bytes of a record besides its payload. */
export const RECORD_HEAD_BYTES = 20;

const MAGIC = "dbd log\0";
const FORMAT_VERSION = 1;
const NAME_PATTERN = /^([0-9a-f]{16})\.log$/;
const WINDOW_BYTES = 1 << 20;
/** Summing so many bytes takes longer than deriving their checksum. */
const SHORT_PAYLOAD_BYTES = 1024;

/** Work that the search for records behind damage may do, in checksummed bytes. */
const SEARCH_BUDGET_BYTES = 2 ** 32;

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

/** The header of a file. */
export function encodeLogHeader(firstOp: number): Uint8Array {
  const bytes = new Uint8Array(LOG_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < 8; index++) bytes[index] = MAGIC.charCodeAt(index);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, LOG_HEADER_BYTES, true);
  view.setBigUint64(16, BigInt(firstOp), true);
  view.setUint32(36, crc32c(bytes, 0, 36), true);
  return bytes;
}

/** Whether the file begins with the header that its name calls for; raises 0A000 for a format of another release. */
export function hasLogHeader(file: DiskFile, firstOp: number): boolean {
  const found = new Uint8Array(LOG_HEADER_BYTES);
  if (file.readAt(0, found) < LOG_HEADER_BYTES) return false;
  const view = new DataView(found.buffer);
  if (view.getUint32(36, true) !== crc32c(found, 0, 36)) return false;
  for (let index = 0; index < 8; index++) if (found[index] !== MAGIC.charCodeAt(index)) return false;
  const version = view.getUint32(8, true);
  if (version !== FORMAT_VERSION) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `log file "${file.path}" has format version ${version}, this server reads ${FORMAT_VERSION}`,
    );
  }
  return view.getBigUint64(16, true) === BigInt(firstOp);
}

/**
 * Writes a record's head; the payload, whose own checksum is given, must be right behind it in the same array. The
 * record's checksum follows from that of a long payload; a short one is quicker summed again.
 */
export function sealRecord(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  record: {
    readonly op: number;
    readonly durableOp: number;
    readonly payloadBytes: number;
    readonly checksum: number;
    readonly firstOp: number;
    readonly position: number;
  },
): void {
  const { payloadBytes, checksum } = record;
  writeHead(view, at, record);
  const from = at + RECORD_HEAD_BYTES;
  const before = crc32c(bytes, at + 8, from, checksumSeed(record.firstOp, record.position));
  const sum = payloadBytes < SHORT_PAYLOAD_BYTES
    ? crc32c(bytes, from, from + payloadBytes, before)
    : (checksum ^ shiftChecksum(before, payloadBytes)) >>> 0;
  view.setUint32(at + 4, sum, true);
}

/** The head of a record whose payload is elsewhere and was summed on its own. */
export function detachedHead(
  payload: { readonly bytes: number; readonly checksum: number },
  record: {
    readonly op: number;
    readonly durableOp: number;
    readonly firstOp: number;
    readonly position: number;
  },
): Uint8Array {
  const head = new Uint8Array(RECORD_HEAD_BYTES);
  const view = new DataView(head.buffer);
  writeHead(view, 0, { ...record, payloadBytes: payload.bytes });
  const before = crc32c(head, 8, RECORD_HEAD_BYTES, checksumSeed(record.firstOp, record.position));
  view.setUint32(4, (payload.checksum ^ shiftChecksum(before, payload.bytes)) >>> 0, true);
  return head;
}

function writeHead(
  view: DataView,
  at: number,
  record: { readonly op: number; readonly durableOp: number; readonly payloadBytes: number },
): void {
  const { op, durableOp, payloadBytes } = record;
  view.setUint32(at, payloadBytes, true);
  const high = Math.floor(op / 0x1_0000_0000);
  view.setUint32(at + 8, op - high * 0x1_0000_0000, true);
  view.setUint32(at + 12, high, true);
  view.setUint32(at + 16, Math.min(op - durableOp, 0xffff_ffff), true);
}

/** A record as read. */
export interface LogRecord {
  readonly op: number;
  /** Everything up to this op was durable when the record was written. */
  readonly vouchedOp: number;
  /** A view that is good until the next read; empty for a seal. */
  readonly payload: Uint8Array;
  /** Offset of what follows. */
  readonly end: number;
}

/** What a walk over a file's records found. */
export interface LogFileScan {
  /** Last op in the file, or its first op minus 1. */
  readonly lastOp: number;
  /** Offset behind the last whole record. */
  readonly end: number;
  /** Whether the last record is a seal. */
  readonly sealed: boolean;
  /** Bytes of the records with ops beyond the one asked for, heads included, seals not. */
  readonly countedBytes: number;
  /** Offset behind the last record that is not counted: of the header when all are. */
  readonly countedFrom: number;
}

/** Reads the records of one file through a window. */
export class LogFileReader {
  readonly file: DiskFile;
  readonly firstOp: number;
  #window = new Uint8Array(WINDOW_BYTES);
  #view = new DataView(this.#window.buffer);
  #start = 0;
  #count = 0;

  constructor(file: DiskFile, firstOp: number) {
    this.file = file;
    this.firstOp = firstOp;
  }

  /** Index in the window of that range of the file, or -1 when the file is shorter. */
  #load(position: number, byteCount: number): number {
    if (position >= this.#start && position + byteCount <= this.#start + this.#count) {
      return position - this.#start;
    }
    if (position + byteCount > this.file.size) return -1;
    if (byteCount > this.#window.length) {
      this.#window = new Uint8Array(byteCount);
      this.#view = new DataView(this.#window.buffer);
    }
    this.#start = position;
    this.#count = this.file.readAt(position, this.#window);
    return byteCount <= this.#count ? 0 : -1;
  }

  /** The record at an offset, or undefined when none is there. */
  recordAt(position: number, minimumOp = this.firstOp): LogRecord | undefined {
    const head = this.#load(position, RECORD_HEAD_BYTES);
    if (head < 0) return undefined;
    const view = this.#view;
    const payloadBytes = view.getUint32(head, true);
    const op = view.getUint32(head + 8, true) + view.getUint32(head + 12, true) * 0x1_0000_0000;
    const distance = view.getUint32(head + 16, true);
    if (op < minimumOp || op > Number.MAX_SAFE_INTEGER || distance > op) return undefined;
    if (payloadBytes > LIMITS.maximumEntryBytes) return undefined;
    const checksum = view.getUint32(head + 4, true);
    const end = position + RECORD_HEAD_BYTES + payloadBytes;
    const at = this.#load(position, RECORD_HEAD_BYTES + payloadBytes);
    if (at < 0) return undefined;
    const seed = checksumSeed(this.firstOp, position);
    const from = at + RECORD_HEAD_BYTES;
    if (crc32c(this.#window, at + 8, from + payloadBytes, seed) !== checksum) return undefined;
    return { op, vouchedOp: op - distance, payload: this.#window.subarray(from, from + payloadBytes), end };
  }

  /**
   * What the head at an offset says, if it says that it is of this op, or a seal behind the one before, and fits into
   * the file; nothing vouches for it.
   */
  #headAt(position: number, op: number): { readonly end: number; readonly isSeal: boolean } | null {
    const head = this.#load(position, RECORD_HEAD_BYTES);
    if (head < 0) return null;
    const payloadBytes = this.#view.getUint32(head, true);
    const found = this.#view.getUint32(head + 8, true) +
      this.#view.getUint32(head + 12, true) * 0x1_0000_0000;
    const end = position + RECORD_HEAD_BYTES + payloadBytes;
    const isSeal = payloadBytes === 0;
    if (found !== (isSeal ? op - 1 : op) || end > this.file.size) return null;
    return { end, isSeal };
  }

  /** Whether the file seems to begin with its first record. */
  seemsBegun(): boolean {
    const head = this.#headAt(LOG_HEADER_BYTES, this.firstOp);
    return head !== null && !head.isSeal;
  }

  /**
   * The offset of the record of this op, found by the heads of those before it, whose payloads are not read; -1: not
   * so. The record itself verifies, and its checksum is of its place as well.
   */
  #find(op: number): number {
    let position = LOG_HEADER_BYTES;
    for (let next = this.firstOp; next < op;) {
      const head = this.#headAt(position, next);
      if (head === null) return -1;
      if (!head.isSeal) next++;
      position = head.end;
    }
    for (;;) {
      const record = this.recordAt(position);
      if (record === undefined) return -1;
      if (record.payload.length > 0) return record.op === op ? position : -1;
      position = record.end;
    }
  }

  /**
   * Walks over the whole records from the start of the file; those up to the one asked for are not read but for their
   * heads.
   */
  scan(countAfterOp: number): LogFileScan {
    const known = countAfterOp > this.firstOp ? this.#find(countAfterOp) : -1;
    let lastOp = known < 0 ? this.firstOp - 1 : countAfterOp - 1;
    let end = known < 0 ? LOG_HEADER_BYTES : known;
    let countedFrom = end;
    let sealed = false;
    let countedBytes = 0;
    for (;;) {
      const record = this.recordAt(end);
      if (record === undefined) break;
      sealed = record.payload.length === 0;
      if (record.op !== (sealed ? lastOp : lastOp + 1)) break;
      if (!sealed && record.op > countAfterOp) countedBytes += record.end - end;
      lastOp = record.op;
      end = record.end;
      if (lastOp <= countAfterOp) countedFrom = end;
    }
    return { lastOp, end, sealed, countedBytes, countedFrom };
  }

  /** Whether only zeros follow an offset. */
  isZeroFrom(position: number): boolean {
    const piece = new Uint8Array(WINDOW_BYTES);
    for (let at = position; at < this.file.size; at += piece.length) {
      const count = this.file.readAt(at, piece);
      for (let index = 0; index < count; index++) if (piece[index] !== 0) return false;
      if (count < piece.length) break;
    }
    return true;
  }

  /**
   * Whether a whole record behind the offset vouches that `op` had become durable. If so, its absence is damage; if
   * not, the bytes there are what a crash left of writes that were never acknowledged.
   */
  isVouchedBehind(position: number, op: number): boolean {
    if (this.isZeroFrom(position)) return false;
    let budget = SEARCH_BUDGET_BYTES;
    for (let at = position; at + RECORD_HEAD_BYTES <= this.file.size; at++) {
      const record = this.recordAt(at, Math.max(op, 1));
      if (record !== undefined) {
        if (record.vouchedOp >= op) return true;
        at = record.end - 1;
        budget -= record.payload.length;
      }
      budget--;
      if (budget < 0) return true;
    }
    return false;
  }

  /** The damage at an offset as an error. */
  damage(position: number, what: string): DatabaseError {
    return logDamage(this.file.path, position, what);
  }
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
