/**
 * The packages that a package uses, as `lang pkg` has unpacked them: read from the record that it writes,
 * `.lang/packages.json`, or after `lang pkg vendor` from `.lang/vendor/packages.json`.
 *
 * `use fx.particles` is `src/particles.lang` of the package `fx`, `use fx` its `src/main.lang`; a dash of a package's
 * name is written `_`. Inside of `fx`, `use particles` is its own module. A package's modules come before those of
 * the packages that it uses.
 */
import { textDigest } from "./text_digest.ts";

/** A used package. */
export interface DependencyPackage {
  /**
   * What the names of its modules begin with: `fx`, or `fx@1.0.0` when there are two versions and this is not the one
   * that the program names.
   */
  readonly prefix: string;
  readonly name: string;
  readonly version: string;
  /** Paths of its sources by the names of its modules, as it names them itself; its root module is `main`. */
  readonly modules: ReadonlyMap<string, string>;
  /** Prefixes of the packages that it uses, by the names that they have there. */
  readonly uses: ReadonlyMap<string, string>;
}

/** All packages that are used, directly or through others. */
export interface Dependencies {
  /** By prefix. */
  readonly packages: ReadonlyMap<string, DependencyPackage>;
  /** Prefixes of what the package itself uses, by name. */
  readonly direct: ReadonlyMap<string, string>;
}

/** A package without any. */
export const NO_DEPENDENCIES: Dependencies = { packages: new Map(), direct: new Map() };

/** How a package's name is written in `use`. */
export function useName(name: string): string {
  return name.replaceAll("-", "_");
}

/** Where the records stand. */
const VENDORED = ".lang/vendor/packages.json";
const FETCHED = ".lang/packages.json";
/** What says which packages are used. */
export const PACKAGE_RECORDS: readonly string[] = [VENDORED, FETCHED, "project.lock"];

/** Reads what is used; `read` gives the texts of the package's files. */
export function readDependencies(read: (path: string) => string | undefined): Dependencies {
  const vendored = parseRecord(read(VENDORED));
  if (vendored !== null && isCurrent(vendored, read)) return fromRecord(vendored);
  const fetched = parseRecord(read(FETCHED));
  return fetched === null ? NO_DEPENDENCIES : fromRecord(fetched);
}

/** The lockfile decides: what else the manifest says is looked at by whoever fetches, before anything is built. */
function isCurrent(record: PackageRecord, read: (path: string) => string | undefined): boolean {
  return record.lock === textDigest(read("project.lock") ?? "");
}

interface PackageRecord {
  readonly lock: string;
  readonly direct: Readonly<Record<string, string>>;
  readonly packages: readonly {
    readonly name: string;
    readonly version: string;
    readonly folder: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly files: Readonly<Record<string, string>>;
  }[];
}

/** The record; null when it is not one that this version of the toolchain has written. */
function parseRecord(text: string | undefined): PackageRecord | null {
  if (text === undefined) return null;
  try {
    const record = JSON.parse(text);
    return record?.format === 1 && Array.isArray(record.packages) ? record : null;
  } catch {
    return null;
  }
}

function fromRecord({ packages, direct }: PackageRecord): Dependencies {
  const prefixOf = (name: string, version: string): string => {
    const others = packages.filter((each) => useName(each.name) === useName(name) && each.name !== name);
    // `big-noise` and `big_noise` are one name in `use`: at most one of them is the program's own.
    if (others.length > 0 && direct[name] !== version) return `${name}@${version}`;
    const isOnly = packages.every((each) => each.name !== name || each.version === version);
    return isOnly || direct[name] === version ? useName(name) : `${useName(name)}@${version}`;
  };
  const prefixes = (versions: Readonly<Record<string, string>>) =>
    new Map(Object.entries(versions).map(([name, version]) => [useName(name), prefixOf(name, version)]));
  return {
    direct: prefixes(direct),
    packages: new Map(packages.map(({ name, version, folder, dependencies, files }) => {
      const prefix = prefixOf(name, version);
      const modules = new Map(
        Object.keys(files).flatMap((path) => {
          const module = /^src\/(.+)\.lang$/.exec(path)?.[1]?.replaceAll("/", ".");
          return module === undefined ? [] : [[module, `${folder}/${path}`] as const];
        }),
      );
      return [prefix, { prefix, name, version, modules, uses: prefixes(dependencies) }];
    })),
  };
}

/** A module of a used package. */
export interface DependencyModule {
  /** Its name in the whole program: `fx.particles`. */
  readonly name: string;
  readonly path: string;
  readonly owner: DependencyPackage;
}

/** The module of a used package that a path means, where these packages are used; null when it means none. */
export function findDependencyModule(
  dependencies: Dependencies,
  uses: ReadonlyMap<string, string>,
  path: string,
): DependencyModule | null {
  const [first = "", ...rest] = path.split(".");
  const owner = dependencies.packages.get(uses.get(first) ?? "");
  return owner === undefined ? null : ownModule(owner, rest.length === 0 ? "main" : rest.join("."));
}

/** A package's own module. */
export function ownModule(owner: DependencyPackage, module: string): DependencyModule | null {
  const path = owner.modules.get(module);
  if (path === undefined) return null;
  return { name: module === "main" ? owner.prefix : `${owner.prefix}.${module}`, path, owner };
}
