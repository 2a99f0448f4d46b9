/**
 * Binding of calls: scalar and set-returning functions, aggregates, window functions, GROUPING.
 *
 * An aggregate belongs to the innermost query level whose columns its arguments use, as the SQL standard says; it is
 * collected there and the call becomes a reference to its result. Equal aggregates are computed once.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import { commonType, withoutLimits } from "../functions/casts.ts";
import type {
  BoundAggregate,
  BoundFunction,
  FunctionDefinition,
  Volatility,
} from "../functions/definition.ts";
import {
  functionsNamed,
  isAggregateName,
  resolveAggregate,
  resolveFunction,
  resolveOperator,
} from "../functions/registry.ts";
import { userFunctionOverload } from "../functions/user_functions.ts";
import type {
  Expression as Ast,
  FunctionCall,
  SortKey as SortKeyAst,
  WindowSpecification,
} from "../parser/ast.ts";
import { columnReference, constant, expressionKey, sameExpression, volatilityOf } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { SortKey, WindowCall } from "../plan/plan.ts";
import { columnsOf, operands } from "../plan/traverse.ts";
import { bindHypotheticalRank, isHypotheticalRank } from "./hypothetical_rank.ts";
import type { Binding } from "./binding.ts";
import { coerceCondition, coerceImplicit, settle, tryCoerce } from "./coercion.ts";
import { bindExpression, callOf } from "./expression_binder.ts";
import { findTable, missingTable, wholeRow } from "./names.ts";
import type { Clause, QueryLevel } from "./scope.ts";
import { bindWindow } from "./window_binder.ts";

/** Functions that only exist with OVER. */
const WINDOW_FUNCTIONS = new Set([
  "row_number",
  "rank",
  "dense_rank",
  "percent_rank",
  "cume_dist",
  "ntile",
  "lag",
  "lead",
  "first_value",
  "last_value",
  "nth_value",
]);

/** Functions whose parameters may be named, in order, with the default of those that may be left out. */
const NAMED_PARAMETERS: Readonly<Record<string, Readonly<Record<string, Expression | null>>>> = {
  make_interval: Object.fromEntries(
    ["years", "months", "weeks", "days", "hours", "mins", "secs"].map((name) => [
      name,
      constant({ kind: "i32" }, 0),
    ]),
  ),
  ...Object.fromEntries(
    ["exists", "match", "query", "query_array", "query_first"].flatMap((name) =>
      ["", "_tz"].map((suffix) => [`jsonb_path_${name}${suffix}`, {
        target: null,
        path: null,
        vars: constant({ kind: "jsonb" }, "{}"),
        silent: constant({ kind: "bool" }, false),
      }])
    ),
  ),
  jsonb_set: {
    jsonb_in: null,
    path: null,
    replacement: null,
    create_if_missing: constant({ kind: "bool" }, true),
  },
  jsonb_insert: {
    jsonb_in: null,
    path: null,
    replacement: null,
    insert_after: constant({ kind: "bool" }, false),
  },
};

/** Functions that leave something behind when the transaction commits, so that a query of them is no mere read. */
const WRITING_FUNCTIONS: ReadonlySet<string> = new Set(["nextval", "setval", "pg_notify"]);

const AGGREGATE_CLAUSES: ReadonlySet<Clause> = new Set([
  "SELECT",
  "HAVING",
  "ORDER BY",
  "DISTINCT ON",
  "window arguments",
  "window definitions",
]);
const SET_CLAUSES: ReadonlySet<Clause> = new Set(["SELECT", "ORDER BY", "DISTINCT ON", "GROUP BY"]);
const WINDOW_CLAUSES: ReadonlySet<Clause> = new Set(["SELECT", "ORDER BY", "DISTINCT ON"]);

/** What PostgreSQL advises where a set-returning function is not allowed. */
export const LATERAL_HINT = "You might be able to move the set-returning function into a LATERAL FROM item.";

/** Runs `action` with another clause in force at the level. */
export function inClause<T>(level: QueryLevel, clause: Clause, action: () => T): T {
  const before = level.clause;
  level.clause = clause;
  try {
    return action();
  } finally {
    level.clause = before;
  }
}

