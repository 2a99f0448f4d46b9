/**
 * The relations of information_schema (ISO/IEC 9075-11), as PostgreSQL fills them. System relations are listed too,
 * because tools ask for them; they have no constraints.
 *
 * There are no privileges per user: everything is granted to the session's user, who is everybody.
 */
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type {
  ColumnDefinition,
  ConstraintDefinition,
  ReferentialAction,
  TableDefinition,
  TriggerDefinition,
} from "../catalog/definitions.ts";
import { declaredScale } from "../types/sql_type.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatType, formatTypeFamily } from "../types/type_names.ts";
import type { SqlValue } from "../types/value.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { schemaId } from "./class_catalog.ts";
import { triggerAction, viewText } from "./definition_texts.ts";
import { catalogRows, fixedRows, type RelationProviders } from "./relation_provider.ts";
import { CATALOG_SHAPES, type RowValues } from "./relation_shape.ts";
import { routines } from "./routine_catalog.ts";
import { constraintIndexId, defaultTextOf, expressionText, shownColumns } from "./table_objects.ts";
import { catalogTypeNameOf } from "./type_catalog.ts";

function yesNo(value: boolean): string {
  return value ? "YES" : "NO";
}

/** `data_type`: SQL's spelling without lengths; arrays are only that. */
function dataType(type: SqlType): string {
  switch (type.kind) {
    case "array":
      return "ARRAY";
    case "bytes":
      return "bytes";
    case "enum":
      return "USER-DEFINED";
    default:
      return formatTypeFamily(type);
  }
}

const INTEGER_BITS: Readonly<Record<string, number>> = {
  i8: 8,
  u8: 8,
  i16: 16,
  u16: 16,
  i32: 32,
  u32: 32,
  i64: 64,
  u64: 64,
};

function schemaOfType(context: CatalogContext, type: SqlType): string {
  const element = type.kind === "array" ? type.element : type;
  if (element.kind !== "enum") return "pg_catalog";
  return context.catalog.enums.find((each) => each.id === element.id)?.schema ?? "pg_catalog";
}

/** Lengths, precisions and names that follow from a type. */
function typeValues(context: CatalogContext, type: SqlType): RowValues {
  const names: RowValues = {
    data_type: dataType(type),
    udt_catalog: context.database,
    udt_schema: schemaOfType(context, type),
    udt_name: catalogTypeNameOf(type),
  };
  const bits = INTEGER_BITS[type.kind];
  if (bits !== undefined) {
    return { ...names, numeric_precision: bits, numeric_precision_radix: 2, numeric_scale: 0 };
  }
  switch (type.kind) {
    case "varchar":
    case "char":
      return type.length === undefined
        ? { ...names, character_octet_length: 1073741824 }
        : { ...names, character_maximum_length: type.length, character_octet_length: type.length * 4 };
    case "bytes":
      return { ...names, character_maximum_length: type.length, character_octet_length: type.length };
    case "text":
      return { ...names, character_octet_length: 1073741824 };
    case "f32":
      return { ...names, numeric_precision: 24, numeric_precision_radix: 2 };
    case "f64":
      return { ...names, numeric_precision: 53, numeric_precision_radix: 2 };
    case "numeric":
      return {
        ...names,
        numeric_precision: type.precision ?? null,
        numeric_precision_radix: 10,
        numeric_scale: declaredScale(type) ?? null,
      };
    case "date":
      return { ...names, datetime_precision: 0 };
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return { ...names, datetime_precision: "precision" in type ? type.precision : 6 };
    default:
      return names;
  }
}

function identityValues(context: CatalogContext, column: ColumnDefinition): RowValues {
  if (column.identity === null || column.sequenceId === null) {
    return { is_identity: "NO", identity_cycle: "NO" };
  }
  const sequence = context.catalog.sequence(column.sequenceId);
  if (sequence === undefined) return { is_identity: "NO", identity_cycle: "NO" };
  return {
    is_identity: "YES",
    identity_generation: column.identity === "always" ? "ALWAYS" : "BY DEFAULT",
    identity_start: String(sequence.start),
    identity_increment: String(sequence.increment),
    identity_maximum: String(sequence.maximum),
    identity_minimum: String(sequence.minimum),
    identity_cycle: yesNo(sequence.cycle),
  };
}

