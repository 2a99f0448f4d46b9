/**
 * Functions whose answer comes from the catalog or the session: pg_get_indexdef, format_type, pg_table_is_visible …
 * The table below names them all; what belongs to the session rather than to the catalog is in
 * `session_functions.ts`.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import type { ObjectTypeKind } from "../types/text_io.ts";
import { formatTypeFamily } from "../types/type_names.ts";
import type { SqlValue } from "../types/value.ts";
import type { CatalogContext, CatalogFunction } from "./catalog_context.ts";
import { columnDescription, objectDescription, sharedDescription } from "./comments.ts";
import {
  constraintText,
  indexDefinition,
  indexKeyText,
  qualifiedName,
  statisticsText,
  triggerDefinition,
  viewText,
} from "./definition_texts.ts";
import { CATALOG, OWNER_ID } from "./object_ids.ts";
import {
  findObject,
  isTypeVisible,
  isVisible,
  lookupObject,
  objectName,
  relationById,
  routineSignature,
  typeText,
} from "./object_names.ts";
import { shapeById } from "./relation_shape.ts";
import { databaseBytes, indexesBytes, relationBytes, tableBytes } from "./relation_size.ts";
import { PRIVILEGE_FUNCTIONS } from "./privileges.ts";
import { argumentsText, functionDefinition, resultText, routineById } from "./routine_catalog.ts";
import { SESSION_FUNCTIONS } from "./session_functions.ts";
import { expressionText, indexById } from "./table_objects.ts";
import { typeEntryById } from "./type_catalog.ts";
import { isFunctionVisible, userArgumentsText, userFunctionById, userFunctionText } from "./user_routines.ts";

export { lookupObject, objectName };

/** Runs a catalog function by name; arguments are not null unless the function takes nulls. */
export function runCatalogFunction(
  context: CatalogContext,
  name: string,
  args: readonly SqlValue[],
): SqlValue {
  const run = Object.hasOwn(FUNCTIONS, name)
    ? FUNCTIONS[name]
    : SESSION_FUNCTIONS[name] ?? PRIVILEGE_FUNCTIONS[name];
  if (run !== undefined) return run(context, args);
  throw new DatabaseError(SQLSTATE.featureNotSupported, `function ${name} is not supported`);
}

function id(args: readonly SqlValue[], position = 0): number {
  return Number(args[position]);
}

function text(args: readonly SqlValue[], position: number): string {
  return String(args[position]);
}

function tableOf(context: CatalogContext, args: readonly SqlValue[]): TableDefinition | undefined {
  return context.catalog.table(id(args));
}

function viewDefinition(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const [which] = args;
  const viewId = typeof which === "string" ? lookupObject(context, "regclass", which) : id(args);
  const view = context.catalog.views.find((each) => each.id === viewId);
  return view === undefined ? null : viewText(context, view);
}

function indexDefinitionOf(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const index = indexById(context.catalog, id(args));
  if (index === undefined) return null;
  const position = args.length > 1 ? id(args, 1) : 0;
  const pretty = args[2] === true;
  if (position === 0) {
    return indexDefinition(context, index, {
      pretty,
      qualified: !pretty || isVisible(context, index.table.id) !== true,
    });
  }
  const columnId = [...index.columns.map((column) => column.columnId), ...index.includes][position - 1];
  return columnId === undefined ? "" : indexKeyText(context, index, columnId, pretty);
}

function constraintDefinitionOf(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  for (const table of context.catalog.tables) {
    const constraint = table.constraints.find((each) => each.id === id(args));
    if (constraint !== undefined) {
      return constraintText(context, table, constraint, args[1] === true);
    }
  }
  return null;
}

function triggerDefinitionOf(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  for (const table of context.catalog.tables) {
    const trigger = table.triggers.find((each) => each.id === id(args));
    if (trigger === undefined) continue;
    const pretty = args[1] === true;
    return triggerDefinition(context, table, trigger, {
      pretty,
      qualified: !pretty || isVisible(context, table.id) !== true,
    });
  }
  return null;
}

