/** The typed tree: sugar is gone, names are resolved, types are put in. */
import assert from "node:assert/strict";
import type { Expression, Pattern, Place, Statement, TypedFunction } from "../typed/tree.ts";
import { typeText } from "../types/type_text.ts";
import { PackageAnalyzer } from "./package_analysis.ts";

const analyzer = new PackageAnalyzer();

/** The last function of a module without errors. */
function lastFunction(source: string): TypedFunction {
  const { program, diagnostics } = analyzer.analyze(new Map([["src/main.lang", source]]));
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  const found = program?.root?.functions.at(-1);
  assert.ok(found !== undefined);
  return found;
}

/** A short form of a tree, for comparing. */
function show(expression: Expression): string {
  switch (expression.kind) {
    case "integer":
    case "float":
    case "boolean":
      return `${expression.value}`;
    case "string":
      return JSON.stringify(expression.value);
    case "interpolation":
      return `text(${
        expression.parts.map((part) => typeof part === "string" ? JSON.stringify(part) : show(part)).join(
          ", ",
        )
      })`;
    case "local":
      return expression.local.name;
    case "constant":
      return expression.constant.id;
    case "call": {
      const { callee } = expression;
      const name = callee.kind === "function"
        ? `${callee.function.id}${
          callee.typeArguments.length === 0
            ? ""
            : `[${callee.typeArguments.map((type) => typeText(type)).join(", ")}]`
        }`
        : callee.kind === "interface"
        ? `${callee.interface.name}.${callee.name}<${typeText(callee.self)}>`
        : `(${show(callee.expression)})`;
      const values = expression.arguments.map((each) =>
        each.kind === "value" ? show(each.value) : `&${showPlace(each.place)}`
      );
      return `${name}(${values.join(", ")})`;
    }
    case "tuple":
      return `(${expression.elements.map(show).join(", ")})`;
    case "list":
      return `[${expression.elements.map(show).join(", ")}]`;
    case "record":
      return `${typeText(expression.type)}{${expression.fields.map(show).join(", ")}}@${
        expression.order.join("")
      }`;
    case "update":
      return `update(${show(expression.base)}; ${
        expression.fields.map((field) => `${field.index}: ${show(field.value)}`).join(", ")
      })`;
    case "variant":
      return `${expression.variant.name}(${expression.fields.map(show).join(", ")})`;
    case "field":
      return `${show(expression.target)}.${expression.index}`;
    case "element":
      return `${show(expression.target)}[${show(expression.index)}]`;
    case "arithmetic":
    case "compare":
      return `(${show(expression.left)} ${expression.operator} ${show(expression.right)})`;
    case "block":
      return `{${
        [
          ...expression.statements.map(showStatement),
          ...(expression.result === null ? [] : [show(expression.result)]),
        ].join("; ")
      }}`;
    case "if":
      return `if ${show(expression.condition)} ${show(expression.then)}${
        expression.otherwise === null ? "" : ` else ${show(expression.otherwise)}`
      }`;
    case "match":
      return `match ${show(expression.subject)} {${
        expression.arms.map((arm) => `${showPattern(arm.pattern)} => ${show(arm.body)}`).join(", ")
      }}`;
    case "closure":
      return `fn(${expression.parameters.map((each) => `${each.name}: ${typeText(each.type)}`).join(", ")})[${
        expression.captures.map((each) => each.name).join(", ")
      }] ${show(expression.body)}`;
    case "function":
      return expression.callee.kind === "function"
        ? `@${expression.callee.function.id}`
        : `@${expression.callee.name}`;
    case "propagate":
      return `${show(expression.target)}?${typeText(expression.returns)}`;
    case "return":
      return `return ${expression.value === null ? "" : show(expression.value)}`.trim();
    case "negate":
      return `-${show(expression.operand)}`;
    default:
      return expression.kind;
  }
}

function showStatement(statement: Statement): string {
  switch (statement.kind) {
    case "let":
      return `let ${showPattern(statement.pattern)} = ${show(statement.value)}`;
    case "let-else":
      return `let ${showPattern(statement.pattern)} = ${show(statement.value)} else ${
        show(statement.otherwise)
      }`;
    case "var":
      return `var ${statement.local.name}: ${typeText(statement.local.type)} = ${show(statement.value)}`;
    case "assign":
      return `${showPlace(statement.place)} ${statement.operator ?? ""}= ${show(statement.value)}`;
    case "while":
      return `while ${show(statement.condition)} ${show(statement.body)}`;
    case "for-range":
      return `for ${statement.local.name} in ${show(statement.start)}..${statement.isInclusive ? "=" : ""}${
        show(statement.end)
      } ${show(statement.body)}`;
    case "for-list":
      return `for ${showPattern(statement.pattern)} in ${show(statement.list)} ${show(statement.body)}`;
    case "for-inout":
      return `for inout ${statement.local.name} in ${showPlace(statement.list)} ${show(statement.body)}`;
    case "expression":
      return show(statement.expression);
  }
}

