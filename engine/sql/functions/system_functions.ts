/**
 * System information, settings, sequences, and the functions of the system catalog.
 *
 * What depends on the catalog or the session is asked of `context.services`; functions listed in {@link catalogCalls}
 * are passed on by name. There are no privileges per user, therefore all privilege inquiries answer true.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Decimal } from "../../types/decimal.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { formatTypeByOid, formatTypeFamily, typeOid } from "../../types/type_names.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { KEYWORD_CATEGORY, KEYWORDS } from "../parser/keywords.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { encodingName, encodingNumber } from "./encodings.ts";
import { defineFunction, type Overload } from "./overload.ts";

const system = { category: "system" } as const;

/** Functions that the session answers: name, argument types, result type, volatility, what for. */
const catalogCalls: readonly (readonly [name: string, takes: string, returns: string, summary: string])[] = [
  ["pg_table_is_visible", "oid", "bool", "Whether a relation is found without its schema."],
  ["pg_get_expr", "text, oid", "text", "Text of a stored expression."],
  ["pg_get_expr", "text, oid, bool", "text", "Text of a stored expression."],
  ["pg_get_indexdef", "oid", "text", "Statement that creates an index."],
  ["pg_get_indexdef", "oid, i32, bool", "text", "Statement that creates an index, or one of its columns."],
  ["pg_get_statisticsobjdef", "oid", "text", "Statement that creates statistics of columns."],
  ["pg_get_statisticsobjdef_columns", "oid", "text", "Columns that statistics are of."],
  ["pg_get_constraintdef", "oid", "text", "Definition of a constraint."],
  ["pg_get_constraintdef", "oid, bool", "text", "Definition of a constraint."],
  ["pg_get_viewdef", "oid", "text", "Query of a view."],
  ["pg_get_viewdef", "oid, bool", "text", "Query of a view."],
  ["pg_get_viewdef", "oid, i32", "text", "Query of a view; it keeps the lines in which it was written."],
  ["pg_get_viewdef", "text", "text", "Query of a view."],
  ["pg_get_viewdef", "text, bool", "text", "Query of a view."],
  ["pg_function_is_visible", "oid", "bool", "Whether a function is found without its schema."],
  ["pg_type_is_visible", "oid", "bool", "Whether a type is found without its schema."],
  ["pg_get_userbyid", "oid", "name", "Name of a role."],
  ["pg_get_triggerdef", "oid", "text", "Statement that creates a trigger."],
  ["pg_get_triggerdef", "oid, bool", "text", "Statement that creates a trigger."],
  ["pg_get_functiondef", "oid", "text", "Statement that creates a function."],
  ["pg_get_function_arguments", "oid", "text", "Arguments of a function."],
  ["pg_get_function_identity_arguments", "oid", "text", "Arguments that identify a function."],
  ["pg_get_function_result", "oid", "text", "Result type of a function."],
  ["pg_get_serial_sequence", "text, text", "text", "Sequence that a column draws from."],
  ["pg_relation_size", "regclass", "i64", "Bytes of a relation on disk."],
  ["pg_relation_size", "regclass, text", "i64", "Bytes of a relation on disk."],
  ["pg_table_size", "regclass", "i64", "Bytes of a table on disk."],
  ["pg_indexes_size", "regclass", "i64", "Bytes of a table's indexes on disk."],
  ["pg_total_relation_size", "regclass", "i64", "Bytes of a table and its indexes on disk."],
  ["pg_database_size", "name", "i64", "Bytes of the database on disk."],
  ["pg_database_size", "oid", "i64", "Bytes of the database on disk."],
  ["pg_relation_filenode", "regclass", "oid", "Number of a relation's file."],
  ["pg_sequence_last_value", "regclass", "i64", "Last value of a sequence."],
  ["obj_description", "oid, name", "text", "Comment on an object."],
  ["obj_description", "oid", "text", "Comment on an object."],
  ["col_description", "oid, i32", "text", "Comment on a column."],
  ["shobj_description", "oid, name", "text", "Comment on a shared object."],
  ["pg_index_column_has_property", "regclass, i32, text", "bool", "Whether an index column has a property."],
  ["pg_index_has_property", "regclass, text", "bool", "Whether an index has a property."],
  ["pg_indexam_has_property", "oid, text", "bool", "Whether an index method has a property."],
  ["to_regclass", "text", "regclass", "Relation of a name, or NULL."],
  ["to_regtype", "text", "regtype", "Type of a name, or NULL."],
  ["to_regproc", "text", "regproc", "Function of a name, or NULL."],
  ["to_regnamespace", "text", "regnamespace", "Schema of a name, or NULL."],
  ["pg_describe_object", "oid, oid, i32", "text", "Description of an object."],
  ["pg_backend_pid", "", "i32", "Number of the session."],
  ["pg_is_in_recovery", "", "bool", "Whether the node is a backup."],
  ["pg_postmaster_start_time", "", "timestamptz", "When the server started."],
  ["pg_conf_load_time", "", "timestamptz", "When the configuration was read."],
  ["pg_current_wal_lsn", "", "text", "Position of the log."],
  ["txid_current", "", "i64", "Number of the transaction."],
  ["txid_current_if_assigned", "", "i64", "Number of the transaction, or NULL."],
  ["pg_current_xact_id", "", "i64", "Number of the transaction."],
  ["current_query", "", "text", "Text of the statement."],
  ["pg_advisory_lock", "i64", "void", "Takes a lock of the application, waiting for it."],
  ["pg_advisory_lock", "i32, i32", "void", "Takes a lock of the application, waiting for it."],
  ["pg_advisory_lock_shared", "i64", "void", "Takes a shared lock of the application."],
  ["pg_advisory_lock_shared", "i32, i32", "void", "Takes a shared lock of the application."],
  ["pg_try_advisory_lock", "i64", "bool", "Takes a lock of the application if it is free."],
  ["pg_try_advisory_lock", "i32, i32", "bool", "Takes a lock of the application if it is free."],
  ...["pg_try_advisory_lock_shared", "pg_try_advisory_xact_lock_shared"].flatMap((name) =>
    ["i64", "i32, i32"].map((takes) =>
      [name, takes, "bool", "Takes a shared lock of the application if it is free."] as const
    )
  ),
  ...["i64", "i32, i32"].map((takes) =>
    [
      "pg_advisory_xact_lock_shared",
      takes,
      "void",
      "Takes a shared lock until the transaction ends.",
    ] as const
  ),
  ["pg_advisory_unlock_shared", "i32, i32", "bool", "Releases a shared lock of the application."],
  ["pg_advisory_unlock", "i64", "bool", "Releases a lock of the application."],
  ["pg_advisory_unlock", "i32, i32", "bool", "Releases a lock of the application."],
  ["pg_advisory_unlock_shared", "i64", "bool", "Releases a shared lock of the application."],
  ["pg_advisory_unlock_all", "", "void", "Releases all locks of the application."],
  ["pg_advisory_xact_lock", "i64", "void", "Takes a lock of the application until the transaction ends."],
  [
    "pg_advisory_xact_lock",
    "i32, i32",
    "void",
    "Takes a lock of the application until the transaction ends.",
  ],
  ["pg_try_advisory_xact_lock", "i64", "bool", "Takes a lock until the transaction ends if it is free."],
  ["pg_try_advisory_xact_lock", "i32, i32", "bool", "Takes a lock until the transaction ends if it is free."],
  ["pg_blocking_pids", "i32", "i32[]", "Sessions that a session waits for."],
  ["pg_cancel_backend", "i32", "bool", "Cancels the statement of a session."],
  ["pg_terminate_backend", "i32", "bool", "Ends a session."],
  ["pg_notify", "text, text", "void", "Sends a notification."],
  ["pg_sleep", "f64", "void", "Waits so many seconds."],
];

