/**
 * Generated code of conditions: three-valued logic as branches.
 *
 * {@link emitTruth} answers an expression that holds exactly when the condition is TRUE, {@link emitFalsity} when it is
 * FALSE; NULL is neither, so NULLs need no representation on the way. {@link emitGuards} skips the row unless all
 * conjuncts are true; cheap ones come first and columns are loaded when the first conjunct needs them.
 */
import { isComparison } from "../../sql/functions/comparison_operators.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { assertDefined } from "../../base/assert.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import { decodePrefix, sameUtf8 } from "../runtime/interner.ts";
import { likeUtf8, utf8Pattern } from "../runtime/utf8_like.ts";
import type { DictionaryLocation, Emitter, Value } from "./emitter.ts";
import { callCode, distinctTest, emitValue, guardedCall } from "./expression.ts";
import { meteredOn } from "./metering.ts";
import { conjuncts, expressionFacts, isExecutionConstant } from "./plan_analysis.ts";
import { emitExists } from "./subquery.ts";
import { anyNull, formOf } from "./value_form.ts";

/** A JavaScript expression that holds when the condition is TRUE. */
export function emitTruth(code: Emitter, condition: Expression): string {
  switch (condition.kind) {
    case "and":
      return emitChain(code, condition.args, emitTruth, true);
    case "or":
      return emitChain(code, condition.args, emitTruth, false);
    case "not":
      return emitFalsity(code, condition.argument);
    case "is_null": {
      const { isNull } = emitValue(code, condition.argument);
      if (isNull === null || isNull === "true") return `${(isNull === null) === condition.negated}`;
      return condition.negated ? `!(${isNull})` : `(${isNull})`;
    }
    case "is_truth":
      return emitTruthTest(code, condition);
    case "is_distinct":
      return distinctTest(code, condition);
    case "exists":
      return emitExists(code, condition);
    case "call":
      if (!isExecutionConstant(condition)) return emitCallTest(code, condition, true);
      break;
    default:
  }
  return valueTest(emitValue(code, condition), true);
}

/** A JavaScript expression that holds when the condition is FALSE. */
export function emitFalsity(code: Emitter, condition: Expression): string {
  switch (condition.kind) {
    case "and":
      return emitChain(code, condition.args, emitFalsity, false);
    case "or":
      return emitChain(code, condition.args, emitFalsity, true);
    case "not":
      return emitTruth(code, condition.argument);
    case "is_null":
    case "is_truth":
    case "is_distinct":
    case "exists":
      return `!${emitTruth(code, condition)}`;
    case "call":
      if (!isExecutionConstant(condition)) return emitCallTest(code, condition, false);
      break;
    default:
  }
  return valueTest(emitValue(code, condition), false);
}

function valueTest(value: Value, wanted: boolean): string {
  if (value.isNull === "true") return "false";
  const test = wanted ? value.code : `!${value.code}`;
  return value.isNull === null ? test : `(!(${value.isNull}) && ${test})`;
}

/** Tests joined by && (all) or ||; a test that needs statements gets them only when it is reached. */
function emitChain(
  code: Emitter,
  args: readonly Expression[],
  emit: (code: Emitter, condition: Expression) => string,
  all: boolean,
): string {
  const [first, ...rest] = args;
  if (first === undefined) return `${all}`;
  const head = emit(code, first);
  const tails = rest.map((arg) => code.capture("conditional", () => emit(code, arg)));
  if (tails.every((tail) => tail.lines.length === 0)) {
    return `(${[head, ...tails.map((tail) => tail.result)].join(all ? " && " : " || ")})`;
  }
  const result = code.name("t");
  const label = code.name("chain");
  code.emit(`let ${result} = false;`);
  code.emit(`${label}: {`);
  const leave = (test: string) =>
    all ? `if (!(${test})) break ${label};` : `if (${test}) { ${result} = true; break ${label}; }`;
  code.emit(leave(head));
  for (const tail of tails) {
    code.emitLines(tail.lines);
    code.emit(leave(tail.result));
  }
  if (all) code.emit(`${result} = true;`);
  code.emit("}");
  return result;
}

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

