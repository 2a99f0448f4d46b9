/**
 * A query being fetched piece by piece: a protocol's portal or an SQL cursor.
 *
 * The statement runs as far as rows are asked for; rows that one of its steps made beyond that wait in a buffer.
 * Before its transaction changes anything the rest is read ahead: a query answers what was there when it was opened.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { ResultColumn } from "../sql/plan/plan.ts";
import type { SqlValue } from "../types/value.ts";
import { type MaybePromise, type ResultSink, type StatementOutcome, whenDone } from "./outcome.ts";
import { RowBuffer, writeRow } from "./row_buffer.ts";

/** Rows that are moved over before others get their turn. */
const ROWS_IN_A_TURN = 2048;
/** Steps without a row before others get their turn. */
const STEPS_IN_A_TURN = 2;
/** Errors that end whatever runs: lack of resources, and intervention. */
const CONCERNS_SESSION = /^5[37]/;

/** What a portal reads from. */
export interface PortalSource {
  readonly columns: readonly ResultColumn[];
  /** Writes all rows at once. */
  gather(sink: ResultSink): Promise<void>;
  /** Steps into the sink; true at the end. null: all rows have to be gathered, for something must be fetched first. */
  step(sink: ResultSink): boolean | null;
  /** Resolves when a further step may have more. */
  pause(): Promise<void>;
  /** Runs a fetch as a statement of the session, with its time limit and open to cancellation. */
  asStatement<T>(run: () => MaybePromise<T>): MaybePromise<T>;
  outcome(rowCount: number): StatementOutcome;
  close(): void;
}

/** See the file's head. */
export class Portal {
  readonly columns: readonly ResultColumn[];
  readonly #source: PortalSource;
  readonly #buffer = new RowBuffer();
  #next = 0;
  #ended = false;
  /** No step is possible. */
  #mustGather = false;
  /** What ended the reading ahead; raised after the rows before it. */
  #failure: DatabaseError | null = null;
  #closed = false;
  /** The position is behind the last row. */
  #atEnd = false;
  /** Rows that were fetched and kept, for going back; null when that is not possible. */
  #kept: SqlValue[][] | null;
  readonly #keepAtMost: number;
  /** Rows before the cursor's position; position 0 is before the first row. */
  #position = 0;

  /** `keepAtMost`: it can go back as long as no more rows than that have been fetched. */
  constructor(source: PortalSource, options: { readonly keepAtMost: number }) {
    this.#source = source;
    this.columns = source.columns;
    this.#keepAtMost = options.keepAtMost;
    this.#kept = options.keepAtMost > 0 ? [] : null;
    this.#buffer.begin(source.columns);
  }

  /** What a statement answers that has moved over so many rows. */
  outcome(rowCount: number): StatementOutcome {
    return this.#source.outcome(rowCount);
  }

  /** Writes at most `maximum` further rows (0: all). `suspended`: the limit was reached. */
  fetch(maximum: number, sink: ResultSink): MaybePromise<{ suspended: boolean; outcome: StatementOutcome }> {
    return this.#source.asStatement(() => this.#fetch(maximum, sink));
  }

  #fetch(maximum: number, sink: ResultSink): MaybePromise<{ suspended: boolean; outcome: StatementOutcome }> {
    const limit = maximum === 0 ? Infinity : maximum;
    return whenDone(this.forwardInto(limit, sink), (count) => {
      return { suspended: count === limit, outcome: this.#source.outcome(count) };
    });
  }

  /** Moves forward and writes the rows as a result, as they come. Answers their number. */
  forwardInto(limit: number, sink: ResultSink): MaybePromise<number> {
    sink.begin(this.columns, false);
    let count = 0;
    /** true: all rows have been written; false: the receiver or others must have their turn first. */
    const pump = (): boolean => {
      for (let rows = 0; count < limit; rows++) {
        if (sink.full || rows === ROWS_IN_A_TURN) return false;
        const row = this.#forwardNow();
        if (row === null) return true;
        if (row === undefined) return false;
        writeRow(sink, this.columns, row);
        count++;
      }
      return true;
    };
    return pump() ? count : this.#pumpOn(pump, sink).then(() => count);
  }

