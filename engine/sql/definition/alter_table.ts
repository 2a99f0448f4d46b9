/** ALTER TABLE: one action after the other on the definition as the actions before left it. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { withoutUnusedKeys } from "../../catalog/index_keys.ts";
import type {
  ColumnDefinition,
  IndexDefinition,
  TableDefinition,
  ViewDefinition,
} from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { AlterTable, AlterTableAction } from "../parser/ast.ts";
import { SHARD_BY } from "../parser/shard_by.ts";
import { checkGenerated, newColumn, ownedSequence } from "./columns.ts";
import { addConstraint, validateExisting } from "./constraints.ts";
import { requireNewName, storageOptions } from "./create_table.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { holdsForMissing, missingValueOf } from "./missing_values.ts";
import {
  brokenViews,
  referencingKeys,
  renameColumnInText,
  renameColumnInViews,
  renameInViews,
  requireCascade,
} from "./dependencies.ts";
import { alterType } from "./alter_type.ts";
import { refuseExternal } from "./refuse_external.ts";
import { alteredIdentity, withoutExpression } from "./identity.ts";
import { withoutIndexes } from "./indexes.ts";
import { requireRole } from "./owners.ts";
import { requireSequences } from "./sequence_uses.ts";
import { besideParents, requireNoShardColumn, shardOption, withoutShardBy, withShardBy } from "./shard_by.ts";
import { setStatistics, withoutStatisticsOf } from "./statistics.ts";
import { setTriggerState, triggersUsing, triggersWithColumnRenamed } from "./triggers.ts";

type Action<Kind extends AlterTableAction["kind"]> = Extract<AlterTableAction, { kind: Kind }>;

/** ALTER TABLE. */
export function alterTable(binder: DefinitionBinder, ast: AlterTable): string {
  const tag = "ALTER TABLE";
  const found = binder.find(ast.name);
  if (found === undefined && ast.ifExists) {
    binder.notice(SQLSTATE.successfulCompletion, `relation "${ast.name.name}" does not exist, skipping`);
    return tag;
  }
  if (
    (found?.kind === "view" || found?.kind === "sequence") &&
    ast.actions.every((action) => action.kind === "owner_to")
  ) {
    for (const action of ast.actions) if (action.kind === "owner_to") requireRole(binder, action.owner);
    return tag;
  }
  let table = binder.table(ast.name);
  if (!ast.actions.every(({ kind }) => KEEPS_ROWS.has(kind))) binder.requireNoPendingChecks(table, tag);
  for (const action of ast.actions.toSorted((a, b) => passOf(a) - passOf(b))) {
    if (!KEEPS_SOURCE.has(action.kind)) refuseExternal(binder, table, "alter", ast.name.position);
    table = alter(binder, table, action);
  }
  return tag;
}

/** As in PostgreSQL, what goes comes first, in whatever order the actions are written; then types, then new columns. */
function passOf({ kind }: AlterTableAction): number {
  if (kind.startsWith("drop_")) return 0;
  return kind === "alter_type" ? 1 : kind === "add_column" ? 2 : 3;
}

/** Actions that leave what REFRESH writes as it is. */
const KEEPS_SOURCE: ReadonlySet<AlterTableAction["kind"]> = new Set([
  "rename_column",
  "rename_constraint",
  "rename_table",
  "set_schema",
  "owner_to",
]);

/** Actions that checks of the table's rows do not notice. */
const KEEPS_ROWS: ReadonlySet<AlterTableAction["kind"]> = new Set([
  "rename_column",
  "rename_constraint",
  "rename_table",
  "set_schema",
  "alter_trigger_state",
]);

