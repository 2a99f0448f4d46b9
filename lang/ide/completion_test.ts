/** What is offered at places of a program, most of which nobody has written to the end. */
import { strict as assert } from "node:assert";
import { applyToFiles } from "../diagnostics/edits.ts";
import { SymbolLookups } from "./lookups.ts";
import type { CompletionItem, SignatureHelp } from "./symbol_service.ts";

const PHYSICS = `pub type Ball = { x: Float, y: Float }

pub type Event = Nothing | Hit(strength: Float)

pub const gravity: Float = 9.8

pub fn Ball.fall(self: inout Ball, by: Float) -> Event {
  self.y += by
  Nothing
}

pub fn Ball.resting(x: Float) -> Ball {
  Ball { x: x, y: 0.0 }
}

fn hidden() -> Int { 1 }
pub fn seen() -> Int { hidden() }
`;

const HEAD = `use physics

fn bounce(ball: inout Ball, height: Float) -> Event {
  ball.fall(height)
}

`;

function at(text: string): { readonly items: readonly CompletionItem[]; readonly span: string } {
  const offset = text.indexOf("|>");
  assert.ok(offset >= 0, text);
  const main = text.replace("|>", "");
  const texts = new Map([["src/main.lang", main], ["src/physics.lang", PHYSICS]]);
  const place = { path: "src/main.lang", offset };
  const { span, items } = new SymbolLookups().of(texts).complete(place);
  // While text is typed, less is analyzed, and the same is offered.
  const lookups = new SymbolLookups();
  const earlier = main.slice(0, span.start) + main.slice(span.end);
  lookups.of(new Map(texts).set("src/main.lang", earlier)).semanticNames("src/main.lang");
  const later = lookups.of(texts).complete(place);
  assert.deepEqual(plainly(later.items), plainly(items), text);
  assert.deepEqual(later.span, span, text);
  return { items, span: main.slice(span.start, span.end) };
}

function plainly(items: readonly CompletionItem[]): readonly unknown[] {
  return items.map((item) => ({ ...item, edits: item.edits.map(({ span, text }) => ({ span, text })) }));
}

/** The first labels, as many as are expected. */
function check(text: string, expected: readonly string[]): void {
  assert.deepEqual(at(text).items.slice(0, expected.length).map(({ label }) => label), expected, text);
}

/** All labels. */
function checkAll(text: string, expected: readonly string[]): void {
  assert.deepEqual(at(text).items.map(({ label }) => label), expected, text);
}

function inFunction(body: string): string {
  return `${HEAD}fn play(ball: Ball, event: Event, pair: (Int, String)) -> Float {\n${body}\n}\n`;
}

Deno.test("complete() behind a dot gives fields and methods of the value, whatever stands behind", () => {
  check(inFunction("  ball.|>"), ["x", "y", "fall"]);
  check(inFunction("  ball.|>\n  ball.x"), ["x", "y", "fall"]);
  check(inFunction("  let a = ball.|>\n  let b = 1.0\n  b"), ["x", "y", "fall"]);
  check(inFunction("  if ball.|> { 1.0 } else { 2.0 }"), ["x", "y", "fall"]);
  check(inFunction("  max(ball.|>"), ["x", "y", "fall"]);
  check(inFunction("  (ball.x + 1.0).ab|>"), ["abs"]);
  check(inFunction("  pair.|>"), ["0", "1"]);
  check(inFunction('  "a text {ball.|>}"'), ["x", "y", "fall"]);
  check(inFunction("  ball.f|>"), ["fall"]);
  check(inFunction("  var xs = [ball]\n  xs[0].|>"), ["x", "y", "fall"]);
  check(inFunction("  [1, 2].pu|>"), ["push"]);
});

Deno.test("complete() behind a module or type gives what it exports", () => {
  checkAll(inFunction("  physics.|>"), ["gravity", "seen", "Ball", "Event"]);
  check(inFunction("  Ball.|>"), ["resting", "fall"]);
  check(inFunction("  Event.|>"), ["Hit", "Nothing"]);
});

Deno.test("complete() behind use gives modules of the package and of the library", () => {
  check("use |>\n", ["physics", "host.process", "std.json"]);
  check("use web.c|>\n", ["web.canvas"]);
  const { span } = at("use web.c|>\n");
  assert.equal(span, "web.c");
});

Deno.test("complete() in a match gives the variants of what is looked at", () => {
  check(inFunction("  match event {\n    |>\n  }"), ["Hit", "Nothing", "_"]);
  check(inFunction("  match event {\n    Nothing => 1.0\n    H|>\n  }"), ["Hit"]);
  check(inFunction("  match event {\n    Nothing => 1.0\n    |> => 2.0\n  }"), ["Hit", "Nothing", "_"]);
  check(inFunction("  if let |> = event { 1.0 } else { 2.0 }"), ["Hit", "Nothing"]);
  const hit = at(inFunction("  match event {\n    |>\n  }")).items[0];
  assert.equal(hit?.text, "Hit(${1:strength})");
});

