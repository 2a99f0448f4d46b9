/**
 * Binding of whole queries: WITH, set operations, VALUES, ORDER BY, LIMIT and locking around a SELECT.
 *
 * The plan that comes out is naive (cross joins, filters, subqueries as expressions) but complete: it can be run as it
 * is. Only the optimizer makes it fast.
 */
import { unreachable } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatType, formatTypeFamily } from "../../types/type_names.ts";
import { commonType } from "../functions/casts.ts";
import type {
  CommonTable,
  Expression as Ast,
  LockingClause,
  Query,
  QueryBody,
  SetOperation,
  SortKey as SortKeyAst,
  Values,
} from "../parser/ast.ts";
import { columnReference, isNullable, isVolatilePlan, sameType } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { Binding, WithDefinition } from "./binding.ts";
import { inClause, requireEquality, sortKeyOf } from "./call_binder.ts";
import { coerceImplicit, commonTypeOf, settle, tryCoerce, withoutModifiers } from "./coercion.ts";
import { bindExpression, bindRowItems } from "./expression_binder.ts";
import { lateRows, literalColumns } from "./late_rows.ts";
import { checkRecursiveTerm } from "./recursion.ts";
import { type CommonTableEntry, type CommonTableScope, findCommonTable, QueryLevel } from "./scope.ts";
import { SearchCycle } from "./search_cycle.ts";
import { bindSelect } from "./select_binder.ts";
import {
  type BoundQuery,
  lockName,
  type OutputColumn,
  outputReference,
  type QueryPlace,
} from "./bound_query.ts";
import { inOrderOfNeed, mentions } from "./with_order.ts";

/** Binds a subquery of an expression at a level. */
export function bindSubquery(binding: Binding, level: QueryLevel, query: Query): BoundQuery {
  return bindQuery(binding, { parent: level, commonTables: level.commonTables }, query);
}

/** Binds a query. */
export function bindQuery(binding: Binding, place: QueryPlace, query: Query): BoundQuery {
  if (query.with === null) return bindQueryBody(binding, place, query);
  const scope = bindWith(binding, place, query.with.items, query.with.recursive);
  const inner = bindQueryBody(binding, { ...place, commonTables: scope.commonTables }, query);
  return { ...inner, plan: finishWith(inner.plan, scope) };
}

function bindQueryBody(binding: Binding, place: QueryPlace, query: Query): BoundQuery {
  if (query.withTies && query.orderBy.length === 0) {
    throw binding.error(
      SQLSTATE.syntaxError,
      "WITH TIES cannot be specified without ORDER BY clause",
      query.position,
    );
  }
  if (query.body.kind === "select") {
    const level = new QueryLevel(place.parent, place.commonTables);
    const bound = bindSelect(binding, level, query.body, query.orderBy, query.locking, place);
    return { ...bound, plan: limited(binding, place, query, bound.plan, bound.keys) };
  }
  if (query.locking.length > 0) refuseLocking(binding, query.locking, query.body);
  const bound = bindBody(binding, place, query.body);
  const keys = bindOutputOrder(binding, query.orderBy, bound.columns);
  const sorted: Plan = keys.length === 0
    ? bound.plan
    : { kind: "sort", input: bound.plan, keys, limit: null, rows: 0 };
  return { ...bound, plan: limited(binding, place, query, sorted, keys) };
}

function refuseLocking(binding: Binding, locking: readonly LockingClause[], body: QueryBody): void {
  const [first] = locking;
  if (first === undefined) return;
  const strength = lockName(first);
  const what = body.kind === "values" ? "VALUES" : "UNION/INTERSECT/EXCEPT";
  const message = body.kind === "values"
    ? `${strength} cannot be applied to ${what}`
    : `${strength} is not allowed with ${what}`;
  throw binding.error(SQLSTATE.featureNotSupported, message, first.position);
}

function bindBody(binding: Binding, place: QueryPlace, body: QueryBody): BoundQuery {
  switch (body.kind) {
    case "select": {
      const level = new QueryLevel(place.parent, place.commonTables);
      return bindSelect(binding, level, body, [], [], place);
    }
    case "values":
      return bindValues(binding, place, body);
    case "set_operation":
      return bindSetOperation(binding, place, body);
    case "query":
      return bindQuery(binding, place, body);
    default:
      return unreachable(body);
  }
}

