/**
 * The list of all operators.
 */
import { arithmeticOperators } from "./arithmetic_operators.ts";
import { arrayOperators } from "./array_functions.ts";
import { comparisonOperators } from "./comparison_operators.ts";
import type { FunctionDefinition } from "./definition.ts";

/** All operators, in the order of the documentation. */
export const operatorDefinitions: readonly FunctionDefinition[] = [
  ...comparisonOperators,
  ...arithmeticOperators,
  ...arrayOperators,
];