function showPlace(place: Place): string {
  switch (place.kind) {
    case "local":
      return place.local.name;
    case "field":
      return `${showPlace(place.target)}.${place.index}`;
    case "element":
      return `${showPlace(place.target)}[${show(place.index)}]`;
  }
}

function showPattern(pattern: Pattern): string {
  switch (pattern.kind) {
    case "wildcard":
      return "_";
    case "binding":
      return pattern.local.name;
    case "literal":
      return `${pattern.value}`;
    case "range":
      return `${pattern.start}..=${pattern.end}`;
    case "tuple":
      return `(${pattern.elements.map(showPattern).join(", ")})`;
    case "record":
      return `{${pattern.fields.map(showPattern).join(", ")}}`;
    case "variant":
      return `${pattern.variant.name}(${pattern.fields.map(showPattern).join(", ")})`;
    case "list":
      return `[${pattern.elements.map(showPattern).join(", ")}${
        pattern.rest === null ? "" : ` ..${pattern.rest.local?.name ?? ""}`
      }]`;
    case "alternative":
      return pattern.alternatives.map(showPattern).join(" | ");
  }
}

function check(source: string, expected: string): void {
  const { body } = lastFunction(source);
  assert.ok(body !== null);
  assert.equal(show(body), expected);
}

Deno.test("calls of methods are calls of functions, receivers of changing ones are places", () => {
  check(
    "type Ball = { x: Int }\nfn Ball.move(self: inout Ball, by: Int) { self.x += by }\npub fn f(ball: inout Ball) { ball.move(by: 2) }",
    "{main.Ball.move(&ball, 2)}",
  );
  check("pub fn f(list: inout List[Int]) { list.push(1) }", "{std.list.List.push[Int](&list, 1)}");
});

Deno.test("values of maps and pools are read by calls and changed in their place", () => {
  const map = "pub fn f(map: inout Map[String, Int])";
  check(`${map} -> Int { map["a"] }`, '{std.map.Map.at[String, Int](map, "a")}');
  check(`${map} { map["a"] = 1 }`, '{std.map.Map.set[String, Int](&map, "a", 1)}');
  check(`${map} { map["a"] += 1 }`, '{map.0[std.map.Map.slot[String, Int](map, "a")].2 += 1}');
  check(
    "type Ball = { x: Int }\npub fn f(pool: inout Pool[Ball], id: Id[Ball]) { pool[id].x = 1 }",
    "{pool.0[std.pool.Pool.slot[Ball](pool, id)].0 = 1}",
  );
});

Deno.test("loops go over numbers and lists, others ask their iterator", () => {
  check("pub fn f() { for i in 0..=3 { let _ = i } }", "{for i in 0..=3 {let _ = i}}");
  check(
    "pub fn f(range: Range) { for i in range { let _ = i } }",
    "{{let range = range; for i in range.0..range.1 {let _ = i}}}",
  );
  check(
    "pub fn f(list: List[(Int, Int)]) { for (a, _) in list { let _ = a } }",
    "{for (a, _) in list {let _ = a}}",
  );
  check(
    "pub fn f(list: inout List[Int]) { for inout n in list { n += 1 } }",
    "{for inout n in list {n += 1}}",
  );
  check(
    'pub fn f() { for c in "ab" { let _ = c } }',
    '{{var iterator: Characters = std.string.String.iterator("ab"); while true match std.string.Characters.next(&iterator) {Some(c) => {let _ = c}, None() => break}}}',
  );
});

Deno.test("if let is a match, let else leaves", () => {
  check(
    "pub fn f(o: Option[Int]) -> Int { if let Some(n) = o { n } else { 0 } }",
    "{match o {Some(n) => {n}, _ => {0}}}",
  );
  check(
    "pub fn f(o: Option[Int]) -> Int { let Some(n) = o else { return 0 } n }",
    "{let Some(n) = o else {return 0}; n}",
  );
});

Deno.test("fields stand in the order of the definition, and are evaluated in the order in which they were written", () => {
  const point = "type Point = { x: Int, y: Int }\n";
  check(`${point}pub fn f() -> Point { Point { y: 2, x: 1 } }`, "{Point{1, 2}@10}");
  check(`${point}pub fn f(p: Point) -> Point { Point { ..p, y: 2 } }`, "{update(p; 1: 2)}");
});

Deno.test("named arguments in another order are evaluated as they were written", () => {
  const sum = "fn add(a: Int, b: Int) -> Int { a + b }\nfn one() -> Int { 1 }\n";
  check(`${sum}pub fn f() -> Int { add(b: 2, a: 1) }`, "{main.add(1, 2)}");
  check(
    `${sum}pub fn f(n: Int) -> Int { add(b: one(), a: n) }`,
    "{{let argument1 = main.one(); let argument0 = n; main.add(argument0, argument1)}}",
  );
});

