/**
 * What a name refers to, distinguished by identity, and where it is declared.
 *
 * The checker's symbols live as long as the declarations of their module stay the same, so targets of two modules can
 * be compared.
 */
import type { FunctionSymbol, ModuleScope, TypeEntry, ValueSymbol, Variable } from "../check/symbols.ts";
import { wholeDeclaration } from "../check/declare.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import type { Location } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { resolve } from "../types/primitives.ts";
import type {
  InterfaceDefinition,
  Type,
  TypeDefinition,
  TypeParameter,
  VariantDefinition,
} from "../types/type.ts";
import type { SymbolKind } from "./symbol_service.ts";

/** What a name refers to. */
export type Target =
  | { readonly kind: "local"; readonly variable: Variable; readonly file: SourceFile }
  | { readonly kind: "parameter"; readonly symbol: FunctionSymbol; readonly index: number }
  | { readonly kind: "value"; readonly symbol: ValueSymbol }
  | { readonly kind: "type"; readonly entry: TypeEntry; readonly name: string }
  | { readonly kind: "variant"; readonly variant: VariantDefinition }
  | { readonly kind: "field"; readonly definition: TypeDefinition; readonly index: number }
  | { readonly kind: "variant-field"; readonly variant: VariantDefinition; readonly index: number }
  | { readonly kind: "interface-function"; readonly interface: InterfaceDefinition; readonly name: string }
  | {
    readonly kind: "type-parameter";
    readonly parameter: TypeParameter;
    readonly name: ast.Name;
    readonly file: SourceFile;
  }
  | { readonly kind: "module"; readonly path: string }
  /** The name that a `use … as` gives. */
  | { readonly kind: "alias"; readonly path: string; readonly name: ast.Name; readonly file: SourceFile };

const identities = new WeakMap<object, number>();
let nextIdentity = 0;

function identity(thing: object): number {
  let number = identities.get(thing);
  if (number === undefined) {
    number = nextIdentity++;
    identities.set(thing, number);
  }
  return number;
}

/** Equal for equal targets. */
export function targetKey(target: Target): string {
  switch (target.kind) {
    case "local":
      return `local ${identity(target.variable)}`;
    case "parameter":
      return `parameter ${identity(target.symbol)} ${target.index}`;
    case "value":
      return `value ${identity(target.symbol)}`;
    case "type":
      return typeKey(target.entry, target.name);
    case "variant":
      return `variant ${identity(target.variant)}`;
    case "field":
      return `field ${identity(target.definition)} ${target.index}`;
    case "variant-field":
      return `field ${identity(target.variant)} ${target.index}`;
    case "interface-function":
      return `interface ${identity(target.interface)} ${target.name}`;
    case "type-parameter":
      return `type parameter ${identity(target.parameter)}`;
    case "module":
      return `module ${target.path}`;
    case "alias":
      return `alias ${identity(target.file)} ${target.name.span.start}`;
  }
}

function typeKey(entry: TypeEntry, name: string): string {
  if (entry.kind === "definition" || entry.kind === "interface") return `type ${identity(entry.definition)}`;
  return entry.kind === "alias" ? `type ${identity(entry.alias)}` : `type ${name}`;
}

/** The bare name; null for fields without one. */
export function targetName(target: Target): string | null {
  switch (target.kind) {
    case "local":
      return target.variable.name;
    case "parameter":
      return target.symbol.declaration.parameters[target.index]?.name.text ?? null;
    case "value":
      return target.symbol.name;
    case "type":
      return target.name;
    case "variant":
      return target.variant.name;
    case "field":
      return fieldsOf(target.definition)[target.index]?.name ?? null;
    case "variant-field":
      return target.variant.fields[target.index]?.name ?? null;
    case "interface-function":
      return target.name;
    case "type-parameter":
    case "alias":
      return target.name.text;
    case "module":
      return target.path.split(".").at(-1) ?? null;
  }
}

/** Fields of a record; none for other types. */
export function fieldsOf(
  definition: TypeDefinition,
): readonly { readonly name: string | null; readonly type: Type; readonly documentation: string | null }[] {
  return definition.body.kind === "record" ? definition.body.fields : [];
}

/** What kind of thing it is. */
export function targetKind(target: Target): SymbolKind {
  switch (target.kind) {
    case "local":
      return target.variable.kind === "parameter" || target.variable.origin === "parameter"
        ? "parameter"
        : "variable";
    case "parameter":
      return "parameter";
    case "value":
      return target.symbol.kind === "constant" ? "constant" : target.symbol.isMethod ? "method" : "function";
    case "type":
      return entryKind(target.entry);
    case "variant":
      return "variant";
    case "field":
    case "variant-field":
      return "field";
    case "interface-function":
      return "method";
    case "type-parameter":
      return "type_parameter";
    case "module":
    case "alias":
      return "module";
  }
}

function entryKind(entry: TypeEntry): SymbolKind {
  if (entry.kind === "interface") return "interface";
  if (entry.kind !== "definition") return "type";
  const { kind } = entry.definition.body;
  return kind === "builtin" ? "type" : kind;
}

/** The module that declares it; null for what has none. */
export function targetModule(target: Target): string | null {
  switch (target.kind) {
    case "local":
    case "type-parameter":
    case "alias":
      return null;
    case "parameter":
    case "value":
      return target.symbol.scope.name;
    case "type":
      return target.entry.kind === "primitive" || target.entry.kind === "broken"
        ? null
        : target.entry.scope.name;
    case "variant":
      return target.variant.definition.module;
    case "field":
      return target.definition.module;
    case "variant-field":
      return target.variant.definition.module;
    case "interface-function":
      return target.interface.module;
    case "module":
      return target.path;
  }
}

