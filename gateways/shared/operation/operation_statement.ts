/**
 * Operations on rows as SQL statements with parameters, so that they meet the same constraints, plans and permissions
 * as statements do. Values never are in the text, which makes equal shapes share one cached plan.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import type { Catalog } from "../../../engine/catalog/catalog.ts";
import type { Condition, Parameter, ReadOperation, RowOperation, TableName } from "./operation.ts";
import type { RowId } from "../../../engine/operations/effect.ts";

/** A statement with `$n` and the values for them. */
export interface StatementWithParameters {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** What looking up a table needs. */
export interface TableLookup {
  readonly catalog: Pick<Catalog, "findRelation" | "relation">;
  readonly searchPath: readonly string[];
}

/** An identifier as SQL writes it so that its case is kept. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A table's name as SQL writes it. */
export function quoteTable(table: TableName): string {
  const name = quoteIdentifier(table.name);
  return table.schema === null ? name : `${quoteIdentifier(table.schema)}.${name}`;
}

/** The statement of a change of one row. */
export function rowStatement(operation: RowOperation): StatementWithParameters {
  const list = new ParameterList();
  const table = quoteTable(operation.table);
  switch (operation.kind) {
    case "create": {
      const id = operation.id === null ? "" : ` ID ${list.addId(operation.id)}`;
      const { columns, values } = operation;
      if (columns.length === 0) return list.statement(`INSERT INTO ${table}${id} DEFAULT VALUES`);
      return list.statement(
        `INSERT INTO ${table}${id} (${columns.map(quoteIdentifier).join(", ")}) VALUES (${
          values.map((value) => list.add(value)).join(", ")
        })`,
      );
    }
    case "update": {
      if (operation.columns.length === 0) throw invalidOperation("an update needs at least one column");
      const id = list.addId(operation.id);
      const assignments = operation.columns.map((column, index) =>
        `${quoteIdentifier(column)} = ${list.add(valueAt(operation.values, index))}`
      );
      return list.statement(`UPDATE ${table} ID ${id} SET ${assignments.join(", ")}`);
    }
    case "delete":
      return list.statement(`DELETE FROM ${table} ID ${list.addId(operation.id)}`);
    default:
      return unreachable(operation);
  }
}

/** The statement of a read. */
export function readStatement(operation: ReadOperation, lookup: TableLookup): StatementWithParameters {
  const list = new ParameterList();
  const table = quoteTable(operation.table);
  if (operation.kind === "aggregate") {
    const groups = operation.groupBy.map(quoteIdentifier);
    const aggregates = operation.aggregates.map((aggregate) => {
      if (aggregate.column === null && aggregate.function !== "count") {
        throw invalidOperation(`${aggregate.function} needs a column`);
      }
      return `${aggregate.function}(${aggregate.column === null ? "*" : quoteIdentifier(aggregate.column)})`;
    });
    if (groups.length + aggregates.length === 0) {
      throw invalidOperation("an aggregate operation needs a function");
    }
    const grouping = groups.length === 0
      ? ""
      : ` GROUP BY ${groups.join(", ")} ORDER BY ${groups.join(", ")}`;
    return list.statement(
      `SELECT ${[...groups, ...aggregates].join(", ")} FROM ${table}${
        where(operation.conditions, list)
      }${grouping}`,
    );
  }
  const { columns } = operation;
  const select = `SELECT ${
    columns.length === 0 ? "*" : columns.map(quoteIdentifier).join(", ")
  } FROM ${table}`;
  switch (operation.kind) {
    case "get":
      return list.statement(`${select} ID ${list.addId(operation.id)}`);
    case "find": {
      const conditions = operation.keys.map((key, index) =>
        `${quoteIdentifier(key)} = ${list.add(valueAt(operation.values, index))}`
      );
      return list.statement(conditions.length === 0 ? select : `${select} WHERE ${conditions.join(" AND ")}`);
    }
    case "find_range": {
      const key = quoteIdentifier(operation.key);
      const conditions: string[] = [];
      const { low, high } = operation;
      if (low !== null) conditions.push(`${key} ${low.inclusive ? ">=" : ">"} ${list.add(low.value)}`);
      if (high !== null) conditions.push(`${key} ${high.inclusive ? "<=" : "<"} ${list.add(high.value)}`);
      const filter = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      return list.statement(`${select}${filter} ORDER BY ${key}${limit(operation.limit, 0, list)}`);
    }
    case "scan": {
      const id = rowIdColumn(operation.table, lookup);
      const filter = operation.after === null ? "" : ` WHERE ${id} > ${list.addId(operation.after)}`;
      return list.statement(`${select}${filter} ORDER BY ${id}${limit(operation.limit, 0, list)}`);
    }
    case "select": {
      const order = operation.order.map(({ column, descending }) =>
        `${quoteIdentifier(column)}${descending ? " DESC" : ""}`
      );
      return list.statement(
        `${select}${where(operation.conditions, list)}${
          order.length === 0 ? "" : ` ORDER BY ${order.join(", ")}`
        }${limit(operation.limit, operation.offset, list)}`,
      );
    }
    default:
      return unreachable(operation);
  }
}

/** Collects the values and answers their places in the text. */
class ParameterList {
  readonly #parameters: Parameter[] = [];

