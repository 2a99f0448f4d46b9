/**
 * Compares two databases that no server runs on: the members of a replication group have the same log as far as both
 * go, and, after the same checkpoints, the same files byte for byte.
 *
 * Both are opened as a server opens them: they are locked, and what a crash left unfinished is tidied up. Where their
 * checkpoints are of different ops, the files have nothing in common that must be equal, and only logs are compared.
 */
import { assert } from "../base/assert.ts";
import { equalBytes } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { encodeCanonicalJson } from "../operations/canonical_json.ts";
import { digestAfter, digestOfState, EMPTY_HISTORY } from "../operations/history_digest.ts";
import { Horizon } from "./commit_horizon.ts";
import type { LoggedEntry } from "./log_entry.ts";
import { isMemberLog } from "./log_recovery.ts";
import { type ManifestPart, type ManifestTable, proofOfCheckpoint } from "./manifest.ts";
import { payloadFacts } from "./recovered_entry.ts";
import { partFolder } from "./storage_parts.ts";
import { LOG_DIRECTORY, StorageEngine, TABLES_DIRECTORY } from "./storage_engine.ts";

const PIECE_BYTES = 1 << 20;

/** What a comparison has found. */
export interface DirectoryComparison {
  /** One line each; without any both are equal as far as they can be compared. */
  readonly differences: readonly string[];
  /** What was compared. */
  readonly notes: readonly string[];
}

interface Opened {
  readonly directory: string;
  readonly storage: StorageEngine;
}

/** Compares them. Raises XX001 for damage, 55006 when a server has one open, 3D000 when there is none. */
export async function compareDatabases(
  host: Host,
  left: string,
  right: string,
): Promise<DirectoryComparison> {
  const opened: Opened[] = [];
  try {
    for (const directory of [left, right]) opened.push({ directory, storage: await open(host, directory) });
    const [first, second] = opened;
    assert(first !== undefined && second !== undefined, "both are open");
    return new Comparison(host.disk, first, second).run();
  } finally {
    for (const { storage } of opened) await storage.close();
  }
}

function open(host: Host, directory: string): Promise<StorageEngine> {
  const logDirectory = joinPath(directory, LOG_DIRECTORY);
  if (!host.disk.exists(logDirectory)) {
    throw new DatabaseError(SQLSTATE.invalidCatalogName, `there is no database in directory "${directory}"`);
  }
  const horizon = { oldestSnapshot: () => Infinity };
  const all = Number.MAX_SAFE_INTEGER;
  const member = { horizon: new Horizon(all), replayTo: all };
  return StorageEngine.open({
    host,
    directory,
    horizon,
    ...(isMemberLog(host.disk, logDirectory) ? { member } : {}),
  });
}

/** One comparison. */
class Comparison {
  readonly #disk: Disk;
  readonly #left: Opened;
  readonly #right: Opened;
  readonly #differences: string[] = [];
  readonly #notes: string[] = [];

  constructor(disk: Disk, left: Opened, right: Opened) {
    this.#disk = disk;
    this.#left = left;
    this.#right = right;
  }

