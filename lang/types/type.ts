/**
 * Types as the checker has worked them out, shared by the typed tree, the interpreter and the back end.
 *
 * Named types refer to their definition, so two types of one name in two modules differ. Definitions are filled in
 * after they are made, because types may contain one another; after checking nothing changes. Variables exist during
 * inference only.
 */
import type { SourceFile, Span } from "../source/source_file.ts";

/** Types without parts. `Never` is the type of what does not return. */
export type PrimitiveName =
  | "Bool"
  | "Int"
  | "Int64"
  | "Float"
  | "F32"
  | "Char"
  | "String"
  | "Bytes"
  | "Never";

/** A type. The empty tuple is `()`. */
export type Type =
  | { readonly kind: "primitive"; readonly name: PrimitiveName }
  | { readonly kind: "tuple"; readonly elements: readonly Type[] }
  | { readonly kind: "named"; readonly definition: TypeDefinition; readonly arguments: readonly Type[] }
  | {
    readonly kind: "function";
    readonly parameters: readonly FunctionTypeParameter[];
    readonly result: Type;
  }
  | { readonly kind: "parameter"; readonly parameter: TypeParameter }
  | TypeVariable;

/** What a function type says of one parameter. */
export interface FunctionTypeParameter {
  readonly isInout: boolean;
  readonly type: Type;
}

/** A type that is not known yet; only the checker meets one. */
export interface TypeVariable {
  readonly kind: "variable";
  readonly id: number;
  /** Literals fit several types: integers `Int` and `Int64`, floats `Float` and `F32`. */
  literal: "integer" | "float" | null;
  /** What it turned out to be. */
  link: Type | null;
}

/** `T` of a generic declaration, distinguished by identity. */
export interface TypeParameter {
  readonly name: string;
  readonly bounds: readonly InterfaceDefinition[];
}

/** What every definition knows of its place. */
export interface DefinitionPlace {
  /** The module's name, such as `fx.particles`; the library's begin with `std.` or are `web.canvas` and the like. */
  readonly module: string;
  readonly file: SourceFile;
  readonly nameSpan: Span;
}

/** A record, a union, or a type of the library that the compiler knows: `List[T]`. */
export interface TypeDefinition extends DefinitionPlace {
  readonly name: string;
  readonly isPublic: boolean;
  readonly documentation: string | null;
  readonly typeParameters: readonly TypeParameter[];
  body:
    | { readonly kind: "record"; readonly fields: readonly FieldDefinition[] }
    | { readonly kind: "union"; readonly variants: readonly VariantDefinition[] }
    | { readonly kind: "builtin" };
}

/** A field of a record or variant; variants' fields may lack a name. */
export interface FieldDefinition {
  readonly name: string | null;
  readonly type: Type;
  readonly documentation: string | null;
}

/** A variant; `index` is its tag. */
export interface VariantDefinition {
  readonly name: string;
  readonly index: number;
  readonly fields: readonly FieldDefinition[];
  readonly definition: TypeDefinition;
  readonly documentation: string | null;
}

/** What a type parameter may be asked to have. */
export interface InterfaceDefinition extends DefinitionPlace {
  readonly name: string;
  readonly isPublic: boolean;
  readonly documentation: string | null;
  /** `Eq`, `Ord`, `Hash` and `Show` are derived. */
  readonly derived: DerivedInterface | null;
  readonly functions: readonly InterfaceFunction[];
  /** `Self` in the signatures. */
  readonly self: TypeParameter;
}

/** Interfaces that types have by themselves. */
export type DerivedInterface = "Eq" | "Ord" | "Hash" | "Show";

/** One function of an interface; `self` is its first parameter when it is a method. */
export interface InterfaceFunction {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly isInout: boolean; readonly type: Type }[];
  readonly result: Type;
  readonly effects: readonly Effect[];
}

/** What a function may do to the world; the names of imports. */
export type Effect = "Draw" | "Audio" | "Input" | "Log" | "Random" | "Time" | "Store" | "Net";

/** All effects in their order of printing. */
export const EFFECTS: readonly Effect[] = ["Draw", "Audio", "Input", "Log", "Random", "Time", "Store", "Net"];
