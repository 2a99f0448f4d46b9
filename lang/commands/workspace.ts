/**
 * A package that commands work on: its files, and what analyzing them gave.
 *
 * Analyzing again costs what changed. Texts laid over the files, as an editor's unsaved ones, are taken instead of
 * them.
 */
import {
  isLoneSource,
  moduleNameOf,
  type PackageAnalysis,
  PackageAnalyzer,
  type UsedPackages,
} from "../check/package_analysis.ts";
import { findEntryPoints } from "../check/entry_points.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { internally } from "../diagnostics/internal_error.ts";
import { type Manifest, type PackageTarget, parseManifest } from "../package/manifest.ts";
import { NO_DEPENDENCIES, readDependencies } from "../package/dependencies.ts";
import { withPackageHints } from "../package/missing_packages.ts";
import type { PackageFiles } from "../package/package_files.ts";
import type { TypedProgram } from "../typed/tree.ts";
import { CommandError } from "./command_error.ts";

/** Where the manifest stands. */
export const MANIFEST_PATH = "project.toml";

/** A package, analyzed. */
export interface CheckedPackage {
  /** Of manifest and sources. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null when it has errors. */
  readonly manifest: Manifest | null;
  /** Null when there are errors. */
  readonly program: TypedProgram | null;
  /** What it is built for: as the manifest says, else as the entry points tell; null for a library. */
  readonly target: PackageTarget | null;
  /** The target whose entry points have been looked at: the manifest's, and that of a source that stands alone. */
  readonly checkedTarget: PackageTarget | null;
  readonly analysis: PackageAnalysis;
}

/** A package and what is known of it. */
export class Workspace {
  readonly files: PackageFiles;
  readonly #analyzer: PackageAnalyzer;

  constructor(files: PackageFiles, options: { readonly withSymbols?: boolean } = {}) {
    this.files = files;
    this.#analyzer = new PackageAnalyzer(options);
  }

  /** Paths of the sources, sorted. */
  get sourcePaths(): readonly string[] {
    return this.files.list().filter((path) => moduleNameOf(path) !== null);
  }

  /** Path of what is built, without its ending: beside a source that stands alone, of its name. */
  get modulePath(): string {
    const [first = "", ...others] = this.sourcePaths;
    return others.length === 0 && isLoneSource(first) ? first.slice(0, -".lang".length) : "target/main";
  }

  /** Texts of the sources by path. */
  sources(overlay: ReadonlyMap<string, string> = new Map()): Map<string, string> {
    const texts = new Map<string, string>();
    for (const path of this.sourcePaths) {
      const text = overlay.get(path) ?? this.files.read(path);
      if (text !== undefined) texts.set(path, text);
    }
    for (const [path, text] of overlay) if (moduleNameOf(path) !== null) texts.set(path, text);
    return texts;
  }

  /** The packages that it uses, as far as they are unpacked; null when it uses none. */
  #used(manifest: string): UsedPackages | null {
    if (!mayUsePackages(manifest)) return null;
    const read = (path: string) => this.files.read(path);
    const dependencies = readDependencies(read);
    return dependencies.packages.size === 0 ? null : { dependencies, read };
  }

  /** Analyzes the package as it is now. */
  check(overlay: ReadonlyMap<string, string> = new Map()): CheckedPackage {
    const text = overlay.get(MANIFEST_PATH) ?? this.files.read(MANIFEST_PATH);
    if (text === undefined) {
      throw new CommandError(
        "Cannot open the package: there is no project.toml",
        "`lang new NAME` writes a package.",
      );
    }
    const parsed = parseManifest(text, MANIFEST_PATH);
    const sources = this.sources(overlay);
    if (sources.size === 0) {
      throw new CommandError(
        "Cannot check the package: there are no sources under src/",
        "The root module of a package is src/main.lang.",
      );
    }
    const analysis = internally("checking", () => this.#analyzer.analyze(sources, this.#used(text)));
    const diagnostics = [
      ...parsed.diagnostics,
      ...withPackageHints(
        analysis.diagnostics,
        text,
        () => this.#used(text)?.dependencies ?? NO_DEPENDENCIES,
      ),
    ];
    const { program } = analysis;
    const inferred = program === null ? null : inferTarget(program);
    const target = parsed.manifest?.target ?? null;
    const isAlone = [...sources.keys()].every(isLoneSource);
    const checkedTarget = target ?? (isAlone ? inferred : null);
    if (program !== null && checkedTarget !== null) {
      diagnostics.push(...findEntryPoints(program, checkedTarget).diagnostics);
    }
    const isRight = !diagnostics.some(({ severity }) => severity === "error");
    return {
      diagnostics,
      manifest: parsed.manifest,
      program: isRight ? program : null,
      target: target ?? inferred,
      checkedTarget,
      analysis,
    };
  }
}

/** Whether a manifest may name packages; what is not so spares reading what was unpacked. */
/** Whether the text of a manifest may name packages that are used. */
export function mayUsePackages(manifest: string): boolean {
  return manifest.includes("dependencies");
}

/** What the entry points of the root module are for; null when it has none. */
export function inferTarget(program: TypedProgram): PackageTarget | null {
  const names = new Set(
    program.root?.functions.filter((each) => each.owner === null).map((each) => each.name) ?? [],
  );
  if (names.has("main")) return "wasm32-wasi";
  if (names.has("init") && (names.has("step") || names.has("draw"))) return "wasm32-web";
  return null;
}
