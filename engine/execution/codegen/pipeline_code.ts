/**
 * A stage's function in its two versions (see `emitter.ts`), made when they are first needed: the plain one runs while the
 * loops inside of a row are known to be short together, otherwise the stepping one, which is left and gone on with.
 */
import type { Block } from "../../storage/vector.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";
import { Emitter, type RoundLimit } from "./emitter.ts";

/** A stepping function that has begun; what it returns is what the plain one would have answered. */
export type RunningStage = Generator<void, boolean, void>;

type StageFunction = (
  state: ExecutionState,
  block?: Block,
  from?: number,
  to?: number,
) => boolean | RunningStage;

/** What is emitted. */
export interface StageText {
  readonly emit: (code: Emitter) => void;
  readonly name: string;
  readonly parameters: "S" | "S, block, from, to";
}

/** Rounds of inner loops that one row may take in the plain version. */
const MAX_ROUNDS = 64;

/** See the file's head. */
export class StageCode {
  /** Whether rows of the result leave here; known once it has run. */
  writesResult = false;
  readonly #compilation: Compilation;
  readonly #text: StageText;
  #plain: StageFunction | null = null;
  #stepping: StageFunction | null = null;
  #roundLimits: readonly RoundLimit[] | null = null;
  #isUnbounded = false;

  constructor(compilation: Compilation, text: StageText) {
    this.#compilation = compilation;
    this.#text = text;
  }

  /** Begins a piece: its answer, or the begun stepping function. */
  begin(state: ExecutionState, block?: Block, from?: number, to?: number): boolean | RunningStage {
    if (this.#roundLimits === null) this.#compile();
    if (this.#plain !== null && this.#isShort(state)) return this.#plain(state, block, from, to);
    if (this.#stepping === null) {
      const code = new Emitter(this.#compilation, { isStepping: true });
      this.#stepping = code.compile<StageFunction>(this.#sourceOf(code));
    }
    return this.#stepping(state, block, from, to);
  }

  #isShort(state: ExecutionState): boolean {
    const limits = this.#roundLimits ?? [];
    let rounds = 1;
    for (let index = 0; index < limits.length; index++) {
      const limit = (limits[index] as RoundLimit)(state);
      // Loops may stand behind one another: one without rounds does not make the others short.
      if (limit > 1) rounds *= limit;
    }
    return rounds === 1 || rounds <= MAX_ROUNDS && rounds <= state.quota;
  }

  #compile(): void {
    const code = new Emitter(this.#compilation);
    const text = this.#sourceOf(code);
    this.writesResult = code.writesResult;
    this.#roundLimits = code.roundLimits;
    this.#isUnbounded = code.isUnbounded;
    if (!code.isUnbounded) this.#plain = code.compile<StageFunction>(text);
  }

  #sourceOf(code: Emitter): string {
    this.#text.emit(code);
    return code.source(this.#text.name, this.#text.parameters);
  }

  /** The text, for EXPLAIN (CODE): of the plain version, if there can be one. */
  source(): string {
    if (this.#roundLimits === null) this.#compile();
    return this.#sourceOf(new Emitter(this.#compilation, { isStepping: this.#isUnbounded }));
  }
}
