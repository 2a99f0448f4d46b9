/** The kept side of a hash join, whole: what one execution makes and others look for partners in. */
import { assert } from "../../base/assert.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { HashIndex } from "./hash_index.ts";
import type { BigInterner, TextInterner, ValueInterner } from "./interner.ts";
import type { RowBuffer } from "./row_buffer.ts";

/** Numbers of values of a key; undefined: these are numbers. */
export type Interner = TextInterner | ValueInterner | BigInterner | undefined;

/** What it is made of. */
export type KeptParts = Pick<KeptTable, "rows" | "types" | "index" | "interners">;

/** See the file's head. */
export class KeptTable {
  readonly rows: RowBuffer;
  /** Of the columns of the rows; keys come first. */
  readonly types: readonly SqlType[];
  readonly index: HashIndex;
  /** By key. */
  readonly interners: readonly Interner[];

  constructor({ rows, types, index, interners }: KeptParts) {
    this.rows = rows;
    this.types = types;
    this.index = index;
    this.interners = interners;
  }

  /** The table that an execution was given. */
  static of(given: object | undefined): KeptTable {
    assert(given instanceof KeptTable, "a kept table");
    return given;
  }
}
