/**
 * The tables of the automaton, unpacked from `grammar.generated.ts` when they are first needed (about a millisecond).
 *
 * An action is 0 for none, `state + 1` for a shift, `-(rule + 1)` for a reduction and {@link ACCEPT}. Row after row,
 * one for each state.
 */
import {
  GOTO_ROWS,
  MAKERS,
  REDUCE_ROWS,
  RULES,
  SHIFT_ROWS,
  STATES,
  TERMINAL_SETS,
} from "./grammar.generated.ts";
import { TERMINALS } from "./token.ts";

/** The action that ends a declaration. */
export const ACCEPT = -32768;

/** One rule as the parser needs it. */
export interface Rule {
  readonly name: string;
  /** Index of its name, for gotos. */
  readonly nameNumber: number;
  /** Names of rules, and terminals behind an apostrophe. */
  readonly symbols: readonly string[];
  readonly maker: string | ((parts: never) => unknown);
}

/** Rules and tables. */
export interface Tables {
  readonly rules: readonly Rule[];
  readonly terminalCount: number;
  readonly nameCount: number;
  readonly stateCount: number;
  /** `[state * terminalCount + terminal]`. */
  readonly actions: Int16Array;
  /** `[state * nameCount + nameNumber]`: the state; 0 where there is none. */
  readonly gotos: Int16Array;
}

let unpacked: Tables | null = null;

/** The tables of the grammar. */
export function tables(): Tables {
  unpacked ??= unpack();
  return unpacked;
}

function unpack(): Tables {
  const rules = unpackRules();
  const terminalCount = TERMINALS.length;
  const nameCount = Math.max(...rules.map((rule) => rule.nameNumber)) + 1;
  const sets = numberRows(TERMINAL_SETS);
  const shifts = numberRows(SHIFT_ROWS);
  const reductions = numberRows(REDUCE_ROWS);
  const jumps = numberRows(GOTO_ROWS);
  const states = numberRows(STATES);
  const actions = new Int16Array(states.length * terminalCount);
  const gotos = new Int16Array(states.length * nameCount);
  states.forEach(([shiftRow = 0, reduceRow = 0, gotoRow = 0], state) => {
    const row = state * terminalCount;
    forPairs(shifts[shiftRow], (terminal, target) => actions[row + terminal] = target + 1);
    forPairs(reductions[reduceRow], (rule, set) => {
      for (const terminal of sets[set] ?? []) actions[row + terminal] = rule < 0 ? ACCEPT : -(rule + 1);
    });
    forPairs(jumps[gotoRow], (name, target) => gotos[state * nameCount + name] = target);
  });
  return { rules, terminalCount, nameCount, stateCount: states.length, actions, gotos };
}

function unpackRules(): Rule[] {
  const names = new Map<string, number>();
  return RULES.trim().split("\n").map((line) => {
    const [maker = "", name = "", , ...symbols] = line.split(" ");
    const nameNumber = names.get(name) ?? names.size;
    names.set(name, nameNumber);
    return { name, nameNumber, symbols, maker: MAKERS[Number(maker)] ?? "parts" };
  });
}

function numberRows(text: string): number[][] {
  return text.split(";").map((line) =>
    line === "" ? [] : line.split(" ").map((word) => word === "-" ? -1 : parseInt(word, 36))
  );
}

function forPairs(row: readonly number[] | undefined, visit: (first: number, second: number) => void): void {
  for (let index = 0; index + 1 < (row?.length ?? 0); index += 2) {
    visit(row?.[index] ?? 0, row?.[index + 1] ?? 0);
  }
}