/** Binds a call of any kind. */
export function bindCall(binding: Binding, level: QueryLevel, ast: FunctionCall): Expression {
  const name = functionName(binding, ast);
  if (name === "grouping" && functionsNamed(name).length === 0) return bindGrouping(binding, level, ast);
  if (ast.over !== null) return bindWindowCall(binding, level, ast, name, ast.over);
  if (isHypotheticalRank(ast, name)) return bindHypotheticalRank(binding, level, ast, name);
  if (WINDOW_FUNCTIONS.has(name) && functionsNamed(name).length === 0) {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      `window function ${name} requires an OVER clause`,
      ast.position,
    );
  }
  if (isAggregateName(name)) return bindAggregate(binding, level, ast, name);
  refuseAggregateSyntax(binding, ast, name);
  const { chosen, args } = bindFunction(binding, level, ast, name);
  if (WRITING_FUNCTIONS.has(chosen.name)) binding.writesSequences = true;
  if (chosen.rows !== undefined) return bindSetFunction(binding, level, ast, chosen, args);
  return callOf(binding, chosen, args, ast.position);
}

/** The user-defined functions that a call's name may mean. */
function userFunctionsOf(binding: Binding, ast: FunctionCall): readonly FunctionDefinition[] {
  const { catalog, searchPath } = binding.environment;
  if (catalog.functions.length === 0) return [];
  const [name = "", schema] = ast.name.toReversed();
  return catalog.functionsNamed(name, schema === undefined ? searchPath : [schema]).map(userFunctionOverload);
}

/** What a call of a scalar function that is built in is; null: it calls something else. */
export function builtInVolatility(binding: Binding, level: QueryLevel, ast: FunctionCall): Volatility | null {
  if (userFunctionsOf(binding, ast).length > 0) return null;
  const bound = bindCall(binding, level, ast);
  return bound.kind === "call" || bound.kind === "cast" ? volatilityOf(bound) : null;
}

/** The names by which user-defined functions can be called. */
function userFunctionNames({ environment: { catalog, searchPath } }: Binding): string[] {
  return catalog.functions.map(({ schema, name }) =>
    searchPath.includes(schema) ? name : `${schema}.${name}`
  );
}

/** The function's own name; a schema other than the built-in one has functions of users. */
function functionName(binding: Binding, ast: FunctionCall): string {
  const [name = "", schema] = ast.name.toReversed();
  if (schema === undefined || schema === "pg_catalog" || schema === "information_schema") return name;
  if (binding.environment.catalog.schema(schema) === undefined) {
    throw binding.error(SQLSTATE.invalidSchemaName, `schema "${schema}" does not exist`, ast.position);
  }
  return name;
}

function refuseAggregateSyntax(binding: Binding, ast: FunctionCall, name: string): void {
  const refuse = (what: string) => {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      `${what} specified, but ${name} is not an aggregate function`,
      ast.position,
    );
  };
  if (functionsNamed(name).length === 0 && userFunctionsOf(binding, ast).length === 0) return;
  if (ast.distinct) refuse("DISTINCT");
  if (ast.withinGroup) refuse("WITHIN GROUP");
  if (ast.orderBy.length > 0) refuse("ORDER BY");
  if (ast.filter !== null) refuse("FILTER");
  if (ast.star) refuse("*");
}

/** Chooses a scalar or set-returning function and binds its arguments, not yet converted. */
export function bindFunction(
  binding: Binding,
  level: QueryLevel,
  ast: FunctionCall,
  name = functionName(binding, ast),
): { readonly chosen: BoundFunction; readonly args: readonly Expression[] } {
  const args = sequenceByName(
    name,
    bindArguments(binding, level, ast, name).filter((each) => !isOutput(each)),
  );
  const types = args.map((each) => each.type);
  const userFunctions = userFunctionsOf(binding, ast);
  // Not spread: the position is counted out only when an error asks for it.
  const options = { variadic: ast.variadic, userFunctions, userNames: userFunctionNames(binding) };
  const chosen = resolveFunction(name, types, Object.assign(binding.at(ast.position), options));
  if (chosen.userFunctionId !== undefined) binding.environment.noteUserFunction?.(chosen.userFunctionId);
  const isSpread = ast.variadic && functionsNamed(name).some(({ spread }) => spread?.name === chosen.name);
  if (isSpread) requireArray(binding, chosen, args);
  return { chosen, args };
}