function alter(binder: DefinitionBinder, table: TableDefinition, action: AlterTableAction): TableDefinition {
  switch (action.kind) {
    case "add_column":
      return addColumn(binder, table, action);
    case "drop_column":
      return dropColumn(binder, table, action);
    case "rename_column":
      return renameColumn(binder, table, action);
    case "alter_type":
      return alterType(binder, table, action);
    case "set_default": {
      const column = binder.column(table, action.column, action.position);
      requirePlain(binder, table, column, action.position);
      refuseIdentity(binder, table, column, action.position);
      binder.bind(action.default, null, "DEFAULT expressions", { type: column.type, column: column.name });
      requireSequences(binder, action.default);
      return putColumn(binder, table, { ...column, defaultText: action.text });
    }
    case "drop_default": {
      const column = binder.column(table, action.column, action.position);
      requirePlain(binder, table, column, action.position);
      refuseIdentity(
        binder,
        table,
        column,
        action.position,
        "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.",
      );
      return putColumn(binder, table, { ...column, defaultText: null });
    }
    case "set_not_null": {
      const column = binder.column(table, action.column, action.position);
      if (column.notNull) return table;
      binder.steps.push({ kind: "validate_not_null", table, columnId: column.id });
      return putColumn(binder, table, { ...column, notNull: true });
    }
    case "drop_not_null":
      return dropNotNull(binder, table, action);
    case "add_identity":
      return addIdentity(binder, table, action);
    case "drop_identity":
      return dropIdentity(binder, table, action);
    case "alter_identity":
      return putColumn(binder, table, alteredIdentity(binder, table, action));
    case "drop_expression": {
      const column = withoutExpression(binder, table, action);
      return column === null ? table : putColumn(binder, table, column);
    }
    case "add_constraint":
      return addTableConstraint(binder, table, action);
    case "drop_constraint":
      return dropConstraint(binder, table, action);
    case "rename_constraint":
      return renameConstraint(binder, table, action);
    case "validate_constraint": {
      const constraint = table.constraints.find((each) => each.name === action.name);
      if (constraint === undefined) throw noConstraint(binder, table, action.name, action.position);
      if (constraint.kind !== "check" && constraint.kind !== "foreign_key") {
        throw binder.error(
          SQLSTATE.wrongObjectType,
          `constraint "${action.name}" of relation "${table.name}" is not a foreign key or check constraint`,
          action.position,
        );
      }
      validateExisting(binder, { table, constraint, index: null, rekeyed: false }, false);
      return table;
    }
    case "rename_table":
      if (binder.isTaken(table.schema, action.newName)) {
        throw binder.error(
          SQLSTATE.duplicateTable,
          `relation "${action.newName}" already exists`,
          action.position,
        );
      }
      return guardViews(
        binder,
        `table ${table.name}`,
        action.position,
        () => binder.putTable({ ...table, name: action.newName }),
      );
    case "set_schema":
      if (binder.catalog.schema(action.schema) === undefined) {
        throw binder.error(
          SQLSTATE.invalidSchemaName,
          `schema "${action.schema}" does not exist`,
          action.position,
        );
      }
      return guardViews(
        binder,
        `table ${table.name}`,
        action.position,
        () => binder.putTable({ ...table, schema: action.schema }),
      );
    case "owner_to":
      requireRole(binder, action.owner);
      return table;
    case "set_options": {
      const options = { ...table.options, ...storageOptions(binder, action.options) };
      const shardBy = shardOption(action.options);
      const next = { ...table, options };
      return binder.putTable(shardBy === null ? next : withShardBy(binder, next, shardBy));
    }
    case "reset_options": {
      const options = Object.entries(table.options).filter(([name]) => !action.names.includes(name));
      const next = { ...table, options: Object.fromEntries(options) };
      return binder.putTable(action.names.includes(SHARD_BY) ? withoutShardBy(next) : next);
    }
    case "set_statistics":
      return setStatistics(binder, table, action);
    case "alter_trigger_state":
      return setTriggerState(binder, table, action);
    case "unsupported_action":
      throw binder.unsupported(action.feature, action.position);
  }
}

function addColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"add_column">,
): TableDefinition {
  const ast = action.column;
  if (table.columns.some((column) => column.name === ast.name)) {
    if (action.ifNotExists) {
      binder.notice(
        SQLSTATE.duplicateColumn,
        `column "${ast.name}" of relation "${table.name}" already exists, skipping`,
      );
      return table;
    }
    throw binder.error(
      SQLSTATE.duplicateColumn,
      `column "${ast.name}" of relation "${table.name}" already exists`,
      ast.position,
    );
  }
  requireNewName(binder, table, ast.name, ast.position);
  const added = newColumn(binder, table, ast, table.nextColumnId);
  if (added.sequence !== null) binder.change({ kind: "put_sequence", sequence: added.sequence });
  let column = added.column;
  const defaultText = column.defaultText ?? null;
  const fill = column.identity !== null && added.sequence !== null
    ? `nextval(${added.sequence.id}::regclass)`
    : defaultText;
  let fillValue = null;
  if (fill !== null) {
    const value = binder.bindText(fill, null, "DEFAULT expressions", {
      type: column.type,
      column: column.name,
    });
    const constant = added.sequence === null
      ? binder.once(() => missingValueOf(binder, table, added.column, value.expression))
      : undefined;
    if (constant !== undefined) column = { ...column, missingValue: constant };
    else fillValue = fill;
  } else if (column.generatedText !== null) fillValue = column.generatedText;
  let next: TableDefinition = {
    ...table,
    columns: [...table.columns, fillValue === null ? column : { ...column, notNull: false }],
    nextColumnId: table.nextColumnId + 1,
  };
  checkGenerated(binder, next);
  binder.putTable(next);
  if (fillValue !== null) {
    const scope = column.generatedText !== null ? next : null;
    const bound = binder.bindText(
      fillValue,
      next,
      scope === null ? "DEFAULT expressions" : "column generation expressions",
      {
        type: column.type,
        column: column.name,
      },
    );
    binder.steps.push({ kind: "fill_column", table: next, columnId: column.id, value: bound });
    if (column.notNull) next = putColumn(binder, next, column);
  }
  if (column.notNull && column.missingValue === null) {
    binder.steps.push({ kind: "validate_not_null", table: next, columnId: column.id });
  }
  for (const constraint of ast.constraints) {
    const result = addConstraint(binder, next, constraint, ast.name);
    next = result.table;
    const holds = fillValue === null && holdsForMissing(binder, next, result.constraint, column);
    if (holds) binder.putTable(next);
    else if (result.constraint.kind === "unique" || result.constraint.kind === "primary_key") {
      validateExisting(binder, result, false);
      binder.putTable(next);
    } else {
      binder.putTable(next);
      validateExisting(binder, result, "notValid" in constraint && constraint.notValid);
    }
  }
  return next;
}

/** ALTER TABLE … DROP COLUMN. */
export function dropColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"drop_column">,
): TableDefinition {
  const column = table.columns.find((each) => each.name === action.column && !each.hidden);
  if (column === undefined) {
    if (!action.ifExists) binder.column(table, action.column, action.position);
    binder.notice(
      SQLSTATE.successfulCompletion,
      `column "${action.column}" of relation "${table.name}" does not exist, skipping`,
    );
    return table;
  }
  requireNoShardColumn(binder, table, column.id, action.position);
  const keys = referencingKeys(binder.catalog, table, [column.id]);
  const generated = generatedFrom(binder, table, column.id);
  const triggers = triggersUsing(binder, table, [column.id, ...generated.map((each) => each.id)]);
  // Indexes go with their column, expressions and predicates over it included.
  const indexes = indexesOver(binder, table, column.id).map((index) => index.id);
  const before = binder.catalog;
  const bare = { ...table, triggers: table.triggers.filter((each) => !triggers.includes(each)) };
  const next = withoutUnusedKeys(withoutColumn(withoutIndexes(bare, indexes), column.id));
  for (const { id } of generated) requireNoShardColumn(binder, table, id, action.position);
  const after = before.apply({ kind: "put_table", table: next });
  const views = brokenViews(binder, before, after);
  const what = `column ${column.name} of table ${table.name}`;
  requireCascade(
    binder,
    what,
    [
      ...keys.filter((key) => key.table.id !== table.id).map((key) =>
        `constraint ${key.constraint.name} on table ${key.table.name}`
      ),
      ...generated.map((each) => `column ${each.name} of table ${table.name}`),
      ...triggers.map((each) => `trigger ${each.name} on table ${table.name}`),
      ...views.map((view) => `view ${view.name}`),
    ],
    action.cascade,
    action.position,
  );
  for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
  for (const key of keys) {
    if (key.table.id === table.id) continue;
    const child = key.table;
    binder.putTable({
      ...child,
      constraints: child.constraints.filter((each) => each.id !== key.constraint.id),
    });
  }
  let result = next;
  for (const each of generated) {
    const over = indexesOver(binder, table, each.id).map((index) => index.id);
    result = withoutUnusedKeys(withoutColumn(withoutIndexes(result, over), each.id));
  }
  binder.putTable(result);
  dropOwnedSequences(binder, table.id, [column.id, ...generated.map((each) => each.id)]);
  return result;
}

