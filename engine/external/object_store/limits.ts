/** The limits of object stores. */

/** See the file's head. */
export const STORE_LIMITS = {
  /** Requests for the same bytes, the first included. */
  attempts: 5,
  /** The pause before the second attempt; each further one is twice as long. */
  firstPauseMicroseconds: 200_000,
  /** The longest pause, also when a store asks for a longer one. */
  longestPauseMicroseconds: 30_000_000,
  /** What is asked for at once when an object is read from its beginning to its end. */
  pieceBytes: 8 << 20,
  /** What is read of a body that explains an error. */
  explanationBytes: 4096,
} as const;
