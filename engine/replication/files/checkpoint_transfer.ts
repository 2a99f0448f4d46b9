/**
 * Fetches the files of another member's checkpoint into the folder `transfer`, and puts them in the place of the own.
 *
 * A file that this member has already, by name and hash, gets a second name there; the rest is fetched
 * (`file_fetch.ts`). When all are there and durable, `READY` is written, which holds the manifest: from then on the
 * transfer is carried through, after a crash as well ({@link installTransfer}). Until then nothing of the member's own
 * state is touched.
 */
import { directoryOf, type Disk, joinPath, readWholeFile, writeWholeFile } from "../../host/disk.ts";
import { assert } from "../../base/assert.ts";
import { equalBytes } from "../../base/bytes.ts";
import type { Host } from "../../host/host.ts";
import {
  checkpointFolders,
  type HashedFile,
  isCheckpointFileName,
  isCheckpointFolderName,
} from "../../storage/file_hashes.ts";
import { DamagedFileError } from "../../storage/table/damaged_file.ts";
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  newestManifestNumber,
  readManifest,
  writeManifest,
} from "../../storage/manifest.ts";
import { Log } from "../../storage/log.ts";
import { LOG_DIRECTORY } from "../../storage/storage_engine.ts";
import type { CheckpointOffer } from "./checkpoint_donor.ts";
import { FileFetch, hashOf } from "./file_fetch.ts";

const TRANSFER_DIRECTORY = "transfer";
/** A flag, and the manifest as a file of number 0. */
const READY_NAME = "READY";
const KEEPS_LOG = 1;

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
  request(file: HashedFile, offset: number): void;
}

/** One transfer; see the head of the file. */
export class CheckpointTransfer {
  readonly op: number;
  readonly #options: TransferOptions;
  readonly #folder: string;
  readonly #manifest: Manifest;
  readonly #fetch: FileFetch;
  /** Bytes of files that need not be fetched. */
  #ownBytes = 0;
  #isAbandoned = false;

  /** Raises XX001 for an offer that is none. */
  constructor(options: TransferOptions) {
    const { offer, directory, host, request } = options;
    this.op = offer.op;
    this.#options = options;
    this.#folder = joinPath(directory, TRANSFER_DIRECTORY);
    this.#manifest = decodeManifest(offer.manifest, 0, READY_NAME);
    for (const { name } of this.#files) assert(isCheckpointFileName(name), `no file is called "${name}"`);
    this.#fetch = new FileFetch({ host, folder: this.#folder, request });
  }

  get #files(): readonly HashedFile[] {
    return this.#manifest.group?.files ?? [];
  }

  /** Bytes that have come from the donor; the rest was here. */
  get fetchedBytes(): number {
    return this.#fetch.bytes;
  }

  get progress(): TransferProgress {
    const totalBytes = this.#files.reduce((sum, { size }) => sum + size, 0);
    return { op: this.op, bytes: this.#ownBytes + this.#fetch.bytes, totalBytes };
  }

  /**
   * Resolves with true when everything is there and durable, with false when the donor does not go on. `keepsLog` is
   * asked last, with the machine's state: whether what the own log has above the checkpoint continues it.
   */
  async run(keepsLog: (state: Uint8Array) => boolean = () => false): Promise<boolean> {
    const { host: { disk }, offer, directory } = this.#options;
    removeTransfer(disk, directory);
    const folders = new Set(this.#files.map(({ name }) => directoryOf(joinPath(this.#folder, name))));
    for (const folder of folders) disk.createDirectory(folder);
    const missing: HashedFile[] = [];
    for (const file of this.#files) {
      if (this.#isAbandoned) return false;
      if (await this.#isOwn(file)) this.#ownBytes += file.size;
      else missing.push(file);
    }
    if (!await this.#fetch.run(missing)) return false;
    for (const folder of folders) disk.syncDirectory(folder);
    const state = readWholeFile(disk, joinPath(this.#folder, this.#manifest.state.name));
    const ready = new Uint8Array(1 + offer.manifest.length);
    ready[0] = keepsLog(state) ? KEEPS_LOG : 0;
    ready.set(offer.manifest, 1);
    writeWholeFile(disk, joinPath(this.#folder, READY_NAME), ready);
    return true;
  }

  /** Whether this member has the file; it has a second name for it then. */
  async #isOwn({ name, size, hash }: HashedFile): Promise<boolean> {
    const { host: { disk, timers }, directory } = this.#options;
    const path = joinPath(directory, name);
    if (!disk.exists(path)) return false;
    const file = disk.openFile(path, { create: false, write: false });
    try {
      if (file.size !== size || await hashOf(file, timers) !== hash) return false;
    } finally {
      file.close();
    }
    // Another transfer may use the folder by now.
    if (this.#isAbandoned) return false;
    disk.link(path, joinPath(this.#folder, name));
    return true;
  }

  /** A piece has come. */
  onPiece(name: string, hash: string, offset: number, bytes: Uint8Array): void {
    this.#fetch.onPiece(name, hash, offset, bytes);
  }

  /** Called now and then: asks again for what has not come. */
  onTick(): void {
    this.#fetch.onTick();
  }

  /** Gives the transfer up. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#fetch.abandon();
  }
}

/** Removes what is left of a transfer that was not complete, or that nobody wants any more. */
export function removeTransfer(disk: Disk, directory: string): void {
  const folder = joinPath(directory, TRANSFER_DIRECTORY);
  if (disk.list(folder).includes(READY_NAME)) {
    disk.remove(joinPath(folder, READY_NAME));
    disk.syncDirectory(folder);
  }
  for (const each of checkpointFolders(disk, folder)) {
    for (const name of disk.list(joinPath(folder, each))) {
      if (!isCheckpointFolderName(name)) disk.remove(joinPath(joinPath(folder, each), name));
    }
  }
}

/** Whether the newest manifest of the directory is this one, but for its number. */
function isInstalled(disk: Disk, directory: string, manifest: Uint8Array): boolean {
  try {
    const own = readManifest(disk, directory).manifest;
    return own !== null && equalBytes(encodeManifest({ ...own, number: 0 }), manifest);
  } catch (error) {
    if (error instanceof DamagedFileError) return false;
    throw error;
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
  for (const each of checkpointFolders(disk, folder)) {
    const [from, to] = [joinPath(folder, each), joinPath(directory, each)];
    disk.createDirectory(to);
    for (const name of disk.list(from)) {
      if (name !== READY_NAME && !isCheckpointFolderName(name)) {
        disk.rename(joinPath(from, name), joinPath(to, name));
      }
    }
    disk.syncDirectory(to);
  }
  if (!isInstalled(disk, directory, ready.subarray(1))) {
    writeManifest(disk, directory, { ...manifest, number: newestManifestNumber(disk, directory) + 1 });
  }
  // Else the log begins anew behind the checkpoint.
  if (ready[0] !== KEEPS_LOG) Log.remove(disk, joinPath(directory, LOG_DIRECTORY));
  disk.remove(readyPath);
  disk.syncDirectory(directoryOf(readyPath));
  return true;
}
