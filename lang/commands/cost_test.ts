/** What functions cost: bounds are formulas, and never below what is measured. */
import assert from "node:assert/strict";
import { MemoryFiles } from "../package/package_files.ts";
import { type FunctionCost, measureCost } from "./cost.ts";
import { Workspace } from "./workspace.ts";

async function costOf(source: string) {
  const files = new MemoryFiles([["project.toml", 'name = "p"\n'], ["src/main.lang", source]]);
  const { program, diagnostics } = new Workspace(files).check();
  assert.ok(program !== null, diagnostics.map(({ message }) => message).join("\n"));
  const report = await measureCost(program);
  const functions = new Map(report.functions.map((each) => [each.name.replace("main.", ""), each]));
  return { report, functions };
}

function at(functions: ReadonlyMap<string, FunctionCost>, name: string): FunctionCost {
  const found = functions.get(name);
  assert.ok(found !== undefined, name);
  return found;
}

/** The value of a formula for sizes. */
function valueOf(formula: string, sizes: Readonly<Record<string, number>>): number {
  return formula.split(" + ").reduce((sum, term) =>
    sum + term.split("·").reduce((product, factor) => {
      const value = sizes[factor] ?? Number(factor);
      assert.ok(Number.isFinite(value), `${factor} of ${formula}`);
      return product * value;
    }, 1), 0);
}

Deno.test("measureCost(): loops over ranges and lists are bounded by formulas that hold", async () => {
  const { functions } = await costOf(`
pub fn triangle(n: Int) -> Int {
  var t = 0
  for i in 0..n { for j in 0..=i { t += j } }
  t
}
pub fn total(xs: List[Int]) -> Int {
  var t = 0
  for x in xs { t += x }
  t
}
pub fn both(xs: List[Int], n: Int) -> Int {
  var t = 0
  for _ in 0..n { t += total(xs) }
  if t > 100 { triangle(10) } else { t }
}
pub fn raise(xs: inout List[Int]) {
  for inout x in xs { x += 1 }
}
test "a" {
  expect(triangle(20) > 0)
  var xs = [1, 2, 3, 4, 5, 6, 7]
  expect(both(xs, 9) > 0)
  let before = xs
  raise(&xs)
  expect(before != xs)
}
`);
  const check = (name: string, sizes: Readonly<Record<string, number>>) => {
    const { bound, measured } = at(functions, name);
    assert.ok(bound !== null && measured !== null, name);
    const limit = valueOf(bound, sizes);
    assert.ok(limit >= measured.maximum, `${name}: ${bound} is ${limit}, measured ${measured.maximum}`);
    assert.ok(limit < 6 * measured.maximum, `${name}: ${bound} is far above ${measured.maximum}`);
  };
  check("triangle", { n: 20 });
  check("total", { "len(xs)": 7 });
  check("both", { "len(xs)": 7, n: 9 });
  check("raise", { "len(xs)": 7 });
  assert.deepEqual(at(functions, "raise").copies.map(({ line }) => line), [18]);
});

Deno.test("measureCost(): recursion, other loops and function values are unbounded, with the place", async () => {
  const { functions, report } = await costOf(`
pub fn down(n: Int) -> Int {
  if n == 0 { 0 } else { 1 + down(n - 1) }
}
pub fn halves(n: Int) -> Int {
  var k = n
  while k > 1 { k /= 2 }
  k
}
pub fn from_below(n: Int) -> Int {
  var t = 0
  for i in n..10 { t += i }
  t
}
pub fn twice(f: fn(Int) -> Int) -> Int { f(f(1)) }
test "b" { expect(down(5) == 5 and halves(9) == 1 and from_below(8) == 17 and twice(down) == 1) }
test "c" {
  let xs = [1, 2, 3].map(fn(x) { x + down(1) })
  expect(xs.len() == 3)
}
`);
  const reasonOf = (name: string) => {
    const { bound, unbounded } = at(functions, name);
    assert.equal(bound, null, name);
    return `${unbounded?.place?.line} ${unbounded?.reason}`;
  };
  assert.equal(reasonOf("down"), "3 calls itself");
  assert.equal(reasonOf("halves"), "7 a loop of unknown length");
  assert.equal(reasonOf("from_below"), "12 a loop of unknown length");
  assert.equal(reasonOf("twice"), "15 a function value is called");
  assert.ok((at(functions, "down").measured?.calls ?? 0) > 6);
  assert.ok(report.heapHighWater > 0);
  assert.equal(report.tests, 2);
});
