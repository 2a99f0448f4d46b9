/**
 * Evaluation of SQL/JSON path expressions over JSON values, as ISO/IEC 9075-2:2016 section 9.39 says and PostgreSQL
 * does.
 *
 * A path gives a sequence of items, here a generator. In lax mode an array that meets a step for single items is
 * unwrapped by one level and a single item that meets an array step counts as an array of one; missing members are
 * empty sequences. In strict mode these are errors. Inside a predicate an error makes the result unknown; elsewhere
 * it is raised as {@link JsonPathError}, which `silent` callers catch. Limits: the `id` of `.keyvalue()` numbers
 * objects in the order in which they are met.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import { Decimal } from "./decimal.ts";
import { decimalSize, divisionSteps } from "./decimal_size.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  jsonObject,
  jsonTypeName,
  type JsonValue,
} from "./json.ts";
import {
  comparePathDateTimes,
  PathDateTime,
  type PathTimeZone,
  readPathDateTime,
} from "./json_path_date_time.ts";
import { compilePathExpression } from "./json_path_parser.ts";
import type {
  JsonPath,
  PathComparison,
  PathMethod,
  PathNode,
  PathPredicate,
  PathStep,
} from "./json_path_syntax.ts";
import { isPathPredicate } from "./json_path_syntax.ts";
import { formatFloat64, parseFloatText } from "./scalar_text.ts";
import { compareText } from "./text.ts";

/** An error that predicates and `silent` calls take as "no result". */
export class JsonPathError extends DatabaseError {}

/** What a path is applied to. */
export interface JsonPathInput {
  readonly path: JsonPath;
  readonly document: JsonValue;
  /** The object with the values of `$name`s; without it, as in an operator, every one is null. */
  readonly variables: JsonValue | undefined;
  /** The session's time zone, for functions that may compare by it; null for the others. */
  readonly session: PathTimeZone | null;
}

/** The items, in order. */
export function* jsonPathItems(input: JsonPathInput): Iterable<JsonValue> {
  yield* new Evaluation(input).items();
}

/** Whether there is an item. In strict mode all are looked at, for an error counts. */
export function jsonPathExists(input: JsonPathInput): boolean {
  return new Evaluation(input).exists();
}

/** The items as far as they go when errors are kept silent, all of them otherwise. */
export function collectJsonPathItems(input: JsonPathInput, silent: boolean): JsonValue[] {
  const found: JsonValue[] = [];
  try {
    for (const item of jsonPathItems(input)) found.push(item);
  } catch (error) {
    if (!silent || !(error instanceof JsonPathError)) throw error;
  }
  return found;
}

type Truth = boolean | null;

/** Steps of `gas` for an item at each level of `.**`, and what is compared in one step. */
const STEPS_PER_LEVEL = 0.125;
const SIZE_PER_STEP = 64;

/** What a path passes from step to step: JSON, or a date or time that a step made of it. */
type Item = JsonValue | PathDateTime;

function isArrayItem(item: Item): item is JsonArray {
  return !(item instanceof PathDateTime) && isJsonArray(item);
}

function isObjectItem(item: Item): item is JsonObject {
  return !(item instanceof PathDateTime) && isJsonObject(item);
}

function typeName(item: Item): string {
  return item instanceof PathDateTime ? item.typeName : jsonTypeName(item);
}

class Evaluation {
  readonly #root: Item;
  readonly #path: JsonPath;
  readonly #lax: boolean;
  readonly #variables: Item | undefined;
  readonly #session: PathTimeZone | null;
  #current: Item;
  #arraySize = -1;
  /** Below `.**` structural errors are not raised, even in strict mode. */
  #forgiving = false;
  #objects = 0;
  /** Levels of `.**` that are being visited: each item passes through all of them on its way out. */
  #levels = 0;

  constructor({ path, document, variables, session }: JsonPathInput) {
    this.#root = document;
    this.#current = document;
    this.#path = path;
    this.#session = session;
    this.#lax = !path.strict;
    if (variables !== undefined && !isObjectItem(variables)) {
      throw new DatabaseError(SQLSTATE.invalidParameterValue, '"vars" argument is not an object', {
        detail: 'Jsonpath parameters should be encoded as key-value pairs of "vars" object.',
      });
    }
    this.#variables = variables;
  }

