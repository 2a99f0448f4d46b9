/**
 * A matcher whose time is bounded by the length of the text times that of the expression, and that takes the match
 * which PostgreSQL takes: the leftmost, and of those the longest, or the shortest when the first repetition of the
 * expression prefers few.
 *
 * Groups are those of the most preferred way to that match, with alternatives and repetitions preferred as they are
 * written; PostgreSQL lets the first groups be as long as they can instead.
 *
 * Where the match is tells {@link StateCache}, in a hundredth of the time. Ways are followed for groups, where that
 * cannot tell, and while steps of `gas` are counted, which must not depend on what is kept.
 */
import { gas } from "../../base/gas.ts";
import { CharacterSet } from "./character_set.ts";
import type { Matcher } from "./matcher.ts";
import { OPERATION, type Program } from "./program.ts";
import { StateCache } from "./state_cache.ts";

/** Instructions looked at for one step of `gas`, and after how many steps are charged. */
const WORK_PER_STEP = 4;
const CHARGED_WORK = 1000;
/** What a new array of groups takes, and how many of its places are copied in the time of one instruction. */
const ARRAY_WORK = 3;
const GROUPS_PER_WORK = 16;

/** The ways that are being followed, most preferred first: an instruction each, with its groups. */
class Ways {
  readonly instructions: Int32Array;
  readonly groups: Int32Array[] = [];
  /** At which step an instruction was last added. */
  readonly #added: Int32Array;
  count = 0;

  constructor(size: number) {
    this.instructions = new Int32Array(size);
    this.#added = new Int32Array(size).fill(-1);
  }

  clear(): void {
    this.count = 0;
  }

  /** Whether the instruction is new at this step; it counts as added then. */
  claim(instruction: number, step: number): boolean {
    if (this.#added[instruction] === step) return false;
    this.#added[instruction] = step;
    return true;
  }

  push(instruction: number, groups: Int32Array): void {
    this.instructions[this.count] = instruction;
    this.groups[this.count++] = groups;
  }

  forget(): void {
    this.#added.fill(-1);
    this.groups.length = 0;
  }
}

/**
 * A matcher whose time is bounded by the length of the text times that of the expression, and that takes the match
 * which PostgreSQL takes: the leftmost, and of those the longest, or the shortest when the first repetition of the
 * expression prefers few.
 */
export class Automaton implements Matcher {
  lastIndex = 0;
  readonly #program: Program;
  readonly #sets: readonly CharacterSet[];
  readonly #assertions: readonly RegExp[];
  readonly #prefersShort: boolean;
  readonly #ways: readonly [Ways, Ways];
  readonly #states: StateCache;
  /** Instructions still to be looked at while ways are added. */
  #work = 0;
  readonly #pending: { instruction: number; groups: Int32Array }[] = [];

