/**
 * Functions and operators on `json` and `jsonb`: access, taking apart, and building from SQL values.
 *
 * Access works on the text (see `json_text.ts`) and is the same for both types. Changing documents is in
 * `jsonb_functions.ts`.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { canonicalJsonb, formatJsonb, formatJsonbPretty, parseJson, quoteJson } from "../../types/json.ts";
import { jsonStripNulls } from "../../types/json_operators.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { keyPrinter } from "./collecting_aggregates.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { jsonPrinter } from "./json_conversion.ts";
import {
  decodableJson,
  jsonArrayLength,
  jsonAsText,
  jsonElement,
  jsonElements,
  jsonField,
  jsonMembers,
  jsonPath,
  type JsonShape,
  jsonShape,
  stripJsonNulls,
} from "./json_text.ts";
import { defineFunction, type Overload } from "./overload.ts";

const json = { category: "json" } as const;

/** The elements of a text array, as a path. */
export function pathOf(path: SqlArray): (string | null)[] {
  return path.elements.map((step) => step === null ? null : String(step));
}

function refuse(message: string): never {
  throw new DatabaseError(SQLSTATE.invalidParameterValue, message);
}

/** What PostgreSQL says when a function that wants an object meets something else; `json` and `jsonb` differ. */
function requireMembers(text: string, name: string, binary: boolean): void {
  const shape = jsonShape(text);
  if (shape === "object") return;
  if (name.endsWith("object_keys")) {
    refuse(`cannot call ${name} on ${shape === "array" ? "an array" : "a scalar"}`);
  }
  if (binary) refuse(`cannot call ${name} on a non-object`);
  if (shape === "array") refuse("cannot deconstruct an array as an object");
  refuse("cannot deconstruct a scalar");
}

function requireElements(text: string, name: string, binary: boolean): void {
  const shape = jsonShape(text);
  if (shape === "array") return;
  if (binary) {
    refuse(
      shape === "object" ? "cannot extract elements from an object" : "cannot extract elements from a scalar",
    );
  }
  refuse(`cannot call ${name} on a ${shape === "object" ? "non-array" : "scalar"}`);
}

function arrayLength(text: string): number {
  const shape: JsonShape = jsonShape(text);
  if (shape === "object") refuse("cannot get array length of a non-array");
  if (shape !== "array") refuse("cannot get array length of a scalar");
  return jsonArrayLength(text);
}

/** What looks for a part of a `json` value reads all of its strings. */
function searched(type: "json" | "jsonb"): (text: string) => string {
  return type === "json" ? decodableJson : (text) => text;
}

function accessOperators(type: "json" | "jsonb"): Overload[] {
  const all = searched(type);
  const field = type === "json" ? (text: string, key: string) => jsonField(all(text), key) : jsonField;
  // PostgreSQL keeps a jsonb scalar as an array of one element, which shows here and nowhere else.
  const element = (text: string, index: number): string | null =>
    type === "jsonb" && jsonShape(text) !== "object" && jsonShape(text) !== "array"
      ? index === 0 || index === -1 ? text : null
      : jsonElement(all(text), index);
  return [
    {
      ...json,
      name: "->",
      takes: `${type}, text`,
      returns: type,
      summary: "The member of a key.",
      mayReturnNull: true,
      run: field,
    },
    {
      ...json,
      name: "->",
      takes: `${type}, i32`,
      returns: type,
      summary: "The element at an index, from 0; negative: from the end.",
      mayReturnNull: true,
      run: element,
    },
    {
      ...json,
      name: "->>",
      takes: `${type}, text`,
      returns: "text",
      summary: "The member of a key as text.",
      mayReturnNull: true,
      run: (text: string, key: string) => jsonAsText(field(text, key)),
    },
    {
      ...json,
      name: "->>",
      takes: `${type}, i32`,
      returns: "text",
      summary: "The element at an index as text.",
      mayReturnNull: true,
      run: (text: string, index: number) => jsonAsText(element(text, index)),
    },
    {
      ...json,
      name: "#>",
      takes: `${type}, text[]`,
      returns: type,
      summary: "The part at a path.",
      mayReturnNull: true,
      run: (text: string, path: SqlArray) => jsonPath(all(text), pathOf(path)),
    },
    {
      ...json,
      name: "#>>",
      takes: `${type}, text[]`,
      returns: "text",
      summary: "The part at a path as text.",
      mayReturnNull: true,
      run: (text: string, path: SqlArray) => jsonAsText(jsonPath(all(text), pathOf(path))),
    },
  ];
}

/** The members by key: `jsonb` has each key once and its keys are in order already. */
function* memberRows(text: string, asText: boolean): Iterable<readonly SqlValue[]> {
  for (const [key, value] of jsonMembers(text)) yield [key, asText ? jsonAsText(value) : value];
}

function* keyRows(text: string): Iterable<readonly SqlValue[]> {
  for (const [key] of jsonMembers(text)) yield [key];
}

