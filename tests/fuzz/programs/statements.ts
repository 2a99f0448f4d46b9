/**
 * Random statements, and whole programs.
 *
 * Loops have literal bounds; functions call only those before them, and those with loops of loops only outside of
 * loops, so that every program ends soon.
 */
import { Choices } from "../choices.ts";
import { constant, ExpressionWriter, type ProgramContext } from "./expressions.ts";
import {
  BOOL,
  canShow,
  CHAR,
  type GeneratedType,
  has,
  INT,
  STRING,
  typeText,
  TypeUniverse,
} from "./program_types.ts";
import { moreForms } from "./forms.ts";
import { type GeneratedFunction, type Path, Scope, type Variable } from "./scope.ts";

/** What the statements of a block leave: their text and what can be named behind them. */
interface Block {
  readonly text: string;
  readonly scope: Scope;
}

interface Surroundings {
  /** What `return` may give; null for nothing. */
  readonly result: GeneratedType | null;
  readonly mayReturn: boolean;
  readonly isInLoop: boolean;
}

/** Functions that every program has. */
const HELPERS = `fn identity[T](value: T) -> T {
  value
}

fn choose[T](condition: Bool, yes: T, no: T) -> T {
  if condition { yes } else { no }
}

fn swapped[A, B](pair: (A, B)) -> (B, A) {
  let (first, second) = pair
  (second, first)
}

fn larger[T: Ord](left: T, right: T) -> T {
  if left < right { right } else { left }
}

interface Weight {
  fn weight(self: Self) -> Int
}

type Coin = { value: Int }

fn Coin.weight(self: Coin) -> Int {
  self.value & 15
}

type Bag[T] = { items: List[T], count: Int }

fn Bag.weight[T: Weight](self: Bag[T]) -> Int {
  self.items.fold(self.count, fn(sum, item) { sum +% item.weight() })
}

fn Bag.put[T](self: inout Bag[T], item: T) {
  self.items.push(item)
  self.count +%= 1
}

fn weight_of[T: Weight](value: T, times: Int) -> Int {
  value.weight() *% times
}

fn hash_of[T: Hash](value: T) -> Int {
  value.hash()
}

fn push_some[T](list: inout List[T], value: T, count: Int) {
  for _ in 0..count {
    if list.len() < 8 { list.push(value) }
  }
}

fn exchange[T](left: inout T, right: inout T) {
  let old = left
  left = right
  right = old
}
`;