function emitTruthTest(code: Emitter, condition: Of<"is_truth">): string {
  let test: string;
  if (condition.truth === "true") test = emitTruth(code, condition.argument);
  else if (condition.truth === "false") test = emitFalsity(code, condition.argument);
  else test = `(${emitValue(code, condition.argument).isNull ?? "false"})`;
  return condition.negated ? `!${test}` : test;
}

function emitCallTest(code: Emitter, condition: Of<"call">, wanted: boolean): string {
  const called = condition.function;
  if (!called.strict || called.returnType.kind !== "bool") {
    return valueTest(emitValue(code, condition), wanted);
  }
  const bytes = emitUtf8Equality(code, condition, wanted) ?? emitUtf8Like(code, condition, wanted);
  if (bytes !== null) return bytes;
  const metered = meteredOn(code, called, condition.args);
  const args = condition.args.map((arg) => emitValue(code, arg));
  const isNull = anyNull(args.map((arg) => arg.isNull));
  if (isNull === "true") return "false";
  const call = guardedCall(code, metered, args.map((arg) => arg.code));
  const test = called.mayReturnNull ? `(${call} === ${wanted})` : wanted ? call : `!${call}`;
  return isNull === null ? test : `(!(${isNull}) && ${test})`;
}

/** `column = constant` on undecoded text compares bytes. */
function emitUtf8Equality(code: Emitter, condition: Of<"call">, wanted: boolean): string | null {
  const { name } = condition.function;
  if (name !== "=" && name !== "<>") return null;
  const [left, right] = condition.args;
  if (left === undefined || right === undefined) return null;
  const column = plainText(left) ?? plainText(right);
  const constant = plainText(left) === null ? left : right;
  if (column === null || !isExecutionConstant(constant) || !isPlainTextType(constant.type)) return null;
  const binding = code.binding(column);
  if (binding.utf8 === undefined || code.isLoaded(column)) return null;
  const value = emitValue(code, constant);
  if (value.isNull === "true") return "false";
  const key = code.compilation.derivedKey(constant, "utf8");
  const encoded = code.hoisted(key, () => {
    const variable = code.name("u");
    code.emit(`let ${variable};`);
    return { code: variable, isNull: null };
  }).code;
  const place = binding.utf8(code);
  const isNull = anyNull([place.isNull, value.isNull]);
  const encode = `(${encoded} === undefined ? ${encoded} = ${
    code.use("encodeUtf8", encodeUtf8)
  }(${value.code}) : ${encoded})`;
  const same = `${code.use("sameUtf8", sameUtf8)}(${place.bytes}, ${place.start}, ${place.end}, ${encode})`;
  const test = (name === "=") === wanted ? same : `!${same}`;
  return isNull === null ? test : `(!(${isNull}) && ${test})`;
}

