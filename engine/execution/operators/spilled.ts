/**
 * Hash operators over more rows than fit into a statement's memory: the rows of their inputs are divided by the hash of
 * their keys, so that rows with equal keys are in one part, and the operator runs for one part after the other
 * (DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984).
 *
 * A statement is compiled so when it has failed for want of memory otherwise; see `spills` of `ExecutionContext`.
 */
import { assertDefined } from "../../base/assert.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { inputs } from "../../sql/plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { BufferCode, bufferColumn, bufferOf } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, RoundLimit } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { type LoopSource, Program, type Region, resetSlot, type Sink } from "../codegen/region.ts";
import { combine, valueHash } from "../codegen/value_hash.ts";
import { nullableCode } from "../codegen/value_form.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { DECODED_BYTES, MAX_LEVELS, type Part, PartitionedRows } from "../runtime/partitioned_rows.ts";
import type { SpilledColumn } from "../runtime/row_codec.ts";
import type { WrittenRows } from "../runtime/spilled_rows.ts";
import { emitSpill, openSpill, sortedSource, type SpillNames, spillRounds } from "./sort.ts";
import type { RowBuffer } from "../runtime/row_buffer.ts";
import { slotObject } from "../runtime/slot_object.ts";
import type { GeneratorWork, Work } from "../runtime/work.ts";

/** An input of an operator. */
export interface DividedInput {
  readonly plan: Plan;
  readonly keys: readonly Expression[];
  /** The types that the keys are compared with; absent: with themselves. */
  readonly others?: readonly SqlType[];
  /** The operator keeps rows of it in memory. */
  readonly isKept: boolean;
}

/** The inputs of an operator that can run part by part; null: it must have all rows at once. */
export function dividedInputs(plan: Plan): readonly DividedInput[] | null {
  const all = inputsOf(plan);
  return all?.every(({ keys }) => areSteady(keys)) === true ? all : null;
}

function inputsOf(plan: Plan): readonly DividedInput[] | null {
  switch (plan.kind) {
    case "aggregate": {
      // Each of several sets is divided otherwise: see `produceDividedSets`.
      if (plan.groupingSets !== null) return null;
      const keys = plan.groups.filter(({ isDependent }) => isDependent !== true);
      return [{ plan: plan.input, keys: keys.map(({ expression }) => expression), isKept: true }];
    }
    case "hash_join": {
      const { left, right, leftKeys, rightKeys, keepsLeft = false } = plan;
      const types = (keys: readonly Expression[]) => keys.map(({ type }) => type);
      const sides = [
        { plan: left, keys: leftKeys, others: types(rightKeys), isKept: keepsLeft },
        { plan: right, keys: rightKeys, others: types(leftKeys), isKept: !keepsLeft },
      ];
      // What is kept runs first, as ever.
      return keepsLeft ? sides : sides.toReversed();
    }
    case "set_operation":
      if (plan.operation === "union") return null;
      return plan.inputs.map((input, index) => ({
        plan: input.plan,
        keys: columnExpressions(input.columns, plan.types),
        isKept: index === 0,
      }));
    default:
      return null;
  }
}

/** What a row that an operator keeps takes, by and large. */
const KEPT_ROW_BYTES = 200;

/**
 * The bytes that an operator is likely to keep when rows have been given out already, behind which nothing begins anew:
 * one in a branch of UNION ALL behind the first.
 */
export function keptBehindRows(plan: Plan): number {
  const kept = (part: Plan): number => {
    const own = inputsOf(part)?.map((input) => input.isKept ? keptRowsOf(part, input) : 0) ?? [];
    return Math.max(0, ...own, ...inputs(part).map(kept));
  };
  const isUnion = plan.kind === "set_operation" && plan.operation === "union" && plan.all;
  const branches = isUnion ? inputs(plan).slice(1).map(kept) : [];
  return Math.max(0, ...branches.map((rows) => rows * KEPT_ROW_BYTES), ...inputs(plan).map(keptBehindRows));
}

