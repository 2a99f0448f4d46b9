/**
 * Window functions: rows are kept, sorted by partition and order, and given out with the results in that order. What
 * does not fit into the statement's memory is sorted in a file ({@link ExternalSort}), and read from there by pages.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { FrameBound, Plan, SortKey, WindowCall } from "../../sql/plan/plan.ts";
import { compareValues } from "../../types/compare.ts";
import { BufferCode, type BufferColumn, bufferColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import { type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";
import { emitComparison, type SortColumn } from "../codegen/sort_code.ts";
import { nullableCode } from "../codegen/value_form.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { externalSort } from "../runtime/external_sort.ts";
import { OrderedRows } from "../runtime/row_pages.ts";
import { WindowRun } from "../runtime/window.ts";
import { rangeLimitOf } from "../runtime/range_limit.ts";
import { emitRelease, emitSorted, emitSpillSorted, openSpill, type SpillNames } from "./sort.ts";
import { nullableBinding } from "./sources.ts";

type Window = Extract<Plan, { kind: "window" }>;

/** A call with the buffer positions of what it reads. */
interface CallPositions {
  readonly call: WindowCall;
  readonly args: readonly number[];
  readonly filter: number;
}

/** Puts a window operator into a region. */
export function produceWindow(plan: Window, region: Region, sink: Sink): void {
  const { compilation } = region;
  const columns: BufferColumn[] = compilation.neededAbove(plan.input)
    .map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column)));
  const computed: Expression[] = [];
  const named = columns.length;
  const positionOf = (expression: Expression): number => {
    if (expression.kind === "column") {
      const found = columns.findIndex(({ column }) => column === expression.column);
      if (found >= 0) return found;
    }
    const nullable = mayBeNull(expression, ({ column }) => compilation.mayBeNull(column));
    columns.push(bufferColumn(null, expression.type, nullable));
    computed.push(expression);
    return columns.length - 1;
  };
  const partition = plan.partition.map((expression): SortColumn => ({
    position: positionOf(expression),
    descending: false,
    nullsFirst: false,
  }));
  const order = plan.order.map(({ expression, descending, nullsFirst }: SortKey): SortColumn => ({
    position: positionOf(expression),
    descending,
    nullsFirst,
  }));
  const calls = plan.calls.map((call): CallPositions => ({
    call,
    args: call.args.map(positionOf),
    filter: call.filter === null ? -1 : positionOf(call.filter),
  }));
  const buffer = new BufferCode(compilation, columns);
  const runSlot = compilation.newSlot();
  const spillSlot = compilation.newSlot();
  region.reset(buffer.slot, runSlot, spillSlot);
  const spillKey = {};
  const keys = [...partition, ...order];
  region.produce(plan.input, {
    open: (code) => {
      buffer.openAppend(code);
      if (!region.isInline) code.note(spillKey, openSpill(code, externalSort, spillSlot, buffer));
    },
    row: (code) => {
      const values = columns.slice(0, named).map(({ column }) => code.column(column as number));
      const all = [...values, ...computed.map((expression) => emitValue(code, expression))];
      const row = buffer.append(code, all);
      if (region.isInline) return;
      emitSpillSorted(code, buffer, row, { names: code.recall<SpillNames>(spillKey), keys, spillSlot });
    },
    close: (code) => buffer.closeAppend(code),
  });
  region.once(plan, (code) => {
    const rows = emitRows(code, buffer, keys, region.isInline ? null : spillSlot);
    const names = buffer.openRead(code);
    const input = inputCode(code, { plan, buffer, names, rows, partition, order });
    const work = calls.map((call) => workCode(code, buffer, names, call));
    const run = code.define(
      "run",
      `new ${code.constant("WindowRun", WindowRun)}(S, ${input}, [${work.join(", ")}])`,
    );
    code.emit(`S.x[${runSlot}] = ${run};`);
    if (region.isInline) code.work(`${run}.next(Infinity)`);
  });
  const source = chunkSource(plan, buffer, runSlot);
  if (region.isInline) return region.loop(plan, source, sink);
  const program = region as Program;
  const { flags } = program;
  const chunk = new Program(compilation, { reruns: true, flags });
  chunk.loop(plan, source, sink);
  program.add(
    new ChunksPipeline(compilation.operatorIndex(plan), { runSlot, chunk, flags }),
  );
  program.once(plan, (code) => emitRelease(code, buffer.slot, spillSlot));
}

/** Emits what makes a sequence of the sorted rows; the answer is its name. `spillSlot` null: nothing is in a file. */
function emitRows(
  code: Emitter,
  buffer: BufferCode,
  keys: readonly SortColumn[],
  spillSlot: number | null,
): string {
  const rows = code.name("rows");
  code.emit(`let ${rows};`);
  emitSorted(code, buffer, keys, {
    spillSlot,
    inMemory: (order) => code.emit(`${rows} = new ${code.constant("OrderedRows", OrderedRows)}(${order});`),
    inFile: (spill, read, compare) =>
      code.emit(`${rows} = ${code.work(`${spill}.pages(${read}, ${compare})`)}.result;`),
  });
  return rows;
}