function limited(
  binding: Binding,
  place: QueryPlace,
  query: Query,
  plan: Plan,
  keys: readonly SortKey[],
): Plan {
  const limit = bindLimit(binding, place, query.limit, "LIMIT");
  const offset = bindLimit(binding, place, query.offset, "OFFSET");
  if (limit === null && offset === null) return plan;
  return { kind: "limit", input: plan, limit, offset, withTies: query.withTies ? keys : null, rows: 0 };
}

function bindLimit(
  binding: Binding,
  place: QueryPlace,
  ast: Ast | null,
  clause: "LIMIT" | "OFFSET",
): Expression | null {
  if (ast === null) return null;
  const level = new QueryLevel(place.parent, place.commonTables);
  const bound = inClause(level, clause, () => bindExpression(binding, level, ast));
  if (columnsOf(bound).size > 0) {
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `argument of ${clause} must not contain variables`,
      ast.position,
    );
  }
  const result = tryCoerce(binding, bound, { kind: "i64" }, "assignment");
  if (result === undefined || bound.type.kind === "text") {
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `argument of ${clause} must be type bigint, not type ${formatTypeFamily(bound.type)}`,
      ast.position,
    );
  }
  return result.kind === "constant" && result.value === null ? null : result;
}

/** ORDER BY of a set operation or VALUES: only result columns, by name or number. */
function bindOutputOrder(
  binding: Binding,
  keys: readonly SortKeyAst[],
  columns: readonly OutputColumn[],
): readonly SortKey[] {
  return keys.map((key) => {
    const column = outputColumnOf(binding, key.expression, columns, "ORDER BY");
    if (column === undefined) {
      const { expression } = key;
      if (expression.kind === "column" && expression.parts.length === 1) {
        const near = closest(expression.parts[0] ?? "", columns.map(({ name }) => name));
        throw binding.error(
          SQLSTATE.undefinedColumn,
          `column "${expression.parts[0]}" does not exist`,
          expression.position,
          near === undefined ? {} : { hint: `Perhaps you meant to reference the column "${near}".` },
        );
      }
      throw binding.error(
        SQLSTATE.featureNotSupported,
        "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
        key.expression.position,
        {
          detail: "Only result column names can be used, not expressions or functions.",
          hint: "Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
        },
      );
    }
    return sortKeyOf(binding, outputReference(column), key);
  });
}

/** The result column that an ordinal or a bare name means; undefined when it is neither. */
export function outputColumnOf<T extends { readonly name: string }>(
  binding: Binding,
  ast: Ast,
  columns: readonly T[],
  clause: string,
): T | undefined {
  if (ast.kind === "literal" && ast.type === "integer" && BigInt(ast.text) <= 2147483647n) {
    const column = columns[Number(ast.text) - 1];
    if (column === undefined) {
      throw binding.error(
        SQLSTATE.invalidColumnReference,
        `${clause} position ${ast.text} is not in select list`,
        ast.position,
      );
    }
    return column;
  }
  if (ast.kind === "literal") {
    throw binding.error(SQLSTATE.syntaxError, `non-integer constant in ${clause}`, ast.position);
  }
  if (ast.kind !== "column" || ast.parts.length !== 1) return undefined;
  const matches = columns.filter((column) => column.name === ast.parts[0]);
  return matches[0];
}

function bindValues(binding: Binding, place: QueryPlace, values: Values): BoundQuery {
  const level = new QueryLevel(place.parent, place.commonTables);
  level.clause = "VALUES";
  const late = bindLiteralRows(binding, place, level, values);
  if (late !== null) return late;
  const rows = binding.each(values.rows, (row) => bindRowItems(binding, level, row));
  const width = rows[0]?.length ?? 0;
  for (const [index, row] of rows.entries()) {
    if (row.length !== width) {
      throw binding.error(
        SQLSTATE.syntaxError,
        "VALUES lists must all be the same length",
        values.rows[index]?.[0]?.position,
      );
    }
  }
  const types: SqlType[] = [];
  for (let column = 0; column < width; column++) {
    const offsets = values.rows.map((row) => row[column]?.position);
    const cells = rows.map((row) => row[column]?.type ?? { kind: "unknown" as const });
    const allUnknown = cells.every((type) => type.kind === "unknown");
    const expected = place.expected?.[column];
    types.push(
      allUnknown && expected !== undefined ? expected : commonTypeOf(binding, cells, "VALUES", offsets),
    );
  }
  const list = binding.each(
    rows,
    (row, at) =>
      row.map((cell, index) =>
        coerceImplicit(binding, cell, types[index] ?? cell.type, values.rows[at]?.[index]?.position)
      ),
  );
  const outputs = binding.newColumns(width);
  const columns = outputs.map((column, index): OutputColumn => ({
    name: `column${index + 1}`,
    column,
    type: types[index] ?? { kind: "text" },
    nullable: list.some((row) =>
      isNullable(row[index] ?? { kind: "constant", type: { kind: "text" }, value: null })
    ),
    tableId: 0,
    columnId: 0,
  }));
  return {
    plan: { kind: "values", outputs, types, list, rows: list.length },
    columns,
    singleAggregate: false,
  };
}

