/**
 * Every state that the model can be in, breadth first, so that a violation is found by the fewest actions.
 *
 * Visited states are kept as 52 bits of a hash: of ten million states, two share one with a probability of 1 in 90.
 */
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
  readonly #parents: number[] = [-1];
  readonly #actions: number[] = [-1];
  readonly #names: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** Numbers a state. */
  add(parent: number, action: string): number {
    let index = this.#indexes.get(action);
    if (index === undefined) {
      index = this.#names.push(action) - 1;
      this.#indexes.set(action, index);
    }
    this.#actions.push(index);
    return this.#parents.push(parent) - 1;
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

function hashOf(text: string): number {
  let [a, b] = [0x9e37_79b9, 0x85eb_ca6b];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x0100_0193);
    b = Math.imul(b ^ code, 0x27d4_eb2f) + (a >>> 15);
  }
  a = Math.imul(a ^ (a >>> 16), 0xc2b2_ae35);
  b = Math.imul(b ^ (b >>> 15), 0x165667b1);
  return ((a ^ (a >>> 13)) >>> 6) * 2 ** 26 + ((b ^ (b >>> 16)) >>> 6);
}

/** Explores up to so many states. */
export function explore<State>(model: Model<State>, maxStates = Infinity): Exploration {
  const trail = new Trail();
  const visited = new Set<number>([hashOf(model.keyOf(model.first))]);
  let level: { readonly state: State; readonly number: number }[] = [{ state: model.first, number: 0 }];
  for (let depth = 0;; depth++) {
    const next: typeof level = [];
    for (const found of level) {
      for (const { name, state } of model.steps(found.state)) {
        const hash = hashOf(model.keyOf(state));
        if (visited.has(hash)) continue;
        visited.add(hash);
        const number = trail.add(found.number, name);
        const states = visited.size;
        const what = model.violation(state);
        const violation = what === null ? null : { what, actions: trail.to(number) };
        if (violation !== null || states >= maxStates) {
          return { states, depth: depth + 1, violation, isComplete: false };
        }
        next.push({ state, number });
      }
    }
    if (next.length === 0) return { states: visited.size, depth, violation: null, isComplete: true };
    level = next;
  }
}
