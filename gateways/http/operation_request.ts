/**
 * The body of `POST /v1/op`: one encoded request of the binary protocol, or the same operation as JSON.
 *
 * In JSON the operation's name is in `op`, tables in `table` (and `schema`), rows as objects keyed by column name.
 * `docs/protocols.md` lists every operation with an example.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import type { RowId } from "../../engine/operations/effect.ts";
import {
  type Aggregate,
  AGGREGATE_FUNCTIONS,
  type Condition,
  CONDITION_OPERATORS,
  type Operation,
  type Parameter,
  type RangeBound,
  type Request,
  type RowOperation,
  type TableName,
} from "../shared/operation/operation.ts";
import { decodeRequest } from "../shared/operation/operation_codec.ts";
import { httpFailure } from "./failure.ts";
import { badBody, jsonParameter, parseJsonBody } from "./json_request.ts";

type Members = Record<string, unknown>;

const MAX_ID = (1n << 63n) - 1n;

/** An operation and who asks, when the encoded request says so. */
export interface OperationRequest {
  readonly operation: Operation;
  readonly client: Request["client"];
}

/** Reads a body. Raises 400. */
export function readOperationRequest(
  body: Uint8Array,
  contentType: "application/octet-stream" | "application/json",
): OperationRequest {
  if (contentType === "application/json") {
    return { operation: readJsonOperation(parseJsonBody(body)), client: null };
  }
  try {
    const { operation, client } = decodeRequest(body);
    switch (operation.kind) {
      case "copy_data":
      case "copy_done":
      case "copy_fail":
      case "cancel":
        throw badBody(`the operation ${operation.kind} needs a connection; it is not available over HTTP`);
      default:
        return { operation, client };
    }
  } catch (error) {
    if (error instanceof DatabaseError) throw httpFailure(400, error.code, error.message);
    throw error;
  }
}

/** Reads the JSON form. Raises 400. */
export function readJsonOperation(body: Members): Operation {
  const kind = body.op;
  switch (kind) {
    case "create":
    case "update":
    case "delete":
      return readRowOperation(body, kind);
    case "txn":
      return {
        kind,
        operations: listOf(body, "ops").map((each) => {
          const inner = membersOf(each, "ops");
          if (inner.op !== "create" && inner.op !== "update" && inner.op !== "delete") {
            throw badBody('"ops" holds create, update and delete operations');
          }
          return readRowOperation(inner, inner.op);
        }),
      };
    case "get":
      return { kind, table: tableOf(body), columns: columnsOf(body), id: idOf(body.id) };
    case "find": {
      const { names: keys, values } = entriesOf(body, "where");
      return { kind, table: tableOf(body), columns: columnsOf(body), keys, values };
    }
    case "find_range":
      return {
        kind,
        table: tableOf(body),
        columns: columnsOf(body),
        key: textOf(body, "column"),
        low: lowBound(body),
        high: highBound(body),
        limit: countOf(body, "limit"),
      };
    case "scan":
      return {
        kind,
        table: tableOf(body),
        columns: columnsOf(body),
        after: isAbsent(body.after) ? null : idOf(body.after),
        limit: countOf(body, "limit"),
      };
    case "select":
      return {
        kind,
        table: tableOf(body),
        columns: columnsOf(body),
        conditions: conditionsOf(body),
        order: listOf(body, "order").map(readOrder),
        limit: countOf(body, "limit"),
        offset: countOf(body, "offset"),
      };
    case "aggregate":
      return {
        kind,
        table: tableOf(body),
        aggregates: listOf(body, "aggregates").map(readAggregate),
        groupBy: namesOf(body, "group_by"),
        conditions: conditionsOf(body),
      };
    case "sql": {
      const params = listOf(body, "params");
      return {
        kind,
        text: textOf(body, "sql"),
        parameters: params.length === 0 ? null : params.map(jsonParameter),
      };
    }
    case "describe":
      return { kind, table: tableOf(body) };
    case "ddl":
      return { kind, text: textOf(body, "sql") };
    case "snapshot":
      return { kind, directory: textOf(body, "directory") };
    case "list_tables":
    case "stats":
    case "ping":
      return { kind };
    default:
      throw badBody(typeof kind === "string" ? `unknown operation "${kind}"` : '"op" must name an operation');
  }
}