  *items(): Iterable<JsonValue> {
    for (const item of this.#run(this.#path.expression, 0, this.#root, this.#lax)) {
      yield item instanceof PathDateTime ? item.toString() : item;
    }
  }

  exists(): boolean {
    return this.#isNonEmpty(this.#path.expression, this.#root);
  }

  #isNonEmpty(node: PathNode, value: Item): boolean {
    let found = false;
    // A sign at the end of a path passes over what is no number when only one item is asked for.
    const last = node.at(-1);
    if (this.#lax && last?.kind === "sign" && node.length === 1) {
      for (const item of this.#sequence(last.operand, value)) if (item instanceof Decimal) return true;
      return false;
    }
    for (const _item of this.#run(node, 0, value, this.#lax)) {
      if (this.#lax) return true;
      found = true;
    }
    return found;
  }

  get #raises(): boolean {
    return !this.#lax && !this.#forgiving;
  }

  /** The items of a node from one of its steps on. */
  *#run(node: PathNode, index: number, value: Item, unwrap: boolean): Iterable<Item> {
    gas.charge(1 + this.#levels * STEPS_PER_LEVEL);
    const step = node[index];
    if (step === undefined) {
      yield value;
      return;
    }
    switch (step.kind) {
      case "key":
      case "any_key":
      case "filter":
      case "method":
      case "datetime":
        if (unwrap && isArrayItem(value) && !keepsArrays(step)) {
          for (const item of value) yield* this.#run(node, index, item, false);
          return;
        }
        yield* this.#apply(step, node, index, value);
        return;
      case "any_element":
        yield* this.#elements(node, index, value);
        return;
      case "subscripts":
        yield* this.#subscripts(step, node, index, value);
        return;
      case "descend":
        yield* this.#descend(step, node, index, value);
        return;
      case "sign":
        for (const item of this.#sequence(step.operand, value)) {
          yield* this.#run(node, index + 1, signed(step.operator, item), this.#lax);
        }
        return;
      default:
        yield* this.#run(node, index + 1, this.#start(step, value), this.#lax);
    }
  }

