/**
 * Full scans inside of a loop: the table's rows (those that pass what does not depend on the loop) are kept in a
 * buffer.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { emitGuards } from "../codegen/condition.ts";
import { conjuncts, expressionFacts } from "../codegen/plan_analysis.ts";
import { definedColumns } from "../../sql/plan/traverse.ts";
import { before, type Region, type Sink } from "../codegen/region.ts";
import { KeptPlan } from "./materialize.ts";

type TableScan = Extract<Plan, { kind: "table_scan" }>;

/** Puts a scan that depends on the surrounding row into an inline region. */
export function produceInlineScan(plan: TableScan, region: Region, sink: Sink): void {
  const own = new Set(definedColumns(plan));
  const parts = plan.filter === null ? [] : conjuncts(plan.filter);
  const isOwn = (part: Expression) => {
    const facts = expressionFacts(part);
    return !facts.volatile && facts.freeDefinitions.size === 0 &&
      facts.free.every((column) => own.has(column));
  };
  const inside = parts.filter(isOwn);
  const outside = parts.filter((part) => !isOwn(part));
  const prune = plan.prune.filter(({ value }) => expressionFacts(value).free.length === 0);
  const columns = [
    ...plan.columns.map(({ output, type }) => ({ column: output, type })),
    ...(plan.rowId === null ? [] : [{ column: plan.rowId, type: { kind: "i64" } as const }]),
  ];
  const { compilation } = region;
  const kept = compilation.made(
    compilation.derivedKey(plan, "kept"),
    () => new KeptPlan(compilation, { ...plan, prune, filter: conjunction(inside) }, columns),
  );
  const { source } = kept.kept.reader(compilation);
  const rest = conjunction(outside);
  region.loop(
    plan,
    {
      ...source,
      atMost: kept.atMost,
      count: (code) => {
        kept.emitEnsure(code);
        return source.count(code);
      },
    },
    before(sink, (code) => {
      if (rest !== null) emitGuards(code, rest);
      sink.row(code);
    }),
  );
}

function conjunction(parts: readonly Expression[]): Expression | null {
  const [first] = parts;
  if (first === undefined) return null;
  return parts.length === 1 ? first : { kind: "and", type: { kind: "bool" }, args: parts };
}
