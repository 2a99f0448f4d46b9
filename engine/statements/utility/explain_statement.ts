/** EXPLAIN: the plan, with ANALYZE its measured rows and times, with CODE the generated JavaScript. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { placementOf } from "../../catalog/placement.ts";
import type { Explain, NamedOption } from "../../sql/parser/ast.ts";
import { compileStatement } from "../../execution/compile_statement.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  GatherExplanation,
  StatementExecution,
} from "../../execution/runtime/execution.ts";
import {
  type ExplainedOperator,
  type ExplainFormatOptions,
  explainJson,
  explainText,
  type OperatorProfile,
} from "../../sql/planner/explain_format.ts";
import { explainedOperators, type ExplainOptions, type GatherText } from "../../sql/planner/explain_plan.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import { readsTables, visitPlan } from "../../sql/plan/traverse.ts";
import type { Fragment, Plan, PlannedStatement, ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import { RowCounter } from "../row_buffer.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { PreparedHost, StatementHost } from "../statement_host.ts";
import { isPlannable } from "../statement_kind.ts";
import { executed } from "./prepared_statements.ts";
import { type Arguments, requireArguments } from "../arguments.ts";
import { unsupported } from "./refusals.ts";
import { resultColumns, sendRows } from "./result_rows.ts";

const OPTIONS = [
  "analyze",
  "verbose",
  "costs",
  "code",
  "timing",
  "summary",
  "buffers",
  "settings",
  "wal",
  "format",
];

/** Columns of EXPLAIN. */
export function explainColumns(
  session: Pick<StatementHost, "currentText">,
  statement: Explain,
): readonly ResultColumn[] {
  const { isJson } = readOptions(session, statement.options);
  return resultColumns(["QUERY PLAN", { kind: isJson ? "json" : "text" }]);
}

/** The plan of the statement that is explained. */
export function explainedPlan(
  session: PreparedHost,
  text: string,
  { statement, position }: Explain,
  types: readonly (SqlType | undefined)[],
): PlannedStatement {
  if (statement.kind === "execute") {
    const { prepared } = executed(session, statement);
    if (prepared.plan === null) throw unsupported(session, "EXPLAIN of a statement without a plan", position);
    return session.refreshPlan(prepared).planned;
  }
  if (statement.kind === "declare_cursor" || statement.kind === "create_table_as") {
    return planStatement(statement.query, session.planEnvironment(text, types));
  }
  if (!isPlannable(statement)) throw unsupported(session, `EXPLAIN of ${statement.kind}`, position);
  return session.engine.plans.plannedAhead(session, statement) ??
    planStatement(statement, session.planEnvironment(text, types));
}

/** The plans of what a statement that changes data in its WITH runs first, and its own. */
function explained({ plan, parts = [] }: PlannedStatement, options: ExplainOptions = {}): ExplainedOperator {
  const own = explainedOperators(plan, options);
  const first = parts.map(({ planned }, index) => ({
    ...explainedOperators(planned.plan),
    label: `CTE ${index + 1}`,
  }));
  return first.length === 0 ? own : { ...own, children: [...first, ...own.children] };
}

/** What a gather says of itself. */
function gatherText({ places, count, work, isByMorsels }: GatherExplanation): GatherText {
  const kind = isByMorsels === true ? "Worker" : "Shard";
  const done = places.map((number, index) => ({ kind, number, work: work?.[index] ?? null } as const));
  if (isByMorsels === true) return { title: `Gather (workers: ${count})`, places: done };
  const [first, ...more] = places;
  const title = more.length === 0 ? `Gather (shard ${first} of ${count})` : `Gather (shards 0-${count - 1})`;
  return { title, places: done };
}

/** Where the rows come from or go to, in a database of several shards; null: it is not one. */
function routeOf(
  { engine }: PreparedHost,
  { plan, tableIds, parts = [] }: PlannedStatement,
  gathers: readonly GatherExplanation[],
): string | null {
  const { shards } = engine;
  if (shards === null || !tableIds.some((id) => shards.has(id))) return null;
  const [gather, ...more] = gathers;
  if (gather?.places.length === 1 && more.length === 0) {
    return `shard ${gather.places[0]} of ${gather.count} (${gather.route})`;
  }
  if (isOneRow(plan)) return `one shard of ${shards.count} (row by its id)`;
  const all = `(shards 0-${shards.count - 1})`;
  if (gather !== undefined) return `gather ${all}`;
  if ([plan, ...parts.map(({ planned }) => planned.plan)].some(readsTables)) return `fetch ${all}`;
  const isOneNew = plan.kind === "insert" && "rows" in plan.source && plan.source.rows === 1;
  return isOneNew ? `one shard of ${shards.count} (new row)` : `new rows ${all}`;
}

function isOneRow(plan: Plan): boolean {
  switch (plan.kind) {
    case "row_lookup":
      return plan.ids.length === 1 && placementOf(plan.table).kind === "id";
    case "project":
    case "filter":
    case "limit":
    case "lock_rows":
      return isOneRow(plan.input);
    case "update":
    case "delete":
      return isOneRow(plan.source);
    default:
      return false;
  }
}

