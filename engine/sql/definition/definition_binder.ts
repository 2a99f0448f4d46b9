/**
 * The state of binding one DDL statement: the catalog as it becomes step by step, names that are taken, ids that are
 * handed out, and errors in PostgreSQL's words.
 */
import { DatabaseError, type ErrorFields, SQLSTATE, type SqlState } from "../../base/errors.ts";
import { onceIn, type Pieces } from "../../base/pieces.ts";
import { closest } from "../../base/suggest.ts";
import type { Catalog, Relation } from "../../catalog/catalog.ts";
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { mapTableTexts, tableTexts } from "../../catalog/table_texts.ts";
import type { CatalogChange } from "../../catalog/catalog_change.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import { Binding } from "../binder/binding.ts";
import { coerceAssignment, coerceCondition, tryCoerce } from "../binder/coercion.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import { bindExpression } from "../binder/expression_binder.ts";
import { resolveType } from "../binder/names.ts";
import { type Clause, QueryLevel } from "../binder/scope.ts";
import type { Expression as ExpressionAst, ObjectName, Persistence, TypeName } from "../parser/ast.ts";
import { refusalHint } from "../parser/refusal_hints.ts";
import { errorPosition } from "../parser/source_text.ts";
import { parseExpression, type ParseOptions } from "../parser/statements.ts";
import { hasSubquery } from "../plan/build.ts";
import { withLongTableTerms } from "../planner/long_terms.ts";
import type { Expression } from "../plan/expression.ts";
import { type NameLookup, schemaOf, type StoredText, withSchemas } from "./stored_names.ts";
import type { DefinitionNotice, DefinitionPlan, DefinitionStep, TableExpression } from "./definition_plan.ts";

/** Longest identifier in bytes, as in PostgreSQL. */
const NAME_BYTES = 63;

/**
 * The state of binding one DDL statement: the catalog as it becomes step by step, names that are taken, ids that are
 * handed out, and errors in PostgreSQL's words.
 */
export class DefinitionBinder {
  readonly environment: PlanningEnvironment;
  readonly steps: DefinitionStep[] = [];
  readonly notices: DefinitionNotice[] = [];
  #catalog: Catalog;
  #nextId: number;

  constructor(environment: PlanningEnvironment) {
    this.environment = environment;
    this.#catalog = environment.catalog;
    this.#nextId = environment.catalog.nextObjectId;
  }

  /** The catalog with the steps so far. */
  get catalog(): Catalog {
    return this.#catalog;
  }

  /** A new object id. */
  newId(): number {
    const least = Math.max(this.#nextId, this.#catalog.nextObjectId);
    const id = this.environment.newObjectId?.(least) ?? least;
    this.#nextId = id + 1;
    return id;
  }

  /** Adds a catalog change. */
  change(change: CatalogChange): void {
    this.#catalog = this.#catalog.apply(change);
    this.steps.push({ kind: "change", change });
  }

  /** Adds the steps of a statement within this one, which was bound from this catalog. */
  adopt(inner: DefinitionBinder): void {
    this.#catalog = inner.catalog;
    this.steps.push(...inner.steps);
    this.notices.push(...inner.notices);
  }

  /** Puts a table's new definition and answers it. */
  putTable(written: TableDefinition): TableDefinition {
    const table = this.#withStoredNames(written);
    this.change({ kind: "put_table", table });
    return table;
  }

  /** A text that a definition keeps, with the schemas of what it names. */
  storedText(text: string, kind: StoredText): string {
    const path = this.environment.searchPath;
    const lookup: NameLookup = {
      typeSchema: (name) => this.#catalog.enumeration(name, path)?.schema,
      relationSchema: (name) => {
        const found = this.#catalog.findRelation(name, path);
        return found === undefined ? undefined : schemaOf(found);
      },
      functionSchema: (name) => this.#catalog.functionsNamed(name, path)[0]?.schema,
    };
    return this.once(() => withSchemas(text, kind, lookup, this.parseOptions));
  }

  /** What `make` makes and has no other effect: where the statement is bound in pieces, it is kept. */
  once<T>(make: () => T): T {
    return onceIn(this.environment.pieces, make);
  }

  /** How stored texts are parsed. */
  get parseOptions(): ParseOptions {
    const { pieces } = this.environment;
    return pieces === undefined ? {} : { pieces };
  }

  /** The definition with schemas in the texts that are new in it; older ones have theirs. */
  #withStoredNames(table: TableDefinition): TableDefinition {
    const former = this.#catalog.table(table.id);
    const known = new Set(former === undefined ? [] : tableTexts(former));
    return mapTableTexts(table, (text) => known.has(text) ? text : this.storedText(text, "expression"));
  }