/** Long lists of literals; null: they are bound as every other. */
function bindLiteralRows(
  binding: Binding,
  place: QueryPlace,
  level: QueryLevel,
  { rows }: Values,
): BoundQuery | null {
  const found = literalColumns(rows);
  if (found === null) return null;
  const types: SqlType[] = [];
  for (const [index, column] of found.entries()) {
    const expected = column.every(({ kind }) => kind === "unknown") ? place.expected?.[index] : undefined;
    const type = expected ?? commonType(column);
    if (type === undefined) return null;
    types.push(type);
  }
  const outputs = binding.newColumns(types.length);
  const plan = lateRows({
    ...{ rows, outputs, types, volatilityOf: () => null },
    bindCell: (ast, index) => {
      const type = types[index] ?? { kind: "unknown" };
      return coerceImplicit(binding, bindExpression(binding, level, ast), type, ast.position);
    },
  });
  if (plan === null) return null;
  const columns = outputs.map((column, index): OutputColumn => ({
    name: `column${index + 1}`,
    column,
    type: types[index] ?? { kind: "text" },
    nullable: true,
    tableId: 0,
    columnId: 0,
  }));
  return { plan, columns, singleAggregate: false };
}

/** The operands of a chain of one associative operation, from left to right. */
function flattenSetOperation(body: QueryBody, operator: SetOperation["operator"], all: boolean): QueryBody[] {
  const isSame = body.kind === "set_operation" && body.operator === operator && body.all === all &&
    operator !== "except";
  return isSame
    ? [...flattenSetOperation(body.left, operator, all), ...flattenSetOperation(body.right, operator, all)]
    : [body];
}

function bindSetOperation(binding: Binding, place: QueryPlace, body: SetOperation): BoundQuery {
  const parts = body.operator === "except" ? [body.left, body.right] : [
    ...flattenSetOperation(body.left, body.operator, body.all),
    ...flattenSetOperation(body.right, body.operator, body.all),
  ];
  const bound = parts.map((part) => bindBody(binding, { ...place, keepUnknown: true }, part));
  return combine(binding, place, body, bound, parts.map((part) => part.position));
}

function combine(
  binding: Binding,
  place: QueryPlace,
  body: SetOperation,
  bound: readonly BoundQuery[],
  offsets: readonly number[],
): BoundQuery {
  const name = body.operator.toUpperCase();
  const width = bound[0]?.columns.length ?? 0;
  bound.forEach((each, index) => {
    if (each.columns.length !== width) {
      throw binding.error(
        SQLSTATE.syntaxError,
        `each ${name} query must have the same number of columns`,
        offsets[index],
      );
    }
  });
  const types: SqlType[] = [];
  for (let index = 0; index < width; index++) {
    const found = bound.map((each) => each.columns[index]?.type ?? { kind: "unknown" as const });
    const allUnknown = found.every((type) => type.kind === "unknown");
    const type: SqlType = allUnknown
      ? place.expected?.[index] ?? { kind: "text" }
      : commonTypeOf(binding, found, name, offsets);
    types.push(type);
    if (!body.all) requireEquality(binding, type, offsets[0]);
  }
  const inputs = bound.map((each) => withTypes(binding, each, types));
  const outputs = binding.newColumns(width);
  const columns = outputs.map((column, index): OutputColumn => ({
    name: bound[0]?.columns[index]?.name ?? "",
    column,
    type: types[index] ?? { kind: "text" },
    nullable: inputs.some((each) => each.columns[index]?.nullable ?? true),
    tableId: 0,
    columnId: 0,
  }));
  return {
    plan: {
      kind: "set_operation",
      operation: body.operator,
      all: body.all,
      inputs: inputs.map((each) => ({
        plan: each.plan,
        columns: each.columns.map((column) => column.column),
      })),
      outputs,
      types,
      rows: 0,
    },
    columns,
    singleAggregate: false,
  };
}

