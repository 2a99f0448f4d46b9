/**
 * Fetches files of another member into a folder, by name and hash: in pieces, several on their way at a time. A file
 * counts when its hash is right, and is durable then. It is hashed while it comes, and synced by the way.
 *
 * Limits: 8 pieces of 256 KiB on their way; a piece that does not come within a second is asked for again. A donor is
 * given up that does not answer for 5 s, has not got a file, or gives one whose hash is wrong twice: a question for
 * what is behind the file's end says so.
 */
import { DatabaseError } from "../../base/errors.ts";
import { type DiskFile, isDiskFull, joinPath } from "../../host/disk.ts";
import type { Host } from "../../host/host.ts";
import { Sha256 } from "../../host/sha256.ts";
import { type HashedFile, hashInSteps } from "../../storage/file_hashes.ts";
import { FILE_PIECE_BYTES } from "./checkpoint_donor.ts";

const PIECES_AT_ONCE = 8;
/** So much of a file is written before a sync of it begins. */
const SYNC_BYTES = 32 * 1024 * 1024;
const REPEAT_MICROSECONDS = 1_000_000;
const SILENCE_MICROSECONDS = 5_000_000;

/** How to fetch. */
export interface FetchOptions {
  readonly host: Pick<Host, "disk" | "timers" | "clock">;
  /** Where the files go, under their names. */
  readonly folder: string;
  /** Asks the donor for the piece at the offset. */
  request(file: HashedFile, offset: number): void;
}

interface Fetched {
  readonly wanted: HashedFile;
  readonly file: DiskFile;
  /** Offsets that were asked for and have not come, with the time of asking. */
  readonly asked: Map<number, number>;
  nextOffset: number;
  missingBytes: number;
  /** Of the first so many bytes. */
  readonly hash: Sha256;
  hashedBytes: number;
  unsyncedBytes: number;
  /** The sync that is under way; whether it went well. */
  syncing: Promise<boolean> | null;
}

/** See the head of the file. */
export class FileFetch {
  readonly #options: FetchOptions;
  readonly #done = Promise.withResolvers<boolean>();
  readonly #fetched = new Map<string, Fetched>();
  /** Files that have come once, and were wrong. */
  readonly #wrong = new Set<string>();
  #waiting: HashedFile[] = [];
  #bytes = 0;
  #heardAt: number;
  #isOver = false;

  constructor(options: FetchOptions) {
    this.#options = options;
    this.#heardAt = options.host.clock.monotonic();
  }

