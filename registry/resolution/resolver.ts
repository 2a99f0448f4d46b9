/**
 * Chooses the versions of all packages that a manifest needs, directly or through others, from what is known without
 * a network.
 *
 * For each requirement: a version that is chosen already and satisfies it, else the locked one, else the highest of
 * the first registry that has any, else, when no registry has one, the lowest version that the requirement allows,
 * which is then unresolved. Of each line of compatible versions of a package one is chosen. When that cannot be kept,
 * the search goes back to the latest choice that has to do with the dead end (conflict-directed backjumping: P.
 * Prosser, "Hybrid algorithms for the constraint satisfaction problem", 1993) and takes the next lower version there.
 * The order of the manifest and of the indexes decides everything, so the same input gives the same versions.
 */
import { REGISTRY_LIMITS } from "../limits.ts";
import type { LockedPackage } from "../manifest/lockfile.ts";
import type { PackageVersion, Source } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { checkRequirement, compareVersions, compatibleLine, type Requirement } from "../requirement.ts";
import type { Catalog } from "./catalog.ts";
import { type Conflict, explainConflict, type Step } from "./conflict.ts";

/** A package that is not from a registry: its folder, or its repository, is there. */
export interface LocalPackage extends PackageVersion {
  readonly source: Source;
  readonly hash: string;
  readonly requirements: ReadonlyMap<string, string>;
}

/** What is resolved. */
export interface ResolveInput {
  /** The package that needs them. */
  readonly root: string;
  readonly requirements: ReadonlyMap<string, string>;
  readonly locals: ReadonlyMap<string, LocalPackage>;
  readonly catalog: Catalog;
  /** Versions to keep. */
  readonly locked: readonly LockedPackage[];
  /** Versions that are taken when no registry has one: those of a lockfile that is being renewed. */
  readonly fallback?: readonly LockedPackage[];
  /** What a version needs, when its files are at hand; null when that is not known. */
  readonly requirementsOf?: (locked: PackageVersion, slug: string) => ReadonlyMap<string, string> | null;
}

/** A chosen version, and which version of each of its requirements it gets. */
export interface ResolvedPackage extends LockedPackage {
  /** Null when they are not known yet. */
  readonly dependencies: ReadonlyMap<string, string> | null;
}

/** What was chosen. */
export interface Resolution {
  readonly packages: readonly ResolvedPackage[];
  /** Versions of what the manifest itself names. */
  readonly direct: ReadonlyMap<string, string>;
}

interface Candidate extends LockedPackage {
  /** What it needs; null when that is not known: for most candidates it is never needed. */
  requirements(): ReadonlyMap<string, string> | null;
}

/** One requirement, of the manifest or of the version chosen at a level. */
interface Edge {
  readonly name: string;
  readonly requirement: Requirement;
  /** Level of the choice that needs it; -1 for the manifest. */
  readonly requirer: number;
}

/** One choice. */
interface Level {
  readonly edge: Edge;
  /** First the versions that are chosen already; the others when these do not fit. */
  candidates: readonly Candidate[];
  isComplete: boolean;
  next: number;
  chosen: Candidate | null;
  /** Whether the choice was new, or one made before was shared. */
  isNew: boolean;
  /** How many edges there were before. */
  readonly edgeCount: number;
  /** Levels that have to do with the versions that were refused here. */
  readonly blame: Set<number>;
}

/** Chooses versions, or explains why none fit together. */
export function resolve(input: ResolveInput): Resolution {
  const search = new Search(input);
  const found = search.run(REGISTRY_LIMITS.resolverConflicts);
  if (found !== null) return found;
  const { firstConflict } = search;
  if (firstConflict === null) throw new Error("Cannot explain the conflict: none was met");
  const solve = (requirements: ReadonlyMap<string, string>): Resolution | null =>
    new Search({ ...input, requirements }).run(200);
  throw explainConflict(firstConflict, { root: input.root, requirements: input.requirements, solve });
}

class Search {
  firstConflict: Conflict | null = null;
  readonly #input: ResolveInput;
  readonly #edges: Edge[] = [];
  readonly #levels: Level[] = [];
  /** By name, then by line, the level that chose it. */
  readonly #chosen = new Map<string, Map<string, number>>();
  readonly #locked = new Map<string, LockedPackage[]>();

  constructor(input: ResolveInput) {
    this.#input = input;
    for (const each of input.locked) {
      this.#locked.set(each.name, [...this.#locked.get(each.name) ?? [], each]);
    }
    for (const [name, text] of input.requirements) {
      this.#edges.push({ name, requirement: checkRequirement(text), requirer: -1 });
    }
  }

