/** Constraints of tables: keys with their indexes, checks, foreign keys. */
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type {
  ColumnDefinition,
  ConstraintDefinition,
  IndexDefinition,
  ReferentialAction,
  TableDefinition,
} from "../../catalog/definitions.ts";
import { categoryOf, convertsImplicitly, typeKey } from "../functions/type_family.ts";
import { formatType, formatTypeFamily } from "../../types/type_names.ts";
import type { CheckConstraint, ForeignKeyConstraint, KeyConstraint, TableConstraint } from "../parser/ast.ts";
import { type DefinitionBinder, requireNotVolatile, walkExpression } from "./definition_binder.ts";

/** The table with a constraint added, and what has to be true of its rows. */
export interface AddedConstraint {
  readonly table: TableDefinition;
  readonly constraint: ConstraintDefinition;
  readonly index: IndexDefinition | null;
  /** The primary key made a column the row id. */
  readonly rekeyed: boolean;
}

/** Adds a constraint to a definition; rows are not looked at here. `column` is set for a column's own constraint. */
export function addConstraint(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: TableConstraint,
  column: string | null = null,
): AddedConstraint {
  if (ast.kind !== "unsupported_constraint" && ast.name !== null) {
    const { name } = ast;
    if (table.constraints.some((each) => each.name === name)) {
      throw binder.error(
        SQLSTATE.duplicateObject,
        ast.kind === "check" &&
          binder.find({ catalog: null, schema: table.schema, name: table.name, position: 0 }) === undefined
          ? `check constraint "${name}" already exists`
          : `constraint "${name}" for relation "${table.name}" already exists`,
        ast.position,
      );
    }
  }
  switch (ast.kind) {
    case "primary_key":
    case "unique":
      return addKey(binder, table, ast, column);
    case "check":
      return addCheck(binder, table, ast, column);
    case "foreign_key":
      return addForeignKey(binder, table, ast, column);
    case "unsupported_constraint":
      throw binder.unsupported(ast.feature, ast.position);
  }
}

function addKey(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: KeyConstraint,
  column: string | null,
): AddedConstraint {
  if (ast.deferral.deferrable) throw binder.unsupported("a DEFERRABLE key constraint", ast.position);
  if (ast.usingIndex !== null) return addKeyUsingIndex(binder, table, ast, ast.usingIndex);
  const names = ast.columns.length === 0 && column !== null ? [column] : ast.columns;
  const isPrimary = ast.kind === "primary_key";
  if (isPrimary && table.constraints.some((each) => each.kind === "primary_key")) {
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      `multiple primary keys for table "${table.name}" are not allowed`,
      ast.position,
    );
  }
  const columns = names.map((name) => keyColumn(binder, table, name, ast.position));
  for (const [position, each] of columns.entries()) {
    if (columns.indexOf(each) !== position) {
      throw binder.error(
        SQLSTATE.duplicateColumn,
        `column "${each.name}" appears twice in ${isPrimary ? "primary key" : "unique"} constraint`,
        ast.position,
      );
    }
  }
  const name = ast.name ?? binder.freeName(
    table.schema,
    isPrimary ? [table.name] : [table.name, ...columns.map((each) => each.name)],
    isPrimary ? "pkey" : "key",
    (each) => table.constraints.some((constraint) => constraint.name === each),
  );
  if (binder.isTaken(table.schema, name) || table.indexes.some((each) => each.name === name)) {
    throw binder.error(SQLSTATE.duplicateTable, `relation "${name}" already exists`, ast.position);
  }
  const id = binder.newId();
  const columnIds = columns.map((each) => each.id);
  let next = table;
  if (isPrimary) {
    next = {
      ...next,
      columns: next.columns.map((each) => columnIds.includes(each.id) ? { ...each, notNull: true } : each),
    };
    const only = columns.length === 1 ? columns[0] : undefined;
    if (only !== undefined && isRowIdType(only)) {
      const constraint = { kind: "primary_key", id, name, columns: columnIds, indexId: null } as const;
      next = { ...next, rowIdColumn: only.id, constraints: [...next.constraints, constraint] };
      return { table: next, constraint, index: null, rekeyed: true };
    }
  }
  const index: IndexDefinition = {
    id: binder.newId(),
    name,
    kind: "plain",
    unique: true,
    nullsNotDistinct: ast.nullsNotDistinct,
    columns: columnIds.map((columnId) => ({ columnId, descending: false, nullsFirst: false })),
    includes: ast.include.map((each) => keyColumn(binder, table, each, ast.position).id),
    predicateText: null,
    comment: null,
  };
  const constraint: ConstraintDefinition = isPrimary
    ? { kind: "primary_key", id, name, columns: columnIds, indexId: index.id }
    : {
      kind: "unique",
      id,
      name,
      columns: columnIds,
      indexId: index.id,
      nullsNotDistinct: ast.nullsNotDistinct,
    };
  next = { ...next, indexes: [...next.indexes, index], constraints: [...next.constraints, constraint] };
  return { table: next, constraint, index, rekeyed: false };
}