function serialSequence(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const { catalog } = context;
  const name = text(args, 0), column = text(args, 1);
  // Columns of views and system relations draw from no sequence.
  const table = catalog.table(lookupObject(context, "regclass", name));
  if (table === undefined) return null;
  const found = table.columns.find((each) => each.name === column && !each.hidden);
  if (found === undefined) {
    throw new DatabaseError(
      SQLSTATE.undefinedColumn,
      `column "${column}" of relation "${table.name}" does not exist`,
    );
  }
  const sequence = found.sequenceId === null ? undefined : catalog.sequence(found.sequenceId);
  return sequence === undefined ? null : qualifiedName(sequence.schema, sequence.name);
}

function sequenceLastValue(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const sequence = context.catalog.sequence(id(args));
  if (sequence === undefined) return null;
  const state = context.machine.sequences.state(sequence);
  return state.called ? state.value : null;
}

/** Properties that ordered indexes have; `pg_index_column_has_property`. */
function indexColumnProperty(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const index = indexById(context.catalog, id(args));
  const column = index?.columns[id(args, 1) - 1];
  if (column === undefined) return null;
  switch (text(args, 2).toLowerCase()) {
    case "asc":
      return !column.descending;
    case "desc":
      return column.descending;
    case "nulls_first":
      return column.nullsFirst;
    case "nulls_last":
      return !column.nullsFirst;
    case "orderable":
    case "returnable":
    case "search_array":
    case "search_nulls":
      return true;
    case "distance_orderable":
      return false;
    default:
      return null;
  }
}

function indexProperty(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  if (indexById(context.catalog, id(args)) === undefined) return null;
  switch (text(args, 1).toLowerCase()) {
    case "index_scan":
    case "backward_scan":
      return true;
    case "clusterable":
    case "bitmap_scan":
      return false;
    default:
      return null;
  }
}

function accessMethodProperty(_context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  switch (text(args, 1).toLowerCase()) {
    case "can_order":
    case "can_unique":
    case "can_multi_col":
    case "can_include":
      return true;
    case "can_exclude":
      return false;
    default:
      return null;
  }
}

/** SQL's spelling of a type with its modifier, for types whose numbers only the catalog knows. */
function formatTypeOf(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const type = typeEntryById(context, id(args));
  if (type === undefined) return null;
  const modifier = args[1] === null || args[1] === undefined ? -1 : id(args, 1);
  if (type.name === "bytes" && modifier > 4) return `bytes(${modifier - 4})`;
  return typeText(context, type.id) ?? null;
}

function describeObject(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const [classId, objectId, part] = [id(args), id(args, 1), id(args, 2)];
  const { catalog } = context;
  switch (classId) {
    case CATALOG.class: {
      const relation = relationById(context, objectId);
      if (relation === undefined) return null;
      const kind = catalog.sequence(objectId) !== undefined
        ? "sequence"
        : indexById(catalog, objectId) !== undefined
        ? "index"
        : catalog.views.some((view) => view.id === objectId) || shapeById(objectId)?.kind === "v"
        ? "view"
        : "table";
      const name = objectName(context, "regclass", objectId) ?? relation.name;
      const column = catalog.table(objectId)?.columns.find((each) => each.id === part);
      return column === undefined
        ? `${kind} ${name}`
        : `column ${quoteIdentifier(column.name)} of ${kind} ${name}`;
    }
    case CATALOG.constraint:
      for (const table of catalog.tables) {
        const constraint = table.constraints.find((each) => each.id === objectId);
        if (constraint === undefined) continue;
        return `constraint ${quoteIdentifier(constraint.name)} on table ${
          objectName(context, "regclass", table.id) ?? table.name
        }`;
      }
      return null;
    case CATALOG.namespace: {
      const schema = objectName(context, "regnamespace", objectId);
      return schema === undefined ? null : `schema ${schema}`;
    }
    case CATALOG.type: {
      const type = typeText(context, objectId);
      return type === undefined ? null : `type ${type}`;
    }
    case CATALOG.procedure: {
      const signature = routineSignature(context, objectId);
      return signature === undefined ? null : `function ${signature}`;
    }
    default:
      return null;
  }
}

