/** Columns of CREATE TABLE and ADD COLUMN: types, defaults, serial and identity sequences, generated columns. */
import { SQLSTATE } from "../../base/errors.ts";
import {
  type ColumnDefinition,
  plainColumn,
  type SequenceDefinition,
  type TableDefinition,
} from "../../catalog/definitions.ts";
import { serialTypeOf } from "../../types/type_names.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { requireCollation } from "../functions/collations.ts";
import type { ColumnDefinition as ColumnAst, ObjectName, SequenceOptions } from "../parser/ast.ts";
import { quoteIdentifier } from "../parser/keywords.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { walkExpression } from "./definition_binder.ts";
import { requireSequences } from "./sequence_uses.ts";
import { sequenceDefinition } from "./sequences.ts";

/** A column, and the sequence it owns. */
export interface NewColumn {
  readonly column: ColumnDefinition;
  readonly sequence: SequenceDefinition | null;
}

/** Options of a sequence that says nothing. */
export const PLAIN_SEQUENCE: SequenceOptions = {
  type: null,
  increment: null,
  minimum: null,
  maximum: null,
  start: null,
  cache: null,
  cycle: null,
  ownedBy: null,
  restart: null,
  name: null,
};

/** The definition of a new column of the table (which is there without it). Generated expressions are bound later. */
export function newColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: ColumnAst,
  id: number,
): NewColumn {
  const typeName = ast.type.name.length === 1 ? ast.type.name[0] ?? "" : "";
  const serial = ast.type.arrayDimensions === 0 ? serialTypeOf(typeName) : undefined;
  const type = serial ?? binder.type(ast.type);
  requireStorable(binder, type, ast);
  requireCollation(binder, type, ast.collation, ast.position);
  const both = (what: string) =>
    binder.error(
      SQLSTATE.syntaxError,
      `both default and ${what} specified for column "${ast.name}" of table "${table.name}"`,
      ast.position,
    );
  if (ast.identity !== null && (ast.default !== null || serial !== undefined)) throw both("identity");
  if (ast.identity !== null && ast.notNull === false) {
    throw binder.error(
      SQLSTATE.syntaxError,
      `conflicting NULL/NOT NULL declarations for column "${ast.name}" of table "${table.name}"`,
      ast.position,
    );
  }
  let defaultText = ast.defaultText;
  const given = ast.default;
  if (given !== null) {
    if (serial !== undefined) {
      throw binder.error(
        SQLSTATE.syntaxError,
        `multiple default values specified for column "${ast.name}" of table "${table.name}"`,
        ast.position,
      );
    }
    binder.bind(given, null, "DEFAULT expressions", { type, column: ast.name });
    binder.once(() => requireSequences(binder, given));
  }
  let sequence: SequenceDefinition | null = null;
  if (serial !== undefined || ast.identity !== null) {
    if (ast.identity !== null && (type.kind !== "i16" && type.kind !== "i32" && type.kind !== "i64")) {
      throw binder.error(
        SQLSTATE.invalidParameterValue,
        "identity column type must be smallint, integer, or bigint",
        ast.position,
      );
    }
    sequence = ownedSequence(binder, table, ast.name, id, type, ast.identity?.options ?? PLAIN_SEQUENCE);
    if (serial !== undefined) defaultText = nextValueText(sequence);
  }
  return {
    sequence,
    column: plainColumn(id, ast.name, type, {
      notNull: ast.notNull === true || serial !== undefined || ast.identity !== null,
      defaultText,
      identity: ast.identity === null ? null : ast.identity.always ? "always" : "by default",
      generatedText: ast.generated?.text ?? null,
      sequenceId: sequence?.id ?? null,
    }),
  };
}

/** The sequence behind a serial or identity column. */
export function ownedSequence(
  binder: DefinitionBinder,
  table: TableDefinition,
  columnName: string,
  columnId: number,
  type: SqlType,
  options: SequenceOptions,
): SequenceDefinition {
  const name = options.name === null
    ? binder.freeName(table.schema, [table.name, columnName], "seq")
    : givenName(binder, table, options.name);
  if (options.type !== null) {
    throw binder.error(SQLSTATE.syntaxError, "conflicting or redundant options", options.type.position);
  }
  const kind = type.kind === "i16" || type.kind === "i32" ? type.kind : "i64";
  return {
    ...sequenceDefinition(binder, { id: binder.newId(), schema: table.schema, name, type: kind }, options),
    ownedBy: { tableId: table.id, columnId },
  };
}

/** SEQUENCE NAME, which dump files say. */
function givenName(binder: DefinitionBinder, table: TableDefinition, name: ObjectName): string {
  if ((name.schema ?? table.schema) !== table.schema) {
    throw binder.unsupported("an identity column's sequence in another schema", name.position);
  }
  if (!binder.isTaken(table.schema, name.name)) return name.name;
  throw binder.error(SQLSTATE.duplicateTable, `relation "${name.name}" already exists`, name.position);
}

/** The default of a serial column. */
export function nextValueText(sequence: SequenceDefinition): string {
  const name = (sequence.schema === "public" ? "" : `${quoteIdentifier(sequence.schema)}.`) +
    quoteIdentifier(sequence.name);
  return `nextval('${name.replaceAll("'", "''")}'::regclass)`;
}

/** Binds the table's generated columns, all of its columns being there; raises what PostgreSQL raises for bad ones. */
export function checkGenerated(binder: DefinitionBinder, table: TableDefinition): void {
  for (const column of table.columns) {
    if (column.generatedText === null || column.hidden) continue;
    if (column.defaultText !== null || column.identity !== null) {
      throw binder.error(
        SQLSTATE.syntaxError,
        `both default and generation expression specified for column "${column.name}" of table "${table.name}"`,
      );
    }
    const { expression, columns } = binder.bindText(
      column.generatedText,
      table,
      "column generation expressions",
      { type: column.type, column: column.name },
    );
    binder.once(() =>
      walkExpression(expression, (each) => {
        if (each.kind === "call" && each.function.volatility !== "immutable") {
          throw binder.error(
            SQLSTATE.invalidObjectDefinition,
            "generation expression is not immutable",
            undefined,
            { detail: `Function ${each.function.name}() is ${each.function.volatility}.` },
          );
        }
        if (each.kind !== "column") return;
        const used = table.columns[columns.indexOf(each.column)];
        if (used !== undefined && used.generatedText !== null) {
          throw binder.error(
            SQLSTATE.invalidObjectDefinition,
            `cannot use generated column "${used.name}" in column generation expression`,
            undefined,
            { detail: "A generated column cannot reference another generated column." },
          );
        }
      })
    );
  }
}

/** 42P16 for the types that no column can have. */
export function requireColumnType(
  binder: DefinitionBinder,
  name: string,
  type: SqlType,
  position: number,
): void {
  if (type.kind !== "void" && type.kind !== "record") return;
  throw binder.error(
    SQLSTATE.invalidTableDefinition,
    `column "${name}" has pseudo-type ${type.kind}`,
    position,
  );
}

function requireStorable(binder: DefinitionBinder, type: SqlType, ast: ColumnAst): void {
  const pseudo = type.kind === "void" || type.kind === "unknown" || type.kind === "record";
  if (pseudo) {
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      `column "${ast.name}" has pseudo-type ${type.kind}`,
      ast.position,
    );
  }
}
