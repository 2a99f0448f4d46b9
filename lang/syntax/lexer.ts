/**
 * The lexer: text → tokens and comments, by moo.
 *
 * Nothing of the text is lost: what stands between tokens and comments is white space. A text without expressions is
 * one token; one with expressions, or of several lines, is a start, parts and an end, and inside of its braces stand
 * tokens as anywhere. An error is reported and repaired on its line, so that the parser goes on: an unclosed text ends
 * with its line, a character that means nothing is left out. Limits: at most {@link REPAIRED_TEXTS} texts are
 * repaired on one line, and as many that are open at the end of the file; the rest of such a line is one text.
 */
import moo from "moo";
import type { Documentation } from "./ast.ts";
import { type LexicalError, numberError, textErrors } from "./lexical_errors.ts";
import { type Comment, KEYWORDS, PUNCTUATION, terminalNumber, Token } from "./token.ts";

/** How many texts are repaired before the rest of a line, or of the file, is given up. */
const REPAIRED_TEXTS = 4;

/** What a text consists of. */
export interface Lexed {
  readonly tokens: Token[];
  readonly comments: Comment[];
  readonly errors: LexicalError[];
}

const signs = PUNCTUATION.flatMap((text) => [text, `${text} `]);
const withoutBraces = signs.filter((text) => !/^[{}]/.test(text));

/** What tokens look like; the grammar for editors is made of the same expressions. */
export const PATTERNS = {
  word: /[A-Za-z_][A-Za-z0-9_]*/,
  comment: /\/\/[^\n]*/,
  // Behind a single dot stands the part of a tuple: `pair.0.1` has no fraction in it.
  number:
    /(?<=(?<![.])[.])[0-9]+|[0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*)?(?:(?<=[0-9][eE])[+-][0-9A-Za-z_]*)?/,
  character: /'(?:[^'\\\n]|\\(?:u\{[0-9a-fA-F]*\}|[^\n]))*'/,
  escape: /\\(?:u\{[0-9a-fA-F]*\}|[^\n])/,
} as const;

const common = {
  space: { match: /[ \t\r\n]+/, lineBreaks: true },
  // The one space that mostly follows comes with the word or sign: half of all tokens would be spaces.
  word: new RegExp(`${PATTERNS.word.source} ?`),
  comment: PATTERNS.comment,
  // Comments of other languages.
  foreign_comment: { match: /#[^\n]*|\/\*(?:[^]*?\*\/|[^\n]*)/, lineBreaks: true },
  number: PATTERNS.number,
  character: PATTERNS.character,
  long_text: { match: /"""/, push: "long_text" },
  text: new RegExp(`"(?:[^"\\\\\\n{]|${PATTERNS.escape.source})*"`),
  text_start: { match: /"/, push: "text" },
};

const bad = { match: /[\ud800-\udbff][\udc00-\udfff]|[^]/, lineBreaks: true };

const lexer = moo.states({
  main: { ...common, punctuation: signs, bad },
  text: {
    text_part: new RegExp(`(?:[^"\\\\\\n{]|${PATTERNS.escape.source})+`),
    interpolation_start: { match: "{", push: "interpolation" },
    text_end: { match: '"', pop: 1 },
    text_break: { match: /\\?\r?\n|\\$/, lineBreaks: true },
  },
  long_text: {
    text_part: { match: /(?:[^"\\{]|\\(?:u\{[0-9a-fA-F]*\}|[^])|"(?!""))+/, lineBreaks: true },
    interpolation_start: { match: "{", push: "interpolation" },
    text_end: { match: '"""', pop: 1 },
    text_break: /\\/,
  },
  interpolation: {
    ...common,
    interpolation_end: { match: "}", pop: 1 },
    brace: { match: "{", push: "braces" },
    punctuation: withoutBraces,
    bad,
  },
  braces: {
    ...common,
    brace: { match: "{", push: "braces" },
    close: { match: "}", pop: 1 },
    punctuation: withoutBraces,
    bad,
  },
});

