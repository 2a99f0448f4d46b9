/** What a transaction keeps in order to take back what it has done since a place in its life. */
import { assertDefined } from "../base/assert.ts";
import type { RowId, StoredRow } from "../operations/effect.ts";
import type { DeferredChecks } from "./deferred_checks.ts";
import type { CatalogMark } from "./private_catalog.ts";
import type { TableWriteSet } from "./write_set.ts";

/** A place in a transaction's life that it can return to. */
export interface Mark {
  readonly journal: number;
  readonly reads: number;
  readonly locks: number;
  readonly sequences: number;
  readonly messages: number;
  readonly deferred: ReturnType<DeferredChecks["mark"]>;
  readonly catalog: CatalogMark;
}

/** How to take one write back. */
export type JournalEntry =
  | { readonly kind: "add"; readonly writeSet: TableWriteSet }
  | {
    readonly kind: "set";
    readonly writeSet: TableWriteSet;
    readonly id: RowId;
    values: StoredRow | null;
    readonly isFilled: boolean;
  }
  | { readonly kind: "batch"; readonly writeSet: TableWriteSet }
  /** The newest set of deleted rows came. */
  | { readonly kind: "deletedSet"; readonly writeSet: TableWriteSet }
  /** A row of such a set was added as one of its own. */
  | { readonly kind: "revived"; readonly writeSet: TableWriteSet; readonly id: RowId }
  | {
    readonly kind: "origin";
    readonly writeSet: TableWriteSet;
    readonly id: RowId;
    readonly origin: RowId | null | undefined;
  }
  | { readonly kind: "contents"; readonly writeSet: TableWriteSet; readonly saved: TableWriteSet }
  | { readonly kind: "writeSet"; readonly tableId: number; readonly before: TableWriteSet | undefined };

/** Takes back a write to rows of a write set that stays. */
export function takeBack(entry: Exclude<JournalEntry, { kind: "batch" | "writeSet" }>): void {
  const { writeSet } = entry;
  switch (entry.kind) {
    case "add":
      writeSet.removeLast();
      break;
    case "deletedSet":
      writeSet.deleted.pop();
      break;
    case "revived":
      writeSet.removeLast();
      writeSet.revived.delete(entry.id);
      break;
    case "set": {
      const row = assertDefined(writeSet.byId.get(entry.id), "writeSet row");
      writeSet.set(row, entry.values);
      row.isFilled = entry.isFilled;
      break;
    }
    case "origin":
      if (entry.origin === undefined) writeSet.origins.delete(entry.id);
      else writeSet.origins.set(entry.id, entry.origin);
      break;
    case "contents":
      writeSet.restore(entry.saved);
      break;
  }
}
