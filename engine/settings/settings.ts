/**
 * Session settings (PostgreSQL's run-time parameters): SET, SHOW, RESET, `current_setting`, and the values that a
 * driver is sent at connect and on change.
 *
 * Settings that change how statements run are read from here; the others that PostgreSQL clients set are accepted
 * where accepting them changes nothing they could notice, and refused by name where it would.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { closest } from "../base/suggest.ts";
import { type SettingDefinition, SETTINGS } from "./setting_table.ts";
import {
  baseSize,
  baseValue,
  checkedValue,
  formatNumber,
  invalidSetting,
  numberOf,
} from "./setting_values.ts";

export { SERVER_VERSION } from "./setting_table.ts";

/** What has changed since a transaction or savepoint began. */
interface Scope {
  readonly values: Map<string, string | undefined>;
  /** What SET LOCAL had changed by then. */
  readonly local: ReadonlyMap<string, string | undefined>;
}

/** Settings of the transaction begin with the session's. */
const BASES: Readonly<Record<string, string>> = {
  transaction_deferrable: "default_transaction_deferrable",
  transaction_isolation: "default_transaction_isolation",
  transaction_read_only: "default_transaction_read_only",
};

/** Where the value that a session begins with comes from. */
type SettingSource = "client" | "user" | "database" | "command line";

/** A listener of {@link Settings.onReported}. */
export type SettingListener = (name: string, value: string) => void;

/** See the file's head. */
export class Settings {
  readonly #values = new Map<string, string>();
  /** Values to return to when a transaction or savepoint is rolled back, the innermost last. */
  readonly #scopes: Scope[] = [];
  /** Values from before SET LOCAL, to return to when the transaction ends. */
  #local: ReadonlyMap<string, string | undefined> = new Map();
  /** Given by the client at connect, kept for the role and the database, and the server's, in this order. */
  readonly #initial: ReadonlyMap<string, string>;
  readonly #sources: ReadonlyMap<string, SettingSource>;
  #listener: SettingListener | null = null;
  /** Fixed settings that show what the session knows. */
  readonly #computed = new Map<string, () => string>();
  /** Grows with every change, so that what was derived from settings can be kept until then. */
  generation = 0;

  constructor(
    initial: Readonly<Record<string, string>> = {},
    stored: {
      readonly server?: Readonly<Record<string, string>>;
      readonly database: Readonly<Record<string, string>>;
      readonly role: Readonly<Record<string, string>>;
    } = { database: {}, role: {} },
  ) {
    const values = new Map<string, string>();
    const sources = new Map<string, SettingSource>();
    const layers: readonly (readonly [SettingSource, Readonly<Record<string, string>>])[] = [
      ["command line", stored.server ?? {}],
      ["database", stored.database],
      ["user", stored.role],
      ["client", initial],
    ];
    for (const [source, settings] of layers) {
      for (const [name, value] of Object.entries(settings)) {
        values.set(name.toLowerCase(), value);
        sources.set(name.toLowerCase(), source);
      }
    }
    this.#initial = values;
    this.#sources = sources;
  }

