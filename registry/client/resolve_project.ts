/** Resolves the dependencies of a package on the disk from its cached indexes, its lockfile and what is unpacked. */
import type { LockedPackage } from "../manifest/lockfile.ts";
import type { PackageManifest } from "../manifest/package_manifest.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import type { RegistryIndex } from "../registry_index.ts";
import { Catalog } from "../resolution/catalog.ts";
import { type Resolution, resolve } from "../resolution/resolver.ts";
import type { FoundPackage } from "./local_packages.ts";

/** What versions need, as far as their files are unpacked. */
export type KnownRequirements = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Chooses the versions of a manifest's packages. */
export function resolveProject(
  { manifest, indexes, locals, locked, fallback, known }: {
    readonly manifest: PackageManifest;
    readonly indexes: readonly RegistryIndex[];
    readonly locals: ReadonlyMap<string, FoundPackage>;
    /** Versions to keep. */
    readonly locked: readonly LockedPackage[];
    /** Versions that are taken rather than none. */
    readonly fallback: readonly LockedPackage[];
    readonly known: KnownRequirements;
  },
): Resolution {
  const requirements = new Map<string, string>();
  for (const [name, dependency] of manifest.dependencies) {
    const local = locals.get(name);
    if (dependency.kind === "registry") requirements.set(name, dependency.requirement);
    else if (local !== undefined) requirements.set(name, `=${local.version}`);
  }
  return resolve({
    root: manifest.name,
    requirements,
    locals,
    catalog: new Catalog(manifest.registries, indexes),
    locked,
    fallback,
    requirementsOf: (release: PackageVersion) => known.get(tagOf(release)) ?? null,
  });
}
