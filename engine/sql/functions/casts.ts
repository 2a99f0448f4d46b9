/**
 * Conversions between types: which exist, where they happen by themselves, and how values are converted, including the
 * check or adaptation to length, precision and scale.
 *
 * `numeric` has two representations (scaled integers and `Decimal`); casts between them are ordinary casts here. A
 * cast to a scaled numeric without a precision (the type of an expression) only changes the scale. The explicit cast
 * to `varchar(n)` and `char(n)` cuts, the one by assignment raises 22001, as the SQL standard asks; an implicit one
 * (to the common type of an expression) does not look at the length.
 */
import { formatInternalChar, internalCharOf, parseInternalChar } from "../../types/internal_char.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { intervalRange, limitsTime, type SqlType } from "../../types/sql_type.ts";
import { trimTrailingSpaces, truncateName } from "../../types/text.ts";
import { formatText, padCharacters, parseText, type TextOptions } from "../../types/text_io.ts";
import { applyTypeModifier } from "../../types/type_modifier.ts";
import type { SqlValue } from "../../types/value.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import { ISO_MDY, parseDateStyle } from "../../types/date_time_format.ts";
import type { DateStyle } from "../../types/date_time_format.ts";
import type { IntervalStyle } from "../../types/interval_text.ts";
import { timeZone } from "../../types/time_zone.ts";
import { formatType, parseTypeText, typeByOid, typeOid } from "../../types/type_names.ts";
import type { BoundCast, CastContext, EvaluationContext, UseRuntime, Volatility } from "./definition.ts";
import { comparedDateTime, dateTimeConversion } from "./date_time_casts.ts";
import { numberConversion } from "./number_casts.ts";
import { castContextOf, categoryOf, longestCharacterLength, typeKey } from "./type_family.ts";
export { commonType, withoutLimits } from "./common_type.ts";

/** One step of a cast. No `run` and no `runIn`: the value stays as it is. */
export interface Conversion {
  // deno-lint-ignore no-explicit-any -- the form of the argument follows from the type cast from
  readonly run?: (value: any) => SqlValue;
  // deno-lint-ignore no-explicit-any -- as above
  readonly runIn?: (context: EvaluationContext, value: any) => SqlValue;
  readonly inline?: (argument: string, use: UseRuntime) => string;
  readonly volatility?: Volatility;
  readonly mayReturnNull?: boolean;
}

/** The conversion that changes nothing. */
export const identity: Conversion = {};

const contextRank: Record<CastContext, number> = { implicit: 0, assignment: 1, explicit: 2 };

/** The settings that text forms depend on. */
export function textOptions(context: EvaluationContext): TextOptions {
  return {
    now: context.transactionTimestamp,
    timeZone: timeZone(context.timeZone),
    dateStyle: dateStyleOf(context.dateStyle),
    intervalStyle: intervalStyleOf(context.intervalStyle),
    byteaOutput: context.byteaOutput === "escape" ? "escape" : "hex",
    lookupObject: (kind, name) => Number(objectNumber(context, kind, name)),
    objectName: (kind, oid) => objectText(context, kind, oid),
  };
}

/** The object identifier of a name; types are known here, everything else the catalog knows. */
function objectNumber(context: EvaluationContext, kind: string, name: string): SqlValue {
  const type = kind === "regtype" ? parseTypeText(name) : undefined;
  return type === undefined ? context.services.catalogFunction(`${kind}in`, [name]) : typeOid(type);
}

/** The name of an object identifier. */
function objectText(context: EvaluationContext, kind: string, oid: number): string {
  const type = kind === "regtype" ? typeByOid(oid) : undefined;
  return type === undefined
    ? String(context.services.catalogFunction(`${kind}out`, [oid]))
    : formatType(type);
}

const dateStyles = new Map<string, DateStyle>();

/** The style of a setting's text, remembered; sessions use few different ones. */
function dateStyleOf(setting: string): DateStyle {
  const known = dateStyles.get(setting);
  if (known !== undefined) return known;
  const style = parseDateStyle(setting) ?? ISO_MDY;
  if (dateStyles.size < 100) dateStyles.set(setting, style);
  return style;
}

function intervalStyleOf(setting: string): IntervalStyle {
  switch (setting) {
    case "postgres_verbose":
    case "sql_standard":
    case "iso_8601":
      return setting;
    default:
      return "postgres";
  }
}