/** Of an aggregation the groups. */
function keptRowsOf(plan: Plan, input: DividedInput): number {
  return plan.kind === "aggregate" ? rowsOf(plan) : rowsOf(input.plan);
}

function rowsOf(plan: Plan): number {
  return "rows" in plan ? plan.rows : 0;
}

/** Columns as expressions. */
export function columnExpressions(
  columns: readonly ColumnRef[],
  types: readonly SqlType[],
): readonly Expression[] {
  return columns.map((column, index) => ({
    kind: "column",
    type: types[index] ?? { kind: "unknown" },
    column,
    nullable: true,
  }));
}

/** Whether keys are the same whenever they are computed from a row. */
export function areSteady(keys: readonly Expression[]): boolean {
  return keys.length > 0 &&
    keys.every((key) => !expressionFacts(key).volatile && !expressionFacts(key).hasSubquery);
}

/** Puts an operator, which `produce` puts into a region, there part by part. */
export function produceDivided(
  plan: Plan,
  divided: readonly DividedInput[],
  region: Program,
  sink: Sink,
  produce: (region: Region, sink: Sink) => void,
): void {
  const { compilation } = region;
  const sides = divided.map((input) => ({ input, code: new DividedCode(compilation, input) }));
  for (const { code } of sides) region.reset(...code.slots);
  const nulls = plan.kind === "hash_join" && plan.nullAware ? nullsSlot(plan, compilation) : null;
  if (nulls !== null) region.reset(nulls);
  for (const { input, code } of sides) {
    region.produce(input.plan, code.sink(input.isKept ? nulls : null));
    code.finish(plan, region);
  }
  const sources = sides.map(({ input, code }) => [input.plan, code.source] as const);
  const produceHere = (rounds: Program) =>
    compilation.readDivided(new Map(sources), () => produce(rounds, sink));
  const pieces = plan.kind === "hash_join" ? piecesSlot(plan, compilation) : null;
  produceRounds(plan, sides.map(({ code }) => code), region, produceHere, { pieces });
}

/** Holds what {@link JoinPieces} a join runs over; undefined: it has all rows of a part at once. */
export function piecesSlot(plan: Plan, compilation: Compilation): number {
  return compilation.slotFor(compilation.derivedKey(plan, "pieces"));
}

/** Stands for the number of an input's row among those of its part. */
export function positionKey(plan: Plan, compilation: Compilation): object {
  return compilation.derivedKey(plan, "position");
}

/** Holds of a divided NOT IN whether there are values that are excluded (1), and a NULL among them (2). */
export function nullsSlot(plan: Plan, compilation: Compilation): number {
  return compilation.slotFor(compilation.derivedKey(plan, "nulls"));
}

/**
 * Puts an aggregation for several grouping sets into a region, each part by part; false: that cannot be. `produce`
 * puts one for some of the sets there.
 */
export function produceDividedSets(
  plan: Extract<Plan, { kind: "aggregate" }>,
  region: Program,
  { direct, produce }: {
    /** Takes the rows itself. */
    readonly direct: (plan: Extract<Plan, { kind: "aggregate" }>) => { rows: Sink; finish: () => void };
    readonly produce: (plan: Extract<Plan, { kind: "aggregate" }>, region: Program) => void;
  },
): boolean {
  const { compilation } = region;
  const { groups, groupingSets, input } = plan;
  if (groupingSets === null || !areSteady(groups.map(({ expression }) => expression))) return false;
  const sides = groupingSets.filter((set) => set.length > 0).map((set) => ({
    plan: { ...plan, groupingSets: [set] },
    code: new DividedCode(compilation, {
      plan: input,
      keys: groups.flatMap(({ expression }, index) => set.includes(index) ? [expression] : []),
      isKept: true,
    }),
  }));
  const whole = direct({ ...plan, groupingSets: groupingSets.filter((set) => set.length === 0) });
  for (const { code } of sides) region.reset(...code.slots);
  const sinks = [whole.rows, ...sides.map(({ code }) => code.sink(null))];
  region.produce(input, {
    open: (code) => sinks.forEach((sink) => sink.open(code)),
    row: (code) => sinks.forEach((sink) => sink.row(code)),
    close: (code) => sinks.forEach((sink) => sink.close(code)),
  });
  for (const { code } of sides) code.finish(plan, region);
  whole.finish();
  for (const side of sides) {
    produceRounds(plan, [side.code], region, (rounds) => {
      compilation.readDivided(new Map([[input, side.code.source]]), () => produce(side.plan, rounds));
    });
  }
  return true;
}