/** The declaration of a type or interface in its module. */
export function typeDeclarationOf(
  graph: ModuleGraph,
  module: string,
  nameSpan: Span,
): ast.TypeDeclaration | ast.InterfaceDeclaration | null {
  for (const declaration of graph.scopes.get(module)?.module.declarations ?? []) {
    const whole = wholeDeclaration(declaration);
    if (whole?.kind !== "type" && whole?.kind !== "interface") continue;
    if (whole.name.span.start === nameSpan.start) return whole;
  }
  return null;
}

/** The variant as it is declared. */
export function variantDeclarationOf(graph: ModuleGraph, variant: VariantDefinition): ast.Variant | null {
  const { module, nameSpan } = variant.definition;
  const declaration = typeDeclarationOf(graph, module, nameSpan);
  if (declaration?.kind !== "type" || declaration.body.kind !== "union") return null;
  return declaration.body.variants[variant.index] ?? null;
}

/** Where it is declared, in the texts that were checked; null for what only the compiler knows. */
export function declarationOf(graph: ModuleGraph, target: Target): Location | null {
  switch (target.kind) {
    case "local":
      return { file: target.file, span: target.variable.span };
    case "parameter": {
      const parameter = target.symbol.declaration.parameters[target.index];
      return parameter === undefined ? null : { file: target.symbol.file, span: parameter.name.span };
    }
    case "value":
      return { file: target.symbol.file, span: target.symbol.nameSpan };
    case "type": {
      const { entry } = target;
      if (entry.kind === "broken") return null;
      if (entry.kind === "primitive") {
        const home = graph.primitiveScopes.get(target.name);
        const declared = home?.module.declarations.find((each) =>
          each.kind === "type" && each.name.text === target.name
        );
        return home === undefined || declared?.kind !== "type"
          ? null
          : { file: home.file, span: declared.name.span };
      }
      return { file: entry.scope.file, span: entry.span };
    }
    case "variant": {
      const declared = variantDeclarationOf(graph, target.variant);
      return declared === null ? null : { file: target.variant.definition.file, span: declared.name.span };
    }
    case "field": {
      const { definition, index } = target;
      const declared = typeDeclarationOf(graph, definition.module, definition.nameSpan);
      const field = declared?.kind === "type" && declared.body.kind === "record"
        ? declared.body.fields[index]
        : undefined;
      return field === undefined ? null : { file: definition.file, span: field.name.span };
    }
    case "variant-field": {
      const field = variantDeclarationOf(graph, target.variant)?.fields[target.index];
      return field === undefined
        ? null
        : { file: target.variant.definition.file, span: field.name?.span ?? field.span };
    }
    case "interface-function": {
      const { module, nameSpan, file } = target.interface;
      const declared = typeDeclarationOf(graph, module, nameSpan);
      const found = declared?.kind === "interface"
        ? declared.functions.find((each) => each.name.text === target.name)
        : undefined;
      return found === undefined ? null : { file, span: found.name.span };
    }
    case "type-parameter":
    case "alias":
      return { file: target.file, span: target.name.span };
    case "module": {
      const scope = graph.scopes.get(target.path);
      return scope === undefined ? null : { file: scope.file, span: { start: 0, end: 0 } };
    }
  }
}

/** Whether the library declares it. */
export function isOfLibrary(graph: ModuleGraph, target: Target): boolean {
  if (target.kind === "type" && target.entry.kind === "primitive") return true;
  const module = targetModule(target);
  return module !== null && graph.scopes.get(module)?.isLibrary === true;
}

/** The type that a target's values have; null for modules and types. */
export function targetType(target: Target): Type | null {
  switch (target.kind) {
    case "local":
      return target.variable.type;
    case "parameter":
      return target.symbol.parameters[target.index]?.type ?? null;
    case "value":
      return target.symbol.kind === "constant" ? target.symbol.type : {
        kind: "function",
        parameters: target.symbol.parameters.map(({ kind, type }) => ({ isInout: kind === "inout", type })),
        result: target.symbol.result,
      };
    case "variant": {
      const { definition, fields } = target.variant;
      const own: Type = {
        kind: "named",
        definition,
        arguments: definition.typeParameters.map((parameter) => ({ kind: "parameter", parameter })),
      };
      return fields.length === 0 ? own : {
        kind: "function",
        parameters: fields.map(({ type }) => ({ isInout: false, type })),
        result: own,
      };
    }
    case "field":
      return fieldsOf(target.definition)[target.index]?.type ?? null;
    case "variant-field":
      return target.variant.fields[target.index]?.type ?? null;
    case "interface-function": {
      const found = target.interface.functions.find((each) => each.name === target.name);
      return found === undefined ? null : {
        kind: "function",
        parameters: found.parameters.map(({ isInout, type }) => ({ isInout, type })),
        result: found.result,
      };
    }
    default:
      return null;
  }
}

/** The declaration of a type, as a target; null for tuples, functions and what is not known. */
export function targetOfType(graph: ModuleGraph, type: Type, scope: ModuleScope): Target | null {
  const at = resolve(type);
  if (at.kind === "primitive") {
    const entry = graph.coreType(at.name);
    return entry === null ? null : { kind: "type", entry, name: at.name };
  }
  if (at.kind !== "named") return null;
  const { definition } = at;
  const home = graph.scopes.get(definition.module) ?? scope;
  const entry = home.types.get(definition.name);
  return entry === undefined ? null : { kind: "type", entry, name: definition.name };
}
