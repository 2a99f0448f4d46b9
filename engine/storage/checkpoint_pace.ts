/**
 * When checkpoints begin: after so much log, or after so many rows of bulk loads that they take as much in memory.
 *
 * Both follow from the log's content alone. Members and shards go by the log: their checkpoints are made at the same
 * ops whatever program each of them runs.
 */

/** What an entry, or several, bring. */
export interface EntryWeight {
  /** Bytes of log. */
  readonly bytes: number;
  /** About what rows of bulk loads take in memory; see {@link batchWeight}. */
  readonly held: number;
}

/** An entry of less than this part of what makes a checkpoint has no rows in bulk that do. */
const LEAST_CUT_SHARE = 256;

/** See the head of the file. */
export class CheckpointPace {
  /** What makes a checkpoint. */
  readonly limitBytes: number;
  /** Bytes of the records that were applied since the checkpoint that was found at opening. */
  appliedBytes = 0;
  /** Those up to the op of the installed checkpoint. */
  #installedMark = 0;
  readonly #countsHeld: boolean;
  /** {@link appliedBytes} when the last checkpoint began. */
  #mark = 0;
  #held = 0;

  /** `countsHeld`: whether rows in memory count. */
  constructor(limitBytes: number, countsHeld: boolean) {
    this.limitBytes = limitBytes;
    this.#countsHeld = countsHeld;
  }

  applied({ bytes, held }: EntryWeight): void {
    this.appliedBytes += bytes;
    this.#held += held;
  }

  /** Whether a checkpoint is due. */
  get isDue(): boolean {
    return this.#isDueAfter({ bytes: 0, held: 0 });
  }

  /** Whether one would be due after an entry, or nearly. */
  isNearlyDueAfter({ bytes, held }: EntryWeight): boolean {
    const margin = this.limitBytes / 64;
    return this.#isDueAfter({ bytes: bytes + margin, held: held + margin });
  }

  #isDueAfter({ bytes, held }: EntryWeight): boolean {
    const least = this.limitBytes;
    return this.appliedBytes - this.#mark + bytes >= least || this.#countsHeld && this.#held + held >= least;
  }

  /** Bytes of log behind the installed checkpoint. */
  get behindBytes(): number {
    return this.appliedBytes - this.#installedMark;
  }

  /** A checkpoint begins. */
  begin(): void {
    this.#mark = this.appliedBytes;
    this.#held = 0;
  }

  /** The checkpoint that was begun last exists. */
  installed(): void {
    this.#installedMark = this.#mark;
  }

  /** What of an entry of so many bytes becomes a segment at a time, when it is applied; Infinity: nothing does. */
  cutBytesOf(entryBytes: number): number {
    return this.#countsHeld && entryBytes >= this.limitBytes / LEAST_CUT_SHARE ? this.limitBytes : Infinity;
  }
}
