/**
 * What could be written at a place: members behind a dot, modules behind `use`, fields of a record, variants in a
 * `match`, names in scope, keywords.
 */
import type { ParsedFile } from "../syntax/parser.ts";
import { DECLARATION_WORDS } from "./snippets.ts";
import type { Completion, CompletionItem } from "./symbol_service.ts";
import { wordAt } from "./trial.ts";
import { type CompletionInput, declarationItems, effectItems, moduleItems } from "./completion_items.ts";
import { CompletionWriter } from "./completion_writer.ts";

/** What could be written at a place. */
export function complete(input: CompletionInput): Completion {
  const { parsed, place } = input;
  const { file } = parsed.module;
  const { text } = file;
  const word = wordAt(text, place.offset);
  const nothing: Completion = { span: word, items: [] };
  if (isWithin(parsed, place.offset) || /^[0-9]/.test(text.slice(word.start, word.end))) return nothing;
  const line = text.slice(text.lastIndexOf("\n", word.start - 1) + 1, place.offset);
  const path = /^\s*use\s+((?:[a-z0-9_]+\s*\.\s*)*)[a-z0-9_]*$/.exec(line);
  if (path !== null) {
    const span = { start: word.start - (path[1]?.length ?? 0), end: word.end };
    return { span, items: sorted(moduleItems(input), text.slice(span.start, place.offset)) };
  }
  const prefix = text.slice(word.start, place.offset);
  if (/\buses(?:\s+[A-Z]\w*\s*,)*\s+\w*$/.test(line)) {
    return { span: word, items: sorted(effectItems(), prefix) };
  }
  if (/\b(?:as|var|const|type|interface)\s+\w*$|\b(?:test|property|eval)\s+"?\w*$/.test(line)) return nothing;
  const isAtTop = /^\w*$/.test(line) || /^pub\s+\w*$/.test(line);
  if (isAtTop && !isInside(parsed, word.start)) {
    return { span: word, items: sorted(declarationItems(line), prefix) };
  }
  const trial = input.trial();
  if (trial === null) return nothing;
  const writer = new CompletionWriter(input, trial, word);
  return { span: word, items: sorted(writer.items(line), prefix) };
}

function isWithin(parsed: ParsedFile, offset: number): boolean {
  if (parsed.comments.some(({ start, end }) => start < offset && offset <= end)) return true;
  return parsed.tokens.some(({ type, start, end }) =>
    start < offset && offset < end && /^(text|text_start|text_part|text_end|character)$/.test(type)
  );
}

/** Whether brackets of a declaration are open at a place; what stands unindented begins another. */
function isInside({ tokens }: ParsedFile, offset: number): boolean {
  let depth = 0;
  for (const { text, end, isUnindented } of tokens) {
    if (end > offset) break;
    if (isUnindented && DECLARATION_WORDS.includes(text)) depth = 0;
    if (/^[([{]$/.test(text)) depth++;
    else if (/^[)\]}]$/.test(text)) depth--;
  }
  return depth > 0;
}

function sorted(items: readonly CompletionItem[], prefix: string): CompletionItem[] {
  const wanted = prefix.toLowerCase();
  const fit = ({ label }: CompletionItem) => {
    const own = label.toLowerCase();
    return own.startsWith(wanted) ? 0 : own.includes(wanted) ? 1 : 2;
  };
  const seen = new Set<string>();
  return items.map((item) => ({ item, fit: fit(item) }))
    .sort((left, right) =>
      left.fit - right.fit || left.item.rank - right.item.rank ||
      (left.item.label < right.item.label ? -1 : left.item.label > right.item.label ? 1 : 0)
    )
    .flatMap(({ item }) => {
      const key = `${item.label} ${item.kind === "snippet"}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [item];
    });
}
