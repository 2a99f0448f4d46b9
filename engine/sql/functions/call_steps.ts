/**
 * How many steps (see `engine/base/gas.ts`) calls and casts take.
 *
 * Where the types of arguments and result bound the size of values, the number is fixed and known beforehand. Otherwise
 * it follows from the sizes of the arguments, charged before the call, and of the result, charged after it. Functions
 * whose work follows neither, because it multiplies sizes or makes a large result of small arguments, are in the table;
 * those that only know while they work (regular expressions, jsonpath) charge by themselves. The rates are measured: no
 * step of any function takes longer than about half a microsecond.
 */
import { gas } from "../../base/gas.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { physicalTypeOf } from "../../types/physical_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundCast, BoundFunction } from "./definition.ts";
import { STEP_RULES, type StepRule } from "./step_rules.ts";
import { longestCharacterLength } from "./type_family.ts";
import { sizeOf } from "./value_size.ts";

/** Steps of a call that the sizes of its arguments do not matter to. */
const INLINE_STEPS = 1;
const PLAIN_STEPS = 4;
/** Units of size that one step handles. */
const DEFAULT_RATE = 16;
/** Of documents, which are parsed. */
const DOCUMENT_RATE = 2;
/** Of texts that a cast reads as values of another type. */
const READ_RATE = 2;
const DEFAULT_RULE: StepRule = {};

/** Whether the values of a type have a bounded size. */
export function isBoundedType(type: SqlType): boolean {
  switch (type.kind) {
    case "interval":
    case "uuid":
    case "name":
    case "internal_char":
    case "void":
      return true;
    default:
      return !["string", "object"].includes(physicalTypeOf(type).form);
  }
}

/** The steps of a call when they do not depend on values; null: they do, and {@link metered} counts them. */
export function fixedSteps(called: BoundFunction): number | null {
  if (called.steps !== undefined) return called.steps === "own" ? null : called.steps;
  const rule = STEP_RULES.get(called.name);
  if (rule?.fixed !== undefined) return rule.fixed;
  if (!isBoundedType(called.returnType) || !called.argumentTypes.every(isBoundedType)) return null;
  const isPlain = called.inline !== undefined && !/[a-z]/.test(called.name) &&
    !called.argumentTypes.some(({ kind }) => kind === "timestamptz" || kind === "interval");
  return isPlain ? INLINE_STEPS : PLAIN_STEPS;
}

/** The same for a cast. */
export function fixedCastSteps(cast: BoundCast): number | null {
  if (cast.identity) return 0;
  if (!isBoundedType(cast.from) || !isBoundedType(cast.to)) return null;
  return cast.inline === undefined ? PLAIN_STEPS : INLINE_STEPS;
}

/**
 * The steps of an operation on arguments of this size together, when they follow from that alone and the result has a
 * bounded size; null otherwise.
 */
export function stepsOfSize(called: BoundFunction | BoundCast, size: number): number | null {
  const isCast = "to" in called;
  if (!isCast && called.steps === "own") return null;
  const rule = isCast ? castRule(called) : STEP_RULES.get(called.name) ?? DEFAULT_RULE;
  if (!isBoundedType(isCast ? called.to : called.returnType)) return null;
  if (rule.before !== undefined || rule.beforePattern !== undefined) return null;
  return (rule.base ?? PLAIN_STEPS) + size / (rule.rate ?? DEFAULT_RATE);
}

/**
 * The steps of a call on these values as far as they are known before it. Who matches charges for that alone, which is
 * estimated here: a step is a character.
 */
export function stepsAhead(called: BoundFunction | BoundCast, args: readonly SqlValue[]): number {
  const isCast = "to" in called;
  const rule = isCast ? castRule(called) : STEP_RULES.get(called.name) ?? DEFAULT_RULE;
  const types = isCast ? [called.from] : called.argumentTypes;
  const { beforePattern } = rule;
  const isMatched = beforePattern !== undefined && rule.before === undefined;
  let steps = rule.base ?? PLAIN_STEPS;
  for (let index = 0; index < args.length; index++) {
    const type = types[index];
    const rate = rule.rate ?? (type !== undefined && isDocument(type) ? DOCUMENT_RATE : DEFAULT_RATE);
    steps += sizeOf(args[index] ?? null) / (isMatched ? 1 : rate);
  }
  return steps + (beforePattern?.(args[1]) ?? rule.before?.(...args) ?? 0);
}

const READ_RULE: StepRule = { rate: READ_RATE, resultRate: DEFAULT_RATE };

function castRule({ from, to }: BoundCast): StepRule {
  if (from.kind === "numeric") return STEP_RULES.get("numeric::") ?? DEFAULT_RULE;
  return isCharacters(from) && !isCharacters(to) || from.kind === "json" ? READ_RULE : DEFAULT_RULE;
}

