/** What a transaction keeps in order to take back what it has done since a place in its life. */
import type { Catalog } from "../catalog/catalog.ts";
import type { RowId, StoredRow } from "../operations/effect.ts";
import type { TableWriteSet } from "./write_set.ts";

/** By table: the constraints whose checks of its rows wait for the commit. */
export type PendingChecks = ReadonlyMap<number, ReadonlySet<number>>;

/** A place in a transaction's life that it can return to. */
export interface Mark {
  readonly journal: number;
  readonly reads: number;
  readonly locks: number;
  readonly changes: number;
  readonly sequences: number;
  readonly messages: number;
  readonly commitChecks: number;
  readonly pending: PendingChecks;
  readonly catalog: Catalog;
}

/** How to take one write back. */
export type JournalEntry =
  | { readonly kind: "add"; readonly writeSet: TableWriteSet }
  | {
    readonly kind: "set";
    readonly writeSet: TableWriteSet;
    readonly id: RowId;
    readonly values: StoredRow | null;
  }
  | { readonly kind: "batch"; readonly writeSet: TableWriteSet }
  | { readonly kind: "contents"; readonly writeSet: TableWriteSet; readonly saved: TableWriteSet }
  | { readonly kind: "writeSet"; readonly tableId: number; readonly before: TableWriteSet | undefined };
