/** Files of the fragments that a shard runs, for rows that do not fit into their memory. */
import { LIMITS } from "../base/limits.ts";
import type { Disk } from "../host/disk.ts";
import { SpillFile } from "../host/spill_file.ts";
import { MEMORY } from "../storage/storage_engine.ts";
import { type SpaceOwner, TemporarySpace } from "../storage/temporary_space.ts";

/** Their limit is that of all of them together. */
const FRAGMENTS: SpaceOwner = { settings: { bytes: () => -1 } };

/** See the file's head. */
export class FragmentFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #space = new TemporarySpace(LIMITS.temporaryFileBytes).of(FRAGMENTS);

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** Those of one run. */
  forRun(): RunFiles {
    const open = () => new SpillFile(this.#disk, this.#directory, { space: this.#space });
    return new RunFiles(this.#directory === MEMORY ? null : open);
  }
}

/** The files of one run. */
export class RunFiles {
  /** For `FragmentRun`. */
  readonly given: { readonly spillFile?: () => SpillFile };
  readonly #files: SpillFile[] = [];

  constructor(open: (() => SpillFile) | null) {
    this.given = open === null ? {} : {
      spillFile: () => {
        const file = open();
        this.#files.push(file);
        return file;
      },
    };
  }

  /** Removes them. */
  close(): void {
    for (const file of this.#files.splice(0)) file.close();
  }
}
