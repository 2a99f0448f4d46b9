/**
 * The language server without its connection: what an editor says goes in, what it is answered comes out.
 *
 * Each package that has an open document or is a folder of the editor's workspace is a {@link PackageSession}.
 * Requests see the documents as they are at that moment; errors are reported when a caller uses {@link
 * LanguageServer.check}, which the connection does a moment after the last edit.
 */
import type {
  CodeAction,
  CodeActionParams,
  CodeLens,
  CompletionItem as EditorCompletionItem,
  CompletionList,
  Diagnostic as EditorDiagnostic,
  DocumentHighlight,
  DocumentSymbol,
  FoldingRange,
  Hover as EditorHover,
  InitializeParams,
  InlayHint,
  Location as EditorLocation,
  LocationLink,
  Position,
  Range,
  SelectionRange,
  SemanticTokens,
  SemanticTokensDelta,
  SignatureHelp as EditorSignatureHelp,
  TextDocumentContentChangeEvent,
  TextEdit,
  WorkspaceEdit,
  WorkspaceSymbol,
} from "vscode-languageserver";
import { wholeDeclaration } from "../../check/declare.ts";
import { moduleNameOf } from "../../check/package_analysis.ts";
import type { Edit, Location } from "../../diagnostics/diagnostic.ts";
import { LANG_LIMITS } from "../../limits.ts";
import { MemoryFiles } from "../../package/package_files.ts";
import type { SourceFile } from "../../source/source_file.ts";
import { librarySource } from "../../ide/lookups.ts";
import { parse } from "../../syntax/parser.ts";
import type { CompletionItem } from "../../ide/symbol_service.ts";
import { syntaxPath } from "../../ide/syntax_path.ts";
import { codeActions, editorDiagnostic } from "./diagnostics.ts";
import { changed, type EditorDocument } from "./documents.ts";
import { foldingRanges } from "./folding.ts";
import { formattingEdits } from "./formatting.ts";
import { type EditorPackage, PackageSession } from "./package_session.ts";
import {
  documentSymbol,
  editorCompletion,
  editorHover,
  editorSignature,
  inlayHint,
  SYMBOL_KINDS,
} from "./present.ts";
import { semanticTokens, tokenEdits } from "./semantic_tokens.ts";
import { linesOf, type TextLines } from "./text_lines.ts";
import { libraryPathOfUri, libraryUri, pathOfUri, uriOfPath } from "./uris.ts";

/** What the server needs of the machine. */
export interface EditorHost {
  /**
   * The package of an absolute path, and the path's place in it; a folder has none. Null when nothing there belongs
   * to the language.
   */
  packageOf(path: string): EditorPackage & { readonly file: string | null } | null;
  /** The package of a text that is in no file. */
  looseText(): EditorPackage & { readonly file: string };
  /** Puts a module of the library where editors can open it, and gives its absolute path. */
  libraryFile(path: string, text: string): string | null;
  /** The module, such as `std:list`, that was put at an absolute path. */
  libraryPathOf(path: string): string | null;
}

/** A request that cannot be met, for a reason that the user should see. */
export class RequestRefused extends Error {}

/** What the editor can do. */
interface Abilities {
  readonly hasVirtualDocuments: boolean;
  readonly hasVersionedEdits: boolean;
  readonly hasSnippets: boolean;
  readonly hasLinks: boolean;
  readonly wantsLenses: boolean;
}

interface Place {
  readonly session: PackageSession;
  readonly path: string;
  readonly file: SourceFile;
  readonly lines: TextLines;
}

interface Placement {
  readonly session: PackageSession;
  readonly path: string;
}

const NO_ABILITIES: Abilities = {
  hasVirtualDocuments: false,
  hasVersionedEdits: false,
  hasSnippets: false,
  hasLinks: false,
  wantsLenses: false,
};

/** Errors of one file, for the editor to show in place of those it has. */
export interface Publication {
  readonly uri: string;
  readonly version: number | null;
  readonly diagnostics: readonly EditorDiagnostic[];
}

