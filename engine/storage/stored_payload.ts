/**
 * The payload of an entry that is too large to be in memory: it stays in the file of the log, and is read in blocks.
 *
 * A block is proved by its CRC-32C, which is known from when it was written, or else from when all blocks were read in
 * order and led to the digest that names the entry.
 */
import { crc32c, shiftChecksum } from "../base/checksum.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { DamagedFileError } from "./table/damaged_file.ts";

/** Bytes of a block; the last one may have fewer. */
export const PAYLOAD_BLOCK_BYTES = 256 * 1024;

/** The checksums of the blocks of bytes that come in pieces, and of all of them. */
export class BlockChecksums {
  readonly #whole: number[] = [];
  /** Of the bytes of all whole blocks. */
  #sum = 0;
  #block = 0;
  #blockBytes = 0;

  /** Bytes so far. */
  get bytes(): number {
    return this.#whole.length * PAYLOAD_BLOCK_BYTES + this.#blockBytes;
  }

  /** CRC-32C of the bytes so far. */
  get checksum(): number {
    if (this.#blockBytes === 0) return this.#sum;
    return (this.#block ^ shiftChecksum(this.#sum, this.#blockBytes)) >>> 0;
  }

  /** `checksum`: CRC-32C of the piece, where it is known. */
  add(piece: Uint8Array, checksum?: number): void {
    if (checksum !== undefined && this.#blockBytes === 0 && piece.length === PAYLOAD_BLOCK_BYTES) {
      this.#block = checksum;
      return this.#endBlock();
    }
    for (let at = 0; at < piece.length;) {
      const end = Math.min(piece.length, at + PAYLOAD_BLOCK_BYTES - this.#blockBytes);
      this.#block = crc32c(piece, at, end, this.#block);
      this.#blockBytes += end - at;
      at = end;
      if (this.#blockBytes < PAYLOAD_BLOCK_BYTES) return;
      this.#endBlock();
    }
  }

  #endBlock(): void {
    this.#sum = (this.#block ^ shiftChecksum(this.#sum, PAYLOAD_BLOCK_BYTES)) >>> 0;
    this.#whole.push(this.#block);
    this.#block = this.#blockBytes = 0;
  }

  /** The checksum of a block; the last one counts as whole. Undefined for one that has not come. */
  of(index: number): number | undefined {
    if (index === this.#whole.length && this.#blockBytes > 0) return this.#block;
    return this.#whole[index];
  }
}

/** Where a payload is, and what it must be. */
export interface StoredPlace {
  readonly op: number;
  readonly path: string;
  readonly position: number;
  readonly bytes: number;
  /** What the payload leads from and to; not needed where all of its blocks are known. */
  readonly digests?: { readonly previousDigest: bigint; readonly digest: bigint };
}

/** See the head of the file. */
export class StoredPayload {
  readonly op: number;
  /** Bytes of the payload. */
  readonly length: number;
  readonly #place: StoredPlace;
  readonly #readAt: (position: number, target: Uint8Array) => number;
  #blocks: BlockChecksums;

  /** `blocks`: of a payload that was just written; else they are made of what is read. */
  constructor(
    place: StoredPlace,
    readAt: (position: number, target: Uint8Array) => number,
    blocks: BlockChecksums = new BlockChecksums(),
  ) {
    this.op = place.op;
    this.length = place.bytes;
    this.#place = place;
    this.#readAt = readAt;
    this.#blocks = blocks;
  }

  /** Whether the checksums of all blocks are known, and lead to the digest. */
  get isProven(): boolean {
    return this.#blocks.bytes === this.length;
  }

  /** CRC-32C of the payload, which is proven. */
  get checksum(): number {
    return this.#blocks.checksum;
  }

  /** The checksum of a block, as far as it was proven; undefined for other bytes. */
  blockChecksum(offset: number, bytes: number): number | undefined {
    const isBlock = offset % PAYLOAD_BLOCK_BYTES === 0 && offset + bytes <= this.#blocks.bytes &&
      (bytes === PAYLOAD_BLOCK_BYTES || bytes < PAYLOAD_BLOCK_BYTES && offset + bytes === this.length);
    return isBlock ? this.#blocks.of(offset / PAYLOAD_BLOCK_BYTES) : undefined;
  }

  /** Reads what is not proven yet, a block in each step. Raises XX001 for one that is damaged. */
  *prove(): Generator<void, void> {
    const block = new Uint8Array(PAYLOAD_BLOCK_BYTES);
    while (!this.isProven) {
      const offset = this.#blocks.bytes;
      this.readInto(offset, block.subarray(0, this.length - offset));
      yield;
    }
  }

  /**
   * The bytes from an offset on, as far as the payload goes. Raises XX001 for a damaged block; nothing is known of a
   * part of a block, nor of one that does not follow what is proven.
   */
  read(offset: number, bytes: number): Uint8Array {
    const piece = new Uint8Array(Math.min(bytes, this.length - offset));
    this.readInto(offset, piece);
    return piece;
  }

  /** The same, into an array that is no longer than what is there. */
  readInto(offset: number, piece: Uint8Array): void {
    if (this.#readAt(this.#place.position + offset, piece) < piece.length) throw this.#damage(offset);
    for (let at = 0; at < piece.length; at += PAYLOAD_BLOCK_BYTES) {
      this.#check(offset + at, piece.subarray(at, at + PAYLOAD_BLOCK_BYTES));
    }
  }

  #check(offset: number, block: Uint8Array): void {
    const blocks = this.#blocks;
    if (offset < blocks.bytes) {
      const end = offset + block.length;
      const isWhole = offset % PAYLOAD_BLOCK_BYTES === 0 && end <= blocks.bytes &&
        end === Math.min(this.length, offset + PAYLOAD_BLOCK_BYTES);
      if (isWhole && blocks.of(offset / PAYLOAD_BLOCK_BYTES) !== crc32c(block)) throw this.#damage(offset);
    } else if (offset === blocks.bytes) {
      blocks.add(block);
      const { op, digests } = this.#place;
      if (!this.isProven) return;
      if (
        digests !== undefined && digestAfter(digests.previousDigest, blocks.checksum, op) === digests.digest
      ) return;
      this.#blocks = new BlockChecksums();
      throw this.#damage(0);
    }
  }

  #damage(offset: number): DamagedFileError {
    const { op, path, position } = this.#place;
    return new DamagedFileError(path, position + offset, `the record of op ${op} does not verify`);
  }
}
