/**
 * The lexer: statement text to tokens, by PostgreSQL's lexical rules (chapter 4.1 of its manual, with the non-decimal
 * integers and digit separators of SQL:2023).
 *
 * One pass over character codes, no regular expressions. Strings and identifiers are decoded here; identifiers are
 * folded to lower case (ASCII only, as PostgreSQL does in UTF-8) and cut to 63 bytes. Raises 42601 with PostgreSQL's
 * texts for what cannot be a token, and 22021 / 22025 for escapes that are not characters.
 */

import { DatabaseError, SQLSTATE, type SqlState } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { NO_STATE, onceIn, type Pieces } from "../../base/pieces.ts";
import { KEYWORDS } from "./keywords.ts";
import { errorPosition } from "./source_text.ts";
import { TOKEN, type TokenKind, type TokenList } from "./token.ts";
import { requireWellFormed, truncateName } from "../../types/text.ts";

/** Classes of the first 128 character codes; everything above starts or continues an identifier. */
const CLASS = { other: 0, space: 1, letter: 2, digit: 3, operator: 4, punctuation: 5 } as const;
const CLASSES = buildClasses();

function buildClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  const assign = (characters: string, value: number) => {
    for (const character of characters) classes[character.charCodeAt(0)] = value;
  };
  assign(" \t\n\r\f\v", CLASS.space);
  assign("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", CLASS.letter);
  assign("0123456789", CLASS.digit);
  assign("~!@#^&|`?+-*/%<>=", CLASS.operator);
  assign("()[],;.:", CLASS.punctuation);
  return classes;
}

/** Splits the text into tokens. */
export function tokenize(text: string): TokenList {
  const lexer = new Lexer(text);
  lexer.run(Infinity);
  return lexer.tokens;
}

/** The same, piece by piece, for texts of megabytes: others may have a turn between any two. */
export function* tokenizeInPieces(text: string): Generator<void, TokenList> {
  const lexer = new Lexer(text);
  while (!lexer.run(PIECE_TOKENS)) yield;
  return lexer.tokens;
}

/** The same within work that is done in pieces. */
export function tokenizeIn(text: string, pieces: Pieces): TokenList {
  const lexer = onceIn(pieces, () => new Lexer(text));
  // Where the list is begun again the lexer is at its end.
  const isDone = () => lexer.tokens.kinds.at(-1) === TOKEN.end || lexer.run(PIECE_TOKENS);
  const next = () => isDone() ? undefined : null;
  pieces.collect({ state: NO_STATE, mark: text.length, leastCount: 0 }, next);
  return lexer.tokens;
}

const PIECE_TOKENS = 2048;

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isIdentifierStart(code: number): boolean {
  return code >= 128 || CLASSES[code] === CLASS.letter;
}

function isIdentifierPart(code: number): boolean {
  return code >= 128 || CLASSES[code] === CLASS.letter || CLASSES[code] === CLASS.digit || code === 36;
}

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  if (code >= 65 && code <= 70) return code - 55;
  return -1;
}

