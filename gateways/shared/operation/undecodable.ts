/**
 * The error for a message that cannot be decoded: 08P01, or 22021 when a text in it is not UTF-8. A connection cannot
 * go on after it.
 */
import { ByteReader, invalidUtf8 } from "../../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";

/** A message that breaks the protocol; `what` says what was found. */
export function undecodable(what: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    SQLSTATE.protocolViolation,
    `Cannot decode message: ${what}`,
    cause === undefined ? {} : { cause },
  );
}

/** Reads messages; a text that is not UTF-8 is refused, not repaired. Raises 22021. */
export class OperationReader extends ByteReader {
  protected override malformedText(bytes: Uint8Array): DatabaseError {
    return invalidUtf8(bytes);
  }
}

/** Runs a decoder; damage that it meets becomes a protocol violation. */
export function decoding<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DatabaseError) {
      if (error.code === SQLSTATE.protocolViolation || error.code === SQLSTATE.characterNotInRepertoire) {
        throw error;
      }
      throw undecodable(error.message.replace(/^Cannot decode \w+: /, ""), error);
    }
    throw error;
  }
}
