/** What a router keeps of one transaction that reads at shards. */
import type { TableDefinition } from "../catalog/definitions.ts";
import { GatheredRows } from "./gathered_rows.ts";
import type { FetchedTable } from "./fetched_table.ts";

/** See the file's head. */
export class Branch {
  /** Its name at the shards. */
  readonly number: number;
  /** Shards at which it has a snapshot; at all of them it is the same cut. */
  readonly begun = new Set<number>();
  readonly #tables = new Map<number, FetchedTable>();
  /** What has been gathered was read at no cut of this branch. */
  isLoose = false;
  /** How many commits the router had seen when its newest cut was taken. */
  cut = 0;
  /** What fragments have given to the running statement. */
  readonly gathered = new GatheredRows();
  /** The statement that has asked shards what they say of themselves, by its number in the transaction. */
  lookedAt = -1;
  /** Roughly what has been fetched. */
  bytes = 0;

  constructor(number: number) {
    this.number = number;
  }

  /** What has been fetched of a table since its definition is this one. */
  table(definition: TableDefinition, make: () => FetchedTable): FetchedTable {
    const known = this.#tables.get(definition.id);
    if (known?.definition === definition) return known;
    const table = make();
    this.#tables.set(definition.id, table);
    return table;
  }

  /** Whether the table is still the one that rows are fetched for. */
  has(table: FetchedTable): boolean {
    return this.#tables.get(table.definition.id) === table;
  }

  /** Forgets what has been fetched of a table. */
  forget(table: FetchedTable): void {
    if (this.has(table)) this.#tables.delete(table.definition.id);
  }

  /** Forgets all that has been fetched. */
  forgetAll(): void {
    this.#tables.clear();
    this.gathered.forget();
    this.bytes = 0;
  }
}
