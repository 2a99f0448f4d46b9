/**
 * Window functions: rows are kept, sorted by partition and order, and given out with the results in that order.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { FrameBound, Plan, SortKey, WindowCall } from "../../sql/plan/plan.ts";
import { compareValues } from "../../types/compare.ts";
import { BufferCode, type BufferColumn, bufferColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import type { Region, Sink } from "../codegen/region.ts";
import { emitComparison, emitSort, type SortColumn } from "../codegen/sort_code.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { windowResults } from "../runtime/window.ts";
import { rangeLimitOf } from "../runtime/range_limit.ts";
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
  const orderSlot = compilation.newSlot();
  const resultSlot = compilation.newSlot();
  region.reset(buffer.slot, orderSlot, resultSlot);
  region.produce(plan.input, {
    open: (code) => buffer.openAppend(code),
    row: (code) => {
      const values = columns.slice(0, named).map(({ column }) => code.column(column as number));
      buffer.append(code, [...values, ...computed.map((expression) => emitValue(code, expression))]);
    },
    close: (code) => buffer.closeAppend(code),
  });
  region.once(plan, (code) => {
    const names = buffer.openRead(code);
    const sorted = emitSort(code, buffer, names, [...partition, ...order]);
    code.emit(`S.x[${orderSlot}] = ${sorted};`);
    const input = inputCode(code, { plan, buffer, names, sorted, partition, order });
    const work = calls.map((call) => workCode(code, buffer, names, call));
    const results = `${code.use("windowResults", windowResults)}(S, ${input}, [${work.join(", ")}])`;
    code.emit(`S.x[${resultSlot}] = ${code.work(results)}.result;`);
  });
  const key = {};
  region.loop(plan, {
    kind: "counted",
    count: (code) => {
      const names = buffer.openRead(code);
      const sorted = code.define("order", `S.x[${orderSlot}]`);
      const results = plan.calls.map((_, index) => code.define("results", `S.x[${resultSlot}][${index}]`));
      code.note(key, { names, sorted, results });
      return `${sorted}.length`;
    },
    bind: (code, index) => {
      const { names, sorted, results } = code.recall<{
        names: ReadNames;
        sorted: string;
        results: readonly string[];
      }>(key);
      const row = code.define("r", `${sorted}[${index}]`);
      buffer.bindRow(code, names, row);
      plan.calls.forEach((call, position) => {
        code.bind(call.output, nullableBinding(call.type, `${results[position]}[${index}]`));
      });
    },
  }, sink);
}

interface InputParts {
  readonly plan: Window;
  readonly buffer: BufferCode;
  readonly names: ReadNames;
  readonly sorted: string;
  readonly partition: readonly SortColumn[];
  readonly order: readonly SortColumn[];
}

function inputCode(code: Emitter, { plan, buffer, names, sorted, partition, order }: InputParts): string {
  const samePartition = emitComparison(code, buffer, names, partition);
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
  return `{ order: ${sorted}, samePartition: ${samePartition}, samePeers: ${samePeers}, ${rest} }`;
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
