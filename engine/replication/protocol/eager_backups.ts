/**
 * Which backups a primary sends entries to at once.
 *
 * With its own sync it needs as many as make a quorum; they are the eager ones. The others, the spare ones, get entries
 * a moment later, what came meanwhile in one message with one sync, which costs all three less than a message for each.
 * They are not kept waiting while little is to be sent, nor when the eager ones are late.
 *
 * Invariant: this decides when entries are sent, never what is committed.
 */

/** One turn of so many tries all backups, for a spare one may be quicker. */
const TRY_TURNS = 64;
/** When this member's own sync is what commits wait for, so many turns go to all. */
const SLOW_SYNC_TURNS = 64;

/** See the head of the file. */
export class EagerBackups {
  /** The eager ones first. */
  readonly #order: number[];
  readonly #needed: number;
  #turns = 0;
  /** So many turns, this one included, go to all. */
  #turnsToAll = 0;

  /** `needed`: how many make a quorum with the primary. */
  constructor(backups: readonly number[], needed: number) {
    this.#order = [...backups];
    this.#needed = needed;
  }

  /** All backups, the eager ones first. */
  get order(): readonly number[] {
    return this.#order;
  }

  /** Entries of another turn are to be sent. */
  turn(): void {
    this.#turns++;
    if (this.#turnsToAll > 0) this.#turnsToAll--;
    else if (this.#turns % TRY_TURNS === 0) this.#turnsToAll = 1;
  }

  isEager(backup: number): boolean {
    return this.#turnsToAll > 0 || this.#order.indexOf(backup) < this.#needed;
  }

  /** Entries have waited for a quorum for long: this turn goes to all, and more of them if the own sync is as late. */
  late(isOwnSync: boolean): void {
    this.#turnsToAll = Math.max(this.#turnsToAll, isOwnSync ? SLOW_SYNC_TURNS : 1);
  }

  /** A backup has everything up to the op; the others have what the function says. */
  acknowledged(backup: number, op: number, has: (backup: number) => number): void {
    const order = this.#order;
    const place = order.indexOf(backup);
    if (place < this.#needed) return;
    const slowest = order.slice(0, this.#needed).reduce((a, b) => has(b) < has(a) ? b : a);
    if (has(slowest) >= op) return;
    order[order.indexOf(slowest)] = backup;
    order[place] = slowest;
  }
}
