/** Answers of look-ups as editors take them. */
import type {
  CompletionItem as EditorCompletionItem,
  CompletionItemKind,
  DocumentSymbol,
  Hover as EditorHover,
  InlayHint,
  SignatureHelp as EditorSignatureHelp,
  SymbolKind as EditorSymbolKind,
} from "vscode-languageserver";
import type { SourceFile } from "../../source/source_file.ts";
import type {
  CompletionItem,
  Hover,
  InlayType,
  SignatureHelp,
  SymbolEntry,
  SymbolKind,
} from "../../ide/symbol_service.ts";
import { linesOf, type TextLines } from "./text_lines.ts";

/** Kinds of symbols by their numbers in the protocol. */
export const SYMBOL_KINDS: Readonly<Record<SymbolKind, EditorSymbolKind>> = {
  module: 2,
  record: 23,
  union: 10,
  type: 5,
  interface: 11,
  variant: 22,
  field: 8,
  function: 12,
  method: 6,
  constant: 14,
  variable: 13,
  parameter: 13,
  type_parameter: 26,
  test: 24,
};

const COMPLETION_KINDS: Readonly<Record<CompletionItem["kind"], CompletionItemKind>> = {
  module: 9,
  record: 22,
  union: 13,
  type: 7,
  interface: 8,
  variant: 20,
  field: 5,
  function: 3,
  method: 2,
  constant: 21,
  variable: 6,
  parameter: 6,
  type_parameter: 25,
  test: 3,
  keyword: 14,
  snippet: 15,
  effect: 20,
};

/** A declaration with what it holds. */
export function documentSymbol(
  { file, span, nameSpan, name, kind, signature, children }: SymbolEntry,
): DocumentSymbol {
  const lines = linesOf(file);
  return {
    // Editors refuse names that are empty.
    name: name.trim() === "" ? "_" : name,
    kind: SYMBOL_KINDS[kind],
    detail: signature.length > 120 ? `${signature.slice(0, 119)}…` : signature,
    range: lines.rangeOf(span),
    selectionRange: lines.rangeOf(nameSpan),
    children: children.map(documentSymbol),
  };
}

/** Signature, module and documentation as Markdown. */
export function editorHover(file: SourceFile, hover: Hover): EditorHover {
  const { signature, kind, module, documentation, effects } = hover;
  const parts = [`\`\`\`lang\n${signature}\n\`\`\``];
  const notes: string[] = [];
  if (module !== null && kind !== "module" && kind !== "variable" && kind !== "parameter") {
    notes.push(`in \`${module}\``);
  }
  if (effects !== null && kind !== "variant") {
    notes.push(effects.length === 0 ? "no effects" : `uses ${effects.join(", ")}`);
  }
  if (notes.length > 0) parts.push(`_${notes.join("; ")}_`);
  if (documentation !== null) parts.push(documentation);
  return {
    contents: { kind: "markdown", value: parts.join("\n\n") },
    range: linesOf(file).rangeOf(hover.span),
  };
}

/** An item; its documentation follows on request. */
export function editorCompletion(
  item: CompletionItem,
  { index, lines, span, canFillIn }: {
    readonly index: number;
    readonly lines: TextLines;
    readonly span: { readonly start: number; readonly end: number };
    readonly canFillIn: boolean;
  },
): EditorCompletionItem {
  const isSnippet = item.isSnippet && canFillIn;
  const text = isSnippet ? `${item.text}$0` : plainText(item);
  return {
    label: item.label,
    kind: COMPLETION_KINDS[item.kind],
    detail: item.detail,
    sortText: String(index).padStart(5, "0"),
    filterText: item.label,
    insertTextFormat: isSnippet ? 2 : 1,
    textEdit: { range: lines.rangeOf(span), newText: text },
    ...(item.edits.length === 0 ? {} : {
      additionalTextEdits: item.edits.map((edit) => ({
        range: lines.rangeOf(edit.span),
        newText: edit.text,
      })),
    }),
  };
}

/** What is written where nothing can be filled in: names without their parentheses, forms with empty places. */
function plainText({ text, kind, isSnippet, label }: CompletionItem): string {
  if (!isSnippet) return text;
  return kind === "snippet" || kind === "field" || kind === "parameter"
    ? text.replace(
      /\$\{\d+(?::([^}]*))?\}/g,
      (_match, name: string | undefined) => kind === "snippet" ? name ?? "" : "",
    )
    : label;
}

/** A signature with the parameter that the place is for. */
export function editorSignature(
  { signature, documentation, parameters, active }: SignatureHelp,
): EditorSignatureHelp {
  const activeParameter = active ?? parameters.length;
  return {
    signatures: [{
      label: signature,
      ...(documentation === null ? {} : { documentation: { kind: "markdown", value: documentation } }),
      parameters: parameters.map(({ start, end }) => ({ label: [start, end] })),
      activeParameter,
    }],
    activeSignature: 0,
    activeParameter,
  };
}

/** An inferred type; clicking it twice writes it where it stands. */
export function inlayHint(lines: TextLines, { offset, text, kind }: InlayType): InlayHint {
  const position = lines.positionAt(offset);
  return {
    position,
    label: text.trimStart(),
    kind: 1,
    paddingLeft: text.startsWith(" "),
    // Written as it is, a type of another module would need its module's name.
    ...(kind === "effects"
      ? {}
      : { textEdits: [{ range: { start: position, end: position }, newText: text }] }),
  };
}
