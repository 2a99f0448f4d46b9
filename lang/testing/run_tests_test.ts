/** Tests of programs: what passes, what fails and what is told of it. */
import assert from "node:assert/strict";
import { MemoryFiles } from "../package/package_files.ts";
import { test } from "../commands/tests.ts";
import { Workspace } from "../commands/workspace.ts";
import { renderResults } from "./report.ts";
import type { TestResult } from "./test_result.ts";

function workspaceOf(source: string): { readonly workspace: Workspace; readonly files: MemoryFiles } {
  const files = new MemoryFiles([["project.toml", 'name = "p"\n'], ["src/main.lang", source]]);
  return { workspace: new Workspace(files), files };
}

async function resultsOf(
  source: string,
  options: Parameters<typeof test>[1] = {},
): Promise<readonly TestResult[]> {
  const outcome = await test(workspaceOf(source).workspace, { seed: 1, ...options });
  assert.ok(outcome.results !== null, outcome.diagnostics.map(({ message }) => message).join("\n"));
  return outcome.results;
}

async function check(
  source: string,
  expected: string,
  options: Parameters<typeof test>[1] = {},
): Promise<void> {
  assert.equal(renderResults(await resultsOf(source, options), { seed: 1 }), expected);
}

Deno.test("test: what holds passes and gives its memory back", async () => {
  const results = await resultsOf(`
test "lists" {
  var xs = [1, 2]
  xs.push(3)
  expect(xs == [1, 2, 3])
  print("{xs}")
}
`);
  assert.deepEqual(
    results.map(({ isPassed, heapBytesLeft, output }) => ({ isPassed, heapBytesLeft, output })),
    [
      { isPassed: true, heapBytesLeft: 0, output: "[1, 2, 3]\n" },
    ],
  );
});

Deno.test("test: a comparison that does not hold shows both sides", async () => {
  await check(
    `
type P = { x: Int }
test "sides" {
  print("before")
  expect(P { x: 1 } == P { x: 2 })
}
`,
    `FAIL test "sides" src/main.lang:3:6
  does not hold: P { x: 1 } == P { x: 2 } (src/main.lang:5:3)
   left: P { x: 1 }
  right: P { x: 2 }
  it printed:
    before

0 passed, 1 failed
`,
  );
});

Deno.test("test: long values are compared line by line", async () => {
  await check(
    `
type Ball = { x: Int, name: String }
test "balls" {
  let balls = [Ball { x: 1, name: "the first of the balls" }, Ball { x: 2, name: "the second" }]
  expect(balls == [Ball { x: 1, name: "the first of the balls" }, Ball { x: 3, name: "the second" }])
}
`,
    `FAIL test "balls" src/main.lang:3:6
  does not hold: balls == [Ball { x: 1, name: "the first of the balls" }, Ball { x: 3, name: "the second" }] (src/main.lang:5:3)
  - right, + left
    [
      Ball { x: 1, name: "the first of the balls" },
  -   Ball { x: 3, name: "the second" },
  +   Ball { x: 2, name: "the second" },
    ]

0 passed, 1 failed
`,
  );
});

Deno.test("test: a trap is told with its source line", async () => {
  await check(
    `
fn third(xs: List[Int]) -> Int {
  xs[2]
}
test "trap" { expect(third([1]) == 1) }
test "panic" { panic("no more") }
`,
    `FAIL test "trap" src/main.lang:5:6
  Cannot take the element: index 2 of a list of 1 element (src/main.lang:3:3)
    xs[2]

FAIL test "panic" src/main.lang:6:6
  no more (src/main.lang:6:16)
    test "panic" { panic("no more") }

0 passed, 2 failed
`,
  );
});

Deno.test("test: properties are made small, by the same seed in the same way", async () => {
  const source = `
type Shape = Circle(Int) | Group(List[Shape])
fn Shape.count(self: Shape) -> Int {
  match self {
    Circle(_) => 1
    Group(shapes) => shapes.map(fn(shape) { shape.count() }).sum()
  }
}
property "small" (x: Int, text: String) { expect(x < 100 or text.is_empty()) }
property "few" (shape: Shape) { expect(shape.count() < 2) }
property "holds" (xs: List[Int], map: Map[Int, Bool], pair: (Float, Option[Char])) {
  expect(xs.map(fn(x) { x }) == xs)
  expect(map == map and pair.1 == pair.1)
}
`;
  await check(
    source,
    `FAIL property "small" src/main.lang:9:10
  with x = 100
  with text = "a"
  does not hold: x < 100 or text.is_empty() (src/main.lang:9:43)
  failed at try 3; \`lang test --seed 1\` repeats it

FAIL property "few" src/main.lang:10:10
  with shape = Group([Circle(0), Circle(0)])
  does not hold: shape.count() < 2 (src/main.lang:10:33)
   left: 2
  right: 2
  failed at the first try; \`lang test --seed 1\` repeats it

1 passed, 2 failed
`,
  );
  assert.deepEqual(await resultsOf(source), await resultsOf(source));
  assert.equal((await resultsOf(source))[2]?.tries, 100);
});

Deno.test("test: examples and evals, by kind and by name", async () => {
  const source = `
/// Twice as much.
///
/// \`\`\`
/// expect(double(2) == 4)
/// \`\`\`
pub fn double(x: Int) -> Int { x * 2 }

test "other" { expect(double(3) == 6) }

eval "scores" threshold 0.5 {
  case "right" => double(1) == 2
  case "half" => 0.25
  case "wrong" => panic("none")
}
`;
  assert.deepEqual((await resultsOf(source)).map(({ kind, name }) => `${kind} ${name}`), [
    "example double",
    "test other",
  ]);
  assert.deepEqual((await resultsOf(source, { filter: "oth" })).map(({ name }) => name), ["other"]);
  await check(
    source,
    `FAIL eval "scores" src/main.lang:11:6
       1  right
    0.25  half
    trap  wrong: none
  mean 0.417, threshold 0.5

0 passed, 1 failed
`,
    { evals: true },
  );
});

Deno.test("test: --update writes snapshots, several in one test, and then they hold", async () => {
  const { workspace, files } = workspaceOf(`test "snapshots" {
  expect_snapshot([1, 2], "")
  expect_snapshot("say \\"hi\\" \\{ x", "old")
  expect_snapshot("one\\n  two\\n", "")
}
`);
  assert.equal((await test(workspace)).isPassed, false);
  const updated = await test(workspace, { update: true });
  assert.deepEqual([updated.isPassed, updated.updatedPaths], [true, ["src/main.lang"]]);
  assert.equal(
    files.read("src/main.lang"),
    `test "snapshots" {
  expect_snapshot([1, 2], "[1, 2]")
  expect_snapshot("say \\"hi\\" \\{ x", "say \\"hi\\" \\{ x")
  expect_snapshot("one\\n  two\\n", """
    one
      two
    """)
}
`,
  );
  assert.deepEqual((await test(workspace, { update: true })).updatedPaths, []);
});
