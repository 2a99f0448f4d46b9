/**
 * Recordings: a line of JSON for each request, `{"request": "<the line as it came>", "response": ["<line>", …]}`, in
 * the order of the answers.
 *
 * Where a recording holds more than one session, the lines of all but the first carry its number, `"session": 1`.
 * Whether a request was canceled is decided by the time at which the cancel came in, so it is part of the recording,
 * and replayed.
 */
import * as z from "zod";
import { CommandError } from "../../commands/command_error.ts";
import { AgentSession } from "./session.ts";
import type { AgentEnvironment } from "./environment.ts";

const ENTRY = z.looseObject({
  request: z.string(),
  response: z.array(z.string()),
  session: z.int().min(0).optional(),
});

/** One request and its answer. */
export interface RecordedRequest {
  readonly request: string;
  readonly response: readonly string[];
  /** Which session it belongs to, from 0. */
  readonly session: number;
}

/** A line of a recording, with its line break. */
export function recordingLine({ request, response, session }: RecordedRequest): string {
  return `${JSON.stringify({ request, response, ...(session === 0 ? {} : { session }) })}\n`;
}

/** Reads a recording; refuses what is none. */
export function parseRecording(text: string): RecordedRequest[] {
  return text.split("\n").flatMap((line, index): RecordedRequest[] => {
    if (line.trim() === "") return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new CommandError(`Cannot read the recording: line ${index + 1} is not JSON`);
    }
    const { data } = ENTRY.safeParse(value);
    if (data !== undefined) return [{ ...data, session: data.session ?? 0 }];
    throw new CommandError(
      `Cannot read the recording: line ${index + 1} is not of the form {"request": text, "response": [text]}`,
    );
  });
}

/** A request whose answer is another now. */
export interface Drift {
  /** Which request, from 1. */
  readonly number: number;
  readonly request: string;
  readonly recorded: readonly string[];
  readonly now: readonly string[];
}

/** Asks the requests again, each session anew, and gives those whose answers differ in a byte. */
export async function replay(
  recorded: readonly RecordedRequest[],
  environment: AgentEnvironment,
): Promise<Drift[]> {
  const sessions = new Map<number, AgentSession>();
  const drifts: Drift[] = [];
  for (const [index, { request, response, session: number }] of recorded.entries()) {
    const known = sessions.get(number);
    // A session that ended was followed by another one.
    const session = known === undefined || known.hasEnded ? new AgentSession(environment) : known;
    sessions.set(number, session);
    const answer = await session.submit(request, { isCanceled: isCancellation(response) });
    const now = answer?.lines ?? [];
    if (now.length !== response.length || now.some((line, at) => line !== response[at])) {
      drifts.push({ number: index + 1, request, recorded: response, now });
    }
  }
  return drifts;
}

/** Whether an answer says that its request was canceled, or that it canceled one. */
function isCancellation(response: readonly string[]): boolean {
  return response.some((line) => {
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value !== "object" || value === null) return false;
      return "code" in value && value.code === "canceled" ||
        "canceled" in value && value.canceled === true;
    } catch {
      return false;
    }
  });
}
