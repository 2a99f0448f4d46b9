/**
 * Moves the rows of a table whose placement changes. What a shard has of it and another is to have is deleted there and
 * created here, all in the entry that changes the definition; so there is the old placement or the new one, and never
 * half of it.
 *
 * These effects go before the others of the entry: rows are as the definition before has them.
 *
 * Most rows are read before the table is claimed, while others write to it: see {@link RowCollection}.
 */
import { assertDefined } from "../base/assert.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { placementOf } from "../catalog/placement.ts";
import type { Effect, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { batchRow, batchValue } from "../transactions/batch_values.ts";
import { pickRows } from "./row_parts.ts";
import { RowPlaces } from "./row_places.ts";
import type { FetchedRows } from "./shard_messages.ts";

/** How a table's definition changes. */
export interface MovedTable {
  readonly before: TableDefinition;
  readonly after: TableDefinition;
}

/** Rows of one shard; `from` null: of all shards, which have the same. */
interface CollectedPart {
  readonly from: number | null;
  readonly rows: FetchedRows;
}

/** The rows of a table at a cut, and what others have made of them since. */
export class RowCollection {
  readonly definition: TableDefinition;
  readonly parts: CollectedPart[] = [];
  /** null: deleted. */
  readonly changed = new Map<RowId, StoredRow | null>();
  /** All rows of the cut have come. */
  isWhole = false;
  /** More has happened to the table than changes of rows. */
  isVoid = false;

  constructor(definition: TableDefinition) {
    this.definition = definition;
  }

  /** Takes what a commit has changed after the cut. */
  note(effects: readonly Effect[]): void {
    const { id } = this.definition;
    for (const effect of effects) {
      switch (effect.kind) {
        case "create":
        case "update":
          if (effect.tableId === id) this.changed.set(effect.id, effect.values);
          break;
        case "delete":
          if (effect.tableId === id) this.changed.set(effect.id, null);
          break;
        case "delete_batch":
          if (effect.tableId !== id) break;
          for (const each of effect.ids) this.changed.set(each, null);
          break;
        case "create_batch":
        case "update_batch":
          if (effect.tableId !== id) break;
          for (let row = 0; row < effect.batch.rowCount; row++) {
            this.changed.set(effect.batch.ids[row] as number, batchRow(effect.batch, row));
          }
          break;
        case "truncate":
          this.isVoid ||= effect.tableId === id;
          break;
        case "ddl":
          this.isVoid ||= effect.change.kind === "put_table" && effect.change.table.id === id;
          break;
        default:
          break;
      }
    }
  }
}

/** See the file's head. */
export class RowMoves {
  readonly effects = new Map<number, Effect[]>();
  readonly #table: MovedTable;
  readonly #count: number;
  readonly #to: RowPlaces;
  /** Where the value is, in the rows that there are, that says where they are to lie; -1: they have none yet. */
  readonly #position: number;
  readonly #missing: StoredValue;
  readonly #isWritten: (id: RowId) => boolean;

  /** `isWritten`: the transaction has an effect of its own for the row. */
  constructor(table: MovedTable, count: number, isWritten: (id: RowId) => boolean) {
    const { before, after } = this.#table = table;
    this.#count = count;
    this.#to = RowPlaces.of(after, count);
    const placement = placementOf(after);
    const columnId = placement.kind === "column" ? placement.columnId : -1;
    this.#position = before.columns.findIndex(({ id }) => id === columnId);
    this.#missing = after.columns.find(({ id }) => id === columnId)?.missingValue ?? null;
    this.#isWritten = isWritten;
  }

  /** Takes what has been collected. */
  take({ parts, changed }: RowCollection): void {
    for (const { from, rows } of parts) {
      this.#take(from, rows, (id) => changed.has(id) || this.#isWritten(id));
    }
    const places = RowPlaces.of(this.#table.before, this.#count);
    for (const [id, values] of changed) {
      if (values !== null && !this.#isWritten(id)) this.#moveRow(places.ofRow(id, values), id, values);
    }
  }

  #take(from: number | null, rows: FetchedRows, isElsewhere: (id: RowId) => boolean): void {
    const tableId = this.#table.before.id;
    if (rows.kind === "count") return;
    if (rows.kind === "rows") {
      for (const [index, id] of rows.ids.entries()) {
        const values = assertDefined(rows.rows[index], "a row for each id");
        if (!isElsewhere(id)) this.#moveRow(from, id, values);
      }
      return;
    }
    const { batch } = rows;
    const moved = new Map<number | null, number[]>();
    for (let row = 0; row < batch.rowCount; row++) {
      const id = batch.ids[row] as number;
      if (isElsewhere(id)) continue;
      const to = this.#placeOf(id, () => batchValue(batch, row, this.#position));
      if (to === from) continue;
      this.#leave(from, to, id);
      const list = moved.get(to);
      if (list === undefined) moved.set(to, [row]);
      else list.push(row);
    }
    for (const [to, list] of moved) {
      const picked = pickRows(batch, list);
      this.#arrive(from, to, { kind: "create_batch", tableId, batch: picked });
    }
  }

  #moveRow(from: number | null, id: RowId, values: StoredRow): void {
    const to = this.#placeOf(id, () => values[this.#position] ?? null);
    if (to === from) return;
    this.#leave(from, to, id);
    this.#arrive(from, to, { kind: "create", tableId: this.#table.before.id, id, values });
  }

  #placeOf(id: RowId, value: () => StoredValue): number | null {
    if (this.#to.isCopied) return null;
    return this.#to.ofId(id) ?? this.#to.ofValue(this.#position < 0 ? this.#missing : value());
  }

  #leave(from: number | null, to: number | null, id: RowId): void {
    if (to === null) return;
    for (let shard = 0; shard < this.#count; shard++) {
      if (shard === to || from !== null && shard !== from) continue;
      this.#give(shard, { kind: "delete", tableId: this.#table.before.id, id });
    }
  }

  #arrive(from: number | null, to: number | null, effect: Effect): void {
    if (from === null) return;
    for (let shard = 0; shard < this.#count; shard++) {
      if (shard !== from && (to === null || shard === to)) this.#give(shard, effect);
    }
  }

  #give(shard: number, effect: Effect): void {
    const list = this.effects.get(shard);
    if (list === undefined) this.effects.set(shard, [effect]);
    else list.push(effect);
  }
}
