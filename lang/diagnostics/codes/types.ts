/** Codes of types. */
import type { CodePage } from "./code_page.ts";

/** `TY0001` and on. */
export const TYPE_PAGES: readonly CodePage[] = [
  {
    code: "TY0001",
    title: "Type mismatch",
    severity: "error",
    explanation:
      "The value does not have the expected type. There are no implicit conversions; a fix suggests a conversion where one exists.",
    bad: "pub fn start() -> Float {\n  let speed: Float = 3\n  speed\n}\n",
    fixed: [
      "pub fn start() -> Float {\n  let speed: Float = 3.0\n  speed\n}\n",
      "pub fn start() -> Float {\n  let speed: Float = 3.to_float()\n  speed\n}\n",
    ],
  },
  {
    code: "TY0002",
    title: "Operands of different types",
    severity: "error",
    explanation:
      "Both operands of an operator must have the same type. There are no implicit conversions, because each one has a loss or a cost that should be visible.",
    bad: 'pub fn start() -> String {\n  "{1 + 2.0}"\n}\n',
    fixed: [
      'pub fn start() -> String {\n  "{1.0 + 2.0}"\n}\n',
      'pub fn start() -> String {\n  "{1.to_float() + 2.0}"\n}\n',
      'pub fn start() -> String {\n  "{1 + 2}"\n}\n',
      'pub fn start() -> String {\n  "{1 + 2.0.to_int()}"\n}\n',
    ],
  },
  {
    code: "TY0003",
    title: "Operator not defined for the type",
    severity: "error",
    explanation:
      "Arithmetic is defined for numbers, `+` also for two strings or two lists, and bit operators for `Int` and `Int64`.",
    bad: "pub fn start() -> Bool {\n  true * false\n}\n",
    fixed: ["pub fn start() -> Bool {\n  true and false\n}\n"],
  },
  {
    code: "TY0004",
    title: "Condition is not a `Bool`",
    severity: "error",
    explanation:
      "The conditions of `if` and `while`, guards, and the operands of `and`, `or` and `not` must be of type `Bool`. No other value counts as true or false.",
    bad: "pub fn some(count: Int) -> Bool {\n  if count { true } else { false }\n}\n",
    fixed: ["pub fn some(count: Int) -> Bool {\n  if count > 0 { true } else { false }\n}\n"],
  },
  {
    code: "TY0005",
    title: "Wrong number of arguments",
    severity: "error",
    explanation: "A call passes exactly one argument for each parameter.",
    bad: "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  double(1, 2)\n}\n",
    fixed: ["fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  double(1)\n}\n"],
  },
  {
    code: "TY0006",
    title: "Invalid order of arguments",
    severity: "error",
    explanation: "Positional arguments come before named ones, and no parameter is given twice.",
    bad:
      "fn box(width: Int, height: Int) -> Int {\n  width * height\n}\n\npub fn start() -> Int {\n  box(2, width: 3)\n}\n",
    fixed: [
      "fn box(width: Int, height: Int) -> Int {\n  width * height\n}\n\npub fn start() -> Int {\n  box(2, height: 3)\n}\n",
    ],
  },
  {
    code: "TY0007",
    title: "Missing field",
    severity: "error",
    explanation:
      "A record literal must give every field a value. `Ball { ..old, x: 1.0 }` takes the remaining fields from another record.",
    bad:
      "type Ball = { x: Float, y: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0 }\n  ball.x + ball.y\n}\n",
    fixed: [
      "type Ball = { x: Float, y: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0, y: 0.0 }\n  ball.x + ball.y\n}\n",
    ],
  },
  {
    code: "TY0008",
    title: "Duplicate field",
    severity: "error",
    explanation: "A field can be given only once.",
    bad:
      "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0, x: 2.0 }\n  ball.x\n}\n",
    fixed: [
      "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0 }\n  ball.x\n}\n",
    ],
  },
  {
    code: "TY0009",
    title: "Not callable",
    severity: "error",
    explanation:
      "Only functions, variants with fields and function values can be called. A record literal is written with braces.",
    bad: "pub fn start(count: Int) -> Int {\n  count()\n}\n",
    fixed: ["pub fn start(count: Int) -> Int {\n  count\n}\n"],
  },
  {
    code: "TY0010",
    title: "Interface not implemented",
    severity: "error",
    explanation:
      "`==` requires `Eq`, `<` requires `Ord`, map keys require `Hash`, and string interpolation requires `Show`. They are derived for every type whose fields implement them; functions implement none of them, `Float` does not implement `Hash`, and a type parameter implements its bounds.",
    bad: "pub fn same[T](left: T, right: T) -> Bool {\n  left == right\n}\n",
    fixed: ["pub fn same[T: Eq](left: T, right: T) -> Bool {\n  left == right\n}\n"],
  },
  {
    code: "TY0011",
    title: "Incorrect implementation of an interface",
    severity: "error",
    explanation:
      "A type implements an interface when it has all of its functions, with the same parameters and results.",
    bad:
      "interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start() -> Float {\n  total(Dot { x: 1.0 })\n}\n",
    fixed: [
      "interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  self.x * 0.0\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start() -> Float {\n  total(Dot { x: 1.0 })\n}\n",
    ],
  },
  {
    code: "TY0012",
    title: "Type annotation needed",
    severity: "error",
    explanation:
      "The type cannot be inferred from how the value is created and used. Write a type annotation.",
    bad: "pub fn start() -> Int {\n  let list = []\n  list.len()\n}\n",
    fixed: ["pub fn start() -> Int {\n  let list: List[Int] = []\n  list.len()\n}\n"],
  },
  {
    code: "TY0013",
    title: "Number out of range",
    severity: "error",
    explanation: "An integer literal must fit its type: `Int` has 32 bits, `Int64` has 64.",
    bad: "pub fn start() -> Int {\n  0xffff_ffff\n}\n",
    fixed: ["pub fn start() -> Int {\n  -1\n}\n"],
  },
  {
    code: "TY0014",
    title: "Wrong number of type arguments",
    severity: "error",
    explanation: "A generic type takes one type argument for each type parameter; other types take none.",
    bad: "pub fn start() -> Int[Int] {\n  1\n}\n",
    fixed: ["pub fn start() -> Int {\n  1\n}\n"],
  },
  {
    code: "TY0015",
    title: "Missing type annotation in a signature",
    severity: "error",
    explanation:
      "The parameters of exported functions and of properties need type annotations, so that a module can be read and checked without the bodies of others.",
    bad: "pub fn double(n) -> Int {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "TY0016",
    title: "`if` without `else` used as a value",
    severity: "error",
    explanation: "Without `else` there is no value when the condition is false.",
    bad: "pub fn sign(n: Int) -> Int {\n  let sign: Int = if n > 0 { 1 }\n  sign\n}\n",
    fixed: [
      'pub fn sign(n: Int) -> Int {\n  let sign: Int = if n > 0 { 1 } else { panic("not written yet") }\n  sign\n}\n',
    ],
  },
  {
    code: "TY0017",
    title: "Branches of different types",
    severity: "error",
    explanation: "All arms of a `match`, and both branches of an `if`, must have the same type.",
    bad:
      'fn name(n: Int) {\n  if n > 0 { "positive" } else { n.to_float() }\n}\n\npub fn start() -> String {\n  name(1)\n}\n',
    fixed: [
      'fn name(n: Int) {\n  if n > 0 { "positive" } else { "{n.to_float()}" }\n}\n\npub fn start() -> String {\n  name(1)\n}\n',
    ],
  },
  {
    code: "TY0018",
    title: "`?` on a value that is not an `Option` or `Result`",
    severity: "error",
    explanation: "`?` unwraps an `Option` or a `Result`. Other values need no unwrapping.",
    bad:
      "fn half(n: Int) -> Option[Int] {\n  let whole = n?\n  Some(whole / 2)\n}\n\npub fn start() -> Option[Int] {\n  half(4)\n}\n",
    fixed: [
      "fn half(n: Int) -> Option[Int] {\n  let whole = n\n  Some(whole / 2)\n}\n\npub fn start() -> Option[Int] {\n  half(4)\n}\n",
    ],
  },
  {
    code: "TY0019",
    title: "`?` in a function that cannot return it",
    severity: "error",
    explanation:
      "`?` returns early with the `None` or the `Err`. So the function must return an `Option` for an `Option`, and a `Result` with the same error type for a `Result`.",
    bad: "pub fn first(text: String) -> Int {\n  let number = text.parse_int()?\n  number\n}\n",
    fixed: ["pub fn first(text: String) -> Int {\n  let number = text.parse_int().unwrap()\n  number\n}\n"],
  },
  {
    code: "TY0020",
    title: "Not a record type",
    severity: "error",
    explanation:
      "Only record literals are written with braces and fields. Variants take their fields in parentheses.",
    bad:
      "type Shape = Circle(radius: Float) | Dot\n\npub fn start() -> Bool {\n  let shape = Circle { radius: 2.0 }\n  shape == Dot\n}\n",
    fixed: [
      "type Shape = Circle(radius: Float) | Dot\n\npub fn start() -> Bool {\n  let shape = Circle(radius: 2.0)\n  shape == Dot\n}\n",
    ],
  },
  {
    code: "TY0021",
    title: "Cannot index this type",
    severity: "error",
    explanation:
      "Lists, maps, pools and bytes can be indexed. The elements of a tuple are `.0`, `.1` and so on.",
    bad: "pub fn second(pair: (Int, Float)) -> Float {\n  pair[1]\n}\n",
    fixed: ["pub fn second(pair: (Int, Float)) -> Float {\n  pair.1\n}\n"],
  },
  {
    code: "TY0022",
    title: "Not iterable",
    severity: "error",
    explanation:
      "`for` iterates over ranges, lists, maps, sets, pools, strings, and types with a method `next(self: inout T) -> Option[X]`.",
    bad: "pub fn sum(count: Int) -> Int {\n  var total = 0\n  for i in count { total += i }\n  total\n}\n",
    fixed: [
      "pub fn sum(count: Int) -> Int {\n  var total = 0\n  for i in 0..count { total += i }\n  total\n}\n",
    ],
  },
  {
    code: "TY0024",
    title: "Infinitely sized recursive type",
    severity: "error",
    explanation:
      "A record that contains itself would have infinite size. Put an `Option`, a list or a union in between.",
    bad: "pub type Node = { value: Int, next: Node }\n",
    fixed: ["pub type Node = { value: Int, next: Option[Node] }\n"],
  },
  {
    code: "TY0025",
    title: "Cyclic type alias",
    severity: "error",
    explanation: "A type alias is another name for an existing type. It cannot refer to itself.",
    bad: "pub type Score = Points\npub type Points = Score\n",
    fixed: ["pub type Score = Int\npub type Points = Score\n"],
  },
  {
    code: "TY0026",
    title: "Missing return value",
    severity: "error",
    explanation:
      "The value of a block is its last expression. A function with a result type must end with an expression of that type, or with `return`.",
    bad: "pub fn double(n: Int) -> Int {\n  var twice = n\n  twice += n\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  var twice = n\n  twice += n\n  twice\n}\n"],
  },
  {
    code: "TY0027",
    title: "Missing result type",
    severity: "error",
    explanation:
      "An exported function without a result type returns `()`. If its body ends with a value, either the result type is missing, or the value should be discarded.",
    bad: "pub fn double(n: Int) {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n", "pub fn double(n: Int) {\n  let _ = n * 2\n}\n"],
  },
  {
    code: "TY0028",
    title: "No such tuple element",
    severity: "error",
    explanation: "The elements of a tuple are numbered from 0.",
    bad: "pub fn third(pair: (Int, Int)) -> Int {\n  pair.2\n}\n",
    fixed: ["pub fn third(pair: (Int, Int)) -> Int {\n  pair.1\n}\n"],
  },
  {
    code: "TY0029",
    title: "Pattern type mismatch",
    severity: "error",
    explanation: "A pattern must have the type of the value that it is matched against.",
    bad: "pub fn is_half(x: Float) -> Bool {\n  match x {\n    1 => false\n    _ => true\n  }\n}\n",
    fixed: ["pub fn is_half(x: Float) -> Bool {\n  match x {\n    1.0 => false\n    _ => true\n  }\n}\n"],
  },
  {
    code: "TY0030",
    title: "Wrong number of fields in a pattern",
    severity: "error",
    explanation: "The pattern of a variant must have all of its fields, or end with `..`.",
    bad:
      "type Shape = Box(width: Int, height: Int) | Dot\n\npub fn width(count: Int) -> Int {\n  let shape = if count > 0 { Box(count, 2) } else { Dot }\n  match shape {\n    Box(width) => width\n    Dot => 0\n  }\n}\n",
    fixed: [
      "type Shape = Box(width: Int, height: Int) | Dot\n\npub fn width(count: Int) -> Int {\n  let shape = if count > 0 { Box(count, 2) } else { Dot }\n  match shape {\n    Box(width, ..) => width\n    Dot => 0\n  }\n}\n",
    ],
  },
  {
    code: "TY0031",
    title: "Elements of different types",
    severity: "error",
    explanation: "All elements of a list must have the same type. Use a union for values of several types.",
    bad: "pub fn start() -> Int {\n  let list = [1, 2.0]\n  list.len()\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  let list = [1, 2]\n  list.len()\n}\n",
      "pub fn start() -> Int {\n  let list = [1, 2.0.to_int()]\n  list.len()\n}\n",
    ],
  },
  {
    code: "TY0032",
    title: "Cyclic constant",
    severity: "error",
    explanation: "A constant is evaluated at compile time, so it cannot depend on itself.",
    bad: "pub const width: Int = height * 2\npub const height: Int = width / 2\n",
    fixed: ["pub const width: Int = 640\npub const height: Int = width / 2\n"],
  },
  {
    code: "TY0033",
    title: "`break` outside of a loop",
    severity: "error",
    explanation:
      "`break` and `continue` can be used only in a loop; a function value in a loop is not part of that loop.",
    bad: "pub fn start(n: Int) -> Int {\n  if n > 3 { break }\n  n\n}\n",
    fixed: ["pub fn start(n: Int) -> Int {\n  if n > 3 { return 3 }\n  n\n}\n"],
  },
  {
    code: "TY0034",
    title: "Method of another instance",
    severity: "error",
    explanation: "The method is defined for the generic type with other type arguments.",
    bad:
      "type Box[T] = { value: T }\n\nfn Box.doubled(self: Box[Int]) -> Int {\n  self.value * 2\n}\n\npub fn start() -> Int {\n  let box = Box { value: 1.5 }\n  box.doubled()\n}\n",
    fixed: [
      "type Box[T] = { value: T }\n\nfn Box.doubled(self: Box[Int]) -> Int {\n  self.value * 2\n}\n\npub fn start() -> Int {\n  let box = Box { value: 1 }\n  box.doubled()\n}\n",
    ],
  },
  {
    code: "TY0035",
    title: "Snapshot must be a string literal",
    severity: "error",
    explanation:
      "`expect_snapshot` compares a value with a string literal, so that `lang test --update` can rewrite it.",
    bad: 'test "snapshot" {\n  let text = "3"\n  expect_snapshot(1 + 2, text)\n}\n',
    fixed: ['test "snapshot" {\n  expect_snapshot(1 + 2, "3")\n}\n'],
  },
  {
    code: "TY0036",
    title: "Interface used as a type",
    severity: "error",
    explanation: "An interface is not a type. Use it as the bound of a type parameter.",
    bad: 'pub fn text(value: Show) -> String {\n  "value"\n}\n',
    fixed: ["pub fn text[T: Show](value: T) -> String {\n  value.show()\n}\n"],
  },
  {
    code: "TY0037",
    title: "Generic function in an interface",
    severity: "error",
    explanation: "The functions of an interface cannot have type parameters of their own.",
    bad: "pub interface Source {\n  fn read[T](self: Self, value: T) -> T\n}\n",
    fixed: ["pub interface Source {\n  fn read(self: Self, value: Int) -> Int\n}\n"],
  },
  {
    code: "TY0038",
    title: "Wrong type of `self`",
    severity: "error",
    explanation: "The receiver of a method must have the type that the method is named after.",
    bad:
      "pub type Ball = { x: Float }\n\npub fn Ball.same(self: Float, other: Ball) -> Bool {\n  other.x > 0.0\n}\n",
    fixed: [
      "pub type Ball = { x: Float }\n\npub fn Ball.same(self: Ball, other: Ball) -> Bool {\n  other.x > 0.0\n}\n",
    ],
  },
  {
    code: "TY0039",
    title: "Missing type of an exported constant",
    severity: "error",
    explanation: "Exported constants need a type annotation.",
    bad: "pub const gravity = 9.8\n",
    fixed: ["pub const gravity: Float = 9.8\n"],
  },
  {
    code: "TY0040",
    title: "Wrong type of a score",
    severity: "error",
    explanation: "The score of an `eval` case is a `Float` from 0.0 to 1.0, or a `Bool`.",
    bad: 'eval "sums" threshold 0.9 {\n  case "one" => 1 + 1\n}\n',
    fixed: ['eval "sums" threshold 0.9 {\n  case "one" => 1 + 1 == 2\n}\n'],
  },
  {
    code: "TY0041",
    title: "Expectation in a constant",
    severity: "error",
    explanation: "Constants are evaluated at compile time, so they cannot contain a test expectation.",
    bad: "const limit: () = expect(1 < 2)\n\npub fn start() {\n  limit\n}\n",
    fixed: ["const limit: Bool = 1 < 2\n\npub fn start() -> Bool {\n  limit\n}\n"],
  },
  {
    code: "TY0042",
    title: "Wrong signature of an entry point",
    severity: "error",
    explanation:
      "The host calls the entry points of its target: `main() -> Int` or `main(args: List[String]) -> Int` for a command; `init(seed: Int) -> State`, `step(state: inout State, input: Input)` and `draw(state: State)` for a web page; each `pub fn` over numbers, `Bool`, `String` and `Bytes` for database functions.",
    bad: 'fn main() -> String {\n  "done"\n}\n',
    fixed: ["fn main() -> Int {\n  0\n}\n"],
  },
  {
    code: "TY0043",
    title: "Missing entry point",
    severity: "error",
    explanation: "A package that is built for a target must declare the functions that the host calls.",
    bad: "pub fn helper() -> Int {\n  1\n}\n",
    fixed: ["fn main() -> Int {\n  0\n}\n"],
  },
  {
    code: "TY0044",
    title: "Type too large",
    severity: "error",
    explanation:
      "The size of a type is limited, because types that double at each step would exhaust the compiler's memory.",
    bad:
      "pub fn start() -> Int {\n  let a = (1, 2, 3, 4, 5, 6, 7, 8)\n  let b = (a, a, a, a, a, a, a, a)\n  let c = (b, b, b, b, b, b, b, b)\n  let _ = (c, c, c, c, c, c, c, c)\n  1\n}\n",
    fixed: [
      "type Row = { values: List[Int] }\n\npub fn start() -> Int {\n  let row = Row { values: [1, 2, 3, 4, 5, 6, 7, 8] }\n  row.values.len()\n}\n",
    ],
  },
  {
    code: "TY0045",
    title: "Bound on a type's parameter",
    severity: "error",
    explanation: "A type declaration has no bounds. Put them on the functions that need them.",
    bad: "pub type Bag[T: Hash] = { values: List[T] }\n",
    fixed: ["pub type Bag[T] = { values: List[T] }\n"],
  },
  {
    code: "TY0046",
    title: "Property values cannot be generated",
    severity: "error",
    explanation:
      "A property is tested with generated values of its parameter types. Functions and the ids of a pool cannot be generated.",
    bad: 'property "functions" (f: fn(Int) -> Int) {\n  expect(f(1) == f(1))\n}\n',
    fixed: ['property "numbers" (n: Int) {\n  expect(n == n)\n}\n'],
  },
  {
    code: "TY0047",
    title: "Reserved export name",
    severity: "error",
    explanation:
      "A module for the database exports its memory and what the host needs to run it, under these reserved names: `memory`, `allocate`, `heap_bytes`, `heap_top`, `gas_left`, `trap_site`, `trap_text`, `trap_other`, `trap_index` and `trap_length`. Give the public function another name.",
    bad: "pub fn memory(rows: Int) -> Int {\n  rows *% 48\n}\n",
    fixed: ["pub fn memory_value(rows: Int) -> Int {\n  rows *% 48\n}\n"],
  },
  {
    code: "TY0048",
    title: "Infinite instantiation",
    severity: "error",
    explanation:
      "A generic function or type is compiled once for each type that it is used with. One that uses itself with ever larger types would never finish compiling.",
    bad:
      "pub fn depth[T](value: T, steps: Int) -> Int {\n  if steps == 0 { 0 } else { 1 + depth((value, value), steps - 1) }\n}\n",
    fixed: [
      "pub fn depth[T](values: List[T], steps: Int) -> Int {\n  if steps == 0 { values.len() } else { depth(values + values, steps - 1) }\n}\n",
    ],
  },
];
