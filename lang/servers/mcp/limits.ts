/** What one server of the Model Context Protocol holds at most. */

/** Longest message in bytes: a line of standard input, or the body of a request. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/**
 * Most requests of a connection that wait for their answers; more are refused at once, so that cancellations are
 * still read.
 */
export const MAX_IN_FLIGHT = 64;

/** Most sessions over HTTP; the one that was quiet for the longest time makes room. */
export const MAX_SESSIONS = 64;

/** Most bodies over HTTP that are read at the same time. */
export const MAX_BODIES = 16;

/** Longest time that a body over HTTP may take to arrive. */
export const BODY_TIMEOUT_MILLISECONDS = 30_000;

/** Most values in the arguments of one call, however they are nested. */
export const MAX_ARGUMENT_VALUES = 10_000;

/** Most characters of a tool's text; what is structured has budgets of its own. */
export const MAX_TEXT_CHARACTERS = 60_000;

/** Most files of a package that are listed as resources. */
export const MAX_LISTED_FILES = 1_000;