/** A loop over the rows whose results are there. */
function chunkSource(plan: Window, buffer: BufferCode, runSlot: number): LoopSource {
  const key = {};
  return {
    kind: "counted",
    count: (code) => {
      const names = buffer.openRead(code);
      const rows = code.define("rows", `S.x[${runSlot}].rows`);
      const results = plan.calls.map((_, index) =>
        code.define("results", `S.x[${runSlot}].results[${index}]`)
      );
      code.note(key, { names, rows, results });
      return `${rows}.length`;
    },
    bind: (code, index) => {
      const { names, rows, results } = code.recall<{
        names: ReadNames;
        rows: string;
        results: readonly string[];
      }>(key);
      buffer.bindRow(code, names, code.define("r", `${rows}[${index}]`));
      plan.calls.forEach((call, position) => {
        code.bind(call.output, nullableBinding(call.type, `${results[position]}[${index}]`));
      });
    },
  };
}

/** Computes the results of some rows after the other, and gives these out. */
class ChunksPipeline implements Pipeline {
  readonly writesResult = false;
  readonly operators: readonly number[];
  readonly #runSlot: number;
  readonly #chunk: Program;
  readonly #flags: readonly number[];

  constructor(
    operator: number,
    { runSlot, chunk, flags }: {
      readonly runSlot: number;
      readonly chunk: Program;
      readonly flags: readonly number[];
    },
  ) {
    this.operators = [operator];
    this.#runSlot = runSlot;
    this.#chunk = chunk;
    this.#flags = flags;
  }

  run(state: ExecutionState): boolean {
    const run = state.x[this.#runSlot];
    if (run instanceof WindowRun && !this.#flags.some((flag) => state.x[flag] === true)) {
      if (!run.advance()) return false;
      if (run.rows.length > 0) {
        state.call(this.#chunk.pipelines);
        return false;
      }
    }
    state.x[this.#runSlot] = undefined;
    return true;
  }
}

interface InputParts {
  readonly plan: Window;
  readonly buffer: BufferCode;
  readonly names: ReadNames;
  readonly rows: string;
  readonly partition: readonly SortColumn[];
  readonly order: readonly SortColumn[];
}

function inputCode(code: Emitter, { plan, buffer, names, rows, partition, order }: InputParts): string {
  const samePartition = partition.length === 0 ? "null" : emitComparison(code, buffer, names, partition);
  const samePeers = emitComparison(code, buffer, names, order);
  const only = order.length === 1 ? order[0] : undefined;
  const key = plan.order[0]?.expression;
  let rest = "orderKey: null, descending: false, limit: null, compareKeys: null";
  if (only !== undefined && key !== undefined) {
    const hasOffset = plan.calls.some(({ frame }) => "offset" in frame.start || "offset" in frame.end);
    const limit = hasOffset ? rangeLimitOf(key.type) : null;
    const compare = code.compilation.comparison(key.type, (a, b) => compareValues(key.type, a, b));
    rest = `orderKey: ${accessor(code, buffer, names, only.position)}, descending: ${only.descending}, ` +
      `limit: ${limit === null ? "null" : code.use("rangeLimit", limit)}, compareKeys: ${
        code.use("compareValues", compare)
      }`;
  }
  return `{ rows: ${rows}, samePartition: ${samePartition}, samePeers: ${samePeers}, ${rest} }`;
}

/** A function from a row number to the value of a column. */
function accessor(code: Emitter, buffer: BufferCode, names: ReadNames, position: number): string {
  const name = code.name("get");
  code.block(`const ${name} = (r) => `, "row", () => {
    code.emit(`return ${nullableCode(buffer.binding(names, position, "r").load(code))};`);
  });
  return name;
}

function offsetCode(code: Emitter, bound: FrameBound): string {
  return "offset" in bound ? nullableCode(emitValue(code, bound.offset)) : "null";
}

function workCode(
  code: Emitter,
  buffer: BufferCode,
  names: ReadNames,
  { call, args, filter }: CallPositions,
): string {
  const accessors = args.map((position) => accessor(code, buffer, names, position));
  const includes = filter < 0 ? "null" : `(r) => ${accessor(code, buffer, names, filter)}(r) === true`;
  const machine = "aggregate" in call.function ? machineCode(code, call) : "null";
  const name = "name" in call.function ? call.function.name : call.function.aggregate.name;
  const refold = "aggregate" in call.function && call.function.aggregate.orderSensitive;
  return `{ name: ${JSON.stringify(name)}, args: [${
    accessors.join(", ")
  }], includes: ${includes}, machine: ${machine}, ` +
    `refold: ${refold}, frame: ${code.constant("frame", call.frame)}, ` +
    `startOffset: ${offsetCode(code, call.frame.start)}, endOffset: ${offsetCode(code, call.frame.end)} }`;
}

/** An object that folds the aggregate. */
function machineCode(code: Emitter, call: WindowCall): string {
  if (!("aggregate" in call.function)) return "null";
  const { aggregate } = call.function;
  const slots = aggregate.slots.map(() => code.name("s"));
  const args = call.args.map(() => code.name("a"));
  aggregate.slots.forEach((slot, index) => code.emit(`let ${slots[index]} = ${slot.initial};`));
  const reset = aggregate.slots.map((slot, index) => `${slots[index]} = ${slot.initial};`).join(" ");
  const test = args.map((arg) => `${arg} === null`).join(" || ");
  const guard = aggregate.skipsNulls && test !== "" ? `if (${test}) return;` : "";
  const step = aggregate.step(slots, args, code.use);
  return `{ reset() { ${reset} }, step(${args.join(", ")}) { ${guard} ${step} }, finish() { return ${
    aggregate.finish(slots, code.use)
  }; } }`;
}
