/** The modules of used packages that a package needs, found along its imports: others are neither read nor parsed. */
import {
  type Dependencies,
  type DependencyModule,
  findDependencyModule,
  ownModule,
} from "../package/dependencies.ts";
import { SourceFile } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";
import { importedPaths } from "./imports.ts";

/** A module of a used package, parsed, and what its imports mean. */
export interface LinkedModule {
  readonly name: string;
  readonly module: ast.Module;
  readonly link: (path: string) => string;
  /** The package with a module of that path which one of the importer's own package hides; null when there is none. */
  readonly hidden: (path: string) => string | null;
  readonly isDependency: boolean;
}

/** Parses modules of used packages, and keeps those whose text stays. */
export class DependencyModules {
  readonly #files = new Map<string, ParsedFile>();
  readonly #modules = new Map<ParsedFile, ast.Module>();

  /** The modules that the imports of these lead to, and what the imports of the package's own modules mean. */
  collect(
    { own, dependencies, isLibrary, read }: {
      readonly own: readonly { readonly name: string; readonly module: ast.Module }[];
      readonly dependencies: Dependencies;
      readonly isLibrary: (name: string) => boolean;
      readonly read: (path: string) => string | undefined;
    },
  ): { readonly modules: readonly LinkedModule[]; readonly files: readonly ParsedFile[] } {
    const ownNames = new Set(own.map(({ name }) => name));
    const find = (path: string): DependencyModule | null =>
      ownNames.has(path) || isLibrary(path)
        ? null
        : findDependencyModule(dependencies, dependencies.direct, path);
    const hidden = (path: string): string | null =>
      ownNames.has(path)
        ? findDependencyModule(dependencies, dependencies.direct, path)?.owner.name ?? null
        : null;
    const modules: LinkedModule[] = own.map((each) => ({
      ...each,
      link: (path) => find(path)?.name ?? path,
      hidden,
      isDependency: false,
    }));
    const files: ParsedFile[] = [];
    const queue = own.flatMap(({ module }) => importedPaths(module).flatMap((path) => find(path) ?? []));
    const seen = new Set<string>();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (seen.has(next.name)) continue;
      seen.add(next.name);
      const parsed = this.#parse(next.path, read);
      if (parsed === null) continue;
      const { owner } = next;
      const inside = (path: string): DependencyModule | null =>
        isLibrary(path)
          ? null
          : ownModule(owner, path) ?? findDependencyModule(dependencies, owner.uses, path);
      const module = this.#withoutTests(parsed);
      files.push(parsed);
      modules.push({
        name: next.name,
        module,
        link: (path) => inside(path)?.name ?? path,
        // What a used package means by its names is its author's matter.
        hidden: () => null,
        isDependency: true,
      });
      queue.push(...importedPaths(module).flatMap((path) => inside(path) ?? []));
    }
    return { modules, files };
  }

  #parse(path: string, read: (path: string) => string | undefined): ParsedFile | null {
    const text = read(path);
    if (text === undefined) return null;
    const before = this.#files.get(path);
    if (before !== undefined && before.module.file.text === text) return before;
    const parsed = parse(new SourceFile(path, text));
    this.#files.set(path, parsed);
    return parsed;
  }

  /** The tests of a used package are its author's matter. */
  #withoutTests(parsed: ParsedFile): ast.Module {
    const before = this.#modules.get(parsed);
    if (before !== undefined) return before;
    const declarations = parsed.module.declarations.filter(({ kind }) =>
      kind !== "test" && kind !== "property" && kind !== "eval"
    );
    const module = { ...parsed.module, declarations };
    this.#modules.set(parsed, module);
    return module;
  }
}