  /** Settings that were read since the last change of any, as numbers. */
  readonly #read = new Map<string, number>();
  #readAt = -1;
  /** The value as SHOW prints it; raises 42704 for an unknown name. */
  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw unknownSetting(name);
    return value;
  }

  /** The value, or undefined for an unknown name. */
  find(name: string): string | undefined {
    const key = name.toLowerCase();
    const computed = this.#computed.get(key);
    if (computed !== undefined) return computed();
    const own = this.#values.get(key) ?? this.#initial.get(key);
    if (own !== undefined) return own;
    const base = BASES[key];
    if (base !== undefined) return this.find(base);
    const definition = SETTINGS.get(key);
    return definition === undefined ? undefined : initialText(definition);
  }

  /** A boolean setting. */
  isOn(name: string): boolean {
    return (this.#readBefore(name) ?? this.#keep(name, this.get(name) === "on" ? 1 : 0)) === 1;
  }

  /** A duration in milliseconds; 0 means none. */
  milliseconds(name: string): number {
    const known = this.#readBefore(name);
    if (known !== undefined) return known;
    const definition = SETTINGS.get(name);
    return this.#keep(name, definition === undefined ? 0 : numberOf(definition, this.get(name)));
  }

  /** What a setting was read as since the last change of any. */
  #readBefore(name: string): number | undefined {
    if (this.#readAt === this.generation) return this.#read.get(name);
    this.#read.clear();
    this.#readAt = this.generation;
    return undefined;
  }

  #keep(name: string, value: number): number {
    if (!this.#computed.has(name)) this.#read.set(name, value);
    return value;
  }

  /** A number without a unit. */
  number(name: string): number {
    return this.milliseconds(name);
  }

  /** A size. */
  bytes(name: string): number {
    const known = this.#readBefore(name);
    if (known !== undefined) return known;
    const definition = SETTINGS.get(name);
    const size = definition === undefined ? 0 : numberOf(definition, this.get(name)) * baseSize(definition);
    return this.#keep(name, size);
  }

  /** SET. Raises 42704, 22023 or 55000 for names and values that are not accepted. */
  set(name: string, value: string, options: { readonly local: boolean }): void {
    const key = name.toLowerCase();
    const normalized = this.#check(key, value);
    this.#remember(key, options.local);
    this.#assign(key, normalized);
  }

  /** RESET, and SET … TO DEFAULT. */
  reset(name: string, options: { readonly local: boolean } = { local: false }): void {
    const key = name.toLowerCase();
    if (this.find(key) === undefined) throw unknownSetting(name);
    checkContext(SETTINGS.get(key));
    this.#remember(key, options.local);
    this.#assign(key, undefined);
  }

  /** RESET ALL. */
  resetAll(): void {
    for (const key of [...this.#values.keys()]) {
      const isKept = key.startsWith("transaction_") || SETTINGS.get(key)?.hidden === true;
      if (!isKept) this.reset(key);
    }
  }

  /** Every setting that is shown, in alphabetical order. */
  all(): ShownSetting[] {
    const shown: ShownSetting[] = [];
    for (const [key, definition] of SETTINGS) {
      if (definition.hidden) continue;
      const value = this.get(key);
      const initial = initialText(definition);
      const given = this.#initial.get(key) ?? initial;
      shown.push({
        name: definition.name,
        value,
        base: baseValue(definition, value),
        initialBase: definition.initial,
        resetBase: baseValue(definition, given),
        source: this.#values.has(key) ? "session" : this.#sources.get(key) ?? "default",
        description: description(definition),
        definition,
      });
    }
    for (const [key, value] of this.#values) {
      if (SETTINGS.has(key)) continue;
      shown.push({
        name: key,
        value,
        base: value,
        initialBase: "",
        resetBase: "",
        source: "session",
        description: "",
        definition: null,
      });
    }
    return shown.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  }

  /** What a client is sent at connect. */
  reported(): [string, string][] {
    return [...SETTINGS.values()].filter((definition) => definition.reported)
      .map((definition) => [definition.name, this.get(definition.name)]);
  }

  /** Has a fixed setting computed whenever it is read. */
  provide(name: string, value: () => string): void {
    this.#computed.set(name, value);
  }

  /** Calls back when a reported setting changes. */
  onReported(listener: SettingListener): void {
    this.#listener = listener;
  }

  /** Starts noting changes for a transaction or savepoint. */
  beginScope(): void {
    this.#scopes.push({ values: new Map(), local: this.#local });
  }

  /**
   * Starts noting changes by a function of a statement outside of any transaction block; {@link endScope} at the
   * statement's end drops or keeps them.
   */
  beginStatementScope(): void {
    if (this.#scopes.length === 0) this.beginScope();
  }

  /** Ends the innermost scope: a rolled-back one restores its values; SET LOCAL ends with the outermost one. */
  endScope(rolledBack: boolean): void {
    const scope = this.#scopes.pop();
    if (scope === undefined) return;
    if (rolledBack) {
      for (const [key, value] of scope.values) this.#assign(key, value);
      this.#local = scope.local;
    } else {
      const outer = this.#scopes.at(-1)?.values;
      if (outer !== undefined) {
        for (const [key, value] of scope.values) if (!outer.has(key)) outer.set(key, value);
      }
    }
    if (this.#scopes.length > 0 || this.#local.size === 0) return;
    for (const [key, value] of this.#local) this.#assign(key, value);
    this.#local = new Map();
  }

  #remember(key: string, local: boolean): void {
    const current = this.#values.get(key);
    const values = this.#scopes.at(-1)?.values;
    if (values !== undefined && !values.has(key)) values.set(key, current);
    if (local === this.#local.has(key)) return;
    const next = new Map(this.#local);
    if (local) next.set(key, current);
    else next.delete(key);
    this.#local = next;
  }

  #assign(key: string, value: string | undefined): void {
    const before = this.find(key);
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.generation++;
    const after = this.find(key);
    const definition = SETTINGS.get(key);
    if (after !== before && after !== undefined && definition?.reported === true) {
      this.#listener?.(definition.name, after);
    }
  }

  /** There is one role, the session's user. */
  #checkRole(name: string, value: string): string {
    const user = this.find("session_authorization") ?? "";
    if (user === "" || value === user || (name === "role" && value === "none")) return value;
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `role "${value}" does not exist`);
  }

  #check(key: string, value: string): string {
    const definition = SETTINGS.get(key);
    if (definition === undefined) {
      if (!key.includes(".")) throw unknownSetting(key);
      if (!/^[a-z_\u0080-\uffff][\w$\u0080-\uffff]*(\.[a-z_\u0080-\uffff][\w$\u0080-\uffff]*)+$/i.test(key)) {
        throw new DatabaseError(
          SQLSTATE.invalidName,
          `invalid configuration parameter name "${key}"`,
          { detail: "Custom parameter names must be two or more simple identifiers separated by dots." },
        );
      }
      return value;
    }
    checkContext(definition);
    const checked = checkedValue(definition, value);
    switch (definition.name) {
      case "client_encoding":
        return checkEncoding(checked);
      case "TimeZone":
        return checkTimeZone(checked);
      case "DateStyle":
        return mergeDateStyle(this.get(key), checked);
      case "role":
      case "session_authorization":
        return this.#checkRole(definition.name, checked);
      case "default_with_oids":
        if (checked === "off") return checked;
        throw new DatabaseError(SQLSTATE.featureNotSupported, "tables declared WITH OIDS are not supported");
      default:
        return checked;
    }
  }
}

/** A setting as SHOW ALL and pg_settings list it. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  /** In the setting's base unit: now, from the start, and after RESET. */
  readonly base: string;
  readonly initialBase: string;
  readonly resetBase: string;
  readonly source: "default" | "session" | SettingSource;
  readonly description: string;
  /** `null`: a setting that the client made up. */
  readonly definition: SettingDefinition | null;
}

