/** Every page of the registry: its bad program raises the code and no other error, and each fix clears it. */
import assert from "node:assert/strict";
import { SourceFile } from "../../source/source_file.ts";
import { parseManifest } from "../../package/manifest.ts";
import { PackageAnalyzer } from "../../check/package_analysis.ts";
import { parse } from "../../syntax/parser.ts";
import type { Diagnostic, Fix } from "../diagnostic.ts";
import { CODE_PAGES } from "./registry.ts";

/** What a phase says of a program of one file. */
type Check = (program: string) => readonly Diagnostic[];

const checkSyntax: Check = (text) => parse(new SourceFile("src/main.lang", text)).diagnostics;

/** The check by the first letters of the codes that it raises. */
const checks = new Map<string, Check>([["SY", checkSyntax], [
  "PK",
  (text) => parseManifest(text).diagnostics,
]]);

function fixed(text: string, fix: Fix): string {
  let result = text;
  for (const { span, text: replacement } of fix.edits.toSorted((a, b) => b.span.start - a.span.start)) {
    result = result.slice(0, span.start) + replacement + result.slice(span.end);
  }
  return result;
}

Deno.test("the codes of the registry are two letters and four digits, each once", () => {
  const codes = CODE_PAGES.map((page) => page.code);
  assert.equal(new Set(codes).size, codes.length);
  for (const code of codes) assert.match(code, /^[A-Z]{2}\d{4}$/);
});

for (const page of CODE_PAGES) {
  const check = checks.get(page.code.slice(0, 2));
  if (check === undefined) continue;
  Deno.test(`the page of ${page.code}, "${page.title}", raises it, and each fix clears it`, () => {
    assert.match(page.explanation, /^[A-Z`].*[.]$/s);
    const diagnostics = check(page.bad);
    const [first] = diagnostics.filter((diagnostic) => diagnostic.code === page.code);
    assert.ok(first !== undefined, `raised: ${diagnostics.map((diagnostic) => diagnostic.code)}`);
    const others = diagnostics.filter(({ code, severity }) => severity === "error" && code !== page.code);
    assert.deepEqual(others.map(({ code, message }) => `${code} ${message}`), []);
    assert.equal(first.title, page.title);
    assert.equal(first.severity, page.severity);
    assert.match(first.message, /^\S.*[.]$/s, "a message is a sentence");
    assert.deepEqual(first.fixes.map((fix) => fixed(page.bad, fix)), page.fixed);
    for (const text of page.fixed) {
      assert.ok(!check(text).some((diagnostic) => diagnostic.code === page.code), `not cleared:\n${text}`);
    }
  });
}

Deno.test("the registry has at least 30 codes of syntax, at least 20 of them with fixes", () => {
  const syntax = CODE_PAGES.filter((page) => page.code.startsWith("SY"));
  assert.ok(syntax.length >= 30, `${syntax.length}`);
  assert.ok(syntax.filter((page) => page.fixed.length > 0).length >= 20);
});

Deno.test("the checker finds nothing more in the pages of syntax, and their fixes make right programs", () => {
  const analyzer = new PackageAnalyzer();
  const errorsOf = (text: string) =>
    analyzer.analyze(new Map([["src/main.lang", text]])).diagnostics
      .filter(({ severity }) => severity === "error").map(({ code, message }) => `${code} ${message}`);
  for (const page of CODE_PAGES.filter(({ code }) => code.startsWith("SY"))) {
    assert.deepEqual(errorsOf(page.bad).filter((error) => !error.startsWith(page.code)), [], page.bad);
    for (const text of page.fixed) assert.deepEqual(errorsOf(text), [], text);
  }
});
