/**
 * The code that notes the keys of the rows that a divided join keeps, and asks rows of the other side for them before
 * these are put aside: see {@link KeptFilters}. Those without a partner end, or go on at once where the join gives them
 * out.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { KeptFilters } from "../runtime/kept_filters.ts";
import { slotObject } from "../runtime/slot_object.ts";
import { INTEGERS, missesFilter, nameFilter, offerFilters } from "./runtime_filter.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

/** See the file's head. */
export class DividedFilters {
  readonly slot: number;
  /** Rows of the other side end without a partner. */
  readonly ends: boolean;
  /** Rows of the other side end with a partner, which the filter of the only key may know for certain. */
  readonly #endsFound: boolean;
  /** By key, whether it has a filter. */
  readonly #isNoted: readonly boolean[];
  readonly #key = {};

  constructor(compilation: Compilation, plan: HashJoin) {
    this.slot = compilation.newSlot();
    this.ends = endsOthers(plan);
    const { left, right, leftKeys, rightKeys } = plan;
    const [side, keys, others] = plan.keepsLeft === true
      ? [right, rightKeys, leftKeys]
      : [left, leftKeys, rightKeys];
    this.#endsFound = knowsPartners(plan);
    this.#isNoted = this.ends
      ? offerFilters(compilation, side, { keys, others, slot: this.slot, isDivided: true })
      : keys.map(() => this.#endsFound);
  }

  /** Whether all rows that go on have no partner, for those that have one have ended: no kept row is needed. */
  isExact(state: ExecutionState): boolean {
    return this.#endsFound && keptFilters(state, this.slot, this.#isNoted).filters[0]?.isExact === true;
  }

  /** Emits that the key of a kept row is noted. */
  note(code: Emitter, { code: value, isNull }: Value, position: number): void {
    if (this.#isNoted[position] !== true || isNull === "true") return;
    const present = isNull === null ? "" : `if (!(${isNull})) `;
    code.emit(`${present}${this.#names(code)}.filters[${position}].add(${value});`);
  }

  /** The same for the hash of all its keys. */
  noteHash(code: Emitter, hash: string): void {
    code.emit(`${this.#names(code)}.hashes.add(${hash});`);
  }

  /** Emits that a row of the other side ends whose key tells that it does: NULL has no partner. */
  test(code: Emitter, { code: value, isNull, plain }: Value): void {
    if (this.ends && isNull !== null) code.emit(`if (${isNull}) ${code.skip}`);
    if (!this.#endsFound || isNull === "true") return;
    const { isExact, names } = code.once(this.#isNoted, () => {
      const filter = code.define("filter", `${this.#names(code)}.filters[0]`);
      return { isExact: code.define("isExact", `${filter}.isExact`), names: nameFilter(code, filter) };
    });
    const present = isNull === null ? "" : ` && !(${isNull})`;
    const known = plain === true ? "" : ` && typeof ${value} === "number"`;
    code.emit(`if (${isExact}${present}${known} && !(${missesFilter(value, names)})) ${code.skip}`);
  }

  /** Emits that it ends when no kept row has the hash of its keys, where rows do. */
  testHash(code: Emitter, hash: string): void {
    // The scan has asked for the key itself.
    if (this.ends && !this.#isNoted.every((isNoted) => isNoted)) {
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
      const isNoted = code.constant("isNoted", this.#isNoted);
      return code.define("kept", `${code.use("keptFilters", keptFilters)}(S, ${this.slot}, ${isNoted})`);
    });
  }
}

/** Whether a filter of the only key may know which rows of the other side, that end so, have a partner. */
export function knowsPartners(plan: HashJoin): boolean {
  const { join, residual, leftKeys, rightKeys } = plan;
  return !endsOthers(plan) && join === "anti" && residual === null && leftKeys.length === 1 &&
    [...leftKeys, ...rightKeys].every(({ type }) => INTEGERS.has(type.kind));
}

/** Whether rows of the side that is not kept end without a partner. */
export function endsOthers({ join, keepsLeft }: HashJoin): boolean {
  return keepsLeft === true || join === "inner" || join === "semi" || join === "right";
}

function keptFilters(state: ExecutionState, slot: number, isNoted: readonly boolean[]): KeptFilters {
  return slotObject(state, slot, KeptFilters, isNoted);
}
