/** The catalog as one transaction sees it: the committed one, with the changes that it has made itself. */
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { onlyAddsColumns } from "./added_columns.ts";

/** A state to return to. */
export interface CatalogMark {
  readonly changes: number;
  readonly catalog: Catalog;
  /** What is committed at that moment. */
  readonly base: Catalog;
}

/** See the file's head. */
export class PrivateCatalog {
  readonly #changes: CatalogChange[] = [];
  readonly #manager: { readonly catalog: Catalog };
  /** What the changes have made of the committed one; of no meaning while there are none. */
  #changed: Catalog;
  /** The committed one that they were made of. */
  #base: Catalog;

  /** `manager`: has the committed one. */
  constructor(manager: { readonly catalog: Catalog }) {
    this.#manager = manager;
    this.#changed = this.#base = manager.catalog;
  }

  get now(): Catalog {
    return this.isChanged ? this.#changed : this.#manager.catalog;
  }

  get isChanged(): boolean {
    return this.#changes.length > 0;
  }

  /** In the order in which they were made. */
  get changes(): readonly CatalogChange[] {
    return this.#changes;
  }

  apply(change: CatalogChange): void {
    this.#changed = this.now.apply(change);
    this.#base = this.#manager.catalog;
    this.#changes.push(change);
  }

  /**
   * Another transaction has committed definitions, which have nothing to do with the changes made here (`claims.ts`):
   * these are made to what is committed now.
   */
  rebase(): void {
    const { catalog } = this.#manager;
    if (!this.isChanged || this.#base === catalog) return;
    this.#base = catalog;
    this.#changed = this.#changes.reduce((made, change) => made.apply(change), catalog);
  }

  /** Whether a definition changes a committed table in another way than by adding columns. */
  rewrites(table: TableDefinition): boolean {
    return !onlyAddsColumns(this.#manager.catalog.table(table.id), table);
  }

  /** Ids of the tables that are made, dropped, or altered in another way than by adding columns. */
  get rewrittenTables(): number[] {
    const altered = this.#changes.flatMap((change) =>
      change.kind === "put_table" ? [change.table.id] : change.kind === "drop_table" ? [change.tableId] : []
    );
    return [...new Set(altered)].filter((id) => {
      const after = this.#changed.table(id);
      return after === undefined || this.rewrites(after);
    });
  }

  /** The definitions of tables that were there before and get indexes. */
  get indexedTables(): TableDefinition[] {
    const ids = new Set(this.#changes.flatMap((each) => each.kind === "put_table" ? [each.table.id] : []));
    return [...ids].flatMap((id) => {
      const before = this.#manager.catalog.table(id), after = this.#changed.table(id);
      if (before === undefined || after === undefined) return [];
      const isNew = after.indexes.some((index) => !before.indexes.some((each) => each.id === index.id));
      return isNew ? [after] : [];
    });
  }

  mark(): CatalogMark {
    return { changes: this.#changes.length, catalog: this.#changed, base: this.#base };
  }

  rollbackTo(mark: CatalogMark): void {
    if (this.#changes.length <= mark.changes) return;
    this.#changes.length = mark.changes;
    this.#changed = mark.catalog;
    this.#base = mark.base;
    this.rebase();
  }
}

/** The id of the table that a change makes, alters or drops; 0: none. */
export function changedTable(change: CatalogChange): number {
  if (change.kind === "put_table") return change.table.id;
  return change.kind === "drop_table" ? change.tableId : 0;
}
