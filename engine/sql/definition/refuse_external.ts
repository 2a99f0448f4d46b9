/** What cannot be done to an external source, whose rows and columns REFRESH alone may change. */
import { SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** Raises 42809 when the table is an external source, whose rows and columns REFRESH alone may change. */
export function refuseExternal(
  binder: DefinitionBinder,
  table: TableDefinition,
  verb: "alter" | "truncate" | "create a trigger on",
  position?: number,
): void {
  if (table.external === undefined) return;
  throw binder.error(SQLSTATE.wrongObjectType, `cannot ${verb} external source "${table.name}"`, position, {
    ...(verb === "alter" ? { hint: "Drop the external source and create it again." } : {}),
  });
}