/** Functions whose answer is the same always. */
const fixedCalls: readonly (readonly [
  name: string,
  takes: string,
  returns: string,
  summary: string,
  answer: SqlValue,
])[] = [
  ["pg_get_ruledef", "oid", "text", "Statement that creates a rule.", null],
  ["pg_get_ruledef", "oid, bool", "text", "Statement that creates a rule.", null],
  ["pg_get_partkeydef", "oid", "text", "Partition key of a table; there are none.", null],
  ["pg_relation_is_publishable", "regclass", "bool", "Whether a relation can be published.", false],
  ["pg_reload_conf", "", "bool", "Reads the configuration again.", true],
  ["inet_client_addr", "", "text", "Address of the client.", null],
  ["inet_client_port", "", "i32", "Port of the client.", null],
  ["inet_server_addr", "", "text", "Address of the server.", null],
  ["inet_server_port", "", "i32", "Port of the server.", null],
];

function fixedFunctions(): Overload[] {
  return fixedCalls.map(([name, takes, returns, summary, answer]) => ({
    ...system,
    name,
    takes,
    returns,
    summary,
    volatility: "stable",
    mayReturnNull: true,
    run: () => answer,
  }));
}

/** The names that `catalogFunction` is called with, besides `regclassin`, `regclassout` and their kin. */
export const catalogFunctionNames: readonly string[] = [...new Set(catalogCalls.map(([name]) => name))];

