/** Operators that run over one part of their divided rows after the other; see `spilled.ts`. */
import { assertDefined } from "../../base/assert.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { Program, resetSlot } from "../codegen/region.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { groupParts, joinParts, MAX_LEVELS, type Part, ROUND_SHARE } from "../runtime/partitioned_rows.ts";
import type { WrittenRows } from "../runtime/spilled_rows.ts";
import type { GeneratorWork, Work } from "../runtime/work.ts";
import type { Batches } from "./batches.ts";
import type { DividedCode } from "./divided_code.ts";

/** What else is known of rounds. */
interface RoundsOptions {
  /** See {@link piecesSlot}; null: all kept rows of a part are needed at once. */
  readonly pieces?: number | null;
  /** Slots of what is not needed by then. */
  readonly forget?: readonly number[];
  /** Runs instead of rounds where it can. */
  readonly batches?: Batches | null;
}

/** Runs what `produce` puts into a region over one part of the rows after the other. */
export function produceRounds(
  plan: Plan,
  sides: readonly DividedCode[],
  region: Program,
  produce: (region: Program) => void,
  { pieces = null, forget = [], batches = null }: RoundsOptions = {},
): void {
  const { compilation, flags } = region;
  const slot = assertDefined(sides[0], "a side").roundsSlot;
  const rounds = new Program(compilation, { reruns: true, flags });
  produce(rounds);
  batches?.runOver(rounds);
  region.add(new RoundsPipeline(plan, { sides, rounds, slot, flags, forget, pieces, batches }));
}

/** What an operator runs over next: a part of each input, by the same bits of the hash; null: all in memory. */
interface Round {
  readonly parts: readonly (Part | null)[];
  readonly level: number;
  readonly pieces?: JoinPieces;
}

/**
 * A join over a part of which not all kept rows fit into memory, and which cannot be divided: it runs over pieces of
 * them, and over all rows of the other side for each piece.
 */
export class JoinPieces {
  /** The piece at hand is the last one. */
  isLast = false;
  readonly #matched: Uint8Array;

  /** `rows`: those of the other side. */
  constructor(rows: number) {
    this.#matched = new Uint8Array(Math.ceil(rows / 8));
  }

  /** Bytes that it takes. */
  get bytes(): number {
    return this.#matched.length;
  }

