/** COMMENT ON: the comment is part of the definition of what it is about, so that it goes where the object goes. */
import { type DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Relation } from "../../catalog/catalog.ts";
import type { CommentOn } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { isInstalled } from "./extensions.ts";
import { changeStatistics } from "./statistics.ts";
import { putTrigger, requireTrigger } from "./triggers.ts";
import { requireFunction } from "./function_names.ts";

/** A definition with another comment, or with none. */
export function commented<T extends { readonly comment?: string }>(
  definition: T,
  comment: string | null,
): T {
  const { comment: _former, ...rest } = definition;
  return (comment === null ? rest : { ...rest, comment }) as T;
}

/** COMMENT ON; an empty text removes the comment, as NULL does. */
export function commentOn(binder: DefinitionBinder, ast: CommentOn): string {
  const comment = ast.comment === "" ? null : ast.comment;
  const tag = "COMMENT";
  switch (ast.objectType) {
    case "table":
    case "view":
    case "index":
    case "sequence":
      commentOnRelation(binder, ast, comment);
      return tag;
    case "column":
      commentOnColumn(binder, ast, comment);
      return tag;
    case "constraint":
      commentOnConstraint(binder, ast, comment);
      return tag;
    case "trigger":
      commentOnTrigger(binder, ast, comment);
      return tag;
    case "schema": {
      const schema = binder.catalog.schema(ast.name.name);
      if (schema === undefined) {
        throw binder.error(SQLSTATE.invalidSchemaName, `schema "${ast.name.name}" does not exist`);
      }
      // Built-in schemas have a comment from the start: "" says that it was taken away.
      binder.change({ kind: "put_schema", schema: commented(schema, ast.comment ?? "") });
      return tag;
    }
    case "type": {
      const path = ast.name.schema === null ? binder.environment.searchPath : [ast.name.schema];
      const enumeration = binder.catalog.enumeration(ast.name.name, path);
      if (enumeration === undefined) throw binder.missing(ast.name, "type");
      binder.change({ kind: "put_enum", enumeration: commented(enumeration, comment) });
      return tag;
    }
    case "database":
      if (binder.environment.evaluation?.database !== ast.name.name) {
        // As in PostgreSQL no error: a dump may be read into a database of another name.
        binder.warn(SQLSTATE.invalidCatalogName, `database "${ast.name.name}" does not exist`);
        return tag;
      }
      binder.change({ kind: "set_comment", object: "database", comment });
      return tag;
    case "role":
      if (binder.environment.evaluation?.user !== ast.name.name) {
        throw binder.error(SQLSTATE.undefinedObject, `role "${ast.name.name}" does not exist`);
      }
      binder.change({ kind: "set_comment", object: "role", comment });
      return tag;
    case "extension":
      if (!isInstalled(binder.catalog, ast.name.name)) {
        throw binder.error(SQLSTATE.undefinedObject, `extension "${ast.name.name}" does not exist`);
      }
      binder.change({ kind: "set_comment", object: `extension ${ast.name.name}`, comment: comment ?? "" });
      return tag;
    case "statistics":
      changeStatistics(
        binder,
        { name: ast.name, ifExists: false },
        (former) => commented(former, comment),
      );
      return tag;
    case "function":
      binder.change({
        kind: "put_function",
        function: commented(requireFunction(binder, ast.name, ast.argumentTypes), comment),
      });
      return tag;
    default:
      throw binder.unsupported(
        `COMMENT ON ${ast.objectType.replaceAll("_", " ").toUpperCase()}`,
        ast.position,
      );
  }
}

function relation(binder: DefinitionBinder, name: CommentOn["name"]): Relation {
  const found = binder.find(name);
  if (found === undefined) throw binder.missing(name);
  return found;
}

function commentOnRelation(binder: DefinitionBinder, ast: CommentOn, comment: string | null): void {
  const found = relation(binder, ast.name);
  if (found.kind !== ast.objectType) {
    const article = ast.objectType === "index" ? "an" : "a";
    throw binder.error(
      SQLSTATE.wrongObjectType,
      `"${ast.name.name}" is not ${article} ${ast.objectType}`,
      ast.name.position,
    );
  }
  switch (found.kind) {
    case "table":
      binder.putTable({ ...found.table, comment });
      return;
    case "view":
      binder.change({ kind: "put_view", view: { ...found.view, comment } });
      return;
    case "sequence":
      binder.change({ kind: "put_sequence", sequence: commented(found.sequence, comment) });
      return;
    case "index": {
      const indexes = found.table.indexes.map((each) =>
        each.id === found.index.id ? { ...each, comment } : each
      );
      binder.putTable({ ...found.table, indexes });
    }
  }
}

function commentOnColumn(binder: DefinitionBinder, ast: CommentOn, comment: string | null): void {
  const found = relation(binder, ast.name);
  const name = ast.column ?? "";
  const missing = (): DatabaseError => {
    const shown = ast.name.schema === null ? ast.name.name : `${ast.name.schema}.${ast.name.name}`;
    return binder.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" of relation "${shown}" does not exist`,
      ast.position,
    );
  };
  switch (found.kind) {
    case "table": {
      const { table } = found;
      if (!table.columns.some((each) => each.name === name && !each.hidden)) throw missing();
      const columns = table.columns.map((each) => each.name === name ? { ...each, comment } : each);
      binder.putTable({ ...table, columns });
      return;
    }
    case "view": {
      const { view } = found;
      if (!view.columns.some((each) => each.name === name)) throw missing();
      const columns = view.columns.map((each) => each.name === name ? commented(each, comment) : each);
      binder.change({ kind: "put_view", view: { ...view, columns } });
      return;
    }
    default:
      throw binder.error(
        SQLSTATE.wrongObjectType,
        `cannot set comment on relation "${ast.name.name}"`,
        ast.name.position,
        {
          detail: `This operation is not supported for ${found.kind === "index" ? "indexes" : "sequences"}.`,
        },
      );
  }
}

function commentOnTrigger(binder: DefinitionBinder, ast: CommentOn, comment: string | null): void {
  if (ast.table === null) throw binder.unsupported("COMMENT ON TRIGGER without a table", ast.position);
  const table = binder.table(ast.table);
  const trigger = requireTrigger(binder, table, ast.name.name, ast.name.position);
  putTrigger(binder, table, trigger, commented(trigger, comment));
}

function commentOnConstraint(binder: DefinitionBinder, ast: CommentOn, comment: string | null): void {
  if (ast.table === null) throw binder.unsupported("COMMENT ON CONSTRAINT without a table", ast.position);
  const table = binder.table(ast.table);
  const name = ast.name.name;
  if (!table.constraints.some((each) => each.name === name)) {
    throw binder.error(
      SQLSTATE.undefinedObject,
      `constraint "${name}" for table "${table.name}" does not exist`,
      ast.position,
    );
  }
  const constraints = table.constraints.map((each) => each.name === name ? commented(each, comment) : each);
  binder.putTable({ ...table, constraints });
}