Deno.test("literals become what is wanted", () => {
  const type = (source: string) => {
    const { body } = lastFunction(source);
    assert.ok(body?.kind === "block" && body.result !== null);
    return typeText(body.result.type);
  };
  assert.equal(type("pub fn f() -> Int64 { 1 + 2 }"), "Int64");
  assert.equal(type("pub fn f() -> F32 { -1.5 }"), "F32");
  assert.equal(type("fn f() { 1 }"), "Int");
  assert.equal(type("fn f() { [1.5] }"), "List[Float]");
  assert.equal(type("pub fn f(n: Int64) -> Bool { n == 3 }"), "Bool");
});

Deno.test("function values know their captures, and the types of their parameters", () => {
  check(
    "pub fn f(list: List[String], limit: Int) -> List[String] { list.filter(fn(text) { text.byte_len() > limit }) }",
    "{std.list.List.filter[String](list, fn(text: String)[limit] {(std.string.String.byte_len(text) > limit)})}",
  );
  check(
    "pub fn f(list: List[Int]) -> List[Option[Int]] { list.map(Some) }",
    "{std.list.List.map[Int, Option[Int]](list, fn(field0: Int)[] Some(field0))}",
  );
});

Deno.test("functions without types take those of their uses", () => {
  const twice = lastFunction(
    "pub fn start() -> Float { twice(fn(x) { x * 2.0 }, 1.5) }\nfn twice(f, x) { f(f(x)) }",
  );
  assert.deepEqual(twice.parameters.map((each) => typeText(each.type)), ["fn(Float) -> Float", "Float"]);
  assert.equal(typeText(twice.result), "Float");
});

Deno.test("functions of a bound are looked up by whoever runs the program", () => {
  check("pub fn f[T: Ord](a: T, b: T) -> Order { a.compare(b) }", "{Ord.compare<T>(a, b)}");
  check("pub fn f[T: Number](a: T) -> T { T.zero().plus(a) }", "{Number.plus<T>(Number.zero<T>(), a)}");
  check("type P = { x: Int }\npub fn f(a: P, b: P) -> Order { a.compare(b) }", "{Ord.compare<P>(a, b)}");
});

Deno.test("TypedProgram.method() finds a type's own function, and null where it is derived", () => {
  const source = `type Pair[A, B] = { first: A, second: B }

pub fn Pair.show[A: Show, B](self: Pair[A, B]) -> String {
  self.first.show()
}

pub fn f(pair: Pair[Int, Float]) -> String {
  "{pair}"
}
`;
  const { program } = analyzer.analyze(new Map([["src/main.lang", source]]));
  const pair = program?.root?.functions[1]?.parameters[0]?.type;
  const interfaceOf = (name: string) =>
    program?.modules.flatMap((module) => module.interfaces).find((each) => each.name === name);
  const show = interfaceOf("Show");
  const eq = interfaceOf("Eq");
  assert.ok(
    program !== null && program !== undefined && pair !== undefined && show !== undefined && eq !== undefined,
  );
  const choice = program.method(pair, show, "show");
  assert.equal(choice?.function.id, "main.Pair.show");
  assert.deepEqual(choice?.typeArguments.map((type) => typeText(type)), ["Int", "Float"]);
  assert.equal(program.method(pair, eq, "equals"), null);
});

Deno.test("effects are those of all that a function may call", () => {
  const source = `fn log_it() { print("x") }
fn deep(n: Int) { if n > 0 { deep(n - 1) } else { log_it() } }
fn pure(n: Int) -> Int { n }
pub fn f() uses Log { deep(pure(1)) }
`;
  const { program } = analyzer.analyze(new Map([["src/main.lang", source]]));
  const effects = program?.root?.functions.map((each) => `${each.name}: ${[...each.effects].join(" ")}`);
  assert.deepEqual(effects, ["log_it: Log", "deep: Log", "pure: ", "f: Log"]);
});

Deno.test("what returns nowhere has any type", () => {
  check('pub fn f(n: Int) -> Int { if n > 0 { n } else { panic("no") } }', "{if (n > 0) {n} else {panic}}");
  check(
    "pub fn f(n: Int) -> Int { while true { if n > 0 { return n } } }",
    "{while true {if (n > 0) {return n}}}",
  );
  check("pub fn f(o: Option[Int]) -> Option[Int] { Some(o? + 1) }", "{Some((o?Option[Int] + 1))}");
});

Deno.test("branches whose values nobody takes have none", () => {
  const list = "pub fn f(list: inout List[Int], flag: Bool)";
  check(
    `${list} { match flag { true => list.pop() false => {} } }`,
    "{match flag {true => {std.list.List.pop[Int](&list)}, false => {}}}",
  );
  check(
    "fn f(list: inout List[Int], flag: Bool) { if flag { list.pop() } else { list.push(1) } }",
    "{if flag {{std.list.List.pop[Int](&list)}} else {std.list.List.push[Int](&list, 1)}}",
  );
  check(
    "fn f(list: inout List[Int], flag: Bool) { if flag { list.push(1) } else { list.pop() } }",
    "{if flag {std.list.List.push[Int](&list, 1)} else {{std.list.List.pop[Int](&list)}}}",
  );
});
