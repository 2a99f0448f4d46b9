/** The error for a file of a checkpoint that does not hold what it once held. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

/** Names the file and the byte offset. */
export class DamagedFileError extends DatabaseError {
  readonly path: string;

  constructor(path: string, offset: number, what: string) {
    super(SQLSTATE.dataCorrupted, `file "${path}" is damaged at byte offset ${offset}: ${what}`, {
      hint: "Restore the data directory from a snapshot, or from another member of the cluster.",
    });
    this.path = path;
  }
}
