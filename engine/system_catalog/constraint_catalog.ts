/** pg_constraint, pg_trigger, pg_rewrite, comments and dependencies. */
import type {
  ColumnDefinition,
  ConstraintDefinition,
  ReferentialAction,
  TableDefinition,
} from "../catalog/definitions.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import { splitName } from "./split_name.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { commentRows, sharedCommentRows } from "./comments.ts";
import { defaultId, schemaId } from "./class_catalog.ts";
import { viewRelations } from "./definition_texts.ts";
import { CATALOG, DATABASE_ID, OWNER_ID } from "./object_ids.ts";
import { catalogRows, fixedRows, type RelationProviders } from "./relation_provider.ts";
import { type RowValues, vector } from "./relation_shape.ts";
import { equalityOperatorId } from "./routine_catalog.ts";
import { constraintIndexId, defaultTextOf, indexesOf, shownColumns } from "./table_objects.ts";

const ACTION_LETTERS: Readonly<Record<ReferentialAction, string>> = {
  "no action": "a",
  restrict: "r",
  cascade: "c",
  "set null": "n",
  "set default": "d",
};

const KIND_LETTERS: Readonly<Record<ConstraintDefinition["kind"], string>> = {
  primary_key: "p",
  unique: "u",
  check: "c",
  foreign_key: "f",
};

function constraintRow(
  context: CatalogContext,
  table: TableDefinition,
  constraint: ConstraintDefinition,
): RowValues {
  const common: RowValues = {
    oid: constraint.id,
    conname: constraint.name,
    connamespace: schemaId(context, table.schema),
    contype: KIND_LETTERS[constraint.kind],
    convalidated: true,
    conrelid: table.id,
    conindid: constraintIndexId(context.catalog, constraint),
    confupdtype: " ",
    confdeltype: " ",
    confmatchtype: " ",
    conislocal: true,
    connoinherit: constraint.kind !== "check",
    conkey: constraint.columns.length === 0 ? null : SqlArray.of(constraint.columns),
  };
  if (constraint.kind === "check") return { ...common, conbin: constraint.text };
  if (constraint.kind !== "foreign_key") return common;
  const operators = constraint.columns.map((columnId) => equalityOperatorId(typeOf(table, columnId)));
  return {
    ...common,
    condeferrable: constraint.deferrable,
    condeferred: constraint.initiallyDeferred,
    confrelid: constraint.referencedTableId,
    confupdtype: ACTION_LETTERS[constraint.onUpdate],
    confdeltype: ACTION_LETTERS[constraint.onDelete],
    confmatchtype: constraint.match === "full" ? "f" : "s",
    confkey: SqlArray.of(constraint.referencedColumns),
    conpfeqop: SqlArray.of(operators),
    conppeqop: SqlArray.of(operators),
    conffeqop: SqlArray.of(operators),
    confdelsetcols: constraint.onDeleteColumns.length === 0 ? null : SqlArray.of(constraint.onDeleteColumns),
  };
}

function typeOf(table: TableDefinition, columnId: number): SqlType {
  return table.columns.find((column) => column.id === columnId)?.type ?? { kind: "text" };
}

/** Bits of pg_trigger.tgtype. */
const TRIGGER_ROW = 1, TRIGGER_BEFORE = 2, TRIGGER_INSERT = 4, TRIGGER_DELETE = 8, TRIGGER_UPDATE = 16;

const TRIGGER_EVENTS = { insert: TRIGGER_INSERT, delete: TRIGGER_DELETE, update: TRIGGER_UPDATE };

function* triggerRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const trigger of table.triggers) {
      yield {
        oid: trigger.id,
        tgrelid: table.id,
        tgname: trigger.name,
        tgtype: trigger.events.reduce(
          (bits, event) => bits | TRIGGER_EVENTS[event],
          TRIGGER_ROW | TRIGGER_BEFORE,
        ),
        tgenabled: trigger.enabled ? "O" : "D",
        tgattr: vector(trigger.updateColumns),
        tgqual: trigger.whenText,
        tgargs: new Uint8Array(0),
      };
    }
  }
}

/** The number of a view's rule; one past all relations would collide, so it has a range of its own. */
const RULE_OFFSET = 0x2000_0000;

/** What depends on what: sequences on the columns that own them, indexes on constraints, constraints on tables. */
/** Sequences that the default of a column takes values from. */
function sequencesOf(context: CatalogContext, table: TableDefinition, column: ColumnDefinition): number[] {
  if (column.sequenceId !== null) return [column.sequenceId];
  const [, quoted] = /\bnextval\('((?:[^']|'')+)'/.exec(column.defaultText ?? "") ?? [];
  if (quoted === undefined) return [];
  const [name = "", schema] = splitName(quoted.replaceAll("''", "'")).toReversed();
  const { catalog } = context;
  const relation = schema === undefined
    ? catalog.findRelation(name, [table.schema, "public"])
    : catalog.relation(schema, name);
  return relation?.kind === "sequence" ? [relation.sequence.id] : [];
}

