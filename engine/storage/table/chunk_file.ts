/**
 * Files of chunks: the common frame of segments and index files. Written once, front to back, then immutable.
 *
 *     header   32 bytes: magic "DBTBL\0\0\1", u32 kind, u32 table id, f64 op number, u32 object id, u32 reserved 0
 *     chunks   each at a multiple of 8, padded with zeros
 *     footer   the writer's own description padded to 4, per chunk u32 length, per chunk u32 checksum,
 *              per page of each paged chunk u32 checksum, u32 length of the description, u32 chunk count
 *     trailer  32 bytes: u64 footer offset, u32 footer length, u32 footer checksum, u64 file size, magic
 *
 * All integers are little-endian. Every checksum is a CRC-32C seeded with the file's identity (table, op, kind,
 * object) and the chunk's number, so that a chunk at the wrong place or in the wrong file does not verify. The
 * checksum of the footer, which covers the header fields and through the chunk checksums everything else, is the
 * checksum of the file.
 *
 * A chunk of more than {@link PAGED_BYTES} is *paged*: each 4 KiB of it has a checksum of its own, so that one value
 * can be read and verified without the rest, and the chunk's checksum is that of its pages' checksums.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { checksumSeed, crc32c } from "../../base/checksum.ts";
import type { DiskFile } from "../../host/disk.ts";
import { DamagedFileError } from "./damaged_file.ts";

const MAGIC = Uint8Array.of(0x44, 0x42, 0x54, 0x42, 0x4c, 0, 0, 1);
const HEADER_BYTES = 32;
const TRAILER_BYTES = 32;
const FOOTER_NUMBER = 4294967295;
/** Bytes of the footer that are summed and written between two yields. */
const STEP_BYTES = 1 << 19;
const WRITE_BYTES = 1 << 18;
/** Longer chunks have pages. */
const PAGED_BYTES = 12 * 1024;
const PAGE_SHIFT = 12;
const PAGE_BYTES = 1 << PAGE_SHIFT;

/** Where pages are read one or two at a time. */
const pageScratch = new Uint8Array(2 * PAGE_BYTES);

/** What a chunk file is of. */
export interface ChunkFileIdentity {
  readonly kind: "segment" | "index";
  readonly tableId: number;
  /** The op number at which the content became valid. */
  readonly op: number;
  /** Tells apart what has the rest in common: 0 for a flush, 1 for a merge; the index id shifted left by one. */
  readonly object: number;
}

/** How a finished file is found and verified. */
export interface ChunkFileSummary {
  readonly name: string;
  readonly size: number;
  readonly checksum: number;
}

function identityNumber(identity: ChunkFileIdentity): number {
  return checksumSeed(
    checksumSeed(identity.tableId, identity.op) * 2 + (identity.kind === "segment" ? 0 : 1),
    identity.object,
  );
}

/** Pages of a chunk; 0: it has none, and is verified as a whole. */
function pagesOf(length: number): number {
  return length > PAGED_BYTES ? (length + PAGE_BYTES - 1) >>> PAGE_SHIFT : 0;
}

function pageChecksum(
  bytes: Uint8Array,
  start: number,
  end: number,
  chunkSeed: number,
  page: number,
): number {
  return crc32c(bytes, start, end, checksumSeed(chunkSeed, page));
}

/** A file that has just been written. */
export interface FinishedChunkFile {
  readonly summary: ChunkFileSummary;
  /** Its last bytes but the trailer, so that opening it need not read and check them. */
  readonly footer: Uint8Array;
}

/** Writes a chunk file. */
export class ChunkFileWriter {
  readonly #file: Pick<DiskFile, "writeAt">;
  readonly #name: string;
  readonly #identity: ChunkFileIdentity;
  readonly #seed: number;
  readonly #buffer = new Uint8Array(WRITE_BYTES);
  #buffered = 0;
  #written = 0;
  readonly #lengths: number[] = [];
  readonly #checksums: number[] = [];
  readonly #pageChecksums: number[] = [];

  constructor(file: Pick<DiskFile, "writeAt">, name: string, identity: ChunkFileIdentity) {
    this.#file = file;
    this.#name = name;
    this.#identity = identity;
    this.#seed = identityNumber(identity);
    this.#write(headerOf(identity));
  }

  get chunkCount(): number {
    return this.#lengths.length;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#written + this.#buffered;
  }

  /** Adds a chunk and returns its number. */
  addChunk(bytes: Uint8Array): number {
    const number = this.#lengths.length;
    this.#lengths.push(bytes.length);
    this.#checksums.push(this.#checksum(bytes, checksumSeed(this.#seed, number)));
    this.#write(bytes);
    const padding = (8 - (bytes.length & 7)) & 7;
    if (padding > 0) this.#write(new Uint8Array(padding));
    return number;
  }