/** `column LIKE constant` on undecoded text looks at bytes. */
function emitUtf8Like(code: Emitter, condition: Of<"call">, wanted: boolean): string | null {
  const called = condition.function;
  if (called.name !== "~~" && called.name !== "!~~") return null;
  const [text, pattern] = condition.args;
  if (text === undefined || pattern === undefined || !isExecutionConstant(pattern)) return null;
  const column = plainText(text);
  if (column === null || !isPlainTextType(pattern.type)) return null;
  const binding = code.binding(column);
  // The padding of char(n) is the function's business.
  if (binding.utf8 === undefined || binding.type.kind === "char" || code.isLoaded(column)) return null;
  const value = emitValue(code, pattern);
  if (value.isNull === "true") return "false";
  const key = code.compilation.derivedKey(pattern, "like");
  // Kept with the execution, for the function may be called for a few rows at a time.
  const slot = code.compilation.slotFor(key);
  const ready = code.hoisted(key, () => {
    const variable = code.name("like");
    code.emit(`let ${variable} = S.x[${slot}];`);
    return { code: variable, isNull: null };
  }).code;
  const place = binding.utf8(code);
  const isNull = anyNull([place.isNull, value.isNull]);
  const isLike = called.name === "~~";
  const onText = `(text) => ${callCode(code, called, ["text", value.code])} === ${isLike}`;
  const make = `(${ready} === undefined ? ${ready} = S.x[${slot}] = ${
    code.use("utf8Pattern", utf8Pattern)
  }(${value.code}, ${onText}) : ${ready})`;
  const same = `${code.use("likeUtf8", likeUtf8)}(${make}, ${place.bytes}, ${place.start}, ${place.end})`;
  const test = isLike === wanted ? same : `!${same}`;
  return isNull === null ? test : `(!(${isNull}) && ${test})`;
}

/**
 * The beginning of undecoded text that `substring(column, constant, constant)` and `left(column, constant)` need; null:
 * the call is none of these.
 */
export function emitUtf8Prefix(code: Emitter, { function: called, args }: Of<"call">): Value | null {
  const { name } = called;
  const [text, ...counts] = args;
  const isPart = (name === "substring" || name === "substr") && counts.length === 2;
  if (!isPart && name !== "left" || called.userFunctionId !== undefined || code.isMetered) return null;
  if (!counts.every((each) => each.type.kind === "i32" && isExecutionConstant(each))) return null;
  const column = text === undefined ? null : plainText(text);
  const { utf8 } = column === null ? {} : code.binding(column);
  if (column === null || utf8 === undefined || code.isLoaded(column)) return null;
  const [first = "0", count] = counts.map((each) => emitValue(code, each).code);
  const { bytes, start, end, isNull } = utf8(code);
  const characters = count === undefined ? first : `${first} + ${count} - 1`;
  const read = `${code.use("decodePrefix", decodePrefix)}(${bytes}, ${start}, ${end}, ${characters})`;
  const prefix = code.define("c", isNull === null ? read : `${isNull} ? null : ${read}`);
  return { code: prefix, isNull: isNull === null ? null : `${prefix} === null` };
}

function isPlainTextType(type: SqlType): boolean {
  return type.kind === "text" || type.kind === "varchar" || type.kind === "char" || type.kind === "name" ||
    type.kind === "uuid";
}

function plainText(expression: Expression): number | null {
  if (expression.kind === "cast" && expression.cast.identity) return plainText(expression.argument);
  return expression.kind === "column" && isPlainTextType(expression.type) ? expression.column : null;
}

/** Skips the current row unless the condition is true. */
export function emitGuards(code: Emitter, condition: Expression): void {
  emitConjuncts(code, conjuncts(condition));
}

/** Skips the current row unless all conditions are true. */
export function emitConjuncts(code: Emitter, conditions: readonly Expression[]): void {
  const parts = [...conditions];
  // Sorting is stable: among equals the order is the planner's.
  parts.sort((left, right) => rank(left) - rank(right));
  for (const part of parts) emitGuard(code, part);
}

/** 0: a comparison of plain numbers; 1: of text; 2: anything that may fail or take long. */
function rank(condition: Expression): number {
  if (condition.kind === "is_null" && condition.argument.kind === "column") return 0;
  if (condition.kind !== "call" || !isComparison(condition.function.name)) return 2;
  if (!condition.args.every((arg) => arg.kind === "column" || isExecutionConstant(arg))) return 2;
  return condition.args.every((arg) => ["number", "number_or_bigint", "boolean"].includes(formOf(arg.type)))
    ? 0
    : 1;
}

function emitGuard(code: Emitter, condition: Expression): void {
  if (emitDictionaryGuard(code, condition)) return;
  const test = emitTruth(code, condition);
  if (test === "true") return;
  code.emit(`if (!(${test})) ${code.skip}`);
}

