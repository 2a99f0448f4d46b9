/** What to do about a `use` that leads to no module, where a package that `project.toml` names was meant. */
import { parse } from "smol-toml";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Dependencies, useName } from "./dependencies.ts";

const UNKNOWN_MODULE = "MD0001";

/** The diagnostics, where those of unknown modules say which package is missing, or what it has. */
export function withPackageHints(
  diagnostics: readonly Diagnostic[],
  manifest: string,
  dependencies: () => Dependencies,
): readonly Diagnostic[] {
  const isAboutPackages = ({ code, file }: Diagnostic) =>
    code === UNKNOWN_MODULE && !file.path.startsWith(".lang/");
  if (!diagnostics.some(isAboutPackages)) return diagnostics;
  const named = namedPackages(manifest);
  if (named.size === 0) return diagnostics;
  const used = dependencies();
  return diagnostics.map((diagnostic) => {
    if (!isAboutPackages(diagnostic)) return diagnostic;
    const { file, span } = diagnostic;
    const [first = ""] = file.text.slice(span.start, span.end).split(/[.\s]/);
    const name = named.get(first);
    return name === undefined ? diagnostic : { ...diagnostic, hint: hintFor(name, first, used) };
  });
}

function hintFor(name: string, first: string, { direct, packages }: Dependencies): string {
  const found = packages.get(direct.get(first) ?? "");
  if (found === undefined) {
    return `The package \`${name}\` in project.toml has not been fetched yet: run \`lang pkg fetch\`.`;
  }
  const modules = [...found.modules.keys()].sort()
    .map((module) => `\`${module === "main" ? first : `${first}.${module}`}\``);
  return `The package \`${name}\` ${found.version} has ${
    modules.length === 0 ? "no modules" : modules.join(", ")
  }.`;
}

/** Names under `[dependencies]` by what `use` calls them. */
function namedPackages(manifest: string): ReadonlyMap<string, string> {
  try {
    const { dependencies } = parse(manifest);
    return typeof dependencies === "object" && !Array.isArray(dependencies)
      ? new Map(Object.keys(dependencies).map((name) => [useName(name), name]))
      : new Map();
  } catch {
    return new Map(); // The reader of the manifest reports it.
  }
}
