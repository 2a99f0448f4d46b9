/**
 * Packages that are no releases: folders next to the package, and commits of git repositories.
 *
 * A folder is what its files are now; the hash of a package is that of its sorted tree. A repository is cloned into
 * the shared cache, and of a commit the tree is taken through the same checks as a tarball.
 */
import { isExcluded, publishedFiles, sha256, treeHash } from "../archive/tree.ts";
import { type Dependency, type PackageManifest, readPackageManifest } from "../manifest/package_manifest.ts";
import { requirementsOf } from "../protocol/responses.ts";
import { tagOf } from "../names.ts";
import type { FolderEntry, RegistryHost } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";
import type { LocalPackage } from "../resolution/resolver.ts";
import { type FileHashes, installArchive, installCopy } from "./install.ts";
import type { Project, Session } from "./project.ts";

/** A local package and how it gets into a folder. */
export interface FoundPackage extends LocalPackage {
  readonly files: FileHashes;
  readonly requirements: Map<string, string>;
  /** Puts its files into `<parent>/<name>-<version>`. */
  install(parent: string): Promise<FileHashes>;
}

/** Finds all folders and repositories that the manifest names, and those that they name. */
export async function findLocalPackages(
  session: Session,
  project: Project,
  options: { readonly update: ReadonlySet<string> | "all" },
): Promise<Map<string, FoundPackage>> {
  const found = new Map<string, FoundPackage>();
  const queue = localsOf(project.manifest, "");
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (found.has(next.name)) continue;
    const { name, dependency } = next;
    const isUpdated = options.update === "all" || options.update.has(name);
    const { entry, manifest, folder } = dependency.kind === "path"
      ? await findFolder(session, name, joinPath(next.base, dependency.path))
      : await findCommit(session, project, { name, dependency, isUpdated });
    found.set(name, entry);
    if (folder !== null) queue.push(...localsOf(manifest, folder));
  }
  // Now that all versions are known: what a local package asks for by its place is required by its version.
  for (const entry of found.values()) {
    for (const name of entry.requirements.keys()) {
      const local = found.get(name);
      if (entry.requirements.get(name) !== "" || local === undefined) continue;
      entry.requirements.set(name, `=${local.version}`);
    }
  }
  return found;
}

interface Wanted {
  readonly name: string;
  readonly dependency: Exclude<Dependency, { kind: "registry" }>;
  /** Folder that its path is relative to, itself relative to the package. */
  readonly base: string;
}

function localsOf(manifest: PackageManifest, base: string): Wanted[] {
  return [...manifest.dependencies].flatMap(([name, dependency]) =>
    dependency.kind === "registry" ? [] : [{ name, dependency, base }]
  );
}

/** Requirements of a local package; those that are local themselves are empty until their versions are known. */
function localRequirements(manifest: PackageManifest): Map<string, string> {
  const requirements = new Map(requirementsOf(manifest));
  for (const [name, { kind }] of manifest.dependencies) if (kind !== "registry") requirements.set(name, "");
  return requirements;
}

interface Found {
  readonly entry: FoundPackage;
  readonly manifest: PackageManifest;
  /** Null: paths in its manifest are not followed. */
  readonly folder: string | null;
}

async function findFolder({ host, root }: Session, name: string, path: string): Promise<Found> {
  const folder = absolutePath(root, path);
  const text = await host.files.readText(`${folder}/project.toml`);
  if (text === null) {
    throw new RegistryError("no-package", `Cannot find ${name}: there is no package in ${path}`, {
      hint: "The path is relative to the folder of project.toml.",
    });
  }
  const manifest = readPackageManifest(text, `${path}/project.toml`);
  checkName(name, manifest, path);
  const { hashes, hash } = await folderTree(host, folder);
  const { version } = manifest;
  const entry: FoundPackage = {
    name,
    version,
    source: { kind: "path", path },
    hash,
    requirements: localRequirements(manifest),
    files: hashes,
    install: (parent) =>
      installCopy(host, { release: { name, version }, from: folder, paths: hashes.keys(), parent }),
  };
  return { entry, manifest, folder: path };
}

/**
 * The files of a package in a folder, and the hash of all of them: what would be published, without what commands
 * leave in packages below it. A library's example that uses the library would otherwise be copied into itself, each
 * time once more, and its lockfile would hold a hash of itself.
 */
export async function folderTree(
  host: RegistryHost,
  folder: string,
): Promise<{ readonly hashes: FileHashes; readonly hash: string }> {
  const entries = await host.files.walk(
    folder,
    (path) => isExcluded(path) || /(?:^|\/)\.(?:git|lang)$/.test(path),
  );
  const below = entries.flatMap(({ path }) =>
    path.endsWith("/project.toml") ? [path.slice(0, -"project.toml".length)] : []
  );
  const isLeft = ({ path }: FolderEntry) =>
    below.some((each) => path === `${each}project.lock` || `${path}/`.startsWith(`${each}target/`));
  const hashes = new Map<string, string>();
  for (const { path } of publishedFiles(entries.filter((entry) => !isLeft(entry)))) {
    const bytes = await host.files.readBytes(`${folder}/${path}`);
    if (bytes !== null) hashes.set(path, sha256(bytes));
  }
  return { hashes, hash: filesHash(hashes) };
}

function filesHash(hashes: FileHashes): string {
  return treeHash([...hashes].map(([path, hash]) => ({ path, hash })));
}

