/** Matches: what they miss, and what is never reached. */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "./package_analysis.ts";

const analyzer = new PackageAnalyzer();

/** The texts in backquotes of what is missing, and the lines of the arms that are never reached. */
function check(
  type: string,
  arms: readonly string[],
  missing: readonly string[],
  unreachable: readonly number[] = [],
) {
  const source = `type Shape = Circle(Int) | Box(width: Int, height: Bool) | Dot
type Tree = Leaf | Node(Tree, Int, Tree)
type Point = { x: Bool, y: Bool }
pub fn f(value: ${type}) -> Int {
  match value {
${arms.map((arm, index) => `    ${arm} => ${index}`).join("\n")}
  }
}
`;
  const { diagnostics } = analyzer.analyze(new Map([["src/main.lang", source]]));
  const others = diagnostics.filter(({ code }) =>
    code !== "MX0001" && code !== "MX0002" && !code.startsWith("LI")
  );
  assert.deepEqual(others.map(({ message }) => message), []);
  const found = diagnostics.find(({ code }) => code === "MX0001");
  // The fix that adds the cases names all of them.
  const texts = found?.fixes[0]?.edits[0]?.text.trim().split("\n").map((line) =>
    line.trim().replace(/ => .*/, "")
  );
  assert.deepEqual(texts ?? [], missing, type);
  if (missing.length === 0) {
    const lines = diagnostics.filter(({ code }) => code === "MX0002")
      .map(({ file, span }) => file.positionOf(span).line - 6);
    assert.deepEqual(lines, unreachable);
  }
}

Deno.test("unions need all of their variants", () => {
  check("Shape", ["Circle(_)", "Box(..)", "Dot"], []);
  check("Shape", ["Circle(_)"], ["Box(_, _)", "Dot"]);
  check("Shape", ["Circle(0)", "Box(height: true, ..)", "Dot"], ["Circle(_)", "Box(_, false)"]);
  check("Shape", ["Circle(_) | Dot", "Box(1, _)"], ["Box(_, _)"]);
  check("Tree", ["Leaf", "Node(Leaf, _, Leaf)"], [
    "Node(Leaf, _, Node(_, _, _))",
    "Node(Node(_, _, _), _, _)",
  ]);
  check("Option[Option[Int]]", ["Some(Some(_))", "None"], ["Some(None)"]);
});

Deno.test("numbers and characters need all of their ranges", () => {
  check("Int", ["0", "_"], []);
  check("Int", ["0..10", "20..=30"], ["_"]);
  check("Int", ["-2147483648..=0", "1..=2147483647"], []);
  check("Int", ["-2147483648..=0", "2..=2147483647"], ["1"]);
  check("Int", ["-2147483648..=0", "5..=2147483647"], ["1..=4"]);
  check("(Point, Int)", ["(Point { x: true, .. }, _)", "(_, 1)"], ["(Point { x: false, .. }, _)"]);
  check("Char", ["'a'..='z'"], ["_"]);
  check("Int64", ["-2147483648..=2147483647"], ["_"]);
});

Deno.test("texts and floats never end", () => {
  check("String", ['"a"', '"b"'], ["_"]);
  check("Float", ["0.0", "_"], []);
  check("(String, Bool)", ['("a", true)', "(_, false)"], ["(_, true)"]);
});

Deno.test("tuples and records multiply", () => {
  check("(Bool, Bool)", ["(true, _)", "(_, true)"], ["(false, false)"]);
  check("Point", ["Point { x: true, .. }", "Point { y: true, .. }"], ["Point { x: false, y: false }"]);
  check("(Bool, Option[Bool])", ["(true, None)", "(false, Some(true))"], [
    "(true, Some(_))",
    "(false, Some(false))",
    "(false, None)",
  ]);
});

Deno.test("lists need all of their lengths", () => {
  check("List[Int]", ["[]", "[_, ..]"], []);
  check("List[Int]", ["[]", "[_]", "[_, _, ..rest]"], []);
  check("List[Int]", ["[]", "[_, _, ..]"], ["[_]"]);
  check("List[Bool]", ["[]", "[true, ..]"], ["[false, ..]"]);
});

Deno.test("guards promise nothing", () => {
  check("Bool", ["true if 1 < 2", "false"], ["true"]);
  check("Int", ["n if n > 0", "n if n <= 0"], ["_"]);
});

Deno.test("arms that earlier ones take are told", () => {
  check("Int", ["0", "1", "0", "_"], [], [2]);
  check("Int", ["_", "1"], [], [1]);
  check("Int", ["0..=9", "3..=5", "5..=12", "_"], [], [1]);
  check("(Bool, Bool)", ["(true, _)", "(_, true)", "(false, false)", "(true, true)"], [], [3]);
  check("List[Int]", ["[_, ..]", "[1, 2]", "[]"], [], [1]);
  check("String", ['"a"', '"a"', "_"], [], [1]);
  check("Int", ["n if n > 0", "5", "_"], [], []);
});

Deno.test("large matches are decided in bounded time", () => {
  const columns = 12;
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, at) => at === index ? "true" : "_").join(", ")})`;
  const type = `(${Array(columns).fill("Bool").join(", ")})`;
  const arms = Array.from({ length: columns }, (_, index) => row(index));
  check(type, [...arms, "_"], []);
});
