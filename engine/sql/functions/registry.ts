/**
 * The table of built-in functions, operators and aggregates, and the choice among overloads.
 *
 * The choice follows "Type Conversion" of PostgreSQL's manual: an exact match wins; else, of the overloads whose
 * parameters the arguments convert to implicitly, the one with most exact matches, then with most preferred types;
 * untyped literals adapt to the category that the remaining overloads agree on. Native integer types without an
 * overload of their own are seen as the next wider type of PostgreSQL.
 */
import { closest } from "../../base/suggest.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { aggregateDefinitions } from "./aggregate_table.ts";
import { findCast } from "./casts.ts";
import type { AggregateDefinition, BoundAggregate, BoundFunction, FunctionDefinition } from "./definition.ts";
import { functionDefinitions } from "./function_table.ts";
import { operatorDefinitions } from "./operator_table.ts";
import { expandSignature } from "./overload.ts";
import {
  categoryOf,
  convertsImplicitly,
  displayName,
  isPattern,
  isPreferred,
  type TypeCategory,
  typeKey,
  typeOfKey,
  widenNative,
} from "./type_family.ts";

/** Where an error is to be reported: a position in the statement's text as `DatabaseError` counts it. */
export interface ResolutionOptions {
  readonly position?: number;
  /** The name as written, for messages; default is the name itself. */
  readonly writtenName?: string;
  /** The last argument is written with VARIADIC. */
  readonly variadic?: boolean;
  /** Functions of users that the name may mean as well. */
  readonly userFunctions?: readonly FunctionDefinition[];
  /** Names of all functions of users, for suggestions. */
  readonly userNames?: readonly string[];
}

/** What functions, operators and aggregates have in common for the choice among overloads. */
interface Candidate {
  readonly name: string;
  readonly signature: readonly string[];
  readonly variadic?: boolean;
}

class Table<Definition extends Candidate> {
  readonly #byName = new Map<string, Definition[]>();

  constructor(definitions: readonly Definition[]) {
    for (const definition of definitions) {
      const list = this.#byName.get(definition.name);
      if (list === undefined) this.#byName.set(definition.name, [definition]);
      else list.push(definition);
    }
  }

  named(name: string): readonly Definition[] {
    return this.#byName.get(name) ?? [];
  }

