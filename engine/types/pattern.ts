/**
 * Patterns: LIKE and ILIKE, SIMILAR TO, and POSIX regular expressions as PostgreSQL writes them.
 *
 * LIKE compiles to a test without regular expressions, with direct paths for exact, prefix, suffix and substring
 * patterns. `_` and `.` match one character (code point). POSIX expressions are translated to JavaScript's; who then
 * looks for matches is decided in regular_expression/. Compiled expressions are remembered, up to 500.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import { LIMITS } from "../base/limits.ts";
import { chooseMatcher } from "./regular_expression/compile.ts";
import type { Matcher } from "./regular_expression/matcher.ts";

/** Characters put in for matches in one step of `gas`. */
const REPLACED_CHARACTERS_PER_STEP = 32;

/** A test of a text against a compiled pattern. */
export type TextTest = (text: string) => boolean;

/** One character of a LIKE pattern between `%`s: a literal or, undefined, any one character. */
type Element = string | undefined;

/** Compiles a LIKE or ILIKE pattern; `escape` is one character, or empty for none; 22025 for malformed ones. */
export function compileLike(pattern: string, escape = "\\", insensitive = false): TextTest {
  const folded = insensitive ? pattern.toLowerCase() : pattern;
  if (endsInEscape(folded, escape)) {
    return compileMalformed(folded.slice(0, -escape.length), escape, insensitive);
  }
  const test = compileSegments(splitPattern(folded, insensitive ? escape.toLowerCase() : escape));
  return insensitive ? (text) => test(text.toLowerCase()) : test;
}

/** The literal text that every match begins with, for narrowing by an index; empty when there is none. */
export function likePrefix(pattern: string, escape = "\\"): { prefix: string; exact: boolean } {
  const malformed = endsInEscape(pattern, escape);
  const segments = splitPattern(malformed ? pattern.slice(0, -escape.length) : pattern, escape);
  const first = segments[0] ?? [];
  const wildcard = first.indexOf(undefined);
  const prefix = (wildcard < 0 ? first : first.slice(0, wildcard)).join("");
  return { prefix, exact: segments.length === 1 && wildcard < 0 && !malformed };
}

/** Whether the last character is an escape character that escapes nothing. */
function endsInEscape(pattern: string, escape: string): boolean {
  if (escape === "" || !pattern.endsWith(escape)) return false;
  let isEscape = false;
  for (const character of pattern) isEscape = !isEscape && character === escape;
  return isEscape;
}

/**
 * A pattern that ends in its escape character matches nothing, and is an error only for a text in which something is
 * left where that character is reached. Behind `%` with `_`, which take what is there, nothing need be left.
 */
function compileMalformed(before: string, escape: string, insensitive: boolean): TextTest {
  const segments = splitPattern(before, escape);
  const literal = segments.findLastIndex((segment, index) => index === 0 || segment.join("") !== "");
  const takes = segments.slice(literal + 1).some((segment) => segment.length > 0);
  const reached = compileLike(`${before}${takes ? "" : "_"}%`, escape, insensitive);
  return (text) => {
    if (reached(text)) {
      throw new DatabaseError(
        SQLSTATE.invalidEscapeSequence,
        "LIKE pattern must not end with escape character",
      );
    }
    return false;
  };
}

function checkEscape(escape: string): void {
  if ([...escape].length <= 1) return;
  throw new DatabaseError(SQLSTATE.invalidEscapeSequence, "invalid escape string", {
    hint: "Escape string must be empty or one character.",
  });
}

/** The parts between the `%`s of a pattern. */
function splitPattern(pattern: string, escape: string): Element[][] {
  checkEscape(escape);
  const segments: Element[][] = [[]];
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const segment = segments[segments.length - 1] ?? [];
    if (character === escape) {
      index++;
      const next = characters[index];
      assert(next !== undefined, "the callers have refused a pattern that ends in its escape character");
      segment.push(next);
    } else if (character === "%") segments.push([]);
    else segment.push(character === "_" ? undefined : character);
  }
  return segments;
}

