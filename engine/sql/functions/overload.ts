/**
 * Builders of definitions: a compact form of one overload, turned into the full {@link FunctionDefinition}.
 *
 * Implementations are plain functions over the JavaScript forms of their declared types. Which form an argument has is
 * guaranteed by the binder, which converts every argument to `argumentTypes` first; therefore this is the one place
 * where typed implementations meet the untyped calling convention.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { commonType } from "./common_type.ts";
import type {
  AggregateComponent,
  AggregateDefinition,
  AggregateMerge,
  AggregateSlot,
  BoundAggregate,
  BoundFunction,
  EvaluationContext,
  FunctionDefinition,
  Raises,
  UseRuntime,
  Volatility,
} from "./definition.ts";
import type { BoundedForm } from "./integer_range.ts";
import { convertsImplicitly, isPattern, typeKey, typeOfKey } from "./type_family.ts";

// deno-lint-ignore no-explicit-any -- the argument forms follow from the declared types
type Implementation = (...args: any[]) => SqlValue;
// deno-lint-ignore no-explicit-any -- as above
type ContextImplementation = (context: EvaluationContext, ...args: any[]) => SqlValue;
type RowsImplementation = (
  context: EvaluationContext,
  // deno-lint-ignore no-explicit-any -- as above
  ...args: any[]
) => Iterable<readonly SqlValue[]>;

/** Rows of one column, made one after the other: others have their turns between. */
export function* eachRow(values: Iterable<SqlValue>): Iterable<readonly SqlValue[]> {
  for (const value of values) yield [value];
}

/** What may differ from the declaration once the argument types are known. */
export interface Specialization {
  readonly argumentTypes?: readonly SqlType[];
  readonly returnType?: SqlType;
  readonly run?: Implementation;
  readonly runIn?: ContextImplementation;
  readonly rows?: RowsImplementation;
  readonly rowColumns?: readonly { readonly name: string; readonly type: SqlType }[];
  readonly inline?: (args: readonly string[], use: UseRuntime) => string;
  readonly bounded?: BoundedForm;
  readonly mayReturnNull?: boolean;
  readonly volatility?: Volatility;
  readonly raises?: Raises;
}

/** One overload, in short form. Exactly one of `run`, `runIn`, `rows` and `specialize` gives the implementation. */
export interface Overload extends Specialization {
  readonly name: string;
  /** Type keys separated by commas, e.g. `"text, i32"`; the last one repeats when `variadic`. */
  readonly takes: string;
  readonly returns: string;
  readonly category: FunctionDefinition["category"];
  readonly summary: string;
  readonly variadic?: boolean;
  /** Of a variadic one: how it takes the rest of its arguments as an array. */
  readonly spread?: SpreadForm;
  /** Default true. */
  readonly strict?: boolean;
  /** Default immutable. */
  readonly volatility?: Volatility;
  /**
   * Changes the binding for concrete argument types; undefined: this overload does not fit after all. `types` are the
   * parameters' types, with the modifiers of arguments that have that type already; `written` are the arguments' own.
   */
  readonly specialize?: (
    types: readonly SqlType[],
    written: readonly SqlType[],
  ) => Specialization | undefined;
}

/** What a variadic overload does with `VARIADIC array`. */
export interface SpreadForm {
  /** Default true: NULL for an array that is NULL, and for any other argument that is. */
  readonly strict?: boolean;
  /** The implementation for the types of the other arguments and, as the last one, of the array's elements. */
  readonly specialize: (types: readonly SqlType[]) => ContextImplementation;
}

/** Splits `"text, i32"` into its keys. */
export function splitKeys(keys: string): string[] {
  return keys === "" ? [] : keys.split(",").map((key) => key.trim());
}

/** The keys of the parameters for a number of arguments; undefined when the number does not fit. */
export function expandSignature(
  signature: readonly string[],
  variadic: boolean,
  argumentCount: number,
): readonly string[] | undefined {
  if (!variadic) return signature.length === argumentCount ? signature : undefined;
  if (argumentCount < signature.length) return undefined;
  const last = assertDefined(signature[signature.length - 1], "the variadic parameter");
  return [...signature, ...Array<string>(argumentCount - signature.length).fill(last)];
}

