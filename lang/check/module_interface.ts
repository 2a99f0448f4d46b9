/**
 * What of a module others can see: its text without the bodies of functions whose signatures are whole.
 *
 * As long as this text stays the same the module's symbols stay the same objects, and only point to the new tree.
 */
import type * as ast from "../syntax/ast.ts";
import { redeclareInferred, wholeDeclaration } from "./declare.ts";
import { resetForBodies } from "./module_body.ts";
import { Reporter } from "./report.ts";
import type { ModuleScope, TypeEntry } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** The text of a module's declarations without bodies. */
export function moduleInterfaceOf(module: ast.Module): string {
  const { text } = module.file;
  const parts: string[] = [];
  for (const declaration of module.declarations) {
    switch (declaration.kind) {
      case "test":
      case "property":
      case "eval":
        continue;
      case "function": {
        const end = declaration.body?.span.start ?? declaration.span.end;
        parts.push(text.slice(declaration.span.start, end), declaration.documentation?.text ?? "");
        break;
      }
      case "const": {
        const end = declaration.type === null ? declaration.span.end : declaration.value.span.start;
        parts.push(text.slice(declaration.span.start, end), declaration.documentation?.text ?? "");
        break;
      }
      default:
        parts.push(
          text.slice(declaration.span.start, declaration.span.end),
          declaration.documentation?.text ?? "",
        );
        break;
    }
  }
  return parts.join("\n\u0000");
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Points the symbols of a module at a new tree with the same interface, ready for its bodies to be checked. */
export function refreshScope(graph: ModuleGraph, scope: ModuleScope, module: ast.Module): void {
  scope.module = module;
  scope.file = module.file;
  scope.reporter = new Reporter(module.file);
  const types = new Map<string, Writable<TypeEntry>>(scope.types);
  let functionIndex = 0;
  let constantIndex = 0;
  for (const declaration of module.declarations) {
    const whole = wholeDeclaration(declaration);
    switch (whole?.kind) {
      case "use": {
        const alias = (whole.alias ?? whole.path.at(-1))?.text ?? "";
        const through = scope.imports.get(alias);
        if (through !== undefined) {
          scope.imports.set(alias, { ...through, declaration: whole, isUsed: alias.startsWith("_") });
        }
        break;
      }
      case "type":
      case "interface": {
        const entry = types.get(whole.name.text);
        if (entry === undefined) break;
        entry.span = whole.name.span;
        if (entry.kind === "definition" || entry.kind === "interface") {
          const definition: Writable<typeof entry.definition> = entry.definition;
          definition.nameSpan = whole.name.span;
          definition.file = module.file;
        }
        break;
      }
      case "function": {
        const symbol = scope.functions[functionIndex++];
        if (symbol !== undefined) symbol.declaration = whole;
        break;
      }
      case "const": {
        const symbol = scope.constants[constantIndex++];
        if (symbol !== undefined) symbol.declaration = whole;
        break;
      }
      default:
        break;
    }
  }
  resetForBodies(scope);
  redeclareInferred(graph, scope);
}
