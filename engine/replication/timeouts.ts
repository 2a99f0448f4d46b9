/**
 * Times of the protocol, in milliseconds of the monotonic clock.
 */
import { assert } from "../base/assert.ts";

/** How often `onTimer` is called. */
export const TICK_MILLISECONDS = 10;
/** A primary that has nothing to send says so this often. */
export const HEARTBEAT_MILLISECONDS = 50;
/** What was sent and not acknowledged is sent again after this. */
export const RESEND_MILLISECONDS = 100;
/** A backup that hears nothing for this long, and a random part of the jitter, wants another view. */
export const SILENCE_MILLISECONDS = 500;
/** See {@link SILENCE_MILLISECONDS}. */
export const SILENCE_JITTER_MILLISECONDS = 200;
/** A view change that does not end is tried again after times that double up to this. */
export const MAX_VIEW_CHANGE_MILLISECONDS = 4000;
/** A `start_view_change` counts for this long. */
export const SUSPICION_MILLISECONDS = 350;
/** A primary that hears fewer than f backups for this long steps down. */
export const LONELY_MILLISECONDS = 1000;
/** Entries that a primary sends to a backup before it waits for an acknowledgement. */
export const MAX_WINDOW_ENTRIES = 4096;
/** Entries in one `prepare`. */
export const MAX_PREPARE_ENTRIES = 64;
/** Entries that a member asks for at a time. */
export const MAX_REPAIR_ENTRIES = 32;

assert(SUSPICION_MILLISECONDS > 2 * RESEND_MILLISECONDS, "one lost message must not end a suspicion");
assert(SILENCE_MILLISECONDS > 4 * HEARTBEAT_MILLISECONDS, "a few lost heartbeats must not end a view");
assert(LONELY_MILLISECONDS > SILENCE_MILLISECONDS, "a primary must not leave before its backups do");
