/**
 * Finds values that their columns may not hold (see `types/stored_range.ts`) in the checkpoint's tables and in the
 * entries of the log after it. A build between the commits that CHANGELOG.md names could write such values; no sum of
 * bytes tells them from others.
 */
import { assert } from "../base/assert.ts";
import { decodeEffects } from "../operations/entry_codec.ts";
import { LIMITS } from "../base/limits.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { Effect, OpNumber, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { RecoveredEntry } from "./recovered_entry.ts";
import { isStorable } from "../types/stored_range.ts";
import { formatType } from "../types/type_names.ts";
import type { TableStore } from "./table/table_store.ts";
import type { Block } from "./access/block.ts";
import type { Vector } from "./access/vector.ts";

/** A value that its column may not hold. */
export interface WrongValue {
  /** With its schema. */
  readonly table: string;
  readonly column: string;
  /** As SQL writes it. */
  readonly type: string;
  readonly rowId: RowId;
  /** In stored form: a numeric without its point, a date in days since 2000-01-01. */
  readonly value: StoredValue;
  /** The entry that wrote it; null: it is in a segment. */
  readonly op: OpNumber | null;
}

/** Collects wrong values; a row that is written again later counts by its last values. */
export class ValueVerification {
  readonly #tables = new Map<number, TableDefinition>();
  /** By table and row. */
  readonly #wrong = new Map<number, Map<RowId, WrongValue[]>>();
  #count = 0;

  /** Reads all rows of a table of the checkpoint. */
  addTable(store: TableStore, checkpointOp: OpNumber): void {
    const { definition } = store;
    this.#tables.set(definition.id, definition);
    const { columns } = definition;
    const cursor = store.at(checkpointOp).scan(columns.map(({ id }) => id), { ids: true, prune: [] });
    for (let block = cursor.next(); block !== null; block = cursor.next()) this.#addBlock(definition, block);
  }

  /** Reads an entry of the log; in their order. */
  addEntry({ op, effects }: RecoveredEntry["entry"]): void {
    for (const effect of effects) this.#addEffect(effect, op);
  }

  /** What was found, in the order of tables and rows, at most `LIMITS.maximumWrongValues`. */
  get found(): WrongValue[] {
    return [...this.#wrong.values()].flatMap((rows) => [...rows.values()].flat());
  }

  #addBlock(definition: TableDefinition, block: Block): void {
    const { ids, hidden } = block;
    assert(ids !== null, "the scan asked for ids");
    definition.columns.forEach(({ type }, position) => {
      const vector = block.columns[position];
      // Texts and bytes have no bounds.
      if (vector === undefined || vector.kind === "bytes" || vector.kind === "dictionary") return;
      for (let row = 0; row < block.rowCount; row++) {
        if (hidden !== null && hidden[row] !== 0) continue;
        const value = valueIn(vector, row);
        if (isStorable(type, value)) continue;
        this.#note(definition, position, { id: valueIn(ids, row) as RowId, value, op: null });
      }
    });
  }

  #addEffect(effect: Effect, op: OpNumber): void {
    switch (effect.kind) {
      case "create":
      case "update":
        this.#addRow(effect.tableId, effect.id, effect.values, op);
        break;
      case "delete":
        this.#wrong.get(effect.tableId)?.delete(effect.id);
        break;
      case "delete_batch":
        for (const id of effect.ids) this.#wrong.get(effect.tableId)?.delete(id);
        break;
      case "truncate":
        this.#wrong.delete(effect.tableId);
        break;
      case "update_batch":
        for (const id of effect.batch.ids) this.#wrong.get(effect.tableId)?.delete(id);
        this.#addBatch(effect, op);
        break;
      case "create_batch":
        this.#addBatch(effect, op);
        break;
      case "ddl":
        if (effect.change.kind === "put_table") this.#tables.set(effect.change.table.id, effect.change.table);
        else if (effect.change.kind === "drop_table") this.#wrong.delete(effect.change.tableId);
        break;
      case "slices":
        for (const { effects } of effect.slices) {
          for (const each of decodeEffects(effects)) if (each.kind !== "ddl") this.#addEffect(each, op);
        }
        break;
      case "sequence":
      case "checkpoint":
        break;
    }
  }

  #addRow(tableId: number, id: RowId, values: StoredRow, op: OpNumber): void {
    this.#wrong.get(tableId)?.delete(id);
    const definition = this.#tables.get(tableId);
    definition?.columns.forEach(({ type }, position) => {
      const value = values[position] ?? null;
      if (!isStorable(type, value)) this.#note(definition, position, { id, value, op });
    });
  }

  #addBatch(
    { tableId, batch }: Extract<Effect, { kind: "create_batch" | "update_batch" }>,
    op: OpNumber,
  ): void {
    const definition = this.#tables.get(tableId);
    definition?.columns.forEach(({ type }, position) => {
      const column = batch.columns[position];
      if (column === undefined || !("data" in column)) return;
      const big = column.storageClass === "int" ? column.big : null;
      const vector: Vector = { kind: "number", data: column.data, nulls: column.nulls, big };
      for (let row = 0; row < batch.rowCount; row++) {
        const value = valueIn(vector, row);
        if (!isStorable(type, value)) {
          this.#note(definition, position, { id: batch.ids[row] as RowId, value, op });
        }
      }
    });
  }

  #note(
    definition: TableDefinition,
    position: number,
    { id, value, op }: { readonly id: RowId; readonly value: StoredValue; readonly op: OpNumber | null },
  ): void {
    const column = definition.columns[position];
    if (column === undefined || this.#count >= LIMITS.maximumWrongValues) return;
    this.#count++;
    let rows = this.#wrong.get(definition.id);
    if (rows === undefined) this.#wrong.set(definition.id, rows = new Map());
    const list = rows.get(id) ?? [];
    const table = `${definition.schema}.${definition.name}`;
    list.push({ table, column: column.name, type: formatType(column.type), rowId: id, value, op });
    rows.set(id, list);
  }
}

function valueIn(vector: Vector, row: number): StoredValue {
  if (vector.kind === "constant") return vector.value;
  assert(vector.kind === "number", "a vector of numbers");
  if (vector.nulls?.[row] === 1) return null;
  const value = vector.data[row] as number;
  return value !== value ? vector.big?.get(row) ?? value : value;
}
