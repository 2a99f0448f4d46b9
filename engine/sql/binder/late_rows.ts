/**
 * Long lists of VALUES for an INSERT whose cells are literals, DEFAULT, or what follows from literals: each row
 * is bound when its turn comes to be written, and forgotten. Expressions for all of them would take a hundred
 * times the memory of the text, and every look at the plan seconds in which nobody else has a turn.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { BoundFunction } from "../functions/definition.ts";
import type { Expression as Ast, FunctionCall } from "../parser/ast.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { evaluate } from "./evaluate.ts";

/** Shorter lists are bound at once. */
const LATE_ROWS = 1000;
/** What a literal takes in the syntax tree, roughly. */
const LITERAL_BYTES = 200;

/** Where the rows come from, and what becomes of them. */
interface LateRows {
  readonly rows: readonly (readonly Ast[])[];
  /** What there is for each cell of a row. */
  readonly outputs: readonly ColumnRef[];
  readonly types: readonly SqlType[];
  /** Binds a cell, given its place in the row. */
  bindCell(ast: Ast, index: number): Expression;
  /** Whether a call gives the same whenever it is bound, and draws from nothing. */
  isSteady(call: FunctionCall): boolean;
}

/** A plan that binds the rows one by one; null: they are too few, or have parameters, subqueries or volatile calls. */
export function lateRows({ rows, outputs, types, bindCell, isSteady }: LateRows): Plan | null {
  const areSteady = steadiness(isSteady);
  if (rows.length <= LATE_ROWS || !rows.every(areSteady)) return null;
  /** By place in the row; their text is that of the table, and bound once. */
  const defaults: (Expression | undefined)[] = [];
  const bind = (ast: Ast, index: number): Expression =>
    ast.kind === "default" ? defaults[index] ??= bindCell(ast, index) : bindCell(ast, index);
  // What is wrong with a column, and not with one of its values, shows when the statement is prepared, and so does
  // whether it draws from sequences.
  rows[0]?.forEach(bind);
  for (const row of rows) row.forEach((ast, index) => ast.kind === "default" && bind(ast, index));
  const list: BoundFunction = {
    name: '"*VALUES*"',
    argumentTypes: [],
    returnType: { kind: "record", fields: [] },
    volatility: "stable",
    strict: false,
    mayReturnNull: true,
    evaluate: () => null,
    rowColumns: types.map((type, index) => ({ name: `column${index + 1}`, type })),
    heldBytes: rows.length * outputs.length * LITERAL_BYTES,
    *rows(context) {
      for (const row of rows) yield row.map((ast, index) => evaluate(bind(ast, index), context));
    },
  };
  return {
    kind: "function_scan",
    input: null,
    functions: [{ function: list, args: [], outputs }],
    ordinality: null,
    rows: rows.length,
  };
}

/** Finds out whether all of a list can be bound late; a literal that `normalize` has taken out is a parameter. */
function steadiness(isSteady: LateRows["isSteady"]): (list: readonly Ast[]) => boolean {
  /** By the name as it was written; all rows have the same ones. */
  const known = new Map<string, boolean>();
  const isSteadyCall = (call: FunctionCall): boolean => {
    const name = call.name.join("\0");
    const found = known.get(name) ?? isSteady(call);
    known.set(name, found);
    return found && call.over === null && call.filter === null && call.orderBy.length === 0 &&
      areSteady(call.arguments.map(({ value }) => value));
  };
  const is = (ast: Ast): boolean => {
    switch (ast.kind) {
      case "default":
      case "typed_literal":
        return true;
      case "literal":
        return ast.literalIndex === null;
      case "unary":
        return ast.schema === null && is(ast.operand);
      case "binary":
        return ast.schema === null && is(ast.left) && is(ast.right);
      case "cast":
        return is(ast.operand);
      case "array":
        return areSteady(ast.items);
      case "call":
        return isSteadyCall(ast);
      default:
        return false;
    }
  };
  const areSteady = (list: readonly Ast[]): boolean => list.every(is);
  return areSteady;
}
