/** A scan over all parts of a table that a snapshot sees, one part after the other. */
import type { Block, BlockCursor } from "../access/block.ts";
import type { Part, PartScan } from "./part.ts";

/** Hands out the blocks of several parts; keeps the parts alive while it runs. */
export class TableScan implements BlockCursor {
  readonly #parts: readonly Part[];
  readonly #scan: PartScan;
  #next = 0;
  #current: BlockCursor | null = null;

  constructor(parts: readonly Part[], scan: PartScan) {
    this.#parts = parts;
    this.#scan = scan;
  }

  next(): Block | null {
    for (;;) {
      if (this.#current === null) {
        const part = this.#parts[this.#next++];
        if (part === undefined) return null;
        this.#current = part.scan(this.#scan);
      }
      const block = this.#current.next();
      if (block !== null) return block;
      this.#current = null;
    }
  }
}
