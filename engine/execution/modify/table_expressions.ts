/**
 * Binds the expressions that the catalog keeps as text: CHECK, GENERATED and DEFAULT, over the columns of one table.
 *
 * The columns get numbers 1, 2, … in the order of the table, so that the result stands by itself.
 */
import type { Catalog } from "../../catalog/catalog.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { Binding } from "../../sql/binder/binding.ts";
import { coerceAssignment } from "../../sql/binder/coercion.ts";
import { bindCondition, bindExpression } from "../../sql/binder/expression_binder.ts";
import { type Clause, QueryLevel, type ScopeColumn } from "../../sql/binder/scope.ts";
import type { Expression as Ast } from "../../sql/parser/ast.ts";
import { parseExpression } from "../../sql/parser/statements.ts";
import { columnReference } from "../../sql/plan/build.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { BoundCheck } from "../../sql/plan/plan.ts";

/** The rules that rows of a table must pass, over `newRow`. */
export interface TableExpressions {
  readonly newRow: readonly ColumnRef[];
  readonly generated: readonly { readonly position: number; readonly expression: Expression }[];
  readonly checks: readonly BoundCheck[];
}

/** A binder for texts over one table. */
export class TableExpressionBinder {
  /** Numbers of the columns, by position. */
  readonly columns: readonly ColumnRef[];
  readonly #binding: Binding;
  readonly #table: TableDefinition;

  constructor(catalog: Catalog, table: TableDefinition) {
    this.#table = table;
    this.#binding = new Binding({ catalog, searchPath: ["pg_catalog", "public"] });
    this.columns = this.#binding.newColumns(table.columns.length);
  }

  /** A condition such as that of a CHECK. */
  condition(text: string): Expression {
    return this.#binding.inOtherText(() =>
      bindCondition(this.#binding, this.#level("check constraints"), parseExpression(text), "CHECK")
    );
  }

  /** A condition that has been parsed already; `place` is how messages name it. */
  boundCondition(ast: Ast, place: string): Expression {
    return bindCondition(this.#binding, this.#level("WHERE"), ast, place);
  }

  /** A value for a column: its default, or what it is generated as. */
  value(
    column: ColumnDefinition,
    text: string,
    clause: "DEFAULT expressions" | "column generation expressions",
  ): Expression {
    return this.#binding.inOtherText(() => {
      const bound = bindExpression(this.#binding, this.#level(clause), parseExpression(text));
      return coerceAssignment(this.#binding, bound, column.type, column.name);
    });
  }

  #level(clause: Clause): QueryLevel {
    const level = new QueryLevel(null, null);
    level.clause = clause;
    const table = this.#table;
    const columns: ScopeColumn[] = table.columns.map((column, position) => ({
      name: column.name,
      expression: columnReference(this.columns[position] ?? 0, column.type, !column.notNull),
      tableId: table.id,
      columnId: column.id,
    }));
    level.from = {
      tables: [{
        name: table.name,
        schema: table.schema,
        relationName: table.name,
        columns,
        table,
        rowId: null,
        nullable: false,
      }],
      columns,
    };
    return level;
  }
}

/** All CHECK and GENERATED expressions of a table. */
export function bindTableExpressions(catalog: Catalog, table: TableDefinition): TableExpressions {
  const binder = new TableExpressionBinder(catalog, table);
  return {
    newRow: binder.columns,
    generated: table.columns.flatMap((column, position) =>
      column.generatedText === null ? [] : [{
        position,
        expression: binder.value(column, column.generatedText, "column generation expressions"),
      }]
    ),
    checks: table.constraints.flatMap((constraint) =>
      constraint.kind === "check"
        ? [{ name: constraint.name, condition: binder.condition(constraint.text) }]
        : []
    ),
  };
}
