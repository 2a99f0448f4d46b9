/**
 * Texts of dates, times and timestamps in PostgreSQL's output styles. Everything is calculated from day numbers and
 * microseconds without date objects; the ISO style has a path of its own, since nearly all output takes it.
 */
import {
  civilFromDays,
  dayOfMicroseconds,
  dayOfWeek,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  timeOfMicroseconds,
} from "./calendar.ts";
import { DAY_NAMES, MONTH_NAMES } from "./date_time_tokens.ts";
import { add } from "./number_or_bigint.ts";
import { numericOffset } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";

/** The order of day and month in dates of digits. */
export type DateOrder = "MDY" | "DMY" | "YMD";

/** How dates are printed and read. */
export interface DateStyle {
  /** The output style. */
  readonly format: "ISO" | "SQL" | "Postgres" | "German";
  /** How dates of digits are read, and in some styles printed. */
  readonly order: DateOrder;
}

/** PostgreSQL's default. */
export const ISO_MDY: DateStyle = { format: "ISO", order: "MDY" };

/** The style of a DateStyle setting such as `SQL, DMY`, keeping what it leaves out; undefined when it is none. */
export function parseDateStyle(text: string, current: DateStyle = ISO_MDY): DateStyle | undefined {
  let { format, order } = current;
  for (const word of text.toLowerCase().split(",").map((part) => part.trim())) {
    if (word === "iso") format = "ISO";
    else if (word === "sql") format = "SQL";
    else if (word === "postgres" || word === "postgresql") format = "Postgres";
    else if (word === "german") {
      format = "German";
      order = "DMY";
    } else if (word === "mdy" || word === "us" || word === "noneuro" || word === "noneuropean") order = "MDY";
    else if (word === "dmy" || word === "euro" || word === "european") order = "DMY";
    else if (word === "ymd") order = "YMD";
    else if (word === "default") ({ format, order } = ISO_MDY);
    else return undefined;
  }
  return { format, order };
}

/** The DateStyle setting's text: `ISO, MDY`. */
export function formatDateStyle(style: DateStyle): string {
  return `${style.format}, ${style.order}`;
}

const TWO: readonly string[] = Array.from(
  { length: 100 },
  (_, value) => value < 10 ? `0${value}` : `${value}`,
);

function pad4(value: number): string {
  return value >= 1000 ? `${value}` : value >= 100 ? `0${value}` : value >= 10 ? `00${value}` : `000${value}`;
}

/** The text of a date. */
export function formatDate(days: number, style: DateStyle = ISO_MDY): string {
  if (days === Infinity) return "infinity";
  if (days === -Infinity) return "-infinity";
  const { year, month, day } = civilFromDays(days);
  const era = year <= 0 ? " BC" : "";
  const yearText = pad4(year <= 0 ? 1 - year : year);
  const monthText = TWO[month] as string;
  const dayText = TWO[day] as string;
  switch (style.format) {
    case "ISO":
      return `${yearText}-${monthText}-${dayText}${era}`;
    case "German":
      return `${dayText}.${monthText}.${yearText}${era}`;
    case "SQL":
      return `${
        style.order === "DMY" ? `${dayText}/${monthText}` : `${monthText}/${dayText}`
      }/${yearText}${era}`;
    case "Postgres":
      if (style.order === "YMD") return `${yearText}-${monthText}-${dayText}${era}`;
      return `${
        style.order === "DMY" ? `${dayText}-${monthText}` : `${monthText}-${dayText}`
      }-${yearText}${era}`;
  }
}

/** The text of a time of day: `04:05:06.789`. */
export function formatTime(time: number): string {
  const hours = Math.floor(time / MICROSECONDS_PER_HOUR);
  let rest = time - hours * MICROSECONDS_PER_HOUR;
  const minutes = Math.floor(rest / MICROSECONDS_PER_MINUTE);
  rest -= minutes * MICROSECONDS_PER_MINUTE;
  const seconds = Math.floor(rest / MICROSECONDS_PER_SECOND);
  const text = `${TWO[hours] as string}:${TWO[minutes] as string}:${TWO[seconds] as string}`;
  const fraction = rest - seconds * MICROSECONDS_PER_SECOND;
  return fraction === 0 ? text : text + formatFraction(fraction);
}

/** `.5` to `.000001`: microseconds without zeros at the end. */
export function formatFraction(microseconds: number): string {
  let digits = String(microseconds);
  if (digits.length < 6) digits = "000000".slice(digits.length) + digits;
  let end = 6;
  while (digits.charCodeAt(end - 1) === 48) end--;
  return `.${end === 6 ? digits : digits.slice(0, end)}`;
}

/** The text of a timestamp without time zone. */
export function formatTimestamp(value: NumberOrBigint, style: DateStyle = ISO_MDY): string {
  if (value === Infinity) return "infinity";
  if (value === -Infinity) return "-infinity";
  return formatLocal(dayOfMicroseconds(value), timeOfMicroseconds(value), style, "");
}

/** The text of a timestamp with time zone, as seen in a zone. */
export function formatTimestampTz(value: NumberOrBigint, zone: TimeZone, style: DateStyle = ISO_MDY): string {
  if (value === Infinity) return "infinity";
  if (value === -Infinity) return "-infinity";
  const offset = zone.offsetAt(value);
  const local = offset === 0 ? value : add(value, offset * MICROSECONDS_PER_SECOND);
  const suffix = style.format === "ISO"
    ? offset === 0 ? "+00" : numericOffset(offset)
    : ` ${zone.abbreviationAt(value)}`;
  return formatLocal(dayOfMicroseconds(local), timeOfMicroseconds(local), style, suffix);
}

function formatLocal(days: number, time: number, style: DateStyle, zone: string): string {
  const { year, month, day } = civilFromDays(days);
  const clock = formatTime(time);
  const era = year <= 0 ? " BC" : "";
  const yearText = pad4(year <= 0 ? 1 - year : year);
  const monthText = TWO[month] as string;
  const dayText = TWO[day] as string;
  switch (style.format) {
    case "ISO":
      return `${yearText}-${monthText}-${dayText} ${clock}${zone}${era}`;
    case "German":
      return `${dayText}.${monthText}.${yearText} ${clock}${zone}${era}`;
    case "SQL": {
      const date = style.order === "DMY" ? `${dayText}/${monthText}` : `${monthText}/${dayText}`;
      return `${date}/${yearText} ${clock}${zone}${era}`;
    }
    case "Postgres": {
      const name = (MONTH_NAMES[month - 1] ?? "").slice(0, 3);
      const date = style.order === "DMY" ? `${dayText} ${name}` : `${name} ${dayText}`;
      return `${(DAY_NAMES[dayOfWeek(days)] ?? "").slice(0, 3)} ${date} ${clock} ${yearText}${zone}${era}`;
    }
  }
}
