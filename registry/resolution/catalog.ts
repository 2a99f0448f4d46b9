/** The cached indexes of all registries, in the order in which they are searched. */
import type { LockedPackage } from "../manifest/lockfile.ts";
import type { PackageVersion } from "../names.ts";
import type { IndexEntry, RegistryIndex } from "../registry_index.ts";
import { compareVersions, type Requirement } from "../requirement.ts";

/** What a registry offers for a requirement. */
export interface Matches {
  readonly slug: string;
  /** Highest first, without those that were taken back. */
  readonly entries: readonly IndexEntry[];
}

/** Finds releases. */
export class Catalog {
  /** All registries in their order, whether they have an index or not. */
  readonly slugs: readonly string[];
  readonly #byName = new Map<string, Map<string, IndexEntry[]>>();
  readonly #sorted = new Set<IndexEntry[]>();

  constructor(slugs: readonly string[], indexes: readonly RegistryIndex[]) {
    this.slugs = slugs;
    for (const { slug, releases } of indexes) {
      const names = new Map<string, IndexEntry[]>();
      for (const entry of releases) {
        const list = names.get(entry.name);
        if (list === undefined) names.set(entry.name, [entry]);
        else list.push(entry);
      }
      this.#byName.set(slug, names);
    }
  }

  /** The registry that packages without another are locked to. */
  get defaultSlug(): string {
    return this.slugs[0] ?? "";
  }

  /** All releases of a package in a registry, highest first. */
  releases(slug: string, name: string): readonly IndexEntry[] {
    const list = this.#byName.get(slug)?.get(name);
    if (list === undefined) return [];
    if (!this.#sorted.has(list)) {
      list.sort((left, right) => compareVersions(right.version, left.version));
      this.#sorted.add(list);
    }
    return list;
  }

  /** One release. */
  find(slug: string, { name, version }: PackageVersion): IndexEntry | null {
    return this.releases(slug, name).find((entry) => entry.version === version) ?? null;
  }

  /**
   * The first registry with a release that satisfies the requirement and was not taken back; null when there is none.
   */
  match(name: string, requirement: Requirement): Matches | null {
    for (const slug of this.slugs) {
      const entries = this.releases(slug, name).filter((entry) =>
        entry.yanked === null && requirement.allows(entry.version)
      );
      if (entries.length > 0) return { slug, entries };
    }
    return null;
  }

  /** The highest release that would satisfy the requirement, had it not been taken back. */
  matchYanked(name: string, requirement: Requirement): IndexEntry | null {
    for (const slug of this.slugs) {
      const entry = this.releases(slug, name).find(({ version }) => requirement.allows(version));
      if (entry !== undefined) return entry;
    }
    return null;
  }

  /** Why a locked version was taken back; null when it was not. */
  yankedReason(locked: LockedPackage): string | null {
    return locked.source.kind === "registry" ? this.find(locked.source.slug, locked)?.yanked ?? null : null;
  }

  /** Names of all packages. */
  names(): Set<string> {
    return new Set([...this.#byName.values()].flatMap((names) => [...names.keys()]));
  }
}
