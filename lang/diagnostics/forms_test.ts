/** Forms of diagnostics: text with carets, JSON, SARIF; edits and differences. */
import assert from "node:assert/strict";
import { SourceFile } from "../source/source_file.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { applyEdits, compatibleFixes } from "./edits.ts";
import { renderDiagnostic, renderReport } from "./human.ts";
import { diagnosticToJson, reportToJson } from "./json.ts";
import { diffLines } from "./line_diff.ts";
import { reportToSarif } from "./sarif.ts";
import { colorStyle } from "./style.ts";
import { displayLine } from "./text_width.ts";
import { unifiedDiff } from "./unified_diff.ts";

function diagnosticAt(file: SourceFile, at: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const start = file.text.indexOf(at);
  return {
    code: "TY0001",
    severity: "error",
    title: "Types do not fit",
    message: "An `Int` is expected.",
    file,
    span: { start, end: start + at.length },
    labels: [],
    fixes: [],
    seeAlso: [],
    ...more,
  };
}

function spanOf(file: SourceFile, text: string) {
  const start = file.text.indexOf(text);
  return { start, end: start + text.length };
}

function excerpt(file: SourceFile, at: string, more: Partial<Diagnostic> = {}): string {
  return renderDiagnostic(diagnosticAt(file, at, more)).split("\n").slice(1, -3).join("\n");
}

Deno.test("renderDiagnostic() marks a span under tabs and wide characters", () => {
  const file = new SourceFile("src/main.lang", '\tlet 名 = "😀é" + wrong\n');
  assert.equal(
    excerpt(file, "wrong"),
    ` --> src/main.lang:1:17
  |
1 |     let 名 = "😀é" + wrong
  |                      ^^^^^`.replace(/^ -->/, "  -->"),
  );
});

Deno.test("renderDiagnostic() puts labels of one line together, and others where they are", () => {
  const file = new SourceFile("src/main.lang", 'let a = 1\n\n\nlet b = a + "x"\n');
  const label = (text: string, message: string) => ({ file, span: spanOf(file, text), message });
  assert.equal(
    excerpt(file, "+", { labels: [label("a +", ""), label('"x"', "a text"), label("1", "a number")] }),
    `  --> src/main.lang:4:11
  |
1 | let a = 1
  |         - a number
...
4 | let b = a + "x"
  |           ^ --- a text
  |         ---
  |`.replace(/\n {2}\|$/, ""),
  );
});

Deno.test("renderDiagnostic() shows the first and last line of a long span, and the end of a file", () => {
  const file = new SourceFile("src/main.lang", "fn f() {\n  1\n  2\n}\n");
  assert.equal(
    excerpt(file, "{\n  1\n  2\n}"),
    `  --> src/main.lang:1:8
  |
1 | fn f() {
  |        ^
...
4 | }
  | ^`,
  );
  const atEnd = diagnosticAt(file, "", { span: { start: file.text.length, end: file.text.length } });
  assert.match(renderDiagnostic(atEnd), /main\.lang:5:1\n/);
});

Deno.test("renderReport() counts, and colors when asked", () => {
  const file = new SourceFile("src/main.lang", "let a = 1\n");
  const warning = diagnosticAt(file, "a", { severity: "warning" });
  assert.match(renderReport([warning, diagnosticAt(file, "1"), warning]), /\n1 error, 2 warnings\n$/);
  assert.ok(renderReport([warning], { style: colorStyle }).includes("\x1b[1;33mwarning[TY0001]\x1b[0m"));
  assert.equal(renderReport([]), "");
});

