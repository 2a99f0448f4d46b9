/** Codes of matching. */
import type { CodePage } from "./code_page.ts";

/** `MX0001` and on. */
export const MATCHING_PAGES: readonly CodePage[] = [
  {
    code: "MX0001",
    title: "Non-exhaustive `match`",
    severity: "error",
    explanation:
      "A `match` must cover every possible value. The message lists the cases that are not covered.",
    bad:
      'type Phase = Playing | Paused | Over(score: Int)\n\nfn text(phase: Phase) -> String {\n  match phase {\n    Playing => "playing"\n  }\n}\n\npub fn start() -> String {\n  text(Paused)\n}\n',
    fixed: [
      'type Phase = Playing | Paused | Over(score: Int)\n\nfn text(phase: Phase) -> String {\n  match phase {\n    Playing => "playing"\n    Paused => panic("not handled yet")\n    Over(_) => panic("not handled yet")\n  }\n}\n\npub fn start() -> String {\n  text(Paused)\n}\n',
      'type Phase = Playing | Paused | Over(score: Int)\n\nfn text(phase: Phase) -> String {\n  match phase {\n    Playing => "playing"\n    _ => panic("not handled yet")\n  }\n}\n\npub fn start() -> String {\n  text(Paused)\n}\n',
    ],
  },
  {
    code: "MX0002",
    title: "Unreachable arm",
    severity: "warning",
    explanation: "The arms before it already match every value that this arm matches.",
    bad:
      'pub fn text(n: Int) -> String {\n  match n {\n    0 => "none"\n    _ => "some"\n    1 => "one"\n  }\n}\n',
    fixed: ['pub fn text(n: Int) -> String {\n  match n {\n    0 => "none"\n    _ => "some"\n  }\n}\n'],
  },
  {
    code: "MX0003",
    title: "Refutable pattern in `let`",
    severity: "error",
    explanation: "A `let` without `else` needs a pattern that matches every value.",
    bad: "pub fn first(numbers: List[Int]) -> Int {\n  let [number, ..] = numbers\n  number\n}\n",
    fixed: [
      'pub fn first(numbers: List[Int]) -> Int {\n  let [number, ..] = numbers else { panic("not handled yet") }\n  number\n}\n',
    ],
  },
  {
    code: "MX0004",
    title: "Refutable pattern in a loop",
    severity: "error",
    explanation: "The pattern of a `for` loop must match every element.",
    bad:
      "pub fn sum(numbers: List[Option[Int]]) -> Int {\n  var total = 0\n  for Some(number) in numbers { total += number }\n  total\n}\n",
    fixed: [
      "pub fn sum(numbers: List[Option[Int]]) -> Int {\n  var total = 0\n  for option in numbers {\n    if let Some(number) = option { total += number }\n  }\n  total\n}\n",
    ],
  },
  {
    code: "MX0005",
    title: "Alternatives bind different names",
    severity: "error",
    explanation: "All alternatives of a pattern must bind the same names, with the same types.",
    bad:
      "type Shape = Circle(Int) | Box(Int) | Dot\n\nfn size(shape: Shape) -> Int {\n  match shape {\n    Circle(n) | Dot => 1\n    Box(n) => n\n  }\n}\n\npub fn start() -> Int {\n  size(Circle(1)) + size(Box(2)) + size(Dot)\n}\n",
    fixed: [
      "type Shape = Circle(Int) | Box(Int) | Dot\n\nfn size(shape: Shape) -> Int {\n  match shape {\n    Circle(n) | Box(n) => n\n    Dot => 1\n  }\n}\n\npub fn start() -> Int {\n  size(Circle(1)) + size(Box(2)) + size(Dot)\n}\n",
    ],
  },
  {
    code: "MX0006",
    title: "Empty range in a pattern",
    severity: "error",
    explanation: "A range whose end is before its start matches nothing.",
    bad: "pub fn is_digit(n: Int) -> Bool {\n  match n {\n    9..=0 => true\n    _ => false\n  }\n}\n",
    fixed: ["pub fn is_digit(n: Int) -> Bool {\n  match n {\n    0..=9 => true\n    _ => false\n  }\n}\n"],
  },
  {
    code: "MX0007",
    title: "Unreachable `else`",
    severity: "warning",
    explanation: "The pattern of this `let … else` matches every value, so the `else` block never runs.",
    bad: "pub fn first(pair: (Int, Int)) -> Int {\n  let (a, _) = pair else { return 0 }\n  a\n}\n",
    fixed: ["pub fn first(pair: (Int, Int)) -> Int {\n  let (a, _) = pair\n  a\n}\n"],
  },
  {
    code: "MX0008",
    title: "`else` block does not diverge",
    severity: "error",
    explanation:
      "After `let … else` the names of the pattern are in scope, so the `else` block must diverge: with `return`, `break`, `continue` or `panic`.",
    bad: "pub fn first(option: Option[Int]) -> Int {\n  let Some(n) = option else {}\n  n\n}\n",
    fixed: [
      'pub fn first(option: Option[Int]) -> Int {\n  let Some(n) = option else { panic("not handled yet") }\n  n\n}\n',
    ],
  },
  {
    code: "MX0009",
    title: "Irrefutable pattern in `if let`",
    severity: "warning",
    explanation: "The pattern of this `if let` matches every value, so the condition is always true.",
    bad: "pub fn first(pair: (Int, Int)) -> Int {\n  if let (a, _) = pair { a } else { 0 }\n}\n",
    fixed: ["pub fn first(pair: (Int, Int)) -> Int {\n  let (a, _) = pair\n  a\n}\n"],
  },
  {
    code: "MX0010",
    title: "Pattern does not mention all fields",
    severity: "error",
    explanation:
      "A record pattern must name all fields, or end with `..` to leave some out. So a new field is not forgotten by accident.",
    bad:
      "type Ball = { x: Float, y: Float }\n\nfn left(ball: Ball) -> Float {\n  let Ball { x } = ball\n  x\n}\n\npub fn start() -> Float {\n  left(Ball { x: 1.0, y: 2.0 })\n}\n",
    fixed: [
      "type Ball = { x: Float, y: Float }\n\nfn left(ball: Ball) -> Float {\n  let Ball { x, .. } = ball\n  x\n}\n\npub fn start() -> Float {\n  left(Ball { x: 1.0, y: 2.0 })\n}\n",
      "type Ball = { x: Float, y: Float }\n\nfn left(ball: Ball) -> Float {\n  let Ball { x, y } = ball\n  x\n}\n\npub fn start() -> Float {\n  left(Ball { x: 1.0, y: 2.0 })\n}\n",
    ],
  },
];
