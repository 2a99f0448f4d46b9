/**
 * The operators and functions of json and jsonb over parsed values: access, paths, containment, and changes.
 *
 * Values are never changed in place; changed copies share what is unchanged. Paths are texts, of which those that are
 * integers index arrays, negative ones from the end. Errors are PostgreSQL's, mostly 22023.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import { Decimal } from "./decimal.ts";
import { equalJson, formatJsonb, isJsonArray, isJsonObject, jsonObject } from "./json.ts";
import type { JsonArray, JsonObject, JsonValue } from "./json.ts";

function invalid(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, message);
}

/** `value -> 'key'`: the field of an object, or undefined. */
export function jsonField(value: JsonValue, key: string): JsonValue | undefined {
  return isJsonObject(value) ? value.get(key) : undefined;
}

/** `value -> index`: the element of an array, negative indexes from the end, or undefined. */
export function jsonElement(value: JsonValue, index: number): JsonValue | undefined {
  return isJsonArray(value) ? value[index < 0 ? value.length + index : index] : undefined;
}

/** `value #> path`: what lies at the path, or undefined. */
export function jsonAtPath(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const step of path) {
    if (current === undefined) return undefined;
    if (isJsonArray(current)) {
      const index = pathIndex(step);
      current = index === undefined ? undefined : jsonElement(current, index);
    } else current = jsonField(current, step);
  }
  return current;
}

function pathIndex(step: string): number | undefined {
  return /^\s*[+-]?\d+\s*$/.test(step) ? Number(step) : undefined;
}

/** The text of `->>` and `#>>`: strings without quotes, JSON null as SQL null, all else as JSON. */
export function jsonToText(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : formatJsonb(value);
}

/** Steps of comparing two parts of documents. */
const PAIR_STEPS = 0.25;

/** `container @> contained`. */
export function jsonContains(container: JsonValue, contained: JsonValue): boolean {
  // At the top only, an array contains a scalar as if it were one of its elements.
  if (isJsonArray(container) && !isJsonArray(contained) && !isJsonObject(contained)) {
    return container.some((item) => isScalar(item) && equalJson(item, contained));
  }
  return containsDeep(container, contained);
}

function isScalar(value: JsonValue): boolean {
  return !isJsonArray(value) && !isJsonObject(value);
}

function containsDeep(container: JsonValue, contained: JsonValue): boolean {
  // Arrays are compared item by item with each other.
  gas.charge(PAIR_STEPS);
  if (isJsonObject(container) && isJsonObject(contained)) {
    for (const [key, wanted] of contained) {
      const present = container.get(key);
      if (present === undefined || !containsDeep(present, wanted)) return false;
    }
    return true;
  }
  if (isJsonArray(container) && isJsonArray(contained)) {
    return contained.every((wanted) => container.some((item) => containsDeep(item, wanted)));
  }
  return isScalar(container) && isScalar(contained) && equalJson(container, contained);
}

/** `value ? key`: a key of an object, a string element of an array, or the string itself. */
export function jsonExists(value: JsonValue, key: string): boolean {
  if (isJsonObject(value)) return value.has(key);
  if (isJsonArray(value)) return value.includes(key);
  return value === key;
}

/** `left || right`: objects merge, all else concatenates as arrays. */
export function jsonConcat(left: JsonValue, right: JsonValue): JsonValue {
  if (isJsonObject(left) && isJsonObject(right)) return jsonObject([...left, ...right]);
  const asArray = (value: JsonValue): JsonArray => isJsonArray(value) ? value : [value];
  return [...asArray(left), ...asArray(right)];
}

/** `value - keys`: without those keys, or without those string elements. */
export function jsonDeleteKeys(value: JsonValue, keys: readonly string[]): JsonValue {
  if (isJsonObject(value)) return new Map([...value].filter(([key]) => !keys.includes(key)));
  if (isJsonArray(value)) return value.filter((item) => !(typeof item === "string" && keys.includes(item)));
  throw invalid("cannot delete from scalar");
}

/** `value - index`: without that element of an array. */
export function jsonDeleteIndex(value: JsonValue, index: number): JsonValue {
  if (isJsonObject(value)) throw invalid("cannot delete from object using integer index");
  if (!isJsonArray(value)) throw invalid("cannot delete from scalar");
  const position = index < 0 ? value.length + index : index;
  return value.filter((_, at) => at !== position);
}

/** A path into a document. A step that is NULL raises 22004 as soon as the path leads there. */
export type JsonStepPath = readonly (string | null)[];

/** `value #- path`. */
export function jsonDeletePath(value: JsonValue, path: JsonStepPath): JsonValue {
  if (isScalar(value)) throw invalid("cannot delete path in scalar");
  return path.length === 0 || isEmptyContainer(value) ? value : changeAt(value, path, 0, () => undefined);
}

function isEmptyContainer(value: JsonValue): boolean {
  return isJsonArray(value) ? value.length === 0 : isJsonObject(value) && value.size === 0;
}