/** 42804 for `VARIADIC value` of a function that takes any arguments, unless the value is an array. */
function requireArray(binding: Binding, chosen: BoundFunction, args: readonly Expression[]): void {
  const last = args.at(-1);
  if (last === undefined || chosen.argumentTypes.at(-1)?.kind === "array") return;
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    "VARIADIC argument must be an array",
    binding.positions.get(last),
  );
}

/**
 * JDBC's `{? = call f(?)}` sends its output as a first argument, a parameter that it declares as void. PostgreSQL
 * leaves those out too.
 */
function isOutput(argument: Expression): boolean {
  return argument.kind === "parameter" && argument.type.kind === "void";
}

/** `nextval('s'::regclass)` is the same as `nextval('s')`, which needs no look-up of the catalog at each call. */
function sequenceByName(name: string, args: readonly Expression[]): readonly Expression[] {
  const [first, ...rest] = args;
  if (name !== "nextval" && name !== "currval" && name !== "setval") return args;
  if (first === undefined || first.kind !== "cast" || first.type.kind !== "regclass") return args;
  const { argument } = first;
  if (argument.kind !== "constant" || typeof argument.value !== "string") return args;
  return [constant({ kind: "text" }, argument.value), ...rest];
}

function bindArguments(binding: Binding, level: QueryLevel, ast: FunctionCall, name: string): Expression[] {
  const values = ast.arguments.map((each) => bindArgument(binding, level, each.value));
  if (ast.arguments.every((each) => each.name === null)) return values;
  const parameters = NAMED_PARAMETERS[name] ?? userParameters(binding, ast);
  if (parameters === undefined) throw binding.unsupported("named arguments", ast.position);
  const names = Object.keys(parameters);
  const refuse = (message: string): never => {
    throw binding.error(SQLSTATE.undefinedFunction, message, ast.position);
  };
  const given = new Map<string, Expression>();
  for (const [index, argument] of ast.arguments.entries()) {
    const parameter = argument.name ?? names[index];
    const value = values[index];
    if (parameter === undefined || value === undefined || !(parameter in parameters)) {
      return refuse(`function ${name} has no parameter named "${argument.name ?? ""}"`);
    }
    if (given.has(parameter)) return refuse(`argument name "${parameter}" used more than once`);
    given.set(parameter, value);
  }
  return names.map((each) =>
    given.get(each) ?? parameters[each] ?? refuse(`function ${name} needs an argument for "${each}"`)
  );
}

/** The names of the parameters of a user's function, when there is one of the name and all have names. */
function userParameters(binding: Binding, ast: FunctionCall): Readonly<Record<string, null>> | undefined {
  const { catalog, searchPath } = binding.environment;
  const [name = "", schema] = ast.name.toReversed();
  const [only, ...others] = catalog.functionsNamed(name, schema === undefined ? searchPath : [schema]);
  if (only === undefined || others.length > 0) return undefined;
  const names = only.parameters.map((each) => each.name ?? "");
  return names.includes("") ? undefined : Object.fromEntries(names.map((each) => [each, null]));
}

function bindArgument(binding: Binding, level: QueryLevel, ast: Ast): Expression {
  if (ast.kind !== "star") return bindExpression(binding, level, ast);
  const table = findTable(binding, level, ast.qualifier, ast.position);
  if (table === undefined) throw missingTable(binding, level, ast.qualifier, ast.position);
  return wholeRow(binding, table);
}

