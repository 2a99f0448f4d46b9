/** What a transaction is begun with. */
import type { RowMaker } from "./catch_up.ts";
import type { IsolationLevel } from "./isolation_level.ts";
import type { Transaction } from "./transaction.ts";
import type { WaitingClient } from "./wait_cycles.ts";

/** How a transaction begins. */
export interface TransactionOptions {
  readonly interruptible: boolean;
  /** SERIALIZABLE unless it says otherwise. */
  readonly level?: IsolationLevel;
  /** It begins at the newest state that may be told, but at none before this op; when missing: at the newest. */
  readonly floor?: number;
  readonly timestamp?: number;
  readonly client?: WaitingClient;
  /** Makes what computes values of rows when others add columns to their tables. */
  readonly makerFor?: (transaction: Transaction) => RowMaker;
}
