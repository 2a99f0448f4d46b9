/**
 * How much longer than usual a member waits for one that is silent and connected.
 *
 * On a starved machine a primary that gets no processor for as long as its backups wait loses its view, and so does the
 * next one. So views that end soon, one after the other, make a member patient, and one that lasts ends that.
 * A member that has died is not waited for: its connections end.
 */
import { MAX_PATIENCE, SHORT_VIEW_MILLISECONDS } from "./timeouts.ts";

/** See the head of the file. */
export class Patience {
  #factor = 1;
  /** When the view began here; null: none has. */
  #begunAt: number | null = null;

  /** What times are multiplied by. */
  factor(now: number): number {
    const lasted = this.#begunAt === null ? 0 : now - this.#begunAt;
    return Math.max(1, this.#factor / 2 ** Math.floor(lasted / SHORT_VIEW_MILLISECONDS));
  }

  /** A view has begun. */
  begun(now: number): void {
    this.#begunAt = now;
  }

  /** It has ended, and nobody meant it to. */
  lost(now: number): void {
    if (this.#begunAt === null) return;
    const isShort = now - this.#begunAt < SHORT_VIEW_MILLISECONDS;
    this.#factor = Math.min(MAX_PATIENCE, this.factor(now) * (isShort ? 2 : 1));
    this.#begunAt = null;
  }

  /** Its primary has let another one go on. */
  handedOver(now: number): void {
    this.#factor = this.factor(now);
    this.#begunAt = null;
  }
}
