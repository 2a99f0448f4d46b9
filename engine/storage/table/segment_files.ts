/**
 * The files of tables, by name: the port between tables and whoever owns the directory.
 *
 * A table removes a file only when no manifest it knows to be installed names it. Syncing is the owner's: the table
 * hands out the files that must be durable before a manifest may name them.
 */
import { type Disk, type DiskFile, joinPath } from "../../host/disk.ts";
import { SpillFile } from "../../host/spill_file.ts";
import { DamagedFileError } from "./damaged_file.ts";

/** Hashes files while they are written. */
export interface WrittenHashes {
  /** What the file is written through. */
  written(name: string, file: DiskFile): DiskFile;
  /** There is no such file any more. */
  forget(name: string): void;
}

/** Creates, opens and removes files by name. */
export interface SegmentFiles {
  /** A new, empty file for writing and reading; replaces one of that name. */
  create(name: string): DiskFile;
  /** A file for what is too much for memory while another one is made; it goes when it is closed. */
  temporary(name: string): SpillFile;
  /** An existing file, for reading. */
  open(name: string): DiskFile;
  /** Hears of damage in a file that was opened, before it is raised. */
  readonly onDamage: (path: string) => void;
  /** A missing file is no error. */
  remove(name: string): void;
}

/** The same files; those that are created are noted, so that they are synced before a manifest names them. */
export function notingCreated(files: SegmentFiles, created: DiskFile[]): SegmentFiles {
  return {
    ...files,
    create: (name) => {
      const file = files.create(name);
      created.push(file);
      return file;
    },
  };
}

/** The files of a directory of a disk. */
export function segmentFilesIn(
  disk: Disk,
  directory: string,
  { hashes = null, onDamage = () => {} }: {
    readonly hashes?: WrittenHashes | null;
    readonly onDamage?: (path: string) => void;
  } = {},
): SegmentFiles {
  return {
    onDamage,
    create(name) {
      const path = joinPath(directory, name);
      // Never cut in place: a snapshot may share the old file by a hard link, and a reader may have it open.
      disk.remove(path);
      const file = disk.openFile(path, { create: true, write: true });
      return hashes?.written(name, file) ?? file;
    },
    temporary: (name) => new SpillFile(disk, directory, { name }),
    open(name) {
      const path = joinPath(directory, name);
      // Where others have it, a file that is gone is as good as one that is damaged.
      if (hashes !== null && !disk.exists(path)) {
        onDamage(path);
        throw new DamagedFileError(path, 0, "the file is missing");
      }
      return disk.openFile(path, { create: false, write: false });
    },
    remove(name) {
      disk.remove(joinPath(directory, name));
      hashes?.forget(name);
    },
  };
}
