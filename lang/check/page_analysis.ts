/**
 * Analyzes the programs of pages about codes: their files, and under `packages/fx/` those of a package that they use.
 */
import { filesOfPage } from "../diagnostics/codes/code_page.ts";
import type { DependencyPackage } from "../package/dependencies.ts";
import type { PackageAnalysis, PackageAnalyzer, UsedPackages } from "./package_analysis.ts";

/** What analyzing a page's program gives. */
export function analyzePage(analyzer: PackageAnalyzer, program: string): PackageAnalysis {
  const files = filesOfPage(program);
  const own = new Map([...files].filter(([path]) => !path.startsWith("packages/")));
  return analyzer.analyze(own, usedPackages(files));
}

function usedPackages(files: ReadonlyMap<string, string>): UsedPackages | null {
  const packages = new Map<string, DependencyPackage & { readonly modules: Map<string, string> }>();
  for (const path of files.keys()) {
    const [, name = "", module = ""] = /^packages\/(\w+)\/src\/(\S+)\.lang$/.exec(path) ?? [];
    if (name === "") continue;
    const known = packages.get(name) ??
      { prefix: name, name, version: "1.0.0", modules: new Map(), uses: new Map() };
    known.modules.set(module.replaceAll("/", "."), path);
    packages.set(name, known);
  }
  if (packages.size === 0) return null;
  const direct = new Map([...packages.keys()].map((name) => [name, name]));
  return { dependencies: { packages, direct }, read: (path) => files.get(path) };
}
