/**
 * The state of checking: a {@link Session} for one module (types that are not known yet, checks that wait for them),
 * a {@link Body} for each function, constant or test in it (variables in scope, loops, closures, places that are
 * held).
 *
 * Nodes of the typed tree are made while some of their types are variables; {@link Session.finish} puts the types in
 * that the variables stand for.
 */
import { LANG_LIMITS } from "../limits.ts";
import type * as ast from "../syntax/ast.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Expression, Place } from "../typed/tree.ts";
import { ERROR_TYPE, resolve, UNIT } from "../types/primitives.ts";
import type { InterfaceDefinition, Type, TypeParameter, TypeVariable } from "../types/type.ts";
import { weightOf } from "../types/weight.ts";
import { eachUnknown, hasVariables, Unifier, zonk } from "../types/unification.ts";
import { requireInterface } from "./conformance.ts";
import type { Reporter } from "./report.ts";
import {
  EffectSources,
  type FunctionSymbol,
  type ModuleScope,
  type ValueSymbol,
  Variable,
} from "./symbols.ts";
import type { SymbolTable } from "./symbol_table.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** Why a type is expected. */
export type Reason =
  | { readonly kind: "annotation"; readonly span: Span }
  | { readonly kind: "result"; readonly span: Span; readonly isWritten: boolean }
  | {
    readonly kind: "argument";
    readonly name: string;
    readonly callee: string;
    readonly file: SourceFile;
    readonly span: Span;
  }
  | { readonly kind: "field"; readonly name: string; readonly file: SourceFile; readonly span: Span }
  | { readonly kind: "branch"; readonly span: Span; readonly what: "arm" | "branch" }
  | { readonly kind: "element"; readonly span: Span }
  | { readonly kind: "operand"; readonly span: Span; readonly operator: string; readonly operatorSpan: Span }
  | { readonly kind: "assignment"; readonly span: Span }
  | { readonly kind: "condition"; readonly what: string }
  | { readonly kind: "index"; readonly what: string }
  | { readonly kind: "text" }
  /** The end of a function whose result is inferred. */
  | { readonly kind: "tail" };

/** What must hold of a type once it is known. */
export interface Obligation {
  readonly type: Type;
  readonly interface: InterfaceDefinition;
  readonly span: Span;
  /** What asks for it, such as "`==`" or "`T` of `largest`". */
  readonly asker: string;
  readonly body: Body;
}

/** The checking of one module, or of one function of the library. */
export class Session {
  readonly graph: ModuleGraph;
  readonly scope: ModuleScope;
  readonly reporter: Reporter;
  readonly unifier: Unifier = new Unifier();
  readonly symbols: SymbolTable | null;
  readonly #types: { type: Type }[] = [];
  readonly #lists: Type[][] = [];
  readonly #origins: { readonly variable: TypeVariable; readonly span: Span; readonly what: string }[] = [];
  /** Types that may stay open: no value of them is ever made. */
  readonly #open: TypeVariable[] = [];
  readonly #obligations: Obligation[] = [];
  readonly #broken: Type[] = [];
  /**
   * Interfaces that type parameters should be asked for, which has been told: the place of the parameter and the
   * name.
   */
  readonly missingBounds: Set<string> = new Set();
  /** Checks that would rather wait until the whole module has been seen. */
  readonly late: (() => void)[] = [];
  /** Checks that need types without variables. */
  readonly finishers: (() => void)[] = [];
  /** Checks the body of a function of this module now, for its result. */
  readonly inferBody: (symbol: FunctionSymbol) => void;

  constructor(
    options: {
      readonly graph: ModuleGraph;
      readonly scope: ModuleScope;
      readonly symbols: SymbolTable | null;
      readonly inferBody: (session: Session, symbol: FunctionSymbol) => void;
    },
  ) {
    this.graph = options.graph;
    this.scope = options.scope;
    this.reporter = options.scope.reporter;
    this.symbols = options.symbols;
    this.inferBody = (symbol) => options.inferBody(this, symbol);
  }

  /** A type that must become known; else it is reported at the span what could not be told. */
  freshAt(span: Span, what: string): TypeVariable {
    const variable = this.unifier.fresh();
    this.#origins.push({ variable, span, what });
    return variable;
  }

  /** A type that is `()` when nothing says what it is, such as that of the errors of `Ok(1)`. */
  freshOpen(): TypeVariable {
    const variable = this.unifier.fresh();
    this.#open.push(variable);
    return variable;
  }

  /** Reports when the type is not known in the end. */
  mustBeKnown(variable: TypeVariable, span: Span, what: string): void {
    this.#origins.push({ variable, span, what });
  }

  /** Puts in the type of a node, variable or the like once it is known. */
  keep<T extends { readonly type: Type }>(item: T): T {
    if (hasVariables(item.type)) this.#types.push(item);
    return item;
  }

