/**
 * The state of lowering one function: the list of statements that is being written, variables, labels, and whether
 * control comes here at all.
 *
 * A value is a list of expressions, one for each slot of its layout. What it mentions must keep its value until it is
 * used: whoever lowers several expressions in turn uses {@link Frame.values}, which puts what may change into
 * variables of its own.
 */
import type { Span } from "../../source/source_file.ts";
import type { Expression, Local, TypedFunction } from "../../typed/tree.ts";
import type { TrapKind } from "../../typed/trap.ts";
import type { Type } from "../../types/type.ts";
import { type Layout, type Slot, substitute, type Substitution } from "../layout.ts";
import {
  constant,
  get,
  type IrCall,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  type IrPosition,
  type IrSlot,
  type Label,
  newLocal,
  type PointerKind,
  type ScalarType,
  type Statement,
  type TrapSite,
} from "../node.ts";
import type { SourceFile } from "../../source/source_file.ts";
import { typeOf, visitExpression } from "../visit.ts";
import type { ProgramLowering } from "./program.ts";

/** The slots of a value. */
export type Value = readonly IrExpression[];

/** Something in memory: an address, which stays where it is, and what the address lies in. */
export interface MemoryLocation {
  readonly kind: "memory";
  readonly address: IrExpression;
  readonly offset: number;
  /** The pointer that keeps the memory alive. */
  readonly base: IrLocal | null;
  readonly layout: Layout;
  /** Whether what lies there is never changed or freed. */
  readonly isForever?: boolean;
}

/** Variables that hold a value. */
export interface LocalsLocation {
  readonly kind: "locals";
  readonly locals: readonly IrLocal[];
  readonly layout: Layout;
}

/** A place that can be written. */
export type Location = MemoryLocation | LocalsLocation;

/** What a name stands for. */
export type Binding =
  | { readonly kind: "value"; readonly value: Value; readonly layout: Layout }
  | ClosureBinding
  | Location;

/** A closure that is written where it is called: its code and how types and places in it are to be read. */
export interface ClosureBinding {
  readonly kind: "closure";
  readonly expression: Expression & { readonly kind: "closure" };
  readonly put: Substitution;
  readonly file: SourceFile;
  readonly inlined: readonly TypedFunction[];
  readonly caller: IrPosition | null;
  readonly layout: Layout;
}

/** Numbers that a value lies between. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Where a return goes in a function that is lowered in place. */
export interface ReturnTarget {
  readonly locals: readonly IrLocal[];
  readonly label: Label;
  readonly layout: Layout;
}

/** Labels of a loop in the source. */
export interface LoopLabels {
  readonly exit: Label;
  readonly again: Label;
}

/** The function that is being lowered. */
export class Frame {
  readonly program: ProgramLowering;
  readonly function: IrFunction;
  file: SourceFile;
  readonly source: TypedFunction | null;
  #put: Substitution;
  readonly #bindings = new Map<Local, Binding>();
  readonly #branched = new Set<Label>();
  /** What is known of variables that are set once. */
  readonly intervals = new Map<IrLocal, Interval>();
  /** Indexes that are known to be inside of lists: names of both. */
  readonly insides = new Map<Local, Set<Local>>();
  /** Names that hold the length of a list that does not change. */
  readonly lengths = new Map<Local, Local>();
  readonly loops: LoopLabels[] = [];
  /** Variables whose values are given back at a return, behind the result. */
  inouts: LocalsLocation[] = [];
  resultLayout: Layout;
  #out: Statement[] = [];
  #isReachable = true;
  /** Functions that are being lowered in place, the outermost first. */
  inlined: readonly TypedFunction[] = [];
  /** Where the innermost of them is called. */
  caller: IrPosition | null = null;
  /** Statements written so far. */
  statementCount = 0;
  #returnTarget: ReturnTarget | null = null;

  constructor(options: {
    readonly program: ProgramLowering;
    readonly function: IrFunction;
    readonly file: SourceFile;
    readonly source: TypedFunction | null;
    readonly put: Substitution;
    readonly result: Type;
  }) {
    this.program = options.program;
    this.function = options.function;
    this.file = options.file;
    this.source = options.source;
    this.#put = options.put;
    this.resultLayout = this.layout(options.result);
    this.function.body = this.#out;
  }

  /** Whether control comes to what is written next. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** The types that stand for the parameters of the function around. */
  get put(): Substitution {
    return this.#put;
  }