/**
 * The cast from one type to another, or undefined when there is none that is allowed in the place it is `requested`
 * for. The result's `context` is the least place in which it is allowed. Untyped literals convert to every type,
 * by their text.
 */
export function findCast(
  from: SqlType,
  to: SqlType,
  requested: CastContext = "explicit",
): BoundCast | undefined {
  const context = castContextOf(typeKey(from), typeKey(to));
  if (context === undefined || contextRank[context] > contextRank[requested]) return undefined;
  const conversion = findConversion(from, to, requested);
  return conversion === undefined ? undefined : bindConversion({ from, to, context, requested }, conversion);
}

/** The cast of an operand of a comparison, which keeps the order of values that the target type does not have. */
export function comparedCast(cast: BoundCast): BoundCast {
  const conversion = comparedDateTime(cast.from, cast.to);
  if (conversion === undefined) return cast;
  return { ...bindConversion(cast, conversion), isCompared: true };
}

function bindConversion(
  { from, to, context, requested }: Pick<BoundCast, "from" | "to" | "context" | "requested">,
  conversion: Conversion,
): BoundCast {
  const { run, runIn, inline } = conversion;
  const common = {
    from,
    to,
    context,
    requested,
    volatility: conversion.volatility ?? "immutable",
    mayReturnNull: conversion.mayReturnNull ?? false,
    identity: run === undefined && runIn === undefined,
  };
  if (run !== undefined) {
    return {
      ...common,
      evaluate: (_context, value) => value === null ? null : run(value),
      inline: inline ?? ((argument, use) => `${use("cast", run)}(${argument})`),
    };
  }
  if (runIn !== undefined) {
    return {
      ...common,
      evaluate: (evaluation, value) => value === null ? null : runIn(evaluation, value),
      inline: inline ?? ((argument, use) => `${use("cast", runIn)}(context, ${argument})`),
    };
  }
  return { ...common, evaluate: (_context, value) => value, inline: (argument) => argument };
}

function findConversion(from: SqlType, to: SqlType, place: CastContext): Conversion | undefined {
  if (JSON.stringify(from) === JSON.stringify(to) && from.kind !== "numeric") return identity;
  if (from.kind === "internal_char" && to.kind === "i32") {
    return { run: (value: string) => (value.codePointAt(0) ?? 0) << 24 >> 24 };
  }
  if (from.kind === "i32" && to.kind === "internal_char") return { run: characterOfByte };
  const number = numberConversion(from, to);
  if (number !== undefined) return number;
  const time = dateTimeConversion(from, to);
  if (time !== undefined) return withPrecision(time, to, place);
  if (from.kind === "unknown" || (isTextual(from) && !isTextual(to))) {
    const conversion = conversionFromText(from, to, place);
    return from.kind === "char" && conversion !== undefined
      ? withPadding(from.length, conversion)
      : conversion;
  }
  if (from.kind === "char" && to.kind === "internal_char") {
    return withPadding(from.length, { run: (value: string) => parseInternalChar(value) });
  }
  if (isTextual(to)) return conversionToText(from, to, place);
  if (from.kind === "array" && to.kind === "array") {
    return arrayConversion(from.element, to.element, place);
  }
  if (from.kind === "json" && to.kind === "jsonb") {
    return { runIn: (context, value: string) => parseText(to, value, textOptions(context)) };
  }
  if (from.kind === "jsonb" && to.kind === "json") return identity;
  if (from.kind === "jsonb") return conversionFromJsonb(to);
  if ((from.kind === "bytea" || from.kind === "bytes") && to.kind === "bytes") {
    return modifierOnly(to, place);
  }
  if (from.kind === "bytes" && to.kind === "bytea") return identity;
  if (from.kind === to.kind && from.kind !== "record") {
    return limitsTime(to) ? modifierOnly(to, place) : identity;
  }
  if (from.kind === "record" && to.kind === "record") return recordConversion(from, to, place);
  return undefined;
}

/** A conversion from a `char(n)`, which sees the padding. */
function withPadding(length: number, conversion: Conversion): Conversion {
  const { run, runIn } = conversion;
  if (length === longestCharacterLength) return conversion;
  const padded = (value: string) => padCharacters(value, length);
  return {
    ...(conversion.volatility === undefined ? {} : { volatility: conversion.volatility }),
    ...(run === undefined ? {} : { run: (value: string) => run(padded(value)) }),
    ...(runIn === undefined ? {} : { runIn: (context, value: string) => runIn(context, padded(value)) }),
  };
}

