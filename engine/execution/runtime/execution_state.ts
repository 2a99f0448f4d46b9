/**
 * One running statement: slots that generated code keeps its state in, the position in the program, and the memory
 * that is accounted for.
 *
 * A program is a list of pipelines. Each call of `Pipeline.run` works through a morsel and answers true at the end of
 * the pipeline. Procedures (uncorrelated subqueries, build sides shared by many iterations, the terms of a recursion)
 * are programs of their own: a pipeline calls one and answers false, and is run again when the subplan has ended.
 * Slots are `undefined` until the code that owns them fills them.
 *
 * Pieces are kept short by a batch size of rows, which follows the time that morsels take; a step is as many morsels
 * as fit into {@link STEP_MICROSECONDS}. What a statement answers does not depend on where its morsels end.
 */
import { gas } from "../../base/gas.ts";
import type { RowId } from "../../operations/effect.ts";
import type { BoundCast, BoundFunction, EvaluationContext } from "../../sql/functions/definition.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionContext, MemoryCount, StatementExecution } from "./execution.ts";
import { type MemoryProfile, type MemoryUser, OperatorMemory } from "./memory_user.ts";
import type { ResultWriter } from "./result_writer.ts";
import { StatementMemory } from "./statement_memory.ts";

/** A morsel of a program. */
export interface Pipeline {
  /** Works through one morsel. true: the pipeline is finished (and may be run again from its beginning). */
  run(state: ExecutionState): boolean;
  /** Whether rows of the result leave here; a step ends after a morsel that has written some. */
  readonly writesResult: boolean;
  /** Positions of the operators that work in this pipeline, for EXPLAIN ANALYZE. */
  readonly operators: readonly number[];
  /**
   * The generated code, for EXPLAIN (CODE): what has run, or would run over the tables of the context. Absent: none.
   */
  source?(context: ExecutionContext): string;
}

/** Receives a row of a row producer; the array is fresh for each row. */
export type RowCallback = (values: SqlValue[]) => void;

/** What one operator did. */
export interface OperatorProfile extends MemoryProfile {
  rows: number;
  microseconds: number;
  loops: number;
}

/** A step takes about this long at most. */
const STEP_MICROSECONDS = 1_000;
/** The batch size grows when a morsel took less time, and shrinks when it took more. */
const SHORT_MORSEL_MICROSECONDS = 40;
const LONG_MORSEL_MICROSECONDS = 120;
/** Rows of the first morsel of a pipeline, whose rows may cost anything. */
const FIRST_BATCH_ROWS = 1024;
/** A morsel of a scan works through so many rows at most. */
export const MAX_BATCH_ROWS = 4096;

/** So many morsels, if they are that short, pass between two looks at the clock. */
const MAX_MORSELS_PER_DEADLINE_CHECK = 32;

/** A program that has called a subplan. */
interface Caller {
  readonly pipelines: readonly Pipeline[];
  readonly pipeline: number;
}

/** What EXPLAIN ANALYZE knows of the code. */
export interface AnalyzedCode {
  /** For each operator itself and those above it. */
  readonly ancestors: readonly (readonly number[])[];
  /** For each slot its operator; -1: none. */
  readonly owners: readonly number[];
}

const noWriter: ResultWriter = {
  beginRow: () => {},
  writeNull: () => {},
  writeInteger: () => {},
  writeText: () => {},
  writeUtf8: () => {},
  writeValue: () => {},
  endRow: () => {},
};

/**
 * One running statement: slots that generated code keeps its state in, the position in the program, and the memory
 * that is accounted for.
 */
export class ExecutionState implements StatementExecution, MemoryUser {
  readonly context: ExecutionContext;
  readonly evaluation: EvaluationContext;
  readonly parameters: readonly SqlValue[];
  /** State of generated code. */
  readonly x: unknown[];
  writer: ResultWriter = noWriter;
  callback: RowCallback | null = null;
  rowCount = 0;
  insertedId: RowId | null = null;
  /** The last step has ended because rows of others are still to come. */
  isWaiting = false;
  /** Rows (or rounds of inner loops) that a morsel may work through. */
  batchRows = FIRST_BATCH_ROWS;
  readonly #profile: OperatorProfile[] | null;
  readonly #descendants: readonly (readonly number[])[];
  /** By operator. */
  readonly #users: readonly OperatorMemory[];
  readonly #owners: readonly number[];
  /** The running program and the position in it; beneath it those that wait for it. */
  #pipelines: readonly Pipeline[];
  #pipeline = 0;
  readonly #callers: Caller[] = [];
  #hasStarted = false;
  #hasTurns = false;
  #morselsPerCheck = 1;
  readonly #memory: MemoryCount;

