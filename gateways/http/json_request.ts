/**
 * JSON bodies of requests. Numbers that a double cannot carry are kept with their own digits (`JSON.rawJSON`), so
 * that a NUMERIC or BIGINT parameter arrives as it was sent.
 */
import { decodeUtf8Strict, invalidUtf8 } from "../../engine/base/bytes.ts";
import { SQLSTATE } from "../../engine/base/errors.ts";
import type { JavaScriptValue } from "../../engine/session/javascript_value.ts";
import type { Parameter } from "../shared/operation/operation.ts";
import { isRawJson, parseExactJson } from "../shared/json/json_parse.ts";
import { parameterOf } from "../shared/operation/parameter_binding.ts";
import { type HttpFailure, httpFailure } from "./failure.ts";

/** The text of a body. Raises 400 with 22021 when it is not UTF-8. */
export function bodyText(body: Uint8Array): string {
  const text = decodeUtf8Strict(body);
  if (text === undefined) {
    const { code, message } = invalidUtf8(body);
    throw httpFailure(400, code, message);
  }
  return text;
}

/** Parses a body that must be a JSON object. Raises 400. */
export function parseJsonBody(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseExactJson(bodyText(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw badBody(`the body is not valid JSON: ${error.message}`);
    if (error instanceof RangeError) throw badBody("the body is nested too deeply");
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawJson(value)) {
    throw badBody("the body must be a JSON object");
  }
  return value as Record<string, unknown>;
}

/** A JSON value as a parameter. */
export function jsonParameter(value: unknown): Parameter {
  if (isRawJson(value)) return { form: "untyped", value: value.rawJSON };
  return parameterOf(value as JavaScriptValue);
}

/** A failure of a body: 400. */
export function badBody(message: string): HttpFailure {
  return httpFailure(400, SQLSTATE.protocolViolation, message);
}