/** The `"char"` of a signed byte; 0 is the empty one. */
function characterOfByte(value: number): string {
  if (value < -128 || value > 127) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, '"char" out of range');
  }
  return internalCharOf(value & 255);
}

/** The conversion followed by rounding to the digits of the seconds that the target keeps. */
function withPrecision(conversion: Conversion, to: SqlType, place: CastContext): Conversion {
  if (!limitsTime(to)) return conversion;
  const { run, runIn } = conversion;
  const common = {
    ...(conversion.volatility === undefined ? {} : { volatility: conversion.volatility }),
    ...(conversion.mayReturnNull === undefined ? {} : { mayReturnNull: conversion.mayReturnNull }),
  };
  if (run !== undefined) {
    return {
      ...common,
      run: (value) => applyTypeModifier(to, run(value), place === "explicit"),
    };
  }
  if (runIn === undefined) return modifierOnly(to, place);
  return {
    ...common,
    runIn: (context, value) => applyTypeModifier(to, runIn(context, value), place === "explicit"),
  };
}

function isTextual(type: SqlType): boolean {
  return categoryOf(type.kind) === "S" || type.kind === "internal_char";
}

/** Whether a text kind limits its values: `text` and `varchar` without length do not. */
function limitsText(type: SqlType): boolean {
  return type.kind === "char" || type.kind === "name" || type.kind === "internal_char" ||
    (type.kind === "varchar" && type.length !== undefined);
}

function modifierOnly(to: SqlType, place: CastContext): Conversion {
  return { run: (value: SqlValue) => applyTypeModifier(to, value, place === "explicit") };
}

/** Cuts a text to what `to` holds or raises 22001; text kinds without a limit take any text. */
function limitText(to: SqlType, text: string, place: CastContext): SqlValue {
  switch (to.kind) {
    case "name":
      return truncateName(text);
    case "internal_char":
      return parseInternalChar(text);
    case "char":
    case "varchar":
      if (place === "implicit") return to.kind === "char" ? trimTrailingSpaces(text) : text;
      return applyTypeModifier(to, text, place === "explicit");
    default:
      return text;
  }
}

function conversionToText(from: SqlType, to: SqlType, place: CastContext): Conversion {
  if (from.kind === "internal_char" && to.kind !== "internal_char") {
    return { run: (value: string) => limitText(to, formatInternalChar(value), place) };
  }
  if (isTextual(from)) {
    if (!limitsText(to)) return identity;
    if (from.kind === "varchar" && to.kind === "varchar" && fitsLength(from.length, to.length)) {
      return identity;
    }
    if (from.kind === "char" && to.kind === "char" && fitsLength(from.length, to.length)) return identity;
    return { run: (value: string) => limitText(to, value, place) };
  }
  switch (from.kind) {
    case "bool":
      return {
        // PostgreSQL casts to name by the type's own text form.
        run: (value: boolean) =>
          to.kind === "name" ? (value ? "t" : "f") : limitText(to, value ? "true" : "false", place),
        ...(limitsText(to) ? {} : { inline: (argument: string) => `(${argument} ? "true" : "false")` }),
      };
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
      return {
        run: (value: number | bigint) => limitText(to, String(value), place),
        ...(limitsText(to) ? {} : { inline: (argument: string) => `String(${argument})` }),
      };
    case "uuid":
    case "json":
    case "jsonb":
    case "jsonpath":
      return limitsText(to) ? { run: (value: string) => limitText(to, value, place) } : identity;
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return {
        runIn: (context, value: number) => {
          return limitText(to, objectText(context, from.kind, value), place);
        },
        volatility: "stable",
      };
    default:
      return {
        runIn: (context, value: SqlValue) =>
          limitText(to, formatText(from, value, textOptions(context)), place),
        // The label of an enumerated value may be renamed.
        volatility: from.kind === "enum" || dependsOnSettings(from) ? "stable" : "immutable",
      };
  }
}

function fitsLength(from: number | undefined, to: number | undefined): boolean {
  return to === undefined || (from !== undefined && from <= to);
}

