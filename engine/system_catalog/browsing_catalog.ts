/**
 * The views of pg_catalog that list the user's objects for people and tools: pg_tables, pg_views, pg_indexes,
 * pg_sequences, the views that count.
 *
 * Scans, rows and blocks are counted since the start of the server; row counts and sizes are real. A block is what
 * files hold of a column, 4096 rows; rows in memory have none, nor has a primary key by which the table is ordered.
 * Limit: `count(*)` where storage knows it is no scan.
 */
import type { TableDefinition } from "../catalog/definitions.ts";
import { Interval } from "../types/interval.ts";
import { findTimeZone } from "../types/time_zone.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { indexDefinition, viewText } from "./definition_texts.ts";
import { catalogRows, liveRows, type RelationProviders } from "./relation_provider.ts";
import { CATALOG_SHAPES, type RowValues } from "./relation_shape.ts";
import { rowEstimate } from "./relation_size.ts";
import { type IndexEntry, indexesOf } from "./table_objects.ts";

const NO_COUNTS: RowValues = {
  n_tup_ins: 0,
  n_tup_upd: 0,
  n_tup_del: 0,
  n_tup_hot_upd: 0,
  n_mod_since_analyze: 0,
  n_ins_since_vacuum: 0,
  vacuum_count: 0,
  autovacuum_count: 0,
  analyze_count: 0,
  autoanalyze_count: 0,
};

function tableStatistics(context: CatalogContext, table: TableDefinition): RowValues {
  const { inserted, updated, deleted } = context.machine.changesOf(table.id);
  const { reads } = context.machine;
  const { scans, rows } = reads.of(table.id);
  const indexes = indexesOf(table).map(({ id }) => reads.of(id));
  return {
    ...NO_COUNTS,
    seq_scan: scans,
    seq_tup_read: rows,
    idx_scan: indexes.length === 0 ? null : total(indexes.map((each) => each.scans)),
    idx_tup_fetch: indexes.length === 0 ? null : total(indexes.map((each) => each.rows)),
    n_tup_ins: inserted,
    n_tup_upd: updated,
    n_tup_del: deleted,
    n_mod_since_analyze: inserted + updated + deleted,
    n_ins_since_vacuum: inserted,
    relid: table.id,
    schemaname: table.schema,
    relname: table.name,
    n_live_tup: rowEstimate(context, table.id),
    n_dead_tup: 0,
  };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function* allTableStatistics(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) yield tableStatistics(context, table);
}

/** What the transaction of the session has written; what it has read is not told apart. */
function* writtenByTransaction({ catalog, session }: CatalogContext): Iterable<RowValues> {
  for (const table of catalog.tables) {
    const written = session.currentTransaction?.writtenTo(table.id)?.written;
    yield {
      relid: table.id,
      schemaname: table.schema,
      relname: table.name,
      n_tup_ins: written?.inserted ?? 0,
      n_tup_upd: written?.updated ?? 0,
      n_tup_del: written?.deleted ?? 0,
      n_tup_hot_upd: 0,
    };
  }
}

function* indexStatistics(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const index of indexesOf(table)) {
      const { scans, rows } = context.machine.reads.of(index.id);
      yield { ...indexNames(index), idx_scan: scans, idx_tup_read: rows, idx_tup_fetch: rows };
    }
  }
}

function indexNames(index: IndexEntry): RowValues {
  return {
    relid: index.table.id,
    indexrelid: index.id,
    schemaname: index.table.schema,
    relname: index.table.name,
    indexrelname: index.name,
  };
}

function* tableBlocks(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    const store = context.machine.store(table.id);
    const heap = store.blocksOf(table.id);
    const indexes = indexesOf(table).map(({ id }) => store.blocksOf(id));
    yield {
      relid: table.id,
      schemaname: table.schema,
      relname: table.name,
      heap_blks_read: heap.read,
      heap_blks_hit: heap.hit,
      idx_blks_read: indexes.length === 0 ? null : total(indexes.map(({ read }) => read)),
      idx_blks_hit: indexes.length === 0 ? null : total(indexes.map(({ hit }) => hit)),
    };
  }
}

