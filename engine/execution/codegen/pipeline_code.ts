/**
 * A pipeline's function in its two versions (see `emitter.ts`), made when they are first needed: the plain one runs
 * while the loops inside of a row are known to be short together, otherwise the resumable one, which is left and gone
 * on with.
 */
import type { Block } from "../../storage/access/block.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";
import { Emitter, FEW_ROWS, indented, type RoundLimit } from "./emitter.ts";

/** A resumable function that has begun; what it returns is what the plain one would have answered. */
export type RunningPipeline = Generator<void, boolean, void>;

type PipelineFunction = (
  state: ExecutionState,
  block?: Block,
  from?: number,
  to?: number,
) => boolean | RunningPipeline;

/** What is emitted. */
export interface PipelineText {
  readonly emit: (code: Emitter) => void;
  readonly name: string;
  readonly parameters: "S" | "S, block, from, to";
}

/** Rounds of inner loops that one row may take in the plain version. */
const MAX_ROUNDS = 64;

/**
 * A pipeline's function in its two versions (see `emitter.ts`), made when they are first needed: the plain one runs
 * while the loops inside of a row are known to be short together, otherwise the resumable one, which is left and gone
 * on with.
 */
export class PipelineCode {
  /** Whether rows of the result leave here; known once it has run. */
  writesResult = false;
  readonly #compilation: Compilation;
  readonly #text: PipelineText;
  #plain: PipelineFunction | null = null;
  #resumable: PipelineFunction | null = null;
  #roundLimits: readonly RoundLimit[] | null = null;
  #isUnbounded = false;
  #hasTurns = false;

  constructor(compilation: Compilation, text: PipelineText) {
    this.#compilation = compilation;
    this.#text = text;
  }

  /** Begins a morsel: its answer, or the begun resumable function. */
  begin(state: ExecutionState, block?: Block, from?: number, to?: number): boolean | RunningPipeline {
    if (this.#roundLimits === null) this.#compile();
    if (this.#hasTurns) state.beginTurns(FEW_ROWS);
    const isLong = this.#hasTurns && from !== undefined && to !== undefined && to - from > FEW_ROWS;
    if (this.#plain !== null && !isLong && this.#isShort(state)) return this.#plain(state, block, from, to);
    if (this.#resumable === null) {
      const code = new Emitter(this.#compilation, { isResumable: true });
      this.#resumable = code.compile<PipelineFunction>(this.#sourceOf(code));
    }
    return this.#resumable(state, block, from, to);
  }

  #isShort(state: ExecutionState): boolean {
    const limits = this.#roundLimits ?? [];
    let rounds = 1;
    for (let index = 0; index < limits.length; index++) {
      const limit = (limits[index] as RoundLimit)(state);
      // Loops may follow one another: one without rounds does not make the others short.
      if (limit > 1) rounds *= limit;
    }
    return rounds === 1 || rounds <= MAX_ROUNDS && rounds <= state.batchRows;
  }

  #compile(): void {
    const code = new Emitter(this.#compilation);
    const text = this.#sourceOf(code);
    this.writesResult = code.writesResult;
    this.#roundLimits = code.roundLimits;
    this.#isUnbounded = code.isUnbounded;
    this.#hasTurns = code.hasTurns;
    if (!code.isUnbounded) this.#plain = code.compile<PipelineFunction>(text);
  }

  #sourceOf(code: Emitter): string {
    this.#text.emit(code);
    return code.source(this.#text.name, this.#text.parameters);
  }

  /** The text, for EXPLAIN (CODE): of the plain version, if there can be one. */
  source(): string {
    if (this.#roundLimits === null) this.#compile();
    return indented(this.#sourceOf(new Emitter(this.#compilation, { isResumable: this.#isUnbounded })));
  }
}
