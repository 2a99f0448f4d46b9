/**
 * What was unpacked for a package: `.lang/packages.json`, which the compiler reads, and the folders below
 * `.lang/packages/`.
 *
 *     {"format": 1, "manifest": "<sha256 of project.toml>", "lock": "<sha256 of project.lock>", "direct": {"fx": "0.3.2"}, "packages": [
 *       {"name": "fx", "version": "0.3.2", "hash": "<as in the lockfile>", "folder": ".lang/packages/fx-0.3.2",
 *        "dependencies": {"noise": "1.4.0"}, "files": {"project.toml": "<sha256>", "src/particles.lang": "<sha256>"}}]}
 */
import { isFields } from "../fields.ts";
import { sha256 } from "../archive/tree.ts";
import type { PackageVersion } from "../names.ts";
import type { RegistryHost } from "../ports.ts";
import { hashOfFile } from "./archive_store.ts";

/** An unpacked package. */
export interface InstalledPackage extends PackageVersion {
  readonly hash: string;
  /** Relative to the package that uses it. */
  readonly folder: string;
  readonly dependencies: ReadonlyMap<string, string>;
  /** SHA-256 by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** All of them. */
export interface InstalledRecord {
  readonly manifest: string;
  readonly lock: string;
  readonly direct: ReadonlyMap<string, string>;
  readonly packages: readonly InstalledPackage[];
}

/** Where packages are unpacked, relative to the package that uses them. */
export const PACKAGES_FOLDER = ".lang/packages";
/** The record of them. */
export const RECORD_FILE = ".lang/packages.json";
/** Where `vendor` copies them. */
export const VENDOR_FOLDER = ".lang/vendor";
/** The record of those. */
export const VENDOR_RECORD_FILE = `${VENDOR_FOLDER}/packages.json`;

/** The record's text. */
export function formatRecord(record: InstalledRecord): string {
  const { manifest, lock, direct } = record;
  const packages = record.packages.map((each) => ({
    name: each.name,
    version: each.version,
    hash: each.hash,
    folder: each.folder,
    dependencies: Object.fromEntries(each.dependencies),
    files: Object.fromEntries(each.files),
  }));
  return `${
    JSON.stringify({ format: 1, manifest, lock, direct: Object.fromEntries(direct), packages }, null, 1)
  }\n`;
}

/** Reads a record; null when there is none that can be read. */
export async function readRecord(host: RegistryHost, path: string): Promise<InstalledRecord | null> {
  const text = await host.files.readText(path);
  if (text === null) return null;
  try {
    return decodeRecord(JSON.parse(text));
  } catch {
    return null;
  }
}

function decodeRecord(value: unknown): InstalledRecord | null {
  if (!isFields(value) || value["format"] !== 1) return null;
  const { manifest, lock, direct, packages } = value;
  if (typeof manifest !== "string" || typeof lock !== "string" || !Array.isArray(packages)) return null;
  const versions = textMap(direct);
  const decoded = packages.map(decodePackage);
  if (versions === null || decoded.includes(null)) return null;
  return { manifest, lock, direct: versions, packages: decoded.filter((each) => each !== null) };
}

function decodePackage(value: unknown): InstalledPackage | null {
  if (!isFields(value)) return null;
  const { name, version, hash, folder } = value;
  const [dependencies, files] = [textMap(value["dependencies"]), textMap(value["files"])];
  if (typeof name !== "string" || typeof version !== "string" || typeof hash !== "string") return null;
  if (typeof folder !== "string" || dependencies === null || files === null) return null;
  return { name, version, hash, folder, dependencies, files };
}

function textMap(value: unknown): ReadonlyMap<string, string> | null {
  if (!isFields(value)) return null;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string")
    ? new Map(entries)
    : null;
}

/** Whether all files of an unpacked package are there, whatever is in them. */
export async function hasAllFiles(
  { files }: RegistryHost,
  root: string,
  { folder, files: hashes }: InstalledPackage,
): Promise<boolean> {
  if (!await files.isFolder(`${root}/${folder}`)) return false;
  const sizes = await Promise.all([...hashes.keys()].map((path) => files.size(`${root}/${folder}/${path}`)));
  return !sizes.includes(null);
}

/** Whether all files of an unpacked package are there as they were unpacked. */
export async function isIntact(
  host: RegistryHost,
  root: string,
  { folder, files }: InstalledPackage,
): Promise<boolean> {
  for (const [path, hash] of files) {
    if (await hashOfFile(host, `${root}/${folder}/${path}`) !== hash) return false;
  }
  return true;
}

/** SHA-256 of a text. */
export function textHash(text: string): string {
  return sha256(new TextEncoder().encode(text));
}
