/** Analyzing versions of one package: what is checked again, what stays, and that nothing goes stale. */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "./package_analysis.ts";

const physics = `/// Gravity.
pub type Body = { x: Float, speed: Float }

pub fn Body.fall(self: inout Body, time: Float) {
  self.speed += 9.8 * time
  self.x += self.speed * time
}

pub fn resting(x: Float) -> Body {
  Body { x: x, speed: 0.0 }
}
`;

const main = `use physics

pub fn start() -> Float {
  var body = physics.resting(1.0)
  body.fall(0.5)
  body.x
}
`;

const other = `pub fn double(n: Int) -> Int {
  n * 2
}
`;

function texts(changes: Record<string, string> = {}): Map<string, string> {
  return new Map(Object.entries({
    "src/main.lang": main,
    "src/physics.lang": physics,
    "src/tools/other.lang": other,
    ...changes,
  }));
}

function codes(analyzer: PackageAnalyzer, files: ReadonlyMap<string, string>): string[] {
  return analyzer.analyze(files).diagnostics.map(({ code, file, span }) =>
    `${code} ${file.path}:${file.positionOf(span).line}`
  );
}

Deno.test("analyze() checks nothing again when nothing changed", () => {
  const analyzer = new PackageAnalyzer();
  const first = analyzer.analyze(texts());
  assert.deepEqual(first.diagnostics, []);
  assert.deepEqual(first.checkedModules, ["physics", "main", "tools.other"]);
  const second = analyzer.analyze(texts());
  assert.deepEqual(second.checkedModules, []);
  assert.deepEqual(second.diagnostics, []);
  assert.ok(second.program?.root?.name === "main");
});

Deno.test("analyze() checks one module again when a body changed, and the others see the new body", () => {
  const analyzer = new PackageAnalyzer();
  const before = analyzer.analyze(texts());
  const caller = before.program?.root?.functions[0];
  const changed = texts({ "src/physics.lang": physics.replace("9.8", "1.6 + 0.0") });
  const after = analyzer.analyze(changed);
  assert.deepEqual(after.checkedModules, ["physics"]);
  assert.equal(after.program?.root?.functions[0], caller);
  const physicsModule = after.program?.modules.find((module) => module.name === "physics");
  const fall = physicsModule?.functions.find((each) => each.name === "fall");
  assert.equal(fall?.file.text, changed.get("src/physics.lang"));
  assert.match(
    JSON.stringify(fall?.body, (key, value) => key === "span" || key === "local" ? undefined : value),
    /"value":1\.6/,
  );
});

Deno.test("analyze() checks importers again when a signature changed", () => {
  const analyzer = new PackageAnalyzer();
  analyzer.analyze(texts());
  const changed = texts({
    "src/physics.lang": physics.replace("resting(x: Float)", "resting(x: Int)").replace(
      "x: x",
      "x: x.to_float()",
    ),
  });
  assert.deepEqual(codes(analyzer, changed), ["TY0001 src/main.lang:4"]);
  assert.deepEqual(codes(analyzer, texts()), []);
});

Deno.test("analyze() gives the same diagnostics as a fresh analysis, whatever came before", () => {
  const versions = [
    texts(),
    texts({ "src/physics.lang": physics.replace("self.speed * time", "self.sped * time") }),
    texts({ "src/physics.lang": `\n\n${physics}` }),
    texts({ "src/main.lang": main.replace("body.fall(0.5)", "body.fal(0.5)") }),
    texts({ "src/physics.lang": physics.replace("pub fn resting", "fn resting") }),
    // The label of a private name points into the other file, whose lines have moved.
    texts({ "src/physics.lang": `\n\n\n${physics.replace("pub fn resting", "fn resting")}` }),
    texts({ "src/tools/other.lang": "fn unused() {}\n" }),
    texts({ "src/main.lang": main.replace("use physics", "use tools.other") }),
    texts({ "src/main.lang": "" }),
    texts({ "src/physics.lang": "pub type Body = {" }),
    texts(),
  ];
  const plain = (analyzer: PackageAnalyzer, files: ReadonlyMap<string, string>) =>
    analyzer.analyze(files).diagnostics.map((diagnostic) => ({
      code: diagnostic.code,
      message: diagnostic.message,
      place: diagnostic.file.positionOf(diagnostic.span),
      labels: diagnostic.labels.map(({ file, span, message }) => ({
        path: file.path,
        place: file.positionOf(span),
        message,
      })),
      fixes: diagnostic.fixes.map((fix) => ({
        title: fix.title,
        edits: fix.edits.map(({ span, text }) => ({ span, text })),
      })),
    }));
  const analyzer = new PackageAnalyzer();
  for (const from of versions) {
    for (const to of versions) {
      plain(analyzer, from);
      assert.deepEqual(plain(analyzer, to), plain(new PackageAnalyzer(), to));
    }
  }
});

