/**
 * Statements that change data in their WITH, or that read a materialized WITH while they change data, are taken
 * apart: each definition becomes a part that runs once, in order, and whose rows the later parts read.
 */
import { AssertionError } from "../../base/assert.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan, VirtualRelation } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { modifies } from "../binder/query_binder.ts";
import type { OutputColumn } from "../binder/bound_query.ts";

type With = Plan & { readonly kind: "with" };

/** One part: its rows, by the columns of the definition, go into the relation. */
export interface StatementPart {
  readonly relation: VirtualRelation;
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
}

/** A statement taken apart. */
export interface StatementParts {
  readonly parts: readonly StatementPart[];
  readonly body: Plan;
}

/** What a scan reads are the rows that the execution keeps; the plan, which sessions share, has none. */
function notMaterialized(): never {
  throw new AssertionError("a CTE is read before it has run");
}

/** The parts of a statement, or null when it can run as one. */
export function statementParts(plan: Plan): StatementParts | null {
  if (plan.kind !== "with" || !modifies(plan)) return null;
  const relations = new Map<
    number,
    { readonly relation: VirtualRelation; readonly definition: Definition }
  >();
  const parts = plan.definitions.map((definition): StatementPart => {
    const columns = definition.columns.map((column, index): OutputColumn => ({
      name: `column${index + 1}`,
      column,
      type: definition.types[index] ?? { kind: "text" },
      nullable: true,
      tableId: 0,
      columnId: 0,
    }));
    const relation: VirtualRelation = { id: 0, schema: "", name: "CTE", columns, rows: notMaterialized };
    const own = readParts(
      definition.recursive === null ? definition.plan : recursivePlan(definition),
      relations,
    );
    relations.set(definition.id, { relation, definition });
    return { relation, plan: own, columns };
  });
  return { parts, body: readParts(plan.body, relations) };
}

type Definition = With["definitions"][number];

/** A recursive definition keeps its WITH, in which it is the only one. */
function recursivePlan(definition: Definition): Plan {
  return {
    kind: "with",
    definitions: [definition],
    body: {
      kind: "with_scan",
      id: definition.id,
      working: false,
      outputs: definition.columns,
      columns: definition.columns,
      rows: 0,
    },
    rows: 0,
  };
}

/** The plan with scans of earlier parts in place of scans of definitions. */
function readParts(
  plan: Plan,
  relations: ReadonlyMap<number, { readonly relation: VirtualRelation; readonly definition: Definition }>,
): Plan {
  if (plan.kind === "with_scan") {
    const found = relations.get(plan.id);
    if (found === undefined) return plan;
    return {
      kind: "virtual_scan",
      relation: found.relation,
      columns: plan.outputs.map((output, index) => {
        const position = found.definition.columns.indexOf(plan.columns[index] ?? 0);
        return { position, output, type: found.definition.types[position] ?? { kind: "text" } };
      }),
      filter: null,
      rows: 0,
    };
  }
  const inExpression = (expression: Expression): Expression =>
    mapOperands(expression, inExpression, (inner) => readParts(inner, relations));
  return mapOwnExpressions(mapInputs(plan, (input) => readParts(input, relations)), inExpression);
}
