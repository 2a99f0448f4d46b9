/**
 * What a call has: values of locals, and the places of those that are held `inout`.
 */
import type { Reference, Value } from "./value.ts";
import { UNIT_VALUE } from "./value.ts";

/** The locals of one call. */
export class Frame {
  readonly slots: Value[];
  readonly references: Reference[] = [];

  constructor(slotCount: number) {
    this.slots = new Array<Value>(slotCount).fill(UNIT_VALUE);
  }
}

/** An expression, ready to run. */
export type Code = (frame: Frame) => Value;

/** Ends a loop. */
export const BREAK = Symbol("break");
/** Ends one turn of a loop. */
export const CONTINUE = Symbol("continue");

/** How a statement ends: undefined when the next one follows, a value when the function returns it. */
export type Completion = undefined | typeof BREAK | typeof CONTINUE | Value;

/** A statement, ready to run. */
export type Step = (frame: Frame) => Completion;

/** Thrown where control leaves from within an expression. */
export class ControlSignal {
  readonly completion: Exclude<Completion, undefined>;

  constructor(completion: Exclude<Completion, undefined>) {
    this.completion = completion;
  }
}
