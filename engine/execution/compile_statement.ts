/**
 * Compiles planned statements to JavaScript; see `codegen/region.ts` for how the code is built.
 *
 * A compiled statement is immutable and shared; each execution has a state of its own. Functions are generated when
 * they first run, scans once for each signature of column vectors.
 */
import type { ColumnRef, Expression } from "../sql/plan/expression.ts";
import type { Fragment, Plan, PlannedStatement } from "../sql/plan/plan.ts";
import { inputs, subqueryPlan, visitExpression, visitPlan } from "../sql/plan/traverse.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { CompiledStatement, ExecutionContext, StatementExecution } from "./runtime/execution.ts";
import type { Spread } from "../sql/fragments/join_places.ts";
import {
  fragmentReadWith,
  readsByGathersOnly,
  type SoleFragment,
  soleFragment,
} from "../sql/fragments/sole_fragment.ts";
import { triggersFor } from "../catalog/triggers.ts";
import { splitPlan } from "../sql/fragments/split_plan.ts";
import { Compilation } from "./codegen/compilation.ts";
import { Program, type Sink } from "./codegen/region.ts";
import { callbackSink, type OutputColumn, resultSink } from "./operators/result.ts";
import { compileModify } from "./modify/compile_modify.ts";
import { statementOfParts } from "./modify/statement_parts.ts";
import { type AnalyzedCode, ExecutionState, type RowCallback } from "./runtime/execution_state.ts";
import type { RowProducer, RowProduction } from "./runtime/row_production.ts";
import { produce } from "./operators/produce.ts";
import { keptBehindRows } from "./operators/spilled.ts";

export type { RowProducer, RowProduction } from "./runtime/row_production.ts";

/** How a statement is compiled. */
export interface CompileOptions {
  /** Count rows and time per operator, for EXPLAIN ANALYZE. */
  readonly analyze?: boolean;
}

/** Executions that begin with files behind one that has lacked memory; the next one may need less. */
const REMEMBERED_STARTS = 15;

/** A plan turned into pipelines. */
class CompiledPlan {
  readonly #compilation: Compilation;
  readonly #program: Program;
  readonly #analyze: AnalyzedCode | null;
  /** See {@link keptBehindRows}. */
  readonly #keptBehindRows: number;
  /** The same for more rows than fit into memory, made when it is first needed. */
  readonly #spilling: () => CompiledPlan;
  /** An execution with so much memory has lacked some; as many as are counted begin with files at once. */
  #lacking = { memoryBytes: 0, starts: 0 };

  constructor(
    plan: Plan,
    columns: readonly OutputColumn[],
    sink: Sink,
    options: CompileOptions,
    spills = false,
  ) {
    const analyze = options.analyze === true;
    this.#keptBehindRows = keptBehindRows(plan);
    const results = columns.map(({ column }) => column);
    this.#compilation = new Compilation(plan, results, {
      analyze,
      spills,
      produce,
    });
    this.#program = new Program(this.#compilation, { reruns: false });
    this.#program.produce(plan, sink);
    const { owners } = this.#compilation;
    this.#analyze = analyze ? { ancestors: this.#compilation.ancestors(), owners } : null;
    let spilling: CompiledPlan | null = spills ? this : null;
    this.#spilling = () => spilling ??= new CompiledPlan(plan, columns, sink, options, true);
  }

  start(context: ExecutionContext): ExecutionState {
    const { spillFile, memoryLimitBytes } = context;
    const mustSpill = spillFile !== undefined &&
      (this.#keptBehindRows > memoryLimitBytes || this.#willLack(memoryLimitBytes));
    if (context.spills === true) {
      this.#lacking = { memoryBytes: memoryLimitBytes, starts: REMEMBERED_STARTS };
    }
    const spilling = context.spills === true || mustSpill ? this.#spilling() : this;
    return spilling === this ? this.#start(context) : spilling.start(context);
  }

  /** What was made in vain before would be made in vain again. */
  #willLack(memoryLimitBytes: number): boolean {
    return memoryLimitBytes <= this.#lacking.memoryBytes && this.#lacking.starts-- > 0;
  }

  #start(context: ExecutionContext): ExecutionState {
    return new ExecutionState(context, this.#program.pipelines, this.#compilation.slots, this.#analyze);
  }

  source(context: ExecutionContext): string {
    return this.#compilation.source(context);
  }
}

