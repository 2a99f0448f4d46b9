/**
 * One PostgreSQL connection as a state machine: bytes in, bytes out, no socket. Whoever owns the socket calls
 * {@link Connection.receive} with what was read, sends what {@link Connection.takeOutput} answers, and says with
 * {@link Connection.sent} when that has happened.
 *
 * All complete messages of a read are processed at once, and answered with one write. A statement that cannot finish
 * in one piece makes the connection busy; messages then wait, except the data of a COPY. Nothing is sent before the
 * log is durable up to the op that the answer depends on.
 *
 * After an error in the extended protocol, messages are skipped up to Sync. Errors of the protocol itself end the
 * connection; it never ends without an ErrorResponse, unless the client says goodbye or is gone.
 */
import { turnWork } from "../../engine/host/turn_work.ts";
import { outcomeUnknown } from "../../engine/session/interruption.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type {
  CopyFormat,
  CopyTarget,
  MaybePromise,
  Notice,
  StatementOutcome,
} from "../../engine/statements/outcome.ts";
import type { Notification, NotificationReceiver } from "../../engine/session/notifications.ts";
import type { TextOptions } from "../../engine/types/text_io.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { Secured } from "../shared/byte_stream.ts";
import type { SessionPort } from "../shared/engine_port.ts";
import { type RelayedStream, sessionReadFrom } from "../shared/relay_port.ts";
import type { ConnectionContext } from "./connection_context.ts";
import { CopyIn } from "./copy_in.ts";
import { ExtendedQuery } from "./extended_query.ts";
import { PG_LIMITS } from "./limits.ts";
import { Login } from "./login.ts";
import { MessageReader } from "./message_reader.ts";
import { MessageWriter } from "./message_writer.ts";
import { BACKEND, FRONTEND } from "./protocol.ts";
import { PgResultSink } from "./result_sink.ts";
import type { StartupRequest } from "./startup.ts";

/** The owner of the socket. */
export interface ConnectionOwner {
  /** Something happened outside of `receive`: there may be output, or the connection may have ended. */
  wake(): void;
}

type State = "login" | "ready" | "relayed" | "ended";
/** Which protocol an error belongs to. */
type Mode = "simple" | "extended";

/** A client whose session is at another member. */
export interface RelayRequest {
  readonly stream: RelayedStream;
  /** What the client has sent. */
  readonly first: Uint8Array;
  /** false: the client only cancels. */
  readonly expectsAnswer: boolean;
}

/** One PostgreSQL connection as a state machine: bytes in, bytes out, no socket. */
export class Connection {
  /** Set when the client's session is at another member: from then on the owner passes its bytes on. */
  relayRequest: RelayRequest | null = null;
  /** Set after an accepted SSLRequest, until the owner has started TLS and calls {@link tlsStarted}. */
  wantsTls = false;
  readonly #context: ConnectionContext;
  readonly #owner: ConnectionOwner;
  readonly #input = new MessageReader();
  readonly #output = new MessageWriter();
  readonly #sink: PgResultSink;
  readonly #login: Login;
  #state: State = "login";
  #mode: Mode = "simple";
  #session: SessionPort | null = null;
  #extended: ExtendedQuery | null = null;
  #isBusy = false;
  #isPumping = false;
  /** There is input, and its turn comes later. */
  #isResting = false;
  /** After an error in the extended protocol, up to Sync. */
  #isSkipping = false;
  #copy: CopyIn | null = null;
  #changedSettings: [string, string][] = [];
  /** Notifications that are sent to the client once it is in no transaction. */
  #notifications: Notification[] = [];
  /** The client will send nothing more. */
  #hasInputEnded = false;
  #bytesInFlight = 0;
  #drainWaiters: (() => void)[] = [];
  #inputWaiters: (() => void)[] = [];

