/**
 * What names stand for while a package is checked.
 *
 * Symbols are what the typed tree refers to: a {@link FunctionSymbol} is the `TypedFunction` that others see. They
 * live as long as their module's declarations stay the same; a changed body replaces what is in them. The body of a
 * function of the library is checked when somebody first asks for it, so that a program pays for what it uses.
 */
import type * as ast from "../syntax/ast.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Expression, Local, TypedConstant, TypedFunction } from "../typed/tree.ts";
import { ERROR_TYPE } from "../types/primitives.ts";
import type {
  Effect,
  InterfaceDefinition,
  Type,
  TypeDefinition,
  TypeParameter,
  VariantDefinition,
} from "../types/type.ts";
import type { Reporter } from "./report.ts";

/** A variable, parameter or name of a pattern, with what the checker notes of it. */
export class Variable implements Local {
  readonly id: number;
  readonly name: string;
  type: Type;
  readonly kind: Local["kind"];
  readonly span: Span;
  /** How many closures are around its definition. */
  readonly depth: number;
  /** What it was made by, for messages. */
  readonly origin: "let" | "var" | "pattern" | "parameter" | "loop" | "counter" | "self" | "compiler";
  readCount = 0;
  writeCount = 0;
  /** Whether a record's pattern names it by the field alone. */
  isShorthand = false;
  /** Whether it has been told that it cannot be changed; the next change is the same error. */
  isToldFixed = false;

  constructor(
    options: {
      readonly id: number;
      readonly name: string;
      readonly type: Type;
      readonly kind: Local["kind"];
      readonly span: Span;
      readonly depth: number;
      readonly origin: Variable["origin"];
    },
  ) {
    this.id = options.id;
    this.name = options.name;
    this.type = options.type;
    this.kind = options.kind;
    this.span = options.span;
    this.depth = options.depth;
    this.origin = options.origin;
  }
}

/** Why a function has an effect: the place that brings it in, and through whom. */
export interface EffectCause {
  readonly span: Span;
  readonly through: string;
}

/** What a body does outside of itself, and through which calls. */
export class EffectSources {
  /** Effects of functions whose effects are known, with the first place of each. */
  readonly direct = new Map<Effect, EffectCause>();
  /** Functions of the same module whose effects are inferred. */
  readonly calls = new Map<FunctionSymbol, Span>();
  /** Constants that are read; they matter for cycles. */
  readonly constants = new Map<ConstantSymbol, Span>();
  /** All functions that are called or named. */
  readonly functions = new Map<FunctionSymbol, Span>();
}

/** A parameter of something that is called. */
export interface SignatureParameter {
  readonly name: string | null;
  readonly isInout: boolean;
  readonly type: Type;
}

function signatureOf(parameters: readonly Variable[]): readonly SignatureParameter[] {
  return parameters.map((each) => ({ name: each.name, isInout: each.kind === "inout", type: each.type }));
}

/** A function or method. */
export class FunctionSymbol implements TypedFunction {
  readonly kind = "function";
  readonly id: string;
  readonly owner: string | null;
  readonly name: string;
  /** `Ball.move`, or the bare name. */
  readonly displayName: string;
  readonly scope: ModuleScope;
  declaration: ast.FunctionDeclaration;
  typeParameters: TypeParameter[] = [];
  #parameters: Variable[] = [];
  #signature: readonly SignatureParameter[] | null = null;
  result: Type = ERROR_TYPE;
  /** Whether the result is written, or `()` because a `pub fn` writes none. */
  isResultKnown = true;
  /** Whether all types of parameters are written. */
  areParametersKnown = true;
  /** The effects that are written; null when they are inferred. */
  declaredEffects: readonly Effect[] | null = null;
  effects: ReadonlySet<Effect> = new Set();
  readonly sources = new EffectSources();
  isUsed = false;
  /** Whether its declaration could not be parsed and stands for the repaired one. */
  readonly isBroken: boolean;
  bodyState: "unchecked" | "checking" | "checked" = "unchecked";
  /** Checks the body when it is asked for. */
  checkBody: (() => void) | null = null;
  #body: Expression | null = null;

  constructor(scope: ModuleScope, declaration: ast.FunctionDeclaration, isBroken = false) {
    this.scope = scope;
    this.declaration = declaration;
    this.owner = declaration.owner?.text ?? null;
    this.name = declaration.name.text;
    this.displayName = this.owner === null ? this.name : `${this.owner}.${this.name}`;
    this.id = [scope.name, ...(this.owner === null ? [] : [this.owner]), this.name].join(".");
    this.isBroken = isBroken;
  }

