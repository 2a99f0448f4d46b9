/** Codes of mutation and exclusivity. */
import type { CodePage } from "./code_page.ts";

/** `MV0001` and on. */
export const MUTATION_PAGES: readonly CodePage[] = [
  {
    code: "MV0001",
    title: "Cannot assign to an immutable binding",
    severity: "error",
    explanation: "A `let` binding is immutable. Use `var` for a variable that changes.",
    bad: "pub fn start() -> Int {\n  let count = 1\n  count = 2\n  count\n}\n",
    fixed: ["pub fn start() -> Int {\n  var count = 1\n  count = 2\n  count\n}\n"],
  },
  {
    code: "MV0002",
    title: "Cannot change a parameter",
    severity: "error",
    explanation: "A parameter is immutable. An `inout` parameter changes the caller's variable.",
    bad: "pub fn reset(count: Int) {\n  count = 0\n}\n",
    fixed: ["pub fn reset(count: inout Int) {\n  count = 0\n}\n"],
  },
  {
    code: "MV0003",
    title: "Invalid assignment target",
    severity: "error",
    explanation: "Only a variable, an `inout` parameter, or a field or element of one can be assigned to.",
    bad: "fn count() -> Int {\n  1\n}\n\npub fn start() {\n  count() = 2\n}\n",
    fixed: ["fn count() -> Int {\n  1\n}\n\npub fn start() -> Int {\n  var n = count()\n  n = 2\n  n\n}\n"],
  },
  {
    code: "MV0004",
    title: "Missing `&` on an `inout` argument",
    severity: "error",
    explanation:
      "An argument passed as `inout` is marked with `&`, so that the reader sees that the call may change it.",
    bad:
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(count)\n  count\n}\n",
    fixed: [
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(&count)\n  count\n}\n",
    ],
  },
  {
    code: "MV0005",
    title: "Unexpected `&`",
    severity: "error",
    explanation: "Only arguments for `inout` parameters are marked with `&`.",
    bad:
      "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  let count = 1\n  double(&count)\n}\n",
    fixed: [
      "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  let count = 1\n  double(count)\n}\n",
    ],
  },
  {
    code: "MV0006",
    title: "Cannot pass a temporary value as `inout`",
    severity: "error",
    explanation: "An `inout` argument must be a variable, or a field or element of one.",
    bad: "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  double(&1)\n  1\n}\n",
    fixed: [
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(&count)\n  count\n}\n",
    ],
  },
  {
    code: "MV0007",
    title: "Cannot pass an immutable binding as `inout`",
    severity: "error",
    explanation: "A `let` binding is immutable. Use `var` for a variable that a function or method changes.",
    bad: "pub fn start() -> List[Int] {\n  let list = [1, 2]\n  list.push(3)\n  list\n}\n",
    fixed: ["pub fn start() -> List[Int] {\n  var list = [1, 2]\n  list.push(3)\n  list\n}\n"],
  },
  {
    code: "MV0008",
    title: "Cannot change a captured variable",
    severity: "error",
    explanation:
      "A function value captures variables by copy, so a change inside of it would have no effect outside.",
    bad:
      "pub fn start() -> Int {\n  var total = 0\n  let add = fn(n: Int) { total += n }\n  add(1)\n  total\n}\n",
    fixed: ["pub fn start() -> Int {\n  var total = 0\n  for n in [1, 2] { total += n }\n  total\n}\n"],
  },
  {
    code: "MV0009",
    title: "Variable passed as `inout` more than once",
    severity: "error",
    explanation: "While a variable is passed as `inout`, no other argument of the call may access it.",
    bad:
      "fn swap(a: inout Int, b: inout Int) {\n  let kept = a\n  a = b\n  b = kept\n}\n\npub fn start() -> Int {\n  var n = 1\n  swap(&n, &n)\n  n\n}\n",
    fixed: [
      "fn swap(a: inout Int, b: inout Int) {\n  let kept = a\n  a = b\n  b = kept\n}\n\npub fn start() -> Int {\n  var n = 1\n  var m = 2\n  swap(&n, &m)\n  n\n}\n",
    ],
  },
  {
    code: "MV0010",
    title: "Cannot change a temporary value",
    severity: "error",
    explanation:
      "A method that changes its receiver must be called on a variable, or on a field or element of one.",
    bad: "pub fn start() {\n  [1, 2].push(3)\n}\n",
    fixed: ["pub fn start() -> List[Int] {\n  var list = [1, 2]\n  list.push(3)\n  list\n}\n"],
  },
  {
    code: "MV0011",
    title: "Cannot change a constant",
    severity: "error",
    explanation: "Constants are immutable. Copy the value into a variable and change the copy.",
    bad: "const limit: Int = 3\n\npub fn start() -> Int {\n  limit = 4\n  limit\n}\n",
    fixed: [
      "const limit: Int = 3\n\npub fn start() -> Int {\n  var count = limit\n  count += 1\n  count\n}\n",
    ],
  },
  {
    code: "MV0012",
    title: "Cannot change a copy",
    severity: "error",
    explanation:
      "Names bound by patterns and loops are copies. `for inout x in list` changes the elements themselves.",
    bad:
      "pub fn doubled(numbers: List[Int]) -> List[Int] {\n  var list = numbers\n  for n in list { n *= 2 }\n  list.push(1)\n  list\n}\n",
    fixed: [
      "pub fn doubled(numbers: List[Int]) -> List[Int] {\n  var list = numbers\n  for inout n in list { n *= 2 }\n  list.push(1)\n  list\n}\n",
    ],
  },
  {
    code: "MV0013",
    title: "`inout` argument changed by another argument",
    severity: "error",
    explanation: "A variable passed as `inout` cannot be changed by another argument of the same call.",
    bad:
      "fn add(n: inout Int, value: Int) {\n  n += value\n}\n\nfn next(n: inout Int) -> Int {\n  n += 1\n  n\n}\n\npub fn start() -> Int {\n  var n = 1\n  add(&n, next(&n))\n  n\n}\n",
    fixed: [
      "fn add(n: inout Int, value: Int) {\n  n += value\n}\n\nfn next(n: inout Int) -> Int {\n  n += 1\n  n\n}\n\npub fn start() -> Int {\n  var n = 1\n  let value = next(&n)\n  add(&n, value)\n  n\n}\n",
    ],
  },
  {
    code: "MV0014",
    title: "List accessed while a loop changes it",
    severity: "error",
    explanation: "`for inout` has exclusive access to its list: the loop body can use only the element.",
    bad:
      "pub fn start() -> Int {\n  var list = [1, 2]\n  for inout n in list { n += list.len() }\n  list.len()\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  var list = [1, 2]\n  let count = list.len()\n  for inout n in list { n += count }\n  list.len()\n}\n",
    ],
  },
];