/** The query with its columns converted to types. */
export function withTypes(binding: Binding, query: BoundQuery, types: readonly SqlType[]): BoundQuery {
  if (query.columns.every((column, index) => sameType(column.type, types[index] ?? column.type))) {
    return query;
  }
  const outputs = query.columns.map((column, index) => ({
    output: binding.newColumn(),
    expression: coerceImplicit(binding, outputReference(column), types[index] ?? column.type),
  }));
  return {
    ...query,
    plan: { kind: "project", input: query.plan, outputs, rows: 0 },
    columns: query.columns.map((column, index) => ({
      ...column,
      column: outputs[index]?.output ?? column.column,
      type: types[index] ?? column.type,
      nullable: isNullable(outputs[index]?.expression ?? outputReference(column)),
    })),
  };
}

/** The query with a column of its own for each position: two that are equal at first differ in later rounds. */
function distinctColumns(binding: Binding, query: BoundQuery): BoundQuery {
  if (new Set(query.columns.map(({ column }) => column)).size === query.columns.length) return query;
  const outputs = query.columns.map((column) => ({
    output: binding.newColumn(),
    expression: outputReference(column),
  }));
  return {
    ...query,
    plan: { kind: "project", input: query.plan, outputs, rows: 0 },
    columns: query.columns.map((column, index) => ({
      ...column,
      column: outputs[index]?.output ?? column.column,
    })),
  };
}

/** A bound WITH clause. */
export interface BoundWith {
  readonly commonTables: CommonTableScope;
  readonly definitions: readonly {
    readonly entry: CommonTableEntry;
    readonly definition: WithDefinition;
    readonly materialized: boolean | null;
  }[];
}

/** Binds the definitions of a WITH clause. */
export function bindWith(
  binding: Binding,
  place: QueryPlace,
  items: readonly CommonTable[],
  recursive: boolean,
): BoundWith {
  const entries = new Map<string, CommonTableEntry>();
  const names = items.map((item) => item.name);
  const commonTables: CommonTableScope = { entries, parent: place.commonTables, names };
  const definitions: BoundWith["definitions"][number][] = [];
  for (const [index, item] of items.entries()) {
    if (names.indexOf(item.name) < index) {
      throw binding.error(
        SQLSTATE.duplicateAlias,
        `WITH query name "${item.name}" specified more than once`,
        item.position,
      );
    }
  }
  for (const item of recursive ? inOrderOfNeed(binding, items) : items) {
    if (item.statement.kind !== "query") {
      if (binding.outermostWith !== items || binding.bindModification === null) {
        throw binding.error(
          SQLSTATE.featureNotSupported,
          "WITH clause containing a data-modifying statement must be at the top level",
          item.position,
        );
      }
      const bound = binding.bindModification(item.statement, commonTables);
      const { entry, definition } = makeEntry(
        binding,
        item.name,
        bound,
        columnNames(binding, item, bound.columns),
        null,
      );
      entries.set(item.name, { ...entry, hasRows: bound.columns.length > 0 });
      definitions.push({ entry: entries.get(item.name) ?? entry, definition, materialized: true });
      continue;
    }
    const isRecursive = recursive && mentions(item.statement, item.name);
    if (!isRecursive && (item.search !== null || item.cycle !== null)) {
      throw binding.error(SQLSTATE.syntaxError, "WITH query is not recursive", item.position);
    }
    const inner: QueryPlace = { parent: place.parent, commonTables };
    let inside: BoundWith["definitions"] = [];
    const { entry, definition } = isRecursive
      ? bindRecursive(binding, inner, item, item.statement, entries, (scope) => inside = scope.definitions)
      : bindPlainDefinition(binding, inner, item, item.statement);
    definitions.push(...inside);
    entries.set(item.name, entry);
    definitions.push({ entry, definition, materialized: item.materialized });
  }
  return { commonTables, definitions };
}

function columnNames(binding: Binding, item: CommonTable, columns: readonly OutputColumn[]): string[] {
  if (item.columns.length > columns.length) {
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `WITH query "${item.name}" has ${columns.length} columns available but ${item.columns.length} columns specified`,
      item.position,
    );
  }
  return columns.map((column, index) => item.columns[index] ?? column.name);
}

