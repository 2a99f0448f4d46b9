/**
 * The times after which a session is stopped: `statement_timeout` while a statement runs, `lock_timeout` while it
 * waits for another transaction or for a newer state, and while none runs `idle_in_transaction_session_timeout` within
 * a transaction, `idle_session_timeout` outside.
 *
 * At most one timer of each kind is set. With all settings at 0, their default, no timer is ever touched.
 */
import type { DatabaseError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Host } from "../host/host.ts";
import { lockTimeout } from "../transactions/lock_table.ts";
import type { Settings } from "../settings/settings.ts";
import {
  idleInTransactionTimeout,
  idleSessionTimeout,
  statementTimeout,
} from "../statements/statement_errors.ts";

const MICROSECONDS = 1000;

/** What happens when a time is over. */
export interface TimeoutTarget {
  /** The running statement has to end. */
  cancel(error: DatabaseError): void;
  /** The session has to end. */
  terminate(error: DatabaseError): void;
}

/** See the file's head. */
export class SessionTimeouts {
  readonly #host: Host;
  readonly #settings: Settings;
  readonly #target: TimeoutTarget;
  #derivedAt = -1;
  #statementMilliseconds = 0;
  #idleMilliseconds = 0;
  #idleInTransactionMilliseconds = 0;
  #statementTimer: number | null = null;
  #lockTimer: number | null = null;
  #idleTimer: number | null = null;
  /** What is to be said when the statement waits for a newer state. */
  #late: (() => DatabaseError) | null = null;
  /** When the running statement times out, in the monotonic clock's microseconds; 0: never. */
  #deadline = 0;

  constructor(host: Host, settings: Settings, target: TimeoutTarget) {
    this.#host = host;
    this.#settings = settings;
    this.#target = target;
  }

  /** A statement begins. */
  statementBegins(): void {
    if (this.#idleTimer !== null) this.#stopIdle();
    if (this.#statementTimer !== null) this.#stopStatement();
    this.#derive();
    const milliseconds = this.#statementMilliseconds;
    if (milliseconds === 0) return;
    this.#deadline = this.#host.clock.monotonic() + milliseconds * MICROSECONDS;
    this.#statementTimer = this.#host.timers.setTimer(
      milliseconds * MICROSECONDS,
      () => this.#target.cancel((this.#late ?? statementTimeout)()),
    );
  }

  /** The statement begins to wait for another transaction. */
  lockWaitBegins(): void {
    const milliseconds = this.#settings.milliseconds("lock_timeout");
    if (milliseconds === 0) return;
    this.#lockTimer = this.#host.timers.setTimer(
      milliseconds * MICROSECONDS,
      () => this.#target.cancel(lockTimeout()),
    );
  }

  /** The wait is over. */
  lockWaitEnds(): void {
    if (this.#lockTimer !== null) this.#host.timers.clearTimer(this.#lockTimer);
    this.#lockTimer = null;
  }

  /** The statement begins to wait for a newer state: it waits no longer than for another transaction, nor for ever. */
  stateWaitBegins(late: () => DatabaseError): void {
    this.#late = late;
    const milliseconds = this.#settings.milliseconds("lock_timeout");
    this.#lockTimer = this.#host.timers.setTimer(
      (milliseconds === 0 ? LIMITS.stateWaitMilliseconds : milliseconds) * MICROSECONDS,
      () => this.#target.cancel(late()),
    );
  }

  /** The state is there, or the statement has ended. */
  stateWaitEnds(): void {
    this.#late = null;
    this.lockWaitEnds();
  }

  /** From now on the session does nothing until its client asks for something. */
  idleBegins(isInTransaction: boolean): void {
    this.stop();
    this.#derive();
    const milliseconds = isInTransaction ? this.#idleInTransactionMilliseconds : this.#idleMilliseconds;
    if (milliseconds === 0) return;
    this.#idleTimer = this.#host.timers.setTimer(milliseconds * MICROSECONDS, () => {
      this.#idleTimer = null;
      this.#target.terminate(isInTransaction ? idleInTransactionTimeout() : idleSessionTimeout());
    });
  }

  /** Cancels a statement whose time is over: a long step gives the timer no turn. */
  check(): void {
    if (this.#deadline === 0 || this.#host.clock.monotonic() < this.#deadline) return;
    this.#target.cancel((this.#late ?? statementTimeout)());
  }

  /** No time runs any longer. */
  stop(): void {
    this.#stopStatement();
    if (this.#idleTimer !== null) this.#stopIdle();
  }

  #stopStatement(): void {
    this.#deadline = 0;
    if (this.#statementTimer !== null) this.#host.timers.clearTimer(this.#statementTimer);
    this.#statementTimer = null;
  }

  #stopIdle(): void {
    if (this.#idleTimer !== null) this.#host.timers.clearTimer(this.#idleTimer);
    this.#idleTimer = null;
  }

  /** The settings are read again only after a change. */
  #derive(): void {
    const settings = this.#settings;
    if (this.#derivedAt === settings.generation) return;
    this.#derivedAt = settings.generation;
    this.#statementMilliseconds = settings.milliseconds("statement_timeout");
    this.#idleMilliseconds = settings.milliseconds("idle_session_timeout");
    this.#idleInTransactionMilliseconds = settings.milliseconds("idle_in_transaction_session_timeout");
  }
}
