/**
 * Long lists of VALUES whose cells are literals, or for an INSERT DEFAULT and what follows from literals: each row
 * is bound when its turn comes to be written, and forgotten. Expressions for all of them would take a hundred
 * times the memory of the text, and every look at the plan seconds in which nobody else has a turn.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { BoundFunction, Volatility } from "../functions/definition.ts";
import type { Expression as Ast, FunctionCall } from "../parser/ast.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { literalType } from "./coercion.ts";
import { evaluate } from "./evaluate.ts";

/** Shorter lists of queries are bound at once, so that what is known of their values serves the plan. */
const LATE_ROWS = 1000;
/** Those of INSERT, for each of whose rows there would be code. */
const LATE_INSERTED_ROWS = 64;
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
  /** What a call's function is, which may be of any arguments; null: it is to be bound with the statement. */
  volatilityOf(call: FunctionCall): Volatility | null;
  readonly isInsert?: true;
}

/** A plan that binds the rows one by one; null: they are few, or have parameters, subqueries or users' functions. */
export function lateRows({ rows, outputs, types, bindCell, volatilityOf, isInsert }: LateRows): Plan | null {
  if (rows.length <= (isInsert ? LATE_INSERTED_ROWS : LATE_ROWS)) return null;
  const volatility = lateVolatility(rows, volatilityOf);
  if (volatility === null) return null;
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
    volatility,
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

/** The types of each column of long lists of literals, each once; null: the list is short, or has something else. */
export function literalColumns(rows: LateRows["rows"]): SqlType[][] | null {
  if (rows.length <= LATE_ROWS) return null;
  const columns: Map<string, SqlType>[] = (rows[0] ?? []).map(() => new Map());
  for (const row of rows) {
    for (let index = 0; index < row.length; index++) {
      const ast = row[index];
      if (ast?.kind !== "literal" || ast.literalIndex !== null) return null;
      if (ast.type === "bit_string" || ast.type === "hex_string") return null;
      const isSmall = ast.type === "integer" && ast.text.length < 10;
      const type = isSmall ? SMALL : literalType(ast.type, ast.text);
      const key = type.kind === "numeric" ? JSON.stringify(type) : type.kind;
      const known = columns[index];
      if (known !== undefined && !known.has(key)) known.set(key, type);
    }
  }
  return columns.map((known) => [...known.values()]);
}

const SMALL: SqlType = { kind: "i32" };

/**
 * Whether all of the rows can be bound late, and whether a call among them is volatile. A literal that `normalize` has
 * taken out is a parameter.
 */
function lateVolatility(
  rows: LateRows["rows"],
  volatilityOf: LateRows["volatilityOf"],
): "stable" | "volatile" | null {
  /** By the name as it was written; all rows have the same ones. */
  const known = new Map<string, Volatility | null>();
  let volatility: "stable" | "volatile" = "stable";
  const isLateCall = (call: FunctionCall): boolean => {
    const name = call.name.join("\0");
    let found = known.get(name);
    if (found === undefined) known.set(name, found = volatilityOf(call));
    if (found === "volatile") volatility = found;
    return found !== null && call.over === null && call.filter === null && call.orderBy.length === 0 &&
      areLate(call.arguments.map(({ value }) => value));
  };
  const isLate = (ast: Ast): boolean => {
    switch (ast.kind) {
      case "default":
      case "typed_literal":
        return true;
      case "literal":
        return ast.literalIndex === null;
      case "unary":
        return ast.schema === null && isLate(ast.operand);
      case "binary":
        return ast.schema === null && isLate(ast.left) && isLate(ast.right);
      case "cast":
        return isLate(ast.operand);
      case "array":
        return areLate(ast.items);
      case "call":
        return isLateCall(ast);
      case "conditional":
        return areLate(ast.arguments);
      case "case":
        return areLate(ast.branches.flatMap(({ condition, result }) => [condition, result])) &&
          (ast.operand === null || isLate(ast.operand)) && (ast.otherwise === null || isLate(ast.otherwise));
      case "session_value":
        return true;
      default:
        return false;
    }
  };
  const areLate = (list: readonly Ast[]): boolean => list.every(isLate);
  return rows.every(areLate) ? volatility : null;
}
