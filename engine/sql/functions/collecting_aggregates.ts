/**
 * Aggregates that gather values: string_agg, array_agg, and the JSON aggregates. Their result depends on the order of
 * rows. Steps of the JSON aggregates use the identifier `context`, which is in scope of generated code.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { canonicalJsonb, quoteJson } from "../../types/json.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import { textOptions } from "./casts.ts";
import type { AggregateDefinition, AggregateSlot, EvaluationContext } from "./definition.ts";
import { append, type GrowingText, textOf } from "./growing_text.ts";
import { isStructured, type JsonPrinter, jsonPrinter } from "./json_conversion.ts";
import { type AggregateOverload, defineAggregate } from "./overload.ts";

const nothing: AggregateSlot = { kind: "object", initial: "null" };

function appendText(
  state: GrowingText | null,
  value: string | null,
  delimiter: string | null,
): GrowingText | null {
  if (value === null) return state;
  return state === null ? value : append(state, delimiter === null ? value : delimiter + value);
}

function finishText(state: GrowingText | null): string | null {
  return state === null ? null : textOf(state);
}

function appendBytes(
  state: Uint8Array[] | null,
  value: Uint8Array | null,
  delimiter: Uint8Array | null,
): Uint8Array[] | null {
  if (value === null) return state;
  if (state === null) return [value];
  if (delimiter !== null) state.push(delimiter);
  state.push(value);
  return state;
}

function joinBytes(state: readonly Uint8Array[] | null): Uint8Array | null {
  if (state === null) return null;
  const result = new Uint8Array(state.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of state) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

function push(state: SqlValue[] | null, value: SqlValue): SqlValue[] {
  if (state === null) return [value];
  state.push(value);
  return state;
}

function finishArray(state: readonly SqlValue[] | null): SqlArray | null {
  return state === null ? null : SqlArray.of(state);
}

function pushArray(state: SqlArray[] | null, value: SqlArray | null): SqlArray[] {
  if (value === null) {
    throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "cannot accumulate null arrays");
  }
  if (value.elements.length === 0) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "cannot accumulate empty arrays");
  }
  const first = state?.[0];
  if (first !== undefined && String(first.dimensions) !== String(value.dimensions)) {
    throw new DatabaseError(
      SQLSTATE.arraySubscriptError,
      "cannot accumulate arrays of different dimensionality",
    );
  }
  if (state === null) return [value];
  state.push(value);
  return state;
}

function finishArrays(state: readonly SqlArray[] | null): SqlArray | null {
  return state === null ? null : SqlArray.ofArrays(state);
}

/** Prints elements of a `jsonb` array, each in canonical form by itself: the whole would be read in one turn. */
function canonicalItemPrinter(type: SqlType): JsonPrinter {
  const print = jsonPrinter(type);
  return (context, value) => {
    const item = print(context, value);
    // A `jsonb` value is canonical; only a long one may nest too deeply within another array.
    if (type.kind === "jsonb" && item.length < LIMITS.maximumJsonDepth) return item;
    return canonicalJsonb(`[${item}]`).slice(1, -1);
  };
}

function jsonArrayAggregate(name: string, binary: boolean): AggregateOverload {
  return {
    name,
    takes: "any",
    returns: binary ? "jsonb" : "json",
    summary: "All values, NULLs included, as a JSON array.",
    skipsNulls: false,
    orderSensitive: true,
    parts: ([type]) => {
      if (type === undefined) return undefined;
      const print = binary ? canonicalItemPrinter(type) : jsonPrinter(type);
      const separator = isStructured(type) && !binary ? ", \n " : ", ";
      const step = (context: EvaluationContext, state: GrowingText | null, value: SqlValue) => {
        const item = print(context, value);
        return state === null ? `[${item}` : append(state, (value === null ? ", " : separator) + item);
      };
      const finish = (state: GrowingText | null) => state === null ? null : `${textOf(state)}]`;
      return {
        argumentTypes: [type],
        slots: [nothing],
        step: ([state], [x], use) => `${state} = ${use(name, step)}(context, ${state}, ${x});`,
        finish: ([state], use) => `${use(`finish_${name}`, finish)}(${state})`,
      };
    },
  };
}

