/**
 * Copying the files of a checkpoint to another directory, where a server can be started on them.
 *
 * The files never change, so a second name (hard link) is a copy; where links cannot reach, another file system, the
 * bytes are copied in pieces between other work. Every source file is open before the first pause, so nothing is
 * missed when a later checkpoint removes its name meanwhile. The manifest comes last: without it the copy is no
 * database with rows.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import type { Timers } from "../host/host.ts";
import { type Manifest, writeManifest } from "./manifest.ts";
import { partFolder } from "./storage_parts.ts";

const PIECE_BYTES = 1 << 20;

/** What is copied where. */
export interface SnapshotCopy {
  readonly disk: Disk;
  /** The same disk, or another one. */
  readonly targetDisk: Disk;
  readonly timers: Timers;
  readonly manifest: Manifest;
  readonly source: string;
  readonly target: string;
  /** Name of the folder of table files within both. */
  readonly tablesName: string;
  /** Names of other files that the copy needs. */
  readonly others: readonly string[];
}

/** Makes the target directory; raises 55000 when it holds something. */
export function prepareSnapshotDirectory(disk: Disk, target: string): void {
  if (disk.list(target).length > 0) {
    throw new DatabaseError(
      SQLSTATE.objectNotInPrerequisiteState,
      `directory "${target}" exists but is not empty`,
      { hint: "Name a new or empty directory for the snapshot." },
    );
  }
  disk.createDirectory(target);
}

/** Copies; when it ends, the copy is durable. Must be called in the turn in which the manifest is the installed one. */
export async function copySnapshot(copy: SnapshotCopy): Promise<void> {
  const { disk, targetDisk, manifest, source, target, tablesName } = copy;
  const parts = (manifest.parts ?? []).map((part, index) => ({ ...part, folder: partFolder(index) }));
  const folders = [target, ...parts.map(({ folder }) => joinPath(target, folder))];
  const tableFolders = folders.map((folder) => joinPath(folder, tablesName));
  for (const folder of [...folders.slice(1), ...tableFolders]) targetDisk.createDirectory(folder);
  const remaining: { readonly file: DiskFile; readonly path: string }[] = [];
  const names = [
    ...namesOf(manifest, tablesName),
    ...parts.flatMap((part) => namesOf(part, tablesName).map((name) => joinPath(part.folder, name))),
    ...copy.others,
  ];
  try {
    for (const name of names) {
      const path = joinPath(target, name);
      if (disk !== targetDisk || !isLinked(disk, joinPath(source, name), path)) {
        remaining.push({
          file: disk.openFile(joinPath(source, name), { create: false, write: false }),
          path,
        });
      }
    }
    for (const { file, path } of remaining) await copyFile(copy, file, path);
  } finally {
    for (const { file } of remaining) file.close();
  }
  for (const folder of [...tableFolders, ...folders.slice(1)]) targetDisk.syncDirectory(folder);
  writeManifest(targetDisk, target, manifest);
}

/** The files of a state, by their names in its folder. */
function namesOf({ tables, state }: Pick<Manifest, "tables" | "state">, tablesName: string): string[] {
  return [...tables.flatMap(({ files }) => files).map((name) => joinPath(tablesName, name)), state.name];
}

function isLinked(disk: Disk, from: string, to: string): boolean {
  try {
    disk.link(from, to);
    return true;
  } catch (error) {
    // Another file system, or one without links; if it is anything worse, copying fails with its reason.
    if (error instanceof DatabaseError) return false;
    throw error;
  }
}

async function copyFile({ targetDisk, timers }: SnapshotCopy, from: DiskFile, path: string): Promise<void> {
  const to = targetDisk.openFile(path, { create: true, write: true });
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let position = 0; position < from.size; position += PIECE_BYTES) {
      const count = from.readAt(position, piece);
      to.writeAt(position, piece.subarray(0, count));
      await timers.yieldToLoop();
    }
    await to.syncData();
  } finally {
    to.close();
  }
}