/** What else is known of rounds. */
interface RoundsOptions {
  /** See {@link piecesSlot}; null: all kept rows of a part are needed at once. */
  readonly pieces?: number | null;
  /** Slots of what is not needed by then. */
  readonly forget?: readonly number[];
}

/** Runs what `produce` puts into a region over one part of the rows after the other. */
export function produceRounds(
  plan: Plan,
  sides: readonly DividedCode[],
  region: Program,
  produce: (region: Program) => void,
  { pieces = null, forget = [] }: RoundsOptions = {},
): void {
  const { compilation, flags } = region;
  const slot = assertDefined(sides[0], "a side").roundsSlot;
  const rounds = new Program(compilation, { reruns: true, flags });
  produce(rounds);
  region.add(new RoundsPipeline(plan, { sides, rounds, slot, flags, forget, pieces }));
}

/** Rows and the keys by which they are divided. */
export interface DividedColumns extends Omit<DividedInput, "plan"> {
  /** What is kept of each row; absent: what is read above of the plan. */
  readonly columns?: readonly { readonly column: ColumnRef; readonly type: SqlType }[];
}

/** The code that divides rows. */
export class DividedCode {
  readonly buffer: BufferCode;
  /** Holds what is read of a part. */
  readonly readerSlot: number;
  /** Holds the rounds, if it is the first side. */
  readonly roundsSlot: number;
  /** See {@link DividedInput}. */
  readonly isKept: boolean;
  readonly #position: object | null;
  readonly #divided: DividedColumns;
  readonly #spillSlot: number;

  constructor(compilation: Compilation, divided: DividedInput | DividedColumns) {
    this.#divided = divided;
    this.isKept = divided.isKept;
    this.#position = "plan" in divided ? positionKey(divided.plan, compilation) : null;
    const columns = "plan" in divided ? compilation.neededAbove(divided.plan) : divided.columns ?? [];
    this.buffer = new BufferCode(compilation, [
      ...columns
        .map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
      bufferColumn(null, { kind: "i32" }, false),
    ]);
    this.readerSlot = compilation.newSlot();
    this.roundsSlot = compilation.newSlot();
    this.#spillSlot = compilation.newSlot();
  }

