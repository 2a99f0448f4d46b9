/** Plans whose rows are handed to whoever steps them. */
import type { ExecutionContext, StatementExecution } from "./execution.ts";
import type { RowCallback } from "./execution_state.ts";

/** A plan whose rows are handed to a callback; what modifications are fed from. */
export interface RowProducer {
  /** Begins an execution. */
  start(context: ExecutionContext): RowProduction;
  source(context: ExecutionContext): string;
}

/** A running {@link RowProducer}. */
export interface RowProduction {
  /** Works through one piece; each row's values come as a fresh array. true: finished. */
  step(onRow: RowCallback): boolean;
  /** EXPLAIN ANALYZE's counters of the plan's operators. */
  readonly profile: StatementExecution["profile"];
  /** The last step has ended because rows of others are still to come. */
  readonly isWaiting: boolean;
}