  /** Moves a scrollable or forward cursor and answers the rows passed over, in the order of the movement. */
  async move(
    direction: "forward" | "backward" | "absolute" | "relative",
    count: number,
  ): Promise<SqlValue[][]> {
    const rows: SqlValue[][] = [];
    switch (direction) {
      case "forward":
        await this.#forward(count, (row) => rows.push(row));
        return rows;
      case "backward":
        for (let i = 0; i < count; i++) {
          const row = this.#backward();
          if (row === null) break;
          rows.push(row);
        }
        return rows;
      case "absolute": {
        if (count < 0) {
          await this.#forward(Infinity, () => {});
          return await this.move("backward", -count).then((passed) => passed.slice(-1));
        }
        if (count > this.#position) {
          return (await this.move("forward", count - this.#position)).slice(-1).filter(() =>
            this.#position === count && !this.#atEnd
          );
        }
        if (count === this.#position) return this.#rowHere();
        this.#requireScroll();
        this.#position = count;
        this.#atEnd = false;
        return this.#rowHere();
      }
      case "relative":
        if (count === 0) return this.#rowHere();
        return count > 0
          ? (await this.move("forward", count)).slice(count - 1)
          : (await this.move("backward", -count)).slice(-count - 1);
    }
  }

  /** Reads what is left, because what it reads is about to change. */
  async readAhead(): Promise<void> {
    if (this.#closed || this.#ended) return;
    this.#buffer.rows.splice(0, this.#next);
    this.#next = 0;
    for (let steps = 1; !this.#ended; steps++) {
      try {
        this.#step();
      } catch (error) {
        this.#noteFailure(error);
      }
      if (!this.#ended && (this.#mustGather || steps % STEPS_IN_A_TURN === 0)) await this.#pause();
    }
  }

  #step(): void {
    const ended = this.#source.step(this.#buffer);
    this.#ended = ended === true;
    this.#mustGather = ended === null;
  }

  /** Lets others have their turn. */
  #pause(): Promise<void> {
    return this.#mustGather ? this.#gather() : this.#source.pause();
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof DatabaseError) || CONCERNS_SESSION.test(error.code)) throw error;
    this.#failure = error;
    this.#ended = true;
  }

  async #gather(): Promise<void> {
    this.#ended = true;
    this.#mustGather = false;
    try {
      await this.#source.gather(this.#buffer);
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#source.close();
  }

  #rowHere(): SqlValue[][] {
    const row = this.#kept?.[this.#position - 1];
    return row === undefined || this.#atEnd ? [] : [row];
  }

  /** Moves over at most so many rows, to the end if there are less. */
  async #forward(limit: number, visit: (row: SqlValue[]) => void): Promise<void> {
    for (let count = 0, inTurn = 0; count < limit;) {
      const row = this.#forwardNow();
      if (row === null) return;
      if (row !== undefined) {
        visit(row);
        count++;
        if (++inTurn < ROWS_IN_A_TURN) continue;
      }
      inTurn = 0;
      await this.#pause();
    }
  }

  /** Moves one row on. Null: behind the last row now; undefined: another piece must run first in a later turn. */
  #forwardNow(): SqlValue[] | null | undefined {
    const kept = this.#kept?.[this.#position];
    if (kept !== undefined) {
      this.#position++;
      return kept;
    }
    const row = this.#take();
    if (row === undefined) return undefined;
    if (row === null) {
      if (!this.#atEnd) this.#position++;
      this.#atEnd = true;
      return null;
    }
    this.#position++;
    if (this.#kept !== null && this.#kept.push(row) > this.#keepAtMost) this.#kept = null;
    return row;
  }

  #backward(): SqlValue[] | null {
    this.#requireScroll();
    if (this.#position <= 1) {
      this.#position = 0;
      return null;
    }
    this.#atEnd = false;
    this.#position--;
    return this.#kept?.[this.#position - 1] ?? null;
  }

  #requireScroll(): void {
    if (this.#kept === null) {
      throw new DatabaseError(SQLSTATE.objectNotInPrerequisiteState, "cursor can only scan forward", {
        hint: "Declare it with SCROLL option to enable backward scan.",
      });
    }
  }

  /** The next row; null at the end; undefined when another step must run first in a later turn. */
  #take(): SqlValue[] | null | undefined {
    for (let steps = 0;; steps++) {
      const row = this.#buffer.rows[this.#next];
      if (row !== undefined) {
        this.#next++;
        return row;
      }
      if (this.#ended) {
        if (this.#failure !== null) throw this.#failure;
        return null;
      }
      if (steps === STEPS_IN_A_TURN || this.#mustGather) return undefined;
      this.#buffer.rows = [];
      this.#next = 0;
      this.#step();
    }
  }

  async #pumpOn(pump: () => boolean, sink: ResultSink): Promise<void> {
    do {
      if (sink.full) await sink.drained();
      else await this.#pause();
    } while (!pump());
  }
}
