/**
 * Binding of FROM: tables, views, common tables, subqueries, functions and joins.
 *
 * Each item gives a plan and the scope of its columns. LATERAL items see what is to their left; every other item
 * sees only the queries around.
 */
import { unreachable } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition, ViewDefinition } from "../../catalog/definitions.ts";
import type { RecordField, SqlType } from "../../types/sql_type.ts";
import type { BoundFunction } from "../functions/definition.ts";
import { bindJsonRecord, jsonRecordFunction } from "../functions/json_record_functions.ts";
import type {
  Alias,
  Expression as Ast,
  FromItem,
  FunctionItem,
  JoinItem,
  ObjectName,
  SubqueryItem,
  TableItem,
} from "../parser/ast.ts";
import { parseStatement } from "../parser/statements.ts";
import { BOOLEAN, columnReference, conjunction, TRUE, volatilityOf } from "../plan/build.ts";
import { mapOperands } from "../plan/rewrite.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { JoinKind, Plan, VirtualRelation } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf, freeColumns } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { bindFunction, inClause } from "./call_binder.ts";
import { coerceImplicit, commonTypeOf, settle, tryCoerce } from "./coercion.ts";
import { bindBinary, bindCondition, bindExpression, callOf } from "./expression_binder.ts";
import { sample } from "./table_sample.ts";
import { findRelation, resolveType, unknownRelation } from "./names.ts";
import { bindCommonTable, bindQuery } from "./query_binder.ts";
import { type OutputColumn, outputReference } from "./bound_query.ts";
import {
  EMPTY_SCOPE,
  type FromScope,
  nullableScope,
  QueryLevel,
  type ScopeColumn,
  type ScopeTable,
} from "./scope.ts";

/** A bound item of FROM. */
export interface BoundFrom {
  readonly plan: Plan;
  readonly scope: FromScope;
}

/** One row without columns: the source of a query without FROM. */
export const ONE_ROW: Plan = { kind: "values", outputs: [], types: [], list: [[]], rows: 1 };

/** Binds a FROM list and makes its scope the level's. */
export function bindFrom(binding: Binding, level: QueryLevel, items: readonly FromItem[]): Plan {
  let result: BoundFrom | null = null;
  for (const item of items) {
    const right: BoundFrom = bindItem(binding, level, item, result?.scope ?? EMPTY_SCOPE);
    if (result === null) result = right;
    else {
      checkAliases(binding, result.scope, right.scope, item.position);
      result = {
        plan: join("inner", result.plan, right.plan, null),
        scope: mergeScopes(result.scope, right.scope),
      };
    }
  }
  level.from = result?.scope ?? EMPTY_SCOPE;
  level.hiddenTables = [];
  return result?.plan ?? ONE_ROW;
}

function mergeScopes(left: FromScope, right: FromScope): FromScope {
  return { tables: [...left.tables, ...right.tables], columns: [...left.columns, ...right.columns] };
}

/** A join; correlated when the right side refers to the left. */
export function join(kind: JoinKind, left: Plan, right: Plan, condition: Expression | null): Plan {
  const defined = allDefinedColumns(left);
  const correlated = [...freeColumns(right)].some((column) => defined.has(column));
  return { kind: "nested_loop_join", join: kind, left, right, condition, correlated, rows: 0 };
}

