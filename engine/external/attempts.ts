/**
 * Requests that are sent again, as all of them only read: after throttling, failures of the server and connections that
 * break off, up to {@link ATTEMPT_LIMITS}.attempts times in all, with pauses between. Refusals of the operator and the
 * end of the statement do not pass.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { HttpResponse } from "./http_client.ts";
import { BrokenConnectionError } from "./source_errors.ts";
import type { OpenContext } from "./source_reader.ts";

/** The limits. */
export const ATTEMPT_LIMITS = {
  /** Requests for the same bytes, the first included. */
  attempts: 5,
  /** The pause before the second attempt; each further one is twice as long. */
  firstPauseMicroseconds: 200_000,
  /** The longest pause, also when a server asks for a longer one. */
  longestPauseMicroseconds: 30_000_000,
} as const;

const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

type Waiting = Pick<OpenContext, "signal" | "timers">;

/** A failure that another attempt may not have. */
export class PassingError extends Error {
  readonly failure: unknown;
  readonly pauseMicroseconds: number | undefined;

  constructor(failure: unknown, pauseMicroseconds?: number) {
    super("passing");
    this.failure = failure;
    this.pauseMicroseconds = pauseMicroseconds;
  }
}

/** What is raised for a failure of a request: a {@link PassingError} where the connection failed. */
export function passingFailure(thrown: unknown, { signal }: Waiting): unknown {
  if (signal.aborted) return signal.reason;
  const isConnection = thrown instanceof BrokenConnectionError ||
    (thrown instanceof DatabaseError && thrown.code === SQLSTATE.fdwUnableToEstablishConnection);
  return isConnection ? new PassingError(thrown) : thrown;
}

/** What is raised for an answer of an unwanted status: a {@link PassingError} where the next may be another. */
export function passingStatus({ status, headers }: HttpResponse, error: DatabaseError): unknown {
  return PASSING_STATUSES.has(status) ? new PassingError(error, pauseOf(headers)) : error;
}

/** Does the work until it succeeds, or fails in a way that does not pass. */
export async function attempted<Result>(work: () => Promise<Result>, waiting: Waiting): Promise<Result> {
  let pauseMicroseconds: number = ATTEMPT_LIMITS.firstPauseMicroseconds;
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof PassingError)) throw thrown;
      if (attempt === ATTEMPT_LIMITS.attempts) throw afterAttempts(thrown.failure, attempt);
      const wanted = thrown.pauseMicroseconds ?? pauseMicroseconds;
      await pause(Math.min(wanted, ATTEMPT_LIMITS.longestPauseMicroseconds), waiting);
      pauseMicroseconds *= 2;
    }
  }
}

function afterAttempts(failure: unknown, attempts: number): unknown {
  if (!(failure instanceof DatabaseError)) return failure;
  const { code, message, hint } = failure;
  return new DatabaseError(code, `${message}, ${attempts} times`, hint === undefined ? {} : { hint });
}

function pause(microseconds: number, { signal, timers }: Waiting): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timers.clearTimer(timer);
      reject(signal.reason);
    };
    const timer = timers.setTimer(microseconds, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** How long the server asks to wait, in seconds; a date is not looked at. */
function pauseOf(headers: HttpResponse["headers"]): number | undefined {
  const seconds = headers.get("retry-after");
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000_000 : undefined;
}
