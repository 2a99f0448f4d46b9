/**
 * Stretches of a segment's rows, or of an index of it, that have all ended, so that walks need not pass them one by
 * one: a table whose first or last rows are replaced or deleted again and again would make every search for its least
 * value longer.
 *
 * One run of positions is kept for each block of positions, with the op number at which the last of its rows ended: who
 * reads at that op number or later sees none of them, and never will, for a row ends once. Walks note what they passed.
 */

/** A block has 2^12 positions, as a block of rows has. */
const SHIFT = 12;
/** Shorter runs are not worth a look at the map. */
const SHORTEST_RUN = 32;

interface Run {
  /** The first position, and the one behind the last; in one block. */
  readonly from: number;
  readonly to: number;
  /** Snapshots from this op number on see nothing of it. */
  readonly op: number;
}

/**
 * Stretches of a segment's rows, or of an index of it, that have all ended, so that walks need not pass them one by
 * one: a table whose first or last rows are replaced or deleted again and again would make every search for its least
 * value longer.
 */
export class TombstoneRanges {
  readonly #runs = new Map<number, Run>();

  /**
   * The first position from `position` on, in the direction of `step`, of which it is not known that the snapshot
   * does not see it.
   */
  pass(position: number, snapshot: number, step: 1 | -1): number {
    for (;;) {
      const run = this.#runs.get(position >>> SHIFT);
      if (run === undefined || snapshot < run.op || position < run.from || position >= run.to) {
        return position;
      }
      position = step > 0 ? run.to : run.from - 1;
      if (position < 0) return position;
    }
  }

  /** Notes that the rows of the positions from `from` to below `to`, all in one block, have ended by the op number. */
  note(from: number, to: number, op: number): void {
    const block = from >>> SHIFT;
    const known = this.#runs.get(block);
    if (known !== undefined && from <= known.to && known.from <= to) {
      this.#runs.set(block, {
        from: Math.min(from, known.from),
        to: Math.max(to, known.to),
        op: Math.max(op, known.op),
      });
    } else if (to - from >= SHORTEST_RUN && (known === undefined || to - from > known.to - known.from)) {
      this.#runs.set(block, { from, to, op });
    }
  }
}

/** The end op numbers of rows. */
export interface RowEnds {
  /** The op number at which the row ended; 0 when it has not. */
  endOf(row: number): number;
}

/** Walks over positions from `from` to below `to`, or backward, and stops at those whose rows the snapshot sees. */
export class LivePositions {
  readonly #dead: TombstoneRanges;
  readonly #ends: RowEnds;
  readonly #rowAt: ((position: number) => number) | null;
  readonly #snapshot: number;
  readonly #step: 1 | -1;
  readonly #stop: number;
  position: number;
  /** The row at the position. */
  row = -1;

  /** `rowAt`: the row of a position; null: the position is the row. */
  constructor(
    rows: {
      readonly dead: TombstoneRanges;
      readonly ends: RowEnds;
      readonly rowAt: ((position: number) => number) | null;
    },
    snapshot: number,
    span: { readonly from: number; readonly to: number; readonly backward: boolean },
  ) {
    this.#dead = rows.dead;
    this.#ends = rows.ends;
    this.#rowAt = rows.rowAt;
    this.#snapshot = snapshot;
    this.#step = span.backward ? -1 : 1;
    this.position = span.backward ? span.to : span.from - 1;
    this.#stop = span.backward ? span.from - 1 : span.to;
  }

  /** Goes to the next position; false at the end, where it stays. */
  advance(): boolean {
    const step = this.#step;
    const position = this.position + step;
    if (position === this.#stop) return false;
    const row = this.#rowAt === null ? position : this.#rowAt(position);
    const end = this.#ends.endOf(row);
    if (end !== 0 && end <= this.#snapshot) return this.#passDead();
    this.position = position;
    this.row = row;
    return true;
  }

  /** As {@link advance}, when the next row has ended. */
  #passDead(): boolean {
    const [dead, snapshot, step, stop] = [this.#dead, this.#snapshot, this.#step, this.#stop];
    let position = this.position + step;
    // The first of the ended rows passed one by one, and when the last of them ended.
    let first = position;
    let latest = 0;
    for (;;) {
      const known = dead.pass(position, snapshot, step);
      if (known !== position || (position >>> SHIFT) !== (first >>> SHIFT)) {
        this.#note(first, position, latest);
        position = known;
        first = known;
        latest = 0;
      }
      if (step > 0 ? position >= stop : position <= stop) {
        this.#note(first, stop, latest);
        this.position = stop - step;
        return false;
      }
      const row = this.#rowAt === null ? position : this.#rowAt(position);
      const end = this.#ends.endOf(row);
      if (end === 0 || snapshot < end) {
        this.#note(first, position, latest);
        this.position = position;
        this.row = row;
        return true;
      }
      if (end > latest) latest = end;
      position += step;
    }
  }

  /** Notes the positions from `first` to before `next`, in the direction of the walk. */
  #note(first: number, next: number, latest: number): void {
    if (latest === 0) return;
    if (this.#step > 0) this.#dead.note(first, next, latest);
    else this.#dead.note(next + 1, first + 1, latest);
  }
}
