/**
 * The columns of the views of `pg_catalog`, as PostgreSQL 15's documentation ("System Catalogs", "System Views", "The
 * Information Schema") gives them: name and type in order; `?` marks what can be NULL in a table. The number is the
 * relation's fixed object identifier, 0 where PostgreSQL has no fixed one. `db_cluster`,
 * `pg_external_sources` and `pg_stat_progress_refresh` are this product's own.
 *
 * Limit: these are names and types only; what is in the rows is computed by the files next to this one.
 */
import type { RelationShapes } from "./relation_shape.ts";

/** Views of pg_catalog by name. */
export const CATALOG_VIEW_SHAPES: RelationShapes = {
  db_cluster: [
    0,
    `
    member int4, address text, role text, is_self bool, state text, connected bool, last_contact_seconds float8,
    view int8, op int8, commit_op int8, applied_op int8, lag_operations int8, lag_seconds float8, read_lease text,
    transfer_op int8, transfer_bytes int8, transfer_total_bytes int8, checkpoint_op int8, checkpoint_id text,
    cluster_version int4, spoken_version int4`,
  ],
  db_shards: [
    0,
    `
    shard int4, role text, op int8, lag_operations int8, last_contact_seconds float8, rows int8, bytes int8,
    requests int8, messages int8, requests_per_second float8`,
  ],
  pg_available_extension_versions: [
    0,
    `
    name name, version text, installed bool, superuser bool, trusted bool, relocatable bool, schema name,
    requires _name, comment text`,
  ],
  pg_available_extensions: [
    0,
    `
    name name, default_version text, installed_version text, comment text`,
  ],
  pg_backend_memory_contexts: [
    0,
    `
    name text, ident text, parent text, level int4, total_bytes int8, total_nblocks int8, free_bytes int8,
    free_chunks int8, used_bytes int8`,
  ],
  pg_config: [
    0,
    `
    name text, setting text`,
  ],
  pg_cursors: [
    0,
    `
    name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool,
    creation_time timestamptz`,
  ],
  pg_external_sources: [
    0,
    `
    relid oid, schemaname name, sourcename name, url text, format text, key name, paging text, auth text,
    last_refresh timestamptz?, last_rows int8?, last_pages int8?, last_bytes int8?`,
  ],
  pg_file_settings: [
    0,
    `
    sourcefile text, sourceline int4, seqno int4, name text, setting text, applied bool, error text`,
  ],
  pg_group: [
    0,
    `
    groname name, grosysid oid, grolist _oid`,
  ],
  pg_hba_file_rules: [
    0,
    `
    line_number int4, type text, database _text, user_name _text, address text, netmask text,
    auth_method text, options _text, error text`,
  ],
  pg_ident_file_mappings: [
    0,
    `
    line_number int4, map_name text, sys_name text, pg_username text, error text`,
  ],
  pg_indexes: [
    0,
    `
    schemaname name, tablename name, indexname name, tablespace name, indexdef text`,
  ],
  pg_locks: [
    0,
    `
    locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid,
    classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool,
    fastpath bool, waitstart timestamptz`,
  ],
  pg_matviews: [
    0,
    `
    schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool,
    ispopulated bool, definition text`,
  ],
  pg_policies: [
    0,
    `
    schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text,
    with_check text`,
  ],
  pg_prepared_statements: [
    0,
    `
    name text, statement text, prepare_time timestamptz, parameter_types _regtype, from_sql bool,
    generic_plans int8, custom_plans int8`,
  ],
  pg_prepared_xacts: [
    0,
    `
    transaction xid, gid text, prepared timestamptz, owner name, database name`,
  ],
  pg_publication_tables: [
    0,
    `
    pubname name, schemaname name, tablename name, attnames _name, rowfilter text`,
  ],
  pg_replication_origin_status: [
    0,
    `
    local_id oid, external_id text, remote_lsn pg_lsn, local_lsn pg_lsn`,
  ],
  pg_replication_slots: [
    0,
    `
    slot_name name, plugin name, slot_type text, datoid oid, database name, temporary bool, active bool,
    active_pid int4, xmin xid, catalog_xmin xid, restart_lsn pg_lsn, confirmed_flush_lsn pg_lsn,
    wal_status text, safe_wal_size int8, two_phase bool`,
  ],
  pg_roles: [
    0,
    `
    rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool,
    rolreplication bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool,
    rolconfig _text, oid oid`,
  ],
  pg_rules: [
    0,
    `
    schemaname name, tablename name, rulename name, definition text`,
  ],
  pg_seclabels: [
    0,
    `
    objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text,
    label text`,
  ],
  pg_sequences: [
    0,
    `
    schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8,
    min_value int8, max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8`,
  ],
  pg_settings: [
    0,
    `
    name text, setting text, unit text, category text, short_desc text, extra_desc text, context text,
    vartype text, source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val text,
    sourcefile text, sourceline int4, pending_restart bool`,
  ],
  pg_shadow: [
    0,
    `
    usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool,
    passwd text, valuntil timestamptz, useconfig _text`,
  ],
  pg_shmem_allocations: [
    0,
    `
    name text, off int8, size int8, allocated_size int8`,
  ],
  pg_stat_activity: [
    0,
    `
    datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text,
    client_addr inet, client_hostname text, client_port int4, backend_start timestamptz,
    xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text,
    wait_event text, state text, backend_xid xid, backend_xmin xid, query_id int8, query text,
    backend_type text`,
  ],
  pg_stat_all_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
    idx_tup_read int8, idx_tup_fetch int8`,
  ],
  pg_stat_all_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8,
    n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz,
    last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8,
    autovacuum_count int8, analyze_count int8, autoanalyze_count int8`,
  ],
  pg_stat_archiver: [
    0,
    `
    archived_count int8, last_archived_wal text, last_archived_time timestamptz, failed_count int8,
    last_failed_wal text, last_failed_time timestamptz, stats_reset timestamptz`,
  ],
  pg_stat_bgwriter: [
    0,
    `
    checkpoints_timed int8, checkpoints_req int8, checkpoint_write_time float8, checkpoint_sync_time float8,
    buffers_checkpoint int8, buffers_clean int8, maxwritten_clean int8, buffers_backend int8,
    buffers_backend_fsync int8, buffers_alloc int8, stats_reset timestamptz`,
  ],
  pg_stat_database: [
    0,
    `
    datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8,
    blks_hit int8, tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8,
    tup_deleted int8, conflicts int8, temp_files int8, temp_bytes int8, deadlocks int8,
    checksum_failures int8, checksum_last_failure timestamptz, blk_read_time float8, blk_write_time float8,
    session_time float8, active_time float8, idle_in_transaction_time float8, sessions int8,
    sessions_abandoned int8, sessions_fatal int8, sessions_killed int8, stats_reset timestamptz`,
  ],
  pg_stat_database_conflicts: [
    0,
    `
    datid oid, datname name, confl_tablespace int8, confl_lock int8, confl_snapshot int8,
    confl_bufferpin int8, confl_deadlock int8`,
  ],
  pg_stat_gssapi: [
    0,
    `
    pid int4, gss_authenticated bool, principal text, encrypted bool`,
  ],
  pg_stat_progress_analyze: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, phase text, sample_blks_total int8,
    sample_blks_scanned int8, ext_stats_total int8, ext_stats_computed int8, child_tables_total int8,
    child_tables_done int8, current_child_table_relid oid`,
  ],
  pg_stat_progress_basebackup: [
    0,
    `
    pid int4, phase text, backup_total int8, backup_streamed int8, tablespaces_total int8,
    tablespaces_streamed int8`,
  ],
  pg_stat_progress_cluster: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, command text, phase text, cluster_index_relid oid,
    heap_tuples_scanned int8, heap_tuples_written int8, heap_blks_total int8, heap_blks_scanned int8,
    index_rebuild_count int8`,
  ],
  pg_stat_progress_copy: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8,
    bytes_total int8, tuples_processed int8, tuples_excluded int8`,
  ],
  pg_stat_progress_create_index: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, index_relid oid, command text, phase text,
    lockers_total int8, lockers_done int8, current_locker_pid int8, blocks_total int8, blocks_done int8,
    tuples_total int8, tuples_done int8, partitions_total int8, partitions_done int8`,
  ],
  pg_stat_progress_refresh: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, relname name, pages int8, rows int8, bytes int8`,
  ],
  pg_stat_progress_vacuum: [
    0,
    `
    pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total int8, heap_blks_scanned int8,
    heap_blks_vacuumed int8, index_vacuum_count int8, max_dead_tuples int8, num_dead_tuples int8`,
  ],
  pg_stat_recovery_prefetch: [
    0,
    `
    stats_reset timestamptz, prefetch int8, hit int8, skip_init int8, skip_new int8, skip_fpw int8,
    skip_rep int8, wal_distance int4, block_distance int4, io_depth int4`,
  ],
  pg_stat_replication: [
    0,
    `
    pid int4, usesysid oid, usename name, application_name text, client_addr inet, client_hostname text,
    client_port int4, backend_start timestamptz, backend_xmin xid, state text, sent_lsn pg_lsn,
    write_lsn pg_lsn, flush_lsn pg_lsn, replay_lsn pg_lsn, write_lag interval, flush_lag interval,
    replay_lag interval, sync_priority int4, sync_state text, reply_time timestamptz`,
  ],
  pg_stat_replication_slots: [
    0,
    `
    slot_name text, spill_txns int8, spill_count int8, spill_bytes int8, stream_txns int8,
    stream_count int8, stream_bytes int8, total_txns int8, total_bytes int8, stats_reset timestamptz`,
  ],
  pg_stat_slru: [
    0,
    `
    name text, blks_zeroed int8, blks_hit int8, blks_read int8, blks_written int8, blks_exists int8,
    flushes int8, truncates int8, stats_reset timestamptz`,
  ],
  pg_stat_ssl: [
    0,
    `
    pid int4, ssl bool, version text, cipher text, bits int4, client_dn text, client_serial numeric,
    issuer_dn text`,
  ],
  pg_stat_subscription: [
    0,
    `
    subid oid, subname name, pid int4, relid oid, received_lsn pg_lsn, last_msg_send_time timestamptz,
    last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz`,
  ],
  pg_stat_subscription_stats: [
    0,
    `
    subid oid, subname name, apply_error_count int8, sync_error_count int8, stats_reset timestamptz`,
  ],
  pg_stat_sys_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
    idx_tup_read int8, idx_tup_fetch int8`,
  ],
  pg_stat_sys_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8,
    n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz,
    last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8,
    autovacuum_count int8, analyze_count int8, autoanalyze_count int8`,
  ],
  pg_stat_user_functions: [
    0,
    `
    funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8`,
  ],
  pg_stat_user_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
    idx_tup_read int8, idx_tup_fetch int8`,
  ],
  pg_stat_user_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8,
    n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz,
    last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8,
    autovacuum_count int8, analyze_count int8, autoanalyze_count int8`,
  ],
  pg_stat_wal: [
    0,
    `
    wal_records int8, wal_fpi int8, wal_bytes numeric, wal_buffers_full int8, wal_write int8, wal_sync int8,
    wal_write_time float8, wal_sync_time float8, stats_reset timestamptz`,
  ],
  pg_stat_wal_receiver: [
    0,
    `
    pid int4, status text, receive_start_lsn pg_lsn, receive_start_tli int4, written_lsn pg_lsn,
    flushed_lsn pg_lsn, received_tli int4, last_msg_send_time timestamptz,
    last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz, slot_name text,
    sender_host text, sender_port int4, conninfo text`,
  ],
  pg_stat_xact_all_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8`,
  ],
  pg_stat_xact_sys_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8`,
  ],
  pg_stat_xact_user_functions: [
    0,
    `
    funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8`,
  ],
  pg_stat_xact_user_tables: [
    0,
    `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8?,
    idx_tup_fetch int8?, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8`,
  ],
  pg_statio_all_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8,
    idx_blks_hit int8`,
  ],
  pg_statio_all_sequences: [
    0,
    `
    relid oid, schemaname name, relname name, blks_read int8, blks_hit int8`,
  ],
  pg_statio_all_tables: [
    0,
    `
    relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8,
    idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8`,
  ],
  pg_statio_sys_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8,
    idx_blks_hit int8`,
  ],
  pg_statio_sys_sequences: [
    0,
    `
    relid oid, schemaname name, relname name, blks_read int8, blks_hit int8`,
  ],
  pg_statio_sys_tables: [
    0,
    `
    relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8,
    idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8`,
  ],
  pg_statio_user_indexes: [
    0,
    `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8,
    idx_blks_hit int8`,
  ],
  pg_statio_user_sequences: [
    0,
    `
    relid oid, schemaname name, relname name, blks_read int8, blks_hit int8`,
  ],
  pg_statio_user_tables: [
    0,
    `
    relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8,
    idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8`,
  ],
  pg_stats: [
    0,
    `
    schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4,
    n_distinct float4, most_common_vals anyarray, most_common_freqs _float4, histogram_bounds anyarray,
    correlation float4, most_common_elems anyarray, most_common_elem_freqs _float4,
    elem_count_histogram _float4`,
  ],
  pg_stats_ext: [
    0,
    `
    schemaname name, tablename name, statistics_schemaname name, statistics_name name,
    statistics_owner name, attnames _name, exprs _text, kinds _char, inherited bool,
    n_distinct pg_ndistinct, dependencies pg_dependencies, most_common_vals _text,
    most_common_val_nulls _bool, most_common_freqs _float8, most_common_base_freqs _float8`,
  ],
  pg_stats_ext_exprs: [
    0,
    `
    schemaname name, tablename name, statistics_schemaname name, statistics_name name,
    statistics_owner name, expr text, inherited bool, null_frac float4, avg_width int4, n_distinct float4,
    most_common_vals anyarray, most_common_freqs _float4, histogram_bounds anyarray, correlation float4,
    most_common_elems anyarray, most_common_elem_freqs _float4, elem_count_histogram _float4`,
  ],
  pg_tables: [
    0,
    `
    schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool,
    hastriggers bool, rowsecurity bool`,
  ],
  pg_timezone_abbrevs: [
    0,
    `
    abbrev text, utc_offset interval, is_dst bool`,
  ],
  pg_timezone_names: [
    0,
    `
    name text, abbrev text, utc_offset interval, is_dst bool`,
  ],
  pg_user: [
    0,
    `
    usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool,
    passwd text, valuntil timestamptz, useconfig _text`,
  ],
  pg_user_mappings: [
    0,
    `
    umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions _text`,
  ],
  pg_views: [
    0,
    `
    schemaname name, viewname name, viewowner name, definition text`,
  ],
};
