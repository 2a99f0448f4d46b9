/**
 * Rewrites plans as an optimizer would, without asking what pays: joins on equality become hash joins, filtered scans
 * become lookups, sorts under a limit keep the best rows only. For tests, in which plans as bound are the starting
 * point.
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { definedColumns } from "../../sql/plan/traverse.ts";
import { isSameForm } from "../../sql/planner/key_form.ts";
import { conjuncts, expressionFacts, planFacts } from "../codegen/plan_analysis.ts";

type Of<K extends Plan["kind"]> = Extract<Plan, { kind: K }>;

/** Applies the rewrites from the leaves up; subqueries in expressions stay. */
export function accelerate(plan: Plan): Plan {
  switch (plan.kind) {
    case "filter": {
      const input = accelerate(plan.input);
      if (input.kind === "table_scan" && input.filter === null) {
        return lookup({ ...input, filter: plan.condition });
      }
      if (input.kind === "nested_loop_join" && input.join === "inner" && input.condition === null) {
        return hashJoin({ ...input, condition: plan.condition });
      }
      return { ...plan, input };
    }
    case "table_scan":
      return lookup(plan);
    case "limit": {
      const input = accelerate(plan.input);
      if (input.kind === "sort" && plan.limit !== null && plan.offset === null && plan.withTies === null) {
        return { ...plan, input: { ...input, limit: plan.limit } };
      }
      return { ...plan, input };
    }
    case "project":
    case "aggregate":
    case "window":
    case "sort":
    case "distinct":
    case "lock_rows":
      return { ...plan, input: accelerate(plan.input) };
    case "nested_loop_join":
      return hashJoin({ ...plan, left: accelerate(plan.left), right: accelerate(plan.right) });
    case "hash_join":
      return { ...plan, left: accelerate(plan.left), right: accelerate(plan.right) };
    case "set_operation":
      return { ...plan, inputs: plan.inputs.map((input) => ({ ...input, plan: accelerate(input.plan) })) };
    case "with":
      return {
        ...plan,
        definitions: plan.definitions.map((definition) => ({
          ...definition,
          plan: accelerate(definition.plan),
        })),
        body: accelerate(plan.body),
      };
    default:
      return plan;
  }
}

function defined(plan: Plan): ReadonlySet<ColumnRef> {
  return planFacts(plan).defined;
}

function isOver(expression: Expression, columns: ReadonlySet<ColumnRef>): boolean {
  const facts = expressionFacts(expression);
  return facts.free.length > 0 && facts.free.every((column) => columns.has(column)) && !facts.hasSubquery;
}

function conjunction(parts: readonly Expression[]): Expression | null {
  const [first] = parts;
  if (first === undefined) return null;
  return parts.length === 1 ? first : { kind: "and", type: { kind: "bool" }, args: parts };
}

function hashJoin(plan: Of<"nested_loop_join">): Plan {
  const { condition, left, right, join, rows } = plan;
  if (condition === null || plan.correlated) return plan;
  const leftKeys: Expression[] = [];
  const rightKeys: Expression[] = [];
  const residual: Expression[] = [];
  for (const part of conjuncts(condition)) {
    const [a, b] = part.kind === "call" && part.function.name === "=" ? part.args : [];
    if (a !== undefined && b !== undefined && isOver(a, defined(left)) && isOver(b, defined(right))) {
      leftKeys.push(a);
      rightKeys.push(b);
    } else if (a !== undefined && b !== undefined && isOver(b, defined(left)) && isOver(a, defined(right))) {
      leftKeys.push(b);
      rightKeys.push(a);
    } else residual.push(part);
  }
  if (leftKeys.length === 0) return plan;
  const filter = conjunction(residual);
  return {
    kind: "hash_join",
    join,
    left,
    right,
    leftKeys,
    rightKeys,
    residual: filter,
    nullAware: false,
    rows,
  };
}

/** An access by id or index for the first comparison of a column with something from outside. */
function lookup(plan: Of<"table_scan">): Plan {
  if (plan.filter === null) return plan;
  const own = new Set(definedColumns(plan));
  const { kind: _kind, prune: _prune, ...access } = plan;
  for (const part of conjuncts(plan.filter)) {
    if (part.kind !== "call" || part.args.length !== 2) continue;
    const [column, value] = part.args;
    if (column?.kind !== "column" || value === undefined || !isSameForm(value.type, column.type)) continue;
    const facts = expressionFacts(value);
    if (facts.hasSubquery || facts.free.some((ref) => own.has(ref))) continue;
    const columnId = plan.columns.find(({ output }) => output === column.column)?.columnId;
    const { name } = part.function;
    const bounds = name === "="
      ? { low: null, high: null }
      : name === ">" || name === ">="
      ? { low: { value, inclusive: name === ">=" }, high: null }
      : name === "<" || name === "<="
      ? { low: null, high: { value, inclusive: name === "<=" } }
      : null;
    if (bounds === null || columnId === undefined) continue;
    if (columnId === plan.table.rowIdColumn) {
      if (name === "=") return { ...access, kind: "row_lookup", ids: [value] };
      return { ...access, kind: "row_range", bounds, backward: false };
    }
    const index = plan.table.indexes.find(({ columns }) => columns[0]?.columnId === columnId);
    if (index === undefined) continue;
    return {
      ...access,
      kind: "index_scan",
      index,
      prefix: name === "=" ? [value] : [],
      bounds,
      backward: false,
    };
  }
  return plan;
}
