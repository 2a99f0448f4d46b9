/** Rows on their way to new ids, in files if need be. */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { KeptList, storedType } from "../runtime/kept_list.ts";
import type { MemoryUser } from "../runtime/memory_user.ts";

/** A row on its way to a new id. */
export interface Move {
  readonly from: RowId;
  readonly to: RowId;
  readonly row: StoredRow;
}

/** See the file's head. They can be gone through again and again. */
export class MovedRows implements Iterable<Move> {
  readonly #list: KeptList;

  constructor(user: MemoryUser, table: TableDefinition) {
    const types = table.columns.map(({ type }) => storedType(type));
    this.#list = new KeptList(user, [{ kind: "i64" }, { kind: "i64" }, ...types]);
  }

  /** Adds one. */
  add({ from, to, row }: Move): void {
    this.#list.append([from, to, ...row]);
  }

  *[Symbol.iterator](): Generator<Move, void, void> {
    for (const values of this.#list) {
      const [from, to, ...row] = values as readonly [RowId, RowId, ...StoredValue[]];
      yield { from, to, row };
    }
  }

  /** Forgets them. */
  release(): void {
    this.#list.release();
  }
}
