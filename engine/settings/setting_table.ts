/**
 * The settings (PostgreSQL 15's run-time parameters) as data: one line each, under the headings of their categories.
 *
 * A line is `name type[/unit] initial [range or choices] [flags]`; `-` is an empty initial value, a space in a value is
 * written `~`. A range without upper end goes as far as the type. Flags: `superuser`, and the contexts in which a
 * setting is given outside of sessions (`backend`: when one begins; `internal`, `postmaster`, `sighup`), `reported` to
 * clients, `list` of names, `hidden` from SHOW ALL and pg_settings, and `effect`: everything without it is accepted,
 * checked and without effect.
 */
import { assert } from "../base/assert.ts";

/** Type of a setting's value, as pg_settings names it. */
export type SettingType = "bool" | "integer" | "real" | "enum" | "string";

/** Who may change a setting, and when. */
export type SettingContext = "user" | "superuser" | "backend" | "internal" | "postmaster" | "sighup";

/** One known setting. */
export interface SettingDefinition {
  /** In the spelling that is shown. */
  readonly name: string;
  readonly type: SettingType;
  /** Unit of numbers, or "". */
  readonly unit: string;
  /** In the base unit. */
  readonly initial: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly choices: readonly string[];
  readonly context: SettingContext;
  readonly category: string;
  /** Sent to the client at connect and on each change. */
  readonly reported: boolean;
  /** Takes a list of names. */
  readonly list: boolean;
  /** Left out of SHOW ALL and pg_settings. */
  readonly hidden: boolean;
  readonly effect: boolean;
}

/** PostgreSQL version that drivers see; the product's own is behind it. */
export const SERVER_VERSION = "15.8";

const LEVELS = "debug5,debug4,debug3,debug2,debug1,info,notice,warning,error,log,fatal,panic";
const ISOLATIONS = "serializable,repeatable~read,read~committed,read~uncommitted";

