/**
 * `add`, `remove` and `update`: they resolve from the cache and write manifest and lockfile. Only `update` with a
 * refresh asks the network for indexes.
 */
import { isPackageName, tagOf } from "../names.ts";
import { didYouMean } from "../../engine/base/suggest.ts";
import { cachedIndexes, refreshIndexes } from "../client/indexes.ts";
import { PACKAGES_FOLDER } from "../client/installed.ts";
import { findLocalPackages } from "../client/local_packages.ts";
import {
  LOCK_FILE,
  lockPackage,
  MANIFEST_FILE,
  openProject,
  type Project,
  type Session,
  writeLock,
} from "../client/project.ts";
import { resolveProject } from "../client/resolve_project.ts";
import { formatLockfile, type LockedPackage, sortPackages } from "../manifest/lockfile.ts";
import { type Dependency, dependencyText, readPackageManifest } from "../manifest/package_manifest.ts";
import { editToml } from "../manifest/toml_edit.ts";
import { requirementsOf } from "../protocol/responses.ts";
import type { RegistryIndex } from "../registry_index.ts";
import { RegistryError } from "../registry_error.ts";
import { checkRequirement, isPrerelease, parseRequirement } from "../requirement.ts";
import { Catalog } from "../resolution/catalog.ts";
import { type LockChange, lockChanges } from "../resolution/changes.ts";

/** What a command changed. */
export interface DependencyOutcome {
  readonly changes: readonly LockChange[];
  readonly packages: readonly LockedPackage[];
}

/** What `add` is asked for. */
export interface AddRequest {
  readonly name: string;
  readonly requirement: string | null;
  readonly path: string | null;
  readonly git: string | null;
  readonly revision: string | null;
}

/** What `add` did. */
export interface AddOutcome extends DependencyOutcome {
  readonly name: string;
  /** As the manifest has it now. */
  readonly written: string;
  /** The version that was chosen. */
  readonly version: string;
  readonly isUnresolved: boolean;
}

/** Adds a dependency, or asks for another version of it. */
export async function addDependency(session: Session, request: AddRequest): Promise<AddOutcome> {
  using _lock = await lockPackage(session);
  const project = await openProject(session);
  const { name } = request;
  if (!isPackageName(name)) {
    throw new RegistryError("bad-name", `Cannot add "${name}": it is no name of a package`, {
      kind: "usage",
    });
  }
  if (name === project.manifest.name) {
    throw new RegistryError("bad-name", `Cannot add ${name}: it is this package`, { kind: "usage" });
  }
  const indexes = await cachedIndexes(session.host, session.root, project.manifest.registries);
  const dependency = chooseDependency(session, project, request, indexes);
  const edited = edit(project, name, dependencyText(dependency));
  const { packages, direct } = await lockAnew(session, edited, {
    indexes,
    locked: edited.locked.filter((each) => each.name !== name),
    fallback: edited.locked,
    update: new Set([name]),
  });
  const version = direct.get(name) ?? "";
  const chosen = packages.find((each) => each.name === name && each.version === version);
  await write(session, project, edited, packages);
  return {
    name,
    written: dependencyText(dependency),
    version,
    isUnresolved: chosen?.isUnresolved ?? false,
    packages,
    changes: lockChanges(project.locked, packages),
  };
}

function chooseDependency(
  session: Session,
  project: Project,
  { name, requirement, path, git, revision }: AddRequest,
  indexes: readonly RegistryIndex[],
): Dependency {
  if (path !== null) return { kind: "path", path };
  if (git !== null) return { kind: "git", url: git, revision };
  if (requirement !== null) {
    return { kind: "registry", requirement: checkRequirement(requirement).text };
  }
  const catalog = new Catalog(project.manifest.registries, indexes);
  const any = checkRequirement("*");
  const found = catalog.match(name, any)?.entries[0] ?? latestPrerelease(catalog, name);
  if (found !== undefined) return { kind: "registry", requirement: `^${found.version.replace(/\+.*$/, "")}` };
  // A package whose versions were all taken back is known; why it cannot be chosen is reported where it is resolved.
  const names = catalog.names();
  const near = names.has(name) ? undefined : didYouMean(name, names);
  if (near !== undefined) session.host.reporter.warn(`No cached index has a package ${name}. ${near}`);
  return { kind: "registry", requirement: "*" };
}

