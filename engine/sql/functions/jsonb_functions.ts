/**
 * Functions and operators that search or change `jsonb` documents. The document is parsed, changed and printed in its
 * canonical form; the value parsed last is kept, because one side of a search is mostly a constant.
 */
import { formatJsonb, type JsonValue, parseJson } from "../../types/json.ts";
import {
  jsonConcat,
  jsonContains,
  jsonDeleteIndex,
  jsonDeleteKeys,
  jsonDeletePath,
  jsonExists,
  jsonInsert,
  jsonSet,
} from "../../types/json_operators.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";
import { remembering } from "./remembering.ts";

const json = { category: "json" } as const;

function stepsOf(path: SqlArray): (string | null)[] {
  return path.elements.map((step) => step === null ? null : String(step));
}

/** The texts of an array that are not NULL. */
function keysOf(keys: SqlArray): string[] {
  return keys.elements.filter((key) => key !== null).map(String);
}

function containment(name: "@>" | "<@"): Overload {
  return {
    ...json,
    name,
    takes: "jsonb, jsonb",
    returns: "bool",
    summary: name === "@>"
      ? "Whether the left document contains the right one."
      : "Whether the right document contains the left one.",
    specialize: () => {
      const parseLeft = remembering<JsonValue>(parseJson);
      const parseRight = remembering<JsonValue>(parseJson);
      return {
        run: name === "@>"
          ? (left: string, right: string) => jsonContains(parseLeft(left), parseRight(right))
          : (left: string, right: string) => jsonContains(parseRight(right), parseLeft(left)),
      };
    },
  };
}

const operators: readonly Overload[] = [
  containment("@>"),
  containment("<@"),
  {
    ...json,
    name: "?",
    takes: "jsonb, text",
    returns: "bool",
    summary: "Whether a text is a key or a string element.",
    run: (text: string, key: string) => jsonExists(parseJson(text), key),
  },
  {
    ...json,
    name: "?|",
    takes: "jsonb, text[]",
    returns: "bool",
    summary: "Whether one of the texts is a key or a string element.",
    run: (text: string, keys: SqlArray) => {
      const value = parseJson(text);
      return keysOf(keys).some((key) => jsonExists(value, key));
    },
  },
  {
    ...json,
    name: "?&",
    takes: "jsonb, text[]",
    returns: "bool",
    summary: "Whether all texts are keys or string elements.",
    run: (text: string, keys: SqlArray) => {
      const value = parseJson(text);
      return keysOf(keys).every((key) => jsonExists(value, key));
    },
  },
  {
    ...json,
    name: "||",
    takes: "jsonb, jsonb",
    returns: "jsonb",
    summary: "Both documents together: objects merge, arrays follow one another.",
    run: (left: string, right: string) => formatJsonb(jsonConcat(parseJson(left), parseJson(right))),
  },
  {
    ...json,
    name: "-",
    takes: "jsonb, text",
    returns: "jsonb",
    summary: "Without a key or a string element.",
    run: (text: string, key: string) => formatJsonb(jsonDeleteKeys(parseJson(text), [key])),
  },
  {
    ...json,
    name: "-",
    takes: "jsonb, text[]",
    returns: "jsonb",
    summary: "Without keys or string elements.",
    run: (text: string, keys: SqlArray) => formatJsonb(jsonDeleteKeys(parseJson(text), keysOf(keys))),
  },
  {
    ...json,
    name: "-",
    takes: "jsonb, i32",
    returns: "jsonb",
    summary: "Without the element at an index.",
    run: (text: string, index: number) => formatJsonb(jsonDeleteIndex(parseJson(text), index)),
  },
  {
    ...json,
    name: "#-",
    takes: "jsonb, text[]",
    returns: "jsonb",
    summary: "Without the part at a path.",
    run: (text: string, path: SqlArray) => formatJsonb(jsonDeletePath(parseJson(text), stepsOf(path))),
  },
];

const functions: readonly Overload[] = [
  ...["jsonb, text[], jsonb", "jsonb, text[], jsonb, bool"].map((takes): Overload => ({
    ...json,
    name: "jsonb_set",
    takes,
    returns: "jsonb",
    summary: "With the part at a path replaced, or added unless the last argument is false.",
    run: (text: string, path: SqlArray, value: string, create = true) =>
      formatJsonb(jsonSet(parseJson(text), stepsOf(path), parseJson(value), create)),
  })),
  ...["jsonb, text[], jsonb", "jsonb, text[], jsonb, bool"].map((takes): Overload => ({
    ...json,
    name: "jsonb_insert",
    takes,
    returns: "jsonb",
    summary: "With a value inserted before, or with true after, the element at a path.",
    run: (text: string, path: SqlArray, value: string, after = false) =>
      formatJsonb(jsonInsert(parseJson(text), stepsOf(path), parseJson(value), after)),
  })),
];

/** The operators @> <@ ? ?| ?& || - #- on `jsonb`. */
export const jsonbOperators: readonly FunctionDefinition[] = operators.map(defineFunction);

/** jsonb_set and jsonb_insert. */
export const jsonbFunctions: readonly FunctionDefinition[] = functions.map(defineFunction);
