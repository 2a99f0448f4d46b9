/**
 * What the agent needs of its environment, as ports: packages, and a runner of programs that does not keep the agent
 * waiting.
 */
import type { CostMeter } from "../../commands/cost_run.ts";
import type { CommandRunner } from "../../commands/run.ts";
import type { TestRunner } from "../../testing/test_suite.ts";
import type { AgentPackage } from "./agent_package.ts";
import type { ErrorCode } from "./lines.ts";

/** A request that cannot be carried out, while the session goes on. */
export class AgentFailure extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  /** That of the answer. */
  readonly exitCode: number;

  constructor(
    code: ErrorCode,
    message: string,
    { hint = null, exitCode = 2 }: { readonly hint?: string | null; readonly exitCode?: number } = {},
  ) {
    super(message);
    this.name = "AgentFailure";
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** What a request's `path` leads to. */
export interface OpenedPackage {
  readonly package: AgentPackage;
  /** The path as answers say it: `.`, or relative to the folder that the agent works in. */
  readonly path: string;
  /** The file that was named, relative to the package. */
  readonly file: string | null;
}

/**
 * The environment of a program that the agent runs. Nothing in it changes from one run to the next, so that an answer
 * can be given again.
 */
export interface ProgramEnvironment {
  /** Folder whose files it may read and write; null: none. */
  readonly folder: string | null;
  readonly stdin: string;
  /** What random values are made of. */
  readonly seed: number;
  /** Called with what it writes. */
  readonly onWritten: (stream: "stdout" | "stderr", bytes: Uint8Array) => void;
}

/** The agent's surroundings. */
export interface AgentEnvironment {
  readonly langVersion: string;
  readonly tests: TestRunner;
  /** Who measures what functions cost, elsewhere. */
  readonly meter: CostMeter;
  /** Who runs a program, elsewhere. */
  programsIn(environment: ProgramEnvironment): CommandRunner;
  /** The package that a path leads to, or the one that the agent works in. */
  open(path: string | undefined): OpenedPackage;
}
