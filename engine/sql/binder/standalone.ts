/**
 * Binding of expressions outside of a query: arguments of EXECUTE, defaults and checks in DDL, type names.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import type { SqlValue } from "../../types/value.ts";
import { hasSubquery } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Expression as Ast, TypeName } from "../parser/ast.ts";
import { Binding } from "./binding.ts";
import { tryCoerce } from "./coercion.ts";
import { settle } from "./coercion.ts";
import type { PlanningEnvironment } from "./environment.ts";
import { evaluate } from "./evaluate.ts";
import { bindExpression } from "./expression_binder.ts";
import { foldingContext } from "./folding_context.ts";
import { resolveType } from "./names.ts";
import { type Clause, QueryLevel } from "./scope.ts";
import { bindTableText } from "./table_expressions.ts";

/** The type of a parsed type name; 42704 with a suggestion. */
export function typeOfName(name: TypeName, catalog: Catalog, searchPath: readonly string[]): SqlType {
  return resolveType(new Binding({ catalog, searchPath }), name);
}

/**
 * Binds an expression without columns, converted to `type` by assignment when one is given.
 *
 * @throws {DatabaseError} 42804 when the value does not convert, 0A000 for subqueries.
 */
export function bindStandaloneExpression(
  ast: Ast,
  type: SqlType | null,
  environment: PlanningEnvironment,
  clause: Clause = "DEFAULT expressions",
): Expression {
  const binding = new Binding(environment);
  const level = new QueryLevel(null, null);
  level.clause = clause;
  const bound = bindExpression(binding, level, ast);
  if (hasSubquery(bound)) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      clause === "DEFAULT expressions"
        ? "cannot use subquery in DEFAULT expression"
        : `cannot use subquery in ${clause}`,
      ast.position,
    );
  }
  if (type === null) return settle(binding, bound);
  const result = tryCoerce(binding, bound, type, "assignment");
  if (result !== undefined) return result;
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    `cannot convert type ${formatTypeFamily(bound.type)} to ${formatTypeFamily(type)}`,
    ast.position,
  );
}

/** Binds a text of a table's definition over a row of the table whose columns are under the given numbers. */
export function bindTableExpression(
  text: string,
  table: TableDefinition,
  refs: readonly ColumnRef[],
  environment: PlanningEnvironment,
  clause: Clause = "check constraints",
): Expression {
  return bindTableText(new Binding(environment), table, text, refs, clause);
}

/** The values of EXECUTE's arguments, each in its parameter's type. */
export function bindConstantArguments(
  args: readonly Ast[],
  types: readonly SqlType[],
  environment: PlanningEnvironment,
): SqlValue[] {
  return args.map((ast, index) => {
    const type = types[index] ?? { kind: "text" };
    const binding = new Binding(environment);
    const level = new QueryLevel(null, null);
    level.clause = "EXECUTE parameters";
    const bound = bindExpression(binding, level, ast);
    const converted = tryCoerce(binding, bound, type, "assignment");
    if (converted === undefined) {
      throw binding.error(
        SQLSTATE.datatypeMismatch,
        `parameter $${index + 1} of type ${
          formatTypeFamily(bound.type)
        } cannot be coerced to the expected type ${formatTypeFamily(type)}`,
        ast.position,
        { hint: "You will need to rewrite or cast the expression." },
      );
    }
    if (hasSubquery(converted)) {
      throw binding.error(
        SQLSTATE.featureNotSupported,
        "cannot use subquery in EXECUTE parameter",
        ast.position,
      );
    }
    return evaluate(converted, environment.evaluation ?? foldingContext);
  });
}
