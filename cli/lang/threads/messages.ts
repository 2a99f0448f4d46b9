/** What is said between the command's thread and those that run programs and tests. */
import type { CostRun, MeasuredCost } from "../../../lang/commands/cost_run.ts";
import type { CommandEnd } from "../../../lang/commands/run_module.ts";
import type { RunnableModule } from "../../../lang/host/wasm_program.ts";
import type { GuestEnvironment } from "./guest_host.ts";
import type { JobOutcome, ReportedArgument, TestSuite } from "../../../lang/testing/test_suite.ts";

/**
 * Words of the memory that all threads of a suite share: the number of the next test, then for each thread what it
 * does.
 */
export const SHARED_WORDS_PER_THREAD = 3;

/** In the place of a test's number: the thread was stopped in it, and is to take no other. */
export const STOPPED = -1;

/** Index of the word that says which test a thread runs, from 1; 0 when it runs none. */
export function jobWord(thread: number): number {
  return 1 + thread * SHARED_WORDS_PER_THREAD;
}

/** Index of the word that says which try of a property it is, from 0. */
export function tryWord(thread: number): number {
  return jobWord(thread) + 1;
}

/** Index of the word that says how many outcomes a thread has sent. */
export function sentWord(thread: number): number {
  return jobWord(thread) + 2;
}

/** What a thread is asked to do. */
export type ThreadRequest =
  /** Runs tests until none is left. */
  | {
    readonly kind: "suite";
    readonly suite: TestSuite;
    readonly thread: number;
    readonly shared: Int32Array;
  }
  /** Tells the arguments of one try of a property, and then tries it. */
  | { readonly kind: "arguments"; readonly suite: TestSuite; readonly job: number; readonly attempt: number }
  | {
    readonly kind: "command";
    readonly module: RunnableModule;
    readonly args: readonly string[];
    readonly gas: number | null;
    /** Whether what it writes comes back in messages. */
    readonly isCaptured: boolean;
    /** Whether it may read this process's input. */
    readonly hasInput: boolean;
    /** The environment of a program that is not this process's own; null for one that is. */
    readonly guest: GuestEnvironment | null;
  }
  /** Measures what functions cost, until the word that is shared is not 0 any more. */
  | { readonly kind: "cost"; readonly run: CostRun; readonly stop: Int32Array };

/** What a thread says. */
export type ThreadMessage =
  | { readonly kind: "measured"; readonly measured: MeasuredCost }
  | {
    readonly kind: "outcome";
    readonly job: number;
    readonly outcome: JobOutcome;
    readonly isFinal: boolean;
  }
  | { readonly kind: "argument"; readonly argument: ReportedArgument }
  | { readonly kind: "written"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** The command or the try begins. */
  | { readonly kind: "begun" }
  | { readonly kind: "ended"; readonly end: CommandEnd }
  /** The suite is done. */
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string; readonly trace: string };
