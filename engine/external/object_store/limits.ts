/** The limits of object stores. */

/** See the file's head. */
export const STORE_LIMITS = {
  /** What is asked for at once when an object is read from its beginning to its end. */
  pieceBytes: 8 << 20,
  /** What is read of a body that explains an error. */
  explanationBytes: 4096,
} as const;
