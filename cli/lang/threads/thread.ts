/** One thread that runs tests or a command, or measures. */
import { InternalError } from "../../../lang/diagnostics/internal_error.ts";
import type { ThreadMessage, ThreadRequest } from "./messages.ts";
import { threadSource } from "./thread_source.ts";

/** The error for what went wrong in a thread, which is no trap of the program. */
export function failureOf({ reason, trace }: ThreadMessage & { readonly kind: "failed" }): InternalError {
  const cause = new Error(reason);
  if (trace !== "") cause.stack = trace;
  return new InternalError("running", cause);
}

/** A thread; it can be stopped whatever it does. */
export class Thread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  /** Called with each message of the thread. */
  onMessage: (message: ThreadMessage) => void = () => {};

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#worker = new Worker(threadSource(), { type: "module", name: "lang" });
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.onMessage({ kind: "failed", reason: event.message, trace: "" });
    };
    this.#port = port1;
    this.#port.onmessage = ({ data }: MessageEvent<ThreadMessage>) => this.onMessage(data);
    this.#worker.postMessage(null, [port2]);
  }

  /** Asks it for something. */
  ask(request: ThreadRequest): void {
    this.#port.postMessage(request);
  }

  /** Ends it at once. */
  stop(): void {
    this.onMessage = () => {};
    this.#port.close();
    this.#worker.terminate();
  }
}
