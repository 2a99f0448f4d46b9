/**
 * Window functions over sorted rows.
 *
 * The rows are in the order of their partitions and, inside, of ORDER BY. Results are computed for one partition
 * after the other. Aggregates over frames that begin with the partition are folded as the frame grows; others are
 * folded anew for each different frame. Offsets must not be negative or NULL (22013).
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { WindowCall } from "../../sql/plan/plan.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "./execution_state.ts";
import type { RangeLimit } from "./range_limit.ts";
import { GeneratorWork } from "./work.ts";

/** An aggregate that can be folded, asked and begun again. */
export interface AggregateMachine {
  reset(): void;
  step(...args: SqlValue[]): void;
  finish(): SqlValue;
}

/** One call with the values it reads, by row number. */
export interface WindowWork {
  readonly name: string;
  readonly args: readonly ((row: number) => SqlValue)[];
  readonly includes: ((row: number) => boolean) | null;
  readonly machine: AggregateMachine | null;
  /** The result so far must be folded anew for each row: it is not a mere value. */
  readonly refold: boolean;
  readonly frame: WindowCall["frame"];
  readonly startOffset: SqlValue;
  readonly endOffset: SqlValue;
}

/** What all calls of a window share. */
export interface WindowInput {
  readonly order: Int32Array;
  readonly samePartition: (left: number, right: number) => number;
  readonly samePeers: (left: number, right: number) => number;
  /** The only key of ORDER BY, for RANGE with offsets. */
  readonly orderKey: ((row: number) => SqlValue) | null;
  readonly descending: boolean;
  readonly limit: RangeLimit | null;
  readonly compareKeys: ((left: SqlValue, right: SqlValue) => number) | null;
}

/** Results of each call, by position in the order; they are work to be done. */
export function windowResults(
  state: ExecutionState,
  input: WindowInput,
  calls: readonly WindowWork[],
): GeneratorWork<SqlValue[][]> {
  return new GeneratorWork(computeWindow(state, input, calls));
}

function* computeWindow(
  state: ExecutionState,
  input: WindowInput,
  calls: readonly WindowWork[],
): Generator<void, SqlValue[][], void> {
  const count = input.order.length;
  state.charge(count * calls.length * 16);
  const results = calls.map(() => new Array<SqlValue>(count).fill(null));
  const pace = new Pace(state);
  for (let begin = 0; begin < count;) {
    let end = begin + 1;
    while (end < count && input.samePartition(at(input, begin), at(input, end)) === 0) {
      end++;
      if (pace.isDue()) yield;
    }
    const partition = new Partition(state, input, { begin, end }, pace);
    yield* partition.findPeers();
    for (const [index, call] of calls.entries()) {
      yield* partition.compute(call, results[index] as SqlValue[]);
    }
    begin = end;
  }
  return results;
}

/** Says when a piece is long enough. */
class Pace {
  readonly #state: ExecutionState;
  #left: number;

  constructor(state: ExecutionState) {
    this.#state = state;
    this.#left = state.batchRows;
  }

  /** Counts a row. true: it is time to leave. */
  isDue(): boolean {
    if (--this.#left > 0) return false;
    this.#left = this.#state.batchRows;
    return true;
  }
}

function at(input: WindowInput, position: number): number {
  return input.order[position] as number;
}

/** Positions begin … end of one partition. */
class Partition {
  readonly #state: ExecutionState;
  readonly #input: WindowInput;
  readonly #pace: Pace;
  readonly #begin: number;
  readonly #end: number;
  /** For each position of the partition the number of its peer group, and where groups begin. */
  readonly #groupOf: Int32Array;
  readonly #groupStarts: number[] = [];
  /** The positions whose order key is not NULL; found when they are first needed. */
  #valued: readonly [number, number] | null = null;
  /** Where RANGE frames of the call at hand have begun and ended last. */
  #reached: { start: number; end: number };

  constructor(
    state: ExecutionState,
    input: WindowInput,
    place: { readonly begin: number; readonly end: number },
    pace: Pace,
  ) {
    this.#state = state;
    this.#input = input;
    this.#pace = pace;
    this.#begin = place.begin;
    this.#end = place.end;
    this.#reached = { start: place.begin, end: place.begin };
    this.#groupOf = new Int32Array(place.end - place.begin);
  }

  /** Finds the peer groups, which everything else asks for. */
  *findPeers(): Generator<void, void, void> {
    const input = this.#input;
    const begin = this.#begin;
    for (let position = begin; position < this.#end; position++) {
      if (position === begin || input.samePeers(at(input, position - 1), at(input, position)) !== 0) {
        this.#groupStarts.push(position);
      }
      this.#groupOf[position - begin] = this.#groupStarts.length - 1;
      if (this.#pace.isDue()) yield;
    }
  }

  #group(position: number): number {
    return this.#groupOf[position - this.#begin] as number;
  }

