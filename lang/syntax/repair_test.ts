/** What is told of errors, and what the fixes make of the text; the pages of the codes have one of each kind. */
import assert from "node:assert/strict";
import type { Fix } from "../diagnostics/diagnostic.ts";
import { SourceFile } from "../source/source_file.ts";
import { format } from "./format.ts";
import { parse } from "./parser.ts";

function fixed(text: string, fix: Fix): string {
  let result = text;
  for (const { span, text: replacement } of fix.edits.toSorted((a, b) => b.span.start - a.span.start)) {
    result = result.slice(0, span.start) + replacement + result.slice(span.end);
  }
  return result;
}

/** One error, its code, and the text after each fix, which is right. */
function check(source: string, code: string, ...expected: readonly string[]): void {
  const { diagnostics } = parse(new SourceFile("src/main.lang", source));
  assert.deepEqual(diagnostics.map((diagnostic) => diagnostic.code), [code], source);
  const texts = (diagnostics[0]?.fixes ?? []).map((fix) => fixed(source, fix));
  assert.deepEqual(texts, expected);
  for (const text of texts) {
    assert.deepEqual(parse(new SourceFile("src/main.lang", text)).diagnostics, [], text);
  }
}

/** The codes that are reported, and the kinds of declarations that are there. */
function outline(source: string): { codes: string[]; declarations: string[] } {
  const { module, diagnostics } = parse(new SourceFile("src/main.lang", source));
  return {
    codes: diagnostics.map(({ code }) => code),
    declarations: module.declarations.map((declaration) =>
      declaration.kind === "broken"
        ? `broken ${declaration.name?.text ?? "?"}${
          declaration.repaired === null ? "" : ` as ${declaration.repaired.kind}`
        }`
        : declaration.kind
    ),
  };
}

Deno.test("parse() finds where brackets were forgotten", () => {
  check("fn a() {\n  foo(1, 2\n}\n", "SY0005", "fn a() {\n  foo(1, 2)\n}\n");
  check("fn a( {\n  x\n}\n", "SY0005", "fn a() {\n  x\n}\n");
  check(
    "fn a() {\n  if x {\n    b()\n\n  c()\n}\n",
    "SY0005",
    "fn a() {\n  if x {\n    b()\n  }\n\n  c()\n}\n",
    "fn a() {\n  if x {\n    b()\n\n  c()\n}\n}\n",
  );
  check("fn f() { 5.times(fn(i) { i) }", "SY0005", "fn f() { 5.times(fn(i) { i }) }");
  check("fn f() { let (a, b = c }", "SY0004", "fn f() { let (a, b) = c }");
  check("fn a() {\n}\n}\n\nfn b() {}\n", "SY0006", "fn a() {\n}\n\n\nfn b() {}\n");
});

Deno.test("parse() knows what other languages write", () => {
  check("fn a() { for i = 0 to 10 { x } }", "SY0034", "fn a() { for i in 0..=10 { x } }");
  check("fn a() { while (x < 3) x += 1 }", "SY0033", "fn a() { while (x < 3) { x += 1 } }");
  check("fn a() { f(x ? 1 : 2, 3) }", "SY0017", "fn a() { f(if x { 1 } else { 2 }, 3) }");
  check("fn a() { xs.map((x) => x + 1) }", "SY0019", "fn a() { xs.map(fn(x) { x + 1 }) }");
  check("fn a() { xs.map(|x, y| { x + y }) }", "SY0019", "fn a() { xs.map(fn(x, y) { x + y }) }");
  check("fn a() { xs.map(lambda x: x + 1) }", "SY0019", "fn a() { xs.map(fn(x) { x + 1 }) }");
  check("fn a() { let f = fn(x) -> x + 1 }", "SY0019", "fn a() { let f = fn(x) { x + 1 } }");
  check("fn a() { x = a === b }", "SY0011", "fn a() { x = a == b }");
  check(
    "fn a() { let x: List<Map<String, Int>> = [] }",
    "SY0046",
    "fn a() { let x: List[Map[String, Int]] = [] }",
  );
  check("enum Color { Red, Custom(Int) }", "SY0040", "type Color = Red | Custom(Int)");
  check("class Ball {\n  x: Float\n  y: Float\n}", "SY0040", "type Ball = {\n  x: Float,\n  y: Float\n}");
  check("impl Ball { fn move(self) {} }", "SY0040", " fn Ball.move(self) {}");
  check("public fn f() { 1 }", "SY0041", "pub fn f() { 1 }");
  check('import foo from "./bar.js"', "SY0040", "use bar");
  check('use "lib/physics"', "SY0030", "use lib.physics");
  check("type A = { x: Int; y: Float }", "SY0008", "type A = { x: Int, y: Float }");
  check("fn a() { 1; 2; 3; }", "SY0068", "fn a() { 1 2 3 }");
});

