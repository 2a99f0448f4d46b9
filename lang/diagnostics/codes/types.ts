/** Codes of types. */
import type { CodePage } from "./code_page.ts";

/** `TY0001` and on. */
export const TYPE_PAGES: readonly CodePage[] = [
  {
    code: "TY0001",
    title: "Type mismatch",
    severity: "error",
    explanation:
      "The value has another type than its place. Nothing is converted by itself; a fix offers the conversion where there is one.",
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
      "Both sides of an operator have the same type. Nothing is converted by itself, because every conversion loses or costs something that should be seen.",
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
    title: "Operator not defined",
    severity: "error",
    explanation:
      "Arithmetic is for numbers; `+` also joins two texts or two lists; bits are those of `Int` and `Int64`.",
    bad: "pub fn start() -> Bool {\n  true * false\n}\n",
    fixed: ["pub fn start() -> Bool {\n  true and false\n}\n"],
  },
  {
    code: "TY0004",
    title: "Condition is no Bool",
    severity: "error",
    explanation:
      "Conditions of `if` and `while`, guards, and the sides of `and`, `or` and `not` are of type `Bool`. No other value counts as true or false.",
    bad: "pub fn some(count: Int) -> Bool {\n  if count { true } else { false }\n}\n",
    fixed: ["pub fn some(count: Int) -> Bool {\n  if count > 0 { true } else { false }\n}\n"],
  },
  {
    code: "TY0005",
    title: "Wrong number of arguments",
    severity: "error",
    explanation: "A call gives every parameter one argument.",
    bad: "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  double(1, 2)\n}\n",
    fixed: ["fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  double(1)\n}\n"],
  },
  {
    code: "TY0006",
    title: "Arguments out of order",
    severity: "error",
    explanation: "Arguments by position come first, then those by name, and none is given twice.",
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
      "A record is made with a value for each of its fields. `Ball { ..old, x: 1.0 }` takes the others from another value.",
    bad:
      "type Ball = { x: Float, y: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0 }\n  ball.x + ball.y\n}\n",
    fixed: [
      "type Ball = { x: Float, y: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0, y: 0.0 }\n  ball.x + ball.y\n}\n",
    ],
  },
  {
    code: "TY0008",
    title: "Field given twice",
    severity: "error",
    explanation: "Each field of a record takes one value.",
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
      "Functions, variants with fields and function values can be called. Other values cannot, and records are written with braces.",
    bad: "pub fn start(count: Int) -> Int {\n  count()\n}\n",
    fixed: ["pub fn start(count: Int) -> Int {\n  count\n}\n"],
  },
  {
    code: "TY0010",
    title: "Missing interface",
    severity: "error",
    explanation:
      "`==` asks for `Eq`, `<` for `Ord`, keys of maps for `Hash`, texts for `Show`. These are derived for every type whose parts have them; functions have none of them, `Float` has no `Hash`, and a type parameter has what is asked of it.",
    bad: "pub fn same[T](left: T, right: T) -> Bool {\n  left == right\n}\n",
    fixed: ["pub fn same[T: Eq](left: T, right: T) -> Bool {\n  left == right\n}\n"],
  },
  {
    code: "TY0011",
    title: "Type does not fit the interface",
    severity: "error",
    explanation:
      "A type fits an interface when it has all of its functions, with the same parameters and results.",
    bad:
      "interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start() -> Float {\n  total(Dot { x: 1.0 })\n}\n",
    fixed: [
      "interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  self.x * 0.0\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start() -> Float {\n  total(Dot { x: 1.0 })\n}\n",
    ],
  },
  {
    code: "TY0012",
    title: "Type cannot be told",
    severity: "error",
    explanation:
      "The type of a value follows from how it is made and used. Here nothing says what it is: write it down.",
    bad: "pub fn start() -> Int {\n  let list = []\n  list.len()\n}\n",
    fixed: ["pub fn start() -> Int {\n  let list: List[Int] = []\n  list.len()\n}\n"],
  },
  {
    code: "TY0013",
    title: "Number out of range",
    severity: "error",
    explanation: "`Int` has 32 bits, `Int64` has 64. A literal must fit.",
    bad: "pub fn start() -> Int {\n  0xffff_ffff\n}\n",
    fixed: ["pub fn start() -> Int {\n  -1\n}\n"],
  },
  {
    code: "TY0014",
    title: "Wrong number of types",
    severity: "error",
    explanation: "A generic type takes as many types in brackets as it has parameters; others take none.",
    bad: "pub fn start() -> Int[Int] {\n  1\n}\n",
    fixed: ["pub fn start() -> Int {\n  1\n}\n"],
  },
  {
    code: "TY0015",
    title: "Missing type in a signature",
    severity: "error",
    explanation:
      "Parameters of exported functions and of properties are written with their types, so that a module can be understood, and checked, without looking into the bodies of others.",
    bad: "pub fn double(n) -> Int {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "TY0016",
    title: "If without else as a value",
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
    explanation: "All arms of a `match`, and both branches of an `if`, give values of the same type.",
    bad:
      'fn name(n: Int) {\n  if n > 0 { "positive" } else { n.to_float() }\n}\n\npub fn start() -> String {\n  name(1)\n}\n',
    fixed: [
      'fn name(n: Int) {\n  if n > 0 { "positive" } else { "{n.to_float()}" }\n}\n\npub fn start() -> String {\n  name(1)\n}\n',
    ],
  },
  {
    code: "TY0018",
    title: "Question mark on a plain value",
    severity: "error",
    explanation: "`?` takes the value out of an `Option` or `Result`. Other values need no taking out.",
    bad:
      "fn half(n: Int) -> Option[Int] {\n  let whole = n?\n  Some(whole / 2)\n}\n\npub fn start() -> Option[Int] {\n  half(4)\n}\n",
    fixed: [
      "fn half(n: Int) -> Option[Int] {\n  let whole = n\n  Some(whole / 2)\n}\n\npub fn start() -> Option[Int] {\n  half(4)\n}\n",
    ],
  },
  {
    code: "TY0019",
    title: "Question mark without a way out",
    severity: "error",
    explanation:
      "When there is no value, `?` returns from the function with what stands in its way. So the function gives an `Option` for an `Option`, and a `Result` with the same errors for a `Result`.",
    bad: "pub fn first(text: String) -> Int {\n  let number = text.parse_int()?\n  number\n}\n",
    fixed: ["pub fn first(text: String) -> Int {\n  let number = text.parse_int().unwrap()\n  number\n}\n"],
  },
  {
    code: "TY0020",
    title: "Not a record",
    severity: "error",
    explanation: "Braces with fields make values of records. Variants take their fields in parentheses.",
    bad:
      "type Shape = Circle(radius: Float) | Dot\n\npub fn start() -> Bool {\n  let shape = Circle { radius: 2.0 }\n  shape == Dot\n}\n",
    fixed: [
      "type Shape = Circle(radius: Float) | Dot\n\npub fn start() -> Bool {\n  let shape = Circle(radius: 2.0)\n  shape == Dot\n}\n",
    ],
  },
  {
    code: "TY0021",
    title: "No elements by index",
    severity: "error",
    explanation:
      "Lists, maps, pools and bytes have elements that are found with brackets. The parts of a tuple are `.0`, `.1` and so on.",
    bad: "pub fn second(pair: (Int, Float)) -> Float {\n  pair[1]\n}\n",
    fixed: ["pub fn second(pair: (Int, Float)) -> Float {\n  pair.1\n}\n"],
  },
  {
    code: "TY0022",
    title: "Cannot go over this",
    severity: "error",
    explanation:
      "`for` goes over ranges, lists, maps, sets, pools, texts, and types with a method `next(self: inout T) -> Option[X]`.",
    bad: "pub fn sum(count: Int) -> Int {\n  var total = 0\n  for i in count { total += i }\n  total\n}\n",
    fixed: [
      "pub fn sum(count: Int) -> Int {\n  var total = 0\n  for i in 0..count { total += i }\n  total\n}\n",
    ],
  },
  {
    code: "TY0024",
    title: "Value without an end",
    severity: "error",
    explanation:
      "A record that holds itself would have values without an end. An `Option`, a list, or a variant without it ends them.",
    bad: "pub type Node = { value: Int, next: Node }\n",
    fixed: ["pub type Node = { value: Int, next: Option[Node] }\n"],
  },
  {
    code: "TY0025",
    title: "Alias of itself",
    severity: "error",
    explanation:
      "An alias is another name for a type that there is. One that stands for itself stands for nothing.",
    bad: "pub type Score = Points\npub type Points = Score\n",
    fixed: ["pub type Score = Int\npub type Points = Score\n"],
  },
  {
    code: "TY0026",
    title: "Missing result",
    severity: "error",
    explanation:
      "The value of a block is its last expression; a function that gives a value must end with one, or with `return`.",
    bad: "pub fn double(n: Int) -> Int {\n  var twice = n\n  twice += n\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  var twice = n\n  twice += n\n  twice\n}\n"],
  },
  {
    code: "TY0027",
    title: "Value without a result type",
    severity: "error",
    explanation:
      "An exported function that writes no result gives `()`. When its body ends with a value, either the result is missing, or the value is not meant to be one.",
    bad: "pub fn double(n: Int) {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n", "pub fn double(n: Int) {\n  let _ = n * 2\n}\n"],
  },
  {
    code: "TY0028",
    title: "No such part of a tuple",
    severity: "error",
    explanation: "The parts of a tuple are counted from 0.",
    bad: "pub fn third(pair: (Int, Int)) -> Int {\n  pair.2\n}\n",
    fixed: ["pub fn third(pair: (Int, Int)) -> Int {\n  pair.1\n}\n"],
  },
  {
    code: "TY0029",
    title: "Pattern of another type",
    severity: "error",
    explanation: "A pattern has the type of what it looks at.",
    bad: "pub fn is_half(x: Float) -> Bool {\n  match x {\n    1 => false\n    _ => true\n  }\n}\n",
    fixed: ["pub fn is_half(x: Float) -> Bool {\n  match x {\n    1.0 => false\n    _ => true\n  }\n}\n"],
  },
  {
    code: "TY0030",
    title: "Wrong number of fields in a pattern",
    severity: "error",
    explanation: "The pattern of a variant names all of its fields, or leaves some out with `..`.",
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
    explanation:
      "All elements of a list have the same type. Values of several types are variants of a union.",
    bad: "pub fn start() -> Int {\n  let list = [1, 2.0]\n  list.len()\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  let list = [1, 2]\n  list.len()\n}\n",
      "pub fn start() -> Int {\n  let list = [1, 2.0.to_int()]\n  list.len()\n}\n",
    ],
  },
  {
    code: "TY0032",
    title: "Constant made of itself",
    severity: "error",
    explanation: "A constant is worked out from others before anything runs, so it cannot need itself.",
    bad: "pub const width: Int = height * 2\npub const height: Int = width / 2\n",
    fixed: ["pub const width: Int = 640\npub const height: Int = width / 2\n"],
  },
  {
    code: "TY0033",
    title: "Nothing to leave",
    severity: "error",
    explanation:
      "`break` and `continue` belong to the loop around them; a function value inside of a loop is not part of it.",
    bad: "pub fn start(n: Int) -> Int {\n  if n > 3 { break }\n  n\n}\n",
    fixed: ["pub fn start(n: Int) -> Int {\n  if n > 3 { return 3 }\n  n\n}\n"],
  },
  {
    code: "TY0034",
    title: "Method of another instance",
    severity: "error",
    explanation: "The method is for the type with other types inside.",
    bad:
      "type Box[T] = { value: T }\n\nfn Box.doubled(self: Box[Int]) -> Int {\n  self.value * 2\n}\n\npub fn start() -> Int {\n  let box = Box { value: 1.5 }\n  box.doubled()\n}\n",
    fixed: [
      "type Box[T] = { value: T }\n\nfn Box.doubled(self: Box[Int]) -> Int {\n  self.value * 2\n}\n\npub fn start() -> Int {\n  let box = Box { value: 1 }\n  box.doubled()\n}\n",
    ],
  },
  {
    code: "TY0035",
    title: "Snapshot without its text",
    severity: "error",
    explanation:
      "`expect_snapshot` compares what a value shows with a text that stands beside it, so that `lang test --update` can write the text.",
    bad: 'test "snapshot" {\n  let text = "3"\n  expect_snapshot(1 + 2, text)\n}\n',
    fixed: ['test "snapshot" {\n  expect_snapshot(1 + 2, "3")\n}\n'],
  },
  {
    code: "TY0036",
    title: "Interface used as a type",
    severity: "error",
    explanation: "An interface says what a type can do; it is not a type. A generic function asks for it.",
    bad: 'pub fn text(value: Show) -> String {\n  "value"\n}\n',
    fixed: ["pub fn text[T: Show](value: T) -> String {\n  value.show()\n}\n"],
  },
  {
    code: "TY0037",
    title: "Generic function in an interface",
    severity: "error",
    explanation: "The functions of an interface have no type parameters of their own.",
    bad: "pub interface Source {\n  fn read[T](self: Self, value: T) -> T\n}\n",
    fixed: ["pub interface Source {\n  fn read(self: Self, value: Int) -> Int\n}\n"],
  },
  {
    code: "TY0038",
    title: "Receiver of another type",
    severity: "error",
    explanation: "The receiver of a method has the type that the method is named after.",
    bad:
      "pub type Ball = { x: Float }\n\npub fn Ball.same(self: Float, other: Ball) -> Bool {\n  other.x > 0.0\n}\n",
    fixed: [
      "pub type Ball = { x: Float }\n\npub fn Ball.same(self: Ball, other: Ball) -> Bool {\n  other.x > 0.0\n}\n",
    ],
  },
  {
    code: "TY0039",
    title: "Exported constant without a type",
    severity: "error",
    explanation: "What a module exports is written with its type.",
    bad: "pub const gravity = 9.8\n",
    fixed: ["pub const gravity: Float = 9.8\n"],
  },
  {
    code: "TY0040",
    title: "Score of another type",
    severity: "error",
    explanation: "The score of an `eval`'s case is a `Float` from 0.0 to 1.0, or a `Bool`.",
    bad: 'eval "sums" threshold 0.9 {\n  case "one" => 1 + 1\n}\n',
    fixed: ['eval "sums" threshold 0.9 {\n  case "one" => 1 + 1 == 2\n}\n'],
  },
  {
    code: "TY0041",
    title: "Not part of a constant",
    severity: "error",
    explanation: "Constants are worked out before anything runs, so there is no test that could fail.",
    bad: "const limit: () = expect(1 < 2)\n\npub fn start() {\n  limit\n}\n",
    fixed: ["const limit: Bool = 1 < 2\n\npub fn start() -> Bool {\n  limit\n}\n"],
  },
  {
    code: "TY0042",
    title: "Wrong signature of an entry point",
    severity: "error",
    explanation:
      "The host calls the entry points of its target: `main() -> Int` or `main(args: List[String]) -> Int` of a command, `init(seed: Int) -> State`, `step(state: inout State, input: Input)` and `draw(state: State)` of a web page, each `pub fn` over numbers, `Bool`, `String` and `Bytes` of a database function.",
    bad: 'fn main() -> String {\n  "done"\n}\n',
    fixed: ["fn main() -> Int {\n  0\n}\n"],
  },
  {
    code: "TY0043",
    title: "Missing entry point",
    severity: "error",
    explanation: "A package that is built for a target has the functions that the host calls.",
    bad: "pub fn helper() -> Int {\n  1\n}\n",
    fixed: ["fn main() -> Int {\n  0\n}\n"],
  },
  {
    code: "TY0044",
    title: "Type too large",
    severity: "error",
    explanation: "Types may be large, but a program whose types double at each step would take all memory.",
    bad:
      "pub fn start() -> Int {\n  let a = (1, 2, 3, 4, 5, 6, 7, 8)\n  let b = (a, a, a, a, a, a, a, a)\n  let c = (b, b, b, b, b, b, b, b)\n  let _ = (c, c, c, c, c, c, c, c)\n  1\n}\n",
    fixed: [
      "type Row = { values: List[Int] }\n\npub fn start() -> Int {\n  let row = Row { values: [1, 2, 3, 4, 5, 6, 7, 8] }\n  row.values.len()\n}\n",
    ],
  },
  {
    code: "TY0045",
    title: "Bound on the parameter of a type",
    severity: "error",
    explanation: "What is asked of a type parameter is asked by the functions that need it.",
    bad: "pub type Bag[T: Hash] = { values: List[T] }\n",
    fixed: ["pub type Bag[T] = { values: List[T] }\n"],
  },
  {
    code: "TY0046",
    title: "Property of values that cannot be made up",
    severity: "error",
    explanation:
      "A property is tried with values of its parameters' types. There is no way to make up a function, or a name for a value in a pool.",
    bad: 'property "functions" (f: fn(Int) -> Int) {\n  expect(f(1) == f(1))\n}\n',
    fixed: ['property "numbers" (n: Int) {\n  expect(n == n)\n}\n'],
  },
  {
    code: "TY0047",
    title: "Name of the module's own export",
    severity: "error",
    explanation:
      "A module for a database exports its memory and what the host needs to run it, by names of their own: `memory`, `allocate`, `heap_bytes`, `heap_top`, `gas_left`, `trap_site`, `trap_text`, `trap_other`, `trap_index` and `trap_length`. A public function has another name.",
    bad: "pub fn memory(rows: Int) -> Int {\n  rows *% 48\n}\n",
    fixed: ["pub fn memory_value(rows: Int) -> Int {\n  rows *% 48\n}\n"],
  },
  {
    code: "TY0048",
    title: "Type that grows without end",
    severity: "error",
    explanation:
      "A generic function or type is compiled once for each type that it is used with. One that needs itself with a larger type, and that with a larger one still, would never be done.",
    bad:
      "pub fn depth[T](value: T, steps: Int) -> Int {\n  if steps == 0 { 0 } else { 1 + depth((value, value), steps - 1) }\n}\n",
    fixed: [
      "pub fn depth[T](values: List[T], steps: Int) -> Int {\n  if steps == 0 { values.len() } else { depth(values + values, steps - 1) }\n}\n",
    ],
  },
];
