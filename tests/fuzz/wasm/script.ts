/**
 * Reads the scripts of WebAssembly's core test suite: parenthesized commands, among them modules as text or bytes. The
 * suite on the registry is of 2018, so its names of instructions are brought up to date.
 */

/** A string, or another word. */
export interface Atom {
  readonly kind: "string" | "word";
  readonly text: string;
}

/** A list in parentheses, with its place in the script. */
export interface List {
  readonly kind: "list";
  readonly items: readonly Item[];
  readonly start: number;
  readonly end: number;
}

/** A part of a script. */
export type Item = Atom | List;

const TOKEN = /\s+|;;[^\n]*|\(;|"(?:[^"\\]|\\.)*"|[()]|[^\s()";]+/gy;

/** The lists of a script at its top level. */
export function readScript(text: string): List[] {
  const top: List[] = [];
  const open: { items: Item[]; start: number }[] = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) throw new Error(`no token at ${at}: ${text.slice(at, at + 20)}`);
    const start = at;
    at += token.length;
    if (token === "(;") at = commentEnd(text, start);
    else if (token === "(") open.push({ items: [], start });
    else if (token === ")") {
      const { items, start: from } = open.pop() ?? { items: [], start };
      const list: List = { kind: "list", items, start: from, end: at };
      (open.at(-1)?.items ?? top).push(list);
    } else if (token.startsWith('"')) open.at(-1)?.items.push({ kind: "string", text: token.slice(1, -1) });
    else if (!/^(\s|;;)/.test(token)) open.at(-1)?.items.push({ kind: "word", text: token });
  }
  return top;
}

function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const pair = text.slice(at, at + 2);
    if (pair !== "(;" && pair !== ";)") continue;
    depth += pair === "(;" ? 1 : -1;
    at++;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** The first word of a list. */
export function head(item: Item | undefined): string {
  const first = item?.kind === "list" ? item.items[0] : undefined;
  return first?.kind === "word" ? first.text : "";
}

/** The bytes that a string stands for. */
export function stringBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  const escapes: Readonly<Record<string, number>> = { t: 9, n: 10, r: 13, '"': 34, "'": 39, "\\": 92 };
  for (let at = 0; at < text.length;) {
    if (text[at] !== "\\") {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      bytes.push(...new TextEncoder().encode(character));
      at += character.length;
      continue;
    }
    const unicode = /^\\u\{([0-9a-fA-F]+)\}/.exec(text.slice(at));
    const hexadecimal = text.slice(at + 1, at + 3);
    const escape = escapes[text[at + 1] ?? ""];
    if (unicode !== null) {
      bytes.push(...new TextEncoder().encode(String.fromCodePoint(parseInt(unicode[1] ?? "", 16))));
      at += unicode[0].length;
    } else if (escape !== undefined) {
      bytes.push(escape);
      at += 2;
    } else {
      bytes.push(parseInt(hexadecimal, 16));
      at += 3;
    }
  }
  return Uint8Array.from(bytes);
}

/** Names of 2018 and of today. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/^(get|set|tee)_(local|global)$/, "$2.$1"],
  [/^current_memory$/, "memory.size"],
  [/^grow_memory$/, "memory.grow"],
  [/^anyfunc$/, "funcref"],
  [/^(i\d\d)\.trunc_([su]):sat\/(f\d\d)$/, "$1.trunc_sat_$3_$2"],
  [/^([if]\d\d)\.(trunc|convert|extend)_([su])\/([if]\d\d)$/, "$1.$2_$4_$3"],
  [/^([if]\d\d)\.(wrap|demote|promote|reinterpret)\/([if]\d\d)$/, "$1.$2_$3"],
];

/** Text of a module with the names of today. */
export function renamed(text: string): string {
  return text.replace(/;;[^\n]*|"(?:[^"\\]|\\.)*"|[^\s()";]+/g, (token) => {
    if (token.startsWith('"') || token.startsWith(";;")) return token;
    const found = RENAMED.find(([pattern]) => pattern.test(token));
    return found === undefined ? token : token.replace(found[0], found[1]);
  });
}
