/**
 * Items of a completion that need no look at the place: keywords and forms, effects, modules; and how items are
 * ranked.
 */
import { STANDARD_LIBRARY } from "../check/standard_library.ts";
import type { SourceFile } from "../source/source_file.ts";
import type { UseDeclaration } from "../syntax/ast.ts";
import type { ParsedFile } from "../syntax/parser.ts";
import { EFFECTS } from "../types/type.ts";
import { DECLARATION_SNIPPETS, DECLARATION_WORDS } from "./snippets.ts";
import type { CompletionItem, SymbolPosition } from "./symbol_service.ts";
import type { Trial } from "./trial.ts";

/** Ranks: what is nearest comes first. */
export const RANK = {
  wanted: 0,
  local: 1,
  field: 1,
  member: 2,
  own: 2,
  variant: 3,
  module: 3,
  type: 4,
  core: 5,
  derived: 6,
  word: 7,
  snippet: 8,
  missing: 9,
} as const;

/** What a completion is made from. */
export interface CompletionInput {
  /** In the text that was parsed. */
  readonly place: SymbolPosition;
  /** The file, or the piece of it that is looked at. */
  readonly parsed: ParsedFile;
  /** The whole file, and its imports. */
  readonly imports: { readonly file: SourceFile; readonly uses: readonly UseDeclaration[] };
  /** Names of all modules of the package. */
  readonly modules: readonly string[];
  /** Looks at the place with a name put in; asked for only when that is needed. */
  readonly trial: () => Trial | null;
}

/** An item that writes its label, or a text with places to fill in. */
export function plain(
  label: string,
  kind: CompletionItem["kind"],
  rank: number,
  detail: string,
  documentation: string | null = null,
  text = label,
): CompletionItem {
  return { label, kind, detail, documentation, text, isSnippet: text.includes("${"), rank, edits: [] };
}

/** The effects, behind `uses`. */
export function effectItems(): CompletionItem[] {
  return EFFECTS.map((effect) => plain(effect, "effect", RANK.wanted, "effect"));
}

/** What begins a declaration; `line` is what stands before the place. */
export function declarationItems(line: string): CompletionItem[] {
  const words = DECLARATION_WORDS.filter((word) => word !== "pub" || !line.startsWith("pub"));
  return [
    ...words.map((word) => plain(word, "keyword", RANK.word, "keyword")),
    ...DECLARATION_SNIPPETS.map(({ label, detail, text }) =>
      plain(label, "snippet", RANK.snippet, detail, null, text)
    ),
  ];
}

/** Modules that a `use` may name: those of the package and of the library. */
export function moduleItems({ modules, parsed }: CompletionInput): CompletionItem[] {
  const own = ownPath(parsed.module.file);
  return [
    ...modules.filter((name) => name !== own && name !== "main").map((name) =>
      plain(name, "module", RANK.own, "module of the package")
    ),
    ...libraryModules().map((name) => plain(name, "module", RANK.core, "module of the library")),
  ];
}

function ownPath({ path }: SourceFile): string {
  return path.replace(/^src\//, "").replace(/\.lang$/, "").replaceAll("/", ".");
}

/** Modules of the library that programs import. */
export function libraryModules(): string[] {
  return STANDARD_LIBRARY.names.filter((name) =>
    !STANDARD_LIBRARY.isInternal(name) && !STANDARD_LIBRARY.isPrelude(name)
  );
}
