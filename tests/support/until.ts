/** Waiting for what a test cannot be told of: a fixed pause is too short on a busy machine. */
import type { Engine } from "../../engine/session/engine.ts";

/** Waits until the condition holds, a moment at a time. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Waits until a session runs a statement; it must be one that takes long. */
export function untilRunning(engine: Engine): Promise<void> {
  return until(() => [...engine.sessions].some((session) => session.isRunning));
}
