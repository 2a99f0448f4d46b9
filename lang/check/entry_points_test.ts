/** Entry points: what a target's host calls, and what it refuses. */
import assert from "node:assert/strict";
import { findEntryPoints, type Target } from "./entry_points.ts";
import { PackageAnalyzer } from "./package_analysis.ts";

const analyzer = new PackageAnalyzer();

function check(target: Target, source: string): string[] {
  const { program, diagnostics } = analyzer.analyze(new Map([["src/main.lang", source]]));
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  assert.ok(program !== null);
  const found = findEntryPoints(program, target);
  return [...found.functions.map(({ name }) => name), ...found.diagnostics.map(({ code }) => code)];
}

const game = `use web.canvas
use web.input

pub type State = { ticks: Int }

pub fn init(seed: Int) -> State {
  State { ticks: seed }
}

pub fn step(state: inout State, input: Input) {
  let _ = input
  state.ticks += 1
}

pub fn draw(state: State) uses Draw {
  let _ = state
  canvas.clear(Color.black)
}
`;

Deno.test("findEntryPoints() finds main of a command, with arguments or without", () => {
  assert.deepEqual(check("wasm32-wasi", "fn main() -> Int {\n  0\n}\n"), ["main"]);
  assert.deepEqual(check("wasm32-wasi", "fn main(args: List[String]) -> Int {\n  args.len()\n}\n"), ["main"]);
  assert.deepEqual(check("wasm32-wasi", "fn main() {}\n"), ["main", "TY0042"]);
  assert.deepEqual(check("wasm32-wasi", "fn main(n: Int) -> Int {\n  n\n}\n"), ["main", "TY0042"]);
  assert.deepEqual(check("wasm32-wasi", ""), ["TY0043"]);
});

Deno.test("findEntryPoints() finds init, step and draw of a page", () => {
  assert.deepEqual(check("wasm32-web", game), ["init", "step", "draw"]);
  assert.deepEqual(
    check(
      "wasm32-web",
      game.replace("state: inout State", "other: inout Int").replace("state.ticks += 1", "other += 1"),
    ),
    [
      "init",
      "step",
      "draw",
      "TY0042",
    ],
  );
  assert.deepEqual(check("wasm32-web", game.replace("pub fn draw", "pub fn paint")), [
    "init",
    "step",
    "TY0043",
  ]);
});

Deno.test("findEntryPoints() finds the functions of a database that take and give columns, without effects", () => {
  const source = `pub fn price(count: Int, unit: Float) -> Float {
  count.to_float() * unit
}

pub fn pair(n: Int) -> (Int, Int) {
  (n, n)
}
`;
  assert.deepEqual(check("wasm32-db", source), ["price"]);
  assert.deepEqual(check("wasm32-db", 'pub fn price(n: Int) -> Int uses Log {\n  print("{n}")\n  n\n}\n'), [
    "price",
    "EF0007",
  ]);
  assert.deepEqual(check("wasm32-db", "pub fn gas_left(n: Int) -> Int {\n  n\n}\n"), ["gas_left", "TY0047"]);
  const methods = "pub type Money = { n: Int }\n\npub fn Money.of(n: Int) -> Int {\n  n\n}\n";
  assert.deepEqual(check("wasm32-db", methods), ["of"]);
  assert.deepEqual(check("wasm32-db", methods.replace("pub type", "type")), ["TY0043"]);
  assert.deepEqual(check("wasm32-db", "pub fn pair(n: Int) -> (Int, Int) {\n  (n, n)\n}\n"), ["TY0042"]);
});
