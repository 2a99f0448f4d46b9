/** Choosing versions: the order of registries, lines, locks, conflicts and their explanation. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { SeededRandom } from "../../engine/base/random.ts";
import type { LockedPackage } from "../manifest/lockfile.ts";
import { RegistryError } from "../registry_error.ts";
import type { IndexEntry, RegistryIndex } from "../registry_index.ts";
import { compatibleLine, parseRequirement } from "../requirement.ts";
import { Catalog } from "./catalog.ts";
import { lockChanges } from "./changes.ts";
import { resolve } from "./resolver.ts";

type Releases = Readonly<Record<string, Readonly<Record<string, string>> | null>>;

function entry(key: string, dependencies: Readonly<Record<string, string>> | null): IndexEntry {
  const [name = "", version = "", yanked] = key.split(" ");
  return {
    name,
    version,
    tag: `${name}-${version}`,
    tarballUrl: "",
    sidecarUrl: "",
    pageUrl: "",
    tarballApiUrl: null,
    sidecarApiUrl: null,
    yanked: yanked ?? null,
    description: null,
    dependencies: dependencies === null ? null : new Map(Object.entries(dependencies)),
  };
}

function index(slug: string, releases: Releases): RegistryIndex {
  const entries = Object.entries(releases).map(([key, dependencies]) => entry(key, dependencies));
  return { slug, fetchedAt: 0, lastModified: null, etag: null, releases: entries };
}

function solve(
  requirements: Readonly<Record<string, string>>,
  registries: Readonly<Record<string, Releases>>,
  locked: readonly LockedPackage[] = [],
) {
  const indexes = Object.entries(registries).map(([slug, releases]) => index(slug, releases));
  return resolve({
    root: "my_game",
    requirements: new Map(Object.entries(requirements)),
    locals: new Map(),
    catalog: new Catalog(Object.keys(registries), indexes),
    locked,
  });
}

function versions(resolution: ReturnType<typeof solve>): string[] {
  return resolution.packages.map(({ name, version, isUnresolved }) =>
    `${name} ${version}${isUnresolved ? " unresolved" : ""}`
  ).sort();
}

const lock = (name: string, version: string): LockedPackage => ({
  name,
  version,
  source: { kind: "registry", slug: "a/a" },
  hash: "0".repeat(64),
  isUnresolved: false,
});

Deno.test("resolve(): walks the default first, then extras; the highest match of the first that has one", () => {
  const registries = {
    "a/a": { "fx 0.3.1": {}, "fx 0.3.4": {} },
    "b/b": { "fx 0.3.9": {}, "fx 0.4.0": {} },
  };
  const check = (requirement: string, expected: string, slug: string) => {
    const [found] = solve({ fx: requirement }, registries).packages;
    strictEqual(found?.version, expected);
    deepStrictEqual(found.source, { kind: "registry", slug });
  };
  check("^0.3", "0.3.4", "a/a");
  check("^0.3.5", "0.3.9", "b/b");
  check("^0.4", "0.4.0", "b/b");
});

Deno.test("resolve(): when no registry matches, the requirement's floor, locked to the default registry", () => {
  const [found] = solve({ fx: "^0.3.2" }, { "a/a": {}, "b/b": { "other 1.0.0": {} } }).packages;
  deepStrictEqual(found, {
    name: "fx",
    version: "0.3.2",
    source: { kind: "registry", slug: "a/a" },
    hash: null,
    isUnresolved: true,
    dependencies: null,
  });
});

Deno.test("resolve(): dependencies of dependencies, one version of a line, two of two lines", () => {
  const registries = {
    "a/a": {
      "pong 1.0.0": { fx: "^0.3", noise: "^1" },
      "fx 0.3.1": {},
      "fx 0.3.2": { noise: "^2" },
      "noise 1.4.0": {},
      "noise 2.0.0": {},
    },
  };
  const resolution = solve({ pong: "^1", fx: "^0.3.1" }, registries);
  deepStrictEqual(versions(resolution), ["fx 0.3.2", "noise 1.4.0", "noise 2.0.0", "pong 1.0.0"]);
  const fx = resolution.packages.find(({ name }) => name === "fx");
  deepStrictEqual([...fx?.dependencies ?? []], [["noise", "2.0.0"]]);
});

Deno.test("resolve(): goes back to a lower version when the highest does not fit", () => {
  const registries = {
    "a/a": {
      "pong 1.1.0": { fx: "=0.3.2" },
      "pong 1.0.0": { fx: "^0.3.0" },
      "snake 1.0.0": { fx: "=0.3.1" },
      "fx 0.3.1": {},
      "fx 0.3.2": {},
    },
  };
  deepStrictEqual(versions(solve({ pong: "^1", snake: "^1" }, registries)), [
    "fx 0.3.1",
    "pong 1.0.0",
    "snake 1.0.0",
  ]);
});

Deno.test("resolve(): a conflict is explained as chains, with what would resolve it", () => {
  const registries = {
    "a/a": {
      "pong 1.2.0": { fx: "=0.3.2" },
      "pong 2.0.0": { fx: "^0.4" },
      "snake 1.0.0": { body: "^1" },
      "body 1.0.0": { fx: "=0.3.1" },
      "fx 0.3.1": {},
      "fx 0.3.2": {},
      "fx 0.4.0": {},
    },
  };
  throws(
    () => solve({ pong: "^1", snake: "^1" }, registries),
    (error: unknown) => {
      ok(error instanceof RegistryError);
      strictEqual(
        error.message,
        `Cannot choose a version of fx: no version fits these requirements (fx 0.3.2 is chosen for the second)
  body 1.0.0 needs fx =0.3.1 because snake 1.0.0 needs body ^1 because my_game needs snake ^1
  pong 1.2.0 needs fx =0.3.2 because my_game needs pong ^1`,
      );
      strictEqual(error.hint, "This would resolve it: `lang pkg add pong@2.0.0`.");
      return true;
    },
  );
});

Deno.test("resolve(): what was taken back is skipped, kept from a lock, and named when nothing else fits", () => {
  const registries = { "a/a": { "fx 0.3.1": {}, "fx 0.3.2 broken": {} } };
  deepStrictEqual(versions(solve({ fx: "^0.3" }, registries)), ["fx 0.3.1"]);
  deepStrictEqual(versions(solve({ fx: "^0.3" }, registries, [lock("fx", "0.3.2")])), ["fx 0.3.2"]);
  throws(() => solve({ fx: "^0.3.2" }, registries), /fx 0\.3\.2 was taken back: broken/);
});

Deno.test("resolve(): what is locked stays, also when the index does not know it", () => {
  const registries = { "a/a": { "fx 0.3.4": {} } };
  deepStrictEqual(versions(solve({ fx: "^0.3" }, registries, [lock("fx", "0.3.1")])), ["fx 0.3.1"]);
  deepStrictEqual(versions(solve({ fx: "^0.3.2" }, registries, [lock("fx", "0.3.1")])), ["fx 0.3.4"]);
  // Needs of a package that no index describes: what is locked may be one of them.
  deepStrictEqual(
    versions(solve({ pong: "1" }, { "a/a": {} }, [lock("pong", "1.0.0"), lock("fx", "0.3.1")])),
    [
      "fx 0.3.1",
      "pong 1.0.0",
    ],
  );
});

/** Whether every requirement is met and each line has one version. */
function isSound(resolution: ReturnType<typeof solve>, releases: Releases): boolean {
  const chosen = new Set(resolution.packages.map(({ name, version }) => `${name} ${version}`));
  const lines = new Set(resolution.packages.map(({ name, version }) => `${name} ${compatibleLine(version)}`));
  return lines.size === chosen.size &&
    resolution.packages.every(({ name, version, dependencies }) =>
      Object.entries(releases[`${name} ${version}`] ?? {}).every(([needed, requirement]) => {
        const taken = dependencies?.get(needed) ?? "";
        return chosen.has(`${needed} ${taken}`) && parseRequirement(requirement)?.allows(taken) === true;
      })
    );
}