function bindSetFunction(
  binding: Binding,
  level: QueryLevel,
  ast: FunctionCall,
  chosen: BoundFunction,
  args: readonly Expression[],
): Expression {
  if (!SET_CLAUSES.has(level.clause)) refuseSetFunction(binding, level, ast);
  const call = callOf(binding, chosen, args, ast.position);
  const converted = call.kind === "call" ? call.args : args;
  const columns = chosen.rowColumns ?? [{ name: chosen.name, type: chosen.returnType }];
  const used = new Set(converted.flatMap((each) => [...columnsOf(each)]));
  let depth = 0;
  level.setFunctions.forEach((list, index) => {
    if (list.some((each) => each.outputs.some((output) => used.has(output)))) depth = index + 1;
  });
  const list = level.setFunctions[depth] ?? [];
  // A key of ORDER BY or DISTINCT ON that looks like an item of the select list is that item.
  const same = level.clause === "SELECT"
    ? undefined
    : list.find((each) =>
      each.function.name === chosen.name &&
      each.args.map(expressionKey).join() === converted.map(expressionKey).join()
    );
  const outputs = same?.outputs ?? binding.newColumns(columns.length);
  if (same === undefined) list.push({ function: chosen, args: converted, outputs });
  level.setFunctions[depth] = list;
  for (const output of outputs) {
    level.computed.add(output);
    binding.setOutputs.add(output);
  }
  const fields = columns.map((column, index) => columnReference(outputs[index] ?? 0, column.type, true));
  const [only] = fields;
  if (only !== undefined && fields.length === 1) return only;
  return { kind: "row", type: { kind: "record", fields: columns }, fields };
}

/** 0A000, worded as the clause has it. */
function refuseSetFunction(binding: Binding, level: QueryLevel, ast: FunctionCall): never {
  const refuse = (message: string, hint?: string): never => {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      message,
      ast.position,
      hint === undefined ? {} : { hint },
    );
  };
  switch (level.clause) {
    case "aggregate":
      return refuse("aggregate function calls cannot contain set-returning function calls", LATERAL_HINT);
    case "window arguments":
      return refuse("window function calls cannot contain set-returning function calls", LATERAL_HINT);
    case "window ROWS":
    case "window RANGE":
    case "window GROUPS":
      return refuse("set-returning functions are not allowed in window definitions");
    case "functions in FROM":
      return refuse("set-returning functions must appear at top level of FROM");
    default:
      return refuse(`set-returning functions are not allowed in ${level.clause}`);
  }
}

/** The columns that a level's FROM provides. */
function ownColumnsOf(level: QueryLevel): ReadonlySet<ColumnRef> {
  const result = new Set<ColumnRef>();
  for (const table of level.from.tables) {
    for (const column of table.columns) for (const each of columnsOf(column.expression)) result.add(each);
    if (table.rowId !== null) result.add(table.rowId);
  }
  for (const column of level.from.columns) for (const each of columnsOf(column.expression)) result.add(each);
  return result;
}

/** The level that an aggregate over these arguments, and with these keys of its order, belongs to. */
function aggregateLevel(level: QueryLevel, args: readonly Expression[]): QueryLevel {
  const used = new Set(args.flatMap((each) => [...columnsOf(each)]));
  if (used.size === 0) return level;
  for (let each: QueryLevel | null = level; each !== null; each = each.parent) {
    const own = ownColumnsOf(each);
    for (const column of used) if (own.has(column)) return each;
  }
  return level;
}

function refuseClause(binding: Binding, level: QueryLevel, what: string, position: number): void {
  switch (level.clause) {
    case "aggregate":
      throw binding.error(
        SQLSTATE.groupingError,
        what.startsWith("window")
          ? "aggregate function calls cannot contain window function calls"
          : "aggregate function calls cannot be nested",
        position,
      );
    case "window arguments":
      throw binding.error(SQLSTATE.windowingError, "window function calls cannot be nested", position);
    default: {
      const isWindow = what.startsWith("window");
      const place = isWindow && level.clause.startsWith("window ") ? "window definitions" : level.clause;
      throw binding.error(
        isWindow ? SQLSTATE.windowingError : SQLSTATE.groupingError,
        `${what} are not allowed in ${place}`,
        position,
      );
    }
  }
}

