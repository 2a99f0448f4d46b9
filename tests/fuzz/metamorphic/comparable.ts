/**
 * Texts of rows that are equal when the rows are: numbers without trailing zeros, intervals by their length, one
 * zero.
 */
import type { SqlType } from "../../../engine/types/sql_type.ts";

const microsecondsOf = (text: string): string => {
  const [, sign, hours, minutes, seconds, fraction] = /(-?)\+?(\d+):(\d+):(\d+)(?:\.(\d+))?$/.exec(text) ??
    [];
  const unit = (name: string) =>
    BigInt(new RegExp(`([-+]?\\d+) ${name}`).exec(text)?.[1]?.replace("+", "") ?? 0);
  const days = unit("day") + 30n * (unit("mon") + 12n * unit("year"));
  const time = ((BigInt(hours ?? 0) * 60n + BigInt(minutes ?? 0)) * 60n + BigInt(seconds ?? 0)) * 1_000_000n +
    BigInt((fraction ?? "").padEnd(6, "0"));
  return `${days * 86_400_000_000n + (sign === "-" ? -time : time)}`;
};

/** Numbers by value: of NUMERIC, and inside of JSON and arrays. */
const numbersByValue = (text: string) =>
  text.replaceAll(/-?\d+(?:\.\d+)?/g, (number) => {
    const short = number.includes(".") ? number.replace(/\.?0+$/, "") : number;
    return short === "-0" ? "0" : short;
  });

function comparableValue(type: SqlType, value: string): string {
  switch (type.kind) {
    case "interval":
      return microsecondsOf(value);
    case "numeric":
    case "jsonb":
    case "array":
      return numbersByValue(value);
    case "f32":
    case "f64":
      return value === "-0" ? "0" : value;
    case "char":
      return value.trimEnd();
    default:
      return value;
  }
}

/** A row as one text. */
export function comparableRow(types: readonly SqlType[], row: readonly (string | null)[]): string {
  return types.map((type, index) => {
    const value = row[index] ?? null;
    return value === null ? "NULL" : `=${comparableValue(type, value)}`;
  }).join(" | ");
}
