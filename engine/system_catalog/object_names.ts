/**
 * Names and numbers of objects: what `'t'::regclass` and its kin mean, how such a number is shown, and whether an
 * object is found without its schema.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { closest } from "../base/suggest.ts";
import type { Relation } from "../catalog/catalog.ts";
import { displayName } from "../sql/functions/type_family.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import { parseTypeName } from "../sql/parser/statements.ts";
import type { ObjectTypeKind } from "../types/text_io.ts";
import { formatType, parseTypeText } from "../types/type_names.ts";
import { splitName } from "./split_name.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { qualifiedName } from "./definition_texts.ts";
import { CATALOG_SHAPES, shapeById } from "./relation_shape.ts";
import { indexById, rowIdIndex } from "./table_objects.ts";
import { allTypes, catalogTypeId, typeEntryById } from "./type_catalog.ts";
import { anyRoutine, anyRoutineName, anyRoutinesNamed, typeFunctionNamed } from "./user_routines.ts";

/** A relation by number. */
export interface NamedRelation {
  readonly schema: string;
  readonly name: string;
}

/** The object id that a name means; undefined when there is no such object. Raises 42602, 42601 for what is no name. */
export function findObject(
  context: CatalogContext,
  kind: ObjectTypeKind,
  name: string,
): number | undefined {
  if (kind !== "regtype" && !(kind === "regproc" && name.includes("("))) requireName(context, kind, name);
  const parts = splitName(name);
  const last = parts.at(-1) ?? "";
  const schema = parts.at(-2);
  switch (kind) {
    case "regclass":
      if (schema !== undefined) return findRelationId(context, [schema], last);
      return findRelationId(context, context.searchPath, last) ?? publicSequence(context, last);
    case "regnamespace":
      return context.catalog.schema(last)?.id;
    case "regtype":
      return findTypeId(context, name, schema, last);
    case "regproc": {
      const call = /^([^()]+)\((.*)\)$/.exec(name.trim());
      if (call !== null) return findRoutine(context, call[1] ?? "", call[2] ?? "");
      const [only, ...others] = anyRoutinesNamed(context, last, schema);
      if (others.length > 0) {
        throw new DatabaseError(SQLSTATE.ambiguousFunction, `more than one function named "${name}"`);
      }
      if (only !== undefined || (schema !== undefined && schema !== "pg_catalog")) return only?.id;
      return typeFunctionNamed(last);
    }
  }
}

const NAME_PART = String.raw`\s*(?:"(?:[^"]|"")*"|[^\s."][^\s.]*)\s*`;
const NAME = new RegExp(String.raw`^${NAME_PART}(?:\.${NAME_PART})*$`);

/** 42602 for what is no name, 0A000 for one of another database. */
function requireName(context: CatalogContext, kind: ObjectTypeKind, text: string): void {
  const parts = splitName(text);
  if (!NAME.test(text) || (kind === "regnamespace" && parts.length > 1)) {
    throw new DatabaseError(SQLSTATE.invalidName, "invalid name syntax");
  }
  if (parts.length > 3) {
    throw new DatabaseError(
      SQLSTATE.syntaxError,
      `improper qualified name (too many dotted names): ${parts.join(".")}`,
    );
  }
  if (parts.length === 3 && parts[0] !== context.database) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `cross-database references are not implemented: ${quoteName(parts, kind)}`,
    );
  }
}

function quoteName(parts: readonly string[], kind: ObjectTypeKind): string {
  return kind === "regclass" ? `"${parts.join(".")}"` : parts.join(".");
}

/** 42601 for what is no type's name. */
function requireTypeName(text: string): void {
  const where = `invalid type name "${text}"`;
  const invalid = () => new DatabaseError(SQLSTATE.syntaxError, where);
  if (text.trim() === "") throw invalid();
  try {
    if (parseTypeName(text).setOf) throw invalid();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new DatabaseError(error.code, error.message, { where, cause: error });
  }
}

/** A routine by name and argument types (`regprocedure`). */
function findRoutine(context: CatalogContext, name: string, signature: string): number | undefined {
  const wanted = signature.split(",").map((type) => type.trim()).filter((type) => type !== "")
    .map((type) => {
      const parsed = parseTypeText(type);
      return parsed === undefined ? type : formatType(parsed);
    }).join();
  const [last = "", schema] = splitName(name).toReversed();
  return anyRoutinesNamed(context, last, schema)
    .find((each) => each.signature.map(displayName).join() === wanted)?.id;
}

function findTypeId(
  context: CatalogContext,
  written: string,
  schema: string | undefined,
  name: string,
): number | undefined {
  const parsed = parseTypeText(written.replaceAll('"', "")) ?? parseTypeText(written);
  if (parsed !== undefined) return catalogTypeId(parsed);
  const isArray = name.endsWith("[]");
  const plain = isArray ? name.slice(0, -2) : name;
  const schemas = schema === undefined ? context.searchPath : [schema];
  const ids = schemas.map((each) => context.catalog.schema(each)?.id ?? -1);
  const found = allTypes(context).find((type) => type.name === plain && ids.includes(type.schemaId));
  if (found !== undefined) return isArray ? found.arrayId : found.id;
  requireTypeName(written);
  return undefined;
}

