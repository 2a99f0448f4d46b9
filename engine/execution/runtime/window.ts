/**
 * Window functions over sorted rows.
 *
 * The rows are in the order of their partitions and, inside, of ORDER BY; they are in memory, or in a file of which
 * some pages are ({@link RowSequence}). Results are computed for some rows at a time, so that only these are kept.
 * Aggregates over frames that begin with the partition are folded as the frame grows; others are folded anew for each
 * different frame. Offsets must not be negative or NULL (22013).
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { WindowCall } from "../../sql/plan/plan.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "./execution_state.ts";
import type { RangeLimit } from "./range_limit.ts";
import type { RowSequence } from "./row_pages.ts";
import { GeneratorWork, type Work } from "./work.ts";

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
  readonly rows: RowSequence;
  /** null: all rows are in one partition. */
  readonly samePartition: ((left: number, right: number) => number) | null;
  readonly samePeers: (left: number, right: number) => number;
  /** The only key of ORDER BY, for RANGE with offsets. */
  readonly orderKey: ((row: number) => SqlValue) | null;
  readonly descending: boolean;
  readonly limit: RangeLimit | null;
  readonly compareKeys: ((left: SqlValue, right: SqlValue) => number) | null;
}

/** Rows whose results are there at a time. */
const CHUNK_ROWS = 4096;

/** The results of all rows, some rows at a time. */
export class WindowRun {
  /** The rows of the buffer whose results are there. */
  rows: Int32Array = new Int32Array(0);
  /** The results of each call, by position in `rows`. */
  readonly results: readonly SqlValue[][];
  readonly #state: ExecutionState;
  readonly #input: WindowInput;
  readonly #calls: readonly WindowWork[];
  readonly #needsPeers: boolean;
  readonly #pace: Pace;
  #partition: Partition | null = null;
  /** The position behind those rows. */
  #end = 0;
  #work: Work | null = null;

  constructor(state: ExecutionState, input: WindowInput, calls: readonly WindowWork[]) {
    this.#state = state;
    this.#input = input;
    this.#calls = calls;
    this.#needsPeers = calls.some(needsPeers);
    this.#pace = new Pace(state);
    this.results = calls.map(() => []);
  }

  /** Works at the results of the next rows. true: they are there, or there are no more and `rows` is empty. */
  advance(): boolean {
    this.#work ??= this.next(CHUNK_ROWS);
    if (!this.#work.advance()) return false;
    this.#work = null;
    return true;
  }

  /** The results of the next rows, of so many at most, which is work to be done. */
  next(most: number): Work {
    const { rows } = this.#input;
    const begin = this.#end;
    const end = this.#end = begin === rows.count ? begin : Math.min(rows.endTogether(begin), begin + most);
    return new GeneratorWork(this.#compute(begin, end));
  }

  *#compute(begin: number, end: number): Generator<void, void, void> {
    const { rows } = this.#input;
    const peers = this.#needsPeers ? peersOf(end - begin) : NO_PEERS;
    for (let from = begin; from < end;) {
      const partition = yield* this.#partitionAt(from);
      const chunk = { begin, from, to: Math.min(end, partition.end) };
      if (this.#needsPeers) yield* partition.findPeers(chunk, peers);
      for (let index = 0; index < this.#calls.length; index++) {
        yield* partition.compute(index, { ...chunk, peers, results: this.results[index] as SqlValue[] });
      }
      from = chunk.to;
    }
    if (this.rows.length !== end - begin) this.rows = new Int32Array(end - begin);
    for (let position = begin; position < end; position++) this.rows[position - begin] = rows.at(position);
  }

  *#partitionAt(begin: number): Generator<void, Partition, void> {
    const { rows, samePartition } = this.#input;
    if (this.#partition !== null && begin < this.#partition.end) return this.#partition;
    let end = begin + 1;
    if (samePartition === null) end = rows.count;
    else {
      while (end < rows.count && samePartition(rows.at(begin), rows.at(end)) === 0) {
        end++;
        if (this.#pace.isDue()) yield;
      }
    }
    return this.#partition = new Partition(this.#state, this.#input, {
      calls: this.#calls,
      begin,
      end,
      pace: this.#pace,
    });
  }
}

/** Whether results of a call depend on which rows are peers. */
function needsPeers({ name, machine, frame }: WindowWork): boolean {
  if (machine === null && !FRAME_VALUES.has(name)) return PEER_RANKS.has(name);
  return frame.mode !== "rows" || frame.exclude === "group" || frame.exclude === "ties";
}

const FRAME_VALUES: ReadonlySet<string> = new Set(["first_value", "last_value", "nth_value"]);
const PEER_RANKS: ReadonlySet<string> = new Set(["rank", "dense_rank", "percent_rank", "cume_dist"]);

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

/** The group of peers of each row of a chunk: its number in the partition, where it begins, and where it ends. */
interface ChunkPeers {
  readonly groups: Float64Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

const NONE = new Float64Array(0);
const NO_PEERS: ChunkPeers = { groups: NONE, starts: NONE, ends: NONE };

function peersOf(rows: number): ChunkPeers {
  const made = () => new Float64Array(rows);
  return { groups: made(), starts: made(), ends: made() };
}

/** Rows of one partition that are looked at together: positions from … to of a chunk that begins at `begin`. */
interface Chunk {
  readonly begin: number;
  readonly from: number;
  readonly to: number;
}

/** What comes of a chunk for one call. */
interface ChunkResults extends Chunk {
  readonly peers: ChunkPeers;
  readonly results: SqlValue[];
}

/** Goes through the groups of peers of a partition, one after the other. */
class PeerCursor {
  group = 0;
  start: number;
  readonly #input: WindowInput;
  readonly #end: number;
  readonly #pace: Pace;

