/** The error for a file of a checkpoint that does not hold what it once held. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

/** Names the file and the byte offset. */
export class DamagedFileError extends DatabaseError {
  readonly path: string;

  /** `what` is the whole message where no offset is given. */
  constructor(path: string, ...[offset, what]: [offset: number, what: string] | [message: string]) {
    const message = what === undefined
      ? String(offset)
      : `file "${path}" is damaged at byte offset ${offset}: ${what}`;
    super(SQLSTATE.dataCorrupted, message, {
      hint: "Restore the data directory from a snapshot, or from another member of the cluster.",
    });
    this.path = path;
  }
}
