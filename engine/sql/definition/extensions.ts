/** CREATE EXTENSION: what is built in is there already; everything else is not, and is refused. */
import { SQLSTATE } from "../../base/errors.ts";
import type { CreateExtension } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** The extensions that are part of the server: of `uuid-ossp` the random ones, `uuid_generate_v4`. */
export const BUILT_IN_EXTENSIONS: readonly string[] = ["plpgsql", "uuid-ossp"];

/** CREATE EXTENSION. */
export function createExtension(binder: DefinitionBinder, ast: CreateExtension): string {
  if (!BUILT_IN_EXTENSIONS.includes(ast.name)) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      `extension "${ast.name}" is not available`,
      ast.position,
      {
        detail: `Built in are ${BUILT_IN_EXTENSIONS.join(" and ")}; nothing else can be installed.`,
        ...(ast.name === "pgcrypto"
          ? { hint: "gen_random_uuid(), sha256() and its relatives are there without an extension." }
          : {}),
      },
    );
  }
  if (ast.name === "plpgsql" && !ast.ifNotExists) {
    throw binder.error(
      SQLSTATE.duplicateObject,
      `extension "${ast.name}" already exists`,
      ast.position,
    );
  }
  if (ast.ifNotExists) {
    binder.notice(SQLSTATE.duplicateObject, `extension "${ast.name}" already exists, skipping`);
  }
  return "CREATE EXTENSION";
}
