/**
 * A join of a statement that has begun anew, whose kept rows fit into memory after all: it runs over the rows of the
 * other side batch by batch as they come, and writes none of them.
 *
 * The pipelines of one round are, in this order: those that build the hash table, the one over the rows of the other
 * side, and those over kept rows with or without a partner. The first run with the first batch, the last behind all.
 */
import { assertDefined } from "../../base/assert.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { bufferOf } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import type { Program, Region } from "../codegen/region.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import type { RowBuffer } from "../runtime/row_buffer.ts";
import type { DividedCode, RowBatches } from "./divided_code.ts";

/** What a batch takes at the most: it should be in a processor's cache. */
const BATCH_BYTES = 1 << 20;

/** A join that runs so. */
interface Running {
  /** What its hash table is going to take, until that is there. */
  reserved: number;
  isBuilt: boolean;
  isDone: boolean;
}

/** See the file's head. */
export class Batches implements RowBatches {
  /** Holds what is known while the join runs so. */
  readonly slot: number;
  readonly #kept: DividedCode;
  readonly #other: DividedCode;
  readonly #plan: Plan;
  #pipelines: { readonly build: Pipeline[]; readonly probe: Pipeline[]; readonly rest: Pipeline[] } | null =
    null;

  constructor(
    compilation: Compilation,
    { kept, other, plan }: { readonly kept: DividedCode; readonly other: DividedCode; readonly plan: Plan },
  ) {
    this.slot = compilation.newSlot();
    this.#kept = kept;
    this.#other = other;
    this.#plan = plan;
  }

  /** Notes the program of a round. */
  runOver(round: Program): void {
    const { pipelines } = round;
    const place = assertDefined(round.placeOf(this.#plan), "a pipeline over the other side");
    this.#pipelines = {
      build: pipelines.slice(0, place),
      probe: pipelines.slice(place, place + 1),
      rest: pipelines.slice(place + 1),
    };
  }

  /** When all kept rows are there. */
  readonly decision: Pipeline = {
    writesResult: false,
    operators: [],
    run: (state) => {
      const buffer = bufferIn(state, this.#kept);
      // The hash table has the rows besides.
      const reserved = buffer.measure() + buffer.count * this.#kept.keptBytes;
      if (this.#kept.rowsIn(state).parts.length > 0 || !state.hasRoomFor(reserved)) return true;
      state.charge(reserved);
      this.#other.rowsIn(state).limitShare(BATCH_BYTES);
      state.x[this.slot] = { reserved, isBuilt: false, isDone: false } satisfies Running;
      return true;
    },
  };

  /** Whether the join runs so. */
  isOn(state: ExecutionState): boolean {
    return state.x[this.slot] !== undefined;
  }

  /** See {@link RowBatches}. */
  emitNext(code: Emitter): void {
    code.block(`if (S.x[${this.slot}] !== undefined) `, "conditional", () => {
      code.call(
        `${code.use("nextBatch", this.#next)}(S)`,
        (state) => this.isOn(state) ? Infinity : 1,
      );
      code.emit(`${code.use("emptyBatch", this.#empty)}(S);`);
    });
  }

  /** Behind the rows of the other side, where the join runs otherwise. */
  finish(plan: Plan, region: Region): void {
    this.#other.finish(plan, region, `S.x[${this.slot}] === undefined`);
  }

  /** The last batch, and what comes behind it; null: that has run. */
  last(state: ExecutionState): readonly Pipeline[] | null {
    const running = this.#running(state);
    if (running.isDone) return null;
    running.isDone = true;
    return [...this.#next(state), ...assertDefined(this.#pipelines, "pipelines").rest];
  }

  /** Forgets what is known. */
  end(state: ExecutionState): void {
    state.charge(-this.#running(state).reserved);
    state.x[this.slot] = undefined;
  }

  #running(state: ExecutionState): Running {
    return state.x[this.slot] as Running;
  }

  readonly #next = (state: ExecutionState): readonly Pipeline[] => {
    const { build, probe } = assertDefined(this.#pipelines, "pipelines");
    const running = this.#running(state);
    open(state, this.#other);
    if (running.isBuilt) return probe;
    running.isBuilt = true;
    state.charge(-running.reserved);
    running.reserved = 0;
    open(state, this.#kept);
    return [...build, ...probe];
  };

  readonly #empty = (state: ExecutionState): void => {
    bufferIn(state, this.#other).reset();
    this.#other.rowsIn(state).full = 0;
  };
}

function bufferIn(state: ExecutionState, { buffer }: DividedCode): RowBuffer {
  return bufferOf(state, buffer.slot, buffer.columns);
}

function open(state: ExecutionState, side: DividedCode): void {
  state.x[side.readerSlot] = side.rowsIn(state).open(bufferIn(state, side), null);
}
