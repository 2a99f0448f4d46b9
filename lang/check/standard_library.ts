/**
 * The library as the checker takes it: modules parsed when they are first needed, and kept for all packages of the process.
 */
import { LIBRARY_MODULES, libraryModuleNamed } from "../library/library.ts";
import type * as ast from "../syntax/ast.ts";
import { parse } from "../syntax/parser.ts";
import type { LibrarySource } from "./package_checker.ts";

const parsed = new Map<string, ast.Module>();

/** The one library of this process. */
export const STANDARD_LIBRARY: LibrarySource = {
  names: LIBRARY_MODULES.map((module) => module.name),
  isPrelude: (name) => libraryModuleNamed(name)?.isPrelude ?? false,
  isInternal: (name) => libraryModuleNamed(name)?.isInternal ?? false,
  module(name) {
    const known = parsed.get(name);
    if (known !== undefined) return known;
    const found = libraryModuleNamed(name);
    if (found === null) return null;
    const { module } = parse(found.file);
    parsed.set(name, module);
    return module;
  },
};
