/**
 * Checks a package: its modules in the order of their imports, with what the library has, keeping results between
 * calls.
 *
 * A module is checked again when its text, or the declarations of a module that it imports, changed. When only bodies
 * changed, its symbols stay the same objects, so that nobody else needs to be looked at; the typed program given
 * before then shows the new bodies.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type * as ast from "../syntax/ast.ts";
import type { TypedFunction, TypedModule, TypedProgram } from "../typed/tree.ts";
import type { TypeDefinition } from "../types/type.ts";
import { declareNames, declareSignatures, declareTypes } from "./declare.ts";
import { declareImports, importedPaths, reportImportCycle, sortByImports } from "./imports.ts";
import { methodFor } from "./method_choice.ts";
import { checkModule, prepareLazily, typedModule } from "./module_body.ts";
import { Reporter } from "./report.ts";
import { moduleInterfaceOf, refreshScope } from "./module_interface.ts";
import { type FunctionSymbol, ModuleScope } from "./symbols.ts";
import type { SymbolTable } from "./symbol_table.ts";
import { type LibrarySource, ModuleGraph } from "./module_graph.ts";

/** A parsed module and its name: `physics`, `fx.particles`, `main`. */
export interface NamedModule {
  readonly name: string;
  readonly module: ast.Module;
  /** The module that a path of its imports names; the path itself when it is left out. */
  readonly link?: (path: string) => string;
  /** The package whose module of that path is hidden by one of the importer's own; null when there is none. */
  readonly hidden?: (path: string) => string | null;
  /** Whether it is one of a package that is used. */
  readonly isDependency?: boolean;
}

/** What is checked. */
export interface CheckInput {
  readonly modules: readonly NamedModule[];
  readonly library: LibrarySource;
}

/** What checking gives. */
export interface CheckResult {
  /** In the order of files and places. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null when there are errors. */
  readonly program: TypedProgram | null;
  /** Modules that were checked anew. */
  readonly checkedModules: readonly string[];
}

interface ModuleState {
  readonly scope: ModuleScope;
  readonly interfaceText: string;
  readonly dependencies: readonly ModuleState[];
  typed: TypedModule;
  diagnostics: readonly Diagnostic[];
  symbols: SymbolTable | null;
}

/** Checks packages, and remembers. */
export class PackageChecker {
  readonly #withSymbols: boolean;
  #library: LibrarySource | null = null;
  #base: ModuleGraph = new ModuleGraph();
  readonly #libraryStates = new Map<string, ModuleState>();
  #states = new Map<string, ModuleState>();

  constructor(options: { readonly withSymbols?: boolean } = {}) {
    this.#withSymbols = options.withSymbols ?? false;
  }

