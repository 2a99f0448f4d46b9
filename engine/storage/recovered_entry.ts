/** Entries of the recovered log, as the state machine takes them; a large one stays in its file. */
import { crc32c } from "../base/checksum.ts";
import type { Effect, Entry } from "../operations/effect.ts";
import { decodeEntry, decodeInSteps } from "../operations/entry_codec.ts";
import type { LoggedEntry } from "./log_entry.ts";

/** An entry of the recovered log; good until the next one is taken. */
export interface RecoveredEntry {
  /** Its effects are to be taken once. */
  readonly entry: Omit<Entry, "effects"> & { readonly effects: Iterable<Effect> };
  /** Of the bytes that it was decoded from. */
  readonly payload: PayloadFacts;
}

/** What of an entry's bytes goes into the state. */
export interface PayloadFacts {
  /** CRC-32C. */
  readonly checksum: number;
  readonly bytes: number;
}

/** The entry. Raises `dataCorrupted` when its bytes are none. */
export function recoveredEntry(logged: LoggedEntry): RecoveredEntry {
  const { stored } = logged;
  if (stored === null) return { entry: decodeEntry(logged.payload), payload: payloadFacts(logged) };
  const { effects, ...head } = decodeInSteps(stored);
  return { entry: { ...head, effects: effects.each() }, payload: payloadFacts(logged) };
}

/** See {@link PayloadFacts}. */
export function payloadFacts(logged: LoggedEntry): PayloadFacts {
  const { stored } = logged;
  if (stored !== null) return { checksum: stored.checksum, bytes: stored.length };
  const { payload } = logged;
  return { checksum: crc32c(payload), bytes: payload.length };
}
