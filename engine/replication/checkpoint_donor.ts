/**
 * Gives the files of this member's newest checkpoint to members that are too far behind the log.
 *
 * All files are open from the offer on, so that a later checkpoint may remove their names meanwhile; they are closed
 * when nobody has asked for a while. The checksum of a whole file is computed once, in pieces between other work.
 */
import { crc32c } from "../base/checksum.ts";
import { type DiskFile, joinPath } from "../host/disk.ts";
import type { Host, TimerId } from "../host/host.ts";
import { encodeManifest, type FileProof, type Manifest } from "../storage/manifest.ts";
import { TABLES_DIRECTORY } from "../storage/storage_engine.ts";

/** Bytes of a file in one message. */
export const FILE_PIECE_BYTES = 256 * 1024;

const CHECKSUM_PIECE_BYTES = 1024 * 1024;
/** Files are closed when nothing was asked for so long. */
const IDLE_MICROSECONDS = 60_000_000;

/** What a donor has. */
export interface CheckpointOffer {
  readonly op: number;
  /** As a file of number 0. */
  readonly manifest: Uint8Array;
  /** The state first, then the files of the tables; a table's file has the folder before its name. */
  readonly files: readonly FileProof[];
}

interface Pinned {
  readonly offer: CheckpointOffer;
  readonly files: ReadonlyMap<string, DiskFile>;
}

/** See the head of the file. */
export class CheckpointDonor {
  readonly #host: Pick<Host, "disk" | "timers">;
  readonly #directory: string;
  /** Checksums of files of tables, which never change. */
  readonly #checksums = new Map<string, number>();
  #pinned: Pinned | null = null;
  #offering: Promise<CheckpointOffer | null> | null = null;
  #timer: TimerId | null = null;

  constructor(host: Pick<Host, "disk" | "timers">, directory: string) {
    this.#host = host;
    this.#directory = directory;
  }

  /** The checkpoint of the manifest, or the one that is being given already if it is not before `minimumOp`. */
  offer(manifest: Manifest | null, minimumOp: number): Promise<CheckpointOffer | null> {
    this.#stayOpen();
    if (this.#pinned !== null && this.#pinned.offer.op >= minimumOp) {
      return Promise.resolve(this.#pinned.offer);
    }
    if (manifest === null || manifest.op < minimumOp) return Promise.resolve(null);
    return this.#offering ??= this.#offer(manifest).finally(() => {
      this.#offering = null;
    });
  }

  async #offer(manifest: Manifest): Promise<CheckpointOffer> {
    this.close();
    const { disk } = this.#host;
    const names = [
      manifest.state.name,
      ...manifest.tables.flatMap((table) => table.files).map((name) => joinPath(TABLES_DIRECTORY, name)),
    ];
    const files = new Map<string, DiskFile>();
    try {
      for (const name of names) {
        files.set(name, disk.openFile(joinPath(this.#directory, name), { create: false, write: false }));
      }
      const proofs: FileProof[] = [];
      for (const [name, file] of files) {
        const checksum = this.#checksums.get(name) ?? await checksumOf(file, this.#host.timers);
        this.#checksums.set(name, checksum);
        proofs.push({ name, size: file.size, checksum });
      }
      for (const name of this.#checksums.keys()) if (!files.has(name)) this.#checksums.delete(name);
      const offer = { op: manifest.op, manifest: encodeManifest({ ...manifest, number: 0 }), files: proofs };
      this.#pinned = { offer, files };
      this.#stayOpen();
      return offer;
    } catch (error) {
      for (const file of files.values()) file.close();
      throw error;
    }
  }

  /** A piece of a file of the offer of that op; null: it is not given any more. */
  read(op: number, name: string, offset: number): Uint8Array | null {
    const pinned = this.#pinned;
    const file = pinned?.offer.op === op ? pinned.files.get(name) : undefined;
    if (file === undefined || offset > file.size) return null;
    this.#stayOpen();
    const piece = new Uint8Array(Math.min(FILE_PIECE_BYTES, file.size - offset));
    return file.readAt(offset, piece) === piece.length ? piece : null;
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
    for (const file of this.#pinned?.files.values() ?? []) file.close();
    this.#pinned = null;
  }
}

/** CRC-32C of a whole file. */
export async function checksumOf(file: DiskFile, timers: Host["timers"]): Promise<number> {
  const piece = new Uint8Array(CHECKSUM_PIECE_BYTES);
  let checksum = 0;
  for (let at = 0; at < file.size; at += CHECKSUM_PIECE_BYTES) {
    const count = file.readAt(at, piece);
    checksum = crc32c(piece, 0, count, checksum);
    await timers.yieldToLoop();
  }
  return checksum;
}
