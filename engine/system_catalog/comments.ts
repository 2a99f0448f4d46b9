/** Comments on objects, as pg_description, pg_shdescription and the functions that read them have them. */
import { BUILT_IN_EXTENSIONS, isInstalled } from "../sql/definition/extensions.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { SqlValue } from "../types/value.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { CATALOG, DATABASE_ID, EXTENSION_IDS, OWNER_ID } from "./object_ids.ts";
import type { RowValues } from "./relation_shape.ts";
import { routineById } from "./routine_catalog.ts";
import { indexesOf, shownColumns } from "./table_objects.ts";
import { userFunctionById } from "./user_routines.ts";

/** Comments on schemas that are there from the start, until another one takes their place. */
const INITIAL_SCHEMA_COMMENTS: Readonly<Record<string, string>> = {
  pg_catalog: "system catalog schema",
  public: "standard public schema",
};

/** One comment: `part` is a column's number, or 0. */
interface Comment {
  readonly catalog: number;
  readonly objectId: number;
  readonly part: number;
  readonly text: string;
}

/** The catalogs whose comments are in pg_shdescription. */
const SHARED: ReadonlySet<number> = new Set([CATALOG.database, CATALOG.authorization]);

type Put = (catalog: number, objectId: number, text: string | null | undefined, part?: number) => void;

function putComments(catalog: Catalog, put: Put): void {
  for (const table of catalog.tables) {
    put(CATALOG.class, table.id, table.comment);
    for (const column of shownColumns(table)) put(CATALOG.class, table.id, column.comment, column.id);
    for (const index of indexesOf(table)) put(CATALOG.class, index.id, index.comment);
    for (const { id, comment } of table.statistics ?? []) put(CATALOG.statistics, id, comment);
    for (const trigger of table.triggers) put(CATALOG.trigger, trigger.id, trigger.comment);
    for (const constraint of table.constraints) put(CATALOG.constraint, constraint.id, constraint.comment);
  }
  for (const view of catalog.views) {
    put(CATALOG.class, view.id, view.comment);
    for (const [index, column] of view.columns.entries()) {
      put(CATALOG.class, view.id, column.comment, index + 1);
    }
  }
  for (const sequence of catalog.sequences) put(CATALOG.class, sequence.id, sequence.comment);
  for (const schema of catalog.schemas) {
    put(CATALOG.namespace, schema.id, schema.comment ?? INITIAL_SCHEMA_COMMENTS[schema.name]);
  }
  for (const { id, comment } of catalog.enums) put(CATALOG.type, id, comment);
  for (const { id, comment } of catalog.functions) put(CATALOG.procedure, id, comment);
  for (const { name, comment } of BUILT_IN_EXTENSIONS) {
    if (!isInstalled(catalog, name)) continue;
    put(CATALOG.extension, EXTENSION_IDS.get(name) ?? 0, catalog.comment(`extension ${name}`) ?? comment);
  }
  put(CATALOG.database, DATABASE_ID, catalog.comment("database"));
  put(CATALOG.authorization, OWNER_ID, catalog.comment("role"));
}

const commentsByCatalog = new WeakMap<Catalog, ReadonlyMap<number, readonly Comment[]>>();

/** All comments by the number of their object; an empty text says that one was taken away. */
function commentsOf(catalog: Catalog): ReadonlyMap<number, readonly Comment[]> {
  const known = commentsByCatalog.get(catalog);
  if (known !== undefined) return known;
  const comments = new Map<number, Comment[]>();
  putComments(catalog, (catalogId, objectId, text, part = 0) => {
    if (text === null || text === undefined || text === "") return;
    const ofObject = comments.get(objectId) ?? [];
    ofObject.push({ catalog: catalogId, objectId, part, text });
    comments.set(objectId, ofObject);
  });
  commentsByCatalog.set(catalog, comments);
  return comments;
}

/** Rows of pg_description. */
export function commentRows({ catalog }: CatalogContext): RowValues[] {
  return [...commentsOf(catalog).values()].flat().filter((each) => !SHARED.has(each.catalog)).map((each) => ({
    objoid: each.objectId,
    classoid: each.catalog,
    objsubid: each.part,
    description: each.text,
  }));
}

/** Rows of pg_shdescription. */
export function sharedCommentRows({ catalog }: CatalogContext): RowValues[] {
  return [...commentsOf(catalog).values()].flat().filter((each) => SHARED.has(each.catalog)).map((each) => ({
    objoid: each.objectId,
    classoid: each.catalog,
    description: each.text,
  }));
}

function textOf(
  context: CatalogContext,
  objectId: number,
  part: number,
  isWanted: (catalog: number) => boolean,
): SqlValue {
  const comments = commentsOf(context.catalog).get(objectId) ?? [];
  return comments.find((each) => each.part === part && isWanted(each.catalog))?.text ?? null;
}

/** Numbers of the catalogs by name, as the functions take them. */
const CATALOGS: Readonly<Record<string, number>> = {
  pg_class: CATALOG.class,
  pg_constraint: CATALOG.constraint,
  pg_trigger: CATALOG.trigger,
  pg_namespace: CATALOG.namespace,
  pg_type: CATALOG.type,
  pg_extension: CATALOG.extension,
  pg_statistic_ext: CATALOG.statistics,
  pg_database: CATALOG.database,
  pg_authid: CATALOG.authorization,
};

/** `obj_description(oid [, catalog])`. */
export function objectDescription(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const [objectId, name] = args;
  if (name === undefined) return textOf(context, Number(objectId), 0, (catalog) => !SHARED.has(catalog));
  if (name === "pg_proc") {
    const own = userFunctionById(context, Number(objectId));
    return own === undefined ? routineById(Number(objectId))?.summary ?? null : own.comment ?? null;
  }
  const wanted = CATALOGS[String(name)];
  return textOf(context, Number(objectId), 0, (each) => each === wanted && !SHARED.has(each));
}

/** `shobj_description(oid, catalog)`. */
export function sharedDescription(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  const wanted = CATALOGS[String(args[1])];
  return textOf(context, Number(args[0]), 0, (each) => each === wanted && SHARED.has(each));
}

/** `col_description(table, column)`. */
export function columnDescription(context: CatalogContext, args: readonly SqlValue[]): SqlValue {
  return textOf(context, Number(args[0]), Number(args[1]), (each) => each === CATALOG.class);
}
