/** Rows that come from elsewhere, a fragment's or those of an exchange: a loop over each batch. */
import { assertDefined } from "../../base/assert.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { inputs } from "../../sql/plan/traverse.ts";
import type { Block } from "../../storage/access/block.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { PipelineCode, type RunningPipeline } from "../codegen/pipeline_code.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { emitValue } from "../codegen/expression.ts";
import { nullableCode, storedCode } from "../codegen/value_form.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BatchSource, GatheredBatch } from "../runtime/execution.ts";
import { HashProbe } from "./hash_probe.ts";
import { offerFilters } from "./runtime_filter.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { isEncoded } from "../../types/stored_value.ts";

type Gather = Extract<Plan, { kind: "gather" | "exchange" }>;

/** Puts the rows into a program. */
export function produceGather(plan: Gather, program: Program, sink: Sink): void {
  const values = plan.kind === "gather" ? plan.values : [];
  const slot = values.length === 0 ? -1 : program.compilation.newSlot();
  if (values.length > 0) {
    program.once(plan, (code) => {
      const list = values.map(({ expression }) => nullableCode(emitValue(code, expression)));
      code.emit(`S.x[${slot}] = [${list.join(", ")}];`);
    });
  }
  const kept = plan.kind === "gather" ? keepSides(plan, program) : [];
  program.add(new GatherPipeline(plan, program, sink, { valuesSlot: slot, kept }));
}

/** A gather that is under way. */
interface GatherRun {
  readonly next: BatchSource;
  batch: GatheredBatch | null;
  /** The first row of the batch that has not been looked at. */
  from: number;
  running: RunningPipeline | null;
}

/** A side of the fragment's joins that is kept here, for all threads. */
interface KeptHere {
  readonly number: number;
  readonly probe: HashProbe;
}

/** Puts the sides that are kept into the program, those of outer joins first: what they know is asked of the others. */
function keepSides({ kept, fragment }: Plan & { readonly kind: "gather" }, program: Program): KeptHere[] {
  const { compilation } = program;
  const made = kept.map(({ number, plan, keys, others, columns }) => {
    const probe = new HashProbe(compilation, {
      kept: { plan, keys },
      otherTypes: others,
      residual: null,
      keepsColumns: true,
      columns,
    });
    program.reset(...probe.slots);
    return { number, probe };
  });
  offerKept(compilation, fragment.plan, made);
  kept.forEach(({ plan }, place) => made[place]?.probe.build(program, plan));
  return made;
}

/** Offers what kept sides will know to the scans of the others. */
function offerKept(compilation: Compilation, plan: Plan, made: readonly KeptHere[]): void {
  for (const input of inputs(plan)) offerKept(compilation, input, made);
  if (plan.kind !== "hash_join" || plan.join !== "inner" && plan.join !== "semi") return;
  const { left, right, leftKeys: keys, rightKeys: others } = plan;
  const kept = made.find(({ number }) => right.kind === "exchange" && right.number === number);
  if (kept !== undefined) offerFilters(compilation, left, { keys, others, slot: kept.probe.indexSlot });
}

class GatherPipeline implements Pipeline {
  writesResult = false;
  readonly operators: readonly number[];
  readonly #plan: Gather;
  readonly #slot: number;
  readonly #code: PipelineCode;
  readonly #flags: readonly number[];
  readonly #reruns: boolean;
  readonly #valuesSlot: number;
  readonly #kept: readonly KeptHere[];

