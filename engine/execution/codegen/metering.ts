/**
 * How generated code counts the steps of an evaluation (see `engine/base/gas.ts`): around it, and in its calls. Who
 * begins an evaluation is in `gas_code.ts`.
 */
import { gas, type GasPlace } from "../../base/gas.ts";
import { metered, meteredCast, meteredWithPattern } from "../../sql/functions/call_steps.ts";
import type { BoundCast, BoundFunction } from "../../sql/functions/definition.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { stepsOn } from "../../sql/plan/expression_steps.ts";
import type { Emitter } from "./emitter.ts";

/** Emits an evaluation, `steps` of which are known beforehand. */
export function emitCounted(code: Emitter, place: GasPlace, steps: number, emit: () => void): void {
  const counter = code.constant("gas", gas);
  const outer = code.define("outer", `${counter}.begin(${code.constant("place", place)}, ${steps})`);
  code.block("try ", "conditional", emit);
  code.emit(`finally { ${counter}.end(${outer}); }`);
}

/** Emits a charge of steps that are a JavaScript expression, if steps are counted. */
export function emitCharge(code: Emitter, steps: string): void {
  if (code.isMetered) code.emit(`${code.constant("gas", gas)}.charge(${steps});`);
}

/** The function to call in place of one that is called with these arguments. */
export function meteredOn(code: Emitter, called: BoundFunction, args: readonly Expression[]): BoundFunction {
  if (!code.isMetered || stepsOn(called, args) !== null) return called;
  const [, pattern] = args;
  return (pattern?.kind === "constant" ? meteredWithPattern(called, pattern.value) : null) ?? metered(called);
}

/** The same for a cast. */
export function meteredCastOf(code: Emitter, cast: BoundCast, argument: Expression): BoundCast {
  return code.isMetered && argument.kind !== "constant" ? meteredCast(cast) : cast;
}

/** A part that is computed once in an execution: it has steps of its own. */
export function emitConstantPart(code: Emitter, emit: () => void): void {
  if (code.isMetered) emitCounted(code, CONSTANT_PART, 0, emit);
  else emit();
}

const CONSTANT_PART: GasPlace = { what: "constant expression" };
