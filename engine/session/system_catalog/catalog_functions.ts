/**
 * Functions whose answer comes from the catalog or the session: pg_get_indexdef, format_type, pg_table_is_visible … The table
 * below names them all; what belongs to the session rather than to the catalog stands in `session_functions.ts`.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { quoteIdentifier } from "../../sql/parser/keywords.ts";
import type { ObjectTypeKind } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import type { SessionEvaluation } from "../evaluation.ts";
import { columnDescription, objectDescription, sharedDescription } from "./comments.ts";
import {
  constraintText,
  indexDefinition,
  indexKeyText,
  qualifiedName,
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

export { lookupObject, objectName };

/** The implementation of one name; arguments are not null. */
export type CatalogFunction = (evaluation: SessionEvaluation, args: readonly SqlValue[]) => SqlValue;

/** Runs a catalog function by name; arguments are not null unless the function takes nulls. */
export function runCatalogFunction(
  evaluation: SessionEvaluation,
  name: string,
  args: readonly SqlValue[],
): SqlValue {
  const run = Object.hasOwn(FUNCTIONS, name)
    ? FUNCTIONS[name]
    : SESSION_FUNCTIONS[name] ?? PRIVILEGE_FUNCTIONS[name];
  if (run !== undefined) return run(evaluation, args);
  throw new DatabaseError(SQLSTATE.featureNotSupported, `function ${name} is not supported`);
}

function id(args: readonly SqlValue[], position = 0): number {
  return Number(args[position]);
}

function text(args: readonly SqlValue[], position: number): string {
  return String(args[position]);
}

function tableOf(evaluation: SessionEvaluation, args: readonly SqlValue[]): TableDefinition | undefined {
  return evaluation.session.catalog.table(id(args));
}

function viewDefinition(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const [which] = args;
  const viewId = typeof which === "string" ? lookupObject(evaluation, "regclass", which) : id(args);
  const view = evaluation.session.catalog.views.find((each) => each.id === viewId);
  return view === undefined ? null : viewText(evaluation.session, view);
}

function indexDefinitionOf(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const index = indexById(evaluation.session.catalog, id(args));
  if (index === undefined) return null;
  const position = args.length > 1 ? id(args, 1) : 0;
  const pretty = args[2] === true;
  if (position === 0) {
    return indexDefinition(evaluation.session, index, {
      pretty,
      qualified: !pretty || isVisible(evaluation, index.table.id) !== true,
    });
  }
  const columnId = [...index.columns.map((column) => column.columnId), ...index.includes][position - 1];
  return columnId === undefined ? "" : indexKeyText(evaluation.session, index, columnId, pretty);
}

function constraintDefinitionOf(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  for (const table of evaluation.session.catalog.tables) {
    const constraint = table.constraints.find((each) => each.id === id(args));
    if (constraint !== undefined) {
      return constraintText(evaluation.session, table, constraint, args[1] === true);
    }
  }
  return null;
}

function triggerDefinition(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  for (const table of evaluation.session.catalog.tables) {
    const trigger = table.triggers.find((each) => each.id === id(args));
    if (trigger !== undefined) return trigger.text;
  }
  return null;
}

