/**
 * One authenticated client of the operation protocol, whatever carries its messages: requests come in, wait their turn,
 * run in the connection's session, and their replies leave in the order of the requests.
 *
 * Invariants: one request runs at a time; every request gets exactly one `end` or `error`, as its last message; replies
 * leave only when what they tell is durable. A message that cannot be decoded is answered with 08P01 and ends the
 * connection. Limits: requests that wait are bounded in number and bytes, beyond that nothing more is read.
 */
import { createHash } from "node:crypto";
import { ByteWriter } from "../../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import { turnWork } from "../../../engine/host/turn_work.ts";
import type { Engine } from "../../../engine/session/engine.ts";
import type { SessionEncryption } from "../../../engine/system_catalog/catalog_context.ts";
import type { CopyFormat, CopyTarget, StatementOutcome } from "../../../engine/statements/outcome.ts";
import type { Session } from "../../../engine/session/session.ts";
import { GATEWAY_LIMITS } from "../limits.ts";
import { type ReadFrom, sessionReadFrom } from "../relay_port.ts";
import { CopyIn } from "./copy_in.ts";
import type { ClientSequence, Continuation, Operation, Request } from "./operation.ts";
import { decodeRequest, encodeOperation, requestNumberOf } from "./operation_codec.ts";
import { runOperation } from "./operation_runner.ts";
import { type DurabilityWatch, type MessageTransport, Outbox } from "./outbox.ts";
import { failureOf, REPLY_NUMBER_OFFSET, writeReply } from "./reply_codec.ts";
import { ReplySink, type ReplyTarget } from "./reply_sink.ts";

/** What carries the messages of a connection. */
export interface ConnectionTransport extends MessageTransport {
  /** Stops or resumes handing out messages. */
  setPaused(paused: boolean): void;
  /** Closes after everything sent has left. `violation`: the client broke the protocol. */
  end(reason: "done" | "violation" | "shutdown"): void;
}

/** How to make a connection. */
export interface ConnectionOptions {
  readonly engine: Engine;
  readonly transport: ConnectionTransport;
  readonly watch: DurabilityWatch;
  /** How the client's connection is encrypted, if it is. */
  readonly encryption?: SessionEncryption | null;
  readonly readFrom?: ReadFrom;
  /** Receives bugs that a statement ran into; the client is sent XX000. */
  readonly onInternalError: (error: unknown) => void;
}

interface Waiting {
  readonly request: Request;
  readonly operation: Operation;
  readonly bytes: number;
}

/** Requests that arrived together and are answered before other connections get a turn. */
const REQUESTS_PER_TURN = 64;

/**
 * One authenticated client of the operation protocol, whatever carries its messages: requests come in, wait their
 * turn, run in the connection's session, and their replies leave in the order of the requests.
 */
export class OperationConnection implements ReplyTarget {
  readonly session: Session;
  readonly #engine: Engine;
  readonly #transport: ConnectionTransport;
  readonly #outbox: Outbox;
  readonly #onInternalError: (error: unknown) => void;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #current: Request | null = null;
  #copy: CopyIn | null = null;
  #copyBusy = false;
  #isClosed = false;
  #isEnding = false;
  /** What has been sent so far is answered, nothing more is begun. */
  #isDraining = false;
  #isPumpScheduled = false;
  /** Requests answered since the last turn, or since the last batch. */
  #answered = 0;
  #idleListeners: (() => void)[] = [];

  constructor(options: ConnectionOptions) {
    this.#engine = options.engine;
    this.#transport = options.transport;
    this.#outbox = new Outbox(options.transport, options.watch);
    this.#onInternalError = options.onInternalError;
    this.session = options.engine.openSession({
      settings: { application_name: "" },
      encryption: options.encryption ?? null,
      ...sessionReadFrom(options.readFrom ?? "primary"),
    });
    this.session.onTerminated((error, { losesAnswers }) => {
      this.session.cancel(error);
      this.#copy?.abort(error);
      // Addressed to no request: the client knows which of them it can make again.
      if (losesAnswers) this.#outbox.endWith(this.#failure(0n, error));
      this.#end(0n, error, "shutdown");
      this.session.close();
    });
    this.session.settings.onReported((name, value) => {
      if (name === "TimeZone" || name === "DateStyle" || name === "IntervalStyle") {
        const writer = new ByteWriter(64);
        writeFramed(writer, (each) => writeReply(each, { kind: "setting", number: 0n, name, value }));
        this.#outbox.push(writer.finish(), 0);
      }
    });
  }