const TABLE = `
# Client Connection Defaults / Locale and Formatting
client_encoding string UTF8 reported effect
DateStyle string ISO,~MDY reported list effect
default_text_search_config string pg_catalog.simple
extra_float_digits integer 1 -15..3 effect
IntervalStyle enum postgres postgres,postgres_verbose,sql_standard,iso_8601 reported effect
lc_messages string C superuser
lc_monetary string C
lc_numeric string C
lc_time string C
TimeZone string UTC reported effect
timezone_abbreviations string Default
# Client Connection Defaults / Other Defaults
dynamic_library_path string $libdir superuser
gin_fuzzy_search_limit integer 0 0..
# Client Connection Defaults / Shared Library Preloading
local_preload_libraries string - list
session_preload_libraries string - list superuser
shared_preload_libraries string - list postmaster
# Client Connection Defaults / Statement Behavior
bytea_output enum hex escape,hex effect
check_function_bodies bool on
client_min_messages enum notice debug5,debug4,debug3,debug2,debug1,log,notice,warning,error effect
default_table_access_method string heap
default_tablespace string -
default_toast_compression enum pglz pglz,lz4
default_transaction_deferrable bool off effect
default_transaction_isolation enum serializable ${ISOLATIONS} effect
default_transaction_read_only bool off reported effect
default_with_oids bool off hidden
gin_pending_list_limit integer/kB 4096 64..
idle_in_transaction_session_timeout integer/ms 0 0.. effect
idle_session_timeout integer/ms 0 0.. effect
lock_timeout integer/ms 0 0.. effect
role string none hidden effect
row_security bool on
search_path string "$user",~public list effect
seed real - -1..1 hidden
session_authorization string - reported hidden effect
session_replication_role enum origin origin,replica,local superuser
statement_timeout integer/ms 0 0.. effect
temp_tablespaces string - list
transaction_deferrable bool off effect
transaction_isolation enum serializable ${ISOLATIONS} effect
transaction_read_only bool off effect
transaction_timeout integer/ms 0 0..0 hidden
vacuum_failsafe_age integer 1600000000 0..2100000000
vacuum_freeze_min_age integer 50000000 0..1000000000
vacuum_freeze_table_age integer 150000000 0..2000000000
vacuum_multixact_failsafe_age integer 1600000000 0..2100000000
vacuum_multixact_freeze_min_age integer 5000000 0..1000000000
vacuum_multixact_freeze_table_age integer 150000000 0..2000000000
xmlbinary enum base64 base64,hex
xmloption enum content content,document
# Connections and Authentication / Authentication
password_encryption enum scram-sha-256 md5,scram-sha-256
# Connections and Authentication / Connection Settings
client_connection_check_interval integer/ms 0 0..
max_connections integer 256 1..262143 postmaster effect
tcp_keepalives_count integer 0 0..
tcp_keepalives_idle integer/s 0 0..
tcp_keepalives_interval integer/s 0 0..
tcp_user_timeout integer/ms 0 0..
# Connections and Authentication / SSL
ssl bool off sighup effect
# Developer Options
allow_in_place_tablespaces bool off superuser
allow_system_table_mods bool off superuser
backtrace_functions string - superuser
debug_discard_caches integer 0 0..0 superuser
force_parallel_mode enum off off,on,regress
ignore_checksum_failure bool off superuser
jit_dump_bitcode bool off superuser
jit_expressions bool on
jit_tuple_deforming bool on
trace_notify bool off
trace_sort bool off
wal_consistency_checking string - list superuser
zero_damaged_pages bool off superuser
# Error Handling
exit_on_error bool off
# Lock Management
deadlock_timeout integer/ms 1000 1.. superuser
# Preset Options
block_size integer 8192 8192..8192 internal
data_checksums bool on internal effect
in_hot_standby bool off internal reported effect
integer_datetimes bool on internal reported effect
is_superuser bool on internal reported hidden effect
lc_collate string C internal effect
lc_ctype string C.UTF-8 internal effect
max_function_args integer 100 100..100 internal
max_identifier_length integer 63 63..63 internal effect
max_index_keys integer 32 32..32 internal effect
server_encoding string UTF8 internal reported effect
server_version string ${SERVER_VERSION} internal reported effect
server_version_num integer 150008 150008..150008 internal effect
# Query Tuning / Genetic Query Optimizer
geqo bool on
geqo_effort integer 5 1..10
geqo_generations integer 0 0..
geqo_pool_size integer 0 0..
geqo_seed real 0 0..1
geqo_selection_bias real 2 1.5..2
geqo_threshold integer 12 2..
# Query Tuning / Other Planner Options
constraint_exclusion enum partition partition,on,off
cursor_tuple_fraction real 0.1 0..1
default_statistics_target integer 100 1..10000
from_collapse_limit integer 8 1..
jit bool on
join_collapse_limit integer 8 1..
plan_cache_mode enum auto auto,force_generic_plan,force_custom_plan
recursive_worktable_factor real 10 0.001..1e+06
# Query Tuning / Planner Cost Constants
cpu_index_tuple_cost real 0.005 0..
cpu_operator_cost real 0.0025 0..
cpu_tuple_cost real 0.01 0..
effective_cache_size integer/8kB 524288 1..
jit_above_cost real 100000 -1..
jit_inline_above_cost real 500000 -1..
jit_optimize_above_cost real 500000 -1..
min_parallel_index_scan_size integer/8kB 64 0..715827882
min_parallel_table_scan_size integer/8kB 1024 0..715827882 effect
parallel_setup_cost real 1000 0..
parallel_tuple_cost real 0.1 0..
random_page_cost real 4 0..
seq_page_cost real 1 0..
# Query Tuning / Planner Method Configuration
enable_async_append bool on
enable_bitmapscan bool on
enable_gathermerge bool on
enable_hashagg bool on
enable_hashjoin bool on
enable_incremental_sort bool on
enable_indexonlyscan bool on
enable_indexscan bool on
enable_material bool on
enable_memoize bool on
enable_mergejoin bool on
enable_nestloop bool on
enable_parallel_append bool on
enable_parallel_hash bool on
enable_partition_pruning bool on
enable_partitionwise_aggregate bool off
enable_partitionwise_join bool off
enable_seqscan bool on
enable_sort bool on
enable_tidscan bool on
# Replication / Standby Servers
follower_max_staleness integer/ms 1000 -1.. effect
min_op string 0 effect
broadcast_limit integer/kB 32768 0.. effect
partial_on_timeout bool off effect
read_from enum primary primary,follower backend effect
scatter_timeout integer/ms 30000 0.. effect
seen_op string 0 internal effect
# Replication / Sending Servers
wal_sender_timeout integer/ms 60000 0..
# Reporting and Logging / Process Title
update_process_title bool on superuser
# Reporting and Logging / What to Log
application_name string - reported effect
debug_pretty_print bool on
debug_print_parse bool off
debug_print_plan bool off
debug_print_rewritten bool off
log_duration bool off superuser
log_error_verbosity enum default terse,default,verbose superuser
log_lock_waits bool off superuser
log_parameter_max_length integer/B -1 -1..1073741823 superuser
log_parameter_max_length_on_error integer/B 0 -1..1073741823
log_replication_commands bool off superuser
log_statement enum none none,ddl,mod,all superuser
log_temp_files integer/kB -1 -1.. superuser
# Reporting and Logging / When to Log
log_min_duration_sample integer/ms -1 -1.. superuser
log_min_duration_statement integer/ms -1 -1.. superuser
log_min_error_statement enum error ${LEVELS} superuser
log_min_messages enum warning ${LEVELS} superuser
log_statement_sample_rate real 1 0..1 superuser
log_transaction_sample_rate real 0 0..1 superuser
# Resource Usage / Asynchronous Behavior
backend_flush_after integer/8kB 0 0..256
effective_io_concurrency integer 1 0..1000
maintenance_io_concurrency integer 10 0..1000
max_parallel_maintenance_workers integer 2 0..1024
max_parallel_workers integer 8 0..1024 effect
max_parallel_workers_per_gather integer 2 0..1024
parallel_leader_participation bool on
# Resource Usage / Cost-Based Vacuum Delay
vacuum_cost_delay real/ms 0 0..100
vacuum_cost_limit integer 200 1..10000
vacuum_cost_page_dirty integer 20 0..10000
vacuum_cost_page_hit integer 1 0..10000
vacuum_cost_page_miss integer 2 0..10000
# Resource Usage / Disk
temp_file_limit integer/kB -1 -1.. superuser effect
# Resource Usage / Memory
hash_mem_multiplier real 2 1..1000
logical_decoding_work_mem integer/kB 65536 64..
maintenance_work_mem integer/kB 65536 1024..
max_prepared_transactions integer 0 0..262143 postmaster effect
max_stack_depth integer/kB 2048 100.. superuser
query_memory_timeout integer/ms 60000 0.. effect
statement_memory integer/kB 65536 1024.. effect
temp_buffers integer/8kB 1024 100..1073741823
work_mem integer/kB 4096 64..
# Statistics / Cumulative Query and Index Statistics
stats_fetch_consistency enum cache none,cache,snapshot
track_activities bool on superuser
track_counts bool on superuser
track_functions enum none none,pl,all superuser
track_io_timing bool off superuser
track_wal_io_timing bool off superuser
# Statistics / Monitoring
compute_query_id enum auto auto,regress,on,off superuser
log_executor_stats bool off superuser
log_parser_stats bool off superuser
log_planner_stats bool off superuser
log_statement_stats bool off superuser
# Version and Platform Compatibility / Other Platforms and Clients
transform_null_equals bool off effect
# Version and Platform Compatibility / Previous PostgreSQL Versions
array_nulls bool on effect
backslash_quote enum safe_encoding safe_encoding,on,off effect
escape_string_warning bool on
lo_compat_privileges bool off superuser
quote_all_identifiers bool off effect
standard_conforming_strings bool on reported effect
synchronize_seqscans bool on
# Write-Ahead Log / Settings
commit_delay integer 0 0..100000 superuser
commit_siblings integer 5 0..1000
fsync bool on sighup effect
synchronous_commit enum on local,remote_write,remote_apply,on,off
wal_compression enum off pglz,lz4,zstd,on,off superuser
wal_init_zero bool on superuser
wal_level enum replica minimal,replica,logical postmaster
wal_recycle bool on superuser
wal_skip_threshold integer/kB 2048 0..
`;

