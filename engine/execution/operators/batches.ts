/**
 * A join of a statement that has begun anew, as far as its kept rows fit into memory (hybrid hashing; DeWitt et al.,
 * SIGMOD 1984): rows of the other side that belong to these parts go on batch by batch as they come, as do those that
 * are known to have no partner anywhere, and only the others are written.
 *
 * The pipelines of one round are, in this order: those that build the hash table, the one over the rows of the other
 * side, and those over kept rows with or without a partner. The first run with the first batch, the last behind all.
 */
import { assertDefined } from "../../base/assert.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { inputs } from "../../sql/plan/traverse.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import type { Program } from "../codegen/region.ts";
import { type ExecutionState, MAX_BATCH_ROWS, type Pipeline } from "../runtime/execution_state.ts";
import { groupParts, joinParts, type Part, PART_COUNT, ROUND_SHARE } from "../runtime/partitioned_rows.ts";
import type { RowBuffer } from "../runtime/row_buffer.ts";
import { allOf, GeneratorWork } from "../runtime/work.ts";
import type { DividedCode, RowBatches } from "./divided_code.ts";
import type { DividedFilters } from "./divided_filters.ts";
import { emitSpill, openSpillOf, type SpillNames } from "./sort.ts";

/** What a batch takes at the most, unless rows are large: it should be in a processor's cache. */
const BATCH_BYTES = 1 << 20;
/** The part of the memory that a batch takes at the most. */
const BATCH_SHARE = 1 / 16;
/** The part that some of the kept rows take where joins below the other side, which come next, may need it for all. */
const SHARE_BEFORE_JOINS = 1 / 8;
/** Rows that a morsel may make of one, while no loop in it is long. */
const MAX_PARTNERS = 64;

/** A join that runs so. */
class Running {
  /** {@link isDue} is to be asked behind the row of this number. */
  full = 0;
  /** By part, whether its kept rows are in memory. */
  readonly own = new Uint8Array(PART_COUNT);
  /** What is kept of them is read of this; null: of the buffer. */
  kept: Part | null = null;
  /** What the hash table is going to take, until that is there. */
  reserved = 0;
  isOn = false;
  isBuilt = false;
  isDone = false;
  readonly #most: number;

  constructor(state: ExecutionState) {
    this.#most = Math.min(BATCH_BYTES, state.context.memoryLimitBytes * BATCH_SHARE);
  }

  /** Whether a batch may become due within so many rows. */
  isNear(buffer: RowBuffer, rows: number): boolean {
    const { count, rowBytes } = buffer;
    const bytes = buffer.usedBytes;
    return bytes + rows * (count === 0 ? rowBytes : bytes / count) > this.#most;
  }

