/**
 * The words of dates, times and intervals: splitting a text into fields, and what the keywords mean.
 *
 * The splitting follows PostgreSQL's: a field is a run of digits with what may be between digits, a word, or a sign
 * with what follows it; which kind a field has decides how the decoders in `date_time_parse.ts` and
 * `interval_text.ts` read it. All fields are in lower case.
 */

/** What a field looks like. */
export type FieldKind = "number" | "word" | "date" | "time" | "zone" | "special";

/** A field of a date, time or interval. */
export interface Field {
  /** What it looks like. */
  readonly kind: FieldKind;
  /** Its characters in lower case. */
  readonly text: string;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122 && code < 128) || code >= 128;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

const MAX_FIELDS = 25;
const DATE_SEPARATORS = new Set(["-", "/", "."]);

/** Splits a text into fields, or undefined when it cannot be a date, time or interval. */
export function splitFields(source: string): Field[] | undefined {
  const text = source.toLowerCase();
  const fields: Field[] = [];
  const length = text.length;
  let position = 0;
  const skip = (accepts: (code: number, character: string) => boolean): void => {
    while (position < length && accepts(text.charCodeAt(position), text[position] ?? "")) position++;
  };
  while (position < length) {
    const code = text.charCodeAt(position);
    if (isSpace(code)) {
      position++;
      continue;
    }
    const start = position;
    let kind: FieldKind;
    if (isDigit(code)) {
      skip(isDigit);
      const delimiter = text[position] ?? "";
      if (delimiter === ":") {
        kind = "time";
        skip((next, character) => isDigit(next) || character === ":" || character === ".");
      } else if (DATE_SEPARATORS.has(delimiter)) {
        position++;
        if (isDigit(text.charCodeAt(position))) {
          kind = delimiter === "." ? "number" : "date";
          skip(isDigit);
          if (text[position] === delimiter) {
            kind = "date";
            skip((next, character) => isDigit(next) || character === delimiter);
          }
        } else {
          kind = delimiter === "." && !isLetter(text.charCodeAt(position)) ? "number" : "date";
          skip((next, character) => isDigit(next) || isLetter(next) || character === delimiter);
        }
      } else kind = "number";
    } else if (code === 46) {
      position++;
      skip(isDigit);
      kind = "number";
    } else if (isLetter(code)) {
      kind = "word";
      skip(isLetter);
      const next = text[position] ?? "";
      const joined = DATE_SEPARATORS.has(next) ||
        ((next === "+" || isDigit(text.charCodeAt(position))) && !KEYWORDS.has(text.slice(start, position)));
      if (joined) {
        kind = "date";
        skip((inner, character) => isDigit(inner) || isLetter(inner) || "+-/_.:".includes(character));
      }
    } else if (code === 43 || code === 45) {
      position++;
      const sign = text[start] ?? "";
      skip(isSpace);
      const rest = position;
      if (isDigit(text.charCodeAt(position))) {
        kind = "zone";
        skip((next, character) =>
          isDigit(next) || character === ":" || character === "." || character === "-"
        );
      } else if (text[position] === ".") {
        kind = "zone";
        skip((next, character) => isDigit(next) || character === ".");
      } else if (isLetter(text.charCodeAt(position))) {
        kind = "special";
        skip(isLetter);
      } else return undefined;
      if (fields.length >= MAX_FIELDS) return undefined;
      fields.push({ kind, text: sign + text.slice(rest, position) });
      continue;
    } else if (code > 32 && code < 127) {
      position++;
      continue;
    } else return undefined;
    if (fields.length >= MAX_FIELDS) return undefined;
    fields.push({ kind, text: text.slice(start, position) });
  }
  return fields;
}

