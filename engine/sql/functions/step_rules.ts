/**
 * Functions and operators whose steps do not follow from the sizes of arguments and result at the usual rate. See
 * `call_steps.ts`.
 */
import type { SqlValue } from "../../types/value.ts";

/** How the steps of a function are counted. */
export interface StepRule {
  /** Its steps, whatever the arguments are. */
  readonly fixed?: number;
  /** Steps of each call, 1 if absent. */
  readonly base?: number;
  /** Units of the arguments' size that a step handles. */
  readonly rate?: number;
  /** The same for the result. */
  readonly resultRate?: number;
  /** Further steps that the arguments ask for. */
  readonly before?: (...args: SqlValue[]) => number;
}

/** By name; casts are `::type` or `type::`. */
export const STEP_RULES: ReadonlyMap<string, StepRule> = new Map<string, StepRule>([
  ["repeat", { before: (text, count) => (String(text).length * Math.max(0, Number(count))) / 32 }],
]);