function checkAliases(binding: Binding, left: FromScope, right: FromScope, position: number): void {
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

/** Binds one item; `visible` is what LATERAL sees to its left. */
function bindItem(binding: Binding, level: QueryLevel, item: FromItem, visible: FromScope): BoundFrom {
  switch (item.kind) {
    case "table":
      return bindTable(binding, level, item, visible);
    case "subquery":
      return bindSubqueryItem(binding, level, item, visible);
    case "function":
      return bindFunctionItem(binding, level, item, visible);
    case "join":
      return bindJoin(binding, level, item, visible);
    default:
      return unreachable(item);
  }
}

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
  const id = bindExpression(binding, level, ast);
  const value = tryCoerce(binding, id, { kind: "i64" }, "implicit") ??
    coerceImplicit(binding, id, { kind: "i64" }, ast.position);
  const condition = bindBinary(
    binding,
    "=",
    columnReference(plan.rowId, { kind: "i64" }, false),
    value,
    ast.position,
  );
  return { kind: "filter", input: plan, condition, rows: 0 };
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

function bindTable(binding: Binding, level: QueryLevel, item: TableItem, visible: FromScope): BoundFrom {
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

/** The columns of an item under its alias and column names. */
function renamed(binding: Binding, table: ScopeTable, alias: Alias | null): readonly ScopeColumn[] {
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
function aliased(
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
function withUnlisted(item: BoundFrom, added: readonly OutputColumn[]): BoundFrom {
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
    const { statement } = parseStatement(view.text);
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

/** The level in which a LATERAL item is bound. */
function lateralLevel(level: QueryLevel, visible: FromScope): QueryLevel {
  const inner = new QueryLevel(level.parent, level.commonTables);
  inner.from = visible;
  inner.clause = "functions in FROM";
  return inner;
}

function bindSubqueryItem(
  binding: Binding,
  level: QueryLevel,
  item: SubqueryItem,
  visible: FromScope,
): BoundFrom {
  let parent = level.parent;
  if (item.lateral) parent = lateralLevel(level, visible);
  else if (visible.tables.length > 0) {
    // Names to the left cannot be used, but the message shall say why.
    const outside = new QueryLevel(level.parent, level.commonTables);
    outside.hiddenTables = visible.tables;
    parent = outside;
  }
  const bound = bindQuery(binding, { parent, commonTables: level.commonTables }, item.query);
  return aliased(binding, bound.plan, bound.columns, item.alias, "");
}

function bindFunctionItem(
  binding: Binding,
  level: QueryLevel,
  item: FunctionItem,
  visible: FromScope,
): BoundFrom {
  const inner = lateralLevel(level, visible);
  const functions: (Plan & { readonly kind: "function_scan" })["functions"][number][] = [];
  const columns: OutputColumn[] = [];
  let scalar: { readonly expression: Expression; readonly name: string } | null = null;
  for (const each of item.functions.flatMap(separateUnnest)) {
    const { call } = each;
    const record = bindRecordFunction(binding, inner, each);
    if (record !== null) {
      const fields = record.function.rowColumns ?? [];
      const outputs = binding.newColumns(fields.length);
      functions.push({ ...record, outputs });
      fields.forEach((field, index) => columns.push(outputOf(field.name, outputs[index] ?? 0, field.type)));
      continue;
    }
    if (call.kind !== "call") {
      const expression = settle(binding, bindExpression(binding, inner, call));
      scalar = { expression, name: call.kind === "session_value" ? call.name : "?column?" };
      continue;
    }
    const name = call.name[call.name.length - 1] ?? "";
    const { chosen, args } = bindFunction(binding, inner, call);
    const bound = callOf(binding, chosen, args, call.position);
    if (chosen.rows === undefined) {
      if (chosen.name === "nextval" || chosen.name === "setval") binding.writesSequences = true;
      scalar = { expression: calledOnce(binding, bound), name };
      continue;
    }
    const rowColumns = chosen.rowColumns ?? [{ name: chosen.name, type: chosen.returnType }];
    const outputs = binding.newColumns(rowColumns.length);
    functions.push({ function: chosen, args: bound.kind === "call" ? bound.args : args, outputs });
    rowColumns.forEach((column, index) => {
      const isUnnamed = rowColumns.length === 1 && (column.name === chosen.name || column.name === name);
      const shown = isUnnamed ? (item.functions.length === 1 ? item.alias?.name ?? name : name) : column.name;
      columns.push(outputOf(shown, outputs[index] ?? 0, column.type));
    });
  }
  const defaultName = functionItemName(item);
  if (scalar !== null) {
    if (item.functions.length > 1) {
      throw binding.unsupported("ROWS FROM with functions of one row", item.position);
    }
    const output = binding.newColumn();
    const types: SqlType[] = [scalar.expression.type];
    const list: Expression[] = [scalar.expression];
    const outputs = [output];
    const shown = [outputOf(item.alias?.name ?? scalar.name, output, scalar.expression.type)];
    if (item.withOrdinality) {
      const ordinality = binding.newColumn();
      outputs.push(ordinality);
      types.push({ kind: "i64" });
      list.push({ kind: "constant", type: { kind: "i64" }, value: 1 });
      shown.push(outputOf("ordinality", ordinality, { kind: "i64" }));
    }
    const plan: Plan = { kind: "values", outputs, types, list: [list], rows: 1 };
    const bound = aliased(binding, plan, shown, item.alias, defaultName);
    return outputs.length === 1 && scalar.expression.type.kind !== "record" ? asScalar(bound) : bound;
  }
  const ordinality = item.withOrdinality ? binding.newColumn() : null;
  if (ordinality !== null) {
    columns.push({ ...outputOf("ordinality", ordinality, { kind: "i64" }), nullable: false });
  }
  const plan: Plan = { kind: "function_scan", input: null, functions, ordinality, rows: 0 };
  const bound = aliased(binding, plan, columns, item.alias, defaultName);
  const returnsValues = columns.length === 1 && ordinality === null &&
    functions[0]?.function.returnType.kind !== "record";
  return returnsValues ? asScalar(bound) : bound;
}

/** The scope of a function whose row is a single value. */
function asScalar({ plan, scope }: BoundFrom): BoundFrom {
  return { plan, scope: { ...scope, tables: scope.tables.map((table) => ({ ...table, isScalar: true })) } };
}

/** A volatile call in FROM is one value for all rows that it is joined with, unless it depends on them. */
function calledOnce(binding: Binding, call: Expression): Expression {
  if (volatilityOf(call) !== "volatile" || columnsOf(call).size > 0) return call;
  const output = binding.newColumn();
  const plan: Plan = { kind: "values", outputs: [output], types: [call.type], list: [[call]], rows: 1 };
  return { kind: "scalar_subquery", type: call.type, plan, column: output };
}

/**
 * A function whose columns the query says: by a column definition list, or by a row of a table as its first argument.
 */
function bindRecordFunction(
  binding: Binding,
  level: QueryLevel,
  { call, columns }: FunctionItem["functions"][number],
): { readonly function: BoundFunction; readonly args: readonly Expression[] } | null {
  const name = call.kind === "call" ? call.name[call.name.length - 1] ?? "" : "";
  const known = call.kind === "call" ? jsonRecordFunction(name) : undefined;
  if (known === undefined || call.kind !== "call") {
    if (columns.length === 0) return null;
    throw binding.error(
      SQLSTATE.syntaxError,
      'a column definition list is only allowed for functions returning "record"',
      columns[0]?.position,
    );
  }
  const [first, second] = call.arguments;
  const document = known.populates ? second : first;
  if (document === undefined || call.arguments.length !== (known.populates ? 2 : 1)) return null;
  const fields = columns.length > 0
    ? columns.map((column) => ({ name: column.name, type: resolveType(binding, column.type) }))
    : known.populates && first !== undefined
    ? fieldsOfNullRow(binding, first.value)
    : null;
  if (fields === null) {
    throw binding.error(
      SQLSTATE.syntaxError,
      'a column definition list is required for functions returning "record"',
      call.position,
    );
  }
  const chosen = bindJsonRecord(name, fields);
  const bound = callOf(binding, chosen, [bindExpression(binding, level, document.value)], call.position);
  return { function: chosen, args: bound.kind === "call" ? bound.args : [] };
}

/** The columns of `NULL::t`, where t is a table; null for everything else. */
function fieldsOfNullRow(binding: Binding, ast: Ast): readonly RecordField[] | null {
  if (ast.kind !== "cast" || ast.operand.kind !== "literal" || ast.operand.type !== "null") return null;
  const [name = "", schema = null] = ast.type.name.toReversed();
  const found = findRelation(binding, { catalog: null, schema, name, position: ast.position });
  if (found?.kind !== "table") return null;
  return found.table.columns.filter((column) => !column.hidden)
    .map((column) => ({ name: column.name, type: column.type }));
}

/** `unnest(a, b)` is two functions that advance in step. */
function separateUnnest(
  each: FunctionItem["functions"][number],
): readonly FunctionItem["functions"][number][] {
  const { call } = each;
  if (call.kind !== "call" || call.arguments.length < 2 || call.name[call.name.length - 1] !== "unnest") {
    return [each];
  }
  return call.arguments.map((argument) => ({ ...each, call: { ...call, arguments: [argument] } }));
}

function functionItemName(item: FunctionItem): string {
  const first = item.functions[0]?.call;
  if (first?.kind === "call") return first.name[first.name.length - 1] ?? "";
  return first?.kind === "session_value" ? first.name : "";
}

function outputOf(name: string, column: number, type: SqlType): OutputColumn {
  return { name, column, type, nullable: true, tableId: 0, columnId: 0 };
}

function bindJoin(binding: Binding, level: QueryLevel, item: JoinItem, visible: FromScope): BoundFrom {
  const kind: JoinKind = item.type === "cross" ? "inner" : item.type;
  const side = (bound: BoundFrom, isOptional: boolean) =>
    isOptional ? withPresence(binding, level, bound) : bound;
  const left = side(bindItem(binding, level, item.left, visible), kind === "right" || kind === "full");
  const right = side(
    bindItem(binding, level, item.right, mergeScopes(visible, left.scope)),
    kind === "left" || kind === "full",
  );
  checkAliases(binding, left.scope, right.scope, item.position);
  const both = mergeScopes(left.scope, right.scope);
  const using = item.using ?? (item.natural ? commonNames(left.scope, right.scope) : null);
  let condition: Expression | null = null;
  let scope = outerScope(kind, left.scope, right.scope);
  if (using !== null) {
    refuseRepeats(binding, using, item.position);
    const merged = using.map((name) => mergeColumn(binding, kind, name, left.scope, right.scope, item));
    condition = conjunction(merged.map((each) => each.condition));
    const isUsed = (column: ScopeColumn) => using.includes(column.name);
    const sides = outerScope(kind, left.scope, right.scope);
    const leftCount = left.scope.columns.length;
    scope = {
      tables: sides.tables,
      columns: [
        ...merged.map((each) => each.column),
        ...sides.columns.slice(0, leftCount).filter((column) => !isUsed(column)),
        ...sides.columns.slice(leftCount).filter((column) => !isUsed(column)),
      ],
    };
    if (item.usingAlias !== null) {
      const entry = tableOf(item.usingAlias, merged.map((each) => each.column));
      scope = { ...scope, tables: [...scope.tables, entry] };
    }
  } else if (item.on !== null) {
    const before = level.from;
    const on = item.on;
    level.from = both;
    condition = inClause(level, "JOIN conditions", () => bindCondition(binding, level, on, "JOIN/ON"));
    level.from = before;
  }
  const plan = join(kind, left.plan, right.plan, condition);
  if (plan.kind === "nested_loop_join" && plan.correlated && (kind === "right" || kind === "full")) {
    const free = freeColumns(right.plan);
    const referred = left.scope.tables.find((table) =>
      table.columns.some(({ expression }) => [...columnsOf(expression)].some((column) => free.has(column)))
    );
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `invalid reference to FROM-clause entry for table "${referred?.name ?? ""}"`,
      item.position,
      { detail: "The combining JOIN type must be INNER or LEFT for a LATERAL reference." },
    );
  }
  if (item.alias === null) return { plan, scope };
  const entry = tableOf(item.alias.name, scope.columns);
  const columns = renamed(binding, entry, item.alias);
  return { plan, scope: { tables: [{ ...entry, columns }], columns } };
}

function tableOf(name: string, columns: readonly ScopeColumn[]): ScopeTable {
  const missing = { schema: null, relationName: null, table: null, rowId: null, presence: null };
  return { name, columns, nullable: false, ...missing };
}

/** The scope after a join: columns of a side that may be missing are nullable. */
function outerScope(kind: JoinKind, left: FromScope, right: FromScope): FromScope {
  const isLeftOptional = kind === "right" || kind === "full";
  const isRightOptional = kind === "left" || kind === "full";
  return mergeScopes(
    isLeftOptional ? nullableScope(left) : left,
    isRightOptional ? nullableScope(right) : right,
  );
}

/**
 * The side of an outer join that may be missing, with a column that says so for items whose rows are mentioned as
 * values. Stored tables have their row ids for that; items that are optional within the side have been seen to
 * before.
 */
function withPresence(binding: Binding, level: QueryLevel, { plan, scope }: BoundFrom): BoundFrom {
  const lacks = (table: ScopeTable) =>
    !table.nullable && table.presence === undefined && table.isScalar !== true &&
    (level.syntax === null || rowNamesIn(level.syntax).has(table.name));
  if (!scope.tables.some(lacks)) return { plan, scope };
  const kept = new Map<ColumnRef, { readonly output: ColumnRef; readonly expression: Expression }>();
  const keep = (column: ColumnRef, type: SqlType, nullable: boolean): ColumnRef => {
    let known = kept.get(column);
    if (known === undefined) {
      kept.set(
        column,
        known = { output: binding.newColumn(), expression: columnReference(column, type, nullable) },
      );
      const name = binding.columnNames.get(column);
      if (name !== undefined) binding.columnNames.set(known.output, name);
    }
    return known.output;
  };
  const moved = (expression: Expression): Expression =>
    expression.kind === "column"
      ? { ...expression, column: keep(expression.column, expression.type, expression.nullable) }
      : mapOperands(expression, moved);
  const movedColumn = (column: ScopeColumn): ScopeColumn => ({
    ...column,
    expression: moved(column.expression),
  });
  const present = binding.newColumn();
  const tables = scope.tables.map((table): ScopeTable => {
    const { presence } = table;
    const rowId = table.rowId === null ? null : keep(table.rowId, { kind: "i64" }, table.nullable);
    const moving = { ...table, columns: table.columns.map(movedColumn), rowId };
    if (lacks(table)) return { ...moving, presence: present };
    if (presence === undefined || presence === null) return moving;
    return { ...moving, presence: presence === table.rowId ? rowId : keep(presence, BOOLEAN, true) };
  });
  const columns = scope.columns.map(movedColumn);
  const outputs = [...kept.values(), { output: present, expression: TRUE }];
  return { plan: { kind: "project", input: plan, outputs, rows: 0 }, scope: { tables, columns } };
}

const rowNames = new WeakMap<object, ReadonlySet<string>>();

/** Names by which a piece of syntax may mean whole rows: those of plain columns, and before `.*`. */
function rowNamesIn(syntax: object): ReadonlySet<string> {
  const known = rowNames.get(syntax);
  if (known !== undefined) return known;
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) return node.forEach(walk);
    if ("kind" in node && node.kind === "column" && "parts" in node && Array.isArray(node.parts)) {
      if (node.parts.length === 1) names.add(String(node.parts[0]));
    } else if (
      "kind" in node && node.kind === "star" && "qualifier" in node && Array.isArray(node.qualifier)
    ) {
      names.add(String(node.qualifier.at(-1)));
    } else Object.values(node).forEach(walk);
  };
  walk(syntax);
  rowNames.set(syntax, names);
  return names;
}

function commonNames(left: FromScope, right: FromScope): string[] {
  const names = new Set(right.columns.map((column) => column.name));
  return [...new Set(left.columns.map((column) => column.name))].filter((name) => names.has(name));
}

function refuseRepeats(binding: Binding, names: readonly string[], position: number): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated === undefined) return;
  throw binding.error(
    SQLSTATE.duplicateColumn,
    `column name "${repeated}" appears more than once in USING clause`,
    position,
  );
}

