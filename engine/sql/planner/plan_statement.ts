/** From a syntax tree to a plan that can be run: binding, then optimization. */
import { SQLSTATE } from "../../base/errors.ts";
import { onceIn } from "../../base/pieces.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { withAssignedTypes } from "../binder/assigned_types.ts";
import { Binding } from "../binder/binding.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import { bindMerge } from "../binder/merge_binder.ts";
import { bindDelete, bindInsert, bindUpdate } from "../binder/modify_binder.ts";
import { bindQuery, modifies } from "../binder/query_binder.ts";
import type { OutputColumn } from "../binder/bound_query.ts";
import type { Delete, Insert, Merge, Query, Statement, Update } from "../parser/ast.ts";
import type { Plan, PlannedStatement, ResultColumn } from "../plan/plan.ts";
import { visitPlan } from "../plan/traverse.ts";
import { optimize } from "./optimize.ts";
import { statementParts } from "./statement_parts.ts";

export type { PlanningEnvironment as PlanEnvironment } from "../binder/environment.ts";

/** Statements that have a plan. */
export type PlannableStatement = Query | Insert | Update | Delete | Merge;

/** Whether a statement is one that {@link planStatement} takes. */
export function isPlannable(statement: Statement): statement is PlannableStatement {
  switch (statement.kind) {
    case "query":
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return true;
    default:
      return false;
  }
}

/** Options of planning. */
export interface PlanOptions {
  /** false: the plan as bound, which gives the same rows slowly; for tests. */
  readonly optimize?: boolean;
}

/**
 * Binds and optimizes a statement.
 *
 * @throws {DatabaseError} for every mistake in the statement, with its position.
 */
export function planStatement(
  statement: Statement,
  environment: PlanningEnvironment,
  options: PlanOptions = {},
): PlannedStatement {
  const { pieces } = environment;
  const { binding, bound } = onceIn(pieces, () => {
    const binding = new Binding(environment);
    return { binding, bound: bindStatement(binding, statement) };
  });
  const parameterTypes = settleParameters(binding);
  const planOf = (plan: Plan, columns: readonly OutputColumn[]): PlannedStatement => {
    // Who reads a part knows it by its relation.
    const split = onceIn(pieces, () => statementParts(plan));
    const body = split?.body ?? plan;
    const optimized = options.optimize === false
      ? { plan: body, columns }
      : onceIn(pieces, () => optimize(body, columns, environment, () => binding.newColumn()));
    return {
      plan: optimized.plan,
      columns: optimized.columns.map(resultColumn),
      parameterTypes,
      command: statement.kind === "merge" && plan === bound.plan ? "MERGE" : commandOf(body),
      readOnly: !modifies(plan) && !binding.writesSequences && !binding.locks,
      singleAggregate: bound.singleAggregate,
      tableIds: tableIdsOf(plan),
      ...(split === null ? {} : {
        parts: split.parts.map((part) => ({
          relation: part.relation,
          planned: planOf(part.plan, part.columns),
        })),
      }),
    };
  };
  return planOf(bound.plan, bound.columns);
}

function commandOf(plan: Plan): PlannedStatement["command"] {
  switch (plan.kind) {
    case "insert":
      return "INSERT";
    case "update":
      return "UPDATE";
    case "delete":
      return "DELETE";
    default:
      return "SELECT";
  }
}

interface BoundStatement {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
  readonly singleAggregate: boolean;
}

function bindStatement(binding: Binding, statement: Statement): BoundStatement {
  binding.bindModification = (inner, commonTables) => {
    switch (inner.kind) {
      case "insert":
        return { ...bindInsert(binding, inner, commonTables), singleAggregate: false };
      case "update":
        return { ...bindUpdate(binding, inner, commonTables), singleAggregate: false };
      case "delete":
        return { ...bindDelete(binding, inner, commonTables), singleAggregate: false };
    }
  };
  if ("with" in statement) binding.outermostWith = statement.with?.items ?? null;
  switch (statement.kind) {
    case "query": {
      const bound = bindQuery(binding, { parent: null, commonTables: null }, statement);
      const { assignedTypes } = binding.environment;
      return assignedTypes === undefined ? bound : withAssignedTypes(binding, bound, assignedTypes);
    }
    case "insert":
      return { ...bindInsert(binding, statement), singleAggregate: false };
    case "update":
      return { ...bindUpdate(binding, statement), singleAggregate: false };
    case "delete":
      return { ...bindDelete(binding, statement), singleAggregate: false };
    case "merge":
      return { ...bindMerge(binding, statement), singleAggregate: false };
    default:
      throw binding.unsupported(
        `planning of ${statement.kind}`,
        "position" in statement ? statement.position : 0,
      );
  }
}

function resultColumn(column: OutputColumn): ResultColumn {
  return {
    name: column.name,
    column: column.column,
    type: column.type,
    tableId: column.tableId,
    columnId: column.columnId,
  };
}

/** The types of all parameters; 42P18 for one that nothing gives a type. */
function settleParameters(binding: Binding): SqlType[] {
  return binding.parameterTypes.map((type, index) => {
    if (type !== undefined) return type;
    if (index >= binding.parameterCount) return { kind: "text" };
    throw binding.error(
      SQLSTATE.indeterminateDatatype,
      `could not determine data type of parameter $${index + 1}`,
    );
  });
}

function tableIdsOf(plan: Plan): number[] {
  const ids = new Set<number>();
  visitPlan(plan, {
    plan: (each) => {
      if ("table" in each) ids.add(each.table.id);
    },
  });
  return [...ids];
}
