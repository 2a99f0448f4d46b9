/** How messages name a user-defined function. */
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import { formatTypeFamily } from "../types/type_names.ts";

/** `f(integer, text)`. */
export function signatureText(
  { name, parameters }: Pick<UserFunctionDefinition, "name" | "parameters">,
): string {
  return `${name}(${parameters.map(({ type }) => formatTypeFamily(type)).join(", ")})`;
}