/** The initial value as SHOW prints it. */
export function initialText(definition: SettingDefinition): string {
  const known = INITIAL.get(definition.name);
  if (known !== undefined) return known;
  const isNumber = definition.initial !== "" && (definition.type === "integer" || definition.type === "real");
  const text = isNumber ? checkedValue(definition, definition.initial) : definition.initial;
  INITIAL.set(definition.name, text);
  return text;
}

/** Initial values as they are shown, made when they are first asked for. */
const INITIAL = new Map<string, string>();

function description(definition: SettingDefinition): string {
  if (definition.effect) return "See the documentation.";
  return definition.context === "user" || definition.context === "superuser"
    ? "Accepted and checked, without effect."
    : "Fixed.";
}

/** Least and greatest value of a setting that is a number, as pg_settings lists them. */
export function settingRange(definition: SettingDefinition): readonly [string, string] | undefined {
  if (definition.type !== "integer" && definition.type !== "real") return undefined;
  return [formatNumber(definition, definition.minimum), formatNumber(definition, definition.maximum)];
}

/** Refuses to change what is given outside of sessions. */
function checkContext(definition: SettingDefinition | undefined): void {
  const reason = definition === undefined ? undefined : UNCHANGEABLE[definition.context];
  if (definition === undefined || reason === undefined) return;
  throw new DatabaseError(SQLSTATE.cannotChangeParameter, `parameter "${definition.name}" ${reason}`);
}

const UNCHANGEABLE: Readonly<Partial<Record<SettingDefinition["context"], string>>> = {
  backend: "cannot be set after connection start",
  internal: "cannot be changed",
  postmaster: "cannot be changed without restarting the server",
  sighup: "cannot be changed now",
};

function unknownSetting(name: string): DatabaseError {
  const near = closest(name.toLowerCase(), [...SETTINGS.keys()]);
  return new DatabaseError(
    SQLSTATE.undefinedObject,
    `unrecognized configuration parameter "${name}"`,
    near === undefined ? {} : { hint: `Did you mean "${near}"?` },
  );
}

function checkEncoding(value: string): string {
  const letters = value.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
  if (letters === "UTF8" || letters === "UNICODE") return "UTF8";
  throw invalidSetting("client_encoding", value, { hint: "Available values: UTF8." });
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
    if (error instanceof RangeError) throw invalidSetting("TimeZone", value);
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
    else throw invalidSetting("DateStyle", wanted, { detail: `Unrecognized key word: "${lower}".` });
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
