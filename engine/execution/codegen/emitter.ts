/**
 * Writes the text of one generated function.
 *
 * Text goes to a stack of frames. A *row* frame belongs to one row of a loop; columns are bound there. A *conditional*
 * frame is code that may be skipped. Values that were loaded are remembered in the frame that holds their code, so that
 * everything inside that frame can use them; loads that are cheap and cannot fail move out to the frame that binds the
 * column, others stay where they are needed. The outermost frame is the function's prologue, for what is fixed during
 * one execution.
 *
 * The function gets the execution state as `S`, and `context` is the evaluation context.
 *
 * A function comes in two versions. The *plain* one runs to its end. The *resumable* one is a generator function that
 * can be left in the loops that are in the code of a row, so that none of them holds the process; V8 makes slower
 * code of it. The emitter notes how often such loops go round at most, so that whoever runs the function can choose.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { IntegerRange } from "../../sql/functions/integer_range.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";

/** A value in generated code: `code` is an identifier or literal, meaningless when `isNull` holds. */
export interface Value {
  readonly code: string;
  /** A cheap expression that is true for NULL; null: never NULL; "true": always. */
  readonly isNull: string | null;
  /** A mixed integer that is known to be a plain number. */
  readonly plain?: boolean;
  /** Bounds of an integer that is a plain number unless it is NULL. */
  readonly range?: IntegerRange;
}

/** The NULL value. */
export const NULL_VALUE: Value = { code: "null", isNull: "true" };

/** Where a text column's UTF-8 is: expressions of the bytes, the start and the end. */
export interface Utf8Location {
  readonly bytes: string;
  readonly start: string;
  readonly end: string;
  readonly isNull: string | null;
}

/** Where a dictionary column's code and dictionary are; `bits` is the width of a code. */
export interface DictionaryLocation {
  readonly code: string;
  readonly dictionary: string;
  readonly bits: number;
  readonly isNull: string | null;
}

/** Where the value of a stored row is, which may be there as UTF-8: see `ReadableTable.textBytesAt`. */
export interface StoredLocation {
  readonly table: string;
  readonly location: string;
  readonly columnId: number;
}

/** How a column of the current row is obtained. */
export interface Binding {
  readonly type: SqlType;
  /** The load can neither fail nor take long. */
  readonly cheap: boolean;
  readonly load: (code: Emitter) => Value;
  /** An element of an array of numbers, or one value for all rows. */
  readonly isVector?: boolean;
  readonly utf8?: (code: Emitter) => Utf8Location;
  readonly stored?: StoredLocation;
  readonly dictionary?: DictionaryLocation;
}

/** How often a loop goes round at most, as far as an execution knows before the function runs. */
export type RoundLimit = (state: ExecutionState) => number;

/** A loop in the code of a row. */
export interface InnerLoop {
  /** Unlabeled `break` must not be used in the body. */
  readonly label: string;
  /** Declares the loop's variable. */
  readonly declare: string;
  readonly test: string;
  readonly advance: string;
  /** Null: nothing is known. */
  readonly atMost: RoundLimit | null;
}

const BUDGET = {};

type FrameKind = "function" | "row" | "conditional";

class Frame {
  readonly kind: FrameKind;
  readonly parent: Frame | null;
  readonly lines: string[] = [];
  readonly bindings = new Map<ColumnRef, Binding>();
  readonly values = new Map<object, Value>();
  readonly notes = new Map<object, unknown>();
  /** Variables that hold numbers and change. */
  readonly numbers: string[] = [];
  /** Values that enclosing frames have computed do not count here: columns mean something else. */
  forgets = false;

  constructor(kind: FrameKind, parent: Frame | null) {
    this.kind = kind;
    this.parent = parent;
  }
}

// deno-lint-ignore no-explicit-any -- run-time functions of every signature pass through here, untyped by nature
type Runtime = (...args: any[]) => unknown;

const PLAIN = { isResumable: false } as const;

/** Rows of a morsel that runs to its end, whatever its rows cost. */
export const FEW_ROWS = 2;

