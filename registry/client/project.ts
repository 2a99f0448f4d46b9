/** A package's manifest and lockfile on the disk, and the session of one command on it. */
import { formatLockfile, type LockedPackage, readLockfile } from "../manifest/lockfile.ts";
import { type PackageManifest, readPackageManifest } from "../manifest/package_manifest.ts";
import { type RegistryHost, TEMPORARY_SUFFIX } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";
import { lockChanges, sameLock } from "../resolution/changes.ts";
import { HttpClient } from "./http_client.ts";

/** What one command works with. */
export interface Session {
  readonly host: RegistryHost;
  readonly http: HttpClient;
  /** The package's folder. */
  readonly root: string;
  /** Nothing is asked of the network. */
  readonly isOffline: boolean;
  /** The lockfile must stay as it is. */
  readonly isLocked: boolean;
}

/** Begins a command. */
export function openSession(
  options: {
    readonly host: RegistryHost;
    readonly root: string;
    readonly isOffline?: boolean;
    readonly isLocked?: boolean;
  },
): Session {
  const { host, root, isOffline = false, isLocked = false } = options;
  return { host, http: new HttpClient(host), root: root.replace(/\/+$/, ""), isOffline, isLocked };
}

/** A package. */
export interface Project {
  readonly manifestText: string;
  readonly manifest: PackageManifest;
  readonly locked: readonly LockedPackage[];
  /** Null: there is none. */
  readonly lockText: string | null;
}

/** Where they are, relative to the package. */
export const MANIFEST_FILE = "project.toml";
/** The lockfile. */
export const LOCK_FILE = "project.lock";

/** Whatever changes a package's manifest, lockfile or unpacked packages holds this. */
const PACKAGE_LOCK = ".lang/pkg.lock";
/** Files that are written under it, relative to the package. */
const LOCKED_FILES = /^(?:project\.toml|project\.lock|packages\.json)\./;

/** Waits for other commands on the package, and keeps them waiting until it is disposed of. */
export async function lockPackage({ host, root }: Session): Promise<Disposable> {
  // Before the lock is made: where no package is, nothing is to be left behind.
  if (await host.files.size(`${root}/${MANIFEST_FILE}`) === null) throw noManifest(root);
  const lock = await host.files.lock(
    `${root}/${PACKAGE_LOCK}`,
    () => host.reporter.note("Another `lang` is at work on this package; waiting until it has ended"),
  );
  try {
    for (const folder of [root, `${root}/.lang`]) {
      for (const name of await host.files.names(folder)) {
        const isLeft = LOCKED_FILES.test(name) && name.endsWith(TEMPORARY_SUFFIX);
        if (isLeft) await host.files.remove(`${folder}/${name}`);
      }
    }
    return lock;
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

function noManifest(root: string): RegistryError {
  return new RegistryError("no-manifest", `Cannot find a package: there is no project.toml in ${root}`, {
    kind: "usage",
    hint: "`lang new NAME` writes a package; `--manifest-dir` names the folder of another one.",
  });
}

/** Reads manifest and lockfile. */
export async function openProject({ host, root }: Session): Promise<Project> {
  const manifestText = await host.files.readText(`${root}/${MANIFEST_FILE}`);
  if (manifestText === null) throw noManifest(root);
  const lockText = await host.files.readText(`${root}/${LOCK_FILE}`);
  return {
    manifestText,
    manifest: readPackageManifest(manifestText),
    locked: lockText === null ? [] : readLockfile(lockText),
    lockText,
  };
}

/** Fails when the lockfile must stay as it is and would not, or has no hash for a package. */
export function checkLocked(
  session: Session,
  before: readonly LockedPackage[],
  after: readonly LockedPackage[],
): void {
  if (!session.isLocked) return;
  const open = after.find(({ hash }) => hash === null);
  if (sameLock(before, after) && open === undefined) return;
  const [change] = lockChanges(before, after);
  const reason = change === undefined
    ? open === undefined || before.some((each) => each.name === open.name && each.hash !== null)
      ? "it would change"
      : `it has no hash of ${open.name} ${open.version}`
    : `${change.name} would be ${change.kind}`;
  throw new RegistryError("locked", `Cannot keep to project.lock: ${reason}`, {
    hint: "Without `--locked`, `lang pkg fetch` brings it up to date; commit it then.",
  });
}

/** Writes the lockfile, when it is another. */
export async function writeLock(
  session: Session,
  project: Project,
  packages: readonly LockedPackage[],
): Promise<string> {
  const text = formatLockfile(packages);
  checkLocked(session, project.locked, packages);
  const isNeeded = packages.length > 0 || project.lockText !== null;
  if (isNeeded && text !== project.lockText && !session.isLocked) {
    await session.host.files.write(`${session.root}/${LOCK_FILE}`, text);
  }
  return isNeeded ? (session.isLocked ? project.lockText ?? text : text) : "";
}