function compileSegments(segments: Element[][]): TextTest {
  const literals = segments.map((segment) => segment.includes(undefined) ? undefined : segment.join(""));
  const [first, ...rest] = literals;
  if (first !== undefined && rest.length === 0) return (text) => text === first;
  const last = rest[rest.length - 1];
  const middle = rest.slice(0, -1);
  if (first !== undefined && last !== undefined && middle.every((literal) => literal !== undefined)) {
    const inner = middle.filter((literal) => literal !== "");
    if (inner.length === 0) return compileEnds(first, last);
    const [only] = inner;
    if (only !== undefined && inner.length === 1 && first === "" && last === "") {
      return (text) => text.includes(only);
    }
    return compileLiterals(first, inner, last);
  }
  return compileGeneral(segments);
}

function compileEnds(first: string, last: string): TextTest {
  if (last === "") return first === "" ? () => true : (text) => text.startsWith(first);
  if (first === "") return (text) => text.endsWith(last);
  const shortest = first.length + last.length;
  return (text) => text.length >= shortest && text.startsWith(first) && text.endsWith(last);
}

function compileLiterals(first: string, inner: readonly string[], last: string): TextTest {
  return (text) => {
    if (!text.startsWith(first)) return false;
    let position = first.length;
    for (const literal of inner) {
      const found = text.indexOf(literal, position);
      if (found < 0) return false;
      position = found + literal.length;
    }
    return text.length - last.length >= position && text.endsWith(last);
  };
}

/** Matches a segment at a position; answers the position after it, or -1. */
function matchSegment(text: string, start: number, segment: readonly Element[]): number {
  let position = start;
  for (const element of segment) {
    if (position >= text.length) return -1;
    if (element === undefined) position += widthAt(text, position);
    else if (text.startsWith(element, position)) position += element.length;
    else return -1;
  }
  return position;
}

function widthAt(text: string, position: number): number {
  const code = text.charCodeAt(position);
  return code >= 0xd800 && code < 0xdc00 && position + 1 < text.length ? 2 : 1;
}

function compileGeneral(segments: Element[][]): TextTest {
  const first = segments[0] ?? [];
  if (segments.length === 1) return (text) => matchSegment(text, 0, first) === text.length;
  const last = segments[segments.length - 1] ?? [];
  const inner = segments.slice(1, -1).filter((segment) => segment.length > 0);
  return (text) => {
    let position = matchSegment(text, 0, first);
    if (position < 0) return false;
    // The leftmost match of each inner segment leaves the most for those after it.
    for (const segment of inner) {
      let end = -1;
      while (position <= text.length) {
        end = matchSegment(text, position, segment);
        if (end >= 0 || position === text.length) break;
        position += widthAt(text, position);
      }
      if (end < 0) return false;
      position = end;
    }
    let start = text.length;
    for (let count = 0; count < last.length; count++) {
      start--;
      const code = text.charCodeAt(start);
      if (code >= 0xdc00 && code < 0xe000) start--;
      if (start < position) return false;
    }
    return matchSegment(text, start, last) === text.length;
  };
}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/;

function quoteCharacter(character: string): string {
  return SYNTAX.test(character) ? `\\${character}` : character;
}

/** Compiles a SIMILAR TO pattern; `escape` as for LIKE. */
export function compileSimilar(pattern: string, escape = "\\"): TextTest {
  const expression = remember(`similar\0${escape}\0${pattern}`, () => {
    const source = similarToRegularExpression(pattern, escape);
    return construct(`^(?:${source})$`, "su");
  });
  return (text) => {
    expression.lastIndex = 0;
    return expression.test(text);
  };
}

function similarToRegularExpression(pattern: string, escape: string): string {
  checkEscape(escape);
  const characters = [...pattern];
  let source = "";
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === escape) {
      index++;
      const next = characters[index];
      if (next === undefined) {
        throw new DatabaseError(SQLSTATE.invalidEscapeSequence, "invalid escape sequence");
      }
      source += quoteCharacter(next);
    } else if (character === "[") {
      const bracket = translateBracket(characters, index, escape === "" ? undefined : escape, false);
      source += bracket.source;
      index = bracket.end;
    } else if (character === "%") source += ".*";
    else if (character === "_") source += ".";
    else if (character === "(") source += "(?:";
    else if ("|*+?{}),".includes(character)) source += character;
    else source += quoteCharacter(character);
  }
  return source;
}