  constructor(
    input: WindowInput,
    { begin, end }: { readonly begin: number; readonly end: number },
    pace: Pace,
  ) {
    this.#input = input;
    this.start = begin;
    this.#end = end;
    this.#pace = pace;
  }

  /** Where the group ends. */
  *findEnd(): Generator<void, number, void> {
    const { rows, samePeers } = this.#input;
    let next = this.start + 1;
    while (next < this.#end && samePeers(rows.at(next - 1), rows.at(next)) === 0) {
      next++;
      if (this.#pace.isDue()) yield;
    }
    return next;
  }

  /** Goes on to a group that comes later. Answers where it begins: the end of the partition if there is none. */
  *moveTo(group: number): Generator<void, number, void> {
    while (this.group < group && this.start < this.#end) {
      this.start = yield* this.findEnd();
      this.group++;
    }
    return this.start;
  }
}

/** What a call knows of the rows of a partition before the one at hand. */
interface CallState {
  /** The frame that was folded last, and its result. */
  from: number;
  upTo: number;
  result: SqlValue;
  /** Where RANGE frames have begun and ended last. */
  readonly reached: { start: number; end: number };
  /** The groups at which GROUPS frames begin and end. */
  startGroup: PeerCursor | null;
  endGroup: PeerCursor | null;
}

/** Positions begin … end of one partition. */
class Partition {
  readonly end: number;
  readonly #state: ExecutionState;
  readonly #input: WindowInput;
  readonly #calls: readonly WindowWork[];
  readonly #states: readonly CallState[];
  readonly #pace: Pace;
  readonly #begin: number;
  /** The group of the row at hand, and where it ends. */
  readonly #peers: PeerCursor;
  #peersEnd: number;
  /** The positions whose order key is not NULL; found when they are first needed. */
  #valued: readonly [number, number] | null = null;

  constructor(
    state: ExecutionState,
    input: WindowInput,
    { calls, begin, end, pace }: {
      readonly calls: readonly WindowWork[];
      readonly begin: number;
      readonly end: number;
      readonly pace: Pace;
    },
  ) {
    this.#state = state;
    this.#input = input;
    this.#calls = calls;
    this.#pace = pace;
    this.#begin = begin;
    this.end = end;
    this.#peers = new PeerCursor(input, { begin, end }, pace);
    this.#peersEnd = begin;
    this.#states = calls.map(() => ({
      from: -1,
      upTo: -1,
      result: null,
      reached: { start: begin, end: begin },
      startGroup: null,
      endGroup: null,
    }));
  }

