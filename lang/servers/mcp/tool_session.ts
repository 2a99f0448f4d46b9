/**
 * Calls of tools as requests to sessions of the agent, in this process.
 *
 * A session answers one request after the other, so programs and tests, which may take their time, have a session of
 * their own: they never keep a look-up waiting. Texts that are only tried have one as well, so that `fix` is about
 * the files as the last `check` found them. What is known of the package is shared by all.
 */
import type { Answer } from "../agent/answer.ts";
import { type AgentRequest, REQUESTS } from "../agent/requests.ts";
import { AgentSession } from "../agent/session.ts";
import type { AgentEnvironment } from "../agent/environment.ts";
import { type ToolAnswer, toolAnswer } from "./tool_answer.ts";
import { argumentsOf, type ToolOp } from "./tools.ts";

/** What may take as long as a program takes. */
const SLOW: ReadonlySet<ToolOp> = new Set(["test", "run", "inspect"]);

/** Calls tools. */
export class ToolSession {
  readonly #quick: AgentSession;
  readonly #slow: AgentSession;
  readonly #trial: AgentSession;
  #lastId = 0;

  constructor(environment: AgentEnvironment) {
    this.#quick = new AgentSession(environment);
    this.#slow = new AgentSession(environment);
    this.#trial = new AgentSession(environment);
  }

  /** Calls a tool with arguments that fit its validator; a signal stops it. */
  async call(op: ToolOp, values: unknown, signal: AbortSignal): Promise<ToolAnswer> {
    const id = ++this.#lastId;
    const request: AgentRequest = REQUESTS[op].parse({ ...argumentsOf(op).parse(values), op, id });
    const session = SLOW.has(op) ? this.#slow : "files" in request ? this.#trial : this.#quick;
    const stop = () => {
      session.submitRead({
        kind: "request",
        request: { op: "cancel", request: id },
        id: undefined,
        ignored: [],
      })
        .catch(() => {});
    };
    const answered = session.submitRead({ kind: "request", request, id, ignored: [] });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    try {
      return toolAnswer(op, linesOf(await answered));
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Stops all that runs and waits. */
  close(): void {
    this.#quick.abandon();
    this.#slow.abandon();
    this.#trial.abandon();
  }
}

function linesOf(answer: Answer | null): readonly string[] {
  if (answer === null) throw new Error("Cannot call the tool: the session has ended");
  return answer.lines;
}