/** Whether the text form depends on DateStyle, IntervalStyle, TimeZone, bytea_output or the clock. */
function dependsOnSettings(type: SqlType): boolean {
  switch (type.kind) {
    case "date":
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
    case "bytea":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return true;
    case "array":
      return dependsOnSettings(type.element);
    case "record":
      return type.fields.some((field) => dependsOnSettings(field.type));
    default:
      return false;
  }
}

function conversionFromText(from: SqlType, to: SqlType, place: CastContext): Conversion | undefined {
  if (isTextual(to)) {
    return limitsText(to) ? { run: (value: string) => limitText(to, value, place) } : identity;
  }
  // Only in a literal do an interval's fields say what a number without unit means.
  if (from.kind !== "unknown" && to.kind === "interval" && intervalRange(to) !== undefined) {
    return {
      runIn: (context, value: string) =>
        applyTypeModifier(to, parseText({ kind: "interval" }, value, textOptions(context)), true),
      volatility: "stable",
    };
  }
  switch (to.kind) {
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return {
        runIn: (context, value: string) => objectNumber(context, to.kind, value),
        volatility: "stable",
      };
    case "record":
      // A record has no text input: PostgreSQL raises 0A000.
      return from.kind === "unknown" ? undefined : {
        run: () => {
          throw new DatabaseError(
            SQLSTATE.featureNotSupported,
            "input of anonymous composite types is not implemented",
          );
        },
      };
    default:
      return {
        runIn: (context, value: string) => parseText(to, value, textOptions(context)),
        volatility: to.kind !== "bytea" && dependsOnSettings(to) ? "stable" : "immutable",
      };
  }
}

function arrayConversion(from: SqlType, to: SqlType, place: CastContext): Conversion | undefined {
  const element = findConversion(from, to, place);
  if (element === undefined) return undefined;
  const { run, runIn } = element;
  const common = {
    ...(element.volatility === undefined ? {} : { volatility: element.volatility }),
  };
  if (run !== undefined) {
    return { ...common, run: (value: SqlArray) => value.map((item) => item === null ? null : run(item)) };
  }
  if (runIn !== undefined) {
    return {
      ...common,
      runIn: (context, value: SqlArray) => value.map((item) => item === null ? null : runIn(context, item)),
    };
  }
  return identity;
}

function recordConversion(
  from: SqlType & { readonly kind: "record" },
  to: SqlType & { readonly kind: "record" },
  place: CastContext,
): Conversion | undefined {
  if (to.fields.length === 0) return identity;
  if (from.fields.length !== to.fields.length) return undefined;
  const parts: BoundCast[] = [];
  for (const [index, field] of from.fields.entries()) {
    const target = to.fields[index]?.type;
    const cast = target === undefined
      ? undefined
      : findCast(field.type, target, place === "explicit" ? "explicit" : "assignment");
    if (cast === undefined) return undefined;
    parts.push(cast);
  }
  return {
    runIn: (context, value: { readonly recordValues: readonly SqlValue[] }) => ({
      recordValues: value.recordValues.map((item, index) => parts[index]?.evaluate(context, item) ?? null),
    }),
  };
}

/** `jsonb` to a boolean or number: 22023 when the document is something else, NULL never (JSON null is an error). */
function conversionFromJsonb(to: SqlType): Conversion | undefined {
  const wanted = to.kind === "bool" ? "boolean" : "numeric";
  return {
    runIn: (context, value: string) => {
      const found = scalarKind(value);
      if (found !== wanted) {
        throw new DatabaseError(
          SQLSTATE.invalidParameterValue,
          `cannot cast jsonb ${found} to type ${to.kind === "bool" ? "boolean" : typeNameOf(to)}`,
        );
      }
      if (to.kind === "bool") return value === "true";
      const cast = findCast({ kind: "numeric" }, to);
      const numeric = parseText({ kind: "numeric" }, value, textOptions(context));
      return cast === undefined ? numeric : cast.evaluate(context, numeric);
    },
  };
}

function typeNameOf(type: SqlType): string {
  switch (type.kind) {
    case "i16":
      return "smallint";
    case "i32":
      return "integer";
    case "i64":
      return "bigint";
    case "f32":
      return "real";
    case "f64":
      return "double precision";
    default:
      return type.kind;
  }
}

/** What a canonical JSON text holds, by its first character. */
function scalarKind(json: string): string {
  switch (json[0]) {
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    case '"':
      return "string";
    case "[":
      return "array";
    case "{":
      return "object";
    default:
      return "numeric";
  }
}