/** The parts of an aggregate call that plain and windowed ones share. */
function bindAggregateParts(binding: Binding, level: QueryLevel, ast: FunctionCall, name: string): {
  readonly aggregate: BoundAggregate;
  readonly args: readonly Expression[];
  readonly filter: Expression | null;
  readonly orderBy: readonly SortKey[];
} {
  const { args, orderBy } = inClause(
    level,
    level.clause === "window arguments" ? level.clause : "aggregate",
    () => {
      const { directArguments } = binding;
      const direct = ast.arguments.map((each) => {
        const bound = bindArgument(binding, level, each.value);
        if (ast.withinGroup) directArguments.bound.add(bound);
        return bound;
      });
      directArguments.any ||= ast.withinGroup;
      const keys = ast.orderBy.map((key) => bindSortKey(binding, level, key));
      return {
        // An ordered-set aggregate works on the ordered column, after its direct arguments.
        args: ast.withinGroup ? [...direct, ...keys.map((key) => key.expression)] : direct,
        orderBy: keys,
      };
    },
  );
  const filter = ast.filter === null ? null : inClause(level, "FILTER", () =>
    coerceCondition(
      binding,
      bindExpression(binding, level, ast.filter ?? { kind: "default", position: ast.position }),
      "FILTER",
      ast.filter?.position,
    ));
  if (args.length === 0 && !ast.star && name === "count") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      "count(*) must be used to call a parameterless aggregate function",
      ast.position,
    );
  }
  if (ast.star && name !== "count") {
    throw binding.error(SQLSTATE.undefinedFunction, `function ${name}() does not exist`, ast.position, {
      hint:
        "No function matches the given name and argument types. You might need to add explicit type casts.",
    });
  }
  const aggregate = resolveAggregate(name, args.map((each) => each.type), binding.at(ast.position));
  const converted = args.map((argument, index) => {
    const type = aggregate.argumentTypes[index];
    return type === undefined
      ? settle(binding, argument)
      : coerceImplicit(binding, argument, type, ast.position);
  });
  if (!ast.distinct || ast.withinGroup) return { aggregate, args: converted, filter, orderBy };
  // An order by what an argument was before its conversion is one by the argument.
  const order = orderBy.map((key, at) => {
    const written = ast.orderBy[at]?.expression;
    const isUntyped = written?.kind === "literal" && (written.type === "string" || written.type === "null");
    const expression = isUntyped ? undefined : converted.find((each, index) => {
      const given = args[index] ?? each;
      return sameExpression(given.type.kind === "unknown" ? each : given, key.expression);
    });
    if (expression !== undefined) return { ...key, expression };
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
      written?.position,
    );
  });
  return { aggregate, args: converted, filter, orderBy: order };
}

function bindAggregate(binding: Binding, level: QueryLevel, ast: FunctionCall, name: string): Expression {
  const parts = bindAggregateParts(binding, level, ast, name);
  const { aggregate, args, filter } = parts;
  const keys = parts.orderBy.map((each) => each.expression);
  const owner = aggregateLevel(level, [...args, ...keys, ...filter === null ? [] : [filter]]);
  // The clause is that of the level the aggregate is written in, or of the outer one it belongs to.
  if (!AGGREGATE_CLAUSES.has(owner.clause)) refuseClause(binding, owner, "aggregate functions", ast.position);
  const distinct = ast.distinct && aggregate.name !== "min" && aggregate.name !== "max";
  let orderBy = aggregate.orderSensitive ? parts.orderBy : [];
  const [first] = args;
  if (ast.distinct && first !== undefined) requireEquality(binding, first.type, ast.position);
  // DISTINCT is done by sorting in PostgreSQL, so that its order shows in lists.
  if (distinct && aggregate.orderSensitive && orderBy.length === 0) {
    orderBy = args.slice(0, 1).map((expression) => ({ expression, descending: false, nullsFirst: false }));
  }
  // A value of the group and one of its rows may look the same.
  const isDirect = binding.directArguments.any &&
    [...args, ...filter === null ? [] : [filter]].some((each) => hasDirectArgument(binding, each));
  const key = [
    name,
    distinct,
    args.map((each) => binding.keyOf(each)).join(),
    filter === null ? "" : binding.keyOf(filter),
    orderBy.map((each) => `${expressionKey(each.expression)}${each.descending}${each.nullsFirst}`).join(),
    isDirect,
  ].join("|");
  const isVolatile = [...args, ...filter === null ? [] : [filter]].some((each) =>
    volatilityOf(each) === "volatile"
  );
  const known = isVolatile ? undefined : owner.aggregateKeys.get(key);
  if (known !== undefined) return { ...known };
  const output = binding.newColumn();
  owner.aggregates.push({ output, aggregate, args, distinct, filter, orderBy });
  if (isDirect) owner.directAggregates.add(output);
  owner.computed.add(output);
  const reference = columnReference(output, aggregate.returnType, aggregate.name !== "count");
  owner.aggregateKeys.set(key, reference);
  return reference;
}

