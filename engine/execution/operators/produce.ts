/**
 * From plans to code: the producer of each operator.
 */
import { assert, unreachable } from "../../base/assert.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { Compilation } from "../codegen/compilation.ts";
import { before, InlineRegion, type Program, type Region, type Sink } from "../codegen/region.ts";
import { produceAggregate } from "./aggregate.ts";
import { produceDistinct } from "./distinct.ts";
import { produceGather } from "./gather.ts";
import { produceHashJoin } from "./hash_join.ts";
import { produceLookup } from "./lookup.ts";
import { isWorthKeeping, mayNeedFiles, produceCalled, produceKept } from "./materialize.ts";
import { produceNestedLoopJoin } from "./nested_loop_join.ts";
import { produceTableScan } from "./scan.ts";
import { produceInlineScan } from "./inline_scan.ts";
import { produceSetOperation } from "./set_operation.ts";
import { produceSort } from "./sort.ts";
import { dividedInputs, produceDivided } from "./spilled.ts";
import { produceFunctionScan, produceValues, produceVirtualScan } from "./sources.ts";
import { produceFilter, produceLimit, produceLockRows, produceProject } from "./streaming.ts";
import { produceWindow } from "./window.ts";
import { produceWith, produceWithScan } from "./with.ts";

/** Puts the code of a plan into a region; each row goes to the sink with its columns bound. */
export function produce(plan: Plan, region: Region, sink: Sink): void {
  const { compilation } = region;
  const source = compilation.dividedSource(plan);
  if (source !== undefined) return region.loop(plan, source, sink);
  if (region.isInline && isWorthKeeping(plan, compilation)) return produceKept(plan, region, sink);
  if (region instanceof InlineRegion && compilation.spills && mayNeedFiles(plan)) {
    return produceCalled(plan, region, sink);
  }
  if (plan.kind === "gather" && compilation.spills && (region as Program).reruns) {
    return produceKept(plan, region, sink);
  }
  if (!compilation.analyze) return produceWhole(plan, region, sink);
  const operator = compilation.operatorIndex(plan);
  const consumer = counted(operator, compilation, sink);
  compilation.owned(operator, () => produceWhole(plan, region, consumer));
}

function produceWhole(plan: Plan, region: Region, sink: Sink): void {
  const inputs = region.compilation.spills && !region.isInline ? dividedInputs(plan) : null;
  if (inputs === null) produceOperator(plan, region, sink);
  else {produceDivided(plan, inputs, region as Program, sink, (rounds, sink) =>
      produceOperator(plan, rounds, sink));}
}

/** For EXPLAIN ANALYZE: counts the rows that an operator gives out. */
function counted(operator: number, compilation: Compilation, sink: Sink): Sink {
  const { owner } = compilation;
  return before(sink, (code) => {
    if (operator >= 0) code.emit(`S.countRow(${operator});`);
    compilation.owned(owner, () => sink.row(code));
  });
}

function produceOperator(plan: Plan, region: Region, sink: Sink): void {
  switch (plan.kind) {
    case "table_scan":
      return region.isInline
        ? produceInlineScan(plan, region, sink)
        : produceTableScan(plan, region as Program, sink);
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return produceLookup(plan, region, sink);
    case "virtual_scan":
      return produceVirtualScan(plan, region, sink);
    case "values":
      return produceValues(plan, region, sink);
    case "function_scan":
      return produceFunctionScan(plan, region, sink);
    case "filter":
      return produceFilter(plan, region, sink);
    case "project":
      return produceProject(plan, region, sink);
    case "hash_join":
      return produceHashJoin(plan, region, sink);
    case "nested_loop_join":
      return produceNestedLoopJoin(plan, region, sink);
    case "aggregate":
      return produceAggregate(plan, region, sink);
    case "window":
      return produceWindow(plan, region, sink);
    case "sort":
      return produceSort(plan, region, sink);
    case "limit":
      return produceLimit(plan, region, sink);
    case "distinct":
      return produceDistinct(plan, region, sink);
    case "set_operation":
      return produceSetOperation(plan, region, sink);
    case "with":
      return produceWith(plan, region, sink);
    case "with_scan":
      return produceWithScan(plan, region, sink);
    case "gather":
    case "exchange":
      return produceGather(plan, region as Program, sink);
    case "lock_rows":
      return produceLockRows(plan, region, sink);
    case "insert":
    case "update":
    case "delete":
      assert(false, "a modification cannot be an input");
      return;
    default:
      return unreachable(plan);
  }
}