  #groupStart(group: number): number {
    return group < 0 ? this.#begin : this.#groupStarts[group] ?? this.#end;
  }

  *compute(call: WindowWork, results: SqlValue[]): Generator<void, void, void> {
    this.#reached = { start: this.#begin, end: this.#begin };
    if (call.machine !== null) return yield* this.#aggregate(call, call.machine, results);
    if (call.name === "ntile") return this.#ntile(call, results);
    const isFrameValue = call.name === "first_value" || call.name === "last_value" ||
      call.name === "nth_value";
    for (let position = this.#begin; position < this.#end; position++) {
      results[position] = isFrameValue ? this.#frameValue(call, position) : this.#ranking(call, position);
      if (this.#pace.isDue()) yield;
    }
  }

  #ranking(call: WindowWork, position: number): SqlValue {
    const rows = this.#end - this.#begin;
    const group = this.#group(position);
    const rank = this.#groupStart(group) - this.#begin + 1;
    switch (call.name) {
      case "row_number":
        return position - this.#begin + 1;
      case "rank":
        return rank;
      case "dense_rank":
        return group + 1;
      case "percent_rank":
        return rows === 1 ? 0 : (rank - 1) / (rows - 1);
      case "cume_dist":
        return (this.#groupStart(group + 1) - this.#begin) / rows;
      case "lag":
      case "lead":
        return this.#neighbor(call, position);
      default:
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          `window function ${call.name} is not supported`,
        );
    }
  }

