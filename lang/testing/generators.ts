/**
 * Properties as tests without parameters: code in front of the body makes the arguments from numbers that the host
 * chooses.
 *
 * Each record, union and tuple has a function that makes it from its parts, `std.generate` makes the rest. Variants
 * that lead back to their own type come last, so that the host ends every value by choosing 0. Both evaluators run
 * the same tree.
 */
import type { Span } from "../source/source_file.ts";
import type { Expression, Local, Statement, TypedFunction, TypedProgram, TypedTest } from "../typed/tree.ts";
import { resolve } from "../types/primitives.ts";
import type { Type, TypeDefinition, VariantDefinition } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import { substitute } from "../types/unification.ts";

const BOOL: Type = { kind: "primitive", name: "Bool" };
const INT: Type = { kind: "primitive", name: "Int" };
const STRING: Type = { kind: "primitive", name: "String" };
const UNIT: Type = { kind: "tuple", elements: [] };

/** Names of functions of `std.generate` for types without parts. */
const PRIMITIVES: Readonly<Record<string, string>> = {
  Bool: "bool",
  Int: "int",
  Int64: "int64",
  Float: "float",
  F32: "f32",
  Char: "char",
  String: "string",
  Bytes: "bytes",
};

/** Types of the library that are not made from their parts. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  "std.list.List": "list",
  "std.map.Map": "map",
  "std.set.Set": "set",
  "std.range.Range": "range",
};

/** A type of which no values can be made. */
export class CannotGenerate extends Error {
  readonly type: Type;

  constructor(type: Type) {
    super(`Cannot make values of \`${typeText(type)}\``);
    this.type = type;
  }
}

/** Makes properties into tests. */
export class PropertyMaker {
  readonly #program: TypedProgram;
  readonly #functions = new Map<string, TypedFunction>();

  constructor(program: TypedProgram) {
    this.#program = program;
  }

  /** The property as a test; throws {@link CannotGenerate}. */
  testOf(property: TypedTest): TypedTest {
    const { span, parameters, body } = property;
    if (body === null) throw new Error(`Cannot run the property ${property.name}: it has no body`);
    const statements: Statement[] = parameters.map((local) => ({
      kind: "let",
      span,
      pattern: { kind: "binding", span, type: local.type, local },
      value: this.#value(local.type, span),
    }));
    statements.push(this.#reporting(parameters, span), { kind: "expression", span, expression: body });
    return {
      ...property,
      kind: "test",
      parameters: [],
      body: { kind: "block", span, type: UNIT, statements, result: null },
    };
  }

  #reporting(parameters: readonly Local[], span: Span): Statement {
    const statements = parameters.map((local): Statement => {
      const value: Expression = { kind: "local", span, type: local.type, local };
      // In a list of one, so that a text is shown in quotes.
      const shown: Expression = {
        kind: "interpolation",
        span,
        type: STRING,
        parts: [{ kind: "tuple", span, type: { kind: "tuple", elements: [local.type] }, elements: [value] }],
      };
      const name: Expression = { kind: "string", span, type: STRING, value: local.name };
      return {
        kind: "expression",
        span,
        expression: this.#call("argument", { args: [name, shown], result: UNIT, span }),
      };
    });
    return {
      kind: "expression",
      span,
      expression: {
        kind: "if",
        span,
        type: UNIT,
        condition: this.#call("wants_arguments", { result: BOOL, span }),
        then: { kind: "block", span, type: UNIT, statements, result: null },
        otherwise: null,
      },
    };
  }

