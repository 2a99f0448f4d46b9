/** What a router keeps of one transaction that reads at shards. */
import type { RowId } from "../operations/effect.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { GatheredRows } from "./gathered_rows.ts";
import type { AheadRow } from "../statements/statement_host.ts";
import type { Room } from "../sql/fragments/join_places.ts";
import type { GatherStream } from "./gather_stream.ts";
import type { RowCollection } from "./row_moves.ts";
import type { FetchedTable } from "./fetched_table.ts";
import type { MissedPoints } from "./missed_points.ts";
import type { FetchedRows } from "./shard_messages.ts";

/** A row that was asked for without a transaction. */
export interface GivenRow extends AheadRow {
  /** null: there is none. */
  readonly rows: FetchedRows | null;
  /** How many commits the router had seen when it was asked for. */
  readonly cut: number;
}

/** See the file's head. */
export class Branch {
  /** Its name at the shards, another one for each cut that it leaves. */
  number: number;
  /** Shards at which it has a snapshot; at all of them it is the same cut. */
  readonly begun = new Set<number>();
  readonly #tables = new Map<number, FetchedTable>();
  /** By table and row. */
  readonly #homes = new Map<number, Map<RowId, number>>();
  #copyAt: number | undefined;
  /** What was fetched for its only statement before it began, at no shard's snapshot; see `RowsAhead`. */
  given: GivenRow | null = null;
  /** What has been gathered was read at no cut of this branch. */
  isLoose = false;
  /** How many commits the router had seen when its newest cut was taken, and how many locks the transaction had got. */
  cut = 0;
  grants = 0;
  /** The statement that it has left its cut for, by its number in the transaction. */
  cutFor = 0;
  /** What constraints look at in REPEATABLE READ, which goes to newer cuts while the transaction keeps its own. */
  newest: Branch | null = null;
  /** What fragments have given to the running statement. */
  readonly gathered = new GatheredRows();
  /** What is being read while it comes. */
  readonly streams = new Set<GatherStream>();
  /** The statement that rows were fetched for last, by its number in the transaction. */
  fetchesIn = -1;
  /** The statement that keeps what it gathers, by its number in the transaction. */
  keepsIn = -1;
  /** The statement that has asked shards what they say of themselves, by its number in the transaction. */
  lookedAt = -1;
  /** An attempt of a statement is under way that goes on when it misses something, as if that were not there. */
  isGuessing = false;
  /** What that has missed; null: nothing. */
  missed: MissedPoints | null = null;
  /** By table: rows that are going to move. */
  readonly collections = new Map<number, RowCollection>();
  /** How long a shard may take to answer; 0: for ever. */
  milliseconds = 0;
  /** Roughly what has been fetched. */
  bytes = 0;

  /** The statement for which shards have not had the memory to keep what it would, likewise, and what they have. */
  #short: { readonly statement: number; readonly room: Room } = { statement: -1, room: "all" };

  constructor(number: number) {
    this.number = number;
  }

  /** What shards have memory for in a statement of the transaction. */
  roomIn(statement: number): Room {
    return this.#short.statement === statement ? this.#short.room : "all";
  }

  /** Shards have not had the memory that the statement took them to have. false: it keeps nothing there already. */
  hasLessRoom(statement: number): boolean {
    const room = this.roomIn(statement);
    if (room === "none") return false;
    this.#short = { statement, room: room === "all" ? "parts" : "none" };
    return true;
  }

  /** This one, and that of constraints. */
  get all(): Branch[] {
    return this.newest === null ? [this] : [this, this.newest];
  }

  /** What has been fetched of a table since its definition is this one. */
  table(definition: TableDefinition, make: () => FetchedTable): FetchedTable {
    const known = this.#tables.get(definition.id);
    if (known?.definition === definition) return known;
    const table = make();
    this.#tables.set(definition.id, table);
    return table;
  }

  /** What has been fetched of a table, if anything. */
  fetched(tableId: number): FetchedTable | undefined {
    return this.#tables.get(tableId);
  }

  /** Whether the table is still the one that rows are fetched for. */
  has(table: FetchedTable): boolean {
    return this.#tables.get(table.definition.id) === table;
  }

  /** Notes at which shard a row is that the transaction is going to change, where its id does not say so. */
  noteHome(tableId: number, id: RowId, shard: number): void {
    let homes = this.#homes.get(tableId);
    if (homes === undefined) this.#homes.set(tableId, homes = new Map());
    homes.set(id, shard);
  }

  /** What was noted of a row. */
  homeOf(tableId: number, id: RowId): number | undefined {
    return this.#homes.get(tableId)?.get(id);
  }

  /** The shard at which it reads tables that all shards have. */
  copyAt(count: number): number {
    const [first] = this.begun;
    return this.#copyAt ??= first ?? this.number % count;
  }

  /** Forgets what has been fetched of a table. */
  forget(table: FetchedTable): void {
    if (this.has(table)) this.#tables.delete(table.definition.id);
  }

  /** Forgets all that has been fetched. */
  forgetAll(): void {
    this.given = null;
    this.#tables.clear();
    this.gathered.forget();
    this.bytes = 0;
  }
}
