/**
 * The counter of the work that one evaluation of a CHECK, trigger, DEFAULT, generated column or index expression does.
 *
 * Such expressions run for each row that anybody writes, inside of one piece of work that nothing interrupts. So each
 * evaluation has a number of steps, and beyond them it ends with 54001. A step is what takes less than half a
 * microsecond on any machine that is worth mention: an operation on scalars, or some ten to some hundred bytes of a
 * large value. Steps follow from values alone, never from time, so that an evaluation ends at the same place anywhere.
 *
 * The process has one thread and evaluations do not overlap, so there is one counter. Outside of an evaluation it has
 * no limit, and charging changes nothing. What is costly charges here by itself; for the rest see
 * `engine/sql/functions/call_steps.ts`. ADR 0014 has the reasons.
 */
import { DatabaseError, SQLSTATE } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** Steps after which a statement lets others in, however short it has run: see {@link Gas.isTurnDue}. */
const STEPS_OF_A_TURN = 20_000;

/** What is evaluated, for the error. */
export interface GasPlace {
  /** As the message names it, such as `check constraint "c" of relation "t"`. */
  readonly what: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly constraint?: string;
}

/** See the file's head. */
export class Gas {
  /** Steps left to the running evaluation. */
  #left = Infinity;
  /** What finished evaluations have taken since the turn began. */
  #spent = 0;
  #place: GasPlace = { what: "expression" };

  /** Whether an evaluation is running. */
  get isCounting(): boolean {
    return this.#left !== Infinity;
  }

  /**
   * Begins an evaluation, `steps` of which are known beforehand. Answers what {@link end} takes, also when the
   * evaluation has failed. An evaluation within another one has steps of its own.
   */
  begin(place: GasPlace, steps = 0): number {
    const outer = this.#left;
    this.#place = place;
    this.#left = LIMITS.expressionGas - steps;
    return outer;
  }

  /** Ends an evaluation. */
  end(outer: number): void {
    this.#spent += LIMITS.expressionGas - this.#left;
    this.#left = outer;
  }

  /** Counts steps; 54001 when there are not as many left. Charge before the work where its size is known. */
  charge(steps: number): void {
    this.#left -= steps;
    // As a negation, so that steps that are no number end it too.
    if (!(this.#left >= 0)) this.#refuse();
  }

  /**
   * Counts steps of a call that has run, as {@link charge} does; outside of an evaluation they bring the turn nearer in
   * which others are let in.
   */
  chargeDone(steps: number): void {
    if (this.#left === Infinity) this.#spent += steps;
    else this.charge(steps);
  }

  /** Runs an evaluation; `steps` as for {@link begin}. */
  run<T>(place: GasPlace, evaluate: () => T, steps = 0): T {
    const outer = this.begin(place, steps);
    try {
      return evaluate();
    } finally {
      this.end(outer);
    }
  }

  /** Evaluations have taken so many steps since {@link beginTurn} that others are to be let in. */
  get isTurnDue(): boolean {
    return this.#spent >= STEPS_OF_A_TURN;
  }

  /** A piece of work begins. */
  beginTurn(): void {
    this.#spent = 0;
  }

  /** Steps that evaluations have taken since {@link beginTurn}. */
  get spent(): number {
    return this.#spent;
  }

  #refuse(): never {
    const { what, ...objects } = this.#place;
    this.#left = 0;
    throw new DatabaseError(
      SQLSTATE.statementTooComplex,
      `${what} needs more than ${LIMITS.expressionGas} steps`,
      {
        detail: "Expressions that are evaluated for each row written have a limited number of steps.",
        hint: "Limit the length of the values, or write an expression that does less.",
        ...objects,
      },
    );
  }
}

/** The counter of this process. */
export const gas = new Gas();
