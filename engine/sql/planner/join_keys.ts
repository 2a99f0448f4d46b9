/**
 * Join conditions taken apart: equalities between the sides, which hashing can use, and the rest.
 */
import type { SqlType } from "../../types/sql_type.ts";
import { conjunction, conjuncts, sameType, volatilityOf } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { columnsOf } from "../plan/traverse.ts";
import { isSameForm } from "./key_form.ts";
import { refersTo } from "./outer_joins.ts";
import { convertExactly } from "./simplify.ts";

/** The parts of a join's condition. */
export interface JoinKeys {
  readonly leftKeys: readonly Expression[];
  readonly rightKeys: readonly Expression[];
  readonly residual: Expression | null;
}

/** Finds the equalities between two sets of columns. References to neither set are constants of the join. */
export function joinKeys(
  condition: Expression | null,
  left: ReadonlySet<ColumnRef>,
  right: ReadonlySet<ColumnRef>,
): JoinKeys {
  const leftKeys: Expression[] = [];
  const rightKeys: Expression[] = [];
  const residual: Expression[] = [];
  for (const part of conjuncts(condition)) {
    const pair = keyPair(part, left, right);
    if (pair === null) residual.push(part);
    else {
      leftKeys.push(pair[0]);
      rightKeys.push(pair[1]);
    }
  }
  return { leftKeys, rightKeys, residual: conjunction(residual) };
}

function keyPair(
  part: Expression,
  left: ReadonlySet<ColumnRef>,
  right: ReadonlySet<ColumnRef>,
): readonly [Expression, Expression] | null {
  if (part.kind !== "call" || part.function.name !== "=" || volatilityOf(part) === "volatile") return null;
  const [a, b] = part.args;
  if (a === undefined || b === undefined) return null;
  const isOnly = (each: Expression, own: ReadonlySet<ColumnRef>, other: ReadonlySet<ColumnRef>) =>
    columnsOf(each).size > 0 && refersTo(each, own) && !refersTo(each, other);
  if (isOnly(a, left, right) && isOnly(b, right, left)) return sameRepresentation(a, b);
  if (isOnly(b, left, right) && isOnly(a, right, left)) return sameRepresentation(b, a);
  return null;
}

/** Both keys in one representation, so that equal values hash alike; null when they have none in common. */
export function sameRepresentation(
  left: Expression,
  right: Expression,
): readonly [Expression, Expression] | null {
  if (sameType(left.type, right.type) || isSameForm(left.type, right.type)) {
    return left.type.kind === "record" || left.type.kind === "json" ? null : [left, right];
  }
  const common = commonScale(left.type, right.type);
  if (common !== undefined) {
    const [a, b] = [convertExactly(left, common), convertExactly(right, common)];
    return a === undefined || b === undefined ? null : [a, b];
  }
  return left.type.kind === right.type.kind && left.type.kind !== "record" && left.type.kind !== "json" &&
      left.type.kind !== "numeric"
    ? [left, right]
    : null;
}

function commonScale(left: SqlType, right: SqlType): SqlType | undefined {
  if (left.kind !== "numeric" || right.kind !== "numeric") return undefined;
  if (left.scale === undefined || right.scale === undefined) return { kind: "numeric" };
  return { kind: "numeric", scale: Math.max(left.scale, right.scale) };
}
