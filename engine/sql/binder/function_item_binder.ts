/** Binding of functions in FROM: those that return rows, and those whose row is one value. */
import { SQLSTATE } from "../../base/errors.ts";
import type { RecordField, SqlType } from "../../types/sql_type.ts";
import type { BoundFunction } from "../functions/definition.ts";
import { bindJsonRecord, jsonRecordFunction } from "../functions/json_record_functions.ts";
import type { Expression as Ast, FunctionItem } from "../parser/ast.ts";
import { volatilityOf } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { bindFunction } from "./call_binder.ts";
import { settle } from "./coercion.ts";
import { bindExpression, callOf } from "./expression_binder.ts";
import { findRelation, resolveType } from "./names.ts";
import type { OutputColumn } from "./bound_query.ts";
import { type FromScope, QueryLevel } from "./scope.ts";
import { aliased, type BoundFrom, lateralLevel, outputOf } from "./bound_from.ts";

/** Binds an item of functions; `visible` is what LATERAL sees to its left. */
export function bindFunctionItem(
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
