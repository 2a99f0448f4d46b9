/** A bound item of FROM: its plan, and the names by which its columns are known. */
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Alias } from "../parser/ast.ts";
import type { Plan } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { type OutputColumn, outputReference } from "./bound_query.ts";
import { type FromScope, QueryLevel, type ScopeColumn, type ScopeTable } from "./scope.ts";

/** A bound item of FROM. */
export interface BoundFrom {
  readonly plan: Plan;
  readonly scope: FromScope;
}

/** The scope of two items, those of the left one first. */
export function mergeScopes(left: FromScope, right: FromScope): FromScope {
  return { tables: [...left.tables, ...right.tables], columns: [...left.columns, ...right.columns] };
}

/** Raises 42712 for a name that both sides have. */
export function checkAliases(binding: Binding, left: FromScope, right: FromScope, position: number): void {
  for (const table of right.tables) {
    // Tables of two schemas may share their name when neither has an alias.
    const clashes = left.tables.some((each) =>
      each.name === table.name &&
      (each.schema === null || table.schema === null || each.schema === table.schema)
    );
    if (clashes && table.name !== "") {
      throw binding.error(
        SQLSTATE.duplicateAlias,
        `table name "${table.name}" specified more than once`,
        position,
      );
    }
  }
}

/** The columns of an item under its alias and column names. */
export function renamed(binding: Binding, table: ScopeTable, alias: Alias | null): readonly ScopeColumn[] {
  if (alias === null || alias.columns.length === 0) return table.columns;
  if (alias.columns.length > table.columns.length) {
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `table "${alias.name}" has ${table.columns.length} columns available but ${alias.columns.length} columns specified`,
      alias.position,
    );
  }
  return table.columns.map((column, index) => ({ ...column, name: alias.columns[index] ?? column.name }));
}

/** A derived table under an alias. */
export function aliased(
  binding: Binding,
  plan: Plan,
  columns: readonly OutputColumn[],
  alias: Alias | null,
  defaultName: string,
): BoundFrom {
  const name = alias?.name ?? defaultName;
  const entry: ScopeTable = {
    name,
    schema: null,
    relationName: defaultName === "" ? null : defaultName,
    columns: columns.map((column) => ({
      name: column.name,
      expression: outputReference(column),
      tableId: column.tableId,
      columnId: column.columnId,
    })),
    table: null,
    rowId: null,
    nullable: false,
  };
  const shown = renamed(binding, entry, alias);
  for (const [index, column] of columns.entries()) {
    binding.columnNames.set(column.column, `${name}.${shown[index]?.name ?? column.name}`);
  }
  return { plan, scope: { tables: [{ ...entry, columns: shown }], columns: shown } };
}

/** The item with columns that can be named, but are no part of its row. */
export function withUnlisted(item: BoundFrom, added: readonly OutputColumn[]): BoundFrom {
  if (added.length === 0) return item;
  const unlisted = added.map((column): ScopeColumn => ({
    name: column.name,
    expression: outputReference(column),
    tableId: 0,
    columnId: 0,
    unlisted: true,
  }));
  const { tables, columns } = item.scope;
  return {
    ...item,
    scope: {
      tables: tables.map((table) => ({ ...table, columns: [...table.columns, ...unlisted] })),
      columns: [...columns, ...unlisted],
    },
  };
}

/** The level in which a LATERAL item is bound. */
export function lateralLevel(level: QueryLevel, visible: FromScope): QueryLevel {
  const inner = new QueryLevel(level.parent, level.commonTables);
  inner.from = visible;
  inner.clause = "functions in FROM";
  return inner;
}

/** A column that a function returns. */
export function outputOf(name: string, column: number, type: SqlType): OutputColumn {
  return { name, column, type, nullable: true, tableId: 0, columnId: 0 };
}
