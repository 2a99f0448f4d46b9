/**
 * `vendor` copies all packages into `.lang/vendor/`, which builds then use; `verify` recomputes every hash on the
 * disk.
 */
import { createHash } from "node:crypto";
import { sha256, treeHash } from "../archive/tree.ts";
import { unpack } from "../archive/unpack.ts";
import { ArchiveStore, hashOfFile } from "../client/archive_store.ts";
import { fetchUnderLock } from "../client/fetch_packages.ts";
import { installCopy, removeOthers } from "../client/install.ts";
import {
  formatRecord,
  type InstalledPackage,
  type InstalledRecord,
  PACKAGES_FOLDER,
  readRecord,
  RECORD_FILE,
  VENDOR_FOLDER,
  VENDOR_RECORD_FILE,
} from "../client/installed.ts";
import { lockPackage, openProject, type Session } from "../client/project.ts";
import type { LockedPackage } from "../manifest/lockfile.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import { RegistryError } from "../registry_error.ts";

/** The hash list, which `sha256sum -c` reads. */
const VENDOR_HASHES = `${VENDOR_FOLDER}/SHA256SUMS`;

/** Copies all locked packages into `.lang/vendor/`. */
export async function vendorPackages(session: Session): Promise<readonly PackageVersion[]> {
  const { host, root } = session;
  using _lock = await lockPackage(session);
  const { record } = await fetchUnderLock(session);
  const packages: InstalledPackage[] = [];
  for (const each of record.packages) {
    const from = `${root}/${each.folder}`;
    const files = await installCopy(host, {
      release: each,
      from,
      paths: each.files.keys(),
      parent: `${root}/${VENDOR_FOLDER}`,
    });
    const wrong = [...each.files].find(([path, hash]) => files.get(path) !== hash);
    if (wrong !== undefined) {
      throw new RegistryError(
        "hash-mismatch",
        `Cannot copy ${each.name} ${each.version}: ${each.folder}/${wrong[0]} was changed`,
        {
          hint: "Remove the folder; `lang pkg fetch` unpacks it anew.",
        },
      );
    }
    packages.push({ ...each, folder: `${VENDOR_FOLDER}/${tagOf(each)}` });
  }
  await removeOthers(host, `${root}/${VENDOR_FOLDER}`, packages);
  const lines = packages.flatMap((each) =>
    [...each.files].sort().map(([path, hash]) => `${hash}  ${tagOf(each)}/${path}\n`)
  );
  await host.files.write(`${root}/${VENDOR_HASHES}`, lines.join(""));
  await host.files.write(`${root}/${VENDOR_RECORD_FILE}`, formatRecord({ ...record, packages }));
  return packages.map(({ name, version }) => ({ name, version }));
}

/** What verifying found. */
export interface VerifyOutcome {
  readonly packages: number;
  readonly files: number;
  /** One line each; none when all is as it was locked. */
  readonly problems: readonly string[];
}

/** Recomputes the hashes of archives and unpacked files. */
export async function verifyPackages(session: Session): Promise<VerifyOutcome> {
  const { host, root } = session;
  const project = await openProject(session);
  const problems: string[] = [];
  let files = 0;
  const record = await readRecord(host, `${root}/${RECORD_FILE}`);
  const vendored = await readRecord(host, `${root}/${VENDOR_RECORD_FILE}`);
  for (const locked of project.locked) {
    const what = `${locked.name} ${locked.version}`;
    if (locked.hash === null) {
      problems.push(`${what}: project.lock has no hash of it`);
      continue;
    }
    const expected = await archiveContents(session, locked, problems);
    const places = [record, vendored].flatMap((each) => find(each, locked) ?? []);
    if (places.length === 0) problems.push(`${what}: it is not unpacked`);
    for (const place of places) {
      files += await verifyFolder(session, place, expected, problems);
      if (place.hash !== locked.hash) {
        problems.push(`${what}: ${place.folder} is of another hash than project.lock has`);
      }
      if (locked.source.kind === "registry") continue;
      const actual = treeHash([...place.files].map(([path, hash]) => ({ path, hash })));
      if (actual !== locked.hash) problems.push(`${what}: the hash of its files is not that of project.lock`);
    }
  }
  for (const [folder, each] of [[PACKAGES_FOLDER, record], [VENDOR_FOLDER, vendored]] as const) {
    for (const name of await host.files.names(`${root}/${folder}`)) {
      const isKnown = each?.packages.some((known) => tagOf(known) === name) ?? false;
      const isOwn = folder === VENDOR_FOLDER && ["packages.json", "SHA256SUMS"].includes(name);
      if (!isKnown && !isOwn) problems.push(`${folder}/${name}: nothing of project.lock is there`);
    }
  }
  return { packages: project.locked.length, files, problems };
}

function find(record: InstalledRecord | null, { name, version }: LockedPackage): InstalledPackage | null {
  return record?.packages.find((each) => each.name === name && each.version === version) ?? null;
}

/** The files that the archive in the store has; null when there is no archive. */
async function archiveContents(
  { host }: Session,
  locked: LockedPackage,
  problems: string[],
): Promise<ReadonlyMap<string, string> | null> {
  if (locked.source.kind !== "registry" || locked.hash === null) return null;
  const store = new ArchiveStore(host);
  const actual = await hashOfFile(host, store.path(locked.hash));
  if (actual === null) return null;
  if (actual !== locked.hash) {
    problems.push(`${locked.name} ${locked.version}: its archive in the cache has another hash`);
    return null;
  }
  const files = new Map<string, string>();
  await unpack(locked, await store.read(locked.hash), {
    folder: () => Promise.resolve(),
    file(path) {
      const hash = createHash("sha256");
      return Promise.resolve({
        write: (bytes) => void hash.update(bytes),
        close: () => void files.set(path, hash.digest("hex")),
      });
    },
  });
  return files;
}

async function verifyFolder(
  { host, root }: Session,
  place: InstalledPackage,
  expected: ReadonlyMap<string, string> | null,
  problems: string[],
): Promise<number> {
  const wanted = expected ?? place.files;
  if (!await host.files.isFolder(`${root}/${place.folder}`)) {
    problems.push(`${place.folder}: it is missing`);
    return 0;
  }
  const entries = await host.files.walk(`${root}/${place.folder}`, () => false);
  for (const { path, kind } of entries) {
    if (kind !== "folder" && !wanted.has(path)) {
      problems.push(`${place.folder}/${path}: it does not belong there`);
    }
  }
  for (const [path, hash] of wanted) {
    const bytes = await host.files.readBytes(`${root}/${place.folder}/${path}`);
    if (bytes === null) problems.push(`${place.folder}/${path}: it is missing`);
    else if (sha256(bytes) !== hash) problems.push(`${place.folder}/${path}: it was changed`);
  }
  return wanted.size;
}
