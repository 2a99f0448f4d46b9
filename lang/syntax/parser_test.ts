/** The trees of every form of the language: what `docs/language.md` lists, as the parser reads it. */
import assert from "node:assert/strict";
import { SourceFile } from "../source/source_file.ts";
import type { Declaration } from "./ast.ts";
import { parse } from "./parser.ts";
import { treeShape } from "./testing/tree_shape.ts";

function onlyDeclaration(source: string): Declaration {
  // The library may write every form.
  const { module, diagnostics } = parse(new SourceFile("std:forms", source));
  assert.deepEqual(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  const [declaration] = module.declarations;
  assert.ok(declaration !== undefined && module.declarations.length === 1);
  return declaration;
}

/** Where each kind of form stands, and how its shape is taken out again. */
const places: Readonly<Record<string, (source: string) => string>> = {
  declaration: (source) => treeShape(onlyDeclaration(source)),
  type: (source) => {
    const declaration = onlyDeclaration(`const c: ${source} = x`);
    return declaration.kind === "const" && declaration.type !== null ? treeShape(declaration.type) : "";
  },
  expression: (source) => {
    const declaration = onlyDeclaration(`const c = ${source}`);
    return declaration.kind === "const" ? treeShape(declaration.value) : "";
  },
  statements: (source) => {
    const declaration = onlyDeclaration(`fn f() { ${source} }`);
    return declaration.kind === "function"
      ? (declaration.body?.statements ?? []).map(treeShape).join(" ")
      : "";
  },
  pattern: (source) => {
    const declaration = onlyDeclaration(`fn f() { let ${source} = x }`);
    const statement = declaration.kind === "function" ? declaration.body?.statements[0] : undefined;
    return statement?.kind === "let" ? treeShape(statement.pattern) : "";
  },
};

const forms: readonly (readonly [place: string, source: string, shape: string])[] = [
  ["declaration", "use physics", "(use [physics])"],
  ["declaration", "use fx.particles as p", "(use [fx particles] p)"],
  [
    "declaration",
    `/// About
/// balls.
pub type Ball = {
 x: Float,
 /// up
 y: Float,
}`,
    `(type Ball (record [{name=x type=(named-type Float) documentation=-} {name=y type=(named-type Float) documentation=up}]) true About
balls.)`,
  ],
  [
    "declaration",
    "type Phase = Playing | Over(score: Int, String)",
    "(type Phase (union [{name=Playing fields=[] documentation=-} {name=Over fields=[{name=score type=(named-type Int)} {name=- type=(named-type String)}] documentation=-}]))",
  ],
  [
    "declaration",
    `type Phase =
  /// one
  | Playing
  | Over`,
    "(type Phase (union [{name=Playing fields=[] documentation=one} {name=Over fields=[] documentation=-}]))",
  ],
  [
    "declaration",
    "type Only = One(Int)",
    "(type Only (union [{name=One fields=[{name=- type=(named-type Int)}] documentation=-}]))",
  ],
  ["declaration", "type Score = Int", "(type Score (alias (named-type Int)))"],
  [
    "declaration",
    "type Pair[A: Eq + Show, B] = (A, B)",
    "(type Pair [{name=A bounds=[(named-type Eq) (named-type Show)]} {name=B bounds=[]}] (alias (tuple-type [(named-type A) (named-type B)])))",
  ],
  ["declaration", "type List[T] = builtin", "(type List [{name=T bounds=[]}] (builtin))"],
  [
    "declaration",
    "interface Area { fn area(self: Self) -> Float fn name() uses Log }",
    "(interface Area [(function area [{name=self isInout=false type=(named-type Self)}] (named-type Float) - (interface)) (function name [] - [Log] - (interface))])",
  ],
  ["declaration", "const gravity: Float = 9.8", "(const gravity (named-type Float) 9.8)"],
  ["declaration", "pub const Color.black = 0", "(const Color black - 0 true)"],
  ["declaration", "fn f() { }", "(function f [] - (block []))"],
  [
    "declaration",
    "pub fn Ball.move[T](self: inout Ball, by, _: fn(T, inout Int) -> ()) -> List[T] uses Draw, Log { by }",
    "(function Ball move [{name=T bounds=[]}] [{name=self isInout=true type=(named-type Ball)} {name=by isInout=false type=-} {name=_ isInout=false type=(function-type [{isInout=false type=(named-type T)} {isInout=true type=(named-type Int)}] (tuple-type []))}] (named-type List [(named-type T)]) [Draw Log] (block [(expression by)]) true)",
  ],
  [
    "declaration",
    "intrinsic fn f(x: Int)",
    "(function f [{name=x isInout=false type=(named-type Int)}] - - (intrinsic))",
  ],
  [
    "declaration",
    'pub extern "lang:web/canvas@1.0.0" fn flush(commands: Bytes) uses Draw',
    '(function flush [{name=commands isInout=false type=(named-type Bytes)}] - [Draw] - (extern "lang:web/canvas@1.0.0") true)',
  ],
  [
    "declaration",
    'test "a \\"name\\"" { expect(true) }',
    '(test {value="a \\"name\\""} (block [(expression (call expect [{name=- isInout=false value=true}]))]))',
  ],
  [
    "declaration",
    'property "p" (x: Int, xs: List[Int]) { }',
    '(property {value="p"} [{name=x isInout=false type=(named-type Int)} {name=xs isInout=false type=(named-type List [(named-type Int)])}] (block []))',
  ],
  [
    "declaration",
    'eval "e" threshold 0.9 { case "one" => 1.0 case "two" => { score } }',
    '(eval {value="e"} 0.9 [{name={value="one"} score=1} {name={value="two"} score=(block [(expression score)])}])',
  ],
  ["type", "canvas.Color", "(named-type canvas Color)"],
  [
    "type",
    "Map[String, List[Int]]",
    "(named-type Map [(named-type String) (named-type List [(named-type Int)])])",
  ],
  ["type", "(Int)", "(named-type Int)"],
  ["type", "()", "(tuple-type [])"],
  ["type", "fn()", "(function-type [] -)"],
  ["expression", "1_000 + 0xff", '(binary "+" 1000 255)'],
  ["expression", "-1.5e3", '(unary "-" 1500)'],
  ["expression", "'a'", "(character 97)"],
  ["expression", "'\\u{1F600}'", "(character 128512)"],
  ["expression", '"plain \\n \\{ \\u{41}"', '(string ["plain \\n { A"])'],
  ["expression", '"a {b + 1} c{d}"', '(string ["a " (binary "+" b 1) " c" d])'],
  ["expression", '""', "(string [])"],
  [
    "expression",
    `"""
    one
      {two}
    """`,
    '(string ["one\\n  " two "\\n"])',
  ],
  ["expression", "a or b and not c == d", '(binary "or" a (binary "and" b (unary "not" (binary "==" c d))))'],
  [
    "expression",
    "1 + 2 * 3 - -4 % 5",
    '(binary "-" (binary "+" 1 (binary "*" 2 3)) (binary "%" (unary "-" 4) 5))',
  ],
  [
    "expression",
    "a | b ^ c & d << 1 + 2",
    '(binary "|" a (binary "^" b (binary "&" c (binary "<<" d (binary "+" 1 2)))))',
  ],
  [
    "expression",
    "a +% b -% c *% d >> e",
    '(binary ">>" (binary "-%" (binary "+%" a b) (binary "*%" c d)) e)',
  ],
  ["expression", "0..n + 1", '(range 0 (binary "+" n 1))'],
  ["expression", "(0..=9)", "(range 0 9 true)"],
  [
    "expression",
    "f(1, b: 2, &c, d: &e.x)",
    "(call f [{name=- isInout=false value=1} {name=b isInout=false value=2} {name=- isInout=true value=c} {name=d isInout=true value=(field e x)}])",
  ],
  [
    "expression",
    "a.b.0.1?[i](x)",
    "(call (index (propagate (field (field (field a b) 0) 1)) i) [{name=- isInout=false value=x}])",
  ],
  ["expression", "m.Type.Variant", "(field (field m Type) Variant)"],
  [
    "expression",
    "Ball { x: 1.0, y: -2.0, }",
    '(record Ball [{name=x value=1} {name=y value=(unary "-" 2)}])',
  ],
  ["expression", "canvas.Color { ..base, r: 1 }", "(record (field canvas Color) base [{name=r value=1}])"],
  ["expression", "[1, [2], ]", "(list [1 (list [2])])"],
  ["expression", "((), (a), (a, b,))", "(tuple [(tuple []) a (tuple [a b])])"],
  [
    "expression",
    "if a { b } else if let Some(x) = y { x } else { c }",
    "(if - a (block [(expression b)]) (if (variant-pattern [Some] [{name=- pattern=(binding x)}]) y (block [(expression x)]) (block [(expression c)])))",
  ],
  [
    "expression",
    "match x { Some(y) if y > 0 => y None => { 0 } _ => return }",
    '(match x [{pattern=(variant-pattern [Some] [{name=- pattern=(binding y)}]) guard=(binary ">" y 0) body=y} {pattern=(variant-pattern [None] []) guard=- body=(block [(expression 0)])} {pattern=(wildcard) guard=- body=(block [(return -)])}])',
  ],
  [
    "expression",
    `match x { A => y = 1 B => break C => continue (a, -1) => a
[b] => b }`,
    "(match x [{pattern=(variant-pattern [A] []) guard=- body=(block [(assign y - 1)])} {pattern=(variant-pattern [B] []) guard=- body=(block [(break)])} {pattern=(variant-pattern [C] []) guard=- body=(block [(continue)])} {pattern=(tuple-pattern [(binding a) (literal -1)]) guard=- body=a} {pattern=(list-pattern [(binding b)] -) guard=- body=b}])",
  ],
  [
    "expression",
    "fn(x, y: inout Int) -> Int { x }",
    "(closure [{name=x isInout=false type=-} {name=y isInout=true type=(named-type Int)}] (named-type Int) (block [(expression x)]))",
  ],
  ["expression", "{ let a = 1 a }", "(block [(let (binding a) - 1) (expression a)])"],
  [
    "statements",
    "let x: Int = 1 var y = 2 x",
    "(let (binding x) (named-type Int) 1) (var y - 2) (expression x)",
  ],
  [
    "statements",
    "let Some(x) = f() else { return }",
    "(let (variant-pattern [Some] [{name=- pattern=(binding x)}]) - (call f) (block [(return -)]))",
  ],
  ["statements", "let (a, _) = (b)", "(let (tuple-pattern [(binding a) (wildcard)]) - b)"],
  [
    "statements",
    "a.b[0] += 1 c -= 2 d = e",
    '(assign (index (field a b) 0) "+" 1) (assign c "-" 2) (assign d - e)',
  ],
  [
    "statements",
    "x *= 1 x /= 1 x %= 1 x +%= 1 x -%= 1 x *%= 1",
    '(assign x "*" 1) (assign x "/" 1) (assign x "%" 1) (assign x "+%" 1) (assign x "-%" 1) (assign x "*%" 1)',
  ],
  [
    "statements",
    "while a { b } for (k, v) in m { } for inout x in xs { x += 1 }",
    '(while a (block [(expression b)])) (for (tuple-pattern [(binding k) (binding v)]) m (block [])) (for true (binding x) xs (block [(assign x "+" 1)]))',
  ],
  ["statements", "return a", "(return a)"],
  ["statements", "return", "(return -)"],
  [
    "statements",
    `a
(b)`,
    "(expression a) (expression b)",
  ],
  [
    "statements",
    `a
[b]`,
    "(expression a) (expression (list [b]))",
  ],
  [
    "statements",
    `a
-b`,
    '(expression a) (expression (unary "-" b))',
  ],
  [
    "statements",
    `a
+ b`,
    '(expression (binary "+" a b))',
  ],
  [
    "statements",
    `f(a
(b)
-c
[d])`,
    '(expression (call f [{name=- isInout=false value=(binary "-" (call a [{name=- isInout=false value=b}]) (index c d))}]))',
  ],
  [
    "statements",
    `a
  .b
  .c()`,
    "(expression (call (field (field a b) c)))",
  ],
  [
    "statements",
    "if a == Ball { x: 1 } { b }",
    '(expression (if - (binary "==" a (record Ball [{name=x value=1}])) (block [(expression b)])))',
  ],
  ["statements", "if a == B { b }", '(expression (if - (binary "==" a B) (block [(expression b)])))'],
  [
    "statements",
    "for Ball { x, .. } in bs { x }",
    "(for (record-pattern [Ball] [{name=x pattern=-}] true) bs (block [(expression x)]))",
  ],
  ["pattern", "_", "(wildcard)"],
  ["pattern", "-12", "(literal -12)"],
  ["pattern", "'a'..='z'", "(range-pattern (character 97) (character 122) true)"],
  ["pattern", "1..9", "(range-pattern 1 9)"],
  ["pattern", "-1.5", "(literal -1.5)"],
  ["pattern", '"text"', '(literal (text "text"))'],
  ["pattern", "true", "(literal true)"],
  [
    "pattern",
    "Phase.Over(score: s, ..)",
    "(variant-pattern [Phase Over] [{name=score pattern=(binding s)}] true)",
  ],
  [
    "pattern",
    "m.Phase.Over(_, b)",
    "(variant-pattern [m Phase Over] [{name=- pattern=(wildcard)} {name=- pattern=(binding b)}])",
  ],
  ["pattern", "m.Playing", "(variant-pattern [m Playing] [])"],
  [
    "pattern",
    "Ball { x: 0.0, y, .. }",
    "(record-pattern [Ball] [{name=x pattern=(literal 0)} {name=y pattern=-}] true)",
  ],
  ["pattern", "[]", "(list-pattern [] -)"],
  ["pattern", "[first, ..rest]", "(list-pattern [(binding first)] rest)"],
  ["pattern", "[a, ..]", "(list-pattern [(binding a)] -)"],
  ["pattern", "[..]", "(list-pattern [] -)"],
  ["pattern", "a | B | 3", "(alternative-pattern [(binding a) (variant-pattern [B] []) (literal 3)])"],
  ["pattern", "(a | b)", "(alternative-pattern [(binding a) (binding b)])"],
];

for (const place of Object.keys(places)) {
  Deno.test(`parse() reads every form of ${place}`, () => {
    for (const [kind, source, shape] of forms) {
      if (kind === place) assert.equal(places[place]?.(source), shape, source);
    }
  });
}

Deno.test("parse() tells `[]`, `[..]` and `[..rest]` apart", () => {
  const rests = ["[]", "[..]", "[..xs]"].map((source) => {
    const declaration = onlyDeclaration(`fn f() { let ${source} = x }`);
    const statement = declaration.kind === "function" ? declaration.body?.statements[0] : undefined;
    return statement?.kind === "let" && statement.pattern.kind === "list-pattern"
      ? statement.pattern.rest
      : "";
  });
  assert.deepEqual(rests.map((rest) => typeof rest === "object" ? rest?.text ?? null : rest), [
    undefined,
    null,
    "xs",
  ]);
});

Deno.test("parse() gives places in UTF-16 offsets, parentheses included", () => {
  const declaration = onlyDeclaration('const c = "é😀" + (a + b)');
  assert.ok(declaration.kind === "const" && declaration.value.kind === "binary");
  assert.deepEqual(declaration.span, { start: 0, end: 25 });
  assert.deepEqual(declaration.value.left.span, { start: 10, end: 15 });
  assert.deepEqual(declaration.value.operatorSpan, { start: 16, end: 17 });
  assert.deepEqual(declaration.value.right.span, { start: 18, end: 25 });
});
