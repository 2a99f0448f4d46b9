/**
 * One running statement: slots that generated code keeps its state in, the position in the program, and the memory
 * that is accounted for.
 *
 * A program is a list of stages. Each call of `Stage.run` works through a bounded piece and answers true at the end of
 * the stage. Procedures (uncorrelated subqueries, build sides shared by many iterations) are programs of their own that
 * run to their end without yielding. Slots are `undefined` until the code that owns them fills them.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { RowId } from "../../operations/effect.ts";
import type { EvaluationContext } from "../../sql/functions/definition.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionContext, StatementExecution } from "../execution.ts";
import type { ResultWriter } from "../result_writer.ts";

/** A piece of a program. */
export interface Stage {
  /** Works through one piece. true: the stage is finished (and may be run again from its beginning). */
  run(state: ExecutionState): boolean;
  /** Whether rows of the result leave here; such stages yield after each piece. */
  readonly writesResult: boolean;
  /** Positions of the operators that work in this stage, for EXPLAIN ANALYZE. */
  readonly operators: readonly number[];
  /** The generated code, for EXPLAIN (CODE). */
  source(): string;
}

/** Receives a row of a row producer; the array is fresh for each row. */
export type RowCallback = (values: SqlValue[]) => void;

/** What one operator did. */
export interface OperatorProfile {
  rows: number;
  microseconds: number;
  loops: number;
}

/** Pieces of stages without results that one step runs before it yields. */
const PIECES_PER_STEP = 8;

const noWriter: ResultWriter = {
  beginRow: () => {},
  writeNull: () => {},
  writeInteger: () => {},
  writeText: () => {},
  writeUtf8: () => {},
  writeValue: () => {},
  endRow: () => {},
};

/** See the file's head. */
export class ExecutionState implements StatementExecution {
  readonly context: ExecutionContext;
  readonly evaluation: EvaluationContext;
  readonly parameters: readonly SqlValue[];
  /** State of generated code. */
  readonly x: unknown[];
  writer: ResultWriter = noWriter;
  callback: RowCallback | null = null;
  rowCount = 0;
  insertedId: RowId | null = null;
  /** Counts iterations of inner loops, so that they look for cancellation now and then. */
  ticks = 0;
  readonly #stages: readonly Stage[];
  readonly #profile: OperatorProfile[] | null;
  readonly #descendants: readonly (readonly number[])[];
  #stage = 0;
  #memoryBytes = 0;

  constructor(
    context: ExecutionContext,
    stages: readonly Stage[],
    slots: number,
    analyze: { readonly ancestors: readonly (readonly number[])[] } | null,
  ) {
    this.context = context;
    this.evaluation = context.evaluation;
    this.parameters = context.parameters;
    this.#stages = stages;
    this.x = new Array<unknown>(slots);
    this.#descendants = analyze === null ? [] : analyze.ancestors;
    this.#profile = analyze === null
      ? null
      : analyze.ancestors.map(() => ({ rows: 0, microseconds: 0, loops: 1 }));
  }

  /** EXPLAIN ANALYZE's counters; see {@link StatementExecution}. */
  get profile(): readonly OperatorProfile[] {
    return this.#profile ?? [];
  }

  /** Works through one piece and writes its rows. */
  step(writer: ResultWriter): boolean {
    this.writer = writer;
    const stages = this.#stages;
    for (let pieces = 0; this.#stage < stages.length;) {
      const stage = stages[this.#stage] as Stage;
      if (this.runPiece(stage)) this.#stage++;
      else if (stage.writesResult || ++pieces >= PIECES_PER_STEP) return false;
    }
    return true;
  }

  /** Runs stages to their end. */
  run(stages: readonly Stage[]): void {
    for (const stage of stages) while (!this.runPiece(stage));
  }

  /** Works through one piece of a stage; with EXPLAIN ANALYZE its time is noted. */
  runPiece(stage: Stage): boolean {
    if (this.#profile === null) return stage.run(this);
    const begin = this.evaluation.clockTimestamp();
    const done = stage.run(this);
    const elapsed = this.evaluation.clockTimestamp() - begin;
    const counted = new Set<number>();
    for (const operator of stage.operators) {
      for (const ancestor of this.#descendants[operator] ?? []) counted.add(ancestor);
    }
    for (const operator of counted) {
      const profile = this.#profile[operator];
      if (profile !== undefined) profile.microseconds += elapsed;
    }
    return done;
  }

  /** Notes a row that an operator gave out; called by code compiled for EXPLAIN ANALYZE. */
  countRow(operator: number): void {
    const profile = this.#profile?.[operator];
    if (profile !== undefined) profile.rows++;
  }

  /** Accounts for memory; 53200 beyond the statement's limit. Negative amounts give back. */
  charge(bytes: number): void {
    this.#memoryBytes += bytes;
    if (this.#memoryBytes > this.context.memoryLimitBytes) {
      const megabytes = Math.round(this.context.memoryLimitBytes / 1048576);
      throw new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
        detail:
          `The statement needs more than its limit of ${megabytes} MB for sorts, hash tables and results.`,
        hint: "Select fewer rows or columns, add a LIMIT or an index, or raise the statement memory limit.",
      });
    }
  }

  /** One iteration of an inner loop. */
  tick(): void {
    if ((++this.ticks & 4095) === 0) this.context.checkCancelled();
  }
}