function* columnRows(context: CatalogContext): Iterable<RowValues> {
  const table_catalog = context.database;
  for (const table of context.catalog.tables) {
    for (const column of shownColumns(table)) {
      const text = defaultTextOf(context.catalog, column);
      yield {
        table_catalog,
        table_schema: table.schema,
        table_name: table.name,
        column_name: column.name,
        ordinal_position: column.id,
        column_default: text === null || column.generatedText !== null
          ? null
          : expressionText(text, false, context),
        is_nullable: yesNo(!column.notNull),
        ...typeValues(context, column.type),
        dtd_identifier: String(column.id),
        is_self_referencing: "NO",
        ...identityValues(context, column),
        is_generated: column.generatedText === null ? "NEVER" : "ALWAYS",
        generation_expression: column.generatedText === null
          ? null
          : expressionText(column.generatedText, false, context),
        is_updatable: "YES",
      };
    }
  }
  for (const relation of viewColumns(context)) {
    yield {
      table_catalog,
      ...relation.names,
      column_name: relation.column,
      ordinal_position: relation.position,
      is_nullable: "YES",
      ...typeValues(context, relation.type),
      dtd_identifier: String(relation.position),
      is_self_referencing: "NO",
      is_identity: "NO",
      identity_cycle: "NO",
      is_generated: "NEVER",
      is_updatable: "NO",
    };
  }
}

interface ViewColumn {
  readonly names: { readonly table_schema: string; readonly table_name: string };
  readonly column: string;
  readonly position: number;
  readonly type: SqlType;
}

/** Columns of views and system relations. */
function* viewColumns(context: CatalogContext): Iterable<ViewColumn> {
  for (const relation of [...context.catalog.views, ...CATALOG_SHAPES.values()]) {
    const names = { table_schema: relation.schema, table_name: relation.name };
    for (const [index, column] of relation.columns.entries()) {
      yield { names, column: column.name, position: index + 1, type: column.type };
    }
  }
}

function* tableRows(context: CatalogContext): Iterable<RowValues> {
  const table_catalog = context.database;
  for (const table of context.catalog.tables) {
    yield {
      table_catalog,
      table_schema: table.schema,
      table_name: table.name,
      table_type: isTemporarySchema(table.schema) ? "LOCAL TEMPORARY" : "BASE TABLE",
      is_insertable_into: "YES",
      is_typed: "NO",
    };
  }
  for (const view of context.catalog.views) {
    yield {
      table_catalog,
      table_schema: view.schema,
      table_name: view.name,
      table_type: "VIEW",
      is_insertable_into: "NO",
      is_typed: "NO",
    };
  }
  for (const shape of CATALOG_SHAPES.values()) {
    yield {
      table_catalog,
      table_schema: shape.schema,
      table_name: shape.name,
      table_type: shape.kind === "r" ? "BASE TABLE" : "VIEW",
      is_insertable_into: "NO",
      is_typed: "NO",
    };
  }
}

const CONSTRAINT_TYPES: Readonly<Record<ConstraintDefinition["kind"], string>> = {
  primary_key: "PRIMARY KEY",
  unique: "UNIQUE",
  check: "CHECK",
  foreign_key: "FOREIGN KEY",
};

function tableNames(context: CatalogContext, table: TableDefinition): RowValues {
  return {
    table_catalog: context.database,
    table_schema: table.schema,
    table_name: table.name,
  };
}

function constraintNames(context: CatalogContext, table: TableDefinition, name: string): RowValues {
  return {
    constraint_catalog: context.database,
    constraint_schema: table.schema,
    constraint_name: name,
  };
}

/** The name under which NOT NULL is listed among the CHECK constraints. */
function notNullName(context: CatalogContext, table: TableDefinition, column: ColumnDefinition): string {
  return `${schemaId(context, table.schema)}_${table.id}_${column.id}_not_null`;
}

function* tableConstraintRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    const common = tableNames(context, table);
    for (const constraint of table.constraints) {
      yield {
        ...constraintNames(context, table, constraint.name),
        ...common,
        constraint_type: CONSTRAINT_TYPES[constraint.kind],
        is_deferrable: yesNo(constraint.kind === "foreign_key" && constraint.deferrable),
        initially_deferred: yesNo(constraint.kind === "foreign_key" && constraint.initiallyDeferred),
        enforced: "YES",
        nulls_distinct: constraint.kind === "unique" ? yesNo(!constraint.nullsNotDistinct) : null,
      };
    }
    for (const column of shownColumns(table)) {
      if (!column.notNull) continue;
      yield {
        ...constraintNames(context, table, notNullName(context, table, column)),
        ...common,
        constraint_type: "CHECK",
        is_deferrable: "NO",
        initially_deferred: "NO",
        enforced: "YES",
      };
    }
  }
}

function* checkRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const constraint of table.constraints) {
      if (constraint.kind !== "check") continue;
      yield {
        ...constraintNames(context, table, constraint.name),
        check_clause: `(${expressionText(constraint.text, false, context)})`,
      };
    }
    for (const column of shownColumns(table)) {
      if (!column.notNull) continue;
      yield {
        ...constraintNames(context, table, notNullName(context, table, column)),
        check_clause: `${column.name} IS NOT NULL`,
      };
    }
  }
}

function nameOf(table: TableDefinition, columnId: number): string {
  return table.columns.find((column) => column.id === columnId)?.name ?? "";
}

function* keyColumnRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const constraint of table.constraints) {
      if (constraint.kind === "check") continue;
      for (const [index, columnId] of constraint.columns.entries()) {
        yield {
          ...constraintNames(context, table, constraint.name),
          ...tableNames(context, table),
          column_name: nameOf(table, columnId),
          ordinal_position: index + 1,
          position_in_unique_constraint: constraint.kind === "foreign_key"
            ? uniquePosition(context, constraint, index)
            : null,
        };
      }
    }
  }
}

type ForeignKey = Extract<ConstraintDefinition, { kind: "foreign_key" }>;

/** Which column of the referenced key the column matches. */
function uniquePosition(context: CatalogContext, constraint: ForeignKey, position: number): number {
  const referenced = constraint.referencedColumns[position] ?? 0;
  const key = referencedKey(context, constraint);
  const found = key === undefined || key.kind === "check" ? -1 : key.columns.indexOf(referenced);
  return found < 0 ? position + 1 : found + 1;
}

/** The unique constraint that a foreign key relies on. */
function referencedKey(context: CatalogContext, constraint: ForeignKey): ConstraintDefinition | undefined {
  const target = context.catalog.table(constraint.referencedTableId);
  const indexId = constraintIndexId(context.catalog, constraint);
  return target?.constraints.find((each) =>
    (each.kind === "primary_key" || each.kind === "unique") &&
    constraintIndexId(context.catalog, each) === indexId
  );
}

function* columnUsageRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const constraint of table.constraints) {
      const isForeign = constraint.kind === "foreign_key";
      const used = isForeign ? context.catalog.table(constraint.referencedTableId) : table;
      if (used === undefined) continue;
      for (const columnId of isForeign ? constraint.referencedColumns : constraint.columns) {
        yield {
          ...tableNames(context, used),
          column_name: nameOf(used, columnId),
          ...constraintNames(context, table, constraint.name),
        };
      }
    }
  }
}

function* tableUsageRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const constraint of table.constraints) {
      if (constraint.kind === "check") continue;
      const used = constraint.kind === "foreign_key"
        ? context.catalog.table(constraint.referencedTableId)
        : table;
      if (used === undefined) continue;
      yield { ...tableNames(context, used), ...constraintNames(context, table, constraint.name) };
    }
  }
}

const RULES: Readonly<Record<ReferentialAction, string>> = {
  "no action": "NO ACTION",
  restrict: "RESTRICT",
  cascade: "CASCADE",
  "set null": "SET NULL",
  "set default": "SET DEFAULT",
};

function* referentialRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const constraint of table.constraints) {
      if (constraint.kind !== "foreign_key") continue;
      const target = context.catalog.table(constraint.referencedTableId);
      const key = referencedKey(context, constraint);
      yield {
        ...constraintNames(context, table, constraint.name),
        unique_constraint_catalog: key === undefined ? null : context.database,
        unique_constraint_schema: key === undefined ? null : target?.schema ?? null,
        unique_constraint_name: key?.name ?? null,
        match_option: constraint.match === "full" ? "FULL" : "NONE",
        update_rule: RULES[constraint.onUpdate],
        delete_rule: RULES[constraint.onDelete],
      };
    }
  }
}

function* sequenceRows(context: CatalogContext): Iterable<RowValues> {
  for (const sequence of context.catalog.sequences) {
    const owner = sequence.ownedBy === null ? undefined : context.catalog.table(sequence.ownedBy.tableId);
    const column = owner?.columns.find((each) => each.id === sequence.ownedBy?.columnId);
    // The sequence of an identity column is part of the column.
    if (column !== undefined && column.identity !== null) continue;
    yield {
      sequence_catalog: context.database,
      sequence_schema: sequence.schema,
      sequence_name: sequence.name,
      data_type: formatType({ kind: sequence.type }),
      numeric_precision: INTEGER_BITS[sequence.type] ?? 64,
      numeric_precision_radix: 2,
      numeric_scale: 0,
      start_value: String(sequence.start),
      minimum_value: String(sequence.minimum),
      maximum_value: String(sequence.maximum),
      increment: String(sequence.increment),
      cycle_option: yesNo(sequence.cycle),
    };
  }
}

