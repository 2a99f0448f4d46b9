/**
 * Work on long lists in pieces, between which others have their turns: it is stopped when its time is over, and begun
 * again from its beginning. What it has made of the items of a long list is kept, so that it comes further each time.
 *
 * The work must come to the same lists in the same order each time, up to the place where it was stopped: a list is
 * known by the number of those that were begun before. Those within an item are forgotten with its end.
 */

import { assert, assertDefined } from "./assert.ts";

/** Behind so many lists that have to be made as a whole there are no pieces. */
const MAX_GIVEN_UP = 16;

/** A run takes no more than so many times what it should. */
const MAX_ROOMS = 4;

/** Shorter lists are not kept; tests change it. */
export const keptLists = { leastCount: 16 };

/** What is thrown to stop. */
const PAUSE = { name: "Pause" };

/** What making an item may change besides. */
export interface PieceState<Saved> {
  /** Grows when an item has effects that {@link restore} does not know. The list is made as a whole then. */
  readonly progress: number;
  save(): Saved;
  /** Brings the state to where it was, in this run or one before. */
  restore(saved: Saved): void;
}

/** That of work which changes nothing but its items. */
export const NO_STATE: PieceState<null> = { progress: 0, save: () => null, restore: () => {} };

/** A list of {@link Pieces.collect}. */
export interface ListOptions<Saved> {
  readonly state: PieceState<Saved>;
  /** The same each time that the work comes to the list, and another one for others, as far as it can be. */
  readonly mark: number;
  /** Shorter ones are made anew each time. */
  readonly leastCount?: number;
}

interface KeptList {
  readonly items: unknown[];
  readonly mark: number;
  saved: unknown;
  isDone: boolean;
  /** Its items have effects: it is made anew each time, and not stopped. */
  isWhole: boolean;
}

/** The lists of one piece of work, which is run until it ends. */
export class Pieces {
  readonly #clock: () => number;
  /** Those that were begun and are not within a finished item, in the order in which they were begun. */
  readonly #lists: KeptList[] = [];
  #next = 0;
  #begun = 0;
  #room = 0;
  /** When this run is to stop; 0: it has made nothing new. */
  #end = 0;
  /** Lists around this place that are made as a whole. */
  #wholes = 0;
  /** Runs that ended because a list has to be made as a whole. */
  #givenUp = 0;
  #isRunning = false;

  /** `clock` counts what `room` of {@link run} is in. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Does the work until so much time has passed since it came to something new; null: it is not at its end, and has to
   * be run again. Raises what it raises.
   */
  run<T>(room: number, work: () => T): { readonly value: T } | null {
    this.#next = 0;
    this.#wholes = 0;
    this.#begun = this.#clock();
    this.#room = room;
    this.#end = 0;
    this.#isRunning = true;
    try {
      return { value: work() };
    } catch (thrown) {
      if (thrown === PAUSE) return null;
      throw thrown;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Forgets lists within an item. Begins again where it has effects, with its list as a whole, or with all of them. */
  #itemEnds(place: number, hasEffects: boolean): void {
    this.#lists.length = this.#next = place + 1;
    const list = this.#lists[place];
    if (!hasEffects || list === undefined || this.#givenUp > MAX_GIVEN_UP) return;
    list.isWhole = true;
    if (++this.#givenUp > MAX_GIVEN_UP) this.#lists.length = 0;
    throw PAUSE;
  }

  /** The items that `next` makes, given how many there are, until it answers undefined. */
  collect<Item, Saved>(
    { state, mark, leastCount = keptLists.leastCount }: ListOptions<Saved>,
    next: (count: number) => Item | undefined,
  ): readonly Item[] {
    // What was bound in a run may bind more when the statement runs.
    const place = this.#isRunning ? this.#next++ : Infinity;
    const { progress } = state;
    let list = this.#lists[place];
    const items = (list?.items ?? []) as Item[];
    if (list === undefined) {
      while (items.length < leastCount || !this.#isRunning) {
        const item = next(items.length);
        if (item === undefined) return items;
        items.push(item);
      }
      this.#lists[place] = list = { items, mark, saved: state.save(), isDone: false, isWhole: false };
      this.#itemEnds(place, state.progress !== progress);
    } else {
      assert(list.mark === mark, `list ${place} is at ${mark} and was at ${list.mark}`);
      if (list.isWhole) items.length = 0;
      else state.restore(list.saved as Saved);
    }
    if (list.isDone) return items;
    const { isWhole } = list;
    if (isWhole) this.#wholes++;
    try {
      for (;;) {
        const item = next(items.length);
        if (item !== undefined) items.push(item);
        // Lists within a whole one come again in the same order.
        if (!isWhole) this.#itemEnds(place, state.progress !== progress);
        if (item === undefined) break;
        if (this.#wholes > 0 || this.#givenUp > MAX_GIVEN_UP) continue;
        list.saved = state.save();
        const now = this.#clock();
        if (this.#end === 0) this.#end = now + roomOf(this.#room, now - this.#begun);
        if (now >= this.#end) throw PAUSE;
      }
    } finally {
      if (isWhole) this.#wholes--;
    }
    if (isWhole) return [...items];
    list.saved = state.save();
    list.isDone = true;
    return items;
  }
}

/** As much for what is new as it took to come there, so that no more than half of a run is done again. */
function roomOf(room: number, repeated: number): number {
  return Math.min(Math.max(room, repeated), room * MAX_ROOMS);
}

/** What `make` makes, which is kept when it has come to its end. */
export function onceIn<T>(
  pieces: Pieces | undefined,
  make: () => T,
  state: PieceState<unknown> = NO_STATE,
): T {
  if (pieces === undefined) return make();
  const [made] = pieces.collect(
    { state, mark: -1, leastCount: 0 },
    (count) => count === 0 ? { value: make() } : undefined,
  );
  return assertDefined(made, "what was made once").value;
}
