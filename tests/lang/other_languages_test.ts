/**
 * What people write who come from TypeScript, Python, Rust, Go, Gleam, Kotlin or C: each program has one error,
 * which is reported once.
 *
 * `fixed`: one of the fixes makes a right program; `next`: a fix leads to another error, which is reported then;
 * `told`: there is no fix, the message says what to write.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { PackageAnalyzer } from "../../lang/check/package_analysis.ts";
import type { Diagnostic } from "../../lang/diagnostics/diagnostic.ts";
import { applyToFiles } from "../../lang/diagnostics/edits.ts";

type Outcome = "fixed" | "next" | "told";

const PATH = "src/main.lang";
const SHOW = '\nfn show[T: Show](value: T) uses Log {\n  print("{value}")\n}\n';
const analyzer = new PackageAnalyzer();

function errorsOf(program: string): readonly Diagnostic[] {
  return analyzer.analyze(new Map([[PATH, program]])).diagnostics.filter(({ severity }) =>
    severity === "error"
  );
}

function check(program: string, code: string, outcome: Outcome): void {
  const errors = errorsOf(program);
  deepStrictEqual(errors.map((error) => error.code), [code], program);
  const fixes = errors[0]?.fixes ?? [];
  const isFixed = fixes.some((fix) =>
    errorsOf(applyToFiles(fix.edits).get(PATH)?.after ?? "fn").length === 0
  );
  deepStrictEqual(isFixed ? "fixed" : fixes.length > 0 ? "next" : "told", outcome, program);
  ok(outcome !== "told" || (errors[0]?.message.length ?? 0) > 20);
}

/** Bodies of `main`. */
const BODIES: readonly (readonly [code: string, outcome: Outcome, body: string])[] = [
  ["SY0005", "next", "if max(1, 2 > 0 {\n  show(1)\n}"],
  ["NM0001", "fixed", "let x: Option[Int] = null\nshow(x)"],
  ["NM0001", "fixed", "let x: Option[Int] = nil\nshow(x)"],
  ["NM0001", "fixed", "let x: Option[Int] = undefined\nshow(x)"],
  ["NM0003", "fixed", "let x: Option[Int] = Null\nshow(x)"],
  ["NM0003", "fixed", "let x: Option[Int] = Nothing\nshow(x)"],
  ["NM0001", "fixed", "let x: Option[Int] = Some(1)\nif x == null { show(1) }"],
  ["SY0020", "fixed", "let mut x = 1\nx += 1\nshow(x)"],
  ["SY0011", "fixed", "if 1 === 1 { show(1) }"],
  ["SY0011", "fixed", "if 1 !== 2 { show(1) }"],
  ["SY0011", "fixed", "if 1 == 1 && 2 == 2 { show(1) }"],
  ["SY0011", "fixed", "if 1 == 1 || 2 == 2 { show(1) }"],
  ["SY0069", "fixed", "let a = true\nif !a { show(1) }"],
  ["SY0069", "fixed", "if !(1 == 2) { show(1) }"],
  ["SY0015", "fixed", "let a = 1\nif a = 1 { show(1) }"],
  ["SY0022", "fixed", "let a = 1\nif a == 1 {\n  show(1)\n} elif a == 2 {\n  show(2)\n}"],
  ["SY0022", "fixed", "let a = 1\nif a == 1 {\n  show(1)\n} elseif a == 2 {\n  show(2)\n}"],
  ["SY0022", "fixed", "let a = 1\nif a == 1 {\n  show(1)\n} elsif a == 2 {\n  show(2)\n}"],
  ["SY0032", "told", "let a = 1\nif a == 1:\n  show(1)\nelse:\n  show(2)"],
  ["SY0032", "told", "let a = 1\nif a == 1:\n  show(1)\nelif a == 2:\n  show(2)\nelse:\n  show(3)"],
  ["SY0033", "fixed", "let a = 1\nif (a == 1) show(1)"],
  ["SY0033", "fixed", "let a = 1\nif (a == 1) show(1) else show(2)"],
  ["SY0034", "fixed", "for (i = 0; i < 10; i++) {\n  show(i)\n}"],
  ["SY0034", "fixed", "for (let i = 0; i < 10; i++) {\n  show(i)\n}"],
  ["SY0034", "told", "for (let i = 0; i <= 10; i += 2) {\n  show(i)\n}"],
  ["SY0034", "fixed", "for i := 0; i < 10; i++ {\n  show(i)\n}"],
  ["SY0035", "fixed", "let xs = [1]\nfor i, x := range xs {\n  show(x + i)\n}"],
  ["SY0035", "fixed", "let xs = [1]\nfor _, x := range xs {\n  show(x)\n}"],
  ["SY0035", "fixed", "let xs = [1]\nfor (const x of xs) {\n  show(x)\n}"],
  ["SY0035", "fixed", "let xs = [1]\nfor (const x in xs) {\n  show(x)\n}"],
  ["NM0001", "told", "for i in range(10) {\n  show(i)\n}"],
  ["SY0032", "told", "for i in range(1, 10):\n  show(i)"],
  ["SY0035", "fixed", "let xs = [1]\nfor i, x in enumerate(xs) {\n  show(i + x)\n}"],
  ["SY0024", "fixed", "var i = 0\nfor i < 10 {\n  i += 1\n}"],
  ["SY0024", "fixed", "for {\n  break\n}"],
  ["SY0032", "told", "var i = 0\nwhile i < 3:\n  i += 1\nshow(i)"],
  ["SY0024", "told", "var i = 0\ndo {\n  i += 1\n} while (i < 3)\nshow(i)"],
  ["SY0024", "fixed", "loop {\n  break\n}"],
  ["SY0068", "fixed", "let a = 1;\nlet b = 2;\nshow(a + b);"],
  ["SY0068", "fixed", "let a = 1; let b = 2; show(a + b)"],
  ["SY0011", "told", "let xs = [1] |> List.len()\nshow(xs)"],
  ["SY0023", "told", "let a = 1\nswitch a {\n  case 1:\n    show(1)\n  default:\n    show(2)\n}"],
  ["SY0001", "next", "let a = 1\nmatch a:\n    case 1:\n        show(1)\n    case _:\n        show(2)"],
  ["SY0009", "fixed", "let a = 1\nmatch a {\n  1 => show(1),\n  _ => show(2),\n}"],
  ["SY0038", "fixed", "let a = 1\nmatch a {\n  1 -> show(1)\n  _ -> show(2)\n}"],
  ["SY0037", "fixed", "let a = 1\nmatch a {\n  1 => show(1)\n  else => show(2)\n}"],
  ["SY0063", "fixed", "let t = 'text'\nshow(t)"],
  ["SY0063", "fixed", "print('hello world')"],
  ["SY0060", "fixed", "let n = 1\nprint(`n is ${n}`)"],
  ["SY0060", "fixed", 'let n = 1\nprint(f"n is {n}")'],
  ["SY0069", "next", 'let n = 1\nshow(format!("n is {}", n))'],
  ["SY0069", "next", 'let n = 1\nprintln!("n is {}", n)'],
  ["NM0001", "next", 'let n = 1\nprintf("n is %d", n)'],
  ["NM0001", "told", "console.log(1)"],
  ["NM0001", "told", "fmt.Println(1)"],
  ["SY0012", "fixed", "var i = 0\ni++\nshow(i)"],
  ["SY0012", "fixed", "var i = 0\n++i\nshow(i)"],
  ["SY0012", "fixed", "var i = 0\ni--\nshow(i)"],
  ["SY0012", "told", "var i = 0\nlet j = i++\nshow(j)"],
  ["SY0017", "fixed", "let a = 1\nlet b = a == 1 ? 2 : 3\nshow(b)"],
  ["SY0017", "fixed", 'let a = 1\nshow((a > 0) ? "x" : "y")'],
  ["SY0017", "fixed", "let a = 1\nlet b = 2 if a == 1 else 3\nshow(b)"],
  ["SY0011", "fixed", "let a: Option[Int] = Some(1)\nlet b = a ?? 3\nshow(b)"],
  ["SY0069", "next", "let a: Option[Int] = Some(1)\nshow(a!)"],
  ["SY0025", "told", "try {\n  show(1)\n} catch (e) {\n  show(2)\n}"],
  ["SY0001", "fixed", 'let m = {"a": 1}\nshow(m)'],
  ["SY0019", "fixed", "let f = (x) => x * 2\nshow(f(1))"],
  ["SY0019", "fixed", "show([1].map(x => x * 2))"],
  ["SY0019", "fixed", "show([1].map((x) => {\n  return x * 2\n}))"],
  ["SY0019", "fixed", "show([1].map(|x| x * 2))"],
  ["SY0019", "fixed", "show([1].map(|x| { x * 2 }))"],
  ["SY0019", "fixed", "show([1].map(lambda x: x * 2))"],
  ["SY0019", "fixed", "show([1].map(fn(x) x * 2))"],
  ["SY0019", "fixed", "show([1].map(fn(x) => x * 2))"],
  ["SY0021", "fixed", "const a = 1\nshow(a)"],
  ["SY0045", "next", "let a: number = 1\nshow(a)"],
  ["SY0029", "fixed", "a := 1\nshow(a)"],
  ["SY0027", "fixed", "int a = 1\nshow(a)"],
  ["SY0027", "fixed", "auto a = 1\nshow(a)"],
  ["SY0046", "fixed", "let xs: List<Int> = [1]\nshow(xs)"],
  ["SY0001", "next", "let xs: Vec<i32> = [1]\nshow(xs)"],
  ["SY0069", "next", "let xs = vec![1, 2]\nshow(xs)"],
  ["TY0001", "told", "let xs: Int[] = [1]\nshow(xs)"],
  ["SY0001", "told", "let xs: []int = [1]\nshow(xs)"],
  ["SY0076", "fixed", "let x: Int? = Some(1)\nshow(x)"],
  ["NM0003", "fixed", "if True { show(1) }"],
  ["SY0011", "fixed", "let x: Option[Int] = None\nif x is None { show(1) }"],
  ["SY0011", "fixed", "let xs = [1]\nif 1 in xs { show(1) }"],
  ["SY0011", "told", "show(2 ** 3)"],
  ["SY0013", "fixed", "let x = 2\nif 1 < x < 3 { show(1) }"],
  ["SY0067", "fixed", "# a comment\nshow(1)"],
  ["SY0067", "fixed", "/* a comment */\nshow(1)"],
  ["NM0001", "told", "let a = 1\nif a == 1 {\n  pass\n}"],
  ["SY0074", "fixed", "let x = 1 as Float\nshow(x)"],
  ["NM0001", "fixed", 'let x = int("1")\nshow(x)'],
  ["NM0001", "told", "let x = len([1])\nshow(x)"],
  ["NM0004", "told", "let x = [1].length\nshow(x)"],
  ["NM0005", "fixed", "let x = 1.toString()\nshow(x)"],
  ["SY0024", "told", "let xs = [x * 2 for x in [1, 2]]\nshow(xs)"],
  ["SY0011", "fixed", "let xs = [1, 2, 3]\nshow(xs[1:2])"],
  ["SY0071", "told", "var a = 1\nvar b = 2\na, b = b, a\nshow(a)\nshow(b)"],
  ["SY0071", "fixed", "let a, b = 1, 2\nshow(a + b)"],
  ["SY0041", "next", "let x = await f()\nshow(x)"],
  ["NM0001", "told", "defer show(1)"],
  ["SY0005", "fixed", "if true {\n  show(1)\n"],
  ["SY0064", "fixed", 'print("hello)'],
  ["SY0005", "fixed", 'print("hello"'],
  ["SY0015", "fixed", "let x = Some(1)\nif Some(y) = x { show(y) }"],
  ["SY0024", "fixed", "var xs = [1]\nwhile let Some(x) = xs.pop() { show(x) }"],
  ["SY0001", "fixed", "for i in 0...3 { show(i) }"],
  ["SY0001", "fixed", "for i in 0..<3 { show(i) }"],
  ["SY0060", "fixed", "show(~1)"],
  ["SY0001", "fixed", "show(8 >>> 2)"],
  ["SY0011", "fixed", "if 1 <> 2 { show(1) }"],
  ["SY0001", "fixed", 'print("a" ++ "b")'],
  ["SY0011", "fixed", 'print("a" <> "b")'],
  ["TY0002", "fixed", 'print("a" + 1)'],
  ["SY0020", "next", 'let assert Ok(x) = "1".parse_int()\nshow(x)'],
  ["NM0001", "fixed", "assert(1 == 1)"],
];

