/**
 * Reads single entries of a member's log: the newest from memory, those in sequence from where the last one ended,
 * others from a place near them. What turns out to be damaged is entered into the history.
 */
import type { Disk, DiskFile } from "../host/disk.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { logDamage } from "./log_file.ts";
import { LogFileReader, type PlacedRecord } from "./log_file_reader.ts";
import type { LogFileEntry, LogFiles } from "./log_files.ts";
import type { EntryName, LogHistory, StoredEntry } from "./log_history.ts";
import { scanIntoHistory } from "./log_recovery.ts";
import type { LogTail } from "./log_tail.ts";
import type { RecordPlace } from "./record_places.ts";
import { type BlockChecksums, StoredPayload } from "./stored_payload.ts";

/** So many payloads in files are known at a time. */
const KEPT_PAYLOADS = 4;
const WINDOW_BYTES = 256 * 1024;
/** No window is kept for entries beyond this. */
const LARGE_BYTES = 8 * WINDOW_BYTES;

/** See the head of the file. */
export class LogEntryReader {
  readonly #disk: Disk;
  readonly #files: LogFiles;
  readonly #history: LogHistory;
  readonly #tail: LogTail;
  #reader: LogFileReader | null = null;
  /** The large entries that were written or asked for last. */
  readonly #stored = new Map<number, StoredPayload>();
  /** What follows the last entry that was read. */
  #next: RecordPlace = { op: 0, position: 0 };
  /** That entry: its name, its size and its payload are asked for one after the other. */
  #found: PlacedRecord | null = null;

  constructor(disk: Disk, files: LogFiles, history: LogHistory, tail: LogTail) {
    this.#disk = disk;
    this.#files = files;
    this.#history = history;
    this.#tail = tail;
  }

