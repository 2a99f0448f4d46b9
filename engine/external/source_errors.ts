/** Errors about external sources. They name addresses without queries, which may hold secrets. */
import { DatabaseError, type ErrorFields, SQLSTATE } from "../base/errors.ts";

/** How an address is shown. */
export function shownAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** The source answers something that cannot be used (HV000). */
export function sourceError(message: string, fields: ErrorFields = {}): DatabaseError {
  return new DatabaseError(SQLSTATE.fdwError, message, fields);
}

/** A connection that was there has failed, or ended too early (HV000). */
export class BrokenConnectionError extends DatabaseError {
  constructor(message: string) {
    super(SQLSTATE.fdwError, message);
  }
}

/** The source cannot be reached (HV00N). */
export function connectionError(message: string, fields: ErrorFields = {}): DatabaseError {
  return new DatabaseError(SQLSTATE.fdwUnableToEstablishConnection, message, fields);
}

/** A cap is passed (54000). */
export function capError(message: string, hint?: string): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, message, hint === undefined ? {} : { hint });
}

/** What the system said, without a trace. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.replaceAll(/\s+/g, " ").slice(0, 200) : String(thrown);
}