/** The types that a signature's patterns stand for, given arguments. */
interface Unified {
  readonly element: SqlType | undefined;
  readonly compatible: SqlType | undefined;
}

function unify(parameters: readonly string[], argumentTypes: readonly SqlType[]): Unified | undefined {
  let element: SqlType | undefined;
  const compatible: SqlType[] = [];
  let hasCompatible = false;
  for (const [index, parameter] of parameters.entries()) {
    const type = argumentTypes[index];
    if (type === undefined) return undefined;
    if (!isPattern(parameter) || parameter === "any") continue;
    const isArray = parameter.endsWith("array") && parameter !== "anynonarray";
    hasCompatible ||= parameter.startsWith("anycompatible");
    if (type.kind === "unknown") continue;
    if (isArray && type.kind !== "array") return undefined;
    if (parameter === "anyenum" && type.kind !== "enum") return undefined;
    if (parameter === "anynonarray" && type.kind === "array") return undefined;
    const part = isArray && type.kind === "array" ? type.element : type;
    if (parameter.startsWith("anycompatible")) compatible.push(part);
    else if (element === undefined) element = part;
    else if (typeKey(element) !== typeKey(part)) return undefined;
    else if (element !== part) element = mergeModifiers(element, part);
  }
  if (!hasCompatible) return { element, compatible: undefined };
  const common = compatible.length === 0 ? { kind: "text" } as const : commonType(compatible);
  return common === undefined ? undefined : { element, compatible: common };
}

/** Two types of one key: the first when they are equal, else the type without modifiers. */
function mergeModifiers(left: SqlType, right: SqlType): SqlType {
  if (JSON.stringify(left) === JSON.stringify(right)) return left;
  return commonType([left, right]) ?? left;
}

/** The concrete type of a parameter; undefined when a pattern stays undetermined. */
function concreteType(parameter: string, actual: SqlType | undefined, unified: Unified): SqlType | undefined {
  switch (parameter) {
    case "any":
      return actual === undefined || actual.kind === "unknown" ? { kind: "text" } : actual;
    case "anyelement":
    case "anyenum":
    case "anynonarray":
      return unified.element;
    case "anyarray":
      return unified.element === undefined ? undefined : { kind: "array", element: unified.element };
    case "anycompatible":
    case "anycompatiblenonarray":
      return unified.compatible;
    case "anycompatiblearray":
      return unified.compatible === undefined ? undefined : { kind: "array", element: unified.compatible };
    case "record":
    case "char":
      if (actual !== undefined && actual.kind === parameter) return actual;
      return typeOfKey(parameter);
    default:
      return typeOfKey(parameter);
  }
}

/**
 * The argument types that an overload's parameters take for concrete arguments, and how many implicit casts that
 * needs. Undefined when the arguments do not fit.
 */
export function matchSignature(
  signature: readonly string[],
  variadic: boolean,
  argumentTypes: readonly SqlType[],
): { readonly types: readonly SqlType[]; readonly cost: number; readonly unified: Unified } | undefined {
  const parameters = expandSignature(signature, variadic, argumentTypes.length);
  if (parameters === undefined) return undefined;
  let cost = 0;
  for (const [index, parameter] of parameters.entries()) {
    const actual = argumentTypes[index];
    if (actual === undefined) return undefined;
    if (isPattern(parameter)) continue;
    const key = typeKey(actual);
    if (key === parameter) continue;
    if (!convertsImplicitly(key, parameter)) return undefined;
    cost++;
  }
  const unified = unify(parameters, argumentTypes);
  if (unified === undefined) return undefined;
  const types: SqlType[] = [];
  for (const [index, parameter] of parameters.entries()) {
    const type = concreteType(parameter, argumentTypes[index], unified);
    if (type === undefined) return undefined;
    types.push(type);
  }
  return { types, cost, unified };
}

