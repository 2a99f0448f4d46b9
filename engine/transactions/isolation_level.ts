/**
 * Isolation levels, as PostgreSQL documents them.
 *
 * READ COMMITTED: each statement reads at a snapshot of its own, and one that has waited for a row runs again at a
 * newer one. REPEATABLE READ: one snapshot; of two that change a row the first one wins. SERIALIZABLE: besides, nothing
 * that it has read has changed when it commits.
 */

/** See the file's head. */
export type IsolationLevel = "read committed" | "repeatable read" | "serializable";

/** The oldest state that a session may read; see `StateNeed`. */
export interface StateFloor {
  readonly floor: number;
  raiseFloor(): void;
}

/** The levels, the weakest first. */
export const ISOLATION_LEVELS: readonly IsolationLevel[] = [
  "read committed",
  "repeatable read",
  "serializable",
];

/** The level that a flag or header names, in any case and with any of ` `, `-` and `_` between words. */
export function namedLevel(text: string): IsolationLevel | undefined {
  const name = text.trim().toLowerCase().replaceAll(/[-_ ]+/g, " ");
  return ISOLATION_LEVELS.find((level) => level === name);
}

/** The level that a setting's value asks for: READ UNCOMMITTED is READ COMMITTED. */
export function levelOf(setting: string): IsolationLevel {
  return setting === "serializable" || setting === "repeatable read" ? setting : "read committed";
}
