/**
 * `fetch`: brings every locked package onto the disk, verified, and says in `.lang/packages.json` what is there.
 *
 * What is in the shared store by its hash needs no network. What a package needs is only known for sure from its own
 * manifest, so that resolving and unpacking take turns until nothing is missing.
 */
import { parseSidecar } from "../archive/sidecar.ts";
import { REGISTRY_LIMITS } from "../limits.ts";
import { type LockedPackage, sortPackages } from "../manifest/lockfile.ts";
import { readPackageManifest } from "../manifest/package_manifest.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import { downloadRequest } from "../protocol/requests.ts";
import { requirementsOf } from "../protocol/responses.ts";
import { mayCarryToken } from "../protocol/trust.ts";
import type { IndexEntry, RegistryIndex } from "../registry_index.ts";
import { RegistryError } from "../registry_error.ts";
import { type LockChange, lockChanges } from "../resolution/changes.ts";
import type { Resolution, ResolvedPackage } from "../resolution/resolver.ts";
import { ArchiveStore } from "./archive_store.ts";
import type { Purpose } from "./http_client.ts";
import { cachedIndexes, refreshIndexes } from "./indexes.ts";
import { installArchive, removeOthers } from "./install.ts";
import {
  formatRecord,
  type InstalledPackage,
  type InstalledRecord,
  isIntact,
  PACKAGES_FOLDER,
  readRecord,
  RECORD_FILE,
  textHash,
} from "./installed.ts";
import { findLocalPackages, type FoundPackage } from "./local_packages.ts";
import { checkLocked, lockPackage, openProject, type Project, type Session, writeLock } from "./project.ts";
import { resolveProject } from "./resolve_project.ts";
import { tokenFor } from "./tokens.ts";

/** What was done. */
export interface FetchOutcome {
  /** What changed in the lockfile. */
  readonly changes: readonly LockChange[];
  /** Packages that were unpacked now. */
  readonly unpacked: readonly PackageVersion[];
  /** Packages that came over the network. */
  readonly downloaded: readonly PackageVersion[];
  readonly record: InstalledRecord;
}

/** Brings all packages onto the disk. */
export async function fetchPackages(session: Session): Promise<FetchOutcome> {
  // Two builds of one package at the same time must not clear away what the other unpacks.
  using _lock = await lockPackage(session);
  return await fetchUnderLock(session);
}

/** The same, for who holds the package's lock. */
export async function fetchUnderLock(session: Session): Promise<FetchOutcome> {
  const project = await openProject(session);
  return await new Fetching(session, project).run();
}

class Fetching {
  readonly #session: Session;
  readonly #project: Project;
  readonly #store: ArchiveStore;
  readonly #installed = new Map<string, InstalledPackage>();
  readonly #known = new Map<string, ReadonlyMap<string, string>>();
  readonly #unpacked: PackageVersion[] = [];
  readonly #downloaded: PackageVersion[] = [];
  #indexes: readonly RegistryIndex[] = [];
  #refreshing: Promise<void> | null = null;

  constructor(session: Session, project: Project) {
    this.#session = session;
    this.#project = project;
    this.#store = new ArchiveStore(session.host);
  }

  async run(): Promise<FetchOutcome> {
    const { host, root } = this.#session;
    const { manifest, locked } = this.#project;
    if (this.#session.isLocked) checkLocked(this.#session, locked, locked);
    this.#indexes = await cachedIndexes(host, root, manifest.registries);
    for (const each of (await readRecord(host, `${root}/${RECORD_FILE}`))?.packages ?? []) {
      const isThere = await host.files.isFolder(`${root}/${each.folder}`);
      if (isThere && await isIntact(host, root, each)) this.#installed.set(tagOf(each), each);
      else if (isThere) host.reporter.note(`${each.folder} was changed; it is unpacked anew`);
    }
    const locals = await findLocalPackages(this.#session, this.#project, { update: new Set() });
    for (const each of locked) await this.#learn(each);
    let resolution = this.#resolve(locals, locked);
    const isOpen = resolution.packages.some((each) => each.source.kind === "registry" && each.hash === null);
    if (isOpen && await this.#refresh()) resolution = this.#resolve(locals, locked);
    for (let round = 0; round < REGISTRY_LIMITS.fetchRounds; round++) {
      const packages = await this.#bringAll(resolution.packages, locals);
      const next = this.#resolve(locals, packages);
      if (isSame(packages, next.packages)) return await this.#finish(next, packages, locals);
      resolution = next;
    }
    throw new RegistryError(
      "unsettled",
      "Cannot fetch the packages: their requirements do not come to an end",
    );
  }

  #resolve(locals: ReadonlyMap<string, FoundPackage>, locked: readonly LockedPackage[]): Resolution {
    return resolveProject({
      manifest: this.#project.manifest,
      indexes: this.#indexes,
      locals,
      locked,
      fallback: [],
      known: this.#known,
    });
  }

  /** Asks for indexes that are missing or old, once; false when that is not allowed. */
  async #refresh(): Promise<boolean> {
    if (this.#session.isOffline) return false;
    const isFirst = this.#refreshing === null;
    // Several downloads may ask at the same time; all wait for the one answer.
    this.#refreshing ??= this.#askIndexes();
    await this.#refreshing;
    return isFirst;
  }

  async #askIndexes(): Promise<void> {
    const { host, http, root } = this.#session;
    const slugs = this.#project.manifest.registries;
    this.#indexes = await refreshIndexes({ host, http, root, slugs, all: false });
  }

  /** What a package that is unpacked needs, by its manifest. */
  async #learn(release: PackageVersion): Promise<void> {
    const { host, root } = this.#session;
    const folder = this.#installed.get(tagOf(release))?.folder;
    if (folder === undefined) return;
    const text = await host.files.readText(`${root}/${folder}/project.toml`);
    if (text === null) return;
    this.#known.set(tagOf(release), requirementsOf(readPackageManifest(text, `${folder}/project.toml`)));
  }