/** Answers an editor. */
export class LanguageServer {
  readonly #host: EditorHost;
  readonly #sessions = new Map<string, PackageSession>();
  /** Sources of the library are looked at in a package without any of its own. */
  readonly #library = new PackageSession({ root: "", files: new MemoryFiles() });
  readonly #documents = new Map<string, EditorDocument>();
  readonly #placements = new Map<string, Placement | null>();
  /** URIs as the editor writes them, by path on disk. */
  readonly #uris = new Map<string, string>();
  readonly #tokens = new Map<string, { readonly id: string; readonly data: readonly number[] }>();
  #nextTokens = 0;
  #offered: readonly CompletionItem[] = [];
  #abilities = NO_ABILITIES;

  constructor(host: EditorHost) {
    this.#host = host;
  }

  /** Notes what the editor can do, and the packages that are its folders. */
  initialize(params: InitializeParams): void {
    const { workspace, textDocument } = params.capabilities;
    const options: unknown = params.initializationOptions;
    this.#abilities = {
      hasVirtualDocuments: workspace?.textDocumentContent !== undefined,
      hasVersionedEdits: workspace?.workspaceEdit?.documentChanges === true,
      hasSnippets: textDocument?.completion?.completionItem?.snippetSupport === true,
      hasLinks: textDocument?.definition?.linkSupport === true,
      wantsLenses: typeof options === "object" && options !== null && "lenses" in options &&
        options.lenses === true,
    };
    const folders = params.workspaceFolders?.map(({ uri }) => uri) ??
      (params.rootUri ? [params.rootUri] : []);
    for (const uri of folders) this.addFolder(uri);
  }

  /** A folder of the workspace: its package is looked at even when nothing of it is open. */
  addFolder(uri: string): void {
    const path = pathOfUri(uri);
    const found = path === null ? null : this.#host.packageOf(path.replace(/(.)\/$/, "$1"));
    if (found !== null && found.file === null) this.#sessionOf(found);
  }

  #sessionOf(found: EditorPackage): PackageSession {
    const name = found.alone === undefined ? found.root : `${found.root}/${found.alone}`;
    let session = this.#sessions.get(name);
    if (session === undefined) {
      session = new PackageSession(found);
      this.#sessions.set(name, session);
    }
    return session;
  }

  /** All packages. */
  get sessions(): readonly PackageSession[] {
    return [...this.#sessions.values()];
  }

  /** A document is open now. */
  open(document: EditorDocument): PackageSession | null {
    this.#placements.delete(document.uri);
    this.#documents.set(document.uri, document);
    const path = pathOfUri(document.uri);
    if (path !== null) this.#uris.set(path, document.uri);
    return this.#lay(document);
  }

  /** A document has been edited; null when it is not open. */
  change(
    uri: string,
    version: number,
    changes: readonly TextDocumentContentChangeEvent[],
  ): PackageSession | null {
    const before = this.#documents.get(uri);
    if (before === undefined) return null;
    const document = { uri, version, text: changed(before.text, changes) };
    this.#documents.set(uri, document);
    return this.#lay(document);
  }

  #lay(document: EditorDocument): PackageSession | null {
    const placement = this.#placement(document.uri);
    placement?.session.put(placement.path, document.text);
    return placement?.session ?? null;
  }

  /** A document is closed: what the disk has counts again. */
  close(uri: string): PackageSession | null {
    const placement = this.#placement(uri);
    this.#documents.delete(uri);
    this.#placements.delete(uri);
    this.#tokens.delete(uri);
    placement?.session.release(placement.path);
    if (placement !== null && placement.session.looseUri !== null) this.#sessions.delete(uri);
    return placement?.session ?? null;
  }

  /** Files changed on disk; the packages that they belong to. */
  touched(uris: readonly string[]): readonly PackageSession[] {
    const found = new Set<PackageSession>();
    for (const uri of uris) {
      const path = pathOfUri(uri);
      if (path === null) continue;
      for (const session of this.#sessions.values()) {
        if (!path.startsWith(`${session.root}/`)) continue;
        session.refresh();
        found.add(session);
      }
      // A manifest that comes or goes makes a package of what was none.
      if (path.endsWith("/project.toml")) this.#replace();
    }
    return [...found];
  }

  #replace(): void {
    this.#placements.clear();
    for (const document of this.#documents.values()) this.#lay(document);
    const used = new Set([...this.#placements.values()].map((each) => each?.session));
    for (const [name, session] of this.#sessions) {
      // What stood alone belongs to a package now.
      if (session.isAlone && !used.has(session)) this.#sessions.delete(name);
    }
  }

  #placement(uri: string): Placement | null {
    const known = this.#placements.get(uri);
    if (known !== undefined) return known;
    const path = pathOfUri(uri);
    if (this.#libraryPath(uri) !== null) return null;
    const isLoose = path === null && this.#documents.has(uri);
    const found = path !== null ? this.#host.packageOf(path) : isLoose ? this.#host.looseText() : null;
    const placement = found === null || found.file === null ? null : {
      session: this.#sessionOf(path === null ? { ...found, root: uri, looseUri: uri } : found),
      path: found.file,
    };
    this.#placements.set(uri, placement);
    return placement;
  }

  /** The module of the library that an editor shows, as a document without a file or in one. */
  #libraryPath(uri: string): string | null {
    const path = pathOfUri(uri);
    return path === null ? libraryPathOfUri(uri) : this.#host.libraryPathOf(path);
  }

  #place(uri: string): Place | null {
    const module = this.#libraryPath(uri);
    const source = module === null ? null : librarySource(module);
    if (module !== null && source !== null) {
      return { session: this.#library, path: module, file: source, lines: linesOf(source) };
    }
    const placement = this.#placement(uri);
    const file = placement?.session.file(placement.path) ?? null;
    const isViewed = moduleNameOf(placement?.path ?? "") !== null &&
      (file?.text.length ?? 0) <= LANG_LIMITS.maximumEditedLength;
    return placement === null || file === null || !isViewed
      ? null
      : { ...placement, file, lines: linesOf(file) };
  }

  /** The URI of a file of a package. */
  #uriOf(session: PackageSession, path: string): string {
    if (session.looseUri !== null) return session.looseUri;
    const whole = `${session.root}/${path}`;
    return this.#uris.get(whole) ?? uriOfPath(whole);
  }

  #locate(session: PackageSession, { file, span }: Location): EditorLocation | null {
    const range = linesOf(file).rangeOf(span);
    const library = librarySource(file.path);
    if (library === null) return { uri: this.#uriOf(session, file.path), range };
    if (this.#abilities.hasVirtualDocuments) return { uri: libraryUri(file.path), range };
    const path = this.#host.libraryFile(file.path, library.text);
    return path === null ? null : { uri: uriOfPath(path), range };
  }

  /** The text of a document of the library; null when there is no such. */
  libraryText(uri: string): string | null {
    const path = libraryPathOfUri(uri);
    return path === null ? null : librarySource(path)?.text ?? null;
  }

  #workspaceEdit(session: PackageSession, edits: readonly Edit[]): WorkspaceEdit {
    const byUri = new Map<string, TextEdit[]>();
    for (const { file, span, text } of edits) {
      const uri = this.#uriOf(session, file.path);
      const known = byUri.get(uri) ?? [];
      known.push({ range: linesOf(file).rangeOf(span), newText: text });
      byUri.set(uri, known);
    }
    if (!this.#abilities.hasVersionedEdits) return { changes: Object.fromEntries(byUri) };
    return {
      documentChanges: [...byUri].map(([uri, edits]) => ({
        textDocument: { uri, version: this.#documents.get(uri)?.version ?? null },
        edits,
      })),
    };
  }

  /**
   * The errors of a package as they are now: of all its files, open or not, and none for those that are open or had
   * some.
   */
  check(session: PackageSession): readonly Publication[] {
    const byPath = new Map<string, EditorDiagnostic[]>();
    for (const path of session.shown) byPath.set(path, []);
    session.shown.clear();
    // Open files without diagnostics are reported as well.
    for (const uri of this.#documents.keys()) {
      const placement = this.#placement(uri);
      if (placement?.session === session) byPath.set(placement.path, []);
    }
    for (const diagnostic of session.diagnostics()) {
      const { path } = diagnostic.file;
      const known = byPath.get(path) ?? [];
      known.push(editorDiagnostic(diagnostic, (location) => this.#locate(session, location)));
      byPath.set(path, known);
      session.shown.add(path);
    }
    return [...byPath].map(([path, diagnostics]) => {
      const uri = this.#uriOf(session, path);
      return { uri, version: this.#documents.get(uri)?.version ?? null, diagnostics };
    });
  }

  codeActions({ textDocument, range, context }: CodeActionParams): CodeAction[] {
    // The manifest has errors as well, though it is no source.
    const placement = this.#placement(textDocument.uri);
    if (placement === null) return [];
    const { session, path } = placement;
    const { only } = context;
    return codeActions(session.diagnostics(), {
      path,
      range,
      wanted: (kind) =>
        only === undefined
          ? kind === "quickfix"
          : only.some((each) => kind === each || kind.startsWith(`${each}.`)),
      locate: (location) => this.#locate(session, location),
      makeEdit: (edits) => this.#workspaceEdit(session, edits),
    });
  }

  hover(uri: string, position: Position): EditorHover | null {
    const place = this.#place(uri);
    if (place === null) return null;
    const { session, path, file, lines } = place;
    const found = session.symbols().hover({ path, offset: lines.offsetAt(position) });
    return found === null ? null : editorHover(file, found);
  }

  /** Where something is declared, or its type. */
  definitions(
    uri: string,
    position: Position,
    options: { readonly ofType: boolean },
  ): EditorLocation[] | LocationLink[] {
    const place = this.#place(uri);
    if (place === null) return [];
    const { session, path, lines } = place;
    const symbols = session.symbols();
    const at = { path, offset: lines.offsetAt(position) };
    const found = options.ofType ? symbols.typeDefinitions(at) : symbols.definitions(at);
    return found.flatMap((location) => this.#locate(session, location) ?? []);
  }

  references(uri: string, position: Position, withDefinition: boolean): EditorLocation[] {
    const place = this.#place(uri);
    if (place === null) return [];
    const { session, path, lines } = place;
    const found = session.symbols().references({ path, offset: lines.offsetAt(position) });
    return (found?.references ?? []).filter((each) => withDefinition || !each.isDefinition)
      .flatMap((each) => this.#locate(session, each) ?? []);
  }

  highlights(uri: string, position: Position): DocumentHighlight[] {
    const place = this.#place(uri);
    if (place === null) return [];
    const { session, path, lines } = place;
    const found = session.symbols().references({ path, offset: lines.offsetAt(position) });
    return (found?.references ?? []).filter((each) => each.file.path === path).map((each) => ({
      range: lines.rangeOf(each.span),
      kind: each.isWrite || each.isDefinition ? 3 : 2,
    }));
  }

  renameTarget(uri: string, position: Position): { range: Range; placeholder: string } {
    const { session, path, lines } = this.#needed(uri);
    const target = session.symbols().renameTarget({ path, offset: lines.offsetAt(position) });
    if (target.kind === "refused") throw new RequestRefused(target.reason);
    return { range: lines.rangeOf(target.span), placeholder: target.name };
  }

  rename(uri: string, position: Position, newName: string): WorkspaceEdit {
    const { session, path, lines } = this.#needed(uri);
    const outcome = session.symbols().rename({ path, offset: lines.offsetAt(position) }, newName);
    if (outcome.kind === "refused") {
      throw new RequestRefused(outcome.hint === null ? outcome.reason : `${outcome.reason}. ${outcome.hint}`);
    }
    return this.#workspaceEdit(session, outcome.edits);
  }

  #needed(uri: string): Place {
    const place = this.#place(uri);
    if (place === null) {
      throw new RequestRefused("Cannot rename anything here: the file is no source of a package");
    }
    return place;
  }

  complete(uri: string, position: Position): CompletionList {
    const place = this.#place(uri);
    if (place === null) return { isIncomplete: false, items: [] };
    const { session, path, lines } = place;
    const { span, items } = session.symbols().complete({ path, offset: lines.offsetAt(position) });
    this.#offered = items;
    return {
      isIncomplete: false,
      items: items.map((item, index) => ({
        ...editorCompletion(item, { index, lines, span, canFillIn: this.#abilities.hasSnippets }),
        data: index,
      })),
    };
  }

  /** The documentation of an item of the last list. */
  resolveCompletion(item: EditorCompletionItem): EditorCompletionItem {
    const data: unknown = item.data;
    const known = typeof data === "number" ? this.#offered[data] : undefined;
    if (known === undefined || known.label !== item.label || known.documentation === null) return item;
    return { ...item, documentation: { kind: "markdown", value: known.documentation } };
  }

  signatureHelp(uri: string, position: Position): EditorSignatureHelp | null {
    const place = this.#place(uri);
    if (place === null) return null;
    const { session, path, lines } = place;
    const found = session.symbols().signatureHelp({ path, offset: lines.offsetAt(position) });
    return found === null ? null : editorSignature(found);
  }

  format(uri: string, range: Range | null): TextEdit[] {
    const place = this.#place(uri);
    return place === null ? [] : formattingEdits(place.file, range);
  }

  documentSymbols(uri: string): DocumentSymbol[] {
    const place = this.#place(uri);
    return place === null ? [] : place.session.symbols().symbols({ path: place.path }).map(documentSymbol);
  }

  /** Declarations of all packages that fit a query. */
  workspaceSymbols(query: string): WorkspaceSymbol[] {
    return this.sessions.flatMap((session) =>
      (session.check() === null ? [] : session.symbols().symbols({ query })).slice(0, 500).flatMap(
        (entry) => {
          const location = this.#locate(session, { file: entry.file, span: entry.nameSpan });
          return location === null || entry.name.trim() === ""
            ? []
            : [{ name: entry.name, kind: SYMBOL_KINDS[entry.kind], location, containerName: entry.module }];
        },
      )
    );
  }

  semanticTokens(uri: string, range: Range | null = null): SemanticTokens {
    const place = this.#place(uri);
    if (place === null) return { data: [] };
    const { session, path, file, lines } = place;
    const span = range === null ? null : lines.spanOf(range);
    const names = session.symbols().semanticNames(path).filter((each) =>
      span === null || each.span.start <= span.end && span.start <= each.span.end
    );
    const data = semanticTokens(file, names);
    if (range !== null) return { data };
    const id = String(this.#nextTokens++);
    this.#tokens.set(uri, { id, data });
    return { resultId: id, data };
  }

  /** What changed in the tokens since an answer; all of them when that is forgotten. */
  semanticTokensDelta(uri: string, previous: string): SemanticTokens | SemanticTokensDelta {
    const before = this.#tokens.get(uri);
    const now = this.semanticTokens(uri);
    if (before === undefined || before.id !== previous) return now;
    return {
      ...(now.resultId === undefined ? {} : { resultId: now.resultId }),
      edits: tokenEdits(before.data, now.data),
    };
  }

  inlayHints(uri: string, range: Range): InlayHint[] {
    const place = this.#place(uri);
    if (place === null) return [];
    const { session, path, lines } = place;
    const { start, end } = lines.spanOf(range);
    return session.symbols().inlayTypes(path).filter((each) => start <= each.offset && each.offset <= end)
      .map((each) => inlayHint(lines, each));
  }

  foldingRanges(uri: string): FoldingRange[] {
    const place = this.#place(uri);
    return place === null ? [] : foldingRanges(parsedOf(place));
  }

  selectionRanges(uri: string, positions: readonly Position[]): SelectionRange[] {
    const place = this.#place(uri);
    if (place === null) return [];
    const { lines } = place;
    const { module } = parsedOf(place);
    return positions.map((position) => {
      const offset = lines.offsetAt(position);
      const declaration = module.declarations.map(wholeDeclaration).find((each) =>
        each !== null && each.span.start <= offset && offset <= each.span.end
      );
      let selection: SelectionRange = { range: lines.rangeOf({ start: 0, end: place.file.text.length }) };
      for (const { span } of declaration ? syntaxPath(declaration, offset) : []) {
        selection = { range: lines.rangeOf(span), parent: selection };
      }
      return selection;
    });
  }

  /** "Run" above each test, for editors that know the command. */
  codeLenses(uri: string): CodeLens[] {
    const place = this.#place(uri);
    if (place === null || !this.#abilities.wantsLenses) return [];
    return place.session.symbols().symbols({ path: place.path }).filter(({ kind }) => kind === "test").map((
      entry,
    ) => ({
      range: place.lines.rangeOf(entry.nameSpan),
      command: { title: "Run test", command: "lang.runTest", arguments: [place.session.root, entry.name] },
    }));
  }
}

function parsedOf({ session, path, file }: Place) {
  const known = session.check()?.analysis.files.get(path);
  return known !== undefined && known.module.file.text === file.text ? known : parse(file);
}
