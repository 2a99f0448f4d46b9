/** What must fail. */
import { DatabaseError } from "../../engine/base/errors.ts";

/** The error with which the work ends; it must be one of the database. */
export async function failure(work: Promise<unknown>): Promise<DatabaseError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error("it has not failed");
}
