/**
 * ALTER DATABASE and ALTER ROLE … SET: settings that new sessions begin with, kept in the catalog.
 *
 * The catalog has one database and knows one role, the session's user: a setting of the database is kept under its
 * name, that of a role under the role's name and its own.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { AlterDefaults } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { requireRole } from "./owners.ts";

/** Between a role's name and that of its setting; no setting's name has it. */
const SEPARATOR = "/";

/** Binds the statement. Its value has been checked by the session, which knows what settings take. */
export function alterDefaults(binder: DefinitionBinder, ast: AlterDefaults): string {
  const { evaluation } = binder.environment;
  const isOwnDatabase = ast.database === null || ast.database === evaluation?.database;
  if (!isOwnDatabase) {
    throw binder.error(SQLSTATE.invalidCatalogName, `database "${ast.database}" does not exist`);
  }
  const user = evaluation?.user ?? "";
  if (ast.role !== null) requireRole(binder, ast.role);
  const prefix = ast.role === null ? "" : `${user}${SEPARATOR}`;
  if (ast.name !== null) {
    const value = ast.values[0]?.text ?? null;
    binder.change({ kind: "set_setting", name: prefix + ast.name.toLowerCase(), value });
  } else {
    const owner = ast.role === null ? null : user;
    for (const name of Object.keys(storedSettings(binder.catalog, owner))) {
      binder.change({ kind: "set_setting", name: prefix + name, value: null });
    }
  }
  return ast.target === "database" ? "ALTER DATABASE" : "ALTER ROLE";
}

/** The settings of the database (null) or of a role, by name. */
export function storedSettings(catalog: Catalog, role: string | null): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of Object.entries(catalog.contents.settings)) {
    const at = key.lastIndexOf(SEPARATOR);
    const owner = at < 0 ? null : key.slice(0, at);
    if (owner === role) found[key.slice(at + 1)] = value;
  }
  return found;
}
