/**
 * Generated code of expressions as values: emits the statements an expression needs and answers where its value is.
 *
 * Values are computed when the code reaches them, so that CASE, COALESCE, AND and OR skip what they need not evaluate.
 * What is fixed during one execution is computed once: in the prologue when it cannot fail, else at first use.
 * Conditions as branches are in `condition.ts`, subqueries in `subquery.ts`.
 */
import { assert, checksInput, unreachable } from "../../base/assert.ts";
import { gas } from "../../base/gas.ts";
import { metered } from "../../sql/functions/call_steps.ts";
import type { BoundCast, BoundFunction } from "../../sql/functions/definition.ts";
import type { BoundedCode } from "../../sql/functions/integer_range.ts";
import { expressionKey, mayBeNull } from "../../sql/plan/build.ts";
import { shapeSteps } from "../../sql/plan/expression_steps.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { cannotFail } from "../../sql/plan/harmless.ts";
import { longTermsOf } from "../../sql/plan/long_terms.ts";
import { visitExpression } from "../../sql/plan/traverse.ts";
import { compareValues, hashKey } from "../../types/compare.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { isSubArray } from "../../types/sql_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { emitTruth, emitUtf8Prefix } from "./condition.ts";
import { type Emitter, NULL_VALUE, type Value } from "./emitter.ts";
import { largeCallCode } from "./large_calls.ts";
import { emitLongTerms } from "./long_terms.ts";
import { emitCharge, emitConstantPart, meteredCastOf, meteredOn } from "./metering.ts";
import { expressionFacts, isExecutionConstant } from "./plan_analysis.ts";
import { emitSubquery } from "./subquery.ts";
import { anyNull, declareResult, formOf, literal, nullableCode, placeholder } from "./value_form.ts";

/** Emits what the expression needs and answers its value. */
export function emitValue(code: Emitter, expression: Expression): Value {
  switch (expression.kind) {
    case "constant":
      return literal(code, expression.value);
    case "parameter":
      return emitParameter(code, expression.index);
    case "column":
      return code.column(expression.column);
    case "call":
    case "cast":
      return isExecutionConstant(expression) ? emitHoisted(code, expression) : emitShared(code, expression);
    default:
      return isExecutionConstant(expression)
        ? emitHoisted(code, expression)
        : emitOperation(code, expression);
  }
}

/** An operation that occurs several times in a row's code is evaluated once on each path. */
function emitShared(code: Emitter, expression: Expression): Value {
  const facts = expressionFacts(expression);
  if (facts.volatile || facts.hasSubquery) return emitOperation(code, expression);
  return code.shared(
    code.compilation.namedKey(expressionKey(expression)),
    () => emitOperation(code, expression),
  );
}

function emitParameter(code: Emitter, index: number): Value {
  return code.hoisted(code.compilation.parameterKey(index), () => {
    const name = code.name("p");
    code.emit(`const ${name} = S.parameters[${index}];`);
    return { code: name, isNull: `${name} === null` };
  });
}

/** Something fixed during one execution: in the prologue when it cannot raise an error, else at first use. */
function emitHoisted(code: Emitter, expression: Expression): Value {
  if (cannotFail(expression) && !(code.isMetered && shapeSteps(expression).counts)) {
    return code.hoisted(expression, () => emitOperation(code, expression));
  }
  const variable = code.hoisted(expression, () => {
    const name = code.name("h");
    code.emit(`let ${name};`);
    return { code: name, isNull: `${name} === null` };
  });
  code.block(`if (${variable.code} === undefined) `, "conditional", () => {
    emitConstantPart(code, () => {
      code.emit(`${variable.code} = ${nullableCode(emitOperation(code, expression))};`);
    });
  });
  return mayBeNull(expression, () => true) ? variable : { code: variable.code, isNull: null };
}

