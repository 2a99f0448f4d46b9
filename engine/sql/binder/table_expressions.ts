/**
 * Expressions that belong to a table's definition: defaults, CHECK constraints, generated columns, index predicates.
 *
 * They are stored as text. Their syntax trees are kept with the (immutable) definition; binding them anew for each
 * statement is cheap.
 */
import type { GasPlace } from "../../base/gas.ts";
import { onceIn, type Pieces } from "../../base/pieces.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { defaultPlace } from "../../catalog/gas_places.ts";
import type { BoundFunction } from "../functions/definition.ts";
import type { Expression as Ast } from "../parser/ast.ts";
import { parseExpression } from "../parser/statements.ts";
import { columnReference, constant, volatilityOf } from "../plan/build.ts";
import { needsCounter, runCounted, shapeSteps } from "../plan/expression_steps.ts";
import { operands } from "../plan/traverse.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { BoundCheck } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { coerceAssignment, coerceCondition, settle } from "./coercion.ts";
import { evaluate } from "./evaluate.ts";
import { bindExpression } from "./expression_binder.ts";
import { type Clause, QueryLevel, type ScopeColumn, type ScopeTable } from "./scope.ts";

const parsed = new WeakMap<object, Map<string, Ast>>();

/** The syntax tree of a text that belongs to a definition. */
export function parsedText(owner: object, text: string, pieces: Pieces | undefined): Ast {
  return onceIn(pieces, () => parsedOnce(owner, text, pieces));
}

function parsedOnce(owner: object, text: string, pieces: Pieces | undefined): Ast {
  let texts = parsed.get(owner);
  if (texts === undefined) {
    texts = new Map();
    parsed.set(owner, texts);
  }
  let ast = texts.get(text);
  if (ast === undefined) {
    ast = parseExpression(text, pieces === undefined ? {} : { pieces });
    texts.set(text, ast);
  }
  return ast;
}

/** The scope entry of a table whose columns are under given numbers. */
export function tableEntry(
  table: TableDefinition,
  alias: string | null,
  refs: readonly ColumnRef[],
  rowId: ColumnRef | null,
  nullable = false,
): ScopeTable {
  const columns: ScopeColumn[] = [];
  for (const [index, column] of table.columns.entries()) {
    if (column.hidden) continue;
    columns.push({
      name: column.name,
      expression: columnReference(refs[index] ?? 0, column.type, nullable || !column.notNull),
      tableId: table.id,
      columnId: column.id,
    });
  }
  return {
    name: alias ?? table.name,
    schema: alias === null ? table.schema : null,
    relationName: table.name,
    columns,
    table,
    rowId,
    nullable,
  };
}

/** A level in which exactly one table is visible. */
export function tableLevel(entry: ScopeTable, clause: Clause): QueryLevel {
  const level = new QueryLevel(null, null);
  level.from = { tables: [entry], columns: entry.columns };
  level.clause = clause;
  return level;
}

/** Binds a text of the table's definition over a row whose columns are under the given numbers. */
export function bindTableText(
  binding: Binding,
  table: TableDefinition,
  text: string,
  refs: readonly ColumnRef[],
  clause: Clause,
): Expression {
  const level = tableLevel(tableEntry(table, null, refs, null), clause);
  return binding.inOtherText(() =>
    settle(binding, bindExpression(binding, level, parsedText(table, text, binding.environment.pieces)))
  );
}

/** The value that a column takes when none is given, converted to its type; NULL without a default. */
export function defaultValue(binding: Binding, table: TableDefinition, column: ColumnDefinition): Expression {
  const value = uncountedDefault(binding, table, column);
  binding.each(operands(value), shapeSteps);
  return needsCounter(value) ? countedDefault(value, defaultPlace(table, column.name)) : value;
}

/** A default as a call of no arguments: wherever the statement has it, its steps are counted. */
function countedDefault(value: Expression, place: GasPlace): Expression {
  const called: BoundFunction = {
    name: place.what,
    argumentTypes: [],
    returnType: value.type,
    volatility: volatilityOf(value),
    strict: false,
    mayReturnNull: true,
    steps: "own",
    evaluate: (context) => runCounted(value, place, () => evaluate(value, context)),
  };
  return { kind: "call", type: value.type, function: called, args: [] };
}

function uncountedDefault(binding: Binding, table: TableDefinition, column: ColumnDefinition): Expression {
  if (column.defaultText !== null) {
    const ast = parsedText(table, column.defaultText, binding.environment.pieces);
    const level = new QueryLevel(null, null);
    level.clause = "DEFAULT expressions";
    return binding.inOtherText(() =>
      coerceAssignment(binding, bindExpression(binding, level, ast), column.type, column.name)
    );
  }
  if (column.identity !== null && column.sequenceId !== null) {
    const sequence = binding.environment.catalog.sequence(column.sequenceId);
    if (sequence !== undefined) {
      const ast = parsedText(
        sequence,
        `nextval('${quotedName(sequence.schema, sequence.name).replaceAll("'", "''")}')`,
        binding.environment.pieces,
      );
      const level = new QueryLevel(null, null);
      level.clause = "DEFAULT expressions";
      return binding.inOtherText(() =>
        coerceAssignment(binding, bindExpression(binding, level, ast), column.type, column.name)
      );
    }
  }
  return constant(column.type, null);
}

/** A qualified name in double quotes where they are needed. */
export function quotedName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** An identifier as SQL reads it back. */
export function quoteIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The CHECK constraints of a table over a row. */
export function bindChecks(
  binding: Binding,
  table: TableDefinition,
  refs: readonly ColumnRef[],
): BoundCheck[] {
  const checks: BoundCheck[] = [];
  for (const constraint of table.constraints) {
    if (constraint.kind !== "check") continue;
    const condition = coerceCondition(
      binding,
      bindTableText(binding, table, constraint.text, refs, "check constraints"),
      "CHECK",
    );
    checks.push({ name: constraint.name, condition });
  }
  return checks.sort((left, right) => left.name < right.name ? -1 : 1);
}

/** The stored generated columns of a table over a row. */
export function bindGenerated(
  binding: Binding,
  table: TableDefinition,
  refs: readonly ColumnRef[],
): { readonly position: number; readonly expression: Expression }[] {
  const generated: { readonly position: number; readonly expression: Expression }[] = [];
  for (const [position, column] of table.columns.entries()) {
    if (column.generatedText === null) continue;
    const bound = bindTableText(binding, table, column.generatedText, refs, "column generation expressions");
    generated.push({ position, expression: coerceAssignment(binding, bound, column.type, column.name) });
  }
  return generated;
}
