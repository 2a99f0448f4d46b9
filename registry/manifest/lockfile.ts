/**
 * `project.lock`: which version of each package is used, where it comes from, and the SHA-256 of its bytes.
 *
 *     [[package]]
 *     name = "fx"
 *     version = "0.3.2"
 *     source = "registry+host://octo-games/packages"
 *     hash = "sha256:9f86…"
 *
 * Entries are sorted by name and version. The hash is empty until the package was fetched for the first time.
 */
import { parse, TomlError } from "smol-toml";
import { isPackageName, type PackageVersion, parseSource, type Source, sourceText } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { compareVersions, isVersion } from "../requirement.ts";
import { tomlText } from "./toml_edit.ts";

/** One locked package. */
export interface LockedPackage extends PackageVersion {
  readonly source: Source;
  /** 64 lower-case hexadecimal digits, or null before the first fetch. */
  readonly hash: string | null;
  /** Whether no index had the version when it was resolved, so that it was taken from the requirement alone. */
  readonly isUnresolved: boolean;
}

const HEADER =
  "# Written by `lang pkg`: the versions that are used, and their hashes. Commit it; do not edit it.\n";
const UNRESOLVED =
  "# unresolved: no index that is cached has it; `lang pkg update --refresh` asks the registries";

/** The lockfile's text. */
export function formatLockfile(packages: readonly LockedPackage[]): string {
  const entries = sortPackages(packages).map(({ name, version, source, hash, isUnresolved }) =>
    [
      "",
      ...(isUnresolved ? [UNRESOLVED] : []),
      "[[package]]",
      `name = ${tomlText(name)}`,
      `version = ${tomlText(version)}`,
      `source = ${tomlText(sourceText(source))}`,
      `hash = ${tomlText(hash === null ? "" : `sha256:${hash}`)}`,
      "",
    ].join("\n")
  );
  return HEADER + entries.join("");
}

/** Packages by name and version. */
export function sortPackages<T extends PackageVersion>(packages: readonly T[]): T[] {
  return packages.toSorted((left, right) =>
    left.name === right.name ? compareVersions(left.version, right.version) : left.name < right.name ? -1 : 1
  );
}

/** Reads a lockfile. */
export function readLockfile(text: string): LockedPackage[] {
  let list: unknown;
  try {
    list = parse(text)["package"] ?? [];
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const conflict = text.split("\n").findIndex((line) => line.startsWith("<<<<<<< "));
    if (conflict >= 0) throw conflicting(conflict + 1);
    throw bad(`line ${error.line} is no TOML`);
  }
  if (!Array.isArray(list)) throw bad("`package` is no list of tables");
  const marks = unresolvedMarks(text);
  const packages = list.map((entry: unknown, index) => readEntry(entry, marks[index] ?? false));
  const keys = new Set(packages.map(({ name, version }) => `${name} ${version}`));
  if (keys.size < packages.length) throw bad("a package stands in it twice");
  return packages;
}

/** For each entry, whether the mark is above it. */
function unresolvedMarks(text: string): boolean[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) =>
    line.trim() === "[[package]]" ? [(lines[index - 1] ?? "").startsWith("# unresolved")] : []
  );
}

function readEntry(entry: unknown, isMarked: boolean): LockedPackage {
  if (typeof entry !== "object" || entry === null) throw bad("an entry is no table");
  const { name, version, source, hash } = entry as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || !isPackageName(name)) throw bad("an entry has no name");
  if (typeof version !== "string" || !isVersion(version)) throw bad(`${name} has no version`);
  const parsed = typeof source === "string" ? parseSource(source) : null;
  if (parsed === null) throw bad(`${name} ${version} has no source that is known`);
  const digits = typeof hash === "string" ? /^(?:sha256:([0-9a-f]{64}))?$/.exec(hash) : null;
  if (digits === null) throw bad(`the hash of ${name} ${version} is not sha256: and 64 digits`);
  const known = digits[1] ?? null;
  return { name, version, source: parsed, hash: known, isUnresolved: isMarked && known === null };
}

function conflicting(line: number): RegistryError {
  return new RegistryError(
    "bad-lockfile",
    `Cannot read project.lock: line ${line} begins a conflict of git`,
    {
      kind: "usage",
      hint:
        "Mend project.toml first. Then take either side's lockfile, `git checkout --ours project.lock`, and run " +
        "`lang pkg fetch`: it adds what the other side needs.",
    },
  );
}

function bad(reason: string): RegistryError {
  return new RegistryError("bad-lockfile", `Cannot read project.lock: ${reason}`, {
    kind: "usage",
    hint:
      "It is written by `lang pkg`. Restore it from version control, or remove it and run `lang pkg update`.",
  });
}