function emitOperation(code: Emitter, expression: Expression): Value {
  switch (expression.kind) {
    case "constant":
    case "parameter":
    case "column":
      return emitValue(code, expression);
    case "call": {
      const terms = longTermsOf(expression.function);
      if (terms !== undefined) {
        return emitLongTerms(code, terms, expression.args.map((arg) => emitValue(code, arg)), emitValue);
      }
      const called = meteredOn(code, expression.function, expression.args);
      const prefix = emitUtf8Prefix(code, expression);
      const values = expression.args.map((arg, index) =>
        index === 0 && prefix !== null ? prefix : emitValue(code, arg)
      );
      const value = emitCall(code, called, values);
      // One call of a user's function may take as long as thousands of rows.
      if (called.userFunctionId !== undefined && called.steps === "own" && !code.isMetered) {
        code.hasTurns = true;
        code.turn(`${code.constant("gas", gas)}.isTurnDue`);
      }
      return value;
    }
    case "cast":
      return emitCast(
        code,
        meteredCastOf(code, expression.cast, expression.argument),
        emitValue(code, expression.argument),
      );
    case "and":
    case "or":
      return emitConnective(code, expression);
    case "not": {
      const value = emitValue(code, expression.argument);
      return { code: code.define("b", `!${value.code}`), isNull: value.isNull };
    }
    case "is_null":
    case "is_truth":
    case "exists":
      return { code: code.define("b", emitTruth(code, expression)), isNull: null };
    case "is_distinct":
      return { code: code.define("b", distinctTest(code, expression)), isNull: null };
    case "operand":
      return code.shared(expression.key, () => emitValue(code, expression.argument));
    case "case":
      return emitCase(code, expression);
    case "coalesce":
      return emitCoalesce(code, expression);
    case "nullif":
      return emitNullIf(code, expression);
    case "greatest":
    case "least":
      return emitExtreme(code, expression);
    case "in_list":
      return emitInList(code, expression);
    case "any_array":
    case "all_array":
      return emitArrayComparison(code, expression);
    case "scalar_subquery":
    case "any_subquery":
    case "all_subquery":
    case "array_subquery":
      return emitSubquery(code, expression);
    case "array":
      return emitArray(code, expression);
    case "row": {
      const fields = expression.fields.map((field) => nullableCode(emitValue(code, field)));
      return { code: code.define("r", `{ recordValues: [${fields.join(", ")}] }`), isNull: null };
    }
    case "field": {
      const record = emitValue(code, expression.argument);
      const read = `${record.code}.recordValues[${expression.index}]`;
      const name = code.define("f", record.isNull === null ? read : `(${record.isNull}) ? null : ${read}`);
      return { code: name, isNull: `${name} === null` };
    }
    case "subscript":
      return emitSubscript(code, expression);
    default:
      return unreachable(expression);
  }
}

/** The JavaScript of a call whose arguments are identifiers or literals. */
export function callCode(code: Emitter, called: BoundFunction, args: readonly string[]): string {
  if (called.inline !== undefined) return called.inline(args, code.use);
  return `${code.use(called.name, called.evaluate)}(${["context", ...args].join(", ")})`;
}

/** A value of a call on values. */
export function emitCall(code: Emitter, called: BoundFunction, args: readonly Value[]): Value {
  if (!called.strict) {
    const names = args.map((arg) => identifier(code, nullableCode(arg)));
    const result = code.define("c", guardedCall(code, called, names));
    return { code: result, isNull: called.mayReturnNull ? `${result} === null` : null };
  }
  const isNull = anyNull(args.map((arg) => arg.isNull));
  if (isNull === "true") return NULL_VALUE;
  const ranges = args.flatMap((arg) => arg.range === undefined ? [] : [arg.range]);
  const bounded = ranges.length === args.length
    ? called.bounded?.(args.map((arg) => arg.code), ranges, code.use)
    : undefined;
  if (bounded !== undefined) {
    const { range } = bounded;
    const text = checksInput() ? checkedBounds(code, bounded) : bounded.code;
    return { ...emitStrict(code, called.returnType, isNull, false, () => text), plain: true, range };
  }
  return emitStrict(
    code,
    called.returnType,
    isNull,
    called.mayReturnNull,
    () => guardedCall(code, called, args.map((arg) => arg.code)),
  );
}

/** As {@link callCode}, where values may be so large that another thread computes it. */
export function guardedCall(code: Emitter, called: BoundFunction, args: readonly string[]): string {
  return largeCallCode(code, called, args, callCode(code, called, args));
}

/** A bounded operation that asserts its bounds, for builds that check their input. */
function checkedBounds(code: Emitter, { code: text, range }: BoundedCode): string {
  return `${code.use("withinBounds", withinBounds)}(${text}, ${range.low}, ${range.high})`;
}