/** The text of an object's key; 22004 for NULL, 22023 for a value that is no scalar. */
export function keyPrinter(type: SqlType): (context: EvaluationContext, value: SqlValue) => string {
  return (context, value) => {
    if (value === null) {
      throw new DatabaseError(SQLSTATE.invalidParameterValue, "field name must not be null");
    }
    if (isStructured(type) || type.kind === "json" || type.kind === "jsonb") {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        "key value must be scalar, not array, composite, or json",
      );
    }
    return type.kind === "bool"
      ? (value === true ? "true" : "false")
      : typeof value === "string"
      ? value
      : formatText(type, value, textOptions(context));
  };
}

function jsonObjectAggregate(name: string, binary: boolean): AggregateOverload {
  return {
    name,
    takes: "any, any",
    returns: binary ? "jsonb" : "json",
    summary: "All pairs of key and value as a JSON object.",
    skipsNulls: false,
    orderSensitive: true,
    parts: ([keyType, valueType]) => {
      if (keyType === undefined || valueType === undefined) return undefined;
      const printKey = keyPrinter(keyType);
      const print = jsonPrinter(valueType);
      const step = (
        context: EvaluationContext,
        state: GrowingText | null,
        key: SqlValue,
        value: SqlValue,
      ) => {
        const member = `${quoteJson(printKey(context, key))} : ${print(context, value)}`;
        return state === null ? `{ ${member}` : append(state, `, ${member}`);
      };
      const finish = (state: GrowingText | null) => {
        if (state === null) return null;
        const text = `${textOf(state)} }`;
        return binary ? canonicalJsonb(text) : text;
      };
      return {
        argumentTypes: [keyType, valueType],
        slots: [nothing],
        step: ([state], [key, value], use) =>
          `${state} = ${use(name, step)}(context, ${state}, ${key}, ${value});`,
        finish: ([state], use) => `${use(`finish_${name}`, finish)}(${state})`,
      };
    },
  };
}

const overloads: readonly AggregateOverload[] = [
  {
    name: "string_agg",
    takes: "text, text",
    returns: "text",
    summary: "All values that are not NULL, with a delimiter between them.",
    skipsNulls: false,
    orderSensitive: true,
    parts: () => ({
      slots: [nothing],
      step: ([state], [value, delimiter], use) =>
        `${state} = ${use("appendText", appendText)}(${state}, ${value}, ${delimiter});`,
      finish: ([state], use) => `${use("finishText", finishText)}(${state})`,
    }),
  },
  {
    name: "string_agg",
    takes: "bytea, bytea",
    returns: "bytea",
    summary: "All values that are not NULL, with a delimiter between them.",
    skipsNulls: false,
    orderSensitive: true,
    parts: () => ({
      slots: [nothing],
      step: ([state], [value, delimiter], use) =>
        `${state} = ${use("appendBytes", appendBytes)}(${state}, ${value}, ${delimiter});`,
      finish: ([state], use) => `${use("joinBytes", joinBytes)}(${state})`,
    }),
  },
  {
    name: "array_agg",
    takes: "anynonarray",
    returns: "anyarray",
    summary: "All values, NULLs included, as an array.",
    skipsNulls: false,
    orderSensitive: true,
    parts: () => ({
      slots: [nothing],
      step: ([state], [x], use) => `${state} = ${use("push", push)}(${state}, ${x});`,
      finish: ([state], use) => `${use("finishArray", finishArray)}(${state})`,
    }),
  },
  {
    name: "array_agg",
    takes: "anyarray",
    returns: "anyarray",
    summary: "All arrays as an array of one dimension more.",
    skipsNulls: false,
    orderSensitive: true,
    parts: () => ({
      slots: [nothing],
      step: ([state], [x], use) => `${state} = ${use("pushArray", pushArray)}(${state}, ${x});`,
      finish: ([state], use) => `${use("finishArrays", finishArrays)}(${state})`,
    }),
  },
  jsonArrayAggregate("json_agg", false),
  jsonArrayAggregate("jsonb_agg", true),
  jsonObjectAggregate("json_object_agg", false),
  jsonObjectAggregate("jsonb_object_agg", true),
];

/** string_agg, array_agg and the JSON aggregates. */
export const collectingAggregates: readonly AggregateDefinition[] = overloads.map(defineAggregate);
