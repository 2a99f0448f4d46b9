/** Binding of names in FROM: tables, views, sequences, relations of the system, and common tables. */
import { unreachable } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { onceIn } from "../../base/pieces.ts";
import type { TableDefinition, ViewDefinition } from "../../catalog/definitions.ts";
import type { Expression as Ast, ObjectName, TableItem } from "../parser/ast.ts";
import { parseStatement } from "../parser/statements.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import { columnReference } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan, VirtualRelation } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { coerceImplicit } from "./coercion.ts";
import { bindBinary, bindExpression } from "./expression_binder.ts";
import { sample } from "./table_sample.ts";
import { findRelation, unknownRelation } from "./names.ts";
import { bindCommonTable, bindQuery } from "./query_binder.ts";
import { type OutputColumn, outputReference } from "./bound_query.ts";
import { type FromScope, QueryLevel, type ScopeColumn, type ScopeTable } from "./scope.ts";
import { aliased, type BoundFrom, lateralLevel, renamed, withUnlisted } from "./bound_from.ts";

/** A scan of all live columns of a table, and its entry in the scope. */
export function scanTable(
  binding: Binding,
  table: TableDefinition,
  alias: string | null,
): { readonly plan: Plan & { readonly kind: "table_scan" }; readonly entry: ScopeTable } {
  const columns = table.columns.map((column) => ({
    columnId: column.id,
    output: binding.newColumn(),
    type: column.type,
    nullable: !column.notNull,
  }));
  const rowId = binding.newColumn();
  const name = alias ?? table.name;
  const scopeColumns: ScopeColumn[] = [];
  const known = binding.knownColumns(table.id);
  for (const [index, column] of table.columns.entries()) {
    const scanned = columns[index];
    if (scanned === undefined) continue;
    binding.columnNames.set(scanned.output, `${name}.${column.name}`);
    const seen = known === undefined ? column : known.find(({ id }) => id === column.id);
    if (column.hidden || seen === undefined) continue;
    scopeColumns.push({
      name: seen.name,
      expression: columnReference(scanned.output, column.type, scanned.nullable),
      tableId: table.id,
      columnId: column.id,
    });
  }
  binding.columnNames.set(rowId, `${name}.rowid`);
  return {
    plan: { kind: "table_scan", table, columns, rowId, filter: null, prune: [], rows: 0 },
    entry: {
      name,
      schema: alias === null ? table.schema : null,
      relationName: table.name,
      columns: scopeColumns,
      table,
      rowId,
      nullable: false,
      presence: rowId,
    },
  };
}

/** Restricts a scan to the row with an id: the native `t ID n`. */
export function withRowId(
  binding: Binding,
  level: QueryLevel,
  plan: Plan & { readonly kind: "table_scan" },
  ast: TableItem["rowId"],
): Plan {
  if (ast === null || plan.rowId === null) return plan;
  const value = bindRowId(binding, level, ast);
  const condition = bindBinary(
    binding,
    "=",
    columnReference(plan.rowId, { kind: "i64" }, false),
    value,
    ast.position,
  );
  return { kind: "filter", input: plan, condition, rows: 0 };
}

/** The number after `ID`. Raises 42804 for one of a type with fractions, which would be rounded to another row's. */
export function bindRowId(binding: Binding, level: QueryLevel, ast: Ast): Expression {
  const id = bindExpression(binding, level, ast);
  const { kind } = id.type;
  // An integer that is too long for its type is out of range.
  const isLong = ast.kind === "literal" && ast.type === "integer";
  if (!isLong && kind !== "unknown" && !isIntegerKind(kind)) {
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `argument of ID must be type bigint, not type ${formatTypeFamily(id.type)}`,
      ast.position,
      { hint: "The ID of a row is an integer: cast the value to bigint." },
    );
  }
  return coerceImplicit(binding, id, { kind: "i64" }, ast.position);
}

/** 42P01, which says so when the name is that of a query in WITH that cannot be seen from here. */
function unknownInFrom(binding: Binding, level: QueryLevel, name: ObjectName): Error {
  for (let scope = level.commonTables; scope !== null && name.schema === null; scope = scope.parent) {
    if (!scope.names.includes(name.name)) continue;
    return binding.error(
      SQLSTATE.undefinedTable,
      `relation "${name.name}" does not exist`,
      name.position,
      {
        detail:
          `There is a WITH item named "${name.name}", but it cannot be referenced from this part of the query.`,
        hint: "Use WITH RECURSIVE, or re-order the WITH items to remove forward references.",
      },
    );
  }
  return unknownRelation(binding, name);
}