const compiled = new Map<string, Matcher>();

function remember(key: string, make: () => RegExp): Matcher {
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const expression = chooseMatcher(make());
  if (compiled.size >= LIMITS.keptPatterns) compiled.clear();
  compiled.set(key, expression);
  return expression;
}

function invalidExpression(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidRegularExpression, `invalid regular expression: ${message}`);
}

function construct(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (/nothing to repeat|incomplete quantifier/i.test(message)) {
      throw invalidExpression("quantifier operand invalid");
    }
    if (/group|parenthes/i.test(message)) throw invalidExpression("parentheses () not balanced");
    if (/character class/i.test(message)) throw invalidExpression("invalid character range");
    if (/out of order/i.test(message)) throw invalidExpression("invalid repetition count(s)");
    if (/escape|capture/i.test(message)) throw invalidExpression("invalid backreference number");
    throw invalidExpression("invalid regexp (reg version 0.8)");
  }
}

/**
 * Compiles a POSIX regular expression (PostgreSQL's ARE) with its option letters. The result is global, so that it can
 * find all matches; set `lastIndex` to 0 before use. 2201B for malformed expressions, 22023 for unknown options.
 */
export function compileRegularExpression(pattern: string, options = ""): Matcher {
  const expression = remember(`${options}\0${pattern}`, () => {
    const translator = new Translator(pattern, options);
    return construct(translator.translate(), translator.flags);
  });
  expression.lastIndex = 0;
  return expression;
}

/** A test for the operators `~` and `~*`. */
export function compileMatch(pattern: string, insensitive = false): TextTest {
  const expression = compileRegularExpression(pattern, insensitive ? "i" : "");
  return (text) => {
    expression.lastIndex = 0;
    return expression.test(text);
  };
}

/** Replaces matches; `\1` to `\9` and `\&` in the replacement stand for the match's parts (`regexp_replace`). */
export function replaceMatches(options: {
  readonly text: string;
  readonly expression: Matcher;
  readonly replacement: string;
  /** All matches rather than the first. */
  readonly all: boolean;
  /** Replace only the match of that number, counted from 1. */
  readonly occurrence?: number;
  /** Start there, in UTF-16 units. */
  readonly start?: number;
}): string {
  const { text, expression, all, occurrence = 0, start = 0 } = options;
  const replacement = partsOf(options.replacement);
  let result = text.slice(0, start);
  /** What follows, put together when it is much: a text of millions of parts takes a multiple of its size. */
  let parts: string[] = [];
  let position = start;
  let count = 0;
  expression.lastIndex = start;
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    count++;
    if (occurrence === 0 || occurrence === count) {
      const expanded = expandReplacement(replacement, match);
      gas.charge(1 + expanded.length / REPLACED_CHARACTERS_PER_STEP);
      if (parts.push(text.slice(position, match.index), expanded) >= JOINED_PARTS) {
        result += parts.join("");
        parts = [];
      }
      position = match.index + match[0].length;
      if (!all || occurrence !== 0) break;
    }
    if (match[0] === "") {
      if (match.index >= text.length) break;
      expression.lastIndex = match.index + widthAt(text, match.index);
    }
  }
  return result + parts.join("") + text.slice(position);
}

/** Parts of a result that are put together at once. */
const JOINED_PARTS = 4096;

/** A replacement as texts and numbers of groups, of which 0 is the whole match. */
function partsOf(replacement: string): readonly (string | number)[] {
  const parts: (string | number)[] = [];
  let position = 0;
  for (const escape of replacement.matchAll(/\\([0-9&\\]?)/g)) {
    const [whole, kind = ""] = escape;
    parts.push(replacement.slice(position, escape.index));
    position = escape.index + whole.length;
    if (kind === "0") parts.push(whole);
    else if (kind === "\\" || kind === "") parts.push("\\");
    else parts.push(kind === "&" ? 0 : Number(kind));
  }
  parts.push(replacement.slice(position));
  return parts;
}

