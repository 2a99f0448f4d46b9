/**
 * Splits the tokens of a file at its declarations, so that each is parsed alone.
 *
 * A declaration begins at a keyword outside of brackets. Brackets that have no partner would hide the rest of the
 * file: behind one, a keyword at the start of a line, not indented, begins a declaration too ({@link anchorWithin}).
 * Everything is linear in the tokens.
 */
import { FOREIGN_MODIFIERS } from "./foreign_words.ts";
import { terminalNumber, TERMINALS, type Token } from "./token.ts";

const openers = new Map(
  [["(", ")"], ["[", "]"], ["{", "}"]].map(([open = "", close = ""]) =>
    [terminalNumber(open), terminalNumber(close)] as const
  ),
);
const INTERPOLATION_START = terminalNumber("interpolation_start");
const INTERPOLATION_END = terminalNumber("interpolation_end");
openers.set(INTERPOLATION_START, INTERPOLATION_END);

const NAME = terminalNumber("name");
const TYPE_NAME = terminalNumber("type_name");
const TEXT = terminalNumber("text");
const TEXT_START = terminalNumber("text_start");
const FN = terminalNumber("fn");
const PUB = terminalNumber("pub");
const starters = new Set(["pub", "use", "type", "interface", "const"].map(terminalNumber));

/** By terminal: 0 for what is no bracket, the closer for an opening one. */
const closerOf = new Uint8Array(TERMINALS.length);
/** By terminal: whether it closes. */
const isCloser = new Uint8Array(TERMINALS.length);
for (const [open, close] of openers) {
  closerOf[open] = close;
  isCloser[close] = 1;
}

/**
 * For each token the index of its partner if it is a bracket that has one, else -1. Of wrong brackets the nearest
 * right one counts.
 */
export function bracketPartners(tokens: readonly Token[]): Int32Array {
  const partners = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  // How many brackets of each kind are open; in each expression of a text they are counted anew, since nothing in it
  // closes what is outside.
  const counts: Int32Array[] = [new Int32Array(TERMINALS.length)];
  for (let index = 0; index < tokens.length; index++) {
    const terminal = tokens[index]?.terminal ?? 0;
    const closer = closerOf[terminal] ?? 0;
    let count = counts[counts.length - 1];
    if (count === undefined) break;
    if (closer !== 0) {
      open.push(index);
      if (terminal === INTERPOLATION_START) counts.push(new Int32Array(TERMINALS.length));
      else count[closer] = (count[closer] ?? 0) + 1;
      continue;
    }
    if (isCloser[terminal] === 0) continue;
    if (terminal === INTERPOLATION_END) {
      counts.pop();
      count = counts[counts.length - 1] ?? count;
    } else if (count[terminal] === 0) continue;
    for (let partner = open.pop(); partner !== undefined; partner = open.pop()) {
      const expected = closerOf[tokens[partner]?.terminal ?? 0] ?? 0;
      if (terminal !== INTERPOLATION_END) count[expected] = (count[expected] ?? 1) - 1;
      if (expected !== terminal) continue;
      partners[index] = partner;
      partners[partner] = index;
      break;
    }
  }
  return partners;
}

/** Whether a declaration begins at a token, seen without what stands before it. */
function beginsDeclaration(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  const next = tokens[index + 1];
  if (token === undefined) return false;
  if (starters.has(token.terminal)) return true;
  if (token.terminal === FN) return next?.terminal === NAME || next?.terminal === TYPE_NAME;
  switch (token.text) {
    case "test":
    case "property":
    case "eval":
    case "extern":
      return next?.terminal === TEXT || next?.terminal === TEXT_START;
    case "intrinsic":
      return next?.terminal === FN;
  }
  return false;
}

/** Index at which the declaration that begins at `from` ends. */
export function declarationEnd(tokens: readonly Token[], partners: Int32Array, from: number): number {
  for (let index = skipStart(tokens, from); index < tokens.length; index++) {
    if (beginsDeclaration(tokens, index)) return index;
    const token = tokens[index];
    if (token === undefined || !openers.has(token.terminal)) continue;
    const partner = partners[index] ?? -1;
    if (partner < 0) return anchorWithin(tokens, index + 1, tokens.length) ?? tokens.length;
    index = partner;
  }
  return tokens.length;
}

/** Behind the words that belong to the keyword after them: `pub`, `intrinsic`, `extern "…"`. */
function skipStart(tokens: readonly Token[], from: number): number {
  let index = from;
  const first = tokens[index];
  if (first?.terminal === PUB || (first !== undefined && FOREIGN_MODIFIERS.has(first.text))) index++;
  const text = tokens[index]?.text;
  if (text === "intrinsic" && tokens[index + 1]?.terminal === FN) index++;
  else if (text === "extern" && tokens[index + 1]?.terminal === TEXT) index += 2;
  return index + 1;
}

/** The first token in a range that begins a declaration at the very start of a line, whatever brackets are open. */
export function anchorWithin(tokens: readonly Token[], from: number, to: number): number | undefined {
  for (let index = from; index < to; index++) {
    const token = tokens[index];
    if (token?.isFirstOfLine === true && token.isUnindented && beginsDeclaration(tokens, index)) return index;
  }
  return undefined;
}
