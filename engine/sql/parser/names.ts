/**
 * Names and lists of names, as most statements use them.
 */

import type { ObjectName } from "./ast.ts";
import type { TokenStream } from "./token_stream.ts";

/** Reads `item, item, …`: at least one. */
export function parseList<T>(stream: TokenStream, parseItem: (stream: TokenStream) => T): T[] {
  const first = parseItem(stream);
  const rest = stream.collect(() => stream.acceptSymbol(",") ? parseItem(stream) : undefined);
  return [first, ...rest];
}

/** Reads `(item, item, …)`: at least one. */
export function parseParenthesizedList<T>(stream: TokenStream, parseItem: (stream: TokenStream) => T): T[] {
  stream.expectSymbol("(");
  const items = parseList(stream, parseItem);
  stream.expectSymbol(")");
  return items;
}

/** Reads a name. */
export function parseName(stream: TokenStream): string {
  return stream.expectName();
}

/** Reads `(name, …)`. */
export function parseNameList(stream: TokenStream): string[] {
  return parseParenthesizedList(stream, parseName);
}

/** Reads `(name, …)` when there is one; otherwise an empty list. */
export function parseOptionalNameList(stream: TokenStream): string[] {
  return stream.isSymbol("(") ? parseNameList(stream) : [];
}

/** Reads `name`, `schema.name` or `catalog.schema.name`. */
export function parseObjectName(stream: TokenStream): ObjectName {
  const position = stream.position;
  return objectName(stream, parseDottedName(stream), position);
}

/** Reads a dotted name of any length. */
export function parseDottedName(stream: TokenStream): string[] {
  const parts = [stream.expectName()];
  while (stream.acceptSymbol(".")) parts.push(stream.expectLabel());
  return parts;
}

/** The parts of a dotted name as an object's name. */
export function objectName(stream: TokenStream, parts: readonly string[], position: number): ObjectName {
  const [last, schema, catalog, tooMany] = parts.toReversed();
  if (last === undefined || tooMany !== undefined) {
    throw stream.error(
      "42601",
      `improper qualified name (too many dotted names): ${parts.join(".")}`,
      position,
    );
  }
  return { catalog: catalog ?? null, schema: schema ?? null, name: last, position };
}

/** Reads IF EXISTS when it is there. */
export function acceptIfExists(stream: TokenStream): boolean {
  return stream.acceptWords("if", "exists");
}

/** Reads IF NOT EXISTS when it is there. */
export function acceptIfNotExists(stream: TokenStream): boolean {
  return stream.acceptWords("if", "not", "exists");
}

/** Reads CASCADE or RESTRICT when one is there; answers whether it is CASCADE. */
export function acceptCascade(stream: TokenStream): boolean {
  if (stream.acceptWord("cascade")) return true;
  stream.acceptWord("restrict");
  return false;
}

/** Reads the name of a role; PUBLIC and the words for the session's own role are taken as written. */
export function parseRoleName(stream: TokenStream): string {
  if (stream.isAnyWord(["current_user", "current_role", "session_user"])) return stream.take();
  return stream.expectName();
}
