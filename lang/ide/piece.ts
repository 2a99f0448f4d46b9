/**
 * The declaration that is being written, cut out of its file: what is asked about a place in it needs nothing of the
 * file but what was known of it before.
 *
 * A piece goes from a line that begins a declaration to the next such line. It can be looked at by itself when the
 * package was analyzed as it is now but for this piece, and stood in its place, then, one declaration or none.
 */
import { moduleNameOf } from "../check/package_analysis.ts";
import type { ModuleScope } from "../check/symbols.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import { SourceFile } from "../source/source_file.ts";
import type { UseDeclaration } from "../syntax/ast.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";
import { TOP_LINE } from "./snippets.ts";
import type { PackageView, Texts } from "./package_view.ts";
import type { SymbolPosition } from "./symbol_service.ts";

/** A part of a file. */
export interface Piece {
  /** Where it begins in the file. */
  readonly start: number;
  readonly parsed: ParsedFile;
  /** The module as it was analyzed last. */
  readonly home: ModuleScope;
  readonly graph: ModuleGraph;
  /** The imports of the file; they stand before the piece. */
  readonly uses: readonly UseDeclaration[];
}

/** The piece around a place; null when more than it has to be looked at. */
export function pieceAt(view: PackageView, texts: Texts, { path, offset }: SymbolPosition): Piece | null {
  const text = texts.get(path);
  const file = view.files.get(path);
  const home = view.graph.scopes.get(moduleNameOf(path) ?? "");
  if (text === undefined || file === undefined || home === undefined) return null;
  if (!areOthersSame(view, texts, path)) return null;
  const before = file.original.text;
  const { start, end } = linesAround(text, offset);
  const oldEnd = before.length - (text.length - end);
  // Lines may be left free before what is new.
  const kept = text.slice(0, start).trimEnd();
  if (oldEnd < kept.length || !before.startsWith(kept) || !before.endsWith(text.slice(end))) return null;
  const from = file.forward(kept.length);
  const to = file.forward(oldEnd);
  const replaced = file.repaired.module.declarations.filter(({ span }) => span.start < to && span.end > from);
  const [only] = replaced;
  if (replaced.length > 1 || only !== undefined && (only.span.start < from || only.span.end > to)) {
    return null;
  }
  const uses = file.parsed.module.declarations.flatMap((each) => each.kind === "use" ? [each] : []);
  if (uses.some(({ span }) => span.end > start)) return null;
  const parsed = parse(new SourceFile(path, text.slice(start, end)));
  return { start, parsed, home, graph: view.graph, uses };
}

/** Whether all files but one are those that were analyzed. */
function areOthersSame(view: PackageView, texts: Texts, path: string): boolean {
  let count = 0;
  for (const [each, text] of texts) {
    if (moduleNameOf(each) === null) continue;
    count++;
    if (each !== path && view.files.get(each)?.original.text !== text) return false;
  }
  return count === view.files.size;
}

/** From the line that begins a declaration, at an offset or before it, to the next one and its documentation. */
function linesAround(text: string, offset: number): { readonly start: number; readonly end: number } {
  let start = text.lastIndexOf("\n", offset - 1) + 1;
  while (start > 0 && !isTop(text, start)) start = text.lastIndexOf("\n", start - 2) + 1;
  let end = nextLine(text, offset);
  while (end < text.length && !isTop(text, end)) end = nextLine(text, end);
  // What is told about the next declaration belongs to that.
  while (end > offset) {
    const line = text.lastIndexOf("\n", end - 2) + 1;
    if (line <= offset || !text.startsWith("///", line)) break;
    end = line;
  }
  return { start, end };
}

function nextLine(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  return at < 0 ? text.length : at + 1;
}

function isTop(text: string, line: number): boolean {
  TOP_LINE.lastIndex = line;
  return TOP_LINE.test(text);
}
