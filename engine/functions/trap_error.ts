/** What ends a call of a module early, as an error of SQL: traps by their kind, and gas that ran out. */
import { DatabaseError, SQLSTATE, type SqlState } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import { formatTypeFamily } from "../types/type_names.ts";
import type { ModuleCall } from "./loaded_module.ts";

/** Traps by what V8 says of them. */
const TRAPS: readonly (readonly [RegExp, SqlState, string])[] = [
  [/divide by zero|remainder by zero/, SQLSTATE.divisionByZero, "division by zero"],
  [/divide result unrepresentable/, SQLSTATE.numericValueOutOfRange, "integer overflow in a division"],
  [/float unrepresentable/, SQLSTATE.numericValueOutOfRange, "a float has no such integer"],
  [/memory access out of bounds/, SQLSTATE.externalRoutineException, "memory access out of bounds"],
  [
    /table index is out of bounds|table access out of bounds/,
    SQLSTATE.externalRoutineException,
    "table index out of bounds",
  ],
  [/null function|signature mismatch/, SQLSTATE.externalRoutineException, "indirect call of another type"],
  [/unreachable/, SQLSTATE.externalRoutineException, "unreachable"],
];

/** `f(integer, text)`. */
export function signatureText({ name, parameters }: UserFunctionDefinition): string {
  return `${name}(${parameters.map(({ type }) => formatTypeFamily(type)).join(", ")})`;
}

/** The error of what a call threw; what is no end of a call is thrown on. */
export function trapError(definition: UserFunctionDefinition, module: ModuleCall, error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  const name = signatureText(definition);
  if (module.isOutOfGas()) {
    return new DatabaseError(SQLSTATE.statementTooComplex, `function ${name} ran out of gas`, {
      detail: `One call may take ${definition.gas} instructions.`,
      hint: `Give the function more: CREATE OR REPLACE FUNCTION … GAS n, at most ${LIMITS.maximumWasmGas}.`,
    });
  }
  if (error instanceof RangeError) {
    return new DatabaseError(SQLSTATE.statementTooComplex, `function ${name} calls itself too deeply`, {
      cause: error,
    });
  }
  if (!(error instanceof WebAssembly.RuntimeError)) return error;
  const found = TRAPS.find(([pattern]) => pattern.test(error.message));
  const [, code, kind] = found ?? [null, SQLSTATE.externalRoutineException, error.message];
  return new DatabaseError(code, `function ${name} trapped: ${kind}`, { cause: error });
}
