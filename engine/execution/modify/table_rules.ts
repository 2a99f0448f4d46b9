/**
 * The foreign keys of a table in both directions, prepared for checking: which positions, which route finds the other
 * side, how values are converted between the two sides' types.
 *
 * Rules belong to one catalog, which is immutable; they are made on first use and shared.
 */
import { assertDefined } from "../../base/assert.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ColumnDefinition, ConstraintDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import {
  columnsById,
  converterBetween,
  type KeyConverter,
  type KeyRoute,
  positionsOf,
  routeTo,
} from "./key_route.ts";
import { RowCompletion } from "./row_completion.ts";
import { RowTriggers } from "./row_triggers.ts";

/** A foreign key constraint. */
export type ForeignKey = Extract<ConstraintDefinition, { kind: "foreign_key" }>;

/** A foreign key seen from either side. */
export interface ForeignKeyRule {
  readonly constraint: ForeignKey;
  readonly child: TableDefinition;
  readonly parent: TableDefinition;
  readonly childColumns: readonly ColumnDefinition[];
  readonly childPositions: readonly number[];
  readonly childRoute: KeyRoute;
  readonly parentColumns: readonly ColumnDefinition[];
  readonly parentPositions: readonly number[];
  readonly parentRoute: KeyRoute;
  /** Null where values need no conversion. */
  readonly toParent: readonly (KeyConverter | null)[];
  readonly toChild: readonly (KeyConverter | null)[];
  /** Checked when the transaction commits rather than at the end of the statement. */
  readonly deferred: boolean;
}

/**
 * The foreign keys of a table in both directions, prepared for checking: which positions, which route finds the other
 * side, how values are converted between the two sides' types.
 */
export interface TableRules {
  readonly table: TableDefinition;
  /** Foreign keys of the table. */
  readonly outgoing: readonly ForeignKeyRule[];
  /** Foreign keys of other tables (and its own) that reference it. */
  readonly incoming: readonly ForeignKeyRule[];
  /** Computes and checks what a changed row needs; for rows that referential actions change. */
  readonly completion: RowCompletion;
  readonly triggers: RowTriggers;
}

const rulesByCatalog = new WeakMap<Catalog, Map<number, TableRules>>();

/** The rules of a table. */
export function rulesOf(catalog: Catalog, tableId: number): TableRules {
  let rules = rulesByCatalog.get(catalog);
  if (rules === undefined) rulesByCatalog.set(catalog, rules = new Map());
  let found = rules.get(tableId);
  if (found === undefined) rules.set(tableId, found = makeRules(catalog, tableId));
  return found;
}

function makeRules(catalog: Catalog, tableId: number): TableRules {
  const table = assertDefined(catalog.table(tableId), `table ${tableId}`);
  const outgoing = foreignKeys(table).map((constraint) =>
    makeRule(
      table,
      assertDefined(catalog.table(constraint.referencedTableId), "referenced table"),
      constraint,
    )
  );
  const incoming = catalog.referencing(tableId).flatMap((child) =>
    foreignKeys(child).filter((constraint) => constraint.referencedTableId === tableId)
      .map((constraint) => makeRule(child, table, constraint))
  );
  return {
    table,
    outgoing,
    incoming,
    completion: new RowCompletion(catalog, table),
    triggers: new RowTriggers(catalog, table),
  };
}

/** The foreign keys of a table. */
export function foreignKeys(table: TableDefinition): readonly ForeignKey[] {
  return table.constraints.filter((constraint) => constraint.kind === "foreign_key");
}

/** A foreign key as a rule. */
export function makeRule(
  child: TableDefinition,
  parent: TableDefinition,
  constraint: ForeignKey,
): ForeignKeyRule {
  const childColumns = columnsById(child, constraint.columns);
  const parentColumns = columnsById(parent, constraint.referencedColumns);
  const convert = (from: readonly ColumnDefinition[], to: readonly ColumnDefinition[]) =>
    from.map((column, part) => converterBetween(column.type, (to[part] as ColumnDefinition).type));
  return {
    constraint,
    child,
    parent,
    childColumns,
    childPositions: positionsOf(child, constraint.columns),
    childRoute: routeTo(child, constraint.columns),
    parentColumns,
    parentPositions: positionsOf(parent, constraint.referencedColumns),
    parentRoute: routeTo(parent, constraint.referencedColumns),
    toParent: convert(childColumns, parentColumns),
    toChild: convert(parentColumns, childColumns),
    deferred: constraint.deferrable && constraint.initiallyDeferred,
  };
}

/** A key in the types of the other side; null when nothing there can be equal to it. */
export function convertKey(
  converters: readonly (KeyConverter | null)[],
  key: readonly StoredValue[],
): readonly StoredValue[] | null {
  const result: StoredValue[] = [];
  for (let part = 0; part < key.length; part++) {
    const value = key[part] ?? null, convert = converters[part] ?? null;
    const converted = convert === null ? value : convert(value);
    if (converted === undefined) return null;
    result.push(converted);
  }
  return result;
}
