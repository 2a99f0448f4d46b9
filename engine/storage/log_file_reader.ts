/** Reads the records of one file of the log, whole ones or what is left of them. */
import { checksumSeed, crc32c, shiftChecksum } from "../base/checksum.ts";
import type { DatabaseError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { DiskFile } from "../host/disk.ts";
import { logDamage, type LogFormat, memberChecksum } from "./log_file.ts";
import { endOfParts, type LogPart, partAt, readParts } from "./log_part.ts";
import { BlockChecksums, StoredPayload } from "./stored_payload.ts";

const WINDOW_BYTES = 1 << 20;

/** Offsets at which the search for records behind damage may look in vain. */
const SEARCH_BUDGET = 2 ** 32;

/** A record as read. */
export interface LogRecord {
  readonly op: number;
  /** Everything up to this op was durable when the record was written. */
  readonly vouchedOp: number;
  /** A view that is good until the next read; empty for a seal. One that is longer than a window is read now. */
  readonly payload: Uint8Array;
  /** The payload of one that is longer than a window, proven, while the file is open; null for others. */
  readonly stored: StoredPayload | null;
  /** Bytes of the payload. */
  readonly payloadBytes: number;
  /** Offset of what follows. */
  readonly end: number;
  /** What a member's record says besides; null for others. */
  readonly name: RecordName | null;
}

/** How a member's record names its entry. */
export interface RecordName {
  readonly view: number;
  /** The digest of the log before it. */
  readonly digest: bigint;
  /** The payload's own checksum. */
  readonly checksum: number;
}

/** A record and where it is. */
export interface PlacedRecord {
  readonly record: LogRecord;
  readonly position: number;
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
  /** What the last record vouches for; 0 without one. */
  readonly vouchedOp: number;
}

/** Reads the records of one file through a window. */
export class LogFileReader {
  readonly file: DiskFile;
  readonly firstOp: number;
  /** That of the file. */
  readonly format: LogFormat;
  #window: Uint8Array;
  #view: DataView;
  #start = 0;
  #count = 0;
  /** Nothing is read from here on: what a log that is being written has not handed to the file. */
  end = Infinity;

  constructor(file: DiskFile, firstOp: number, format: LogFormat, windowBytes = WINDOW_BYTES) {
    this.file = file;
    this.firstOp = firstOp;
    this.format = format;
    this.#window = new Uint8Array(windowBytes);
    this.#view = new DataView(this.#window.buffer);
  }

  /** Index in the window of that range of the file, or -1 when the file is shorter. */
  #load(position: number, byteCount: number): number {
    if (position >= this.#start && position + byteCount <= this.#start + this.#count) {
      return position - this.#start;
    }
    const end = Math.min(this.end, this.file.size);
    if (position + byteCount > end) return -1;
    if (byteCount > this.#window.length) {
      this.#window = new Uint8Array(byteCount);
      this.#view = new DataView(this.#window.buffer);
    }
    this.#start = position;
    this.#count = this.file.readAt(
      position,
      this.#window.subarray(0, Math.min(this.#window.length, end - position)),
    );
    return byteCount <= this.#count ? 0 : -1;
  }

  /**
   * The record at an offset, or undefined when none is there: that of all parts of an entry, or of a single one if it
   * is asked for.
   */
  recordAt(
    position: number,
    minimumOp = this.firstOp,
    part: "all" | "single" = "all",
  ): LogRecord | undefined {
    const { headBytes } = this.format;
    const head = this.#load(position, headBytes);
    if (head < 0) return undefined;
    const view = this.#view;
    const payloadBytes = view.getUint32(head, true);
    const op = getUint64(view, head + 8);
    const distance = view.getUint32(head + 16, true);
    if (op < minimumOp || op > Number.MAX_SAFE_INTEGER || distance > op) return undefined;
    if (payloadBytes > LIMITS.maximumEntryBytes) {
      if (this.format.isMember) return undefined;
      return part === "all" ? this.#partsAt(position) : this.#singlePartAt(position);
    }
    const checksum = view.getUint32(head + 4, true);
    const end = position + headBytes + payloadBytes;
    const vouchedOp = op - distance;
    if (headBytes + payloadBytes > this.#window.length) {
      const found = this.#sumLong(position, payloadBytes);
      if (found?.checksum !== checksum) return undefined;
      const payload = () => this.#payloadAt(position + headBytes, payloadBytes);
      const { name, blocks } = found;
      const { file } = this;
      const place = { op, path: file.path, position: position + headBytes, bytes: payloadBytes };
      return {
        op,
        vouchedOp,
        payloadBytes,
        end,
        name,
        stored: new StoredPayload(place, (at, target) => file.readAt(at, target), blocks),
        get payload() {
          return payload();
        },
      };
    }
    const at = this.#load(position, headBytes + payloadBytes);
    if (at < 0) return undefined;
    const seed = checksumSeed(this.firstOp, position);
    const from = at + headBytes;
    let name: RecordName | null = null;
    if (this.format.isMember) {
      const payload = crc32c(this.#window, from, from + payloadBytes);
      if (memberChecksum(this.#window, at, payload, seed) !== checksum) return undefined;
      const digest = this.#view.getBigUint64(at + 28, true);
      name = { view: getUint64(this.#view, at + 20), digest, checksum: payload };
    } else if (crc32c(this.#window, at + 8, from + payloadBytes, seed) !== checksum) return undefined;
    const payload = this.#window.subarray(from, from + payloadBytes);
    return { op, vouchedOp, payload, stored: null, payloadBytes, end, name };
  }

  #partAt(position: number): LogPart | null {
    return partAt(position, this.firstOp, (from, bytes) => {
      const at = this.#load(from, bytes);
      return at < 0 ? null : { bytes: this.#window, at };
    });
  }

  #singlePartAt(position: number): LogRecord | undefined {
    const part = this.#partAt(position);
    if (part === null) return undefined;
    const { op, durableOp: vouchedOp, data: payload, bytes: payloadBytes, end } = part;
    return { op, vouchedOp, payload, stored: null, payloadBytes, end, name: null };
  }

  /** The entry whose first part is at an offset, if all of it is there. */
  #partsAt(position: number): LogRecord | undefined {
    const first = this.#partAt(position);
    const blocks = new BlockChecksums();
    for (let part = first; part !== null; part = this.#partAt(part.end)) {
      const { op, before, bytes, isLast, end } = part;
      if (op !== first?.op || before.bytes !== blocks.bytes || before.checksum !== blocks.checksum) break;
      if (isLast ? bytes > first.bytes : bytes !== first.bytes) break;
      blocks.add(part.data);
      if (!isLast) continue;
      const { file } = this, place = { position, partBytes: first.bytes };
      const stored = new StoredPayload(
        { op, path: file.path, position, bytes: blocks.bytes },
        (at, target) => readParts(file, place, at - position, target),
        blocks,
      );
      return {
        op,
        vouchedOp: first.durableOp,
        payloadBytes: blocks.bytes,
        end,
        name: null,
        stored,
        get payload() {
          return stored.read(0, stored.length);
        },
      };
    }
    return undefined;
  }

  /** What the head of a record must say that is longer than the window, and how it names its entry. */
  #sumLong(
    position: number,
    payloadBytes: number,
  ): { readonly checksum: number; readonly name: RecordName | null; readonly blocks: BlockChecksums } | null {
    const { headBytes, isMember } = this.format;
    const from = position + headBytes, end = from + payloadBytes;
    if (end > Math.min(this.end, this.file.size)) return null;
    const at = this.#load(position, headBytes);
    const head = this.#window.slice(at, at + headBytes);
    const seed = checksumSeed(this.firstOp, position);
    const blocks = new BlockChecksums();
    for (let next = from; next < end;) {
      const count = Math.min(this.#window.length, end - next);
      const start = this.#load(next, count);
      if (start < 0) return null;
      blocks.add(this.#window.subarray(start, start + count));
      next += count;
    }
    const sum = blocks.checksum;
    if (!isMember) {
      const before = crc32c(head, 8, headBytes, seed);
      return { checksum: (sum ^ shiftChecksum(before, payloadBytes)) >>> 0, name: null, blocks };
    }
    const view = new DataView(head.buffer);
    const name = { view: getUint64(view, 20), digest: view.getBigUint64(28, true), checksum: sum };
    return { checksum: memberChecksum(head, 0, sum, seed), name, blocks };
  }

  #payloadAt(position: number, bytes: number): Uint8Array {
    const at = this.#load(position, bytes);
    if (at < 0) throw this.damage(position, "the record that was there is gone");
    return this.#window.subarray(at, at + bytes);
  }

  /**
   * What the head at an offset says, if it says that it is of this op, or a seal behind the one before, and fits into
   * the file; nothing vouches for it.
   */
  #headAt(position: number, op: number): { readonly end: number; readonly isSeal: boolean } | null {
    const head = this.#load(position, this.format.headBytes);
    if (head < 0) return null;
    const payloadBytes = this.#view.getUint32(head, true);
    if (payloadBytes > LIMITS.maximumEntryBytes && !this.format.isMember) {
      const end = endOfParts(this.file, position, op);
      return end === null ? null : { end, isSeal: false };
    }
    const found = getUint64(this.#view, head + 8);
    const end = position + this.format.headBytes + payloadBytes;
    const isSeal = payloadBytes === 0;
    if (found !== (isSeal ? op - 1 : op) || end > this.file.size) return null;
    return { end, isSeal };
  }

  /** Whether the file seems to begin with its first record. */
  seemsBegun(): boolean {
    const head = this.#headAt(this.format.recordsStart, this.firstOp);
    return head !== null && !head.isSeal;
  }

  /**
   * The record of this op, found by the heads from another place of which the op is known; their payloads are not
   * read. The record itself verifies, and its checksum is of its place as well. Undefined: the heads do not lead to
   * it.
   */
  find(op: number, from: { readonly op: number; readonly position: number }): PlacedRecord | undefined {
    let { position } = from;
    for (let next = from.op; next < op;) {
      const head = this.#headAt(position, next);
      if (head === null) return undefined;
      if (!head.isSeal) next++;
      position = head.end;
    }
    for (;;) {
      const record = this.recordAt(position);
      if (record === undefined) return undefined;
      if (record.payloadBytes > 0) return record.op === op ? { record, position } : undefined;
      position = record.end;
    }
  }

  /**
   * Walks over the whole records from the start of the file; those up to the one asked for are not read but for their
   * heads.
   */
  scan(countAfterOp: number): LogFileScan {
    const start = { op: this.firstOp, position: this.format.recordsStart };
    const known = countAfterOp > this.firstOp ? this.find(countAfterOp, start)?.position ?? -1 : -1;
    let lastOp = known < 0 ? this.firstOp - 1 : countAfterOp - 1;
    let end = known < 0 ? this.format.recordsStart : known;
    let countedFrom = end;
    let sealed = false;
    let countedBytes = 0;
    let vouchedOp = 0;
    for (;;) {
      const record = this.recordAt(end);
      if (record === undefined) break;
      sealed = record.payloadBytes === 0;
      if (record.op !== (sealed ? lastOp : lastOp + 1)) break;
      if (!sealed && record.op > countAfterOp) countedBytes += this.format.headBytes + record.payloadBytes;
      lastOp = record.op;
      vouchedOp = record.vouchedOp;
      end = record.end;
      if (lastOp <= countAfterOp) countedFrom = end;
    }
    return { lastOp, end, sealed, countedBytes, countedFrom, vouchedOp };
  }

  /** Offset behind what was durable for sure of what a scan has found: the last record vouches for those. */
  endOfDurable({ vouchedOp, end, sealed }: LogFileScan): number {
    const { recordsStart, headBytes } = this.format;
    if (sealed) return end - headBytes;
    const start = { op: this.firstOp, position: recordsStart };
    return this.find(Math.max(vouchedOp + 1, this.firstOp), start)?.position ?? recordsStart;
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

  /** The whole records of these ops at any offset from there on; null instead when it takes too long to find them. */
  *recordsBehind(position: number, firstOp: number): Generator<PlacedRecord | null> {
    if (this.isZeroFrom(position)) return;
    let budget = SEARCH_BUDGET;
    for (let at = position; at + this.format.headBytes <= this.file.size; at++) {
      const record = this.recordAt(at, firstOp, "single");
      if (record !== undefined) {
        yield { record, position: at };
        at = record.end - 1;
      }
      budget--;
      if (budget < 0) yield null;
    }
  }

  /**
   * Whether a whole record behind the offset vouches that `op` had become durable. If so, its absence is damage; if
   * not, the bytes there are what a crash left of writes that were never acknowledged.
   */
  isVouchedBehind(position: number, op: number): boolean {
    for (const found of this.recordsBehind(position, Math.max(op, 1))) {
      if (found === null || found.record.vouchedOp >= op) return true;
    }
    return false;
  }

  /** The damage at an offset as an error. */
  damage(position: number, what: string): DatabaseError {
    return logDamage(this.file.path, position, what);
  }
}

function getUint64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}
