/** Codes of names. */
import type { CodePage } from "./code_page.ts";

/** `NM0001` and on. */
export const NAME_PAGES: readonly CodePage[] = [
  {
    code: "NM0001",
    title: "Unknown name",
    severity: "error",
    explanation:
      "A lower-case name is a variable, a parameter, a function, a constant or an imported module. Nothing with this name is in scope: it may be misspelled, defined later, or in a module that is not imported.",
    bad: "pub fn double(count: Int) -> Int {\n  coumt * 2\n}\n",
    fixed: ["pub fn double(count: Int) -> Int {\n  count * 2\n}\n"],
  },
  {
    code: "NM0002",
    title: "Unknown type",
    severity: "error",
    explanation:
      "A type is declared in this module, in an imported module, or in the part of the library that is always in scope.",
    bad: "pub fn double(count: Integer) -> Int {\n  count * 2\n}\n",
    fixed: ["pub fn double(count: Int) -> Int {\n  count * 2\n}\n"],
  },
  {
    code: "NM0003",
    title: "Unknown variant",
    severity: "error",
    explanation:
      "A capitalized name is a type or a variant of a union. The union has no such variant, or no type in scope has one.",
    bad:
      "type Phase = Playing | Over\n\npub fn first() -> Bool {\n  let phase = Playing\n  match phase {\n    Playing => true\n    Overr => false\n  }\n}\n",
    fixed: [
      "type Phase = Playing | Over\n\npub fn first() -> Bool {\n  let phase = Playing\n  match phase {\n    Playing => true\n    Over => false\n  }\n}\n",
    ],
  },
  {
    code: "NM0004",
    title: "Unknown field",
    severity: "error",
    explanation: "A record has the fields of its declaration, and a variant has those in its parentheses.",
    bad:
      "type Ball = { x: Float, speed: Float }\n\npub fn fast(x: Float) -> Float {\n  let ball = Ball { x: x, speed: 2.0 }\n  ball.sped\n}\n",
    fixed: [
      "type Ball = { x: Float, speed: Float }\n\npub fn fast(x: Float) -> Float {\n  let ball = Ball { x: x, speed: 2.0 }\n  ball.speed\n}\n",
    ],
  },
  {
    code: "NM0005",
    title: "Unknown method",
    severity: "error",
    explanation:
      "A method is a function named after the type of its receiver: `fn Ball.move(self: inout Ball)`. It is declared in the same module as the type. A type parameter has the methods of its bounds.",
    bad: "pub fn count(names: List[String]) -> Int {\n  names.length()\n}\n",
    fixed: ["pub fn count(names: List[String]) -> Int {\n  names.len()\n}\n"],
  },
  {
    code: "NM0006",
    title: "Unknown name in a module",
    severity: "error",
    explanation:
      "The module exists, but it has no declaration with this name, or none that is exported with `pub`.",
    bad:
      "use physics\n\npub fn fall() -> Float {\n  physics.gravty()\n}\n// src/physics.lang\npub fn gravity() -> Float {\n  9.8\n}\n",
    fixed: [
      "use physics\n\npub fn fall() -> Float {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Float {\n  9.8\n}\n",
    ],
  },
  {
    code: "NM0007",
    title: "Private name",
    severity: "error",
    explanation:
      "A declaration without `pub` is private to its module. Export it with `pub`, or use a public declaration of the module.",
    bad:
      "use physics\n\npub fn fall() -> Float {\n  physics.gravity()\n}\n// src/physics.lang\nfn gravity() -> Float {\n  9.8\n}\n",
    fixed: [
      "use physics\n\npub fn fall() -> Float {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Float {\n  9.8\n}\n",
    ],
  },
  {
    code: "NM0008",
    title: "Duplicate declaration",
    severity: "error",
    explanation:
      "A name is declared only once in a module, and so are the functions and constants of a type. There is no overloading: functions that do different things have different names.",
    bad:
      "pub fn area(side: Int) -> Int {\n  side * side\n}\n\npub fn area(width: Int, height: Int) -> Int {\n  width * height\n}\n",
    fixed: [
      "pub fn square_area(side: Int) -> Int {\n  side * side\n}\n\npub fn area(width: Int, height: Int) -> Int {\n  width * height\n}\n",
    ],
  },
  {
    code: "NM0009",
    title: "Duplicate field or variant",
    severity: "error",
    explanation: "The fields of a record and the variants of a union must have distinct names.",
    bad: "pub type Ball = { x: Float, x: Float }\n",
    fixed: ["pub type Ball = { x: Float, y: Float }\n"],
  },
  {
    code: "NM0010",
    title: "Duplicate parameter",
    severity: "error",
    explanation: "The parameters and the type parameters of a function must have distinct names.",
    bad: "pub fn add(a: Int, a: Int) -> Int {\n  a\n}\n",
    fixed: ["pub fn add(a: Int, b: Int) -> Int {\n  a + b\n}\n"],
  },
  {
    code: "NM0011",
    title: "Name bound twice in a pattern",
    severity: "error",
    explanation: "A name can be bound only once in a pattern. Use a guard to compare two values.",
    bad:
      "pub fn same(pair: (Int, Int)) -> Bool {\n  match pair {\n    (a, a) => true\n    _ => false\n  }\n}\n",
    fixed: [
      "pub fn same(pair: (Int, Int)) -> Bool {\n  match pair {\n    (a, b) if a == b => true\n    _ => false\n  }\n}\n",
    ],
  },
  {
    code: "NM0012",
    title: "Ambiguous name",
    severity: "error",
    explanation:
      "Two imported modules declare a type with this name, or two unions declare a variant with it. Qualify the name.",
    bad:
      "type Light = Red | Green\ntype Team = Red | Blue\n\npub fn start() -> Int {\n  let _ = Red\n  1\n}\n",
    fixed: [
      "type Light = Red | Green\ntype Team = Red | Blue\n\npub fn start() -> Int {\n  let _ = Light.Red\n  1\n}\n",
      "type Light = Red | Green\ntype Team = Red | Blue\n\npub fn start() -> Int {\n  let _ = Team.Red\n  1\n}\n",
    ],
  },
  {
    code: "NM0013",
    title: "Type used as a value",
    severity: "error",
    explanation: "A type is not a value. A record is written `Ball { … }`.",
    bad: "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let ball = Ball\n  ball.x\n}\n",
    fixed: [
      "type Ball = { x: Float }\n\npub fn start() -> Float {\n  let ball = Ball { x: 1.0 }\n  ball.x\n}\n",
    ],
  },
  {
    code: "NM0014",
    title: "Module used as a value",
    severity: "error",
    explanation: "A module is not a value: it cannot be stored or passed to a function.",
    bad:
      "use physics\n\npub fn start() -> Float {\n  let module = physics\n  module.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Float {\n  9.8\n}\n",
    fixed: [
      "use physics\n\npub fn start() -> Float {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Float {\n  9.8\n}\n",
    ],
  },
  {
    code: "NM0015",
    title: "Unknown associated function",
    severity: "error",
    explanation:
      "`Ball.resting(…)` calls a function declared as `fn Ball.resting(…)`. The type has no function with this name.",
    bad:
      "pub type Ball = { x: Float }\n\npub fn Ball.resting(x: Float) -> Ball {\n  Ball { x: x }\n}\n\npub fn start() -> Ball {\n  Ball.restin(1.0)\n}\n",
    fixed: [
      "pub type Ball = { x: Float }\n\npub fn Ball.resting(x: Float) -> Ball {\n  Ball { x: x }\n}\n\npub fn start() -> Ball {\n  Ball.resting(1.0)\n}\n",
    ],
  },
  {
    code: "NM0016",
    title: "Not an interface",
    severity: "error",
    explanation: "The bounds of a type parameter, after its colon, are interfaces.",
    bad: "pub fn first[T: Int](value: T) -> T {\n  value\n}\n",
    fixed: ["pub fn first[T: Eq](value: T) -> T {\n  value\n}\n"],
  },
  {
    code: "NM0017",
    title: "Associated function outside of the type's module",
    severity: "error",
    explanation:
      "The functions of a type are declared in the same module as the type, so that they are always found with it. Other modules declare plain functions.",
    bad: "pub fn Int.double(n: Int) -> Int {\n  n * 2\n}\n",
    fixed: ["pub fn double(n: Int) -> Int {\n  n * 2\n}\n"],
  },
  {
    code: "NM0018",
    title: "Misplaced `self`",
    severity: "error",
    explanation:
      "`self` is the receiver of a method: the first parameter of a function that is named after a type.",
    bad: "type Ball = { x: Float }\n\npub fn right(self: Ball) -> Bool {\n  self.x > 0.0\n}\n",
    fixed: ["type Ball = { x: Float }\n\npub fn Ball.right(self: Ball) -> Bool {\n  self.x > 0.0\n}\n"],
  },
  {
    code: "NM0020",
    title: "Unknown parameter",
    severity: "error",
    explanation: "A named argument must have the name of a parameter.",
    bad:
      "fn box(width: Int, height: Int) -> Int {\n  width * height\n}\n\npub fn start() -> Int {\n  box(width: 2, heigth: 3)\n}\n",
    fixed: [
      "fn box(width: Int, height: Int) -> Int {\n  width * height\n}\n\npub fn start() -> Int {\n  box(width: 2, height: 3)\n}\n",
    ],
  },
];
