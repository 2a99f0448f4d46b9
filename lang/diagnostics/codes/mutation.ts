/** Codes of mutation and exclusivity. */
import type { CodePage } from "./code_page.ts";

/** `MV0001` and on. */
export const MUTATION_PAGES: readonly CodePage[] = [
  {
    code: "MV0001",
    title: "Assignment to let",
    severity: "error",
    explanation: "`let` names a value for good. A name that changes is a `var`.",
    bad: "pub fn start() -> Int {\n  let count = 1\n  count = 2\n  count\n}\n",
    fixed: ["pub fn start() -> Int {\n  var count = 1\n  count = 2\n  count\n}\n"],
  },
  {
    code: "MV0002",
    title: "Change of a parameter",
    severity: "error",
    explanation:
      "A parameter keeps the value that the caller gave. An `inout` parameter changes the caller's variable.",
    bad: "pub fn reset(count: Int) {\n  count = 0\n}\n",
    fixed: ["pub fn reset(count: inout Int) {\n  count = 0\n}\n"],
  },
  {
    code: "MV0003",
    title: "Assignment to what is no place",
    severity: "error",
    explanation:
      "A place is a variable, an `inout` parameter, or a field or element of a place. Other values belong to nobody.",
    bad: "fn count() -> Int {\n  1\n}\n\npub fn start() {\n  count() = 2\n}\n",
    fixed: ["fn count() -> Int {\n  1\n}\n\npub fn start() -> Int {\n  var n = count()\n  n = 2\n  n\n}\n"],
  },
  {
    code: "MV0004",
    title: "Missing mark of an inout argument",
    severity: "error",
    explanation: "An argument that the function changes is marked with `&`, so that a reader sees it.",
    bad:
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(count)\n  count\n}\n",
    fixed: [
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(&count)\n  count\n}\n",
    ],
  },
  {
    code: "MV0005",
    title: "Superfluous mark",
    severity: "error",
    explanation: "Only arguments that the function may change are marked with `&`.",
    bad:
      "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  let count = 1\n  double(&count)\n}\n",
    fixed: [
      "fn double(n: Int) -> Int {\n  n * 2\n}\n\npub fn start() -> Int {\n  let count = 1\n  double(count)\n}\n",
    ],
  },
  {
    code: "MV0006",
    title: "Value lent as a place",
    severity: "error",
    explanation:
      "An `inout` parameter changes a place of the caller, and a value that nobody holds has none.",
    bad: "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  double(&1)\n  1\n}\n",
    fixed: [
      "fn double(n: inout Int) {\n  n *= 2\n}\n\npub fn start() -> Int {\n  var count = 1\n  double(&count)\n  count\n}\n",
    ],
  },
  {
    code: "MV0007",
    title: "Let lent to be changed",
    severity: "error",
    explanation: "`let` names a value for good. What a function or method changes is a `var`.",
    bad: "pub fn start() -> List[Int] {\n  let list = [1, 2]\n  list.push(3)\n  list\n}\n",
    fixed: ["pub fn start() -> List[Int] {\n  var list = [1, 2]\n  list.push(3)\n  list\n}\n"],
  },
  {
    code: "MV0008",
    title: "Change of a captured variable",
    severity: "error",
    explanation:
      "A function value holds copies of the variables that it uses, so changing them inside would change nothing outside.",
    bad:
      "pub fn start() -> Int {\n  var total = 0\n  let add = fn(n: Int) { total += n }\n  add(1)\n  total\n}\n",
    fixed: ["pub fn start() -> Int {\n  var total = 0\n  for n in [1, 2] { total += n }\n  total\n}\n"],
  },
  {
    code: "MV0009",
    title: "Place lent twice",
    severity: "error",
    explanation: "While a function holds a place as `inout`, nobody else may touch it.",
    bad:
      "fn swap(a: inout Int, b: inout Int) {\n  let kept = a\n  a = b\n  b = kept\n}\n\npub fn start() -> Int {\n  var n = 1\n  swap(&n, &n)\n  n\n}\n",
    fixed: [
      "fn swap(a: inout Int, b: inout Int) {\n  let kept = a\n  a = b\n  b = kept\n}\n\npub fn start() -> Int {\n  var n = 1\n  var m = 2\n  swap(&n, &m)\n  n\n}\n",
    ],
  },
  {
    code: "MV0010",
    title: "Change of a value without a place",
    severity: "error",
    explanation:
      "A method that changes its receiver needs a place: a variable, or a field or element of one.",
    bad: "pub fn start() {\n  [1, 2].push(3)\n}\n",
    fixed: ["pub fn start() -> List[Int] {\n  var list = [1, 2]\n  list.push(3)\n  list\n}\n"],
  },
  {
    code: "MV0011",
    title: "Change of a constant",
    severity: "error",
    explanation: "A constant never changes. Copy it into a variable to change the copy.",
    bad: "const limit: Int = 3\n\npub fn start() -> Int {\n  limit = 4\n  limit\n}\n",
    fixed: [
      "const limit: Int = 3\n\npub fn start() -> Int {\n  var count = limit\n  count += 1\n  count\n}\n",
    ],
  },
  {
    code: "MV0012",
    title: "Change of a name that holds a copy",
    severity: "error",
    explanation:
      "Names of patterns and loops hold copies. `for inout x in list` changes the elements themselves.",
    bad:
      "pub fn doubled(numbers: List[Int]) -> List[Int] {\n  var list = numbers\n  for n in list { n *= 2 }\n  list.push(1)\n  list\n}\n",
    fixed: [
      "pub fn doubled(numbers: List[Int]) -> List[Int] {\n  var list = numbers\n  for inout n in list { n *= 2 }\n  list.push(1)\n  list\n}\n",
    ],
  },
  {
    code: "MV0013",
    title: "Lent place changed by another argument",
    severity: "error",
    explanation: "While the place is lent, working out another argument changes it.",
    bad:
      "fn add(n: inout Int, value: Int) {\n  n += value\n}\n\nfn next(n: inout Int) -> Int {\n  n += 1\n  n\n}\n\npub fn start() -> Int {\n  var n = 1\n  add(&n, next(&n))\n  n\n}\n",
    fixed: [
      "fn add(n: inout Int, value: Int) {\n  n += value\n}\n\nfn next(n: inout Int) -> Int {\n  n += 1\n  n\n}\n\npub fn start() -> Int {\n  var n = 1\n  let value = next(&n)\n  add(&n, value)\n  n\n}\n",
    ],
  },
  {
    code: "MV0014",
    title: "List touched while a loop changes it",
    severity: "error",
    explanation: "`for inout` holds its list: inside the loop only the element is there.",
    bad:
      "pub fn start() -> Int {\n  var list = [1, 2]\n  for inout n in list { n += list.len() }\n  list.len()\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  var list = [1, 2]\n  let count = list.len()\n  for inout n in list { n += count }\n  list.len()\n}\n",
    ],
  },
];