const CONTEXTS: readonly SettingContext[] = ["superuser", "backend", "internal", "postmaster", "sighup"];
const MAXIMUM = { integer: 2147483647, real: Number.MAX_VALUE };

/** Every known setting by its name in lower case, in alphabetical order. */
export const SETTINGS: ReadonlyMap<string, SettingDefinition> = readTable(TABLE);

function readTable(text: string): Map<string, SettingDefinition> {
  const definitions: SettingDefinition[] = [];
  let category = "";
  for (const line of text.trim().split("\n")) {
    if (line.startsWith("# ")) category = line.slice(2);
    else definitions.push(readLine(line, category));
  }
  const sorted = definitions.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  return new Map(sorted.map((definition) => [definition.name.toLowerCase(), definition]));
}

function readLine(line: string, category: string): SettingDefinition {
  const [name = "", kind = "", initial = "", ...rest] = line.split(" ");
  const [type = "", unit = ""] = kind.split("/");
  assert(isType(type), `type of the setting ${line}`);
  const isNumber = type === "integer" || type === "real";
  const range = isNumber ? (rest.shift() ?? "").split("..") : [];
  const choices = type === "enum" ? (rest.shift() ?? "").replaceAll("~", " ").split(",") : [];
  return {
    name,
    type,
    unit,
    initial: initial === "-" ? "" : initial.replaceAll("~", " "),
    minimum: Number(range[0] ?? 0),
    maximum: !isNumber ? 0 : range[1] === "" ? MAXIMUM[type] : Number(range[1]),
    choices,
    context: CONTEXTS.find((context) => rest.includes(context)) ?? "user",
    category,
    reported: rest.includes("reported"),
    list: rest.includes("list"),
    hidden: rest.includes("hidden"),
    effect: rest.includes("effect"),
  };
}

function isType(text: string): text is SettingType {
  return ["bool", "integer", "real", "enum", "string"].includes(text);
}
