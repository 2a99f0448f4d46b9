/**
 * Random expressions of a given type.
 *
 * They end, and mostly without a trap: sums wrap in most places, divisors and indexes are mostly made to fit, what
 * grows is cut. What traps must trap alike in both evaluators. The first alternative of every decision is the
 * simplest, as {@link Choices} asks for.
 */
import type { Choices } from "../choices.ts";
import {
  BOOL,
  canShow,
  CHAR,
  FLOAT,
  type GeneratedType,
  has,
  INT,
  INT64,
  type PrimitiveName,
  STRING,
  typeText,
  type TypeUniverse,
} from "./program_types.ts";
import { callsFor, operandType } from "./library_calls.ts";
import type { GeneratedFunction, Path, Scope, Variable } from "./scope.ts";

/** What is the same for a whole program. */
export interface ProgramContext {
  readonly choices: Choices;
  readonly universe: TypeUniverse;
  readonly functions: GeneratedFunction[];
  /** A name that nothing else has. */
  fresh(): string;
  /** How many loops are around what is being written; calls of heavy functions stay out of them. */
  loops: number;
}

/** An immutable variable. */
export function constant(name: string, type: GeneratedType): Variable {
  return { name, type, isMutable: false, isInout: false };
}

/** Writes expressions. */
export class ExpressionWriter {
  readonly #context: ProgramContext;
  readonly #choices: Choices;

  constructor(context: ProgramContext) {
    this.#context = context;
    this.#choices = context.choices;
  }

  /** An expression of the type. */
  of(type: GeneratedType, scope: Scope, depth: number): string {
    const choices = this.#choices;
    const paths = scope.paths(type);
    if (depth <= 0) {
      return paths.length > 0 && choices.chance(70) ? choices.pick(paths).text : this.#leaf(type);
    }
    switch (choices.below(12)) {
      case 10:
      case 11:
        return type.kind === "function" ? this.#leaf(type) : this.#library(type, scope, depth);
      case 0:
      case 1:
        return paths.length > 0 ? choices.pick(paths).text : this.#made(type, scope, depth);
      case 2:
        return this.#general(type, scope, depth);
      case 3:
        return this.#call(type, scope, depth) ?? this.#made(type, scope, depth);
      default:
        return this.#made(type, scope, depth);
    }
  }

