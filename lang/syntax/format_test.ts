/** The formatter on what people write. */
import assert from "node:assert/strict";
import { SourceFile } from "../source/source_file.ts";
import { format, LINE_WIDTH } from "./format.ts";

function check(source: string, expected: string): void {
  const once = format(new SourceFile("src/main.lang", source));
  assert.equal(once, expected);
  assert.equal(format(new SourceFile("src/main.lang", once)), once);
}

Deno.test("format() puts the space that tokens ask for between them", () => {
  check(
    "pub  fn   f [ T : Eq+Show,U ]( x : inout Int , g: fn( inout T )->U) ->List[ T ] uses Draw , Log {\n  g( & x )\n}",
    "pub fn f[T: Eq + Show, U](x: inout Int, g: fn(inout T) -> U) -> List[T] uses Draw, Log {\n  g(&x)\n}\n",
  );
  check(
    "fn  g( ) { let x=- 1..=f( a [ 1 ] ,b:- 2 )? let ( a,_ )=p.0 let [ h, ..t ]=xs }",
    "fn g() { let x = -1..=f(a[1], b: -2)? let (a, _) = p.0 let [h, ..t] = xs }\n",
  );
  check('property   "p" (x:Int){expect(x==x)}', 'property "p" (x: Int) { expect(x == x) }\n');
  check("const a=(1).0+t.0.1", "const a = (1).0 + t.0.1\n");
});

Deno.test("format() keeps blocks and records on one line or on several, as they were written", () => {
  check(
    "fn f() -> Int { 1 }\nfn g() -> Int {\n 1 }\n",
    "fn f() -> Int { 1 }\n\nfn g() -> Int {\n  1\n}\n",
  );
  check(
    "fn f() {\n if a { b } else { c }\n if a { b } else {\n c }\n}\n",
    "fn f() {\n  if a { b } else { c }\n  if a {\n    b\n  } else {\n    c\n  }\n}\n",
  );
  check(
    "const a = Ball {x:1,y:2}\nconst b = Ball {\n x:1,y:2}\n",
    "const a = Ball { x: 1, y: 2 }\n\nconst b = Ball {\n  x: 1,\n  y: 2,\n}\n",
  );
});

Deno.test("format() breaks lines of more than 100 characters", () => {
  const long = "a".repeat(40);
  check(
    `fn f() {\n  let x = ${long} + ${long} * ${long}\n}\n`,
    `fn f() {\n  let x =\n    ${long} +\n      ${long} * ${long}\n}\n`,
  );
  check(
    `fn f() {\n  g(${long}, ${long}, fn(x, y) { x + y })\n}\n`,
    `fn f() {\n  g(${long}, ${long}, fn(x, y) {\n    x + y\n  })\n}\n`,
  );
  check(
    `fn f() {\n  g(${long}, ${long}, ${long})\n}\n`,
    `fn f() {\n  g(\n    ${long},\n    ${long},\n    ${long},\n  )\n}\n`,
  );
  check(
    "fn f() {\n  xs.filter(fn(x) { x > 3 }).map(fn(x) {\n    x * 2\n  }).fold(0, fn(a, b) { a + b })\n}\n",
    "fn f() {\n  xs\n    .filter(fn(x) { x > 3 })\n    .map(fn(x) {\n      x * 2\n    })\n    .fold(0, fn(a, b) { a + b })\n}\n",
  );
  check(
    `type A = ${long.toUpperCase()}(Int) | ${long.toUpperCase()}(Int) | B\n`,
    `type A =\n  | ${long.toUpperCase()}(Int)\n  | ${long.toUpperCase()}(Int)\n  | B\n`,
  );
  check(
    `const numbers = [${Array.from({ length: 40 }, (_, index) => index * 1000).join(", ")}]\n`,
    `const numbers = [
  0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000,
  16000, 17000, 18000, 19000, 20000, 21000, 22000, 23000, 24000, 25000, 26000, 27000, 28000, 29000,
  30000, 31000, 32000, 33000, 34000, 35000, 36000, 37000, 38000, 39000,
]
`,
  );
  assert.equal(LINE_WIDTH, 100);
});

Deno.test("format() puts no comma behind the one expression in parentheses", () => {
  const long = "a".repeat(40);
  check(
    `fn f() {\n  let x = (${long}..=${long}${long.slice(30)}).len()\n}\n`,
    `fn f() {\n  let x = (\n    ${long}..=${long}${long.slice(30)}\n  ).len()\n}\n`,
  );
});

Deno.test("format() keeps every comment where it belongs", () => {
  check(
    `// head

/// Doc
type Ball = {x:Float,// where
  // about y
  y: Float
  // last
}
fn f() { // open
  // first


  foo(a, // one
    b // two
    // three
  ) // after
  let x = 1 + 2 // sum
  match x {
    // arm
    1 => {} // empty
    // none
  }
  // end
}
// tail

// tail of tails
`,
    `// head

/// Doc
type Ball = {
  x: Float, // where
  // about y
  y: Float,
  // last
}

fn f() { // open
  // first

  foo(
    a, // one
    b, // two
    // three
  ) // after
  let x = 1 + 2 // sum
  match x {
    // arm
    1 => {} // empty
    // none
  }
  // end
}
// tail

// tail of tails
`,
  );
});

Deno.test("format() keeps comments apart that its lines would join", () => {
  check("use a. // one\nb // two\n", "use a.b // one\n// two\n");
});

Deno.test("format() leaves texts and declarations with errors as they are", () => {
  check(
    'fn f() {\n      let a   = """\n   {  x  }\n """\n}\n',
    'fn f() {\n  let a = """\n   {  x  }\n """\n}\n',
  );
  check(
    "fn  a( ){ 1 }\n\n\n  fn bad( {  x   +  }\nfn  b( ){ 1 } ;\n// end",
    "fn a() { 1 }\n\n  fn bad( {  x   +  }\nfn  b( ){ 1 } ;\n// end\n",
  );
  check('const a   = """\n', 'const a   = """\n');
});

Deno.test("format() keeps at most one blank line, and sets large declarations apart", () => {
  check(
    "use a\nuse b\n\n\n\nuse c\nconst x = 1\nconst y = 2\n\n\nconst z = 3\nfn f() {\n\n\n  a\n\n\n  b\n\n}\nfn g() {}",
    "use a\nuse b\n\nuse c\n\nconst x = 1\nconst y = 2\n\nconst z = 3\n\nfn f() {\n  a\n\n  b\n}\n\nfn g() {}\n",
  );
  check("", "");
  check("\n\n// only\n", "// only\n");
});

Deno.test("format() keeps short declarations together, also with comments before them, and the groups of many names", () => {
  const short = "/// One.\nfn one() -> Int { 1 }\n/// Two.\nfn two() -> Int { 2 }\n";
  check(short, short);
  const long = "/// One.\nfn one() -> Int {\n  1\n}\n/// Two.\nfn two() -> Int { 2 }\n";
  check(long, long.replace("}\n///", "}\n\n///"));
  const keys = "type Key =\n  | A | B | C | D\n  | Up | Down | Left | Right\n";
  check(keys, keys);
  check("type Key = A | B\n  | C", "type Key = A | B | C\n");
  check("type Few =\n  | A | B\n  | C | D\n", "type Few =\n  | A\n  | B\n  | C\n  | D\n");
});
