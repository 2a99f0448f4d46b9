/**
 * Where a name that is not in scope could be found: modules that the package or the library has and the file does not
 * import.
 */
import type { Fix } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import type { ModuleScope } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** What is missing: a module by the last name of its path, a type or variant, or a function or constant. */
export type MissingKind = "module" | "type" | "variant" | "value";

/**
 * Fixes that import a module which has what is missing; at most two. What a module names in small letters is named
 * behind it from then on.
 */
export function unimportedHome(
  graph: ModuleGraph,
  scope: ModuleScope,
  name: ast.Name,
  kinds: readonly MissingKind[],
): readonly Fix[] {
  const imported = new Set([...scope.imports.values()].map((each) => each.path));
  const found = homes(graph).filter(({ path, module }) =>
    path !== scope.name && !imported.has(path) &&
    kinds.some((kind) => has(kind, { path, module: module() }, name.text))
  ).map(({ path }) => path);
  return found.sort().slice(0, 2).map((path) => {
    const fix = importFix(scope, path);
    const last = path.slice(path.lastIndexOf(".") + 1);
    if (last === name.text || !kinds.includes("value")) return fix;
    const text = `${last}.${name.text}`;
    return {
      ...fix,
      title: `import \`${path}\` and write \`${text}\``,
      edits: [...fix.edits, scope.reporter.edit(name.span, text)],
    };
  });
}

/**
 * The modules that may be imported: those of the package, and those of the library, whether anybody has asked for
 * them yet or not.
 */
function homes(graph: ModuleGraph): { readonly path: string; readonly module: () => ast.Module | null }[] {
  const { library } = graph;
  const own = [...graph.scopes.values()].filter((scope) => !scope.isLibrary && !scope.isDependency)
    .map((scope) => ({ path: scope.name, module: () => scope.module }));
  const others = library?.names.filter((name) => !library.isPrelude(name) && !library.isInternal(name)) ?? [];
  return [...own, ...others.map((path) => ({ path, module: () => library?.module(path) ?? null }))];
}

function has(
  kind: MissingKind,
  { path, module }: { readonly path: string; readonly module: ast.Module | null },
  name: string,
): boolean {
  if (kind === "module") return path.slice(path.lastIndexOf(".") + 1) === name;
  return module?.declarations.some((each) => {
    if (!each.isPublic) return false;
    switch (each.kind) {
      case "type":
        if (kind === "type") return each.name.text === name;
        return kind === "variant" && each.body.kind === "union" &&
          each.body.variants.some((variant) => variant.name.text === name);
      case "interface":
        return kind === "type" && each.name.text === name;
      case "function":
      case "const":
        return kind === "value" && each.owner === null && each.name.text === name;
      default:
        return false;
    }
  }) ?? false;
}

/** A fix that adds a `use` behind the last one, or at the start of the file. */
function importFix(scope: ModuleScope, moduleName: string): Fix {
  const path = moduleName;
  const uses = scope.module.declarations.filter((declaration) => declaration.kind === "use");
  const last = uses.at(-1);
  const first = scope.module.declarations[0];
  if (last !== undefined) {
    return scope.reporter.insert(`import \`${path}\``, "maybe", last.span.end, `\nuse ${path}`);
  }
  const offset = first === undefined ? 0 : first.documentation?.span.start ?? first.span.start;
  return scope.reporter.insert(`import \`${path}\``, "maybe", offset, `use ${path}\n\n`);
}

/** A fix that exports a declaration of another module of the package, found by its name. */
export function publishFix(file: SourceFile, nameSpan: Span, isLibrary: boolean): readonly Fix[] {
  if (isLibrary) return [];
  const start = file.text.lastIndexOf("\n", nameSpan.start) + 1;
  const edit = { file, span: { start, end: start }, text: "pub " };
  return [{ title: "export it with `pub`", applicability: "maybe", edits: [edit] }];
}
