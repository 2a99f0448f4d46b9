/**
 * Values of settings: from the text that a client writes to the one that SHOW prints, with PostgreSQL's checks of
 * types, units and ranges; and the values that PostgreSQL takes and this server cannot keep, which are refused.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { roundHalfEven } from "../types/number_or_bigint.ts";
import { truthOf } from "../types/scalar_text.ts";
import type { SettingDefinition } from "./setting_table.ts";

/** Sizes of units, from the largest: of memory in bytes, of time in microseconds. */
const MEMORY = [["TB", 2 ** 40], ["GB", 2 ** 30], ["MB", 2 ** 20], ["kB", 2 ** 10], ["B", 1]] as const;
const TIME = [
  ["d", 86_400_000_000],
  ["h", 3_600_000_000],
  ["min", 60_000_000],
  ["s", 1_000_000],
  ["ms", 1000],
  ["us", 1],
] as const;
const BLOCK = 8192;

/** The form in which SHOW prints a value. Raises 22023 for one that the setting does not take. */
export function checkedValue(definition: SettingDefinition, text: string): string {
  const value = normalized(definition, text);
  const reason = REFUSED[definition.name]?.(value);
  if (reason !== undefined) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `parameter "${definition.name}" cannot be set to "${value}"`,
      { hint: reason },
    );
  }
  return value;
}

function normalized(definition: SettingDefinition, text: string): string {
  switch (definition.type) {
    case "bool": {
      const truth = truthOf(text);
      if (truth === undefined) {
        throw new DatabaseError(
          SQLSTATE.invalidParameterValue,
          `parameter "${definition.name}" requires a Boolean value`,
        );
      }
      return truth ? "on" : "off";
    }
    case "integer":
    case "real":
      return shownNumber(definition, numberOf(definition, text));
    case "enum":
      return choiceOf(definition, text);
    case "string": {
      const check = TEXT_CHECKS[definition.name];
      if (check !== undefined && !check.accepts(text)) {
        const detail = check.detail?.(text);
        throw invalidSetting(definition.name, text, detail === undefined ? {} : { detail });
      }
      return text;
    }
  }
}

/** The error about a value that a setting does not take. */
export function invalidSetting(
  name: string,
  value: string,
  fields: { readonly detail?: string; readonly hint?: string } = {},
): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidParameterValue,
    `invalid value for parameter "${name}": "${value}"`,
    fields,
  );
}

/** A value in the base unit of its setting, as pg_settings shows it. */
export function baseValue(definition: SettingDefinition, shown: string): string {
  if (shown === "" || (definition.type !== "integer" && definition.type !== "real")) return shown;
  return formatNumber(definition, numberOf(definition, shown));
}

/** A number with unit, in the base unit of its setting. */
export function numberOf(definition: SettingDefinition, text: string): number {
  const invalid = (hint?: string): DatabaseError =>
    invalidSetting(definition.name, text, hint === undefined ? {} : { hint });
  const match = /^\s*([+-]?(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))\s*(.*?)\s*$/is.exec(text);
  if (match === null) throw invalid();
  const [, digits = "", unit = ""] = match;
  let value = /^[+-]?0[0-7]+$/.test(digits) && definition.type === "integer"
    ? (digits.startsWith("-") ? -1 : 1) * parseInt(digits.replace(/^[+-]/, ""), 8)
    : /^[+-]?0x/i.test(digits)
    ? (digits.startsWith("-") ? -1 : 1) * Number(digits.replace(/^[+-]/, ""))
    : Number(digits);
  if (unit !== "") {
    if (definition.unit === "") throw invalid();
    const units = unitsOf(definition);
    const index = units.findIndex(([name]) => name === unit);
    const found = units[index];
    if (found === undefined) throw invalid(unitHint(definition));
    value *= found[1];
    // A fraction is kept to the next smaller unit.
    const smaller = units[index + 1];
    if (smaller !== undefined) value = roundHalfEven(value / smaller[1]) * smaller[1];
    value /= baseSize(definition);
  }
  if (definition.type === "integer") {
    value = roundHalfEven(value);
    if (value > 2147483647 || value < -2147483648) throw invalid("Value exceeds integer range.");
  }
  if (!(value >= definition.minimum && value <= definition.maximum)) {
    const shown = [formatNumber(definition, value), definition.unit].filter((each) => each !== "").join(" ");
    const [low, high] = [definition.minimum, definition.maximum].map((end) => formatNumber(definition, end));
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `${shown} is outside the valid range for parameter "${definition.name}" (${low} .. ${high})`,
    );
  }
  return value === 0 ? 0 : value;
}

