/** Runs commands in a thread of their own, where they can be stopped by a limit of time or a signal. */
import type { CommandEnd } from "../../../lang/commands/run_module.ts";
import type { CommandRunner, RunLimits } from "../../../lang/commands/run.ts";
import type { RunnableModule } from "../../../lang/host/wasm_program.ts";
import { timeoutTrap } from "../../../lang/testing/test_suite.ts";
import type { GuestEnvironment } from "./guest_host.ts";
import { failureOf, Thread } from "./thread.ts";

/** Called with what a command writes. */
export type OnWritten = (stream: "stdout" | "stderr", bytes: Uint8Array) => void;

/** Runs commands, each in a new thread. */
export class CommandThread implements CommandRunner {
  readonly #onWritten: OnWritten | null;
  readonly #hasInput: boolean;
  readonly #guest: GuestEnvironment | null;

  /**
   * Without `onWritten`, commands write to this process's output; without an environment of their own, they have
   * this process's.
   */
  constructor(
    options: {
      readonly onWritten?: OnWritten;
      readonly hasInput: boolean;
      readonly guest?: GuestEnvironment;
    },
  ) {
    this.#onWritten = options.onWritten ?? null;
    this.#hasInput = options.hasInput;
    this.#guest = options.guest ?? null;
  }

  /** @inheritdoc */
  async run(
    module: RunnableModule,
    { args, gas = null, timeoutMilliseconds = null, signal }: RunLimits & {
      readonly args: readonly string[];
    },
  ): Promise<CommandEnd> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>();
    const thread = new Thread();
    const timers: ReturnType<typeof setTimeout>[] = [];
    thread.onMessage = (message) => {
      switch (message.kind) {
        case "written":
          return this.#onWritten?.(message.stream, message.bytes);
        case "begun":
          // The start of the thread is not the program's time.
          if (timeoutMilliseconds !== null) {
            const end: CommandEnd = { exitCode: 1, trap: timeoutTrap(timeoutMilliseconds, "program") };
            timers.push(setTimeout(() => resolve(end), timeoutMilliseconds));
          }
          return;
        case "ended":
          return resolve(message.end);
        case "failed":
          return reject(failureOf(message));
        default:
      }
    };
    thread.ask({
      kind: "command",
      module,
      args,
      gas,
      isCaptured: this.#onWritten !== null,
      hasInput: this.#hasInput,
      guest: this.#guest,
    });
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await promise;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      thread.stop();
    }
  }
}