  names(): readonly string[] {
    return [...this.#byName.keys()];
  }
}

const functions = new Table(functionDefinitions);
const operators = new Table(operatorDefinitions);
const aggregates = new Table(aggregateDefinitions);

/** All overloads of a scalar or set-returning function; empty when there is none of that name. */
export function functionsNamed(name: string): readonly FunctionDefinition[] {
  return functions.named(name);
}

/** All overloads of an operator. */
export function operatorsNamed(symbol: string): readonly FunctionDefinition[] {
  return operators.named(symbol);
}

/** All overloads of an aggregate. */
export function aggregatesNamed(name: string): readonly AggregateDefinition[] {
  return aggregates.named(name);
}

/** What looks like a function but has a syntax or a meaning of its own; only for suggestions. */
const specialForms: readonly string[] = [
  "coalesce",
  "nullif",
  "greatest",
  "least",
  "grouping",
  "row_number",
  "rank",
  "dense_rank",
  "percent_rank",
  "cume_dist",
  "ntile",
  "lag",
  "lead",
  "first_value",
  "last_value",
  "nth_value",
];

/** The names of all functions, aggregates and special forms, for suggestions. */
export function allFunctionNames(): readonly string[] {
  return [...functions.names(), ...aggregates.names(), ...specialForms];
}

/** The symbols of all operators. */
export function allOperatorSymbols(): readonly string[] {
  return operators.names();
}

/** Every definition, in the order of the documentation. */
export function allDefinitions(): {
  readonly functions: readonly FunctionDefinition[];
  readonly operators: readonly FunctionDefinition[];
  readonly aggregates: readonly AggregateDefinition[];
} {
  return {
    functions: functionDefinitions,
    operators: operatorDefinitions,
    aggregates: aggregateDefinitions,
  };
}

/** True when the name is that of an aggregate. */
export function isAggregateName(name: string): boolean {
  return aggregates.named(name).length > 0;
}

/**
 * Chooses the overload of a function for argument types.
 *
 * @throws {DatabaseError} 42883 when none fits, 42725 when several fit equally well.
 */
export function resolveFunction(
  name: string,
  argumentTypes: readonly SqlType[],
  options: ResolutionOptions = {},
): BoundFunction {
  const users = options.userFunctions ?? [];
  const definitions = users.length === 0 ? functions.named(name) : [...functions.named(name), ...users];
  // PostgreSQL takes the word for any function of as many parameters as there are arguments.
  const candidates = options.variadic === true
    ? definitions.map((definition) => definition.spread ?? definition)
    : definitions;
  const chosen = choose(candidates, argumentTypes, false);
  if (chosen.kind === "bound") return chosen.bound;
  const only = argumentTypes[0];
  if (argumentTypes.length === 1 && only !== undefined) {
    const cast = functionalCast(name, only);
    if (cast !== undefined) return cast;
  }
  if (chosen.kind === "ambiguous") {
    throw new DatabaseError(
      SQLSTATE.ambiguousFunction,
      `function ${callText(options.writtenName ?? name, argumentTypes)} is not unique`,
      withPosition(
        "Could not choose a best candidate function. You might need to add explicit type casts.",
        options,
      ),
    );
  }
  if (functions.named(name).some((definition) => isUndetermined(definition, argumentTypes))) {
    throw new DatabaseError(
      SQLSTATE.datatypeMismatch,
      "could not determine polymorphic type because input has type unknown",
      options.position === undefined ? {} : { position: options.position },
    );
  }
  throw noFunction(name, argumentTypes, options);
}

/** True when an overload would fit if its untyped arguments determined its type variables. */
function isUndetermined(definition: Candidate, argumentTypes: readonly SqlType[]): boolean {
  const keys = argumentTypes.map(typeKey);
  const parameters = expandSignature(definition.signature, definition.variadic === true, keys.length);
  if (parameters === undefined || !accepts(parameters, keys)) return false;
  const patterns = parameters.filter((parameter) => isPattern(parameter) && parameter !== "any");
  return patterns.length > 0 &&
    parameters.every((parameter, index) => !isPattern(parameter) || keys[index] === "unknown");
}

/**
 * Chooses the overload of an operator; `left` is undefined for a prefix operator.
 *
 * @throws {DatabaseError} 42883 when none fits, 42725 when several fit equally well.
 */
export function resolveOperator(
  symbol: string,
  left: SqlType | undefined,
  right: SqlType,
  options: ResolutionOptions = {},
): BoundFunction {
  const argumentTypes = left === undefined ? [right] : [left, right];
  const named = symbol === "!=" ? "<>" : symbol;
  const chosen = choose(operators.named(named), argumentTypes, true);
  if (chosen.kind === "bound") return chosen.bound;
  const shown = displayName(typeKey(right));
  const text = left === undefined ? `${symbol} ${shown}` : `${displayName(typeKey(left))} ${symbol} ${shown}`;
  if (chosen.kind === "ambiguous") {
    throw new DatabaseError(
      SQLSTATE.ambiguousFunction,
      `operator is not unique: ${text}`,
      withPosition(
        "Could not choose a best candidate operator. You might need to add explicit type casts.",
        options,
      ),
    );
  }
  throw new DatabaseError(
    SQLSTATE.undefinedFunction,
    `operator does not exist: ${text}`,
    withPosition(
      left === undefined
        ? "No operator matches the given name and argument type. You might need to add an explicit type cast."
        : "No operator matches the given name and argument types. You might need to add explicit type casts.",
      options,
    ),
  );
}

/**
 * Chooses the overload of an aggregate. `count(*)` has no argument types.
 *
 * @throws {DatabaseError} 42883 when none fits, 42725 when several fit equally well.
 */
export function resolveAggregate(
  name: string,
  argumentTypes: readonly SqlType[],
  options: ResolutionOptions = {},
): BoundAggregate {
  const chosen = choose(aggregates.named(name), argumentTypes, false);
  if (chosen.kind === "bound") return chosen.bound;
  if (chosen.kind === "ambiguous") {
    throw new DatabaseError(
      SQLSTATE.ambiguousFunction,
      `function ${callText(options.writtenName ?? name, argumentTypes)} is not unique`,
      withPosition(
        "Could not choose a best candidate function. You might need to add explicit type casts.",
        options,
      ),
    );
  }
  throw noFunction(name, argumentTypes, options);
}

function noFunction(
  name: string,
  argumentTypes: readonly SqlType[],
  options: ResolutionOptions,
): DatabaseError {
  const exists = functions.named(name).length > 0 || aggregates.named(name).length > 0 ||
    (options.userFunctions?.length ?? 0) > 0;
  const similar = exists ? undefined : closest(name, [...allFunctionNames(), ...options.userNames ?? []]);
  return new DatabaseError(
    SQLSTATE.undefinedFunction,
    `function ${callText(options.writtenName ?? name, argumentTypes)} does not exist`,
    withPosition(
      similar === undefined
        ? "No function matches the given name and argument types. You might need to add explicit type casts."
        : `Did you mean "${similar}"?`,
      options,
    ),
  );
}

function callText(name: string, argumentTypes: readonly SqlType[]): string {
  return `${name}(${argumentTypes.map((type) => displayName(typeKey(type))).join(", ")})`;
}

function withPosition(hint: string, options: ResolutionOptions): { hint: string; position?: number } {
  return options.position === undefined ? { hint } : { hint, position: options.position };
}

/** Names of types that may be called like a function, `text(1)` or `float8('1')`. */
const castFunctionNames: ReadonlyMap<string, string> = new Map([
  ["bool", "bool"],
  ["int2", "i16"],
  ["int4", "i32"],
  ["int8", "i64"],
  ["float4", "f32"],
  ["float8", "f64"],
  ["numeric", "numeric"],
  ["text", "text"],
  ["varchar", "varchar"],
  ["name", "name"],
  ["bytea", "bytea"],
  ["date", "date"],
  ["time", "time"],
  ["timestamp", "timestamp"],
  ["timestamptz", "timestamptz"],
  ["interval", "interval"],
  ["uuid", "uuid"],
  ["json", "json"],
  ["jsonb", "jsonb"],
  ["oid", "oid"],
  ["regclass", "regclass"],
  ["regtype", "regtype"],
]);

function functionalCast(name: string, argument: SqlType): BoundFunction | undefined {
  const target = typeOfKey(castFunctionNames.get(name) ?? "any");
  const cast = target === undefined ? undefined : findCast(argument, target);
  if (target === undefined || cast === undefined) return undefined;
  const inline = cast.inline;
  return {
    name,
    argumentTypes: [argument],
    returnType: target,
    volatility: cast.volatility,
    strict: true,
    mayReturnNull: cast.mayReturnNull,
    evaluate: (context, value) => value === undefined ? null : cast.evaluate(context, value),
    ...(inline === undefined ? {} : {
      inline: (args: readonly string[], use: Parameters<typeof inline>[1]) => inline(args[0] ?? "null", use),
    }),
  };
}

type Choice<Bound> =
  | { readonly kind: "bound"; readonly bound: Bound }
  | { readonly kind: "none" }
  | { readonly kind: "ambiguous" };

type Bindable<Bound> = Candidate & {
  readonly bind: (types: readonly SqlType[]) => { readonly cost: number; readonly bound: Bound } | undefined;
};

function choose<Bound>(
  definitions: readonly Bindable<Bound>[],
  argumentTypes: readonly SqlType[],
  isOperator: boolean,
): Choice<Bound> {
  if (definitions.length === 0) return { kind: "none" };
  const widened = argumentTypes.map(widenNative);
  if (widened.some((type, index) => typeKey(type) !== typeKey(argumentTypes[index] ?? type))) {
    const first = chooseAs(definitions, argumentTypes, isOperator, true);
    if (first.kind === "bound") return first;
    const second = chooseAs(definitions, widened, isOperator, false);
    // The arguments keep their types: the binder converts straight to what the overload takes.
    if (second.kind === "bound") return second;
  }
  return chooseAs(definitions, argumentTypes, isOperator, false);
}

/** With `exactOnly`, only the first step of the rule: overloads whose parameter types are those of the arguments. */
function chooseAs<Bound>(
  definitions: readonly Bindable<Bound>[],
  argumentTypes: readonly SqlType[],
  isOperator: boolean,
  exactOnly: boolean,
): Choice<Bound> {
  const keys = argumentTypes.map(typeKey);
  const exact = findExact(definitions, keys) ??
    (isOperator ? findExact(definitions, assumeSameType(keys)) : undefined) ??
    (exactOnly ? findPolymorphic(definitions, keys) : undefined);
  if (exact !== undefined) {
    const bound = exact.bind(argumentTypes)?.bound;
    if (bound !== undefined) return { kind: "bound", bound };
  }
  if (exactOnly) return { kind: "none" };
  const applicable: Applicable<Bound>[] = [];
  for (const definition of definitions) {
    const parameters = expandSignature(definition.signature, definition.variadic === true, keys.length);
    if (parameters === undefined || !accepts(parameters, keys)) continue;
    const bound = definition.bind(argumentTypes)?.bound;
    if (bound === undefined) continue;
    applicable.push({ parameters, bound, variadic: definition.variadic === true, bind: definition.bind });
  }
  return chooseBest(applicable, keys, argumentTypes);
}

interface Applicable<Bound> {
  readonly parameters: readonly string[];
  readonly bound: Bound;
  readonly variadic: boolean;
  readonly bind: Bindable<Bound>["bind"];
}

function findExact<Definition extends Candidate>(
  definitions: readonly Definition[],
  keys: readonly string[] | undefined,
): Definition | undefined {
  if (keys === undefined || keys.includes("unknown")) return undefined;
  return definitions.find((definition) =>
    definition.signature.length === keys.length && definition.variadic !== true &&
    definition.signature.every((parameter, index) => parameter === keys[index])
  );
}

/** An overload that takes the native types as they are: each parameter is that type or a pattern, one at least. */
function findPolymorphic<Definition extends Candidate>(
  definitions: readonly Definition[],
  keys: readonly string[],
): Definition | undefined {
  return definitions.find((definition) => {
    const parameters = expandSignature(definition.signature, definition.variadic === true, keys.length);
    return parameters?.every((parameter, index) => isPattern(parameter) || parameter === keys[index]) ===
      true;
  });
}

/** For a binary operator with one untyped literal: both operands of the known type. */
function assumeSameType(keys: readonly string[]): readonly string[] | undefined {
  const [left, right] = keys;
  if (left === undefined || right === undefined || (left === "unknown") === (right === "unknown")) {
    return undefined;
  }
  return left === "unknown" ? [right, right] : [left, left];
}

function accepts(parameters: readonly string[], keys: readonly string[]): boolean {
  return parameters.every((parameter, index) => {
    const key = keys[index] ?? "void";
    return isPattern(parameter) || convertsImplicitly(key, parameter);
  });
}

function chooseBest<Bound>(
  applicable: readonly Applicable<Bound>[],
  keys: readonly string[],
  argumentTypes: readonly SqlType[],
): Choice<Bound> {
  let left = preferNonVariadic(applicable);
  if (left.length > 1) left = keepBest(left, (candidate) => count(candidate, keys, isExact));
  if (left.length > 1) left = keepBest(left, (candidate) => count(candidate, keys, isExactOrPreferred));
  if (left.length > 1 && keys.includes("unknown")) {
    left = resolveUnknowns(left, keys);
    if (left.length > 1) left = assumeOneKnownType(left, argumentTypes);
  }
  const [only, ...others] = left;
  if (only === undefined) return { kind: "none" };
  return others.length === 0 ? { kind: "bound", bound: only.bound } : { kind: "ambiguous" };
}

/** An overload with as many parameters as arguments beats the expansion of a variadic one. */
function preferNonVariadic<Bound>(candidates: readonly Applicable<Bound>[]): readonly Applicable<Bound>[] {
  const plain = candidates.filter((candidate) => !candidate.variadic);
  return plain.length > 0 ? plain : candidates;
}

function isExact(parameter: string, key: string): boolean {
  return parameter === key;
}

function isExactOrPreferred(parameter: string, key: string): boolean {
  return parameter === key || (isPreferred(parameter) && categoryOf(parameter) === categoryOf(key));
}

function count<Bound>(
  candidate: Applicable<Bound>,
  keys: readonly string[],
  rule: (parameter: string, key: string) => boolean,
): number {
  let matches = 0;
  for (const [index, parameter] of candidate.parameters.entries()) {
    const key = keys[index];
    if (key !== undefined && key !== "unknown" && rule(parameter, key)) matches++;
  }
  return matches;
}

function keepBest<T>(candidates: readonly T[], score: (candidate: T) => number): readonly T[] {
  const scores = candidates.map(score);
  const best = Math.max(...scores);
  return candidates.filter((_, index) => scores[index] === best);
}

/** Lets the remaining overloads vote on the category of each untyped literal; text wins over a disagreement. */
function resolveUnknowns<Bound>(
  candidates: readonly Applicable<Bound>[],
  keys: readonly string[],
): readonly Applicable<Bound>[] {
  const wanted: { readonly index: number; readonly category: TypeCategory; readonly preferred: boolean }[] =
    [];
  for (const [index, key] of keys.entries()) {
    if (key !== "unknown") continue;
    const parameters = candidates.map((candidate) => candidate.parameters[index] ?? "any");
    const voted = new Set(parameters.map(categoryOf));
    const category = voted.has("S") ? "S" : voted.size === 1 ? [...voted][0] : undefined;
    if (category === undefined) return candidates;
    wanted.push({
      index,
      category,
      preferred: parameters.some((parameter) => categoryOf(parameter) === category && isPreferred(parameter)),
    });
  }
  const kept = candidates.filter((candidate) =>
    wanted.every(({ index, category, preferred }) => {
      const parameter = candidate.parameters[index] ?? "any";
      return categoryOf(parameter) === category && (!preferred || isPreferred(parameter));
    })
  );
  return kept.length > 0 ? kept : candidates;
}

/** The last resort: when all typed arguments have one type, the untyped ones are taken to have it too. */
function assumeOneKnownType<Bound>(
  candidates: readonly Applicable<Bound>[],
  argumentTypes: readonly SqlType[],
): readonly Applicable<Bound>[] {
  const known = argumentTypes.filter((type) => type.kind !== "unknown");
  const [only] = known;
  if (only === undefined || known.some((type) => typeKey(type) !== typeKey(only))) return candidates;
  const assumed = argumentTypes.map((type) => type.kind === "unknown" ? only : type);
  const fitting = candidates.filter((candidate) => candidate.bind(assumed) !== undefined);
  return fitting.length === 1 ? fitting : candidates;
}