/** Compiles a query or modification. */
export function compileStatement(planned: PlannedStatement, options: CompileOptions = {}): CompiledStatement {
  const { parts } = planned;
  const body = compileOne(planned, options);
  if (parts === undefined && !readsWhatItWrites(planned.plan)) return body;
  const compiled = (parts ?? []).map((part) => ({
    relation: part.relation,
    compiled: compileStatement(part.planned),
    counts: planned.command === "MERGE" && part.planned.command !== "SELECT",
  }));
  return statementOfParts(compiled, body, planned.tableIds);
}

/**
 * Whether a subquery of RETURNING or of ON CONFLICT, which is computed when rows have been written, reads the table
 * that they are written to: it sees that as it was before the statement.
 */
function readsWhatItWrites(plan: Plan): boolean {
  if (plan.kind !== "insert" && plan.kind !== "update" && plan.kind !== "delete") return false;
  const { table, returning } = plan;
  const conflict = plan.kind === "insert" ? plan.onConflict : null;
  const later = [
    ...(returning ?? []).map(({ expression }) => expression),
    ...(conflict?.assignments ?? []),
    conflict?.where ?? null,
  ];
  let reads = false;
  for (const expression of later) {
    if (expression !== null) visitExpression(expression, (part) => reads ||= isReadBy(part, table.id));
  }
  return reads;
}

/** Whether an expression is a subquery that reads a table. */
function isReadBy(expression: Expression, tableId: number): boolean {
  const inner = subqueryPlan(expression);
  let reads = false;
  if (inner !== null) {
    visitPlan(inner, { plan: (each) => reads ||= "table" in each && each.table.id === tableId });
  }
  return reads;
}

function compileOne(planned: PlannedStatement, options: CompileOptions): CompiledStatement {
  const here = compilePlan(planned.plan, planned, options);
  type Version = {
    readonly plan: Plan;
    readonly compiled: CompiledStatement;
    readonly soleFragment: SoleFragment | null;
    readonly streams: boolean;
    /** All that it gathers. */
    readonly fragments: readonly Fragment[];
  };
  const streams = readsByGathersOnly(planned.plan);
  const whole: Version = { plan: planned.plan, compiled: here, soleFragment: null, streams, fragments: [] };
  const readIds = planned.readOnly ? planned.tableIds : readApart(planned.plan);
  const scans = readIds !== null && scansTables(planned.plan);
  let isHere: boolean | null = null;
  let split: { readonly spread: Spread; readonly version: Version | null } | undefined;
  /** What runs fragments elsewhere, made when it is first needed; null: the plan has none. */
  const elsewhere = (spread: Spread): Version | null => {
    const known = split?.spread;
    if (
      split !== undefined && known?.count === spread.count &&
      known.broadcastBytes === spread.broadcastBytes &&
      known.room === spread.room && known.shared === spread.shared
    ) {
      return split.version;
    }
    const plan = splitPlan(planned, spread);
    const version = plan === null ? null : {
      plan,
      compiled: compilePlan(plan, planned, options),
      soleFragment: soleFragment(plan),
      streams: readsByGathersOnly(plan),
      fragments: fragmentsOf(plan),
    };
    split = { spread, version };
    return version;
  };
  let behindRows: number | null = null;
  /** What runs behind rows that have been given out cannot begin anew when places have no memory for it. */
  const spreadFor = (spread: Spread, { memoryLimitBytes }: ExecutionContext): Spread => {
    if (spread.shared !== undefined || spread.room === "none") return spread;
    behindRows ??= keptBehindRows(planned.plan);
    return behindRows > memoryLimitBytes / 2 ? { ...spread, room: "none" } : spread;
  };
  const chosen = (context: ExecutionContext): Version => {
    const gatherer = context.gatherer?.(readIds ?? planned.tableIds, scans) ?? null;
    if (gatherer !== null && (isHere ??= readsBetweenWrites(planned.plan))) return whole;
    const version = gatherer === null ? null : elsewhere(spreadFor(gatherer.spread, context));
    return version !== null && gatherer?.wants(version.fragments) === true ? version : whole;
  };
  return {
    start: (context): StatementExecution => chosen(context).compiled.start(context),
    source: (context) => chosen(context).compiled.source(context),
    plan: (context) => chosen(context).plan,
    soleFragment: (context) => fragmentReadWith(chosen(context).soleFragment, context.parameters),
    streams: (context) => chosen(context).streams,
  };
}

