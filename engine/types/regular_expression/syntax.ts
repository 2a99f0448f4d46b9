/**
 * Syntax trees of regular expressions, read from the JavaScript source that pattern.ts translates PostgreSQL's
 * expressions to.
 *
 * Back references, and look-around whose inside repeats something, make a tree irregular: only a backtracking matcher
 * can serve it.
 */

import { assert } from "../../base/assert.ts";

/** A part of an expression. */
export type Node =
  /** One character of a set. */
  | { readonly kind: "set"; readonly source: string }
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "choice"; readonly items: readonly Node[] }
  | {
    readonly kind: "repeat";
    readonly item: Node;
    readonly minimum: number;
    readonly maximum: number;
    readonly lazy: boolean;
    /** `{n}`, which prefers nothing itself; `{n,n}` does. */
    readonly fixed: boolean;
  }
  /** A group that is captured under its number, from 1. */
  | { readonly kind: "capture"; readonly item: Node; readonly number: number }
  /** A condition on a place, as the source of an expression without width. */
  | { readonly kind: "assertion"; readonly source: string }
  /** What a group has matched, once more. */
  | { readonly kind: "reference"; readonly number: number }
  /** A condition on what comes next, or on what was before. */
  | { readonly kind: "look"; readonly item: Node; readonly isBehind: boolean; readonly isNegative: boolean };

/** An expression's tree. */
export interface ParsedSource {
  readonly root: Node;
  readonly groups: number;
  /** false. */
  readonly isRegular: boolean;
  /** Whether repetitions prefer otherwise than the source says. */
  readonly isForced: boolean;
}

/** Reads an expression that V8 has accepted. */
export function parseSource(source: string): ParsedSource {
  const parser = new Parser(source);
  const root = parser.choice();
  assert(parser.atEnd, "an expression of V8 is read to its end");
  return { root, groups: parser.groups, isRegular: parser.isRegular, isForced: parser.isForced };
}

class Parser {
  readonly #characters: readonly string[];
  #index = 0;
  groups = 0;
  isRegular = true;
  isForced = false;

  constructor(source: string) {
    this.#characters = [...source];
  }

  get atEnd(): boolean {
    return this.#index >= this.#characters.length;
  }

  choice(): Node {
    const items: Node[] = [];
    do items.push(this.#sequence()); while (this.#accept("|"));
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: "choice", items: longestFirst(items) };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (!this.atEnd && !this.#is("|") && !this.#is(")")) items.push(this.#repeated(this.#atom()));
    return { kind: "sequence", items };
  }

  #repeated(atom: Node): Node {
    const bounds = this.#bounds();
    if (bounds === null) return atom;
    const lazy = this.#accept("?");
    // {1,1}? is there to make the whole of an item match as little as possible.
    const isForced = bounds.minimum === 1 && bounds.maximum === 1 && !bounds.fixed && lazy;
    const item = isForced ? preferringFew(atom) : atom;
    this.isForced ||= item !== atom;
    return { kind: "repeat", item, ...bounds, lazy };
  }

