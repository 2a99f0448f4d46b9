/**
 * Sorting: rows are kept in a buffer and given out in the order of a permutation. What does not fit into the
 * statement's memory is written to a file in sorted runs, which are merged in the end ({@link ExternalSort}); sorts
 * inside of a row's loop are not.
 *
 * With a limit only the best rows are kept: whenever the buffer holds twice as many as needed (and some more), it is
 * sorted and cut, and rows that cannot be among the best by their first key alone are not taken any more.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan, SortKey } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import {
  BufferCode,
  type BufferColumn,
  bufferColumn,
  bufferOf,
  type ReadNames,
} from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import type { LoopSource, Region, Sink } from "../codegen/region.ts";
import { emitComparison, emitSort, isText, type SortColumn } from "../codegen/sort_code.ts";
import { formOf, isFloat, nullableCode } from "../codegen/value_form.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import { externalSort, sortedRows } from "../runtime/external_sort.ts";
import type { ColumnLayout, RowBuffer } from "../runtime/row_buffer.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import type { SpilledColumn } from "../runtime/row_codec.ts";
import { takesUtf8 } from "../runtime/result_writer.ts";
import { SpilledRows } from "../runtime/spilled_rows.ts";
import { rowLimit } from "./streaming.ts";

type Sort = Extract<Plan, { kind: "sort" }>;

/** A buffer of a plan's needed columns and of sort keys; keys that are columns are not kept twice. */
export interface SortedBuffer {
  readonly buffer: BufferCode;
  readonly keys: readonly SortColumn[];
  /** Keys that have columns of their own, by position in the buffer after the named columns. */
  readonly computed: readonly SortKey[];
}

/** The buffer for rows of `input` and the order of `keys`. */
export function sortedBuffer(compilation: Compilation, input: Plan, keys: readonly SortKey[]): SortedBuffer {
  const isStored = readsStoredRows(input);
  const columns: BufferColumn[] = compilation.neededAbove(input).map(({ column, type }) => {
    const layout = bufferColumn(column, type, compilation.mayBeNull(column));
    return isStored && takesUtf8(type.kind)
      ? { ...layout, texts: type.kind === "char" ? "char" : "text" }
      : layout;
  });
  const computed: SortKey[] = [];
  const sortColumns = keys.map((key): SortColumn => {
    const { expression, descending, nullsFirst } = key;
    let position = expression.kind === "column"
      ? columns.findIndex((column) => column.column === expression.column)
      : -1;
    if (position < 0) {
      position = columns.length;
      const nullable = mayBeNull(expression, ({ column }) => compilation.mayBeNull(column));
      columns.push(bufferColumn(null, expression.type, nullable));
      computed.push(key);
    }
    return { position, descending, nullsFirst };
  });
  return { buffer: new BufferCode(compilation, columns), keys: sortColumns, computed };
}

/** Whether texts of the rows may be read where they are stored. */
function readsStoredRows(plan: Plan): boolean {
  switch (plan.kind) {
    case "filter":
    case "project":
    case "distinct":
      return readsStoredRows(plan.input);
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return true;
    default:
      return false;
  }
}

/** Emits the append of the current row with its keys. */
export function appendSorted(code: Emitter, { buffer, computed }: SortedBuffer): string {
  const named = buffer.columns.length - computed.length;
  const values = buffer.columns.slice(0, named).map(({ column, texts }, position) => {
    const { stored } = code.binding(column as number);
    return texts === undefined || stored === undefined || code.isLoaded(column as number)
      ? code.column(column as number)
      : buffer.keptText(code, position, stored);
  });
  return buffer.append(code, [...values, ...computed.map((key) => emitValue(code, key.expression))]);
}

/** Rows beyond the limit that are taken before the buffer is cut. */
const SLACK_ROWS = 2048;

/** Up to this limit the buffer is sorted at once when it is cut. */
const MAX_ROWS_CUT_AT_ONCE = 1000;

