/**
 * Programs of an automaton that follows all ways through an expression at once (K. Thompson, Regular Expression Search
 * Algorithm, 1968), with groups kept for each way (R. Pike's sam; R. Cox, Regular Expression Matching: the Virtual Machine
 * Approach, 2009).
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Node } from "./syntax.ts";

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
}

/** Instructions that a program may have; repetition counts multiply. */
const MAXIMUM_INSTRUCTIONS = 50_000;

/** Compiles a tree. Raises 2201B when counts make it too large. */
export function compileProgram(root: Node, groups: number): Program {
  const compiler = new Compiler();
  compiler.node(root);
  compiler.emit(OPERATION.match);
  return { ...compiler, groups };
}

class Compiler {
  readonly operations: number[] = [];
  readonly first: number[] = [];
  readonly second: number[] = [];
  readonly sets: string[] = [];
  readonly assertions: string[] = [];

  emit(operation: number, first = 0, second = 0): number {
    if (this.operations.length >= MAXIMUM_INSTRUCTIONS) {
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
    for (let count = 0; count < minimum; count++) this.node(item);
    if (maximum === Infinity) {
      const split = this.emit(OPERATION.split);
      this.node(item);
      this.emit(OPERATION.jump, split);
      this.#aim(split, lazy);
      return;
    }
    const splits: number[] = [];
    for (let count = minimum; count < maximum; count++) {
      splits.push(this.emit(OPERATION.split));
      this.node(item);
    }
    for (const split of splits) this.#aim(split, lazy);
  }

  /** Makes a split choose between the item behind it and what follows here. */
  #aim(split: number, lazy: boolean): void {
    this.first[split] = lazy ? this.#next : split + 1;
    this.second[split] = lazy ? split + 1 : this.#next;
  }
}

function indexIn(list: string[], value: string): number {
  const index = list.indexOf(value);
  return index >= 0 ? index : list.push(value) - 1;
}
