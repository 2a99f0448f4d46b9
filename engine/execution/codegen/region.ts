/**
 * Where the loops of a plan are put.
 *
 * Operators are compiled by producing and consuming (Neumann, "Efficiently Compiling Efficient Query Plans", VLDB
 * 2011): a producer emits a loop, and for each row the code of its {@link Sink}. In a {@link Program} each loop
 * becomes a pipeline, a function of its own that is called again for each morsel of its rows. In an {@link
 * InlineRegion} loops are in the code of a surrounding row, whose columns they can refer to; a pipeline is left in
 * the middle of them when they are long.
 *
 * A sink's `open` and `close` are around the loop and keep what the rows need in local variables. A program with no
 * rows at all may never open its sinks, so state is made by whoever needs it first.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";
import type { Emitter, RoundLimit } from "./emitter.ts";
import { PipelineCode, type RunningPipeline } from "./pipeline_code.ts";

/** Consumer of the rows of a loop; each function emits code. */
export interface Sink {
  /** Before the loop. */
  open(code: Emitter): void;
  /** For one row, whose columns are bound. `code.skip` goes on with the next row. */
  row(code: Emitter): void;
  /** After the loop, however it was left. */
  close(code: Emitter): void;
}

/** What is looped over. */
export type LoopSource =
  /** One pass. */
  | { readonly kind: "single"; bind(code: Emitter): void }
  /** Rows 0 to `count` (an expression, evaluated in front of the loop). */
  | {
    readonly kind: "counted";
    readonly atMost?: RoundLimit;
    count(code: Emitter): string;
    bind(code: Emitter, index: string): void;
    /** An expression of the number of all rows, behind {@link more} too. */
    total?(): string;
    /**
     * In a program only: an expression, evaluated behind the last row, that is true when further rows are on their
     * way.
     */
    more?(code: Emitter, index: string): string;
  }
  /** A cursor made by the expression `open`; `next` emits code that gets an item or `leave`s the loop. */
  | {
    readonly kind: "cursor";
    readonly atMost?: RoundLimit;
    prepare(code: Emitter): void;
    open(code: Emitter): string;
    next(code: Emitter, cursor: string, leave: string): void;
  };

/** Where the loops of a plan are put. */
export interface Region {
  readonly compilation: Compilation;
  /** True for an {@link InlineRegion}. */
  readonly isInline: boolean;
  /** Code that runs once at this place. */
  once(plan: Plan, emit: (code: Emitter) => void): void;
  loop(plan: Plan, source: LoopSource, sink: Sink): void;
  /** Puts the code of a plan here; each row goes to the sink with its columns bound. */
  produce(plan: Plan, sink: Sink): void;
  /** State that must be forgotten when the region runs again. */
  reset(...slots: readonly number[]): void;
  /** The same region, but what is put there is skipped once the slot holds true. */
  until(slot: number): Region;
}

/** A list of pipelines. */
export class Program implements Region {
  readonly compilation: Compilation;
  readonly isInline = false;
  readonly pipelines: Pipeline[];
  /** By plan the pipeline that was last put there for it. */
  readonly #places = new Map<Plan, number>();
  readonly #reruns: boolean;
  readonly #flags: readonly number[];

  /** `reruns`: the program runs several times in one execution. */
  constructor(
    compilation: Compilation,
    options: {
      readonly reruns: boolean;
      readonly pipelines?: Pipeline[];
      readonly flags?: readonly number[];
    },
  ) {
    this.compilation = compilation;
    this.#reruns = options.reruns;
    this.pipelines = options.pipelines ?? [];
    if (options.pipelines === undefined) compilation.programs.push(this.pipelines);
    this.#flags = options.flags ?? [];
  }

  /** It runs several times in one execution. */
  get reruns(): boolean {
    return this.#reruns;
  }

  /** See {@link Region.produce}. */
  produce(plan: Plan, sink: Sink): void {
    this.compilation.produce(plan, this, sink);
  }

  /** See {@link Region.until}. */
  until(slot: number): Program {
    return new Program(this.compilation, {
      reruns: this.#reruns,
      pipelines: this.pipelines,
      flags: [...this.#flags, slot],
    });
  }

  /** See {@link Region.reset}. */
  reset(...slots: readonly number[]): void {
    if (!this.#reruns) return;
    this.pipelines.push({
      writesResult: false,
      operators: [],
      run: (state) => {
        for (const slot of slots) resetSlot(state, slot);
        return true;
      },
    });
  }

  /** See {@link Region.once}. */
  once(plan: Plan, emit: (code: Emitter) => void): void {
    this.#add(plan, (code) => {
      emit(code);
      code.emit("return true;");
    });
  }