/** Keeps the first rows of an order. */
export function cutBuffer(
  state: ExecutionState,
  slot: number,
  layout: readonly ColumnLayout[],
  order: Int32Array,
  limit: number,
): RowBuffer {
  const buffer = bufferOf(state, slot, layout);
  buffer.keep(order.subarray(0, Math.min(limit, order.length)));
  return buffer;
}

/** DISTINCT of more rows looks for equal ones before they are sorted: many may be. */
const MAX_ROWS_SORTED_FOR_DISTINCT = 1024;

/**
 * The input of a DISTINCT beneath a sort that finds equal rows itself; null: it does not. There must be few, and rows
 * that are equal in the order must be so for DISTINCT.
 */
function inputOfDistinct({ input: plan, keys, limit }: Sort, { isInline, compilation }: Region): Plan | null {
  if (plan.kind !== "distinct" || plan.isPartial === true || plan.keepsOrder === true) return null;
  if (limit !== null || plan.input.rows > MAX_ROWS_SORTED_FOR_DISTINCT) return null;
  if (isInline || compilation.spills || compilation.analyze) return null;
  const sorted = new Set(
    keys.map(({ expression }) => expression.kind === "column" ? expression.column : null),
  );
  const isFound = (key: Expression) =>
    key.kind === "column" && sorted.has(key.column) && isSortedExactly(key.type);
  return plan.keys.every(isFound) ? plan.input : null;
}

/** Whether values of the type are one value when neither comes before the other. */
function isSortedExactly(type: SqlType): boolean {
  return isText(type) || formOf(type) !== "object" && formOf(type) !== "string" && !isFloat(type);
}

/** Puts a sort into a region. */
export function produceSort(plan: Sort, region: Region, sink: Sink): void {
  const { compilation } = region;
  const sorted = sortedBuffer(compilation, plan.input, plan.keys);
  const { buffer, keys } = sorted;
  const orderSlot = compilation.newSlot();
  const limitSlot = compilation.newSlot();
  const spillSlot = compilation.newSlot();
  region.reset(buffer.slot, orderSlot, limitSlot, spillSlot);
  const limit = plan.limit;
  const distinctInput = inputOfDistinct(plan, region);
  // What would be written to a file is looked for as DISTINCT does it, when the statement is compiled anew.
  const isInMemory = region.isInline || distinctInput !== null;
  // While there is no limit object, only the rows of one piece can be in the buffer.
  const cutRounds = (state: ExecutionState): number => {
    const limits = state.x[limitSlot];
    const known = typeof limits === "object" && limits !== null && "limit" in limits ? limits.limit : 0;
    return isInMemory || Number(known) > MAX_ROWS_CUT_AT_ONCE ? Infinity : 1;
  };
  const layout = (code: Emitter) => code.constant("layout", buffer.columns);
  const names = { limit: {}, spill: {} };
  const limitIn = (code: Emitter) =>
    limit === null ? "Infinity" : `${code.recall<LimitNames>(names.limit).limits}.limit`;
  region.produce(distinctInput ?? plan.input, {
    open: (code) => {
      buffer.openAppend(code);
      if (limit !== null) code.note(names.limit, openLimit(code, limit, limitSlot));
      if (isInMemory) return;
      code.note(names.spill, openSpill(code, externalSort, spillSlot, buffer));
    },
    row: (code) => {
      if (limit !== null) {
        rejectWorse(code, plan.keys[0], code.recall<LimitNames>(names.limit));
      }
      const row = appendSorted(code, sorted);
      if (!isInMemory) {
        const spill = code.recall<SpillNames>(names.spill);
        emitSpillSorted(code, buffer, row, { names: spill, keys, spillSlot, most: limitIn(code) });
      }
      if (limit === null) return;
      const { limits } = code.recall<LimitNames>(names.limit);
      code.block(`if (${row} >= ${limits}.full) `, "conditional", () => {
        buffer.closeAppend(code);
        const read = buffer.openRead(code);
        const order = emitSort(code, buffer, read, keys, { atMost: cutRounds });
        code.emit(
          `${code.use("cutBuffer", cutBuffer)}(S, ${buffer.slot}, ${
            layout(code)
          }, ${order}, ${limits}.limit);`,
        );
        buffer.emitReload(code);
        emitWorst(code, plan.keys[0], keys[0], limits, read);
      });
    },
    close: (code) => buffer.closeAppend(code),
  });
  region.once(plan, (code) => {
    if (limit !== null) code.note(names.limit, openLimit(code, limit, limitSlot));
    const most = limitIn(code);
    emitSorted(code, buffer, keys, {
      spillSlot: isInMemory ? null : spillSlot,
      isDistinct: distinctInput !== null,
      inMemory: (order) => {
        const first = limit === null
          ? order
          : `${order}.length > ${most} ? ${order}.subarray(0, ${most}) : ${order}`;
        code.emit(`S.x[${orderSlot}] = ${code.use("sortedRows", sortedRows)}(${first});`);
      },
      inFile: (spill, read, compare) => {
        const merge = `${spill}.merge(${read}, ${compare}, ${most})`;
        code.emit(`S.x[${orderSlot}] = ${code.work(merge)}.result;`);
      },
    }, most);
  });
  region.loop(plan, sortedSource(buffer, orderSlot), sink);
  if (region.isInline) return;
  region.once(plan, (code) => emitRelease(code, buffer.slot, ...(isInMemory ? [] : [spillSlot])));
}

