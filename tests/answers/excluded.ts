/**
 * Operators, functions and aggregates whose answers are not compared with PostgreSQL's, each with its reason.
 * Whatever is not named here is compared, also what is defined tomorrow. A name alone stands for all its signatures.
 */

const BY_REASON: Readonly<Record<string, readonly string[]>> = {
  "depends on the clock": [
    ...[
      "now",
      "transaction_timestamp",
      "statement_timestamp",
      "clock_timestamp",
      "timeofday",
      "current_timestamp",
      "current_time",
    ],
    ...["current_date", "localtime", "localtimestamp", "pg_sleep", "age(timestamp)", "age(timestamptz)"],
  ],
  "draws random numbers, or seeds them": ["random", "setseed", "gen_random_uuid", "uuid_generate_v4"],
  "is of this product alone": ["hmac_sha256"],
  "stands for a special syntax; PostgreSQL has no function of this name": [
    "trim",
    "current_catalog",
    "overlaps",
  ],
  "has records, which have no type that a column can have": [
    ...[
      "row_to_json",
      "json_to_record",
      "json_to_recordset",
      "json_populate_record",
      "json_populate_recordset",
      "jsonb_to_record",
    ],
    ...["jsonb_to_recordset", "jsonb_populate_record", "jsonb_populate_recordset"],
  ],
  "depends on the catalog, the session or the server": [
    ...[
      "acldefault",
      "aclexplode",
      "col_description",
      "current_database",
      "current_query",
      "current_role",
      "current_schema",
    ],
    ...[
      "current_schemas",
      "current_setting",
      "current_user",
      "currval",
      "getdatabaseencoding",
      "has_any_column_privilege",
    ],
    ...[
      "has_column_privilege",
      "has_database_privilege",
      "has_foreign_data_wrapper_privilege",
      "has_function_privilege",
    ],
    ...[
      "has_language_privilege",
      "has_parameter_privilege",
      "has_schema_privilege",
      "has_sequence_privilege",
      "has_server_privilege",
    ],
    ...[
      "has_table_privilege",
      "has_tablespace_privilege",
      "has_type_privilege",
      "inet_client_addr",
      "inet_client_port",
    ],
    ...["inet_server_addr", "inet_server_port", "lastval", "nextval", "obj_description", "pg_advisory_lock"],
    ...[
      "pg_advisory_lock_shared",
      "pg_advisory_unlock",
      "pg_advisory_unlock_all",
      "pg_advisory_unlock_shared",
    ],
    ...[
      "pg_advisory_xact_lock",
      "pg_advisory_xact_lock_shared",
      "pg_backend_pid",
      "pg_blocking_pids",
      "pg_cancel_backend",
    ],
    ...["pg_client_encoding", "pg_collation_is_visible", "pg_column_is_updatable", "pg_conf_load_time"],
    ...[
      "pg_conversion_is_visible",
      "pg_current_logfile",
      "pg_current_wal_lsn",
      "pg_current_xact_id",
      "pg_database_size",
    ],
    ...[
      "pg_describe_object",
      "pg_function_is_visible",
      "pg_get_constraintdef",
      "pg_get_expr",
      "pg_get_function_arg_default",
    ],
    ...[
      "pg_get_function_arguments",
      "pg_get_function_identity_arguments",
      "pg_get_function_result",
      "pg_get_function_sqlbody",
    ],
    ...[
      "pg_get_functiondef",
      "pg_mcv_list_items",
      "pg_get_indexdef",
      "pg_get_keywords",
      "pg_get_partition_constraintdef",
      "pg_get_partkeydef",
    ],
    ...[
      "pg_get_publication_tables",
      "pg_get_replica_identity_index",
      "pg_get_ruledef",
      "pg_get_serial_sequence",
    ],
    ...[
      "pg_get_statisticsobjdef",
      "pg_get_statisticsobjdef_columns",
      "pg_get_triggerdef",
      "pg_get_userbyid",
      "pg_get_viewdef",
    ],
    ...[
      "pg_has_role",
      "pg_index_column_has_property",
      "pg_index_has_property",
      "pg_indexam_has_property",
      "pg_indexes_size",
    ],
    ...[
      "pg_is_in_recovery",
      "pg_is_other_temp_schema",
      "pg_is_wal_replay_paused",
      "pg_jit_available",
      "pg_last_wal_receive_lsn",
    ],
    ...[
      "pg_last_wal_replay_lsn",
      "pg_last_xact_replay_timestamp",
      "pg_listening_channels",
      "pg_my_temp_schema",
      "pg_notify",
    ],
    ...[
      "pg_opclass_is_visible",
      "pg_operator_is_visible",
      "pg_opfamily_is_visible",
      "pg_partition_ancestors",
    ],
    ...[
      "pg_partition_root",
      "pg_partition_tree",
      "pg_postmaster_start_time",
      "pg_relation_filenode",
      "pg_relation_filepath",
    ],
    ...["pg_relation_is_publishable", "pg_relation_is_updatable", "pg_relation_size", "pg_reload_conf"],
    ...[
      "pg_safe_snapshot_blocking_pids",
      "pg_sequence_last_value",
      "pg_stat_get_dead_tuples",
      "pg_stat_get_live_tuples",
    ],
    ...[
      "pg_stat_get_numscans",
      "pg_stat_get_snapshot_timestamp",
      "pg_statistics_obj_is_visible",
      "pg_table_is_visible",
    ],
    ...[
      "pg_table_size",
      "pg_tablespace_databases",
      "pg_tablespace_location",
      "pg_tablespace_size",
      "pg_terminate_backend",
    ],
    ...["pg_total_relation_size", "pg_trigger_depth", "pg_try_advisory_lock", "pg_try_advisory_lock_shared"],
    ...[
      "pg_try_advisory_xact_lock",
      "pg_try_advisory_xact_lock_shared",
      "pg_ts_config_is_visible",
      "pg_ts_dict_is_visible",
    ],
    ...[
      "pg_ts_parser_is_visible",
      "pg_ts_template_is_visible",
      "pg_type_is_visible",
      "row_security_active",
      "session_user",
    ],
    ...[
      "set_config",
      "setval",
      "shobj_description",
      "to_regclass",
      "to_regnamespace",
      "to_regproc",
      "txid_current",
    ],
    ...["txid_current_if_assigned", "user", "version"],
  ],
  "belongs to PostgreSQL's information schema": [
    "_pg_expandarray",
    "pg_options_valid",
    "pg_options_to_table",
  ],
  "counts bytes of a storage that is not PostgreSQL's": ["pg_column_size"],
};

const reasons = new Map(
  Object.entries(BY_REASON).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Whether a definition is not compared; its signature's types that no column can have count too. */
export function isExcluded(name: string, signature: readonly string[]): boolean {
  return reasons.has(name) || reasons.has(`${name}(${signature.join(", ")})`) ||
    signature.some((key) => key === "record" || key.startsWith("reg"));
}

/** The names that are excluded, to see that each of them exists. */
export function excludedNames(): readonly string[] {
  return [...reasons.keys()];
}