/**
 * What a specialization sees: the written types (scales, lengths), and untyped literals as what they will become. A
 * pattern's arguments are converted to the one type that all of them have in common, and are of that type.
 */
function knownTypes(
  signature: readonly string[],
  types: readonly SqlType[],
  written: readonly SqlType[],
): SqlType[] {
  return types.map((type, index) => {
    if (isPattern(signature[index] ?? signature.at(-1) ?? "")) return type;
    const actual = written[index];
    return actual !== undefined && typeKey(actual) === typeKey(type) ? actual : type;
  });
}

/** Makes the full definition of an overload. */
export function defineFunction(overload: Overload): FunctionDefinition {
  const signature = splitKeys(overload.takes);
  const variadic = overload.variadic === true;
  const strict = overload.strict !== false;
  return {
    name: overload.name,
    signature,
    returns: overload.returns,
    ...(variadic ? { variadic } : {}),
    ...(overload.spread === undefined ? {} : { spread: defineSpread(overload, overload.spread) }),
    category: overload.category,
    summary: overload.summary,
    bind(argumentTypes) {
      const match = matchSignature(signature, variadic, argumentTypes);
      if (match === undefined) return undefined;
      const known = knownTypes(signature, match.types, argumentTypes);
      const special = overload.specialize === undefined
        ? overload
        : overload.specialize(known, argumentTypes);
      if (special === undefined) return undefined;
      const returnType = special.returnType ?? concreteType(overload.returns, undefined, match.unified);
      if (returnType === undefined) return undefined;
      return {
        cost: match.cost,
        bound: {
          ...bindImplementation(
            overload,
            special,
            special.argumentTypes ?? match.types,
            returnType,
            strict,
          ),
          writtenTypes: argumentTypes,
        },
      };
    },
  };
}

/**
 * The form of a variadic overload that takes an array for the last parameter. Its name is its own, because a call
 * with VARIADIC is not the same expression as one that passes an array as one argument.
 */
function defineSpread(overload: Overload, spread: SpreadForm): NonNullable<FunctionDefinition["spread"]> {
  const name = `variadic ${overload.name}`;
  const keys = splitKeys(overload.takes);
  const last = assertDefined(keys.at(-1), "the variadic parameter");
  const signature = [...keys.slice(0, -1), last === "any" ? "any" : `${last}[]`];
  return {
    name,
    signature,
    bind(argumentTypes) {
      const match = matchSignature(signature, false, argumentTypes);
      if (match === undefined) return undefined;
      const types = knownTypes(signature, match.types, argumentTypes);
      const returnType = assertDefined(typeOfKey(overload.returns), "the type of a variadic function");
      const array = types.at(-1);
      const elements = [...types.slice(0, -1), ...array?.kind === "array" ? [array.element] : []];
      const strict = spread.strict !== false;
      const special: Specialization = {
        runIn: spread.specialize(elements),
        mayReturnNull: true,
        volatility: "stable",
      };
      const { category, returns, summary, takes } = overload;
      const form: Overload = { name, category, returns, summary, takes };
      const bound = bindImplementation(form, special, types, returnType, strict);
      return { cost: match.cost, bound };
    },
  };
}

function bindImplementation(
  overload: Overload,
  special: Specialization,
  argumentTypes: readonly SqlType[],
  returnType: SqlType,
  strict: boolean,
): BoundFunction {
  const bounded = special.bounded ?? overload.bounded;
  const common = {
    name: overload.name,
    argumentTypes,
    returnType,
    volatility: special.volatility ?? overload.volatility ?? "immutable",
    strict,
    mayReturnNull: special.mayReturnNull ?? overload.mayReturnNull ?? !strict,
    raises: special.raises ?? overload.raises ?? "anything",
    ...(bounded === undefined ? {} : { bounded }),
  };
  const run = special.run ?? overload.run;
  const runIn = special.runIn ?? overload.runIn;
  const rows = special.rows ?? overload.rows;
  const inline = special.inline ?? overload.inline;
  const fallback = overload.name.replaceAll(/[^a-z0-9_]/g, "") || "operator";
  const identifier = (run?.name ?? runIn?.name) || fallback;
  if (rows !== undefined) {
    return {
      ...common,
      evaluate: () => assertNever(overload.name),
      rows,
      rowColumns: special.rowColumns ?? overload.rowColumns ?? [{ name: overload.name, type: returnType }],
    };
  }
  if (run !== undefined) {
    return {
      ...common,
      evaluate: (_context, ...args) => run(...args),
      inline: inline ?? ((args, use) => `${use(identifier, run)}(${args.join(", ")})`),
    };
  }
  const implementation = assertDefined(runIn, `the implementation of ${overload.name}`);
  return {
    ...common,
    evaluate: implementation,
    inline: inline ??
      ((args, use) => `${use(identifier, implementation)}(${["context", ...args].join(", ")})`),
  };
}