function* elementRows(text: string, asText: boolean): Iterable<readonly SqlValue[]> {
  for (const element of jsonElements(text)) yield [asText ? jsonAsText(element) : element];
}

function accessFunctions(type: "json" | "jsonb"): Overload[] {
  const binary = type === "jsonb";
  const all = searched(type);
  const common = { ...json, takes: type } as const;
  const rows = { category: "set-returning", takes: type } as const;
  const each = (suffix: string, asText: boolean): Overload => {
    const name = `${type}_each${suffix}`;
    return {
      ...rows,
      name,
      returns: "record",
      summary: asText ? "The members as rows of key and text." : "The members as rows of key and value.",
      rows: (_context, text: string) => {
        requireMembers(text, name, binary);
        return memberRows(all(text), asText);
      },
      rowColumns: [
        { name: "key", type: { kind: "text" } },
        { name: "value", type: { kind: asText ? "text" : type } },
      ],
    };
  };
  const elements = (suffix: string, asText: boolean): Overload => {
    const name = `${type}_array_elements${suffix}`;
    return {
      ...rows,
      name,
      returns: asText ? "text" : type,
      summary: asText ? "The elements as rows of text." : "The elements as rows.",
      rows: (_context, text: string) => {
        requireElements(text, name, binary);
        return elementRows(asText ? all(text) : text, asText);
      },
      rowColumns: [{ name: "value", type: { kind: asText ? "text" : type } }],
    };
  };
  return [
    {
      ...common,
      name: `${type}_array_length`,
      returns: "i32",
      summary: "Number of elements.",
      run: arrayLength,
    },
    { ...common, name: `${type}_typeof`, returns: "text", summary: "What the document is.", run: jsonShape },
    {
      ...common,
      name: `${type}_strip_nulls`,
      returns: type,
      summary: "Without object members that are null.",
      run: (text: string) => binary ? formatJsonb(jsonStripNulls(parseJson(text))) : stripJsonNulls(text),
    },
    ...["", "_text"].flatMap((suffix): Overload[] => [
      {
        ...json,
        name: `${type}_extract_path${suffix}`,
        takes: `${type}, text`,
        variadic: true,
        spread: {
          specialize: () => (_context, text: string, path: SqlArray) =>
            suffix === "" ? jsonPath(all(text), pathOf(path)) : jsonAsText(jsonPath(all(text), pathOf(path))),
        },
        returns: suffix === "" ? type : "text",
        summary: suffix === "" ? "The part at a path." : "The part at a path as text.",
        mayReturnNull: true,
        run: (text: string, ...path: string[]) =>
          suffix === "" ? jsonPath(all(text), path) : jsonAsText(jsonPath(all(text), path)),
      },
    ]),
    each("", false),
    each("_text", true),
    elements("", false),
    elements("_text", true),
    {
      ...rows,
      name: `${type}_object_keys`,
      returns: "text",
      summary: "The keys as rows.",
      rows: (_context, text: string) => {
        requireMembers(text, `${type}_object_keys`, binary);
        return keyRows(all(text));
      },
    },
  ];
}

/** Finishes a text built in `json` form as the function's type. */
function finished(binary: boolean, text: string): string {
  return binary ? canonicalJsonb(text) : text;
}

/** What belongs to an argument, of a list for all arguments or of the one that is for every element of an array. */
function at<T>(list: readonly T[], index: number): T {
  return assertDefined(list[list.length === 1 ? 0 : index], "the argument's type");
}

function buildObject(
  name: string,
  binary: boolean,
  types: readonly SqlType[],
): (context: EvaluationContext, values: readonly SqlValue[]) => string {
  const keys = types.map(keyPrinter);
  const printers = types.map((type) => jsonPrinter(type));
  return (context, values) => {
    if (values.length % 2 !== 0) {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        "argument list must have even number of elements",
        { hint: `The arguments of ${name}() must consist of alternating keys and values.` },
      );
    }
    const members: string[] = [];
    for (let index = 0; index < values.length; index += 2) {
      const key = values[index] ?? null;
      if (key === null) {
        throw new DatabaseError(
          SQLSTATE.invalidParameterValue,
          binary ? `argument ${index + 1}: key must not be null` : `argument ${index + 1} cannot be null`,
          binary ? {} : { hint: "Object keys should be text." },
        );
      }
      const value = values[index + 1] ?? null;
      members.push(
        `${quoteJson(at(keys, index)(context, key))} : ${at(printers, index + 1)(context, value)}`,
      );
    }
    return finished(binary, `{${members.join(", ")}}`);
  };
}

function buildArray(
  binary: boolean,
  types: readonly SqlType[],
): (context: EvaluationContext, values: readonly SqlValue[]) => string {
  const printers = types.map((type) => jsonPrinter(type));
  return (context, values) =>
    finished(binary, `[${values.map((value, index) => at(printers, index)(context, value)).join(", ")}]`);
}

type Build = (context: EvaluationContext, values: readonly SqlValue[]) => string;

function ofArguments(build: Build): (context: EvaluationContext, ...values: SqlValue[]) => string {
  return (context, ...values) => build(context, values);
}

