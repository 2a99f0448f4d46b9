/** Codes of the lexer and the parser: statements, declarations and texts. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages. */
export const MORE_SYNTAX_PAGES: readonly CodePage[] = [
  {
    code: "SY0034",
    title: "A loop that counts",
    severity: "error",
    explanation: "`for` goes over a range: `a..b` without `b`, `a..=b` with it.",
    bad: program`
      fn total(n: Int) -> Int {
        var sum = 0
        for (let i = 0; i < n; i++) {
          sum += i
        }
        sum
      }
    `,
    fixed: [program`
      fn total(n: Int) -> Int {
        var sum = 0
        for i in 0..n {
          sum += i
        }
        sum
      }
    `],
  },
  {
    code: "SY0035",
    title: "`in` is missing",
    severity: "error",
    explanation: "A loop is written `for x in xs`.",
    bad: program`
      fn total(xs: List[Int]) -> Int {
        var sum = 0
        for x of xs { sum += x }
        sum
      }
    `,
    fixed: [program`
      fn total(xs: List[Int]) -> Int {
        var sum = 0
        for x in xs { sum += x }
        sum
      }
    `],
  },
  {
    code: "SY0036",
    title: "`case` in a `match`",
    severity: "error",
    explanation: "An arm is a pattern, `=>` and a value; no word begins it.",
    bad: program`
      fn name(n: Int) -> String {
        match n {
          case 1 => "one"
          case _ => "many"
        }
      }
    `,
    fixed: [program`
      fn name(n: Int) -> String {
        match n {
          1 => "one"
          _ => "many"
        }
      }
    `],
  },
  {
    code: "SY0037",
    title: "`else` in a `match`",
    severity: "error",
    explanation: "The pattern `_` fits everything.",
    bad: program`
      fn name(n: Int) -> String {
        match n {
          1 => "one"
          else => "many"
        }
      }
    `,
    fixed: [program`
      fn name(n: Int) -> String {
        match n {
          1 => "one"
          _ => "many"
        }
      }
    `],
  },
  {
    code: "SY0038",
    title: "`=>` is missing",
    severity: "error",
    explanation: "Between the pattern of an arm and its value stands `=>`.",
    bad: program`
      fn name(n: Int) -> String {
        match n {
          1 -> "one"
          _ -> "many"
        }
      }
    `,
    fixed: [program`
      fn name(n: Int) -> String {
        match n {
          1 => "one"
          _ => "many"
        }
      }
    `],
  },
  {
    code: "SY0039",
    title: "`else` behind a block",
    severity: "error",
    explanation:
      "The `else` of `let … else` would be taken for that of an `if` when a `}` stands before it; parentheses around the value tell them apart.",
    bad: program`
      fn first(xs: List[Int]) -> Int {
        let Some(x) = match xs.len() { 0 => None _ => Some(xs[0]) } else { return 0 }
        x
      }
    `,
    fixed: [program`
      fn first(xs: List[Int]) -> Int {
        let Some(x) = (match xs.len() { 0 => None _ => Some(xs[0]) }) else { return 0 }
        x
      }
    `],
  },
  {
    code: "SY0040",
    title: "A declaration of another language",
    severity: "error",
    explanation: "There are `use`, `type`, `interface`, `const`, `fn`, `test`, `property` and `eval`.",
    bad: program`
      function twice(x: Int) -> Int {
        x * 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0041",
    title: "A modifier of another language",
    severity: "error",
    explanation: "`pub` exports a declaration; without it, it belongs to its module.",
    bad: program`
      private fn twice(x: Int) -> Int {
        x * 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0042",
    title: "`pub` where it means nothing",
    severity: "error",
    explanation: "Types, interfaces, constants and functions are exported; their parts are with them.",
    bad: program`
      pub test "one and one" {
        expect(1 + 1 == 2)
      }
    `,
    fixed: [program`
      test "one and one" {
        expect(1 + 1 == 2)
      }
    `],
  },
  {
    code: "SY0043",
    title: "A type with a small letter",
    severity: "error",
    explanation:
      "Types, variants, interfaces and type parameters begin with a capital letter, which tells them from values.",
    bad: program`
      type ball = { x: Float }
    `,
    fixed: [program`
      type Ball = { x: Float }
    `],
  },
  {
    code: "SY0044",
    title: "A value with a capital letter",
    severity: "error",
    explanation:
      "Functions, variables, parameters, fields and modules begin with a small letter, which tells them from types and variants.",
    bad: program`
      fn Twice(x: Int) -> Int {
        x * 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0045",
    title: "A small letter where a type stands",
    severity: "error",
    explanation: "The names of types begin with a capital letter: `Int`, `Float`, `Bool`, `String`.",
    bad: program`
      fn twice(x: int) -> Int {
        x * 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0046",
    title: "`< >` around types",
    severity: "error",
    explanation: "Types have their arguments in `[ ]`, as have generic functions their parameters.",
    bad: program`
      fn size(xs: List<Int>) -> Int {
        xs.len()
      }
    `,
    fixed: [program`
      fn size(xs: List[Int]) -> Int {
        xs.len()
      }
    `],
  },
  {
    code: "SY0047",
    title: "`->` is missing",
    severity: "error",
    explanation: "The type of a function's result stands behind `->`.",
    bad: program`
      fn twice(x: Int): Int {
        x * 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0048",
    title: "The parameters are missing",
    severity: "error",
    explanation: "A function is declared and called with parentheses, also when there is nothing in them.",
    bad: program`
      fn main {
        print("hello")
      }
    `,
    fixed: [program`
      fn main() {
        print("hello")
      }
    `],
  },
  {
    code: "SY0049",
    title: "References",
    severity: "error",
    explanation:
      "Values are values: a function that gets one cannot change the caller's, unless the parameter is `inout`. What is large is not copied before it is written.",
    bad: program`
      type Ball = { x: Float }

      fn Ball.move(&mut self) {
        self.x += 1.0
      }
    `,
    fixed: [program`
      type Ball = { x: Float }

      fn Ball.move(self: inout Ball) {
        self.x += 1.0
      }
    `],
  },
  {
    code: "SY0050",
    title: "Nested too deeply",
    severity: "error",
    explanation:
      "Expressions, types, patterns and blocks lie in one another up to 500 deep, and sums of so many terms count as well.",
    bad: `fn deep() -> Int {\n  ${"(".repeat(600)}1${")".repeat(600)}\n}\n`,
    fixed: [],
  },
  {
    code: "SY0051",
    title: "`inout` before the name",
    severity: "error",
    explanation: "`inout` belongs to the type of a parameter.",
    bad: program`
      fn grow(inout x: Int) {
        x += 1
      }
    `,
    fixed: [program`
      fn grow(x: inout Int) {
        x += 1
      }
    `],
  },
  {
    code: "SY0052",
    title: "No declaration",
    severity: "error",
    explanation: "A module consists of declarations; statements stand in functions and tests.",
    bad: program`
      print("hello")
    `,
    fixed: [program`
      fn main() {
      print("hello")
      }
    `],
  },
  {
    code: "SY0053",
    title: "A body without braces",
    severity: "error",
    explanation: "The body of a function is a block; its value is that of its last expression.",
    bad: program`
      fn twice(x: Int) -> Int = x * 2
    `,
    fixed: [program`
      fn twice(x: Int) -> Int { x * 2 }
    `],
  },
  {
    code: "SY0054",
    title: "An expression in a fixed text",
    severity: "error",
    explanation: "The names of tests and modules are known before the program runs.",
    bad: program`
      test "adding {n}" {
        expect(1 + 1 == 2)
      }
    `,
    fixed: [program`
      test "adding \{n}" {
        expect(1 + 1 == 2)
      }
    `],
  },
  {
    code: "SY0055",
    title: "Only for the library",
    severity: "error",
    explanation:
      "`builtin`, `intrinsic` and `extern` connect the library with the compiler. Programs use its modules.",
    bad: program`
      intrinsic fn magic(x: Int) -> Int
    `,
    fixed: [],
  },
  {
    code: "SY0056",
    title: "A comment that documents nothing",
    severity: "warning",
    explanation: "A comment with three slashes documents the declaration, field or variant below it.",
    bad: program`
      fn main() -> Int {
        /// the answer
        42
      }
    `,
    fixed: [program`
      fn main() -> Int {
        // the answer
        42
      }
    `],
  },
  {
    code: "SY0057",
    title: "A record without its type",
    severity: "error",
    explanation: "`{` alone begins a block; a record is written with its type before the brace.",
    bad: program`
      type Ball = { x: Float }

      fn resting() -> Ball { x: 1.0 }
    `,
    fixed: [program`
      type Ball = { x: Float }

      fn resting() -> Ball { Ball { x: 1.0 } }
    `],
  },
  {
    code: "SY0058",
    title: "A body in an interface",
    severity: "error",
    explanation:
      "An interface lists what its types can do; each type has functions of those names, with bodies.",
    bad: program`
      interface Area {
        fn area(self: Self) -> Float { 0.0 }
      }
    `,
    fixed: [program`
      interface Area {
        fn area(self: Self) -> Float
      }
    `],
  },
  {
    code: "SY0059",
    title: "The name of a test without quotes",
    severity: "error",
    explanation: "Tests, properties and evals are named by texts.",
    bad: program`
      test one and one {
        expect(1 + 1 == 2)
      }
    `,
    fixed: [program`
      test "one and one" {
        expect(1 + 1 == 2)
      }
    `],
  },
  {
    code: "SY0060",
    title: "A character without meaning",
    severity: "error",
    explanation: "Outside of texts and comments a program consists of ASCII letters, digits and signs.",
    bad: program`
      fn twice(x: Int) -> Int {
        x × 2
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0061",
    title: "An unknown escape",
    severity: "error",
    explanation: "A backslash in a text begins one of a few escapes.",
    bad: program`
      fn bell() -> String {
        "ready\a"
      }
    `,
    fixed: [
      program`
      fn bell() -> String {
        "ready\u{7}"
      }
    `,
      program`
      fn bell() -> String {
        "ready\\a"
      }
    `,
    ],
  },
  {
    code: "SY0062",
    title: "No number",
    severity: "error",
    explanation: "Numbers have digits on both sides of the point; `_` may stand between digits.",
    bad: program`
      fn large() -> Float {
        1e9
      }
    `,
    fixed: [program`
      fn large() -> Float {
        1.0e9
      }
    `],
  },
  {
    code: "SY0063",
    title: "A text in single quotes",
    severity: "error",
    explanation: "Single quotes hold one character, double quotes a text.",
    bad: program`
      fn name() -> String {
        'pong'
      }
    `,
    fixed: [program`
      fn name() -> String {
        "pong"
      }
    `],
  },
  {
    code: "SY0064",
    title: "A text is not closed",
    severity: "error",
    explanation: "A text ends on its line.",
    bad: program`
      fn main() {
        print("hello)
      }
    `,
    fixed: [program`
      fn main() {
        print("hello")
      }
    `],
  },
  {
    code: "SY0065",
    title: "A text of several lines is not closed",
    severity: "error",
    explanation: 'A text between `"""` goes on up to the next `"""`.',
    bad: program`
      fn help() -> String {
        """
        one
        two
      }
    `,
    fixed: [program`
      fn help() -> String {
        """
        one
        two
        """
      }
    `],
  },
  {
    code: "SY0066",
    title: "Braces in a text are not closed",
    severity: "error",
    explanation: "In a text, `{` begins an expression and `}` ends it.",
    bad: program`
      fn greet(name: String) -> String {
        "hello {name"
      }
    `,
    fixed: [
      program`
      fn greet(name: String) -> String {
        "hello {name}"
      }
    `,
      program`
      fn greet(name: String) -> String {
        "hello \{name"
      }
    `,
    ],
  },
  {
    code: "SY0067",
    title: "A comment of another language",
    severity: "error",
    explanation: "There is one kind of comment, from `//` to the end of the line.",
    bad: program`
      # The answer.
      fn answer() -> Int {
        42
      }
    `,
    fixed: [program`
      // The answer.
      fn answer() -> Int {
        42
      }
    `],
  },
  {
    code: "SY0068",
    title: "A semicolon",
    severity: "error",
    explanation: "Statements end by themselves.",
    bad: program`
      fn main() -> Int {
        let x = 1;
        x
      }
    `,
    fixed: [program`
      fn main() -> Int {
        let x = 1
        x
      }
    `],
  },
  {
    code: "SY0069",
    title: "`!`",
    severity: "error",
    explanation: "The logical operators are the words `and`, `or` and `not`.",
    bad: program`
      fn is_odd(x: Int) -> Bool {
        !(x % 2 == 0)
      }
    `,
    fixed: [program`
      fn is_odd(x: Int) -> Bool {
        not (x % 2 == 0)
      }
    `],
  },
  {
    code: "SY0070",
    title: "Commas between patterns",
    severity: "error",
    explanation: "An arm for several patterns has bars between them.",
    bad: program`
      fn is_small(n: Int) -> Bool {
        match n {
          0, 1, 2 => true
          _ => false
        }
      }
    `,
    fixed: [program`
      fn is_small(n: Int) -> Bool {
        match n {
          0 | 1 | 2 => true
          _ => false
        }
      }
    `],
  },
  {
    code: "SY0071",
    title: "Several names at once",
    severity: "error",
    explanation:
      "`let` takes a value apart by a pattern, such as `(a, b)`; its names stay as they are. `var` makes one variable that changes.",
    bad: program`
      fn first(pair: (Int, Int)) -> Int {
        var (a, _) = pair
        a
      }
    `,
    fixed: [program`
      fn first(pair: (Int, Int)) -> Int {
        let (a, _) = pair
        a
      }
    `],
  },
  {
    code: "SY0072",
    title: "`=` behind a field",
    severity: "error",
    explanation: "A record's fields have their values behind `:`.",
    bad: program`
      type Ball = { x: Float, y: Float }

      fn resting() -> Ball {
        return Ball { x = 1.0, y = 2.0 }
      }
    `,
    fixed: [program`
      type Ball = { x: Float, y: Float }

      fn resting() -> Ball {
        return Ball { x: 1.0, y: 2.0 }
      }
    `],
  },
  {
    code: "SY0073",
    title: "A field without a value",
    severity: "error",
    explanation:
      "A record gives each field its value, also when a variable has the field's name. In patterns, a name alone is enough.",
    bad: program`
      type Ball = { x: Float, y: Float }

      fn resting(x: Float, y: Float) -> Ball {
        return Ball { x, y }
      }
    `,
    fixed: [program`
      type Ball = { x: Float, y: Float }

      fn resting(x: Float, y: Float) -> Ball {
        return Ball { x: x, y: y }
      }
    `],
  },
  {
    code: "SY0074",
    title: "`as` between a value and a type",
    severity: "error",
    explanation:
      "No value is converted by itself or by a word: a method such as `to_float` makes another value of it.",
    bad: program`
      fn half(n: Int) -> Float {
        n as Float / 2.0
      }
    `,
    fixed: [program`
      fn half(n: Int) -> Float {
        n.to_float() / 2.0
      }
    `],
  },
  {
    code: "SY0075",
    title: "A parameter with a value",
    severity: "error",
    explanation:
      "Functions have no default values. Write another function that calls this one, or let the caller say what it wants.",
    bad: program`
      fn grow(by: Int = 1) -> Int {
        by + 1
      }
    `,
    fixed: [program`
      fn grow(by: Int) -> Int {
        by + 1
      }
    `],
  },
  {
    code: "SY0076",
    title: "A type of another language",
    severity: "error",
    explanation: "Lists are `List[T]`, what may be missing is `Option[T]`.",
    bad: program`
      fn first(xs: [Int]) -> Int {
        xs[0]
      }
    `,
    fixed: [program`
      fn first(xs: List[Int]) -> Int {
        xs[0]
      }
    `],
  },
  {
    code: "SY0077",
    title: "An interface with other members",
    severity: "error",
    explanation:
      "An interface lists functions, each with `fn`; the value that has them is the parameter `self: Self`. Fields belong to a record.",
    bad: program`
      interface Area {
        area(): Float
      }
    `,
    fixed: [program`
      interface Area {
        fn area(self: Self) -> Float
      }
    `],
  },
];