function expandReplacement(parts: readonly (string | number)[], match: RegExpExecArray): string {
  const [only] = parts;
  if (parts.length === 1 && typeof only === "string") return only;
  let expanded = "";
  for (const part of parts) expanded += typeof part === "string" ? part : match[part] ?? "";
  return expanded;
}

const CLASSES: Readonly<Record<string, string>> = {
  alpha: "\\p{Alphabetic}",
  digit: "0-9",
  alnum: "\\p{Alphabetic}0-9",
  upper: "\\p{Lu}",
  lower: "\\p{Ll}",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`\\{-~",
  print: " -~\\u{a0}-\\u{10ffff}",
  graph: "!-~\\u{a1}-\\u{10ffff}",
  cntrl: "\\x00-\\x1f\\x7f",
  xdigit: "0-9A-Fa-f",
  ascii: "\\x00-\\x7f",
  word: "\\p{Alphabetic}0-9_",
};

/** Translates a bracket expression that starts at an index; answers the index of its `]`. */
function translateBracket(
  characters: readonly string[],
  start: number,
  escape: string | undefined,
  excludesNewline: boolean,
): { source: string; end: number } {
  let index = start + 1;
  let source = "[";
  const negated = characters[index] === "^";
  if (negated) {
    source += excludesNewline ? "^\\n" : "^";
    index++;
  }
  let empty = true;
  let rangeIsOpen = false;
  let rangeIsClosed = false;
  for (;; index++) {
    const character = characters[index];
    if (character === undefined) throw invalidExpression("brackets [] not balanced");
    if (character === "]" && !empty) break;
    empty = false;
    if (character !== "-") [rangeIsOpen, rangeIsClosed] = [false, rangeIsOpen];
    const next = characters[index + 1];
    if (character === "[" && (next === ":" || next === "." || next === "=")) {
      let end = index + 2;
      while (end < characters.length && !(characters[end] === next && characters[end + 1] === "]")) end++;
      if (end >= characters.length) throw invalidExpression("brackets [] not balanced");
      const name = characters.slice(index + 2, end).join("");
      if (next === ":") {
        const set = CLASSES[name];
        if (set === undefined) throw invalidExpression("invalid character class");
        source += set;
      } else source += quoteInBracket(name);
      index = end + 1;
    } else if (escape !== undefined && character === escape) {
      index++;
      const escaped = characters[index];
      if (escaped === undefined) throw invalidExpression("invalid escape \\ sequence");
      if (escape !== "\\") source += quoteInBracket(escaped);
      else if (/[dswDSW]/.test(escaped)) source += `\\${escaped}`;
      else if (/[nrtfv]/.test(escaped)) source += `\\${escaped}`;
      else if (escaped === "b") source += "\\x08";
      else if (escaped === "a") source += "\\x07";
      else if (escaped === "e") source += "\\x1b";
      else if (escaped === "x" || escaped === "u") {
        const digits = /^[0-9a-fA-F]{1,4}/.exec(characters.slice(index + 1, index + 5).join(""))?.[0] ?? "";
        if (digits === "") throw invalidExpression("invalid escape \\ sequence");
        source += `\\u{${digits}}`;
        index += digits.length;
      } else source += quoteInBracket(escaped);
    } else if (character === "-") {
      // Between two characters it makes a range; at an end it stands for itself.
      const atEnd = next === "]" || source === "[" || source === "[^" || source === "[^\\n";
      if (!atEnd && rangeIsClosed) throw invalidExpression("invalid character range");
      rangeIsOpen = !atEnd;
      source += atEnd ? "\\-" : "-";
    } else source += quoteInBracket(character);
  }
  return { source: source + "]", end: index };
}

function quoteInBracket(character: string): string {
  return /[\\\]\[^\-]/.test(character) ? `\\${character}` : character;
}

/** Turns an ARE into the source and flags of a JavaScript expression. */
class Translator {
  readonly #characters: readonly string[];
  #index = 0;
  #insensitive = false;
  #expanded = false;
  #literal = false;
  #dotExcludesNewline = false;
  #linesAnchor = false;
  #isBasic = false;
  /** Capturing groups opened so far. */
  #groups = 0;

  constructor(pattern: string, options: string) {
    for (const option of options) this.#option(option);
    let rest = pattern;
    if (rest.startsWith("***=")) {
      this.#literal = true;
      rest = rest.slice(4);
    } else if (rest.startsWith("***:")) rest = rest.slice(4);
    const embedded = this.#literal ? null : /^\(\?([a-z]+)\)/.exec(rest);
    if (embedded !== null) {
      for (const option of embedded[1] ?? "") this.#option(option, true);
      rest = rest.slice(embedded[0].length);
    }
    this.#characters = [...rest];
  }

  #option(option: string, isEmbedded = false): void {
    switch (option) {
      case "i":
        this.#insensitive = true;
        return;
      case "c":
        this.#insensitive = false;
        return;
      case "x":
        this.#expanded = true;
        return;
      case "t":
        this.#expanded = false;
        return;
      case "q":
        this.#literal = true;
        return;
      case "n":
      case "m":
        this.#dotExcludesNewline = true;
        this.#linesAnchor = true;
        return;
      case "p":
        this.#dotExcludesNewline = true;
        this.#linesAnchor = false;
        return;
      case "w":
        this.#dotExcludesNewline = false;
        this.#linesAnchor = true;
        return;
      case "s":
        this.#dotExcludesNewline = false;
        this.#linesAnchor = false;
        return;
      case "e":
        return;
      case "b":
        this.#isBasic = true;
        return;
      default:
        if (option === "g" && !isEmbedded) return;
        if (isEmbedded) throw invalidExpression("invalid embedded option");
        throw new DatabaseError(
          SQLSTATE.invalidParameterValue,
          `invalid regular expression option: "${option}"`,
        );
    }
  }

  get flags(): string {
    return `gu${this.#insensitive ? "i" : ""}${this.#linesAnchor ? "m" : ""}${
      this.#dotExcludesNewline ? "" : "s"
    }`;
  }

  translate(): string {
    if (this.#literal) return this.#characters.map(quoteCharacter).join("");
    if (this.#isBasic && this.#characters.some((character) => "\\(){}+?|".includes(character))) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "basic regular expressions (option b) are not supported",
      );
    }
    let source = "";
    let depth = 0;
    for (; this.#index < this.#characters.length; this.#index++) {
      const character = this.#characters[this.#index] ?? "";
      if (this.#expanded && this.#skipsExpanded(character)) continue;
      if (character === "\\") source += this.#escape();
      else if (character === "[") source += this.#bracket();
      else if (character === "(" && this.#skipsComment()) continue;
      else if (character === "(") {
        depth++;
        source += this.#openGroup();
      } else if (character === ")") {
        depth--;
        if (depth < 0) throw invalidExpression("parentheses () not balanced");
        source += ")";
      } else if (character === "{") source += this.#braces();
      else if (character === "}" || character === "]" || character === "/") source += `\\${character}`;
      else source += character;
    }
    if (depth !== 0) throw invalidExpression("parentheses () not balanced");
    return source;
  }

  /** Expanded syntax: white space and comments to the end of the line do not count. */
  #skipsExpanded(character: string): boolean {
    if (/\s/.test(character)) return true;
    if (character !== "#") return false;
    while (this.#index < this.#characters.length && this.#characters[this.#index] !== "\n") this.#index++;
    return true;
  }

  /** Skips `(?#comment)`. */
  #skipsComment(): boolean {
    if (this.#characters[this.#index + 1] !== "?" || this.#characters[this.#index + 2] !== "#") return false;
    const end = this.#characters.indexOf(")", this.#index);
    if (end < 0) throw invalidExpression("parentheses () not balanced");
    this.#index = end;
    return true;
  }

  #openGroup(): string {
    if (this.#characters[this.#index + 1] !== "?") {
      this.#groups++;
      return "(";
    }
    const rest = this.#characters.slice(this.#index + 1, this.#index + 4).join("");
    const kind = /^\?(?::|=|!|<=|<!)/.exec(rest)?.[0];
    if (kind === undefined) throw invalidExpression("quantifier operand invalid");
    this.#index += kind.length;
    return `(${kind}`;
  }

  #braces(): string {
    const rest = this.#characters.slice(this.#index, this.#index + 16).join("");
    if (!/^\{\d/.test(rest)) return "\\{";
    const bound = /^\{(\d+)(?:(,)(\d*))?\}/.exec(rest);
    if (bound === null) {
      const isCut = /^\{\d+(,\d*)?$/.test(rest);
      throw invalidExpression(isCut ? "braces {} not balanced" : "invalid repetition count(s)");
    }
    if (Number(bound[1]) > 255 || Number(bound[3] ?? 0) > 255) {
      throw invalidExpression("invalid repetition count(s)");
    }
    this.#index += bound[0].length - 1;
    return bound[0];
  }

  #bracket(): string {
    const word = this.#characters.slice(this.#index, this.#index + 7).join("");
    if (word === "[[:<:]]" || word === "[[:>:]]") {
      this.#index += 6;
      return word === "[[:<:]]" ? "(?<!\\w)(?=\\w)" : "(?<=\\w)(?!\\w)";
    }
    const bracket = translateBracket(this.#characters, this.#index, "\\", this.#dotExcludesNewline);
    this.#index = bracket.end;
    return bracket.source;
  }

  /**
   * One digit from 1 on is a reference, more are one when there are as many groups before; else they are an octal
   * number.
   */
  #number(): string {
    const rest = this.#characters.slice(this.#index, this.#index + 20).join("");
    const decimal = /^[1-9]\d*/.exec(rest)?.[0] ?? "";
    if (decimal.length === 1 || (decimal !== "" && Number(decimal) <= this.#groups)) {
      this.#index += decimal.length - 1;
      return `\\${decimal}`;
    }
    const octal = /^[0-7]{1,3}/.exec(rest)?.[0] ?? "";
    if (octal === "") throw invalidExpression("invalid escape \\ sequence");
    this.#index += octal.length - 1;
    return `\\u{${parseInt(octal, 8).toString(16)}}`;
  }

  #escape(): string {
    this.#index++;
    const character = this.#characters[this.#index];
    if (character === undefined) throw invalidExpression("invalid escape \\ sequence");
    switch (character) {
      case "m":
        return "(?<!\\w)(?=\\w)";
      case "M":
        return "(?<=\\w)(?!\\w)";
      case "y":
        return "\\b";
      case "Y":
        return "\\B";
      case "A":
        return "(?<![\\s\\S])";
      case "Z":
        return "(?![\\s\\S])";
      case "a":
        return "\\x07";
      case "b":
        return "\\x08";
      case "B":
        return "\\\\";
      case "e":
        return "\\x1b";
      case "c": {
        this.#index++;
        const control = this.#characters[this.#index];
        if (control === undefined) throw invalidExpression("invalid escape \\ sequence");
        return `\\u{${((control.codePointAt(0) ?? 0) & 31).toString(16)}}`;
      }
      case "x":
      case "u":
      case "U": {
        const most = character === "u" ? 4 : 8;
        const digits = /^[0-9a-fA-F]*/.exec(
          this.#characters.slice(this.#index + 1, this.#index + 1 + most).join(""),
        )?.[0] ?? "";
        if (digits === "" || (character !== "x" && digits.length !== most)) {
          throw invalidExpression("invalid escape \\ sequence");
        }
        this.#index += digits.length;
        return `\\u{${digits}}`;
      }
    }
    if (/\d/.test(character)) return this.#number();
    if (/[dDsSwWnrtfv]/.test(character)) return `\\${character}`;
    if (/[A-Za-z]/.test(character)) throw invalidExpression("invalid escape \\ sequence");
    return quoteCharacter(character);
  }
}