function latestPrerelease(catalog: Catalog, name: string) {
  for (const slug of catalog.slugs) {
    const found = catalog.releases(slug, name).find((each) =>
      each.yanked === null && isPrerelease(each.version)
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Takes a dependency away. */
export async function removeDependency(session: Session, name: string): Promise<DependencyOutcome> {
  using _lock = await lockPackage(session);
  const project = await openProject(session);
  checkDependency(project, name);
  const edited = edit(project, name, null);
  const indexes = await cachedIndexes(session.host, session.root, edited.manifest.registries);
  const { packages } = await lockAnew(session, edited, {
    indexes,
    locked: edited.locked.filter((each) => each.name !== name),
    fallback: edited.locked,
    update: new Set(),
  });
  await write(session, project, edited, packages);
  return { packages, changes: lockChanges(project.locked, packages) };
}

/** Chooses versions anew: of one package, or of all. */
export async function updateDependencies(
  session: Session,
  { name, refresh }: { readonly name: string | null; readonly refresh: boolean },
): Promise<DependencyOutcome> {
  using _lock = await lockPackage(session);
  const project = await openProject(session);
  const isLocked = project.locked.some((each) => each.name === name);
  if (name !== null && !isLocked) checkDependency(project, name);
  const { host, http, root, isOffline } = session;
  const slugs = project.manifest.registries;
  if (refresh && isOffline) {
    throw new RegistryError("offline", "Cannot refresh the indexes: --offline forbids the network", {
      kind: "usage",
    });
  }
  const indexes = refresh
    ? await refreshIndexes({ host, http, root, slugs, all: true })
    : await cachedIndexes(host, root, slugs);
  const { packages } = await lockAnew(session, project, {
    indexes,
    locked: name === null ? [] : project.locked.filter((each) => each.name !== name),
    fallback: project.locked,
    update: name === null ? "all" : new Set([name]),
  });
  await writeLock(session, project, packages);
  return { packages, changes: lockChanges(project.locked, packages) };
}

function checkDependency(project: Project, name: string): void {
  const { dependencies } = project.manifest;
  if (dependencies.has(name)) return;
  throw new RegistryError(
    "no-dependency",
    `Cannot find the dependency ${name}: project.toml does not name it`,
    {
      kind: "usage",
      hint: didYouMean(name, dependencies.keys()) ?? null,
    },
  );
}

function edit(project: Project, name: string, value: string | null): Project {
  const manifestText = editToml(project.manifestText, { table: "dependencies", key: name, value });
  if (manifestText !== null) {
    return { ...project, manifestText, manifest: readPackageManifest(manifestText) };
  }
  throw new RegistryError(
    "cannot-edit",
    "Cannot change project.toml: its [dependencies] have an unusual form",
    {
      hint: value === null
        ? `Remove \`${name}\` by hand.`
        : `Write \`${name} = ${value}\` under [dependencies] by hand.`,
    },
  );
}

async function lockAnew(
  session: Session,
  project: Project,
  { indexes, locked, fallback, update }: {
    readonly indexes: readonly RegistryIndex[];
    readonly locked: readonly LockedPackage[];
    readonly fallback: readonly LockedPackage[];
    readonly update: ReadonlySet<string> | "all";
  },
) {
  const locals = await findLocalPackages(session, project, { update });
  const known = new Map<string, ReadonlyMap<string, string>>();
  for (const each of project.locked) {
    const path = `${session.root}/${PACKAGES_FOLDER}/${tagOf(each)}/${MANIFEST_FILE}`;
    const text = await session.host.files.readText(path);
    if (text !== null && parseRequirement(each.version) !== null) {
      known.set(tagOf(each), requirementsOf(readPackageManifest(text, path)));
    }
  }
  const { packages, direct } = resolveProject({
    manifest: project.manifest,
    indexes,
    locals,
    locked,
    fallback,
    known,
  });
  // A version that stays the same keeps its hash, from another registry too: a mirror has the same bytes, or is none.
  const kept = packages.map((each) => {
    const before = project.locked.find(({ name, version, source }) =>
      name === each.name && version === each.version && source.kind === each.source.kind
    );
    return each.hash === null && before !== undefined
      ? { ...each, hash: before.hash, isUnresolved: each.isUnresolved && before.hash === null }
      : each;
  });
  return { packages: sortPackages(kept), direct };
}

/** The lockfile first: it fails when it must not change, and then the manifest stays as well. */
async function write(
  session: Session,
  before: Project,
  after: Project,
  packages: readonly LockedPackage[],
): Promise<void> {
  await writeLock(session, { ...after, locked: before.locked }, packages);
  if (after.manifestText === before.manifestText) return;
  if (session.isLocked && formatLockfile(packages) !== before.lockText) {
    throw new RegistryError("locked", `Cannot keep to ${LOCK_FILE}: it would change`);
  }
  await session.host.files.write(`${session.root}/${MANIFEST_FILE}`, after.manifestText);
}
