/**
 * What the passes make of programs: counting that is left out, checks that are left out, arithmetic, the allocator,
 * places in the source map.
 */
import assert from "node:assert/strict";
import { sizeClass } from "../ir/allocator.ts";
import { compile } from "../compiler/compile.ts";
import { checkSource, RunningModule, runSource } from "./testing.ts";

/** The intermediate representation of one function of a source. */
function bodyOf(source: string, name: string): string {
  const { program, exports } = checkSource(source);
  const { text } = compile(program, { target: "core", exports, wantsText: true });
  const found = new RegExp(`^fn main\\.${name}\\([^]*?^}`, "m").exec(text ?? "");
  if (found === null) throw new Error(`Cannot find ${name} in the text of the module`);
  return found[0];
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

const TREES = `
type Tree = Leaf | Node(left: Tree, value: String, right: Tree)

pub fn size(n: Int) -> Int { make(n).size() }

fn make(depth: Int) -> Tree {
  if depth == 0 { Leaf } else { Node(make(depth - 1), "{depth}", make(depth - 1)) }
}

fn Tree.size(self: Tree) -> Int {
  match self {
    Leaf => 0
    Node(left, value, right) => left.size() + value.byte_len() + right.size()
  }
}

pub fn join(left: String, right: String) -> String { left + right }
pub fn keep(text: String) -> String { text }
pub fn pass(text: String) -> String {
  let a = join(text, "x")
  let b = a
  b
}
`;

Deno.test("looking at what a parameter holds counts nothing", () => {
  const body = bodyOf(TREES, "Tree.size");
  assert.equal(count(body, /retain|release/g), 0, body);
});

Deno.test("the last use moves, giving a parameter away counts once", () => {
  assert.equal(count(bodyOf(TREES, "pass"), /retain/g), 1);
  assert.equal(count(bodyOf(TREES, "pass"), /release/g), 0);
  assert.equal(count(bodyOf(TREES, "keep"), /retain/g), 1);
  assert.equal(count(bodyOf(TREES, "make"), /retain/g), 0);
});

Deno.test("a tree is given back as a whole", () => {
  const running = runSource(TREES);
  assert.equal(running.call("size", 10), 1023 + 1);
  assert.equal(running.heapBytes, 0);
});

Deno.test("a long chain of cells is given back without a stack", () => {
  const running = runSource(`
type Chain = End | Link(next: Chain, number: Int)
pub fn build(n: Int) -> Int {
  var chain = End
  for i in 0..n { chain = Link(chain, i) }
  match chain { Link(_, number) => number
    End => -1 }
}
`);
  assert.equal(running.call("build", 1_000_000), 999_999);
  assert.equal(running.heapBytes, 0);
});

Deno.test("indexes of loops over a list's length are not checked, blocks are made unique before the loop", () => {
  const source = `
pub fn total(n: Int) -> Int {
  var xs = List.filled(n, 10)
  for i in 0..xs.len() { xs[i] += i }
  var sum = 0
  for i in 0..xs.len() { sum += xs[i] }
  sum
}
pub fn any(n: Int) -> Int { [n, n, n][n] }
`;
  const body = bodyOf(source, "total");
  assert.equal(count(body, /"index"/g), 0, body);
  assert.equal(count(body, /unique/g), 1, body);
  assert.ok(body.indexOf("unique") < body.indexOf("loop"), body);
  assert.equal(count(bodyOf(source, "any"), /"index"/g), 1);
  assert.equal(runSource(source).call("total", 3), 75);
});

Deno.test("a list that the loop makes shorter is checked in each round", () => {
  const running = runSource(`
pub fn shrink(n: Int) -> Int {
  var xs = List.filled(1, n)
  var sum = 0
  for i in 0..xs.len() {
    sum += xs[i]
    if i == 2 { xs = [1, 2, 3] }
  }
  sum
}
`);
  assert.equal(running.call("shrink", 3), 3);
  assert.match(String(running.trapOf("shrink", 4)), /^index 6:/);
});

Deno.test("small functions and the closures that they are given are written in place", () => {
  const body = bodyOf(
    `
pub fn sum(n: Int) -> Int {
  let k = n + 1
  List.filled(2, n).fold(0, fn(sum, x) { sum + x * k })
}
`,
    "sum",
  );
  assert.equal(count(body, /indirect|closure/g), 0, body);
});

Deno.test("a constant that small functions make is a number", () => {
  const body = bodyOf(
    `
use web.canvas
pub fn color() -> Int { Color.rgb(255, 300, 16).rgba }
`,
    "color",
  );
  assert.match(body, /^[^\n]*\n(\s*\/\/[^\n]*\n)*\s*return -61185\n}$/, body);
});

Deno.test("what a list shares is copied before it is written", () => {
  const running = runSource(`
type Row = { cells: List[Int], name: String }
pub fn copies() -> Int {
  var rows = [Row { cells: [1, 2], name: "a{1}" }, Row { cells: [3], name: "b" }]
  let before = rows
  let cells = rows[0].cells
  rows[0].cells[1] = 9
  rows[1].name += "!"
  var more = rows
  more[1].cells.push(4)
  before[0].cells[1] * 1000 + cells[1] * 100 + rows[0].cells[1] * 10 + rows[1].cells.len()
}
`);
  assert.equal(running.call("copies"), 2291);
  assert.equal(running.heapBytes, 0);
});

