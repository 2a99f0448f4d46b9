/**
 * Checking a database that no server runs on: every byte of every file that the database consists of is read and
 * compared with its checksum, every entry of the log is decoded, and every value is one that its column may hold.
 *
 * The database is opened as a server opens it: it is locked, what a crash left unfinished is tidied up, and the log
 * is sealed at the end. Entries are not applied, so the check takes as long as reading does, and no more memory than
 * the largest entry.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { joinPath } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import type { Effect, OpNumber } from "../operations/effect.ts";
import { Horizon } from "./commit_horizon.ts";
import { isMemberLog } from "./log_recovery.ts";
import { ValueVerification, type WrongValue } from "./value_verification.ts";
import type { Manifest } from "./manifest.ts";
import { partFolder, partOfManifest, requireParts, requireSlices } from "./storage_parts.ts";
import type { TableStore } from "./table/table_store.ts";
import { LOG_DIRECTORY, StorageEngine } from "./storage_engine.ts";

/** What was found to be whole. */
export interface Verification {
  /** 0 when there was no checkpoint yet. */
  readonly checkpointOp: OpNumber;
  readonly lastOp: OpNumber;
  /** Entries of the log beyond the checkpoint. */
  readonly entries: number;
  /** Values that their columns may not hold: what wrote them was wrong, not what kept them. */
  readonly wrongValues: readonly WrongValue[];
  /** Tables of the checkpoint. */
  readonly tables: readonly VerifiedTable[];
}

/** A table, or what a shard has of it. */
export interface VerifiedTable {
  readonly id: number;
  readonly name: string;
  readonly rows: number;
  readonly segments: number;
  readonly fileBytes: number;
  /** The shard; null: not at a shard. */
  readonly part: number | null;
}

/**
 * Checks the database in a directory. Raises XX001 naming file and offset of the first damage, 55006 when a server
 * has it open, 3D000 when there is none. `count`: how many shards it is to have; null: as many as it says itself.
 */
export async function verifyDatabase(
  host: Host,
  directory: string,
  count: number | null = null,
): Promise<Verification> {
  if (!host.disk.exists(joinPath(directory, LOG_DIRECTORY))) {
    throw new DatabaseError(SQLSTATE.invalidCatalogName, `there is no database in directory "${directory}"`);
  }
  const horizon = { oldestSnapshot: () => Infinity };
  const isMember = isMemberLog(host.disk, joinPath(directory, LOG_DIRECTORY));
  // Every entry is to be decoded, whether it is committed or not.
  const member = { horizon: new Horizon(Number.MAX_SAFE_INTEGER), replayTo: Number.MAX_SAFE_INTEGER };
  const storage = await StorageEngine.open({ host, directory, horizon, ...(isMember ? { member } : {}) });
  try {
    if (count !== null) requireParts(storage.manifest, directory, count);
    storage.verify();
    const values = new ValueVerification();
    const tables: VerifiedTable[] = [];
    const addTables = (stores: Iterable<TableStore>, part: number | null): void => {
      for (const table of stores) {
        values.addTable(table, storage.checkpointOp);
        const { segments, fileBytes } = table.layout();
        const { id, name } = table.definition;
        tables.push({ id, name, rows: table.rowCount, segments, fileBytes, part });
      }
    };
    addTables(storage.tables, null);
    for (const index of (storage.manifest?.parts ?? []).keys()) {
      await verifyPart(host, directory, storage.manifest, index, (stores) => addTables(stores, index));
    }
    let entries = 0;
    for (const { entry } of storage.recovered.entries()) {
      const { effects } = entry;
      values.addEntry({
        ...entry,
        effects: count === null ? effects : withSlices(effects, directory, count),
      });
      entries++;
    }
    return {
      checkpointOp: storage.checkpointOp,
      lastOp: storage.log.lastOp,
      entries,
      wrongValues: values.found,
      tables,
    };
  } finally {
    await storage.close();
  }
}

/** The effects, which are to be taken once; raises when one has not as many slices as there are shards. */
function* withSlices(effects: Iterable<Effect>, directory: string, count: number): Generator<Effect> {
  for (const effect of effects) {
    if (effect.kind === "slices") requireSlices(effect.slices, directory, count);
    yield effect;
  }
}

async function verifyPart(
  host: Host,
  directory: string,
  whole: Manifest | null,
  index: number,
  verified: (tables: Iterable<TableStore>) => void,
): Promise<void> {
  const manifest = partOfManifest(whole, index);
  const part = await StorageEngine.openPart({
    host,
    directory: joinPath(directory, partFolder(index)),
    horizon: { oldestSnapshot: () => Infinity },
  }, { manifest, installed: new Horizon(manifest?.op ?? 0), onBuilt: () => {}, onUnbuilt: () => {} });
  try {
    part.verify();
    verified(part.tables);
  } finally {
    await part.close();
  }
}