class Lexer {
  readonly #text: string;
  readonly #length: number;
  #offset = 0;
  readonly #kinds: TokenKind[] = [];
  readonly #categories: number[] = [];
  readonly #values: string[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(text: string) {
    this.#text = requireWellFormed(text);
    this.#length = text.length;
  }

  /** Reads so many tokens; answers whether the end was reached. */
  run(atMost: number): boolean {
    const text = this.#text;
    for (const end = this.#kinds.length + atMost; this.#kinds.length < end;) {
      this.#skipSpace();
      if (this.#offset >= this.#length) {
        this.#push(TOKEN.end, "", this.#length, this.#length);
        return true;
      }
      const code = text.charCodeAt(this.#offset);
      if (code >= 128) {
        this.#word();
        continue;
      }
      switch (CLASSES[code]) {
        case CLASS.letter:
          if (!this.#prefixedString(code)) this.#word();
          break;
        case CLASS.digit:
          this.#number();
          break;
        case CLASS.punctuation:
          this.#punctuation(code);
          break;
        case CLASS.operator:
          this.#operator();
          break;
        default:
          if (code === 39) this.#quotedString(this.#offset, this.#offset + 1);
          else if (code === 34) this.#quotedIdentifier();
          else if (code === 36) this.#dollar();
          else throw this.#nearError(SQLSTATE.syntaxError, "syntax error", this.#offset, this.#offset + 1);
      }
    }
    return false;
  }

  /** What was read so far. */
  get tokens(): TokenList {
    return {
      text: this.#text,
      kinds: this.#kinds,
      categories: this.#categories,
      values: this.#values,
      starts: this.#starts,
      ends: this.#ends,
    };
  }

  #push(kind: TokenKind, value: string, start: number, end: number, category = 0): void {
    if (this.#kinds.push(kind) > LIMITS.maximumStatementTokens) throw this.#tooLong(start);
    this.#categories.push(category);
    this.#values.push(value);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#offset = end;
  }

  #tooLong(offset: number): DatabaseError {
    return this.#error(
      SQLSTATE.programLimitExceeded,
      `statement text has more than ${LIMITS.maximumStatementTokens} words, numbers and signs`,
      offset,
      "Use COPY, an array as a parameter, or several statements.",
    );
  }

  #error(code: SqlState, message: string, offset: number, hint?: string): DatabaseError {
    const position = errorPosition(this.#text, offset);
    return new DatabaseError(code, message, hint === undefined ? { position } : { position, hint });
  }

  #nearError(code: SqlState, message: string, start: number, end: number): DatabaseError {
    return this.#error(code, `${message} at or near "${this.#text.slice(start, end)}"`, start);
  }

  /** Skips white space and comments; block comments nest. */
  #skipSpace(): void {
    const text = this.#text;
    const length = this.#length;
    let offset = this.#offset;
    while (offset < length) {
      const code = text.charCodeAt(offset);
      if (isSpace(code)) {
        offset++;
      } else if (code === 45 && text.charCodeAt(offset + 1) === 45) {
        offset = this.#endOfLine(offset + 2);
      } else if (code === 47 && text.charCodeAt(offset + 1) === 42) {
        offset = this.#endOfComment(offset);
      } else {
        break;
      }
    }
    this.#offset = offset;
  }

  #endOfLine(offset: number): number {
    while (offset < this.#length) {
      const code = this.#text.charCodeAt(offset);
      if (code === 10 || code === 13) break;
      offset++;
    }
    return offset;
  }

  #endOfComment(start: number): number {
    const text = this.#text;
    let depth = 1;
    let offset = start + 2;
    while (offset < this.#length) {
      const code = text.charCodeAt(offset);
      const next = text.charCodeAt(offset + 1);
      if (code === 42 && next === 47) {
        offset += 2;
        if (--depth === 0) return offset;
      } else if (code === 47 && next === 42) {
        depth++;
        offset += 2;
      } else {
        offset++;
      }
    }
    throw this.#nearError(SQLSTATE.syntaxError, "unterminated /* comment", start, this.#length);
  }

  #word(): void {
    const text = this.#text;
    const start = this.#offset;
    let end = start;
    let hasUpperCase = false;
    while (end < this.#length) {
      const code = text.charCodeAt(end);
      if (!isIdentifierPart(code)) break;
      if (code >= 65 && code <= 90) hasUpperCase = true;
      end++;
    }
    const slice = text.slice(start, end);
    const folded = hasUpperCase ? foldCase(slice) : slice;
    const keyword = KEYWORDS.get(folded);
    if (keyword === undefined) this.#push(TOKEN.word, truncateName(folded), start, end);
    else this.#push(TOKEN.word, keyword.word, start, end, keyword.category);
  }

  #quotedIdentifier(): void {
    const start = this.#offset;
    const end = this.#endOfQuoted(start, start + 1, '"', "unterminated quoted identifier");
    const name = this.#text.slice(start + 1, end - 1).replaceAll('""', '"');
    this.#pushQuotedIdentifier(name, start, end);
  }

  #pushQuotedIdentifier(name: string, start: number, end: number): void {
    if (name.length === 0) {
      throw this.#nearError(SQLSTATE.syntaxError, "zero-length delimited identifier", start, end);
    }
    this.#push(TOKEN.quotedIdentifier, truncateName(name), start, end);
  }

  /**
   * The offset behind the closing quote of a literal whose content begins at `content`; a doubled quote stands for
   * itself.
   */
  #endOfQuoted(start: number, content: number, quote: string, message: string): number {
    const text = this.#text;
    let offset = content;
    while (true) {
      const at = text.indexOf(quote, offset);
      if (at < 0) throw this.#nearError(SQLSTATE.syntaxError, message, start, this.#length);
      if (text[at + 1] !== quote) return at + 1;
      offset = at + 2;
    }
  }

  /** Reads E'', B'', X'', N'', U&'' and U&"" when they start here; otherwise returns false and has moved nothing. */
  #prefixedString(code: number): boolean {
    const text = this.#text;
    const start = this.#offset;
    const next = text.charCodeAt(start + 1);
    const lower = code | 32;
    if (next === 39) {
      if (lower === 101) this.#escapeString(start);
      else if (lower === 98) this.#digitString(start, TOKEN.bitString);
      else if (lower === 120) this.#digitString(start, TOKEN.hexString);
      else if (lower === 110) this.#quotedString(start, start + 2);
      else return false;
      return true;
    }
    if (lower === 117 && next === 38) {
      const quote = text.charCodeAt(start + 2);
      if (quote === 39) this.#unicodeString(start);
      else if (quote === 34) this.#unicodeIdentifier(start);
      else return false;
      return true;
    }
    return false;
  }

  #quotedString(start: number, content: number): void {
    const { value, end } = this.#continuedString(start, content, "unterminated quoted string");
    this.#push(TOKEN.string, value, start, end);
  }

  /**
   * The content of a quoted literal with its continuations: literals that follow after white space with a line break.
   */
  #continuedString(start: number, content: number, message: string): { value: string; end: number } {
    let end = this.#endOfQuoted(start, content, "'", message);
    let value = this.#text.slice(content, end - 1);
    if (value.includes("'")) value = value.replaceAll("''", "'");
    while (true) {
      const next = this.#continuation(end);
      if (next < 0) return { value, end };
      end = this.#endOfQuoted(start, next + 1, "'", message);
      value += this.#text.slice(next + 1, end - 1).replaceAll("''", "'");
    }
  }

  /** The offset of the quote that continues a literal which ended at `offset`, or -1. */
  #continuation(offset: number): number {
    const text = this.#text;
    let hasLineBreak = false;
    while (offset < this.#length) {
      const code = text.charCodeAt(offset);
      if (code === 10 || code === 13) hasLineBreak = true;
      else if (code === 39) return hasLineBreak ? offset : -1;
      else if (code === 45 && text.charCodeAt(offset + 1) === 45) {
        offset = this.#endOfLine(offset + 2);
        continue;
      } else if (!isSpace(code)) return -1;
      offset++;
    }
    return -1;
  }

  #digitString(start: number, kind: TokenKind): void {
    const isBits = kind === TOKEN.bitString;
    const message = isBits ? "unterminated bit string literal" : "unterminated hexadecimal string literal";
    const { value, end } = this.#continuedString(start, start + 2, message);
    for (let index = 0; index < value.length; index++) {
      const digit = hexValue(value.charCodeAt(index));
      if (digit >= 0 && (!isBits || digit <= 1)) continue;
      const text = `"${value[index] ?? ""}" is not a valid ${isBits ? "binary" : "hexadecimal"} digit`;
      throw this.#error(SQLSTATE.invalidTextRepresentation, text, start);
    }
    this.#push(kind, value, start, end);
  }

  #escapeString(start: number): void {
    const text = this.#text;
    const decoder = new EscapeDecoder();
    let offset = start + 2;
    while (true) {
      if (offset >= this.#length) {
        throw this.#nearError(SQLSTATE.syntaxError, "unterminated quoted string", start, this.#length);
      }
      const code = text.charCodeAt(offset);
      if (code === 39) {
        if (text.charCodeAt(offset + 1) === 39) {
          decoder.unit(39);
          offset += 2;
          continue;
        }
        const next = this.#continuation(offset + 1);
        if (next < 0) break;
        offset = next + 1;
      } else if (code === 92) {
        offset = this.#escape(offset, decoder);
      } else {
        decoder.unit(code);
        offset++;
      }
    }
    const value = decoder.finish();
    if (value === null) {
      if (decoder.problem() === UNPAIRED) {
        throw this.#nearError(SQLSTATE.syntaxError, UNPAIRED, offset, offset + 1);
      }
      throw this.#error(SQLSTATE.characterNotInRepertoire, decoder.problem(), start);
    }
    this.#push(TOKEN.string, value, start, offset + 1);
  }

  /** Decodes the escape at the backslash at `offset`; returns the offset behind it. */
  #escape(offset: number, decoder: EscapeDecoder): number {
    const text = this.#text;
    const code = text.charCodeAt(offset + 1);
    switch (code) {
      case 98: // b
        decoder.unit(8);
        return offset + 2;
      case 102: // f
        decoder.unit(12);
        return offset + 2;
      case 110: // n
        decoder.unit(10);
        return offset + 2;
      case 114: // r
        decoder.unit(13);
        return offset + 2;
      case 116: // t
        decoder.unit(9);
        return offset + 2;
      case 118: // v
        decoder.unit(11);
        return offset + 2;
      case 117: // u
        return this.#unicodeEscape(offset, offset + 2, 4, decoder);
      case 85: // U
        return this.#unicodeEscape(offset, offset + 2, 8, decoder);
      case 120: { // x
        const high = hexValue(text.charCodeAt(offset + 2));
        if (high < 0) {
          decoder.unit(code);
          return offset + 2;
        }
        const low = hexValue(text.charCodeAt(offset + 3));
        decoder.byte(low < 0 ? high : high * 16 + low);
        return low < 0 ? offset + 3 : offset + 4;
      }
    }
    if (code >= 48 && code <= 55) {
      let value = 0;
      let at = offset + 1;
      while (at < offset + 4 && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 55) {
        value = value * 8 + text.charCodeAt(at) - 48;
        at++;
      }
      decoder.byte(value & 255);
      return at;
    }
    if (Number.isNaN(code)) return offset + 1;
    decoder.unit(code);
    return offset + 2;
  }

  #unicodeEscape(start: number, digits: number, count: number, decoder: EscapeDecoder): number {
    const value = this.#hexDigits(digits, count);
    if (value < 0) {
      throw this.#error(
        SQLSTATE.invalidEscapeSequence,
        "invalid Unicode escape",
        start,
        "Unicode escapes must be \\uXXXX or \\UXXXXXXXX.",
      );
    }
    if (value > 0x10ffff || value === 0) {
      throw this.#nearError(SQLSTATE.syntaxError, "invalid Unicode escape value", start, digits + count);
    }
    decoder.codePoint(value);
    return digits + count;
  }

  /** The value of exactly `count` hexadecimal digits at the offset, or -1. */
  #hexDigits(offset: number, count: number): number {
    let value = 0;
    for (let index = 0; index < count; index++) {
      const digit = hexValue(this.#text.charCodeAt(offset + index));
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  #unicodeString(start: number): void {
    const { value, end } = this.#continuedString(start, start + 3, "unterminated quoted string");
    const escape = this.#unicodeEscapeCharacter(end);
    this.#push(TOKEN.string, this.#decodeUnicode(value, escape.character, start), start, escape.end);
  }

  #unicodeIdentifier(start: number): void {
    const end = this.#endOfQuoted(start, start + 3, '"', "unterminated quoted identifier");
    const raw = this.#text.slice(start + 3, end - 1).replaceAll('""', '"');
    const escape = this.#unicodeEscapeCharacter(end);
    this.#pushQuotedIdentifier(this.#decodeUnicode(raw, escape.character, start), start, escape.end);
  }

  /** Reads an optional `UESCAPE 'c'` that follows a U& literal. */
  #unicodeEscapeCharacter(end: number): { character: string; end: number } {
    const text = this.#text;
    let offset = end;
    while (offset < this.#length && isSpace(text.charCodeAt(offset))) offset++;
    if (
      text.slice(offset, offset + 7).toLowerCase() !== "uescape" ||
      isIdentifierPart(text.charCodeAt(offset + 7))
    ) {
      return { character: "\\", end };
    }
    offset += 7;
    while (offset < this.#length && isSpace(text.charCodeAt(offset))) offset++;
    const character = text[offset + 1] ?? "";
    const isQuoted = text[offset] === "'" && text[offset + 2] === "'";
    if (!isQuoted) {
      throw this.#nearError(
        SQLSTATE.syntaxError,
        "UESCAPE must be followed by a simple string literal",
        offset,
        Math.min(offset + 1, this.#length),
      );
    }
    if (hexValue(character.charCodeAt(0)) >= 0 || "+'\" \t\n\r\f\v".includes(character)) {
      throw this.#nearError(SQLSTATE.syntaxError, "invalid Unicode escape character", offset, offset + 3);
    }
    return { character, end: offset + 3 };
  }

  #decodeUnicode(raw: string, escape: string, start: number): string {
    if (!raw.includes(escape)) return raw;
    const decoder = new EscapeDecoder();
    let offset = 0;
    while (offset < raw.length) {
      if (raw[offset] !== escape) {
        decoder.unit(raw.charCodeAt(offset++));
        continue;
      }
      if (raw[offset + 1] === escape) {
        decoder.unit(escape.charCodeAt(0));
        offset += 2;
        continue;
      }
      const isLong = raw[offset + 1] === "+";
      const digits = raw.slice(offset + (isLong ? 2 : 1), offset + (isLong ? 8 : 5));
      if (
        digits.length !== (isLong ? 6 : 4) || [...digits].some((digit) => hexValue(digit.charCodeAt(0)) < 0)
      ) {
        throw this.#error(
          SQLSTATE.syntaxError,
          "invalid Unicode escape",
          start,
          "Unicode escapes must be \\XXXX or \\+XXXXXX.",
        );
      }
      const value = Number.parseInt(digits, 16);
      if (value > 0x10ffff || value === 0) {
        throw this.#error(SQLSTATE.syntaxError, "invalid Unicode escape value", start);
      }
      decoder.codePoint(value);
      offset += isLong ? 8 : 5;
    }
    const value = decoder.finish();
    if (value === null) throw this.#error(SQLSTATE.syntaxError, "invalid Unicode surrogate pair", start);
    return value;
  }

  /** `$1`, or a dollar-quoted string. */
  #dollar(): void {
    const text = this.#text;
    const start = this.#offset;
    let offset = start + 1;
    if (isDigit(text.charCodeAt(offset))) {
      while (isDigit(text.charCodeAt(offset))) offset++;
      if (isIdentifierStart(text.charCodeAt(offset))) {
        throw this.#nearError(SQLSTATE.syntaxError, "trailing junk after parameter", start, offset + 1);
      }
      this.#push(TOKEN.parameter, text.slice(start + 1, offset), start, offset);
      return;
    }
    if (isIdentifierStart(text.charCodeAt(offset))) {
      while (isIdentifierPart(text.charCodeAt(offset)) && text.charCodeAt(offset) !== 36) offset++;
    }
    if (text.charCodeAt(offset) !== 36) {
      throw this.#nearError(SQLSTATE.syntaxError, "syntax error", start, start + 1);
    }
    const delimiter = text.slice(start, offset + 1);
    const close = text.indexOf(delimiter, offset + 1);
    if (close < 0) {
      throw this.#nearError(SQLSTATE.syntaxError, "unterminated dollar-quoted string", start, this.#length);
    }
    this.#push(TOKEN.string, text.slice(offset + 1, close), start, close + delimiter.length);
  }

  #number(): void {
    const text = this.#text;
    const start = this.#offset;
    const second = text.charCodeAt(start + 1) | 32;
    if (text.charCodeAt(start) === 48 && (second === 120 || second === 111 || second === 98)) {
      this.#radixInteger(start, second);
      return;
    }
    let end = this.#digits(start);
    let kind: TokenKind = TOKEN.integer;
    // `1..10` is an integer and a range, not a decimal.
    if (text.charCodeAt(end) === 46 && text.charCodeAt(end + 1) !== 46) {
      kind = TOKEN.decimal;
      end++;
      if (isDigit(text.charCodeAt(end))) end = this.#digits(end);
    }
    this.#finishNumber(start, end, kind);
  }

  /** Reads an optional exponent, checks what follows, and pushes the token. */
  #finishNumber(start: number, end: number, kind: TokenKind): void {
    const text = this.#text;
    if ((text.charCodeAt(end) | 32) === 101) {
      const sign = text.charCodeAt(end + 1);
      const digits = sign === 43 || sign === 45 ? end + 2 : end + 1;
      if (isDigit(text.charCodeAt(digits))) {
        kind = TOKEN.decimal;
        end = this.#digits(digits);
      }
    }
    if (isIdentifierStart(text.charCodeAt(end))) this.#trailingJunk(start, end);
    const slice = text.slice(start, end);
    this.#push(kind, slice.includes("_") ? slice.replaceAll("_", "") : slice, start, end);
  }

  #trailingJunk(start: number, end: number): never {
    let junk = end + 1;
    while (isIdentifierPart(this.#text.charCodeAt(junk))) junk++;
    throw this.#nearError(SQLSTATE.syntaxError, "trailing junk after numeric literal", start, junk);
  }

  /** The offset behind a run of digits with single underscores between them. */
  #digits(offset: number): number {
    const text = this.#text;
    while (true) {
      const code = text.charCodeAt(offset);
      if (isDigit(code)) offset++;
      else if (code === 95 && isDigit(text.charCodeAt(offset + 1))) offset += 2;
      else return offset;
    }
  }

  #radixInteger(start: number, marker: number): void {
    const text = this.#text;
    const radix = marker === 120 ? 16 : marker === 111 ? 8 : 2;
    let end = start + 2;
    let digits = "";
    while (true) {
      const at = text.charCodeAt(end) === 95 ? end + 1 : end;
      const digit = hexValue(text.charCodeAt(at));
      if (digit < 0 || digit >= radix) break;
      digits += text[at] ?? "";
      end = at + 1;
    }
    if (digits === "") {
      const name = radix === 16 ? "hexadecimal" : radix === 8 ? "octal" : "binary";
      throw this.#nearError(SQLSTATE.syntaxError, `invalid ${name} integer`, start, end);
    }
    if (isIdentifierPart(text.charCodeAt(end))) this.#trailingJunk(start, end);
    this.#push(
      TOKEN.integer,
      BigInt(text.slice(start, start + 2).toLowerCase() + digits).toString(),
      start,
      end,
    );
  }

  #punctuation(code: number): void {
    const text = this.#text;
    const start = this.#offset;
    const next = text.charCodeAt(start + 1);
    if (code === 46) { // .
      if (isDigit(next)) {
        this.#finishNumber(start, this.#digits(start + 1), TOKEN.decimal);
        return;
      }
      if (next === 46) {
        this.#push(TOKEN.punctuation, "..", start, start + 2);
        return;
      }
    } else if (code === 58) { // :
      if (next === 58) {
        this.#push(TOKEN.punctuation, "::", start, start + 2);
        return;
      }
      if (next === 61) {
        this.#push(TOKEN.punctuation, ":=", start, start + 2);
        return;
      }
    }
    this.#push(TOKEN.punctuation, PUNCTUATION[code] ?? "", start, start + 1);
  }

  #operator(): void {
    const text = this.#text;
    const start = this.#offset;
    let end = start;
    let keepsSign = false;
    while (end < this.#length) {
      const code = text.charCodeAt(end);
      if (code >= 128 || CLASSES[code] !== CLASS.operator) break;
      const next = text.charCodeAt(end + 1);
      if ((code === 45 && next === 45) || (code === 47 && next === 42)) break;
      // ~ ! @ # ^ & | ` ? % let an operator end in + or -.
      if (!(code === 43 || code === 45 || code === 42 || code === 47 || (code >= 60 && code <= 62))) {
        keepsSign = true;
      }
      end++;
    }
    if (!keepsSign) {
      while (end - start > 1) {
        const last = text.charCodeAt(end - 1);
        if (last !== 43 && last !== 45) break;
        end--;
      }
    }
    if (end - start >= 64) {
      throw this.#error(SQLSTATE.syntaxError, "operator too long", start);
    }
    const symbol = end - start === 1 ? OPERATORS[text.charCodeAt(start)] ?? "" : text.slice(start, end);
    if (symbol === "=>") this.#push(TOKEN.punctuation, symbol, start, end);
    else this.#push(TOKEN.operator, symbol === "!=" ? "<>" : symbol, start, end);
  }
}

