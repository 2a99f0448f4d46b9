/** Codes of effects. */
import type { CodePage } from "./code_page.ts";

/** `EF0001` and on. */
export const EFFECT_PAGES: readonly CodePage[] = [
  {
    code: "EF0001",
    title: "Effect not declared",
    severity: "error",
    explanation:
      "A `pub fn` says with `uses` what it, and all that it calls, does to the world. So a reader sees it, and the module imports no more than that.",
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
    title: "Effect not used",
    severity: "warning",
    explanation:
      "The signature names an effect that the function does not have. Who calls it would declare it for nothing.",
    bad: "pub fn double(n: Int) -> Int uses Log {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "EF0004",
    title: "Effect in a constant",
    severity: "error",
    explanation: "A constant is the same whenever it is read, so working it out uses nothing.",
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
      "Texts, comparisons and maps call `show`, `equals`, `compare` and `hash` wherever they need them; these use nothing.",
    bad:
      'pub type Ball = { x: Float }\n\npub fn Ball.show(self: Ball) -> String uses Log {\n  print("shown")\n  "ball {self.x}"\n}\n',
    fixed: [
      'pub type Ball = { x: Float }\n\npub fn Ball.show(self: Ball) -> String {\n  "ball {self.x}"\n}\n',
    ],
  },
  {
    code: "EF0006",
    title: "Effect named twice",
    severity: "warning",
    explanation: "Each effect is named once behind `uses`.",
    bad: 'pub fn greet() uses Log, Log {\n  print("hello")\n}\n',
    fixed: ['pub fn greet() uses Log {\n  print("hello")\n}\n'],
  },
  {
    code: "EF0007",
    title: "Effect that the target does not have",
    severity: "error",
    explanation:
      "A database function uses nothing: the same arguments give the same result on every node. A command has no canvas, a page no standard input.",
    bad: 'pub fn rate(n: Int) -> Int uses Log {\n  print("rating")\n  n * 2\n}\n',
    fixed: ["pub fn rate(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "EF0008",
    title: "Effect that the interface does not have",
    severity: "error",
    explanation:
      "Whoever calls a function of an interface counts on the effects that the interface says. A type whose function does more does not fit.",
    bad:
      'interface Area {\n  fn area(self: Self) -> Float\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  print("measured")\n  self.x\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start(dot: Dot) -> Float {\n  total(dot)\n}\n',
    fixed: [
      'interface Area {\n  fn area(self: Self) -> Float uses Log\n}\n\ntype Dot = { x: Float }\n\nfn Dot.area(self: Dot) -> Float {\n  print("measured")\n  self.x\n}\n\nfn total[T: Area](shape: T) -> Float {\n  shape.area()\n}\n\npub fn start(dot: Dot) -> Float uses Log {\n  total(dot)\n}\n',
    ],
  },
];