/** Whole modules. */
const MODULES: readonly (readonly [code: string, outcome: Outcome, program: string])[] = [
  ["SY0005", "fixed", "fn main( {"],
  ["SY0005", "fixed", "fn main() {\n  let xs = [(1, 2"],
  ["SY0005", "fixed", "fn main() {\n  for x in [1, 2] {\n    if x > 0 {\n      show(x)\n"],
  ["SY0008", "fixed", 'fn f(n: Int) -> Int uses Input Log {\n  print("{n}")\n  n\n}\n'],
  ["SY0008", "fixed", 'use std.time\n\nfn f() uses Log Time {\n  print("{time.now()}")\n}\n'],
  ["SY0077", "fixed", "interface Shape {\n  area: number;\n  name: string;\n};\n"],
  ["SY0077", "fixed", "interface Shape {\n  area: number,\n  name: string,\n}\n"],
  ["SY0077", "fixed", "interface Shape {\n  area(): number;\n  grow(factor: number): string\n}\n"],
  ["SY0077", "told", "interface Shape {\n  name: string\n  area(): number\n}\n"],
  ["SY0008", "fixed", "type Shape = {\n  name: string;\n  area: number;\n};\n"],
  ["SY0008", "fixed", "pub type Shape = { name: String; area: Float; }\n"],
  ["SY0030", "fixed", "type Shape {\n  name: string\n  area: Float\n}\n"],
  ["SY0030", "fixed", "pub type Shape {\n  Circle(radius: Float)\n  Box(Float, Float)\n  Dot\n}\n"],
  ["SY0030", "fixed", "type Shape { Circle(Float), Dot, }\n"],
  [
    "SY0023",
    "fixed",
    "fn f(x: Int) -> Int {\n  case x {\n    0 -> 1\n    n if n > 3 -> 2\n    _ -> 3\n  }\n}\n",
  ],
  [
    "SY0023",
    "fixed",
    "fn f(a: Int, b: Int) -> Int {\n  case a, b {\n    1, 2 -> 3\n    x, _ if x > 2 -> 4\n    _, _ -> 5\n  }\n}\n",
  ],
  [
    "SY0025",
    "told",
    "fn f(x: Int) -> Int {\n  try:\n    x = 1\n  except ValueError as e:\n    x = 2\n  x\n}\n",
  ],
  ["SY0025", "told", "fn f() {\n  try:\n    show(1)\n  finally:\n    show(2)\n}\n"],
  ["SY0005", "fixed", "fn main( {\n  show(1)\n}\n"],
  ["SY0004", "fixed", "fn add(a: Int, b: Int -> Int {\n  a + b\n}\n\nfn main() {\n  show(add(1, 2))\n}\n"],
  ["SY0051", "next", "fn f(var x: Int) -> Int {\n  x += 1\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0051", "next", "fn f(mut x: Int) -> Int {\n  x += 1\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0051", "fixed", "fn f(let x: Int) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0051", "fixed", "fn f(const x: Int) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0004", "fixed", "fn f(x Int) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0027", "fixed", "fn f(int x) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  [
    "SY0049",
    "fixed",
    "type B = { x: Int }\n\nfn B.get(&self) -> Int {\n  self.x\n}\n\nfn main() {\n  show(B { x: 1 }.get())\n}\n",
  ],
  [
    "SY0049",
    "fixed",
    "type B = { x: Int }\n\nfn B.set(&mut self) {\n  self.x = 2\n}\n\nfn main() {\n  var b = B { x: 1 }\n  b.set()\n  show(b.x)\n}\n",
  ],
  ["SY0068", "fixed", "fn f() -> Int {\n  return 1;\n}\n\nfn main() {\n  show(f());\n}\n"],
  ["SY0040", "fixed", "function f(x: Int) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  [
    "SY0011",
    "told",
    "pub fn f(x: Int) -> Int {\n  x |> g\n}\n\nfn g(x: Int) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n",
  ],
  ["SY0047", "fixed", "fn f(x: Int): Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  [
    "SY0040",
    "fixed",
    "class Ball {\n  x: Float\n  y: Float\n}\n\nfn main() {\n  show(Ball { x: 1.0, y: 2.0 }.x)\n}\n",
  ],
  [
    "SY0040",
    "told",
    "class Ball {\n  x: Float\n\n  fn move(self) {\n    show(self.x)\n  }\n}\n\nfn main() {\n  Ball { x: 1.0 }.move()\n}\n",
  ],
  [
    "SY0040",
    "told",
    "class Ball:\n    def __init__(self, x):\n        self.x = x\n\nfn main() {\n  show(1)\n}\n",
  ],
  [
    "SY0040",
    "fixed",
    "struct Ball {\n  x: Float,\n  y: Float,\n}\n\nfn main() {\n  show(Ball { x: 1.0, y: 2.0 }.x)\n}\n",
  ],
  [
    "SY0040",
    "fixed",
    "struct Ball {\n  x: Float;\n  y: Float;\n}\n\nfn main() {\n  show(Ball { x: 1.0, y: 2.0 }.x)\n}\n",
  ],
  ["SY0040", "told", "type Ball struct {\n  x float64\n  y float64\n}\n\nfn main() {\n  show(1)\n}\n"],
  [
    "SY0030",
    "fixed",
    "type Ball {\n  x: Float,\n  y: Float,\n}\n\nfn main() {\n  show(Ball { x: 1.0, y: 2.0 }.x)\n}\n",
  ],
  [
    "SY0040",
    "fixed",
    "enum Phase {\n  Playing,\n  Over,\n}\n\nfn main() {\n  match Playing {\n    Playing => show(1)\n    Over => show(2)\n  }\n}\n",
  ],
  ["SY0040", "fixed", "enum Phase {\n  Playing,\n  Over { score: Int },\n}\n\nfn main() {\n  show(1)\n}\n"],
  ["SY0001", "next", 'type Dir = "left" | "right"\n\nfn main() {\n  show(1)\n}\n'],
  ["SY0040", "next", 'import gleam/io\n\nfn main() {\n  io.println("a")\n}\n'],
  ["SY0025", "next", 'fn f() -> Int {\n  throw "bad"\n}\n\nfn main() {\n  show(f())\n}\n'],
  ["SY0025", "next", 'fn f() -> Int {\n  throw new Error("bad")\n}\n\nfn main() {\n  show(f())\n}\n'],
  ["SY0025", "next", 'fn f() -> Int {\n  raise ValueError("bad")\n}\n\nfn main() {\n  show(f())\n}\n'],
  ["SY0041", "next", "type B = { x: Int }\n\nfn main() {\n  let b = new B(1)\n  show(b.x)\n}\n"],
  ["TY0009", "told", "type B = { x: Int }\n\nfn main() {\n  let b = B(1)\n  show(b.x)\n}\n"],
  ["TY0009", "fixed", "type B = { x: Int }\n\nfn main() {\n  let b = B(x: 1)\n  show(b.x)\n}\n"],
  ["SY0057", "next", "type B = { x: Int }\n\nfn main() {\n  let b: B = { x: 1 }\n  show(b.x)\n}\n"],
  ["SY0040", "next", 'import { a } from "./physics"\n\nfn main() {\n  show(1)\n}\n'],
  ["SY0040", "next", 'import * as math from "math"\n\nfn main() {\n  show(math.pi)\n}\n'],
  ["SY0040", "fixed", "import std.math\n\nfn main() {\n  show(math.pi)\n}\n"],
  ["SY0040", "next", "from math import sin\n\nfn main() {\n  show(sin(1.0))\n}\n"],
  ["SY0040", "fixed", "use std::math\n\nfn main() {\n  show(math.pi)\n}\n"],
  ["SY0040", "next", "use std::math::{sin, cos}\n\nfn main() {\n  show(sin(1.0))\n}\n"],
  ["SY0040", "next", 'import "fmt"\n\nfn main() {\n  show(1)\n}\n'],
  ["SY0040", "fixed", "import std/math\n\nfn main() {\n  show(math.pi)\n}\n"],
  ["SY0046", "fixed", "fn id<T>(x: T) -> T {\n  x\n}\n\nfn main() {\n  show(id(1))\n}\n"],
  ["SY0030", "told", "fn id[T](x: T) -> T where T: Show {\n  x\n}\n\nfn main() {\n  show(id(1))\n}\n"],
  [
    "SY0040",
    "fixed",
    "type B = { x: Int }\n\nimpl B {\n  fn get(self) -> Int {\n    self.x\n  }\n}\n\nfn main() {\n  show(B { x: 1 }.get())\n}\n",
  ],
  ["SY0057", "told", "type B = { x: Int }\n\nfn main() {\n  let { x } = B { x: 1 }\n  show(x)\n}\n"],
  ["SY0041", "fixed", "async fn f() -> Int {\n  1\n}\n\nfn main() {\n  show(f())\n}\n"],
  ["SY0045", "fixed", "fn f() -> void {\n  show(1)\n}\n\nfn main() {\n  f()\n}\n"],
  ["SY0075", "fixed", "fn f(x: Int = 3) -> Int {\n  x\n}\n\nfn main() {\n  show(f(1))\n}\n"],
  ["SY0001", "fixed", "fn my func() {\n  show(1)\n}\n\nfn main() {\n  show(1)\n}\n"],
  ["SY0006", "fixed", "fn main() {\n  show(1)\n}}\n"],
  ["NM0001", "fixed", "fn f() -> Int {\n  todo\n}\n\nfn main() {\n  show(f())\n}\n"],
  ["SY0060", "told", "@test\nfn f() {\n  show(1)\n}\n\nfn main() {\n  f()\n}\n"],
  ["SY0067", "fixed", "#[test]\nfn f() {\n  show(1)\n}\n\nfn main() {\n  f()\n}\n"],
  ["SY0040", "told", 'test("adds", () => {\n  expect(1 + 1).toBe(2)\n})\n\nfn main() {\n  show(1)\n}\n'],
  ["SY0052", "fixed", "show(1)\n"],
  ["SY0040", "fixed", "let a = 1\n\nfn main() {\n  show(a)\n}\n"],
  ["SY0052", "told", "static X: Int = 1\n\nfn main() {\n  show(1)\n}\n"],
];

Deno.test("one error of another language in a body is one error", () => {
  for (const [code, outcome, body] of BODIES) {
    check(`fn main() {\n${body.replaceAll(/^/gm, "  ")}\n}\n${SHOW}`, code, outcome);
  }
});

Deno.test("one error of another language in a declaration is one error", () => {
  for (const [code, outcome, program] of MODULES) check(program + SHOW, code, outcome);
});