Deno.test("analyze() keeps inferred signatures from one version out of the next", () => {
  const analyzer = new PackageAnalyzer();
  const source = (value: string) =>
    `fn twice(n) { n + n }\n\npub fn start() -> Bool {\n  let value = twice(${value})\n  value == ${value}\n}\n`;
  const version = (value: string) => new Map([["src/main.lang", source(value)]]);
  assert.deepEqual(analyzer.analyze(version("1")).diagnostics, []);
  assert.deepEqual(analyzer.analyze(version("1.5")).diagnostics, []);
  assert.deepEqual(analyzer.analyze(version('"a"')).diagnostics, []);
});

Deno.test("analyze() makes tests of the examples in documentation, in their places", () => {
  const source = `/// Doubles.
///
/// \`\`\`
/// expect(double(2) == 4)
/// let n = main.double(1.5)
/// \`\`\`
///
/// \`\`\`text
/// no code
/// \`\`\`
pub fn double(n: Int) -> Int {
  n * 2
}
`;
  const analyzer = new PackageAnalyzer();
  const wrong = analyzer.analyze(new Map([["src/main.lang", source]]));
  assert.deepEqual(
    wrong.diagnostics.map((
      { code, file, span },
    ) => [code, file.positionOf(span).line, file.text.slice(span.start, span.end)]),
    [["TY0001", 5, "1.5"]],
  );
  const right = analyzer.analyze(
    new Map([["src/main.lang", source.replace("let n = main.double(1.5)", "expect(main.double(3) == 6)")]]),
  );
  assert.deepEqual(right.diagnostics, []);
  const [example] = right.program?.root?.tests ?? [];
  assert.equal(example?.kind, "example");
  assert.equal(example?.name, "double");
  assert.equal(right.program?.root?.tests.length, 1);
});

Deno.test("symbolsOf() finds definitions, references and types", () => {
  const analyzer = new PackageAnalyzer({ withSymbols: true });
  analyzer.analyze(texts());
  const symbols = analyzer.symbolsOf("src/main.lang");
  const target = symbols?.targetAt(main.indexOf("resting") + 2);
  assert.ok(target !== null && target !== undefined && "id" in target);
  assert.equal(target.id, "physics.resting");
  const local = symbols?.targetAt(main.indexOf("body.x"));
  assert.ok(local !== null && local !== undefined && "span" in local);
  assert.deepEqual(local.span, { start: main.indexOf("body ="), end: main.indexOf("body =") + 4 });
});

Deno.test("analyze() tells one error for a syntax error, whoever uses what is broken", () => {
  const check = (broken: string, rest: string) => {
    const { diagnostics } = new PackageAnalyzer().analyze(
      new Map([["src/main.lang", `${broken}\n${rest}\n`]]),
    );
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(
      errors.map(({ code, message }) => `${code.slice(0, 2)} ${message}`).slice(1),
      [],
      broken,
    );
    assert.ok(errors[0]?.code.startsWith("SY"), broken);
  };
  check("fn foo(a Int) -> Int { a }", "pub fn g() -> Int { foo(1) }");
  check("fn (a: Int) -> Int { a }", "pub fn g() -> Int { foo(1) }");
  check("type Ball = { x Float }", "pub fn g(b: Ball) -> Float { b.x }");
  check("const x Int = 3", "pub fn g() -> Int { x }");
  check("use physics.", "pub fn g() -> Int { physics.x() }");
  check("type Phase = Playing | | Over", "pub fn g() -> Phase { Over }");
  check(
    "fn Ball.move(self: inout Ball { self.x += 1.0 }",
    "type Ball = { x: Float }\npub fn g(b: inout Ball) { b.move() }",
  );
  check("interface A { fn area(self Self) -> Float }", "pub fn g[T: A](x: T) -> Float { x.area() }");
  check("fn foo(a: Int) -> Int { if a > { 1 } else { 2 } }", "pub fn g() -> Int { foo(1) }");
});
