/** The agent's surroundings in this process: packages on disk, programs and tests in threads. */
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import type {
  AgentEnvironment,
  OpenedPackage,
  ProgramEnvironment,
} from "../../../../lang/servers/agent/environment.ts";
import { AgentFailure } from "../../../../lang/servers/agent/environment.ts";
import type { CostMeter } from "../../../../lang/commands/cost_run.ts";
import type { CommandRunner } from "../../../../lang/commands/run.ts";
import type { PackageFiles } from "../../../../lang/package/package_files.ts";
import type { TestRunner } from "../../../../lang/testing/test_suite.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import { version } from "../../../shared/version.ts";
import { CommandThread } from "../../threads/command_thread.ts";
import { CostThread } from "../../threads/cost_thread.ts";
import { TestThreads } from "../../threads/test_threads.ts";
import { DryFiles } from "./dry_files.ts";
import { FolderPackages } from "./folder_packages.ts";

/**  An environment in a folder. */
export class FolderEnvironment implements AgentEnvironment, Disposable {
  readonly langVersion = version;
  readonly tests: TestRunner;
  readonly meter: CostMeter;
  readonly #packages: FolderPackages;
  readonly #isDry: boolean;
  readonly #turns = new Turns();
  #threads: TestThreads | null = null;

  /** Takes where the agent was started, and whether what is written is kept in memory. */
  constructor(start: string, options: { readonly isDry?: boolean } = {}) {
    this.#isDry = options.isDry ?? false;
    this.#packages = new FolderPackages(start, {
      wrap: (files: PackageFiles) => this.#isDry ? new DryFiles(files) : files,
    });
    this.tests = {
      run: (suite, limits) =>
        this.#turns.take(limits.signal, () => (this.#threads ??= new TestThreads()).run(suite, limits)),
    };
    const thread = new CostThread();
    this.meter = {
      measure: (run, signal) => this.#turns.take(signal, () => thread.measure(run, signal)),
    };
  }

  /** @inheritdoc */
  open(path: string | undefined): OpenedPackage {
    return this.#packages.open(path);
  }

  /** @inheritdoc */
  programsIn({ folder, stdin, seed, onWritten }: ProgramEnvironment): CommandRunner {
    const thread = new CommandThread({
      onWritten,
      hasInput: false,
      guest: {
        folder,
        stdin,
        seed,
        isDry: this.#isDry,
        maximumOutputBytes: LANG_LIMITS.maximumProgramOutputBytes,
      },
    });
    return {
      run: (module, options) => this.#turns.take(options.signal, () => thread.run(module, options)),
    };
  }

  /** Ends the threads that wait for work. */
  [Symbol.dispose](): void {
    this.#threads?.[Symbol.dispose]();
    this.#threads = null;
  }
}

/** Lets a few work at a time, the others in the order in which they came. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(begin);
    });
  }

  async take<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#running >= CLI_LIMITS.agentRuns) {
      if (this.#waiting.length >= CLI_LIMITS.agentWaitingRuns) {
        throw new AgentFailure("busy", `Cannot run it: ${CLI_LIMITS.agentWaitingRuns} others wait already`);
      }
      await this.#turn(signal);
    } else this.#running++;
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
