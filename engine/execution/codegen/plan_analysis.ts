/**
 * Facts about plans and expressions: what they refer to, and what they define.
 *
 * Column references are unique within a statement, so that the free columns of a plan are those it mentions anywhere
 * less those it defines anywhere. A plan without free columns and without a working table of a surrounding recursion
 * is
 * *closed*: it gives the same rows whenever it runs within one execution (unless it is volatile).
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import {
  definedColumns,
  inputs,
  isFlat,
  operands,
  ownExpressions,
  subqueryPlan,
} from "../../sql/plan/traverse.ts";

/**
 * The operators of a plan in preorder: how EXPLAIN ANALYZE's profile is numbered. Subquery expressions are not in it.
 */
export function planOperators(plan: Plan): readonly Plan[] {
  return [plan, ...inputs(plan).flatMap(planOperators)];
}

/** Columns that the operator names by reference rather than in an expression. */
function planMentions(plan: Plan): readonly ColumnRef[] {
  switch (plan.kind) {
    case "set_operation":
      return plan.inputs.flatMap((input) => input.columns);
    case "with":
      return plan.definitions.flatMap((
        { columns, recursive },
      ) => [...columns, ...(recursive?.columns ?? [])]);
    case "gather":
      return plan.kept.flatMap(({ columns }) => columns.map(({ column }) => column));
    case "lock_rows":
      return plan.tables.map((table) => table.rowId);
    case "update":
      return [plan.rowId, ...plan.oldRow];
    case "delete":
      return [plan.rowId, ...plan.oldRow];
    default:
      return [];
  }
}

function expressionMentions(expression: Expression): readonly ColumnRef[] {
  switch (expression.kind) {
    case "column":
    case "scalar_subquery":
    case "array_subquery":
      return [expression.column];
    case "any_subquery":
    case "all_subquery":
      return expression.columns;
    default:
      return [];
  }
}

/** What a plan or expression, with everything inside of it, refers to. */
export interface Facts {
  readonly defined: ReadonlySet<ColumnRef>;
  /** How often each column is mentioned. */
  readonly mentioned: ReadonlyMap<ColumnRef, number>;
  readonly free: readonly ColumnRef[];
  /** Definitions of WITH that are scanned inside and defined outside. */
  readonly freeDefinitions: ReadonlySet<number>;
  /** Those of them whose working table is scanned: its rows are others in each round of the recursion. */
  readonly freeWorkingTables: ReadonlySet<number>;
  readonly volatile: boolean;
  readonly hasSubquery: boolean;
}

const NO_COLUMNS: ReadonlySet<ColumnRef> = new Set();
const NO_DEFINITIONS: ReadonlySet<number> = new Set();
const NO_MENTIONS: ReadonlyMap<ColumnRef, number> = new Map();

/**
 * Facts about what refers to nothing; a statement has as many constants as its text has room for, and they share it.
 */
const CONSTANT_FACTS: Facts = {
  defined: NO_COLUMNS,
  mentioned: NO_MENTIONS,
  free: [],
  freeDefinitions: NO_DEFINITIONS,
  freeWorkingTables: NO_DEFINITIONS,
  volatile: false,
  hasSubquery: false,
};

class FactCollector {
  readonly defined = new Set<ColumnRef>();
  readonly mentioned = new Map<ColumnRef, number>();
  readonly scanned = new Set<number>();
  readonly working = new Set<number>();
  readonly definitions = new Set<number>();
  volatile = false;
  hasSubquery = false;

  add(facts: Facts): void {
    if (facts === CONSTANT_FACTS) return;
    for (const column of facts.defined) this.defined.add(column);
    for (const [column, count] of facts.mentioned) this.mention(column, count);
    for (const id of facts.freeDefinitions) this.scanned.add(id);
    for (const id of facts.freeWorkingTables) this.working.add(id);
    this.volatile ||= facts.volatile;
    this.hasSubquery ||= facts.hasSubquery;
  }

  mention(column: ColumnRef, count = 1): void {
    this.mentioned.set(column, (this.mentioned.get(column) ?? 0) + count);
  }

