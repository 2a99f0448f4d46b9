/** CREATE EXTENSION: what is built in is there already; everything else is not, and is refused. */
import { SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { CreateExtension } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** An extension that is part of the server, as the system catalog lists it. */
export interface BuiltInExtension {
  readonly name: string;
  readonly version: string;
  readonly schema: "public" | "pg_catalog";
  readonly comment: string;
}

/** Of `plpgsql` the blocks of DO are there; of `uuid-ossp` the random ones, `uuid_generate_v4`. */
export const BUILT_IN_EXTENSIONS: readonly BuiltInExtension[] = [
  { name: "plpgsql", version: "1.0", schema: "pg_catalog", comment: "PL/pgSQL procedural language" },
  {
    name: "uuid-ossp",
    version: "1.1",
    schema: "public",
    comment: "generate universally unique identifiers (UUIDs)",
  },
];

function isBuiltIn(name: string): boolean {
  return BUILT_IN_EXTENSIONS.some((each) => each.name === name);
}

/**
 * Whether an extension is listed: `plpgsql` from the start, others once they were asked for, when they get their
 * comment.
 */
export function isInstalled(catalog: Catalog, name: string): boolean {
  return name === "plpgsql" || (isBuiltIn(name) && catalog.comment(`extension ${name}`) !== null);
}

/** CREATE EXTENSION. */
export function createExtension(binder: DefinitionBinder, ast: CreateExtension): string {
  if (!isBuiltIn(ast.name)) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      `extension "${ast.name}" is not available`,
      ast.position,
      {
        detail: `Built in are ${
          BUILT_IN_EXTENSIONS.map(({ name }) => name).join(" and ")
        }; nothing else can be installed.`,
        ...(ast.name === "pgcrypto"
          ? { hint: "gen_random_uuid(), sha256() and its relatives are there without an extension." }
          : {}),
      },
    );
  }
  if (isInstalled(binder.catalog, ast.name)) {
    if (!ast.ifNotExists) {
      throw binder.error(
        SQLSTATE.duplicateObject,
        `extension "${ast.name}" already exists`,
        ast.position,
      );
    }
    binder.notice(SQLSTATE.duplicateObject, `extension "${ast.name}" already exists, skipping`);
    return "CREATE EXTENSION";
  }
  const comment = BUILT_IN_EXTENSIONS.find(({ name }) => name === ast.name)?.comment ?? "";
  binder.change({ kind: "set_comment", object: `extension ${ast.name}`, comment });
  return "CREATE EXTENSION";
}

/** DROP EXTENSION for one name that is installed. */
export function dropInstalled(binder: DefinitionBinder, name: string, position: number): void {
  if (name === "plpgsql") {
    throw binder.error(
      SQLSTATE.dependentObjectsStillExist,
      `cannot drop extension ${name} because it is required by the database system`,
      position,
    );
  }
  binder.change({ kind: "set_comment", object: `extension ${name}`, comment: null });
}
