/**
 * Storage that consists of parts: one with the log, which says what is done and when, and others, elsewhere, that have
 * tables only. A part gets what an entry of the log has for it, in the log's order, when the entry is committed. A
 * checkpoint is of all at the same op; the files of the parts are named by the manifest of the one with the log.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { joinPath } from "../host/disk.ts";
import { type OpNumber, opNumber, type Slice } from "../operations/effect.ts";
import { type CommitHorizon, Horizon } from "./commit_horizon.ts";
import type { HashedFile } from "./file_hashes.ts";
import type { Log } from "./log.ts";
import type { Manifest, ManifestPart } from "./manifest.ts";

/** The parts, as the storage with the log sees them. */
export interface StorageParts {
  /** How many there are. */
  readonly count: number;
  /** Names of files beside the manifest that a copy of the directory needs. */
  readonly otherFiles: readonly string[];
  /** Hands each part what the entry has for it, as soon as the entry is committed. */
  apply(op: number, timestamp: number, slices: readonly Slice[]): void;
  /** Every part begins a checkpoint behind the entries up to the op. */
  beginCheckpoint(op: number): void;
  /** Resolves when their files are complete and durable. May be called again after it was rejected. */
  builtCheckpoint(op: number): Promise<readonly Manifest[]>;
  /** A manifest names these files: what only the one before named may go. */
  installed(op: number): void;
  /** What is damaged in a file was repaired. */
  repaired(): void;
}

/** What storage that is a part needs to know. */
export interface PartStorage {
  /** What the manifest of the whole says of it; null: there is none. */
  readonly manifest: Manifest | null;
  /** Up to which op checkpoints are named by the manifest of the whole. */
  readonly installed: CommitHorizon;
  /** The files of a checkpoint are complete and durable: the manifest of the whole may name them. */
  onBuilt(manifest: Manifest): void;
  /** They could not be written, and the checkpoint waits until {@link StorageEngine.retryCheckpoint}. */
  onUnbuilt(error: DatabaseError): void;
}

/** What storage and its state machine use of a log. */
export type StorageLog = Pick<
  Log,
  | "lastOp"
  | "durableOp"
  | "syncs"
  | "error"
  | "failed"
  | "headBytes"
  | "damaged"
  | "append"
  | "appendInPieces"
  | "entries"
  | "whenDurable"
  | "onDurable"
  | "syncNow"
  | "stop"
  | "verify"
  | "truncateBefore"
  | "close"
>;

/** The log of a part: it is elsewhere, and all that comes from it is durable. */
export class PartLog implements StorageLog {
  readonly syncs = 0;
  readonly headBytes = 0;
  readonly damaged = [];
  readonly failed: Promise<DatabaseError>;
  readonly #announceFailure: (error: DatabaseError) => void;
  readonly #horizon: Horizon;
  #error: DatabaseError | null = null;

  constructor(op: number) {
    this.#horizon = new Horizon(op);
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  get lastOp(): OpNumber {
    return this.#horizon.durableOp;
  }

  get durableOp(): OpNumber {
    return this.#horizon.durableOp;
  }

  get error(): DatabaseError | null {
    return this.#error;
  }

  /** What the log has up to this op has come. */
  advance(op: number): void {
    this.#horizon.advance(op);
  }

  append(): number {
    assert(false, "a part has no entries of its own");
  }

  appendInPieces(): never {
    assert(false, "a part has no entries of its own");
  }

  *entries(): Generator<never> {}

  whenDurable(op: number): Promise<void> {
    return this.#horizon.whenDurable(op);
  }

  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    return this.#horizon.onDurable(listener);
  }

  syncNow(): void {}

  stop(reason: unknown): void {
    if (this.#error !== null) return;
    this.#error = reason instanceof DatabaseError ? reason : new DatabaseError(
      SQLSTATE.internalError,
      `a part of the state failed: ${reason instanceof Error ? reason.stack ?? reason.message : reason}`,
      { cause: reason },
    );
    this.#announceFailure(this.#error);
  }

  verify(): void {}

  truncateBefore(): void {}

  close(): Promise<void> {
    return this.#error === null ? Promise.resolve() : Promise.reject(this.#error);
  }
}

/** Raises XX001 when the checkpoint of a directory is of another number of parts: 1 is a whole without any. */
export function requireParts(manifest: Manifest | null, directory: string, count: number): void {
  if (manifest === null) return;
  const found = manifest.parts?.length ?? 1;
  if (found === count) return;
  throw otherCount(directory, `a checkpoint of ${shards(found)}`, count);
}

/** Raises XX001 when what an entry has for shards is not for so many; one has no shards. */
export function requireSlices(slices: readonly Slice[], directory: string, count: number): void {
  for (const { shard } of slices) {
    if (count > 1 && shard < count) continue;
    throw otherCount(
      directory,
      count === 1 ? "a log of several shards" : `a log with a shard ${shard}`,
      count,
    );
  }
}

function shards(number: number): string {
  return number === 1 ? "one shard" : `${number} shards`;
}

function otherCount(directory: string, found: string, count: number): DatabaseError {
  return new DatabaseError(
    SQLSTATE.dataCorrupted,
    `data directory "${directory}" has ${found}, and is opened as one of ${shards(count)}`,
    {
      hint:
        'Its file "SHARDS" says how many there are: put it back, or restore the directory from a snapshot.',
    },
  );
}

/** The folder of a part, in the data directory. */
export function partFolder(index: number): string {
  return `shard-${index}`;
}

/** What the manifest of the whole says of a part, as the part's own manifest; null without a manifest. */
export function partOfManifest(whole: Manifest | null, index: number): Manifest | null {
  const part = whole?.parts?.[index];
  if (whole === null || part === undefined) return null;
  const { number, op, group } = whole;
  const inFolder = joinPath(partFolder(index), "");
  const files = group?.files.flatMap(({ name, ...file }) =>
    name.startsWith(inFolder) ? [{ name: name.slice(inFolder.length), ...file }] : []
  );
  return {
    number,
    op: opNumber(op),
    ...part,
    ...(group === undefined ? {} : { group: { history: group.history, files: files ?? [] } }),
  };
}

/** What the manifest of the whole is to say of parts that have these. */
export function partsOfManifest(
  manifests: readonly Manifest[],
): { readonly parts: readonly ManifestPart[]; readonly files: readonly HashedFile[] } {
  return {
    parts: manifests.map(({ state, tables }) => ({ state, tables })),
    files: manifests.flatMap(({ group }, index) =>
      (group?.files ?? []).map((file) => ({ ...file, name: joinPath(partFolder(index), file.name) }))
    ),
  };
}
