/**
 * Parser of SQL/JSON path expressions, with PostgreSQL's lexical rules: names may be escaped, keywords are names
 * after a dot, `-1` is a literal.
 *
 * Grammar, loosest first: `||`, `&&`, `!` and predicates, comparisons, `+ -`, `* / %`, signs, accessors. Limits:
 * nesting of 500 levels.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { Decimal } from "./decimal.ts";
import {
  isPathPredicate,
  type JsonPath,
  type PathComparison,
  type PathMethod,
  type PathNode,
  type PathStep,
  type PathSubscript,
} from "./json_path_syntax.ts";
import { compileRegularExpression } from "./pattern.ts";
import type { Matcher } from "./regular_expression/matcher.ts";

interface Token {
  readonly kind: "end" | "name" | "string" | "number" | "variable" | "symbol";
  /** The decoded name or string, or the symbol. */
  readonly text: string;
  /** As it is written. */
  readonly written: string;
  /** A name without escapes, which may be a keyword. */
  readonly plain: boolean;
}

const COMPARISONS: ReadonlyMap<string, PathComparison> = new Map([
  ["==", "=="],
  ["!=", "!="],
  ["<>", "!="],
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);

const METHODS: ReadonlyMap<string, PathMethod> = new Map([
  ["type", "type"],
  ["size", "size"],
  ["abs", "abs"],
  ["floor", "floor"],
  ["ceiling", "ceiling"],
  ["double", "double"],
  ["keyvalue", "keyvalue"],
]);

const SPACE = /(?:[ \t\n\r\f]|\/\*[\s\S]*?\*\/)*/y;
const NUMBER = /(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const SYMBOL = /\*\*|&&|\|\||==|!=|<>|<=|>=|[?%$.[\]{}()|&!=<>@#,*:\-+/]/y;
const NAME = /(?:\\[\s\S]|[^?%$.[\]{}()|&!=<>@#,*:\-+/\\" \t\n\r\f])+/y;

function syntaxError(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.syntaxError, message);
}

/** Parses a path; 42601 when it is malformed, 22P02 when it is empty. */
export function parseJsonPath(text: string): JsonPath {
  return new PathParser(text).parse();
}

class PathParser {
  readonly #text: string;
  #position = 0;
  #token: Token = { kind: "end", text: "", written: "", plain: false };
  #depth = 0;
  #filters = 0;
  #brackets = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): JsonPath {
    this.#advance();
    if (this.#atEnd) {
      throw new DatabaseError(
        SQLSTATE.invalidTextRepresentation,
        `invalid input syntax for type jsonpath: "${this.#text}"`,
      );
    }
    const strict = this.#word("strict");
    if (strict || this.#word("lax")) this.#advance();
    const expression = this.#disjunction();
    if (!this.#atEnd) throw this.#unexpected();
    return { strict, expression };
  }

  get #atEnd(): boolean {
    return this.#token.kind === "end";
  }

  #unexpected(): DatabaseError {
    if (this.#atEnd) return syntaxError("syntax error at end of jsonpath input");
    return syntaxError(`syntax error at or near "${this.#token.written}" of jsonpath input`);
  }

  #match(expression: RegExp): string {
    expression.lastIndex = this.#position;
    return expression.exec(this.#text)?.[0] ?? "";
  }

  #advance(): void {
    this.#position += this.#match(SPACE).length;
    const start = this.#position;
    if (start >= this.#text.length) {
      this.#token = { kind: "end", text: "", written: "", plain: false };
      return;
    }
    const take = (kind: Token["kind"], text: string, end: number, plain = false) => {
      this.#position = end;
      this.#token = { kind, text, written: this.#text.slice(start, end), plain };
    };
    if (this.#text[start] === '"') {
      const end = this.#stringEnd(start);
      return take("string", this.#unescape(this.#text.slice(start + 1, end - 1)), end);
    }
    if (this.#text[start] === "$") return this.#advanceVariable(start, take);
    const number = this.#match(NUMBER);
    if (number !== "") {
      const end = start + number.length;
      if (/[A-Za-z_]/.test(this.#text[end] ?? "")) {
        throw syntaxError(
          `trailing junk after numeric literal at or near "${
            this.#text.slice(start, end + 1)
          }" of jsonpath input`,
        );
      }
      return take("number", number, end);
    }
    const symbol = this.#match(SYMBOL);
    if (symbol !== "") return take("symbol", symbol, start + symbol.length);
    const name = this.#match(NAME);
    if (name === "") {
      throw syntaxError(`syntax error at or near "${this.#text[start] ?? ""}" of jsonpath input`);
    }
    take("name", this.#unescape(name), start + name.length, !name.includes("\\"));
  }

  #advanceVariable(
    start: number,
    take: (kind: Token["kind"], text: string, end: number) => void,
  ): void {
    this.#position = start + 1;
    if (this.#text[start + 1] === '"') {
      const end = this.#stringEnd(start + 1);
      return take("variable", this.#unescape(this.#text.slice(start + 2, end - 1)), end);
    }
    const name = this.#match(NAME);
    if (name === "") take("symbol", "$", start + 1);
    else take("variable", this.#unescape(name), start + 1 + name.length);
  }

  #stringEnd(start: number): number {
    for (let at = start + 1; at < this.#text.length; at++) {
      if (this.#text[at] === "\\") at++;
      else if (this.#text[at] === '"') return at + 1;
    }
    throw syntaxError("unexpected end of quoted string at end of jsonpath input");
  }

  #unescape(text: string): string {
    if (!text.includes("\\")) return text;
    const plain: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
    const read = text.replaceAll(
      /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g,
      (whole: string, braces?: string, four?: string, two?: string, character?: string) => {
        const digits = braces ?? four ?? two;
        if (digits !== undefined) {
          const code = parseInt(digits, 16);
          if (code === 0 || code > 0x10ffff) {
            throw new DatabaseError(
              SQLSTATE.untranslatableCharacter,
              "unsupported Unicode escape sequence",
              code === 0 ? { detail: "\\u0000 cannot be converted to text." } : {},
            );
          }
          return String.fromCodePoint(code);
        }
        if (character === "u" || character === "x") {
          throw syntaxError(
            `invalid ${
              character === "u" ? "Unicode" : "hexadecimal character"
            } escape sequence at or near "${whole}" of jsonpath input`,
          );
        }
        return plain[character ?? ""] ?? character ?? "";
      },
    );
    if (read.isWellFormed()) return read;
    throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "invalid input syntax for type jsonpath", {
      detail: "Unicode low surrogate must follow a high surrogate.",
    });
  }

  #symbol(text: string): boolean {
    return this.#token.kind === "symbol" && this.#token.text === text;
  }

  /** Keywords are recognized without regard to case. */
  #word(text: string): boolean {
    return this.#token.kind === "name" && this.#token.plain && this.#token.text.toLowerCase() === text;
  }

  #expect(symbol: string): void {
    if (!this.#symbol(symbol)) throw this.#unexpected();
    this.#advance();
  }

  #expectWord(word: string): void {
    if (!this.#word(word)) throw this.#unexpected();
    this.#advance();
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > LIMITS.maximumJsonPathDepth) {
      throw new DatabaseError(SQLSTATE.statementTooComplex, "stack depth limit exceeded", {
        detail: `The jsonpath is nested more than ${LIMITS.maximumJsonPathDepth} levels deep.`,
      });
    }
    const result = parse();
    this.#depth--;
    return result;
  }

  #disjunction(): PathNode {
    return this.#nested(() => {
      let left = this.#conjunction();
      while (this.#symbol("||")) {
        this.#requirePredicate(left);
        this.#advance();
        left = [{ kind: "or", left, right: this.#predicate(this.#conjunction()) }];
      }
      return left;
    });
  }

  #conjunction(): PathNode {
    let left = this.#comparison();
    while (this.#symbol("&&")) {
      this.#requirePredicate(left);
      this.#advance();
      left = [{ kind: "and", left, right: this.#predicate(this.#comparison()) }];
    }
    return left;
  }

  /** Only predicates may be joined by `&&` and `||`. */
  #requirePredicate(node: PathNode): void {
    const [step] = node;
    if (step === undefined || node.length > 1 || !isPathPredicate(step)) throw this.#unexpected();
  }

  #predicate(node: PathNode): PathNode {
    this.#requirePredicate(node);
    return node;
  }

  #comparison(): PathNode {
    if (this.#symbol("!")) {
      this.#advance();
      return [{ kind: "not", operand: this.#delimitedPredicate() }];
    }
    const left = this.#sum();
    const operator = this.#token.kind === "symbol" ? COMPARISONS.get(this.#token.text) : undefined;
    if (operator !== undefined) {
      this.#advance();
      return [{ kind: "comparison", operator, left, right: this.#sum() }];
    }
    if (this.#word("starts")) {
      this.#advance();
      this.#expectWord("with");
      if (this.#token.kind !== "string" && this.#token.kind !== "variable") throw this.#unexpected();
      const right = this.#primary();
      return [{ kind: "starts_with", left, right: [right] }];
    }
    if (this.#word("like_regex")) return this.#likeRegex(left);
    return left;
  }

  /** `!` takes a predicate in parentheses or EXISTS. */
  #delimitedPredicate(): PathNode {
    if (this.#word("exists")) return [this.#exists()];
    this.#expect("(");
    const operand = this.#predicate(this.#disjunction());
    this.#expect(")");
    return operand;
  }

  #exists(): PathStep {
    this.#advance();
    this.#expect("(");
    const operand = this.#disjunction();
    this.#expect(")");
    return { kind: "exists", operand };
  }

  #likeRegex(operand: PathNode): PathNode {
    this.#advance();
    if (this.#token.kind !== "string") throw this.#unexpected();
    const pattern = this.#token.text;
    this.#advance();
    let flags = "";
    if (this.#word("flag")) {
      this.#advance();
      if (this.#token.kind !== "string") throw this.#unexpected();
      const written = this.#token.text;
      for (const letter of written) {
        if (!"ismxq".includes(letter)) {
          throw new DatabaseError(SQLSTATE.syntaxError, "invalid input syntax for type jsonpath", {
            detail: `Unrecognized flag character "${letter}" in LIKE_REGEX predicate.`,
          });
        }
      }
      flags = [..."ismxq"].filter((letter) => written.includes(letter)).join("");
      this.#advance();
    }
    if (flags.includes("x") && !flags.includes("q")) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        'XQuery "x" flag (expanded regular expressions) is not implemented',
      );
    }
    compilePathExpression(pattern, flags);
    return [{ kind: "like_regex", operand, pattern, flags }];
  }

  #sum(): PathNode {
    let left = this.#product();
    while (this.#symbol("+") || this.#symbol("-")) {
      const operator = this.#token.text === "+" ? "+" : "-";
      this.#advance();
      left = [{ kind: "arithmetic", operator, left, right: this.#product() }];
    }
    return left;
  }

  #product(): PathNode {
    let left = this.#signed();
    while (this.#symbol("*") || this.#symbol("/") || this.#symbol("%")) {
      const operator = this.#token.text === "*" ? "*" : this.#token.text === "/" ? "/" : "%";
      this.#advance();
      left = [{ kind: "arithmetic", operator, left, right: this.#signed() }];
    }
    return left;
  }

  #signed(): PathNode {
    if (!this.#symbol("+") && !this.#symbol("-")) return this.#accessors();
    const operator = this.#token.text === "+" ? "+" : "-";
    this.#advance();
    const operand = this.#nested(() => this.#signed());
    const [only] = operand;
    if (operand.length === 1 && only?.kind === "literal" && only.value instanceof Decimal) {
      return operator === "+" ? operand : [{ kind: "literal", value: only.value.negate() }];
    }
    return [{ kind: "sign", operator, operand }];
  }

  #accessors(): PathNode {
    const steps: PathStep[] = [...this.#start()];
    for (;;) {
      if (this.#symbol("[")) steps.push(this.#subscript());
      else if (this.#symbol("?")) steps.push(this.#filter());
      else if (this.#symbol(".")) steps.push(this.#member());
      else return steps;
    }
  }

  #start(): PathNode {
    if (!this.#symbol("(")) return [this.#primary()];
    this.#advance();
    const inner = this.#disjunction();
    this.#expect(")");
    if (this.#word("is")) {
      this.#advance();
      this.#expectWord("unknown");
      return [{ kind: "is_unknown", operand: this.#predicate(inner) }];
    }
    return inner;
  }

  #primary(): PathStep {
    const token = this.#token;
    switch (token.kind) {
      case "string":
        this.#advance();
        return { kind: "literal", value: token.text };
      case "number":
        this.#advance();
        return { kind: "literal", value: Decimal.fromString(token.text) };
      case "variable":
        this.#advance();
        return { kind: "variable", name: token.text };
      case "symbol":
        if (token.text === "$") {
          this.#advance();
          return { kind: "root" };
        }
        if (token.text === "@") {
          if (this.#filters === 0) throw syntaxError("@ is not allowed in root expressions");
          this.#advance();
          return { kind: "current" };
        }
        break;
      case "name":
        if (!token.plain) break;
        if (token.text === "true" || token.text === "false" || token.text === "null") {
          this.#advance();
          return { kind: "literal", value: token.text === "null" ? null : token.text === "true" };
        }
        if (this.#word("last")) {
          if (this.#brackets === 0) throw syntaxError("LAST is allowed only in array subscripts");
          this.#advance();
          return { kind: "last" };
        }
        if (this.#word("exists")) return this.#exists();
        break;
      default:
        break;
    }
    throw this.#unexpected();
  }

  #subscript(): PathStep {
    this.#advance();
    if (this.#symbol("*")) {
      this.#advance();
      this.#expect("]");
      return { kind: "any_element" };
    }
    this.#brackets++;
    const subscripts: PathSubscript[] = [];
    do {
      if (subscripts.length > 0) this.#advance();
      const from = this.#sum();
      let to: PathNode | null = null;
      if (this.#word("to")) {
        this.#advance();
        to = this.#sum();
      }
      subscripts.push({ from, to });
    } while (this.#symbol(","));
    this.#brackets--;
    this.#expect("]");
    return { kind: "subscripts", subscripts };
  }

  #filter(): PathStep {
    this.#advance();
    this.#expect("(");
    this.#filters++;
    const predicate = this.#predicate(this.#disjunction());
    this.#filters--;
    this.#expect(")");
    return { kind: "filter", predicate };
  }

  #member(): PathStep {
    this.#advance();
    if (this.#symbol("*")) {
      this.#advance();
      return { kind: "any_key" };
    }
    if (this.#symbol("**")) return this.#descend();
    const token = this.#token;
    if (token.kind !== "name" && token.kind !== "string") throw this.#unexpected();
    this.#advance();
    if (token.kind === "name" && token.plain && this.#symbol("(")) {
      const name = token.text.toLowerCase();
      const method = METHODS.get(name);
      if (name === "datetime") {
        this.#advance();
        const template = this.#token.kind === "string" ? this.#token.text : null;
        if (template !== null) this.#advance();
        this.#expect(")");
        return { kind: "datetime", template };
      }
      if (method === undefined) throw this.#unexpected();
      this.#advance();
      this.#expect(")");
      return { kind: "method", method };
    }
    return { kind: "key", name: token.text };
  }

  #descend(): PathStep {
    this.#advance();
    if (!this.#symbol("{")) return { kind: "descend", first: 0, last: null };
    this.#advance();
    const first = this.#level();
    let last = first;
    if (this.#word("to")) {
      this.#advance();
      last = this.#level();
    }
    this.#expect("}");
    return { kind: "descend", first, last };
  }

  #level(): number | null {
    if (this.#word("last")) {
      this.#advance();
      return null;
    }
    if (this.#token.kind !== "number" || !/^[0-9]+$/.test(this.#token.text)) throw this.#unexpected();
    const level = Number(this.#token.text);
    this.#advance();
    return level;
  }
}

/**
 * The regular expression of `like_regex`: XQuery's flags in the letters of POSIX ones. Without `s` a dot does not
 * match a newline; with `m` the anchors match at lines.
 */
export function compilePathExpression(pattern: string, flags: string): Matcher {
  if (flags.includes("q")) return compileRegularExpression(pattern, flags.includes("i") ? "qi" : "q");
  const ignoresCase = flags.includes("i") ? "i" : "";
  const lines = flags.includes("m") ? (flags.includes("s") ? "w" : "n") : flags.includes("s") ? "s" : "p";
  return compileRegularExpression(pattern, `${ignoresCase}${lines}`);
}
