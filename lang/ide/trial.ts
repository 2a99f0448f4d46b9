/**
 * A place that is being written, with a name put in where one belongs, so that what stands around it can be looked at.
 *
 * What kind of name belongs there is not known, so several are tried, and the one that gives the fewest errors of
 * syntax is taken.
 */
import { wholeDeclaration } from "../check/declare.ts";
import { checkLoneDeclarations } from "../check/lone_declarations.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import { SourceFile, type Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { parse, type ParsedFile } from "../syntax/parser.ts";
import { repair } from "./repaired_text.ts";
import { indexNames, type NameIndex } from "./name_index.ts";
import { PackageView, type Texts } from "./package_view.ts";
import type { Piece } from "./piece.ts";
import type { SymbolPosition } from "./symbol_service.ts";
import { type PathNode, syntaxPath } from "./syntax_path.ts";

/** The name that is put in. */
const SMALL = "completion__";
const CAPITAL = "Completion__";

/** A place with a name put in. */
export interface Trial {
  readonly graph: ModuleGraph;
  readonly index: NameIndex;
  /** Within the name that was put in. */
  readonly offset: number;
  /** Null between declarations. */
  readonly declaration: ast.Declaration | null;
  readonly path: readonly PathNode[];
}

/** The letters of a name around an offset. */
export function wordAt(text: string, offset: number): Span {
  let start = offset;
  let end = offset;
  while (start > 0 && /[A-Za-z0-9_]/.test(text[start - 1] ?? "")) start--;
  while (end < text.length && /[A-Za-z0-9_]/.test(text[end] ?? "")) end++;
  return { start, end };
}

/**
 * Puts names into places. It has an analysis of its own, so that the package as it stands is not forgotten meanwhile.
 */
export class Trials {
  readonly #view = new PackageView();
  #last: { readonly key: string; readonly text: string; readonly trial: Trial | null } | null = null;

  /** Looks at a place with a name in it; null when the file is none of the package. */
  at(texts: Texts, { path, offset }: SymbolPosition): Trial | null {
    const text = texts.get(path);
    if (text === undefined) return null;
    const word = wordAt(text, offset);
    const key = `${path} ${word.start} ${word.end}`;
    if (this.#last?.key === key && this.#last.text === text) return this.#last.trial;
    const parsed = bestOf(path, text, word);
    this.#view.update(
      new Map(texts).set(path, parsed.module.file.text),
      new Map([[path, parsed]]),
    );
    const file = this.#view.files.get(path);
    const index = this.#view.index(path);
    const trial = file === undefined || index === null
      ? null
      : lookAt(this.#view.graph, index, file.forward(word.start + 1));
    this.#last = { key, text, trial };
    return trial;
  }

  /** Looks at a place in a piece by itself, at an offset in it. */
  inPiece(piece: Piece, offset: number): Trial {
    const { graph, home, parsed: { module } } = piece;
    const word = wordAt(module.file.text, offset);
    const file = repair(bestOf(module.file.path, module.file.text, word));
    const { scope, symbols } = checkLoneDeclarations(graph, home, file.repaired.module);
    return lookAt(graph, indexNames(graph, scope, symbols), file.forward(word.start + 1));
  }

  /** Analyzes texts on request. */
  with(texts: Texts): PackageView {
    this.#last = null;
    this.#view.update(texts);
    return this.#view;
  }
}

function lookAt(graph: ModuleGraph, index: NameIndex, offset: number): Trial {
  const declaration =
    index.scope.module.declarations.map(wholeDeclaration).find((each) =>
      each !== null && each.span.start <= offset && offset <= each.span.end
    ) ?? null;
  return {
    graph,
    index,
    offset,
    declaration,
    path: declaration === null ? [] : syntaxPath(declaration, offset),
  };
}

function bestOf(path: string, text: string, word: Span): ParsedFile {
  const isMember = /\.\s*$/.test(text.slice(Math.max(0, word.start - 200), word.start));
  const candidates = isMember ? [SMALL] : [CAPITAL, `${SMALL}: 0`, `${CAPITAL} => {}`, SMALL];
  let best: ParsedFile | null = null;
  let fewest = Infinity;
  for (const each of candidates) {
    const parsed = parse(new SourceFile(path, text.slice(0, word.start) + each + text.slice(word.end)));
    const count = parsed.diagnostics.filter(({ severity }) => severity === "error").length;
    if (count >= fewest) continue;
    best = parsed;
    fewest = count;
    if (count === 0) break;
  }
  return best ?? parse(new SourceFile(path, text));
}
