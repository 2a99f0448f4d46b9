/**
 * Runs tests in threads: one that is started while the package is still being checked, and more when that one has
 * worked for a while.
 *
 * Threads take the next test from a number that they share. A test that takes longer than it may is stopped with its
 * thread, and another thread goes on with the rest. What comes out does not depend on how many there are.
 */
import {
  type JobOutcome,
  type ReportedArgument,
  type TestLimits,
  type TestRunner,
  type TestSuite,
  timeoutTrap,
  trappedOutcome,
} from "../../../lang/testing/test_suite.ts";
import { CLI_LIMITS } from "../../shared/limits.ts";
import { jobWord, sentWord, SHARED_WORDS_PER_THREAD, STOPPED, tryWord } from "./messages.ts";
import { failureOf, Thread } from "./thread.ts";

/** After how long one thread alone is joined by more: starting them costs about as much as it saves before. */
const ALONE_MILLISECONDS = 200;
/** How long the arguments of a try that did not end are waited for. */
const ARGUMENTS_MILLISECONDS = 1_000;

/** Threads that run tests. */
export class TestThreads implements TestRunner, Disposable {
  readonly #maximum: number;
  readonly #aloneMilliseconds: number;
  #spare: Thread | null = new Thread();

  constructor(options: { readonly threads?: number; readonly aloneMilliseconds?: number } = {}) {
    this.#maximum = options.threads ??
      Math.min(CLI_LIMITS.testThreads, Math.max(1, navigator.hardwareConcurrency));
    this.#aloneMilliseconds = options.aloneMilliseconds ?? ALONE_MILLISECONDS;
  }

  /** @inheritdoc */
  async run(suite: TestSuite, limits: TestLimits): Promise<readonly JobOutcome[]> {
    limits.signal?.throwIfAborted();
    if (suite.jobs.length === 0) return [];
    const first = this.#spare ?? new Thread();
    this.#spare = null;
    const run = new SuiteRun(suite, limits, {
      maximum: this.#maximum,
      aloneMilliseconds: this.#aloneMilliseconds,
    });
    const { outcomes, spare } = await run.finish(first);
    this.#spare = spare;
    return outcomes;
  }

  /** Ends the thread that waits. */
  [Symbol.dispose](): void {
    this.#spare?.stop();
    this.#spare = null;
  }
}

/** A thread at work. */
interface Busy {
  readonly thread: Thread;
  /** Which one it is in the memory that all share. */
  readonly number: number;
  /** The test that it was last seen with, from 1, and since when. */
  job: number;
  since: number;
  /** Outcomes that have come from it. */
  heard: number;
}

interface SuiteEnd {
  readonly outcomes: readonly JobOutcome[];
  /** A thread that can run something else. */
  readonly spare: Thread | null;
}

/** One run of a suite. */
class SuiteRun {
  readonly #suite: TestSuite;
  readonly #limits: TestLimits;
  readonly #maximum: number;
  readonly #aloneMilliseconds: number;
  readonly #shared: Int32Array;
  readonly #outcomes: (JobOutcome | null)[];
  /** Of properties that failed and are being made small. */
  readonly #found = new Map<number, JobOutcome>();
  readonly #busy = new Set<Busy>();
  readonly #ended = Promise.withResolvers<SuiteEnd>();
  readonly #started = performance.now();
  #threads = 0;
  #missing: number;
  #spare: Thread | null = null;
  /** Stopped properties whose arguments are being looked for. */
  readonly #asked = new Set<Thread>();