/** Types whose values are row ids as they are. Negative values are refused when a row is written. */
export function isRowIdType(column: ColumnDefinition): boolean {
  return ["i16", "i32", "i64", "u8", "u16", "u32", "i8"].includes(column.type.kind);
}

function addKeyUsingIndex(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: KeyConstraint,
  indexName: string,
): AddedConstraint {
  const index = table.indexes.find((each) => each.name === indexName);
  if (index === undefined) {
    throw binder.error(SQLSTATE.undefinedObject, `index "${indexName}" does not exist`, ast.position);
  }
  if (!index.unique || index.predicateText !== null) {
    throw binder.error(SQLSTATE.wrongObjectType, `"${indexName}" is not a unique index`, ast.position);
  }
  const name = ast.name ?? indexName;
  const columns = index.columns.map((each) => each.columnId);
  const renamed = { ...index, name };
  const isPrimary = ast.kind === "primary_key";
  const constraint: ConstraintDefinition = isPrimary
    ? { kind: "primary_key", id: binder.newId(), name, columns, indexId: index.id }
    : {
      kind: "unique",
      id: binder.newId(),
      name,
      columns,
      indexId: index.id,
      nullsNotDistinct: index.nullsNotDistinct,
    };
  const next: TableDefinition = {
    ...table,
    columns: table.columns.map((each) =>
      isPrimary && columns.includes(each.id) ? { ...each, notNull: true } : each
    ),
    indexes: table.indexes.map((each) => each.id === index.id ? renamed : each),
    constraints: [...table.constraints, constraint],
  };
  return { table: next, constraint, index: renamed, rekeyed: false };
}

function addCheck(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: CheckConstraint,
  column: string | null,
): AddedConstraint {
  const { expression, columns } = binder.bind(ast.expression, table, "check constraints", "condition");
  const used = binder.once(() => {
    requireNotVolatile(binder, expression, ast.expression, "a CHECK constraint");
    const used = new Set<number>();
    walkExpression(expression, (each) => {
      if (each.kind !== "column") return;
      const definition = table.columns[columns.indexOf(each.column)];
      if (definition !== undefined) used.add(definition.id);
    });
    return used;
  });
  const names = table.columns.filter((each) => used.has(each.id)).map((each) => each.name);
  const part = column ?? (names.length === 1 ? names[0] : undefined);
  const name = ast.name ?? binder.freeName(
    table.schema,
    part === undefined ? [table.name] : [table.name, part],
    "check",
    (each) => table.constraints.some((constraint) => constraint.name === each),
  );
  const constraint = { kind: "check", id: binder.newId(), name, text: ast.text, columns: [...used] } as const;
  return {
    table: { ...table, constraints: [...table.constraints, constraint] },
    constraint,
    index: null,
    rekeyed: false,
  };
}

const ACTIONS: Readonly<Record<ForeignKeyConstraint["onDelete"], ReferentialAction>> = {
  no_action: "no action",
  restrict: "restrict",
  cascade: "cascade",
  set_null: "set null",
  set_default: "set default",
};