/** jsonb_set: the value at the path replaced, or with `create` added when its parent exists. */
export function jsonSet(
  value: JsonValue,
  path: JsonStepPath,
  replacement: JsonValue,
  create = true,
): JsonValue {
  if (isScalar(value)) throw invalid("cannot set path in scalar");
  if (path.length === 0 || (!create && isEmptyContainer(value))) return value;
  return changeAt(value, path, 0, (current) => current === undefined && !create ? undefined : replacement);
}

/** jsonb_insert: a value before (or after) the array element at the path, or as a new key of an object. */
export function jsonInsert(
  value: JsonValue,
  path: JsonStepPath,
  inserted: JsonValue,
  after = false,
): JsonValue {
  if (isScalar(value)) throw invalid("cannot set path in scalar");
  if (path.length === 0) return value;
  const parentPath = path.slice(0, -1);
  const insert = (parent: JsonValue | undefined): JsonValue | undefined => {
    if (parent === undefined) return undefined;
    const last = stepAt(path, path.length - 1);
    if (isJsonObject(parent)) {
      if (parent.has(last)) {
        throw new DatabaseError(SQLSTATE.invalidParameterValue, "cannot replace existing key", {
          hint: "Try using the function jsonb_set to replace key value.",
        });
      }
      return jsonObject([...parent, [last, inserted]]);
    }
    if (!isJsonArray(parent)) return parent;
    const index = requireIndex(last, path.length);
    const position = index < 0 ? parent.length + index : index;
    const at = Math.min(Math.max(position + (after ? 1 : 0), 0), parent.length);
    return [...parent.slice(0, at), inserted, ...parent.slice(at)];
  };
  if (parentPath.length === 0) return insert(value) ?? value;
  return changeAt(value, parentPath, 0, insert);
}

function requireIndex(step: string, position: number): number {
  const index = pathIndex(step);
  if (index !== undefined) return index;
  throw new DatabaseError(
    SQLSTATE.invalidTextRepresentation,
    `path element at position ${position} is not an integer: "${step}"`,
  );
}

function stepAt(path: JsonStepPath, depth: number): string {
  const step = path[depth] ?? null;
  if (step !== null) return step;
  throw new DatabaseError(SQLSTATE.nullValueNotAllowed, `path element at position ${depth + 1} is null`);
}

/** A copy with what lies at the path changed; `change` answers undefined for "not there". */
function changeAt(
  value: JsonValue,
  path: JsonStepPath,
  depth: number,
  change: (current: JsonValue | undefined) => JsonValue | undefined,
): JsonValue {
  const step = stepAt(path, depth);
  const isLast = depth === path.length - 1;
  const next = (current: JsonValue | undefined): JsonValue | undefined => {
    if (isLast) return change(current);
    return current === undefined ? current : changeAt(current, path, depth + 1, change);
  };
  if (isJsonObject(value)) return changeField(value, step, next(value.get(step)));
  if (!isJsonArray(value)) return value;
  const index = requireIndex(step, depth + 1);
  const position = index < 0 ? value.length + index : index;
  const current = value[position];
  const changed = next(current);
  if (changed === undefined) return current === undefined ? value : value.filter((_, at) => at !== position);
  if (current === undefined) return position < 0 ? [changed, ...value] : [...value, changed];
  return value.map((item, at) => at === position ? changed : item);
}

function changeField(object: JsonObject, key: string, changed: JsonValue | undefined): JsonObject {
  if (changed === undefined) return new Map([...object].filter(([name]) => name !== key));
  if (object.has(key)) {
    return new Map([...object].map(([name, item]) => [name, name === key ? changed : item]));
  }
  return jsonObject([...object, [key, changed]]);
}

/** json_strip_nulls: without the object fields that are null, at every depth. */
export function jsonStripNulls(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(jsonStripNulls);
  if (!isJsonObject(value)) return value;
  return new Map(
    [...value].filter(([, item]) => item !== null).map(([key, item]) => [key, jsonStripNulls(item)]),
  );
}

/** json_array_length; 22023 for what is no array. */
export function jsonArrayLength(value: JsonValue): number {
  if (isJsonArray(value)) return value.length;
  throw invalid(
    isJsonObject(value) ? "cannot get array length of a non-array" : "cannot get array length of a scalar",
  );
}

/** The elements of an array for json_array_elements; 22023 for what is no array. */
export function jsonArrayElements(value: JsonValue): JsonArray {
  if (isJsonArray(value)) return value;
  throw invalid(
    isJsonObject(value) ? "cannot extract elements from an object" : "cannot extract elements from a scalar",
  );
}

/** The entries of an object for json_each; 22023 for what is no object. */
export function jsonEntries(value: JsonValue, functionName = "jsonb_each"): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(
    functionName.endsWith("object_keys")
      ? `cannot call ${functionName} on ${isJsonArray(value) ? "an array" : "a scalar"}`
      : `cannot call ${functionName} on a non-object`,
  );
}

/** A jsonb value cast to a number; 22023 as PostgreSQL words it. */
export function jsonToDecimal(value: JsonValue, typeName: string): Decimal {
  if (value instanceof Decimal) return value;
  const kind = value === null
    ? "null"
    : typeof value === "string"
    ? "string"
    : typeof value === "boolean"
    ? "boolean"
    : isJsonArray(value)
    ? "array"
    : "object";
  throw invalid(`cannot cast jsonb ${kind} to type ${typeName}`);
}
