/**
 * The code that notes the keys of the rows that a divided join keeps, and asks rows of the other side for them before
 * these are put aside: see {@link KeptFilters}.
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
  readonly #isAsked: readonly boolean[];
  readonly #key = {};

  /** `other`: the side whose rows end without a partner. */
  constructor(
    compilation: Compilation,
    other: { readonly plan: Plan; readonly keys: readonly Expression[] },
    others: readonly Expression[],
  ) {
    this.slot = compilation.newSlot();
    const { plan, keys } = other;
    this.#isAsked = offerFilters(compilation, plan, { keys, others, slot: this.slot, isDivided: true });
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

  /** Emits that a row of the other side ends whose key is NULL. */
  test(code: Emitter, { isNull }: Value): void {
    if (isNull !== null) code.emit(`if (${isNull}) ${code.skip}`);
  }

  /** Emits that it ends when no kept row has the hash of its keys. */
  testHash(code: Emitter, hash: string): void {
    // The scan has asked for the key itself.
    if (this.#isAsked.every((isAsked) => isAsked)) return;
    const filters = this.#names(code);
    const { words, mask } = code.once(this.#key, () => ({
      words: code.define("words", `${filters}.hashes.words`),
      mask: code.define("mask", `${filters}.hashes.mask`),
    }));
    code.emit(`if ((${words}[(${hash} & ${mask}) >>> 5] & (1 << ${hash})) === 0) ${code.skip}`);
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