function readRowOperation(body: Members, kind: RowOperation["kind"]): RowOperation {
  const table = tableOf(body);
  switch (kind) {
    case "create":
      return {
        kind,
        table,
        id: isAbsent(body.id) ? null : idOf(body.id),
        ...valuesOf(body),
      };
    case "update":
      return { kind, table, id: idOf(body.id), ...valuesOf(body) };
    case "delete":
      return { kind, table, id: idOf(body.id) };
  }
}

function entriesOf(
  body: Members,
  member: string,
): { readonly names: readonly string[]; readonly values: readonly Parameter[] } {
  const entries = Object.entries(isAbsent(body[member]) ? {} : membersOf(body[member], member));
  return { names: entries.map(([name]) => name), values: entries.map(([, value]) => jsonParameter(value)) };
}

/** A row's values, by column. */
function valuesOf(
  body: Members,
): { readonly columns: readonly string[]; readonly values: readonly Parameter[] } {
  const { names, values } = entriesOf(body, "values");
  return { columns: names, values };
}

function lowBound(body: Members): RangeBound | null {
  if (!isAbsent(body.from)) return { value: jsonParameter(body.from), inclusive: true };
  return isAbsent(body.above) ? null : { value: jsonParameter(body.above), inclusive: false };
}

function highBound(body: Members): RangeBound | null {
  if (!isAbsent(body.to)) return { value: jsonParameter(body.to), inclusive: true };
  return isAbsent(body.below) ? null : { value: jsonParameter(body.below), inclusive: false };
}

/** `{"column": "size", "operator": ">", "value": 3}`, with `values` where the operator takes several. */
function conditionsOf(body: Members): Condition[] {
  return listOf(body, "where").map((each) => {
    const members = membersOf(each, "where");
    const wanted = String(members.operator ?? "=").toLowerCase();
    const operator = CONDITION_OPERATORS.find((known) => known === wanted);
    if (operator === undefined) {
      throw badBody(`unknown operator "${wanted}"; there are ${CONDITION_OPERATORS.join(", ")}`);
    }
    const values = members.values === undefined
      ? members.value === undefined ? [] : [members.value]
      : listOf(members, "values");
    return { column: textOf(members, "column"), operator, values: values.map(jsonParameter) };
  });
}

/** `"size"`, or `{"column": "size", "descending": true}`. */
function readOrder(item: unknown): { readonly column: string; readonly descending: boolean } {
  if (typeof item === "string") return { column: item, descending: false };
  const members = membersOf(item, "order");
  return { column: textOf(members, "column"), descending: members.descending === true };
}

/** `{"function": "sum", "column": "size"}`. */
function readAggregate(item: unknown): Aggregate {
  const members = membersOf(item, "aggregates");
  const name = AGGREGATE_FUNCTIONS.find((known) => known === members.function);
  if (name === undefined) {
    throw badBody(`an aggregate's "function" is one of ${AGGREGATE_FUNCTIONS.join(", ")}`);
  }
  return { function: name, column: isAbsent(members.column) ? null : textOf(members, "column") };
}

function tableOf(body: Members): TableName {
  return { schema: isAbsent(body.schema) ? null : textOf(body, "schema"), name: textOf(body, "table") };
}

function columnsOf(body: Members): readonly string[] {
  return namesOf(body, "columns");
}

function namesOf(body: Members, member: string): readonly string[] {
  return listOf(body, member).map((name) => {
    if (typeof name !== "string") throw badBody(`"${member}" must be a list of names`);
    return name;
  });
}

function listOf(body: Members, member: string): readonly unknown[] {
  const value = body[member];
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) throw badBody(`"${member}" must be an array`);
  return value;
}

function membersOf(value: unknown, member: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badBody(`"${member}" must hold objects`);
  }
  return value as Members;
}

function textOf(body: Members, member: string): string {
  const value = body[member];
  if (typeof value !== "string" || value === "") throw badBody(`"${member}" must be a text`);
  return value;
}

function countOf(body: Members, member: string): number {
  const value = body[member];
  if (isAbsent(value)) return 0;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw badBody(`"${member}" must be a non-negative integer`);
  }
  return value;
}

/** A row id: a number, or a string of digits where a number is not exact. */
function idOf(value: unknown): RowId {
  const parameter = isAbsent(value) ? null : jsonParameter(value);
  const text = parameter?.form === "untyped" ? String(parameter.value) : "";
  if (!/^-?\d{1,19}$/.test(text) || BigInt(text) > MAX_ID || BigInt(text) < -MAX_ID - 1n) {
    throw badBody('"id" must be an integer from -9223372036854775808 to 9223372036854775807');
  }
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : BigInt(text);
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
