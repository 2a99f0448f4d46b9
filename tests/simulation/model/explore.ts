/** Every state that a model can be in, breadth first, so that a violation is found by the fewest actions. */
import { StateSet } from "./state_set.ts";

/** An action and the state after it. */
export interface Step<State> {
  readonly name: string;
  readonly state: State;
}

/** What is explored. */
export interface Model<State> {
  readonly first: State;
  /** All states that one action leads to. */
  steps(state: State): readonly Step<State>[];
  /** The invariant that a state breaks; null when it breaks none. */
  violation(state: State): string | null;
  /** A text that two states share only if they are equal. */
  keyOf(state: State): string;
  /** The state of a text: with it, states that wait to be looked at are kept as texts. */
  stateOf?(key: string): State;
}

/** What an exploration found. */
export interface Exploration {
  readonly states: number;
  /** Actions from the first state to the farthest. */
  readonly depth: number;
  /** Null when no state breaks an invariant. */
  readonly violation: { readonly what: string; readonly actions: readonly string[] } | null;
  /** Whether all states were seen. */
  readonly isComplete: boolean;
}

/** How each state was found: by which action, from which other state. */
class Trail {
  #parents = new Int32Array(1 << 16);
  #actions = new Uint16Array(1 << 16);
  #count = 1;
  readonly #names: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** Numbers a state. */
  add(parent: number, action: string): number {
    let index = this.#indexes.get(action);
    if (index === undefined) {
      index = this.#names.push(action) - 1;
      this.#indexes.set(action, index);
    }
    if (this.#count === this.#parents.length) {
      const [parents, actions] = [this.#parents, this.#actions];
      this.#parents = new Int32Array(2 * parents.length);
      this.#actions = new Uint16Array(2 * parents.length);
      this.#parents.set(parents);
      this.#actions.set(actions);
    }
    this.#parents[this.#count] = parent;
    this.#actions[this.#count] = index;
    return this.#count++;
  }

  /** The actions that lead to a state. */
  to(state: number): string[] {
    const actions: string[] = [];
    for (let at = state; at > 0; at = this.#parents[at] ?? 0) {
      actions.push(this.#names[this.#actions[at] ?? 0] ?? "");
    }
    return actions.reverse();
  }
}

/** Explores up to so many states. */
export function explore<State>(model: Model<State>, maxStates = Infinity): Exploration {
  const trail = new Trail();
  const visited = new StateSet();
  const { stateOf } = model;
  const firstKey = model.keyOf(model.first);
  visited.add(firstKey);
  let level: Level<State> = { states: [stateOf === undefined ? model.first : firstKey], numbers: [0] };
  for (let depth = 0;; depth++) {
    const next: Level<State> = { states: [], numbers: [] };
    for (const [at, kept] of level.states.entries()) {
      const from = stateOf === undefined ? kept as State : stateOf(kept as string);
      for (const { name, state } of model.steps(from)) {
        const key = model.keyOf(state);
        if (!visited.add(key)) continue;
        const number = trail.add(level.numbers[at] ?? 0, name);
        const states = visited.size;
        const what = model.violation(state);
        const violation = what === null ? null : { what, actions: trail.to(number) };
        if (violation !== null || states >= maxStates) {
          return { states, depth: depth + 1, violation, isComplete: false };
        }
        next.states.push(stateOf === undefined ? state : key);
        next.numbers.push(number);
      }
    }
    if (next.states.length === 0) return { states: visited.size, depth, violation: null, isComplete: true };
    level = next;
  }
}

/** States at one distance, or their texts, and their numbers in the trail. */
interface Level<State> {
  readonly states: (State | string)[];
  readonly numbers: number[];
}