  #checksum(bytes: Uint8Array, chunkSeed: number): number {
    const pages = pagesOf(bytes.length);
    if (pages === 0) return crc32c(bytes, 0, bytes.length, chunkSeed);
    const list = new Uint32Array(pages);
    for (let page = 0; page < pages; page++) {
      const start = page << PAGE_SHIFT;
      const checksum = pageChecksum(
        bytes,
        start,
        Math.min(bytes.length, start + PAGE_BYTES),
        chunkSeed,
        page,
      );
      this.#pageChecksums.push(checksum);
      list[page] = checksum;
    }
    return checksumOfPages(list, chunkSeed);
  }

  #write(bytes: Uint8Array): void {
    if (this.#buffered + bytes.length > WRITE_BYTES) this.#flush();
    if (bytes.length >= WRITE_BYTES) {
      this.#file.writeAt(this.#written, bytes);
      this.#written += bytes.length;
      return;
    }
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  #flush(): void {
    if (this.#buffered === 0) return;
    this.#file.writeAt(this.#written, this.#buffer.subarray(0, this.#buffered));
    this.#written += this.#buffered;
    this.#buffered = 0;
  }

  /** Ends the file with the writer's description, in steps. The file stays open, for syncing. */
  *finish(description: Uint8Array): Generator<void, FinishedChunkFile> {
    const footer = new ByteWriter(description.length + this.#lengths.length * 8 + 16);
    footer.writeBytes(description);
    footer.writeBytes(new Uint8Array((4 - (description.length & 3)) & 3));
    for (const length of this.#lengths) footer.writeU32(length);
    for (const checksum of this.#checksums) footer.writeU32(checksum);
    for (const checksum of this.#pageChecksums) footer.writeU32(checksum);
    footer.writeU32(description.length);
    footer.writeU32(this.#lengths.length);
    yield;
    const bytes = footer.view();
    const offset = this.size;
    let checksum = checksumSeed(this.#seed, FOOTER_NUMBER);
    for (let from = 0; from < bytes.length; from += STEP_BYTES) {
      const to = Math.min(bytes.length, from + STEP_BYTES);
      checksum = crc32c(bytes, from, to, checksum);
      this.#write(bytes.subarray(from, to));
      yield;
    }
    const trailer = new ByteWriter(TRAILER_BYTES);
    trailer.writeU64(BigInt(offset));
    trailer.writeU32(bytes.length);
    trailer.writeU32(checksum);
    trailer.writeU64(BigInt(offset + bytes.length + TRAILER_BYTES));
    trailer.writeBytes(MAGIC);
    this.#write(trailer.finish());
    this.#flush();
    return { summary: { name: this.#name, size: this.#written, checksum }, footer: bytes };
  }
}

/** The checksum of a paged chunk. */
function checksumOfPages(pages: Uint32Array, chunkSeed: number): number {
  const writer = new ByteWriter(pages.length * 4);
  for (const checksum of pages) writer.writeU32(checksum);
  const bytes = writer.finish();
  return crc32c(bytes, 0, bytes.length, chunkSeed);
}

function headerOf(identity: ChunkFileIdentity): Uint8Array {
  const header = new ByteWriter(HEADER_BYTES);
  header.writeBytes(MAGIC);
  header.writeU32(identity.kind === "segment" ? 1 : 2);
  header.writeU32(identity.tableId);
  header.writeF64(identity.op);
  header.writeU32(identity.object);
  header.writeU32(0);
  return header.finish();
}

/** What a footer tells of the chunks. */
interface Directory {
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly checksums: Uint32Array;
  /** Checksums of the pages of all paged chunks, and where those of each chunk begin. */
  readonly pageChecksums: Uint32Array;
  readonly firstPages: Uint32Array;
  /** Files of writers before there were pages have none. */
  readonly hasPages: boolean;
}

/** Reads a chunk file; every chunk is verified before it is handed out. The footer is read when it is needed first. */
export class ChunkFile {
  readonly #file: DiskFile;
  readonly #onDamage: (path: string) => void;
  readonly #seed: number;
  readonly #footer: { readonly offset: number; readonly length: number };
  #directory: Directory | null = null;
  #description: Uint8Array | null = null;
  readonly summary: ChunkFileSummary;

  /**
   * Opens a file that must be the one the summary and identity speak of; `written`: the footer of one just written.
   * `onDamage` hears of damage before it is raised.
   */
  constructor(
    file: DiskFile,
    identity: ChunkFileIdentity,
    summary: ChunkFileSummary,
    { written = null, onDamage = () => {} }: {
      readonly written?: Uint8Array | null;
      readonly onDamage?: (path: string) => void;
    } = {},
  ) {
    this.#file = file;
    this.#onDamage = onDamage;
    this.#seed = identityNumber(identity);
    this.summary = summary;
    if (file.size !== summary.size) {
      throw this.damage(
        Math.min(file.size, summary.size),
        `${summary.size} bytes expected, ${file.size} found`,
      );
    }
    const header = this.#read(0, HEADER_BYTES);
    const expected = headerOf(identity);
    for (let index = 0; index < HEADER_BYTES; index++) {
      if (header[index] !== expected[index]) {
        throw this.damage(index, "the header is not this file's");
      }
    }
    const trailerAt = summary.size - TRAILER_BYTES;
    const trailer = new ByteReader(this.#read(trailerAt, TRAILER_BYTES));
    const offset = Number(trailer.readU64());
    const length = trailer.readU32();
    const checksum = trailer.readU32();
    const size = Number(trailer.readU64());
    const magic = trailer.readBytes(8);
    if (
      size !== summary.size || checksum !== summary.checksum || offset + length !== trailerAt ||
      offset < HEADER_BYTES || length < 8 || magic.some((byte, index) => byte !== MAGIC[index])
    ) throw this.damage(trailerAt, "the trailer is not this file's");
    this.#footer = { offset, length };
    if (written !== null) this.#load(written);
  }

  #readFooter(): Uint8Array {
    const { offset, length } = this.#footer;
    const footer = this.#read(offset, length);
    const checksum = crc32c(footer, 0, length, checksumSeed(this.#seed, FOOTER_NUMBER));
    if (checksum === this.summary.checksum) return footer;
    throw this.damage(offset, "the footer's checksum does not match");
  }

  #load(footer: Uint8Array): Directory {
    const { offset: footerOffset, length: footerLength } = this.#footer;
    const reader = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
    const count = reader.getUint32(footerLength - 4, true);
    const descriptionLength = reader.getUint32(footerLength - 8, true);
    const at = descriptionLength + ((4 - (descriptionLength & 3)) & 3);
    const pageCount = (footerLength - 8 - at - count * 8) / 4;
    if (!(pageCount >= 0)) {
      throw this.damage(footerOffset, "the chunk directory is malformed");
    }
    const directory: Directory = {
      offsets: new Float64Array(count),
      lengths: new Uint32Array(count),
      checksums: new Uint32Array(count),
      pageChecksums: new Uint32Array(pageCount),
      firstPages: new Uint32Array(count),
      hasPages: pageCount > 0,
    };
    for (let page = 0; page < pageCount; page++) {
      directory.pageChecksums[page] = reader.getUint32(at + (count * 2 + page) * 4, true);
    }
    let offset = HEADER_BYTES;
    let pages = 0;
    for (let index = 0; index < count; index++) {
      const length = reader.getUint32(at + index * 4, true);
      directory.offsets[index] = offset;
      directory.lengths[index] = length;
      directory.firstPages[index] = pages;
      pages += pagesOf(length);
      directory.checksums[index] = reader.getUint32(at + (count + index) * 4, true);
      offset += length + ((8 - (length & 7)) & 7);
    }
    if (offset !== footerOffset) {
      throw this.damage(footerOffset, "the chunks do not fill the file");
    }
    if (directory.hasPages && pages !== pageCount) {
      throw this.damage(footerOffset, "the chunk directory is malformed");
    }
    this.#description = footer.subarray(0, descriptionLength);
    return this.#directory = directory;
  }

  get #chunks(): Directory {
    return this.#directory ?? this.#load(this.#readFooter());
  }

  /** The writer's description; it is handed out once, and not kept. */
  takeDescription(): Uint8Array {
    if (this.#directory === null) this.#load(this.#readFooter());
    const description = this.#description;
    assert(description !== null, "a file's description is taken once");
    this.#description = null;
    return description;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Bytes of memory that the directory takes. */
  get memoryBytes(): number {
    const directory = this.#directory;
    if (directory === null) return 0;
    return directory.offsets.length * 20 + directory.pageChecksums.length * 4;
  }

  offsetOf(chunk: number): number {
    return this.#chunks.offsets[chunk] as number;
  }

  lengthOf(chunk: number): number {
    return this.#chunks.lengths[chunk] as number;
  }

  get chunkCount(): number {
    return this.#chunks.lengths.length;
  }

  #read(position: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.#readInto(position, bytes);
    return bytes;
  }

  #readInto(position: number, bytes: Uint8Array): void {
    const count = this.#file.readAt(position, bytes);
    if (count !== bytes.length) {
      throw this.damage(position + count, `${bytes.length} bytes expected, ${count} found`);
    }
  }

  /** Reads and verifies one chunk. Its bytes begin at a multiple of 8 in their buffer. */
  readChunk(chunk: number): Uint8Array {
    const bytes = this.#read(this.offsetOf(chunk), this.lengthOf(chunk));
    this.#verify(chunk, bytes);
    return bytes;
  }

  /** Reads and verifies the chunks from `first` to `last` in one go. */
  readChunks(first: number, last: number): Uint8Array[] {
    const start = this.offsetOf(first);
    const bytes = this.#read(start, this.offsetOf(last) + this.lengthOf(last) - start);
    const chunks: Uint8Array[] = [];
    for (let chunk = first; chunk <= last; chunk++) {
      const at = this.offsetOf(chunk) - start;
      const part = bytes.subarray(at, at + this.lengthOf(chunk));
      this.#verify(chunk, part);
      chunks.push(part);
    }
    return chunks;
  }

  /** Whether parts of a chunk can be read with {@link readRange}. */
  isPaged(chunk: number): boolean {
    return this.#chunks.hasPages && pagesOf(this.lengthOf(chunk)) > 0;
  }

  /**
   * Reads and verifies the bytes from `start` to below `end` of a paged chunk. What is answered is good until the next
   * call, of any file.
   */
  readRange(chunk: number, start: number, end: number): Uint8Array {
    const length = this.lengthOf(chunk);
    if (!(start <= end && end <= length)) {
      throw this.malformed(chunk, `a value ends at byte ${end} of ${length}`);
    }
    const first = start >>> PAGE_SHIFT;
    const from = first << PAGE_SHIFT;
    const count = Math.min(length, ((end + PAGE_BYTES - 1) >>> PAGE_SHIFT) << PAGE_SHIFT) - from;
    const bytes = count <= pageScratch.length ? pageScratch : new Uint8Array(count);
    this.#readInto(this.offsetOf(chunk) + from, count === bytes.length ? bytes : bytes.subarray(0, count));
    this.#verifyPages(chunk, bytes, count, first);
    return bytes.subarray(start - from, end - from);
  }

  #verify(chunk: number, bytes: Uint8Array): void {
    if (this.isPaged(chunk)) {
      this.#verifyPages(chunk, bytes, bytes.length, 0);
      return;
    }
    if (crc32c(bytes, 0, bytes.length, checksumSeed(this.#seed, chunk)) !== this.#chunks.checksums[chunk]) {
      throw this.malformed(chunk, `the checksum of chunk ${chunk} does not match`);
    }
  }

  /** Verifies whole pages, from `first` on; the footer's own checksum vouches for theirs. */
  #verifyPages(chunk: number, bytes: Uint8Array, count: number, first: number): void {
    const chunkSeed = checksumSeed(this.#seed, chunk);
    const base = this.#chunks.firstPages[chunk] as number;
    for (let start = 0, page = first; start < count; start += PAGE_BYTES, page++) {
      const end = Math.min(count, start + PAGE_BYTES);
      if (pageChecksum(bytes, start, end, chunkSeed, page) === this.#chunks.pageChecksums[base + page]) {
        continue;
      }
      throw this.damage(
        this.offsetOf(chunk) + (page << PAGE_SHIFT),
        `the checksum of page ${page} of chunk ${chunk} does not match`,
      );
    }
  }

  /** Verifies every chunk, and what fills it up. */
  verify(): void {
    for (let chunk = 0; chunk < this.chunkCount; chunk++) {
      const offset = this.offsetOf(chunk), length = this.lengthOf(chunk);
      const bytes = this.#read(offset, Math.ceil(length / 8) * 8);
      this.#verify(chunk, bytes.subarray(0, length));
      const odd = bytes.subarray(length).findIndex((byte) => byte !== 0);
      if (odd >= 0) throw this.damage(offset + length + odd, "what fills up a chunk is not zero");
    }
  }

  /** The error for damage, which is reported. */
  damage(offset: number, what: string): DamagedFileError {
    this.#onDamage(this.path);
    return new DamagedFileError(this.path, offset, what);
  }

  /** An error that names the place of a chunk whose content makes no sense. */
  malformed(chunk: number, what: string): DamagedFileError {
    return this.damage(this.offsetOf(chunk), what);
  }

  close(): void {
    this.#file.close();
  }
}