/** Binds a name; `visible` is what the arguments of its TABLESAMPLE see to its left. */
export function bindTable(
  binding: Binding,
  level: QueryLevel,
  item: TableItem,
  visible: FromScope,
): BoundFrom {
  if (item.name.schema === null) {
    const common = bindCommonTable(binding, level.commonTables, item.name.name);
    if (common !== undefined) {
      const { entry, outputs } = common;
      const columns = entry.columns.map((column, index): OutputColumn => ({
        name: column.name,
        column: outputs[index] ?? 0,
        type: column.type,
        nullable: true,
        tableId: 0,
        columnId: 0,
      }));
      refuseRowId(binding, item);
      refuseSample(binding, item);
      if (!entry.working) return aliased(binding, common.plan, columns, item.alias, item.name.name);
      level.workingTable = entry;
      const own = columns.slice(0, entry.ownColumns), added = columns.slice(entry.ownColumns);
      level.carried = added.map(outputReference);
      return withUnlisted(aliased(binding, common.plan, own, item.alias, item.name.name), added);
    }
  }
  const found = findRelation(binding, item.name);
  if (found === undefined) throw unknownInFrom(binding, level, item.name);
  switch (found.kind) {
    case "table": {
      const { plan, entry } = scanTable(binding, found.table, item.alias?.name ?? null);
      const columns = renamed(binding, entry, item.alias);
      const scoped = { ...entry, columns };
      const lateral = withRowId(binding, new QueryLevel(level.parent, level.commonTables), plan, item.rowId);
      const keys = plan.rowId === null ? [] : [columnReference(plan.rowId, { kind: "i64" }, false)];
      const sampled = sample(binding, lateralLevel(level, visible), { input: lateral, keys }, item.sample);
      return { plan: sampled, scope: { tables: [scoped], columns } };
    }
    case "view":
      refuseSample(binding, item);
      refuseRowId(binding, item);
      return bindView(binding, found.view, item);
    case "virtual": {
      refuseRowId(binding, item);
      const bound = bindVirtual(binding, found.relation, item);
      const keys = bound.scope.columns.map((column) => column.expression);
      const inner = lateralLevel(level, visible);
      return { ...bound, plan: sample(binding, inner, { input: bound.plan, keys }, item.sample) };
    }
    case "index":
      throw binding.error(
        SQLSTATE.wrongObjectType,
        `cannot open relation "${item.name.name}"`,
        item.position,
        {
          detail: "This operation is not supported for indexes.",
        },
      );
    case "sequence":
      return bindSequence(binding, found.sequence.schema, found.sequence.name, item);
    default:
      return unreachable(found);
  }
}

function refuseRowId(binding: Binding, item: TableItem): void {
  if (item.rowId === null) return;
  throw binding.error(SQLSTATE.wrongObjectType, `"${item.name.name}" is not a table`, item.rowId.position, {
    detail: "Only rows of tables have an ID.",
  });
}

function refuseSample(binding: Binding, item: TableItem): void {
  if (item.sample === null) return;
  throw binding.error(
    SQLSTATE.featureNotSupported,
    "TABLESAMPLE clause can only be applied to tables and materialized views",
    item.position,
  );
}

function bindView(binding: Binding, view: ViewDefinition, item: TableItem): BoundFrom {
  const key = `${view.schema}.${view.name}`;
  if (binding.openViews.includes(key)) {
    throw binding.error(
      SQLSTATE.invalidObjectDefinition,
      `infinite recursion detected in rules for relation "${view.name}"`,
      item.position,
    );
  }
  const known = binding.knownColumns(view.id);
  binding.openViews.push(key);
  binding.storedSchemas.push(view.schema);
  binding.storedShapes.push(view.reads);
  const bound = binding.inOtherText(() => {
    const { pieces } = binding.environment;
    const { statement } = onceIn(
      pieces,
      () => parseStatement(view.text, pieces === undefined ? {} : { pieces }),
    );
    if (statement.kind !== "query") throw binding.unsupported("view of that kind", item.position);
    return bindQuery(binding, { parent: null, commonTables: null }, statement);
  });
  binding.openViews.pop();
  binding.storedSchemas.pop();
  binding.storedShapes.pop();
  const width = known === undefined ? view.columns.length : known.length;
  const columns = bound.columns.slice(0, width).map((column, index) => ({
    ...column,
    name: known?.[index]?.name ?? view.columns[index]?.name ?? column.name,
    tableId: view.id,
    columnId: index + 1,
  }));
  return aliased(binding, bound.plan, columns, item.alias, view.name);
}

function bindVirtual(binding: Binding, relation: VirtualRelation, item: TableItem): BoundFrom {
  const outputs = binding.newColumns(relation.columns.length);
  const plan: Plan = {
    kind: "virtual_scan",
    relation,
    columns: relation.columns.map((column, position) => ({
      position,
      output: outputs[position] ?? 0,
      type: column.type,
    })),
    filter: null,
    rows: 0,
  };
  const columns = relation.columns.map((column, index): OutputColumn => ({
    name: column.name,
    column: outputs[index] ?? 0,
    type: column.type,
    nullable: true,
    tableId: relation.id,
    columnId: index + 1,
  }));
  return aliased(binding, plan, columns, item.alias, relation.name);
}

/** A sequence as a table of one row; its state is the session's to tell. */
function bindSequence(binding: Binding, schema: string, name: string, item: TableItem): BoundFrom {
  refuseRowId(binding, item);
  refuseSample(binding, item);
  const relation = binding.environment.virtualRelation?.(schema, name);
  if (relation === undefined) throw binding.unsupported("a sequence as a table", item.position);
  return bindVirtual(binding, relation, item);
}
