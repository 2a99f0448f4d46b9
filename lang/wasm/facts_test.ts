/**
 * Checks that are left out because branches tell more, lengths that are loaded once for a loop, and constants that
 * are worked out once.
 */
import assert from "node:assert/strict";
import { compile } from "../compiler/compile.ts";
import { checkSource, runSource } from "./testing.ts";

function textOf(source: string): string {
  const { program, exports } = checkSource(source);
  return compile(program, { target: "core", exports, wantsText: true }).text ?? "";
}

/** The intermediate representation of one function of a source. */
function bodyOf(source: string, name: string): string {
  const found = new RegExp(`^fn main\\.${name}\\([^]*?^}`, "m").exec(textOf(source));
  if (found === null) throw new Error(`Cannot find ${name} in the text of the module`);
  return found[0];
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

const REVERSE = `
pub fn reversed(list: List[Int], up_to: Int) -> List[Int] {
  var result = list
  var low = 0
  var high = up_to
  while low < high {
    let moved = result[low]
    result[low] = result[high]
    result[high] = moved
    low += 1
    high -= 1
  }
  result
}

pub fn run(up_to: Int) -> Int { reversed([1, 2, 3, 4, 5, 6, 7, 8, 9], up_to).fold(0, fn(sum, n) { sum *% 10 +% n }) }
`;

Deno.test("a condition of a loop tells that its counters cannot overflow", () => {
  assert.equal(count(bodyOf(REVERSE, "reversed"), /"overflow"/g), 0);
  assert.equal(runSource(REVERSE).call("run", 8), 987_654_321);
  assert.match(String(runSource(REVERSE).trapOf("run", 9)), /^index 8:/);
});

Deno.test("the length of a list that a loop does not resize is loaded once before it", () => {
  const body = bodyOf(REVERSE, "reversed");
  assert.equal(count(body, /i32\.load\(result\.\d+\+4\)/g), 1, body);
  assert.ok(body.indexOf("result.length") < body.indexOf("loop"), body);
  const growing = `
pub fn run(n: Int) -> Int {
  var list = [n]
  for i in 0..n { if i + 1 == list.len() { list.push(list[i] +% 1) } }
  list[n]
}
`;
  assert.equal(count(bodyOf(growing, "run"), /length\.\d+: i32 = i32\.load/g), 0);
  assert.equal(runSource(growing).call("run", 5), 10);
});

Deno.test("sums overflow where no branch tells that they fit", () => {
  const source = `
pub fn below(n: Int, limit: Int) -> Int { if n < limit { n + 1 } else { 0 } }
pub fn at_most(n: Int, limit: Int) -> Int { if n <= limit { n + 1 } else { 0 } }
pub fn after(n: Int, limit: Int) -> Int { if n > limit { n - 1 } else { 0 } }
pub fn twice(n: Int, limit: Int) -> Int { if n < limit { n + 2 } else { 0 } }
pub fn changed(n: Int, limit: Int) -> Int {
  var at = n
  if at < limit {
    at = limit
    return at + 1
  }
  0
}
pub fn wrapped(n: Int, limit: Int) -> Int {
  let sum = n +% limit
  if sum < n { 1 } else { 2 }
}
`;
  const running = runSource(source);
  const [least, most] = [-2147483648, 2147483647];
  for (
    const [name, checks] of [["below", 0], ["after", 0], ["at_most", 1], ["twice", 1], [
      "changed",
      1,
    ]] as const
  ) {
    assert.equal(count(bodyOf(source, name), /"overflow"/g), checks, name);
  }
  assert.equal(running.call("below", most - 1, most), most);
  assert.equal(running.call("after", least + 1, least), least);
  assert.match(String(running.trapOf("at_most", most, most)), /^overflow 3:/);
  assert.match(String(running.trapOf("twice", most - 1, most)), /^overflow 5:/);
  assert.match(String(running.trapOf("changed", 1, most)), /^overflow 10:/);
  assert.equal(running.call("wrapped", most, 1), 1);
  assert.equal(running.call("wrapped", 1, 1), 2);
});

Deno.test("the element before one that is inside is inside", () => {
  const source = `
pub fn run(n: Int) -> Int {
  var list = [1, 2, 3, 4]
  for i in 0..n { list[i] = list[i + 1] }
  list[0] * 1000 + list[1] * 100 + list[2] * 10 + list[3]
}
`;
  const loop = /loop for \{[^]*?branch for/.exec(bodyOf(source, "run"))?.[0] ?? "";
  assert.equal(count(loop, /"index"/g), 1, loop);
  assert.equal(runSource(source).call("run", 3), 2344);
  assert.match(String(runSource(source).trapOf("run", 4)), /^index 4:/);
});

const CONSTANTS = `
const squares: List[Int] = List.generate(5, fn(n) { n * n })
const names: Map[String, List[Int]] = Map.from_list([("a", squares), ("b", squares.reversed())])
const limit: Int = squares.fold(0, fn(sum, n) { sum + n })
const gravity: Float = 9.8 * 2.0
const fixed: List[String] = ["x", "y"]
const outside: Int = squares[5]

pub fn sum(rounds: Int) -> Int {
  var sum = 0
  for i in 0..rounds { sum += squares[i % 5] + names["b"][i % 5] + limit }
  sum
}
pub fn changed() -> Int {
  var own = squares
  own[0] = 7
  own.push(1)
  own[0] + squares[0] + squares.len()
}
pub fn plain() -> Float { gravity + fixed.len().to_float() }
pub fn beyond() -> Int { outside }
`;

Deno.test("a constant that calls functions is worked out once and leaves the heap as it was", () => {
  const running = runSource(CONSTANTS);
  for (let round = 0; round < 3; round++) {
    assert.equal(running.call("sum", 5), 5 * 30 + 30 + 30);
    assert.equal(running.call("changed"), 7 + 0 + 5);
    assert.equal(running.heapBytes, 0);
  }
  const text = textOf(CONSTANTS);
  assert.equal(count(text, /= main\.squares\(\)/g), 1, "one place works it out");
  assert.doesNotMatch(text, /fn main\.(gravity|fixed)\(/);
  assert.equal(running.call("plain"), 21.6);
});

Deno.test("a constant that traps does so where it is used, as often as it is", () => {
  const running = runSource(CONSTANTS);
  assert.match(String(running.trapOf("beyond")), /^index 7:/);
  assert.match(String(running.trapOf("beyond")), /^index 7:/);
});
