/**
 * The prepared statements of a session by name. All sessions of an engine share one budget,
 * `LIMITS.preparedStatements`, because each statement keeps a compiled plan, however many connections they come from.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Prepared } from "../statements/prepared.ts";

/** What all sessions have together. */
export interface PreparedBudget {
  preparedCount: number;
}

/** See the file's head. */
export class PreparedNames extends Map<string, Prepared> {
  readonly #budget: PreparedBudget;

  constructor(budget: PreparedBudget) {
    super();
    this.#budget = budget;
  }

  /** Raises 53200 when there are too many in all sessions. */
  override set(name: string, prepared: Prepared): this {
    if (!this.has(name)) {
      if (this.#budget.preparedCount >= LIMITS.preparedStatements) {
        throw new DatabaseError(SQLSTATE.outOfMemory, "too many prepared statements in all sessions", {
          hint: `The limit is ${LIMITS.preparedStatements}; DEALLOCATE those that are no longer needed.`,
        });
      }
      this.#budget.preparedCount++;
    }
    return super.set(name, prepared);
  }

  override delete(name: string): boolean {
    const wasThere = super.delete(name);
    if (wasThere) this.#budget.preparedCount--;
    return wasThere;
  }

  override clear(): void {
    this.#budget.preparedCount -= this.size;
    super.clear();
  }
}