function hasDirectArgument(binding: Binding, expression: Expression): boolean {
  return binding.directArguments.bound.has(expression) ||
    operands(expression).some((each) => hasDirectArgument(binding, each));
}

/** GROUPING has a grammar of its own: nothing but a list of expressions. */
function refuseGroupingSyntax(binding: Binding, ast: FunctionCall): void {
  const sign = ast.distinct
    ? "distinct"
    : ast.star
    ? "*"
    : ast.arguments.length === 0
    ? ")"
    : ast.orderBy.length > 0
    ? "order"
    : ast.filter !== null
    ? "filter"
    : ast.over !== null
    ? "over"
    : null;
  if (sign !== null) {
    throw binding.error(SQLSTATE.syntaxError, `syntax error at or near "${sign}"`, ast.position);
  }
}

function bindGrouping(binding: Binding, level: QueryLevel, ast: FunctionCall): Expression {
  refuseGroupingSyntax(binding, ast);
  if (ast.arguments.length > 31) {
    throw binding.error(
      SQLSTATE.tooManyArguments,
      "GROUPING must have fewer than 32 arguments",
      ast.position,
    );
  }
  const args = ast.arguments.map((each) =>
    inClause(level, "aggregate", () => bindExpression(binding, level, each.value))
  );
  const owner = aggregateLevel(level, args);
  if (!AGGREGATE_CLAUSES.has(owner.clause)) {
    refuseClause(binding, owner, "grouping operations", ast.position);
  }
  const output = binding.newColumn();
  owner.groupings.push({ output, args, position: ast.position });
  owner.computed.add(output);
  return columnReference(output, { kind: "i32" }, false);
}

/** Binds a key of an ORDER BY inside of an aggregate or window. */
export function bindSortKey(binding: Binding, level: QueryLevel, key: SortKeyAst): SortKey {
  const expression = settle(binding, bindExpression(binding, level, key.expression));
  return sortKeyOf(binding, expression, key);
}

/** The key with its direction; 42883 for types without order. */
export function sortKeyOf(binding: Binding, expression: Expression, key: SortKeyAst): SortKey {
  if (key.using !== null && key.using !== "<" && key.using !== ">") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      `operator ${key.using} is not a valid ordering operator`,
      key.position,
      { hint: 'Ordering operators must be "<" or ">" members of btree operator families.' },
    );
  }
  requireOrder(binding, expression.type, key.expression.position);
  const descending = key.descending;
  return { expression, descending, nullsFirst: key.nulls === null ? descending : key.nulls === "first" };
}

function requireOrder(binding: Binding, type: SqlType, position: number): void {
  if (type.kind === "record") return;
  const base = type.kind === "array" ? type.element : type;
  if (base.kind === "json") {
    throw binding.error(
      SQLSTATE.undefinedFunction,
      `could not identify an ordering operator for type ${formatTypeFamily(type)}`,
      position,
      { hint: "Use an explicit ordering operator or modify the query." },
    );
  }
}

