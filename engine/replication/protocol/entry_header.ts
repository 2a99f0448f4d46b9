/** The names of log entries, and what a member can know of one. */
import { EMPTY_HISTORY } from "../../operations/history_digest.ts";

/**
 * Names an entry: its place in the log, the view that first prepared it, and the digests of the log before and after
 * it. The digest alone says which entry it is. An entry that cannot be read is still named by the one that follows it;
 * then its view and what came before it are null.
 */
export interface EntryHeader {
  readonly op: number;
  readonly view: number | null;
  readonly digest: bigint;
  readonly previousDigest: bigint | null;
}

/** An entry with its bytes. */
export interface ReplicatedEntry {
  readonly header: EntryHeader;
  /** Empty if the entry is too large for a message: see `large_entries.ts`. */
  readonly payload: Uint8Array;
  /** How many bytes such an entry has. */
  readonly largeBytes?: number;
}

/** How many bytes an entry has, here or not. */
export function bytesOf({ payload, largeBytes }: ReplicatedEntry): number {
  return largeBytes ?? payload.length;
}

/**
 * What a member knows of one op of its log.
 *
 * - `present`: header and bytes are here and verify.
 * - `missing`: the header is known, the bytes are not. `isLost`: they may have been here, and cannot be read.
 * - `unreadable`: something was stored here and cannot be read; not even its header is known.
 * - `absent`: nothing was ever stored here, as far as this member can know.
 */
export type Slot =
  | { readonly kind: "present"; readonly header: EntryHeader }
  | { readonly kind: "missing"; readonly header: EntryHeader; readonly isLost: boolean }
  | { readonly kind: "unreadable" }
  | { readonly kind: "absent" };

/** The header below the first entry. */
export const EMPTY_LOG: EntryHeader = { op: 0, view: 0, digest: EMPTY_HISTORY, previousDigest: null };

/** Whether two headers of one op name the same entry. */
export function isSameEntry(a: EntryHeader, b: EntryHeader): boolean {
  return a.digest === b.digest;
}
