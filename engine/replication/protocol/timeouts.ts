/**
 * Times and sizes of the protocol; times are milliseconds of the monotonic clock.
 */
import { assert } from "../../base/assert.ts";

/** How often `onTick` is called. */
export const TICK_MILLISECONDS = 10;
/** A member whose ticks come later than this has been held up, by its own work or by the system. */
export const STALL_MILLISECONDS = 100;
/** Committed entries are applied for so long in one turn. */
export const APPLY_MILLISECONDS = 20;
/** A primary that has nothing to send says so this often. */
export const HEARTBEAT_MILLISECONDS = 50;
/** A backup that no quorum needs gets entries so much later, many at a time. */
export const SPARE_MILLISECONDS = 8;
/** At once, when so much later the others have not acknowledged what was there at the last look. */
export const SPARE_LOOK_MILLISECONDS = 3;
/** What was sent and not acknowledged is sent again after this, or twice the time that acknowledgements take. */
export const RESEND_MILLISECONDS = 100;
/** The longest time after which entries are sent again. */
export const MAX_RESEND_MILLISECONDS = 2000;
/** A backup that hears nothing for this long, and a random part of the jitter, wants another view. */
export const SILENCE_MILLISECONDS = 500;
/** See {@link SILENCE_MILLISECONDS}. */
export const SILENCE_JITTER_MILLISECONDS = 200;
/** Views that do not last so long make members patient. */
export const SHORT_VIEW_MILLISECONDS = 10_000;
/** A connected member may be silent for so many times as long as usual, at the most. */
export const MAX_PATIENCE = 4;
/** A view change that does not end is tried again after times that double up to this. */
export const MAX_VIEW_CHANGE_MILLISECONDS = 4000;
/** A `start_view_change` counts for this long. */
export const SUSPICION_MILLISECONDS = 350;
/** A primary that hears fewer than f backups for this long steps down. */
export const LONELY_MILLISECONDS = 1000;
/** A primary that hears a quorum, and whose entries nobody acknowledges for this long, leaves its view. */
export const STUCK_MILLISECONDS = 15_000;
/** A member whose sync takes longer than this ends. */
export const SYNC_MILLISECONDS = 30_000;
/** A backup that echoes a stamp votes for no other view for so long. */
export const PROMISE_MILLISECONDS = 400;
/** A primary counts on a promise for so long after the stamp: 5 % less, for clocks that differ in pace. */
export const LEASE_MILLISECONDS = PROMISE_MILLISECONDS * 0.95;
/** Messages within this time carry the same stamp. */
export const STAMP_MILLISECONDS = 5;
/** How long a member looks for entries at all peers before it takes a checkpoint. */
export const TRANSFER_PATIENCE_MILLISECONDS = 500;

/** Entries that a primary sends to a backup before it waits for an acknowledgement. */
export const MAX_WINDOW_ENTRIES = 4096;
/** Bytes of payloads that it sends before it waits; a longer entry goes alone. */
export const MAX_WINDOW_BYTES = 8 * 1024 * 1024;
/** Entries in one `prepare`. */
export const MAX_PREPARE_ENTRIES = 1024;
/** While so many bytes for a backup have not left yet, it gets no more. */
export const MAX_QUEUED_BYTES = 1024 * 1024;
/** Bytes of payloads in one `prepare` or `repair_entries`; a longer entry goes alone. */
export const MAX_PREPARE_BYTES = 1024 * 1024;
/** Entries that a member asks for at a time. */
export const MAX_REPAIR_ENTRIES = 256;
/**
 * A member that lacks more committed entries than this fetches them before it joins a view, so that neither messages
 * nor its superblock name all of them.
 */
export const MAX_START_HEADERS = 8192;
/** The superblock is written anew when its commit number is so far behind: it bounds what a vote says. */
export const MAX_UNSTORED_COMMITS = 4096;

assert(SUSPICION_MILLISECONDS > 2 * RESEND_MILLISECONDS, "one lost message must not end a suspicion");
assert(SILENCE_MILLISECONDS > 4 * HEARTBEAT_MILLISECONDS, "a few lost heartbeats must not end a view");
assert(LONELY_MILLISECONDS > SILENCE_MILLISECONDS, "a primary must not leave before its backups do");
assert(PROMISE_MILLISECONDS < SILENCE_MILLISECONDS, "a promise must not hold up a view change");
assert(LEASE_MILLISECONDS > 4 * HEARTBEAT_MILLISECONDS, "a few lost heartbeats must not end a lease");
assert(MAX_PREPARE_BYTES < MAX_WINDOW_BYTES, "a window has several messages");