/** One-character strings by code, so that the commonest tokens allocate nothing. */
const PUNCTUATION: readonly string[] = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const OPERATORS = PUNCTUATION;

const UNPAIRED = "invalid Unicode surrogate pair";

/**
 * Collects the characters of an escaped string: UTF-16 units, code points and raw bytes, which must together be UTF-8
 * (a string may spell one character as several `\x` bytes).
 */
class EscapeDecoder {
  #value = "";
  #bytes: number[] = [];
  #problem = "";

  unit(code: number): void {
    if (this.#bytes.length > 0) this.#flush();
    this.#value += String.fromCharCode(code);
  }

  /** A code point, or one half of a surrogate pair. */
  codePoint(value: number): void {
    if (this.#bytes.length > 0) this.#flush();
    this.#value += String.fromCodePoint(value);
  }

  byte(value: number): void {
    this.#bytes.push(value);
  }

  /** The string, or `null` when it is not well-formed; then `problem` says why. */
  finish(): string | null {
    if (this.#bytes.length > 0) this.#flush();
    if (this.#problem === "" && !this.#value.isWellFormed()) this.#problem = UNPAIRED;
    return this.#problem === "" ? this.#value : null;
  }

  problem(): string {
    return this.#problem;
  }

  #flush(): void {
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes = [];
    try {
      this.#value += new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      this.#problem = invalidBytes(bytes);
    }
    if (bytes.includes(0)) this.#problem = invalidBytes(Uint8Array.of(0));
  }
}

function invalidBytes(bytes: Uint8Array): string {
  const hex = Array.from(bytes.subarray(0, 4), (byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(" ");
  return `invalid byte sequence for encoding "UTF8": ${hex}`;
}

/** Folds ASCII letters only: PostgreSQL leaves others alone in a multi-byte encoding. */
function foldCase(name: string): string {
  let isAscii = true;
  for (let index = 0; index < name.length && isAscii; index++) isAscii = name.charCodeAt(index) < 128;
  if (isAscii) return name.toLowerCase();
  let folded = "";
  for (const character of name) {
    folded += character >= "A" && character <= "Z" ? character.toLowerCase() : character;
  }
  return folded;
}
