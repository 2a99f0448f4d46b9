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
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { BufferCode, bufferColumn, bufferOf } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { type LoopSource, Program, type Region, resetSlot, type Sink } from "../codegen/region.ts";
import { combine, valueHash } from "../codegen/value_hash.ts";
import { nullableCode } from "../codegen/value_form.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { DECODED_BYTES, MAX_LEVELS, type Part, PartitionedRows } from "../runtime/partitioned_rows.ts";
import type { SpilledColumn } from "../runtime/row_codec.ts";
import { emitSpill, openSpill, sortedSource } from "./sort.ts";
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
  const inputs = inputsOf(plan);
  return inputs?.every(({ keys }) => areSteady(keys)) === true ? inputs : null;
}

function inputsOf(plan: Plan): readonly DividedInput[] | null {
  switch (plan.kind) {
    case "aggregate": {
      if (plan.groupingSets !== null) return null;
      const keys = plan.groups.filter(({ isDependent }) => isDependent !== true);
      return [{ plan: plan.input, keys: keys.map(({ expression }) => expression), isKept: true }];
    }
    case "hash_join": {
      // NOT IN asks whether there is a NULL in any part.
      if (plan.nullAware) return null;
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
  inputs: readonly DividedInput[],
  region: Program,
  sink: Sink,
  produce: (region: Region, sink: Sink) => void,
): void {
  const { compilation } = region;
  const sides = inputs.map((input) => ({ input, code: new DividedCode(compilation, input) }));
  for (const { code } of sides) region.reset(...code.slots);
  for (const { input, code } of sides) code.collect(input.plan, plan, region);
  const sources = sides.map(({ input, code }) => [input.plan, code.source] as const);
  produceRounds(plan, sides.map(({ code }) => code), region, (rounds) => {
    compilation.readDivided(new Map(sources), () => produce(rounds, sink));
  });
}

/**
 * Runs what `produce` puts into a region over one part of the rows after the other; `forget`: slots of what is not
 * needed by then.
 */
export function produceRounds(
  plan: Plan,
  sides: readonly DividedCode[],
  region: Program,
  produce: (region: Program) => void,
  forget: readonly number[] = [],
): void {
  const { compilation, flags } = region;
  const slot = assertDefined(sides[0], "a side").roundsSlot;
  const rounds = new Program(compilation, { reruns: true, flags });
  produce(rounds);
  region.add(new RoundsPipeline(plan, { sides, rounds, slot, flags, forget }));
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
  readonly #divided: DividedColumns;
  readonly #spillSlot: number;

  constructor(compilation: Compilation, divided: DividedInput | DividedColumns) {
    this.#divided = divided;
    this.isKept = divided.isKept;
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
    return sortedSource(this.buffer, this.readerSlot);
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
      code.work(`${rows}.writeAll(${buffer.get(code)})`, this.#rounds);
    });
  }

  readonly #rounds = (state: ExecutionState): number => {
    const rows = state.x[this.#spillSlot];
    return rows instanceof PartitionedRows && rows.isNear ? Infinity : 1;
  };

  /** Takes all rows of an operator's input. */
  collect(plan: Plan, owner: Plan, region: Region): void {
    const { buffer } = this;
    const key = {};
    const rounds = this.#rounds;
    const write = (code: Emitter, spill: string, atMost: typeof rounds | null) =>
      code.work(`${spill}.writeAll(${buffer.get(code)})`, atMost);
    const open = (code: Emitter) => openSpill(code, partitionedRows, this.#spillSlot, buffer);
    region.produce(plan, {
      open: (code) => {
        buffer.openAppend(code);
        code.note(key, open(code));
      },
      row: (code) => {
        const values = buffer.columns.flatMap(({ column }) => column === null ? [] : [code.column(column)]);
        const row = buffer.append(code, [...values, { code: this.#hash(code), isNull: null }]);
        emitSpill(
          code,
          buffer,
          row,
          code.recall<ReturnType<typeof open>>(key),
          (spill) => void write(code, spill, rounds),
        );
      },
      close: (code) => buffer.closeAppend(code),
    });
    // What is kept in memory of this side would be missed by what comes next.
    region.once(owner, (code) => {
      const { spill } = open(code);
      code.block(`if (${spill}.isPressed) `, "conditional", () => void write(code, spill, null));
    });
  }

  #hash(code: Emitter): string {
    const { keys, others } = this.#divided;
    return keys.reduce((hash, key, index) => {
      const value = code.define("key", nullableCode(emitValue(code, key)));
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

  constructor(
    plan: Plan,
    { sides, rounds, slot, flags, forget }: {
      readonly sides: readonly DividedCode[];
      readonly rounds: Program;
      readonly slot: number;
      readonly flags: readonly number[];
      readonly forget: readonly number[];
    },
  ) {
    this.operators = [rounds.compilation.operatorIndex(plan)];
    this.#sides = sides;
    this.#rounds = rounds;
    this.#slot = slot;
    this.#flags = flags;
    this.#forget = forget;
  }

  run(state: ExecutionState): boolean {
    if (this.#sides.every((side) => side.isUnused(state))) return true;
    const known = state.x[this.#slot];
    let rounds: Rounds;
    if (known instanceof Rounds) rounds = known;
    else {
      for (const slot of this.#forget) resetSlot(state, slot);
      state.x[this.#slot] = rounds = new Rounds(state, this.#sides);
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

  constructor(state: ExecutionState, sides: readonly DividedCode[]) {
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
    if (this.#isTooLarge(round)) {
      this.#dividing = { round, parts: [], work: this.#begin(round, 0) };
      return "later";
    }
    for (const [index, side] of this.#sides.entries()) {
      const part = round.parts[index] ?? null;
      this.#state.x[side.readerSlot] = side.rowsIn(this.#state).open(this.#bufferOf(side), part);
    }
    return "round";
  }

  /** Whether what is kept of it would take much of the memory, and can be divided. */
  #isTooLarge({ parts, level }: Round): boolean {
    if (level >= MAX_LEVELS) return false;
    let bytes = 0, rows = 0, hasSeveral = false;
    for (const [index, part] of parts.entries()) {
      if (part === null || this.#sides[index]?.isKept !== true) continue;
      bytes += part.bytes;
      rows += part.rows;
      hasSeveral ||= part.hash === null && part.rows > 0;
    }
    return hasSeveral && this.#isTooMuch(bytes * DECODED_BYTES, rows);
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
