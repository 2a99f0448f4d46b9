/** What builds ask before they begin: are the packages that the manifest and the lockfile name on the disk? If not, they are fetched. */
import { isExcluded, publishedFiles, sha256, treeHash } from "../archive/tree.ts";
import { fetchPackages } from "./fetch_packages.ts";
import { type InstalledRecord, readRecord, RECORD_FILE, textHash, VENDOR_RECORD_FILE } from "./installed.ts";
import { openProject, type Project, type Session } from "./project.ts";

/** Makes sure that everything is there; true when something had to be fetched or unpacked. */
export async function ensurePackages(session: Session): Promise<boolean> {
  const { host, root } = session;
  const project = await openProject(session);
  const vendored = await readRecord(host, `${root}/${VENDOR_RECORD_FILE}`);
  if (vendored !== null && isOf(vendored, project)) return false;
  if (vendored !== null) {
    host.reporter.warn(
      "The packages in .lang/vendor/ are not those of project.lock; `lang pkg vendor` copies them anew",
    );
  }
  const record = await readRecord(host, `${root}/${RECORD_FILE}`);
  if (record !== null && isOf(record, project) && await isComplete(session, record, project)) return false;
  if (record === null && project.manifest.dependencies.size === 0 && project.locked.length === 0) {
    return false;
  }
  await fetchPackages(session);
  return true;
}

function isOf(record: InstalledRecord, { manifestText, lockText }: Project): boolean {
  return record.manifest === textHash(manifestText) && record.lock === textHash(lockText ?? "");
}

/** Whether all folders are there, and those of paths are as they were. */
async function isComplete(
  { host, root }: Session,
  record: InstalledRecord,
  { locked }: Project,
): Promise<boolean> {
  for (const { name, version, hash, folder } of record.packages) {
    if (!await host.files.isFolder(`${root}/${folder}`)) return false;
    const entry = locked.find((each) => each.name === name && each.version === version);
    if (entry?.source.kind !== "path") continue;
    const { path } = entry.source;
    const from = path.startsWith("/") ? path : `${root}/${path}`;
    if (!await host.files.isFolder(from)) return false;
    const files = publishedFiles(await host.files.walk(from, isExcluded));
    const hashes = await Promise.all(files.map(async (file) => {
      const bytes = await host.files.readBytes(`${from}/${file.path}`);
      return { path: file.path, hash: bytes === null ? "" : sha256(bytes) };
    }));
    if (treeHash(hashes) !== hash) return false;
  }
  return true;
}
