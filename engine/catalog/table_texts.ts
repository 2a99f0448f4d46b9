/** The expressions that a table keeps as text: defaults, generated columns, checks, predicates, triggers. */
import type { TableDefinition } from "./definitions.ts";
import { mapTriggerTexts } from "./triggers.ts";

/** The definition with each of its texts replaced; the same one when nothing changes. */
export function mapTableTexts(table: TableDefinition, map: (text: string) => string): TableDefinition {
  let changes = false;
  const mapped = (text: string): string => {
    const next = map(text);
    changes ||= next !== text;
    return next;
  };
  const mappedOrNull = (text: string | null): string | null => text === null ? null : mapped(text);
  const next: TableDefinition = {
    ...table,
    columns: table.columns.map((column) => ({
      ...column,
      defaultText: mappedOrNull(column.defaultText),
      generatedText: mappedOrNull(column.generatedText),
    })),
    constraints: table.constraints.map((constraint) =>
      constraint.kind === "check" ? { ...constraint, text: mapped(constraint.text) } : constraint
    ),
    indexes: table.indexes.map((index) => ({ ...index, predicateText: mappedOrNull(index.predicateText) })),
    triggers: table.triggers.map((trigger) => mapTriggerTexts(trigger, mapped)),
  };
  return changes ? next : table;
}

/** All texts of a definition. */
export function tableTexts(table: TableDefinition): readonly string[] {
  const texts: string[] = [];
  mapTableTexts(table, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}