function bindPlainDefinition(binding: Binding, place: QueryPlace, item: CommonTable, query: Query) {
  const bound = bindQuery(binding, place, query);
  const names = columnNames(binding, item, bound.columns);
  return makeEntry(binding, item.name, bound, names, null);
}

function makeEntry(
  binding: Binding,
  name: string,
  bound: BoundQuery,
  names: readonly string[],
  recursive: WithDefinition["recursive"],
  ownColumns = names.length,
): { readonly entry: CommonTableEntry; readonly definition: WithDefinition } {
  const id = binding.newWithId();
  const refs = bound.columns.map((column) => column.column);
  return {
    entry: {
      id,
      name,
      columns: bound.columns.map((column, index) => ({
        name: names[index] ?? column.name,
        type: column.type,
      })),
      refs,
      working: false,
      isAggregated: false,
      references: 0,
      ownColumns,
    },
    definition: {
      id,
      columns: refs,
      types: bound.columns.map((column) => column.type),
      plan: bound.plan,
      recursive,
    },
  };
}

function bindRecursive(
  binding: Binding,
  place: QueryPlace,
  item: CommonTable,
  query: Query,
  entries: Map<string, CommonTableEntry>,
  keepInner: (scope: BoundWith) => void,
): { readonly entry: CommonTableEntry; readonly definition: WithDefinition } {
  const { body } = query;
  if (body.kind === "set_operation" && body.operator === "union" && mentions(body.left, item.name)) {
    throw binding.error(
      SQLSTATE.invalidRecursion,
      `recursive reference to query "${item.name}" must not appear within its non-recursive term`,
      item.position,
    );
  }
  if (body.kind !== "set_operation" || body.operator !== "union") {
    throw binding.error(
      SQLSTATE.invalidRecursion,
      `recursive query "${item.name}" does not have the form non-recursive-term UNION [ALL] recursive-term`,
      item.position,
    );
  }
  if (query.orderBy.length > 0 || query.limit !== null || query.offset !== null || query.locking.length > 0) {
    const what = query.orderBy.length > 0
      ? "ORDER BY"
      : query.limit !== null
      ? "LIMIT"
      : query.offset !== null
      ? "OFFSET"
      : "FOR UPDATE/SHARE";
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `${what} in a recursive query is not implemented`,
      query.position,
    );
  }
  // What the query's own WITH defines is there for both terms, and is computed before it.
  const own = query.with === null ? null : bindWith(binding, place, query.with.items, query.with.recursive);
  if (own !== null) keepInner(own);
  const withPlace = own === null ? place : { ...place, commonTables: own.commonTables };
  const first = bindBody(binding, withPlace, body.left);
  const names = columnNames(binding, item, first.columns);
  // Numbers of any scale may come out of the recursive term: the columns are plain ones.
  const types = first.columns.map((column) =>
    column.type.kind === "numeric" ? withoutModifiers(column.type) : column.type
  );
  const traversal = item.search === null && item.cycle === null
    ? null
    : new SearchCycle(binding, item, names);
  const typed = distinctColumns(binding, withTypes(binding, first, types));
  const start = traversal === null ? typed : traversal.first(typed);
  const allTypes = start.columns.map((column) => column.type);
  const nullable = { ...start, columns: start.columns.map((column) => ({ ...column, nullable: true })) };
  const allNames = traversal === null ? names : [...names, ...traversal.names];
  const { entry, definition } = makeEntry(binding, item.name, nullable, allNames, null, names.length);
  entry.working = true;
  entries.set(item.name, entry);
  const second = bindBody(binding, {
    ...withPlace,
    expected: types,
    ...(traversal === null ? {} : { carriesInto: item.name }),
  }, body.right);
  entry.working = false;
  entry.references = 0;
  checkRecursiveTerm(binding, { name: item.name, id: entry.id, position: item.position }, second.plan);
  if (entry.isAggregated) {
    throw binding.error(
      SQLSTATE.invalidRecursion,
      "aggregate functions are not allowed in a recursive query's recursive term",
      body.right.position,
    );
  }
  if (second.columns.length !== allTypes.length) {
    throw binding.error(
      SQLSTATE.syntaxError,
      "each UNION query must have the same number of columns",
      body.right.position,
    );
  }
  second.columns.slice(0, types.length).forEach((column, index) => {
    const wanted = first.columns[index]?.type ?? column.type;
    const compatible = tryCoerce(binding, outputReference(column), wanted, "implicit");
    const overall = commonType([wanted, column.type]);
    if (compatible !== undefined && (overall === undefined || formatType(overall) === formatType(wanted))) {
      return;
    }
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `recursive query "${item.name}" column ${index + 1} has type ${
        formatType(wanted)
      } in non-recursive term but type ${formatType(overall ?? column.type)} overall`,
      body.left.position,
      { hint: "Cast the output of the non-recursive term to the correct type." },
    );
  });
  const carrying = withTypes(binding, second, allTypes);
  const term = traversal === null ? carrying : withTypes(binding, traversal.next(carrying), allTypes);
  return {
    entry,
    definition: {
      ...definition,
      recursive: { plan: term.plan, columns: term.columns.map((column) => column.column), all: body.all },
    },
  };
}