  /** Adds a pipeline of its own making. */
  add(pipeline: Pipeline): void {
    this.pipelines.push(pipeline);
  }

  /** Slots that end this part of the program when they hold true. */
  get flags(): readonly number[] {
    return this.#flags;
  }

  /** See {@link Region.loop}. */
  loop(plan: Plan, source: LoopSource, sink: Sink): void {
    const slot = source.kind === "single" ? -1 : this.compilation.newSlot();
    this.#add(plan, (code) => {
      const label = code.name("loop");
      code.loopLabel = label;
      switch (source.kind) {
        case "single":
          sink.open(code);
          code.block(`${label}: `, "row", () => {
            code.rowBlock(() => {
              source.bind(code);
              sink.row(code);
            });
          });
          sink.close(code);
          code.emit("return true;");
          break;
        case "counted": {
          const count = code.define("count", source.count(code));
          const index = code.name("i");
          code.emit(`let ${index} = S.x[${slot}] ?? 0;`);
          const end = code.define("end", `Math.min(${count}, ${index} + S.batchRows)`);
          code.loopLabel = label;
          sink.open(code);
          code.block(`${label}: for (; ${index} < ${end}; ${index}++) `, "row", () => {
            code.rowBlock(() => {
              source.bind(code, index);
              sink.row(code);
            });
          });
          sink.close(code);
          code.emit(`S.x[${slot}] = ${index};`);
          if (source.more !== undefined) {
            const goesOn = this.#flags.map((flag) => ` && S.x[${flag}] !== true`).join("");
            code.emit(`if (${index} >= ${count}${goesOn} && ${source.more(code, index)}) return false;`);
          }
          code.emit(`if (${index} >= ${count}${this.#stopped()}) { S.x[${slot}] = undefined; return true; }`);
          code.emit("return false;");
          break;
        }
        case "cursor": {
          source.prepare(code);
          code.emit(`let cursor = S.x[${slot}];`);
          const { lines, result } = code.capture("conditional", () => source.open(code));
          code.emit("if (cursor === undefined) {");
          code.emitLines(lines);
          code.emit(`cursor = S.x[${slot}] = ${result};`);
          code.emit("}");
          code.loopLabel = label;
          sink.open(code);
          const left = code.name("left");
          code.emit(`let ${left} = S.batchRows, done = false;`);
          code.block(`${label}: for (;; ${left}--) `, "row", () => {
            code.emit(`if (${left} === 0) break;`);
            code.emit("done = true;");
            source.next(code, "cursor", `break ${label};`);
            code.emit("done = false;");
            code.rowBlock(() => sink.row(code));
          });
          sink.close(code);
          code.emit(`if (done${this.#stopped()}) { S.x[${slot}] = undefined; return true; }`);
          code.emit("return false;");
        }
      }
    });
  }

  #stopped(): string {
    return this.#flags.map((flag) => ` || S.x[${flag}] === true`).join("");
  }

  /** The number of the last pipeline over the rows of a plan. */
  placeOf(plan: Plan): number | undefined {
    return this.#places.get(plan);
  }

  #add(plan: Plan, emit: (code: Emitter) => void): void {
    this.#places.set(plan, this.pipelines.length);
    this.pipelines.push(
      new GeneratedPipeline(this.compilation, plan, this.pipelines.length, emit, this.#flags),
    );
  }
}

/** Forgets what a slot holds. */
export function resetSlot(state: ExecutionState, slot: number): void {
  const value = state.x[slot];
  if (value === undefined) return;
  if (typeof value === "object" && value !== null) {
    if ("reset" in value && typeof value.reset === "function") {
      value.reset();
      return;
    }
    if ("release" in value && typeof value.release === "function") value.release();
  }
  state.x[slot] = undefined;
}

/** A pipeline whose function is generated when it first runs. */
class GeneratedPipeline implements Pipeline {
  readonly operators: readonly number[];
  readonly #code: PipelineCode;
  readonly #flags: readonly number[];
  /** Holds the resumable function while it is left. */
  readonly #slot: number;

