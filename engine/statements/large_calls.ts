/**
 * What other threads have computed for the running statement: values of calls on large values. A statement that meets
 * such a call is taken back, and meets the same values again when it runs anew.
 */
import { equalBytes } from "../base/bytes.ts";
import { LIMITS } from "../base/limits.ts";
import type { BoundCast, BoundFunction } from "../sql/functions/definition.ts";
import { sizeOf } from "../sql/functions/value_size.ts";
import type { SqlValue } from "../types/value.ts";

/** What came of a call. */
export type CallOutcome = { readonly value: SqlValue } | { readonly error: unknown };

interface Known {
  readonly called: BoundFunction | BoundCast;
  readonly args: readonly SqlValue[];
  readonly outcome: CallOutcome;
}

/** One per session; see the file's head. */
export class LargeCalls {
  readonly #known: Known[] = [];
  #size = 0;
  /** No other thread can compute them. */
  #isOff = false;

  /** Whether the statement computes all further ones by itself. */
  get isFull(): boolean {
    return this.#isOff || this.#known.length >= LIMITS.largeCalls || this.#size >= LIMITS.largeCallsSize;
  }

  /** What came of a call on these values; undefined: nothing has. */
  find(called: BoundFunction | BoundCast, args: readonly SqlValue[]): CallOutcome | undefined {
    return this.#known.find((known) =>
      known.called === called && known.args.length === args.length &&
      known.args.every((arg, index) => isSame(arg, args[index] ?? null))
    )?.outcome;
  }

  /** Keeps what came of a call; null: it must be computed by the statement, as all others. */
  keep(called: BoundFunction | BoundCast, args: readonly SqlValue[], outcome: CallOutcome | null): void {
    this.#isOff ||= outcome === null;
    if (outcome === null) return;
    this.#known.push({ called, args, outcome });
    for (const arg of args) this.#size += sizeOf(arg);
    if ("value" in outcome) this.#size += sizeOf(outcome.value);
  }

  /** The statement has ended. */
  clear(): void {
    this.#isOff = false;
    if (this.#known.length === 0) return;
    this.#known.length = this.#size = 0;
  }
}

/** Whether they are the same value, written alike. */
function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right);
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((each, index) => isSame(each, right[index]));
  }
  return left.constructor === right.constructor &&
    Object.entries(left).every(([name, each]) => isSame(each, (right as Record<string, unknown>)[name]));
}
