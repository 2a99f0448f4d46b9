/**
 * Tokens of a TypeScript source, as far as mutants need them: words, numbers, strings, the literal pieces of
 * templates and punctuation, each with its offsets.
 *
 * Comments and regular expressions yield no tokens. Limits: a `/` begins a regular expression where no operand can
 * have ended, and a `)` always ends an operand, so `if (x) /a/.test(y)` is read wrongly; the formatter's style has
 * none of these.
 */

/** One token. The text of a string or of a template's piece is without its quotes. */
export interface Token {
  readonly kind: "word" | "number" | "string" | "template" | "punctuation";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const operatorPattern =
  /(?:>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|\*\*|[\s\S])/y;
const wordPattern = /[#@A-Za-z_$][\w$]*/y;
const numberPattern = /(?:0[xob][\da-f_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:e[+-]?\d+)?)n?/iy;

/** Words after which an operand begins. */
const beforeOperand = new Set(["return", "typeof", "case", "in", "of", "yield", "await", "void", "delete"]);

function match(pattern: RegExp, source: string, index: number): string {
  pattern.lastIndex = index;
  return pattern.exec(source)?.[0] ?? "";
}

/** All tokens in the order of the source. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let index = 0;

  const push = (kind: Token["kind"], start: number, end: number) => {
    tokens.push({ kind, text: source.slice(start, end), start, end });
  };
  const endsOperand = () => {
    const last = tokens.at(-1);
    if (last === undefined) return false;
    if (last.kind === "punctuation") return last.text === ")" || last.text === "]" || last.text === "}";
    return !beforeOperand.has(last.text);
  };

  const readString = (quote: string) => {
    const start = ++index;
    while (index < source.length && source[index] !== quote) index += source[index] === "\\" ? 2 : 1;
    push("string", start, index++);
  };

  const readTemplate = () => {
    let start = ++index;
    while (index < source.length) {
      if (source[index] === "\\") index += 2;
      else if (source[index] === "`") {
        push("template", start, index++);
        return;
      } else if (source.startsWith("${", index)) {
        push("template", start, index);
        index += 2;
        readCode("}");
        start = index;
      } else index++;
    }
  };

  const readRegularExpression = () => {
    let isClass = false;
    for (index++; index < source.length; index++) {
      const letter = source[index];
      if (letter === "\\") index++;
      else if (letter === "[") isClass = true;
      else if (letter === "]") isClass = false;
      else if (letter === "/" && !isClass) break;
    }
    index++;
    index += match(/[a-z]*/y, source, index).length;
    // It stands for an operand, so that what follows is read rightly.
    tokens.push({ kind: "string", text: "", start: index, end: index });
  };

  /** Reads up to the end of the source, or behind the brace that closes an expression of a template. */
  const readCode = (end: string | null) => {
    let depth = 0;
    while (index < source.length) {
      const letter = source[index] ?? "";
      if (/\s/.test(letter)) index++;
      else if (source.startsWith("//", index)) {
        const next = source.indexOf("\n", index);
        index = next < 0 ? source.length : next;
      } else if (source.startsWith("/*", index)) index = source.indexOf("*/", index) + 2;
      else if (letter === '"' || letter === "'") readString(letter);
      else if (letter === "`") readTemplate();
      else if (letter === "/" && !endsOperand()) readRegularExpression();
      else {
        const word = match(wordPattern, source, index);
        const number = word === "" && /[\d.]/.test(letter) ? match(numberPattern, source, index) : "";
        const text = word || number || match(operatorPattern, source, index);
        if (text === "{") depth++;
        if (text === "}" && depth-- === 0 && end !== null) {
          index++;
          return;
        }
        const kind = word !== "" ? "word" : number !== "" ? "number" : "punctuation";
        push(kind, index, index + text.length);
        index += text.length;
      }
    }
  };
  readCode(null);
  return tokens;
}
