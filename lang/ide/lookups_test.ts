/** Definitions, references, renaming, hover, outlines and inferred types of a small package. */
import { strict as assert } from "node:assert";
import { applyToFiles } from "../diagnostics/edits.ts";
import { newPackageFiles } from "../package/new_package.ts";
import { librarySource, SymbolLookups } from "./lookups.ts";
import { offsetAt } from "./place.ts";
import type { SymbolPosition, SymbolService } from "./symbol_service.ts";
import { SourceFile } from "../source/source_file.ts";

const PHYSICS = `//! How things fall.

/// A thing that falls.
pub type Ball = {
  x: Float,
  y: Float,
  /// How fast.
  speed: Float,
}

pub type Event = Nothing | Hit(strength: Float)

pub const gravity: Float = 9.8

/// Lets the ball fall.
///
/// \`\`\`
/// var ball = physics.resting(1.0)
/// ball.fall(by: 2.0)
/// expect(ball.y == 2.0)
/// \`\`\`
pub fn Ball.fall(self: inout Ball, by: Float) -> Event {
  self.y += by
  if self.y > 100.0 { Hit(strength: self.speed) } else { Nothing }
}

pub fn resting(x: Float) -> Ball {
  Ball { x: x, y: 0.0, speed: gravity }
}
`;

const MAIN = `use physics

fn strongest[T: Ord](values: List[T], start: T) -> T {
  var best = start
  for value in values { if value > best { best = value } }
  best
}

fn describe(event: Event) -> String {
  match event {
    Hit(strength: s) if s > strongest([1.0, 2.0], 0.5) => "hard {s}"
    Hit(strength) => "hit {strength}"
    Nothing => "nothing"
  }
}

pub fn main(args: List[String]) -> Int uses Log {
  var ball = physics.resting(3.0)
  let Ball { x, y: height, .. } = ball
  for arg in args {
    let event = ball.fall(arg.len().to_float())
    print(describe(event))
  }
  print("{x} {height} {ball.speed}")
  0
}
`;

const TEXTS = new Map([["src/main.lang", MAIN], ["src/physics.lang", PHYSICS]]);

/** The place of `|` in a text that has no other, and the texts without it. */
function cursor(text: string, path = "src/main.lang"): { texts: Map<string, string>; place: SymbolPosition } {
  const offset = text.indexOf("|>");
  assert.ok(offset >= 0, text);
  return {
    texts: new Map(TEXTS).set(path, text.replace("|>", "")),
    place: { path, offset },
  };
}

function of(text: string, path = "src/main.lang"): { service: SymbolService; place: SymbolPosition } {
  const { texts, place } = cursor(text, path);
  return { service: new SymbolLookups().of(texts), place };
}

function inMain(before: string, after: string): string {
  assert.ok(MAIN.includes(before), before);
  return MAIN.replace(before, after);
}

function inPhysics(before: string, after: string): string {
  assert.ok(PHYSICS.includes(before), before);
  return PHYSICS.replace(before, after);
}

