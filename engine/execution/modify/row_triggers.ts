/**
 * BEFORE … FOR EACH ROW triggers of a table as one compiled function for each event: it evaluates them in the order of
 * their names over stored rows, each one seeing what those before it have set.
 *
 * Every way into a table runs these functions: generated code of INSERT, UPDATE, DELETE and MERGE, referential actions,
 * and COPY.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { triggerPlace } from "../../catalog/gas_places.ts";
import { columnsSetBy, triggersFor } from "../../catalog/triggers.ts";
import type { TableDefinition, TriggerDefinition, TriggerEvent } from "../../catalog/definitions.ts";
import type { StoredRow, StoredValue } from "../../operations/effect.ts";
import { Binding } from "../../sql/binder/binding.ts";
import { bindStoredTrigger, type BoundTrigger, triggerRows } from "../../sql/binder/trigger_binder.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { columnsOf } from "../../sql/plan/traverse.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { emitMeteredTruth, emitMeteredValue } from "../codegen/gas_code.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { newEmitter, storedColumn, toStoredCode } from "./row_code.ts";
import { bindTableExpressions } from "./table_expressions.ts";

/** Runs the triggers of an event: changes `row`, the new row, in place. A deleted row has no new one. */
export type FireFunction = (state: ExecutionState, row: StoredValue[], old: StoredRow) => void;

/** What there is in the place of a row that the event does not have. */
export const NO_STORED_ROW: StoredValue[] = [];

/** The functions of an event, and what they read and change. */
export interface CompiledTriggers {
  readonly fire: FireFunction;
  /** Positions of the new row that are read or set. */
  readonly uses: ReadonlySet<number>;
  readonly sets: ReadonlySet<number>;
}

/** The triggers of a table, compiled on first use. */
export class RowTriggers {
  readonly #catalog: Catalog;
  readonly #table: TableDefinition;
  readonly #compiled = new Map<string, CompiledTriggers>();

  constructor(catalog: Catalog, table: TableDefinition) {
    this.#catalog = catalog;
    this.#table = table;
  }

  /** The triggers that fire; null: none. `updated`: ids of the columns that an UPDATE names in its SET. */
  of(event: TriggerEvent, updated: readonly number[] = []): CompiledTriggers | null {
    const triggers = triggersFor(this.#table, event).filter((trigger) =>
      event !== "update" || trigger.updateColumns.length === 0 ||
      this.#withBases(trigger.updateColumns).some((id) => updated.includes(id))
    );
    if (triggers.length === 0) return null;
    const key = `${event} ${triggers.map((each) => each.id).join()}`;
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      this.#compiled.set(key, compiled = compile(this.#catalog, this.#table, triggers));
    }
    return compiled;
  }

  /** Columns with those that generated ones among them are computed from. */
  #withBases(columnIds: readonly number[]): readonly number[] {
    const { columns } = this.#table;
    if (!columns.some((column) => column.generatedText !== null && columnIds.includes(column.id))) {
      return columnIds;
    }
    const rules = bindTableExpressions(this.#catalog, this.#table);
    return columnIds.concat(rules.generated.flatMap(({ position, expression }) => {
      if (!columnIds.includes(columns[position]?.id ?? 0)) return [];
      return [...columnsOf(expression)].map((column) => columns[rules.newRow.indexOf(column)]?.id ?? 0);
    }));
  }
}

function compile(
  catalog: Catalog,
  table: TableDefinition,
  triggers: readonly TriggerDefinition[],
): CompiledTriggers {
  const uses = new Set<number>(), sets = new Set<number>();
  const code = newEmitter();
  const binding = new Binding({ catalog, searchPath: ["pg_catalog", "public"] });
  for (const trigger of triggers) {
    const rows = triggerRows(binding, table);
    const bound = bindStoredTrigger(binding, table, trigger, rows);
    for (const { position } of bound.set) sets.add(position);
    for (const expression of expressionsOf(bound)) {
      for (const column of columnsOf(expression)) {
        const position = rows.newRow.indexOf(column);
        if (position >= 0) uses.add(position);
      }
    }
    code.rebindingBlock(() => {
      bindRow(code, table, rows.newRow, "row");
      bindRow(code, table, rows.oldRow, "old");
      if (bound.when === null) emitAction(code, table, trigger, bound);
      else {
        code.block(
          `if (${emitMeteredTruth(code, bound.when, triggerPlace(table, trigger.name))}) `,
          "conditional",
          () => emitAction(code, table, trigger, bound),
        );
      }
    });
  }
  for (const position of sets) uses.add(position);
  return { fire: code.compile<FireFunction>(code.source("fire", "S, row, old")), uses, sets };
}

function expressionsOf({ when, set, call }: BoundTrigger): Expression[] {
  return [
    ...(when === null ? [] : [when]),
    ...set.map((each) => each.expression),
    ...(call === null ? [] : [call]),
  ];
}

function bindRow(code: Emitter, table: TableDefinition, columns: readonly ColumnRef[], row: string): void {
  table.columns.forEach((column, position) => {
    const reference = columns[position];
    if (reference === undefined) return;
    code.bind(reference, {
      type: column.type,
      cheap: true,
      load: (inner) => storedColumn(inner, column, position, row),
    });
  });
}

function emitAction(
  code: Emitter,
  table: TableDefinition,
  trigger: TriggerDefinition,
  bound: BoundTrigger,
): void {
  const { action } = trigger;
  if (action.kind === "reject") {
    const reject = code.use("reject", rejectRow);
    code.emit(`${reject}(${code.constant("table", table)}, ${JSON.stringify(action.message)});`);
    return;
  }
  const place = triggerPlace(table, trigger.name);
  if (bound.call !== null) code.define("ignored", emitMeteredValue(code, bound.call, place).code);
  // All values are computed before the first is set: `SET a = NEW.b, b = NEW.a` exchanges them.
  const values = bound.set.map(({ position, expression }) => {
    const { type } = table.columns[position] ?? expression;
    const value = emitMeteredValue(code, expression, place);
    return { position, name: code.define("set", toStoredCode(code, type, value)) };
  });
  for (const { position, name } of values) code.emit(`row[${position}] = ${name};`);
}

function rejectRow(table: TableDefinition, message: string): never {
  throw new DatabaseError(SQLSTATE.raiseException, message, { schema: table.schema, table: table.name });
}

/** Whether triggers of an event may give a row another id. */
export function setsRowId(table: TableDefinition, event: TriggerEvent): boolean {
  return table.rowIdColumn !== null && columnsSetBy(table, event).includes(table.rowIdColumn);
}
