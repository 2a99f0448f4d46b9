/**
 * What there is once in a server: roles, databases, settings, sessions, locks, prepared statements, cursors,
 * extensions.
 *
 * There is one role, the session's user, and one database, under the name by which the session asked for it: the shared
 * secret is the only credential, and user names are not distinguished.
 */
import { SqlArray } from "../types/sql_array.ts";
import { typeOid } from "../types/type_names.ts";
import { BUILT_IN_EXTENSIONS, isInstalled } from "../sql/definition/extensions.ts";
import { storedSettings } from "../sql/definition/stored_settings.ts";
import type { CatalogContext, VisibleServer, VisibleSession } from "./catalog_context.ts";
import { SETTINGS } from "../settings/setting_table.ts";
import { settingRange, type ShownSetting } from "../settings/settings.ts";
import { DATABASE_ID, EXTENSION_IDS, NAMESPACE, OWNER_ID, TABLESPACE } from "./object_ids.ts";
import { holdersFor } from "../transactions/lock_table.ts";
import { liveRows, type RelationProviders } from "./relation_provider.ts";
import type { RowValues } from "./relation_shape.ts";
import { indexesOf } from "./table_objects.ts";

const UTF8 = 6;

function roleRow(context: CatalogContext): RowValues {
  return {
    oid: OWNER_ID,
    rolname: context.user,
    rolsuper: true,
    rolinherit: true,
    rolcreaterole: true,
    rolcreatedb: true,
    rolcanlogin: true,
    rolreplication: true,
    rolbypassrls: true,
    rolconnlimit: -1,
  };
}

function userRow(context: CatalogContext): RowValues {
  return {
    usename: context.user,
    usesysid: OWNER_ID,
    usecreatedb: true,
    usesuper: true,
    userepl: true,
    usebypassrls: true,
    passwd: "********",
  };
}

/** Type and name of what a session waits for; null: nothing. */
function waitOf(
  server: VisibleServer,
  session: VisibleSession,
): readonly [type: string | null, name: string | null] {
  if ((session.currentTransaction?.waitsFor ?? null) !== null) return ["Lock", "transactionid"];
  if (!session.isRunning) return ["Client", "ClientRead"];
  return server.queryMemory.isWaiting(session) ? ["IPC", "QueryMemory"] : [null, null];
}

function activityRow(
  { server, session: viewer }: CatalogContext,
  session: VisibleSession,
): RowValues {
  const block = session.block;
  const state = session.isRunning
    ? "active"
    : block === null
    ? "idle"
    : block.failed
    ? "idle in transaction (aborted)"
    : "idle in transaction";
  const [waitType, wait] = waitOf(server, session);
  return {
    datid: DATABASE_ID,
    datname: session.evaluation.database,
    pid: session.processId,
    usesysid: OWNER_ID,
    usename: session.evaluation.user,
    application_name: session.settings.get("application_name"),
    backend_start: session.startedAt,
    xact_start: session.currentTransaction === null ? null : session.evaluation.transactionTimestamp,
    query_start: session.currentText === "" ? null : session.evaluation.statementTimestamp,
    state_change: session === viewer || session.currentText !== ""
      ? session.evaluation.statementTimestamp
      : session.startedAt,
    wait_event_type: waitType,
    wait_event: wait,
    state,
    query: session.currentText,
    backend_type: "client backend",
  };
}

/** Rows written to all tables since the start. */
function changesOfAll({ catalog, machine }: CatalogContext): RowValues {
  let tup_inserted = 0, tup_updated = 0, tup_deleted = 0, tup_fetched = 0;
  for (const table of catalog.tables) {
    for (const { id } of indexesOf(table)) tup_fetched += machine.reads.of(id).rows;
    const { inserted, updated, deleted } = machine.changesOf(table.id);
    tup_inserted += inserted;
    tup_updated += updated;
    tup_deleted += deleted;
  }
  return { tup_returned: machine.reads.allRows, tup_fetched, tup_inserted, tup_updated, tup_deleted };
}

function* lockRows({ server }: CatalogContext): Iterable<RowValues> {
  for (const session of server.sessions) {
    const transaction = session.currentTransaction;
    if (transaction === null) continue;
    const virtual = `${session.processId}/${transaction.snapshot}`;
    const common: RowValues = { pid: session.processId, virtualtransaction: virtual, fastpath: false };
    yield { ...common, locktype: "virtualxid", virtualxid: virtual, mode: "ExclusiveLock", granted: true };
    for (const tableId of transaction.writtenTables) {
      yield {
        ...common,
        locktype: "relation",
        database: DATABASE_ID,
        relation: tableId,
        mode: "RowExclusiveLock",
        granted: true,
      };
    }
    const holders = holdersFor(transaction);
    for (const holding of holders.length === 0 ? [] : server.sessions) {
      const holder = holding.currentTransaction;
      if (holder === null || !holders.includes(holder)) continue;
      const held = `${holding.processId}/${holder.snapshot}`;
      yield { ...common, locktype: "virtualxid", virtualxid: held, mode: "ShareLock", granted: false };
    }
  }
  for (const entry of server.advisoryLocks.entries()) {
    yield {
      locktype: "advisory",
      database: DATABASE_ID,
      classid: entry.classId,
      objid: entry.objectId,
      objsubid: entry.part,
      virtualtransaction: `${entry.processId}/0`,
      pid: entry.processId,
      mode: entry.shared ? "ShareLock" : "ExclusiveLock",
      granted: entry.granted,
      fastpath: false,
    };
  }
}

