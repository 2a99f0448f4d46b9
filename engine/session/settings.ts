/**
 * Session settings (PostgreSQL's run-time parameters): SET, SHOW, RESET, `current_setting`, and the values that a
 * driver is told at connect and on change.
 *
 * Settings that change how statements run are read from here; the others that PostgreSQL clients set are accepted
 * where accepting them changes nothing they could notice, and refused by name where it would.
 */
import { closest } from "../base/suggest.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** How a setting's text is checked and normalised. */
type SettingKind = "text" | "boolean" | "integer" | "milliseconds" | "kilobytes" | "choice" | "read only";

/** One known setting. */
interface SettingDefinition {
  readonly kind: SettingKind;
  readonly initial: string;
  readonly choices?: readonly string[];
  /** Told to the client at connect and on each change. */
  readonly reported?: boolean;
  readonly description: string;
}

/** PostgreSQL version that drivers see; the product's own stands behind it. */
export const SERVER_VERSION = "15.8";

const DEFINITIONS: Readonly<Record<string, SettingDefinition>> = {
  application_name: {
    kind: "text",
    initial: "",
    reported: true,
    description: "Name that the client gives itself.",
  },
  bytea_output: {
    kind: "choice",
    initial: "hex",
    choices: ["hex", "escape"],
    description: "Output form of bytea.",
  },
  check_function_bodies: { kind: "boolean", initial: "on", description: "Accepted for dump files." },
  client_encoding: {
    kind: "choice",
    initial: "UTF8",
    choices: ["UTF8", "UTF-8", "UNICODE"],
    reported: true,
    description: "Always UTF8.",
  },
  client_min_messages: {
    kind: "choice",
    initial: "notice",
    choices: ["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"],
    description: "Which notices are sent.",
  },
  cursor_tuple_fraction: { kind: "text", initial: "0.1", description: "Accepted, without effect." },
  datestyle: { kind: "text", initial: "ISO, MDY", reported: true, description: "Form of dates." },
  default_tablespace: { kind: "choice", initial: "", choices: [""], description: "Only the empty name." },
  default_table_access_method: {
    kind: "choice",
    initial: "heap",
    choices: ["heap"],
    description: "Accepted for dump files.",
  },
  default_text_search_config: {
    kind: "text",
    initial: "pg_catalog.simple",
    description: "Accepted, without effect.",
  },
  default_toast_compression: { kind: "text", initial: "pglz", description: "Accepted, without effect." },
  default_transaction_deferrable: {
    kind: "boolean",
    initial: "off",
    description: "Accepted; every snapshot is safe.",
  },
  default_transaction_isolation: {
    kind: "choice",
    initial: "serializable",
    choices: ["serializable", "repeatable read", "read committed", "read uncommitted"],
    description: "Every level is served as serializable.",
  },
  default_transaction_read_only: {
    kind: "boolean",
    initial: "off",
    reported: true,
    description: "New transactions refuse writes.",
  },
  enable_seqscan: { kind: "boolean", initial: "on", description: "Accepted, without effect." },
  escape_string_warning: { kind: "boolean", initial: "on", description: "Accepted, without effect." },
  extra_float_digits: {
    kind: "integer",
    initial: "1",
    description: "Floats are always printed in their shortest exact form.",
  },
  geqo: { kind: "boolean", initial: "on", description: "Accepted, without effect." },
  idle_in_transaction_session_timeout: {
    kind: "milliseconds",
    initial: "0",
    description: "Ends sessions that idle in a transaction.",
  },
  idle_session_timeout: { kind: "milliseconds", initial: "0", description: "Ends idle sessions." },
  in_hot_standby: {
    kind: "read only",
    initial: "off",
    reported: true,
    description: "This node is no backup.",
  },
  integer_datetimes: {
    kind: "read only",
    initial: "on",
    reported: true,
    description: "Times are 64-bit integers.",
  },
  intervalstyle: {
    kind: "choice",
    initial: "postgres",
    choices: ["postgres", "postgres_verbose", "sql_standard", "iso_8601"],
    reported: true,
    description: "Form of intervals.",
  },
  is_superuser: {
    kind: "read only",
    initial: "on",
    reported: true,
    description: "The token gives every right.",
  },
  jit: { kind: "boolean", initial: "off", description: "Plans are always compiled." },
  lc_collate: { kind: "read only", initial: "C", description: "Text is ordered by code point." },
  lc_ctype: { kind: "read only", initial: "C.UTF-8", description: "Character classes are Unicode's." },
  lc_messages: { kind: "text", initial: "C", description: "Messages are in English." },
  lc_monetary: { kind: "text", initial: "C", description: "Accepted, without effect." },
  lc_numeric: { kind: "text", initial: "C", description: "Accepted, without effect." },
  lc_time: { kind: "text", initial: "C", description: "Accepted, without effect." },
  lock_timeout: {
    kind: "milliseconds",
    initial: "0",
    description: "Longest wait for a lock; 0 is without limit.",
  },
  max_identifier_length: { kind: "read only", initial: "63", description: "Bytes in an identifier." },
  max_index_keys: { kind: "read only", initial: "32", description: "Columns in an index." },
  quote_all_identifiers: { kind: "boolean", initial: "off", description: "Accepted for dump tools." },
  role: { kind: "text", initial: "none", description: "The current role." },
  row_security: { kind: "boolean", initial: "on", description: "There are no policies." },
  search_path: { kind: "text", initial: '"$user", public', description: "Schemas of unqualified names." },
  seed: { kind: "text", initial: "", description: "Write-only seed of random()." },
  server_encoding: { kind: "read only", initial: "UTF8", reported: true, description: "Always UTF8." },
  server_version: {
    kind: "read only",
    initial: SERVER_VERSION,
    reported: true,
    description: "The PostgreSQL version whose dialect is spoken.",
  },
  server_version_num: { kind: "read only", initial: "150008", description: "The same as a number." },
  session_authorization: { kind: "text", initial: "", reported: true, description: "The session's user." },
  session_replication_role: {
    kind: "choice",
    initial: "origin",
    choices: ["origin", "local"],
    description: "Only the default.",
  },
  standard_conforming_strings: {
    kind: "choice",
    initial: "on",
    choices: ["on", "true", "1", "yes"],
    reported: true,
    description: "Backslashes are ordinary characters.",
  },
  statement_timeout: {
    kind: "milliseconds",
    initial: "0",
    description: "Longest run of a statement; 0 is without limit.",
  },
  synchronize_seqscans: { kind: "boolean", initial: "on", description: "Accepted for dump tools." },
  synchronous_commit: {
    kind: "choice",
    initial: "on",
    choices: ["on", "local", "remote_write", "remote_apply"],
    description: "Commits are always durable before they are answered.",
  },
  timezone: {
    kind: "text",
    initial: "UTC",
    reported: true,
    description: "Zone in which timestamptz is shown and read.",
  },
  transaction_deferrable: { kind: "boolean", initial: "off", description: "Of the current transaction." },
  transaction_isolation: {
    kind: "choice",
    initial: "serializable",
    choices: ["serializable", "repeatable read", "read committed", "read uncommitted"],
    description: "Of the current transaction.",
  },
  transaction_read_only: { kind: "boolean", initial: "off", description: "Of the current transaction." },
  work_mem: {
    kind: "kilobytes",
    initial: "64MB",
    description: "Accepted; the memory limit is the server's.",
  },
  xmloption: { kind: "text", initial: "content", description: "Accepted for dump files." },
  default_with_oids: { kind: "choice", initial: "off", choices: ["off"], description: "Only off." },
  max_connections: { kind: "read only", initial: "256", description: "Connection cap of this listener." },
  data_checksums: { kind: "read only", initial: "on", description: "Every block carries a checksum." },
  fsync: { kind: "read only", initial: "on", description: "Commits are durable before they are answered." },
  password_encryption: {
    kind: "choice",
    initial: "scram-sha-256",
    choices: ["scram-sha-256"],
    description: "Only SCRAM.",
  },
  ssl: { kind: "read only", initial: "off", description: "Whether this listener speaks TLS." },
  transaction_timeout: {
    kind: "milliseconds",
    initial: "0",
    description: "Longest run of a transaction; 0 is without limit.",
  },
};

