/** Rows that come from elsewhere, a fragment's or those of an exchange: a loop over each batch. */
import { assertDefined } from "../../base/assert.ts";
import type { Fragment, Plan } from "../../sql/plan/plan.ts";
import { exchangesOf } from "../../sql/fragments/plan_facts.ts";
import type { Block } from "../../storage/access/block.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { PipelineCode, type RunningPipeline } from "../codegen/pipeline_code.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { emitValue } from "../codegen/expression.ts";
import { nullableCode, storedCode } from "../codegen/value_form.ts";
import type { SqlValue } from "../../types/value.ts";
import { ColumnLists } from "../runtime/column_lists.ts";
import type { BatchSource, GatheredBatch } from "../runtime/execution.ts";
import type { RowProducer, RowProduction } from "../runtime/row_production.ts";
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
  program.add(new GatherPipeline(plan, program, sink, slot));
}

/** A gather that is under way. */
interface GatherRun {
  /** null: what its fragment is fed by is still to be computed. */
  next: BatchSource | null;
  /** That of what feeds it, as far as it has come. */
  readonly feeds: InputFeed[];
  batch: GatheredBatch | null;
  /** The first row of the batch that has not been looked at. */
  from: number;
  running: RunningPipeline | null;
}

/** What is computed for an exchange of a fragment that threads share. */
interface GatherInput {
  readonly number: number;
  readonly columns: Fragment["columns"];
  readonly producer: RowProducer;
}

/** Roughly what a value of a batch takes. */
const VALUE_BYTES = 16;

class InputFeed {
  readonly number: number;
  readonly batches: GatheredBatch[] = [];
  readonly #production: RowProduction;
  readonly #rows: ColumnLists;
  #isDone = false;

  constructor({ number, columns, producer }: GatherInput, state: ExecutionState) {
    this.number = number;
    this.#production = producer.start(state.context);
    this.#rows = new ColumnLists(columns, (batch) => {
      state.charge(batch.rowCount * columns.length * VALUE_BYTES);
      this.batches.push(batch);
    });
  }

  /** A step; true: all rows are there. */
  step(state: ExecutionState): boolean {
    if (this.#isDone) return true;
    this.#isDone = this.#production.step(this.#rows.add);
    if (this.#isDone) this.batches.push(this.#rows.take());
    else if (this.#production.isWaiting) state.isWaiting = true;
    return this.#isDone;
  }
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
  /** What is computed before it, for all threads. */
  readonly #inputs: readonly GatherInput[];

  /** `valuesSlot`: where the parameters are that have been computed; -1: there are none. */
  constructor(plan: Gather, program: Program, sink: Sink, valuesSlot: number) {
    this.#plan = plan;
    this.#valuesSlot = valuesSlot;
    this.#slot = program.compilation.newSlot();
    this.operators = [program.compilation.operatorIndex(plan)];
    this.#flags = program.flags;
    this.#reruns = program.reruns;
    this.#inputs = plan.kind === "exchange" || plan.fragment.isShared !== true
      ? []
      : exchangesOf(plan.fragment.plan).map(({ number, input, columns }) => {
        return {
          number,
          columns,
          producer: assertDefined(program.compilation.compileRows ?? undefined, "a query")(input, columns),
        };
      });
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
      const feeds = this.#inputs.map((input) => new InputFeed(input, state));
      state.x[this.#slot] = run = { next: null, feeds, batch: null, from: 0, running: null };
    }
    const ended = this.#morsel(state, run);
    if (ended) state.x[this.#slot] = undefined;
    return ended;
  }

  #open({ context, x }: ExecutionState, feeds: readonly InputFeed[]): BatchSource {
    const plan = this.#plan;
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
    const inputs = new Map(feeds.map(({ number, batches }) => [number, batches]));
    return gatherer.gather(fragment, given, this.#reruns, inputs);
  }

  /** Works through a morsel. true: no more rows come, or what is above wants no more. */
  #morsel(state: ExecutionState, run: GatherRun): boolean {
    if (run.next === null) {
      for (const feed of run.feeds) if (!feed.step(state)) return false;
      run.next = this.#open(state, run.feeds);
    }
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