function* dependencyRows(context: CatalogContext): Iterable<RowValues> {
  const { catalog } = context;
  for (const table of catalog.tables) {
    const namespace = schemaId(context, table.schema);
    yield dependency([CATALOG.class, table.id, 0], [CATALOG.namespace, namespace, 0], "n");
    for (const column of shownColumns(table)) {
      if (defaultTextOf(catalog, column) === null) continue;
      const from: Address = [CATALOG.attributeDefault, defaultId(table.id, column.id), 0];
      yield dependency(from, [CATALOG.class, table.id, column.id], "a");
      for (const sequenceId of sequencesOf(context, table, column)) {
        yield dependency(from, [CATALOG.class, sequenceId, 0], "n");
      }
    }
    for (const trigger of table.triggers) {
      const from: Address = [CATALOG.trigger, trigger.id, 0];
      yield dependency(from, [CATALOG.class, table.id, 0], "a");
      for (const columnId of trigger.updateColumns) {
        yield dependency(from, [CATALOG.class, table.id, columnId], "n");
      }
    }
    const owned = new Set<number>();
    for (const constraint of table.constraints) {
      for (const columnId of constraint.columns) {
        yield dependency([CATALOG.constraint, constraint.id, 0], [CATALOG.class, table.id, columnId], "a");
      }
      const indexId = constraintIndexId(catalog, constraint);
      if (constraint.kind === "foreign_key") {
        for (const columnId of constraint.referencedColumns) {
          yield dependency([CATALOG.constraint, constraint.id, 0], [
            CATALOG.class,
            constraint.referencedTableId,
            columnId,
          ], "n");
        }
        if (indexId !== 0) {
          yield dependency([CATALOG.constraint, constraint.id, 0], [CATALOG.class, indexId, 0], "n");
        }
      } else if (indexId !== 0) {
        owned.add(indexId);
        yield dependency([CATALOG.class, indexId, 0], [CATALOG.constraint, constraint.id, 0], "i");
      }
    }
    for (const index of indexesOf(table)) {
      if (owned.has(index.id)) continue;
      for (const column of index.columns) {
        yield dependency([CATALOG.class, index.id, 0], [CATALOG.class, table.id, column.columnId], "a");
      }
    }
  }
  for (const sequence of catalog.sequences) {
    yield dependency([CATALOG.class, sequence.id, 0], [
      CATALOG.namespace,
      schemaId(context, sequence.schema),
      0,
    ], "n");
    if (sequence.ownedBy === null) continue;
    const { tableId, columnId } = sequence.ownedBy;
    const column = catalog.table(tableId)?.columns.find((each) => each.id === columnId);
    yield dependency(
      [CATALOG.class, sequence.id, 0],
      [CATALOG.class, tableId, columnId],
      column?.identity === null || column === undefined ? "a" : "i",
    );
  }
  for (const view of catalog.views) {
    yield dependency(
      [CATALOG.class, view.id, 0],
      [CATALOG.namespace, schemaId(context, view.schema), 0],
      "n",
    );
    const rule: Address = [CATALOG.rewrite, view.id + RULE_OFFSET, 0];
    yield dependency(rule, [CATALOG.class, view.id, 0], "i");
    for (const id of viewRelations(context, view)) yield dependency(rule, [CATALOG.class, id, 0], "n");
  }
}

type Address = readonly [classId: number, objectId: number, part: number];

function dependency(from: Address, to: Address, kind: string): RowValues {
  return {
    classid: from[0],
    objid: from[1],
    objsubid: from[2],
    refclassid: to[0],
    refobjid: to[1],
    refobjsubid: to[2],
    deptype: kind,
  };
}

/** Providers of the relations about constraints, comments and dependencies. */
export const CONSTRAINT_RELATIONS: RelationProviders = {
  pg_constraint: catalogRows((context) =>
    context.catalog.tables.flatMap((table) =>
      table.constraints.map((constraint) => constraintRow(context, table, constraint))
    )
  ),
  pg_trigger: catalogRows(triggerRows),
  pg_rewrite: catalogRows((context) =>
    context.catalog.views.map((view) => ({
      oid: view.id + RULE_OFFSET,
      rulename: "_RETURN",
      ev_class: view.id,
      ev_type: "1",
      ev_enabled: "O",
      is_instead: true,
      ev_qual: "<>",
      ev_action: view.text,
    }))
  ),
  pg_description: catalogRows(commentRows),
  pg_shdescription: catalogRows(sharedCommentRows),
  pg_depend: catalogRows(dependencyRows),
  pg_shdepend: fixedRows(() => [
    {
      dbid: DATABASE_ID,
      classid: CATALOG.database,
      objid: DATABASE_ID,
      refclassid: CATALOG.authorization,
      refobjid: OWNER_ID,
      deptype: "o",
    },
  ]),
};