/**
 * The tables that an INSERT reads for its rows, if nothing is written to them before they have been read; null: it is
 * none, or something else may write.
 */
function readApart(plan: Plan): readonly number[] | null {
  if (plan.kind !== "insert" || plan.onConflict !== null || triggersFor(plan.table, "insert").length > 0) {
    return null;
  }
  const ids = new Set<number>();
  let isApart = true;
  visitPlan(plan, {
    plan: (each) => {
      if (each !== plan && "table" in each) ids.add(each.table.id);
    },
    expression: (each) => isApart &&= each.kind !== "call" || each.function.userFunctionId === undefined,
  });
  // Its own rows begin with the first one that is written, while others may still be to come.
  return isApart && !ids.has(plan.table.id) ? [...ids] : null;
}

/** Whether an INSERT may come to a subquery over its own table when it has written to it: places see no such rows. */
function readsBetweenWrites(plan: Plan): boolean {
  let reads = false;
  if (plan.kind === "insert") {
    visitPlan(plan, { expression: (part) => reads ||= isReadBy(part, plan.table.id) });
  }
  return reads;
}

/** Whether a plan reads a whole table. */
function scansTables(plan: Plan): boolean {
  return plan.kind === "table_scan" || inputs(plan).some(scansTables);
}

function fragmentsOf(plan: Plan): Fragment[] {
  const fragments: Fragment[] = [];
  visitPlan(plan, {
    plan: (each) => {
      if (each.kind === "gather") fragments.push(each.fragment);
    },
  });
  return fragments;
}

function compilePlan(plan: Plan, planned: PlannedStatement, options: CompileOptions): CompiledStatement {
  if (plan.kind === "insert" || plan.kind === "update" || plan.kind === "delete") {
    return compileModify(plan, planned, options);
  }
  const compiled = new CompiledPlan(plan, planned.columns, resultSink(planned.columns), options);
  return {
    start: (context): StatementExecution => compiled.start(context),
    source: (context) => compiled.source(context),
  };
}

/** Compiles a plan to call back with the values of these columns for each row. */
export function compileRowProducer(
  plan: Plan,
  columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[],
  options: CompileOptions = {},
): RowProducer {
  const compiled = new CompiledPlan(plan, columns, callbackSink(columns), options);
  return {
    start: (context) => new Production(compiled.start(context)),
    source: (context) => compiled.source(context),
  };
}

/** A class, since a getter in an object literal is a new hidden class each time, which only a full collection ends. */
class Production implements RowProduction {
  readonly #state: ExecutionState;
  readonly #writer: ExecutionState["writer"];

  constructor(state: ExecutionState) {
    this.#state = state;
    this.#writer = state.writer;
  }

  step(onRow: RowCallback): boolean {
    this.#state.callback = onRow;
    return this.#state.step(this.#writer);
  }

  get isWaiting(): boolean {
    return this.#state.isWaiting;
  }

  get profile(): StatementExecution["profile"] {
    return this.#state.profile;
  }
}
