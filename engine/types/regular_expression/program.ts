/**
 * Programs of an automaton that follows all ways through an expression at once (K. Thompson, Regular Expression
 * Search Algorithm, 1968), with groups kept for each way (R. Pike's sam; R. Cox, Regular Expression Matching: the
 * Virtual Machine Approach, 2009).
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { Node, ParsedSource } from "./syntax.ts";

/** Instructions. */
export const OPERATION = {
  /** Takes a character of the set `first`. */
  set: 0,
  /** Goes on at `first`, and at `second` with less preference. */
  split: 1,
  jump: 2,
  /** Notes the place in slot `first`. */
  save: 3,
  /** Goes on when the assertion `first` holds here. */
  assertion: 4,
  match: 5,
  /** The following are for backtracking only. Takes what the group `first` has matched. */
  reference: 6,
  /**
   * Goes on at `second` when what follows, up to a match, holds here; `first`: 1 for its contrary, 2 for what was
   * before.
   */
  look: 7,
  /**
   * Goes on when the place is another one than in slot `first`, and notes it in the next slot. Without a character it
   * goes on at `second` after the first pass, nowhere after others.
   */
  progress: 8,
  /** Goes on when the group `first` has matched. */
  captured: 9,
  /** Forgets what the groups `first` to `second` have matched; not for backtracking only. */
  forget: 10,
  /** Notes no place in slot `first`. */
  unset: 11,
} as const;

/** Instructions by number, with their operands. */
export interface Program {
  readonly operations: readonly number[];
  readonly first: readonly number[];
  readonly second: readonly number[];
  /** Sources of character sets and of assertions. */
  readonly sets: readonly string[];
  readonly assertions: readonly string[];
  readonly groups: number;
  /** Slots for groups and for the places where iterations began. */
  readonly slots: number;
}

/** Compiles a tree. Raises 2201B when counts make it too large. */
export function compileProgram({ root, groups, isRegular }: ParsedSource): Program {
  const compiler = new Compiler(groups, !isRegular);
  compiler.node(root);
  compiler.emit(OPERATION.match);
  const { operations, first, second, sets, assertions, slots } = compiler;
  return { operations, first, second, sets, assertions, groups, slots };
}

class Compiler {
  slots: number;
  readonly #isForBacktracking: boolean;

  constructor(groups: number, isForBacktracking: boolean) {
    this.slots = groups * 2 + 2;
    this.#isForBacktracking = isForBacktracking;
  }

  readonly operations: number[] = [];
  readonly first: number[] = [];
  readonly second: number[] = [];
  readonly sets: string[] = [];
  readonly assertions: string[] = [];

  emit(operation: number, first = 0, second = 0): number {
    if (this.operations.length >= LIMITS.maximumRegularExpressionInstructions) {
      throw new DatabaseError(
        SQLSTATE.invalidRegularExpression,
        "invalid regular expression: regular expression is too complex",
      );
    }
    this.operations.push(operation);
    this.first.push(first);
    this.second.push(second);
    return this.operations.length - 1;
  }

  node(node: Node): void {
    switch (node.kind) {
      case "set":
        this.emit(OPERATION.set, indexIn(this.sets, node.source));
        return;
      case "assertion":
        this.emit(OPERATION.assertion, indexIn(this.assertions, node.source));
        return;
      case "sequence":
        for (const item of node.items) this.node(item);
        return;
      case "capture":
        this.emit(OPERATION.save, node.number * 2);
        this.node(node.item);
        this.emit(OPERATION.save, node.number * 2 + 1);
        return;
      case "choice":
        this.#choice(node.items);
        return;
      case "repeat":
        this.#repeat(node);
        return;
      case "reference":
        this.emit(OPERATION.reference, node.number);
        return;
      case "look": {
        const look = this.emit(OPERATION.look, (node.isNegative ? 1 : 0) + (node.isBehind ? 2 : 0));
        this.node(node.item);
        this.emit(OPERATION.match);
        this.second[look] = this.#next;
        return;
      }
    }
  }

  get #next(): number {
    return this.operations.length;
  }

  #choice(items: readonly Node[]): void {
    const ends: number[] = [];
    for (const [index, item] of items.entries()) {
      const isLast = index === items.length - 1;
      const split = isLast ? -1 : this.emit(OPERATION.split, this.#next + 1);
      this.node(item);
      if (isLast) break;
      ends.push(this.emit(OPERATION.jump));
      this.second[split] = this.#next;
    }
    for (const end of ends) this.first[end] = this.#next;
  }

  #repeat({ item, minimum, maximum, lazy }: Node & { readonly kind: "repeat" }): void {
    // PostgreSQL's references fail without what they refer to, however few are wanted.
    if (item.kind === "reference") this.emit(OPERATION.captured, item.number);
    for (let count = 0; count < minimum; count++) this.#iteration(item);
    if (maximum === Infinity) {
      // The automaton is at an instruction once; who tries ways one by one must not go around without a character.
      const slot = this.#isForBacktracking ? this.slots : -1;
      if (slot >= 0) {
        this.slots += 2;
        this.emit(OPERATION.unset, slot + 1);
      }
      const split = this.emit(OPERATION.split);
      if (slot >= 0) this.emit(OPERATION.save, slot);
      this.#iteration(item);
      const progress = slot >= 0 ? this.emit(OPERATION.progress, slot) : -1;
      this.emit(OPERATION.jump, split);
      if (progress >= 0) this.second[progress] = this.#next;
      this.#aim(split, lazy);
      return;
    }
    const splits: number[] = [];
    for (let count = minimum; count < maximum; count++) {
      splits.push(this.emit(OPERATION.split));
      this.#iteration(item);
    }
    for (const split of splits) this.#aim(split, lazy);
  }

  /** One of several passes through an item: its groups are those of the last. */
  #iteration(item: Node): void {
    const groups = groupsIn(item);
    if (groups.length > 0) this.emit(OPERATION.forget, Math.min(...groups), Math.max(...groups));
    this.node(item);
  }

  /** Makes a split choose between the item behind it and what follows here. */
  #aim(split: number, lazy: boolean): void {
    this.first[split] = lazy ? this.#next : split + 1;
    this.second[split] = lazy ? split + 1 : this.#next;
  }
}

function groupsIn(node: Node): number[] {
  switch (node.kind) {
    case "capture":
      return [node.number, ...groupsIn(node.item)];
    case "repeat":
    case "look":
      return groupsIn(node.item);
    case "sequence":
    case "choice":
      return node.items.flatMap(groupsIn);
    default:
      return [];
  }
}

function indexIn(list: string[], value: string): number {
  const index = list.indexOf(value);
  return index >= 0 ? index : list.push(value) - 1;
}
