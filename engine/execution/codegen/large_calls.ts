/**
 * Calls whose time grows with their arguments: the generated code looks at the lengths of those, and has the execution
 * compute what is on large values, which may be done by another thread.
 */
import { fixedCastSteps, fixedSteps } from "../../sql/functions/call_steps.ts";
import type { BoundCast, BoundFunction } from "../../sql/functions/definition.ts";
import { isSteadyCall } from "../../sql/fragments/steady_expression.ts";
import { physicalTypeOf } from "../../types/physical_type.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Emitter } from "./emitter.ts";

/** Shorter texts, bytes and arrays are never large; tests change it. */
export const largeValues = { leastLength: 1 << 16 };

/** Operators on texts and bytes that take some nanoseconds for a kilobyte. */
const QUICK: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">=", "||"]);

/** The JavaScript of a call in the place of one that is always computed here, which is what `here` is. */
export function largeCallCode(
  code: Emitter,
  called: BoundFunction | BoundCast,
  args: readonly string[],
  here: string,
): string {
  if (code.isMetered || !mayTakeLong(called)) return here;
  const types = "to" in called ? [called.from] : called.argumentTypes;
  const tests = args.flatMap((arg, index) =>
    /^[a-z]/.test(arg) && arg !== "null" && hasLength(types[index])
      ? [`${arg}?.length > ${largeValues.leastLength}`]
      : []
  );
  if (tests.length === 0) return here;
  return `(${tests.join(" || ")} ? S.callLarge(${
    [code.constant("called", called), ...args].join(", ")
  }) : ${here})`;
}

/** Whether a call on these values may be one of those. */
export function isLargeCall(called: BoundFunction | BoundCast, args: readonly SqlValue[]): boolean {
  return args.some((arg) => lengthOf(arg) > largeValues.leastLength) && mayTakeLong(called);
}

function lengthOf(value: SqlValue): number {
  return typeof value === "string" || value instanceof Uint8Array || value instanceof SqlArray
    ? value.length
    : -1;
}

function mayTakeLong(called: BoundFunction | BoundCast): boolean {
  if (!isSteadyCall(called)) return false;
  if ("to" in called) return fixedCastSteps(called) === null;
  return called.rows === undefined && fixedSteps(called) === null &&
    !(QUICK.has(called.name) && called.argumentTypes.every(isPlain));
}

function isPlain({ kind }: SqlType): boolean {
  return kind === "text" || kind === "varchar" || kind === "char" || kind === "bytea" || kind === "bytes";
}

function hasLength(type: SqlType | undefined): boolean {
  if (type === undefined) return false;
  const kind = physicalTypeOf(type);
  return kind.class === "text" || kind.class === "bytes" || kind.class === "array";
}
