/**
 * A cursor over the tokens of a text: what every part of the parser reads from, and where syntax errors are built.
 *
 * Invariants: the cursor never moves behind the end token; `enter` and `leave` bracket every recursion, so nesting is
 * bounded (54001) however the text is built. Parameters and the literals taken over from `normalize` are counted per
 * statement.
 */

import { LIMITS } from "../../base/limits.ts";
import type { Pieces, PieceState } from "../../base/pieces.ts";
import { closest } from "../../base/suggest.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { KEYWORD_CATEGORY, SUGGESTED_KEYWORDS } from "./keywords.ts";
import { refusalHint } from "./refusal_hints.ts";
import { errorPosition } from "./source_text.ts";
import { tokenize, tokenizeIn } from "./lexer.ts";
import { TOKEN, type TokenKind, type TokenList } from "./token.ts";

/** Options of a parse. */
export interface ParseOptions {
  /** The literals that `normalize` found: their nodes get their index as `literalIndex`. */
  readonly literals?: readonly { readonly position: number }[];
  /** UTF-16 units that the text may have; without it there is no limit. */
  readonly lengthMax?: number;
  /** The tokens of the text, where they are known already. */
  readonly tokens?: TokenList;
  /** The text is parsed in pieces. */
  readonly pieces?: Pieces;
}

/** What is counted up to a place of the text. */
interface SavedStream {
  readonly index: number;
  readonly treeDepth: number;
  readonly parameterCount: number;
}

/** A cursor over tokens. `ahead` counts tokens from the current one. */
export class TokenStream implements PieceState<SavedStream> {
  /** Nodes have no effects. */
  readonly progress = 0;
  readonly text: string;
  readonly #tokens: TokenList;
  #index = 0;
  #depth = 0;
  /** Levels of the deepest tree read since the innermost {@link beginTree}. */
  #treeDepth = 0;
  readonly #literalIndexes: ReadonlyMap<number, number> | null;
  readonly #usedLiterals = new Set<number>();
  #parameterCount = 0;
  readonly #pieces: Pieces | undefined;

  constructor(text: string, options: ParseOptions = {}) {
    if (options.lengthMax !== undefined && text.length > options.lengthMax) {
      throw new DatabaseError(
        SQLSTATE.programLimitExceeded,
        `statement text of ${text.length} characters is longer than the limit of ${options.lengthMax}`,
      );
    }
    this.text = text;
    const { tokens, pieces } = options;
    this.#tokens = tokens ?? (pieces === undefined ? tokenize(text) : tokenizeIn(text, pieces));
    this.#pieces = pieces;
    this.#literalIndexes = options.literals === undefined
      ? null
      : new Map(options.literals.map((literal, index) => [literal.position, index]));
  }

  /** Kind of the token. */
  kind(ahead = 0): TokenKind {
    return this.#tokens.kinds[this.#index + ahead] ?? TOKEN.end;
  }

  /** Value of the token: see token.ts. */
  value(ahead = 0): string {
    return this.#tokens.values[this.#index + ahead] ?? "";
  }

  /** UTF-16 offset of the token. */
  get position(): number {
    return this.#tokens.starts[this.#index] ?? this.text.length;
  }

  /** UTF-16 offset of a token behind it. */
  positionAhead(ahead: number): number {
    return this.#tokens.starts[this.#index + ahead] ?? this.text.length;
  }

  /** UTF-16 offset behind the token before the current one. */
  get previousEnd(): number {
    return this.#index === 0 ? 0 : this.#tokens.ends[this.#index - 1] ?? this.text.length;
  }

  /** The text from the offset to the end of the token before the current one. */
  textFrom(start: number): string {
    return this.text.slice(start, this.previousEnd);
  }

  /** Where the cursor is, to come back to with {@link rewind}. */
  get mark(): number {
    return this.#index;
  }

  /** Moves the cursor back to a mark. */
  rewind(mark: number): void {
    this.#index = mark;
  }