/** A condition over one dictionary column alone is evaluated once for each entry of the dictionary. */
function emitDictionaryGuard(code: Emitter, condition: Expression): boolean {
  const place = dictionaryOf(code, condition);
  if (place === null) return false;
  if (place.isNull !== null) code.emit(`if (${place.isNull}) ${code.skip}`);
  code.emit(`if (${emitVerdict(code, condition, place)} === 2) ${code.skip}`);
  return true;
}

/** Whether a condition is evaluated once for each entry of a dictionary. */
export function isDictionaryCondition(code: Emitter, condition: Expression): boolean {
  return dictionaryOf(code, condition) !== null;
}

/** The mask (see `mask.ts`) of a condition for which {@link isDictionaryCondition} holds. */
export function emitDictionaryMask(code: Emitter, condition: Expression): string {
  const place = assertDefined(dictionaryOf(code, condition), "a dictionary");
  if (place.isNull === null) return `(${emitVerdict(code, condition, place)} & 1)`;
  const mask = code.name("m");
  code.emit(`let ${mask} = 0;`);
  code.block(`if (!(${place.isNull})) `, "conditional", () => {
    code.emit(`${mask} = ${emitVerdict(code, condition, place)} & 1;`);
  });
  return mask;
}

/** Where the dictionary of the only column of a condition is; null: such a condition is evaluated for each row. */
function dictionaryOf(code: Emitter, condition: Expression): DictionaryLocation | null {
  const facts = expressionFacts(condition);
  const [column] = facts.mentioned.keys();
  if (facts.mentioned.size !== 1 || column === undefined || facts.volatile || facts.hasSubquery) return null;
  if (!code.isBound(column)) return null;
  const place = code.binding(column).dictionary;
  return place === undefined || place.isNull !== null && mentionsNull(condition) ? null : place;
}

/** The variable with the verdict on the current row's entry, which is not NULL: 1 true, 2 not true. */
function emitVerdict(code: Emitter, condition: Expression, place: DictionaryLocation): string {
  const slot = code.compilation.slotFor(condition);
  const memo = code.hoisted(code.compilation.derivedKey(condition, place.dictionary), () => {
    const name = code.name("memo");
    code.emit(`let ${name};`);
    return { code: name, isNull: null };
  }).code;
  const make = `${code.use("dictionaryMemo", dictionaryMemo)}(S, ${slot}, ${place.dictionary})`;
  code.emit(`if (${memo} === undefined) ${memo} = ${make};`);
  const verdict = code.name("m");
  code.emit(`let ${verdict} = ${memo}[${place.code}];`);
  code.block(`if (${verdict} === 0) `, "conditional", () => {
    code.emit(`${verdict} = ${memo}[${place.code}] = ${emitTruth(code, condition)} ? 1 : 2;`);
  });
  return verdict;
}

/** Whether a NULL in the column could still make the condition true. */
function mentionsNull(condition: Expression): boolean {
  switch (condition.kind) {
    case "column":
      return false;
    case "cast":
      return mentionsNull(condition.argument);
    case "call":
      return !condition.function.strict ||
        condition.args.some((arg) => !isExecutionConstant(arg) && mentionsNull(arg));
    default:
      return true;
  }
}

/** The verdicts of one condition for the entries of a dictionary: 0 unknown, 1 true, 2 not true. */
export function dictionaryMemo(
  state: { readonly x: unknown[] },
  slot: number,
  dictionary: readonly string[],
): Uint8Array {
  const known = state.x[slot] as
    | { readonly dictionary: readonly string[]; readonly memo: Uint8Array }
    | undefined;
  if (known !== undefined && known.dictionary === dictionary) return known.memo;
  const memo = new Uint8Array(dictionary.length);
  state.x[slot] = { dictionary, memo };
  return memo;
}