/** The object id that a name means for `::regclass` and its kin. Raises 42P01, 3F000, 42704, 42883 or 42725. */
export function lookupObject(context: CatalogContext, kind: ObjectTypeKind, name: string): number {
  if (/^\s*\d+\s*$/.test(name)) return Number(name);
  if (name === "-") return 0;
  const found = findObject(context, kind, name);
  if (found !== undefined) return found;
  switch (kind) {
    case "regclass": {
      const near = closest(splitName(name).at(-1) ?? name, context.catalog.relationNames());
      throw new DatabaseError(
        SQLSTATE.undefinedTable,
        `relation "${name}" does not exist`,
        near === undefined ? {} : { hint: `Did you mean "${near}"?` },
      );
    }
    case "regnamespace":
      throw new DatabaseError(SQLSTATE.invalidSchemaName, `schema "${name}" does not exist`);
    case "regtype":
      throw new DatabaseError(SQLSTATE.undefinedObject, `type "${name}" does not exist`);
    case "regproc":
      throw new DatabaseError(SQLSTATE.undefinedFunction, `function "${name}" does not exist`);
  }
}

/** Defaults of serial columns name their sequence without the schema public; they hold under any search path. */
function publicSequence(context: CatalogContext, name: string): number | undefined {
  const found = context.catalog.relation("public", name);
  return found?.kind === "sequence" ? found.sequence.id : undefined;
}

function findRelationId(
  context: CatalogContext,
  schemas: readonly string[],
  name: string,
): number | undefined {
  const { catalog } = context;
  for (const schema of schemas) {
    const relation = catalog.relation(schema, name);
    if (relation !== undefined) return relationId(relation);
    const system = CATALOG_SHAPES.get(`${schema}.${name}`);
    if (system !== undefined) return system.id;
    const index = rowIdIndex(catalog, [schema], name);
    if (index !== undefined) return index.id;
  }
  return undefined;
}

function relationId(relation: Relation): number {
  switch (relation.kind) {
    case "table":
      return relation.table.id;
    case "view":
      return relation.view.id;
    case "sequence":
      return relation.sequence.id;
    case "index":
      return relation.index.id;
  }
}

/** A table, view, sequence, index or system relation by number. */
export function relationById(context: CatalogContext, id: number): NamedRelation | undefined {
  const { catalog } = context;
  const found = catalog.table(id) ?? catalog.sequence(id) ?? catalog.views.find((view) => view.id === id) ??
    shapeById(id);
  if (found !== undefined) return found;
  const index = indexById(catalog, id);
  return index === undefined ? undefined : { schema: index.table.schema, name: index.name };
}

/** Whether the relation is what its bare name means. */
export function isVisible(context: CatalogContext, id: number): boolean | null {
  const relation = relationById(context, id);
  if (relation === undefined) return null;
  return findRelationId(context, context.searchPath, relation.name) === id;
}

/** Whether a type is found without its schema; null when there is no such type. */
export function isTypeVisible(context: CatalogContext, id: number): boolean | null {
  const type = typeEntryById(context, id);
  if (type === undefined) return null;
  const schema = context.catalog.schemas.find((each) => each.id === type.schemaId);
  if (schema === undefined) return false;
  const same = context.searchPath.find((each) =>
    allTypes(context).some((other) =>
      other.name === type.name &&
      other.schemaId === context.catalog.schema(each)?.id
    )
  );
  return same === schema.name;
}

/** The name that an object id is shown by; undefined when there is no such object. */
export function objectName(
  context: CatalogContext,
  kind: ObjectTypeKind,
  id: number,
): string | undefined {
  switch (kind) {
    case "regclass": {
      const relation = relationById(context, id);
      if (relation === undefined) return undefined;
      return isVisible(context, id) === true
        ? quoteIdentifier(relation.name)
        : qualifiedName(relation.schema, relation.name);
    }
    case "regnamespace": {
      const schema = context.catalog.schemas.find((each) => each.id === id);
      return schema === undefined ? undefined : quoteIdentifier(schema.name);
    }
    case "regtype":
      return typeText(context, id);
    case "regproc":
      return anyRoutineName(context, id);
  }
}

/** SQL's spelling of a type, with its schema when it is not on the search path. */
export function typeText(context: CatalogContext, id: number): string | undefined {
  const type = typeEntryById(context, id);
  if (type === undefined) return undefined;
  if (type.kind !== "e" && type.category !== "A") return type.display;
  const schema = context.catalog.schemas.find((each) => each.id === type.schemaId);
  if (schema === undefined || context.searchPath.includes(schema.name)) return type.display;
  return `${quoteIdentifier(schema.name)}.${type.display}`;
}

/** `name(arguments)` of a routine. */
export function routineSignature(context: CatalogContext, id: number): string | undefined {
  const routine = anyRoutine(context, id);
  const name = anyRoutineName(context, id);
  if (routine === undefined) return name;
  return `${name}(${routine.signature.map(displayName).join(",")})`;
}
