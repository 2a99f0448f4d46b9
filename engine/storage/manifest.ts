/**
 * The manifest: which files make up the state of one checkpoint. `docs/storage.md` shows the bytes.
 *
 * Each checkpoint writes a whole new manifest `MANIFEST-<number>` under a temporary name, syncs it, renames it and
 * syncs the directory; that rename is the moment at which the checkpoint exists. The one before is removed
 * afterwards. A manifest is 20 bytes of head (magic, format version, length and checksum of what follows) and
 * canonical JSON. Invariants: every file it names was durable before it was written; files that no manifest names are
 * left over from unfinished work and are removed when the database is opened. Damage raises `dataCorrupted` naming
 * file and offset.
 */
import { checksumSeed, crc32c } from "../base/checksum.ts";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { type Disk, joinPath, readWholeFile, writeWholeFile } from "../host/disk.ts";
import {
  type CanonicalValue,
  decodeCanonicalJson,
  encodeCanonicalJson,
} from "../operations/canonical_json.ts";
import type { OpNumber } from "../operations/effect.ts";
import { sha256Of } from "../host/sha256.ts";
import { DamagedFileError } from "./table/damaged_file.ts";
import type { HashedFile } from "./file_hashes.ts";

/** A file with what proves that it is whole. */
export interface FileProof {
  readonly name: string;
  readonly size: number;
  readonly checksum: number;
}

/** A table as of the checkpoint. */
export interface ManifestTable {
  readonly id: number;
  readonly definition: TableDefinition;
  /** What the table wants to know again about its files. */
  readonly storage: CanonicalValue;
  /** Names of its files in the folder of tables. */
  readonly files: readonly string[];
}

/** The content of a manifest. */
export interface Manifest {
  /** Counts the manifests of a directory. */
  readonly number: number;
  /** The state is that after this op. */
  readonly op: OpNumber;
  /** The state machine's own state. */
  readonly state: FileProof;
  readonly tables: readonly ManifestTable[];
  /** What is elsewhere of the state (`storage_parts.ts`): of each part the same, with names in its folder. */
  readonly parts?: readonly ManifestPart[];
  /** What members of a replication group know their checkpoints by. */
  readonly group?: GroupProof;
}

/** A part of the state. */
export type ManifestPart = Pick<Manifest, "state" | "tables">;

/** What proves a checkpoint to another member. */
export interface GroupProof {
  /** Chains the ops of this checkpoint and of all before it: only after the same ones files are equal. */
  readonly history: string;
  /** The state first, then the files of the tables; a table's file has the folder before its name. */
  readonly files: readonly HashedFile[];
}

/** What equal checkpoints have in common, wherever they are. */
export interface CheckpointProof {
  readonly op: number;
  readonly history: string;
  /** SHA-256 of the manifest without its number, which has the hashes of all files. */
  readonly id: string;
}

/** The proof of a member's checkpoint; null for one of a server that is alone. */
export function proofOfCheckpoint(manifest: Manifest): CheckpointProof | null {
  const { number: _, ...rest } = manifest;
  if (rest.group === undefined) return null;
  return {
    op: manifest.op,
    history: rest.group.history,
    id: sha256Of(encodeUtf8(encodeCanonicalJson(rest))),
  };
}

/** {@link GroupProof.history} of a checkpoint at the op, after one with the given history. */
export function historyAfter(previous: string, op: number): string {
  return sha256Of(encodeUtf8(`${previous} ${op}`)).slice(0, 16);
}

const MAGIC = "dbd mft\0";
const FORMAT_VERSION = 1;
const HEAD_BYTES = 20;
const NAME_PATTERN = /^MANIFEST-([0-9a-f]{16})$/;

/** The name of a manifest. */
export function manifestName(number: number): string {
  return `MANIFEST-${number.toString(16).padStart(16, "0")}`;
}

