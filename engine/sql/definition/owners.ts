/** Roles as DDL names them: there is one, the session's user, who owns everything. */
import { SQLSTATE } from "../../base/errors.ts";
import type { SetObjectOwner } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { changeStatistics } from "./statistics.ts";

/** The words by which SQL means the session's user. */
const OWN_ROLE = ["current_user", "current_role", "session_user"];

/** The session's user, when `role` names it. Raises 42704. */
export function requireRole(binder: DefinitionBinder, role: string): string | undefined {
  const user = binder.environment.evaluation?.user;
  if (role === user || OWN_ROLE.includes(role)) return user;
  throw binder.error(SQLSTATE.undefinedObject, `role "${role}" does not exist`);
}

/** ALTER … OWNER TO of something that is not a table: the object and the role have to be there, and nothing changes. */
export function setOwner(binder: DefinitionBinder, ast: SetObjectOwner): string {
  const { objectType, name } = ast;
  const what = objectType.replaceAll("_", " ");
  const tag = `ALTER ${what.toUpperCase()}`;
  switch (objectType) {
    case "table":
    case "view":
    case "sequence":
    case "index": {
      const found = binder.find(name);
      if (found === undefined && ast.ifExists) {
        binder.notice(SQLSTATE.successfulCompletion, `relation "${name.name}" does not exist, skipping`);
        return tag;
      }
      if (found === undefined) throw binder.missing(name);
      if (found.kind !== objectType) {
        throw binder.error(SQLSTATE.wrongObjectType, `"${name.name}" is not a ${what}`, name.position);
      }
      requireRole(binder, ast.owner);
      return tag;
    }
    case "schema":
      requireRole(binder, ast.owner);
      if (binder.catalog.schema(name.name) === undefined) {
        throw binder.error(SQLSTATE.invalidSchemaName, `schema "${name.name}" does not exist`, name.position);
      }
      return tag;
    case "type": {
      requireRole(binder, ast.owner);
      const schemas = name.schema === null ? binder.environment.searchPath : [name.schema];
      if (binder.catalog.enumeration(name.name, schemas) === undefined) throw binder.missing(name, "type");
      return tag;
    }
    case "statistics":
      requireRole(binder, ast.owner);
      changeStatistics(binder, ast, (same) => same);
      return tag;
    case "database":
      requireRole(binder, ast.owner);
      if (binder.environment.evaluation?.database !== name.name) {
        throw binder.error(
          SQLSTATE.invalidCatalogName,
          `database "${name.name}" does not exist`,
          name.position,
        );
      }
      return tag;
    default:
      requireRole(binder, ast.owner);
      return tag;
  }
}
