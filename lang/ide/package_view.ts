/**
 * One analyzed version of a package after the other, as look-ups need it: files repaired, modules checked with what
 * their names refer to.
 */
import type { SymbolTable } from "../check/symbol_table.ts";
import { type NamedModule, PackageChecker } from "../check/package_checker.ts";
import { moduleNameOf } from "../check/package_analysis.ts";
import { STANDARD_LIBRARY } from "../check/standard_library.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import type { Diagnostic, Location } from "../diagnostics/diagnostic.ts";
import { libraryModuleNamed } from "../library/library.ts";
import { SourceFile } from "../source/source_file.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";
import { repair, RepairedFile } from "./repaired_text.ts";
import { indexNames, type NameIndex } from "./name_index.ts";

/** Texts of a package by path. */
export type Texts = ReadonlyMap<string, string>;

/** A file that is looked at: one of a package, or of the library. */
export interface ViewedFile {
  readonly file: RepairedFile;
  readonly index: NameIndex;
  /** The modules that its names are in. */
  readonly graph: ModuleGraph;
}

/** Modules of the library, analyzed when their sources are opened. */
export class LibraryView {
  readonly #checker = new PackageChecker({ withSymbols: true });
  readonly #viewed = new Map<string, ViewedFile | null>();

  /** The module of a path such as `std:list`; null when there is none. */
  at(path: string): ViewedFile | null {
    let viewed = this.#viewed.get(path);
    if (viewed === undefined) {
      viewed = this.#look(path.replace(":", "."));
      this.#viewed.set(path, viewed);
    }
    return viewed;
  }

  #look(name: string): ViewedFile | null {
    const known = libraryModuleNamed(name);
    if (known === null) return null;
    const checker = this.#checker;
    checker.checkLibraryModule(STANDARD_LIBRARY, name);
    const table = checker.symbolsOf(name);
    const scope = checker.graph.scopes.get(name);
    if (table === null || scope === undefined) return null;
    const parsed = parse(known.file);
    return {
      file: new RepairedFile(parsed, parsed, []),
      index: indexNames(checker.graph, scope, table),
      graph: checker.graph,
    };
  }
}

/** Looks at versions of a package, and remembers what did not change. */
export class PackageView {
  readonly #checker = new PackageChecker({ withSymbols: true });
  readonly #indexes = new WeakMap<SymbolTable, NameIndex>();
  #files = new Map<string, RepairedFile>();
  #diagnostics: readonly Diagnostic[] = [];

  /** Analyzes the texts; parsed files of the same texts need not be parsed again. */
  update(texts: Texts, known: ReadonlyMap<string, ParsedFile> = new Map()): void {
    const files = new Map<string, RepairedFile>();
    const modules: NamedModule[] = [];
    let isSame = this.#files.size === texts.size;
    for (const [path, text] of texts) {
      const name = moduleNameOf(path);
      if (name === null) continue;
      const before = this.#files.get(path);
      let file = before;
      if (file === undefined || file.original.text !== text) {
        const parsed = known.get(path);
        file = repair(
          parsed !== undefined && parsed.module.file.text === text
            ? parsed
            : parse(new SourceFile(path, text)),
        );
        isSame = false;
      }
      files.set(path, file);
      modules.push({ name, module: file.repaired.module });
    }
    this.#files = files;
    if (isSame && modules.length > 0) return;
    this.#diagnostics = this.#checker.check({ modules, library: STANDARD_LIBRARY }).diagnostics;
  }

  /** The files, by path. */
  get files(): ReadonlyMap<string, RepairedFile> {
    return this.#files;
  }

  /** What the checker says of the repaired texts. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** All modules. */
  get graph(): ModuleGraph {
    return this.#checker.graph;
  }

  /** A file of the package; null when it is none. */
  at(path: string): ViewedFile | null {
    const file = this.#files.get(path);
    const index = this.index(path);
    return file === undefined || index === null ? null : { file, index, graph: this.graph };
  }

  /** The names of a file; null when it is none of the package. */
  index(path: string): NameIndex | null {
    const name = moduleNameOf(path);
    if (name === null || !this.#files.has(path)) return null;
    const table = this.#checker.symbolsOf(name);
    const scope = this.graph.scopes.get(name);
    if (table === null || scope === undefined) return null;
    let index = this.#indexes.get(table);
    if (index === undefined) {
      index = indexNames(this.graph, scope, table);
      this.#indexes.set(table, index);
    }
    return index;
  }

  /** A place in the texts as they stand; null where a repair put it in. */
  original({ file, span }: Location): Location | null {
    const known = this.#files.get(file.path);
    if (known === undefined) return { file, span };
    const back = known.spanBack(span);
    return back === null ? null : { file: known.original, span: back };
  }
}
