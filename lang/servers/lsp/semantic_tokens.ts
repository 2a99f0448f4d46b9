/** Names of a file as editors color them. */
import type { SemanticTokensLegend } from "vscode-languageserver";
import type { SourceFile } from "../../source/source_file.ts";
import type { SemanticName, SymbolKind } from "../../ide/symbol_service.ts";
import { linesOf } from "./text_lines.ts";

const TYPES = [
  "namespace",
  "type",
  "struct",
  "enum",
  "interface",
  "enumMember",
  "property",
  "function",
  "method",
  "variable",
  "parameter",
  "typeParameter",
] as const;

const MODIFIERS = ["declaration", "readonly", "defaultLibrary"] as const;

/** What the numbers stand for. */
export const SEMANTIC_LEGEND: SemanticTokensLegend = {
  tokenTypes: [...TYPES],
  tokenModifiers: [...MODIFIERS],
};

const TYPE_OF: Readonly<Record<SymbolKind, typeof TYPES[number]>> = {
  module: "namespace",
  record: "struct",
  union: "enum",
  type: "type",
  interface: "interface",
  variant: "enumMember",
  field: "property",
  function: "function",
  method: "method",
  constant: "variable",
  variable: "variable",
  parameter: "parameter",
  type_parameter: "typeParameter",
  test: "function",
};

/** Five numbers for each name: lines and characters since the one before, length, type, modifiers. */
export function semanticTokens(file: SourceFile, names: readonly SemanticName[]): number[] {
  const lines = linesOf(file);
  const data: number[] = [];
  let line = 0;
  let character = 0;
  for (const { span, kind, isDefinition, isReadonly, isLibrary } of names) {
    const start = lines.positionAt(span.start);
    // A path may go on in the next line, a token may not.
    if (lines.positionAt(span.end).line !== start.line) continue;
    const modifiers = (isDefinition ? 1 : 0) | (isReadonly ? 2 : 0) | (isLibrary ? 4 : 0);
    data.push(
      start.line - line,
      start.line === line ? start.character - character : start.character,
      span.end - span.start,
      TYPES.indexOf(TYPE_OF[kind]),
      modifiers,
    );
    line = start.line;
    character = start.character;
  }
  return data;
}

/** The one edit that makes one list of numbers of another. */
export function tokenEdits(
  before: readonly number[],
  after: readonly number[],
): { start: number; deleteCount: number; data: number[] }[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)
  ) end++;
  const deleteCount = before.length - start - end;
  const data = after.slice(start, after.length - end);
  return deleteCount === 0 && data.length === 0 ? [] : [{ start, deleteCount, data }];
}
