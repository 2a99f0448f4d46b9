/**
 * Rows kept in buffers: appending a plan's rows, looping over them, and plans that are run at most once.
 */
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { KeyRange } from "../../sql/planner/key_range.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { RowBuffer } from "../runtime/row_buffer.ts";
import {
  BufferCode,
  type BufferColumn,
  bufferColumn,
  bufferOf,
  type ReadNames,
} from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import { emitTruth } from "../codegen/condition.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { keptReader, KeptRows, keptRows, type KeptSlots } from "../runtime/kept_rows.ts";
import { allOf } from "../runtime/work.ts";
import { emitSpill, openSpillOf, type SpillNames, spillRounds } from "./sort.ts";
import { planFacts } from "../codegen/plan_analysis.ts";
import { type InlineRegion, type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";
import { nullableCode } from "../codegen/value_form.ts";

/** A buffer for columns by name. */
export function bufferFor(
  compilation: Compilation,
  columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
): BufferCode {
  return new BufferCode(compilation, bufferColumns(compilation, columns));
}

function bufferColumns(
  compilation: Compilation,
  columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
): readonly BufferColumn[] {
  return columns.map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column)));
}

/** Appends each row's named columns to a buffer. */
export function appendSink(kept: BufferCode | KeptCode): Sink {
  const { columns } = kept instanceof KeptCode ? kept.buffer : kept;
  return {
    open: (code) => kept.openAppend(code),
    row: (code) => {
      kept.append(
        code,
        columns.map(({ column }) => column === null ? { code: "null", isNull: "true" } : code.column(column)),
      );
    },
    close: (code) => kept.closeAppend(code),
  };
}

/** Operators that are not worth keeping the rows of. */
const cheapKinds: ReadonlySet<Plan["kind"]> = new Set(["values", "with_scan", "row_lookup"]);

/** Whether a plan inside of a loop should run once and be kept. */
export function isWorthKeeping(plan: Plan, compilation: Compilation): boolean {
  return !cheapKinds.has(plan.kind) && compilation.isClosed(plan);
}

/** Rows that are kept in a buffer, or in a file if they may be. */
export class KeptCode {
  readonly buffer: BufferCode;
  readonly #slots: KeptSlots | null;

  constructor(compilation: Compilation, columns: readonly BufferColumn[], canSpill: boolean) {
    this.buffer = new BufferCode(compilation, columns);
    this.#slots = canSpill && compilation.spills
      ? { kept: compilation.newSlot(), buffer: this.buffer.slot }
      : null;
  }

  /** Slots to forget when the rows are made anew. */
  get slots(): readonly number[] {
    return this.#slots === null ? [this.buffer.slot] : [this.#slots.kept, this.buffer.slot];
  }