/** Whether a plan is a modification, perhaps under its own WITH. */
export function modifies(plan: Plan): boolean {
  if (plan.kind === "insert" || plan.kind === "update" || plan.kind === "delete") return true;
  return plan.kind === "with" &&
    (modifies(plan.body) || plan.definitions.some((each) => modifies(each.plan)));
}

/** Puts the definitions of a WITH around a plan; those that are read once are put in place instead. */
export function finishWith(body: Plan, scope: BoundWith): Plan {
  let plan = body;
  if (scope.definitions.some(({ definition }) => modifies(definition.plan))) {
    return {
      kind: "with",
      definitions: scope.definitions.filter(({ entry, definition }) =>
        entry.references > 0 || modifies(definition.plan)
      ).map((each) => each.definition),
      body: plan,
      rows: 0,
    };
  }
  const kept: WithDefinition[] = [];
  const inlined = new Map<number, WithDefinition>();
  for (const { entry, definition, materialized } of scope.definitions) {
    if (entry.references === 0) continue;
    const inline = materialized !== true && definition.recursive === null && entry.references === 1 &&
      !isVolatilePlan(definition.plan);
    if (inline) inlined.set(definition.id, definition);
    else kept.push(definition);
  }
  if (inlined.size > 0) plan = inlineDefinitions(plan, inlined);
  if (kept.length === 0) return plan;
  const definitions = inlined.size === 0 ? kept : kept.map((definition) => ({
    ...definition,
    plan: inlineDefinitions(definition.plan, inlined),
    recursive: definition.recursive === null
      ? null
      : { ...definition.recursive, plan: inlineDefinitions(definition.recursive.plan, inlined) },
  }));
  return { kind: "with", definitions, body: plan, rows: 0 };
}

/** Puts definitions in the place of their scans, in one walk: each is in one place, and may read others itself. */
function inlineDefinitions(plan: Plan, inlined: ReadonlyMap<number, WithDefinition>): Plan {
  const definition = plan.kind === "with_scan" ? inlined.get(plan.id) : undefined;
  if (plan.kind === "with_scan" && definition !== undefined) {
    const outputs = plan.outputs.map((output, index) => {
      const column = plan.columns[index] ?? 0;
      const at = definition.columns.indexOf(column);
      return {
        output,
        expression: columnReference(column, definition.types[at] ?? { kind: "text" }, true),
      };
    });
    return { kind: "project", input: inlineDefinitions(definition.plan, inlined), outputs, rows: 0 };
  }
  const inExpression = (expression: Expression): Expression =>
    mapOperands(expression, inExpression, (inner) => inlineDefinitions(inner, inlined));
  return mapOwnExpressions(mapInputs(plan, (input) => inlineDefinitions(input, inlined)), inExpression);
}

/** A scan of a common table, or undefined when no such name is in sight. */
export function bindCommonTable(binding: Binding, scope: CommonTableScope | null, name: string) {
  const entry = findCommonTable(scope, name);
  if (entry === undefined) return undefined;
  if (entry.hasRows === false) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `WITH query "${name}" does not have a RETURNING clause`,
    );
  }
  entry.references++;
  const outputs = binding.newColumns(entry.refs.length);
  const plan: Plan = {
    kind: "with_scan",
    id: entry.id,
    working: entry.working,
    outputs,
    columns: entry.refs,
    rows: 0,
  };
  return { entry, plan, outputs };
}

/** A value that must be of some type at last. */
export function settled(binding: Binding, expression: Expression): Expression {
  return settle(binding, expression);
}
