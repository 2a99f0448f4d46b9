/**
 * A checkpoint under way: the state after one op on its way into files.
 *
 * It begins by freezing every table at the op, which is cheap, and by taking the state machine's own state. Then it
 * is built in small steps between requests: segments and compaction of one table after the other, syncs of the
 * finished files, and at last the manifest, whose rename makes the checkpoint exist. Until then nothing that the
 * former checkpoint needs is touched. `finishNow` does what is left in one go, blocking.
 *
 * Invariants: a manifest is written only when the files it names and the log up to the op are durable, and the op is
 * committed, which for a member of a replication group is more; what is built,
 * segments and merges, is a function of the tables at the op, not of when steps run. Errors are the owner's: a
 * checkpoint that failed is never continued.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { type Disk, type DiskFile, joinPath, writeWholeFile } from "../host/disk.ts";
import { sha256Of } from "../host/sha256.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { CommitHorizon } from "./commit_horizon.ts";
import { filesOf } from "./table/table_piece.ts";
import type { TableStore } from "./table/table_store.ts";
import type { FileHashes, HashedFile } from "./file_hashes.ts";
import { partsOfManifest, type StorageLog } from "./storage_parts.ts";
import {
  type GroupProof,
  historyAfter,
  type Manifest,
  manifestName,
  type ManifestTable,
  proofOf,
  writeManifest,
} from "./manifest.ts";

/** Name of the file that holds the state machine's state at an op. */
export function stateFileName(op: number): string {
  return `state-${op.toString(16).padStart(16, "0")}`;
}

/** Whether a name is one that {@link stateFileName} makes. */
function isStateFileName(name: string): boolean {
  return /^state-[0-9a-f]{16}$/.test(name);
}

/** Removes state files and files of tables that the manifest does not name: what checkpoints have not finished. */
export function removeUnnamedFiles(
  disk: Disk,
  manifest: Manifest | null,
  { directory, tablesDirectory }: { readonly directory: string; readonly tablesDirectory: string },
): void {
  for (const name of disk.list(directory)) {
    if (isStateFileName(name) && name !== manifest?.state.name) disk.remove(joinPath(directory, name));
  }
  const live = new Set((manifest?.tables ?? []).flatMap((table) => table.files));
  for (const name of disk.list(tablesDirectory)) {
    if (!live.has(name)) disk.remove(joinPath(tablesDirectory, name));
  }
}

/** Where a checkpoint is written. */
export interface CheckpointPlace {
  readonly disk: Disk;
  readonly directory: string;
  readonly tablesDirectory: string;
  readonly log: StorageLog;
  /** Up to which op entries stay for ever. */
  readonly committed: CommitHorizon;
  readonly previous: Manifest | null;
  /** The manifest is another's: see `storage_parts.ts`. */
  readonly isPart: boolean;
  /** Of a member: what its files are known by. */
  readonly hashes: { readonly files: FileHashes; readonly tablesName: string } | null;
}

interface TableAtOp {
  readonly id: number;
  readonly table: TableStore;
  /** As of the op; the table's own may move on. */
  readonly definition: TableDefinition;
}

/** A checkpoint under way: the state after one op on its way into files. */
export class Checkpoint {
  readonly op: OpNumber;
  readonly #place: CheckpointPlace;
  readonly #state: Uint8Array;
  readonly #tables: readonly TableAtOp[];
  #building = 0;
  #preparing: Generator<void, void> | null = null;
  /** Set when all is built. */
  #described: ManifestTable[] | null = null;
  #hashing: Generator<void, void> | null = null;
  #hashed: readonly HashedFile[] | null = null;
  #unsynced: DiskFile[] = [];
  /** Another handle of the file that is being synced in the background; see {@link finishNow}. */
  #secondDescriptor: DiskFile | null = null;
  /** What a part's manifest, or that of the whole, is to say; its files are there. */
  #complete: Manifest | null = null;
  #manifest: Manifest | null = null;
  /** Those of the parts, when theirs are built. */
  parts: readonly Manifest[] | null = null;

