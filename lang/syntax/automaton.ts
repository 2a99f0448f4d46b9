/**
 * Runs the LALR(1) automaton over the tokens of one declaration.
 *
 * What is built is a matter of the {@link Builders}: the syntax tree, or the formatter's tree of tokens. Without
 * default reductions a wrong token is never shifted, so the place of an error is exact. Limit: values nested deeper
 * than `LANG_LIMITS.maximumNestingDepth` are an error at the token that made them so, since whatever walks over trees
 * calls itself.
 */
import { LANG_LIMITS } from "../limits.ts";
import type { Declaration } from "./ast.ts";
import { ACCEPT, type Rule, type Tables, tables } from "./lalr_tables.ts";
import { TERMINALS, type Token } from "./token.ts";

/** Ways to build that need no call. */
const FIRST = 0;
const NOTHING = 1;
const PUSH = 2;
const PARTS = 3;
const CALL = 4;

/** What the rules build. */
export interface Builders {
  readonly kinds: Uint8Array;
  readonly functions: readonly ((parts: unknown[]) => unknown)[];
}

/** How a run ended. */
export type Outcome =
  | { readonly kind: "done"; readonly value: unknown }
  /** The index of the token that does not fit, `to` at the end. */
  | { readonly kind: "error"; readonly index: number; readonly isTooDeep: boolean };

const kindsByMaker: Readonly<Record<string, number>> = {
  id: FIRST,
  nuller: NOTHING,
  arrpush: PUSH,
  parts: PARTS,
};

/** The builders of another tree: `make` gives the function of a rule, or null to take its only part. */
export function buildersOf(make: (rule: Rule) => ((parts: unknown[]) => unknown) | string): Builders {
  const made = tables().rules.map(make);
  return {
    kinds: Uint8Array.from(made, (maker) => typeof maker === "string" ? kindsByMaker[maker] ?? CALL : CALL),
    functions: made.map((maker) => typeof maker === "string" ? list : maker),
  };
}

function list(parts: unknown[]): unknown {
  return parts;
}

let treeBuilders: Builders | null = null;

/** Builds the syntax tree. */
export function syntaxBuilders(): Builders {
  // The tables know the makers only as functions of some parts; that the grammar gives each its own is what the tests
  // of trees show.
  treeBuilders ??= buildersOf((rule) => rule.maker as ((parts: unknown[]) => unknown) | string);
  return treeBuilders;
}

/**
 * The declaration that {@link syntaxBuilders} have built. The one place where what the automaton carries gets its
 * type: that each rule builds what the rules around it take is shown by the tests of trees, on every form of the
 * language.
 */
export function builtDeclaration(outcome: Outcome): Declaration | null {
  return outcome.kind === "done" ? outcome.value as Declaration : null;
}

/** Parses the tokens from one index up to another. */
export function run(tokens: readonly Token[], from: number, to: number, builders: Builders): Outcome {
  const table = tables();
  const { actions, gotos, terminalCount, nameCount } = table;
  const { kinds, functions } = builders;
  const { lengths, names } = shapes(table);
  const states: number[] = [0];
  const values: unknown[] = [];
  const depths: number[] = [];
  let top = 0;
  let state = 0;
  let index = from;
  let terminal = index < to ? tokens[index]?.terminal ?? 0 : 0;
  for (;;) {
    const action = actions[state * terminalCount + terminal] ?? 0;
    if (action > 0) {
      values[top] = tokens[index];
      depths[top] = 0;
      state = action - 1;
      states[++top] = state;
      index++;
      terminal = index < to ? tokens[index]?.terminal ?? 0 : 0;
      continue;
    }
    if (action === 0) return { kind: "error", index, isTooDeep: false };
    if (action === ACCEPT) return { kind: "done", value: values[0] };
    const rule = -action - 1;
    const length = lengths[rule] ?? 0;
    const kind = kinds[rule] ?? CALL;
    top -= length;
    if (kind === FIRST) {
      // The value stays where it is.
    } else if (kind === PUSH) {
      const items = values[top];
      if (Array.isArray(items)) items.push(values[top + 1]);
      if ((depths[top + 1] ?? 0) > (depths[top] ?? 0)) depths[top] = depths[top + 1] ?? 0;
    } else if (kind === NOTHING) {
      values[top] = null;
      depths[top] = 0;
    } else {
      const parts = new Array<unknown>(length);
      let depth = 0;
      for (let part = 0; part < length; part++) {
        parts[part] = values[top + part];
        const inner = depths[top + part] ?? 0;
        if (inner > depth) depth = inner;
      }
      if (kind === CALL) {
        depth++;
        if (depth > LANG_LIMITS.maximumNestingDepth) return { kind: "error", index, isTooDeep: true };
        values[top] = functions[rule]?.(parts);
      } else {
        values[top] = parts;
      }
      depths[top] = depth;
    }
    state = gotos[(states[top] ?? 0) * nameCount + (names[rule] ?? 0)] ?? 0;
    states[++top] = state;
  }
}

let shapesOfRules: { lengths: Uint8Array; names: Uint16Array } | null = null;

function shapes(table: Tables): { lengths: Uint8Array; names: Uint16Array } {
  shapesOfRules ??= {
    lengths: Uint8Array.from(table.rules, (rule) => rule.symbols.length),
    names: Uint16Array.from(table.rules, (rule) => rule.nameNumber),
  };
  return shapesOfRules;
}

/** The states after the tokens up to an index, before any of them is reduced for the token there. */
export function statesBefore(tokens: readonly Token[], from: number, index: number): number[] {
  const stack = [0];
  for (let at = from; at < index; at++) {
    if (!advance(stack, tokens[at]?.terminal ?? 0)) break;
  }
  return stack;
}

/**
 * Shifts a terminal onto a stack of states, reducing before it; false, and the stack no longer of use, where it does
 * not fit.
 */
export function advance(stack: number[], terminal: number): boolean {
  const table = tables();
  const { lengths, names } = shapes(table);
  for (;;) {
    const action = table.actions[(stack[stack.length - 1] ?? 0) * table.terminalCount + terminal] ?? 0;
    if (action === 0) return false;
    if (action === ACCEPT) return true;
    if (action > 0) {
      stack.push(action - 1);
      return true;
    }
    const rule = -action - 1;
    stack.length -= lengths[rule] ?? 0;
    const below = stack[stack.length - 1] ?? 0;
    stack.push(table.gotos[below * table.nameCount + (names[rule] ?? 0)] ?? 0);
  }
}

/** Terminals that fit next. */
export function expectedAfter(stack: readonly number[]): number[] {
  const expected: number[] = [];
  for (let terminal = 0; terminal < TERMINALS.length; terminal++) {
    if (advance([...stack], terminal)) expected.push(terminal);
  }
  return expected;
}
