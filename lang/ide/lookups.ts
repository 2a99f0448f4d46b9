/**
 * Look-ups over a package that changes: see `symbol_service.ts` for what can be asked.
 *
 * Analyzing costs what changed, and only when something is asked that needs it.
 */
import { libraryModuleNamed } from "../library/library.ts";
import { moduleNameOf } from "../check/package_analysis.ts";
import type { Location } from "../diagnostics/diagnostic.ts";
import { SourceFile } from "../source/source_file.ts";
import type { ParsedFile } from "../syntax/parser.ts";
import { resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { complete } from "./completion.ts";
import { describe, knownType } from "./describe.ts";
import { inlayTypesOf } from "./inlay_types.ts";
import type { NameIndex, Occurrence } from "./name_index.ts";
import { fitOf, outlineOf } from "./outline.ts";
import { LibraryView, PackageView, type Texts, type ViewedFile } from "./package_view.ts";
import { type Piece, pieceAt } from "./piece.ts";
import { rename, renameTarget } from "./rename.ts";
import { signatureHelp } from "./signature_help.ts";
import type {
  Completion,
  Hover,
  InlayType,
  Reference,
  References,
  RenameOutcome,
  RenameTarget,
  SemanticName,
  SignatureHelp,
  SymbolEntry,
  SymbolPosition,
  SymbolService,
  SymbolsQuery,
} from "./symbol_service.ts";
import {
  declarationOf,
  isOfLibrary,
  type Target,
  targetKey,
  targetKind,
  targetModule,
  targetName,
  targetOfType,
  targetType,
} from "./targets.ts";
import { Trials } from "./trial.ts";

/** Answers for one version of a package after the other. */
export class SymbolLookups {
  readonly #view = new PackageView();
  readonly #trials = new Trials();
  readonly #library = new LibraryView();
  #texts: Texts = new Map();
  #service: SymbolService | null = null;

  /**
   * The look-ups of a package whose sources have these texts, by path. What was given before is stale then.
   * Files that are parsed already are not parsed again.
   */
  of(texts: Texts, parsed: ReadonlyMap<string, ParsedFile> = new Map()): SymbolService {
    if (this.#service !== null && isSame(this.#texts, texts)) return this.#service;
    const own = new Map(texts);
    this.#texts = own;
    this.#service = new Lookups(own, parsed, {
      view: this.#view,
      trials: this.#trials,
      library: this.#library,
    });
    return this.#service;
  }
}

function isSame(left: Texts, right: Texts): boolean {
  if (left.size !== right.size) return false;
  for (const [path, text] of left) if (right.get(path) !== text) return false;
  return true;
}

/** What one version after the other is looked at with. */
interface Views {
  readonly view: PackageView;
  readonly trials: Trials;
  readonly library: LibraryView;
}

class Lookups implements SymbolService {
  readonly #texts: Texts;
  readonly #parsed: ReadonlyMap<string, ParsedFile>;
  readonly #view: PackageView;
  readonly #trials: Trials;
  readonly #library: LibraryView;
  #isReady = false;
  #files: ReadonlyMap<string, SourceFile> | null = null;

  constructor(texts: Texts, parsed: ReadonlyMap<string, ParsedFile>, { view, trials, library }: Views) {
    this.#texts = texts;
    this.#parsed = parsed;
    this.#view = view;
    this.#trials = trials;
    this.#library = library;
  }

  get #ready(): PackageView {
    if (!this.#isReady) this.#view.update(this.#texts, this.#parsed);
    this.#isReady = true;
    return this.#view;
  }