Deno.test("definitions() finds what a name refers to, in other modules, in the library and in examples", () => {
  const check = (text: string, expected: string, path = "src/main.lang") => {
    const { service, place } = of(text, path);
    const found = service.definitions(place).map(({ file, span }) =>
      `${file.path} ${file.positionOf(span).line} ${file.text.slice(span.start, span.end)}`
    );
    assert.deepEqual(found, [expected], text);
  };
  check(inMain("physics.resting(3.0)", "physics.res|>ting(3.0)"), "src/physics.lang 27 resting");
  check(inMain("physics.resting(3.0)", "phy|>sics.resting(3.0)"), "src/physics.lang 1 ");
  check(inMain("use physics", "use phy|>sics"), "src/physics.lang 1 ");
  check(inMain("ball.fall(", "ball.fa|>ll("), "src/physics.lang 22 fall");
  check(inMain("{ball.speed}", "{ball.sp|>eed}"), "src/physics.lang 8 speed");
  check(inMain("{ball.speed}", "{b|>all.speed}"), "src/main.lang 18 ball");
  check(inMain("{height}", "{heig|>ht}"), "src/main.lang 19 height");
  check(inMain("Ball { x, y: height", "Ball { x, |>y: height"), "src/physics.lang 6 y");
  check(inMain("Ball { x, y: height", "Ba|>ll { x, y: height"), "src/physics.lang 4 Ball");
  check(inMain("event: Event", "event: Eve|>nt"), "src/physics.lang 11 Event");
  check(inMain("Hit(strength: s)", "H|>it(strength: s)"), "src/physics.lang 11 Hit");
  check(inMain("Hit(strength: s)", "Hit(stre|>ngth: s)"), "src/physics.lang 11 strength");
  check(inMain("start: T", "start: |>T"), "src/main.lang 3 T");
  check(inMain("args: List[String]", "args: Li|>st[String]"), "std:list 6 List");
  check(inMain("args: List[String]", "args: List[Stri|>ng]"), "std:string 7 String");
  check(inMain("arg.len()", "arg.le|>n()"), "std:string 26 len");
  check(inMain("print(describe", "pri|>nt(describe"), "std:prelude 36 print");
  check(inPhysics("by: 2.0", "b|>y: 2.0"), "src/physics.lang 22 by", "src/physics.lang");
  check(inPhysics("physics.resting", "physics.rest|>ing"), "src/physics.lang 27 resting", "src/physics.lang");
});

Deno.test("references() finds all uses of a name and says which of them define or write", () => {
  const check = (text: string, expected: readonly string[], path = "src/main.lang") => {
    const { service, place } = of(text, path);
    const found = service.references(place)?.references.map(({ file, span, isDefinition, isWrite }) =>
      `${file.path} ${file.positionOf(span).line}${isDefinition ? " definition" : ""}${
        isWrite ? " write" : ""
      }`
    );
    assert.deepEqual(found, expected, text);
  };
  check(inPhysics("pub fn Ball.fall", "pub fn Ball.fa|>ll"), [
    "src/main.lang 21",
    "src/physics.lang 19",
    "src/physics.lang 22 definition",
  ], "src/physics.lang");
  check(inMain("{ball.speed}", "{ball.spe|>ed}"), [
    "src/main.lang 24",
    "src/physics.lang 8 definition",
    "src/physics.lang 24",
    "src/physics.lang 28",
  ]);
  check(inMain("var best", "var be|>st"), [
    "src/main.lang 4 definition",
    "src/main.lang 5",
    "src/main.lang 5 write",
    "src/main.lang 6",
  ]);
  check(inMain("event: Event", "event: Ev|>ent"), [
    "src/main.lang 9",
    "src/physics.lang 11 definition",
    "src/physics.lang 22",
  ]);
});

