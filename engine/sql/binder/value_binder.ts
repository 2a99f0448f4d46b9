/** Binding of values that stand by themselves: literals, parameters, `CURRENT_TIMESTAMP` and its like. */
import { unreachable } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { requireCollation } from "../functions/collations.ts";
import { findCast } from "../functions/casts.ts";
import { functionsNamed } from "../functions/registry.ts";
import type { Expression as Ast, Literal, SessionValue, TypedLiteral } from "../parser/ast.ts";
import { BOOLEAN, constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { coerceExplicit, literalType, readLiteral, settle } from "./coercion.ts";
import { bindExpression, callFunction } from "./expression_binder.ts";
import { resolveType } from "./names.ts";
import type { QueryLevel } from "./scope.ts";

/** A constant of the text; a lifted one becomes a parameter. */
export function bindLiteral(binding: Binding, ast: Literal): Expression {
  const lifted = ast.literalIndex !== null && binding.inOwnText &&
    ast.literalIndex < (binding.environment.literals?.length ?? 0);
  const type = literalType(ast.type, ast.text);
  if (lifted && ast.literalIndex !== null && ast.type !== "null" && ast.type !== "boolean") {
    if (ast.type === "bit_string" || ast.type === "hex_string") {
      throw binding.unsupported("bit string", ast.position);
    }
    const index = binding.parameterCount + ast.literalIndex;
    if (type.kind !== "unknown") binding.takeParameterType(index, type);
    const parameter: Expression = { kind: "parameter", type: binding.parameterTypes[index] ?? type, index };
    binding.positions.set(parameter, ast.position);
    return parameter;
  }
  switch (ast.type) {
    case "null":
      return constant({ kind: "unknown" }, null);
    case "boolean":
      return constant(BOOLEAN, ast.text === "true");
    case "string": {
      const literal = constant({ kind: "unknown" }, ast.text);
      binding.positions.set(literal, ast.position);
      return literal;
    }
    case "integer":
    case "decimal": {
      const cast = findCast({ kind: "unknown" }, type);
      const value = cast === undefined ? undefined : readLiteral(binding, cast, ast.text, ast.position);
      return constant(type, value ?? null);
    }
    case "bit_string":
    case "hex_string":
      throw binding.unsupported("bit string", ast.position);
    default:
      return unreachable(ast.type);
  }
}

/** `DATE '…'` and its like. */
export function bindTypedLiteral(binding: Binding, ast: TypedLiteral): Expression {
  const type = resolveType(binding, ast.type);
  const literal = constant({ kind: "unknown" }, ast.text);
  binding.positions.set(literal, ast.position);
  return coerceExplicit(binding, literal, type, ast.position);
}

/** `$n`. */
export function bindParameter(binding: Binding, number: number, position: number): Expression {
  const index = number - 1;
  if (number < 1 || number > 65535) {
    throw binding.error(SQLSTATE.undefinedParameter, `there is no parameter $${number}`, position);
  }
  if (!binding.useParameter(number)) {
    throw binding.error(SQLSTATE.undefinedParameter, `there is no parameter $${number}`, position);
  }
  const type = binding.parameterTypes[index] ?? { kind: "unknown" };
  const parameter: Expression = { kind: "parameter", type, index };
  binding.positions.set(parameter, position);
  return parameter;
}

const SESSION_FUNCTIONS: Readonly<Record<SessionValue["name"], string>> = {
  current_date: "current_date",
  current_time: "current_time",
  current_timestamp: "now",
  localtime: "localtime",
  localtimestamp: "localtimestamp",
  current_user: "current_user",
  session_user: "session_user",
  system_user: "current_user",
  user: "current_user",
  current_role: "current_user",
  current_catalog: "current_database",
  current_schema: "current_schema",
};

/** For times of the session without a function of their own: the cast of now(). */
const SESSION_TIMES: Readonly<Record<string, SqlType>> = {
  current_date: { kind: "date" },
  current_time: { kind: "time" },
  localtime: { kind: "time" },
  localtimestamp: { kind: "timestamp" },
};

/** `CURRENT_DATE` and its like. */
export function bindSessionValue(binding: Binding, ast: SessionValue): Expression {
  const name = SESSION_FUNCTIONS[ast.name];
  let value: Expression;
  const cast = SESSION_TIMES[name];
  if (cast !== undefined && functionsNamed(name).length === 0) {
    value = coerceExplicit(binding, callFunction(binding, "now", [], ast.position), cast, ast.position);
  } else {
    value = callFunction(binding, name, [], ast.position);
  }
  const { precision } = ast;
  const { type } = value;
  if (precision === null || precision >= 6) return value;
  if (type.kind !== "time" && type.kind !== "timestamp" && type.kind !== "timestamptz") return value;
  return coerceExplicit(binding, value, { kind: type.kind, precision }, ast.position);
}

/** `operand COLLATE name`: there is one order of texts, by code point. */
export function bindCollate(
  binding: Binding,
  level: QueryLevel,
  operandAst: Ast,
  collation: readonly string[],
  position: number,
): Expression {
  const operand = settle(binding, bindExpression(binding, level, operandAst));
  requireCollation(binding, operand.type, collation, position);
  return operand;
}