function addForeignKey(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: ForeignKeyConstraint,
  column: string | null,
): AddedConstraint {
  if (ast.match === "partial") {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "MATCH PARTIAL not yet implemented",
      ast.position,
    );
  }
  const names = ast.columns.length === 0 && column !== null ? [column] : ast.columns;
  const columns = names.map((name) => {
    const found = table.columns.find((each) => each.name === name && !each.hidden);
    if (found !== undefined) return found;
    throw binder.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" referenced in foreign key constraint does not exist`,
      ast.position,
    );
  });
  const isSelf = ast.table.name === table.name && (ast.table.schema ?? table.schema) === table.schema;
  const referenced = binder.find(ast.table);
  if (!isSelf && referenced !== undefined && referenced.kind !== "table") {
    throw binder.error(
      SQLSTATE.wrongObjectType,
      `referenced relation "${ast.table.name}" is not a table`,
      ast.table.position,
    );
  }
  const parent = isSelf ? table : binder.table(ast.table);
  const parentColumns = parentKey(binder, parent, ast);
  if (parentColumns.length !== columns.length) {
    throw binder.error(
      SQLSTATE.invalidForeignKey,
      "number of referencing and referenced columns for foreign key disagree",
      ast.position,
    );
  }
  const name = ast.name ?? binder.freeName(
    table.schema,
    [table.name, ...names],
    "fkey",
    (each) => table.constraints.some((constraint) => constraint.name === each),
  );
  for (const [position, child] of columns.entries()) {
    const other = parentColumns[position] as ColumnDefinition;
    requireComparable(binder, { name, child, parent: other }, ast.position);
  }
  for (const given of ast.onDeleteColumns) {
    if (names.includes(given) || !table.columns.some((each) => each.name === given)) continue;
    throw binder.error(
      SQLSTATE.invalidColumnReference,
      `column "${given}" referenced in ON DELETE SET action must be part of foreign key`,
      ast.position,
    );
  }
  if (isTemporarySchema(table.schema) !== isTemporarySchema(parent.schema)) {
    const kind = isTemporarySchema(table.schema) ? "temporary" : "permanent";
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      `constraints on ${kind} tables may reference only ${kind} tables`,
      ast.position,
    );
  }
  const constraint = {
    kind: "foreign_key",
    id: binder.newId(),
    name,
    columns: columns.map((each) => each.id),
    referencedTableId: parent.id,
    referencedColumns: parentColumns.map((each) => each.id),
    onDelete: ACTIONS[ast.onDelete],
    onUpdate: ACTIONS[ast.onUpdate],
    onDeleteColumns: ast.onDeleteColumns.map((each) => binder.column(table, each, ast.position).id),
    match: ast.match,
    deferrable: ast.deferral.deferrable,
    initiallyDeferred: ast.deferral.initiallyDeferred,
  } as const;
  return {
    table: { ...table, constraints: [...table.constraints, constraint] },
    constraint,
    index: null,
    rekeyed: false,
  };
}

/** Types between which PostgreSQL compares keys without a cast. */
const KEY_FAMILIES: readonly ReadonlySet<string>[] = [
  new Set(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]),
  new Set(["f32", "f64"]),
  new Set(["date", "timestamp", "timestamptz"]),
  new Set(["text", "varchar", "name"]),
];

/** 42804 unless the referencing column's values can be looked up among the referenced ones as they are. */
export function requireComparable(
  binder: DefinitionBinder,
  key: { readonly name: string; readonly child: ColumnDefinition; readonly parent: ColumnDefinition },
  position: number,
): void {
  const [child, parent] = [typeKey(key.child.type), typeKey(key.parent.type)];
  const isComparable = child === parent ||
    KEY_FAMILIES.some((family) => family.has(child) && family.has(parent)) ||
    (convertsImplicitly(child, parent) && categoryOf(child) === categoryOf(parent));
  if (isComparable) return;
  throw binder.error(
    SQLSTATE.datatypeMismatch,
    `foreign key constraint "${key.name}" cannot be implemented`,
    position,
    {
      detail: `Key columns "${key.child.name}" and "${key.parent.name}" are of incompatible types: ${
        formatTypeFamily(key.child.type)
      } and ${formatTypeFamily(key.parent.type)}.`,
    },
  );
}

