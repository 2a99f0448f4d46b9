/**
 * The tables as one transaction sees them, each laid over its own rows once and kept until something changes, and the
 * older snapshots at which queries that are fetched piece by piece still read.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { serializationFailure } from "./conflicts.ts";
import { ReadColumns } from "./read_columns.ts";
import type { ReadPredicate } from "./read_set.ts";
import { type ReadTracker, TableView } from "./table_view.ts";
import type { TableWriteSet } from "./write_set.ts";

/** A query that is fetched piece by piece: what it reads at, and the tables as it sees them. */
export interface Reading {
  readonly snapshot: OpNumber;
  readonly views: Map<number, ReadableTable>;
}

/** The transaction, as far as its views go. */
interface Viewer {
  readonly snapshot: OpNumber;
  readonly catalog: Catalog;
  readonly notesReads: boolean;
  readonly reads: ReadPredicate[];
  readonly statements: number;
}

/** What is committed. */
interface CommittedTables<T> {
  readonly catalog: Catalog;
  readonly notesColumns: boolean;
  committed(viewer: T, tableId: number, snapshot: OpNumber | "newest"): ReadableTable;
}

/** See the file's head. */
export class TransactionViews<T extends Viewer> {
  readonly #manager: CommittedTables<T>;
  readonly #viewer: T;
  #views = new Map<number, ReadableTable>();
  readonly #readings = new Set<Reading>();
  /** What the running statement reads, by table. */
  readonly #columns = new Map<number, ReadColumns>();
  #statement = 0;
  /** A query was opened that is fetched piece by piece: other statements run in between. */
  #readsInPieces = false;
  readonly #track: ReadTracker = (predicate, columns) => {
    if (!this.#viewer.notesReads) return;
    if (columns !== null) predicate.columns = columns;
    this.#viewer.reads.push(predicate);
  };

  constructor(manager: CommittedTables<T>, viewer: T) {
    this.#manager = manager;
    this.#viewer = viewer;
  }

  /** The table at the snapshot; what is read of it is noted where the transaction notes reads. */
  of(tableId: number, writeSet: TableWriteSet | undefined): ReadableTable {
    this.#beginStatement();
    let view = this.#views.get(tableId);
    if (view === undefined) {
      view = this.anew(tableId, writeSet, this.#viewer.notesReads);
      this.#views.set(tableId, view);
    }
    return view;
  }

  /** The same, laid anew and not kept. */
  anew(
    tableId: number,
    writeSet: TableWriteSet | undefined,
    tracks: boolean,
    snapshot: OpNumber | "newest" = this.#viewer.snapshot,
  ): TableView {
    const definition = this.#viewer.catalog.table(tableId);
    if (definition === undefined) {
      throw serializationFailure(this.#manager.catalog, { tableId, id: null, op: null });
    }
    const beneath = this.#manager.catalog.table(tableId) ?? null;
    const committed = beneath === null ? null : this.#manager.committed(this.#viewer, tableId, snapshot);
    const track = tracks ? this.#track : null;
    const columns = tracks && this.#manager.notesColumns && !this.#readsInPieces ? this.#of(tableId) : null;
    return new TableView({ definition, beneath, committed, writeSet: writeSet ?? null, track, columns });
  }

  /** Each statement that notes reads has columns of its own. */
  #beginStatement(): void {
    if (this.#statement === this.#viewer.statements) return;
    this.#statement = this.#viewer.statements;
    if (!this.#viewer.notesReads) return;
    this.#columns.clear();
    this.clear();
  }

  #of(tableId: number): ReadColumns {
    this.#beginStatement();
    let columns = this.#columns.get(tableId);
    if (columns === undefined) this.#columns.set(tableId, columns = new ReadColumns());
    return columns;
  }

  /** The transaction's rows of a table are no longer what they were. */
  forget(tableId: number): void {
    this.#views.delete(tableId);
  }

  /** Nothing is what it was. */
  clear(): void {
    if (this.#views.size > 0) this.#views.clear();
  }

  /** Begins to read at the snapshot as it is now, until {@link endReading}, whatever later statements read at. */
  beginReading(): Reading {
    this.#readsInPieces = true;
    this.clear();
    const reading: Reading = { snapshot: this.#viewer.snapshot, views: new Map() };
    this.#readings.add(reading);
    return reading;
  }

  /** See {@link beginReading}. */
  endReading(reading: Reading): void {
    this.#readings.delete(reading);
  }

  /** Puts a query's own views in place of the transaction's; answers those. */
  exchange(views: Map<number, ReadableTable>): Map<number, ReadableTable> {
    const before = this.#views;
    this.#views = views;
    return before;
  }

  /** The oldest state that may still be read. */
  get oldestSnapshot(): OpNumber {
    let oldest = this.#viewer.snapshot;
    for (const { snapshot } of this.#readings) if (snapshot < oldest) oldest = snapshot;
    return oldest;
  }
}
