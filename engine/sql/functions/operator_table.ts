/**
 * The list of all operators.
 */
import { arithmeticOperators } from "./arithmetic_operators.ts";
import { arrayOperators } from "./array_functions.ts";
import { comparisonOperators } from "./comparison_operators.ts";
import { concatenationOperators } from "./concatenation_operators.ts";
import { dateTimeOperators } from "./date_time_operators.ts";
import type { FunctionDefinition } from "./definition.ts";
import { jsonOperators } from "./json_functions.ts";
import { jsonbOperators } from "./jsonb_functions.ts";
import { jsonPathOperators } from "./json_path_functions.ts";
import { patternOperators } from "./pattern_functions.ts";

/** All operators, in the order of the documentation. */
export const operatorDefinitions: readonly FunctionDefinition[] = [
  ...comparisonOperators,
  ...arithmeticOperators,
  ...concatenationOperators,
  ...patternOperators,
  ...dateTimeOperators,
  ...arrayOperators,
  ...jsonOperators,
  ...jsonbOperators,
  ...jsonPathOperators,
];
