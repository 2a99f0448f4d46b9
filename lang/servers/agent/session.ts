/**
 * One session: request lines in, answers out, in the order of the requests.
 *
 * A session remembers what its last check found, for `fix`. Requests are carried out one after the other; only
 * `cancel` takes effect when it comes in, and is answered in its turn. A protocol error or `halt` ends the session:
 * what came in behind is not answered.
 */
import { CommandError } from "../../commands/command_error.ts";
import { INTERNAL_CODES, InternalError, ProgramError } from "../../diagnostics/internal_error.ts";
import { type Answer, AnswerLines, failureAnswer } from "./answer.ts";
import { carryOut, type SessionMemory } from "./operations.ts";
import { type ProtocolFailure, type ReadRequest, readRequest } from "./request_reader.ts";
import type { RequestId } from "./requests.ts";
import { cancellation, RunningRequests } from "./running_requests.ts";
import { type AgentEnvironment, AgentFailure } from "./environment.ts";

/** How a request is taken. */
export interface SubmitOptions {
  /** Whether it was canceled, or did cancel something, when it was recorded. */
  readonly isCanceled?: boolean;
}

/** One session. */
export class AgentSession {
  readonly #environment: AgentEnvironment;
  readonly #running: RunningRequests;
  readonly #memory: SessionMemory = { last: null };
  readonly #turns = new Set<AbortController>();
  #tail: Promise<unknown> = Promise.resolve();
  #hasEnded = false;
  #exitCode = 0;

  constructor(environment: AgentEnvironment, options: { readonly running?: RunningRequests } = {}) {
    this.#environment = environment;
    this.#running = options.running ?? new RunningRequests();
  }

  /** Whether nothing more is answered. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Requests that wait for their answers. */
  get waiting(): number {
    return this.#turns.size;
  }

  /** 0: all requests succeeded; 1: one did not; 2: a protocol error. */
  get exitCode(): number {
    return this.#exitCode;
  }

  /** Takes a line; gives its answer, null when the session has ended before it. */
  submit(line: string, options: SubmitOptions = {}): Promise<Answer | null> {
    return this.submitRead(readRequest(line), options);
  }

  /** Takes a request that was read before. */
  submitRead(
    read: ReadRequest | ProtocolFailure,
    { isCanceled = false }: SubmitOptions = {},
  ): Promise<Answer | null> {
    const turn = new AbortController();
    this.#turns.add(turn);
    if (isCanceled) turn.abort(cancellation());
    const release = read.kind === "request" && read.request.op !== "cancel" && read.id !== undefined
      ? this.#running.add(read.id, turn)
      : null;
    const wasCanceled = read.kind === "request" && read.request.op === "cancel"
      ? this.#running.cancel(canceled(read.request)) || isCanceled
      : false;
    const answered = this.#tail.then(async () => {
      if (this.#hasEnded) return null;
      const answer = await this.#answer(read, turn.signal, wasCanceled);
      this.#hasEnded = answer.end !== null;
      this.#exitCode = Math.max(this.#exitCode, answer.end === "failure" ? 2 : answer.exitCode === 0 ? 0 : 1);
      return answer;
    }).finally(() => {
      this.#turns.delete(turn);
      release?.();
    });
    this.#tail = answered.catch(() => {});
    return answered;
  }

  /** Stops what runs and what waits: nobody waits for the answers any more. */
  abandon(): void {
    this.#hasEnded = true;
    for (const turn of this.#turns) turn.abort(cancellation());
  }

  async #answer(
    read: ReadRequest | ProtocolFailure,
    signal: AbortSignal,
    wasCanceled: boolean,
  ): Promise<Answer> {
    if (read.kind === "failure") return failureAnswer(read);
    const { request, id, ignored } = read;
    const answer = new AnswerLines(id, ignored);
    try {
      if (request.op === "cancel") {
        answer.result("cancel", { ok: true }, { canceled: wasCanceled });
        return answer.done(0);
      }
      signal.throwIfAborted();
      const exitCode = await carryOut(request, {
        environment: this.#environment,
        memory: this.#memory,
        signal,
        answer,
      });
      // Who was told that it is canceled is not answered as if it were not.
      signal.throwIfAborted();
      return answer.done(exitCode, request.op === "halt" ? "halt" : null);
    } catch (error) {
      return failed(error, new AnswerLines(id, ignored));
    }
  }
}

/** The request that a `cancel` is about. */
function canceled(
  request: { readonly request?: RequestId | undefined; readonly id?: RequestId | undefined },
) {
  return request.request ?? request.id;
}

/** The answer to a request that could not be carried out. */
function failed(error: unknown, answer: AnswerLines): Answer {
  if (error instanceof AgentFailure) {
    answer.error(error.code, error.message, error.hint);
    return answer.done(error.exitCode);
  }
  if (error instanceof CommandError) {
    answer.error("command", error.message, error.hint);
    return answer.done(2);
  }
  if (error instanceof ProgramError) {
    answer.error("command", error.message, `\`lang explain ${error.code}\` says more.`);
    return answer.done(1);
  }
  // What was thrown may hold paths of this machine, so it is not reported.
  const code = error instanceof InternalError ? error.code : INTERNAL_CODES.other;
  answer.error(
    "internal",
    `Cannot carry out the request: ${code}, a bug in lang; please report it`,
    `\`lang explain ${code}\` says what to send.`,
  );
  return answer.done(1);
}