/** Whether any choice at all is sound, by trying all. */
function isSolvable(requirements: Readonly<Record<string, string>>, releases: Releases): boolean {
  const search = (
    edges: readonly (readonly [string, string])[],
    chosen: ReadonlyMap<string, string>,
  ): boolean => {
    const [first, ...rest] = edges;
    if (first === undefined) return true;
    const [name, requirement] = first;
    return Object.keys(releases).some((key) => {
      const [other = "", version = ""] = key.split(" ");
      if (other !== name || parseRequirement(requirement)?.allows(version) !== true) return false;
      const line = `${name} ${compatibleLine(version)}`;
      const taken = chosen.get(line);
      if (taken !== undefined) return taken === version && search(rest, chosen);
      return search([...rest, ...Object.entries(releases[key] ?? {})], new Map([...chosen, [line, version]]));
    });
  };
  return search(Object.entries(requirements), new Map());
}

Deno.test("resolve() finds versions exactly when there are some: 300 random registries, against trying all", () => {
  const random = new SeededRandom(7);
  let [found, refused] = [0, 0];
  for (let round = 0; round < 300; round++) {
    const releases: Record<string, Record<string, string>> = {};
    const names = ["a", "b", "c", "d"];
    const requirement = () => `${["=", "^", "~"][random.below(3)]}1.${random.below(3)}.0`;
    // Every requirement has a release, so that no floor hides a conflict.
    for (const name of names) {
      for (const version of ["1.0.0", "1.1.0", "1.2.0"]) {
        const needs = names.filter((other) => other !== name && random.below(5) < 2);
        releases[`${name} ${version}`] = Object.fromEntries(needs.map((other) => [other, requirement()]));
      }
    }
    const wanted = Object.fromEntries(names.slice(0, 2).map((name) => [name, requirement()]));
    let resolution: ReturnType<typeof solve> | null = null;
    try {
      resolution = solve(wanted, { "a/a": releases });
    } catch (error) {
      ok(error instanceof RegistryError, String(error));
      match(error.message, /because|my_game needs/);
    }
    strictEqual(resolution !== null, isSolvable(wanted, releases), JSON.stringify({ wanted, releases }));
    if (resolution === null) refused++;
    else {
      found++;
      ok(isSound(resolution, releases), JSON.stringify({ wanted, releases }));
    }
  }
  ok(found > 50 && refused > 20, `${found} found, ${refused} refused`);
});

Deno.test("lockChanges() pairs versions of one line", () => {
  deepStrictEqual(
    lockChanges(
      [lock("fx", "0.3.1"), lock("gone", "1.0.0"), lock("noise", "1.0.0")],
      [lock("fx", "0.3.2"), lock("new", "1.0.0"), lock("noise", "2.0.0")],
    ),
    [
      { kind: "changed", name: "fx", from: "0.3.1", to: "0.3.2" },
      { kind: "removed", name: "gone", from: "1.0.0" },
      { kind: "added", name: "new", to: "1.0.0" },
      { kind: "changed", name: "noise", from: "1.0.0", to: "2.0.0" },
    ],
  );
});
