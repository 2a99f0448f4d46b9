/**
 * What calls a user-defined function: views, defaults, generated columns, checks, indexes and triggers. Each keeps its
 * expression as text; binding the text says which functions it calls.
 */
import { DatabaseError } from "../../base/errors.ts";
import type { TableDefinition, UserFunctionDefinition, ViewDefinition } from "../../catalog/definitions.ts";
import { triggerTexts } from "../../catalog/triggers.ts";
import { Binding } from "../binder/binding.ts";
import type { Clause } from "../binder/scope.ts";
import { bindStoredTrigger, triggerRows } from "../binder/trigger_binder.ts";
import { parseStatement } from "../parser/statements.ts";
import { planStatement } from "../planner/plan_statement.ts";
import { DefinitionBinder } from "./definition_binder.ts";
import { withoutIndexes } from "./indexes.ts";

/** Something that calls a function. */
export type FunctionUser =
  | { readonly kind: "view"; readonly name: string; readonly view: ViewDefinition }
  | {
    readonly kind: "default" | "generated" | "check" | "index" | "trigger";
    /** As error messages name it. */
    readonly name: string;
    readonly tableId: number;
    /** The number of the column, constraint, index or trigger. */
    readonly id: number;
  };

/** All that call a function. */
export function usersOf(binder: DefinitionBinder, target: UserFunctionDefinition): FunctionUser[] {
  const { catalog } = binder;
  const users = catalog.tables.flatMap((table) => usersInTable(binder, table, target));
  for (const view of catalog.views) {
    if (viewCalls(binder, view, target.id)) users.push({ kind: "view", name: `view ${view.name}`, view });
  }
  return users;
}

function usersInTable(
  binder: DefinitionBinder,
  table: TableDefinition,
  target: UserFunctionDefinition,
): FunctionUser[] {
  const users: FunctionUser[] = [];
  const calls = (text: string | null, clause: Clause): boolean =>
    text !== null && mayCall(text, target) && textCalls(binder, { text, table, clause, id: target.id });
  const { id: tableId } = table;
  for (const column of table.columns) {
    if (calls(column.defaultText, "DEFAULT expressions")) {
      const name = `default value for column ${column.name} of table ${table.name}`;
      users.push({ kind: "default", name, tableId, id: column.id });
    }
    if (!calls(column.generatedText, "column generation expressions")) continue;
    if (!column.hidden) {
      const name = `column ${column.name} of table ${table.name}`;
      users.push({ kind: "generated", name, tableId, id: column.id });
      continue;
    }
    for (const index of table.indexes) {
      if (!index.columns.some(({ columnId }) => columnId === column.id)) continue;
      if (users.some((each) => each.kind === "index" && each.id === index.id)) continue;
      users.push({ kind: "index", name: `index ${index.name}`, tableId, id: index.id });
    }
  }
  for (const index of table.indexes) {
    if (users.some((each) => each.kind === "index" && each.id === index.id)) continue;
    if (!calls(index.predicateText, "index predicates")) continue;
    users.push({ kind: "index", name: `index ${index.name}`, tableId, id: index.id });
  }
  for (const constraint of table.constraints) {
    if (constraint.kind !== "check" || !calls(constraint.text, "check constraints")) continue;
    const name = `constraint ${constraint.name} on table ${table.name}`;
    users.push({ kind: "check", name, tableId, id: constraint.id });
  }
  for (const trigger of table.triggers) {
    if (!triggerTexts(trigger).some((text) => mayCall(text, target))) continue;
    const isCalled = notes(binder, target.id, ({ environment }) => {
      const binding = new Binding(environment);
      bindStoredTrigger(binding, table, trigger, triggerRows(binding, table));
    });
    const name = `trigger ${trigger.name} on table ${table.name}`;
    if (isCalled) users.push({ kind: "trigger", name, tableId, id: trigger.id });
  }
  return users;
}

/** Whether a text can hold a call of the function at all. */
function mayCall(text: string, { name }: UserFunctionDefinition): boolean {
  return text.includes(name.replaceAll('"', '""')) || text.toLowerCase().includes(name);
}

interface TableText {
  readonly text: string;
  readonly table: TableDefinition;
  readonly clause: Clause;
  readonly id: number;
}

function textCalls(binder: DefinitionBinder, { text, table, clause, id }: TableText): boolean {
  return notes(binder, id, (inner) => inner.bindText(text, table, clause, null));
}

function viewCalls(binder: DefinitionBinder, view: ViewDefinition, id: number): boolean {
  return notes(binder, id, ({ environment }) => {
    const { statement } = parseStatement(view.text);
    if (statement.kind !== "query") return;
    const reads = view.reads === undefined ? {} : { reads: view.reads };
    planStatement(statement, { ...environment, text: view.text, ...reads });
  });
}

/** Whether binding something calls the function. */
function notes(binder: DefinitionBinder, id: number, bind: (inner: DefinitionBinder) => void): boolean {
  let isCalled = false;
  // In pieces, what was bound in one before would not be noted again.
  const { evaluation: _evaluation, parameterTypes: _types, pieces: _pieces, ...environment } =
    binder.environment;
  const inner = new DefinitionBinder({
    ...environment,
    catalog: binder.catalog,
    noteUserFunction: (called) => {
      isCalled ||= called === id;
    },
  });
  try {
    bind(inner);
  } catch (error) {
    // A text that cannot be bound calls what it had called until there.
    if (!(error instanceof DatabaseError)) throw error;
  }
  return isCalled;
}

/** Takes a default, check, index or trigger away; columns and views are others' work. */
export function removeUser(binder: DefinitionBinder, user: FunctionUser): void {
  if (user.kind === "view" || user.kind === "generated") return;
  const table = binder.catalog.table(user.tableId);
  if (table === undefined) return;
  switch (user.kind) {
    case "default":
      binder.putTable({
        ...table,
        columns: table.columns.map((each) => each.id === user.id ? { ...each, defaultText: null } : each),
      });
      return;
    case "check":
      binder.putTable({ ...table, constraints: table.constraints.filter((each) => each.id !== user.id) });
      return;
    case "trigger":
      binder.putTable({ ...table, triggers: table.triggers.filter((each) => each.id !== user.id) });
      return;
    case "index":
      binder.putTable(withoutIndexes(table, [user.id]));
  }
}