  /** Whether a request is running or waiting, or an answer has not left yet. */
  get isBusy(): boolean {
    return !this.#isIdle || !this.#outbox.isEmpty;
  }

  get #isIdle(): boolean {
    return this.#current === null && this.#waiting.length === 0;
  }

  /** Resolves when the client has taken all answers, or is gone. */
  async #untilAnswered(): Promise<void> {
    const idle = () => new Promise<void>((resolve) => this.#idleListeners.push(resolve));
    if (!this.#isIdle) await idle();
    await this.#outbox.handedOver();
    while (!this.#isClosed && !this.#outbox.isEmpty) await idle();
  }

  /** Requests that have not begun. */
  get waitingRequests(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  /** Takes one message, without its length. Its bytes need not stay valid after the call. */
  receive(message: Uint8Array): void {
    if (this.#isClosed || this.#isEnding) return;
    turnWork.began("message");
    turnWork.requests++;
    let request: Request;
    try {
      request = decodeRequest(message);
    } catch (error) {
      this.#refuse(requestNumberOf(message), error);
      return;
    }
    const { operation } = request;
    switch (operation.kind) {
      case "copy_data":
      case "copy_done":
      case "copy_fail":
      case "cancel":
        this.#continue(request.number, operation);
        return;
      default:
        if (this.#isDraining) return;
        this.#waiting.push({ request, operation, bytes: message.length });
        this.#waitingBytes += message.length;
        this.#updatePause();
        this.#pump();
    }
  }

  /** Sends what may be sent; to be called after a batch of {@link receive}, and when the transport has drained. */
  flush(): void {
    this.#answered = 0;
    this.#outbox.flush();
    if (this.#isIdle) this.#tellIdle();
  }

  /** The client is gone. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#outbox.close();
    this.#copy?.abort(
      new DatabaseError(SQLSTATE.connectionException, "the client has closed the connection"),
    );
    this.session.close();
    this.#tellIdle();
  }

  /** Lets what is running finish within the time, then says goodbye and closes. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isDraining = true;
    if (this.isBusy && graceMilliseconds > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        this.#untilAnswered(),
        new Promise<void>((resolve) => timer = setTimeout(resolve, graceMilliseconds)),
      ]);
      clearTimeout(timer);
    }
    if (this.#isClosed) return;
    const error = new DatabaseError(
      SQLSTATE.adminShutdown,
      "terminating connection due to administrator command",
    );
    this.session.cancel(error);
    this.#copy?.abort(error);
    this.#end(0n, error, "shutdown");
  }

  // ---------------------------------------------------------------- ReplyTarget

  sendPart(messages: Uint8Array): void {
    // What a statement reads while it runs may be as new as the newest entry.
    this.#outbox.push(messages, this.#engine.lastOp);
    this.#outbox.flush();
  }

  drained(): Promise<void> {
    return this.#outbox.drained();
  }

  async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
    const copy = new CopyIn(target, (busy) => {
      this.#copyBusy = busy;
      this.#updatePause();
    });
    this.#copy = copy;
    this.#updatePause();
    this.#outbox.flush();
    try {
      await copy.finished;
    } finally {
      this.#copy = null;
      this.#copyBusy = false;
      this.#updatePause();
    }
  }

  // ---------------------------------------------------------------- requests

  #continue(number: bigint, operation: Continuation): void {
    if (operation.kind === "cancel") {
      this.#cancel(number);
      return;
    }
    // Data that arrives after its COPY has failed is dropped: the sender could not know.
    if (this.#copy === null || this.#current?.number !== number) return;
    switch (operation.kind) {
      case "copy_data":
        this.#copy.data(operation.bytes);
        return;
      case "copy_done":
        this.#copy.done();
        return;
      case "copy_fail":
        this.#copy.fail(operation.message);
    }
  }

  #cancel(number: bigint): void {
    const error = new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
    if (this.#current?.number === number) {
      this.session.cancel();
      this.#copy?.abort(error);
      return;
    }
    const index = this.#waiting.findIndex(({ request }) => request.number === number);
    if (index < 0) return;
    const [canceled] = this.#waiting.splice(index, 1);
    this.#waitingBytes -= canceled?.bytes ?? 0;
    this.#answerFailure(number, error);
    this.#updatePause();
  }

  #pump(): void {
    for (; this.#current === null && !this.#isClosed && !this.#isEnding; this.#answered++) {
      if (this.#isPumpScheduled) return;
      if (this.#answered >= REQUESTS_PER_TURN || this.#outbox.isFull) {
        this.#pumpLater();
        return;
      }
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.bytes;
      this.#updatePause();
      this.#run(next.request, next.operation);
    }
  }

  #pumpLater(): void {
    if (this.#isPumpScheduled) return;
    this.#isPumpScheduled = true;
    this.#outbox.flush();
    this.#outbox.drained().then(() => this.#engine.yieldToLoop()).then(() => {
      this.#isPumpScheduled = false;
      this.#answered = 0;
      this.#pump();
      this.flush();
    });
  }

  #run(request: Request, operation: Operation): void {
    this.#current = request;
    this.session.need.requestOp = request.minOp ?? 0;
    if (request.client !== null) {
      this.#runOnce(request, operation, request.client).then((messages) => {
        this.#outbox.push(messages.bytes, messages.op);
      }, (error: unknown) => this.#answerError(request.number, error)).then(() => this.#finished());
      return;
    }
    const sink = new ReplySink({ number: request.number, target: this, textOptions: this.#textOptions });
    let op = 0;
    const onOutcome = (outcome: StatementOutcome): void => {
      op = Math.max(op, outcome.durableOp);
      sink.write({ kind: "outcome", number: request.number, outcome });
    };
    const answer = (): void => {
      const { seenOp } = this.session.need;
      sink.write({ kind: "end", number: request.number, status: this.session.status, op: seenOp });
      this.#outbox.push(sink.take(), op);
      this.#current = null;
    };
    try {
      const running = runOperation(this.session, operation, sink, onOutcome);
      if (!(running instanceof Promise)) {
        answer();
        return;
      }
      running.then(answer, (error: unknown) => this.#answerError(request.number, error)).then(() =>
        this.#finished()
      );
    } catch (error) {
      this.#answerError(request.number, error);
      this.#current = null;
    }
  }

  #finished(): void {
    this.#current = null;
    if (this.#isClosed) return;
    this.#pump();
    this.flush();
  }

  /** Runs a request whose reply is kept with it. */
  async #runOnce(
    request: Request,
    operation: Operation,
    client: ClientSequence,
  ): Promise<{ readonly bytes: Uint8Array; readonly op: number }> {
    const { session } = this;
    if (session.status !== "idle") {
      throw new DatabaseError(
        SQLSTATE.activeSqlTransaction,
        "an exactly-once request cannot run inside a transaction block",
        { hint: "Send COMMIT or ROLLBACK first, or leave the client id away." },
      );
    }
    const digest = createHash("sha256").update("binary\0").update(encodeOperation(operation)).digest();
    const work = async (): Promise<Uint8Array> => {
      const target = new KeptReply();
      const sink = new ReplySink({ number: 0n, target, textOptions: this.#textOptions });
      await runOperation(session, operation, sink, (outcome) => {
        sink.write({ kind: "outcome", number: 0n, outcome });
      });
      target.sendPart(sink.take());
      return target.finish();
    };
    const { reply, durableOp } = await session.once({ ...client, digest }, work, (error) => {
      const writer = new ByteWriter();
      writer.writeU8(FAILED);
      writeFramed(writer, (each) => {
        writeReply(each, { kind: "error", number: 0n, status: "idle", failure: failureOf(error) });
      });
      return writer.finish();
    });
    const writer = new ByteWriter(reply.length + 32);
    writer.writeBytes(reply.subarray(1));
    if (reply[0] !== FAILED) {
      writeFramed(writer, (each) => {
        writeReply(each, { kind: "end", number: 0n, status: session.status, op: durableOp });
      });
    }
    const bytes = writer.finish();
    numberMessages(bytes, request.number);
    return { bytes, op: durableOp };
  }

  readonly #textOptions = () => this.session.evaluation.textOptions;

  /** A request that failed: its error is the answer, and the connection goes on. */
  #answerError(number: bigint, error: unknown): void {
    if (!(error instanceof DatabaseError)) {
      this.session.fail();
      this.#onInternalError(error);
    }
    if (error instanceof DatabaseError && error.code === SQLSTATE.adminShutdown) {
      this.#end(number, error, "shutdown");
    } else this.#answerFailure(number, error);
  }

  #answerFailure(number: bigint, error: unknown): void {
    // An error can tell of an entry too, such as the duplicate of a key that was just written.
    this.#outbox.push(this.#failure(number, error), this.#engine.lastOp);
  }

  #failure(number: bigint, error: unknown): Uint8Array {
    const writer = new ByteWriter();
    writeFramed(writer, (each) => {
      writeReply(each, { kind: "error", number, status: this.session.status, failure: failureOf(error) });
    });
    return writer.finish();
  }

  /** A message that breaks the protocol. */
  #refuse(number: bigint, error: unknown): void {
    if (!(error instanceof DatabaseError)) throw error;
    this.#end(number, error, "violation");
  }

  #end(number: bigint, error: DatabaseError, reason: "violation" | "shutdown"): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#waiting.length = 0;
    this.#answerFailure(number, error);
    this.#outbox.flush();
    this.#outbox.handedOver().then(() => this.#transport.end(reason));
  }

  #updatePause(): void {
    const tooMany = this.#waiting.length > GATEWAY_LIMITS.maximumWaitingRequests ||
      this.#waitingBytes > GATEWAY_LIMITS.maximumWaitingBytes;
    if (tooMany && this.#copy !== null) {
      // The data that the running COPY waits for is behind those requests: neither would ever move.
      this.#end(
        0n,
        new DatabaseError(SQLSTATE.protocolViolation, "too many requests wait behind a COPY"),
        "violation",
      );
      return;
    }
    this.#transport.setPaused(tooMany || this.#copyBusy);
  }

  #tellIdle(): void {
    const listeners = this.#idleListeners;
    this.#idleListeners = [];
    for (const listener of listeners) listener();
  }
}