/** Generated columns that are computed from the column. */
export function generatedFrom(
  binder: DefinitionBinder,
  table: TableDefinition,
  columnId: number,
): readonly ColumnDefinition[] {
  return table.columns.filter((each) =>
    !each.hidden && each.generatedText !== null && usesColumn(binder, table, each.generatedText, columnId)
  );
}

/** Indexes whose expressions or predicate name the column. */
export function indexesOver(
  binder: DefinitionBinder,
  table: TableDefinition,
  columnId: number,
): readonly IndexDefinition[] {
  const hidden = table.columns.filter((each) =>
    each.hidden && each.generatedText !== null && usesColumn(binder, table, each.generatedText, columnId)
  ).map((each) => each.id);
  return table.indexes.filter((index) =>
    index.columns.some((part) => hidden.includes(part.columnId)) ||
    (index.predicateText !== null && usesColumn(binder, table, index.predicateText, columnId))
  );
}

function usesColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  text: string,
  columnId: number,
): boolean {
  const position = table.columns.findIndex((column) => column.id === columnId);
  const { expression, columns } = binder.bindText(text, table, "column generation expressions", null);
  return JSON.stringify(expression, (_, value) => typeof value === "bigint" ? String(value) : value)
    .includes(`"column":${columns[position]},`);
}

/** A definition without a column and without what depends on it. */
export function withoutColumn(table: TableDefinition, columnId: number): TableDefinition {
  const dropped = table.constraints.filter((constraint) =>
    constraint.columns.includes(columnId) ||
    (constraint.kind === "foreign_key" && constraint.referencedTableId === table.id &&
      constraint.referencedColumns.includes(columnId))
  );
  const indexIds = dropped.flatMap((each) =>
    "indexId" in each && each.indexId !== null ? [each.indexId] : []
  );
  return {
    ...withoutStatisticsOf(table, columnId),
    columns: table.columns.filter((each) => each.id !== columnId),
    rowIdColumn: table.rowIdColumn === columnId ? null : table.rowIdColumn,
    constraints: table.constraints.filter((each) => !dropped.includes(each)),
    indexes: table.indexes.filter((index) =>
      !indexIds.includes(index.id) && !index.columns.some((part) => part.columnId === columnId)
    ).map((index) => ({ ...index, includes: index.includes.filter((id) => id !== columnId) })),
  };
}

/** Drops sequences that columns of the table own; `columnIds` null: all of them. */
export function dropOwnedSequences(
  binder: DefinitionBinder,
  tableId: number,
  columnIds: readonly number[] | null,
): void {
  for (const sequence of binder.catalog.sequences) {
    const owner = sequence.ownedBy;
    if (owner === null || owner.tableId !== tableId) continue;
    if (columnIds === null || columnIds.includes(owner.columnId)) {
      binder.change({ kind: "drop_sequence", sequenceId: sequence.id });
    }
  }
}

function renameColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"rename_column">,
): TableDefinition {
  const column = binder.column(table, action.column, action.position);
  const { newName } = action;
  if (table.columns.some((each) => each.name === newName)) {
    throw binder.error(
      SQLSTATE.duplicateColumn,
      `column "${newName}" of relation "${table.name}" already exists`,
      action.position,
    );
  }
  requireNewName(binder, table, newName, action.position);
  const renamed = (text: string): string => renameColumnInText(text, column.name, newName);
  return guardViews(
    binder,
    `column ${column.name} of table ${table.name}`,
    action.position,
    () =>
      binder.putTable({
        ...table,
        columns: table.columns.map((each) => ({
          ...each,
          name: each.id === column.id ? newName : each.name,
          generatedText: each.generatedText === null ? null : renamed(each.generatedText),
        })),
        constraints: table.constraints.map((each) =>
          each.kind === "check" && each.columns.includes(column.id)
            ? { ...each, text: renamed(each.text) }
            : each
        ),
        indexes: table.indexes.map((each) =>
          each.predicateText === null ? each : { ...each, predicateText: renamed(each.predicateText) }
        ),
        triggers: triggersWithColumnRenamed(table, column.name, newName),
      }),
    () => renameColumnInViews(binder, table, column, newName),
  );
}

