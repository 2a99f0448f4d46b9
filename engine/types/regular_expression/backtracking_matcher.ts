/**
 * A matcher for what no automaton can serve: back references, and look-around with repetitions inside. It tries one
 * way after the other, the preferred first, and takes the first match. A reference to a group that has not matched
 * fails, as in PostgreSQL.
 *
 * Limit: a search takes `LIMITS.regularExpressionSteps` steps at most, all matches of one text together, then it
 * raises 54001: the ways may double with each character.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { gas } from "../../base/gas.ts";
import { CharacterSet } from "./character_set.ts";
import type { Matcher } from "./matcher.ts";
import { OPERATION, type Program } from "./program.ts";

/** Steps of a search that count as one of `gas`, and after how many they are charged. */
const STEPS_PER_STEP = 10;
const CHARGED_STEPS = 1000;

/** A matcher for what no automaton can serve: back references, and look-around with repetitions inside. */
export class BacktrackingMatcher implements Matcher {
  lastIndex = 0;
  readonly #program: Program;
  readonly #sets: readonly CharacterSet[];
  readonly #assertions: readonly RegExp[];
  readonly #ignoresCase: boolean;
  readonly #slots: Int32Array;
  /** Slots with what they held before, to be restored: pairs. */
  #trail: number[] = [];
  /** Ways to be tried: instruction, place, length of the trail. */
  #ways: number[] = [];
  #steps = 0;
  /** Those of them that `gas` has been charged for. */
  #charged = 0;
  /** Where the last match ended, and the length of its text: what goes on from there shares its steps. */
  #reached = Infinity;
  #length = 0;

  /** `flags`: those of V8's expression, without `g`. */
  constructor(program: Program, flags: string) {
    this.#program = program;
    const setFlags = flags.replace("m", "");
    this.#sets = program.sets.map((source) => new CharacterSet(source, setFlags));
    this.#assertions = program.assertions.map((source) => new RegExp(source, `${flags}y`));
    this.#ignoresCase = flags.includes("i");
    this.#slots = new Int32Array(program.slots);
  }

  test(text: string): boolean {
    return this.exec(text) !== null;
  }

  exec(text: string): RegExpExecArray | null {
    if (this.lastIndex < this.#reached || text.length !== this.#length) this.#steps = this.#charged = 0;
    this.#length = text.length;
    for (let start = this.lastIndex; start <= text.length; start += widthAt(text, start)) {
      this.#slots.fill(-1);
      this.#trail = [];
      this.#ways = [];
      const end = this.#run(0, start, text, -1);
      if (end < 0) continue;
      this.lastIndex = this.#reached = end;
      return this.#found(text, start, end);
    }
    this.lastIndex = 0;
    this.#reached = Infinity;
    return null;
  }

  #found(text: string, start: number, end: number): RegExpExecArray {
    const parts: (string | undefined)[] = [text.slice(start, end)];
    for (let group = 1; group <= this.#program.groups; group++) {
      const from = this.#slots[group * 2] as number, to = this.#slots[group * 2 + 1] as number;
      parts.push(from < 0 || to < 0 ? undefined : text.slice(from, to));
    }
    return Object.assign(parts, { index: start, input: text, 0: text.slice(start, end) }) as RegExpExecArray;
  }

