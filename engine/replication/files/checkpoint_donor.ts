/**
 * Gives the files of this member's newest checkpoint to members that are too far behind the log, or that have damaged
 * ones.
 *
 * All files of a checkpoint are open from its offer on, so that a later checkpoint may remove their names meanwhile;
 * they are closed when nobody has asked for a while. Who takes them verifies their hashes.
 */
import { type DiskFile, joinPath } from "../../host/disk.ts";
import type { Host, TimerId } from "../../host/host.ts";
import type { HashedFile } from "../../storage/file_hashes.ts";
import { encodeManifest, type Manifest } from "../../storage/manifest.ts";

/** Bytes of a file in one message. */
export const FILE_PIECE_BYTES = 256 * 1024;

/** Files are closed when nothing was asked for so long. */
const IDLE_MICROSECONDS = 60_000_000;

/** What a donor has. */
export interface CheckpointOffer {
  readonly op: number;
  /** As a file of number 0. */
  readonly manifest: Uint8Array;
}

/** See the head of the file. */
export class CheckpointDonor {
  readonly #host: Pick<Host, "disk" | "timers">;
  readonly #directory: string;
  #offer: CheckpointOffer | null = null;
  /** Open files, by name and hash. */
  readonly #files = new Map<string, DiskFile>();
  #timer: TimerId | null = null;

  constructor(host: Pick<Host, "disk" | "timers">, directory: string) {
    this.#host = host;
    this.#directory = directory;
  }

  /** The checkpoint of the manifest, or the one that is being given already if it is not before `minimumOp`. */
  offer(manifest: Manifest | null, minimumOp: number): CheckpointOffer | null {
    if (this.#offer === null || this.#offer.op < minimumOp) {
      const files = manifest?.group?.files;
      if (manifest === null || files === undefined || manifest.op < minimumOp) return null;
      this.close();
      // Before them: one of them may be gone.
      this.#stayOpen();
      for (const file of files) this.#open(file);
      this.#offer = { op: manifest.op, manifest: encodeManifest({ ...manifest, number: 0 }) };
    }
    this.#stayOpen();
    return this.#offer;
  }

  /** A piece of a file that is being given or that the manifest names; null: there is none. */
  read(
    { name, hash }: Pick<HashedFile, "name" | "hash">,
    offset: number,
    manifest: Manifest | null,
  ): Uint8Array | null {
    const named = manifest?.group?.files.find((each) => each.name === name && each.hash === hash);
    const file = this.#files.get(keyOf({ name, hash })) ?? (named === undefined ? null : this.#open(named));
    if (file === null || offset > file.size) return null;
    this.#stayOpen();
    const piece = new Uint8Array(Math.min(FILE_PIECE_BYTES, file.size - offset));
    return file.readAt(offset, piece) === piece.length ? piece : null;
  }

  #open(file: Pick<HashedFile, "name" | "hash">): DiskFile {
    const path = joinPath(this.#directory, file.name);
    const opened = this.#host.disk.openFile(path, { create: false, write: false });
    this.#files.set(keyOf(file), opened);
    return opened;
  }

  #stayOpen(): void {
    const { timers } = this.#host;
    if (this.#timer !== null) timers.clearTimer(this.#timer);
    this.#timer = timers.setTimer(IDLE_MICROSECONDS, () => this.close());
  }

  /** Closes the files. */
  close(): void {
    if (this.#timer !== null) this.#host.timers.clearTimer(this.#timer);
    this.#timer = null;
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#offer = null;
  }
}

function keyOf({ name, hash }: Pick<HashedFile, "name" | "hash">): string {
  return `${hash} ${name}`;
}
