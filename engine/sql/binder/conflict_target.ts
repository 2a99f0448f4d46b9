/**
 * The target of ON CONFLICT: which unique indexes, or the row id, an insertion may collide with.
 *
 * Keys and condition are bound over the table's columns and compared with what the indexes hold. An index without
 * predicate serves under every condition; a partial one where the condition holds all that its predicate asks for.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { visibleKey } from "../../catalog/index_keys.ts";
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { isClassFor, requireKnownClass } from "../functions/operator_class_names.ts";
import { isCollatable, requireCollation } from "../functions/collations.ts";
import type { Expression as Ast, IndexKey, OnConflict as OnConflictAst } from "../parser/ast.ts";
import { conjuncts, expressionKey, hasSubquery } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { settle } from "./coercion.ts";
import { bindExpression } from "./expression_binder.ts";
import type { Clause, QueryLevel } from "./scope.ts";
import { bindTableText, tableEntry, tableLevel } from "./table_expressions.ts";

/** The unique indexes (or the row id) that a conflict target means; null: all of them. */
export function arbitersOf(
  binding: Binding,
  table: TableDefinition,
  ast: OnConflictAst,
): readonly (number | "row_id")[] | null {
  if (ast.constraint !== null) return [arbiterOfConstraint(binding, table, ast.constraint, ast.position)];
  if (ast.target.length === 0) {
    if (ast.update === null) return null;
    throw binding.error(
      SQLSTATE.syntaxError,
      "ON CONFLICT DO UPDATE requires inference specification or constraint name",
      ast.position,
      { hint: "For example, ON CONFLICT (column_name)." },
    );
  }
  const arbiters = new ConflictTarget(binding, table, ast).arbiters();
  if (arbiters.length > 0) return arbiters;
  throw binding.error(
    SQLSTATE.invalidColumnReference,
    "there is no unique or exclusion constraint matching the ON CONFLICT specification",
  );
}

function arbiterOfConstraint(
  binding: Binding,
  table: TableDefinition,
  name: string,
  position: number,
): number | "row_id" {
  const constraint = table.constraints.find((each) => each.name === name);
  if (constraint === undefined) {
    throw binding.error(
      SQLSTATE.undefinedObject,
      `constraint "${name}" for table "${table.name}" does not exist`,
      position,
    );
  }
  if (constraint.kind !== "primary_key" && constraint.kind !== "unique") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      "constraint in ON CONFLICT clause has no associated index",
      position,
    );
  }
  return constraint.indexId ?? "row_id";
}

/** A target of keys, bound over a row of the table. */
class ConflictTarget {
  readonly #binding: Binding;
  readonly #table: TableDefinition;
  readonly #refs: readonly number[];
  readonly #keys: ReadonlySet<string>;
  /** What the condition is made of; empty without one. */
  readonly #conditions: ReadonlySet<string>;
  /** Whether the keys' operator classes are of their types: no index has others. */
  readonly #isOrdered: boolean;

  constructor(binding: Binding, table: TableDefinition, ast: OnConflictAst) {
    this.#binding = binding;
    this.#table = table;
    this.#refs = binding.newColumns(table.columns.length);
    let isOrdered = true;
    this.#keys = new Set(ast.target.map((key) => {
      const expression = this.#bind(key.expression, "index expressions");
      isOrdered &&= this.#isOrderedBy(key, expression);
      return expressionKey(expression);
    }));
    this.#isOrdered = isOrdered;
    this.#conditions = new Set(ast.targetWhere === null ? [] : this.#conditionsOf(ast.targetWhere));
  }

  arbiters(): (number | "row_id")[] {
    if (!this.#isOrdered) return [];
    const arbiters: (number | "row_id")[] = [];
    const { rowIdColumn } = this.#table;
    if (rowIdColumn !== null && this.#keys.size === 1 && this.#keys.has(this.#keyOf(rowIdColumn))) {
      arbiters.push("row_id");
    }
    for (const index of this.#table.indexes) if (this.#matches(index)) arbiters.push(index.id);
    return arbiters;
  }

  #matches(index: IndexDefinition): boolean {
    const key = visibleKey(index);
    if (!index.unique || new Set(key.map((part) => part.columnId)).size !== this.#keys.size) return false;
    if (!key.every((part) => this.#keys.has(this.#keyOf(part.columnId)))) return false;
    if (index.predicateText === null) return true;
    const predicate = bindTableText(
      this.#binding,
      this.#table,
      index.predicateText,
      this.#refs,
      "index predicates",
    );
    return conjuncts(predicate).every((each) => this.#conditions.has(expressionKey(each)));
  }

  /** What is in a column of an index: the column, or the expression that it holds. */
  #keyOf(columnId: number): string {
    const position = this.#table.columns.findIndex((column) => column.id === columnId);
    const column = this.#table.columns[position];
    const ref = this.#refs[position];
    if (column === undefined || ref === undefined) return "";
    const expression: Expression = column.hidden && column.generatedText !== null
      ? bindTableText(this.#binding, this.#table, column.generatedText, this.#refs, "index expressions")
      : { kind: "column", column: ref, type: column.type, nullable: !column.notNull };
    return expressionKey(expression);
  }

  #isOrderedBy(key: IndexKey, { type }: Expression): boolean {
    requireKnownClass(
      { errors: this.#binding, method: "btree", offset: key.position },
      key.operatorClass,
    );
    if (key.collation.length > 0) {
      requireCollation(this.#binding, { kind: "text" }, key.collation, key.position);
    }
    const isCollated = key.collation.length === 0 || isCollatable(type);
    return isCollated && isClassFor(type, key.operatorClass);
  }

  #conditionsOf(ast: Ast): string[] {
    return conjuncts(this.#bind(ast, "index predicates")).map(expressionKey);
  }

  #bind(ast: Ast, clause: Clause): Expression {
    const level: QueryLevel = tableLevel(tableEntry(this.#table, null, this.#refs, null), clause);
    const bound = settle(this.#binding, bindExpression(this.#binding, level, ast));
    if (!hasSubquery(bound)) return bound;
    const what = clause === "index predicates" ? "index predicate" : "index expression";
    throw this.#binding.error(SQLSTATE.featureNotSupported, `cannot use subquery in ${what}`, ast.position);
  }
}
