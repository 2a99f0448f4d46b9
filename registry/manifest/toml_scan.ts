/**
 * Where keys, values and headers are in a TOML text: the reader gives values only, an editor needs their places.
 *
 * Takes texts that the reader has accepted; of others it gives some answer, which the editor then finds to be wrong
 * and throws away.
 */

/** Part of a text, from its first character to the one behind its last. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** `key = value`, in a table of the text or in an inline table. */
export interface KeyStatement extends Extent {
  readonly kind: "key";
  /** The table that it is in, then the key's own parts. */
  readonly table: readonly string[];
  readonly key: readonly string[];
  readonly value: Extent;
}

/** `[table]` or `[[table]]`. */
export interface HeaderStatement extends Extent {
  readonly kind: "header";
  readonly table: readonly string[];
  readonly isArray: boolean;
}

/** What is on lines of its own; the extent goes to the end of the line, without its break. */
export type Statement = KeyStatement | HeaderStatement;

/** All statements of a text, in their order. */
export function scanToml(text: string): Statement[] {
  const statements: Statement[] = [];
  let table: readonly string[] = [];
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    const start = at;
    if (text[at] === "[") {
      const isArray = text[at + 1] === "[";
      const { key, end } = scanKey(text, at + (isArray ? 2 : 1));
      table = key;
      at = lineEnd(text, end);
      statements.push({ kind: "header", table, isArray, start, end: at });
      continue;
    }
    const entry = scanEntry(text, at);
    if (entry === null) {
      at = lineEnd(text, at + 1);
      continue;
    }
    at = lineEnd(text, entry.value.end);
    statements.push({ kind: "key", table, ...entry, start, end: at });
  }
  return statements;
}

/** The entries of an inline table, whose extent has its braces. */
export function scanInlineTable(text: string, extent: Extent): Omit<KeyStatement, "kind" | "table">[] {
  const entries: Omit<KeyStatement, "kind" | "table">[] = [];
  let at = extent.start + 1;
  while (at < extent.end - 1) {
    at = skipBlank(text, at);
    if (text[at] === ",") {
      at++;
      continue;
    }
    const entry = at < extent.end - 1 ? scanEntry(text, at) : null;
    if (entry === null) break;
    entries.push({ ...entry, start: at, end: entry.value.end });
    at = entry.value.end;
  }
  return entries;
}

function scanEntry(
  text: string,
  start: number,
): { readonly key: readonly string[]; readonly value: Extent } | null {
  const { key, end } = scanKey(text, start);
  if (key.length === 0 || text[end] !== "=") return null;
  const valueStart = skipSpaces(text, end + 1);
  return { key, value: { start: valueStart, end: valueEnd(text, valueStart) } };
}

function scanKey(text: string, start: number): { readonly key: readonly string[]; readonly end: number } {
  const key: string[] = [];
  let at = skipSpaces(text, start);
  for (;;) {
    const [bare] = /^[A-Za-z0-9_-]+/.exec(text.slice(at, at + 256)) ?? [];
    if (bare !== undefined) {
      key.push(bare);
      at += bare.length;
    } else if (text[at] === '"' || text[at] === "'") {
      const end = stringEnd(text, at);
      key.push(unquoted(text.slice(at, end)));
      at = end;
    } else break;
    at = skipSpaces(text, at);
    if (text[at] !== ".") break;
    at = skipSpaces(text, at + 1);
  }
  return { key, end: at };
}

function unquoted(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text.slice(1, -1);
  }
}

function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"' || first === "'") return stringEnd(text, start);
  if (first !== "[" && first !== "{") {
    let at = start;
    while (at < text.length && !/[,\]}#\n\r]/.test(text[at] ?? "")) at++;
    while (at > start && /[ \t]/.test(text[at - 1] ?? "")) at--;
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length;) {
    const character = text[at] ?? "";
    if (character === '"' || character === "'") {
      at = stringEnd(text, at);
      continue;
    }
    if (character === "#") {
      at = lineEnd(text, at);
      continue;
    }
    at++;
    if ("[{".includes(character)) depth++;
    if ("]}".includes(character) && --depth === 0) return at;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  const quote = text[start] ?? "";
  const isLong = text.startsWith(quote.repeat(3), start);
  const mark = isLong ? quote.repeat(3) : quote;
  for (let at = start + mark.length; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++;
    else if (text.startsWith(mark, at)) {
      let end = at + mark.length;
      // A long text may end with two quotes of its own.
      while (isLong && text[end] === quote && end < at + 5) end++;
      return end;
    }
  }
  return text.length;
}

function skipSpaces(text: string, start: number): number {
  let at = start;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    if (text[at] === "#") at = lineEnd(text, at);
    if (!/[\s\uFEFF]/.test(text[at] ?? "")) break;
  }
  return Math.min(at, text.length);
}

/** Where the line ends that a place is in, without its break. */
export function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  if (end < 0) return text.length;
  return text[end - 1] === "\r" && end > start ? end - 1 : end;
}