function withinBounds(value: number, low: number, high: number): number {
  assert(
    Number.isSafeInteger(value) && value >= low && value <= high && !Object.is(value, -0),
    `${value} is an integer from ${low} to ${high}`,
  );
  return value;
}

function emitStrict(
  code: Emitter,
  type: SqlType,
  isNull: string | null,
  mayReturnNull: boolean,
  make: () => string,
): Value {
  const expression = make();
  if (isNull === null) {
    const name = code.define("c", expression);
    return { code: name, isNull: mayReturnNull ? `${name} === null` : null };
  }
  const form = formOf(type);
  if (mayReturnNull || form === "string" || form === "object") {
    const name = code.define("c", `${isNull} ? null : ${expression}`);
    return { code: name, isNull: `${name} === null` };
  }
  const flag = /^[\w$]+$/.test(isNull) ? isNull : code.define("n", isNull);
  return { code: code.define("c", `${flag} ? ${placeholder(type)} : ${expression}`), isNull: flag };
}

function identifier(code: Emitter, expression: string): string {
  return /^[\w$]+$/.test(expression) ? expression : code.define("a", expression);
}

function emitCast(code: Emitter, cast: BoundCast, value: Value): Value {
  if (cast.identity || value.isNull === "true") return value;
  return emitStrict(
    code,
    cast.to,
    value.isNull,
    cast.mayReturnNull,
    () => {
      const here = cast.inline === undefined
        ? `${code.use("cast", cast.evaluate)}(context, ${value.code})`
        : cast.inline(value.code, code.use);
      return largeCallCode(code, cast, [value.code], here);
    },
  );
}

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

function emitConnective(code: Emitter, expression: Of<"and" | "or">): Value {
  if (!nullable(code, expression)) {
    return { code: code.define("b", emitTruth(code, expression)), isNull: null };
  }
  const isAnd = expression.kind === "and";
  const result = code.name("b");
  const unknown = code.name("n");
  code.emit(`let ${result} = ${isAnd}, ${unknown} = false;`);
  const label = code.name("connective");
  code.block(`${label}: `, "conditional", () => {
    for (const arg of expression.args) {
      const value = emitValue(code, arg);
      const decides = isAnd ? `!${value.code}` : value.code;
      const decide = `{ ${result} = ${!isAnd}; ${unknown} = false; break ${label}; }`;
      if (value.isNull === null) code.emit(`if (${decides}) ${decide}`);
      else if (value.isNull === "true") code.emit(`${unknown} = true;`);
      else code.emit(`if (${value.isNull}) ${unknown} = true; else if (${decides}) ${decide}`);
    }
  });
  return { code: result, isNull: unknown };
}

/** Whether the value may be NULL, judged before it is emitted. */
export function nullable(code: Emitter, expression: Expression): boolean {
  return mayBeNull(expression, ({ column }) => code.compilation.mayBeNull(column));
}

/** The JavaScript of IS [NOT] DISTINCT FROM. */
export function distinctTest(code: Emitter, expression: Of<"is_distinct">): string {
  const left = emitValue(code, expression.left);
  const right = emitValue(code, expression.right);
  const equals = meteredOn(code, expression.equals, [expression.left, expression.right]);
  const same = sameTest(code, equals, left, right);
  return expression.negated ? same : `!${same}`;
}

function sameTest(code: Emitter, equals: BoundFunction, left: Value, right: Value): string {
  const leftNull = left.isNull ?? "false";
  const rightNull = right.isNull ?? "false";
  if (left.isNull === "true" || right.isNull === "true") return `((${leftNull}) && (${rightNull}))`;
  const equal = `${callCode(code, equals, [left.code, right.code])}${
    equals.mayReturnNull ? " === true" : ""
  }`;
  if (left.isNull === null && right.isNull === null) return `(${equal})`;
  return `((${leftNull}) ? (${rightNull}) : !(${rightNull}) && ${equal})`;
}

function emitCase(code: Emitter, expression: Of<"case">): Value {
  const result = declareResult(code, expression.type, nullable(code, expression));
  const label = code.name("case");
  code.block(`${label}: `, "conditional", () => {
    const operand = expression.operand === undefined ? null : operandOf(expression, expression.operand);
    if (operand !== null) emitValue(code, operand);
    for (const { when, then } of expression.branches) {
      const test = emitTruth(code, when);
      code.block(`if (${test}) `, "conditional", () => {
        code.emit(result.assign(emitValue(code, then)));
        code.emit(`break ${label};`);
      });
    }
    if (expression.otherwise !== null) code.emit(result.assign(emitValue(code, expression.otherwise)));
  });
  return result.value;
}