/** A number as pg_settings shows it: integers in full, others with six digits. */
export function formatNumber(definition: SettingDefinition, value: number): string {
  if (definition.type === "integer") return String(value);
  const [mantissa = "0", exponent = "0"] = value.toExponential(5).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  const sign = power < 0 ? "-" : "+";
  return `${Number(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** In the largest unit of which it is a whole multiple; what is not positive has no unit. */
function shownNumber(definition: SettingDefinition, value: number): string {
  if (definition.unit === "" || value <= 0) return formatNumber(definition, value);
  const units = unitsOf(definition);
  const size = value * baseSize(definition);
  const isWhole = ([, each]: readonly [string, number]): boolean => {
    const count = size / each;
    return count > 0 && Math.abs(Math.round(count) / count - 1) <= 1e-8;
  };
  const unit = units.find(isWhole) ?? units.at(-1);
  return unit === undefined
    ? formatNumber(definition, value)
    : `${formatNumber(definition, Number((size / unit[1]).toPrecision(15)))}${unit[0]}`;
}

function isTime(definition: SettingDefinition): boolean {
  return TIME.some(([name]) => name === definition.unit);
}

function unitsOf(definition: SettingDefinition): readonly (readonly [string, number])[] {
  return isTime(definition) ? TIME : MEMORY;
}

/** How many bytes (or microseconds) a setting's own unit is. */
export function baseSize(definition: SettingDefinition): number {
  if (definition.unit === "8kB") return BLOCK;
  return unitsOf(definition).find(([name]) => name === definition.unit)?.[1] ?? 1;
}

function unitHint(definition: SettingDefinition): string {
  return isTime(definition)
    ? 'Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".'
    : 'Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".';
}

/** Spellings that enumerations take and do not list. */
const SYNONYMS: Readonly<Record<string, string>> = {
  true: "on",
  yes: "on",
  1: "on",
  false: "off",
  no: "off",
  0: "off",
  debug: "debug2",
};

function choiceOf(definition: SettingDefinition, text: string): string {
  const wanted = text.toLowerCase();
  const { choices } = definition;
  const found = choices.find((each) => each === wanted) ??
    choices.find((each) => each === SYNONYMS[wanted] && (each !== "on" || choices.includes("off")));
  if (found !== undefined) return found;
  if (definition.name === "client_min_messages" && wanted === "info") return wanted;
  throw invalidSetting(definition.name.toLowerCase(), text, {
    hint: `Available values: ${choices.join(", ")}.`,
  });
}

interface TextCheck {
  accepts(value: string): boolean;
  detail?(value: string): string;
}

const LOCALE: TextCheck = { accepts: (value) => /^(|C|POSIX|C\.UTF-?8|en_[A-Z]{2}(\..*)?)$/i.test(value) };
const UNIT_LOCALE: TextCheck = { accepts: (value) => /^(|C|POSIX|C\.UTF-?8)$/i.test(value) };
const NONE: TextCheck = { accepts: (value) => value.trim() === "" || value === '""' };
const SEARCH_CONFIGURATIONS =
  ("arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish " +
    "italian lithuanian nepali norwegian portuguese romanian russian serbian simple spanish swedish tamil turkish yiddish")
    .split(" ");

/** What texts of settings without effect may be. */
const TEXT_CHECKS: Readonly<Record<string, TextCheck>> = {
  default_table_access_method: {
    accepts: (value) => value === "heap",
    detail: (value) =>
      value === ""
        ? "default_table_access_method cannot be empty."
        : `Table access method "${value}" does not exist.`,
  },
  default_tablespace: {
    accepts: (value) => value === "" || value === "pg_default",
    detail: (value) => `Tablespace "${value}" does not exist.`,
  },
  default_text_search_config: {
    accepts: (value) => SEARCH_CONFIGURATIONS.includes(value.replace(/^pg_catalog\./, "")),
  },
  lc_messages: LOCALE,
  min_op: {
    accepts: (value) => /^\d{1,15}$/.test(value),
    detail: () => "It is the number of an op, as seen_op has it; 0 for none.",
  },
  lc_monetary: UNIT_LOCALE,
  lc_numeric: LOCALE,
  lc_time: LOCALE,
  local_preload_libraries: NONE,
  session_preload_libraries: NONE,
  temp_tablespaces: { accepts: (value) => NONE.accepts(value) || value === "pg_default" },
  timezone_abbreviations: { accepts: (value) => value === "Default" },
  wal_consistency_checking: {
    ...NONE,
    detail: (value) => `Unrecognized key word: "${value}".`,
  },
};

/** Why a value that PostgreSQL takes is refused, by setting: it would have to change answers, and does not. */
const REFUSED: Readonly<Record<string, (value: string) => string | undefined>> = {
  array_nulls: (value) => only(value, "on", "NULL without quotes in the text of an array is always null."),
  backslash_quote: (value) =>
    value === "off" ? "A quote may always be written as \\' in E'' strings." : undefined,
  exit_on_error: (value) => only(value, "off", "An error ends the transaction, and not the session."),
  extra_float_digits: (value) =>
    Number(value) < 1 ? "Floats are always printed in their shortest exact form." : undefined,
  ignore_checksum_failure: (value) => only(value, "off", "Damaged blocks are never served."),
  password_encryption: (value) => only(value, "scram-sha-256", "Only SCRAM is served."),
  quote_all_identifiers: (value) => only(value, "off", "Identifiers are quoted where they have to be."),
  standard_conforming_strings: (value) =>
    only(value, "on", "Backslashes are ordinary characters; write E'' for escapes."),
  transform_null_equals: (value) => only(value, "off", "Write IS NULL."),
  zero_damaged_pages: (value) => only(value, "off", "Damaged blocks are never served."),
};

/** What a client should know of a value that is accepted without the effect that it has in PostgreSQL. */
export function missingEffect(name: string, value: string | undefined): string | undefined {
  return name === "session_replication_role" && value === "replica"
    ? "foreign keys stay enforced: load parents first, or declare the keys DEFERRABLE"
    : undefined;
}

function only(value: string, kept: string, reason: string): string | undefined {
  return value === kept ? undefined : reason;
}