  /** Freezes the tables; the state is that of the same op. */
  constructor(
    op: OpNumber,
    state: Uint8Array,
    tables: Iterable<readonly [number, TableStore]>,
    place: CheckpointPlace,
  ) {
    this.op = op;
    this.#place = place;
    this.#state = state;
    this.#tables = [...tables].sort(([left], [right]) => left - right)
      .map(([id, table]) => ({ id, table, definition: table.definition }));
    for (const { table } of this.#tables) table.freeze(op);
  }

  /** Whether its entry stays for ever, so that the checkpoint may come to exist. */
  get isCommitted(): boolean {
    return this.#place.committed.durableOp >= this.op;
  }

  /** Whether all files are complete and synced. */
  get isBuilt(): boolean {
    const isWhole = this.#described !== null && this.#isHashed && this.#unsynced.length === 0;
    return isWhole && (!this.#place.isPart || this.#complete !== null);
  }

  /** Whether the log allows to {@link install} it. */
  get isInstallable(): boolean {
    return this.isCommitted && this.#place.log.durableOp >= this.op;
  }

  /** Set once the checkpoint exists. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  /** One bounded step of building; true when all files are complete. */
  buildStep(): boolean {
    const current = this.#tables[this.#building];
    if (current !== undefined) {
      if (current.table.compactionStep(LIMITS.checkpointStepValues)) this.#building++;
      return false;
    }
    this.#preparing ??= this.#prepare();
    if (this.#described === null && this.#preparing.next().done !== true) return false;
    // All at once: later writes do not count, but a table may drop files that no description names.
    if (this.#described === null) this.#describe();
    return this.#isHashed || (this.#hashing ??= this.#hashFiles()).next().done === true;
  }

  get #isHashed(): boolean {
    return this.#place.hashes === null || this.#hashed !== null;
  }

  /** Nearly all were hashed while they were written. */
  *#hashFiles(): Generator<void, void> {
    const { hashes } = this.#place;
    if (hashes === null) return;
    const found: HashedFile[] = [];
    for (const { files } of assertDefined(this.#described, "description")) {
      for (const name of files) {
        const file = yield* hashes.files.find(name);
        found.push({ ...file, name: joinPath(hashes.tablesName, name) });
      }
    }
    this.#hashed = found;
  }

  *#prepare(): Generator<void, void> {
    for (const { table } of this.#tables) yield* table.prepareDescription();
  }

  #describe(): void {
    this.#described = this.#tables.map(({ id, table, definition }) => {
      const storage = table.describe();
      const files = [...filesOf(storage)].sort();
      return { id, definition, storage: decodeCanonicalJson(encodeCanonicalJson(storage)), files };
    });
    for (const { table } of this.#tables) this.#unsynced.push(...table.takeUnsynced());
  }

  /** Syncs in the background, one file after the other; `isCurrent` tells whether to go on after each. */
  async sync(isCurrent: () => boolean): Promise<void> {
    assert(this.#described !== null, "all files are built before they are synced");
    for (let file = this.#unsynced[0]; file !== undefined; file = this.#unsynced[0]) {
      const { disk } = this.#place;
      // A file that was merged away already has no name any more, and is not needed.
      const secondDescriptor = disk.exists(file.path)
        ? disk.openFile(file.path, { create: false, write: true })
        : null;
      this.#secondDescriptor = secondDescriptor;
      try {
        await file.syncData();
      } finally {
        this.#secondDescriptor = null;
        secondDescriptor?.close();
      }
      if (!isCurrent()) return;
      // Meanwhile `finishNow` may have synced and closed all of them, and then have found the disk full.
      if (this.#unsynced[0] !== file) continue;
      this.#unsynced.shift();
      file.close();
    }
  }

  /** Does whatever is left, blocking. Its op is committed, or will be with the sync of the log. */
  finishNow(): Manifest {
    let isBuilt = this.buildStep();
    while (!isBuilt) isBuilt = this.buildStep();
    for (const file of this.#unsynced) {
      // The system reports a failed sync to each handle once, and the one under way in the background may get the
      // report.
      if (this.#secondDescriptor?.path === file.path) this.#secondDescriptor.syncDataNow();
      else file.syncDataNow();
      file.close();
    }
    this.#unsynced = [];
    if (this.#place.log.durableOp < this.op) this.#place.log.syncNow();
    return this.install();
  }

  /** Gives up files that were built for a checkpoint that is not to be finished. */
  abandon(): void {
    for (const file of this.#unsynced) file.close();
    this.#unsynced = [];
  }

  /** Makes all files durable that a manifest is to name, and answers what it is to say. */
  complete(): Manifest {
    if (this.#complete !== null) return this.#complete;
    const { disk, directory, tablesDirectory, previous } = this.#place;
    assert(this.#unsynced.length === 0, "files are synced before the manifest names them");
    disk.syncDirectory(tablesDirectory);
    const stateName = stateFileName(this.op);
    writeWholeFile(disk, joinPath(directory, stateName), this.#state);
    const { parts, files } = partsOfManifest(this.parts ?? []);
    return this.#complete = {
      number: (previous?.number ?? 0) + 1,
      op: this.op,
      state: proofOf(stateName, this.#state),
      tables: assertDefined(this.#described, "description"),
      ...(parts.length === 0 ? {} : { parts }),
      ...(this.#hashed === null ? {} : { group: this.#groupProof(stateName, [...this.#hashed, ...files]) }),
    };
  }

  /** Writes the manifest, unless it is another's, and drops what only earlier ones needed. */
  install(): Manifest {
    const { disk, directory, log, committed, isPart } = this.#place;
    assert(this.#manifest === null, "a checkpoint is installed once");
    assert(log.durableOp >= this.op, `the log is durable up to op ${log.durableOp}, not ${this.op}`);
    assert(
      committed.durableOp >= this.op,
      `entries are committed up to op ${committed.durableOp}, not ${this.op}`,
    );
    const manifest = this.complete();
    if (!isPart) writeManifest(disk, directory, manifest);
    this.#manifest = manifest;
    for (const { table } of this.#tables) table.manifestInstalled();
    this.#removeObsolete(manifest);
    log.truncateBefore(this.op + 1);
    return manifest;
  }

  #groupProof(name: string, hashed: readonly HashedFile[]): GroupProof {
    const state = { name, size: this.#state.length, hash: sha256Of(this.#state) };
    const history = historyAfter(this.#place.previous?.group?.history ?? "", this.op);
    return { history, files: [state, ...hashed] };
  }

  /** Removes what only the manifest before named. A reader that has such a file open goes on reading it. */
  #removeObsolete(manifest: Manifest): void {
    const { disk, directory, tablesDirectory, previous, hashes, isPart } = this.#place;
    if (previous === null) return;
    if (!isPart) disk.remove(joinPath(directory, manifestName(previous.number)));
    if (previous.state.name !== manifest.state.name) disk.remove(joinPath(directory, previous.state.name));
    const live = new Set(manifest.tables.flatMap((table) => table.files));
    for (const table of previous.tables) {
      for (const name of table.files) {
        if (live.has(name)) continue;
        disk.remove(joinPath(tablesDirectory, name));
        hashes?.files.forget(name);
      }
    }
  }
}
