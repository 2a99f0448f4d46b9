/**
 * A checkpoint under way: the state after one op on its way into files.
 *
 * It begins by freezing every table at the op, which is cheap, and by taking the state machine's own state. Then it is
 * built in small steps between requests: segments and compaction of one table after the other, syncs of the finished
 * files, and at last the manifest, whose rename makes the checkpoint exist. Until then nothing that the former checkpoint
 * needs is touched. `finishNow` does what is left in one go, blocking.
 *
 * Invariants: a manifest is written only when the files it names and the log up to the op are durable; what is
 * built is a function of the tables at the op, not of when steps run. Errors are the owner's: a checkpoint that failed is
 * never continued.
 */
import { assert } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { type Disk, type DiskFile, joinPath, writeWholeFile } from "../host/disk.ts";
import type { CanonicalValue } from "../operations/canonical_json.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { Log } from "./log.ts";
import { type Manifest, manifestName, type ManifestTable, proofOf, writeManifest } from "./manifest.ts";

/** What a checkpoint needs of a table. */
export interface CheckpointedTable {
  readonly definition: TableDefinition;
  /** From now on writes go to a new delta; what was written up to the op is what the next steps put into files. */
  freeze(op: OpNumber): void;
  /** Builds at most about that many rows of segments or compaction; true when nothing is left to build. */
  buildStep(budgetRows: number): boolean;
  /** Files that must be synced before a manifest may name them. */
  filesToSync(): readonly DiskFile[];
  /** What `restore` needs to know to give back the table as of the freeze. */
  describe(): CanonicalValue;
  /** Names of the files that the last description speaks of. */
  fileNames(): readonly string[];
  /** A manifest with the last description exists. */
  installed(): void;
}

/** Name of the file that holds the state machine's state at an op. */
export function stateFileName(op: number): string {
  return `state-${op.toString(16).padStart(16, "0")}`;
}

/** Whether a name is one that {@link stateFileName} makes. */
export function isStateFileName(name: string): boolean {
  return /^state-[0-9a-f]{16}$/.test(name);
}

/** Where a checkpoint is written. */
export interface CheckpointPlace {
  readonly disk: Disk;
  readonly directory: string;
  readonly tablesDirectory: string;
  readonly log: Log;
  readonly previous: Manifest | null;
}

interface TableAtOp {
  readonly id: number;
  readonly table: CheckpointedTable;
  /** As of the op; the table's own may move on. */
  readonly definition: TableDefinition;
}

/** See the file's head. */
export class Checkpoint {
  readonly op: OpNumber;
  readonly #place: CheckpointPlace;
  readonly #state: Uint8Array;
  readonly #tables: readonly TableAtOp[];
  #building = 0;
  #syncing: DiskFile[] | null = null;
  #manifest: Manifest | null = null;

  /** Freezes the tables; the state is that of the same op. */
  constructor(
    op: OpNumber,
    state: Uint8Array,
    tables: Iterable<readonly [number, CheckpointedTable]>,
    place: CheckpointPlace,
  ) {
    this.op = op;
    this.#place = place;
    this.#state = state;
    this.#tables = [...tables].sort(([left], [right]) => left - right)
      .map(([id, table]) => ({ id, table, definition: table.definition }));
    for (const { table } of this.#tables) table.freeze(op);
  }

  /** Set once the checkpoint exists. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  /** One bounded step of building; true when all files are complete. */
  buildStep(): boolean {
    const current = this.#tables[this.#building];
    if (current === undefined) return true;
    if (current.table.buildStep(LIMITS.checkpointStepRows)) this.#building++;
    return this.#building === this.#tables.length;
  }

  #unsyncedFiles(): DiskFile[] {
    return this.#syncing ??= this.#tables.flatMap(({ table }) => [...table.filesToSync()]);
  }

  /** Syncs in the background, one file after the other; `isCurrent` tells whether to go on after each. */
  async sync(isCurrent: () => boolean): Promise<void> {
    assert(this.#building === this.#tables.length, "all files are built before they are synced");
    const files = this.#unsyncedFiles();
    for (let file = files[0]; file !== undefined; file = files[0]) {
      await file.syncData();
      if (!isCurrent()) return;
      files.shift();
    }
    await this.#place.log.whenDurable(this.op);
  }

  /** Does whatever is left, blocking. */
  finishNow(): Manifest {
    let isBuilt = this.buildStep();
    while (!isBuilt) isBuilt = this.buildStep();
    const files = this.#unsyncedFiles();
    for (const file of files) file.syncDataNow();
    files.length = 0;
    if (this.#place.log.durableOp < this.op) this.#place.log.syncNow();
    return this.install();
  }

  /** Writes the manifest and drops what only earlier ones needed. */
  install(): Manifest {
    const { disk, directory, tablesDirectory, log, previous } = this.#place;
    assert(this.#manifest === null, "a checkpoint is installed once");
    assert(this.#unsyncedFiles().length === 0, "files are synced before the manifest names them");
    assert(log.durableOp >= this.op, `the log is durable up to op ${log.durableOp}, not ${this.op}`);
    disk.syncDirectory(tablesDirectory);
    const stateName = stateFileName(this.op);
    writeWholeFile(disk, joinPath(directory, stateName), this.#state);
    const tables = this.#tables.map(({ id, table, definition }): ManifestTable => ({
      id,
      definition,
      storage: table.describe(),
      files: table.fileNames(),
    }));
    const manifest: Manifest = {
      number: (previous?.number ?? 0) + 1,
      op: this.op,
      state: proofOf(stateName, this.#state),
      tables,
    };
    writeManifest(disk, directory, manifest);
    this.#manifest = manifest;
    for (const { table } of this.#tables) table.installed();
    this.#removeObsolete(manifest);
    log.truncateBefore(this.op + 1);
    return manifest;
  }

  /** Removes what only the manifest before named. A reader that has such a file open goes on reading it. */
  #removeObsolete(manifest: Manifest): void {
    const { disk, directory, tablesDirectory, previous } = this.#place;
    if (previous === null) return;
    disk.remove(joinPath(directory, manifestName(previous.number)));
    if (previous.state.name !== manifest.state.name) disk.remove(joinPath(directory, previous.state.name));
    const live = new Set(manifest.tables.flatMap((table) => table.files));
    for (const table of previous.tables) {
      for (const name of table.files) if (!live.has(name)) disk.remove(joinPath(tablesDirectory, name));
    }
  }
}