  #neighbor(call: WindowWork, position: number): SqlValue {
    const row = at(this.#input, position);
    const [value, offset, otherwise] = call.args;
    const distance = offset === undefined ? 1 : offset(row);
    if (distance === null) return null;
    const target = position + (call.name === "lead" ? Number(distance) : -Number(distance));
    if (target >= this.#begin && target < this.#end) return value?.(at(this.#input, target)) ?? null;
    return otherwise?.(row) ?? null;
  }

  #ntile(call: WindowWork, results: SqlValue[]): void {
    const buckets = call.args[0]?.(at(this.#input, this.#begin)) ?? null;
    if (buckets === null) return;
    if (Number(buckets) <= 0) {
      throw new DatabaseError(
        SQLSTATE.invalidArgumentForNtile,
        "argument of ntile must be greater than zero",
      );
    }
    const rows = this.#end - this.#begin;
    const size = Math.floor(rows / Number(buckets));
    const larger = rows % Number(buckets);
    for (let row = 0; row < rows; row++) {
      const inLarger = row < larger * (size + 1);
      results[this.#begin + row] = inLarger
        ? Math.floor(row / (size + 1)) + 1
        : larger + Math.floor((row - larger * (size + 1)) / size) + 1;
    }
  }

  #frameValue(call: WindowWork, position: number): SqlValue {
    const [value, nth] = call.args;
    const wanted = call.name === "nth_value" ? nth?.(at(this.#input, position)) ?? null : 1;
    if (wanted === null) return null;
    if (Number(wanted) < 1) {
      throw new DatabaseError(
        SQLSTATE.invalidArgumentForNthValue,
        "argument of nth_value must be greater than zero",
      );
    }
    const found = this.#inFrame(call, position, Number(wanted));
    return found < 0 ? null : value?.(at(this.#input, found)) ?? null;
  }

  /** The position of a frame's n-th row that is not excluded, from its end for last_value; -1: there is none. */
  #inFrame(call: WindowWork, position: number, wanted: number): number {
    const [start, end] = this.#frame(call, position);
    const backward = call.name === "last_value";
    if (call.frame.exclude === "no others") {
      const found = backward ? end - wanted : start + wanted - 1;
      return found >= start && found < end ? found : -1;
    }
    let left = wanted;
    for (let passed = 0; passed < end - start; passed++) {
      const other = backward ? end - 1 - passed : start + passed;
      if (!this.#isExcluded(call, position, other) && --left === 0) return other;
    }
    return -1;
  }

  #isExcluded(call: WindowWork, position: number, other: number): boolean {
    switch (call.frame.exclude) {
      case "no others":
        return false;
      case "current row":
        return other === position;
      case "group":
        return this.#group(other) === this.#group(position);
      case "ties":
        return other !== position && this.#group(other) === this.#group(position);
    }
  }

  *#aggregate(
    call: WindowWork,
    machine: AggregateMachine,
    results: SqlValue[],
  ): Generator<void, void, void> {
    const excludes = call.frame.exclude !== "no others";
    let from = -1;
    let upTo = -1;
    let result: SqlValue = null;
    for (let position = this.#begin; position < this.#end; position++) {
      if (this.#pace.isDue()) yield;
      const [start, end] = this.#frame(call, position);
      if (!excludes && start === from && end === upTo) {
        results[position] = result;
        continue;
      }
      const grows = !excludes && !call.refold && start === from && end > upTo;
      if (!grows) machine.reset();
      for (let other = grows ? upTo : start; other < end; other++) {
        if (this.#pace.isDue()) yield;
        if (!excludes || !this.#isExcluded(call, position, other)) {
          this.#step(call, machine, at(this.#input, other));
        }
      }
      result = machine.finish();
      results[position] = result;
      from = start;
      upTo = end;
    }
  }

  #step(call: WindowWork, machine: AggregateMachine, row: number): void {
    if (call.includes !== null && !call.includes(row)) return;
    machine.step(...call.args.map((arg) => arg(row)));
  }

  /** First position and the one after the last; never outside of the partition, start ≤ end. */
  #frame(call: WindowWork, position: number): [number, number] {
    const start = this.#bound(call, position, call.frame.start.kind, call.startOffset, false);
    const end = this.#bound(call, position, call.frame.end.kind, call.endOffset, true);
    const from = Math.max(this.#begin, Math.min(start, this.#end));
    return [from, Math.max(from, Math.min(end, this.#end))];
  }

  #bound(
    call: WindowWork,
    position: number,
    kind: WindowCall["frame"]["start"]["kind"],
    offset: SqlValue,
    isEnd: boolean,
  ): number {
    const { mode } = call.frame;
    if (kind === "unbounded_preceding") return this.#begin;
    if (kind === "unbounded_following") return this.#end;
    const group = this.#group(position);
    if (kind === "current_row") {
      if (mode === "rows") return isEnd ? position + 1 : position;
      return this.#groupStart(isEnd ? group + 1 : group);
    }
    checkOffset(offset, mode, isEnd);
    const sign = kind === "preceding" ? -1 : 1;
    if (mode === "rows") return position + sign * Number(offset) + (isEnd ? 1 : 0);
    if (mode === "groups") return this.#groupStart(group + sign * Number(offset) + (isEnd ? 1 : 0));
    return this.#rangeBound(position, offset, kind === "preceding", isEnd);
  }

  /** RANGE with an offset: by the value of the only order key. NULLs are peers of NULLs only. */
  #rangeBound(position: number, offset: SqlValue, preceding: boolean, isEnd: boolean): number {
    const { orderKey, descending, limit: limitOf, compareKeys } = this.#input;
    const group = this.#group(position);
    if (orderKey === null || limitOf === null || compareKeys === null) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "RANGE with offset PRECEDING/FOLLOWING is not supported for this column type",
      );
    }
    const own = orderKey(at(this.#input, position));
    if (own === null) return this.#groupStart(isEnd ? group + 1 : group);
    const side = { backward: preceding !== descending, isUpper: isEnd !== descending };
    const limit = limitOf(own, offset, side, this.#state.evaluation);
    // The keys that are not NULL are together and in order.
    const [first, last] = this.#valuedPositions(orderKey);
    let low = first;
    let high = last;
    while (low < high) {
      const middle = (low + high) >> 1;
      const value = orderKey(at(this.#input, middle));
      const comparison = value === null ? 0 : compareKeys(value, limit);
      const order = descending ? -comparison : comparison;
      if (isEnd ? order > 0 : order >= 0) high = middle;
      else low = middle + 1;
    }
    // Months of different lengths may move a limit backwards; as in PostgreSQL a frame's ends never do.
    const end = isEnd ? "end" : "start";
    return this.#reached[end] = Math.max(low, this.#reached[end]);
  }

  /** The positions whose order key is not NULL. NULLs, which are one peer group, are at either end. */
  #valuedPositions(orderKey: (row: number) => SqlValue): readonly [number, number] {
    if (this.#valued !== null) return this.#valued;
    let begin = this.#begin;
    let end = this.#end;
    if (orderKey(at(this.#input, begin)) === null) begin = this.#groupStart(1);
    if (begin < end && orderKey(at(this.#input, end - 1)) === null) {
      end = this.#groupStart(this.#group(end - 1));
    }
    return this.#valued = [begin, end];
  }
}

/** NULL is refused in every mode; the sign of RANGE's offset is the key's to judge. */
function checkOffset(offset: SqlValue, mode: WindowCall["frame"]["mode"], isEnd: boolean): void {
  const which = isEnd ? "ending" : "starting";
  if (offset === null) {
    throw new DatabaseError(SQLSTATE.nullValueNotAllowed, `frame ${which} offset must not be null`);
  }
  if (mode !== "range" && Number(offset) < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidPrecedingOrFollowingSize,
      `frame ${which} offset must not be negative`,
    );
  }
}
