/** Comments on objects, as pg_description, pg_shdescription and the functions that read them have them. */
import { BUILT_IN_EXTENSIONS, isInstalled } from "../../sql/definition/extensions.ts";
import type { SqlValue } from "../../types/value.ts";
import type { SessionEvaluation } from "../evaluation.ts";
import type { Session } from "../session.ts";
import { CATALOG, DATABASE_ID, EXTENSION_IDS, OWNER_ID } from "./object_ids.ts";
import type { RowValues } from "./relation_shape.ts";
import { routineById } from "./routine_catalog.ts";
import { indexesOf, shownColumns } from "./table_objects.ts";

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
  readonly text: string | null | undefined;
}

function* allComments({ catalog }: Session): Iterable<Comment> {
  for (const table of catalog.tables) {
    yield { catalog: CATALOG.class, objectId: table.id, part: 0, text: table.comment };
    for (const column of shownColumns(table)) {
      yield { catalog: CATALOG.class, objectId: table.id, part: column.id, text: column.comment };
    }
    for (const index of indexesOf(table)) {
      yield { catalog: CATALOG.class, objectId: index.id, part: 0, text: index.comment };
    }
    for (const constraint of table.constraints) {
      yield { catalog: CATALOG.constraint, objectId: constraint.id, part: 0, text: constraint.comment };
    }
  }
  for (const view of catalog.views) {
    yield { catalog: CATALOG.class, objectId: view.id, part: 0, text: view.comment };
    for (const [index, column] of view.columns.entries()) {
      yield { catalog: CATALOG.class, objectId: view.id, part: index + 1, text: column.comment };
    }
  }
  for (const sequence of catalog.sequences) {
    yield { catalog: CATALOG.class, objectId: sequence.id, part: 0, text: sequence.comment };
  }
  for (const schema of catalog.schemas) {
    const text = schema.comment ?? INITIAL_SCHEMA_COMMENTS[schema.name];
    yield { catalog: CATALOG.namespace, objectId: schema.id, part: 0, text };
  }
  for (const { id, comment } of catalog.enums) {
    yield { catalog: CATALOG.type, objectId: id, part: 0, text: comment };
  }
  for (const { name, comment } of BUILT_IN_EXTENSIONS) {
    if (!isInstalled(catalog, name)) continue;
    const objectId = EXTENSION_IDS.get(name) ?? 0;
    const text = catalog.comment(`extension ${name}`) ?? comment;
    yield { catalog: CATALOG.extension, objectId, part: 0, text };
  }
}

function* sharedComments({ catalog }: Session): Iterable<Comment> {
  yield { catalog: CATALOG.database, objectId: DATABASE_ID, part: 0, text: catalog.comment("database") };
  yield { catalog: CATALOG.authorization, objectId: OWNER_ID, part: 0, text: catalog.comment("role") };
}

function isGiven({ text }: Comment): boolean {
  return text !== null && text !== undefined && text !== "";
}

/** Rows of pg_description. */
export function* commentRows(session: Session): Iterable<RowValues> {
  for (const comment of allComments(session)) {
    if (!isGiven(comment)) continue;
    const { catalog, objectId, part, text } = comment;
    yield { objoid: objectId, classoid: catalog, objsubid: part, description: text ?? null };
  }
}

/** Rows of pg_shdescription. */
export function* sharedCommentRows(session: Session): Iterable<RowValues> {
  for (const comment of sharedComments(session)) {
    if (!isGiven(comment)) continue;
    yield { objoid: comment.objectId, classoid: comment.catalog, description: comment.text ?? null };
  }
}

function textOf(comments: Iterable<Comment>, objectId: number, part: number, catalog?: number): SqlValue {
  for (const comment of comments) {
    const isWanted = comment.objectId === objectId && comment.part === part &&
      (catalog === undefined || comment.catalog === catalog);
    if (isWanted && isGiven(comment)) return comment.text ?? null;
  }
  return null;
}

/** Numbers of the catalogs by name, as the functions take them. */
const CATALOGS: Readonly<Record<string, number>> = {
  pg_class: CATALOG.class,
  pg_constraint: CATALOG.constraint,
  pg_namespace: CATALOG.namespace,
  pg_type: CATALOG.type,
  pg_extension: CATALOG.extension,
  pg_database: CATALOG.database,
  pg_authid: CATALOG.authorization,
};

/** `obj_description(oid [, catalog])`. */
export function objectDescription(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const [objectId, name] = args;
  if (name === undefined) return textOf(allComments(evaluation.session), Number(objectId), 0);
  if (name === "pg_proc") return routineById(Number(objectId))?.summary ?? null;
  const catalog = CATALOGS[String(name)];
  return catalog === undefined ? null : textOf(allComments(evaluation.session), Number(objectId), 0, catalog);
}

/** `shobj_description(oid, catalog)`. */
export function sharedDescription(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  const catalog = CATALOGS[String(args[1])];
  return catalog === undefined
    ? null
    : textOf(sharedComments(evaluation.session), Number(args[0]), 0, catalog);
}

/** `col_description(table, column)`. */
export function columnDescription(evaluation: SessionEvaluation, args: readonly SqlValue[]): SqlValue {
  return textOf(allComments(evaluation.session), Number(args[0]), Number(args[1]), CATALOG.class);
}
