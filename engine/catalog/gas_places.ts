/** How errors name the expressions of a table that have run out of steps (see `engine/base/gas.ts`). */
import { assertDefined } from "../base/assert.ts";
import type { GasPlace } from "../base/gas.ts";
import type { TableDefinition } from "./definitions.ts";

/** A CHECK constraint. */
export function checkPlace(table: TableDefinition, constraint: string): GasPlace {
  return {
    what: `check constraint "${constraint}" of relation "${table.name}"`,
    schema: table.schema,
    table: table.name,
    constraint,
  };
}

/** A generated column, or an expression of an index, which is a hidden one. */
export function generatedPlace(table: TableDefinition, position: number): GasPlace {
  const column = assertDefined(table.columns[position], "a generated column");
  const { schema, name } = table;
  if (!column.hidden) {
    return {
      what: `generated column "${column.name}" of relation "${name}"`,
      schema,
      table: name,
      column: column.name,
    };
  }
  const index = table.indexes.find((each) => each.columns.some(({ columnId }) => columnId === column.id));
  const what = index === undefined
    ? `index expression of relation "${name}"`
    : `expression of index "${index.name}"`;
  return { what, schema, table: name };
}

/** The default of a column. */
export function defaultPlace(table: TableDefinition, column: string): GasPlace {
  return {
    what: `default of column "${column}" of relation "${table.name}"`,
    schema: table.schema,
    table: table.name,
    column,
  };
}

/** A trigger. */
export function triggerPlace(table: TableDefinition, trigger: string): GasPlace {
  return {
    what: `trigger "${trigger}" of relation "${table.name}"`,
    schema: table.schema,
    table: table.name,
  };
}