function assertNever(name: string): never {
  assert(false, `set-returning function ${name} was called as a scalar`);
  throw new Error();
}

/** What an aggregate's overload may decide once the argument types are known. */
export interface AggregateParts {
  readonly argumentTypes?: readonly SqlType[];
  readonly returnType?: SqlType;
  readonly slots: readonly AggregateSlot[];
  readonly step: BoundAggregate["step"];
  readonly finish: BoundAggregate["finish"];
  readonly components?: readonly AggregateComponent[];
  /** See `BoundAggregate.parts`; "itself": by the same aggregate over the results. */
  readonly parts?: AggregateMerge | "itself";
}

/** The slots and the step of components in a row. */
export function ofPieces(
  components: readonly AggregateComponent[],
): Pick<AggregateParts, "components" | "slots" | "step"> {
  const firsts = components.map((_, index) =>
    components.slice(0, index).reduce((sum, { slots }) => sum + slots.length, 0)
  );
  return {
    components,
    slots: components.flatMap(({ slots }) => slots),
    step: (slots, args, use, facts) =>
      components.map((component, index) => {
        const first = firsts[index] ?? 0;
        return component.step(slots.slice(first, first + component.slots.length), args, use, facts);
      }).join(" "),
  };
}

/** One overload of an aggregate, in short form. */
export interface AggregateOverload {
  readonly name: string;
  readonly takes: string;
  readonly returns: string;
  readonly summary: string;
  readonly variadic?: boolean;
  /** Default true. */
  readonly skipsNulls?: boolean;
  /** Default false. */
  readonly orderSensitive?: boolean;
  /** See `BoundAggregate.needsCount`. */
  readonly needsCount?: true;
  /** The parts for the types that the arguments will have. */
  readonly parts: (argumentTypes: readonly SqlType[]) => AggregateParts | undefined;
}

/** Makes the full definition of an aggregate's overload. */
export function defineAggregate(overload: AggregateOverload): AggregateDefinition {
  const signature = splitKeys(overload.takes);
  return {
    name: overload.name,
    signature,
    returns: overload.returns,
    summary: overload.summary,
    bind(argumentTypes) {
      const match = matchSignature(signature, overload.variadic === true, argumentTypes);
      if (match === undefined) return undefined;
      const known = knownTypes(signature, match.types, argumentTypes);
      const parts = overload.parts(known);
      if (parts === undefined) return undefined;
      const returnType = parts.returnType ?? concreteType(overload.returns, undefined, match.unified);
      if (returnType === undefined) return undefined;
      return {
        cost: match.cost,
        bound: {
          name: overload.name,
          argumentTypes: parts.argumentTypes ?? match.types,
          writtenTypes: argumentTypes,
          returnType,
          skipsNulls: overload.skipsNulls !== false,
          slots: parts.slots,
          step: parts.step,
          ...(parts.components === undefined ? {} : { components: parts.components }),
          finish: parts.finish,
          ...(parts.parts === undefined ? {} : {
            parts: parts.parts === "itself"
              ? { results: [{ type: returnType, finish: parts.finish }], merge: parts.step }
              : parts.parts,
          }),
          orderSensitive: overload.orderSensitive === true,
          ...(overload.needsCount === undefined ? {} : { needsCount: true }),
        },
      };
    },
  };
}
