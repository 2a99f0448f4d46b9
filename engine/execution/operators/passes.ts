/**
 * Joins over integers of two tables whose kept rows do not fit into memory: the keys are cut into ranges whose rows do,
 * and the join runs as in memory for one range after the other, over scans of both tables that give the rows of the
 * range alone (block nested loops; G. Graefe, "Query Evaluation Techniques for Large Databases", 1993, 5.1). Nothing is
 * written, and of tables in the order of the key each pass reads no more than its part.
 *
 * How the keys of the kept rows are spread is counted first. Where passes over all rows would take longer than writing
 * them and reading them again, or a few keys have too many rows, the join is divided by hash instead.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { bufferOf } from "../codegen/buffer_code.ts";
import { emitValue } from "../codegen/expression.ts";
import { planFacts } from "../codegen/plan_analysis.ts";
import { Program, resetSlot, rowSink } from "../codegen/region.ts";
import { storageOf } from "../runtime/row_buffer.ts";
import { isWord } from "../codegen/value_hash.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { indexBytes } from "../runtime/hash_index.ts";
import { growingBits } from "../runtime/key_filter.ts";
import { KeyCounts, type KeyRange } from "../runtime/key_ranges.ts";
import { slotObject } from "../runtime/slot_object.ts";
import { endsOthers, knowsPartners } from "./divided_filters.ts";
import { type HashProbe, probeOf } from "./hash_probe.ts";
import { INTEGERS, type RangedScan, rangedScan, readRange } from "./runtime_filter.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

/** More passes are not made, whatever they cost by estimates. */
const MAX_PASSES = 16;
/** A row that is written and read again takes as long as so many that a scan comes by. */
const SCANNED_PER_WRITTEN = 24;

/** What passes a join runs in. */
interface Passes {
  readonly kept: RangedScan;
  readonly other: RangedScan;
}

/** How a join can run in passes; null: it cannot. */
function passesOf(plan: HashJoin, program: Program): Passes | null {
  const { left, right, leftKeys, rightKeys, keepsLeft = false, nullAware } = plan;
  const [kept, other] = keepsLeft ? [left, right] : [right, left];
  const isFixed = program.compilation.neededAbove(kept).every(({ type }) => storageOf(type) !== "ref");
  if (nullAware || !isFixed || planFacts(left).volatile || planFacts(right).volatile) return null;
  const pairs = leftKeys.map((key, index): readonly Expression[] => [key, rightKeys[index] ?? key]);
  for (const [index, pair] of pairs.entries()) {
    const others = pairs.filter((_, each) => each !== index).flat();
    if (!pair.every(({ type }) => INTEGERS.has(type.kind)) || !others.every(({ type }) => isWord(type))) {
      continue;
    }
    const [keptKeys, otherKeys] = keepsLeft ? [leftKeys, rightKeys] : [rightKeys, leftKeys];
    const ofKept = rangedScan(kept, keptKeys[index]), ofOther = rangedScan(other, otherKeys[index]);
    if (ofKept !== null && ofOther !== null) return { kept: ofKept, other: ofOther };
  }
  return null;
}

/**
 * Puts a join into a program that runs in passes, if it can, and otherwise as `divide` puts it there. `produce` puts
 * the join there as in memory.
 */
export function producePasses(
  plan: HashJoin,
  program: Program,
  { produce, divide }: {
    readonly produce: (program: Program) => void;
    readonly divide: (program: Program) => void;
  },
): void {
  const passes = passesOf(plan, program);
  if (passes === null) return divide(program);
  const { compilation, flags } = program;
  const slot = compilation.newSlot(), rangeSlot = compilation.newSlot();
  const [counted, joined, divided] = [true, true, program.reruns].map((reruns) =>
    new Program(compilation, { reruns, flags })
  ) as [Program, Program, Program];
  const { key } = passes.kept;
  compilation.uncounted(() =>
    counted.produce(plan.keepsLeft === true ? plan.left : plan.right, {
      ...rowSink((code) => {
        const counts = code.recall<string>(passes);
        const { code: value, isNull } = emitValue(code, key);
        if (isNull === null) code.emit(`${counts}.add(${value});`);
        else code.emit(`if (${isNull}) ${counts}.addNull(); else ${counts}.add(${value});`);
      }),
      open: (code) =>
        code.note(passes, code.define("counts", `${code.use("countsOf", countsOf)}(S, ${slot})`)),
    })
  );
  readRange(compilation, [passes.kept, passes.other], rangeSlot, () => produce(joined));
  divide(divided);
  program.reset(slot, rangeSlot);
  program.add(
    new PassesPipeline(plan, {
      passes,
      slot,
      rangeSlot,
      probe: probeOf(compilation, plan),
      programs: { counted, joined, divided },
    }),
  );
}

