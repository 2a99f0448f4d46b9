/** What a transaction keeps in order to take back what it has done since a place in its life. */
import { assertDefined } from "../base/assert.ts";
import type { RowBatch, RowId, StoredRow } from "../operations/effect.ts";
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
  /** The newest set of rows that are deleted or replaced in bulk came. */
  | { readonly kind: "bulkSet"; readonly writeSet: TableWriteSet; readonly of: "deleted" | "replaced" }
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

/** Takes back everything since a mark; hears of batches that go. */
export function takeBackTo(
  mark: Mark,
  journal: JournalEntry[],
  writeSets: Map<number, TableWriteSet>,
  batchGoes: (batch: RowBatch) => void,
): void {
  while (journal.length > mark.journal) {
    const entry = assertDefined(journal.pop(), "journal entry");
    if (entry.kind === "batch") {
      const batch = entry.writeSet.batches.pop();
      if (batch === undefined) continue;
      entry.writeSet.replacing.delete(batch);
      batchGoes(batch);
    } else if (entry.kind !== "writeSet") takeBack(entry);
    else if (entry.before === undefined) writeSets.delete(entry.tableId);
    else writeSets.set(entry.tableId, entry.before);
  }
}

/** Takes back a write to rows of a write set that stays. */
function takeBack(entry: Exclude<JournalEntry, { kind: "batch" | "writeSet" }>): void {
  const { writeSet } = entry;
  switch (entry.kind) {
    case "add":
      writeSet.removeLast();
      break;
    case "bulkSet":
      writeSet[entry.of].pop();
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