  constructor(
    compilation: Compilation,
    plan: Plan,
    index: number,
    emit: (code: Emitter) => void,
    flags: readonly number[],
  ) {
    this.#code = new PipelineCode(compilation, {
      emit,
      name: `pipeline${index}_${plan.kind}`,
      parameters: "S",
    });
    this.#flags = flags;
    this.#slot = compilation.newSlot();
    this.operators = [compilation.operatorIndex(plan)];
  }

  get writesResult(): boolean {
    return this.#code.writesResult;
  }

  run(state: ExecutionState): boolean {
    let running = state.x[this.#slot] as RunningPipeline | undefined;
    if (running === undefined) {
      const flags = this.#flags;
      for (let index = 0; index < flags.length; index++) {
        if (state.x[flags[index] as number] === true) return true;
      }
      const begun = this.#code.begin(state);
      if (typeof begun === "boolean") return begun;
      state.x[this.#slot] = running = begun;
    }
    const { done, value } = running.next();
    if (done !== true) return false;
    state.x[this.#slot] = undefined;
    return value;
  }

  source(): string {
    return this.#code.source();
  }
}

/** Loops in the code of a surrounding row. */
export class InlineRegion implements Region {
  readonly compilation: Compilation;
  readonly isInline = true;
  readonly #code: Emitter;
  readonly #flags: readonly number[];

  constructor(code: Emitter, flags: readonly number[] = []) {
    this.compilation = code.compilation;
    this.#code = code;
    this.#flags = flags;
  }

  /** See {@link Region.produce}. */
  produce(plan: Plan, sink: Sink): void {
    this.compilation.produce(plan, this, sink);
  }

  /** See {@link Region.until}. */
  until(slot: number): InlineRegion {
    return new InlineRegion(this.#code, [...this.#flags, slot]);
  }

  /** See {@link Region.reset}. */
  reset(...slots: readonly number[]): void {
    for (const slot of slots) {
      this.#code.emit(
        `if (S.x[${slot}] !== undefined) ${this.#code.use("resetSlot", resetSlot)}(S, ${slot});`,
      );
    }
  }

  /** See {@link Region.once}. */
  once(_plan: Plan, emit: (code: Emitter) => void): void {
    this.#guarded(() => emit(this.#code));
  }

  /** See {@link Region.loop}. */
  loop(_plan: Plan, source: LoopSource, sink: Sink): void {
    this.#guarded(() => this.#loop(source, sink));
  }

  #guarded(emit: () => void): void {
    const test = this.#flags.map((flag) => `S.x[${flag}] !== true`).join(" && ");
    // A block of its own keeps names of this part apart from what follows.
    this.#code.block(test === "" ? "" : `if (${test}) `, "conditional", emit);
  }

  #loop(source: LoopSource, sink: Sink): void {
    const code = this.#code;
    const label = code.name("loop");
    switch (source.kind) {
      case "single":
        code.loopLabel = label;
        sink.open(code);
        code.block(`${label}: `, "row", () => {
          code.rowBlock(() => {
            source.bind(code);
            sink.row(code);
          });
        });
        break;
      case "counted": {
        const count = code.define("count", source.count(code));
        const index = code.name("i");
        code.loopLabel = label;
        sink.open(code);
        code.innerLoop({
          label,
          declare: `let ${index} = 0`,
          test: `${index} < ${count}`,
          advance: `${index}++`,
          atMost: source.atMost ?? null,
        }, () => {
          code.rowBlock(() => {
            source.bind(code, index);
            sink.row(code);
          });
        });
        break;
      }
      case "cursor": {
        source.prepare(code);
        const cursor = code.define("cursor", source.open(code));
        code.loopLabel = label;
        sink.open(code);
        code.innerLoop({ label, declare: "", test: "", advance: "", atMost: source.atMost ?? null }, () => {
          source.next(code, cursor, `break ${label};`);
          code.rowBlock(() => sink.row(code));
        });
      }
    }
    sink.close(code);
  }
}

/** A sink that only looks at rows; what it needs is in the frames around. */
export function rowSink(row: (code: Emitter) => void): Sink {
  return { open: () => {}, row, close: () => {} };
}

/** A sink with another row function in front of it. */
export function before(sink: Sink, row: (code: Emitter) => void): Sink {
  return { open: (code) => sink.open(code), row, close: (code) => sink.close(code) };
}
