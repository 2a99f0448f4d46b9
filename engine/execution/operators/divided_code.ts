/** The code that divides the rows of an operator's input by the hash of their keys; see `spilled.ts`. */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { BufferCode, bufferColumn, bufferOf } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import type { LoopSource, Region, Sink } from "../codegen/region.ts";
import { formOf } from "../codegen/value_form.ts";
import { emitMix, isWord, valueHash } from "../codegen/value_hash.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { type Part, PART_BITS, PART_COUNT, PartitionedRows } from "../runtime/partitioned_rows.ts";
import type { RowBuffer } from "../runtime/row_buffer.ts";
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
  /** What kept rows take; absent: what groups of several keys do. */
  readonly keptSize?: KeptSize;
}

/** What rows take where they are kept, at the most. */
export interface KeptSize {
  /** Besides their values. */
  readonly rowBytes: number;
  /** How often there is what they take in a file, and their texts. */
  readonly copies: number;
  /** Rows of one key take what one of them does. */
  readonly once?: true;
}

const GROUPS: KeptSize = { rowBytes: 160, copies: 3 };
/** Groups that take no more with each row. */
export const STEADY_GROUPS: KeptSize = { ...GROUPS, once: true };
/** What values that are objects take besides. */
const TEXT_BYTES = 24;
const OBJECT_BYTES = 56;

/** Stands for the number of an input's row among those of its part. */
export function positionKey(plan: Plan, compilation: Compilation): object {
  return compilation.derivedKey(plan, "position");
}

/** Rows and the keys by which they are divided. */
export interface DividedColumns extends Omit<DividedInput, "plan"> {
  /** What is kept of each row; absent: what is read above of the plan. */
  readonly columns?: readonly { readonly column: ColumnRef; readonly type: SqlType }[];
}

/** What is done with rows besides, or instead of putting them into a file. */
interface RowsTaken {
  /** For each key of a row: what is to be done with its value. */
  readonly key?: (code: Emitter, value: Value, position: number) => void;
  /** The same for the hash of all keys. */
  readonly hash?: (code: Emitter, hash: string) => void;
  /** Where rows go that are not written. */
  readonly batches?: RowBatches | null;
}

/** Where rows go that are not written, batch by batch. */
export interface RowBatches {
  /** Declares what {@link take} uses. */
  open(code: Emitter): void;
  /** A test of a row's hash: whether the row goes there. */
  goesOn(code: Emitter, hash: string): string;
  /** Emits that a row is put into the batch. */
  take(code: Emitter, values: readonly Value[]): void;
  close(code: Emitter): void;
}

/**
 * Emits a hash whose lowest bits, which are those of the part, are the same for 256 integers that follow one another:
 * rows that come roughly in the order of their key find them side by side in the tables of a part. Which runs are in a
 * part is spread by the golden ratio (D. Knuth, "The Art of Computer Programming", volume 3, 6.4).
 */
function emitPartOfRun(code: Emitter, word: string, hash: string): string {
  const part = `Math.imul(${word} >> ${RUN_BITS}, 0x9e3779b1) >>> ${32 - PART_BITS}`;
  return code.define("h", `${hash} & ${-PART_COUNT} | ${part}`);
}

const RUN_BITS = 8;

/** The code that divides rows. */
export class DividedCode {
  /** Has the rows of the part at hand, or all. */
  readonly buffer: BufferCode;
  /** Has the rows that wait to be written. */
  readonly #waiting: BufferCode;
  /** Holds what is read of a part. */
  readonly readerSlot: number;
  /** Holds the rounds, if it is the first side. */
  readonly roundsSlot: number;
  /** See {@link DividedInput}. */
  readonly isKept: boolean;
  readonly #keptSize: KeptSize;
  readonly #position: object | null;
  readonly #divided: DividedColumns;
  readonly #spillSlot: number;

  /** `apart`: rows wait in another buffer than they are read from. */
  constructor(compilation: Compilation, divided: DividedInput | DividedColumns, { apart = false } = {}) {
    this.#divided = divided;
    this.isKept = divided.isKept;
    this.#keptSize = divided.keptSize ?? GROUPS;
    this.#position = "plan" in divided ? positionKey(divided.plan, compilation) : null;
    const columns = "plan" in divided ? compilation.neededAbove(divided.plan) : divided.columns ?? [];
    this.buffer = new BufferCode(compilation, [
      ...columns
        .map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
      bufferColumn(null, { kind: "i32" }, false),
    ]);
    this.#waiting = apart ? new BufferCode(compilation, this.buffer.columns) : this.buffer;
    this.readerSlot = compilation.newSlot();
    this.roundsSlot = compilation.newSlot();
    this.#spillSlot = compilation.newSlot();
  }

