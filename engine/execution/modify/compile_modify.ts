/**
 * Compiles INSERT, UPDATE and DELETE.
 *
 * A modification is the program of its source with generated code at its end that makes and writes rows, and a last
 * pipeline for what waits until all rows are there: rows with new ids, referential actions, foreign key checks.
 */
import { unreachable } from "../../base/assert.ts";
import type { ModifyPlan, PlannedStatement } from "../../sql/plan/plan.ts";
import { Compilation } from "../codegen/compilation.ts";
import { Program } from "../codegen/region.ts";
import type { CompiledStatement, ExecutionContext } from "../runtime/execution.ts";
import { ExecutionState, type Pipeline } from "../runtime/execution_state.ts";
import { deleteFacts, produceDelete } from "./delete.ts";
import { insertFacts, produceInsert } from "./insert.ts";
import { ModifyCode } from "./modify_code.ts";
import type { ModifyFacts } from "./modify_run.ts";
import { produceUpdate, updateFacts } from "./update.ts";
import { produce } from "../operators/produce.ts";

/** Compiles a modification; `planned` is the statement whose plan it is. */
export function compileModify(
  plan: ModifyPlan,
  planned: PlannedStatement,
  { analyze = false }: { readonly analyze?: boolean },
): CompiledStatement {
  const here = compileOnce(plan, planned, { analyze, spills: false });
  let spilling: CompiledStatement | null = null;
  /** What runs in a context. */
  const chosen = ({ spills = false }: ExecutionContext): CompiledStatement =>
    spills ? spilling ??= compileOnce(plan, planned, { analyze, spills }) : here;
  return {
    start: (context) => chosen(context).start(context),
    source: (context) => chosen(context).source(context),
  };
}

function compileOnce(
  plan: ModifyPlan,
  planned: PlannedStatement,
  { analyze, spills }: { readonly analyze: boolean; readonly spills: boolean },
): CompiledStatement {
  const compilation = new Compilation(plan, planned.columns.map((each) => each.column), {
    analyze,
    spills,
    produce,
  });
  const program = new Program(compilation, { reruns: false });
  const modify = new ModifyCode(compilation, factsOf(plan), planned.columns);
  switch (plan.kind) {
    case "insert":
      produceInsert(plan, program, modify);
      break;
    case "update":
      produceUpdate(plan, program, modify);
      break;
    case "delete":
      produceDelete(plan, program, modify);
      break;
    default:
      unreachable(plan);
  }
  program.add(finishPipeline(modify, compilation.operatorIndex(plan)));
  const { pipelines } = program;
  return {
    start: (context) =>
      new ExecutionState(
        context,
        pipelines,
        compilation.slots,
        analyze ? { ancestors: compilation.ancestors(), owners: compilation.owners } : null,
      ),
    source: (context) => compilation.source(context),
  };
}

function factsOf(plan: ModifyPlan): ModifyFacts {
  switch (plan.kind) {
    case "insert":
      return insertFacts(plan);
    case "update":
      return updateFacts(plan);
    case "delete":
      return deleteFacts(plan);
    default:
      return unreachable(plan);
  }
}

/** What is left to do when the last row has been written. */
function finishPipeline(modify: ModifyCode, operator: number): Pipeline {
  return {
    writesResult: false,
    operators: [operator],
    run: (state) => {
      if (state.rowCount !== 1) state.insertedId = null;
      const run = modify.runOf(state);
      return run === null || run.finish();
    },
  };
}
