/** ALTER COLUMN for columns whose values are made: identity columns and stored generated columns. */
import { assertDefined } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { AlterTableAction } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { changeSequence } from "./sequences.ts";

type Action<Kind extends AlterTableAction["kind"]> = Extract<AlterTableAction, { kind: Kind }>;

/** SET GENERATED, SET of a sequence's option, RESTART. Answers the changed column. */
export function alteredIdentity(
  binder: DefinitionBinder,
  table: TableDefinition,
  { column: name, always, options, position }: Action<"alter_identity">,
): ColumnDefinition {
  const column = binder.column(table, name, position);
  if (column.identity === null) {
    throw binder.error(
      SQLSTATE.objectNotInPrerequisiteState,
      `column "${name}" of relation "${table.name}" is not an identity column`,
      position,
    );
  }
  const sequence = column.sequenceId === null ? undefined : binder.catalog.sequence(column.sequenceId);
  changeSequence(binder, assertDefined(sequence, "an identity column's sequence"), options);
  return always === null ? column : { ...column, identity: always ? "always" : "by default" };
}

/** DROP EXPRESSION: the column keeps its values and becomes a plain one. Null: it is one already, and may be. */
export function withoutExpression(
  binder: DefinitionBinder,
  table: TableDefinition,
  { column: name, ifExists, position }: Action<"drop_expression">,
): ColumnDefinition | null {
  const column = binder.column(table, name, position);
  if (column.generatedText !== null) return { ...column, generatedText: null };
  const message = `column "${name}" of relation "${table.name}" is not a stored generated column`;
  if (!ifExists) throw binder.error(SQLSTATE.objectNotInPrerequisiteState, message, position);
  binder.notice(SQLSTATE.successfulCompletion, `${message}, skipping`);
  return null;
}
