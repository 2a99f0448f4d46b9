/**
 * Reading parts of a JSON document straight from its text, without building a tree.
 *
 * The text of a `json` or `jsonb` value has been validated, so this scanner only finds where things begin and end. A
 * part keeps its text, which `json` requires (spaces, duplicate keys, number formats) and `jsonb` gets for free,
 * because a part of a canonical text is canonical.
 */
import { parseJson, quoteJson } from "../../types/json.ts";

/** What a document is at its top. */
export type JsonShape = "object" | "array" | "string" | "number" | "boolean" | "null";

/** What the document is, by its first character. */
export function jsonShape(text: string): JsonShape {
  switch (text[skipSpace(text, 0)]) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

function skipSpace(text: string, position: number): number {
  let at = position;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** The index after a string whose opening quote is at `position`. */
function skipString(text: string, position: number): number {
  let at = position + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (Number.isNaN(code)) return at;
    at += code === 0x5c ? 2 : 1;
  }
}

/** The index after the value that begins at `position`. */
function skipValue(text: string, position: number): number {
  let at = position;
  let depth = 0;
  for (;;) {
    switch (text[at]) {
      case '"':
        at = skipString(text, at);
        break;
      case "{":
      case "[":
        depth++;
        at++;
        continue;
      case "}":
      case "]":
        if (depth === 0) return at;
        depth--;
        at++;
        break;
      case undefined:
        return at;
      case ",":
      case ":":
      case " ":
      case "\n":
      case "\r":
      case "\t":
        if (depth === 0) return at;
        at++;
        continue;
      default:
        at++;
        if (depth > 0 || isScalarCharacter(text.charCodeAt(at))) continue;
        break;
    }
    if (depth === 0) return at;
  }
}

function isScalarCharacter(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || code === 43 || code === 45 ||
    code === 46 ||
    code === 69;
}

/** The text of a JSON string value, given its literal. */
export function unquoteJson(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  return literal.includes("\\u") ? String(parseJson(literal)) : String(JSON.parse(literal));
}

/**
 * The text of a `json` value, of whose strings each can be a text. Raises 22P02 and 22P05 for others, which it may
 * hold.
 */
export function decodableJson(text: string): string {
  if (text.includes("\\u")) parseJson(text);
  return text;
}

/** The members of an object in the order of the text, keys decoded, values as their text. */
export function* jsonMembers(text: string): Iterable<readonly [key: string, value: string]> {
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const keyEnd = skipString(text, at);
    const key = unquoteJson(text.slice(at, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    yield [key, text.slice(start, end)];
    at = skipSpace(text, end);
    if (text[at] !== ",") return;
    at = skipSpace(text, at + 1);
  }
}

/** The elements of an array as their texts. */
export function* jsonElements(text: string): Iterable<string> {
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== "]" && at < text.length) {
    const end = skipValue(text, at);
    yield text.slice(at, end);
    at = skipSpace(text, end);
    if (text[at] !== ",") return;
    at = skipSpace(text, at + 1);
  }
}

/** The number of elements of an array. */
export function jsonArrayLength(text: string): number {
  let count = 0;
  for (const _element of jsonElements(text)) count++;
  return count;
}

/** The value of a key, the last one when it occurs twice; null when the document is no object or has no such key. */
export function jsonField(text: string, key: string): string | null {
  if (jsonShape(text) !== "object") return null;
  let found: string | null = null;
  for (const [name, value] of jsonMembers(text)) if (name === key) found = value;
  return found;
}

/** The element at an index, from the end when negative; null when the document is no array or is shorter. */
export function jsonElement(text: string, index: number): string | null {
  if (jsonShape(text) !== "array") return null;
  let at = index < 0 ? jsonArrayLength(text) + index : index;
  if (at < 0) return null;
  for (const element of jsonElements(text)) if (at-- === 0) return element;
  return null;
}

/** The part at a path of keys and indexes; null when there is none or the path has a NULL. */
export function jsonPath(text: string, path: readonly (string | null)[]): string | null {
  let part = text.trim();
  for (const step of path) {
    if (step === null) return null;
    const shape = jsonShape(part);
    let next: string | null = null;
    if (shape === "object") next = jsonField(part, step);
    else if (shape === "array" && /^\s*[+-]?\d+$/.test(step)) next = jsonElement(part, Number(step));
    if (next === null) return null;
    part = next;
  }
  return part;
}

/** A part as text: strings without quotes, JSON null as NULL, everything else as it is written. */
export function jsonAsText(part: string | null): string | null {
  if (part === null) return null;
  switch (jsonShape(part)) {
    case "string":
      return unquoteJson(part.trim());
    case "null":
      return null;
    default:
      return part;
  }
}

/** A string, a bracket, or another scalar; what is between them (spaces, commas, colons) is skipped. */
const TOKEN = /[\s,:]*("(?:[^"\\]|\\.)*"|[{}[\]]|[^\s,:{}[\]"]+)/y;
/** What follows a string that is a key, and what follows a key that is left out. */
const COLON = /\s*:/y;
const NULL_MEMBER = /\s*:\s*null(?=[\s,}])/y;

/** Copies a valid document without object members whose value is null: in one pass, however deep it is. */
export function stripJsonNulls(text: string): string {
  let stripped = "", last = "";
  const add = (part: string): void => {
    stripped += part;
    last = part.charAt(part.length - 1);
  };
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const token = found[1] ?? "";
    if (token === "}" || token === "]") {
      add(token);
      continue;
    }
    const isString = token.startsWith('"');
    if (isString) {
      COLON.lastIndex = NULL_MEMBER.lastIndex = TOKEN.lastIndex;
      if (NULL_MEMBER.test(text)) {
        TOKEN.lastIndex = NULL_MEMBER.lastIndex;
        continue;
      }
    }
    if (last !== "" && last !== "{" && last !== "[" && last !== ":") add(",");
    add(isString ? quoteJson(unquoteJson(token)) : token);
    if (isString && COLON.test(text)) add(":");
  }
  return stripped;
}
