/**
 * Changes one entry of a table in a TOML text and leaves everything else as it is: comments, order, spacing, line ends.
 *
 * What comes out is read again: unless it means exactly the text before with that one change, nothing is changed and
 * the caller gets an error, so that a form that the editor does not understand can never be damaged.
 */
import { parse } from "smol-toml";
import {
  type Extent,
  type KeyStatement,
  lineEnd,
  scanInlineTable,
  scanToml,
  type Statement,
} from "./toml_scan.ts";

/** What an entry is to be: a value as TOML writes it, or null for none. */
export interface TomlChange {
  readonly table: string;
  readonly key: string;
  readonly value: string | null;
}

/** The text after a change; null when the editor cannot make it. */
export function editToml(text: string, change: TomlChange): string | null {
  const edited = apply(text, change);
  return meansTheChange(text, edited, change) ? edited : null;
}

function apply(text: string, change: TomlChange): string {
  const statements = scanToml(text);
  const { table, key, value } = change;
  const inline = statements.find((each): each is KeyStatement =>
    each.kind === "key" && each.table.length === 0 && isPath(each.key, [table])
  );
  if (inline !== undefined) return applyInline(text, inline, change);
  const present = statements.find((each): each is KeyStatement =>
    each.kind === "key" && isPath([...each.table, ...each.key], [table, key])
  );
  if (present !== undefined) {
    return value === null
      ? withoutLines(text, present)
      : text.slice(0, present.value.start) + value + text.slice(present.value.end);
  }
  const cleared = withoutParts(text, statements, [table, key]);
  return value === null ? cleared : insert(cleared, scanToml(cleared), change);
}

/** `dependencies = { fx = "1" }`. */
function applyInline(text: string, { value: extent }: KeyStatement, { key, value }: TomlChange): string {
  const entries = scanInlineTable(text, extent);
  const index = entries.findIndex((each) => isPath(each.key, [key]));
  const entry = entries[index];
  if (entry !== undefined && value !== null) {
    return text.slice(0, entry.value.start) + value + text.slice(entry.value.end);
  }
  if (entry !== undefined) {
    if (isOnOwnLines(text, entry, extent)) {
      return withoutLines(text, { ...entry, end: lineEnd(text, entry.end) });
    }
    const [before, after] = [entries[index - 1], entries[index + 1]];
    if (after !== undefined) return text.slice(0, entry.start) + text.slice(after.start);
    if (before !== undefined) return text.slice(0, before.end) + text.slice(entry.end);
    return `${text.slice(0, extent.start)}{}${text.slice(extent.end)}`;
  }
  if (value === null) return text;
  const last = entries.at(-1);
  if (last === undefined) {
    return `${text.slice(0, extent.start)}{ ${tomlKey(key)} = ${value} }${text.slice(extent.end)}`;
  }
  const line = `${tomlKey(key)} = ${value}`;
  if (!isOnOwnLines(text, last, extent)) return `${text.slice(0, last.end)}, ${line}${text.slice(last.end)}`;
  const end = lineEnd(text, last.end);
  const behind = text.slice(last.end, end);
  const [comma, nextComma] = /^[ \t]*,/.test(behind) ? ["", ","] : [",", ""];
  const indent = indentOf(text, last);
  return `${text.slice(0, last.end)}${comma}${behind}${breakOf(text)}${indent}${line}${nextComma}${
    text.slice(end)
  }`;
}