function dropNotNull(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"drop_not_null">,
): TableDefinition {
  const column = binder.column(table, action.column, action.position);
  const key = table.constraints.find((each) => each.kind === "primary_key");
  if (key?.columns.includes(column.id)) {
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      `column "${column.name}" is in a primary key`,
      action.position,
    );
  }
  if (column.identity !== null) {
    throw binder.error(
      SQLSTATE.syntaxError,
      `column "${column.name}" of relation "${table.name}" is an identity column`,
      action.position,
    );
  }
  return putColumn(binder, table, { ...column, notNull: false });
}

function addIdentity(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"add_identity">,
): TableDefinition {
  const column = binder.column(table, action.column, action.position);
  requirePlain(binder, table, column, action.position);
  if (!column.notNull) {
    throw binder.error(
      SQLSTATE.objectNotInPrerequisiteState,
      `column "${column.name}" of relation "${table.name}" must be declared NOT NULL before identity can be added`,
      action.position,
    );
  }
  if (column.identity !== null) {
    throw binder.error(
      SQLSTATE.objectNotInPrerequisiteState,
      `column "${column.name}" of relation "${table.name}" is already an identity column`,
      action.position,
    );
  }
  if (column.defaultText !== null) {
    throw binder.error(
      SQLSTATE.objectNotInPrerequisiteState,
      `column "${column.name}" of relation "${table.name}" already has a default value`,
      action.position,
    );
  }
  requireIdentityType(binder, column.type, action.position);
  const sequence = ownedSequence(binder, table, column.name, column.id, column.type, action.options);
  binder.change({ kind: "put_sequence", sequence });
  return putColumn(binder, table, {
    ...column,
    defaultText: null,
    identity: action.always ? "always" : "by default",
    sequenceId: sequence.id,
  });
}

function dropIdentity(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"drop_identity">,
): TableDefinition {
  const column = binder.column(table, action.column, action.position);
  if (column.identity === null) {
    const message = `column "${column.name}" of relation "${table.name}" is not an identity column`;
    if (!action.ifExists) throw binder.error(SQLSTATE.objectNotInPrerequisiteState, message, action.position);
    binder.notice(SQLSTATE.successfulCompletion, `${message}, skipping`);
    return table;
  }
  const next = putColumn(binder, table, { ...column, identity: null, sequenceId: null });
  dropOwnedSequences(binder, table.id, [column.id]);
  return next;
}

function addTableConstraint(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"add_constraint">,
): TableDefinition {
  const ast = action.constraint;
  const added = addConstraint(binder, table, ast);
  const isKey = added.constraint.kind === "primary_key" || added.constraint.kind === "unique";
  // A key is checked before its index exists; the others need nothing but the rows.
  if (isKey && !added.rekeyed) {
    validateExisting(binder, { ...added, table }, false);
    binder.putTable(added.table);
    return added.table;
  }
  if (added.rekeyed) {
    for (const columnId of added.constraint.columns) {
      binder.steps.push({ kind: "validate_not_null", table, columnId });
    }
    binder.putTable(added.table);
    binder.steps.push({ kind: "rekey", table: added.table });
    return added.table;
  }
  const next = binder.putTable(besideParents(binder, added.table));
  validateExisting(binder, { ...added, table: next }, "notValid" in ast && ast.notValid);
  return next;
}

