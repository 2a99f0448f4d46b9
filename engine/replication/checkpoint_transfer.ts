/**
 * Fetches the files of another member's checkpoint into the folder `transfer`, and puts them in the place of the own.
 *
 * A file that this member has already, by name, size and checksum, gets a second name there; the rest comes in pieces,
 * several on their way at a time, and counts when its checksum is right. When all are there and durable, `READY` is
 * written, which holds the manifest: from then on the transfer is carried through, after a crash as well
 * ({@link installTransfer}). Until then nothing of the member's own state is touched.
 *
 * Limits: 8 pieces of 256 KiB on their way; a piece that does not come within a second is asked for again, and a donor
 * that does not answer for 5 s is given up.
 */
import {
  directoryOf,
  type Disk,
  type DiskFile,
  joinPath,
  readWholeFile,
  writeWholeFile,
} from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { decodeManifest, type FileProof, readManifest, writeManifest } from "../storage/manifest.ts";
import { Log } from "../storage/log.ts";
import { LOG_DIRECTORY, TABLES_DIRECTORY } from "../storage/storage_engine.ts";
import { type CheckpointOffer, checksumOf, FILE_PIECE_BYTES } from "./checkpoint_donor.ts";

const TRANSFER_DIRECTORY = "transfer";
/** A flag, and the manifest as a file of number 0. */
const READY_NAME = "READY";
const KEEPS_LOG = 1;
const PIECES_AT_ONCE = 8;
const REPEAT_MICROSECONDS = 1_000_000;
const SILENCE_MICROSECONDS = 5_000_000;

/** How far a transfer has come. */
export interface TransferProgress {
  readonly op: number;
  readonly bytes: number;
  readonly totalBytes: number;
}

/** How to fetch. */
export interface TransferOptions {
  readonly host: Pick<Host, "disk" | "timers" | "clock">;
  /** The member's data directory. */
  readonly directory: string;
  readonly offer: CheckpointOffer;
  /** Asks the donor for the piece at the offset. */
  request(name: string, offset: number): void;
}

interface Fetched {
  readonly proof: FileProof;
  readonly file: DiskFile;
  /** Offsets that were asked for and have not come, with the time of asking. */
  readonly asked: Map<number, number>;
  nextOffset: number;
  missingBytes: number;
}

/** One transfer; see the head of the file. */
export class CheckpointTransfer {
  readonly op: number;
  readonly #options: TransferOptions;
  readonly #folder: string;
  readonly #totalBytes: number;
  readonly #done = Promise.withResolvers<boolean>();
  #bytes = 0;
  #heardAt: number;
  #waiting: FileProof[] = [];
  readonly #fetched = new Map<string, Fetched>();
  #isOver = false;

  constructor(options: TransferOptions) {
    const { offer, directory, host } = options;
    this.op = offer.op;
    this.#options = options;
    this.#folder = joinPath(directory, TRANSFER_DIRECTORY);
    this.#totalBytes = offer.files.reduce((sum, { size }) => sum + size, 0);
    this.#heardAt = host.clock.monotonic();
  }

