/** Names of collations. Text has one order, that of its code points; every name that is known means it. */
import { type DatabaseError, SQLSTATE, type SqlState } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";

const COLLATIONS: ReadonlySet<string> = new Set(["C", "POSIX", "default", "ucs_basic", "C.UTF-8"]);

/** What makes errors with a position in the statement. */
export interface ErrorMaker {
  error(code: SqlState, message: string, offset?: number): DatabaseError;
}

/** Raises 42704 for an unknown collation, 42804 for a type that has none; an empty name is none. */
export function requireCollation(
  errors: ErrorMaker,
  type: SqlType,
  collation: readonly string[],
  offset: number,
): void {
  const name = collation.at(-1);
  if (name === undefined) return;
  if (!COLLATIONS.has(name)) {
    throw errors.error(
      SQLSTATE.undefinedObject,
      `collation "${collation.join(".")}" for encoding "UTF8" does not exist`,
      offset,
    );
  }
  if (isCollatable(type)) return;
  throw errors.error(
    SQLSTATE.datatypeMismatch,
    `collations are not supported by type ${formatTypeFamily(type)}`,
    offset,
  );
}

/** Whether texts of a type, or in an array of it, have an order that a collation decides. */
export function isCollatable(type: SqlType): boolean {
  const base = type.kind === "array" ? type.element : type;
  return ["text", "varchar", "char", "name", "unknown"].includes(base.kind);
}
