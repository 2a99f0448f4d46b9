/**
 * Makes the tables of an LALR(1) parser from the rules of a grammar.
 *
 * States are sets of LR(0) items; lookaheads are spread over them until nothing changes (Aho, Sethi, Ullman,
 * "Compilers", 4.7; DeRemer and Pennello, "Efficient computation of LALR(1) look-ahead sets", TOPLAS 4(4), 1982, have
 * the theory). Sets of terminals are bits of a bigint. Runs when the grammar is generated, never when a program is
 * compiled. There are no rules of precedence: a conflict is an error in the grammar.
 */

/** A symbol of a rule: a terminal, or the name of other rules. */
export interface GrammarSymbol {
  readonly isTerminal: boolean;
  readonly name: string;
}

/** `name -> symbols`. */
export interface GrammarRule {
  readonly name: string;
  readonly symbols: readonly GrammarSymbol[];
}

/** What the parser does in a state at a terminal. */
export type Action = { readonly shift: number } | { readonly reduce: number } | "accept";

/** The tables, by state. */
export interface Automaton {
  readonly actions: readonly ReadonlyMap<string, Action>[];
  readonly gotos: readonly ReadonlyMap<string, number>[];
  /** Two things to do at once: a grammar without any is LALR(1). */
  readonly conflicts: readonly string[];
}

/** The terminal behind the last token. */
export const END = "$end";

interface Item {
  readonly rule: number;
  readonly dot: number;
}

interface State {
  readonly kernel: readonly Item[];
  readonly transitions: Map<string, number>;
  /** Lookaheads of the kernel's items. */
  readonly lookaheads: bigint[];
}

/** The automaton of the rules; the first rule's name is the start. */
export function lalrAutomaton(rules: readonly GrammarRule[]): Automaton {
  return new Generator(rules).automaton();
}

class Generator {
  readonly #rules: readonly GrammarRule[];
  readonly #byName = new Map<string, number[]>();
  readonly #bits = new Map<string, bigint>();
  readonly #nullable = new Set<string>();
  readonly #first = new Map<string, bigint>();
  readonly #states: State[] = [];
  readonly #stateByKernel = new Map<string, number>();

