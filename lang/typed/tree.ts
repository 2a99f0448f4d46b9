/**
 * The typed tree: what the checker hands to the back end and to the interpreter.
 *
 * Every name is resolved, every expression has its type, sugar is gone: methods are calls, `for` over anything but
 * ranges and lists is a loop over `next`, `map[key]` is a call, `if let` is a `match`. Generic functions stand once,
 * with their type parameters; who runs them puts types in (a {@link Callee} of kind `interface` is then looked up
 * with {@link TypedProgram.method}). Only programs without errors have a typed tree.
 *
 * Order of evaluation is left to right: arguments, then the call; in an assignment the indexes of the place, then the
 * value, then the store. `inout` arguments are places whose indexes are evaluated in their turn. Exclusivity has been
 * checked: writing through the place at once and writing back after the call are the same. A value argument may have
 * been read from within a place that is passed as `inout` to the same call (`list.push(list[0])`): it is a copy from
 * before the call.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type {
  Effect,
  InterfaceDefinition,
  Type,
  TypeDefinition,
  TypeParameter,
  VariantDefinition,
} from "../types/type.ts";

/** A package with everything that it uses, checked. */
export interface TypedProgram {
  /** Imports before importers; modules of the library first. */
  readonly modules: readonly TypedModule[];
  /** The module of `src/main.lang`, or null in a package without one. */
  readonly root: TypedModule | null;
  /**
   * The function that a type has for an interface's function, or null where it is derived. `type` has no parameters
   * or variables.
   */
  method(type: Type, interfaceDefinition: InterfaceDefinition, name: string): MethodChoice | null;
  /** Functions of the library by id (`std.list.List.push`), for those whom the compiler calls by itself. */
  libraryFunction(id: string): TypedFunction;
  /** Types of the library that the compiler knows: `List`, `Option`, `Range` and the like. */
  libraryType(name: string): TypeDefinition;
}

/** A function and the types to put in for its parameters. */
export interface MethodChoice {
  readonly function: TypedFunction;
  readonly typeArguments: readonly Type[];
}

/** One checked module. */
export interface TypedModule {
  readonly name: string;
  readonly file: SourceFile;
  readonly isLibrary: boolean;
  readonly types: readonly TypeDefinition[];
  readonly interfaces: readonly InterfaceDefinition[];
  readonly functions: readonly TypedFunction[];
  readonly constants: readonly TypedConstant[];
  readonly tests: readonly TypedTest[];
}

/** A function or method. */
export interface TypedFunction {
  /** `module.name` or `module.Type.name`; unique in the program. */
  readonly id: string;
  readonly module: string;
  /** The type before the dot, or null. */
  readonly owner: string | null;
  readonly name: string;
  readonly file: SourceFile;
  readonly nameSpan: Span;
  readonly isPublic: boolean;
  readonly documentation: string | null;
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Local[];
  readonly result: Type;
  /** Those of all that it may call. */
  readonly effects: ReadonlySet<Effect>;
  readonly linkage: { readonly kind: "body" } | { readonly kind: "intrinsic" } | {
    readonly kind: "extern";
    /** The WebAssembly import's module; its name is the function's. */
    readonly module: string;
  };
  /** Null for intrinsics and externs. */
  readonly body: Expression | null;
}

/** A constant; its value uses nothing but other constants, literals, constructors and pure functions. */
export interface TypedConstant {
  /** `module.name` or `module.Type.name`. */
  readonly id: string;
  readonly file: SourceFile;
  readonly nameSpan: Span;
  readonly isPublic: boolean;
  readonly documentation: string | null;
  readonly type: Type;
  readonly value: Expression;
}

/** A test, property, doc example or eval; what is run is a function of no parameters, or of the property's. */
export interface TypedTest {
  readonly kind: "test" | "property" | "example" | "eval";
  readonly name: string;
  readonly file: SourceFile;
  readonly span: Span;
  readonly parameters: readonly Local[];
  /** Body of a test; `()`. For an eval null. */
  readonly body: Expression | null;
  /** Of an eval: its cases, whose scores are `Bool` or `Float`. */
  readonly cases: readonly { readonly name: string; readonly span: Span; readonly score: Expression }[];
  readonly threshold: Expression | null;
}

/** A variable, parameter or name of a pattern, distinguished by identity. */
export interface Local {
  /** Unique in its function or test. */
  readonly id: number;
  readonly name: string;
  readonly type: Type;
  readonly kind: "let" | "var" | "parameter" | "inout";
  readonly span: Span;
}

