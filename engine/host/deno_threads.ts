/**
 * Threads of the real machine: another program of the engine with a heap of its own. It is handed one thing when it
 * starts; what both say to each other afterwards goes through memory that is part of that.
 */
import * as os from "node:os";

/** How far a thread that gives way stands back: of a processor that others want as well a tenth is left for it. */
const GIVES_WAY = 10, LAST = 19;

/** A thread, as the one that started it sees it. */
export interface Thread {
  /** An error in the thread that nobody caught. */
  onError: (message: string) => void;
  /** Ends it at once. */
  stop(): void;
}

/** Starts the module as a thread, and hands it what it works with. */
export function startThread(module: string, name: string, handed: unknown): Thread {
  const worker = new Worker(module, { type: "module", name });
  const thread: Thread = { onError: () => {}, stop: () => worker.terminate() };
  worker.onerror = (event) => {
    event.preventDefault();
    thread.onError(event.message);
  };
  worker.onmessage = ({ data }) => thread.onError(String(data));
  worker.postMessage(handed);
  return thread;
}

interface WorkerScope {
  onmessage: ((event: MessageEvent) => void) | null;
  addEventListener(
    kind: "error" | "unhandledrejection",
    listener: (
      event: { preventDefault(): void; readonly error?: unknown; readonly reason?: unknown },
    ) => void,
  ): void;
  postMessage(message: string): void;
  close(): void;
}

/** What the thread that this code runs in has been handed. */
export function handedToThread<Handed>(): Promise<Handed> {
  const scope = self as unknown as WorkerScope;
  for (const kind of ["error", "unhandledrejection"] as const) {
    scope.addEventListener(kind, (event) => {
      // The runtime would print what the one that started the thread is going to say.
      event.preventDefault();
      scope.postMessage(String(event.error ?? event.reason));
      scope.close();
    });
  }
  return new Promise((resolve) => {
    // It stays, for it is what keeps the thread alive.
    scope.onmessage = ({ data }) => resolve(data as Handed);
  });
}

/**
 * From now on the thread that calls gets what others of this machine leave of a processor that they want as well. Only
 * Linux has priorities of threads.
 */
export function giveWay(): void {
  if (Deno.build.os === "linux") os.setPriority(0, Math.min(LAST, os.getPriority(0) + GIVES_WAY));
}