Deno.test("rename() gives edits of all files, keeps what a short field means, and refuses what it cannot do", () => {
  const check = (text: string, name: string, expected: Record<string, string>, path = "src/main.lang") => {
    const { service, place } = of(text, path);
    const outcome = service.rename(place, name);
    assert.equal(outcome.kind, "edits", JSON.stringify(outcome));
    if (outcome.kind !== "edits") return;
    const changed = [...applyToFiles(outcome.edits)].map(([path, { after }]) => [path, after]);
    assert.deepEqual(Object.fromEntries(changed), expected);
  };
  const all = (text: string, pairs: readonly (readonly [string, string])[]) =>
    pairs.reduce((at, [before, after]) => {
      assert.ok(at.includes(before), before);
      return at.replaceAll(before, after);
    }, text);
  check(inMain("ball.fall(", "ball.fa|>ll("), "drop", {
    "src/main.lang": all(MAIN, [["ball.fall(", "ball.drop("]]),
    "src/physics.lang": all(PHYSICS, [["ball.fall(", "ball.drop("], ["Ball.fall(", "Ball.drop("]]),
  });
  check(inMain("{x} {height}", "{|>x} {height}"), "left", {
    "src/main.lang": all(MAIN, [["Ball { x,", "Ball { x: left,"], ["{x} {height}", "{left} {height}"]]),
  });
  check(inPhysics("  x: Float", "  |>x: Float"), "left", {
    "src/main.lang": all(MAIN, [["Ball { x,", "Ball { left: x,"]]),
    "src/physics.lang": all(PHYSICS, [["  x: Float", "  left: Float"], ["Ball { x: x", "Ball { left: x"]]),
  }, "src/physics.lang");
  check(inPhysics("by: Float", "b|>y: Float"), "distance", {
    "src/physics.lang": all(PHYSICS, [["by: ", "distance: "], ["+= by", "+= distance"]]),
  }, "src/physics.lang");
  check(inMain("event: Event", "event: Ev|>ent"), "Outcome", {
    "src/main.lang": all(MAIN, [["event: Event", "event: Outcome"]]),
    "src/physics.lang": all(PHYSICS, [["type Event", "type Outcome"], ["-> Event", "-> Outcome"]]),
  });
  const refuse = (text: string, name: string, reason: RegExp, path = "src/main.lang") => {
    const { service, place } = of(text, path);
    const outcome = service.rename(place, name);
    assert.equal(outcome.kind, "refused", text);
    if (outcome.kind === "refused") assert.match(outcome.reason, reason);
  };
  refuse(inMain("pub fn main", "pub fn ma|>in"), "start", /the host calls it by its name/);
  refuse(inMain("arg.len()", "arg.le|>n()"), "size", /it belongs to the library/);
  refuse(inMain("use physics", "use phys|>ics"), "motion", /a module has the name of its file/);
  refuse(inPhysics("self: inout Ball", "se|>lf: inout Ball"), "me", /marks the receiver/, "src/physics.lang");
  refuse(inMain("let event", "let ev|>ent"), "9lives", /letters, digits/);
  refuse(inMain("let event", "let ev|>ent"), "match", /a word of the language/);
  refuse(inMain("let event", "let ev|>ent"), "Event", /only types and variants/);
  refuse(inMain("event: Event", "event: Ev|>ent"), "event", /begin with a capital/);
  refuse(inMain("{ x, y: height", "{ x, y: he|>ight"), "x", /twice/);
  // The name would be the inner variable's.
  refuse(inMain("var ball", "var ba|>ll"), "arg", /`String` has no method `fall`/);
  refuse(
    "pub fn sum() -> Int {\n  let ou|>ter = 1\n  let inner = 2\n  outer + inner\n}\n",
    "inner",
    /means something else/,
  );
  refuse(inMain("0\n}", "|>0\n}"), "zero", /there is no name/);
  refuse(`${inMain("var best", "var be|>st")}\nfn ) = & ] 3 3 (\n`, "most", /syntax errors/);
});

Deno.test("hover() tells signature, type, effects and documentation", () => {
  const check = (text: string, expected: Record<string, unknown>, path = "src/main.lang") => {
    const { service, place } = of(text, path);
    const found = service.hover(place);
    assert.ok(found !== null, text);
    const wanted = Object.fromEntries(Object.entries(found).filter(([key]) => key in expected));
    assert.deepEqual(wanted, expected, text);
  };
  check(inMain("ball.fall(", "ball.fa|>ll("), {
    name: "fall",
    kind: "method",
    signature: "fn Ball.fall(self: inout Ball, by: Float) -> Event",
    effects: [],
    module: "physics",
    documentation:
      "Lets the ball fall.\n\n```lang\nvar ball = physics.resting(1.0)\nball.fall(by: 2.0)\nexpect(ball.y == 2.0)\n```",
  });
  check(inMain("pub fn main", "pub fn ma|>in"), {
    signature: "fn main(args: List[String]) -> Int uses Log",
    effects: ["Log"],
    type: "fn(List[String]) -> Int",
  });
  check(inMain("let event", "let eve|>nt"), {
    signature: "let event: Event",
    type: "Event",
    kind: "variable",
  });
  check(inMain("for arg in", "for ar|>g in"), { signature: "let arg: String" });
  check(inMain("{ball.speed}", "{ball.spe|>ed}"), {
    signature: "Ball.speed: Float",
    kind: "field",
    documentation: "How fast.",
  });
  check(inMain("Hit(strength: s)", "H|>it(strength: s)"), { signature: "Event.Hit(strength: Float)" });
  check(inMain("use physics", "use phys|>ics"), {
    signature: "module physics",
    documentation: "How things fall.",
  });
  check(inMain("[1.0, 2.0]", "|>[1.0, 2.0]"), { kind: "expression", type: "List[Float]" });
  check(inMain("T: Ord", "T: Or|>d"), { kind: "interface", module: "std.prelude" });
});

