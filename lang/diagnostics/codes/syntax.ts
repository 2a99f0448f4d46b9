/** Codes of the lexer and the parser: expressions and brackets. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages. */
export const SYNTAX_PAGES: readonly CodePage[] = [
  {
    code: "SY0001",
    title: "Unexpected token",
    severity: "error",
    explanation: "Something stands where the grammar allows other things only; the message says which.",
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
    title: "The declaration ends too early",
    severity: "error",
    explanation:
      "A declaration has begun and is not finished: the file ends, or the next declaration begins.",
    bad: program`
      type Score =
    `,
    fixed: [program`
      type Score = ()
    `],
  },
  {
    code: "SY0003",
    title: "An expression is missing",
    severity: "error",
    explanation:
      'An operator, a comma or a keyword announces a value, and none follows. The suggested `panic("not written yet")` fits every type and ends the program when it is reached.',
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
    title: "Something is missing",
    severity: "error",
    explanation:
      "What stands here does not follow from what stands before it, and it would if a word or sign stood between them.",
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
    title: "A bracket is never closed",
    severity: "error",
    explanation:
      "Each `(`, `[` and `{` needs its partner. Where it was forgotten can only be guessed, from the indentation and from what follows.",
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
    title: "A closing bracket without an opening one",
    severity: "error",
    explanation: "Every bracket that could be closed here is closed already.",
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
    title: "The wrong closing bracket",
    severity: "error",
    explanation: "The innermost bracket that is open is of another kind.",
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
    title: "A comma is missing",
    severity: "error",
    explanation:
      "The elements of a list, the arguments of a call, and the fields of a record are told apart by commas.",
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
    title: "A comma that separates nothing",
    severity: "error",
    explanation:
      "Statements, declarations and the arms of a `match` end by themselves; commas stand between elements in brackets only.",
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
    title: "Empty braces in a text",
    severity: "error",
    explanation:
      "In a text, `{` begins an expression that becomes a part of it. A brace that is meant itself is written `\\{`.",
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
    title: "An operator of another language",
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
    title: "`++` and `--`",
    severity: "error",
    explanation: "A variable changes by an assignment, which is a statement and has no value.",
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
      "A comparison gives a `Bool`, and what is compared next would be that. Compare twice instead.",
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
    title: "`=` before an argument",
    severity: "error",
    explanation: "Arguments are given by position, or by name with `:`.",
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
    title: "An assignment as a value",
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
    title: "Assignment to what is no place",
    severity: "error",
    explanation: "Left of `=` stands a variable, or a field, part or element of one.",
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
    title: "The operator `? :`",
    severity: "error",
    explanation: "`if` is an expression and has the value of the branch that is taken.",
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
    title: "`::`",
    severity: "error",
    explanation: "Members of modules and types are named with a dot.",
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
    title: "A function value of another language",
    severity: "error",
    explanation: "A function without a name is written like a function, with its body in braces.",
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
    title: "`let mut`",
    severity: "error",
    explanation: "`let` names a value that stays; `var` is a variable.",
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
    explanation: "Constants belong to a module or a type. In a block, `let` names a value.",
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
    title: "`else if` in one word",
    severity: "error",
    explanation: "There are two words, `else` and `if`.",
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
    title: "`switch` or `case`",
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
    title: "A loop or condition of another language",
    severity: "error",
    explanation: "There are `while`, `for` and `if`; what other words do is said with them.",
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
    title: "Exceptions",
    severity: "error",
    explanation:
      "There are none. A function that can fail has the result `Result[T, E]`: it returns `Err(error)`, and its callers use `match` or `?`. What must not happen ends the program by `panic`.",
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
    title: "A function in a block",
    severity: "error",
    explanation: "Declarations stand at the top of a module. In a block a function is a value like others.",
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
    title: "The type before the name",
    severity: "error",
    explanation: "A type stands behind a colon, and is rarely needed: it follows from the value.",
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
    title: "A call without parentheses",
    severity: "error",
    explanation: "Arguments stand in parentheses, also a single text.",
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
    title: "`:=`",
    severity: "error",
    explanation: "`let` names a value that stays, `var` a variable.",
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
    title: "A sign or word between names is missing",
    severity: "error",
    explanation:
      "Between a name and its value stands `=`; modules are named by words with dots between them, each in a `use` of its own.",
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
    title: "A word of the language as a name",
    severity: "error",
    explanation: "The keywords have their meaning everywhere and cannot be names.",
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
    title: "`then` and `do`",
    severity: "error",
    explanation: "What belongs to a condition or a loop stands in braces, without a word before them.",
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
    title: "Braces are missing",
    severity: "error",
    explanation: "What belongs to `if`, `else`, `while` and `for` stands in braces, also a single statement.",
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