  /** A file of the package or of the library. */
  #at(path: string): ViewedFile | null {
    return path.includes(":") ? this.#library.at(path) : this.#ready.at(path);
  }

  get files(): ReadonlyMap<string, SourceFile> {
    if (this.#files === null) {
      const files = new Map<string, SourceFile>();
      for (const [path, text] of this.#texts) {
        if (moduleNameOf(path) === null) continue;
        const known = this.#view.files.get(path)?.original ?? this.#parsed.get(path)?.module.file;
        files.set(path, known?.text === text ? known : new SourceFile(path, text));
      }
      this.#files = files;
    }
    return this.#files;
  }

  symbols({ path, query }: SymbolsQuery = {}): readonly SymbolEntry[] {
    const own = path === undefined ? null : this.#at(path)?.file;
    const files = path === undefined ? [...this.#ready.files.values()] : own ? [own] : [];
    const entries = files.flatMap((file) => outlineOf(file.parsed.module));
    if (query === undefined || query === "") return entries;
    const all = entries.flatMap((entry) => [entry, ...entry.children]);
    return all.flatMap((entry) => {
      const fit = fitOf(entry.name, query);
      return fit === null ? [] : [{ entry, fit }];
    }).sort((left, right) => left.fit - right.fit || left.entry.name.length - right.entry.name.length)
      .map(({ entry }) => entry);
  }

  /** The names at a place; none when the file is none of the package. */
  #namesAt({ path, offset }: SymbolPosition): readonly Occurrence[] {
    const viewed = this.#at(path);
    return viewed === null ? [] : viewed.index.at(viewed.file.forward(offset));
  }

  definitions(place: SymbolPosition): readonly Location[] {
    const names = this.#namesAt(place);
    // Of a field that is named by itself, the field is what stands elsewhere.
    const isShorthand = names.some((each) => each.isShorthand);
    return this.#declarations(
      place.path,
      names.filter((each) => !isShorthand || each.target.kind === "field").map(({ target }) => target),
    );
  }

  #declarations(path: string, targets: readonly Target[]): readonly Location[] {
    const graph = this.#at(path)?.graph;
    if (graph === undefined) return [];
    const found = new Map<string, Location>();
    for (const target of targets) {
      const declared = declarationOf(graph, target);
      const location = declared === null ? null : this.#view.original(declared);
      if (location !== null) found.set(`${location.file.path} ${location.span.start}`, location);
    }
    return [...found.values()];
  }

  typeDefinitions(place: SymbolPosition): readonly Location[] {
    const viewed = this.#at(place.path);
    if (viewed === null) return [];
    const { graph, index } = viewed;
    const types = this.#namesAt(place).flatMap(({ target }) => targetType(target) ?? []);
    const inner = types.length > 0 ? types : [this.#expressionAt(place)?.type].flatMap((type) => type ?? []);
    return this.#declarations(
      place.path,
      inner.flatMap((type) => targetOfType(graph, resultOf(type), index.scope) ?? []),
    );
  }

  references(place: SymbolPosition): References | null {
    const names = this.#namesAt(place);
    const name = names.find(({ target }) => target.kind === "local") ?? names[0];
    const own = this.#at(place.path);
    if (name === undefined || own === null) return null;
    const key = targetKey(name.target);
    const references: Reference[] = [];
    const paths = this.#ready.files.keys();
    for (
      const { file, index } of own.graph === this.#view.graph
        ? [...paths].flatMap((path) => this.#at(path) ?? [])
        : [own]
    ) {
      for (const { span, isDefinition, isWrite } of index.of(key)) {
        const back = file.spanBack(span);
        if (back !== null) references.push({ file: file.original, span: back, isDefinition, isWrite });
      }
    }
    return {
      name: targetName(name.target) ?? "",
      kind: targetKind(name.target),
      references: references.sort(byPosition),
    };
  }

  renameTarget(place: SymbolPosition): RenameTarget {
    return renameTarget(this.#ready, place);
  }

  rename(place: SymbolPosition, newName: string): RenameOutcome {
    return rename(this.#ready, this.#trials, place, newName);
  }

  /** The innermost expression around a place whose type is known. */
  #expressionAt(
    { path, offset }: SymbolPosition,
  ): { readonly span: Occurrence["span"]; readonly type: Type } | null {
    const viewed = this.#at(path);
    if (viewed === null) return null;
    const { file, index } = viewed;
    const at = file.forward(offset);
    let best: NameIndex["table"]["types"][number] | null = null;
    for (const each of index.table.types) {
      const { span, type } = each;
      if (span.start > at || span.end < at || knownType(type) === null) continue;
      if (best === null || span.end - span.start <= best.span.end - best.span.start) best = each;
    }
    const span = best === null ? null : file.spanBack(best.span);
    return best === null || span === null ? null : { span, type: best.type };
  }

  hover(place: SymbolPosition): Hover | null {
    const viewed = this.#at(place.path);
    if (viewed === null) return null;
    const { file, graph } = viewed;
    const names = this.#namesAt(place);
    const name = names.find(({ target }) => target.kind === "local") ?? names[0];
    const span = name === undefined ? null : file.spanBack(name.span);
    if (name === undefined || span === null) return this.#hoverExpression(place);
    const { target } = name;
    const { signature, type, effects, documentation } = describe(graph, target);
    const own = target.kind === "field" ? this.#fieldType(place.path, name) : null;
    const [definition = null] = this.#declarations(place.path, [target]);
    return {
      span,
      name: targetName(target) ?? "",
      kind: targetKind(target),
      signature: own === null || type === null ? signature : signature.replace(/: .*$/s, `: ${own}`),
      type: own ?? type,
      effects,
      documentation,
      module: targetModule(target) ?? (target.kind === "type" ? null : viewed.index.scope.name),
      definition,
    };
  }

  /** The type that a field has in the value at hand, whose type may be generic. */
  #fieldType(path: string, { span }: Occurrence): string | null {
    const found = this.#at(path)?.index.table.types.findLast((each) =>
      each.span.end === span.end && each.span.start < span.start && "index" in each
    );
    return found === undefined ? null : knownType(found.type);
  }

  #hoverExpression(place: SymbolPosition): Hover | null {
    const found = this.#expressionAt(place);
    const file = this.#at(place.path)?.file;
    const type = found === null ? null : knownType(found.type);
    if (found === null || file === undefined || type === null) return null;
    const text = file.original.text.slice(found.span.start, found.span.end);
    // Of a whole block the type says little.
    if (text.includes("\n") || text.length > 200) return null;
    return {
      span: found.span,
      name: text,
      kind: "expression",
      signature: type,
      type,
      effects: null,
      documentation: null,
      module: null,
      definition: null,
    };
  }

  /** What can be looked at by itself around a place; the package is analyzed when it has to be. */
  #pieceAt(place: SymbolPosition): Piece | null {
    return pieceAt(this.#view, this.#texts, place) ??
      (this.#isReady ? null : pieceAt(this.#ready, this.#texts, place));
  }

  complete(place: SymbolPosition): Completion {
    const piece = this.#pieceAt(place);
    const file = this.files.get(place.path);
    const viewed = this.#view.files.get(place.path);
    if (file === undefined || viewed === undefined) {
      return { span: { start: place.offset, end: place.offset }, items: [] };
    }
    const modules = [...this.#view.files.keys()].flatMap((path) => moduleNameOf(path) ?? []);
    if (piece === null) {
      const { parsed } = viewed;
      const uses = parsed.module.declarations.flatMap((each) => each.kind === "use" ? [each] : []);
      const trial = () => this.#trials.at(this.#texts, place);
      return complete({ place, parsed, imports: { file, uses }, modules, trial });
    }
    const { parsed, start, uses } = piece;
    const offset = place.offset - start;
    const { span, items } = complete({
      place: { path: place.path, offset },
      parsed,
      imports: { file, uses },
      modules,
      trial: () => this.#trials.inPiece(piece, offset),
    });
    return { span: { start: span.start + start, end: span.end + start }, items };
  }

  signatureHelp(place: SymbolPosition): SignatureHelp | null {
    const piece = this.#pieceAt(place);
    const trial = piece === null
      ? this.#trials.at(this.#texts, place)
      : this.#trials.inPiece(piece, place.offset - piece.start);
    return trial === null ? null : signatureHelp(trial);
  }

  inlayTypes(path: string): readonly InlayType[] {
    const viewed = this.#at(path);
    if (viewed === null) return [];
    const { file, index } = viewed;
    return inlayTypesOf(index).flatMap((each) => {
      const back = file.spanBack({ start: each.offset, end: each.offset });
      return back === null ? [] : [{ ...each, offset: back.start }];
    });
  }

  semanticNames(path: string): readonly SemanticName[] {
    const viewed = this.#at(path);
    if (viewed === null) return [];
    const { file, index, graph } = viewed;
    const found: SemanticName[] = [];
    for (const { span, target, isDefinition, isShorthand } of index.occurrences) {
      // A field that is named by itself is colored as the variable.
      if (isShorthand && target.kind === "field") continue;
      const back = file.spanBack(span);
      if (back === null) continue;
      found.push({
        span: back,
        kind: targetKind(target),
        isDefinition,
        isReadonly: isReadonly(target),
        isLibrary: isOfLibrary(graph, target),
      });
    }
    return found;
  }
}

function isReadonly(target: Target): boolean {
  switch (target.kind) {
    case "local":
      return target.variable.kind === "let" || target.variable.kind === "parameter";
    case "parameter":
      return target.symbol.parameters[target.index]?.kind !== "inout";
    case "value":
      return target.symbol.kind === "constant";
    default:
      return false;
  }
}

/** What calling gives, of a function. */
function resultOf(type: Type): Type {
  const at = resolve(type);
  return at.kind === "function" ? at.result : at;
}

function byPosition(left: Location, right: Location): number {
  if (left.file.path !== right.file.path) return left.file.path < right.file.path ? -1 : 1;
  return left.span.start - right.span.start;
}

/** A module of the library by the path that its places have, such as `std:list`. */
export function librarySource(path: string): SourceFile | null {
  return libraryModuleNamed(path.replace(":", "."))?.file ?? null;
}