  /** `valuesSlot`: where the parameters are that have been computed; -1: there are none. */
  constructor(
    plan: Gather,
    program: Program,
    sink: Sink,
    { valuesSlot, kept }: { readonly valuesSlot: number; readonly kept: readonly KeptHere[] },
  ) {
    this.#plan = plan;
    this.#valuesSlot = valuesSlot;
    this.#slot = program.compilation.newSlot();
    this.operators = [program.compilation.operatorIndex(plan)];
    this.#flags = program.flags;
    this.#reruns = program.reruns;
    this.#kept = kept;
    this.#code = new PipelineCode(program.compilation, {
      name: "gather",
      parameters: "S, block, from, to",
      emit: (code) => emitRows(code, { plan, sink, flags: program.flags }),
    });
  }

  run(state: ExecutionState): boolean {
    let run = state.x[this.#slot] as GatherRun | undefined;
    if (run === undefined) {
      if (this.#flags.some((flag) => state.x[flag] === true)) return true;
      state.x[this.#slot] = run = { next: this.#open(state), batch: null, from: 0, running: null };
    }
    const ended = this.#morsel(state, run);
    if (ended) state.x[this.#slot] = undefined;
    return ended;
  }

  #open(state: ExecutionState): BatchSource {
    const plan = this.#plan;
    const { context, x } = state;
    if (plan.kind === "exchange") {
      return assertDefined(context.exchange?.(plan.number), `exchange ${plan.number}`);
    }
    const { fragment } = plan;
    const gatherer = context.gatherer?.(fragment.tableIds, true);
    if (gatherer === undefined || gatherer === null) throw new TypeError("rows are gathered only elsewhere");
    const parameters = [...context.parameters];
    const computed = this.#valuesSlot < 0 ? [] : x[this.#valuesSlot] as SqlValue[];
    plan.values.forEach(({ index }, position) => {
      parameters[index] = computed[position] ?? null;
    });
    const given = computed.length === 0 ? context.parameters : parameters;
    const kept = new Map(this.#kept.map(({ number, probe }) => [number, probe.give(state, !this.#reruns)]));
    return gatherer.gather(fragment, given, this.#reruns, kept);
  }

  /** Works through a morsel. true: no more rows come, or what is above wants no more. */
  #morsel(state: ExecutionState, run: GatherRun): boolean {
    if (run.running === null) {
      if (run.batch === null) {
        const batch = run.next();
        if (batch === undefined) return true;
        if (batch === null) {
          state.isWaiting = true;
          return false;
        }
        run.batch = batch;
        run.from = 0;
      }
      const { batch } = run;
      const { from } = run;
      const to = run.from = Math.min(batch.rowCount, from + state.batchRows);
      // The code knows it by its columns.
      const begun = this.#code.begin(state, batch as unknown as Block, from, to);
      this.writesResult = this.#code.writesResult;
      if (typeof begun === "boolean") {
        if (to === batch.rowCount) run.batch = null;
        return begun;
      }
      run.running = begun;
    }
    const { done, value } = run.running.next();
    if (done !== true) return false;
    run.running = null;
    if (run.from === run.batch?.rowCount) run.batch = null;
    return value;
  }

  source(): string {
    return this.#code.source();
  }
}

function emitRows(
  code: Emitter,
  { plan, sink, flags }: { readonly plan: Gather; readonly sink: Sink; readonly flags: readonly number[] },
): void {
  const label = code.name("rows");
  const named = plan.kind === "exchange" ? plan.columns : plan.fragment.columns;
  const columns = named.map((_, index) => code.define("v", `block.columns[${index}]`));
  code.loopLabel = label;
  code.morselRows = "(to - from)";
  sink.open(code);
  code.block(`${label}: for (let i = from; i < to; i++) `, "row", () => {
    code.rowBlock(() => {
      named.forEach(({ column, type }, index) => {
        code.bind(column, {
          type,
          cheap: true,
          load: (code) => {
            const stored = code.define("c", `${columns[index]}[i]`);
            const isNull = `${stored} === null`;
            if (type.kind !== "bool" && !isEncoded(type)) return { code: stored, isNull };
            const value = code.define("c", `${isNull} ? null : ${storedCode(code, type, stored)}`);
            return { code: value, isNull: `${value} === null` };
          },
        });
      });
      sink.row(code);
    });
  });
  sink.close(code);
  code.emit(`return ${flags.map((flag) => `S.x[${flag}] === true`).join(" || ") || "false"};`);
}
