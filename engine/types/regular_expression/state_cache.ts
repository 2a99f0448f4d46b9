/**
 * An automaton whose states are kept once they have come up (a deterministic automaton built lazily; A. Aho,
 * R. Sethi and J. Ullman, Compilers, 1986, 3.7), so that a character takes a look into a table. It finds the place of
 * the match that {@link Automaton} finds, and no groups.
 *
 * A state is what would be followed before a character: instructions, those that began earlier apart from those that
 * began later. A place is where a match may begin until one is found; then only what began earlier may replace it.
 */
import { CharacterSet } from "./character_set.ts";
import { OPERATION, type Program } from "./program.ts";

/** The conditions that depend on no more than a kind of the characters at both sides. */
const SIMPLE_ASSERTIONS = new Set([
  ..."^$".split(""),
  ...["\\b", "\\B", "(?<!\\w)", "(?<=\\w)", "(?!\\w)", "(?=\\w)", "(?<![\\s\\S])", "(?![\\s\\S])"],
]);
/** The kinds that they tell apart. */
const ASSERTED_SETS = ["\\w", "[\\n\\r\\u2028\\u2029]"];
/** Larger programs have too large states. */
const MAX_INSTRUCTIONS = 2000;
/** Instructions and transitions that are kept for one expression. */
const MAX_KEPT = 1 << 16;
/** So many transitions may be built by one search, and one for so many characters beyond that. */
const FEW_BUILT = 4096;
const CHARACTERS_PER_BUILT = 16;
/** The kind of what is before the text and behind it. */
const OUTSIDE = 0;
const PAGE_SHIFT = 8;
const PAGE_SIZE = 1 << PAGE_SHIFT;

interface State {
  /** By the kind of the next character. */
  readonly transitions: (Transition | undefined)[];
  /** Instructions by where they began, the earliest first. */
  readonly groups: readonly (readonly number[])[];
  /** Whether a match may begin here. */
  readonly isSearching: boolean;
  /** Any match will do, wherever it began: all instructions are one group. */
  readonly isAny: boolean;
  /** The kind of the character before, where that matters. */
  readonly before: number;
}

interface Transition {
  /** The group of the state that has matched before the character; their number: what begins here; negative: none. */
  readonly match: number;
  readonly next: State;
  /** For each group of the next state the group that it comes from, negative: it begins here. Null: the same ones. */
  readonly origins: readonly number[] | null;
}

/** A kind of characters, which the program does not tell apart. */
interface Kind {
  readonly sample: string;
  readonly isIn: readonly boolean[];
}

/** See the file's head. */
export class StateCache {
  /** The match that {@link find} has found; with `anyMatch` only the end of some match. */
  start = 0;
  end = 0;
  readonly #program: Program;
  readonly #prefersShort: boolean;
  readonly #sets: readonly CharacterSet[];
  readonly #assertions: readonly RegExp[];
  readonly #kinds: Kind[] = [{ sample: "", isIn: [] }];
  readonly #kindByKey = new Map<string, number>();
  /** Kinds of characters by code point; 0: not known yet. */
  readonly #firstKinds = new Int32Array(PAGE_SIZE);
  readonly #pages = new Map<number, Int32Array>();
  readonly #states = new Map<string, State>();
  /** The states in which a search begins, by `isAny` and the kind before. */
  #firstStates: State[] = [];
  #kept = 0;
  #built = 0;
  /** Where the groups of the present state began. */
  readonly #starts: number[] = [];
  readonly #claimed: Int32Array;
  #step = 0;
  #isUnsuitable: boolean;

  /** `sets`, `assertions`: those of the program, as its automaton has them. */
  constructor(
    program: Program,
    { sets, assertions, flags, prefersShort }: {
      readonly sets: readonly CharacterSet[];
      readonly assertions: readonly RegExp[];
      readonly flags: string;
      readonly prefersShort: boolean;
    },
  ) {
    this.#program = program;
    this.#assertions = assertions;
    this.#prefersShort = prefersShort;
    this.#sets = assertions.length === 0
      ? sets
      : [...sets, ...ASSERTED_SETS.map((source) => new CharacterSet(source, flags))];
    this.#claimed = new Int32Array(program.operations.length);
    this.#isUnsuitable = program.operations.length > MAX_INSTRUCTIONS ||
      !program.assertions.every((source) => SIMPLE_ASSERTIONS.has(source));
  }

