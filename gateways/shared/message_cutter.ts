/**
 * Where the messages of a stream end, which comes in pieces: a member that passes a client's bytes on must not say
 * something of its own in the middle of one.
 */

/** See the head of the file. */
export interface MessageCutterOptions {
  /** The bytes of the message that begins there, its head included; null: too few are there to tell. */
  lengthOf(bytes: Uint8Array, at: number): number | null;
  /** A message begins there; the bytes have it whole, unless it is passed on in pieces. */
  onMessage(bytes: Uint8Array, at: number): void;
}

/** See the head of the file. */
export class MessageCutter {
  readonly #options: MessageCutterOptions;
  /** Bytes that are to come of a message of which some were passed on. */
  #rest = 0;

  constructor(options: MessageCutterOptions) {
    this.#options = options;
  }

  /** Nothing of a message has been passed on without its end. */
  get isBetween(): boolean {
    return this.#rest === 0;
  }

  /**
   * How many of the bytes may be passed on; the others are to come again, with more behind them. `inPieces`: parts of a
   * message are passed on, too, once its head is there.
   */
  cut(bytes: Uint8Array, inPieces: boolean): number {
    let at = Math.min(this.#rest, bytes.length);
    this.#rest -= at;
    while (at < bytes.length) {
      const length = this.#options.lengthOf(bytes, at);
      if (length === null) break;
      const missing = at + length - bytes.length;
      if (missing > 0 && !inPieces) break;
      this.#options.onMessage(bytes, at);
      if (missing > 0) {
        this.#rest = missing;
        return bytes.length;
      }
      at += length;
    }
    return at;
  }
}
