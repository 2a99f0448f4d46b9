/**
 * A well-behaved client that asks all the time, on a thread of its own: what it waits for is the server, not the
 * attack that keeps its own thread busy. It is told the port to begin and null to end, and says once how it went.
 */
import { message, typesOf } from "../../gateways/pg/testing/wire.ts";
import { RawClient } from "../pg/support/raw_client.ts";

/** What it says at the end. */
export interface Testimony {
  readonly answers: number;
  readonly slowestMilliseconds: number;
  /** What went wrong; it has ended by itself then. */
  readonly error: string | null;
}

const BETWEEN_MILLISECONDS = 5;
let isOver = false;

async function askAllTheTime(pgPort: number): Promise<Testimony> {
  let answers = 0, slowestMilliseconds = 0, error: string | null = null;
  try {
    using client = await RawClient.start(pgPort);
    // Once at least: a short attack may be over before the thread has begun.
    do {
      const startedAt = performance.now();
      await client.send(message("Q", "SELECT 6 * 7"));
      const types = typesOf(await client.until("Z"));
      if (types !== "TDCZ") throw new Error(`the witness was answered with ${types}`);
      slowestMilliseconds = Math.max(slowestMilliseconds, Math.round(performance.now() - startedAt));
      answers++;
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MILLISECONDS));
    } while (!isOver);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return { answers, slowestMilliseconds, error };
}

/** What a worker sees of itself; the types of the project are those of the main thread. */
const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<number | null>) => void;
  postMessage(testimony: Testimony): void;
};
worker.onmessage = async ({ data }) => {
  if (data === null) isOver = true;
  else worker.postMessage(await askAllTheTime(data));
};
