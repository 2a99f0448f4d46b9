/** Codes of the lexer and the parser: statements, declarations and texts. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages. */
export const MORE_SYNTAX_PAGES: readonly CodePage[] = [
  {
    code: "SY0034",
    title: "C-style `for` loop",
    severity: "error",
    explanation: "`for` iterates over a range: `a..b` excludes `b`, and `a..=b` includes it.",
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
    title: "Missing `in`",
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
    explanation: "A `match` arm is a pattern, `=>` and an expression, without a keyword.",
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
    explanation: "The pattern `_` matches everything.",
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
    title: "Missing `=>`",
    severity: "error",
    explanation: "The pattern and the expression of a `match` arm are separated by `=>`.",
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
    title: "Ambiguous `else` after a block",
    severity: "error",
    explanation:
      "After a `}`, the `else` of `let … else` would belong to an `if`. Put the value in parentheses.",
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
    title: "Unknown declaration",
    severity: "error",
    explanation:
      "The declarations are `use`, `type`, `interface`, `const`, `fn`, `test`, `property` and `eval`.",
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
    title: "Unknown modifier",
    severity: "error",
    explanation:
      "The only modifier is `pub`, which exports a declaration. Without it, the declaration is private to its module.",
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
    title: "`pub` not allowed here",
    severity: "error",
    explanation:
      "Types, interfaces, constants and functions can be exported; their members are exported with them.",
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
    title: "Type name in lower case",
    severity: "error",
    explanation: "The names of types, variants, interfaces and type parameters begin with a capital letter.",
    bad: program`
      type ball = { x: Float }
    `,
    fixed: [program`
      type Ball = { x: Float }
    `],
  },
  {
    code: "SY0044",
    title: "Value name in upper case",
    severity: "error",
    explanation:
      "The names of functions, variables, parameters, fields and modules begin with a lower-case letter.",
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
    title: "Lower-case name where a type is expected",
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
    title: "`< >` around type arguments",
    severity: "error",
    explanation: "Type arguments and type parameters are in `[ ]`.",
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
    title: "Missing `->`",
    severity: "error",
    explanation: "The result type of a function follows `->`.",
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
    title: "Missing parameter list",
    severity: "error",
    explanation: "A function is declared and called with parentheses, even without parameters.",
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
    title: "References do not exist",
    severity: "error",
    explanation:
      "Values are passed by value: a function cannot change the caller's variable, unless the parameter is `inout`. Large values are copied only when they are written to.",
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
      "Expressions, types, patterns and blocks can be nested at most 500 levels deep. Each operator of a chain such as a sum counts as one level.",
    bad: `fn deep() -> Int {\n  ${"(".repeat(600)}1${")".repeat(600)}\n}\n`,
    fixed: [],
  },
  {
    code: "SY0051",
    title: "`inout` before the parameter name",
    severity: "error",
    explanation: "`inout` is written before the type of a parameter: `n: inout Int`.",
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
    title: "Expected a declaration",
    severity: "error",
    explanation: "A module contains only declarations; statements belong in functions and tests.",
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
    title: "Function body without braces",
    severity: "error",
    explanation: "The body of a function is a block, and its value is that of its last expression.",
    bad: program`
      fn twice(x: Int) -> Int = x * 2
    `,
    fixed: [program`
      fn twice(x: Int) -> Int { x * 2 }
    `],
  },
  {
    code: "SY0054",
    title: "Interpolation not allowed here",
    severity: "error",
    explanation: "The names of tests and modules must be known before the program runs.",
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
    title: "Reserved for the library",
    severity: "error",
    explanation:
      "`builtin`, `intrinsic` and `extern` connect the library to the compiler. Programs use the library's modules.",
    bad: program`
      intrinsic fn magic(x: Int) -> Int
    `,
    fixed: [],
  },
  {
    code: "SY0056",
    title: "Unattached documentation comment",
    severity: "warning",
    explanation: "A `///` comment documents the declaration, field or variant after it.",
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
    title: "Record literal without a type",
    severity: "error",
    explanation: "`{` alone begins a block. A record literal begins with its type.",
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
    title: "Function body in an interface",
    severity: "error",
    explanation:
      "An interface contains only signatures. Each type implements them as functions with these names.",
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
    title: "Test name without quotes",
    severity: "error",
    explanation: "The names of tests, properties and evals are strings.",
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
    title: "Unexpected character",
    severity: "error",
    explanation:
      "Outside of strings and comments, a program contains only ASCII letters, digits and punctuation.",
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
    title: "Unknown escape sequence",
    severity: "error",
    explanation: "A backslash in a string must begin one of the known escape sequences.",
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
    title: "Invalid number",
    severity: "error",
    explanation: "Numbers have digits on both sides of the decimal point; `_` may separate digits.",
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
    title: "String in single quotes",
    severity: "error",
    explanation: "Single quotes are for a character, double quotes for a string.",
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
    title: "Unterminated string",
    severity: "error",
    explanation: "A string must end on the line on which it begins.",
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
    title: "Unterminated multi-line string",
    severity: "error",
    explanation: 'A string that begins with `"""` ends at the next `"""`.',
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
    title: "Unclosed interpolation",
    severity: "error",
    explanation: "In a string, `{` begins an interpolated expression and `}` ends it.",
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
    title: "Unknown comment syntax",
    severity: "error",
    explanation: "A comment begins with `//` and ends at the end of the line.",
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
    title: "Unexpected semicolon",
    severity: "error",
    explanation: "Statements need no terminator.",
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
    title: "`!` does not exist",
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
    explanation: "The alternatives of an arm are separated by `|`.",
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
    title: "Several names in one declaration",
    severity: "error",
    explanation:
      "`let` can destructure a value with a pattern, such as `(a, b)`. `var` declares one variable.",
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
    title: "`=` after a field name",
    severity: "error",
    explanation: "The fields of a record have their values after `:`.",
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
    title: "Missing field value",
    severity: "error",
    explanation:
      "A record literal gives every field a value; there is no shorthand for a variable with the field's name. In patterns, the name alone is enough.",
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
    title: "`as` conversion does not exist",
    severity: "error",
    explanation: "There are no implicit conversions and no casts: call a method such as `to_float`.",
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
    title: "Default parameter value",
    severity: "error",
    explanation:
      "Parameters have no default values. Write a second function that calls this one, or let the caller pass the value.",
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
    title: "Unknown type syntax",
    severity: "error",
    explanation: "A list is `List[T]`, and an optional value is `Option[T]`.",
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
    title: "Invalid interface member",
    severity: "error",
    explanation:
      "An interface contains only functions, each with `fn`; the receiver is the parameter `self: Self`. Fields belong to records.",
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
