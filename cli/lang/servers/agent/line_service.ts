/**
 * Lets a session answer the lines of a connection: standard input and output, a socket, the body of a batch.
 *
 * Reading goes on while a request is worked on, so that a `cancel` is seen, up to `CLI_LIMITS.agentWaitingRequests`
 * requests; answers go out whole, one after the other.
 */
import { setImmediate } from "node:timers";
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import { type Answer, failureAnswer } from "../../../../lang/servers/agent/answer.ts";
import { type ProtocolFailure } from "../../../../lang/servers/agent/request_reader.ts";
import type { AgentSession } from "../../../../lang/servers/agent/session.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import type { ReadLine } from "./line_reader.ts";
import type { SessionRecorder } from "./recorder.ts";

/** How long one connection may work before others get their turn. */
const TURN_MILLISECONDS = 20;

/** A connection. */
export interface LineConnection {
  readonly lines: AsyncIterable<ReadLine> | Iterable<ReadLine>;
  /** Takes an answer's lines, and is done when there is room for more. */
  write(text: string): Promise<void>;
  /** Ends reading at once: nobody wants what comes. */
  stopReading(): void;
}

/** Answers the lines until there are no more or the session ends. */
export async function serveLines(
  session: AgentSession,
  connection: LineConnection,
  recorder: SessionRecorder | null,
): Promise<void> {
  let written: Promise<void> = Promise.resolve();
  let isBroken = false;
  let failure: unknown = null;
  let begun = performance.now();
  const leave = (): void => {
    isBroken = true;
    session.abandon();
    connection.stopReading();
  };
  const send = async (request: string, answered: Promise<Answer | null>): Promise<void> => {
    try {
      const answer = await answered;
      if (answer === null || isBroken) return;
      recorder?.record(request, answer.lines);
      if (answer.end !== null) connection.stopReading();
      // Who cannot be written to any more is gone.
      await connection.write(`${answer.lines.join("\n")}\n`).catch(leave);
      if (performance.now() - begun < TURN_MILLISECONDS) return;
      await new Promise((resolve) => setImmediate(resolve));
      begun = performance.now();
    } catch (error) {
      failure = error;
      leave();
    }
  };
  for await (const line of connection.lines) {
    const problem = problemOf(line);
    const request = line.kind === "line" ? line.text : "";
    const answered = problem === null ? session.submit(request) : session.submitRead(problem);
    const before = written;
    written = before.then(() => send(request, answered));
    if (session.waiting >= CLI_LIMITS.agentWaitingRequests) await written;
    if (problem !== null || session.hasEnded || isBroken) break;
  }
  await written;
  if (failure !== null) throw failure;
}

/** What keeps a line from being read as a request. */
export function problemOf(line: ReadLine): ProtocolFailure | null {
  switch (line.kind) {
    case "line":
      return line.isUtf8 ? null : unread("bad_json", "Cannot read the request: it is not UTF-8");
    case "too_large":
      return unread(
        "too_large",
        `Cannot take the request: it is longer than ${LANG_LIMITS.maximumRequestBytes} bytes`,
      );
    case "busy":
      return unread("busy", "Cannot take the request: too much of other requests is being read");
  }
}

function unread(code: ProtocolFailure["code"], message: string): ProtocolFailure {
  return { kind: "failure", code, message, id: undefined };
}

/** The lines that tell of a failure outside of a session. */
export function failureLines(code: ProtocolFailure["code"], message: string): string {
  return `${failureAnswer({ code, message }).lines.join("\n")}\n`;
}
