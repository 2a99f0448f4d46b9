/** Codes of lint. */
import type { CodePage } from "./code_page.ts";

/** `LI0001` and on. */
export const LINT_PAGES: readonly CodePage[] = [
  {
    code: "LI0001",
    title: "Unused variable",
    severity: "warning",
    explanation: "The variable is never read. It may be left over, or another one was meant.",
    bad: "pub fn start() -> Int {\n  let count = 1\n  2\n}\n",
    fixed: ["pub fn start() -> Int {\n  let _count = 1\n  2\n}\n"],
  },
  {
    code: "LI0002",
    title: "Unused import",
    severity: "warning",
    explanation: "Nothing from the imported module is used.",
    bad:
      "use physics\n\npub fn start() -> Int {\n  1\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    fixed: ["\npub fn start() -> Int {\n  1\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n"],
  },
  {
    code: "LI0003",
    title: "Variable is never changed",
    severity: "warning",
    explanation: "A `var` is for a value that changes. Use `let` for one that does not.",
    bad: "pub fn start() -> Int {\n  var count = 1\n  count + 1\n}\n",
    fixed: ["pub fn start() -> Int {\n  let count = 1\n  count + 1\n}\n"],
  },
  {
    code: "LI0004",
    title: "Unreachable code",
    severity: "warning",
    explanation: "The code before it always returns, breaks, continues, panics or loops forever.",
    bad: "pub fn start(n: Int) -> Int {\n  return n\n  n + 1\n}\n",
    fixed: ["pub fn start(n: Int) -> Int {\n  return n\n}\n"],
  },
  {
    code: "LI0005",
    title: "Unused value",
    severity: "warning",
    explanation:
      "The value of the expression is never used. Use it, or discard it explicitly with `let _ =`.",
    bad: "fn half(n: Int) -> Int {\n  n / 2\n}\n\npub fn start() -> Int {\n  half(2)\n  1\n}\n",
    fixed: ["fn half(n: Int) -> Int {\n  n / 2\n}\n\npub fn start() -> Int {\n  let _ = half(2)\n  1\n}\n"],
  },
  {
    code: "LI0006",
    title: "Unused function",
    severity: "warning",
    explanation: "This private function is never called in its module.",
    bad: "fn half(n: Int) -> Int {\n  n / 2\n}\n\npub fn start() -> Int {\n  1\n}\n",
    fixed: ["fn half(n: Int) -> Int {\n  n / 2\n}\n\npub fn start() -> Int {\n  half(2)\n}\n"],
  },
  {
    code: "LI0007",
    title: "Unused parameter",
    severity: "warning",
    explanation: "The function never reads this parameter.",
    bad: "pub fn start(count: Int) -> Int {\n  1\n}\n",
    fixed: ["pub fn start(_count: Int) -> Int {\n  1\n}\n"],
  },
  {
    code: "LI0008",
    title: "Unused constant",
    severity: "warning",
    explanation: "This private constant is never read in its module.",
    bad: "const limit: Int = 3\n\npub fn start() -> Int {\n  1\n}\n",
    fixed: ["const limit: Int = 3\n\npub fn start() -> Int {\n  limit\n}\n"],
  },
  {
    code: "LI0009",
    title: "Division by zero",
    severity: "warning",
    explanation: "This division always traps.",
    bad: "pub fn start(n: Int) -> Int {\n  n / 0\n}\n",
    fixed: ["pub fn start(n: Int) -> Int {\n  n / 2\n}\n"],
  },
  {
    code: "LI0010",
    title: "Empty range",
    severity: "warning",
    explanation:
      "`for` counts upward from the start to the end. A range whose end is before its start is empty.",
    bad: "pub fn start() -> Int {\n  var total = 0\n  for i in 9..0 { total += i }\n  total\n}\n",
    fixed: ["pub fn start() -> Int {\n  var total = 0\n  for i in 0..9 { total += i }\n  total\n}\n"],
  },
  {
    code: "LI0011",
    title: "Unused base record",
    severity: "warning",
    explanation: "All fields are given, so none is taken from the base record.",
    bad:
      "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let old = Ball { x: 1.0 }\n  let ball = Ball { ..old, x: 2.0 }\n  ball.x + old.x\n}\n",
    fixed: [
      "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let old = Ball { x: 1.0 }\n  let ball = Ball { x: 2.0 }\n  ball.x + old.x\n}\n",
    ],
  },
  {
    code: "LI0012",
    title: "Comparison with `true` or `false`",
    severity: "warning",
    explanation: "A `Bool` is already a condition.",
    bad: "pub fn start(done: Bool) -> Int {\n  if done == true { 1 } else { 2 }\n}\n",
    fixed: ["pub fn start(done: Bool) -> Int {\n  if done { 1 } else { 2 }\n}\n"],
  },
  {
    code: "LI0013",
    title: "Self-assignment",
    severity: "warning",
    explanation: "The variable is assigned to itself.",
    bad: "pub fn start() -> Int {\n  var count = 1\n  count = count\n  count\n}\n",
    fixed: ["pub fn start() -> Int {\n  var count = 1\n  count = count + 1\n  count\n}\n"],
  },
];
