/** The error for a message that cannot be decoded: 08P01, after which a connection cannot go on. */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";

/** A message that breaks the protocol; `what` says what was found. */
export function undecodable(what: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    SQLSTATE.protocolViolation,
    `Cannot decode message: ${what}`,
    cause === undefined ? {} : { cause },
  );
}

/** Runs a decoder; damage that it meets becomes a protocol violation. */
export function decoding<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SQLSTATE.protocolViolation) throw error;
    if (error instanceof DatabaseError) {
      throw undecodable(error.message.replace(/^Cannot decode \w+: /, ""), error);
    }
    throw error;
  }
}
