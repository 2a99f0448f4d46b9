/** CREATE TABLE and CREATE TABLE AS. */
import { SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { ON_COMMIT } from "../../catalog/temporary_schema.ts";
import {
  type ColumnDefinition,
  plainColumn,
  type SequenceDefinition,
  type TableDefinition,
} from "../../catalog/definitions.ts";
import type { CreateTable, CreateTableAs, LikeClause, NamedOption, TableConstraint } from "../parser/ast.ts";
import { SHARD_BY } from "../parser/shard_by.ts";
import { planStatement } from "../planner/plan_statement.ts";
import { checkGenerated, newColumn, requireColumnType } from "./columns.ts";
import { addConstraint } from "./constraints.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { requireShardByOnce, shardOption, withShardBy } from "./shard_by.ts";

/** Storage parameters of PostgreSQL that have nothing to say here; kept for the catalog. */
const STORAGE_PARAMETERS =
  /^(fillfactor|autovacuum_|toast|parallel_workers|user_catalog_table|vacuum_|log_autovacuum)/;

/** CREATE TABLE. */
export function createTable(binder: DefinitionBinder, ast: CreateTable): string {
  const tag = "CREATE TABLE";
  refuse(binder, ast);
  const schema = binder.schemaFor(ast.name, ast.persistence);
  if (binder.isTaken(schema, ast.name.name)) {
    if (!ast.ifNotExists) {
      throw binder.error(
        SQLSTATE.duplicateTable,
        `relation "${ast.name.name}" already exists`,
        ast.name.position,
      );
    }
    binder.notice(SQLSTATE.duplicateTable, `relation "${ast.name.name}" already exists, skipping`);
    return tag;
  }
  binder.requireNoType(schema, ast.name);
  let table = emptyTable(binder, schema, ast.name.name, optionsOf(binder, ast));
  const sequences: SequenceDefinition[] = [];
  const constraints: { readonly ast: TableConstraint; readonly column: string | null }[] = [];
  const addLikes = (before: number): void => {
    for (const like of ast.likes) {
      if (like.columnIndex === before) table = copyLike(binder, table, like, constraints);
    }
  };
  for (const [index, column] of ast.columns.entries()) {
    addLikes(index);
    const id = table.nextColumnId;
    const added = newColumn(binder, table, column, id);
    requireNewName(binder, table, column.name, column.position);
    table = { ...table, columns: [...table.columns, added.column], nextColumnId: id + 1 };
    if (added.sequence !== null) {
      sequences.push(added.sequence);
      // Later names of the same statement must see this one as taken.
      binder.change({ kind: "put_sequence", sequence: added.sequence });
    }
    constraints.push(...column.constraints.map((constraint) => ({ ast: constraint, column: column.name })));
  }
  addLikes(ast.columns.length);
  if (table.columns.length > LIMITS.maximumTableColumns) {
    throw binder.error(
      SQLSTATE.tooManyColumns,
      `tables can have at most ${LIMITS.maximumTableColumns} columns`,
    );
  }
  constraints.push(...ast.constraints.map((constraint) => ({ ast: constraint, column: null })));
  // Keys first: a foreign key of the table to itself needs them.
  const order = { primary_key: 0, unique: 1, check: 2, foreign_key: 3, unsupported_constraint: 4 } as const;
  constraints.sort((a, b) => order[a.ast.kind] - order[b.ast.kind]);
  for (const { ast: constraint, column } of constraints) {
    table = addConstraint(binder, table, constraint, column).table;
  }
  checkGenerated(binder, table);
  binder.putTable(sharded(binder, table, ast));
  return tag;
}

/** The table with the placement that its options ask for. */
function sharded(
  binder: DefinitionBinder,
  table: TableDefinition,
  { options }: CreateTable | CreateTableAs,
): TableDefinition {
  const option = shardOption(options);
  return option === null ? table : withShardBy(binder, table, option);
}

/** CREATE TABLE … AS and SELECT … INTO. */
export function createTableAs(binder: DefinitionBinder, ast: CreateTableAs): string {
  const tag = "CREATE TABLE AS";
  const schema = binder.schemaFor(ast.name, ast.persistence);
  if (binder.isTaken(schema, ast.name.name)) {
    if (!ast.ifNotExists) {
      throw binder.error(
        SQLSTATE.duplicateTable,
        `relation "${ast.name.name}" already exists`,
        ast.name.position,
      );
    }
    binder.notice(SQLSTATE.duplicateTable, `relation "${ast.name.name}" already exists, skipping`);
    return tag;
  }
  const planned = planStatement(ast.query, { ...binder.environment, catalog: binder.catalog });
  if (ast.columns.length > planned.columns.length) {
    throw binder.error(SQLSTATE.syntaxError, "too many column names were specified", ast.position);
  }
  binder.requireNoType(schema, ast.name);
  let table = emptyTable(binder, schema, ast.name.name, optionsOf(binder, ast));
  for (const [index, column] of planned.columns.entries()) {
    const name = ast.columns[index] ?? column.name;
    requireNewName(binder, table, name, ast.position);
    requireColumnType(binder, name, column.type, ast.position);
    table = {
      ...table,
      columns: [...table.columns, columnFor(table.nextColumnId, name, column.type)],
      nextColumnId: table.nextColumnId + 1,
    };
  }
  table = binder.putTable(sharded(binder, table, ast));
  // The plan of before: a name in the query may be the new table's, which hides one of another schema from now on.
  if (ast.withData) binder.steps.push({ kind: "insert_query", table, planned });
  return tag;
}

/** The column that keeps what an expression gives: of a literal whose type is not known, its text. */
export function columnFor(id: number, name: string, type: ColumnDefinition["type"]): ColumnDefinition {
  return plainColumn(id, name, type.kind === "unknown" ? { kind: "text" } : type);
}

/** The options of a new table, with what a commit does to a temporary one. */
function optionsOf(binder: DefinitionBinder, ast: CreateTable | CreateTableAs): Record<string, string> {
  const options = storageOptions(binder, ast.options);
  if (ast.onCommit === "drop" || ast.onCommit === "delete_rows") options[ON_COMMIT] = ast.onCommit;
  return options;
}

/** Storage parameters as text by name; refuses what is not known. */
export function storageOptions(
  binder: DefinitionBinder,
  options: readonly NamedOption[],
): Record<string, string> {
  const result: Record<string, string> = {};
  requireShardByOnce(binder, options);
  for (const option of options) {
    if (option.name === "oids" && ["false", "off", "0"].includes((option.value ?? "").toLowerCase())) {
      continue;
    }
    if (option.name === SHARD_BY) continue;
    if (!STORAGE_PARAMETERS.test(option.name)) {
      throw binder.error(
        SQLSTATE.invalidParameterValue,
        `unrecognized parameter "${option.name}"`,
        option.position,
      );
    }
    if (option.name === "fillfactor") requireFillFactor(binder, option);
    result[option.name] = option.value ?? "true";
  }
  return result;
}

function requireFillFactor(binder: DefinitionBinder, { value, position }: NamedOption): void {
  const given = value ?? "true";
  const invalid = (message: string, detail?: string) =>
    binder.error(
      SQLSTATE.invalidParameterValue,
      message,
      position,
      detail === undefined ? {} : { detail },
    );
  if (!/^[-+]?\d+$/.test(given)) throw invalid(`invalid value for integer option "fillfactor": ${given}`);
  if (Number(given) < 10 || Number(given) > 100) {
    throw invalid(
      `value ${given} out of bounds for option "fillfactor"`,
      'Valid values are between "10" and "100".',
    );
  }
}

/** Raises 42701 when the table has a column of this name. */
export function requireNewName(
  binder: DefinitionBinder,
  table: TableDefinition,
  name: string,
  offset: number,
): void {
  if (table.columns.some((column) => column.name === name)) {
    throw binder.error(SQLSTATE.duplicateColumn, `column "${name}" specified more than once`, offset);
  }
  if (name === "rowid" || ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"].includes(name)) {
    throw binder.error(
      SQLSTATE.duplicateColumn,
      `column name "${name}" conflicts with a system column name`,
      offset,
    );
  }
}

function emptyTable(
  binder: DefinitionBinder,
  schema: string,
  name: string,
  options: Record<string, string>,
): TableDefinition {
  return {
    id: binder.newId(),
    schema,
    name,
    columns: [],
    nextColumnId: 1,
    rowIdColumn: null,
    constraints: [],
    indexes: [],
    triggers: [],
    options,
    comment: null,
  };
}

function refuse(binder: DefinitionBinder, ast: CreateTable): void {
  if (ast.onCommit !== null && ast.persistence !== "temporary" && ast.name.schema !== "pg_temp") {
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      "ON COMMIT can only be used on temporary tables",
      ast.position,
    );
  }
  if (ast.tablespace !== null && ast.tablespace !== "pg_default") {
    throw binder.unsupported("TABLESPACE", ast.position);
  }
}

