/**
 * The numbers from which a property's arguments are made, and how a failure is made small: shorter lists of smaller
 * numbers are tried for as long as the property still fails at the same place. After D. R. MacIver and A. F.
 * Donaldson, "Test-Case Reduction via Test-Case Generation: Insights from the Hypothesis Reducer", 2020.
 */
import type { Host, HostCall, HostValue } from "../interpret/host.ts";
import { LANG_LIMITS } from "../limits.ts";
import { TestHost } from "./test_host.ts";

/** From so many numbers on, more and more are 0, so that values that contain one another end soon. */
const MANY_CHOICES = 64;
/** Numbers that are taken out or set to 0 together, at most. */
const MAX_CHUNK_LENGTH = 8;

/** Gives numbers from a list, then from a source of more; the rest of the world as for other tests. */
export class ChoiceHost implements Host {
  readonly choices: number[] = [];
  readonly reportedArguments: { readonly name: string; readonly value: string }[] = [];
  readonly #host = new TestHost();
  readonly #given: readonly number[];
  readonly #more: (limit: number) => number;
  readonly #isReporting: boolean;
  readonly #onReported: ((argument: { readonly name: string; readonly value: string }) => void) | undefined;

  constructor(options: {
    readonly given?: readonly number[];
    /** A number from 0 to before the limit; 0 when there is no source. */
    readonly more?: (limit: number) => number;
    readonly isReporting?: boolean;
    /** Called with each argument as soon as it is generated. */
    readonly onReported?: (argument: { readonly name: string; readonly value: string }) => void;
  }) {
    this.#given = options.given ?? [];
    this.#more = options.more ?? (() => 0);
    this.#isReporting = options.isReporting ?? false;
    this.#onReported = options.onReported;
  }

  /** What was printed. */
  get output(): string {
    return this.#host.output;
  }

  call(call: HostCall): HostValue {
    if (!call.module.startsWith("lang:test/choices@")) return this.#host.call(call);
    const [first, second] = call.args;
    switch (call.name) {
      case "choose":
        return this.#choose(Number(first));
      case "is_telling":
        return this.#isReporting;
      case "tell": {
        // Shown as a tuple of one: `(value,)` or `(value)`.
        const text = String(second).replace(/^\((.*?),?\)$/s, "$1");
        const argument = { name: String(first), value: text };
        this.reportedArguments.push(argument);
        this.#onReported?.(argument);
        return null;
      }
      default:
        throw new Error(`Cannot answer the program: there is no ${call.name}`);
    }
  }

  #moreAt(index: number, limit: number): number {
    const isEnding = index > MANY_CHOICES &&
      this.#more(LANG_LIMITS.maximumChoices) < 2 * (index - MANY_CHOICES);
    return isEnding ? 0 : this.#more(limit);
  }

  #choose(limit: number): number {
    const index = this.choices.length;
    const given = this.#given[index];
    const chosen = index >= LANG_LIMITS.maximumChoices
      ? 0
      : given !== undefined
      ? Math.min(given, limit - 1)
      : this.#moreAt(index, limit);
    this.choices.push(chosen);
    return chosen;
  }
}

/** The smallest list that was found, and how many were tried. */
export interface Shrunk {
  readonly choices: readonly number[];
  readonly tries: number;
}

/**
 * Makes a failing list small; `attempt` gives the numbers that were really used when the list still fails, else null.
 */
export function shrink(
  start: readonly number[],
  attempt: (choices: readonly number[]) => readonly number[] | null,
): Shrunk {
  let best = start;
  let tries = 0;
  const improve = (candidate: readonly number[]): boolean => {
    if (tries >= LANG_LIMITS.maximumShrinks || !isSimpler(candidate, best)) return false;
    tries++;
    const used = attempt(candidate);
    if (used === null || !isSimpler(used, best)) return false;
    best = used;
    return true;
  };
  for (let before: readonly number[] | null = null; before !== best && tries < LANG_LIMITS.maximumShrinks;) {
    before = best;
    for (const size of chunkSizes(best.length)) {
      for (let at = best.length - size; at >= 0; at--) {
        if (improve(best.toSpliced(at, size))) at = Math.min(at, best.length - size + 1);
      }
    }
    for (let size = MAX_CHUNK_LENGTH; size > 0; size--) {
      for (let at = 0; at + size <= best.length; at++) {
        if (best.slice(at, at + size).some((value) => value > 0)) {
          improve(best.map((value, index) => index >= at && index < at + size ? 0 : value));
        }
      }
    }
    for (let at = 0; at < best.length; at++) lower(at, () => best, improve);
    for (let at = 0; at < best.length; at++) lowerKind(at, () => best, improve);
  }
  return { choices: best, tries };
}

/** Half of all, a quarter and so on, then every size that a small value may have. */
function chunkSizes(length: number): number[] {
  const sizes: number[] = [];
  for (let size = length >> 1; size > MAX_CHUNK_LENGTH; size >>= 1) sizes.push(size);
  return [...sizes, ...Array.from({ length: MAX_CHUNK_LENGTH }, (_, index) => MAX_CHUNK_LENGTH - index)];
}

/** Finds the smallest number at a place by halving, then by steps of one. */
function lower(
  at: number,
  current: () => readonly number[],
  improve: (candidate: readonly number[]) => boolean,
): void {
  let low = -1;
  let high = current()[at] ?? 0;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (improve(current().with(at, middle))) high = Math.min(current()[at] ?? 0, middle);
    else low = middle;
    if (at >= current().length) return;
  }
}

/** Small numbers choose between kinds of values: a lower one, with as large a number behind it as it takes. */
function lowerKind(
  at: number,
  current: () => readonly number[],
  improve: (candidate: readonly number[]) => boolean,
): void {
  const kind = current()[at] ?? 0;
  if (kind === 0 || kind > MAX_CHUNK_LENGTH || at + 1 >= current().length) return;
  for (let lower = 0; lower < kind; lower++) {
    if (improve(current().with(at, lower).with(at + 1, Number.MAX_SAFE_INTEGER))) return;
  }
}

/** Whether a list is shorter than another, or as long with a smaller number where they first differ. */
function isSimpler(left: readonly number[], right: readonly number[]): boolean {
  if (left.length !== right.length) return left.length < right.length;
  const at = left.findIndex((value, index) => value !== right[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}