  run(): DirectoryComparison {
    this.#compareCheckpoints();
    this.#compareLogs();
    return { differences: this.#differences, notes: this.#notes };
  }

  #compareCheckpoints(): void {
    const [left, right] = [this.#left.storage.manifest, this.#right.storage.manifest];
    const ops = [left?.op ?? 0, right?.op ?? 0];
    if (ops[0] !== ops[1]) {
      this.#notes.push(`the checkpoints are of ops ${ops[0]} and ${ops[1]}: their files were not compared`);
      return;
    }
    if (left === null || right === null) return;
    const ids = [left, right].map((manifest) => proofOfCheckpoint(manifest)?.id ?? null);
    this.#notes.push(
      `checkpoint of op ${left.op}${ids[0] === null || ids[0] !== ids[1] ? "" : `, id ${ids[0]}`}`,
    );
    if (ids[0] !== ids[1]) {
      this.#differences.push(`the checkpoints of op ${left.op} have the ids ${ids[0]} and ${ids[1]}`);
    }
    if (left.group?.history !== right.group?.history) {
      this.#differences.push(
        "the checkpoints before were of different ops: files may differ where rows are equal",
      );
    }
    this.#comparePart(left, right, "");
    const [parts, others] = [left.parts ?? [], right.parts ?? []];
    if (parts.length !== others.length) {
      this.#differences.push(`there are ${parts.length} and ${others.length} shards`);
    }
    for (const [index, part] of parts.entries()) {
      const other = others[index];
      if (other !== undefined) this.#comparePart(part, other, partFolder(index));
    }
  }

  #comparePart(left: ManifestPart, right: ManifestPart, folder: string): void {
    this.#compareFile(joinPath(folder, left.state.name), joinPath(folder, right.state.name));
    this.#compareTables(left, right, folder);
  }

  #compareTables(left: ManifestPart, right: ManifestPart, folder: string): void {
    const others = new Map(right.tables.map((table) => [table.id, table]));
    for (const table of left.tables) {
      const other = others.get(table.id);
      others.delete(table.id);
      if (other === undefined) {
        this.#differences.push(
          `table ${table.id} "${table.definition.name}" is in "${this.#left.directory}" only`,
        );
      } else this.#compareTable(table, other, folder);
    }
    for (const { id, definition } of others.values()) {
      this.#differences.push(`table ${id} "${definition.name}" is in "${this.#right.directory}" only`);
    }
  }

  #compareTable(left: ManifestTable, right: ManifestTable, folder: string): void {
    const name = `table ${left.id} "${left.definition.name}"`;
    if (encodeCanonicalJson(left.definition) !== encodeCanonicalJson(right.definition)) {
      this.#differences.push(`${name}: the definitions differ`);
    }
    for (const file of new Set([...left.files, ...right.files])) {
      const path = joinPath(folder, joinPath(TABLES_DIRECTORY, file));
      if (!right.files.includes(file)) {
        this.#differences.push(`${name}: "${path}" is in "${this.#left.directory}" only`);
      } else if (!left.files.includes(file)) {
        this.#differences.push(`${name}: "${path}" is in "${this.#right.directory}" only`);
      } else this.#compareFile(path, path);
    }
    if (encodeCanonicalJson(left.storage) !== encodeCanonicalJson(right.storage)) {
      this.#differences.push(`${name}: the manifests describe it differently`);
    }
  }

  #compareFile(left: string, right: string): void {
    const files = [joinPath(this.#left.directory, left), joinPath(this.#right.directory, right)]
      .map((path) => this.#disk.openFile(path, { create: false, write: false }));
    try {
      const [one, other] = files;
      assert(one !== undefined && other !== undefined, "both are open");
      const at = firstDifference(one, other);
      if (at !== null) this.#differences.push(`"${left}" differs from byte offset ${at} on`);
    } finally {
      for (const file of files) file.close();
    }
  }

  /** The digests chain all entries: where they are equal at an op, the logs up to there are. */
  #compareLogs(): void {
    const [left, right] = [this.#left.storage, this.#right.storage];
    const lastOp = Math.min(left.log.lastOp, right.log.lastOp);
    const base = Math.max(left.checkpointOp, right.checkpointOp);
    if (left.log.lastOp !== right.log.lastOp) {
      this.#notes.push(
        `the logs end at ops ${left.log.lastOp} and ${right.log.lastOp}: compared up to op ${lastOp}`,
      );
    } else this.#notes.push(`log up to op ${lastOp}`);
    if (base > lastOp) {
      this.#notes.push(
        `one log ends before the checkpoint of the other, at op ${base}: nothing was compared`,
      );
      return;
    }
    const [one, other] = [new DigestWalk(left), new DigestWalk(right)];
    for (let op = base; op <= lastOp; op++) {
      if (one.at(op) === other.at(op)) continue;
      this.#differences.push(
        op === base ? `the logs differ at or before op ${op}` : `the logs differ at op ${op}`,
      );
      return;
    }
  }
}

/** The digests of a log from its checkpoint on. */
class DigestWalk {
  readonly #entries: Iterator<LoggedEntry>;
  #op: number;
  #digest: bigint;

  constructor(storage: StorageEngine) {
    this.#op = storage.checkpointOp;
    this.#digest = digestAt(storage);
    this.#entries = storage.log.entries(this.#op);
  }

  /** The digest at an op, which grows from call to call. */
  at(op: number): bigint {
    while (this.#op < op) {
      const { value } = this.#entries.next();
      assert(value !== undefined, "the log goes on");
      this.#op = value.op;
      this.#digest = digestAfter(this.#digest, payloadFacts(value).checksum, value.op);
    }
    return this.#digest;
  }
}

function digestAt({ recovered: { machineState } }: StorageEngine): bigint {
  return machineState === null ? EMPTY_HISTORY : digestOfState(machineState);
}

/** The offset of the first byte that differs; null: they are equal. */
function firstDifference(left: DiskFile, right: DiskFile): number | null {
  const [a, b] = [new Uint8Array(PIECE_BYTES), new Uint8Array(PIECE_BYTES)];
  for (let at = 0; at < Math.max(left.size, right.size); at += PIECE_BYTES) {
    const one = a.subarray(0, left.readAt(at, a)), other = b.subarray(0, right.readAt(at, b));
    if (equalBytes(one, other)) continue;
    const end = Math.min(one.length, other.length);
    let index = 0;
    while (index < end && one[index] === other[index]) index++;
    return at + index;
  }
  return null;
}
