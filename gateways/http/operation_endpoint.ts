/**
 * `/v1/sql` and `/v1/op`: an operation carried out in a session of its own, and answered as JSON.
 *
 * A session lives for one request: what a text sets or begins ends with it. With the exactly-once headers the reply, a
 * failure's too, is kept with the transaction: status, form and body, as they are sent.
 */
import type { IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { OpNumber } from "../../engine/operations/effect.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { StatementOutcome } from "../../engine/statements/outcome.ts";
import type { Session } from "../../engine/session/session.ts";
import type { ClientSequence, Operation } from "../shared/operation/operation.ts";
import { type ReadFrom, sessionReadFrom } from "../shared/relay_port.ts";
import { encodeOperation } from "../shared/operation/operation_codec.ts";
import { runOperation } from "../shared/operation/operation_runner.ts";
import { type HttpReply, JSON_TYPE, LINES_TYPE, LineStream, opHeader, sendReply } from "./exchange.ts";
import { failureBody, failureFor, HttpFailure, statusOf } from "./failure.ts";
import { JsonSink, type LineTarget } from "./json_sink.ts";

/** What is to be done, and how it is to be answered. */
export interface OperationExchange {
  readonly engine: Engine;
  readonly response: ServerResponse;
  readonly operation: Operation;
  readonly client: ClientSequence | null;
  /** How the client's connection is encrypted, if it is. */
  readonly encryption?: SessionEncryption | null;
  readonly readFrom: ReadFrom;
  /** The op that reads wait for. */
  readonly minOp?: number;
  /** The answer may lack the rows of shards that take too long. */
  readonly mayBePartial?: boolean;
  readonly isolation?: IsolationLevel | null;
  /** Answer with NDJSON. */
  readonly lines: boolean;
  readonly onInternalError: (error: unknown) => void;
}

/** Runs the operation and answers; returns the status. Raises what is to be answered as a failure. */
export async function answerOperation(exchange: OperationExchange): Promise<number> {
  const { engine, response } = exchange;
  const session = engine.openSession({
    settings: {
      application_name: "http",
      ...(exchange.mayBePartial === true && exchange.client === null ? { partial_on_timeout: "on" } : {}),
      ...(exchange.isolation ? { default_transaction_isolation: exchange.isolation } : {}),
    },
    encryption: exchange.encryption ?? null,
    ...sessionReadFrom(exchange.readFrom),
  });
  session.need.requestOp = exchange.minOp ?? 0;
  const onClose = (): void => {
    if (response.writableFinished) return;
    session.cancel(new DatabaseError(SQLSTATE.connectionException, "the connection was lost"));
  };
  response.on("close", onClose);
  try {
    return exchange.client === null
      ? await answerDirectly(exchange, session)
      : await answerOnce(exchange, session, exchange.client);
  } finally {
    response.removeListener("close", onClose);
    session.close();
  }
}

async function answerDirectly(exchange: OperationExchange, session: Session): Promise<number> {
  const { engine, response, operation } = exchange;
  // Of several statements only the last is answered, so that nothing may leave before it is known which that is.
  const stream = exchange.lines && !mayHoldSeveral(operation) ? new LineStream(response, session) : null;
  const answer = new Answer(session, exchange, stream);
  try {
    await answer.run();
    answer.requireNoOpenBlock();
  } catch (error) {
    if (stream === null || !stream.hasBegun) throw error;
    const failure = failureFor(error);
    if (!(error instanceof DatabaseError)) exchange.onInternalError(error);
    await stream.end(failureBody(failure.error), engine.lastOp);
    return 200;
  }
  const { body, op } = answer.finish();
  if (stream !== null && answer.isLines) await stream.end(body, op);
  else {
    const { seenOp } = session.need;
    if (op > engine.durableOp) await session.whenDurable(op);
    const contentType = answer.isLines ? LINES_TYPE : JSON_TYPE;
    sendReply(response, { status: 200, contentType, body, headers: opHeader(seenOp) });
  }
  return 200;
}

/** Header of a kept reply: two bytes of status, one of form. */
const KEPT_HEADER_BYTES = 3;

async function answerOnce(
  exchange: OperationExchange,
  session: Session,
  client: ClientSequence,
): Promise<number> {
  const { engine, operation } = exchange;
  const digest = createHash("sha256").update("http\0").update(encodeOperation(operation)).digest();
  const work = async (): Promise<Uint8Array> => {
    const answer = new Answer(session, exchange, null);
    await answer.run();
    return keptReply({ status: 200, isLines: answer.isLines, body: answer.finish().body });
  };
  const failed = (error: DatabaseError): Uint8Array =>
    keptReply({
      status: statusOf(error.code),
      isLines: false,
      body: new TextEncoder().encode(failureBody(error)),
    });
  let once: { readonly reply: Uint8Array; readonly durableOp: OpNumber };
  try {
    once = await session.once({ ...client, digest }, work, failed);
  } catch (error) {
    // The session refuses a number that is older than the last one before it runs anything.
    if (error instanceof DatabaseError && error.code === SQLSTATE.objectNotInPrerequisiteState) {
      throw new HttpFailure(409, error);
    }
    throw error;
  }
  if (once.durableOp > engine.durableOp) await session.whenDurable(once.durableOp);
  const reply = readKeptReply(once.reply);
  sendReply(exchange.response, { ...reply, headers: opHeader(once.durableOp) });
  return reply.status;
}

/** One run of an operation into a sink. */
class Answer {
  readonly #session: Session;
  readonly #operation: Operation;
  readonly #sink: JsonSink;
  readonly #wantsLines: boolean;
  #last: StatementOutcome | null = null;
  #op = 0;
  #affected = 0;

  /** `target` receives lines while the statement runs; null: everything is kept until the end. */
  constructor(session: Session, exchange: OperationExchange, target: LineTarget | null) {
    this.#session = session;
    this.#operation = exchange.operation;
    this.#wantsLines = exchange.lines;
    this.#sink = new JsonSink({
      textOptions: () => session.evaluation.textOptions,
      form: exchange.lines ? "lines" : "object",
      target,
    });
  }

  async run(): Promise<void> {
    const running = runOperation(this.#session, this.#operation, this.#sink, (outcome) => {
      if (outcome.kind === "empty" && this.#last !== null) return;
      this.#sink.endStatement();
      this.#last = outcome;
      this.#op = Math.max(this.#op, outcome.durableOp);
      this.#affected += outcome.rowCount ?? 0;
    });
    if (running instanceof Promise) await running;
  }

  /** Raises 25000 when a transaction block is still open: it is rolled back with the session. */
  requireNoOpenBlock(): void {
    if (this.#session.status === "idle") return;
    throw new DatabaseError(
      SQLSTATE.invalidTransactionState,
      "the request ended within a transaction block, which was rolled back",
      { hint: "End the request with COMMIT, or leave BEGIN away: its statements are one transaction." },
    );
  }

  /** Whether the answer consists of lines. */
  get isLines(): boolean {
    return this.#wantsLines && this.#sink.hasRows;
  }

  finish(): { readonly body: Uint8Array; readonly op: OpNumber } {
    const last = this.#last ?? this.#session.outcome("", null, "empty");
    const outcome = this.#operation.kind === "txn"
      ? { ...last, kind: "affected" as const, rowCount: this.#affected, insertedId: null }
      : last;
    return { body: this.#sink.finish(outcome), op: this.#op as OpNumber };
  }
}

/** Whether a text can hold more than one statement. */
function mayHoldSeveral(operation: Operation): boolean {
  return operation.kind === "sql" && operation.parameters === null && /;\s*\S/.test(operation.text);
}

function keptReply(reply: {
  readonly status: number;
  readonly isLines: boolean;
  readonly body: Uint8Array;
}): Uint8Array {
  const bytes = new Uint8Array(KEPT_HEADER_BYTES + reply.body.length);
  bytes[0] = reply.status & 0xff;
  bytes[1] = reply.status >> 8;
  bytes[2] = reply.isLines ? 1 : 0;
  bytes.set(reply.body, KEPT_HEADER_BYTES);
  return bytes;
}

function readKeptReply(bytes: Uint8Array): HttpReply {
  const status = (bytes[0] ?? 0) | (bytes[1] ?? 0) << 8;
  return {
    status,
    contentType: bytes[2] === 1 ? LINES_TYPE : JSON_TYPE,
    body: bytes.subarray(KEPT_HEADER_BYTES),
  };
}