function* indexBlocks(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    const store = context.machine.store(table.id);
    for (const index of indexesOf(table)) {
      const { read, hit } = store.blocksOf(index.id);
      yield { ...indexNames(index), idx_blks_read: read, idx_blks_hit: hit };
    }
  }
}

function* zoneRows(context: CatalogContext): Iterable<RowValues> {
  const now = context.statementTimestamp;
  for (const name of ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")]) {
    const zone = findTimeZone(name);
    if (zone === undefined) continue;
    yield {
      name,
      abbrev: zone.abbreviationAt(now),
      utc_offset: new Interval(0, 0, zone.offsetAt(now) * 1_000_000),
      is_dst: zone.isDaylightAt(now),
    };
  }
}

/** Providers of these views. */
export const BROWSING_RELATIONS: RelationProviders = {
  pg_tables: catalogRows((context) => [
    ...context.catalog.tables.map((table) => ({
      schemaname: table.schema,
      tablename: table.name,
      tableowner: context.user,
      hasindexes: indexesOf(table).length > 0,
      hasrules: false,
      hastriggers: table.triggers.length > 0 ||
        table.constraints.some((each) => each.kind === "foreign_key") ||
        context.catalog.referencing(table.id).length > 0,
      rowsecurity: false,
    })),
    ...[...CATALOG_SHAPES.values()].filter((shape) => shape.kind === "r").map((shape) => ({
      schemaname: shape.schema,
      tablename: shape.name,
      tableowner: context.user,
      hasindexes: false,
      hasrules: false,
      hastriggers: false,
      rowsecurity: false,
    })),
  ]),
  pg_views: catalogRows((context) => [
    ...context.catalog.views.map((view) => ({
      schemaname: view.schema,
      viewname: view.name,
      viewowner: context.user,
      definition: viewText(context, view),
    })),
    ...[...CATALOG_SHAPES.values()].filter((shape) => shape.kind === "v").map((shape) => ({
      schemaname: shape.schema,
      viewname: shape.name,
      viewowner: context.user,
      definition: null,
    })),
  ]),
  pg_indexes: catalogRows((context) =>
    context.catalog.tables.flatMap((table) =>
      indexesOf(table).map((index) => ({
        schemaname: table.schema,
        tablename: table.name,
        indexname: index.name,
        indexdef: indexDefinition(context, index, { pretty: false, qualified: true }),
      }))
    )
  ),
  pg_sequences: liveRows((context) =>
    context.catalog.sequences.map((sequence) => {
      const state = context.machine.sequences.state(sequence);
      return {
        schemaname: sequence.schema,
        sequencename: sequence.name,
        sequenceowner: context.user,
        data_type: sequence.type === "i16" ? 21 : sequence.type === "i32" ? 23 : 20,
        start_value: sequence.start,
        min_value: sequence.minimum,
        max_value: sequence.maximum,
        increment_by: sequence.increment,
        cycle: sequence.cycle,
        cache_size: sequence.cache,
        last_value: state.called ? state.value : null,
      };
    })
  ),
  pg_stat_user_tables: liveRows(allTableStatistics),
  pg_stat_all_tables: liveRows(allTableStatistics),
  pg_stat_xact_user_tables: liveRows(writtenByTransaction),
  pg_stat_xact_all_tables: liveRows(writtenByTransaction),
  pg_stat_user_indexes: liveRows(indexStatistics),
  pg_stat_all_indexes: liveRows(indexStatistics),
  pg_statio_user_tables: liveRows(tableBlocks),
  pg_statio_all_tables: liveRows(tableBlocks),
  pg_statio_user_indexes: liveRows(indexBlocks),
  pg_statio_all_indexes: liveRows(indexBlocks),
  pg_timezone_names: liveRows(zoneRows),
};
