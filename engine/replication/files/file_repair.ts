/**
 * Repairs damaged files of this member's checkpoint: each is fetched by name and hash from another member, whichever
 * has it, and its bytes take the place of the damaged ones. Whoever has the file open reads them from then on; in
 * between checksums say which are which.
 *
 * Limits: one file at a time; when no member has it, or the disk is full, it is tried again every 10 s.
 */
import { directoryOf, type Disk, joinPath } from "../../host/disk.ts";
import type { Host } from "../../host/host.ts";
import { checkpointFolders, type HashedFile, isCheckpointFolderName } from "../../storage/file_hashes.ts";
import { FileFetch, hashOf } from "./file_fetch.ts";

const FOLDER = "repairing";
const PIECE_BYTES = 1 << 20;
const RETRY_MICROSECONDS = 10_000_000;

/** What a repair needs of its member. */
export interface FileRepairOwner {
  /** The other members, those first that can be reached. */
  readonly donors: readonly number[];
  /** Asks a member for a piece. */
  request(from: number, file: HashedFile, offset: number): void;
  /** Whether the file is still one of the checkpoint. */
  isWanted(file: HashedFile): boolean;
  /** Its bytes are right, on the disk; `from`: who had them, null when they were right all the time. */
  onRepaired(file: HashedFile, from: number | null): void;
  /** No other member has it. */
  onMissing(file: HashedFile): void;
  onError(error: unknown): void;
}

/** See the head of the file. */
export class FileRepair {
  readonly #host: Host;
  readonly #directory: string;
  readonly #owner: FileRepairOwner;
  readonly #waiting = new Map<string, HashedFile>();
  #fetching: { readonly from: number; readonly fetch: FileFetch } | null = null;
  #isBusy = false;
  #retryAt = -Infinity;
  #isClosed = false;

  constructor(host: Host, directory: string, owner: FileRepairOwner) {
    this.#host = host;
    this.#directory = directory;
    this.#owner = owner;
  }

  /** A file is damaged, as a reader says; whether that is news. */
  add(file: HashedFile): boolean {
    if (this.#waiting.has(file.name)) return false;
    this.#waiting.set(file.name, file);
    this.#retryAt = -Infinity;
    this.#goOn();
    return true;
  }

  /** Called now and then. */
  onTick(): void {
    this.#fetching?.fetch.onTick();
    this.#goOn();
  }

  /** A piece has come from another member. */
  onPiece(
    from: number,
    { name, hash }: { name: string; hash: string },
    offset: number,
    bytes: Uint8Array,
  ): void {
    if (this.#fetching?.from === from) this.#fetching.fetch.onPiece(name, hash, offset, bytes.slice());
  }

  /** Gives up what is on its way. */
  close(): void {
    this.#isClosed = true;
    this.#fetching?.fetch.abandon();
  }

  #goOn(): void {
    if (this.#isBusy || this.#isClosed || this.#host.clock.monotonic() < this.#retryAt) return;
    const file = this.#waiting.values().next().value;
    if (file === undefined) return;
    this.#isBusy = true;
    this.#fix(file).catch((error) => {
      // Not at once: what has failed, as on a full disk, would fail again.
      this.#retryAt = this.#host.clock.monotonic() + RETRY_MICROSECONDS;
      this.#owner.onError(error);
    }).finally(() => {
      this.#isBusy = false;
      this.#goOn();
    });
  }

  async #fix(file: HashedFile): Promise<void> {
    const owner = this.#owner;
    if (!owner.isWanted(file)) return void this.#waiting.delete(file.name);
    if (await this.#isWhole(file)) return this.#repaired(file, null);
    for (const from of owner.donors) {
      if (!await this.#fetch(file, from)) continue;
      // A checkpoint may have gone without it meanwhile.
      if (owner.isWanted(file)) await this.#putInPlace(file);
      if (!this.#isClosed) this.#repaired(file, from);
      return;
    }
    if (this.#isClosed) return;
    this.#retryAt = this.#host.clock.monotonic() + RETRY_MICROSECONDS;
    owner.onMissing(file);
  }

  #repaired(file: HashedFile, from: number | null): void {
    this.#waiting.delete(file.name);
    this.#owner.onRepaired(file, from);
  }

  async #isWhole({ name, size, hash }: HashedFile): Promise<boolean> {
    const { disk, timers } = this.#host;
    const path = joinPath(this.#directory, name);
    if (!disk.exists(path)) return false;
    const file = disk.openFile(path, { create: false, write: false });
    try {
      return file.size === size && await hashOf(file, timers) === hash;
    } finally {
      file.close();
    }
  }

  async #fetch(file: HashedFile, from: number): Promise<boolean> {
    if (this.#isClosed) return false;
    const folder = joinPath(this.#directory, FOLDER);
    this.#host.disk.createDirectory(directoryOf(joinPath(folder, file.name)));
    const fetch = new FileFetch({
      host: this.#host,
      folder,
      request: (wanted, offset) => this.#owner.request(from, wanted, offset),
    });
    this.#fetching = { from, fetch };
    let isHere = false;
    try {
      isHere = await fetch.run([file]);
    } finally {
      this.#fetching = null;
      if (!isHere) this.#host.disk.remove(joinPath(folder, file.name));
    }
    return isHere && !this.#isClosed;
  }

  async #putInPlace({ name, size }: HashedFile): Promise<void> {
    const { disk, timers } = this.#host;
    const path = joinPath(this.#directory, name);
    const fetched = joinPath(joinPath(this.#directory, FOLDER), name);
    const from = disk.openFile(fetched, { create: false, write: false });
    const to = disk.openFile(path, { create: true, write: true });
    try {
      const piece = new Uint8Array(PIECE_BYTES);
      for (let at = 0; at < size; at += piece.length) {
        to.writeAt(at, piece.subarray(0, from.readAt(at, piece)));
        await timers.yieldToLoop();
      }
      if (to.size !== size) to.truncate(size);
      await to.syncData();
    } finally {
      from.close();
      to.close();
    }
    disk.syncDirectory(directoryOf(path));
    disk.remove(fetched);
  }
}

/** Removes what an earlier process has left on its way. */
export function removeRepairs(disk: Disk, directory: string): void {
  const repairing = joinPath(directory, FOLDER);
  for (const each of checkpointFolders(disk, repairing)) {
    const folder = joinPath(repairing, each);
    for (const name of disk.list(folder)) {
      if (!isCheckpointFolderName(name)) disk.remove(joinPath(folder, name));
    }
  }
}
