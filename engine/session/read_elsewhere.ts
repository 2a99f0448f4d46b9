/**
 * The shortest way for reads by themselves whose rows are at shards: all rows are gathered first, and then the
 * statement runs in one piece. Nothing is registered, and nothing run twice.
 */
import type { StatementExecution } from "../execution/runtime/execution.ts";
import type { AloneRows } from "../statements/statement_host.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../statements/outcome.ts";
import type { SessionEvaluation } from "./evaluation.ts";
import type { PlanningSession } from "./planning.ts";
import type { RunnerEnvironment } from "./statement_runner.ts";
import type { StatementContext } from "./statement_context.ts";
import type { SessionEngine } from "./session_engine.ts";

/** More rows than these are not written in one piece. */
const MAX_ROWS = 10_000;

/** What it needs of the session. */
export interface ElsewhereSession extends PlanningSession {
  readonly engine: SessionEngine;
  readonly evaluation: SessionEvaluation;
  readonly environment: Pick<RunnerEnvironment, "abort">;
  checkCanceled(): void;
}

/** What is to be read. */
export interface ElsewhereRead {
  readonly plan: CachedPlan;
  readonly context: StatementContext;
  readonly sink: ResultSink;
  /** What comes of it. */
  finish(execution: StatementExecution): StatementOutcome;
  /** The way that all statements can take. */
  run(): MaybePromise<StatementOutcome>;
}

/** null: the plan needs more than that. */
export function readElsewhere(
  session: ElsewhereSession,
  read: ElsewhereRead,
): Promise<StatementOutcome> | null {
  const { shards } = session.engine;
  const fragment = read.plan.compiled.soleFragment?.(read.context) ?? null;
  if (shards === null || fragment === null || !read.context.lendAhead(fragment)) return null;
  read.context.transaction.renew();
  session.evaluation.beginStatement();
  return finishRead(
    session,
    read,
    shards.gatherAlone(fragment, read.context, {
      abort: session.environment.abort,
      atMost: MAX_ROWS,
    }).finally(() => read.context.endLoan()),
  );
}

async function finishRead(
  session: ElsewhereSession,
  { plan, context, sink, finish, run }: ElsewhereRead,
  gathering: Promise<AloneRows | null>,
): Promise<StatementOutcome> {
  const rows = await gathering;
  session.checkCanceled();
  if (rows === null || session.engine.plans.current(session, plan) !== plan) {
    return await run();
  }
  context.transaction.renew();
  context.gathered = rows.source;
  const execution = plan.compiled.start(context);
  while (!execution.step(sink)) session.checkCanceled();
  return finish(execution);
}
