/**
 * Names are declared once: entering them into a module's scope, and saying where the other one stands.
 */
import type * as ast from "../syntax/ast.ts";
import type { Span } from "../source/source_file.ts";
import type { VariantDefinition } from "../types/type.ts";
import type { FunctionSymbol, ModuleScope, TypeEntry, ValueSymbol } from "./symbols.ts";

function reportDuplicate(scope: ModuleScope, what: string, name: ast.Name, first: Span): void {
  scope.reporter.report("NM0008", name.span, `${what} \`${name.text}\` is declared twice in this module.`, {
    labels: [scope.reporter.label(first, "the first is here")],
    hint: "Rename one of them.",
  });
}

/** Enters a type or interface. */
export function claimType(scope: ModuleScope, name: ast.Name, entry: TypeEntry): void {
  const other = scope.types.get(name.text);
  if (other !== undefined) reportDuplicate(scope, "The type", name, other.span);
  else scope.types.set(name.text, entry);
}

/** Enters a function or constant that belongs to no type. */
export function claimValue(scope: ModuleScope, symbol: ValueSymbol): void {
  const other = scope.values.get(symbol.name);
  if (other !== undefined) reportDuplicate(scope, "The name", symbol.declaration.name, other.nameSpan);
  else scope.values.set(symbol.name, symbol);
}

/** Enters a function or constant of a type. */
export function claimMember(scope: ModuleScope, owner: string, symbol: ValueSymbol): void {
  let members = scope.members.get(owner);
  if (members === undefined) {
    members = new Map();
    scope.members.set(owner, members);
  }
  const other = members.get(symbol.name);
  if (other !== undefined) {
    reportDuplicate(
      scope,
      `\`${owner}\` already has a member with this name:`,
      symbol.declaration.name,
      other.nameSpan,
    );
  } else members.set(symbol.name, symbol);
}

/** Enters the variants of a union; several unions may have one of the same name. */
export function claimVariants(scope: ModuleScope, variants: readonly VariantDefinition[]): void {
  for (const variant of variants) {
    const others = scope.variants.get(variant.name);
    if (others === undefined) scope.variants.set(variant.name, [variant]);
    else others.push(variant);
  }
}

/** Reports every name that stands twice in a list. */
export function reportDuplicates(
  scope: ModuleScope,
  code: string,
  what: string,
  names: readonly ast.Name[],
): void {
  if (names.length < 2) return;
  const first = new Map<string, ast.Name>();
  for (const name of names) {
    if (name.text === "_") continue;
    const other = first.get(name.text);
    if (other === undefined) first.set(name.text, name);
    else {
      scope.reporter.report(code, name.span, `The ${what} \`${name.text}\` is listed twice.`, {
        labels: [scope.reporter.label(other.span, "the first is here")],
        hint: "Rename or remove one of them.",
      });
    }
  }
}

/** Whether a symbol is the one that its name finds: the second of two of a name is not. */
export function isReachable(scope: ModuleScope, symbol: FunctionSymbol): boolean {
  return symbol.owner === null ? scope.values.get(symbol.name) === symbol : true;
}