  /** Whether a row of the other side has had a partner. */
  has(row: number): boolean {
    return ((this.#matched[row >>> 3] as number) & 1 << (row & 7)) !== 0;
  }

  /** Notes that it has one. */
  add(row: number): void {
    this.#matched[row >>> 3] = (this.#matched[row >>> 3] as number) | 1 << (row & 7);
  }
}

/** Runs an operator part by part. */
class RoundsPipeline implements Pipeline {
  readonly writesResult = false;
  readonly operators: readonly number[];
  readonly #sides: readonly DividedCode[];
  readonly #rounds: Program;
  readonly #slot: number;
  readonly #flags: readonly number[];
  readonly #forget: readonly number[];
  readonly #pieces: number | null;
  readonly #batches: Batches | null;

  constructor(
    plan: Plan,
    { sides, rounds, slot, flags, forget, pieces, batches }: {
      readonly sides: readonly DividedCode[];
      readonly rounds: Program;
      readonly slot: number;
      readonly flags: readonly number[];
      readonly forget: readonly number[];
      readonly pieces: number | null;
      readonly batches: Batches | null;
    },
  ) {
    this.operators = [rounds.compilation.operatorIndex(plan)];
    this.#sides = sides;
    this.#rounds = rounds;
    this.#slot = slot;
    this.#flags = flags;
    this.#forget = forget;
    this.#pieces = pieces;
    this.#batches = batches;
  }

  run(state: ExecutionState): boolean {
    const isStopped = this.#flags.some((flag) => state.x[flag] === true);
    if (this.#batches?.isOn(state) === true) {
      const last = isStopped ? null : this.#batches.last(state);
      if (last !== null) {
        state.call(last);
        return false;
      }
      this.#batches.end(state);
    }
    if (this.#sides.every((side) => side.isUnused(state))) return true;
    const known = state.x[this.#slot];
    let rounds: Rounds;
    if (known instanceof Rounds) rounds = known;
    else {
      for (const slot of this.#forget) resetSlot(state, slot);
      const done = this.#batches?.ownIn(state) ?? null;
      state.x[this.#slot] = rounds = new Rounds(state, this.#sides, { piecesSlot: this.#pieces, done });
    }
    const next = isStopped ? null : rounds.next();
    if (next === "later") return false;
    if (next === "round") {
      state.call(this.#rounds.pipelines);
      return false;
    }
    this.#release(state);
    state.x[this.#slot] = undefined;
    return true;
  }

  #release(state: ExecutionState): void {
    const pieces = this.#pieces === null ? undefined : state.x[this.#pieces];
    if (pieces instanceof JoinPieces) {
      state.charge(-pieces.bytes);
      state.x[this.#pieces as number] = undefined;
    }
    for (const side of this.#sides) {
      side.rowsIn(state).release();
      side.waitingIn(state).release();
      side.bufferIn(state).release();
    }
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** A round that is being divided. */
interface Dividing {
  readonly round: Round;
  /** The new parts of each side, as far as they are there. */
  readonly parts: (readonly Part[])[];
  work: GeneratorWork<readonly Part[]>;
}

/** The rounds of one execution. */
class Rounds {
  readonly #state: ExecutionState;
  readonly #sides: readonly DividedCode[];
  /** Those to come, the next one last. */
  readonly #left: Round[] = [];
  /** What each side still has in memory is to be written first. */
  #writing: readonly Work[];
  #dividing: Dividing | null = null;
  readonly #piecesSlot: number | null;
  /** By part, whether its rows have had their round; null: none has. */
  readonly #done: Uint8Array | null;

  constructor(
    state: ExecutionState,
    sides: readonly DividedCode[],
    { piecesSlot, done }: { readonly piecesSlot: number | null; readonly done: Uint8Array | null },
  ) {
    this.#piecesSlot = piecesSlot;
    this.#done = done;
    this.#state = state;
    this.#sides = sides;
    const kept = sides.filter(({ isKept }) => isKept);
    const isInFile = done !== null || sides.some((side) => side.rowsIn(state).parts.length > 0) ||
      this.#isTooMuch(sum(kept, (side) => side.bytesOfTaken(state)));
    // All rows of a part must be found by it: none may stay in memory when others are in a file.
    this.#writing = isInFile ? sides.map((side) => side.rowsIn(state).writeRest(side.waitingIn(state))) : [];
    if (!isInFile) this.#left.push({ parts: sides.map(() => null), level: MAX_LEVELS });
  }

  /** Whether a hash table of so many bytes would take much of the memory. */
  #isTooMuch(bytes: number): boolean {
    return bytes > this.#state.context.memoryLimitBytes * ROUND_SHARE;
  }

  /** Adds rounds over as many parts each as are not too much together. */
  #add(sides: readonly (readonly Part[])[], level: number): void {
    const count = Math.max(...sides.map((parts) => parts.length));
    const kept = this.#sides.flatMap((side, index) =>
      side.isKept ? [{ side, parts: sides[index] ?? [] }] : []
    );
    const bytes = Array.from(
      { length: count },
      (_, index) => sum(kept, ({ side, parts }) => side.bytesOfWritten(parts[index] ?? EMPTY)),
    );
    const most = this.#state.context.memoryLimitBytes * ROUND_SHARE;
    const groupOf = groupParts(bytes, most, new Uint8Array(count));
    for (let index = count - 1; index >= 0; index--) {
      const round = sides.map((parts) => joinParts(parts.filter((_, each) => groupOf[each] === index)));
      if (round.some(({ rows }) => rows > 0)) this.#left.push({ parts: round, level });
    }
  }

  /** Prepares what runs next. `later`: there is more to be done first; null: all have run. */
  next(): "round" | "later" | null {
    const [work, ...more] = this.#writing;
    if (work !== undefined) {
      if (work.advance()) this.#writing = more;
      if (this.#writing.length > 0) return "later";
      const isLeft = (_: Part, index: number) => this.#done === null || this.#done[index] === 0;
      this.#add(this.#sides.map((side) => side.rowsIn(this.#state).parts.filter(isLeft)), 1);
      return "later";
    }
    if (this.#dividing !== null) return this.#divide(this.#dividing);
    const round = this.#left.pop();
    if (round === undefined) return null;
    if (round.pieces === undefined && this.#isTooLarge(round)) {
      if (this.#isDivisible(round)) this.#dividing = { round, parts: [], work: this.#begin(round, 0) };
      else this.#split(round);
      return "later";
    }
    if (this.#piecesSlot !== null) this.#usePieces(this.#piecesSlot, round);
    for (const [index, side] of this.#sides.entries()) {
      side.read(this.#state, round.parts[index] ?? null);
    }
    return "round";
  }

  #keptParts({ parts }: Round): readonly { readonly side: DividedCode; readonly part: Part }[] {
    return this.#sides.flatMap((side, index) => {
      const part = parts[index] ?? null;
      return part !== null && side.isKept ? [{ side, part }] : [];
    });
  }

  /** Whether what is kept of it would take much of the memory, and there is a way out. */
  #isTooLarge(round: Round): boolean {
    const kept = this.#keptParts(round);
    return this.#isTooMuch(sum(kept, ({ side, part }) => side.bytesOfWritten(part))) &&
      (this.#isDivisible(round) ||
        this.#piecesSlot !== null && kept.some(({ part }) => part.written.length > 1));
  }

  #isDivisible(round: Round): boolean {
    return round.level < MAX_LEVELS &&
      this.#keptParts(round).some(({ part }) => part.hash === null && part.rows > 0);
  }

  /** Makes rounds over pieces of the kept part. */
  #split({ parts, level }: Round): void {
    const keptIndex = this.#sides.findIndex(({ isKept }) => isKept);
    const side = assertDefined(this.#sides[keptIndex], "a kept side");
    const kept = parts[keptIndex] ?? EMPTY;
    const pieces = new JoinPieces(sum(parts, (part) => part === kept ? 0 : part?.rows ?? 0));
    this.#state.charge(pieces.bytes);
    const rounds: Round[] = [];
    for (let from = 0; from < kept.written.length;) {
      let end = from, rows = 0, bytes = 0;
      do {
        const { block, rows: more } = kept.written[end++] as WrittenRows;
        rows += more;
        bytes += block.length;
      } while (
        end < kept.written.length && !this.#isTooMuch(side.bytesOfWritten({ rows, changes: rows, bytes }))
      );
      const piece: Part = { ...kept, written: kept.written.slice(from, end), rows, changes: rows, bytes };
      rounds.push({ parts: parts.map((part, index) => index === keptIndex ? piece : part), level, pieces });
      from = end;
    }
    this.#left.push(...rounds.toReversed());
  }

  /** Tells the join which piece comes. */
  #usePieces(slot: number, { pieces }: Round): void {
    const { x } = this.#state;
    const before = x[slot];
    if (before instanceof JoinPieces && before !== pieces) this.#state.charge(-before.bytes);
    x[slot] = pieces;
    if (pieces !== undefined) pieces.isLast = this.#left.at(-1)?.pieces !== pieces;
  }

  #begin({ parts, level }: Round, index: number): GeneratorWork<readonly Part[]> {
    const side = assertDefined(this.#sides[index], "a side");
    const buffer = side.bufferIn(this.#state);
    buffer.release();
    return side.rowsIn(this.#state).divide(buffer, parts[index] ?? EMPTY, level);
  }

  #divide(dividing: Dividing): "later" {
    if (!dividing.work.advance()) return "later";
    dividing.parts.push(dividing.work.result);
    if (dividing.parts.length < this.#sides.length) {
      dividing.work = this.#begin(dividing.round, dividing.parts.length);
    } else {
      this.#dividing = null;
      this.#add(dividing.parts, dividing.round.level + 1);
    }
    return "later";
  }
}

const EMPTY: Part = { written: [], rows: 0, changes: 0, bytes: 0, hash: null };