/** First byte of a kept reply: whether its last message is the error, or the `end` is still to be added. */
const SUCCEEDED = 0;
const FAILED = 1;

/** Collects the reply of an exactly-once request, which is stored as a whole. */
class KeptReply implements ReplyTarget {
  readonly isFull = false;
  readonly #writer = new ByteWriter(1024);

  constructor() {
    this.#writer.writeU8(SUCCEEDED);
  }

  sendPart(messages: Uint8Array): void {
    this.#writer.writeBytes(messages);
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  copyIn(): Promise<void> {
    return Promise.reject(
      new DatabaseError(SQLSTATE.featureNotSupported, "COPY is not available in an exactly-once request"),
    );
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }
}

/** Appends a message with its length in front. */
export function writeFramed(writer: ByteWriter, write: (writer: ByteWriter) => void): void {
  const start = writer.length;
  writer.writeU32(0);
  write(writer);
  writer.patchU32(start, writer.length - start - 4);
}

/** The messages of a byte array in which each has its length in front. */
export function* framedMessages(bytes: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const size = view.getUint32(at, true);
    yield bytes.subarray(at + 4, at + 4 + size);
    at += 4 + size;
  }
}

/** Puts a request's number into replies that were stored without one. */
function numberMessages(bytes: Uint8Array, number: bigint): void {
  for (const message of framedMessages(bytes)) {
    new DataView(message.buffer, message.byteOffset, message.byteLength)
      .setBigUint64(REPLY_NUMBER_OFFSET, number, true);
  }
}
