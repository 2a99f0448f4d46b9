/** The error of a statement that would have to run again when rows of its answer have been sent. */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";

/** SQLSTATE 40001: the client runs it again. */
export function rowsSent(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.serializationFailure,
    "could not serialize access due to concurrent update",
    { detail: "Some rows of the answer had been sent before.", hint: "Run the statement again." },
  );
}
