/**
 * What is known of the keys of all rows that a join keeps in parts: rows of the other side whose key is not among them
 * have no partner, whatever their part, and need not be written to a file.
 */
import { GrowingFilter } from "./key_filter.ts";
import type { MemoryUser } from "./memory_user.ts";

/** See the file's head. */
export class KeptFilters {
  /** The hashes of all keys together. */
  readonly hashes: GrowingFilter;
  /** By key; null: no scan asks for it. */
  readonly filters: readonly (GrowingFilter | null)[];

  constructor(state: MemoryUser, isAsked: readonly boolean[]) {
    this.hashes = new GrowingFilter(state);
    this.filters = isAsked.map((each) => each ? new GrowingFilter(state) : null);
  }

  /** As that of an index: keys that are few are not known one by one. */
  fewKeys(): null {
    return null;
  }

  release(): void {
    this.hashes.release();
    for (const filter of this.filters) filter?.release();
  }
}