  /** How the entry is named; null if there is none, or if it cannot be read. */
  nameOf(op: number): EntryName | null {
    if (!this.#isKept(op)) return null;
    if (this.#history.damageAt(op) !== undefined) return this.#history.repairOf(op) ?? null;
    const known = this.#history.nameOf(op);
    if (known !== null) return known;
    const found = this.locate(op);
    return found === null ? null : nameIn(found);
  }

  /** The entry, whose payload must not be changed; null if there is none, or if it cannot be read. */
  read(op: number): StoredEntry | null {
    if (!this.#isKept(op)) return null;
    if (this.#history.damageAt(op) !== undefined) return this.#history.repairOf(op) ?? null;
    const recent = this.#history.recentEntry(op);
    if (recent !== undefined) return recent;
    const found = this.locate(op);
    if (found === null) return null;
    const payload = found.record.payload.slice();
    // The window has grown with it.
    if (payload.length > LARGE_BYTES) this.#close();
    return { op, ...nameIn(found), payload };
  }

  #isKept(op: number): boolean {
    return op >= (this.#files.oldest?.firstOp ?? Infinity) && op <= this.#history.lastOp;
  }

  /** An entry was appended in pieces whose checksums are given: what is large is known without reading it. */
  appended(op: number, bytes: number, blocks: BlockChecksums | undefined): void {
    if (blocks !== undefined) this.#keep(op, bytes, blocks);
  }

  /** See `Log.storedPayload`. */
  stored(op: number, least: number): StoredPayload | null {
    if (!this.#isKept(op) || this.#history.damageAt(op) !== undefined) return null;
    const known = this.#stored.get(op);
    if (known !== undefined) return known.length < least ? null : known;
    const recent = this.#history.recentEntry(op)?.payload.length;
    if (recent !== undefined && recent < least) return null;
    // The head of a record that was written or read before tells its size; others are looked for.
    const place = this.#history.placeOf(op);
    const bytes = place === undefined
      ? this.locate(op)?.record.payloadBytes ?? 0
      : this.#payloadBytesAt(op, place);
    return bytes < least || bytes === 0 ? null : this.#keep(op, bytes);
  }

  #keep(op: number, bytes: number, blocks?: BlockChecksums): StoredPayload | null {
    const entry = this.#files.entries[this.#files.indexOf(op)];
    const name = this.nameOf(op);
    const position = this.#history.placeOf(op) ?? this.locate(op)?.position;
    if (entry === undefined || name === null || position === undefined) return null;
    const { path, format } = entry;
    const place = { op, path, position: position + format.headBytes, bytes, digests: name };
    const payload = new StoredPayload(place, (at, target) => this.#fileOf(entry).readAt(at, target), blocks);
    this.#stored.set(op, payload);
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= KEPT_PAYLOADS) break;
      this.#stored.delete(oldest);
    }
    return payload;
  }

  #payloadBytesAt(op: number, position: number): number {
    const entry = this.#files.entries[this.#files.indexOf(op)];
    if (entry === undefined) return 0;
    if (entry.firstOp === this.#tail.firstOp) this.#tail.writeOut();
    const head = new Uint8Array(4);
    this.#fileOf(entry).readAt(position, head);
    return new DataView(head.buffer).getUint32(0, true);
  }

  /** Finds out what of the file with the op is damaged. */
  lookForDamage(op: number): void {
    const index = this.#files.indexOf(op);
    const entry = this.#files.entries[index];
    if (entry !== undefined && this.#isKept(op)) this.#scan(entry, index);
  }

  #fileOf(entry: LogFileEntry): DiskFile {
    return this.#readerOf(entry).file;
  }

  /** The record of an op in its file; null if it is damaged. */
  locate(op: number): PlacedRecord | null {
    const index = this.#files.indexOf(op);
    const entry = this.#files.entries[index];
    if (entry === undefined || !this.#isKept(op)) return null;
    if (this.#found?.record.op === op && this.#history.damageAt(op) === undefined) return this.#found;
    if (entry.firstOp === this.#tail.firstOp) this.#tail.writeOut();
    if (!entry.isScanned) this.#scan(entry, index);
    if (this.#history.damageAt(op) !== undefined) return null;
    let found = this.#find(entry, op);
    if (found !== undefined) return found;
    this.#scan(entry, index);
    if (this.#history.damageAt(op) !== undefined) return null;
    found = this.#find(entry, op);
    if (found === undefined) throw logDamage(entry.path, 0, `the record of op ${op} does not verify`);
    return found;
  }

  #find(entry: LogFileEntry, op: number): PlacedRecord | undefined {
    const { firstOp, places } = entry;
    const reader = this.#readerOf(entry);
    reader.end = firstOp === this.#tail.firstOp ? this.#tail.end : Infinity;
    const position = this.#history.placeOf(op);
    let start = places.before(op) ?? { op: firstOp, position: entry.format.recordsStart };
    if (position !== undefined) start = { op, position };
    else if (this.#next.op <= op && this.#next.op > start.op) start = this.#next;
    const found = reader.find(op, start);
    this.#found = found ?? null;
    if (found !== undefined) this.#next = { op: op + 1, position: found.record.end };
    return found;
  }

  #readerOf({ firstOp, path, format }: LogFileEntry): LogFileReader {
    if (this.#reader?.firstOp === firstOp) return this.#reader;
    this.#close();
    const file = this.#disk.openFile(path, { create: false, write: false });
    this.#reader = new LogFileReader(file, firstOp, format, WINDOW_BYTES);
    this.#next = { op: firstOp, position: format.recordsStart };
    return this.#reader;
  }

  /** Finds out what of a file is damaged. */
  #scan(entry: LogFileEntry, index: number): void {
    this.forget();
    const history = this.#history;
    const known = this.#files.knownEnd(index) ??
      { op: history.lastOp, end: this.#tail.end, digest: history.endDigest };
    const file = this.#disk.openFile(entry.path, { create: false, write: true });
    try {
      const reader = new LogFileReader(file, entry.firstOp, entry.format);
      if (known.end !== null) reader.end = known.end;
      scanIntoHistory(reader, entry, { known, history });
    } finally {
      file.close();
    }
  }

  /** The files are not what they were, or are no longer needed. */
  forget(): void {
    this.#stored.clear();
    this.#close();
  }

  #close(): void {
    this.#reader?.file.close();
    this.#reader = this.#found = null;
  }
}

function nameIn({ record: { op, name } }: PlacedRecord): EntryName {
  const digest = name?.digest ?? 0n;
  return {
    view: name?.view ?? 0,
    previousDigest: digest,
    digest: digestAfter(digest, name?.checksum ?? 0, op),
  };
}
