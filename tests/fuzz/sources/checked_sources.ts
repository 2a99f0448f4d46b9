/**
 * Mutated sources through the checker: whatever comes out of the parser, the checker answers. No exception, places
 * and edits inside of the text, edits apart from one another and changing something, codes of the registry, none of
 * them internal; and a program without errors has all of its bodies.
 */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../../../lang/check/package_analysis.ts";
import { findCodePage } from "../../../lang/diagnostics/codes/registry.ts";
import type { Diagnostic, Fix } from "../../../lang/diagnostics/diagnostic.ts";

/** What has been seen of some sources. */
export interface CheckedCounts {
  sources: number;
  programs: number;
  readonly codes: Map<string, number>;
}

/** Nothing seen yet. */
export function checkedCounts(): CheckedCounts {
  return { sources: 0, programs: 0, codes: new Map() };
}

/** Holds the checker to its promises for one source; throws with the source in the message. */
export function checkProgram(analyzer: PackageAnalyzer, text: string, counts: CheckedCounts): void {
  try {
    const { diagnostics, program } = analyzer.analyze(new Map([["src/main.lang", text]]));
    counts.sources++;
    for (const diagnostic of diagnostics) {
      if (!diagnostic.code.startsWith("SY")) checkDiagnostic(text, diagnostic);
      counts.codes.set(diagnostic.code, (counts.codes.get(diagnostic.code) ?? 0) + 1);
    }
    if (program === null) return;
    counts.programs++;
    for (const { body, linkage } of program.root?.functions ?? []) {
      assert.equal(body !== null, linkage.kind === "body");
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    throw new Error(`${message}\nin the source ${JSON.stringify(text)}`, { cause: error });
  }
}

function checkDiagnostic(text: string, { code, file, span, labels, fixes, message }: Diagnostic): void {
  assert.ok(findCodePage(code) !== undefined && !code.startsWith("IC"), code);
  const isInside = (each: { readonly start: number; readonly end: number }, length: number) =>
    0 <= each.start && each.start <= each.end && each.end <= length;
  assert.equal(file.text, text);
  assert.ok(isInside(span, text.length), `${code}: place ${span.start} to ${span.end}`);
  assert.ok(!/undefined|NaN|\[object/.test(message.replace(/`[^`]*`/g, "")), `${code}: ${message}`);
  for (const label of labels) assert.ok(isInside(label.span, label.file.text.length), `${code}: label`);
  for (const fix of fixes) checkFix(code, fix);
}

function checkFix(code: string, fix: Fix): void {
  let end = -1;
  for (const { file, span, text } of fix.edits.toSorted((a, b) => a.span.start - b.span.start)) {
    assert.ok(end <= span.start && span.start <= span.end, `${code}: edits overlap, ${fix.title}`);
    assert.ok(span.end <= file.text.length, `${code}: edit outside, ${fix.title}`);
    assert.notEqual(file.text.slice(span.start, span.end), text, `${code}: no change, ${fix.title}`);
    end = span.end;
  }
}