/** Behind the append of a row: has the buffer's rows sorted and written when that is due; `most`: so many of them. */
export function emitSpillSorted(
  code: Emitter,
  buffer: BufferCode,
  row: string,
  { names, keys, spillSlot, most = "Infinity" }: {
    readonly names: SpillNames;
    readonly keys: readonly SortColumn[];
    readonly spillSlot: number;
    readonly most?: string;
  },
): void {
  const rounds = spillRounds(spillSlot);
  emitSpill(code, buffer, row, names, (spill) => {
    const read = buffer.openRead(code);
    const order = emitSort(code, buffer, read, keys, { atMost: rounds });
    code.work(`${spill}.writeRun(${read.buffer}, ${order}, ${most})`, rounds);
  });
}

/** What becomes of sorted rows. */
export interface SortedUse {
  /** Where the sort is that may have written some; null: none are written. */
  readonly spillSlot: number | null;
  /** Of equal rows only the first is wanted; none are written then. */
  readonly isDistinct?: boolean;
  /** `order`: the name of the order of all rows, which are in the buffer. */
  readonly inMemory: (order: string) => void;
  /** The rows are in runs of the file, and the buffer has room for their windows. */
  readonly inFile: (spill: string, buffer: string, compare: string) => void;
}

/** Emits that all rows of a buffer are sorted, and of `most` rows what becomes of them. */
export function emitSorted(
  code: Emitter,
  buffer: BufferCode,
  keys: readonly SortColumn[],
  { spillSlot, isDistinct = false, inMemory, inFile }: SortedUse,
  most = "Infinity",
): void {
  const order = emitSort(code, buffer, buffer.openRead(code), keys, { isDistinct });
  if (spillSlot === null) return inMemory(order);
  const { spill } = openSpill(code, externalSort, spillSlot, buffer);
  code.block(`if (${spill}.hasRuns) `, "conditional", () => {
    code.work(`${spill}.writeRun(${buffer.get(code)}, ${order}, ${most})`);
    code.emit(`${spill}.open(${buffer.get(code)});`);
    const read = buffer.openRead(code);
    inFile(spill, read.buffer, emitComparison(code, buffer, read, keys));
  });
  code.block("else ", "conditional", () => inMemory(order));
}

/** Emits that what is in slots is not used any more. */
export function emitRelease(code: Emitter, ...slots: readonly number[]): void {
  for (const slot of slots) code.emit(`S.x[${slot}].release();`);
}

/** A loop over the rows of a buffer in the order that a slot has ({@link SortedRows}). */
export function sortedSource(buffer: BufferCode, orderSlot: number): LoopSource {
  const key = {};
  return {
    kind: "counted",
    count: (code) => {
      const names = buffer.openRead(code);
      const rows = code.define("sorted", `S.x[${orderSlot}]`);
      const order = code.define("order", `${rows}.order`);
      const base = code.define("base", `${rows}.base`);
      code.note(key, { names, order, base });
      return `${base} + ${order}.length`;
    },
    bind: (code, index) => {
      const { names, order, base } = code.recall<{ names: ReadNames; order: string; base: string }>(key);
      buffer.bindRow(code, names, code.define("r", `${order}[${index} - ${base}]`));
    },
    more: () => `S.x[${orderSlot}].more()`,
  };
}

