/** ALTER COLUMN … TYPE: the values are converted into a column that takes the old one's place. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { equalTypes, formatTypeFamily } from "../../types/type_names.ts";
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { AlterTableAction, Expression as Ast } from "../parser/ast.ts";
import { PLAIN_SEQUENCE } from "./columns.ts";
import { changeSequence } from "./sequences.ts";
import {
  generatedFrom,
  indexesOver,
  requireIdentityType,
  requirePlain,
  withoutColumn,
} from "./alter_table.ts";
import { requireComparable, validateExisting } from "./constraints.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import type { TableExpression } from "./definition_plan.ts";
import { brokenViews, referencingKeys } from "./dependencies.ts";
import { remakeIndex, withoutIndexes } from "./indexes.ts";
import { besideParents, requireHashable } from "./shard_by.ts";
import { triggersUsing } from "./triggers.ts";

type Action<Kind extends AlterTableAction["kind"]> = Extract<AlterTableAction, { kind: Kind }>;

/** ALTER COLUMN … TYPE: the values are converted into a column that takes the old one's place. */
export function alterType(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Action<"alter_type">,
): TableDefinition {
  const column = binder.column(table, action.column, action.position);
  requirePlain(binder, table, column, action.position);
  const type = binder.type(action.type);
  refuseGenerated(binder, table, column, action.position);
  if (action.using === null && equalTypes(type, column.type)) return table;
  requireDefaultFits(binder, table, { ...column, type }, action.position);
  if (column.identity !== null) requireIdentityType(binder, type, action.position);
  requireKeysStay(binder, table, { ...column, type }, action.position);
  refuseViews(binder, table, column, action.position);
  const [trigger] = triggersUsing(binder, table, [column.id]);
  if (trigger !== undefined) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "cannot alter type of a column used in a trigger definition",
      action.position,
      { detail: `trigger ${trigger.name} on table ${table.name} depends on column "${column.name}"` },
    );
  }
  const indexes = indexesOver(binder, table, column.id);
  if (indexes.length > 0) {
    const bare = binder.putTable(withoutIndexes(table, indexes.map((index) => index.id)));
    let altered = alterType(binder, bare, action);
    for (const index of indexes) altered = remakeIndex(binder, altered, table, index);
    return altered;
  }
  if (table.rowIdColumn === column.id && canBeRowId(type) && action.using === null) {
    const range = binder.bind(columnAst(column.name, action.position), table, "transform expressions", {
      type,
      column: column.name,
    });
    binder.steps.push({
      kind: "validate_check",
      table,
      constraintName: "type",
      condition: alwaysTrue(range),
    });
  }
  const referenced = referencingKeys(binder.catalog, table, [column.id]);
  if (referenced.some((key) => key.table.id !== table.id)) {
    throw binder.unsupported("changing the type of a column that foreign keys reference", action.position);
  }
  const convert = (): TableExpression => {
    try {
      return binder.bind(
        action.using ?? columnAst(column.name, action.position),
        table,
        "transform expressions",
        {
          type,
          column: column.name,
        },
      );
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== SQLSTATE.datatypeMismatch) throw error;
      throw binder.error(
        SQLSTATE.datatypeMismatch,
        action.using === null
          ? `column "${column.name}" cannot be cast automatically to type ${formatTypeFamily(type)}`
          : `result of USING clause for column "${column.name}" cannot be cast automatically to type ${
            formatTypeFamily(type)
          }`,
        action.position,
        {
          hint: action.using === null
            ? `You might need to specify "USING ${column.name}::${formatTypeFamily(type)}".`
            : "You might need to add an explicit cast.",
        },
      );
    }
  };
  const value = convert();
  const newId = table.nextColumnId;
  const replacement: ColumnDefinition = { ...column, id: newId, type, missingValue: null };
  // Both columns are side by side while the values are converted; then the old one goes and the new one takes its
  // place.
  const between: TableDefinition = {
    ...table,
    columns: [...table.columns, {
      ...replacement,
      name: `\u0000${column.name}`,
      notNull: false,
      defaultText: null,
    }],
    nextColumnId: newId + 1,
  };
  binder.putTable(between);
  const shifted = { ...value, columns: [...value.columns, 0] };
  binder.steps.push({
    kind: "fill_column",
    table: between,
    columnId: newId,
    value: shifted,
    isConversion: true,
  });
  const swap = (id: number): number => id === column.id ? newId : id;
  const next: TableDefinition = {
    ...between,
    columns: table.columns.map((each) => each.id === column.id ? replacement : each),
    rowIdColumn: table.rowIdColumn === column.id ? (canBeRowId(type) ? newId : null) : table.rowIdColumn,
    indexes: table.indexes.map((index) => ({
      ...index,
      // A new id makes storage build the index anew over the converted values.
      id: index.columns.some((part) => part.columnId === column.id) ? binder.newId() : index.id,
      columns: index.columns.map((part) => ({ ...part, columnId: swap(part.columnId) })),
      includes: index.includes.map(swap),
    })),
  };
  const { shardBy } = table;
  const isShardColumn = shardBy?.kind === "column" && shardBy.columnId === column.id;
  if (isShardColumn) requireHashable(binder, type, action.position);
  const indexIdOf = (old: number): number => {
    const position = table.indexes.findIndex((index) => index.id === old);
    return next.indexes[position]?.id ?? old;
  };
  const withConstraints: TableDefinition = {
    ...next,
    ...(isShardColumn ? { shardBy: { ...shardBy, columnId: newId } } : {}),
    constraints: table.constraints.map((each) => {
      const columns = each.columns.map(swap);
      switch (each.kind) {
        case "primary_key":
          return { ...each, columns, indexId: each.indexId === null ? null : indexIdOf(each.indexId) };
        case "unique":
          return { ...each, columns, indexId: indexIdOf(each.indexId) };
        case "foreign_key":
          return {
            ...each,
            columns,
            referencedColumns: each.referencedTableId === table.id
              ? each.referencedColumns.map(swap)
              : each.referencedColumns,
          };
        case "check":
          return { ...each, columns };
      }
    }),
  };
  const isKeyLost = table.rowIdColumn === column.id && withConstraints.rowIdColumn === null;
  if (isKeyLost) throw binder.unsupported("changing an integer primary key to another type", action.position);
  const placed = binder.putTable(besideParents(binder, withConstraints));
  for (const each of placed.constraints) {
    if (each.kind === "check" && each.columns.includes(newId)) {
      validateExisting(binder, { table: placed, constraint: each, index: null, rekeyed: false }, false);
    }
  }
  for (const index of withConstraints.indexes) {
    if (index.unique && index.columns.some((part) => part.columnId === newId)) {
      binder.steps.push({ kind: "validate_unique", table: withConstraints, index });
    }
  }
  if (column.sequenceId !== null) {
    const sequence = binder.catalog.sequence(column.sequenceId);
    if (sequence !== undefined) {
      if (column.identity !== null) {
        changeSequence(binder, sequence, { ...PLAIN_SEQUENCE, type: action.type });
      }
      const { id } = sequence;
      binder.change({
        kind: "put_sequence",
        sequence: {
          ...binder.catalog.sequence(id) ?? sequence,
          ownedBy: { tableId: table.id, columnId: newId },
        },
      });
    }
  }
  return placed;
}

