/**
 * Where a name that is not in scope could be found: modules that the package or the library has and the file does not import.
 */
import type { Fix } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { ModuleScope } from "./symbols.ts";
import type { World } from "./world.ts";

/** Fixes that import a module which has what is missing; at most two. */
export function unimportedHome(
  world: World,
  scope: ModuleScope,
  has: (other: ModuleScope) => boolean,
): readonly Fix[] {
  const imported = new Set([...scope.imports.values()].map((each) => each.path));
  const homes: string[] = [];
  for (const other of world.scopes.values()) {
    if (
      other === scope || imported.has(other.name) || other.name === "std.raw" || world.core.includes(other)
    ) continue;
    if (has(other)) homes.push(other.name);
  }
  homes.sort();
  return homes.slice(0, 2).map((name) => importFix(scope, name));
}

/** A fix that adds a `use` behind the last one, or at the start of the file. */
export function importFix(scope: ModuleScope, moduleName: string): Fix {
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