  plan(tag: string): DefinitionPlan {
    const { pieces } = this.environment;
    const steps = pieces === undefined ? this.steps : this.steps.map((step) => inCalls(step, pieces));
    return { tag, steps, notices: this.notices };
  }

  notice(code: string, message: string): void {
    this.notices.push({ code, message });
  }

  warn(code: string, message: string): void {
    this.notices.push({ code, message, severity: "WARNING" });
  }

  error(code: SqlState, message: string, offset?: number, fields: ErrorFields = {}): DatabaseError {
    const { text } = this.environment;
    const position = offset === undefined || text === undefined ? undefined : errorPosition(text, offset);
    return new DatabaseError(code, message, position === undefined ? fields : { ...fields, position });
  }

  /** Raises 55006 when deferred checks of the table's rows still have to be made. */
  requireNoPendingChecks(table: TableDefinition, command: string): void {
    if (this.environment.hasPendingChecks?.(table.id) !== true) return;
    throw this.error(
      SQLSTATE.objectInUse,
      `cannot ${command} "${table.name}" because it has pending trigger events`,
    );
  }

  unsupported(feature: string, offset?: number): DatabaseError {
    const hint = refusalHint(feature);
    return this.error(
      SQLSTATE.featureNotSupported,
      `${feature} is not supported`,
      offset,
      hint === undefined ? {} : { hint },
    );
  }

  // ---------------------------------------------------------------- names

  /** The schema that a new object goes to. Raises 3F000 and refuses system schemas. */
  schemaFor(name: ObjectName, persistence: Persistence = "permanent"): string {
    const isOwn = name.schema === "pg_temp" || name.schema === this.environment.temporarySchema;
    if (persistence === "temporary" || isOwn) return this.#temporarySchema(name);
    const schema = name.schema ??
      this.environment.searchPath.find((each) => each !== "pg_catalog" && !isTemporarySchema(each));
    if (schema === undefined) {
      throw this.error(SQLSTATE.invalidSchemaName, "no schema has been selected to create in", name.position);
    }
    if (this.#catalog.schema(schema) === undefined) {
      throw this.error(SQLSTATE.invalidSchemaName, `schema "${schema}" does not exist`, name.position);
    }
    if (isTemporarySchema(schema)) {
      throw this.error(
        SQLSTATE.invalidTableDefinition,
        "cannot create relations in temporary schemas of other sessions",
        name.position,
      );
    }
    if (schema === "pg_catalog" || schema === "information_schema") {
      throw this.error(
        SQLSTATE.insufficientPrivilege,
        `permission denied to create "${schema}.${name.name}"`,
        name.position,
        { detail: "System catalog modifications are currently disallowed." },
      );
    }
    return schema;
  }

