/**
 * The library as the checker takes it: modules parsed when they are first needed, and kept for all packages of the
 * process.
 */
import { LIBRARY_MODULES, libraryModuleNamed } from "../library/library.ts";
import { type LazyModule, lazyModule } from "./lazy_module.ts";
import type { LibrarySource } from "./module_graph.ts";

const parsed = new Map<string, LazyModule>();

function lazily(name: string): LazyModule | null {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const found = libraryModuleNamed(name);
  if (found === null) return null;
  const made = lazyModule(found.file);
  parsed.set(name, made);
  return made;
}

/** The one library of this process. */
export const STANDARD_LIBRARY: LibrarySource = {
  names: LIBRARY_MODULES.map((module) => module.name),
  isPrelude: (name) => libraryModuleNamed(name)?.isPrelude ?? false,
  isInternal: (name) => libraryModuleNamed(name)?.isInternal ?? false,
  module: (name) => lazily(name)?.module ?? null,
  tests: (name) => lazily(name)?.tests() ?? [],
};
