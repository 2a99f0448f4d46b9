/**
 * Inquiries about things that do not exist here, which clients make all the same while they browse: partitions, access
 * lists, extended statistics, text search, replication. Each has the answer of a PostgreSQL in which there are none.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const system = { category: "system" } as const;

/** What a name without schema means can only be the object itself: all of them are in pg_catalog. */
const visible = [
  "pg_collation_is_visible",
  "pg_conversion_is_visible",
  "pg_operator_is_visible",
  "pg_opclass_is_visible",
  "pg_opfamily_is_visible",
  "pg_statistics_obj_is_visible",
  "pg_ts_config_is_visible",
  "pg_ts_dict_is_visible",
  "pg_ts_parser_is_visible",
  "pg_ts_template_is_visible",
];

/** Functions with one answer: name, argument types, result type, what for, the answer. */
const answers:
  readonly (readonly [string, takes: string, returns: string, summary: string, answer: SqlValue])[] = [
    ["pg_partition_root", "regclass", "regclass", "Topmost table of a partition; there are none.", null],
    ["pg_get_function_arg_default", "oid, i32", "text", "Default of an argument; there are none.", null],
    ["pg_get_function_sqlbody", "oid", "text", "SQL body of a function; there are none.", null],
    ["pg_get_partition_constraintdef", "oid", "text", "Constraint of a partition; there are none.", null],
    [
      "pg_get_replica_identity_index",
      "regclass",
      "regclass",
      "Index that identifies rows in replication.",
      null,
    ],
    ["pg_relation_filepath", "regclass", "text", "File of a relation; tables share theirs.", null],
    ["pg_relation_is_updatable", "regclass, bool", "i32", "Events that a relation accepts, as bits.", 28],
    ["pg_column_is_updatable", "regclass, i16, bool", "bool", "Whether a column can be updated.", true],
    ["pg_tablespace_size", "oid", "i64", "Bytes of a tablespace.", null],
    ["pg_tablespace_size", "name", "i64", "Bytes of a tablespace.", null],
    ["pg_is_wal_replay_paused", "", "bool", "Whether replay is paused.", false],
    ["pg_last_wal_receive_lsn", "", "text", "Position of the log that a backup has received.", null],
    ["pg_last_wal_replay_lsn", "", "text", "Position of the log that a backup has applied.", null],
    [
      "pg_last_xact_replay_timestamp",
      "",
      "timestamptz",
      "Time of the last entry that a backup applied.",
      null,
    ],
    ["pg_trigger_depth", "", "i32", "How deeply triggers are nested.", 0],
    ["pg_jit_available", "", "bool", "Whether plans can be compiled; they always are.", false],
    ["pg_stat_get_snapshot_timestamp", "", "timestamptz", "When statistics were read.", null],
    ["pg_current_logfile", "", "text", "File of the log for people.", null],
    ["pg_safe_snapshot_blocking_pids", "i32", "i32[]", "Sessions that a snapshot waits for.", SqlArray.EMPTY],
    ["pg_stat_get_numscans", "oid", "i64", "Scans of a relation; they are not counted.", 0],
    ["pg_stat_get_live_tuples", "oid", "i64", "Live rows; they are not counted.", 0],
    ["pg_stat_get_dead_tuples", "oid", "i64", "Dead rows; they are not counted.", 0],
    ["pg_options_valid", "text[]", "bool", "Whether storage options are valid.", true],
    ["acldefault", "internal_char, oid", "text[]", "Privileges without any GRANT.", SqlArray.EMPTY],
  ];

/** Set-returning functions that never return a row: name, argument types, columns. */
const empties: readonly (readonly [
  string,
  takes: string,
  columns: readonly (readonly [string, "oid" | "text" | "bool" | "i32" | "regclass"])[],
])[] = [
  ["pg_partition_tree", "regclass", [
    ["relid", "regclass"],
    ["parentrelid", "regclass"],
    ["isleaf", "bool"],
    ["level", "i32"],
  ]],
  ["aclexplode", "text[]", [["grantor", "oid"], ["grantee", "oid"], ["privilege_type", "text"], [
    "is_grantable",
    "bool",
  ]]],
  ["pg_get_publication_tables", "text", [["relid", "oid"]]],
  ["pg_tablespace_databases", "oid", [["pg_tablespace_databases", "oid"]]],
];

/** Rows of what the catalog has made of a list of common combinations. */
function commonItems(list: string): SqlValue[][] {
  let items: unknown;
  try {
    items = JSON.parse(list);
  } catch {
    items = null;
  }
  if (!Array.isArray(items) || !items.every(isCommonItem)) {
    throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "not a list of common combinations");
  }
  return items.map(([values, share, independentShare], index) => [
    index,
    SqlArray.of(values),
    SqlArray.of(values.map((value) => value === null)),
    share,
    independentShare,
  ]);
}

function isCommonItem(item: unknown): item is [(string | null)[], number, number] {
  if (!Array.isArray(item) || item.length !== 3) return false;
  const [values, share, independentShare]: unknown[] = item;
  return Array.isArray(values) && values.every((value) => value === null || typeof value === "string") &&
    typeof share === "number" && typeof independentShare === "number";
}

const overloads: readonly Overload[] = [
  ...visible.map((name): Overload => ({
    ...system,
    name,
    takes: "oid",
    returns: "bool",
    summary: "Whether an object is found without its schema.",
    volatility: "stable",
    run: () => true,
  })),
  ...answers.map(([name, takes, returns, summary, answer]): Overload => ({
    ...system,
    name,
    takes,
    returns,
    summary,
    volatility: "stable",
    mayReturnNull: true,
    run: () => answer,
  })),
  ...empties.map(([name, takes, columns]): Overload => ({
    name,
    category: "set-returning",
    takes,
    returns: "record",
    summary: "No rows: there is nothing of the kind.",
    volatility: "stable",
    rows: () => [],
    rowColumns: columns.map(([column, kind]) => ({ name: column, type: { kind } })),
  })),
  {
    name: "pg_listening_channels",
    category: "set-returning",
    takes: "",
    returns: "text",
    summary: "The channels that the session listens to.",
    volatility: "stable",
    rows: (context) => {
      const channels = context.services.catalogFunction("pg_listening_channels", []);
      return channels instanceof SqlArray ? channels.elements.map((channel) => [channel]) : [];
    },
  },
  {
    name: "pg_mcv_list_items",
    category: "set-returning",
    takes: "text",
    returns: "record",
    summary: "The common combinations in `stxdmcv` of pg_statistic_ext_data.",
    rows: (_context, list: SqlValue) => typeof list === "string" ? commonItems(list) : [],
    rowColumns: [
      { name: "index", type: { kind: "i32" } },
      { name: "values", type: { kind: "array", element: { kind: "text" } } },
      { name: "nulls", type: { kind: "array", element: { kind: "bool" } } },
      { name: "frequency", type: { kind: "f64" } },
      { name: "base_frequency", type: { kind: "f64" } },
    ],
  },
  {
    name: "pg_partition_ancestors",
    category: "set-returning",
    takes: "regclass",
    returns: "regclass",
    summary: "A table and those it is a partition of; only itself.",
    volatility: "stable",
    rows: (_context, relation: SqlValue) => [[relation]],
    rowColumns: [{ name: "relid", type: { kind: "regclass" } }],
  },
];

/**
 * Inquiries about things that do not exist here, which clients make all the same while they browse: partitions,
 * access lists, extended statistics, text search, replication.
 */
export const catalogInquiryFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
