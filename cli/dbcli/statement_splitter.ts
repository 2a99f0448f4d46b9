/**
 * Cuts a stream of lines into statements and shell commands, without running any.
 *
 * A statement ends at `;`, at the end of the input, and before a line that begins with a statement's keyword when
 * what precedes it is already complete, so that both one statement a line and ordinary SQL files work. Complete
 * is what the parser reads without wanting more; a text that is wrong wherever it might go on is complete too, so
 * that its error does not swallow the next statement. Lines that begin with `#` or `--` are comments, unless they
 * are inside of quotes.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import { parseStatements } from "../../engine/sql/parser/statements.ts";

/** What the input consists of. */
export type Piece =
  | { readonly kind: "statement"; readonly text: string }
  /** A line that begins with a backslash. */
  | { readonly kind: "command"; readonly text: string };

/** How the splitter decides. */
export interface SplitterOptions {
  /** In a shell only `;` ends a statement, so that it can be written in as many lines as one likes. */
  readonly endsBeforeKeyword: boolean;
}

/** The words that statements begin with. */
const STATEMENT_KEYWORDS: ReadonlySet<string> = new Set(
  `abort alter analyze begin call checkpoint close comment commit copy create deallocate declare delete describe discard do
  drop end execute explain fetch grant insert listen lock merge move notify prepare refresh reindex release reset revoke
  rollback savepoint select set show start table truncate unlisten update vacuum values with`.split(/\s+/),
);

/** Where the end of a line is. */
type Context =
  | { readonly kind: "plain" }
  | { readonly kind: "quote"; readonly mark: "'" | '"'; readonly escapes: boolean }
  | { readonly kind: "dollar"; readonly tag: string }
  | { readonly kind: "comment"; readonly depth: number };

const PLAIN: Context = { kind: "plain" };

/** Cuts a stream of lines into statements and shell commands, without running any. */
export class StatementSplitter {
  readonly #options: SplitterOptions;
  #text = "";
  #context: Context = PLAIN;

  constructor(options: SplitterOptions) {
    this.#options = options;
  }

  /** Whether a statement has begun and not ended. */
  get isOpen(): boolean {
    return this.#text.trim() !== "";
  }

  /** Whether nothing is wanted before what has begun could run. */
  get isComplete(): boolean {
    return !this.isOpen || (this.#context.kind === "plain" && isComplete(this.#text));
  }

  /** Takes one line, without its line break. Answers what has ended with it. */
  line(line: string): Piece[] {
    const pieces: Piece[] = [];
    if (this.#context.kind === "plain") {
      const trimmed = line.trimStart();
      if (trimmed === "" && !this.isOpen) return pieces;
      if (trimmed.startsWith("#") || trimmed.startsWith("--")) return pieces;
      if (trimmed.startsWith("\\")) {
        if (this.isOpen && !this.#options.endsBeforeKeyword) {
          this.#scan(line, pieces);
          return pieces;
        }
        this.#end(pieces);
        pieces.push({ kind: "command", text: trimmed.trimEnd() });
        return pieces;
      }
      if (
        this.#options.endsBeforeKeyword && this.isOpen && beginsStatement(trimmed) && isComplete(this.#text)
      ) {
        this.#end(pieces);
      }
    }
    this.#scan(line, pieces);
    return pieces;
  }

  /** The end of the input. */
  end(): Piece[] {
    const pieces: Piece[] = [];
    this.#end(pieces);
    return pieces;
  }

  /** Forgets what has begun. */
  clear(): void {
    this.#text = "";
    this.#context = PLAIN;
  }

  #end(pieces: Piece[]): void {
    const text = this.#text.trim();
    this.clear();
    if (text !== "" && !isOnlyComment(text)) pieces.push({ kind: "statement", text });
  }

  #scan(line: string, pieces: Piece[]): void {
    let start = 0;
    for (let at = 0; at < line.length;) {
      const context = this.#context;
      switch (context.kind) {
        case "quote":
          at = this.#insideQuote(line, at, context);
          continue;
        case "dollar": {
          const end = line.indexOf(context.tag, at);
          if (end >= 0) this.#context = PLAIN;
          at = end < 0 ? line.length : end + context.tag.length;
          continue;
        }
        case "comment":
          at = this.#insideComment(line, at, context.depth);
          continue;
        case "plain":
      }
      if (line[at] === ";") {
        this.#text += line.slice(start, at);
        this.#end(pieces);
        start = ++at;
      } else if (line.startsWith("--", at)) {
        // The comment takes the rest of the line; it may stay in the text, which the parser reads the same way.
        at = line.length;
      } else at = this.#plain(line, at);
    }
    this.#text += line.slice(start);
    if (this.#text.trim() === "" && this.#context.kind === "plain") this.#text = "";
    else this.#text += "\n";
  }

  #plain(line: string, at: number): number {
    const character = line[at];
    if (character === "'" || character === '"') {
      const escapes = character === "'" && /(^|[^\w$])[eE]$/.test(line.slice(0, at));
      this.#context = { kind: "quote", mark: character, escapes };
      return at + 1;
    }
    if (line.startsWith("/*", at)) {
      this.#context = { kind: "comment", depth: 1 };
      return at + 2;
    }
    if (character === "$" && !/[\w$]$/.test(line.slice(0, at))) {
      const tag = /^\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/.exec(line.slice(at))?.[0];
      if (tag !== undefined) {
        this.#context = { kind: "dollar", tag };
        return at + tag.length;
      }
    }
    return at + 1;
  }

  #insideQuote(line: string, at: number, context: Context & { readonly kind: "quote" }): number {
    if (context.escapes && line[at] === "\\") return at + 2;
    if (line[at] !== context.mark) return at + 1;
    if (line[at + 1] === context.mark) return at + 2;
    this.#context = PLAIN;
    return at + 1;
  }

  #insideComment(line: string, at: number, depth: number): number {
    if (line.startsWith("/*", at)) this.#context = { kind: "comment", depth: depth + 1 };
    else if (line.startsWith("*/", at)) {
      this.#context = depth === 1 ? PLAIN : { kind: "comment", depth: depth - 1 };
    } else return at + 1;
    return at + 2;
  }
}

function beginsStatement(trimmed: string): boolean {
  const word = /^[A-Za-z]+/.exec(trimmed)?.[0].toLowerCase();
  if (word === undefined || !STATEMENT_KEYWORDS.has(word)) return false;
  // The one keyword that also begins a clause at the end of a complete statement.
  return !(word === "fetch" && /^fetch\s+(first|next)\b.*\b(only|ties)\b/i.test(trimmed));
}

/** Whether the text would be run as it is: it parses, or no continuation could make it parse. */
export function isComplete(text: string): boolean {
  try {
    return parseStatements(text).length > 0;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return !/at end of input|unterminated/.test(error.message);
  }
}

function isOnlyComment(text: string): boolean {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/--[^\n]*/g, "").trim() === "";
}