/** `to_regclass` and its kin: NULL instead of an error. */
function toObject(kind: ObjectTypeKind): CatalogFunction {
  return (context, args) => {
    return findObject(context, kind, text(args, 0)) ?? null;
  };
}

function objectInput(kind: ObjectTypeKind): CatalogFunction {
  return (context, args) => lookupObject(context, kind, text(args, 0));
}

function objectOutput(kind: ObjectTypeKind): CatalogFunction {
  return (context, args) => id(args) === 0 ? "-" : objectName(context, kind, id(args)) ?? String(id(args));
}

function functionArguments(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const own = userFunctionById(context, id(args));
  if (own !== undefined) return userArgumentsText(own);
  const routine = routineById(id(args));
  return routine === undefined ? null : argumentsText(routine);
}

const OBJECT_KINDS = ["regclass", "regtype", "regproc", "regnamespace"] as const;

const FUNCTIONS: Readonly<Record<string, CatalogFunction>> = {
  ...Object.fromEntries(OBJECT_KINDS.flatMap((kind) => [
    [`${kind}in`, objectInput(kind)],
    [`${kind}out`, objectOutput(kind)],
    [`to_${kind}`, toObject(kind)],
  ])),
  pg_table_is_visible: (context, args) => isVisible(context, id(args)),
  pg_function_is_visible: (context, args) => isFunctionVisible(context, id(args)),
  pg_type_is_visible: (context, args) => isTypeVisible(context, id(args)),
  pg_get_userbyid: (context, args) => id(args) === OWNER_ID ? context.user : `unknown (OID=${id(args)})`,
  pg_get_expr: (context, args) => expressionText(text(args, 0), args[2] === true, context),
  pg_get_indexdef: indexDefinitionOf,
  pg_get_constraintdef: constraintDefinitionOf,
  pg_get_statisticsobjdef: (context, args) => statisticsText(context, id(args), true),
  pg_get_statisticsobjdef_columns: (context, args) => statisticsText(context, id(args), false),
  pg_get_viewdef: viewDefinition,
  pg_get_triggerdef: triggerDefinitionOf,
  pg_get_functiondef: (context, args) => {
    const own = userFunctionById(context, id(args));
    if (own !== undefined) return userFunctionText(own);
    const routine = routineById(id(args));
    return routine === undefined ? null : functionDefinition(routine);
  },
  pg_get_function_arguments: functionArguments,
  pg_get_function_identity_arguments: functionArguments,
  pg_get_function_result: (context, args) => {
    const own = userFunctionById(context, id(args));
    if (own !== undefined) return formatTypeFamily(own.returns);
    const routine = routineById(id(args));
    return routine === undefined ? null : resultText(routine);
  },
  pg_get_serial_sequence: serialSequence,
  pg_relation_size: (context, args) =>
    args.length > 1 && text(args, 1) !== "main" ? 0 : relationBytes(context, id(args)) ?? null,
  pg_table_size: (context, args) => relationBytes(context, id(args)) ?? null,
  pg_indexes_size: (context, args) => {
    const table = tableOf(context, args);
    return table === undefined ? 0 : indexesBytes(context, table);
  },
  pg_total_relation_size: (context, args) => {
    const table = tableOf(context, args);
    if (table === undefined) return relationBytes(context, id(args)) ?? null;
    return tableBytes(context, table) + indexesBytes(context, table);
  },
  pg_database_size: (context) => databaseBytes(context),
  pg_relation_filenode: (context, args) => relationBytes(context, id(args)) === undefined ? null : id(args),
  pg_sequence_last_value: sequenceLastValue,
  obj_description: objectDescription,
  shobj_description: sharedDescription,
  col_description: columnDescription,
  pg_index_column_has_property: indexColumnProperty,
  pg_index_has_property: indexProperty,
  pg_indexam_has_property: accessMethodProperty,
  format_type: formatTypeOf,
  pg_describe_object: describeObject,
};
