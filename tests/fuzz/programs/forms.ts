/**
 * More forms of statements: patterns of all kinds, loops over indexes, checks that may not hold. Each gives its text
 * and what can be named behind it, or null where it does not fit.
 */
import { constant, type ExpressionWriter, type ProgramContext } from "./expressions.ts";
import {
  BOOL,
  canShow,
  CHAR,
  FLOAT,
  type GeneratedType,
  has,
  INT,
  STRING,
  typeText,
} from "./program_types.ts";
import type { Scope } from "./scope.ts";

/** A statement and the scope behind it. */
export interface WrittenStatement {
  readonly text: string;
  readonly scope: Scope;
}

/** What is around a statement. */
export interface Place {
  readonly scope: Scope;
  readonly expressions: ExpressionWriter;
  readonly context: ProgramContext;
  /** What leaves the loop or function here; null where nothing does. */
  readonly leave: string | null;
}

type Form = (place: Place) => WrittenStatement | null;

const FORMS: readonly Form[] = [
  destructuring,
  letElse,
  listPatterns,
  recordPattern,
  literalPatterns,
  elseIf,
  scan,
  swaps,
  countdown,
  rangeValue,
  expectation,
  whileLoop,
];

/** One of the forms. */
export function moreForms(place: Place): WrittenStatement | null {
  return place.context.choices.pick(FORMS)(place);
}

function destructuring({ scope, expressions, context }: Place): WrittenStatement {
  const types = [context.universe.type(1), context.universe.type(1)];
  const names = types.map(() => context.fresh());
  const value = expressions.of({ kind: "tuple", elements: types }, scope, 2);
  const isPartial = context.choices.chance(20);
  const bound = types.map((type, index) => constant(names[index] ?? "", type)).slice(0, isPartial ? 1 : 2);
  return {
    text: `let (${isPartial ? `${names[0]}, _` : names.join(", ")}) = ${value}`,
    scope: scope.with(...bound),
  };
}

function letElse({ scope, expressions, context, leave }: Place): WrittenStatement | null {
  if (leave === null) return null;
  const type = context.universe.type(1);
  const name = context.fresh();
  const value = expressions.of({ kind: "option", element: type }, scope, 2);
  return {
    text: `let Some(${name}) = (${value}) else { ${leave} }`,
    scope: scope.with(constant(name, type)),
  };
}

/** A text that shows a value, when it can be shown. */
function shown(name: string, type: GeneratedType): string {
  return canShow(type) ? `{${name}}` : name;
}

function listPatterns({ scope, expressions, context }: Place): WrittenStatement {
  const type = context.universe.type(1);
  const [first, second, rest] = [context.fresh(), context.fresh(), context.fresh()];
  const list: GeneratedType = { kind: "list", element: type };
  const arms = [
    `[] => print("none")`,
    `[${first}] => print("one ${shown(first, type)}")`,
    `[${first}, ${second}] if ${expressions.of(BOOL, scope.with(constant(first, type)), 1)} => print("two ${
      shown(second, type)
    }")`,
    `[${first}, ..${rest}] => print("more ${shown(first, type)} ${shown(rest, list)}")`,
  ];
  return { text: `match ${expressions.of(list, scope, 2)} {\n${arms.join("\n")}\n}`, scope };
}

function recordPattern({ scope, expressions, context }: Place): WrittenStatement | null {
  const { records } = context.universe;
  if (records.length === 0) return null;
  const record = context.choices.pick(records);
  const field = context.choices.pick(record.fields);
  const name = context.fresh();
  const value = expressions.of({ kind: "record", record }, scope, 2);
  const pattern = `${record.name} { ${field.name}: ${name}, .. }`;
  if (context.choices.chance(50)) {
    return { text: `let ${pattern} = ${value}`, scope: scope.with(constant(name, field.type)) };
  }
  return { text: `match ${value} { ${pattern} => print("field ${shown(name, field.type)}") }`, scope };
}

function literalPatterns({ scope, expressions, context }: Place): WrittenStatement {
  const [type, patterns] = context.choices.pick<readonly [GeneratedType, readonly string[]]>([
    [INT, ["0", "1..=9", "-100..0", "2147483647"]],
    [STRING, ['""', '"a" | "hello"', '"é€😀"']],
    [CHAR, ["'a'..='z'", "'A'..='Z' | '5'", "' '"]],
    [BOOL, ["true"]],
    [FLOAT, ["0.0", "1.5 | -1.5"]],
  ]);
  const arms = patterns.map((pattern, index) => `${pattern} => print("case ${index}")`);
  return {
    text: `match ${expressions.of(type, scope, 2)} {\n${arms.join("\n")}\n_ => print("other")\n}`,
    scope,
  };
}

function elseIf({ scope, expressions }: Place): WrittenStatement {
  const condition = () => expressions.of(BOOL, scope, 2);
  return {
    text: `if ${condition()} { print("a") } else if ${condition()} { print("b") } else { print("c") }`,
    scope,
  };
}

