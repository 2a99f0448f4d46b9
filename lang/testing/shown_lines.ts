/**
 * A value's text (`Ball { x: 1.0, trail: [(1, 2), (3, 4)] }`) on lines, so that two of them can be compared line by
 * line.
 *
 * Short values stay on one line; longer ones are opened at their brackets, from outside in. Texts in quotes are never
 * opened.
 */

const WIDTH = 60;

interface Piece {
  /** What stands before the bracket: `Ball {`, `[`, or the whole of a value without brackets. */
  readonly open: string;
  readonly items: readonly Piece[];
  readonly close: string;
}

/** The lines of a value; of a plain text those that it has. */
export function shownLines(text: string, isPlain = false): string[] {
  if (isPlain) return text.split("\n");
  if (text.length <= WIDTH) return [text];
  const reader = new Reader(text);
  const piece = reader.piece();
  return reader.isAtEnd ? linesOf(piece, "", "") : text.split("\n");
}

function flat({ open, items, close }: Piece): string {
  return open + items.map(flat).join(", ") + close;
}

function linesOf(piece: Piece, indent: string, suffix: string): string[] {
  const whole = flat(piece);
  if (piece.items.length === 0 || whole.length + indent.length <= WIDTH) return [indent + whole + suffix];
  return [
    indent + piece.open.trimEnd(),
    ...piece.items.flatMap((item) => linesOf(item, `${indent}  `, ",")),
    indent + piece.close.trimStart() + suffix,
  ];
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** One value, up to a comma or closing bracket. */
  piece(): Piece {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (character === '"' || character === "'") this.#quoted(character);
      else if ("[({".includes(character)) return this.#brackets(start);
      else if (",])}".includes(character)) break;
      else this.#at++;
    }
    return { open: this.#text.slice(start, this.#at), items: [], close: "" };
  }

  #quoted(quote: string): void {
    this.#at++;
    while (this.#at < this.#text.length && this.#text.charAt(this.#at) !== quote) {
      this.#at += this.#text.charAt(this.#at) === "\\" ? 2 : 1;
    }
    this.#at++;
  }

  #brackets(start: number): Piece {
    this.#at++;
    this.#spaces();
    const open = this.#text.slice(start, this.#at);
    const items: Piece[] = [];
    while (this.#at < this.#text.length && !"])}".includes(this.#text.charAt(this.#at))) {
      const before = this.#at;
      items.push(this.piece());
      if (this.#text.charAt(this.#at) === ",") this.#at++;
      this.#spaces();
      if (this.#at === before) break;
    }
    const last = items.at(-1);
    // The space before a closing brace belongs to the brace.
    const hasSpace = last !== undefined && last.items.length === 0 && last.open.endsWith(" ");
    if (hasSpace) items[items.length - 1] = { ...last, open: last.open.trimEnd() };
    const close = `${hasSpace || open.endsWith("{ ") && items.length > 0 ? " " : ""}${
      this.#text.charAt(this.#at)
    }`;
    this.#at++;
    return { open, items, close };
  }

  #spaces(): void {
    while (this.#text.charAt(this.#at) === " ") this.#at++;
  }
}
