/**
 * A temporary file in which a statement keeps rows that do not fit into its memory.
 *
 * It holds blocks, written one behind the other, each with a checksum of its bytes and of where it is; only who has
 * written them knows their places. It is never synced, and removed when it is closed; what a crash leaves goes when the
 * directory is opened, for its name ends as those of all unfinished files do.
 */
import { checksumSeed, crc32c } from "../base/checksum.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { type Disk, type DiskFile, joinPath } from "./disk.ts";

/** What a file takes its space of. */
export interface FileSpace {
  /** Raises 53400 beyond a bound. */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** Where a block is. */
export interface SpillBlock {
  readonly position: number;
  readonly length: number;
  readonly checksum: number;
}

/** Names spill files apart from each other and from other unfinished files. */
let opened = 0;

/** See the file's head. */
export class SpillFile {
  readonly #disk: Disk;
  readonly #file: DiskFile;
  readonly #seed: number;
  readonly #space: FileSpace | null;
  #size = 0;
  /** What it has of its space. */
  #taken = 0;
  #isClosed = false;

  /** `name`: where other threads write into the directory as well. Raises 58030 or 53100 when the disk refuses. */
  constructor(
    disk: Disk,
    directory: string,
    { space = null, name }: { readonly space?: FileSpace | null; readonly name?: string } = {},
  ) {
    this.#disk = disk;
    this.#space = space;
    this.#seed = ++opened;
    const path = joinPath(directory, name ?? `spill-${this.#seed}.tmp`);
    this.#file = disk.openFile(path, { create: true, write: true });
  }

  /** Bytes that have been written. */
  get size(): number {
    return this.#size;
  }

  /** Raises 53400 beyond a bound, and 53100 on a full disk. */
  write(bytes: Uint8Array): SpillBlock {
    return this.writeBlocks(bytes, [bytes.length])[0] as SpillBlock;
  }

  /** Writes several blocks at once, one behind the other; `ends`: where each of them ends. Raises what a write does. */
  writeBlocks(bytes: Uint8Array, ends: readonly number[]): readonly SpillBlock[] {
    const begin = this.#size;
    this.#space?.take(bytes.length);
    this.#taken += bytes.length;
    this.#file.writeAt(begin, bytes);
    this.#size += bytes.length;
    return ends.map((end, index) => {
      const from = ends[index - 1] ?? 0;
      const position = begin + from;
      return { position, length: end - from, checksum: this.#checksum(position, bytes.subarray(from, end)) };
    });
  }

  /** The bytes of a block, in an array of its length; raises XX001 when they are not those that were written. */
  read(block: SpillBlock, bytes: Uint8Array = new Uint8Array(block.length)): Uint8Array {
    return this.readBlocks([block], bytes);
  }

  /** The same for blocks that lie one behind the other, in an array of their length together. */
  readBlocks(blocks: readonly SpillBlock[], bytes: Uint8Array): Uint8Array {
    const begin = blocks[0]?.position ?? 0;
    const count = this.#file.readAt(begin, bytes);
    for (const { position, length, checksum } of blocks) {
      const from = position - begin;
      if (
        from + length > count || this.#checksum(position, bytes.subarray(from, from + length)) !== checksum
      ) {
        throw new DatabaseError(
          SQLSTATE.dataCorrupted,
          `temporary file "${this.#file.path}" is damaged at ${position}: the checksum does not match`,
        );
      }
    }
    return bytes;
  }

  /** Removes it; doing so twice is no error. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#space?.give(this.#taken);
    try {
      this.#file.close();
    } finally {
      this.#disk.remove(this.#file.path);
    }
  }

  #checksum(position: number, bytes: Uint8Array): number {
    foldWords(bytes);
    const rest = bytes.length - bytes.length % FOLDED_BYTES;
    const seed = checksumSeed(this.#seed, position);
    return crc32c(bytes, rest, bytes.length, crc32c(foldedBytes, 0, FOLDED_BYTES, seed));
  }
}

/** What the words of a block are folded into, four times as fast as their CRC is computed. */
const folded = new Int32Array(4);
const foldedBytes = new Uint8Array(folded.buffer);
const FOLDED_BYTES = folded.byteLength;
/** Odd, so that a word that has changed changes what it is folded into, whatever follows. */
const MULTIPLIER = 0x01000193;

function foldWords(bytes: Uint8Array): void {
  const { buffer, byteOffset, length } = alignedBytes(bytes);
  const words = new Int32Array(buffer, byteOffset, length >>> 2);
  let [a, b, c, d] = [1, 2, 3, 4];
  for (let at = 0; at + 3 < words.length; at += 4) {
    a = Math.imul(a, MULTIPLIER) ^ (words[at] as number);
    b = Math.imul(b, MULTIPLIER) ^ (words[at + 1] as number);
    c = Math.imul(c, MULTIPLIER) ^ (words[at + 2] as number);
    d = Math.imul(d, MULTIPLIER) ^ (words[at + 3] as number);
  }
  folded.set([a, b, c, d]);
}

/** The same bytes from a multiple of four on. */
function alignedBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
}