/** Whether nothing else is on the lines of an entry of an inline table, but a comment. */
function isOnOwnLines(text: string, entry: Extent, table: Extent): boolean {
  const end = lineEnd(text, entry.end);
  return indentOf(text, entry).trim() === "" && end < table.end &&
    /^[ \t]*,?[ \t]*(?:#.*)?$/.test(text.slice(entry.end, end));
}

/** Takes away `[table.key]` with what is below it, and `table.key.part = …`. */
function withoutParts(text: string, statements: readonly Statement[], path: readonly string[]): string {
  let result = text;
  for (const each of statements.toReversed()) {
    const whole = each.kind === "header" ? each.table : [...each.table, ...each.key];
    const isPart = whole.length >= path.length && path.every((part, index) => whole[index] === part);
    if (isPart) result = withoutLines(result, each);
  }
  return result;
}

function insert(text: string, statements: readonly Statement[], { table, key, value }: TomlChange): string {
  const lineBreak = breakOf(text);
  const header = statements.find((each) => each.kind === "header" && isPath(each.table, [table]));
  if (header !== undefined) {
    const members = statements.filter((each): each is KeyStatement =>
      each.kind === "key" && isPath(each.table, [table])
    );
    const line = `${indentOf(text, members.at(-1))}${tomlKey(key)} = ${value}`;
    const place = placeOf(members, key);
    if (place.before !== null) {
      const start = startWithComment(text, place.before, header.end);
      // Not between a member and its comment; before that comment other members may end a group of their own.
      if (text.slice(start).trimStart().startsWith("#") && place.after !== null) {
        return `${text.slice(0, place.after.end)}${lineBreak}${line}${text.slice(place.after.end)}`;
      }
      return `${text.slice(0, start)}${line}${lineBreak}${text.slice(start)}`;
    }
    const end = (place.after ?? header).end;
    return `${text.slice(0, end)}${lineBreak}${line}${text.slice(end)}`;
  }
  const dotted = statements.filter((each) =>
    each.kind === "key" && each.table.length === 0 && each.key[0] === table
  ).at(-1);
  if (dotted !== undefined) {
    const line = `${table}.${tomlKey(key)} = ${value}`;
    return `${text.slice(0, dotted.end)}${lineBreak}${line}${text.slice(dotted.end)}`;
  }
  const body = text === "" || text.endsWith("\n") ? text : text + lineBreak;
  const gap = body === "" ? "" : lineBreak;
  return `${body}${gap}[${table}]${lineBreak}${tomlKey(key)} = ${value}${lineBreak}`;
}

/** In a table whose keys are sorted a new one keeps them so, else it comes last. */
function placeOf(
  members: readonly KeyStatement[],
  key: string,
): { readonly before: KeyStatement | null; readonly after: KeyStatement | null } {
  const names = members.map((each) => each.key.join("."));
  const isSorted = names.every((name, index) => index === 0 || (names[index - 1] ?? "") <= name);
  const index = isSorted ? names.findIndex((name) => name > key) : -1;
  if (index < 0) return { before: null, after: members.at(-1) ?? null };
  return { before: members[index] ?? null, after: members[index - 1] ?? null };
}

/** Where the comment begins that is right above a member and so belongs to it, or its own line. */
function startWithComment(text: string, member: Extent, headerEnd: number): number {
  const lineStart = (at: number) => text.lastIndexOf("\n", at - 1) + 1;
  let start = lineStart(member.start);
  while (start > headerEnd) {
    const above = lineStart(start - 1);
    if (above <= headerEnd || !text.slice(above, start).trimStart().startsWith("#")) break;
    start = above;
  }
  return start;
}

function breakOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function indentOf(text: string, member: Extent | undefined): string {
  if (member === undefined) return "";
  const lineStart = text.lastIndexOf("\n", member.start - 1) + 1;
  return text.slice(lineStart, member.start);
}

/** The text without a statement's lines; a comment behind it on its line goes with it. */
function withoutLines(text: string, { start, end }: Extent): string {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const breakEnd = text.startsWith("\r\n", end) ? end + 2 : text[end] === "\n" ? end + 1 : end;
  return text.slice(0, lineStart) + text.slice(breakEnd);
}

function isPath(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}

/** A key as TOML writes it. */
function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlText(key);
}

/** A text as TOML writes it. */
export function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007F");
}

function meansTheChange(before: string, after: string, { table, key, value }: TomlChange): boolean {
  try {
    const wanted = parse(before);
    const members = wanted[table] ?? {};
    if (typeof members !== "object" || Array.isArray(members) || members instanceof Date) return false;
    const changed = new Map(Object.entries(members));
    if (value === null) changed.delete(key);
    else {
      const read = parse(`value = ${value}`)["value"];
      if (read === undefined) return false;
      changed.set(key, read);
    }
    const found = parse(after);
    if (changed.size === 0 && found[table] === undefined) delete wanted[table];
    else wanted[table] = Object.fromEntries(changed);
    return canonical(wanted) === canonical(found);
  } catch {
    return false;
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "bigint") return `${part}n`;
    if (typeof part !== "object" || part === null || Array.isArray(part) || part instanceof Date) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => left < right ? -1 : 1));
  });
}