  /** `flags`: those of V8's expression, without `g`. */
  constructor(program: Program, options: { readonly flags: string; readonly prefersShort: boolean }) {
    this.#program = program;
    const { flags, prefersShort } = options;
    const setFlags = flags.replace("m", "");
    this.#sets = program.sets.map((source) => new CharacterSet(source, setFlags));
    this.#assertions = program.assertions.map((source) => new RegExp(source, `${flags}y`));
    this.#prefersShort = prefersShort;
    const size = program.operations.length;
    this.#ways = [new Ways(size), new Ways(size)];
    const { sets, assertions } = { sets: this.#sets, assertions: this.#assertions };
    this.#states = new StateCache(program, { sets, assertions, flags: setFlags, prefersShort });
  }

  test(text: string): boolean {
    const isFound = gas.isCounting ? null : this.#states.find(text, this.lastIndex, true);
    if (isFound === null) return this.exec(text) !== null;
    this.lastIndex = isFound ? this.#states.end : 0;
    return isFound;
  }

  exec(text: string): RegExpExecArray | null {
    const isFound = gas.isCounting ? null : this.#states.find(text, this.lastIndex, false);
    const { start: first, end: last } = this.#states;
    const found = isFound === false
      ? null
      : isFound === null
      ? this.#search(text, this.lastIndex, false)
      : this.#program.groups === 0
      ? [first, last]
      : this.#search(text, first, true);
    if (found === null) {
      this.lastIndex = 0;
      return null;
    }
    const [start = 0, end = 0] = found;
    this.lastIndex = end;
    const parts: (string | undefined)[] = [];
    for (let group = 0; group <= this.#program.groups; group++) {
      const from = found[group * 2] ?? -1, to = found[group * 2 + 1] ?? -1;
      parts.push(from < 0 || to < 0 ? undefined : text.slice(from, to));
    }
    return Object.assign(parts, { index: start, input: text, 0: text.slice(start, end) }) as RegExpExecArray;
  }

  /** The places of the match and its groups, or null; `isAnchored`: of one that begins at `start`. */
  #search(text: string, start: number, isAnchored: boolean): Int32Array | null {
    const { operations, first } = this.#program;
    let [now, next] = this.#ways;
    now.forget();
    next.forget();
    now.clear();
    let best: Int32Array | null = null;
    this.#work = 0;
    for (let place = start;;) {
      if (this.#work >= CHARGED_WORK) this.#charge();
      if (best === null && (place === start || !isAnchored)) {
        const groups = new Int32Array(this.#program.groups * 2 + 2).fill(-1);
        groups[0] = place;
        this.#work += ARRAY_WORK + groups.length / GROUPS_PER_WORK;
        this.#follow(now, 0, groups, text, place);
      } else if (now.count === 0) break;
      const code = place < text.length ? text.codePointAt(place) ?? -1 : -1;
      const width = code > 0xffff ? 2 : 1;
      next.clear();
      this.#work += now.count + 1;
      for (let index = 0; index < now.count; index++) {
        const groups = now.groups[index] as Int32Array;
        if (best !== null && !this.#mayReplace(best, groups)) continue;
        const instruction = now.instructions[index] as number;
        if (operations[instruction] === OPERATION.match) {
          best = groups.slice();
          best[1] = place;
        } else if (code >= 0 && (this.#sets[first[instruction] as number] as CharacterSet).has(code)) {
          this.#follow(next, instruction + 1, groups, text, place + width);
        }
      }
      if (code < 0) break;
      place += width;
      [now, next] = [next, now];
    }
    this.#charge();
    return best;
  }

  #charge(): void {
    gas.charge(this.#work / WORK_PER_STEP);
    this.#work = 0;
  }

  /** Whether a way may lead to a better match: one that begins earlier, or as early and, being later, longer. */
  #mayReplace(best: Int32Array, groups: Int32Array): boolean {
    const start = groups[0] as number, bestStart = best[0] as number;
    return start < bestStart || (start === bestStart && !this.#prefersShort);
  }

  /** Adds a way with all that can be reached from it without a character, most preferred first. */
  #follow(ways: Ways, instruction: number, groups: Int32Array, text: string, place: number): void {
    const { operations, first, second } = this.#program;
    const pending = this.#pending;
    pending.push({ instruction, groups });
    for (let top = pending.pop(); top !== undefined; top = pending.pop()) {
      const at = top.instruction;
      this.#work += 1;
      if (!ways.claim(at, place)) continue;
      switch (operations[at]) {
        case OPERATION.split:
          pending.push({ instruction: second[at] as number, groups: top.groups });
          pending.push({ instruction: first[at] as number, groups: top.groups });
          break;
        case OPERATION.jump:
          pending.push({ instruction: first[at] as number, groups: top.groups });
          break;
        case OPERATION.save: {
          const copy = top.groups.slice();
          this.#work += ARRAY_WORK + copy.length / GROUPS_PER_WORK;
          copy[first[at] as number] = place;
          pending.push({ instruction: at + 1, groups: copy });
          break;
        }
        case OPERATION.forget: {
          const copy = top.groups.slice();
          this.#work += ARRAY_WORK + copy.length / GROUPS_PER_WORK;
          copy.fill(-1, (first[at] as number) * 2, (second[at] as number) * 2 + 2);
          pending.push({ instruction: at + 1, groups: copy });
          break;
        }
        case OPERATION.assertion: {
          const assertion = this.#assertions[first[at] as number] as RegExp;
          assertion.lastIndex = place;
          if (assertion.test(text)) pending.push({ instruction: at + 1, groups: top.groups });
          break;
        }
        default:
          ways.push(at, top.groups);
      }
    }
  }
}