  /** What `next` reads until it answers undefined: the items of a list, which may be long. */
  collect<T>(next: () => T | undefined): readonly T[] {
    if (this.#pieces !== undefined) return this.#pieces.collect({ state: this, mark: this.#index }, next);
    const items: T[] = [];
    for (let item = next(); item !== undefined; item = next()) items.push(item);
    return items;
  }

  /** What {@link restore} goes back to. */
  save(): SavedStream {
    return { index: this.#index, treeDepth: this.#treeDepth, parameterCount: this.#parameterCount };
  }

  restore(saved: SavedStream): void {
    this.#index = saved.index;
    this.#treeDepth = saved.treeDepth;
    this.#parameterCount = saved.parameterCount;
  }

  /** Moves to the next token. */
  advance(): void {
    if (this.#index < this.#tokens.kinds.length - 1) this.#index++;
  }

  /** Moves behind so many tokens, of which none is the last. */
  skip(count: number): void {
    this.#index += count;
  }

  /** Another cursor over the same tokens, at a mark of this one. */
  again(mark: number): TokenStream {
    const stream = new TokenStream(this.text, { tokens: this.#tokens });
    stream.rewind(mark);
    return stream;
  }

  /** Whether `normalize` has taken literals out of the text. */
  get hasLiterals(): boolean {
    return this.#literalIndexes !== null;
  }

  /** Moves to the next token and answers the value of the one it leaves. */
  take(): string {
    const value = this.value();
    this.advance();
    return value;
  }

  /** Whether the token is this unquoted word, keyword or not. */
  isWord(word: string, ahead = 0): boolean {
    return this.kind(ahead) === TOKEN.word && this.value(ahead) === word;
  }

  /** Whether the token is one of the unquoted words. */
  isAnyWord(words: readonly string[], ahead = 0): boolean {
    return this.kind(ahead) === TOKEN.word && words.includes(this.value(ahead));
  }

  /** Whether the tokens from here on are these words. */
  isWords(first: string, second: string, third?: string): boolean {
    return this.isWord(first) && this.isWord(second, 1) && (third === undefined || this.isWord(third, 2));
  }

  /** Whether the token is this operator or punctuation. */
  isSymbol(symbol: string, ahead = 0): boolean {
    return this.kind(ahead) >= TOKEN.punctuation && this.value(ahead) === symbol;
  }

  /** Whether the token is a string literal. */
  isString(ahead = 0): boolean {
    return this.kind(ahead) === TOKEN.string;
  }

  /** Whether the statement ends here. */
  get isAtEnd(): boolean {
    return this.kind() === TOKEN.end || this.isSymbol(";");
  }

  /** Takes the word when it is there. */
  acceptWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.advance();
    return true;
  }

  /** Takes all the words when all are there, in this order. */
  acceptWords(...words: readonly string[]): boolean {
    for (let ahead = 0; ahead < words.length; ahead++) {
      if (!this.isWord(words[ahead] ?? "", ahead)) return false;
    }
    for (let count = 0; count < words.length; count++) this.advance();
    return true;
  }

  /** Takes the operator or punctuation when it is there. */
  acceptSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.advance();
    return true;
  }

  /** Takes the words, or raises 42601. */
  expectWords(...words: readonly string[]): void {
    for (const word of words) {
      if (!this.acceptWord(word)) throw this.syntaxError();
    }
  }

  /** Takes one of the words and answers which, or raises 42601. */
  expectAnyWord(words: readonly string[]): string {
    if (!this.isAnyWord(words)) throw this.syntaxError();
    return this.take();
  }

  /** Takes the symbol, or raises 42601. */
  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.syntaxError();
  }

  /** Takes a string literal that is part of the grammar, not a value: it stays out of parameters. */
  expectString(): string {
    if (!this.isString()) throw this.syntaxError();
    return this.take();
  }

  /** Takes an optional sign and an integer, and answers them as decimal text. */
  expectInteger(): string {
    const sign = this.acceptSymbol("-") ? "-" : (this.acceptSymbol("+"), "");
    if (this.kind() !== TOKEN.integer) throw this.syntaxError();
    return sign + this.take();
  }

  /** Whether the token can be the name of a column, table or most other things (PostgreSQL's ColId). */
  isName(ahead = 0): boolean {
    const kind = this.kind(ahead);
    if (kind === TOKEN.quotedIdentifier) return true;
    return kind === TOKEN.word && this.categoryOf(ahead) <= KEYWORD_CATEGORY.columnName;
  }

  /** Whether the token can be the name of a function or type. */
  isFunctionName(ahead = 0): boolean {
    const kind = this.kind(ahead);
    if (kind === TOKEN.quotedIdentifier) return true;
    if (kind !== TOKEN.word) return false;
    const category = this.categoryOf(ahead);
    return category <= KEYWORD_CATEGORY.unreserved || category === KEYWORD_CATEGORY.typeFunctionName;
  }

  /** Whether the token is any identifier or keyword: what may follow AS or a dot. */
  isLabel(ahead = 0): boolean {
    const kind = this.kind(ahead);
    return kind === TOKEN.word || kind === TOKEN.quotedIdentifier;
  }

  /** Keyword category of the token (see keywords.ts). */
  categoryOf(ahead: number): number {
    return this.#tokens.categories[this.#index + ahead] ?? 0;
  }

  /** Keyword category of the current token (see keywords.ts). */
  get category(): number {
    return this.categoryOf(0);
  }

  /** Takes a name, or raises 42601. */
  expectName(): string {
    if (!this.isName()) throw this.syntaxError();
    return this.take();
  }

  /** Takes a label, or raises 42601. */
  expectLabel(): string {
    if (!this.isLabel()) throw this.syntaxError();
    return this.take();
  }

  /** Goes one level deeper; raises 54001 behind `LIMITS.maximumNestingDepth`. */
  enter(): void {
    if (++this.#depth > LIMITS.maximumNestingDepth) throw this.tooDeep();
  }

  /** Comes back from the level that `enter` went to. */
  leave(): void {
    this.#depth--;
  }

  /** Starts measuring a subtree; answers what {@link endTree} needs. */
  beginTree(): number {
    const outer = this.#treeDepth;
    this.#treeDepth = 0;
    return outer;
  }

  /** Ends a subtree: it is one level of the tree around it. */
  endTree(outer: number): void {
    this.#treeDepth = Math.max(outer, this.#treeDepth + 1);
  }

  /** Puts one more level on top of what has been read; raises 54001 behind `LIMITS.maximumExpressionDepth`. */
  deepen(): void {
    if (++this.#treeDepth > LIMITS.maximumExpressionDepth) throw this.tooDeep();
  }

  /** The error of a statement that nests too deeply. */
  tooDeep(): DatabaseError {
    return new DatabaseError(SQLSTATE.statementTooComplex, "stack depth limit exceeded", {
      hint: "Split the statement, or nest its expressions less deeply.",
      position: errorPosition(this.text, this.position),
    });
  }

  /** Takes the parameter token and answers its number. */
  takeParameter(): number {
    const digits = this.value();
    const number = Number(digits);
    if (number < 1 || number > LIMITS.maximumParameters) {
      throw this.error(SQLSTATE.undefinedParameter, `there is no parameter $${digits}`, this.position);
    }
    this.advance();
    this.useParameter(number);
    return number;
  }

  /** Notes that the statement has a parameter of this number. */
  useParameter(number: number): void {
    if (number > this.#parameterCount) this.#parameterCount = number;
  }

  /** The index that `normalize` gave to the literal at the offset, or `null`; it counts as used. */
  literalIndex(position: number): number | null {
    const index = this.#literalIndexes?.get(position);
    if (index === undefined) return null;
    this.#usedLiterals.add(index);
    return index;
  }

  /** Takes back that the literal is used: the parser has made something else of its node. */
  pinLiteral(index: number | null): void {
    if (index !== null) this.#usedLiterals.delete(index);
  }

  /** Indices of the given literals that no node carries. */
  pinnedLiterals(): number[] {
    const pinned: number[] = [];
    for (const index of this.#literalIndexes?.values() ?? []) {
      if (!this.#usedLiterals.has(index)) pinned.push(index);
    }
    return pinned;
  }

  /** The highest parameter number since the last {@link resetParameters}. */
  get parameterCount(): number {
    return this.#parameterCount;
  }

  /** Starts counting parameters and measuring depth for a new statement. */
  resetParameters(): void {
    this.#parameterCount = 0;
    this.#treeDepth = 0;
  }

  /** An error at an offset of the text. */
  error(
    code: typeof SQLSTATE[keyof typeof SQLSTATE],
    message: string,
    offset: number,
    hint?: string,
  ): DatabaseError {
    const position = errorPosition(this.text, offset);
    return new DatabaseError(code, message, hint === undefined ? { position } : { position, hint });
  }

  /** The error of a feature that is understood and not served. */
  unsupported(feature: string, offset = this.position): DatabaseError {
    return this.error(
      SQLSTATE.featureNotSupported,
      `${feature} is not supported`,
      offset,
      refusalHint(feature),
    );
  }

  /** The error that the current token is not allowed here, with a hint when it looks like a misspelt keyword. */
  syntaxError(): DatabaseError {
    const tokens = this.#tokens;
    const index = this.#index;
    const start = tokens.starts[index] ?? this.text.length;
    const isEnd = tokens.kinds[index] === TOKEN.end;
    const message = isEnd
      ? "syntax error at end of input"
      : `syntax error at or near "${this.text.slice(start, tokens.ends[index])}"`;
    // A misspelt word is often taken as an alias, and the token behind it is the one that does not fit.
    const suggestion = this.#suggestion(index) ?? this.#suggestion(index - 1);
    return this.error(
      SQLSTATE.syntaxError,
      message,
      start,
      suggestion === undefined ? undefined : `Did you mean "${suggestion}"?`,
    );
  }

  #suggestion(index: number): string | undefined {
    const tokens = this.#tokens;
    if (tokens.kinds[index] !== TOKEN.word || tokens.categories[index] !== KEYWORD_CATEGORY.none) {
      return undefined;
    }
    const word = tokens.values[index] ?? "";
    if (word.length < 3) return undefined;
    const suggestion = closest(word, SUGGESTED_KEYWORDS);
    return suggestion?.toLowerCase() === word ? undefined : suggestion;
  }
}
