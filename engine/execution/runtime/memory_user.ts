/** What rows in memory and in files are charged to: an execution, or for EXPLAIN ANALYZE one operator of it. */
import type { ExecutionContext } from "./execution.ts";

/** See the file's head. */
export interface MemoryUser {
  readonly context: ExecutionContext;
  /** Half of the statement's memory is taken. */
  readonly isHalfFull: boolean;
  /** Accounts for memory; negative amounts give back. */
  charge(bytes: number): void;
  /** The same for parts of one value, which a statement may hold beyond its limit when it has written what it can. */
  chargeValue(bytes: number): void;
  /** Notes bytes that were written to a file. */
  wrote(bytes: number): void;
  /** Notes a run or a part of rows in files. */
  beganRun(): void;
  /** Notes that rows are written to files, or inputs are read, for the nth time as far as one row is concerned. */
  beganPass(pass: number): void;
}

/** What an operator has used; see `OperatorProfile`. */
export interface MemoryProfile {
  memoryBytes: number;
  spilledBytes: number;
  runs: number;
  passes: number;
}

/** An operator of an execution. */
export class OperatorMemory implements MemoryUser {
  readonly #execution: MemoryUser;
  readonly #profile: MemoryProfile;
  #bytes = 0;

  constructor(execution: MemoryUser, profile: MemoryProfile) {
    this.#execution = execution;
    this.#profile = profile;
  }

  get context(): ExecutionContext {
    return this.#execution.context;
  }

  get isHalfFull(): boolean {
    return this.#execution.isHalfFull;
  }

  charge(bytes: number): void {
    this.#note(bytes);
    this.#execution.charge(bytes);
  }

  chargeValue(bytes: number): void {
    this.#note(bytes);
    this.#execution.chargeValue(bytes);
  }

  #note(bytes: number): void {
    this.#bytes += bytes;
    this.#profile.memoryBytes = Math.max(this.#profile.memoryBytes, this.#bytes);
  }

  wrote(bytes: number): void {
    this.#profile.spilledBytes += bytes;
  }

  beganRun(): void {
    this.#profile.runs++;
  }

  beganPass(pass: number): void {
    this.#profile.passes = Math.max(this.#profile.passes, pass);
  }
}