  /**
   * Searches from a place on; whether there is a match, or null when states would come up too often to be kept. With
   * `anyMatch` it ends with the first match that it sees.
   */
  find(text: string, from: number, anyMatch: boolean): boolean | null {
    if (this.#isUnsuitable) return null;
    const starts = this.#starts, firstKinds = this.#firstKinds, { length } = text;
    let state = this.#firstState(anyMatch, this.#kindBefore(text, from));
    let isFound = false;
    this.#built = 0;
    for (let place = from;;) {
      let kind = OUTSIDE, width = 1;
      if (place < length) {
        const unit = text.charCodeAt(place);
        if (unit < PAGE_SIZE) kind = firstKinds[unit] as number;
        else if (unit >= 0xd800 && unit < 0xdc00) {
          const code = text.codePointAt(place) as number;
          width = code > 0xffff ? 2 : 1;
          kind = this.#kindOf(code);
        } else kind = this.#kindOf(unit);
        if (kind === OUTSIDE) kind = this.#kindOf(unit);
      }
      let transition = state.transitions[kind];
      if (transition === undefined) {
        if (++this.#built > FEW_BUILT + (place - from) / CHARACTERS_PER_BUILT) {
          this.#isUnsuitable = true;
          this.#forget();
          return null;
        }
        transition = this.#build(state, kind);
      }
      const { match, origins } = transition;
      if (match >= 0) {
        isFound = true;
        this.end = place;
        if (anyMatch) return true;
        this.start = match < state.groups.length ? starts[match] as number : place;
      }
      if (place >= length) return isFound;
      if (origins !== null) {
        for (let group = 0; group < origins.length; group++) {
          const origin = origins[group] as number;
          starts[group] = origin < 0 ? place : starts[origin] as number;
        }
      }
      state = transition.next;
      if (!state.isSearching && state.groups.length === 0) return isFound;
      place += width;
    }
  }

  #build(state: State, kind: number): Transition {
    const { operations, first } = this.#program;
    const { isIn } = this.#kinds[kind] as Kind;
    const begun = state.groups.length;
    const groups: (readonly number[])[] = [], origins: number[] = [];
    let match = -1;
    this.#step++;
    for (let group = 0; group < (state.isSearching ? begun + 1 : begun) && match < 0; group++) {
      const taken: number[] = [];
      for (const instruction of this.#reached(state.groups[group] ?? [0], state.before, kind)) {
        if (operations[instruction] === OPERATION.match) match = group;
        else if (isIn[first[instruction] as number] === true) taken.push(instruction + 1);
      }
      if (taken.length === 0 || (match >= 0 && this.#prefersShort)) continue;
      groups.push(taken.sort((left, right) => left - right));
      origins.push(group < begun ? group : -1);
    }
    const { isAny } = state;
    const isSame = isAny || origins.every((origin, group) => origin === group);
    if (this.#kept > MAX_KEPT) this.#forget();
    const next = this.#state({
      isAny,
      groups: isAny && groups.length > 1 ? [groups.flat().sort((left, right) => left - right)] : groups,
      isSearching: state.isSearching && match < 0,
      before: this.#assertions.length === 0 ? OUTSIDE : kind,
    });
    const transition = { match, next, origins: isSame ? null : origins };
    state.transitions[kind] = transition;
    this.#kept++;
    return transition;
  }

  /** The instructions that take a character or match, of those that can be reached without one for the first time. */
  #reached(from: readonly number[], before: number, after: number): number[] {
    const { operations, first, second } = this.#program;
    const reached: number[] = [], pending = [...from];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (this.#claimed[at] === this.#step) continue;
      this.#claimed[at] = this.#step;
      switch (operations[at]) {
        case OPERATION.split:
          pending.push(first[at] as number, second[at] as number);
          break;
        case OPERATION.jump:
          pending.push(first[at] as number);
          break;
        case OPERATION.save:
        case OPERATION.forget:
          pending.push(at + 1);
          break;
        case OPERATION.assertion: {
          const assertion = this.#assertions[first[at] as number] as RegExp;
          const { sample } = this.#kinds[before] as Kind;
          assertion.lastIndex = sample.length;
          if (assertion.test(sample + (this.#kinds[after] as Kind).sample)) pending.push(at + 1);
          break;
        }
        default:
          reached.push(at);
      }
    }
    return reached;
  }

  #firstState(isAny: boolean, before: number): State {
    return this.#firstStates[before * 2 + Number(isAny)] ??= this.#state({
      isAny,
      groups: [],
      isSearching: true,
      before,
    });
  }

  #state(wanted: Omit<State, "transitions">): State {
    const { isAny, isSearching, before, groups } = wanted;
    const key = `${isAny ? "a" : ""}${isSearching ? "s" : "e"}${before};${groups.join(";")}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      this.#states.set(key, state = { ...wanted, transitions: [] });
      this.#kept += 1 + groups.reduce((sum, group) => sum + group.length, 0);
    }
    return state;
  }

  #forget(): void {
    this.#states.clear();
    this.#firstStates = [];
    this.#kept = 0;
  }

  #kindBefore(text: string, place: number): number {
    if (place === 0 || this.#assertions.length === 0) return OUTSIDE;
    const unit = text.charCodeAt(place - 1);
    const isLow = unit >= 0xdc00 && unit < 0xe000 && place > 1;
    return this.#kindOf(isLow ? text.codePointAt(place - 2) as number : unit);
  }

  #kindOf(code: number): number {
    let page: Int32Array = this.#firstKinds;
    if (code >= PAGE_SIZE) {
      const found = this.#pages.get(code >> PAGE_SHIFT);
      page = found ?? new Int32Array(PAGE_SIZE);
      if (found === undefined) this.#pages.set(code >> PAGE_SHIFT, page);
    }
    const at = code & (PAGE_SIZE - 1);
    if (page[at] === OUTSIDE) page[at] = this.#newKind(code);
    return page[at] as number;
  }

  #newKind(code: number): number {
    const isIn = this.#sets.map((set) => set.has(code));
    const key = isIn.map(Number).join("");
    let kind = this.#kindByKey.get(key);
    if (kind === undefined) {
      this.#kindByKey.set(key, kind = this.#kinds.push({ sample: String.fromCodePoint(code), isIn }) - 1);
    }
    return kind;
  }
}