/** Spelling in which a name is shown, where it is not lower case. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  datestyle: "DateStyle",
  intervalstyle: "IntervalStyle",
  timezone: "TimeZone",
};

/** Settings of the transaction begin with the session's. */
const BASES: Readonly<Record<string, string>> = {
  transaction_deferrable: "default_transaction_deferrable",
  transaction_isolation: "default_transaction_isolation",
  transaction_read_only: "default_transaction_read_only",
};

/** A listener of {@link Settings.onReported}. */
export type SettingListener = (name: string, value: string) => void;

/** See the file's head. */
export class Settings {
  readonly #values = new Map<string, string>();
  /** Values to return to at the end of the transaction: before SET LOCAL, or before any SET if it is rolled back. */
  readonly #saved: Map<string, string | undefined>[] = [];
  readonly #local = new Map<string, string | undefined>();
  readonly #initial: ReadonlyMap<string, string>;
  #listener: SettingListener | null = null;
  /** Grows with every change, so that what was derived from settings can be kept until then. */
  generation = 0;

  constructor(initial: Readonly<Record<string, string>> = {}) {
    const checked = new Map<string, string>();
    for (const [name, value] of Object.entries(initial)) checked.set(name.toLowerCase(), value);
    this.#initial = checked;
  }

  /** The value as SHOW prints it; raises 42704 for an unknown name. */
  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw unknownSetting(name);
    return value;
  }

  /** The value, or undefined for an unknown name. */
  find(name: string): string | undefined {
    const key = name.toLowerCase();
    const own = this.#values.get(key) ?? this.#initial.get(key);
    if (own !== undefined) return own;
    const base = BASES[key];
    return base === undefined ? DEFINITIONS[key]?.initial : this.find(base);
  }

  /** A boolean setting. */
  isOn(name: string): boolean {
    return this.get(name) === "on";
  }

  /** A duration in milliseconds; 0 means none. */
  milliseconds(name: string): number {
    return parseMilliseconds(this.get(name)) ?? 0;
  }

  /** SET. Raises 42704, 22023 or 55000 for names and values that are not accepted. */
  set(name: string, value: string, options: { readonly local: boolean }): void {
    const key = name.toLowerCase();
    const normalised = this.#check(key, value);
    this.#remember(key, options.local);
    this.#assign(key, normalised);
  }

  /** RESET, and SET … TO DEFAULT. */
  reset(name: string, options: { readonly local: boolean } = { local: false }): void {
    const key = name.toLowerCase();
    if (this.find(key) === undefined) throw unknownSetting(name);
    this.#remember(key, options.local);
    this.#assign(key, undefined);
  }

  /** RESET ALL. */
  resetAll(): void {
    for (const key of [...this.#values.keys()]) {
      if (key !== "transaction_isolation" && key !== "transaction_read_only") this.reset(key);
    }
  }

  /** Every known setting with its description, for SHOW ALL and pg_settings. */
  all(): {
    readonly name: string;
    readonly value: string;
    readonly description: string;
    readonly kind: string;
  }[] {
    const names = new Set([...Object.keys(DEFINITIONS), ...this.#values.keys()]);
    return [...names].sort().map((key) => ({
      name: DISPLAY_NAMES[key] ?? key,
      value: this.get(key),
      description: DEFINITIONS[key]?.description ?? "",
      kind: DEFINITIONS[key]?.kind ?? "text",
    }));
  }

  /** What a client is told at connect. */
  reported(): [string, string][] {
    return Object.keys(DEFINITIONS).filter((key) => DEFINITIONS[key]?.reported === true)
      .map((key) => [DISPLAY_NAMES[key] ?? key, this.get(key)]);
  }

  /** Calls back when a reported setting changes. */
  onReported(listener: SettingListener): void {
    this.#listener = listener;
  }

  /** Starts noting changes for a transaction or savepoint. */
  beginScope(): void {
    this.#saved.push(new Map());
  }

  /** Ends the innermost scope: a rolled-back one restores its values; SET LOCAL ends with the outermost one. */
  endScope(rolledBack: boolean): void {
    const saved = this.#saved.pop();
    if (saved === undefined) return;
    if (rolledBack) { for (const [key, value] of saved) this.#assign(key, value); }
    else {
      const outer = this.#saved.at(-1);
      if (outer !== undefined) {
        for (const [key, value] of saved) if (!outer.has(key)) outer.set(key, value);
      }
    }
    if (this.#saved.length > 0) return;
    for (const [key, value] of this.#local) this.#assign(key, value);
    this.#local.clear();
  }

  #remember(key: string, local: boolean): void {
    const current = this.#values.get(key);
    const scope = this.#saved.at(-1);
    if (scope !== undefined && !scope.has(key)) scope.set(key, current);
    if (local) { if (!this.#local.has(key)) this.#local.set(key, current); }
    else this.#local.delete(key);
  }

  #assign(key: string, value: string | undefined): void {
    const before = this.find(key);
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.generation++;
    const after = this.find(key);
    if (after !== before && after !== undefined && DEFINITIONS[key]?.reported === true) {
      this.#listener?.(DISPLAY_NAMES[key] ?? key, after);
    }
  }

  #check(key: string, value: string): string {
    const definition = DEFINITIONS[key];
    if (definition === undefined) {
      if (key.includes(".")) return value;
      throw unknownSetting(key);
    }
    switch (definition.kind) {
      case "read only":
        throw new DatabaseError(
          SQLSTATE.objectNotInPrerequisiteState,
          `parameter "${key}" cannot be changed`,
        );
      case "boolean": {
        const truth = parseBoolean(value);
        if (truth === undefined) {
          throw new DatabaseError(
            SQLSTATE.invalidParameterValue,
            `parameter "${key}" requires a Boolean value`,
          );
        }
        return truth ? "on" : "off";
      }
      case "integer":
        if (!/^\s*[+-]?\d+\s*$/.test(value)) throw invalidValue(key, value);
        return String(parseInt(value, 10));
      case "milliseconds":
        if (parseMilliseconds(value) === undefined) throw invalidValue(key, value);
        return formatUnits(parseMilliseconds(value) ?? 0, MILLISECONDS);
      case "kilobytes": {
        const kilobytes = parseKilobytes(value);
        if (kilobytes === undefined) throw invalidValue(key, value);
        if (kilobytes < 64 || kilobytes > 2147483647) {
          throw new DatabaseError(
            SQLSTATE.invalidParameterValue,
            `${kilobytes} kB is outside the valid range for parameter "${key}" (64 .. 2147483647)`,
          );
        }
        return formatUnits(kilobytes, KILOBYTES);
      }
      case "choice": {
        const wanted = value.toLowerCase();
        const choice = definition.choices?.find((each) => each.toLowerCase() === wanted);
        if (choice === undefined) {
          throw invalidValue(key, value, `Available values: ${(definition.choices ?? []).join(", ")}.`);
        }
        if (key === "client_encoding") return "UTF8";
        if (key === "standard_conforming_strings") return "on";
        return choice;
      }
      case "text":
        return key === "timezone"
          ? checkTimeZone(value)
          : key === "datestyle"
          ? mergeDateStyle(this.get(key), value)
          : value;
    }
  }
}

function unknownSetting(name: string): DatabaseError {
  const near = closest(name.toLowerCase(), Object.keys(DEFINITIONS));
  return new DatabaseError(
    SQLSTATE.undefinedObject,
    `unrecognized configuration parameter "${name}"`,
    near === undefined ? {} : { hint: `Did you mean "${near}"?` },
  );
}

function invalidValue(name: string, value: string, hint?: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidParameterValue,
    `invalid value for parameter "${name}": "${value}"`,
    hint === undefined ? {} : { hint },
  );
}

function parseBoolean(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase();
  if (["on", "true", "t", "yes", "y", "1"].includes(lower)) return true;
  if (["off", "of", "false", "f", "no", "n", "0"].includes(lower)) return false;
  return undefined;
}

const UNITS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function parseMilliseconds(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/.exec(text);
  if (match === null) return undefined;
  const unit = match[2] === "" ? 1 : UNITS[match[2] ?? ""];
  return unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

const KILOBYTE_UNITS: Readonly<Record<string, number>> = {
  B: 1 / 1024,
  kB: 1,
  MB: 2 ** 10,
  GB: 2 ** 20,
  TB: 2 ** 30,
};

function parseKilobytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(text);
  if (match === null) return undefined;
  const unit = match[2] === "" ? 1 : KILOBYTE_UNITS[match[2] ?? ""];
  return unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

/** Units from the largest to that of the value. */
const MILLISECONDS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000], ["ms", 1]] as const;
const KILOBYTES = [["TB", 2 ** 30], ["GB", 2 ** 20], ["MB", 2 ** 10], ["kB", 1]] as const;

/** A value in the largest unit of which it is a whole multiple, as PostgreSQL shows it; zero has no unit. */
function formatUnits(value: number, units: readonly (readonly [string, number])[]): string {
  if (value === 0) return "0";
  const unit = units.find(([, size]) => value % size === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

function checkTimeZone(value: string): string {
  const zone = value.trim();
  // A number is hours east of Greenwich; in every other form the sign counts west, as POSIX says.
  if (/^[+-]?\d{1,2}(\.\d+)?$/.test(zone)) return offsetZone(Math.round(Number(zone) * 3600));
  if (/^[+-]?\d{1,2}(:\d{2})?(:\d{2})?$/.test(zone)) return zone;
  if (/^interval/i.test(zone)) return zone;
  const upper = zone.toUpperCase();
  if (upper === "UTC" || upper === "GMT" || upper === "Z" || upper === "DEFAULT" || upper === "LOCAL") {
    return upper === "GMT" ? "GMT" : "UTC";
  }
  if (/^[A-Z]{3,5}[+-]\d{1,2}/.test(upper)) return zone;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone === ""
      ? zone
      : canonicalZone(zone);
  } catch (error) {
    if (error instanceof RangeError) throw invalidValue("TimeZone", value);
    throw error;
  }
}

/** A fixed offset in POSIX's form, `<+05:30>-05:30`. */
function offsetZone(secondsEast: number): string {
  const seconds = Math.abs(secondsEast);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  while (parts.length > 1 && parts.at(-1) === 0) parts.pop();
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return secondsEast < 0 ? `<-${text}>+${text}` : `<+${text}>-${text}`;
}

function canonicalZone(zone: string): string {
  return zone.split("/").map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("/");
}

function mergeDateStyle(current: string, wanted: string): string {
  let [format = "ISO", order = "MDY"] = current.split(/\s*,\s*/);
  for (const word of wanted.split(/[\s,]+/).filter((each) => each !== "")) {
    const lower = word.toLowerCase();
    if (["iso", "postgres", "sql", "german"].includes(lower)) {
      format = lower === "iso" ? "ISO" : lower === "sql" ? "SQL" : lower === "german" ? "German" : "Postgres";
    } else if (["mdy", "us", "noneuro", "noneuropean"].includes(lower)) order = "MDY";
    else if (["dmy", "euro", "european"].includes(lower)) order = "DMY";
    else if (lower === "ymd") order = "YMD";
    else if (lower === "default") [format, order] = ["ISO", "MDY"];
    else throw invalidValue("DateStyle", wanted);
  }
  return `${format}, ${order}`;
}

/** The schemas of a search_path setting, in order; `"$user"` stands for the user's schema. */
export function parseSearchPath(text: string, user: string): string[] {
  const result: string[] = [];
  for (const match of text.matchAll(/"((?:[^"]|"")*)"|[^,\s]+/g)) {
    const name = match[1] === undefined ? match[0].toLowerCase() : match[1].replaceAll('""', '"');
    const schema = name === "$user" ? user : name;
    if (schema !== "" && !result.includes(schema)) result.push(schema);
  }
  return result;
}
