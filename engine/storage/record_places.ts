/** Where some records of a file are, so that none is far from a known place. */

/** A place is kept for about so many bytes of a file. */
const PLACE_BYTES = 256 * 1024;

/** Where a record is. */
export interface RecordPlace {
  readonly op: number;
  readonly position: number;
}

/** Places of some records of one file, in order. */
export class RecordPlaces {
  readonly #ops: number[] = [];
  readonly #positions: number[] = [];

  /** Keeps the place if none near it is kept. */
  add(op: number, position: number): void {
    const last = this.#positions.at(-1);
    if (last !== undefined && position < last + PLACE_BYTES) return;
    this.#ops.push(op);
    this.#positions.push(position);
  }

  /** The nearest place at or before the op. */
  before(op: number): RecordPlace | undefined {
    let low = 0, high = this.#ops.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ops[middle] as number) <= op) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : {
      op: this.#ops[low - 1] as number,
      position: this.#positions[low - 1] as number,
    };
  }

  /** Forgets the places of all ops after this one. */
  truncateAfter(op: number): void {
    while ((this.#ops.at(-1) ?? 0) > op) {
      this.#ops.pop();
      this.#positions.pop();
    }
  }
}
