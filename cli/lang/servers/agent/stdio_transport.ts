/** The agent on standard input and output: a session of lines, or one request. */
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import { failureAnswer } from "../../../../lang/servers/agent/answer.ts";
import { AgentSession } from "../../../../lang/servers/agent/session.ts";
import type { AgentEnvironment } from "../../../../lang/servers/agent/environment.ts";
import { ByteBudget, lineOf, readLines } from "./line_reader.ts";
import { problemOf, serveLines } from "./line_service.ts";
import type { Recorder } from "./recorder.ts";

/** Where requests come from and answers go to. */
export interface StandardStreams {
  readonly input: ReadableStream<Uint8Array>;
  write(text: string): Promise<void>;
}

/** Serves one session and gives the exit code. */
export async function serveStdio(
  environment: AgentEnvironment,
  { input, write }: StandardStreams,
  recorder: Recorder | null,
): Promise<number> {
  const session = new AgentSession(environment);
  const reader = input.getReader();
  const budget = new ByteBudget(2 * LANG_LIMITS.maximumRequestBytes);
  await serveLines(session, {
    lines: readLines(reader, { maximumBytes: LANG_LIMITS.maximumRequestBytes, budget }),
    write,
    stopReading: () => void reader.cancel().catch(() => {}),
  }, recorder?.session() ?? null);
  return session.exitCode;
}

/** Carries out the one request that the whole input is, and gives the exit code of its op. */
export async function serveSingleShot(
  environment: AgentEnvironment,
  { input, write }: StandardStreams,
  recorder: Recorder | null,
): Promise<number> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of input) {
    length += part.length;
    if (length > LANG_LIMITS.maximumRequestBytes) break;
    parts.push(part);
  }
  const session = new AgentSession(environment);
  const line = length > LANG_LIMITS.maximumRequestBytes ? { kind: "too_large" } as const : lineOf(parts);
  const failure = line === null ? null : problemOf(line);
  const request = line?.kind === "line" ? line.text : "";
  const answer = await (failure === null ? session.submit(request) : session.submitRead(failure)) ??
    failureAnswer({ code: "internal", message: "Cannot answer the request" });
  recorder?.session().record(request, answer.lines);
  await write(`${answer.lines.join("\n")}\n`);
  return answer.exitCode;
}
