/**
 * Templates of numbers, as `to_char` and `to_number` use them, split into patterns and other characters.
 *
 * A template has digit positions (`9` blank when leading, `0` always shown), a decimal point (`.` or `D`), group
 * separators (`,` or `G`), signs (`S MI PL SG PR`), `L`, `V`, `EEEE`, `RN`, `TH`, and `B C SP`, which do nothing.
 * Patterns are written in capitals or small letters, not mixed. Templates are remembered, up to 200.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

const PATTERNS = ", . 0 9 B C D EEEE FM G L MI PL PR RN SG SP S TH V".split(" ");
/** Every pattern as it may be written. */
const SPELLINGS = PATTERNS.flatMap((pattern) => [pattern, pattern.toLowerCase()]);

/** A pattern, or another character, which `to_char` copies. */
export type NumberNode =
  | { readonly kind: "pattern"; /** In capitals. */ readonly name: string; readonly written: string }
  | { readonly kind: "character"; readonly text: string };

/** A template and what its patterns come to. */
export interface NumberTemplate {
  readonly nodes: readonly NumberNode[];
  /** Digit positions before the point, after the point, and after `V`. */
  readonly whole: number;
  readonly fraction: number;
  readonly shift: number;
  /** The index of the first `0` before the point, or undefined. */
  readonly firstZero: number | undefined;
  /** How many digit positions there are up to the last `0`. */
  readonly lastZero: number;
  /** Where `S` is: before the digits (with how many positions in front of it) or after the point. */
  readonly sign: "none" | "before" | "after";
  readonly positionsBeforeSign: number;
  /** The patterns that occur, in capitals. */
  readonly has: (name: string) => boolean;
}

const templates = new Map<string, NumberTemplate>();

/** The template of a text; 42601 when its patterns contradict each other. */
export function numberTemplate(source: string): NumberTemplate {
  const known = templates.get(source);
  if (known !== undefined) return known;
  const template = measure(split(source));
  if (templates.size >= LIMITS.keptTemplates) templates.clear();
  templates.set(source, template);
  return template;
}

function split(source: string): NumberNode[] {
  const nodes: NumberNode[] = [];
  let position = 0;
  const takeCharacter = (): void => {
    const text = String.fromCodePoint(source.codePointAt(position) ?? 0);
    nodes.push({ kind: "character", text });
    position += text.length;
  };
  while (position < source.length) {
    const written = SPELLINGS.find((spelling) => source.startsWith(spelling, position));
    if (written !== undefined) {
      nodes.push({ kind: "pattern", name: written.toUpperCase(), written });
      position += written.length;
    } else if (source[position] === '"') {
      position++;
      while (position < source.length && source[position] !== '"') {
        if (source[position] === "\\" && position + 1 < source.length) position++;
        takeCharacter();
      }
      position++;
    } else {
      if (source[position] === "\\" && source[position + 1] === '"') position++;
      takeCharacter();
    }
  }
  return nodes;
}

function contradiction(message: string, detail?: string): DatabaseError {
  return new DatabaseError(SQLSTATE.syntaxError, message, detail === undefined ? {} : { detail });
}

function measure(nodes: readonly NumberNode[]): NumberTemplate {
  const seen = new Set<string>();
  let [whole, fraction, shift, lastZero, positionsBeforeSign] = [0, 0, 0, 0, 0];
  let firstZero: number | undefined;
  let sign: NumberTemplate["sign"] = "none";
  const has = (...names: string[]): boolean => names.some((name) => seen.has(name));
  const refuse = (names: readonly string[], message: string, detail?: string): void => {
    if (has(...names)) throw contradiction(message, detail);
  };
  for (const node of nodes) {
    if (node.kind !== "pattern") continue;
    const name = node.name === "D" ? "." : node.name;
    if (name !== "EEEE") refuse(["EEEE"], '"EEEE" must be the last pattern used');
    switch (name) {
      case "9":
        refuse(["PR"], '"9" must be ahead of "PR"');
        if (has("V")) shift++;
        else if (has(".")) fraction++;
        else whole++;
        break;
      case "0":
        refuse(["PR"], '"0" must be ahead of "PR"');
        if (!has(".")) firstZero ??= whole;
        if (has(".")) fraction++;
        else whole++;
        lastZero = whole + fraction;
        break;
      case ".":
        refuse(["."], "multiple decimal points");
        refuse(["V"], 'cannot use "V" and decimal point together');
        break;
      case "V":
        refuse(["."], 'cannot use "V" and decimal point together');
        break;
      case "S":
        refuse(["S"], 'cannot use "S" twice');
        refuse(["PL", "MI", "SG", "PR"], 'cannot use "S" and "PL"/"MI"/"SG"/"PR" together');
        sign = has(".") ? "after" : "before";
        positionsBeforeSign = whole;
        break;
      case "MI":
      case "PL":
      case "SG":
        refuse(["S"], `cannot use "S" and "${name}" together`);
        break;
      case "PR":
        refuse(["S", "PL", "MI", "SG"], 'cannot use "PR" and "S"/"PL"/"MI"/"SG" together');
        break;
      case "EEEE":
        refuse(["EEEE"], 'cannot use "EEEE" twice');
        refuse(
          ["B!", "FM", "S", "PR", "MI", "PL", "SG", "RN", "V"],
          '"EEEE" is incompatible with other formats',
          '"EEEE" may only be used together with digit and decimal point patterns.',
        );
        break;
      case "B":
        // Only in front of all digits it counts at all.
        if (whole + fraction === 0) seen.add("B!");
        break;
    }
    seen.add(name);
  }
  return {
    nodes,
    whole,
    fraction,
    shift,
    firstZero,
    lastZero,
    sign,
    positionsBeforeSign,
    has: (name) => seen.has(name),
  };
}
