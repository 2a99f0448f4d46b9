/**
 * The operator || on text and bytes; on arrays it is in `array_functions.ts`, on `jsonb` in `jsonb_functions.ts`.
 */
import { concatBytes } from "./binary_functions.ts";
import { maximumTextLength, textTooLong } from "./characters.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const text = {
  name: "||",
  returns: "text",
  category: "text",
  summary: "Both texts one after the other.",
} as const;

function concatText(left: string, right: string): string {
  if (left.length + right.length > maximumTextLength) throw textTooLong();
  return left + right;
}

/** A value of another type is converted to text first, as by an explicit cast. */
function withOther(takes: string): Overload {
  return {
    ...text,
    takes,
    volatility: "stable",
    specialize: () => ({ argumentTypes: [{ kind: "text" }, { kind: "text" }], run: concatText }),
  };
}

/** The operator || on text and bytes. */
export const concatenationOperators: readonly FunctionDefinition[] = [
  { ...text, takes: "text, text", run: concatText },
  withOther("text, anynonarray"),
  withOther("anynonarray, text"),
  {
    name: "||",
    takes: "bytea, bytea",
    returns: "bytea",
    category: "binary",
    summary: "Both byte strings one after the other.",
    run: concatBytes,
  } as const,
].map(defineFunction);
