/**
 * The TextMate grammar for editors, made of the lexer's own expressions and words.
 *
 * It colors what can be distinguished from tokens alone: comments, texts with the expressions in them, numbers,
 * keywords, names of types, and names that are called or declared. Its scopes are those that TextMate's manual lists,
 * which every theme knows.
 */
import { PATTERNS } from "./lexer.ts";
import { CONTEXTUAL_TERMINALS, KEYWORDS, PUNCTUATION } from "./token.ts";

/** A rule of a TextMate grammar. */
export interface TextMateRule {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly beginCaptures?: Readonly<Record<string, { readonly name: string }>>;
  readonly endCaptures?: Readonly<Record<string, { readonly name: string }>>;
  readonly captures?: Readonly<Record<string, { readonly name: string }>>;
  readonly patterns?: readonly TextMateRule[];
  readonly include?: string;
}

/** A TextMate grammar, to be written as JSON. */
export interface TextMateGrammar {
  readonly name: string;
  readonly scopeName: string;
  readonly fileTypes: readonly string[];
  readonly patterns: readonly TextMateRule[];
  readonly repository: Readonly<Record<string, TextMateRule>>;
}

const declaring = ["fn", "type", "interface", "const", "let", "var", "use", "pub", "inout", "uses"];
const values = ["true", "false"];
const operatorWords = ["and", "or", "not"];
const controlling = KEYWORDS.filter((word) =>
  /^[a-z]/.test(word) && !declaring.includes(word) && !values.includes(word) && !operatorWords.includes(word)
);
const contextual = ["test", "property", "eval", "case"].filter((word) => word in CONTEXTUAL_TERMINALS);

const words = (list: readonly string[]) => `\\b(?:${list.join("|")})\\b`;

const word = PATTERNS.word.source;

/** The grammar. */
export function textMateGrammar(): TextMateGrammar {
  const operators = PUNCTUATION.filter((text) => !/^[()[\]{},:.]$/.test(text))
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.replace(/[^\w=<>&%:]/g, "\\$&"));
  return {
    name: "lang",
    scopeName: "source.lang",
    fileTypes: ["lang"],
    patterns: [{ include: "#code" }],
    repository: {
      code: {
        patterns: [
          { match: `\\/{3}(?!\\/)[^\\n]*`, name: "comment.line.documentation.lang" },
          { match: PATTERNS.comment.source, name: "comment.line.double-slash.lang" },
          text('"""', "string.quoted.triple.lang"),
          text('"', "string.quoted.double.lang"),
          { match: PATTERNS.character.source, name: "string.quoted.single.lang" },
          {
            match: `\\b(${contextual.join("|")})(?=\\s*")`,
            name: "keyword.other.lang",
          },
          {
            match: `\\b(fn)\\s+(?:([A-Z]\\w*)(\\.))?(${word})`,
            captures: {
              1: { name: "storage.type.function.lang" },
              2: { name: "entity.name.type.lang" },
              4: { name: "entity.name.function.lang" },
            },
          },
          { match: words(values), name: "constant.language.lang" },
          { match: words(operatorWords), name: "keyword.operator.word.lang" },
          { match: words(declaring), name: "storage.type.lang" },
          { match: words(controlling), name: "keyword.control.lang" },
          { match: PATTERNS.number.source, name: "constant.numeric.lang" },
          { match: `\\b[A-Z]\\w*`, name: "entity.name.type.lang" },
          { match: `\\b(?![A-Z])${word}(?=\\()`, name: "entity.name.function.call.lang" },
          { match: operators.join("|"), name: "keyword.operator.lang" },
          { match: `\\b(?![A-Z])${word}`, name: "variable.other.lang" },
        ],
      },
      braces: { begin: "\\{", end: "\\}", patterns: [{ include: "#braces" }, { include: "#code" }] },
    },
  };
}

/** A text with escapes and expressions in it. */
function text(quotes: string, name: string): TextMateRule {
  return {
    begin: quotes,
    // A text of one line ends with it, whatever is missing.
    end: quotes === '"' ? '"|$' : quotes,
    name,
    patterns: [
      { match: PATTERNS.escape.source, name: "constant.character.escape.lang" },
      {
        begin: "\\{",
        end: "\\}",
        beginCaptures: { 0: { name: "punctuation.section.embedded.begin.lang" } },
        endCaptures: { 0: { name: "punctuation.section.embedded.end.lang" } },
        patterns: [{ include: "#braces" }, { include: "#code" }],
      },
    ],
  };
}