function sideColumn(
  binding: Binding,
  scope: FromScope,
  name: string,
  side: string,
  item: JoinItem,
): ScopeColumn {
  const matches = scope.columns.filter((column) => column.name === name);
  const [first] = matches;
  if (first === undefined) {
    throw binding.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" specified in USING clause does not exist in ${side} table`,
      item.position,
    );
  }
  if (matches.length > 1) {
    throw binding.error(
      SQLSTATE.ambiguousColumn,
      `common column name "${name}" appears more than once in ${side} table`,
      item.position,
    );
  }
  return first;
}

function mergeColumn(
  binding: Binding,
  kind: JoinKind,
  name: string,
  leftScope: FromScope,
  rightScope: FromScope,
  item: JoinItem,
): { readonly column: ScopeColumn; readonly condition: Expression } {
  const left = sideColumn(binding, leftScope, name, "left", item);
  const right = sideColumn(binding, rightScope, name, "right", item);
  const condition = bindBinary(binding, "=", left.expression, right.expression, item.position);
  const type = commonTypeOf(binding, [left.expression.type, right.expression.type], "JOIN/USING", [
    item.position,
    item.position,
  ]);
  const nullable = (column: ScopeColumn): Expression =>
    column.expression.kind === "column" ? { ...column.expression, nullable: true } : column.expression;
  const convert = (expression: Expression) => coerceImplicit(binding, expression, type, item.position);
  if (kind === "full") {
    const args = [convert(nullable(left)), convert(nullable(right))];
    return {
      condition,
      column: { name, expression: { kind: "coalesce", type, args }, tableId: 0, columnId: 0 },
    };
  }
  const source = kind === "right" ? right : left;
  return { condition, column: { ...source, expression: convert(source.expression) } };
}