  /** The schema of temporary tables, which the first of them makes. */
  #temporarySchema(name: ObjectName): string {
    const { temporarySchema } = this.environment;
    if (temporarySchema === undefined) throw this.unsupported("a temporary table here", name.position);
    if (name.schema !== null && name.schema !== "pg_temp" && name.schema !== temporarySchema) {
      throw this.error(
        SQLSTATE.invalidTableDefinition,
        "cannot create temporary relation in non-temporary schema",
        name.position,
      );
    }
    if (this.#catalog.schema(temporarySchema) === undefined) {
      this.change({ kind: "put_schema", schema: { id: this.newId(), name: temporarySchema } });
    }
    return temporarySchema;
  }

  /** The relation of a name along the search path. */
  find(name: ObjectName): Relation | undefined {
    return name.schema === null
      ? this.#catalog.findRelation(name.name, this.environment.searchPath)
      : this.#catalog.relation(
        name.schema === "pg_temp" ? this.environment.temporarySchema ?? "" : name.schema,
        name.name,
      );
  }

  /** The 42P01 error for a relation that is not there. */
  missing(name: ObjectName, what = "relation"): DatabaseError {
    const shown = name.schema === null ? name.name : `${name.schema}.${name.name}`;
    const near = closest(name.name, this.#catalog.relationNames());
    return this.error(
      what === "index" || what === "type" ? SQLSTATE.undefinedObject : SQLSTATE.undefinedTable,
      `${what} "${shown}" does not exist`,
      name.position,
      near === undefined ? {} : { hint: `Did you mean "${near}"?` },
    );
  }

  /** The table of a name. Raises 42P01 or 42809. */
  table(name: ObjectName): TableDefinition {
    const found = this.find(name);
    if (found === undefined) throw this.missing(name);
    if (found.kind !== "table") {
      throw this.error(SQLSTATE.wrongObjectType, `"${name.name}" is not a table`, name.position);
    }
    return found.table;
  }

  /** Whether a relation of this name is in the schema. */
  isTaken(schema: string, name: string): boolean {
    return this.#catalog.relation(schema, name) !== undefined;
  }

  /** Whether a type of this name is in the schema; every table and view is one. */
  isTypeTaken(schema: string, name: string): boolean {
    const relation = this.#catalog.relation(schema, name);
    return relation?.kind === "table" || relation?.kind === "view" ||
      this.#catalog.enumeration(name, [schema]) !== undefined;
  }

  /** 42710 when a new table or view would have the name of a type. */
  requireNoType(schema: string, name: ObjectName): void {
    if (this.#catalog.enumeration(name.name, [schema]) === undefined) return;
    throw this.error(SQLSTATE.duplicateObject, `type "${name.name}" already exists`, name.position, {
      hint:
        "A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.",
    });
  }

  /** A free relation name like `table_column_suffix`, with a number where it is taken. */
  freeName(
    schema: string,
    parts: readonly string[],
    suffix: string,
    taken: (name: string) => boolean = () => false,
  ): string {
    for (let number = 0;; number++) {
      const ending = `_${suffix}${number === 0 ? "" : number}`;
      const name = cutName(parts.join("_"), NAME_BYTES - ending.length) + ending;
      if (!this.isTaken(schema, name) && !taken(name)) return name;
    }
  }

  /** A column by name. Raises 42703 with a hint. */
  column(table: TableDefinition, name: string, offset?: number): ColumnDefinition {
    const found = table.columns.find((column) => column.name === name && !column.hidden);
    if (found !== undefined) return found;
    const near = closest(name, table.columns.filter((column) => !column.hidden).map((column) => column.name));
    throw this.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" of relation "${table.name}" does not exist`,
      offset,
      near === undefined ? {} : { hint: `Did you mean "${near}"?` },
    );
  }

  // ---------------------------------------------------------------- types and expressions

  type(name: TypeName): SqlType {
    return resolveType(new Binding(this.environment), name);
  }

  /** Binds an expression over a table's columns; null: over none. */
  bind(
    ast: ExpressionAst,
    table: TableDefinition | null,
    clause: Clause,
    target: { readonly type: SqlType; readonly column: string } | "condition" | null,
  ): TableExpression {
    return this.once(() => this.#bind(new Binding(this.environment), ast, table, clause, target));
  }

  /** The same for stored text, whose errors carry no position. */
  bindText(
    text: string,
    table: TableDefinition | null,
    clause: Clause,
    target: { readonly type: SqlType; readonly column: string } | "condition" | null,
  ): TableExpression {
    return this.once(() => {
      const ast = this.once(() => parseExpression(text, this.parseOptions));
      const binding = new Binding(this.environment);
      return binding.inOtherText(() => this.#bind(binding, ast, table, clause, target));
    });
  }

  /** What `bind` makes; where that fails and a DEFAULT has a column, that is what is wrong. */
  #refused<T>(clause: Clause, ast: ExpressionAst, bind: () => T): T {
    try {
      return bind();
    } catch (error) {
      if (clause === "DEFAULT expressions" && error instanceof DatabaseError) refuseColumns(this, ast);
      throw error;
    }
  }

  #bind(
    binding: Binding,
    ast: ExpressionAst,
    table: TableDefinition | null,
    clause: Clause,
    target: { readonly type: SqlType; readonly column: string } | "condition" | null,
  ): TableExpression {
    const level = new QueryLevel(null, null);
    const columns = binding.newColumns(table?.columns.length ?? 0);
    const scoped = (table?.columns ?? []).map((column, position) => ({
      name: column.name,
      expression: {
        kind: "column",
        type: column.type,
        column: columns[position] ?? 0,
        nullable: !column.notNull,
      } satisfies Expression,
      tableId: table?.id ?? 0,
      columnId: column.id,
    }));
    if (table !== null) {
      level.from = {
        columns: scoped,
        tables: [{
          name: table.name,
          schema: table.schema,
          relationName: table.name,
          columns: scoped,
          table,
          rowId: null,
          nullable: false,
        }],
      };
    }
    level.clause = clause;
    const bound = this.#refused(clause, ast, () => bindExpression(binding, level, ast));
    if (level.setFunctions.length > 0) {
      throw this.error(
        SQLSTATE.featureNotSupported,
        `set-returning functions are not allowed in ${clause}`,
        ast.position,
      );
    }
    if (hasSubquery(bound)) {
      throw this.error(
        SQLSTATE.featureNotSupported,
        `cannot use subquery in ${clause.replace(/s$/, "")}`,
        ast.position,
      );
    }
    if (target === "condition") {
      const place = clause === "check constraints" ? "CHECK" : clause;
      return { expression: coerceCondition(binding, bound, place, ast.position), columns };
    }
    if (target === null) return { expression: bound, columns };
    if (clause === "DEFAULT expressions") {
      const value = tryCoerce(binding, bound, target.type, "assignment");
      if (value !== undefined) return { expression: value, columns };
      throw this.error(
        SQLSTATE.datatypeMismatch,
        `column "${target.column}" is of type ${
          formatTypeFamily(target.type)
        } but default expression is of type ${formatTypeFamily(bound.type)}`,
        ast.position,
        { hint: "You will need to rewrite or cast the expression." },
      );
    }
    return {
      expression: coerceAssignment(binding, bound, target.type, target.column, ast.position),
      columns,
    };
  }
}

