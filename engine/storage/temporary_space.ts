/**
 * What the temporary files of all statements together take of the disk, and those of each session: what is beyond a
 * bound is refused before it is written.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { FileSpace } from "../host/spill_file.ts";
import type { Settings } from "../settings/settings.ts";

/** Whose files they are. */
export interface SpaceOwner {
  /** Has `temp_file_limit`, for its own files. */
  readonly settings: Pick<Settings, "bytes">;
}

/** See the file's head. */
export class TemporarySpace {
  readonly limitBytes: number;
  readonly #byOwner = new Map<SpaceOwner, number>();
  #used = 0;
  #peak = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Bytes of all files that are there. */
  get usedBytes(): number {
    return this.#used;
  }

  /** The most that were there at a time. */
  get peakBytes(): number {
    return this.#peak;
  }

  /** For a file of the owner. */
  of(owner: SpaceOwner): FileSpace {
    return { take: (bytes) => this.#take(owner, bytes), give: (bytes) => this.#give(owner, bytes) };
  }

  #take(owner: SpaceOwner, bytes: number): void {
    const own = (this.#byOwner.get(owner) ?? 0) + bytes;
    const ownLimit = owner.settings.bytes("temp_file_limit");
    if (ownLimit >= 0 && own > ownLimit) {
      throw refused(`temporary file size exceeds temp_file_limit (${ownLimit / 1024}kB)`, "temp_file_limit");
    }
    if (this.#used + bytes > this.limitBytes) {
      const megabytes = Math.round(this.limitBytes / 1048576);
      throw refused(
        `temporary files of all statements exceed --temp-file-limit (${megabytes}MB)`,
        "--temp-file-limit",
      );
    }
    this.#byOwner.set(owner, own);
    this.#used += bytes;
    this.#peak = Math.max(this.#peak, this.#used);
  }

  #give(owner: SpaceOwner, bytes: number): void {
    const own = (this.#byOwner.get(owner) ?? 0) - bytes;
    assert(own >= 0, "no more space is given back than was taken");
    if (own === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own);
    this.#used -= bytes;
  }
}

function refused(message: string, setting: string): DatabaseError {
  return new DatabaseError(SQLSTATE.configurationLimitExceeded, message, {
    hint: `Raise statement_memory, so that the statement writes less, or ${setting}.`,
  });
}