Deno.test("hover() and definitions() work in a declaration with a syntax error, and in one that is not written to its end", () => {
  const broken = inMain("let event = ball.fall(", "let other = (1 + \n    let event = ball.fa|>ll(");
  const { service, place } = of(broken);
  assert.equal(service.hover(place)?.name, "fall");
  assert.equal(service.definitions(place)[0]?.file.path, "src/physics.lang");
  const open = of(inMain("  0\n}", "  ball.sp|>eed.\n}"));
  assert.equal(open.service.hover(open.place)?.name, "speed");
});

Deno.test("look-ups work within the library's sources", () => {
  const service = new SymbolLookups().of(TEXTS);
  const path = "std:option";
  const { text = "" } = librarySource(path) ?? {};
  const place = { path, offset: text.indexOf("Option.unwrap_or") + 8 };
  assert.match(service.hover(place)?.signature ?? "", /^fn Option\.unwrap_or\[T\]\(self: Option\[T\], /);
  const some = { path, offset: text.indexOf("Some(value) =>") };
  const [home] = service.definitions(some);
  assert.equal(home?.file.path, path);
  assert.equal(text.slice(home.span.start, home.span.end), "Some");
  assert.ok((service.references(some)?.references.length ?? 0) > 5);
  assert.ok(service.symbols({ path }).some(({ name }) => name === "Option.map"));
  assert.ok(service.semanticNames(path).length > 100);
  assert.equal(service.rename(place, "or").kind, "refused");
  assert.deepEqual(service.complete(place).items, []);
  assert.equal(service.hover({ path: "std:nothing", offset: 0 }), null);
});

Deno.test("offsetAt() counts columns in code points", () => {
  const file = new SourceFile("src/main.lang", 'let a = "😀é"\nlet b = 2\n');
  assert.equal(offsetAt(file, 1, 10), 9);
  assert.equal(offsetAt(file, 1, 11), 11);
  assert.equal(offsetAt(file, 2, 1), 14);
  assert.equal(offsetAt(file, 2, 11), null);
  assert.equal(offsetAt(file, 5, 1), null);
  assert.equal(offsetAt(file, 1, 0), null);
});

Deno.test("look-ups of one package after another are those of the texts that were given last", () => {
  const lookups = new SymbolLookups();
  const first = lookups.of(TEXTS);
  assert.equal(lookups.of(new Map(TEXTS)), first);
  const longer = new Map(TEXTS).set("src/physics.lang", `// A line more.\n${PHYSICS}`);
  const place = { path: "src/main.lang", offset: MAIN.indexOf("resting") };
  const lineOf = (service: SymbolService) => {
    const [found] = service.definitions(place);
    return found === undefined ? null : found.file.positionOf(found.span).line;
  };
  assert.equal(lineOf(first), 27);
  assert.equal(lineOf(lookups.of(longer)), 28);
  const renamed = new Map(TEXTS).set("src/physics.lang", PHYSICS.replaceAll("resting", "still"));
  assert.deepEqual(lookups.of(renamed).definitions(place), []);
  assert.equal(lineOf(lookups.of(TEXTS)), 27);
});

Deno.test("symbols() lists declarations with their parts, those that fit a query best first", () => {
  const service = new SymbolLookups().of(TEXTS);
  assert.deepEqual(
    service.symbols({ path: "src/physics.lang" }).map(({ name, kind, isPublic }) =>
      `${kind} ${name} ${isPublic}`
    ),
    [
      "record Ball true",
      "union Event true",
      "constant gravity true",
      "method Ball.fall true",
      "function resting true",
    ],
  );
  const [ball] = service.symbols({ path: "src/physics.lang" });
  assert.deepEqual(ball?.children.map(({ name, signature }) => `${name} | ${signature}`), [
    "x | x: Float",
    "y | y: Float",
    "speed | speed: Float",
  ]);
  assert.deepEqual(service.symbols({ query: "ball" }).map(({ name }) => name).slice(0, 2), [
    "Ball",
    "Ball.fall",
  ]);
  assert.deepEqual(service.symbols({ query: "sst" }).map(({ name }) => name), ["strongest"]);
});

Deno.test("inlayTypes() gives types and effects that are not written", () => {
  const text = `use physics\n\nfn twice(n: Int) { n * 2 }\n\nfn shout(text: String) { print(text) }\n
pub fn main(args: List[String]) -> Int uses Log {
  let count = args.len()
  var (a, b) = (1, 2.0)
  for arg in args { shout(arg) }
  let f = fn(x) { x + count }
  f(twice(count))
}
`.replace("var (a, b)", "let (_a, _b)");
  const service = new SymbolLookups().of(new Map(TEXTS).set("src/main.lang", text));
  const shown = service.inlayTypes("src/main.lang").toReversed().reduce(
    (at, { offset, text }) => `${at.slice(0, offset)}«${text}»${at.slice(offset)}`,
    text,
  );
  assert.equal(
    shown,
    text.replace("(n: Int) {", "(n: Int)« -> Int» {")
      .replace("(text: String) {", "(text: String)« uses Log» {")
      .replace("let count =", "let count«: Int» =")
      .replace("(_a, _b)", "(_a«: Int», _b«: Float»)")
      .replace("for arg in", "for arg«: String» in")
      .replace("let f = fn(x)", "let f«: fn(Int) -> Int» = fn(x«: Int»)"),
  );
});

Deno.test("semanticNames() covers every name of Pong once, without overlaps", () => {
  const sources = new Map([...newPackageFiles("pong", "game")].filter(([path]) => path.endsWith(".lang")));
  const service = new SymbolLookups().of(sources);
  for (const [path, text] of sources) {
    const names = service.semanticNames(path);
    for (const [index, { span }] of names.entries()) {
      assert.ok(
        index === 0 || (names[index - 1]?.span.end ?? 0) <= span.start,
        text.slice(span.start, span.end),
      );
    }
    const covered = new Set(names.map(({ span }) => span.start));
    // Every word that is no keyword, outside of texts and comments, is a name.
    const code = text.replace(/\/\/.*/g, (comment) => " ".repeat(comment.length))
      .replace(
        /"(?:[^"\\{]|\\.|\{[^}]*\})*"/g,
        (string) => string.replace(/[^{}]+(?=\{|$)|"/g, (part) => " ".repeat(part.length)),
      );
    const words = [...code.matchAll(/\b[A-Za-z_][A-Za-z0-9_]*\b/g)].filter(({ 0: word }) =>
      !/^(use|const|type|pub|fn|inout|uses|let|var|if|else|match|for|in|and|or|not|return|true|false|test|property|_|expect|Draw|Audio)$/
        .test(word)
    );
    const missing = words.filter(({ index, 0: word }) =>
      !covered.has(index) && !/^(std|web)$/.test(word) && !/use \w+\.$/.test(code.slice(0, index))
    );
    assert.deepEqual(
      missing.map(({ 0: word, index }) => `${word} ${text.slice(0, index).split("\n").length}`),
      [],
    );
  }
});