  get parameters(): Variable[] {
    return this.#parameters;
  }
  set parameters(parameters: Variable[]) {
    this.#parameters = parameters;
    this.#signature = null;
  }
  /** The parameters as calls see them, made once. Types that are inferred are read anew each time. */
  get signature(): readonly SignatureParameter[] {
    if (!this.areParametersKnown) return signatureOf(this.#parameters);
    this.#signature ??= signatureOf(this.#parameters);
    return this.#signature;
  }
  get module(): string {
    return this.scope.name;
  }
  get file(): SourceFile {
    return this.scope.file;
  }
  get nameSpan(): Span {
    return this.declaration.name.span;
  }
  get isPublic(): boolean {
    return this.declaration.isPublic;
  }
  get documentation(): string | null {
    return this.declaration.documentation?.text ?? null;
  }
  get linkage(): TypedFunction["linkage"] {
    const linkage = this.declaration.linkage;
    return linkage.kind === "interface" ? { kind: "body" } : linkage;
  }
  get body(): Expression | null {
    if (this.bodyState === "unchecked") this.checkBody?.();
    return this.#body;
  }
  set body(body: Expression | null) {
    this.#body = body;
  }

  /** Whether the first parameter is `self`. */
  get isMethod(): boolean {
    return this.owner !== null && this.parameters[0]?.name === "self";
  }
}

/** A constant. */
export class ConstantSymbol implements TypedConstant {
  readonly kind = "constant";
  readonly id: string;
  readonly owner: string | null;
  readonly name: string;
  /** `Ball.move`, or the bare name. */
  readonly displayName: string;
  readonly scope: ModuleScope;
  declaration: ast.ConstantDeclaration;
  type: Type = ERROR_TYPE;
  isTypeKnown = true;
  isUsed = false;
  readonly sources = new EffectSources();
  valueState: "unchecked" | "checking" | "checked" = "unchecked";
  checkValue: (() => void) | null = null;
  #value: Expression | null = null;

  constructor(scope: ModuleScope, declaration: ast.ConstantDeclaration) {
    this.scope = scope;
    this.declaration = declaration;
    this.owner = declaration.owner?.text ?? null;
    this.name = declaration.name.text;
    this.displayName = this.owner === null ? this.name : `${this.owner}.${this.name}`;
    this.id = [scope.name, ...(this.owner === null ? [] : [this.owner]), this.name].join(".");
  }

  get file(): SourceFile {
    return this.scope.file;
  }
  get nameSpan(): Span {
    return this.declaration.name.span;
  }
  get isPublic(): boolean {
    return this.declaration.isPublic;
  }
  get documentation(): string | null {
    return this.declaration.documentation?.text ?? null;
  }
  get value(): Expression {
    if (this.valueState === "unchecked") this.checkValue?.();
    return this.#value ?? { kind: "tuple", span: this.nameSpan, type: ERROR_TYPE, elements: [] };
  }
  set value(value: Expression) {
    this.#value = value;
  }
}

/** Another name for a type. */
export interface AliasSymbol {
  readonly name: ast.Name;
  readonly declaration: ast.TypeDeclaration;
  typeParameters: TypeParameter[];
  type: Type;
  state: "unresolved" | "resolving" | "resolved";
}

/** What a capitalized name stands for among types. */
export type TypeEntry =
  & { readonly isPublic: boolean; readonly scope: ModuleScope; readonly span: Span }
  & (
    | { readonly kind: "definition"; readonly definition: TypeDefinition }
    | { readonly kind: "primitive"; readonly type: Type; readonly name: string }
    | { readonly kind: "alias"; readonly alias: AliasSymbol }
    | { readonly kind: "interface"; readonly definition: InterfaceDefinition }
    | { readonly kind: "broken" }
  );

/** What a small name at the top of a module stands for. */
export type ValueSymbol = FunctionSymbol | ConstantSymbol;

/** One `use`. */
export interface ImportSymbol {
  readonly declaration: ast.UseDeclaration;
  readonly alias: string;
  readonly path: string;
  /** Null when there is no such module. */
  readonly scope: ModuleScope | null;
  isUsed: boolean;
}

/** A type's own function that stands for one of an interface. */
export interface Fitting {
  readonly function: FunctionSymbol;
  readonly interface: InterfaceDefinition;
  readonly span: Span;
}

/** What one module declares and imports. */
export class ModuleScope {
  readonly name: string;
  readonly isLibrary: boolean;
  file: SourceFile;
  module: ast.Module;
  reporter: Reporter;
  readonly types = new Map<string, TypeEntry>();
  readonly variants = new Map<string, VariantDefinition[]>();
  readonly values = new Map<string, ValueSymbol>();
  /** Functions and constants of types, by the type's name. */
  readonly members = new Map<string, Map<string, ValueSymbol>>();
  readonly imports = new Map<string, ImportSymbol>();
  /** Names whose declarations are broken: their uses are not reported. */
  readonly brokenNames = new Set<string>();
  /** Whether a declaration is so broken that not even its name is known: any name may be its. */
  hasNameless = false;
  /** Where types were held to interfaces by functions of their own; the effects of these are compared in the end. */
  readonly fittings: Fitting[] = [];
  readonly functions: FunctionSymbol[] = [];
  readonly constants: ConstantSymbol[] = [];
  /** Whether the module is one of a package that is used: its warnings, tests and examples are its author's matter. */
  isDependency = false;
  /** The module that a path of `use` names: in a package, `use noise` may be the module `fx.noise`. */
  link: (path: string) => string = (path) => path;
  /** The package whose module of that path is hidden by one of this package; null when there is none. */
  hidden: (path: string) => string | null = () => null;

  constructor(name: string, isLibrary: boolean, module: ast.Module, reporter: Reporter) {
    this.name = name;
    this.isLibrary = isLibrary;
    this.module = module;
    this.file = module.file;
    this.reporter = reporter;
  }
}