  #start(step: PathStep, value: Item): Item {
    switch (step.kind) {
      case "root":
        return this.#root;
      case "current":
        return this.#current;
      case "last":
        return Decimal.fromInteger(this.#arraySize - 1);
      case "literal":
        return step.value;
      case "variable": {
        if (this.#variables === undefined) return null;
        const found = isObjectItem(this.#variables) ? this.#variables.get(step.name) : undefined;
        if (found === undefined) {
          throw new DatabaseError(
            SQLSTATE.undefinedObject,
            `could not find jsonpath variable "${step.name}"`,
          );
        }
        return found;
      }
      case "arithmetic": {
        const left = this.#operand(step.left, value, "left", step.operator);
        const right = this.#operand(step.right, value, "right", step.operator);
        chargeArithmetic(step.operator, left, right);
        return arithmetic(step.operator, left, right);
      }
      default:
        return isPathPredicate(step) ? this.#truth(step, value) : value;
    }
  }

  #operand(node: PathNode, value: Item, side: string, operator: string): Decimal {
    const items = [...this.#sequence(node, value)];
    const [only] = items;
    if (items.length !== 1 || !(only instanceof Decimal)) {
      throw new JsonPathError(
        SQLSTATE.singletonSqlJsonItemRequired,
        `${side} operand of jsonpath operator ${operator} is not a single numeric value`,
      );
    }
    return only;
  }

  /** The items of an operand, arrays among them unwrapped in lax mode. */
  *#sequence(node: PathNode, value: Item): Iterable<Item> {
    for (const item of this.#run(node, 0, value, this.#lax)) {
      if (this.#lax && isArrayItem(item)) yield* item;
      else yield item;
    }
  }

  *#apply(
    step: PathStep & { readonly kind: "key" | "any_key" | "filter" | "method" | "datetime" },
    node: PathNode,
    index: number,
    value: Item,
  ): Iterable<Item> {
    switch (step.kind) {
      case "key":
        if (isObjectItem(value)) {
          const member = value.get(step.name);
          if (member !== undefined) yield* this.#run(node, index + 1, member, this.#lax);
          else if (this.#raises) {
            throw new JsonPathError(
              SQLSTATE.sqlJsonMemberNotFound,
              `JSON object does not contain key "${step.name}"`,
            );
          }
        } else if (this.#raises) {
          throw new JsonPathError(
            SQLSTATE.sqlJsonMemberNotFound,
            "jsonpath member accessor can only be applied to an object",
          );
        }
        return;
      case "any_key":
        if (isObjectItem(value)) {
          for (const member of value.values()) yield* this.#run(node, index + 1, member, this.#lax);
        } else if (this.#raises) {
          throw new JsonPathError(
            SQLSTATE.sqlJsonObjectNotFound,
            "jsonpath wildcard member accessor can only be applied to an object",
          );
        }
        return;
      case "filter":
        if (this.#filters(step.predicate, value)) yield* this.#run(node, index + 1, value, this.#lax);
        return;
      case "datetime":
        yield* this.#run(node, index + 1, dateTimeOf(value, step.template), this.#lax);
        return;
      case "method":
        for (const item of this.#method(step.method, value)) {
          yield* this.#run(node, index + 1, item, this.#lax);
        }
    }
  }

  #filters(predicate: PathNode, value: Item): boolean {
    const before = this.#current;
    this.#current = value;
    const result = this.#truthOf(predicate, value);
    this.#current = before;
    return result === true;
  }

  *#elements(node: PathNode, index: number, value: Item): Iterable<Item> {
    if (isArrayItem(value)) {
      for (const item of value) yield* this.#run(node, index + 1, item, this.#lax);
    } else if (this.#lax) yield* this.#run(node, index + 1, value, this.#lax);
    else if (this.#raises) {
      throw new JsonPathError(
        SQLSTATE.sqlJsonArrayNotFound,
        "jsonpath wildcard array accessor can only be applied to an array",
      );
    }
  }

  *#subscripts(
    step: PathStep & { readonly kind: "subscripts" },
    node: PathNode,
    index: number,
    value: Item,
  ): Iterable<Item> {
    const isArray = isArrayItem(value);
    if (!isArray && !this.#lax) {
      if (!this.#raises) return;
      throw new JsonPathError(
        SQLSTATE.sqlJsonArrayNotFound,
        "jsonpath array accessor can only be applied to an array",
      );
    }
    const array = isArray ? value : [value];
    const outer = this.#arraySize;
    for (const { from, to } of step.subscripts) {
      this.#arraySize = array.length;
      const first = this.#index(from, value);
      const last = to === null ? first : this.#index(to, value);
      this.#arraySize = outer;
      if (this.#raises && (first < 0 || first > last || last >= array.length)) {
        throw new JsonPathError(
          SQLSTATE.invalidSqlJsonSubscript,
          "jsonpath array subscript is out of bounds",
        );
      }
      const end = Math.min(last, array.length - 1);
      for (let at = Math.max(first, 0); at <= end; at++) {
        yield* this.#run(node, index + 1, array[at] ?? null, this.#lax);
      }
    }
  }

  #index(node: PathNode, value: Item): number {
    const items = [...this.#run(node, 0, value, this.#lax)];
    const [only] = items;
    if (items.length !== 1 || !(only instanceof Decimal)) {
      throw new JsonPathError(
        SQLSTATE.invalidSqlJsonSubscript,
        "jsonpath array subscript is not a single numeric value",
      );
    }
    const index = Number(only.trunc().toString());
    if (!(Math.abs(index) <= 2147483647)) {
      throw new JsonPathError(
        SQLSTATE.invalidSqlJsonSubscript,
        "jsonpath array subscript is out of integer range",
      );
    }
    return index;
  }

  *#descend(
    step: PathStep & { readonly kind: "descend" },
    node: PathNode,
    index: number,
    value: Item,
  ): Iterable<Item> {
    const first = step.first ?? Infinity;
    const last = step.last ?? Infinity;
    const visit = function* (this: Evaluation, item: Item, level: number): Iterable<Item> {
      const children = isArrayItem(item) ? item : isObjectItem(item) ? [...item.values()] : null;
      // `.**{last}` stands for the leaves.
      if (level >= first || (first === Infinity && last === Infinity && children === null)) {
        const before = this.#forgiving;
        this.#forgiving = true;
        yield* this.#run(node, index + 1, item, this.#lax);
        this.#forgiving = before;
      }
      if (level >= last || children === null) return;
      this.#levels++;
      for (const child of children) yield* visit.call(this, child, level + 1);
      this.#levels--;
    };
    yield* visit.call(this, value, 0);
  }

