/**
 * Parts of an entry that is longer than a record, in the log of a server that is alone.
 *
 * The highest bit of a record's length says that the record is a part. Its payload is a head of 16 bytes (u32 CRC-32C
 * of the entry's bytes before the part, u64 how many those are, u32: 1 in the last part, else 0) and bytes of the
 * entry. The parts of an entry have its op and stand one behind the other; all but the last, which may be shorter,
 * have equally many bytes. They are an entry together, once the last is there: what a crash leaves of them without it
 * is torn. What a part says of the bytes before it keeps those of an entry that was given up from standing where
 * later ones were lost.
 *
 * Files with parts have a format version of their own, so that older programs refuse them. Limits: `logPartBytes`,
 * `maximumLongEntryBytes`.
 */
import { checksumSeed, crc32c, shiftChecksum } from "../base/checksum.ts";
import { LIMITS } from "../base/limits.ts";
import type { DiskFile } from "../host/disk.ts";
import { type RecordHead, SINGLE_FORMAT, writeHead } from "./log_file.ts";
import type { BlockChecksums } from "./stored_payload.ts";

const FLAG = 0x8000_0000;
/** Bytes of a part besides those of the entry. */
const HEAD_BYTES = SINGLE_FORMAT.headBytes + 16;
/** A record is never taken for a part, nor a part for a record, whatever its length says. */
const SEED = 0x7061_7274;

/** Where the bytes before a part end. */
interface PartStart {
  readonly bytes: number;
  readonly checksum: number;
}

/** What the head of a part says. */
export interface PartHead {
  readonly op: number;
  readonly durableOp: number;
  readonly before: PartStart;
  /** Bytes of the entry in this part. */
  readonly bytes: number;
  readonly isLast: boolean;
}

/** A whole part; its bytes are good until the next read. */
export interface LogPart extends PartHead {
  readonly data: Uint8Array;
  /** Offset of what follows. */
  readonly end: number;
}

/** What a head says, if it says that it is one of a part; nothing vouches for it. */
function partHead(view: DataView, at: number): PartHead | null {
  const length = view.getUint32(at, true);
  const bytes = length - FLAG + SINGLE_FORMAT.headBytes - HEAD_BYTES;
  const op = uint64(view, at + 8), distance = view.getUint32(at + 16, true);
  if (length < FLAG || bytes < 1 || bytes > LIMITS.logPartBytes || distance > op) return null;
  const before = { checksum: view.getUint32(at + 20, true), bytes: uint64(view, at + 24) };
  return { op, durableOp: op - distance, before, bytes, isLast: view.getUint32(at + 32, true) === 1 };
}

/** The whole part at an offset; `load` answers where a range of the file is in an array. */
export function partAt(
  position: number,
  firstOp: number,
  load: (position: number, bytes: number) => { readonly bytes: Uint8Array; readonly at: number } | null,
): LogPart | null {
  const start = load(position, HEAD_BYTES);
  if (start === null) return null;
  const head = partHead(new DataView(start.bytes.buffer), start.at);
  if (head === null) return null;
  const end = position + HEAD_BYTES + head.bytes;
  const found = load(position, end - position);
  if (found === null) return null;
  const { bytes, at } = found, dataAt = at + HEAD_BYTES;
  const checksum = new DataView(bytes.buffer).getUint32(at + 4, true);
  if (crc32c(bytes, at + 8, dataAt + head.bytes, seedOf(firstOp, position)) !== checksum) return null;
  return { ...head, data: bytes.subarray(dataAt, dataAt + head.bytes), end };
}

/** Where an entry in parts ends, by the heads of its parts alone; null: they lead to no end. */
export function endOfParts(file: DiskFile, position: number, op: number): number | null {
  const bytes = new Uint8Array(HEAD_BYTES), view = new DataView(bytes.buffer), { size } = file;
  let before = 0;
  for (let at = position;;) {
    if (file.readAt(at, bytes) < HEAD_BYTES) return null;
    const head = partHead(view, 0);
    if (head === null || head.op !== op || head.before.bytes !== before) return null;
    at += HEAD_BYTES + head.bytes;
    before += head.bytes;
    if (at > size) return null;
    if (head.isLast) return at;
  }
}

