/** Every page of the checker's codes: its bad program raises the code and no other error, and each fix clears it. */
import assert from "node:assert/strict";
import { type CodePage, filesOfPage } from "../diagnostics/codes/code_page.ts";
import { CODE_PAGES } from "../diagnostics/codes/registry.ts";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import { findEntryPoints, type Target } from "./entry_points.ts";
import { PackageAnalyzer } from "./package_analysis.ts";
import { analyzePage } from "./page_analysis.ts";

/** Codes that the building of a target raises. */
const targets: Readonly<Record<string, Target>> = {
  TY0042: "wasm32-wasi",
  TY0043: "wasm32-wasi",
  TY0047: "wasm32-db",
  EF0007: "wasm32-db",
};

const analyzer = new PackageAnalyzer();

function check(page: CodePage, program: string): readonly Diagnostic[] {
  const { diagnostics, program: typed } = analyzePage(analyzer, program);
  const target = targets[page.code];
  if (target === undefined || typed === null) return diagnostics;
  return [...diagnostics, ...findEntryPoints(typed, target).diagnostics];
}

function fixed(program: string, fix: Fix): string {
  const files = new Map(filesOfPage(program));
  for (const { file, span, text } of fix.edits.toSorted((a, b) => b.span.start - a.span.start)) {
    const before = files.get(file.path) ?? "";
    files.set(file.path, before.slice(0, span.start) + text + before.slice(span.end));
  }
  return [...files].map(([path, text], index) => index === 0 ? text : `// ${path}\n${text}`).join("");
}

const pages = CODE_PAGES.filter((page) => /^(NM|TY|EF|MX|MV|MD|LI)/.test(page.code));

for (const page of pages) {
  Deno.test(`the page of ${page.code}, "${page.title}", raises it, and each fix clears it`, () => {
    assert.match(page.explanation, /^[A-Z`].*[.]$/s);
    const diagnostics = check(page, page.bad);
    const [first, ...more] = diagnostics.filter((diagnostic) => diagnostic.code === page.code);
    assert.ok(first !== undefined, `raised: ${diagnostics.map((diagnostic) => diagnostic.code)}`);
    assert.equal(more.length, 0, "one error is told once");
    const others = diagnostics.filter(({ code, severity }) => severity === "error" && code !== page.code);
    assert.deepEqual(others.map(({ code, message }) => `${code} ${message}`), []);
    assert.equal(first.title, page.title);
    assert.equal(first.severity, page.severity);
    assert.match(first.message, /^\S.*[.]$/s, "a message is a sentence");
    if (first.fixes.length > 0) assert.deepEqual(page.fixed, first.fixes.map((fix) => fixed(page.bad, fix)));
    assert.ok(page.fixed.length > 0, "a right program, when there is no fix");
    for (const text of page.fixed) {
      const after = check(page, text);
      assert.ok(!after.some((diagnostic) => diagnostic.code === page.code), `not cleared:\n${text}`);
      assert.deepEqual(
        after.filter(({ severity }) => severity === "error").map(({ message }) => message),
        [],
      );
    }
  });
}

Deno.test("the checker has at least 60 codes, at least 30 of them with fixes, several with alternatives", () => {
  const counts = pages.map((page) =>
    check(page, page.bad).find(({ code }) => code === page.code)?.fixes.length ?? 0
  );
  assert.ok(pages.length >= 60, `${pages.length}`);
  assert.ok(counts.filter((count) => count > 0).length >= 30, `${counts}`);
  assert.ok(counts.filter((count) => count > 1).length >= 5, `${counts}`);
});