const volatileCalls = new Set([
  "pg_notify",
  "pg_sleep",
  "pg_blocking_pids",
  "pg_cancel_backend",
  "pg_terminate_backend",
]);

function catalogFunctions(): Overload[] {
  return catalogCalls.map(([name, takes, returns, summary]) => ({
    ...system,
    name,
    takes,
    returns,
    summary,
    volatility: volatileCalls.has(name) || name.includes("advisory") ? "volatile" : "stable",
    mayReturnNull: true,
    // A NULL payload is an empty one, and a NULL channel an error.
    strict: name !== "pg_notify",
    runIn: (context, ...args: SqlValue[]) => context.services.catalogFunction(name, args),
  }));
}

const privilegeCalls: readonly (readonly [name: string, objects: readonly string[]])[] = [
  ["has_table_privilege", [
    "text, text",
    "oid, text",
    "name, text, text",
    "name, oid, text",
    "oid, oid, text",
  ]],
  ["has_any_column_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_column_privilege", [
    "text, text, text",
    "oid, text, text",
    "oid, i16, text",
    "text, i16, text",
    "name, text, text, text",
    "name, oid, text, text",
    "name, text, i16, text",
    "name, oid, i16, text",
  ]],
  ["has_schema_privilege", ["text, text", "oid, text", "name, text, text", "name, oid, text"]],
  ["has_database_privilege", ["text, text", "oid, text", "name, text, text", "name, oid, text"]],
  ["has_sequence_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_function_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_language_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_type_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_tablespace_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_foreign_data_wrapper_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_server_privilege", ["text, text", "oid, text", "name, text, text"]],
  ["has_parameter_privilege", ["text, text", "name, text, text"]],
  ["pg_has_role", ["name, text", "oid, text", "name, name, text", "name, oid, text"]],
];

function privilegeFunctions(): Overload[] {
  return privilegeCalls.flatMap(([name, objects]) =>
    objects.map((takes): Overload => ({
      ...system,
      name,
      takes,
      returns: "bool",
      summary: "Whether a privilege is held; true for all that there is.",
      volatility: "stable",
      mayReturnNull: true,
      runIn: (context, ...args: SqlValue[]) => context.services.catalogFunction(name, args),
    }))
  );
}