/** Keywords and signs, also with the space behind them. */
const fixedTokens = new Map(
  [...KEYWORDS, ...PUNCTUATION].flatMap((text) => {
    const found = { text, terminal: terminalNumber(text) };
    return [[text, found], [`${text} `, found]] as const;
  }),
);
const NAME = terminalNumber("name");
const TYPE_NAME = terminalNumber("type_name");
const INTEGER = terminalNumber("integer");
const FLOAT = terminalNumber("float");
const CHARACTER = terminalNumber("character");
const TEXT = terminalNumber("text");
const TEXT_START = terminalNumber("text_start");
const TEXT_PART = terminalNumber("text_part");
const TEXT_END = terminalNumber("text_end");
const INTERPOLATION_START = terminalNumber("interpolation_start");
const INTERPOLATION_END = terminalNumber("interpolation_end");

/** A text that is not closed yet. */
interface OpenText {
  readonly start: number;
  readonly tokenIndex: number;
  readonly isLong: boolean;
  /** How many states of the lexer lie below it. */
  readonly depth: number;
}

/** The tokens and comments of a text. */
export function lex(text: string): Lexed {
  return new Run(text).result();
}

class Run {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  readonly #comments: Comment[] = [];
  readonly #errors: LexicalError[] = [];
  readonly #open: OpenText[] = [];
  /** Offset of what the lexer was last given. */
  #base = 0;
  /** How many states lie below the lexer's. */
  #depth = 0;
  #isFirstOfLine = true;
  #documentation: Comment[] = [];
  #repairedLine = -1;
  #repairedOnLine = 0;
  #repairedAtEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  result(): Lexed {
    lexer.reset(this.#text);
    for (;;) {
      const token = lexer.next();
      if (token === undefined) {
        const unclosed = this.#open[0];
        if (unclosed === undefined) break;
        this.#repairAtEnd(unclosed);
        continue;
      }
      this.#take(token);
    }
    return { tokens: this.#tokens, comments: this.#comments, errors: this.#errors };
  }

  #take(token: moo.Token): void {
    const value = token.value;
    const start = this.#base + token.offset;
    switch (token.type) {
      case "space":
        if (value.includes("\n")) this.#endLine(start);
        break;
      case "word": {
        const keyword = fixedTokens.get(value);
        if (keyword !== undefined) this.#push(keyword.terminal, keyword.text, start);
        else {
          const name = value.charCodeAt(value.length - 1) === 32 ? value.slice(0, -1) : value;
          this.#push(name.charCodeAt(0) <= 90 ? TYPE_NAME : NAME, name, start);
        }
        break;
      }
      case "brace":
        this.#depth++;
        this.#sign(value, start);
        break;
      case "close":
        this.#depth--;
        this.#sign(value, start);
        break;
      case "punctuation":
        this.#sign(value, start);
        break;
      case "comment":
        this.#comment(value, start);
        break;
      case "foreign_comment":
        this.#errors.push({
          kind: "comment",
          start,
          end: start + value.trimEnd().length,
          text: value.trimEnd(),
        });
        if (value.includes("\n")) this.#endLine(start);
        break;
      case "number":
        this.#number(value, start);
        break;
      case "text":
        this.#checkEscapes(value, start, false);
        this.#push(TEXT, value, start);
        break;
      case "character":
        this.#character(value, start);
        break;
      case "text_start":
      case "long_text":
        this.#openText(value, start);
        break;
      case "text_part":
        this.#checkEscapes(value, start, false);
        this.#push(TEXT_PART, value, start);
        break;
      case "interpolation_start":
        this.#depth++;
        this.#push(INTERPOLATION_START, value, start);
        break;
      case "interpolation_end":
        this.#depth--;
        this.#push(INTERPOLATION_END, value, start);
        break;
      case "text_end":
        this.#depth--;
        this.#open.pop();
        this.#push(TEXT_END, value, start);
        break;
      case "text_break":
        if (value.includes("\n") || this.#open.at(-1)?.isLong === false) this.#endLine(start);
        else this.#push(TEXT_PART, value, start);
        break;
      default:
        this.#bad(value, start);
    }
  }

  #sign(value: string, start: number): void {
    const sign = fixedTokens.get(value);
    if (sign !== undefined) this.#push(sign.terminal, sign.text, start);
  }

  #push(terminal: number, text: string, start: number): void {
    const isFirst = this.#isFirstOfLine;
    // Inside of a text nothing begins a declaration.
    const isUnindented = isFirst && this.#open.length === 0 &&
      (start === 0 || this.#text.charCodeAt(start - 1) === 10);
    const token = new Token(terminal, text, start, start + text.length, isFirst, isUnindented);
    this.#isFirstOfLine = false;
    if (this.#documentation.length > 0) {
      token.documentation = documentationOf(this.#documentation);
      this.#documentation = [];
    }
    this.#tokens.push(token);
  }

  #comment(text: string, start: number): void {
    const written = text.endsWith("\r") ? text.slice(0, -1) : text;
    const isDocumentation = written.startsWith("///") && written[3] !== "/";
    const comment = {
      text: written,
      start,
      end: start + written.length,
      isFirstOfLine: this.#isFirstOfLine,
      isDocumentation,
    };
    this.#comments.push(comment);
    if (isDocumentation && this.#isFirstOfLine) this.#documentation.push(comment);
  }

  #number(text: string, start: number): void {
    const error = numberError(text, start);
    if (error !== null) this.#errors.push(error);
    this.#push(/^0[xXbBoO]/.test(text) || !/[.eE]/.test(text) ? INTEGER : FLOAT, text, start);
  }

  #character(text: string, start: number): void {
    const codePoints = [...text.slice(1, -1).replace(/\\(?:u\{[^}]*\}|[^])/g, "e")].length;
    if (codePoints === 1) {
      this.#checkEscapes(text, start, true);
      this.#push(CHARACTER, text, start);
      return;
    }
    this.#errors.push({ kind: "quotes", start, end: start + text.length, text });
    // It goes on as the text that was meant.
    this.#push(codePoints === 0 ? CHARACTER : TEXT, text, start);
  }

  #checkEscapes(text: string, start: number, isCharacter: boolean): void {
    if (text.includes("\\")) this.#errors.push(...textErrors(text, start, isCharacter));
  }

  #bad(text: string, start: number): void {
    const last = this.#errors.at(-1);
    if (last?.kind === "character" && last.end === start) {
      this.#errors[this.#errors.length - 1] = {
        ...last,
        end: start + text.length,
        text: last.text + text,
      };
    } else {
      this.#errors.push({ kind: "character", start, end: start + text.length, text });
    }
  }

  #openText(quote: string, start: number): void {
    this.#open.push({
      start,
      tokenIndex: this.#tokens.length,
      isLong: quote === '"""',
      depth: this.#depth,
    });
    this.#depth++;
    this.#push(TEXT_START, quote, start);
  }

  #endLine(at: number): void {
    if (this.#open.length > 0) {
      const unclosed = this.#open.find((text) => !text.isLong);
      if (unclosed !== undefined) {
        this.#repairOnLine(unclosed, at);
        return;
      }
    }
    this.#isFirstOfLine = true;
  }

  /** A text of one line is open at the line's end. */
  #repairOnLine(unclosed: OpenText, at: number): void {
    const newline = this.#text.indexOf("\n", at);
    const lineEnd = newline < 0 ? this.#text.length : newline;
    if (this.#repairedLine !== lineEnd) {
      this.#repairedLine = lineEnd;
      this.#repairedOnLine = 0;
    }
    this.#repairedOnLine++;
    const isGivenUp = this.#repairedOnLine > REPAIRED_TEXTS;
    const line = this.#text.slice(unclosed.start, lineEnd).trimEnd();
    const closed = /^"(?:[^"\\]|\\[^])*"/.exec(line)?.[0];
    const isLast = closed === undefined || isGivenUp;
    const written = isLast ? line.slice(0, line.length - this.#closersAfter(line, unclosed)) : closed;
    this.#repair(unclosed, unclosed.start + written.length, closed !== undefined && !isGivenUp);
  }

  /** How many characters at a line's end are rather the brackets that were opened before the text. */
  #closersAfter(line: string, unclosed: OpenText): number {
    let opened = 0;
    for (let index = unclosed.tokenIndex - 1; index >= 0; index--) {
      const token = this.#tokens[index];
      if (token === undefined) break;
      if (/^[([{]$/.test(token.text)) opened++;
      if (/^[)\]}]$/.test(token.text)) opened--;
      if (token.isFirstOfLine) break;
    }
    const tail = /[)\]}\s]*,?$/.exec(line.slice(1))?.[0] ?? "";
    let closers = 0;
    let length = 0;
    for (let index = 0; index < tail.length; index++) {
      const letter = tail[tail.length - 1 - index] ?? "";
      if (/[)\]}]/.test(letter) && ++closers > opened) break;
      length = index + 1;
    }
    return opened > 0 || tail === "," ? length : 0;
  }

  /** Nothing closes a text before the end of the file. */
  #repairAtEnd(unclosed: OpenText): void {
    if (!unclosed.isLong) {
      this.#repairOnLine(unclosed, this.#text.length);
      return;
    }
    this.#repairedAtEnd++;
    // It ends before a line that is indented less than its own, or at the next declaration.
    const lineStart = this.#text.lastIndexOf("\n", unclosed.start) + 1;
    const depth = /^[ \t]*/.exec(this.#text.slice(lineStart, unclosed.start))?.[0].length ?? 0;
    const less = depth === 0
      ? /\n(?=(?:pub|use|type|interface|const|fn|test|property|eval)\b|\/\/\/)/g
      : new RegExp(`\\n(?=[ \\t]{0,${Math.min(depth - 1, 200)}}[^ \\t\\n])`, "g");
    less.lastIndex = unclosed.start;
    const found = this.#repairedAtEnd > REPAIRED_TEXTS ? null : less.exec(this.#text);
    this.#repair(unclosed, found?.index ?? this.#text.length, false);
  }

  /** Makes one token of an unclosed text up to an offset, reports it, and goes on there. */
  #repair(unclosed: OpenText, end: number, isInterpolation: boolean): void {
    const first = this.#tokens[unclosed.tokenIndex];
    const inside = this.#tokens[unclosed.tokenIndex + 1]?.end ?? unclosed.start;
    const brace = this.#tokens.slice(unclosed.tokenIndex).find((token) =>
      token.terminal === INTERPOLATION_START
    );
    this.#errors.push({
      kind: isInterpolation ? "interpolation" : unclosed.isLong ? "long_text" : "unclosed_text",
      start: isInterpolation ? brace?.start ?? inside : unclosed.start,
      end,
      text: this.#text.slice(unclosed.start, end),
    });
    this.#tokens.length = unclosed.tokenIndex;
    this.#open.length = this.#open.indexOf(unclosed);
    while ((this.#comments.at(-1)?.start ?? -1) >= unclosed.start) this.#comments.pop();
    this.#documentation = [];
    this.#isFirstOfLine = first?.isFirstOfLine ?? false;
    this.#push(TEXT, this.#text.slice(unclosed.start, end), unclosed.start);
    if (first !== undefined) this.#tokens[unclosed.tokenIndex] = documented(this.#tokens, first);
    this.#base = end;
    for (; this.#depth > unclosed.depth; this.#depth--) lexer.popState();
    lexer.reset(this.#text.slice(end), lexer.save());
  }
}

/** The last token, with the documentation of the one that it stands for. */
function documented(tokens: readonly Token[], first: Token): Token {
  const last = tokens[tokens.length - 1] ?? first;
  last.documentation = first.documentation;
  return last;
}

function documentationOf(lines: readonly Comment[]): Documentation {
  return {
    text: lines.map((line) => line.text.slice(3).replace(/^ /, "")).join("\n"),
    span: { start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 },
  };
}