/** How often code that may write the rows of a slot goes round at most. */
export function spillRounds(slot: number): (state: ExecutionState) => number {
  return (state) => {
    const spill = state.x[slot];
    return spill instanceof SpilledRows && spill.isNear ? Infinity : 1;
  };
}

/** What the code of rows that may be spilled knows: the {@link SpilledRows}, and when to ask them. */
export interface SpillNames {
  readonly spill: string;
  readonly full: string;
}

/** Declares what {@link emitSpill} uses. */
export function openSpill(
  code: Emitter,
  make: (state: ExecutionState, slot: number, layout: readonly SpilledColumn[]) => SpilledRows,
  slot: number,
  buffer: BufferCode,
): SpillNames {
  const layout = code.constant("layout", buffer.columns);
  return openSpillOf(code, `${code.use(make.name, make)}(S, ${slot}, ${layout})`);
}

/** The same for an expression of the {@link SpilledRows}. */
export function openSpillOf(code: Emitter, made: string): SpillNames {
  const spill = code.define("spill", made);
  const full = code.name("full");
  code.emit(`let ${full} = ${spill}.full;`);
  return { spill, full };
}

/** Behind the append of a row: has the buffer's rows written when that is due. */
export function emitSpill(
  code: Emitter,
  buffer: BufferCode,
  row: string,
  { spill, full }: SpillNames,
  write: (spill: string) => void,
): void {
  code.block(`if (${row} >= ${full}) `, "conditional", () => {
    buffer.closeAppend(code);
    code.block(`if (${spill}.isDue(${buffer.get(code)})) `, "conditional", () => write(spill));
    code.emit(`${full} = ${spill}.full;`);
    buffer.emitReload(code);
  });
}

interface LimitNames {
  readonly limits: string;
}

function openLimit(code: Emitter, limit: NonNullable<Sort["limit"]>, slot: number): LimitNames {
  const limits = code.name("limits");
  code.emit(`let ${limits} = S.x[${slot}];`);
  code.block(`if (${limits} === undefined) `, "conditional", () => {
    const rows = `${code.use("rowLimit", rowLimit)}(${
      nullableCode(emitValue(code, limit))
    }, "LIMIT", Infinity)`;
    const value = code.define("limit", rows);
    code.emit(
      `${limits} = S.x[${slot}] = { limit: ${value}, full: ${value} * 2 + ${SLACK_ROWS}, worst: NaN };`,
    );
  });
  return { limits };
}

/** Whether the first key alone can reject a row: a plain number that is never NULL. */
function hasSimpleFirstKey(key: SortKey | undefined, code: Emitter): boolean {
  if (key === undefined || isFloat(key.expression.type)) return false;
  const form = formOf(key.expression.type);
  return (form === "number" || form === "number_or_bigint") &&
    !mayBeNull(key.expression, ({ column }) => code.compilation.mayBeNull(column));
}

function rejectWorse(code: Emitter, key: SortKey | undefined, { limits }: LimitNames): void {
  if (key === undefined || !hasSimpleFirstKey(key, code)) return;
  const value = emitValue(code, key.expression);
  // `worst` is NaN, which nothing compares with, until the buffer has been cut once.
  code.emit(`if (${value.code} ${key.descending ? "<" : ">"} ${limits}.worst) ${code.skip}`);
}

function emitWorst(
  code: Emitter,
  key: SortKey | undefined,
  column: SortColumn | undefined,
  limits: string,
  read: ReadNames,
): void {
  if (column === undefined || !hasSimpleFirstKey(key, code)) return;
  code.emit(
    `if (${limits}.limit > 0) ${limits}.worst = ${
      read.columns[column.position]?.column
    }.data[${limits}.limit - 1];`,
  );
}
