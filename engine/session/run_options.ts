/** How a statement is run: what is known of it beforehand. */
import type { AheadRow } from "../statements/statement_host.ts";

/** What is known of a statement's run beforehand. */
export interface RunOptions {
  readonly readOnly: boolean;
  /** It is expected to end in its first step. */
  readonly short: boolean;
  /** See {@link StatementRun.isBounded}. */
  readonly isBounded: boolean;
  /** Tables that its plan names. */
  readonly tableIds: readonly number[];
  /** The row that was fetched for it; null: none was. */
  readonly ahead: AheadRow | null;
}

/** A statement of which nothing is known but that it writes. */
export const LONG_WRITE: RunOptions = {
  readOnly: false,
  short: false,
  isBounded: false,
  tableIds: [],
  ahead: null,
};
