/**
 * What changes or locks one row by its id, where rows are at shards: the row is fetched first, so that the statement
 * finds it and runs once.
 */
import type { Settings } from "../settings/settings.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import type { MaybePromise, StatementOutcome } from "../statements/outcome.ts";
import type { AheadRow } from "../statements/statement_host.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";
import type { SqlValue } from "../types/value.ts";
import type { SessionEngine } from "./session_engine.ts";
import type { RunnerEnvironment } from "./statement_runner.ts";

/** What it needs of the session. */
interface AheadSession {
  readonly engine: Pick<SessionEngine, "shards">;
  readonly block: TransactionBlock | null;
  readonly settings: Settings;
  readonly environment: Pick<RunnerEnvironment, "abort">;
  checkCanceled(): void;
}

/**
 * Runs a statement with the row that it is about, or without where that is not known. Before that what is open is read
 * to its end, if it is gone with what the statement sees.
 */
export function withRowAhead(
  session: AheadSession,
  plan: Pick<CachedPlan, "point">,
  parameters: readonly SqlValue[],
  run: (ahead: AheadRow | null) => MaybePromise<StatementOutcome>,
): MaybePromise<StatementOutcome> {
  const reading = session.block?.readBefore() ?? null;
  if (reading !== null) return reading.then(() => withRowAhead(session, plan, parameters, run));
  const { point } = plan;
  const { engine: { shards }, block, settings, environment: { abort } } = session;
  if (point === null || shards === null) return run(null);
  const transaction = block?.transaction ?? null;
  const fetching = shards.fetchAhead(point, { transaction, parameters, settings, abort });
  if (fetching === null) return run(null);
  return fetching.then((ahead) => {
    session.checkCanceled();
    return run(ahead);
  });
}
