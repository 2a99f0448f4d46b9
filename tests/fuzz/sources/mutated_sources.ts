/**
 * Mutated sources in the language: parts of right ones with tokens, characters and lines put in, taken out, exchanged
 * and doubled.
 *
 * Whatever comes out, parser and formatter answer: no exception, places inside of the text, edits apart from one
 * another, codes of the registry, none of them internal. What the formatter makes of it has the same tokens and
 * comments, and formatting that changes nothing.
 */
import assert from "node:assert/strict";
import { findCodePage } from "../../../lang/diagnostics/codes/registry.ts";
import type { Diagnostic } from "../../../lang/diagnostics/diagnostic.ts";
import { SourceFile } from "../../../lang/source/source_file.ts";
import { format } from "../../../lang/syntax/format.ts";
import { lex } from "../../../lang/syntax/lexer.ts";
import { parse } from "../../../lang/syntax/parser.ts";
import { KEYWORDS, PUNCTUATION } from "../../../lang/syntax/token.ts";
import { rightSources } from "../../lang/source_corpus.ts";
import { type SeededRandom, seededRandom } from "../../support/random.ts";

const vocabulary: readonly string[] = [
  ...KEYWORDS,
  ...PUNCTUATION,
  ...'x Ball 1 2.5 \'a\' "t" " """ "{x}" "{ // /// /* # ; ! && || ++ :: := => -> \' \\ é 😀 test eval case threshold switch elif then do mut null'
    .split(" "),
  "\n",
  "\n\n",
  "\n// note\n",
  "\n/// about\n",
  "  ",
  "\r\n",
  "\t",
];

/** Sources made of the corpus by a seed, without end. */
export function* mutatedSources(seed: number): Generator<string> {
  const random = seededRandom(seed);
  const parts = rightSources().flatMap((file) => partsOf(file.text));
  for (;;) {
    let text = Array.from({ length: 1 + random.below(3) }, () => random.pick(parts)).join("\n");
    for (let count = 1 + random.below(4); count > 0; count--) text = mutated(text, random);
    yield text;
  }
}

/** A file cut before its declarations. */
function partsOf(text: string): string[] {
  return text.split(/\n(?=(?:pub|use|type|interface|const|fn|test|property|eval|\/\/\/) )/).filter((part) =>
    part.length < 3000
  );
}

function mutated(text: string, random: SeededRandom): string {
  const tokens = text.split(/(\w+|\s+|[^\w\s])/).filter((token) => token !== "");
  const at = random.below(tokens.length + 1);
  switch (random.below(8)) {
    case 0:
      tokens.splice(at, 1 + random.below(2));
      break;
    case 1:
      tokens.splice(at, 0, random.pick(vocabulary));
      break;
    case 2:
      tokens.splice(at, 1, random.pick(vocabulary));
      break;
    case 3:
      tokens.splice(at, 0, ...tokens.slice(at, at + 1 + random.below(6)));
      break;
    case 4: {
      const other = random.below(tokens.length + 1);
      const moved = tokens.splice(at, 1);
      tokens.splice(other, 0, ...moved);
      break;
    }
    case 5: {
      const character = random.below(text.length + 1);
      return text.slice(0, character) + text.slice(character + 1 + random.below(3));
    }
    case 6: {
      const lines = text.split("\n");
      lines.splice(random.below(lines.length), 1);
      return lines.join("\n");
    }
    case 7:
      return random.below(4) === 0
        ? text.slice(0, random.below(text.length + 1))
        : text.replaceAll("\n", " \n");
  }
  return tokens.join("");
}

/** What has been seen of some sources. */
export interface SourceCounts {
  sources: number;
  withErrors: number;
  diagnostics: number;
  fixes: number;
  /** Fixes after which the error is no longer told. */
  clearing: number;
  readonly codes: Map<string, number>;
}

/** Nothing seen yet. */
export function sourceCounts(): SourceCounts {
  return { sources: 0, withErrors: 0, diagnostics: 0, fixes: 0, clearing: 0, codes: new Map() };
}

/** Holds parser and formatter to their promises for one source; throws with the source in the message. */
export function checkSource(text: string, counts: SourceCounts): void {
  try {
    const file = new SourceFile("src/main.lang", text);
    const { module, diagnostics } = parse(file);
    const isBroken = module.declarations.some(({ kind }) => kind === "broken");
    assert.ok(
      !isBroken || diagnostics.some(({ severity }) => severity === "error"),
      "broken, and nobody told why",
    );
    counts.sources++;
    counts.diagnostics += diagnostics.length;
    if (diagnostics.some(({ severity }) => severity === "error")) counts.withErrors++;
    for (const diagnostic of diagnostics) checkDiagnostic(text, diagnostic, counts);
    checkFormat(text);
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : error}\nin the source ${JSON.stringify(text)}`,
      {
        cause: error,
      },
    );
  }
}

function checkDiagnostic(text: string, diagnostic: Diagnostic, counts: SourceCounts): void {
  const { code, span, fixes } = diagnostic;
  counts.codes.set(code, (counts.codes.get(code) ?? 0) + 1);
  assert.ok(findCodePage(code) !== undefined && !code.startsWith("IC"), code);
  assert.ok(
    0 <= span.start && span.start <= span.end && span.end <= text.length,
    `${code}: place ${span.start}`,
  );
  for (const fix of fixes) {
    counts.fixes++;
    let end = -1;
    const edits = fix.edits.toSorted((a, b) => a.span.start - b.span.start);
    for (const edit of edits) {
      assert.ok(end <= edit.span.start && edit.span.start <= edit.span.end, `${code}: edits overlap`);
      assert.ok(edit.span.end <= text.length, `${code}: edit outside`);
      end = edit.span.end;
    }
    assert.ok(
      edits.some(({ span, text: added }) => text.slice(span.start, span.end) !== added),
      `${code}: no change`,
    );
    let result = text;
    for (const edit of edits.toReversed()) {
      result = result.slice(0, edit.span.start) + edit.text + result.slice(edit.span.end);
    }
    const again = parse(new SourceFile("src/main.lang", result)).diagnostics;
    const isCleared = !again.some((other) => other.code === code && other.span.start === span.start);
    if (isCleared) counts.clearing++;
  }
}

function checkFormat(text: string): void {
  const once = format(new SourceFile("src/main.lang", text));
  assert.equal(essence(once), essence(text), "formatting loses something");
  assert.equal(format(new SourceFile("src/main.lang", once)), once, "formatting twice changes something");
}

/** Tokens and comments, but for what the formatter may add and take away. */
export function essence(text: string): string {
  const { tokens, comments, errors } = lex(text);
  const written = tokens.map((token) => token.text).join(" ").replace(/, (?=[)\]}])/g, "").replace(
    /= \| /g,
    "= ",
  );
  return [
    written,
    ...comments.map((comment) => comment.text.trimEnd()),
    ...errors.map((error) => error.text),
  ].join("\n");
}
