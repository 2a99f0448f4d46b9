/**
 * What depends on what: foreign keys on tables, views on anything they name, sequences on their owners.
 *
 * Views keep their text; whether one depends on an object is found out by planning it without that object.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type {
  ConstraintDefinition,
  RelationShape,
  TableDefinition,
  ViewDefinition,
} from "../../catalog/definitions.ts";
import type { Expression } from "../parser/ast.ts";
import { formatExpression } from "../parser/format_expression.ts";
import { parseExpression, parseStatement } from "../parser/statements.ts";
import { planStatement } from "../planner/plan_statement.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { type RelationName, relationsIn, withColumnsNamed, withRelationRenamed } from "./stored_names.ts";

/** Foreign keys of other tables that reference the table, and with `columns` at least one of those. */
export function referencingKeys(
  catalog: Catalog,
  table: TableDefinition,
  columns: readonly number[] | null = null,
): {
  readonly table: TableDefinition;
  readonly constraint: ConstraintDefinition & { kind: "foreign_key" };
}[] {
  return catalog.referencing(table.id).flatMap((child) =>
    child.constraints.flatMap((constraint) =>
      constraint.kind === "foreign_key" && constraint.referencedTableId === table.id &&
        (columns === null
          ? child.id !== table.id
          : constraint.referencedColumns.some((id) => columns.includes(id)))
        ? [{ table: child, constraint }]
        : []
    )
  );
}

/** Views that cannot be planned any more in the catalog `after`, but could in `before`. */
export function brokenViews(binder: DefinitionBinder, before: Catalog, after: Catalog): ViewDefinition[] {
  return after.views.filter((view) => plans(binder, before, view) && !plans(binder, after, view));
}

/** Writes the new name of a relation into the views that name it; answers one that would not be understood then. */
export function renameInViews(
  binder: DefinitionBinder,
  former: RelationName,
  next: RelationName,
): ViewDefinition | undefined {
  const changed: ViewDefinition[] = [];
  for (const view of binder.catalog.views) {
    const text = withRelationRenamed(view.text, "query", former, next);
    if (text === view.text) continue;
    changed.push({ ...view, text });
    binder.change({ kind: "put_view", view: { ...view, text } });
  }
  return changed.find((view) => !plans(binder, binder.catalog, view));
}

/** What a query can see of the relations that it reads: all that they have now. */
export function shapesOf(binder: DefinitionBinder, text: string): RelationShape[] {
  const shapes = new Map<number, RelationShape>();
  for (const name of binder.once(() => relationsIn(text, binder.parseOptions))) {
    const found = binder.find(name);
    if (found?.kind === "table") {
      const columns = found.table.columns.filter((column) => !column.hidden)
        .map((column) => ({ id: column.id, name: column.name }));
      shapes.set(found.table.id, { relationId: found.table.id, columns });
    } else if (found?.kind === "view") {
      const columns = found.view.columns.map(({ name }, index) => ({ id: index + 1, name }));
      shapes.set(found.view.id, { relationId: found.view.id, columns });
    }
  }
  return [...shapes.values()];
}

/**
 * A column of a relation has another name: views that may name it get a list of the names that they know behind the
 * relation's alias. Answers a view that would not be understood then.
 */
export function renameColumnInViews(
  binder: DefinitionBinder,
  relation: RelationName & { readonly id: number },
  column: { readonly id: number; readonly name: string },
  newName: string,
): ViewDefinition | undefined {
  for (const view of binder.catalog.views) {
    const shape = view.reads?.find((each) => each.relationId === relation.id);
    if (view.reads === undefined || shape === undefined) continue;
    const isNamed = [column.name, newName, "*"].some((each) =>
      view.text.toLowerCase().includes(each.toLowerCase())
    );
    const former = shape.columns.map(({ name }) => name);
    const text = isNamed ? withColumnsNamed(view.text, relation, former) : view.text;
    const columns = shape.columns.map((each) => each.id === column.id ? { ...each, name: newName } : each);
    const reads = view.reads.map((each) => each === shape ? { ...shape, columns } : each);
    const next = { ...view, text, reads };
    binder.change({ kind: "put_view", view: next });
    if (!plans(binder, binder.catalog, next)) return view;
  }
  return undefined;
}

function plans(binder: DefinitionBinder, catalog: Catalog, view: ViewDefinition): boolean {
  try {
    const { statement } = parseStatement(view.text);
    if (statement.kind !== "query") return false;
    const reads = view.reads === undefined ? {} : { reads: view.reads };
    const { pieces: _pieces, ...environment } = binder.environment;
    const planned = planStatement(statement, { ...environment, catalog, text: view.text, ...reads });
    // A star stands for fewer columns when one is gone.
    return planned.columns.length >= view.columns.length;
  } catch (error) {
    if (error instanceof DatabaseError) return false;
    throw error;
  }
}

/** Handles dependent objects: with CASCADE a notice each, else 2BP01 naming them. */
export function requireCascade(
  binder: DefinitionBinder,
  what: string,
  dependents: readonly string[],
  cascade: boolean,
  offset: number,
  isOneOfMany = false,
): void {
  if (dependents.length === 0) return;
  if (!cascade) {
    throw binder.error(
      SQLSTATE.dependentObjectsStillExist,
      isOneOfMany
        ? "cannot drop desired object(s) because other objects depend on them"
        : `cannot drop ${what} because other objects depend on it`,
      offset,
      {
        detail: dependents.map((each) => `${each} depends on ${what}`).join("\n"),
        hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      },
    );
  }
  if (dependents.length === 1) {
    binder.notice(SQLSTATE.successfulCompletion, `drop cascades to ${dependents[0]}`);
  } else binder.notice(SQLSTATE.successfulCompletion, `drop cascades to ${dependents.length} other objects`);
}

/** Stored text with a column renamed in it. */
export function renameColumnInText(text: string, oldName: string, newName: string): string {
  const renamed = rename(parseExpression(text), oldName, newName) as Expression;
  return formatExpression(renamed);
}

function rename(node: unknown, oldName: string, newName: string): unknown {
  if (Array.isArray(node)) return node.map((each) => rename(each, oldName, newName));
  if (typeof node !== "object" || node === null) return node;
  if ("kind" in node && node.kind === "column" && "parts" in node && Array.isArray(node.parts)) {
    const parts = node.parts.map((part, index, all) =>
      index === all.length - 1 && part === oldName ? newName : part
    );
    return { ...node, parts };
  }
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, rename(value, oldName, newName)]),
  );
}