/** Functions without arguments whose value the context has. */
const contextCalls: readonly (readonly [
  name: string,
  returns: string,
  summary: string,
  run: (context: EvaluationContext) => SqlValue,
])[] = [
  ["current_database", "name", "Name of the database.", (context) => context.database],
  ["current_catalog", "name", "Name of the database.", (context) => context.database],
  [
    "current_schema",
    "name",
    "First schema of the search path.",
    (context) => namedSchemas(context)[0] ?? null,
  ],
  ["current_user", "name", "Name of the user.", (context) => context.user],
  ["current_role", "name", "Name of the user.", (context) => context.user],
  ["session_user", "name", "Name of the user who connected.", (context) => context.user],
  ["user", "name", "Name of the user.", (context) => context.user],
  ["getdatabaseencoding", "name", "Encoding of the database.", () => "UTF8"],
  ["pg_client_encoding", "name", "Encoding of the client.", () => "UTF8"],
  ["pg_my_temp_schema", "oid", "Schema of temporary tables; 0: none.", () => 0],
];

/** The search path without the system's schema, which is searched first whether it is named or not. */
function namedSchemas(context: EvaluationContext): readonly string[] {
  return context.searchPath.filter((schema) => schema !== "pg_catalog" && !schema.startsWith("pg_temp_"));
}

function schemas(context: EvaluationContext, implicit: boolean): SqlArray {
  const named = namedSchemas(context);
  return SqlArray.of(implicit ? ["pg_catalog", ...named] : named);
}

function unknownSetting(name: string): DatabaseError {
  return new DatabaseError(SQLSTATE.undefinedObject, `unrecognized configuration parameter "${name}"`);
}

function setSetting(
  context: EvaluationContext,
  name: string | null,
  value: string | null,
  local: boolean | null,
): SqlValue {
  if (name === null) {
    throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "SET requires parameter name");
  }
  return context.services.setSetting(name, value, local ?? false);
}

const sizeUnits = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** Bytes in the largest unit in which they are less than 10 240, rounded half up as PostgreSQL does. */
function prettySize(size: Decimal): string {
  const limit = Decimal.fromInteger(10 * 1024);
  if (size.abs().compare(limit) < 0) return `${size.toString()} bytes`;
  const two = Decimal.fromInteger(2);
  // One bit more than the unit is kept until the end, for the rounding.
  let left = size.divideInteger(Decimal.fromInteger(512));
  for (let unit = 1; unit < sizeUnits.length; unit++) {
    if (left.abs().compare(Decimal.fromInteger(20 * 1024 - 1)) < 0 || unit === sizeUnits.length - 1) {
      const rounded = left.add(Decimal.fromInteger(left.sign < 0 ? -1 : 1)).divideInteger(two);
      return `${rounded.toString()} ${sizeUnits[unit]}`;
    }
    left = left.divideInteger(Decimal.fromInteger(1024));
  }
  return `${left.toString()} PB`;
}

function sizeInBytes(text: string): NumberOrBigint {
  const match = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*$/.exec(text);
  if (match === null) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid size: "${text}"`);
  }
  const unit = match[2] ?? "";
  const power = unit === "" ? 0 : sizeUnits.findIndex((name) => name.toLowerCase() === unit.toLowerCase());
  if (power < 0) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid size: "${text}"`, {
      detail: `Invalid size unit: "${unit}".`,
      hint: 'Valid units are "bytes", "B", "kB", "MB", "GB", "TB", and "PB".',
    });
  }
  return Decimal.fromString(match[1] ?? "0").multiply(Decimal.fromInteger(1024 ** power)).toInteger();
}