/** The operand of a CASE that is computed once; null: no condition asks for it any more. */
function operandOf({ branches }: Of<"case">, key: object): Expression | null {
  let found: Expression | null = null;
  for (const { when } of branches) {
    visitExpression(when, (each) => {
      if (each.kind === "operand" && each.key === key) found = each;
    });
    if (found !== null) break;
  }
  return found;
}

function emitCoalesce(code: Emitter, expression: Of<"coalesce">): Value {
  const result = declareResult(code, expression.type, nullable(code, expression));
  const label = code.name("coalesce");
  code.block(`${label}: `, "conditional", () => {
    for (const arg of expression.args) {
      const value = emitValue(code, arg);
      if (value.isNull === "true") continue;
      const take = `${result.assign({ ...value, isNull: null })} break ${label};`;
      code.emit(value.isNull === null ? `{ ${take} }` : `if (!(${value.isNull})) { ${take} }`);
    }
  });
  return result.value;
}

function emitNullIf(code: Emitter, expression: Of<"nullif">): Value {
  const left = emitValue(code, expression.left);
  const right = emitValue(code, expression.right);
  if (left.isNull === "true" || right.isNull === "true") return left;
  const present = anyNull([left.isNull, right.isNull]);
  const equals = meteredOn(code, expression.equals, [expression.left, expression.right]);
  const equal = callCode(code, equals, [left.code, right.code]);
  const same = present === null ? `(${equal})` : `(!(${present}) && ${equal})`;
  const flag = code.define("n", left.isNull === null ? same : `(${left.isNull}) || ${same}`);
  return { ...left, isNull: flag };
}

function emitExtreme(code: Emitter, expression: Of<"greatest" | "least">): Value {
  const result = declareResult(code, expression.type, true);
  const lessThan = meteredOn(code, expression.lessThan, expression.args);
  for (const arg of expression.args) {
    const value = emitValue(code, arg);
    if (value.isNull === "true") continue;
    const pair = expression.kind === "greatest"
      ? [result.value.code, value.code]
      : [value.code, result.value.code];
    const better = `((${result.value.isNull}) || ${callCode(code, lessThan, pair)})`;
    const assign = result.assign({ ...value, isNull: null });
    code.emit(`if (${value.isNull === null ? "" : `!(${value.isNull}) && `}${better}) { ${assign} }`);
  }
  return result.value;
}

/** Lists of constants longer than this are looked up in a set. */
const MAX_COMPARED_LIST_LENGTH = 4;

function emitInList(code: Emitter, expression: Of<"in_list">): Value {
  const argument = emitValue(code, expression.argument);
  if (argument.isNull === "true") return NULL_VALUE;
  if (expression.list.length > MAX_COMPARED_LIST_LENGTH && expression.list.every(isExecutionConstant)) {
    const set = setOfExecution(
      code,
      code.compilation.derivedKey(expression, "set"),
      () => listSetCode(code, expression),
    );
    return setMembership(code, set, expression.argument.type, argument, expression.negated);
  }
  const found = code.name("b");
  const unknown = code.name("n");
  code.emit(`let ${found} = false, ${unknown} = ${argument.isNull ?? "false"};`);
  const label = code.name("in");
  code.block(`${label}: `, "conditional", () => {
    code.emit(`if (${unknown}) break ${label};`);
    for (const element of expression.list) {
      const value = emitValue(code, element);
      if (value.isNull === "true") {
        code.emit(`${unknown} = true;`);
        continue;
      }
      const hit = `if (${
        callCode(
          code,
          meteredOn(code, expression.equals, [expression.argument, element]),
          [argument.code, value.code],
        )
      }) { ${found} = true; ${unknown} = false; break ${label}; }`;
      code.emit(value.isNull === null ? hit : `if (${value.isNull}) ${unknown} = true; else ${hit}`);
    }
  });
  return { code: expression.negated ? code.define("b", `!${found}`) : found, isNull: unknown };
}

/**
 * The code that makes the set of a list. Constants and parameters are handed over as data: a list may have 100 000 of
 * them.
 */
