/**
 * Where the loops of a plan are put.
 *
 * Operators are compiled by producing and consuming (Neumann, "Efficiently Compiling Efficient Query Plans", VLDB 2011):
 * a producer emits a loop, and for each row the code of its {@link Sink}. In a {@link Program} each loop becomes a stage,
 * a function of its own that can be left and entered again after a piece. In an {@link InlineRegion} loops stand in the
 * code of a surrounding row, whose columns they can refer to, and run to their end.
 *
 * A sink's `open` and `close` stand around the loop and keep what the rows need in local variables. A program with no
 * rows at all may never open its sinks, so state is made by whoever needs it first.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { ExecutionState, Stage } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";
import { Emitter, type StageFunction } from "./emitter.ts";

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
  | { readonly kind: "counted"; count(code: Emitter): string; bind(code: Emitter, index: string): void }
  /** A cursor made by the expression `open`; `next` emits code that gets an item or breaks out of the loop. */
  | {
    readonly kind: "cursor";
    prepare(code: Emitter): void;
    open(code: Emitter): string;
    next(code: Emitter, cursor: string): void;
  };

/** See the file's head. */
export interface Region {
  readonly compilation: Compilation;
  /** True for an {@link InlineRegion}. */
  readonly isInline: boolean;
  /** Code that runs once at this place. */
  once(plan: Plan, emit: (code: Emitter) => void): void;
  loop(plan: Plan, source: LoopSource, sink: Sink): void;
  /** State that must be forgotten when the region runs again. */
  reset(...slots: readonly number[]): void;
  /** The same region, but what is put there is skipped once the slot holds true. */
  until(slot: number): Region;
}

/** Rows (or pieces of cursors) that one call of a stage works through. */
export const PIECE_ROWS = 4096;

/** A list of stages; see the file's head. */
export class Program implements Region {
  readonly compilation: Compilation;
  readonly isInline = false;
  readonly stages: Stage[];
  readonly #reruns: boolean;
  readonly #flags: readonly number[];

  /** `reruns`: the program runs several times in one execution. */
  constructor(
    compilation: Compilation,
    options: { readonly reruns: boolean; readonly stages?: Stage[]; readonly flags?: readonly number[] },
  ) {
    this.compilation = compilation;
    this.#reruns = options.reruns;
    this.stages = options.stages ?? [];
    this.#flags = options.flags ?? [];
  }

  /** See {@link Region.until}. */
  until(slot: number): Program {
    return new Program(this.compilation, {
      reruns: this.#reruns,
      stages: this.stages,
      flags: [...this.#flags, slot],
    });
  }

  /** See {@link Region.reset}. */
  reset(...slots: readonly number[]): void {
    if (!this.#reruns) return;
    this.stages.push({
      writesResult: false,
      operators: [],
      source: () => "",
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

  /** Adds a stage of its own making. */
  add(stage: Stage): void {
    this.stages.push(stage);
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
          const end = code.define("end", `Math.min(${count}, ${index} + ${PIECE_ROWS})`);
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
          code.emit(`if (${index} >= ${count}${this.#stopped()}) { S.x[${slot}] = undefined; return true; }`);
          code.emit("S.context.checkCancelled();");
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
          const budget = code.name("budget");
          code.emit(`let ${budget} = ${PIECE_ROWS}, done = false;`);
          code.block(`${label}: for (;; ${budget}--) `, "row", () => {
            code.emit(`if (${budget} === 0) break;`);
            code.emit("done = true;");
            source.next(code, "cursor");
            code.emit("done = false;");
            code.rowBlock(() => sink.row(code));
          });
          sink.close(code);
          code.emit(`if (done${this.#stopped()}) { S.x[${slot}] = undefined; return true; }`);
          code.emit("S.context.checkCancelled();");
          code.emit("return false;");
        }
      }
    });
  }

  #stopped(): string {
    return this.#flags.map((flag) => ` || S.x[${flag}] === true`).join("");
  }

  #add(plan: Plan, emit: (code: Emitter) => void): void {
    this.stages.push(new CodeStage(this.compilation, plan, this.stages.length, emit, this.#flags));
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

/** A stage whose function is generated when it first runs. */
class CodeStage implements Stage {
  writesResult = false;
  readonly operators: readonly number[];
  readonly #compilation: Compilation;
  readonly #emit: (code: Emitter) => void;
  readonly #flags: readonly number[];
  readonly #name: string;
  #function: StageFunction | null = null;
  #source = "";

  constructor(
    compilation: Compilation,
    plan: Plan,
    index: number,
    emit: (code: Emitter) => void,
    flags: readonly number[],
  ) {
    this.#compilation = compilation;
    this.#emit = emit;
    this.#flags = flags;
    this.#name = `stage${index}_${plan.kind}`;
    this.operators = [compilation.operatorIndex(plan)];
  }

  run(state: ExecutionState): boolean {
    const flags = this.#flags;
    for (let index = 0; index < flags.length; index++) {
      if (state.x[flags[index] as number] === true) return true;
    }
    if (this.#function === null) this.#function = this.#compile();
    return this.#function(state);
  }

  source(): string {
    if (this.#source === "") this.#function = this.#compile();
    return this.#source;
  }

  #compile(): StageFunction {
    const code = new Emitter(this.#compilation);
    this.#emit(code);
    this.#source = code.source(this.#name, "S");
    this.writesResult = code.writesResult;
    return code.compile<StageFunction>(this.#source);
  }
}

/** Loops in the code of a surrounding row; see the file's head. */
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
    code.emit("S.tick();");
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
        code.block(`${label}: for (let ${index} = 0; ${index} < ${count}; ${index}++) `, "row", () => {
          code.emit(`if ((${index} & 4095) === 4095) S.context.checkCancelled();`);
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
        code.block(`${label}: for (;;) `, "row", () => {
          code.emit("S.tick();");
          source.next(code, cursor);
          code.rowBlock(() => sink.row(code));
        });
      }
    }
    sink.close(code);
  }
}

/** A sink that only looks at rows; what it needs stands in the frames around. */
export function rowSink(row: (code: Emitter) => void): Sink {
  return { open: () => {}, row, close: () => {} };
}

/** A sink with another row function in front of it. */
export function before(sink: Sink, row: (code: Emitter) => void): Sink {
  return { open: (code) => sink.open(code), row, close: (code) => sink.close(code) };
}