  #call(name: string, options: {
    readonly args?: readonly Expression[];
    readonly typeArguments?: readonly Type[];
    readonly result: Type;
    readonly span: Span;
  }): Expression {
    const { args = [], typeArguments = [], result, span } = options;
    return {
      kind: "call",
      span,
      type: result,
      callee: {
        kind: "function",
        function: this.#program.libraryFunction(`std.generate.${name}`),
        typeArguments,
      },
      arguments: args.map((value) => ({ kind: "value", value })),
    };
  }

  /** Makes a value. */
  #value(type: Type, span: Span): Expression {
    const at = resolve(type);
    if (at.kind === "primitive") {
      const name = PRIMITIVES[at.name];
      if (name === undefined) throw new CannotGenerate(at);
      return this.#call(name, { result: at, span });
    }
    if (at.kind === "named") {
      const { definition, arguments: typeArguments } = at;
      const name = COLLECTIONS[`${definition.module}.${definition.name}`];
      if (name !== undefined) {
        const args = typeArguments.map((each) => this.#functionValue(each, span));
        return this.#call(name, { args, typeArguments, result: at, span });
      }
    }
    return this.#callOwn(this.#functionOf(at, span), at, span);
  }

  #callOwn(target: TypedFunction, result: Type, span: Span): Expression {
    return {
      kind: "call",
      span,
      type: result,
      callee: { kind: "function", function: target, typeArguments: [] },
      arguments: [],
    };
  }

  #functionValue(type: Type, span: Span): Expression {
    return {
      kind: "function",
      span,
      type: { kind: "function", parameters: [], result: type },
      callee: { kind: "function", function: this.#functionOf(type, span), typeArguments: [] },
    };
  }

  /** The function that makes values of a type. */
  #functionOf(type: Type, span: Span): TypedFunction {
    const id = `generate ${typeText(type, true)}`;
    const known = this.#functions.get(id);
    if (known !== undefined) return known;
    const [module] = this.#program.modules;
    if (module === undefined) throw new Error("Cannot make values: the program has no modules");
    const made: { -readonly [Key in keyof TypedFunction]: TypedFunction[Key] } = {
      id,
      module: module.name,
      owner: null,
      name: id,
      file: module.file,
      nameSpan: span,
      isPublic: false,
      documentation: null,
      typeParameters: [],
      parameters: [],
      result: type,
      effects: new Set(),
      linkage: { kind: "body" },
      body: null,
    };
    this.#functions.set(id, made);
    made.body = this.#composed(resolve(type), span);
    return made;
  }

  #composed(type: Type, span: Span): Expression {
    if (type.kind === "tuple") {
      return {
        kind: "tuple",
        span,
        type,
        elements: type.elements.map((element) => this.#value(element, span)),
      };
    }
    if (type.kind !== "named") {
      if (type.kind === "primitive") return this.#value(type, span);
      throw new CannotGenerate(type);
    }
    const { definition, arguments: typeArguments } = type;
    const { body } = definition;
    const key = `${definition.module}.${definition.name}`;
    if (COLLECTIONS[key] !== undefined) return this.#value(type, span);
    if (body.kind === "builtin" || isOpaque(definition)) throw new CannotGenerate(type);
    const part = (fieldType: Type) =>
      this.#value(substitute(fieldType, definition.typeParameters, typeArguments), span);
    if (body.kind === "record") {
      return {
        kind: "record",
        span,
        type,
        fields: body.fields.map((field) => part(field.type)),
        order: body.fields.map((_, index) => index),
      };
    }
    const made = simplestFirst(definition, body.variants).map((variant): Expression => ({
      kind: "variant",
      span,
      type,
      variant,
      fields: variant.fields.map((field) => part(field.type)),
      order: variant.fields.map((_, index) => index),
    }));
    return this.#oneOf(made, type, span);
  }

  /** One of the values, as the host chooses. */
  #oneOf(values: readonly Expression[], type: Type, span: Span): Expression {
    const last = values.at(-1);
    if (last === undefined) throw new CannotGenerate(type);
    if (values.length === 1) return last;
    const local: Local = { id: 0, name: "which", type: INT, kind: "let", span };
    const limit: Expression = { kind: "integer", span, type: INT, value: BigInt(values.length) };
    const choice = this.#call("choice", { args: [limit], result: INT, span });
    const chain = values.slice(0, -1).reduceRight<Expression>((otherwise, value, index) => ({
      kind: "if",
      span,
      type,
      condition: {
        kind: "compare",
        span,
        type: BOOL,
        operator: "==",
        left: { kind: "local", span, type: INT, local },
        right: { kind: "integer", span, type: INT, value: BigInt(index) },
      },
      then: value,
      otherwise,
    }), last);
    return {
      kind: "block",
      span,
      type,
      statements: [{
        kind: "let",
        span,
        pattern: { kind: "binding", span, type: INT, local },
        value: choice,
      }],
      result: chain,
    };
  }
}

/** Types of the library with rules that their fields do not tell. */
function isOpaque({ module, name }: TypeDefinition): boolean {
  return module === "std.pool" || module === "std.random" && name === "Rng";
}

/** Variants that do not lead back to their type first, among them those with fewer fields. */
function simplestFirst(
  definition: TypeDefinition,
  variants: readonly VariantDefinition[],
): VariantDefinition[] {
  const rank = (variant: VariantDefinition): number => {
    const leadsBack = variant.fields.some((field) => mentions(field.type, definition, new Set()));
    return (leadsBack ? 1_000 : 0) + variant.fields.length;
  };
  return variants.toSorted((left, right) => rank(left) - rank(right));
}

function mentions(type: Type, wanted: TypeDefinition, seen: Set<TypeDefinition>): boolean {
  const at = resolve(type);
  if (at.kind === "tuple") return at.elements.some((element) => mentions(element, wanted, seen));
  if (at.kind !== "named") return false;
  if (at.definition === wanted) return true;
  if (at.arguments.some((argument) => mentions(argument, wanted, seen))) return true;
  if (seen.has(at.definition)) return false;
  seen.add(at.definition);
  const { body } = at.definition;
  if (body.kind === "record") return body.fields.some((field) => mentions(field.type, wanted, seen));
  if (body.kind === "union") {
    return body.variants.some((variant) =>
      variant.fields.some((field) => mentions(field.type, wanted, seen))
    );
  }
  return false;
}
