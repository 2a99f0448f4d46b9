/**
 * Failures as HTTP tells them: a status, the failure object, and the headers that belong to it.
 *
 * Which SQLSTATE becomes which status is decided here and nowhere else.
 */
import { DatabaseError, SQLSTATE, type SqlState } from "../../engine/base/errors.ts";

/** A failure with the status and headers that it is answered with. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly error: DatabaseError;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, error: DatabaseError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** A failure outside of SQL. */
export function httpFailure(
  status: number,
  code: SqlState,
  message: string,
  options: { readonly hint?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): HttpFailure {
  return new HttpFailure(
    status,
    new DatabaseError(code, message, options.hint === undefined ? {} : { hint: options.hint }),
    options.headers,
  );
}

/** Anything thrown while a request was answered, as a failure. Bugs become 500 with XX000. */
export function failureFor(thrown: unknown): HttpFailure {
  if (thrown instanceof HttpFailure) return thrown;
  if (!(thrown instanceof DatabaseError)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new HttpFailure(500, new DatabaseError(SQLSTATE.internalError, message, { cause: thrown }));
  }
  const status = statusOf(thrown.code);
  const retry = thrown.code.startsWith("57P") ? { "Retry-After": "1" } : {};
  return new HttpFailure(status, thrown, retry);
}

/** The status for a statement that failed with this code. */
export function statusOf(code: string): number {
  if (code === SQLSTATE.queryCanceled) return 504;
  switch (code.slice(0, 2)) {
    case "23":
    case "40":
      return 409;
    case "53":
      return 503;
    case "57":
      return 503;
    case "58":
    case "XX":
      return 500;
    case "HV":
      return 502;
    case "28":
      return 401;
    default:
      return code === SQLSTATE.lockNotAvailable || code === SQLSTATE.objectInUse ? 409 : 400;
  }
}

/** The failure object. */
export function failureObject(error: DatabaseError): Record<string, string | number> {
  const { message, code, detail, hint, position, where, schema, table, column, constraint } = error;
  const fields = {
    status: "error",
    message,
    code,
    detail,
    hint,
    position,
    where,
    schema,
    table,
    column,
    constraint,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string | number] => field[1] !== undefined),
  );
}

/** The body of a failure. */
export function failureBody(error: DatabaseError): string {
  return JSON.stringify(failureObject(error)) + "\n";
}
