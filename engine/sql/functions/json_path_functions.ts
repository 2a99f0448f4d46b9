/**
 * The functions and operators of SQL/JSON paths on `jsonb`: jsonb_path_query and its relatives, `@?` and `@@`.
 *
 * A document and a path that stay the same from row to row are parsed once. The operators and calls with `silent`
 * answer NULL or nothing where the path meets an error.
 */
import { gas } from "../../base/gas.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { chargeJsonb, formatJsonb, type JsonValue, parseJson } from "../../types/json.ts";
import {
  collectJsonPathItems,
  JsonPathError,
  jsonPathExists,
  type JsonPathInput,
  jsonPathItems,
} from "../../types/json_path.ts";
import { parseJsonPath } from "../../types/json_path_parser.ts";
import type { JsonPath } from "../../types/json_path_syntax.ts";
import type { SqlValue } from "../../types/value.ts";
import { timeZone } from "../../types/time_zone.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload, type Specialization } from "./overload.ts";
import { remembering } from "./remembering.ts";

const json = { category: "json" } as const;

type Reader = (
  document: string,
  path: string,
  variables: string | undefined,
  session: JsonPathInput["session"],
) => JsonPathInput;

function inputReader(): Reader {
  const parseDocument = remembering<JsonValue>(parseJson);
  const parsePath = remembering<JsonPath>(parseJsonPath);
  const parseVariables = remembering<JsonValue>(parseJson);
  return (document, path, variables, session) => ({
    document: parseDocument(document),
    path: parsePath(path),
    variables: variables === undefined ? undefined : parseVariables(variables),
    session,
  });
}

/** What the functions with `_tz` know more than the others. */
function sessionZone(context: EvaluationContext): JsonPathInput["session"] {
  return { zone: timeZone(context.timeZone), now: context.transactionTimestamp };
}

function exists(input: JsonPathInput, silent: boolean): SqlValue {
  try {
    return jsonPathExists(input);
  } catch (error) {
    if (silent && error instanceof JsonPathError) return null;
    throw error;
  }
}

function match(input: JsonPathInput, silent: boolean): SqlValue {
  const items = collectJsonPathItems(input, silent);
  const [only] = items;
  if (items.length === 1 && (typeof only === "boolean" || only === null)) return only;
  if (silent) return null;
  throw new DatabaseError(SQLSTATE.singletonSqlJsonItemRequired, "single boolean result is expected");
}

function first(input: JsonPathInput, silent: boolean): SqlValue {
  try {
    for (const item of jsonPathItems(input)) return formatJsonb(item);
  } catch (error) {
    if (!silent || !(error instanceof JsonPathError)) throw error;
  }
  return null;
}

function all(input: JsonPathInput, silent: boolean): SqlValue {
  const items = collectJsonPathItems(input, silent);
  // Items may be parts of each other, so that all of them are much longer than the document.
  if (gas.isCounting) chargeJsonb(items);
  return formatJsonb(items);
}

interface Family {
  readonly name: string;
  readonly returns: string;
  readonly summary: string;
  readonly mayReturnNull?: boolean;
  readonly implementation: (zoned: boolean) => Specialization;
}

function scalar(
  evaluate: (input: JsonPathInput, silent: boolean) => SqlValue,
): (zoned: boolean) => Specialization {
  return (zoned) => {
    const read = inputReader();
    if (!zoned) {
      return {
        run: (document: string, path: string, variables = "{}", silent = false) =>
          evaluate(read(document, path, variables, null), silent),
      };
    }
    return {
      volatility: "stable",
      runIn: (context, document: string, path: string, variables = "{}", silent = false) =>
        evaluate(read(document, path, variables, sessionZone(context)), silent),
    };
  };
}

function rows(zoned: boolean): Specialization {
  const read = inputReader();
  return {
    ...(zoned ? { volatility: "stable" as const } : {}),
    *rows(context, document: string, path: string, variables = "{}", silent = false) {
      const session = zoned ? sessionZone(context) : null;
      for (const item of collectJsonPathItems(read(document, path, variables, session), silent)) {
        yield [formatJsonb(item)];
      }
    },
  };
}

const families: readonly Family[] = [
  {
    name: "jsonb_path_exists",
    returns: "bool",
    summary: "Whether a path gives an item.",
    mayReturnNull: true,
    implementation: scalar(exists),
  },
  {
    name: "jsonb_path_match",
    returns: "bool",
    summary: "The result of a path that is a predicate.",
    mayReturnNull: true,
    implementation: scalar(match),
  },
  {
    name: "jsonb_path_query",
    returns: "jsonb",
    summary: "The items of a path as rows.",
    implementation: rows,
  },
  {
    name: "jsonb_path_query_array",
    returns: "jsonb",
    summary: "The items of a path as an array.",
    implementation: scalar(all),
  },
  {
    name: "jsonb_path_query_first",
    returns: "jsonb",
    summary: "The first item of a path.",
    mayReturnNull: true,
    implementation: scalar(first),
  },
];

const functions: readonly Overload[] = families.flatMap((family) =>
  ["", "_tz"].flatMap((suffix) =>
    ["jsonb, jsonpath", "jsonb, jsonpath, jsonb", "jsonb, jsonpath, jsonb, bool"].map((takes): Overload => ({
      ...json,
      name: `${family.name}${suffix}`,
      takes,
      returns: family.returns,
      summary: family.summary,
      mayReturnNull: family.mayReturnNull === true,
      specialize: () => family.implementation(suffix === "_tz"),
    }))
  )
);

function operator(name: string, summary: string, evaluate: typeof exists): Overload {
  return {
    ...json,
    name,
    takes: "jsonb, jsonpath",
    returns: "bool",
    summary,
    mayReturnNull: true,
    specialize: () => {
      const read = inputReader();
      return {
        run: (document: string, path: string) => evaluate(read(document, path, undefined, null), true),
      };
    },
  };
}

/** jsonb_path_exists, _match, _query, _query_array and _query_first. */
export const jsonPathFunctions: readonly FunctionDefinition[] = functions.map(defineFunction);

/** `@?` and `@@`. */
export const jsonPathOperators: readonly FunctionDefinition[] = [
  operator("@?", "Whether a path gives an item; errors give NULL.", exists),
  operator("@@", "The result of a path that is a predicate; errors give NULL.", match),
].map(defineFunction);