  constructor(suite: TestSuite, limits: TestLimits, options: {
    readonly maximum: number;
    readonly aloneMilliseconds: number;
  }) {
    this.#suite = suite;
    this.#limits = limits;
    this.#maximum = options.maximum;
    this.#aloneMilliseconds = options.aloneMilliseconds;
    this.#missing = suite.jobs.length;
    this.#outcomes = suite.jobs.map(() => null);
    // Every test may stop one thread.
    const words = 1 + SHARED_WORDS_PER_THREAD * (this.#maximum + suite.jobs.length);
    this.#shared = new Int32Array(new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT));
  }

  async finish(first: Thread): Promise<SuiteEnd> {
    const { signal, timeoutMilliseconds } = this.#limits;
    const abort = () => this.#fail(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const pause = Math.min(25, Math.max(2, (timeoutMilliseconds ?? 500) / 20));
    const timer = setInterval(() => this.#look(), pause);
    this.#start(first);
    try {
      return await this.#ended.promise;
    } finally {
      clearInterval(timer);
      signal?.removeEventListener("abort", abort);
      for (const { thread } of this.#busy) thread.stop();
      for (const thread of this.#asked) thread.stop();
    }
  }

  #fail(reason: unknown): void {
    this.#spare?.stop();
    this.#ended.reject(reason);
  }

  #start(thread: Thread): void {
    const busy: Busy = { thread, number: this.#threads++, job: 0, since: performance.now(), heard: 0 };
    this.#busy.add(busy);
    thread.onMessage = (message) => {
      switch (message.kind) {
        case "outcome":
          busy.heard++;
          if (message.isFinal) this.#setOutcome(message.job, message.outcome);
          else this.#found.set(message.job, message.outcome);
          return;
        case "done":
          this.#busy.delete(busy);
          if (this.#spare === null) this.#spare = thread;
          else thread.stop();
          return this.#endWhenDone();
        case "failed":
          return this.#fail(failureOf(message));
        default:
      }
    };
    thread.ask({ kind: "suite", suite: this.#suite, thread: busy.number, shared: this.#shared });
  }

  #setOutcome(job: number, outcome: JobOutcome): void {
    if (this.#outcomes[job] !== null) return;
    this.#outcomes[job] = outcome;
    this.#missing--;
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (this.#missing > 0 || this.#busy.size > 0 && this.#spare === null) return;
    this.#ended.resolve({
      outcomes: this.#outcomes.flatMap((outcome) => outcome === null ? [] : [outcome]),
      spare: this.#spare,
    });
  }

  /** Looks what the threads do, stops what takes too long, and starts more. */
  #look(): void {
    const now = performance.now();
    const { timeoutMilliseconds } = this.#limits;
    for (const busy of this.#busy) {
      const job = Atomics.load(this.#shared, jobWord(busy.number));
      if (job !== busy.job) [busy.job, busy.since] = [job, now];
      if (job > 0 && timeoutMilliseconds !== null && now - busy.since >= timeoutMilliseconds) {
        this.#stop(busy, job - 1, timeoutMilliseconds);
      }
    }
    const left = this.#suite.jobs.length - Atomics.load(this.#shared, 0);
    const mayGrow = this.#busy.size > 0 && now - this.#started >= this.#aloneMilliseconds;
    for (let more = mayGrow ? Math.min(left, this.#maximum - this.#busy.size) : 0; more > 0; more--) {
      this.#start(new Thread());
    }
  }

  /** Ends a test, and goes on with another thread; not while outcomes are on their way, which would be lost. */
  #stop(busy: Busy, job: number, milliseconds: number): void {
    if (busy.heard < Atomics.load(this.#shared, sentWord(busy.number))) return;
    if (Atomics.compareExchange(this.#shared, jobWord(busy.number), job + 1, STOPPED) !== job + 1) return;
    this.#busy.delete(busy);
    busy.thread.stop();
    if (Atomics.load(this.#shared, 0) < this.#suite.jobs.length) {
      this.#start(this.#spare ?? new Thread());
      this.#spare = null;
    }
    // What was found before it took too long says more.
    const found = this.#found.get(job);
    if (found !== undefined) return this.#setOutcome(job, found);
    const trap = timeoutTrap(milliseconds);
    if (this.#suite.jobs[job]?.kind !== "property") return this.#setOutcome(job, trappedOutcome(trap));
    const attempt = Atomics.load(this.#shared, tryWord(busy.number));
    this.#askArguments(job, attempt, (counterexample) => {
      this.#setOutcome(job, trappedOutcome(trap, { counterexample, tries: attempt + 1 }));
    });
  }

  /** Has the arguments of a try told, which does not end. */
  #askArguments(job: number, attempt: number, then: (told: readonly ReportedArgument[]) => void): void {
    const thread = new Thread();
    this.#asked.add(thread);
    const told: ReportedArgument[] = [];
    const count = this.#suite.jobs[job]?.parameters.length ?? 0;
    const end = () => {
      clearTimeout(timer);
      this.#asked.delete(thread);
      thread.stop();
      then(told);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    thread.onMessage = (message) => {
      // The start of the thread is not the program's time.
      if (message.kind === "begun") return void (timer = setTimeout(end, ARGUMENTS_MILLISECONDS));
      if (message.kind === "argument" && told.push(message.argument) < count) return;
      end();
    };
    thread.ask({ kind: "arguments", suite: this.#suite, job, attempt });
  }
}