/** The referenced columns, which must be a key of the parent. */
function parentKey(
  binder: DefinitionBinder,
  parent: TableDefinition,
  ast: ForeignKeyConstraint,
): ColumnDefinition[] {
  const byId = (id: number): ColumnDefinition =>
    parent.columns.find((each) => each.id === id) as ColumnDefinition;
  if (ast.parentColumns.length === 0) {
    const key = parent.constraints.find((each) => each.kind === "primary_key");
    if (key === undefined) {
      throw binder.error(
        SQLSTATE.undefinedObject,
        `there is no primary key for referenced table "${parent.name}"`,
        ast.position,
      );
    }
    return key.columns.map(byId);
  }
  const columns = ast.parentColumns.map((name) => {
    const found = parent.columns.find((each) => each.name === name && !each.hidden);
    if (found !== undefined) return found;
    throw binder.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" referenced in foreign key constraint does not exist`,
      ast.position,
    );
  });
  const ids = new Set(columns.map((each) => each.id));
  if (ids.size < columns.length) {
    throw binder.error(
      SQLSTATE.invalidForeignKey,
      "foreign key referenced-columns list must not contain duplicates",
      ast.position,
    );
  }
  const isKey = (keyIds: readonly number[]): boolean =>
    keyIds.length === ids.size && keyIds.every((id) => ids.has(id));
  const known =
    parent.constraints.some((each) =>
      (each.kind === "primary_key" || each.kind === "unique") && isKey(each.columns)
    ) || parent.indexes.some((each) =>
      each.unique && each.predicateText === null && isKey(each.columns.map((part) =>
        part.columnId
      ))
    );
  if (!known) {
    throw binder.error(
      SQLSTATE.invalidForeignKey,
      `there is no unique constraint matching given keys for referenced table "${parent.name}"`,
      ast.position,
    );
  }
  return columns;
}

/** A column of a key. Raises 42703 and 54011, and 0A000 for types that have no order. */
export function keyColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  name: string,
  offset: number,
): ColumnDefinition {
  const found = table.columns.find((each) => each.name === name && !each.hidden);
  if (found === undefined) {
    throw binder.error(SQLSTATE.undefinedColumn, `column "${name}" named in key does not exist`, offset);
  }
  if (found.type.kind === "json") {
    throw binder.error(
      SQLSTATE.undefinedObject,
      `data type ${formatType(found.type)} has no default operator class for access method "btree"`,
      offset,
      {
        hint:
          "You must specify an operator class for the index or define a default operator class for the data type.",
      },
    );
  }
  return found;
}

/** Raises 54011 when an index would have too many columns. */
export function requireIndexWidth(binder: DefinitionBinder, count: number, offset: number): void {
  if (count > LIMITS.maximumIndexColumns) {
    throw binder.error(
      SQLSTATE.tooManyColumns,
      `cannot use more than ${LIMITS.maximumIndexColumns} columns in an index`,
      offset,
    );
  }
}

/** Pushes the steps that check an added constraint against existing rows. */
export function validateExisting(binder: DefinitionBinder, added: AddedConstraint, skip: boolean): void {
  const { table, constraint } = added;
  switch (constraint.kind) {
    case "primary_key":
      for (const columnId of constraint.columns) {
        binder.steps.push({ kind: "validate_not_null", table, columnId });
      }
      if (added.rekeyed) binder.steps.push({ kind: "rekey", table });
      else if (added.index !== null) {
        binder.steps.push({ kind: "validate_unique", table, index: added.index });
      }
      break;
    case "unique":
      if (added.index !== null) binder.steps.push({ kind: "validate_unique", table, index: added.index });
      break;
    case "check":
      if (skip) break;
      binder.steps.push({
        kind: "validate_check",
        table,
        constraintName: constraint.name,
        condition: binder.bindText(constraint.text, table, "check constraints", "condition"),
      });
      break;
    case "foreign_key":
      if (!skip) binder.steps.push({ kind: "validate_foreign_key", table, constraint });
      break;
  }
}