Deno.test("parse() tells each error of a declaration once", () => {
  assert.deepEqual(outline("fn a(x: int, y: string) { true }").codes, ["SY0045", "SY0045"]);
  assert.deepEqual(outline("fn a() { if !x && !y || z { 1 } }").codes, [
    "SY0069",
    "SY0011",
    "SY0069",
    "SY0011",
  ]);
  assert.deepEqual(outline("fn a() {\n  let mut x = 1\n  x++\n  if x = 2 { y }\n}\n").codes, [
    "SY0020",
    "SY0012",
    "SY0015",
  ]);
  assert.deepEqual(outline('fn a(x: int): Int {\n  if x = 1 { print("a {x") }\n}').codes, [
    "SY0045",
    "SY0047",
    "SY0015",
    "SY0066",
  ]);
  assert.deepEqual(outline('fn f() { """\n hello\n').codes, ["SY0065"]);
  assert.deepEqual(outline('fn a() { print("open) }\nfn b() { let = 1 }').codes, ["SY0064", "SY0004"]);
});

Deno.test("parse() leaves the other declarations alone, and says what became of the broken one", () => {
  assert.deepEqual(outline("fn a() {\n  foo(\n}\n\nfn b() -> Int { 2 }\n\ntype T = Int\n"), {
    codes: ["SY0005"],
    declarations: ["broken a as function", "function", "type"],
  });
  assert.deepEqual(outline("fn a(x: Int) -> Int {\n  ) ( ] [ = = let let\n}\nfn b() {}\n").declarations, [
    "broken a as function",
    "function",
  ]);
  assert.deepEqual(outline("struct A { x: Int }\nenum B { C, D }\nfn f() {}\n"), {
    codes: ["SY0040", "SY0040"],
    declarations: ["broken A as type", "broken B as type", "function"],
  });
  assert.deepEqual(outline('const a = """\n  text\nfn f() {}\n').declarations, ["const", "function"]);
  assert.deepEqual(outline("interface A {\nfn a(self: Self)\nfn b(self: Self)\n}\nfn f() {}\n"), {
    codes: [],
    declarations: ["interface", "function"],
  });
});

Deno.test("parse() and format() are bounded, whatever the source", () => {
  const count = 3000;
  const sources = [
    "fn a() {\n".repeat(count),
    "fn a() {\n".repeat(count) + "}\n".repeat(count),
    "fn a() {\n".repeat(count) + "} x x\n".repeat(count),
    `const a = ${"(".repeat(count)}`,
    `const a = ${"(".repeat(count)}${")".repeat(count)}`,
    `const a = ${'"{'.repeat(count)}`,
    `const a = ${"1 + ".repeat(count)}1`,
    `const a = ${"not ".repeat(count)}true`,
    `fn f() { ${"switch (".repeat(count)}}`,
    `fn f() {\n${"  let x = = 1\n".repeat(count)}}\n`,
    `fn f() { if a {}${" else if a {}".repeat(count)} }`,
    `const a: ${"List[".repeat(count)}Int${"]".repeat(count)} = x`,
    `const a = b${".c()".repeat(count)}`,
  ];
  for (const source of sources) {
    const file = new SourceFile("src/main.lang", source);
    assert.ok(parse(file).diagnostics.length > 0, source.slice(0, 40));
    assert.equal(typeof format(file), "string");
  }
  // What is just not too deep is walked by all that call themselves.
  const deep = new SourceFile("src/main.lang", `const a = ${"(".repeat(450)}1${")".repeat(450)}\n`);
  assert.deepEqual(parse(deep).diagnostics, []);
  assert.ok(format(deep).length > 0);
});