  async #bringAll(
    packages: readonly ResolvedPackage[],
    locals: ReadonlyMap<string, FoundPackage>,
  ): Promise<ResolvedPackage[]> {
    if (packages.some(({ source, hash }) => source.kind === "registry" && hash === null)) {
      await this.#refresh();
    }
    const queue = [...packages.entries()];
    const results: ResolvedPackage[] = [...packages];
    let failure: unknown = null;
    const work = async () => {
      for (let next = queue.shift(); next !== undefined && failure === null; next = queue.shift()) {
        const [index, each] = next;
        try {
          const local = each.source.kind === "registry" ? undefined : locals.get(each.name);
          results[index] = local === undefined
            ? { ...each, hash: await this.#bringRelease(each), isUnresolved: false }
            : each;
          if (local !== undefined) await this.#bringLocal(local);
        } catch (error) {
          failure ??= error;
        }
      }
    };
    await Promise.all(Array.from({ length: REGISTRY_LIMITS.parallelDownloads }, work));
    if (failure !== null) throw failure;
    return results;
  }

  async #bringLocal(local: FoundPackage): Promise<void> {
    const { root } = this.#session;
    const tag = tagOf(local);
    const before = this.#installed.get(tag);
    if (before?.hash === local.hash) return;
    const files = await local.install(`${root}/${PACKAGES_FOLDER}`);
    this.#enter(local, local.hash, files);
  }

  #enter(release: PackageVersion, hash: string, files: ReadonlyMap<string, string>): void {
    const { name, version } = release;
    const folder = `${PACKAGES_FOLDER}/${tagOf(release)}`;
    this.#installed.set(tagOf(release), { name, version, hash, folder, files, dependencies: new Map() });
    this.#unpacked.push({ name, version });
  }

  /** Brings a release; gives its hash. */
  async #bringRelease(each: ResolvedPackage): Promise<string> {
    const { host, root } = this.#session;
    const before = this.#installed.get(tagOf(each));
    if (each.hash !== null && before?.hash === each.hash) return each.hash;
    const hash = await this.#ensureArchive(each);
    const tarball = await this.#store.read(hash);
    const files = await installArchive(host, {
      release: each,
      tarball,
      parent: `${root}/${PACKAGES_FOLDER}`,
    });
    this.#enter(each, hash, files);
    await this.#learn(each);
    return hash;
  }

  /** Makes sure that the archive is in the store. */
  async #ensureArchive(each: ResolvedPackage): Promise<string> {
    if (each.hash !== null && await this.#store.has(each.hash)) return each.hash;
    const what = `${each.name} ${each.version}`;
    if (this.#session.isOffline) {
      throw new RegistryError(
        "offline",
        `Cannot fetch ${what}: it is not on this machine, and --offline forbids the network`,
      );
    }
    const { entry, purpose } = await this.#findRelease(each);
    try {
      return await this.#download(each, entry, purpose);
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== "not-found") throw error;
      throw new RegistryError(
        "release-not-found",
        `Cannot fetch ${what}: release not found in ${purpose.slug}, though its index names it`,
        {
          hint:
            "It was deleted, changed or made private since. `lang pkg update --refresh` asks for what there is now.",
          cause: error,
        },
      );
    }
  }

  /** Downloads the archive of a release that the index has; gives its hash. */
  async #download(each: ResolvedPackage, entry: IndexEntry, purpose: Purpose): Promise<string> {
    const what = `${each.name} ${each.version}`;
    const hash = await this.#readSidecar(entry, purpose);
    if (each.hash !== null && each.hash !== hash) {
      throw new RegistryError(
        "hash-mismatch",
        `Cannot fetch ${what}: its checksum file says ${hash}, project.lock says ${each.hash}`,
        {
          hint:
            "The release was changed after it was locked. Ask those who publish it before you remove the entry.",
        },
      );
    }
    if (!await this.#store.has(hash)) {
      const url = addressFor(entry.tarballUrl, entry.tarballApiUrl, purpose, this.#session);
      await this.#store.download(this.#session.http, { url, hash, what, purpose });
      this.#downloaded.push({ name: each.name, version: each.version });
    }
    return hash;
  }

  async #findRelease(
    each: ResolvedPackage,
  ): Promise<{ readonly entry: IndexEntry; readonly purpose: Purpose }> {
    const slug = each.source.kind === "registry" ? each.source.slug : "";
    const find = () =>
      this.#indexes.find((index) => index.slug === slug)?.releases.find(({ name, version }) =>
        name === each.name && version === each.version
      );
    if (find() === undefined) await this.#refresh();
    const entry = find();
    const what = `${each.name} ${each.version}`;
    if (entry === undefined) {
      const isListed = this.#project.manifest.registries.includes(slug);
      throw new RegistryError("release-not-found", `Cannot fetch ${what}: release not found in ${slug}`, {
        hint: !isListed
          ? `project.lock names ${slug}, which is not in [registry] of project.toml.`
          : each.isUnresolved
          ? "The version was taken from the requirement, for no index had one; `lang pkg update --refresh` looks again."
          : "When it was published within the last hour, `lang pkg update --refresh` asks for the newest list.",
      });
    }
    const token = await tokenFor(this.#session.host, slug);
    return { entry, purpose: { doing: `fetch ${what}`, slug, token } };
  }

  async #readSidecar(entry: IndexEntry, purpose: Purpose): Promise<string> {
    if (entry.sidecarUrl === "") {
      throw new RegistryError("no-sidecar", `Cannot ${purpose.doing}: its release has no checksum file`, {
        hint: `A release has two files: ${entry.tag}.tar.gz and ${entry.tag}.tar.gz.sha256.`,
      });
    }
    const url = addressFor(entry.sidecarUrl, entry.sidecarApiUrl, purpose, this.#session);
    const { text } = await this.#session.http.text(
      downloadRequest(url),
      purpose,
      REGISTRY_LIMITS.sidecarBytes,
    );
    const hash = parseSidecar(text, entry);
    if (hash !== null) return hash;
    throw new RegistryError(
      "bad-sidecar",
      `Cannot ${purpose.doing}: its checksum file has no SHA-256 of ${entry.tag}.tar.gz`,
    );
  }

  async #finish(
    resolution: Resolution,
    packages: readonly ResolvedPackage[],
    locals: ReadonlyMap<string, FoundPackage>,
  ): Promise<FetchOutcome> {
    const { host, root } = this.#session;
    const lockText = await writeLock(this.#session, this.#project, packages);
    const used = sortPackages(resolution.packages);
    const record: InstalledRecord = {
      manifest: textHash(this.#project.manifestText),
      lock: textHash(lockText),
      direct: resolution.direct,
      packages: used.flatMap((each) => {
        const installed = this.#installed.get(tagOf(each));
        return installed === undefined
          ? []
          : [{ ...installed, dependencies: each.dependencies ?? new Map() }];
      }),
    };
    await removeOthers(host, `${root}/${PACKAGES_FOLDER}`, used);
    await host.files.write(`${root}/${RECORD_FILE}`, formatRecord(record));
    return {
      changes: lockChanges(this.#project.locked, packages),
      unpacked: sortPackages(
        this.#unpacked.filter(({ name }) => used.some((each) => each.name === name) || locals.has(name)),
      ),
      downloaded: sortPackages(this.#downloaded),
      record,
    };
  }
}

/** The address of a release's file: of the API for whoever has a token, which private repositories need. */
function addressFor(url: string, apiUrl: string | null, { token }: Purpose, { host }: Session): string {
  const isPrivate = token !== null && apiUrl !== null && mayCarryToken(apiUrl, host.surroundings.apiUrl);
  return isPrivate ? apiUrl : url;
}

function isSame(left: readonly LockedPackage[], right: readonly LockedPackage[]): boolean {
  const key = (packages: readonly LockedPackage[]) =>
    packages.map(({ name, version, hash }) => `${name} ${version} ${hash}`).sort().join("\n");
  return key(left) === key(right);
}