function ofArray(build: Build): (context: EvaluationContext, array: SqlArray) => string {
  return (context, array) => build(context, array.elements);
}

/** `json_object`: keys and values from text arrays. */
function objectOfArrays(binary: boolean, keys: SqlArray, values?: SqlArray): string {
  let names = keys.elements;
  let items = values?.elements ?? [];
  if (values === undefined) {
    if (keys.dimensions.length > 2 || (keys.dimensions.length === 2 && keys.dimensions[1] !== 2)) {
      throw new DatabaseError(
        SQLSTATE.arraySubscriptError,
        keys.dimensions.length > 2 ? "wrong number of array subscripts" : "array must have two columns",
      );
    }
    if (names.length % 2 !== 0) {
      throw new DatabaseError(SQLSTATE.arraySubscriptError, "array must have even number of elements");
    }
    items = names.filter((_, index) => index % 2 === 1);
    names = names.filter((_, index) => index % 2 === 0);
  } else if (names.length !== items.length) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "mismatched array dimensions");
  }
  const members = names.map((name, index) => {
    if (name === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "null value not allowed for object key");
    }
    const item = items[index] ?? null;
    return `${quoteJson(String(name))} : ${item === null ? "null" : quoteJson(String(item))}`;
  });
  return finished(binary, `{${members.join(", ")}}`);
}

function buildFunctions(type: "json" | "jsonb"): Overload[] {
  const binary = type === "jsonb";
  const common = { ...json, returns: type, volatility: "stable" } as const;
  return [
    {
      ...common,
      name: `to_${type}`,
      takes: "any",
      summary: "A value as JSON.",
      specialize: ([argument]) => {
        if (argument === undefined) return undefined;
        const print = jsonPrinter(argument);
        return {
          argumentTypes: [argument],
          runIn: (context, value: SqlValue) => finished(binary, print(context, value)),
        };
      },
    },
    {
      ...common,
      name: `${type}_build_object`,
      takes: "",
      summary: "An empty object.",
      run: () => "{}",
    },
    {
      ...common,
      name: `${type}_build_object`,
      takes: "any",
      variadic: true,
      strict: false,
      mayReturnNull: false,
      summary: "An object of alternating keys and values.",
      spread: { specialize: (types) => ofArray(buildObject(`${type}_build_object`, binary, types)) },
      specialize: (types) => ({
        argumentTypes: types,
        runIn: ofArguments(buildObject(`${type}_build_object`, binary, types)),
        mayReturnNull: false,
      }),
    },
    { ...common, name: `${type}_build_array`, takes: "", summary: "An empty array.", run: () => "[]" },
    {
      ...common,
      name: `${type}_build_array`,
      takes: "any",
      variadic: true,
      strict: false,
      mayReturnNull: false,
      summary: "An array of the arguments.",
      spread: { specialize: (types) => ofArray(buildArray(binary, types)) },
      specialize: (types) => ({
        argumentTypes: types,
        runIn: ofArguments(buildArray(binary, types)),
        mayReturnNull: false,
      }),
    },
    {
      ...common,
      name: `${type}_object`,
      takes: "text[]",
      summary: "An object of alternating keys and values.",
      run: (keys: SqlArray) => objectOfArrays(binary, keys),
    },
    {
      ...common,
      name: `${type}_object`,
      takes: "text[], text[]",
      summary: "An object of keys and values.",
      run: (keys: SqlArray, values: SqlArray) => objectOfArrays(binary, keys, values),
    },
  ];
}

const conversions: readonly Overload[] = (["array_to_json", "row_to_json"] as const).flatMap((name) => {
  const takes = name === "array_to_json" ? "anyarray" : "record";
  const summary = name === "array_to_json" ? "An array as JSON." : "A record as JSON.";
  return [takes, `${takes}, bool`].map((signature): Overload => ({
    ...json,
    name,
    takes: signature,
    returns: "json",
    volatility: "stable",
    summary,
    specialize: ([argument]) => {
      if (argument === undefined) return undefined;
      const plain = jsonPrinter(argument);
      const pretty = jsonPrinter(argument, { separator: ",\n " });
      return {
        runIn: (context, value: SqlValue, lines?: boolean) =>
          (lines === true ? pretty : plain)(context, value),
      };
    },
  }));
});

/** Functions of `json` and `jsonb` that read or build. */
export const jsonFunctions: readonly FunctionDefinition[] = [
  ...accessFunctions("json"),
  ...accessFunctions("jsonb"),
  ...buildFunctions("json"),
  ...buildFunctions("jsonb"),
  ...conversions,
  {
    ...json,
    name: "jsonb_pretty",
    takes: "jsonb",
    returns: "text",
    summary: "The document over indented lines.",
    run: (text: string) => formatJsonbPretty(parseJson(text)),
  } as const,
].map(defineFunction);

/** The operators -> ->> #> #>>. */
export const jsonOperators: readonly FunctionDefinition[] = [
  ...accessOperators("json"),
  ...accessOperators("jsonb"),
].map(defineFunction);