  /** Puts in all types of a list once they are known. */
  keepAll(types: Type[]): Type[] {
    if (types.some(hasVariables)) this.#lists.push(types);
    return types;
  }

  /** What is given to something broken: that its type cannot be told is no second error. */
  forgive(type: Type): void {
    this.#broken.push(type);
  }

  /** Asks that a type has an interface, at once if it is known and else in the end. */
  require(obligation: Obligation): void {
    this.#obligations.push(obligation);
  }

  /** Ends inference: reports what is unknown, puts types in, runs what waited for them. */
  finish(): void {
    for (const check of this.late) check();
    for (const type of this.#broken) eachUnknown(type, (variable) => variable.link = ERROR_TYPE);
    for (const { variable, span, what } of this.#origins) {
      const at = resolve(variable);
      if (at.kind !== "variable" || at.literal !== null || at === ERROR_TYPE) continue;
      at.link = ERROR_TYPE;
      this.reporter.report("TY0012", span, `The type of ${what} cannot be inferred.`, {
        hint: "Add a type annotation, as in `let xs: List[Int] = []` or `fn(x: Int) { … }`.",
      });
    }
    for (const variable of this.#open) {
      const at = resolve(variable);
      if (at.kind === "variable" && at.literal === null && at !== ERROR_TYPE) at.link = UNIT;
    }
    for (const obligation of this.#obligations) requireInterface(obligation);
    for (const item of this.#types) item.type = zonk(item.type);
    for (const list of this.#lists) {
      for (let index = 0; index < list.length; index++) list[index] = zonk(list[index] ?? ERROR_TYPE);
    }
    for (const check of this.finishers) check();
  }
}

/** A closure around what is being checked. */
export interface ClosureFrame {
  readonly depth: number;
  readonly captures: Set<Variable>;
}

/** A loop around what is being checked. */
export interface LoopFrame {
  hasBreak: boolean;
}

/** Where `return` and `?` go. */
export interface ReturnFrame {
  readonly type: Type;
  readonly reason: Reason | null;
  /** Whether what is returned is thrown away. */
  readonly isDiscarded: boolean;
  readonly isClosure: boolean;
}

/** An expression that reads an element by a call, kept so that the same element can become a place. */
export interface IndexedRead {
  readonly container: Expression;
  readonly key: Expression;
}

/** The checking of one function, constant or test. */
export class Body {
  readonly session: Session;
  readonly graph: ModuleGraph;
  readonly scope: ModuleScope;
  readonly reporter: Reporter;
  readonly unifier: Unifier;
  readonly typeParameters: readonly TypeParameter[];
  readonly sources: EffectSources;
  /** The function whose body it is, if it is one. */
  readonly symbol: FunctionSymbol | null;
  readonly variables: Variable[] = [];
  readonly closures: ClosureFrame[] = [];
  loops: LoopFrame[] = [];
  returns: ReturnFrame | null = null;
  /** Whether it has been told that the function has a value and no result. */
  hasSurplusResult = false;
  /** Places written so far: `inout` arguments and assignments, in their order. */
  readonly writes: { readonly place: Place; readonly span: Span }[] = [];
  /** Elements that were read by calls of the library. */
  readonly indexed = new Map<Expression, IndexedRead>();
  #nextId: number;

  constructor(
    session: Session,
    options: {
      readonly typeParameters?: readonly TypeParameter[];
      readonly sources?: EffectSources;
      readonly symbol?: FunctionSymbol | null;
      readonly parameters?: readonly Variable[];
    },
  ) {
    this.session = session;
    this.graph = session.graph;
    this.scope = session.scope;
    this.reporter = session.reporter;
    this.unifier = session.unifier;
    this.typeParameters = options.typeParameters ?? [];
    this.sources = options.sources ?? new EffectSources();
    this.symbol = options.symbol ?? null;
    this.variables.push(...(options.parameters ?? []));
    this.#nextId = this.variables.length;
  }

  /** How many closures are around. */
  get depth(): number {
    return this.closures.length;
  }

  /** Keeps a node whose type is not known yet. */
  node<T extends Expression>(node: T): T {
    return weightOf(node.type) > LANG_LIMITS.maximumTypeParts
      ? this.#tooLarge(node)
      : this.session.keep(node);
  }

  /** Types that double at each step would take all memory. */
  #tooLarge<T extends Expression>(node: T): T {
    this.reporter.report(
      "TY0044",
      node.span,
      "The type of this expression is too large.",
      {
        hint: "Use a record type for its parts.",
      },
    );
    return { ...node, type: ERROR_TYPE };
  }

  /** Keeps a place whose type is not known yet. */
  place(place: Place): Place {
    return this.session.keep(place);
  }

  /** Makes a variable without bringing it into scope. */
  makeVariable(name: ast.Name, type: Type, kind: "let" | "var", origin: Variable["origin"]): Variable {
    return this.session.keep(
      new Variable({
        id: this.#nextId++,
        name: name.text,
        type,
        kind,
        span: name.span,
        depth: this.depth,
        origin,
      }),
    );
  }

  /** Makes the variable of `for inout`, which is the element itself. */
  makeInout(name: ast.Name, type: Type): Variable {
    return this.session.keep(
      new Variable({
        id: this.#nextId++,
        name: name.text,
        type,
        kind: "inout",
        span: name.span,
        depth: this.depth,
        origin: "loop",
      }),
    );
  }

  /** Makes a parameter of a closure. */
  makeParameter(name: ast.Name, type: Type, isInout: boolean): Variable {
    return this.session.keep(
      new Variable({
        id: this.#nextId++,
        name: name.text,
        type,
        kind: isInout ? "inout" : "parameter",
        span: name.span,
        depth: this.depth,
        origin: "parameter",
      }),
    );
  }

  /** Brings a variable into scope. */
  declare(variable: Variable): void {
    this.variables.push(variable);
    this.session.symbols?.define(variable.span, variable);
  }

  /** The innermost variable of a name. */
  variable(name: string): Variable | null {
    for (let index = this.variables.length - 1; index >= 0; index--) {
      const variable = this.variables[index];
      if (variable !== undefined && variable.name === name) return variable;
    }
    return null;
  }

  /** Marks the start of a scope. */
  enter(): number {
    return this.variables.length;
  }

  /** Ends a scope: its variables are looked through for those that were of no use. */
  leave(mark: number): void {
    while (this.variables.length > mark) {
      const variable = this.variables.pop();
      if (variable !== undefined) this.reportIdle(variable);
    }
  }

  /** Warns of a variable that is never read, or of a `var` that never changes. */
  reportIdle(variable: Variable): void {
    const { name, span, origin } = variable;
    if (name.startsWith("_") || origin === "compiler" || origin === "self") return;
    if (
      variable.readCount === 0 && origin !== "parameter" &&
      (variable.kind !== "inout" || variable.writeCount === 0)
    ) {
      const isWritten = variable.writeCount > 0;
      this.reporter.report(
        "LI0001",
        span,
        isWritten ? `\`${name}\` is assigned, but never read.` : `\`${name}\` is never used.`,
        {
          hint: "Prefix the name with `_` if this is intended.",
          fixes: isWritten
            ? []
            : variable.isShorthand
            ? [this.reporter.fix(`write \`${name}: _\``, "safe", span, `${name}: _`)]
            : [this.reporter.fix(`rename it to \`_${name}\``, "safe", span, `_${name}`)],
        },
      );
    } else if (variable.kind === "var" && variable.writeCount === 0) {
      const start = span.start - "var ".length;
      const isPlain = this.reporter.file.text.startsWith("var ", start);
      this.reporter.report("LI0003", span, `\`${name}\` is declared with \`var\`, but it is never changed.`, {
        fixes: isPlain ? [this.reporter.fix("use `let`", "safe", { start, end: start + 3 }, "let")] : [],
      });
    }
  }

  /** Notes that a variable is read, and that the closures inside its scope copy it. */
  read(variable: Variable): void {
    variable.readCount++;
    this.capture(variable);
  }

  /** Notes that closures around copy the variable. */
  capture(variable: Variable): void {
    for (const frame of this.closures) {
      if (frame.depth > variable.depth) frame.captures.add(variable);
    }
  }

  /** Notes that a function is called or named here. */
  uses(symbol: FunctionSymbol, span: Span): void {
    symbol.isUsed = true;
    this.session.symbols?.refer(span, symbol);
    if (!this.sources.functions.has(symbol)) this.sources.functions.set(symbol, span);
    if (symbol.declaredEffects === null) {
      if (!this.sources.calls.has(symbol)) this.sources.calls.set(symbol, span);
      return;
    }
    for (const effect of symbol.declaredEffects) {
      if (!this.sources.direct.has(effect)) {
        this.sources.direct.set(effect, { span, through: symbol.displayName });
      }
    }
  }

  /** Notes a symbol's use for editors and for what is never used. */
  refer(symbol: ValueSymbol, span: Span): void {
    if (symbol.kind === "function") this.uses(symbol, span);
    else {
      symbol.isUsed = true;
      this.session.symbols?.refer(span, symbol);
      if (!this.sources.constants.has(symbol)) this.sources.constants.set(symbol, span);
    }
  }

  /** A node for what is broken. */
  broken(span: Span): Expression {
    return { kind: "tuple", span, type: ERROR_TYPE, elements: [] };
  }
}