const TABLE_PRIVILEGES = ["INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];
const COLUMN_PRIVILEGES = ["INSERT", "SELECT", "UPDATE", "REFERENCES"];

function grant(context: CatalogContext, privilege: string): RowValues {
  return {
    grantor: context.user,
    grantee: context.user,
    privilege_type: privilege,
    is_grantable: "YES",
  };
}

function* tablePrivilegeRows(context: CatalogContext): Iterable<RowValues> {
  for (const relation of [...context.catalog.tables, ...context.catalog.views]) {
    for (const privilege of TABLE_PRIVILEGES) {
      yield {
        ...grant(context, privilege),
        table_catalog: context.database,
        table_schema: relation.schema,
        table_name: relation.name,
        with_hierarchy: yesNo(privilege === "SELECT"),
      };
    }
  }
}

function* columnPrivilegeRows(context: CatalogContext): Iterable<RowValues> {
  const { catalog } = context;
  const relations = [
    ...catalog.tables.map((table) => ({ ...table, columns: shownColumns(table) })),
    ...catalog.views,
  ];
  for (const relation of relations) {
    for (const column of relation.columns) {
      for (const privilege of COLUMN_PRIVILEGES) {
        yield {
          ...grant(context, privilege),
          table_catalog: context.database,
          table_schema: relation.schema,
          table_name: relation.name,
          column_name: column.name,
        };
      }
    }
  }
}

function* triggerRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    const orders = { insert: 0, delete: 0, update: 0 };
    for (const trigger of [...table.triggers].sort((a, b) => a.name < b.name ? -1 : 1)) {
      const { whenText } = trigger;
      for (const event of trigger.events) {
        yield {
          ...triggerNames(context, table, trigger),
          event_manipulation: event.toUpperCase(),
          action_order: ++orders[event],
          action_condition: whenText === null ? null : expressionText(whenText, false, context),
          action_statement: triggerAction(context, table, trigger, false),
          action_orientation: "ROW",
          action_timing: "BEFORE",
        };
      }
    }
  }
}

function triggerNames(
  context: CatalogContext,
  table: TableDefinition,
  trigger: TriggerDefinition,
): RowValues {
  return {
    trigger_catalog: context.database,
    trigger_schema: table.schema,
    trigger_name: trigger.name,
    event_object_catalog: context.database,
    event_object_schema: table.schema,
    event_object_table: table.name,
  };
}

function* triggeredColumnRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const trigger of table.triggers) {
      for (const column of shownColumns(table)) {
        if (!trigger.updateColumns.includes(column.id)) continue;
        yield { ...triggerNames(context, table, trigger), event_object_column: column.name };
      }
    }
  }
}

/** One row with the name of the database, for the relations that hold the server's constants. */
function oneRole(column: string): (context: CatalogContext) => RowValues[] {
  return (context) => [{ [column]: context.user }];
}