/** Writes one program from decisions. */
export class ProgramWriter {
  readonly #choices: Choices;
  readonly #context: ProgramContext;
  readonly #expressions: ExpressionWriter;
  #globals = new Scope();
  #names = 0;
  #hasNestedLoops = false;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#context = {
      choices,
      universe: new TypeUniverse(choices),
      functions: [],
      fresh: () => `v${this.#names++}`,
      loops: 0,
    };
    this.#expressions = new ExpressionWriter(this.#context);
  }

  /** The whole program. */
  program(): string {
    const functions: string[] = [];
    const constants = Array.from({ length: this.#choices.below(4) }, () => this.#constant());
    const count = this.#choices.below(4);
    for (let index = 0; index < count; index++) functions.push(this.#function(index));
    const main = this.#main();
    return [this.#context.universe.declarations(), HELPERS, ...constants, ...functions, main].filter((text) =>
      text !== ""
    )
      .join("\n\n");
  }

  /** A constant; those behind it and all functions may name it. */
  #constant(): string {
    const name = this.#context.fresh();
    const type = this.#context.universe.type(2);
    const value = this.#expressions.of(type, this.#globals, 3);
    this.#globals = this.#globals.with(constant(name, type));
    return `const ${name}: ${typeText(type)} = ${value}`;
  }

  #function(index: number): string {
    const { universe } = this.#context;
    const parameters = Array.from({ length: this.#choices.below(4) }, () => ({
      name: this.#context.fresh(),
      type: this.#choices.chance(10)
        ? { kind: "function" as const, parameter: universe.type(0), result: universe.type(0) }
        : universe.type(2),
      isInout: this.#choices.chance(25),
    })).map((parameter) => parameter.type.kind === "function" ? { ...parameter, isInout: false } : parameter);
    const result = this.#choices.chance(75) ? universe.type(2) : null;
    const isRecursive = result !== null && this.#choices.chance(20) &&
      parameters.every((parameter) => !parameter.isInout);
    if (isRecursive) parameters.unshift({ name: this.#context.fresh(), type: INT, isInout: false });
    const scope = this.#globals.with(
      ...parameters.map(({ name, type, isInout }): Variable => ({ name, type, isMutable: isInout, isInout })),
    );
    this.#hasNestedLoops = false;
    const block = this.#block(scope, 1 + this.#choices.below(5), 2, {
      result,
      mayReturn: true,
      isInLoop: false,
    });
    const last = result === null ? "" : this.#expressions.of(result, block.scope, 2);
    const value = result === null
      ? ""
      : isRecursive
      ? this.#recursion(index, parameters, last, block.scope)
      : `\n${last}`;
    const generated: GeneratedFunction = {
      name: `function${index}`,
      parameters,
      result,
      isHeavy: this.#hasNestedLoops || this.#context.functions.some((each) => each.isHeavy),
    };
    this.#context.functions.push(generated);
    const written = parameters.map(({ name, type, isInout }) =>
      `${name}: ${isInout ? "inout " : ""}${typeText(type)}`
    );
    const arrow = result === null ? "" : ` -> ${typeText(result)}`;
    return `fn ${generated.name}(${written.join(", ")})${arrow} {\n${block.text}${value}\n}`;
  }

  /** The end of a function that calls itself, a few times at most: the first parameter says how often. */
  #recursion(
    index: number,
    parameters: readonly { readonly name: string; readonly type: GeneratedType }[],
    last: string,
    scope: Scope,
  ): string {
    const [fuel, ...others] = parameters;
    const args = others.map((parameter) => this.#expressions.of(parameter.type, scope, 1));
    const call = `function${index}(${[`${fuel?.name}.clamp(0, 3) - 1`, ...args].join(", ")})`;
    return `\nif ${fuel?.name} > 0 {\n${call}\n} else {\n${last}\n}`;
  }

  #main(): string {
    const block = this.#block(this.#globals, 4 + this.#choices.below(8), 2, {
      result: null,
      mayReturn: false,
      isInLoop: false,
    });
    const shown = block.scope.variables.filter((variable) => canShow(variable.type));
    const prints = shown.map((variable) => `print("${variable.name} {${variable.name}}")`);
    return `pub fn main() uses Log {\n${[block.text, ...prints].join("\n")}\n}`;
  }

  #block(start: Scope, count: number, depth: number, around: Surroundings): Block {
    let scope = start;
    const lines: string[] = [];
    for (let index = 0; index < count; index++) {
      const { text, scope: after } = this.#statement(scope, depth, around);
      lines.push(text);
      scope = after;
    }
    return { text: lines.join("\n"), scope };
  }

  #statement(scope: Scope, depth: number, around: Surroundings): Block {
    const choices = this.#choices;
    const same = (text: string): Block => ({ text, scope });
    switch (choices.below(24)) {
      case 20:
      case 21:
      case 22:
        return moreForms({
          scope,
          expressions: this.#expressions,
          context: this.#context,
          leave: this.#leaving(scope, around),
        }) ?? this.#declaration(scope);
      case 23:
        return this.#bag(scope);
      case 0:
      case 1:
      case 2:
        return this.#declaration(scope);
      case 16:
        return same(this.#pool(scope));
      case 17:
        return this.#propagation(scope, around) ?? this.#declaration(scope);
      case 3:
        return same(this.#print(scope));
      case 4:
      case 5:
      case 6:
        return same(this.#assignment(scope));
      case 7:
      case 8:
        return depth === 0 ? same(this.#assignment(scope)) : same(this.#loop(scope, depth, around));
      case 9:
      case 10: {
        if (depth === 0) return same(this.#print(scope));
        const condition = this.#expressions.of(BOOL, scope, 2);
        const then = this.#block(scope, 1 + choices.below(2), depth - 1, around).text;
        const otherwise = choices.chance(50)
          ? ` else {\n${this.#block(scope, 1, depth - 1, around).text}\n}`
          : "";
        return same(`if ${condition} {\n${then}\n}${otherwise}`);
      }
      case 11:
        return same(this.#exit(scope, around) ?? this.#print(scope));
      case 12:
        return same(this.#inoutCall(scope) ?? this.#assignment(scope));
      case 13: {
        const subjects = scope.allPaths().filter((path) =>
          ["option", "union", "result"].includes(path.type.kind)
        );
        if (subjects.length === 0 || depth === 0) return this.#declaration(scope);
        const subject = choices.pick(subjects);
        return same(
          this.#expressions.matchOn(
            subject,
            (inner) => `{\n${this.#block(inner, 1, depth - 1, around).text}\n}`,
            scope,
          ),
        );
      }
      case 14: {
        const options = scope.allPaths().filter((path) => path.type.kind === "option");
        const [first] = options;
        if (first === undefined || depth === 0) return same(this.#print(scope));
        const subject = choices.pick(options);
        if (subject.type.kind !== "option") return same(this.#print(scope));
        const name = this.#context.fresh();
        const inner =
          this.#block(scope.with(constant(name, subject.type.element)), 1, depth - 1, around).text;
        return same(`if let Some(${name}) = ${subject.text} {\n${inner}\n}`);
      }
      default:
        return same(this.#collection(scope));
    }
  }

  #declaration(scope: Scope): Block {
    const type = this.#choices.chance(8)
      ? {
        kind: "function" as const,
        parameter: this.#context.universe.type(0),
        result: this.#context.universe.type(1),
      }
      : this.#context.universe.type(2);
    const name = this.#context.fresh();
    const isMutable = type.kind !== "function" && this.#choices.chance(60);
    const annotation = this.#choices.chance(50) ? `: ${typeText(type)}` : "";
    const value = this.#expressions.of(type, scope, 3);
    return {
      text: `${isMutable ? "var" : "let"} ${name}${annotation} = ${value}`,
      scope: scope.with({ name, type, isMutable, isInout: false }),
    };
  }

  #print(scope: Scope): string {
    const shown = scope.allPaths().filter((path) => canShow(path.type));
    if (shown.length === 0) return `print(${this.#expressions.of(STRING, scope, 2)})`;
    const path = this.#choices.pick(shown);
    return `print("${path.text.replaceAll(".", " ")} {${path.text}}")`;
  }

  #assignment(scope: Scope): string {
    const places = scope.places(null).filter((place) => place.type.kind !== "function");
    if (places.length === 0) return this.#print(scope);
    const place = this.#choices.pick(places);
    const value = this.#expressions.of(place.type, scope, 2);
    if (place.type.kind === "primitive" && this.#choices.chance(40)) {
      switch (place.type.name) {
        case "Int":
        case "Int64":
          return `${place.text} ${this.#choices.pick(["+%=", "-%=", "*%=", "+=", "-="])} ${value}`;
        case "Float":
        case "F32":
          return `${place.text} ${this.#choices.pick(["+=", "-=", "*=", "/=", "%="])} ${value}`;
        default:
          break;
      }
    }
    return `${place.text} = ${value}`;
  }

  /** What leaves the loop or the function at once. */
  #leaving(scope: Scope, around: Surroundings): string | null {
    if (around.isInLoop) return this.#choices.pick(["break", "continue"]);
    if (!around.mayReturn) return null;
    return around.result === null ? "return" : `return ${this.#expressions.of(around.result, scope, 1)}`;
  }

  /** A value of a generic type with methods, through an interface. */
  #bag(scope: Scope): Block {
    const [bag, outer, times] = [this.#context.fresh(), this.#context.fresh(), this.#context.fresh()];
    const int = () => this.#expressions.of(INT, scope, 1);
    return {
      text: [
        `var ${bag} = Bag { items: [Coin { value: ${int()} }, Coin { value: ${int()} }], count: 2 }`,
        this.#choices.pick([`${bag}.put(Coin { value: ${int()} })`, `Bag.put(&${bag}, Coin { value: 1 })`]),
        `let ${times} = ${int()}`,
        `let ${outer} = Bag { items: [${bag}, ${bag}], count: ${int()} }`,
        `print("{weight_of(${outer}, times: 3)} {${bag}} {weight_of(times: ${times}, value: ${bag})}")`,
      ].join("\n"),
      scope,
    };
  }

  /** Values that come and go under names. */
  #pool(scope: Scope): string {
    const element = this.#context.universe.type(1);
    const [pool, first, second, id] = [
      this.#context.fresh(),
      this.#context.fresh(),
      this.#context.fresh(),
      this.#context.fresh(),
    ];
    const value = () => this.#expressions.of(element, scope, 2);
    const lines = [
      `var ${pool}: Pool[${typeText(element)}] = Pool.empty()`,
      `let ${first} = ${pool}.insert(${value()})`,
      `let ${second} = ${pool}.insert(${value()})`,
      `if ${this.#expressions.of(BOOL, scope, 1)} { let _ = ${pool}.remove(${first}) }`,
      `for ${id} in ${pool}.ids() { ${pool}[${id}] = ${value()} }`,
    ];
    if (this.#choices.chance(50)) lines.push(`for inout ${id} in ${pool} { ${id} = ${value()} }`);
    lines.push(`print("{${pool}} {${pool}.contains(${first})} {${pool}.get(${second}).is_some()}")`);
    return lines.join("\n");
  }

  /** `?` on what the function may return. */
  #propagation(scope: Scope, around: Surroundings): Block | null {
    const { result, mayReturn } = around;
    if (!mayReturn || (result?.kind !== "option" && result?.kind !== "result")) return null;
    const element = this.#context.universe.type(1);
    const type: GeneratedType = result.kind === "result"
      ? { kind: "result", value: element, error: result.error }
      : { kind: "option", element };
    const [whole, part] = [this.#context.fresh(), this.#context.fresh()];
    const text = `let ${whole}: ${typeText(type)} = ${
      this.#expressions.of(type, scope, 2)
    }\nlet ${part} = ${whole}?`;
    return { text, scope: scope.with(constant(whole, type), constant(part, element)) };
  }

  /** A change of a list, map or set in place. */
  #collection(scope: Scope): string {
    const places = scope.places(null).filter((place) => ["list", "map", "set"].includes(place.type.kind));
    if (places.length === 0) return this.#assignment(scope);
    const { text, type } = this.#choices.pick(places);
    const rest = scope.without(text.split(".")[0] ?? text);
    switch (type.kind) {
      case "list": {
        const value = this.#expressions.of(type.element, rest, 2);
        const index = this.#expressions.of(INT, rest, 1);
        return this.#choices.pick([
          `if ${text}.len() < 8 { ${text}.push(${value}) }`,
          `if not ${text}.is_empty() { ${text}[(${index}).modulo(${text}.len())] = ${value} }`,
          `if not ${text}.is_empty() { let _ = ${text}.remove((${index}).modulo(${text}.len())) }`,
          `${text}.reverse()`,
          `if ${text}.len() < 8 { ${text}.insert((${index}).modulo(${text}.len() + 1), ${value}) }`,
          `let _ = ${text}.pop()`,
          has("Ord", type.element) ? `${text}.sort()` : `${text}.clear()`,
          has("Ord", type.element) ? `${text}.sort_by(fn(a, b) { b.compare(a) })` : `${text}.truncate(2)`,
          `${text}.retain(fn(_) { ${this.#expressions.of(BOOL, rest.captured(), 1)} })`,
          `${text}[${index}] = ${value}`,
        ]);
      }
      case "map": {
        const key = this.#expressions.of(type.key, rest, 1);
        return this.#choices.pick([
          `${text}[${key}] = ${this.#expressions.of(type.value, rest, 2)}`,
          `let _ = ${text}.remove(${key})`,
          `${text}.update(${key}, ${this.#expressions.of(type.value, rest, 1)}, fn(_) { ${
            this.#expressions.of(type.value, rest.captured(), 1)
          } })`,
          `${text}.clear()`,
        ]);
      }
      case "set":
        return `let _ = ${text}.${this.#choices.pick(["insert", "remove"])}(${
          this.#expressions.of(type.element, rest, 1)
        })`;
      default:
        return `${text} = ${this.#expressions.of(type, scope, 1)}`;
    }
  }

  #loop(scope: Scope, depth: number, around: Surroundings): string {
    const choices = this.#choices;
    const inner: Surroundings = { ...around, isInLoop: true };
    if (this.#context.loops > 0) this.#hasNestedLoops = true;
    const within = (make: () => string): string => {
      this.#context.loops++;
      const text = make();
      this.#context.loops--;
      return text;
    };
    const body = (bodyScope: Scope) =>
      within(() =>
        this.#block(bodyScope, 1 + choices.below(3), this.#context.loops > 1 ? 0 : depth - 1, inner).text
      );
    const name = this.#context.fresh();
    switch (choices.below(7)) {
      case 6:
        return `for ${name} in ${this.#expressions.of(STRING, scope, 2)} {\n${
          body(scope.with(constant(name, CHAR)))
        }\n}`;
      case 0:
      case 1:
        return `for ${name} in ${choices.below(3)}..${choices.pick(["", "="])}${choices.below(4)} {\n${
          body(scope.with(constant(name, INT)))
        }\n}`;
      case 2: {
        const element = this.#context.universe.type(1);
        const list = this.#expressions.of({ kind: "list", element }, scope, 2);
        return `for ${name} in ${list} {\n${body(scope.with(constant(name, element)))}\n}`;
      }
      case 3: {
        const counter: Variable = { name, type: INT, isMutable: false, isInout: false };
        return `var ${name} = 0\nwhile ${name} < ${1 + choices.below(3)} {\n${name} += 1\n${
          body(scope.with(counter))
        }\n}`;
      }
      case 4: {
        const lists = scope.places(null).filter((place) => place.type.kind === "list");
        if (lists.length === 0) return this.#assignment(scope);
        const list = choices.pick(lists);
        if (list.type.kind !== "list") return this.#assignment(scope);
        const element: Variable = { name, type: list.type.element, isMutable: true, isInout: true };
        return `for inout ${name} in ${list.text} {\n${body(scope.without(list.root.name).with(element))}\n}`;
      }
      default: {
        const maps = scope.allPaths().filter((path) => path.type.kind === "map" || path.type.kind === "set");
        if (maps.length === 0) return this.#print(scope);
        const { text, type } = choices.pick(maps);
        const other = this.#context.fresh();
        if (type.kind === "map") {
          return `for (${name}, ${other}) in ${text} {\n${
            body(scope.with(constant(name, type.key), constant(other, type.value)))
          }\n}`;
        }
        if (type.kind !== "set") return this.#print(scope);
        return `for ${name} in ${text} {\n${body(scope.with(constant(name, type.element)))}\n}`;
      }
    }
  }

  /** Leaves a loop or the function, when a condition holds. */
  #exit(scope: Scope, around: Surroundings): string | null {
    const condition = this.#expressions.of(BOOL, scope, 1);
    if (around.isInLoop && this.#choices.chance(60)) {
      return `if ${condition} { ${this.#choices.pick(["break", "continue"])} }`;
    }
    if (!around.mayReturn) return null;
    const value = around.result === null ? "" : ` ${this.#expressions.of(around.result, scope, 1)}`;
    return `if ${condition} { return${value} }`;
  }

  /** A call that changes variables: of a function of the program, or of a helper. */
  #inoutCall(scope: Scope): string | null {
    const choices = this.#choices;
    const { functions, loops } = this.#context;
    const fitting = functions.filter((each) =>
      each.parameters.some((parameter) => parameter.isInout) && (loops === 0 || !each.isHeavy)
    );
    if (fitting.length > 0 && choices.chance(70)) return this.#callOf(choices.pick(fitting), scope);
    const lists = scope.places(null).filter((place) => place.type.kind === "list");
    const list = lists.length === 0 ? null : choices.pick(lists);
    if (list?.type.kind === "list" && choices.chance(50)) {
      const rest = scope.without(list.root.name);
      return `push_some(&${list.text}, ${this.#expressions.of(list.type.element, rest, 1)}, ${
        choices.below(3)
      })`;
    }
    const pairs = scope.places(null).flatMap((left) =>
      scope.places(left.type).filter((right) => right.root !== left.root).map((
        right,
      ): [Path, Path] => [left, right])
    );
    if (pairs.length === 0) return null;
    const [left, right] = choices.pick(pairs);
    return `exchange(&${left.text}, &${right.text})`;
  }

  #callOf(fn: GeneratedFunction, scope: Scope): string | null {
    let rest = scope;
    const places: (string | null)[] = [];
    // Places first, so that no other argument names what is held.
    for (const parameter of fn.parameters) {
      if (!parameter.isInout) {
        places.push(null);
        continue;
      }
      const candidates = rest.places(parameter.type);
      if (candidates.length === 0) return null;
      const place = this.#choices.pick(candidates);
      rest = rest.without(place.root.name);
      places.push(`&${place.text}`);
    }
    const args = fn.parameters.map((parameter, index) =>
      places[index] ?? this.#expressions.of(parameter.type, rest, 1)
    );
    const call = `${fn.name}(${args.join(", ")})`;
    return fn.result === null ? call : `let _ = ${call}`;
  }
}

/** The program of a record of decisions. */
export function programOf(record: readonly number[]): string {
  return new ProgramWriter(Choices.replay(record)).program();
}

/** The program of a seed, with its decisions. */
export function programOfSeed(seed: number): { readonly text: string; readonly record: readonly number[] } {
  const choices = Choices.ofSeed(seed);
  const text = new ProgramWriter(choices).program();
  return { text, record: choices.record };
}
