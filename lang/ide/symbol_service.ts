/**
 * Look-ups of symbols in one version of a package: what editors, the agent and the Model Context Protocol are
 * answered with.
 *
 * {@link SymbolLookups} remembers between versions: `of(texts)` analyzes what changed and gives the {@link
 * SymbolService} of these texts, which stays good until the next call. Files with syntax errors are looked at as
 * their best repairs make them, so that look-ups work during typing.
 *
 * Places are a path and an offset in UTF-16 units of the text as it stands, never of a repaired one; `offsetAt` of
 * `place.ts` makes one of a line and a column. Answers are plain data in a fixed order: by path, then by place.
 */
import type { Edit, Location } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Effect } from "../types/type.ts";

/** A place in a text. */
export interface SymbolPosition {
  /** `src/main.lang`, or a module of the library: `std:list`. */
  readonly path: string;
  /** In UTF-16 units. */
  readonly offset: number;
}

/** What a name may stand for. */
export type SymbolKind =
  | "module"
  | "record"
  | "union"
  | "type"
  | "interface"
  | "variant"
  | "field"
  | "function"
  | "method"
  | "constant"
  | "variable"
  | "parameter"
  | "type_parameter"
  | "test";

/** A declaration. */
export interface SymbolEntry extends Location {
  /** `Ball.move` of a method, the text of a test. */
  readonly name: string;
  readonly kind: SymbolKind;
  /** The name within the declaration, which is `span`. */
  readonly nameSpan: Span;
  /** The module's name. */
  readonly module: string;
  readonly isPublic: boolean;
  /** Its heading: `fn Ball.move(self: inout Ball)`. */
  readonly signature: string;
  readonly documentation: string | null;
  /** Fields of records, variants of unions, functions of interfaces. */
  readonly children: readonly SymbolEntry[];
}

/** Which declarations are wanted. */
export interface SymbolsQuery {
  /** Of one file. */
  readonly path?: string;
  /** Those whose names hold these letters in this order, whatever their case. */
  readonly query?: string;
}

/** A use of a name, or its definition. */
export interface Reference extends Location {
  readonly isDefinition: boolean;
  /** Whether the place gives it a value. */
  readonly isWrite: boolean;
}

/** All that refers to one thing. */
export interface References {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly references: readonly Reference[];
}

/** What is known of what stands at a place. */
export interface Hover {
  readonly span: Span;
  readonly name: string;
  readonly kind: SymbolKind | "expression";
  /** As one would write it: `fn Ball.move(self: inout Ball) uses Draw`, `let count: Int`. */
  readonly signature: string;
  /** Its type alone; null for modules, types and interfaces. */
  readonly type: string | null;
  /** Of functions, inferred or written; null for what is none. */
  readonly effects: readonly Effect[] | null;
  /** Markdown. */
  readonly documentation: string | null;
  /** Where it is declared; null for what only the compiler knows. */
  readonly module: string | null;
  readonly definition: Location | null;
}

/** What renaming gives: edits of all files, or why there are none. */
export type RenameOutcome =
  | { readonly kind: "edits"; readonly name: string; readonly edits: readonly Edit[] }
  | { readonly kind: "refused"; readonly reason: string; readonly hint: string | null };

/** What could be renamed at a place, or why nothing can. */
export type RenameTarget =
  | { readonly kind: "name"; readonly span: Span; readonly name: string }
  | { readonly kind: "refused"; readonly reason: string; readonly hint: string | null };

/** One thing that could be written at a place. */
export interface CompletionItem {
  readonly label: string;
  readonly kind: SymbolKind | "keyword" | "snippet" | "effect";
  /** Its type or signature. */
  readonly detail: string;
  readonly documentation: string | null;
  /** What is written in place of {@link Completion.span}; `${1:name}` are places to fill in when it is a snippet. */
  readonly text: string;
  readonly isSnippet: boolean;
  /** Less comes first. */
  readonly rank: number;
  /** What else has to be written: a `use`. */
  readonly edits: readonly Edit[];
}

/** What could be written at a place. */
export interface Completion {
  /** The letters of the name that stand there already. */
  readonly span: Span;
  readonly items: readonly CompletionItem[];
}

/** The function whose arguments are being written. */
export interface SignatureHelp {
  readonly signature: string;
  readonly documentation: string | null;
  /** Where each parameter stands in the signature, without `self` of a method that is called by its value. */
  readonly parameters: readonly Span[];
  /** Which parameter the place is for; null behind the last. */
  readonly active: number | null;
}

/** A type that is not written, and where it could be. */
export interface InlayType {
  readonly offset: number;
  readonly text: string;
  readonly kind: "type" | "effects" | "parameter";
}

/** What kind of thing a word of the source is. */
export interface SemanticName {
  readonly span: Span;
  readonly kind: SymbolKind;
  readonly isDefinition: boolean;
  /** Whether it never changes: `let`, constants, parameters that are no `inout`. */
  readonly isReadonly: boolean;
  readonly isLibrary: boolean;
}

/** Look-ups in one version of a package. */
export interface SymbolService {
  /** The sources as they were given, by path. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** Declarations of one file as a tree, or of the package, those that fit a query best first. */
  symbols(query?: SymbolsQuery): readonly SymbolEntry[];
  /**
   * Where what stands at a place is declared; library files have paths such as `std:list`. Empty when nothing is
   * known.
   */
  definitions(place: SymbolPosition): readonly Location[];
  /** The same for the type of what stands there. */
  typeDefinitions(place: SymbolPosition): readonly Location[];
  /**
   * All uses in the package of what stands at a place, with its definition; null when nothing that has a name stands
   * there.
   */
  references(place: SymbolPosition): References | null;
  /** Whether what stands at a place can be renamed. */
  renameTarget(place: SymbolPosition): RenameTarget;
  /**
   * The edits that give it another name everywhere, or why that cannot be done: never edits that break the package or
   * change what it means.
   */
  rename(place: SymbolPosition, newName: string): RenameOutcome;
  /** Type, effects and documentation; null when nothing is known. */
  hover(place: SymbolPosition): Hover | null;
  /** What could be written at a place. */
  complete(place: SymbolPosition): Completion;
  /** The call around a place. */
  signatureHelp(place: SymbolPosition): SignatureHelp | null;
  /** Types and effects of a file that are inferred. */
  inlayTypes(path: string): readonly InlayType[];
  /** Names of a file and what they are. */
  semanticNames(path: string): readonly SemanticName[];
}