/** Providers of information_schema. */
export const INFORMATION_SCHEMA_RELATIONS: RelationProviders = {
  information_schema_catalog_name: catalogRows((context) => [{ catalog_name: context.database }]),
  schemata: catalogRows((context) =>
    context.catalog.schemas.map((schema) => ({
      catalog_name: context.database,
      schema_name: schema.name,
      schema_owner: context.user,
    }))
  ),
  tables: catalogRows(tableRows),
  columns: catalogRows(columnRows),
  views: catalogRows((context) =>
    context.catalog.views.map((view) => ({
      table_catalog: context.database,
      table_schema: view.schema,
      table_name: view.name,
      view_definition: viewText(context, view),
      check_option: "NONE",
      is_updatable: "NO",
      is_insertable_into: "NO",
      is_trigger_updatable: "NO",
      is_trigger_deletable: "NO",
      is_trigger_insertable_into: "NO",
    }))
  ),
  table_constraints: catalogRows(tableConstraintRows),
  key_column_usage: catalogRows(keyColumnRows),
  constraint_column_usage: catalogRows(columnUsageRows),
  constraint_table_usage: catalogRows(tableUsageRows),
  referential_constraints: catalogRows(referentialRows),
  check_constraints: catalogRows(checkRows),
  sequences: catalogRows(sequenceRows),
  triggers: catalogRows(triggerRows),
  triggered_update_columns: catalogRows(triggeredColumnRows),
  table_privileges: catalogRows(tablePrivilegeRows),
  role_table_grants: catalogRows(tablePrivilegeRows),
  column_privileges: catalogRows(columnPrivilegeRows),
  role_column_grants: catalogRows(columnPrivilegeRows),
  element_types: catalogRows((context) =>
    context.catalog.tables.flatMap((table) =>
      shownColumns(table).flatMap((column): RowValues[] =>
        column.type.kind !== "array" ? [] : [{
          object_catalog: context.database,
          object_schema: table.schema,
          object_name: table.name,
          object_type: "TABLE",
          collection_type_identifier: String(column.id),
          ...elementValues(context, column.type.element),
          dtd_identifier: `a${column.id}`,
        }]
      )
    )
  ),
  routines: catalogRows((context) => [
    ...routines().map((routine) => ({
      specific_catalog: context.database,
      specific_schema: "pg_catalog",
      specific_name: `${routine.name}_${routine.id}`,
      routine_catalog: context.database,
      routine_schema: "pg_catalog",
      routine_name: routine.name,
      routine_type: routine.kind === "f" ? "FUNCTION" : null,
      routine_body: "EXTERNAL",
      external_language: "INTERNAL",
      is_deterministic: yesNo(routine.volatility === "i"),
      is_null_call: yesNo(routine.strict),
      security_type: "INVOKER",
    })),
    ...context.catalog.functions.map((each): RowValues => {
      const { udt_catalog, udt_schema, udt_name, data_type } = typeValues(context, each.returns);
      return {
        specific_catalog: context.database,
        specific_schema: each.schema,
        specific_name: `${each.name}_${each.id}`,
        routine_catalog: context.database,
        routine_schema: each.schema,
        routine_name: each.name,
        routine_type: "FUNCTION",
        data_type: data_type ?? null,
        type_udt_catalog: udt_catalog ?? null,
        type_udt_schema: udt_schema ?? null,
        type_udt_name: udt_name ?? null,
        dtd_identifier: "0",
        routine_body: "EXTERNAL",
        external_name: each.exportName,
        external_language: "WASM",
        parameter_style: "GENERAL",
        is_deterministic: "YES",
        sql_data_access: "NO SQL",
        is_null_call: yesNo(each.strict),
        schema_level_routine: "YES",
        security_type: "INVOKER",
      };
    }),
  ]),
  parameters: catalogRows((context) => [
    ...routines().flatMap((routine) =>
      routine.signature.map((_, index) => ({
        specific_catalog: context.database,
        specific_schema: "pg_catalog",
        specific_name: `${routine.name}_${routine.id}`,
        ordinal_position: index + 1,
        parameter_mode: "IN",
        is_result: "NO",
        as_locator: "NO",
      }))
    ),
    ...context.catalog.functions.flatMap((each) =>
      each.parameters.map(({ name, type }, index): RowValues => ({
        specific_catalog: context.database,
        specific_schema: each.schema,
        specific_name: `${each.name}_${each.id}`,
        ordinal_position: index + 1,
        parameter_mode: "IN",
        is_result: "NO",
        as_locator: "NO",
        parameter_name: name,
        ...typeValues(context, type),
        dtd_identifier: String(index + 1),
      }))
    ),
  ]),
  character_sets: catalogRows((context) => [{
    character_set_name: "UTF8",
    character_repertoire: "UCS",
    form_of_use: "UTF8",
    default_collate_catalog: context.database,
    default_collate_schema: "pg_catalog",
    default_collate_name: "C",
  }]),
  collations: catalogRows((context) =>
    ["default", "C", "POSIX"].map((name) => ({
      collation_catalog: context.database,
      collation_schema: "pg_catalog",
      collation_name: name,
      pad_attribute: "NO PAD",
    }))
  ),
  enabled_roles: catalogRows(oneRole("role_name")),
  sql_implementation_info: fixedRows(() => [
    { implementation_info_id: "17", implementation_info_name: "DBMS NAME", character_value: "PostgreSQL" },
    { implementation_info_id: "18", implementation_info_name: "DBMS VERSION", character_value: "15.00.0000" },
    {
      implementation_info_id: "26",
      implementation_info_name: "DEFAULT TRANSACTION ISOLATION",
      integer_value: 8,
    },
  ]),
};

function elementValues(context: CatalogContext, type: SqlType): Record<string, SqlValue> {
  const { data_type, udt_catalog, udt_schema, udt_name } = typeValues(context, type);
  return {
    data_type: data_type ?? null,
    udt_catalog: udt_catalog ?? null,
    udt_schema: udt_schema ?? null,
    udt_name: udt_name ?? null,
  };
}