  constructor(rules: readonly GrammarRule[]) {
    const start = rules[0];
    if (start === undefined) throw new Error("Cannot make an automaton: the grammar is empty");
    this.#rules = [...rules, { name: "$start", symbols: [{ isTerminal: false, name: start.name }] }];
    this.#rules.forEach((rule, index) => {
      const list = this.#byName.get(rule.name);
      if (list === undefined) this.#byName.set(rule.name, [index]);
      else list.push(index);
    });
    this.#bit(END);
    for (const symbol of this.#rules.flatMap((rule) => rule.symbols)) {
      if (symbol.isTerminal) this.#bit(symbol.name);
      else if (!this.#byName.has(symbol.name)) {
        throw new Error(`Cannot make an automaton: ${symbol.name} has no rule`);
      }
    }
    this.#findFirstSets();
  }

  automaton(): Automaton {
    this.#findStates();
    this.#spreadLookaheads();
    const conflicts: string[] = [];
    const actions = this.#states.map((state, index) => this.#actionsOf(state, index, conflicts));
    const gotos = this.#states.map((state) =>
      new Map(
        [...state.transitions].filter(([symbol]) => this.#byName.has(symbol)).map((
          [symbol, target],
        ) => [symbol, target]),
      )
    );
    return { actions, gotos, conflicts };
  }

  #bit(terminal: string): bigint {
    let bit = this.#bits.get(terminal);
    if (bit === undefined) {
      bit = 1n << BigInt(this.#bits.size);
      this.#bits.set(terminal, bit);
    }
    return bit;
  }

  #findFirstSets(): void {
    for (let changed = true; changed;) {
      changed = false;
      for (const rule of this.#rules) {
        const { set, isNullable } = this.#firstOf(rule.symbols, 0);
        const before = this.#first.get(rule.name) ?? 0n;
        if ((before | set) !== before) {
          this.#first.set(rule.name, before | set);
          changed = true;
        }
        if (isNullable && !this.#nullable.has(rule.name)) {
          this.#nullable.add(rule.name);
          changed = true;
        }
      }
    }
  }

  /** Terminals that the symbols from an index on may begin with. */
  #firstOf(symbols: readonly GrammarSymbol[], from: number): { set: bigint; isNullable: boolean } {
    let set = 0n;
    for (let index = from; index < symbols.length; index++) {
      const symbol = symbols[index];
      if (symbol === undefined) break;
      if (symbol.isTerminal) return { set: set | this.#bit(symbol.name), isNullable: false };
      set |= this.#first.get(symbol.name) ?? 0n;
      if (!this.#nullable.has(symbol.name)) return { set, isNullable: false };
    }
    return { set, isNullable: true };
  }

  #symbolAt(item: Item): GrammarSymbol | undefined {
    return this.#rules[item.rule]?.symbols[item.dot];
  }

  #findStates(): void {
    this.#stateOf([{ rule: this.#rules.length - 1, dot: 0 }]);
    for (let index = 0; index < this.#states.length; index++) {
      const state = this.#states[index];
      if (state === undefined) break;
      const moved = new Map<string, Item[]>();
      for (const item of this.#closure(state.kernel)) {
        const symbol = this.#symbolAt(item);
        if (symbol === undefined) continue;
        const key = transitionKey(symbol);
        const list = moved.get(key);
        const next = { rule: item.rule, dot: item.dot + 1 };
        if (list === undefined) moved.set(key, [next]);
        else list.push(next);
      }
      for (const [key, kernel] of moved) state.transitions.set(key, this.#stateOf(kernel));
    }
  }

  #stateOf(kernel: Item[]): number {
    kernel.sort((a, b) => a.rule - b.rule || a.dot - b.dot);
    const key = kernel.map((item) => `${item.rule}.${item.dot}`).join(" ");
    let index = this.#stateByKernel.get(key);
    if (index === undefined) {
      index = this.#states.length;
      this.#stateByKernel.set(key, index);
      this.#states.push({ kernel, transitions: new Map(), lookaheads: kernel.map(() => 0n) });
    }
    return index;
  }

  #closure(kernel: readonly Item[]): Item[] {
    const items = [...kernel];
    const seen = new Set<string>();
    for (const item of items) {
      const symbol = this.#symbolAt(item);
      if (symbol === undefined || symbol.isTerminal || seen.has(symbol.name)) continue;
      seen.add(symbol.name);
      for (const rule of this.#byName.get(symbol.name) ?? []) items.push({ rule, dot: 0 });
    }
    return items;
  }

  /** Items of a state with their lookaheads; those of the kernel come first, in its order. */
  #closureWithLookaheads(state: State): { items: Item[]; sets: bigint[] } {
    const items = this.#closure(state.kernel);
    const sets = items.map((_, index) => state.lookaheads[index] ?? 0n);
    const positions = new Map<number, number>();
    items.forEach((item, index) => {
      if (index >= state.kernel.length) positions.set(item.rule, index);
    });
    const waiting = items.map((_, index) => index);
    while (waiting.length > 0) {
      const index = waiting.pop() ?? 0;
      const item = items[index];
      const symbol = item === undefined ? undefined : this.#symbolAt(item);
      if (item === undefined || symbol === undefined || symbol.isTerminal) continue;
      const { set, isNullable } = this.#firstOf(this.#rules[item.rule]?.symbols ?? [], item.dot + 1);
      const added = isNullable ? set | (sets[index] ?? 0n) : set;
      for (const rule of this.#byName.get(symbol.name) ?? []) {
        const target = positions.get(rule) ?? 0;
        const before = sets[target] ?? 0n;
        if ((before | added) === before) continue;
        sets[target] = before | added;
        waiting.push(target);
      }
    }
    return { items, sets };
  }

  #spreadLookaheads(): void {
    const first = this.#states[0];
    if (first !== undefined) first.lookaheads[0] = this.#bit(END);
    const waiting = new Set(this.#states.keys());
    for (const index of waiting) {
      waiting.delete(index);
      const state = this.#states[index];
      if (state === undefined) continue;
      const { items, sets } = this.#closureWithLookaheads(state);
      items.forEach((item, position) => {
        const symbol = this.#symbolAt(item);
        if (symbol === undefined) return;
        const targetIndex = state.transitions.get(transitionKey(symbol)) ?? 0;
        const target = this.#states[targetIndex];
        if (target === undefined) return;
        const place = target.kernel.findIndex((other) =>
          other.rule === item.rule && other.dot === item.dot + 1
        );
        const before = target.lookaheads[place] ?? 0n;
        const after = before | (sets[position] ?? 0n);
        if (after === before) return;
        target.lookaheads[place] = after;
        waiting.add(targetIndex);
      });
    }
  }

  #actionsOf(state: State, index: number, conflicts: string[]): Map<string, Action> {
    const actions = new Map<string, Action>();
    for (const [key, target] of state.transitions) {
      if (!this.#byName.has(key)) actions.set(key.slice(1), { shift: target });
    }
    const { items, sets } = this.#closureWithLookaheads(state);
    items.forEach((item, position) => {
      if (this.#symbolAt(item) !== undefined) return;
      const isStart = item.rule === this.#rules.length - 1;
      for (const [terminal, bit] of this.#bits) {
        if (((sets[position] ?? 0n) & bit) === 0n) continue;
        const before = actions.get(terminal);
        if (before !== undefined) {
          const other = before === "accept"
            ? "accepting"
            : "shift" in before
            ? `shifting it in ${this.#show(state.kernel)}`
            : this.#showRule(before.reduce);
          conflicts.push(`state ${index} at ${terminal}: ${this.#showRule(item.rule)} or ${other}`);
          continue;
        }
        actions.set(terminal, isStart ? "accept" : { reduce: item.rule });
      }
    });
    return actions;
  }

  #showRule(index: number): string {
    const rule = this.#rules[index];
    return `${rule?.name} -> ${rule?.symbols.map((symbol) => symbol.name).join(" ")}`;
  }

  #show(items: readonly Item[]): string {
    return items.map((item) => {
      const rule = this.#rules[item.rule];
      const names = rule?.symbols.map((symbol) => symbol.name) ?? [];
      return `${rule?.name} -> ${[...names.slice(0, item.dot), "•", ...names.slice(item.dot)].join(" ")}`;
    }).join("; ");
  }
}

/** Terminals and rules may share a name (`if`), so terminals are marked. */
function transitionKey(symbol: GrammarSymbol): string {
  return symbol.isTerminal ? `'${symbol.name}` : symbol.name;
}