function isCharacters({ kind }: SqlType): boolean {
  return kind === "text" || kind === "varchar" || kind === "char" || kind === "unknown";
}

const meteredFunctions = new WeakMap<BoundFunction, BoundFunction>();
const meteredCasts = new WeakMap<BoundCast, BoundCast>();

type Evaluate = BoundFunction["evaluate"];

/** The function that counts its steps; the function itself when they are fixed or it counts them already. */
export function metered(called: BoundFunction): BoundFunction {
  if (called.steps === "own" || fixedSteps(called) !== null) return called;
  let made = meteredFunctions.get(called);
  if (made === undefined) {
    const { inline: _inline, bounded: _bounded, ...rest } = called;
    const rule = STEP_RULES.get(called.name) ?? DEFAULT_RULE;
    made = { ...rest, evaluate: counting(called.evaluate, called.argumentTypes, rule) };
    meteredFunctions.set(called, made);
  }
  return made;
}

/**
 * The same for a call on a text and a constant pattern: what the pattern asks for is known beforehand, and the call is
 * that of an expression whose steps are not counted. Null for other calls.
 */
export function meteredWithPattern(called: BoundFunction, pattern: SqlValue): BoundFunction | null {
  const { inline, argumentTypes: types } = called;
  const rule = STEP_RULES.get(called.name);
  const [text] = types;
  if (inline === undefined || text === undefined || types.length !== 2) return null;
  if (rule?.beforePattern === undefined || !isBoundedType(called.returnType)) return null;
  if (physicalTypeOf(text).form !== "string") return null;
  const rate = rule.rate ?? DEFAULT_RATE;
  const fixed = baseSteps(types, rule) + sizeOf(pattern) / rate + rule.beforePattern(pattern);
  const { bounded: _bounded, ...rest } = called;
  return {
    ...rest,
    inline: (args, use) =>
      `(${use("charge", charge)}(${fixed} + ${args[0]}.length / ${rate}), ${inline(args, use)})`,
  };
}

/** The cast that counts its steps; the cast itself when they are fixed. */
export function meteredCast(cast: BoundCast): BoundCast {
  if (fixedCastSteps(cast) !== null) return cast;
  let made = meteredCasts.get(cast);
  if (made === undefined) {
    const { inline: _inline, ...rest } = cast;
    made = { ...rest, evaluate: counting(cast.evaluate as Evaluate, [cast.from], castRule(cast)) };
    meteredCasts.set(cast, made);
  }
  return made;
}

function counting(evaluate: Evaluate, types: readonly SqlType[], rule: StepRule): Evaluate {
  const { beforePattern } = rule;
  const before = beforePattern === undefined
    ? rule.before
    : (_text?: SqlValue, pattern?: SqlValue) => beforePattern(pattern);
  const base = baseSteps(types, rule);
  const perUnit = types.map((type) => 1 / (rule.rate ?? (isDocument(type) ? DOCUMENT_RATE : DEFAULT_RATE)));
  const perResult = 1 / (rule.resultRate ?? rule.rate ?? DEFAULT_RATE);
  const finish = (result: SqlValue): SqlValue => {
    if (typeof result === "string" || typeof result === "object") gas.charge(sizeOf(result) * perResult);
    return result;
  };
  // Without a list of arguments for the usual numbers of them: the calls are part of each row that is written.
  const [first = 0, second = 0] = perUnit;
  if (before === undefined && types.length === 1) {
    return (context, a = null) => {
      gas.charge(base + sizeOf(a) * first);
      return finish(evaluate(context, a));
    };
  }
  if (types.length === 2) {
    return (context, a = null, b = null) => {
      gas.charge(base + sizeOf(a) * first + sizeOf(b) * second);
      if (before !== undefined) gas.charge(before(a, b));
      return finish(evaluate(context, a, b));
    };
  }
  return (context, ...args) => {
    let steps = base;
    for (let index = 0; index < args.length; index++) {
      steps += sizeOf(args[index] ?? null) * (perUnit[index] ?? 0);
    }
    gas.charge(steps);
    if (before !== undefined) gas.charge(before(...args));
    return finish(evaluate(context, ...args));
  };
}

function charge(steps: number): void {
  gas.charge(steps);
}

function baseSteps(types: readonly SqlType[], rule: StepRule): number {
  return types.reduce((sum, type) => sum + paddingSteps(type), rule.base ?? PLAIN_STEPS);
}

/** Values of `char(n)` are filled up with spaces. */
function paddingSteps(type: SqlType): number {
  return type.kind === "char" && type.length !== longestCharacterLength ? type.length / DEFAULT_RATE : 0;
}

function isDocument({ kind }: SqlType): boolean {
  return kind === "json" || kind === "jsonb" || kind === "jsonpath";
}