/** Writes the text of one generated function. */
export class Emitter {
  /** Label of the outermost loop that is about to be emitted; what a LIMIT breaks out of. */
  loopLabel = "";
  /**
   * An expression of how often the outermost loop goes round, at most `MAX_BATCH_ROWS` times; null: nothing is known.
   */
  morselRows: string | null = null;
  /** How many loops the code is in. */
  rowDepth = 0;
  /** Set by code that writes rows of the result. */
  writesResult = false;
  /** Jumps to the next row of the innermost row block. */
  skip = "";
  readonly compilation: Compilation;
  /** Whether this is the version that can be left in inner loops. */
  readonly isResumable: boolean;
  /** Limits of the inner loops whose limits can be known. */
  readonly roundLimits: RoundLimit[] = [];
  /** Set when there are inner loops of which nothing is known. */
  isUnbounded = false;
  /** Whether the expression being emitted counts its steps; see `metering.ts`. */
  isMetered = false;
  /** Set by code of rows that may take many steps. */
  hasTurns = false;
  readonly #root: Frame;
  #top: Frame;
  #names = 0;
  readonly #constants: unknown[] = [];
  readonly #constantNames: string[] = [];
  readonly #known = new Map<unknown, string>();

  constructor(compilation: Compilation, options: { readonly isResumable: boolean } = PLAIN) {
    this.compilation = compilation;
    this.isResumable = options.isResumable;
    this.#root = new Frame("function", null);
    this.#top = new Frame("row", this.#root);
  }

  /** A fresh identifier. */
  name(hint: string): string {
    return `${hint}${this.#names++}`;
  }

  /** Appends a line of code. */
  emit(line: string): void {
    this.#top.lines.push(line);
  }

  /** Appends several lines. */
  emitLines(lines: readonly string[]): void {
    for (const line of lines) this.#top.lines.push(line);
  }