function listSetCode(code: Emitter, expression: Of<"in_list">): string {
  const constants: SqlValue[] = [];
  const parameters: number[] = [];
  const computed: string[] = [];
  for (const element of expression.list) {
    if (element.kind === "constant") constants.push(element.value);
    else if (element.kind === "parameter") parameters.push(element.index);
    else computed.push(nullableCode(emitValue(code, element)));
  }
  const list = code.constant("list", { type: expression.argument.type, constants, parameters });
  return `${code.use("makeListSet", makeListSet)}(S, ${list}, [${computed.join(", ")}])`;
}

/** What a list holds besides computed values. */
interface ListData {
  readonly type: SqlType;
  readonly constants: readonly SqlValue[];
  /** Indexes of parameters. */
  readonly parameters: readonly number[];
}

function makeListSet(
  state: { readonly parameters: readonly SqlValue[] },
  list: ListData,
  computed: readonly SqlValue[],
): ValueSet {
  const values = list.parameters.map((index) => state.parameters[index] ?? null);
  return makeValueSet(list.type, list.constants.concat(values, computed));
}

/** The variable of a set that is made at first use in an execution and kept in a slot. */
function setOfExecution(code: Emitter, key: object, make: () => string): string {
  const slot = code.compilation.slotFor(key);
  const set = code.once(key, () => {
    const name = code.name("set");
    code.emit(`let ${name} = S.x[${slot}];`);
    return name;
  });
  code.block(`if (${set} === undefined) `, "conditional", () => {
    emitConstantPart(code, () => {
      const made = make();
      code.emit(`${set} = S.x[${slot}] = ${made};`);
    });
  });
  return set;
}

/** argument [NOT] IN a {@link ValueSet}. */
export function setMembership(
  code: Emitter,
  set: string,
  type: SqlType,
  argument: Value,
  negated: boolean,
): Value {
  const key = setKey(code, type, argument.code);
  const found = code.define(
    "b",
    argument.isNull === null ? `${set}.keys.has(${key})` : `!(${argument.isNull}) && ${set}.keys.has(${key})`,
  );
  const isNull = code.define(
    "n",
    `!${found} && (${anyNull([argument.isNull, `${set}.hasNull`])}) && !${set}.isEmpty`,
  );
  return { code: negated ? code.define("b", `!${found}`) : found, isNull };
}

/** Values as keys of a Map that are equal exactly when the values are. */
export interface ValueSet {
  readonly keys: { has(key: unknown): boolean };
  hasNull: boolean;
  isEmpty: boolean;
}

/** Whether the values themselves serve as Map keys. */
export function isOwnKey(type: SqlType): boolean {
  if (type.kind === "char" || type.kind === "json" || type.kind === "jsonb") return false;
  return formOf(type) !== "object";
}

/** The key of a value in a {@link ValueSet}. */
export function valueKey(type: SqlType, value: SqlValue): unknown {
  return isOwnKey(type) ? value : hashKey(type, value);
}

function setKey(code: Emitter, type: SqlType, value: string): string {
  if (isOwnKey(type)) return value;
  return `${code.use("valueKey", valueKey)}(${code.constant("type", type)}, ${value})`;
}

/** The set of some values. */
export function makeValueSet(type: SqlType, values: readonly SqlValue[]): ValueSet {
  const keys = new Set<unknown>();
  let hasNull = false;
  for (const value of values) {
    if (value === null) hasNull = true;
    else keys.add(valueKey(type, value));
  }
  return { keys, hasNull, isEmpty: values.length === 0 };
}

/** The set of an array's elements. */
export function makeArraySet(type: SqlType, array: SqlArray): ValueSet {
  return makeValueSet(type, array.elements);
}