  /** Finds the peer groups of a chunk's rows. */
  *findPeers({ begin, from, to }: Chunk, { groups, starts, ends }: ChunkPeers): Generator<void, void, void> {
    const peers = this.#peers;
    for (let position = from; position < to; position++) {
      if (position >= this.#peersEnd) {
        if (position > this.#begin) yield* peers.moveTo(peers.group + 1);
        this.#peersEnd = yield* peers.findEnd();
      }
      groups[position - begin] = peers.group;
      starts[position - begin] = peers.start;
      ends[position - begin] = this.#peersEnd;
      if (this.#pace.isDue()) yield;
    }
  }

  /** The results of a call for a chunk's rows. */
  *compute(index: number, chunk: ChunkResults): Generator<void, void, void> {
    const call = this.#calls[index] as WindowWork;
    const state = this.#states[index] as CallState;
    if (call.machine !== null) return yield* this.#aggregate(call, call.machine, state, chunk);
    const { begin, from, to, results } = chunk;
    if (call.name === "ntile") return yield* this.#ntile(call, state, chunk);
    const isFrameValue = FRAME_VALUES.has(call.name);
    for (let position = from; position < to; position++) {
      if (!isFrameValue) results[position - begin] = this.#ranking(call, position, chunk);
      else {
        if (call.frame.mode === "groups") yield* this.#moveGroups(call, state, position, chunk);
        results[position - begin] = this.#frameValue(call, state, position, chunk);
      }
      if (this.#pace.isDue()) yield;
    }
  }

  #ranking(call: WindowWork, position: number, { begin, peers }: ChunkResults): SqlValue {
    const rows = this.end - this.#begin;
    const at = position - begin;
    const rank = (peers.starts[at] as number) - this.#begin + 1;
    switch (call.name) {
      case "row_number":
        return position - this.#begin + 1;
      case "rank":
        return rank;
      case "dense_rank":
        return (peers.groups[at] as number) + 1;
      case "percent_rank":
        return rows === 1 ? 0 : (rank - 1) / (rows - 1);
      case "cume_dist":
        return ((peers.ends[at] as number) - this.#begin) / rows;
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
    const { rows } = this.#input;
    const row = rows.at(position);
    const [value, offset, otherwise] = call.args;
    const distance = offset === undefined ? 1 : offset(row);
    if (distance === null) return null;
    const target = position + (call.name === "lead" ? Number(distance) : -Number(distance));
    if (target >= this.#begin && target < this.end) return value?.(rows.at(target)) ?? null;
    return otherwise?.(row) ?? null;
  }

  /** Counts from the first row whose argument is not NULL; rows before it are in no bucket. */
  *#ntile(
    call: WindowWork,
    state: CallState,
    { begin, from, to, results }: ChunkResults,
  ): Generator<void, void, void> {
    let position = from;
    for (; state.result === null && position < to; position++) {
      state.result = call.args[0]?.(this.#input.rows.at(position)) ?? null;
      if (state.result !== null) {
        state.from = position;
        break;
      }
      results[position - begin] = null;
      if (this.#pace.isDue()) yield;
    }
    if (state.result === null) return;
    const buckets = Number(state.result);
    if (buckets <= 0) {
      throw new DatabaseError(
        SQLSTATE.invalidArgumentForNtile,
        "argument of ntile must be greater than zero",
      );
    }
    const rows = this.end - this.#begin;
    const size = Math.floor(rows / buckets);
    const larger = rows % buckets;
    for (; position < to; position++) {
      const row = position - state.from;
      const inLarger = row < larger * (size + 1);
      results[position - begin] = inLarger
        ? Math.floor(row / (size + 1)) + 1
        : larger + Math.floor((row - larger * (size + 1)) / size) + 1;
    }
  }

  #frameValue(call: WindowWork, state: CallState, position: number, chunk: ChunkResults): SqlValue {
    const { rows } = this.#input;
    const [value, nth] = call.args;
    const wanted = call.name === "nth_value" ? nth?.(rows.at(position)) ?? null : 1;
    if (wanted === null) return null;
    if (Number(wanted) < 1) {
      throw new DatabaseError(
        SQLSTATE.invalidArgumentForNthValue,
        "argument of nth_value must be greater than zero",
      );
    }
    const found = this.#inFrame(call, this.#frame(call, state, position, chunk), Number(wanted), {
      position,
      chunk,
    });
    return found < 0 ? null : value?.(rows.at(found)) ?? null;
  }

  /** The position of a frame's n-th row that is not excluded, from its end for last_value; -1: there is none. */
  #inFrame(
    call: WindowWork,
    [start, end]: readonly [number, number],
    wanted: number,
    { position, chunk }: { readonly position: number; readonly chunk: ChunkResults },
  ): number {
    const backward = call.name === "last_value";
    if (call.frame.exclude === "no others") {
      const found = backward ? end - wanted : start + wanted - 1;
      return found >= start && found < end ? found : -1;
    }
    let left = wanted;
    for (let passed = 0; passed < end - start; passed++) {
      const other = backward ? end - 1 - passed : start + passed;
      if (!isExcluded(call, position, other, chunk) && --left === 0) return other;
    }
    return -1;
  }

  *#aggregate(
    call: WindowWork,
    machine: AggregateMachine,
    state: CallState,
    chunk: ChunkResults,
  ): Generator<void, void, void> {
    const { rows } = this.#input;
    const { begin, results } = chunk;
    const excludes = call.frame.exclude !== "no others";
    for (let position = chunk.from; position < chunk.to; position++) {
      if (this.#pace.isDue()) yield;
      if (call.frame.mode === "groups") yield* this.#moveGroups(call, state, position, chunk);
      const [start, end] = this.#frame(call, state, position, chunk);
      if (!excludes && start === state.from && end === state.upTo) {
        results[position - begin] = state.result;
        continue;
      }
      const grows = !excludes && !call.refold && start === state.from && end > state.upTo;
      if (!grows) machine.reset();
      for (let other = grows ? state.upTo : start; other < end; other++) {
        if (this.#pace.isDue()) yield;
        if (!excludes || !isExcluded(call, position, other, chunk)) {
          step(call, machine, rows.at(other));
        }
      }
      results[position - begin] = state.result = machine.finish();
      state.from = start;
      state.upTo = end;
    }
  }

  /** Goes on to the groups at which the GROUPS frame of a row begins and ends. */
  *#moveGroups(
    { frame, startOffset, endOffset }: WindowWork,
    state: CallState,
    position: number,
    { begin, peers }: ChunkResults,
  ): Generator<void, void, void> {
    const group = peers.groups[position - begin] as number;
    const cursor = () => new PeerCursor(this.#input, { begin: this.#begin, end: this.end }, this.#pace);
    if (hasOffset(frame.start.kind)) {
      checkOffset(startOffset, "groups", false);
      state.startGroup ??= cursor();
      yield* state.startGroup.moveTo(group + signOf(frame.start.kind) * Number(startOffset));
    }
    if (hasOffset(frame.end.kind)) {
      checkOffset(endOffset, "groups", true);
      state.endGroup ??= cursor();
      yield* state.endGroup.moveTo(group + signOf(frame.end.kind) * Number(endOffset) + 1);
    }
  }

  /** First position and the one after the last; never outside of the partition, start ≤ end. */
  #frame(call: WindowWork, state: CallState, position: number, chunk: ChunkResults): [number, number] {
    const start = this.#bound(call, state, position, chunk, false);
    const end = this.#bound(call, state, position, chunk, true);
    const from = Math.max(this.#begin, Math.min(start, this.end));
    return [from, Math.max(from, Math.min(end, this.end))];
  }

  #bound(
    call: WindowWork,
    state: CallState,
    position: number,
    { begin, peers }: ChunkResults,
    isEnd: boolean,
  ): number {
    const { mode } = call.frame;
    const { kind } = isEnd ? call.frame.end : call.frame.start;
    if (kind === "unbounded_preceding") return this.#begin;
    if (kind === "unbounded_following") return this.end;
    const ownPeers = () => (isEnd ? peers.ends : peers.starts)[position - begin] as number;
    if (kind === "current_row") {
      if (mode === "rows") return isEnd ? position + 1 : position;
      return ownPeers();
    }
    const offset = isEnd ? call.endOffset : call.startOffset;
    checkOffset(offset, mode, isEnd);
    if (mode === "rows") return position + signOf(kind) * Number(offset) + (isEnd ? 1 : 0);
    if (mode === "groups") {
      return (isEnd ? state.endGroup : state.startGroup)?.start ?? this.#begin;
    }
    const { orderKey } = this.#input;
    if (orderKey?.(this.#input.rows.at(position)) === null) return ownPeers();
    return this.#rangeBound(state, position, offset, kind === "preceding", isEnd);
  }

  /** RANGE with an offset: by the value of the only order key, which is not NULL. */
  #rangeBound(
    { reached }: CallState,
    position: number,
    offset: SqlValue,
    preceding: boolean,
    isEnd: boolean,
  ): number {
    const { rows, orderKey, descending, limit: limitOf, compareKeys } = this.#input;
    if (orderKey === null || limitOf === null || compareKeys === null) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "RANGE with offset PRECEDING/FOLLOWING is not supported for this column type",
      );
    }
    const own = orderKey(rows.at(position));
    const side = { backward: preceding !== descending, isUpper: isEnd !== descending };
    const limit = limitOf(own, offset, side, this.#state.evaluation);
    /** Whether the bound is behind a position. */
    const isBehind = (at: number): boolean => {
      const value = orderKey(rows.at(at));
      const comparison = value === null ? 0 : compareKeys(value, limit);
      const order = descending ? -comparison : comparison;
      return isEnd ? order <= 0 : order < 0;
    };
    const [first, last] = this.#valued ??= this.#valuedPositions(orderKey);
    // Months of different lengths may move a limit backwards; as in PostgreSQL a frame's ends never do.
    const end = isEnd ? "end" : "start";
    return reached[end] = firstPosition(Math.max(first, reached[end]), last, isBehind);
  }

  /** The positions whose order key is not NULL, which are together and in order: NULLs are at either end. */
  #valuedPositions(orderKey: (row: number) => SqlValue): readonly [number, number] {
    const { rows } = this.#input;
    const isNull = (position: number) => orderKey(rows.at(position)) === null;
    const begin = firstPosition(this.#begin, this.end, isNull);
    return [begin, firstPosition(begin, this.end, (position) => !isNull(position))];
  }
}

/** The first position from `low` on that nothing is behind: `isBehind` holds before it. Looks nearby first. */
function firstPosition(low: number, end: number, isBehind: (position: number) => boolean): number {
  let from = low;
  let high = low;
  for (let step = 1; high < end && isBehind(high); step *= 2) {
    from = high + 1;
    high = Math.min(end, high + step);
  }
  while (from < high) {
    const middle = Math.floor((from + high) / 2);
    if (isBehind(middle)) from = middle + 1;
    else high = middle;
  }
  return from;
}

function hasOffset(kind: WindowCall["frame"]["start"]["kind"]): boolean {
  return kind === "preceding" || kind === "following";
}

function signOf(kind: WindowCall["frame"]["start"]["kind"]): number {
  return kind === "preceding" ? -1 : 1;
}

function isExcluded(
  call: WindowWork,
  position: number,
  other: number,
  { begin, peers }: ChunkResults,
): boolean {
  const isPeer = () =>
    other >= (peers.starts[position - begin] as number) && other < (peers.ends[position - begin] as number);
  switch (call.frame.exclude) {
    case "no others":
      return false;
    case "current row":
      return other === position;
    case "group":
      return isPeer();
    case "ties":
      return other !== position && isPeer();
  }
}

function step(call: WindowWork, machine: AggregateMachine, row: number): void {
  if (call.includes !== null && !call.includes(row)) return;
  machine.step(...call.args.map((arg) => arg(row)));
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