  *#method(method: PathMethod, value: Item): Iterable<Item> {
    switch (method) {
      case "type":
        yield typeName(value);
        return;
      case "size":
        if (isArrayItem(value)) yield Decimal.fromInteger(value.length);
        else if (this.#lax) yield Decimal.ONE;
        else if (this.#raises) {
          throw new JsonPathError(
            SQLSTATE.sqlJsonArrayNotFound,
            "jsonpath item method .size() can only be applied to an array",
          );
        }
        return;
      case "keyvalue": {
        if (!isObjectItem(value)) {
          throw new JsonPathError(
            SQLSTATE.sqlJsonObjectNotFound,
            "jsonpath item method .keyvalue() can only be applied to an object",
          );
        }
        const id = Decimal.fromInteger(this.#objects++);
        for (const [key, member] of value) {
          yield jsonObject([["id", id], ["key", key], ["value", member]]);
        }
        return;
      }
      case "double":
        yield toDouble(value);
        return;
      default:
        if (!(value instanceof Decimal)) {
          throw new JsonPathError(
            SQLSTATE.nonNumericSqlJsonItem,
            `jsonpath item method .${method}() can only be applied to a numeric value`,
          );
        }
        yield method === "abs" ? value.abs() : method === "floor" ? value.floor() : value.ceil();
    }
  }

  #truthOf(node: PathNode, value: Item): Truth {
    const [step] = node;
    if (step === undefined || !isPathPredicate(step)) return null;
    return this.#truth(step, value);
  }