function emitArrayComparison(code: Emitter, expression: Of<"any_array" | "all_array">): Value {
  const isAny = expression.kind === "any_array";
  const operator = code.isMetered ? metered(expression.operator) : expression.operator;
  const left = emitValue(code, expression.left);
  const array = emitValue(code, expression.array);
  if (array.isNull === "true") return NULL_VALUE;
  const elementType = operator.argumentTypes[1] ?? expression.left.type;
  if (
    operator.name === "=" && isAny && isExecutionConstant(expression.array) &&
    sameKeys(expression.left.type, elementType)
  ) {
    const absent = array.isNull ?? "false";
    const make = code.use("makeArraySet", makeArraySet);
    const arrayType = code.constant("type", elementType);
    const set = setOfExecution(
      code,
      code.compilation.derivedKey(expression, "set"),
      () => `${absent} ? null : ${make}(${arrayType}, ${array.code})`,
    );
    const result = declareResult(code, expression.type, true);
    code.block(`if (!(${absent})) `, "conditional", () => {
      code.emit(result.assign(setMembership(code, set, elementType, left, false)));
    });
    return result.value;
  }
  const result = code.name("b");
  const unknown = code.name("n");
  const nullArray = array.isNull ?? "false";
  code.emit(`let ${result} = ${!isAny}, ${unknown} = ${nullArray};`);
  code.block(`if (!(${nullArray})) `, "conditional", () => {
    const element = code.name("e");
    emitCharge(code, `${array.code}.length`);
    code.block(`for (const ${element} of ${array.code}.elements) `, "row", () => {
      const value = emitCall(code, operator, [left, { code: element, isNull: `${element} === null` }]);
      if (value.isNull === "true") {
        code.emit(`${unknown} = true;`);
        return;
      }
      const decides = `if (${
        isAny ? "" : "!"
      }${value.code}) { ${result} = ${isAny}; ${unknown} = false; break; }`;
      code.emit(value.isNull === null ? decides : `if (${value.isNull}) ${unknown} = true; else ${decides}`);
    });
  });
  return { code: result, isNull: unknown };
}

/** Whether values of both types that are equal are the same Map key. */
function sameKeys(left: SqlType, right: SqlType): boolean {
  if (left.kind === right.kind) {
    return left.kind !== "numeric" || right.kind !== "numeric" || left.scale === right.scale;
  }
  const integers = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "oid"];
  if (integers.includes(left.kind) && integers.includes(right.kind)) return true;
  const texts = ["text", "varchar", "name"];
  return texts.includes(left.kind) && texts.includes(right.kind);
}

function emitArray(code: Emitter, expression: Of<"array">): Value {
  const elements = expression.elements.map((element) => nullableCode(emitValue(code, element)));
  const nested = expression.elements.some((element) => isSubArray(element.type));
  const make = nested ? code.use("arrayOfArrays", arrayOfArrays) : code.use("arrayOf", SqlArray.of);
  return { code: code.define("a", `${make}([${elements.join(", ")}])`), isNull: null };
}

/** The array of arrays; NULL parts count as empty arrays. */
export function arrayOfArrays(parts: readonly (SqlArray | null)[]): SqlArray {
  return SqlArray.ofArrays(parts.map((part) => part ?? SqlArray.EMPTY));
}

function emitSubscript(code: Emitter, expression: Of<"subscript">): Value {
  const array = emitValue(code, expression.argument);
  const parts: string[] = [];
  const tests: (string | null)[] = [array.isNull];
  const isSlice = expression.subscripts.some((subscript) => !("index" in subscript));
  const bound = (part: Expression | null): string => {
    if (part === null) return "undefined";
    const value = emitValue(code, part);
    tests.push(value.isNull);
    return value.isNull === "true" ? "undefined" : value.code;
  };
  for (const subscript of expression.subscripts) {
    if (!("index" in subscript)) parts.push(`[${bound(subscript.lower)}, ${bound(subscript.upper)}]`);
    else if (isSlice) parts.push(`[1, ${bound(subscript.index)}]`);
    else parts.push(bound(subscript.index));
  }
  if (isSlice) {
    emitCharge(
      code,
      array.isNull === null ? `${array.code}.length` : `${array.isNull} ? 0 : ${array.code}.length`,
    );
  }
  const read = `${array.code}.${isSlice ? "slice" : "element"}([${parts.join(", ")}])`;
  const isNull = anyNull(tests);
  if (isNull === "true") return NULL_VALUE;
  const name = code.define("e", isNull === null ? read : `(${isNull}) ? null : ${read}`);
  return { code: name, isNull: `${name} === null` };
}

/** An expression that compares two non-null values of a type: negative, 0 or positive. */
export function orderCode(code: Emitter, type: SqlType, left: string, right: string): string {
  const compare = code.compilation.comparison(type, (a, b) => compareValues(type, a, b));
  return `${code.use("compareValues", compare)}(${left}, ${right})`;
}
