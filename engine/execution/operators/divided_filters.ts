/**
 * The code that notes the keys of the rows that a divided join keeps, and asks rows of the other side for them before
 * these are put aside: see {@link KeptFilters}. Those without a partner end, or are the join's and go on at once.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { KeptFilters } from "../runtime/kept_filters.ts";
import { slotObject } from "../runtime/slot_object.ts";
import { offerFilters } from "./runtime_filter.ts";

/** See the file's head. */
export class DividedFilters {
  readonly slot: number;
  /** Rows of the other side end without a partner. */
  readonly ends: boolean;
  readonly #isAsked: readonly boolean[];
  readonly #key = {};

  /** `other`: the side that is not kept. */
  constructor(
    compilation: Compilation,
    other: { readonly plan: Plan; readonly keys: readonly Expression[] },
    { others, ends }: { readonly others: readonly Expression[]; readonly ends: boolean },
  ) {
    this.slot = compilation.newSlot();
    this.ends = ends;
    const { plan, keys } = other;
    this.#isAsked = ends
      ? offerFilters(compilation, plan, { keys, others, slot: this.slot, isDivided: true })
      : keys.map(() => false);
  }

  /** Emits that the key of a kept row is noted. */
  note(code: Emitter, { code: value, isNull }: Value, position: number): void {
    if (this.#isAsked[position] !== true || isNull === "true") return;
    const present = isNull === null ? "" : `if (!(${isNull})) `;
    code.emit(`${present}${this.#names(code)}.filters[${position}].add(${value});`);
  }

  /** The same for the hash of all its keys. */
  noteHash(code: Emitter, hash: string): void {
    code.emit(`${this.#names(code)}.hashes.add(${hash});`);
  }

  /** Emits that a row of the other side ends whose key is NULL, where rows do. */
  test(code: Emitter, { isNull }: Value): void {
    if (this.ends && isNull !== null) code.emit(`if (${isNull}) ${code.skip}`);
  }

  /** Emits that it ends when no kept row has the hash of its keys, where rows do. */
  testHash(code: Emitter, hash: string): void {
    // The scan has asked for the key itself.
    if (this.ends && !this.#isAsked.every((isAsked) => isAsked)) {
      code.emit(`if (${this.misses(code, hash)}) ${code.skip}`);
    }
  }

  /** A test that no kept row has the hash of a row of the other side. */
  misses(code: Emitter, hash: string): string {
    const filters = this.#names(code);
    const { words, mask } = code.once(this.#key, () => ({
      words: code.define("words", `${filters}.hashes.words`),
      mask: code.define("mask", `${filters}.hashes.mask`),
    }));
    return `(${words}[(${hash} & ${mask}) >>> 5] & (1 << ${hash})) === 0`;
  }

  #names(code: Emitter): string {
    return code.once(this, () => {
      const isAsked = code.constant("isAsked", this.#isAsked);
      return code.define("kept", `${code.use("keptFilters", keptFilters)}(S, ${this.slot}, ${isAsked})`);
    });
  }
}

function keptFilters(state: ExecutionState, slot: number, isAsked: readonly boolean[]): KeptFilters {
  return slotObject(state, slot, KeptFilters, isAsked);
}
