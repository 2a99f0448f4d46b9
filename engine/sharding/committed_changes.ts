/**
 * What commits have changed of late, as the router has seen them, so that others need not find out at their own.
 * Commits are numbered as they are sent to the shards; a *cut* is how many had been sent when it was taken.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import { movesRows } from "../catalog/placement.ts";
import type { Effect, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { LookedAt } from "../transactions/remote_tables.ts";
import { keyColumns, keyOf, keyText } from "../transactions/stored_key.ts";

/** Rows and keys that are remembered, at the least. */
const KEPT_CHANGES = 10_000;

/**
 * Rows by table, and keys that rows have got, with the number of their last commit. Nothing is taken out one by one:
 * looking for the oldest in a `Map` that has lost thousands walks over all that is gone.
 */
class Changes {
  readonly #rows = new Map<number, Map<RowId, number>>();
  readonly #keys = new Map<string, number>();
  /** How often something was set. */
  size = 0;

  setRow(tableId: number, id: RowId, commit: number): void {
    let rows = this.#rows.get(tableId);
    if (rows === undefined) this.#rows.set(tableId, rows = new Map());
    rows.set(id, commit);
    this.size++;
  }

  setKey(name: string, commit: number): void {
    this.#keys.set(name, commit);
    this.size++;
  }

  row(tableId: number, id: RowId): number {
    return this.#rows.get(tableId)?.get(id) ?? 0;
  }

  key(name: string): number {
    return this.#keys.get(name) ?? 0;
  }
}

/** A commit that has been sent to the shards. */
export interface SentCommit {
  readonly op: number;
  readonly effects: readonly Effect[];
  /** The catalog when it began. */
  readonly before: Catalog;
  /** With what it has changed. */
  readonly after: Catalog;
}

/** See the file's head. */
export class CommittedChanges {
  /** How many commits have been sent. */
  count = 0;
  /** Those of late, and those before. */
  #changes = new Changes();
  #older = new Changes();
  /** The newest commit in those before. */
  #olderCommit = 0;
  /** The newest commit that is forgotten. */
  #forgotten = 0;
  /** By table: the newest commit that has written more than single rows. */
  readonly #bulks = new Map<number, number>();
  /** By table: the number of the commit that has last filled a new column. */
  readonly #fills = new Map<number, number>();
  /** By table: the number of the commit that has last moved its rows to other shards. */
  readonly #moves = new Map<number, number>();
  /** By table: the newest entry that has something for it, and the number of its commit. */
  readonly #written = new Map<number, { readonly op: number; readonly commit: number }>();

  /** Takes a commit. */
  note({ op, effects, before, after }: SentCommit): void {
    const commit = ++this.count;
    for (const effect of effects) {
      if ("tableId" in effect && this.#written.get(effect.tableId)?.op !== op) {
        this.#written.set(effect.tableId, { op, commit });
      }
      switch (effect.kind) {
        case "ddl":
          if (effect.change.kind === "put_table") {
            this.#noteDefinition(before.table(effect.change.table.id), effect.change.table, { commit, op });
          } else if (effect.change.kind === "drop_table") this.#forget(effect.change.tableId);
          break;
        case "truncate":
        case "create_batch":
        case "update_batch":
        case "delete_batch":
          this.#bulks.set(effect.tableId, commit);
          break;
        case "create":
        case "update":
          this.#changes.setRow(effect.tableId, effect.id, commit);
          this.#noteKeys(after.table(effect.tableId), effect.values, commit);
          break;
        case "delete":
          this.#changes.setRow(effect.tableId, effect.id, commit);
          break;
        default:
          break;
      }
    }
    if (this.#changes.size < KEPT_CHANGES) return;
    // A commit of very many rows is not worth its memory.
    const isHuge = this.#changes.size >= 2 * KEPT_CHANGES;
    this.#forgotten = isHuge ? commit : this.#olderCommit;
    this.#older = isHuge ? new Changes() : this.#changes;
    this.#olderCommit = commit;
    this.#changes = new Changes();
  }

  #noteDefinition(
    former: TableDefinition | undefined,
    table: TableDefinition,
    { commit, op }: { readonly commit: number; readonly op: number },
  ): void {
    this.#written.set(table.id, { op, commit });
    this.#bulks.set(table.id, commit);
    if (former !== undefined && movesRows(former, table)) this.#moves.set(table.id, commit);
    const known = former?.nextColumnId ?? Infinity;
    if (table.columns.some((each) => each.id >= known && each.missingValue === null)) {
      this.#fills.set(table.id, commit);
    }
  }

  #noteKeys(table: TableDefinition | undefined, values: StoredRow, commit: number): void {
    if (table === undefined) return;
    for (const index of table.indexes) {
      if (!index.unique) continue;
      const key = keyOf(table, index, values, index.columns.length);
      if (forbidsDuplicates(index, key)) this.#changes.setKey(keyName(table, index, key), commit);
    }
  }

  #forget(tableId: number): void {
    for (const each of [this.#bulks, this.#fills, this.#moves, this.#written]) each.delete(tableId);
  }

  /** Whether all rows and keys that have changed since a cut are remembered. */
  remembers(cut: number): boolean {
    return cut >= this.#forgotten;
  }

  /** Whether a row is remembered to have changed since a cut. */
  hasChanged(tableId: number, id: RowId, cut: number): boolean {
    return this.#changes.row(tableId, id) > cut || this.#older.row(tableId, id) > cut;
  }

  /** Whether a row is remembered to have got a key of a unique index since a cut, or to have been written with it. */
  isGiven(table: TableDefinition, index: IndexDefinition, key: readonly StoredValue[], cut: number): boolean {
    const name = keyName(table, index, key);
    return this.#changes.key(name) > cut || this.#older.key(name) > cut;
  }

  /** Whether more than single rows of a table have been written since a cut. */
  hasBulk(tableId: number, cut: number): boolean {
    return (this.#bulks.get(tableId) ?? 0) > cut;
  }

  /** Whether a new column has been filled since a cut. */
  isFilled(tableId: number, cut: number): boolean {
    return (this.#fills.get(tableId) ?? 0) > cut;
  }

  /** Whether rows have moved to other shards since a cut. */
  isMoved(tableId: number, cut: number): boolean {
    return (this.#moves.get(tableId) ?? 0) > cut;
  }

  /** The newest entry that has something for a table. */
  lastOp(tableId: number): number {
    return this.#written.get(tableId)?.op ?? 0;
  }

  /** Whether anything of a table has been written since a cut. */
  isWritten(tableId: number, cut: number): boolean {
    return (this.#written.get(tableId)?.commit ?? 0) > cut;
  }

  /** Whether rows and keys of a table are known not to have changed since a cut. */
  hasKept(table: TableDefinition, { ids, key }: LookedAt, cut: number): boolean {
    if (!this.isWritten(table.id, cut)) return true;
    return this.remembers(cut) && !this.hasBulk(table.id, cut) &&
      !ids.some((id) => this.hasChanged(table.id, id, cut)) &&
      (key === null || !this.isGiven(table, key.index, key.key, cut));
  }
}

/** Ids of indexes are none of tables. */
function keyName(table: TableDefinition, index: IndexDefinition, key: readonly StoredValue[]): string {
  return `${index.id}/${keyText(keyColumns(table, index), key)}`;
}