  /** Appends a declaration unless this frame has it already. */
  emitOnce(line: string): void {
    if (!this.#top.lines.includes(line)) this.#top.lines.push(line);
  }

  /** `const name = expression;` and the name. */
  define(hint: string, expression: string): string {
    const name = this.name(hint);
    this.emit(`const ${name} = ${expression};`);
    return name;
  }

  /** Registers a function or object for the code and answers the identifier of it. */
  constant(hint: string, value: unknown): string {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const name = `${hint.replaceAll(/[^A-Za-z0-9_$]/g, "_") || "constant"}_${this.#constants.length}`;
    this.#constants.push(value);
    this.#constantNames.push(name);
    this.#known.set(value, name);
    return name;
  }

  /** Registers a run-time function; the `use` of inline code. */
  readonly use = (name: string, implementation: Runtime): string => this.constant(name, implementation);

  /** Emits into a frame of its own and answers its lines, which the caller puts into braces. */
  capture<T>(
    kind: "row" | "conditional",
    emit: () => T,
  ): { readonly lines: readonly string[]; readonly result: T } {
    const frame = new Frame(kind, this.#top);
    this.#top = frame;
    try {
      return { result: emit(), lines: frame.lines };
    } finally {
      this.#top = frame.parent ?? this.#root;
    }
  }

  /** A braced block: `head { … }`. */
  block(head: string, kind: "row" | "conditional", emit: () => void): void {
    const { lines } = this.capture(kind, emit);
    this.emit(`${head}{`);
    this.emitLines(lines);
    this.emit("}");
  }

  /** The body of one row: a labeled block that `skip` leaves. */
  rowBlock(emit: () => void): void {
    const label = this.name("row");
    const before = this.skip;
    this.skip = `break ${label};`;
    this.rowDepth++;
    this.block(`${label}: `, "row", emit);
    this.rowDepth--;
    this.skip = before;
  }

  /** Whether the code runs at most once for each round of the outermost loop, whose number is in {@link morselRows}. */
  get isOncePerRow(): boolean {
    return this.morselRows !== null && this.rowDepth === 1 && !this.isUnbounded &&
      this.roundLimits.length === 0;
  }

  /** Notes that the code of a row has a part that goes round so often; null: unknown. */
  limitRounds(atMost: RoundLimit | null): void {
    if (atMost === null) this.isUnbounded = true;
    else this.roundLimits.push(atMost);
  }

  /** A loop in the code of a row, which the resumable version leaves now and then. */
  innerLoop({ label, declare, test, advance, atMost }: InnerLoop, body: () => void): void {
    this.limitRounds(atMost);
    if (!this.isResumable) {
      this.block(`${label}: for (${declare}; ${test}; ${advance}) `, "row", body);
      return;
    }
    const budget = this.#budget();
    this.emit(`${declare};`);
    this.block(`${label}: for (;;) `, "row", () => {
      // The loop proper has no pause inside, and the types that V8 forgets at a pause are stated again; so the
      // loop stays as fast as in the plain version.
      this.emitLines(this.#numbers());
      this.block(`for (; ${test}; ${advance}) `, "row", () => {
        this.emit(`if (--${budget} < 0) break;`);
        body();
      });
      this.emit(`if (${budget} >= 0) break;`);
      this.emit(`yield; ${budget} = S.batchRows;`);
    });
  }

  /** Behind a row: leaves the function when the expression `isDue` holds. */
  turn(isDue: string): void {
    this.limitRounds((state) => state.batchRows <= FEW_ROWS ? 1 : Infinity);
    if (this.isResumable) this.emit(`if (${isDue}) yield;`);
  }

  /** Counts a round of a loop that is emitted otherwise, and may leave the function here. */
  pause(): void {
    this.limitRounds(null);
    if (!this.isResumable) return;
    const budget = this.#budget();
    this.emit(`if (--${budget} < 0) { yield; ${budget} = S.batchRows; }`);
  }

  /**
   * Work that comes in morsels ({@link Work}), done to its end; answers the identifier of what the expression makes.
   * `atMost`: as in {@link limitRounds}.
   */
  work(expression: string, atMost: RoundLimit | null = null): string {
    this.limitRounds(atMost);
    const name = this.define("work", expression);
    this.emit(this.isResumable ? `while (!${name}.advance()) yield;` : `while (!${name}.advance());`);
    return name;
  }

  /**
   * Runs a subplan unless its slot says that it has run. `repeats`: the slot may be emptied while the function runs.
   */
  subplan(doneSlot: number, pipelines: readonly Pipeline[], repeats: boolean): void {
    this.limitRounds(repeats ? null : (state) => state.x[doneSlot] === undefined ? Infinity : 1);
    if (!this.isResumable) return;
    this.emit(
      `if (S.x[${doneSlot}] === undefined) { S.x[${doneSlot}] = true; S.call(${
        this.constant("pipelines", pipelines)
      }); yield; }`,
    );
  }

  /** Runs the pipelines of an expression before it goes on. `atMost` is Infinity where that may happen. */
  call(pipelines: string, atMost: RoundLimit): void {
    this.limitRounds(atMost);
    if (this.isResumable) this.emit(`S.call(${pipelines}); yield;`);
  }

  /** Notes that a variable, declared here with `let`, always holds a number. */
  noteNumber(variable: string): void {
    this.#top.numbers.push(variable);
  }

  #numbers(): readonly string[] {
    const lines: string[] = [];
    for (let frame: Frame | null = this.#top; frame !== null; frame = frame.parent) {
      for (const variable of frame.numbers) lines.push(`${variable} = +${variable};`);
    }
    return lines;
  }

  #budget(): string {
    return this.once(BUDGET, () => {
      const name = this.name("budget");
      this.emit(`let ${name} = S.batchRows;`);
      return name;
    });
  }

  /** Emits into the prologue. */
  atPrologue<T>(emit: () => T): T {
    return this.#at(this.#root, emit);
  }

  #at<T>(frame: Frame, emit: () => T): T {
    const before = this.#top;
    this.#top = frame;
    try {
      return emit();
    } finally {
      this.#top = before;
    }
  }

  /** Makes a column known to the code inside of the current frame. */
  bind(column: ColumnRef, binding: Binding): void {
    this.#top.bindings.set(column, binding);
  }

  /** The binding of a column that an enclosing frame has, or what a caller has left. */
  binding(column: ColumnRef): Binding {
    const found = this.#find((frame) => frame.bindings.get(column)) ?? this.#handedOver(column);
    assert(found !== undefined, `column ${column} is not bound`);
    return found;
  }

  /** Whether a column is bound. */
  isBound(column: ColumnRef): boolean {
    return this.#find((frame) => frame.bindings.get(column)) !== undefined ||
      this.#handedOver(column) !== undefined;
  }