  add(parameter: Parameter): string {
    this.#parameters.push(parameter);
    return `$${this.#parameters.length}`;
  }

  /** A row id: always an int8, whatever is around it. */
  addId(id: RowId): string {
    return this.add({ form: "typed", type: { kind: "i64" }, value: id });
  }

  statement(text: string): StatementWithParameters {
    return { text, parameters: this.#parameters };
  }
}

function where(conditions: readonly Condition[], list: ParameterList): string {
  if (conditions.length === 0) return "";
  return ` WHERE ${conditions.map((condition) => comparison(condition, list)).join(" AND ")}`;
}

function comparison(condition: Condition, list: ParameterList): string {
  const column = quoteIdentifier(condition.column);
  const { operator, values } = condition;
  const wanted = operator === "between"
    ? 2
    : operator === "in"
    ? values.length
    : operator.startsWith("is")
    ? 0
    : 1;
  if (values.length !== wanted) {
    throw invalidOperation(`the comparison "${operator}" takes ${wanted} values, not ${values.length}`);
  }
  switch (operator) {
    case "is null":
    case "is not null":
      return `${column} ${operator.toUpperCase()}`;
    case "in":
      // An empty list holds nothing; SQL has no way to write it.
      return values.length === 0
        ? "false"
        : `${column} IN (${values.map((value) => list.add(value)).join(", ")})`;
    case "between":
      return `${column} BETWEEN ${values.map((value) => list.add(value)).join(" AND ")}`;
    default:
      return `${column} ${operator.toUpperCase()} ${values.map((value) => list.add(value)).join("")}`;
  }
}

function limit(count: number, offset: number, list: ParameterList): string {
  const number = (value: number): string => list.add({ form: "typed", type: { kind: "i64" }, value });
  return `${count === 0 ? "" : ` LIMIT ${number(count)}`}${offset === 0 ? "" : ` OFFSET ${number(offset)}`}`;
}

/** The key column that is the row id, or the pseudo-column. */
function rowIdColumn(table: TableName, lookup: TableLookup): string {
  const relation = table.schema === null
    ? lookup.catalog.findRelation(table.name, lookup.searchPath)
    : lookup.catalog.relation(table.schema, table.name);
  if (relation?.kind !== "table") return "rowid";
  const { columns, rowIdColumn: id } = relation.table;
  const column = id === null ? undefined : columns.find((each) => each.id === id);
  return column === undefined ? "rowid" : quoteIdentifier(column.name);
}

function valueAt(values: readonly Parameter[], index: number): Parameter {
  const value = values[index];
  if (value === undefined) throw invalidOperation("every column needs a value");
  return value;
}

function invalidOperation(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.protocolViolation, `Cannot run operation: ${what}`);
}