/** EXPLAIN. */
export function explain(
  session: PreparedHost,
  text: string,
  statement: Explain,
  sink: ResultSink,
  given: Arguments,
): MaybePromise<StatementOutcome> {
  const options = readOptions(session, statement.options);
  const inner = statement.statement;
  const planned = explainedPlan(session, text, statement, given.types);
  const values = inner.kind === "execute" ? executed(session, inner).values : given.values;
  if (inner.kind !== "execute") requireArguments(planned.parameterTypes, given);
  const gathers: GatherExplanation[] = [];
  const send = (root: ExplainedOperator, elapsed: number | null, source: string): StatementOutcome => {
    const executionMilliseconds = elapsed === null || !options.summary ? null : elapsed / 1000;
    const route = routeOf(session, planned, gathers);
    const lines = options.isJson
      ? [explainJson(root, { ...options, route, executionMilliseconds })]
      : explainText(root, options);
    if (!options.isJson) {
      if (route !== null) lines.push(`Route: ${route}`);
      if (executionMilliseconds !== null) {
        lines.push(`Execution Time: ${executionMilliseconds.toFixed(3)} ms`);
      }
      if (options.code) lines.push("", ...source.split("\n"));
    }
    sendRows(sink, explainColumns(session, statement), lines.map((line) => [line]));
    return session.outcome("EXPLAIN", lines.length, "explain");
  };
  const { shards, workers } = session.engine;
  const mayShare = planned.readOnly || planned.plan.kind === "insert";
  const isHere = shards === null && (workers === null || !mayShare);
  if (!options.analyze && !options.code && isHere) return send(explained(planned), null, "");
  if (options.analyze && (inner.kind === "declare_cursor" || inner.kind === "create_table_as")) {
    throw unsupported(session, `EXPLAIN ANALYZE of ${inner.kind.replaceAll("_", " ")}`, statement.position);
  }
  const compiled = compileStatement(planned, { analyze: options.analyze });
  /** The plan that runs in a context, and where its fragments do. */
  const explainedIn = (
    context: ExecutionContext | null,
    profile: readonly OperatorProfile[],
  ): ExplainedOperator => {
    const plan = context === null ? planned.plan : compiled.plan?.(context) ?? planned.plan;
    const gather = (fragment: Fragment): GatherText => {
      const gatherer = context?.gatherer?.(fragment.tableIds, true) ?? null;
      if (gatherer === null || context === null) return { title: "Gather", places: [] };
      const explanation = gatherer.explain(fragment, context);
      gathers.push(explanation);
      return gatherText(explanation);
    };
    const texts = new Map<Fragment, GatherText>();
    visitPlan(plan, {
      plan: (each) => {
        if (each.kind === "gather") texts.set(each.fragment, gather(each.fragment));
      },
    });
    return explained({ ...planned, plan }, { profile, gather: (fragment) => texts.get(fragment) });
  };
  const before = session.engine.monotonic();
  let source = () => "";
  let running: ExecutionContext | null = null;
  const noting: CompiledStatement = {
    source: compiled.source,
    start: (context) => {
      running = context;
      if (options.code) source = () => compiled.source(context);
      return options.analyze ? compiled.start(context) : NOTHING_TO_RUN;
    },
  };
  return session.runWork(
    noting,
    new RowCounter(),
    ({ profile }) => {
      const elapsed = options.analyze ? session.engine.monotonic() - before : null;
      return send(explainedIn(running, profile), elapsed, source());
    },
    values,
  );
}

/** In place of an execution when only the code is asked for. */
const NOTHING_TO_RUN: StatementExecution = { rowCount: 0, insertedId: null, profile: [], step: () => true };

interface ExplainChoices extends ExplainFormatOptions {
  readonly analyze: boolean;
  readonly code: boolean;
  readonly summary: boolean;
  readonly isJson: boolean;
}

function readOptions(
  session: Pick<StatementHost, "currentText">,
  list: readonly NamedOption[],
): ExplainChoices {
  const isOn = (name: string, otherwise: boolean): boolean => {
    const option = list.findLast((each) => each.name === name);
    return option === undefined ? otherwise : !["off", "false", "0"].includes(option.value ?? "on");
  };
  let isJson = false;
  for (const option of list) {
    if (!OPTIONS.includes(option.name)) {
      throw new DatabaseError(SQLSTATE.syntaxError, `unrecognized EXPLAIN option "${option.name}"`, {
        position: errorPosition(session.currentText, option.position),
      });
    }
    if (option.name !== "format") continue;
    const format = (option.value ?? "text").toLowerCase();
    if (format !== "text" && format !== "json") {
      throw unsupported(session, `EXPLAIN (FORMAT ${option.value})`, option.position);
    }
    isJson = format === "json";
  }
  const analyze = isOn("analyze", false);
  for (const name of ["timing", "wal"]) {
    if (!analyze && isOn(name, false)) {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        `EXPLAIN option ${name.toUpperCase()} requires ANALYZE`,
      );
    }
  }
  return {
    analyze,
    code: isOn("code", false),
    costs: isOn("costs", true),
    timing: isOn("timing", true),
    summary: isOn("summary", analyze),
    isJson,
  };
}