/** Bytes that a value takes, as PostgreSQL would store it (without alignment). */
function columnSize(type: SqlType): (value: SqlValue) => number | null {
  return (value) => {
    switch (type.kind) {
      case "bool":
      case "i8":
      case "u8":
      case "internal_char":
        return value === null ? null : 1;
      case "i16":
      case "u16":
        return value === null ? null : 2;
      case "i32":
      case "u32":
      case "f32":
      case "date":
      case "oid":
        return value === null ? null : 4;
      case "i64":
      case "u64":
      case "f64":
      case "time":
      case "timestamp":
      case "timestamptz":
        return value === null ? null : 8;
      case "interval":
      case "uuid":
        return value === null ? null : 16;
      default: {
        if (value === null) return null;
        const length = value instanceof Uint8Array ? value.length : encodeUtf8(String(value)).length;
        return length + (length < 127 ? 1 : 4);
      }
    }
  };
}

const hexDigits = "0123456789abcdef";

/** A random UUID, version 4 (RFC 9562). */
function randomUuid(context: EvaluationContext): string {
  const bytes = context.randomBytes(16);
  let text = "";
  for (let index = 0; index < 16; index++) {
    let byte = bytes[index] ?? 0;
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    if (index === 8) byte = (byte & 0x3f) | 0x80;
    if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
    text += (hexDigits[byte >> 4] ?? "") + (hexDigits[byte & 15] ?? "");
  }
  return text;
}

const keywordCodes: readonly (readonly [category: number, code: string, description: string])[] = [
  [KEYWORD_CATEGORY.unreserved, "U", "unreserved"],
  [KEYWORD_CATEGORY.columnName, "C", "unreserved (cannot be function or type name)"],
  [KEYWORD_CATEGORY.typeFunctionName, "T", "reserved (can be function or type name)"],
  [KEYWORD_CATEGORY.reserved, "R", "reserved"],
];

function* keywordRows(): Iterable<readonly SqlValue[]> {
  for (const [word, keyword] of KEYWORDS) {
    const [, code, description] = keywordCodes.find(([category]) => category === keyword.category) ??
      [0, "U", "unreserved"];
    yield [word, code, true, description, "can be bare label"];
  }
}

/** The collation's name; 42804 for types that have none. */
function collationOf(type: SqlType): string {
  const part = type.kind === "array" ? type.element : type;
  switch (part.kind) {
    case "unknown":
    case "text":
    case "varchar":
    case "char":
      return '"default"';
    case "name":
      return '"C"';
    default:
      throw new DatabaseError(
        SQLSTATE.datatypeMismatch,
        `collations are not supported by type ${formatTypeFamily(type)}`,
      );
  }
}

const sequences: readonly Overload[] = [
  ...["text", "regclass"].flatMap((key): Overload[] => {
    const nameOf = (context: EvaluationContext, sequence: SqlValue) =>
      typeof sequence === "string"
        ? sequence
        : String(context.services.catalogFunction("regclassout", [sequence]));
    const common = { returns: "i64", category: "sequence", volatility: "volatile" } as const;
    return [
      {
        ...common,
        name: "nextval",
        takes: key,
        summary: "Advances a sequence and returns its value.",
        runIn: (context, sequence: SqlValue) => context.services.nextSequenceValue(nameOf(context, sequence)),
      },
      {
        ...common,
        name: "currval",
        takes: key,
        summary: "The value that nextval last returned for a sequence in this session.",
        runIn: (context, sequence: SqlValue) =>
          context.services.currentSequenceValue(nameOf(context, sequence)),
      },
      {
        ...common,
        name: "setval",
        takes: `${key}, i64`,
        summary: "Sets the value of a sequence; the next one follows it.",
        runIn: (context, sequence: SqlValue, value: NumberOrBigint) => {
          context.services.setSequenceValue(nameOf(context, sequence), value, true);
          return value;
        },
      },
      {
        ...common,
        name: "setval",
        takes: `${key}, i64, bool`,
        summary: "Sets the value of a sequence; with false it is the next one itself.",
        runIn: (context, sequence: SqlValue, value: NumberOrBigint, called: boolean) => {
          context.services.setSequenceValue(nameOf(context, sequence), value, called);
          return value;
        },
      },
    ];
  }),
  {
    name: "lastval",
    takes: "",
    returns: "i64",
    category: "sequence",
    volatility: "volatile",
    summary: "The value that nextval last returned in this session.",
    runIn: (context) => context.services.lastSequenceValue(),
  },
];

