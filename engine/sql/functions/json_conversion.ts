/**
 * SQL values as JSON text: what `to_json`, `row_to_json`, `json_agg` and their relatives print.
 *
 * Numbers and booleans become JSON's; dates and times are ISO 8601; `json` and `jsonb` are put in as they are; arrays
 * and records become arrays and objects; everything else is a string of its text form.
 */
import { ISO_MDY } from "../../types/date_time_format.ts";
import { quoteJson } from "../../types/json.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatText, type TextOptions } from "../../types/text_io.ts";
import type { SqlRecord, SqlValue } from "../../types/value.ts";
import { textOptions } from "./casts.ts";
import type { EvaluationContext } from "./definition.ts";

/** Turns values of one type into JSON text. */
export type JsonPrinter = (context: EvaluationContext, value: SqlValue) => string;

/** How the parts of arrays and records are separated: PostgreSQL's functions differ in it. */
export interface JsonLayout {
  /** Between elements or members. */
  readonly separator: string;
}

const compact: JsonLayout = { separator: "," };

/** The printer of a type. */
export function jsonPrinter(type: SqlType, layout: JsonLayout = compact): JsonPrinter {
  const print = valuePrinter(type, layout);
  return (context, value) => value === null ? "null" : print(context, value);
}

function valuePrinter(type: SqlType, layout: JsonLayout): JsonPrinter {
  switch (type.kind) {
    case "bool":
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
      return (_context, value) => String(value);
    case "numeric":
    case "f32":
    case "f64":
      return (context, value) => {
        const text = formatText(type, value, textOptions(context));
        return /^-?\d/.test(text) ? text : quoteJson(text);
      };
    case "json":
    case "jsonb":
      return (_context, value) => String(value);
    case "date":
    case "timestamp":
    case "timestamptz":
      return (context, value) => quoteJson(isoText(type, value, textOptions(context)));
    case "array": {
      const print = jsonPrinter(type.element);
      return (context, value) => arrayText(context, value as SqlArray, print, layout.separator);
    }
    case "record": {
      const printers = type.fields.map((field) => jsonPrinter(field.type));
      return (context, value) =>
        `{${
          (value as SqlRecord).recordValues.map((item, index) =>
            `${quoteJson(type.fields[index]?.name ?? `f${index + 1}`)}:${
              printers[index]?.(context, item) ?? "null"
            }`
          ).join(layout.separator)
        }}`;
    }
    case "char":
      return (context, value) => quoteJson(formatText(type, value, textOptions(context)));
    default:
      return (context, value) =>
        quoteJson(typeof value === "string" ? value : formatText(type, value, textOptions(context)));
  }
}

function isoText(type: SqlType, value: SqlValue, options: TextOptions): string {
  const text = formatText(type, value, { ...options, dateStyle: ISO_MDY });
  if (type.kind === "date") return text;
  const iso = text.replace(" ", "T");
  return type.kind === "timestamptz" ? iso.replace(/([+-]\d\d)( BC)?$/, "$1:00$2") : iso;
}

function arrayText(
  context: EvaluationContext,
  value: SqlArray,
  print: JsonPrinter,
  separator: string,
): string {
  if (value.dimensions.length === 0) return "[]";
  let position = 0;
  const write = (dimension: number): string => {
    const parts: string[] = [];
    const last = dimension === value.dimensions.length - 1;
    for (let index = 0; index < (value.dimensions[dimension] ?? 0); index++) {
      parts.push(last ? print(context, value.elements[position++] ?? null) : write(dimension + 1));
    }
    return `[${parts.join(dimension === 0 ? separator : ",")}]`;
  };
  return write(0);
}

/** Whether aggregates put each value of the type on a line of its own. */
export function isStructured(type: SqlType): boolean {
  return type.kind === "array" || type.kind === "record";
}