  /** The type with the function's parameters replaced. */
  type(type: Type): Type {
    return substitute(type, this.#put);
  }

  /** The layout of a type, whose parameters are replaced. */
  layout(type: Type): Layout {
    return this.program.layouts.of(substitute(type, this.#put));
  }

  /** The place of a span. */
  place(span: Span): IrPosition {
    const place = { file: this.file, offset: span.start };
    return this.caller === null ? place : { ...place, caller: this.caller };
  }

  /** A new trap site. */
  site(kind: TrapKind, span: Span): TrapSite {
    return this.program.site(kind, this.place(span));
  }

  /** Writes a statement, when control comes here. */
  emit(statement: Statement): void {
    if (!this.#isReachable) return;
    this.#out.push(statement);
    this.statementCount++;
    switch (statement.kind) {
      case "branch":
        this.#branched.add(statement.label);
        this.#isReachable = false;
        break;
      case "return":
      case "trap":
        this.#isReachable = false;
        break;
      default:
    }
  }

  /** Statements written so far in this list. */
  get mark(): number {
    return this.#out.length;
  }

  /** Writes statements into a list of their own. */
  collect(write: () => void): { readonly body: Statement[]; readonly isReachable: boolean } {
    const outer = this.#out;
    const wasReachable = this.#isReachable;
    const body: Statement[] = [];
    this.#out = body;
    write();
    const isReachable = this.#isReachable;
    this.#out = outer;
    this.#isReachable = wasReachable;
    return { body, isReachable };
  }

  /** Two ways. */
  if(condition: IrExpression, then: () => void, otherwise: () => void = () => {}): void {
    if (!this.#isReachable) return;
    if (condition.kind === "const") {
      if (condition.value === 0) otherwise();
      else then();
      return;
    }
    const first = this.collect(then);
    const second = this.collect(otherwise);
    this.#out.push({ kind: "if", condition, then: first.body, otherwise: second.body });
    this.#isReachable = first.isReachable || second.isReachable;
  }

  /** A block that can be left with a branch. */
  block(name: string, write: (out: Label) => void): void {
    const label: Label = { name };
    const { body, isReachable } = this.collect(() => write(label));
    const isLeft = this.#branched.has(label);
    if (isLeft) this.emit({ kind: "block", label, body });
    else for (const statement of body) this.#append(statement);
    this.#isReachable = this.#isReachable && (isReachable || isLeft);
  }

  #append(statement: Statement): void {
    if (this.#isReachable) this.#out.push(statement);
  }

  /** Whether something branches to the label. */
  isLeft(label: Label): boolean {
    return this.#branched.has(label);
  }

  /** A loop; what comes to the end of its body leaves it. */
  loop(name: string, write: (again: Label) => void): void {
    const label: Label = { name };
    const { body, isReachable } = this.collect(() => write(label));
    this.#append({ kind: "loop", label, body });
    this.#isReachable = this.#isReachable && isReachable;
  }

  /** One of several ways. */
  switch(index: IrExpression, cases: readonly (() => void)[]): void {
    if (!this.#isReachable) return;
    const bodies = cases.map((write) => this.collect(write));
    this.#out.push({ kind: "switch", index, cases: bodies.map(({ body }) => body) });
    this.#isReachable = bodies.some(({ isReachable }) => isReachable);
  }

  /** Leaves when the condition holds. */
  branchIf(condition: IrExpression, label: Label): void {
    this.if(condition, () => this.emit({ kind: "branch", label }));
  }

  /** A new variable. */
  local(name: string, slot: IrSlot, options: { isMutable?: boolean; base?: IrLocal | null } = {}): IrLocal {
    return newLocal(this.function, { name, type: slot.type, pointer: slot.pointer, ...options });
  }

  /** New variables for a value of a layout. */
  locals(name: string, layout: Layout, isMutable: boolean): IrLocal[] {
    return layout.slots.map((slot, index) =>
      this.local(layout.slots.length === 1 ? name : `${name}.${index}`, slot, { isMutable })
    );
  }

  /** Sets a variable; a pointer's count goes with it. */
  set(local: IrLocal, value: IrExpression): void {
    this.emit({ kind: "set", local, value: local.pointer === null ? value : owned(value) });
  }

  /** Sets the variables of a value. */
  setAll(locals: readonly IrLocal[], value: Value): void {
    if (!this.#isReachable) return;
    // Several at once: what one is set to may mention another.
    const values = locals.length > 1
      ? value.map((part, index) =>
        mentionsAny(part, locals, index) ? this.temporary(part, locals[index]) : part
      )
      : value;
    for (const [index, local] of locals.entries()) {
      this.set(local, values[index] ?? zero(local.type));
    }
  }

  /** A variable of its own for an expression, which is evaluated now. */
  temporary(value: IrExpression, slot?: IrSlot): IrExpression {
    if (value.kind === "const" || !this.#isReachable) return value;
    const pointer = slot?.pointer ?? (value.kind === "get" ? value.local.pointer : null);
    const base = value.kind === "get" ? value.local.base : null;
    const local = this.local("t", { type: typeOf(value), pointer }, { base });
    this.set(local, value);
    const interval = value.kind === "get" ? this.intervals.get(value.local) : undefined;
    if (interval !== undefined) this.intervals.set(local, interval);
    return get(local);
  }

  /** The expression, evaluated now unless it cannot change. */
  stable(value: IrExpression, slot?: IrSlot): IrExpression {
    return isStable(value) ? value : this.temporary(value, slot);
  }

  /** The expression in a form that may be written several times. */
  reusable(value: IrExpression): IrExpression {
    return value.kind === "const" || value.kind === "get" ? value : this.temporary(value);
  }

  /** All slots of a value, evaluated now. */
  stableValue(value: Value, layout: Layout): Value {
    return value.map((part, index) => this.stable(part, layout.slots[index]));
  }

  /** Writes the code of an expression; answers its value. */
  lower(expression: Expression): Value {
    return this.program.lower(this, expression);
  }

  /** Lowers expressions in turn; what the later ones might change of the earlier ones is put into variables. */
  values(expressions: readonly Expression[]): Value[] {
    return this.sequence(expressions.map((expression) => ({
      layout: this.layout(expression.type),
      lower: () => this.lower(expression),
    })));
  }

  /** Evaluates in turn, as {@link values} does. */
  sequence(parts: readonly { readonly layout: Layout; readonly lower: () => Value }[]): Value[] {
    const done: Value[] = [];
    for (const { lower } of parts) {
      const before = this.mark;
      const value = lower();
      if (this.mark > before) {
        for (const [index, earlier] of done.entries()) {
          const layout = parts[index]?.layout;
          done[index] = earlier.map((part, slot) => this.#saveAt(before, part, layout?.slots[slot]));
        }
      }
      done.push(value);
    }
    return done;
  }

  #saveAt(position: number, value: IrExpression, slot: Slot | undefined): IrExpression {
    if (isStable(value)) return value;
    const pointer = slot?.pointer ?? null;
    const base = value.kind === "get" ? value.local.base : null;
    const local = this.local("t", { type: typeOf(value), pointer }, { base });
    this.#out.splice(position, 0, { kind: "set", local, value: pointer === null ? value : owned(value) });
    return get(local);
  }

  /** Calls a function; its results are in variables of their own. */
  call(target: IrFunction, args: readonly IrExpression[], place?: IrPosition): Value {
    const call = { kind: "call" as const, function: target, args };
    return this.callAny(place === undefined ? call : { ...call, place }, target.results);
  }

  /** Any call. */
  callAny(call: IrCall, results: readonly IrSlot[]): Value {
    if (results.length === 0) {
      this.emit({ kind: "call", call });
      return [];
    }
    const locals = results.map((slot) => this.local("r", slot));
    const [only] = locals;
    if (locals.length === 1 && only !== undefined) this.emit({ kind: "set", local: only, value: call });
    else this.emit({ kind: "multi", locals, call });
    return locals.map(get);
  }

  /** A raw helper, whose one result is no pointer or the given one. */
  helper(
    target: IrFunction,
    args: readonly IrExpression[],
    pointer: PointerKind | null = null,
  ): IrExpression {
    const type = target.results[0]?.type ?? "i32";
    const local = this.local("r", { type, pointer });
    this.emit({ kind: "set", local, value: { kind: "call", function: target, args } });
    return get(local);
  }

  /** Ends the program when the condition holds. */
  check(condition: IrExpression, kind: TrapKind, span: Span): void {
    if (kind === "index") this.program.indexGlobals();
    if (condition.kind === "const") {
      if (condition.value !== 0) this.emit({ kind: "trap", site: this.site(kind, span) });
      return;
    }
    this.emit({ kind: "check", condition, site: this.site(kind, span) });
  }

  /** Makes the function's parameters and results, and binds the names of the parameters. */
  declareParameters(parameters: readonly Local[]): void {
    const results: IrSlot[] = this.resultLayout.slots.map(({ type, pointer }) => ({ type, pointer }));
    for (const parameter of parameters) {
      const layout = this.layout(parameter.type);
      const isInout = parameter.kind === "inout";
      const locals = layout.slots.map((slot, index) =>
        newLocal(this.function, {
          name: layout.slots.length === 1 ? parameter.name : `${parameter.name}.${index}`,
          type: slot.type,
          pointer: slot.pointer,
          isMutable: isInout,
          isBorrowed: !isInout && slot.pointer !== null,
        })
      );
      this.function.parameters.push(...locals);
      if (isInout) {
        const location: LocalsLocation = { kind: "locals", locals, layout };
        this.inouts.push(location);
        this.bind(parameter, location);
        for (const slot of layout.slots) results.push({ type: slot.type, pointer: slot.pointer });
      } else {
        this.bind(parameter, { kind: "value", value: locals.map(get), layout });
      }
    }
    this.function.results = results;
  }

  /** What a name stands for. */
  binding(local: Local): Binding {
    const binding = this.#bindings.get(local);
    if (binding === undefined) {
      throw new Error(`Cannot lower ${this.function.name}: the name ${local.name} has no value yet`);
    }
    return binding;
  }

  /** Gives a name its meaning. */
  bind(local: Local, binding: Binding): void {
    this.#bindings.set(local, binding);
  }

  /** Whether a name has a meaning. */
  isBound(local: Local): boolean {
    return this.#bindings.has(local);
  }

  /** The type with the parameters of another function replaced. */
  typeIn(type: Type, put: Substitution): Type {
    return substitute(type, put);
  }

  /** Lowers with the types and the file of a function that is called in place. */
  within<T>(
    options: {
      readonly put: Substitution;
      readonly file: SourceFile;
      readonly inlined: readonly TypedFunction[];
      readonly caller: IrPosition | null;
    },
    lower: () => T,
  ): T {
    const { file, inlined, caller } = this;
    const put = this.#put;
    this.#put = options.put;
    this.file = options.file;
    this.inlined = options.inlined;
    this.caller = options.caller;
    try {
      return lower();
    } finally {
      this.inlined = inlined;
      this.caller = caller;
      this.file = file;
      this.#put = put;
    }
  }

  /** Lowers with returns that set variables and leave to a label. */
  returnTo(target: ReturnTarget, lower: () => void): void {
    const before = this.#returnTarget;
    this.#returnTarget = target;
    lower();
    this.#returnTarget = before;
  }

  /** Returns a value from the function. */
  return(value: Value): void {
    if (!this.#isReachable) return;
    if (this.#returnTarget !== null) {
      this.setAll(this.#returnTarget.locals, value);
      this.emit({ kind: "branch", label: this.#returnTarget.label });
      return;
    }
    const values = this.resultLayout.slots.map((slot, index) => owned(value[index] ?? zero(slot.type)));
    for (const { locals } of this.inouts) for (const local of locals) values.push(owned(get(local)));
    this.emit({ kind: "return", values });
  }
}

/** The expression with its count handed on, when it is a counted pointer. */
export function owned(value: IrExpression): IrExpression {
  return value.kind === "get" && value.local.pointer !== null ? { kind: "own", local: value.local } : value;
}

/** Hands all counts of a value on. */
export function ownedAll(value: Value): Value {
  return value.map(owned);
}

/** Zero of a type. */
export function zero(type: ScalarType): IrExpression {
  return constant(type, type === "i64" ? 0n : 0);
}

/** A value of zeros. */
export function zeros(layout: Layout): Value {
  return layout.slots.map((slot) => zero(slot.type));
}

/** Whether the expression keeps its value whatever is written later. */
export function isStable(value: IrExpression): boolean {
  switch (value.kind) {
    case "const":
      return true;
    case "get":
      return !value.local.isMutable;
    case "op":
      return value.args.every(isStable);
    case "select":
      return isStable(value.condition) && isStable(value.then) && isStable(value.otherwise);
    default:
      return false;
  }
}

function mentionsAny(value: IrExpression, locals: readonly IrLocal[], except: number): boolean {
  let found = false;
  visitExpression(value, (at) => {
    if (
      (at.kind === "get" || at.kind === "own") &&
      locals.some((local, index) => index < except && local === at.local)
    ) {
      found = true;
    }
  });
  return found;
}
