/**
 * From texts to diagnostics and typed program: parses and checks the files of a package, and does again only what a
 * change touches.
 *
 * A file is parsed again when its text changed, a module checked again as {@link PackageChecker} says.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { SourceFile } from "../source/source_file.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";
import type { TypedProgram } from "../typed/tree.ts";
import type { Dependencies } from "../package/dependencies.ts";
import { DependencyModules } from "./dependency_modules.ts";
import { PackageChecker } from "./package_checker.ts";
import { STANDARD_LIBRARY } from "./standard_library.ts";
import type { SymbolTable } from "./symbol_table.ts";
import type { LibrarySource } from "./module_graph.ts";

/** Texts of a package by their paths: `src/main.lang`. */
export type PackageTexts = ReadonlyMap<string, string>;

/** The packages that a package uses, and where the texts of their files come from. */
export interface UsedPackages {
  readonly dependencies: Dependencies;
  readonly read: (path: string) => string | undefined;
}

/** What analyzing a package gives. */
export interface PackageAnalysis {
  /** Of parsing and checking, in the order of files and places. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null when there are errors. */
  readonly program: TypedProgram | null;
  readonly files: ReadonlyMap<string, ParsedFile>;
  /** Modules that were checked anew. */
  readonly checkedModules: readonly string[];
}

/**
 * The module's name of a path below `src/`, or null for other files; a source that stands alone, outside of all
 * folders, is the root module.
 */
export function moduleNameOf(path: string): string | null {
  if (isLoneSource(path)) return "main";
  const match = /^src\/(.+)\.lang$/.exec(path);
  return match?.[1]?.replaceAll("/", ".") ?? null;
}

/** Whether the path is that of a source outside of a package, which has its sources under `src/`. */
export function isLoneSource(path: string): boolean {
  return /^[^/]+\.lang$/.test(path);
}

/** Analyzes versions of one package, one after the other. */
export class PackageAnalyzer {
  readonly #checker: PackageChecker;
  readonly #library: LibrarySource;
  readonly #dependencies = new DependencyModules();
  #files = new Map<string, ParsedFile>();

  constructor(options: { readonly library?: LibrarySource; readonly withSymbols?: boolean } = {}) {
    this.#library = options.library ?? STANDARD_LIBRARY;
    this.#checker = new PackageChecker({ withSymbols: options.withSymbols ?? false });
  }

  /** Parses and checks what changed since the last call. */
  analyze(texts: PackageTexts, used: UsedPackages | null = null): PackageAnalysis {
    const files = new Map<string, ParsedFile>();
    for (const [path, text] of texts) {
      const before = this.#files.get(path);
      files.set(
        path,
        before !== undefined && before.module.file.text === text ? before : parse(new SourceFile(path, text)),
      );
    }
    this.#files = files;
    const own = [...files].flatMap(([path, parsed]) => {
      const name = moduleNameOf(path);
      return name === null ? [] : [{ name, module: parsed.module }];
    });
    const isLibrary = (name: string) => this.#library.names.includes(name);
    const linked = used === null ? null : this.#dependencies.collect({ own, isLibrary, ...used });
    const modules = linked?.modules ?? own;
    const result = this.#checker.check({ modules, library: this.#library });
    const syntax = [...files.values(), ...linked?.files ?? []].flatMap((parsed) => parsed.diagnostics);
    const diagnostics = syntax.length === 0
      ? result.diagnostics
      : [...syntax, ...result.diagnostics].toSorted((left, right) =>
        left.file.path === right.file.path
          ? left.span.start - right.span.start
          : left.file.path < right.file.path
          ? -1
          : 1
      );
    const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === "error");
    return {
      diagnostics,
      program: hasErrors ? null : result.program,
      files,
      checkedModules: result.checkedModules,
    };
  }

  /** Names and types of a module, when they are kept. */
  symbolsOf(path: string): SymbolTable | null {
    const name = moduleNameOf(path);
    return name === null ? null : this.#checker.symbolsOf(name);
  }
}