  #rows(code: Emitter, slots: KeptSlots): string {
    const layout = code.constant("layout", this.buffer.columns);
    return `${code.use("keptRows", keptRows)}(S, ${code.constant("slots", slots)}, ${layout})`;
  }

  /** Declares what {@link append} uses. */
  openAppend(code: Emitter): void {
    this.buffer.openAppend(code);
    if (this.#slots !== null) code.note(this, openSpillOf(code, this.#rows(code, this.#slots)));
  }

  /** Appends a row. */
  append(code: Emitter, values: readonly Value[]): void {
    const { buffer } = this;
    const row = buffer.append(code, values);
    if (this.#slots === null) return;
    const rounds = spillRounds(this.#slots.kept);
    emitSpill(code, buffer, row, code.recall<SpillNames>(this), (spill) => {
      code.work(`${spill}.writeAll(${buffer.get(code)})`, rounds);
    });
  }

  /** Writes the number of rows back. */
  closeAppend(code: Emitter): void {
    this.buffer.closeAppend(code);
  }

  /** Appends a row by its values, outside of generated code. */
  *appendTo(state: ExecutionState, values: readonly SqlValue[]): Generator<void, void, void> {
    const buffer = bufferOf(state, this.buffer.slot, this.buffer.columns);
    const rows = this.#slots === null ? null : keptRows(state, this.#slots, this.buffer.columns);
    buffer.append(values);
    if (rows !== null && buffer.count > rows.full && rows.isDue(buffer)) {
      yield* allOf(rows.writeAll(buffer));
    }
  }

  /** Forgets its rows and takes those of another one, which gets the room. */
  takeFrom(state: ExecutionState, other: KeptCode): void {
    const { x } = state;
    const kept = this.#slots === null ? undefined : x[this.#slots.kept];
    const isInFile = kept instanceof KeptRows && kept.isInFile;
    const buffer = x[this.buffer.slot];
    if (isInFile) kept.release();
    if (buffer instanceof RowBuffer) buffer.reset();
    for (const [index, slot] of this.slots.entries()) {
      const from = other.slots[index] as number;
      const before = isInFile && slot !== this.buffer.slot ? undefined : x[slot];
      x[slot] = x[from];
      x[from] = before;
    }
  }

  /** An expression of the number of rows. */
  countCode(code: Emitter): string {
    return this.#slots === null
      ? `${code.use("rowsIn", rowsIn)}(S, ${this.buffer.slot})`
      : `${this.#rows(code, this.#slots)}.count`;
  }

  /** The number of rows. */
  readonly count = (state: ExecutionState): number =>
    this.#slots === null
      ? rowsIn(state, this.buffer.slot)
      : keptRows(state, this.#slots, this.buffer.columns).count;

  /** One more place where the rows are read. */
  reader(compilation: Compilation): KeptReader {
    return new KeptReader(compilation, this.buffer, this.#slots);
  }
}

/** What is known of kept rows while they are read. */
export interface KeptNames {
  readonly count: string;
  /** An expression of the sequence; null: positions are rows. */
  readonly rows: string | null;
  readonly read: ReadNames;
}

/** A place where kept rows are read; those of a file have pages for each. */
export class KeptReader {
  readonly #slots: KeptSlots | null;
  readonly #slot: number;
  /** What is read is here. */
  readonly #buffer: BufferCode;

  constructor(compilation: Compilation, buffer: BufferCode, slots: KeptSlots | null) {
    this.#slots = slots;
    this.#slot = slots === null ? -1 : compilation.newSlot();
    this.#buffer = slots === null ? buffer : new BufferCode(compilation, buffer.columns);
  }

  /** Declares what the others use. */
  open(code: Emitter): KeptNames {
    if (this.#slots === null) {
      const read = this.#buffer.openRead(code);
      return { count: `${read.buffer}.count`, rows: null, read };
    }
    const slots = code.constant("slots", this.#slots);
    const reader = code.constant("reader", { slot: this.#slot, buffer: this.#buffer.slot });
    const layout = code.constant("layout", this.#buffer.columns);
    const made = `${code.use("keptReader", keptReader)}(S, ${slots}, ${reader}, ${layout})`;
    const rows = code.define("kept", made);
    return { count: `${rows}.count`, rows, read: this.#buffer.openRead(code) };
  }

  /** Binds the columns of the row at a position. `absent`: an expression that says that there is no row. */
  bindRow(code: Emitter, { rows, read }: KeptNames, position: string, absent: string | null = null): void {
    const at = `${rows}.at(${position})`;
    const row = rows === null ? position : code.define("r", absent === null ? at : `${absent} ? -1 : ${at}`);
    this.#buffer.bindRow(code, read, row, absent);
  }

  /** A loop over all rows. */
  get source(): Extract<LoopSource, { readonly kind: "counted" }> {
    const key = {};
    return {
      kind: "counted",
      count: (code) => {
        const names = this.open(code);
        code.note(key, names);
        return names.count;
      },
      bind: (code, index) => this.bindRow(code, code.recall<KeptNames>(key), index),
    };
  }
}

/** Kept rows of columns by name. */
export function keptFor(
  compilation: Compilation,
  columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
  canSpill: boolean,
): KeptCode {
  return new KeptCode(compilation, bufferColumns(compilation, columns), canSpill);
}

/** A plan whose rows are computed at most once and kept, wherever it is. */
export class KeptPlan {
  readonly kept: KeptCode;
  readonly #doneSlot: number;
  readonly #program: Program;

  constructor(
    compilation: Compilation,
    plan: Plan,
    columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
  ) {
    this.kept = keptFor(compilation, columns, true);
    this.#doneSlot = compilation.newSlot();
    this.#program = new Program(compilation, { reruns: false });
    this.#program.produce(plan, appendSink(this.kept));
  }

  /** Emits the call that makes sure that the rows are there. */
  emitEnsure(code: Emitter): void {
    code.subplan(this.#doneSlot, this.#program.pipelines, false);
  }

  /** The number of rows, once they are there. */
  readonly atMost = (state: ExecutionState): number =>
    state.x[this.#doneSlot] === undefined ? Infinity : this.kept.count(state);
}

/** The number of rows of the buffer in a slot. */
export function rowsIn(state: ExecutionState, slot: number): number {
  const buffer = state.x[slot];
  return buffer instanceof RowBuffer ? buffer.count : 0;
}

/** Puts a loop over the kept rows of a plan into a region, or over those of a range in whose order they are. */
export function produceKept(
  plan: Plan,
  region: Region,
  sink: Sink,
  range: Pick<KeyRange, "low" | "high"> | null = null,
): void {
  const { compilation } = region;
  const kept = compilation.made(
    compilation.derivedKey(plan, "kept"),
    () => new KeptPlan(compilation, plan, compilation.neededAbove(plan)),
  );
  const reader = kept.kept.reader(compilation);
  const key = {};
  region.loop(plan, {
    kind: "counted",
    atMost: kept.atMost,
    count: (code) => {
      kept.emitEnsure(code);
      const names = reader.open(code);
      const ends = range === null ? null : emitRange(code, range, reader, names);
      code.note(key, { names, from: ends?.from ?? null });
      return ends === null ? names.count : `${ends.to} - ${ends.from}`;
    },
    bind: (code, index) => {
      const { names, from } = code.recall<{ names: KeptNames; from: string | null }>(key);
      reader.bindRow(code, names, from === null ? index : code.define("at", `${from} + ${index}`));
    },
  }, sink);
}

/** Emits where among kept rows, which are in the order of a range, those of it begin, and what is behind the last. */
export function emitRange(
  code: Emitter,
  { low, high }: Pick<KeyRange, "low" | "high">,
  reader: KeptReader,
  names: KeptNames,
): { readonly from: string; readonly to: string } {
  const first = (begin: string, test: () => string): string => {
    const [from, to, middle] = [code.name("from"), code.name("to"), code.name("middle")];
    code.emit(`let ${from} = ${begin}, ${to} = ${names.count};`);
    code.block(`while (${from} < ${to}) `, "row", () => {
      code.emit(`const ${middle} = (${from} + ${to}) >>> 1;`);
      reader.bindRow(code, names, middle);
      code.emit(`if (${test()}) ${to} = ${middle}; else ${from} = ${middle} + 1;`);
    });
    return from;
  };
  const from = low === null ? "0" : first("0", () => emitTruth(code, low));
  const to = high === null ? names.count : first(from, () => `!(${emitTruth(code, high)})`);
  return { from, to };
}

/** Whether an operator keeps rows, of which there may be more than memory. */
export function mayNeedFiles(plan: Plan): boolean {
  switch (plan.kind) {
    case "sort":
    case "distinct":
    case "hash_join":
    case "window":
    case "with":
      return true;
    case "aggregate":
      return plan.groups.length > 0 ||
        plan.aggregates.some(({ distinct, orderBy }) => distinct || orderBy.length > 0);
    case "set_operation":
      return plan.operation !== "union" || !plan.all;
    case "nested_loop_join":
      return plan.join !== "inner" && plan.join !== "semi" && plan.join !== "anti";
    default:
      return false;
  }
}

/**
 * Puts a loop over the rows of a plan that keeps rows, in files if need be, into the code of a row that it depends on:
 * a program of its own computes them whenever the code comes to this place.
 */
export function produceCalled(plan: Plan, region: InlineRegion, sink: Sink): void {
  const { compilation } = region;
  const { kept, program } = compilation.made(compilation.derivedKey(plan, "called"), () => {
    const kept = keptFor(compilation, compilation.neededAbove(plan), true);
    const program = new Program(compilation, { reruns: true });
    for (const column of planFacts(plan).free) {
      if (!compilation.handedOver.has(column)) compilation.handedOver.set(column, compilation.newSlot());
    }
    program.reset(...kept.slots);
    program.produce(plan, appendSink(kept));
    return { kept, program };
  });
  const { source } = kept.reader(compilation);
  region.loop(plan, {
    ...source,
    count: (code) => {
      for (const column of planFacts(plan).free) {
        code.emit(`S.x[${compilation.handedOver.get(column)}] = ${nullableCode(code.column(column))};`);
      }
      code.call(code.constant("pipelines", program.pipelines), () => Infinity);
      return source.count(code);
    },
  }, sink);
}
