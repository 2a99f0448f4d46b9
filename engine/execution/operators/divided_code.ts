/** The code that divides the rows of an operator's input by the hash of their keys; see `spilled.ts`. */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { BufferCode, bufferColumn, bufferOf } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, RoundLimit } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import type { LoopSource, Region, Sink } from "../codegen/region.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { combine, valueHash } from "../codegen/value_hash.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { PartitionedRows } from "../runtime/partitioned_rows.ts";
import type { SpilledColumn } from "../runtime/row_codec.ts";
import { slotObject } from "../runtime/slot_object.ts";
import { emitSpill, openSpill, sortedSource, type SpillNames, spillRounds } from "./sort.ts";

/** An input of an operator. */
export interface DividedInput {
  readonly plan: Plan;
  readonly keys: readonly Expression[];
  /** The types that the keys are compared with; absent: with themselves. */
  readonly others?: readonly SqlType[];
  /** The operator keeps rows of it in memory. */
  readonly isKept: boolean;
  /** What a kept row takes besides its values, at the most; absent: what a group of several keys takes. */
  readonly keptBytes?: number;
}

const GROUP_BYTES = 160;

/** Stands for the number of an input's row among those of its part. */
export function positionKey(plan: Plan, compilation: Compilation): object {
  return compilation.derivedKey(plan, "position");
}

/** Rows and the keys by which they are divided. */
export interface DividedColumns extends Omit<DividedInput, "plan"> {
  /** What is kept of each row; absent: what is read above of the plan. */
  readonly columns?: readonly { readonly column: ColumnRef; readonly type: SqlType }[];
}

/** Where rows may go, batch by batch, instead of a file. */
export interface RowBatches {
  /** Emits that the rows that have come are a batch, if there are batches now; `else` may stand behind it. */
  emitNext(code: Emitter): void;
}

/** The code that divides rows. */
export class DividedCode {
  readonly buffer: BufferCode;
  /** Holds what is read of a part. */
  readonly readerSlot: number;
  /** Holds the rounds, if it is the first side. */
  readonly roundsSlot: number;
  /** See {@link DividedInput}. */
  readonly isKept: boolean;
  /** See {@link DividedInput.keptBytes}. */
  readonly keptBytes: number;
  readonly #position: object | null;
  readonly #divided: DividedColumns;
  readonly #spillSlot: number;

  constructor(compilation: Compilation, divided: DividedInput | DividedColumns) {
    this.#divided = divided;
    this.isKept = divided.isKept;
    this.keptBytes = divided.keptBytes ?? GROUP_BYTES;
    this.#position = "plan" in divided ? positionKey(divided.plan, compilation) : null;
    const columns = "plan" in divided ? compilation.neededAbove(divided.plan) : divided.columns ?? [];
    this.buffer = new BufferCode(compilation, [
      ...columns
        .map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
      bufferColumn(null, { kind: "i32" }, false),
    ]);
    this.readerSlot = compilation.newSlot();
    this.roundsSlot = compilation.newSlot();
    this.#spillSlot = compilation.newSlot();
  }

  get slots(): readonly number[] {
    return [this.buffer.slot, this.readerSlot, this.roundsSlot, this.#spillSlot];
  }

  /** A loop over the rows of a part. */
  get source(): LoopSource {
    const source = sortedSource(this.buffer, this.readerSlot);
    const position = this.#position;
    if (source.kind !== "counted" || position === null) return source;
    return {
      ...source,
      bind: (code, index) => {
        source.bind(code, index);
        code.note(position, index);
      },
    };
  }

  /** Whether no row has been taken. */
  isUnused(state: ExecutionState): boolean {
    return state.x[this.#spillSlot] === undefined;
  }

  /** Emits that the current row is taken, where few rows are as a rule. */
  divert(code: Emitter): void {
    const { buffer } = this;
    const values = buffer.columns.flatMap(({ column }) =>
      column === null ? [] : [nullableCode(code.column(column))]
    );
    const layout = code.constant("layout", buffer.columns);
    const slots = `${buffer.slot}, ${this.#spillSlot}`;
    const rows = code.define(
      "diverted",
      `${code.use("divert", divert)}(S, ${slots}, ${layout}, [${[...values, this.#hash(code)].join(", ")}])`,
    );
    code.block(`if (${rows} !== null) `, "conditional", () => {
      code.work(`${rows}.writeAll(${buffer.get(code)})`, spillRounds(this.#spillSlot));
    });
  }

  /** Takes all rows of an operator's input. `nulls`: see `nullsSlot`. `batches`: where they may go instead. */
  sink(nulls: number | null, batches: RowBatches | null = null): Sink {
    const { buffer } = this;
    const key = {};
    const rounds = spillRounds(this.#spillSlot);
    return {
      open: (code) => {
        buffer.openAppend(code);
        code.note(key, this.#open(code));
      },
      row: (code) => {
        const values = buffer.columns.flatMap(({ column }) => column === null ? [] : [code.column(column)]);
        const row = buffer.append(code, [...values, { code: this.#hash(code, nulls), isNull: null }]);
        emitSpill(code, buffer, row, code.recall<SpillNames>(key), (spill) => {
          if (batches === null) return void this.#write(code, spill, rounds);
          batches.emitNext(code);
          code.block("else ", "conditional", () => void this.#write(code, spill, rounds));
        });
      },
      close: (code) => buffer.closeAppend(code),
    };
  }

  /** Behind all rows: what is kept in memory of this side would be missed by what comes next. */
  finish(owner: Plan, region: Region, test = "true"): void {
    region.once(owner, (code) => {
      const { spill } = this.#open(code);
      code.block(
        `if (${test} && ${spill}.isPressed) `,
        "conditional",
        () => void this.#write(code, spill, null),
      );
    });
  }

  #open(code: Emitter): SpillNames {
    return openSpill(code, partitionedRows, this.#spillSlot, this.buffer);
  }

  #write(code: Emitter, spill: string, atMost: RoundLimit | null): string {
    return code.work(`${spill}.writeAll(${this.buffer.get(code)})`, atMost);
  }

  #hash(code: Emitter, nulls: number | null = null): string {
    const { keys, others } = this.#divided;
    return keys.reduce((hash, key, index) => {
      const value = code.define("key", nullableCode(emitValue(code, key)));
      if (nulls !== null) {
        code.emit(`if (${value} === null) S.x[${nulls}] = 2; else S.x[${nulls}] ??= 1;`);
      }
      const hashed = code.constant("hash", valueHash(key.type, others?.[index] ?? key.type));
      return code.define(
        "h",
        `${code.use("combine", combine)}(${hash}, ${value} === null ? 0 : ${hashed}(${value}))`,
      );
    }, "0");
  }

  /** The rows that have been taken. */
  rowsIn(state: ExecutionState): PartitionedRows {
    return partitionedRows(state, this.#spillSlot, this.buffer.columns);
  }
}

/** Takes a row by its values. The answer is what has them all, if these must be written now. */
function divert(
  state: ExecutionState,
  bufferSlot: number,
  spillSlot: number,
  layout: readonly SpilledColumn[],
  values: readonly SqlValue[],
): PartitionedRows | null {
  const buffer = bufferOf(state, bufferSlot, layout);
  const rows = partitionedRows(state, spillSlot, layout);
  buffer.append(values);
  return buffer.count > rows.full && rows.isDue(buffer) ? rows : null;
}

function partitionedRows(
  state: ExecutionState,
  slot: number,
  layout: readonly SpilledColumn[],
): PartitionedRows {
  return slotObject(state, slot, PartitionedRows, layout);
}