interface Node {
  readonly span: Span;
  readonly type: Type;
}

/** What is called. */
export type Callee =
  | { readonly kind: "function"; readonly function: TypedFunction; readonly typeArguments: readonly Type[] }
  | {
    /**
     * A function that `self` has because of an interface: a type parameter by its bound, another type because it is
     * derived.
     */
    readonly kind: "interface";
    readonly interface: InterfaceDefinition;
    readonly name: string;
    readonly self: Type;
  }
  | { readonly kind: "value"; readonly expression: Expression };

/** An argument: a value, or a place for `inout`. */
export type Argument =
  | { readonly kind: "value"; readonly value: Expression }
  | { readonly kind: "inout"; readonly place: Place };

/**
 * Operators of arithmetic; both sides and the result have the type of the node, a primitive number (for `+` also
 * `String` or a list).
 */
export type ArithmeticOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "+%"
  | "-%"
  | "*%"
  | "&"
  | "|"
  | "^"
  /** The count on the right is an `Int`, also for `Int64`. */
  | "<<"
  | ">>";

/** An expression. */
export type Expression =
  | Node & { readonly kind: "integer"; readonly value: bigint }
  | Node & { readonly kind: "float"; readonly value: number }
  | Node & { readonly kind: "boolean"; readonly value: boolean }
  | Node & { readonly kind: "character"; readonly codePoint: number }
  | Node & { readonly kind: "string"; readonly value: string }
  /** A text with expressions; each part is a `String` or shown by its type's `Show`. */
  | Node & { readonly kind: "interpolation"; readonly parts: readonly (string | Expression)[] }
  | Node & { readonly kind: "local"; readonly local: Local }
  | Node & { readonly kind: "constant"; readonly constant: TypedConstant }
  /** A function as a value; never one with `inout self` of a temporary. */
  | Node & { readonly kind: "function"; readonly callee: Exclude<Callee, { kind: "value" }> }
  | Node & { readonly kind: "call"; readonly callee: Callee; readonly arguments: readonly Argument[] }
  | Node & { readonly kind: "tuple"; readonly elements: readonly Expression[] }
  | Node & { readonly kind: "list"; readonly elements: readonly Expression[] }
  /** Fields in the order of the definition; `order` is that in which they were written, in which they are evaluated. */
  | Node & {
    readonly kind: "record";
    readonly fields: readonly Expression[];
    readonly order: readonly number[];
  }
  /** The base is evaluated first. */
  | Node & {
    readonly kind: "update";
    readonly base: Expression;
    readonly fields: readonly { readonly index: number; readonly value: Expression }[];
  }
  | Node & {
    readonly kind: "variant";
    readonly variant: VariantDefinition;
    readonly fields: readonly Expression[];
    readonly order: readonly number[];
  }
  /** A field of a record or part of a tuple. */
  | Node & { readonly kind: "field"; readonly target: Expression; readonly index: number }
  /** An element of a list; traps outside of it. */
  | Node & { readonly kind: "element"; readonly target: Expression; readonly index: Expression }
  | Node & { readonly kind: "negate"; readonly operand: Expression }
  | Node & { readonly kind: "not"; readonly operand: Expression }
  | Node & {
    readonly kind: "arithmetic";
    readonly operator: ArithmeticOperator;
    readonly left: Expression;
    readonly right: Expression;
  }
  /** Numbers, texts, or anything that has `Eq` or `Ord`. */
  | Node & {
    readonly kind: "compare";
    readonly operator: "==" | "!=" | "<" | "<=" | ">" | ">=";
    readonly left: Expression;
    readonly right: Expression;
  }
  | Node & { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | Node & {
    readonly kind: "block";
    readonly statements: readonly Statement[];
    readonly result: Expression | null;
  }
  | Node & {
    readonly kind: "if";
    readonly condition: Expression;
    readonly then: Expression;
    /** Null when there is none; the type is then `()`. */
    readonly otherwise: Expression | null;
  }
  /** Exhaustive. */
  | Node & { readonly kind: "match"; readonly subject: Expression; readonly arms: readonly MatchArm[] }
  | Node & {
    readonly kind: "closure";
    readonly parameters: readonly Local[];
    readonly body: Expression;
    /**
     * Locals of the function around it that it copies when it is made. Inside, they are the same `Local`s and never
     * written.
     */
    readonly captures: readonly Local[];
  }
  /** `e?` on an `Option` or `Result`; what stands in the way is returned from the function or closure around it. */
  | Node & { readonly kind: "propagate"; readonly target: Expression; readonly returns: Type }
  | Node & { readonly kind: "return"; readonly value: Expression | null }
  | Node & { readonly kind: "break" | "continue" }
  /** `expect(condition)`: fails the test; comparisons show both sides. Outside tests it traps. */
  | Node & { readonly kind: "expect"; readonly condition: Expression; readonly source: string }
  /** `expect_snapshot(value, "…")`. */
  | Node & {
    readonly kind: "snapshot";
    readonly value: Expression;
    readonly expected: string;
    readonly expectedSpan: Span;
  }
  /** `panic(text)`. */
  | Node & { readonly kind: "panic"; readonly message: Expression };

/** One arm; names of its pattern are {@link Local}s. */
export interface MatchArm {
  readonly pattern: Pattern;
  readonly guard: Expression | null;
  readonly body: Expression;
}

/** A statement. */
export type Statement =
  /** The pattern always fits. */
  | { readonly kind: "let"; readonly span: Span; readonly pattern: Pattern; readonly value: Expression }
  /** `otherwise` never returns. */
  | {
    readonly kind: "let-else";
    readonly span: Span;
    readonly pattern: Pattern;
    readonly value: Expression;
    readonly otherwise: Expression;
  }
  | { readonly kind: "var"; readonly span: Span; readonly local: Local; readonly value: Expression }
  | {
    readonly kind: "assign";
    readonly span: Span;
    readonly place: Place;
    /** `+=` and the like: reads the place, then stores; the place is evaluated once. */
    readonly operator: ArithmeticOperator | null;
    readonly value: Expression;
  }
  | { readonly kind: "while"; readonly span: Span; readonly condition: Expression; readonly body: Expression }
  | {
    readonly kind: "for-range";
    readonly span: Span;
    readonly local: Local;
    readonly start: Expression;
    readonly end: Expression;
    readonly isInclusive: boolean;
    readonly body: Expression;
  }
  | {
    readonly kind: "for-list";
    readonly span: Span;
    readonly pattern: Pattern;
    readonly list: Expression;
    readonly body: Expression;
  }
  /** The local is the element itself; the place is a list, held exclusively. */
  | {
    readonly kind: "for-inout";
    readonly span: Span;
    readonly local: Local;
    readonly list: Place;
    readonly body: Expression;
  }
  | { readonly kind: "expression"; readonly span: Span; readonly expression: Expression };

/** Something that can be written. */
export type Place =
  | { readonly kind: "local"; readonly span: Span; readonly type: Type; readonly local: Local }
  | {
    readonly kind: "field";
    readonly span: Span;
    readonly type: Type;
    readonly target: Place;
    readonly index: number;
  }
  /**
   * `target` is a list; traps outside of it. The index may be a call that takes the target's owner `inout` (slots of
   * maps and pools).
   */
  | {
    readonly kind: "element";
    readonly span: Span;
    readonly type: Type;
    readonly target: Place;
    readonly index: Expression;
  };

/** A pattern; matching binds copies. */
export type Pattern =
  | { readonly kind: "wildcard"; readonly span: Span; readonly type: Type }
  | { readonly kind: "binding"; readonly span: Span; readonly type: Type; readonly local: Local }
  /** Integers of `Int` and `Int64` and code points are bigints. */
  | {
    readonly kind: "literal";
    readonly span: Span;
    readonly type: Type;
    readonly value: bigint | number | boolean | string;
  }
  | {
    readonly kind: "range";
    readonly span: Span;
    readonly type: Type;
    readonly start: bigint;
    /** Included. */
    readonly end: bigint;
  }
  | {
    readonly kind: "tuple";
    readonly span: Span;
    readonly type: Type;
    readonly elements: readonly Pattern[];
  }
  /** One pattern for each field, in the order of the definition. */
  | { readonly kind: "record"; readonly span: Span; readonly type: Type; readonly fields: readonly Pattern[] }
  | {
    readonly kind: "variant";
    readonly span: Span;
    readonly type: Type;
    readonly variant: VariantDefinition;
    readonly fields: readonly Pattern[];
  }
  | {
    readonly kind: "list";
    readonly span: Span;
    readonly type: Type;
    readonly elements: readonly Pattern[];
    /** Null: exactly so many elements; else more may follow, bound when there is a local. */
    readonly rest: { readonly local: Local | null } | null;
  }
  /** Each binds the same names: the same `Local`s. */
  | {
    readonly kind: "alternative";
    readonly span: Span;
    readonly type: Type;
    readonly alternatives: readonly Pattern[];
  };