  constructor(context: ConnectionContext, owner: ConnectionOwner) {
    this.#context = context;
    this.#owner = owner;
    this.#login = new Login(context, this.#input, this.#output);
    const textOptions = (): TextOptions => this.#ready().session.evaluation.textOptions;
    const isBacklogged = (): boolean => this.#isBacklogged;
    this.#sink = new PgResultSink(this.#output, {
      get textOptions() {
        return textOptions();
      },
      get isBacklogged() {
        return isBacklogged();
      },
      drained: () => this.#drained(),
      copyIn: (format, target) => this.#copyIn(format, target),
    });
  }

  /** true: nothing more will be read or said; the socket is to be closed when the output is sent. */
  get hasEnded(): boolean {
    return this.#state === "ended";
  }

  /** true: authentication is over. */
  get isReady(): boolean {
    return this.#state === "ready";
  }

  /** true: a statement is running. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** true: there is input that cannot be processed yet; wait for {@link resumed} before reading more. */
  get isPaused(): boolean {
    return this.#input.bufferedBytes > PG_LIMITS.inputBacklogBytes && this.#state !== "ended" &&
      !this.#canProcess();
  }

  /** Resolves when reading may go on. */
  resumed(): Promise<void> {
    if (!this.isPaused) return Promise.resolve();
    return new Promise((resolve) => this.#inputWaiters.push(resolve));
  }

  /** Processes bytes from the client; the buffer may be used again afterwards. */
  receive(bytes: Uint8Array): void {
    if (this.#state === "ended") return;
    this.#input.feed(bytes);
    this.#pump();
    this.#input.retain();
  }

  /** What may be sent now; null when there is nothing. The bytes are to be given back with {@link sent}. */
  takeOutput(): Uint8Array<ArrayBuffer> | null {
    const taken = this.#output.take(this.#context.engine.durableOp);
    if (taken !== null) this.#bytesInFlight += taken.length;
    return taken;
  }

  /** true: there is output that waits for the log. */
  get awaitsDurability(): boolean {
    return this.#output.isGated(this.#context.engine.durableOp);
  }

  /**
   * A member's answer waits: it may be the primary no more when its log is as long, and another entry has the op then.
   * Only a session hears of that.
   */
  get #mayLoseAnswers(): boolean {
    return this.#context.relay !== null && this.awaitsDurability;
  }

  /** true: everything that was released has been sent. */
  get isFlushed(): boolean {
    return this.#bytesInFlight === 0 && this.#output.releasedBytes === 0;
  }

  /** The bytes of {@link takeOutput} have been sent. */
  sent(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytesInFlight -= bytes.length;
    this.#output.recycle(bytes);
    if (this.#isBacklogged) return;
    if (this.#drainWaiters.length > 0) {
      const waiters = this.#drainWaiters;
      this.#drainWaiters = [];
      for (const resolve of waiters) resolve();
    }
    if (this.#input.bufferedBytes > 0) this.#pump();
    this.#tellNotifications();
    if (this.#hasInputEnded) this.#closeWhenDone();
  }

  /** The client has closed its side: what it has asked for is still answered, then the connection ends. */
  finishInput(): void {
    this.#hasInputEnded = true;
    this.#copy?.fail(unexpectedEnd());
    this.#copy = null;
    this.#closeWhenDone();
  }

  /** The connection is encrypted, with this channel binding; the client now sends its startup packet. */
  tlsStarted(encryption: SessionEncryption, endPoint: Uint8Array | null): void {
    this.wantsTls = false;
    this.#login.encrypted(encryption, endPoint);
  }

  /** Another member passes its client on, which it may have encrypted. */
  relayedFrom({ encryption, endPoint }: RelayedStream): void {
    this.#login.isRelayed = true;
    this.secured(encryption === null ? null : { encryption, endPoint });
  }

  /** Whether the client is encrypted was negotiated where its socket is. */
  secured(secured: Secured | null): void {
    this.#login.isNegotiated = true;
    if (secured !== null) this.#login.encrypted(secured.encryption, secured.endPoint);
  }

  /** Ends the connection with a last ErrorResponse. */
  terminate(error: DatabaseError): void {
    if (this.#state === "ended") return;
    this.#sink.abandon();
    if (this.#mayLoseAnswers) {
      this.#output.keepDurable(this.#context.engine.durableOp);
      error = outcomeUnknown("shutdown");
    }
    // After `S` was answered to an SSLRequest nothing may be said in clear text.
    if (!this.wantsTls) this.#output.writeError(error, "FATAL");
    this.#release(0);
    this.close();
  }

  /** The server is going down: ends the connection at once if it is idle, else when it becomes so. */
  drain(): void {
    if (this.#state === "ended" || this.#isBusy || this.#mayLoseAnswers) return;
    if (this.#session !== null && this.#session.status !== "idle") return;
    this.terminate(adminShutdown());
  }

  /** The client is gone or has said goodbye: whatever is open is rolled back. */
  close(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#extended?.closePortals();
    this.#session?.close();
    this.#copy?.fail(unexpectedEnd());
    this.#copy = null;
    this.#login.leave();
    this.#sink.abandon();
    for (const resolve of this.#drainWaiters) resolve();
    this.#drainWaiters = [];
    this.#wakeInput();
    this.#owner.wake();
  }

  #closeWhenDone(): void {
    if (this.#isBusy || this.#isBacklogged || this.#isResting || this.#mayLoseAnswers) return;
    this.close();
  }

  // ---------------------------------------------------------------- input

  get #isBacklogged(): boolean {
    return this.#output.pendingBytes + this.#bytesInFlight > PG_LIMITS.outputBacklogBytes;
  }

  /** Stops processing until the other connections have had a turn. */
  #rest(): void {
    this.#isResting = true;
    this.#context.engine.slices.next(PG_LIMITS.turnMilliseconds * 1000).then(() => {
      this.#isResting = false;
      this.#pump();
      if (this.#hasInputEnded) this.#closeWhenDone();
      this.#owner.wake();
    });
  }

  #canProcess(): boolean {
    if (this.#state === "ended" || this.#state === "relayed" || this.wantsTls || this.#isResting) {
      return false;
    }
    if (this.#isBusy) return this.#copy !== null && !this.#copy.isWaiting;
    return !this.#isBacklogged;
  }

  /** Processes messages as long as there are any and nothing has to be waited for. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    let end = 0;
    let count = 0;
    turnWork.began("message");
    turnWork.requests++;
    try {
      while (this.#canProcess() && this.#input.next()) {
        this.#message();
        // A pipeline of many statements leaves turns to the other connections. Most reads end before the clock is
        // asked.
        if (++count < PG_LIMITS.messagesUntimed || this.#input.bufferedBytes === 0) continue;
        if (this.#copy !== null && count % PG_LIMITS.dataMessagesUntimed !== 0) continue;
        const now = performance.now();
        if (end === 0) end = now + PG_LIMITS.turnMilliseconds;
        else if (now > end) this.#rest();
      }
    } catch (thrown) {
      this.terminate(this.#asDatabaseError(thrown));
    } finally {
      this.#isPumping = false;
    }
    // Answers that come before an Execute or without a statement (ParseComplete, …) depend on nothing.
    if (!this.#isBusy && this.#state !== "ended") this.#release(0);
    if (this.#inputWaiters.length > 0 && !this.isPaused) this.#wakeInput();
  }

  #wakeInput(): void {
    const waiters = this.#inputWaiters;
    this.#inputWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #message(): void {
    switch (this.#state) {
      case "login":
        this.#loginMessage();
        return;
      case "ready":
        if (this.#copy !== null) this.#copyMessage(this.#copy);
        else this.#command();
        return;
      case "relayed":
      case "ended":
        return;
    }
  }

  // ---------------------------------------------------------------- login

  #loginMessage(): void {
    const step = this.#login.message();
    switch (step.kind) {
      case "continue":
        return;
      case "start_tls":
        this.wantsTls = true;
        return;
      case "closed":
        this.close();
        return;
      case "relay": {
        const { encryption, endPoint } = this.#login;
        this.#state = "relayed";
        this.relayRequest = {
          stream: { protocol: "pg", encryption, endPoint },
          first: this.#input.takeAll(),
          expectsAnswer: step.expectsAnswer,
        };
        return;
      }
      case "accepted":
        this.#open(step.request);
    }
  }

  #open(request: StartupRequest): void {
    const session = this.#context.engine.openSession({
      user: request.user,
      database: request.database,
      settings: request.settings,
      encryption: this.#login.encryption,
      ...sessionReadFrom(request.readFrom),
    });
    this.#session = session;
    session.onTerminated((error, { losesAnswers }) => {
      if (losesAnswers) {
        this.#sink.abandon();
        this.#output.keepDurable(this.#context.engine.durableOp);
      }
      this.terminate(error);
    });
    this.#extended = new ExtendedQuery(session, this.#output, this.#sink);
    this.#state = "ready";
    this.#input.maximumBytes = PG_LIMITS.maximumMessageBytes;
    const output = this.#output;
    output.writeAuthenticationOk();
    for (const [name, value] of session.settings.reported()) output.writeParameterStatus(name, value);
    if (this.#context.version !== null) output.writeParameterStatus("db_version", this.#context.version);
    // Settings can change while a row is being written; clients are notified between messages.
    session.settings.onReported((name, value) => this.#changedSettings.push([name, value]));
    this.#context.engine.notifications.attach(session.processId, this.#receiver);
    output.writeBackendKeyData(session.processId, session.secretKey);
    output.writeReadyForQuery(session.status);
  }

  #ready(): { readonly session: SessionPort; readonly extended: ExtendedQuery } {
    const session = this.#session, extended = this.#extended;
    if (session === null || extended === null) throw new Error("the connection has no session yet");
    return { session, extended };
  }

  // ---------------------------------------------------------------- commands

  #command(): void {
    const input = this.#input;
    const { type } = input;
    if (type === FRONTEND.terminate) {
      this.close();
      return;
    }
    if (this.#isSkipping && type !== FRONTEND.sync) return;
    try {
      this.#await(this.#run(type));
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #run(type: number): MaybePromise<void> {
    const input = this.#input;
    const session = this.#session as SessionPort;
    const extended = this.#extended as ExtendedQuery;
    this.#mode = "extended";
    switch (type) {
      case FRONTEND.bind:
        extended.bind(input);
        return;
      case FRONTEND.execute:
        turnWork.began("execution");
        return extended.execute(input, this.#onExecuted);
      case FRONTEND.sync:
        return this.#sync(session);
      case FRONTEND.query: {
        this.#mode = "simple";
        turnWork.began("query");
        const text = input.readText();
        input.expectEnd();
        extended.dropUnnamed();
        this.#sink.expectSimple();
        const running = session.whenParsed(
          text,
          () => session.simple(text, this.#sink, this.#onOutcome),
        );
        if (running instanceof Promise) return running.then(() => this.#readyForQuery());
        this.#readyForQuery();
        return;
      }
      case FRONTEND.parse:
        turnWork.began("parsing");
        return extended.parse(input);
      case FRONTEND.describe:
        extended.describe(input);
        return;
      case FRONTEND.close:
        extended.close(input);
        return;
      case FRONTEND.flush:
        // Everything is sent at the end of a read anyway.
        return;
      case FRONTEND.functionCall:
        this.#mode = "simple";
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          "function calls through the protocol are not supported",
          { hint: "Use SELECT function(…)." },
        );
      case FRONTEND.copyData:
      case FRONTEND.copyDone:
      case FRONTEND.copyFail:
        // What a client had sent before it learned that its COPY has failed.
        return;
      default:
        throw new ProtocolEnd(
          new DatabaseError(SQLSTATE.protocolViolation, `unexpected message type ${type}`),
        );
    }
  }

  #sync(session: SessionPort): MaybePromise<void> {
    this.#isSkipping = false;
    if (session.status === "idle") {
      this.#mode = "simple";
      const ended = session.sync();
      if (ended instanceof Promise) return ended.then((outcome) => this.#synced(outcome));
      this.#synced(ended);
      return;
    }
    this.#readyForQuery();
  }

  #synced(outcome: StatementOutcome | null): void {
    if (outcome !== null) {
      this.#writeNotices(outcome.notices);
      // Nothing after this point is sent before the commit is durable.
      this.#release(outcome.durableOp);
    }
    this.#readyForQuery();
  }

  /** A promise of a statement makes the connection busy until it settles. */
  #await(running: MaybePromise<void>): void {
    if (!(running instanceof Promise)) return;
    this.#isBusy = true;
    running.then(() => this.#settled(null), (thrown) => this.#settled({ thrown }));
  }

  #settled(failure: { readonly thrown: unknown } | null): void {
    this.#isBusy = false;
    this.#copy = null;
    if (this.#state === "ended") return;
    if (failure !== null) {
      try {
        this.#failed(failure.thrown);
      } catch (thrown) {
        this.terminate(this.#asDatabaseError(thrown));
      }
    }
    this.#pump();
    if (this.#hasInputEnded) this.#closeWhenDone();
    this.#owner.wake();
  }

  readonly #onOutcome = (outcome: StatementOutcome): void => {
    this.#finish(outcome, false);
    // A new transaction may begin within the same text: what the old one had is gone all the same.
    const { kind, tag } = outcome;
    if (kind === "done" && (tag === "COMMIT" || tag === "ROLLBACK")) this.#extended?.closePortals();
  };
  readonly #onExecuted = (outcome: StatementOutcome, suspended: boolean): void =>
    this.#finish(outcome, suspended);

  /** Writes what ends the answer of a statement. */
  #finish(outcome: StatementOutcome, suspended: boolean): void {
    if (this.#state === "ended") return;
    this.#sink.finish();
    if (outcome.notices.length > 0) this.#writeNotices(outcome.notices);
    if (this.#changedSettings.length > 0) this.#writeChangedSettings();
    const output = this.#output;
    if (suspended) output.writeEmptyMessage(BACKEND.portalSuspended);
    else if (outcome.kind === "empty") output.writeEmptyMessage(BACKEND.emptyQueryResponse);
    else output.writeCommandComplete(outcome.tag);
    this.#release(outcome.durableOp);
  }

  #readyForQuery(): void {
    if (this.#state === "ended") return;
    const session = this.#session as SessionPort;
    if (this.#changedSettings.length > 0) this.#writeChangedSettings();
    const { status } = session;
    if (status === "idle") {
      this.#extended?.closePortals();
      this.#writeNotifications();
    }
    this.#output.writeReadyForQuery(status);
    this.#release(0);
    if (this.#context.isDraining && status === "idle" && !this.#mayLoseAnswers) {
      this.terminate(adminShutdown());
    }
  }

  #failed(thrown: unknown): void {
    if (thrown instanceof ProtocolEnd) {
      this.terminate(thrown.error);
      return;
    }
    const error = this.#asDatabaseError(thrown);
    if (this.#state === "ended") return;
    this.#copy = null;
    this.#sink.abandon();
    const session = this.#session as SessionPort;
    session.fail();
    if (error.code === SQLSTATE.adminShutdown) {
      this.terminate(error);
      return;
    }
    this.#writeNotices(session.takeNotices());
    this.#output.writeError(error, "ERROR");
    // What the error tells of may have been written by an entry that is not durable yet.
    this.#release(this.#context.engine.lastOp);
    if (this.#mode === "simple") this.#readyForQuery();
    else this.#isSkipping = true;
  }

  #asDatabaseError(thrown: unknown): DatabaseError {
    if (thrown instanceof DatabaseError) return thrown;
    if (thrown instanceof RangeError && /allocation|array length|string length/i.test(thrown.message)) {
      return new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
        detail: thrown.message,
        cause: thrown,
      });
    }
    this.#context.onInternalError(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new DatabaseError(SQLSTATE.internalError, `internal error: ${message}`, { cause: thrown });
  }

  // ---------------------------------------------------------------- copy, notices, output

  #copyIn(format: CopyFormat, target: CopyTarget): Promise<void> {
    if (this.#hasInputEnded) return Promise.reject(unexpectedEnd());
    const copy = new CopyIn(target, () => {
      this.#pump();
      this.#owner.wake();
    });
    this.#copy = copy;
    this.#output.writeCopyResponse(BACKEND.copyInResponse, format.binary, format.columnCount);
    this.#release(0);
    // The answer has to go out now if the statement was not started within `receive`.
    if (!this.#isPumping) queueMicrotask(() => this.#owner.wake());
    return copy.ended;
  }

  #copyMessage(copy: CopyIn): void {
    if (this.#input.type === FRONTEND.terminate) {
      this.close();
      return;
    }
    copy.message(this.#input);
    if (copy.isOver) this.#copy = null;
  }

  #writeNotices(notices: readonly Notice[]): void {
    const least = this.#ready().session.settings.get("client_min_messages");
    for (const notice of notices) if (isWanted(notice, least)) this.#output.writeNotice(notice);
  }

  #writeChangedSettings(): void {
    for (const [name, value] of this.#changedSettings) this.#output.writeParameterStatus(name, value);
    this.#changedSettings = [];
  }

  /** Notifications of other sessions: sent at once if the client is idle, else before ReadyForQuery says so. */
  readonly #receiver: NotificationReceiver = {
    waiting: () => this.#notifications.length,
    receive: (notification) => {
      this.#notifications.push(notification);
      queueMicrotask(() => this.#tellNotifications());
    },
  };

  #tellNotifications(): void {
    if (this.#notifications.length === 0 || this.#state !== "ready" || this.#isBusy || this.#isBacklogged) {
      return;
    }
    // Between the messages of a pipeline the client waits for its answers first.
    if (this.#isSkipping || this.#session?.status !== "idle" || this.#session.currentTransaction !== null) {
      return;
    }
    this.#writeNotifications();
    this.#owner.wake();
  }

  #writeNotifications(): void {
    for (const { processId, channel, payload, durableOp } of this.#notifications.splice(0)) {
      this.#output.writeNotification(processId, channel, payload);
      this.#release(durableOp);
    }
  }

  #release(op: number): void {
    const { durableOp } = this.#context.engine;
    this.#output.release(op, durableOp);
  }

  /** Resolves when enough of the output has been sent. Called between rows. */
  #drained(): Promise<void> {
    if (!this.#isBacklogged || this.#state === "ended") return Promise.resolve();
    // The rows so far may come from entries that are not durable yet.
    this.#release(this.#context.engine.lastOp);
    const drained = new Promise<void>((resolve) => this.#drainWaiters.push(resolve));
    queueMicrotask(() => this.#owner.wake());
    return drained;
  }
}

/** An error in the use of the protocol, after which the connection cannot go on. */
class ProtocolEnd {
  readonly error: DatabaseError;

  constructor(error: DatabaseError) {
    this.error = error;
  }
}

const LEVELS = ["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"];

function isWanted(notice: Notice, least: string): boolean {
  return notice.severity === "INFO" ||
    LEVELS.indexOf(notice.severity.toLowerCase()) >= LEVELS.indexOf(least);
}

function unexpectedEnd(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.connectionException,
    "unexpected EOF on client connection with an open COPY",
  );
}

/** What clients are sent when the server goes down. */
export function adminShutdown(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.adminShutdown,
    "terminating connection due to administrator command",
  );
}
