/** What a transaction is begun with. */
import type { IsolationLevel } from "./isolation_level.ts";
import type { WaitingClient } from "./wait_cycles.ts";

/** How a transaction begins; `T` is one, and `M` what computes values of rows for it. */
export interface TransactionOptions<T, M> {
  readonly interruptible: boolean;
  /** SERIALIZABLE unless it says otherwise. */
  readonly level?: IsolationLevel;
  /** It begins at the newest state that may be sent, but at none before this op; when missing: at the newest. */
  readonly floor?: number;
  readonly timestamp?: number;
  readonly client?: WaitingClient;
  /** Makes that, for when others add columns to their tables. */
  readonly makerFor?: (transaction: T) => M;
}
