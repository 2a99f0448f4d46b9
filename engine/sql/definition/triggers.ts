/** CREATE, ALTER and DROP TRIGGER. A trigger is a part of its table's definition, as a constraint is. */
import { type DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import { DEFAULT_TEXT, mapTriggerTexts } from "../../catalog/triggers.ts";
import type {
  ColumnDefinition,
  TableDefinition,
  TriggerActionDefinition,
  TriggerDefinition,
  TriggerEvent,
} from "../../catalog/definitions.ts";
import { Binding } from "../binder/binding.ts";
import { bindStoredTrigger, TriggerBinder, triggerRows } from "../binder/trigger_binder.ts";
import type {
  AlterTableAction,
  Assignment,
  CreateTrigger,
  DropObject,
  Expression as Ast,
  ObjectName,
  RenameObject,
} from "../parser/ast.ts";
import { formatExpression } from "../parser/format_expression.ts";
import { visitExpression } from "../plan/traverse.ts";
import { type DefinitionBinder, requireNotVolatile } from "./definition_binder.ts";
import { refuseExternal } from "./refuse_external.ts";
import { renameColumnInText } from "./dependencies.ts";

/** PostgreSQL's order of events where a trigger is printed. */
const EVENT_ORDER: readonly TriggerEvent[] = ["insert", "delete", "update"];

/** CREATE [OR REPLACE] TRIGGER. */
export function createTrigger(binder: DefinitionBinder, ast: CreateTrigger): string {
  refuseOtherKinds(binder, ast);
  const table = triggerTable(binder, ast.table);
  const existing = table.triggers.find((each) => each.name === ast.name);
  if (existing !== undefined && !ast.orReplace) throw nameTaken(binder, table, ast.name, ast.position);
  const { events, updateColumns } = boundEvents(binder, table, ast);
  const binding = new Binding(binder.environment);
  const triggers = new TriggerBinder(binding, table, triggerRows(binding, table), events);
  if (ast.when !== null) {
    requireNotVolatile(binder, triggers.condition(ast.when), ast.when, "a trigger's WHEN");
  }
  const action = boundAction(binder, table, triggers, ast, events);
  const trigger: TriggerDefinition = {
    id: existing?.id ?? binder.newId(),
    name: ast.name,
    events,
    updateColumns,
    whenText: ast.when === null ? null : formatExpression(ast.when),
    action,
    enabled: true,
    ...(existing?.comment === undefined ? {} : { comment: existing.comment }),
  };
  binder.putTable({
    ...table,
    triggers: existing === undefined
      ? [...table.triggers, trigger]
      : table.triggers.map((each) => each === existing ? trigger : each),
  });
  return "CREATE TRIGGER";
}

/** Names what PostgreSQL has and is not served. */
function refuseOtherKinds(binder: DefinitionBinder, ast: CreateTrigger): void {
  const refuse = (what: string): never => {
    throw binder.error(SQLSTATE.featureNotSupported, `${what} are not supported`, ast.position, {
      hint: "Triggers are BEFORE INSERT, UPDATE or DELETE … FOR EACH ROW.",
    });
  };
  if (ast.timing !== "before") refuse(`${ast.timing.replace("_", " ").toUpperCase()} triggers`);
  if (ast.events.some(({ event }) => event === "truncate")) refuse("TRUNCATE triggers");
  if (!ast.forEachRow) refuse("FOR EACH STATEMENT triggers");
}

function triggerTable(binder: DefinitionBinder, name: ObjectName): TableDefinition {
  const found = binder.find(name);
  if (found?.kind === "view") {
    throw binder.error(SQLSTATE.wrongObjectType, `"${name.name}" is a view`, name.position, {
      detail: "Views cannot have row-level BEFORE or AFTER triggers.",
    });
  }
  const table = binder.table(name);
  refuseExternal(binder, table, "create a trigger on", name.position);
  return table;
}

function boundEvents(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: CreateTrigger,
): Pick<TriggerDefinition, "events" | "updateColumns"> {
  const updateColumns: number[] = [];
  const events = new Set<TriggerEvent>();
  for (const { event, columns } of ast.events) {
    if (event === "truncate") continue;
    if (events.has(event)) {
      throw binder.error(SQLSTATE.syntaxError, "duplicate trigger events specified", ast.position);
    }
    events.add(event);
    for (const { name, position } of columns) {
      const column = binder.column(table, name, position);
      if (updateColumns.includes(column.id)) {
        throw binder.error(
          SQLSTATE.duplicateColumn,
          `column "${name}" specified more than once`,
          position,
        );
      }
      updateColumns.push(column.id);
    }
  }
  return { events: EVENT_ORDER.filter((event) => events.has(event)), updateColumns };
}

function boundAction(
  binder: DefinitionBinder,
  table: TableDefinition,
  triggers: TriggerBinder,
  ast: CreateTrigger,
  events: readonly TriggerEvent[],
): TriggerActionDefinition {
  const { action } = ast;
  switch (action.kind) {
    case "reject":
      return { kind: "reject", message: action.message };
    case "execute":
      requireNotVolatile(binder, triggers.call(action.call), action.call, "a trigger's EXECUTE FUNCTION");
      return { kind: "execute", text: formatExpression(action.call) };
    case "set": {
      if (events.includes("delete")) {
        throw binder.error(
          SQLSTATE.invalidObjectDefinition,
          "DELETE trigger cannot SET columns",
          action.assignments[0]?.position ?? ast.position,
          { hint: "A row that is deleted has no new values; use REJECT or EXECUTE FUNCTION." },
        );
      }
      const assignments: { readonly columnId: number; readonly text: string }[] = [];
      for (const { column, value } of action.assignments.flatMap((each) => parts(binder, table, each))) {
        if (assignments.some((each) => each.columnId === column.id)) {
          throw binder.error(
            SQLSTATE.syntaxError,
            `multiple assignments to same column "${column.name}"`,
            value.position,
          );
        }
        requireNotVolatile(binder, triggers.value(column, value), value, "a trigger's SET");
        const text = value.kind === "default" ? DEFAULT_TEXT : formatExpression(value);
        assignments.push({ columnId: column.id, text });
      }
      return { kind: "set", assignments };
    }
  }
}

interface AssignmentPart {
  readonly column: ColumnDefinition;
  readonly value: Ast;
}

/** One assignment as assignments to single columns. */
function parts(binder: DefinitionBinder, table: TableDefinition, ast: Assignment): AssignmentPart[] {
  const columns = ast.columns.map((target) => {
    if (target.subscripts.length > 0) {
      throw binder.unsupported("assignment to an array element in a trigger", target.position);
    }
    const column = binder.column(table, target.name, target.position);
    if (column.generatedText === null) return column;
    throw binder.error(
      SQLSTATE.generatedAlways,
      `column "${column.name}" cannot be set by a trigger`,
      target.position,
      { detail: `Column "${column.name}" is a generated column.` },
    );
  });
  const [only] = columns;
  if (!ast.multiple && only !== undefined) return [{ column: only, value: ast.value }];
  const { value } = ast;
  if (value.kind !== "row") {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "cannot use subquery in a trigger's SET",
      value.position,
      { hint: "A trigger sees the rows NEW and OLD only." },
    );
  }
  if (value.items.length !== columns.length) {
    throw binder.error(
      SQLSTATE.syntaxError,
      "number of columns does not match number of values",
      value.position,
    );
  }
  return columns.map((column, index) => ({ column, value: value.items[index] ?? value }));
}