  run(conflictLimit: number): Resolution | null {
    let conflicts = 0;
    while (this.#levels.length < this.#edges.length) {
      if (this.#levels.length > REGISTRY_LIMITS.packages * 4) {
        throw new RegistryError("too-many-packages", "Cannot resolve the dependencies: there are too many");
      }
      const level = this.#open();
      if (level === null) break;
      if (this.#advance(level)) continue;
      conflicts++;
      if (conflicts > conflictLimit || !this.#goBack()) return null;
    }
    return this.#resolution();
  }

  /** Begins the next requirement. */
  #open(): Level | null {
    const edge = this.#edges[this.#levels.length];
    if (edge === undefined) return null;
    const level: Level = {
      edge,
      candidates: this.#shared(edge),
      isComplete: false,
      next: 0,
      chosen: null,
      isNew: false,
      edgeCount: this.#edges.length,
      blame: new Set(edge.requirer < 0 ? [] : [edge.requirer]),
    };
    this.#levels.push(level);
    return level;
  }

  /** Takes the next version that fits; false when there is none. */
  #advance(level: Level): boolean {
    const index = this.#levels.length - 1;
    for (;;) {
      const candidate = level.candidates[level.next] ?? this.#complete(level);
      if (candidate === null) break;
      level.next++;
      const line = compatibleLine(candidate.version);
      const lines = this.#chosen.get(candidate.name) ?? new Map<string, number>();
      const other = lines.get(line);
      if (other === undefined) {
        this.#chosen.set(candidate.name, lines.set(line, index));
        level.isNew = true;
        this.#pushRequirements(candidate, index);
      } else if (this.#levels[other]?.chosen?.version !== candidate.version) {
        level.blame.add(other);
        this.#note(level.edge, other, candidate);
        continue;
      }
      level.chosen = candidate;
      return true;
    }
    if (level.candidates.length === 0) this.#note(level.edge, null, null);
    return false;
  }

