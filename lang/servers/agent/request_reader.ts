/** From a line to a request, or to why it is none. */
import type * as z from "zod";
import { LANG_LIMITS } from "../../limits.ts";
import type { ErrorCode } from "./lines.ts";
import { type AgentRequest, isOp, type Op, OPS, REQUEST_ID, type RequestId, REQUESTS } from "./requests.ts";
import { nearest } from "../../../engine/base/suggest.ts";

/** A line that is no request. */
export interface ProtocolFailure {
  readonly kind: "failure";
  readonly code: ErrorCode;
  readonly message: string;
  readonly id: RequestId | undefined;
}

/** A line that is one. */
export interface ReadRequest {
  readonly kind: "request";
  readonly request: AgentRequest;
  readonly id: RequestId | undefined;
  /** Fields that mean nothing, sorted. */
  readonly ignored: readonly string[];
}

/** Reads a line. */
export function readRequest(line: string): ReadRequest | ProtocolFailure {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return failure("bad_json", "Cannot read the request: it is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return failure("bad_request", "Cannot take the request: it is not an object");
  }
  const op = "op" in value ? value.op : undefined;
  const id = "id" in value ? REQUEST_ID.safeParse(value.id).data : undefined;
  if (op === undefined) {
    return failure("bad_request", "Cannot take the request: the field `op` is missing", id);
  }
  if (typeof op !== "string") {
    return failure("bad_request", `Cannot take the request: \`op\` is ${nameOf(op)}, not a text`, id);
  }
  if (!isOp(op)) return failure("unknown_op", unknownOp(op), id);
  const read = validated(op, value);
  return typeof read === "string"
    ? failure("bad_request", `Cannot take the request \`${op}\`: ${read}`, id)
    : { kind: "request", request: read, id, ignored: unknownFields(op, value) };
}

function failure(code: ErrorCode, message: string, id?: RequestId): ProtocolFailure {
  return { kind: "failure", code, message, id };
}

function validated(op: Op, value: object): AgentRequest | string {
  const { data, error } = REQUESTS[op].safeParse(value, { reportInput: true });
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  return issue === undefined ? "it does not fit its schema" : issueText(issue);
}

function issueText(issue: z.core.$ZodIssue): string {
  const field = issue.path.map(String).join(".");
  const isMissing = issue.path.length === 1 && issue.input === undefined;
  if (isMissing) return `the field \`${field}\` is missing`;
  const found = issue.input === undefined ? "something else" : nameOf(issue.input);
  switch (issue.code) {
    case "invalid_type":
      return `\`${field}\` is ${found}, not ${EXPECTED[issue.expected] ?? issue.expected}`;
    case "invalid_union":
      return `\`${field}\` is ${found}, not a text of at most 1024 characters or a number`;
    case "too_small":
      return issue.origin === "string"
        ? `\`${field}\` is empty`
        : `\`${field}\` is ${String(issue.input)}, less than ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string"
        ? `\`${field}\` is too long`
        : `\`${field}\` is ${String(issue.input)}, more than ${issue.maximum}`;
    default:
      return `\`${field}\`: ${issue.message}`;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  array: "a list",
  record: "an object",
  object: "an object",
};

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "a text";
    case "number":
      return Number.isInteger(value) ? "a number" : "a number with a fraction";
    case "boolean":
      return String(value);
    default:
      return "an object";
  }
}

function unknownOp(op: string): string {
  const near = nearest(op, OPS);
  const shown = op.length > 40 ? `${op.slice(0, 40)}…` : op;
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `known are ${OPS.join(", ")}`;
  return `Cannot take the request: there is no op "${shown}"; ${hint}`;
}

function unknownFields(op: Op, value: object): readonly string[] {
  return Object.keys(value).filter((name) => !Object.hasOwn(REQUESTS[op].shape, name)).sort()
    .slice(0, LANG_LIMITS.namedUnknownFields).map((name) => name.slice(0, 80));
}