function nameTaken(
  binder: DefinitionBinder,
  table: TableDefinition,
  name: string,
  offset: number,
): DatabaseError {
  return binder.error(
    SQLSTATE.duplicateObject,
    `trigger "${name}" for relation "${table.name}" already exists`,
    offset,
  );
}

/** The trigger of a name; 42704 when there is none. */
export function requireTrigger(
  binder: DefinitionBinder,
  table: TableDefinition,
  name: string,
  offset: number,
): TriggerDefinition {
  const found = table.triggers.find((each) => each.name === name);
  if (found !== undefined) return found;
  const near = closest(name, table.triggers.map((each) => each.name));
  throw binder.error(
    SQLSTATE.undefinedObject,
    `trigger "${name}" for table "${table.name}" does not exist`,
    offset,
    near === undefined ? {} : { hint: `Did you mean "${near}"?` },
  );
}

/** DROP TRIGGER … ON table. */
export function dropTrigger(binder: DefinitionBinder, ast: DropObject): string {
  const tag = "DROP TRIGGER";
  const target = ast.table;
  if (target === null) throw binder.unsupported("DROP TRIGGER without a table", ast.position);
  if (ast.ifExists && binder.find(target) === undefined) {
    binder.notice(SQLSTATE.successfulCompletion, `relation "${target.name}" does not exist, skipping`);
    return tag;
  }
  const table = triggerTable(binder, target);
  const dropped = new Set<TriggerDefinition>();
  for (const { name, position } of ast.names) {
    if (ast.ifExists && !table.triggers.some((each) => each.name === name)) {
      binder.notice(
        SQLSTATE.successfulCompletion,
        `trigger "${name}" for relation "${table.name}" does not exist, skipping`,
      );
    } else dropped.add(requireTrigger(binder, table, name, position));
  }
  if (dropped.size > 0) {
    binder.putTable({ ...table, triggers: table.triggers.filter((each) => !dropped.has(each)) });
  }
  return tag;
}

