/**
 * Syntax trees of regular expressions, read from the JavaScript source that pattern.ts translates PostgreSQL's expressions to.
 *
 * Limits: back references, and look-around whose inside repeats something, have no tree: only a backtracking matcher can serve
 * them.
 */

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
  | { readonly kind: "assertion"; readonly source: string };

/** The tree with the number of its groups; null when there is none, see the file's head. */
export function parseSource(source: string): { readonly root: Node; readonly groups: number } | null {
  const parser = new Parser(source);
  const root = parser.choice();
  return root === null || !parser.atEnd ? null : { root, groups: parser.groups };
}

class Parser {
  readonly #characters: readonly string[];
  #index = 0;
  groups = 0;

  constructor(source: string) {
    this.#characters = [...source];
  }

  get atEnd(): boolean {
    return this.#index >= this.#characters.length;
  }

  choice(): Node | null {
    const items: Node[] = [];
    do {
      const item = this.#sequence();
      if (item === null) return null;
      items.push(item);
    } while (this.#accept("|"));
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: "choice", items };
  }

  #sequence(): Node | null {
    const items: Node[] = [];
    while (!this.atEnd && !this.#is("|") && !this.#is(")")) {
      const atom = this.#atom();
      const item = atom === null ? null : this.#repeated(atom);
      if (item === null) return null;
      items.push(item);
    }
    return { kind: "sequence", items };
  }

  #repeated(atom: Node): Node | null {
    const bounds = this.#bounds();
    if (bounds === null) return atom;
    return { kind: "repeat", item: atom, ...bounds, lazy: this.#accept("?") };
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

  #atom(): Node | null {
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

  #group(): Node | null {
    const kind = /^\?(?::|=|!|<=|<!)/.exec(this.#ahead(3))?.[0];
    this.#index += kind?.length ?? 0;
    const number = kind === undefined ? ++this.groups : 0;
    const start = this.#index;
    const item = this.choice();
    const inside = this.#characters.slice(start, this.#index).join("");
    if (item === null || !this.#accept(")")) return null;
    if (kind === undefined) return { kind: "capture", item, number };
    if (kind === "?:") return item;
    return repeats(item) ? null : { kind: "assertion", source: `(${kind}${inside})` };
  }

  #bracket(): string {
    const start = this.#index - 1;
    while (!this.atEnd && !this.#is("]")) this.#index += this.#is("\\") ? 2 : 1;
    this.#index++;
    return this.#characters.slice(start, this.#index).join("");
  }

  #escape(): Node | null {
    const character = this.#take();
    if (/[1-9]/.test(character)) return null;
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

function repeats(node: Node): boolean {
  switch (node.kind) {
    case "repeat":
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
