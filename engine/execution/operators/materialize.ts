/**
 * Rows kept in buffers: appending a plan's rows, looping over them, and plans that are run at most once.
 */
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { RowBuffer } from "../runtime/row_buffer.ts";
import { BufferCode, bufferColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";

/** A buffer for columns by name. */
export function bufferFor(
  compilation: Compilation,
  columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
): BufferCode {
  return new BufferCode(
    compilation,
    columns.map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
  );
}

/** Appends each row's named columns to a buffer. */
export function appendSink(buffer: BufferCode): Sink {
  return {
    open: (code) => buffer.openAppend(code),
    row: (code) => {
      buffer.append(
        code,
        buffer.columns.map(({ column }) =>
          column === null ? { code: "null", isNull: "true" } : code.column(column)
        ),
      );
    },
    close: (code) => buffer.closeAppend(code),
  };
}

/** A loop over a buffer's rows; `order`: the name of a permutation, declared by `prepare`. */
export function bufferSource(
  buffer: BufferCode,
  options: { readonly order?: (code: Emitter) => string; readonly count?: (names: ReadNames) => string } = {},
): LoopSource {
  const key = {};
  return {
    kind: "counted",
    count: (code) => {
      const names = buffer.openRead(code);
      const order = options.order?.(code) ?? null;
      code.note(key, { names, order });
      return order === null ? `${names.buffer}.count` : `${order}.length`;
    },
    bind: (code, index) => {
      const { names, order } = code.recall<{ names: ReadNames; order: string | null }>(key);
      const row = order === null ? index : code.define("r", `${order}[${index}]`);
      buffer.bindRow(code, names, row);
    },
  };
}

/** Operators that are not worth keeping the rows of. */
const cheapKinds: ReadonlySet<Plan["kind"]> = new Set(["values", "with_scan", "row_lookup"]);

/** Whether a plan inside of a loop should run once and be kept. */
export function isWorthKeeping(plan: Plan, compilation: Compilation): boolean {
  return !cheapKinds.has(plan.kind) && compilation.isClosed(plan);
}

/** A plan whose rows are computed at most once and kept, wherever it is. */
export class KeptPlan {
  readonly buffer: BufferCode;
  readonly #doneSlot: number;
  readonly #program: Program;

  constructor(
    compilation: Compilation,
    plan: Plan,
    columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
  ) {
    this.buffer = bufferFor(compilation, columns);
    this.#doneSlot = compilation.newSlot();
    this.#program = new Program(compilation, { reruns: false });
    this.#program.produce(plan, appendSink(this.buffer));
  }

  /** Emits the call that makes sure that the rows are there. */
  emitEnsure(code: Emitter): void {
    code.subplan(this.#doneSlot, this.#program.pipelines, false);
  }

  /** The number of rows, once they are there. */
  readonly atMost = (state: ExecutionState): number =>
    state.x[this.#doneSlot] === undefined ? Infinity : rowsIn(state, this.buffer.slot);
}

/** The number of rows of the buffer in a slot. */
export function rowsIn(state: ExecutionState, slot: number): number {
  const buffer = state.x[slot];
  return buffer instanceof RowBuffer ? buffer.count : 0;
}

/** Puts a loop over the kept rows of a plan into a region. */
export function produceKept(plan: Plan, region: Region, sink: Sink): void {
  const { compilation } = region;
  const kept = compilation.made(
    compilation.derivedKey(plan, "kept"),
    () => new KeptPlan(compilation, plan, compilation.neededAbove(plan)),
  );
  const source = bufferSource(kept.buffer);
  if (source.kind !== "counted") return;
  region.loop(plan, {
    ...source,
    atMost: kept.atMost,
    count: (code) => {
      kept.emitEnsure(code);
      return source.count(code);
    },
  }, sink);
}
