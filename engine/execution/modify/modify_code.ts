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
import { BufferCode, bufferColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import type { LoopSource, Sink } from "../codegen/region.ts";
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

/** Rows held back between two loops. */
export class HeldRows {
  readonly #buffer: BufferCode;
  readonly #values: readonly HeldValue[];
  readonly #namesKey = {};

  constructor(
    compilation: Compilation,
    values: readonly HeldValue[],
    mayBeNull: (value: HeldValue) => boolean,
  ) {
    this.#values = values;
    this.#buffer = new BufferCode(
      compilation,
      values.map((value) => bufferColumn(value.column, value.expression.type, mayBeNull(value))),
    );
  }

  /** Takes in rows; `accept` may skip a row first. */
  sink(accept: (code: Emitter) => void): Sink {
    return {
      open: (code) => this.#buffer.openAppend(code),
      row: (code) => {
        accept(code);
        this.#buffer.append(code, this.#values.map((value): Value => emitValue(code, value.expression)));
      },
      close: (code) => this.#buffer.closeAppend(code),
    };
  }

  /** Hands the rows out again, with the values bound to their columns. */
  source(): LoopSource {
    return {
      kind: "counted",
      count: (code) => {
        const names = code.note(this.#namesKey, this.#buffer.openRead(code));
        return `${names.buffer}.count`;
      },
      bind: (code, index) => this.#buffer.bindRow(code, code.recall<ReadNames>(this.#namesKey), index),
    };
  }
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
