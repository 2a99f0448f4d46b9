/**
 * LISTEN and NOTIFY: messages between the sessions of a node, by channel.
 *
 * They belong to transactions: a channel is listened to, and a message goes out, when the transaction that said so is
 * committed. Equal messages of one transaction go out once. They are not part of the log: who is not listening at the
 * commit misses them, as does every session after a restart. Limits: see {@link LIMITS}; a session that does not take
 * its messages makes NOTIFY on its channels fail, not grow.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { utf8ByteLength } from "../base/bytes.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { CommitMessage } from "../transactions/commit_message.ts";
import type { Transaction } from "../transactions/transaction.ts";

/** A message on its way to a session. */
export interface Notification {
  readonly channel: string;
  readonly payload: string;
  /** The session that sent it. */
  readonly processId: number;
  /** The message may be sent once the log is durable up to this op. */
  readonly durableOp: OpNumber;
}

/** Who takes a session's messages. */
export interface NotificationReceiver {
  /** How many messages wait to be sent. */
  waiting(): number;
  receive(notification: Notification): void;
}

/** See the file's head. */
export class Notifications {
  readonly #receivers = new Map<number, NotificationReceiver>();
  /** Sessions by channel, in the order of LISTEN. */
  readonly #listeners = new Map<string, Set<number>>();

  /** Says who takes the messages of a session; one without a receiver cannot LISTEN. */
  attach(processId: number, receiver: NotificationReceiver): void {
    this.#receivers.set(processId, receiver);
  }

  /** The session has ended. */
  forget(processId: number): void {
    this.#receivers.delete(processId);
    this.#unlisten(processId, "");
  }

  /** The channels that a session listens to. */
  channelsOf(processId: number): readonly string[] {
    return [...this.#listeners].filter(([, sessions]) => sessions.has(processId)).map(([channel]) => channel);
  }

  /** LISTEN, UNLISTEN or NOTIFY: in force at the transaction's commit, without one at once. */
  add(message: CommitMessage, transaction: Transaction | null): void {
    this.#check(message);
    if (transaction === null) this.committed([message], 0 as OpNumber);
    else if (transaction.messages.length < LIMITS.maximumPendingNotifications) {
      transaction.messages.push(message);
    } else throw queueFull();
  }

  /** The transaction that said this is committed. */
  committed(messages: readonly CommitMessage[], durableOp: OpNumber): void {
    const sent = new Set<string>();
    for (const { kind, channel, processId } of messages) {
      if (kind === "unlisten") this.#unlisten(processId, channel);
      else if (kind === "listen" && this.#receivers.has(processId)) this.#listen(processId, channel);
    }
    for (const { kind, channel, payload, processId } of messages) {
      if (kind !== "notify") continue;
      const key = `${channel}\0${payload}`;
      if (sent.has(key)) continue;
      sent.add(key);
      for (const listener of this.#listeners.get(channel) ?? []) {
        this.#receivers.get(listener)?.receive({ channel, payload, processId, durableOp });
      }
    }
  }

  #listen(processId: number, channel: string): void {
    const sessions = this.#listeners.get(channel);
    if (sessions === undefined) this.#listeners.set(channel, new Set([processId]));
    else sessions.add(processId);
  }

  #unlisten(processId: number, channel: string): void {
    for (const [each, sessions] of this.#listeners) {
      if (channel !== "" && each !== channel) continue;
      sessions.delete(processId);
      if (sessions.size === 0) this.#listeners.delete(each);
    }
  }

  #check({ kind, channel, payload, processId }: CommitMessage): void {
    if (kind === "listen" && !this.#receivers.has(processId)) {
      throw new DatabaseError(SQLSTATE.featureNotSupported, "LISTEN is not supported on this connection", {
        hint: "Only the PostgreSQL protocol can tell a client of notifications.",
      });
    }
    if (kind === "unlisten") return;
    const invalid = (what: string) => new DatabaseError(SQLSTATE.invalidParameterValue, what);
    if (channel === "") throw invalid("channel name cannot be empty");
    if (utf8ByteLength(channel) > LIMITS.maximumIdentifierBytes) throw invalid("channel name too long");
    if (utf8ByteLength(payload) > LIMITS.maximumNotificationBytes) throw invalid("payload string too long");
    if (kind === "listen") return;
    for (const listener of this.#listeners.get(channel) ?? []) {
      const waiting = this.#receivers.get(listener)?.waiting() ?? 0;
      if (waiting >= LIMITS.maximumPendingNotifications) throw queueFull();
    }
  }
}

function queueFull(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "too many notifications in the NOTIFY queue", {
    hint: "A session that listens does not take its notifications; end its transaction or the session.",
  });
}