/** Columns (and what INCLUDING names) of another table. */
function copyLike(
  binder: DefinitionBinder,
  table: TableDefinition,
  like: LikeClause,
  constraints: { readonly ast: TableConstraint; readonly column: string | null }[],
): TableDefinition {
  const source = binder.table(like.table);
  const including = (what: string): boolean =>
    like.including.includes(what) || like.including.includes("all");
  let result = table;
  for (const column of source.columns) {
    if (column.hidden) continue;
    requireNewName(binder, result, column.name, like.position);
    const id = result.nextColumnId;
    result = {
      ...result,
      nextColumnId: id + 1,
      columns: [...result.columns, {
        ...columnFor(id, column.name, column.type),
        notNull: column.notNull,
        defaultText: including("defaults") ? column.defaultText : null,
        generatedText: including("generated") ? column.generatedText : null,
        comment: including("comments") ? column.comment : null,
      }],
    };
  }
  const nameOf = (id: number): string => source.columns.find((column) => column.id === id)?.name ?? "";
  const deferral = { deferrable: false, initiallyDeferred: false };
  for (const constraint of source.constraints) {
    if ((constraint.kind === "primary_key" || constraint.kind === "unique") && including("indexes")) {
      constraints.push({
        column: null,
        ast: {
          kind: constraint.kind,
          name: null,
          columns: constraint.columns.map(nameOf),
          include: [],
          nullsNotDistinct: constraint.kind === "unique" && constraint.nullsNotDistinct,
          usingIndex: null,
          deferral,
          position: like.position,
        },
      });
    } else if (constraint.kind === "check" && including("constraints")) {
      const id = binder.newId();
      const columns = constraint.columns.map((each) =>
        result.columns.find((column) => column.name === nameOf(each))?.id ?? 0
      );
      result = { ...result, constraints: [...result.constraints, { ...constraint, id, columns }] };
    }
  }
  return result;
}
