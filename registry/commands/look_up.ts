/** `list`, `search` and `info`: what is used, and what there is. */
import { didYouMean } from "../../engine/base/suggest.ts";
import { readRecord, RECORD_FILE } from "../client/installed.ts";
import { cachedIndexes, refreshIndexes } from "../client/indexes.ts";
import { openProject, type Session } from "../client/project.ts";
import { sortPackages } from "../manifest/lockfile.ts";
import { OFFICIAL_REGISTRY, sourceText } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { Catalog } from "../resolution/catalog.ts";

/** One used package. */
export interface ListedPackage {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  /** Whether the manifest names it. */
  readonly isDirect: boolean;
  /** Whether no index had its version. */
  readonly isUnresolved: boolean;
  /** Whether it is unpacked. */
  readonly isFetched: boolean;
  /** Why it was taken back, or null. */
  readonly yanked: string | null;
  /** Versions of what it needs itself; null when they are not known. */
  readonly dependencies: Readonly<Record<string, string>> | null;
}

/** The packages of the lockfile, by name. */
export async function listPackages(session: Session): Promise<ListedPackage[]> {
  const { host, root } = session;
  const project = await openProject(session);
  const { registries, dependencies } = project.manifest;
  const catalog = new Catalog(registries, await cachedIndexes(host, root, registries));
  const record = await readRecord(host, `${root}/${RECORD_FILE}`);
  return sortPackages(project.locked).map((each) => {
    const installed = record?.packages.find(({ name, version, hash }) =>
      name === each.name && version === each.version && hash === each.hash
    );
    return {
      name: each.name,
      version: each.version,
      source: sourceText(each.source),
      isDirect: dependencies.has(each.name),
      isUnresolved: each.isUnresolved,
      isFetched: installed !== undefined,
      yanked: catalog.yankedReason(each),
      dependencies: installed === undefined ? null : Object.fromEntries(installed.dependencies),
    };
  });
}

/** A package that a registry has. */
export interface FoundRelease {
  readonly name: string;
  /** Its highest version that was not taken back. */
  readonly version: string;
  readonly description: string | null;
  readonly registry: string;
}

/** Packages whose name or description has all words. */
export async function searchPackages(session: Session, query: string): Promise<FoundRelease[]> {
  const catalog = await freshCatalog(session);
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = new Map<string, FoundRelease>();
  for (const name of [...catalog.names()].sort()) {
    for (const slug of catalog.slugs) {
      const entry = catalog.releases(slug, name).find(({ yanked }) => yanked === null);
      if (entry === undefined || found.has(name)) continue;
      const { version, description } = entry;
      const text = `${name} ${description ?? ""}`.toLowerCase();
      if (words.every((word) => text.includes(word))) {
        found.set(name, { name, version, description, registry: slug });
      }
    }
  }
  return [...found.values()];
}

/** One version of a package. */
export interface VersionInfo {
  readonly version: string;
  readonly registry: string;
  readonly yanked: string | null;
  readonly url: string;
}

/** What is known of a package. */
export interface PackageInfo {
  readonly name: string;
  readonly description: string | null;
  /** Requirements of the highest version; null when they are not known. */
  readonly dependencies: Readonly<Record<string, string>> | null;
  /** Highest first. */
  readonly versions: readonly VersionInfo[];
}

/** Everything that the indexes say of a package. */
export async function packageInfo(session: Session, name: string): Promise<PackageInfo> {
  const catalog = await freshCatalog(session);
  const entries = catalog.slugs.flatMap((slug) =>
    catalog.releases(slug, name).map((entry) => ({ slug, entry }))
  );
  const first = entries.find(({ entry }) => entry.yanked === null) ?? entries[0];
  if (first === undefined) {
    throw new RegistryError(
      "no-package",
      `Cannot find the package ${name}: ${catalog.slugs.join(", ")} ${
        catalog.slugs.length === 1 ? "does" : "do"
      } not have it`,
      { hint: didYouMean(name, catalog.names()) ?? "`lang pkg search` looks for a word." },
    );
  }
  const { description, dependencies } = first.entry;
  return {
    name,
    description,
    dependencies: dependencies === null ? null : Object.fromEntries(dependencies),
    versions: entries.map(({ slug, entry }) => ({
      version: entry.version,
      registry: slug,
      yanked: entry.yanked,
      url: entry.pageUrl,
    })),
  };
}

/**
 * The registries of the package around, or the official one where there is none; their indexes are asked for when
 * they are old.
 */
async function freshCatalog(session: Session): Promise<Catalog> {
  const { host, http, isOffline } = session;
  const hasManifest = await host.files.size(`${session.root}/project.toml`) !== null;
  // Outside of a package nothing is left in the folder.
  const root = hasManifest ? session.root : host.surroundings.cacheFolder;
  const slugs = hasManifest ? (await openProject(session)).manifest.registries : [OFFICIAL_REGISTRY];
  const indexes = isOffline
    ? await cachedIndexes(host, root, slugs)
    : await refreshIndexes({ host, http, root, slugs, all: false });
  return new Catalog(slugs, indexes);
}