function dropConstraint(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"drop_constraint">,
): TableDefinition {
  const constraint = table.constraints.find((each) => each.name === action.name);
  if (constraint === undefined) {
    if (!action.ifExists) throw noConstraint(binder, table, action.name, action.position);
    binder.notice(
      SQLSTATE.successfulCompletion,
      `constraint "${action.name}" of relation "${table.name}" does not exist, skipping`,
    );
    return table;
  }
  const isKey = constraint.kind === "primary_key" || constraint.kind === "unique";
  let current = table;
  const indexId = "indexId" in constraint ? constraint.indexId : null;
  const without = (from: TableDefinition): TableDefinition => ({
    ...from,
    // Rows keep the ids they have; new ones still take the column's value, so that ids stay unique.
    rowIdColumn: constraint.kind === "primary_key" ? null : from.rowIdColumn,
    constraints: from.constraints.filter((each) => each.id !== constraint.id),
    indexes: from.indexes.filter((index) => index.id !== indexId),
  });
  if (isKey) {
    const keys = referencingKeys(binder.catalog, table, constraint.columns).filter((key) =>
      key.constraint.referencedColumns.length === constraint.columns.length &&
      key.constraint.referencedColumns.every((id) => constraint.columns.includes(id))
    );
    // A view may group by the key and read what it decides.
    const before = binder.catalog;
    const views = brokenViews(binder, before, before.apply({ kind: "put_table", table: without(table) }));
    const what = `constraint ${constraint.name} on table ${table.name}`;
    requireCascade(
      binder,
      what,
      [
        ...keys.map((key) => `constraint ${key.constraint.name} on table ${key.table.name}`),
        ...views.map((view) => `view ${view.name}`),
      ],
      action.cascade,
      action.position,
    );
    for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
    for (const key of keys) {
      const child = key.table.id === table.id ? current : key.table;
      const next = {
        ...child,
        constraints: child.constraints.filter((each) => each.id !== key.constraint.id),
      };
      if (key.table.id === table.id) current = next;
      else binder.putTable(next);
    }
  }
  return binder.putTable(without(current));
}

function renameConstraint(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"rename_constraint">,
): TableDefinition {
  const constraint = table.constraints.find((each) => each.name === action.name);
  if (constraint === undefined) throw noConstraint(binder, table, action.name, action.position);
  if (
    table.constraints.some((each) => each.name === action.newName) ||
    binder.isTaken(table.schema, action.newName)
  ) {
    throw binder.error(
      SQLSTATE.duplicateObject,
      `constraint "${action.newName}" for relation "${table.name}" already exists`,
      action.position,
    );
  }
  const indexId = "indexId" in constraint ? constraint.indexId : null;
  return binder.putTable({
    ...table,
    constraints: table.constraints.map((each) =>
      each === constraint ? { ...each, name: action.newName } : each
    ),
    indexes: table.indexes.map((index) => index.id === indexId ? { ...index, name: action.newName } : index),
  });
}

function putColumn(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
): TableDefinition {
  return binder.putTable({
    ...table,
    columns: table.columns.map((each) => each.id === column.id ? column : each),
  });
}

/** 22023 unless identity values fit a type. */
export function requireIdentityType(binder: DefinitionBinder, { kind }: SqlType, position: number): void {
  if (kind === "i16" || kind === "i32" || kind === "i64") return;
  throw binder.error(
    SQLSTATE.invalidParameterValue,
    "identity column type must be smallint, integer, or bigint",
    position,
  );
}

function refuseIdentity(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
  position: number,
  hint?: string,
): void {
  if (column.identity === null) return;
  throw binder.error(
    SQLSTATE.syntaxError,
    `column "${column.name}" of relation "${table.name}" is an identity column`,
    position,
    hint === undefined ? {} : { hint },
  );
}

/** 42601 for a generated column. */
export function requirePlain(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
  offset: number,
): void {
  if (column.generatedText !== null) {
    throw binder.error(
      SQLSTATE.syntaxError,
      `column "${column.name}" of relation "${table.name}" is a generated column`,
      offset,
    );
  }
}

/** Runs a change that renames something; refuses it when a view would no longer be understood. */
function guardViews(
  binder: DefinitionBinder,
  what: string,
  offset: number,
  change: () => TableDefinition,
  inViews?: () => ViewDefinition | undefined,
): TableDefinition {
  const before = binder.catalog;
  const table = change();
  const former = before.table(table.id);
  const isMoved = former !== undefined && (former.name !== table.name || former.schema !== table.schema);
  const rewritten = isMoved ? renameInViews(binder, former, table) : inViews?.();
  const view = rewritten ?? brokenViews(binder, before, binder.catalog)[0];
  if (view !== undefined) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      `cannot rename ${what} because view ${view.name} uses it`,
      offset,
      {
        hint: "Drop the view, rename, and create the view anew.",
      },
    );
  }
  return table;
}

function noConstraint(
  binder: DefinitionBinder,
  table: TableDefinition,
  name: string,
  offset: number,
): DatabaseError {
  return binder.error(
    SQLSTATE.undefinedObject,
    `constraint "${name}" of relation "${table.name}" does not exist`,
    offset,
  );
}
