/** Work of the runtime that is done in morsels of some ten microseconds, so that no statement holds the process. */

import { assertDefined } from "../../base/assert.ts";

/** Work of the runtime that is done in morsels of some ten microseconds, so that no statement holds the process. */
export interface Work {
  /** Works through one morsel. true: done. */
  advance(): boolean;
}

/** Work written as a generator function that yields between its morsels; `result` is what it returns. */
export class GeneratorWork<T> implements Work {
  readonly #steps: Generator<void, T, void>;
  #result: { readonly value: T } | null = null;

  constructor(steps: Generator<void, T, void>) {
    this.#steps = steps;
  }

  advance(): boolean {
    const { done, value } = this.#steps.next();
    if (done !== true) return false;
    this.#result = { value };
    return true;
  }

  /** What came out; {@link advance} has answered true. */
  get result(): T {
    return assertDefined(this.#result, "the result of finished work").value;
  }
}

/** The morsels of a work, for a generator function that has others besides. */
export function* allOf(work: Work): Generator<void, void, void> {
  while (!work.advance()) yield;
}