/** Reads bytes of an entry in parts of a size; answers how many there were. */
export function readParts(
  file: DiskFile,
  { position, partBytes }: { readonly position: number; readonly partBytes: number },
  offset: number,
  target: Uint8Array,
): number {
  let done = 0;
  while (done < target.length) {
    const index = Math.floor((offset + done) / partBytes), within = offset + done - index * partBytes;
    const piece = target.subarray(done, done + partBytes - within);
    const count = file.readAt(position + index * (HEAD_BYTES + partBytes) + HEAD_BYTES + within, piece);
    done += count;
    if (count < piece.length) break;
  }
  return done;
}

/** How the bytes of an entry get into the file, behind each other. */
export interface RecordBody {
  readonly bytes: number;
  readonly checksum: number;
  readonly limitBytes: number;
  /** Of the blocks, where they are kept. */
  readonly blocks: BlockChecksums | undefined;
  add(piece: Uint8Array, checksum?: number): void;
  /** Writes what makes them an entry; answers the offset behind it. */
  finish(head: RecordHead): number;
}

/** An entry on its way into the log in parts. */
export class PartedBody implements RecordBody {
  readonly limitBytes = LIMITS.maximumLongEntryBytes;
  readonly blocks = undefined;
  readonly #put: (position: number, bytes: Uint8Array) => void;
  readonly #headOf: () => RecordHead;
  readonly #record: Uint8Array;
  readonly #view: DataView;
  #at: number;
  #before: PartStart = { bytes: 0, checksum: 0 };
  #dataBytes = 0;
  #checksum = 0;

  /** `headOf`: what the head of a record would say that was written now. */
  constructor(
    position: number,
    partBytes: number,
    { put, headOf }: {
      readonly put: (position: number, bytes: Uint8Array) => void;
      readonly headOf: () => RecordHead;
    },
  ) {
    this.#at = position;
    this.#put = put;
    this.#headOf = headOf;
    this.#record = new Uint8Array(HEAD_BYTES + partBytes);
    this.#view = new DataView(this.#record.buffer);
  }

  get bytes(): number {
    return this.#before.bytes + this.#dataBytes;
  }

  get checksum(): number {
    return this.#checksum;
  }

  add(piece: Uint8Array): void {
    for (let from = 0; from < piece.length;) {
      if (HEAD_BYTES + this.#dataBytes === this.#record.length) this.#end(false);
      const at = HEAD_BYTES + this.#dataBytes;
      const some = piece.subarray(from, from + this.#record.length - at);
      this.#record.set(some, at);
      this.#checksum = crc32c(some, 0, some.length, this.#checksum);
      this.#dataBytes += some.length;
      from += some.length;
    }
  }

  finish(): number {
    this.#end(true);
    return this.#at;
  }

  #end(isLast: boolean): void {
    const head = this.#headOf(), view = this.#view, dataBytes = this.#dataBytes, before = this.#before;
    const payloadBytes = FLAG + HEAD_BYTES - SINGLE_FORMAT.headBytes + dataBytes;
    writeHead(view, 0, { ...head, payloadBytes });
    view.setUint32(20, before.checksum, true);
    view.setBigUint64(24, BigInt(before.bytes), true);
    view.setUint32(32, isLast ? 1 : 0, true);
    const sum = crc32c(this.#record, 8, HEAD_BYTES, seedOf(head.firstOp, this.#at));
    const data = this.#checksum ^ shiftChecksum(before.checksum, dataBytes);
    view.setUint32(4, data ^ shiftChecksum(sum, dataBytes), true);
    this.#put(this.#at, this.#record.subarray(0, HEAD_BYTES + dataBytes));
    this.#at += HEAD_BYTES + dataBytes;
    this.#before = { bytes: this.bytes, checksum: this.#checksum };
    this.#dataBytes = 0;
  }
}

function seedOf(firstOp: number, position: number): number {
  return (checksumSeed(firstOp, position) ^ SEED) >>> 0;
}

function uint64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}
