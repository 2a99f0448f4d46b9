/** WITH (…) of CREATE VIEW. */
import { SQLSTATE } from "../../base/errors.ts";
import { truthOf } from "../../types/scalar_text.ts";
import type { NamedOption } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** There are no roles and no functions that leak, so that these change nothing. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(["security_barrier", "security_invoker"]);

/** Raises 22023 for options that PostgreSQL does not know, 0A000 for those that are not served. */
export function checkViewOptions(binder: DefinitionBinder, options: readonly NamedOption[]): void {
  const seen = new Set<string>();
  for (const { name, value, position } of options) {
    const invalid = (message: string) => binder.error(SQLSTATE.invalidParameterValue, message, position);
    const [namespace, dotted] = name.split(".");
    if (dotted !== undefined) throw invalid(`unrecognized parameter namespace "${namespace}"`);
    if (name === "check_option") throw binder.unsupported("WITH CHECK OPTION", position);
    if (!WITHOUT_EFFECT.has(name)) throw invalid(`unrecognized parameter "${name}"`);
    if (seen.has(name)) throw invalid(`parameter "${name}" specified more than once`);
    seen.add(name);
    if (value !== null && truthOf(value) === undefined) {
      throw invalid(`invalid value for boolean option "${name}": ${value}`);
    }
  }
}
