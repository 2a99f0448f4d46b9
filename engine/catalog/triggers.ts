/** Triggers of a table: in which order they fire, and the texts that they keep. */
import type { TableDefinition, TriggerDefinition, TriggerEvent } from "./definitions.ts";

/** The text of `SET column = DEFAULT`, which is no expression. */
export const DEFAULT_TEXT = "DEFAULT";

/** The enabled triggers of an event in the order of their names. */
export function triggersFor(table: TableDefinition, event: TriggerEvent): readonly TriggerDefinition[] {
  if (table.triggers.length === 0) return table.triggers;
  return table.triggers.filter((trigger) => trigger.enabled && trigger.events.includes(event))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Ids of the columns that triggers of an event may set. */
export function columnsSetBy(table: TableDefinition, event: TriggerEvent): readonly number[] {
  return triggersFor(table, event).flatMap(({ action }) =>
    action.kind === "set" ? action.assignments.map((each) => each.columnId) : []
  );
}

/** The trigger with each of its expressions' texts replaced. */
export function mapTriggerTexts(
  trigger: TriggerDefinition,
  map: (text: string) => string,
): TriggerDefinition {
  const { whenText, action } = trigger;
  return {
    ...trigger,
    whenText: whenText === null ? null : map(whenText),
    action: action.kind === "set"
      ? {
        kind: "set",
        assignments: action.assignments.map(({ columnId, text }) => ({
          columnId,
          text: text === DEFAULT_TEXT ? text : map(text),
        })),
      }
      : action.kind === "execute"
      ? { kind: "execute", text: map(action.text) }
      : action,
  };
}

/** The texts of a trigger's expressions. */
export function triggerTexts(trigger: TriggerDefinition): readonly string[] {
  const texts: string[] = [];
  mapTriggerTexts(trigger, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}