  get slots(): readonly number[] {
    return [this.buffer.slot, this.#waiting.slot, this.readerSlot, this.roundsSlot, this.#spillSlot];
  }

  /** What so many rows take where they are kept, if they have taken `bytes` in a file. */
  bytesOfWritten({ rows, changes, bytes }: Pick<Part, "rows" | "changes" | "bytes">): number {
    const { rowBytes, copies, once } = this.#keptSize;
    const objects = this.buffer.columns.reduce(
      (sum, { storage, type }) =>
        sum + (storage !== "ref" ? 0 : formOf(type) === "string" ? TEXT_BYTES : OBJECT_BYTES),
      0,
    );
    const kept = once === true ? changes : rows;
    // Of values of any length the longest may be kept.
    const share = objects === 0 && rows > 0 ? kept / rows : 1;
    return bytes * copies * share + kept * (objects + rowBytes);
  }

  /** What the rows of the buffer take where they are kept. */
  bytesOfTaken(state: ExecutionState): number {
    const { rowBytes, copies } = this.#keptSize;
    const buffer = this.bufferIn(state);
    return buffer.usedBytes + (copies - 1) * buffer.textBytes + buffer.count * rowBytes;
  }

  /** See {@link buffer}. */
  bufferIn(state: ExecutionState): RowBuffer {
    return bufferOf(state, this.buffer.slot, this.buffer.columns);
  }

  /** Has what waits to be written. */
  waitingIn(state: ExecutionState): RowBuffer {
    return bufferOf(state, this.#waiting.slot, this.#waiting.columns);
  }

  /** Has the rows of a part read next; null: those that are in the buffer. */
  read(state: ExecutionState, part: Part | null): void {
    state.x[this.readerSlot] = this.rowsIn(state).open(this.bufferIn(state), part);
  }

  /** A loop over the rows of a part. */
  get source(): LoopSource {
    const source = sortedSource(this.buffer, this.readerSlot);
    const position = this.#position;
    if (source.kind !== "counted" || position === null) return source;
    return {
      ...source,
      total: () => `S.x[${this.readerSlot}].total`,
      bind: (code, index) => {
        source.bind(code, index);
        code.note(position, index);
      },
    };
  }

  /** Whether no row has been taken. */
  isUnused(state: ExecutionState): boolean {
    return state.x[this.#spillSlot] === undefined ||
      this.rowsIn(state).parts.length === 0 && this.waitingIn(state).count === 0;
  }

  /** Takes all rows of an operator's input. */
  sink(taken: RowsTaken): Sink {
    return {
      open: (code) => {
        this.open(code);
        taken.batches?.open(code);
      },
      row: (code) => this.take(code, taken),
      close: (code) => {
        this.close(code);
        taken.batches?.close(code);
      },
    };
  }

  /** Declares what {@link take} uses. */
  open(code: Emitter): void {
    this.#waiting.openAppend(code);
    code.note(this, this.#open(code));
  }

  /** Emits that the current row is taken. */
  take(code: Emitter, taken: RowsTaken = {}): void {
    const buffer = this.#waiting;
    const { batches = null } = taken;
    const hash = this.#hash(code, taken);
    const columns = buffer.columns.flatMap(({ column }) => column === null ? [] : [code.column(column)]);
    const values = [...columns, { code: hash, isNull: null }];
    const put = () => {
      const row = buffer.append(code, values);
      emitSpill(code, buffer, row, code.recall<SpillNames>(this), (spill) => {
        code.work(`${spill}.writeAll(${buffer.get(code)})`, spillRounds(this.#spillSlot));
      });
    };
    if (batches === null) return put();
    code.block(`if (${batches.goesOn(code, hash)}) `, "conditional", () => batches.take(code, values));
    code.block("else ", "conditional", put);
  }

  /** Behind the rows of a morsel. */
  close(code: Emitter): void {
    this.#waiting.closeAppend(code);
  }

  /** Behind all rows: what is kept in memory of this side would be missed by what comes next. */
  finish(owner: Plan, region: Region): void {
    region.once(owner, (code) => {
      const { spill } = this.#open(code);
      code.block(`if (${spill}.isPressed) `, "conditional", () => {
        code.work(`${spill}.writeRest(${this.#waiting.get(code)})`);
      });
    });
  }

  #open(code: Emitter): SpillNames {
    return openSpill(code, partitionedRows, this.#spillSlot, this.buffer);
  }

  #hash(code: Emitter, { key: onKey, hash: onHash }: RowsTaken): string {
    const { keys, others } = this.#divided;
    const hash = keys.reduce<string | null>((hash, key, index) => {
      const value = emitValue(code, key);
      onKey?.(code, value, index);
      const other = others?.[index] ?? key.type;
      const hashed = isWord(key.type) && isWord(other)
        ? value.code
        : `${code.constant("hash", valueHash(key.type, other))}(${value.code})`;
      const one = value.isNull === null ? hashed : `(${value.isNull} ? 0 : ${hashed})`;
      const mixed = emitMix(code, hash === null ? one : `Math.imul(${hash}, 0x9e3779b1) ^ ${one}`);
      return keys.length === 1 && isWord(key.type) && isWord(other) ? emitPartOfRun(code, one, mixed) : mixed;
    }, null) ?? "0";
    onHash?.(code, hash);
    return hash;
  }

  /** The rows that have been taken. */
  rowsIn(state: ExecutionState): PartitionedRows {
    return partitionedRows(state, this.#spillSlot, this.buffer.columns);
  }
}

function partitionedRows(
  state: ExecutionState,
  slot: number,
  layout: readonly SpilledColumn[],
): PartitionedRows {
  return slotObject(state, slot, PartitionedRows, layout);
}
