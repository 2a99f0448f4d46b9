/** Collects rows by column, in batches of a size that travels well. */
import { assert } from "../../base/assert.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { Fragment } from "../../sql/plan/plan.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { SqlValue } from "../../types/value.ts";
import type { GatheredBatch } from "./execution.ts";

/** Rows that travel together. */
const BATCH_ROWS = 4096;
/** The same by what they take, roughly. */
const BATCH_BYTES = 256 << 10;
/** Numbers that travel as one block of memory, for each of them alone costs more. */
const BLOCK_NUMBERS = 64;

/** See the file's head. */
export class ColumnLists {
  readonly #columns: Fragment["columns"];
  readonly #send: (batch: GatheredBatch) => void;
  #lists: StoredValue[][];
  #rows = 0;
  #bytes = 0;

  constructor(columns: Fragment["columns"], send: (batch: GatheredBatch) => void) {
    this.#columns = columns;
    this.#send = send;
    this.#lists = columns.map(() => []);
  }

  readonly add = (values: readonly SqlValue[]): void => {
    const columns = this.#columns;
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index];
      const value = values[index];
      assert(column !== undefined && value !== undefined, "a value for each column");
      const stored = toStored(column.type, value);
      this.#lists[index]?.push(stored);
      this.#bytes += typeof stored === "string" || stored instanceof Uint8Array ? stored.length + 8 : 8;
    }
    if (++this.#rows >= BATCH_ROWS || this.#bytes > BATCH_BYTES) this.#send(this.take());
  };

  take(): GatheredBatch {
    const columns = this.#lists.map((list, index) => {
      const type = this.#columns[index]?.type;
      if (this.#rows < BLOCK_NUMBERS || type === undefined) return list;
      const storageClass = storageClassOf(type);
      if (storageClass !== "int" && storageClass !== "float") return list;
      return list.every((value) => typeof value === "number") ? Float64Array.from(list as number[]) : list;
    });
    const batch: GatheredBatch = { rowCount: this.#rows, columns };
    this.#lists = this.#columns.map(() => []);
    this.#rows = this.#bytes = 0;
    return batch;
  }
}
