/**
 * A text with its syntax errors repaired by the best of their fixes, so that unfinished code can be
 * looked at; and which place is where.
 *
 * Repairing goes round by round, since one error hides others; what is still wrong after {@link ROUNDS} stays wrong.
 */
import { applyEdits, compatibleFixes } from "../diagnostics/edits.ts";
import { SourceFile, type Span } from "../source/source_file.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";

const ROUNDS = 4;

interface TextEdit {
  readonly span: Span;
  readonly text: string;
}

/** An edit, and where what it puts in stands afterwards. */
interface PlacedEdit {
  readonly before: Span;
  readonly after: Span;
}

/** Places before and after edits of one text. */
export class TextMap {
  /** Sorted and apart. */
  readonly #edits: readonly PlacedEdit[];

  constructor(edits: readonly TextEdit[]) {
    const sorted = [...edits].sort((left, right) =>
      left.span.start - right.span.start || left.span.end - right.span.end
    );
    let shift = 0;
    this.#edits = sorted.map(({ span, text }) => {
      const start = span.start + shift;
      shift += text.length - (span.end - span.start);
      return { before: span, after: { start, end: start + text.length } };
    });
  }

  /**
   * The place after the edits: before what is put in at the very place, and at the start of what replaces its
   * surroundings.
   */
  forward(offset: number): number {
    const last = this.#edits.findLast(({ before }) => before.start < offset);
    if (last === undefined) return offset;
    return last.before.end > offset ? last.after.start : offset - last.before.end + last.after.end;
  }

  /** The span before the edits; null where any of it was put in. */
  spanBack(span: Span): Span | null {
    let start = span.start;
    let end = span.end;
    for (const { before, after } of this.#edits) {
      if (span.start < after.end && after.start < span.end && after.end > after.start) return null;
      if (after.end <= span.start) start = span.start + before.end - after.end;
      if (after.start < span.end && after.end <= span.end) end = span.end + before.end - after.end;
    }
    return { start, end: Math.max(start, end) };
  }
}

/** A file as it stands, and as it is looked at. */
export class RepairedFile {
  readonly original: SourceFile;
  /** Of the text as it stands. */
  readonly parsed: ParsedFile;
  /** Of the repaired text; the same when nothing is wrong. */
  readonly repaired: ParsedFile;
  readonly #maps: readonly TextMap[];

  constructor(parsed: ParsedFile, repaired: ParsedFile, maps: readonly TextMap[]) {
    this.original = parsed.module.file;
    this.parsed = parsed;
    this.repaired = repaired;
    this.#maps = maps;
  }

  /** Whether nothing needed repairing. */
  get isSound(): boolean {
    return this.#maps.length === 0 && !hasErrors(this.parsed);
  }

  /** Whether syntax errors are left. */
  get isBroken(): boolean {
    return hasErrors(this.repaired);
  }

  /** A place of the text as it stands in the repaired one. */
  forward(offset: number): number {
    return this.#maps.reduce((at, map) => map.forward(at), offset);
  }

  /** A span of the repaired text in the one that stands; null where it was put in. */
  spanBack(span: Span): Span | null {
    let at: Span | null = span;
    for (const map of this.#maps.toReversed()) {
      if (at === null) return null;
      at = map.spanBack(at);
    }
    return at;
  }
}

function hasErrors(parsed: ParsedFile): boolean {
  return parsed.diagnostics.some(({ severity }) => severity === "error");
}

/** Repairs a file, as far as its errors have fixes. */
export function repair(parsed: ParsedFile): RepairedFile {
  const maps: TextMap[] = [];
  let at = parsed;
  for (let round = 0; round < ROUNDS && hasErrors(at); round++) {
    const file = at.module.file;
    const fixes = at.diagnostics.flatMap(({ severity, fixes }) => severity === "error" ? fixes[0] ?? [] : []);
    const edits = compatibleFixes(fixes).taken.flatMap((fix) => fix.edits);
    if (edits.length === 0) break;
    const next = parse(new SourceFile(file.path, applyEdits(file.text, edits)));
    if (errorCount(next) > errorCount(at)) break;
    maps.push(new TextMap(edits));
    at = next;
  }
  return new RepairedFile(parsed, at, maps);
}

function errorCount(parsed: ParsedFile): number {
  return parsed.diagnostics.filter(({ severity }) => severity === "error").length;
}