Deno.test("complete() in a record gives the fields that are not given yet", () => {
  checkAll(inFunction("  Ball { |>, x: 1.0 }"), ["y"]);
  check(inFunction("  Ball { x: 1.0, |> }"), ["y"]);
  check(inFunction("  let Ball { x, |> } = ball\n  x"), ["y"]);
});

Deno.test("complete() among arguments gives the names of parameters as well", () => {
  const labels = at(inFunction("  Ball.resting(|>)")).items.map(({ label }) => label);
  assert.ok(labels.includes("x:"), labels.join(" "));
  assert.ok(labels.includes("ball"), labels.join(" "));
});

Deno.test("complete() gives what is in scope, nearest first", () => {
  check(inFunction("  let near = 1.0\n  for step in 0..3 { |> }\n  near"), [
    "ball",
    "event",
    "near",
    "pair",
    "step",
  ]);
  const early = at(inFunction("  |>\n  let later = 1.0\n  later")).items.map(({ label }) => label);
  assert.ok(!early.includes("later"));
  check(inFunction("  boun|>"), ["bounce"]);
  const bounce = at(inFunction("  boun|>")).items[0];
  assert.equal(bounce?.text, "bounce(&${1:ball}, ${2:height})");
  assert.equal(bounce?.detail, "fn bounce(ball: inout Ball, height: Float) -> Event");
  assert.equal(at(inFunction("  boun|>(&ball, 1.0)")).items[0]?.text, "bounce");
  check(inFunction("  whi|>"), ["while", "while"]);
});

Deno.test("complete() gives what has the wanted type first", () => {
  const wanted = "fn far(ball: Ball) -> Bool { ball.x > 100.0 }\n\n";
  check(`${wanted}${inFunction("  var last: Event = Nothing\n  last = |>\n  1.0")}`, [
    "Hit",
    "Nothing",
    "bounce",
    "event",
    "last",
  ]);
  check(`${wanted}${inFunction("  if |> { 1.0 } else { 2.0 }")}`, ["far"]);
  check(inFunction("  let height = 2.0\n  Ball.resting(|>)\n  height"), ["height", "play"]);
  check(inFunction("  let n = 2\n  let m: Int = ball.x.to_int() + |>\n  1.0"), ["n"]);
  check(inFunction("  let strength = 2\n  Ball { x: 1.0, y: ball.|> }\n  1.0"), ["x", "y"]);
});

Deno.test("complete() of a type gives types, with an import where one is needed", () => {
  check(`${HEAD}fn f(x: Ba|>) { }\n`, ["Ball"]);
  check(`${HEAD}fn f[Thing](x: Th|>) { }\n`, ["Thing"]);
  check(inFunction("  let a: Lis|> = [1]\n  1.0"), ["List"]);
  const json = at(`${HEAD}fn f(x: Json|>) { }\n`).items[0];
  assert.equal(json?.label, "Json");
  assert.deepEqual(
    [...applyToFiles(json?.edits ?? []).values()].map(({ after }) => after.split("\n").slice(0, 3)),
    [
      ["use physics", "use std.json", ""],
    ],
  );
});

Deno.test("complete() between declarations gives what begins one, behind uses effects, and in texts nothing", () => {
  check(`${HEAD}f|>\n`, ["fn", "fn"]);
  check(`${HEAD}fn f() uses |> { }\n`, ["Audio", "Draw"]);
  checkAll(inFunction('  print("ba|>")\n  1.0'), []);
  checkAll(inFunction("  // ba|>\n  1.0"), []);
  checkAll(inFunction("  12|>"), []);
});

Deno.test("signatureHelp() tells the call around a place and which parameter it is for", () => {
  const help = (text: string): SignatureHelp | null => {
    const offset = text.indexOf("|>");
    const texts = new Map([["src/main.lang", text.replace("|>", "")], ["src/physics.lang", PHYSICS]]);
    return new SymbolLookups().of(texts).signatureHelp({ path: "src/main.lang", offset });
  };
  const active = (text: string): string | null => {
    const found = help(text);
    const span = found?.parameters[found.active ?? -1];
    return found === null || span === undefined ? null : found.signature.slice(span.start, span.end);
  };
  assert.equal(active(inFunction("  bounce(|>")), "ball: inout Ball");
  assert.equal(active(inFunction("  bounce(&ball, |>)\n  1.0")), "height: Float");
  assert.equal(active(inFunction("  bounce(&ball, |>\n  let a = 1\n  1.0")), "height: Float");
  assert.equal(active(inFunction("  ball.fall(|>)\n  1.0")), "by: Float");
  assert.equal(active(inFunction("  Ball.fall(&ball, |>)\n  1.0")), "by: Float");
  assert.equal(active(inFunction("  let e = Hit(|>)\n  1.0")), "strength: Float");
  assert.equal(active(inFunction("  bounce(&ball, 1.0, |>)\n  1.0")), null);
  assert.equal(help(inFunction("  ball.|>x")), null);
});
