/**
 * Settles the terminals that depend on line breaks and neighbors, so that the grammar itself is free of context.
 *
 * `(`, `[` and `-` go on with the expression before them, or begin something: they begin at the start of a line
 * outside of `( )` and `[ ]`, and after what ends no expression. `{` is a record's brace after a capitalized name
 * when `name :` or `..` follows, and `{}` where no block may stand. `return` has a value when one begins on its line.
 * `else` belongs to `let` unless it follows a `}`. Words such as `test` are keywords in their one place.
 */
import { FOREIGN_STATEMENT_WORDS, FOREIGN_TYPES } from "./foreign_words.ts";
import { terminalNumber, TERMINALS, type Token } from "./token.ts";

const OPEN_PAREN = terminalNumber("open_paren");
const CALL_PAREN = terminalNumber("(");
const OPEN_BRACKET = terminalNumber("open_bracket");
const INDEX_BRACKET = terminalNumber("[");
const NEGATE = terminalNumber("negate");
const MINUS = terminalNumber("-");
const OPEN_BRACE = terminalNumber("{");
const CLOSE_BRACE = terminalNumber("}");
const CLOSE_PAREN = terminalNumber(")");
const CLOSE_BRACKET = terminalNumber("]");
const RECORD_BRACE = terminalNumber("record_brace");
const RETURN = terminalNumber("return");
const RETURN_ALONE = terminalNumber("return_alone");
const ELSE = terminalNumber("else");
const LET_ELSE = terminalNumber("let_else");
const NAME = terminalNumber("name");
const TYPE_NAME = terminalNumber("type_name");
const DOT = terminalNumber(".");
const QUESTION = terminalNumber("?");
const COMMA = terminalNumber(",");
const COLON = terminalNumber(":");
const DOTS = terminalNumber("..");
const PUB = terminalNumber("pub");
const FN = terminalNumber("fn");
const TEXT = terminalNumber("text");
const TEXT_START = terminalNumber("text_start");
const INTERPOLATION_START = terminalNumber("interpolation_start");
const INTERPOLATION_END = terminalNumber("interpolation_end");
const TEST = terminalNumber("test");
const PROPERTY = terminalNumber("property");
const EVAL = terminalNumber("eval");
const THRESHOLD = terminalNumber("threshold");
const CASE = terminalNumber("case");
const INTRINSIC = terminalNumber("intrinsic");
const EXTERN = terminalNumber("extern");
const BUILTIN = terminalNumber("builtin");
const FOREIGN = terminalNumber("foreign");
const EQUALS = terminalNumber("=");
const TYPE = terminalNumber("type");

/** By terminal: whether an expression may end with it. */
const endsExpression = flags([
  "name",
  "type_name",
  "integer",
  "float",
  "character",
  "text",
  "text_end",
  "true",
  "false",
  ")",
  "]",
  "}",
  "?",
]);

/** By terminal: whether it has to be looked at. */
const isContextual = flags([
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "-",
  "return",
  "else",
  "?",
  "open_paren",
  "open_bracket",
  "negate",
  "record_brace",
  "return_alone",
  "let_else",
  "case",
  "interpolation_start",
  "interpolation_end",
]);

function flags(names: readonly string[]): Uint8Array {
  const set = new Uint8Array(TERMINALS.length);
  for (const name of names) set[terminalNumber(name)] = 1;
  return set;
}

/** Settles the terminals of one declaration, the tokens from one index up to another. */
export function classify(tokens: readonly Token[], from: number, to: number): void {
  const isEval = classifyStart(tokens, from, to);
  // Whether each open bracket is one in which line breaks mean nothing.
  const loose: boolean[] = [];
  let previous = 0;
  for (let index = from; index < to; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    const terminal = token.terminal;
    if (isContextual[terminal] === 1) {
      const begins = endsExpression[previous] === 0 || (token.isFirstOfLine && loose.at(-1) !== true);
      switch (terminal) {
        case CALL_PAREN:
        case OPEN_PAREN:
          token.terminal = begins ? OPEN_PAREN : CALL_PAREN;
          loose.push(true);
          break;
        case INDEX_BRACKET:
        case OPEN_BRACKET:
          token.terminal = begins ? OPEN_BRACKET : INDEX_BRACKET;
          loose.push(true);
          break;
        case MINUS:
        case NEGATE:
          token.terminal = isDecrement(tokens, index, to) ? FOREIGN : begins ? NEGATE : MINUS;
          break;
        case QUESTION:
          if (isDefault(tokens, index, to)) token.terminal = FOREIGN;
          break;
        case OPEN_BRACE:
        case RECORD_BRACE:
          token.terminal = previous === TYPE_NAME &&
              (beginsRecord(tokens, index + 1, to) || isEmptyRecord(tokens, index, from))
            ? RECORD_BRACE
            : OPEN_BRACE;
          loose.push(false);
          break;
        case CLOSE_BRACE:
        case CLOSE_PAREN:
        case CLOSE_BRACKET:
        case INTERPOLATION_END:
          loose.pop();
          break;
        case INTERPOLATION_START:
          loose.push(true);
          break;
        case RETURN:
        case RETURN_ALONE:
          token.terminal = isReturnAlone(tokens[index + 1], index + 1 < to) ? RETURN_ALONE : RETURN;
          break;
        case ELSE:
        case LET_ELSE:
          token.terminal = previous === CLOSE_BRACE || previous === 0 ? ELSE : LET_ELSE;
          break;
        case CASE:
          token.terminal = NAME;
          break;
      }
    }
    if (terminal === NAME || terminal === FOREIGN || (terminal === TYPE_NAME && token.isFirstOfLine)) {
      classifyWord(tokens, index, to, previous);
    }
    if (isEval && loose.length === 1 && token.text === "case" && isText(tokens[index + 1])) {
      token.terminal = CASE;
    }
    previous = token.terminal;
  }
}