Deno.test("diagnosticToJson() counts lines and columns in code points and offsets in bytes", () => {
  const file = new SourceFile("src/main.lang", "// 😀\n😀 é here\n");
  const json = diagnosticToJson(diagnosticAt(file, "here", {
    hint: "h",
    fixes: [{ title: "go", applicability: "safe", edits: [{ file, span: { start: 0, end: 0 }, text: "x" }] }],
  }));
  assert.deepEqual(json.span, {
    file: "src/main.lang",
    line: 2,
    column: 5,
    length: 4,
    byte_start: 16,
    byte_end: 20,
  });
  assert.deepEqual(json.fixes, [{
    index: 0,
    title: "go",
    applicability: "safe",
    edits: [{
      span: { file: "src/main.lang", line: 1, column: 1, length: 0, byte_start: 0, byte_end: 0 },
      text: "x",
    }],
  }]);
  assert.deepEqual(Object.keys(json), [
    "code",
    "severity",
    "title",
    "message",
    "span",
    "labels",
    "hint",
    "fixes",
    "see_also",
  ]);
  assert.deepEqual(reportToJson([diagnosticAt(file, "here", { severity: "warning" })]).ok, true);
});

Deno.test("reportToSarif() refers to its rules and escapes paths", () => {
  const file = new SourceFile("src/a b.lang", "let a = 1\n");
  const log = JSON.parse(JSON.stringify(reportToSarif([diagnosticAt(file, "1")], "1.2.3")));
  const [run] = log.runs;
  assert.deepEqual([log.version, run.tool.driver.version, run.tool.driver.rules[0].id], [
    "2.1.0",
    "1.2.3",
    "TY0001",
  ]);
  const [result] = run.results;
  assert.deepEqual([result.ruleId, result.ruleIndex, result.level], ["TY0001", 0, "error"]);
  assert.deepEqual(result.locations[0].physicalLocation, {
    artifactLocation: { uri: "src/a%20b.lang" },
    region: { startLine: 1, startColumn: 9, endLine: 1, endColumn: 10, byteOffset: 8, byteLength: 1 },
  });
});

Deno.test("applyEdits() keeps the order of insertions, compatibleFixes() leaves out what meets", () => {
  const file = new SourceFile("src/main.lang", "abcdef");
  const edit = (start: number, end: number, text: string) => ({ file, span: { start, end }, text });
  assert.equal(
    applyEdits("abcdef", [edit(1, 1, "X"), edit(4, 6, ""), edit(1, 1, "Y"), edit(2, 3, "Z")]),
    "aXYbZd",
  );
  const fix = (start: number, end: number) => ({
    title: "",
    applicability: "safe" as const,
    edits: [edit(start, end, "")],
  });
  const [first, second, third] = [fix(0, 3), fix(2, 4), fix(3, 5)];
  assert.deepEqual(compatibleFixes([first, second, third]), { taken: [first, third], left: [second] });
});

Deno.test("diffLines() leads from one text to the other by the fewest steps", () => {
  const check = (before: string, after: string, steps: number) => {
    const lines = diffLines(before.split(""), after.split(""));
    assert.equal(lines.filter(({ kind }) => kind !== "add").map(({ text }) => text).join(""), before);
    assert.equal(lines.filter(({ kind }) => kind !== "remove").map(({ text }) => text).join(""), after);
    assert.equal(lines.filter(({ kind }) => kind !== "same").length, steps);
  };
  check("", "", 0);
  check("abc", "abc", 0);
  check("", "abc", 3);
  check("abc", "", 3);
  check("abcabba", "cbabac", 5);
  check("xaybzc", "abc", 3);
});

Deno.test("unifiedDiff() is what patch reads, also without a line break at the end", () => {
  const before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
  assert.equal(
    unifiedDiff("x", before, before.replace("b", "B").replace("j\n", "j")),
    `--- a/x
+++ b/x
@@ -1,5 +1,5 @@
 a
-b
+B
 c
 d
 e
@@ -7,4 +7,4 @@
 g
 h
 i
-j
+j
\\ No newline at end of file
`,
  );
  assert.equal(unifiedDiff("x", "", "a\n"), "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
  assert.equal(unifiedDiff("x", "a\n", ""), "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n");
  assert.equal(unifiedDiff("x", "a", "a"), "");
});

Deno.test("displayLine() widens tabs and names what cannot be seen", () => {
  assert.equal(displayLine("a\tb").text, "a   b");
  assert.equal(displayLine("\u202eabc\u0000").text, "<U+202E>abc<U+0000>");
  assert.deepEqual(displayLine("字e\u0301x").columns, [0, 2, 3, 3, 4]);
});
