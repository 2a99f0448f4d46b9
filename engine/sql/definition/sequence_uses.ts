/**
 * Which sequences a text of the catalog uses: `nextval('s')` and its like name them by a literal, so that a sequence
 * cannot be dropped from under a default or a view. A name that is computed creates no dependency, as in PostgreSQL.
 */
import type { ColumnDefinition, TableDefinition, ViewDefinition } from "../../catalog/definitions.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { parseIdentifier } from "../functions/parse_identifier.ts";
import type { Expression, ObjectName } from "../parser/ast.ts";
import { parseExpression, parseStatement } from "../parser/statements.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { relationLiteral } from "./stored_names.ts";

/** A default that draws from a sequence. */
export interface SequenceUser {
  readonly table: TableDefinition;
  readonly column: ColumnDefinition;
}

/** Defaults that name a sequence, not those of identity columns. */
export function defaultsUsing(binder: DefinitionBinder, sequenceId: number): readonly SequenceUser[] {
  return binder.catalog.tables.flatMap((table) =>
    table.columns.filter((column) =>
      column.identity === null &&
      (column.sequenceId === sequenceId ||
        (column.defaultText !== null && names(binder, parseExpression(column.defaultText), sequenceId)))
    ).map((column) => ({ table, column }))
  );
}

/** Views that name a sequence. */
export function viewsUsing(binder: DefinitionBinder, sequenceId: number): readonly ViewDefinition[] {
  return binder.catalog.views.filter((view) =>
    names(binder, parseStatement(view.text).statement, sequenceId)
  );
}

/** 42P01 when a default draws from a sequence that is not there, 42809 from what is none. */
export function requireSequences(binder: DefinitionBinder, ast: Expression): void {
  for (const name of sequenceNames(ast)) {
    const found = binder.find(name);
    if (found === undefined) throw binder.missing(name);
  }
}

function names(binder: DefinitionBinder, node: unknown, sequenceId: number): boolean {
  return sequenceNames(node).some((name) => {
    const found = binder.find(name);
    return found?.kind === "sequence" && found.sequence.id === sequenceId;
  });
}

/** The names of sequences in a syntax tree. */
function sequenceNames(node: unknown): ObjectName[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(sequenceNames);
  const literal = relationLiteral(node as Expression);
  const own = literal === null ? null : objectName(literal.text, literal.position);
  return own === null ? Object.values(node).flatMap(sequenceNames) : [own];
}

/** The name in a literal; null for a number and for what is no name. */
function objectName(text: string, position: number): ObjectName | null {
  try {
    const [name = "", schema = null] = parseIdentifier(text, true).toReversed();
    return { catalog: null, schema, name, position };
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SQLSTATE.invalidParameterValue) return null;
    throw error;
  }
}
