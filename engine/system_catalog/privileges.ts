/**
 * `has_table_privilege` and its kin. Whoever is connected may do everything, so that the answer is true; but a role, an
 * object or a privilege that does not exist is an error all the same, and the number of no object gives NULL.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { SqlValue } from "../types/value.ts";
import type { CatalogContext, CatalogFunction } from "./catalog_context.ts";
import { DATABASE_ID, OWNER_ID } from "./object_ids.ts";
import { lookupObject, relationById } from "./object_names.ts";
import { anyRoutine } from "./user_routines.ts";
import { typeEntryById } from "./type_catalog.ts";

/** Whether there is an object of this number. One of this name that does not exist raises its error. */
type Find = (context: CatalogContext, object: SqlValue) => boolean;

interface PrivilegeKind {
  readonly find: Find;
  readonly privileges: readonly string[];
}

const COLUMN_PRIVILEGES = ["select", "insert", "update", "references"];

const KINDS: Readonly<Record<string, PrivilegeKind>> = {
  has_table_privilege: {
    find: findRelation,
    privileges: [...COLUMN_PRIVILEGES, "delete", "truncate", "trigger", "rule"],
  },
  has_any_column_privilege: { find: findRelation, privileges: COLUMN_PRIVILEGES },
  has_column_privilege: { find: findRelation, privileges: COLUMN_PRIVILEGES },
  has_sequence_privilege: { find: findSequence, privileges: ["usage", "select", "update"] },
  has_schema_privilege: {
    find: (context, object) =>
      typeof object === "string"
        ? (lookupObject(context, "regnamespace", object), true)
        : context.catalog.schemas.some((schema) => schema.id === Number(object)),
    privileges: ["create", "usage"],
  },
  has_database_privilege: {
    find: (context, object) => {
      if (typeof object !== "string") return Number(object) === DATABASE_ID;
      if (object === context.database) return true;
      throw new DatabaseError(SQLSTATE.invalidCatalogName, `database "${object}" does not exist`);
    },
    privileges: ["create", "temporary", "temp", "connect"],
  },
  has_function_privilege: { find: findFunction, privileges: ["execute"] },
  has_type_privilege: {
    find: (context, object) =>
      typeof object === "string"
        ? (lookupObject(context, "regtype", object), true)
        : typeEntryById(context, Number(object)) !== undefined,
    privileges: ["usage"],
  },
  has_language_privilege: {
    find: named("language", ["internal", "c", "sql", "plpgsql", "wasm"]),
    privileges: ["usage"],
  },
  has_tablespace_privilege: {
    find: named("tablespace", ["pg_default", "pg_global"]),
    privileges: ["create"],
  },
  has_foreign_data_wrapper_privilege: { find: named("foreign-data wrapper", []), privileges: ["usage"] },
  has_server_privilege: { find: named("server", []), privileges: ["usage"] },
  has_parameter_privilege: { find: () => true, privileges: ["set", "alter system"] },
  pg_has_role: {
    find: (context, object) => {
      requireRole(context, object);
      return true;
    },
    privileges: ["usage", "member"],
  },
};

/** The functions by name. */
export const PRIVILEGE_FUNCTIONS: Readonly<Record<string, CatalogFunction>> = Object.fromEntries(
  Object.entries(KINDS).map(([name, kind]) => [
    name,
    (context: CatalogContext, args: readonly SqlValue[]) => inquire(context, name, kind, args),
  ]),
);

function inquire(
  context: CatalogContext,
  name: string,
  { find, privileges }: PrivilegeKind,
  args: readonly SqlValue[],
): SqlValue {
  const isColumn = name === "has_column_privilege";
  const rest = [...args];
  const privilege = rest.pop() ?? null;
  const column = isColumn ? rest.pop() ?? null : null;
  const object = rest.pop() ?? null;
  const [role] = rest;
  if (role !== undefined) requireRole(context, role);
  const isThere = find(context, object) && (!isColumn || hasColumn(context, object, column));
  requirePrivileges(String(privilege), privileges);
  return isThere ? true : null;
}

function requireRole(context: CatalogContext, role: SqlValue): void {
  const isKnown = typeof role === "string"
    ? role === context.user || role === "public"
    : Number(role) === OWNER_ID || Number(role) === 0;
  if (isKnown) return;
  throw new DatabaseError(
    SQLSTATE.undefinedObject,
    typeof role === "string"
      ? `role "${role}" does not exist`
      : `role with OID ${String(role)} does not exist`,
  );
}

/** A list of privileges, each perhaps WITH GRANT OPTION. */
function requirePrivileges(list: string, known: readonly string[]): void {
  for (const part of list.split(",")) {
    const written = part.trim();
    const privilege = written.toLowerCase().replace(/ with (grant|admin) option$/, "");
    if (!known.includes(privilege)) {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        `unrecognized privilege type: "${written}"`,
      );
    }
  }
}

function relationId(context: CatalogContext, object: SqlValue): number {
  return typeof object === "string" ? lookupObject(context, "regclass", object) : Number(object);
}

function findRelation(context: CatalogContext, object: SqlValue): boolean {
  return relationById(context, relationId(context, object)) !== undefined;
}

function findSequence(context: CatalogContext, object: SqlValue): boolean {
  const id = relationId(context, object);
  if (context.catalog.sequence(id) !== undefined) return true;
  const other = relationById(context, id);
  if (other === undefined) return false;
  throw new DatabaseError(SQLSTATE.wrongObjectType, `"${other.name}" is not a sequence`);
}

function findFunction(context: CatalogContext, object: SqlValue): boolean {
  if (typeof object !== "string") return anyRoutine(context, Number(object)) !== undefined;
  if (!object.includes("(")) {
    throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "expected a left parenthesis");
  }
  lookupObject(context, "regproc", object);
  return true;
}

function named(what: string, names: readonly string[]): Find {
  return (_context, object) => {
    if (typeof object !== "string" || names.includes(object)) return true;
    throw new DatabaseError(SQLSTATE.undefinedObject, `${what} "${object}" does not exist`);
  };
}

/** Whether a relation has a column of a name (42703 otherwise) or number. */
function hasColumn(context: CatalogContext, object: SqlValue, column: SqlValue): boolean {
  const { catalog } = context;
  const id = relationId(context, object);
  const columns = catalog.table(id)?.columns.filter((each) => !each.hidden) ??
    catalog.views.find((view) => view.id === id)?.columns.map(({ name }, index) => ({ name, id: index + 1 }));
  if (columns === undefined) return true;
  if (typeof column !== "string") return columns.some((each) => each.id === Number(column));
  if (columns.some((each) => each.name === column)) return true;
  throw new DatabaseError(
    SQLSTATE.undefinedColumn,
    `column "${column}" of relation "${relationById(context, id)?.name ?? ""}" does not exist`,
  );
}
