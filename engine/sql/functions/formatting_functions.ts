/**
 * Functions with templates: to_char, to_number, to_date, to_timestamp.
 */
import {
  formatIntervalTemplate,
  formatTimestampTemplate,
  formatTimestampTzTemplate,
  parseDateTemplate,
  parseTimestampTemplate,
} from "../../types/format_date_time.ts";
import {
  formatFloatTemplate,
  formatIntegerTemplate,
  formatNumberTemplate,
} from "../../types/format_number.ts";
import { parseNumberTemplate } from "../../types/read_number.ts";
import { timeZone } from "../../types/time_zone.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const toText = { name: "to_char", returns: "text", summary: "As text by a template." } as const;
const ofTime = { category: "date/time" } as const;
const ofNumber = { category: "conversion" } as const;

const overloads: readonly Overload[] = [
  {
    ...toText,
    ...ofTime,
    takes: "timestamp, text",
    mayReturnNull: true,
    run: formatTimestampTemplate,
  },
  {
    ...toText,
    ...ofTime,
    takes: "timestamptz, text",
    volatility: "stable",
    mayReturnNull: true,
    runIn: (context, value: NumberOrBigint, template: string) =>
      formatTimestampTzTemplate(value, template, timeZone(context.timeZone)),
  },
  { ...toText, ...ofTime, takes: "interval, text", mayReturnNull: true, run: formatIntervalTemplate },
  { ...toText, ...ofNumber, takes: "numeric, text", run: formatNumberTemplate },
  ...["i32", "i64"].map((key): Overload => ({
    ...toText,
    ...ofNumber,
    takes: `${key}, text`,
    run: formatIntegerTemplate,
  })),
  ...([["f32", 6], ["f64", 15]] as const).map(([key, digits]): Overload => ({
    ...toText,
    ...ofNumber,
    takes: `${key}, text`,
    run: (value: number, template: string) => formatFloatTemplate(value, template, digits),
  })),
  {
    ...ofNumber,
    name: "to_number",
    takes: "text, text",
    returns: "numeric",
    summary: "A number from text by a template.",
    mayReturnNull: true,
    run: parseNumberTemplate,
  },
  {
    ...ofTime,
    name: "to_date",
    takes: "text, text",
    returns: "date",
    summary: "A date from text by a template.",
    run: parseDateTemplate,
  },
  {
    ...ofTime,
    name: "to_timestamp",
    takes: "text, text",
    returns: "timestamptz",
    volatility: "stable",
    summary: "An instant from text by a template.",
    runIn: (context, text: string, template: string) =>
      parseTimestampTemplate(text, template, timeZone(context.timeZone)),
  },
];

/** Functions with templates. */
export const formattingFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