  /** A column of the row that a program was called for. */
  #handedOver(column: ColumnRef): Binding | undefined {
    const { compilation } = this;
    const slot = compilation.handedOver.get(column);
    if (slot === undefined) return undefined;
    const nullable = compilation.mayBeNull(column);
    const binding: Binding = {
      type: compilation.typeOf(column),
      cheap: true,
      load: (code) => {
        const name = code.define("outer", `S.x[${slot}]`);
        return { code: name, isNull: nullable ? `${name} === null` : null };
      },
    };
    this.#root.bindings.set(column, binding);
    return binding;
  }

  #find<T>(look: (frame: Frame) => T | undefined): T | undefined {
    for (let frame: Frame | null = this.#top; frame !== null; frame = frame.parent) {
      const found = look(frame);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Looks for a computed value, as far out as columns mean what they mean here. */
  #findValue(key: object): Value | undefined {
    for (let frame: Frame | null = this.#top; frame !== null; frame = frame.parent) {
      const found = frame.values.get(key);
      if (found !== undefined) return found;
      if (frame.forgets) return undefined;
    }
    return undefined;
  }

  /**
   * A braced block in which columns are bound anew that code before has bound otherwise, so that expressions over
   * them are computed again.
   */
  rebindingBlock(emit: () => void): void {
    this.block("", "row", () => {
      this.#top.forgets = true;
      emit();
    });
  }

  /** The value of a bound column, loaded at most once on each path. */
  column(column: ColumnRef): Value {
    const binding = this.binding(column);
    const known = this.#findValue(binding);
    if (known !== undefined) return known;
    const target = binding.cheap ? this.#frameOf(column, binding) : this.#top;
    const value = this.#at(target, () => binding.load(this));
    target.values.set(binding, value);
    return value;
  }

  /** A value that is emitted here unless code that surely has run before has it already. */
  shared(key: object, emit: () => Value): Value {
    const known = this.#findValue(key);
    if (known !== undefined) return known;
    const value = emit();
    this.#top.values.set(key, value);
    return value;
  }

  /** Whether the value of a bound column has been loaded already. */
  isLoaded(column: ColumnRef): boolean {
    const binding = this.binding(column);
    return this.#find((frame) => frame.values.get(binding)) !== undefined;
  }

  #frameOf(column: ColumnRef, binding: Binding): Frame {
    return assertDefined(
      this.#find((frame) => frame.bindings.get(column) === binding ? frame : undefined),
      "the frame of a binding",
    );
  }

  /** A value of the function, computed in the prologue at most once for each key. */
  hoisted(key: object, emit: () => Value): Value {
    const known = this.#root.values.get(key);
    if (known !== undefined) return known;
    const value = this.#at(this.#root, emit);
    this.#root.values.set(key, value);
    return value;
  }

  /** Remembers names for the code inside of the current frame. */
  note<T>(key: object, value: T): T {
    this.#top.notes.set(key, value);
    return value;
  }

  /** What an enclosing frame remembers. The caller knows its type. */
  recall<T>(key: object): T {
    return assertDefined(this.#find((frame) => frame.notes.get(key)), "a note of the generated code") as T;
  }

  /** What the function remembers for a key, made in the prologue at first. */
  once<T extends NonNullable<unknown>>(key: object, make: () => T): T {
    const known = this.#root.notes.get(key);
    if (known !== undefined) return known as T;
    const made = this.#at(this.#root, make);
    this.#root.notes.set(key, made);
    return made;
  }

  /** The function's text. */
  source(name: string, parameters: string): string {
    return [
      `function${this.isResumable ? "*" : ""} ${name}(${parameters}) {`,
      "const context = S.evaluation;",
      ...this.#root.lines,
      ...this.#top.lines,
      "}",
    ].join("\n");
  }

  /** Turns the text into a function. */
  compile<F>(source: string): F {
    const prelude = this.#constantNames.map((name, index) => `const ${name} = K[${index}];`).join("\n");
    // The text is made by this program from bound plans; user input only enters as escaped literals and constants.
    // In parentheses V8 compiles it at once; without them it would parse it twice, for it is called now.
    return new Function("K", `"use strict";\n${prelude}\nreturn (${source});`)(this.#constants) as F;
  }
}

/** The text of a function as it is shown: indented by braces. */
export function indented(source: string): string {
  const result: string[] = [];
  let depth = 0;
  for (const line of source.split("\n")) {
    if (line.startsWith("}")) depth--;
    result.push("  ".repeat(Math.max(0, depth)) + line);
    if (line.endsWith("{")) depth++;
  }
  return result.join("\n");
}