const overloads: readonly Overload[] = [
  ...catalogFunctions(),
  ...fixedFunctions(),
  {
    ...system,
    name: "version",
    takes: "",
    returns: "text",
    summary: "Version of the server.",
    volatility: "stable",
    runIn: (context) => `PostgreSQL ${context.services.getSetting("server_version") ?? "15.0"}, 64-bit`,
  },
  ...privilegeFunctions(),
  ...contextCalls.map(([name, returns, summary, runIn]): Overload => ({
    ...system,
    name,
    takes: "",
    returns,
    summary,
    volatility: "stable",
    mayReturnNull: true,
    runIn,
  })),
  {
    ...system,
    name: "current_schemas",
    takes: "bool",
    returns: "name[]",
    summary: "Schemas of the search path.",
    volatility: "stable",
    runIn: schemas,
  },
  {
    ...system,
    name: "pg_typeof",
    takes: "any",
    returns: "regtype",
    summary: "Type of the argument.",
    strict: false,
    mayReturnNull: false,
    specialize: (_types, [written]) => {
      if (written === undefined) return undefined;
      const oid = typeOid(written);
      return { argumentTypes: [written], run: () => oid, inline: () => String(oid), mayReturnNull: false };
    },
  },
  {
    ...system,
    name: "current_setting",
    takes: "text",
    returns: "text",
    summary: "Value of a setting.",
    volatility: "stable",
    runIn: (context, name: string) => {
      const value = context.services.getSetting(name);
      if (value === undefined) throw unknownSetting(name);
      return value;
    },
  },
  {
    ...system,
    name: "current_setting",
    takes: "text, bool",
    returns: "text",
    summary: "Value of a setting; NULL when there is none and the second argument is true.",
    volatility: "stable",
    mayReturnNull: true,
    runIn: (context, name: string, missingOk: boolean) => {
      const value = context.services.getSetting(name);
      if (value === undefined && !missingOk) throw unknownSetting(name);
      return value ?? null;
    },
  },
  {
    ...system,
    name: "set_config",
    takes: "text, text, bool",
    returns: "text",
    summary: "Changes a setting, with true for the transaction only.",
    volatility: "volatile",
    strict: false,
    runIn: setSetting,
  },
  {
    ...system,
    name: "format_type",
    takes: "oid, i32",
    returns: "text",
    summary: "SQL name of a type.",
    volatility: "stable",
    strict: false,
    runIn: (context, oid: number | null, modifier: number | null) => {
      if (oid === null) return null;
      if (oid === 0) return "-";
      return formatTypeByOid(oid, modifier) ??
        context.services.catalogFunction("format_type", [oid, modifier]) ?? "???";
    },
  },
  {
    ...system,
    name: "pg_encoding_to_char",
    takes: "i32",
    returns: "name",
    summary: "Name of an encoding.",
    run: encodingName,
  },
  {
    ...system,
    name: "pg_char_to_encoding",
    takes: "name",
    returns: "i32",
    summary: "Number of an encoding.",
    run: encodingNumber,
  },
  {
    ...system,
    name: "pg_size_pretty",
    takes: "i64",
    returns: "text",
    summary: "Bytes in a unit for readers.",
    run: (size: NumberOrBigint) => prettySize(Decimal.fromInteger(size)),
  },
  {
    ...system,
    name: "pg_size_pretty",
    takes: "numeric",
    returns: "text",
    summary: "Bytes in a unit for readers.",
    run: prettySize,
  },
  {
    ...system,
    name: "pg_size_bytes",
    takes: "text",
    returns: "i64",
    summary: "Number of bytes of a size with unit.",
    run: sizeInBytes,
  },
  {
    ...system,
    name: "pg_column_size",
    takes: "any",
    returns: "i32",
    summary: "Bytes that a value takes.",
    specialize: ([type]) => type === undefined ? undefined : { run: columnSize(type) },
  },
  {
    ...system,
    name: "pg_collation_for",
    takes: "any",
    returns: "text",
    summary: "Collation of the argument.",
    strict: false,
    specialize: ([type = { kind: "text" }]) => ({ run: () => collationOf(type) }),
  },
  {
    ...system,
    name: "pg_is_other_temp_schema",
    takes: "oid",
    returns: "bool",
    summary: "Whether a schema is another session's temporary one; never.",
    run: () => false,
  },
  {
    ...system,
    name: "pg_tablespace_location",
    takes: "oid",
    returns: "text",
    summary: "Directory of a tablespace; there are none.",
    run: () => "",
  },
  {
    ...system,
    name: "row_security_active",
    takes: "regclass",
    returns: "bool",
    summary: "Whether row security holds; never.",
    run: () => false,
  },
  ...["gen_random_uuid", "uuid_generate_v4"].map((name): Overload => ({
    ...system,
    name,
    takes: "",
    returns: "uuid",
    summary: "A random UUID (version 4).",
    volatility: "volatile",
    runIn: randomUuid,
  })),
  {
    name: "num_nulls",
    takes: "any",
    returns: "i32",
    category: "conditional",
    variadic: true,
    spread: {
      specialize: () => (_context, array: SqlArray) =>
        array.elements.filter((value) => value === null).length,
    },
    strict: false,
    summary: "How many arguments are NULL.",
    specialize: (types) => ({
      argumentTypes: types,
      run: (...values: SqlValue[]) => values.filter((value) => value === null).length,
      mayReturnNull: false,
    }),
  },
  {
    name: "num_nonnulls",
    takes: "any",
    returns: "i32",
    category: "conditional",
    variadic: true,
    spread: {
      specialize: () => (_context, array: SqlArray) =>
        array.elements.filter((value) => value !== null).length,
    },
    strict: false,
    summary: "How many arguments are not NULL.",
    specialize: (types) => ({
      argumentTypes: types,
      run: (...values: SqlValue[]) => values.filter((value) => value !== null).length,
      mayReturnNull: false,
    }),
  },
  {
    name: "pg_get_keywords",
    takes: "",
    returns: "record",
    category: "set-returning",
    summary: "The key words of SQL and their categories.",
    rows: keywordRows,
    rowColumns: [
      { name: "word", type: { kind: "text" } },
      { name: "catcode", type: { kind: "internal_char" } },
      { name: "barelabel", type: { kind: "bool" } },
      { name: "catdesc", type: { kind: "text" } },
      { name: "baredesc", type: { kind: "text" } },
    ],
  },
  {
    name: "_pg_expandarray",
    takes: "anyarray",
    returns: "record",
    category: "set-returning",
    summary: "The elements of an array and their positions as rows.",
    specialize: ([type]) => ({
      rows: (_context, value: SqlArray) => value.elements.map((element, index) => [element, index + 1]),
      rowColumns: [
        { name: "x", type: type?.kind === "array" ? type.element : { kind: "text" } },
        { name: "n", type: { kind: "i32" } },
      ],
    }),
  },
  {
    name: "pg_options_to_table",
    takes: "text[]",
    returns: "record",
    category: "set-returning",
    summary: "Options written name=value as rows.",
    rows: (_context, options: SqlArray) =>
      options.elements.map((option) => {
        const [name = "", ...rest] = String(option).split("=");
        return [name, rest.length === 0 ? null : rest.join("=")];
      }),
    rowColumns: [
      { name: "option_name", type: { kind: "text" } },
      { name: "option_value", type: { kind: "text" } },
    ],
  },
  ...sequences,
];

/** System information, settings and sequences. */
export const systemFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