function bindWindowCall(
  binding: Binding,
  level: QueryLevel,
  ast: FunctionCall,
  name: string,
  specification: WindowSpecification,
): Expression {
  if (!WINDOW_CLAUSES.has(level.clause)) refuseClause(binding, level, "window functions", ast.position);
  if (ast.distinct) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      "DISTINCT is not implemented for window functions",
      ast.position,
    );
  }
  if (ast.withinGroup) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `OVER is not supported for ordered-set aggregate ${name}`,
      ast.position,
    );
  }
  if (ast.orderBy.length > 0) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      "aggregate ORDER BY is not implemented for window functions",
      ast.position,
    );
  }
  const { window, frame } = bindWindow(binding, level, specification);
  const output = binding.newColumn();
  let call: WindowCall;
  if (WINDOW_FUNCTIONS.has(name)) {
    if (ast.filter !== null) {
      throw binding.error(
        SQLSTATE.featureNotSupported,
        "FILTER is not implemented for non-aggregate window functions",
        ast.position,
      );
    }
    const given = ast.arguments.map((each) =>
      withAggregates(level, () => bindExpression(binding, level, each.value))
    );
    const { type, args } = windowArguments(binding, name, given, ast);
    call = { output, type, function: { name }, args, filter: null, frame };
  } else if (isAggregateName(name)) {
    const parts = withAggregates(level, () => bindAggregateParts(binding, level, ast, name));
    call = {
      output,
      type: parts.aggregate.returnType,
      function: { aggregate: parts.aggregate },
      args: parts.args,
      filter: parts.filter,
      frame,
    };
  } else {
    bindFunction(binding, level, ast, name);
    throw binding.error(
      SQLSTATE.wrongObjectType,
      `OVER specified, but ${name} is not a window function nor an aggregate function`,
      ast.position,
    );
  }
  window.calls.push(call);
  level.computed.add(output);
  const never = ["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "count"];
  return columnReference(output, call.type, !never.includes(name));
}

/** Inside a window call, aggregates of the query are allowed (sum(sum(x)) OVER …), window calls are not. */
function withAggregates<T>(level: QueryLevel, action: () => T): T {
  return inClause(level, "window arguments", action);
}

function windowArguments(
  binding: Binding,
  name: string,
  given: readonly Expression[],
  ast: FunctionCall,
): { readonly type: SqlType; readonly args: readonly Expression[] } {
  const wrong = (): never => {
    throw binding.error(
      SQLSTATE.undefinedFunction,
      `function ${name}(${given.map((each) => formatTypeFamily(each.type)).join(", ")}) does not exist`,
      ast.position,
      {
        hint:
          "No function matches the given name and argument types. You might need to add explicit type casts.",
      },
    );
  };
  const integer = (expression: Expression, kind: "i32" | "i64"): Expression =>
    tryCoerce(binding, expression, { kind }, "implicit") ?? wrong();
  const [first, second, third] = given;
  switch (name) {
    case "row_number":
    case "rank":
    case "dense_rank":
      return given.length > 0 ? wrong() : { type: { kind: "i64" }, args: [] };
    case "percent_rank":
    case "cume_dist":
      return given.length > 0 ? wrong() : { type: { kind: "f64" }, args: [] };
    case "ntile":
      if (first === undefined || given.length !== 1) return wrong();
      return { type: { kind: "i32" }, args: [integer(first, "i32")] };
    case "first_value":
    case "last_value": {
      if (first === undefined || given.length !== 1) return wrong();
      const value = settle(binding, first);
      return { type: withoutLimits(value.type), args: [value] };
    }
    case "nth_value": {
      if (first === undefined || second === undefined || given.length !== 2) return wrong();
      const value = settle(binding, first);
      return { type: withoutLimits(value.type), args: [value, integer(second, "i32")] };
    }
    default: {
      if (first === undefined || given.length > 3) return wrong();
      if (third === undefined) {
        const value = settle(binding, first);
        const args = second === undefined ? [value] : [value, integer(second, "i32")];
        return { type: withoutLimits(value.type), args };
      }
      const type = commonType([first.type, third.type]);
      if (type === undefined || second === undefined) return wrong();
      return {
        type: withoutLimits(type),
        args: [
          coerceImplicit(binding, first, type, ast.position),
          integer(second, "i32"),
          coerceImplicit(binding, third, type, ast.position),
        ],
      };
    }
  }
}

/** Whether equality exists for a type, which DISTINCT, GROUP BY and UNION need. */
export function requireEquality(binding: Binding, type: SqlType, offset: number | undefined): void {
  if (type.kind === "record" || type.kind === "unknown") return;
  const base = type.kind === "array" ? type.element : type;
  if (base.kind === "json") {
    throw binding.error(
      SQLSTATE.undefinedFunction,
      `could not identify an equality operator for type ${formatTypeFamily(type)}`,
      offset,
    );
  }
  resolveOperator("=", type, type, binding.at(offset));
}