/** The step with calls in the place of long expressions. */
function inCalls(step: DefinitionStep, pieces: Pieces): DefinitionStep {
  const called = ({ expression, columns }: TableExpression): TableExpression => ({
    expression: withLongTableTerms(expression, pieces),
    columns,
  });
  switch (step.kind) {
    case "validate_check":
      return { ...step, condition: called(step.condition) };
    case "fill_column":
      return { ...step, value: called(step.value) };
    default:
      return step;
  }
}

/** A default is computed before there is a row. */
function refuseColumns(binder: DefinitionBinder, node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) return node.forEach((each) => refuseColumns(binder, each));
  if (
    "kind" in node && (node.kind === "subquery" || node.kind === "array_subquery" || node.kind === "exists")
  ) return;
  if ("kind" in node && node.kind === "column") {
    const position = "position" in node && typeof node.position === "number" ? node.position : undefined;
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "cannot use column reference in DEFAULT expression",
      position,
    );
  }
  Object.values(node).forEach((each) => refuseColumns(binder, each));
}

function cutName(name: string, bytes: number): string {
  const encoded = new TextEncoder().encode(name);
  if (encoded.length <= bytes) return name;
  return new TextDecoder().decode(encoded.subarray(0, bytes)).replace(/\ufffd+$/, "");
}

/** Calls back with each expression in a tree, outermost first. */
export function walkExpression(expression: Expression, visit: (each: Expression) => void): void {
  visit(expression);
  for (const value of Object.values(expression)) {
    if (Array.isArray(value)) { for (const each of value) descend(each, visit); }
    else descend(value, visit);
  }
}

function descend(value: unknown, visit: (each: Expression) => void): void {
  if (typeof value !== "object" || value === null) return;
  if ("kind" in value && "type" in value && !("plan" in value)) walkExpression(value as Expression, visit);
  else if ("when" in value && "then" in value) {
    descend(value.when, visit);
    descend(value.then, visit);
  }
}

/** Whether evaluating the expression twice may give two values. */
export function isVolatile(expression: Expression): boolean {
  let found = false;
  walkExpression(expression, (each) => {
    if (each.kind === "call" && each.function.volatility === "volatile") found = true;
  });
  return found;
}

/** 42P17 for a volatile function, by name; `what` is where it is, such as `a CHECK constraint`. */
export function requireNotVolatile(
  binder: DefinitionBinder,
  expression: Expression,
  ast: ExpressionAst,
  what: string,
): void {
  walkExpression(expression, (each) => {
    if (each.kind !== "call" || each.function.volatility !== "volatile") return;
    const { name } = each.function;
    throw binder.error(
      SQLSTATE.invalidObjectDefinition,
      `volatile function ${name}() cannot be used in ${what}`,
      callPosition(ast, name),
      { detail: "It may answer something else each time, and the row stays." },
    );
  });
}

/** Where a function is called in an expression; where that begins if the call is not written as one. */
export function callPosition(ast: ExpressionAst, name: string): number | undefined {
  return findCall(ast, name) ?? ast.position;
}

function findCall(node: unknown, name: string): number | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if (
    "kind" in node && node.kind === "call" && "name" in node && Array.isArray(node.name) &&
    node.name.at(-1) === name && "position" in node && typeof node.position === "number"
  ) return node.position;
  for (const part of Object.values(node)) {
    const found = findCall(part, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