/** A list of which elements are read and written by index; sometimes one too far. */
function scan({ scope, expressions, context }: Place): WrittenStatement {
  const { choices } = context;
  const type = context.universe.type(1);
  const [list, index] = [context.fresh(), context.fresh()];
  const inner = scope.with(constant(index, INT));
  const within = choices.chance(90) ? `if ${index} + 1 < ${list}.len() { ` : "{ ";
  const change = choices.pick([
    `${list}[${index}] = ${list}[${index} + 1]`,
    `${list}[${index} + 1] = ${expressions.of(type, inner, 1)}`,
    `if ${list}.len() < 8 { ${list}.insert(${index}, ${list}[${index} + 1]) }`,
    `let _ = ${list}.remove(${index} + 1)`,
    `let before = ${list}\n${list}[${index}] = before[${list}.len() - 1 - ${index}]`,
  ]);
  return {
    text: [
      `var ${list}: List[${typeText(type)}] = ${expressions.of({ kind: "list", element: type }, scope, 2)}`,
      `for ${index} in ${choices.pick(["0", "1", "-1"])}..${list}.len() {\n${within}${change} }\n}`,
    ].join("\n"),
    scope: scope.with({ name: list, type: { kind: "list", element: type }, isMutable: true, isInout: false }),
  };
}

/** The ends of a list change places from outside to inside. */
function swaps({ scope, expressions, context }: Place): WrittenStatement {
  const { choices } = context;
  const type = context.universe.type(1);
  const list: GeneratedType = { kind: "list", element: type };
  const [name, low, high, moved] = [context.fresh(), context.fresh(), context.fresh(), context.fresh()];
  const lines = [
    `var ${name}: ${typeText(list)} = ${expressions.of(list, scope, 2)}`,
    `var ${low} = ${choices.pick(["0", "0", "-1"])}`,
    `var ${high} = ${name}.len() - ${choices.pick(["1", "1", "0"])}`,
    `while ${low} ${choices.pick(["<", "<", "<="])} ${high} {`,
    `let ${moved} = ${name}[${low}]`,
    `${name}[${low}] = ${name}[${high}]`,
    `${name}[${high}] = ${moved}`,
    `${low} += 1`,
    `${high} -= 1`,
    "}",
  ];
  return {
    text: lines.join("\n"),
    scope: scope.with({ name, type: list, isMutable: true, isInout: false }),
  };
}

/** Numbers near the ends of `Int`, by branches that tell whether a sum fits. */
function countdown({ scope, expressions, context }: Place): WrittenStatement {
  const { choices } = context;
  const [left, right, sum] = [context.fresh(), context.fresh(), context.fresh()];
  const condition = choices.pick(["<", "<=", ">", ">=", "==", "!="]);
  const operator = choices.pick(["+", "-"]);
  const step = choices.pick(["1", "2", "-1", right]);
  return {
    text: [
      `let ${left} = ${expressions.of(INT, scope, 2)}`,
      `let ${right} = ${
        choices.pick(["2147483647", "-2147483648", "0", "-1", expressions.of(INT, scope, 1)])
      }`,
      `if ${left} ${condition} ${right} {`,
      `let ${sum} = ${left} ${operator} ${step}`,
      `print("{${sum}} {${sum} > ${left}}")`,
      "}",
    ].join("\n"),
    scope: scope.with(constant(left, INT), constant(right, INT)),
  };
}

function rangeValue({ context, scope }: Place): WrittenStatement {
  const [range, at] = [context.fresh(), context.fresh()];
  const end = `${context.choices.pick(["..", "..="])}${context.choices.below(4)}`;
  return {
    text: `let ${range} = ${
      context.choices.below(3)
    }${end}\nfor ${at} in ${range} { print("at {${at}}") }\nprint("{${range}} {${range}.contains(2)}")`,
    scope,
  };
}

/** Now and then one that does not hold. */
function expectation({ scope, expressions, context }: Place): WrittenStatement {
  const { choices } = context;
  if (choices.chance(10)) {
    const text = choices.chance(50) ? '"stop"' : expressions.of(STRING, scope, 1);
    return { text: `if ${expressions.of(BOOL, scope, 1)} { panic(${text}) }`, scope };
  }
  const type = context.universe.type(1);
  if (!has("Eq", type) || !canShow(type)) return elseIf({ scope, expressions, context, leave: null });
  const paths = scope.paths(type);
  const same = paths.length === 0 ? null : choices.pick(paths).text;
  const other = choices.chance(15) ? expressions.of(type, scope, 1) : same;
  if (same === null || other === null || type.kind === "primitive" && type.name.startsWith("F")) {
    return { text: `expect(${choices.chance(10) ? expressions.of(BOOL, scope, 1) : "true"})`, scope };
  }
  return { text: `expect(${same} == ${other})`, scope };
}

/** A loop that a condition of its own ends, and that goes on from within a block. */
function whileLoop({ scope, expressions, context }: Place): WrittenStatement {
  const fuel = context.fresh();
  const inner = scope.with(constant(fuel, INT));
  return {
    text: [
      `var ${fuel} = ${3 + context.choices.below(3)}`,
      `while ${fuel} > 0 and ${expressions.of(BOOL, inner, 1)} {`,
      `${fuel} -= 1`,
      `if ${expressions.of(BOOL, inner, 1)} { continue }`,
      `print("left {${fuel}}")`,
      "}",
    ].join("\n"),
    scope,
  };
}
