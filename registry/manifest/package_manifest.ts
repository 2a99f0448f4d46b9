/**
 * What `project.toml` says about packages: name, version, `[registry]` and `[dependencies]`.
 *
 *     [registry]
 *     default = "octo-games/packages"     # searched first; the official registry when it is left out
 *     extras = ["octo-tools/packages"]    # then these, in their order
 *
 *     [dependencies]
 *     fx = "^0.3.2"
 *     ui = { path = "../ui" }
 *     noise = { git = "https://…/noise.git", rev = "v1.2.0" }
 *
 * A release's body is the manifest of its version; `yanked = true`, or a reason, under `[package]` takes it back.
 */
import { parse, TomlError } from "smol-toml";
import { checkSlug, isPackageName, OFFICIAL_REGISTRY } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { isVersion, parseRequirement } from "../requirement.ts";
import { tomlText } from "./toml_edit.ts";

/** How a package is asked for. */
export type Dependency =
  | { readonly kind: "registry"; readonly requirement: string }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "git"; readonly url: string; readonly revision: string | null };

/** The part of a manifest that is about packages. */
export interface PackageManifest {
  readonly name: string;
  /** `0.0.0` when it says none. */
  readonly version: string;
  readonly hasVersion: boolean;
  readonly description: string | null;
  /** The default first, then the extras, none twice. */
  readonly registries: readonly string[];
  readonly dependencies: ReadonlyMap<string, Dependency>;
  /** Why the version was taken back, or null. */
  readonly yanked: string | null;
}

type Table = Readonly<Record<string, unknown>>;

/** The reason of a version that was taken back without one. */
const NO_REASON = "no reason given";

/** Reads a manifest; what is wrong in the parts about packages is an error. */
export function readPackageManifest(text: string, where = "project.toml"): PackageManifest {
  let table: Table;
  try {
    table = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [, reason = error.message] = /: ([^\n]*)/.exec(error.message) ?? [];
    throw bad(where, `line ${error.line} is no TOML: ${reason}`);
  }
  const { name, version = "0.0.0", description } = table;
  if (typeof name !== "string" || !isPackageName(name)) {
    throw bad(where, name === undefined ? "it has no `name`" : "`name` is no name of a package");
  }
  if (typeof version !== "string" || !isVersion(version)) {
    throw bad(where, "`version` is no semantic version");
  }
  return {
    name,
    version,
    hasVersion: table["version"] !== undefined,
    description: typeof description === "string" ? description : null,
    registries: readRegistries(table["registry"], where),
    dependencies: readDependencies(table["dependencies"], where),
    yanked: readYanked(table["package"]),
  };
}

function readRegistries(section: unknown, where: string): string[] {
  if (section === undefined) return [OFFICIAL_REGISTRY];
  if (!isTable(section)) throw badSection(where, "`registry` is no table");
  const { default: first = OFFICIAL_REGISTRY, extras = [] } = section;
  for (const key of Object.keys(section)) {
    if (key !== "default" && key !== "extras") {
      throw badSection(where, `\`registry.${key}\` means nothing; there are \`default\` and \`extras\``);
    }
  }
  if (typeof first !== "string") throw badSection(where, "`registry.default` is no text");
  if (!Array.isArray(extras) || !extras.every((each) => typeof each === "string")) {
    throw badSection(where, "`registry.extras` is no list of texts");
  }
  return [...new Set([first, ...extras].map(checkSlug))];
}

function readDependencies(section: unknown, where: string): Map<string, Dependency> {
  if (section === undefined) return new Map();
  if (!isTable(section)) throw badSection(where, "`dependencies` is no table");
  const used = new Map<string, string>();
  return new Map(
    Object.entries(section).map(([name, value]) => {
      if (!isPackageName(name)) throw badSection(where, `\`${name}\` is no name of a package`);
      const inUse = name.replaceAll("-", "_");
      const other = used.get(inUse);
      if (other !== undefined) {
        throw badSection(where, `\`${other}\` and \`${name}\` are both \`${inUse}\` in \`use\``);
      }
      used.set(inUse, name);
      return [name, readDependency(name, value, where)];
    }),
  );
}

function readDependency(name: string, value: unknown, where: string): Dependency {
  const spelled = `\`dependencies.${name}\``;
  if (typeof value === "string") {
    if (parseRequirement(value) === null) {
      throw badSection(where, `${spelled} has no requirement: "${value}"`);
    }
    return { kind: "registry", requirement: value };
  }
  if (!isTable(value)) throw badSection(where, `${spelled} is neither a requirement nor a table`);
  const { version, path, git, rev, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw badSection(where, `${spelled} has \`${unknown}\`; known are version, path, git and rev`);
  }
  if (typeof version === "string" && path === undefined && git === undefined && rev === undefined) {
    return readDependency(name, version, where);
  }
  if (typeof path === "string" && path !== "" && [version, git, rev].every((each) => each === undefined)) {
    return { kind: "path", path };
  }
  const hasGit = typeof git === "string" && version === undefined && path === undefined;
  if (hasGit && (rev === undefined || typeof rev === "string")) {
    return { kind: "git", url: git, revision: rev ?? null };
  }
  throw badSection(where, `${spelled} wants one of version, path and git (with rev)`);
}

function readYanked(section: unknown): string | null {
  if (!isTable(section)) return null;
  const { yanked } = section;
  if (typeof yanked === "string" && yanked.trim() !== "") return yanked.trim();
  return yanked === true || typeof yanked === "string" ? NO_REASON : null;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function bad(where: string, reason: string): RegistryError {
  return new RegistryError("bad-manifest", `Cannot read ${where}: ${reason}`, { kind: "usage" });
}

/** What is wrong in the sections that no other part reads. */
function badSection(where: string, reason: string): RegistryError {
  return new RegistryError("bad-dependencies", `Cannot read ${where}: ${reason}`, { kind: "usage" });
}

/** A dependency as the manifest writes it. */
export function dependencyText(dependency: Dependency): string {
  switch (dependency.kind) {
    case "registry":
      return tomlText(dependency.requirement);
    case "path":
      return `{ path = ${tomlText(dependency.path)} }`;
    case "git": {
      const revision = dependency.revision === null ? "" : `, rev = ${tomlText(dependency.revision)}`;
      return `{ git = ${tomlText(dependency.url)}${revision} }`;
    }
  }
}