async function findCommit(
  session: Session,
  project: Project,
  { name, dependency, isUpdated }: {
    readonly name: string;
    readonly dependency: Extract<Dependency, { kind: "git" }>;
    readonly isUpdated: boolean;
  },
): Promise<Found> {
  const { host } = session;
  const { url, revision } = dependency;
  if (!/^(https|http|ssh|file):\/\/[^\s]+$|^[\w.-]+@[\w.-]+:[^\s]+$/.test(url)) {
    throw new RegistryError(
      "bad-address",
      `Cannot use the repository "${url}": its address is of no kind that is allowed`,
      {
        kind: "usage",
        hint: "Addresses begin with https://, ssh:// or file://.",
      },
    );
  }
  if (revision !== null && !/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(revision)) {
    throw new RegistryError("bad-revision", `Cannot use the revision "${revision}"`, { kind: "usage" });
  }
  const folder = `${host.surroundings.cacheFolder}/git/${sha256(new TextEncoder().encode(url))}`;
  const locked = project.locked.find((each) => each.name === name && each.source.kind === "git");
  const lockedCommit = locked?.source.kind === "git" && locked.source.url === url
    ? locked.source.commit
    : null;
  // The clone is that of all packages of the user.
  using _lock = await host.files.lock(
    `${host.surroundings.cacheFolder}/locks/git-${folder.slice(-64)}`,
    () => host.reporter.note(`Another \`lang\` is at work on ${url}; waiting for it`),
  );
  const hasClone = await host.files.isFolder(folder);
  const known = !isUpdated && lockedCommit !== null && hasClone &&
    await revisionOf(session, folder, lockedCommit) !== null;
  if (!known) await cloneOrFetch(session, { folder, url, name, hasClone });
  const commit = !isUpdated && lockedCommit !== null
    ? lockedCommit
    : await revisionOf(session, folder, revision ?? "HEAD") ??
      await revisionOf(session, folder, `refs/heads/${revision}`);
  if (commit === null) throw notThere(name, url, `revision ${revision ?? "HEAD"}`);
  if (await revisionOf(session, folder, commit) === null) {
    throw notThere(name, url, `commit ${commit}, which project.lock names`, `lang pkg update ${name}`);
  }
  const text = await fileOf(session, folder, commit);
  if (text === null) throw notThere(name, url, "project.toml");
  const manifest = readPackageManifest(text, `project.toml of ${url}`);
  checkName(name, manifest, url);
  const release = { name, version: manifest.version };
  const install = async (parent: string) => {
    const bytes = await host.git.run([
      "-C",
      folder,
      "archive",
      "--format=tar.gz",
      `--prefix=${tagOf(release)}/`,
      commit,
    ]);
    return await installArchive(host, { release, tarball: new Blob([bytes]).stream(), parent });
  };
  // The tree's hash needs its files; they are unpacked where they are used anyway.
  const files = await install(`${session.root}/.lang/packages`);
  const entry: FoundPackage = {
    ...release,
    source: { kind: "git", url, commit },
    hash: filesHash(files),
    requirements: new Map(requirementsOf(manifest)),
    files,
    install,
  };
  return { entry, manifest, folder: null };
}

function notThere(name: string, url: string, what: string, command: string | null = null): RegistryError {
  return new RegistryError("no-package", `Cannot find ${name}: ${url} has no ${what}`, {
    hint: command === null ? null : `\`${command}\` takes what is there now.`,
  });
}

async function cloneOrFetch(
  { host, isOffline }: Session,
  { folder, url, name, hasClone }: {
    readonly folder: string;
    readonly url: string;
    readonly name: string;
    readonly hasClone: boolean;
  },
): Promise<void> {
  if (isOffline) {
    if (hasClone) return;
    throw new RegistryError(
      "offline",
      `Cannot fetch ${name}: ${url} is not on this machine, and --offline forbids the network`,
    );
  }
  if (hasClone) {
    await host.git.run([
      "-C",
      folder,
      "fetch",
      "--quiet",
      "--prune",
      "--tags",
      "--",
      "origin",
      "+refs/heads/*:refs/heads/*",
    ]);
    return;
  }
  // Not at its place, so that half a clone is never taken for one. What a killed process has left goes first.
  const temporary = `${folder}.new`;
  try {
    await host.files.remove(temporary);
    await host.git.run(["clone", "--quiet", "--bare", "--", url, temporary]);
    await host.files.rename(temporary, folder);
  } finally {
    await host.files.remove(temporary);
  }
}

async function revisionOf({ host }: Session, folder: string, revision: string): Promise<string | null> {
  try {
    const output = await host.git.run([
      "-C",
      folder,
      "rev-parse",
      "--quiet",
      "--verify",
      `${revision}^{commit}`,
    ]);
    return new TextDecoder().decode(output).trim();
  } catch (error) {
    if (error instanceof RegistryError && error.code === "git-failed") return null;
    throw error;
  }
}

async function fileOf({ host }: Session, folder: string, commit: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await host.git.run(["-C", folder, "show", `${commit}:project.toml`]));
  } catch (error) {
    if (error instanceof RegistryError && error.code === "git-failed") return null;
    throw error;
  }
}

function checkName(name: string, manifest: PackageManifest, where: string): void {
  if (manifest.name === name) return;
  throw new RegistryError(
    "other-package",
    `Cannot use ${where} as ${name}: it is the package ${manifest.name}`,
    {
      hint: `Write \`${manifest.name}\` under [dependencies].`,
    },
  );
}

/** Where a path leads that is relative to a package, or absolute. */
export function absolutePath(root: string, path: string): string {
  return isAbsolute(path) ? path : `${root}/${path}`;
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:/.test(path);
}

/** A path relative to another, without needless parts. */
export function joinPath(base: string, path: string): string {
  if (base === "" || isAbsolute(path)) return path.replace(/\/+$/, "");
  const parts: string[] = [];
  for (const part of `${base}/${path}`.split("/")) {
    if (part === "" && parts.length > 0 || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}
