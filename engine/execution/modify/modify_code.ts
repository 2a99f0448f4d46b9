/**
 * What the generated code of INSERT, UPDATE and DELETE has in common: access to the run's state, and rows held back
 * in a buffer between reading and writing.
 *
 * Rows are held back (all read before the first is written) whenever a statement could otherwise read what it has
 * written, the Halloween problem. Held rows keep computed values, so that expressions see the state before the
 * statement.
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { ModifyPlan, ResultColumn } from "../../sql/plan/plan.ts";
import { columnsOf, columnTypes } from "../../sql/plan/traverse.ts";
import { bufferColumn } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { before, type LoopSource, type Program, type Sink } from "../codegen/region.ts";
import { DistinctCode } from "../operators/distinct.ts";
import { KeptCode } from "../operators/materialize.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { type ModifyFacts, ModifyRun } from "./modify_run.ts";

/** Everything that the parts of one modification's code share. */
export class ModifyCode {
  readonly compilation: Compilation;
  readonly facts: ModifyFacts;
  /** Columns of RETURNING's result. */
  readonly columns: readonly ResultColumn[];
  readonly #slot: number;
  readonly #start: (state: ExecutionState) => ModifyRun;
  readonly #writerKey = {};
  readonly #runKey = {};

  constructor(compilation: Compilation, facts: ModifyFacts, columns: readonly ResultColumn[]) {
    this.compilation = compilation;
    this.facts = facts;
    this.columns = columns;
    const slot = this.#slot = compilation.newSlot();
    this.#start = (state) => {
      const known = state.x[slot];
      if (known instanceof ModifyRun) return known;
      const made = new ModifyRun(state, facts);
      state.x[slot] = made;
      return made;
    };
  }

  /** The run of an execution, if any row has come. */
  runOf(state: ExecutionState): ModifyRun | null {
    const known = state.x[this.#slot];
    return known instanceof ModifyRun ? known : null;
  }

  /** The identifier of the {@link ModifyRun}. */
  run(code: Emitter): string {
    return code.once(this.#runKey, () => code.define("M", `${code.use("startModify", this.#start)}(S)`));
  }

  /** Counts a row that was written. */
  emitCount(code: Emitter, plan: ModifyPlan): void {
    code.emit("S.rowCount++;");
    if (this.compilation.analyze) code.emit(`S.countRow(${this.compilation.operatorIndex(plan)});`);
  }

  /** The identifier of the transaction's writer. */
  writer(code: Emitter): string {
    return code.once(this.#writerKey, () => code.define("W", "S.context.writer"));
  }
}

/** A value that is kept while rows are held back. */
export interface HeldValue {
  readonly column: ColumnRef;
  readonly expression: Expression;
}

/** Rows held back between two loops; in files if need be. */
export class HeldRows {
  readonly #compilation: Compilation;
  readonly #kept: KeptCode;
  readonly #values: readonly HeldValue[];

  constructor(
    compilation: Compilation,
    values: readonly HeldValue[],
    mayBeNull: (value: HeldValue) => boolean,
  ) {
    this.#compilation = compilation;
    this.#values = values;
    this.#kept = new KeptCode(
      compilation,
      values.map((value) => bufferColumn(value.column, value.expression.type, mayBeNull(value))),
      true,
    );
  }

  /** Takes in rows. */
  get sink(): Sink {
    const kept = this.#kept;
    return {
      open: (code) => kept.openAppend(code),
      row: (code) => kept.append(code, this.#values.map((value) => emitValue(code, value.expression))),
      close: (code) => kept.closeAppend(code),
    };
  }

  /** Hands the rows out again, with the values bound to their columns. */
  source(): LoopSource {
    return this.#kept.reader(this.#compilation).source;
  }
}

/** Takes in the rows of a target that a plan gives, each once; `repeats`: some may come again. */
export function produceHeld(
  plan: Extract<ModifyPlan, { kind: "update" | "delete" }>,
  rows: HeldRows,
  { program, modify, repeats }: {
    readonly program: Program;
    readonly modify: ModifyCode;
    readonly repeats: boolean;
  },
): void {
  const { rowId, source } = plan;
  // Those that an outer join left out.
  const skipAbsent = (code: Emitter): string => {
    const id = code.column(rowId);
    if (id.isNull !== null) code.emit(`if (${id.isNull}) ${code.skip}`);
    return id.code;
  };
  const { compilation } = modify;
  if (repeats && compilation.spills) {
    // What has been met may need more than the memory.
    const key: Expression = { kind: "column", type: { kind: "i64" }, column: rowId, nullable: true };
    const distinct = new DistinctCode(compilation, source, compilation.neededAbove(source), [key]);
    const sink = distinct.sink(program, rows.sink);
    program.produce(
      source,
      before(sink, (code) => {
        skipAbsent(code);
        sink.row(code);
      }),
    );
    distinct.finish(program, rows.sink);
    return;
  }
  program.produce(
    source,
    before(rows.sink, (code) => {
      const id = skipAbsent(code);
      if (repeats) code.emit(`if (!${modify.run(code)}.meet(${id})) ${code.skip}`);
      rows.sink.row(code);
    }),
  );
}

/** Columns of the source that RETURNING refers to; `own`: those that the modification itself makes. */
export function sourceColumnsOfReturning(
  plan: ModifyPlan,
  own: readonly ColumnRef[],
): readonly HeldValue[] {
  const types = columnTypes(plan.source);
  const held = new Map<ColumnRef, HeldValue>();
  for (const each of plan.returning ?? []) {
    for (const column of columnsOf(each.expression)) {
      const type = types.get(column);
      if (type === undefined || own.includes(column)) continue;
      held.set(column, { column, expression: { kind: "column", type, column, nullable: true } });
    }
  }
  return [...held.values()];
}