function countsOf(state: ExecutionState, slot: number): KeyCounts {
  return slotObject(state, slot, KeyCounts);
}

/** The passes that are still to come, the next one last; none: the join is divided. */
class Running {
  readonly left: KeyRange[];

  constructor(ranges: readonly KeyRange[]) {
    this.left = ranges.toReversed();
  }
}

/** Runs a join in passes. */
class PassesPipeline implements Pipeline {
  readonly writesResult = false;
  readonly operators: readonly number[];
  readonly #plan: HashJoin;
  readonly #parts: PassesParts;

  constructor(plan: HashJoin, parts: PassesParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.operators = [parts.programs.joined.compilation.operatorIndex(plan)];
  }

  run(state: ExecutionState): boolean {
    const { slot, rangeSlot, probe, programs } = this.#parts;
    const isStopped = programs.joined.flags.some((flag) => state.x[flag] === true);
    let known = state.x[slot];
    if (known === undefined && !isStopped) {
      countsOf(state, slot);
      state.call(programs.counted.pipelines);
      return false;
    }
    if (known instanceof KeyCounts) {
      const ranges = this.#ranges(state, known);
      known.release();
      state.x[slot] = known = new Running(ranges ?? []);
      if (ranges === null) {
        state.call(programs.divided.pipelines);
        return false;
      }
    }
    const range = known instanceof Running && !isStopped ? known.left.pop() : undefined;
    const buffer = bufferOf(state, probe.buffer.slot, probe.buffer.columns);
    const marks = state.x[probe.marksSlot];
    if (marks instanceof Uint8Array) state.charge(-marks.length);
    state.x[probe.marksSlot] = undefined;
    state.x[rangeSlot] = range;
    if (range !== undefined) {
      buffer.expect(range.rows);
      state.call(programs.joined.pipelines);
      return false;
    }
    buffer.release();
    for (const each of probe.slots) resetSlot(state, each);
    state.x[slot] = undefined;
    return true;
  }

  /** The ranges of the passes; null: it is better divided. */
  #ranges(state: ExecutionState, counts: KeyCounts): readonly KeyRange[] | null {
    const { probe } = this.#parts;
    const { rowBytes } = bufferOf(state, probe.buffer.slot, probe.buffer.columns);
    const bytesOf = (rows: number, span: number) =>
      // A mark besides.
      rows * (rowBytes + 1) + indexBytes(rows, span, probe.keys.length);
    const ranges = counts.ranges(bytesOf, state.roomBytes());
    if (ranges === null || ranges.length === 1) return ranges;
    if (ranges.length > MAX_PASSES || !this.#isCheap(state, counts, ranges.length)) return null;
    state.userOf(probe.buffer.slot).beganPass(ranges.length);
    return ranges;
  }

  /** Whether so many passes take no longer than writing what does not fit. */
  #isCheap(state: ExecutionState, counts: KeyCounts, passes: number): boolean {
    const plan = this.#plan;
    if (knowsPartners(plan) && counts.span <= growingBits(state.context.memoryLimitBytes)) return false;
    const { kept, other } = this.#parts.passes;
    const scanned = estimatedRows(state, kept) + estimatedRows(state, other);
    const others = plan.keepsLeft === true ? plan.right : plan.left;
    // Rows without a partner are not written.
    const rows = endsOthers(plan) ? Math.min(rowsOf(others), plan.rows) : rowsOf(others);
    const written = (rows + counts.rows) * (1 - 1 / passes);
    return (passes - 1) * scanned <= written * SCANNED_PER_WRITTEN;
  }
}

/** What it is made of. */
interface PassesParts {
  readonly passes: Passes;
  /** Holds the counts of the kept keys, and then what is left to be done. */
  readonly slot: number;
  /** Holds the range at hand. */
  readonly rangeSlot: number;
  readonly probe: HashProbe;
  readonly programs: Readonly<Record<"counted" | "joined" | "divided", Program>>;
}

function estimatedRows({ context }: ExecutionState, { scan }: RangedScan): number {
  return context.table(scan.table.id).estimatedRows;
}

function rowsOf(plan: Plan): number {
  return "rows" in plan ? plan.rows : 0;
}
