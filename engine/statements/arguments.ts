/** Values for the parameters of a statement that no plan is made for. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";

/** The values with their types, `$1` first. */
export interface Arguments {
  readonly types: readonly SqlType[];
  readonly values: readonly SqlValue[];
}

/** For a statement that was given none. */
export const NO_ARGUMENTS: Arguments = { types: [], values: [] };

/** Raises 42P02 when a statement has parameters without a value. */
export function requireArguments(types: readonly SqlType[], given: Arguments): void {
  if (types.length <= given.values.length) return;
  throw new DatabaseError(
    SQLSTATE.undefinedParameter,
    `there is no parameter $${given.values.length + 1}`,
    { hint: "Use the extended protocol, or PREPARE and EXECUTE." },
  );
}