function serialSequence(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const { catalog } = evaluation.session;
  const name = text(args, 0), column = text(args, 1);
  // Columns of views and system relations draw from no sequence.
  const table = catalog.table(lookupObject(evaluation, "regclass", name));
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

function sequenceLastValue(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const sequence = evaluation.session.catalog.sequence(id(args));
  if (sequence === undefined) return null;
  const state = evaluation.session.engine.machine.sequences.state(sequence);
  return state.called ? state.value : null;
}

/** Properties that ordered indexes have; `pg_index_column_has_property`. */
function indexColumnProperty(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const index = indexById(evaluation.session.catalog, id(args));
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

function indexProperty(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  if (indexById(evaluation.session.catalog, id(args)) === undefined) return null;
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

function accessMethodProperty(_evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
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
function formatTypeOf(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const type = typeEntryById(evaluation.session, id(args));
  if (type === undefined) return null;
  const modifier = args[1] === null || args[1] === undefined ? -1 : id(args, 1);
  if (type.name === "bytes" && modifier > 4) return `bytes(${modifier - 4})`;
  return typeText(evaluation, type.id) ?? null;
}

function describeObject(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const [classId, objectId, part] = [id(args), id(args, 1), id(args, 2)];
  const { catalog } = evaluation.session;
  switch (classId) {
    case CATALOG.class: {
      const relation = relationById(evaluation, objectId);
      if (relation === undefined) return null;
      const kind = catalog.sequence(objectId) !== undefined
        ? "sequence"
        : indexById(catalog, objectId) !== undefined
        ? "index"
        : catalog.views.some((view) => view.id === objectId) || shapeById(objectId)?.kind === "v"
        ? "view"
        : "table";
      const name = objectName(evaluation, "regclass", objectId) ?? relation.name;
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
          objectName(evaluation, "regclass", table.id) ?? table.name
        }`;
      }
      return null;
    case CATALOG.namespace: {
      const schema = objectName(evaluation, "regnamespace", objectId);
      return schema === undefined ? null : `schema ${schema}`;
    }
    case CATALOG.type: {
      const type = typeText(evaluation, objectId);
      return type === undefined ? null : `type ${type}`;
    }
    case CATALOG.procedure: {
      const signature = routineSignature(objectId);
      return signature === undefined ? null : `function ${signature}`;
    }
    default:
      return null;
  }
}

/** `to_regclass` and its kin: NULL instead of an error. */
function toObject(kind: ObjectTypeKind): CatalogFunction {
  return (evaluation, args) => {
    return findObject(evaluation, kind, text(args, 0)) ?? null;
  };
}

function objectInput(kind: ObjectTypeKind): CatalogFunction {
  return (evaluation, args) => lookupObject(evaluation, kind, text(args, 0));
}

function objectOutput(kind: ObjectTypeKind): CatalogFunction {
  return (evaluation, args) =>
    id(args) === 0 ? "-" : objectName(evaluation, kind, id(args)) ?? String(id(args));
}

const OBJECT_KINDS = ["regclass", "regtype", "regproc", "regnamespace"] as const;

const FUNCTIONS: Readonly<Record<string, CatalogFunction>> = {
  ...Object.fromEntries(OBJECT_KINDS.flatMap((kind) => [
    [`${kind}in`, objectInput(kind)],
    [`${kind}out`, objectOutput(kind)],
    [`to_${kind}`, toObject(kind)],
  ])),
  pg_table_is_visible: (evaluation, args) => isVisible(evaluation, id(args)),
  pg_type_is_visible: (evaluation, args) => isTypeVisible(evaluation, id(args)),
  pg_get_userbyid: (evaluation, args) =>
    id(args) === OWNER_ID ? evaluation.user : `unknown (OID=${id(args)})`,
  pg_get_expr: (evaluation, args) => expressionText(text(args, 0), args[2] === true, evaluation.session),
  pg_get_indexdef: indexDefinitionOf,
  pg_get_constraintdef: constraintDefinitionOf,
  pg_get_viewdef: viewDefinition,
  pg_get_triggerdef: triggerDefinition,
  pg_get_functiondef: (_evaluation, args) => {
    const routine = routineById(id(args));
    return routine === undefined ? null : functionDefinition(routine);
  },
  pg_get_function_arguments: (_evaluation, args) => {
    const routine = routineById(id(args));
    return routine === undefined ? null : argumentsText(routine);
  },
  pg_get_function_identity_arguments: (_evaluation, args) => {
    const routine = routineById(id(args));
    return routine === undefined ? null : argumentsText(routine);
  },
  pg_get_function_result: (_evaluation, args) => {
    const routine = routineById(id(args));
    return routine === undefined ? null : resultText(routine);
  },
  pg_get_serial_sequence: serialSequence,
  pg_relation_size: (evaluation, args) =>
    args.length > 1 && text(args, 1) !== "main" ? 0 : relationBytes(evaluation.session, id(args)) ?? null,
  pg_table_size: (evaluation, args) => relationBytes(evaluation.session, id(args)) ?? null,
  pg_indexes_size: (evaluation, args) => {
    const table = tableOf(evaluation, args);
    return table === undefined ? 0 : indexesBytes(evaluation.session, table);
  },
  pg_total_relation_size: (evaluation, args) => {
    const table = tableOf(evaluation, args);
    if (table === undefined) return relationBytes(evaluation.session, id(args)) ?? null;
    return tableBytes(evaluation.session, table) + indexesBytes(evaluation.session, table);
  },
  pg_database_size: (evaluation) => databaseBytes(evaluation.session),
  pg_relation_filenode: (evaluation, args) =>
    relationBytes(evaluation.session, id(args)) === undefined ? null : id(args),
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