function settingRow(setting: ShownSetting): RowValues {
  const { definition } = setting;
  const range = definition === null ? undefined : settingRange(definition);
  return {
    name: setting.name,
    setting: setting.base,
    unit: definition === null || definition.unit === "" ? null : definition.unit,
    category: definition?.category ?? "Customized Options",
    short_desc: setting.description,
    extra_desc: null,
    context: definition?.context ?? "user",
    vartype: definition?.type ?? "string",
    source: setting.source,
    min_val: range?.[0] ?? null,
    max_val: range?.[1] ?? null,
    enumvals: definition?.type === "enum" ? SqlArray.of(definition.choices) : null,
    boot_val: setting.initialBase,
    reset_val: setting.resetBase,
    sourcefile: null,
    sourceline: null,
    pending_restart: false,
  };
}

function* preparedRows({ session }: CatalogContext): Iterable<RowValues> {
  for (const [name, prepared] of session.preparedByName) {
    yield {
      name,
      statement: prepared.text,
      prepare_time: session.startedAt,
      parameter_types: SqlArray.of(prepared.parameterTypes.map((type) => typeOid(type))),
      from_sql: true,
      generic_plans: 0,
      custom_plans: 0,
    };
  }
}

function* storedSettingRows({ catalog, user }: CatalogContext): Iterable<RowValues> {
  const lines = (settings: Record<string, string>): SqlArray =>
    SqlArray.of(
      Object.entries(settings).map(([name, value]) => `${SETTINGS.get(name)?.name ?? name}=${value}`),
    );
  const database = storedSettings(catalog, null), role = storedSettings(catalog, user);
  if (Object.keys(database).length > 0) {
    yield { setdatabase: DATABASE_ID, setrole: 0, setconfig: lines(database) };
  }
  if (Object.keys(role).length > 0) yield { setdatabase: 0, setrole: OWNER_ID, setconfig: lines(role) };
}

/** Providers of these relations. */
export const SERVER_RELATIONS: RelationProviders = {
  pg_authid: liveRows((context) => [roleRow(context)]),
  pg_roles: liveRows((context) => [{ ...roleRow(context), rolpassword: "********" }]),
  pg_user: liveRows((context) => [userRow(context)]),
  pg_shadow: liveRows((context) => [{ ...userRow(context), passwd: null }]),
  pg_database: liveRows((context) => [{
    oid: DATABASE_ID,
    datname: context.database,
    datdba: OWNER_ID,
    encoding: UTF8,
    datlocprovider: "c",
    datistemplate: false,
    datallowconn: true,
    datconnlimit: -1,
    dattablespace: TABLESPACE.default,
    datcollate: "C",
    datctype: "C.UTF-8",
  }]),
  pg_db_role_setting: liveRows(storedSettingRows),
  pg_settings: liveRows(({ session }) => session.settings.all().map(settingRow)),
  pg_stat_activity: liveRows((context) =>
    [...context.server.sessions].map((session) => activityRow(context, session))
  ),
  pg_locks: liveRows(lockRows),
  pg_prepared_statements: liveRows(preparedRows),
  pg_cursors: liveRows((context) =>
    [...context.session.cursors].map(([name, cursor]) => ({
      name,
      statement: cursor.text,
      is_holdable: cursor.hold,
      is_binary: false,
      is_scrollable: false,
      creation_time: context.transactionTimestamp,
    }))
  ),
  pg_extension: liveRows(({ catalog }) =>
    BUILT_IN_EXTENSIONS.filter(({ name }) => isInstalled(catalog, name)).map(({ name, version, schema }) => ({
      oid: EXTENSION_IDS.get(name) ?? 0,
      extname: name,
      extowner: OWNER_ID,
      extnamespace: schema === "public" ? NAMESPACE.public : NAMESPACE.pgCatalog,
      extrelocatable: schema === "public",
      extversion: version,
    }))
  ),
  pg_available_extensions: liveRows(({ catalog }) =>
    BUILT_IN_EXTENSIONS.map(({ name, version, comment }) => ({
      name,
      default_version: version,
      installed_version: isInstalled(catalog, name) ? version : null,
      comment,
    }))
  ),
  pg_available_extension_versions: liveRows(({ catalog }) =>
    BUILT_IN_EXTENSIONS.map(({ name, version, schema, comment }) => ({
      name,
      version,
      installed: isInstalled(catalog, name),
      superuser: true,
      trusted: true,
      relocatable: schema === "public",
      comment,
    }))
  ),
  pg_stat_ssl: liveRows(({ server }) =>
    [...server.sessions].map(({ processId, encryption }) => ({
      pid: processId,
      ssl: encryption !== null,
      version: encryption?.version ?? null,
      cipher: encryption?.cipher ?? null,
      bits: encryption?.bits ?? null,
    }))
  ),
  pg_stat_wal: liveRows(({ server }) => {
    const { storage } = server.statistics();
    return [{
      wal_records: server.lastOp,
      wal_fpi: 0,
      wal_bytes: storage.logBytes,
      wal_buffers_full: 0,
      wal_sync: storage.syncs,
      stats_reset: server.startedAt,
    }];
  }),
  pg_stat_bgwriter: liveRows(({ server }) => [{
    checkpoints_timed: 0,
    checkpoints_req: server.statistics().storage.checkpoints,
    stats_reset: server.startedAt,
  }]),
  pg_stat_database: liveRows((context) => {
    const statistics = context.server.statistics();
    return [{
      datid: DATABASE_ID,
      datname: context.database,
      numbackends: statistics.sessions,
      xact_commit: statistics.commits,
      xact_rollback: statistics.rollbacks,
      blks_read: statistics.storage.cacheLoads,
      blks_hit: statistics.storage.cacheHits,
      ...changesOfAll(context),
      stats_reset: context.server.startedAt,
    }];
  }),
};