/** 0A000 when a generated column is computed from the column: its values would be those of before. */
function refuseGenerated(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
  position: number,
): void {
  const generated = generatedFrom(binder, table, column.id)[0];
  if (generated === undefined) return;
  throw binder.error(
    SQLSTATE.featureNotSupported,
    "cannot alter type of a column used by a generated column",
    position,
    { detail: `Column "${column.name}" is used by generated column "${generated.name}".` },
  );
}

/** 42804 unless the default, which has the type of before, can be assigned to the changed column. */
function requireDefaultFits(
  binder: DefinitionBinder,
  table: TableDefinition,
  { name, type, defaultText }: ColumnDefinition,
  position: number,
): void {
  if (defaultText === null || /^null$/iu.test(defaultText)) return;
  try {
    binder.bind(columnAst(name, position), table, "transform expressions", { type, column: name });
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== SQLSTATE.datatypeMismatch) throw error;
    throw binder.error(
      SQLSTATE.datatypeMismatch,
      `default for column "${name}" cannot be cast automatically to type ${formatTypeFamily(type)}`,
      position,
    );
  }
}

/** A foreign key of the column must still be comparable with what it references. */
function requireKeysStay(
  binder: DefinitionBinder,
  table: TableDefinition,
  child: ColumnDefinition,
  position: number,
): void {
  for (const constraint of table.constraints) {
    const index = constraint.columns.indexOf(child.id);
    if (constraint.kind !== "foreign_key" || index < 0) continue;
    const referenced = constraint.referencedTableId === table.id
      ? table
      : binder.catalog.table(constraint.referencedTableId);
    const parent = referenced?.columns.find((each) => each.id === constraint.referencedColumns[index]);
    if (parent !== undefined) requireComparable(binder, { name: constraint.name, child, parent }, position);
  }
}

/** 0A000 when a view reads the column: its own columns would change their types. */
function refuseViews(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
  position: number,
): void {
  const before = binder.catalog;
  const after = before.apply({ kind: "put_table", table: withoutColumn(table, column.id) });
  const [view] = brokenViews(binder, before, after);
  if (view === undefined) return;
  throw binder.error(
    SQLSTATE.featureNotSupported,
    "cannot alter type of a column used by a view or rule",
    position,
    { detail: `rule _RETURN on view ${view.name} depends on column "${column.name}"` },
  );
}

/** Whether values of a type can be row ids. */
function canBeRowId({ kind }: SqlType): boolean {
  return isIntegerKind(kind) && kind !== "u64" && kind !== "oid";
}

function columnAst(name: string, position: number): Ast {
  return { kind: "column", parts: [name], position };
}

/** A condition that evaluates the value (which may raise) and is true. */
function alwaysTrue(value: TableExpression): TableExpression {
  const type = { kind: "bool" } as const;
  const isNull = { kind: "is_null", type, argument: value.expression, negated: false } as const;
  return {
    expression: { kind: "or", type, args: [isNull, { ...isNull, negated: true }] },
    columns: value.columns,
  };
}
