/**
 * Looks for damage in the files of a member's checkpoint before anybody needs them: reads all of them again and again,
 * slowly, and compares their hashes; and the manifest with what the member knows of it.
 *
 * Limits: one slice of 64 KiB at a time, as often as the rate allows.
 */
import { type Disk, joinPath } from "../../host/disk.ts";
import type { Host, TimerId } from "../../host/host.ts";
import { type HashedFile, hashInSteps } from "../../storage/file_hashes.ts";
import { isManifestWhole, type Manifest } from "../../storage/manifest.ts";
import { DatabaseError } from "../../base/errors.ts";

const SLICE_BYTES = 64 * 1024;
/** When there is nothing to read, it looks again after so long. */
const IDLE_MICROSECONDS = 1_000_000;

/** What a scrubber needs of its member. */
export interface ScrubberOwner {
  /** The newest checkpoint; null without any, or while the state is built again. */
  readonly manifest: Manifest | null;
  onDamage(file: HashedFile): void;
  onManifestDamage(manifest: Manifest): void;
}

/** See the head of the file. */
export class FileScrubber {
  readonly #host: Pick<Host, "disk" | "timers">;
  readonly #directory: string;
  readonly #owner: ScrubberOwner;
  readonly #sliceMicroseconds: number;
  /** Files that are still to be read in this round. */
  #round: HashedFile[] = [];
  #reading: Generator<void, boolean> | null = null;
  #file: HashedFile | null = null;
  #timer: TimerId | null = null;
  /** Rounds that have ended. */
  rounds = 0;

  /** `bytesPerSecond` is more than 0. */
  constructor(
    host: Pick<Host, "disk" | "timers">,
    directory: string,
    bytesPerSecond: number,
    owner: ScrubberOwner,
  ) {
    this.#host = host;
    this.#directory = directory;
    this.#owner = owner;
    this.#sliceMicroseconds = Math.ceil(SLICE_BYTES / bytesPerSecond * 1_000_000);
    this.#later(IDLE_MICROSECONDS);
  }

  /** Reads nothing any more. */
  close(): void {
    if (this.#timer !== null) this.#host.timers.clearTimer(this.#timer);
    this.#timer = null;
    this.#reading?.return(true);
    this.#reading = null;
  }

  #later(microseconds: number): void {
    this.#timer = this.#host.timers.setTimer(microseconds, () => this.#later(this.#step()));
  }

  /** Reads a slice; answers how long to wait for the next. */
  #step(): number {
    this.#reading ??= this.#next();
    if (this.#reading === null) return IDLE_MICROSECONDS;
    let isWhole = false;
    try {
      const step = this.#reading.next();
      if (step.done !== true) return this.#sliceMicroseconds;
      isWhole = step.value;
    } catch (error) {
      // What cannot be read is as good as damaged.
      if (!(error instanceof DatabaseError)) throw error;
    }
    this.#reading = null;
    const file = this.#file;
    // A file that is gone since was not damaged.
    if (!isWhole && file !== null && this.#isNamed(file)) this.#owner.onDamage(file);
    return this.#sliceMicroseconds;
  }

  #isNamed({ name, hash }: HashedFile): boolean {
    return this.#owner.manifest?.group?.files.some((each) => each.name === name && each.hash === hash) ===
      true;
  }

  #next(): Generator<void, boolean> | null {
    const { manifest } = this.#owner;
    if (manifest === null) return null;
    if (this.#round.length === 0) {
      if (this.#file !== null) this.rounds++;
      this.#round = [...manifest.group?.files ?? []];
      this.#file = null;
      if (!isManifestWhole(this.#host.disk, this.#directory, manifest)) {
        this.#owner.onManifestDamage(manifest);
      }
    }
    const file = this.#file = this.#round.shift() ?? null;
    return file === null ? null : readFile(this.#host.disk, this.#directory, file);
  }
}

/** Reads a file in slices; whether it is whole. */
function* readFile(
  disk: Disk,
  directory: string,
  { name, size, hash }: HashedFile,
): Generator<void, boolean> {
  const path = joinPath(directory, name);
  if (!disk.exists(path)) return false;
  const file = disk.openFile(path, { create: false, write: false });
  try {
    return file.size === size && (yield* hashInSteps(file, SLICE_BYTES)) === hash;
  } finally {
    file.close();
  }
}
