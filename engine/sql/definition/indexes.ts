/** CREATE INDEX, and indexes added through constraints. */
import { SQLSTATE } from "../../base/errors.ts";
import type { IndexColumn, IndexDefinition } from "../../catalog/definitions.ts";
import type { CreateIndex } from "../parser/ast.ts";
import { keyColumn, requireIndexWidth } from "./constraints.ts";
import { storageOptions } from "./create_table.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** Access methods whose equality and order the sorted indexes serve. */
const METHODS = ["btree", "hash"];

/** CREATE [UNIQUE | RANGE] INDEX. */
export function createIndex(binder: DefinitionBinder, ast: CreateIndex): string {
  const tag = "CREATE INDEX";
  const table = binder.table(ast.table);
  if (ast.method !== null && !METHODS.includes(ast.method)) {
    throw binder.unsupported(`index method "${ast.method}"`, ast.position);
  }
  if (ast.where !== null) throw binder.unsupported("a partial index", ast.where.position);
  storageOptions(binder, ast.options);
  requireIndexWidth(binder, ast.keys.length, ast.position);
  const columns: IndexColumn[] = ast.keys.map((key) => {
    if (key.expression.kind !== "column" || key.expression.parts.length !== 1) {
      throw binder.unsupported("an index on an expression", key.position);
    }
    const collation = key.collation.at(-1);
    if (collation !== undefined && !["C", "POSIX", "default"].includes(collation)) {
      throw binder.unsupported(`collation "${collation}"`, key.position);
    }
    const column = keyColumn(binder, table, key.expression.parts[0] ?? "", key.position);
    return {
      columnId: column.id,
      descending: key.descending,
      nullsFirst: key.nulls === null ? key.descending : key.nulls === "first",
    };
  });
  const names = columns.map((part) => table.columns.find((each) => each.id === part.columnId)?.name ?? "");
  const name = ast.name ?? binder.freeName(table.schema, [table.name, ...names], "idx");
  if (binder.isTaken(table.schema, name)) {
    if (!ast.ifNotExists) {
      throw binder.error(SQLSTATE.duplicateTable, `relation "${name}" already exists`, ast.position);
    }
    binder.notice(SQLSTATE.duplicateTable, `relation "${name}" already exists, skipping`);
    return tag;
  }
  const index: IndexDefinition = {
    id: binder.newId(),
    name,
    kind: ast.range ? "range" : "plain",
    unique: ast.unique,
    nullsNotDistinct: ast.nullsNotDistinct,
    columns,
    includes: ast.include.map((each) => keyColumn(binder, table, each, ast.position).id),
    predicateText: null,
    comment: null,
  };
  const next = { ...table, indexes: [...table.indexes, index] };
  if (ast.unique) binder.steps.push({ kind: "validate_unique", table, index });
  binder.putTable(next);
  return tag;
}