  get progress(): TransferProgress {
    return { op: this.op, bytes: this.#bytes, totalBytes: this.#totalBytes };
  }

  /**
   * Resolves with true when everything is there and durable, with false when the donor does not go on. `keepsLog` is
   * asked last, with the machine's state: whether what the own log has above the checkpoint continues it.
   */
  async run(keepsLog: (state: Uint8Array) => boolean = () => false): Promise<boolean> {
    const { host, offer } = this.#options;
    const { disk } = host;
    removeTransfer(disk, this.#options.directory);
    disk.createDirectory(joinPath(this.#folder, TABLES_DIRECTORY));
    for (const proof of offer.files) {
      if (await this.#isOwn(proof)) this.#bytes += proof.size;
      else this.#waiting.push(proof);
    }
    this.#heardAt = host.clock.monotonic();
    this.#goOn();
    if (!await this.#done.promise) return false;
    disk.syncDirectory(joinPath(this.#folder, TABLES_DIRECTORY));
    const state = readWholeFile(disk, joinPath(this.#folder, offer.files[0]?.name ?? ""));
    const ready = new Uint8Array(1 + offer.manifest.length);
    ready[0] = keepsLog(state) ? KEEPS_LOG : 0;
    ready.set(offer.manifest, 1);
    writeWholeFile(disk, joinPath(this.#folder, READY_NAME), ready);
    return true;
  }

  /** Whether this member has the file; it has a second name for it then. */
  async #isOwn({ name, size, checksum }: FileProof): Promise<boolean> {
    const { host: { disk, timers }, directory } = this.#options;
    const path = joinPath(directory, name);
    if (!disk.exists(path)) return false;
    const file = disk.openFile(path, { create: false, write: false });
    try {
      if (file.size !== size || await checksumOf(file, timers) !== checksum) return false;
    } finally {
      file.close();
    }
    disk.link(path, joinPath(this.#folder, name));
    return true;
  }

  /** A piece has come. */
  onPiece(name: string, offset: number, bytes: Uint8Array): void {
    const fetched = this.#fetched.get(name);
    if (this.#isOver || fetched === undefined || !fetched.asked.delete(offset)) return;
    this.#heardAt = this.#options.host.clock.monotonic();
    fetched.file.writeAt(offset, bytes);
    fetched.missingBytes -= bytes.length;
    this.#bytes += bytes.length;
    if (fetched.missingBytes === 0) void this.#finish(name, fetched);
    else this.#goOn();
  }

  /** Called now and then: asks again for what has not come. */
  onTick(): void {
    if (this.#isOver) return;
    const now = this.#options.host.clock.monotonic();
    if (now - this.#heardAt > SILENCE_MICROSECONDS) return this.#end(false);
    for (const [name, { asked }] of this.#fetched) {
      for (const [offset, at] of asked) {
        if (now - at < REPEAT_MICROSECONDS) continue;
        asked.set(offset, now);
        this.#options.request(name, offset);
      }
    }
  }

  /** Gives the transfer up. */
  abandon(): void {
    this.#end(false);
  }

  #end(isComplete: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const { file } of this.#fetched.values()) file.close();
    this.#fetched.clear();
    this.#done.resolve(isComplete);
  }

  #goOn(): void {
    const { host: { disk, clock } } = this.#options;
    let free = PIECES_AT_ONCE;
    for (const { asked } of this.#fetched.values()) free -= asked.size;
    while (free > 0) {
      let open = [...this.#fetched].find(([, { nextOffset, proof }]) => nextOffset < proof.size);
      if (open === undefined) {
        const proof = this.#waiting.shift();
        if (proof === undefined) break;
        const path = joinPath(this.#folder, proof.name);
        const file = disk.openFile(path, { create: true, write: true });
        const fetched = { proof, file, asked: new Map(), nextOffset: 0, missingBytes: proof.size };
        this.#fetched.set(proof.name, fetched);
        if (proof.size === 0) {
          void this.#finish(proof.name, fetched);
          continue;
        }
        open = [proof.name, fetched];
      }
      const [name, fetched] = open;
      fetched.asked.set(fetched.nextOffset, clock.monotonic());
      this.#options.request(name, fetched.nextOffset);
      fetched.nextOffset += FILE_PIECE_BYTES;
      free--;
    }
    if (this.#fetched.size === 0 && this.#waiting.length === 0) this.#end(true);
  }

  /** The last piece of a file is here: it counts when it is what the donor has. */
  async #finish(name: string, { proof, file }: Fetched): Promise<void> {
    const { timers } = this.#options.host;
    try {
      const isRight = await checksumOf(file, timers) === proof.checksum;
      await file.syncData();
      file.close();
      if (this.#isOver) return;
      this.#fetched.delete(name);
      if (!isRight) {
        this.#bytes -= proof.size;
        this.#waiting.push(proof);
      }
      this.#goOn();
    } catch {
      this.#end(false);
    }
  }
}

/** Removes what is left of a transfer that was not complete, or that nobody wants any more. */
export function removeTransfer(disk: Disk, directory: string): void {
  const folder = joinPath(directory, TRANSFER_DIRECTORY);
  if (disk.list(folder).includes(READY_NAME)) {
    disk.remove(joinPath(folder, READY_NAME));
    disk.syncDirectory(folder);
  }
  for (const each of [folder, joinPath(folder, TABLES_DIRECTORY)]) {
    for (const name of disk.list(each)) {
      if (name !== TABLES_DIRECTORY) disk.remove(joinPath(each, name));
    }
  }
}

/**
 * Puts a complete transfer in the place of what the directory holds, of which nothing may be open; false when there is
 * none. May be repeated after a crash at any point.
 */
export function installTransfer(disk: Disk, directory: string): boolean {
  const folder = joinPath(directory, TRANSFER_DIRECTORY);
  const readyPath = joinPath(folder, READY_NAME);
  if (!disk.exists(readyPath)) return false;
  const ready = readWholeFile(disk, readyPath);
  const manifest = decodeManifest(ready.subarray(1), 0, readyPath);
  disk.createDirectory(joinPath(directory, TABLES_DIRECTORY));
  const tables = (place: string) => joinPath(place, TABLES_DIRECTORY);
  for (const [from, to] of [[folder, directory], [tables(folder), tables(directory)]] as const) {
    for (const name of disk.list(from)) {
      if (name !== READY_NAME && name !== TABLES_DIRECTORY) {
        disk.rename(joinPath(from, name), joinPath(to, name));
      }
    }
    disk.syncDirectory(to);
  }
  const before = readManifest(disk, directory).manifest;
  if (before?.op !== manifest.op) {
    writeManifest(disk, directory, { ...manifest, number: (before?.number ?? 0) + 1 });
  }
  // Else the log begins anew behind the checkpoint.
  if (ready[0] !== KEEPS_LOG) Log.remove(disk, joinPath(directory, LOG_DIRECTORY));
  disk.remove(readyPath);
  disk.syncDirectory(directoryOf(readyPath));
  return true;
}
