/**
 * Functions that read JSON objects as rows: json_to_record, json_to_recordset, json_populate_record,
 * json_populate_recordset and those of `jsonb`.
 *
 * Their columns are said by the query, in a column definition list or by a table's name, so that the binder asks for
 * them here; the registry has the names, for documentation, suggestions, and the error outside of FROM. A member that
 * is missing is NULL.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { canonicalJsonb } from "../../types/json.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { RecordField, SqlType } from "../../types/sql_type.ts";
import { parseText, type TextOptions } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import { textOptions } from "./casts.ts";
import type { BoundFunction, FunctionDefinition } from "./definition.ts";
import { decodableJson, jsonElements, jsonMembers, jsonShape, unquoteJson } from "./json_text.ts";
import { defineFunction, type Overload } from "./overload.ts";

const NAMES = ["json", "jsonb"].flatMap((type) =>
  ["to", "populate"].flatMap((verb) =>
    ["record", "recordset"].map((result) => ({
      name: `${type}_${verb}_${result}`,
      type,
      populates: verb === "populate",
      isSet: result === "recordset",
    }))
  )
);

/**
 * Whether a function's columns are said by the query; and if so, whether its first argument is a row that tells them.
 */
export function jsonRecordFunction(name: string): { readonly populates: boolean } | undefined {
  return NAMES.find((each) => each.name === name);
}

/** The function of that name, for rows with these columns. The document is its only argument. */
export function bindJsonRecord(name: string, columns: readonly RecordField[]): BoundFunction {
  const { type, isSet } = NAMES.find((each) => each.name === name) ?? { type: "jsonb", isSet: false };
  const rowOf = (text: string, options: TextOptions): SqlValue[] => {
    if (jsonShape(text) !== "object") {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        isSet
          ? `argument of ${name} must be an array of objects`
          : `cannot call populate_composite on ${jsonShape(text) === "array" ? "an array" : "a scalar"}`,
      );
    }
    const members = new Map(jsonMembers(text));
    return columns.map((column) => memberValue(members.get(column.name), column.type, options));
  };
  return {
    name,
    argumentTypes: [type === "json" ? { kind: "json" } : { kind: "jsonb" }],
    returnType: { kind: "record", fields: columns },
    volatility: "stable",
    strict: true,
    mayReturnNull: true,
    evaluate: () => null,
    *rows(context, document = null) {
      const text = type === "json" ? decodableJson(String(document)) : String(document);
      const options = textOptions(context);
      if (!isSet) yield rowOf(text, options);
      else {
        if (jsonShape(text) !== "array") {
          throw new DatabaseError(
            SQLSTATE.invalidParameterValue,
            `cannot call ${name} on a ${jsonShape(text) === "object" ? "non-array" : "scalar"}`,
          );
        }
        for (const element of jsonElements(text)) yield rowOf(element, options);
      }
    },
    rowColumns: columns,
  };
}

/** A part of a document as a value of a type: strings by their text, everything else by its JSON text. */
function memberValue(part: string | undefined, type: SqlType, options: TextOptions): SqlValue {
  if (part === undefined) return null;
  if (type.kind === "json") return part;
  if (type.kind === "jsonb") return canonicalJsonb(part);
  const shape = jsonShape(part);
  if (shape === "null") return null;
  if (shape === "string") return parseText(type, unquoteJson(part.trim()), options);
  if (type.kind === "array") {
    if (shape !== "array") {
      throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "expected JSON array");
    }
    return arrayValue(part, type.element, options);
  }
  return parseText(type, part.trim(), options);
}

function arrayValue(text: string, element: SqlType, options: TextOptions): SqlArray {
  const parts = [...jsonElements(text)];
  if (parts.length > 0 && parts.every((part) => jsonShape(part) === "array")) {
    return SqlArray.ofArrays(parts.map((part) => arrayValue(part, element, options)));
  }
  return SqlArray.of(parts.map((part) => memberValue(part, element, options)));
}

/**
 * Functions that read JSON objects as rows: json_to_record, json_to_recordset, json_populate_record,
 * json_populate_recordset and those of `jsonb`.
 */
export const jsonRecordFunctions: readonly FunctionDefinition[] = NAMES.map(
  ({ name, type, populates, isSet }): Overload => ({
    category: "json",
    name,
    takes: populates ? `anyelement, ${type}` : type,
    returns: "record",
    summary: `${isSet ? "The objects of an array as rows" : "An object as a row"}, in FROM with ${
      populates ? "`NULL::table` for the columns" : "a list of columns and types"
    }.`,
    rows: () => {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "function returning record called in context that cannot accept type record",
      );
    },
  }),
).map(defineFunction);
