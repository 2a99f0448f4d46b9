/**
 * What a primary knows of one backup: which entries it was sent and which it has acknowledged in this view.
 */
import {
  MAX_RESEND_MILLISECONDS,
  MAX_WINDOW_BYTES,
  MAX_WINDOW_ENTRIES,
  RESEND_MILLISECONDS,
} from "./timeouts.ts";

/** The time of an acknowledgement counts with this share in what is expected of the next. */
const ROUND_TRIP_WEIGHT = 1 / 4;

/** Entries that a backup was sent in one message. */
interface SentEntries {
  /** Of the last one. */
  readonly op: number;
  readonly bytes: number;
  /** Whether the last one is not in the message: the backup asks for it piece by piece. */
  readonly isFetched: boolean;
  readonly at: number;
}

/** The progress of one backup in one view. */
export class BackupProgress {
  /** When the backup was last heard, in monotonic milliseconds. */
  heardAt: number;
  /** When something was last sent. */
  sentAt = 0;
  #nextOp: number;
  #acknowledgedOp = -1;
  #progressAt: number;
  /** Messages that are not acknowledged, in order. */
  #inFlight: SentEntries[] = [];
  #inFlightBytes = 0;
  /** How long an acknowledgement takes. */
  #roundTrip = 0;
  /** The newest committed op of a moment: once the backup has it, it is as new as that moment. */
  #mark: { readonly op: number; readonly at: number };
  /** What the backup has is at least as new as the state was then. */
  #levelAt: number;

  constructor(now: number, nextOp: number) {
    this.heardAt = now;
    this.#progressAt = now;
    this.#nextOp = nextOp;
    this.#mark = { op: nextOp - 1, at: now };
    this.#levelAt = now;
  }

  /** The op that is sent next. */
  get nextOp(): number {
    return this.#nextOp;
  }

  /** The highest op that the backup has made durable in this view; -1 until it has acknowledged the view. */
  get acknowledgedOp(): number {
    return this.#acknowledgedOp;
  }

  /** How old what the backup has is, at most twice too much; 0 when it has all that is committed. */
  lagMilliseconds(commit: number, now: number): number {
    return this.#acknowledgedOp >= commit ? 0 : now - this.#levelAt;
  }

  /** Called with each acknowledgement, and the commit number then. */
  measureLag(commit: number, now: number): void {
    if (this.#acknowledgedOp < this.#mark.op) return;
    this.#levelAt = this.#acknowledgedOp >= commit ? now : this.#mark.at;
    this.#mark = { op: commit, at: now };
  }

  /**
   * Whether another entry may be sent before the next acknowledgement. While a backup fetches one it keeps nothing of
   * what follows, which would come again after {@link RESEND_MILLISECONDS} only.
   */
  get isWindowOpen(): boolean {
    return this.#acknowledgedOp >= 0 && this.#nextOp - this.#acknowledgedOp <= MAX_WINDOW_ENTRIES &&
      this.#inFlightBytes < MAX_WINDOW_BYTES && this.#inFlight.at(-1)?.isFetched !== true;
  }

  /** Entries have been sent. */
  sent(entries: SentEntries): void {
    this.#nextOp = entries.op + 1;
    this.#inFlight.push(entries);
    this.#inFlightBytes += entries.bytes;
    this.sentAt = entries.at;
  }

  /** The backup says that it has everything up to the op. */
  acknowledge(op: number, now: number): void {
    this.heardAt = now;
    if (this.#acknowledgedOp < 0) this.#sendAgainFrom(op + 1, now);
    if (op > this.#acknowledgedOp) {
      this.#acknowledgedOp = op;
      this.#progressAt = now;
    }
    for (let first = this.#inFlight[0]; first !== undefined && first.op <= op; first = this.#inFlight[0]) {
      this.#inFlight.shift();
      this.#inFlightBytes -= first.bytes;
      this.#roundTrip += (Math.min(now - first.at, MAX_RESEND_MILLISECONDS) - this.#roundTrip) *
        ROUND_TRIP_WEIGHT;
    }
    // A restarted backup may have lost what it had not made durable, or found damage.
    if (this.#nextOp <= op) this.#nextOp = op + 1;
    if (op < this.#nextOp - 1 && this.#isStalled(now)) this.#sendAgainFrom(op + 1, now);
  }

  /** Goes back to what is not acknowledged when nothing has come for a while; whether it did. */
  resendWhenStalled(lastOp: number, now: number): boolean {
    if (this.#acknowledgedOp < 0 || this.#acknowledgedOp >= lastOp || !this.#isStalled(now)) return false;
    this.#sendAgainFrom(this.#acknowledgedOp + 1, now);
    return true;
  }

  #isStalled(now: number): boolean {
    const patience = Math.max(RESEND_MILLISECONDS, Math.min(2 * this.#roundTrip, MAX_RESEND_MILLISECONDS));
    return now - this.#progressAt >= patience;
  }

  #sendAgainFrom(op: number, now: number): void {
    this.#nextOp = op;
    this.#progressAt = now;
    this.#inFlight = [];
    this.#inFlightBytes = 0;
  }
}
