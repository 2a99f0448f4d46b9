/**
 * Binding of triggers: the condition of WHEN, the values of SET and the call of EXECUTE FUNCTION over the rows `new`
 * and `old`.
 *
 * Invariant: an expression refers to a row that each of the trigger's events has, and to no generated column of the new
 * row, which is computed after the triggers.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { DEFAULT_TEXT } from "../../catalog/triggers.ts";
import type {
  ColumnDefinition,
  TableDefinition,
  TriggerDefinition,
  TriggerEvent,
} from "../../catalog/definitions.ts";
import type { Expression as Ast } from "../parser/ast.ts";
import { hasSubquery } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { visitExpression } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { coerceAssignment, coerceCondition, settle } from "./coercion.ts";
import { bindExpression } from "./expression_binder.ts";
import { type Clause, QueryLevel } from "./scope.ts";
import { defaultValue, parsedText, tableEntry } from "./table_expressions.ts";

/** A trigger's expressions, bound. */
export interface BoundTrigger {
  readonly when: Expression | null;
  /** By table column position. */
  readonly set: readonly { readonly position: number; readonly expression: Expression }[];
  readonly call: Expression | null;
}

/** The columns of the rows `new` and `old`, by position. */
export interface TriggerRows {
  readonly newRow: readonly ColumnRef[];
  readonly oldRow: readonly ColumnRef[];
}

/** Fresh columns for the two rows. */
export function triggerRows(binding: Binding, table: TableDefinition): TriggerRows {
  const count = table.columns.length;
  return { newRow: binding.newColumns(count), oldRow: binding.newColumns(count) };
}

/** Binds the expressions of a trigger as they are written in a statement. */
export class TriggerBinder {
  readonly #binding: Binding;
  readonly #table: TableDefinition;
  readonly #rows: TriggerRows;
  readonly #events: readonly TriggerEvent[];

  constructor(
    binding: Binding,
    table: TableDefinition,
    rows: TriggerRows,
    events: readonly TriggerEvent[],
  ) {
    this.#binding = binding;
    this.#table = table;
    this.#rows = rows;
    this.#events = events;
  }

  /** The condition of WHEN. */
  condition(ast: Ast): Expression {
    const level = this.#level("trigger WHEN conditions");
    const bound = bindExpression(this.#binding, level, ast);
    return this.#checked(coerceCondition(this.#binding, bound, "WHEN", ast.position), ast, "WHEN condition");
  }

  /** The value that SET gives to a column. */
  value(column: ColumnDefinition, ast: Ast): Expression {
    if (ast.kind === "default") return defaultValue(this.#binding, this.#table, column);
    const bound = bindExpression(this.#binding, this.#level("trigger actions"), ast);
    const value = coerceAssignment(this.#binding, bound, column.type, column.name, ast.position);
    return this.#checked(value, ast, "SET");
  }

  /** The call of EXECUTE FUNCTION. */
  call(ast: Ast): Expression {
    const bound = bindExpression(this.#binding, this.#level("trigger actions"), ast);
    return this.#checked(settle(this.#binding, bound), ast, "EXECUTE FUNCTION");
  }

  /** Both rows are visible, under their names only. */
  #level(clause: Clause): QueryLevel {
    const level = new QueryLevel(null, null);
    const { newRow, oldRow } = this.#rows;
    level.from = {
      tables: [
        tableEntry(this.#table, "new", newRow, null, true),
        tableEntry(this.#table, "old", oldRow, null, true),
      ],
      columns: [],
    };
    level.clause = clause;
    return level;
  }

  #checked(expression: Expression, ast: Ast, what: string): Expression {
    const binding = this.#binding;
    const { columns } = this.#table;
    if (hasSubquery(expression)) {
      throw binding.error(
        SQLSTATE.featureNotSupported,
        `cannot use subquery in a trigger's ${what}`,
        ast.position,
        { hint: "A trigger sees the rows NEW and OLD only." },
      );
    }
    visitExpression(expression, (each) => {
      if (each.kind === "parameter") {
        throw binding.error(
          SQLSTATE.undefinedParameter,
          `there is no parameter $${each.index + 1}`,
          ast.position,
        );
      }
      if (each.kind !== "column") return;
      const offset = binding.positions.get(each) ?? ast.position;
      if (this.#events.includes("insert") && this.#rows.oldRow.includes(each.column)) {
        throw this.#missingRow("INSERT", "OLD", what, offset);
      }
      const position = this.#rows.newRow.indexOf(each.column);
      if (position < 0) return;
      if (this.#events.includes("delete")) throw this.#missingRow("DELETE", "NEW", what, offset);
      const column = columns[position];
      if (column?.generatedText === null || column === undefined) return;
      throw binding.error(
        SQLSTATE.invalidObjectDefinition,
        `BEFORE trigger's ${what} cannot reference NEW generated columns`,
        offset,
        { detail: `Column "${column.name}" is a generated column.` },
      );
    });
    return expression;
  }

  #missingRow(event: string, row: string, what: string, offset: number): Error {
    return this.#binding.error(
      SQLSTATE.invalidObjectDefinition,
      `${event} trigger's ${what} cannot reference ${row} values`,
      offset,
      this.#events.length === 1
        ? {}
        : { hint: `Create a trigger of its own for ${event}, which has no ${row} row.` },
    );
  }
}

/** Binds a trigger of the catalog; errors carry no position. */
export function bindStoredTrigger(
  binding: Binding,
  table: TableDefinition,
  trigger: TriggerDefinition,
  rows: TriggerRows,
): BoundTrigger {
  return binding.inOtherText(() => {
    const binder = new TriggerBinder(binding, table, rows, trigger.events);
    const parsed = (text: string): Ast => parsedText(trigger, text, binding.environment.pieces);
    const { whenText, action } = trigger;
    return {
      when: whenText === null ? null : binder.condition(parsed(whenText)),
      set: action.kind !== "set" ? [] : action.assignments.flatMap(({ columnId, text }) => {
        const position = table.columns.findIndex((column) => column.id === columnId);
        const column = table.columns[position];
        if (column === undefined) return [];
        const expression = text === DEFAULT_TEXT
          ? defaultValue(binding, table, column)
          : binder.value(column, parsed(text));
        return [{ position, expression }];
      }),
      call: action.kind === "execute" ? binder.call(parsed(action.text)) : null,
    };
  });
}