  /** Bytes that have come. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves with true when all of the files are there and durable, with false when the donor does not go on; rejects
   * with 53100.
   */
  run(files: readonly HashedFile[]): Promise<boolean> {
    this.#waiting = [...files];
    if (!this.#isOver) this.#goOn();
    return this.#done.promise;
  }

  /** A piece has come. */
  onPiece(name: string, hash: string, offset: number, bytes: Uint8Array): void {
    const fetched = this.#fetched.get(name);
    if (this.#isOver || fetched?.wanted.hash !== hash || !fetched.asked.delete(offset)) return;
    if (bytes.length !== Math.min(FILE_PIECE_BYTES, fetched.wanted.size - offset)) return this.#end(false);
    this.#heardAt = this.#options.host.clock.monotonic();
    try {
      fetched.file.writeAt(offset, bytes);
    } catch (error) {
      return this.#failed(error);
    }
    fetched.missingBytes -= bytes.length;
    this.#bytes += bytes.length;
    if (offset === fetched.hashedBytes) {
      fetched.hash.update(bytes);
      fetched.hashedBytes += bytes.length;
    }
    syncByTheWay(fetched, bytes.length);
    if (fetched.missingBytes === 0) void this.#finish(name, fetched);
    else this.#goOn();
  }

  /** Called now and then: asks again for what has not come. */
  onTick(): void {
    if (this.#isOver) return;
    const now = this.#options.host.clock.monotonic();
    const fetched = [...this.#fetched.values()];
    // A donor that is asked for nothing is not silent: this member hashes or syncs what it has.
    if (fetched.every(({ asked }) => asked.size === 0)) this.#heardAt = now;
    if (now - this.#heardAt > SILENCE_MICROSECONDS) return this.#end(false);
    for (const { wanted, asked } of fetched) {
      for (const [offset, at] of asked) {
        if (now - at < REPEAT_MICROSECONDS) continue;
        asked.set(offset, now);
        this.#options.request(wanted, offset);
      }
    }
  }

  /** Gives the files up. */
  abandon(): void {
    this.#end(false);
  }

  /** A full disk is reported; whatever else it says, the files may come once more. */
  #failed(error: unknown): void {
    if (isDiskFull(error)) this.#done.reject(error);
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
    try {
      this.#askForMore();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      // The file that could not be made must not be forgotten.
      this.#failed(error);
    }
  }

  #askForMore(): void {
    let free = PIECES_AT_ONCE;
    for (const { asked } of this.#fetched.values()) free -= asked.size;
    while (free > 0) {
      const open = [...this.#fetched.values()].find(({ nextOffset, wanted }) => nextOffset < wanted.size);
      const fetched = open ?? this.#beginNext();
      if (fetched === null) break;
      if (fetched.wanted.size === 0) {
        void this.#finish(fetched.wanted.name, fetched);
        continue;
      }
      fetched.asked.set(fetched.nextOffset, this.#options.host.clock.monotonic());
      this.#options.request(fetched.wanted, fetched.nextOffset);
      fetched.nextOffset += FILE_PIECE_BYTES;
      free--;
    }
    if (this.#fetched.size === 0 && this.#waiting.length === 0) this.#end(true);
  }

  #beginNext(): Fetched | null {
    const wanted = this.#waiting.shift();
    if (wanted === undefined) return null;
    const { host: { disk }, folder } = this.#options;
    const path = joinPath(folder, wanted.name);
    disk.remove(path);
    const file = disk.openFile(path, { create: true, write: true });
    const fetched: Fetched = {
      wanted,
      file,
      asked: new Map(),
      nextOffset: 0,
      missingBytes: wanted.size,
      hash: new Sha256(),
      hashedBytes: 0,
      unsyncedBytes: 0,
      syncing: null,
    };
    this.#fetched.set(wanted.name, fetched);
    return fetched;
  }

  /** The last piece of a file is here. */
  async #finish(name: string, { wanted, file, hash, hashedBytes, syncing }: Fetched): Promise<void> {
    const { timers } = this.#options.host;
    try {
      // A piece that was asked for again came behind later ones.
      const found = hashedBytes === wanted.size ? hash.digest() : await hashOf(file, timers);
      const isRight = found === wanted.hash;
      if (await syncing === false) return this.#end(false);
      await file.syncData();
      file.close();
      if (this.#isOver) return;
      this.#fetched.delete(name);
      if (!isRight) {
        if (this.#wrong.has(name)) {
          this.#options.request(wanted, wanted.size);
          return this.#end(false);
        }
        this.#wrong.add(name);
        this.#bytes -= wanted.size;
        this.#waiting.push(wanted);
      }
      this.#goOn();
    } catch (error) {
      this.#failed(error);
    }
  }
}

/** Begins a sync of what has come when that is much, so that little is left for the last. */
function syncByTheWay(fetched: Fetched, bytes: number): void {
  fetched.unsyncedBytes += bytes;
  if (fetched.unsyncedBytes < SYNC_BYTES || fetched.syncing !== null) return;
  fetched.unsyncedBytes = 0;
  fetched.syncing = fetched.file.syncData().then(() => {
    fetched.syncing = null;
    return true;
  }, () => false);
}

/** The SHA-256 of a whole file, which is read between other work. */
export async function hashOf(file: DiskFile, timers: Host["timers"]): Promise<string> {
  const steps = hashInSteps(file);
  for (let step = steps.next();; step = steps.next()) {
    if (step.done === true) return step.value;
    await timers.yieldToLoop();
  }
}
