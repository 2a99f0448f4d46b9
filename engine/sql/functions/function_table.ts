/**
 * The list of all functions that are not aggregates.
 */
import { arrayFunctions } from "./array_functions.ts";
import { binaryFunctions } from "./binary_functions.ts";
import { dateTimeFunctions } from "./date_time_functions.ts";
import type { FunctionDefinition } from "./definition.ts";
import { enumFunctions } from "./enum_functions.ts";
import { formattingFunctions } from "./formatting_functions.ts";
import { jsonFunctions } from "./json_functions.ts";
import { jsonbFunctions } from "./jsonb_functions.ts";
import { jsonPathFunctions } from "./json_path_functions.ts";
import { jsonRecordFunctions } from "./json_record_functions.ts";
import { mathematicalFunctions } from "./mathematical_functions.ts";
import { patternFunctions } from "./pattern_functions.ts";
import { setFunctions } from "./set_functions.ts";
import { catalogInquiryFunctions } from "./catalog_inquiry_functions.ts";
import { systemFunctions } from "./system_functions.ts";
import { textFunctions } from "./text_functions.ts";

/** All functions, in the order of the documentation. */
export const functionDefinitions: readonly FunctionDefinition[] = [
  ...mathematicalFunctions,
  ...textFunctions,
  ...patternFunctions,
  ...binaryFunctions,
  ...dateTimeFunctions,
  ...formattingFunctions,
  ...arrayFunctions,
  ...jsonFunctions,
  ...jsonbFunctions,
  ...jsonPathFunctions,
  ...jsonRecordFunctions,
  ...enumFunctions,
  ...setFunctions,
  ...systemFunctions,
  ...catalogInquiryFunctions,
];