/** What a word in a date or time means. */
export type Keyword =
  | { readonly kind: "month"; readonly month: number }
  | { readonly kind: "meridiem"; readonly afternoon: boolean }
  | { readonly kind: "era"; readonly beforeChrist: boolean }
  | { readonly kind: "reserved"; readonly name: ReservedName }
  | { readonly kind: "unit"; readonly name: "julian" | "year" | "month" | "day" | "hour" | "second" }
  | { readonly kind: "isoTime" }
  | { readonly kind: "daylight" }
  | { readonly kind: "weekday" }
  | { readonly kind: "ignored" };

/** The inputs that stand for a whole date or time. */
export type ReservedName =
  | "now"
  | "today"
  | "tomorrow"
  | "yesterday"
  | "epoch"
  | "infinity"
  | "-infinity"
  | "allballs";

/** The full English names of the months. */
export const MONTH_NAMES: readonly string[] = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The full English names of the days of the week, from Sunday. */
export const DAY_NAMES: readonly string[] = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
];

const KEYWORDS: ReadonlyMap<string, Keyword> = (() => {
  const words = new Map<string, Keyword>();
  MONTH_NAMES.forEach((name, index) => {
    const lower = name.toLowerCase();
    words.set(lower, { kind: "month", month: index + 1 });
    words.set(lower.slice(0, 3), { kind: "month", month: index + 1 });
  });
  words.set("sept", { kind: "month", month: 9 });
  const weekdays =
    "sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday";
  for (const word of weekdays.split(" ")) words.set(word, { kind: "weekday" });
  for (const word of ["at", "on"]) words.set(word, { kind: "ignored" });
  words.set("am", { kind: "meridiem", afternoon: false });
  words.set("pm", { kind: "meridiem", afternoon: true });
  words.set("ad", { kind: "era", beforeChrist: false });
  words.set("bc", { kind: "era", beforeChrist: true });
  const reserved: readonly ReservedName[] = [
    "now",
    "today",
    "tomorrow",
    "yesterday",
    "epoch",
    "infinity",
    "-infinity",
    "allballs",
  ];
  for (const name of reserved) words.set(name, { kind: "reserved", name });
  for (const word of ["j", "jd", "julian"]) words.set(word, { kind: "unit", name: "julian" });
  words.set("y", { kind: "unit", name: "year" });
  words.set("m", { kind: "unit", name: "month" });
  words.set("mm", { kind: "unit", name: "month" });
  words.set("d", { kind: "unit", name: "day" });
  words.set("h", { kind: "unit", name: "hour" });
  words.set("s", { kind: "unit", name: "second" });
  words.set("t", { kind: "isoTime" });
  words.set("dst", { kind: "daylight" });
  return words;
})();

/** The meaning of a word in lower case, or undefined when it has none. */
export function dateTimeKeyword(word: string): Keyword | undefined {
  return KEYWORDS.get(word);
}

/** The parts of an interval. */
export type IntervalUnit =
  | "microsecond"
  | "millisecond"
  | "second"
  | "minute"
  | "hour"
  | "day"
  | "week"
  | "month"
  | "quarter"
  | "year"
  | "decade"
  | "century"
  | "millennium";

const UNIT_WORDS: Readonly<Record<IntervalUnit, string>> = {
  microsecond: "us usec usecs usecond useconds microsecon microsecond microseconds",
  millisecond: "ms msec msecs msecond mseconds millisecon millisecond milliseconds",
  second: "s sec secs second seconds",
  minute: "m min mins minute minutes",
  hour: "h hr hrs hour hours",
  day: "d day days",
  week: "w week weeks",
  month: "mon mons month months",
  quarter: "qtr quarter",
  year: "y yr yrs year years",
  decade: "dec decs decade decades",
  century: "c cent century centuries",
  millennium: "mil mils millennia millennium",
};

const UNITS: ReadonlyMap<string, IntervalUnit> = new Map(
  (Object.keys(UNIT_WORDS) as IntervalUnit[]).flatMap((unit) =>
    UNIT_WORDS[unit].split(" ").map((word) => [word, unit] as const)
  ),
);

/** The unit of a word in lower case, or undefined. */
export function intervalUnit(word: string): IntervalUnit | undefined {
  return UNITS.get(word);
}
