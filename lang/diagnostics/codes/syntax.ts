/** Codes of the lexer and the parser: expressions and brackets. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages. */
export const SYNTAX_PAGES: readonly CodePage[] = [
  {
    code: "SY0001",
    title: "Unexpected token",
    severity: "error",
    explanation: "The grammar does not allow this token here. The message lists what is expected.",
    bad: program`
      fn area(width: Int, height: Int) -> Int {
        width * / height
      }
    `,
    fixed: [
      program`
      fn area(width: Int, height: Int) -> Int {
        width * height
      }
    `,
      program`
      fn area(width: Int, height: Int) -> Int {
        width * panic("not written yet") / height
      }
    `,
    ],
  },
  {
    code: "SY0002",
    title: "Unfinished declaration",
    severity: "error",
    explanation: "A declaration is not finished when the file ends or the next declaration begins.",
    bad: program`
      type Score =
    `,
    fixed: [program`
      type Score = ()
    `],
  },
  {
    code: "SY0003",
    title: "Missing expression",
    severity: "error",
    explanation:
      'An operator, a comma or a keyword must be followed by an expression. The suggested `panic("not written yet")` has every type, and ends the program when it is reached.',
    bad: program`
      fn twice(x: Int) -> Int {
        x *
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * panic("not written yet")
      }
    `],
  },
  {
    code: "SY0004",
    title: "Missing token",
    severity: "error",
    explanation: "A word or a punctuation mark is missing between this token and the one before it.",
    bad: program`
      type Ball = { x: Float, y: Float }

      fn resting() -> Ball {
        Ball { x: 1.0, y 2.0 }
      }
    `,
    fixed: [program`
      type Ball = { x: Float, y: Float }

      fn resting() -> Ball {
        Ball { x: 1.0, y: 2.0 }
      }
    `],
  },
  {
    code: "SY0005",
    title: "Unclosed bracket",
    severity: "error",
    explanation:
      "Every `(`, `[` and `{` must be closed. The place where it was forgotten is guessed from the indentation and from what follows.",
    bad: program`
      fn total(xs: List[Int]) -> Int {
        let sum = twice(xs[0]
        sum
      }

      fn twice(x: Int) -> Int { x * 2 }
    `,
    fixed: [program`
      fn total(xs: List[Int]) -> Int {
        let sum = twice(xs[0])
        sum
      }

      fn twice(x: Int) -> Int { x * 2 }
    `],
  },
  {
    code: "SY0006",
    title: "Unexpected closing bracket",
    severity: "error",
    explanation: "There is no open bracket that it could close.",
    bad: program`
      fn twice(x: Int) -> Int {
        x * 2)
      }
    `,
    fixed: [program`
      fn twice(x: Int) -> Int {
        x * 2
      }
    `],
  },
  {
    code: "SY0007",
    title: "Mismatched closing bracket",
    severity: "error",
    explanation: "The innermost open bracket is of a different kind.",
    bad: program`
      fn first(xs: List[Int]) -> Int {
        xs[0)
      }
    `,
    fixed: [program`
      fn first(xs: List[Int]) -> Int {
        xs[0]
      }
    `],
  },
  {
    code: "SY0008",
    title: "Missing comma",
    severity: "error",
    explanation: "List elements, arguments and record fields are separated by commas.",
    bad: program`
      fn corners() -> List[Int] {
        [1, 2 3]
      }
    `,
    fixed: [program`
      fn corners() -> List[Int] {
        [1, 2, 3]
      }
    `],
  },
  {
    code: "SY0009",
    title: "Unexpected comma",
    severity: "error",
    explanation:
      "Statements, declarations and the arms of a `match` need no separator. Commas separate elements in brackets.",
    bad: program`
      fn name(n: Int) -> String {
        match n {
          1 => "one",
          2 => "two",
          _ => "many"
        }
      }
    `,
    fixed: [program`
      fn name(n: Int) -> String {
        match n {
          1 => "one"
          2 => "two"
          _ => "many"
        }
      }
    `],
  },
  {
    code: "SY0010",
    title: "Empty interpolation",
    severity: "error",
    explanation: "In a string, `{` begins an interpolated expression. Write `\\{` for a literal brace.",
    bad: program`
      fn empty_set() -> String {
        "{}"
      }
    `,
    fixed: [program`
      fn empty_set() -> String {
        "\{}"
      }
    `],
  },
  {
    code: "SY0011",
    title: "Unknown operator",
    severity: "error",
    explanation: "The logical operators are the words `and`, `or` and `not`; equality is `==` and `!=`.",
    bad: program`
      fn both(a: Bool, b: Bool) -> Bool {
        a && b
      }
    `,
    fixed: [program`
      fn both(a: Bool, b: Bool) -> Bool {
        a and b
      }
    `],
  },
  {
    code: "SY0012",
    title: "`++` and `--` do not exist",
    severity: "error",
    explanation: "A variable is changed by an assignment, which is a statement and has no value.",
    bad: program`
      fn count(n: Int) -> Int {
        var total = n
        total++
        total
      }
    `,
    fixed: [program`
      fn count(n: Int) -> Int {
        var total = n
        total += 1
        total
      }
    `],
  },
  {
    code: "SY0013",
    title: "Chained comparison",
    severity: "error",
    explanation:
      "A comparison returns a `Bool`, which would be the left side of the next one. Write two comparisons joined with `and`.",
    bad: program`
      fn is_digit(x: Int) -> Bool {
        0 <= x < 10
      }
    `,
    fixed: [program`
      fn is_digit(x: Int) -> Bool {
        0 <= x and x < 10
      }
    `],
  },
  {
    code: "SY0014",
    title: "`=` in a named argument",
    severity: "error",
    explanation: "Arguments are positional, or named with `:`.",
    bad: program`
      fn confirm(sure: Bool) -> Bool { sure }

      fn main() -> Bool {
        let sure = true
        confirm(sure = true)
      }
    `,
    fixed: [
      program`
      fn confirm(sure: Bool) -> Bool { sure }

      fn main() -> Bool {
        let sure = true
        confirm(sure: true)
      }
    `,
      program`
      fn confirm(sure: Bool) -> Bool { sure }

      fn main() -> Bool {
        let sure = true
        confirm(sure == true)
      }
    `,
    ],
  },
  {
    code: "SY0015",
    title: "Assignment used as an expression",
    severity: "error",
    explanation: "`=` assigns and has no value; `==` compares.",
    bad: program`
      fn is_one(x: Int) -> Bool {
        if x = 1 { true } else { false }
      }
    `,
    fixed: [program`
      fn is_one(x: Int) -> Bool {
        if x == 1 { true } else { false }
      }
    `],
  },
  {
    code: "SY0016",
    title: "Invalid assignment target",
    severity: "error",
    explanation: "Only a variable, or a field or element of one, can be assigned to.",
    bad: program`
      fn main() -> Int {
        var x = 1
        x + 1 = 2
        x
      }
    `,
    fixed: [program`
      fn main() -> Int {
        var x = 1
        x + 1 == 2
        x
      }
    `],
  },
  {
    code: "SY0017",
    title: "`? :` does not exist",
    severity: "error",
    explanation: "`if` is an expression: its value is that of the branch taken.",
    bad: program`
      fn larger(a: Int, b: Int) -> Int {
        let larger = a > b ? a : b
        larger
      }
    `,
    fixed: [program`
      fn larger(a: Int, b: Int) -> Int {
        let larger = if a > b { a } else { b }
        larger
      }
    `],
  },
  {
    code: "SY0018",
    title: "`::` does not exist",
    severity: "error",
    explanation: "Members of modules and types are accessed with a dot.",
    bad: program`
      fn middle() -> Float {
        Float::zero()
      }
    `,
    fixed: [program`
      fn middle() -> Float {
        Float.zero()
      }
    `],
  },
  {
    code: "SY0019",
    title: "Invalid function value",
    severity: "error",
    explanation: "An anonymous function is written `fn(x) { … }`.",
    bad: program`
      fn doubled(xs: List[Int]) -> List[Int] {
        xs.map(x => x * 2)
      }
    `,
    fixed: [program`
      fn doubled(xs: List[Int]) -> List[Int] {
        xs.map(fn(x) { x * 2 })
      }
    `],
  },
  {
    code: "SY0020",
    title: "`let mut` does not exist",
    severity: "error",
    explanation: "`let` is immutable; use `var` for a variable that changes.",
    bad: program`
      fn main() -> Int {
        let mut total = 1
        total += 1
        total
      }
    `,
    fixed: [program`
      fn main() -> Int {
        var total = 1
        total += 1
        total
      }
    `],
  },
  {
    code: "SY0021",
    title: "`const` in a block",
    severity: "error",
    explanation: "Constants belong to a module or a type. In a block, use `let`.",
    bad: program`
      fn main() -> Int {
        const limit = 10
        limit
      }
    `,
    fixed: [program`
      fn main() -> Int {
        let limit = 10
        limit
      }
    `],
  },
  {
    code: "SY0022",
    title: "`else if` written as one word",
    severity: "error",
    explanation: "Write the two keywords `else if`.",
    bad: program`
      fn sign(x: Int) -> Int {
        if x < 0 {
          -1
        } elif x > 0 {
          1
        } else {
          0
        }
      }
    `,
    fixed: [program`
      fn sign(x: Int) -> Int {
        if x < 0 {
          -1
        } else if x > 0 {
          1
        } else {
          0
        }
      }
    `],
  },
  {
    code: "SY0023",
    title: "`switch` does not exist",
    severity: "error",
    explanation: "`match` compares a value with patterns and covers every case.",
    bad: program`
      fn name(n: Int) -> String {
        switch n {
          1 => "one"
          _ => "many"
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
    code: "SY0024",
    title: "Unknown loop or condition",
    severity: "error",
    explanation: "The control statements are `if`, `while` and `for`.",
    bad: program`
      fn main() -> Int {
        var n = 0
        loop {
          n += 1
          if n > 3 { break }
        }
        n
      }
    `,
    fixed: [program`
      fn main() -> Int {
        var n = 0
        while true {
          n += 1
          if n > 3 { break }
        }
        n
      }
    `],
  },
  {
    code: "SY0025",
    title: "Exceptions do not exist",
    severity: "error",
    explanation:
      "A function that can fail returns `Result[T, E]`: it returns `Err(error)`, and its callers use `match` or `?`. `panic` ends the program when an invariant is broken.",
    bad: program`
      fn half(x: Int) -> Result[Int, String] {
        if x % 2 != 0 {
          throw "odd"
        }
        Ok(x / 2)
      }
    `,
    fixed: [program`
      fn half(x: Int) -> Result[Int, String] {
        if x % 2 != 0 {
          return Err("odd")
        }
        Ok(x / 2)
      }
    `],
  },
  {
    code: "SY0026",
    title: "Function declaration in a block",
    severity: "error",
    explanation:
      "Functions are declared at the top level of a module. In a block, bind a function value to a name.",
    bad: program`
      fn main() -> Int {
        fn twice(x: Int) -> Int { x * 2 }
        twice(2)
      }
    `,
    fixed: [program`
      fn main() -> Int {
        let twice = fn(x: Int) -> Int { x * 2 }
        twice(2)
      }
    `],
  },
  {
    code: "SY0027",
    title: "Type before the name",
    severity: "error",
    explanation:
      "A type annotation follows the name after a colon. Most of them can be left out, because the type is inferred.",
    bad: program`
      fn main() -> Int {
        int count = 5
        count
      }
    `,
    fixed: [
      program`
      fn main() -> Int {
        let count: Int = 5
        count
      }
    `,
      program`
      fn main() -> Int {
        var count: Int = 5
        count
      }
    `,
    ],
  },
  {
    code: "SY0028",
    title: "Call without parentheses",
    severity: "error",
    explanation: "Arguments are in parentheses, even a single string.",
    bad: program`
      fn main() {
        print "hello"
      }
    `,
    fixed: [program`
      fn main() {
        print("hello")
      }
    `],
  },
  {
    code: "SY0029",
    title: "`:=` does not exist",
    severity: "error",
    explanation: "Declare an immutable binding with `let` and a variable with `var`.",
    bad: program`
      fn main() -> Int {
        count := 5
        count
      }
    `,
    fixed: [
      program`
      fn main() -> Int {
        let count = 5
        count
      }
    `,
      program`
      fn main() -> Int {
        var count = 5
        count
      }
    `,
    ],
  },
  {
    code: "SY0030",
    title: "Missing separator",
    severity: "error",
    explanation:
      "A name and its value are separated by `=`. The parts of a module path are separated by dots, and each module has its own `use`.",
    bad: program`
      fn main() -> Int {
        let count 5
        count
      }
    `,
    fixed: [program`
      fn main() -> Int {
        let count = 5
        count
      }
    `],
  },
  {
    code: "SY0031",
    title: "Keyword used as a name",
    severity: "error",
    explanation: "Keywords are reserved and cannot be used as names.",
    bad: program`
      fn area(type: Int) -> Int {
        4
      }
    `,
    fixed: [program`
      fn area(type_: Int) -> Int {
        4
      }
    `],
  },
  {
    code: "SY0032",
    title: "Unexpected `then` or `do`",
    severity: "error",
    explanation: "The body of a condition or a loop follows directly, in braces.",
    bad: program`
      fn larger(a: Int, b: Int) -> Int {
        if a > b then a else b
      }
    `,
    fixed: [program`
      fn larger(a: Int, b: Int) -> Int {
        if a > b { a } else { b }
      }
    `],
  },
  {
    code: "SY0033",
    title: "Missing braces",
    severity: "error",
    explanation: "The bodies of `if`, `else`, `while` and `for` are in braces, even a single statement.",
    bad: program`
      fn absolute(x: Int) -> Int {
        if x < 0 return -x
        x
      }
    `,
    fixed: [program`
      fn absolute(x: Int) -> Int {
        if x < 0 { return -x }
        x
      }
    `],
  },
];
