/** Cycles of waits, which would never end, and the error of who would close one. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** Who waits, as the others see it. */
export interface WaitingClient {
  readonly processId: number;
  /** What it runs. */
  readonly currentText: string;
}

/** Characters of a statement that an error shows. */
const SHOWN_TEXT = 500;

/**
 * Those through whom following "waits for" leads from one back to itself: it comes first, and each waits for the next;
 * null: it does not lead back.
 */
export function cycleFrom<T extends object>(start: T, waitsFor: (each: T) => Iterable<T>): T[] | null {
  const reachedFrom = new Map<T, T>();
  const open = [start];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    for (const next of waitsFor(each)) {
      if (next === start) {
        const cycle = [each];
        for (let at: T = each; at !== start; cycle.unshift(at)) at = reachedFrom.get(at) as T;
        return cycle;
      }
      if (reachedFrom.has(next)) continue;
      reachedFrom.set(next, each);
      open.push(next);
    }
  }
  return null;
}

/** The error of who would close a cycle; it names each one's statement. null: nobody known. */
export function deadlock(cycle: readonly (WaitingClient | null)[]): DatabaseError {
  const known = cycle.filter((each) => each !== null);
  const waits = known.map(({ processId }, index) =>
    `Process ${processId} waits for process ${known[(index + 1) % known.length]?.processId}.`
  );
  const texts = known.map(({ processId, currentText: text }) =>
    `Process ${processId}: ${text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text}`
  );
  return new DatabaseError(SQLSTATE.deadlockDetected, "deadlock detected", {
    ...(known.length === 0 ? {} : { detail: [...waits, ...texts].join("\n") }),
    hint: "Run the transaction again.",
  });
}