  /**
   * Follows the ways from an instruction until one matches, at the wanted end unless that is negative; answers the
   * end or -1.
   */
  #run(from: number, start: number, text: string, wantedEnd: number): number {
    const { operations, first, second } = this.#program;
    const ways = this.#ways, slots = this.#slots;
    const bottom = ways.length;
    ways.push(from, start, this.#trail.length);
    while (ways.length > bottom) {
      this.#restore(ways.pop() as number);
      let place = ways.pop() as number;
      let at = ways.pop() as number;
      for (let goesOn = true; goesOn;) {
        if (
          ++this.#steps > LIMITS.regularExpressionSteps ||
          ways.length > LIMITS.regularExpressionAlternatives * 3
        ) throw this.#tooComplex();
        if (this.#steps - this.#charged >= CHARGED_STEPS) this.#charge();
        const operand = first[at] as number;
        switch (operations[at]) {
          case OPERATION.set:
            goesOn = place < text.length &&
              (this.#sets[operand] as CharacterSet).has(text.codePointAt(place) ?? -1);
            place += goesOn ? widthAt(text, place) : 0;
            at++;
            break;
          case OPERATION.split:
            ways.push(second[at] as number, place, this.#trail.length);
            at = operand;
            break;
          case OPERATION.jump:
            at = operand;
            break;
          case OPERATION.save:
            this.#set(operand, place);
            at++;
            break;
          case OPERATION.forget:
            for (let slot = operand * 2; slot <= (second[at] as number) * 2 + 1; slot++) this.#set(slot, -1);
            at++;
            break;
          case OPERATION.unset:
            this.#set(operand, -1);
            at++;
            break;
          case OPERATION.progress:
            if (slots[operand] !== place) {
              this.#set(operand + 1, place);
              at++;
            } else {
              goesOn = slots[operand + 1] as number < 0;
              at = second[at] as number;
            }
            break;
          case OPERATION.captured:
            goesOn = slots[operand * 2 + 1] as number >= 0;
            at++;
            break;
          case OPERATION.assertion: {
            const assertion = this.#assertions[operand] as RegExp;
            assertion.lastIndex = place;
            goesOn = assertion.test(text);
            at++;
            break;
          }
          case OPERATION.reference: {
            const size = this.#referenceSize(operand, place, text);
            goesOn = size >= 0;
            place += size;
            at++;
            break;
          }
          case OPERATION.look:
            goesOn = this.#looks(at, place, text);
            at = second[at] as number;
            break;
          default:
            if (wantedEnd < 0 || place === wantedEnd) {
              ways.length = bottom;
              this.#charge();
              return place;
            }
            goesOn = false;
        }
      }
    }
    this.#charge();
    return -1;
  }

  #charge(): void {
    const steps = this.#steps - this.#charged;
    this.#charged = this.#steps;
    gas.charge(steps / STEPS_PER_STEP);
  }

  /** Whether a look-around holds; what it captures stays when it asks for a match. */
  #looks(at: number, place: number, text: string): boolean {
    const kind = this.#program.first[at] as number;
    const isNegative = (kind & 1) !== 0, isBehind = (kind & 2) !== 0;
    const before = this.#trail.length;
    let holds = false;
    if (isBehind) {
      for (let start = place; start >= 0 && !holds; start--) {
        holds = this.#run(at + 1, start, text, place) >= 0;
      }
    } else holds = this.#run(at + 1, place, text, -1) >= 0;
    if (isNegative || !holds) this.#restore(before);
    return holds !== isNegative;
  }

  /** How many units the repetition of a group takes here; -1 when it is not there. */
  #referenceSize(group: number, place: number, text: string): number {
    const from = this.#slots[group * 2] as number, to = this.#slots[group * 2 + 1] as number;
    if (from < 0 || to < from) return -1;
    const size = to - from;
    this.#steps += size;
    if (text.startsWith(text.slice(from, to), place)) return size;
    if (!this.#ignoresCase) return -1;
    return text.slice(from, to).toLowerCase() === text.slice(place, place + size).toLowerCase() ? size : -1;
  }

  #set(slot: number, place: number): void {
    this.#trail.push(slot, this.#slots[slot] as number);
    this.#slots[slot] = place;
  }

  #restore(length: number): void {
    const trail = this.#trail;
    while (trail.length > length) {
      const value = trail.pop() as number;
      this.#slots[trail.pop() as number] = value;
    }
  }

  #tooComplex(): DatabaseError {
    this.#steps = this.#charged = 0;
    this.#trail = [];
    this.#ways = [];
    return new DatabaseError(
      SQLSTATE.statementTooComplex,
      "regular expression is too complex for this text",
      { hint: "Back references and look-around try every way; write the expression with fewer repetitions." },
    );
  }
}

function widthAt(text: string, place: number): number {
  return (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
}
