/**
 * Marks: what a member's log file had durable, written into its head after each sync. A record that does not verify was
 * lost if a mark vouches for it, else torn.
 *
 * The head of a file of format version 3 has sectors of 512 bytes before the first record; each but the first, which
 * has the header, holds one mark, and they are written in turn. A mark is durable with the sync after it, and a torn
 * one leaves those before: a power failure loses the newest at most. It is u64 sequence, u64 op, u64 offset behind the
 * record of the op, u64 digest of the log after it, u32 CRC-32C of these, seeded with the file's first op and the
 * mark's own offset.
 *
 * Invariant: the mark with the highest sequence is true of the file at any time; before the end of a log is removed,
 * one that says so is durable.
 */
import { checksumSeed, crc32c } from "../base/checksum.ts";
import type { DiskFile } from "../host/disk.ts";
import { type LogFormat, UNKNOWN_DIGEST } from "./log_file.ts";

const SECTOR_BYTES = 512;
const MARK_BYTES = 36;

/** Up to where a file was durable. */
export interface LogMark {
  readonly op: number;
  /** Offset behind the record of the op. */
  readonly end: number;
  /** The digest of the log after it; null if unknown. */
  readonly digest: bigint | null;
}

/** The marks of one file. */
export class LogMarks {
  readonly #file: DiskFile;
  readonly #firstOp: number;
  readonly #sectors: number;
  #sequence: number;
  /** The newest. */
  #newest: LogMark | null = null;
  readonly #bytes = new Uint8Array(MARK_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);

  /** Those of a file; one of an older format has none, and gets none. */
  constructor(file: DiskFile, firstOp: number, { recordsStart }: LogFormat) {
    this.#file = file;
    this.#firstOp = firstOp;
    this.#sectors = Math.floor(recordsStart / SECTOR_BYTES) - 1;
    this.#sequence = 0;
    for (let sector = 0; sector < this.#sectors; sector++) this.#read(sector);
  }

  get newest(): LogMark | null {
    return this.#newest;
  }

  /** The file ends there from now on: no older mark, which may say more, is left. */
  reset(mark: LogMark): void {
    for (let sector = 0; sector < this.#sectors; sector++) this.write(mark);
  }

  /** Writes a mark; durable with the next sync. */
  write({ op, end, digest }: LogMark): void {
    if (this.#sectors <= 0) return;
    this.#sequence++;
    const offset = this.#offsetOf(this.#sequence % this.#sectors);
    const view = this.#view;
    setUint53(view, 0, this.#sequence);
    setUint53(view, 8, op);
    setUint53(view, 16, end);
    view.setBigUint64(24, digest ?? UNKNOWN_DIGEST, true);
    view.setUint32(32, crc32c(this.#bytes, 0, 32, checksumSeed(this.#firstOp, offset)), true);
    this.#file.writeAt(offset, this.#bytes);
  }

  /** Writes the newest once more, in its place: who has read it cannot know whether it is durable. */
  renew(): void {
    if (this.#newest === null) return;
    this.#sequence--;
    this.write(this.#newest);
  }

  #offsetOf(sector: number): number {
    return (sector + 1) * SECTOR_BYTES;
  }

  #read(sector: number): void {
    const offset = this.#offsetOf(sector);
    const bytes = new Uint8Array(MARK_BYTES);
    if (this.#file.readAt(offset, bytes) < MARK_BYTES) return;
    const view = new DataView(bytes.buffer);
    const seed = checksumSeed(this.#firstOp, offset);
    if (view.getUint32(32, true) !== crc32c(bytes, 0, 32, seed)) return;
    const sequence = Number(view.getBigUint64(0, true));
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    const digest = view.getBigUint64(24, true);
    this.#newest = {
      op: Number(view.getBigUint64(8, true)),
      end: Number(view.getBigUint64(16, true)),
      digest: digest === UNKNOWN_DIGEST ? null : digest,
    };
  }
}

function setUint53(view: DataView, at: number, value: number): void {
  const high = Math.floor(value / 0x1_0000_0000);
  view.setUint32(at, value - high * 0x1_0000_0000, true);
  view.setUint32(at + 4, high, true);
}
