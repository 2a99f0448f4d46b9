/**
 * What builds ask before they begin: are the packages that the manifest and the lockfile name on the disk? If not,
 * they are fetched.
 */
import { checkRequirement } from "../requirement.ts";
import { fetchPackages } from "./fetch_packages.ts";
import {
  hasAllFiles,
  type InstalledRecord,
  readRecord,
  RECORD_FILE,
  textHash,
  VENDOR_RECORD_FILE,
} from "./installed.ts";
import { absolutePath, folderTree, joinPath } from "./local_packages.ts";
import { openProject, type Project, type Session } from "./project.ts";

/** Makes sure that everything is there; true when something had to be fetched or unpacked. */
export async function ensurePackages(session: Session): Promise<boolean> {
  const { host, root } = session;
  const project = await openProject(session);
  const vendored = await readRecord(host, `${root}/${VENDOR_RECORD_FILE}`);
  if (vendored !== null) {
    const isUsed = isOf(vendored, project) &&
      await isComplete(session, vendored, project, { mayLackFolders: true });
    if (isUsed) return false;
    host.reporter.warn(
      "The packages in .lang/vendor/ are not those of project.lock; `lang pkg vendor` copies them anew",
    );
  }
  const record = await readRecord(host, `${root}/${RECORD_FILE}`);
  if (
    record !== null && isOf(record, project) &&
    await isComplete(session, record, project, { mayLackFolders: false })
  ) return false;
  if (record === null && project.manifest.dependencies.size === 0 && project.locked.length === 0) {
    return false;
  }
  await fetchPackages(session);
  return true;
}

/** Whether the record is of this lockfile, and the manifest asks for nothing else. */
function isOf(record: InstalledRecord, project: Project): boolean {
  if (record.lock !== textHash(project.lockText ?? "")) return false;
  return record.manifest === textHash(project.manifestText) || keepsTo(record, project);
}

/**
 * Whether what the manifest asks for is what is locked: most changes of a manifest have nothing to do with packages.
 */
function keepsTo({ direct }: InstalledRecord, { manifest, locked }: Project): boolean {
  if (direct.size !== manifest.dependencies.size) return false;
  return [...manifest.dependencies].every(([name, dependency]) => {
    const version = direct.get(name);
    const source = locked.find((each) => each.name === name && each.version === version)?.source;
    if (version === undefined || source === undefined) return false;
    switch (dependency.kind) {
      case "registry":
        return source.kind === "registry" && checkRequirement(dependency.requirement).allows(version);
      case "path":
        return source.kind === "path" && source.path === joinPath("", dependency.path);
      case "git":
        return source.kind === "git" && source.url === dependency.url;
    }
  });
}

/** Whether everything is unpacked, and the folders of other packages, unless they may be lacking, are as they were. */
async function isComplete(
  { host, root }: Session,
  record: InstalledRecord,
  { locked }: Project,
  { mayLackFolders }: { readonly mayLackFolders: boolean },
): Promise<boolean> {
  for (const each of record.packages) {
    if (!await hasAllFiles(host, root, each)) return false;
    const { name, version, hash } = each;
    const source = locked.find((entry) => entry.name === name && entry.version === version)?.source;
    if (source?.kind !== "path") continue;
    const folder = absolutePath(root, source.path);
    if (!await host.files.isFolder(folder)) {
      if (mayLackFolders) continue;
      return false;
    }
    if ((await folderTree(host, folder)).hash !== hash) return false;
  }
  return true;
}
