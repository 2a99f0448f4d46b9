/**
 * JSON bodies of requests. Numbers that a double cannot carry are kept with their own digits (`JSON.rawJSON`), so that a
 * NUMERIC or BIGINT parameter arrives as it was sent.
 */
import { decodeUtf8Strict } from "../../engine/base/bytes.ts";
import { SQLSTATE } from "../../engine/base/errors.ts";
import type { JavaScriptValue } from "../../engine/session/javascript_value.ts";
import type { Parameter } from "../shared/operation/operation.ts";
import { parameterOf } from "../shared/operation/parameter_binding.ts";
import { type HttpFailure, httpFailure } from "./failure.ts";

/** A number with the digits it was written with. */
interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithRaw {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

/** The part of `JSON` that the compiler's library does not know yet (ECMA-262, source text access). */
const json = JSON as unknown as JsonWithRaw;

/** The text of a body. Raises 400 with 22021 when it is not UTF-8. */
export function bodyText(body: Uint8Array): string {
  const text = decodeUtf8Strict(body);
  if (text === undefined) {
    throw httpFailure(400, SQLSTATE.characterNotInRepertoire, 'invalid byte sequence for encoding "UTF8"');
  }
  return text;
}

/** Parses a body that must be a JSON object. Raises 400. */
export function parseJsonBody(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = json.parse(bodyText(body), (_key, item, { source }) => {
      if (typeof item !== "number" || source === undefined || isExact(item, source)) return item;
      return json.rawJSON(source);
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw badBody(`the body is not valid JSON: ${error.message}`);
    if (error instanceof RangeError) throw badBody("the body is nested too deeply");
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || json.isRawJSON(value)) {
    throw badBody("the body must be a JSON object");
  }
  return value as Record<string, unknown>;
}

/** A JSON value as a parameter. */
export function jsonParameter(value: unknown): Parameter {
  if (json.isRawJSON(value)) return { form: "untyped", value: value.rawJSON };
  return parameterOf(value as JavaScriptValue);
}

/** A failure of a body: 400. */
export function badBody(message: string): HttpFailure {
  return httpFailure(400, SQLSTATE.protocolViolation, message);
}

/** Whether writing the double again gives the same number. */
function isExact(value: number, source: string): boolean {
  if (Number.isInteger(value) && /^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  const digits = source.replace(/[eE].*$/, "").replace(/^-?0*\.?0*/, "").replace(".", "");
  return Number.isFinite(value) && digits.length <= 15 && !source.startsWith("-0");
}