/** The number of a manifest by its name; undefined for other files. */
export function manifestNumber(name: string): number | undefined {
  const digits = NAME_PATTERN.exec(name)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

/** The bytes of a manifest's file. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const json = encodeUtf8(encodeCanonicalJson(manifest));
  const bytes = new Uint8Array(HEAD_BYTES + json.length);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < 8; index++) bytes[index] = MAGIC.charCodeAt(index);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, json.length, true);
  bytes.set(json, HEAD_BYTES);
  view.setUint32(16, crc32c(json, 0, json.length, checksumSeed(manifest.number, json.length)), true);
  return bytes;
}

/** The manifest that the bytes of a file are; `path` is for messages. */
export function decodeManifest(bytes: Uint8Array, number: number, path: string): Manifest {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < HEAD_BYTES) throw new DamagedFileError(path, bytes.length, "the file ends too early");
  for (let index = 0; index < 8; index++) {
    if (bytes[index] !== MAGIC.charCodeAt(index)) {
      throw new DamagedFileError(path, index, "the magic number is wrong");
    }
  }
  const version = view.getUint32(8, true);
  if (version !== FORMAT_VERSION) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `manifest "${path}" has format version ${version}, this server reads ${FORMAT_VERSION}`,
    );
  }
  const length = view.getUint32(12, true);
  if (length !== bytes.length - HEAD_BYTES) throw new DamagedFileError(path, 12, "the length is wrong");
  if (crc32c(bytes, HEAD_BYTES, bytes.length, checksumSeed(number, length)) !== view.getUint32(16, true)) {
    throw new DamagedFileError(path, HEAD_BYTES, "the checksum does not match");
  }
  const value = decodeCanonicalJson(decodeUtf8(bytes.subarray(HEAD_BYTES)));
  // The checksum stands for the shape: only encodeManifest writes such files.
  return value as unknown as Manifest;
}

/** The newest manifest of a directory, or null in an empty one; older ones and unfinished ones are `leftOver`. */
export function readManifest(
  disk: Disk,
  directory: string,
): { readonly manifest: Manifest | null; readonly leftOver: readonly string[] } {
  const leftOver: string[] = [];
  let newest = -1;
  for (const name of disk.list(directory)) {
    const number = manifestNumber(name);
    if (number === undefined) {
      if (name.endsWith(".tmp")) leftOver.push(name);
      continue;
    }
    if (newest >= 0) leftOver.push(manifestName(Math.min(newest, number)));
    newest = Math.max(newest, number);
  }
  if (newest < 0) return { manifest: null, leftOver };
  const path = joinPath(directory, manifestName(newest));
  return { manifest: decodeManifest(readWholeFile(disk, path), newest, path), leftOver };
}

/** Whether the manifest can be read again. */
export function isManifestWhole(disk: Disk, directory: string, { number }: Manifest): boolean {
  const path = joinPath(directory, manifestName(number));
  if (!disk.exists(path)) return false;
  try {
    decodeManifest(readWholeFile(disk, path), number, path);
    return true;
  } catch (error) {
    if (error instanceof DamagedFileError) return false;
    throw error;
  }
}

/** The number of the newest manifest of a directory, whole or not; 0 without any. */
export function newestManifestNumber(disk: Disk, directory: string): number {
  return Math.max(0, ...disk.list(directory).map((name) => manifestNumber(name) ?? 0));
}

/** Writes a manifest; when it returns, the checkpoint exists. */
export function writeManifest(disk: Disk, directory: string, manifest: Manifest): void {
  writeWholeFile(disk, joinPath(directory, manifestName(manifest.number)), encodeManifest(manifest));
}

/** The proof of some bytes that are to be a file. */
export function proofOf(name: string, bytes: Uint8Array): FileProof {
  return { name, size: bytes.length, checksum: crc32c(bytes) };
}

/** Reads a file and checks that it is whole. */
export function readProven(disk: Disk, directory: string, proof: FileProof): Uint8Array {
  const path = joinPath(directory, proof.name);
  const bytes = readWholeFile(disk, path);
  if (bytes.length !== proof.size) {
    throw new DamagedFileError(path, Math.min(bytes.length, proof.size), "the size is wrong");
  }
  if (crc32c(bytes) !== proof.checksum) throw new DamagedFileError(path, 0, "the checksum does not match");
  return bytes;
}