  #bounds(): { readonly minimum: number; readonly maximum: number; readonly fixed: boolean } | null {
    if (this.#accept("*")) return { minimum: 0, maximum: Infinity, fixed: false };
    if (this.#accept("+")) return { minimum: 1, maximum: Infinity, fixed: false };
    if (this.#accept("?")) return { minimum: 0, maximum: 1, fixed: false };
    const bound = this.#is("{") ? /^\{(\d+)(,)?(\d*)\}/.exec(this.#ahead(16)) : null;
    if (bound === null) return null;
    this.#index += bound[0].length;
    const minimum = Number(bound[1]);
    const maximum = bound[2] === undefined ? minimum : bound[3] === "" ? Infinity : Number(bound[3]);
    return { minimum, maximum, fixed: bound[2] === undefined };
  }

  #atom(): Node {
    const character = this.#take();
    switch (character) {
      case "^":
      case "$":
        return { kind: "assertion", source: character };
      case "(":
        return this.#group();
      case "[":
        return { kind: "set", source: this.#bracket() };
      case "\\":
        return this.#escape();
      default:
        return { kind: "set", source: character };
    }
  }

  #group(): Node {
    const kind = /^\?(?::|=|!|<=|<!)/.exec(this.#ahead(3))?.[0];
    this.#index += kind?.length ?? 0;
    const number = kind === undefined ? ++this.groups : 0;
    const start = this.#index;
    const item = this.choice();
    const inside = this.#characters.slice(start, this.#index).join("");
    assert(this.#accept(")"), "an expression of V8 closes its groups");
    if (kind === undefined) return { kind: "capture", item, number };
    if (kind === "?:") return item;
    if (!repeats(item)) return { kind: "assertion", source: `(${kind}${inside})` };
    this.isRegular = false;
    return { kind: "look", item, isBehind: kind.startsWith("?<"), isNegative: kind.endsWith("!") };
  }

  #bracket(): string {
    const start = this.#index - 1;
    while (!this.atEnd && !this.#is("]")) this.#index += this.#is("\\") ? 2 : 1;
    this.#index++;
    return this.#characters.slice(start, this.#index).join("");
  }

  #escape(): Node {
    const character = this.#take();
    if (/[1-9]/.test(character)) {
      this.isRegular = false;
      let number = character;
      while (/\d/.test(this.#ahead(1))) number += this.#take();
      return { kind: "reference", number: Number(number) };
    }
    if (character === "b" || character === "B") return { kind: "assertion", source: `\\${character}` };
    const more = (character === "u" ? /^\{[0-9a-fA-F]+\}/ : character === "x" ? /^[0-9a-fA-F]{2}/ : null)
      ?.exec(this.#ahead(12))?.[0] ?? "";
    this.#index += more.length;
    return { kind: "set", source: `\\${character}${more}` };
  }

  #ahead(count: number): string {
    return this.#characters.slice(this.#index, this.#index + count).join("");
  }

  #is(character: string): boolean {
    return this.#characters[this.#index] === character;
  }

  #accept(character: string): boolean {
    if (!this.#is(character)) return false;
    this.#index++;
    return true;
  }

  #take(): string {
    return this.#characters[this.#index++] ?? "";
  }
}

/** The item with all its repetitions preferring few. */
function preferringFew(node: Node): Node {
  switch (node.kind) {
    case "repeat": {
      const item = preferringFew(node.item);
      const isSame = item === node.item && (node.fixed || node.lazy);
      return isSame ? node : { ...node, item, lazy: node.lazy || !node.fixed };
    }
    case "capture": {
      const item = preferringFew(node.item);
      return item === node.item ? node : { ...node, item };
    }
    case "sequence":
    case "choice": {
      const items = node.items.map(preferringFew);
      return items.every((item, index) => item === node.items[index]) ? node : { ...node, items };
    }
    default:
      return node;
  }
}

/** Alternatives of known lengths in the order in which PostgreSQL prefers them, the longest first. */
function longestFirst(items: readonly Node[]): readonly Node[] {
  const widths = new Map(items.map((item) => [item, widthOf(item)]));
  if ([...widths.values()].includes(undefined)) return items;
  return items.toSorted((left, right) => (widths.get(right) ?? 0) - (widths.get(left) ?? 0));
}

/** How many characters a node takes; undefined when that varies or is not known. */
function widthOf(node: Node): number | undefined {
  switch (node.kind) {
    case "set":
      return 1;
    case "assertion":
    case "look":
      return 0;
    case "capture":
      return widthOf(node.item);
    case "sequence": {
      let sum = 0;
      for (const item of node.items) {
        const width = widthOf(item);
        if (width === undefined) return undefined;
        sum += width;
      }
      return sum;
    }
    case "choice": {
      const [first, ...rest] = node.items.map(widthOf);
      return rest.every((width) => width === first) ? first : undefined;
    }
    case "repeat": {
      const width = widthOf(node.item);
      return width === undefined || node.minimum !== node.maximum ? undefined : width * node.minimum;
    }
    case "reference":
      return undefined;
  }
}

function repeats(node: Node): boolean {
  switch (node.kind) {
    case "repeat":
    case "reference":
    case "look":
      return true;
    case "sequence":
    case "choice":
      return node.items.some(repeats);
    case "capture":
      return repeats(node.item);
    default:
      return false;
  }
}
