/** Asks several shards for something of which parts come, until all have ended or nobody wants it any more. */
import type { ShardReply } from "./shard_messages.ts";
import type { ShardPort, Unnumbered } from "./shard_port.ts";

/** What is asked of one shard. */
export interface Question {
  readonly port: ShardPort;
  readonly request: Unnumbered;
}

/**
 * Answers how each has ended, in order; `part` takes what comes before, and ends all by throwing. Rejects when one
 * fails or it is aborted.
 */
export async function askAll(
  questions: readonly Question[],
  part: (value: ShardReply["value"], index: number) => void,
  abort: AbortSignal,
): Promise<ShardReply["value"][]> {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  let isOver = false;
  const asked = questions.map(({ port, request }, index) => ({
    port,
    ...port.call(request, (value) => {
      if (isOver) return;
      try {
        part(value, index);
      } catch (error) {
        broken.reject(error);
      }
    }),
  }));
  const onAbort = (): void => broken.reject(abort.reason);
  abort.addEventListener("abort", onAbort, { once: true });
  const all = asked.map(({ done }) => done);
  try {
    return await Promise.race([Promise.all(all), broken.promise]);
  } catch (error) {
    // The others work for nobody.
    isOver = true;
    for (const { port, call } of asked) port.tell({ kind: "stop", call });
    await Promise.allSettled(all);
    throw error;
  } finally {
    abort.removeEventListener("abort", onAbort);
  }
}
