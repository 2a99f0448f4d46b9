/** Codes of effects. */
import type { CodePage } from "./code_page.ts";

/** `EF0001` and on. */
export const EFFECT_PAGES: readonly CodePage[] = [
  {
    code: "EF0001",
    title: "Undeclared effect",
    severity: "error",
    explanation:
      "A `pub fn` declares after `uses` every effect that it, or a function that it calls, has. The reader sees what the function can do, and the compiled module imports nothing else.",
    bad: 'pub fn greet() {\n  print("hello")\n}\n',
    fixed: ['pub fn greet() uses Log {\n  print("hello")\n}\n'],
  },
  {
    code: "EF0002",
    title: "Unknown effect",
    severity: "error",
    explanation: "The effects are `Draw`, `Audio`, `Input`, `Log`, `Random`, `Time`, `Store` and `Net`.",
    bad: 'pub fn greet() uses Logg {\n  print("hello")\n}\n',
    fixed: ['pub fn greet() uses Log {\n  print("hello")\n}\n'],
  },
  {
    code: "EF0003",
    title: "Unused effect",
    severity: "warning",
    explanation:
      "The signature declares an effect that the function does not have, and every caller would have to declare it too.",
    bad: "pub fn double(n: Int) -> Int uses Log {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "EF0004",
    title: "Effect in a constant",
    severity: "error",
    explanation: "A constant has the same value whenever it is read, so its expression cannot have effects.",
    bad:
      'fn read() -> Int {\n  print("reading")\n  1\n}\n\nconst start_value: Int = read()\n\npub fn start() -> Int {\n  start_value\n}\n',
    fixed: [
      "fn read() -> Int {\n  1\n}\n\nconst start_value: Int = read()\n\npub fn start() -> Int {\n  start_value\n}\n",
    ],
  },
  {
    code: "EF0005",
    title: "Effect in a derived interface",
    severity: "error",
    explanation:
      "String interpolation, comparisons and maps call `show`, `equals`, `compare` and `hash` implicitly, so these functions cannot have effects.",
    bad:
      'pub type Ball = { x: Float }\n\npub fn Ball.show(self: Ball) -> String uses Log {\n  print("shown")\n  "ball {self.x}"\n}\n',
    fixed: [
      'pub type Ball = { x: Float }\n\npub fn Ball.show(self: Ball) -> String {\n  "ball {self.x}"\n}\n',
    ],
  },
  {
    code: "EF0006",
    title: "Duplicate effect",
    severity: "warning",
    explanation: "List each effect only once after `uses`.",
    bad: 'pub fn greet() uses Log, Log {\n  print("hello")\n}\n',
    fixed: ['pub fn greet() uses Log {\n  print("hello")\n}\n'],
  },
  {
    code: "EF0007",
    title: "Effect not available on the target",
    severity: "error",
    explanation:
      "A database function has no effects: it returns the same result for the same arguments on every node. A command has no canvas, and a web page has no standard input.",
    bad: 'pub fn rate(n: Int) -> Int uses Log {\n  print("rating")\n  n * 2\n}\n',
    fixed: ["pub fn rate(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "EF0008",
    title: "Effect not allowed by the interface",
    severity: "error",
    explanation:
      "Callers of an interface function rely on the effects that the interface declares. A type whose function has more effects does not implement the interface.",
    bad:
      'interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  print("measured")\n  self.x\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start(dot: Dot) -> Float {\n  total(dot)\n}\n',
    fixed: [
      'interface Area {\n  fn area(self: Self) -> Float uses Log\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  print("measured")\n  self.x\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start(dot: Dot) -> Float uses Log {\n  total(dot)\n}\n',
    ],
  },
];