Deno.test("the remainder of floats is exact", () => {
  const running = runSource("pub fn rem(a: Float, b: Float) -> Float { a % b }");
  const values = [
    0,
    -0,
    1,
    -1.5,
    0.1,
    5e-324,
    2.2250738585072014e-308,
    1e308,
    3,
    1e-310,
    7.25,
    Infinity,
    NaN,
    123456789.125,
  ];
  let seed = 7;
  for (let round = 0; round < 300; round++) {
    seed = Math.imul(seed, 1103515245) + 12345 | 0;
    values.push(seed * 2 ** (seed % 900));
  }
  for (const [index, a] of values.entries()) {
    const b = values[(index * 31 + 5) % values.length] ?? 1;
    for (const divisor of [b, 3, 0.1]) {
      assert.ok(Object.is(running.call("rem", a, divisor), a % divisor), `${a} % ${divisor}`);
    }
  }
});

Deno.test("integers trap when they do not fit, and only then", () => {
  const running = runSource(`
pub fn add(a: Int, b: Int) -> Int { a + b }
pub fn sub(a: Int, b: Int) -> Int { a - b }
pub fn mul(a: Int, b: Int) -> Int { a * b }
pub fn div(a: Int, b: Int) -> Int { a / b }
pub fn rem(a: Int, b: Int) -> Int { a % b }
pub fn next(a: Int, b: Int) -> Int { a + 1 - 2 * b }
pub fn add64(a: Int64, b: Int64) -> Int64 { a + b }
pub fn sub64(a: Int64, b: Int64) -> Int64 { a - b }
pub fn mul64(a: Int64, b: Int64) -> Int64 { a * b }
pub fn div64(a: Int64, b: Int64) -> Int64 { a / b }
`);
  const edges = [0n, 1n, -1n, 2n, -2n, 7n, -7n, 46341n, 65536n, 0x7fffffffn, -0x80000000n, 0x40000000n];
  const operations: [string, (a: bigint, b: bigint) => bigint | null][] = [
    ["add", (a, b) => a + b],
    ["sub", (a, b) => a - b],
    ["mul", (a, b) => a * b],
    ["div", (a, b) => b === 0n ? null : a / b],
  ];
  for (const bits of [32, 64]) {
    const wide = bits === 64 ? [...edges, (1n << 63n) - 1n, -(1n << 63n), 3037000500n, 1n << 32n] : edges;
    for (const [name, expected] of operations) {
      for (const a of wide) {
        for (const b of wide) {
          const exact = expected(a, b);
          const fits = exact !== null && BigInt.asIntN(bits, exact) === exact;
          const args = bits === 64 ? [a, b] as const : [Number(a), Number(b)] as const;
          const target = bits === 64 ? `${name}64` : name;
          if (fits) assert.equal(BigInt(String(running.call(target, ...args))), exact, `${a} ${name} ${b}`);
          else {assert.match(
              String(running.trapOf(target, ...args)),
              /^(overflow|division) /,
              `${a} ${name} ${b}`,
            );}
        }
      }
    }
  }
  assert.equal(running.call("rem", -2147483648, -1), 0);
  assert.match(String(running.trapOf("next", 2147483647, 0)), /^overflow/);
});

Deno.test("classes of the allocator hold their sizes, the module's like the compiler's", () => {
  const running = new RunningModule(
    compile(checkSource("pub fn f(text: String) -> Int { text.byte_len() }").program, {
      target: "wasm32-db",
    }),
  );
  let before = 0;
  for (let bytes = 1; bytes < 200_000; bytes = Math.ceil(bytes * 1.07)) {
    const { rounded } = sizeClass(bytes);
    assert.ok(rounded >= bytes && rounded % 8 === 0, `${bytes} in ${rounded}`);
    assert.ok(rounded <= 64 || rounded <= bytes * 1.25, `${bytes} in ${rounded}`);
    assert.equal(sizeClass(rounded).index, sizeClass(bytes).index);
    running.call("allocate", bytes);
    assert.equal(running.heapBytes - before, rounded, `${bytes}`);
    before = running.heapBytes;
  }
});

Deno.test("the source map leads from the code of a trap to its line", () => {
  const source = `
pub fn first(xs: Int) -> Int {
  let list = [xs]
  let more = xs + 1
  list[more]
}
`;
  const { program, exports } = checkSource(source);
  const compiled = compile(program, { target: "core", exports });
  const running = new RunningModule(compiled);
  let offset = -1;
  try {
    running.call("first", 5);
  } catch (error) {
    const place = /wasm-function\[\d+\]:0x([0-9a-f]+)/.exec(error instanceof Error ? error.stack ?? "" : "");
    offset = Number.parseInt(place?.[1] ?? "", 16);
  }
  const map = JSON.parse(compiled.sourceMap("main.wasm"));
  assert.deepEqual(map.sources, ["src/main.lang"]);
  const decode = (segment: string): number[] => {
    const numbers: number[] = [];
    let value = 0;
    let shift = 0;
    for (const character of segment) {
      const digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(character);
      value |= (digit & 31) << shift;
      shift += 5;
      if ((digit & 32) !== 0) continue;
      numbers.push((value & 1) !== 0 ? -(value >> 1) : value >> 1);
      value = 0;
      shift = 0;
    }
    return numbers;
  };
  let [column, line, found] = [0, 0, -1];
  for (const segment of String(map.mappings).split(",")) {
    const [columns = 0, , lines = 0] = decode(segment);
    column += columns;
    line += lines;
    if (column <= offset) found = line + 1;
  }
  assert.equal(found, 5);
});