/** ALTER TRIGGER … ON table RENAME TO. */
export function renameTrigger(binder: DefinitionBinder, ast: RenameObject): string {
  if (ast.table === null) throw binder.unsupported("ALTER TRIGGER without a table", ast.position);
  const table = triggerTable(binder, ast.table);
  const trigger = requireTrigger(binder, table, ast.name.name, ast.name.position);
  if (table.triggers.some((each) => each !== trigger && each.name === ast.newName)) {
    throw nameTaken(binder, table, ast.newName, ast.position);
  }
  putTrigger(binder, table, trigger, { ...trigger, name: ast.newName });
  return "ALTER TRIGGER";
}

/** ALTER TABLE … ENABLE or DISABLE TRIGGER. */
export function setTriggerState(
  binder: DefinitionBinder,
  table: TableDefinition,
  action: Extract<AlterTableAction, { kind: "alter_trigger_state" }>,
): TableDefinition {
  const { enabled } = action;
  const all = action.trigger === "all" || action.trigger === "user";
  const only = all ? null : requireTrigger(binder, table, action.trigger, action.position);
  return binder.putTable({
    ...table,
    triggers: table.triggers.map((each) => only === null || each === only ? { ...each, enabled } : each),
  });
}

/** Puts a trigger in the place of its former definition. */
export function putTrigger(
  binder: DefinitionBinder,
  table: TableDefinition,
  former: TriggerDefinition,
  next: TriggerDefinition,
): void {
  binder.putTable({ ...table, triggers: table.triggers.map((each) => each === former ? next : each) });
}

/** Triggers that fire on, set or read one of the columns. */
export function triggersUsing(
  binder: DefinitionBinder,
  table: TableDefinition,
  columnIds: readonly number[],
): readonly TriggerDefinition[] {
  return table.triggers.filter((trigger) => {
    if (trigger.updateColumns.some((id) => columnIds.includes(id))) return true;
    const { action } = trigger;
    if (action.kind === "set" && action.assignments.some((each) => columnIds.includes(each.columnId))) {
      return true;
    }
    const binding = new Binding(binder.environment);
    const rows = triggerRows(binding, table);
    const bound = bindStoredTrigger(binding, table, trigger, rows);
    const wanted = new Set(
      table.columns.flatMap((column, position) =>
        columnIds.includes(column.id) ? [rows.newRow[position], rows.oldRow[position]] : []
      ),
    );
    return [bound.when, bound.call, ...bound.set.map((each) => each.expression)].some((expression) => {
      let uses = false;
      if (expression !== null) {
        visitExpression(expression, (each) => {
          if (each.kind === "column" && wanted.has(each.column)) uses = true;
        });
      }
      return uses;
    });
  });
}

/** Triggers with a column renamed in their texts. */
export function triggersWithColumnRenamed(
  table: TableDefinition,
  oldName: string,
  newName: string,
): readonly TriggerDefinition[] {
  return table.triggers.map((trigger) =>
    mapTriggerTexts(trigger, (text) => renameColumnInText(text, oldName, newName))
  );
}
