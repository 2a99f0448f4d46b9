/**
 * All modules that are being checked together, and how names at the top of modules are found.
 *
 * The core modules of the library are in scope everywhere: their public types, the variants of these, and the
 * functions of `std.prelude`. A module's own names come before those it imports, and these before the core's.
 */
import type * as ast from "../syntax/ast.ts";
import { PRIMITIVES, resolve } from "../types/primitives.ts";
import type { InterfaceDefinition, Type, TypeDefinition, VariantDefinition } from "../types/type.ts";
import type { ImportSymbol, ModuleScope, TypeEntry, ValueSymbol } from "./symbols.ts";

/** What was found for a name, and through which imports. */
export interface Candidate<T> {
  readonly item: T;
  readonly through: ImportSymbol | null;
}

/** The modules of the library; each is parsed when it is needed. */
export interface LibrarySource {
  readonly names: readonly string[];
  /** Whether what it exports is in scope everywhere. */
  isPrelude(name: string): boolean;
  /** Whether only the library may import it. */
  isInternal(name: string): boolean;
  /** The module, the same object each time; null when there is none. */
  module(name: string): ast.Module | null;
  /** Its tests and properties, which the module does not have among its declarations. */
  tests(name: string): readonly ast.Declaration[];
}

/** The modules by name, and what of them is in scope everywhere. */
export class ModuleGraph {
  /** What may be imported, whether it has been or not. */
  readonly library: LibrarySource | null;
  readonly scopes = new Map<string, ModuleScope>();
  /** The core modules that there are. */
  readonly core: ModuleScope[] = [];
  /** Methods of primitive types are in the module that declares them. */
  readonly primitiveScopes = new Map<string, ModuleScope>();
  /** Types that hold larger types of themselves, which has been told; nothing is asked of their parts. */
  readonly endlessTypes = new WeakSet<TypeDefinition>();
  readonly #coreTypes = new Map<string, TypeEntry | null>();
  readonly #coreVariants = new Map<string, readonly VariantDefinition[]>();

  constructor(library: LibrarySource | null = null) {
    this.library = library;
  }

  /** Types of that name that a module sees without qualification; several when it is ambiguous. */
  typesNamed(scope: ModuleScope, name: string): readonly Candidate<TypeEntry>[] {
    const own = scope.types.get(name);
    if (own !== undefined) return [{ item: own, through: null }];
    const found: Candidate<TypeEntry>[] = [];
    for (const through of scope.imports.values()) {
      const item = through.scope?.types.get(name);
      if (item?.isPublic && !found.some((other) => other.item === item)) found.push({ item, through });
    }
    if (found.length > 0) return found;
    const core = this.coreType(name);
    return core === null ? [] : [{ item: core, through: null }];
  }

  /** The type that a core module exports. */
  coreType(name: string): TypeEntry | null {
    const known = this.#coreTypes.get(name);
    if (known !== undefined) return known;
    let entry: TypeEntry | null = null;
    for (const scope of this.core) {
      const item = scope.types.get(name);
      if (item?.isPublic) entry = item;
    }
    const primitive = PRIMITIVES.get(name);
    const any = this.core[0];
    if (entry === null && primitive !== undefined && any !== undefined) {
      entry = {
        kind: "primitive",
        name,
        type: primitive,
        isPublic: true,
        scope: any,
        span: { start: 0, end: 0 },
      };
    }
    this.#coreTypes.set(name, entry);
    return entry;
  }

  /** Variants of that name that a module sees without qualification. */
  variantsNamed(scope: ModuleScope, name: string): readonly Candidate<VariantDefinition>[] {
    const own = scope.variants.get(name);
    if (own !== undefined) return own.map((item) => ({ item, through: null }));
    const found: Candidate<VariantDefinition>[] = [];
    for (const through of scope.imports.values()) {
      for (const item of through.scope?.variants.get(name) ?? []) {
        if (item.definition.isPublic && !found.some((other) => other.item === item)) {
          found.push({ item, through });
        }
      }
    }
    if (found.length > 0) return found;
    return this.#coreVariantsNamed(name).map((item) => ({ item, through: null }));
  }

  #coreVariantsNamed(name: string): readonly VariantDefinition[] {
    let variants = this.#coreVariants.get(name);
    if (variants === undefined) {
      variants = this.core.flatMap((scope) =>
        (scope.variants.get(name) ?? []).filter((variant) => variant.definition.isPublic)
      );
      this.#coreVariants.set(name, variants);
    }
    return variants;
  }

  /** A function or constant that a module sees without qualification. */
  valueNamed(scope: ModuleScope, name: string): ValueSymbol | null {
    const own = scope.values.get(name);
    if (own !== undefined) return own;
    const prelude = this.scopes.get("std.prelude")?.values.get(name);
    return prelude?.isPublic ? prelude : null;
  }

  /** Functions and constants of a type, or null for types that have none. */
  membersOf(type: Type): ReadonlyMap<string, ValueSymbol> | null {
    const at = resolve(type);
    if (at.kind === "named") return this.membersOfDefinition(at.definition);
    if (at.kind === "primitive") return this.primitiveScopes.get(at.name)?.members.get(at.name) ?? null;
    if (at.kind === "variable" && at.literal !== null) {
      const name = at.literal === "integer" ? "Int" : "Float";
      return this.primitiveScopes.get(name)?.members.get(name) ?? null;
    }
    return null;
  }

  /** Functions and constants of a record, union or type of the library. */
  membersOfDefinition(definition: TypeDefinition): ReadonlyMap<string, ValueSymbol> | null {
    return this.scopes.get(definition.module)?.members.get(definition.name) ?? null;
  }

  /** Functions and constants of what a name stands for among types. */
  membersOfEntry(entry: TypeEntry): ReadonlyMap<string, ValueSymbol> | null {
    switch (entry.kind) {
      case "definition":
        return this.membersOfDefinition(entry.definition);
      case "primitive":
        return this.primitiveScopes.get(entry.name)?.members.get(entry.name) ?? null;
      case "alias":
        return this.membersOf(entry.alias.type);
      default:
        return null;
    }
  }

  /** A definition of the core by name, for what the compiler itself puts in. */
  coreDefinition(name: string): TypeDefinition | null {
    const entry = this.coreType(name);
    return entry?.kind === "definition" ? entry.definition : null;
  }

  /** An interface of the core by name: `Eq`, `Ord`, `Hash`, `Show`. */
  coreInterface(name: string): InterfaceDefinition | null {
    const entry = this.coreType(name);
    return entry?.kind === "interface" ? entry.definition : null;
  }

  /** A core type with its arguments, such as `Option[Int]`; null when the library has none of that name. */
  coreNamed(name: string, ...types: readonly Type[]): Type | null {
    const definition = this.coreDefinition(name);
    return definition === null ? null : { kind: "named", definition, arguments: types };
  }

  /** Whether a type is a core type of that name. */
  isCore(type: Type, name: string): boolean {
    return type.kind === "named" && type.definition.name === name &&
      type.definition === this.coreDefinition(name);
  }
}
