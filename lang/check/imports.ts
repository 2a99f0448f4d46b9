/**
 * `use`: which module a path names, and which modules import one another in a circle.
 */
import type * as ast from "../syntax/ast.ts";
import { nearest } from "../../engine/base/suggest.ts";
import type { ModuleScope } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** The path of a `use` as a module's name. */
export function pathOf(declaration: ast.UseDeclaration): string {
  return declaration.path.map((name) => name.text).join(".");
}

/** The modules that a module imports, by name, in the order of their `use`. */
export function importedPaths(module: ast.Module): string[] {
  return module.declarations.flatMap((declaration) =>
    declaration.kind === "use" ? [pathOf(declaration)] : []
  );
}

/** Whether a module may be imported by those outside of the library. */
export type IsInternal = (name: string) => boolean;

/** Enters the imports of a module into its scope. */
export function declareImports(
  graph: ModuleGraph,
  scope: ModuleScope,
  names: Iterable<string>,
  isInternal: IsInternal,
): void {
  const { reporter } = scope;
  const paths = new Map<string, ast.UseDeclaration>();
  for (const declaration of scope.module.declarations) {
    if (declaration.kind !== "use") continue;
    const path = pathOf(declaration);
    const last = declaration.path.at(-1);
    const alias = declaration.alias ?? last;
    if (alias === undefined) continue;
    const pathSpan = {
      start: declaration.path[0]?.span.start ?? declaration.span.start,
      end: last?.span.end ?? declaration.span.end,
    };
    const twice = paths.get(path);
    if (twice !== undefined) {
      const end = scope.file.text[declaration.span.end] === "\n"
        ? declaration.span.end + 1
        : declaration.span.end;
      reporter.report("MD0005", declaration.span, `The module \`${path}\` is imported twice.`, {
        labels: [reporter.label(twice.span, "the first is here")],
        fixes: [reporter.fix("remove the second", "safe", { start: declaration.span.start, end }, "")],
      });
      continue;
    }
    paths.set(path, declaration);
    const name = scope.link(path);
    let target = graph.scopes.get(name) ?? null;
    if (name === scope.name) {
      reporter.report("MD0003", pathSpan, "A module cannot import itself; its names are already in scope.", {
        fixes: [reporter.fix("remove the import", "safe", lineOf(scope, declaration), "")],
      });
      target = null;
    } else if (target !== null && isInternal(name) && !scope.isLibrary) {
      reporter.report("MD0006", pathSpan, `The module \`${path}\` is internal to the library.`, {
        hint: "Use `std.list`, `std.string` and `std.bytes`, which check their arguments.",
      });
      target = null;
    } else if (target === null) {
      const similar = nearest(path, names);
      const folder = path.replaceAll(".", "/");
      reporter.report("MD0001", pathSpan, `Unknown module \`${path}\`.`, {
        hint: /^(std|web|host)\./.test(path)
          ? `The library has ${
            [...names].filter((each) => each.startsWith(path.slice(0, 4)) && !isInternal(each)).map((each) =>
              `\`${each}\``
            ).join(", ")
          }.`
          : `A module of this package is a file: \`src/${folder}.lang\`.`,
        fixes: similar.map((other) => reporter.fix(`import \`${other}\``, "maybe", pathSpan, other)),
      });
    }
    const hider = scope.hidden(path);
    if (hider !== null && target !== null) {
      reporter.report(
        "MD0008",
        pathSpan,
        `\`${path}\` is \`${target.file.path}\` of this package; the package \`${hider}\` has a module of that name too, which it hides.`,
        { hint: "Rename your own file or folder to import the package's module." },
      );
    }
    const other = scope.imports.get(alias.text);
    if (other !== undefined) {
      reporter.report("MD0004", alias.span, `\`${alias.text}\` is already the name of an imported module.`, {
        labels: [reporter.label(other.declaration.span, "the first is here")],
        fixes: [
          reporter.insert(
            `import it as \`${declaration.path.map((name) => name.text).join("_")}\``,
            "maybe",
            declaration.span.end,
            declaration.alias === null ? ` as ${declaration.path.map((name) => name.text).join("_")}` : "_2",
          ),
        ],
      });
      continue;
    }
    scope.imports.set(alias.text, {
      declaration,
      alias: alias.text,
      path,
      scope: target,
      isUsed: alias.text.startsWith("_"),
    });
  }
}

function lineOf(scope: ModuleScope, declaration: ast.UseDeclaration): ast.UseDeclaration["span"] {
  const { start, end } = declaration.span;
  return { start, end: scope.file.text[end] === "\n" ? end + 1 : end };
}

/** Modules so that imports come before importers; members of a circle stand together. */
export function sortByImports(
  modules: readonly { readonly name: string; readonly imports: readonly string[] }[],
): string[][] {
  // Tarjan's strongly connected components, whose order is that of the dependencies.
  const byName = new Map(modules.map((module) => [module.name, module]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const groups: string[][] = [];
  const visit = (name: string): void => {
    const number = index.size;
    index.set(name, number);
    low.set(name, number);
    stack.push(name);
    onStack.add(name);
    for (const next of byName.get(name)?.imports ?? []) {
      if (!byName.has(next) || next === name) continue;
      if (!index.has(next)) {
        visit(next);
        low.set(name, Math.min(low.get(name) ?? 0, low.get(next) ?? 0));
      } else if (onStack.has(next)) low.set(name, Math.min(low.get(name) ?? 0, index.get(next) ?? 0));
    }
    if (low.get(name) !== number) return;
    const group: string[] = [];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      onStack.delete(top);
      group.push(top);
      if (top === name) break;
    }
    groups.push(group.reverse());
  };
  for (const module of modules) if (!index.has(module.name)) visit(module.name);
  return groups;
}

/** Reports modules that import one another, once for each circle. */
export function reportImportCycle(group: readonly ModuleScope[]): void {
  const names = new Set(group.map((scope) => scope.name));
  // The circle as a way: from the first module on, always to an import inside the group.
  const way: { readonly scope: ModuleScope; readonly use: ast.UseDeclaration }[] = [];
  let at = group[0];
  const seen = new Set<string>();
  while (at !== undefined && !seen.has(at.name)) {
    seen.add(at.name);
    const scope: ModuleScope = at;
    const use = scope.module.declarations.find((declaration) =>
      declaration.kind === "use" && names.has(scope.link(pathOf(declaration))) &&
      scope.link(pathOf(declaration)) !== scope.name
    );
    if (use?.kind !== "use") return;
    way.push({ scope, use });
    at = group.find((each) => each.name === scope.link(pathOf(use)));
  }
  const start = way.findIndex((step) => step.scope === at);
  const circle = way.slice(Math.max(start, 0));
  const [first] = circle;
  if (first === undefined) return;
  const text = [...circle.map((step) => step.scope.name), first.scope.name].map((name) => `\`${name}\``).join(
    " → ",
  );
  first.scope.reporter.report(
    "MD0002",
    first.use.span,
    `These modules import each other in a cycle: ${text}.`,
    {
      labels: circle.slice(1).map((step) => ({
        file: step.scope.file,
        span: step.use.span,
        message: "and this import continues the cycle",
      })),
      hint: "Move the shared declarations into a module of their own.",
    },
  );
}