  #pushRequirements(candidate: Candidate, requirer: number): void {
    for (const [name, text] of candidate.requirements() ?? []) {
      this.#edges.push({ name, requirement: checkRequirement(text), requirer });
    }
  }

  /** Goes back to the latest level to blame that has another version; false when there is none. */
  #goBack(): boolean {
    let failed = this.#levels.pop();
    while (failed !== undefined) {
      const { blame } = failed;
      const target = Math.max(-1, ...blame);
      if (target < 0) return false;
      while (this.#levels.length > target + 1) this.#undo(this.#levels.pop());
      const level = this.#levels[target];
      if (level === undefined) return false;
      this.#undo(level);
      for (const each of blame) if (each !== target) level.blame.add(each);
      if (this.#advance(level)) return true;
      failed = this.#levels.pop();
    }
    return false;
  }

  #undo(level: Level | undefined): void {
    if (level === undefined) return;
    if (level.isNew && level.chosen !== null) {
      this.#chosen.get(level.chosen.name)?.delete(compatibleLine(level.chosen.version));
    }
    this.#edges.length = level.edgeCount;
    level.isNew = false;
    level.chosen = null;
  }

  /** Adds the versions that are not chosen yet; gives the next one. */
  #complete(level: Level): Candidate | null {
    if (!level.isComplete) {
      level.isComplete = true;
      level.candidates = this.#candidates(level.edge, level.candidates);
    }
    return level.candidates[level.next] ?? null;
  }

  /** Versions that are chosen already and satisfy the requirement, the highest first. */
  #shared({ name, requirement }: Edge): Candidate[] {
    const lines = this.#chosen.get(name);
    if (lines === undefined) return [];
    const shared = [...lines.values()].flatMap((index) => this.#levels[index]?.chosen ?? []);
    return shared.filter(({ version }) => requirement.allows(version)).sort(byVersion);
  }

  #candidates({ name, requirement, requirer }: Edge, shared: readonly Candidate[]): Candidate[] {
    const { catalog, locals } = this.#input;
    const local = locals.get(name);
    if (local !== undefined && (requirer < 0 || requirement.allows(local.version))) {
      return shared.some(({ version }) => version === local.version)
        ? [...shared]
        : [...shared, { ...local, isUnresolved: false, requirements: () => local.requirements }];
    }
    const candidates = [...shared];
    const add = (candidate: Candidate) => {
      if (candidates.every(({ version }) => version !== candidate.version)) candidates.push(candidate);
    };
    for (const each of this.#locked.get(name)?.toSorted(byVersion) ?? []) {
      if (each.source.kind !== "registry" || !requirement.allows(each.version)) continue;
      // One that was taken from a requirement alone gives way to a release.
      if (each.isUnresolved && catalog.match(name, requirement) !== null) continue;
      add(this.#candidate(each, each.source.slug));
    }
    const matches = catalog.match(name, requirement);
    if (matches !== null) {
      const source: Source = { kind: "registry", slug: matches.slug };
      for (const { version } of matches.entries) {
        add(this.#candidate({ name, version, source, hash: null, isUnresolved: false }, matches.slug));
      }
    }
    if (candidates.length > 0) return candidates;
    for (const each of this.#input.fallback ?? []) {
      const fits = each.name === name && each.source.kind === "registry" && !each.isUnresolved &&
        requirement.allows(each.version) && catalog.yankedReason(each) === null;
      if (fits) add(this.#candidate(each, each.source.slug));
    }
    if (candidates.length > 0 || catalog.matchYanked(name, requirement) !== null) return candidates;
    const source: Source = { kind: "registry", slug: catalog.defaultSlug };
    const floor = { name, version: requirement.floor, source, hash: null, isUnresolved: true };
    return [this.#candidate(floor, catalog.defaultSlug)];
  }

  #candidate(each: LockedPackage, slug: string): Candidate {
    return { ...each, requirements: () => this.#requirementsOf(each, slug) };
  }

  #requirementsOf(release: PackageVersion, slug: string): ReadonlyMap<string, string> | null {
    return this.#input.requirementsOf?.(release, slug) ??
      this.#input.catalog.find(slug, release)?.dependencies ?? null;
  }

  /** Keeps the first dead end: it is what the preferred versions come to. */
  #note(edge: Edge, other: number | null, refused: Candidate | null): void {
    if (this.firstConflict !== null) return;
    const otherEdges = other === null
      ? []
      : this.#levels.filter((level) =>
        level.chosen !== null && level.edge.name === edge.name &&
        level.chosen.version === this.#levels[other]?.chosen?.version
      ).map((level) => this.#chain(level.edge));
    const { catalog } = this.#input;
    this.firstConflict = {
      name: edge.name,
      chain: this.#chain(edge),
      others: otherEdges,
      taken: other === null ? null : this.#levels[other]?.chosen?.version ?? null,
      isUnknown: refused?.isUnresolved ?? false,
      yanked: refused === null ? catalog.matchYanked(edge.name, edge.requirement) : null,
    };
  }

  /** The requirement, then why its package is there, up to the manifest. */
  #chain(edge: Edge): Step[] {
    const steps: Step[] = [];
    for (let at: Edge | undefined = edge; at !== undefined;) {
      const level: Level | undefined = this.#levels[at.requirer];
      const chosen = level?.chosen ?? null;
      steps.push({
        requirer: chosen === null ? null : { name: chosen.name, version: chosen.version },
        name: at.name,
        requirement: at.requirement.text,
      });
      at = level?.edge;
    }
    return steps;
  }

  #resolution(): Resolution {
    const packages: ResolvedPackage[] = [];
    const direct = new Map<string, string>();
    const needs = new Map<number, Map<string, string>>();
    const levelOf = (level: Level): number =>
      level.chosen === null
        ? -1
        : this.#chosen.get(level.chosen.name)?.get(compatibleLine(level.chosen.version)) ?? -1;
    for (const level of this.#levels) {
      const { edge, chosen } = level;
      if (chosen === null) continue;
      if (edge.requirer < 0) direct.set(edge.name, chosen.version);
      else needs.set(edge.requirer, (needs.get(edge.requirer) ?? new Map()).set(edge.name, chosen.version));
    }
    for (const [index, level] of this.#levels.entries()) {
      const { chosen } = level;
      if (chosen === null || levelOf(level) !== index) continue;
      const { name, version, source, hash, isUnresolved } = chosen;
      const dependencies = chosen.requirements() === null ? null : needs.get(index) ?? new Map();
      packages.push({ name, version, source, hash, isUnresolved, dependencies });
    }
    return { packages: this.#withUnknown(packages), direct };
  }

  /** As long as it is not known what a package needs, what is locked stays, for it may be that. */
  #withUnknown(packages: readonly ResolvedPackage[]): readonly ResolvedPackage[] {
    const isUnknown = packages.some((each) => each.dependencies === null && !each.isUnresolved);
    if (!isUnknown) return packages;
    const lines = new Set(packages.map(({ name, version }) => `${name} ${compatibleLine(version)}`));
    const kept = this.#input.locked.filter(({ name, version }) =>
      !lines.has(`${name} ${compatibleLine(version)}`) && !this.#input.requirements.has(name)
    );
    return [...packages, ...kept.map((each) => ({ ...each, dependencies: null }))];
  }
}

function byVersion(left: PackageVersion, right: PackageVersion): number {
  return compareVersions(right.version, left.version);
}
