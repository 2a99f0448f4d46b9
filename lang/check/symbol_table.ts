/**
 * What stands where, for editors: the definition that each name refers to, and the type of each expression.
 *
 * Kept beside the typed tree only when somebody asks for it.
 */
import type { Span } from "../source/source_file.ts";
import type { InterfaceDefinition, Type, TypeDefinition, VariantDefinition } from "../types/type.ts";
import type { ValueSymbol, Variable } from "./symbols.ts";

/** What a name may refer to. */
export type SymbolTarget =
  | Variable
  | ValueSymbol
  | VariantDefinition
  | TypeDefinition
  | { readonly kind: "field"; readonly definition: TypeDefinition; readonly index: number }
  | { readonly kind: "interface-function"; readonly interface: InterfaceDefinition; readonly name: string };

/** Definitions, references and types of one module. */
export class SymbolTable {
  readonly definitions: { readonly span: Span; readonly target: SymbolTarget }[] = [];
  readonly references: { readonly span: Span; readonly target: SymbolTarget }[] = [];
  readonly types: { readonly span: Span; readonly type: Type }[] = [];
  /** The types that are wanted where expressions stand, by their starts. */
  readonly wanted = new Map<number, Type>();

  /** Notes where something is defined. */
  define(span: Span, target: SymbolTarget): void {
    this.definitions.push({ span, target });
  }

  /** Notes where something is used. */
  refer(span: Span, target: SymbolTarget): void {
    this.references.push({ span, target });
  }

  /** The innermost reference or definition that holds an offset. */
  targetAt(offset: number): SymbolTarget | null {
    let best: { readonly span: Span; readonly target: SymbolTarget } | null = null;
    for (const each of [...this.references, ...this.definitions]) {
      if (each.span.start > offset || each.span.end < offset) continue;
      if (best === null || each.span.end - each.span.start <= best.span.end - best.span.start) best = each;
    }
    return best?.target ?? null;
  }
}
