/**
 * Chooses how an expression is matched: by V8, which is fast, where that surely finds the same match in bounded time;
 * else by the automaton, which takes time in proportion to the text. Back references and look-around with repetitions
 * inside are matched by trying, in a bounded number of steps.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import { Automaton } from "./automaton.ts";
import { BacktrackingMatcher } from "./backtracking_matcher.ts";
import { type BacktrackingCost, backtrackingCost, mayPreferShorter } from "./backtracking_cost.ts";
import type { Matcher } from "./matcher.ts";
import { compileProgram } from "./program.ts";
import { type Node, type ParsedSource, parseSource } from "./syntax.ts";

/** Steps that V8 may need for a search at worst; about a tenth of a second. */
const MAX_BACKTRACKING_STEPS = 2e7;
/** The same where steps of `gas` are counted and the ways multiply, and how many make one such step. */
const COUNTED_BACKTRACKING_STEPS = 250_000;
const BACKTRACKING_STEPS_PER_STEP = 128;
const FEW_BACKTRACKING_STEPS = 512;
/** Ways to match at one place of an expression that needs as many steps as the text has characters. */
const LINEAR_WAYS = 16;

/** A matcher for a translated expression that V8 has accepted as `native`. */
export function chooseMatcher(native: RegExp): Matcher {
  requireCompilable(native);
  const parsed = parseSource(native.source);
  return parsed.isRegular
    ? new ChoosingMatcher(native, parsed)
    : new BacktrackingMatcher(compileProgram(parsed), native.flags.replace("g", ""));
}

/** V8 compiles an expression when it is first used, and only then finds it too large. */
function requireCompilable(native: RegExp): void {
  try {
    native.test("");
  } catch {
    throw new DatabaseError(
      SQLSTATE.invalidRegularExpression,
      "invalid regular expression: regular expression is too complex",
    );
  }
}

class ChoosingMatcher implements Matcher {
  readonly #native: RegExp;
  readonly #parsed: ParsedSource;
  readonly #cost: BacktrackingCost;
  readonly #nativeFindsLongest: boolean;
  #automaton: Automaton | null = null;
  lastIndex = 0;
  readonly #doubled: number;
  /** A length of text, and the steps that V8 may need for it. */
  #boundLength = -1;
  #boundSteps = 0;

  constructor(native: RegExp, parsed: ParsedSource) {
    this.#native = native;
    this.#parsed = parsed;
    this.#cost = backtrackingCost(parsed.root);
    this.#doubled = 2 ** this.#cost.doublings;
    this.#nativeFindsLongest = !parsed.isForced && !mayPreferShorter(parsed.root);
  }

  exec(text: string): RegExpExecArray | null {
    const from = this.lastIndex;
    const { isCounting } = gas;
    const isNative = this.#nativeFindsLongest && this.#isCheap(text.length - from, isCounting);
    const matcher = isNative ? this.#native : this.#linear();
    matcher.lastIndex = from;
    const found = matcher.exec(text);
    this.lastIndex = matcher.lastIndex;
    if (isNative && isCounting) this.#charge(from, found === null ? -1 : this.lastIndex, text.length);
    return found;
  }

  test(text: string): boolean {
    const from = this.lastIndex;
    const { isCounting } = gas;
    const isNative = this.#isCheap(text.length - from, isCounting);
    const matcher = isNative ? this.#native : this.#linear();
    matcher.lastIndex = from;
    const found = matcher.test(text);
    this.lastIndex = matcher.lastIndex;
    if (isNative && isCounting) this.#charge(from, found ? this.lastIndex : -1, text.length);
    return found;
  }

  /** While steps are counted, V8 gets only what it surely does in a few of them, for nothing stops it. */
  #isCheap(length: number, isCounting: boolean): boolean {
    // What takes a few steps for each character, whatever the text is, takes the automaton longer.
    if (!isCounting && this.#cost.power <= 1 && this.#doubled <= LINEAR_WAYS) return true;
    const most = isCounting && this.#cost.power > 1 ? COUNTED_BACKTRACKING_STEPS : MAX_BACKTRACKING_STEPS;
    return this.#bound(length) <= most;
  }

  /** Steps that V8 may need for a text of this length. */
  #bound(length: number): number {
    if (length !== this.#boundLength) {
      this.#boundLength = length;
      // `**` takes as long as a short match. Beyond the limit it does not matter how far.
      const size = Math.max(2, length);
      let steps = this.#doubled;
      for (let left = this.#cost.power; left > 0 && steps <= MAX_BACKTRACKING_STEPS; left--) steps *= size;
      this.#boundSteps = steps;
    }
    return this.#boundSteps;
  }

  /** Charges what V8 needs at worst for a match that ends at `end`, or for finding none, if that is negative. */
  #charge(from: number, end: number, length: number): void {
    let steps = this.#bound(length - from);
    if (steps > FEW_BACKTRACKING_STEPS && !this.#cost.isAnchored) {
      // A match that was found early was not searched for further on.
      const starts = Math.max(0, (end < 0 ? length : end) - from) + 1;
      steps *= Math.min(1, starts / Math.max(2, length - from));
    }
    gas.charge(1 + steps / BACKTRACKING_STEPS_PER_STEP);
  }

  #linear(): Automaton {
    return this.#automaton ??= new Automaton(compileProgram(this.#parsed), {
      flags: this.#native.flags.replace("g", ""),
      prefersShort: firstPreference(this.#parsed.root) === "short",
    });
  }
}

/**
 * What the first part of an expression that has a choice of length prefers; with alternatives it is always the
 * longest.
 */
function firstPreference(node: Node): "short" | "long" | null {
  switch (node.kind) {
    case "choice":
      return "long";
    case "repeat":
      if (node.fixed) return firstPreference(node.item);
      return node.lazy ? "short" : "long";
    case "capture":
      return firstPreference(node.item);
    case "sequence":
      for (const item of node.items) {
        const preference = firstPreference(item);
        if (preference !== null) return preference;
      }
      return null;
    default:
      return null;
  }
}
