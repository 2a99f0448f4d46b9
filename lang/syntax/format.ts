/**
 * The formatter: one style, no options, lines of up to 100 characters.
 *
 * All tokens and comments are kept, but for commas behind the last element in brackets, which stand where each
 * element has a line of its own, and the bar before the first variant of a union, likewise. At most one blank line
 * stays in a row. Blocks and records stay on one line, or on several, as they were written, if they fit. A
 * declaration with errors in it is left as it is, byte for byte. Formatting twice changes nothing more.
 */
import type { SourceFile } from "../source/source_file.ts";
import { run } from "./automaton.ts";
import { CommentMap } from "./comments.ts";
import { concreteBuilders, ConcreteNode } from "./concrete_tree.ts";
import { print } from "./document.ts";
import { Layout } from "./layout.ts";
import { lex } from "./lexer.ts";
import { declarationRanges } from "./parser.ts";
import type { Comment, Token } from "./token.ts";

/** How long lines may be. */
export const LINE_WIDTH = 100;

/** A part of a file: a declaration to be laid out, or text that stays. */
interface Segment {
  readonly first: Token;
  /** Null when it has errors in it. */
  readonly tree: ConcreteNode | null;
  readonly start: number;
  end: number;
}

/** The text of a file in the one style. */
export function format(file: SourceFile): string {
  const { tokens, comments, errors } = lex(file.text);
  // Nobody knows where a text ends that nothing closes.
  if (errors.some(({ kind }) => kind === "long_text")) return file.text;
  const segments: Segment[] = [];
  let error = 0;
  for (const { from, to } of declarationRanges(tokens)) {
    const first = tokens[from];
    const last = tokens[to - 1];
    if (first === undefined || last === undefined) continue;
    // What the lexer could not read is in no token: it stays with the text around it.
    let start = Math.max(lineStart(file.text, first), segments.at(-1)?.end ?? 0);
    let end = last.end;
    let isRight = true;
    const next = tokens[to]?.start ?? Infinity;
    for (; error < errors.length && (errors[error]?.start ?? 0) < next; error++) {
      const found = errors[error];
      if (found === undefined) break;
      start = Math.min(start, found.start);
      end = Math.max(end, found.end);
      isRight = false;
    }
    const outcome = isRight ? run(tokens, from, to, concreteBuilders()) : null;
    const tree = outcome?.kind === "done" && outcome.value instanceof ConcreteNode ? outcome.value : null;
    segments.push({ first, tree, start: tree === null ? start : first.start, end });
  }
  if (segments.length === 0 && errors.length > 0) return file.text;
  return joined(file, tokens, comments, segments);
}

/** Where text that stays begins: with the indentation before its first token. */
function lineStart(text: string, token: Token): number {
  if (!token.isFirstOfLine) return token.start;
  return text.lastIndexOf("\n", token.start - 1) + 1;
}

function joined(
  file: SourceFile,
  tokens: readonly Token[],
  comments: readonly Comment[],
  segments: readonly Segment[],
): string {
  // Comments inside of text that stays are a part of it.
  const kept = segments.filter((segment) => segment.tree === null);
  const free = kept.length === 0
    ? comments
    : comments.filter((comment) =>
      !kept.some((segment) => segment.start <= comment.start && comment.start < segment.end)
    );
  const map = new CommentMap(file.text, tokens, free);
  const layout = new Layout(file.text, map);
  let out = "";
  let before: { readonly text: string; readonly rule: string } | null = null;
  for (const segment of segments) {
    const body = segment.tree === null
      ? `${print(layout.commentsBefore(segment.first), LINE_WIDTH)}${
        file.text.slice(segment.start, segment.end)
      }${trailing(map, lastTokenWithin(tokens, segment))}`
      : print(layout.declaration(segment.tree), LINE_WIDTH);
    const rule = segment.tree === null ? "" : declarationRule(segment.tree);
    if (before !== null) {
      const isApart = map.isAfterBlank(segment.first) || rule !== before.rule ||
        (rule !== "use" && (isLong(body) || isLong(before.text)));
      out += isApart ? "\n\n" : "\n";
    }
    out += body;
    before = { text: body, rule };
  }
  const rest = layout.commentsAtEnd();
  const end = print(rest, LINE_WIDTH);
  if (end !== "") out += out === "" ? end : `${map.atEnd[0]?.isAfterBlank === true ? "\n\n" : "\n"}${end}`;
  return out === "" ? "" : `${out.replace(/\n+$/, "")}\n`;
}

/** Whether a declaration takes several lines, without the comments before it. */
function isLong(text: string): boolean {
  return /^(?!\/\/).*\n(?=.)/m.test(text);
}

function lastTokenWithin(tokens: readonly Token[], segment: Segment): Token | undefined {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.end ?? 0) <= segment.end) low = middle + 1;
    else high = middle;
  }
  return tokens[low - 1];
}

function trailing(map: CommentMap, token: Token | undefined): string {
  const comment = token === undefined ? undefined : map.trailing(token);
  return comment === undefined ? "" : ` ${comment}`;
}

/** What kind of declaration it is, whether exported or not. */
function declarationRule(tree: ConcreteNode): string {
  const inner = tree.rule === "declaration" ? tree.children[1] : tree;
  return inner !== undefined && "rule" in inner ? inner.rule : "";
}