  get slots(): readonly number[] {
    return [this.buffer.slot, this.readerSlot, this.roundsSlot, this.#spillSlot];
  }

  /** A loop over the rows of a part. */
  get source(): LoopSource {
    const source = sortedSource(this.buffer, this.readerSlot);
    const position = this.#position;
    if (source.kind !== "counted" || position === null) return source;
    return {
      ...source,
      bind: (code, index) => {
        source.bind(code, index);
        code.note(position, index);
      },
    };
  }

  /** Whether no row has been taken. */
  isUnused(state: ExecutionState): boolean {
    return state.x[this.#spillSlot] === undefined;
  }

  /** Emits that the current row is taken, where few rows are as a rule. */
  divert(code: Emitter): void {
    const { buffer } = this;
    const values = buffer.columns.flatMap(({ column }) =>
      column === null ? [] : [nullableCode(code.column(column))]
    );
    const layout = code.constant("layout", buffer.columns);
    const slots = `${buffer.slot}, ${this.#spillSlot}`;
    const rows = code.define(
      "diverted",
      `${code.use("divert", divert)}(S, ${slots}, ${layout}, [${[...values, this.#hash(code)].join(", ")}])`,
    );
    code.block(`if (${rows} !== null) `, "conditional", () => {
      code.work(`${rows}.writeAll(${buffer.get(code)})`, spillRounds(this.#spillSlot));
    });
  }

  /** Takes all rows of an operator's input. `nulls`: see {@link nullsSlot}. */
  sink(nulls: number | null): Sink {
    const { buffer } = this;
    const key = {};
    const rounds = spillRounds(this.#spillSlot);
    return {
      open: (code) => {
        buffer.openAppend(code);
        code.note(key, this.#open(code));
      },
      row: (code) => {
        const values = buffer.columns.flatMap(({ column }) => column === null ? [] : [code.column(column)]);
        const row = buffer.append(code, [...values, { code: this.#hash(code, nulls), isNull: null }]);
        emitSpill(
          code,
          buffer,
          row,
          code.recall<SpillNames>(key),
          (spill) => void this.#write(code, spill, rounds),
        );
      },
      close: (code) => buffer.closeAppend(code),
    };
  }

  /** Behind all rows: what is kept in memory of this side would be missed by what comes next. */
  finish(owner: Plan, region: Region): void {
    region.once(owner, (code) => {
      const { spill } = this.#open(code);
      code.block(`if (${spill}.isPressed) `, "conditional", () => void this.#write(code, spill, null));
    });
  }

  #open(code: Emitter): SpillNames {
    return openSpill(code, partitionedRows, this.#spillSlot, this.buffer);
  }

  #write(code: Emitter, spill: string, atMost: RoundLimit | null): string {
    return code.work(`${spill}.writeAll(${this.buffer.get(code)})`, atMost);
  }

  #hash(code: Emitter, nulls: number | null = null): string {
    const { keys, others } = this.#divided;
    return keys.reduce((hash, key, index) => {
      const value = code.define("key", nullableCode(emitValue(code, key)));
      if (nulls !== null) {
        code.emit(`if (${value} === null) S.x[${nulls}] = 2; else S.x[${nulls}] ??= 1;`);
      }
      const hashed = code.constant("hash", valueHash(key.type, others?.[index] ?? key.type));
      return code.define(
        "h",
        `${code.use("combine", combine)}(${hash}, ${value} === null ? 0 : ${hashed}(${value}))`,
      );
    }, "0");
  }

  /** The rows that have been taken. */
  rowsIn(state: ExecutionState): PartitionedRows {
    return partitionedRows(state, this.#spillSlot, this.buffer.columns);
  }
}

/** Takes a row by its values. The answer is what has them all, if these must be written now. */
function divert(
  state: ExecutionState,
  bufferSlot: number,
  spillSlot: number,
  layout: readonly SpilledColumn[],
  values: readonly SqlValue[],
): PartitionedRows | null {
  const buffer = bufferOf(state, bufferSlot, layout);
  const rows = partitionedRows(state, spillSlot, layout);
  buffer.append(values);
  return buffer.count > rows.full && rows.isDue(buffer) ? rows : null;
}

function partitionedRows(
  state: ExecutionState,
  slot: number,
  layout: readonly SpilledColumn[],
): PartitionedRows {
  return slotObject(state, slot, PartitionedRows, layout);
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

  constructor(
    plan: Plan,
    { sides, rounds, slot, flags, forget, pieces }: {
      readonly sides: readonly DividedCode[];
      readonly rounds: Program;
      readonly slot: number;
      readonly flags: readonly number[];
      readonly forget: readonly number[];
      readonly pieces: number | null;
    },
  ) {
    this.operators = [rounds.compilation.operatorIndex(plan)];
    this.#sides = sides;
    this.#rounds = rounds;
    this.#slot = slot;
    this.#flags = flags;
    this.#forget = forget;
    this.#pieces = pieces;
  }

  run(state: ExecutionState): boolean {
    if (this.#sides.every((side) => side.isUnused(state))) return true;
    const known = state.x[this.#slot];
    let rounds: Rounds;
    if (known instanceof Rounds) rounds = known;
    else {
      for (const slot of this.#forget) resetSlot(state, slot);
      state.x[this.#slot] = rounds = new Rounds(state, this.#sides, this.#pieces);
    }
    const next = this.#flags.some((flag) => state.x[flag] === true) ? null : rounds.next();
    if (next === "later") return false;
    if (next === "round") {
      state.call(this.#rounds.pipelines);
      return false;
    }
    for (const side of this.#sides) {
      side.rowsIn(state).release();
      bufferOf(state, side.buffer.slot, side.buffer.columns).release();
    }
    state.x[this.#slot] = undefined;
    return true;
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

  constructor(state: ExecutionState, sides: readonly DividedCode[], piecesSlot: number | null) {
    this.#piecesSlot = piecesSlot;
    this.#state = state;
    this.#sides = sides;
    const kept = sides.filter(({ isKept }) => isKept).map((side) => this.#bufferOf(side));
    const isInFile = sides.some((side) => side.rowsIn(state).parts.length > 0) ||
      this.#isTooMuch(sum(kept, (buffer) => buffer.measure()), sum(kept, ({ count }) => count));
    // All rows of a part must be found by it: none may stay in memory when others are in a file.
    this.#writing = isInFile ? sides.map((side) => side.rowsIn(state).writeAll(this.#bufferOf(side))) : [];
    if (!isInFile) this.#left.push({ parts: sides.map(() => null), level: MAX_LEVELS });
  }

  /** Whether a hash table of so many rows would take much of the memory. */
  #isTooMuch(bytes: number, rows: number): boolean {
    return bytes + rows * ROW_BYTES > this.#state.context.memoryLimitBytes / 3;
  }

  #bufferOf({ buffer }: DividedCode): RowBuffer {
    return bufferOf(this.#state, buffer.slot, buffer.columns);
  }

  #add(parts: readonly (readonly Part[])[], level: number): void {
    const count = Math.max(...parts.map((each) => each.length));
    for (let index = count - 1; index >= 0; index--) {
      const round = parts.map((each) => each[index] ?? EMPTY);
      if (round.some(({ rows }) => rows > 0)) this.#left.push({ parts: round, level });
    }
  }

  /** Prepares what runs next. `later`: there is more to be done first; null: all have run. */
  next(): "round" | "later" | null {
    const [work, ...more] = this.#writing;
    if (work !== undefined) {
      if (work.advance()) this.#writing = more;
      if (this.#writing.length === 0) this.#add(this.#sides.map((side) => side.rowsIn(this.#state).parts), 1);
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
      const part = round.parts[index] ?? null;
      this.#state.x[side.readerSlot] = side.rowsIn(this.#state).open(this.#bufferOf(side), part);
    }
    return "round";
  }

  #keptParts({ parts }: Round): readonly Part[] {
    return parts.flatMap((part, index) => part !== null && this.#sides[index]?.isKept === true ? [part] : []);
  }

  /** Whether what is kept of it would take much of the memory, and there is a way out. */
  #isTooLarge(round: Round): boolean {
    const kept = this.#keptParts(round);
    const bytes = sum(kept, (part) => part.bytes);
    return this.#isTooMuch(bytes * DECODED_BYTES, sum(kept, ({ rows }) => rows)) &&
      (this.#isDivisible(round) ||
        this.#piecesSlot !== null && kept.some(({ written }) => written.length > 1));
  }

  #isDivisible(round: Round): boolean {
    return round.level < MAX_LEVELS &&
      this.#keptParts(round).some(({ hash, rows }) => hash === null && rows > 0);
  }

  /** Makes rounds over pieces of the kept part. */
  #split({ parts, level }: Round): void {
    const keptIndex = this.#sides.findIndex(({ isKept }) => isKept);
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
      } while (end < kept.written.length && !this.#isTooMuch(bytes * DECODED_BYTES, rows));
      const piece: Part = { ...kept, written: kept.written.slice(from, end), rows, bytes };
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
    const buffer = this.#bufferOf(side);
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

/** What a row takes in a hash table besides its values, at the most. */
const ROW_BYTES = 160;
const EMPTY: Part = { written: [], rows: 0, bytes: 0, hash: null };
