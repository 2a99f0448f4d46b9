/** Checks of a transaction that wait for its commit, and what SET CONSTRAINTS says of them. */

interface DeferredCheck {
  readonly check: () => void;
  readonly constraintId: number;
}

/** By table: the constraints whose checks of its rows wait for the commit. */
type PendingChecks = ReadonlyMap<number, ReadonlySet<number>>;

const NO_CONSTRAINTS: ReadonlySet<number> = new Set();

/** See the file's head. */
export class DeferredChecks {
  /** Whether what checks have read was not true: then they fail for nothing, and are made again. */
  readonly #isGuess: () => boolean;
  #checks: DeferredCheck[] = [];
  /** Those that have been made. */
  #made: DeferredCheck[] = [];
  #pending: PendingChecks = new Map();
  /** By constraint, and by null for all others: what SET CONSTRAINTS has said. */
  modes: ReadonlyMap<number | null, "deferred" | "immediate"> = new Map();

  constructor(isGuess: () => boolean) {
    this.#isGuess = isGuess;
  }

  get isEmpty(): boolean {
    return this.#checks.length === 0;
  }

  /** Notes that changes of a table concern a constraint whose checks wait for the commit. */
  notePending(tableId: number, constraintId: number): void {
    const known = this.#pending.get(tableId) ?? NO_CONSTRAINTS;
    if (known.has(constraintId)) return;
    this.#pending = new Map([...this.#pending, [tableId, new Set([...known, constraintId])]]);
  }

  /** Whether checks that concern the table's rows wait for the commit. */
  hasPending(tableId: number): boolean {
    return this.#pending.has(tableId);
  }

  /** Adds a check of a constraint. */
  add(check: () => void, constraintId: number): void {
    this.#checks.push({ check, constraintId });
  }

  /** Runs the checks. They may not add further ones. */
  run(): void {
    for (const { check } of this.#checks) this.#run(check);
    if (this.#isGuess()) return;
    this.#made = this.#checks;
    this.#checks = [];
  }

  /** What has been made is to be made again: what it has read has changed since. */
  repeat(): void {
    this.#checks = this.#made;
  }

  #run(check: () => void): void {
    try {
      check();
    } catch (thrown) {
      if (!this.#isGuess()) throw thrown;
    }
  }

  /** What SET CONSTRAINTS has said of a deferrable constraint; undefined: nothing. */
  mode(constraintId: number): "deferred" | "immediate" | undefined {
    return this.modes.get(constraintId) ?? this.modes.get(null);
  }

  /**
   * SET CONSTRAINTS; null: all. Checks that were put off are made now when they may not wait any longer. They stay
   * for the commit all the same: a savepoint may take back what satisfies them.
   */
  setMode(ids: readonly number[] | null, mode: "deferred" | "immediate"): void {
    if (ids === null) this.modes = new Map([[null, mode]]);
    else this.modes = new Map([...this.modes, ...ids.map((id) => [id, mode] as const)]);
    if (mode === "deferred") return;
    this.#pending = new Map(
      [...this.#pending].flatMap(([tableId, constraints]) => {
        const left = [...constraints].filter((id) => ids !== null && !ids.includes(id));
        return left.length === 0 ? [] : [[tableId, new Set(left)] as const];
      }),
    );
    for (const { check, constraintId } of this.#checks) {
      if (ids === null || ids.includes(constraintId)) this.#run(check);
    }
  }

  /** A place to return to. */
  mark(): { readonly checks: number; readonly pending: PendingChecks } {
    return { checks: this.#checks.length, pending: this.#pending };
  }

  /** Forgets what came after a place. */
  rollbackTo({ checks, pending }: { readonly checks: number; readonly pending: PendingChecks }): void {
    this.#checks.length = checks;
    this.#pending = pending;
  }
}