  /** A call of the library. */
  #library(type: GeneratedType, scope: Scope, depth: number): string {
    const call = this.#choices.pick(callsFor(type));
    // What is written within closures sees no more than they do.
    const inner = scope.captured();
    return call.replace(/\{([A-Z][\w[\], ]*)\}/g, (whole, name: string) => {
      const operand = operandType(name, type);
      return operand === null ? whole : this.of(operand, inner, depth - 1);
    });
  }

  /** The simplest expression of the type. */
  #leaf(type: GeneratedType): string {
    const choices = this.#choices;
    switch (type.kind) {
      case "primitive":
        return this.#literal(type.name);
      case "list":
      case "set":
      case "map":
        return this.#empty(type);
      case "option":
        return choices.chance(50) ? `Some(${this.#leaf(type.element)})` : this.#none(type);
      case "tuple":
        return `(${type.elements.map((element) => this.#leaf(element)).join(", ")})`;
      case "result":
        return this.#typed(
          type,
          choices.chance(30) ? `Err(${this.#leaf(type.error)})` : `Ok(${this.#leaf(type.value)})`,
        );
      case "record":
        return `${type.record.name} { ${
          type.record.fields.map((field) => `${field.name}: ${this.#leaf(field.type)}`).join(", ")
        } }`;
      case "union": {
        const [variant] = type.union.variants;
        if (variant === undefined) throw new Error("a union has variants");
        return this.#variant(variant.name, variant.fields.map((field) => this.#leaf(field.type)));
      }
      case "function": {
        const name = this.#context.fresh();
        return `fn(${name}: ${typeText(type.parameter)}) { ${this.#leaf(type.result)} }`;
      }
    }
  }

  #variant(name: string, fields: readonly string[]): string {
    return fields.length === 0 ? name : `${name}(${fields.join(", ")})`;
  }

  /** An expression that says its type. */
  #typed(type: GeneratedType, text: string): string {
    const name = this.#context.fresh();
    return `{ let ${name}: ${typeText(type)} = ${text}\n${name} }`;
  }

  #empty(type: GeneratedType): string {
    const make = type.kind === "list" ? "[]" : type.kind === "set" ? "Set.empty()" : "Map.empty()";
    return this.#typed(type, make);
  }

  #none(type: GeneratedType): string {
    return this.#typed(type, "None");
  }

  #literal(name: PrimitiveName): string {
    const choices = this.#choices;
    switch (name) {
      case "Int":
        return choices.pick([
          "0",
          "1",
          "2",
          "3",
          "7",
          "(-1)",
          "(-5)",
          "10",
          "100",
          "255",
          "65536",
          "2147483647",
          "(-2147483647)",
        ]);
      case "Int64":
        return this.#typed(
          INT64,
          choices.pick(["0", "1", "2", "-3", "1000", "4294967296", "-9000000000", "9223372036854775807"]),
        );
      case "Float":
        return choices.pick([
          "0.0",
          "1.0",
          "0.5",
          "2.0",
          "(-1.5)",
          "0.1",
          "3.7",
          "1.0e10",
          "(-0.0)",
          "1.0e300",
          "1.0e-300",
        ]);
      case "F32":
        return this.#typed(
          { kind: "primitive", name: "F32" },
          choices.pick(["0.0", "1.0", "0.5", "0.1", "-2.25", "16777216.0", "1.0e30"]),
        );
      case "Bool":
        return choices.pick(["false", "true"]);
      case "Char":
        return choices.pick(["'a'", "'b'", "'Z'", "'5'", "' '", "'é'", "'😀'", "'\\n'"]);
      case "String":
        return choices.pick(['""', '"a"', '"hello"', '"b c"', '"é€😀"', '"1,2"', '"-7"', '"a\\"\\\\\\n"']);
      case "Bytes":
        return choices.pick([
          "Bytes.empty()",
          '"abc".to_bytes()',
          "Bytes.filled(7, 2)",
          "Bytes.from_list([1, 255])",
        ]);
    }
  }

  /** What works for every type. */
  #general(type: GeneratedType, scope: Scope, depth: number): string {
    const choices = this.#choices;
    const next = depth - 1;
    switch (choices.below(9)) {
      case 0:
        return `(if ${this.of(BOOL, scope, next)} { ${this.of(type, scope, next)} } else { ${
          this.of(type, scope, next)
        } })`;
      case 1: {
        const name = this.#context.fresh();
        const bound = this.#context.universe.type(1);
        const inner = scope.with(constant(name, bound));
        return `{ let ${name} = ${this.of(bound, scope, next)}\n${this.of(type, inner, next)} }`;
      }
      case 2:
        return `${this.of({ kind: "option", element: type }, scope, next)}.unwrap_or(${
          this.of(type, scope, next)
        })`;
      case 3: {
        const list: GeneratedType = { kind: "list", element: type };
        const lists = scope.paths(list);
        const text = lists.length > 0 ? choices.pick(lists).text : this.of(list, scope, next);
        return `${text}.get(${this.of(INT, scope, 0)}).unwrap_or(${this.of(type, scope, next)})`;
      }
      case 4:
        return this.#match(type, scope, next);
      case 5:
        return `(${this.of(type, scope, next)}, ${this.of(this.#context.universe.type(0), scope, next)}).0`;
      case 6:
        return this.#closureCall(type, scope, next);
      case 7:
        return this.#listElement(type, scope, next);
      default:
        return this.#helper(type, scope, next);
    }
  }

  #listElement(type: GeneratedType, scope: Scope, depth: number): string {
    const items = Array.from({ length: 1 + this.#choices.below(3) }, () => this.of(type, scope, depth));
    const index = this.#choices.below(items.length);
    // Once in a while outside of the list.
    const written = this.#choices.chance(3) ? `${index + 3}` : `${index}`;
    return `[${items.join(", ")}][${written}]`;
  }

  #closureCall(type: GeneratedType, scope: Scope, depth: number): string {
    const parameter = this.#context.fresh();
    const parameterType = this.#context.universe.type(1);
    const closure = this.#context.fresh();
    const body = this.of(type, scope.captured().with(constant(parameter, parameterType)), depth);
    const argument = this.of(parameterType, scope, depth);
    return `{ let ${closure} = fn(${parameter}: ${typeText(parameterType)}) -> ${
      typeText(type)
    } { ${body} }\n${closure}(${argument}) }`;
  }

  /** Functions that every program has, generic ones. */
  #helper(type: GeneratedType, scope: Scope, depth: number): string {
    const choices = this.#choices;
    const args = () => this.of(type, scope, depth);
    const candidates = [
      () => `identity(${args()})`,
      () => `choose(${this.of(BOOL, scope, depth)}, ${args()}, ${args()})`,
      () => `swapped((${this.of(this.#context.universe.type(0), scope, 0)}, ${args()})).0`,
    ];
    if (has("Ord", type)) candidates.push(() => `larger(${args()}, ${args()})`);
    return choices.pick(candidates)();
  }

  /** A match on something in scope, or made for it. */
  #match(type: GeneratedType, scope: Scope, depth: number): string {
    const subjects = scope.allPaths().filter((path) =>
      ["option", "union", "result", "tuple"].includes(path.type.kind)
    );
    if (subjects.length === 0) {
      const arms = [
        `0 => ${this.of(type, scope, depth)}`,
        `1..=9 | -1 => ${this.of(type, scope, depth)}`,
        `_ => ${this.of(type, scope, depth)}`,
      ];
      return `match ${this.of(INT, scope, depth)} {\n${arms.join("\n")}\n}`;
    }
    return this.matchOn(this.#choices.pick(subjects), (inner) => this.of(type, inner, depth), scope);
  }

  /** A match with an arm for each shape; each arm's body is made in a scope with what it binds. */
  matchOn(subject: Path, body: (scope: Scope) => string, scope: Scope): string {
    const bind = (types: readonly GeneratedType[]) => {
      const variables = types.map((each) => constant(this.#context.fresh(), each));
      return { texts: variables.map((variable) => variable.name), inner: scope.with(...variables) };
    };
    const arms: string[] = [];
    const arm = (pattern: (names: readonly string[]) => string, types: readonly GeneratedType[]) => {
      const { texts, inner } = bind(types);
      const guard = this.#choices.chance(15) ? ` if ${this.of(BOOL, inner, 0)}` : "";
      if (guard !== "") arms.push(`${pattern(texts)}${guard} => ${body(inner)}`);
      arms.push(`${pattern(texts)} => ${body(inner)}`);
    };
    const { type } = subject;
    switch (type.kind) {
      case "option":
        arm(([name]) => `Some(${name})`, [type.element]);
        arm(() => "None", []);
        break;
      case "result":
        arm(([name]) => `Ok(${name})`, [type.value]);
        arm(([name]) => `Err(${name})`, [type.error]);
        break;
      case "tuple":
        arm((names) => `(${names.join(", ")})`, type.elements);
        break;
      case "union": {
        const { variants } = type.union;
        const shown = this.#choices.chance(20) ? variants.slice(0, 1) : variants;
        for (const variant of shown) {
          arm(
            (names) =>
              variant.fields.length === 0
                ? variant.name
                : `${variant.name}(${
                  variant.fields.map((field, index) =>
                    field.name === null ? names[index] : `${field.name}: ${names[index]}`
                  ).join(", ")
                })`,
            variant.fields.map((field) => field.type),
          );
        }
        if (shown.length < variants.length) arm(() => "_", []);
        break;
      }
      default:
        arms.push(`_ => ${body(scope)}`);
    }
    return `match ${subject.text} {\n${arms.join("\n")}\n}`;
  }

  /** A call of a function of the program that gives this type, when there is one. */
  #call(type: GeneratedType, scope: Scope, depth: number): string | null {
    const { functions, loops } = this.#context;
    const fitting = functions.filter((each) =>
      each.result !== null && typeText(each.result) === typeText(type) && (loops === 0 || !each.isHeavy) &&
      each.parameters.every((parameter) => !parameter.isInout)
    );
    if (fitting.length === 0) return null;
    const chosen = this.#choices.pick(fitting);
    return `${chosen.name}(${
      chosen.parameters.map((parameter) => this.of(parameter.type, scope, depth - 1)).join(", ")
    })`;
  }

  /** An expression that this type alone has. */
  #made(type: GeneratedType, scope: Scope, depth: number): string {
    const next = depth - 1;
    switch (type.kind) {
      case "primitive":
        return this.#primitive(type.name, scope, next);
      case "list":
        return this.#list(type.element, scope, next);
      case "option":
        return this.#option(type.element, scope, next);
      case "set": {
        const list = this.of({ kind: "list", element: type.element }, scope, next);
        return `Set.from_list(${list})`;
      }
      case "map": {
        const count = this.#choices.below(4);
        if (count === 0) return this.#empty(type);
        const pairs = Array.from(
          { length: count },
          () => `(${this.of(type.key, scope, next)}, ${this.of(type.value, scope, next)})`,
        );
        return `Map.from_list([${pairs.join(", ")}])`;
      }
      case "tuple":
        return `(${type.elements.map((element) => this.of(element, scope, next)).join(", ")})`;
      case "result":
        return this.#typed(
          type,
          this.#choices.chance(30)
            ? `Err(${this.of(type.error, scope, next)})`
            : `Ok(${this.of(type.value, scope, next)})`,
        );
      case "record": {
        const { record } = type;
        const fields = record.fields.map((field) => `${field.name}: ${this.of(field.type, scope, next)}`);
        if (this.#choices.chance(20)) {
          return `${record.name} { ..${this.of(type, scope, next)}, ${fields[0]} }`;
        }
        return `${record.name} { ${(this.#choices.chance(30) ? fields.reverse() : fields).join(", ")} }`;
      }
      case "union": {
        const variant = this.#choices.pick(type.union.variants);
        const fields = variant.fields.map((field) => {
          const text = this.of(field.type, scope, next);
          return field.name !== null && this.#choices.chance(50)
            ? { text: `${field.name}: ${text}`, isNamed: true }
            : { text, isNamed: false };
        });
        // Behind a named argument all are named.
        const firstNamed = fields.findIndex((field) => field.isNamed);
        const texts = fields.map((field, index) =>
          firstNamed >= 0 && index > firstNamed && !field.isNamed
            ? `${variant.fields[index]?.name}: ${field.text}`
            : field.text
        );
        return this.#variant(variant.name, texts);
      }
      case "function": {
        const name = this.#context.fresh();
        const body = this.of(type.result, scope.captured().with(constant(name, type.parameter)), next);
        return `fn(${name}: ${typeText(type.parameter)}) -> ${typeText(type.result)} { ${body} }`;
      }
    }
  }

  #option(element: GeneratedType, scope: Scope, depth: number): string {
    const type: GeneratedType = { kind: "option", element };
    const list: GeneratedType = { kind: "list", element };
    switch (this.#choices.below(6)) {
      case 0:
        return this.#none(type);
      case 1:
        return `${this.of(list, scope, depth)}.first()`;
      case 2: {
        const name = this.#context.fresh();
        const body = this.of(BOOL, scope.captured().with(constant(name, element)), depth);
        return `${this.of(list, scope, depth)}.find(fn(${name}) { ${body} })`;
      }
      default:
        return `Some(${this.of(element, scope, depth)})`;
    }
  }

  #list(element: GeneratedType, scope: Scope, depth: number): string {
    const type: GeneratedType = { kind: "list", element };
    const choices = this.#choices;
    const cut = (text: string) => `(${text}).take(6)`;
    switch (choices.below(9)) {
      case 8:
        return cut(`${this.of(type, scope, depth)} + ${this.of(type, scope, depth)}`);
      case 1: {
        const source = this.#context.universe.type(0);
        const name = this.#context.fresh();
        const body = this.of(element, scope.captured().with(constant(name, source)), depth);
        return `${this.of({ kind: "list", element: source }, scope, depth)}.map(fn(${name}) { ${body} })`;
      }
      case 2: {
        const name = this.#context.fresh();
        const body = this.of(BOOL, scope.captured().with(constant(name, element)), depth);
        return `${this.of(type, scope, depth)}.filter(fn(${name}) { ${body} })`;
      }
      case 3:
        return `${this.of(type, scope, depth)}.reversed()`;
      case 4:
        return has("Ord", element)
          ? `${this.of(type, scope, depth)}.sorted()`
          : `${this.of(type, scope, depth)}.drop(1)`;
      case 5:
        return has("Hash", element)
          ? `${this.of(type, scope, depth)}.unique()`
          : `List.filled(${this.of(element, scope, depth)}, 2)`;
      default: {
        const count = choices.below(4);
        if (count === 0) return this.#empty(type);
        return `[${Array.from({ length: count }, () => this.of(element, scope, depth)).join(", ")}]`;
      }
    }
  }

  #primitive(name: PrimitiveName, scope: Scope, depth: number): string {
    switch (name) {
      case "Int":
        return this.#int(scope, depth);
      case "Bool":
        return this.#bool(scope, depth);
      case "String":
        return this.#string(scope, depth);
      case "Float":
        return this.#float(scope, depth);
      case "Int64":
        return this.#int64(scope, depth);
      case "Char":
        return this.#choices.chance(30)
          ? `${this.of(STRING, scope, depth)}.get(${this.of(INT, scope, 0)}).unwrap_or(${
            this.#literal("Char")
          })`
          : this.#literal("Char");
      case "F32":
        return this.#choices.chance(50)
          ? `(${this.of({ kind: "primitive", name }, scope, depth)} ${
            this.#choices.pick(["+", "-", "*", "/", "%"])
          } ${this.of({ kind: "primitive", name }, scope, depth)})`
          : `${this.of(FLOAT, scope, depth)}.to_f32()`;
      case "Bytes":
        return this.#choices.chance(50)
          ? `${this.of(STRING, scope, depth)}.to_bytes()`
          : this.#literal("Bytes");
    }
  }

  #int(scope: Scope, depth: number): string {
    const choices = this.#choices;
    const int = () => this.of(INT, scope, depth);
    switch (choices.below(14)) {
      case 0:
        return this.#literal("Int");
      case 1:
      case 2:
        return `(${int()} ${choices.pick(["+%", "-%", "*%"])} ${int()})`;
      case 3:
        return `(${int()} ${choices.pick(["&", "|", "^", "<<", ">>"])} ${int()})`;
      case 4:
        return `(${int()} ${choices.pick(["+", "-", "*"])} ${choices.pick(["1", "2", "3"])})`;
      case 5:
        return `(${int()} ${choices.pick(["/", "%"])} ${
          choices.pick(["3", "7", "-2", "10", "-1", "2", int()])
        })`;
      case 6:
        return `(-${int()})`;
      case 7:
        return `${this.of(STRING, scope, depth)}.${choices.pick(["len", "byte_len", "hash"])}()`;
      case 8: {
        const list = this.of({ kind: "list", element: INT }, scope, depth);
        return choices.chance(50) ? `${list}.len()` : `${list}.fold(${int()}, fn(a, b) { a *% 3 +% b })`;
      }
      case 9:
        return `${this.of(FLOAT, scope, depth)}.${choices.pick(["to_int_saturating", "to_int"])}()`;
      case 10:
        return `${this.of(INT64, scope, depth)}.${choices.pick(["low_int", "low_int", "to_int"])}()`;
      case 11:
        return `${this.of(CHAR, scope, depth)}.to_int()`;
      case 12: {
        const hashed = this.#context.universe.hashable();
        return `hash_of(${this.of(hashed, scope, depth)})`;
      }
      default:
        return `${int()}.${
          choices.pick([
            "abs()",
            "sign()",
            "count_ones()",
            "leading_zeros()",
            "complement()",
            `max(${int()})`,
            `modulo(${choices.pick(["5", "-3", "7"])})`,
          ])
        }`;
    }
  }

  #int64(scope: Scope, depth: number): string {
    const choices = this.#choices;
    const long = () => this.of(INT64, scope, depth);
    switch (choices.below(8)) {
      case 0:
        return this.#literal("Int64");
      case 1:
        return `(${long()} ${choices.pick(["+%", "-%", "*%", "&", "|", "^"])} ${long()})`;
      case 2:
        return `(${long()} ${choices.pick(["<<", ">>"])} ${this.of(INT, scope, depth)})`;
      case 3:
        return `(${long()} ${choices.pick(["+", "-", "*", "/", "%"])} ${choices.pick(["1", "3", "-7"])})`;
      case 4:
        return `${this.of(FLOAT, scope, depth)}.to_int64_saturating()`;
      case 5:
        return `${this.of(FLOAT, scope, depth)}.to_bits()`;
      case 6:
        return `${long()}.rotate_left(${this.of(INT, scope, depth)})`;
      default:
        return `${this.of(INT, scope, depth)}.to_int64()`;
    }
  }

  #float(scope: Scope, depth: number): string {
    const choices = this.#choices;
    const float = () => this.of(FLOAT, scope, depth);
    switch (choices.below(8)) {
      case 0:
        return this.#literal("Float");
      case 1:
      case 2:
        return `(${float()} ${choices.pick(["+", "-", "*", "/", "%"])} ${float()})`;
      case 3:
        return `${float()}.${
          choices.pick(["floor", "ceil", "trunc", "round", "round_even", "abs", "sqrt", "sign"])
        }()`;
      case 4:
        return `${this.of(INT, scope, depth)}.to_float()`;
      case 5:
        return `${float()}.${choices.pick(["min", "max", "copy_sign"])}(${float()})`;
      case 6:
        return `(-${float()})`;
      default:
        return choices.chance(50)
          ? `${this.of(INT64, scope, depth)}.to_float()`
          : `${this.of({ kind: "primitive", name: "F32" }, scope, depth)}.to_float()`;
    }
  }

  #bool(scope: Scope, depth: number): string {
    const choices = this.#choices;
    const bool = () => this.of(BOOL, scope, depth);
    switch (choices.below(8)) {
      case 0:
        return this.#literal("Bool");
      case 1:
        return `(${bool()} ${choices.pick(["and", "or"])} ${bool()})`;
      case 2:
        return `(not ${bool()})`;
      case 3: {
        const type = this.#context.universe.type(1);
        return has("Eq", type)
          ? `(${this.of(type, scope, depth)} ${choices.pick(["==", "!="])} ${this.of(type, scope, depth)})`
          : bool();
      }
      case 4: {
        const type = this.#context.universe.type(1);
        return has("Ord", type)
          ? `(${this.of(type, scope, depth)} ${choices.pick(["<", "<=", ">", ">="])} ${
            this.of(type, scope, depth)
          })`
          : bool();
      }
      case 5: {
        const key = this.#context.universe.hashable();
        return `${this.of({ kind: "set", element: key }, scope, depth)}.contains(${
          this.of(key, scope, depth)
        })`;
      }
      case 6:
        return `${this.of(STRING, scope, depth)}.${choices.pick(["contains", "starts_with", "ends_with"])}(${
          this.of(STRING, scope, depth)
        })`;
      default:
        return `(${this.of(INT, scope, depth)} ${choices.pick(["<", "==", ">="])} ${
          this.of(INT, scope, depth)
        })`;
    }
  }

  #string(scope: Scope, depth: number): string {
    const choices = this.#choices;
    const string = () => this.of(STRING, scope, depth);
    switch (choices.below(8)) {
      case 0:
        return this.#literal("String");
      case 1:
        return `(${string()} + ${string()}).take(24)`;
      case 2:
      case 3: {
        const type = this.#context.universe.type(2);
        const name = this.#context.fresh();
        if (!canShow(type)) return string();
        return `{ let ${name} = ${this.of(type, scope, depth)}\n"<{${name}}>".take(60) }`;
      }
      case 4:
        return `${string()}.${choices.pick(["trim", "to_upper", "reversed"])}()`;
      case 5:
        return `${string()}.slice(${this.of(INT, scope, 0)}, ${this.of(INT, scope, 0)})`;
      case 6:
        return `${string()}.replace(${this.#literal("String")}, "-").take(24)`;
      default:
        return `${this.of({ kind: "list", element: STRING }, scope, depth)}.join(",").take(24)`;
    }
  }
}