  /** What has been collected, in as few objects as it takes: thousands of nodes keep their facts. */
  facts(): Facts {
    return {
      defined: this.defined.size === 0 ? NO_COLUMNS : this.defined,
      mentioned: this.mentioned.size === 0 ? NO_MENTIONS : this.mentioned,
      free: [...this.mentioned.keys()].filter((column) => !this.defined.has(column)),
      freeDefinitions: this.#without(this.scanned),
      freeWorkingTables: this.#without(this.working),
      volatile: this.volatile,
      hasSubquery: this.hasSubquery,
    };
  }

  /** Those that are defined outside. */
  #without(scanned: ReadonlySet<number>): ReadonlySet<number> {
    if (scanned.size === 0) return NO_DEFINITIONS;
    return new Set([...scanned].filter((id) => !this.definitions.has(id)));
  }
}

const planFactCache = new WeakMap<Plan, Facts>();
const expressionFactCache = new WeakMap<Expression, Facts>();

/** Facts about a plan. */
export function planFacts(plan: Plan): Facts {
  const known = planFactCache.get(plan);
  if (known !== undefined) return known;
  const collector = new FactCollector();
  for (const column of definedColumns(plan)) collector.defined.add(column);
  for (const column of planMentions(plan)) collector.mention(column);
  if (plan.kind === "with_scan") {
    collector.scanned.add(plan.id);
    if (plan.working) collector.working.add(plan.id);
  }
  if (plan.kind === "with") { for (const { id } of plan.definitions) collector.definitions.add(id); }
  if (plan.kind === "function_scan") {
    collector.volatile = plan.functions.some((call) => call.function.volatility === "volatile");
  }
  if (plan.kind === "lock_rows") collector.volatile = true;
  for (const child of inputs(plan)) collector.add(planFacts(child));
  for (const expression of ownExpressions(plan)) collector.add(expressionFacts(expression));
  const facts = collector.facts();
  planFactCache.set(plan, facts);
  return facts;
}

/** Facts about an expression. */
export function expressionFacts(expression: Expression): Facts {
  if (expression.kind === "constant" || expression.kind === "parameter") return CONSTANT_FACTS;
  if (expression.kind === "column") return columnFacts(expression.column);
  if (isFlat(expression)) return inheritedFacts(expression) ?? collectedFacts(expression);
  const known = expressionFactCache.get(expression);
  if (known !== undefined) return known;
  const facts = inheritedFacts(expression) ?? collectedFacts(expression);
  expressionFactCache.set(expression, facts);
  return facts;
}

const factsOfColumns: Facts[] = [];
/** Columns whose facts are kept; numbers of columns begin at 1 in each statement. */
const MAX_COLUMN_FACTS = 4096;

function columnFacts(column: ColumnRef): Facts {
  const known = factsOfColumns[column];
  if (known !== undefined) return known;
  const facts = { ...CONSTANT_FACTS, mentioned: new Map([[column, 1]]), free: [column] };
  if (column < MAX_COLUMN_FACTS) factsOfColumns[column] = facts;
  return facts;
}

/** The facts of an operation with one operand that is no constant are those of the operand. */
function inheritedFacts(expression: Expression): Facts | null {
  if (isVolatileItself(expression) || subqueryPlan(expression) !== null) return null;
  let inherited = CONSTANT_FACTS;
  for (const child of operands(expression)) {
    const facts = expressionFacts(child);
    if (facts === CONSTANT_FACTS) continue;
    if (inherited !== CONSTANT_FACTS) return null;
    inherited = facts;
  }
  return inherited;
}

function isVolatileItself(expression: Expression): boolean {
  if (expression.kind === "call") return expression.function.volatility === "volatile";
  return expression.kind === "cast" && expression.cast.volatility === "volatile";
}

function collectedFacts(expression: Expression): Facts {
  const collector = new FactCollector();
  for (const column of expressionMentions(expression)) collector.mention(column);
  collector.volatile = isVolatileItself(expression);
  for (const child of operands(expression)) collector.add(expressionFacts(child));
  const plan = subqueryPlan(expression);
  if (plan !== null) {
    collector.add(planFacts(plan));
    collector.hasSubquery = true;
  }
  return collector.facts();
}

/** Whether the expression has one value during one execution and needs no row. */
export function isExecutionConstant(expression: Expression): boolean {
  const facts = expressionFacts(expression);
  return facts.mentioned.size === 0 && !facts.volatile && !facts.hasSubquery;
}

/** The conjuncts of a condition. */
export function conjuncts(condition: Expression): readonly Expression[] {
  return condition.kind === "and" ? condition.args.flatMap(conjuncts) : [condition];
}
