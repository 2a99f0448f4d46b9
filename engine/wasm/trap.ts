/** What ends a call of a WebAssembly function early, as an error of the database. */
import { DatabaseError, SQLSTATE, type SqlState } from "../base/errors.ts";

/** Kinds of traps, by the words of WebAssembly's specification. */
export type TrapKind =
  | "unreachable"
  | "integer divide by zero"
  | "integer overflow"
  | "invalid conversion to integer"
  | "out of bounds memory access"
  | "out of bounds table access"
  | "uninitialized element"
  | "indirect call type mismatch"
  | "out of gas"
  | "call stack exhausted"
  | "out of memory"
  | "trap";

/** V8's messages, each in its kind; another engine's end as "trap". */
const MESSAGES: readonly (readonly [RegExp, TrapKind])[] = [
  [/^unreachable/, "unreachable"],
  [/^(divide|remainder) by zero/, "integer divide by zero"],
  [/^divide result unrepresentable/, "integer overflow"],
  [/^float unrepresentable/, "invalid conversion to integer"],
  [/^memory access out of bounds/, "out of bounds memory access"],
  [/^table index is out of bounds/, "out of bounds table access"],
  [/^null function/, "uninitialized element"],
  [/^function signature mismatch/, "indirect call type mismatch"],
];

/** The kind of a trap by the engine's error; `undefined` when the error is no trap. */
export function trapKind(error: unknown): TrapKind | undefined {
  if (error instanceof RangeError) return "call stack exhausted";
  if (!(error instanceof WebAssembly.RuntimeError)) return undefined;
  return MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1] ?? "trap";
}

/** Traps that SQL has a code for. */
const TRAP_CODES: Partial<Readonly<Record<TrapKind, SqlState>>> = {
  "integer divide by zero": SQLSTATE.divisionByZero,
  "integer overflow": SQLSTATE.numericValueOutOfRange,
  "invalid conversion to integer": SQLSTATE.numericValueOutOfRange,
};

/** The error of the database for a trap in a function. */
export function trapError(name: string, kind: TrapKind, gas: number): DatabaseError {
  switch (kind) {
    case "out of gas":
      return new DatabaseError(
        SQLSTATE.statementTooComplex,
        `WebAssembly function "${name}" ran out of gas`,
        {
          detail: `It may run ${gas} instructions in a call.`,
          hint: "Raise its GAS, or give it less to do.",
        },
      );
    case "call stack exhausted":
      return new DatabaseError(
        SQLSTATE.statementTooComplex,
        `WebAssembly function "${name}" exceeded the depth of calls`,
      );
    case "out of memory":
      return new DatabaseError(SQLSTATE.outOfMemory, `WebAssembly function "${name}" could not get memory`);
    default:
      return new DatabaseError(
        TRAP_CODES[kind] ?? SQLSTATE.externalRoutineException,
        `WebAssembly function "${name}" trapped: ${kind}`,
      );
  }
}
