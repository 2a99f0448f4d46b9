/**
 * Where keys and values of a manifest stand: the TOML parser gives values only.
 *
 * Looks at keys of the top level, each at the start of a line, which is how manifests are written; otherwise the
 * place is the file's beginning.
 */
import type { Span } from "../source/source_file.ts";

function keyMatch(text: string, key: string): RegExpExecArray | null {
  const name = key.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const table = new RegExp(`^[ \\t]*\\[+[ \\t]*(["']?${name}["']?)`, "m").exec(text);
  return new RegExp(`^[ \\t]*(["']?${name}["']?)[ \\t]*=[ \\t]*`, "m").exec(text) ?? table;
}

/** Where a key stands. */
export function keySpan(text: string, key: string): Span {
  const match = keyMatch(text, key);
  if (match === null) return { start: 0, end: 0 };
  const name = match[1] ?? "";
  const start = match.index + match[0].indexOf(name);
  return { start, end: start + name.length };
}

/** Where the value of a key stands, up to the end of its line without a comment. */
export function valueSpan(text: string, key: string): Span {
  const match = keyMatch(text, key);
  if (match === null) return { start: 0, end: 0 };
  const start = match.index + match[0].length;
  const lineEnd = text.indexOf("\n", start);
  const line = text.slice(start, lineEnd < 0 ? text.length : lineEnd);
  const value = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^#]*)/.exec(line)?.[0].trimEnd() ?? "";
  return { start, end: start + value.length };
}