  /** The result of a predicate: an error in an operand makes it unknown. */
  #truth(step: PathPredicate, value: Item): Truth {
    switch (step.kind) {
      case "and": {
        const left = this.#truthOf(step.left, value);
        if (left === false) return false;
        const right = this.#truthOf(step.right, value);
        return right === true ? left : right;
      }
      case "or": {
        const left = this.#truthOf(step.left, value);
        if (left === true) return true;
        const right = this.#truthOf(step.right, value);
        return right === false ? left : right;
      }
      case "not": {
        const operand = this.#truthOf(step.operand, value);
        return operand === null ? null : !operand;
      }
      case "is_unknown":
        return this.#truthOf(step.operand, value) === null;
      case "exists":
        return forgive(() => this.#isNonEmpty(step.operand, value));
      case "comparison":
        return this.#compare(
          step.left,
          value,
          (left, right) => this.#compareItems(step.operator, left, right),
          () => this.#sequence(step.right, value),
        );
      case "starts_with":
        return this.#compare(step.left, value, startsWith, () => this.#run(step.right, 0, value, this.#lax));
      case "like_regex":
        return this.#compare(step.operand, value, (item) => {
          if (typeof item !== "string") return null;
          return compilePathExpression(step.pattern, step.flags).test(item);
        }, () => [null]);
    }
  }

  /** Whether a test holds for some pair of items; in lax mode the first that holds decides. */
  #compare(
    left: PathNode,
    value: Item,
    test: (left: Item, right: Item) => Truth,
    rightItems: () => Iterable<Item>,
  ): Truth {
    return forgive(() => {
      const right = [...rightItems()];
      let found = false;
      let isUnknown = false;
      for (const item of [...this.#sequence(left, value)]) {
        for (const other of right) {
          gas.charge(1 + (itemSize(item) + itemSize(other)) / SIZE_PER_STEP);
          const result = test(item, other);
          if (result === null) {
            if (!this.#lax) return null;
            isUnknown = true;
          } else if (result) {
            if (this.#lax) return true;
            found = true;
          }
        }
      }
      return found ? true : isUnknown ? null : false;
    });
  }

  #compareItems(operator: PathComparison, left: Item, right: Item): Truth {
    if (left instanceof PathDateTime && right instanceof PathDateTime) {
      const order = comparePathDateTimes(left, right, this.#session);
      return order === undefined ? null : holds(operator, order);
    }
    const [leftType, rightType] = [typeName(left), typeName(right)];
    if (leftType !== rightType) {
      if (left === null || right === null) return operator === "!=";
      return null;
    }
    let order: number;
    if (left instanceof Decimal && right instanceof Decimal) order = left.compare(right);
    else if (typeof left === "string" && typeof right === "string") order = compareText(left, right);
    else if (typeof left === "boolean" && typeof right === "boolean") order = Number(left) - Number(right);
    else if (left === null) order = 0;
    else return null;
    return holds(operator, order);
  }
}

/** Methods that take an array as a whole. */
function keepsArrays(step: PathStep): boolean {
  return step.kind === "method" && (step.method === "type" || step.method === "size");
}

function itemSize(item: Item): number {
  if (typeof item === "string") return item.length;
  return item instanceof Decimal ? decimalSize(item) : 1;
}

function chargeArithmetic(operator: string, left: Decimal, right: Decimal): void {
  const digits = decimalSize(left) + decimalSize(right);
  gas.charge(operator === "/" ? divisionSteps(digits) : digits / SIZE_PER_STEP);
}

function forgive(action: () => Truth): Truth {
  try {
    return action();
  } catch (error) {
    if (error instanceof JsonPathError) return null;
    throw error;
  }
}

function signed(operator: "+" | "-", item: Item): Decimal {
  if (item instanceof Decimal) return operator === "-" ? item.negate() : item;
  throw new JsonPathError(
    SQLSTATE.sqlJsonNumberNotFound,
    `operand of unary jsonpath operator ${operator} is not a numeric value`,
  );
}

function arithmetic(operator: string, left: Decimal, right: Decimal): Decimal {
  switch (operator) {
    case "+":
      return left.add(right);
    case "-":
      return left.subtract(right);
    case "*":
      return left.multiply(right);
    default:
      if (right.isZero) throw new JsonPathError(SQLSTATE.divisionByZero, "division by zero");
      return operator === "/" ? left.divide(right) : left.modulo(right);
  }
}

function dateTimeOf(value: Item, template: string | null): PathDateTime {
  if (typeof value !== "string") {
    throw new JsonPathError(
      SQLSTATE.invalidSqlJsonDatetime,
      "jsonpath item method .datetime() can only be applied to a string",
    );
  }
  try {
    return readPathDateTime(value, template);
  } catch (error) {
    // A template that is wrong in itself is an error everywhere; a text that does not fit is no result.
    if (!(error instanceof DatabaseError) || error.message.startsWith("invalid datetime format separator")) {
      throw error;
    }
    throw new JsonPathError(error.code, error.message, error.fields());
  }
}

function toDouble(value: Item): Decimal {
  if (typeof value !== "string" && !(value instanceof Decimal)) {
    throw new JsonPathError(
      SQLSTATE.nonNumericSqlJsonItem,
      "jsonpath item method .double() can only be applied to a string or numeric value",
    );
  }
  let result = NaN;
  try {
    result = parseFloatText(String(value));
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
  }
  if (!Number.isFinite(result)) {
    throw new JsonPathError(
      SQLSTATE.nonNumericSqlJsonItem,
      typeof value === "string"
        ? "string argument of jsonpath item method .double() is not a valid representation of a double precision number"
        : "numeric argument of jsonpath item method .double() is out of range for type double precision",
    );
  }
  return value instanceof Decimal ? value : Decimal.fromString(formatFloat64(result));
}

function startsWith(item: Item, prefix: Item): Truth {
  if (typeof item !== "string" || typeof prefix !== "string") return null;
  return item.startsWith(prefix);
}

function holds(operator: PathComparison, order: number): boolean {
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}