  /** All diagnostics of the package, and the typed program when there are no errors. */
  check(input: CheckInput): CheckResult {
    if (this.#library !== input.library) this.#startOver(input.library);
    const { modules, diagnostics: clashes } = ownModules(input);
    const graph = this.#base;
    for (const name of this.#states.keys()) graph.scopes.delete(name);
    for (const { module, link } of modules) {
      for (const path of linkedPaths(module, link)) this.#loadLibrary(path);
      // Who runs properties makes their arguments with it.
      if (module.declarations.some((each) => each.kind === "property")) this.#loadLibrary("std.generate");
    }
    const names = [...modules.map((each) => each.name), ...input.library.names];
    const byName = new Map(modules.map((each) => [each.name, each]));
    const groups = sortByImports(
      modules.map(({ name, module, link }) => ({ name, imports: linkedPaths(module, link) })),
    );
    const before = this.#states;
    const states = new Map<string, ModuleState>();
    const checked: string[] = [];
    const declare = (group: readonly string[]) => {
      const modules = group.flatMap((name) => byName.get(name) ?? []);
      const kept = this.#reuse(graph, modules, before, states);
      if (kept !== null) {
        for (const [name, state] of kept.states) states.set(name, state);
        checked.push(...kept.checked);
        return;
      }
      const fresh = this.#declare(graph, modules, states, names, input.library);
      for (const [name, state] of fresh) states.set(name, state);
      checked.push(...fresh.keys());
    };
    for (const group of groups) declare(group);
    this.#states = states;
    const own = modules.flatMap((each) => states.get(each.name) ?? []);
    const diagnostics = [...clashes, ...own.flatMap((state) => state.diagnostics)].toSorted(byPosition);
    const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === "error");
    const ordered = groups.flat().flatMap((name) => states.get(name) ?? []);
    return {
      diagnostics,
      program: hasErrors ? null : this.#program(ordered),
      checkedModules: checked,
    };
  }

  /** The symbols of a module that was checked last, when they are kept. */
  symbolsOf(name: string): SymbolTable | null {
    return (this.#states.get(name) ?? this.#libraryStates.get(name))?.symbols ?? null;
  }

  /** All modules that were checked last, and those of the library that were needed. */
  get graph(): ModuleGraph {
    return this.#base;
  }

  #startOver(library: LibrarySource): void {
    this.#library = library;
    this.#base = new ModuleGraph(library);
    this.#libraryStates.clear();
    this.#states = new Map();
    // The core's modules see one another, so all are declared before any is looked into.
    const names = new Set<string>();
    const add = (name: string): void => {
      const module = library.module(name);
      if (module === null || names.has(name)) return;
      names.add(name);
      importedPaths(module).forEach(add);
    };
    for (const name of library.names) if (library.isPrelude(name)) add(name);
    this.#declareLibrary([...names]);
  }

  #loadLibrary(name: string): void {
    const library = this.#library;
    const module = library?.module(name) ?? null;
    if (module === null || this.#libraryStates.has(name)) return;
    for (const path of importedPaths(module)) this.#loadLibrary(path);
    this.#declareLibrary([name]);
  }

  #declareLibrary(names: readonly string[]): void {
    const library = this.#library;
    if (library === null) return;
    const graph = this.#base;
    const scopes = names.flatMap((name) => {
      const module = library.module(name);
      if (module === null) return [];
      const scope = new ModuleScope(name, true, module, new Reporter(module.file));
      graph.scopes.set(name, scope);
      if (library.isPrelude(name) && !library.isInternal(name)) graph.core.push(scope);
      return [scope];
    });
    for (const scope of scopes) declareImports(graph, scope, library.names, () => false);
    for (const scope of scopes) declareNames(graph, scope);
    for (const scope of scopes) declareTypes(graph, scope);
    for (const scope of scopes) declareSignatures(graph, scope);
    for (const scope of scopes) {
      prepareLazily(graph, scope);
      this.#libraryStates.set(scope.name, {
        scope,
        interfaceText: "",
        dependencies: [],
        typed: typedModule(scope, []),
        diagnostics: [],
        symbols: null,
      });
    }
  }

  /** Checks all of a module of the library, bodies and tests; for the library's own tests. */
  checkLibraryModule(library: LibrarySource, name: string): CheckResult {
    if (this.#library !== library) this.#startOver(library);
    this.#loadLibrary(name);
    const state = this.#libraryStates.get(name);
    if (state === undefined) return { diagnostics: [], program: null, checkedModules: [] };
    const { scope } = state;
    const { module } = scope;
    scope.module = { ...module, declarations: [...module.declarations, ...library.tests(name)] };
    const { typed, symbols } = checkModule(this.#base, scope, this.#withSymbols);
    scope.module = module;
    state.typed = typed;
    state.symbols = symbols;
    const diagnostics = state.scope.reporter.diagnostics;
    const hasErrors = diagnostics.some((each) => each.severity === "error");
    return { diagnostics, program: hasErrors ? null : this.#program([]), checkedModules: [name] };
  }

  /** Modules of a group as they were, or with new bodies; null when they must be declared anew. */
  #reuse(
    graph: ModuleGraph,
    modules: readonly NamedModule[],
    before: ReadonlyMap<string, ModuleState>,
    now: ReadonlyMap<string, ModuleState>,
  ): { readonly states: Map<string, ModuleState>; readonly checked: string[] } | null {
    const [first] = modules;
    if (modules.length !== 1 || first === undefined) return null;
    const state = before.get(first.name);
    if (state === undefined) return null;
    // The same dependencies, each declared as before.
    const paths = linkedPaths(first.module, first.link);
    const dependencies = paths.flatMap((path) => now.get(path) ?? this.#libraryStates.get(path) ?? []);
    const isSame = dependencies.length === state.dependencies.length &&
      dependencies.every((each, index) => each.scope === state.dependencies[index]?.scope);
    if (!isSame) return null;
    const { scope } = state;
    const { hidden = scope.hidden } = first;
    if (importedPaths(first.module).some((path) => hidden(path) !== scope.hidden(path))) return null;
    scope.hidden = hidden;
    scope.link = first.link ?? scope.link;
    if (scope.module === first.module) {
      // Labels point into other files, whose texts may have moved.
      const isFixed = state.diagnostics.every((diagnostic) =>
        diagnostic.labels.every((label) =>
          label.file === scope.file || isCurrent(label.file, now, this.#libraryStates)
        )
      );
      if (isFixed) {
        graph.scopes.set(first.name, scope);
        return { states: new Map([[first.name, { ...state, dependencies }]]), checked: [] };
      }
    }
    const interfaceText = moduleInterfaceOf(first.module);
    if (
      interfaceText !== state.interfaceText || state.diagnostics.some((each) => isDeclarationCode(each.code))
    ) {
      return null;
    }
    graph.scopes.set(first.name, scope);
    refreshScope(graph, scope, first.module);
    const { typed, symbols } = checkModule(graph, scope, this.#withSymbols);
    const fresh: ModuleState = {
      scope,
      interfaceText,
      dependencies,
      typed,
      diagnostics: scope.reporter.diagnostics,
      symbols,
    };
    return { states: new Map([[first.name, fresh]]), checked: [first.name] };
  }

  #declare(
    graph: ModuleGraph,
    modules: readonly NamedModule[],
    states: ReadonlyMap<string, ModuleState>,
    names: readonly string[],
    library: LibrarySource,
  ): Map<string, ModuleState> {
    const scopes = modules.map(({ name, module, link, hidden, isDependency }) => {
      const scope = new ModuleScope(name, false, module, new Reporter(module.file));
      scope.isDependency = isDependency ?? false;
      scope.link = link ?? scope.link;
      scope.hidden = hidden ?? scope.hidden;
      graph.scopes.set(name, scope);
      return scope;
    });
    for (const scope of scopes) declareImports(graph, scope, names, (name) => library.isInternal(name));
    if (scopes.length > 1) reportImportCycle(scopes);
    for (const scope of scopes) declareNames(graph, scope);
    for (const scope of scopes) declareTypes(graph, scope);
    for (const scope of scopes) declareSignatures(graph, scope);
    const fresh = new Map<string, ModuleState>();
    for (const scope of scopes) {
      const { typed, symbols } = checkModule(graph, scope, this.#withSymbols);
      fresh.set(scope.name, {
        scope,
        interfaceText: moduleInterfaceOf(scope.module),
        dependencies: linkedPaths(scope.module, scope.link).flatMap((path) =>
          states.get(path) ?? this.#libraryStates.get(path) ?? []
        ),
        typed,
        diagnostics: scope.reporter.diagnostics,
        symbols,
      });
    }
    return fresh;
  }

  #program(states: readonly ModuleState[]): TypedProgram {
    const graph = this.#base;
    const library = [...this.#libraryStates.values()].map((state) => state.typed);
    const modules = [...library, ...states.map((state) => state.typed)];
    const functions = new Map<string, FunctionSymbol>();
    for (const state of this.#libraryStates.values()) {
      for (const symbol of state.scope.functions) functions.set(symbol.id, symbol);
    }
    return {
      modules,
      root: states.find((state) => state.scope.name === "main")?.typed ?? null,
      method: (type, definition, name) => methodFor(graph, type, definition, name),
      libraryFunction(id: string): TypedFunction {
        const symbol = functions.get(id);
        if (symbol === undefined) {
          throw new Error(`Cannot find the library's function ${id}: no module has it`);
        }
        return symbol;
      },
      libraryType(name: string): TypeDefinition {
        const definition = graph.coreDefinition(name);
        if (definition === null) throw new Error(`Cannot find the library's type ${name}: no module has it`);
        return definition;
      },
    };
  }
}

/** The modules that a module imports, by their names in the whole program. */
function linkedPaths(module: ast.Module, link: NamedModule["link"]): string[] {
  const paths = importedPaths(module);
  return link === undefined ? paths : paths.map(link);
}

/** The package's modules, without those that have the name of one of the library's. */
function ownModules(
  { modules, library }: CheckInput,
): { readonly modules: readonly NamedModule[]; readonly diagnostics: readonly Diagnostic[] } {
  const names = new Set(library.names);
  const diagnostics = modules.flatMap(({ name, module }) => {
    if (!names.has(name)) return [];
    const reporter = new Reporter(module.file);
    reporter.report("MD0007", { start: 0, end: 0 }, `The library has a module \`${name}\` already.`, {
      hint: "Rename the file, or move it to another folder.",
    });
    return reporter.diagnostics;
  });
  return { modules: modules.filter(({ name }) => !names.has(name)), diagnostics };
}

function isCurrent(
  file: ast.Module["file"],
  now: ReadonlyMap<string, ModuleState>,
  library: ReadonlyMap<string, ModuleState>,
): boolean {
  for (const state of now.values()) if (state.scope.file === file) return true;
  for (const state of library.values()) if (state.scope.file === file) return true;
  return false;
}

/** Codes that declaring reports; they are lost when only bodies are checked again. */
function isDeclarationCode(code: string): boolean {
  return code.startsWith("MD") || code.startsWith("NM") || code.startsWith("TY") || code.startsWith("EF");
}

function byPosition(left: Diagnostic, right: Diagnostic): number {
  if (left.file.path !== right.file.path) return left.file.path < right.file.path ? -1 : 1;
  return left.span.start - right.span.start || left.span.end - right.span.end ||
    (left.code < right.code ? -1 : 1);
}