/** Words that are plainly meant as in another language fit nowhere. */
function classifyWord(tokens: readonly Token[], index: number, to: number, previous: number): void {
  const token = tokens[index];
  const next = index + 1 < to ? tokens[index + 1] : undefined;
  if (token === undefined) return;
  if (token.terminal === FOREIGN) token.terminal = /^[A-Z]/.test(token.text) ? TYPE_NAME : NAME;
  if (next === undefined || next.isFirstOfLine) return;
  if (isForeignBlock(tokens, index, to)) {
    token.terminal = FOREIGN;
    return;
  }
  const beginsStatement = token.isFirstOfLine || previous === OPEN_BRACE || previous === CLOSE_BRACE ||
    previous === ELSE;
  if (FOREIGN_STATEMENT_WORDS.has(token.text) && (beginsStatement || token.text === "switch")) {
    const isCall = next.text === "(" && !isFollowedByBrace(tokens, index + 1, to);
    if (previous !== DOT && !isCall && /^[\w("{]/.test(next.text)) token.terminal = FOREIGN;
    return;
  }
  if (/^(new|await)$/.test(token.text) && token.terminal === NAME && previous !== DOT && previous !== FN) {
    if (next.terminal === NAME || next.terminal === TYPE_NAME) token.terminal = FOREIGN;
    return;
  }
  if (!token.isFirstOfLine || previous === 0) return;
  const afterNext = index + 2 < to ? tokens[index + 2] : undefined;
  const isText = next.terminal === TEXT || next.terminal === TEXT_START;
  if (isText && token.terminal === NAME && token.text !== "case") {
    if (afterNext === undefined || afterNext.isFirstOfLine || next.terminal === TEXT_START) {
      token.terminal = FOREIGN;
    }
  } else if (next.terminal === NAME && afterNext?.terminal === EQUALS && !afterNext.isFirstOfLine) {
    const isType = token.terminal === TYPE_NAME || FOREIGN_TYPES.has(token.text) ||
      /^(auto|val|my|local|final)$/.test(token.text);
    if (isType) token.terminal = FOREIGN;
  }
}

/** How far is looked for the end of the line of a head. */
const LINE_TOKENS = 100;

/** Whether a block of another language begins at a word: `case x {`, and `try:` at the end of its line. */
function isForeignBlock(tokens: readonly Token[], index: number, to: number): boolean {
  const word = tokens[index]?.text;
  if (word === "try") {
    const behind = index + 2 < to ? tokens[index + 2] : undefined;
    return tokens[index + 1]?.terminal === COLON && behind?.isFirstOfLine !== false;
  }
  if (word !== "case" || tokens[index]?.isFirstOfLine !== true) return false;
  for (let at = index + 1; at < Math.min(to, index + LINE_TOKENS); at++) {
    const token = tokens[at];
    if (token === undefined || /^(=>|->|:|=)$/.test(token.text)) return false;
    const behind = at + 1 < to ? tokens[at + 1] : undefined;
    if (behind?.isFirstOfLine !== false) return token.text === "{" && at > index + 1;
  }
  return false;
}

/** Whether the parentheses that open at a token are followed by a brace on the same line: `switch (x) {`. */
function isFollowedByBrace(tokens: readonly Token[], from: number, to: number): boolean {
  let depth = 0;
  // A hostile line may be long; nobody's condition is.
  for (let index = from; index < Math.min(to, from + 200); index++) {
    const text = tokens[index]?.text ?? "";
    if (index > from && tokens[index]?.isFirstOfLine === true) return false;
    if (text === "(") depth++;
    else if (text === ")" && --depth === 0) return tokens[index + 1]?.text === "{";
  }
  return false;
}

/** Settles the words at the start of a declaration; whether it is an `eval`. */
function classifyStart(tokens: readonly Token[], from: number, to: number): boolean {
  const first = tokens[from]?.terminal === PUB ? from + 1 : from;
  const token = tokens[first];
  const next = first + 1 < to ? tokens[first + 1] : undefined;
  if (token === undefined || next === undefined) return false;
  switch (token.text) {
    case "test":
      token.terminal = isText(next) ? TEST : NAME;
      break;
    case "property":
      token.terminal = isText(next) ? PROPERTY : NAME;
      break;
    case "eval": {
      token.terminal = isText(next) ? EVAL : NAME;
      const third = first + 2 < to ? tokens[first + 2] : undefined;
      if (third?.text === "threshold") third.terminal = token.terminal === EVAL ? THRESHOLD : NAME;
      return token.terminal === EVAL;
    }
    case "intrinsic":
      token.terminal = next.terminal === FN ? INTRINSIC : NAME;
      break;
    case "extern":
      token.terminal = isText(next) ? EXTERN : NAME;
      break;
    case "type": {
      const last = tokens[to - 1];
      if (last?.text === "builtin" && token.terminal === TYPE) {
        last.terminal = tokens[to - 2]?.terminal === EQUALS ? BUILTIN : NAME;
      }
      break;
    }
  }
  return false;
}

function isText(token: Token | undefined): boolean {
  return token !== undefined && (token.terminal === TEXT || token.terminal === TEXT_START);
}

function beginsRecord(tokens: readonly Token[], index: number, to: number): boolean {
  if (index >= to) return false;
  const first = tokens[index]?.terminal;
  if (first === DOTS) return true;
  if (tokens[index - 3]?.text === "interface") return false;
  if (first !== NAME || index + 1 >= to) return false;
  const second = tokens[index + 1]?.terminal;
  if (isForeignBlock(tokens, index, to)) return false;
  // `name :=` is another language's variable.
  if (second === COLON) return tokens[index + 2]?.terminal !== EQUALS;
  // `Ball { x = 1 }` and `Ball { x }` would be a value and a block, where no block can be meant.
  return (second === EQUALS || second === COMMA || second === CLOSE_BRACE) && isValueAlone(tokens, index - 2);
}

/** Whether a question mark is the second of `a ?? b`, which would be two values. */
function isDefault(tokens: readonly Token[], index: number, to: number): boolean {
  const [before, token, next] = [tokens[index - 1], tokens[index], tokens[index + 1]];
  return before?.text === "?" && before.end === token?.start && index + 1 < to &&
    next?.isFirstOfLine === false && /^[\w"'(]/.test(next.text) && !/^(and|or|as|in|else)$/.test(next.text) &&
    next.text !== "(";
}

/** Whether a minus is the second of `i--` at the end of a line: it would take what the next line begins with. */
function isDecrement(tokens: readonly Token[], index: number, to: number): boolean {
  const [before, token, next] = [tokens[index - 1], tokens[index], tokens[index + 1]];
  return before?.text === "-" && before.end === token?.start && tokens[index - 2]?.terminal === NAME &&
    (index + 1 >= to || next?.isFirstOfLine === true || next?.terminal === CLOSE_BRACE);
}

/** How far is looked back for the head that an empty block may belong to. */
const HEAD_TOKENS = 200;

/**
 * Whether the braces that open at a token are a record's without fields: no condition, loop or heading before them
 * lacks its block.
 */
function isEmptyRecord(tokens: readonly Token[], open: number, from: number): boolean {
  if (tokens[open + 1]?.terminal !== CLOSE_BRACE) return false;
  let depth = 0;
  for (let index = open - 1; index >= Math.max(from, open - HEAD_TOKENS); index--) {
    const token = tokens[index];
    if (token === undefined) return false;
    switch (token.text) {
      case ")":
      case "]":
      case "}":
        if (depth === 0 && token.text === "}") return true;
        depth++;
        break;
      case "(":
      case "[":
      case "{":
        if (depth-- === 0) return true;
        break;
      case "if":
      case "while":
      case "match":
      case "for":
      case "fn":
      case "uses":
      case "interface":
      case "->":
        if (depth === 0) return false;
        break;
      case "=>":
        if (depth === 0) return true;
    }
    // A statement begins here.
    const before = tokens[index - 1];
    if (depth === 0 && token.isFirstOfLine && before !== undefined && endsExpression[before.terminal] === 1) {
      if (!continuesLine(token)) return true;
    }
  }
  return open - from <= HEAD_TOKENS;
}

/** Whether a line that begins so goes on with the expression before it. */
function continuesLine(token: Token): boolean {
  return !/^[\w"'([{-]/.test(token.text) || token.text === "and" || token.text === "or";
}

/**
 * Whether the type named by a token stands where a value does that no block follows: behind `=` or `(`, but not in a
 * condition.
 */
function isValueAlone(tokens: readonly Token[], type: number): boolean {
  const before = type - (tokens[type - 1]?.terminal === DOT ? 3 : 1);
  const text = tokens[before]?.text ?? "";
  if (!/^(=|\(|,|\[|return|=>)$/.test(text)) return false;
  // The last of several effects has a body behind it.
  let first = before;
  while (first > 0 && (tokens[first]?.terminal === COMMA || tokens[first]?.terminal === TYPE_NAME)) first--;
  if (tokens[first]?.text === "uses") return false;
  // A condition with a pattern has a block behind its value.
  for (let index = before; index >= Math.max(0, before - 20); index--) {
    if (tokens[index]?.text === "let") return tokens[index - 1]?.text !== "if";
  }
  return true;
}

function isReturnAlone(next: Token | undefined, isInside: boolean): boolean {
  return !isInside || next === undefined || next.isFirstOfLine || next.terminal === CLOSE_BRACE;
}