  /** Whether the rows are a batch; otherwise {@link full} is moved on. */
  isDue(buffer: RowBuffer): boolean {
    const bytes = buffer.usedBytes;
    if (bytes > this.#most / 2) return true;
    this.full = buffer.count + Math.floor((this.#most / 2 - bytes) * buffer.count / bytes / 2);
    return false;
  }
}

/** See the file's head. */
export class Batches implements RowBatches {
  /** Holds what is known while the join runs so. */
  readonly slot: number;
  readonly #kept: DividedCode;
  readonly #other: DividedCode;
  readonly #plan: Plan;
  readonly #filters: DividedFilters;
  readonly #key = {};
  #pipelines: { readonly build: Pipeline[]; readonly probe: Pipeline[]; readonly rest: Pipeline[] } | null =
    null;

  /** `plan`: that of the other side. */
  constructor(
    compilation: Compilation,
    { kept, other, plan, filters }: {
      readonly kept: DividedCode;
      readonly other: DividedCode;
      readonly plan: Plan;
      readonly filters: DividedFilters;
    },
  ) {
    this.slot = compilation.newSlot();
    this.#kept = kept;
    this.#other = other;
    this.#plan = plan;
    this.#filters = filters;
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

  /** When all kept rows are there: which parts of them stay in memory. */
  readonly decision: Pipeline = {
    writesResult: false,
    operators: [],
    run: (state) => {
      const known = state.x[this.slot];
      const work = known instanceof GeneratorWork ? known as GeneratorWork<Running> : this.#decide(state);
      if (!work.advance()) {
        state.x[this.slot] = work;
        return false;
      }
      state.x[this.slot] = work.result;
      return true;
    },
  };

  #decide(state: ExecutionState): GeneratorWork<Running> {
    const kept = this.#kept;
    const other = this.#other;
    const rows = kept.rowsIn(state);
    const joinsFollow = hasJoin(this.#plan);
    const filters = this.#filters;
    return new GeneratorWork((function* () {
      const running = new Running(state);
      if (filters.isExact(state)) {
        rows.release();
        kept.bufferIn(state).release();
        running.own.fill(1);
        running.kept = joinParts([]);
      } else if (rows.parts.length === 0) {
        const bytes = kept.bytesOfTaken(state);
        if (state.hasRoomFor(bytes)) {
          running.own.fill(1);
          running.reserved = bytes;
        } else yield* allOf(rows.writeRest(kept.bufferIn(state)));
      }
      const sizes = rows.parts.map((part) => kept.bytesOfWritten(part));
      const whole = sizes.reduce((sum, bytes) => sum + bytes, 0);
      const share = joinsFollow && !state.hasRoomFor(whole) ? SHARE_BEFORE_JOINS : undefined;
      for (const [index, bytes] of sizes.entries()) {
        if (!state.hasRoomFor(running.reserved + bytes, share)) continue;
        running.own[index] = 1;
        running.reserved += bytes;
      }
      if (sizes.length > 0) {
        running.kept = joinParts(rows.parts.filter((_, index) => running.own[index] === 1));
        const groups = groupParts(sizes, state.context.memoryLimitBytes * ROUND_SHARE, running.own);
        rows.group(groups);
        other.rowsIn(state).group(groups);
      }
      running.isOn = !filters.ends || running.own.includes(1);
      state.charge(running.reserved);
      return running;
    })());
  }

  /** Whether the join still runs so. */
  isOn(state: ExecutionState): boolean {
    return this.#running(state).isOn;
  }

  /** By part, whether its rows have gone on already. */
  ownIn(state: ExecutionState): Uint8Array {
    return this.#running(state).own;
  }

  /** See {@link RowBatches}. */
  open(code: Emitter): void {
    const running = code.define("batches", `S.x[${this.slot}]`);
    const own = code.define("own", `${running}.own`);
    this.#other.buffer.openAppend(code);
    code.note(this.#key, { own, spill: openSpillOf(code, running) });
  }

  /** See {@link RowBatches}. */
  goesOn(code: Emitter, hash: string): string {
    const isOwn = `${code.recall<{ own: string }>(this.#key).own}[${hash} & ${PART_COUNT - 1}] !== 0`;
    return this.#filters.ends ? isOwn : `${isOwn} || ${this.#filters.misses(code, hash)}`;
  }

  /** See {@link RowBatches}. */
  take(code: Emitter, values: readonly Value[]): void {
    const { buffer } = this.#other;
    const rows = MAX_BATCH_ROWS * (code.isOncePerRow ? 1 : MAX_PARTNERS);
    const row = buffer.append(code, values);
    const atMost = (state: ExecutionState) => {
      const running = this.#running(state);
      return running.isOn && running.isNear(this.#other.bufferIn(state), rows) ? Infinity : 1;
    };
    code.limitRounds(atMost);
    if (!code.isResumable) return;
    const { spill } = code.recall<{ spill: SpillNames }>(this.#key);
    emitSpill(code, buffer, row, spill, () => {
      code.call(`${code.use("nextBatch", this.#next)}(S)`, atMost);
      code.emit(`${code.use("emptyBatch", this.#empty)}(S);`);
    });
  }

  /** See {@link RowBatches}. */
  close(code: Emitter): void {
    this.#other.buffer.closeAppend(code);
  }

  /** The last batch, and what comes behind it; null: that has run. */
  last(state: ExecutionState): readonly Pipeline[] | null {
    const running = this.#running(state);
    if (running.isDone) return null;
    running.isDone = true;
    return [...this.#next(state), ...assertDefined(this.#pipelines, "pipelines").rest];
  }

  /** The other parts come next. */
  end(state: ExecutionState): void {
    const running = this.#running(state);
    state.charge(-running.reserved);
    running.reserved = 0;
    running.isOn = false;
  }

  #running(state: ExecutionState): Running {
    return state.x[this.slot] as Running;
  }

  readonly #next = (state: ExecutionState): readonly Pipeline[] => {
    const { build, probe } = assertDefined(this.#pipelines, "pipelines");
    const running = this.#running(state);
    this.#other.read(state, null);
    if (running.isBuilt) return probe;
    running.isBuilt = true;
    state.charge(-running.reserved);
    running.reserved = 0;
    this.#kept.read(state, running.kept);
    return [...build, this.#built, ...probe];
  };

  /** The hash table has what was taken. */
  readonly #built: Pipeline = {
    writesResult: false,
    operators: [],
    run: (state) => {
      this.#kept.bufferIn(state).release();
      return true;
    },
  };

  readonly #empty = (state: ExecutionState): void => {
    this.#other.bufferIn(state).reset();
    this.#running(state).full = 0;
  };
}

function hasJoin(plan: Plan): boolean {
  return plan.kind === "hash_join" || inputs(plan).some(hasJoin);
}
