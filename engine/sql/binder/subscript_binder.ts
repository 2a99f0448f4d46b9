/**
 * Subscripts: elements and slices of arrays, parts of JSON documents, characters of names.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import { constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Expression as Ast, Subscript } from "../parser/ast.ts";
import type { Binding } from "./binding.ts";
import { coerceExplicit, coerceImplicit, isUnknown, tryCoerce } from "./coercion.ts";
import { bindBinary, bindExpression, callFunction } from "./expression_binder.ts";
import type { QueryLevel } from "./scope.ts";

/** `value[i]`, `value[i:j]` and chains of them. */
export function bindSubscript(binding: Binding, level: QueryLevel, ast: Subscript): Expression {
  const layers: Subscript[] = [];
  let base: Ast = ast;
  for (let chain: Ast = ast, isWhole = false; chain.kind === "subscript" && !isWhole; chain = base) {
    layers.unshift(chain);
    base = chain.operand;
    isWhole = chain.startsChain;
  }
  const argument = bindExpression(binding, level, base);
  const { type } = argument;
  if (type.kind === "jsonb" || type.kind === "json") {
    return bindJsonSubscripts(binding, level, argument, layers);
  }
  if (type.kind === "name" && ast.upper !== null && layers.length === 1 && !ast.isSlice) {
    return bindNameCharacter(binding, argument, bindExpression(binding, level, ast.upper), ast.position);
  }
  if (type.kind !== "array") {
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `cannot subscript type ${formatTypeFamily(type)} because it does not support subscripting`,
      ast.position,
    );
  }
  const bound = (each: Ast | null): Expression | null =>
    each === null ? null : coerceSubscript(binding, bindExpression(binding, level, each), each.position);
  const isSlice = layers.some((layer) => layer.isSlice);
  const subscripts = layers.map((layer) => {
    if (layer.isSlice) return { lower: bound(layer.lower), upper: bound(layer.upper) };
    const index = bound(layer.upper) ?? constant({ kind: "i32" }, null);
    // In a slice, a plain subscript n stands for 1:n.
    return isSlice ? { lower: constant({ kind: "i32" }, 1), upper: index } : { index };
  });
  return { kind: "subscript", type: isSlice ? type : type.element, argument, subscripts };
}

/** `document['a'][0]`: the part at a path of keys and indexes; NULL when there is none, as in a scalar. */
function bindJsonSubscripts(
  binding: Binding,
  level: QueryLevel,
  document: Expression,
  layers: readonly (Ast & { readonly kind: "subscript" })[],
): Expression {
  const element = { kind: "text" } as const;
  const elements = layers.map(({ isSlice, upper, position }) => {
    if (isSlice || upper === null) {
      const message = "jsonb subscript does not support slices";
      throw binding.error(SQLSTATE.datatypeMismatch, message, position);
    }
    const key = bindExpression(binding, level, upper);
    const index = isUnknown(key) ? undefined : tryCoerce(binding, key, { kind: "i32" }, "implicit");
    const subscript = index ?? tryCoerce(binding, key, element, "implicit");
    if (subscript !== undefined) return coerceExplicit(binding, subscript, element, position);
    const name = formatTypeFamily(key.type);
    throw binding.error(SQLSTATE.datatypeMismatch, `subscript type ${name} is not supported`, position, {
      hint: "jsonb subscript must be coercible to either integer or text.",
    });
  });
  const path: Expression = { kind: "array", type: { kind: "array", element }, elements };
  return bindBinary(binding, "#>", document, path, layers[0]?.position ?? 0);
}

/** `typname[0]`: a name is an array of "char" that starts at 0. */
function bindNameCharacter(
  binding: Binding,
  argument: Expression,
  index: Expression,
  position: number,
): Expression {
  const text = coerceImplicit(binding, argument, { kind: "text" }, position);
  const start = bindBinary(
    binding,
    "+",
    coerceSubscript(binding, index, position),
    constant({ kind: "i32" }, 1),
    position,
  );
  const character = callFunction(binding, "substr", [text, start, constant({ kind: "i32" }, 1)], position);
  return tryCoerce(binding, character, { kind: "internal_char" }, "explicit") ?? character;
}

function coerceSubscript(binding: Binding, expression: Expression, offset: number): Expression {
  const result = tryCoerce(binding, expression, { kind: "i32" }, "assignment");
  if (result !== undefined) return result;
  throw binding.error(SQLSTATE.datatypeMismatch, "array subscript must have type integer", offset);
}
