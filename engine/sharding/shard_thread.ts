/** Starts a shard in a thread of its own. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { startThread } from "../host/deno_threads.ts";
import { ShardPort } from "./shard_port.ts";
import { threadSource } from "./thread_source.ts";
import type { FromShardThread, ShardThreadOptions, ToShardThread } from "./shard_worker.ts";

/** Starts the thread; resolves when the shard is open, rejects with the reason why it cannot be opened. */
export function startShardThread(options: ShardThreadOptions, index: number): Promise<ShardPort> {
  const thread = startThread<ToShardThread, FromShardThread>(threadSource(), `shard ${index}`);
  return new Promise((resolve, reject) => {
    const port = new ShardPort((requests) => thread.post(requests));
    thread.onMessage = (message) => {
      if (message === "open") resolve(port);
      else port.receive(message);
    };
    thread.onError = (message) =>
      port.fail(new DatabaseError(SQLSTATE.internalError, `shard ${index} has ended: ${message}`));
    // Before it is open a failure means that it cannot be.
    void port.failed.then((error) => {
      thread.stop();
      reject(error);
    });
    thread.post(options);
  });
}