  constructor(
    context: ExecutionContext,
    pipelines: readonly Pipeline[],
    slots: number,
    analyze: AnalyzedCode | null,
  ) {
    this.context = context;
    this.#memory = context.memory ?? new StatementMemory(context);
    this.evaluation = context.evaluation;
    this.parameters = context.parameters;
    this.#pipelines = pipelines;
    this.x = new Array<unknown>(slots);
    this.#descendants = analyze === null ? [] : analyze.ancestors;
    this.#profile = analyze === null ? null : analyze.ancestors.map(() => ({
      ...{ rows: 0, microseconds: 0, loops: 1 },
      ...{ memoryBytes: 0, spilledBytes: 0, runs: 0, passes: 0 },
    }));
    this.#owners = analyze?.owners ?? [];
    this.#users = this.#profile?.map((profile) => new OperatorMemory(this, profile)) ?? [];
  }

  /** EXPLAIN ANALYZE's counters; see {@link StatementExecution}. */
  get profile(): readonly OperatorProfile[] {
    return this.#profile ?? [];
  }

  /** Works through as many morsels as a step may take, and writes their rows. The writer is the same in each step. */
  step(writer: ResultWriter): boolean {
    this.writer = writer;
    this.isWaiting = false;
    gas.beginTurn();
    const { context } = this;
    const rowsBefore = this.rowCount;
    // Most statements end in their first step without a look at the clock.
    let before = this.#hasStarted ? context.monotonic() : NaN;
    let end = before + STEP_MICROSECONDS;
    this.#hasStarted = true;
    for (let morsels = 1;; morsels++) {
      const pipeline = this.#pipelines[this.#pipeline];
      if (pipeline === undefined) {
        const caller = this.#callers.pop();
        if (caller === undefined) return true;
        this.#pipelines = caller.pipelines;
        this.#pipeline = caller.pipeline;
        continue;
      }
      const done = this.#profile === null ? pipeline.run(this) : this.#measured(pipeline, this.#profile);
      if (done) {
        this.#pipeline++;
        if (this.batchRows > FIRST_BATCH_ROWS) this.batchRows = FIRST_BATCH_ROWS;
        if (this.#callers.length === 0) {
          if (this.#pipeline === this.#pipelines.length) return true;
          this.#morselsPerCheck = 1;
        }
      } else if (this.isWaiting) return false;
      const hasWritten = !done && pipeline.writesResult && this.rowCount !== rowsBefore;
      const isTurnDue = gas.isTurnDue;
      if (morsels < this.#morselsPerCheck && !hasWritten && !isTurnDue) continue;
      const now = context.monotonic();
      if (before !== before) end = now + STEP_MICROSECONDS;
      else this.#fitPieces(now - before);
      if (now >= end || hasWritten || isTurnDue) {
        context.checkCanceled();
        return false;
      }
      before = now;
      morsels = 0;
    }
  }

  /**
   * Runs a subplan to its end before the calling pipeline goes on, which must now end its morsel by answering false.
   */
  call(pipelines: readonly Pipeline[]): void {
    this.#callers.push({ pipelines: this.#pipelines, pipeline: this.#pipeline });
    this.#pipelines = pipelines;
    this.#pipeline = 0;
  }

  /** Called before a morsel whose rows may be costly: the first one works through so few of them. */
  beginTurns(rows: number): void {
    if (this.#hasTurns) return;
    this.#hasTurns = true;
    this.batchRows = rows;
  }

  /** The value of a call on large values, which another thread may compute; see {@link ExecutionContext.callLarge}. */
  callLarge(called: BoundFunction | BoundCast, ...args: SqlValue[]): SqlValue {
    // What has been sent cannot be taken back.
    const elsewhere = this.writer.hasSent === true ? undefined : this.context.callLarge?.(called, args);
    if (elsewhere !== undefined) return elsewhere.value;
    const [first = null] = args;
    return "to" in called
      ? called.evaluate(this.evaluation, first)
      : called.evaluate(this.evaluation, ...args);
  }

  /** Follows the time that has passed between two looks at the clock. */
  #fitPieces(elapsed: number): void {
    if (elapsed > LONG_MORSEL_MICROSECONDS) {
      if (this.#morselsPerCheck > 1) this.#morselsPerCheck >>= 1;
      const excess = Math.ceil(elapsed / LONG_MORSEL_MICROSECONDS);
      this.batchRows = Math.max(1, Math.floor(this.batchRows / Math.max(2, excess)));
    } else if (this.batchRows < MAX_BATCH_ROWS) {
      // A few long morsels cost less than many short ones: what is not too long moves from their number to their
      // length.
      if (elapsed < SHORT_MORSEL_MICROSECONDS) this.batchRows *= 2;
      else if (this.#morselsPerCheck > 1) {
        this.batchRows *= 2;
        this.#morselsPerCheck >>= 1;
      }
    } else if (
      elapsed < SHORT_MORSEL_MICROSECONDS && this.#morselsPerCheck < MAX_MORSELS_PER_DEADLINE_CHECK
    ) {
      this.#morselsPerCheck *= 2;
    }
  }

  /**
   * Works through a morsel for EXPLAIN ANALYZE: its time goes to the pipeline's operators and to all that wait for
   * it.
   */
  #measured(pipeline: Pipeline, profiles: readonly OperatorProfile[]): boolean {
    const running = [pipeline.operators];
    for (const { pipelines, pipeline } of this.#callers) running.push(pipelines[pipeline]?.operators ?? []);
    const begin = this.context.monotonic();
    const done = pipeline.run(this);
    const elapsed = this.context.monotonic() - begin;
    const counted = new Set<number>();
    for (const operator of running.flat()) {
      for (const ancestor of this.#descendants[operator] ?? []) counted.add(ancestor);
    }
    for (const operator of counted) {
      const profile = profiles[operator];
      if (profile !== undefined) profile.microseconds += elapsed;
    }
    return done;
  }

  /** What the object of a slot is charged to. */
  userOf(slot: number): MemoryUser {
    return this.#users[this.#owners[slot] ?? -1] ?? this;
  }

  wrote(): void {}
  beganRun(): void {}
  beganPass(): void {}

  /** Notes a row that an operator gave out; called by code compiled for EXPLAIN ANALYZE. */
  countRow(operator: number): void {
    const profile = this.#profile?.[operator];
    if (profile !== undefined) profile.rows++;
  }

  /** What is accounted for is not far from the limit: tables grow by doubling. */
  get isNearlyFull(): boolean {
    return this.#memory.bytes > this.context.memoryLimitBytes / 4;
  }

  /** What can be put into files should be from now on. */
  get mustSpill(): boolean {
    return this.context.spillFile !== undefined && (this.isNearlyFull || !this.#memory.canDouble);
  }

  /** The same for what has so many bytes, which may be a little even where others have much. */
  mustSpillBeyond(bytes: number): boolean {
    const { memoryLimitBytes } = this.context;
    const isLittle = bytes <= memoryLimitBytes / 16 && this.#memory.bytes <= memoryLimitBytes * 5 / 8;
    return !isLittle && this.mustSpill;
  }

  /** Half of the memory is taken. */
  get isHalfFull(): boolean {
    return this.#memory.bytes > this.context.memoryLimitBytes / 2;
  }

  /** Whether there is no more than half of the memory taken with so much more, or than another share. */
  hasRoomFor(bytes: number, share = 1 / 2): boolean {
    return bytes <= this.roomBytes(share);
  }

  /** The bytes for which there is room so. */
  roomBytes(share = 1 / 2): number {
    return this.context.memoryLimitBytes * share - this.#memory.bytes;
  }

  /** Accounts for memory; 53200 beyond the statement's limit. Negative amounts give back. */
  charge(bytes: number): void {
    this.#memory.charge(bytes);
  }

  chargeValue(bytes: number): void {
    this.#memory.chargeValue(bytes);
  }
}
