/** The body of `POST /v1/sql`: SQL text, or `{"sql": …, "params": […]}`. */
import type { Operation } from "../shared/operation/operation.ts";
import { badBody, bodyText, jsonParameter, parseJsonBody } from "./json_request.ts";

/** The operation that a body asks for. Raises 400. */
export function readSqlRequest(body: Uint8Array, contentType: "text/plain" | "application/json"): Operation {
  if (contentType === "text/plain") return { kind: "sql", text: bodyText(body), parameters: null };
  const { sql, params, ...others } = parseJsonBody(body);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw badBody(`unknown member "${unknown}"; the body has "sql" and "params"`);
  if (typeof sql !== "string") throw badBody('"sql" must be a text');
  if (params !== undefined && params !== null && !Array.isArray(params)) {
    throw badBody('"params" must be an array');
  }
  const list: readonly unknown[] = Array.isArray(params) ? params : [];
  return { kind: "sql", text: sql, parameters: list.length === 0 ? null : list.map(jsonParameter) };
}
