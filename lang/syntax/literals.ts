/**
 * Values of literals: numbers, characters and texts with their escapes. The lexer has reported what is wrong in them.
 */

/** The value of `12`, `1_000`, `0xff`, `0b1010`. */
export function integerValue(text: string): bigint {
  try {
    return BigInt(text.replaceAll("_", ""));
  } catch {
    return 0n;
  }
}

/** The value of `1.5`, `1_000.0e-3`. */
export function floatValue(text: string): number {
  return Number(text.replaceAll("_", ""));
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  '"': '"',
  "'": "'",
  "{": "{",
};

/** An escape, or what only looks like one. */
export const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|([^]))/g;

/** A text with its escapes replaced; a wrong one stays as it is. */
export function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (whole: string, digits: string | undefined, letter: string | undefined) => {
    if (digits !== undefined) {
      const codePoint = parseInt(digits, 16);
      return isScalarValue(codePoint) ? String.fromCodePoint(codePoint) : whole;
    }
    return simpleEscapes[letter ?? ""] ?? whole;
  });
}

/** Whether a number is a Unicode scalar value: a code point but for surrogates. */
function isScalarValue(codePoint: number): boolean {
  return codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
}

/** Whether an escape as {@link ESCAPE} finds them has a meaning in a text or character. */
export function isEscape(text: string, isCharacter: boolean): boolean {
  if (text.startsWith("\\u{")) return isScalarValue(parseInt(text.slice(3, -1), 16));
  const letter = text.slice(1);
  return letter === "'" ? isCharacter : letter in simpleEscapes;
}

/** The code point of `'a'`. */
export function characterValue(text: string): number {
  return unescape(text.slice(1, -1)).codePointAt(0) ?? 0;
}

/**
 * Pieces of a text of several lines without the first line break and the indentation of the closing quotes.
 * Pieces are raw; null stands for an expression.
 */
export function withoutIndentation(pieces: readonly (string | null)[]): (string | null)[] {
  const last = pieces.at(-1);
  const indentation = typeof last === "string" ? /(?:^|\n)([ \t]*)$/.exec(last)?.[1] ?? "" : "";
  return pieces.map((piece, index) => {
    if (piece === null) return null;
    let text = piece;
    const isFirst = index === 0;
    if (indentation !== "") {
      text = text.replace(/\n([ \t]*)/g, (_, found: string) => {
        let same = 0;
        while (same < found.length && found[same] === indentation[same]) same++;
        return `\n${found.slice(same)}`;
      });
    }
    return isFirst ? text.replace(/^[ \t]*\r?\n/, "") : text;
  });
}
