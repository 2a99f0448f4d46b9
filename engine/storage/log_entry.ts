/** Entries on their way into the log and out of it. */
import type { OpNumber } from "../operations/effect.ts";

/** An entry read back. */
export interface LoggedEntry {
  readonly op: OpNumber;
  /** Good until the next entry is read. */
  readonly payload: Uint8Array;
}

/** An entry on its way into the log, piece by piece; nothing else is appended until it is finished or given up. */
export interface EntryInPieces {
  /** Bytes so far. */
  readonly bytes: number;
  /** CRC-32C of the bytes so far. */
  readonly checksum: number;
  /**
   * Writes a piece; it is in the file when this returns. Raises 53100 or 54000, with the log as it was before the
   * entry.
   */
  write(piece: Uint8Array): void;
  /** Makes the entry part of the log. */
  finish(): void;
  /** Takes back what was written. */
  abandon(): void;
}
